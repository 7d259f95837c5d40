//! Numbers brought to the order of one by powers of two that the device counts: nothing waits for them.

use crate::backend::gpu::kernels::tt::{self, STATE_BYTES};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::shape::product;

/// Exponents of the powers of two that were taken out, counted side by side.
pub(super) struct Exponents<'a> {
    gpu: &'a Gpu,
    stream: &'a GpuStream,
    states: DeviceMemory,
    count: usize,
}

impl<'a> Exponents<'a> {
    /// `count` exponents, all 0.
    pub(super) fn new(gpu: &'a Gpu, stream: &'a GpuStream, count: usize) -> Result<Self> {
        let bytes = product("exponents", count, STATE_BYTES)?;
        Ok(Self { gpu, stream, states: gpu.allocate_on(stream, "exponents of a contraction", bytes)?, count })
    }

    /// Divides numbers by the power of two that brings the largest part of one to [0.5, 1), and adds its exponent to the
    /// `index`-th. Numbers that are 0 or not finite stay as they are.
    pub(super) fn take<T: Scalar>(&self, numbers: Region<'_>, count: usize, index: usize) -> Result<()> {
        let state = self.states(index, 1)?;
        tt::measure::<T>(self.gpu, self.stream, numbers, count, state, false)?;
        tt::scale::<T>(self.gpu, self.stream, numbers, count, state)
    }

    /// The states of `count` exponents from `first` on.
    pub(super) fn states(&self, first: usize, count: usize) -> Result<Region<'_>> {
        self.states.region(first * STATE_BYTES, count * STATE_BYTES)
    }

    /// All exponents. Waits.
    pub(super) fn read(&self) -> Result<Vec<i64>> {
        tt::exponents(self.gpu, self.stream, &self.states, self.count)
    }
}
