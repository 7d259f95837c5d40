//! Operators between trains: <y|H|x>, Rayleigh quotients, environments for sweeps, local expectations and correlations, and
//! the TT-matrices of spin chains (Schollwoeck, Ann. Phys. 326, 96, 2011).
//!
//! | file | subject |
//! |---|---|
//! | [`trains`] | bra, operator and ket of a contraction |
//! | [`value`] | <y|H|x> and <x|H|x> / <x|x> |
//! | [`environments`] | environments stored for sweeps |
//! | [`local`], `share` | expectation values at one site, correlations of two; block sizes for them |
//! | [`site_matrix`] | matrices of operators at one site |
//! | [`terms`], `automaton`, `cover` | operators from sums of local terms |
//! | [`models`], [`spin`] | spin chains; their matrices |
//! | `chain`, `plan` | steps along the sites; the cut, the bond where both ends meet, block sizes |
//! | [`slots`], [`gather`] | values of the operator's bonds that are computed; the operator's part of a step |
//! | [`side`] | the ends of a chain of sites |
//! | `stored`, `gauge` | steps of stored environments; powers of two for the values of their bonds |
//! | `exact`, `wide` | environments with an exponent for each entry, where gauges do not suffice |
//! | `exact_values` | expectation values from environments with an exponent for each entry |
//! | `layers` | operators at a site beyond the range of a type, as sums of operators within it |
//! | `zero_columns` | zero columns of an operator, which keep entries of the ket out of all sums |
//! | [`ops`], [`cpu`], `kernels` | trait that each backend implements; implementation for the CPU |
//! | `erased` | its operations without element type and backend, so that contractions are compiled once |
//! | [`gpu`], [`device`] | implementation for a GPU; choice between the two by the location of the trains |
//! | [`enqueued`] | the value on a GPU without waiting |
//! | [`wider`] | contractions that lost digits below the range of their type, repeated on the host |
//! | [`rings`] | products of rings in which entries that contribute may underflow |

mod automaton;
mod chain;
mod cover;
pub mod cpu;
pub mod device;
pub mod enqueued;
pub mod environments;
mod erased;
mod exact;
mod exact_values;
pub mod gather;
mod gauge;
pub mod gpu;
mod kernels;
mod layers;
pub mod local;
pub mod models;
pub mod ops;
mod plan;
pub mod rings;
mod share;
pub mod side;
pub mod site_matrix;
pub mod slots;
pub mod spin;
mod stored;
pub mod terms;
pub mod trains;
pub mod value;
mod wide;
pub mod wider;
mod zero_columns;

#[cfg(test)]
mod tests;

pub use environments::Environments;
pub use local::{Locals, correlation, expect_local};
pub use models::{heisenberg, identity, ising};
pub use side::Side;
pub use terms::Terms;
pub use trains::Trains;
pub use value::{Rayleigh, plan_rayleigh, plan_sandwich, rayleigh, sandwich};
