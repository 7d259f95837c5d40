//! Contractions against their definitions, in plain loops.

pub(super) mod balance;
mod batch;
pub(super) mod checksums;
mod closed_forms;
mod edges;
pub(super) mod examination;
pub(super) mod far;
mod fuzz;
mod gauges;
pub(super) mod pruned;

pub(super) mod golden;
pub(super) mod lost;
pub(super) mod nonfinite;
pub(super) mod norms;
mod plans;
pub(super) mod ring_underflow;
mod rings;
mod scaling;
pub(super) mod spans;
pub(super) mod support;
mod values;
pub(super) mod workspace;
