//! Principal component analysis: fits and their use.

use super::handle::{self, Shared};
use super::matrix::{self, purlin_matrix};
use super::options::{self, Struct as _};
use super::overlap::{self, ranges};
use super::pca_types::*;
use super::rsvd::{RsvdObject, purlin_rsvd};
use super::rsvd_run::hand_over;
use super::rsvd_types::purlin_rsvd_info;
use super::tensor::{self, purlin_tensor};
use super::{guard, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::rsvd::pca::{Pca, PcaOptions};

/// The principal components of a matrix of samples, with the mean and the scale that transforms of other samples need.
pub struct purlin_pca {
    _private: [u8; 0],
}

/// Writes the defaults.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_pca_options_init(options: *mut purlin_pca_options, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_pca_info_init(info: *mut purlin_pca_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

fn read_options(o: &purlin_pca_options) -> Result<PcaOptions> {
    let mut options = PcaOptions::default();
    o.read_into(&mut options)?;
    Ok(options)
}

fn get(pca: *const purlin_pca) -> Result<Shared<Pca>> {
    let pca = handle::shared::<Pca, _>("pca", pca)?;
    pca.context().check_alive()?;
    Ok(pca)
}

/// The plan of purlin_pca_fit for samples: the method and why, passes, blocks, bytes and seconds. It refuses the same
/// options and samples as the fit, with the same status and message. No entry is read, and no function of a source or of
/// an operator is called. The time depends on the sizes and on the number of blocks, not on the number of entries.
///
/// @param      rsvd         the decomposition to use.
/// @param      x            the samples, as for purlin_pca_fit.
/// @param      options      as for purlin_pca_fit; NULL for the defaults.
/// @param      with_scores  1: of a fit that gives scores, which take memory, and with RANGE and FUSED a pass; 0: of one
///                          without.
/// @param[out] info         filled in; initialize it with purlin_rsvd_info_init. `host_bytes` contains the components and
///                          the means on a CPU.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL `info`, struct_size,
/// `with_scores`, the arguments that purlin_pca_fit refuses), `PURLIN_ERROR_NOT_SUPPORTED` as purlin_pca_fit,
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY` and `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` (not even the smallest
/// block fits), `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_pca_plan(
    rsvd: *const purlin_rsvd,
    x: *const purlin_matrix,
    options: *const purlin_pca_options,
    with_scores: i32,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let rsvd = RsvdObject::shared(rsvd)?;
        let x = matrix::input("x", x)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let settings = read_options(&unsafe { options::read("options", options) }?)?;
        let with_scores = options::flag("with_scores", with_scores)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::check("info", info) }?;
        let plan = rsvd.plan_pca(&x, &settings, with_scores)?;
        // SAFETY: as above.
        unsafe { options::write("info", info, purlin_rsvd_info::of(&plan, rsvd.options())) }
    })
}

/// Finds the principal components of the rows (or columns) of a matrix: the right (left) singular vectors of the
/// matrix less its mean, which is never formed; a sparse matrix stays sparse. It costs as purlin_rsvd_compute, and one
/// more pass for the means and deviations where the method needs them beforehand.
///
/// Rank, method, seed, the computing type and the estimate of the error are the session's options. Centring and scaling
/// are options of the fit, and of each component the entry of largest modulus is positive: the session's `center`,
/// `scale` and `sign` are refused unless they are the defaults. Its `right` is not used.
///
/// @param      rsvd     the decomposition to use.
/// @param      stream   NULL for the context's own.
/// @param      x        count x features, or features x count with PURLIN_PCA_SAMPLES_COLUMNS, at least 2 samples; of
///                      any storage.
/// @param      options  NULL for the defaults: samples are rows, centred, neither scaled nor whitened.
/// @param      scores   dense, count x k (k x count with PURLIN_PCA_SAMPLES_COLUMNS), of the computing type: the
///                      samples in the components' coordinates, as purlin_pca_transform gives them but for rounding;
///                      NULL if not wanted.
/// @param[out] pca      the components; destroy them with purlin_pca_destroy.
/// @param[out] info     report of the call; may be NULL.
/// @return as purlin_rsvd_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a NULL `pca`, fewer than 2 samples, `scale`
/// without `center`, or centring, scaling or a sign rule of the session; `PURLIN_ERROR_NOT_SUPPORTED` also for a
/// tolerance or one pass of MERGE.
///
/// # Safety
/// `pca` is NULL or valid for writing, `options` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_pca_fit(
    rsvd: *mut purlin_rsvd,
    stream: *const purlin_stream,
    x: *const purlin_matrix,
    options: *const purlin_pca_options,
    scores: *mut purlin_matrix,
    pca: *mut *mut purlin_pca,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rsvd) = RsvdObject::exclusive(rsvd)?;
        let stream = stream::get(stream)?;
        let x = matrix::input("x", x)?;
        let mut scores = matrix::output_or_null("scores", scores)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("pca", pca) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let settings = read_options(&unsafe { options::read("options", options) }?)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        overlap::check(&ranges(&[("x", Some(&x))], &[]), &ranges(&[("scores", scores.as_deref())], &[]))?;
        let (made, done) =
            object.run(|report| rsvd.fit_pca(stream.as_deref(), &x, &settings, scores.as_deref_mut(), report))?;
        *target = handle::insert(made)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { hand_over(info, &done, rsvd.options()) }
    })
}

/// Destroys an analysis.
///
/// @param pca  the analysis; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_destroy(pca: *mut purlin_pca) -> purlin_status {
    guard::run(|| handle::remove::<Pca, _>("pca", pca))
}

/// Sizes, options and variances of an analysis.
///
/// @param      pca   the analysis.
/// @param[out] info  filled in; initialize it with purlin_pca_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_pca_properties(pca: *const purlin_pca, info: *mut purlin_pca_info) -> purlin_status {
    guard::run(|| {
        let pca = get(pca)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        let mut value = purlin_pca_info::zeroed();
        value.set(&pca.info());
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, value) }
    })
}

/// The mean of each feature; zeros where it is not subtracted.
///
/// @param pca   the analysis.
/// @param mean  `features` elements of the type that was computed with, or of the same in double precision, on the host.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (size, type, read-only,
/// another context), `PURLIN_ERROR_NOT_SUPPORTED` (device memory), `PURLIN_ERROR_NUMERICAL` (a number that the type does
/// not hold), `PURLIN_ERROR_BUSY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_mean(pca: *const purlin_pca, mean: *mut purlin_tensor) -> purlin_status {
    guard::run(|| get(pca)?.mean(&mut *tensor::output("mean", mean)?))
}

/// Divisor of each feature; 1 for features that are not scaled.
///
/// @param pca    the analysis.
/// @param scale  `features` elements, F64 or F32, on the host.
/// @return as purlin_pca_mean.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_scale(pca: *const purlin_pca, scale: *mut purlin_tensor) -> purlin_status {
    guard::run(|| get(pca)?.scale(&mut *tensor::output("scale", scale)?))
}

/// Which features count as constant: the fit multiplies their distances from the mean by 0, and so do the transforms. Their
/// deviation is at most 8 2^-52 times their mean. Without `scale` there are none.
///
/// @param pca       the analysis.
/// @param constant  `features` elements, F64 or F32, on the host: 1 for a constant feature, 0 for others.
/// @return as purlin_pca_mean.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_constant(pca: *const purlin_pca, constant: *mut purlin_tensor) -> purlin_status {
    guard::run(|| get(pca)?.constant(&mut *tensor::output("constant", constant)?))
}

/// The singular values of the centred and scaled data.
///
/// @param pca              the analysis.
/// @param singular_values  `rank` elements, not increasing, F64 or F32, on the host.
/// @return as purlin_pca_mean.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_singular_values(
    pca: *const purlin_pca,
    singular_values: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| get(pca)?.singular_values(&mut *tensor::output("singular_values", singular_values)?))
}

/// The variance along each component: s^2 / (count - 1).
///
/// @param pca                 the analysis.
/// @param explained_variance  `rank` elements, not increasing, F64 or F32, on the host.
/// @return as purlin_pca_mean.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_explained_variance(
    pca: *const purlin_pca,
    explained_variance: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| get(pca)?.explained_variance(&mut *tensor::output("explained_variance", explained_variance)?))
}

/// The variance along each component over that of all features together; zeros where that is 0.
///
/// @param pca                       the analysis.
/// @param explained_variance_ratio  `rank` elements, not increasing, F64 or F32, on the host.
/// @return as purlin_pca_mean.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_explained_variance_ratio(
    pca: *const purlin_pca,
    explained_variance_ratio: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let mut target = tensor::output("explained_variance_ratio", explained_variance_ratio)?;
        get(pca)?.explained_variance_ratio(&mut target)
    })
}

/// The components.
///
/// @param pca         the analysis.
/// @param stream      NULL for the context's own.
/// @param components  dense, features x rank, of the type that was computed with, any order, on the host (complete on
///                    return) or the device: orthonormal columns, by variance.
/// @return as purlin_pca_mean; `PURLIN_ERROR_CANCELLED` (on the host, which leaves some elements written).
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_components(
    pca: *const purlin_pca,
    stream: *const purlin_stream,
    components: *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let pca = get(pca)?;
        let stream = stream::get(stream)?;
        let mut components = matrix::output("components", components)?;
        pca.components(stream.as_deref(), &mut components)
    })
}

/// Brings samples into the components' coordinates: (x - mean) / scale times the components, over the standard
/// deviations where scores are whitened. One pass over `x`, 2 count features rank operations. May be called from several
/// threads at a time.
///
/// @param      pca     the analysis.
/// @param      stream  NULL for the context's own.
/// @param      x       any number of samples, orientation and number of features as fitted, of any storage.
/// @param      scores  dense, count x rank (rank x count with PURLIN_PCA_SAMPLES_COLUMNS), of the type that was
///                     computed with, on the host (complete on return) or the device.
/// @param[out] info    report of the call; may be NULL.
/// @return as purlin_rsvd_compute; `PURLIN_ERROR_NUMERICAL` for a score beyond the range of the type.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_pca_transform(
    pca: *mut purlin_pca,
    stream: *const purlin_stream,
    x: *const purlin_matrix,
    scores: *mut purlin_matrix,
    info: *mut purlin_rsvd_info,
) -> purlin_status {
    guard::run(|| {
        let pca = handle::shared::<Pca, _>("pca", pca)?;
        pca.context().check_alive()?;
        let stream = stream::get(stream)?;
        let x = matrix::input("x", x)?;
        let mut scores = matrix::output("scores", scores)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        overlap::check(&ranges(&[("x", Some(&x))], &[]), &ranges(&[("scores", Some(&scores))], &[]))?;
        let done = pca.transform(stream.as_deref(), &x, &mut scores, None)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { hand_over(info, &done, pca.session_options()) }
    })
}

/// Brings scores back to samples: the inverse of purlin_pca_transform within the components' span. May be called from
/// several threads at a time. 2 count features rank operations.
///
/// @param pca     the analysis.
/// @param stream  NULL for the context's own.
/// @param scores  dense, count x rank (rank x count with PURLIN_PCA_SAMPLES_COLUMNS), of the type that was computed
///                with.
/// @param x       dense, count x features (features x count with PURLIN_PCA_SAMPLES_COLUMNS), likewise, on the host
///                (complete on return) or the device.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, read-only,
/// overlap, another context), `PURLIN_ERROR_NOT_SUPPORTED` (storage), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_NUMERICAL` (a
/// sample beyond the range of the type), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_pca_inverse_transform(
    pca: *mut purlin_pca,
    stream: *const purlin_stream,
    scores: *const purlin_matrix,
    x: *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let pca = handle::shared::<Pca, _>("pca", pca)?;
        pca.context().check_alive()?;
        let stream = stream::get(stream)?;
        let scores = matrix::input("scores", scores)?;
        let mut x = matrix::output("x", x)?;
        overlap::check(&ranges(&[("scores", Some(&scores))], &[]), &ranges(&[("x", Some(&x))], &[]))?;
        pca.inverse_transform(stream.as_deref(), &scores, &mut x, None).map(|_| ())
    })
}
