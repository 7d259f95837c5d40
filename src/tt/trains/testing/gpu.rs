//! A context on a GPU.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{Context, Options};

/// A context on a GPU whose free memory is filled with NaN, which shows if something is read before it is written.
pub fn gpu(device: i32) -> Arc<Context> {
    let backend = BackendChoice::Cuda;
    let context = Context::new(Options { backend, device, threads: 2, ..Options::default() }).unwrap();
    let gpu = context.gpu("test").unwrap();
    let stream = gpu.default_stream();
    let mut memory = gpu.allocate_on(stream, "poison", 256 << 20).unwrap();
    gpu.fill(stream, &mut memory, 0, 256 << 20, 0xff).unwrap();
    context
}
