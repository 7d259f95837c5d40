//! The steps of a run that may need most memory, on a backend that counts bytes.
//!
//! Ranks are not known before a run, and change between iterations. The memory of an iteration depends on three numbers: the
//! columns of the last decomposition, the rank, and the width of the next decomposition, which follows from the rank. Memory
//! grows with each of them, except where the method changes: the low-rank part becomes one matrix instead of two factors, or
//! the next decomposition is that of X^H X instead of a subspace. Thus it suffices to count the largest rank before each such
//! change, together with the widest decomposition that may have come before.

use super::solver::{FIRST_RANK, Solver, Spectrum, leap};
use crate::dense::Algebra;
use crate::error::Result;
use crate::rpca::ops::{RpcaOps, Step};
use crate::rpca::options::Options;
use crate::scalar::Scalar;

/// Counts the memory of a run with any ranks that the options allow.
pub fn rehearse<W: Scalar, A: Algebra<W>>(ops: &mut dyn RpcaOps<W, Small = A>, options: &Options) -> Result<()> {
    let (m, n) = ops.size();
    if m == 0 || n == 0 {
        return Ok(());
    }
    let mut solver = Solver::new(ops, options);
    solver.start()?;
    solver.first_spectrum()?;
    // A run without power iterations may take some.
    let powers = [options.power_iterations, options.power_iterations.max(1)];
    let (ranks, widest) = (solver.turning_points(powers), solver.widest(powers));
    // Before the first iteration products read the matrix.
    for &rank in &ranks {
        solver.more_values(rank)?;
    }
    for power in powers {
        for &rank in &ranks {
            solver.power = power;
            solver.more_values(rank)?;
            let fixed = options.fixed_rank;
            let predictions = if fixed > 0 { [fixed; 2] } else { [rank + 1, rank + leap(n)] };
            for predicted in predictions {
                (solver.power, solver.is_warm) = (power, options.warm_start);
                solver.predicted = predicted.min(solver.bound()).max(1);
                solver.iteration(rank, widest)?;
            }
        }
    }
    Ok(())
}

impl<W: Scalar, A: Algebra<W>> Solver<'_, W, A> {
    /// The largest ranks before the method changes.
    fn turning_points(&mut self, powers: [usize; 2]) -> Vec<usize> {
        let (n, bound, oversampling) = (self.ops.size().1, self.bound(), self.options.oversampling);
        let mut ranks = vec![0, n / 2, bound];
        for power in powers {
            self.power = power;
            // The widest subspace that is preferred to X^H X.
            let (mut least, mut most) = (0, n);
            while least < most {
                let middle = least + (most - least).div_ceil(2);
                if self.is_whole(middle) { most = middle - 1 } else { least = middle }
            }
            ranks.extend([1, leap(n)].map(|more| least.saturating_sub(oversampling + more)));
        }
        ranks.iter_mut().for_each(|rank| *rank = (*rank).min(bound));
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// Largest number of columns of a decomposition.
    fn widest(&mut self, powers: [usize; 2]) -> usize {
        let n = self.ops.size().1;
        let predicted = self.bound().max(if self.options.fixed_rank > 0 { 0 } else { FIRST_RANK });
        let width = predicted.saturating_add(self.options.oversampling).clamp(1, n);
        let is_whole = powers.into_iter().any(|power| {
            self.power = power;
            self.is_whole(width)
        });
        if is_whole { n } else { width }
    }

    /// A decomposition whose `rank` values were all large, so that more are computed.
    fn more_values(&mut self, rank: usize) -> Result<()> {
        let (n, bound) = (self.ops.size().1, self.bound());
        if rank == 0 || rank >= bound {
            return Ok(());
        }
        let spectrum = self.assumed(rank, rank)?;
        self.predicted = (rank + leap(n)).min(bound);
        self.decompose(&spectrum, rank).map(drop)
    }

    /// An iteration of a rank after a decomposition of `width` columns, and the confirmation of its values.
    fn iteration(&mut self, rank: usize, width: usize) -> Result<()> {
        let mut spectrum = self.assumed(rank, width)?;
        let way = self.prepare(&spectrum, rank)?;
        let step =
            Step { mu: 1.0, mu_next: 1.0, lambda: 1.0, first: None, last: false, measured: true, threshold: 0.0 };
        let (_, product) = self.update(&step, &mut spectrum, rank, Some(&way))?;
        let spectrum = {
            let next = self.spectrum(way, product)?;
            drop(spectrum);
            next
        };
        if !spectrum.whole {
            self.improve();
            self.decompose(&spectrum, 0)?;
        }
        Ok(())
    }

    /// A decomposition of `width` columns with `rank` large values.
    fn assumed(&mut self, rank: usize, width: usize) -> Result<Spectrum<A::Matrix>> {
        let n = self.ops.size().1;
        let vectors = self.ops.small().zeros("singular vectors", n, width.max(rank))?;
        let values = crate::alloc::filled("singular values", rank, super::super::memory::LARGE)?;
        Ok(Spectrum { values, vectors, whole: false })
    }
}
