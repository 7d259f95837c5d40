//! Stored environments, with a gauge if their entries span more than the range of their type.
//!
//! A step examines its cores and its result. If the entries of the environment and of the cores together may span more
//! than the type's range, the step uses balanced copies of the cores, and the powers of two become the gauge of the new
//! environment: see [`super::gauge`]. The gauge depends only on the data on which the environment itself depends.

use std::marker::PhantomData;
use std::sync::Arc;

use super::chain::{self, Chain, Held};
use super::device::{Ops, core_sizes_here};
use super::erased::{Environment, Typed, Work};
use super::gather::Gather;
use super::gauge::{self, BRA, Gauge, KET, PAIR, SLOT, Sizes, budget, spread};
use super::ops::{CoreView, Extent, OperatorOps, Site};
use super::wide::{self, Core, Wide};
use crate::alloc;
use crate::backend::cpu::flags;
use crate::backend::memory::{Budget, Memory};
use crate::error::Result;
use crate::scalar::{Scalar, with_scalar};
use crate::trains::scaled::{Scaled, exponent_of};

const WHAT: &str = "environments of graded bonds";

/// A loss that is larger than any real one.
const LOST: i64 = i64::MAX / 8;

/// An environment that is stored for later calls, with its gauge if it has one.
pub(super) struct Stored<T> {
    pub held: Held,
    element: PhantomData<fn() -> T>,
    gauge: Option<Gauge>,
    /// Bound of the exponent difference between the largest entry and the smallest ([`Sizes::apart`]).
    apart: i64,
    /// Whether all entries may be 0 at some value of a bond.
    has_unused: bool,
    /// For rings: the sum of the exponents by which the results of steps were smaller than the product of the largest
    /// entries of their cores. Entries that underflowed earlier gain as much relative to the others. Only rings need
    /// this: they use only the entries that close the ring, which are not the largest ones.
    loss: i64,
    /// Whether a step on the CPU lost digits by underflow. They may matter in the end.
    pub lost: bool,
}

impl<T> Stored<T> {
    /// An environment without a gauge.
    pub(super) fn plain(held: Held) -> Self {
        Self { held, element: PhantomData, gauge: None, apart: 0, has_unused: true, loss: 0, lost: false }
    }

    pub(super) fn extent(&self) -> Extent {
        self.held.extent
    }

    /// Whether the environment has a gauge.
    pub(super) fn is_graded(&self) -> bool {
        self.gauge.is_some()
    }
}

/// Arguments of a step, other than the environment that it starts from.
pub(super) struct Step<'a, 'c> {
    pub chain: &'a Chain<'c>,
    pub ops: &'a Ops,
    /// Position of the site; its operator, not scaled.
    pub t: usize,
    pub gather: &'a Gather,
    pub mirrored: bool,
    /// Number of the operator's slots after the step.
    pub split: usize,
}

/// The largest magnitude at each value of a core's bonds: of the bond where a step starts, then of the other bond.
fn sides(ops: &Ops, view: &CoreView<'_>, mirrored: bool) -> Result<[Vec<f64>; 2]> {
    let [rows, columns] = ops.core_sizes(view)?;
    Ok(if mirrored { [columns, rows] } else { [rows, columns] })
}

impl Step<'_, '_> {
    /// Runs the step, which writes to the memory `to`.
    pub(super) fn run<T: Scalar>(&self, work: &mut Work, from: &Stored<T>, to: Environment) -> Result<Stored<T>> {
        let ops = Typed::<T, _>::new(self.ops);
        let site = self.chain.between(self.t, self.gather, self.mirrored);
        let may_be_plain = from.gauge.is_none() && (!self.chain.scaled || self.is_within(from, &site)?);
        if !may_be_plain {
            return self.balanced(work, from, &site, to);
        }
        let (limited, copy_lost) = flags::watch(|| self.gather.limited(site.limit));
        let limited = limited?;
        let site = Site { gather: limited.as_ref().unwrap_or(self.gather), ..site };
        let (stepped, lost) = flags::watch(|| self.chain.step_over(&ops, work, &from.held, &site, self.split, to));
        let ((held, peaks), lost) = (stepped?, lost || copy_lost || from.lost);
        if !self.chain.scaled {
            return Ok(Stored::plain(held));
        }
        let sizes = self.ops.sizes::<T>(held.data.of()?, held.extent)?;
        // No powers of two help entries that are not finite.
        let apart = if sizes.are_finite() { sizes.apart() } else { 0 };
        let loss = if self.chain.is_ring() { from.loss.saturating_add(self.loss(&site, peaks)?) } else { 0 };
        let stored =
            Stored { held, element: PhantomData, gauge: None, apart, has_unused: sizes.has_unused(), loss, lost };
        if apart > budget(self.chain.dtype) / 2 { self.balanced_or_applied(stored) } else { Ok(stored) }
    }

    /// Exponent by which the result of a step is below the product of the largest entries of its cores, if that is
    /// much; otherwise 0.
    fn loss(&self, site: &Site<'_>, peaks: [f64; 2]) -> Result<i64> {
        let limit = site.limit.unwrap_or(0);
        let exponent = |sizes: &[f64]| {
            let exponent = exponent_of(sizes.iter().copied().fold(0.0, f64::max));
            if exponent.abs() > limit { 0 } else { exponent }
        };
        let most = peaks.into_iter().fold(0.0, f64::max);
        if most == 0.0 {
            return Ok(LOST);
        }
        let [x, _] = sides(self.ops, &site.ket, self.mirrored)?;
        let [y, _] = sides(self.ops, &site.bra, self.mirrored)?;
        let loss = exponent(&x) + exponent(&y) + exponent(&site.gather.sizes()?) - exponent_of(most);
        Ok(if loss > budget(self.chain.dtype) / 5 { loss } else { 0 })
    }

    /// Whether the step without balancing loses no digits of the result.
    fn is_within<T: Scalar>(&self, from: &Stored<T>, site: &Site<'_>) -> Result<bool> {
        let mut need = from.apart;
        // A core whose exponent is beyond the limit is scaled to 1 first.
        let limit = site.limit.unwrap_or(0);
        let below = |sizes: &[f64]| {
            let exponent = exponent_of(sizes.iter().copied().fold(0.0, f64::max));
            if exponent < 0 && exponent >= -limit { -exponent } else { 0 }
        };
        let added = |near: Option<&[f64]>, far: &[f64]| spread(far) + below(far) + near.map_or(0, spread);
        // The boundary pairs of a ring connect its first core to its last, so the near bond counts, too.
        let is_ring = from.extent().pairs > 1;
        let x = sides(self.ops, &site.ket, self.mirrored)?;
        let y = if site.bra.is_same(&site.ket) { None } else { Some(sides(self.ops, &site.bra, self.mirrored)?) };
        let y = y.as_ref().unwrap_or(&x);
        if ![&x, y].iter().all(|[_, far]| far.iter().all(|size| size.is_finite())) {
            return Ok(true);
        }
        // Large entries of a core that are multiplied by zeros of the environment must not count: relative to them, the
        // entries that contribute may be small enough to underflow.
        let used = if from.has_unused { Some(self.ops.sizes::<T>(from.held.data.of()?, from.extent())?) } else { None };
        let most = |sizes: &[f64]| exponent_of(sizes.iter().copied().fold(0.0, f64::max));
        for ([near, far], view, layer) in [(&x, &site.ket, KET), (y, &site.bra, BRA)] {
            let is_used = |at: usize| used.as_ref().is_none_or(|used| used.is_used(layer, at));
            if near.iter().enumerate().all(|(at, size)| *size == 0.0 || is_used(at)) {
                need += added(is_ring.then_some(near.as_slice()), far);
                continue;
            }
            let [near_used, far_used] = self.used_sides(view, &is_used)?;
            need += added(is_ring.then_some(near_used.as_slice()), &far_used);
            need += (most(near) - most(&near_used)).max(0);
        }
        let is_used = |at: usize| used.as_ref().is_none_or(|used| used.is_used(SLOT, at));
        let (all, slots) = (self.gather.sizes()?, self.gather.sizes_from(is_used)?);
        if !all.iter().all(|size| size.is_finite()) {
            return Ok(need <= budget(self.chain.dtype));
        }
        need += added(None, &slots);
        need += (most(&all) - most(&slots)).max(0);
        Ok(need <= budget(self.chain.dtype))
    }

    /// [`sides`] of those entries of a core that are not multiplied by zeros of the environment.
    fn used_sides(&self, view: &CoreView<'_>, is_used: &dyn Fn(usize) -> bool) -> Result<[Vec<f64>; 2]> {
        let [r, n, _] = view.dims;
        with_scalar!(view.dtype, view.argument, S => {
            let mut values = self.ops.read_core::<S>(view)?;
            for (at, x) in values.iter_mut().enumerate() {
                let (left, right) = (at % r, at / (r * n));
                if !is_used(if self.mirrored { right } else { left }) {
                    *x = S::default();
                }
            }
            let [rows, columns] = core_sizes_here(&values, view.dims)?;
            Ok(if self.mirrored { [columns, rows] } else { [rows, columns] })
        })
    }

    /// The step with copies of the cores that are balanced for this step only.
    fn balanced<T: Scalar>(
        &self,
        work: &mut Work,
        from: &Stored<T>,
        site: &Site<'_>,
        to: Environment,
    ) -> Result<Stored<T>> {
        let extent = from.extent();
        let sizes = self.ops.sizes::<T>(from.held.data.of()?, extent)?;
        let mut near = match &from.gauge {
            Some(gauge) => gauge.copied()?,
            None => Gauge::zeros(extent)?,
        };
        let is_first = if self.mirrored { self.t + 1 == self.chain.len() } else { self.t == 0 };
        if is_first && extent.pairs > 1 {
            self.begin(&mut near, site)?;
        }
        let core = |view: &CoreView<'_>, layer: usize| -> Result<(Memory, Vec<i64>)> {
            with_scalar!(view.dtype, view.argument, S => {
                let mut values = self.ops.read_core::<S>(view)?;
                let used = |at: usize| sizes.is_used(layer, at);
                let far = gauge::core(&mut values, view.dims, self.mirrored, near.layer(layer), used)?;
                Ok((self.ops.bring::<S>(&values)?, far))
            })
        };
        // Balancing may lose digits, too.
        let (taken, copy_lost) = flags::watch(|| -> Result<_> {
            let operator = gauge::operator(self.gather, near.layer(SLOT), |at: usize| sizes.is_used(SLOT, at))?;
            Ok((core(&site.ket, KET)?, core(&site.bra, BRA)?, operator))
        });
        let ((x, ket), (y, bra), (gather, slots)) = taken?;
        let balanced = Site {
            bra: CoreView { memory: &y, offset: 0, ..site.bra },
            ket: CoreView { memory: &x, offset: 0, ..site.ket },
            gather: &gather,
            ..*site
        };
        let (stepped, lost) = flags::watch(|| {
            self.chain.step_over(&Typed::<T, _>::new(self.ops), work, &from.held, &balanced, self.split, to)
        });
        let ((held, _), lost) = (stepped?, lost || copy_lost || from.lost);
        let mut gauge = Gauge::zeros(held.extent)?;
        *gauge.layer_mut(KET) = ket;
        *gauge.layer_mut(BRA) = bra;
        *gauge.layer_mut(SLOT) = slots;
        *gauge.layer_mut(PAIR) = alloc::copied(WHAT, near.layer(PAIR))?;
        let gauge = Some(gauge);
        self.balanced_or_applied(Stored {
            held,
            element: PhantomData,
            gauge,
            apart: 0,
            has_unused: true,
            loss: LOST,
            lost,
        })
    }

    /// Prepares the first step of a ring. Its environment is 1 where bra and ket have the values of a boundary pair.
    /// Moves powers of two from these values to the pairs, so that the next cores get similar magnitudes.
    fn begin(&self, near: &mut Gauge, site: &Site<'_>) -> Result<()> {
        let mut powers = [Vec::new(), Vec::new()];
        for ((powers, view), layer) in powers.iter_mut().zip([&site.bra, &site.ket]).zip([BRA, KET]) {
            let [sizes, _] = sides(self.ops, view, self.mirrored)?;
            for (power, size) in near.layer_mut(layer).iter_mut().zip(&sizes) {
                *power = -exponent_of(*size);
            }
            *powers = alloc::copied(WHAT, near.layer(layer))?;
        }
        let count = powers[0].len();
        for (p, power) in near.layer_mut(PAIR).iter_mut().enumerate() {
            *power = -powers[0][p % count] - powers[1][p / count];
        }
        Ok(())
    }

    /// Balances the entries of an environment, or multiplies them by the gauge if the type can hold the products.
    fn balanced_or_applied<T: Scalar>(&self, stored: Stored<T>) -> Result<Stored<T>> {
        let Stored { mut held, gauge, loss, lost, .. } = stored;
        let extent = held.extent;
        let mut values = alloc::filled(WHAT, extent.elements()?, T::default())?;
        self.ops.read(held.data.of()?, &mut values)?;
        let mut gauge = match gauge {
            Some(gauge) => gauge,
            None => Gauge::zeros(extent)?,
        };
        let (sizes, copy_lost) = flags::watch(|| gauge.balance(extent, &mut values));
        let (sizes, mut lost) = (sizes?, lost || copy_lost);
        let group = usize::from(self.split == 0);
        held.exponent[group] += gauge.take_largest();
        if gauge.apart(&sizes) + sizes.apart() <= budget(self.chain.dtype) / 4 {
            let (exponent, copy_lost) = flags::watch(|| gauge.unfold(extent, &mut values));
            held.exponent[group] += exponent;
            lost |= copy_lost;
            self.ops.write(held.data.of_mut()?, &values)?;
            let [rows, columns] =
                gauge::rows_and_columns(&values, extent.bra * extent.slots * extent.pairs, extent.ket)?;
            let sizes = Sizes::new(extent, &rows, &columns)?;
            let (apart, has_unused) = (sizes.apart(), sizes.has_unused());
            return Ok(Stored { held, element: PhantomData, gauge: None, apart, has_unused, loss, lost });
        }
        self.ops.write(held.data.of_mut()?, &values)?;
        let gauge = Some(gauge);
        Ok(Stored { held, element: PhantomData, gauge, apart: 0, has_unused: true, loss: LOST, lost })
    }
}

/// Copies the entries to the host, without the gauge.
fn entries<T: Scalar>(ops: &Ops, stored: &Stored<T>) -> Result<Vec<T>> {
    let mut values = alloc::filled(WHAT, stored.extent().elements()?, T::default())?;
    ops.read(stored.held.data.of()?, &mut values)?;
    Ok(values)
}

/// Copies the entries, multiplied by the gauge, to `out`. Returns the exponent to add to that of the environment.
pub(super) fn read<T: Scalar>(ops: &Ops, stored: &Stored<T>, out: &mut [T]) -> Result<i64> {
    ops.read(stored.held.data.of()?, out)?;
    Ok(stored.gauge.as_ref().map_or(0, |gauge| gauge.unfold(stored.extent(), out)))
}

/// The entries with the gauge as their exponents, without the exponent of the environment.
fn widened<T: Scalar>(ops: &Ops, budget: &Arc<Budget>, stored: &Stored<T>) -> Result<Wide<T::Wide>> {
    let (values, extent) = (entries(ops, stored)?, stored.extent());
    Wide::of(budget, extent, &values, |at| stored.gauge.as_ref().map_or(0, |gauge| gauge.element(extent, at)))
}

/// [`chain::meet`] for stored environments. Returns `None` if an exponent for each entry is needed: if a step has lost
/// digits by underflow, or may have done so in a ring.
pub(super) fn meet<T: Scalar>(
    ops: &Ops,
    (chain, memory): (&Chain<'_>, &Arc<Budget>),
    left: &Stored<T>,
    right: &Stored<T>,
    split: usize,
) -> Result<Option<[Scaled; 2]>> {
    if chain.scaled && (left.lost || right.lost) {
        return Ok(None);
    }
    let group = usize::from(split == 0);
    let exponent = left.held.exponent[group] + right.held.exponent[group];
    let mut sums = [Scaled::ZERO; 2];
    if !left.is_graded() && !right.is_graded() {
        let (met, lost) = flags::watch(|| chain::meet(&Typed::<T, _>::new(ops), &left.held, &right.held, split));
        sums = met?;
        let near = sums[group].exponent.saturating_sub(exponent);
        // Products that underflowed do not affect a sum near 1.
        let is_right = !lost && !sums[group].is_zero() && is_near(near, chain, left, right);
        if !chain.scaled || !sums[group].is_finite() || is_right {
            return Ok(Some(sums));
        }
    }
    if chain.is_ring() {
        return Ok(None);
    }
    let sum = widened(ops, memory, left)?.meet(&widened(ops, memory, right)?)?;
    sums[group] = Scaled::new(sum.mantissa, if sum.is_zero() { 0 } else { sum.exponent.saturating_add(exponent) });
    Ok(Some(sums))
}

/// Whether a result with this exponent is far above the losses of its environments.
fn is_near<T>(exponent: i64, chain: &Chain<'_>, left: &Stored<T>, right: &Stored<T>) -> bool {
    exponent.saturating_sub(left.loss.saturating_add(right.loss)) >= -budget(chain.dtype) / 2
}

/// The largest |re| or |im|; NaN if a number is NaN.
fn largest<T: Scalar>(values: &[T]) -> f64 {
    values
        .iter()
        .map(|x| gauge::size(*x))
        .fold(0.0, |most, size| if size > most || size.is_nan() { size } else { most })
}

/// [`OperatorOps::apply`] between stored environments, with an operator that has not been scaled. Returns the exponent
/// of the power of two that the result must be multiplied by, without those of the environments. Returns `None` in the
/// same cases as [`meet`].
pub(super) fn apply<T: Scalar>(
    ops: &Ops,
    work: &mut Work,
    (chain, memory): (&Chain<'_>, &Arc<Budget>),
    (left, right): (&Stored<T>, &Stored<T>),
    gathers: &[Gather],
    v: &[T],
    out: &mut [T],
) -> Result<Option<i64>> {
    if chain.scaled && (left.lost || right.lost) {
        return Ok(None);
    }
    let (l, r) = (left.extent(), right.extent());
    let (size, limit) = (largest(v), chain.limit());
    if !left.is_graded() && !right.is_graded() {
        // Bound of the exponent difference between the products of entries at the bonds of both environments.
        let mut apart = left.apart + right.apart;
        for gather in gathers {
            apart += spread(&gather.sizes()?);
        }
        if limit.is_none() || !size.is_finite() || apart <= budget(chain.dtype) {
            let (scaled, copy_lost) = flags::watch(|| limited(gathers, limit));
            let (list, mut exponent) = scaled?;
            let by = exponent_of(size);
            let scaled = if limit.is_some_and(|limit| by.abs() > limit) {
                let mut copy = alloc::copied(WHAT, v)?;
                copy.iter_mut().for_each(|x| *x = gauge::shifted(*x, -by));
                exponent += by;
                Some(copy)
            } else {
                None
            };
            let v = scaled.as_deref().unwrap_or(v);
            let list = if list.is_empty() { gathers } else { &list };
            let (from, to) = ((left.held.data.of()?, l), (right.held.data.of()?, r));
            let work = work.of_mut()?;
            let (done, lost) = flags::watch(|| ops.apply(work, from, list, to, v, out));
            done?;
            let most = largest(out);
            // Products that underflowed do not affect a result near 1.
            let is_right =
                !lost && !copy_lost && most.is_finite() && most > 0.0 && is_near(exponent_of(most), chain, left, right);
            if limit.is_none() || !size.is_finite() || size == 0.0 || is_right || gathers.iter().any(Gather::is_empty) {
                return Ok(Some(exponent));
            }
            let are_finite = || Ok(widened(ops, memory, left)?.is_finite() && widened(ops, memory, right)?.is_finite());
            if !(most.is_finite() || are_finite()?) {
                return Ok(Some(exponent));
            }
        }
    }
    if chain.is_ring() {
        return Ok(None);
    }
    let (left, right) = (widened(ops, memory, left)?, widened(ops, memory, right)?);
    Ok(Some(wide::fold(&left.apply(&right, gathers, &wide::widened(v)?)?, out)))
}

/// Copies of the operator's terms with their exponents within `limit`, and the sum of the exponents that were taken
/// out; an empty list if none needs it.
pub(super) fn limited(gathers: &[Gather], limit: Option<i64>) -> Result<(Vec<Gather>, i64)> {
    let mut list = alloc::with_capacity(WHAT, gathers.len())?;
    let mut is_any = false;
    for gather in gathers {
        let made = gather.limited(limit)?;
        is_any |= made.is_some();
        list.push(match made {
            Some(made) => made,
            None => gather.shifted(|_, _| Some(0))?,
        });
    }
    if !is_any {
        list.clear();
    }
    let exponent = list.iter().map(|gather| gather.exponent).sum();
    Ok((list, exponent))
}

/// A step with an exponent for each entry.
pub(super) fn step_wide<W: Scalar>(
    ops: &Ops,
    memory: &Arc<Budget>,
    chain: &Chain<'_>,
    (t, gather, mirrored): (usize, &Gather, bool),
    from: &Wide<W>,
) -> Result<Wide<W>> {
    chain.watch.step()?;
    let site = chain.between(t, gather, mirrored);
    let core = |view: &CoreView<'_>| -> Result<Core<W>> {
        with_scalar!(view.dtype, view.argument, S => {
            let numbers = wide::widened(&ops.read_core::<S>(view)?)?;
            Ok(Core { numbers, dims: view.dims, mirrored })
        })
    };
    from.step(memory, [&core(&site.bra)?, &core(&site.ket)?], site.conjugate, gather)
}
