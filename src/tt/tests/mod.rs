//! Contractions against plain statements of them.

mod batch;
mod closed_forms;
mod edges;
mod fuzz;
mod golden;
mod norms;
mod rings;
mod scaling;
mod support;
mod values;
