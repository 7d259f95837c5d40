//! A session: options on a context, created once and used for many batches of tensors.

use std::sync::Arc;

use super::info::Info;
use super::options::{Options, Results};
use super::resolve::check;
use crate::context::Context;
use crate::error::Result;
use crate::progress::{Progress, ProgressFn};
use crate::session::{CancelHandle, LastInfo};
use crate::stream::Stream;
use crate::tensor::Tensor;

/// A solver with given options. Its calls do not change it, so that several threads may make them at a time.
pub struct Sshopm {
    contexts: [Arc<Context>; 1],
    options: Options,
    cancel: CancelHandle,
    last: LastInfo<Info>,
}

impl Sshopm {
    /// Checks the options, as far as that is possible without tensors.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) naming the option that is outside its domain or
    /// without effect.
    pub fn new(context: &Arc<Context>, options: Options) -> Result<Self> {
        context.check_alive()?;
        check(&options)?;
        let contexts = [Arc::clone(context)];
        Ok(Self { contexts, options, cancel: CancelHandle::default(), last: LastInfo::default() })
    }

    /// The context that the calls run on, to which tensors must belong.
    pub fn context(&self) -> &Arc<Context> {
        &self.contexts[0]
    }

    /// A handle that cancels this object's calls. Any thread may use it while a call runs.
    pub fn cancel_handle(&self) -> CancelHandle {
        self.cancel.clone()
    }

    /// The figures of [`Sshopm::solve`] that are known before it runs.
    ///
    /// # Errors
    /// As [`super::plan()`].
    pub fn plan(&self, tensors: &Tensor) -> Result<Info> {
        super::plan(self.context(), tensors, &self.options)
    }

    /// Local maxima, minima or both, as [`super::solve`].
    ///
    /// # Errors
    /// As [`super::solve`]. The object can be used again after any of them.
    pub fn solve(
        &self,
        stream: Option<&Stream>,
        tensors: &Tensor,
        starts: Option<&Tensor>,
        results: &mut Results<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let progress = self.progress(report);
        let info = super::solve(self.context(), stream, tensors, starts, &self.options, results, &progress)?;
        self.last.set(info);
        Ok(info)
    }

    /// All real pairs, as [`super::all`]; `morse` are the sum found and the expected one.
    ///
    /// # Errors
    /// As [`super::all`]. The object can be used again after any of them.
    pub fn solve_all(
        &self,
        stream: Option<&Stream>,
        tensors: &Tensor,
        results: &mut Results<'_>,
        morse: (Option<&mut Tensor>, Option<&mut Tensor>),
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Info> {
        let progress = self.progress(report);
        let info = super::all(self.context(), stream, tensors, &self.options, results, morse.0, morse.1, &progress)?;
        self.last.set(info);
        Ok(info)
    }

    /// The report of the last call of [`Sshopm::solve`] or [`Sshopm::solve_all`] that succeeded.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) if there was none.
    pub fn last_info(&self) -> Result<Info> {
        self.last.get("sshopm")
    }

    fn progress<'p>(&self, report: Option<&'p ProgressFn<'p>>) -> Progress<'p> {
        self.cancel.progress(&self.contexts, report, self.cancel.epoch())
    }
}
