//! Norms and other measures of sparse matrices, and the components of graphs.

use super::handle;
use super::matrix::purlin_matrix;
use super::overlap::{self, Range, stored};
use super::sparse::alive;
use super::tensor::{self, purlin_tensor};
use super::{guard, purlin_status};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::sparse::{self, Checks, Norm, Ordering};
use crate::scalar::DType;
use crate::shape::to_i64;
use crate::tensor::Tensor;

/// Largest sum of moduli of a row, of a sparse matrix.
pub const PURLIN_NORM_INFINITY: i32 = 3;

/// Rows and columns as they are.
pub const PURLIN_ORDERING_NONE: i32 = -1;
/// The vertices with the longest rows first, equal ones as they are.
pub const PURLIN_ORDERING_DEGREE: i32 = 0;
/// Reverse Cuthill-McKee: neighbours get near numbers (Cuthill and McKee, 1969; George and Liu, 1979).
pub const PURLIN_ORDERING_CUTHILL_MCKEE: i32 = 1;

/// The columns of every row ascend.
pub const PURLIN_CHECK_SORTED: i32 = 1;
/// No place is stored twice.
pub const PURLIN_CHECK_DISTINCT: i32 = 2;
/// Values are neither NaN nor infinite.
pub const PURLIN_CHECK_FINITE: i32 = 4;
/// All three checks together.
pub const PURLIN_CHECK_FULL: i32 = 7;

/// An order that an option may ask for.
pub(super) fn optional_ordering(code: i32) -> Result<Option<Ordering>> {
    if code == PURLIN_ORDERING_NONE {
        return Ok(None);
    }
    let known = Ordering::from_code("ordering", code).map(Some);
    known.map_err(|_| Error::invalid("ordering", format!("is {code}, outside -1 to 1")))
}

/// An order of the vertices of a graph that brings the entries together that a product gathers: row i of the reordered
/// matrix is row `order[i]` of `a`. purlin_matrix_permute makes that matrix with this list for rows and columns. By
/// degree O(rows log(rows)), for power-law graphs; by Cuthill-McKee O(nnz log(longest row)), for meshes.
///
/// @param a       sparse, square, on the host; one whose pattern is not symmetric is ordered by its rows alone.
/// @param method  PURLIN_ORDERING_DEGREE or PURLIN_ORDERING_CUTHILL_MCKEE.
/// @param order   n elements of PURLIN_I64 on the host: a permutation, from 0.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (unknown constant, a matrix
/// that is not square, another size or type of `order`, an order in the memory of `a`), `PURLIN_ERROR_NOT_SUPPORTED`
/// (another storage),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (Cuthill-McKee), `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure `order`
/// is as before.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_order(
    a: *const purlin_matrix,
    method: i32,
    order: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        let method = Ordering::from_code("method", method)?;
        let mut order = tensor::output("order", order)?;
        order.expect_context("order", a.context())?;
        order.expect_dims("order", &[a.rows()])?;
        order.expect_dtype("order", DType::I64)?;
        overlap::check(&stored("a", &a), &[Range::of("order", &order)])?;
        let found = sparse::order(&a, method)?;
        order.view_mut::<i64>("order")?.write_column(&[], &found);
        Ok(())
    })
}

/// A norm of a sparse matrix, in double precision; entries at one place are added. NaN if an entry is.
/// O(nnz).
///
/// @param      a     sparse, on the host.
/// @param      kind  PURLIN_NORM_FROBENIUS, PURLIN_NORM_ONE, PURLIN_NORM_MAX or PURLIN_NORM_INFINITY.
/// @param[out] norm  the norm.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, unknown
/// constant), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_CANCELLED`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `norm` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_norm(a: *const purlin_matrix, kind: i32, norm: *mut f64) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        let kind = Norm::from_code("kind", kind)?;
        // SAFETY: the caller promises NULL or a place for the number.
        let target = unsafe { super::pointer::output("norm", norm) }?;
        *target = sparse::norm(&a, kind)?;
        Ok(())
    })
}

/// Whether a sparse matrix is symmetric (Hermitian if complex): entries at the same places on both sides of the diagonal,
/// their values within `tolerance` times the largest modulus. Several entries at one place are added. O(nnz).
///
/// @param      a          sparse, on the host; a rectangular one is not symmetric.
/// @param      tolerance  not negative.
/// @param[out] symmetric  1 or 0.
/// @return as purlin_matrix_norm; `PURLIN_ERROR_INVALID_ARGUMENT` also for a tolerance below 0 or NaN.
///
/// # Safety
/// `symmetric` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_matrix_is_symmetric(
    a: *const purlin_matrix,
    tolerance: f64,
    symmetric: *mut i32,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        // SAFETY: the caller promises NULL or a place for the answer.
        let target = unsafe { super::pointer::output("symmetric", symmetric) }?;
        *target = i32::from(sparse::is_symmetric(&a, tolerance)?);
        Ok(())
    })
}

/// Reads a sparse matrix and refuses it if it is not as asked for, naming row, column and entry of the first that is not. Offsets
/// and columns were checked when the matrix was made; nothing else need hold for products, while Matrix Market files, solvers of
/// others and whoever looks for NaN may ask for more. O(nnz).
///
/// @param a       sparse; on the host where values are checked.
/// @param checks  PURLIN_CHECK_SORTED, PURLIN_CHECK_DISTINCT and PURLIN_CHECK_FINITE, added; PURLIN_CHECK_FULL for all. Of
///                symmetry see purlin_matrix_is_symmetric.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix that is not as
/// asked for, unknown flags), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, values on a device),
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_check(a: *const purlin_matrix, checks: i32) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        if checks & !PURLIN_CHECK_FULL != 0 {
            return Err(Error::invalid("checks", format!("is {checks}, flags of up to {PURLIN_CHECK_FULL} are known")));
        }
        let has = |flag: i32| checks & flag != 0;
        let checks = Checks {
            sorted: has(PURLIN_CHECK_SORTED),
            distinct: has(PURLIN_CHECK_DISTINCT),
            finite: has(PURLIN_CHECK_FINITE),
        };
        sparse::check(&a, checks)
    })
}

fn vector(
    a: *const purlin_matrix,
    argument: &'static str,
    out: *mut purlin_tensor,
    of: impl FnOnce(&Matrix) -> Result<Vec<crate::scalar::Complex<f64>>>,
) -> Result<()> {
    let a = alive("a", a)?;
    let mut out = tensor::output(argument, out)?;
    out.expect_context(argument, a.context())?;
    out.expect_dtype(argument, a.dtype())?;
    let numbers = of(&a)?;
    out.set_numbers(argument, &[numbers.len()], &numbers)
}

/// Sums of the rows of a sparse matrix: the degrees of a graph, a loop counted once. Summed in double precision. O(nnz).
///
/// @param a     sparse, on the host.
/// @param sums  as many elements as there are rows, of the matrix's type, on the host.
/// @return as purlin_matrix_norm; `PURLIN_ERROR_INVALID_ARGUMENT` also for another size or type of `sums`,
/// `PURLIN_ERROR_BUSY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_row_sums(a: *const purlin_matrix, sums: *mut purlin_tensor) -> purlin_status {
    guard::run(|| vector(a, "sums", sums, sparse::row_sums))
}

/// The diagonal of a sparse matrix; entries at one place are added. O(nnz).
///
/// @param a         sparse, on the host.
/// @param diagonal  min(rows, cols) elements of the matrix's type, on the host.
/// @return as purlin_matrix_row_sums.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_matrix_diagonal(a: *const purlin_matrix, diagonal: *mut purlin_tensor) -> purlin_status {
    guard::run(|| vector(a, "diagonal", diagonal, sparse::diagonal))
}

/// The connected components of a graph whose edges are the stored entries of a square matrix, whatever their direction
/// and value. Components are numbered by their lowest vertices. O(n + nnz), but for the inverse of Ackermann's function.
///
/// @param      graph   sparse, square, on the host.
/// @param      labels  n elements of PURLIN_I64 on the host, the component of each vertex; NULL if not wanted.
/// @param[out] count   number of components; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix that is not
/// square, another size or type of `labels`, labels in the memory of `graph`), `PURLIN_ERROR_NOT_SUPPORTED` (another
/// storage), `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `count` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_components(
    graph: *const purlin_matrix,
    labels: *mut purlin_tensor,
    count: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let graph = alive("graph", graph)?;
        let mut labels = tensor::output_or_null("labels", labels)?;
        // SAFETY: the caller promises NULL or a place for the number.
        let count = unsafe { super::pointer::output_or_null("count", count) }?;
        if let Some(labels) = &mut labels {
            labels.expect_context("labels", graph.context())?;
            labels.expect_dims("labels", &[graph.rows()])?;
            labels.view_mut::<i64>("labels")?;
            overlap::check(&stored("graph", &graph), &[Range::of("labels", labels)])?;
        }
        let found = sparse::components(&graph).map_err(|e| e.renamed("a", "graph"))?;
        if let Some(labels) = &mut labels {
            labels.set_indices("labels", &found.labels)?;
        }
        if let Some(count) = count {
            *count = to_i64(found.sizes.len());
        }
        Ok(())
    })
}

/// One connected component of a graph as a graph of its own. O(n + nnz log(longest row)).
///
/// @param      graph      sparse, square, on the host.
/// @param      which      the component, as purlin_graph_components numbers them; -1 for the largest.
/// @param[out] component  the graph of the component; destroy it with purlin_matrix_destroy.
/// @param[out] vertices   tensor of PURLIN_I64 with the vertices of `graph` that it has, ascending; destroy it with
///                        purlin_tensor_destroy; NULL if not wanted.
/// @return as purlin_graph_components; `PURLIN_ERROR_INVALID_ARGUMENT` also for a component that there is not.
///
/// # Safety
/// `component` and `vertices` are NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_component(
    graph: *const purlin_matrix,
    which: i64,
    component: *mut *mut purlin_matrix,
    vertices: *mut *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let graph = alive("graph", graph)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("component", component) }?;
        // SAFETY: likewise.
        let place = unsafe { super::pointer::output_or_null("vertices", vertices) }?;
        if which < -1 {
            return Err(Error::invalid("which", format!("is {which}, a component or -1 for the largest is needed")));
        }
        let which = (which != -1).then_some(which);
        let (part, names) = sparse::component(graph.context(), &graph, which).map_err(|e| e.renamed("a", "graph"))?;
        let names = Tensor::from_list(graph.context(), &names)?;
        put_with_list(target, part, place, Some(names))
    })
}

/// Enters a matrix and, where it is wanted, a list at the caller's places; both or none.
pub(super) fn put_with_list(
    target: &mut *mut purlin_matrix,
    matrix: Matrix,
    place: Option<&mut *mut purlin_tensor>,
    list: Option<Tensor>,
) -> Result<()> {
    let made = handle::insert(matrix)?;
    if let (Some(list), Some(place)) = (list, place) {
        match tensor::insert(list) {
            Ok(handle) => *place = handle,
            Err(e) => {
                handle::remove::<Matrix, _>("matrix", made)?;
                return Err(e);
            }
        }
    }
    *target = made;
    Ok(())
}
