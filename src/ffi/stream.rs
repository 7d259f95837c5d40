//! Streams: ordered queues of a context's device.

use super::handle::{self, Shared};
use super::{context, guard, purlin_context, purlin_status};
use crate::context::Context;
use crate::error::Result;
use crate::stream::{Stream, begin_after};

/// An ordered queue of work of a context. On a GPU it is a CUDA stream; on the CPU calls are complete on return.
pub struct purlin_stream {
    _private: [u8; 0],
}

/// The stream of a nullable argument.
pub(super) fn get(stream: *const purlin_stream) -> Result<Option<Shared<Stream>>> {
    handle::shared_or_null("stream", stream)
}

/// The stream of a nullable argument, after whose work a call on the context's own queue begins.
pub(super) fn before(context: &Context, stream: *const purlin_stream) -> Result<Option<Shared<Stream>>> {
    let stream = get(stream)?;
    begin_after(context, stream.as_deref())?;
    Ok(stream)
}

/// Makes a stream.
///
/// @param      context  the context it belongs to.
/// @param[out] stream   the stream; destroy it with purlin_stream_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer),
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `stream` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_stream_create(
    context: *const purlin_context,
    stream: *mut *mut purlin_stream,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("stream", stream) }?;
        *target = handle::insert(Stream::new(&context)?)?;
        Ok(())
    })
}

/// Lets purlin enqueue on a caller's CUDA stream, which stays the caller's and must outlive the handle.
///
/// @param      context      a context on the GPU of that stream.
/// @param      cuda_stream  the `CUstream` (or `cudaStream_t`) as an integer; 0 is the legacy default stream. The per-thread
///                          default stream, 2, is refused: each thread has its own by that name.
/// @param[out] stream       the stream; destroying it leaves the caller's alone.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, a stream of
/// another device, the per-thread default stream), `PURLIN_ERROR_NOT_SUPPORTED` (a context on the CPU),
/// `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `cuda_stream` is a live stream or 0, `stream` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_stream_wrap(
    context: *const purlin_context,
    cuda_stream: u64,
    stream: *mut *mut purlin_stream,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("stream", stream) }?;
        *target = handle::insert(Stream::wrap(&context, cuda_stream)?)?;
        Ok(())
    })
}

/// Waits until all work enqueued on a stream is done.
///
/// @param stream  the stream.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, or the status with which an asynchronous call failed.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_stream_synchronize(stream: *const purlin_stream) -> purlin_status {
    guard::run(|| {
        let stream = handle::shared::<Stream, _>("stream", stream)?;
        stream.context().check_alive()?;
        stream.synchronize()
    })
}

/// Destroys a stream. Work enqueued on it still completes.
///
/// @param stream  the stream; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_stream_destroy(stream: *mut purlin_stream) -> purlin_status {
    guard::run(|| handle::remove::<Stream, _>("stream", stream))
}
