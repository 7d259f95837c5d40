//! Cores to and from tensors, and whole trains to others, in any direction between host and device.

use super::storage::TensorTrain;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::{self, Layout, Order};
use crate::stream::{self, Stream};
use crate::tensor::{Tensor, copy_parts};

/// The core number of an argument `k`.
///
/// # Errors
/// [`Error::InvalidArgument`] for one that there is not.
pub fn core_number(train: &TensorTrain, k: i64) -> Result<usize> {
    shape::index("k", k, train.shape().len())
}

/// Checks that `core` can be core k of `train`, whose axes are `dims`.
fn expect_core(train: &TensorTrain, k: usize, dims: &[usize], core: &Tensor) -> Result<Layout> {
    core.expect_context("core", train.context())?;
    core.expect_dtype("core", train.dtype())?;
    core.expect_dims("core", dims)?;
    if dims.iter().product::<usize>() != train.shape().core_len(k) {
        return Err(Error::Internal(format!("core {k} of {dims:?}")));
    }
    Layout::packed(dims, Order::ColumnMajor, train.dtype())
}

/// Writes core k from a tensor with the axes of the core, which `dims` returns for its number: any strides on the host,
/// packed on a device. Complete on return for a train on the host, in stream order on a device.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `argument`, `k` or `core`; [`Error::NotSupported`] for strided device memory; out
/// of memory.
pub fn write_core(
    argument: &str,
    queue: Option<&Stream>,
    train: &mut TensorTrain,
    k: i64,
    dims: impl Fn(usize) -> Vec<usize>,
    core: &Tensor,
) -> Result<()> {
    let k = core_number(train, k)?;
    let packed = expect_core(train, k, &dims(k), core)?;
    let (context, dtype) = (train.context().clone(), train.dtype());
    let queue = stream::select(&context, queue)?;
    let (memory, offset) = train.memory_mut(argument, k)?;
    copy_parts(&context, queue, dtype, (core.memory(), 0, core.layout()), (memory, offset, &packed))?;
    train.mark_set(k);
    Ok(())
}

/// Reads core k into a tensor: the reverse of [`write_core`].
///
/// # Errors
/// As [`write_core`]; [`Error::InvalidArgument`] for a core that has not been set.
pub fn read_core(
    argument: &str,
    queue: Option<&Stream>,
    train: &TensorTrain,
    k: i64,
    dims: impl Fn(usize) -> Vec<usize>,
    core: &mut Tensor,
) -> Result<()> {
    let k = core_number(train, k)?;
    let packed = expect_core(train, k, &dims(k), core)?;
    train.expect_core_set(argument, k)?;
    core.check_writable("core")?;
    let queue = stream::select(train.context(), queue)?;
    let ((memory, offset), layout) = (train.memory(k), core.layout().clone());
    let target = (core.memory_mut("core")?, 0, &layout);
    copy_parts(train.context(), queue, train.dtype(), (memory, offset, &packed), target)
}

/// Copies the cores of a train into another of the same shape and type.
///
/// # Errors
/// [`Error::InvalidArgument`] for another shape, type or context, for cores that have not been set, for a destination
/// that was borrowed for reading, and for one with two cores that share memory, unless the source is a uniform train;
/// out of memory.
pub fn copy(
    context: &Context,
    queue: Option<&Stream>,
    source: &TensorTrain,
    destination: &mut TensorTrain,
) -> Result<()> {
    source.expect_context("source", context)?;
    destination.expect_context("destination", context)?;
    source.expect_set("source")?;
    destination.expect_dtype("destination", source.dtype())?;
    let (from, to) = (source.shape(), destination.shape());
    to.expect_modes("destination", from.modes(), "source")?;
    if let Some(k) = (0..from.ranks().len()).find(|&k| from.ranks()[k] != to.ranks()[k]) {
        let problem = format!("bond {k} has the rank {}, that of source has {}", to.ranks()[k], from.ranks()[k]);
        return Err(Error::invalid("destination", problem));
    }
    if !source.is_uniform() {
        destination.expect_apart("destination")?;
    }
    let queue = stream::select(context, queue)?;
    for k in 0..source.shape().len() {
        let packed = Layout::packed(&source.shape().core(k), Order::ColumnMajor, source.dtype())?;
        let (memory, offset) = source.memory(k);
        let (target, place) = destination.memory_mut("destination", k)?;
        copy_parts(context, queue, source.dtype(), (memory, offset, &packed), (target, place, &packed))?;
        destination.mark_set(k);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::BackendChoice;
    use crate::context::Options;
    use crate::scalar::DType;
    use crate::tensor::Location;
    use crate::tensor::train::Shape;

    fn train(context: &Arc<Context>, modes: &[usize], ranks: &[usize]) -> TensorTrain {
        TensorTrain::create(context, DType::F64, Location::Host, Shape::new("x", modes, ranks).unwrap()).unwrap()
    }

    #[test]
    fn cores_go_in_and_come_out_in_either_order() {
        let options = Options { backend: BackendChoice::Cpu, threads: 1, ..Options::default() };
        let context = Context::new(options).unwrap();
        let mut x = train(&context, &[2, 3], &[1, 4, 1]);
        let dims = |k: usize| if k == 0 { vec![1, 2, 4] } else { vec![4, 3, 1] };
        let create = |order, dims: &[usize]| Tensor::create(&context, DType::F64, Location::Host, order, dims).unwrap();
        let mut given = create(Order::RowMajor, &[4, 3, 1]);
        let mut out = create(Order::ColumnMajor, &[4, 3, 1]);
        given.view_mut::<f64>("t").unwrap().data().iter_mut().enumerate().for_each(|(i, v)| *v = i as f64);
        let e = read_core("x", None, &x, 1, dims, &mut out).unwrap_err();
        assert_eq!(e.to_string(), "x: core 1 has not been set");
        write_core("x", None, &mut x, 1, dims, &given).unwrap();
        read_core("x", None, &x, 1, dims, &mut out).unwrap();
        let view = out.view::<f64>("t").unwrap();
        assert_eq!(view.get(&[2, 1, 0]), 7.0, "row 2, column 1 of rows of three");
        assert_eq!(view.data()[6], 7.0, "and columns of four");
        assert_eq!(x.expect_set("x").unwrap_err().to_string(), "x: core 0 has not been set");
        for (k, text) in [(-1, "k: is -1, outside 0 to 1"), (2, "k: is 2, outside 0 to 1")] {
            assert_eq!(write_core("x", None, &mut x, k, dims, &given).unwrap_err().to_string(), text);
        }
        let e = write_core("x", None, &mut x, 0, dims, &given).unwrap_err().to_string();
        assert_eq!(e, "core: has dimensions [4, 3, 1], [1, 2, 4] are needed");
        write_core("x", None, &mut x, 0, dims, &create(Order::ColumnMajor, &[1, 2, 4])).unwrap();
        let mut y = train(&context, &[2, 3], &[1, 4, 1]);
        copy(&context, None, &x, &mut y).unwrap();
        assert_eq!(y.cores::<f64>("y").unwrap().core(1), x.cores::<f64>("x").unwrap().core(1));
        let e = copy(&context, None, &x, &mut train(&context, &[2, 3], &[1, 5, 1])).unwrap_err().to_string();
        assert_eq!(e, "destination: bond 1 has the rank 5, that of source has 4");
    }
}
