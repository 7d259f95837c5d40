//! Cone-beam CT: whole scans, and scans that arrive view by view.

use std::sync::Arc;

use super::callback::Report;
use super::fdk::{FdkObject, made, purlin_fdk};
use super::fdk_convert::view_numbers;
use super::fdk_types::{purlin_fdk_geometry, purlin_fdk_grid, purlin_fdk_info, purlin_fdk_options};
use super::handle;
use super::options;
use super::overlap::{self, Range};
use super::sink::{SinkObject, Target, purlin_sink};
use super::source::{Origin, SourceObject, purlin_source};
use super::tensor::{self, purlin_tensor};
use super::{guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::Result;
use crate::fdk::{Fdk, Projections, Volume};

/// Reconstructs a scan that a source delivers into a volume that a sink takes. Neither need fit in memory: the volume
/// is cut into slabs inside the memory limits of the contexts and the memory that is free, on the host and on devices.
/// A slab takes only the panel rows that it is seen through; reading, copies, arithmetic and writing overlap. O(views
/// voxels) for the back-projection and O(log columns) a pixel for the filter; with several slabs about 1.3 times the
/// scan is read.
///
/// @param      fdk          the reconstruction; a scan that is being pushed is not touched.
/// @param      stream       NULL for the context's own.
/// @param      projections  source of [detector_columns, detector_rows, views]: line integrals, or counts after
///                          purlin_fdk_set_counts; of any element type.
/// @param      volume       sink of [nx, ny, nz], of any element type. One to a MetaImage without spacing or origin gets
///                          those of the grid.
/// @param[out] info         report of the call; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (dimensions, another
/// context, a sink that is used up or goes to a file of `projections`, overlap, struct_size, an `output_scale` or
/// `output_offset` that the volume's type does not take), `PURLIN_ERROR_NUMERICAL` (voxels beyond the range of the
/// volume's type: the message says how many), `PURLIN_ERROR_BUSY` (an object or its tensor is in use),
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_IO` (a file, or an error that the caller's function returned),
/// `PURLIN_ERROR_OUT_OF_MEMORY` and `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest slab fits; the message says
/// how many bytes are needed), `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory), `PURLIN_ERROR_CUDA`. After a failure
/// the object is ready for another run.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_reconstruct_to_sink(
    fdk: *mut purlin_fdk,
    stream: *const purlin_stream,
    projections: *mut purlin_source,
    volume: *mut purlin_sink,
    info: *mut purlin_fdk_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut fdk) = FdkObject::exclusive(fdk)?;
        let stream = stream::get(stream)?;
        let mut source = handle::exclusive::<SourceObject, _>("projections", projections)?;
        let mut sink = handle::exclusive::<SinkObject, _>("volume", volume)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let context = Arc::clone(fdk.context());
        let (borrowed, mut read);
        let projections = match source.origin("projections", &context)? {
            Origin::Tensor(tensor) => {
                borrowed = handle::lock_shared("projections", Arc::clone(tensor))?;
                Projections::Tensor(&borrowed)
            }
            Origin::Blocks(blocks) => {
                read = blocks.lock("projections")?;
                Projections::Source(&mut **read)
            }
        };
        let done = sink.consume("volume", &context, |target| {
            with_volume(target, |volume| {
                if let (Projections::Tensor(p), Volume::Tensor(v)) = (&projections, &volume) {
                    overlap::check(&[Range::of("projections", p)], &[Range::of("volume", v)])?;
                }
                object.run(|report| fdk.reconstruct(stream.as_deref(), projections, volume, report))
            })
        })?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::write("info", info, purlin_fdk_info::of(&done)) }
    })
}

/// Runs `body` on the target of a sink; a tensor is locked meanwhile.
fn with_volume<R>(target: &mut Target, body: impl FnOnce(Volume<'_>) -> Result<R>) -> Result<R> {
    match target {
        Target::Tensor(tensor) => {
            let mut tensor = handle::lock_exclusive("volume", Arc::clone(tensor))?;
            body(Volume::Tensor(&mut tensor))
        }
        Target::Blocks(blocks) => body(Volume::Sink(Target::blocks(blocks))),
    }
}

/// The same as purlin_fdk_reconstruct_to_sink, from a tensor to a tensor. Host tensors are complete on return, device
/// tensors in the order of the stream. It costs the same.
///
/// @param      fdk          the reconstruction; a scan that is being pushed is not touched.
/// @param      stream       NULL for the context's own.
/// @param      projections  detector_columns x detector_rows x views: line integrals, or counts after
///                          purlin_fdk_set_counts; any element type but complex and 64-bit integers; any strides on the
///                          host, packed on the device.
/// @param      volume       nx x ny x nz, likewise; integers are rounded to the nearest and held to their range.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_fdk_reconstruct_to_sink.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_reconstruct(
    fdk: *mut purlin_fdk,
    stream: *const purlin_stream,
    projections: *const purlin_tensor,
    volume: *mut purlin_tensor,
    info: *mut purlin_fdk_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut fdk) = FdkObject::exclusive(fdk)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { reconstruct(&mut fdk, &object.report, stream, projections, volume, info) }
    })
}

/// purlin_fdk_reconstruct by an object for this run alone: purlin_fdk_create, purlin_fdk_reconstruct,
/// purlin_fdk_destroy.
///
/// @param      context      the context of the tensors.
/// @param      stream       NULL for the context's own.
/// @param      projections  as for purlin_fdk_reconstruct: line integrals.
/// @param      geometry     as for purlin_fdk_create.
/// @param      grid         likewise; NULL for the standard grid.
/// @param      options      NULL for the defaults.
/// @param      volume       as for purlin_fdk_reconstruct.
/// @param[out] info         report of the call; may be NULL.
/// @return as purlin_fdk_create and purlin_fdk_reconstruct.
///
/// # Safety
/// The structs are NULL or initialized, the arrays of `geometry` NULL or valid for the sizes in it.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_reconstruct_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    projections: *const purlin_tensor,
    geometry: *const purlin_fdk_geometry,
    grid: *const purlin_fdk_grid,
    options: *const purlin_fdk_options,
    volume: *mut purlin_tensor,
    info: *mut purlin_fdk_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or initialized structs with arrays of the sizes in them.
        let (mut fdk, report) = unsafe { made(context, geometry, grid, options) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { reconstruct(&mut fdk, &report, stream, projections, volume, info) }
    })
}

/// A whole scan from a tensor to a tensor. Returns the report.
///
/// # Safety
/// `info` is NULL or an initialized struct.
unsafe fn reconstruct(
    fdk: &mut Fdk,
    report: &Report,
    stream: *const purlin_stream,
    projections: *const purlin_tensor,
    volume: *mut purlin_tensor,
    info: *mut purlin_fdk_info,
) -> Result<()> {
    let stream = stream::get(stream)?;
    let projections = tensor::input("projections", projections)?;
    let mut volume = tensor::output("volume", volume)?;
    // SAFETY: as promised above.
    unsafe { options::check("info", info) }?;
    overlap::check(&[Range::of("projections", &projections)], &[Range::of("volume", &volume)])?;
    let (from, to) = (Projections::Tensor(&projections), Volume::Tensor(&mut volume));
    let done = report.run(|report| fdk.reconstruct(stream.as_deref(), from, to, report))?;
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_fdk_info::of(&done)) }
}

/// Begins a scan whose views are pushed as they are measured: allocates the memory of the volume. A scan that was begun
/// before and not finished is dropped.
///
/// @param fdk     the reconstruction.
/// @param stream  the scan's work is enqueued there; it is kept until the scan is over. NULL for the context's own.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a stream of another
/// context), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_begin(fdk: *mut purlin_fdk, stream: *const purlin_stream) -> purlin_status {
    guard::run(|| {
        let (_, mut fdk) = FdkObject::exclusive(fdk)?;
        let stream = stream::get(stream)?;
        fdk.begin(stream.as_deref())
    })
}

/// Pushes views of the scan, in any order and any number at a time, from any thread, one call at a time. The pixels
/// are copied; the call returns before the device is done with them, and waits only while all its buffers are in use.
/// Views are weighted, filtered and back-projected in batches: pushed in order, the volume has the bits of
/// purlin_fdk_reconstruct_to_sink; in another order it differs by rounding. O(voxels) a view.
///
/// @param     fdk          the reconstruction, after purlin_fdk_begin.
/// @param     count        number of views, not negative.
/// @param[in] views        `count` numbers of views, 0 to the number of views less 1, each pushed once in a scan.
/// @param     projections  detector_columns x detector_rows x `count`, or for one view detector_columns x
///                         detector_rows, as purlin_fdk_reconstruct; of one element type in the whole scan.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (no scan was begun; a view
/// out of range, given twice or pushed before: the message names it; dimensions; another type than before. Nothing is
/// taken), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (by the progress function or purlin_fdk_cancel since the
/// begin; later pushes and finishes say so too, until the next begin), `PURLIN_ERROR_NOT_SUPPORTED` (element type;
/// projections on a device that are strided, that several contexts share, or of a scan kept as line integrals),
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`. After a failure other than of its arguments the scan is dropped.
///
/// # Safety
/// `views` is NULL or valid for `count` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_push(
    fdk: *mut purlin_fdk,
    count: i64,
    views: *const i64,
    projections: *const purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let (object, mut fdk) = FdkObject::exclusive(fdk)?;
        let projections = tensor::input("projections", projections)?;
        // SAFETY: the caller promises NULL or `count` elements.
        let views = unsafe { view_numbers(count, views) }?;
        object.run(|report| fdk.push_reporting(views, &projections, report))
    })
}

/// Ends the scan and hands its volume to a sink. The object is then ready for another scan.
///
/// A scan is only given up when its volume has been handed over, when it was cancelled, and after a failure of the
/// device: after any other failure, such as a full disk, it is kept for another finish.
///
/// @param      fdk     the reconstruction, after purlin_fdk_begin.
/// @param      volume  sink of [nx, ny, nz], of any element type.
/// @param[out] info    report of the call; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (no scan was begun; a view
/// was not pushed, which the message names, unless `allow_missing` is set; dimensions; another context; a sink that is
/// used up; `output_scale` and `output_offset`), `PURLIN_ERROR_NUMERICAL` (as purlin_fdk_reconstruct_to_sink),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_IO`, `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_NOT_SUPPORTED`: the scan is kept. `PURLIN_ERROR_CANCELLED` (by the
/// progress function or by purlin_fdk_cancel since the begin, whether views are missing or not), `PURLIN_ERROR_CUDA`: the
/// scan is dropped.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_finish_to_sink(
    fdk: *mut purlin_fdk,
    volume: *mut purlin_sink,
    info: *mut purlin_fdk_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut fdk) = FdkObject::exclusive(fdk)?;
        let mut sink = handle::exclusive::<SinkObject, _>("volume", volume)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let context = Arc::clone(fdk.context());
        let done = sink.consume("volume", &context, |target| {
            with_volume(target, |volume| object.run(|report| fdk.finish(volume, report)))
        })?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::write("info", info, purlin_fdk_info::of(&done)) }
    })
}

/// The same as purlin_fdk_finish_to_sink, into a tensor.
///
/// @param      fdk     the reconstruction, after purlin_fdk_begin.
/// @param      volume  nx x ny x nz, as purlin_fdk_reconstruct.
/// @param[out] info    report of the call; may be NULL.
/// @return as purlin_fdk_finish_to_sink.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_finish(
    fdk: *mut purlin_fdk,
    volume: *mut purlin_tensor,
    info: *mut purlin_fdk_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut fdk) = FdkObject::exclusive(fdk)?;
        let mut volume = tensor::output("volume", volume)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let done = object.run(|report| fdk.finish(Volume::Tensor(&mut volume), report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::write("info", info, purlin_fdk_info::of(&done)) }
    })
}

/// Cancels the call that runs on a reconstruction, which then returns `PURLIN_ERROR_CANCELLED` within one batch of its
/// work, on the CPU within a part of a batch, and drops a scan that is being pushed: pushes and finishes return
/// `PURLIN_ERROR_CANCELLED` until the next begin. On the host it also ends a single step (purlin_fdk_weight, _filter,
/// _backproject, _ellipsoids and _ellipsoid_volume) that runs. If no call of the object runs, the scan's memory is free on
/// return. Later runs are not touched. May be called from any thread and from a progress function; it waits for nothing.
///
/// @param fdk  the reconstruction.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_cancel(fdk: *const purlin_fdk) -> purlin_status {
    guard::run(|| {
        handle::shared::<FdkObject, _>("fdk", fdk)?.cancel();
        Ok(())
    })
}
