//! Eigenpairs by Lanczos' method.

use std::sync::Arc;

use super::lanczos_types::{purlin_lanczos_info, purlin_lanczos_options};
use super::matrix::{self, input, purlin_matrix};
use super::options;
use super::overlap::{self, ranges, stored};
use super::sparse::alive;
use super::sparse_measures::optional_order;
use super::tensor::{self, purlin_tensor};
use super::{callback, context, guard, purlin_status, purlin_stream, stream};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lanczos::operator::Kind;
use crate::lanczos::outputs::Outputs;
use crate::lanczos::session::{Inputs, Lanczos, Problem};
use crate::lanczos::{Filter, Info, Method, Options, Orthogonality, Verify, Which};
use crate::progress::ProgressFn;
use crate::shape::{self, to_i64};

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
pub unsafe extern "C" fn purlin_lanczos_options_init(
    options: *mut purlin_lanczos_options,
    size: usize,
) -> purlin_status {
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
pub unsafe extern "C" fn purlin_lanczos_info_init(info: *mut purlin_lanczos_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// The operator and the options of a caller's struct.
fn read_problem(o: &purlin_lanczos_options) -> Result<Problem> {
    let options = Options {
        count: shape::size("count", o.count, 1)?,
        which: Which::from_code("which", o.which)?,
        basis: shape::size("basis", o.basis, 0)?,
        tolerance: o.tolerance,
        restarts: shape::size("restarts", o.restarts, 0)?,
        seed: o.seed,
        verify: Verify::from_code("verify", o.verify)?,
        method: Method::from_code("method", o.method)?,
        block: shape::size("block", o.block, 1)?,
        orthogonality: Orthogonality::from_code("orthogonality", o.orthogonality)?,
        filter: Filter::from_code("filter", o.filter)?,
        degree: shape::size("degree", o.degree, 0)?,
        sigma: o.sigma,
        check_symmetry: options::flag("check_symmetry", o.check_symmetry)?,
    };
    let (kind, order) = (Kind::from_code("kind", o.kind)?, optional_order(o.order)?);
    Ok(Problem { options, kind, shift: o.shift, order })
}

/// A session of a caller's struct, on `context` and the further ones of the struct.
///
/// # Safety
/// The contexts of `o` are as many as it says.
pub(super) unsafe fn session_of(context: &Arc<Context>, o: &purlin_lanczos_options) -> Result<Lanczos> {
    let problem = read_problem(o)?;
    let mut contexts = vec![Arc::clone(context)];
    // SAFETY: the caller promises as many as it says.
    contexts.extend(unsafe { context::further(o.contexts, o.contexts_count) }?);
    Ok(Lanczos::new(contexts, problem))
}

/// Refuses the start vector of singular triplets, for other functions.
pub(super) fn expect_no_start(o: &purlin_lanczos_options) -> Result<()> {
    if o.start.is_null() {
        return Ok(());
    }
    Err(Error::invalid("options->start", "is set, it is of purlin_lanczos_singular alone"))
}

impl purlin_lanczos_info {
    /// A report in the terms of C.
    pub(super) fn of(i: &Info) -> Self {
        Self {
            struct_size: 0,
            reason: i.reason as i32,
            breakdowns: i32::try_from(i.breakdowns).unwrap_or(i32::MAX),
            count: to_i64(i.count),
            converged: to_i64(i.converged),
            products: to_i64(i.products),
            restarts: to_i64(i.restarts),
            recovered: to_i64(i.recovered),
            basis: to_i64(i.basis),
            degree: to_i64(i.degree),
            norm: i.norm,
            seconds: i.seconds,
            contexts: to_i64(i.shares.contexts),
            part_rows: to_i64(i.shares.rows),
            part_entries: to_i64(i.shares.entries),
            halo: to_i64(i.shares.halo),
            halo_bytes: to_i64(i.shares.halo_bytes),
            product_bytes: to_i64(i.shares.product_bytes),
            verified: i32::from(i.verified),
            reserved: 0,
            residual: i.residual,
            orthogonality: i.orthogonality,
        }
    }
}

/// Writes the report of a solve; an error if fewer than `wanted` pairs have converged.
///
/// # Safety
/// `info` is NULL or an initialised struct.
pub(super) unsafe fn write_and_check(info: *mut purlin_lanczos_info, found: &Info, wanted: usize) -> Result<()> {
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_lanczos_info::of(found)) }?;
    found.check_converged(wanted)
}

/// Computes k eigenpairs of a symmetric or Hermitian matrix, of a Laplacian of a graph, or of another operator that is
/// never formed (`options->kind`).
///
/// Thick-restart Lanczos with full reorthogonalisation (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 2000), which finds
/// what ARPACK finds with about as many products: n (m + k + 1) numbers of memory, 6 n m^2 operations of
/// orthogonalisation a restart. A test tells whether copies of multiple eigenvalues are missing, which a Krylov space of one
/// vector cannot hold, and a search finds them (`options->verify`). Residuals and inner products are computed from the vectors
/// returned, and what contradicts the iteration counts as not converged. A sparse matrix is checked to be symmetric, O(nnz); one with values on the device by two products with random
/// vectors.
///
/// On a GPU the plan of the products stays with the matrix for the next call. Of matrices by purlin_matrix_copy_csr and
/// purlin_matrix_borrow_csr_device, and of patterns, later calls then do nothing on the host that grows with the entries. Vectors
/// that stay on the device save their way to the host.
///
/// With further contexts (`options->contexts`) each has some rows, and takes the others' numbers that it needs for a product,
/// `info->halo` of them in all; device outputs belong to the matrix's context.
///
/// The same build, input and options give the same bits, whatever the number of threads; other numbers of contexts give other
/// roundings.
///
/// @param      a          sparse (with PURLIN_LANCZOS_MATRIX, GRAM, OUTER_GRAM and AUGMENTED also an operator of the
///                        caller's, see purlin_matrix_from_operator), or with MATRIX to MODULARITY a graph by
///                        purlin_graph_operator_of_image; neither NaN nor infinite; W of the graph operators
///                        is real. Row sums of the normalised kinds are not negative, and their sum is above 0 for the
///                        modularity; other kinds take any.
/// @param      stream     NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      options    NULL for the defaults: the 6 largest eigenvalues of `a`.
/// @param      start      n elements of a's type, the start vector; NULL for a random one.
/// @param      known      dense, n x j, of a's type: vectors to keep out of the space, independent, which need not be
///                        orthonormal: eigenvectors that are known. NULL for none.
/// @param      solve      with PURLIN_LANCZOS_NEAREST: an operator of the caller's that solves (A - sigma I) x = b; NULL
///                        for none.
/// @param      values     k elements of PURLIN_F64 on the host: eigenvalues in the order that `which` says.
/// @param      vectors    dense, n x k, of a's type, any order on the host, column-major on the device of a context on a
///                        GPU, where they then stay: eigenvectors of 2-norm 1, the entry of largest modulus of each real
///                        and positive; NULL if not wanted.
/// @param      residuals  k elements of PURLIN_F64 on the host: ||A x - lambda x||_2, from the vectors returned; NULL if
///                        not wanted.
/// @param[out] info       what was done; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (a matrix that is not square
/// or not symmetric, options out of range, sizes, types, overlap; vectors that are 0, not finite or dependent; a further
/// context that is there already or on another kind of device),
/// `PURLIN_ERROR_NO_CONVERGENCE` (`info->count` pairs are in the outputs, the first `info->converged` of them good; what
/// is beyond is as it was), `PURLIN_ERROR_NOT_SUPPORTED` (storage, an option that there is not for it),
/// `PURLIN_ERROR_NUMERICAL` (products that are not finite, residuals that show that the operator is not symmetric),
/// `PURLIN_ERROR_IO` (the caller's function reported an error), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `options` and `info` are NULL or initialised structs, the contexts of `options` as many as it says; `options->progress` may
/// be called with its user pointer during the call.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_lanczos_solve(
    a: *const purlin_matrix,
    stream: *const purlin_stream,
    options: *const purlin_lanczos_options,
    start: *const purlin_tensor,
    known: *const purlin_matrix,
    solve: *const purlin_matrix,
    values: *mut purlin_tensor,
    vectors: *mut purlin_matrix,
    residuals: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let a = alive("a", a)?;
        let _stream = stream::before(a.context(), stream)?;
        let start = tensor::input_or_null("start", start)?;
        let known = if known.is_null() { None } else { Some(input("known", known)?) };
        let solve = if solve.is_null() { None } else { Some(input("solve", solve)?) };
        let mut values = tensor::output("values", values)?;
        let mut vectors = matrix::output_or_null("vectors", vectors)?;
        let mut residuals = tensor::output_or_null("residuals", residuals)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        let o = unsafe { options::read("options", options) }?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { options::check("info", info) }?;
        expect_no_start(&o)?;
        // SAFETY: the caller promises as many contexts as it says.
        let lanczos = unsafe { session_of(a.context(), &o) }?;
        let outputs = ranges(
            &[("vectors", vectors.as_deref())],
            &[("values", Some(&values)), ("residuals", residuals.as_deref())],
        );
        let given = ranges(&[("known", known.as_deref())], &[("start", start.as_deref())]);
        overlap::check(&[stored("a", &a), given].concat(), &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let report = report.as_ref().map(|f| f as &ProgressFn<'_>);
        let inputs = Inputs { start: start.as_deref(), known: known.as_deref(), solve: solve.as_deref() };
        let outputs =
            Outputs { values: &mut values, vectors: vectors.as_deref_mut(), residuals: residuals.as_deref_mut() };
        let found = lanczos.solve(&a, inputs, outputs, report)?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { write_and_check(info, &found, lanczos.problem().options.count) }
    })
}
