//! Back-projection of filtered views into slabs of the volume.

use super::super::mirrors::FdkBackprojectParams;
use super::super::{constants as c, product, size, small};
use super::{Kind, Layout, Shape};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::shape::to_i64;

/// F64 numbers of a view in the back-projection's table.
pub const VIEW_NUMBERS: usize = size(c::FDK_VIEW);

/// A view's numbers in the back-projection's table: the matrix from voxel indices (i, j, k, 1) to (column w, row w, w),
/// and the weight of a sample, which is divided by w^2.
pub fn view_numbers(matrix: &[[f64; 4]; 3], weight: f64) -> [f64; VIEW_NUMBERS] {
    let mut numbers = [0.0; VIEW_NUMBERS];
    for (row, out) in matrix.iter().zip(numbers.chunks_mut(4)) {
        out.copy_from_slice(row);
    }
    numbers[12] = weight;
    numbers
}

/// Slices of the volume in device memory: F32 [nx, ny, slices].
#[derive(Debug, Clone, Copy)]
pub struct Slab<'a> {
    /// F32 [nx, ny, slices], packed.
    pub memory: Region<'a>,
    /// Number of the first slice in the whole volume.
    pub first: usize,
    /// Number of slices in this memory.
    pub slices: usize,
}

/// Some views to be added to some slices.
#[derive(Debug, Clone, Copy)]
pub struct Backprojection<'a> {
    /// F32 images, as the filter writes them.
    pub images: Region<'a>,
    /// How they lie: from [`Shape::layout`].
    pub layout: Layout,
    /// I32: numbers of the views in the scan, below `scan`.
    pub index: Region<'a>,
    /// Views that are added: images in `images`, numbers in `index`.
    pub batch: usize,
    /// F64 [[`VIEW_NUMBERS`], scan], from [`view_numbers`].
    pub views: Region<'a>,
    /// Views of the whole scan, rows of the table `views`.
    pub scan: usize,
    /// Kernel and window, chosen for the views of this scan.
    pub shape: Shape,
    /// A sample counts only if all its pixels exist.
    pub skip: bool,
    /// Voxels of the whole volume.
    pub size: [usize; 3],
    /// Rows of the whole panel.
    pub panel_rows: usize,
    /// The slab to which the views are added. Unless all rows of the panel are stored, it begins where tiles do
    /// ([`Shape::walked`]), and the stored rows hold every sample of it.
    pub slab: Slab<'a>,
    /// With a plane of symmetry: the slab's mirror image, made at the same time. Without it `slab` is looked up for both
    /// halves, so a slab on one side of the plane takes twice as long.
    pub mirror_slab: Option<Slab<'a>>,
}

impl Backprojection<'_> {
    /// Adds the views. The bits do not depend on how the volume is cut into slabs, nor on the batches.
    ///
    /// # Errors
    /// [`Error::Internal`] for images without the border or the alignment that the kernel needs, for slabs outside of
    /// the volume or without their rows, and for `skip` with a plane of symmetry; [`Error::NotSupported`] for images of
    /// more than 2^30 samples; as for every [launch](crate::backend::gpu::kernels#errors).
    pub fn run(&self, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        self.layout.check()?;
        let [nx, ny, nz] = self.size;
        let l = &self.layout;
        let (left, top) = self.shape.border();
        let has_border = l.left >= left
            && l.pitch >= l.left + l.columns + left
            && l.top >= top
            && l.height >= l.top + l.rows + top
            && l.left.is_multiple_of(4)
            && l.pitch.is_multiple_of(4);
        if !has_border {
            return Err(Error::Internal(format!("images without the border that their kernel needs: {l:?}")));
        }
        if self.shape.mirror.is_some() && self.skip {
            return Err(Error::Internal("a plane of symmetry where pixels must exist".into()));
        }
        let samples = product("filtered", &[l.samples(), self.batch])?;
        if l.samples() > 1 << 30 {
            let problem = format!("detector: images of {} samples, at most 2^30 on a GPU", l.samples());
            return Err(Error::NotSupported(problem));
        }
        let volume = |s: &Slab<'_>| {
            if s.first + s.slices > nz {
                return Err(Error::Internal("slices beyond the volume".into()));
            }
            s.memory.array("volume", product("volume", &[nx, ny, s.slices])?, 4)
        };
        if self.slab.slices == 0 || self.batch == 0 || l.rows == 0 {
            return Ok(());
        }
        if l.rows < self.panel_rows {
            self.check_slabs()?;
        }
        let other = self.mirror_slab.as_ref().unwrap_or(&self.slab);
        let (start, tiles) = self.tiles(other);
        let images = self.images.array("filtered", samples, 4)?;
        if !images.is_multiple_of(16) {
            return Err(Error::Internal(format!("images at {images:#x}, which is not aligned to 16 bytes")));
        }
        let mirror = self.shape.mirror;
        let parameters = FdkBackprojectParams {
            images,
            index: self.index.array("index", self.batch, 4)?,
            views: self.views.array("views", product("views", &[VIEW_NUMBERS, self.scan])?, 8)?,
            volume: volume(&self.slab)?,
            volume_mirror: volume(other)?,
            nx: to_i64(nx),
            ny: to_i64(ny),
            start: to_i64(start),
            first: to_i64(self.slab.first),
            slices: to_i64(self.slab.slices),
            first_mirror: to_i64(other.first),
            slices_mirror: to_i64(other.slices),
            mirror: to_i64(mirror.map_or(nz, |m| m.slices)),
            mirror_row: mirror.map_or(0, |m| m.rows),
            batch: small("batch", self.batch)?,
            columns: small("columns", l.columns)?,
            panel_rows: small("detector_rows", self.panel_rows)?,
            first_row: small("first row", l.first_row)?,
            rows: small("rows", l.rows)?,
            left: small("border", l.left)?,
            top: small("border", l.top)?,
            pitch: small("pitch", l.pitch)?,
            height: small("height", l.height)?,
            window_rows: small("window", self.shape.window_rows)?,
        };
        let kernel = gpu.kernel("fdk_backproject", &self.name())?;
        let tile = size(c::FDK_TILE);
        let blocks = |n: usize, limit: u32| {
            u32::try_from(n)
                .ok()
                .filter(|n| *n <= limit)
                .ok_or_else(|| Error::NotSupported(format!("volume: {n} tiles along an axis, at most {limit}")))
        };
        let grid = Grid {
            blocks: [
                blocks(nx.div_ceil(tile), i32::MAX.unsigned_abs())?,
                blocks(ny.div_ceil(tile), 65_535)?,
                blocks(tiles, 65_535)?,
            ],
            threads: c::FDK_THREADS.unsigned_abs(),
            shared: self.shape.shared(),
        };
        // SAFETY: every array was checked against the kernel's extents; the numbers of the views are below `scan` by the
        // caller's word, and windows stay inside the images' borders.
        unsafe { launch(&kernel, stream, grid, &parameters) }
    }

    /// Whether the walks to the slabs' slices begin in one of them.
    fn check_slabs(&self) -> Result<()> {
        let pieces = || std::iter::once(&self.slab).chain(&self.mirror_slab).map(|s| s.first..s.first + s.slices);
        for piece in pieces() {
            let walked = self.shape.walked(piece.start, piece.len(), self.size[2]);
            if let Some(k) = walked.clone().find(|k| !pieces().any(|p| p.contains(k))) {
                return Err(Error::Internal(format!("slices {piece:?} without the rows of slice {k}, in {walked:?}")));
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        let edge = if self.skip { "_skip" } else { "" };
        let width = self.shape.width as i32;
        match (self.shape.kind, self.shape.mirror) {
            (Kind::Column, Some(_)) => format!("purlin_fdk_column_mirror_{width}"),
            (Kind::Column, None) => format!("purlin_fdk_column{edge}_{width}"),
            (Kind::General, _) => format!("purlin_fdk_general{edge}_{width}"),
            (Kind::Plain, _) => format!("purlin_fdk_plain{edge}"),
        }
    }

    /// First slice of the first tile, and how many tiles along z reach into the slab or, mirrored, into `other`.
    fn tiles(&self, other: &Slab<'_>) -> (usize, usize) {
        let end = |s: &Slab<'_>| s.first + s.slices;
        let Some(mirror) = self.shape.mirror else {
            let depth = self.depth();
            let first = self.slab.first / depth;
            return (first * depth, end(&self.slab).div_ceil(depth) - first);
        };
        // Tiles begin at the plane; the slices above it and the mirror images of those below it are theirs.
        let (depth, plane) = (self.depth(), mirror.slices.div_ceil(2));
        let above = (self.slab.first.max(plane), end(&self.slab).max(plane));
        let image = |k: usize| (mirror.slices + 1).saturating_sub(k).max(plane);
        let below = (image(end(other)), image(other.first));
        let pieces = [above, below].into_iter().filter(|(a, b)| b > a);
        let (low, high) = pieces.fold((usize::MAX, 0), |(low, high), (a, b)| (low.min(a), high.max(b)));
        if high == 0 {
            return (plane, 0);
        }
        let first = (low - plane) / depth;
        (plane + first * depth, (high - plane).div_ceil(depth) - first)
    }

    fn depth(&self) -> usize {
        match self.shape.kind {
            Kind::Plain => size(c::FDK_GENERAL_SLICES),
            _ => self.shape.slice_group(),
        }
    }
}
