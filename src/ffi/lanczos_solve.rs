//! The eigensolver: eigenpairs, by an object or by one call.

use super::handle::{Exclusive, Shared};
use super::lanczos::{LanczosObject, purlin_lanczos};
use super::lanczos_convert::{session_of, write_and_check};
use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::matrix::{self, input_or_null, purlin_matrix};
use super::overlap::{self, ranges, stored};
use super::sparse::alive;
use super::tensor::{self, purlin_tensor};
use super::{callback, context, guard, options, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::Result;
use crate::lanczos::Info;
use crate::lanczos::outputs::Outputs;
use crate::lanczos::session::{Inputs, Lanczos};
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::tensor::Tensor;

/// The locked arguments of a solve beside the matrix.
struct Arguments {
    start: Option<Shared<Tensor>>,
    known: Option<Shared<Matrix>>,
    solve: Option<Shared<Matrix>>,
    values: Exclusive<Tensor>,
    vectors: Option<Exclusive<Matrix>>,
    residuals: Option<Exclusive<Tensor>>,
}

impl Arguments {
    fn lock(
        (start, known, solve): (*const purlin_tensor, *const purlin_matrix, *const purlin_matrix),
        (values, vectors, residuals): (*mut purlin_tensor, *mut purlin_matrix, *mut purlin_tensor),
    ) -> Result<Self> {
        Ok(Self {
            start: tensor::input_or_null("start", start)?,
            known: input_or_null("known", known)?,
            solve: input_or_null("solve", solve)?,
            values: tensor::output("values", values)?,
            vectors: matrix::output_or_null("vectors", vectors)?,
            residuals: tensor::output_or_null("residuals", residuals)?,
        })
    }

    fn check_overlap(&self, a: &Matrix) -> Result<()> {
        let outputs = ranges(
            &[("vectors", self.vectors.as_deref())],
            &[("values", Some(&self.values)), ("residuals", self.residuals.as_deref())],
        );
        let given = ranges(&[("known", self.known.as_deref())], &[("start", self.start.as_deref())]);
        overlap::check(&[stored("a", a), given].concat(), &outputs)
    }

    fn run(&mut self, lanczos: &Lanczos, a: &Matrix, report: Option<&ProgressFn<'_>>) -> Result<Info> {
        let inputs =
            Inputs { start: self.start.as_deref(), known: self.known.as_deref(), solve: self.solve.as_deref() };
        let outputs = Outputs {
            values: &mut self.values,
            vectors: self.vectors.as_deref_mut(),
            residuals: self.residuals.as_deref_mut(),
        };
        lanczos.solve(a, inputs, outputs, report)
    }
}

/// Computes k eigenpairs of a symmetric or Hermitian matrix, of a Laplacian of a graph, or of another operator that is
/// never formed (`options->kind`).
///
/// Thick-restart Lanczos with full reorthogonalization (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 2000), which finds
/// the same pairs as ARPACK with about as many products: n (m + k + 1) numbers of memory, 6 n m^2 operations of
/// orthogonalization a restart. A test shows whether copies of multiple eigenvalues are missing, which a Krylov space
/// of one vector cannot hold, and a search finds them (`options->verify`). Residuals and inner products are computed
/// from the vectors returned, and a pair for which they contradict the iteration counts as not converged. A sparse
/// matrix is checked to be symmetric, O(nnz); one with values on the device by two products with random vectors.
///
/// On a GPU the plan of the products stays with the matrix for the next call. Of matrices by purlin_matrix_copy_csr and
/// purlin_matrix_borrow_csr_device, and of patterns, later calls then do nothing on the host that grows with the
/// entries. Vectors that stay on the device save their way to the host.
///
/// With several contexts (`options->group`) each has some rows, and takes the others' numbers that it needs for a product,
/// `info->halo` of them in all; device outputs belong to the matrix's context.
///
/// The same build, input and options give the same bits, whatever the number of threads; other numbers of contexts give
/// other roundings.
///
/// @param      lanczos    the solver.
/// @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      a          sparse (with PURLIN_LANCZOS_MATRIX, GRAM, OUTER_GRAM and AUGMENTED also an operator of the
///                        caller's, see purlin_matrix_from_operator), or with MATRIX to MODULARITY a graph by
///                        purlin_graph_operator_of_image; neither NaN nor infinite; W of the graph operators
///                        is real. Row sums of the normalized kinds are not negative, and their sum is above 0 for the
///                        modularity; other kinds take any.
/// @param      start      n elements of a's type, the start vector; NULL for a random one.
/// @param      known      dense, n x j, of a's type: vectors to keep out of the space, independent, which need not be
///                        orthonormal: eigenvectors that are known, or other vectors of their span. Residuals are no
///                        smaller than these leave them. Where not all pairs converge, one product with each shows by
///                        how much it leaves the span: by more than 1e-3 ||A|| it is refused. NULL for none.
/// @param      solve      with PURLIN_LANCZOS_NEAREST: an operator of the caller's that solves (A - sigma I) x = b; NULL
///                        for none. Where not all pairs converge or a number is not finite, it is tested with one b.
/// @param      values     k elements of PURLIN_F64 on the host: eigenvalues in the order that `which` says.
/// @param      vectors    dense, n x k, of a's type, any order on the host, column-major on the device of a context on a
///                        GPU, where they then stay: eigenvectors of 2-norm 1, the entry of largest modulus of each real
///                        and positive; NULL if not wanted.
/// @param      residuals  k elements of PURLIN_F64 on the host: ||A x - lambda x||_2, from the vectors returned; NULL if
///                        not wanted.
/// @param[out] info       report of the call; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix that is not
/// square or not symmetric, or has an entry that is not finite, row sums as for purlin_spmv_create, options that the
/// matrix is too small for, sizes, types, overlap, another context; vectors that are 0, not finite or dependent; known
/// vectors that are no eigenvectors and a solve that does not invert, if pairs have not converged),
/// `PURLIN_ERROR_NO_CONVERGENCE` (`info->count` pairs are in the outputs, the first `info->converged` of them good; the
/// rest of the outputs is unchanged), `PURLIN_ERROR_NOT_SUPPORTED` (storage, an option that there is not for it),
/// `PURLIN_ERROR_NUMERICAL` (products that are not finite, an operator's norm above 1.3e154, in single precision
/// 3.4e38, row sums as for purlin_spmv_create, residuals that show that the operator is not symmetric),
/// `PURLIN_ERROR_IO` (the caller's function reported an error), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`. After a failure the object is ready for another call.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_solve(
    lanczos: *mut purlin_lanczos,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    start: *const purlin_tensor,
    known: *const purlin_matrix,
    solve: *const purlin_matrix,
    values: *mut purlin_tensor,
    vectors: *mut purlin_matrix,
    residuals: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let (object, lanczos) = LanczosObject::exclusive(lanczos)?;
        let _stream = stream::before(lanczos.context(), stream)?;
        let a = alive("a", a)?;
        let mut arguments = Arguments::lock((start, known, solve), (values, vectors, residuals))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        arguments.check_overlap(&a)?;
        let found = object.run(|report| arguments.run(&lanczos, &a, report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_and_check(info, &found, lanczos.problem().options.count) }
    })
}

/// Makes one purlin_lanczos_solve with options of its own.
///
/// @param      context    the context of the matrix and the outputs; `options->group` has more.
/// @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      a          as for purlin_lanczos_solve.
/// @param      start      n elements of a's type, the start vector; NULL for a random one.
/// @param      known      as for purlin_lanczos_solve; NULL for none.
/// @param      solve      as for purlin_lanczos_solve; NULL for none.
/// @param      options    NULL for the defaults: the 6 largest eigenvalues of `a`.
/// @param      values     k elements of PURLIN_F64 on the host: eigenvalues.
/// @param      vectors    dense, n x k, as for purlin_lanczos_solve; NULL if not wanted.
/// @param      residuals  k elements of PURLIN_F64 on the host; NULL if not wanted.
/// @param[out] info       report of the call; may be NULL.
/// @return as purlin_lanczos_create and purlin_lanczos_solve.
///
/// # Safety
/// `options` and `info` are NULL or initialized structs; `options->progress` may be called with its user pointer during the
/// call.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_solve_once(
    context: *const purlin_context,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    start: *const purlin_tensor,
    known: *const purlin_matrix,
    solve: *const purlin_matrix,
    options: *const purlin_lanczos_options,
    values: *mut purlin_tensor,
    vectors: *mut purlin_matrix,
    residuals: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let _stream = stream::before(&context, stream)?;
        let a = alive("a", a)?;
        let mut arguments = Arguments::lock((start, known, solve), (values, vectors, residuals))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        let o = unsafe { options::read("options", options) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let lanczos = session_of(&context, &o)?;
        arguments.check_overlap(&a)?;
        let report = callback::progress(o.progress, o.progress_user);
        let found = arguments.run(&lanczos, &a, report.as_ref().map(|f| f as &ProgressFn<'_>))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_and_check(info, &found, lanczos.problem().options.count) }
    })
}
