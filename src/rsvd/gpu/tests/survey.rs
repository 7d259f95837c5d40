//! The statistics of sparse matrices, which the host computes.

use super::super::sparse::{Survey, survey, transposed};
use super::runs::setting;
use crate::rsvd::data::{Center, Setting};
use crate::scalar::Scalar;

const ROWS: usize = 5;
const COLUMNS: usize = 40;

/// Noise of the unit `unit` with row 3 of `value`, as rows or, with `turned`, as columns.
fn found<T: Scalar>(unit: f64, value: f64, spread: f64, turned: bool) -> Survey {
    let entry = |i: usize, j: usize| {
        let (i, j) = if turned { (j, i) } else { (i, j) };
        let x = ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5;
        T::from_parts(if i == 3 { value * (1.0 + spread * (j % 2) as f64) } else { unit * x }, 0.0)
    };
    let (rows, columns) = if turned { (COLUMNS, ROWS) } else { (ROWS, COLUMNS) };
    let row_ptr: Vec<i64> = (0..=rows).map(|i| (i * columns) as i64).collect();
    let places: Vec<i32> = (0..rows).flat_map(|_| 0..columns as i32).collect();
    let values: Vec<T> = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect();
    let center = if turned { Center::Columns } else { Center::Rows };
    let setting = Setting { center, ..setting() };
    survey((rows, columns), &transposed((rows, columns), &row_ptr, &places, Some(&values)).unwrap(), &setting).unwrap()
}

#[test]
fn distant_constant_lines_of_sparse_matrices_count_nothing() {
    let right = found::<f64>(1.0, 0.0, 0.0, false).found;
    for (unit, value) in [(1.0, 1e200), (1e-170, 1e-20), (1e-170, 1e300)] {
        for turned in [false, true] {
            let Survey { found, means, zero_rows } = found::<f64>(unit, value, f64::EPSILON, turned);
            let what = format!("{unit:e} {value:e} {turned}: {found:?} {means:?}");
            assert!((found.size / unit / right.size - 1.0).abs() < 1e-12, "{what}");
            assert!(found.read < unit, "{what}");
            // Squares of the smaller unit underflow, and the run is repeated with a factor.
            assert!(unit < 1.0 || (found.norm2 / right.norm2 - 1.0).abs() < 1e-12, "{what}");
            if turned {
                assert!(zero_rows.is_empty() && found.constants == [3], "{what}");
            } else {
                assert_eq!(zero_rows, [false, false, false, true, false], "{what}");
                assert_eq!(means[3], 0.0, "{what}");
            }
        }
    }
}

/// Products are rounded to single precision before they are corrected.
#[test]
fn corrections_in_single_precision_may_exceed_the_data() {
    let error = |value: f64, spread: f64| {
        let found = found::<f32>(1.0, value, spread, false).found;
        (found.correction.unwrap(), found.norm2.sqrt())
    };
    let (correction, norm) = error(1e6, 1e-6);
    assert!(correction.norm < norm, "{correction:?} {norm}");
    let (correction, norm) = error(1e12, 0.0);
    assert!(correction.norm < norm, "constant: {correction:?} {norm}");
    let (correction, norm) = error(1e12, 1e-7);
    assert!(correction.norm > norm && correction.line == 3 && correction.is_row, "{correction:?} {norm}");
}
