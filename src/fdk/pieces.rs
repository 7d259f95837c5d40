//! The single steps of a reconstruction as functions of their own.

use std::sync::{Arc, Mutex, PoisonError};

use super::counts::{Counts, PixelDefects};
use super::cpu::backproject::backproject;
use super::cpu::filter::{Filter, Layout, unwatched_rows, weigh_rows};
use super::cpu::slab::Slab;
use super::frame::Frame;
use super::gpu::pieces as device;
use super::gpu::pieces::{Site, Step};
use super::limits::fits;
use super::ops::Watch;
use super::options::Precision;
use super::phantom::{self, Ellipsoid};
use super::plan::Batch;
use super::run;
use super::session::Fdk;
use crate::alloc;
use crate::backend::Backend;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::DeviceMemory;
use crate::blocks::array::Block;
use crate::blocks::number::Number;
use crate::blocks::source::Source as _;
use crate::blocks::tensor::TensorSource;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::log::Level;
use crate::progress::CancelWatch;
use crate::range;
use crate::scalar::{DType, Element};
use crate::shape::{self, Order, to_u64};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;

/// The elements of a packed host tensor of a context.
fn packed<'a, T: Element>(name: &str, tensor: &'a Tensor, context: &Context, dims: &[usize]) -> Result<&'a [T]> {
    tensor.expect_context(name, context)?;
    tensor.expect_dims(name, dims)?;
    tensor.expect_dtype(name, T::DTYPE)?;
    refuse_strides(name, tensor)?;
    Ok(&tensor.memory().host(name)?.as_slice()?[..dims.iter().product()])
}

fn packed_mut<'a, T: Element>(
    name: &str,
    tensor: &'a mut Tensor,
    context: &Context,
    dims: &[usize],
) -> Result<&'a mut [T]> {
    tensor.expect_context(name, context)?;
    tensor.expect_dims(name, dims)?;
    tensor.expect_dtype(name, T::DTYPE)?;
    refuse_strides(name, tensor)?;
    Ok(&mut tensor.memory_mut(name)?.host_mut(name)?.as_mut_slice()?[..dims.iter().product()])
}

/// The memory of a packed device tensor of a context.
fn on_device<'a>(
    name: &str,
    tensor: &'a Tensor,
    context: &Context,
    dims: &[usize],
    dtype: DType,
) -> Result<&'a DeviceMemory> {
    tensor.expect_context(name, context)?;
    tensor.expect_dims(name, dims)?;
    tensor.expect_dtype(name, dtype)?;
    refuse_strides(name, tensor)?;
    tensor.memory().device(name)
}

/// The device and the queue of a call whose arrays lie on the device; `None` if they lie on the host.
fn site<'a>(context: &'a Arc<Context>, stream: Option<&'a Stream>, array: &Tensor) -> Result<Option<Site<'a>>> {
    let queue = stream::select(context, stream)?;
    Ok(match (context.backend(), queue) {
        (Backend::Gpu(gpu), Some(queue)) if array.is_device() => Some(Site { context, gpu, queue }),
        _ => None,
    })
}

fn refuse_strides(name: &str, tensor: &Tensor) -> Result<()> {
    if tensor.layout().is_packed(Order::ColumnMajor) {
        return Ok(());
    }
    Err(Error::NotSupported(format!("{name}: has strides {:?}, packed memory is needed", tensor.layout().strides())))
}

/// Converts raw counts, [columns, rows, ...] of F32, U16 or another real type, to line integrals, F32 of the same
/// dimensions. Returns the clamped, negative and non-finite counts. Both arrays are on the host, or both on the device
/// and packed.
///
/// # Errors
/// [`Error::InvalidArgument`] for impossible counts and other sizes; on the host [`Error::Cancelled`], which leaves some rows
/// converted.
pub fn log_transform(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    input: &Tensor,
    counts: Counts,
    output: &mut Tensor,
) -> Result<PixelDefects> {
    let cancel = context.cancel_watch();
    input.expect_context("counts", context)?;
    let dims = input.dims().to_vec();
    if dims.len() < 2 {
        return Err(Error::invalid("counts", format!("has dimensions {dims:?}, [columns, rows, ...] are needed")));
    }
    let number = Number::of("counts", input.dtype()).and_then(|n| n.expect_real("counts")).map_err(|_| {
        let name = input.dtype().name();
        Error::NotSupported(format!("counts: is {name}, U8 to U32, I8 to I32, F16, F32 or F64 is needed"))
    })?;
    let counts = counts.check([dims[0], dims[1]])?;
    if let Some(site) = site(context, stream, input)? {
        refuse_strides("counts", input)?;
        output.check_writable("projections")?;
        let out = on_device("projections", output, context, &dims, DType::F32)?;
        let defects = device::log_transform(&site, (input.memory().device("counts")?, number), &dims, &counts, out)?;
        return Ok(warned(context, defects));
    }
    let out = packed_mut::<f32>("projections", output, context, &dims)?;
    Ok(warned(context, transform(context, (input, number), &counts, out, cancel)?))
}

/// Bytes of counts that are copied together; more if that is less than one element of the last axis for each thread.
const TOGETHER: usize = 1 << 22;

/// [`log_transform`] of a tensor on the host with any strides; `out` is packed.
fn transform(
    context: &Context,
    (input, number): (&Tensor, Number),
    counts: &Counts,
    out: &mut [f32],
    cancel: CancelWatch<'_>,
) -> Result<PixelDefects> {
    let (pool, dims, size) = (context.pool(), input.dims(), number.size());
    let (columns, rows, axis) = (dims[0].max(1), dims[1], dims.len() - 1);
    let (items, each) = (dims[axis], dims[..axis].iter().product::<usize>());
    let together = (TOGETHER / (each * size).max(1)).max(pool.threads()).min(items.max(1));
    let unwatched = unwatched_rows(columns);
    let mut source = TensorSource::new("counts", input, pool)?;
    let whole = Block::whole(source.info());
    let mut raw = alloc::filled("counts", together * each * size, 0u8)?;
    let found = Mutex::new(PixelDefects::default());
    for first in (0..items).step_by(together) {
        cancel.check()?;
        let count = together.min(items - first);
        let (raw, out) = (&mut raw[..count * each * size], &mut out[first * each..(first + count) * each]);
        source.read(&whole.along(axis, first, count), raw)?;
        let before = first * each / columns;
        pool.run(|| {
            let lines = out.par_chunks_mut(columns).zip(raw.par_chunks(columns * size)).enumerate();
            lines.try_for_each(|(r, (line, raw))| {
                if r.is_multiple_of(unwatched) {
                    cancel.check()?;
                }
                let defects = counts.convert(number, raw, (before + r) % rows * columns, line);
                if defects != PixelDefects::default() {
                    *found.lock().unwrap_or_else(PoisonError::into_inner) += defects;
                }
                Ok(())
            })
        })?;
    }
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Logs the number of counts that were not finite, once a call.
fn warned(context: &Context, defects: PixelDefects) -> PixelDefects {
    if defects.not_finite > 0 {
        let count = defects.not_finite;
        context.log().log(Level::Warn, || format!("counts: {count} are not finite, their line integrals are NaN"));
    }
    defects
}

/// Reads ellipsoids from a tensor, F64 [8, count]: density, three semi-axes, centre, rotation about z.
///
/// # Errors
/// [`Error::InvalidArgument`] for other dimensions; as [`Tensor::view`] and [`Ellipsoid::new`]; [`Error::OutOfMemory`].
pub fn ellipsoids(tensor: &Tensor) -> Result<Vec<Ellipsoid>> {
    let count = match tensor.dims() {
        [8, count] => *count,
        dims => return Err(Error::invalid("ellipsoids", format!("has dimensions {dims:?}, [8, count] are needed"))),
    };
    let view = tensor.view::<f64>("ellipsoids")?;
    let mut list = alloc::with_capacity("ellipsoids", count)?;
    for k in 0..count {
        list.push(Ellipsoid::new(k, std::array::from_fn(|r| view.get(&[r, k])))?);
    }
    Ok(list)
}

impl Fdk {
    fn views(&self, views: &[i64]) -> Result<Vec<usize>> {
        let count = self.plan().views.len();
        let mut checked = alloc::with_capacity("views", views.len())?;
        for (k, &view) in views.iter().enumerate() {
            checked.push(shape::index_in_list("views", k, view, count)?);
        }
        Ok(checked)
    }

    /// Multiplies views with the cosine of every ray and its redundancy weight: [columns, rows, count] of F32, packed. Pixels
    /// that are not finite become NaN; they are not counted.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for views out of range and arrays of other sizes; on the host [`Error::Cancelled`], which
    /// leaves some rows weighted.
    pub fn weight(
        &self,
        stream: Option<&Stream>,
        views: &[i64],
        projections: &Tensor,
        weighted: &mut Tensor,
    ) -> Result<()> {
        let (plan, context) = (self.plan(), self.context());
        let d = &plan.geometry.detector;
        let (cancel, views) = (self.watch(), self.views(views)?);
        let dims = [d.columns, d.rows, views.len()];
        if let Some(site) = site(context, stream, projections)? {
            weighted.check_writable("weighted")?;
            let input = on_device("projections", projections, context, &dims, DType::F32)?;
            let out = on_device("weighted", weighted, context, &dims, DType::F32)?;
            return device::rows(&site, plan, Step::Weight, &views, input, out).map(|_| ());
        }
        let input = packed::<f32>("projections", projections, context, &dims)?;
        let out = packed_mut::<f32>("weighted", weighted, context, &dims)?;
        weigh_rows(context.pool(), plan, &views, input, out, cancel)
    }

    /// Ramp-filters weighted views: [columns, rows, count] to [`Plan::columns`](super::plan::Plan), rows, count; F32,
    /// packed. Logs how many numbers were not finite or too large. On a device it waits for this count.
    ///
    /// # Errors
    /// As for [`Fdk::weight`].
    pub fn filter(
        &self,
        stream: Option<&Stream>,
        views: &[i64],
        weighted: &Tensor,
        filtered: &mut Tensor,
    ) -> Result<()> {
        let (plan, context) = (self.plan(), self.context());
        let d = &plan.geometry.detector;
        let flag = self.progress(None, self.epoch()).flag();
        let views = self.views(views)?;
        let (from, to) = ([d.columns, d.rows, views.len()], [plan.columns, d.rows, views.len()]);
        if let Some(site) = site(context, stream, weighted)? {
            if plan.options.precision == Precision::F64 {
                let problem = "precision: is F64, in which the filter runs on the CPU, but weighted is on a device";
                return Err(Error::NotSupported(problem.into()));
            }
            filtered.check_writable("filtered")?;
            let input = on_device("weighted", weighted, context, &from, DType::F32)?;
            let out = on_device("filtered", filtered, context, &to, DType::F32)?;
            run::warn_of_rows(context, plan, device::rows(&site, plan, Step::Ramp, &views, input, out)?);
            return Ok(());
        }
        let input = packed::<f32>("weighted", weighted, context, &from)?;
        let out = packed_mut::<f32>("filtered", filtered, context, &to)?;
        let batch = Batch { views: &views, first_row: 0, rows: d.rows };
        let _charge = Filter::charge(context, plan)?;
        let filter = Filter::ramp_only(context.isa(), plan)?;
        let mut unwatched = Watch { flag: &flag, wait: &mut || Ok(()) };
        let not_finite = filter.run(context.pool(), plan, batch, input, (Layout::Rows, out), &mut unwatched)?;
        let mut defects = PixelDefects { not_finite, ..PixelDefects::default() };
        if not_finite > 0 {
            let largest = plan.largest_single();
            defects.too_large = to_u64(input.iter().filter(|p| p.is_finite() && !fits(**p, largest)).count());
        }
        run::warn_of_rows(context, plan, defects);
        Ok(())
    }

    /// Adds the back-projection of filtered views, [`Plan::columns`](super::plan::Plan), rows, count, to a volume,
    /// [nx, ny, nz]; F32, packed.
    ///
    /// # Errors
    /// As for [`Fdk::weight`].
    pub fn backproject(
        &self,
        stream: Option<&Stream>,
        views: &[i64],
        filtered: &Tensor,
        volume: &mut Tensor,
    ) -> Result<()> {
        let (plan, context) = (self.plan(), self.context());
        let d = &plan.geometry.detector;
        let cancel = self.watch();
        let flag = self.progress(None, self.epoch()).flag();
        let views = self.views(views)?;
        let dims = [plan.columns, d.rows, views.len()];
        if let Some(site) = site(context, stream, filtered)? {
            volume.check_writable("volume")?;
            if plan.frame.is_some() {
                let problem = "volume: reaches a source, which on a device only a whole reconstruction allows";
                return Err(Error::NotSupported(problem.into()));
            }
            let input = on_device("filtered", filtered, context, &dims, DType::F32)?;
            let out = on_device("volume", volume, context, &plan.grid.size, DType::F32)?;
            return device::backproject(&site, plan, &views, input, out);
        }
        let input = packed::<f32>("filtered", filtered, context, &dims)?;
        let out = packed_mut::<f32>("volume", volume, context, &plan.volume_grid().size)?;
        let [nx, ny, nz] = plan.grid.size;
        let around = plan.frame.unwrap_or(Frame { grid: plan.grid, first: [0; 2] });
        let samples = Layout::Columns.samples(plan, d.rows);
        let mut columns = alloc::filled("filtered projections", samples, 0f32)?;
        // The slab has as many slices as one for a scan in ordinary memory.
        let thick = super::cpu::SLICE_GROUP.max(1) * 4;
        let mut sum = alloc::filled("slices of the volume", thick.min(nz) * nx * ny, 0f32)?;
        let mut slab = Slab::new(&plan.grid, thick.min(nz))?;
        for first in (0..nz).step_by(thick) {
            let count = thick.min(nz - first);
            slab.reset(context.pool(), count, &mut Watch { flag: &flag, wait: &mut || Ok(()) })?;
            for (view, rows) in views.iter().zip(input.chunks(plan.filtered_pixels())) {
                cancel.check()?;
                super::cpu::filter::to_columns(plan, d.rows, rows, &mut columns);
                let batch = Batch { views: std::slice::from_ref(view), first_row: 0, rows: d.rows };
                let mut watch = Watch { flag: &flag, wait: &mut || Ok(()) };
                backproject(context.pool(), context.isa(), plan, batch, &columns, first, &mut slab, &mut watch)?;
            }
            let sum = &mut sum[..count * nx * ny];
            slab.store(context.pool(), 0, 1.0, 0.0, sum);
            for (r, sum) in sum.chunks_exact(nx).enumerate() {
                let at = around.row(r % ny, first + r / ny);
                out[at..at + nx].iter_mut().zip(sum).for_each(|(o, s)| *o += *s);
            }
        }
        Ok(())
    }

    /// Exact projections of ellipsoids, F64 [8, count], at every view: [columns, rows, views] of F32, packed.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for impossible ellipsoids and arrays of other sizes.
    pub fn ellipsoids(&self, stream: Option<&Stream>, list: &Tensor, projections: &mut Tensor) -> Result<()> {
        let (plan, context) = (self.plan(), self.context());
        let d = &plan.geometry.detector;
        let (cancel, list) = (self.watch(), ellipsoids(list)?);
        let dims = [d.columns, d.rows, plan.views.len()];
        if let Some(site) = site(context, stream, projections)? {
            projections.check_writable("projections")?;
            let out = on_device("projections", projections, context, &dims, DType::F32)?;
            return device::ellipsoids(&site, plan, &list, out);
        }
        let out = packed_mut::<f32>("projections", projections, context, &dims)?;
        phantom::project(context.pool(), &plan.geometry, &list, out, cancel)
    }

    /// The density of the ellipsoids at the voxels' centres: [nx, ny, nz] of F32, packed, on the host.
    ///
    /// # Errors
    /// As for [`Fdk::ellipsoids`].
    pub fn ellipsoid_volume(&self, list: &Tensor, volume: &mut Tensor) -> Result<()> {
        let context = self.context();
        let (cancel, list) = (self.watch(), ellipsoids(list)?);
        let grid = self.plan().volume_grid();
        let out = packed_mut::<f32>("volume", volume, context, &grid.size)?;
        phantom::sample(context.pool(), grid, &list, out, cancel)
    }
}

/// The three-dimensional Shepp-Logan head in the ball of the given radius, mm, into a host tensor, F64 [8, 10].
///
/// # Errors
/// [`Error::InvalidArgument`] for a radius that is not positive and a tensor of another size or type.
pub fn shepp_logan(radius: f64, tensor: &mut Tensor) -> Result<()> {
    range::positive("radius", radius)?;
    tensor.expect_dims("ellipsoids", &[8, 10])?;
    tensor.expect_dtype("ellipsoids", DType::F64)?;
    let mut view = tensor.view_mut::<f64>("ellipsoids")?;
    for (k, row) in phantom::shepp_logan(radius).iter().enumerate() {
        row.iter().enumerate().for_each(|(r, value)| view.set(&[r, k], *value));
    }
    Ok(())
}
