//! Constants and structs of robust PCA.

use std::ffi::{c_char, c_void};

use super::callback::purlin_progress_fn;
use super::group::purlin_group;
use super::options::versioned;

/// A column of the matrix is a frame.
pub const PURLIN_RPCA_FRAMES_COLUMNS: i32 = 0;
/// A row of the matrix is a frame.
pub const PURLIN_RPCA_FRAMES_ROWS: i32 = 1;

/// How a matrix M is split into a low-rank part L and a sparse part S.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_rpca_options {
    /// Size of the caller's struct; set by purlin_rpca_options_init.
    pub struct_size: usize,
    /// Weight of the sparse part in ||L||_* + lambda ||S||_1; 0, the default, for 1 / sqrt(max(rows, cols)).
    pub lambda: f64,
    /// The iteration ends when ||M - L - S||_F is less than this times ||M||_F; default 1e-7; held to 1e-6 in F32 and
    /// CF32, which cannot reach less.
    pub tolerance: f64,
    /// First penalty; 0, the default, for 1.25 / ||M||_2. One below about 1e-15 / ||M||_2 or above 1e15 / ||M||_2 is
    /// refused, in F32 and CF32 1e-6 and 1e6, because rounding errors would hide M or the penalty.
    pub mu: f64,
    /// Factor by which the penalty grows in each iteration, more than 1; default 1.5.
    pub rho: f64,
    /// Entries of S of no larger modulus are neither counted nor stored as sparse rows; default 0.
    pub threshold: f64,
    /// Factor of the entries as they are read, not 0: 1.0 / 255 for bytes that stand for 0 to 1; default 1.
    pub scale: f64,
    /// Most iterations, at least 1; default 1000.
    pub max_iterations: i64,
    /// Largest rank of L; 0, the default, for no bound. Refused beside `fixed_rank`.
    pub max_rank: i64,
    /// Singular values that are computed in each iteration; 0, the default, follows the rank. One below the rank of the
    /// solution solves another problem.
    pub fixed_rank: i64,
    /// Power iterations of each partial decomposition; default 1.
    pub power_iterations: i64,
    /// Columns of the sketch of a partial decomposition beyond the predicted rank; default 10.
    pub oversampling: i64,
    /// Rows that are read at once; 0, the default, chooses by the memory limits.
    pub block_rows: i64,
    /// Seed of the sketches; default 0.
    pub seed: u64,
    /// 1 (default): a sketch begins with the right singular vectors of the iteration before.
    pub warm_start: i32,
    /// Axis of the frames where both are equally long: PURLIN_RPCA_FRAMES_COLUMNS, the default, or
    /// PURLIN_RPCA_FRAMES_ROWS. The other one is cut into blocks. Where they are not, the shorter one counts as frames, and
    /// ROWS is refused. The result is the same to rounding.
    pub frames: i32,
    /// Type that is computed with: PURLIN_F32, PURLIN_F64, PURLIN_CF32, PURLIN_CF64, or PURLIN_DTYPE_AUTO, the default.
    pub dtype: i32,
    /// Must be 0: kept for later fields.
    pub reserved: i32,
    /// Called with the iteration, the most iterations and the residual, again before blocks of the next iteration where
    /// these take long, and at the end of a run with the most iterations twice; default NULL.
    pub progress: purlin_progress_fn,
    /// Passed to `progress` as its last argument, not dereferenced; default NULL.
    pub progress_user: *mut c_void,
    /// GPUs that the longer axis of M is distributed over; begins with the context of purlin_rpca_create. An M or a
    /// mask in device memory is worked on where it lies; of a source, rows are read from several threads, one at a
    /// time. Default NULL: that context alone.
    pub group: *const purlin_group,
}

versioned!(purlin_rpca_options, first = std::mem::offset_of!(Self, group), of = crate::rpca::Options);

/// Report of a split. Norms are those of the scaled matrix. One beyond the range of double precision is infinite, also
/// where the parts are not.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_rpca_info {
    /// Size of the caller's struct; set by purlin_rpca_info_init.
    pub struct_size: usize,
    /// 1 if the tolerance was met.
    pub converged: i32,
    /// Type that was computed with.
    pub dtype: i32,
    /// Iterations made, at most `max_iterations`.
    pub iterations: i64,
    /// Rank of the low-rank part L.
    pub rank: i64,
    /// Entries of S of modulus over `threshold`.
    pub nonzeros: i64,
    /// Passes over the matrix and the working arrays.
    pub passes: i64,
    /// Blocks of a pass, of all contexts together.
    pub blocks: i64,
    /// Rows of a block; the last block may have fewer.
    pub block_rows: i64,
    /// Bytes that went to devices.
    pub bytes_to_device: i64,
    /// Bytes that sources were read for.
    pub bytes_read: i64,
    /// Measured peak of device memory, bytes, in the context that took most.
    pub device_bytes_used: i64,
    /// Measured peak of host memory, bytes, in the context that took most.
    pub host_bytes_used: i64,
    /// Weight of the norm of S that was used, also of the default.
    pub lambda: f64,
    /// Penalty of the last iteration.
    pub mu: f64,
    /// ||M||_2, to about 1 %.
    pub norm2: f64,
    /// ||M||_F over the observed entries.
    pub frobenius: f64,
    /// ||M - L - S||_F / ||M||_F over the observed entries.
    pub residual: f64,
    /// ||L||_* + lambda ||S||_1, which the method minimizes.
    pub objective: f64,
    /// ||L||_*, the sum of the singular values.
    pub nuclear_norm: f64,
    /// ||S||_1 over the observed entries, the sum of the moduli.
    pub one_norm: f64,
    /// Seconds of decompositions beyond the elementwise passes.
    pub seconds_svd: f64,
    /// Seconds of the elementwise passes, with the products that they carry along.
    pub seconds_elementwise: f64,
    /// Seconds of reading sources, of all contexts together.
    pub seconds_read: f64,
    /// Seconds from the call to its return.
    pub seconds: f64,
    /// Contexts that worked: fewer than were given where there are fewer blocks of rows, or where M or the mask lies in
    /// device memory.
    pub contexts: i64,
    /// Planned peak of host memory, bytes: on the CPU of a run whose low-rank part has few columns. A limit has to leave
    /// memory for as many columns as `max_rank` allows.
    pub host_bytes: i64,
    /// Planned peak of device memory, bytes, in the context that needs most, likewise.
    pub device_bytes: i64,
    /// Where the iterates are held, and why: in memory, or in a file or in host memory if it does not suffice; terminated.
    pub reason: [c_char; 128],
}

versioned!(purlin_rpca_info, first = std::mem::offset_of!(Self, contexts));
