//! Starts in flight: the state of the iterations, one array for each quantity, so that lanes load and store them.

use crate::alloc;
use crate::error::Result;
use crate::scalar::Real;
use crate::sshopm::options::{StartStatus, Test};

/// States of a start. They are numbers of the working type, so that lanes can store and select them.
pub mod state {
    /// The start is still iterating.
    pub const RUNNING: f64 = 0.0;
    /// The stopping test was met.
    pub const CONVERGED: f64 = 1.0;
    /// The iteration limit was reached.
    pub const EXHAUSTED: f64 = 2.0;
    /// The vector that gives the next iterate is 0.
    pub const ZERO: f64 = 3.0;
    /// Newton's matrix is singular: there is no step.
    pub const SINGULAR: f64 = 4.0;
}

/// The status that is reported for a state.
#[inline]
pub fn status_of(state: f64) -> StartStatus {
    match state {
        s if s == state::CONVERGED => StartStatus::Converged,
        s if s == state::ZERO => StartStatus::ZeroVector,
        s if s == state::SINGULAR => StartStatus::Singular,
        _ => StartStatus::MaxIterations,
    }
}

/// Kind of step from an iterate to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Newton's step with the smallest safe shift of the Hessian in dimension 3; in others Newton's step where it is
    /// safe, else a power step with the smallest safe shift.
    Hybrid,
    /// Newton's step where it is safe, else a power step with the tensor's constant shift.
    HybridConstant,
    /// Power step with the tensor's constant shift.
    Power,
    /// Power step with the adaptive shift.
    Adaptive,
    /// Newton's step, whatever the signature of the Hessian.
    Newton,
}

/// Parameters that all tensors of a call share.
#[derive(Debug, Clone, Copy)]
pub struct Rule<T> {
    /// How an iterate becomes the next.
    pub step: Step,
    /// Quantity that ends a start when it is small.
    pub test: Test,
    /// Threshold of the residual test, not below the accuracy of T. The other tests have [`Job::limit`].
    pub tolerance: T,
    /// Whether the test of lambda is absolute.
    pub absolute: bool,
    /// Limit of iterations of a start.
    pub max_iterations: T,
    /// Power steps before the first Newton step.
    pub warmup: T,
    /// Whether steps that lower lambda are counted.
    pub violations: bool,
}

/// Parameters of one tensor, in its scaled units: the same in every lane, or one value for each lane.
#[derive(Debug, Clone, Copy)]
pub struct Job<V> {
    /// c of the multiple of the identity that was subtracted: lambda + c is the eigenvalue.
    pub isotropic: V,
    /// Squared floor of the residual test. With the other tests: the squared residual that is rounding where no step can meet
    /// them (`limit` below 0), else -1.
    pub floor2: V,
    /// The constant shift of the power steps.
    pub shift: V,
    /// Margin of the adaptive shift.
    pub tau: V,
    /// Largest change of lambda, relative to it unless [`Rule::absolute`], or largest squared step, by the test; not used by that
    /// of the residual. Below 0 if the shift hides the motion of an iterate in rounding, so that no step meets the test.
    pub limit: V,
}

/// Arrays over the starts in flight, `capacity` elements each but for `x`.
pub struct Flight<T> {
    capacity: usize,
    /// Component i of start p at `[i * capacity + p]`.
    pub x: Vec<T>,
    /// x . A x^(m-1) at the last point evaluated.
    pub lambda: Vec<T>,
    /// Squared residual at that point.
    pub residual2: Vec<T>,
    /// Steps taken so far, a whole number.
    pub iterations: Vec<T>,
    /// Shift of the last step: of a power step, or of the Hessian in the hybrid's Newton step. In the search for all pairs 1
    /// after an evaluation within the floor of the residual, else 0.
    pub shift: Vec<T>,
    /// Steps so far that lowered lambda by more than rounding.
    pub violations: Vec<T>,
    /// Squared length of the last step, for [`Test::Step`] only; infinite before the first step.
    pub step2: Vec<T>,
    /// One of [`state`] for each start.
    pub state: Vec<T>,
    /// Index of the start at each position.
    pub slot: Vec<usize>,
}

impl<T: Real> Flight<T> {
    /// Allocates arrays for `capacity` starts of dimension n.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(n: usize, capacity: usize) -> Result<Self> {
        let array = |k: usize| alloc::filled("starts in flight", k * capacity, T::ZERO);
        Ok(Self {
            capacity,
            x: array(n)?,
            lambda: array(1)?,
            residual2: array(1)?,
            iterations: array(1)?,
            shift: array(1)?,
            violations: array(1)?,
            step2: array(1)?,
            state: array(1)?,
            slot: alloc::filled("starts in flight", capacity, 0)?,
        })
    }

    /// Largest number of starts, with padding.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Launches `starts` starts from the vectors `x`, start p at position p.
    pub fn launch(&mut self, x: &[T], starts: usize) {
        let infinity = T::from_f64(f64::INFINITY);
        self.x.copy_from_slice(x);
        self.lambda.fill(T::ZERO - infinity);
        self.residual2.fill(T::ZERO);
        self.iterations.fill(T::ZERO);
        self.shift.fill(T::ZERO);
        self.violations.fill(T::ZERO);
        self.step2.fill(infinity);
        self.state[..starts].fill(T::from_f64(state::RUNNING));
        self.park(starts, self.capacity);
        for (p, slot) in self.slot.iter_mut().enumerate() {
            *slot = p;
        }
    }

    /// Marks positions that only pad a vector. They are not iterated and not counted.
    pub fn park(&mut self, from: usize, to: usize) {
        self.iterations[from..to].fill(T::ZERO);
        self.state[from..to].fill(T::from_f64(state::EXHAUSTED));
    }

    /// Moves the start at `from` to `to`.
    #[inline]
    pub fn shift_down(&mut self, from: usize, to: usize, n: usize) {
        for i in 0..n {
            self.x[i * self.capacity + to] = self.x[i * self.capacity + from];
        }
        for array in [
            &mut self.lambda,
            &mut self.residual2,
            &mut self.iterations,
            &mut self.shift,
            &mut self.violations,
            &mut self.step2,
            &mut self.state,
        ] {
            array[to] = array[from];
        }
        self.slot[to] = self.slot[from];
    }
}
