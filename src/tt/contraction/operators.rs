//! Contractions with operators as methods of a [`Contraction`], with its cancellation and a progress function.

use crate::contraction::session::Contraction;
use crate::error::Result;
use crate::operator::environments::Environments;
use crate::operator::local::{Locals, correlation_watched, expect_local_watched};
use crate::operator::trains::Trains;
use crate::operator::value::{Rayleigh, plan_rayleigh, plan_sandwich, rayleigh_watched, sandwich_watched};
use crate::progress::ProgressFn;
use crate::scalar::Complex;
use crate::stream::Stream;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::info::Info;
use crate::trains::scaled::Scaled;

impl Contraction {
    /// <y|H|x> with this object's options, in the order of `stream` or of the context's own queue.
    ///
    /// # Errors
    /// As [`crate::operator::sandwich`]; [`crate::error::Error::NotSupported`] for a stream that is being captured to a
    /// graph.
    pub fn sandwich(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Scaled, Info)> {
        self.watched(stream, report, |context, options, watch| {
            sandwich_watched(context, stream, options, trains, watch)
        })
    }

    /// The report of [`Contraction::sandwich`] before it runs.
    ///
    /// # Errors
    /// As [`crate::operator::plan_sandwich`].
    pub fn plan_sandwich(&self, trains: &Trains<'_>) -> Result<Info> {
        plan_sandwich(self.context(), self.options(), trains)
    }

    /// The report of [`Contraction::rayleigh`] before it runs.
    ///
    /// # Errors
    /// As [`crate::operator::plan_rayleigh`].
    pub fn plan_rayleigh(&self, x: &TensorTrain, operator: &TrainMatrix) -> Result<Info> {
        plan_rayleigh(self.context(), self.options(), x, operator)
    }

    /// <x|H|x> / <x|x> with this object's options.
    ///
    /// # Errors
    /// As [`crate::operator::rayleigh`].
    pub fn rayleigh(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        operator: &TrainMatrix,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Rayleigh> {
        self.watched(stream, report, |context, options, watch| {
            rayleigh_watched(context, stream, options, x, operator, watch)
        })
    }

    /// <x|op_k|x> / <x|x> for each k of `sites`, with this object's options.
    ///
    /// # Errors
    /// As [`crate::operator::expect_local`].
    pub fn expect_local(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        op: &[Complex<f64>],
        sites: &[usize],
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Locals> {
        self.watched(stream, report, |context, options, watch| {
            expect_local_watched(context, stream, options, x, op, sites, watch)
        })
    }

    /// Correlations of two operators at all pairs of sites, with this object's options.
    ///
    /// # Errors
    /// As [`crate::operator::correlation`].
    pub fn correlation(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        a: &[Complex<f64>],
        b: &[Complex<f64>],
        report: Option<&ProgressFn<'_>>,
    ) -> Result<Locals> {
        self.watched(stream, report, |context, options, watch| {
            correlation_watched(context, stream, options, x, a, b, watch)
        })
    }

    /// Environments of trains with this object's options. Cancelling this object cancels their calls, too.
    ///
    /// # Errors
    /// As [`Environments::new`].
    pub fn environments(&self, trains: &Trains<'_>) -> Result<Environments> {
        Ok(Environments::new(self.context(), self.options(), trains)?.cancelled_by(self.cancel_handle()))
    }
}
