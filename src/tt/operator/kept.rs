//! Stored environments, with powers of two for the values of their bonds if their type needs them.
//!
//! A step examines its cores and its result. If the numbers of an environment's layers together spread over more than
//! the type's range, the step uses cores that are balanced for this step only, and the powers become part of the
//! environment: see [`super::gauge`]. The powers depend only on the data that the environment itself depends on.

use super::chain::{Chain, Held};
use super::device::{Environment, Ops, Work};
use super::gather::Gather;
use super::gauge::{self, BRA, Gauge, KET, PAIR, SLOT, Sizes, budget, spread};
use super::ops::{CoreView, Extent, OperatorOps, Site};
use super::value;
use crate::alloc;
use crate::backend::memory::Memory;
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::tt::scaled::{Scaled, exponent_of, scale};

const WHAT: &str = "environments of graded bonds";

/// An environment, and the powers by which its entries must be multiplied.
pub(super) struct Kept<T> {
    pub held: Held<Environment<T>>,
    gauge: Option<Gauge>,
    /// Exponent difference between the largest entry and the least that the values of all its bonds may have together.
    apart: i64,
}

impl<T> Kept<T> {
    /// An environment without such powers.
    pub(super) fn plain(held: Held<Environment<T>>) -> Self {
        Self { held, gauge: None, apart: 0 }
    }

    pub(super) fn extent(&self) -> Extent {
        self.held.extent
    }

    /// Whether entries have powers of their own.
    pub(super) fn is_graded(&self) -> bool {
        self.gauge.is_some()
    }
}

/// Arguments of a step, other than its first environment.
pub(super) struct Step<'a, 'c> {
    pub chain: &'a Chain<'c>,
    pub ops: &'a Ops,
    /// The site, and its operator without scaling.
    pub t: usize,
    pub gather: &'a Gather,
    pub mirrored: bool,
    /// Number of the operator's slots after the step.
    pub split: usize,
}

/// The largest number at every value of a core's bonds: first of the bond where a step starts, then of the other one.
fn sides(ops: &Ops, view: &CoreView<'_>, mirrored: bool) -> Result<[Vec<f64>; 2]> {
    let [rows, columns] = ops.core_sizes(view)?;
    Ok(if mirrored { [columns, rows] } else { [rows, columns] })
}

impl Step<'_, '_> {
    /// Runs the step into `to`.
    pub(super) fn run<T: Scalar>(&self, work: &mut Work<T>, from: &Kept<T>, to: Environment<T>) -> Result<Kept<T>> {
        let site = self.chain.between(self.t, self.gather, self.mirrored);
        let may_be_plain = from.gauge.is_none() && (!self.chain.scaled || self.is_within(from, &site)?);
        if !may_be_plain {
            return self.balanced(work, from, &site, to);
        }
        let limited = self.gather.limited(site.limit)?;
        let site = Site { gather: limited.as_ref().unwrap_or(self.gather), ..site };
        let (held, _) = self.chain.step_over(self.ops, work, &from.held, &site, self.split, to)?;
        if !self.chain.scaled {
            return Ok(Kept::plain(held));
        }
        let sizes = self.ops.sizes(&held.data, held.extent)?;
        // Numbers that are not finite stay so.
        let apart = if sizes.are_finite() { sizes.apart() } else { 0 };
        let kept = Kept { held, gauge: None, apart };
        if apart > budget(self.chain.dtype) / 2 { self.settled(kept) } else { Ok(kept) }
    }

    /// Whether the step loses no number that contributes to the result.
    fn is_within<T: Scalar>(&self, from: &Kept<T>, site: &Site<'_>) -> Result<bool> {
        let mut need = from.apart;
        // Cores whose exponents are beyond the limit are scaled to 1.
        let limit = site.limit.unwrap_or(0);
        let below = |sizes: &[f64]| {
            let exponent = exponent_of(sizes.iter().copied().fold(0.0, f64::max));
            if exponent < 0 && exponent >= -limit { -exponent } else { 0 }
        };
        let mut add = |near: Option<&[f64]>, far: &[f64]| {
            if !far.iter().all(|size| size.is_finite()) {
                return false;
            }
            need += spread(far) + below(far) + near.map_or(0, spread);
            true
        };
        // The boundary pairs of a ring are present from its first core to its last.
        let is_ring = from.extent().pairs > 1;
        let x = sides(self.ops, &site.ket, self.mirrored)?;
        let y = if site.bra.is_same(&site.ket) { None } else { Some(sides(self.ops, &site.bra, self.mirrored)?) };
        for [near, far] in [&x, y.as_ref().unwrap_or(&x)] {
            if !add(is_ring.then_some(near.as_slice()), far) {
                return Ok(true);
            }
        }
        if !add(None, &self.gather.sizes()?) || need > budget(self.chain.dtype) {
            return Ok(need <= budget(self.chain.dtype));
        }
        // Large numbers of a core that are multiplied by zeros of the environment say nothing about the numbers that
        // count.
        let nears = [(KET, &x[0]), (BRA, &y.as_ref().unwrap_or(&x)[0])];
        if nears.iter().any(|(_, near)| spread(near) > budget(self.chain.dtype) / 8) {
            let sizes = self.ops.sizes(&from.held.data, from.extent())?;
            let most = |sizes: &mut dyn Iterator<Item = f64>| exponent_of(sizes.fold(0.0, f64::max));
            for (layer, near) in nears {
                let used =
                    &mut near.iter().enumerate().filter(|(at, _)| sizes.is_used(layer, *at)).map(|(_, size)| *size);
                need += most(&mut near.iter().copied()) - most(used);
            }
        }
        Ok(need <= budget(self.chain.dtype))
    }

    /// The step over cores whose bonds are balanced for this step.
    fn balanced<T: Scalar>(
        &self,
        work: &mut Work<T>,
        from: &Kept<T>,
        site: &Site<'_>,
        to: Environment<T>,
    ) -> Result<Kept<T>> {
        let extent = from.extent();
        let sizes = self.ops.sizes(&from.held.data, extent)?;
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
        let (x, ket) = core(&site.ket, KET)?;
        let (y, bra) = core(&site.bra, BRA)?;
        let (gather, slots) = gauge::operator(self.gather, near.layer(SLOT), |at: usize| sizes.is_used(SLOT, at))?;
        let balanced = Site {
            bra: CoreView { memory: &y, offset: 0, ..site.bra },
            ket: CoreView { memory: &x, offset: 0, ..site.ket },
            gather: &gather,
            ..*site
        };
        let (held, _) = self.chain.step_over(self.ops, work, &from.held, &balanced, self.split, to)?;
        let mut gauge = Gauge::zeros(held.extent)?;
        *gauge.layer_mut(KET) = ket;
        *gauge.layer_mut(BRA) = bra;
        *gauge.layer_mut(SLOT) = slots;
        *gauge.layer_mut(PAIR) = alloc::copied(WHAT, near.layer(PAIR))?;
        self.settled(Kept { held, gauge: Some(gauge), apart: 0 })
    }

    /// At the end of a ring, the environment is 1 if bra and ket have the values of a pair. Moves powers from these
    /// values to the pairs, so that the cores behind get similar magnitudes.
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

    /// Balances the entries of an environment, or applies its powers to the entries if the type can hold them.
    fn settled<T: Scalar>(&self, kept: Kept<T>) -> Result<Kept<T>> {
        let Kept { mut held, gauge, .. } = kept;
        let extent = held.extent;
        let mut values = alloc::filled(WHAT, extent.elements()?, T::default())?;
        self.ops.read(&held.data, &mut values)?;
        let mut gauge = match gauge {
            Some(gauge) => gauge,
            None => Gauge::zeros(extent)?,
        };
        let sizes = gauge.balance(extent, &mut values)?;
        let group = usize::from(self.split == 0);
        held.exponent[group] += gauge.take_largest();
        if gauge.apart(&sizes) + sizes.apart() <= budget(self.chain.dtype) / 4 {
            held.exponent[group] += gauge.unfold(extent, &mut values);
            self.ops.write(&mut held.data, &values)?;
            let [rows, columns] =
                gauge::rows_and_columns(&values, extent.bra * extent.slots * extent.pairs, extent.ket)?;
            return Ok(Kept { held, gauge: None, apart: Sizes::new(extent, &rows, &columns)?.apart() });
        }
        self.ops.write(&mut held.data, &values)?;
        Ok(Kept { held, gauge: Some(gauge), apart: 0 })
    }
}

/// The entries on the host.
fn entries<T: Scalar>(ops: &Ops, kept: &Kept<T>) -> Result<Vec<T>> {
    let mut values = alloc::filled(WHAT, kept.extent().elements()?, T::default())?;
    ops.read(&kept.held.data, &mut values)?;
    Ok(values)
}

/// Reads an environment, and returns the exponent to add to its own.
pub(super) fn read<T: Scalar>(ops: &Ops, kept: &Kept<T>, out: &mut [T]) -> Result<i64> {
    ops.read(&kept.held.data, out)?;
    Ok(kept.gauge.as_ref().map_or(0, |gauge| gauge.unfold(kept.extent(), out)))
}

/// [`value::meet`] for stored environments.
pub(super) fn meet<T: Scalar>(ops: &Ops, left: &Kept<T>, right: &Kept<T>, split: usize) -> Result<[Scaled; 2]> {
    if !left.is_graded() && !right.is_graded() {
        return value::meet::<T, _>(ops, &left.held, &right.held, split);
    }
    let (l, r) = (left.extent(), right.extent());
    if l != r {
        return Err(Error::Internal(format!("environments of {l:?} and {r:?} meet")));
    }
    let (a, b) = (entries(ops, left)?, entries(ops, right)?);
    let none = Gauge::zeros(l)?;
    let of = |kept| -> &Gauge { Option::as_ref(kept).unwrap_or(&none) };
    let powers = of(&left.gauge).with(of(&right.gauge))?;
    let product = |at: usize| {
        let (x, y) = (a[at].widen(), b[at].widen());
        // The numbers are near 1, so products neither overflow nor vanish.
        let x = x * y;
        Complex::new(x.re(), x.im())
    };
    let largest = |x: Complex<f64>| x.re.abs().max(x.im.abs());
    let most = (0..a.len())
        .map(|at| (largest(product(at)), at))
        .filter(|(size, _)| *size > 0.0)
        .map(|(size, at)| exponent_of(size) + powers.element(l, at))
        .max()
        .unwrap_or(0);
    let mut sum = Complex::new(0.0, 0.0);
    for at in 0..a.len() {
        let (x, e) = (product(at), powers.element(l, at) - most);
        sum += Complex::new(scale(x.re, e), scale(x.im, e));
    }
    let group = usize::from(split == 0);
    let mut sums = [Scaled::ZERO; 2];
    sums[group] = Scaled::new(sum, left.held.exponent[group] + right.held.exponent[group] + most);
    Ok(sums)
}

/// [`OperatorOps::apply`] between stored environments. Returns the exponent of the power of two that the result must be
/// multiplied by.
pub(super) fn apply<T: Scalar>(
    ops: &Ops,
    work: &mut Work<T>,
    (left, right): (&Kept<T>, &Kept<T>),
    gathers: &[Gather],
    v: &[T],
    out: &mut [T],
) -> Result<i64> {
    let (l, r) = (left.extent(), right.extent());
    if !left.is_graded() && !right.is_graded() {
        ops.apply(work, (&left.held.data, l), gathers, (&right.held.data, r), v, out)?;
        return Ok(0);
    }
    let (none, other) = (Gauge::zeros(l)?, Gauge::zeros(r)?);
    let (from, to) = (left.gauge.as_ref().unwrap_or(&none), right.gauge.as_ref().unwrap_or(&other));
    let mut vector = alloc::copied(WHAT, v)?;
    let mut exponent = gauge::powered(&mut vector, from.layer(KET), to.layer(KET));
    // The operator takes the powers of the slots. The powers of pairs, and those of slots if there is no site, are
    // applied to a copy of the left environment.
    let mut made = alloc::with_capacity(WHAT, 2)?;
    match gathers {
        [] => {}
        [one] => {
            let (gather, taken) = gauge::between(one, from.layer(SLOT), to.layer(SLOT))?;
            exponent += taken;
            made.push(gather);
        }
        [first, second, ..] => {
            let (gather, middle) = gauge::operator(first, from.layer(SLOT), |_| true)?;
            made.push(gather);
            let (gather, taken) = gauge::between(second, &middle, to.layer(SLOT))?;
            exponent += taken;
            made.push(gather);
        }
    }
    let mut copy = None;
    if l.pairs > 1 || gathers.is_empty() {
        let mut values = entries(ops, left)?;
        let mut powers = Gauge::zeros(l)?;
        let layers: &[usize] = if gathers.is_empty() { &[SLOT, PAIR] } else { &[PAIR] };
        for &layer in layers {
            let both = from.layer(layer).iter().zip(to.layer(layer));
            powers.layer_mut(layer).iter_mut().zip(both).for_each(|(power, (a, b))| *power = a + b);
        }
        exponent += powers.unfold(l, &mut values);
        let mut data = OperatorOps::<T>::environment(ops, values.len())?;
        ops.write(&mut data, &values)?;
        copy = Some(data);
    }
    let data = copy.as_ref().unwrap_or(&left.held.data);
    ops.apply(work, (data, l), &made, (&right.held.data, r), &vector, out)?;
    exponent += gauge::powered(out, from.layer(BRA), to.layer(BRA));
    Ok(exponent)
}
