//! Contractions of tensor trains whose results stay on the device.

use super::options;
use super::overlap::{self, Range};
use super::stream;
use super::tensor::{self, purlin_tensor};
use super::tt::{self, purlin_tt};
use super::tt_contraction::{ContractionObject, purlin_tt_contraction};
use super::tt_matrix::{self, purlin_tt_matrix};
use super::tt_types::purlin_tt_contraction_info;
use super::{guard, purlin_status, purlin_stream};
use crate::error::{Error, Result};
use crate::shape;
use crate::tensor::Tensor;
use crate::tensor::train::TensorTrain;
use crate::tt::info::Info;
use crate::tt::operator::Trains;

/// Sets the workspace of enqueued calls, in the caller's device memory: later ones allocate nothing. Calls on several
/// streams, and graphs that captured them, use the same memory: the caller ensures that they do not run at the same
/// time, and that other work on the memory is complete, or ordered before the call in its stream.
///
/// @param contraction  the contraction.
/// @param memory       a `CUdeviceptr` on the GPU of the contraction's first context; it must stay until the work that
///                     was enqueued is done, and while a graph that captured such a call may be replayed. 0 ends its use.
/// @param bytes        its size in bytes; ignored where `memory` is 0.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (`memory` is not device memory
/// of this GPU, not aligned to 256 bytes, or shorter than `bytes`; `bytes` less than 1), `PURLIN_ERROR_NOT_SUPPORTED` (a
/// context on the CPU), `PURLIN_ERROR_BUSY`.
///
/// # Safety
/// `memory` is 0 or valid for `bytes` bytes on the device, until another workspace is set.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_contraction_set_workspace(
    contraction: *mut purlin_tt_contraction,
    memory: u64,
    bytes: i64,
) -> purlin_status {
    guard::run(|| {
        let (_, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let workspace = if memory == 0 {
            None
        } else {
            let bytes = shape::size("bytes", bytes, 1)?;
            let context = contraction.context();
            let gpu = context.gpu("workspace")?;
            if !memory.is_multiple_of(256) {
                return Err(Error::invalid("memory", format!("{memory:#x} is not aligned to 256 bytes")));
            }
            Some(gpu.borrow("memory", memory, bytes, None)?)
        };
        contraction.set_workspace(workspace)
    })
}

/// The common part of the calls below: checks the result, and writes the plan.
///
/// # Safety
/// `info` is NULL or an initialized struct.
unsafe fn enqueue(
    object: &ContractionObject,
    workspace: Option<(u64, usize)>,
    trains: &[(&'static str, &TensorTrain)],
    result: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
    run: impl FnOnce(Option<&mut Tensor>) -> Result<Info>,
) -> Result<()> {
    let mut result = tensor::output_or_null("result", result)?;
    if let Some(result) = &result {
        let workspace = workspace.map(|(address, bytes)| Range::new("workspace", address, bytes, true));
        overlap::check(workspace.as_slice(), &[Range::of("result", result)])?;
        for (name, train) in trains {
            let cores = tt::ranges(name, train)?;
            overlap::check(&cores, &[Range::of("result", result)])?;
            overlap::check_many(&cores, workspace.as_slice())?;
        }
    }
    // SAFETY: as promised.
    unsafe { options::check("info", info) }?;
    let plan = run(result.as_deref_mut())?;
    // SAFETY: as promised.
    unsafe { object.store_report(info, &plan) }
}

/// Enqueues an inner product and returns: the result goes to device memory, in stream order.
///
/// Nothing waits for the host and nothing is copied from it, so the stream may be captured to a graph, which can be
/// replayed with other numbers in the cores. A captured call must not be the first of its kind: kernels and cuBLAS are
/// loaded by the first, and a call without `result`, which reports the workspace, loads cuBLAS. While a graph may be
/// replayed the trains, the result and the workspace must stay. Without a workspace of the caller the memory is
/// allocated, in a graph too. Boundary pairs are summed as purlin_tt_inner does it, by kernels of its own (open trains
/// up to rank 256, rings up to 32) or by cuBLAS, always scaled by the largest numbers of the cores; POWER and HALVES go
/// by cuBLAS, POWER also where AUTO takes it. Both trains lie on the device and are of one type. Calls that wait for
/// their result refuse a stream that is being captured.
///
/// @param      contraction  the contraction; more contexts than the first are not used.
/// @param      stream       NULL for the context's own.
/// @param      x            the bra.
/// @param      y            the ket; may be `x`, and then half of the work is saved.
/// @param      result       4 elements of F64 on the device: real and imaginary part of the mantissa, the larger in
///                          [0.5, 1) or both 0; its power of two; one of PURLIN_TT_RESULT_*, OK or NONFINITE.
///                          NULL to report the workspace alone.
/// @param[out] info         the plan; `workspace_bytes` is the need of this call. May be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (as purlin_tt_inner;
/// `result` of another type or length; a result, trains and a workspace that overlap; a workspace that is too small,
/// with the bytes that are needed), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU, trains on the host or of two
/// types, cuBLAS that is not there, or not yet and the stream is being captured), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `info` is NULL or an initialized struct; trains, `result` and workspace stay until the work is done.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_inner_enqueue(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    result: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let workspace = contraction.workspace();
        let stream = stream::get(stream)?;
        let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
        let run = |result: Option<&mut Tensor>| contraction.enqueue_inner(stream.as_deref(), &x, &y, result);
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { enqueue(&object, workspace, &[("x", &x), ("y", &y)], result, info, run) }
    })
}

/// Enqueues the norm of a train and returns: purlin_tt_inner_enqueue of the train with itself, and the square root of
/// that, which has as many digits as the square. With `norm_method` QR by factors of cuSOLVER, as purlin_tt_norm: where
/// the sums of a ring cancel it has more. The rules for cuBLAS in captured streams (purlin_tt_inner_enqueue) hold for
/// cuSOLVER, too.
///
/// @param      contraction  the contraction; `conjugate` in its options has no effect.
/// @param      stream       NULL for the context's own.
/// @param      x            the train, on the device.
/// @param      result       as purlin_tt_inner_enqueue has it, with an imaginary part of 0; NULL to report the workspace
///                          alone.
/// @param[out] info         as there.
/// @return as purlin_tt_inner_enqueue; `PURLIN_ERROR_NOT_SUPPORTED` also for cuSOLVER that is not there, or not yet.
///
/// # Safety
/// As purlin_tt_inner_enqueue.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_norm_enqueue(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    result: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let workspace = contraction.workspace();
        let stream = stream::get(stream)?;
        let x = tt::input("x", x)?;
        let run = |result: Option<&mut Tensor>| contraction.enqueue_norm(stream.as_deref(), &x, result);
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { enqueue(&object, workspace, &[("x", &x)], result, info, run) }
    })
}

/// Enqueues the norm of the difference of two trains and returns: purlin_tt_distance, whose result goes to device memory.
///
/// By QR factors, as purlin_tt_norm_enqueue with `norm_method` QR.
///
/// @param      contraction  the contraction; of its options `cut` and `workspace_limit` count.
/// @param      stream       NULL for the context's own.
/// @param      x            a train, on the device.
/// @param      y            the other.
/// @param      result       as purlin_tt_norm_enqueue has it; NULL to report the workspace alone.
/// @param[out] info         as there.
/// @return as purlin_tt_norm_enqueue.
///
/// # Safety
/// As purlin_tt_inner_enqueue.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_distance_enqueue(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    x: *const purlin_tt,
    y: *const purlin_tt,
    result: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let workspace = contraction.workspace();
        let stream = stream::get(stream)?;
        let (x, y) = (tt::input("x", x)?, tt::input("y", y)?);
        let run = |result: Option<&mut Tensor>| contraction.enqueue_distance(stream.as_deref(), &x, &y, result);
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { enqueue(&object, workspace, &[("x", &x), ("y", &y)], result, info, run) }
    })
}

/// Enqueues an operator between two trains and returns: purlin_tt_sandwich, whose result goes to device memory.
///
/// The trains lie on the device, real and complex ones of one precision may be mixed; the operator lies on the host,
/// and its numbers travel with the launches, so that a graph keeps those it captured and can be replayed with other
/// numbers in the cores alone. Exponents stay on the device. Everything is done by cuBLAS and kernels between its
/// products, in one queue. The rules of purlin_tt_inner_enqueue for capturing and for the workspace hold here.
///
/// @param      contraction  the contraction; of its options `conjugate`, `cut`, `workspace_limit` and
///                          `assume_hermitian` count.
/// @param      stream       NULL for the context's own.
/// @param      y            the bra: its mode sizes are the rows of `h`.
/// @param      h            the operator.
/// @param      x            the ket: its mode sizes are the columns of `h`; may be `y`.
/// @param      result       4 elements of F64 on the device, as purlin_tt_inner_enqueue has them; NULL to report the
///                          workspace alone.
/// @param[out] info         the plan; `workspace_bytes` is the need of this call. May be NULL.
/// @return as purlin_tt_sandwich and purlin_tt_inner_enqueue.
///
/// # Safety
/// As purlin_tt_inner_enqueue; the operator is not needed once the call has returned.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_sandwich_enqueue(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    y: *const purlin_tt,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    result: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let workspace = contraction.workspace();
        let stream = stream::get(stream)?;
        let (y, h, x) = (tt::input("y", y)?, tt_matrix::input("h", h)?, tt::input("x", x)?);
        let trains = Trains::new(&y, Some(&h), &x);
        let run = |result: Option<&mut Tensor>| contraction.enqueue_sandwich(stream.as_deref(), &trains, result);
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { enqueue(&object, workspace, &[("y", &y), ("x", &x)], result, info, run) }
    })
}

/// Enqueues the Rayleigh quotient <x|H|x> / <x|x> and returns: both in one sweep, divided on the device. Where <x|x> is
/// 0 the outcome is NONFINITE.
///
/// @param      contraction  the contraction, as for purlin_tt_sandwich_enqueue; the bra is conjugated in any case.
/// @param      stream       NULL for the context's own.
/// @param      h            the operator.
/// @param      x            the train, on the device.
/// @param      result       as there; the imaginary part is rounding noise for a Hermitian operator, 0 with
///                          `assume_hermitian`.
/// @param[out] info         as there.
/// @return as purlin_tt_sandwich_enqueue.
///
/// # Safety
/// As purlin_tt_sandwich_enqueue.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_tt_rayleigh_enqueue(
    contraction: *mut purlin_tt_contraction,
    stream: *const purlin_stream,
    h: *const purlin_tt_matrix,
    x: *const purlin_tt,
    result: *mut purlin_tensor,
    info: *mut purlin_tt_contraction_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut held) = ContractionObject::exclusive(contraction)?;
        let contraction = held.get();
        let workspace = contraction.workspace();
        let stream = stream::get(stream)?;
        let (h, x) = (tt_matrix::input("h", h)?, tt::input("x", x)?);
        let run = |result: Option<&mut Tensor>| contraction.enqueue_rayleigh(stream.as_deref(), &x, &h, result);
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { enqueue(&object, workspace, &[("x", &x)], result, info, run) }
    })
}
