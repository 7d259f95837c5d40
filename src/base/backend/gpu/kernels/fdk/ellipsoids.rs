//! Exact line integrals through ellipsoids, for phantoms.

use super::super::mirrors::FdkEllipsoidsParams;
use super::super::{constants as c, product, size};
use super::backproject::VIEW_NUMBERS;
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::shape::to_i64;

/// F64 numbers of an ellipsoid: density, semi-axes, centre, rotation about z.
pub const ELLIPSOID_NUMBERS: usize = size(c::FDK_ELLIPSOID);

/// A view's numbers in the table of rays: `inverse * (i, j, 1)` is the direction of the ray through pixel (i, j).
pub fn ray_numbers(inverse: &[[f64; 3]; 3], source: [f64; 3]) -> [f64; VIEW_NUMBERS] {
    let mut numbers = [0.0; VIEW_NUMBERS];
    numbers[..3].copy_from_slice(&source);
    for (row, out) in inverse.iter().zip(numbers[3..].chunks_mut(3)) {
        out.copy_from_slice(row);
    }
    numbers
}

/// Ellipsoids and the views to project them in.
#[derive(Debug, Clone, Copy)]
pub struct Ellipsoids<'a> {
    /// F64 [[`ELLIPSOID_NUMBERS`], count].
    pub ellipsoids: Region<'a>,
    /// Number of ellipsoids; their densities add up.
    pub count: usize,
    /// F64 [[`VIEW_NUMBERS`], batch], from [`ray_numbers`].
    pub views: Region<'a>,
    /// Number of views that are projected.
    pub batch: usize,
    /// Columns of the panel, one ray a pixel.
    pub columns: usize,
    /// Rows of the panel, one ray a pixel.
    pub rows: usize,
    /// F32 [columns, rows, batch].
    pub output: Region<'a>,
}

impl Ellipsoids<'_> {
    /// Enqueues the projection of all views; does not wait.
    ///
    /// # Errors
    /// As for every [launch](crate::backend::gpu::kernels#errors).
    pub fn run(&self, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        let pixels = product("projections", &[self.columns, self.rows, self.batch])?;
        let parameters = FdkEllipsoidsParams {
            output: self.output.array("projections", pixels, 4)?,
            views: self.views.array("views", product("views", &[VIEW_NUMBERS, self.batch])?, 8)?,
            ellipsoids: self.ellipsoids.array(
                "ellipsoids",
                product("ellipsoids", &[ELLIPSOID_NUMBERS, self.count])?,
                8,
            )?,
            columns: to_i64(self.columns),
            rows: to_i64(self.rows),
            batch: to_i64(self.batch),
            count: to_i64(self.count),
        };
        let kernel = gpu.kernel("fdk", "purlin_fdk_ellipsoids")?;
        let threads = c::FDK_THREADS.unsigned_abs();
        let wanted = Grid::covering(pixels, threads)?;
        let blocks = wanted.blocks[0].min(kernel.resident_blocks(threads, 0)?);
        // SAFETY: every array was checked against the kernel's extents.
        unsafe { launch(&kernel, stream, Grid::row(blocks, threads, 0), &parameters) }
    }
}
