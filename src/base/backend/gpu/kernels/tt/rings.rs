//! The kernels of `cuda/tt_rings.cu`: whether numbers of a ring hide others that count.

use super::super::mirrors::TtRingParams;
use super::super::{constants as c, size};
use crate::alloc;
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

const WHAT: &str = "search of a ring";
/// 64-bit words of `purlin_tt_ring_core`.
const CORE: usize = size(c::TT_RING_CORE_BYTES) / 8;
/// Most blocks of a search, each with values of all bonds of its own.
const BLOCKS: usize = 256;
/// Most bytes of these values, unless one block needs more.
const SPACE: usize = 64 << 20;
/// Alignment of the pieces of its memory.
const GRAIN: usize = 256;

/// The cores of a ring, as the kernels of the search read them.
pub struct Ring {
    cores: Vec<i64>,
    dtype: DType,
    sizes: usize,
    turns: usize,
    values: usize,
    width: usize,
    widest: usize,
    largest: usize,
}

/// Bytes of the cores' table, sizes, tops and values.
type Pieces = [usize; 4];

impl Ring {
    /// A ring of cores with these (r, n, s), which products go through `turns` times.
    ///
    /// # Errors
    /// [`Error::Internal`] for a core shorter than its shape, and for cores that do not fit together; out of memory.
    pub fn new(dtype: DType, shapes: &[[usize; 3]], cores: &[Region<'_>], turns: usize) -> Result<Self> {
        let mut words = alloc::with_capacity(WHAT, shapes.len() * CORE)?;
        let (mut sizes, mut width, mut widest, mut largest) = (0usize, 0usize, 0, 0);
        let fits = shapes.iter().zip(shapes.iter().cycle().skip(1)).all(|(core, next)| core[2] == next[0]);
        if shapes.is_empty() || shapes.len() != cores.len() || !fits || turns == 0 {
            return Err(Error::Internal(format!("a ring of {} cores of {} to search", cores.len(), shapes.len())));
        }
        for (&[r, n, s], core) in shapes.iter().zip(cores) {
            let elements = super::super::product("core", &[r, n, s])?;
            let count = super::super::product("core", &[elements, parts(dtype)])?;
            let address = core.array("core", count, dtype.part_size())?;
            let address = i64::from_ne_bytes(address.to_ne_bytes());
            words.extend([address, to_i64(r), to_i64(n), to_i64(s), to_i64(sizes), to_i64(width)]);
            let pairs = super::super::product("core", &[r, s])?;
            (sizes, width) = (sizes + pairs, width + r);
            (widest, largest) = (r.max(widest), pairs.max(largest));
        }
        let ring = Self { cores: words, dtype, sizes, turns, values: shapes[0][0], width, widest, largest };
        // The largest product of sizes below.
        super::super::product("search of a ring", &[turns, width + 2, 32])?;
        Ok(ring)
    }

    /// Bonds that a product passes in all turns, both ends included.
    fn bonds(&self) -> usize {
        self.cores.len() / CORE * self.turns + 1
    }

    /// F64 numbers of one block: values of all bonds, and two vectors.
    fn stride(&self) -> usize {
        self.turns * self.width + self.values + 2 * self.widest
    }

    fn blocks(&self) -> usize {
        self.values.min(BLOCKS).min((SPACE / 8 / self.stride()).max(1))
    }

    fn pieces(&self) -> Pieces {
        let whole = |bytes: usize| bytes.next_multiple_of(GRAIN);
        let tops = (2 * self.bonds() + 1) * 8;
        [self.cores.len() * 8, self.sizes * 4, tops, self.blocks() * self.stride() * 8].map(whole)
    }

    /// Bytes of memory of [`Ring::search`].
    pub fn bytes(&self) -> usize {
        self.pieces().iter().sum()
    }

    /// The table of cores, the first words of the memory of [`Ring::search`].
    pub fn table(&self) -> &[i64] {
        &self.cores
    }

    /// Enqueues the search in `space`, which begins with the table of cores: the first number of `to` becomes NaN if a path
    /// that closes, and whose product is at most 2^`digits` below the largest, meets products more than 2^`half` above its
    /// own. Does nothing where `doubt` leads to 0.
    ///
    /// # Errors
    /// [`Error::Internal`] for memory that is too short.
    pub fn search(
        &self,
        gpu: &Gpu,
        stream: &GpuStream,
        space: Region<'_>,
        (half, digits): (f64, f64),
        doubt: Option<Region<'_>>,
        to: Region<'_>,
    ) -> Result<()> {
        let [table, sizes, tops, values] = self.pieces();
        let keys = space.part(table + sizes, tops)?;
        let is_complex = matches!(self.dtype, DType::CF32 | DType::CF64);
        let parameters = TtRingParams {
            cores: space.part(0, table)?.array("cores", self.cores.len(), 8)?,
            sizes: space.part(table, sizes)?.array("sizes", self.sizes, 4)?,
            tops: keys.array("tops", 2 * self.bonds() + 1, 8)?,
            space: space.part(table + sizes + tops, values)?.array("values", self.blocks() * self.stride(), 8)?,
            doubt: doubt.map(|doubt| doubt.array("doubt", 1, 8)).transpose()?.unwrap_or(0),
            to: to.array("results", 1, 8)?,
            count: to_i64(self.cores.len() / CORE),
            turns: to_i64(self.turns),
            values: to_i64(self.values),
            width: to_i64(self.width),
            widest: to_i64(self.widest),
            stride: to_i64(self.stride()),
            parts: if is_complex { 2 } else { 1 },
            half,
            digits,
        };
        gpu.clear(stream, keys)?;
        let threads = c::TT_RING_THREADS.unsigned_abs();
        let name = match self.dtype {
            DType::F32 | DType::CF32 => "purlin_tt_ring_sizes_f32",
            _ => "purlin_tt_ring_sizes_f64",
        };
        let beside = self.largest.div_ceil(size(c::TT_RING_THREADS)).clamp(1, 64);
        let below = (self.cores.len() / CORE).clamp(1, 65_535);
        let blocks = [u32::try_from(beside).unwrap_or(1), u32::try_from(below).unwrap_or(1), 1];
        // SAFETY: the cores were checked when the ring was made, all other memory above.
        unsafe { launch(&gpu.kernel("tt_rings", name)?, stream, Grid { blocks, threads, shared: 0 }, &parameters)? };
        let grid = Grid::row(u32::try_from(self.blocks()).unwrap_or(1), threads, 0);
        for name in ["purlin_tt_ring_tops", "purlin_tt_ring_hides"] {
            // SAFETY: as above; each block has values of its own.
            unsafe { launch(&gpu.kernel("tt_rings", name)?, stream, grid, &parameters)? };
        }
        Ok(())
    }
}

/// Real numbers of an element.
fn parts(dtype: DType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}
