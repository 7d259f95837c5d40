//! Robust PCA: the calls that split a matrix.

use std::sync::Arc;

use super::callback::Report;
use super::handle::{self, Exclusive, Shared};
use super::matrix::{self, purlin_matrix};
use super::options;
use super::overlap::{self, Range, ranges};
use super::rpca::{RpcaObject, made, purlin_rpca};
use super::rpca_types::*;
use super::sink::{SinkObject, Target, purlin_sink};
use super::{guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::blocks::sink::Sink;
use crate::blocks::tensor::TensorSink;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rpca::session::Observed;
use crate::rpca::{Info, Rpca};
use crate::stream::Stream;

/// Writes the report of a run. Fails with `NoConvergence` if the run did not converge.
///
/// # Safety
/// `info` is NULL or an initialized struct.
unsafe fn hand_over(info: *mut purlin_rpca_info, done: &Info) -> Result<()> {
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_rpca_info::of(done)) }?;
    done.expect_converged()
}

/// The arguments of every call, locked until it returns.
struct RunHandles {
    stream: Option<Shared<Stream>>,
    m: Shared<Matrix>,
    mask: Option<Shared<Matrix>>,
}

impl RunHandles {
    /// Also looks at `info`.
    ///
    /// # Safety
    /// `info` is NULL or an initialized struct.
    unsafe fn get(
        stream: *const purlin_stream,
        m: *const purlin_matrix,
        mask: *const purlin_matrix,
        info: *const purlin_rpca_info,
    ) -> Result<Self> {
        let stream = stream::get(stream)?;
        let handles = Self { stream, m: matrix::input("m", m)?, mask: handle::shared_or_null("mask", mask)? };
        // SAFETY: as promised above.
        unsafe { options::check("info", info) }?;
        Ok(handles)
    }

    fn observed(&self) -> Observed<'_> {
        Observed { m: &self.m, mask: self.mask.as_deref() }
    }

    fn ranges(&self) -> Vec<Range<'_>> {
        ranges(&[("m", Some(&self.m)), ("mask", self.mask.as_deref())], &[])
    }

    /// Splits the matrix into dense parts.
    fn compute(
        &self,
        rpca: &mut Rpca,
        report: &Report,
        low_rank: *mut purlin_matrix,
        sparse: *mut purlin_matrix,
    ) -> Result<Info> {
        let mut low_rank = matrix::output_or_null("low_rank", low_rank)?;
        let mut sparse = matrix::output_or_null("sparse", sparse)?;
        let outputs = ranges(&[("low_rank", low_rank.as_deref()), ("sparse", sparse.as_deref())], &[]);
        overlap::check(&self.ranges(), &outputs)?;
        let (low_rank, sparse) = (low_rank.as_deref_mut(), sparse.as_deref_mut());
        report.run(|report| rpca.compute(self.stream.as_deref(), self.observed(), low_rank, sparse, report))
    }
}

/// Splits a matrix into a low-rank and a sparse part, M = L + S: the minimum of ||L||_* + lambda ||S||_1 (Candes, Li,
/// Ma, Wright, JACM 58, 2011), by the inexact augmented Lagrangian method (Lin, Chen, Ma, arXiv 1009.5055). Of a video
/// whose frames are the columns, L is the background and S the objects that move before it.
///
/// The rank is found, with partial decompositions that begin from the iteration before. One iteration costs a few
/// passes over arrays of the size of M: about 6 m n (r + oversampling) operations for rank r, and two such arrays
/// beside M.
///
/// @param      rpca      the robust PCA; its first context is that of the matrices.
/// @param      stream    NULL for the context's own.
/// @param      m         rows x cols, dense on the host or the device or streamed, of any element type that a source
///                       may have; finite where it is observed.
/// @param      mask      U8, of M's size, dense or streamed: 0 where an entry is not observed. There M may be anything,
///                       S is 0 and L follows from the other entries. NULL: all are observed.
/// @param      low_rank  L, dense, rows x cols, of the computing type, any order; NULL if not wanted.
/// @param      sparse    S, likewise; NULL if not wanted.
/// @param[out] info      report of the call; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (struct_size, sizes, types,
/// read-only outputs, overlap, another context, an entry that is NaN or infinite, or that times `scale` is beyond the
/// largest number of the computing type), `PURLIN_ERROR_BUSY` (an object or the matrix's source is in use),
/// `PURLIN_ERROR_NO_CONVERGENCE` (after `max_iterations`; the outputs hold the last iterate), `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_IO` (a file, or an error that the caller's function returned), `PURLIN_ERROR_NOT_SUPPORTED` (storage),
/// `PURLIN_ERROR_NUMERICAL` (a part with an entry beyond the largest number of its type, before any is written; entries
/// that all vanish in the precision of the run), `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`. After a failure the object is ready for another call.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_compute(
    rpca: *mut purlin_rpca,
    stream: *const purlin_stream,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    low_rank: *mut purlin_matrix,
    sparse: *mut purlin_matrix,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rpca) = RpcaObject::exclusive(rpca)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let handles = unsafe { RunHandles::get(stream, m, mask, info) }?;
        let done = handles.compute(&mut rpca, &object.report, low_rank, sparse)?;
        // SAFETY: as above.
        unsafe { hand_over(info, &done) }
    })
}

/// purlin_rpca_compute by an object for this run alone: purlin_rpca_create, purlin_rpca_compute, purlin_rpca_destroy.
///
/// @param      context   the context of the matrices.
/// @param      stream    NULL for the context's own.
/// @param      m         as for purlin_rpca_compute.
/// @param      mask      likewise; NULL: all entries are observed.
/// @param      options   NULL for the defaults.
/// @param      low_rank  as for purlin_rpca_compute; NULL if not wanted.
/// @param      sparse    likewise; NULL if not wanted.
/// @param[out] info      report of the call; may be NULL.
/// @return as purlin_rpca_create and purlin_rpca_compute.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_compute_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    options: *const purlin_rpca_options,
    low_rank: *mut purlin_matrix,
    sparse: *mut purlin_matrix,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or an initialized struct.
        let (mut rpca, report) = unsafe { made(context, options) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let handles = unsafe { RunHandles::get(stream, m, mask, info) }?;
        let done = handles.compute(&mut rpca, &report, low_rank, sparse)?;
        // SAFETY: as above.
        unsafe { hand_over(info, &done) }
    })
}

/// purlin_rpca_compute with the sparse part in compressed rows: the entries of modulus over `threshold`.
///
/// @param      rpca      the robust PCA.
/// @param      stream    NULL for the context's own.
/// @param      m         as for purlin_rpca_compute.
/// @param      mask      likewise; NULL: all entries are observed.
/// @param      low_rank  as for purlin_rpca_compute; NULL if not wanted.
/// @param[out] sparse    a new sparse matrix on the host, from 0, its columns in order; destroy it with
///                       purlin_matrix_destroy. It is made on `PURLIN_ERROR_NO_CONVERGENCE` too.
/// @param[out] info      report of the call; may be NULL.
/// @return as purlin_rpca_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a NULL `sparse`.
///
/// # Safety
/// `sparse` is NULL or valid for writing, `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_compute_csr(
    rpca: *mut purlin_rpca,
    stream: *const purlin_stream,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    low_rank: *mut purlin_matrix,
    sparse: *mut *mut purlin_matrix,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rpca) = RpcaObject::exclusive(rpca)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let handles = unsafe { RunHandles::get(stream, m, mask, info) }?;
        let mut low_rank = matrix::output_or_null("low_rank", low_rank)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sparse", sparse) }?;
        overlap::check(&handles.ranges(), &ranges(&[("low_rank", low_rank.as_deref())], &[]))?;
        let (made, done) = object.run(|report| {
            rpca.compute_csr(handles.stream.as_deref(), handles.observed(), low_rank.as_deref_mut(), report)
        })?;
        *target = handle::insert(made)?;
        // SAFETY: as above.
        unsafe { hand_over(info, &done) }
    })
}

/// purlin_rpca_compute with parts that sinks take, which need not fit in memory. The working arrays, two of the size of
/// M in the computing type, are in the host's memory.
///
/// @param      rpca      the robust PCA; its first context is that of matrices and sinks.
/// @param      stream    NULL for the context's own.
/// @param      m         as for purlin_rpca_compute.
/// @param      mask      likewise; NULL: all entries are observed.
/// @param      low_rank  sink of [rows, cols], or [cols, rows] of a row-major M; real elements of any type for a real
///                       M. Integers are rounded to the nearest and held to their range, which is no error; an entry
///                       beyond the range of a floating-point type is PURLIN_ERROR_NUMERICAL. NULL if not wanted.
/// @param      sparse    likewise; NULL if not wanted.
/// @param[out] info      report of the call; may be NULL.
/// @return as purlin_rpca_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a sink that is used up, that goes to the file
/// of the other or to one that `m` or `mask` is read from, or whose tensor overlaps that of the other.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_compute_to_sinks(
    rpca: *mut purlin_rpca,
    stream: *const purlin_stream,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    low_rank: *mut purlin_sink,
    sparse: *mut purlin_sink,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        let (object, mut rpca) = RpcaObject::exclusive(rpca)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let handles = unsafe { RunHandles::get(stream, m, mask, info) }?;
        let mut low_rank = handle::exclusive_or_null::<SinkObject, _>("low_rank", low_rank)?;
        let mut sparse = handle::exclusive_or_null::<SinkObject, _>("sparse", sparse)?;
        let (context, inputs) = (Arc::clone(rpca.context()), handles.ranges());
        let done = with_sink("low_rank", &context, &mut low_rank, &inputs, |low_rank, taken| {
            with_sink("sparse", &context, &mut sparse, taken, |sparse, _| {
                // Both for as long as the call alone.
                let low_rank = low_rank.map(|sink| -> &mut dyn Sink { sink });
                let sparse = sparse.map(|sink| -> &mut dyn Sink { sink });
                object.run(|report| {
                    rpca.compute_to_sinks(handles.stream.as_deref(), handles.observed(), low_rank, sparse, report)
                })
            })
        })?;
        // SAFETY: as above.
        unsafe { hand_over(info, &done) }
    })
}

/// Runs `body` with the target of a sink, if there is one, and with the memory that the arguments so far take, which this
/// sink's may not overlap. A tensor is locked meanwhile.
fn with_sink<R>(
    argument: &str,
    context: &Arc<Context>,
    sink: &mut Option<Exclusive<SinkObject>>,
    taken: &[Range<'_>],
    body: impl FnOnce(Option<&mut (dyn Sink + '_)>, &[Range<'_>]) -> Result<R>,
) -> Result<R> {
    let Some(sink) = sink else { return body(None, taken) };
    sink.consume(argument, context, |target| match target {
        Target::Blocks(blocks) => body(Some(Target::blocks(blocks)), taken),
        Target::Tensor(tensor) => {
            let mut tensor = handle::lock_exclusive(argument, Arc::clone(tensor))?;
            let own = Range::of(argument, &tensor);
            overlap::check(taken, &[own])?;
            let taken: Vec<_> = taken.iter().copied().chain([own]).collect();
            body(Some(&mut TensorSink::new(argument, &mut tensor, context.pool())?), &taken)
        }
    })
}
