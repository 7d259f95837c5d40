//! The CPU backend: a thread pool of the context's own and the widest vector unit the machine has.

pub mod flags;
mod isa;
mod loads;
pub mod parallel;
mod pool;
mod prepare;
pub mod simd;
pub mod small;
mod workspace;

pub use isa::Isa;
pub use loads::prefers_loads;
pub use pool::Pool;
pub use prepare::prepare_process;
