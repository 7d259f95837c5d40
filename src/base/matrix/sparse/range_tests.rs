//! Entries near the ends of the range, whose sums and products of two leave it while the result does not.

use super::tests::{Folder, arrays, context, memory};
use super::*;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix};
use crate::scalar::{Complex, DType, Element};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

type Shared = std::sync::Arc<Context>;

/// A full square matrix, row by row.
fn full<T: Element>(c: &Shared, dtype: DType, n: usize, values: &[T]) -> Matrix {
    let columns: Vec<i32> = (0..n * n).map(|k| (k % n) as i32).collect();
    let rows: Vec<i32> = (0..=n).map(|i| (i * n) as i32).collect();
    let parts = CsrParts {
        row_ptr: memory(c, &rows),
        row_ptr_type: IndexType::I32,
        col_idx: memory(c, &columns),
        col_idx_type: IndexType::I32,
        values: Some(Memory::Host(memory(c, values))),
    };
    Matrix::from_csr(c, dtype, Csr::new(parts, n, n, n * n, 0).unwrap(), true)
}

fn values<T: Element>(m: &Matrix) -> Vec<T> {
    arrays::<T>(m).2.unwrap()
}

fn list(c: &Shared, numbers: &[f64]) -> Tensor {
    let mut t = Tensor::create(c, DType::F64, Location::Host, Order::ColumnMajor, &[numbers.len()]).unwrap();
    let mut view = t.view_mut::<f64>("numbers").unwrap();
    numbers.iter().enumerate().for_each(|(k, x)| view.set(&[k], *x));
    t
}

#[test]
fn an_average_of_large_entries_is_finite() {
    let c = context(1);
    let average = |m: &Matrix| symmetrize(&c, m, Symmetrize::Average).unwrap();
    let real = full(&c, DType::F64, 2, &[1.7e308, 1e308, 1.5e308, -1.7e308]);
    assert_eq!(values::<f64>(&average(&real)), [1.7e308, 1.25e308, 1.25e308, -1.7e308]);
    let single = full(&c, DType::F32, 1, &[3e38_f32]);
    assert_eq!(values::<f32>(&average(&single)), [3e38]);
    let z = Complex::new;
    let complex = full(&c, DType::CF64, 2, &[z(1.6e308, 0.0), z(1e308, 1.6e308), z(1.5e308, -1.6e308), z(0.0, 0.0)]);
    assert_eq!(values::<Complex<f64>>(&average(&complex))[1], z(1.25e308, 1.6e308));
    // Of the smallest numbers no bit is lost.
    let least = full(&c, DType::F64, 2, &[5e-324, 5e-324, 1.5e-323, 0.0]);
    assert_eq!(values::<f64>(&average(&least)), [5e-324, 1e-323, 1e-323, 0.0]);
}

#[test]
fn factors_that_undo_each_other_leave_the_range_on_no_side() {
    let c = context(1);
    for (value, left, right, product) in [
        (1e200, 1e200, 1e-300, 1e100),
        (1e-200, 1e-200, 1e300, 1e-100),
        (1e-300, 1e200, 1e200, 1e100),
        (-1e300, 1e-200, 1e200, -1e300),
        (1e200, 1e200, 1e-50, f64::INFINITY),
        (0.0, 1e300, 1e300, 0.0),
    ] {
        let scaled = scale(&c, &full(&c, DType::F64, 1, &[value]), Some(&list(&c, &[left])), Some(&list(&c, &[right])));
        let found = values::<f64>(&scaled.unwrap())[0];
        let is_near = found == product || (found - product).abs() <= 4.0 * f64::EPSILON * product.abs();
        assert!(is_near, "{left:e} {value:e} {right:e}: {found:e}");
    }
}

#[test]
fn differences_of_the_largest_numbers_are_compared() {
    let c = context(1);
    let skew = full(&c, DType::F64, 2, &[0.0, 1.7e308, -1.7e308, 0.0]);
    assert!(!is_symmetric(&skew, 1.9).unwrap());
    assert!(is_symmetric(&skew, 2.0).unwrap());
    let symmetric = full(&c, DType::F64, 2, &[0.0, 1.7e308, 1.7e308, 0.0]);
    assert!(is_symmetric(&symmetric, 0.0).unwrap());
}

#[test]
fn integers_of_edges_are_exact_or_refused() {
    let (c, folder) = (context(1), Folder::new("exact"));
    let how = EdgeList { dtype: DType::F64, weighted: true, duplicates: Duplicates::Sum, relabel: true };
    let single = EdgeList { dtype: DType::F32, ..how };
    for (text, how, problem) in [
        ("0 1 9007199254740993\n", how, "line 1: 9007199254740993 is between two numbers of F64"),
        ("0 1 16777217\n", single, "line 1: 16777217 is between two numbers of F32"),
        ("1 9223372036854775808\n", how, "line 1: vertex 9223372036854775808 is outside -9223372036854775808 to"),
    ] {
        let e = read_edges(&c, &folder.file("w", text.as_bytes()), how).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains(problem), "{text}: {e}");
    }
    for (text, how) in [("0 1 16777217\n", how), ("0 1 16777218\n", single), ("0 1 1e30\n", single)] {
        read_edges(&c, &folder.file("w", text.as_bytes()), how).unwrap();
    }
}

#[test]
fn the_mirror_of_a_diagonal_that_is_not_real_is_refused() {
    let c = context(1);
    let mirror = |re: f64, im: f64| {
        let a = full(&c, DType::CF64, 1, &[Complex::new(re, im)]);
        symmetrize(&c, &a, Symmetrize::Mirror).map(|_| ())
    };
    let e = mirror(1.0, 1.5).unwrap_err().to_string();
    assert!(e.starts_with("a: has an imaginary part of 1.5 in row 0, column 0 (from 0)"), "{e}");
    assert!(mirror(1.0, 0.0).is_ok());
}
