//! Cone-beam CT: the object, its reports and its inputs.

use std::sync::Arc;

use super::callback::Report;
use super::fdk_convert::{read_geometry, read_grid, read_options};
use super::fdk_types::*;
use super::handle::{self, Exclusive, Shared};
use super::tensor::{self, purlin_tensor};
use super::{context, group, guard, options, overlap, purlin_context, purlin_status};
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::fdk::counts::Counts;
use crate::fdk::{Cancellation, Fdk, Info, SharedInfo};
use crate::progress::ProgressFn;
use crate::session::LastInfo;

/// A cone-beam reconstruction: a checked geometry, grid and options on a context. Made once, used for many scans.
pub struct purlin_fdk {
    _private: [u8; 0],
}

/// The object behind a handle of a reconstruction. The handle is only ever locked for reading, so that another thread
/// can cancel a call; calls lock the reconstruction inside.
pub(super) struct FdkObject {
    context: Arc<Context>,
    cancel: Cancellation,
    planned: SharedInfo,
    last: LastInfo<Info>,
    pub(super) report: Report,
    inner: Arc<handle::Lock<Fdk>>,
}

impl FdkObject {
    /// The reconstruction of a handle, and its progress function, for a call that changes it.
    pub(super) fn exclusive(handle: *mut purlin_fdk) -> Result<(Shared<Self>, Exclusive<Fdk>)> {
        let object = handle::shared::<Self, _>("fdk", handle)?;
        let fdk = handle::lock_exclusive("fdk", Arc::clone(&object.inner))?;
        fdk.context().check_alive()?;
        Ok((object, fdk))
    }

    /// Makes a call that reports its progress.
    pub(super) fn run<R>(&self, body: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<R>) -> Result<R> {
        self.report.run(body)
    }

    /// Cancels the running call, without waiting for it.
    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// The reconstruction of a handle, for a call that only reads it.
    pub(super) fn shared(handle: *const purlin_fdk) -> Result<Shared<Fdk>> {
        let object = handle::shared::<Self, _>("fdk", handle)?;
        let fdk = handle::lock_shared("fdk", Arc::clone(&object.inner))?;
        fdk.context().check_alive()?;
        Ok(fdk)
    }
}

/// The caller's geometry, grid and options on a context, and the progress function in them.
///
/// # Safety
/// The structs are NULL or initialized, the arrays of `geometry` NULL or valid for the sizes in it.
pub(super) unsafe fn made(
    context: *const purlin_context,
    geometry: *const purlin_fdk_geometry,
    grid: *const purlin_fdk_grid,
    options: *const purlin_fdk_options,
) -> Result<(Fdk, Report)> {
    let context = context::get(context)?;
    if geometry.is_null() {
        return Err(Error::invalid("geometry", "is NULL"));
    }
    // SAFETY: not null; initialized as promised above.
    let g = unsafe { options::read("geometry", geometry) }?;
    // SAFETY: as promised above.
    let grid = read_grid(&unsafe { options::read("grid", grid) }?)?;
    // SAFETY: as promised above.
    let o = unsafe { options::read("options", options) }?;
    let settings = read_options(&o)?;
    // SAFETY: as promised above.
    let geometry = unsafe { read_geometry(&g) }?;
    let group = group::of(o.group, &context)?;
    Ok((Fdk::over(&group, geometry, grid, settings)?, Report::new(o.progress, o.progress_user)))
}

/// Makes a reconstruction: cone-beam filtered back-projection after Feldkamp, Davis and Kress (J. Opt. Soc. Am. A 1,
/// 1984). Everything that does not depend on the projections is checked and prepared here.
///
/// Projections are line integrals of the attenuation, [detector_columns, detector_rows, views], the columns fastest;
/// volumes are [nx, ny, nz], x fastest, in 1/mm. The same build, device model, input and options give the same bits,
/// for any number of threads and devices and any memory limit.
///
/// @param      context   the context to run on; `options->group` has more.
/// @param      geometry  panel and views; its arrays are read here and not kept.
/// @param      grid      the voxels; NULL for the standard grid.
/// @param      options   NULL for the defaults.
/// @param[out] fdk       the reconstruction; destroy it with purlin_fdk_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// unknown constant, a length that is not positive or outside 1e-12 to 1e12 mm, in F64 precision 1e-60 to 1e60 mm, an
/// angle that is not finite, a matrix that is singular or not finite: the message names the view; a shift of more than
/// 1000 times `source_to_detector`; both or neither of angles and matrices; a shift of the panel together with
/// matrices, which hold it; a grid that reaches the source of a view; an arc of less than 180 degrees or a half fan
/// that does not reach far enough beyond the axis; a full circle with a gap; a panel whose rows, or an orbit that,
/// stand at more than 45 degrees to the plane across z, since rows are filtered; cut-off not above 0 or above 1;
/// truncation outside 0 to 1; an option that can have no effect: distances beside matrices, spacing or origin without
/// sizes of the grid, `allow_short_arc` with HALF_FAN or NONE, a truncation of less than half a column, and window,
/// cut-off, truncation, redundancy, transform length or `allow_short_arc` in RabbitCT mode; a group that begins with
/// another context), `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know),
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// The structs are NULL or initialized, the arrays of `geometry` NULL or valid for the sizes in it; `fdk` is NULL or
/// valid for writing; `options->progress` may be called with its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_create(
    context: *const purlin_context,
    geometry: *const purlin_fdk_geometry,
    grid: *const purlin_fdk_grid,
    options: *const purlin_fdk_options,
    fdk: *mut *mut purlin_fdk,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("fdk", fdk) }?;
        // SAFETY: the caller promises NULL or initialized structs with arrays of the sizes in them.
        let (core, report) = unsafe { made(context, geometry, grid, options) }?;
        let object = FdkObject {
            context: Arc::clone(core.context()),
            cancel: core.cancel_handle(),
            planned: core.planned_info(),
            last: core.last_info(),
            report,
            inner: Arc::new(handle::Lock::new(core)),
        };
        *target = handle::insert(object)?;
        Ok(())
    })
}

/// Destroys a reconstruction. A call that runs goes on to its end.
///
/// @param fdk  the reconstruction; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_destroy(fdk: *mut purlin_fdk) -> purlin_status {
    guard::run(|| handle::remove::<FdkObject, _>("fdk", fdk))
}

/// The choices that were made, and the plan of a run from a source to a sink. A run with arrays takes less memory, and
/// may fit where this plan has no slabs. From purlin_fdk_begin until the volume of that scan has been handed over, or
/// the scan was cancelled or dropped after a failure, the plan is that of the scan, and `views_pushed` moves on with
/// every push. Counts, bytes and times of a run are 0. May be called from any thread while another call runs: it does
/// not wait, and gives the plan from before that call.
///
/// @param      fdk   the reconstruction.
/// @param[out] info  filled in; initialize it with purlin_fdk_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_plan(fdk: *const purlin_fdk, info: *mut purlin_fdk_info) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<FdkObject, _>("fdk", fdk)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_report(&object, info, |object| Ok(object.planned.get())) }
    })
}

/// Report of the last run of a reconstruction, of a whole scan or of one that was pushed: the `info` of the call that
/// ended it with `PURLIN_SUCCESS`. A run that is under way, or that failed, changes nothing. May be called from any
/// thread; it waits for nothing.
///
/// @param      fdk   the reconstruction.
/// @param[out] info  filled in; initialize it with purlin_fdk_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// no run that ended so).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_last_info(fdk: *const purlin_fdk, info: *mut purlin_fdk_info) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<FdkObject, _>("fdk", fdk)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_report(&object, info, |object| object.last.get("fdk")) }
    })
}

/// Writes the report that `of` gives of the object.
///
/// # Safety
/// `info` is NULL or an initialized struct.
unsafe fn write_report(
    object: &FdkObject,
    info: *mut purlin_fdk_info,
    of: impl FnOnce(&FdkObject) -> Result<Info>,
) -> Result<()> {
    object.context.check_alive()?;
    if info.is_null() {
        return Err(Error::invalid("info", "is NULL"));
    }
    // SAFETY: not null; initialized as promised above.
    unsafe { options::check("info", info) }?;
    // SAFETY: as above.
    unsafe { options::write("info", info, purlin_fdk_info::of(&of(object)?)) }
}

/// The weights that a scan is reconstructed with, in f64. O(columns views).
///
/// Where the reconstruction scales the angular weights of a short scan, because it exceeds 180 degrees by less than a
/// step of its views, `angular` has the scaled ones: `angular` times `redundancy`, summed over the views, is pi on the
/// axis. PURLIN_FDK_MODE_RABBITCT applies neither of the two weights.
///
/// Where the columns of the panel are not parallel to the axis (rolled, or pitched and off the middle), each pixel of a
/// short scan or half fan has a weight of its own: here stands that of the ray through each column in the plane of the
/// orbit, or in the panel's nearest row. purlin_fdk_weight applies that of each pixel.
///
/// @param fdk         the reconstruction.
/// @param redundancy  F64 on the host, detector_columns x views: the weights of rays that are measured twice; may be
///                    NULL.
/// @param angular     F64 on the host, views: the weight of each view, rad, which is half of the gaps to its neighbours,
///                    scaled as said above; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (dimensions, type,
/// read-only, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_BUSY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_weights(
    fdk: *const purlin_fdk,
    redundancy: *mut purlin_tensor,
    angular: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let fdk = FdkObject::shared(fdk)?;
        let mut redundancy = tensor::output_or_null("redundancy", redundancy)?;
        let mut angular = tensor::output_or_null("angular", angular)?;
        let outputs = super::dwi::ranges(&[("redundancy", redundancy.as_deref()), ("angular", angular.as_deref())]);
        overlap::check(&[], &outputs)?;
        fdk.weights(redundancy.as_deref_mut(), angular.as_deref_mut())
    })
}

/// Says that the input of later runs is raw counts, which become line integrals on the way in: -ln(max(I - dark,
/// epsilon) / max(I0 - dark, epsilon)). A count less dark that is below epsilon, zero and negative ones included, is
/// raised to it and counted in `pixels_clamped`; one above I0 less dark keeps its negative line integral and is counted
/// in `pixels_negative`; one that is not finite, of either sign, is a pixel that is not finite. Counts of U32, I32 and
/// F64, and counts beside an image that F32 does not hold exactly, are subtracted in double precision. Counts whose
/// differences or quotient are out of the range of F32 are converted in double precision. One pixel at least has an I0
/// above its dark count. One pass over the images; each later run computes one logarithm for each pixel of its views.
///
/// @param fdk       the reconstruction; no scan is being pushed.
/// @param i0        counts without an object, positive; 0 where `i0_image` is given. 0 with NULL images: the input is line
///                  integrals again, and `epsilon` is 0.
/// @param i0_image  counts without an object, F32 or F64, detector_columns x detector_rows, on the host, copied; NULL for
///                  `i0`.
/// @param dark      counts without radiation, as `i0_image`; NULL for 0.
/// @param epsilon   least count that a logarithm is taken of, 1.18e-38 to 3.40e38 (the normal numbers of F32); 0 for
///                  half a count.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (numbers, dimensions, type,
/// while a scan is being pushed), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_set_counts(
    fdk: *mut purlin_fdk,
    i0: f64,
    i0_image: *const purlin_tensor,
    dark: *const purlin_tensor,
    epsilon: f64,
) -> purlin_status {
    guard::run(|| {
        let (_, mut fdk) = FdkObject::exclusive(fdk)?;
        let i0_image = tensor::input_or_null("i0_image", i0_image)?;
        let dark = tensor::input_or_null("dark", dark)?;
        if i0 == 0.0 && i0_image.is_none() && dark.is_none() {
            if epsilon != 0.0 {
                let problem = format!("is {}, without effect on line integrals, which i0 = 0 asks for", real(epsilon));
                return Err(Error::invalid("epsilon", problem));
            }
            return fdk.set_counts(None);
        }
        let panel = [fdk.plan().geometry.detector.columns, fdk.plan().geometry.detector.rows];
        let counts = Counts::from_tensors(fdk.context(), panel, i0, i0_image.as_deref(), dark.as_deref(), epsilon)?;
        fdk.set_counts(Some(counts))
    })
}
