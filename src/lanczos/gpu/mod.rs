//! Krylov spaces in device memory.
//!
//! The steps of a cycle are enqueued one after another. Coefficients and norms stay on the device, where later kernels
//! read them, and are copied to the host once, at the end. Only then does the host see a step whose remainder is
//! rounding error; results of later steps are dropped.
//!
//! | file | subject |
//! |---|---|
//! | `space` | the memory of a space |
//! | `ops`, `cycles` | its operations and loops |
//! | `operator` | operators on vectors in device memory |
//! | `host` | operators that multiply on the host |
//! | `order` | columns in the operator's own order |
//! | `part` | the rows of one context, where several share a matrix |
//! | `blocks` | the steps of a cycle of blocks |
//! | `sides` | left and right singular vectors |
//! | `passing` | the memory of single operations |
//! | `passes` | passes over a space, and their records |
//! | `steps` | the steps of a cycle |

mod blocks;
mod cycles;
mod host;
mod operator;
mod ops;
mod order;
mod part;
mod passes;
mod passing;
mod sides;
mod space;
mod steps;
#[cfg(test)]
mod tests;

pub(super) use operator::DeviceOperator;
pub(super) use part::GpuPart;
pub use passing::Passing;
pub use space::GpuKrylov;
pub(super) use space::Krylov;
