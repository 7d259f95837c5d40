//! Products of sparse matrices with vectors and blocks of vectors.

use std::ffi::c_void;

use super::handle::{self, Exclusive, Shared};
use super::matrix::{input, output, purlin_matrix};
use super::options::{self, Struct as _};
use super::overlap::{self, ranges, stored};
use super::sparse::alive;
use super::sparse_measures::{PURLIN_ORDERING_NONE, optional_ordering};
use super::spmv_types::{purlin_spmv_info, purlin_spmv_options};
use super::tensor::{self, purlin_tensor};
use super::{guard, purlin_status, purlin_stream, stream};
use crate::choice::ToC as _;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::spmv::{Options, Plan};

/// A product with a sparse matrix that has been thought through: for every matrix of one structure, whatever its values.
/// Any number of calls may use it at once.
pub struct purlin_spmv {
    _private: [u8; 0],
}

fn shared(plan: *const purlin_spmv) -> Result<Shared<Plan>> {
    let plan = handle::shared::<Plan, _>("plan", plan)?;
    plan.context().check_alive()?;
    Ok(plan)
}

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
pub unsafe extern "C" fn purlin_spmv_options_init(options: *mut purlin_spmv_options, size: usize) -> purlin_status {
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
pub unsafe extern "C" fn purlin_spmv_info_init(info: *mut purlin_spmv_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

fn read_options(o: &purlin_spmv_options) -> Result<Options> {
    let mut options = Options { ordering: optional_ordering(o.ordering)?, ..Options::default() };
    o.read_into(&mut options)?;
    Ok(options)
}

impl purlin_spmv_info {
    fn of(plan: &Plan) -> Self {
        let options = plan.options();
        let mut made = Self::zeroed();
        made.set(plan.info());
        made.ordering = options.ordering.map_or(PURLIN_ORDERING_NONE, |how| how as i32);
        made.kind = options.kind.to_c();
        made.degree = options.degree.to_c();
        made
    }
}

/// Plans products with a sparse matrix, or with an operator that is made of it (`options->kind`): looks at the lengths
/// of its rows, O(rows), and where SWEEPS is asked for or chosen sorts its entries, O(nnz); arrays in host memory are
/// copied to a GPU, O(nnz); with TRANSPOSE or ADJOINT of one that is not symmetric also makes a copy of the transpose,
/// O(nnz), with an order one in that order, O(nnz log(longest row)), and with a kind of graphs takes the row sums,
/// O(nnz). On the CPU the plan keeps nothing else of the matrix; on a GPU it keeps the structure and values that are in
/// host memory. purlin_spmv_update renews the values that it keeps.
///
/// RANDOM_WALK_LAPLACIAN is the same of rows in any unit. Where a row's largest weight is beyond 2^256 or below 2^-256, in single
/// precision 2^32, the plan also keeps a copy whose rows are multiplied by powers of two. LAPLACIAN, SIGNLESS_LAPLACIAN and
/// MODULARITY need row sums whose double does not overflow.
///
/// A matrix that is known by its products alone forms them itself, where it does so, one call at a time: with vectors elsewhere
/// than there they are copied, and the call waits. Row sums, for kinds of graphs, that of an image knows.
///
/// @param      a        sparse; or an operator, by purlin_graph_operator_of_image or purlin_matrix_from_operator.
/// @param      options  NULL for the defaults. Of an operator `method` is AUTO, and there is no `ordering`.
/// @param[out] plan     the plan; destroy it with purlin_spmv_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, struct_size,
/// unknown constant, `symmetric`, `ordering`, `shift` or a kind of graphs of a rectangular matrix, `op` or `ordering`
/// of a kind that has none, for kinds of graphs an entry that is not finite, row sums below 0 of the normalized kinds
/// and not above 0 in total of the modularity, an interval of a filter that is none), `PURLIN_ERROR_NUMERICAL` (row
/// sums that overflow; of LAPLACIAN, SIGNLESS_LAPLACIAN and MODULARITY those whose double overflows, of
/// RANDOM_WALK_LAPLACIAN those whose inverse does), `PURLIN_ERROR_NOT_SUPPORTED` (another storage; of an operator a
/// method, an order, TRANSPOSE of complex numbers, a kind of graphs if it does not know its row sums),
/// `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` is NULL or initialized; `plan` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_spmv_create(
    a: *const purlin_matrix,
    options: *const purlin_spmv_options,
    plan: *mut *mut purlin_spmv,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("plan", plan) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let settings = read_options(&unsafe { options::read("options", options) }?)?;
        *target = handle::insert(Plan::new(a.context(), &a, settings)?)?;
        Ok(())
    })
}

/// Updates a plan to new values if it stores row sums or a copy of the matrix: transposed, reordered or rescaled, or
/// on a GPU that of values in host memory. O(nnz). Other plans read the matrix itself and need no update. CUDA graphs
/// of its products that were captured before must not be launched any more: memory that they read may be gone.
///
/// @param plan  the plan.
/// @param a     sparse, of the structure that was planned for.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (another number of rows,
/// columns or entries, another context, row sums as for purlin_spmv_create), `PURLIN_ERROR_NUMERICAL` (as there),
/// `PURLIN_ERROR_NOT_SUPPORTED` (another storage), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED` (row sums),
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn purlin_spmv_update(plan: *mut purlin_spmv, a: *const purlin_matrix) -> purlin_status {
    guard::run(|| {
        let mut plan: Exclusive<Plan> = handle::exclusive("plan", plan)?;
        plan.context().check_alive()?;
        let a = input("a", a)?;
        a.expect_context("a", plan.context())?;
        plan.update(&a)
    })
}

/// A factor of the matrix's type; `absent` for NULL.
///
/// # Safety
/// `factor` is NULL or points to an element of the type, not necessarily aligned.
unsafe fn factor(argument: &str, dtype: DType, factor: *const c_void, absent: f64) -> Result<Complex<f64>> {
    if factor.is_null() {
        return Ok(Complex::new(absent, 0.0));
    }
    with_scalar!(dtype, argument, T => {
        // SAFETY: not null; the caller promises an element of the type.
        let value = unsafe { factor.cast::<T>().read_unaligned() };
        Ok(Complex::new(value.re(), value.im()))
    })
}

/// y = alpha op(A) x + beta y, or with the operator of the plan's `kind` and `shift` in the place of op(A). With beta = 0 nothing
/// of y is read, with alpha = 0 nothing of A and x; rows without entries are written too. Reads 12 bytes an entry in F64 with 32-bit
/// indices, 4 of a pattern, and gathers x. O(nnz + rows).
///
/// Of the kinds LAPLACIAN, SIGNLESS_LAPLACIAN and RANDOM_WALK_LAPLACIAN a product takes the row sums along and nothing more, on a
/// GPU in one kernel; the other normalized ones scale x first, the modularity adds a product of vectors, GRAM, OUTER_GRAM and
/// AUGMENTED take two products.
///
/// Sums are of the element type; their order depends on the structure of A alone: equal calls give equal bits, whatever
/// the number of threads. |y_i - exact| <= 2 (length of row i + 2) eps (|alpha| |A| |x| + |beta| |y|)_i, if no product and no sum
/// on the way overflows or underflows, as in BLAS: alpha multiplies the sum of the row, and the terms of a kind are added to that.
///
/// With x and y on a device nothing waits, and a graph may capture the call. The graph works in memory of the plan, which must
/// outlive it; of two instances of one such graph only one may run at a time.
///
/// @param      plan    the plan.
/// @param      stream  NULL for the context's own. Outputs in host memory are complete on return.
/// @param[in]  alpha   a number of A's type; NULL for 1.
/// @param      a       the matrix that was planned for, or a sparse one of the same structure.
/// @param      x       columns of op(A), or of the operator, elements of A's type, without gaps.
/// @param[in]  beta    a number of A's type; NULL for 0.
/// @param      y       rows of the same, elements of A's type, without gaps; must not overlap x.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix of another
/// number of rows, columns or entries; sizes, types, overlap, read-only, another context), `PURLIN_ERROR_NOT_SUPPORTED` (strides, a device that
/// there are no products for), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_OUT_OF_MEMORY`, `PURLIN_ERROR_OUT_OF_DEVICE_MEMORY`,
/// `PURLIN_ERROR_CUDA`.
///
/// # Safety
/// `alpha` and `beta` are NULL or point to a number of A's element type.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_spmv_apply(
    plan: *const purlin_spmv,
    stream: *const purlin_stream,
    alpha: *const c_void,
    a: *const purlin_matrix,
    x: *const purlin_tensor,
    beta: *const c_void,
    y: *mut purlin_tensor,
) -> purlin_status {
    guard::run(|| {
        let plan = shared(plan)?;
        let stream = stream::get(stream)?;
        let a = input("a", a)?;
        a.expect_context("a", plan.context())?;
        // SAFETY: as promised above.
        let alpha = unsafe { factor("alpha", a.dtype(), alpha, 1.0) }?;
        // SAFETY: as promised above.
        let beta = unsafe { factor("beta", a.dtype(), beta, 0.0) }?;
        let x = tensor::input("x", x)?;
        let mut y = tensor::output("y", y)?;
        let inputs = [stored("a", &a), ranges(&[], &[("x", Some(&x))])].concat();
        overlap::check(&inputs, &ranges(&[], &[("y", Some(&y))]))?;
        plan.apply_on(stream.as_deref(), (alpha, beta), &a, &x, &mut y)
    })
}

/// Y = alpha op(A) X + beta Y for the columns of dense matrices. O((nnz + rows) b). Row-major ones without gaps are
/// read once for all of their columns, and the numbers that an entry of A multiplies are adjacent: the fast layout for
/// 2 to 16 columns. Column-major ones, of any leading dimension, take a product a column.
///
/// @param      plan    the plan.
/// @param      stream  NULL for the context's own. Outputs in host memory are complete on return.
/// @param[in]  alpha   a number of A's type; NULL for 1.
/// @param      a       the matrix that was planned for, or a sparse one of the same structure.
/// @param      x       dense, columns of op(A) x b, of A's type.
/// @param[in]  beta    a number of A's type; NULL for 0.
/// @param      y       dense, rows of op(A) x b, of A's type and X's order; must not overlap X.
/// @return as purlin_spmv_apply; `PURLIN_ERROR_NOT_SUPPORTED` also for different orders, or row-major with gaps.
///
/// # Safety
/// As for purlin_spmv_apply.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_spmv_apply_block(
    plan: *const purlin_spmv,
    stream: *const purlin_stream,
    alpha: *const c_void,
    a: *const purlin_matrix,
    x: *const purlin_matrix,
    beta: *const c_void,
    y: *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let plan = shared(plan)?;
        let stream = stream::get(stream)?;
        let a = input("a", a)?;
        a.expect_context("a", plan.context())?;
        // SAFETY: as promised above.
        let alpha = unsafe { factor("alpha", a.dtype(), alpha, 1.0) }?;
        // SAFETY: as promised above.
        let beta = unsafe { factor("beta", a.dtype(), beta, 0.0) }?;
        let x = input("x", x)?;
        let mut y = output("y", y)?;
        let inputs = [stored("a", &a), ranges(&[("x", Some(&x))], &[])].concat();
        overlap::check(&inputs, &ranges(&[("y", Some(&y))], &[]))?;
        plan.apply_block_on(stream.as_deref(), (alpha, beta), &a, &x, &mut y)
    })
}

/// Properties of a plan.
///
/// @param      plan  the plan.
/// @param[out] info  filled in; initialize it with purlin_spmv_info_init.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer,
/// struct_size).
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_spmv_properties(
    plan: *const purlin_spmv,
    info: *mut purlin_spmv_info,
) -> purlin_status {
    guard::run(|| {
        let plan = handle::shared::<Plan, _>("plan", plan)?;
        if info.is_null() {
            return Err(Error::invalid("info", "is NULL"));
        }
        // SAFETY: not null; the caller promises an initialized struct.
        unsafe { options::write("info", info, purlin_spmv_info::of(&plan)) }
    })
}

/// Destroys a plan.
///
/// @param plan  the plan; NULL does nothing.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`.
#[unsafe(no_mangle)]
pub extern "C" fn purlin_spmv_destroy(plan: *mut purlin_spmv) -> purlin_status {
    guard::run(|| handle::remove::<Plan, _>("plan", plan))
}
