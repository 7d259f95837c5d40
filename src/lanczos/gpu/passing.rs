//! Device memory of single operations of a run, which is freed after each.

use super::ops::TURN;
use super::space::Krylov;
use super::steps::Steps;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::kernels::lanczos::{orient_workspace, step_blocks, turn_fits};
use crate::error::Result;
use crate::scalar::DType;

/// The sizes of a run that the memory of its operations follows from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Passing {
    /// Largest order of a matrix by which columns are rotated.
    pub rotated: usize,
    /// Largest number of columns whose inner products are computed at once.
    pub multiplied: usize,
    /// Number of vectors that are returned.
    pub count: usize,
    /// Whether columns are in an order of their own, so that vectors are converted by way of one more.
    pub is_ordered: bool,
    /// Largest order of a space whose orthogonality is estimated; 0 for none.
    pub watched: usize,
    /// Bytes of a product with a block of vectors.
    pub block: usize,
    /// Bytes of the tiles of such products.
    pub tiles: usize,
}

impl Krylov<'_> {
    /// Most bytes on the device that operations of a run take beside [`Krylov::bytes`], for a space of `columns` vectors
    /// of `n` numbers. Tiles and the estimates of the orthogonality stay, the others follow each other.
    ///
    /// # Errors
    /// Those of loading the kernels; [`Error::OutOfMemory`](crate::error::Error::OutOfMemory) for sizes beyond any memory.
    pub(in crate::lanczos) fn passing(
        dtype: DType,
        gpu: &Gpu,
        (n, columns): (usize, usize),
        of: Passing,
    ) -> Result<usize> {
        let Passing { rotated: m, multiplied, count, is_ordered, watched, block, tiles } = of;
        let (number, wide) = (dtype.size(), dtype.wide().size());
        let square = m.saturating_mul(m);
        let mut rotation = square.saturating_mul(wide);
        if m > 0 && !turn_fits(dtype, gpu, (m, m))? {
            // Rotations by cuBLAS take the matrix in the numbers' own type, and rows one stretch at a time.
            let turned = TURN.min(n).saturating_mul(m).saturating_add(square);
            rotation = rotation.saturating_add(turned.saturating_mul(number));
        }
        let gram = multiplied.saturating_mul(multiplied).saturating_mul(number);
        let converted = if is_ordered { n.saturating_mul(number) } else { 0 };
        let lambdas = count.saturating_mul(16);
        let most = [rotation, gram, converted, lambdas, orient_workspace(count)?, block];
        let most = most.into_iter().fold(0, usize::max);
        let is_watched = watched > 0 && step_blocks(dtype, gpu, n, columns.max(3))? > 0;
        Ok(most.saturating_add(tiles).saturating_add(if is_watched { Steps::watched_bytes(watched) } else { 0 }))
    }
}
