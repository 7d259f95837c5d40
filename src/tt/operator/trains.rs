//! The trains of a contraction: bra, operator and ket.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::finite;

/// <bra| operator |ket>; without an operator <bra|ket>. Any of them may be open or cyclic.
#[derive(Clone, Copy)]
pub struct Trains<'a> {
    /// The bra y, which is conjugated.
    pub bra: &'a TensorTrain,
    /// H; `None` for the identity.
    pub operator: Option<&'a TrainMatrix>,
    /// The ket x, which is not conjugated.
    pub ket: &'a TensorTrain,
}

impl<'a> Trains<'a> {
    /// Borrows the trains of <y|H|x>: y is `bra`, x is `ket`.
    pub fn new(bra: &'a TensorTrain, operator: Option<&'a TrainMatrix>, ket: &'a TensorTrain) -> Self {
        Self { bra, operator, ket }
    }

    /// The same trains with copies in place of the bra and the ket, where there are copies. If bra and ket are the same
    /// train, the first copy replaces both.
    pub fn replaced<'b>(&self, [bra, ket]: &'b [Option<TensorTrain>; 2]) -> Trains<'b>
    where
        'a: 'b,
    {
        let second = if self.bra.is_same(self.ket) { bra } else { ket };
        Trains {
            bra: bra.as_ref().unwrap_or(self.bra),
            operator: self.operator,
            ket: second.as_ref().unwrap_or(self.ket),
        }
    }

    /// Number of sites d, the same in all.
    pub fn len(&self) -> usize {
        self.ket.shape().len()
    }

    /// Always false: a train has at least one core.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ranks of the operator at bond k; 1 without one.
    pub fn operator_rank(&self, k: usize) -> usize {
        self.operator.map_or(1, |h| h.train().shape().ranks()[k])
    }

    /// Checks that the trains fit together. Returns the type of the arithmetic: complex if one of them is.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the argument: another context, a core that has not been set, mode sizes that
    /// differ (with the first such core), single precision beside double.
    pub fn check(&self, context: &Context) -> Result<DType> {
        context.check_alive()?;
        let Self { bra, operator, ket } = *self;
        // Calls on one train have no argument y.
        let y = if std::ptr::eq(bra, ket) { "x" } else { "y" };
        for (name, train) in [(y, bra), ("x", ket)] {
            train.expect_context(name, context)?;
            train.expect_set(name)?;
        }
        let mut dtype = joined(y, bra.dtype(), "x", ket.dtype())?;
        match operator {
            None => bra.shape().expect_modes(y, ket.shape().modes(), "x")?,
            Some(h) => {
                h.train().expect_context("h", context)?;
                h.train().expect_set("h")?;
                bra.shape().expect_modes(y, h.rows(), "the rows of h")?;
                ket.shape().expect_modes("x", h.cols(), "the columns of h")?;
                dtype = joined("h", h.train().dtype(), "x", dtype)?;
            }
        }
        Ok(dtype)
    }
}

/// The type that holds numbers of both types. Single and double precision cannot be mixed.
pub(super) fn joined(name: &str, a: DType, other: &str, b: DType) -> Result<DType> {
    use DType::{CF32, CF64, F32, F64};
    match (a, b) {
        (F32, F32) => Ok(F32),
        (F64, F64) => Ok(F64),
        (F32 | CF32, F32 | CF32) => Ok(CF32),
        (F64 | CF64, F64 | CF64) => Ok(CF64),
        _ => {
            let problem = format!("is {}, {other} is {}: both must be of one precision", a.name(), b.name());
            Err(Error::invalid(name, problem))
        }
    }
}

/// The complex type of the same precision.
pub(super) fn complex_of(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::CF32,
        DType::F64 => DType::CF64,
        other => other,
    }
}

/// Whether all entries of the trains and of the operator are finite.
pub(super) fn are_finite(trains: &Trains<'_>) -> Result<bool> {
    let Trains { bra, operator, ket } = *trains;
    let list = [Some(ket), if ket.is_same(bra) { None } else { Some(bra) }, operator.map(TrainMatrix::train)];
    list.into_iter().flatten().try_fold(true, |found, train| Ok(found && finite::is_finite(train)?))
}
