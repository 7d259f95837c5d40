//! <y|H|x> and <x|H|x> / <x|x>.

use std::sync::Arc;
use std::time::Instant;

use super::chain::{Chain, Half, meet};
use super::device::{Ops, on_device};
use super::erased::{Operations, Work, both};
use super::plan::{Plan, cut_of};
use super::slots::Slots;
use super::trains::{Trains, are_finite};
use super::zero_columns;
use crate::backend::cpu::flags;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::operator::rings;
use crate::operator::wider::{self, Doubles};
use crate::scalar::{Complex, DType};
use crate::stream::Stream;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::balance::{self, Risk};
use crate::trains::finite;
use crate::trains::info::Info;
use crate::trains::options::{Conjugate, Options, Scaling};
use crate::trains::scaled::Scaled;
use crate::trains::watch::Watch;

/// <x|H|x> / <x|x> and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Rayleigh {
    /// <x|H|x>, in the scaled form.
    pub numerator: Scaled,
    /// <x|x>, real.
    pub denominator: Scaled,
    /// The quotient. For a Hermitian operator its imaginary part is only rounding error; with `assume_hermitian` it is
    /// 0.
    pub quotient: Scaled,
    /// Report of the contraction. Its outcome is that of the quotient in the trains' type.
    pub info: Info,
}

/// <y|H|x>, with y conjugated unless the options say otherwise; <y|x> without H. Real and complex trains and operators
/// of one precision may be mixed: a real operator is used as it is, a real train is converted core by core if other
/// numbers are complex.
///
/// Runs on the GPU if one of the trains is there; the operator is on the host. Arithmetic is in the widest of the
/// types, the last sums in f64. The outcome in the info is that of the result as a number of that type.
///
/// # Errors
/// As [`Trains::check`]; [`Error::InvalidArgument`] for `cut`, and naming `workspace_limit` with the bytes that are
/// needed; [`Error::NotSupported`] for an operator on a device; [`Error::Cancelled`]; out of memory.
pub fn sandwich(context: &Arc<Context>, options: &Options, trains: &Trains<'_>) -> Result<(Scaled, Info)> {
    sandwich_watched(context, None, options, trains, &unwatched(context))
}

/// The state of a call without progress, which only the context can cancel.
pub fn unwatched(context: &Context) -> Watch {
    Watch::new(context.progress(None).flag())
}

/// [`sandwich`] with the cancellation and the progress of `watch`.
///
/// # Errors
/// As [`sandwich`].
pub fn sandwich_watched(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    trains: &Trains<'_>,
    watch: &Watch,
) -> Result<(Scaled, Info)> {
    let start = Instant::now();
    let dtype = trains.check(context)?;
    let ([with, without], mut info) =
        contract(context, stream, options, trains, dtype, trains.operator.is_none(), watch)?;
    let mut value = if trains.operator.is_some() { with } else { without };
    if options.assume_hermitian && trains.bra.is_same(trains.ket) {
        value = value.re();
    }
    info.outcome = value.plain(dtype).1;
    info.seconds = start.elapsed().as_secs_f64();
    Ok((value, info))
}

/// The report of [`sandwich`] before it runs. Of the numbers, it reads only those of the operator, to find blocks of
/// zeros.
///
/// # Errors
/// As [`sandwich`] for arguments that do not fit.
pub fn plan_sandwich(context: &Arc<Context>, options: &Options, trains: &Trains<'_>) -> Result<Info> {
    let dtype = trains.check(context)?;
    predict_report(context, options, trains, dtype, trains.operator.is_none())
}

/// The report of [`rayleigh`] before it runs, as for [`plan_sandwich`].
///
/// # Errors
/// As [`rayleigh`] for arguments that do not fit.
pub fn plan_rayleigh(
    context: &Arc<Context>,
    options: &Options,
    x: &TensorTrain,
    operator: &TrainMatrix,
) -> Result<Info> {
    let trains = Trains::new(x, Some(operator), x);
    let dtype = trains.check(context)?;
    predict_report(context, options, &trains, dtype, true)
}

/// <x|H|x> / <x|x>, both in one sweep. The quotient is correct even if one of them is beyond the range of the type.
///
/// # Errors
/// As [`sandwich`]; [`Error::Numerical`] if <x|x> is 0.
pub fn rayleigh(
    context: &Arc<Context>,
    options: &Options,
    x: &TensorTrain,
    operator: &TrainMatrix,
) -> Result<Rayleigh> {
    rayleigh_watched(context, None, options, x, operator, &unwatched(context))
}

/// [`rayleigh`] with the cancellation and the progress of `watch`.
///
/// # Errors
/// As [`rayleigh`].
pub fn rayleigh_watched(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    x: &TensorTrain,
    operator: &TrainMatrix,
    watch: &Watch,
) -> Result<Rayleigh> {
    let start = Instant::now();
    let trains = Trains::new(x, Some(operator), x);
    let dtype = trains.check(context)?;
    let options = Options { conjugate: Conjugate::Bra, ..options.clone() };
    let ([numerator, denominator], mut info) = contract(context, stream, &options, &trains, dtype, true, watch)?;
    let numerator = if options.assume_hermitian { numerator.re() } else { numerator };
    let denominator = norm2(denominator);
    let quotient = quotient(numerator, denominator)?;
    info.outcome = quotient.plain(dtype).1;
    info.seconds = start.elapsed().as_secs_f64();
    Ok(Rayleigh { numerator, denominator, quotient, info })
}

/// The real part of <x|x>, whose imaginary part is only rounding error. Returned as it is if it is not finite.
pub(super) fn norm2(value: Scaled) -> Scaled {
    if value.is_finite() { value.re() } else { value }
}

/// `numerator` / <x|x>; NaN if either is not finite.
pub(super) fn quotient(numerator: Scaled, denominator: Scaled) -> Result<Scaled> {
    if !numerator.is_finite() || !denominator.is_finite() {
        return Ok(Scaled::new(Complex::new(f64::NAN, 0.0), 0));
    }
    numerator.over(denominator).ok_or_else(|| Error::Numerical("x: has <x|x> = 0, more than 0 is needed".into()))
}

/// <y|H|x> and, if `identity`, <y|x>; the report.
pub(super) fn contract(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    trains: &Trains<'_>,
    dtype: DType,
    identity: bool,
    watch: &Watch,
) -> Result<([Scaled; 2], Info)> {
    let turns = rings::turns(options);
    let examine = || trains.operator.map(|h| balance::of_operator(context, h, turns.is_some())).transpose();
    let (examined, operator_lost) = flags::watch(examine);
    let (matrix, operator_underflows) = examined?.unwrap_or((None, false));
    let operator = matrix.as_ref().or(trains.operator);
    let by_exponents = || -> Result<[Scaled; 2]> {
        let cancel = || watch.cancel.clone();
        let value = |trains: &Trains<'_>| rings::value(context, stream, options.conjugate, cancel(), trains);
        let without = if identity { value(&Trains { operator: None, ..*trains })? } else { Scaled::ZERO };
        Ok([value(trains)?, without])
    };
    let is_checked = on_device(trains) && options.scaling != Scaling::Never;
    let is_wide = operator_lost || trains.operator.map_or(Ok(false), |h| balance::is_wide(context, h.train()))?;
    let (mut is_final, mut lost) = (true, false);
    let mut by_balanced = |bra: &TensorTrain, ket: &TensorTrain, risk: Risk| {
        is_final = true;
        if risk == Risk::RingUnderflow || operator_underflows {
            return Ok((by_exponents()?, predict_report(context, options, trains, dtype, identity)?));
        }
        if is_checked && (is_wide || risk == Risk::Range) {
            // The CPU reports lost digits; a device does not.
            let info = predict_report(context, options, trains, dtype, identity)?;
            let copies = balance::copies_here(context, stream, trains.bra, trains.ket)?;
            let here = trains.replaced(&copies);
            let (sums, _) = contract(context, stream, options, &here, dtype, identity, watch)?;
            return Ok((sums, info));
        }
        let balanced = Trains { bra, operator, ket };
        let found;
        (found, lost) = flags::watch(|| contract_as_given(context, stream, options, &balanced, dtype, identity, watch));
        let (sums, info) = found?;
        if sums.iter().any(|sum| !sum.is_finite()) {
            // All entries are finite, so products have overflowed on the way.
            let is_lost = options.scaling != Scaling::Never && are_finite(trains)?;
            return if is_lost { by_exponents().map(|sums| (sums, info)) } else { Ok((sums, info)) };
        }
        is_final = !wider::applies(options, on_device(trains));
        Ok((sums, info))
    };
    let pair = (trains.bra, trains.ket);
    let (found, copies_lost) = flags::watch(|| balance::with_balanced(context, stream, pair, turns, &mut by_balanced));
    let (sums, info) = found?;
    if is_final || !(lost || copies_lost || operator_lost) {
        return Ok((sums, info));
    }
    if let Some(doubles) = Doubles::of(context, trains)? {
        let (trains, dtype) = (doubles.trains(), doubles.trains().check(context)?);
        // The workspace limit is enough for single precision, but not for double. That is no error of the call.
        match contract(context, stream, options, &trains, dtype, identity, watch) {
            Ok((sums, _)) => return Ok((sums, info)),
            Err(Error::InvalidArgument { .. }) => {}
            Err(problem) => return Err(problem),
        }
    }
    by_exponents().map(|sums| (sums, info))
}

/// [`contract`] for trains with balanced bonds.
fn contract_as_given(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    trains: &Trains<'_>,
    dtype: DType,
    identity: bool,
    watch: &Watch,
) -> Result<([Scaled; 2], Info)> {
    let chain = Chain::of(options, *trains, dtype, cut_of(trains, options)?, watch)?;
    let ops = Ops::of(context, stream, &chain.trains)?;
    let (sums, info, leaves_out) =
        ops.with_type("x", dtype, |ops| context.pool().run(|| sum_over_pairs(ops, options, &chain, identity)))?;
    let Trains { bra, operator, ket } = *trains;
    let [with, without] = sums;
    let is_cut = bra.shape().ranks()[chain.cut] * ket.shape().ranks()[chain.cut] > 1;
    let with = match operator.map(TrainMatrix::train) {
        // The contraction does not read blocks that are on no path, so a NaN there must be found here.
        Some(h) if !finite::is_finite(h)? => Scaled::nan(dtype),
        Some(_) if leaves_out && !finite::is_finite(ket)? => Scaled::nan(dtype),
        Some(_) => finite::checked_cut(with, dtype, &[bra, ket], is_cut)?,
        None => with,
    };
    let without = if identity { finite::checked_cut(without, dtype, &[bra, ket], is_cut)? } else { without };
    Ok(([with, without], info))
}

/// The report of [`contract`] before it runs.
fn predict_report(
    context: &Arc<Context>,
    options: &Options,
    trains: &Trains<'_>,
    dtype: DType,
    identity: bool,
) -> Result<Info> {
    let chain = Chain::of(options, *trains, dtype, cut_of(trains, options)?, &unwatched(context))?;
    let ops = Ops::of(context, None, &chain.trains)?;
    ops.with_type("x", dtype, |ops| Ok(Plan::new(&chain, ops, options, identity)?.info(&chain)))
}

/// The sums <y|H|x> and <y|x> for trains as they are, the report, and whether the operator keeps entries of the ket out
/// of all sums.
fn sum_over_pairs(
    ops: &dyn Operations,
    options: &Options,
    chain: &Chain<'_>,
    identity: bool,
) -> Result<([Scaled; 2], Info, bool)> {
    let plan = Plan::new(chain, ops, options, identity)?;
    chain.watch.expect(plan.steps(chain.len()));
    let mut sums = [Scaled::ZERO; 2];
    for slots in &plan.runs {
        for first in (0..plan.pairs).step_by(plan.block) {
            let count = plan.block.min(plan.pairs - first);
            let parts = block(chain, ops, &plan, slots, first, count)?;
            sums = [sums[0].plus(parts[0]), sums[1].plus(parts[1])];
        }
    }
    let leaves_out = match (chain.trains.operator, &chain.blocks) {
        (Some(h), Some(blocks)) => zero_columns::has_zero_columns(h, blocks, chain.cut, &plan.runs)?,
        _ => false,
    };
    Ok((sums, plan.info(chain), leaves_out))
}

/// The terms of `count` boundary pairs from `first` on.
fn block(
    chain: &Chain<'_>,
    ops: &dyn Operations,
    plan: &Plan,
    slots: &Slots,
    first: usize,
    count: usize,
) -> Result<[Scaled; 2]> {
    if slots.count(0) == 0 {
        return Ok([Scaled::ZERO; 2]);
    }
    let halves = if plan.two_ended { 2 } else { 1 };
    let half = |range, work: &mut Work| chain.half(ops, work, slots, range, (first, count));
    let [from_left, from_right] = plan.sweep_ranges(chain.len());
    let (left, right) = if plan.two_ended && ops.is_concurrent() {
        // Both halves hold their memory until both have ended. Otherwise the timing of the threads would decide whether
        // both hold memory at the same time, and a memory limit might suffice for one call but not for the next.
        let mut works = [ops.work(halves, plan.narrow), ops.work(halves, plan.narrow)];
        let [left_work, right_work] = &mut works;
        let (left, right) = both(ops, || half(from_left, left_work), || half(from_right, right_work))?;
        let ((left, _), (right, _)) = (left?, right?);
        (left, right)
    } else {
        let one = |range| half(range, &mut ops.work(halves, plan.narrow)).map(|finished| finished.0);
        (one(from_left)?, one(from_right)?)
    };
    let ended = |half: &Half| match half {
        Half::Value(_) => None,
        Half::Ended(values) => Some(values.map(Scaled::real)),
    };
    match (&left, &right) {
        (Half::Value(left), Half::Value(right)) => meet(ops, left, right, slots.operator(plan.middle).len()),
        // If one half is 0 and the other is NaN, the result is NaN.
        _ => {
            let (left, right) = (ended(&left), ended(&right));
            let zero = [Scaled::ZERO; 2];
            let (a, b) = (left.unwrap_or(zero), right.unwrap_or(zero));
            Ok([0, 1].map(|g| a[g].plus(b[g])))
        }
    }
}
