//! Expectation values of operators at one site, and correlations of two.

use std::sync::Arc;
use std::time::Instant;

use super::chain::{Chain, Held, meet};
use super::device::Ops;
use super::erased::{Operations, Work, both};
use super::exact_values::{self, ExactCall};
use super::gather::Gather;
use super::layers::{Layer, layers, layers_of_product};
use super::plan::cut_of;
use super::share::{Kind, Share};
use super::site_matrix::{expect_operator, is_real};
use super::slots::Slots;
use super::trains::{Trains, complex_of};
use super::value::{self, norm2, unwatched};
use crate::alloc;
use crate::backend::cpu::flags;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::operator::rings;
use crate::operator::wider::{self, Doubles};
use crate::scalar::{Complex, DType};
use crate::shape::{self, to_i64};
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::trains::balance::{self, Risk, with_balanced};
use crate::trains::finite;
use crate::trains::info::{Info, Outcome};
use crate::trains::options::{Conjugate, Options, Scaling};
use crate::trains::scaled::Scaled;
use crate::trains::watch::Watch;

const WHAT: &str = "environments of local expectations";

/// Largest rank of rings for which a norm <x|x> of 0 is computed again with an exponent for each entry.
const SMALL: usize = 16;

/// <x|op_k|x> / <x|x> for each k of `sites`, with `op` (n-by-n, column-major) at site k. One sweep from each end serves
/// all sites. A ring is cut at its smallest bond; as many boundary pairs as `workspace_limit` allows are computed
/// together.
///
/// # Errors
/// As for [`super::sandwich`], also for a `workspace_limit` that is too small; [`Error::InvalidArgument`] for a site
/// that does not exist or an `op` that does not fit its mode; [`Error::Numerical`] if <x|x> is 0.
pub fn expect_local(
    context: &Arc<Context>,
    options: &Options,
    x: &TensorTrain,
    op: &[Complex<f64>],
    sites: &[usize],
) -> Result<Locals> {
    expect_local_watched(context, None, options, x, op, sites, &unwatched(context))
}

/// [`expect_local`] with the cancellation and the progress of `watch`.
///
/// # Errors
/// As [`expect_local`]; [`Error::Cancelled`].
pub fn expect_local_watched(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    x: &TensorTrain,
    op: &[Complex<f64>],
    sites: &[usize],
    watch: &Watch,
) -> Result<Locals> {
    let start = Instant::now();
    let (d, modes) = (x.shape().len(), x.shape().modes());
    for (at, &k) in sites.iter().enumerate() {
        shape::index_in_list("sites", at, to_i64(k), d)?;
        expect_operator("op", op, modes[k])?;
    }
    let mut wanted = alloc::filled(WHAT, d, false)?;
    sites.iter().for_each(|&k| wanted[k] = true);
    let mut values = alloc::filled(WHAT, d, Scaled::ZERO)?;
    let mut parts = alloc::filled(WHAT, d, Scaled::ZERO)?;
    let (mut norm, mut info) = (Scaled::ONE, None);
    for Layer { numbers, exponent } in layers(op, x.dtype())? {
        let sums = &mut Local { op: &numbers, wanted: &wanted, values: &mut parts };
        let (square, done) = run(context, stream, options, x, is_real(op), sums, watch)?;
        (norm, info) = (square, info.or(done));
        values.iter_mut().zip(&parts).for_each(|(value, part)| *value = value.plus(part.shifted(exponent)));
    }
    let sums = &mut Local { op, wanted: &wanted, values: &mut parts };
    let info = info.map_or_else(|| predict_report(context, options, x, is_real(op), sums), Ok)?;
    let mut out = Locals { values: alloc::with_capacity(WHAT, sites.len())?, info };
    for &k in sites {
        out.push(values[k], norm)?;
    }
    out.info.seconds = start.elapsed().as_secs_f64();
    Ok(out)
}

/// c\[k + d l\] = <x|A_k B_l|x> / <x|x> for all k and l; on the diagonal the product A B acts at one site. All modes
/// are n, `a` and `b` n-by-n, column-major. A sweep carries one environment for each site k, for as many sites at a
/// time as `workspace_limit` allows. If A = B, one sweep suffices; otherwise there is one for k < l and one for k > l.
///
/// # Errors
/// As [`expect_local`]; [`Error::InvalidArgument`] for modes that differ.
pub fn correlation(
    context: &Arc<Context>,
    options: &Options,
    x: &TensorTrain,
    a: &[Complex<f64>],
    b: &[Complex<f64>],
) -> Result<Locals> {
    correlation_watched(context, None, options, x, a, b, &unwatched(context))
}

/// [`correlation`] with the cancellation and the progress of `watch`.
///
/// # Errors
/// As [`correlation`]; [`Error::Cancelled`].
pub fn correlation_watched(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    x: &TensorTrain,
    a: &[Complex<f64>],
    b: &[Complex<f64>],
    watch: &Watch,
) -> Result<Locals> {
    let start = Instant::now();
    let (d, modes) = (x.shape().len(), x.shape().modes());
    if let Some(k) = modes.iter().position(|n| *n != modes[0]) {
        let problem = format!("core {k} has mode size {}, core 0 has {}: they must be equal", modes[k], modes[0]);
        return Err(Error::invalid("x", problem));
    }
    expect_operator("a", a, modes[0])?;
    expect_operator("b", b, modes[0])?;
    let count = shape::product("x", d, d)?;
    let mut values = alloc::filled(WHAT, count, Scaled::ZERO)?;
    let real = is_real(a) && is_real(b);
    let mut parts = alloc::filled(WHAT, count, Scaled::ZERO)?;
    let (mut norm, mut info) = (Scaled::ONE, None);
    let (all_a, all_b) = (layers(a, x.dtype())?, layers(b, x.dtype())?);
    for (a, b) in all_a.iter().flat_map(|a| all_b.iter().map(move |b| (a, b))) {
        let (exponent, a, b) = (a.exponent + b.exponent, &a.numbers[..], &b.numbers[..]);
        let both = layers_of_product(modes[0], a, b, x.dtype())?;
        let Some(first) = both.first() else { continue };
        let sums = &mut Correlation { a, b, both: &first.numbers, exponent: first.exponent, values: &mut parts };
        let (square, done) = run(context, stream, options, x, real, sums, watch)?;
        (norm, info) = (square, info.or(done));
        if both.len() > 1 {
            // The call above has set the diagonal by the first layer of A B, or by all of them if it used exponents.
            // Compute it here, layer by layer.
            parts.iter_mut().step_by(d + 1).for_each(|value| *value = Scaled::ZERO);
            let (mut diagonal, wanted) = (alloc::filled(WHAT, d, Scaled::ZERO)?, alloc::filled(WHAT, d, true)?);
            for Layer { numbers, exponent } in &both {
                let sums = &mut Local { op: numbers, wanted: &wanted, values: &mut diagonal };
                run(context, stream, options, x, real, sums, watch)?;
                for (value, part) in parts.iter_mut().step_by(d + 1).zip(&diagonal) {
                    *value = value.plus(part.shifted(*exponent));
                }
            }
        }
        values.iter_mut().zip(&parts).for_each(|(value, part)| *value = value.plus(part.shifted(exponent)));
    }
    let sums = &mut Correlation { a, b, both: a, exponent: 0, values: &mut parts };
    let info = info.map_or_else(|| predict_report(context, options, x, real, sums), Ok)?;
    let mut out = Locals { values: alloc::with_capacity(WHAT, count)?, info };
    for value in values {
        out.push(value, norm)?;
    }
    out.info.seconds = start.elapsed().as_secs_f64();
    Ok(out)
}

/// Expectation values as plain numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Locals {
    /// One number for each operator or pair of sites.
    pub values: Vec<Complex<f64>>,
    /// The report; its outcome is the largest of theirs, unless they are all finite.
    pub info: Info,
}

impl std::ops::Deref for Locals {
    type Target = [Complex<f64>];
    fn deref(&self) -> &Self::Target {
        &self.values
    }
}

impl Locals {
    /// Appends value / <x|x>. `values` must have the capacity.
    fn push(&mut self, value: Scaled, norm: Scaled) -> Result<()> {
        let (value, outcome) = value::quotient(value, norm)?.plain(DType::CF64);
        self.values.push(value);
        // An underflow is less severe than any other failure.
        let severity = |outcome: Outcome| (!matches!(outcome, Outcome::Ok | Outcome::Underflow), outcome);
        if severity(outcome) > severity(self.info.outcome) {
            self.info.outcome = outcome;
        }
        Ok(())
    }
}

/// Expectation values that are summed over the boundary pairs.
trait Sums: Send {
    /// Adds the terms of some boundary pairs. `rights` has their right environments, without operators. Returns their
    /// terms of <x|x>.
    fn add(
        &mut self,
        chain: &Chain<'_>,
        ops: &dyn Operations,
        slots: &Slots,
        share: Share,
        first: usize,
        rights: &[Held],
    ) -> Result<Scaled>;

    /// The kind of the expectation values, and their number.
    fn kind(&self) -> Kind;

    /// The sites of a single operator, as flags; empty for correlations.
    fn wanted(&self) -> &[bool];

    /// The sums so far, each with a separate exponent.
    fn values(&mut self) -> &mut [Scaled];

    /// Computes the sums from environments with an exponent for each entry. Returns <x|x>.
    fn by_exponents(&mut self, call: &ExactCall<'_>, x: &TensorTrain) -> Result<Scaled>;
}

/// The report of [`run`] before it runs.
fn predict_report<S: Sums>(
    context: &Arc<Context>,
    options: &Options,
    x: &TensorTrain,
    real: bool,
    sums: &S,
) -> Result<Info> {
    let trains = Trains::new(x, None, x);
    let chain = chain_of(context, options, x, real, &unwatched(context))?;
    let ops = Ops::of(context, None, &trains)?;
    ops.with_type("x", chain.dtype, |ops| {
        Share::new(&chain, ops, options, sums.kind())?.info(&chain, ops, sums.kind(), sums.wanted())
    })
}

/// The contraction of a train with its conjugate.
fn chain_of<'x>(
    context: &Arc<Context>,
    options: &Options,
    x: &'x TensorTrain,
    real: bool,
    watch: &Watch,
) -> Result<Chain<'x>> {
    let trains = Trains::new(x, None, x);
    let dtype = trains.check(context)?;
    let dtype = if real { dtype } else { complex_of(dtype) };
    let options = Options { conjugate: Conjugate::Bra, ..options.clone() };
    Chain::of(&options, trains, dtype, cut_of(&trains, &options)?, watch)
}

/// Computes `sums` over all boundary pairs. Returns <x|x>, and the report unless an exponent for each entry was needed.
fn run<S: Sums>(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    x: &TensorTrain,
    real: bool,
    sums: &mut S,
    watch: &Watch,
) -> Result<(Scaled, Option<Info>)> {
    Trains::new(x, None, x).check(context)?;
    let mut lost = false;
    let mut is_wide = false;
    let mut by_balanced = |x: &TensorTrain, _: &TensorTrain, risk: Risk| {
        lost = risk == Risk::RingUnderflow;
        is_wide = risk == Risk::Range && options.scaling != Scaling::Never;
        if lost || is_wide {
            return Ok((Scaled::ZERO, None));
        }
        sums.values().fill(Scaled::ZERO);
        let found = flags::watch(|| run_as_given(context, stream, options, x, real, sums, watch));
        lost = found.1 && wider::applies(options, x.is_device());
        found.0
    };
    let turns = rings::turns(options);
    let (found, cut) = flags::watch(|| with_balanced(context, stream, (x, x), turns, &mut by_balanced));
    lost |= cut && wider::applies(options, x.is_device());
    if is_wide && found.is_ok() {
        // The CPU reports lost digits; a device does not.
        let copies = balance::copies_here(context, stream, x, x)?;
        let here = Trains::new(x, None, x).replaced(&copies).ket;
        return run(context, stream, options, here, real, sums, watch);
    }
    // On a device, all terms of a ring's norm may have underflowed. Environments with exponents show that, but for
    // large rings they take minutes.
    let is_small_ring = x.shape().is_cyclic() && x.shape().max_rank() <= SMALL;
    lost |= is_small_ring && options.scaling != Scaling::Never && matches!(found, Err(Error::Numerical(_)));
    if !lost || !matches!(found, Ok(_) | Err(Error::Numerical(_))) {
        return found;
    }
    if sums.values().iter().any(|sum| !sum.is_finite()) {
        return found;
    }
    if let Some(doubles) = Doubles::of(context, &Trains::new(x, None, x))? {
        // The workspace limit is enough for single precision, but not for double. That is no error of the call.
        match run(context, stream, options, doubles.trains().ket, real, sums, watch) {
            Err(Error::InvalidArgument { .. }) => {}
            found => return found,
        }
    }
    sums.values().fill(Scaled::ZERO);
    Ok((expect_norm(sums.by_exponents(&ExactCall { context, stream, watch }, x)?, x)?, None))
}

/// [`run`] for a train with balanced bonds.
fn run_as_given<S: Sums>(
    context: &Arc<Context>,
    stream: Option<&Stream>,
    options: &Options,
    x: &TensorTrain,
    real: bool,
    sums: &mut S,
    watch: &Watch,
) -> Result<(Scaled, Option<Info>)> {
    let chain = chain_of(context, options, x, real, watch)?;
    let ops = Ops::of(context, stream, &chain.trains)?;
    let (norm, info) =
        ops.with_type("x", chain.dtype, |ops| context.pool().run(|| over_pairs(&chain, ops, options, sums)))?;
    Ok((expect_norm(norm, x)?, Some(info)))
}

/// <x|x> as a divisor. Returns an error if it is 0.
fn expect_norm(norm: Scaled, x: &TensorTrain) -> Result<Scaled> {
    let norm = finite::checked(norm2(norm), DType::F64, &[x])?;
    if norm.is_zero() {
        return Err(Error::Numerical("x: has <x|x> = 0, more than 0 is needed".into()));
    }
    Ok(norm)
}

fn over_pairs<S: Sums>(
    chain: &Chain<'_>,
    ops: &dyn Operations,
    options: &Options,
    sums: &mut S,
) -> Result<(Scaled, Info)> {
    let slots = Slots::identity(chain.len())?;
    let share = Share::new(chain, ops, options, sums.kind())?;
    chain.watch.expect(share.steps(chain, sums.kind()));
    let info = share.info(chain, ops, sums.kind(), sums.wanted())?;
    let pairs = chain.pairs();
    let mut norm = Scaled::ZERO;
    for first in (0..pairs).step_by(share.block) {
        let rights = rights(chain, ops, &slots, first, share.block.min(pairs - first), share.narrow)?;
        norm = norm.plus(sums.add(chain, ops, &slots, share, first, &rights)?);
    }
    Ok((norm, info))
}

/// The right environments at all bonds, for `count` boundary pairs from `first` on.
fn rights(
    chain: &Chain<'_>,
    ops: &dyn Operations,
    slots: &Slots,
    first: usize,
    count: usize,
    narrow: bool,
) -> Result<Vec<Held>> {
    let d = chain.len();
    let mut work = ops.work(1, narrow);
    let mut list = alloc::with_capacity(WHAT, d + 1)?;
    let boundary = ops.environment(chain.extent(d, slots, count).elements()?)?;
    let mut now = chain.boundary(ops, d, slots, first, count, boundary)?;
    for t in (0..d).rev() {
        let next = advance(chain, ops, &mut work, &now, t, &chain.gather(t, slots, true)?, true)?;
        list.push(std::mem::replace(&mut now, next));
    }
    list.push(now);
    list.reverse();
    Ok(list)
}

/// A step into new memory. All slots share one exponent.
fn advance(
    chain: &Chain<'_>,
    ops: &dyn Operations,
    work: &mut Work,
    from: &Held,
    t: usize,
    gather: &Gather,
    mirrored: bool,
) -> Result<Held> {
    let after = chain.between(t, gather, mirrored).after(from.extent)?;
    let to = ops.environment(after.elements()?)?;
    Ok(chain.step(ops, work, from, t, gather, mirrored, 0, to)?.0)
}

/// The product of `right` with slot `slot` of `left`.
fn joined(ops: &dyn Operations, left: &Held, right: &Held, slot: usize) -> Result<Scaled> {
    let sums = ops.join((&left.data, left.extent), (&right.data, right.extent))?;
    Ok(Scaled::new(sums[slot], left.exponent[1] + right.exponent[1]))
}

struct Local<'a> {
    op: &'a [Complex<f64>],
    wanted: &'a [bool],
    values: &'a mut [Scaled],
}

impl Sums for Local<'_> {
    fn add(
        &mut self,
        chain: &Chain<'_>,
        ops: &dyn Operations,
        slots: &Slots,
        share: Share,
        first: usize,
        rights: &[Held],
    ) -> Result<Scaled> {
        let d = chain.len();
        let pairs = rights[0].extent.pairs;
        let (mut work, mut other) = (ops.work(2, share.narrow), ops.work(2, share.narrow));
        let mut left = chain.boundary(ops, 0, slots, first, pairs, ops.environment(rights[0].extent.elements()?)?)?;
        for t in 0..d {
            let k = chain.site(t);
            let n = chain.modes(t)[1];
            let plain = chain.gather(t, slots, false)?;
            let mut go_on = || advance(chain, ops, &mut work, &left, t, &plain, false);
            let next = if self.wanted[k] {
                let local = Gather::local(n, self.op)?;
                let with_local = || advance(chain, ops, &mut other, &left, t, &local, false);
                let (next, with) = both(ops, &mut go_on, with_local)?;
                self.values[k] = self.values[k].plus(joined(ops, &with?, &rights[t + 1], 0)?);
                next?
            } else {
                go_on()?
            };
            left = next;
        }
        Ok(meet(ops, &left, &rights[d], 0)?[1])
    }

    fn kind(&self) -> Kind {
        Kind::Local(self.wanted.iter().filter(|w| **w).count())
    }

    fn wanted(&self) -> &[bool] {
        self.wanted
    }

    fn values(&mut self) -> &mut [Scaled] {
        self.values
    }

    fn by_exponents(&mut self, call: &ExactCall<'_>, x: &TensorTrain) -> Result<Scaled> {
        exact_values::local(call, x, self.op, self.wanted, self.values)
    }
}

struct Correlation<'a> {
    a: &'a [Complex<f64>],
    b: &'a [Complex<f64>],
    /// A B, which must be multiplied by 2^`exponent`.
    both: &'a [Complex<f64>],
    exponent: i64,
    values: &'a mut [Scaled],
}

impl Sums for Correlation<'_> {
    fn add(
        &mut self,
        chain: &Chain<'_>,
        ops: &dyn Operations,
        slots: &Slots,
        share: Share,
        first: usize,
        rights: &[Held],
    ) -> Result<Scaled> {
        let d = chain.len();
        let n = chain.modes(0)[1];
        let pairs = rights[0].extent.pairs;
        let same = self.a == self.b;
        // The left environments without an operator, from which the sweep of each range of sites k starts.
        let mut work = ops.work(1, share.narrow);
        let boundary = ops.environment(rights[0].extent.elements()?)?;
        let mut lefts = alloc::with_capacity(WHAT, d + 1)?;
        let mut now = chain.boundary(ops, 0, slots, first, pairs, boundary)?;
        let both = Gather::local(n, self.both)?;
        for t in 0..d {
            let next = advance(chain, ops, &mut work, &now, t, &chain.gather(t, slots, false)?, false)?;
            let with = advance(chain, ops, &mut work, &now, t, &both, false)?;
            let at = chain.site(t) * (d + 1);
            let value = joined(ops, &with, &rights[t + 1], 0)?.shifted(self.exponent);
            self.values[at] = self.values[at].plus(value);
            lefts.push(std::mem::replace(&mut now, next));
        }
        let norm = meet(ops, &now, &rights[d], 0)?[1];
        for swapped in [false, true].into_iter().take(if same { 1 } else { 2 }) {
            let (early, late) = if swapped { (self.b, self.a) } else { (self.a, self.b) };
            // The right environments with the second operator at their first site.
            let late = Gather::local(n, late)?;
            let mut ends = alloc::with_capacity(WHAT, d)?;
            for t in 0..d {
                ends.push(advance(chain, ops, &mut work, &rights[t + 1], t, &late, true)?);
            }
            for start in (0..d).step_by(share.width) {
                let stop = d.min(start + share.width);
                let mut held: Option<Held> = None;
                for (t, end) in ends.iter().enumerate().skip(start) {
                    let from = held.as_ref().unwrap_or(&lefts[start]);
                    // Slot 0 has no operator; slot q has the first operator at position start + q - 1.
                    let sums = ops.join((&from.data, from.extent), (&end.data, end.extent))?;
                    for (q, sum) in sums.into_iter().enumerate().skip(1) {
                        let value = Scaled::new(sum, from.exponent[1] + end.exponent[1]);
                        let (mut k, mut l) = (chain.site(start + q - 1), chain.site(t));
                        if swapped {
                            std::mem::swap(&mut k, &mut l);
                        }
                        self.values[k + d * l] = self.values[k + d * l].plus(value);
                        if same {
                            self.values[l + d * k] = self.values[l + d * k].plus(value);
                        }
                    }
                    if t + 1 < d {
                        let slots = from.extent.slots;
                        let gather =
                            if t < stop { Gather::inserted(n, slots, early)? } else { Gather::identity(n, slots)? };
                        held = Some(advance(chain, ops, &mut work, from, t, &gather, false)?);
                    }
                }
            }
        }
        Ok(norm)
    }

    fn kind(&self) -> Kind {
        Kind::Correlation(self.a == self.b)
    }

    fn wanted(&self) -> &[bool] {
        &[]
    }

    fn values(&mut self) -> &mut [Scaled] {
        self.values
    }

    fn by_exponents(&mut self, call: &ExactCall<'_>, x: &TensorTrain) -> Result<Scaled> {
        exact_values::correlation(call, x, (self.a, self.b), self.values)
    }
}

/// The product of two n-by-n matrices.
pub(super) fn times(n: usize, a: &[Complex<f64>], b: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let entry =
        |i: usize, j: usize| (0..n).map(|k| a[i + n * k] * b[k + n * j]).fold(Complex::new(0.0, 0.0), |s, x| s + x);
    (0..n * n).map(|at| entry(at % n, at / n)).collect()
}
