//! Operators: a matrix as it is, the Laplacians of a graph, shifts, and the caller's own.
//!
//! W is the weighted adjacency matrix of an undirected graph and d its row sums. None of the operators is formed: each
//! product is one product with W whose sums are finished by a diagonal.

use std::sync::Arc;

use crate::alloc;
use crate::choice::numbered;
use crate::context::Context;
use crate::dense::Op as Adjoint;
use crate::error::{Error, Result};
use crate::matrix::sparse::{is_symmetric, row_sums};
use crate::matrix::{Matrix, OperatorGuard, Storage};
use crate::scalar::{Real, Scalar};
use crate::spmv::cpu::Finish;
use crate::spmv::{Options as ProductOptions, Plan};

/// What an operator makes of a matrix. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    /// A itself.
    Matrix = 0,
    /// The Laplacian D - W.
    Laplacian = 1,
    /// The normalised Laplacian I - D^-1/2 W D^-1/2, 0 for isolated vertices.
    NormalisedLaplacian = 2,
    /// The signless Laplacian D + W.
    SignlessLaplacian = 3,
    /// D^-1/2 W D^-1/2, whose largest eigenvalues are 1 less the smallest of the normalised Laplacian.
    NormalisedAdjacency = 4,
    /// The modularity matrix W - d d^T / sum(d) (Newman, PNAS 103, 2006).
    Modularity = 5,
    /// A^H A, of order cols: the squares of the singular values.
    Gram = 6,
    /// A A^H, of order rows.
    OuterGram = 7,
    /// [0 A; A^H 0], of order rows + cols: the singular values, and their negatives.
    Augmented = 8,
}

numbered!(
    Kind,
    Matrix,
    Laplacian,
    NormalisedLaplacian,
    SignlessLaplacian,
    NormalisedAdjacency,
    Modularity,
    Gram,
    OuterGram,
    Augmented
);

enum Products<'a, T> {
    Sparse { matrix: &'a Matrix, plan: Box<Plan> },
    Own(OperatorGuard<'a, T>),
}

/// A Hermitian operator on vectors in host memory.
pub struct Symmetric<'a, T: Scalar> {
    products: Products<'a, T>,
    order: usize,
    alpha: f64,
    /// Added to the diagonal.
    shift: f64,
    /// d^-1/2, which vectors are multiplied by before and after.
    scale: Option<Vec<T::Part>>,
    diagonal: Option<Vec<T::Part>>,
    /// A vector multiplied by `scale`.
    scaled: Vec<T>,
}

impl<'a, T: Scalar> Symmetric<'a, T> {
    /// What `kind` makes of `a`, plus `shift` times the identity. A sparse matrix is checked for symmetry, O(nnz).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a matrix that is not square or not Hermitian, and for a normalised operator of a graph
    /// with a row sum below 0; [`Error::NotSupported`] for another storage than sparse, and other operators than
    /// [`Kind::Matrix`] of one known by its products.
    pub fn new(context: &Arc<Context>, a: &'a Matrix, kind: Kind, shift: f64) -> Result<Self> {
        a.expect_context("a", context)?;
        a.expect_dtype("a", T::DTYPE)?;
        let n = a.rows();
        if n != a.cols() || n == 0 {
            return Err(Error::invalid("a", format!("is {n} x {}, a square matrix is needed", a.cols())));
        }
        if !shift.is_finite() {
            return Err(Error::invalid("shift", format!("is {shift}, a finite number is needed")));
        }
        let mut made = Self {
            products: match a.storage() {
                Storage::Operator(own) if kind == Kind::Matrix => Products::Own(own.lock::<T>("a")?),
                Storage::Csr(_) => {
                    let plan = Plan::new(context, a, ProductOptions { symmetric: true, ..ProductOptions::default() })?;
                    Products::Sparse { matrix: a, plan: Box::new(plan) }
                }
                other => {
                    let problem = format!("a: is {}, a sparse matrix is needed", other.name());
                    return Err(Error::NotSupported(problem));
                }
            },
            order: n,
            alpha: 1.0,
            shift,
            scale: None,
            diagonal: None,
            scaled: Vec::new(),
        };
        if matches!(made.products, Products::Sparse { .. }) {
            if !is_symmetric(a, 100.0 * T::Part::EPSILON.to_f64())? {
                return Err(Error::invalid("a", "is not symmetric (Hermitian if complex)"));
            }
            made.prepare(a, kind)?;
        }
        Ok(made)
    }

    fn prepare(&mut self, a: &Matrix, kind: Kind) -> Result<()> {
        const WHAT: &str = "degrees of a graph";
        if kind == Kind::Matrix {
            return Ok(());
        }
        let degrees = row_sums(a)?;
        if let Some(i) = degrees.iter().position(|d| !d.re.is_finite()) {
            return Err(Error::invalid("a", format!("has row sum {} in row {i} (from 0)", degrees[i].re)));
        }
        let mut parts = alloc::with_capacity(WHAT, degrees.len())?;
        match kind {
            Kind::Matrix => {}
            Kind::Modularity | Kind::Gram | Kind::OuterGram | Kind::Augmented => {
                return Err(Error::NotSupported(format!("kind: {kind:?} is not in this version")));
            }
            Kind::Laplacian | Kind::SignlessLaplacian => {
                parts.extend(degrees.iter().map(|d| T::Part::from_f64(d.re)));
                self.diagonal = Some(parts);
                self.alpha = if kind == Kind::Laplacian { -1.0 } else { 1.0 };
            }
            Kind::NormalisedLaplacian | Kind::NormalisedAdjacency => {
                if let Some(i) = degrees.iter().position(|d| d.re < 0.0) {
                    let problem = format!("has row sum {} in row {i} (from 0): no normalised operator", degrees[i].re);
                    return Err(Error::invalid("a", problem));
                }
                let root = |d: f64| if d == 0.0 { 0.0 } else { 1.0 / d.sqrt() };
                parts.extend(degrees.iter().map(|d| T::Part::from_f64(root(d.re))));
                if kind == Kind::NormalisedLaplacian {
                    let mut ones = alloc::with_capacity(WHAT, degrees.len())?;
                    ones.extend(degrees.iter().map(|d| if d.re == 0.0 { T::Part::ZERO } else { T::Part::ONE }));
                    self.diagonal = Some(ones);
                    self.alpha = -1.0;
                }
                self.scale = Some(parts);
                self.scaled = alloc::filled(WHAT, degrees.len(), T::default())?;
            }
        }
        Ok(())
    }

    /// Order n.
    pub fn order(&self) -> usize {
        self.order
    }

    /// y = A x.
    ///
    /// # Errors
    /// What the caller's own operator reports.
    pub fn apply(&mut self, x: &[T], y: &mut [T]) -> Result<()> {
        match &mut self.products {
            Products::Own(own) => {
                own.operator()?.apply(Adjoint::Plain, x, 1, y)?;
                if self.shift != 0.0 {
                    let shift = T::from_parts(self.shift, 0.0);
                    y.iter_mut().zip(x).for_each(|(y, x)| *y += shift * *x);
                }
                Ok(())
            }
            Products::Sparse { matrix, plan } => {
                let gathered = match &self.scale {
                    None => x,
                    Some(scale) => {
                        for ((z, x), s) in self.scaled.iter_mut().zip(x).zip(scale) {
                            *z = T::from_parts(s.re(), 0.0) * *x;
                        }
                        &self.scaled
                    }
                };
                let finish = Finish {
                    alpha: T::from_parts(self.alpha, 0.0),
                    beta: T::default(),
                    row_scale: self.scale.as_deref(),
                    shift: self.shift,
                    diagonal: self.diagonal.as_deref(),
                };
                plan.compute(matrix, finish, gathered, x, y)
            }
        }
    }
}
