use std::sync::Arc;

use super::calls::{difference, split};
use super::inputs::{context, entries, matrix, noise, synthetic, video};
use crate::context::Context;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::rpca::Options;
use crate::scalar::Scalar;
use crate::shape::Order;

/// Sum of the singular values of a matrix given row by row.
fn nuclear(context: &Arc<Context>, values: &[f64], rows: usize, cols: usize) -> f64 {
    let mut algebra = CpuAlgebra::new(context);
    let m = algebra.upload("test", cols, rows, values, cols).unwrap();
    algebra.svd(&m).unwrap().s.iter().sum()
}

#[test]
fn the_synthetic_case_comes_back() {
    let context = context();
    let (m, truth) = synthetic();
    let m = matrix(&context, Order::RowMajor, (300, 200), |i, j| m[i * 200 + j]);
    for power_iterations in [1, 2] {
        let options = Options { power_iterations, ..Options::default() };
        let (l, s, info) = split::<f64>(&context, &m, None, &options).unwrap();
        assert!(info.converged && info.residual < 1e-7, "{info:?}");
        assert_eq!(info.rank, 8);
        assert!(difference(&l, &truth) < 1e-6, "{}", difference(&l, &truth));
        let objective = nuclear(&context, &l, 300, 200) + info.lambda * s.iter().map(|v| v.abs()).sum::<f64>();
        assert!((objective - 3_657.428_358_501_793).abs() < 1e-4, "{objective}");
        assert!((info.objective - objective).abs() < 1e-6 * objective, "{} {objective}", info.objective);
        assert_eq!(info.lambda, 1.0 / 300f64.sqrt());
    }
}

#[test]
fn the_video_reaches_the_optimum_in_any_type_and_layout() {
    let context = context();
    let video = video();
    let options = Options { scale: 1.0 / 255.0, dtype: Some(crate::scalar::DType::F64), ..Options::default() };
    let columns = matrix(&context, Order::ColumnMajor, (6912, 200), |p, f| video[f * 6912 + p]);
    let (l, s, info) = split::<f64>(&context, &columns, None, &options).unwrap();
    assert!(info.converged);
    assert!(info.objective < 786.20 && info.objective > 786.12, "{info:?}");
    let over = s.iter().filter(|v| v.abs() > 0.05).count() as f64 / s.len() as f64;
    assert!((over - 0.0275).abs() < 1e-3, "{over}");
    let sum: Vec<f64> = l.iter().zip(&s).map(|(l, s)| l + s).collect();
    let m: Vec<f64> = (0..6912 * 200).map(|e| f64::from(video[e % 200 * 6912 + e / 200]) / 255.0).collect();
    assert!(difference(&sum, &m) < 1e-7);
    // Frames as rows, and single precision.
    let rows = matrix(&context, Order::RowMajor, (200, 6912), |f, p| video[f * 6912 + p]);
    let single = Options { scale: 1.0 / 255.0, tolerance: 1e-6, ..Options::default() };
    let (turned, _, info) = split::<f32>(&context, &rows, None, &single).unwrap();
    assert!(info.converged && info.dtype == crate::scalar::DType::F32, "{info:?}");
    assert!(info.objective < 786.25 && info.objective > 786.12, "{info:?}");
    let turned: Vec<f64> = (0..6912 * 200).map(|e| f64::from(turned[e % 200 * 6912 + e / 200])).collect();
    assert!(difference(&turned, &l) < 2e-4, "{}", difference(&turned, &l));
}

#[test]
fn a_first_penalty_in_the_largest_entry_is_no_success_away_from_the_optimum() {
    // 1.5 / max|M| stands in print for 1.5 / ||M||: the parts add up soon, at no optimum.
    let context = context();
    let (m, truth) = synthetic();
    let largest = m.iter().fold(0.0f64, |a, v| a.max(v.abs()));
    let m = matrix(&context, Order::RowMajor, (300, 200), |i, j| m[i * 200 + j]);
    let trap = Options { mu: 1.5 / largest, max_iterations: 60, ..Options::default() };
    let (l, _, info) = split::<f64>(&context, &m, None, &trap).unwrap();
    let objective = info.objective / 3_657.428_358_5 - 1.0;
    assert!(!info.converged || objective < 1e-3, "{objective} {} {}", info.rank, difference(&l, &truth));
    let soon = Options { max_iterations: 30, ..trap };
    let (_, _, info) = split::<f64>(&context, &m, None, &soon).unwrap();
    assert!(!info.converged, "{info:?}");
    let right = Options { mu: 1.25 / info.norm2, ..Options::default() };
    let (l, _, info) = split::<f64>(&context, &m, None, &right).unwrap();
    assert!(info.rank == 8 && difference(&l, &truth) < 1e-6);
}

#[test]
fn hidden_entries_are_recovered_whatever_stands_there() {
    let context = context();
    let (m, truth) = synthetic();
    let hidden = |i: usize, j: usize| noise(i, j) < -0.8;
    let values = matrix(&context, Order::ColumnMajor, (300, 200), |i, j| match hidden(i, j) {
        true if i % 2 == 0 => f64::NAN,
        true => 1e6,
        false => m[i * 200 + j],
    });
    let mask = matrix(&context, Order::RowMajor, (300, 200), |i, j| u8::from(!hidden(i, j)));
    let count = entries::<u8>(&mask).iter().filter(|v| **v == 0).count() as f64 / 60_000.0;
    assert!((count - 0.1).abs() < 0.01, "{count}");
    let (l, s, info) = split::<f64>(&context, &values, Some(&mask), &Options::default()).unwrap();
    assert!(info.converged && info.rank == 8, "{info:?}");
    assert!(difference(&l, &truth) < 1e-5, "{}", difference(&l, &truth));
    for (e, s) in s.iter().enumerate() {
        assert!(!hidden(e / 200, e % 200) || *s == 0.0);
    }
}

#[test]
fn a_rank_that_is_fixed_too_low_solves_another_problem_and_a_high_one_the_same() {
    let context = context();
    let (m, truth) = synthetic();
    let m = matrix(&context, Order::RowMajor, (300, 200), |i, j| m[i * 200 + j]);
    let fixed = Options { fixed_rank: 12, ..Options::default() };
    let (l, _, info) = split::<f64>(&context, &m, None, &fixed).unwrap();
    assert!(info.rank == 8 && difference(&l, &truth) < 1e-6, "{info:?}");
    for options in [Options { fixed_rank: 4, ..Options::default() }, Options { max_rank: 4, ..Options::default() }] {
        let (l, s, info) = split::<f64>(&context, &m, None, &options).unwrap();
        assert_eq!(info.rank, 4);
        assert!(difference(&l, &truth) > 0.1);
        assert!(info.converged && l.iter().chain(&s).all(|v| v.is_finite()), "{info:?}");
    }
}

#[test]
fn complex_matrices_are_split_by_the_modulus() {
    use crate::scalar::Complex;
    let context = context();
    let (rows, cols, rank) = (150, 90, 4);
    let normal = |stream: u32, i: usize, j: usize| {
        let at = |c: usize| crate::rng::normal(3, stream, i as u64, c as u32);
        Complex::new(at(2 * j), at(2 * j + 1))
    };
    let low =
        |i: usize, j: usize| (0..rank).map(|k| normal(1000, i, k) * normal(1001, j, k).conj()).sum::<Complex<f64>>();
    let spike = |i: usize, j: usize| if noise(i, j) > 0.9 { normal(1002, i, j) * 5.0 } else { Complex::new(0.0, 0.0) };
    let truth: Vec<_> = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| low(i, j)).collect();
    let m = matrix(&context, Order::ColumnMajor, (rows, cols), |i, j| low(i, j) + spike(i, j));
    let (l, s, info) = split::<Complex<f64>>(&context, &m, None, &Options::default()).unwrap();
    assert!(info.converged && info.rank == 4, "{info:?}");
    assert!(difference(&l, &truth) < 1e-6, "{}", difference(&l, &truth));
    assert_eq!(info.nonzeros, s.iter().filter(|v| v.norm() > 0.0).count() as u64);
    let single = matrix(&context, Order::RowMajor, (cols, rows), |j, i| {
        let v = low(i, j) + spike(i, j);
        Complex::new(v.re as f32, v.im as f32)
    });
    let (l, _, info) = split::<Complex<f32>>(&context, &single, None, &Options::default()).unwrap();
    assert!(info.converged && info.rank == 4, "{info:?}");
    let l: Vec<Complex<f64>> = (0..rows * cols).map(|e| l[e % cols * rows + e / cols].widen()).collect();
    assert!(difference(&l, &truth) < 1e-4, "{}", difference(&l, &truth));
}
