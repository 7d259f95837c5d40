//! Host tensors as sources and sinks, copied by the context's threads.

use super::array::{ArrayInfo, Block};
use super::number::Number;
use super::sink::Sink;
use super::source::Source;
use crate::backend::cpu::Pool;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::error::Result;
use crate::shape::Order;
use crate::tensor::{Tensor, copy_strided};

fn info(argument: &str, tensor: &Tensor) -> Result<ArrayInfo> {
    ArrayInfo::new(Number::of(argument, tensor.dtype())?, tensor.dims())
}

/// A tensor in host memory, with any strides.
pub struct TensorSource<'a> {
    info: ArrayInfo,
    data: &'a [u8],
    strides: &'a [usize],
    pool: &'a Pool,
}

impl<'a> TensorSource<'a> {
    /// The elements of `tensor`, copied on `pool`.
    ///
    /// # Errors
    /// [`Error::NotSupported`](crate::error::Error::NotSupported) for device memory and for complex or 64-bit integer
    /// elements.
    pub fn new(argument: &str, tensor: &'a Tensor, pool: &'a Pool) -> Result<Self> {
        let data = tensor.memory().host(argument)?.as_slice()?;
        Ok(Self { info: info(argument, tensor)?, data, strides: tensor.layout().strides(), pool })
    }
}

/// Bytes from one index to the next along every axis of a packed block.
fn packed(count: &[usize]) -> Vec<usize> {
    let mut step = 1;
    count
        .iter()
        .map(|c| {
            let stride = step;
            step *= c;
            stride
        })
        .collect()
}

impl Source for TensorSource<'_> {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        let (first, count) = (block.first(), block.count());
        let Some((items, inner)) = count.split_last() else { return Ok(()) };
        let bytes = inner.iter().product::<usize>() * size;
        if bytes == 0 || *items == 0 {
            return Ok(());
        }
        let axis = inner.len();
        let begin: usize = first.iter().zip(self.strides).map(|(f, s)| f * s).sum();
        let (to, from) = (packed(inner), &self.strides[..axis]);
        let (data, step) = (self.data, self.strides[axis]);
        self.pool.run(|| {
            out[..items * bytes].par_chunks_mut(bytes).enumerate().for_each(|(k, out)| {
                copy_strided(size, &data[(begin + k * step) * size..], from, out, &to, inner);
            });
        });
        Ok(())
    }
}

/// A tensor in host memory, with any strides, to write to.
pub struct TensorSink<'a> {
    info: ArrayInfo,
    data: &'a mut [u8],
    strides: Vec<usize>,
    is_packed: bool,
    pool: &'a Pool,
}

impl<'a> TensorSink<'a> {
    /// The elements of `tensor`, copied on `pool`.
    ///
    /// # Errors
    /// As for [`TensorSource::new`]; [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) for a tensor that
    /// may not be written to.
    pub fn new(argument: &str, tensor: &'a mut Tensor, pool: &'a Pool) -> Result<Self> {
        let info = info(argument, tensor)?;
        let strides = tensor.layout().strides().to_vec();
        let is_packed = tensor.layout().is_packed(Order::ColumnMajor);
        let data = tensor.memory_mut(argument)?.host_mut(argument)?.as_mut_slice()?;
        Ok(Self { info, data, strides, is_packed, pool })
    }
}

/// Bytes that one thread copies at a time.
const PIECE: usize = 1 << 20;

impl Sink for TensorSink<'_> {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        let (first, count) = (block.first(), block.count());
        let bytes = block.elements() * size;
        let begin = first.iter().zip(&self.strides).map(|(f, s)| f * s).sum::<usize>() * size;
        // Whole slices of a packed array are contiguous in memory.
        let axis = count.len() - 1;
        let is_whole = self.is_packed && count[..axis] == self.info.dims[..axis];
        if is_whole {
            let target = &mut self.data[begin..begin + bytes];
            self.pool.run(|| {
                let parts = target.par_chunks_mut(PIECE).zip(data[..bytes].par_chunks(PIECE));
                parts.for_each(|(to, from)| to.copy_from_slice(from));
            });
        } else if bytes > 0 {
            let from = packed(count);
            let target = &mut self.data[begin..];
            self.pool.run(|| copy_strided(size, data, &from, target, &self.strides, count));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
