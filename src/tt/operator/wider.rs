//! Repeats contractions that lost digits by underflow, on the host and with a wider range of exponents.
//!
//! The CPU reports such a loss ([`crate::backend::cpu::flags`]), but not whether the lost digits affect the result;
//! that is rare. A contraction in single precision is repeated in double precision, whose range holds products of
//! several numbers of single precision. If double precision loses digits, too, environments are used in which each
//! entry has an exponent of its own. These are much slower.

use std::sync::Arc;

use super::trains::Trains;
use crate::algebra::{Place, cast, matrix};
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::to_u64;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain, TrainMatrix};
use crate::trains::options::{Options, Scaling};

const WHAT: &str = "repeated cores";

/// Whether a contraction that lost digits is repeated. The CPU's flag does not cover devices. With scaling off, the
/// caller is responsible for the range.
pub fn applies(options: &Options, is_on_device: bool) -> bool {
    options.scaling != Scaling::Never && !is_on_device
}

/// Copies of the trains of a call in double precision; the conversion is exact.
pub struct Doubles {
    bra: TensorTrain,
    /// `None` if it is the same train.
    ket: Option<TensorTrain>,
    operator: Option<TrainMatrix>,
}

impl Doubles {
    /// Copies of host trains; `None` if they are in double precision already.
    ///
    /// # Errors
    /// Out of memory.
    pub fn of(context: &Arc<Context>, trains: &Trains<'_>) -> Result<Option<Self>> {
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

    /// The copies as trains of a contraction.
    pub fn trains(&self) -> Trains<'_> {
        Trains { bra: &self.bra, operator: self.operator.as_ref(), ket: self.ket.as_ref().unwrap_or(&self.bra) }
    }
}

/// Largest number of cores of [`Repeated`] trains.
const LONG: u64 = 4096;

/// Host copies of two trains with `repeat` copies of their cores one after the other.
pub struct Repeated {
    bra: TensorTrain,
    /// `None` if it is the same train.
    ket: Option<TensorTrain>,
}

impl Repeated {
    /// Copies of host trains of one type.
    ///
    /// # Errors
    /// [`Error::Numerical`] for more than 4096 cores; out of memory.
    pub fn of(context: &Arc<Context>, trains: &Trains<'_>, repeat: u64) -> Result<Self> {
        let Trains { bra, ket, .. } = *trains;
        if Self::is_long(trains, repeat) {
            let problem = format!(
                "x: numbers that may count are below the range of double precision beside others of their core; trains of such \
                 numbers have at most {LONG} cores, with `repeat` {repeat} these have more"
            );
            return Err(Error::Numerical(problem));
        }
        let times = usize::try_from(repeat).unwrap_or(usize::MAX);
        let copy = |train: &TensorTrain| with_scalar!(train.dtype(), "x", T => repeated::<T>(context, train, times));
        Ok(Self { bra: copy(bra)?, ket: if bra.is_same(ket) { None } else { Some(copy(ket)?) } })
    }

    /// Whether the copies would have more than 4096 cores.
    pub fn is_long(trains: &Trains<'_>, repeat: u64) -> bool {
        repeat.saturating_mul(to_u64(trains.len())) > LONG
    }

    /// The copies as trains of a contraction without an operator.
    pub fn trains(&self) -> Trains<'_> {
        Trains::new(&self.bra, None, self.ket.as_ref().unwrap_or(&self.bra))
    }
}

fn repeated<T: Scalar>(context: &Arc<Context>, train: &TensorTrain, times: usize) -> Result<TensorTrain> {
    let (shape, from) = (train.shape(), train.cores::<T>("x")?);
    let d = shape.len();
    let mut modes = alloc::with_capacity(WHAT, d * times)?;
    let mut ranks = alloc::with_capacity(WHAT, d * times + 1)?;
    for k in 0..d * times {
        modes.push(shape.modes()[k % d]);
        ranks.push(shape.ranks()[k % d]);
    }
    ranks.push(shape.ranks()[d]);
    let mut copy = TensorTrain::create(context, T::DTYPE, Location::Host, Shape::new("x", &modes, &ranks)?)?;
    let mut to = copy.cores_mut::<T>("x")?;
    (0..d * times).for_each(|k| to.core(k).copy_from_slice(from.core(k % d)));
    drop(to);
    (0..d * times).for_each(|k| copy.mark_set(k));
    Ok(copy)
}

fn double(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F32 => Some(DType::F64),
        DType::CF32 => Some(DType::CF64),
        _ => None,
    }
}
