//! Constants and structs of eigenvalues by Lanczos' method.

use std::ffi::{c_char, c_void};

use super::callback::purlin_progress_fn;
use super::group::purlin_group;
use super::options::versioned;
use super::sparse_measures::PURLIN_ORDERING_NONE;

/// The largest, in descending order.
pub const PURLIN_LANCZOS_LARGEST: i32 = 0;
/// The smallest, in ascending order.
pub const PURLIN_LANCZOS_SMALLEST: i32 = 1;
/// Those of largest modulus, in descending order of that.
pub const PURLIN_LANCZOS_LARGEST_MAGNITUDE: i32 = 2;
/// Half from the top, the odd one with them, and half from the bottom; in descending order.
pub const PURLIN_LANCZOS_BOTH_ENDS: i32 = 3;
/// Those nearest `sigma`, the nearest first: with the caller's solve, or else by a filter.
pub const PURLIN_LANCZOS_NEAREST: i32 = 4;

/// A itself.
pub const PURLIN_LANCZOS_MATRIX: i32 = 0;
/// The Laplacian D - W, W being A and D the diagonal of its row sums.
pub const PURLIN_LANCZOS_LAPLACIAN: i32 = 1;
/// The normalized Laplacian I - D^-1/2 W D^-1/2, 0 for isolated vertices, so that 0 comes once a component. A vertex
/// counts as isolated if its row sum is 0, even where weights of both signs cancel: D^-1/2 is a pseudo-inverse, here
/// and in the kinds below.
pub const PURLIN_LANCZOS_NORMALIZED_LAPLACIAN: i32 = 2;
/// The signless Laplacian D + W.
pub const PURLIN_LANCZOS_SIGNLESS_LAPLACIAN: i32 = 3;
/// D^-1/2 W D^-1/2, whose largest eigenvalues are 1 less the smallest of the normalized Laplacian, but for isolated
/// vertices: each has a 0 of both.
pub const PURLIN_LANCZOS_NORMALIZED_ADJACENCY: i32 = 4;
/// The modularity matrix W - d d^T / sum(d) (Newman, PNAS 103, 2006).
pub const PURLIN_LANCZOS_MODULARITY: i32 = 5;
/// A^H A, of order cols: the squares of the singular values.
pub const PURLIN_LANCZOS_GRAM: i32 = 6;
/// A A^H, of order rows.
pub const PURLIN_LANCZOS_OUTER_GRAM: i32 = 7;
/// [0 A; A^H 0], of order rows + cols: the singular values, and their negatives.
pub const PURLIN_LANCZOS_AUGMENTED: i32 = 8;
/// The random-walk Laplacian I - D^-1 W, 0 for isolated vertices: of products (purlin_spmv_create), not of eigenpairs,
/// since it is not symmetric. PURLIN_LANCZOS_NORMALIZED_LAPLACIAN has its eigenvalues.
pub const PURLIN_LANCZOS_RANDOM_WALK_LAPLACIAN: i32 = 9;

/// Thick-restart Lanczos with full reorthogonalization.
pub const PURLIN_LANCZOS_METHOD_RESTART: i32 = 0;
/// The three-term recurrence, `basis` steps of it, with the test of Cullum and Willoughby; eigenvectors by running it
/// again. Three vectors of memory beside those returned; sees one copy of each eigenvalue.
pub const PURLIN_LANCZOS_METHOD_PLAIN: i32 = 1;

/// Vectors of the space are made orthogonal each to all before it, twice.
pub const PURLIN_LANCZOS_ORTHOGONALIZATION_FULL: i32 = 0;
/// To the root of the unit roundoff, when an estimate of it says so (Simon, Math. Comp. 42, 1984).
pub const PURLIN_LANCZOS_ORTHOGONALIZATION_PARTIAL: i32 = 1;

/// The operator itself is iterated with.
pub const PURLIN_LANCZOS_FILTER_OFF: i32 = 0;
/// A Chebyshev polynomial of it, which separates the wanted eigenvalues from the others: one end of the spectrum (Zhou
/// and Saad, SIAM J. Matrix Anal. Appl. 29, 2007), or an interval about `sigma` (Li, Xi, Erlandson and Saad, SIAM J.
/// Sci. Comput. 41, 2019). `degree` products a step.
pub const PURLIN_LANCZOS_FILTER_CHEBYSHEV: i32 = 1;

/// Once all pairs have converged, a test with a random vector shows whether a copy of a wanted eigenvalue may be
/// missing, with a chance of one in a million to miss one. Where one may, a search from new vectors finds those that
/// are.
pub const PURLIN_LANCZOS_VERIFY_AUTO: i32 = 0;
/// The search for copies is made without the test: 30 to 90 products more where nothing is missing.
pub const PURLIN_LANCZOS_VERIFY_ON: i32 = 1;
/// Neither: multiple eigenvalues may come with too few copies, and `verified` of the info is 0.
pub const PURLIN_LANCZOS_VERIFY_OFF: i32 = 2;

/// Every pair that was asked for has converged.
pub const PURLIN_LANCZOS_CONVERGED: i32 = 0;
/// The restarts, or the steps of the plain recurrence, are used up.
pub const PURLIN_LANCZOS_RESTARTS: i32 = 1;
/// The Krylov space is the whole space: the pairs are exact.
pub const PURLIN_LANCZOS_EXHAUSTED: i32 = 2;
/// The iteration had converged, but residuals or inner products computed from the vectors returned contradict it:
/// products differ from call to call, or the caller's solve is less accurate than the tolerance.
pub const PURLIN_LANCZOS_CONTRADICTED: i32 = 3;

/// Which eigenpairs of which operator are computed, and how.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_lanczos_options {
    /// Size of the caller's struct; set by purlin_lanczos_options_init.
    pub struct_size: usize,
    /// How many eigenpairs k, 1 to n less the known vectors; default 6.
    pub count: i64,
    /// Eigenvalues that are wanted: PURLIN_LANCZOS_LARGEST, the default, SMALLEST, LARGEST_MAGNITUDE, BOTH_ENDS or
    /// NEAREST.
    pub which: i32,
    /// Operator made of the matrix: PURLIN_LANCZOS_MATRIX, the default, to PURLIN_LANCZOS_AUGMENTED. None is formed.
    pub kind: i32,
    /// Number that is added to the operator's diagonal; default 0.
    pub shift: f64,
    /// Where eigenvalues are looked for, with NEAREST; refused without. Default 0.
    pub sigma: f64,
    /// A pair has converged when its residual is estimated to be at most this times its eigenvalue's modulus, or a few
    /// eps ||A|| where that is more: next to 0 no residual could be as small; less than 1; 0, the default, for 1e-10 in
    /// double and 1e-5 in single precision.
    pub tolerance: f64,
    /// Vectors of the Krylov space m, more than k; at least k + 3 are taken. 0, the default, for the whole space up to
    /// n = max(64, 3k), which filters take whatever m is, and beyond for min(n, max(2k + 10, 30)). Of METHOD_PLAIN the
    /// steps; 0 for min(n, max(10k, 100)).
    pub basis: i64,
    /// Most restarts; 0, the default, for max(300, 10 n / m). A limit: a space that is the whole one needs none.
    pub restarts: i64,
    /// Seed of the start vector, which depends on it alone: default 0.
    pub seed: u64,
    /// Whether copies of multiple eigenvalues are looked for: PURLIN_LANCZOS_VERIFY_AUTO, the default, ON or OFF.
    pub verify: i32,
    /// Recurrence that finds the eigenpairs: PURLIN_LANCZOS_METHOD_RESTART, the default, or PLAIN.
    pub method: i32,
    /// Vectors that the operator is applied to at once, 1 to 16: a block of b holds b copies of a multiple eigenvalue;
    /// default 1.
    pub block: i64,
    /// How far vectors of the space are kept orthogonal: PURLIN_LANCZOS_ORTHOGONALIZATION_FULL, the default, or
    /// PARTIAL.
    pub orthogonalization: i32,
    /// Polynomial of the operator that is iterated with: PURLIN_LANCZOS_FILTER_OFF, the default, or CHEBYSHEV.
    pub filter: i32,
    /// Degree of the filter; 0, the default, for one that the spectrum asks for. Refused without a filter.
    pub degree: i64,
    /// Takes the progress: pairs that have converged, k, and the largest residual of those wanted, of the operator that
    /// is iterated with (a filter's polynomial, the inverse by `solve`), infinite while none is known; NULL for none.
    pub progress: purlin_progress_fn,
    /// Passed to `progress` as its last argument, not dereferenced; default NULL.
    pub progress_user: *mut c_void,
    /// Order of rows and columns in which a copy of the matrix is iterated with, so that products gather from fewer
    /// places, while start, known and found vectors are in the matrix's own: PURLIN_ORDERING_NONE, the default, DEGREE
    /// or CUTHILL_MCKEE. Of sparse matrices, with MATRIX to MODULARITY, in purlin_lanczos_solve and
    /// purlin_lanczos_tridiagonalize. The copy stays with the matrix for later calls.
    pub ordering: i32,
    /// 1: products with two random vectors u and v are to show that the operator is symmetric, |u.(A v) - v.(A u)| <=
    /// 100 eps (|u| |A v| + |v| |A u|), as for one that a function of the caller's is; default 0.
    pub check_symmetry: i32,
    /// Contexts that the rows of a sparse matrix are distributed over; begins with the matrix's context. Those on the
    /// CPU take turns. Used by purlin_lanczos_solve and the functions of graphs that solve, with PURLIN_LANCZOS_MATRIX
    /// to MODULARITY and no ordering. The contexts and the parts of the matrix, copies of its rows, stay with a matrix
    /// that keeps its values, for later calls. Default NULL: the matrix's context alone.
    pub group: *const purlin_group,
}

versioned!(
    purlin_lanczos_options,
    first = std::mem::offset_of!(Self, ordering),
    of = crate::lanczos::session::Problem;
    ordering: PURLIN_ORDERING_NONE
);

/// Report of a solve, or of a plan.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_lanczos_info {
    /// Size of the caller's struct; set by purlin_lanczos_info_init.
    pub struct_size: usize,
    /// Why it ended: PURLIN_LANCZOS_CONVERGED, RESTARTS, EXHAUSTED or CONTRADICTED.
    pub stop_reason: i32,
    /// Always 0: kept for later fields.
    pub reserved: i32,
    /// Times that the space was invariant and a new vector had to be found.
    pub breakdowns: i64,
    /// Pairs returned, converged or not.
    pub count: i64,
    /// Pairs that have converged, the first of those returned.
    pub converged: i64,
    /// Products with the operator, or with the caller's solve, and those that test an adjoint, a norm far above the values,
    /// and, where not all pairs converge, known vectors and a solve; those of the residuals are not counted.
    pub products: i64,
    /// Restarts of the solve and of its searches for copies. The limit of the options holds for each of these, so that it
    /// may be more.
    pub restarts: i64,
    /// Eigenvalues that the check for copies found.
    pub recovered: i64,
    /// Vectors of the Krylov space.
    pub basis: i64,
    /// Degree of the filter; 0 without one.
    pub degree: i64,
    /// Largest norm of A v met, an estimate of the norm of A from below; or that of the diagonal, the shift and other
    /// terms that are added to the matrix, if it is more: rounding errors are relative to it.
    pub norm: f64,
    /// Seconds from the beginning of the solve to its end; 0 in a plan.
    pub seconds: f64,
    /// Contexts that had rows, of several; 0 of a single one, as the five numbers that follow are. A plan has them of a
    /// single one too.
    pub contexts: i64,
    /// Most rows of one of them.
    pub part_rows: i64,
    /// Most entries of one of them.
    pub part_entries: i64,
    /// Numbers that go from one to another in a product with the matrix, all together.
    pub halo: i64,
    /// Bytes of the numbers of `halo`.
    pub halo_bytes: i64,
    /// Most bytes that one of them reads and writes in a product with the matrix, if all that is gathered is read once.
    pub product_bytes: i64,
    /// 1 if a test or a search has shown that no copy of a wanted eigenvalue is missing; 0 if that is not verified:
    /// `verify` is off, the method is plain, pairs have not converged, or neither test nor search came to an end.
    pub verified: i32,
    /// PURLIN_LANCZOS_METHOD_RESTART or PLAIN.
    pub method: i32,
    /// Largest ||A x - lambda x||_2 of the converged pairs, computed from the vectors returned.
    pub residual: f64,
    /// Largest |x_i . x_j - delta_ij| of the vectors returned.
    pub orthogonality: f64,
    /// Planned peak of host memory, bytes: vectors of the space and workspace on the CPU, copies of the matrix, projected
    /// problems, and vectors that are returned there.
    pub host_bytes: i64,
    /// Planned peak of device memory of all contexts, bytes: vectors of the space, workspace, and the copy of the matrix that
    /// stays on the device, unless it is there already.
    pub device_bytes: i64,
    /// Why this method and space: one line of text.
    pub reason: [c_char; 128],
}

versioned!(purlin_lanczos_info, first = std::mem::offset_of!(Self, contexts));

/// A value that passed the test of Cullum and Willoughby.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_lanczos_accepted {
    /// Eigenvalue of the tridiagonal matrix.
    pub value: f64,
    /// Estimate of its residual, from the last component of its eigenvector.
    pub residual: f64,
    /// Copies of it among the eigenvalues of the tridiagonal matrix, which say nothing of its multiplicity.
    pub copies: i64,
}
