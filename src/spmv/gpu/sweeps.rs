//! The two sweeps: products of entries sorted by blocks of columns, then sums by rows.

use super::cut::{Cut, CutSizes, DeviceCut};
use super::space::Space;
use crate::alloc;
use crate::backend::gpu::kernels::spmv::{self as kernels, Finish, PAD, Rows as DeviceRows, Swept, UNIT_WORDS};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::matrix::sparse::{CopyBytes, Rows};
use crate::scalar::DType;
use crate::shape::{product, to_i64};

const WHAT: &str = "plan of a sparse product";

/// Bytes of the part of x that a thread block holds in shared memory.
const WIDTH_BYTES: usize = 64 << 10;
/// Entries in a unit of work of the first sweep.
const UNIT: usize = 1 << 14;
/// Largest number of rows of a tile of the second sweep.
const MOST_ROWS: usize = 1 << 14;
/// Lanes that read a run of products together.
const LANES: usize = 16;

/// Largest number of entries of a tile of the second sweep.
const fn capacity(dtype: DType) -> usize {
    match dtype.size() {
        4 => 8192,
        8 => 6144,
        _ => 4096,
    }
}

/// A matrix in the form that the sweeps read.
pub(super) struct Sweeps {
    /// The tiles, with the rows that are summed in pieces.
    pub(super) cut: DeviceCut,
    runs: DeviceMemory,
    offsets: DeviceMemory,
    places: DeviceMemory,
    columns: DeviceMemory,
    sources: DeviceMemory,
    units: DeviceMemory,
    unit_count: usize,
    values: Option<DeviceMemory>,
    /// Number of entries, including the padding between blocks of columns.
    pub(super) entries: usize,
    blocks: usize,
    width: usize,
    capacity: usize,
}

/// Whether the sweeps support a matrix: products are counted in 32 bits, and the table of runs must fit into shared
/// memory.
pub(super) fn fits(dtype: DType, cols: usize, entries: usize) -> bool {
    let blocks = cols.div_ceil(WIDTH_BYTES / dtype.size()).max(1);
    let most_entries = u32::MAX as usize - blocks * PAD;
    entries < most_entries && kernels::collect_shared(dtype, blocks, capacity(dtype)) <= 200 << 10
}

impl Sweeps {
    /// Bytes that [`Sweeps::new`] is charged for at most, with the tiles of `cut` and, if there are values, a sorted copy;
    /// and the most entries that a product stores.
    pub(super) fn bytes_of(
        dtype: DType,
        (cols, entries): (usize, usize),
        cut: CutSizes,
        has_values: bool,
    ) -> (CopyBytes, usize) {
        let blocks = cols.div_ceil(WIDTH_BYTES / dtype.size()).max(1);
        let most = entries.saturating_add(blocks.saturating_mul(PAD - 1));
        let each_tile = 4 * blocks + 2 * (blocks + 1) + 2 * capacity(dtype);
        let units = (most / UNIT).saturating_add(blocks).saturating_mul(8 * UNIT_WORDS);
        let each_entry = 2 + 4 + if has_values { dtype.size() } else { 0 };
        let kept = [cut.count.saturating_mul(each_tile), most.saturating_mul(each_entry), units];
        let kept = kept.into_iter().fold(cut.bytes, usize::saturating_add);
        // The counts and the beginnings of the blocks are freed again.
        (CopyBytes { peak: kept.saturating_add(8 * blocks), kept }, most)
    }

    /// The shares of rows in the order of the matrix.
    pub(super) fn cut(dtype: DType, rows: &Rows<'_>) -> Result<Cut> {
        Cut::tiles(rows, capacity(dtype), MOST_ROWS)
    }

    /// Sizes that those of [`Sweeps::cut`] do not exceed for these rows in any order.
    pub(super) fn most_cut(dtype: DType, rows: &Rows<'_>) -> CutSizes {
        Cut::most_tiles(rows, capacity(dtype), MOST_ROWS)
    }

    /// Sorts the entries of a matrix. O(entries) on the device, O(rows) on the host.
    pub(super) fn new(
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        rows: &Rows<'_>,
        a: &DeviceRows<'_>,
        values: Option<&DeviceMemory>,
    ) -> Result<Self> {
        if !fits(dtype, a.cols, a.entries) {
            let problem = format!("method: SWEEPS of {} entries in {} columns", a.entries, a.cols);
            return Err(Error::NotSupported(problem));
        }
        let (width, capacity) = (WIDTH_BYTES / dtype.size(), capacity(dtype));
        let blocks = a.cols.div_ceil(width).max(1);
        let cut = Self::cut(dtype, rows)?;
        let count = cut.count;
        let total = |each: usize, bytes: usize| product(WHAT, product(WHAT, count, each)?, bytes);
        // Each block of columns is padded to a multiple of PAD.
        let most = a.entries + blocks * (PAD - 1);
        let mut made = Self {
            cut: DeviceCut::new(gpu, stream, &cut)?,
            runs: gpu.allocate_uninitialized(WHAT, total(blocks, 4)?)?,
            offsets: gpu.allocate_uninitialized(WHAT, total(blocks + 1, 2)?)?,
            places: gpu.allocate_uninitialized(WHAT, total(capacity, 2)?)?,
            columns: gpu.allocate(WHAT, 2 * most)?,
            sources: gpu.allocate_uninitialized(WHAT, 4 * most)?,
            units: gpu.allocate_uninitialized(WHAT, 0)?,
            unit_count: 0,
            values: None,
            entries: most,
            blocks,
            width,
            capacity,
        };
        gpu.fill(stream, &mut made.sources, 0, 4 * most, 0xff)?;
        let totals = gpu.allocate(WHAT, 4 * blocks)?;
        kernels::count(gpu, stream, a, &made.swept(), totals.whole())?;
        let mut counts = alloc::filled(WHAT, blocks, 0u32)?;
        gpu.download_numbers(stream, &totals, &mut counts)?;
        let (mut begins, mut units) = (alloc::with_capacity(WHAT, blocks)?, Vec::new());
        let mut at = 0;
        for (block, count) in counts.iter().enumerate() {
            begins.push(u32::try_from(at).map_err(|_| Error::Internal("a sweep of 2^32 entries".into()))?);
            let filled = usize::try_from(*count).unwrap_or(usize::MAX).next_multiple_of(PAD);
            for first in (0..filled).step_by(UNIT) {
                alloc::push(WHAT, &mut units, to_i64(at + first))?;
                alloc::push(WHAT, &mut units, to_i64(UNIT.min(filled - first)) | to_i64(block) << 32)?;
            }
            at += filled;
        }
        made.entries = at;
        made.unit_count = units.len() / UNIT_WORDS;
        made.units = gpu.upload_numbers(stream, WHAT, &units)?;
        let begins = gpu.upload_numbers(stream, WHAT, &begins)?;
        kernels::place(gpu, stream, a, &made.swept(), begins.whole())?;
        made.update(dtype, gpu, stream, values, a.entries)?;
        stream.synchronize()?;
        Ok(made)
    }

    /// Sorts the values of the matrix, which are given in its own order.
    pub(super) fn update(
        &mut self,
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        values: Option<&DeviceMemory>,
        entries: usize,
    ) -> Result<()> {
        let Some(values) = values else {
            self.values = None;
            return Ok(());
        };
        let sorted = match self.values.take() {
            Some(memory) => memory,
            None => gpu.allocate_uninitialized(WHAT, product(WHAT, self.entries, dtype.size())?)?,
        };
        kernels::permute(dtype, gpu, stream, &self.swept(), (values.whole(), entries), sorted.whole())?;
        self.values = Some(sorted);
        Ok(())
    }

    fn swept(&self) -> Swept<'_> {
        Swept {
            tiles: self.cut.list.whole(),
            count: self.cut.count,
            runs: self.runs.whole(),
            offsets: self.offsets.whole(),
            places: self.places.whole(),
            columns: self.columns.whole(),
            sources: self.sources.whole(),
            entries: self.entries,
            blocks: self.blocks,
            width: self.width,
            capacity: self.capacity,
        }
    }

    /// Enqueues the two kernels of one product.
    #[allow(clippy::too_many_arguments, reason = "a type, where to work, a matrix and its vectors")]
    pub(super) fn multiply(
        &self,
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        a: &DeviceRows<'_>,
        space: &Space,
        gathered: Region<'_>,
        finish: &Finish<'_>,
    ) -> Result<()> {
        let values = self.values.as_ref().map(DeviceMemory::whole);
        let pieces = self.cut.pieces(space.partials.whole(), space.arrivals.whole());
        let units = (self.units.whole(), self.unit_count);
        let products = space.products.whole();
        kernels::sweep(dtype, gpu, stream, a, &self.swept(), units, values, products, pieces, LANES, gathered, finish)
    }

    pub(super) fn bytes(&self) -> usize {
        let arrays = [&self.runs, &self.offsets, &self.places, &self.columns, &self.sources, &self.units];
        self.cut.bytes + arrays.into_iter().chain(&self.values).map(DeviceMemory::bytes).sum::<usize>()
    }
}
