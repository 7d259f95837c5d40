//! The kernels of `cuda/rpca.cu`.

use super::mirrors::{RpcaPassParams, RpcaSumParams};
use super::{constants as c, optional, product, size, small, span, suffix_of};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// Most elements of a panel.
pub const MOST_ELEMENTS: usize = 1 << 30;

/// F64 numbers that a pass leaves of a panel, and those of the totals.
pub const SUMS: usize = size(c::RPCA_SUMS);

/// Bytes that the sums of a panel of `elements` elements take.
pub fn sums_bytes(elements: usize) -> usize {
    elements.div_ceil(size(c::RPCA_CHUNK)) * SUMS * 8
}

/// The matrix over a panel: element (f, s) of the panel's axes is element `f + s * slow` of the region.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'a> {
    /// From the panel's first element on.
    pub memory: Region<'a>,
    /// Type of the elements in memory, which may differ from the type of computing.
    pub dtype: DType,
    /// Elements from one index of the slow axis to the next.
    pub slow: usize,
    /// Factor of every entry: the caller's scale over the unit of the run.
    pub scale: f64,
}

/// The mask over a panel, of bytes: element (f, s) is element `f * fast + s * slow`.
#[derive(Debug, Clone, Copy)]
pub struct Mask<'a> {
    /// From the panel's first element on.
    pub memory: Region<'a>,
    /// Elements from one index of the fast axis to the next.
    pub fast: usize,
    /// The same of the slow axis.
    pub slow: usize,
}

/// A panel: its contiguous axis and the other one.
#[derive(Debug, Clone, Copy)]
pub struct Panel<'a> {
    /// Indices of the contiguous axis.
    pub fast: usize,
    /// Indices of the other one.
    pub slow: usize,
    /// X, `fast * slow` numbers, packed.
    pub x: Region<'a>,
    /// Y, packed; [`Load`] can do without.
    pub y: Option<Region<'a>>,
    /// The matrix M over this panel.
    pub entries: Entries<'a>,
    /// The mask of the observed entries, if not all are.
    pub mask: Option<Mask<'a>>,
    /// F64, [`sums_bytes`] of them.
    pub sums: Region<'a>,
    /// F64 [[`SUMS`]]: the sums are added to these, if they are wanted.
    pub totals: Option<Region<'a>>,
}

/// X and Y as multiples of the matrix. The totals: sum of the squares, largest modulus, numbers that are not finite, sum of
/// the moduli.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// X as a multiple of the matrix.
    pub x_scale: f64,
    /// Y as a multiple of the matrix.
    pub y_scale: f64,
}

/// An iteration. The totals: squares of M - L - S; in the last one moduli of S and its entries over the threshold; in a
/// measured one squares of X - L - Y / mu and of Y / mu, with the new Y, and moduli of S.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// L, packed as X is.
    pub low_rank: Region<'a>,
    /// Penalty mu of this iteration, positive.
    pub mu: f64,
    /// Penalty of the next iteration.
    pub mu_next: f64,
    /// Weight of the sparse part.
    pub lambda: f64,
    /// Entries of a larger modulus count as entries of S.
    pub threshold: f64,
    /// Whether X becomes L and Y becomes S.
    pub last: bool,
    /// Whether the dual residual is summed; not in the last iteration.
    pub measured: bool,
}

impl Panel<'_> {
    fn parameters(&self, dtype: DType) -> Result<RpcaPassParams> {
        let elements = product("panel", &[self.fast, self.slow])?;
        if elements > MOST_ELEMENTS {
            return Err(Error::Internal(format!("a panel of {elements} elements")));
        }
        let Entries { memory, dtype: stored, slow, scale } = self.entries;
        let (mask, mask_fast, mask_slow) = match &self.mask {
            None => (0, 0, 0),
            Some(m) => {
                let reach = span("mask", self.fast, m.fast, self.slow, m.slow)?;
                (m.memory.array("mask", reach, 1)?, to_i64(m.fast), to_i64(m.slow))
            }
        };
        Ok(RpcaPassParams {
            // Complex numbers are read part by part.
            m: memory.array(
                "m",
                product("m", &[span("m", self.fast, 1, self.slow, slow)?, stored.size() / stored.align()])?,
                stored.align(),
            )?,
            mask,
            low_rank: 0,
            x: self.x.array("x", elements, dtype.size())?,
            y: optional(dtype.size(), "y", self.y, elements)?,
            sums: self.sums.array("sums", sums_bytes(elements) / 8, 8)?,
            m_slow: to_i64(slow),
            mask_fast,
            mask_slow,
            scale,
            x_scale: 0.0,
            y_scale: 0.0,
            inverse: 0.0,
            mu: 0.0,
            shrink: 0.0,
            keep: 0.0,
            threshold: 0.0,
            fast: small("panel", self.fast)?,
            elements: small("panel", elements)?,
            number: stored as i32,
            flags: 0,
        })
    }

    fn launch(&self, gpu: &Gpu, stream: &GpuStream, name: &str, p: &RpcaPassParams, flags: i32) -> Result<()> {
        let elements = self.fast * self.slow;
        let blocks = elements.div_ceil(size(c::RPCA_CHUNK));
        let threads = c::RPCA_THREADS.unsigned_abs();
        let grid = Grid::row(u32::try_from(blocks).unwrap_or(u32::MAX), threads, 0);
        let kernel = gpu.kernel("rpca", name)?;
        // SAFETY: every array was checked against the panel's extents.
        unsafe { launch(&kernel, stream, grid, p) }?;
        let Some(totals) = self.totals else { return Ok(()) };
        let sum = RpcaSumParams {
            sums: p.sums,
            totals: totals.array("totals", SUMS, 8)?,
            blocks: to_i64(blocks),
            flags: i64::from(flags),
        };
        let kernel = gpu.kernel("rpca", "purlin_rpca_sum")?;
        // SAFETY: as many sums as the pass before wrote, and the totals, were checked.
        unsafe { launch(&kernel, stream, Grid::row(1, threads, 0), &sum) }
    }

    /// X and Y from the matrix.
    ///
    /// # Errors
    /// [`Error::Internal`] for a panel of more than [`MOST_ELEMENTS`] elements; as for every
    /// [launch](crate::backend::gpu::kernels#errors).
    pub fn load(&self, dtype: DType, gpu: &Gpu, stream: &GpuStream, load: Load) -> Result<()> {
        let parameters = RpcaPassParams { x_scale: load.x_scale, y_scale: load.y_scale, ..self.parameters(dtype)? };
        let name = format!("purlin_rpca_load_{}", suffix_of(dtype)?);
        self.launch(gpu, stream, &name, &parameters, c::RPCA_MAXIMUM)
    }

    /// Enqueues an iteration's pass over the panel, which needs Y.
    ///
    /// # Errors
    /// As [`Panel::load`]; [`Error::Internal`] without Y.
    pub fn update(&self, dtype: DType, gpu: &Gpu, stream: &GpuStream, update: &Update<'_>) -> Result<()> {
        let elements = self.fast * self.slow;
        if self.y.is_none() {
            return Err(Error::Internal("an iteration without Y".into()));
        }
        let parameters = RpcaPassParams {
            low_rank: update.low_rank.array("low_rank", elements, dtype.size())?,
            inverse: 1.0 / update.mu,
            mu: update.mu,
            shrink: update.lambda / update.mu,
            keep: 1.0 + update.mu / update.mu_next,
            threshold: update.threshold,
            flags: if update.last { c::RPCA_LAST } else { 0 } | if update.measured { c::RPCA_MEASURED } else { 0 },
            ..self.parameters(dtype)?
        };
        let name = format!("purlin_rpca_update_{}", suffix_of(dtype)?);
        self.launch(gpu, stream, &name, &parameters, 0)
    }
}
