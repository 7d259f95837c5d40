//! Dense tensors of any rank, batches of packed symmetric tensors, and tensor trains.

mod copy;
mod host;
mod location;
mod packed;
pub mod symmetric;
#[allow(clippy::module_inception, reason = "the file has the type that the folder is named after")]
mod tensor;
#[cfg(test)]
mod tests;
pub mod train;
mod view;

pub use copy::copy;
pub use copy::{copy_memory, copy_parts, copy_strided};
pub use host::{HostInput, HostOutput};
pub use location::Location;
pub(crate) use location::allocate;
pub use packed::{MAX_ORDER, MAX_PACKED, Symmetric};
pub use tensor::Tensor;
pub use view::{View, ViewMut};
