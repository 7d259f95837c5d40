mod calls;
mod chains;
mod edges;
pub(in crate::tt) mod exact;
mod local;
mod operators;
mod random;
pub(in crate::tt) mod support;
pub(in crate::tt) mod sweeps;
