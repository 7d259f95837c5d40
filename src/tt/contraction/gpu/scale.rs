//! Scaling to magnitude 1 by powers of two, which the device counts. The host does not wait for them.

use super::pieces::Piece;
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::kernels::tt::{self, STATE_BYTES};
use crate::backend::gpu::{Gpu, GpuStream, Region, View};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::product;

/// Exponents of the powers of two by which numbers of one type were divided.
pub(super) struct Exponents<'a> {
    dtype: DType,
    gpu: &'a Gpu,
    stream: &'a GpuStream,
    states: Piece<'a>,
    count: usize,
}

impl<'a> Exponents<'a> {
    /// `count` exponents in device memory, all 0.
    pub(super) fn new(dtype: DType, gpu: &'a Gpu, stream: &'a GpuStream, count: usize) -> Result<Self> {
        let states = gpu.allocate_on(stream, "exponents of a contraction", Self::bytes(count)?)?;
        Ok(Self { dtype, gpu, stream, states: Piece::Own(states), count })
    }

    /// The same in the caller's memory of [`Exponents::bytes`] bytes.
    pub(super) fn in_memory(
        dtype: DType,
        gpu: &'a Gpu,
        stream: &'a GpuStream,
        count: usize,
        states: Region<'a>,
    ) -> Result<Self> {
        let states = states.part(0, Self::bytes(count)?)?;
        gpu.clear(stream, states)?;
        Ok(Self { dtype, gpu, stream, states: Piece::Borrowed(states), count })
    }

    /// Bytes of `count` exponents on the device.
    pub(super) fn bytes(count: usize) -> Result<usize> {
        product("exponents", count, STATE_BYTES)
    }

    /// Divides `count` numbers by the power of two that brings the largest part to [0.5, 1), and adds the exponent to
    /// exponent `index`. If the largest part is 0 or not finite, the numbers are unchanged.
    pub(super) fn take(&self, numbers: Region<'_>, count: usize, index: usize) -> Result<()> {
        let state = self.states(index, 1)?;
        tt::measure(self.dtype, self.gpu, self.stream, numbers, count, state, false)?;
        tt::scale(self.dtype, self.gpu, self.stream, numbers, count, state)
    }

    /// The device memory of `count` exponents from `first` on.
    pub(super) fn states(&self, first: usize, count: usize) -> Result<Region<'_>> {
        self.states.whole().part(first * STATE_BYTES, count * STATE_BYTES)
    }

    /// Copies exponent `from` to exponent `to`.
    pub(super) fn copy(&self, from: usize, to: usize) -> Result<()> {
        let words = |index| Ok::<_, Error>(View::packed(self.states(index, 1)?, STATE_BYTES / 8, 1));
        dense::place(DType::F64, self.gpu, self.stream, words(from)?, words(to)?, false, false)
    }

    /// All exponents, copied to the host. Waits for the stream.
    pub(super) fn read(&self) -> Result<Vec<i64>> {
        match &self.states {
            Piece::Own(states) => tt::exponents(self.gpu, self.stream, states, self.count),
            Piece::Borrowed(_) => Err(Error::Internal("exponents that nobody waits for are read".into())),
        }
    }
}
