//! Inner products of trains with small ranks. A vector kernel computes whole sweeps with the environment in the
//! first-level cache. It does not pack operands, allocate memory or call a library.
//!
//! | module | subject |
//! |---|---|
//! | `plan` | the plan of a chain, and its run for all boundary pairs |
//! | `sweep` | sweeps over the sites, right to left |
//! | `layout` | the cheaper order of a site's products, and the workspace |
//! | `range` | scaling by powers of two |
//! | `workspaces` | distribution of blocks of boundary pairs over the threads of a context |
//!
//! The products themselves are [`crate::backend::cpu::small`].

mod layout;
mod plan;
mod range;
mod sweep;
#[cfg(test)]
mod tests;
pub(super) mod workspaces;

pub use plan::{Chain, TOGETHER};
