//! A session: an operator and options on one or several contexts, for calls on many matrices.

use std::sync::Arc;

use super::algorithm::cullum::Recurrence;
use super::info::Info;
use super::operator::{Kind, Symmetric};
use super::options::{Options, Which};
use super::outputs::{Outputs, TripletOutputs, read_start};
use super::shared::{self, eigenpairs_over, expect_kind};
use super::singular::{self, Through, singular_triplets};
use super::solve::{Given, Vectors, eigenpairs_to, tridiagonalise};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::matrix::sparse::Ordering;
use crate::progress::ProgressFn;
use crate::scalar::{Scalar, with_scalar};
use crate::session;
use crate::tensor::Tensor;

/// Which operator is made of a matrix, and how its eigenpairs are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// Which eigenpairs, and the method.
    pub options: Options,
    /// The operator that is made of the matrix.
    pub kind: Kind,
    /// Added to the diagonal of the operator.
    pub shift: f64,
    /// The order of rows and columns in which the products are computed; `None` for the matrix's own.
    pub order: Option<Ordering>,
}

impl Problem {
    /// Refuses every option that a recurrence without restarts and convergence does not use.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn expect_recurrence(&self) -> Result<()> {
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

    /// Refuses an order, for functions that take matrices in their own order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn expect_no_order(&self) -> Result<()> {
        if self.order.is_none() {
            return Ok(());
        }
        Err(Error::invalid("order", "is set, this function takes matrices as they are"))
    }

    /// The options, for a function whose operator is the normalised one of a graph: it fixes `kind`, `shift` and `which`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if one of these is set.
    pub fn expect_of_graph(&self) -> Result<&Options> {
        self.expect_no_order()?;
        if self.kind != Kind::Matrix {
            return Err(Error::invalid("kind", "is set: this function says what the operator is"));
        }
        if self.shift != 0.0 {
            return Err(Error::invalid("shift", "is set: this function says what the operator is"));
        }
        if !matches!(self.options.which, Which::Largest | Which::Smallest) {
            return Err(Error::invalid("which", "is set: this function takes the smallest of its operator"));
        }
        Ok(&self.options)
    }

    /// The operator through which singular triplets are computed.
    fn through(&self) -> Result<Through> {
        self.expect_no_order()?;
        let through = match self.kind {
            Kind::Matrix => Through::Auto,
            Kind::Gram => Through::Gram,
            Kind::Augmented => Through::Augmented,
            other => {
                let problem = format!("is {} ({other:?}), Matrix, Gram or Augmented is needed", other as i32);
                return Err(Error::invalid("kind", problem));
            }
        };
        if self.shift != 0.0 {
            return Err(Error::invalid("shift", format!("is {}, singular values have none", self.shift)));
        }
        Ok(through)
    }

    /// The operator of `a`, whose symmetry is tested by products if the options ask for it.
    pub(crate) fn operator<'a, T: Scalar>(&self, context: &Arc<Context>, a: &'a Matrix) -> Result<Symmetric<'a, T>> {
        let mut operator = Symmetric::<T>::in_order(context, a, self.kind, self.shift, self.order)?;
        if self.options.check_symmetry {
            operator.sample_symmetry();
        }
        Ok(operator)
    }
}

/// Inputs of a solve beside the matrix.
#[derive(Clone, Copy, Default)]
pub struct Inputs<'a> {
    /// Start vector of n numbers of the matrix's type; a random one is used if there is none.
    pub start: Option<&'a Tensor>,
    /// n-by-j vectors of the matrix's type that the space is kept orthogonal to.
    pub known: Option<&'a Matrix>,
    /// An operator that solves (A - sigma I) x = b.
    pub solve: Option<&'a Matrix>,
}

/// Eigenpairs and singular triplets of matrices, with given options.
pub struct Lanczos {
    contexts: Vec<Arc<Context>>,
    problem: Problem,
}

impl Lanczos {
    /// A session on `contexts`. Matrices and results belong to the first one, of which there must be at least one.
    pub fn new(contexts: Vec<Arc<Context>>, problem: Problem) -> Self {
        Self { contexts, problem }
    }

    /// The first context.
    pub fn context(&self) -> &Arc<Context> {
        &self.contexts[0]
    }

    /// All contexts.
    pub fn contexts(&self) -> &[Arc<Context>] {
        &self.contexts
    }

    /// The operator and the options.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Refuses further contexts, for calls that use one alone.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn expect_alone(&self) -> Result<()> {
        let further = self.contexts.len() - 1;
        if further == 0 {
            return Ok(());
        }
        let problem = format!("is {further}, this function works on the matrix's context alone: 0 is needed");
        Err(Error::invalid("contexts_count", problem))
    }

    /// How the rows of `a` would be shared out over the contexts.
    ///
    /// # Errors
    /// As [`shared::shares`].
    pub fn plan(&self, a: &Matrix) -> Result<Info> {
        let shares = shared::shares(&self.contexts, a)?;
        Ok(Info { shares, ..Info::default() })
    }

    /// k eigenpairs of the operator of `a`. The outputs have the pairs that were found, and [`Info::count`] is their
    /// number; [`Info::check_converged`] says whether all have converged.
    ///
    /// # Errors
    /// As [`eigenpairs_over`]; [`Error::InvalidArgument`] and [`Error::NotSupported`] for inputs and outputs that do not
    /// fit.
    pub fn solve(
        &self,
        a: &Matrix,
        inputs: Inputs<'_>,
        mut outputs: Outputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        with_scalar!(a.dtype(), "a", T => self.solve_typed::<T>(a, inputs, &mut outputs, report))
    }

    fn solve_typed<T: Scalar>(
        &self,
        a: &Matrix,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let context = self.context();
        let Problem { kind, shift, order, ref options } = self.problem;
        let mut operator = match self.contexts.len() {
            1 => Some(Symmetric::<T>::in_order(context, a, kind, shift, order)?),
            _ if order.is_some() => {
                return Err(Error::invalid("order", "is set, several contexts have rows in the matrix's order"));
            }
            _ => {
                // Before the sizes of outputs, which depend on the kind.
                expect_kind(kind)?;
                None
            }
        };
        let n = operator.as_ref().map_or(a.rows(), Symmetric::order);
        outputs.check::<T>(context, n, options.count)?;
        let start = read_start::<T>(inputs.start, context, n)?;
        let known = match inputs.known {
            None => std::borrow::Cow::Borrowed(&[][..]),
            Some(known) => {
                known.expect_context("known", context)?;
                known.expect_dtype("known", T::DTYPE)?;
                known.expect_size("known", n, known.cols())?;
                known.dense("known")?.columns::<T>("known")?
            }
        };
        if let Some(solve) = inputs.solve {
            solve.expect_context("solve", context)?;
            solve.expect_dtype("solve", T::DTYPE)?;
            solve.expect_size("solve", n, n)?;
        }
        let given = Given { start: start.as_deref(), deflate: &known, solve: inputs.solve };
        let progress = session::progress(&self.contexts, report);
        let vectors = match outputs.vectors.as_mut().map(|v| v.dense_mut("vectors")).transpose()? {
            None => Vectors::Left,
            Some(target) if matches!(target.memory, Memory::Device(_)) => Vectors::Device(target),
            Some(_) => Vectors::Returned,
        };
        let pairs = match &mut operator {
            Some(operator) => eigenpairs_to(context, operator, options, &given, &progress, vectors),
            None => eigenpairs_over(&self.contexts, a, (kind, shift), options, &given, &progress, vectors),
        };
        let pairs = pairs.map_err(|e| e.renamed("deflate", "known"))?;
        outputs.write(&pairs)?;
        Ok(pairs.info)
    }

    /// k singular triplets of `a`. `start` has min(rows, cols) numbers of the matrix's type. [`Info`] as for
    /// [`Lanczos::solve`].
    ///
    /// # Errors
    /// As [`singular_triplets`]; [`Error::InvalidArgument`] for further contexts, for an operator that has no singular
    /// values, and for inputs and outputs that do not fit.
    pub fn singular(
        &self,
        a: &Matrix,
        start: Option<&Tensor>,
        mut outputs: TripletOutputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        self.expect_alone()?;
        let through = self.problem.through()?;
        with_scalar!(a.dtype(), "a", T => self.singular_typed::<T>(a, (through, start), &mut outputs, report))
    }

    fn singular_typed<T: Scalar>(
        &self,
        a: &Matrix,
        (through, start): (Through, Option<&Tensor>),
        outputs: &mut TripletOutputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let context = self.context();
        let options = &self.problem.options;
        outputs.check::<T>(a, options.count)?;
        let start = read_start::<T>(start, context, a.rows().min(a.cols()))?;
        let vectors = [outputs.u.is_some(), outputs.v.is_some()];
        let request = singular::Request { through, start: start.as_deref(), vectors };
        let progress = session::progress(&self.contexts, report);
        let found = singular_triplets::<T>(context, a, request, options, &progress)?;
        outputs.write(&found)?;
        Ok(found.info)
    }

    /// `steps` steps of the plain three-term recurrence of the operator of `a`, from `start` or from a random vector.
    ///
    /// # Errors
    /// As [`tridiagonalise`]; [`Error::InvalidArgument`] for further contexts and for options that the recurrence does
    /// not use.
    pub fn tridiagonalise(
        &self,
        a: &Matrix,
        steps: usize,
        start: Option<&Tensor>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Recurrence> {
        self.expect_alone()?;
        self.problem.expect_recurrence()?;
        let (context, seed) = (self.context(), self.problem.options.seed);
        let progress = session::progress(&self.contexts, report);
        with_scalar!(a.dtype(), "a", T => {
            let mut operator = self.problem.operator::<T>(context, a)?;
            let start = read_start::<T>(start, context, operator.order())?;
            tridiagonalise(context, &mut operator, steps, seed, start.as_deref(), &progress)
        })
    }
}
