//! The trait that a backend implements for contractions with operators.
//!
//! An environment L[a, q, p, b] holds bra bond a (fastest), operator slot q, boundary pair p and ket bond b. A step
//! multiplies in one site:
//!
//! ```text
//! T[a, q, p, j, b']  = sum_b     L[a, q, p, b] X[b, j, b']            one product: (a q p) x b by b x (j b')
//! U[a, i, q', p, b'] = sum_{q,j} h[q, i, j, q'] T[a, q, p, j, b']     sums of a few columns
//! L'[a', q', p, b']  = sum_{a,i} conj(Y[a, i, a']) U[a, i, q', p, b'] one product: ((a i) x a')^H by (a i) x (q' p b')
//! ```
//!
//! No index is ever permuted, because slots and pairs are stored between the two bonds. A step from right to left is
//! the same, with each core read from its right bond to its left bond.

use super::gather::Gather;
use crate::backend::memory::Memory;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar};
use crate::tensor::train::TensorTrain;

/// Sizes of the four indices of an environment, the first fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Values of the bra's bond; the fastest index.
    pub bra: usize,
    /// Slots of the operator at the bond.
    pub slots: usize,
    /// Boundary pairs that are computed together.
    pub pairs: usize,
    /// Values of the ket's bond; the slowest index.
    pub ket: usize,
}

impl Extent {
    /// Number of elements.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if it exceeds the range of `usize`.
    pub fn elements(self) -> Result<usize> {
        let Self { bra, slots, pairs, ket } = self;
        [slots, pairs, ket].into_iter().try_fold(bra, usize::checked_mul).ok_or_else(|| {
            Error::invalid(
                "x",
                format!("an environment of {bra} x {slots} x {pairs} x {ket} is more than 2^64 elements"),
            )
        })
    }
}

/// A core of a train in host or in device memory.
#[derive(Clone, Copy)]
pub struct CoreView<'a> {
    /// The train's name in messages.
    pub argument: &'static str,
    /// Its number in the train.
    pub number: usize,
    /// Memory of the train's core.
    pub memory: &'a Memory,
    /// Index of its first element there.
    pub offset: usize,
    /// Left bond, mode, right bond.
    pub dims: [usize; 3],
    /// Element type: that of the contraction or its real type.
    pub dtype: DType,
}

impl<'a> CoreView<'a> {
    /// Core k of a train.
    pub fn new(argument: &'static str, train: &'a TensorTrain, k: usize) -> Self {
        let (memory, offset) = train.memory(k);
        Self { argument, number: k, memory, offset, dims: train.shape().core(k), dtype: train.dtype() }
    }

    /// The bond where a step starts, the mode, and the bond where the step ends.
    pub fn along(self, mirrored: bool) -> [usize; 3] {
        let [left, n, right] = self.dims;
        if mirrored { [right, n, left] } else { [left, n, right] }
    }

    /// Whether both are views of the same memory with the same shape.
    pub fn is_same(&self, other: &Self) -> bool {
        self.memory.address() == other.memory.address()
            && (self.offset, self.dims, self.dtype) == (other.offset, other.dims, other.dtype)
    }
}

/// One site of a contraction.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Core of the bra at this site.
    pub bra: CoreView<'a>,
    /// Core of the ket at this site.
    pub ket: CoreView<'a>,
    /// The operator's terms at this site.
    pub gather: &'a Gather,
    /// Whether the step goes from right to left.
    pub mirrored: bool,
    /// Whether the bra is conjugated.
    pub conjugate: bool,
    /// Limit of the cores' exponents: cores beyond it are scaled to [0.5, 1). `None` for no scaling.
    pub limit: Option<i64>,
}

impl Site<'_> {
    /// Sizes of the environment after a step from an environment with the sizes `from`.
    ///
    /// # Errors
    /// [`Error::Internal`] for cores that do not fit `from`.
    pub fn after(&self, from: Extent) -> Result<Extent> {
        let (bra, ket) = (self.bra.along(self.mirrored), self.ket.along(self.mirrored));
        if (bra[0], self.gather.inputs, ket[0]) != (from.bra, from.slots, from.ket) {
            return Err(Error::Internal(format!("a step of cores {bra:?}, {ket:?} from {from:?}")));
        }
        Ok(Extent { bra: bra[2], slots: self.gather.outputs, pairs: from.pairs, ket: ket[2] })
    }
}

/// Bytes of workspace of a step, without its environments. Later steps reuse memory, so each kind of it is as large as
/// the largest step needs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepBytes {
    /// T and U of the stretch that one thread computes at a time.
    pub stretch: f64,
    /// Threads that compute stretches, each with workspace of its own.
    pub lanes: f64,
    /// Copies of the two cores, if they must be copied.
    pub cores: [f64; 2],
}

impl StepBytes {
    /// Workspace that suffices for this step and another.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            stretch: self.stretch.max(other.stretch),
            lanes: self.lanes.max(other.lanes),
            cores: [0, 1].map(|c| self.cores[c].max(other.cores[c])),
        }
    }

    /// Bytes of all workspace.
    pub fn bytes(self) -> f64 {
        self.stretch * self.lanes + self.cores[0] + self.cores[1]
    }
}

/// The operations of a backend on its environments.
pub trait OperatorOps<T: Scalar>: Sync {
    /// Memory of an environment on the backend.
    type Environment: Send + Sync + 'static;
    /// Workspace that successive steps reuse.
    type Work: Send + Sync + 'static;

    /// Allocates zeroed memory for `elements`, charged to the context's budget.
    ///
    /// # Errors
    /// Out of memory, the context's limit included; errors of the backend.
    fn environment(&self, elements: usize) -> Result<Self::Environment>;

    /// Workspace of steps for one of `halves` sweeps that run at the same time. As small as possible if `narrow`.
    fn work(&self, halves: usize, narrow: bool) -> Self::Work;

    /// Bytes of [`OperatorOps::work`] after a step with these sizes.
    fn step_workspace(&self, halves: usize, narrow: bool, from: Extent, to: Extent, modes: [usize; 2]) -> StepBytes;

    /// Writes the environment of a cut: element (a, q, p, b) is 1 if (a, b) is boundary pair number `first` + p,
    /// counted with a fastest, and `starts[q]`; otherwise 0.
    ///
    /// # Errors
    /// As [`Extent::elements`]; out of memory; errors of the backend.
    fn boundary(&self, to: &mut Self::Environment, extent: Extent, first: usize, starts: &[bool]) -> Result<()>;

    /// A step over `site`. Returns the exponent of the powers of two by which the cores were divided. That of the
    /// operator is not included.
    ///
    /// # Errors
    /// As [`Site::after`]; out of memory; errors of the backend.
    fn step(
        &self,
        work: &mut Self::Work,
        site: &Site<'_>,
        from: &Self::Environment,
        extent: Extent,
        to: &mut Self::Environment,
    ) -> Result<i64>;

    /// Largest |re| or |im| of the slots before `split`, and of the slots from `split` on; NaN if a number is NaN.
    ///
    /// # Errors
    /// As [`Extent::elements`]; out of memory; errors of the backend.
    fn peaks(&self, environment: &Self::Environment, extent: Extent, split: usize) -> Result<[f64; 2]>;

    /// Multiplies the slots before `split` by 2^`by[0]`, and the slots from `split` on by 2^`by[1]`.
    ///
    /// # Errors
    /// As [`Extent::elements`]; errors of the backend.
    fn shift(&self, environment: &mut Self::Environment, extent: Extent, split: usize, by: [i64; 2]) -> Result<()>;

    /// For each slot q of L, the sum over a, p, b of L[a, q, p, b] R[a, q, p, b]. If R has only one slot, it is used
    /// for all slots of L.
    ///
    /// # Errors
    /// [`Error::Internal`] for environments that do not fit; out of memory; errors of the backend.
    fn join(
        &self,
        left: (&Self::Environment, Extent),
        right: (&Self::Environment, Extent),
    ) -> Result<Vec<Complex<f64>>>;

    /// out[a, i.., a'] = sum L[a, q, p, b] h.. v[b, j.., b'] R[a', q', p, b'], over as many sites as there are gathers.
    /// The vectors are in host memory.
    ///
    /// # Errors
    /// Out of memory; errors of the backend.
    fn apply(
        &self,
        work: &mut Self::Work,
        left: (&Self::Environment, Extent),
        gathers: &[Gather],
        right: (&Self::Environment, Extent),
        v: &[T],
        out: &mut [T],
    ) -> Result<()>;

    /// Copies the elements of an environment to host memory. Waits.
    ///
    /// # Errors
    /// Errors of the backend.
    fn read(&self, environment: &Self::Environment, out: &mut [T]) -> Result<()>;

    /// Whether [`OperatorOps::both`] may run both at the same time.
    fn is_concurrent(&self) -> bool {
        false
    }

    /// Calls both, at the same time if the backend can.
    fn both<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B);
}
