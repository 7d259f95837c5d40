//! The allocator of the shared library: the system's allocator, with a reserve for refused requests.
//!
//! Buffers whose size follows the data come from [`crate::alloc`], which returns an error when memory is refused. Other
//! requests (small vectors, texts, reference counts, jobs of the thread pool, allocations of dependencies) cannot report a
//! refusal: Rust's standard library aborts the process. They are served from the reserve, which is zero-initialized static
//! memory. Its addresses are reserved when the library is loaded, and its pages are first used when memory has run out. When
//! half of the reserve is in use, [`crate::alloc`] refuses, so that the call ends with an error before the rest is used.
//!
//! An allocator must not unwind, and it must answer a request at once. The guarantee is therefore finite: `SMALL` + `LARGE`
//! bytes in use at one time, and `MOST` bytes in one request.
//!
//! `memory.rs` and `blocks.rs` import each other: the blocks count the bytes that they hand out in the state of the whole
//! reserve.

mod allocator;
mod blocks;
mod memory;
mod probe;
mod system;
mod unused;
mod workspace;

pub use allocator::Reserving;
pub use probe::{PROBE, has_memory_for_thread, has_small_memory};
pub(super) use workspace::{Workspace, keep_spare, measure_workspace, refusals, unpark, workspace_bytes};
