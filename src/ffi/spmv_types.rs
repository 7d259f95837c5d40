//! Constants and structs of products of sparse matrices.

use std::ffi::c_char;

use super::options::versioned;
use super::sparse_measures::PURLIN_ORDERING_NONE;

/// Chosen by the lengths of the rows.
pub const PURLIN_SPMV_METHOD_AUTO: i32 = 0;
/// A row a thread, summed in order.
pub const PURLIN_SPMV_METHOD_SCALAR: i32 = 1;
/// A row a vector (on a GPU a warp).
pub const PURLIN_SPMV_METHOD_VECTOR: i32 = 2;
/// A row a group of G lanes, G the smallest power of two not below the mean length (Lin and Liu, 2015).
pub const PURLIN_SPMV_METHOD_ROW_GROUP: i32 = 3;
/// Rows of like length together.
pub const PURLIN_SPMV_METHOD_ROW_BIN: i32 = 4;
/// Shares of as many rows and entries together (Merrill and Garland, SC16): no row is too long.
pub const PURLIN_SPMV_METHOD_MERGE: i32 = 5;
/// Shares of as many entries.
pub const PURLIN_SPMV_METHOD_ENTRY_SPLIT: i32 = 6;
/// Products by columns, then sums by rows; in contexts on a GPU alone.
pub const PURLIN_SPMV_METHOD_SWEEPS: i32 = 7;

/// Products with A itself: x has a number for each column of A.
pub const PURLIN_SPMV_PLAIN: i32 = 0;
/// Products with A^T: x has a number for each row of A.
pub const PURLIN_SPMV_TRANSPOSE: i32 = 1;
/// Products with A^H: x has a number for each row of A.
pub const PURLIN_SPMV_ADJOINT: i32 = 2;

/// How a product is planned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_spmv_options {
    /// Size of the caller's struct; set by purlin_spmv_options_init.
    pub struct_size: usize,
    /// How rows are distributed over threads, one of PURLIN_SPMV_METHOD_*; default AUTO. All give the same products but
    /// for rounding.
    pub method: i32,
    /// Whether products are with the matrix, its transpose or its adjoint: PURLIN_SPMV_PLAIN, the default, TRANSPOSE or
    /// ADJOINT. The latter two keep a copy of the transpose, so that they
    /// are as fast and as reproducible as the first.
    pub op: i32,
    /// 1: the caller's word that A = A^T (with ADJOINT A = A^H), so that no copy is needed; default 0.
    pub symmetric: i32,
    /// Must be 0: kept for later fields.
    pub reserved: i32,
    /// Order of rows and columns in which the plan keeps a copy of a square A, so that products gather from fewer
    /// places, while x and y go into it and back in each product: PURLIN_ORDERING_NONE, the default, DEGREE or
    /// CUTHILL_MCKEE.
    pub ordering: i32,
    /// Operator made of the matrix, which is never formed: PURLIN_LANCZOS_MATRIX, the default, to
    /// PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN, as for purlin_lanczos_solve. The matrix need not be symmetric; row sums
    /// are those of A, real parts if it is complex, also where `op` is TRANSPOSE or ADJOINT. GRAM, OUTER_GRAM and
    /// AUGMENTED keep a copy of the adjoint and take neither `op` nor `ordering`.
    pub kind: i32,
    /// Number that is added to the operator's diagonal; default 0.
    pub shift: f64,
    /// Degree d of a filter, at most 20000; 0, the default, for none: with one products are with T_d((2 Op - (lower +
    /// upper) I) / (upper - lower)) in the place of the operator Op that the options above make, d products each. T_d
    /// is Chebyshev's polynomial: within 1 where Op's spectrum is between `lower` and `upper`, and large beyond. Of
    /// square operators.
    pub degree: i64,
    /// Where the filter's interval begins, finite; 0 without a filter.
    pub lower: f64,
    /// Where the filter's interval ends, finite and above `lower`; 0 without a filter.
    pub upper: f64,
}

versioned!(
    purlin_spmv_options,
    first = std::mem::offset_of!(Self, ordering),
    of = crate::spmv::Options;
    ordering: PURLIN_ORDERING_NONE
);

/// Properties of a plan: its method and the statistics of the rows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_spmv_info {
    /// Size of the caller's struct; set by purlin_spmv_info_init.
    pub struct_size: usize,
    /// Method that the plan uses.
    pub method: i32,
    /// Always 0: kept for later fields.
    pub reserved: i32,
    /// Lanes that share a row of ROW_GROUP.
    pub row_lanes: i64,
    /// Rows of the matrix or operator.
    pub rows: i64,
    /// Stored entries, explicit zeros included.
    pub nnz: i64,
    /// Entries of the longest row.
    pub longest: i64,
    /// Rows without a stored entry.
    pub empty: i64,
    /// Mean length of a row.
    pub mean: f64,
    /// Standard deviation of the lengths.
    pub deviation: f64,
    /// Rows of up to 32 entries, as a share of all.
    pub short_rows: f64,
    /// Entries in rows longer than 32, as a share of all.
    pub beyond_32: f64,
    /// Entries in rows longer than 1024, as a share of all.
    pub beyond_1024: f64,
    /// Shares that the work is cut into, whatever the number of threads.
    pub tiles: i64,
    /// Bytes that the plan holds.
    pub bytes: i64,
    /// Seconds that it took to plan.
    pub seconds: f64,
    /// Why this method, in words.
    pub reason: [c_char; 128],
    /// PURLIN_ORDERING_* of the copy that the plan keeps; NONE without one.
    pub ordering: i32,
    /// Operator made of the matrix: PURLIN_LANCZOS_MATRIX to PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN.
    pub kind: i32,
    /// Degree of the filter; 0 without one.
    pub degree: i64,
}

versioned!(purlin_spmv_info, first = std::mem::offset_of!(Self, ordering));
