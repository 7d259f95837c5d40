//! Constants and structs of the randomized singular value decomposition.

use std::ffi::{c_char, c_void};

use super::callback::purlin_progress_fn;
use super::group::purlin_group;
use super::options::versioned;

/// The cost model chooses among GRAM, FUSED, MERGE, KRYLOV and DIRECT.
pub const PURLIN_RSVD_METHOD_AUTO: i32 = 0;
/// Published, for comparison: row space of (A^H A)^q, 2q + 1 passes over the data.
pub const PURLIN_RSVD_METHOD_BASIC: i32 = 1;
/// Published: BASIC with every second pass backwards, so that the block that was read last is used first.
pub const PURLIN_RSVD_METHOD_FIFO: i32 = 2;
/// Published as "fused": BASIC with A^H A in one pass; q + 1 passes.
pub const PURLIN_RSVD_METHOD_ROW_FUSED: i32 = 3;
/// A^H A is formed: 2 passes whatever q. Singular values below about 1e-7 of the largest (F32: 3e-4 unless summed in
/// F64) are not resolved; two more passes are made where that is found.
pub const PURLIN_RSVD_METHOD_GRAM: i32 = 4;
/// Published: sums of the ranges of blocks, 2 passes. More iterations can make it worse.
pub const PURLIN_RSVD_METHOD_BRSVD: i32 = 5;
/// Halko, Martinsson, Tropp (SIAM Review 53, 2011): range of (A A^H)^q A Omega; 2q + 2 passes.
pub const PURLIN_RSVD_METHOD_RANGE: i32 = 6;
/// RANGE's subspace in q + 1 passes.
pub const PURLIN_RSVD_METHOD_FUSED: i32 = 7;
/// Decompositions of blocks, merged (after Iwen, Ong, SIMAX 37, 2016); 2 passes, or 1 with `one_pass`.
pub const PURLIN_RSVD_METHOD_MERGE: i32 = 8;
/// Block Krylov (Musco, Musco, NIPS 2015): the space of all iterates; q + 1 passes.
pub const PURLIN_RSVD_METHOD_KRYLOV: i32 = 9;
/// Two sketches of data that are seen once (Tropp et al., SIMAX 38, 2017): far less accurate than two passes.
pub const PURLIN_RSVD_METHOD_ONE_PASS: i32 = 10;
/// No projection, for l near min(m, n): exact.
pub const PURLIN_RSVD_METHOD_DIRECT: i32 = 11;
/// purlin_rsvd_symmetric alone: Nystroem's method for positive semidefinite matrices.
pub const PURLIN_RSVD_METHOD_NYSTROM: i32 = 12;
/// purlin_rsvd_symmetric alone: W^H A W, for any Hermitian matrix; AUTO there.
pub const PURLIN_RSVD_METHOD_RAYLEIGH: i32 = 13;

/// CholeskyQR2, and a safer method where its result is not orthonormal.
pub const PURLIN_RSVD_ORTH_AUTO: i32 = 0;
/// Householder reflections: safe and slow. Vectors as long as A has rows may lie in pieces and take SHIFTED_CHOLESKY3, which
/// the report then names.
pub const PURLIN_RSVD_ORTH_HOUSEHOLDER: i32 = 1;
/// CholeskyQR2 first, and a safer method where it fails.
pub const PURLIN_RSVD_ORTH_CHOLESKY2: i32 = 2;
/// Shifted CholeskyQR3 (Fukaya et al., SISC 42, 2020) first.
pub const PURLIN_RSVD_ORTH_SHIFTED_CHOLESKY3: i32 = 3;

/// Standard normal entries; for complex types each part.
pub const PURLIN_SKETCH_GAUSSIAN: i32 = 0;
/// Uniform in [-1, 1); for complex types each part.
pub const PURLIN_SKETCH_UNIFORM: i32 = 1;
/// -1 or 1; for complex types each part.
pub const PURLIN_SKETCH_RADEMACHER: i32 = 2;
/// One entry in eight columns of each row -1 or 1, the others 0; RADEMACHER for sketches of fewer than eight columns.
pub const PURLIN_SKETCH_SPARSE_SIGN: i32 = 3;
/// In reports: the one of purlin_rsvd_set_sketch.
pub const PURLIN_SKETCH_GIVEN: i32 = 4;

/// The matrix as it is.
pub const PURLIN_RSVD_CENTER_NONE: i32 = 0;
/// Less the mean of each column, without forming the difference.
pub const PURLIN_RSVD_CENTER_COLUMNS: i32 = 1;
/// Less the mean of each row.
pub const PURLIN_RSVD_CENTER_ROWS: i32 = 2;

/// Signs, or phases, of the vectors as they come.
pub const PURLIN_RSVD_SIGN_NONE: i32 = 0;
/// The entry of largest modulus of each right vector, the first on ties, is real and positive.
pub const PURLIN_RSVD_SIGN_V_MAX: i32 = 1;
/// That of each left vector is.
pub const PURLIN_RSVD_SIGN_U_MAX: i32 = 2;

/// The right factor is V, n x k, with A = U diag(s) V^H.
pub const PURLIN_RSVD_V: i32 = 0;
/// The right factor is V^H, k x n.
pub const PURLIN_RSVD_VH: i32 = 1;

/// The error is not found.
pub const PURLIN_RSVD_ERROR_NONE: i32 = 0;
/// From ||A - A_k||_F^2 = ||A||_F^2 - sum of s_j^2, which costs nothing. It cannot distinguish a relative error below 1e-7
/// (F32: 3e-3) from 0.
pub const PURLIN_RSVD_ERROR_IDENTITY: i32 = 1;
/// From random probes of the residual: the Frobenius norm, and an upper bound of the spectral norm that is false with a
/// probability of 10^-probes and mostly some 20 times too large; one more pass.
pub const PURLIN_RSVD_ERROR_PROBES: i32 = 2;
/// Like PROBES, with the spectral norm itself in place of the bound, by five power iterations on the residual: close, and
/// from below; 11 more passes.
pub const PURLIN_RSVD_ERROR_POWER: i32 = 3;

/// Products inside power iterations like all others.
pub const PURLIN_RSVD_PRECISION_FULL: i32 = 0;
/// With factors of 11 bits where the GPU is faster so (F32 and CF32 matrices that are stored entry by entry). The space
/// that the iterations find is nearly the same; the products that give the factors from it are computed in full.
pub const PURLIN_RSVD_PRECISION_FAST: i32 = 1;

/// How a matrix is decomposed. A field that has no effect on a call is refused by name unless it has its default. k is the
/// rank, l = k + oversampling the number of columns of the sketch, q the power iterations, A is m x n.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_rsvd_options {
    /// Size of the caller's struct; set by purlin_rsvd_options_init.
    pub struct_size: usize,
    /// k, at most min(m, n); default 0, which is refused unless there is a tolerance. Not used by purlin_rsvd_range, whose
    /// result has as many columns as its memory.
    pub rank: i64,
    /// Columns of the sketch beyond k, held to min(m, n) in all; default 10; -1: max(10, k / 10). Another number is
    /// refused for DIRECT and with a tolerance, which have no use for it. Not used by purlin_rsvd_range.
    pub oversampling: i64,
    /// Power iterations q; default 2; -1: 7 for k less than a tenth of min(m, n), else 4. For DIRECT and ONE_PASS,
    /// which do not iterate, more than 0 is refused but for the default.
    pub power_iterations: i64,
    /// With a tolerance, the largest rank; 0, the default, for min(m, n). Refused without one.
    pub max_rank: i64,
    /// With a tolerance, columns that are added at a time; 0, the default, for 16.
    pub block_columns: i64,
    /// Rows (columns, where the work is on A^H) that are read at once; 0, the default, chooses by the memory limits. Refused
    /// for sparse matrices and operators.
    pub block_rows: i64,
    /// Rows that stay on the device between passes; -1, the default, for as many as fit.
    pub resident_rows: i64,
    /// MERGE: columns that are kept of each merge, at least l; 0, the default, for 2 l. Refused for other methods.
    pub merge_width: i64,
    /// Vectors that an error is estimated with; 0 for 10; default 10. So for purlin_rsvd_error.
    pub probes: i64,
    /// Seed of the sketch and everything else that is drawn; default 0.
    pub seed: u64,
    /// Relative error ||A - A_k||_F / ||A||_F to go on to, less than 1; small ones are confirmed by probes; 0, the
    /// default, for the fixed rank `rank`.
    pub tolerance: f64,
    /// Least s_k / s_1 that has to be resolved, where it is known: AUTO leaves out methods that cannot; default 0. Refused
    /// for other methods and with a tolerance.
    pub smallest_ratio: f64,
    /// Type that is computed with, and of the factors: PURLIN_F32, PURLIN_F64, PURLIN_CF32, PURLIN_CF64, or
    /// PURLIN_DTYPE_AUTO, the default. Entries of other types are converted, complex ones to complex ones alone; those of
    /// sparse matrices and operators are not.
    pub dtype: i32,
    /// How the space of the leading vectors is found, one of PURLIN_RSVD_METHOD_*; default AUTO. With a tolerance,
    /// where the rank grows block by block (Yu, Gu, Li, SIMAX 39, 2018), AUTO or RANGE; so for purlin_rsvd_range.
    pub method: i32,
    /// How bases are made orthonormal, one of PURLIN_RSVD_ORTH_*; default AUTO.
    pub orthonormalization: i32,
    /// Random entries of the sketch, one of PURLIN_SKETCH_GAUSSIAN to SPARSE_SIGN; default GAUSSIAN. Others are refused
    /// for DIRECT, which has none.
    pub sketch: i32,
    /// Means that are subtracted, one of PURLIN_RSVD_CENTER_*; default NONE, which purlin_pca_fit needs: it has an
    /// option of its own.
    pub center: i32,
    /// 1: each column is divided by its standard deviation (of m - 1); one whose deviation is at most 8 2^-52 times its mean
    /// counts as constant and is divided by 1. CENTER_COLUMNS is needed; default 0.
    pub scale: i32,
    /// Signs, or phases, of the singular vectors, one of PURLIN_RSVD_SIGN_*; default V_MAX, which purlin_rsvd_range and
    /// purlin_pca_fit need.
    pub sign: i32,
    /// Form of the right factor: PURLIN_RSVD_V, the default, or PURLIN_RSVD_VH. It is that of `v` of
    /// purlin_rsvd_compute and the functions that take it.
    pub right: i32,
    /// How the error of the report is found, one of PURLIN_RSVD_ERROR_*; default IDENTITY. purlin_rsvd_range takes
    /// IDENTITY and NONE.
    pub error: i32,
    /// 1: MERGE without its second pass, with less accurate values and no factor along the axis that is cut;
    /// default 0.
    pub one_pass: i32,
    /// File that the state is written to after each pass but the last; a run of the same problem and options goes on
    /// from it, and removes it at its end. `sign`, `right`, `error`, `probes`, `smallest_ratio`, `read_rate`, threads,
    /// devices, the backend and limits of memory may differ. A run that differs otherwise, in a given sketch or in its
    /// data, is refused: the message names the first difference. Passes for means and errors, and those that a method
    /// adds, are made again. The state of RANGE, BASIC and FIFO after A W is as long as the data; a GPU's that the
    /// host's memory does not hold is not saved. A path that cannot be written to (PURLIN_ERROR_IO) and a symbolic link
    /// are refused before the data are read. A file that appears at the path during a run is not replaced:
    /// PURLIN_ERROR_IO. Else it is written as a sink's file. Copied by purlin_rsvd_create. Default NULL: none.
    pub restart_path: *const c_char,
    /// Called with the steps done and all steps, which are blocks: `passes` times `blocks` of the report, unless a pass
    /// is added or the run repeated with scaled data; and the relative error so far with a tolerance, else 0; default
    /// NULL. Sparse matrices and operators report whole passes, several GPUs the blocks of the first, each for one of
    /// every GPU. It must be callable while the object lives.
    pub progress: purlin_progress_fn,
    /// Passed to `progress` as its last argument, not dereferenced; default NULL.
    pub progress_user: *mut c_void,
    /// Precision of products inside power iterations, one of PURLIN_RSVD_PRECISION_*; default FULL. Iterations in FAST
    /// gain nothing along directions below about 1e-3 s_1.
    pub iteration_precision: i32,
    /// Must be 0: kept for later fields.
    pub reserved: i32,
    /// Bytes a second that a matrix that is read in blocks is delivered at, for AUTO and `seconds_predicted`: a slow reader
    /// is read in fewer passes. Default 0: 2e9. Refused for a matrix that is in memory and with a tolerance.
    pub read_rate: f64,
    /// GPUs that blocks of rows are distributed over, with one reduction a pass; begins with the context of
    /// purlin_rsvd_create. Default NULL: that context alone.
    pub group: *const purlin_group,
}

versioned!(purlin_rsvd_options, first = std::mem::offset_of!(Self, read_rate), of = crate::rsvd::Options);

/// The choices for a matrix, the work of a run and the error of its result. purlin_rsvd_plan fills in the members that
/// are known beforehand. Times are of work, waiting left out; stages overlap, so they may add up to more than the
/// total.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_rsvd_info {
    /// Size of the caller's struct; set by purlin_rsvd_info_init.
    pub struct_size: usize,
    /// The method in force, not AUTO; RANGE with a tolerance.
    pub method: i32,
    /// The strongest orthonormalization that was needed, one of PURLIN_RSVD_ORTH_*.
    pub orthonormalization: i32,
    /// Type that was computed with.
    pub dtype: i32,
    /// 1 if the work was on A^H: its rows, the columns of A, were cut into blocks.
    pub transposed: i32,
    /// 1 unless a tolerance was not met within the largest rank.
    pub converged: i32,
    /// 1 if the run went on from a restart file.
    pub restarted: i32,
    /// How the error below was found, one of PURLIN_RSVD_ERROR_*.
    pub error_kind: i32,
    /// One of PURLIN_SKETCH_*.
    pub sketch: i32,
    /// Columns of the factors that hold something.
    pub rank: i64,
    /// Columns of the sketch, l; of the whole basis for KRYLOV and DIRECT.
    pub columns: i64,
    /// Power iterations q of the plan.
    pub power_iterations: i64,
    /// Passes over the data that this run made, also that of a try which found that the data had to be scaled.
    pub passes: i64,
    /// Passes that a restart file saved: with `passes` those of a run without interruption.
    pub passes_restarted: i64,
    /// Number of contexts at work.
    pub contexts: i64,
    /// Blocks that the rows are read in, in one pass.
    pub blocks: i64,
    /// Rows of a block; the last may have fewer.
    pub block_rows: i64,
    /// Rows that stay on the device.
    pub resident_rows: i64,
    /// Times that more than CholeskyQR2 was needed.
    pub orthonormalization_fallbacks: i64,
    /// Bytes of the data that went to devices.
    pub bytes_to_device: i64,
    /// Bytes of long factors that went either way between host and devices.
    pub bytes_tall: i64,
    /// Bytes that sources were read for, also to compare them with a restart file.
    pub bytes_read: i64,
    /// Predicted bytes of the data's transfers, known once the data are cut into blocks: `bytes_to_device` equals it
    /// or, on the CPU, `bytes_read`, unless a method has to repeat a pass, data have to be scaled, or a restart file is
    /// used. 0 where the passes are not known beforehand: with a tolerance, and for bases, errors and residuals.
    pub bytes_predicted: i64,
    /// Planned peak of device memory of each context, bytes: an upper bound. A flat 12 MiB of it stand for the work space of
    /// small factorizations and of cuSOLVER, so that runs of a few MiB use less.
    pub device_bytes: i64,
    /// Planned peak of host memory of each context, bytes. On the CPU of a run whose columns stay independent, which
    /// `host_bytes_used` meets within a tenth; rank-deficient data may take more, up to the context's limit.
    pub host_bytes: i64,
    /// Measured peak of device memory, of the context that took most, bytes.
    pub device_bytes_used: i64,
    /// Measured peak of host memory, likewise, bytes.
    pub host_bytes_used: i64,
    /// ||A||_F, centred and scaled if it is; NaN if not known.
    pub frobenius: f64,
    /// Largest modulus of an entry as it was read; NaN if not known.
    pub max_abs: f64,
    /// ||A - A_k||_F of the factors as returned; NaN if not found.
    pub error_frobenius: f64,
    /// The same over ||A||_F; NaN if not found.
    pub error_relative: f64,
    /// Upper bound of ||A - A_k||_2, false with a probability of 10^-probes; with ERROR_POWER an estimate from below; NaN
    /// unless probed.
    pub error_spectral: f64,
    /// Seconds of reading sources, of all contexts together.
    pub seconds_read: f64,
    /// Seconds of copying data to devices.
    pub seconds_link: f64,
    /// Seconds of products with the data.
    pub seconds_multiply: f64,
    /// Seconds of making columns orthonormal.
    pub seconds_orthonormalize: f64,
    /// Seconds of factorizations of small matrices.
    pub seconds_small: f64,
    /// Seconds from the call to its return.
    pub seconds: f64,
    /// Seconds that the cost model predicted; NaN with a tolerance.
    pub seconds_predicted: f64,
    /// Why this method was chosen, and remarks on the run; terminated.
    pub reason: [c_char; 128],
}

versioned!(purlin_rsvd_info, first = size_of::<Self>());
