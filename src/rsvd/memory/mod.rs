//! Host memory of a run on the CPU, computed before it starts.
//!
//! A backend that counts bytes runs the methods with sizes instead of matrices. Where a decision depends on the data, the
//! count is repeated for the outcomes that differ in memory. No run needs more than the largest count. Blocks and panels
//! of the data are made small enough for the limit.
//!
//! | file | subject |
//! |---|---|
//! | `fit` | plans whose blocks fit into the available memory |
//! | `ledger` | the backend that counts |
//! | `planned` | the bytes of a planned run, and the blocks with which it fits |
//! | `rehearse` | the calls, run on this backend |
//! | `shape` | sizes and decisions that determine the memory |
//!
//! `planned.rs` and `rehearse.rs` import each other: the count rehearses the calls, which take the planned run.

mod fit;
mod ledger;
mod planned;
mod rehearse;
mod shape;

pub use planned::{Fit, Planned};
