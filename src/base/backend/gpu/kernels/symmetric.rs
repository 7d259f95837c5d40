//! The kernels of `cuda/symmetric.cu`.

use super::linear::Items;
use super::mirrors::{SymmetricConvertParams, SymmetricFullParams, SymmetricNormParams};
use super::{constants as c, filling, optional, product, size, small, span, suffix};
use crate::backend::gpu::launch::launch;
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::shape::to_i64;

/// Most axes of a dense tensor.
pub const MAX_ORDER: usize = size(c::SYMMETRIC_MAX_ORDER);

/// The operation of a conversion on the entries.
#[derive(Clone, Copy)]
pub enum Scale<'a> {
    /// It copies the entries.
    None,
    /// It multiplies them by these f64 `[U]`.
    Times(Region<'a>),
    /// It divides them by these f64 `[U]`.
    Over(Region<'a>),
}

fn address<T>(what: &str, items: &Items<'_>, entries: usize, count: usize) -> Result<u64> {
    items.memory.array(what, span(what, entries, items.stride, count, items.item_stride)?, size_of::<T>())
}

/// Threads of a block that works on `items` things at once: a warp does for few, and more blocks run beside it.
fn threads_for(items: usize) -> i32 {
    if items <= 1024 { 32 } else { c::SYMMETRIC_THREADS }
}

/// Converts `count` tensors of `entries` entries.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn convert<S: Real, D: Real>(
    gpu: &Gpu,
    stream: &GpuStream,
    (entries, count): (usize, usize),
    source: Items<'_>,
    scale: Scale<'_>,
    destination: Items<'_>,
) -> Result<()> {
    let (scale, factors) = match scale {
        Scale::None => (c::SCALE_NONE, None),
        Scale::Times(factors) => (c::SCALE_TIMES, Some(factors)),
        Scale::Over(factors) => (c::SCALE_OVER, Some(factors)),
    };
    let parameters = SymmetricConvertParams {
        source: address::<S>("source", &source, entries, count)?,
        source_entry_stride: to_i64(source.stride),
        source_tensor_stride: to_i64(source.item_stride),
        destination: address::<D>("destination", &destination, entries, count)?,
        destination_entry_stride: to_i64(destination.stride),
        destination_tensor_stride: to_i64(destination.item_stride),
        factors: optional(size_of::<f64>(), "multinomials", factors, entries)?,
        entries: to_i64(entries),
        count: to_i64(count),
        scale,
        reserved: 0,
    };
    let kernel = gpu.kernel("symmetric", &format!("purlin_symmetric_convert_{}_{}", suffix::<S>(), suffix::<D>()))?;
    let blocks = product("destination", &[entries, count])?.div_ceil(size(c::SYMMETRIC_THREADS));
    let grid = filling(&kernel, blocks, c::SYMMETRIC_THREADS, 0)?;
    // SAFETY: every array was checked against the kernel's extents.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// Norms of `count` tensors: `kind` is one of the `NORM_*` constants, `multinomials` f64 `[U]`, `norms` real with a stride.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn norm<T: Real>(
    gpu: &Gpu,
    stream: &GpuStream,
    (entries, count): (usize, usize),
    packed: Items<'_>,
    multinomials: Region<'_>,
    kind: i32,
    (norms, norm_stride): (Region<'_>, usize),
) -> Result<()> {
    let parameters = SymmetricNormParams {
        packed: address::<T>("packed", &packed, entries, count)?,
        entry_stride: to_i64(packed.stride),
        tensor_stride: to_i64(packed.item_stride),
        multinomials: multinomials.array("multinomials", entries, size_of::<f64>())?,
        norms: norms.array("norms", span("norms", 1, 0, count, norm_stride)?, size_of::<T>())?,
        norm_stride: to_i64(norm_stride),
        entries: to_i64(entries),
        count: to_i64(count),
        kind,
        reserved: 0,
    };
    let kernel = gpu.kernel("symmetric", &format!("purlin_symmetric_norm_{}", suffix::<T>()))?;
    let grid = filling(&kernel, count, threads_for(entries), 0)?;
    // SAFETY: every array was checked against the kernel's extents.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// Dense tensors [n, .., n, T] on the device.
#[derive(Clone, Copy)]
pub struct Cubes<'a> {
    /// From element (0, .., 0) of tensor 0 on.
    pub memory: Region<'a>,
    /// Strides of the m axes, in the order of a place's digits, ascending.
    pub strides: &'a [usize],
    /// Elements from one tensor to the next.
    pub tensor_stride: usize,
    /// Range n of each index.
    pub dimension: usize,
    /// n^m: elements of a tensor.
    pub places: usize,
    /// Number of tensors T in the memory.
    pub count: usize,
}

impl Cubes<'_> {
    /// Elements from the first to one past the last.
    fn extent(&self) -> Result<usize> {
        let (n, t) = (self.dimension, self.count);
        if n == 0 || t == 0 {
            return Ok(0);
        }
        self.strides
            .iter()
            .try_fold(0usize, |sum, s| s.checked_mul(n - 1)?.checked_add(sum))
            .and_then(|last| (t - 1).checked_mul(self.tensor_stride)?.checked_add(last)?.checked_add(1))
            .ok_or_else(|| Error::invalid("full", "its strides pass the end of memory"))
    }

    /// The distance of neighbouring places, if it is the same for all; else 0.
    fn step(&self) -> usize {
        let step = self.strides.first().copied().unwrap_or(0);
        let mut expected = Some(step);
        for stride in self.strides {
            if expected != Some(*stride) {
                return 0;
            }
            expected = expected.and_then(|e| e.checked_mul(self.dimension));
        }
        step
    }

    /// The parameters that both directions share.
    fn parameters<T: Real>(
        &self,
        packed: Option<&Items<'_>>,
        entries: usize,
        table: Region<'_>,
    ) -> Result<SymmetricFullParams> {
        let order = self.strides.len();
        let mut strides = [0; MAX_ORDER];
        if order == 0 || order > MAX_ORDER {
            return Err(Error::Internal(format!("a dense tensor with {order} axes")));
        }
        strides.iter_mut().zip(self.strides).for_each(|(to, from)| *to = to_i64(*from));
        small("full", self.places)?;
        Ok(SymmetricFullParams {
            full: self.memory.array("full", self.extent()?, size_of::<T>())?,
            full_tensor_stride: to_i64(self.tensor_stride),
            step: to_i64(self.step()),
            strides,
            packed: packed.map_or(Ok(0), |p| address::<T>("packed", p, entries, self.count))?,
            entry_stride: packed.map_or(0, |p| to_i64(p.stride)),
            tensor_stride: packed.map_or(0, |p| to_i64(p.item_stride)),
            table: table.array("index map", self.places, 4)?,
            starts: 0,
            asymmetry: 0,
            tolerance: 0.0,
            places: to_i64(self.places),
            entries: to_i64(entries),
            count: to_i64(self.count),
            order: small("order", order)?,
            dimension: small("dimension", self.dimension)?,
        })
    }
}

/// Unpacks tensors of `entries` entries; `map` is i32 `[places]`, the entry of each place.
///
/// # Errors
/// [`Error::Internal`] for dense tensors without axes or with more than [`MAX_ORDER`]; as for every
/// [launch](crate::backend::gpu::kernels#errors).
pub fn to_full<T: Real>(
    gpu: &Gpu,
    stream: &GpuStream,
    entries: usize,
    packed: Items<'_>,
    map: Region<'_>,
    full: Cubes<'_>,
) -> Result<()> {
    let parameters = full.parameters::<T>(Some(&packed), entries, map)?;
    let kernel = gpu.kernel("symmetric", &format!("purlin_symmetric_to_full_{}", suffix::<T>()))?;
    let blocks = product("full", &[full.places, full.count])?.div_ceil(size(c::SYMMETRIC_THREADS));
    let grid = filling(&kernel, blocks, c::SYMMETRIC_THREADS, 0)?;
    // SAFETY: every array was checked against the kernel's extents; the map's entries are below U and the places' digits
    // below n by the caller's tables.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// The places of the entries, for packing.
#[derive(Clone, Copy)]
pub struct EntryPlaces<'a> {
    /// I32 [n^m]: places, entry by entry, the one with the sorted indices first.
    pub places: Region<'a>,
    /// I32 [U + 1]: where each entry's places begin.
    pub starts: Region<'a>,
}

/// The output of a pass over the places of each entry.
#[derive(Clone, Copy)]
pub enum Packing<'a> {
    /// Their mean goes to the packed tensors.
    Mean(Items<'a>),
    /// The first place's value goes to the packed tensors.
    First(Items<'a>),
    /// Nothing is written but the u64, which has all bits set: it becomes `position in places + t * n^m` of the first
    /// place that differs from its entry's first one by more than the tolerance.
    Check(f64, Region<'a>),
}

/// Packs dense tensors into tensors of `entries` entries, or checks their symmetry.
///
/// # Errors
/// As [`to_full`].
pub fn from_full<T: Real>(
    gpu: &Gpu,
    stream: &GpuStream,
    full: Cubes<'_>,
    tables: EntryPlaces<'_>,
    packing: Packing<'_>,
    entries: usize,
) -> Result<()> {
    let (packed, tolerance, record) = match packing {
        Packing::Mean(packed) => (Some(packed), 0.0, None),
        Packing::First(packed) => (Some(packed), -1.0, None),
        Packing::Check(tolerance, record) => (None, tolerance, Some(record)),
    };
    let parameters = SymmetricFullParams {
        starts: tables.starts.array("index map", entries + 1, 4)?,
        asymmetry: optional(size_of::<u64>(), "asymmetry", record, 1)?,
        tolerance,
        ..full.parameters::<T>(packed.as_ref(), entries, tables.places)?
    };
    let kernel = gpu.kernel("symmetric", &format!("purlin_symmetric_from_full_{}", suffix::<T>()))?;
    let grid = filling(&kernel, full.count, threads_for(full.places), 0)?;
    // SAFETY: every array was checked against the kernel's extents; places are below n^m and starts ascend to it by the
    // caller's tables.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
