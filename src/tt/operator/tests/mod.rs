mod chains;
mod edges;
mod exact;
mod local;
mod operators;
mod random;
mod support;
mod sweeps;
