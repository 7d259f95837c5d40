//! Which numbers of the ket no sum contains: those that an operator multiplies by zeros alone.
//!
//! A NaN among them reaches no result by arithmetic. Where there may be such numbers, the cores are checked themselves. Every
//! number of the bra is multiplied, if only by 0.

use super::slots::Slots;
use crate::alloc;
use crate::error::Result;
use crate::scalar::{Complex, with_scalar};
use crate::tensor::train::{BlockKind, Sparsity, TrainMatrix};

/// Whether some core of the operator between the bonds of `runs`, counted from `cut`, has a column of zeros: in the blocks
/// between slots, which are all that a contraction reads.
///
/// # Errors
/// Out of memory.
pub(super) fn leaves_out(matrix: &TrainMatrix, blocks: &Sparsity, cut: usize, runs: &[Slots]) -> Result<bool> {
    let d = matrix.train().shape().len();
    for t in 0..d {
        if !reads_all(matrix, blocks, ((cut + t) % d, t), runs)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether every column of core k, at position t, has a number that is not 0.
fn reads_all(matrix: &TrainMatrix, blocks: &Sparsity, (k, t): (usize, usize), runs: &[Slots]) -> Result<bool> {
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
                        return Ok(true);
                    }
                    let at = |i: usize, j: usize| core[w as usize + left * (i + m * (j + n * block.right as usize))];
                    for (j, read) in read.iter_mut().enumerate() {
                        *read |= (0..m).any(|i| at(i, j) != T::default());
                    }
                    if read.iter().all(|read| *read) {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    })
}

/// Whether a matrix of n columns, column-major, has one of zeros.
pub(super) fn has_empty_column(op: &[Complex<f64>], n: usize) -> bool {
    n > 0 && op.chunks(n).any(|column| column.iter().all(|x| *x == Complex::new(0.0, 0.0)))
}
