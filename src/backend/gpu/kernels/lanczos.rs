//! The kernels of `cuda/lanczos.cu`.

use super::{constants as c, filling, optional, product, size};
use crate::backend::gpu::launch::{Grid, Parameters, launch};
use crate::backend::gpu::{Gpu, GpuStream, Kernel, Region};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::to_i64;

/// Rows whose sums are one piece.
const PIECE: usize = size(c::LANCZOS_PIECE);

macro_rules! parameters {
    ($($(#[$m:meta])* $name:ident $bytes:ident { $($field:ident: $t:ty,)* })*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        struct $name { $($field: $t,)* }

        const _: () = assert!(size_of::<$name>() == size(c::$bytes));
        // SAFETY: the same members in the same order as in cuda/lanczos_launch.h, where the size is asserted too.
        unsafe impl Parameters for $name {}
    )*};
}

parameters! {
    /// `purlin_lanczos_pass_params`.
    PassParams LANCZOS_PASS_PARAMS_BYTES {
        space: u64,
        vector: u64,
        weights: u64,
        partials: u64,
        squares: u64,
        rows: i64,
        count: i64,
        keep: i64,
    }
    /// `purlin_lanczos_total_params`.
    TotalParams LANCZOS_TOTAL_PARAMS_BYTES {
        partials: u64,
        output: u64,
        pieces: i64,
        numbers: i64,
        factor: f64,
    }
    /// `purlin_lanczos_scale_params`.
    ScaleParams LANCZOS_SCALE_PARAMS_BYTES {
        from: u64,
        to: u64,
        square: u64,
        parts: u64,
        rows: i64,
        factor: f64,
        keep: f64,
    }
}

/// Real numbers of one of `T`.
pub const fn parts<T: Scalar>() -> usize {
    if T::IS_COMPLEX { 2 } else { 1 }
}

/// Pieces that `rows` rows are cut into.
pub fn pieces(rows: usize) -> usize {
    rows.div_ceil(PIECE)
}

fn kernel<T: Scalar>(gpu: &Gpu, what: &str) -> Result<Kernel> {
    gpu.kernel("lanczos", &format!("purlin_lanczos_{what}_{}", T::DTYPE.name().to_lowercase()))
}

/// What one reading of a space does.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// V, `count` columns of `rows` numbers, packed.
    pub space: Region<'a>,
    /// w.
    pub vector: Region<'a>,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub count: usize,
    /// h, F64, of complex numbers two each: w -= V h first.
    pub weights: Option<Region<'a>>,
    /// Where V^H w of the pieces goes: [`parts`] times `count` numbers of [`pieces`] F64 each.
    pub partials: Option<Region<'a>>,
    /// Where |w|^2 before and after goes, two numbers likewise.
    pub squares: Option<Region<'a>>,
    /// Leaves w as it is.
    pub keep: bool,
}

/// Reads a space once: takes components away, and forms those that are left.
pub fn pass<T: Scalar>(gpu: &Gpu, stream: &GpuStream, pass: Pass<'_>) -> Result<()> {
    let pieces = pieces(pass.rows);
    let numbers = product("sums", &[parts::<T>(), pass.count])?;
    let parameters = PassParams {
        space: pass.space.array("space", product("space", &[pass.rows, pass.count])?, size_of::<T>())?,
        vector: pass.vector.array("vector", pass.rows, size_of::<T>())?,
        weights: optional::<f64>("weights", pass.weights, numbers)?,
        partials: optional::<f64>("partials", pass.partials, product("partials", &[numbers, pieces])?)?,
        squares: optional::<f64>("squares", pass.squares, 2 * pieces)?,
        rows: to_i64(pass.rows),
        count: to_i64(pass.count),
        keep: i64::from(pass.keep),
    };
    let grid = Grid::row(blocks(pieces)?, c::LANCZOS_THREADS.unsigned_abs(), 0);
    // SAFETY: every array was checked against the kernel's extents.
    unsafe { launch(&kernel::<T>(gpu, "pass")?, stream, grid, &parameters) }
}

fn blocks(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::NotSupported(format!("{count} blocks of rows on a GPU")))
}

/// Adds the pieces of `numbers` numbers in their order, times `factor`.
pub fn total(
    gpu: &Gpu,
    stream: &GpuStream,
    partials: Region<'_>,
    (numbers, pieces): (usize, usize),
    factor: f64,
    output: Region<'_>,
) -> Result<()> {
    let parameters = TotalParams {
        partials: partials.array("partials", product("partials", &[numbers, pieces])?, 8)?,
        output: output.array("output", numbers, 8)?,
        pieces: to_i64(pieces),
        numbers: to_i64(numbers),
        factor,
    };
    let kernel = gpu.kernel("lanczos", "purlin_lanczos_total")?;
    let grid = Grid::row(blocks(numbers)?, c::LANCZOS_THREADS.unsigned_abs(), 0);
    // SAFETY: as above.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// `to = factor / sqrt(square) * parts * from + keep * to`, element by element.
#[derive(Clone, Copy)]
pub struct Scale<'a> {
    /// What is multiplied.
    pub from: Region<'a>,
    /// What is written; may be `from`.
    pub to: Region<'a>,
    /// Numbers.
    pub rows: usize,
    /// An F64 on the device; 1 if there is none.
    pub square: Option<Region<'a>>,
    /// Real numbers, one an element; ones if there are none.
    pub parts: Option<Region<'a>>,
    /// The factor.
    pub factor: f64,
    /// With 0 nothing of `to` is read.
    pub keep: f64,
}

/// As [`Scale`] says.
pub fn scale<T: Scalar>(gpu: &Gpu, stream: &GpuStream, scale: Scale<'_>) -> Result<()> {
    let parameters = ScaleParams {
        from: scale.from.array("from", scale.rows, size_of::<T>())?,
        to: scale.to.array("to", scale.rows, size_of::<T>())?,
        square: optional::<f64>("square", scale.square, 1)?,
        parts: optional::<T::Part>("parts", scale.parts, scale.rows)?,
        rows: to_i64(scale.rows),
        factor: scale.factor,
        keep: scale.keep,
    };
    let function = kernel::<T>(gpu, "scale")?;
    let threads = c::LANCZOS_THREADS;
    let grid = filling(&function, scale.rows.div_ceil(size(threads)), threads, 0)?;
    // SAFETY: as above.
    unsafe { launch(&function, stream, grid, &parameters) }
}
