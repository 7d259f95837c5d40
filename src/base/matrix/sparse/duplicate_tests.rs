//! Matrices that store several entries at one place, which add up.

use super::tests::{context, dense, memory};
use super::*;
use crate::backend::memory::Memory;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Storage};
use crate::scalar::DType;

#[test]
fn entries_at_one_place_are_added_in_every_measure() {
    let c = context(1);
    let made = |cols: &[i32], values: &[f64]| {
        let parts = CsrParts {
            row_ptr: memory(&c, &[0i32, 3, 5]),
            row_ptr_type: IndexType::I32,
            col_idx: memory(&c, cols),
            col_idx_type: IndexType::I32,
            values: Some(Memory::Host(memory(&c, values))),
        };
        Matrix::from_csr(&c, DType::F64, Csr::new(parts, 2, 3, cols.len(), 0).unwrap(), true)
    };
    // 4 0 -5 / 0 1 0, beside each other, apart, and a place whose entries cancel.
    for (cols, values) in
        [([2, 0, 2, 1, 1], [2.0, 4.0, -7.0, 3.0, -2.0]), ([0, 0, 2, 1, 1], [9.0, -5.0, -5.0, 0.5, 0.5])]
    {
        let a = made(&cols, &values);
        let found = [Norm::Frobenius, Norm::One, Norm::Max, Norm::Infinity].map(|n| norm(&a, n).unwrap());
        assert!((found[0] - 42f64.sqrt()).abs() < 1e-15 * 42.0, "{found:?}");
        assert_eq!(found[1..], [5.0, 5.0, 9.0]);
        let (whole, large) = (drop_zeros(&c, &a, 0.0).unwrap(), drop_zeros(&c, &a, 4.5).unwrap());
        assert_eq!(dense(&c, &whole), dense(&c, &a));
        assert_eq!(dense(&c, &large), [[0.0, 0.0, -5.0], [0.0; 3]]);
    }
    let rest = drop_zeros(&c, &made(&[0, 1, 0, 2, 2], &[1.0, 2.0, -1.0, f64::NAN, 1.0]), 0.0).unwrap();
    let Storage::Csr(kept) = rest.storage() else { panic!("not sparse") };
    assert_eq!(kept.nnz(), 3, "the place whose entries cancel is gone, NaN stays");
}
