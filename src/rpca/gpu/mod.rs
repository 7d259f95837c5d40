//! [`RpcaOps`](super::ops::RpcaOps) on GPUs.
//!
//! The rows are divided among the devices. Each device processes its own rows, on a thread of its own. Small matrices are in
//! the memory of the first device. The factors of a pass are copied from there to the others. The sums of the others are
//! copied back and added in the order of the devices. These copies go through the host, and are small compared with the
//! rows.
//!
//! | file | subject |
//! |---|---|
//! | `ops` | the operations that the method asks for, on all devices |
//! | `member`, `team` | one device and its rows; the work of all devices at the same time |
//! | `products`, `factors` | products of panels, and the matrices that they are multiplied by |
//! | `held`, `store`, `target` | the matrix and the mask; X and Y; the caller's results |

mod factors;
mod held;
mod member;
mod ops;
mod products;
mod store;
mod target;
mod team;

pub use ops::{GpuOps, plan};
