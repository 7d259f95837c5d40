//! Finds whether an operator has columns of zeros. Entries of the ket that are multiplied only by such columns are in
//! no sum.
//!
//! A NaN among them does not reach the result. So if there is a column of zeros, the cores of the ket themselves must
//! be checked. Entries of the bra need no such check: each is multiplied by some sum, though perhaps by 0.

use super::slots::Slots;
use crate::alloc;
use crate::error::Result;
use crate::scalar::{Complex, with_scalar};
use crate::tensor::train::{BlockKind, Sparsity, TrainMatrix};

/// Whether a core of the operator has a column of zeros in the blocks between the slots of `runs`, the only blocks that
/// a contraction reads. Positions are counted from bond `cut`.
///
/// # Errors
/// Out of memory.
pub(super) fn has_zero_columns(matrix: &TrainMatrix, blocks: &Sparsity, cut: usize, runs: &[Slots]) -> Result<bool> {
    let d = matrix.train().shape().len();
    for t in 0..d {
        if has_zero_column_at(matrix, blocks, ((cut + t) % d, t), runs)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether core k, at position t, has a column of zeros in these blocks.
fn has_zero_column_at(matrix: &TrainMatrix, blocks: &Sparsity, (k, t): (usize, usize), runs: &[Slots]) -> Result<bool> {
    let [left, m, n, _] = matrix.core(k);
    let train = matrix.train();
    let (memory, offset) = train.memory(k);
    let mut read = alloc::filled("columns of an operator", n, false)?;
    with_scalar!(train.dtype(), "h", T => {
        let core = &memory.host("h")?.as_slice::<T>()?[offset..offset + train.shape().core_len(k)];
        for slots in runs {
            for &(p, w) in slots.operator(t) {
                for block in blocks.from_left(k, w as usize) {
                    if slots.find(t + 1, (p, block.right)).is_none() {
                        continue;
                    }
                    if block.kind == BlockKind::Identity {
                        return Ok(false);
                    }
                    let at = |i: usize, j: usize| core[w as usize + left * (i + m * (j + n * block.right as usize))];
                    for (j, read) in read.iter_mut().enumerate() {
                        *read |= (0..m).any(|i| at(i, j) != T::default());
                    }
                    if read.iter().all(|read| *read) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    })
}

/// Whether a matrix with n rows and n columns, column-major, has a column of zeros.
pub(super) fn has_zero_column(op: &[Complex<f64>], n: usize) -> bool {
    n > 0 && op.chunks(n).any(|column| column.iter().all(|x| *x == Complex::new(0.0, 0.0)))
}
