//! Examines trains while a device already contracts them.
//!
//! The examination is one pass over the entries. For most trains, which have no extreme entries, the device needs no
//! result of it. So the host enqueues the contraction first. At the point where it would wait for the device, it enqueues
//! the examination of trains that are there on another stream, and examines those of its own. If the examination then requires another
//! contraction, the running one is cancelled at its next check of the cancel flag, and its result is dropped. Otherwise the
//! result has the same bits as after an examination beforehand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::algorithm::inner;
use super::ops::{ContractOps, HostWork, Work};
use super::peaks::{self, Sizes};
use super::plan::Plan;
use super::session::Contraction;
use crate::backend::cpu::flags;
use crate::context::Context;
use crate::error::Result;
use crate::operator::rings;
use crate::progress::Progress;
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::trains::balance::{Balanced, Risk};
use crate::trains::options::{Method, Scaling};
use crate::trains::scaled::Scaled;

/// Work that runs once, on the first thread that asks for it. Other threads do not wait for it.
struct Once<F>(Mutex<Option<F>>);

impl<F: FnOnce()> Once<F> {
    fn new(work: F) -> Self {
        Self(Mutex::new(Some(work)))
    }

    fn run(&self) {
        let work = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = work {
            work();
        }
    }
}

/// Result of a contraction, and whether it lost digits below the range of its type.
type Watched = (Result<Scaled>, bool);

impl Contraction {
    /// Whether trains are examined while a device contracts them. If there is a progress function, they are examined first,
    /// so that it never sees steps of a contraction that is then cancelled.
    pub(super) fn examines_during_contraction(&self, progress: &Progress<'_>) -> bool {
        self.computes_on_device() && !progress.has_report()
    }

    /// Returns the examined trains, whether balanced copies lost digits, and the result of a contraction of the
    /// unbalanced trains if the examination ran during one and accepted it.
    pub(super) fn examined_trains(
        &mut self,
        stream: Option<&Stream>,
        plan: &Plan,
        [x, y]: [&TensorTrain; 2],
        progress: &Progress<'_>,
    ) -> Result<(Balanced, bool, Option<Watched>)> {
        let (context, matters) = (Arc::clone(&self.contexts[0]), peaks::matter(plan));
        let turns = rings::turns(self.options());
        // The exponents of the cores are those of the balanced copies if there are any.
        if matters || !self.examines_during_contraction(progress) {
            let (balanced, copies_lost) = flags::watch(|| Balanced::new(&context, stream, x, y, matters, turns));
            return Ok((balanced?, copies_lost, None));
        }
        let mut balanced = Balanced::unexamined(x, y, turns);
        // [`Method::Power`] scales every core, so it may accept wide trains.
        let is_range_bound = self.options().scaling != Scaling::Never && plan.method != Method::Power;
        let is_rejected = |balanced: &Balanced| {
            let may_lose = is_range_bound && balanced.is_wide_here();
            balanced.has_copies() || balanced.risk() != Risk::Nothing || may_lose
        };
        let (copies_lost, plain) =
            examined((&context, stream), &mut balanced, (x, y), progress, is_rejected, |progress, host_work| {
                let run = |machines: &mut [Box<dyn ContractOps>], work: &Work<'_>| {
                    inner::contract(machines, &Work { host_work: Some(host_work), ..*work })
                };
                flags::watch(|| self.execute(stream, plan, x, y, progress, Sizes::default(), run))
            })?;
        Ok((balanced, copies_lost, plain))
    }
}

/// Calls `plain`, which contracts x and y as they are. When `plain` first waits for the device, or after it, the host examines
/// its trains, then enqueues the examination of those on the device, for which [`Balanced::again`] waits. `is_rejected` says
/// whether the host's trains need another contraction. Returns whether balanced copies lost digits, and the result of
/// `plain` unless it is rejected. That result may be an error; a rejected error is dropped.
///
/// # Errors
/// As [`Balanced::reserve_examination_stream`], [`Balanced::enqueue_device_examination`] and [`Balanced::examine_here`].
pub(super) fn examined<R>(
    (context, stream): (&Arc<Context>, Option<&Stream>),
    balanced: &mut Balanced,
    (x, y): (&TensorTrain, &TensorTrain),
    progress: &Progress<'_>,
    is_rejected: impl Fn(&Balanced) -> bool + Sync,
    plain: impl FnOnce(&Progress<'static>, HostWork<'_>) -> R,
) -> Result<(bool, Option<R>)> {
    balanced.reserve_examination_stream(context, stream, (x, y))?;
    let abandoned = Arc::new(AtomicU64::new(0));
    let mut examined = (Ok(()), false);
    let result = {
        let examination = Once::new(|| {
            examined = flags::watch(|| {
                // First those that may cancel the contraction.
                balanced.examine_here(context, x, y)?;
                balanced.enqueue_device_examination(context, stream, (x, y), false)
            });
            if examined.0.is_err() || is_rejected(balanced) {
                abandoned.fetch_add(1, Ordering::Relaxed);
            }
        });
        let examine = || examination.run();
        let result = plain(&progress.without_reports().and(&abandoned, 0), &examine);
        examine();
        result
    };
    let (found, copies_lost) = examined;
    found?;
    Ok((copies_lost, (abandoned.load(Ordering::Relaxed) == 0).then_some(result)))
}
