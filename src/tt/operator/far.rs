//! Expectation values of trains whose numbers are so far apart that no one exponent holds an environment.

use std::sync::Arc;

use super::environments::{Environments, is_real};
use super::trains::{Trains, complex_of};
use crate::backend::cpu::flags;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::tt::algebra::{Place, cast};
use crate::tt::options::{Conjugate, Options};
use crate::tt::scaled::Scaled;
use crate::tt::watch::Watch;

/// Context, stream and cancellation flag of a call.
pub(super) struct Far<'a> {
    pub context: &'a Arc<Context>,
    pub stream: Option<&'a Stream>,
    pub watch: &'a Watch,
}

impl Far<'_> {
    fn environments(&self, trains: &Trains<'_>) -> Result<Environments> {
        let options = Options { conjugate: Conjugate::Bra, ..Options::default() };
        Ok(Environments::exact(self.context, &options, trains)?.stopped_by(self.watch.cancel.clone()))
    }

    /// `x` on the host, complex if an operator is.
    fn fitting(&self, x: &TensorTrain, real: bool) -> Result<TensorTrain> {
        cast(
            &Place { stream: self.stream, ..Place::host(self.context) },
            x,
            if real { x.dtype() } else { complex_of(x.dtype()) },
        )
    }
}

/// <x|op_k|x> for the sites k that are `wanted`. Returns <x|x>.
pub(super) fn local(
    far: &Far<'_>,
    x: &TensorTrain,
    op: &[Complex<f64>],
    wanted: &[bool],
    values: &mut [Scaled],
) -> Result<Scaled> {
    let x = far.fitting(x, is_real(op))?;
    let trains = Trains::new(&x, None, &x);
    let mut kept = far.environments(&trains)?;
    for (k, value) in values.iter_mut().enumerate().filter(|(k, _)| wanted[*k]) {
        *value = kept.local(far.stream, &trains, k, op)?;
    }
    kept.value(far.stream, &trains, trains.len() / 2)
}

/// <x|A_k B_l|x> for all k and l. Returns <x|x>. O(d^2) steps.
pub(super) fn correlation(
    far: &Far<'_>,
    x: &TensorTrain,
    (a, b): (&[Complex<f64>], &[Complex<f64>]),
    values: &mut [Scaled],
) -> Result<Scaled> {
    let x = far.fitting(x, is_real(a) && is_real(b))?;
    let d = x.shape().len();
    for l in 0..d {
        let ket = with_scalar!(x.dtype(), "x", T => applied::<T>(far, &x, l, b))?;
        let trains = Trains::new(&x, None, &ket);
        let mut kept = far.environments(&trains)?;
        for k in 0..d {
            values[k + d * l] = kept.local(far.stream, &trains, k, a)?;
        }
    }
    let trains = Trains::new(&x, None, &x);
    far.environments(&trains)?.value(far.stream, &trains, d / 2)
}

/// `x` with `op` at site `at`.
fn applied<T: Scalar>(far: &Far<'_>, x: &TensorTrain, at: usize, op: &[Complex<f64>]) -> Result<TensorTrain> {
    let mut ket = cast(&Place::host(far.context), x, x.dtype())?;
    let (cores, shape) = (x.cores::<T>("x")?, x.shape());
    let [r, n, _] = shape.core(at);
    let (done, lost) = flags::watch(|| -> Result<()> {
        let mut to = ket.cores_mut::<T>("x")?;
        let to = to.core(at);
        for (column, from) in cores.core(at).chunks_exact(r * n).enumerate() {
            for (i, a) in (0..n).flat_map(|i| (0..r).map(move |a| (i, a))) {
                let terms = (0..n).map(|j| T::from_parts(op[i + n * j].re, op[i + n * j].im) * from[a + r * j]);
                to[a + r * (i + n * column)] = terms.fold(T::default(), |sum, term| sum + term);
            }
        }
        Ok(())
    });
    done?;
    if lost {
        let problem = format!("x: the product of `b` and core {at} has numbers below the range of {}", T::DTYPE.name());
        return Err(Error::Numerical(problem));
    }
    Ok(ket)
}
