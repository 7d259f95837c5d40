//! The iterations of the method.

use crate::alloc;
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op};
use crate::error::{Error, Result};
use crate::rng::stream;
use crate::rpca::info::Info;
use crate::rpca::ops::{LowRank, Product, RpcaOps, Start, Step, Sums};
use crate::rpca::options::Options;
use crate::scalar::Scalar;
use crate::shape::to_u64;
use std::time::Instant;

/// Predicted number of singular values before the first decomposition.
pub(in crate::rpca) const FIRST_RANK: usize = 10;

/// The prediction grows by n divided by this number when it was too small.
const LEAP: usize = 20;

/// Largest number of columns for which X^H X is formed.
const MOST_GRAM: usize = 16_384;

/// Relative change of ||M||_2 at which its iteration stops: the penalty needs an accuracy of only 1 %.
const NORM_CHANGE: f64 = 2e-3;

/// Largest number of rounds of the subspace iteration for ||M||_2.
const NORM_ROUNDS: usize = 12;

/// The optimality check begins when the residual is below this many tolerances.
const NEAR: f64 = 30.0;

/// Largest number of entries of a matrix whose dual residual must fall to [`CLOSE`]. For larger matrices the additional
/// iterations would cost more than the run itself, so they are only compared with the trivial splits.
const FEW: usize = 1 << 16;

const CLOSE: f64 = 0.01;

/// Fraction of the tolerance that the bound of the next residual must fall below. The rest is a margin for rounding and for
/// inexact decompositions.
const CLOSED: f64 = 0.9;

/// Iterations in a row below [`CLOSED`] tolerances after which only the residual counts, if the bound of the rank cuts off
/// values. S may then creep for thousands of iterations.
const STEADY: usize = 10;

/// Largest part of a value over 1 / mu that a partial decomposition may miss, in units of 1 / mu.
const MISSED: f64 = 0.1;

/// Relative amount by which an objective may exceed that of a trivial split.
const EXCESS: f64 = 1e-3;

/// Checks whether an iterate with L + S = M is the optimum. A penalty that grows fast makes any parts add up to M. They are
/// optimal if S also changes little in units of the penalty, because Y then bounds the objective from below. Only small
/// matrices must meet this condition.
/// The objective is also compared with those of the trivial splits S = M and L = M. If a check fails, the penalty restarts
/// at its first value with the current Y, and grows more slowly.
struct Check {
    /// Whether the next iteration sums the quantities of the check.
    is_due: bool,
    /// Whether the next penalty is the first one again.
    starts_anew: bool,
    /// Whether the check was passed, and only the residual still has to fall.
    is_closing: bool,
    /// How many iterations in a row had a residual of less than [`CLOSED`] tolerances.
    steady: usize,
    growth: f64,
    first_mu: f64,
    /// Upper bound of mu ||S - S'||_F / ||Y||_F.
    dual: f64,
    pub(super) lambda: f64,
    /// The smaller objective of the two trivial splits, as far as it is known.
    trivial: f64,
}

impl Check {
    pub(super) fn new<M>(
        options: &Options,
        (start, lambda): (Start, f64),
        first: &Spectrum<M>,
        mu: f64,
        (m, n): (usize, usize),
    ) -> Self {
        let nuclear_norm = if first.whole { first.values.iter().sum() } else { f64::INFINITY };
        Self {
            is_due: true,
            starts_anew: false,
            is_closing: false,
            steady: 0,
            growth: options.rho,
            first_mu: mu,
            dual: if m.saturating_mul(n) <= FEW { CLOSE } else { f64::INFINITY },
            lambda,
            trivial: (lambda * start.one_norm).min(nuclear_norm),
        }
    }

    /// Whether the iterate passes the check. `rounding` is the rounding error of X, and thus of S - S'.
    fn is_passed(&self, sums: &Sums, nuclear_norm: f64, rounding: f64) -> bool {
        let objective = nuclear_norm + self.lambda * sums.one_norm;
        let is_dual_met =
            self.dual.is_infinite() || sums.dual2.sqrt() <= self.dual * sums.multiplier2.sqrt() + rounding;
        is_dual_met && objective <= self.trivial * (1.0 + EXCESS)
    }

    /// Whether the residual of the next iteration, which writes the parts, is below `most`. Both shrinkages are monotone.
    /// Let R = M - L - S and D = S - S' in this iteration, and let the next penalty be `growth >= 1` times as large. Then
    /// ||R_next||^2 + ||D_next||^2 <= ||R||^2 + ||D||^2 / growth^2. The next residual alone may be larger than this one.
    fn is_closed(sums: &Sums, growth: f64, most: f64, rounding: f64) -> bool {
        let step = (sums.dual2.sqrt() - rounding).max(0.0) / growth;
        sums.residual2.sqrt().hypot(step) < CLOSED * most
    }

    fn begin_anew(&mut self) {
        (self.starts_anew, self.is_closing, self.steady) = (true, false, 0);
    }

    fn fail(&mut self) {
        self.begin_anew();
        self.growth = 1.0 + (self.growth - 1.0) / 1.5;
    }
}

/// Right singular vectors and values of X, the leading ones or all.
pub(super) struct Spectrum<M> {
    /// Singular values, not increasing.
    pub(super) values: Vec<f64>,
    pub(super) vectors: M,
    /// Whether all values were computed.
    pub(super) whole: bool,
}

/// How the next decomposition is computed.
pub(super) enum SpectrumMethod<M> {
    /// From the eigenvectors of X^H X, n-by-n.
    Gram,
    /// From X^H X W, a step of the power iteration.
    Power(M),
    /// In the span of W, orthonormal columns.
    Basis(M),
}

impl<M> SpectrumMethod<M> {
    pub(super) fn product(&self) -> Product<'_, M> {
        match self {
            Self::Gram => Product::Gram,
            Self::Power(w) => Product::Normal(w),
            Self::Basis(_) => Product::None,
        }
    }
}

/// The result of a run; L and S are in the backend's arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Figures of the run, as far as the method knows them.
    pub info: Info,
    /// Factor that L and S have to be multiplied with to be in the caller's unit.
    pub unit: f64,
    /// Upper bound of the moduli of the entries of L and S, before they are multiplied with `unit`.
    pub bound: f64,
}

/// The method. It has one type for all backends whose small matrices are of one algebra, and for data in single and in double
/// precision.
pub(super) struct Solver<'a, W: Scalar, A: Algebra<W>> {
    pub(super) ops: &'a mut (dyn RpcaOps<W, Small = A> + 'a),
    pub(super) options: &'a Options,
    /// Columns of random numbers drawn so far, so that no two decompositions use the same.
    drawn: u32,
    /// Number of singular values to compute next.
    pub(super) predicted: usize,
    /// Steps of the power iteration in a partial decomposition, and whether it starts from the last vectors.
    pub(super) power: usize,
    pub(super) is_warm: bool,
    pub(super) passes: u64,
    seconds_svd: f64,
    seconds_update: f64,
}

/// Splits the matrix: X becomes L and Y becomes S.
pub fn solve<W: Scalar, A: Algebra<W>>(ops: &mut dyn RpcaOps<W, Small = A>, options: &Options) -> Result<Solution> {
    let began = Instant::now();
    let (m, n) = ops.size();
    let mut info = Info::new(ops.dtype());
    let mut solver = Solver::new(ops, options);
    info.lambda = if options.lambda > 0.0 { options.lambda } else { 1.0 / (m.max(1) as f64).sqrt() };
    let (mut unit, mut bound) = (1.0, 0.0);
    if m > 0 && n > 0 {
        let start;
        (start, unit) = solver.start()?;
        if start.max_abs > 0.0 {
            bound = solver.iterate(start, unit, &mut info)?;
        } else {
            solver.ops.checkpoint(options.max_iterations, options.max_iterations, 0.0)?;
        }
    }
    info.passes = solver.passes;
    info.seconds_svd = solver.seconds_svd;
    info.seconds_elementwise = solver.seconds_update;
    info.seconds = began.elapsed().as_secs_f64();
    Ok(Solution { info, unit, bound })
}

impl<'a, W: Scalar, A: Algebra<W>> Solver<'a, W, A> {
    pub(super) fn new(ops: &'a mut (dyn RpcaOps<W, Small = A> + 'a), options: &'a Options) -> Self {
        let n = ops.size().1;
        Self {
            ops,
            options,
            drawn: 0,
            predicted: if options.fixed_rank > 0 { options.fixed_rank } else { FIRST_RANK }.min(n),
            power: options.power_iterations,
            is_warm: options.warm_start,
            passes: 0,
            seconds_svd: 0.0,
            seconds_update: 0.0,
        }
    }

    /// The iteration. Returns [`Solution::bound`].
    fn iterate(&mut self, start: Start, unit: f64, info: &mut Info) -> Result<f64> {
        let options = self.options;
        let (lambda, tolerance, frobenius) = (info.lambda, options.tolerance_of(self.ops.dtype()), start.norm2.sqrt());
        let mut spectrum = self.first_spectrum()?;
        let norm2 = spectrum.values.first().copied().unwrap_or(0.0);
        let mut mu = self.first_penalty(norm2, unit, lambda)?;
        let most = mu * Options::MU_GROWTH;
        // Y_0 = M / J with J = max(||M||_2, max|M| / lambda), and S_0 = 0: X_1 = (1 + 1 / (J mu)) M.
        let y_scale = 1.0 / norm2.max(start.max_abs / lambda);
        let mut first = Some((1.0 + y_scale / mu, y_scale));
        let roundoff = if self.ops.dtype().is_single() { 6e-8 } else { 1.1e-16 };
        let mut check = Check::new(options, (start, lambda), &spectrum, mu, self.ops.size());
        spectrum.values.iter_mut().for_each(|s| *s *= 1.0 + y_scale / mu);
        (info.norm2, info.frobenius, info.converged) = (norm2 * unit, frobenius * unit, false);
        let mut bound = 0.0;
        for iteration in 1..=options.max_iterations {
            let last = info.converged || iteration == options.max_iterations;
            let rank = self.complete(&mut spectrum, 1.0 / mu, first.map_or(1.0, |f| f.0))?;
            let growth = if check.is_closing { options.rho } else { check.growth };
            let mu_next = if check.starts_anew { check.first_mu } else { (mu * growth).min(most) };
            check.starts_anew = false;
            let threshold = options.threshold / unit;
            let measured = check.is_due && !last;
            let step = Step { mu, mu_next, lambda, first: first.take(), last, measured, threshold };
            let method = if last { None } else { Some(self.prepare(&spectrum, rank)?) };
            let (sums, product) = self.update(&step, &mut spectrum, rank, method.as_ref())?;
            let residual = sums.residual2.sqrt() / frobenius;
            if !residual.is_finite() {
                return Err(Error::Numerical(format!("the residual of iteration {iteration} is {residual}")));
            }
            let rounding = frobenius * roundoff;
            check.steady = if residual < CLOSED * tolerance { check.steady + 1 } else { 0 };
            // Without power iterations the subspace is the last vectors and random ones. The parts add up all the same, but
            // away from the optimum, and S does not come to rest. Or they do not add up even at the largest penalty.
            let is_rough = self.power == 0 && !spectrum.whole;
            if is_rough && ((residual < tolerance && measured) || mu >= most) {
                check.begin_anew();
                self.improve();
            } else if residual < tolerance && measured {
                let nuclear_norm = spectrum.values[..rank].iter().map(|s| s - 1.0 / mu).sum::<f64>();
                // If the bound of the rank cuts off values, the iterate solves another problem, and the check does not apply.
                check.is_closing |= self.is_bounded(rank) || check.is_passed(&sums, nuclear_norm, rounding);
                if check.is_closing {
                    info.converged = Check::is_closed(&sums, mu_next / mu, tolerance * frobenius, rounding)
                        || (self.is_bounded(rank) && check.steady >= STEADY);
                } else {
                    check.fail();
                    self.improve();
                }
            }
            check.is_due = residual < NEAR * tolerance;
            info.iterations = to_u64(iteration);
            info.residual = residual;
            if let Some(method) = method {
                self.ops.checkpoint(iteration, options.max_iterations, residual)?;
                spectrum = self.spectrum(method, product)?;
                mu = mu_next;
                if info.converged && !self.is_bounded(rank) && !self.confirm(&mut spectrum, 1.0 / mu)? {
                    info.converged = false;
                    check.fail();
                }
                continue;
            }
            info.rank = to_u64(rank);
            info.mu = mu / unit;
            let nuclear_norm = spectrum.values[..rank].iter().map(|s| s - 1.0 / mu).sum::<f64>();
            // Norms may overflow in the caller's unit although no entry of the parts does.
            let objective = nuclear_norm + lambda * sums.one_norm;
            (info.nuclear_norm, info.one_norm) = (nuclear_norm * unit, sums.one_norm * unit);
            info.nonzeros = sums.nonzeros;
            info.objective = objective * unit;
            // The computed values of L may be those of a subspace, and smaller than the true ones.
            bound = 2.0 * nuclear_norm.max(sums.one_norm);
            // This iterate is one step after the one that passed, so it is checked again.
            info.converged &= self.is_bounded(rank) || objective <= check.trivial * (1.0 + 2.0 * EXCESS);
            info.converged &= residual < tolerance;
            self.ops.checkpoint(options.max_iterations, options.max_iterations, residual)?;
            break;
        }
        Ok(bound)
    }

    /// Upper bound of the rank.
    pub(super) fn bound(&self) -> usize {
        let n = self.ops.size().1;
        let limit = |v: usize| if v == 0 { n } else { v.min(n) };
        limit(self.options.max_rank).min(limit(self.options.fixed_rank))
    }

    /// Whether the bound of the rank may cut off values.
    fn is_bounded(&self, rank: usize) -> bool {
        rank >= self.bound() && rank < self.ops.size().1
    }

    /// Makes all later decompositions take a step of the power iteration and start from the last vectors.
    pub(super) fn improve(&mut self) {
        (self.power, self.is_warm) = (self.power.max(1), true);
    }

    /// Whether the values over `least` are those of X. Without warm start they may not be, because the subspace is random in
    /// every iteration. One step of the power iteration improves it. If that finds larger values, all later iterations use
    /// warm start.
    fn confirm(&mut self, spectrum: &mut Spectrum<A::Matrix>, least: f64) -> Result<bool> {
        if spectrum.whole || (self.power > 0 && self.is_warm) {
            return Ok(true);
        }
        self.improve();
        let over = |s: f64| (s - least).max(0.0);
        let before: Vec<f64> = alloc::copied("singular values", &spectrum.values)?;
        let kept = spectrum.values.iter().take_while(|s| **s > least).count();
        *spectrum = self.decompose(spectrum, kept)?;
        let before = before.into_iter().chain(std::iter::repeat(0.0));
        let is_confirmed = spectrum.values.iter().zip(before).all(|(s, b)| over(*s) - over(b) <= MISSED * least);
        if is_confirmed {
            (self.power, self.is_warm) = (self.options.power_iterations, self.options.warm_start);
        }
        Ok(is_confirmed)
    }

    /// The number of values over `least`. Computes more values first, if some may be missing. New values are those of M, and
    /// are multiplied with `factor`.
    fn complete(&mut self, spectrum: &mut Spectrum<A::Matrix>, least: f64, factor: f64) -> Result<usize> {
        let (bound, n) = (self.bound(), self.ops.size().1);
        loop {
            let over = spectrum.values.iter().take_while(|s| **s > least).count();
            let computed = spectrum.values.len();
            if spectrum.whole || over < computed || over >= bound {
                let rank = over.min(bound);
                // Predict one more than the rank, or [`leap`] more where the prediction was just enough.
                self.predicted = match self.options.fixed_rank {
                    0 if rank < self.predicted || spectrum.whole => rank + 1,
                    0 => rank + leap(n),
                    fixed => fixed,
                };
                self.predicted = self.predicted.min(bound).max(1);
                return Ok(rank);
            }
            self.predicted = (over + leap(n)).min(bound);
            *spectrum = self.decompose(spectrum, over)?;
            spectrum.values.iter_mut().for_each(|s| *s *= factor);
        }
    }

    /// Singular values of M: all, or the leading ones when the largest has converged.
    pub(super) fn first_spectrum(&mut self) -> Result<Spectrum<A::Matrix>> {
        let vectors = self.ops.small().zeros("singular vectors", 1, 1)?;
        let mut spectrum = Spectrum { values: Vec::new(), vectors, whole: false };
        for _ in 0..NORM_ROUNDS {
            let before = spectrum.values.first().copied();
            let kept = spectrum.values.len().min(self.predicted);
            spectrum = self.decompose(&spectrum, kept)?;
            let now = spectrum.values.first().copied().unwrap_or(0.0);
            if spectrum.whole || before.is_some_and(|b| (now - b).abs() <= NORM_CHANGE * now) {
                break;
            }
        }
        Ok(spectrum)
    }

    /// A decomposition in passes of its own. The first `kept` of the last vectors are reused.
    pub(super) fn decompose(&mut self, spectrum: &Spectrum<A::Matrix>, kept: usize) -> Result<Spectrum<A::Matrix>> {
        let method = self.prepare(spectrum, kept)?;
        let began = Instant::now();
        let mut product = self.new_product(&method)?;
        self.passes += 1;
        self.ops.product(&method.product(), &mut product)?;
        self.seconds_svd += began.elapsed().as_secs_f64();
        self.spectrum(method, product)
    }

    /// Whether X^H X takes fewer operations than a subspace of `width` columns.
    pub(super) fn is_whole(&self, width: usize) -> bool {
        let (m, n) = self.ops.size();
        let weights = self.ops.weights();
        let (rows, all, l, q) = (m as f64, n as f64, width as f64, self.power as f64);
        let gram = weights.gram * rows * all * all + weights.eigen * 12.0 * all.powi(3);
        let subspace = rows * all * l * (4.0 * q + 2.0) + weights.eigen * (4.0 * all * l * l + 12.0 * l.powi(3));
        n <= MOST_GRAM && (gram <= subspace || width == n)
    }

    /// Chooses how the next values are computed, by the number of operations. The first `kept` of the last vectors are reused.
    pub(super) fn prepare(&mut self, spectrum: &Spectrum<A::Matrix>, kept: usize) -> Result<SpectrumMethod<A::Matrix>> {
        let n = self.ops.size().1;
        let width = (self.predicted + self.options.oversampling).clamp(1, n);
        if self.is_whole(width) {
            return Ok(SpectrumMethod::Gram);
        }
        let kept = if self.is_warm { kept.min(width) } else { 0 };
        let small = self.ops.small();
        let mut w = small.zeros("sketch", n, width)?;
        if kept > 0 {
            small.copy_columns(&spectrum.vectors, 0, kept, &mut w, 0)?;
        }
        if kept < width {
            let mut fresh = small.zeros("sketch", n, width - kept)?;
            let distribution = Distribution::Gaussian;
            let sketch = Sketch { distribution, seed: self.options.seed, stream: stream::ROBUST };
            small.fill(&mut fresh, &sketch, 0, self.drawn)?;
            small.copy_columns(&fresh, 0, width - kept, &mut w, kept)?;
            self.drawn = self.drawn.wrapping_add(u32::try_from(width - kept).unwrap_or(u32::MAX));
        }
        if self.power > 0 {
            return Ok(SpectrumMethod::Power(w));
        }
        self.orthonormalize(&mut w)?;
        Ok(SpectrumMethod::Basis(w))
    }

    fn orthonormalize(&mut self, w: &mut A::Matrix) -> Result<()> {
        let small = self.ops.small();
        let width = small.shape(w).1;
        let mut r = small.zeros("triangle", width, width)?;
        small.householder(w, &mut r)
    }

    /// Allocates the product of a decomposition.
    fn new_product(&mut self, method: &SpectrumMethod<A::Matrix>) -> Result<A::Matrix> {
        let n = self.ops.size().1;
        let small = self.ops.small();
        match method {
            SpectrumMethod::Gram => small.zeros("X^H X", n, n),
            SpectrumMethod::Power(w) => {
                let width = small.shape(w).1;
                small.zeros("X^H X W", n, width)
            }
            SpectrumMethod::Basis(_) => small.zeros("no product", 1, 1),
        }
    }

    /// Allocates the product of a decomposition, or a placeholder where there is none.
    fn new_product_or_nothing(&mut self, method: Option<&SpectrumMethod<A::Matrix>>) -> Result<A::Matrix> {
        match method {
            Some(method) => self.new_product(method),
            None => self.ops.small().zeros("no product", 1, 1),
        }
    }

    /// The values and vectors, from the product that `method` asked for.
    pub(super) fn spectrum(
        &mut self,
        method: SpectrumMethod<A::Matrix>,
        product: A::Matrix,
    ) -> Result<Spectrum<A::Matrix>> {
        let began = Instant::now();
        let spectrum = match method {
            SpectrumMethod::Gram => {
                let (squares, vectors) = self.ops.small().eigen(&product)?;
                Spectrum { values: roots(squares), vectors, whole: true }
            }
            SpectrumMethod::Basis(w) => self.within(&w)?,
            SpectrumMethod::Power(_) => {
                let mut basis = product;
                self.orthonormalize(&mut basis)?;
                for _ in 1..self.power {
                    let method = SpectrumMethod::Power(basis);
                    basis = self.new_product(&method)?;
                    self.passes += 1;
                    self.ops.product(&method.product(), &mut basis)?;
                    self.orthonormalize(&mut basis)?;
                }
                self.within(&basis)?
            }
        };
        self.seconds_svd += began.elapsed().as_secs_f64();
        Ok(spectrum)
    }

    /// The values and vectors of X restricted to the span of `w` (Rayleigh-Ritz).
    fn within(&mut self, w: &A::Matrix) -> Result<Spectrum<A::Matrix>> {
        let (n, width) = self.ops.small().shape(w);
        let mut small = self.ops.small().zeros("W^H X^H X W", width, width)?;
        self.passes += 1;
        self.ops.product(&Product::Projected(w), &mut small)?;
        let algebra = self.ops.small();
        let (squares, rotation) = algebra.eigen(&small)?;
        let mut vectors = algebra.zeros("singular vectors", n, width)?;
        algebra.multiply(1.0, w, Op::Plain, &rotation, Op::Plain, 0.0, &mut vectors)?;
        Ok(Spectrum { values: roots(squares), vectors, whole: width == n })
    }

    /// One iteration. Returns its sums, and the product of the new X that `method` needs. Frees the vectors of `spectrum`.
    pub(super) fn update(
        &mut self,
        step: &Step,
        spectrum: &mut Spectrum<A::Matrix>,
        rank: usize,
        method: Option<&SpectrumMethod<A::Matrix>>,
    ) -> Result<(Sums, A::Matrix)> {
        let began = Instant::now();
        let n = self.ops.size().1;
        let wanted = method.map_or(Product::None, SpectrumMethod::product);
        self.passes += 1;
        let small = self.ops.small();
        let (sums, product) = if rank == 0 {
            let mut product = self.new_product_or_nothing(method)?;
            (self.ops.update(step, &LowRank::Zero, &wanted, &mut product)?, product)
        } else {
            let mut left = small.zeros("singular vectors", n, rank)?;
            small.copy_columns(&spectrum.vectors, 0, rank, &mut left, 0)?;
            let mut right = small.zeros("singular vectors", n, rank)?;
            small.copy_columns(&spectrum.vectors, 0, rank, &mut right, 0)?;
            let shrink: Vec<f64> = spectrum.values[..rank].iter().map(|s| 1.0 - 1.0 / (step.mu * s)).collect();
            small.scale_columns(&mut right, &shrink)?;
            spectrum.vectors = small.zeros("singular vectors", 1, 1)?;
            if 2 * rank > n {
                let mut whole = small.zeros("V D V^H", n, n)?;
                small.multiply(1.0, &left, Op::Plain, &right, Op::Adjoint, 0.0, &mut whole)?;
                // The factors are freed first, so that the product can use their memory.
                drop((left, right));
                let mut product = self.new_product_or_nothing(method)?;
                (self.ops.update(step, &LowRank::Whole(&whole), &wanted, &mut product)?, product)
            } else {
                let mut product = self.new_product_or_nothing(method)?;
                (self.ops.update(step, &LowRank::Factors(&left, &right), &wanted, &mut product)?, product)
            }
        };
        self.seconds_update += began.elapsed().as_secs_f64();
        Ok((sums, product))
    }
}

/// Singular values from their squares. The smallest squares may be negative by rounding.
fn roots(squares: Vec<f64>) -> Vec<f64> {
    squares.into_iter().map(|s| s.max(0.0).sqrt()).collect()
}

/// Increase of the prediction when it was too small.
pub(super) fn leap(n: usize) -> usize {
    n.div_ceil(LEAP).max(1)
}
