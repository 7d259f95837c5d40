//! A volume that reaches a source. Only a box in it is reconstructed, because the mask blanks the rest.
//!
//! Behind a source nothing can be back-projected, and no view sees anything there. So such a volume is reconstructed as a
//! box of voxels, limited in x and y, around the disc that the mask keeps. The sink completes each slice with blank voxels.
//! Volumes in front of all sources have no frame.

use super::fov::seen_radius;
use super::geometry::{Geometry, Grid};
use super::weights::Scan;
use crate::backend::memory::HostMemory;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::{Number, encode};
use crate::blocks::sink::Sink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::shape::to_u64;

/// The volume around the box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// The voxels of the whole volume, including the box.
    pub grid: Grid,
    /// The box's first voxel along x and y. Along z the box is as long as the volume.
    pub first: [usize; 2],
}

impl Frame {
    /// Computes the box of `grid` around the disc that the mask keeps, and the frame around it. `place` describes where the
    /// grid reaches a source, for the error.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the mask keeps no voxel of the grid, and if the box itself reaches a source.
    pub fn around(grid: Grid, geometry: &Geometry, scan: &Scan, place: &str) -> Result<(Grid, Self)> {
        let radii = (0..grid.size[2]).map(|k| seen_radius(geometry, scan, grid.position(2, k)));
        let radius = radii.fold(-1.0, f64::max);
        let ends = |axis: usize| {
            let seen = |i: &usize| grid.position(axis, *i).abs() <= radius;
            Some(((0..grid.size[axis]).find(seen)?, (0..grid.size[axis]).rfind(seen)?))
        };
        let (Some((left, right)), Some((front, back))) = (ends(0), ends(1)) else {
            let problem = format!("reaches {place}, and holds no voxel that every view sees, which fov_mask keeps");
            return Err(Error::invalid("grid", problem));
        };
        let inner = Grid {
            size: [right + 1 - left, back + 1 - front, grid.size[2]],
            origin: [grid.position(0, left), grid.position(1, front), grid.origin[2]],
            ..grid
        };
        if let Some(place) = inner.behind_source(geometry) {
            let [nx, ny, _] = inner.size;
            let disc = format!("{nx} x {ny} columns around the disc of {radius:.4} mm that fov_mask keeps");
            return Err(Error::invalid("grid", format!("even its {disc} reach {place}")));
        }
        Ok((inner, Self { grid, first: [left, front] }))
    }

    /// Bytes of a slice of the volume.
    pub fn bytes(&self, number: Number) -> u64 {
        let [nx, ny, _] = self.grid.size;
        to_u64(nx) * to_u64(ny) * to_u64(number.size())
    }

    /// Elements of the volume before row `j` of the box in slice `k`.
    pub fn row(&self, j: usize, k: usize) -> usize {
        let [nx, ny, _] = self.grid.size;
        (k * ny + self.first[1] + j) * nx + self.first[0]
    }
}

/// A sink for slices of the box. It completes them to slices of the volume.
pub struct FramedSink<'a> {
    sink: Box<dyn Sink + 'a>,
    frame: Frame,
    /// Type and sizes of the box.
    info: ArrayInfo,
    /// A slice of the volume; voxels outside the box are always blank.
    slice: HostMemory,
}

impl<'a> FramedSink<'a> {
    /// Wraps `sink`, which takes the volume. The result takes slices of the box, `size` voxels. `blank` is the value outside
    /// the box before conversion to the output type.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(
        sink: Box<dyn Sink + 'a>,
        frame: Frame,
        size: [usize; 3],
        blank: f64,
        context: &Context,
    ) -> Result<Self> {
        let number = sink.info().number;
        let [nx, ny, _] = frame.grid.size;
        let bytes = nx * ny * number.size();
        let mut slice = HostMemory::allocate("slice of the volume", bytes, context.host_budget())?;
        let mut voxel = [0u8; 8];
        encode(number, &[blank], &mut voxel[..number.size()]);
        let voxels = slice.as_mut_slice::<u8>()?[..bytes].chunks_exact_mut(number.size());
        voxels.for_each(|v| v.copy_from_slice(&voxel[..number.size()]));
        Ok(Self { sink, frame, info: ArrayInfo::new(number, &size)?, slice })
    }
}

impl Sink for FramedSink<'_> {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn write(&mut self, block: &Block, data: &[u8]) -> Result<()> {
        block.check(&self.info)?;
        let size = self.info.number.size();
        let (nx, ny) = (self.info.dims[0], self.info.dims[1]);
        if block.elements() != nx * ny * block.count()[2] {
            return Err(Error::Internal(format!("a block of {:?} where whole slices were expected", block.count())));
        }
        let whole = Block::whole(self.sink.info());
        let bytes = whole.along(2, 0, 1).elements() * size;
        let slice = &mut self.slice.as_mut_slice::<u8>()?[..bytes];
        for (k, part) in data[..block.elements() * size].chunks_exact(nx * ny * size).enumerate() {
            for (j, row) in part.chunks_exact(nx * size).enumerate() {
                let at = self.frame.row(j, 0) * size;
                slice[at..at + row.len()].copy_from_slice(row);
            }
            self.sink.write(&whole.along(2, block.first()[2] + k, 1), slice)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.sink.finish()
    }
}
