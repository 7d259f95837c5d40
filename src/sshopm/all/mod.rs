//! All real eigenpairs of a tensor: Newton's method from many starts, with a test that detects incomplete sets.
//!
//! Every start takes orthogonal Newton steps (Jaffe, Weiss and Nadler, SIAM J. Matrix Anal. Appl. 39 (2018) 1071),
//! which converge quadratically to any nondegenerate pair, saddles included. Morse theory on the sphere relates the numbers
//! of pairs with each number k of negative eigenvalues of the projected Hessian (`topology`). One relation is a sum that is
//! known beforehand: with one representative of each pair, the sum of (-1)^k is 1 for odd n and, for even order, 0 for even
//! n. A set that violates a relation is incomplete, and more starts are drawn. A set that fulfils them may still be
//! incomplete, so the number of starts is doubled until a doubling finds no new pair and every pair was reached by at least
//! four starts. The first starts are the maxima and minima that [`super::solve`]'s iteration finds, so that none of them is
//! missed because of a small region of attraction.
//!
//! A continuum of eigenvectors (for example circles of an axisymmetric form) has a singular Hessian. Starts still reach it,
//! each at another point, and all points with one lambda count as one pair.
//!
//! | file | subject |
//! |---|---|
//! | `solve` | the call |
//! | `search`, `rounds` | the settings of a search; rounds of starts for one tensor |
//! | `set`, `topology` | the set of pairs found; the relations that a complete set fulfils |
//! | `end_check`, `approach` | checks of a start's end; Newton steps near a continuum |
//! | `matrix` | order 2 |

mod approach;
mod end_check;
mod matrix;
mod rounds;
mod search;
mod set;
mod solve;
mod topology;

pub use solve::{NO_MORSE_INFORMATION, all};
