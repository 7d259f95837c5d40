//! What each call of a session does on a backend.

use std::sync::Arc;

use super::algorithm::{self, ErrorFigures, Factors, FactorsOf, Outcome, Phase, Run, Task, estimate, find, passes};
use super::cpu::CpuOps;
use super::gpu::GpuOps;
use super::info::Info;
use super::open::Opened;
use super::ops::RsvdOps;
use super::options::{ErrorKind, Method, Options, Right, Sign};
use super::plan::Plan;
use super::restart::{CHECKSUM_START, Identity, Restart, checksum};
use super::session::{Outputs, sketch_of, write_vector};
use crate::backend::Backend;
use crate::backend::gpu::GpuStream;
use crate::context::Context;
use crate::dense::Op;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::Scalar;
use crate::shape::to_u64;
use crate::tensor::Tensor;

/// A call, for every backend.
pub trait Call<T: Scalar> {
    /// Before a backend reads the data.
    ///
    /// # Errors
    /// What the restart file and the data report.
    fn prepare(&mut self, _: &mut Opened<'_, T>) -> Result<()> {
        Ok(())
    }

    /// Does it. `rescale` takes the factor that the data need if they cannot be squared; the call is then made again.
    ///
    /// # Errors
    /// What the passes report.
    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome>;
}

/// Runs a call on the backend of the contexts.
pub fn run<T: Scalar, C: Call<T>>(
    contexts: &[Arc<Context>],
    queue: Option<&GpuStream>,
    a: &Matrix,
    plan: &Plan,
    progress: &Progress<'_>,
    work: &mut C,
    info: &mut Info,
) -> Result<()> {
    let mut opened = Opened::<T>::new("a", a)?;
    work.prepare(&mut opened)?;
    let base: Vec<(u64, u64)> =
        contexts.iter().map(|c| (c.host_budget().restart_peak(), c.device_budget().restart_peak())).collect();
    let mut factor = 1.0;
    loop {
        let problem = opened.problem(plan.transposed)?;
        let mut setting = plan.setting;
        setting.factor = factor;
        let mut rescale = None;
        let outcome = match (contexts[0].backend(), queue) {
            (Backend::Gpu(gpu), queue) => {
                let queue = queue.unwrap_or_else(|| gpu.default_stream());
                let mut ops = GpuOps::<T>::new(contexts, queue, problem, setting, progress)?;
                info.device_bytes = info.device_bytes.max(super::info::number(ops.planned_bytes()));
                let outcome = work.run(&mut ops, factor, &mut rescale);
                info.set_traffic(ops.traffic());
                outcome
            }
            (Backend::Cpu, _) => {
                let mut ops = CpuOps::<T>::new(&contexts[0], problem, setting, progress)?;
                let outcome = work.run(&mut ops, factor, &mut rescale);
                info.set_traffic(ops.traffic());
                outcome
            }
        };
        match (outcome, rescale) {
            (Err(_), Some(needed)) if factor == 1.0 => factor = needed,
            (outcome, _) => {
                info.set_outcome(&outcome?, 1.0 / factor);
                break;
            }
        }
    }
    for (context, (host, device)) in contexts.iter().zip(base) {
        let host = super::info::number(context.host_budget().peak().saturating_sub(host));
        let device = super::info::number(context.device_budget().peak().saturating_sub(device));
        info.host_bytes_used = info.host_bytes_used.max(host);
        info.device_bytes_used = info.device_bytes_used.max(device);
    }
    Ok(())
}

/// The task of a plan without wishes.
pub(super) fn task_of(options: &Options, plan: &Plan) -> Task {
    Task {
        method: plan.method,
        rank: plan.rank,
        columns: plan.width,
        iterations: plan.iterations,
        merge_width: plan.merge_width,
        one_pass: options.one_pass,
        block_columns: options.block_columns,
        tolerance: 0.0,
        sketch: sketch_of(options),
        orthonormalization: options.orthonormalization,
        precision: options.iteration_precision,
        phase: Phase::Free,
        left: false,
        right: false,
        error: options.error,
        probes: options.probes,
    }
}

/// Writes a matrix as long as a row of the data to the caller's factor.
fn give<T: Scalar, O: RsvdOps<T>>(ops: &mut O, m: &O::Matrix, to: Target<'_>, transposed: bool) -> Result<()> {
    ops.write(m, to.matrix, to.adjoint, transposed)
}

/// Writes a tall matrix to the caller's factor.
fn give_tall<T: Scalar, O: RsvdOps<T>>(ops: &mut O, p: &O::Tall, to: Target<'_>, transposed: bool) -> Result<()> {
    ops.tall_write(p, to.matrix, to.adjoint, transposed)
}

/// One of the caller's factors.
struct Target<'a> {
    matrix: &'a mut Matrix,
    /// Whether it holds the factor's conjugate transpose.
    adjoint: bool,
}

/// Singular values and vectors.
pub struct Decompose<'a> {
    options: &'a Options,
    plan: &'a Plan,
    context: &'a Arc<Context>,
    given: Option<&'a Matrix>,
    outputs: Outputs<'a>,
    restart: Option<Restart>,
    task: Task,
}

impl<'a> Decompose<'a> {
    /// The call.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        given: Option<&'a Matrix>,
        outputs: Outputs<'a>,
    ) -> Self {
        let mut task = task_of(options, plan);
        task.tolerance = options.tolerance;
        let (u, v) = (outputs.u.is_some(), outputs.v.is_some());
        // The transposed problem's U is V, but for conjugation.
        (task.left, task.right) = if plan.transposed { (v, u) } else { (u, v) };
        if options.tolerance > 0.0 || options.error == ErrorKind::Probes {
            (task.left, task.right) = (true, true);
        }
        task.phase = match (options.sign, plan.transposed) {
            (Sign::None, _) => Phase::Free,
            (Sign::VMax, false) | (Sign::UMax, true) => Phase::Right,
            (Sign::VMax, true) | (Sign::UMax, false) => Phase::Left,
        };
        if !u && !v {
            task.phase = Phase::Free;
        }
        Self { options, plan, context, given, outputs, restart: None, task }
    }

    /// After a run that succeeded.
    ///
    /// # Errors
    /// [`Error::Io`](crate::error::Error::Io) if the restart file cannot be removed.
    pub fn finish(&self) -> Result<()> {
        self.restart.as_ref().map_or(Ok(()), Restart::remove)
    }

    /// Factors of room for the largest rank.
    fn padded<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>, factors: FactorsOf<T, O>) -> Result<FactorsOf<T, O>> {
        let (found, room) = (factors.s.len(), run.task.rank);
        if found == room {
            return Ok(factors);
        }
        let n = run.ops.columns();
        if found == 0 {
            let u = factors.u.map(|_| run.ops.tall("U", room)).transpose()?;
            let v = factors.v.map(|_| run.ops.zeros("V", n, room)).transpose()?;
            return Ok(Factors { u, s: factors.s, v });
        }
        let place = run.identity(found, room)?;
        let u = match factors.u {
            Some(u) => {
                let mut wide = run.ops.tall("U", room)?;
                run.ops.tall_multiply(1.0, &u, &place, 0.0, &mut wide)?;
                Some(wide)
            }
            None => None,
        };
        let v = match factors.v {
            Some(v) => Some(run.product(&v, Op::Plain, &place, Op::Plain)?),
            None => None,
        };
        Ok(Factors { u, s: factors.s, v })
    }

    fn write<T: Scalar, O: RsvdOps<T>>(
        outputs: &mut Outputs<'_>,
        run: &mut Run<'_, T, O>,
        factors: FactorsOf<T, O>,
        plan: &Plan,
        right: Right,
    ) -> Result<()> {
        if let Some(s) = outputs.s.as_deref_mut() {
            let unscaled: Vec<f64> = factors.s.iter().map(|x| x / run.factor).collect();
            write_vector("s", s, &unscaled)?;
        }
        let factors = Self::padded(run, factors)?;
        let adjoint = right == Right::Vh;
        let transposed = plan.transposed;
        let u = outputs.u.as_deref_mut().map(|matrix| Target { matrix, adjoint: false });
        let v = outputs.v.as_deref_mut().map(|matrix| Target { matrix, adjoint });
        let (left, right) = if transposed { (v, u) } else { (u, v) };
        if let (Some(m), Some(to)) = (&factors.v, right) {
            give(run.ops, m, to, transposed)?;
        }
        if let (Some(p), Some(to)) = (&factors.u, left) {
            give_tall(run.ops, p, to, transposed)?;
        }
        Ok(())
    }
}

/// What is found out about the error of factors.
pub(super) fn error_of<T: Scalar, O: RsvdOps<T>>(
    run: &mut Run<'_, T, O>,
    factors: &FactorsOf<T, O>,
) -> Result<ErrorFigures> {
    if run.task.error == ErrorKind::None {
        return Ok(ErrorFigures::none());
    }
    if run.task.error == ErrorKind::Probes
        && let (Some(u), Some(v)) = (&factors.u, &factors.v)
    {
        return estimate::probe(run, u, &factors.s, v);
    }
    // Q^H A is not what the one-pass method's values are those of.
    let is_zero = run.statistics()?.norm2 == 0.0;
    let has_identity = is_zero || !matches!(run.task.method, Method::OnePass | Method::Nystrom);
    let known = if has_identity { estimate::identity(run, &factors.s)? } else { None };
    match known {
        Some(frobenius) => Ok(ErrorFigures { kind: ErrorKind::Identity, frobenius, spectral: f64::NAN }),
        None => {
            if has_identity {
                run.remarks.push("the error is too small to be told without probes".into());
            }
            Ok(ErrorFigures::none())
        }
    }
}

impl<T: Scalar> Call<T> for Decompose<'_> {
    fn prepare(&mut self, opened: &mut Opened<'_, T>) -> Result<()> {
        let Some(path) = &self.options.restart_path else { return Ok(()) };
        let o = self.options;
        let rest = format!(
            "{:?} {:?} {:?} {:?} {:?} {} {} {} {} {}",
            o.sketch,
            o.center,
            o.orthonormalization,
            o.resident_rows,
            o.iteration_precision,
            o.scale,
            o.block_rows,
            self.plan.merge_width,
            self.plan.transposed,
            self.given.is_some()
        );
        let identity = Identity {
            dtype: T::DTYPE as u64,
            method: self.plan.method as u64,
            rows: to_u64(self.plan.rows),
            columns: to_u64(self.plan.columns),
            width: to_u64(self.plan.width),
            iterations: to_u64(self.plan.iterations),
            seed: o.seed,
            options: checksum(CHECKSUM_START, rest.as_bytes()),
            data: opened.checksum()?,
        };
        self.restart = Some(Restart::open(path, identity)?);
        Ok(())
    }

    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let steps = passes(self.plan.method, self.plan.iterations, self.options.one_pass);
        let mut run = Run::new(ops, &self.task, self.context, steps);
        (run.given, run.factor, run.restart) = (self.given, factor, self.restart.as_mut());
        let factors = match algorithm::decompose(&mut run) {
            Ok(factors) => factors,
            Err(e) => {
                *rescale = run.rescale;
                return Err(e);
            }
        };
        let factors = if run.statistics()?.norm2 == 0.0 { zero_factors(&mut run, factors)? } else { factors };
        let error = error_of(&mut run, &factors)?;
        let outcome = run.outcome(factors.s.len(), error)?;
        Self::write(&mut self.outputs, &mut run, factors, self.plan, self.options.right)?;
        Ok(outcome)
    }
}

/// Factors of a matrix of zeros: columns of the identity.
fn zero_factors<T: Scalar, O: RsvdOps<T>>(run: &mut Run<'_, T, O>, found: FactorsOf<T, O>) -> Result<FactorsOf<T, O>> {
    let k = found.s.len();
    let n = run.ops.columns();
    let u = found.u.map(|_| run.tall_identity(k)).transpose()?;
    let v = found.v.map(|_| run.identity(n, k)).transpose()?;
    Ok(Factors { u, s: found.s.iter().map(|_| 0.0).collect(), v })
}

/// A basis of the range.
pub struct FindRange<'a> {
    plan: &'a Plan,
    context: &'a Arc<Context>,
    given: Option<&'a Matrix>,
    task: Task,
    q: &'a mut Matrix,
    b: Option<&'a mut Matrix>,
}

impl<'a> FindRange<'a> {
    /// The call.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        given: Option<&'a Matrix>,
        q: &'a mut Matrix,
        b: Option<&'a mut Matrix>,
    ) -> Self {
        Self { plan, context, given, task: task_of(options, plan), q, b }
    }
}

impl<T: Scalar> Call<T> for FindRange<'_> {
    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let (task, wanted) = (self.task.clone(), self.b.is_some());
        let mut run = Run::new(ops, &task, self.context, task.iterations + 1 + usize::from(wanted));
        (run.given, run.factor) = (self.given, factor);
        let result = self.find(&mut run);
        *rescale = run.rescale;
        let captured = result?;
        let left = (run.statistics()?.norm2 - captured.unwrap_or(f64::NAN)).max(0.0).sqrt();
        let error = match captured {
            Some(_) => ErrorFigures { kind: ErrorKind::Identity, frobenius: left, spectral: f64::NAN },
            None => ErrorFigures::none(),
        };
        run.outcome(task.columns, error)
    }
}

impl FindRange<'_> {
    /// Writes Q and B; returns ||B||_F^2.
    fn find<T: Scalar, O: RsvdOps<T>>(&mut self, run: &mut Run<'_, T, O>) -> Result<Option<f64>> {
        let unscale = 1.0 / run.factor;
        let wanted = self.b.is_some();
        let width = self.task.columns;
        if self.plan.transposed {
            let (w, p) = find::rows(run, wanted)?;
            // A = A'^T: the range of A is spanned by conj(W), and conj(W)^H A = (A' W)^T.
            run.ops.write(&w, self.q, false, true)?;
            let (Some(mut p), Some(b)) = (p, self.b.as_deref_mut()) else { return Ok(None) };
            let captured = run.ops.tall_column_norms(&p)?.iter().map(|x| x * x).sum();
            if unscale != 1.0 {
                let mut diagonal = run.identity(width, width)?;
                run.ops.scale_columns(&mut diagonal, &vec![unscale; width])?;
                run.ops.tall_transform(&mut p, &diagonal)?;
            }
            run.ops.tall_write(&p, b, true, true)?;
            return Ok(Some(captured));
        }
        let (q, t) = find::columns(run, wanted)?;
        run.ops.tall_write(&q, self.q, false, false)?;
        let (Some(mut t), Some(b)) = (t, self.b.as_deref_mut()) else { return Ok(None) };
        let captured = run.ops.norm2(&t)?;
        if unscale != 1.0 {
            run.ops.scale_columns(&mut t, &vec![unscale; width])?;
        }
        run.ops.write(&t, b, true, false)?;
        Ok(Some(captured))
    }
}

/// Eigenpairs.
pub struct Symmetric<'a> {
    context: &'a Arc<Context>,
    given: Option<&'a Matrix>,
    task: Task,
    lambda: Option<&'a mut Tensor>,
    v: Option<&'a mut Matrix>,
}

impl<'a> Symmetric<'a> {
    /// The call.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        given: Option<&'a Matrix>,
        lambda: Option<&'a mut Tensor>,
        v: Option<&'a mut Matrix>,
    ) -> Self {
        let mut task = task_of(options, plan);
        task.phase = if options.sign == Sign::None { Phase::Free } else { Phase::Left };
        Self { context, given, task, lambda, v }
    }
}

impl<T: Scalar> Call<T> for Symmetric<'_> {
    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let steps = passes(self.task.method, self.task.iterations, false);
        let mut run = Run::new(ops, &self.task, self.context, steps);
        (run.given, run.factor) = (self.given, factor);
        let factors = match algorithm::symmetric(&mut run) {
            Ok(factors) => factors,
            Err(e) => {
                *rescale = run.rescale;
                return Err(e);
            }
        };
        let factors = if run.statistics()?.norm2 == 0.0 { zero_factors(&mut run, factors)? } else { factors };
        let error = match (&factors.u, run.task.error) {
            (Some(u), ErrorKind::Probes) => {
                let mut host = Matrix::create(
                    self.context,
                    T::DTYPE,
                    crate::tensor::Location::Host,
                    crate::shape::Order::ColumnMajor,
                    run.ops.rows(),
                    factors.s.len(),
                )?;
                run.ops.tall_write(u, &mut host, false, false)?;
                let v = run.ops.read("eigenvectors", &host, false, false)?;
                estimate::probe(&mut run, u, &factors.s, &v)?
            }
            _ => error_of(&mut run, &factors)?,
        };
        if let Some(lambda) = self.lambda.as_deref_mut() {
            let values: Vec<f64> = factors.s.iter().map(|x| x / factor).collect();
            write_vector("lambda", lambda, &values)?;
        }
        if let (Some(p), Some(v)) = (&factors.u, self.v.as_deref_mut()) {
            run.ops.tall_write(p, v, false, false)?;
        }
        run.outcome(factors.s.len(), error)
    }
}

/// Factors that are the caller's, in the orientation of the problem.
struct Given<'a> {
    u: &'a Matrix,
    s: Vec<f64>,
    v: &'a Matrix,
    transposed: bool,
    adjoint: bool,
}

impl Given<'_> {
    fn read<T: Scalar, O: RsvdOps<T>>(&self, ops: &mut O, factor: f64) -> Result<(O::Tall, Vec<f64>, O::Matrix)> {
        let s = self.s.iter().map(|x| x * factor).collect();
        if self.transposed {
            let u = ops.tall_read("v", self.v, self.adjoint, true)?;
            return Ok((u, s, ops.read("u", self.u, false, true)?));
        }
        let u = ops.tall_read("u", self.u, false, false)?;
        Ok((u, s, ops.read("v", self.v, self.adjoint, false)?))
    }
}

/// Error of given factors.
pub struct Errors<'a> {
    context: &'a Arc<Context>,
    task: Task,
    factors: Given<'a>,
}

impl<'a> Errors<'a> {
    /// The call.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        (u, s, v): (&'a Matrix, Vec<f64>, &'a Matrix),
    ) -> Self {
        let factors = Given { u, s, v, transposed: plan.transposed, adjoint: options.right == Right::Vh };
        Self { context, task: task_of(options, plan), factors }
    }
}

impl<T: Scalar> Call<T> for Errors<'_> {
    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let (u, s, v) = self.factors.read(ops, factor)?;
        let mut run = Run::new(ops, &self.task, self.context, 0);
        run.factor = factor;
        let figures = estimate::probe(&mut run, &u, &s, &v);
        *rescale = run.rescale;
        run.outcome(s.len(), figures?)
    }
}

/// Residuals of given triplets.
pub struct Residuals<'a> {
    /// ||A v_j - s_j u_j||, of the matrix as given.
    pub left: Vec<f64>,
    /// ||A^H u_j - s_j v_j||, likewise.
    pub right: Vec<f64>,
    context: &'a Arc<Context>,
    task: Task,
    factors: Given<'a>,
}

impl<'a> Residuals<'a> {
    /// The call.
    pub fn new(
        options: &'a Options,
        plan: &'a Plan,
        context: &'a Arc<Context>,
        (u, s, v): (&'a Matrix, Vec<f64>, &'a Matrix),
    ) -> Self {
        let factors = Given { u, s, v, transposed: plan.transposed, adjoint: options.right == Right::Vh };
        Self { left: Vec::new(), right: Vec::new(), context, task: task_of(options, plan), factors }
    }
}

impl<T: Scalar> Call<T> for Residuals<'_> {
    fn run<O: RsvdOps<T>>(&mut self, ops: &mut O, factor: f64, rescale: &mut Option<f64>) -> Result<Outcome> {
        let (u, s, v) = self.factors.read(ops, factor)?;
        let mut run = Run::new(ops, &self.task, self.context, 2);
        run.factor = factor;
        let found = estimate::residuals(&mut run, &u, &s, &v);
        *rescale = run.rescale;
        let (mut left, mut right) = found?;
        left.iter_mut().chain(&mut right).for_each(|x| *x /= factor);
        if self.factors.transposed {
            // ||A' conj(u) - s conj(v)|| = ||A^H u - s v||.
            std::mem::swap(&mut left, &mut right);
        }
        (self.left, self.right) = (left, right);
        run.outcome(s.len(), ErrorFigures::none())
    }
}
