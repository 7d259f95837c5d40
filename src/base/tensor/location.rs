//! Kinds of memory, and its allocation.

use std::sync::Arc;

use crate::backend::Backend;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::Result;

/// Kind of memory. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Location {
    /// Host memory, of the heap or borrowed.
    Host = 0,
    /// Page-locked host memory; ordinary host memory on a CPU context.
    PinnedHost = 2,
    /// Memory of the context's GPU.
    Device = 1,
}

/// Allocates zeroed memory of the given kind.
pub(crate) fn allocate(context: &Arc<Context>, what: &'static str, location: Location, bytes: usize) -> Result<Memory> {
    match (location, context.backend()) {
        (Location::Host, _) | (Location::PinnedHost, Backend::Cpu) => {
            Ok(Memory::Host(HostMemory::allocate(what, bytes, context.host_budget())?))
        }
        (Location::PinnedHost, Backend::Gpu(gpu)) => {
            let charge = context.host_budget().charge_host(what, bytes)?;
            Ok(Memory::Host(HostMemory::pinned(gpu.allocate_pinned(what, bytes)?, charge)))
        }
        (Location::Device, _) => Ok(Memory::Device(context.gpu("location")?.allocate(what, bytes)?)),
    }
}
