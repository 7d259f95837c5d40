//! The task of a plan.

use super::super::algorithm::{Phase, Task};
use super::super::omega::sketch_of;
use super::super::options::{Method, Options};
use super::super::plan::Plan;

/// The task of a plan with a fixed rank, without vectors and without phases.
pub(in crate::rsvd) fn task_of(options: &Options, plan: &Plan) -> Task {
    // A merge draws as many columns in each block as it keeps.
    let narrowest = if plan.method == Method::Merge { plan.width.min(plan.merge_width) } else { plan.width };
    Task {
        method: plan.method,
        rank: plan.rank,
        columns: plan.width,
        iterations: plan.iterations,
        merge_width: plan.merge_width,
        one_pass: options.one_pass,
        block_columns: options.block_columns,
        tolerance: 0.0,
        sketch: sketch_of(options).of_columns(0, narrowest),
        orthonormalization: options.orthonormalization,
        precision: options.iteration_precision,
        phase: Phase::Free,
        left: false,
        right: false,
        error: options.error,
        probes: options.probes,
    }
}
