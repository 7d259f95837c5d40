//! Stored environments with an exponent for each entry, for rings whose bonds exceed the balancing limit.
//!
//! A sum over a ring uses only those entries of an environment that close the ring. At every value of every bond, they
//! may be far below the other entries. Then powers of two for the values of the bonds do not bring them into the range.

use std::sync::Arc;

use super::chain::Chain;
use super::device::Ops;
use super::environments::expect_extent;
use super::gather::Gather;
use super::side::Side;
use super::slots::Slots;
use super::stored::step_wide;
use super::wide::Wide;
use crate::alloc;
use crate::backend::memory::Budget;
use crate::error::{Error, Result};
use crate::scalar::Scalar;

const WHAT: &str = "environments";

/// The left and the right environments that have been built, by their bonds.
pub(super) struct Exact<W> {
    left: Vec<Option<Wide<W>>>,
    right: Vec<Option<Wide<W>>>,
}

/// The input of steps, other than the environment.
pub(super) struct Sites<'a, 'c> {
    pub ops: &'a Ops,
    pub memory: &'a Arc<Budget>,
    pub chain: &'a Chain<'c>,
    pub slots: &'a Slots,
}

impl<W: Scalar> Exact<W> {
    pub(super) fn new(bonds: usize) -> Result<Self> {
        let empty = || -> Result<Vec<Option<Wide<W>>>> {
            let mut list = alloc::with_capacity(WHAT, bonds)?;
            list.resize_with(bonds, || None);
            Ok(list)
        };
        Ok(Self { left: empty()?, right: empty()? })
    }

    /// Builds the missing environments of `side` up to bond k. Left ones are valid up to bond `valid[0]`, right ones
    /// from bond `valid[1]` on; `valid` is updated.
    pub(super) fn extend(&mut self, sites: &Sites<'_, '_>, valid: &mut [usize; 2], side: Side, k: usize) -> Result<()> {
        let Sites { memory, chain, slots, .. } = *sites;
        let expected = |bond: usize| chain.extent(bond, slots, chain.pairs());
        let (list, end, valid) = match side {
            Side::Left => (&mut self.left, 0, &mut valid[0]),
            Side::Right => (&mut self.right, chain.len(), &mut valid[1]),
        };
        if *valid == end && list[end].as_ref().is_none_or(|found| found.extent != expected(end)) {
            let extent = expected(end);
            let mut starts = alloc::with_capacity(WHAT, extent.slots)?;
            starts.extend((0..extent.slots).map(|q| slots.starts(end, q)));
            list[end] = Some(Wide::boundary(memory, extent, &starts)?);
        }
        while if side == Side::Left { *valid < k } else { *valid > k } {
            let (t, next) = if side == Side::Left { (*valid, *valid + 1) } else { (*valid - 1, *valid - 1) };
            let mirrored = side == Side::Right;
            let gather = chain.gather_within(t, slots, mirrored, None)?;
            list[next] = None;
            let from = found(list, *valid)?;
            expect_extent(*valid, from.extent, expected(*valid))?;
            list[next] = Some(sites.step(&gather, t, mirrored, from)?);
            *valid = next;
        }
        expect_extent(k, found(list, k)?.extent, expected(k))
    }

    /// The environment of `side` at bond k. Returns an error if it has not been built.
    pub(super) fn find(&self, side: Side, k: usize) -> Result<&Wide<W>> {
        found(if side == Side::Left { &self.left } else { &self.right }, k)
    }
}

impl Sites<'_, '_> {
    /// A step over one site.
    pub(super) fn step<W: Scalar>(&self, gather: &Gather, t: usize, mirrored: bool, from: &Wide<W>) -> Result<Wide<W>> {
        step_wide(self.ops, self.memory, self.chain, (t, gather, mirrored), from)
    }
}

fn found<W>(list: &[Option<Wide<W>>], k: usize) -> Result<&Wide<W>> {
    list.get(k).and_then(Option::as_ref).ok_or_else(|| Error::Internal(format!("no environment at bond {k}")))
}
