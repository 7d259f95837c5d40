//! FDK on a GPU. Uploads, kernels and downloads overlap on three streams.
//!
//! Raw rows are uploaded to a few slots, then converted, weighted and filtered into images. A few dozen views at a time are
//! back-projected into a slab. If the memory holds the images of all views, they are kept for the later slabs, so that the
//! scan is uploaded and filtered once. One slab is downloaded while the next is computed.
//!
//! | file | subject |
//! |---|---|
//! | `ops`, `state` | the operations of a reconstruction, and their state |
//! | `buffers`, `sizes`, `tables` | device memory and its bytes; tables of the kernels |
//! | `intake`, `rows` | raw rows to the device; their conversion and filter |
//! | `project`, `outlet` | back-projection; finished slices to the host |
//! | `launch`, `clock` | choices that launches share; seconds of the stages |
//! | `pieces` | single steps on arrays of the caller |

mod buffers;
mod clock;
mod intake;
mod launch;
mod ops;
mod outlet;
pub(super) mod pieces;
mod project;
mod rows;
mod sizes;
mod state;
mod tables;

#[cfg(test)]
pub(super) use launch::shape_of;
pub(super) use ops::run_overlapped;
pub use state::GpuOps;
