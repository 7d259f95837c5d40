//! Conversion of finished slices to the stored type.

use super::super::mirrors::FdkStoreParams;
use super::super::{constants as c, product};
use super::{COUNTERS, Raw};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::shape::to_i64;

/// The cylinder about the z axis that every view sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fov {
    /// Its axis, voxel indices along x and y.
    pub centre: [f64; 2],
    /// Its radius, in voxels along x.
    pub radius: f64,
    /// Length of a voxel along y over that along x.
    pub ratio: f64,
}

/// Slices on their way out: `scale * value + offset`, rounded and saturated for integers.
#[derive(Debug, Clone, Copy)]
pub struct Store<'a> {
    /// F32 [nx, ny, slices].
    pub source: Region<'a>,
    /// Voxels of a slice along x and y, and slices.
    pub size: [usize; 3],
    /// Factor of each value; applied in double precision for F64.
    pub scale: f64,
    /// Added after the multiplication by `scale`, in the unit of the output.
    pub offset: f64,
    /// The field of view: voxels outside become `offset`. `None` keeps all.
    pub fov: Option<Fov>,
    /// [nx, ny, slices] of `number`; may be the source for F32.
    pub output: Region<'a>,
    /// Type of the numbers of `output`.
    pub number: Raw,
    /// Whether the bytes of each number are to stand in the other order.
    pub swap: bool,
    /// U64 `[COUNTERS]`: voxels beyond the range of `number` are added to one of these.
    pub counters: Region<'a>,
}

impl Store<'_> {
    /// Enqueues the conversion of all slices; does not wait.
    ///
    /// # Errors
    /// As for every [launch](crate::backend::gpu::kernels#errors).
    pub fn run(&self, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        let voxels = product("volume", &self.size)?;
        let [nx, ny, slices] = self.size.map(to_i64);
        let fov = self.fov.unwrap_or(Fov { centre: [0.0; 2], radius: -1.0, ratio: 1.0 });
        let parameters = FdkStoreParams {
            source: self.source.array("volume", voxels, 4)?,
            output: self.output.array("output", voxels, self.number.bytes())?,
            counters: self.counters.array("counters", COUNTERS, 8)?,
            nx,
            ny,
            slices,
            scale: self.scale,
            offset: self.offset,
            fov_x: fov.centre[0],
            fov_y: fov.centre[1],
            fov_radius: fov.radius,
            ratio: fov.ratio,
            number: self.number as i32,
            flags: if self.swap { c::FDK_SWAP } else { 0 },
        };
        let kernel = gpu.kernel("fdk", "purlin_fdk_store")?;
        let threads = c::FDK_THREADS.unsigned_abs();
        let wanted = Grid::covering(voxels.div_ceil(8), threads)?;
        let blocks = wanted.blocks[0].min(kernel.resident_blocks(threads, 0)?);
        // SAFETY: both arrays were checked against the kernel's extents.
        unsafe { launch(&kernel, stream, Grid::row(blocks, threads, 0), &parameters) }
    }
}
