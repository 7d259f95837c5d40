//! Robust PCA.

use std::ffi::c_void;
use std::sync::Arc;

use super::callback::{self, purlin_progress_fn};
use super::handle::{self, Exclusive, Shared};
use super::matrix::{self, purlin_matrix};
use super::options::{self, flag};
use super::overlap::{self, Range, ranges};
use super::rpca_types::*;
use super::sink::{SinkObject, Target, purlin_sink};
use super::tensor::computing_type;
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::blocks::sink::Sink;
use crate::blocks::tensor::TensorSink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::rpca::{self, Frames, Info, Options};
use crate::shape;
use crate::stream::Stream;

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
pub unsafe extern "C" fn purlin_rpca_options_init(options: *mut purlin_rpca_options, size: usize) -> purlin_status {
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
pub unsafe extern "C" fn purlin_rpca_info_init(info: *mut purlin_rpca_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

fn read_options(o: &purlin_rpca_options) -> Result<Options> {
    if o.reserved != 0 {
        return Err(Error::invalid("reserved", format!("is {}, 0 is needed", o.reserved)));
    }
    let options = Options {
        lambda: o.lambda,
        tolerance: o.tolerance,
        mu: o.mu,
        rho: o.rho,
        threshold: o.threshold,
        scale: o.scale,
        max_iterations: shape::size("max_iterations", o.max_iterations, 1)?,
        max_rank: shape::size("max_rank", o.max_rank, 0)?,
        fixed_rank: shape::size("fixed_rank", o.fixed_rank, 0)?,
        power_iterations: shape::size("power_iterations", o.power_iterations, 0)?,
        oversampling: shape::size("oversampling", o.oversampling, 0)?,
        block_rows: shape::size("block_rows", o.block_rows, 0)?,
        seed: o.seed,
        warm_start: flag("warm_start", o.warm_start)?,
        frames: Frames::from_code("frames", o.frames)?,
        dtype: computing_type(o.dtype)?,
    };
    options.check()?;
    Ok(options)
}

fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl purlin_rpca_info {
    fn of(i: &Info) -> Self {
        Self {
            struct_size: 0,
            converged: i32::from(i.converged),
            dtype: i.dtype as i32,
            iterations: count(i.iterations),
            rank: count(i.rank),
            nonzeros: count(i.nonzeros),
            passes: count(i.passes),
            blocks: count(i.blocks),
            block_rows: count(i.block_rows),
            bytes_to_device: count(i.bytes_to_device),
            bytes_read: count(i.bytes_read),
            device_bytes_used: count(i.device_bytes_used),
            host_bytes_used: count(i.host_bytes_used),
            lambda: i.lambda,
            mu: i.mu,
            norm2: i.norm2,
            frobenius: i.frobenius,
            residual: i.residual,
            objective: i.objective,
            nuclear_norm: i.nuclear_norm,
            one_norm: i.one_norm,
            seconds_svd: i.seconds_svd,
            seconds_elementwise: i.seconds_elementwise,
            seconds_read: i.seconds_read,
            seconds_total: i.seconds_total,
            contexts: count(i.contexts),
            host_bytes: count(i.host_bytes),
            device_bytes: count(i.device_bytes),
        }
    }
}

/// Hands over what a run reports, and says if it did not converge.
///
/// # Safety
/// `info` is NULL or an initialised struct.
unsafe fn hand_over(info: *mut purlin_rpca_info, done: &Info) -> Result<()> {
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_rpca_info::of(done)) }?;
    if done.converged {
        return Ok(());
    }
    let (n, residual) = (done.iterations, done.residual);
    Err(Error::NoConvergence(format!("the residual is {residual:e} after {n} iterations")))
}

/// What all calls read.
struct Given {
    context: Arc<Context>,
    stream: Option<Shared<Stream>>,
    m: Shared<Matrix>,
    mask: Option<Shared<Matrix>>,
}

impl Given {
    fn get(
        context: *const purlin_context,
        stream: *const purlin_stream,
        m: *const purlin_matrix,
        mask: *const purlin_matrix,
    ) -> Result<Self> {
        let (context, stream) = (context::get(context)?, stream::get(stream)?);
        Ok(Self { context, stream, m: matrix::input("m", m)?, mask: handle::shared_or_null("mask", mask)? })
    }

    fn ranges(&self) -> Vec<Range<'_>> {
        ranges(&[("m", Some(&self.m)), ("mask", self.mask.as_deref())], &[])
    }
}

/// The caller's options.
struct Asked {
    settings: Options,
    /// The context of the call, and the further ones.
    contexts: Vec<Arc<Context>>,
    progress: purlin_progress_fn,
    progress_user: *mut c_void,
}

/// The caller's options in the core's terms; `info` is looked at, too.
///
/// # Safety
/// Both are NULL or initialised structs, whose `contexts` are as many as they say.
unsafe fn asked(
    context: &Arc<Context>,
    options: *const purlin_rpca_options,
    info: *const purlin_rpca_info,
) -> Result<Asked> {
    // SAFETY: as promised above.
    let o = unsafe { options::read("options", options) }?;
    // SAFETY: as promised above.
    unsafe { options::check("info", info) }?;
    let mut contexts = vec![Arc::clone(context)];
    // SAFETY: as promised above.
    contexts.extend(unsafe { context::further(o.contexts, o.contexts_count) }?);
    Ok(Asked { settings: read_options(&o)?, contexts, progress: o.progress, progress_user: o.progress_user })
}

/// What is known of purlin_rpca_compute before it runs: `host_bytes`, `device_bytes`, `blocks`, `block_rows`, `contexts`.
/// Nothing is read. What it accepts runs inside the limits of the contexts, whatever rank is found up to `max_rank`; the
/// sparse part of purlin_rpca_compute_csr and the pieces of at most 8 MiB that purlin_rpca_stream hands to its sinks come
/// on top.
///
/// @param      context  the context of the matrices.
/// @param      m        as for purlin_rpca_compute.
/// @param      mask     likewise; NULL: all entries are observed.
/// @param      options  NULL for the defaults.
/// @param[out] info     what is known; the rest is 0. May be NULL.
/// @return as purlin_rpca_compute, for what does not fit: `PURLIN_ERROR_OUT_OF_MEMORY` and
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY` with the bytes that are needed.
///
/// # Safety
/// `options` and `info` are NULL or initialised structs, the contexts of `options` as many as it says.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_plan(
    context: *const purlin_context,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    options: *const purlin_rpca_options,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        let given = Given::get(context, std::ptr::null(), m, mask)?;
        // SAFETY: the caller promises NULL or initialised structs.
        let o = unsafe { asked(&given.context, options, info) }?;
        let known = rpca::plan(&o.contexts, &given.m, given.mask.as_deref(), &o.settings)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { options::write("info", info, purlin_rpca_info::of(&known)) }
    })
}

/// Splits a matrix into a low-rank and a sparse part, M = L + S: the minimum of ||L||_* + lambda ||S||_1 (Candes, Li,
/// Ma, Wright, JACM 58, 2011), by the inexact augmented Lagrangian method (Lin, Chen, Ma, arXiv 1009.5055). Of a video
/// whose frames are the columns, L is the background and S what moves before it.
///
/// The rank is found, with partial decompositions that begin from the iteration before. One iteration costs a few
/// passes over arrays of the size of M: about 6 m n (r + oversampling) operations for rank r, and two such arrays
/// beside M.
///
/// @param      context   the context of the matrices.
/// @param      stream    NULL for the context's own.
/// @param      m         rows x cols, dense on the host or the device or streamed, of any element type that a source
///                       may have; finite where it is observed.
/// @param      mask      U8, of M's size, dense or streamed: 0 where an entry is not observed. There M may be anything,
///                       S is 0 and L what the other entries tell. NULL: all are observed.
/// @param      options   NULL for the defaults.
/// @param      low_rank  L, dense, rows x cols, of the computing type, any order; NULL if not wanted.
/// @param      sparse    S, likewise; NULL if not wanted.
/// @param[out] info      what was done; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (an option outside its
/// domain, struct_size, sizes, types, read-only outputs, overlap, another context, a further context that is there
/// already or no GPU of the kind of `context`, an entry that is NaN or infinite),
/// `PURLIN_ERROR_BUSY` (an object or the matrix's source is in use), `PURLIN_ERROR_NO_CONVERGENCE` (after
/// `max_iterations`; the outputs hold the last iterate), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_IO` (a file, or what a
/// function returned), `PURLIN_ERROR_NOT_SUPPORTED` (storage), `PURLIN_ERROR_NUMERICAL`, `PURLIN_ERROR_OUT_OF_MEMORY`,
/// `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`, `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `options` and `info` are NULL or initialised structs, the contexts of `options` as many as it says.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_compute(
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
        let given = Given::get(context, stream, m, mask)?;
        let mut low_rank = matrix::output_or_null("low_rank", low_rank)?;
        let mut sparse = matrix::output_or_null("sparse", sparse)?;
        // SAFETY: the caller promises NULL or initialised structs.
        let o = unsafe { asked(&given.context, options, info) }?;
        let outputs = ranges(&[("low_rank", low_rank.as_deref()), ("sparse", sparse.as_deref())], &[]);
        overlap::check(&given.ranges(), &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let done = rpca::compute(
            &o.contexts,
            given.stream.as_deref(),
            &given.m,
            given.mask.as_deref(),
            &o.settings,
            low_rank.as_deref_mut(),
            sparse.as_deref_mut(),
            report.as_ref().map(|f| f as &ProgressFn<'_>),
        )?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { hand_over(info, &done) }
    })
}

/// purlin_rpca_compute with the sparse part in compressed rows: the entries of modulus over `threshold`.
///
/// @param      context   the context of the matrices.
/// @param      stream    NULL for the context's own.
/// @param      m         as for purlin_rpca_compute.
/// @param      mask      likewise; NULL: all entries are observed.
/// @param      options   NULL for the defaults.
/// @param      low_rank  as for purlin_rpca_compute; NULL if not wanted.
/// @param[out] sparse    a new sparse matrix on the host, from 0, its columns in order; destroy it with
///                       purlin_matrix_destroy. It is made on `PURLIN_ERROR_NO_CONVERGENCE` too.
/// @param[out] info      what was done; may be NULL.
/// @return as purlin_rpca_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a NULL `sparse`.
///
/// # Safety
/// `sparse` is NULL or valid for writing, `options` and `info` are NULL or initialised structs, the contexts of
/// `options` as many as it says.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_compute_csr(
    context: *const purlin_context,
    stream: *const purlin_stream,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    options: *const purlin_rpca_options,
    low_rank: *mut purlin_matrix,
    sparse: *mut *mut purlin_matrix,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        let given = Given::get(context, stream, m, mask)?;
        let mut low_rank = matrix::output_or_null("low_rank", low_rank)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("sparse", sparse) }?;
        // SAFETY: the caller promises NULL or initialised structs.
        let o = unsafe { asked(&given.context, options, info) }?;
        overlap::check(&given.ranges(), &ranges(&[("low_rank", low_rank.as_deref())], &[]))?;
        let report = callback::progress(o.progress, o.progress_user);
        let (made, done) = rpca::compute_csr(
            &o.contexts,
            given.stream.as_deref(),
            &given.m,
            given.mask.as_deref(),
            &o.settings,
            low_rank.as_deref_mut(),
            report.as_ref().map(|f| f as &ProgressFn<'_>),
        )?;
        *target = handle::insert(made)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { hand_over(info, &done) }
    })
}

/// purlin_rpca_compute with parts that sinks take, which need not fit in memory. The working arrays, two of the size of
/// M in the computing type, are in the host's memory.
///
/// @param      context   the context of matrices and sinks.
/// @param      stream    NULL for the context's own.
/// @param      m         as for purlin_rpca_compute.
/// @param      mask      likewise; NULL: all entries are observed.
/// @param      options   NULL for the defaults.
/// @param      low_rank  sink of [rows, cols], or [cols, rows] of a row-major M; real elements of any type for a real
///                       M, integers are rounded and held to their range. NULL if not wanted.
/// @param      sparse    likewise; NULL if not wanted.
/// @param[out] info      what was done; may be NULL.
/// @return as purlin_rpca_compute; `PURLIN_ERROR_INVALID_ARGUMENT` also for a sink that is used up.
///
/// # Safety
/// `options` and `info` are NULL or initialised structs, the contexts of `options` as many as it says.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_rpca_stream(
    context: *const purlin_context,
    stream: *const purlin_stream,
    m: *const purlin_matrix,
    mask: *const purlin_matrix,
    options: *const purlin_rpca_options,
    low_rank: *mut purlin_sink,
    sparse: *mut purlin_sink,
    info: *mut purlin_rpca_info,
) -> purlin_status {
    guard::run(|| {
        let given = Given::get(context, stream, m, mask)?;
        let mut low_rank = handle::exclusive_or_null::<SinkObject, _>("low_rank", low_rank)?;
        let mut sparse = handle::exclusive_or_null::<SinkObject, _>("sparse", sparse)?;
        // SAFETY: the caller promises NULL or initialised structs.
        let o = unsafe { asked(&given.context, options, info) }?;
        let report = callback::progress(o.progress, o.progress_user);
        let inputs = given.ranges();
        let done = with_sink("low_rank", &given.context, &mut low_rank, &inputs, |low_rank| {
            with_sink("sparse", &given.context, &mut sparse, &inputs, |sparse| {
                // Both for as long as the call alone.
                let low_rank = low_rank.map(|sink| -> &mut dyn Sink { sink });
                let sparse = sparse.map(|sink| -> &mut dyn Sink { sink });
                rpca::stream(
                    &o.contexts,
                    given.stream.as_deref(),
                    &given.m,
                    given.mask.as_deref(),
                    &o.settings,
                    low_rank,
                    sparse,
                    report.as_ref().map(|f| f as &ProgressFn<'_>),
                )
            })
        })?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { hand_over(info, &done) }
    })
}

/// Runs `body` with what a sink writes to, if there is one; a tensor is locked meanwhile.
fn with_sink<R>(
    argument: &str,
    context: &Arc<Context>,
    sink: &mut Option<Exclusive<SinkObject>>,
    inputs: &[Range<'_>],
    body: impl FnOnce(Option<&mut (dyn Sink + '_)>) -> Result<R>,
) -> Result<R> {
    let Some(sink) = sink else { return body(None) };
    sink.consume(argument, context, |target| match target {
        Target::Blocks(blocks) => body(Some(Target::blocks(blocks))),
        Target::Tensor(tensor) => {
            let mut tensor = handle::lock_exclusive(argument, Arc::clone(tensor))?;
            overlap::check(inputs, &[Range::of(argument, &tensor)])?;
            body(Some(&mut TensorSink::new(argument, &mut tensor, context.pool())?))
        }
    })
}
