//! Arrays of a solve on the device: tensors, tables, starts and results.

use super::super::span;
use crate::backend::gpu::Region;
use crate::error::Result;
use crate::scalar::DType;

/// A batch of packed symmetric tensors on the device, with any strides.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The entries, beginning with the first tensor's first.
    pub memory: Region<'a>,
    /// Elements from one entry to the next.
    pub entry_stride: usize,
    /// Elements from one tensor to the next.
    pub tensor_stride: usize,
    /// Number of indices m, at most [`super::MAX_ORDER`] in the general kernels.
    pub order: usize,
    /// Range n of each index.
    pub dimension: usize,
    /// Number of entries U of a tensor.
    pub entries: usize,
    /// Number of tensors T, masked ones included.
    pub count: usize,
}

impl Batch<'_> {
    pub(super) fn address(&self, dtype: DType) -> Result<u64> {
        let elements = span("tensors", self.entries, self.entry_stride, self.count, self.tensor_stride)?;
        self.memory.array("tensors", elements, dtype.size())
    }
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
