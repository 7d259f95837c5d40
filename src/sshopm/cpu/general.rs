//! The iterations in any dimension, on arrays of vectors. The method is that of [`super::three`]. In other dimensions than 3
//! the hybrid takes Newton's step if H is negative definite and the step is short. Otherwise it shifts H by a bound of its
//! largest eigenvalue, or takes a power step if the shift is constant.

use super::chain::{Chain, Contracted, packed};
use super::flight::{Flight, Job, Rule, Step, state};
use super::linear::{cholesky_solve, largest_eigenvalue_bound, least_eigenvalue, least_eigenvalue_bound, qr_solve};
use super::steps::{Status, tiny2};
use super::three::{adaptive_shift, newton_ends, newton_test};
use super::uphill::uphill;
use crate::alloc;
use crate::backend::cpu::simd::{Lanes, Mask, Simd};
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::options::Test;

/// Largest dimension in which the adaptive shift uses the exact eigenvalue; beyond it a bound.
const EXACT_SHIFT: usize = 16;

/// Work arrays of one thread, for vectors of a fixed number of lanes.
pub struct WorkArrays<T> {
    /// Matrix and gradient at the last point evaluated.
    pub contracted: Contracted<T>,
    x: Vec<T>,
    r: Vec<T>,
    v: Vec<T>,
    p: Vec<T>,
    /// The projected matrix or a copy of the whole one, n x n.
    c: Vec<T>,
    d: Vec<T>,
    /// A step that is saved while another is computed.
    aside: Vec<T>,
}

impl<T: Real> WorkArrays<T> {
    /// Allocates arrays for vectors of up to `lanes` lanes.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(chain: &Chain, lanes: usize) -> Result<Self> {
        let n = chain.shape().dimension;
        let array = |k: usize| alloc::filled("work arrays", k * lanes, T::ZERO);
        Ok(Self {
            contracted: Contracted::new(chain, lanes)?,
            x: array(n)?,
            r: array(n)?,
            v: array(n)?,
            p: array(n)?,
            c: array(n * n)?,
            d: array(n)?,
            aside: array(n)?,
        })
    }

    /// Loads the vectors of LEN starts from position `at` and evaluates the tensor there. Returns x . A x^(m-1).
    #[inline(always)]
    pub fn evaluate<S: Simd<T>>(&mut self, simd: S, chain: &Chain, a: &[T], x: &[T], stride: usize, at: usize) -> S::V {
        let n = chain.shape().dimension;
        for i in 0..n {
            simd.load(&x[i * stride + at..]).store(&mut self.x[i * S::V::LEN..]);
        }
        self.here(simd, chain, a)
    }

    /// Evaluates the tensor at `self.x`.
    #[inline(always)]
    fn here<S: Simd<T>>(&mut self, simd: S, chain: &Chain, a: &[T]) -> S::V {
        self.contracted.evaluate(simd, chain, a, &self.x);
        inner(simd, &self.x, &self.contracted.gradient, chain.shape().dimension)
    }

    /// r = gradient - lambda x; returns its squared length.
    #[inline(always)]
    pub fn residual<S: Simd<T>>(&mut self, simd: S, n: usize, lambda: S::V) -> S::V {
        let lanes = S::V::LEN;
        for i in 0..n {
            let g = simd.load(&self.contracted.gradient[i * lanes..]);
            lambda.neg_mul_add(simd.load(&self.x[i * lanes..]), g).store(&mut self.r[i * lanes..]);
        }
        inner(simd, &self.r, &self.r, n)
    }

    /// Projects B onto the plane orthogonal to x: C = U'BU, into `c` with rows of n - 1. U are the first n - 1 columns
    /// of the Householder reflection I - beta v v' that maps x to -+ e_n. Returns beta.
    #[inline(always)]
    pub fn project<S: Simd<T>>(&mut self, simd: S, n: usize) -> S::V {
        let lanes = S::V::LEN;
        let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
        for i in 0..n {
            simd.load(&self.x[i * lanes..]).store(&mut self.v[i * lanes..]);
        }
        let last = simd.load(&self.x[(n - 1) * lanes..]);
        let sign = S::V::select(last.lt(zero), zero.sub(one), one);
        last.add(sign).store(&mut self.v[(n - 1) * lanes..]);
        let beta = one.div(last.abs().add(one));
        let b = &self.contracted.matrix;
        for i in 0..n {
            let mut sum = zero;
            for j in 0..n {
                sum = simd.load(&b[packed(n, i, j) * lanes..]).mul_add(simd.load(&self.v[j * lanes..]), sum);
            }
            sum.store(&mut self.p[i * lanes..]);
        }
        let s = beta.mul(inner(simd, &self.v, &self.p, n));
        // C = B - beta (v p' + p v') + beta^2 (v'Bv) v v' = B - v q' - q v' with q = beta (p - s v / 2).
        let half = s.mul(simd.splat(T::from_f64(0.5)));
        for i in 0..n {
            let (v, p) = (simd.load(&self.v[i * lanes..]), simd.load(&self.p[i * lanes..]));
            beta.mul(half.neg_mul_add(v, p)).store(&mut self.p[i * lanes..]);
        }
        for i in 0..n - 1 {
            let (vi, qi) = (simd.load(&self.v[i * lanes..]), simd.load(&self.p[i * lanes..]));
            for j in i..n - 1 {
                let (vj, qj) = (simd.load(&self.v[j * lanes..]), simd.load(&self.p[j * lanes..]));
                let value = qi.neg_mul_add(vj, vi.neg_mul_add(qj, simd.load(&b[packed(n, i, j) * lanes..])));
                value.store(&mut self.c[(i * (n - 1) + j) * lanes..]);
                value.store(&mut self.c[(j * (n - 1) + i) * lanes..]);
            }
        }
        beta
    }

    /// The projected matrix of [`WorkArrays::project`].
    pub fn projected_mut(&mut self) -> &mut [T] {
        &mut self.c
    }

    /// Smallest eigenvalue of B, or a lower bound in high dimensions.
    #[inline(always)]
    fn least_curvature<S: Simd<T>>(&mut self, simd: S, n: usize) -> S::V {
        let lanes = S::V::LEN;
        for i in 0..n {
            for j in 0..n {
                let b = simd.load(&self.contracted.matrix[packed(n, i, j) * lanes..]);
                b.store(&mut self.c[(i * n + j) * lanes..]);
            }
        }
        if n <= EXACT_SHIFT { least_eigenvalue(simd, &mut self.c, n) } else { least_eigenvalue_bound(simd, &self.c, n) }
    }

    /// Newton's step on the tangent plane into `d` (n components), from the projection, with the Hessian H less `shift`
    /// times the identity. Returns the lanes that may take it: their shifted Hessian is negative definite, or, with
    /// `any`, regular.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the state of an iteration")]
    fn newton<S: Simd<T>>(
        &mut self,
        simd: S,
        m: usize,
        n: usize,
        beta: S::V,
        lambda: S::V,
        shift: S::V,
        any: bool,
    ) -> <S::V as Lanes>::M {
        let lanes = S::V::LEN;
        let size = n - 1;
        let k = simd.splat(T::from_f64((m - 1) as f64));
        let zero = simd.splat(T::ZERO);
        // s I - H = (lambda + s) I - (m-1) C, and (s I - H) d = U'r.
        let lambda = lambda.add(shift);
        for i in 0..size {
            for j in 0..size {
                let c = simd.load(&self.c[(i * size + j) * lanes..]);
                let shifted = k.neg_mul_add(c, if i == j { lambda } else { zero });
                shifted.store(&mut self.c[(i * size + j) * lanes..]);
            }
        }
        let vr = beta.mul(inner(simd, &self.v, &self.r, n));
        for i in 0..size {
            let (v, r) = (simd.load(&self.v[i * lanes..]), simd.load(&self.r[i * lanes..]));
            vr.neg_mul_add(v, r).store(&mut self.d[i * lanes..]);
        }
        let solved = if any {
            qr_solve(simd, &mut self.c, &mut self.d, size)
        } else {
            cholesky_solve(simd, &mut self.c, &mut self.d, size)
        };
        // U d = (d, 0) - beta v (v . (d, 0)).
        zero.store(&mut self.d[size * lanes..]);
        let vd = beta.mul(inner(simd, &self.v, &self.d, size));
        for i in 0..n {
            let (v, d) = (simd.load(&self.v[i * lanes..]), simd.load(&self.d[i * lanes..]));
            vd.neg_mul_add(v, d).store(&mut self.d[i * lanes..]);
        }
        solved
    }

    /// The hybrid's step in other dimensions than 3, into `d`. If H is not negative definite or Newton's step is longer than
    /// 2/m, it computes the shift from a bound of the largest eigenvalue, unlike [`uphill`], so the shift may exceed the
    /// smallest one. A multiple of E in the tensor does not change the step. Returns the shift.
    #[inline(always)]
    fn uphill_any<S: Simd<T>>(
        &mut self,
        simd: S,
        (m, n): (usize, usize),
        beta: S::V,
        lambda: S::V,
        residual2: S::V,
        running: <S::V as Lanes>::M,
    ) -> S::V {
        let lanes = S::V::LEN;
        let number = |x: f64| simd.splat(T::from_f64(x));
        let zero = number(0.0);
        let order = m as f64;
        let top = number(order - 1.0).mul(largest_eigenvalue_bound(simd, &self.c, n - 1)).sub(lambda);
        let definite = self.newton(simd, m, n, beta, lambda, zero, false);
        let short = inner(simd, &self.d, &self.d, n).le(number(4.0 / (order * order)));
        let plain = definite.and(short);
        if !running.and_not(plain).any() {
            return zero;
        }
        // The projection and the second system overwrite all other arrays.
        for i in 0..n {
            simd.load(&self.d[i * lanes..]).store(&mut self.aside[i * lanes..]);
        }
        let tiny = number(if size_of::<T>() == 4 { 1e-18 } else { 1e-150 });
        let steepness = residual2.sqrt().mul_add(number(0.5 * order), tiny);
        let shift = steepness.add(top).max(zero);
        let beta = self.project(simd, n);
        self.newton(simd, m, n, beta, lambda, shift, false);
        for i in 0..n {
            let (d, p) = (simd.load(&self.d[i * lanes..]), simd.load(&self.aside[i * lanes..]));
            S::V::select(plain, p, d).store(&mut self.d[i * lanes..]);
        }
        S::V::select(plain, zero, shift)
    }

    /// The hybrid's step in dimension 3, into `d`. Returns the shift.
    #[inline(always)]
    fn uphill<S: Simd<T>>(&mut self, simd: S, m: usize, lambda: S::V, residual2: S::V) -> S::V {
        let lanes = S::V::LEN;
        let vector = |a: &[T]| [simd.load(a), simd.load(&a[lanes..]), simd.load(&a[2 * lanes..])];
        let b = &self.contracted.matrix;
        let (upper, lower) = (vector(b), vector(&b[3 * lanes..]));
        let b = [upper[0], upper[1], upper[2], lower[0], lower[1], lower[2]];
        let step = uphill(simd, m, b, vector(&self.r), lambda, residual2, vector(&self.x));
        for i in 0..3 {
            step.w[i].mul(step.inverse).store(&mut self.d[i * lanes..]);
        }
        step.shift
    }

    /// Moves the lanes of `going` to the direction of x + `d` (`relative`) or of `d`.
    #[inline(always)]
    fn move_to<S: Simd<T>>(
        &mut self,
        simd: S,
        n: usize,
        going: <S::V as Lanes>::M,
        status: &mut Status<S::V>,
        relative: bool,
    ) {
        let lanes = S::V::LEN;
        if relative {
            for i in 0..n {
                let next = simd.load(&self.x[i * lanes..]).add(simd.load(&self.d[i * lanes..]));
                next.store(&mut self.d[i * lanes..]);
            }
        }
        let scale = simd.splat(T::ONE).div(inner(simd, &self.d, &self.d, n).sqrt());
        let mut length2 = simd.splat(T::ZERO);
        for i in 0..n {
            let x = simd.load(&self.x[i * lanes..]);
            let next = simd.load(&self.d[i * lanes..]).mul(scale);
            let step = next.sub(x);
            length2 = step.mul_add(step, length2);
            S::V::select(going, next, x).store(&mut self.x[i * lanes..]);
        }
        status.step2 = S::V::select(going, length2, status.step2);
    }
}

/// Sum of x . y over `count` components, one sum a lane.
#[inline(always)]
fn inner<T: Real, S: Simd<T>>(simd: S, x: &[T], y: &[T], count: usize) -> S::V {
    let lanes = S::V::LEN;
    let mut sum = simd.splat(T::ZERO);
    for i in 0..count {
        sum = simd.load(&x[i * lanes..]).mul_add(simd.load(&y[i * lanes..]), sum);
    }
    sum
}

/// Runs the LEN starts from position `at` on for at most `steps` steps. Returns whether any of them still runs.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the state of an iteration")]
pub fn advance<T: Real, S: Simd<T>>(
    simd: S,
    chain: &Chain,
    work: &mut WorkArrays<T>,
    a: &[T],
    rule: &Rule<T>,
    job: &Job<S::V>,
    flight: &mut Flight<T>,
    at: usize,
    steps: usize,
) -> bool {
    let (m, n) = (chain.shape().order, chain.shape().dimension);
    let lanes = S::V::LEN;
    let capacity = flight.capacity();
    for i in 0..n {
        simd.load(&flight.x[i * capacity + at..]).store(&mut work.x[i * lanes..]);
    }
    let mut status = Status::load(simd, flight, at);
    let mut running = status.running(simd);
    for _ in 0..steps {
        let lambda = work.here(simd, chain, a);
        let residual2 = work.residual(simd, n, lambda);
        running = if rule.step == Step::Newton {
            newton_test(simd, rule, job, &mut status, running, lambda, residual2)
        } else {
            let going = status.process(simd, rule, job, running, lambda, residual2);
            if rule.step == Step::Power && rule.test != Test::Residual {
                status.accept(simd, job, running.and_not(going));
            }
            going
        };
        if !running.any() {
            break;
        }
        running = step(simd, work, rule, job, (m, n), &mut status, running, lambda);
    }
    for i in 0..n {
        simd.load(&work.x[i * lanes..]).store(&mut flight.x[i * capacity + at..]);
    }
    status.store(flight, at);
    running.any()
}

/// One step of the lanes of `running`; returns those that took it.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "the state of an iteration")]
fn step<T: Real, S: Simd<T>>(
    simd: S,
    work: &mut WorkArrays<T>,
    rule: &Rule<T>,
    job: &Job<S::V>,
    (m, n): (usize, usize),
    status: &mut Status<S::V>,
    running: <S::V as Lanes>::M,
    lambda: S::V,
) -> <S::V as Lanes>::M {
    let lanes = S::V::LEN;
    let zero = simd.splat(T::ZERO);
    match rule.step {
        Step::Power | Step::Adaptive => {
            let shift = if rule.step == Step::Power {
                job.shift
            } else {
                let e = work.least_curvature(simd, n);
                adaptive_shift(simd, m, e, job.tau)
            };
            status.shift = S::V::select(running, shift, status.shift);
            for i in 0..n {
                let g = simd.load(&work.contracted.gradient[i * lanes..]);
                shift.mul_add(simd.load(&work.x[i * lanes..]), g).store(&mut work.d[i * lanes..]);
            }
            let vanished = running.and(inner(simd, &work.d, &work.d, n).le(simd.splat(tiny2())));
            status.end(simd, vanished, state::ZERO);
            let going = running.and_not(vanished);
            work.move_to(simd, n, going, status, false);
            going
        }
        Step::Newton => {
            // In dimension 1 there is no tangent plane: every start is a pair and ends at once.
            if n == 1 {
                return running;
            }
            let beta = work.project(simd, n);
            let solved = work.newton(simd, m, n, beta, lambda, zero, true);
            let length2 = inner(simd, &work.d, &work.d, n);
            let going = newton_ends(simd, status, running, running.and_not(solved), length2);
            work.move_to(simd, n, going, status, true);
            going
        }
        Step::Hybrid | Step::HybridConstant => {
            if n == 1 {
                return running;
            }
            let beta = work.project(simd, n);
            let alpha = if rule.step == Step::HybridConstant {
                job.shift
            } else {
                // Samuelson's bound of the smallest eigenvalue of U'BU; exact for n = 2 and 3.
                let bound = least_eigenvalue_bound(simd, &work.c, n - 1);
                let bend = simd.splat(T::from_f64((m - 1) as f64)).mul(zero.sub(bound.min(lambda)));
                let margin = lambda.abs().mul_add(simd.splat(T::from_f64(1e-3)), simd.splat(T::from_f64(1e-6)));
                margin.add(bend).max(zero)
            };
            let beyond = simd.splat(rule.warmup).lt(status.iterations);
            let (newton, shift) = if n == 3 && rule.step == Step::Hybrid {
                (beyond, work.uphill(simd, m, lambda, status.residual2))
            } else if rule.step == Step::Hybrid {
                (beyond, work.uphill_any(simd, (m, n), beta, lambda, status.residual2, running))
            } else {
                let definite = work.newton(simd, m, n, beta, lambda, zero, false);
                let short = inner(simd, &work.d, &work.d, n).lt(simd.splat(T::from_f64(0.25)));
                (definite.and(short).and(beyond), zero)
            };
            let weight = lambda.add(alpha);
            let vanished = running.and(weight.abs().le(simd.splat(T::from_f64(1e-30)))).and_not(newton);
            status.end(simd, vanished, state::ZERO);
            let going = running.and_not(vanished);
            let scale = simd.splat(T::ONE).div(weight);
            for i in 0..n {
                let power = simd.load(&work.r[i * lanes..]).mul(scale);
                let d = simd.load(&work.d[i * lanes..]);
                S::V::select(newton, d, power).store(&mut work.d[i * lanes..]);
            }
            status.shift = S::V::select(going, S::V::select(newton, shift, alpha), status.shift);
            work.move_to(simd, n, going, status, true);
            going
        }
    }
}
