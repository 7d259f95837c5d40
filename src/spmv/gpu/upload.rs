//! Copies to the device of numbers whose type is known at run time.

use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::backend::memory::HostMemory;
use crate::error::Result;
use crate::scalar::{DType, with_scalar};

/// A copy of the first `count` numbers of `memory`, of type `dtype`.
pub(super) fn upload_first(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    what: &'static str,
    memory: &HostMemory,
    count: usize,
) -> Result<DeviceMemory> {
    with_scalar!(dtype, "a", T => gpu.upload_numbers(stream, what, &memory.as_slice::<T>()?[..count]))
}
