//! Eigenpairs of a sparse matrix whose rows are partitioned over several contexts: GPUs of one host.
//!
//! Each context has some rows of the matrix, and the same rows of every vector. Before a product, each context sends
//! the halo to each other context: those entries of its rows that the other one gathers. Sums over rows are added on
//! the host in the order of the parts. The same contexts therefore give the same bits; other contexts round
//! differently.
//!
//! | file | subject |
//! |---|---|
//! | `eigenpairs` | eigenpairs computed by all contexts |
//! | `expect` | matrices and operators whose rows can be shared |
//! | `memory`, `shares` | memory of a run; the partition in figures |
//! | `partition` | which rows each context has, and which entries are sent |
//! | `part` | the operations of one context on its rows |
//! | `krylov` | a space over the rows of all contexts |

mod eigenpairs;
mod expect;
mod krylov;
mod memory;
mod part;
mod partition;
mod shares;
#[cfg(test)]
pub(super) mod tests;

pub use eigenpairs::eigenpairs_over;
pub use expect::expect_kind;
pub(super) use expect::expect_rows;
pub(super) use memory::expect_bytes;
pub(super) use part::{Part, Reading, Sums};
pub use partition::{Block, Partition, Transfer};
pub use shares::shares;
