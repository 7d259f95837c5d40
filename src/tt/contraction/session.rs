//! Contractions with fixed options on one or several contexts, for many trains.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::algorithm::inner;
use super::cpu::CpuContraction;
use super::finite;
use super::gpu::GpuContraction;
use super::ops::{ContractOps, Work};
use super::peaks::{self, Sizes};
use super::plan::{Plan, Request};
use crate::backend::Backend;
use crate::backend::cpu::flags;
use crate::backend::gpu::{Blas, DeviceMemory};
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::group::Group;
use crate::operator::Trains;
use crate::operator::rings;
use crate::operator::wider::{self, Doubles, Repeated};
use crate::progress::{Progress, ProgressFn};
use crate::scalar::{Complex, DType};
use crate::session::CancelHandle;
use crate::stream::{self, Stream};
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::balance::{self, Balanced, Risk};
use crate::trains::info::Info;
use crate::trains::options::{Conjugate, Math, Method, Options, Scaling};
use crate::trains::scaled::Scaled;
use crate::trains::watch::{Watch, watched};

/// Largest order of a transfer matrix that is squared if the train has too many cores to repeat it with exponents for
/// each entry.
const MOST_SQUARED: usize = 2048;

/// Contractions with given options. Keeps the plan and the workspace of the last call, so that a call with the same
/// shapes neither plans nor allocates.
pub struct Contraction {
    pub(super) contexts: Vec<Arc<Context>>,
    options: Options,
    pub(super) cancel: CancelHandle,
    pub(super) machines: Vec<Box<dyn ContractOps>>,
    last: Option<(Key, Arc<Plan>)>,
    /// The caller's device memory for enqueued calls.
    pub(super) workspace: Option<DeviceMemory>,
    /// cuBLAS for enqueued operators, created when first needed.
    pub(super) library: Option<Mutex<Blas>>,
}

/// Result to compute from two trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The inner product, conjugated as in the options.
    Inner,
    /// The square of the norm of x = y, as an inner product.
    Square,
    /// The square of the norm, by one triangle of each environment if the train is open.
    Triangle,
    /// The norm of x by QR factors.
    Norm,
    /// The norm of x - y by QR factors.
    Distance,
}

/// Arguments for which the last plan was made.
#[derive(PartialEq)]
struct Key {
    x: Shape,
    y: Option<Shape>,
    dtypes: (DType, DType),
    swapped: bool,
    uniform: bool,
    goal: Goal,
}

impl Contraction {
    /// Contractions on a context.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming an option out of range; [`Error::NotSupported`] for a context on a kind of
    /// device that has none.
    pub fn new(context: &Arc<Context>, options: Options) -> Result<Self> {
        Self::over(&Group::of(context), options)
    }

    /// The same on several GPUs, over which boundary pairs are distributed.
    ///
    /// # Errors
    /// As [`Contraction::new`]; [`Error::InvalidArgument`] for several contexts on the CPU.
    pub fn over(group: &Group, options: Options) -> Result<Self> {
        group.check_alive()?;
        group.expect_gpus("pairs")?;
        if options.repeat == 0 {
            return Err(Error::invalid("repeat", "is 0, at least 1 is needed"));
        }
        refuse_idle_options(group.first(), &options)?;
        let machines = group.members().iter().map(|c| machine(c, &options)).collect::<Result<_>>()?;
        let cancel = CancelHandle::default();
        Ok(Self {
            contexts: group.members().to_vec(),
            options,
            cancel,
            machines,
            last: None,
            workspace: None,
            library: None,
        })
    }

    /// The first context, which tensors and trains of calls belong to.
    pub fn context(&self) -> &Arc<Context> {
        &self.contexts[0]
    }

    /// The contexts that share the work, at least one.
    pub fn contexts(&self) -> &[Arc<Context>] {
        &self.contexts
    }

    /// Options as given; plans resolve defaults.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Handle that cancels this object's calls, also while one runs.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// Progress of a call that begins now. All parts of the call share it, so that no part misses a cancel during
    /// another part.
    pub(super) fn progress<'p>(&self, report: Option<&'p ProgressFn<'p>>) -> Progress<'p> {
        self.cancel.progress(&self.contexts, report, self.cancel.epoch())
    }

    /// The report of the inner product of `x` and `y` before it runs.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`] for arguments that do not fit.
    pub fn plan_inner(&mut self, x: &TensorTrain, y: &TensorTrain) -> Result<Info> {
        let call = self.prepare(x, y, Goal::Inner)?;
        Ok(call.plan.info(self.contexts.len()))
    }

    /// sum over i of conj(x(i)) y(i), or without the conjugation if the options say so. A number beyond the range of
    /// the type becomes infinite or 0; [`Info::outcome`] reports it.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`].
    pub fn inner(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Complex<f64>, Info)> {
        let (scaled, mut info) = self.inner_scaled(stream, x, y, report)?;
        let (value, outcome) = scaled.plain(common(x.dtype(), y.dtype()));
        info.outcome = outcome;
        Ok((value, info))
    }

    /// [`Contraction::inner`] with a separate exponent, whose range no train exceeds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for modes or types that differ, cores that are not set, and options that do not fit the
    /// trains, among them a `workspace_limit` below the need, which it names; [`Error::OutOfMemory`],
    /// [`Error::OutOfDeviceMemory`]; [`Error::Cancelled`]. The object can be used again after any of them.
    pub fn inner_scaled(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Scaled, Info)> {
        let progress = self.progress(report);
        self.contract(stream, x, y, Goal::Inner, &progress)
    }

    /// The inner product of `x` and `y` or the square of a norm.
    pub(super) fn contract(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        goal: Goal,
        progress: &Progress<'_>,
    ) -> Result<(Scaled, Info)> {
        let start = Instant::now();
        let Call { plan, swapped } = self.prepare(x, y, goal)?;
        let given = Trains::new(x, None, y);
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        if self.reports_losses(&plan) {
            // The CPU reports lost digits. If it reports none, the bonds need no examination.
            let sizes = Sizes::default();
            let (sum, lost) = flags::watch(|| self.execute(stream, &plan, x, y, progress, sizes, inner::contract));
            let sum = sum?;
            if !lost && sum.is_finite() {
                return Ok(reported(finite::checked_inner(sum, &plan, &[x, y])?, &plan, self.contexts.len(), start));
            }
        }
        if self.is_imprecise(&plan)
            && let Some(found) = self.in_double(stream, &given, goal, progress, &plan, start)?
        {
            return Ok(found);
        }
        let context = Arc::clone(&self.contexts[0]);
        let matters = peaks::matter(&plan);
        let on_device = self.computes_on_device();
        let (mut balanced, copies_lost, mut plain) = self.examined_trains(stream, &plan, [x, y], progress)?;
        let shapes = [x.shape(), y.shape()];
        let sizes_of = |balanced: &Balanced| -> Result<Sizes> {
            let [a, b] = balanced.peaks(&context, stream, x, y)?;
            peaks::sizes(&plan, shapes, [&a, &b])
        };
        // Trains on a device are examined during their contraction; their sizes are known after it.
        let mut known = !matters || !(x.is_device() || y.is_device());
        let mut sizes = if matters && known { sizes_of(&balanced)? } else { Sizes::default() };
        let sum = loop {
            let (a, b) = balanced.of(x, y);
            match balanced.risk() {
                Risk::RingUnderflow => {
                    return self.by_exponents(stream, &given, goal, progress, plan.info(self.contexts.len()), start);
                }
                Risk::Range | Risk::Nothing => {}
            }
            let is_wide = on_device && balanced.is_wide_here() || balanced.risk() == Risk::Range;
            // [`Method::Power`] scales every core.
            let is_scaled = plan.method == Method::Power;
            let may_vanish = is_wide && (!is_scaled || balance::are_far_apart(&context, stream, [a, b])?);
            let may_lose = (may_vanish || on_device && copies_lost) && self.options.scaling != Scaling::Never;
            if may_lose {
                return self.in_wider_range(stream, &given, goal, progress, &plan, start);
            }
            let (sum, lost) = plain.take().unwrap_or_else(|| {
                flags::watch(|| self.execute(stream, &plan, a, b, progress, sizes, inner::contract))
            });
            let sum = sum?;
            let is_seen = wider::applies(&self.options, on_device);
            let is_lost = copies_lost && is_seen || lost && sum.is_finite() && (is_seen || self.bounds_losses(&plan));
            if is_lost {
                return self.in_wider_range(stream, &given, goal, progress, &plan, start);
            }
            let sum = finite::checked_inner(sum, &plan, &[a, b])?;
            let (again, far) = (balanced.again(&context, stream, x, y)?, sizes.far);
            if !known {
                (known, sizes) = (true, sizes_of(&balanced)?);
            }
            if !again && sizes.far == far {
                break sum;
            }
        };
        Ok(reported(sum, &plan, self.contexts.len(), start))
    }

    /// Whether the CPU's flag of lost digits covers all contractions of this object.
    pub(super) fn is_watched(&self) -> bool {
        flags::IS_READABLE && self.options.repeat == 1 && wider::applies(&self.options, self.computes_on_device())
    }

    /// The same for contractions by this plan. Squaring bounds its losses instead ([`Contraction::bounds_losses`]).
    pub(super) fn reports_losses(&self, plan: &Plan) -> bool {
        self.is_watched() && plan.method != Method::Power
    }

    /// Whether a contraction by this plan bounds the digits that it lost, on any backend, and is repeated if they
    /// matter.
    pub(super) fn bounds_losses(&self, plan: &Plan) -> bool {
        plan.method == Method::Power && self.options.scaling != Scaling::Never
    }

    /// Whether this object's contractions run on a device, wherever the trains are.
    pub(super) fn computes_on_device(&self) -> bool {
        self.machines[0].machine().vectors.is_none()
    }

    /// Whether a contraction by this plan has large rounding errors in single precision. Each squaring doubles the
    /// relative error.
    fn is_imprecise(&self, plan: &Plan) -> bool {
        const MOST: u64 = 256;
        plan.dtype.is_single() && plan.repeat > MOST && self.bounds_losses(plan)
    }

    /// [`Contraction::contract`] of copies in double precision; `None` if the trains are in double precision already,
    /// or if the limit of workspace is too small for it.
    fn in_double(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        goal: Goal,
        progress: &Progress<'_>,
        plan: &Plan,
        start: Instant,
    ) -> Result<Option<(Scaled, Info)>> {
        let Some(doubles) = Doubles::of(&self.contexts[0], trains)? else { return Ok(None) };
        let Trains { bra, ket, .. } = doubles.trains();
        match self.contract(stream, bra, ket, goal, progress) {
            Ok((sum, _)) => Ok(Some((sum, after(plan.info(self.contexts.len()), sum, start)))),
            // The workspace limit is enough for single precision, but not for double. That is no error of the call.
            Err(Error::InvalidArgument { .. }) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// [`Contraction::contract`] for trains whose contraction lost digits by underflow, or may lose them on a device.
    fn in_wider_range(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        goal: Goal,
        progress: &Progress<'_>,
        plan: &Plan,
        start: Instant,
    ) -> Result<(Scaled, Info)> {
        if let Some(found) = self.in_double(stream, trains, goal, progress, plan, start)? {
            return Ok(found);
        }
        let info = plan.info(self.contexts.len());
        if self.computes_on_device() {
            let (sum, _) = self.on_host(stream, trains, goal, progress, self.options.method)?;
            return Ok((sum, after(info, sum, start)));
        }
        self.by_exponents(stream, trains, goal, progress, info, start)
    }

    /// [`Contraction::contract`] on the CPU by this method. The CPU reports lost digits.
    fn on_host(
        &self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        goal: Goal,
        progress: &Progress<'_>,
        method: Method,
    ) -> Result<(Scaled, Info)> {
        let context = &self.contexts[0];
        let machine: Box<dyn ContractOps> = Box::new(CpuContraction::new(context));
        let block = if method == self.options.method { self.options.block } else { 0 };
        let math = Math::Default;
        let options = Options { method, block, math, kernel: None, workspace_limit: 0, ..self.options.clone() };
        let mut host = Self {
            contexts: vec![Arc::clone(context)],
            options,
            cancel: self.cancel.clone(),
            machines: vec![machine],
            last: None,
            workspace: None,
            library: None,
        };
        let copies = balance::copies_here(context, stream, trains.bra, trains.ket)?;
        let Trains { bra, ket, .. } = trains.replaced(&copies);
        host.contract(stream, bra, ket, goal, progress)
    }

    /// [`Contraction::contract`] with exponents for each entry, for rings in which entries that contribute may
    /// underflow.
    fn by_exponents(
        &self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        goal: Goal,
        progress: &Progress<'_>,
        info: Info,
        start: Instant,
    ) -> Result<(Scaled, Info)> {
        let conjugate = if goal == Goal::Inner { self.options.conjugate } else { Conjugate::Bra };
        let cancel = progress.flag();
        let (context, repeat) = (&self.contexts[0], self.options.repeat);
        let sum = if repeat == 1 {
            rings::value(context, stream, conjugate, cancel, trains)?
        } else {
            let order = trains.bra.shape().ranks()[0] * trains.ket.shape().ranks()[0];
            if Repeated::is_long(trains, repeat) && self.options.method != Method::Power && order <= MOST_SQUARED {
                // Squaring bounds the digits that it loses.
                let (sum, _) = self.on_host(stream, trains, goal, &progress.without_reports(), Method::Power)?;
                return Ok((sum, after(info, sum, start)));
            }
            let copies = balance::copies_here(context, stream, trains.bra, trains.ket)?;
            let repeated = Repeated::of(context, &trains.replaced(&copies), repeat)?;
            rings::value(context, stream, conjugate, cancel, &repeated.trains())?
        };
        Ok((sum, after(info, sum, start)))
    }

    /// Runs `run` with the machines and reports its progress from this thread.
    #[expect(clippy::too_many_arguments, reason = "the parts of one call")]
    pub(super) fn execute<R: Send>(
        &mut self,
        stream: Option<&Stream>,
        plan: &Plan,
        x: &TensorTrain,
        y: &TensorTrain,
        progress: &Progress<'_>,
        sizes: Sizes,
        run: impl FnOnce(&mut [Box<dyn ContractOps>], &Work<'_>) -> Result<R> + Send,
    ) -> Result<R> {
        stream::expect_not_captured(stream::select(&self.contexts[0], stream)?)?;
        let machines = &mut self.machines[..];
        watched(progress, |watch| {
            watch.expect(plan.steps());
            run(
                machines,
                &Work { plan, x, y, stream, cancel: &watch.cancel, done: &watch.done, sizes, host_work: None },
            )
        })
        .map_err(|problem| in_all(problem, plan.workspace))
    }

    /// Calls `run` with the first context, and reports its progress from this thread. `run` waits for the work that it
    /// enqueues.
    pub(super) fn watched<R: Send>(
        &self,
        stream: Option<&Stream>,
        report: Option<&ProgressFn<'_>>,
        run: impl FnOnce(&Arc<Context>, &Options, &Watch) -> Result<R> + Send,
    ) -> Result<R> {
        let progress = self.progress(report);
        let (context, options) = (&self.contexts[0], &self.options);
        stream::expect_not_captured(stream::select(context, stream)?)?;
        watched(&progress, |watch| run(context, options, watch))
    }

    /// Checks the trains, and plans the call or returns the last plan if it fits.
    pub(super) fn prepare(&mut self, x: &TensorTrain, y: &TensorTrain, goal: Goal) -> Result<Call> {
        self.contexts.iter().try_for_each(|c| c.check_alive())?;
        for (name, train) in [("x", x), ("y", y)] {
            train.expect_context(name, &self.contexts[0])?;
            train.expect_set(name)?;
        }
        y.shape().expect_modes("y", x.shape().modes(), "x")?;
        if x.dtype().is_single() != y.dtype().is_single() {
            let problem = format!("is {}, x is {}: precisions differ", y.dtype().name(), x.dtype().name());
            return Err(Error::invalid("y", problem));
        }
        let swapped = x.dtype().is_complex() && !y.dtype().is_complex();
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        let same = x.is_same(y);
        let uniform = x.is_uniform() && y.is_uniform();
        if let Some((key, plan)) = &self.last {
            let shapes = key.x == *x.shape() && key.y.as_ref().map_or(same, |s| !same && s == y.shape());
            let rest = (key.dtypes, key.swapped, key.uniform, key.goal);
            if shapes && rest == ((x.dtype(), y.dtype()), swapped, uniform, goal) {
                return Ok(Call { plan: Arc::clone(plan), swapped });
            }
        }
        let mut options = self.options.clone();
        if goal != Goal::Inner {
            options.conjugate = Conjugate::Bra;
        }
        let request = Request {
            options: &options,
            machine: self.machines[0].machine(),
            contexts: self.contexts.len(),
            x: (x.shape(), x.dtype()),
            y: (y.shape(), y.dtype()),
            swapped,
            same,
            uniform,
            triangle: goal == Goal::Triangle,
        };
        let plan = Arc::new(match goal {
            Goal::Norm | Goal::Distance => Plan::by_qr(request, goal == Goal::Distance)?,
            _ => {
                let mut plan = Plan::new(request)?;
                self.machines[0].finalize_plan(&mut plan, x.shape(), y.shape(), &options)?;
                plan
            }
        });
        let key = Key {
            x: x.shape().clone(),
            y: if same { None } else { Some(y.shape().clone()) },
            dtypes: (x.dtype(), y.dtype()),
            swapped,
            uniform,
            goal,
        };
        self.last = Some((key, Arc::clone(&plan)));
        Ok(Call { plan, swapped })
    }
}

/// Sets the outcome and the duration of the report of a contraction that returned `sum`.
fn after(mut info: Info, sum: Scaled, start: Instant) -> Info {
    info.outcome = sum.outcome();
    info.seconds = start.elapsed().as_secs_f64();
    info
}

/// The result, conjugated if the plan says so, and its report.
fn reported(sum: Scaled, plan: &Plan, contexts: usize, start: Instant) -> (Scaled, Info) {
    let info = after(plan.info(contexts), sum, start);
    (if plan.conjugate_result { sum.conj() } else { sum }, info)
}

/// If the allocation of one buffer was refused, the error names the workspace of the whole call instead.
pub(super) fn in_all(problem: Error, all: u64) -> Error {
    const WHOLE: &str = "whole workspace of a contraction";
    let is_part = |what: &str, bytes: u64| {
        let names = ["workspace of a contraction", "work space of a contraction", "environments of a contraction"];
        bytes < all && names.contains(&what)
    };
    match problem {
        Error::OutOfMemory { what, bytes, limit } if is_part(what, bytes) => {
            Error::OutOfMemory { what: WHOLE, bytes: all, limit }
        }
        Error::OutOfDeviceMemory { what, bytes, limit } if is_part(what, bytes) => {
            Error::OutOfDeviceMemory { what: WHOLE, bytes: all, limit }
        }
        other => other,
    }
}

/// A planned call of one product.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) plan: Arc<Plan>,
    pub(super) swapped: bool,
}

/// Returns an error for options that have no effect beside the others, whatever the trains.
fn refuse_idle_options(context: &Context, options: &Options) -> Result<()> {
    let Options { method, math, block, .. } = options;
    let name = word(method);
    if *block > 0 && !matches!(method, Method::Auto | Method::Blocked) {
        return Err(Error::invalid("block", format!("is {block}, but method is {name}, which has blocks of its own")));
    }
    if *math != Math::Default && matches!(context.backend(), Backend::Cpu) {
        let math = word(math);
        return Err(Error::invalid(
            "math",
            format!("is {math}, a choice of a GPU's arithmetic, but the context is on the CPU"),
        ));
    }
    Ok(())
}

/// The contractions of a context's backend.
fn machine(context: &Arc<Context>, options: &Options) -> Result<Box<dyn ContractOps>> {
    match context.backend() {
        Backend::Cpu => Ok(Box::new(CpuContraction::new(context))),
        Backend::Gpu(_) => Ok(Box::new(GpuContraction::new(context, options.math)?)),
    }
}

/// The type of a result: complex if either train is.
pub(super) fn common(x: DType, y: DType) -> DType {
    if x.is_complex() { x } else { y }
}
