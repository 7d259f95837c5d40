//! Builds the environments that are missing, from bond to bond.

use super::checks::{expect_bond, expect_extent, wrong_type};
use super::state::Environments;
use super::store::{Store, find};
use crate::error::{Error, Result};
use crate::operator::chain::Chain;
use crate::operator::device::Ops;
use crate::operator::erased::{Operations as _, Typed};
use crate::operator::exact::{Exact, Sites};
use crate::operator::side::Side;
use crate::operator::stored::{Step, Stored};
use crate::operator::trains::{Trains, are_finite};
use crate::scalar::{Scalar, with_scalar};
use crate::stream::Stream;
use crate::trains::balance;

impl Environments {
    /// Builds the missing environments of `side` up to bond k, 0 to d, in the order of `stream` or of the context's own
    /// stream. As every call of these environments, its work is ordered after that of earlier calls, on any stream.
    ///
    /// # Errors
    /// As [`Trains::check`]; [`Error::NotSupported`] for a stream that is being captured; [`Error::InvalidArgument`]
    /// for a bond that does not exist, for other trains than the object was made for, and for ranks that changed
    /// without an announcement; [`Error::NotSupported`] for an operator on a device; out of memory.
    pub fn build(&mut self, stream: Option<&Stream>, trains: &Trains<'_>, side: Side, k: usize) -> Result<()> {
        let ops = self.ops(stream)?;
        ops.in_order(|| {
            let chain = self.chain(trains)?;
            self.build_with(&ops, stream, &chain, side, k)
        })
    }

    pub(super) fn build_with(
        &mut self,
        ops: &Ops,
        stream: Option<&Stream>,
        chain: &Chain<'_>,
        side: Side,
        k: usize,
    ) -> Result<()> {
        let trains = &chain.trains;
        expect_bond(k, 0, trains.len())?;
        with_scalar!(self.dtype, "x", T => {
            if !self.is_far(stream, chain)? {
                self.extend::<T>(ops, chain, side, k)?;
                if !chain.scaled || !find::<T>(&*self.store, side, k)?.lost || !are_finite(trains)? {
                    return Ok(());
                }
                self.is_far = Some(true);
            }
            self.extend_exact::<T>(ops, chain, side, k)
        })
    }

    /// Whether environments need an exponent for each entry: in those of [`Environments::exact`], and for rings whose
    /// bonds exceed the balancing limit.
    pub(super) fn is_far(&mut self, stream: Option<&Stream>, chain: &Chain<'_>) -> Result<bool> {
        let Trains { bra, operator, ket } = chain.trains;
        if let Some(found) = self.is_far {
            return Ok(found);
        }
        if !chain.is_ring() || !chain.scaled {
            return Ok(false);
        }
        let list = [ket, bra];
        let trains = if ket.is_same(bra) { &list[..1] } else { &list };
        let found = balance::is_any_far(&self.context, stream, trains, operator)?;
        self.is_far = Some(found);
        Ok(found)
    }

    pub(super) fn extend_exact<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, side: Side, k: usize) -> Result<()> {
        let Some(store) = self.store.downcast_mut::<Store<T>>() else { return Err(wrong_type::<T>("v", self.dtype)) };
        if store.exact.is_none() {
            store.exact = Some(Exact::new(chain.len() + 1)?);
        }
        let Some(exact) = &mut store.exact else { return Ok(()) };
        let sites = Sites { ops, memory: self.context.host_budget(), chain, slots: &self.slots };
        let valid = &mut self.valid_exact;
        self.context.pool().run(|| exact.extend(&sites, valid, side, k))
    }

    pub(super) fn extend<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, side: Side, k: usize) -> Result<()> {
        let typed = Typed::<T, _>::new(ops);
        let d = chain.len();
        let pairs = chain.pairs();
        let Some(store) = self.store.downcast_mut::<Store<T>>() else { return Err(wrong_type::<T>("v", self.dtype)) };
        let work = &mut store.work;
        let (list, end, valid) = match side {
            Side::Left => (&mut store.left, 0, &mut self.valid[0]),
            Side::Right => (&mut store.right, d, &mut self.valid[1]),
        };
        let slots = &self.slots;
        let expected = |bond: usize| chain.extent(bond, slots, pairs);
        if *valid == end && list[end].as_ref().is_none_or(|h| h.extent() != expected(end)) {
            let data = typed.environment(expected(end).elements()?)?;
            list[end] = Some(Stored::plain(chain.boundary(&typed, end, slots, 0, pairs, data)?));
        }
        while if side == Side::Left { *valid < k } else { *valid > k } {
            let (t, next) = if side == Side::Left { (*valid, *valid + 1) } else { (*valid - 1, *valid - 1) };
            let mirrored = side == Side::Right;
            let gather = chain.gather_within(t, slots, mirrored, None)?;
            // Reuse the memory of an outdated environment of the same size.
            let old = list[next].take().filter(|h| h.extent() == expected(next)).map(|h| h.held.data);
            let Some(from) = &list[*valid] else {
                return Err(Error::Internal(format!("no environment at bond {}", *valid)));
            };
            expect_extent(*valid, from.extent(), expected(*valid))?;
            let split = slots.operator(next).len();
            let stepped = self.context.pool().run(|| {
                let to = match old {
                    Some(to) => to,
                    None => typed.environment(expected(next).elements()?)?,
                };
                Step { chain, ops, t, gather: &gather, mirrored, split }.run(work, from, to)
            })?;
            list[next] = Some(stepped);
            *valid = next;
        }
        match &list[k] {
            Some(found) => expect_extent(k, found.extent(), expected(k)),
            None => Err(Error::Internal(format!("no environment at bond {k}"))),
        }
    }
}
