//! Repeats contractions on the host that lost digits below the range of their type.
//!
//! The processor reports such a loss ([`crate::backend::cpu::flags`]), but not whether the lost digits count: numbers far below
//! the others rarely do. Single precision is repeated in double precision, whose range holds squares and cubes of its
//! numbers. If double precision loses digits too, environments are used whose numbers have exponents of their own. They are
//! much slower.

use std::sync::Arc;

use super::algebra::{Place, cast, matrix};
use super::operator::Trains;
use super::options::{Options, Scaling};
use crate::context::Context;
use crate::error::Result;
use crate::scalar::DType;
use crate::tensor::train::{TensorTrain, TrainMatrix};

/// Whether a contraction is repeated if it lost digits. The processor's flag does not cover devices, and with scaling off the
/// caller is responsible for the range.
pub(super) fn applies(options: &Options, is_on_device: bool) -> bool {
    options.scaling != Scaling::Never && !is_on_device
}

/// Copies of the trains of a call in double precision, with the same numbers.
pub(super) struct Doubles {
    bra: TensorTrain,
    /// `None` if it is the same train.
    ket: Option<TensorTrain>,
    operator: Option<TrainMatrix>,
}

impl Doubles {
    /// Copies of trains on the host; `None` if they are in double precision.
    ///
    /// # Errors
    /// Out of memory.
    pub(super) fn of(context: &Arc<Context>, trains: &Trains<'_>) -> Result<Option<Self>> {
        let Trains { bra, operator, ket } = *trains;
        let Some(dtype) = double(bra.dtype()) else { return Ok(None) };
        let at = Place::host(context);
        let wide = |train: &TensorTrain| cast(&at, train, double(train.dtype()).unwrap_or(dtype));
        let operator = match operator {
            Some(h) => Some(matrix::cast(&at, h, double(h.train().dtype()).unwrap_or(h.train().dtype()))?),
            None => None,
        };
        Ok(Some(Self { bra: wide(bra)?, ket: if bra.is_same(ket) { None } else { Some(wide(ket)?) }, operator }))
    }

    /// The copies.
    pub(super) fn trains(&self) -> Trains<'_> {
        Trains { bra: &self.bra, operator: self.operator.as_ref(), ket: self.ket.as_ref().unwrap_or(&self.bra) }
    }
}

fn double(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F32 => Some(DType::F64),
        DType::CF32 => Some(DType::CF64),
        _ => None,
    }
}
