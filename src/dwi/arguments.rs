//! Checks of arguments that several calls share.

use super::sh::check_order;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// Rows and columns of a matrix, or an error that names the argument.
pub(crate) fn matrix_dims(argument: &str, tensor: &Tensor) -> Result<(usize, usize)> {
    match *tensor.dims() {
        [rows, columns] => Ok((rows, columns)),
        ref other => Err(Error::invalid(argument, format!("has dimensions {other:?}, two are needed"))),
    }
}

/// The even order of a batch of tensors in three dimensions.
pub(crate) fn order_of(argument: &str, tensors: &Tensor) -> Result<usize> {
    let shape = tensors.expect_symmetric(argument)?;
    check_order(argument, shape.order)?;
    if shape.dimension != 3 {
        return Err(Error::invalid(argument, format!("have dimension {}, 3 is needed", shape.dimension)));
    }
    Ok(shape.order)
}
