use std::cell::Cell;

use super::*;

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
}

#[test]
fn numbers_that_are_none_are_refused_and_the_place_is_named() {
    let context = context();
    for bad in [f64::NAN, f64::INFINITY] {
        let m = matrix(&context, Order::ColumnMajor, (50, 20), |i, j| if (i, j) == (33, 7) { bad } else { 1.0 });
        let error = split::<f64>(&context, &m, None, &Options::default()).unwrap_err().to_string();
        assert!(error.starts_with("m: has a number that is not finite in "), "{error}");
    }
}

#[test]
fn arguments_are_checked_and_named() {
    let context = context();
    let m = matrix(&context, Order::ColumnMajor, (9, 4), noise);
    let text = |options: Options| split::<f64>(&context, &m, None, &options).unwrap_err().to_string();
    let base = Options::default;
    assert_eq!(text(Options { lambda: -1.0, ..base() }), "lambda: is -1, 0 or more is needed");
    assert_eq!(text(Options { mu: f64::NAN, ..base() }), "mu: is NaN, 0 or more is needed");
    assert_eq!(text(Options { rho: 1.0, ..base() }), "rho: is 1, more than 1 is needed");
    assert_eq!(text(Options { scale: 0.0, ..base() }), "scale: is 0, a finite number other than 0 is needed");
    assert_eq!(text(Options { max_iterations: 0, ..base() }), "max_iterations: is 0, 1 or more is needed");
    let mask = matrix(&context, Order::ColumnMajor, (9, 4), |_, _| 1.0f32);
    let error = split::<f64>(&context, &m, Some(&mask), &base()).unwrap_err().to_string();
    assert!(error.starts_with("mask: is F32"), "{error}");
    let mask = matrix(&context, Order::ColumnMajor, (4, 9), |_, _| 1u8);
    let error = split::<f64>(&context, &m, Some(&mask), &base()).unwrap_err().to_string();
    assert!(error.starts_with("mask: is 4 x 9"), "{error}");
    let error = split::<f32>(&context, &m, None, &base()).unwrap_err().to_string();
    assert!(error.starts_with("low_rank: is F32"), "{error}");
    let complex = matrix(&context, Order::ColumnMajor, (9, 4), |_, _| crate::scalar::Complex::new(1.0f64, 0.0));
    let options = Options { dtype: Some(crate::scalar::DType::F64), ..base() };
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
fn progress_is_told_and_can_cancel() {
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
