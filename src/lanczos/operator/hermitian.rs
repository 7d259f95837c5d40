//! The operator of a call: a matrix or a caller's function, and the terms that its kind adds.

use std::ops::Range;
use std::sync::Arc;

use super::check::{check, check_terms, no_row_sums};
use super::products::{Adjacency, Copies, Products, resize};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::Memory;
use crate::choice::word;
use crate::context::Context;
use crate::dense::Op as Adjoint;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::lanczos::algorithm::PROBES;
use crate::lanczos::algorithm::scale::{expect_square_of, refuse, underflow};
use crate::lanczos::ops::{Affine, PIECE};
use crate::matrix::sparse::{Ordering, entry_not_finite, has_symmetric_values, symmetry_bytes};
use crate::matrix::{Matrix, OnDevice, Storage, adjoint};
use crate::rng;
use crate::scalar::{Real, Scalar};
use crate::shape::{product, to_u64};
use crate::spmv::cpu::Finish;
use crate::spmv::renumber::Direction;
use crate::spmv::terms::{Terms, add_along, dot, scaled};
use crate::spmv::{Kind, Plan, Renumbering};

const WHAT: &str = "operator";

/// The problem text of errors about a matrix that is not Hermitian.
pub(in crate::lanczos) const UNSYMMETRIC: &str = "is not symmetric (Hermitian if complex)";

/// A Hermitian operator on vectors in host memory.
pub struct Symmetric<'a, T: Scalar> {
    pub(super) context: Arc<Context>,
    pub(super) products: Products<'a, T>,
    pub(super) kind: Kind,
    /// Rows and columns of the matrix.
    pub(super) shape: (usize, usize),
    /// Number that is added to the diagonal.
    pub(super) shift: f64,
    /// Scaling, diagonal and rank-one terms of the operator.
    pub(super) terms: Terms<T::Part>,
    /// Workspace: x times `scale`, or A x within a product with A^H A.
    between: Vec<T>,
    /// Workspace: the product that the caller's own operator returned.
    pub(super) given: Vec<T>,
    /// Workspace: blocks of vectors, row by row.
    blocks: [Vec<T>; 2],
    is_sampled: bool,
    /// The ranges of rows of an operator that has only some of them.
    pub(super) rows: Option<&'a [Range<usize>]>,
}

/// The source of products, for backends whose vectors are not in host memory.
pub(in crate::lanczos) enum DeviceProducts<'o> {
    /// A sparse matrix with its plan, and the plan of its adjoint.
    Planned { matrix: &'o Matrix, plan: &'o Plan, adjoint: Option<&'o Plan> },
    /// An operator that multiplies on the device.
    Own(&'o dyn OnDevice),
}

/// The parts of an operator, for backends whose vectors are not in host memory.
pub(in crate::lanczos) struct Parts<'o, T: Scalar> {
    pub(in crate::lanczos) products: DeviceProducts<'o>,
    pub(in crate::lanczos) kind: Kind,
    pub(in crate::lanczos) shape: (usize, usize),
    pub(in crate::lanczos) alpha: f64,
    pub(in crate::lanczos) shift: f64,
    pub(in crate::lanczos) scale: Option<&'o [T::Part]>,
    pub(in crate::lanczos) diagonal: Option<&'o [T::Part]>,
    pub(in crate::lanczos) rank_one: Option<(&'o [T::Part], f64)>,
}

compiled_here! {
    fn operator_in_order<'a, T: Scalar>(
        context: &Arc<Context>,
        a: &'a Matrix,
        kind: Kind,
        shift: f64,
        ordering: Option<Ordering>,
    ) -> Result<Symmetric<'a, T>> = made;
}

pub(super) fn made<'a, T: Scalar>(
    context: &Arc<Context>,
    a: &'a Matrix,
    kind: Kind,
    shift: f64,
    ordering: Option<Ordering>,
) -> Result<Symmetric<'a, T>> {
    Symmetric::made(context, a, kind, shift, ordering)
}

impl<'a, T: Scalar> Symmetric<'a, T> {
    /// Operator `kind` of `a`, plus `shift` times the identity. If `kind` needs a symmetric matrix, a sparse one is
    /// checked for symmetry, O(nnz). If its values are on a device, two products with random vectors test it when it is
    /// used.
    /// # Errors
    /// [`Error::InvalidArgument`] for a matrix that is empty, or not square or not Hermitian where `kind` needs it to
    /// be; for a graph with a row sum below 0, for the normalized operators; for row sums whose total is not above 0,
    /// for the modularity. [`Error::NotSupported`] for storage other than sparse, and for operators of graphs if the
    /// matrix is known by its products and does not know its row sums.
    pub fn new(context: &Arc<Context>, a: &'a Matrix, kind: Kind, shift: f64) -> Result<Self> {
        Self::in_order(context, a, kind, shift, None)
    }

    /// As [`Symmetric::new`], with the rows and columns of a square sparse matrix reordered, so that entries that a
    /// product gathers are close together. [`Symmetric::apply`] then takes vectors in that order; the calls of
    /// [`crate::lanczos::solve`] take and return them in the matrix's order.
    ///
    /// # Errors
    /// As [`Symmetric::new`]; [`Error::InvalidArgument`] for an order with a kind whose matrix need not be square;
    /// [`Error::NotSupported`] for an order of a matrix known by its products.
    pub fn in_order(
        context: &Arc<Context>,
        a: &'a Matrix,
        kind: Kind,
        shift: f64,
        ordering: Option<Ordering>,
    ) -> Result<Self> {
        operator_in_order(context, a, kind, shift, ordering)
    }

    pub(super) fn made(
        context: &Arc<Context>,
        a: &'a Matrix,
        kind: Kind,
        shift: f64,
        ordering: Option<Ordering>,
    ) -> Result<Self> {
        check::<T>(context, a, kind, shift, ordering)?;
        let (rows, cols) = (a.rows(), a.cols());
        let own = matches!(a.storage(), Storage::Operator(_));
        let products = Products::new(context, a, !kind.is_of_square(), ordering)?;
        let mut made = Self::bare(context, products, kind, (rows, cols), shift)?;
        let is_on_host = is_on_host(a);
        made.is_sampled = !own && !is_on_host && kind.is_of_square();
        if is_on_host && kind.is_of_square() && !symmetric(a, 100.0 * T::Part::EPSILON.to_f64())? {
            return Err(unsymmetric(a));
        }
        if kind.is_of_graph() {
            let mut degrees = alloc::with_capacity(WHAT, rows)?;
            if let Products::Own(own) = &mut made.products {
                degrees = own.operator()?.row_sums()?.ok_or_else(|| no_row_sums(kind))?;
            } else if let Products::Sparse { plan, .. } = &made.products {
                degrees = plan.degrees::<T>(a)?;
            }
            made.prepare(&degrees, Some(a))?;
            made.put_in_order()?;
        }
        Ok(made)
    }

    /// Operator `kind` of a graph whose weights are not stored as a matrix, plus `shift` times the identity.
    ///
    /// # Errors
    /// As [`Symmetric::new`]; [`Error::NotSupported`] for kinds whose matrix need not be square.
    pub fn of_graph(context: &Arc<Context>, graph: Box<dyn Adjacency<T> + 'a>, kind: Kind, shift: f64) -> Result<Self> {
        if !kind.is_of_square() {
            return Err(Error::NotSupported(format!(
                "kind: is {}, a kind of a square matrix is needed for a graph",
                word(kind)
            )));
        }
        let (n, degrees) = (graph.order(), graph.degrees()?);
        let mut made = Self::bare(context, Products::Graph(graph), kind, (n, n), shift)?;
        if kind.is_of_graph() {
            made.prepare(&degrees, None)?;
        }
        Ok(made)
    }

    /// Columns without an operator, `n` numbers each: for the long side of singular vectors.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for n = 0.
    pub(in crate::lanczos) fn columns_alone(context: &Arc<Context>, n: usize) -> Result<Self> {
        Self::bare(context, Products::Nothing, Kind::Matrix, (n, n), 0.0)
    }

    /// For a [`Kind::Gram`] or [`Kind::OuterGram`] operator of A: whether A or A^H maps the short side to the long
    /// side, and which of them maps back.
    pub(in crate::lanczos) fn factors(&self) -> [Adjoint; 2] {
        if self.kind == Kind::Gram { [Adjoint::Plain, Adjoint::Adjoint] } else { [Adjoint::Adjoint, Adjoint::Plain] }
    }

    pub(super) fn bare(
        context: &Arc<Context>,
        products: Products<'a, T>,
        kind: Kind,
        shape: (usize, usize),
        shift: f64,
    ) -> Result<Self> {
        check_terms(kind, shape, shift)?;
        Ok(Self {
            context: Arc::clone(context),
            products,
            kind,
            shape,
            shift,
            terms: Terms::none(),
            between: Vec::new(),
            given: Vec::new(),
            blocks: [Vec::new(), Vec::new()],
            is_sampled: false,
            rows: None,
        })
    }

    /// The order of vectors, if it is not the matrix's.
    pub fn renumbering(&self) -> Option<&Arc<Renumbering>> {
        match &self.products {
            Products::Sparse { plan, .. } => plan.renumbering(),
            _ => None,
        }
    }

    /// Reorders the terms that [`Terms`] computed from degrees into the order of the products.
    fn put_in_order(&mut self) -> Result<()> {
        let Some(order) = self.renumbering().cloned() else { return Ok(()) };
        for list in self.terms.lists() {
            let mut turned = alloc::filled(WHAT, list.len(), T::Part::ONE)?;
            order.apply(&self.context, Direction::ToOrder, 1, list, &mut turned)?;
            *list = turned;
        }
        Ok(())
    }

    /// Replaces a numerical error of a solve by one that says the cause: an entry that is not finite, if the matrix on the
    /// host has one, or products that underflow.
    pub(in crate::lanczos) fn explained(&mut self, error: Error) -> Error {
        if !matches!(error, Error::Numerical(_)) {
            return error;
        }
        if let Products::Sparse { matrix, .. } = &self.products
            && let Some(named) = entry_not_finite("a", matrix)
        {
            return named;
        }
        match self.expect_products(true) {
            Err(cause @ Error::Numerical(_)) => cause,
            _ => error,
        }
    }

    /// Refuses an operator whose products with a vector of norm 1 are not 0, but so small that squares of residuals
    /// underflow. That holds too for a product A^H A x of 0 where A x is not 0. After a solve that `has_failed`, products
    /// whose rounding errors are so small are refused too. Takes one product.
    ///
    /// # Errors
    /// [`Error::Numerical`]; [`Error::OutOfMemory`].
    pub(in crate::lanczos) fn expect_products(&mut self, has_failed: bool) -> Result<()> {
        match self.products {
            Products::Sparse { .. } => {}
            Products::Own(_) | Products::Graph(_) if self.rows.is_none() => {}
            _ => return Ok(()),
        }
        let n = self.order();
        let mut x = alloc::filled(WHAT, n, T::default())?;
        let length = (n as f64 / 3.0).sqrt();
        let probe = |i: usize| T::from_parts(rng::uniform(0, rng::stream::STARTS, to_u64(i), PROBES) / length, 0.0);
        x.iter_mut().enumerate().for_each(|(i, x)| *x = probe(i));
        let mut y = alloc::filled(WHAT, n, T::default())?;
        self.apply(&x, &mut y)?;
        refuse(&y, has_failed)?;
        if !matches!(self.kind, Kind::Gram | Kind::OuterGram)
            || self.shift != 0.0
            || y.iter().any(|y| *y != T::default())
        {
            return Ok(());
        }
        // A^H y is 0 for no y of the range of A but 0.
        match self.between.iter().all(|t| *t == T::default()) {
            true => Ok(()),
            false => {
                Err(underflow("products of the matrix and its adjoint underflow to 0, although the matrix is not 0"))
            }
        }
    }

    /// Tests that a caller's products with A^H belong to A, before both are used. Returns the number of products that it
    /// took; one with A and one with A^H count as one.
    ///
    /// # Errors
    /// As [`adjoint::expect_adjoint`].
    pub(in crate::lanczos) fn expect_adjoint(&mut self) -> Result<usize> {
        Ok(usize::from(self.size_by_adjoint(PROBES)?.is_some()))
    }

    /// [`Symmetric::expect_adjoint`] with other vectors, after a run. Without it an adjoint that changes after the first
    /// product spoils values of A^H A whose residuals are small.
    ///
    /// # Errors
    /// As [`adjoint::expect_adjoint`].
    pub(in crate::lanczos) fn expect_adjoint_still(&mut self) -> Result<usize> {
        match self.size_by_adjoint(PROBES ^ 4) {
            Err(Error::InvalidArgument { argument, problem }) => {
                Err(Error::InvalidArgument { argument, problem: format!("{problem}; it was before the run") })
            }
            tested => Ok(usize::from(tested?.is_some())),
        }
    }

    /// [`Symmetric::expect_adjoint`] before this operator is used. It refuses A^H A that is not 0 but so small that squares of
    /// residuals underflow.
    ///
    /// # Errors
    /// As [`adjoint::expect_adjoint`]; [`Error::Numerical`].
    pub(in crate::lanczos) fn expect_usable(&mut self) -> Result<usize> {
        let Some(size) = self.size_by_adjoint(PROBES)? else { return Ok(0) };
        if matches!(self.kind, Kind::Gram | Kind::OuterGram) && self.shift == 0.0 {
            expect_square_of::<T>(size)?;
        }
        Ok(1)
    }

    /// Tests the adjoint of a caller's operator by the vectors of that number. Returns an estimate of ||A||; `None` if nothing
    /// was tested.
    fn size_by_adjoint(&mut self, number: u32) -> Result<Option<f64>> {
        let knows_symmetry = match &self.products {
            Products::Own(own) => own.view()?.has_row_sums(),
            _ => true,
        };
        if knows_symmetry || !tests_adjoint(self.kind, self.is_own()) {
            return Ok(None);
        }
        let shape = self.shape;
        let budget = self.context.host_budget();
        let _charge = budget.charge_host(WHAT, adjoint::bytes_of_test::<T>(shape))?;
        adjoint::expect_adjoint(shape, number, &mut |op, x: &[T], y: &mut [T]| self.factor(op, x, y))
    }

    /// Whether the matrix is known by its products alone.
    pub(in crate::lanczos) fn is_own(&self) -> bool {
        matches!(self.products, Products::Own(_))
    }

    /// The next solve tests by products with two random vectors that the operator is symmetric. For operators whose
    /// entries are not known.
    pub fn sample_symmetry(&mut self) {
        self.is_sampled = true;
    }

    /// Whether a solve has to test the symmetry by products; true at most once.
    pub(in crate::lanczos) fn take_sampled(&mut self) -> bool {
        std::mem::take(&mut self.is_sampled)
    }

    /// Computes the terms of the operator's kind from the row sums of `a`, if it is stored.
    pub(super) fn prepare(&mut self, degrees: &[f64], a: Option<&Matrix>) -> Result<()> {
        self.terms = Terms::new(self.kind, degrees, a, |row| self.row_of(row))?;
        Ok(())
    }

    /// Whether products need vectors in host memory, whatever the context's backend.
    ///
    /// # Errors
    /// As [`OperatorGuard::view`](crate::matrix::OperatorGuard::view).
    pub fn is_on_host(&self) -> Result<bool> {
        Ok(!matches!(self.products, Products::Sparse { .. }) && self.products.on_device()?.is_none())
    }

    /// The parts of an operator that multiplies on the device.
    pub(in crate::lanczos) fn parts(&self) -> Result<Parts<'_, T>> {
        let products = match (&self.products, self.products.on_device()?) {
            (Products::Sparse { matrix, plan, adjoint }, _) => {
                DeviceProducts::Planned { matrix, plan, adjoint: adjoint.as_deref() }
            }
            (_, Some(own)) => DeviceProducts::Own(own),
            _ => return Err(Error::Internal("parts of an operator on the host".into())),
        };
        Ok(Parts {
            products,
            kind: self.kind,
            shape: self.shape,
            alpha: self.terms.sign,
            shift: self.shift,
            scale: self.terms.scale.as_deref(),
            diagonal: self.terms.diagonal.as_deref(),
            rank_one: self.terms.rank_one.as_ref().map(|(d, inverse)| (d.as_slice(), *inverse)),
        })
    }

    /// Bytes of products with blocks of `width` vectors, beside the plans that the operator has.
    ///
    /// # Errors
    /// As [`super::copies`].
    pub(in crate::lanczos) fn copies(&self, width: usize) -> Result<Copies> {
        self.products.copies(width)
    }

    /// Whether products are those of a sparse matrix.
    pub(in crate::lanczos) fn is_sparse(&self) -> bool {
        matches!(self.products, Products::Sparse { .. })
    }

    /// The kind of the operator, and rows and columns of its matrix.
    pub(in crate::lanczos) fn kind(&self) -> (Kind, (usize, usize)) {
        (self.kind, self.shape)
    }

    /// The norm of the terms beside the matrix, including the shift.
    pub(in crate::lanczos) fn terms_norm(&self) -> f64 {
        self.terms.norm() + self.shift.abs()
    }

    /// Order n of the operator, which its kind and the matrix's shape decide.
    pub fn order(&self) -> usize {
        self.kind.order(self.shape)
    }

    /// y = A x.
    ///
    /// # Errors
    /// Errors of the caller's own operator; [`Error::OutOfMemory`].
    pub fn apply(&mut self, x: &[T], y: &mut [T]) -> Result<()> {
        self.affine(Affine::PLAIN, x, y)
    }

    /// y = scale (A - center) x + keep y, as `step` says.
    ///
    /// # Errors
    /// As [`Symmetric::apply`].
    pub fn affine(&mut self, step: Affine, x: &[T], y: &mut [T]) -> Result<()> {
        let real = |v: f64| T::from_parts(v, 0.0);
        let finish = finish(step, self.shift, &self.terms);
        let context = Arc::clone(&self.context);
        let (rows, cols) = self.shape;
        let given = &mut self.given;
        match self.kind {
            Kind::Gram | Kind::OuterGram => {
                let (inner, first, second) = match self.kind {
                    Kind::Gram => (rows, Adjoint::Plain, Adjoint::Adjoint),
                    _ => (cols, Adjoint::Adjoint, Adjoint::Plain),
                };
                resize(&mut self.between, inner)?;
                let once = Finish::plain(real(1.0), T::default());
                self.products.multiply(&context, first, once, (x, x), &mut self.between, given)?;
                self.products.multiply(&context, second, finish, (&self.between, x), y, given)
            }
            Kind::Augmented => {
                let (x_top, x_bottom) = x.split_at(rows);
                let (y_top, y_bottom) = y.split_at_mut(rows);
                self.products.multiply(&context, Adjoint::Plain, finish, (x_bottom, x_top), y_top, given)?;
                self.products.multiply(&context, Adjoint::Adjoint, finish, (x_top, x_bottom), y_bottom, given)
            }
            _ => {
                let rank_one = self.terms.rank_one.as_ref();
                let along = rank_one.map(|(d, inverse)| dot(&context, d, (x, 1, 0), -*inverse));
                let gathered = match &self.terms.scale {
                    None => x,
                    Some(scale) => {
                        resize(&mut self.between, x.len())?;
                        scaled(&context, scale, 1, x, &mut self.between);
                        &self.between
                    }
                };
                self.products.multiply(&context, Adjoint::Plain, finish, (gathered, x), y, given)?;
                if let (Some((d, _)), Some(along)) = (rank_one, along) {
                    add_along(&context, d, real(step.scale) * T::narrow(along), (y, 1, 0));
                }
                Ok(())
            }
        }
    }

    /// y = op(A) x with the matrix A of a [`Kind::Gram`], [`Kind::OuterGram`] or [`Kind::Augmented`] operator.
    pub(in crate::lanczos) fn factor(&mut self, op: Adjoint, x: &[T], y: &mut [T]) -> Result<()> {
        let once = Finish::plain(T::from_parts(1.0, 0.0), T::default());
        self.products.multiply(&self.context, op, once, (x, x), y, &mut self.given)
    }

    /// Y = A X for `count` vectors, column-major. A sparse A is read once for all of them where its kind allows it. For
    /// kind Matrix, the caller's own operator is called once.
    ///
    /// # Errors
    /// As [`Symmetric::apply`].
    pub fn apply_block(&mut self, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        let n = self.order();
        if let (Kind::Matrix, Products::Own(own)) = (self.kind, &mut self.products) {
            own.operator()?.apply(Adjoint::Plain, x, count, y)?;
            let shift = T::from_parts(self.shift, 0.0);
            if self.shift != 0.0 {
                y.iter_mut().zip(x).for_each(|(y, x)| *y += shift * *x);
            }
            return Ok(());
        }
        let sparse = matches!(self.products, Products::Sparse { .. });
        if count == 1 || !sparse || !self.kind.is_of_square() || self.terms.rank_one.is_some() {
            return x.chunks_exact(n).zip(y.chunks_exact_mut(n)).try_for_each(|(x, y)| self.apply(x, y));
        }
        let Products::Sparse { matrix, plan, .. } = &self.products else { return Ok(()) };
        let length = product(WHAT, n, count)?;
        self.blocks.iter_mut().try_for_each(|b| resize(b, length))?;
        let [from, to] = &mut self.blocks;
        let (scale, context) = (self.terms.scale.as_deref(), &self.context);
        context.pool().run_here(|| {
            from.par_chunks_mut(PIECE * count).enumerate().for_each(|(piece, rows)| {
                for (i, row) in (piece * PIECE..).zip(rows.chunks_exact_mut(count)) {
                    let factor = scale.map_or(T::Part::ONE, |s| s[i]);
                    row.iter_mut().enumerate().for_each(|(c, v)| *v = T::from_parts(factor.re(), 0.0) * x[c * n + i]);
                }
            });
        });
        plan.compute_block(matrix, (T::from_parts(self.terms.sign, 0.0), T::default()), count, from, to)?;
        let (diagonal, shift, to) = (self.terms.diagonal.as_deref(), self.shift, &*to);
        context.pool().run_here(|| {
            y.par_chunks_mut(n).zip(x.par_chunks(n)).enumerate().for_each(|(c, (y, x))| {
                for (i, (y, x)) in y.iter_mut().zip(x).enumerate() {
                    let sum = to[i * count + c];
                    let sum = scale.map_or(sum, |s| T::from_parts(s[i].re(), 0.0) * sum);
                    *y = sum + T::from_parts(shift + diagonal.map_or(0.0, |d| d[i].re()), 0.0) * *x;
                }
            });
        });
        Ok(())
    }
}

/// How a product y = scale (A - center) x + keep y is computed from the row sums of the matrix.
pub(super) fn finish<T: Scalar>(step: Affine, shift: f64, terms: &Terms<T::Part>) -> Finish<'_, T> {
    let real = |v: f64| T::from_parts(v, 0.0);
    Finish {
        alpha: real(step.scale * terms.sign),
        beta: real(step.keep),
        row_scale: terms.rows(),
        shift: real(step.scale * (shift - step.center)),
        diagonal: terms.diagonal.as_deref(),
        weight: real(step.scale),
    }
}

/// The error for a matrix on the host that was found not to be symmetric. If it has an entry that is not finite, the
/// error names it.
pub(in crate::lanczos) fn unsymmetric(a: &Matrix) -> Error {
    match entry_not_finite("a", a) {
        Some(error) => error,
        None => Error::invalid("a", UNSYMMETRIC),
    }
}

/// Whether a run tests the adjoint of an operator of this kind by products; `is_own` says that the matrix is not stored.
pub(in crate::lanczos) fn tests_adjoint(kind: Kind, is_own: bool) -> bool {
    is_own && !kind.is_of_square()
}

/// Whether a matrix is sparse and its entries are in host memory, where their symmetry is checked.
fn is_on_host(a: &Matrix) -> bool {
    matches!(a.storage(), Storage::Csr(csr) if !matches!(csr.parts().values, Some(Memory::Device(_))))
}

/// A stored answer: whether a sparse matrix is symmetric.
struct Symmetry(bool);

/// The answer that a matrix keeps, if its values are known not to have changed since.
fn known_symmetry(a: &Matrix) -> Option<bool> {
    let Storage::Csr(csr) = a.storage() else { return None };
    let (version, found) = csr.cache().find(|_: &Symmetry| true)?;
    (version == csr.version() && a.owns_values()).then_some(found.0)
}

/// Whether a matrix on the host is symmetric. The matrix keeps the answer if its values are known not to change.
pub(in crate::lanczos) fn symmetric(a: &Matrix, tolerance: f64) -> Result<bool> {
    if let Some(known) = known_symmetry(a) {
        return Ok(known);
    }
    let found = has_symmetric_values(a, tolerance)?;
    if let (Storage::Csr(csr), true) = (a.storage(), a.owns_values()) {
        csr.cache().put(csr.version(), &Arc::new(Symmetry(found)), |_: &Symmetry| true)?;
    }
    Ok(found)
}

/// Host bytes of the lists by which [`symmetric`] sees whether the sparse matrix of an operator is; 0 where it is not
/// asked, or the answer is known. O(nnz), O(1) where it is known.
///
/// # Errors
/// As [`has_symmetric_values`].
pub(in crate::lanczos) fn symmetry_lists(a: &Matrix) -> Result<usize> {
    if is_on_host(a) && known_symmetry(a).is_none() { symmetry_bytes(a) } else { Ok(0) }
}
