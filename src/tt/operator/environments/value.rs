//! Results from environments: their numbers, values at a bond, and local expectations.

use super::checks::{expect_bond, expect_length};
use super::state::Environments;
use super::store::{find, find_exact};
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::operator::chain::Chain;
use crate::operator::device::Ops;
use crate::operator::erased::{Operations as _, Typed};
use crate::operator::exact::Sites;
use crate::operator::gather::Gather;
use crate::operator::layers::{Layer, layers};
use crate::operator::side::Side;
use crate::operator::site_matrix::{expect_operator, is_real};
use crate::operator::slots::Slots;
use crate::operator::stored::{self, Step};
use crate::operator::trains::{Trains, are_finite, complex_of};
use crate::operator::{wide, zero_columns};
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::stream::Stream;
use crate::tensor::train::TrainMatrix;
use crate::trains::finite;
use crate::trains::scaled::Scaled;

impl Environments {
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

    pub(super) fn get_of<T: Scalar>(
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
                        let slots = Slots::on_closed_paths(blocks, trains.len(), 0, 0, ends, false)?;
                        zero_columns::has_zero_columns(h, blocks, 0, &[slots])?
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

    pub(super) fn local_with(
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
        let leaves_out = zero_columns::has_zero_column(op, trains.ket.shape().modes()[k]);
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
    pub(super) fn local_by<T: Scalar>(
        &mut self,
        ops: &Ops,
        chain: &Chain<'_>,
        k: usize,
        gather: &Gather,
    ) -> Result<Scaled> {
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
    pub(super) fn value_exact<T: Scalar>(&mut self, ops: &Ops, chain: &Chain<'_>, k: usize) -> Result<Scaled> {
        self.is_far = Some(true);
        self.extend_exact::<T>(ops, chain, Side::Left, k)?;
        self.extend_exact::<T>(ops, chain, Side::Right, k)?;
        let exact = find_exact::<T>(&*self.store)?;
        exact.find(Side::Left, k)?.meet(exact.find(Side::Right, k)?)
    }

    /// [`Environments::local`], from environments with an exponent for each entry.
    pub(super) fn local_exact<T: Scalar>(
        &mut self,
        ops: &Ops,
        chain: &Chain<'_>,
        k: usize,
        gather: &Gather,
    ) -> Result<Scaled> {
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
    pub(super) fn checked(&self, value: Scaled, trains: &Trains<'_>, leaves_out: bool) -> Result<Scaled> {
        let Trains { bra, operator, ket } = *trains;
        match operator.map(TrainMatrix::train) {
            Some(h) if !finite::is_finite(h)? => Ok(Scaled::nan(self.dtype)),
            _ if leaves_out && !finite::is_finite(ket)? => Ok(Scaled::nan(self.dtype)),
            _ => finite::checked(value, self.dtype, &[bra, ket]),
        }
    }
}
