//! Trains that are examined while a device contracts them. The results must be those of an examination beforehand.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::balance::gauged;
use super::ring_underflow;
use crate::backend::Backend;
use crate::backend::gpu::{DeviceMemory, Region};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::contraction::ops::{ContractOps, Enqueued, HostWork, Item, Machine, Wanted, Work};
use crate::contraction::plan::Plan;
use crate::error::{Error, Result};
use crate::progress::CancelFlag;
use crate::scalar::DType;
use crate::session::CancelHandle;
use crate::stream::Stream;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain, copy};
use crate::trains::Scaled;
use crate::trains::info::Kernel;
use crate::trains::options::{NormMethod, Options};
use crate::trains::testing::{C, Plain, bare, cpu};

type Log = Arc<Mutex<Vec<&'static str>>>;

/// Records the calls of a backend: `plain` for a contraction during which trains are examined, `again` for another one,
/// `examined` when the backend waits.
struct Recorder {
    inner: Box<dyn ContractOps>,
    log: Log,
    /// Whether the backend is the CPU and claims to be a device.
    pretends: bool,
    /// Whether contractions of `plain` fail.
    fails: bool,
    /// Cancels the call when the backend waits.
    cancels: Option<CancelHandle>,
}

impl Recorder {
    fn run<R>(&mut self, work: &Work<'_>, run: impl FnOnce(&mut dyn ContractOps, &Work<'_>) -> Result<R>) -> Result<R> {
        let note = |what| self.log.lock().unwrap().push(what);
        note(if work.host_work.is_some() { "plain" } else { "again" });
        // A backend may wait several times; record the first time.
        let has_waited = AtomicBool::new(false);
        let examine = || {
            if !has_waited.swap(true, Ordering::Relaxed) {
                self.cancels.iter().for_each(CancelHandle::cancel);
                self.log.lock().unwrap().push("examined");
            }
            work.run_host_work();
        };
        let host_work: Option<HostWork<'_>> = work.host_work.map(|_| &examine as HostWork<'_>);
        // The CPU's chain kernel needs a layout, which the plan for a device does not have.
        let kernel = if self.pretends { Kernel::Products } else { work.plan.kernel };
        let plan = Plan { kernel, ..work.plan.clone() };
        let found = run(&mut *self.inner, &Work { host_work, plan: &plan, ..*work });
        if let (Some(examine), true) = (host_work, self.pretends) {
            examine();
            work.cancel.check()?;
        }
        if self.fails && work.host_work.is_some() {
            return Err(Error::OutOfDeviceMemory { what: "trains", bytes: 1, limit: None });
        }
        found
    }
}

impl ContractOps for Recorder {
    fn machine(&self) -> Machine {
        let machine = self.inner.machine();
        if self.pretends { Machine { vectors: None, chain_rank: 64, ring_rank: 64, ..machine } } else { machine }
    }

    fn finalize_plan(&self, plan: &mut Plan, x: &Shape, y: &Shape, options: &Options) -> Result<()> {
        self.inner.finalize_plan(plan, x, y, options)
    }

    fn await_caller(&self, stream: Option<&Stream>) -> Result<()> {
        self.inner.await_caller(stream)
    }

    fn pairs(&mut self, work: &Work<'_>, blocks: Range<usize>, partials: &mut [Scaled]) -> Result<()> {
        self.run(work, |inner, work| inner.pairs(work, blocks, partials))
    }

    fn enqueue(
        &mut self,
        work: &Work<'_>,
        wanted: Wanted,
        workspace: Option<&DeviceMemory>,
        to: Option<Region<'_>>,
    ) -> Result<Enqueued> {
        self.inner.enqueue(work, wanted, workspace, to)
    }

    fn takes(&self, plan: &Plan) -> bool {
        self.inner.takes(plan)
    }

    fn many(
        &mut self,
        stream: Option<&Stream>,
        items: &[Item<'_>],
        cancel: &CancelFlag,
        sums: &mut [Scaled],
    ) -> Result<()> {
        self.inner.many(stream, items, cancel, sums)
    }

    fn halves(&mut self, work: &Work<'_>) -> Result<Scaled> {
        self.run(work, |inner, work| inner.halves(work))
    }

    fn power(&mut self, work: &Work<'_>) -> Result<Scaled> {
        self.run(work, |inner, work| inner.power(work))
    }

    fn triangle(&mut self, work: &Work<'_>) -> Result<Scaled> {
        self.run(work, |inner, work| inner.triangle(work))
    }

    fn qr_norm(&mut self, work: &Work<'_>, trains: &[(&TensorTrain, f64)]) -> Result<Scaled> {
        self.run(work, |inner, work| inner.qr_norm(work, trains))
    }
}

/// A session whose calls are recorded.
fn recorded(context: &Arc<Context>, norm_method: NormMethod, fails: bool, cancels: bool) -> (Contraction, Log) {
    let mut session = Contraction::new(context, Options { norm_method, ..Options::default() }).unwrap();
    let log = Log::default();
    let pretends = session.machines[0].machine().vectors.is_some();
    let inner = session.machines.remove(0);
    let cancels = cancels.then(|| session.cancel_handle());
    session.machines.push(Box::new(Recorder { inner, log: Arc::clone(&log), pretends, fails, cancels }));
    (session, log)
}

/// A host train, another train of the same modes, and whether a contraction of both as they are must be rejected.
struct Case {
    what: String,
    x: TensorTrain,
    y: TensorTrain,
    is_rejected: bool,
}

fn cases(context: &Arc<Context>) -> Vec<Case> {
    let mut all = Vec::new();
    for (dtype, range) in [(DType::F64, 300), (DType::CF32, 40)] {
        let mut add = |what: &str, x: &Plain, y: &Plain, is_rejected| {
            let [x, y] = [x, y].map(|train| train.train(context, dtype));
            all.push(Case { what: format!("{dtype:?} {what}"), x, y, is_rejected });
        };
        for cyclic in [false, true] {
            let [x, y] = [5, 6].map(|seed| Plain::uniform_ranks(6, 2, 3, cyclic, dtype.is_complex(), seed));
            add("plain", &x, &y, false);
            add("graded", &x, &gauged(&y, range, 1), true);
            add("graded", &gauged(&x, range, 1), &y, true);
            for bad in [f64::NAN, f64::INFINITY, 0.0] {
                let mut x = x.clone();
                x.cores[2].fill(C::new(bad, 0.0));
                add("filled", &x, &y, false);
            }
        }
        let one = bare(&[1; 4], vec![vec![1.0]; 3]);
        let wide = Plain { modes: vec![2; 2], ranks: vec![1; 3], cores: vec![vec![C::new(1.0, 0.0); 2]; 2] };
        let mut other = wide.clone();
        other.cores[0][1] = C::new(2f64.powi(-range), 0.0);
        if dtype == DType::F64 {
            // In single precision the call is repeated in double precision, and those trains are examined again.
            add("wide", &wide, &other, true);
        }
        add("ones", &one, &one, false);
    }
    for case in ring_underflow::cases().into_iter().filter(|case| case.sites == 3) {
        let (x, y) = (case.train(context, Location::Host), case.one(context, Location::Host));
        all.push(Case { what: format!("ring underflow {:?} {:?}", case.dtype, case.core), x, y, is_rejected: true });
    }
    all
}

fn bits(found: Result<Scaled>) -> Result<(u64, u64, i64)> {
    found.map(|Scaled { mantissa, exponent }| (mantissa.re.to_bits(), mantissa.im.to_bits(), exponent))
}

type Call = fn(&mut Contraction, &TensorTrain, &TensorTrain, bool) -> Result<Scaled>;

/// The tested calls. With a progress function, trains are examined first.
const CALLS: [(&str, NormMethod, Call); 5] = {
    fn report(_: i64, _: i64, _: f64) -> bool {
        true
    }
    const NORM: Call = |session, x, _, reports| {
        session.norm_scaled(None, x, if reports { Some(&report) } else { None }).map(|found| found.0)
    };
    [
        ("inner", NormMethod::Auto, |session, x, y, reports| {
            session.inner_scaled(None, x, y, if reports { Some(&report) } else { None }).map(|found| found.0)
        }),
        ("distance", NormMethod::Auto, |session, x, y, reports| {
            session.distance_scaled(None, x, y, if reports { Some(&report) } else { None }).map(|found| found.0)
        }),
        ("norm by a triangle", NormMethod::Triangle, NORM),
        ("norm by an inner product", NormMethod::Inner, NORM),
        ("norm by QR", NormMethod::Qr, NORM),
    ]
};

/// A copy of a train in device memory.
fn there(context: &Arc<Context>, train: &TensorTrain) -> TensorTrain {
    let mut there = TensorTrain::create(context, train.dtype(), Location::Device, train.shape().clone()).unwrap();
    copy(context, None, train, &mut there).unwrap();
    there
}

/// Checks that an examination during the contraction and one beforehand give the same results. Trains of which one is in
/// device memory (`on_device`: x, y) are examined there behind their contraction.
pub fn check(context: &Arc<Context>, on_device: [bool; 2]) {
    let is_here = on_device == [false; 2];
    for Case { what, x, y, is_rejected } in cases(context) {
        let [x, y] = [(x, on_device[0]), (y, on_device[1])].map(|(t, is)| if is { there(context, &t) } else { t });
        for (call, norm_method, run) in CALLS {
            let what = format!("{call}, {what}");
            let (mut session, log) = recorded(context, norm_method, false, false);
            let found = bits(run(&mut session, &x, &y, false));
            let mut calls = std::mem::take(&mut *log.lock().unwrap());
            let waits = calls.iter().filter(|call| **call == "examined").count();
            // A norm or distance by QR factors on a device may be computed on the host.
            let may_leave = !matches!(context.backend(), Backend::Cpu) && !call.ends_with("product") && call != "inner";
            assert!(waits == 1 || waits == 0 && may_leave, "{what}: {calls:?}");
            calls.retain(|call| *call != "examined");
            assert_eq!(calls[0], "plain", "{what}: {calls:?}");
            let before = bits(run(&mut session, &x, &y, true));
            let first = std::mem::take(&mut *log.lock().unwrap());
            assert!(!first.contains(&"plain") && !first.contains(&"examined"), "{what}: {first:?}");
            assert_eq!(found, before, "{what}");
            // An accepted result is computed once. A rejected contraction is repeated, except by the host.
            let is_repeated = calls[1..] == first[..];
            assert!(is_repeated || calls.len() == first.len(), "{what}: {calls:?}, {first:?}");
            // Of trains on a device the findings come after the contraction.
            if call == "inner" && is_here {
                assert_eq!(is_repeated, is_rejected, "{what}: {calls:?}, {first:?}");
            }
        }
    }
}

/// Checks errors and cancellations of contractions during which trains are examined.
pub fn check_failures(context: &Arc<Context>) {
    for Case { what, x, y, is_rejected } in cases(context) {
        let run = CALLS[0].2;
        let wanted = bits(run(&mut recorded(context, NormMethod::Auto, false, false).0, &x, &y, true));
        let (mut session, _) = recorded(context, NormMethod::Auto, true, false);
        let found = bits(run(&mut session, &x, &y, false));
        if is_rejected {
            assert_eq!(found, wanted, "{what}: the error of a rejected contraction is none of the call");
        } else {
            assert!(matches!(found, Err(Error::OutOfDeviceMemory { .. })), "{what}: {found:?}");
        }
        let (mut session, _) = recorded(context, NormMethod::Auto, false, true);
        assert_eq!(bits(run(&mut session, &x, &y, false)), Err(Error::Cancelled), "{what}");
        assert_eq!(bits(run(&mut session, &x, &y, true)), wanted, "{what}, after a cancelled call");
    }
}

#[test]
fn an_examination_beside_a_contraction_changes_no_bit() {
    check(&cpu(2), [false; 2]);
}

#[test]
fn errors_of_rejected_contractions_are_none_and_cancellations_are_heard() {
    check_failures(&cpu(2));
}

/// On a CPU context no train is examined in advance: the CPU reports lost digits.
#[test]
fn contractions_of_the_processor_are_examined_by_themselves() {
    let context = cpu(1);
    let session = Contraction::new(&context, Options::default()).unwrap();
    assert!(!session.examines_during_contraction(&crate::progress::Progress::none()));
}
