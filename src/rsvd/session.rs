//! A session: options on one or several contexts, created once and used for many matrices.

use std::sync::Arc;
use std::time::Instant;

use super::calls::{self, Decompose, Errors, FindRange, Residuals, Symmetric};
use super::data::Resident;
use super::given::culprit;
use super::gpu;
use super::info::Info;
use super::open;
use super::options::{Centering, Method, Options, Right};
use super::outputs::{Outputs, check_vector, empty, read_vector, write_vector};
use super::plan::{Goal, Plan, Request, Results, WantedFactors};
use crate::backend::Backend;
use crate::blocks::source::io_error;
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::matrix::{Matrix, Storage};
use crate::progress::{CancelWatch, Progress, ProgressFn};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::session::{CancelHandle, LastInfo};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;

/// Decompositions with given options on the contexts of a group.
pub struct Rsvd {
    group: Group,
    options: Options,
    pub(super) given: Option<Matrix>,
    cancel: CancelHandle,
    last: LastInfo<Info>,
}

impl Rsvd {
    /// Checks the options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option that is out of range, as for [`Options::check`].
    pub fn new(context: &Arc<Context>, options: Options) -> Result<Self> {
        Self::over(&Group::of(context), options)
    }

    /// The same on several GPUs, over which rows are distributed.
    ///
    /// # Errors
    /// As [`Rsvd::new`]; [`Error::InvalidArgument`] for several contexts on the CPU.
    pub fn over(group: &Group, mut options: Options) -> Result<Self> {
        group.check_alive()?;
        options.check()?;
        if let Some(path) = &mut options.restart_path {
            // A run reads, writes and removes the same file, also after the process has changed its working directory.
            *path = std::path::absolute(&*path).map_err(|e| io_error(path, "find", &e))?;
        }
        group.expect_gpus("rows")?;
        if let (Resident::AtMost(rows), Backend::Cpu) = (options.resident_rows, group.first().backend()) {
            let problem = format!("is {rows} on a CPU, which keeps none: it concerns GPUs");
            return Err(Error::invalid("resident_rows", problem));
        }
        Ok(Self {
            group: group.clone(),
            options,
            given: None,
            cancel: CancelHandle::default(),
            last: LastInfo::default(),
        })
    }

    /// The first context, which matrices and tensors of calls belong to.
    pub fn context(&self) -> &Arc<Context> {
        self.group.first()
    }

    /// Options as given; defaults are resolved by each plan.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// A handle that cancels this object's calls. Any thread may use it while a call runs.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// The report of the last run that met its tolerance, or ended at the largest rank without.
    pub fn last_info(&self) -> LastInfo<Info> {
        self.last.clone()
    }

    /// Completes the report of a run that began at `start`, and keeps it.
    pub(super) fn reported(&self, mut info: Info, start: Instant) -> Info {
        info.seconds = start.elapsed().as_secs_f64();
        self.last.set(info.clone());
        info
    }

    /// The plan of a decomposition of `a` with both factors, as of [`Rsvd::plan_factors`].
    ///
    /// # Errors
    /// As [`Rsvd::plan_factors`].
    pub fn plan(&self, a: &Matrix) -> Result<Info> {
        self.plan_factors(a, WantedFactors::ALL)
    }

    /// The plan of a decomposition of `a` with the factors that are wanted: the fields of [`Info`] that are known before
    /// it runs.
    ///
    /// # Errors
    /// As [`Rsvd::compute`] for arguments and sizes that do not fit.
    pub fn plan_factors(&self, a: &Matrix, wanted: WantedFactors) -> Result<Info> {
        let plan = |excluded: &[Method]| self.planned_decomposition(a, wanted, excluded);
        self.choosing(&Progress::none(), plan, |plan| {
            let mut info = self.planned_info(plan);
            if plan.rows > 0 && plan.columns > 0 {
                with_scalar!(plan.dtype, "dtype", T => calls::predict::<T>(self.contexts(), a, plan, &mut info))?;
            }
            Ok(info)
        })
    }

    /// Plans with `plan` and calls `body` with the plan. If memory does not suffice for the method that the cost model chose,
    /// `body` fails before it starts work. The method is then excluded, and the plan is made again without the methods in
    /// its argument, unless `progress` was cancelled meanwhile.
    pub(super) fn choosing<P: AsRef<Plan>, R>(
        &self,
        progress: &Progress<'_>,
        mut plan: impl FnMut(&[Method]) -> Result<P>,
        mut body: impl FnMut(&P) -> Result<R>,
    ) -> Result<R> {
        let mut excluded = Vec::new();
        let mut refusal: Option<Error> = None;
        loop {
            progress.check()?;
            let plan = match plan(&excluded) {
                Ok(plan) => plan,
                Err(e) => return Err(refusal.unwrap_or(e)),
            };
            let is_chosen = self.options.method == Method::Auto && self.options.tolerance == 0.0;
            match body(&plan) {
                Err(
                    e @ (Error::OutOfDeviceMemory { what: gpu::NO_CUT, .. }
                    | Error::OutOfMemory { what: gpu::NO_HOST, .. }),
                ) if is_chosen => {
                    refusal = refusal.or(Some(e));
                    crate::alloc::push("methods", &mut excluded, plan.as_ref().method)?;
                }
                outcome => return outcome,
            }
        }
    }

    /// The plan of a decomposition of `a` by a method that is not excluded.
    pub(super) fn planned_decomposition(&self, a: &Matrix, wanted: WantedFactors, excluded: &[Method]) -> Result<Plan> {
        self.planned_without(a, Goal::Decompose, wanted, excluded)
    }

    fn planned(&self, a: &Matrix, goal: Goal) -> Result<Plan> {
        self.planned_without(a, goal, WantedFactors::ALL, &[])
    }

    fn planned_without(&self, a: &Matrix, goal: Goal, wanted: WantedFactors, excluded: &[Method]) -> Result<Plan> {
        self.check_matrix("a", a)?;
        let given = self.given.as_ref();
        let (options, contexts) = (&self.options, self.contexts());
        let request = Request {
            options,
            contexts,
            matrix: a,
            goal,
            given,
            transposed: None,
            wanted,
            results: Results::default(),
            excluded,
        };
        let plan = Plan::new(request)?;
        with_scalar!(plan.dtype, "dtype", T => open::check_type::<T>("a", a))?;
        if let Some(given) = given.filter(|_| !matches!(goal, Goal::Products(_))) {
            given.expect_dtype("omega", plan.dtype)?;
        }
        Ok(plan)
    }

    pub(super) fn planned_info(&self, plan: &Plan) -> Info {
        let mut info = Info::planned(&self.options, plan.dtype, plan.transposed, self.contexts().len());
        info.set_plan(plan);
        info.sketch_given = self.given.is_some();
        info
    }

    /// The leading k singular values and vectors, or as many as the tolerance needs. With a tolerance U and V have
    /// `max_rank` columns, and the unused ones are filled with zeros. Host outputs are complete on return, device outputs
    /// in the order of `stream`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for sizes, types and numbers in `a` that are not finite (naming the block);
    /// [`Error::OutOfMemory`], [`Error::OutOfDeviceMemory`]; [`Error::Cancelled`]; errors of sources and of the restart
    /// file. The object can be used again after any of them.
    pub fn compute(
        &mut self,
        stream: Option<&Stream>,
        a: &Matrix,
        outputs: Outputs<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let (start, progress) = (Instant::now(), self.progress(report));
        let mut outputs = outputs;
        let wanted = WantedFactors { u: outputs.u.is_some(), v: outputs.v.is_some() };
        let plan = |excluded: &[Method]| self.planned_decomposition(a, wanted, excluded);
        let info = self.choosing(&progress, plan, |plan| {
            let outputs = outputs.reborrow();
            self.check_outputs(a, plan, &outputs)?;
            let mut info = self.planned_info(plan);
            if plan.rows == 0 || plan.columns == 0 {
                return empty(outputs, info);
            }
            with_scalar!(plan.dtype, "dtype", T => {
                let mut work = Decompose::new(&self.options, plan, self.context(), self.given.as_ref(), outputs);
                self.call::<T>(stream, a, plan, &progress, &mut work, &mut info)?;
                work.finish()
            })?;
            Ok(info)
        })?;
        Ok(self.reported(info, start))
    }

    /// An orthonormal basis Q, m-by-l, of the range of the leading l vectors, and B = Q^H A, l-by-n.
    ///
    /// # Errors
    /// As [`Rsvd::compute`].
    pub fn range(
        &mut self,
        stream: Option<&Stream>,
        a: &Matrix,
        q: &mut Matrix,
        b: Option<&mut Matrix>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let (start, progress) = (Instant::now(), self.progress(report));
        self.refuse_restart("a basis of the range")?;
        self.options.expect_used_by_range()?;
        if self.options.tolerance > 0.0 {
            let tolerance = self.options.tolerance;
            return Err(Error::NotSupported(format!(
                "tolerance: is {tolerance}, 0 is needed for a basis of the range"
            )));
        }
        let width = q.cols();
        let plan = self.planned(a, Goal::Basis(width))?;
        self.check_output("q", q, a.rows(), width, plan.dtype)?;
        if let Some(b) = &b {
            self.check_output("b", b, width, a.cols(), plan.dtype)?;
        }
        let mut info = self.planned_info(&plan);
        if plan.rows == 0 || plan.columns == 0 {
            return Ok(self.reported(empty(Outputs { u: Some(q), s: None, v: None }, info)?, start));
        }
        let mut work = FindRange::new(&self.options, &plan, self.context(), self.given.as_ref(), q, b);
        with_scalar!(plan.dtype, "dtype", T => self.call::<T>(stream, a, &plan, &progress, &mut work, &mut info))?;
        Ok(self.reported(info, start))
    }

    /// The k eigenvalues of largest modulus of a Hermitian matrix, in that order, and their eigenvectors, n-by-k.
    ///
    /// # Errors
    /// As [`Rsvd::compute`]; [`Error::InvalidArgument`] for a matrix that is not square, or whose projection is not
    /// Hermitian.
    pub fn symmetric(
        &mut self,
        stream: Option<&Stream>,
        a: &Matrix,
        lambda: Option<&mut Tensor>,
        v: Option<&mut Matrix>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let (start, progress) = (Instant::now(), self.progress(report));
        if a.rows() != a.cols() {
            return Err(Error::invalid("a", format!("is {} x {}, not square", a.rows(), a.cols())));
        }
        self.refuse_restart("a symmetric decomposition")?;
        let Options { tolerance, center, .. } = self.options;
        if tolerance > 0.0 {
            let problem = format!("tolerance: is {tolerance}, 0 is needed for a symmetric decomposition");
            return Err(Error::NotSupported(problem));
        }
        if center != Centering::None {
            let center = word(center);
            return Err(Error::NotSupported(format!(
                "center: is {center}, NONE is needed for a symmetric decomposition"
            )));
        }
        let plan = self.planned(a, Goal::Symmetric)?;
        if let Some(lambda) = &lambda {
            check_vector("lambda", lambda, plan.rank)?;
        }
        if let Some(v) = &v {
            self.check_output("v", v, a.rows(), plan.rank, plan.dtype)?;
        }
        let mut info = self.planned_info(&plan);
        if plan.rows == 0 {
            return Ok(self.reported(empty(Outputs { u: None, s: lambda, v }, info)?, start));
        }
        let mut work = Symmetric::new(&self.options, &plan, self.context(), self.given.as_ref(), lambda, v);
        with_scalar!(plan.dtype, "dtype", T => self.call::<T>(stream, a, &plan, &progress, &mut work, &mut info))?;
        Ok(self.reported(info, start))
    }

    /// ||A - U diag(s) V^H||_F, estimated with random probes, and an upper bound of the spectral norm.
    ///
    /// # Errors
    /// As [`Rsvd::compute`].
    pub fn error(
        &mut self,
        stream: Option<&Stream>,
        a: &Matrix,
        factors: (&Matrix, &Tensor, &Matrix),
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(f64, f64, Info)> {
        let (start, progress) = (Instant::now(), self.progress(report));
        let (s, plan, mut info) = self.given_factors(a, factors)?;
        let mut work = Errors::new(&self.options, &plan, self.context(), (factors.0, s, factors.2));
        let found =
            with_scalar!(plan.dtype, "dtype", T => self.call::<T>(stream, a, &plan, &progress, &mut work, &mut info));
        let found = match found {
            Ok(()) if !info.error_frobenius.is_finite() => Err(Error::Numerical("the error is not finite".into())),
            other => other,
        };
        found.map_err(|e| self.explained(factors, e))?;
        let info = self.reported(info, start);
        Ok((info.error_frobenius, info.error_spectral, info))
    }

    /// ||A v_j - s_j u_j|| in `left` and ||A^H u_j - s_j v_j|| in `right`, for each j.
    ///
    /// # Errors
    /// As [`Rsvd::compute`].
    pub fn residuals(
        &mut self,
        stream: Option<&Stream>,
        a: &Matrix,
        factors: (&Matrix, &Tensor, &Matrix),
        left: &mut Tensor,
        right: &mut Tensor,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let (start, progress) = (Instant::now(), self.progress(report));
        let (s, plan, mut info) = self.given_factors(a, factors)?;
        check_vector("left", left, s.len())?;
        check_vector("right", right, s.len())?;
        let mut work = Residuals::new(&self.options, &plan, self.context(), (factors.0, s, factors.2));
        let found =
            with_scalar!(plan.dtype, "dtype", T => self.call::<T>(stream, a, &plan, &progress, &mut work, &mut info));
        let found = match found {
            Ok(()) if !work.left.iter().chain(&work.right).all(|x| x.is_finite()) => {
                Err(Error::Numerical("a residual is not finite".into()))
            }
            other => other,
        };
        found.map_err(|e| self.explained(factors, e))?;
        write_vector("left", left, &work.left)?;
        write_vector("right", right, &work.right)?;
        Ok(self.reported(info, start))
    }

    /// Names an entry of given factors that is not finite instead of a numerical error.
    fn explained(&self, (u, _, v): (&Matrix, &Tensor, &Matrix), error: Error) -> Error {
        match error {
            Error::Numerical(_) => culprit(self.context(), &[("u", u), ("v", v)], error),
            other => other,
        }
    }

    /// Refuses a restart file for `goal`, which does not support one.
    fn refuse_restart(&self, goal: &str) -> Result<()> {
        match &self.options.restart_path {
            Some(_) => Err(Error::NotSupported(format!("restart_path: is set, {goal} has no restart file"))),
            None => Ok(()),
        }
    }

    fn given_factors(&self, a: &Matrix, factors: (&Matrix, &Tensor, &Matrix)) -> Result<(Vec<f64>, Plan, Info)> {
        let (u, s, v) = factors;
        let values = read_vector("s", s)?;
        if let Some(j) = values.iter().position(|x| !x.is_finite()) {
            return Err(Error::invalid("s", format!("number {j} is {}, not finite", values[j])));
        }
        let k = values.len();
        let plan = self.planned(a, Goal::Products(k.max(self.options.probes)))?;
        if plan.rows == 0 || plan.columns == 0 {
            return Err(Error::invalid("a", "is empty"));
        }
        let (rows, columns) = if self.options.right == Right::V { (a.cols(), k) } else { (k, a.cols()) };
        for (name, m, rows, columns) in [("u", u, a.rows(), k), ("v", v, rows, columns)] {
            self.check_matrix(name, m)?;
            m.expect_size(name, rows, columns)?;
            m.expect_dtype(name, plan.dtype)?;
        }
        let mut info = self.planned_info(&plan);
        info.rank = crate::shape::to_i64(k);
        Ok((values, plan, info))
    }

    /// Runs `work` on the backend.
    pub(super) fn call<T: Scalar>(
        &self,
        stream: Option<&Stream>,
        a: &Matrix,
        plan: &Plan,
        progress: &Progress<'_>,
        work: &mut dyn calls::Call,
        info: &mut Info,
    ) -> Result<()> {
        let queue = stream::select(self.context(), stream)?;
        progress.check()?;
        calls::run::<T>(self.contexts(), queue, a, plan, progress, work, info)
    }

    /// The watch of a call without progress that begins now.
    pub(super) fn watch(&self) -> CancelWatch<'_> {
        self.cancel.watch(self.context())
    }

    /// Progress of a call that begins now: a cancel counts from here on, also while the call is planned.
    pub(super) fn progress<'p>(&self, report: Option<&'p ProgressFn<'p>>) -> Progress<'p> {
        self.cancel.progress(self.contexts(), report, self.cancel.epoch())
    }

    pub(super) fn group(&self) -> &Group {
        &self.group
    }

    pub(super) fn contexts(&self) -> &[Arc<Context>] {
        self.group.members()
    }

    /// Refuses a matrix of another context.
    pub(super) fn check_matrix(&self, argument: &str, m: &Matrix) -> Result<()> {
        self.group.check_alive()?;
        m.expect_context(argument, self.context())
    }

    /// Refuses a matrix that results cannot be written to.
    pub(super) fn check_output(
        &self,
        argument: &str,
        m: &Matrix,
        rows: usize,
        columns: usize,
        dtype: DType,
    ) -> Result<()> {
        self.check_matrix(argument, m)?;
        if m.is_read_only() {
            return Err(Error::invalid(argument, "was borrowed read-only and cannot be written to"));
        }
        if !matches!(m.storage(), Storage::Dense { .. }) {
            let found = m.storage().name();
            return Err(Error::NotSupported(format!("{argument}: is {found}, a dense matrix is needed")));
        }
        m.expect_size(argument, rows, columns)?;
        m.expect_dtype(argument, dtype)
    }

    fn check_outputs(&self, a: &Matrix, plan: &Plan, outputs: &Outputs<'_>) -> Result<()> {
        let (m, n, k) = (a.rows(), a.cols(), plan.rank);
        if let Some(u) = &outputs.u {
            self.check_output("u", u, m, k, plan.dtype)?;
        }
        if let Some(v) = &outputs.v {
            let (rows, columns) = if self.options.right == Right::V { (n, k) } else { (k, n) };
            self.check_output("v", v, rows, columns, plan.dtype)?;
        }
        if let Some(s) = &outputs.s {
            check_vector("s", s, k)?;
        }
        if plan.method == Method::Merge && self.options.one_pass {
            let (name, wanted) = if plan.transposed { ("v", outputs.v.is_some()) } else { ("u", outputs.u.is_some()) };
            if wanted || self.options.error.is_probed() {
                let problem = format!("{name}: one pass of MERGE does not give it, nor probes of the error");
                return Err(Error::NotSupported(problem));
            }
        }
        Ok(())
    }
}
