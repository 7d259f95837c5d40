//! The kernels of `cuda/sshopm.cu` and `cuda/sshopm_general.cu`.

#[cfg(test)]
mod device_tests;
mod product;
mod solve;

use super::{constants as c, size, span};
use crate::backend::gpu::Region;
use crate::error::Result;
use crate::scalar::Real;

pub use product::{Classified, Draw, Vectors, classify, draw_starts, products};

/// Largest dimension and order that the general kernels take.
pub const MAX_DIMENSION: usize = size(c::MAX_DIMENSION);
/// As [`MAX_DIMENSION`].
pub const MAX_ORDER: usize = size(c::MAX_ORDER);
/// Most starts of a fused selection.
pub const FUSED_MAX_STARTS: usize = size(c::FUSED_MAX_STARTS);
/// Most pairs of a fused selection.
pub const FUSED_MAX_PAIRS: usize = size(c::FUSED_MAX_PAIRS);
/// Most pairs that the selection from start results distinguishes.
pub const SELECT_MAX_PAIRS: usize = size(c::SELECT_MAX_PAIRS);
/// Most starts that the selection from start results takes.
pub const SELECT_MAX_STARTS: usize = size(c::SELECT_MAX_STARTS);
/// Number of counters, 64 bits each: converged starts, iterations, skipped, truncated and unconverged tensors.
pub const COUNTERS: usize = size(c::COUNTERS);

/// A batch of packed symmetric tensors on the device, with any strides.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The entries, beginning with the first tensor's first.
    pub memory: Region<'a>,
    /// Elements from one entry to the next.
    pub entry_stride: usize,
    /// Elements from one tensor to the next.
    pub tensor_stride: usize,
    /// Number of indices m, at most [`MAX_ORDER`] in the general kernels.
    pub order: usize,
    /// Range n of each index.
    pub dimension: usize,
    /// Number of entries U of a tensor.
    pub entries: usize,
    /// Number of tensors T, masked ones included.
    pub count: usize,
}

/// Tables of an (order, dimension), needed by everything but the fused kernels.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    /// U8 [m, U]: the index tuples.
    pub indices: Region<'a>,
    /// Real `[U]`: multinomial coefficients.
    pub multinomials: Region<'a>,
    /// Real `[U]`: entries of the identity tensor, for even order.
    pub identity: Option<Region<'a>>,
}

/// Start vectors, shared by all tensors or one set for each.
#[derive(Clone, Copy)]
pub struct Starts<'a> {
    /// Real [n, V] or [n, V, T].
    pub vectors: Region<'a>,
    /// Starts V of a tensor.
    pub count: usize,
    /// Whether every tensor has its own.
    pub per_tensor: bool,
}

/// How to solve: the numbers of `cuda/purlin_launch.h`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// `MAXIMA` or `MINIMA` of A x^m on the unit sphere.
    pub goal: i32,
    /// `HYBRID`, `POWER` or `NEWTON`; a fused kernel takes its own.
    pub method: i32,
    /// Shift of the power method.
    pub shift_kind: i32,
    /// The shift, if `shift_kind` is `SHIFT_FIXED`.
    pub shift: f64,
    /// `TEST_*`: the quantity that ends a start when it is small.
    pub test: i32,
    /// Threshold below which the quantity of `test` ends a start.
    pub tolerance: f64,
    /// Most steps of a start.
    pub max_iterations: i32,
    /// Power steps before the first Newton step.
    pub warmup: i32,
    /// Margin of the adaptive shift.
    pub tau: f64,
    /// `SIGN_*`: which of x and -x is returned.
    pub sign: i32,
    /// Bit set of the flags of `cuda/purlin_launch.h`.
    pub flags: i32,
    /// Bit set of the classes that are kept.
    pub keep_classes: i32,
    /// (2 sin(merge angle / 2))^2.
    pub merge_chord2: f64,
    /// Largest relative difference of values that are one pair, 0 for any.
    pub merge_value: f64,
    /// Relative size of Hessian eigenvalues that count as 0.
    pub degeneracy: f64,
    /// Relative distance of the values of one continuum.
    pub level: f64,
    /// Relative distance from a multiple of the identity that counts as none.
    pub isotropy: f64,
    /// Smallest absolute and relative value of a peak, where there are such thresholds.
    pub thresholds: Option<(f64, f64)>,
    /// (2 sin(separation / 2))^2: squared chord of the least angle between two peaks.
    pub separation_chord2: f64,
}

/// Where pairs go: K of each of T tensors. Each may be absent.
#[derive(Clone, Copy, Default)]
pub struct Pairs<'a> {
    /// Most pairs K of a tensor.
    pub limit: usize,
    /// I32 `[T]`.
    pub count: Option<Region<'a>>,
    /// Real [K, T].
    pub values: Option<Region<'a>>,
    /// Real [n, K, T].
    pub vectors: Option<Region<'a>>,
    /// Real [K, T].
    pub residuals: Option<Region<'a>>,
    /// I32 [K, T].
    pub classes: Option<Region<'a>>,
    /// Real [n - 1, K, T].
    pub hessian: Option<Region<'a>>,
    /// I32 [K, T].
    pub basins: Option<Region<'a>>,
    /// I32 `[T]`.
    pub status: Option<Region<'a>>,
    /// Real [4, K, T], or [3, K, T] with the flag for scaled peaks.
    pub peaks: Option<Region<'a>>,
    /// I32 `[T]`; a must where two launches fill one row.
    pub found: Option<Region<'a>>,
}

/// Where the results of the starts go: V of each of T tensors. Each may be absent.
#[derive(Clone, Copy, Default)]
pub struct StartResults<'a> {
    /// Real [V, T].
    pub values: Option<Region<'a>>,
    /// Real [n, V, T].
    pub vectors: Option<Region<'a>>,
    /// Real [V, T].
    pub residuals: Option<Region<'a>>,
    /// I32 [V, T].
    pub iterations: Option<Region<'a>>,
    /// Real [V, T].
    pub shifts: Option<Region<'a>>,
    /// I32 [V, T].
    pub status: Option<Region<'a>>,
    /// I32 [V, T].
    pub violations: Option<Region<'a>>,
}

/// One solve: T tensors, V starts each.
#[derive(Clone, Copy)]
pub struct Solve<'a> {
    /// The T tensors to solve.
    pub batch: Batch<'a>,
    /// U8 `[T]`: 0 leaves a tensor out.
    pub mask: Option<Region<'a>>,
    /// Real [U, U]: the transform that is applied to the entries when they are read; fused kernels only.
    pub transform: Option<Region<'a>>,
    /// Start vectors of all tensors.
    pub starts: Starts<'a>,
    /// Method, tests and thresholds, the same for all tensors.
    pub settings: Settings,
    /// Where the selected pairs of each tensor go.
    pub pairs: Pairs<'a>,
    /// Where the results of the starts go.
    pub start_results: StartResults<'a>,
    /// Real `[L]`: lambda of the first start of the first tensor at each step; general kernel only.
    pub trace: Option<(Region<'a>, usize)>,
    /// U64 [[`COUNTERS`]], added to.
    pub counters: Option<Region<'a>>,
    /// Index tuples and coefficients; `None` for the fused kernels alone.
    pub tables: Option<Tables<'a>>,
}

impl Batch<'_> {
    fn address<T: Real>(&self) -> Result<u64> {
        let elements = span("tensors", self.entries, self.entry_stride, self.count, self.tensor_stride)?;
        self.memory.array("tensors", elements, size_of::<T>())
    }
}

/// Whether there is a fused kernel for tensors of this order and dimension.
pub fn has_fused(order: usize, dimension: usize) -> bool {
    dimension == 3 && matches!(order, 3 | 4 | 6 | 8)
}
