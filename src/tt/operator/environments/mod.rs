//! Environments stored for sweeps (DMRG, ALS, TDVP): after a core has changed, one step suffices instead of a
//! contraction.

mod apply;
mod checks;

use std::any::Any;
use std::sync::Arc;

use super::chain::Chain;
use super::device::{Ops, on_device};
use super::erased::{Operations as _, Typed, Work};
use super::exact::{Exact, Sites};
use super::gather::Gather;
use super::layers::{Layer, layers};
use super::side::Side;
use super::slots::Slots;
use super::stored::{self, Step, Stored};
use super::trains::{Trains, are_finite, complex_of};
use super::unread;
use super::wide;
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::progress::CancelFlag;
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::session::CancelHandle;
use crate::stream::{self, Stream};
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::tt::options::Options;
use crate::tt::scaled::Scaled;
use crate::tt::watch::Watch;
use crate::tt::{balance, finite};
use checks::{expect_bond, expect_length, expect_type, wrong_type};
pub(super) use checks::{expect_extent, expect_operator, is_real};

/// The environments that have been built, by their bonds, and the workspace of steps.
struct Store<T: Scalar> {
    left: Vec<Option<Stored<T>>>,
    right: Vec<Option<Stored<T>>>,
    /// For rings whose bonds exceed the balancing limit, the environments with an exponent for each entry. `None` until
    /// they are needed.
    exact: Option<Exact<T::Wide>>,
    work: Work,
}

/// The environments of <y|H|x>, or of <y|x>, at all bonds 0 to d. An environment is built when it is needed, and held
/// until [`Environments::update_core`] reports a change of a core that it depends on. There are at most d + 1 for each
/// side, with at most 2 sum of r_k w_k s_k elements together. They are charged to the context's memory, not to a
/// workspace limit.
///
/// The trains are arguments of every call. They must be the same in each, except for cores whose change was reported to
/// [`Environments::update_core`], or to [`Environments::set_trains`] if ranks change, too.
pub struct Environments {
    context: Arc<Context>,
    options: Options,
    cancel: CancelHandle,
    /// Cancels every call once it is set.
    stop: Option<CancelFlag>,
    dtype: DType,
    slots: Slots,
    ranks: Option<Vec<usize>>,
    /// Ranks of bra and ket for which the stored environments were built.
    bonds: [Vec<usize>; 2],
    store: Box<dyn Any + Send + Sync>,
    /// Whether the environments are on the context's GPU.
    on_device: bool,
    /// Left environments are valid at bonds 0 to `valid[0]`, right ones at bonds `valid[1]` to d.
    valid: [usize; 2],
    /// As `valid`, for [`Store::exact`].
    valid_exact: [usize; 2],
    /// Whether environments need an exponent for each entry: for rings whose bonds exceed the balancing limit, and
    /// after a step has lost digits by underflow. `None` until the trains have been examined.
    is_far: Option<bool>,
}

impl Environments {
    /// Creates the object with the environments of the two ends only. Of the options it uses `scaling` and `conjugate`.
    ///
    /// # Errors
    /// As [`Trains::check`]; out of memory.
    pub fn new(context: &Arc<Context>, options: &Options, trains: &Trains<'_>) -> Result<Self> {
        let dtype = trains.check(context)?;
        let d = trains.len();
        let ranks = trains.operator.map(|h| alloc::copied("environments", h.train().shape().ranks())).transpose()?;
        let slots = match &ranks {
            None => Slots::identity(d)?,
            Some(ranks) => Slots::all(ranks)?,
        };
        let ops = Ops::of(context, None, trains)?;
        let store = with_scalar!(dtype, "x", T => {
            let empty = || -> Result<Vec<Option<Stored<T>>>> {
                let mut list = alloc::with_capacity("environments", d + 1)?;
                list.resize_with(d + 1, || None);
                Ok(list)
            };
            let work = Typed::<T, _>::new(&ops).work(1, false);
            let store: Box<dyn Any + Send + Sync> = Box::new(Store { left: empty()?, right: empty()?, exact: None, work });
            Ok(store)
        })?;
        let (context, options, cancel) = (Arc::clone(context), options.clone(), CancelHandle::default());
        let (bonds, on_device) = (bonds_of(trains)?, on_device(trains));
        let (valid, valid_exact, is_far) = ([0, d], [0, d], None);
        let stop = None;
        Ok(Self {
            context,
            options,
            cancel,
            stop,
            dtype,
            slots,
            ranks,
            bonds,
            store,
            on_device,
            valid,
            valid_exact,
            is_far,
        })
    }

    /// As [`Environments::new`], but all environments have an exponent for each entry.
    ///
    /// # Errors
    /// As [`Environments::new`].
    pub(in crate::tt) fn exact(context: &Arc<Context>, options: &Options, trains: &Trains<'_>) -> Result<Self> {
        let mut made = Self::new(context, options, trains)?;
        made.is_far = Some(true);
        Ok(made)
    }

    /// The same environments, with a handle that cancels their calls.
    #[must_use]
    pub fn cancelled_by(mut self, handle: CancelHandle) -> Self {
        self.cancel = handle;
        self
    }

    /// The same environments, for use within a call that `flag` cancels.
    pub(in crate::tt) fn stopped_by(self, flag: CancelFlag) -> Self {
        Self { stop: Some(flag), ..self }
    }

    /// Element type of environments and vectors: complex if a train or the operator is.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of sites d; bonds are numbered 0 to d.
    pub fn sites(&self) -> usize {
        self.slots.bonds() - 1
    }

    /// The last bond with a valid left environment, and the first bond with a valid right one.
    #[cfg(test)]
    pub(crate) fn stored_bonds(&self) -> [usize; 2] {
        self.valid
    }

    /// Whether environments with an exponent for each number are stored.
    #[cfg(test)]
    pub(crate) fn has_exact(&self) -> bool {
        with_scalar!(self.dtype, "x", T => Ok(self.store.downcast_ref::<Store<T>>().is_some_and(|s| s.exact.is_some())))
            .unwrap_or(false)
    }

    /// Marks the environments that depend on core k as outdated: left ones at bonds after it, right ones at bonds
    /// before it. Does nothing if there is no core k.
    pub fn update_core(&mut self, k: usize) {
        if k < self.sites() {
            self.drop_after(k, k);
        }
    }

    fn drop_after(&mut self, first: usize, last: usize) {
        for valid in [&mut self.valid, &mut self.valid_exact] {
            *valid = [valid[0].min(first), valid[1].max(last + 1)];
        }
        self.is_far = None;
    }

    /// Replaces the trains by others that differ only in the cores `first` to `last`, as after a two-site step that
    /// changed both cores and the rank between them. Environments that depend on none of these cores stay valid.
    ///
    /// # Errors
    /// As [`Trains::check`]; [`Error::InvalidArgument`] for a core that there is not, another length, type or device, and for
    /// a rank that differs at a bond outside of `first` + 1 to `last`. After an error the environments are as before.
    pub fn set_trains(&mut self, trains: &Trains<'_>, first: usize, last: usize) -> Result<()> {
        let d = self.sites();
        if first > last || last >= d {
            return Err(Error::invalid(
                "first, last",
                format!("are {first} and {last}, not in order from 0 to {}", d - 1),
            ));
        }
        // `chain` returns an error if the trains do not fit the environments.
        self.chain(trains)?;
        let bonds = bonds_of(trains)?;
        for (name, before, now) in [("y", &self.bonds[0], &bonds[0]), ("x", &self.bonds[1], &bonds[1])] {
            for bond in (0..=first).chain(last + 1..=d) {
                // Both ends of a ring are one bond, between the last and the first core.
                let is_inside = (bond == 0 || bond == d) && first == 0 && last + 1 == d;
                if before[bond] != now[bond] && !is_inside {
                    let problem = format!(
                        "has rank {} at bond {bond}, {} before, though only cores {first} to {last} are said to differ",
                        now[bond], before[bond]
                    );
                    return Err(Error::invalid(name, problem));
                }
            }
        }
        self.bonds = bonds;
        self.drop_after(first, last);
        Ok(())
    }

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

    fn build_with(
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
    fn is_far(&mut self, stream: Option<&Stream>, chain: &Chain<'_>) -> Result<bool> {
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

    fn extend_exact<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, side: Side, k: usize) -> Result<()> {
        let Some(store) = self.store.downcast_mut::<Store<T>>() else { return Err(wrong_type::<T>("v", self.dtype)) };
        if store.exact.is_none() {
            store.exact = Some(Exact::new(chain.len() + 1)?);
        }
        let Some(exact) = &mut store.exact else { return Ok(()) };
        let sites = Sites { ops, memory: self.context.host_budget(), chain, slots: &self.slots };
        let valid = &mut self.valid_exact;
        self.context.pool().run(|| exact.extend(&sites, valid, side, k))
    }

    /// The dimensions of the environments at bond k, the first fastest: bra rank, operator rank, boundary values (1 for
    /// open trains), ket rank.
    pub fn dims(&self, trains: &Trains<'_>, k: usize) -> Result<[usize; 4]> {
        let chain = self.chain(trains)?;
        expect_bond(k, 0, trains.len())?;
        let (extent, rank) = (chain.extent(k, &self.slots, chain.pairs()), trains.operator_rank(k));
        Ok([extent.bra, rank, extent.slots / rank * extent.pairs, extent.ket])
    }

    compiled_here! {
        /// Reads the environment at bond k, which is built if it is missing. Returns the exponent of the power of two
        /// by which it must be multiplied. The boundary value of the third dimension is p_w + w (p_y + r p_x).
        ///
        /// # Errors
        /// As [`Environments::build`]; [`Error::InvalidArgument`] for another type or length than that of
        /// [`Environments::dims`].
        pub fn get<T: Scalar>(
            &mut self: Environments,
            stream: Option<&Stream>,
            trains: &Trains<'_>,
            side: Side,
            k: usize,
            out: &mut [T],
        ) -> Result<i64> = Environments::get_of;
    }

    fn get_of<T: Scalar>(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        side: Side,
        k: usize,
        out: &mut [T],
    ) -> Result<i64> {
        let ops = self.ops(stream)?;
        ops.in_order(|| {
            let chain = self.chain(trains)?;
            self.build_with(&ops, stream, &chain, side, k)?;
            if self.is_far == Some(true) {
                let found = find_exact::<T>(&*self.store)?.find(side, k)?;
                expect_length(out.len(), found.extent)?;
                return Ok(wide::fold(found.numbers(), out));
            }
            let found = find::<T>(&*self.store, side, k)?;
            expect_length(out.len(), found.extent())?;
            Ok(found.held.exponent[self.group()] + stored::read(&ops, found, out)?)
        })
    }

    /// <y|H|x>, or <y|x>, from the environments at bond k, which are built if they are missing.
    ///
    /// # Errors
    /// As [`Environments::build`].
    pub fn value(&mut self, stream: Option<&Stream>, trains: &Trains<'_>, k: usize) -> Result<Scaled> {
        let ops = self.ops(stream)?;
        ops.in_order(|| {
            let chain = self.chain(trains)?;
            expect_bond(k, 0, trains.len())?;
            if self.is_far(stream, &chain)? && !are_finite(trains)? {
                return Ok(Scaled::nan(self.dtype));
            }
            self.build_with(&ops, stream, &chain, Side::Left, k)?;
            self.build_with(&ops, stream, &chain, Side::Right, k)?;
            let split = self.slots.operator(k).len();
            with_scalar!(self.dtype, "x", T => {
                let mut met = None;
                if self.is_far != Some(true) {
                    let (left, right) = (find::<T>(&*self.store, Side::Left, k)?, find::<T>(&*self.store, Side::Right, k)?);
                    let with = (&chain, self.context.host_budget());
                    met = self.context.pool().run(|| stored::meet::<T>(&ops, with, left, right, split))?;
                }
                let value = match met {
                    Some(sums) => sums[self.group()],
                    // Check the entries first: that is one pass, and the exact environments are much slower.
                    None if !are_finite(trains)? => return Ok(Scaled::nan(self.dtype)),
                    None => self.value_exact::<T>(&ops, &chain, k)?,
                };
                let leaves_out = match (trains.operator, &chain.blocks) {
                    // The environments also have slots that are on no path. Their product is not read, so a NaN there
                    // must be found here.
                    (Some(h), Some(blocks)) => {
                        let ends = trains.operator_rank(0);
                        unread::leaves_out(h, blocks, 0, &[Slots::live(blocks, trains.len(), 0, 0, ends, false)?])?
                    }
                    _ => false,
                };
                self.checked(value, trains, leaves_out)
            })
        })
    }

    /// <y|op|x> with `op` (n-by-n, column-major) at site k, from environments without an operator. Costs one step if
    /// the environments have been built.
    ///
    /// # Errors
    /// As [`Environments::build`]; [`Error::InvalidArgument`] if the environments hold an operator, for an `op` of another
    /// size, and for a complex one where everything else is real.
    pub fn local(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        k: usize,
        op: &[Complex<f64>],
    ) -> Result<Scaled> {
        let ops = self.ops(stream)?;
        ops.in_order(|| self.local_with(&ops, stream, trains, k, op))
    }

    fn local_with(
        &mut self,
        ops: &Ops,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        k: usize,
        op: &[Complex<f64>],
    ) -> Result<Scaled> {
        let chain = self.chain(trains)?;
        expect_bond(k, 1, trains.len())?;
        if self.ranks.is_some() {
            return Err(Error::invalid("h", "is in the environments; local expectations need those of <y|x>"));
        }
        expect_operator("op", op, trains.ket.shape().modes()[k])?;
        if !is_real(op) && complex_of(self.dtype) != self.dtype {
            return Err(Error::invalid("op", format!("is complex, the trains are {}", self.dtype.name())));
        }
        let leaves_out = unread::has_empty_column(op, trains.ket.shape().modes()[k]);
        if self.is_far(stream, &chain)? && !are_finite(trains)? {
            return Ok(Scaled::nan(self.dtype));
        }
        let mut value = Scaled::ZERO;
        for Layer { numbers, exponent } in layers(op, self.dtype)? {
            let gather = Gather::local(trains.ket.shape().modes()[k], &numbers)?;
            let part = with_scalar!(self.dtype, "x", T => self.local_by::<T>(ops, &chain, k, &gather))?;
            value = value.plus(part.shifted(exponent));
        }
        self.checked(value, trains, leaves_out)
    }

    /// [`Environments::local`] for an operator within the range of the type, without the check for numbers that are not
    /// finite.
    fn local_by<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, k: usize, gather: &Gather) -> Result<Scaled> {
        let mut met = None;
        if self.is_far != Some(true) {
            self.extend::<T>(ops, chain, Side::Left, k)?;
            self.extend::<T>(ops, chain, Side::Right, k + 1)?;
            let (left, right) = (find::<T>(&*self.store, Side::Left, k)?, find::<T>(&*self.store, Side::Right, k + 1)?);
            let with = (chain, self.context.host_budget());
            met = self.context.pool().run(|| {
                let typed = Typed::<T, _>::new(ops);
                let (mut work, to) = (typed.work(1, false), typed.environment(right.extent().elements()?)?);
                let step = Step { chain, ops, t: k, gather, mirrored: false, split: 0 };
                let next = step.run(&mut work, left, to)?;
                stored::meet::<T>(ops, with, &next, right, 0)
            })?;
        }
        match met {
            Some(sums) => Ok(sums[1]),
            None if !are_finite(&chain.trains)? => Ok(Scaled::nan(self.dtype)),
            None => self.local_exact::<T>(ops, chain, k, gather),
        }
    }

    /// The value at a bond, from environments with an exponent for each entry.
    fn value_exact<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, k: usize) -> Result<Scaled> {
        self.is_far = Some(true);
        self.extend_exact::<T>(ops, chain, Side::Left, k)?;
        self.extend_exact::<T>(ops, chain, Side::Right, k)?;
        let exact = find_exact::<T>(&*self.store)?;
        exact.find(Side::Left, k)?.meet(exact.find(Side::Right, k)?)
    }

    /// [`Environments::local`], from environments with an exponent for each entry.
    fn local_exact<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, k: usize, gather: &Gather) -> Result<Scaled> {
        self.is_far = Some(true);
        self.extend_exact::<T>(ops, chain, Side::Left, k)?;
        self.extend_exact::<T>(ops, chain, Side::Right, k + 1)?;
        let exact = find_exact::<T>(&*self.store)?;
        let sites = Sites { ops, memory: self.context.host_budget(), chain, slots: &self.slots };
        let left = exact.find(Side::Left, k)?;
        let next = self.context.pool().run(|| sites.step(gather, k, false, left))?;
        next.meet(exact.find(Side::Right, k + 1)?)
    }

    /// The result for the sum `value`: NaN if a core of the trains or of the operator holds a number that is not
    /// finite. `leaves_out` says that the operator keeps some entries of the ket out of all sums.
    fn checked(&self, value: Scaled, trains: &Trains<'_>, leaves_out: bool) -> Result<Scaled> {
        let Trains { bra, operator, ket } = *trains;
        match operator.map(TrainMatrix::train) {
            Some(h) if !finite::is_finite(h)? => Ok(Scaled::nan(self.dtype)),
            _ if leaves_out && !finite::is_finite(ket)? => Ok(Scaled::nan(self.dtype)),
            _ => finite::checked(value, self.dtype, &[bra, ket]),
        }
    }

    /// The operations of a call that waits for its result.
    fn ops(&self, stream: Option<&Stream>) -> Result<Ops> {
        stream::expect_not_captured(stream::select(&self.context, stream)?)?;
        Ops::with_stored_environments(&self.context, stream, self.on_device)
    }

    /// Index of the exponent of the result: 0 for the operator, 1 for the identity if there is no operator.
    fn group(&self) -> usize {
        usize::from(self.ranks.is_none())
    }

    fn chain<'t>(&self, trains: &Trains<'t>) -> Result<Chain<'t>> {
        let dtype = trains.check(&self.context)?;
        let ranks = trains.operator.map(|h| h.train().shape().ranks());
        if ranks != self.ranks.as_deref() {
            return Err(Error::invalid("h", "is another operator than the environments were made for"));
        }
        if dtype != self.dtype {
            let problem = format!("is computed in {}, the environments are {}", dtype.name(), self.dtype.name());
            return Err(Error::invalid("x", problem));
        }
        if trains.len() + 1 != self.slots.bonds() {
            let problem = format!("has {} cores, the environments {}", trains.len(), self.slots.bonds() - 1);
            return Err(Error::invalid("x", problem));
        }
        if on_device(trains) != self.on_device {
            return Err(Error::invalid("x", "lies on another device than the environments"));
        }
        let own = || self.cancel.progress(std::slice::from_ref(&self.context), None, self.cancel.epoch()).flag();
        let flag = self.stop.clone().unwrap_or_else(own);
        Chain::of(&self.options, *trains, dtype, 0, &Watch::new(flag))
    }

    fn extend<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, side: Side, k: usize) -> Result<()> {
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

/// Ranks of bra and ket.
fn bonds_of(trains: &Trains<'_>) -> Result<[Vec<usize>; 2]> {
    let of = |train: &TensorTrain| alloc::copied("environments", train.shape().ranks());
    Ok([of(trains.bra)?, of(trains.ket)?])
}

fn find<T: Scalar>(store: &(dyn Any + Send + Sync), side: Side, k: usize) -> Result<&Stored<T>> {
    let Some(store) = store.downcast_ref::<Store<T>>() else {
        return Err(Error::invalid("v", format!("is {}, not the type of the environments", T::DTYPE.name())));
    };
    let list = if side == Side::Left { &store.left } else { &store.right };
    list.get(k).and_then(Option::as_ref).ok_or_else(|| Error::Internal(format!("no environment at bond {k}")))
}

fn find_exact<T: Scalar>(store: &(dyn Any + Send + Sync)) -> Result<&Exact<T::Wide>> {
    let Some(store) = store.downcast_ref::<Store<T>>() else {
        return Err(Error::invalid("v", format!("is {}, not the type of the environments", T::DTYPE.name())));
    };
    store.exact.as_ref().ok_or_else(|| Error::Internal("no environments of a ring".into()))
}
