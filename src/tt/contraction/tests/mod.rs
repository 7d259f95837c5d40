//! Contractions against their definitions, in plain loops.

mod algebra;
pub(super) mod balance;
mod batch;
mod checksums;
mod closed_forms;
mod edges;
pub(super) mod examination;
pub(super) mod far;
mod fuzz;
mod gauges;
pub(super) mod golden;
pub(super) mod lost;
pub(super) mod nonfinite;
pub(super) mod norms;
mod operators;
mod plans;
pub(super) mod pruned;
pub(super) mod ring_underflow;
mod rings;
mod scaling;
pub(super) mod spans;
pub(super) mod support;
mod values;
pub(super) mod workspace;
