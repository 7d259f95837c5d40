//! Outputs: factors, vectors on the host, and the factors of an empty matrix.

use super::info::Info;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::tensor::Tensor;

/// The caller's memory for factors; absent factors are not computed.
#[derive(Default)]
pub struct Outputs<'a> {
    /// U, m-by-k, with orthonormal columns.
    pub u: Option<&'a mut Matrix>,
    /// k singular values, not increasing.
    pub s: Option<&'a mut Tensor>,
    /// V, n-by-k, or V^H, k-by-n.
    pub v: Option<&'a mut Matrix>,
}

impl Outputs<'_> {
    /// The same outputs, borrowed for a shorter time.
    pub(super) fn reborrow(&mut self) -> Outputs<'_> {
        Outputs { u: self.u.as_deref_mut(), s: self.s.as_deref_mut(), v: self.v.as_deref_mut() }
    }
}

/// Refuses a tensor that is not a vector of `length` numbers on the host.
pub(super) fn check_vector(argument: &str, tensor: &Tensor, length: usize) -> Result<()> {
    tensor.expect_dims(argument, &[length])?;
    tensor.check_writable(argument)?;
    check_vector_type(argument, tensor)
}

fn check_vector_type(argument: &str, tensor: &Tensor) -> Result<()> {
    if !matches!(tensor.dtype(), DType::F32 | DType::F64) {
        return Err(Error::invalid(argument, format!("is {}, F64 or F32 is needed", tensor.dtype().name())));
    }
    if tensor.is_device() {
        return Err(Error::NotSupported(format!("{argument}: on a device; host memory is needed")));
    }
    Ok(())
}

/// Writes `values` to a vector that was checked, and 0 to the elements after them.
///
/// # Errors
/// [`Error::Numerical`] for a number that is not finite as the tensor's type.
pub(super) fn write_vector(argument: &str, tensor: &mut Tensor, values: &[f64]) -> Result<()> {
    let length = tensor.dims().first().copied().unwrap_or(0);
    let at = |j: usize| values.get(j).copied().unwrap_or(0.0);
    let is_single = tensor.dtype() == DType::F32;
    let is_held = |x: &f64| if is_single { (*x as f32).is_finite() } else { x.is_finite() };
    if let Some(j) = values.iter().position(|x| !is_held(x)) {
        let problem = format!("number {j} is {:e}, which {} does not hold", values[j], tensor.dtype().name());
        return Err(Error::Numerical(format!("{argument}: {problem}")));
    }
    if is_single {
        let mut view = tensor.view_mut::<f32>(argument)?;
        (0..length).for_each(|j| view.set(&[j], at(j) as f32));
    } else {
        let mut view = tensor.view_mut::<f64>(argument)?;
        (0..length).for_each(|j| view.set(&[j], at(j)));
    }
    Ok(())
}

/// Values up to this many roundings of the largest one count as 0.
pub(super) const ROUNDINGS: f64 = 64.0;

/// The largest value that counts as 0 beside others of these sizes, in a computation in type `dtype`.
pub(super) fn largest_zero(sizes: &[f64], dtype: DType) -> f64 {
    ROUNDINGS * dtype.epsilon() * sizes.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// The first of `sizes` above `zero`, the largest that counts as 0, although `held`, the number that stands for it, is below
/// the normal numbers of `dtype`: it would lose digits, or vanish.
pub(super) fn first_lost(sizes: &[f64], held: impl Fn(f64) -> f64, zero: f64, dtype: DType) -> Option<(usize, f64)> {
    let least = if dtype.is_single() { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let lost = |x: &f64| x.abs() > zero && held(*x).abs() < least;
    sizes.iter().position(lost).map(|j| (j, held(sizes[j])))
}

/// Writes `of` each of the `sizes`, singular values or eigenvalues. Those up to `zero` count as 0.
///
/// # Errors
/// [`Error::Numerical`] for a number that counts and that is not a normal number of the tensor's type.
pub(super) fn write_values(
    argument: &str,
    tensor: &mut Tensor,
    sizes: &[f64],
    zero: f64,
    of: impl Fn(f64) -> f64,
) -> Result<()> {
    if let Some((j, x)) = first_lost(sizes, &of, zero, tensor.dtype()) {
        let problem = format!("number {j} is {x:e}, which {} does not hold", tensor.dtype().name());
        return Err(Error::Numerical(format!("{argument}: {problem}")));
    }
    let values = crate::alloc::collected("values", sizes.iter().map(|x| of(*x)))?;
    write_vector(argument, tensor, &values)
}

pub(super) fn read_vector(argument: &str, tensor: &Tensor) -> Result<Vec<f64>> {
    check_vector_type(argument, tensor)?;
    let &[length] = tensor.dims() else {
        return Err(Error::invalid(argument, format!("has {} dimensions, 1 is needed", tensor.dims().len())));
    };
    if tensor.dtype() == DType::F32 {
        let view = tensor.view::<f32>(argument)?;
        return crate::alloc::collected("vector", (0..length).map(|j| f64::from(view.get(&[j]))));
    }
    let view = tensor.view::<f64>(argument)?;
    crate::alloc::collected("vector", (0..length).map(|j| view.get(&[j])))
}

/// The factors of a matrix without entries: zeros, and columns of the identity.
pub(super) fn empty(outputs: Outputs<'_>, mut info: Info) -> Result<Info> {
    if let Some(s) = outputs.s {
        write_vector("s", s, &[])?;
    }
    let eye = |argument: &'static str, m: &mut Matrix| -> Result<()> {
        let dtype = m.dtype();
        let dense = m.dense_mut(argument)?;
        let (layout, memory) = (dense.layout.clone(), dense.memory);
        let &[rows, columns] = layout.dims() else { return Ok(()) };
        let strides = layout.strides().to_vec();
        with_scalar!(dtype, argument, T => {
            if layout.elements() > 0 {
                let out = memory.host_mut(argument)?.as_mut_slice::<T>()?;
                for i in 0..rows {
                    for j in 0..columns {
                        out[i * strides[0] + j * strides[1]] = T::from_parts(if i == j { 1.0 } else { 0.0 }, 0.0);
                    }
                }
            }
            Ok(())
        })
    };
    if let Some(u) = outputs.u {
        eye("u", u)?;
    }
    if let Some(v) = outputs.v {
        eye("v", v)?;
    }
    (info.converged, info.frobenius, info.max_abs) = (true, 0.0, 0.0);
    (info.error_frobenius, info.error_relative) = (0.0, 0.0);
    Ok(info)
}
