//! The kernels of `cuda/dwi.cu`.

use super::mirrors::FitParams;
use super::{constants as c, optional, product, size, small, span, suffix};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::{DType, Real};
use crate::shape::to_i64;

/// Most packed entries that the fit kernels take.
pub const MAX_ENTRIES: usize = size(c::FIT_MAX_ENTRIES);

/// A matrix on the device: measurement j of voxel t.
#[derive(Clone, Copy)]
pub struct Volume<'a> {
    /// From measurement 0 of voxel 0 on.
    pub memory: Region<'a>,
    /// Elements from one measurement to the next.
    pub measurement_stride: usize,
    /// Elements from one voxel to the next.
    pub voxel_stride: usize,
}

/// The unknowns of a fit.
#[derive(Clone, Copy)]
pub enum Model<'a> {
    /// The same matrix for every voxel: real [U, weighted], from log signals to entries.
    Shared(Region<'a>),
    /// Weighted least squares a voxel.
    Weighted {
        /// Real [U, weighted]: column j holds b_j times the weighted monomials of direction j.
        design: Region<'a>,
        /// Weights as the signals lie, all measurements; without them the squared signals.
        weights: Option<Volume<'a>>,
    },
}

/// One fit of a volume of T voxels.
#[derive(Clone, Copy)]
pub struct Fit<'a> {
    /// Signals of all N measurements, with and without diffusion weighting.
    pub signals: Volume<'a>,
    /// Their type: F32, F64, I32, U8 or U16.
    pub signal_type: DType,
    /// Number of measurements N, those without diffusion weighting included.
    pub measurements: usize,
    /// Number of voxels T, masked ones included.
    pub voxels: usize,
    /// U8 `[T]`.
    pub mask: Option<Region<'a>>,
    /// I32: numbers of the measurements without diffusion weighting, and how many there are.
    pub baseline: (Region<'a>, usize),
    /// I32: numbers of those with it, and how many.
    pub weighted: (Region<'a>, usize),
    /// The linear map from logarithms of signals to entries.
    pub model: Model<'a>,
    /// Packed entries U of a tensor, at most [`MAX_ENTRIES`].
    pub entries: usize,
    /// Real [U, T] with strides for entry and voxel.
    pub tensors: (Region<'a>, usize, usize),
    /// Real `[T]`.
    pub s0: Option<Region<'a>>,
    /// I32 `[T]`.
    pub status: Option<Region<'a>>,
    /// The value, relative to S0, that replaces signals that are not positive; `None` leaves their voxels out.
    pub clamp: Option<f64>,
}

impl Fit<'_> {
    /// Enqueues the fit of all T voxels; does not wait.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for more than [`MAX_ENTRIES`] entries; [`Error::Internal`] for signals of another type;
    /// as for every [launch](crate::backend::gpu::kernels#errors).
    pub fn run<T: Real>(&self, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        if self.entries > MAX_ENTRIES {
            let entries = self.entries;
            return Err(Error::NotSupported(format!(
                "tensors: {entries} entries are more than the GPU's {MAX_ENTRIES}"
            )));
        }
        if !matches!(self.signal_type, DType::F32 | DType::F64 | DType::I32 | DType::U8 | DType::U16) {
            return Err(Error::Internal(format!("signals of type {}", self.signal_type.name())));
        }
        let (n, t, u) = (self.measurements, self.voxels, self.entries);
        let real = size_of::<T>();
        let volume = |name, v: &Volume<'_>, bytes| {
            v.memory.array(name, span(name, n, v.measurement_stride, t, v.voxel_stride)?, bytes)
        };
        let (tensors, entry_stride, tensor_stride) = self.tensors;
        let shared = product("solution", &[u, self.weighted.1])?;
        let (solution, design, weights) = match &self.model {
            Model::Shared(matrix) => (matrix.array("solution", shared, real)?, 0, None),
            Model::Weighted { design, weights } => (0, design.array("design", shared, real)?, weights.as_ref()),
        };
        let parameters = FitParams {
            signals: volume("signals", &self.signals, self.signal_type.size())?,
            measurement_stride: to_i64(self.signals.measurement_stride),
            voxel_stride: to_i64(self.signals.voxel_stride),
            mask: optional(size_of::<u8>(), "mask", self.mask, t)?,
            baseline: self.baseline.0.array("baseline", self.baseline.1, 4)?,
            weighted: self.weighted.0.array("weighted", self.weighted.1, 4)?,
            solution,
            design,
            weights: weights.map_or(Ok(0), |w| volume("weights", w, real))?,
            weight_measurement_stride: weights.map_or(0, |w| to_i64(w.measurement_stride)),
            weight_voxel_stride: weights.map_or(0, |w| to_i64(w.voxel_stride)),
            tensors: tensors.array("tensors", span("tensors", u, entry_stride, t, tensor_stride)?, real)?,
            entry_stride: to_i64(entry_stride),
            tensor_stride: to_i64(tensor_stride),
            s0: optional(size_of::<T>(), "s0", self.s0, t)?,
            status: optional(size_of::<i32>(), "status", self.status, t)?,
            clamp: self.clamp.unwrap_or(0.0),
            count: to_i64(t),
            baseline_count: small("baseline", self.baseline.1)?,
            weighted_count: small("weighted", self.weighted.1)?,
            entries: small("entries", u)?,
            signal_type: self.signal_type as i32,
            skip: i32::from(self.clamp.is_none()),
            reserved: 0,
        };
        let (name, tile) = match self.model {
            Model::Shared(_) => ("purlin_dwi_fit_", size(c::FIT_VOXELS)),
            // One warp a voxel.
            Model::Weighted { .. } => ("purlin_dwi_fit_weighted_", size(c::FIT_THREADS) / 32),
        };
        let kernel = gpu.kernel("dwi", &format!("{name}{}", suffix::<T>()))?;
        let threads = c::FIT_THREADS.unsigned_abs();
        let blocks = u32::try_from(t.div_ceil(tile)).unwrap_or(u32::MAX).min(kernel.resident_blocks(threads, 0)?);
        // SAFETY: every array was checked against the kernel's extents; the measurement numbers are below N by the
        // caller's scheme.
        unsafe { launch(&kernel, stream, Grid::row(blocks, threads, 0), &parameters) }
    }
}
