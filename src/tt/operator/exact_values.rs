//! Expectation values from environments with an exponent for each entry, for trains that need them.

use std::sync::Arc;

use super::environments::Environments;
use super::layers::{Layer, layers_of};
use super::site_matrix::is_real;
use super::trains::{Trains, complex_of};
use crate::algebra::{Place, cast};
use crate::alloc;
use crate::context::Context;
use crate::error::Result;
use crate::scalar::{Complex, Scalar, with_scalar};
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::trains::options::{Conjugate, Options};
use crate::trains::scaled::Scaled;
use crate::trains::watch::Watch;

/// Context, stream and cancellation of a call.
pub(super) struct ExactCall<'a> {
    pub context: &'a Arc<Context>,
    pub stream: Option<&'a Stream>,
    pub watch: &'a Watch,
}

impl ExactCall<'_> {
    fn environments(&self, trains: &Trains<'_>) -> Result<Environments> {
        let options = Options { conjugate: Conjugate::Bra, ..Options::default() };
        Ok(Environments::exact(self.context, &options, trains)?.stopped_by(self.watch.cancel.clone()))
    }

    /// A host copy of `x`, complex unless the operators are `real`.
    fn fitting(&self, x: &TensorTrain, real: bool) -> Result<TensorTrain> {
        cast(
            &Place { stream: self.stream, ..Place::host(self.context) },
            x,
            if real { x.dtype() } else { complex_of(x.dtype()) },
        )
    }
}

/// <x|op_k|x> for each site k with `wanted[k]`. Returns <x|x>.
pub(super) fn local(
    call: &ExactCall<'_>,
    x: &TensorTrain,
    op: &[Complex<f64>],
    wanted: &[bool],
    values: &mut [Scaled],
) -> Result<Scaled> {
    let x = call.fitting(x, is_real(op))?;
    let trains = Trains::new(&x, None, &x);
    let mut environments = call.environments(&trains)?;
    for (k, value) in values.iter_mut().enumerate().filter(|(k, _)| wanted[*k]) {
        *value = environments.local(call.stream, &trains, k, op)?;
    }
    environments.value(call.stream, &trains, trains.len() / 2)
}

/// <x|A_k B_l|x> for all k and l. Returns <x|x>. O(d^2) steps.
pub(super) fn correlation(
    call: &ExactCall<'_>,
    x: &TensorTrain,
    (a, b): (&[Complex<f64>], &[Complex<f64>]),
    values: &mut [Scaled],
) -> Result<Scaled> {
    let x = call.fitting(x, is_real(a) && is_real(b))?;
    let d = x.shape().len();
    for l in 0..d {
        values[d * l..d * (l + 1)].fill(Scaled::ZERO);
        for (ket, exponent) in with_scalar!(x.dtype(), "x", T => applied::<T>(call, &x, l, b))? {
            let trains = Trains::new(&x, None, &ket);
            let mut environments = call.environments(&trains)?;
            for k in 0..d {
                let part = environments.local(call.stream, &trains, k, a)?.shifted(exponent);
                values[k + d * l] = values[k + d * l].plus(part);
            }
        }
    }
    let trains = Trains::new(&x, None, &x);
    call.environments(&trains)?.value(call.stream, &trains, d / 2)
}

/// `x` with `op` applied at site `at`, as a sum of trains times powers of two. There is more than one only if the
/// exponents of the products of the operator and the core span more than the range of the type.
fn applied<T: Scalar>(
    call: &ExactCall<'_>,
    x: &TensorTrain,
    at: usize,
    op: &[Complex<f64>],
) -> Result<Vec<(TensorTrain, i64)>> {
    let (cores, [r, n, s]) = (x.cores::<T>("x")?, x.shape().core(at));
    let from = cores.core(at);
    let mut products = alloc::with_capacity("products of an operator and a core", from.len())?;
    for (i, a, b) in (0..s).flat_map(|b| (0..n).flat_map(move |i| (0..r).map(move |a| (i, a, b)))) {
        let number = |x: T| Scaled::new(Complex::new(x.re(), x.im()), 0);
        let terms = (0..n).map(|j| Scaled::new(op[i + n * j], 0).times(number(from[a + r * (j + n * b)])));
        products.push(terms.fold(Scaled::ZERO, Scaled::plus));
    }
    let mut kets = Vec::new();
    for Layer { numbers, exponent } in layers_of(products, x.dtype())? {
        let mut ket = cast(&Place::host(call.context), x, x.dtype())?;
        let mut to = ket.cores_mut::<T>("x")?;
        to.core(at).iter_mut().zip(numbers).for_each(|(to, x)| *to = T::from_parts(x.re, x.im));
        drop(to);
        alloc::push("products of an operator and a core", &mut kets, (ket, exponent))?;
    }
    Ok(kets)
}
