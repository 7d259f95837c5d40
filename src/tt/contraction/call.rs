//! Norms and distances of trains, as calls of a session.

use std::sync::Arc;
use std::time::Instant;

use super::algorithm::norm;
use super::examination;
use super::ops::{HostWork, Work};
use super::peaks::Sizes;
use super::session::{Call, Contraction, Goal, common};
use crate::backend::cpu::flags;
use crate::error::{Error, Result};
use crate::operator::Trains;
use crate::operator::rings;
use crate::progress::{Progress, ProgressFn};
use crate::scalar::DType;
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::trains::balance::{Balanced, Risk};
use crate::trains::finite;
use crate::trains::info::Info;
use crate::trains::options::{Conjugate, NormMethod};
use crate::trains::scaled::Scaled;

impl Contraction {
    /// The Euclidean norm of a train: real, not negative.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`].
    pub fn norm(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(f64, Info)> {
        let (norm, mut info) = self.norm_scaled(stream, x, report)?;
        let (value, outcome) = norm.plain(x.dtype());
        info.outcome = outcome;
        Ok((value.re, info))
    }

    /// [`Contraction::norm`] with a separate exponent; [`Scaled::log_abs`] of it is the logarithm.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`].
    pub fn norm_scaled(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Scaled, Info)> {
        let progress = self.progress(report);
        match self.norm_goal() {
            Goal::Norm => self.by_qr(stream, x, x, Goal::Norm, &progress),
            goal => {
                let (square, info) = self.contract(stream, x, x, goal, &progress)?;
                Ok((square.re().sqrt(), info))
            }
        }
    }

    /// The report of the norm of `x` before it runs.
    ///
    /// # Errors
    /// As [`Contraction::norm`] for arguments that do not fit.
    pub fn plan_norm(&mut self, x: &TensorTrain) -> Result<Info> {
        let goal = self.norm_goal();
        let call = self.prepare(x, x, goal)?;
        Ok(call.plan.info(self.contexts().len()))
    }

    /// The report of the distance of `x` and `y` before it runs.
    ///
    /// # Errors
    /// As [`Contraction::distance`] for arguments that do not fit.
    pub fn plan_distance(&mut self, x: &TensorTrain, y: &TensorTrain) -> Result<Info> {
        let call = self.prepare(x, y, Goal::Distance)?;
        Ok(call.plan.info(self.contexts().len()))
    }

    /// The goal of a norm with the method of the options.
    fn norm_goal(&self) -> Goal {
        match self.options().norm_method {
            NormMethod::Qr => Goal::Norm,
            NormMethod::Inner => Goal::Square,
            NormMethod::Auto | NormMethod::Triangle => Goal::Triangle,
        }
    }

    /// The Euclidean norm of x - y, by QR factors of the difference: it keeps the digits that the inner products
    /// |x|^2 - 2 Re <x, y> + |y|^2 lose where x and y are close.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`].
    pub fn distance(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(f64, Info)> {
        let (distance, mut info) = self.distance_scaled(stream, x, y, report)?;
        let (value, outcome) = distance.plain(common(x.dtype(), y.dtype()));
        info.outcome = outcome;
        Ok((value.re, info))
    }

    /// [`Contraction::distance`] with a separate exponent.
    ///
    /// # Errors
    /// As [`Contraction::inner_scaled`].
    pub fn distance_scaled(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        report: Option<&ProgressFn<'_>>,
    ) -> Result<(Scaled, Info)> {
        let progress = self.progress(report);
        self.by_qr(stream, x, y, Goal::Distance, &progress)
    }

    fn by_qr(
        &mut self,
        stream: Option<&Stream>,
        x: &TensorTrain,
        y: &TensorTrain,
        goal: Goal,
        progress: &Progress<'_>,
    ) -> Result<(Scaled, Info)> {
        let start = Instant::now();
        let Call { plan, swapped } = self.prepare(x, y, goal)?;
        let (x, y) = if swapped { (y, x) } else { (x, y) };
        let mut info = plan.info(self.contexts().len());
        if goal == Goal::Distance && x.is_same(y) {
            let zero = finite::checked(Scaled::ZERO, DType::F64, &[x])?;
            info.outcome = zero.outcome();
            return Ok((zero, info));
        }
        let count = if goal == Goal::Distance { 2 } else { 1 };
        let context = Arc::clone(&self.contexts()[0]);
        let turns = rings::turns(self.options());
        let is_during_contraction = self.examines_during_contraction(progress);
        let mut balanced = Balanced::unexamined(x, y, turns);
        let mut run =
            |a: &TensorTrain, b: &TensorTrain, risk, progress: &Progress<'_>, host_work: Option<HostWork<'_>>| {
                if risk == Risk::RingUnderflow {
                    if goal == Goal::Distance {
                        let problem =
                            "x: numbers of these rings hide others that count, so their difference would lose these";
                        return Err(Error::Numerical(problem.into()));
                    }
                    let square =
                        rings::value(&context, stream, Conjugate::Bra, progress.flag(), &Trains::new(x, None, x))?;
                    return Ok(square.re().sqrt());
                }
                let (terms, read) = ([(a, 1.0), (b, -1.0)], [a, b]);
                let terms = &terms[..count];
                let norm = self.execute(stream, &plan, a, b, progress, Sizes::default(), |machines, work| {
                    norm::by_qr(machines, &Work { host_work, ..*work }, terms)
                })?;
                finite::checked(norm, DType::F64, &read[..count])
            };
        let mut plain = None;
        if is_during_contraction {
            let is_rejected = |balanced: &Balanced| balanced.has_copies() || balanced.risk() != Risk::Nothing;
            let (copies_lost, found) = examination::examined(
                (&context, stream),
                &mut balanced,
                (x, y),
                progress,
                is_rejected,
                |progress, host_work| run(x, y, Risk::Nothing, progress, Some(host_work)),
            )?;
            flags::hand_on(copies_lost);
            plain = found;
        } else {
            balanced.enqueue_device_examination(&context, stream, (x, y), false)?;
            balanced.examine_here(&context, x, y)?;
        }
        let norm = balanced.run(&context, stream, (x, y), plain, |a, b, risk| run(a, b, risk, progress, None))?;
        info.outcome = norm.outcome();
        info.seconds = start.elapsed().as_secs_f64();
        Ok((norm, info))
    }
}
