//! The object: its options, the trains that it was made for, and which environments are valid.

use std::any::Any;
use std::sync::Arc;

use super::checks::expect_bond;
use super::store::Store;
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::operator::chain::Chain;
use crate::operator::device::{Ops, on_device};
use crate::operator::erased::{Operations as _, Typed};
use crate::operator::slots::Slots;
use crate::operator::stored::Stored;
use crate::operator::trains::Trains;
use crate::progress::CancelFlag;
use crate::scalar::{DType, with_scalar};
use crate::session::CancelHandle;
use crate::stream::{self, Stream};
use crate::tensor::train::TensorTrain;
use crate::trains::options::Options;
use crate::trains::watch::Watch;

/// The environments of <y|H|x>, or of <y|x>, at all bonds 0 to d. An environment is built when it is needed, and held
/// until [`Environments::update_core`] reports a change of a core that it depends on. There are at most d + 1 for each
/// side, with at most 2 sum of r_k w_k s_k elements together. They are charged to the context's memory, not to a
/// workspace limit.
///
/// The trains are arguments of every call. They must be the same in each, except for cores whose change was reported to
/// [`Environments::update_core`], or to [`Environments::set_trains`] if ranks change, too.
pub struct Environments {
    pub(super) context: Arc<Context>,
    pub(super) options: Options,
    pub(super) cancel: CancelHandle,
    /// Cancels every call once it is set.
    pub(super) stop: Option<CancelFlag>,
    pub(super) dtype: DType,
    pub(super) slots: Slots,
    pub(super) ranks: Option<Vec<usize>>,
    /// Ranks of bra and ket for which the stored environments were built.
    pub(super) bonds: [Vec<usize>; 2],
    pub(super) store: Box<dyn Any + Send + Sync>,
    /// Whether the environments are on the context's GPU.
    pub(super) on_device: bool,
    /// Left environments are valid at bonds 0 to `valid[0]`, right ones at bonds `valid[1]` to d.
    pub(super) valid: [usize; 2],
    /// As `valid`, for [`Store::exact`].
    pub(super) valid_exact: [usize; 2],
    /// Whether environments need an exponent for each entry: for rings whose bonds exceed the balancing limit, and
    /// after a step has lost digits by underflow. `None` until the trains have been examined.
    pub(super) is_far: Option<bool>,
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
    pub fn exact(context: &Arc<Context>, options: &Options, trains: &Trains<'_>) -> Result<Self> {
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
    pub fn stopped_by(self, flag: CancelFlag) -> Self {
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
    pub fn has_exact(&self) -> bool {
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

    /// The dimensions of the environments at bond k, the first fastest: bra rank, operator rank, boundary values (1 for
    /// open trains), ket rank.
    ///
    /// # Errors
    /// As [`Trains::check`]; [`Error::InvalidArgument`] for a bond that there is not, and for another operator, length,
    /// type or device; out of memory.
    pub fn dims(&self, trains: &Trains<'_>, k: usize) -> Result<[usize; 4]> {
        let chain = self.chain(trains)?;
        expect_bond(k, 0, trains.len())?;
        let (extent, rank) = (chain.extent(k, &self.slots, chain.pairs()), trains.operator_rank(k));
        Ok([extent.bra, rank, extent.slots / rank * extent.pairs, extent.ket])
    }

    /// The operations of a call that waits for its result.
    pub(super) fn ops(&self, stream: Option<&Stream>) -> Result<Ops> {
        stream::expect_not_captured(stream::select(&self.context, stream)?)?;
        Ops::with_stored_environments(&self.context, stream, self.on_device)
    }

    /// Index of the exponent of the result: 0 for the operator, 1 for the identity if there is no operator.
    pub(super) fn group(&self) -> usize {
        usize::from(self.ranks.is_none())
    }

    pub(super) fn chain<'t>(&self, trains: &Trains<'t>) -> Result<Chain<'t>> {
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
}

/// Ranks of bra and ket.
fn bonds_of(trains: &Trains<'_>) -> Result<[Vec<usize>; 2]> {
    let of = |train: &TensorTrain| alloc::copied("environments", train.shape().ranks());
    Ok([of(trains.bra)?, of(trains.ket)?])
}
