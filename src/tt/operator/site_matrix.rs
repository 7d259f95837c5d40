//! Matrices of operators at one site, n-by-n and column-major: element i + n j takes state j to state i.

use crate::error::{Error, Result};
use crate::scalar::Complex;
use crate::tensor::Tensor;

/// The matrix in a square tensor on the host, of any strides.
///
/// # Errors
/// [`Error::InvalidArgument`] for a tensor that is not a square matrix or has integers; [`Error::NotSupported`] for
/// memory of a device; out of memory.
pub fn from_tensor(argument: &str, op: &Tensor) -> Result<Vec<Complex<f64>>> {
    if !matches!(op.dims(), [rows, cols] if rows == cols) {
        return Err(Error::invalid(argument, format!("has dimensions {:?}, a square matrix is needed", op.dims())));
    }
    op.numbers(argument, "operator at a site")
}

/// Returns an error unless `op` has n x n elements.
pub(super) fn expect_operator(argument: &str, op: &[Complex<f64>], n: usize) -> Result<()> {
    if n.checked_mul(n) == Some(op.len()) {
        return Ok(());
    }
    Err(Error::invalid(argument, format!("has {} elements, {n} x {n} are needed", op.len())))
}

/// Whether all imaginary parts are 0.
pub(super) fn is_real(op: &[Complex<f64>]) -> bool {
    op.iter().all(|x| x.im == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::DType;
    use crate::shape::Order;
    use crate::tensor::Location;
    use crate::trains::testing::cpu;

    #[test]
    fn tensors_of_any_strides_give_columns() {
        let c = cpu(1);
        let create = |dtype, dims: &[usize]| Tensor::create(&c, dtype, Location::Host, Order::RowMajor, dims).unwrap();
        let raise = [0.0, 0.0, 1.0, 0.0].map(|x| Complex::new(x, -2.0 * x));
        let mut op = create(DType::CF32, &[2, 2]);
        // Row-major: element (0, 1) is the second in memory.
        op.view_mut::<Complex<f32>>("op").unwrap().data()[1] = Complex::new(1.0, -2.0);
        assert_eq!(from_tensor("op", &op).unwrap(), raise);
        assert_eq!(from_tensor("op", &create(DType::F64, &[0, 0])).unwrap(), []);
        let refused = |dtype, dims: &[usize]| from_tensor("op", &create(dtype, dims)).unwrap_err().to_string();
        assert_eq!(refused(DType::F64, &[2, 3]), "op: has dimensions [2, 3], a square matrix is needed");
        assert_eq!(refused(DType::F64, &[4]), "op: has dimensions [4], a square matrix is needed");
        assert!(refused(DType::I32, &[2, 2]).starts_with("op: is I32"), "{}", refused(DType::I32, &[2, 2]));
    }
}
