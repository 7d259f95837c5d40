//! Cone-beam CT: the steps on their own, and a test object.

use super::fdk::{FdkObject, purlin_fdk};
use super::fdk_convert::view_numbers;
use super::overlap::{self, Range};
use super::tensor::{self, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::Error;
use crate::fdk::counts::Counts;
use crate::fdk::pieces;

/// Raw counts to line integrals: -ln(max(I - dark, epsilon) / max(I0 - dark, epsilon)) at every pixel. A count below
/// epsilon is raised to it and counted, zero and negative ones included; one above I0 keeps its negative line
/// integral. A count that is not finite, of either sign, gives NaN, and the log has one warning with the number of
/// them. Counts of U32, I32 and F64, and counts beside an image that F32 does not hold exactly, are subtracted in
/// double precision. Counts whose differences or quotient are out of the range of F32 are converted in double
/// precision: every finite count has a finite line integral. One pixel at least has an I0 above its dark count. O(1) a
/// pixel.
///
/// @param      context      the context of all tensors.
/// @param      stream       NULL for the context's own.
/// @param      counts       columns x rows x views (or columns x rows); any type but complex and 64-bit integers.
/// @param      i0           counts without an object, positive; 0 where `i0_image` is given.
/// @param      i0_image     counts without an object, F32 or F64, columns x rows; NULL for `i0`.
/// @param      dark         counts without radiation, F32 or F64, columns x rows; NULL for 0.
/// @param      epsilon      least count that a logarithm is taken of, 1.18e-38 to 3.40e38 (the normal numbers of F32); 0 for
///                          half a count.
/// @param      projections  F32, the dimensions of `counts`.
/// @param[out] clamped      how many counts were raised; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (numbers, dimensions,
/// types, read-only `projections`, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (element type of `counts`;
/// strided memory or memory of the device, where the context's backend takes none), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_CANCELLED` (on the host, which leaves some rows converted), `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `clamped` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_log_transform(
    context: *const purlin_context,
    stream: *const purlin_stream,
    counts: *const purlin_tensor,
    i0: f64,
    i0_image: *const purlin_tensor,
    dark: *const purlin_tensor,
    epsilon: f64,
    projections: *mut purlin_tensor,
    clamped: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let stream = stream::get(stream)?;
        let counts = tensor::input("counts", counts)?;
        let i0_image = tensor::input_or_null("i0_image", i0_image)?;
        let dark = tensor::input_or_null("dark", dark)?;
        let mut projections = tensor::output("projections", projections)?;
        // SAFETY: the caller promises NULL or a place for the number.
        let clamped = unsafe { super::pointer::output_or_null("clamped", clamped) }?;
        let inputs = super::dwi::ranges(&[
            ("counts", Some(&counts)),
            ("i0_image", i0_image.as_deref()),
            ("dark", dark.as_deref()),
        ]);
        overlap::check(&inputs, &[Range::of("projections", &projections)])?;
        let &[columns, rows, ..] = counts.dims() else {
            let problem = format!("has dimensions {:?}, [columns, rows, views] are needed", counts.dims());
            return Err(Error::invalid("counts", problem));
        };
        let (image, dark) = (i0_image.as_deref(), dark.as_deref());
        let model = Counts::from_tensors(&context, [columns, rows], i0, image, dark, epsilon)?;
        let odd = pieces::log_transform(&context, stream.as_deref(), &counts, model, &mut projections)?;
        if let Some(clamped) = clamped {
            *clamped = i64::try_from(odd.clamped).unwrap_or(i64::MAX);
        }
        Ok(())
    })
}

/// Cosine and redundancy weights: every pixel times the cosine of the angle between its ray and the central one, and
/// the weight of rays that are measured twice. A pixel that is not finite becomes NaN. It is not counted here:
/// purlin_fdk_filter counts it. O(1) a pixel.
///
/// @param     fdk          the reconstruction.
/// @param     stream       NULL for the context's own.
/// @param     count        number of views, not negative.
/// @param[in] views        `count` numbers of views.
/// @param     projections  F32, detector_columns x detector_rows x `count`.
/// @param     weighted     F32, the same dimensions.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a view out of range,
/// dimensions, types, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided memory or memory of the device,
/// where the context's backend takes none), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (on the host, which leaves some
/// rows of the output written), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `views` is NULL or valid for `count` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_weight(
    fdk: *const purlin_fdk,
    stream: *const purlin_stream,
    count: i64,
    views: *const i64,
    projections: *const purlin_tensor,
    weighted: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let fdk = FdkObject::shared(fdk)?;
        let stream = stream::get(stream)?;
        let projections = tensor::input("projections", projections)?;
        let mut weighted = tensor::output("weighted", weighted)?;
        // SAFETY: the caller promises NULL or `count` elements.
        let views = unsafe { view_numbers(count, views) }?;
        overlap::check(&[Range::of("projections", &projections)], &[Range::of("weighted", &weighted)])?;
        fdk.weight(stream.as_deref(), views, &projections, &mut weighted)
    })
}

/// The ramp filter along the rows, with the window, cut-off and truncation of the options; no weights. A half fan's
/// rows come out longer than they went in: `filtered_columns` and `filtered_left` of purlin_fdk_info. By fast Fourier
/// transforms, O(log columns) a pixel.
///
/// Column `i` of a filtered row stands for panel column `i` - `filtered_left`. The unit is that of the projections over
/// mm, at the panel's column pitch. A number that is not finite, or too large for the sums of F32, makes
/// its row NaN, and on a GPU the one that is filtered with it; with `sanitize` it counts as 0. The log has one warning
/// with the number of them. Arrays on a device are filtered in the order of the stream, but the call waits for that
/// number.
///
/// @param     fdk       the reconstruction.
/// @param     stream    NULL for the context's own.
/// @param     count     number of views, not negative.
/// @param[in] views     `count` numbers of views.
/// @param     weighted  F32, detector_columns x detector_rows x `count`.
/// @param     filtered  F32, filtered_columns x detector_rows x `count`.
/// @return as purlin_fdk_weight; `PURLIN_ERROR_NOT_SUPPORTED` also for arrays on a device with PURLIN_FDK_PRECISION_F64,
/// whose filter runs on the CPU.
///
/// # Safety
/// `views` is NULL or valid for `count` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_filter(
    fdk: *const purlin_fdk,
    stream: *const purlin_stream,
    count: i64,
    views: *const i64,
    weighted: *const purlin_tensor,
    filtered: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let fdk = FdkObject::shared(fdk)?;
        let stream = stream::get(stream)?;
        let weighted = tensor::input("weighted", weighted)?;
        let mut filtered = tensor::output("filtered", filtered)?;
        // SAFETY: the caller promises NULL or `count` elements.
        let views = unsafe { view_numbers(count, views) }?;
        overlap::check(&[Range::of("weighted", &weighted)], &[Range::of("filtered", &filtered)])?;
        fdk.filter(stream.as_deref(), views, &weighted, &mut filtered)
    })
}

/// Back-projection: adds to every voxel its value in each filtered view, interpolated where the voxel projects, times
/// the distance and angular weight of that view. The volume is not scaled. O(voxels) a view.
///
/// @param     fdk       the reconstruction.
/// @param     stream    NULL for the context's own.
/// @param     count     number of views, not negative.
/// @param[in] views     `count` numbers of views.
/// @param     filtered  F32, filtered_columns x detector_rows x `count`.
/// @param     volume    F32, nx x ny x nz; added to.
/// @return as purlin_fdk_weight; `PURLIN_ERROR_CANCELLED` leaves parts of the sum in the volume.
///
/// # Safety
/// `views` is NULL or valid for `count` elements.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_backproject(
    fdk: *const purlin_fdk,
    stream: *const purlin_stream,
    count: i64,
    views: *const i64,
    filtered: *const purlin_tensor,
    volume: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let fdk = FdkObject::shared(fdk)?;
        let stream = stream::get(stream)?;
        let filtered = tensor::input("filtered", filtered)?;
        let mut volume = tensor::output("volume", volume)?;
        // SAFETY: the caller promises NULL or `count` elements.
        let views = unsafe { view_numbers(count, views) }?;
        overlap::check(&[Range::of("filtered", &filtered)], &[Range::of("volume", &volume)])?;
        fdk.backproject(stream.as_deref(), views, &filtered, &mut volume)
    })
}

/// Exact line integrals of ellipsoids at the centre of every pixel of every view: projections of a test object whose
/// reconstruction is known. O(E) a pixel.
///
/// @param fdk          the reconstruction.
/// @param stream       NULL for the context's own.
/// @param ellipsoids   F64 on the host, 8 x E: density (1/mm), semi-axes a, b, c (mm), centre x0, y0, z0 (mm), rotation
///                     about z (rad, counter-clockwise). Densities add up where ellipsoids overlap.
/// @param projections  F32, detector_columns x detector_rows x views.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (an ellipsoid without size
/// or with a number that is not finite: the message names its column; dimensions, types, another context, overlap),
/// `PURLIN_ERROR_NOT_SUPPORTED` (strided memory or memory of the device, where the context's backend takes none),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (on the host, within a view or slice), `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_ellipsoids(
    fdk: *const purlin_fdk,
    stream: *const purlin_stream,
    ellipsoids: *const purlin_tensor,
    projections: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let fdk = FdkObject::shared(fdk)?;
        let stream = stream::get(stream)?;
        let ellipsoids = tensor::input("ellipsoids", ellipsoids)?;
        let mut projections = tensor::output("projections", projections)?;
        overlap::check(&[Range::of("ellipsoids", &ellipsoids)], &[Range::of("projections", &projections)])?;
        fdk.ellipsoids(stream.as_deref(), &ellipsoids, &mut projections)
    })
}

/// The three-dimensional Shepp-Logan head of ten ellipsoids (Kak and Slaney, Principles of Computerized Tomographic
/// Imaging, 1988, table 3.1), with densities raised for contrast: 1 in the skull, 0.2 in the brain.
///
/// @param radius      radius of the ball that holds the head, mm, positive.
/// @param ellipsoids  F64 on the host, 8 x 10, as purlin_fdk_ellipsoids takes.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (radius, dimensions, type,
/// read-only), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_BUSY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_shepp_logan(radius: f64, ellipsoids: *mut purlin_tensor) -> purlin_status {
    guard::run(|| {
        let mut ellipsoids = tensor::output("ellipsoids", ellipsoids)?;
        pieces::shepp_logan(radius, &mut ellipsoids)
    })
}

/// The ellipsoids themselves, sampled at the centres of the voxels: the exact volume that a reconstruction
/// approximates. O(E) a voxel.
///
/// @param fdk         the reconstruction.
/// @param ellipsoids  as purlin_fdk_ellipsoids.
/// @param volume      F32 on the host, nx x ny x nz.
/// @return as purlin_fdk_ellipsoids.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_fdk_ellipsoid_volume(
    fdk: *const purlin_fdk,
    ellipsoids: *const purlin_tensor,
    volume: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let fdk = FdkObject::shared(fdk)?;
        let ellipsoids = tensor::input("ellipsoids", ellipsoids)?;
        let mut volume = tensor::output("volume", volume)?;
        overlap::check(&[Range::of("ellipsoids", &ellipsoids)], &[Range::of("volume", &volume)])?;
        fdk.ellipsoid_volume(&ellipsoids, &mut volume)
    })
}
