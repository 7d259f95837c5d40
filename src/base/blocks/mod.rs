//! Batches that need not fit the device. They are cut into chunks within the memory limits. Chunks are copied in, processed
//! and copied out on several streams, so that both directions of the link and the arithmetic run at the same time.
//!
//! Every array has its items along the last axis. An array on the device is used in place. An array in page-locked, packed
//! host memory is copied directly. Any other host array goes through page-locked buffers: the context's threads pack and
//! unpack them while the device works on other chunks.

pub mod array;
mod batch;
mod chunks;
#[cfg(test)]
mod device_tests;
mod failure;
mod field;
#[cfg(test)]
mod file_tests;
mod memory;
pub mod metaimage;
#[cfg(test)]
mod metaimage_tests;
pub mod npy;
pub mod number;
pub mod pipeline;
pub mod provisional;
mod read_ahead;
pub mod regular;
pub mod same_file;
pub mod sink;
pub mod source;
mod stream;
pub mod tensor;
#[cfg(test)]
mod tests;
pub mod tiff;

pub use batch::{Chunk, Field, Input, Plan};
pub use chunks::for_chunks;
