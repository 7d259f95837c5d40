//! Randomized singular value decomposition of matrices that need not fit the device, nor the host (Halko, Martinsson,
//! Tropp, SIAM Review 53, 2011).
//!
//! | file | subject |
//! |---|---|
//! | [`session`], [`calls`], [`sketch`], [`outputs`] | a configured decomposition, its calls, its sketch, its outputs |
//! | `given` | sketches and factors of the caller |
//! | `omega` | the random matrix that is drawn as a sketch |
//! | [`options`], `unused`, [`info`] | options of a run; those that a call has no use for; its report |
//! | [`plan`], [`choose`] | type, orientation and sizes of a problem; the cost model |
//! | [`algorithm`] | the methods, for every backend |
//! | [`basis`] | orthonormal bases of long matrices |
//! | [`ops`], [`data`], [`statistics`], [`traffic`] | the interface of a backend |
//! | `adjoint` | whether the functions of a caller's operator multiply by a matrix and its adjoint |
//! | `rounding` | whether products of a centred operator are more than rounding errors |
//! | [`erased`], `typed` | the same interface without its types; that for each of them |
//! | [`cpu`], [`gpu`] | the backends: the CPU; one GPU or several |
//! | [`memory`] | host memory of a run, computed before it starts |
//! | [`open`] | a caller's matrix as the backends read it |
//! | [`pca`] | principal components |
//! | [`restart`], [`identity`] | the state of a run in a file; the properties of the run that it belongs to |
//! | [`own_file`] | whether the file is still the run's |
//! | [`pace`], `passes` | the passes of a run and its progress; how many a method takes |

mod adjoint;
pub mod algorithm;
pub mod basis;
pub mod calls;
pub mod choose;
pub mod cpu;
pub mod data;
pub mod erased;
mod given;
pub mod gpu;
pub mod identity;
pub mod info;
pub mod memory;
mod omega;
pub mod open;
pub mod ops;
pub mod options;
pub mod outputs;
pub mod own_file;
pub mod pace;
mod passes;
pub mod pca;
pub mod plan;
pub mod restart;
mod rounding;
pub mod session;
pub mod sketch;
pub mod statistics;
pub mod traffic;
mod typed;
mod unused;

pub use info::Info;
pub use options::Options;
pub use session::Rsvd;

#[cfg(test)]
mod tests;
