//! Diffusion MRI: the object, its calls, and the calls without an object.

use super::callback::Report;
use super::dwi::{ranges, read_options};
use super::dwi_types::*;
use super::handle::{self, Shared};
use super::overlap::Range;
use super::sshopm_types::purlin_sshopm_info;
use super::tensor::{self, purlin_tensor};
use super::{context, guard, options, overlap, purlin_context, purlin_status, purlin_stream, sshopm, stream};
use crate::dwi::{Basis, Dwi, FitOutputs, PeaksOutputs, Scan};
use crate::error::{Error, Result};
use crate::progress::ProgressFn;
use crate::sshopm::Info;
use crate::stream::Stream;
use crate::tensor::Tensor;

/// Diffusion MRI: options on a context, for volumes of any size. Several threads may use it at a time.
pub struct purlin_dwi {
    _private: [u8; 0],
}

/// The object behind a handle, and the caller's progress function. Calls only read it.
pub(super) struct DwiObject {
    dwi: Dwi,
    /// As the caller wrote it: the core has one name for tensors and for no basis.
    basis: i32,
    report: Report,
}

/// The caller's handles of a scan.
struct ScanHandles {
    stream: *const purlin_stream,
    signals: *const purlin_tensor,
    bvals: *const purlin_tensor,
    bvecs: *const purlin_tensor,
    mask: *const purlin_tensor,
}

/// A scan's tensors and stream, locked until the call returns.
struct LockedScan {
    stream: Option<Shared<Stream>>,
    signals: Shared<Tensor>,
    bvals: Shared<Tensor>,
    bvecs: Shared<Tensor>,
    mask: Option<Shared<Tensor>>,
}

impl ScanHandles {
    fn lock(&self) -> Result<LockedScan> {
        Ok(LockedScan {
            stream: stream::get(self.stream)?,
            signals: tensor::input("signals", self.signals)?,
            bvals: tensor::input("bvals", self.bvals)?,
            bvecs: tensor::input("bvecs", self.bvecs)?,
            mask: tensor::input_or_null("mask", self.mask)?,
        })
    }
}

impl LockedScan {
    fn inputs(&self) -> [(&'static str, Option<&Tensor>); 4] {
        [
            ("signals", Some(&self.signals)),
            ("bvals", Some(&self.bvals)),
            ("bvecs", Some(&self.bvecs)),
            ("mask", self.mask.as_deref()),
        ]
    }

    fn scan(&self) -> Scan<'_> {
        Scan { signals: &self.signals, bvals: &self.bvals, bvecs: &self.bvecs, mask: self.mask.as_deref() }
    }
}

/// The caller's handles of a fit beside the scan.
struct FitHandles {
    weights: *const purlin_tensor,
    tensors: *mut purlin_tensor,
    s0: *mut purlin_tensor,
    status: *mut purlin_tensor,
}

/// The caller's handles of orientation functions beside the scan, and their basis.
struct CsaHandles {
    basis: i32,
    sh: *mut purlin_tensor,
    status: *mut purlin_tensor,
}

/// The caller's handles of a search for peaks.
struct PeaksHandles {
    stream: *const purlin_stream,
    input: *const purlin_tensor,
    mask: *const purlin_tensor,
    peaks: *mut purlin_tensor,
    count: *mut purlin_tensor,
    status: *mut purlin_tensor,
}

impl DwiObject {
    /// # Safety
    /// `options` is NULL or an initialized struct.
    unsafe fn new(context: *const purlin_context, options: *const purlin_dwi_options) -> Result<Self> {
        let context = context::get(context)?;
        // SAFETY: as promised above.
        let o = unsafe { options::read("options", options) }?;
        let dwi = Dwi::new(&context, read_options(&o)?)?;
        Ok(Self { dwi, basis: o.basis, report: Report::new(o.progress, o.progress_user) })
    }

    fn of(handle: *const purlin_dwi) -> Result<Shared<Self>> {
        let object = handle::shared::<Self, _>("dwi", handle)?;
        object.dwi.context().check_alive()?;
        Ok(object)
    }

    /// Refuses the basis that stands for tensors where no tensors are read.
    fn expect_no_tensors(&self) -> Result<()> {
        match self.basis {
            PURLIN_SH_TENSOR => Err(Error::invalid("basis", "is PURLIN_SH_TENSOR, but peaks alone read tensors")),
            _ => Ok(()),
        }
    }

    /// Refuses a dense input where the options say that it is tensors.
    fn expect_tensors(&self, input: &Tensor) -> Result<()> {
        if self.basis == PURLIN_SH_TENSOR && input.symmetric().is_none() {
            let problem = "is PURLIN_SH_TENSOR, but the input is dense: a batch of symmetric tensors is needed";
            return Err(Error::invalid("basis", problem));
        }
        Ok(())
    }

    /// Makes a call of the object that reports its progress, and writes its report.
    ///
    /// # Safety
    /// `info` is NULL or an initialized struct.
    unsafe fn run(
        &self,
        inputs: &[Range<'_>],
        outputs: &[Range<'_>],
        info: *mut purlin_sshopm_info,
        call: impl FnOnce(Option<&ProgressFn<'_>>) -> Result<Info>,
    ) -> Result<()> {
        // SAFETY: as promised above.
        unsafe { options::check("info", info) }?;
        overlap::check(inputs, outputs)?;
        let done = self.report.run(call)?;
        // SAFETY: as above.
        unsafe { options::write("info", info, sshopm::info_of(&done)) }
    }

    /// # Safety
    /// `info` is NULL or an initialized struct.
    unsafe fn fit(&self, scan: &ScanHandles, fit: &FitHandles, info: *mut purlin_sshopm_info) -> Result<()> {
        let locked = scan.lock()?;
        let weights = tensor::input_or_null("weights", fit.weights)?;
        let mut tensors = tensor::output("tensors", fit.tensors)?;
        let mut s0 = tensor::output_or_null("s0", fit.s0)?;
        let mut status = tensor::output_or_null("status", fit.status)?;
        self.expect_no_tensors()?;
        let mut inputs = ranges(&locked.inputs());
        inputs.extend(ranges(&[("weights", weights.as_deref())]));
        let outputs = ranges(&[("tensors", Some(&tensors)), ("s0", s0.as_deref()), ("status", status.as_deref())]);
        let call = |report: Option<&ProgressFn<'_>>| {
            let outputs = FitOutputs { tensors: &mut tensors, s0: s0.as_deref_mut(), status: status.as_deref_mut() };
            self.dwi.fit(locked.stream.as_deref(), locked.scan(), weights.as_deref(), outputs, report)
        };
        // SAFETY: as promised above.
        unsafe { self.run(&inputs, &outputs, info, call) }
    }

    /// # Safety
    /// `info` is NULL or an initialized struct.
    unsafe fn csa(&self, scan: &ScanHandles, csa: &CsaHandles, info: *mut purlin_sshopm_info) -> Result<()> {
        let locked = scan.lock()?;
        let mut sh = tensor::output("sh", csa.sh)?;
        let mut status = tensor::output_or_null("status", csa.status)?;
        let basis = Basis::from_code("basis", csa.basis)?;
        self.expect_no_tensors()?;
        let (inputs, outputs) = (ranges(&locked.inputs()), ranges(&[("sh", Some(&sh)), ("status", status.as_deref())]));
        let call = |report: Option<&ProgressFn<'_>>| {
            let stream = locked.stream.as_deref();
            self.dwi.csa(stream, locked.scan(), basis, &mut sh, status.as_deref_mut(), report)
        };
        // SAFETY: as promised above.
        unsafe { self.run(&inputs, &outputs, info, call) }
    }

    /// # Safety
    /// `info` is NULL or an initialized struct.
    unsafe fn peaks(&self, given: &PeaksHandles, info: *mut purlin_sshopm_info) -> Result<()> {
        let stream = stream::get(given.stream)?;
        let input = tensor::input("input", given.input)?;
        let mask = tensor::input_or_null("mask", given.mask)?;
        let mut peaks = tensor::output("peaks", given.peaks)?;
        let mut count = tensor::output_or_null("count", given.count)?;
        let mut status = tensor::output_or_null("status", given.status)?;
        self.expect_tensors(&input)?;
        let inputs = ranges(&[("input", Some(&input)), ("mask", mask.as_deref())]);
        let outputs = ranges(&[("peaks", Some(&peaks)), ("count", count.as_deref()), ("status", status.as_deref())]);
        let call = |report: Option<&ProgressFn<'_>>| {
            let outputs =
                PeaksOutputs { peaks: &mut peaks, count: count.as_deref_mut(), status: status.as_deref_mut() };
            self.dwi.peaks(stream.as_deref(), &input, mask.as_deref(), outputs, report)
        };
        // SAFETY: as promised above.
        unsafe { self.run(&inputs, &outputs, info, call) }
    }
}

/// Makes an object for diffusion MRI: tensors from signals (purlin_dwi_fit), orientation functions (purlin_dwi_csa),
/// and fibre directions (purlin_dwi_peaks). Conversions of spherical harmonics need none.
///
/// @param      context  the context of all tensors.
/// @param      options  NULL for the defaults.
/// @param[out] dwi      the object; destroy it with purlin_dwi_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// unknown constant, a number outside its domain), `PURLIN_ERROR_NOT_SUPPORTED` (an option that this library does not know),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` is NULL or an initialized struct; `dwi` is NULL or valid for writing; `options->progress` may be called
/// with its user pointer while the object lives.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_create(
    context: *const purlin_context,
    options: *const purlin_dwi_options,
    dwi: *mut *mut purlin_dwi,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("dwi", dwi) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        *target = handle::insert(unsafe { DwiObject::new(context, options) }?)?;
        Ok(())
    })
}

/// Destroys an object. A call that runs goes on to its end.
///
/// @param dwi  the object; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_dwi_destroy(dwi: *mut purlin_dwi) -> purlin_status {
    guard::run(|| handle::remove::<DwiObject, _>("dwi", dwi))
}

/// Cancels the calls that run on an object, which then return `PURLIN_ERROR_CANCELLED`. Later calls are not touched. May be
/// called from any thread and from a progress function; it waits for nothing.
///
/// @param dwi  the object.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_dwi_cancel(dwi: *const purlin_dwi) -> purlin_status {
    guard::run(|| {
        handle::shared::<DwiObject, _>("dwi", dwi)?.dwi.cancel_handle().cancel();
        Ok(())
    })
}

/// The plan of purlin_dwi_peaks for a volume: starts, chunks, tolerance, host memory for five peaks of a voxel beside the
/// array of peaks, and where it would run. Nothing is solved.
///
/// @param      dwi    the object; its options are those of peaks.
/// @param      input  as purlin_dwi_peaks.
/// @param[out] info   filled in; initialize it with purlin_sshopm_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// the arguments that purlin_dwi_peaks refuses), `PURLIN_ERROR_NOT_SUPPORTED` (an `input` on the device beyond the
/// limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY` (the work space does not fit).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_plan(
    dwi: *const purlin_dwi,
    input: *const purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let object = DwiObject::of(dwi)?;
        let input = tensor::input("input", input)?;
        let plan = || {
            object.expect_tensors(&input)?;
            object.dwi.plan(&input)
        };
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { sshopm::report(info, plan) }
    })
}

/// The report of the last call of purlin_dwi_fit, purlin_dwi_csa or purlin_dwi_peaks that succeeded on an object: the
/// `info` of that call.
///
/// @param      dwi   the object.
/// @param[out] info  filled in; initialize it with purlin_sshopm_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size, no
/// call has succeeded yet).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_last_info(dwi: *const purlin_dwi, info: *mut purlin_sshopm_info) -> purlin_status {
    guard::run(|| {
        let object = handle::shared::<DwiObject, _>("dwi", dwi)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { sshopm::report(info, || object.dwi.last_info()) }
    })
}

/// Fits to each voxel the symmetric tensor A of order m for which A g^m is nearest, by least squares, to the apparent
/// diffusion coefficients D = -ln(S / S0) / b of its signals S; S0 is the mean of the unweighted ones. m = 2 is the
/// diffusion tensor; higher orders are those of Ozarslan and Mareci (Magn. Reson. Med. 50, 2003). With U coefficients,
/// O(U N) a voxel; O(U^2 N) with weights, and where signals are left out.
///
/// Maxima of the fitted profile are NOT fibre directions where fibres cross: they fall between the fibres. Only for
/// m = 2, and in voxels of a single fibre, may they be read so. For directions use purlin_dwi_csa or a fibre orientation
/// function of another package, with purlin_dwi_peaks.
///
/// Directions stay in the frame of the gradients: no image affine is applied.
///
/// In a context on a GPU the fit runs there, but for left-out signals, orders above 8 and weights of your own on
/// several shells. Arrays may lie on the host or the device.
///
/// @param      dwi      the object; its options are those of fits.
/// @param      stream   NULL for the context's own.
/// @param      signals  N x T, any strides; F32, F64, U16, I32 or U8. A volume stored (X, Y, Z, N) with N fastest is
///                      packed; one stored volume after volume has strides (T, 1).
/// @param      bvals    N diffusion weightings, s/mm^2; F32 or F64.
/// @param      bvecs    3 x N unit vectors; F32 or F64. Those of unweighted volumes are ignored.
/// @param      mask     U8, T: nonzero inside; NULL for everywhere.
/// @param      weights  N x T weights of the measurements, F32 or F64, at least 0; NULL for those of the options.
///                      Those of unweighted volumes are not read.
/// @param      tensors  symmetric batch of T tensors, even order m, dimension 3, F32 or F64; mm^2/s; zero where there
///                      is no result.
/// @param      s0       T, of the type of `tensors`: S0; may be NULL.
/// @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
/// @param[out] info     voxels, chunks, voxels without a result, seconds, and where the fit ran; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (struct_size, an option
/// that fits do not use, an order that is odd or above 16, a dimension other than 3, too few distinct axes, vectors
/// that are not unit, b-values that are negative or not finite, no unweighted or no weighted volume, `weights` with
/// PURLIN_DWI_WLS, sizes, types, read-only outputs, another context, overlap), `PURLIN_ERROR_NOT_SUPPORTED` (strided
/// device memory in an output), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_NUMERICAL` (singular
/// values of the gradient scheme that do not converge), `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_fit(
    dwi: *const purlin_dwi,
    stream: *const purlin_stream,
    signals: *const purlin_tensor,
    bvals: *const purlin_tensor,
    bvecs: *const purlin_tensor,
    mask: *const purlin_tensor,
    weights: *const purlin_tensor,
    tensors: *mut purlin_tensor,
    s0: *mut purlin_tensor,
    status: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let scan = ScanHandles { stream, signals, bvals, bvecs, mask };
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { DwiObject::of(dwi)?.fit(&scan, &FitHandles { weights, tensors, s0, status }, info) }
    })
}

/// purlin_dwi_fit without an object: makes one, fits, and destroys it.
///
/// @param      context  the context of all tensors.
/// @param      stream   NULL for the context's own.
/// @param      signals  as purlin_dwi_fit.
/// @param      bvals    as purlin_dwi_fit.
/// @param      bvecs    as purlin_dwi_fit.
/// @param      mask     as purlin_dwi_fit; may be NULL.
/// @param      weights  as purlin_dwi_fit; may be NULL.
/// @param      options  NULL for the defaults.
/// @param      tensors  as purlin_dwi_fit.
/// @param      s0       as purlin_dwi_fit; may be NULL.
/// @param      status   as purlin_dwi_fit; may be NULL.
/// @param[out] info     as purlin_dwi_fit; may be NULL.
/// @return as purlin_dwi_create and purlin_dwi_fit.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_fit_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    signals: *const purlin_tensor,
    bvals: *const purlin_tensor,
    bvecs: *const purlin_tensor,
    mask: *const purlin_tensor,
    weights: *const purlin_tensor,
    options: *const purlin_dwi_options,
    tensors: *mut purlin_tensor,
    s0: *mut purlin_tensor,
    status: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let scan = ScanHandles { stream, signals, bvals, bvecs, mask };
        // SAFETY: the caller promises NULL or initialized structs.
        unsafe { DwiObject::new(context, options)?.fit(&scan, &FitHandles { weights, tensors, s0, status }, info) }
    })
}

/// Orientation functions from signals by q-ball imaging in constant solid angle (Aganj et al., Magn. Reson. Med. 64,
/// 2010): densities on the sphere, integral 1, whose maxima are fibre directions. With the default options the result
/// is that of dipy's CsaOdfModel. O(U N) a voxel.
///
/// The arithmetic is the host's in any context; arrays on the device are copied from and to it.
///
/// @param      dwi      the object; its options are those of orientation functions.
/// @param      stream   NULL for the context's own.
/// @param      signals  N x T, as purlin_dwi_fit; one shell.
/// @param      bvals    as purlin_dwi_fit.
/// @param      bvecs    as purlin_dwi_fit.
/// @param      mask     as purlin_dwi_fit; may be NULL.
/// @param      basis    basis of the result, one of PURLIN_SH_*; there is no default.
/// @param      sh       U x T coefficients, U = (L + 1)(L + 2) / 2 for an even degree L; F32 or F64; zero where there
///                      is no result.
/// @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
/// @param[out] info     as purlin_dwi_fit; may be NULL.
/// @return as purlin_dwi_fit, with `sh` in the place of `tensors`; `PURLIN_ERROR_INVALID_ARGUMENT` also for several
/// shells, an option that orientation functions do not use, and another `basis` than that of the options.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_csa(
    dwi: *const purlin_dwi,
    stream: *const purlin_stream,
    signals: *const purlin_tensor,
    bvals: *const purlin_tensor,
    bvecs: *const purlin_tensor,
    mask: *const purlin_tensor,
    basis: i32,
    sh: *mut purlin_tensor,
    status: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let scan = ScanHandles { stream, signals, bvals, bvecs, mask };
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { DwiObject::of(dwi)?.csa(&scan, &CsaHandles { basis, sh, status }, info) }
    })
}

/// purlin_dwi_csa without an object: makes one, runs, and destroys it.
///
/// @param      context  the context of all tensors.
/// @param      stream   NULL for the context's own.
/// @param      signals  as purlin_dwi_csa.
/// @param      bvals    as purlin_dwi_csa.
/// @param      bvecs    as purlin_dwi_csa.
/// @param      mask     as purlin_dwi_csa; may be NULL.
/// @param      basis    as purlin_dwi_csa.
/// @param      options  NULL for the defaults.
/// @param      sh       as purlin_dwi_csa.
/// @param      status   as purlin_dwi_csa; may be NULL.
/// @param[out] info     as purlin_dwi_fit; may be NULL.
/// @return as purlin_dwi_create and purlin_dwi_csa.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_csa_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    signals: *const purlin_tensor,
    bvals: *const purlin_tensor,
    bvecs: *const purlin_tensor,
    mask: *const purlin_tensor,
    basis: i32,
    options: *const purlin_dwi_options,
    sh: *mut purlin_tensor,
    status: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let scan = ScanHandles { stream, signals, bvals, bvecs, mask };
        // SAFETY: the caller promises NULL or initialized structs.
        unsafe { DwiObject::new(context, options)?.csa(&scan, &CsaHandles { basis, sh, status }, info) }
    })
}

/// Peaks of orientation functions: the local maxima above the thresholds, highest first, each at least
/// `min_separation` from every higher one. Signs are such that z >= 0. O(U) a step of each start, as
/// purlin_sshopm_solve; coefficients of spherical harmonics take O(U^2) a voxel more.
///
/// Host arrays in a context on a GPU are streamed through it in chunks, copies overlapping the work. A voxel with bad
/// values gets a status and harms no other.
///
/// @param      dwi      the object; its options are those of peaks.
/// @param      stream   NULL for the context's own.
/// @param      input    symmetric batch of T tensors of even order and dimension 3, or U x T spherical-harmonic
///                      coefficients in the basis of the options; F32 or F64, any strides.
/// @param      mask     U8, T: nonzero inside; NULL for everywhere.
/// @param      peaks    4 x K x T (x, y, z, value) or, for PURLIN_PEAKS_MRTRIX, 3 x K x T; the type of `input`. K is
///                      the most peaks of a voxel.
/// @param      count    I32, T: peaks of each voxel; may be NULL.
/// @param      status   I32, T: one of PURLIN_TENSOR_*; may be NULL.
/// @param[out] info     report of the call; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (struct_size, an option
/// that peaks do not use, an order that is odd or above 16, a dimension other than 3, a basis that is missing or not
/// needed, sizes, types, read-only outputs, another context, overlap), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_NOT_SUPPORTED` (strided device memory in `mask` or an output, an `input` on the device beyond the
/// limits of the GPU kernels), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_peaks(
    dwi: *const purlin_dwi,
    stream: *const purlin_stream,
    input: *const purlin_tensor,
    mask: *const purlin_tensor,
    peaks: *mut purlin_tensor,
    count: *mut purlin_tensor,
    status: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let call = PeaksHandles { stream, input, mask, peaks, count, status };
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { DwiObject::of(dwi)?.peaks(&call, info) }
    })
}

/// purlin_dwi_peaks without an object: makes one, runs, and destroys it.
///
/// @param      context  the context of all tensors.
/// @param      stream   NULL for the context's own.
/// @param      input    as purlin_dwi_peaks.
/// @param      mask     as purlin_dwi_peaks; may be NULL.
/// @param      options  NULL for the defaults.
/// @param      peaks    as purlin_dwi_peaks.
/// @param      count    as purlin_dwi_peaks; may be NULL.
/// @param      status   as purlin_dwi_peaks; may be NULL.
/// @param[out] info     report of the call; may be NULL.
/// @return as purlin_dwi_create and purlin_dwi_peaks.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_dwi_peaks_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    input: *const purlin_tensor,
    mask: *const purlin_tensor,
    options: *const purlin_dwi_options,
    peaks: *mut purlin_tensor,
    count: *mut purlin_tensor,
    status: *mut purlin_tensor,
    info: *mut purlin_sshopm_info,
) -> purlin_status {
    guard::run(|| {
        let call = PeaksHandles { stream, input, mask, peaks, count, status };
        // SAFETY: the caller promises NULL or initialized structs.
        unsafe { DwiObject::new(context, options)?.peaks(&call, info) }
    })
}
