//! Workspace of products on the device.

use std::sync::Mutex;

use crate::backend::gpu::DeviceMemory;

/// Workspace of a plan's products. Products on one stream can share it.
pub struct Space {
    pub(super) partials: DeviceMemory,
    /// Counters of arrived blocks, 0 between products.
    pub(super) arrivals: DeviceMemory,
    pub(super) products: DeviceMemory,
    /// Locked while a product's launches are enqueued, so that another thread's launches do not come between them.
    pub(super) launches: Mutex<()>,
}
