//! The plan of a chain, and its run for all boundary pairs.

use super::layout::{Form, Sites, Sizes};
use super::range::{State, Term};
use super::sweep::{Side, Sweep};
use crate::backend::cpu::simd::{Vectorized, dispatch};
use crate::backend::cpu::{Isa, flags};
use crate::backend::memory::parts;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar};
use crate::tensor::train::{Cores, Shape};
use crate::trains::scaled::Scaled;

/// Boundary pairs that are computed together, site by site, while the site's cores are in the first cache.
pub const TOGETHER: usize = 16;

/// A plan for S = sum over i of x(i) cj(y(i)), for all trains of these shapes. cj conjugates if the plan says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    isa: Isa,
    sizes: Sizes,
    cut: usize,
    repeat: usize,
    conjugate: bool,
    /// Whether y is the rows' train.
    swapped: bool,
    /// Whether the kernel prefetches the cores of the next site.
    ahead: bool,
    complex: bool,
}

impl Chain {
    /// A plan for trains of equal mode sizes, `repeat` times around from the bond before core `cut`. Both types have
    /// the same precision.
    pub fn new(
        isa: Isa,
        x: (&Shape, DType),
        y: (&Shape, DType),
        (cut, repeat): (usize, usize),
        conjugate: bool,
    ) -> Self {
        let isa = isa.min(Isa::detect());
        let parts = |dtype: DType| if dtype.is_complex() { 2 } else { 1 };
        let single = x.1.is_single();
        let count = x.0.len().saturating_mul(repeat.max(1));
        let sites = |shape| Sites { shape, cut, count };
        let form = |isa: Isa, swapped: bool| {
            let bytes = if isa == Isa::Avx512 { 64 } else { 32 };
            let (row_parts, column_parts) = if swapped { (parts(y.1), parts(x.1)) } else { (parts(x.1), parts(y.1)) };
            Form { lanes: bytes / if single { 4 } else { 8 }, row_parts, column_parts }
        };
        let (here, there) = (sites(x.0), sites(y.0));
        // The columns may be real while the rows are complex, but not the other way round.
        let swapped = match parts(x.1).cmp(&parts(y.1)) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => form(isa, true).cost(there, here) < form(isa, false).cost(here, there),
        };
        let (rows, columns) = if swapped { (there, here) } else { (here, there) };
        let wide = form(isa, swapped);
        // If a vector would be at least half empty, shorter vectors are faster.
        let isa = if isa == Isa::Avx512 && 2 * wide.row_parts * rows.shape.max_rank() <= wide.lanes {
            Isa::Avx2
        } else {
            isa
        };
        let complex = wide.row_parts == 2;
        Self {
            isa,
            sizes: Sizes::of(form(isa, swapped), rows, columns),
            cut,
            repeat,
            conjugate,
            swapped,
            ahead: false,
            complex,
        }
    }

    /// The same plan for cores that are probably in no cache, as in a large batch. It prefetches cores, which costs a
    /// little time if they are in a cache.
    pub fn from_memory(self) -> Self {
        Self { ahead: true, ..self }
    }

    /// Real numbers of workspace for `pairs` boundary pairs at a time.
    pub fn workspace(&self, pairs: usize) -> usize {
        self.sizes.total(pairs.min(TOGETHER))
    }

    /// Computes `terms`, the terms of S for the boundary pairs (p_x, p_y) that `pair` returns for 0, 1, ... An open
    /// train has one pair, (0, 0). With a larger workspace, more pairs are computed together; the results have the same
    /// bits.
    ///
    /// # Errors
    /// [`Error::Internal`] for a workspace that is too small for one pair.
    pub fn run<'c, X, Y>(
        &self,
        x: &Cores<'c, X>,
        y: &Cores<'c, Y>,
        pair: &dyn Fn(usize) -> (usize, usize),
        work: &mut [X::Part],
        terms: &mut [Scaled],
    ) -> Result<()>
    where
        X: Scalar<Part: Vectorized>,
        Y: Scalar<Part = X::Part>,
    {
        let count = x.shape().len().saturating_mul(self.repeat.max(1));
        let sites = |shape| Sites { shape, cut: self.cut, count };
        let (x_sites, y_sites) = (sites(x.shape()), sites(y.shape()));
        let (x_core, y_core) = (|k| parts(x.core(x_sites.at(k))), |k| parts(y.core(y_sites.at(k))));
        let x = Side { core: &x_core, shape: x_sites, parts: size_of::<X>() / size_of::<X::Part>() };
        let y = Side { core: &y_core, shape: y_sites, parts: size_of::<Y>() / size_of::<X::Part>() };
        if self.swapped { self.sweeps(y, x, pair, work, terms) } else { self.sweeps(x, y, pair, work, terms) }
    }

    fn sweeps<'s, 'c, T: Vectorized>(
        &self,
        rows: Side<'s, 'c, T>,
        columns: Side<'s, 'c, T>,
        pair: &dyn Fn(usize) -> (usize, usize),
        work: &mut [T],
        terms: &mut [Scaled],
    ) -> Result<()> {
        let sizes = self.sizes;
        let shared = sizes.total(0);
        let most = work.len().checked_sub(shared).map_or(0, |rest| rest / sizes.environment).min(TOGETHER);
        if most == 0 {
            return Err(Error::Internal(format!(
                "{} numbers of workspace for a chain of {}",
                work.len(),
                sizes.total(1)
            )));
        }
        let mut first = 0;
        for block in terms.chunks_mut(most) {
            let mut found = [Term::START; TOGETHER];
            let mut sweep = |first: usize, careful: bool, terms: &mut [Term]| {
                let pair = |q: usize| match pair(first + q) {
                    (p_x, p_y) if self.swapped => [p_y, p_x],
                    (p_x, p_y) => [p_x, p_y],
                };
                let (pair, conjugate, ahead) = (&pair, self.conjugate, self.ahead);
                let sweep = Sweep { rows, columns, conjugate, pair, careful, ahead, work: &mut *work, sizes, terms };
                dispatch(self.isa, sweep);
            };
            let ((), lost) = flags::watch(|| sweep(first, false, &mut found[..block.len()]));
            for (q, term) in block.iter_mut().enumerate() {
                if lost || found[q].state == State::Doubtful {
                    sweep(first + q, true, &mut found[q..=q]);
                }
                *term = self.value(found[q]);
            }
            first += block.len();
        }
        Ok(())
    }

    fn value(&self, term: Term) -> Scaled {
        let value = match term.state {
            State::Zero => Scaled::ZERO,
            State::NotFinite | State::Doubtful => {
                Scaled::new(Complex::new(f64::NAN, if self.complex { f64::NAN } else { 0.0 }), 0)
            }
            State::Sound => Scaled::new(Complex::new(term.re, term.im), term.exponent),
        };
        // If y is in the rows, the kernel has conjugated x instead of y.
        if self.swapped && self.conjugate { value.conj() } else { value }
    }
}
