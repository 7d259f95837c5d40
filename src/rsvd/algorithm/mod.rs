//! The methods, written once for every backend that offers [`RsvdOps`](super::ops::RsvdOps). The problem is m-by-n with
//! its rows cut; W stands for n-by-l matrices, P for m-by-l ones.
//!
//! | file | subject |
//! |---|---|
//! | `decompose` | the choice of the method |
//! | `task` | the problem, its factors and figures |
//! | [`run`] | steps that the methods share: start, orthonormal bases, checkpoints |
//! | `matrices` | products, copies and checks of matrices |
//! | `squares` | data whose squares leave the range of the type, or whose digits are lost |
//! | `rescale` | the unit of such data |
//! | [`finish`] | from a basis to the factors |
//! | `power`, `range`, `fused`, `gram`, `blocks`, `krylov`, `once`, `direct` | the methods |
//! | `adaptive` | the rank for a tolerance |
//! | `symmetric`, [`find`] | Hermitian matrices; bases without factors |
//! | [`estimate`] | errors of factors |

mod adaptive;
mod blocks;
mod decompose;
mod direct;
pub mod estimate;
pub mod find;
pub mod finish;
mod fused;
mod gram;
mod krylov;
mod matrices;
mod once;
mod power;
mod range;
mod rescale;
pub mod run;
mod squares;
mod symmetric;
mod task;

pub use super::passes::passes;
pub use adaptive::rehearse as rehearse_adaptive;
pub use decompose::decompose;
pub use run::Run;
pub use symmetric::symmetric;
pub use task::{ErrorFigures, Factors, Outcome, Phase, Task};
