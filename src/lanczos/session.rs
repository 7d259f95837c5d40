//! A session: an operator and options on one or several contexts, for calls on many matrices.

use std::sync::Arc;
use std::time::Instant;

use super::algorithm::cullum::Recurrence;
use super::algorithm::pairs::Job;
use super::gpu::Passing;
use super::info::{Info, Shares};
use super::memory::{self, Bytes, Multiplied};
use super::operator::{self, Kind, Symmetric};
use super::options::{Options, Which};
use super::outputs::{Outputs, TripletOutputs, read_start};
use super::shared::{self, Partition, eigenpairs_over, expect_kind, expect_rows};
use super::singular::{self, SingularOperator, triplets_as_planned};
use super::singular_plan::Planned;
use super::solve::{SolveInputs, Vectors, eigenpairs_to, tridiagonalize};
use crate::backend::memory::Memory;
use crate::choice::{with_defaults, word};
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::group::Group;
use crate::matrix::sparse::Ordering;
use crate::matrix::{Matrix, Storage};
use crate::progress::{Progress, ProgressFn};
use crate::scalar::{Scalar, with_scalar};
use crate::session::{CancelHandle, LastInfo};
use crate::tensor::Tensor;

with_defaults! {
    /// Which operator is made of a matrix, and how its eigenpairs are found.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Problem {
        /// Which eigenpairs, and the method.
        pub options: Options = Options::default(),
        /// The operator that is made of the matrix.
        pub kind: Kind = Kind::Matrix,
        /// Added to the diagonal of the operator.
        pub shift: f64 = 0.0,
        /// The order of rows and columns in which the products are computed; `None` for the matrix's own.
        pub ordering: Option<Ordering> = None,
    }
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
            ("orthogonalization", o.orthogonalization != d.orthogonalization),
            ("filter", o.filter != d.filter),
            ("degree", o.degree != d.degree),
        ];
        match set.iter().find(|(_, is_set)| *is_set) {
            Some((name, _)) => Err(Error::invalid(*name, "is set, this function does not use it")),
            None => Ok(()),
        }
    }

    /// Refuses an ordering, for functions that take matrices in their own order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn expect_no_ordering(&self) -> Result<()> {
        if self.ordering.is_none() {
            return Ok(());
        }
        Err(Error::invalid("ordering", "is set, this function takes matrices as they are"))
    }

    /// The options, for a function whose operator is the normalized one of a graph: it fixes `kind`, `shift` and
    /// `which`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if one of these is set. `which` may be SMALLEST, or LARGEST, which is the default.
    pub fn expect_of_graph(&self) -> Result<&Options> {
        self.expect_no_ordering()?;
        if self.kind != Kind::Matrix {
            return Err(Error::invalid("kind", "is set, this function determines the operator"));
        }
        if self.shift != 0.0 {
            return Err(Error::invalid("shift", "is set, this function determines the operator"));
        }
        if !matches!(self.options.which, Which::Largest | Which::Smallest) {
            let problem = format!("is {}, this function takes the smallest of its operator", word(self.options.which));
            return Err(Error::invalid("which", problem));
        }
        Ok(&self.options)
    }

    /// The operator through which singular triplets are computed.
    fn through(&self) -> Result<SingularOperator> {
        self.expect_no_ordering()?;
        let through = match self.kind {
            Kind::Matrix => SingularOperator::Auto,
            Kind::Gram => SingularOperator::Gram,
            Kind::Augmented => SingularOperator::Augmented,
            other => {
                let problem = format!("is {}, MATRIX, GRAM or AUGMENTED is needed", word(other));
                return Err(Error::invalid("kind", problem));
            }
        };
        if self.shift != 0.0 {
            return Err(Error::invalid("shift", format!("is {}, singular values have none", real(self.shift))));
        }
        Ok(through)
    }

    /// The operator of `a`, whose symmetry is tested by products if the options ask for it.
    ///
    /// # Errors
    /// As [`Symmetric::in_order`].
    pub fn operator<'a, T: Scalar>(&self, context: &Arc<Context>, a: &'a Matrix) -> Result<Symmetric<'a, T>> {
        let mut operator = Symmetric::<T>::in_order(context, a, self.kind, self.shift, self.ordering)?;
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
    group: Group,
    problem: Problem,
    cancel: CancelHandle,
    last: LastInfo<Info>,
}

impl Lanczos {
    /// A session on one context, the context of its matrices and results.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for options that are out of range for every matrix or exclude each other.
    pub fn new(context: &Arc<Context>, problem: Problem) -> Result<Self> {
        Self::over(&Group::of(context), problem)
    }

    /// The same on several contexts, which share the rows of a sparse matrix. Matrices and results belong to the first.
    ///
    /// # Errors
    /// As [`Lanczos::new`].
    pub fn over(group: &Group, problem: Problem) -> Result<Self> {
        group.check_alive()?;
        problem.options.check()?;
        Ok(Self { group: group.clone(), problem, cancel: CancelHandle::default(), last: LastInfo::default() })
    }

    /// A handle that cancels this object's calls. Any thread may use it while a call runs.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// The report of the last run, for any thread.
    pub fn last_info(&self) -> LastInfo<Info> {
        self.last.clone()
    }

    /// Keeps the report of a run for [`Lanczos::last_info`].
    pub fn record(&self, info: Info) -> Info {
        self.last.set(info);
        info
    }

    /// Progress and cancellation of one call, which a cancel of any member ends too.
    pub fn progress<'p>(&self, report: Option<&'p ProgressFn<'p>>) -> Progress<'p> {
        self.cancel.progress(self.group.members(), report, self.cancel.epoch())
    }

    /// Refuses a matrix of another context.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument`; as [`Group::check_alive`].
    pub fn expect_own(&self, argument: &str, a: &Matrix) -> Result<()> {
        self.group.check_alive()?;
        a.expect_context(argument, self.context())
    }

    /// The first context of the group, which matrices and vectors belong to.
    pub fn context(&self) -> &Arc<Context> {
        self.group.first()
    }

    /// The contexts that share the work.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The operator and the options.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Refuses several contexts, for calls that use one alone.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn expect_alone(&self) -> Result<()> {
        let members = self.group.members().len();
        if members == 1 {
            return Ok(());
        }
        Err(Error::invalid("group", format!("has {members} contexts, this function uses the matrix's context alone")))
    }

    /// The plan of a solve of `a` whose vectors are returned in host memory: method, vectors of the space, memory, and
    /// how the contexts share the rows of a square sparse matrix. Of `inputs`, the number of known vectors counts, and
    /// whether there is a solve. The matrix keeps the parts if its values are known not to change.
    ///
    /// # Errors
    /// As [`Lanczos::solve`], with the same texts, but for those that depend on entries, on start vectors and on
    /// outputs.
    pub fn plan(&self, a: &Matrix, inputs: Inputs<'_>) -> Result<Info> {
        self.expect_own("a", a)?;
        with_scalar!(a.dtype(), "a", T => {
            let job = self.check::<T>(a, inputs)?;
            let options = &self.problem.options;
            let returned = job.order().saturating_mul(options.count);
            let (shares, bytes) = if self.group.members().len() > 1 {
                let partition = Partition::cached(self.group.members(), a)?;
                (partition.shares(a.dtype()), shared::expect_bytes(a, inputs.solve, &partition, &job, (self.problem.kind, returned))?)
            } else {
                let is_square = matches!(a.storage(), Storage::Csr(_)) && a.rows() == a.cols();
                let one = Shares { contexts: 1, ..Shares::default() };
                let shares = if is_square { shared::shares(&self.group, a)? } else { one };
                (shares, self.bytes(a, inputs.solve, &job, returned)?)
            };
            let (host_bytes, device_bytes) = (bytes.host, bytes.device);
            let (method, reason, basis) = (options.method, job.choice(), job.basis());
            Ok(Info { method, reason, basis, degree: options.degree, host_bytes, device_bytes, shares, ..Info::default() })
        })
    }

    /// Bytes of a run of `job` on one context that returns `returned` numbers in host memory; refuses those beyond its
    /// limits.
    fn bytes<T: Scalar>(&self, a: &Matrix, solve: Option<&Matrix>, job: &Job<'_, T>, returned: usize) -> Result<Bytes> {
        let (context, Problem { kind, ordering, .. }) = (self.context(), self.problem);
        let mut copies = memory::copies(context, a, (kind, ordering), job.width())?;
        if let Some(solve) = solve {
            copies = copies.then(memory::copies(context, solve, (Kind::Matrix, None), 1)?);
        }
        let is_own = matches!(a.storage(), Storage::Operator(_));
        let of = Multiplied { kind, shape: (a.rows(), a.cols()), is_own, is_ordered: ordering.is_some(), copies };
        let bytes = memory::eigenpairs(context, job, &of, returned)?.behind(&copies, Bytes::default());
        bytes.expect(context, memory::EIGENPAIRS).map(|()| bytes)
    }

    /// The checks of a plan, which a solve makes before all others: options, matrix, known vectors and solve, without
    /// their entries.
    fn check<T: Scalar>(&self, a: &Matrix, inputs: Inputs<'_>) -> Result<Job<'_, T>> {
        let context = self.context();
        let Problem { kind, shift, ordering, ref options } = self.problem;
        if self.group.members().len() > 1 {
            expect_no_ordering(ordering)?;
            expect_kind(kind)?;
            expect_rows(a)?;
        }
        operator::check::<T>(context, a, kind, shift, ordering)?;
        let n = kind.order((a.rows(), a.cols()));
        let mut known = 0;
        if let Some(given) = inputs.known {
            given.expect_context("known", context)?;
            given.expect_dtype("known", T::DTYPE)?;
            given.expect_size("known", n, given.cols())?;
            given.dense("known")?;
            known = given.cols();
        }
        if let Some(solve) = inputs.solve {
            solve.expect_context("solve", context)?;
            solve.expect_dtype("solve", T::DTYPE)?;
            solve.expect_size("solve", n, n)?;
            operator::check::<T>(context, solve, Kind::Matrix, 0.0, None).map_err(|e| e.renamed("a", "solve"))?;
        }
        Job::planned(options, n, known, inputs.solve.is_some()).map_err(|e| e.renamed("deflate", "known"))
    }

    /// k eigenpairs of the operator of `a`. The outputs have the pairs that were found, and [`Info::count`] is their
    /// number; [`Info::check_converged`] says whether all have converged.
    ///
    /// # Errors
    /// As [`eigenpairs_over`]; [`Error::InvalidArgument`] and [`Error::NotSupported`] for inputs and outputs that
    /// do not fit.
    pub fn solve(
        &self,
        a: &Matrix,
        inputs: Inputs<'_>,
        mut outputs: Outputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        self.expect_own("a", a)?;
        let info = with_scalar!(a.dtype(), "a", T => self.solve_typed::<T>(a, inputs, &mut outputs, report))?;
        Ok(self.record(info))
    }

    fn solve_typed<T: Scalar>(
        &self,
        a: &Matrix,
        inputs: Inputs<'_>,
        outputs: &mut Outputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        // Before the matrix is looked at, which takes time: a cancel counts from here on.
        let progress = self.progress(report);
        let context = self.context();
        let Problem { kind, shift, ordering, ref options } = self.problem;
        let job = self.check::<T>(a, inputs)?;
        let n = job.order();
        let mut bytes = None;
        let mut operator = match self.group.members().len() {
            1 => {
                let returned = if outputs.returns_vectors() { n.saturating_mul(options.count) } else { 0 };
                bytes = Some(self.bytes(a, inputs.solve, &job, returned)?);
                Some(Symmetric::<T>::in_order(context, a, kind, shift, ordering)?)
            }
            _ => None,
        };
        outputs.check::<T>(context, n, options.count)?;
        let start = read_start::<T>(inputs.start, context, n)?;
        let known = match inputs.known {
            None => std::borrow::Cow::Borrowed(&[][..]),
            Some(known) => known.dense("known")?.columns::<T>("known")?,
        };
        let given = SolveInputs { start: start.as_deref(), deflate: &known, solve: inputs.solve };
        let vectors = match outputs.vectors.as_mut().map(|v| v.dense_mut("vectors")).transpose()? {
            None => Vectors::Left,
            Some(target) if matches!(target.memory, Memory::Device(_)) => Vectors::Device(target),
            Some(_) => Vectors::Returned,
        };
        let pairs = match &mut operator {
            Some(operator) => eigenpairs_to(context, operator, options, &given, &progress, vectors),
            None => eigenpairs_over(&self.group, a, (kind, shift), options, &given, &progress, vectors),
        };
        let mut pairs = pairs.map_err(|e| e.renamed("deflate", "known"))?;
        if let Some(Bytes { host, device }) = bytes {
            (pairs.info.host_bytes, pairs.info.device_bytes) = (host, device);
        }
        outputs.write(&pairs)?;
        Ok(pairs.info)
    }

    /// The plan of [`Lanczos::singular`] for `a`: the first method and why, its vectors, and the memory of the vectors,
    /// also of Golub-Kahan-Lanczos if it may follow.
    ///
    /// # Errors
    /// As [`Lanczos::singular`], with the same texts, but for those that depend on entries, on start vectors and on
    /// outputs.
    pub fn plan_singular(&self, a: &Matrix) -> Result<Info> {
        self.expect_alone()?;
        let through = self.problem.through()?;
        self.expect_own("a", a)?;
        let options = &self.problem.options;
        let planned = with_scalar!(a.dtype(), "a", T => Planned::new::<T>(self.context(), a, through, options))?;
        Ok(planned.report(a))
    }

    /// k singular triplets of `a`. `start` has min(rows, cols) numbers of the matrix's type. [`Info`] as for
    /// [`Lanczos::solve`].
    ///
    /// # Errors
    /// As [`singular::singular_triplets`]; [`Error::InvalidArgument`] for several contexts, for an operator that has no singular
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
        self.expect_own("a", a)?;
        let call = (through, start);
        let info = with_scalar!(a.dtype(), "a", T => self.singular_typed::<T>(a, call, &mut outputs, report))?;
        Ok(self.record(info))
    }

    fn singular_typed<T: Scalar>(
        &self,
        a: &Matrix,
        (through, start): (SingularOperator, Option<&Tensor>),
        outputs: &mut TripletOutputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let progress = self.progress(report);
        let context = self.context();
        let options = &self.problem.options;
        let planned = Planned::new::<T>(context, a, through, options)?;
        outputs.check::<T>(a, options.count)?;
        let start = read_start::<T>(start, context, a.rows().min(a.cols()))?;
        let vectors = [outputs.u.is_some(), outputs.v.is_some()];
        let request = singular::Request { through, start: start.as_deref(), vectors };
        let found = triplets_as_planned::<T>(context, a, request, options, &planned, &progress)?;
        outputs.write(&found)?;
        Ok(found.info)
    }

    /// `steps` steps of the plain three-term recurrence of the operator of `a`, from `start` or from a random vector.
    ///
    /// # Errors
    /// As [`tridiagonalize`]; [`Error::InvalidArgument`] for several contexts and for options that the recurrence does
    /// not use.
    pub fn tridiagonalize(
        &self,
        a: &Matrix,
        steps: usize,
        start: Option<&Tensor>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Recurrence> {
        self.expect_alone()?;
        self.problem.expect_recurrence()?;
        self.expect_own("a", a)?;
        let (context, seed) = (self.context(), self.problem.options.seed);
        let (progress, begin) = (self.progress(report), Instant::now());
        let (found, bytes) = with_scalar!(a.dtype(), "a", T => {
            let mut operator = self.problem.operator::<T>(context, a)?;
            let start = read_start::<T>(start, context, operator.order())?;
            let found = tridiagonalize(context, &mut operator, steps, seed, start.as_deref(), &progress)?;
            Ok((found, recurrence_memory(context, &operator)?))
        })?;
        let norm = found.alpha.iter().chain(&found.beta).fold(0.0f64, |most, v| most.max(v.abs()));
        let info = Info::of_recurrences(steps, [found.alpha.len(), steps], norm, begin.elapsed().as_secs_f64());
        self.record(Info { host_bytes: bytes.host, device_bytes: bytes.device, ..info });
        Ok(found)
    }
}

/// Bytes of a recurrence: of its vectors, and of the operator beside the copies of its matrix.
///
/// # Errors
/// [`Error::OutOfMemory`] for sizes beyond any memory; errors of a GPU.
pub fn recurrence_memory<T: Scalar>(context: &Context, operator: &Symmetric<'_, T>) -> Result<Bytes> {
    let of = memory::products(context, operator, 1)?;
    let own = memory::operator::<T>(context, of.kind, of.shape, None);
    let (own, size) = (own.and(Bytes { host: 0, device: of.copies.space }), (operator.order(), 3));
    let passing = Passing { is_ordered: of.is_ordered, ..Passing::default() };
    let passing = memory::passing::<T>(context, size, passing)?;
    Ok(memory::space::<T>(context, size, own, Bytes::default())?.and(passing))
}

/// Refuses an ordering of rows that several contexts share.
fn expect_no_ordering(ordering: Option<Ordering>) -> Result<()> {
    match ordering {
        None => Ok(()),
        Some(_) => Err(Error::invalid("ordering", "is set, several contexts have rows in the matrix's order")),
    }
}
