//! A cancel of the context ends each call that passes over a sparse matrix. The fault loop of `tests/fault.rs` ends the same
//! calls at each of their checks.

use std::sync::Arc;

use super::tests::{context, memory};
use super::*;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::Location;
use crate::testing::cancel;

/// Rows of the matrix, and entries of each: enough for some blocks between two checks.
const N: usize = 50_000;
const EACH: usize = 6;

/// [`cancel::is_cancelled`] by the context. Neither call leaves memory charged.
fn is_cancelled(c: &Arc<Context>, name: &str, mut call: impl FnMut() -> Result<()>) {
    let used = c.host_memory_used();
    cancel::is_cancelled(&|| c.cancel(), name, &mut call);
    assert_eq!(c.host_memory_used(), used, "{name}: memory");
}

/// Makes a square matrix with one entry twice in each row, whose columns do not ascend.
fn made(c: &Arc<Context>) -> Result<Matrix> {
    let row_idx: Vec<i32> = (0..N * EACH).map(|k| (k / EACH) as i32).collect();
    let col_idx: Vec<i32> = (0..N * EACH).map(|k| ((k / EACH * 7919 + k % EACH / 2 * 104_729) % N) as i32).collect();
    let values = memory(c, &vec![0.5f64; N * EACH]);
    let from = Coordinates {
        rows: N,
        cols: N,
        row_idx: Indices::I32(&row_idx),
        col_idx: Indices::I32(&col_idx),
        base: 0,
        dtype: DType::F64,
        values: Some(&values),
    };
    from_coordinates(c, &from, Duplicates::Sum)
}

#[test]
fn every_pass_over_a_sparse_matrix_ends_when_it_is_cancelled() {
    let c = context(2);
    is_cancelled(&c, "from_coordinates", || made(&c).map(drop));
    let a = made(&c).unwrap();
    let order: Vec<i64> = (0..N as i64).rev().collect();
    let list = Indices::I64(&order);
    let all = Checks { sorted: true, distinct: true, finite: true };
    is_cancelled(&c, "canonical", || canonical(&c, &a, Duplicates::Sum).map(drop));
    is_cancelled(&c, "pattern", || pattern(&c, &a).map(drop));
    is_cancelled(&c, "transpose", || transpose(&c, &a, false).map(drop));
    is_cancelled(&c, "permute", || permute(&c, &a, Some(&list), Some(&list)).map(drop));
    is_cancelled(&c, "select", || select(&c, &a, Some(&list), None).map(drop));
    is_cancelled(&c, "drop_zeros", || drop_zeros(&c, &a, 0.0).map(drop));
    is_cancelled(&c, "scale", || scale(&c, &a, None, None).map(drop));
    for how in [Symmetrize::Union, Symmetrize::Average] {
        is_cancelled(&c, "symmetrize", || symmetrize(&c, &a, how).map(drop));
    }
    for which in [Norm::Frobenius, Norm::One, Norm::Max, Norm::Infinity] {
        is_cancelled(&c, "norm", || norm(&a, which).map(drop));
    }
    is_cancelled(&c, "is_symmetric", || is_symmetric(&a, 0.0).map(drop));
    is_cancelled(&c, "check", || check(&a, all));
    is_cancelled(&c, "row_sums", || row_sums(&a).map(drop));
    is_cancelled(&c, "components", || components(&a).map(drop));
    is_cancelled(&c, "component", || component(&c, &a, None).map(drop));
    is_cancelled(&c, "order", || order_of(&a));
}

fn order_of(a: &Matrix) -> Result<()> {
    order(a, Ordering::CuthillMckee).map(drop)
}

#[test]
fn conversions_from_and_to_dense_end_when_they_are_cancelled() {
    let c = context(1);
    let mut dense = Matrix::create(&c, DType::F64, Location::Host, Order::ColumnMajor, 600, 500).unwrap();
    dense.dense_mut("dense").unwrap().set_columns("dense", &vec![1.5f64; 600 * 500]).unwrap();
    is_cancelled(&c, "from_dense", || from_dense(&c, &dense, 0.0).map(drop));
    let a = from_dense(&c, &dense, 0.0).unwrap();
    is_cancelled(&c, "to_dense", || to_dense(&a, &mut dense));
}
