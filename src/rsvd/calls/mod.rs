//! The calls of a session, written for every backend and element type.

mod decompose;
mod factors;
mod find_range;
mod given;
mod predict;
mod run;
mod symmetric;
mod task;

pub use decompose::Decompose;
pub(in crate::rsvd) use decompose::decompose_task;
pub(in crate::rsvd) use factors::error_of;
pub use find_range::FindRange;
pub use given::{Errors, Residuals};
pub use predict::predict;
pub use run::{Call, run};
pub use symmetric::Symmetric;
pub(in crate::rsvd) use symmetric::symmetric_task;
pub(in crate::rsvd) use task::task_of;
