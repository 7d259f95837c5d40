use std::cell::Cell;
use std::slice::from_ref;

use super::calls::{compute, difference, split};
use super::inputs::{context, entries, matrix, noise, synthetic};
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::error::Error;
use crate::rpca::{Frames, Options};
use crate::scalar::{Complex, DType, Scalar};
use crate::shape::Order;

#[test]
fn nothing_and_zeros_split_into_zeros() {
    let context = context();
    for (rows, cols) in [(0, 5), (5, 0), (1, 1), (7, 3), (3, 7)] {
        let m = matrix(&context, Order::ColumnMajor, (rows, cols), |_, _| 0.0f64);
        let (l, s, info) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        assert!(l.iter().chain(&s).all(|v| *v == 0.0));
        assert_eq!((info.rank, info.objective, info.converged), (0, 0.0, true));
    }
}

#[test]
fn single_rows_columns_and_numbers_converge() {
    let context = context();
    for (rows, cols) in [(1, 1), (40, 1), (1, 40), (2, 2), (33, 32), (32, 33)] {
        let m = matrix(&context, Order::ColumnMajor, (rows, cols), |i, j| 1.0 + noise(i, j));
        let (l, s, info) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        assert!(info.converged, "{rows} x {cols}: {info:?}");
        let sum: Vec<f64> = l.iter().zip(&s).map(|(l, s)| l + s).collect();
        assert!(difference(&sum, &entries::<f64>(&m)) < 1e-7);
    }
}

#[test]
fn a_weight_of_the_sparse_part_decides_which_part_is_empty() {
    let context = context();
    let m = matrix(&context, Order::ColumnMajor, (60, 40), |i, j| 1.0 + noise(i, j));
    // So cheap that all is sparse: rank 0.
    let (l, s, info) = split::<f64>(&context, &m, None, &Options { lambda: 1e-3, ..Options::default() }).unwrap();
    assert!(info.rank == 0 && info.converged && l.iter().all(|v| *v == 0.0), "{info:?}");
    assert!(difference(&s, &entries::<f64>(&m)) < 1e-7);
    // So dear that nothing is.
    let (l, s, info) = split::<f64>(&context, &m, None, &Options { lambda: 10.0, ..Options::default() }).unwrap();
    assert!(info.nonzeros == 0 && info.converged && s.iter().all(|v| *v == 0.0), "{info:?}");
    assert!(difference(&l, &entries::<f64>(&m)) < 1e-7);
}

/// Splits under many weights: a success is no worse than to leave one part empty, and as good as the optimum where that
/// is known. ||X||_* <= ||X||_1 <= sqrt(m n) ||X||_*: of a lambda of 1 or more S = 0 is optimal, of 1 / sqrt(m n) or
/// less L = 0.
fn no_worse_than_trivial<T: Scalar>(name: &str, (rows, cols): (usize, usize), entry: impl Fn(usize, usize) -> f64) {
    let context = context();
    let m = matrix(&context, Order::ColumnMajor, (rows, cols), |i, j| T::from_parts(entry(i, j), 0.0));
    let mut algebra = CpuAlgebra::new(&context);
    let values: Vec<f64> = (0..rows * cols).map(|e| entry(e % rows, e / rows)).collect();
    let upload: CpuMatrix<f64> = algebra.upload("test", rows, cols, &values, rows).unwrap();
    let nuclear: f64 = algebra.svd(&upload).unwrap().s.iter().sum();
    let one: f64 = values.iter().map(|v| v.abs()).sum();
    let least = 1.0 / ((rows * cols) as f64).sqrt();
    for lambda in [1e-4, 0.5 * least, least, 1.5 * least, 0.1, 0.3, 0.45, 0.6, 0.9, 1.0, 1.7, 30.0] {
        let (l, s, info) = split::<T>(&context, &m, None, &Options { lambda, ..Options::default() }).unwrap();
        let name = format!("{name} {rows}x{cols} {:?} {lambda}: {info:?}", T::DTYPE);
        assert!(info.converged, "{name}");
        let trivial = nuclear.min(lambda * one);
        assert!(info.objective <= 1.002 * trivial, "{name}, trivially {trivial}");
        if lambda >= 1.0 || lambda <= least {
            assert!(info.objective >= 0.999 * trivial, "{name}, optimum {trivial}");
        }
        let sum: Vec<f64> = l.iter().zip(&s).map(|(l, s)| l.re() + s.re()).collect();
        assert!(difference(&sum, &entries::<T>(&m).iter().map(|v| v.re()).collect::<Vec<_>>()) < 3e-6, "{name}");
    }
}

#[test]
fn a_success_is_no_worse_than_a_trivial_split() {
    let shapes = [(1, 1), (1, 6), (2, 2), (5, 4), (6, 6), (20, 9)];
    for size in shapes {
        no_worse_than_trivial::<f64>("ones", size, |_, _| 1.0);
        no_worse_than_trivial::<f64>("one entry", size, |i, j| if (i, j) == (0, 0) { -3.0 } else { 0.0 });
        no_worse_than_trivial::<f64>("identity", size, |i, j| if i == j { 2.0 } else { 0.0 });
        no_worse_than_trivial::<f64>("rank one", size, |i, j| noise(i, 91) * noise(17, j));
        no_worse_than_trivial::<f64>("noise", size, noise);
        no_worse_than_trivial::<f64>("graded", size, |i, j| 10f64.powi(-(i as i32)) * noise(i, j));
        no_worse_than_trivial::<f32>("rank one", size, |i, j| noise(i, 91) * noise(17, j));
        no_worse_than_trivial::<f32>("noise", size, noise);
        no_worse_than_trivial::<f32>("one entry", size, |i, j| if (i, j) == (0, 0) { -3.0 } else { 0.0 });
    }
}

/// Of a few matrices of rank one, one in a thousand, the residual of the iteration that writes the parts was larger than the
/// one before: it has to be bounded before that iteration.
#[test]
fn a_residual_that_rises_in_the_last_iteration_does_not_end_a_run() {
    let context = context();
    let found: [((usize, usize), &[u64]); 2] =
        [((5, 4), &[25, 67, 245, 424, 753, 1067]), ((6, 6), &[164, 345, 609, 614])];
    for ((rows, cols), seed) in found.into_iter().flat_map(|(size, seeds)| seeds.iter().map(move |s| (size, *s))) {
        let at = |stream: u32, k: usize| crate::rng::uniform(seed, stream, k as u64, 0);
        let m = matrix(&context, Order::ColumnMajor, (rows, cols), |i, j| at(1, i) * at(2, j));
        for lambda in [0.1, 0.3, 0.6] {
            let (.., info) = split::<f64>(&context, &m, None, &Options { lambda, ..Options::default() }).unwrap();
            assert!(info.converged && info.residual < 1e-7, "{rows} x {cols} of seed {seed}, {lambda}: {info:?}");
        }
    }
}

/// Without power iterations the subspace of a partial decomposition is random: parts add up, above the optimum.
#[test]
fn a_success_without_power_iterations_or_warm_starts_is_that_with_them() {
    let context = context();
    let at = |stream: u32, i: usize, k: u32| crate::rng::normal(3, stream, i as u64, k);
    let entry = |i: usize, j: usize| {
        let low: f64 = (0..5).map(|k| at(1000, i, k) * at(1001, j, k)).sum();
        low + if noise(i, j) > 0.9 { 8.0 * noise(j, i) } else { 0.0 }
    };
    let m = matrix(&context, Order::ColumnMajor, (500, 300), entry);
    let (.., right) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
    assert!(right.converged && right.rank == 5, "{right:?}");
    for (power_iterations, warm_start) in [(0, true), (0, false), (1, false)] {
        let options = Options { power_iterations, warm_start, ..Options::default() };
        let (.., info) = split::<f64>(&context, &m, None, &options).unwrap();
        assert!(info.converged && info.objective < 1.001 * right.objective, "{right:?} {info:?}");
    }
}

/// Without power iterations S does not come to rest, which the check of small matrices and the bound of the last
/// residual ask for, and parts under a bound of the rank add up far from the optimum: the run begins anew with steps
/// and the last vectors.
#[test]
fn runs_converge_without_power_iterations_or_warm_starts() {
    fn check<T: Scalar>(size: (usize, usize), name: &str, base: &Options, entry: impl Fn(usize, usize) -> f64) {
        let context = context();
        // A bound of the rank makes the problem not convex: runs end near the optimum, not all at one objective.
        let close = if base.fixed_rank + base.max_rank > 0 { 1e-2 } else { 1e-3 };
        let m = matrix(&context, Order::ColumnMajor, size, |i, j| T::from_parts(entry(i, j), 0.0));
        let (.., right) = split::<T>(&context, &m, None, &Options::default()).unwrap();
        assert!(right.converged, "{name}: {right:?}");
        for (power_iterations, warm_start) in [(0, true), (0, false), (1, false)] {
            for seed in 0..2 {
                let options = Options { power_iterations, warm_start, seed, ..base.clone() };
                let (.., info) = split::<T>(&context, &m, None, &options).unwrap();
                let name = format!("{name} of {size:?} by {options:?}");
                assert!(info.converged, "{name}: {info:?}");
                assert!((info.objective / right.objective - 1.0).abs() < close, "{name}: {right:?} {info:?}");
                assert!(info.iterations < 200, "{name}: {info:?}");
            }
        }
    }
    let at = |stream: u32, i: usize, k: u32| crate::rng::normal(5, stream, i as u64, k);
    let low = |i: usize, j: usize| (0..3).map(|k| at(1000, i, k) * at(1001, j, k)).sum::<f64>();
    let spoilt = |i: usize, j: usize| low(i, j) + if noise(i, j) > 0.9 { 10.0 * noise(j, i) } else { 0.0 };
    let base = &Options::default();
    for size in [(60, 50), (90, 120)] {
        check::<f64>(size, "ones", base, |_, _| 1.0);
        check::<f64>(size, "rank 3", base, low);
        check::<f64>(size, "spoilt", base, spoilt);
        check::<f32>(size, "spoilt", base, spoilt);
    }
    check::<f64>((1000, 70), "rank 3", base, low);
    // The bound is the rank of the solution, so that the problem is the same.
    for bounded in [Options { fixed_rank: 3, ..base.clone() }, Options { max_rank: 3, ..base.clone() }] {
        check::<f64>((60, 50), "spoilt", &bounded, spoilt);
    }
}

/// Matrices of half their rank take hundreds of iterations; both precisions end at the same objective, or say that they did
/// not end.
#[test]
fn successes_of_high_rank_are_optimal_in_single_precision_too() {
    let context = context();
    for (seed, part) in [(1, 0.0), (2, 0.05), (3, 0.3)] {
        let at = |stream: u32, i: usize, k: u32| crate::rng::normal(seed, stream, i as u64, k);
        let entry = |i: usize, j: usize| {
            let low: f64 = (0..20).map(|k| at(1000, i, k) * at(1001, j, k)).sum();
            low + if noise(i, j) > 1.0 - 2.0 * part { 30.0 * noise(j, i) } else { 0.0 }
        };
        let m = matrix(&context, Order::ColumnMajor, (60, 40), entry);
        let (.., double) = split::<f64>(&context, &m, None, &Options::default()).unwrap();
        let m = matrix(&context, Order::ColumnMajor, (60, 40), |i, j| entry(i, j) as f32);
        let (.., single) = split::<f32>(&context, &m, None, &Options::default()).unwrap();
        assert!(double.converged && single.converged, "{part}: {double:?} {single:?}");
        assert!((single.objective / double.objective - 1.0).abs() < 1e-3, "{part}: {double:?} {single:?}");
    }
}

#[test]
fn missing_entries_do_not_hide_that_a_split_is_not_optimal() {
    let context = context();
    let (rows, cols) = (24, 15);
    let m = matrix(&context, Order::ColumnMajor, (rows, cols), |i, j| noise(i, 91) * noise(17, j));
    let mask = matrix(&context, Order::ColumnMajor, (rows, cols), |i, j| u8::from((i * 7 + j * 5) % 4 != 0));
    let (values, seen) = (entries::<f64>(&m), entries::<u8>(&mask));
    let one: f64 = values.iter().zip(&seen).filter(|v| *v.1 != 0).map(|v| v.0.abs()).sum();
    let (mut a, mut b) = (0.0, 0.0);
    (0..rows).for_each(|i| a += noise(i, 91).powi(2));
    (0..cols).for_each(|j| b += noise(17, j).powi(2));
    // The matrix of rank one itself is a completion.
    let complete = (a * b).sqrt();
    for lambda in [1e-3, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0] {
        let (.., info) = split::<f64>(&context, &m, Some(&mask), &Options { lambda, ..Options::default() }).unwrap();
        assert!(info.converged, "{lambda}: {info:?}");
        assert!(info.objective <= 1.002 * complete.min(lambda * one), "{lambda}: {complete} {} {info:?}", lambda * one);
    }
}

#[test]
fn the_scale_of_the_numbers_does_not_matter() {
    let context = context();
    let (m, truth) = synthetic();
    for factor in [1e-180, 1e-3, 1e200] {
        let scaled = matrix(&context, Order::RowMajor, (300, 200), |i, j| m[i * 200 + j] * factor);
        let (l, _, info) = split::<f64>(&context, &scaled, None, &Options::default()).unwrap();
        let l: Vec<f64> = l.iter().map(|v| v / factor).collect();
        assert!(info.rank == 8 && difference(&l, &truth) < 1e-6, "{factor}: {info:?}");
        assert!((info.objective / factor - 3_657.428_358_5).abs() < 1e-4, "{}", info.objective / factor);
    }
    // Subnormal numbers have few digits, and inverses beyond the range.
    for (factor, scale) in [(1e-310, 1.0), (3e-322, 1.0), (1e-315, -1e20)] {
        let options = Options { scale, ..Options::default() };
        let scaled = matrix(&context, Order::RowMajor, (30, 20), |i, j| ((i % 3 + j % 2 + 1) as f64) * factor);
        let (l, s, info) = split::<f64>(&context, &scaled, None, &options).unwrap();
        assert!(info.converged, "{factor}: {info:?}");
        let error = (0..600).map(|k| (l[k] + s[k] - ((k / 20 % 3 + k % 20 % 2 + 1) as f64) * factor * scale).abs());
        let largest = error.fold(0.0, f64::max);
        assert!(largest <= 1e-5 * factor * scale.abs() + 1e-323, "{factor}: {largest:e}");
    }
}

#[test]
fn complex_numbers_whose_moduli_overflow_are_split() {
    let context = context();
    let (m, truth) = synthetic();
    let largest = m.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let factor = 1.75e308 / largest;
    let entry = |i: usize, j: usize| Complex::new(m[i * 200 + j] * factor, m[i * 200 + j] * factor);
    let scaled = matrix(&context, Order::RowMajor, (300, 200), entry);
    let (l, _, info) = split::<Complex<f64>>(&context, &scaled, None, &Options::default()).unwrap();
    for part in [|x: &Complex<f64>| x.re, |x: &Complex<f64>| x.im] {
        let l: Vec<f64> = l.iter().map(|x| part(x) / factor).collect();
        assert!(info.rank == 8 && difference(&l, &truth) < 1e-6, "{info:?}");
    }
}

#[test]
fn entries_that_vanish_in_single_precision_are_refused() {
    let context = context();
    let options = Options { dtype: Some(DType::F32), ..Options::default() };
    for factor in [1e-47, 1e-300, 5e-324] {
        let m = matrix(&context, Order::RowMajor, (30, 20), |i, j| ((i % 3 + j % 2 + 1) as f64) * factor);
        let error = split::<f32>(&context, &m, None, &options).unwrap_err().to_string();
        assert_eq!(error, "numerical failure: m: all entries vanish in single precision", "{factor}");
    }
    let zeros = matrix(&context, Order::RowMajor, (30, 20), |_, _| 0.0f64);
    let (l, ..) = split::<f32>(&context, &zeros, None, &options).unwrap();
    assert!(l.iter().all(|x| *x == 0.0));
}

#[test]
fn entries_that_vanish_times_the_scale_are_refused() {
    let context = context();
    for (factor, scale, text) in [(1e-300, 1e-30, "1e-30"), (1e-200, -1e-200, "-1e-200"), (1e3, 1e-320, "")] {
        let m = matrix(&context, Order::RowMajor, (30, 20), |i, j| ((i % 3 + j % 2 + 1) as f64) * factor);
        let options = Options { scale, ..Options::default() };
        let found = split::<f64>(&context, &m, None, &options);
        if text.is_empty() {
            assert!(found.unwrap().0.iter().any(|x| *x != 0.0), "{scale:e}");
            continue;
        }
        let error = found.unwrap_err().to_string();
        assert_eq!(error, format!("numerical failure: m: all entries times scale = {text} vanish in double precision"));
        let zeros = matrix(&context, Order::RowMajor, (30, 20), |_, _| 0.0f64);
        assert!(split::<f64>(&context, &zeros, None, &options).unwrap().0.iter().all(|x| *x == 0.0));
    }
}

#[test]
fn numbers_that_are_none_are_refused_and_the_place_is_named() {
    let context = context();
    for (bad, scale) in [(f64::NAN, 1.0), (f64::INFINITY, -3.0)] {
        let options = Options { scale, ..Options::default() };
        for (size, place) in [((5000, 20), (4321, 7)), ((20, 5000), (7, 4321)), ((20, 20), (3, 19))] {
            for order in [Order::ColumnMajor, Order::RowMajor] {
                let m = matrix(&context, order, size, |i, j| if (i, j) == place { bad } else { 1.0 });
                let error = split::<f64>(&context, &m, None, &options).unwrap_err().to_string();
                assert_eq!(error, format!("m: has {bad} in row {}, column {} (from 0)", place.0, place.1));
            }
        }
    }
    // Not the entry that is finite, but too large for the computing type.
    let m = matrix(&context, Order::ColumnMajor, (50, 20), |i, j| match (i, j) {
        (2, 0) => 1e39,
        (33, 7) => f64::NAN,
        _ => 1.0,
    });
    let options = Options { dtype: Some(DType::F32), ..Options::default() };
    let error = split::<f32>(&context, &m, None, &options).unwrap_err().to_string();
    assert_eq!(error, "m: has NaN in row 33, column 7 (from 0)");
}

#[test]
fn penalties_that_rounding_errors_hide_are_refused_with_their_limits() {
    let context = context();
    for factor in [1.0, 1e-200, 1e200] {
        let m = matrix(&context, Order::ColumnMajor, (40, 30), |i, j| factor * noise(i, j));
        let norm = split::<f64>(&context, &m, None, &Options::default()).unwrap().2.norm2;
        let run = |mu: f64| split::<f64>(&context, &m, None, &Options { mu, max_iterations: 3, ..Options::default() });
        for mu in [5e-324, 1e-300, 1e-20 / norm, 1e20 / norm, 1e307, f64::MAX].into_iter().filter(|mu| {
            let product = mu * norm;
            !(1e-16..=1e16).contains(&product)
        }) {
            let error = run(mu).unwrap_err().to_string();
            let (found, limits) = error.split_once(", outside ").unwrap();
            assert!(found.starts_with("mu: is ") && limits.contains(" for ||M||_2 = "), "{error}");
            let (least, largest) = limits.split_once(" for ").unwrap().0.split_once(" to ").unwrap();
            for limit in [least, largest] {
                assert!(run(limit.parse().unwrap()).is_ok(), "{error}");
            }
        }
    }
    let m = matrix(&context, Order::RowMajor, (40, 30), |i, j| noise(i, j) as f32);
    for mu in [1e-300, 1e-9, 1e9, 1e300] {
        let error = split::<f32>(&context, &m, None, &Options { mu, ..Options::default() }).unwrap_err().to_string();
        assert!(error.starts_with("mu: is ") && error.contains(", outside "), "{error}");
    }
}

#[test]
fn arguments_are_checked_and_named() {
    let context = context();
    let m = matrix(&context, Order::ColumnMajor, (9, 4), noise);
    let text = |options: Options| split::<f64>(&context, &m, None, &options).unwrap_err().to_string();
    let base = Options::default;
    assert_eq!(text(Options { lambda: -1.0, ..base() }), "lambda: is -1, a finite number of at least 0 is needed");
    assert_eq!(text(Options { mu: f64::NAN, ..base() }), "mu: is NaN, a finite number of at least 0 is needed");
    assert_eq!(text(Options { rho: 1.0, ..base() }), "rho: is 1, a finite number above 1 is needed");
    assert_eq!(text(Options { scale: 0.0, ..base() }), "scale: is 0, a finite number other than 0 is needed");
    assert_eq!(text(Options { max_iterations: 0, ..base() }), "max_iterations: is 0, 1 or more is needed");
    for (max_rank, fixed_rank) in [(5, 3), (2, 3), (3, 3)] {
        let wanted = format!("max_rank: is {max_rank} beside fixed_rank = {fixed_rank}, which leaves no rank to bound");
        assert_eq!(text(Options { max_rank, fixed_rank, ..base() }), wanted);
    }
    let wanted =
        "frames: is ROWS, but m is 9 x 4, whose shorter axis counts as frames: the option is for square matrices";
    assert_eq!(text(Options { frames: Frames::Rows, ..base() }), wanted);
    let mask = matrix(&context, Order::ColumnMajor, (9, 4), |_, _| 1.0f32);
    let error = split::<f64>(&context, &m, Some(&mask), &base()).unwrap_err().to_string();
    assert!(error.starts_with("mask: is F32"), "{error}");
    let mask = matrix(&context, Order::ColumnMajor, (4, 9), |_, _| 1u8);
    let error = split::<f64>(&context, &m, Some(&mask), &base()).unwrap_err().to_string();
    assert!(error.starts_with("mask: is 4 x 9"), "{error}");
    let error = split::<f32>(&context, &m, None, &base()).unwrap_err().to_string();
    assert!(error.starts_with("low_rank: is F32"), "{error}");
    let complex = matrix(&context, Order::ColumnMajor, (9, 4), |_, _| Complex::new(1.0f64, 0.0));
    let options = Options { dtype: Some(DType::F64), ..base() };
    let error = split::<f64>(&context, &complex, None, &options).unwrap_err().to_string();
    assert_eq!(error, "dtype: is F64, the matrix is CF64");
}

#[test]
fn a_run_that_is_cut_short_says_so_and_gives_its_last_iterate() {
    let context = context();
    let (m, _) = synthetic();
    let m = matrix(&context, Order::RowMajor, (300, 200), |i, j| m[i * 200 + j]);
    for max_iterations in [1, 2, 7] {
        let options = Options { max_iterations, ..Options::default() };
        let (l, s, info) = split::<f64>(&context, &m, None, &options).unwrap();
        assert!(!info.converged && info.iterations == max_iterations as u64);
        let sum: Vec<f64> = l.iter().zip(&s).map(|(l, s)| l + s).collect();
        let residual = difference(&sum, &entries::<f64>(&m));
        assert!((residual - info.residual).abs() < 1e-9, "{residual} {}", info.residual);
    }
}

#[test]
fn progress_is_reported_and_can_cancel() {
    let context = context();
    let (m, _) = synthetic();
    let m = matrix(&context, Order::RowMajor, (300, 200), |i, j| m[i * 200 + j]);
    let calls = Cell::new(0);
    let run = |go_on: bool| {
        let report = |step: i64, steps: i64, residual: f64| {
            calls.set(calls.get() + 1);
            assert!(step >= 0 && step <= steps && steps > 0 && residual >= 0.0);
            go_on
        };
        compute(from_ref(&context), None, &m, None, &Options::default(), None, None, Some(&report))
    };
    assert!(run(true).unwrap().converged);
    assert!(calls.get() >= 2);
    assert_eq!(run(false).unwrap_err(), Error::Cancelled);
}
