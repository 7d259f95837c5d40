//! The nonzero blocks of a TT-matrix's cores. The blocks of spin chains are mostly zero.

use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::{Scalar, with_scalar};

use super::matrix::TrainMatrix;

/// Structure of a block H[w, :, :, w'].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Ones on the diagonal, zeros elsewhere.
    Identity,
    /// Zeros outside the diagonal, and not the identity.
    Diagonal,
    /// A number outside the diagonal that is not 0.
    Dense,
}

/// A block H[w, :, :, w'] that is not all zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Left bond index w, from 0.
    pub left: u32,
    /// Right bond index w', from 0.
    pub right: u32,
    /// Identity, diagonal or dense.
    pub kind: BlockKind,
}

/// The nonzero blocks of every core of a TT-matrix.
#[derive(Debug)]
pub struct Sparsity {
    /// Of all cores, by left index, then by right index.
    blocks: Vec<Block>,
    /// Index of the first block for each left index of each core; one more entry at the end.
    starts: Vec<usize>,
    /// Index in `starts` of each core's first left index.
    cores: Vec<usize>,
}

impl Sparsity {
    /// The blocks of `matrix`, which must be on the host.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a core that has not been set; [`Error::NotSupported`] for a matrix on a device, and
    /// for ranks of 2^32 or more; out of memory.
    pub(super) fn new(argument: &str, matrix: &TrainMatrix) -> Result<Self> {
        let train = matrix.train();
        train.expect_set(argument)?;
        let d = train.shape().len();
        let what = "nonzero blocks of a TT-matrix";
        let mut found = Self { blocks: Vec::new(), starts: Vec::new(), cores: alloc::with_capacity(what, d)? };
        if let Some(&rank) = train.shape().ranks().iter().find(|&&w| u32::try_from(w).is_err()) {
            return Err(Error::NotSupported(format!("{argument}: rank {rank} of a TT-matrix is 2^32 or more")));
        }
        for k in 0..d {
            found.cores.push(found.starts.len());
            let (memory, offset) = train.memory(k);
            let dims = matrix.core(k);
            with_scalar!(train.dtype(), argument, T => {
                let core = &memory.host(argument)?.as_slice::<T>()?[offset..offset + train.shape().core_len(k)];
                found.add_core(core, dims)
            })?;
        }
        alloc::push(what, &mut found.starts, found.blocks.len())?;
        Ok(found)
    }

    fn add_core<T: Scalar>(&mut self, core: &[T], [left, rows, cols, right]: [usize; 4]) -> Result<()> {
        let what = "nonzero blocks of a TT-matrix";
        for w in 0..left {
            alloc::push(what, &mut self.starts, self.blocks.len())?;
            for v in 0..right {
                let at = |i: usize, j: usize| core[w + left * (i + rows * (j + cols * v))];
                if let Some(kind) = kind_of(rows, cols, at) {
                    // Ranks are below 2^32.
                    alloc::push(what, &mut self.blocks, Block { left: w as u32, right: v as u32, kind })?;
                }
            }
        }
        Ok(())
    }

    /// The nonzero blocks of core k, by left index, then by right index.
    #[inline]
    pub fn core(&self, k: usize) -> &[Block] {
        let last = self.cores.get(k + 1).copied().unwrap_or(self.starts.len() - 1);
        &self.blocks[self.starts[self.cores[k]]..self.starts[last]]
    }

    /// The nonzero blocks of core k with left index `left`.
    #[inline]
    pub fn from_left(&self, k: usize, left: usize) -> &[Block] {
        let at = self.cores[k] + left;
        &self.blocks[self.starts[at]..self.starts[at + 1]]
    }
}

/// The structure of a block; `None` for a block of zeros.
fn kind_of<T: Scalar>(rows: usize, cols: usize, at: impl Fn(usize, usize) -> T) -> Option<BlockKind> {
    let zero = T::default();
    let one = T::from_parts(1.0, 0.0);
    let (mut any, mut identity) = (false, rows == cols);
    for j in 0..cols {
        for i in 0..rows {
            let x = at(i, j);
            if i != j && x != zero {
                return Some(BlockKind::Dense);
            }
            if i == j {
                any |= x != zero;
                identity &= x == one;
            }
        }
    }
    any.then_some(if identity { BlockKind::Identity } else { BlockKind::Diagonal })
}
