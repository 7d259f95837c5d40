//! A call resolved to plain numbers: the parameters of a backend for a tile of tensors, and the rows of results.

use super::options::{Goal, StartKind, TensorStatus, Test};
use crate::error::Result;
use crate::scalar::Real;
use crate::tensor::Symmetric;

/// Choice of the representative of a pair in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignRule {
    /// Odd order: lambda >= 0. Even order: the component of largest magnitude is positive, the first on ties.
    Canonical,
    /// The last iterate, its sign unchanged.
    Raw,
    /// Odd order: lambda >= 0. Even order: the last component is not negative.
    UpperHalf,
}

/// The iteration, with its shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Iteration {
    /// Newton's step uphill with the smallest safe shift of the Hessian in dimension 3. In others Newton's step where it is
    /// safe, else a power step with the smallest safe shift.
    Hybrid,
    /// Newton's step where it is safe, else a power step with a constant shift.
    HybridConstant(ConstantShift),
    /// Power steps with the adaptive shift.
    Adaptive,
    /// Power steps with a constant shift.
    Power(ConstantShift),
    /// Newton's step everywhere: finds all pairs, including saddles.
    Newton,
}

/// A shift that does not change during the iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConstantShift {
    /// This magnitude, in the units of the tensor; added for maxima and subtracted for minima.
    Value(f64),
    /// (m - 1) times the Frobenius norm of the tensor.
    Guaranteed,
}

/// Where the start vectors come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Starts<T> {
    /// Unit vectors [n x V], shared by all tensors.
    Shared(Vec<T>),
    /// Drawn for each tensor: row = index of the tensor in the batch / chunks, column = start * n + component.
    Drawn {
        /// [`StartKind::Random`] or [`StartKind::RandomCube`].
        kind: StartKind,
        /// Key of the random numbers.
        seed: u64,
        /// Number of the first start, so that a call can continue the sequence of another.
        first: usize,
        /// Consecutive items of a batch that are one tensor. Each item has the next V starts, so that several threads
        /// share the tensor.
        chunks: usize,
    },
}

/// Rules for reducing the ends of the starts to the pairs of a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reduction {
    /// Limit of the pairs of each tensor, K; 0 if only start outputs are requested.
    pub pairs: usize,
    /// Squared chord (2 sin(angle / 2))^2 within which two ends are one pair.
    pub merge_chord2: f64,
    /// If above 0, ends are one pair only if their lambdas differ by at most this times the larger magnitude.
    pub merge_value: f64,
    /// If above 0, as `merge_value`, but relative to the Frobenius norm.
    pub merge_norm: f64,
    /// Eigenvalues of the projected Hessian below this times the Frobenius norm count as 0.
    pub degeneracy: f64,
    /// Degenerate pairs are on one continuum if their lambdas differ by at most this times the Frobenius norm.
    pub level: f64,
    /// A tensor counts as c E if its entries differ from c E by at most this times the largest magnitude.
    pub isotropy: f64,
    /// Whether A = 0 and A = c E give one degenerate pair (the first start); else none.
    pub special_pair: bool,
    /// Whether saddles are listed, as in the search for all pairs.
    pub saddles: bool,
    /// If there are thresholds, only pairs with a lambda above this and above `relative_threshold` times the largest are
    /// listed.
    pub absolute_threshold: Option<f64>,
    /// Part of the tensor's largest lambda that a listed pair must exceed as well.
    pub relative_threshold: f64,
    /// Squared chord below which the weaker of two pairs is dropped; 0 for none.
    pub separation_chord2: f64,
}

/// A call resolved to plain numbers.
#[derive(Debug, Clone)]
pub struct Plan<T> {
    /// Order m and dimension n.
    pub shape: Symmetric,
    /// Passes: maxima, minima or both in this order. Minima of A are found as maxima of -A.
    pub goal: Goal,
    /// How an iterate becomes the next, with its shift.
    pub iteration: Iteration,
    /// The quantity that ends a start when it is small.
    pub test: Test,
    /// Tolerance of the test, not below the accuracy of the type.
    pub tolerance: f64,
    /// Whether `tolerance` (test of lambda) and `tau` are absolute; else they are relative to |lambda| and |A|.
    pub absolute: bool,
    /// Margin of the adaptive shift.
    pub tau: f64,
    /// Limit of iterations of a start.
    pub max_iterations: u32,
    /// Power steps before the first Newton step.
    pub warmup: u32,
    /// Whether each tensor is scaled by a power of two to order one. False only for other programs' conventions.
    pub scale: bool,
    /// Even order: iterate on A - c E, c = 0.9 * the least A x^m over the starts, if that is positive.
    pub remove_isotropic: bool,
    /// Which of x and -x is written.
    pub sign: SignRule,
    /// Start vectors, or how they are drawn.
    pub starts: Starts<T>,
    /// Starts V of each tensor.
    pub start_count: usize,
    /// How the ends of the starts become pairs.
    pub reduction: Reduction,
    /// [U x U], column-major: entries = transform * input, where the input is no symmetric tensor.
    pub transform: Option<Vec<T>>,
    /// Multinomial coefficient of each entry, `[U]`.
    pub multinomials: Vec<T>,
    /// Entries of the identity E `[U]`, for even order; else empty.
    pub identity: Vec<T>,
    /// Value of rows beyond the count: NaN, or 0.
    pub missing: T,
    /// Whether rows of converged starts may stay unwritten, because the caller has filled the status of all starts before.
    pub unfinished_only: bool,
}

impl<T: Real> Plan<T> {
    /// Multinomials and the identity's entries of a shape.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`]; as [`multinomial`](crate::tensor::symmetric::multinomial).
    pub fn tables(shape: Symmetric) -> Result<(Vec<T>, Vec<T>)> {
        use crate::tensor::symmetric::{Monomials, identity_entry, multinomial};
        let mut multinomials = crate::alloc::with_capacity("multinomial table", shape.count())?;
        let even = shape.order.is_multiple_of(2);
        let mut identity = crate::alloc::with_capacity("identity tensor", if even { shape.count() } else { 0 })?;
        let mut walk = Monomials::new(shape)?;
        while let Some((_, tuple)) = walk.next_tuple() {
            multinomials.push(T::from_f64(multinomial(tuple)? as f64));
            if even {
                identity.push(T::from_f64(identity_entry(tuple)?));
            }
        }
        Ok((multinomials, identity))
    }
}

/// Form of a peak, for [`Rows::peaks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeakForm {
    /// Four numbers: x, y, z, lambda.
    UnitValue,
    /// lambda x, lambda y, lambda z.
    Scaled,
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident: $t:ty = $size:ident;)*) => {
        /// Results of the tensors of a tile, packed with the first index fastest. Slices of results that are not requested
        /// are empty.
        /// K, V, n as in [`super::Results`].
        #[derive(Default)]
        pub struct Rows<'a, T> {
            $($(#[$doc])* pub $name: &'a mut [$t],)*
        }

        /// Memory of [`Rows`], for one tile.
        #[derive(Default)]
        pub struct RowBuffers<T> {
            $($(#[$doc])* pub $name: Vec<$t>,)*
        }

        impl<'a, T> Rows<'a, T> {
            /// Splits the rows after the first `count` tensors.
            pub fn split(self, count: usize, sizes: &RowSizes) -> (Self, Self) {
                $(let $name = self.$name.split_at_mut((count * sizes.$size).min(self.$name.len()));)*
                (Self { $($name: $name.0),* }, Self { $($name: $name.1),* })
            }

            /// The rows of tensor k.
            pub fn nth(&mut self, k: usize, sizes: &RowSizes) -> Rows<'_, T> {
                Rows { $($name: self.$name.get_mut(k * sizes.$size..(k + 1) * sizes.$size).unwrap_or_default()),* }
            }

            /// Borrows the same rows again.
            pub fn reborrow(&mut self) -> Rows<'_, T> {
                Rows { $($name: &mut *self.$name),* }
            }
        }

        impl<T> RowBuffers<T> {
            /// The rows of the first `count` tensors.
            pub fn rows(&mut self, count: usize, sizes: &RowSizes) -> Rows<'_, T> {
                Rows { $($name: {
                    let end = (count * sizes.$size).min(self.$name.len());
                    &mut self.$name[..end]
                }),* }
            }
        }
    };
}

/// Number of elements in a tensor's row of each result.
#[derive(Debug, Clone, Copy)]
pub struct RowSizes {
    /// One number for each tensor.
    pub one: usize,
    /// K: one number for each pair.
    pub pairs: usize,
    /// n K: a vector for each pair.
    pub pair_vectors: usize,
    /// (n - 1) K: eigenvalues of each projected Hessian.
    pub pair_hessians: usize,
    /// V: one number for each start.
    pub starts: usize,
    /// n V: a vector for each start.
    pub start_vectors: usize,
    /// 4 K or 3 K.
    pub peaks: usize,
}

rows! {
    /// [`super::Results::count`].
    count: i32 = one;
    /// [`super::Results::values`].
    values: T = pairs;
    /// [`super::Results::vectors`].
    vectors: T = pair_vectors;
    /// [`super::Results::residuals`].
    residuals: T = pairs;
    /// [`super::Results::classes`].
    classes: i32 = pairs;
    /// [`super::Results::hessian`].
    hessian: T = pair_hessians;
    /// [`super::Results::basins`].
    basins: i32 = pairs;
    /// [`super::Results::status`].
    status: i32 = one;
    /// Peaks [4, K] or [3, K], as [`PeakForm`].
    peaks: T = peaks;
    /// [`super::Results::start_values`].
    start_values: T = starts;
    /// [`super::Results::start_vectors`].
    start_vectors: T = start_vectors;
    /// [`super::Results::start_residuals`].
    start_residuals: T = starts;
    /// [`super::Results::start_iterations`].
    start_iterations: i32 = starts;
    /// [`super::Results::start_shifts`].
    start_shifts: T = starts;
    /// [`super::Results::start_status`].
    start_status: i32 = starts;
    /// [`super::Results::start_violations`].
    start_violations: i32 = starts;
    /// [`super::Results::found`].
    found: i32 = one;
}

/// The tensors of a tile.
#[derive(Debug, Clone, Copy)]
pub struct Tile<'a, T> {
    /// Index of the first tensor in the batch.
    pub first: usize,
    /// Packed entries, or the input of the transform [U x count].
    pub input: &'a [T],
    /// For each tensor, 0 excludes it; empty if all are included.
    pub mask: &'a [u8],
}

/// Counters of a solve, added up over its tensors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Starts that converged, of all tensors.
    pub converged: u64,
    /// Iterations of all starts, of all tensors.
    pub iterations: u64,
    /// Tensors without iterations: not finite, zero, isotropic or masked.
    pub skipped: u64,
    /// Tensors with more pairs than were listed.
    pub truncated: u64,
    /// Tensors with a start that did not converge.
    pub unconverged: u64,
}

impl Counts {
    /// The counters of both, added.
    pub fn plus(self, other: Self) -> Self {
        Self {
            converged: self.converged + other.converged,
            iterations: self.iterations + other.iterations,
            skipped: self.skipped + other.skipped,
            truncated: self.truncated + other.truncated,
            unconverged: self.unconverged + other.unconverged,
        }
    }
}

/// Whether a tensor with this status has no iterations.
pub fn is_skipped(status: TensorStatus) -> bool {
    matches!(status, TensorStatus::Nonfinite | TensorStatus::Zero | TensorStatus::Isotropic | TensorStatus::Masked)
}
