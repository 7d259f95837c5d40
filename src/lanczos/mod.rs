//! Eigenvalues and eigenvectors of symmetric and Hermitian matrices that are known by their products.
//!
//! Thick-restart Lanczos with full reorthogonalization (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 2000), which is
//! Krylov-Schur for Hermitian matrices (Stewart, SIAM J. Matrix Anal. Appl. 23, 2001), with a check for copies of multiple
//! eigenvalues that a Krylov space of one vector cannot hold; and the plain three-term recurrence with the test of Cullum
//! and Willoughby (Lanczos Algorithms for Large Symmetric Eigenvalue Computations, 1985).
//!
//! | file | subject |
//! |---|---|
//! | [`options`], [`info`] | options of a solve, and the report of its result |
//! | [`ops`], [`cycles`], [`sides`] | the backend traits that the methods use: operations, and loops that a backend may replace |
//! | `phase` | the phase that vectors are returned with |
//! | [`algorithm`] | the methods, for every backend |
//! | [`operator`] | matrices, and operators that are never formed |
//! | [`tridiagonal`] | eigenvalues of tridiagonal matrices |
//! | [`solve`], [`singular`] | the calls, by number type |
//! | `singular_plan` | the plan of a search for singular triplets |
//! | [`memory`] | the memory of a run, for its plan and its start |
//! | [`session`], [`outputs`] | the calls on matrices and tensors of any type, with the checks of their sizes |
//! | [`shared`] | a matrix whose rows are partitioned over several contexts |
//! | [`cpu`], [`gpu`] | [`ops::LanczosOps`] on the threads of a context, and on its GPU |

pub mod algorithm;
pub mod cpu;
pub mod cycles;
pub mod gpu;
pub mod info;
pub mod memory;
pub mod operator;
pub mod ops;
pub mod options;
pub mod outputs;
mod phase;
pub mod session;
pub mod shared;
pub mod sides;
pub mod singular;
mod singular_plan;
pub mod solve;
#[cfg(test)]
mod tests;
pub mod tridiagonal;

pub use info::{Info, Pairs, Reason};
pub use options::{Filter, Method, Options, Orthogonalization, Verify, Which};
pub use shared::eigenpairs_over;
pub use singular::{SingularOperator, Triplets, singular_triplets};
pub use solve::eigenpairs;
