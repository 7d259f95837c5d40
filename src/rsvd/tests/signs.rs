//! Sketches of signs, whose columns may depend on each other, and tolerances whose first estimates are too small by chance.

use std::sync::Arc;

use super::support::{Dense, PACKED, adjoint, cpu, factor, gpu, matrix, residual, with_spectrum};
use crate::context::Context;
use crate::dense::sketch::Distribution;
use crate::rsvd::Options;
use crate::rsvd::options::{ErrorKind, Method};
use crate::scalar::Scalar;

const ALL: [Distribution; 4] =
    [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher, Distribution::SparseSign];

fn ones(rows: usize, columns: usize) -> Dense<f64> {
    Dense { rows, columns, data: vec![1.0; rows * columns] }
}

/// Whether the run met its tolerance, by its report and in truth; the rank.
fn met<T: Scalar>(context: &Arc<Context>, a: &Dense<T>, options: &Options) -> (bool, i64, String) {
    let f = factor::<T>(context, &matrix(context, a, PACKED), options.clone()).unwrap();
    let error = residual(a, &f.u, &f.s, &f.v) / a.norm();
    // Ten probes of one direction that is left out are half of the truth with a probability of 1 %.
    assert!(!f.info.converged || error <= options.tolerance * 2.0, "{options:?}: {error} as a success");
    // NaN where it is too small to be measured.
    let reported = f.info.error_relative / options.tolerance;
    assert!(!f.info.converged || reported.is_nan() || reported <= 1.25, "{options:?}: {reported} reported");
    (f.info.converged, f.info.rank, format!("{error:e} of rank {}: {}", f.info.rank, f.info.reason))
}

fn tolerances(context: &Arc<Context>, seeds: u64) {
    for sketch in ALL {
        for seed in 0..seeds {
            let options = Options { tolerance: 0.01, power_iterations: Some(0), sketch, seed, ..Options::default() };
            for a in [ones(20, 1), ones(1, 20), ones(20, 2), ones(3, 40)] {
                let (is_met, rank, what) = met(context, &a, &options);
                assert!(is_met && rank == 1, "{sketch:?} {seed}: {what}");
            }
            let a = with_spectrum::<f64>(&cpu(), 20, 5, &[5.0, 4.0, 3.0, 2.0, 1.0], seed);
            for tolerance in [0.01, 1e-9] {
                let (is_met, rank, what) = met(context, &a, &Options { tolerance, ..options.clone() });
                assert!(is_met && rank == 5, "{sketch:?} {seed}: {what}");
            }
        }
    }
}

#[test]
fn sketches_of_signs_meet_tolerances() {
    tolerances(&cpu(), 10);
}

#[test]
#[ignore = "needs a GPU"]
fn sketches_of_signs_meet_tolerances_on_a_gpu() {
    tolerances(&gpu(), 6);
}

/// 100 x n with n values in the first rows: a sketch is as wide as the matrix, and may be singular.
fn spikes(values: &[f64]) -> Dense<f64> {
    let mut a = Dense { rows: 100, columns: values.len(), data: vec![0.0; 100 * values.len()] };
    for (j, x) in values.iter().enumerate() {
        a.data[j * 101] = *x;
    }
    a
}

fn whole_spaces(context: &Arc<Context>, seeds: u64) {
    for values in [&[10.0, 4.0, 3.0, 2.0, 1.0][..], &[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0], &[3.0], &[3.0, 1.0]] {
        for a in [spikes(values), adjoint(&spikes(values))] {
            for method in [Method::Range, Method::Fused, Method::OnePass, Method::Merge, Method::Brsvd] {
                for (sketch, seed) in ALL.iter().flat_map(|d| (0..seeds).map(move |seed| (*d, seed))) {
                    let has_iterations = !matches!(method, Method::OnePass);
                    let power_iterations = has_iterations.then_some(0);
                    let rank = values.len();
                    let options = Options { rank, method, sketch, seed, power_iterations, ..Options::default() };
                    let f = factor::<f64>(context, &matrix(context, &a, PACKED), options).unwrap();
                    for (x, y) in f.s.iter().zip(values) {
                        assert!((x - y).abs() < 1e-11, "{method:?} {sketch:?} {seed}: {:?}", f.s);
                    }
                    assert!(residual(&a, &f.u, &f.s, &f.v) < 1e-11);
                }
            }
        }
    }
}

#[test]
fn sketches_as_wide_as_the_matrix_miss_nothing() {
    whole_spaces(&cpu(), 6);
}

#[test]
#[ignore = "needs a GPU"]
fn sketches_as_wide_as_the_matrix_miss_nothing_on_a_gpu() {
    whole_spaces(&gpu(), 3);
}

/// The first values of matrices whose rank is that of the run, with a sketch of no more columns.
fn full_ranks<T: Scalar>(context: &Arc<Context>, seeds: u64) {
    let methods = [
        (Method::Range, 0),
        (Method::Fused, 0),
        (Method::OnePass, 0),
        (Method::Merge, 0),
        (Method::Brsvd, 0),
        (Method::Basic, 1),
        (Method::RowFused, 1),
        (Method::Brsvd, 1),
    ];
    for (m, n, rank) in [(35, 4, 4), (4, 35, 4), (30, 2, 2), (40, 9, 9), (40, 5, 4), (6, 5, 4), (5, 6, 4)] {
        let values: Vec<f64> = (0..rank).map(|j| (7 + rank - j) as f64).collect();
        for ((method, q), (sketch, seed)) in
            methods.iter().flat_map(|m| ALL.iter().flat_map(move |d| (0..seeds).map(move |seed| (*m, (*d, seed)))))
        {
            let a = with_spectrum::<T>(&cpu(), m, n, &values, seed);
            let power_iterations = (method != Method::OnePass).then_some(q);
            let oversampling = Some(0);
            let options = Options { rank, method, sketch, seed, power_iterations, oversampling, ..Options::default() };
            let f = factor::<T>(context, &matrix(context, &a, PACKED), options).unwrap();
            let limit = if size_of::<T::Part>() == 4 { 1e-2 } else { 1e-8 };
            for (x, y) in f.s.iter().zip(&values) {
                let what = format!("{method:?} {q} {sketch:?} {seed} {m} x {n}");
                assert!((x - y).abs() < limit, "{what}: {:?} {} passes", f.s, f.info.passes);
            }
        }
    }
}

#[test]
fn sketches_as_wide_as_the_rank_miss_nothing() {
    full_ranks::<f64>(&cpu(), 6);
    full_ranks::<f32>(&cpu(), 3);
}

#[test]
#[ignore = "needs a GPU"]
fn sketches_as_wide_as_the_rank_miss_nothing_on_a_gpu() {
    full_ranks::<f64>(&gpu(), 3);
    full_ranks::<f32>(&gpu(), 2);
}

/// More columns than a sketch of signs is made orthonormal for, all but four of them 0: the sketched matrix is
/// singular.
fn hidden(context: &Arc<Context>, seeds: u64) {
    let values = [5.0, 4.0, 3.0, 2.0];
    let few = with_spectrum::<f64>(&cpu(), 700, 4, &values, 1);
    let mut a = Dense { rows: 700, columns: 600, data: few.data.clone() };
    a.data.resize(700 * 600, 0.0);
    let mut more = 0;
    for method in [Method::Range, Method::Fused] {
        for seed in 0..seeds {
            let options = Options {
                rank: 4,
                oversampling: Some(0),
                method,
                sketch: Distribution::Rademacher,
                seed,
                power_iterations: Some(0),
                ..Options::default()
            };
            let f = factor::<f64>(context, &matrix(context, &a, PACKED), options).unwrap();
            for (x, y) in f.s.iter().zip(&values) {
                assert!((x - y).abs() < 1e-9, "{method:?} {seed}: {:?} {} passes", f.s, f.info.passes);
            }
            more += u64::from(f.info.reason.contains("depend on each other"));
        }
    }
    assert!(more > 0 && more < 2 * seeds, "{more}");
}

#[test]
fn a_dependence_that_rounding_hides_takes_one_more_pass() {
    hidden(&cpu(), 8);
}

#[test]
#[ignore = "needs a GPU"]
fn a_dependence_that_rounding_hides_takes_one_more_pass_on_a_gpu() {
    hidden(&gpu(), 8);
}

/// Runs that did not meet a tolerance, of `seeds`.
fn short<T: Scalar>(context: &Arc<Context>, (m, n): (usize, usize), s: &[f64], options: &Options, seeds: u64) -> u64 {
    let fails = |seed: &u64| {
        let a = with_spectrum::<T>(&cpu(), m, n, s, *seed);
        !met(context, &a, &Options { seed: *seed, ..options.clone() }).0
    };
    (0..seeds).filter(fails).count() as u64
}

fn goes_on(context: &Arc<Context>, seeds: u64) {
    let slow: Vec<f64> = (0..16).map(|j| 1.0 - f64::from(j) / 20.0).collect();
    let fast: Vec<f64> = (0..33).map(|j| 0.3f64.powi(j)).collect();
    let steps: Vec<f64> = [1.0, 1e-4, 1e-9].iter().flat_map(|s| [*s; 11]).collect();
    let to = |tolerance: f64| Options { tolerance, ..Options::default() };
    let one = |tolerance: f64| Options { block_columns: 1, ..to(tolerance) };
    assert_eq!(short::<f64>(context, (33, 16), &slow, &to(0.1), seeds), 0);
    let unknown = Options { error: ErrorKind::None, ..to(0.1) };
    assert_eq!(short::<f64>(context, (33, 16), &slow, &unknown, seeds), 0);
    assert_eq!(short::<f32>(context, (33, 150), &fast, &one(1e-4), seeds), 0);
    assert_eq!(short::<f64>(context, (33, 150), &fast, &one(1e-9), seeds), 0);
    assert_eq!(short::<f64>(context, (33, 90), &steps, &to(1e-10), seeds), 0);
}

#[test]
fn a_tolerance_that_probes_find_missed_is_met_by_more_blocks() {
    goes_on(&cpu(), 16);
}

#[test]
#[ignore = "needs a GPU"]
fn a_tolerance_that_probes_find_missed_is_met_by_more_blocks_on_a_gpu() {
    goes_on(&gpu(), 12);
}

/// Values that rounding errors hide one by one, but not together.
fn small_values(context: &Arc<Context>) {
    let tail = |small: f64| -> Vec<f64> { (0..120).map(|j| if j < 5 { 1.0 } else { small }).collect() };
    for (small, tolerance) in [(5e-6, 1.2e-5), (5e-6, 2e-5), (2e-5, 5e-5)] {
        let a = with_spectrum::<f32>(&cpu(), 120, 120, &tail(small), 3);
        for (power_iterations, block_columns) in [(Some(2), 16), (Some(0), 16), (Some(2), 64)] {
            let options = Options { tolerance, power_iterations, block_columns, ..Options::default() };
            let (is_met, _, what) = met(context, &a, &options);
            assert!(is_met, "{small} {tolerance} {power_iterations:?} {block_columns}: {what}");
        }
    }
    // An error that rounding hides ends the run, as no further block would find it.
    let a = with_spectrum::<f32>(&cpu(), 120, 120, &[3.0, 2.0, 1.0], 3);
    let (is_met, rank, what) = met(context, &a, &Options { tolerance: 1e-9, ..Options::default() });
    assert!(!is_met && rank < 30, "{what}");
}

#[test]
fn small_values_that_add_up_to_more_than_rounding_errors_are_resolved() {
    small_values(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn small_values_that_add_up_to_more_than_rounding_errors_are_resolved_on_a_gpu() {
    small_values(&gpu());
}
