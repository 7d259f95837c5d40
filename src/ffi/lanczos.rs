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
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::shared::expect_kind;
use crate::lanczos::solve::{Given, Vectors, eigenpairs_to};
use crate::lanczos::{Filter, Info, Method, Options, Orthogonality, Reason, Verify, Which, eigenpairs_over};
use crate::matrix::Matrix;
use crate::matrix::sparse::Ordering;
use crate::progress::ProgressFn;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::session;
use crate::shape::{self, Order, to_i64};
use crate::tensor::Tensor;

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

/// What a caller's struct asks for.
pub(super) struct Request {
    pub(super) options: Options,
    pub(super) kind: Kind,
    pub(super) shift: f64,
    pub(super) order: Option<Ordering>,
    /// Number of further contexts, as the caller gives it.
    further: i64,
    /// Whether there is a start vector of singular triplets.
    has_start: bool,
}

impl Request {
    /// Refuses the start vector of singular triplets.
    pub(super) fn expect_no_start(&self) -> Result<()> {
        if !self.has_start {
            return Ok(());
        }
        Err(Error::invalid("options->start", "is set, it is of purlin_lanczos_singular alone"))
    }

    /// Refuses further contexts.
    pub(super) fn expect_alone(&self) -> Result<()> {
        if self.further == 0 {
            return Ok(());
        }
        let problem = format!("is {}, this function works on the matrix's context alone: 0 is needed", self.further);
        Err(Error::invalid("contexts_count", problem))
    }

    /// Refuses every option that a recurrence without restarts and convergence does not use.
    pub(super) fn expect_recurrence(&self) -> Result<()> {
        let (o, d) = (&self.options, Options::default());
        let set = [
            ("which", o.which != d.which),
            ("sigma", o.sigma != d.sigma),
            ("tolerance", o.tolerance != d.tolerance),
            ("basis", o.basis != d.basis),
            ("restarts", o.restarts != d.restarts),
            ("verify", o.verify != d.verify),
            ("method", o.method != d.method),
            ("block", o.block != d.block),
            ("orthogonality", o.orthogonality != d.orthogonality),
            ("filter", o.filter != d.filter),
            ("degree", o.degree != d.degree),
        ];
        match set.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => Err(Error::invalid(*name, "is set, this function does not use it")),
            None => Ok(()),
        }
    }

    /// Refuses an order where there is no matrix to put in order.
    pub(super) fn expect_no_order(&self) -> Result<()> {
        if self.order.is_none() {
            return Ok(());
        }
        Err(Error::invalid("order", "is set, this function takes matrices as they are"))
    }
}

/// Options of a caller's struct.
pub(super) fn read_options(o: &purlin_lanczos_options) -> Result<Request> {
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
    Ok(Request { options, kind, shift: o.shift, order, further: o.contexts_count, has_start: !o.start.is_null() })
}

impl purlin_lanczos_info {
    /// A report in the terms of C.
    pub(super) fn of(i: &Info, count: usize) -> Self {
        Self {
            struct_size: 0,
            reason: i.reason as i32,
            breakdowns: i32::try_from(i.breakdowns).unwrap_or(i32::MAX),
            count: to_i64(count),
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

/// Hands over what a solve reports, and says if not all that was asked for has converged.
///
/// # Safety
/// `info` is NULL or an initialised struct.
pub(super) unsafe fn hand_over(
    info: *mut purlin_lanczos_info,
    found: &Info,
    count: usize,
    wanted: usize,
) -> Result<()> {
    // SAFETY: as promised above.
    unsafe { options::write("info", info, purlin_lanczos_info::of(found, count)) }?;
    if found.converged >= wanted {
        return Ok(());
    }
    let Info { converged, restarts, products, .. } = found;
    let mut problem = format!("{converged} of {wanted} eigenpairs after {restarts} restarts and {products} products");
    if found.reason == Reason::Contradicted {
        problem +=
            &format!(": the residual of pair {converged} (from 0), or its inner products, contradict the iteration");
    }
    if found.asymmetry > 0.0 {
        problem += &format!(
            ": the operator is not symmetric (Hermitian if complex): |u.(A v) - v.(A u)| is {:.1e} of |u| |A v| + |v| |A u| for \
             random u and v",
            found.asymmetry
        );
    } else if found.degree > 0 && *converged == 0 && found.reason == Reason::Restarts {
        problem += &format!(
            ": the filter, last of degree {}, has not told them from the rest; for the nearest to sigma, `solve` with a \
             factorization of A - sigma I (shift-invert) does",
            found.degree
        );
    }
    Err(Error::NoConvergence(problem))
}

/// The arguments of a solve beside the matrix.
struct Call<'a> {
    request: Request,
    /// The matrix's, and the further ones.
    contexts: Vec<Arc<Context>>,
    start: Option<&'a Tensor>,
    known: Option<&'a Matrix>,
    solve: Option<&'a Matrix>,
    values: &'a mut Tensor,
    vectors: Option<&'a mut Matrix>,
    residuals: Option<&'a mut Tensor>,
}

impl Call<'_> {
    fn run<T: Scalar>(mut self, a: &Matrix, report: Option<&ProgressFn<'_>>) -> Result<(Info, usize)> {
        let context = a.context();
        let Request { kind, shift, order, .. } = self.request;
        let mut operator = match self.request.further {
            0 => Some(Symmetric::<T>::in_order(context, a, kind, shift, order)?),
            _ if order.is_some() => {
                return Err(Error::invalid("order", "is set, several contexts have rows in the matrix's order"));
            }
            _ => {
                // Before the sizes of outputs, which depend on the kind.
                expect_kind(kind)?;
                None
            }
        };
        let (n, k) = (operator.as_ref().map_or(a.rows(), Symmetric::order), self.request.options.count);
        check_lists(context, k, &[("values", Some(&*self.values)), ("residuals", self.residuals.as_deref())])?;
        if let Some(vectors) = &mut self.vectors {
            vectors.expect_context("vectors", context)?;
            vectors.expect_dtype("vectors", T::DTYPE)?;
            vectors.expect_size("vectors", n, k)?;
            let target = vectors.dense_mut("vectors")?;
            if matches!(target.memory, Memory::Device(_)) && target.order != Order::ColumnMajor {
                return Err(Error::NotSupported("vectors: are row-major on the device, column-major is needed".into()));
            }
        }
        let start = match self.start {
            None => None,
            Some(start) => {
                start.expect_context("start", context)?;
                start.expect_dims("start", &[n])?;
                let mut packed = crate::alloc::filled("start vector", n, T::default())?;
                start.view::<T>("start")?.read_column(&[], &mut packed);
                Some(packed)
            }
        };
        let known = match self.known {
            None => std::borrow::Cow::Borrowed(&[][..]),
            Some(known) => {
                known.expect_context("known", context)?;
                known.expect_dtype("known", T::DTYPE)?;
                known.expect_size("known", n, known.cols())?;
                known.dense("known")?.columns::<T>("known")?
            }
        };
        if let Some(solve) = self.solve {
            solve.expect_context("solve", context)?;
            solve.expect_dtype("solve", T::DTYPE)?;
            solve.expect_size("solve", n, n)?;
        }
        let given = Given { start: start.as_deref(), deflate: &known, solve: self.solve };
        let progress = session::progress(&self.contexts, report);
        let mut target = self.vectors.as_mut().map(|v| v.dense_mut("vectors")).transpose()?;
        let place = match target.take_if(|t| matches!(t.memory, Memory::Device(_))) {
            Some(there) => Vectors::Device(there),
            None if target.is_some() => Vectors::Returned,
            None => Vectors::Left,
        };
        let options = &self.request.options;
        let pairs = match &mut operator {
            Some(operator) => eigenpairs_to(context, operator, options, &given, &progress, place),
            None => eigenpairs_over(&self.contexts, a, (kind, shift), options, &given, &progress, place),
        };
        let pairs = pairs.map_err(|e| super::sparse::renamed(e, "deflate", "known"))?;
        self.values.set_first("values", &pairs.values)?;
        if let Some(target) = &mut target {
            target.set_columns("vectors", &pairs.vectors)?;
        }
        if let Some(residuals) = &mut self.residuals {
            residuals.set_first("residuals", &pairs.residuals)?;
        }
        Ok((pairs.info, pairs.values.len()))
    }
}

/// Outputs of k numbers of double precision each.
pub(super) fn check_lists(context: &Context, k: usize, lists: &[(&str, Option<&Tensor>)]) -> Result<()> {
    for (name, list) in lists.iter().filter_map(|(name, list)| Some((*name, (*list)?))) {
        list.expect_context(name, context)?;
        list.expect_dims(name, &[k])?;
        list.expect_dtype(name, DType::F64)?;
        list.check_writable(name)?;
    }
    Ok(())
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
        let request = read_options(&o)?;
        request.expect_no_start()?;
        let wanted = request.options.count;
        let outputs = ranges(
            &[("vectors", vectors.as_deref())],
            &[("values", Some(&values)), ("residuals", residuals.as_deref())],
        );
        let given = ranges(&[("known", known.as_deref())], &[("start", start.as_deref())]);
        overlap::check(&[stored("a", &a), given].concat(), &outputs)?;
        let report = callback::progress(o.progress, o.progress_user);
        let report = report.as_ref().map(|f| f as &ProgressFn<'_>);
        let mut contexts = vec![Arc::clone(a.context())];
        // SAFETY: the caller promises as many as it says.
        contexts.extend(unsafe { context::further(o.contexts, o.contexts_count) }?);
        let call = Call {
            request,
            contexts,
            start: start.as_deref(),
            known: known.as_deref(),
            solve: solve.as_deref(),
            values: &mut values,
            vectors: vectors.as_deref_mut(),
            residuals: residuals.as_deref_mut(),
        };
        let (found, count) = with_scalar!(a.dtype(), "a", T => call.run::<T>(&a, report))?;
        // SAFETY: the caller promises NULL or an initialised struct.
        unsafe { hand_over(info, &found, count, wanted) }
    })
}
