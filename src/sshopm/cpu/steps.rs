//! Common parts of the iterations in lanes: the stopping tests and the counters of a step.

use super::flight::{Flight, Job, Rule, Step, state};
use super::pool::row;
use crate::backend::cpu::simd::{Lanes, Mask, Simd};
use crate::scalar::Real;
use crate::sshopm::options::Test;

/// State of LEN starts in registers, without their vectors.
#[derive(Clone, Copy)]
pub struct Status<V> {
    /// x . A x^(m-1) at the last point evaluated.
    pub lambda: V,
    /// Squared residual at that point.
    pub residual2: V,
    /// Steps taken so far, a whole number.
    pub iterations: V,
    /// Shift of the last step, as in [`Flight`].
    pub shift: V,
    /// Steps so far that lowered lambda by more than rounding.
    pub violations: V,
    /// Squared length of the last step, for [`Test::Step`] only.
    pub step2: V,
    /// One of [`state`] for each start.
    pub state: V,
}

impl<V: Lanes> Status<V> {
    /// Loads the starts from position `at` on.
    #[inline(always)]
    pub fn load<S: Simd<V::T, V = V>>(simd: S, flight: &Flight<V::T>, at: usize) -> Self {
        let to = at + V::LEN;
        Self {
            lambda: simd.load(&flight.lambda[at..to]),
            residual2: simd.load(&flight.residual2[at..to]),
            iterations: simd.load(&flight.iterations[at..to]),
            shift: simd.load(&flight.shift[at..to]),
            violations: simd.load(&flight.violations[at..to]),
            step2: simd.load(&flight.step2[at..to]),
            state: simd.load(&flight.state[at..to]),
        }
    }

    /// Stores the starts at position `at`.
    #[inline(always)]
    pub fn store(self, flight: &mut Flight<V::T>, at: usize) {
        let to = at + V::LEN;
        self.lambda.store(&mut flight.lambda[at..to]);
        self.residual2.store(&mut flight.residual2[at..to]);
        self.iterations.store(&mut flight.iterations[at..to]);
        self.shift.store(&mut flight.shift[at..to]);
        self.violations.store(&mut flight.violations[at..to]);
        self.step2.store(&mut flight.step2[at..to]);
        self.state.store(&mut flight.state[at..to]);
    }

    /// Loads the lanes of a pool's vector.
    #[inline(always)]
    pub fn read<S: Simd<V::T, V = V>>(simd: S, block: &[V::T]) -> Self {
        Self {
            lambda: simd.load(&block[row::LAMBDA * V::LEN..]),
            residual2: simd.load(&block[row::RESIDUAL2 * V::LEN..]),
            iterations: simd.load(&block[row::ITERATIONS * V::LEN..]),
            shift: simd.load(&block[row::SHIFT * V::LEN..]),
            violations: simd.load(&block[row::VIOLATIONS * V::LEN..]),
            step2: simd.load(&block[row::STEP2 * V::LEN..]),
            state: simd.load(&block[row::STATE * V::LEN..]),
        }
    }

    /// Stores the lanes in the pool.
    #[inline(always)]
    pub fn write(self, block: &mut [V::T]) {
        self.lambda.store(&mut block[row::LAMBDA * V::LEN..]);
        self.residual2.store(&mut block[row::RESIDUAL2 * V::LEN..]);
        self.iterations.store(&mut block[row::ITERATIONS * V::LEN..]);
        self.shift.store(&mut block[row::SHIFT * V::LEN..]);
        self.violations.store(&mut block[row::VIOLATIONS * V::LEN..]);
        self.step2.store(&mut block[row::STEP2 * V::LEN..]);
        self.state.store(&mut block[row::STATE * V::LEN..]);
    }

    /// Lanes whose start is still iterating.
    #[inline(always)]
    pub fn running<S: Simd<V::T, V = V>>(&self, simd: S) -> V::M {
        self.state.le(simd.splat(V::T::from_f64(state::RUNNING)))
    }

    /// Processes an evaluation. Ends the running starts that meet their test or the limit of steps; counts a step for the
    /// others and returns those. A start that does not run does not move, so that its evaluation is always the same.
    #[inline(always)]
    pub fn process<S: Simd<V::T, V = V>>(
        &mut self,
        simd: S,
        rule: &Rule<V::T>,
        job: &Job<V>,
        running: V::M,
        lambda: V,
        residual2: V,
    ) -> V::M {
        let whole = lambda.add(job.isotropic);
        // Newton's steps reach rounding also where no power step can meet the test.
        let or_rounding = |met: V::M| {
            if rule.step == Step::HybridConstant { met.or(residual2.le(job.floor2)) } else { met }
        };
        let done = match rule.test {
            Test::Residual => {
                let bound = simd.splat(rule.tolerance).mul(whole);
                residual2.le(bound.mul(bound).max(job.floor2))
            }
            Test::Lambda => {
                let bound = if rule.absolute {
                    job.limit
                } else {
                    job.limit.mul(whole.abs().max(simd.splat(V::T::from_f64(1e-30))))
                };
                or_rounding(lambda.sub(self.lambda).abs().le(bound))
            }
            Test::Step => or_rounding(self.step2.le(job.limit)),
        };
        let one = simd.splat(V::T::ONE);
        if rule.violations {
            // Allow 16 eps (1 + |lambda|) for rounding: entries are scaled to order one.
            let slack = simd.splat(V::T::from_f64(16.0 * V::T::EPSILON.to_f64()));
            let lost = lambda.lt(self.lambda.sub(slack.mul_add(lambda.abs(), slack))).and(running);
            self.violations = V::select(lost, self.violations.add(one), self.violations);
        }
        self.lambda = lambda;
        self.residual2 = residual2;
        let converged = running.and(done);
        let exhausted = running.and_not(done).and(simd.splat(rule.max_iterations).le(self.iterations));
        self.end(simd, converged, state::CONVERGED);
        self.end(simd, exhausted, state::EXHAUSTED);
        let going = running.and_not(converged).and_not(exhausted);
        self.iterations = V::select(going, self.iterations.add(one), self.iterations);
        going
    }

    /// Ends as converged the lanes of `ended` whose residual is within [`Job::floor2`]: where no power step can meet the test,
    /// the residual alone can show convergence.
    #[inline(always)]
    pub fn accept<S: Simd<V::T, V = V>>(&mut self, simd: S, job: &Job<V>, ended: V::M) {
        self.end(simd, ended.and(self.residual2.le(job.floor2)), state::CONVERGED);
    }

    /// Sets a final state for the lanes of `mask`.
    #[inline(always)]
    pub fn end<S: Simd<V::T, V = V>>(&mut self, simd: S, mask: V::M, state: f64) {
        self.state = V::select(mask, simd.splat(V::T::from_f64(state)), self.state);
    }
}

/// Smallest squared length of a vector that counts as nonzero, so that the square does not underflow.
#[inline(always)]
pub fn tiny2<T: Real>() -> T {
    // (1e-15)^2 in f32, (1e-150)^2 in f64: entries are scaled to order one.
    T::from_f64(if size_of::<T>() == 4 { 1e-30 } else { 1e-300 })
}
