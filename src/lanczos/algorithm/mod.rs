//! The methods, for every backend.
//!
//! | file | subject |
//! |---|---|
//! | `pairs` | a whole call |
//! | `restart`, `partial` | thick-restart Lanczos, with full and with partial orthogonality |
//! | `block` | the same with blocks |
//! | `complete` | the test that no copy of a wanted eigenvalue is missing |
//! | `verify` | the search and the check for copies of multiple eigenvalues |
//! | `transform`, `filter` | inverses and polynomials that replace the operator; solves with polynomials |
//! | `polynomials` | the choice of these polynomials |
//! | `bidiagonal`, `triplets` | Golub-Kahan-Lanczos for singular triplets; triplets of a pair of spaces |
//! | `jacobi` | singular values of small matrices, each accurate to its own size |
//! | `symmetry`, `scale` | tests of operators without entries: symmetry, and norms whose squares underflow |
//! | `given` | tests of a caller's known vectors and solve, after a run that failed |
//! | `probes`, `small`, `finite` | numbers of random vectors; the type of dense solvers; refusal of numbers that are not finite |
//! | `cullum`, `plain` | the plain recurrence with its test; eigenpairs from it |

pub mod bidiagonal;
pub mod block;
mod complete;
pub mod cullum;
pub mod filter;
mod finite;
mod given;
pub mod jacobi;
pub mod pairs;
mod partial;
pub mod plain;
mod polynomials;
mod probes;
pub mod restart;
pub mod scale;
mod small;
pub mod symmetry;
pub mod transform;
pub mod triplets;
pub mod verify;

pub(super) use finite::finite;
pub use probes::PROBES;
pub use small::Small;
