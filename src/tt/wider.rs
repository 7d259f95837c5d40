//! What to do for trains on the host whose contraction lost digits below the range of its type.
//!
//! The processor says so at no cost ([`crate::backend::cpu::flags`]). It does not say whether these digits count: numbers
//! far below the others rarely do. Single precision is repeated in double precision, which holds squares and cubes of its
//! numbers. What double precision loses too, environments hold whose numbers have exponents of their own; they are a hundred
//! times slower.

use std::sync::Arc;

use super::algebra::{Place, cast, matrix};
use super::operator::Trains;
use super::options::{Options, Scaling};
use crate::context::Context;
use crate::error::Result;
use crate::scalar::DType;
use crate::tensor::train::{TensorTrain, TrainMatrix};

/// Whether digits that a contraction loses are to be looked after: the processor's flag knows nothing of a device, and
/// without scaling the caller bears the range.
pub(super) fn applies(options: &Options, is_on_device: bool) -> bool {
    options.scaling != Scaling::Never && !is_on_device
}

/// Trains in double precision with the same numbers as those of a call.
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

    /// To contract instead.
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
