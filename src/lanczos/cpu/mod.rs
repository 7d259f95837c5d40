//! Krylov spaces in host memory.
//!
//! Sums over rows are split into pieces that depend on the number of rows only, and are added in order. Results do not
//! depend on the number of threads.
//!
//! | file | subject |
//! |---|---|
//! | `space` | the memory of a space |
//! | `ops` | its operations |
//! | `sums`, `panel` | loops over rows; products of a piece of rows |
//! | `part` | the rows of one part, where several share a matrix |
//! | `sides` | left and right singular vectors |

mod ops;
mod panel;
mod part;
mod sides;
mod space;
mod sums;

pub(super) use part::CpuPart;
pub use space::CpuKrylov;
