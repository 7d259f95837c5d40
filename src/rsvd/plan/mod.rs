//! The plan of a run: type, orientation and sizes of a problem, and the method. `memory/fit.rs` makes it fit into the
//! available memory.

mod method;
#[allow(clippy::module_inception, reason = "the file has the type that the folder is named after")]
mod plan;
mod request;
mod sizes;

pub use plan::Plan;
pub use request::{Goal, Request, Results, WantedFactors};
