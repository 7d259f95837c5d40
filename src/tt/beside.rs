//! Examination of trains on the host while a device contracts them as they are.
//!
//! The examination is one pass over the numbers, and the device needs nothing of it for trains without extreme numbers,
//! as most are. The host enqueues the contraction first, and examines the trains where it would wait for the result. If
//! the examination then asks for another contraction, this one is abandoned at its next look at the cancel flag, and its
//! result is not used. Otherwise the result is what it had been after an examination beforehand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::algorithm::inner;
use super::balance::{Balanced, Risk};
use super::ops::{Beside, ContractOps, Work};
use super::options::{Method, Scaling};
use super::peaks::{self, Sizes};
use super::plan::Plan;
use super::rings;
use super::scaled::Scaled;
use super::session::Contraction;
use crate::backend::cpu::flags;
use crate::context::Context;
use crate::error::Result;
use crate::progress::Progress;
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;

/// Work that runs once, by whichever thread asks first. The others do not wait for it.
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
    /// Whether trains on the host are examined while a device contracts them. With a progress function they are examined
    /// first, so that steps of an abandoned contraction are not reported.
    pub(super) fn examines_beside(&self, trains: [&TensorTrain; 2], progress: &Progress<'_>) -> bool {
        self.computes_on_device() && !progress.has_report() && trains.iter().any(|train| !train.is_device())
    }

    /// The examined trains of a call, whether balanced copies lost digits, and the contraction of the trains as they are if
    /// the examination ran beside it.
    pub(super) fn examined_trains(
        &mut self,
        stream: Option<&Stream>,
        plan: &Plan,
        [x, y]: [&TensorTrain; 2],
        progress: &Progress<'_>,
    ) -> Result<(Balanced, bool, Option<Watched>)> {
        let (context, matters) = (Arc::clone(&self.contexts[0]), peaks::matter(plan));
        let turns = rings::turns(self.options());
        // The sizes of the cores come from balanced copies, if there are any.
        if matters || !self.examines_beside([x, y], progress) {
            let (balanced, copies_lost) = flags::watch(|| Balanced::new(&context, stream, x, y, matters, turns));
            return Ok((balanced?, copies_lost, None));
        }
        let mut balanced = Balanced::begin(&context, stream, x, y, matters, turns)?;
        // Squaring may scale what is wide.
        let is_range_bound = self.options().scaling != Scaling::Never && plan.method != Method::Power;
        let is_rejected = |balanced: &Balanced| {
            let may_lose = is_range_bound && balanced.is_wide_here();
            balanced.has_copies() || balanced.risk() != Risk::Nothing || may_lose
        };
        let (copies_lost, plain) =
            examined(&context, &mut balanced, (x, y), progress, is_rejected, |progress, beside| {
                let run = |machines: &mut [Box<dyn ContractOps>], work: &Work<'_>| {
                    inner::contract(machines, &Work { beside: Some(beside), ..*work })
                };
                flags::watch(|| self.execute(stream, plan, x, y, progress, Sizes::default(), run))
            })?;
        Ok((balanced, copies_lost, plain))
    }
}

/// Runs `plain`, a contraction of x and y as they are, and examines those of them that are on the host at its first wait,
/// or afterwards. `is_rejected` says whether an examined call needs another contraction. Returns whether balanced copies lost
/// digits, and the result of `plain` unless it is rejected. An error of `plain` is a result, too: a rejected one is no error of
/// the call.
///
/// # Errors
/// As [`Balanced::examine_here`].
pub(super) fn examined<R>(
    context: &Arc<Context>,
    balanced: &mut Balanced,
    (x, y): (&TensorTrain, &TensorTrain),
    progress: &Progress<'_>,
    is_rejected: impl Fn(&Balanced) -> bool + Sync,
    plain: impl FnOnce(&Progress<'static>, Beside<'_>) -> R,
) -> Result<(bool, Option<R>)> {
    let abandoned = Arc::new(AtomicU64::new(0));
    let mut examined = (Ok(()), false);
    let result = {
        let examination = Once::new(|| {
            examined = flags::watch(|| balanced.examine_here(context, x, y));
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
