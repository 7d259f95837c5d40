//! What the sessions of the families share: objects made once on one or several contexts and used for many calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::Backend;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::{Progress, ProgressFn};

/// Cancels what runs, from any thread and without waiting for it.
#[derive(Debug, Clone, Default)]
pub struct CancelHandle(Arc<AtomicU64>);

impl CancelHandle {
    /// Cancels the call that runs now, and what the object has begun over several calls.
    pub fn cancel(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Where the counter of cancellations stands.
    pub(crate) fn epoch(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Progress of a call on `contexts`, the first of which asked for it: cancelled by any of them, and by this handle
    /// since its counter stood at `start`.
    pub(crate) fn progress<'p>(
        &self,
        contexts: &[Arc<Context>],
        report: Option<&'p ProgressFn<'p>>,
        start: u64,
    ) -> Progress<'p> {
        progress(contexts, report).and(&self.0, start)
    }
}

/// Progress of a call on `contexts`, the first of which asked for it: cancelled by any of them.
pub(crate) fn progress<'p>(contexts: &[Arc<Context>], report: Option<&'p ProgressFn<'p>>) -> Progress<'p> {
    contexts[1..].iter().fold(contexts[0].progress(report), |p, c| {
        let epoch = c.cancel_epoch();
        p.and(epoch, epoch.load(Ordering::Relaxed))
    })
}

/// Refuses a further context that is one of `contexts` (of the `owner`) already.
pub(crate) fn expect_new(contexts: &[Arc<Context>], owner: &str, context: &Arc<Context>) -> Result<()> {
    context.check_alive()?;
    if contexts.iter().any(|c| Arc::ptr_eq(c, context)) {
        return Err(Error::invalid("context", format!("is one of the {owner}'s already")));
    }
    Ok(())
}

/// The error of a further context on another kind of device than the first.
pub(crate) fn differing(first: &str, other: &str) -> Error {
    Error::invalid("context", format!("is on {other}, the others are on {first}: results would differ"))
}

/// Refuses a further context that is not on the kind of device of the others, or is one of them (of the `owner`) already.
pub(crate) fn expect_alike(contexts: &[Arc<Context>], owner: &str, context: &Arc<Context>) -> Result<()> {
    expect_new(contexts, owner, context)?;
    let name = |context: &Context| match context.backend() {
        Backend::Cpu => String::from("the CPU"),
        Backend::Gpu(gpu) => String::from(gpu.name()),
    };
    match (name(&contexts[0]), name(context)) {
        (first, other) if first == other => Ok(()),
        (first, other) => Err(differing(&first, &other)),
    }
}

/// Refuses a further context that is not a GPU of the kind of the others, or one of them already. `parts` names what is
/// spread over the contexts of the `owner`.
pub(crate) fn expect_another_gpu(
    contexts: &[Arc<Context>],
    owner: &str,
    parts: &str,
    context: &Arc<Context>,
) -> Result<()> {
    expect_new(contexts, owner, context)?;
    match (contexts[0].backend(), context.backend()) {
        (Backend::Gpu(first), Backend::Gpu(other)) if first.name() == other.name() => Ok(()),
        (Backend::Gpu(first), Backend::Gpu(other)) => Err(differing(first.name(), other.name())),
        _ => Err(Error::invalid("context", format!("is not a second GPU: {parts} are spread over GPUs alone"))),
    }
}
