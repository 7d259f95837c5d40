//! Bases of blocks of low rank, which random directions complete.

use super::support::{Dense, PACKED, cpu, factor, gpu, matrix};
use crate::context::Context;
use crate::rsvd::Options;
use crate::rsvd::options::{Centering, Method};
use std::sync::Arc;

const ROWS: usize = 23;
const COLUMNS: usize = 13;

/// Centred, the columns have norms of 1e292, 1e150, 1e30 and less. Beside the first, the others are below roundoff.
fn graded() -> Dense<f64> {
    let noise = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5;
    let near = |x: f64, i: usize| if noise(i, 2) > 0.0 { x } else { x.next_down() };
    let entry = |i: usize, j: usize| match j {
        0 => near(1e20, i),
        1 => 1.0 / 3.0,
        2 | 10 => 0.0,
        3 if noise(i, 22) > 0.0 => 1e150,
        5 if i == 13 => 1e30,
        7 | 9 => near(1e30, i + j),
        8 => near(1.7e308, i),
        11 => near(9.97e36, i + 1),
        12 => 1e4 + noise(i, 12),
        _ => noise(i, j),
    };
    let data = (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect();
    Dense { rows: ROWS, columns: COLUMNS, data }
}

/// With these seeds, directions of a factor lay in random directions that an earlier basis had drawn and the next drew
/// again.
fn check(context: &Arc<Context>) {
    let a = matrix(context, &graded(), PACKED);
    for seed in [0, 41, 83] {
        let options = Options {
            rank: 11,
            seed,
            center: Centering::Columns,
            method: Method::Merge,
            oversampling: Some(20),
            power_iterations: Some(0),
            ..Options::default()
        };
        let found = factor::<f64>(context, &a, options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(found.s[0] > 1e291 && found.s[0] < 1e294, "seed {seed}: {:?}", found.s);
    }
}

#[test]
fn merges_draw_other_directions_for_each_basis() {
    check(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn merges_draw_other_directions_for_each_basis_on_a_gpu() {
    check(&gpu());
}
