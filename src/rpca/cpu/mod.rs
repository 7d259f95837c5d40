//! [`RpcaOps`](super::ops::RpcaOps) on the CPU.
//!
//! X and Y are stored in blocks of rows, each packed and column-major. A block and its results thus stay in a core's cache
//! from the first product to the last. Threads process groups of blocks. The sums of the groups are added in their order,
//! and groups depend on sizes alone, so results do not depend on the number of threads.
//!
//! | file | subject |
//! |---|---|
//! | `ops` | the operations that the method asks for |
//! | `cut` | the cut into panels, groups and blocks |
//! | `block`, `elementwise` | a block's products, and its elementwise steps |
//! | `store` | X and Y in memory or in a file |

pub(super) mod block;
pub(super) mod cut;
pub mod elementwise;
mod ops;
mod store;

pub use ops::CpuOps;
pub(super) use ops::weights_of;
