//! Slices that are being accumulated, as tiles of columns with z fastest: back-projection adds whole vectors along z, and
//! every tile belongs to one thread.

use super::super::geometry::Grid;
use super::super::ops::{Poll, Watch};
use crate::alloc;
use crate::backend::cpu::Pool;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::error::Result;
use crate::shape::product;

/// Columns of a tile along x and along y.
pub const TILE: usize = 16;

/// Elements of a cache line. Buffers have this many more elements than they need and begin at a cache line, so that no
/// vector straddles two lines.
pub const CACHE_LINE: usize = 16;

/// Elements before the first cache line of a buffer.
pub fn before_line(data: &[f32]) -> usize {
    data.as_ptr().align_offset(4 * CACHE_LINE).min(data.len())
}

/// Elements that are zeroed between two looks.
const PIECE: usize = 1 << 20;

/// Some consecutive slices of a volume.
pub struct Slab {
    nx: usize,
    ny: usize,
    count: usize,
    stride: usize,
    /// Elements of all slices; fewer are in `data` before the first [`Slab::reset`] has ended.
    elements: usize,
    data: Vec<f32>,
}

/// The columns of voxels that a tile has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TilePlace {
    /// Index along x of the first column.
    pub x: usize,
    /// Index along y of the first column.
    pub y: usize,
    /// Columns along x, at most [`TILE`].
    pub nx: usize,
    /// Columns along y, at most [`TILE`].
    pub ny: usize,
}

impl Slab {
    /// Memory for at most `count` slices. The slab has no slices before [`Slab::reset`].
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`]; [`crate::error::Error::InvalidArgument`] if the number of voxels
    /// overflows.
    pub fn new(grid: &Grid, count: usize) -> Result<Self> {
        let [nx, ny, _] = grid.size;
        // Vectors may extend past the end of a column.
        let stride = count.next_multiple_of(16);
        let tiles = nx.div_ceil(TILE) * ny.div_ceil(TILE);
        let elements = product("slab", product("slab", tiles, TILE * TILE)?, stride)? + CACHE_LINE;
        let data = alloc::with_capacity("slices of the volume", elements)?;
        Ok(Self { nx, ny, count: 0, stride: 0, elements, data })
    }

    /// Bytes that [`Slab::new`] takes, whole tiles and padded columns included.
    pub fn bytes(grid: &Grid, count: usize) -> u64 {
        let [nx, ny, _] = grid.size;
        let tiles = (nx.div_ceil(TILE) * ny.div_ceil(TILE)) as u64;
        tiles * (TILE * TILE) as u64 * count.next_multiple_of(16) as u64 * 4
    }

    /// Sets the number of slices, no more than at first, and zeroes them. A thread looks at `watch` every few milliseconds:
    /// the first use of so much memory may take seconds.
    ///
    /// # Errors
    /// As [`Watch::run`].
    pub fn reset(&mut self, pool: &Pool, count: usize, watch: &mut Watch<'_>) -> Result<()> {
        (self.count, self.stride) = (count, count.next_multiple_of(16));
        let (data, elements) = (&mut self.data, self.elements);
        watch.run(pool, |poll| {
            data.par_chunks_mut(PIECE).try_for_each(|part| {
                poll()?;
                part.fill(0.0);
                Ok(())
            })?;
            while data.len() < elements {
                poll()?;
                data.resize(elements.min(data.len() + PIECE), 0.0);
            }
            Ok(())
        })
    }

    /// Largest number of slices that fit the memory.
    pub fn capacity(&self) -> usize {
        let tiles = self.nx.div_ceil(TILE) * self.ny.div_ceil(TILE);
        self.elements / (tiles * TILE * TILE).max(1)
    }

    /// Slices that the slab holds now, at most [`Slab::capacity`].
    pub fn count(&self) -> usize {
        self.count
    }

    /// Runs `work` on every tile with its place, its columns (x fastest, then y, `stride` apart) and their stride.
    ///
    /// # Errors
    /// As [`Watch::run`], and those of `work`. Some tiles are worked on by then, and others in part.
    pub fn for_tiles(
        &mut self,
        pool: &Pool,
        watch: &mut Watch<'_>,
        work: impl Fn(TilePlace, &mut [f32], usize, Poll<'_>) -> Result<()> + Sync,
    ) -> Result<()> {
        let (nx, ny, stride) = (self.nx, self.ny, self.stride);
        let across = nx.div_ceil(TILE);
        watch.run(pool, |poll| {
            let start = before_line(&self.data);
            self.data[start..].par_chunks_mut(TILE * TILE * stride.max(1)).enumerate().try_for_each(|(t, tile)| {
                let (x, y) = (t % across * TILE, t / across * TILE);
                if y >= ny {
                    return Ok(());
                }
                work(TilePlace { x, y, nx: TILE.min(nx - x), ny: TILE.min(ny - y) }, tile, stride, poll)
            })
        })
    }

    /// Writes the slices from `first` on, as many as fit `out`, x fastest: `scale` times the sum plus `offset`.
    pub fn store(&self, pool: &Pool, first: usize, scale: f32, offset: f32, out: &mut [f32]) {
        let (nx, ny, stride) = (self.nx, self.ny, self.stride);
        let across = nx.div_ceil(TILE);
        // Slices in groups, so that each cache line of a column is read once.
        const GROUP: usize = CACHE_LINE;
        let data = &self.data[before_line(&self.data)..];
        pool.run(|| {
            out.par_chunks_mut((nx * ny * GROUP).max(1)).enumerate().for_each(|(g, slices)| {
                let first = first + g * GROUP;
                let count = slices.len() / (nx * ny);
                for y in 0..ny {
                    for x in 0..nx {
                        let tile = y / TILE * across + x / TILE;
                        let column = (tile * TILE + y % TILE) * TILE + x % TILE;
                        let source = &data[column * stride + first..column * stride + first + count];
                        for (k, v) in source.iter().enumerate() {
                            slices[(k * ny + y) * nx + x] = v * scale + offset;
                        }
                    }
                }
            });
        });
    }
}
