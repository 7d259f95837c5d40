//! Steps along the sites of <y|H|x>, from either end.

use std::sync::Arc;

use super::erased::{Environment, Operations, Work};
use super::gather::Gather;
use super::ops::{CoreView, Extent, Site};
use super::slots::Slots;
use super::trains::Trains;
use crate::alloc;
use crate::choice::word;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType};
use crate::tensor::train::Sparsity;
use crate::trains::options::{Conjugate, Method, Options, Scaling};
use crate::trains::scaled::{Scaled, exponent_of};
use crate::trains::watch::Watch;

/// The sites of a contraction, counted from the cut.
pub(super) struct Chain<'a> {
    pub trains: Trains<'a>,
    pub blocks: Option<Arc<Sparsity>>,
    /// Bond at which a ring is cut.
    pub cut: usize,
    /// Type of the arithmetic and of the environments.
    pub dtype: DType,
    /// Whether the bra is conjugated.
    pub conjugate: bool,
    /// Whether environments are scaled at every site.
    pub scaled: bool,
    /// Cancellation and progress of the call.
    pub watch: Watch,
}

/// An environment, its sizes and its exponents.
pub(super) struct Held {
    pub data: Environment,
    pub extent: Extent,
    /// Exponents of the powers of two by which the operator's slots, and the identity's slot, must be multiplied.
    pub exponent: [i64; 2],
}

/// Result of the sweep from one end.
pub(super) enum Half {
    Value(Held),
    /// The sweep ended early at an environment of zeros or of numbers that are not finite. The values, for the operator
    /// and for the identity, are 0 or NaN.
    Ended([f64; 2]),
}

/// The result of a sweep from one end, and environments that are no longer needed. A caller that runs both sweeps at
/// the same time frees them only after both have ended.
pub(super) type Finished = (Half, [Option<Environment>; 2]);

/// The bonds of a sweep from one end.
#[derive(Debug, Clone, Copy)]
pub(super) struct SweepRange {
    /// The bond where it starts, counted from the cut: 0 or d.
    pub from: usize,
    /// The bond where it ends.
    pub to: usize,
}

impl<'a> Chain<'a> {
    /// The sites of a contraction with these options.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for `repeat`; [`Error::InvalidArgument`] for a method of inner products alone.
    pub(super) fn of(options: &Options, trains: Trains<'a>, dtype: DType, cut: usize, watch: &Watch) -> Result<Self> {
        if options.repeat != 1 {
            let problem = format!("repeat: is {}; with an operator and in environments, 1 is needed", options.repeat);
            return Err(Error::NotSupported(problem));
        }
        if let Method::Halves | Method::Power = options.method {
            let name = word(options.method);
            return Err(Error::invalid("method", format!("is {name}, which contracts inner products alone")));
        }
        let blocks = trains.operator.map(|h| h.blocks("h")).transpose()?;
        let conjugate = options.conjugate == Conjugate::Bra;
        let scaled = options.scaling != Scaling::Never;
        Ok(Self { trains, blocks, cut, dtype, conjugate, scaled, watch: watch.clone() })
    }
}

impl<'a> Chain<'a> {
    pub fn len(&self) -> usize {
        self.trains.len()
    }

    /// Whether a train or the operator is a ring.
    pub fn is_ring(&self) -> bool {
        let Trains { bra, operator, ket } = self.trains;
        let h = operator.is_some_and(|h| h.train().shape().is_cyclic());
        h || bra.shape().is_cyclic() || ket.shape().is_cyclic()
    }

    /// The site at position t.
    pub fn site(&self, t: usize) -> usize {
        (self.cut + t) % self.len()
    }

    /// The bond at position t. On a ring that is cut, the last position is the bond of the first.
    pub fn bond(&self, t: usize) -> usize {
        if self.cut == 0 { t } else { (self.cut + t) % self.len() }
    }

    /// Number of boundary pairs at the cut.
    pub fn pairs(&self) -> usize {
        let (bra, ket) = (self.trains.bra.shape().ranks(), self.trains.ket.shape().ranks());
        bra[self.bond(0)].saturating_mul(ket[self.bond(0)])
    }

    /// Sizes of the environment at bond t.
    pub fn extent(&self, t: usize, slots: &Slots, pairs: usize) -> Extent {
        let bond = self.bond(t);
        let (bra, ket) = (self.trains.bra.shape().ranks()[bond], self.trains.ket.shape().ranks()[bond]);
        Extent { bra, slots: slots.count(t), pairs, ket }
    }

    /// Rows and columns of the operator at position t.
    pub fn modes(&self, t: usize) -> [usize; 2] {
        let k = self.site(t);
        [self.trains.bra.shape().modes()[k], self.trains.ket.shape().modes()[k]]
    }

    /// Exponent of a core's largest entry beyond which the core is scaled before it is used. A step with cores and an
    /// operator within this limit cannot overflow.
    pub fn limit(&self) -> Option<i64> {
        let limit = if self.dtype.is_single() { 24 } else { 200 };
        self.scaled.then_some(limit)
    }

    /// The terms of the operator at position t.
    pub fn gather(&self, t: usize, slots: &Slots, mirrored: bool) -> Result<Gather> {
        self.gather_within(t, slots, mirrored, self.limit())
    }

    /// [`Chain::gather`] with another limit for its exponent.
    pub fn gather_within(&self, t: usize, slots: &Slots, mirrored: bool, limit: Option<i64>) -> Result<Gather> {
        let k = self.site(t);
        match (self.trains.operator, &self.blocks) {
            (Some(h), Some(blocks)) => Gather::of_core(h, blocks, k, slots, t, mirrored, limit),
            _ => Gather::identity(self.modes(t)[1], slots.count(t)),
        }
    }

    /// The site at position t, with the operator's terms in `gather`.
    pub fn between<'g>(&self, t: usize, gather: &'g Gather, mirrored: bool) -> Site<'g>
    where
        'a: 'g,
    {
        let k = self.site(t);
        Site {
            bra: CoreView::new("y", self.trains.bra, k),
            ket: CoreView::new("x", self.trains.ket, k),
            gather,
            mirrored,
            conjugate: self.conjugate,
            limit: self.limit(),
        }
    }

    /// The environment at the cut, bond 0 or d, for `pairs` boundary pairs from `first` on.
    pub fn boundary(
        &self,
        ops: &dyn Operations,
        t: usize,
        slots: &Slots,
        first: usize,
        pairs: usize,
        mut data: Environment,
    ) -> Result<Held> {
        let extent = self.extent(t, slots, pairs);
        let mut starts = alloc::with_capacity("slots of an operator", extent.slots)?;
        starts.extend((0..extent.slots).map(|q| slots.starts(t, q)));
        ops.boundary(&mut data, extent, first, &starts)?;
        Ok(Held { data, extent, exponent: [0, 0] })
    }

    /// A step over position t into `to`. The first `split` slots after the step are the operator's, the others the
    /// identity's. Also returns the largest magnitude of each of the two groups before scaling, or 1 without scaling.
    #[allow(clippy::too_many_arguments, reason = "each is a part of one step")]
    pub fn step(
        &self,
        ops: &dyn Operations,
        work: &mut Work,
        from: &Held,
        t: usize,
        gather: &Gather,
        mirrored: bool,
        split: usize,
        to: Environment,
    ) -> Result<(Held, [f64; 2])> {
        self.step_over(ops, work, from, &self.between(t, gather, mirrored), split, to)
    }

    /// [`Chain::step`] with the cores of `site`, which may be balanced copies.
    pub fn step_over(
        &self,
        ops: &dyn Operations,
        work: &mut Work,
        from: &Held,
        site: &Site<'_>,
        split: usize,
        mut to: Environment,
    ) -> Result<(Held, [f64; 2])> {
        self.watch.step()?;
        let extent = site.after(from.extent)?;
        let taken = ops.step(work, site, &from.data, from.extent, &mut to)?;
        let mut exponent = from.exponent.map(|e| e + taken);
        // If there are no slots of an operator, the exponent belongs to the identity's group.
        exponent[usize::from(split == 0)] += site.gather.exponent;
        let mut peaks = [1.0, 1.0];
        if self.scaled {
            peaks = ops.peaks(&to, extent, split)?;
            let by = peaks.map(exponent_of);
            if by != [0, 0] {
                ops.shift(&mut to, extent, split, by.map(|e| -e))?;
            }
            exponent = [exponent[0] + by[0], exponent[1] + by[1]];
        }
        Ok((Held { data: to, extent, exponent }, peaks))
    }

    /// The sweep of `range`, for `pairs` boundary pairs from `first` on.
    pub fn half(
        &self,
        ops: &dyn Operations,
        work: &mut Work,
        slots: &Slots,
        range: SweepRange,
        (first, pairs): (usize, usize),
    ) -> Result<Finished> {
        let mirrored = range.from > range.to;
        let largest = self.largest(slots, range, pairs)?;
        let mut now = self.boundary(ops, range.from, slots, first, pairs, ops.environment(largest)?)?;
        let mut other = ops.environment(largest)?;
        for at in 0..range.from.abs_diff(range.to) {
            let (t, after) = if mirrored { (range.from - at - 1, range.from - at - 1) } else { (at, at + 1) };
            let gather = self.gather(t, slots, mirrored)?;
            let split = slots.operator(after).len();
            let (next, peaks) = self.step(ops, work, &now, t, &gather, mirrored, split, other)?;
            // A group without slots has the peak 0.
            if peaks.iter().all(|p| *p == 0.0 || !p.is_finite()) {
                let half = Half::Ended(peaks.map(|p| if p == 0.0 { 0.0 } else { f64::NAN }));
                return Ok((half, [Some(now.data), Some(next.data)]));
            }
            other = std::mem::replace(&mut now, next).data;
        }
        Ok((Half::Value(now), [Some(other), None]))
    }

    /// Elements of the largest environment of a sweep.
    pub fn largest(&self, slots: &Slots, range: SweepRange, pairs: usize) -> Result<usize> {
        let bonds = range.from.min(range.to)..=range.from.max(range.to);
        bonds.into_iter().try_fold(0, |most, t| Ok(self.extent(t, slots, pairs).elements()?.max(most)))
    }
}

/// The product of two environments at one bond, for each group: the sum over the first `split` slots, which are the
/// operator's, and the sum over the identity's slot.
pub(super) fn meet(ops: &dyn Operations, left: &Held, right: &Held, split: usize) -> Result<[Scaled; 2]> {
    let sums = ops.join((&left.data, left.extent), (&right.data, right.extent))?;
    let (first, second) = sums.split_at(split);
    let sum = |part: &[Complex<f64>]| part.iter().fold(Complex::new(0.0, 0.0), |s, x| s + x);
    Ok([(first, 0), (second, 1)].map(|(part, g)| Scaled::new(sum(part), left.exponent[g] + right.exponent[g])))
}
