//! The kernels of `cuda/rsvd.cu`.

use super::mirrors::{
    RsvdConvertParams, RsvdCopyParams, RsvdMergeParams, RsvdMirrorParams, RsvdMomentsParams, RsvdSparseParams,
    RsvdTallyParams,
};
use super::{constants as c, filling, optional, product, size, small, span, suffix_of};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::to_i64;

/// Doubles of a record: a mean and a sum of squares, or the number that is subtracted and a factor.
pub const RECORD: usize = size(c::RSVD_RECORD);

/// Doubles of a tally, which a block of threads writes about its entries.
pub const TALLY: usize = size(c::RSVD_TALLY);

/// Bytes of the tallies that a conversion needs beside its result.
pub const TALLIES_BYTES: usize = size(c::RSVD_MOST_BLOCKS) * TALLY * 8;

/// Name of the kernel `what` for a type.
fn name(dtype: DType, what: &str) -> Result<String> {
    Ok(format!("purlin_rsvd_{what}_{}", suffix_of(dtype)?))
}

/// The ending of kernel names for a type of entries.
fn number(dtype: DType) -> Result<i32> {
    Ok(match dtype {
        DType::U8 => c::FDK_U8,
        DType::I8 => c::FDK_I8,
        DType::U16 => c::FDK_U16,
        DType::I16 => c::FDK_I16,
        DType::U32 => c::FDK_U32,
        DType::I32 => c::FDK_I32,
        DType::F16 => c::FDK_F16,
        DType::F32 => c::FDK_F32,
        DType::F64 => c::FDK_F64,
        DType::CF32 => c::RSVD_CF32,
        DType::CF64 => c::RSVD_CF64,
        DType::I64 => {
            return Err(Error::NotSupported("a: is I64, integers of at most 32 bits are needed on a GPU".into()));
        }
    })
}

/// Rows of the data, or some of their entries: lines that are contiguous, `stride` elements apart.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    /// From the first element of line 0 on.
    pub memory: Region<'a>,
    /// Elements of a line, which are contiguous.
    pub inner: usize,
    /// Number of lines, `stride` elements apart.
    pub outer: usize,
    /// Elements from one line to the next.
    pub stride: usize,
}

impl Lines<'_> {
    fn array(&self, what: &str, element: usize) -> Result<u64> {
        if self.outer > 1 && self.stride < self.inner {
            return Err(Error::Internal(format!("{what}: lines of {} every {}", self.inner, self.stride)));
        }
        self.memory.array(what, span(what, self.inner, 1, self.outer, self.stride)?, element)
    }
}

/// One of the two axes of [`Lines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Along a line: contiguous elements.
    Inner,
    /// From line to line: elements `stride` apart.
    Outer,
}

/// The numbers subtracted from each entry, and its divisors, in records along one axis.
#[derive(Clone, Copy)]
pub struct Centre<'a> {
    /// A record for each place along `axis`.
    pub records: Region<'a>,
    /// The index, of rows or of columns, that selects the record.
    pub axis: Axis,
    /// Whether the records' factors count.
    pub divides: bool,
}

/// Entries as they come to numbers of the type of computing.
#[derive(Clone, Copy)]
pub struct Convert<'a> {
    /// Entries as they were read.
    pub source: Lines<'a>,
    /// Type of the entries of `source`.
    pub dtype: DType,
    /// Where they go, with as many lines as long; may be the source, if the types are the same. Nowhere: the tally alone.
    pub output: Option<Lines<'a>>,
    /// The numbers that are subtracted; `None` for none.
    pub centre: Option<Centre<'a>>,
    /// The power of two that entries and means are multiplied by before they are subtracted.
    pub factor: f64,
    /// Workspace of [`TALLIES_BYTES`] bytes, and the record: the sum of the squares of the output's moduli, the largest
    /// modulus of the input, the number of entries that are not finite, the largest part of a centred entry times the
    /// factor.
    pub tally: Option<(Region<'a>, Region<'a>)>,
}

impl Convert<'_> {
    /// Enqueues the conversion to `dtype`; does not wait.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for complex entries and a real `dtype`; [`Error::NotSupported`] for entries in I64;
    /// [`Error::Internal`] for lines that overlap, and for an output of another shape; as for every
    /// [launch](crate::backend::gpu::kernels#errors).
    pub fn run(&self, dtype: DType, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        let Lines { inner, outer, .. } = self.source;
        let is_complex = matches!(self.dtype, DType::CF32 | DType::CF64);
        if is_complex && !dtype.is_complex() {
            return Err(Error::invalid(
                "a",
                format!("has {} entries, the type of computing is real", self.dtype.name()),
            ));
        }
        if self.output.is_some_and(|o| (o.inner, o.outer) != (inner, outer)) {
            return Err(Error::Internal("a conversion to lines of another shape".into()));
        }
        let (center, axis, flags) = match &self.centre {
            None => (0, c::RSVD_NONE, 0),
            Some(centre) => {
                let (length, axis) = match centre.axis {
                    Axis::Inner => (inner, c::RSVD_INNER),
                    Axis::Outer => (outer, c::RSVD_OUTER),
                };
                let flags = if centre.divides { c::RSVD_DIVIDE } else { 0 };
                (centre.records.array("means", product("means", &[RECORD, length])?, 8)?, axis, flags)
            }
        };
        let parameters = RsvdConvertParams {
            source: self.source.array("a", self.dtype.size())?,
            output: self.output.map_or(Ok(0), |o| o.array("block of the data", dtype.size()))?,
            center,
            tallies: optional(8, "tallies", self.tally.map(|t| t.0), TALLIES_BYTES / 8)?,
            source_stride: to_i64(self.source.stride),
            output_stride: to_i64(self.output.map_or(0, |o| o.stride)),
            inner: to_i64(inner),
            outer: to_i64(outer),
            factor: self.factor,
            number: number(self.dtype)?,
            center_axis: axis,
            flags,
            reserved: 0,
        };
        let is_tally = self.output.is_none() && self.centre.is_none() && self.factor == 1.0 && self.dtype == dtype;
        let kernel = if is_tally && self.tally.is_some() { "scan" } else { "convert" };
        let kernel = gpu.kernel("rsvd", &name(dtype, kernel)?)?;
        let tiles = inner.div_ceil(size(c::RSVD_TILE_INNER)) * outer.div_ceil(size(c::RSVD_TILE_OUTER));
        // By the sizes alone, so that sums have the same order on every device.
        let blocks = tiles.min(size(c::RSVD_MOST_BLOCKS));
        let grid = Grid::row(small("blocks", blocks)?.unsigned_abs(), c::RSVD_THREADS.unsigned_abs(), 0);
        // SAFETY: source, output and means were checked against the range that the kernel touches; the tallies hold a
        // record of each of the most blocks.
        unsafe { launch(&kernel, stream, grid, &parameters) }?;
        let Some((_, record)) = self.tally else { return Ok(()) };
        let parameters = RsvdTallyParams {
            tallies: parameters.tallies,
            output: record.array("tally", TALLY, 8)?,
            count: to_i64(blocks),
        };
        let kernel = gpu.kernel("rsvd", "purlin_rsvd_tally")?;
        let grid = Grid::row(1, c::RSVD_THREADS.unsigned_abs(), 0);
        // SAFETY: as many tallies as the launch above has written, and a record to write.
        unsafe { launch(&kernel, stream, grid, &parameters) }
    }
}

/// Length of the chunks of moments over an axis.
fn chunk(over: Axis) -> usize {
    size(if over == Axis::Inner { c::RSVD_ALONG_CHUNK } else { c::RSVD_ACROSS_CHUNK })
}

/// Bytes that [`moments`] needs beside its records.
///
/// # Errors
/// [`Error::InvalidArgument`] for sizes whose product overflows.
pub fn moments_bytes(over: Axis, inner: usize, outer: usize) -> Result<usize> {
    let (elements, length) = if over == Axis::Inner { (inner, outer) } else { (outer, inner) };
    product("moments", &[RECORD * 8, length, elements.div_ceil(chunk(over))])
}

/// Joins the moments over an axis of some lines to those in `records`, which stand for `before` elements each; with 0
/// they are not read. Sums of squares are those of the elements times `factor`, a power of two.
///
/// # Errors
/// [`Error::Internal`] for lines that overlap; as for every [launch](crate::backend::gpu::kernels#errors).
#[allow(clippy::too_many_arguments, reason = "the kernel's own arguments")]
pub fn moments(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    source: Lines<'_>,
    over: Axis,
    factor: f64,
    scratch: Region<'_>,
    records: Region<'_>,
    before: usize,
) -> Result<()> {
    let Lines { inner, outer, .. } = source;
    if inner == 0 || outer == 0 {
        return Ok(());
    }
    let (elements, length) = if over == Axis::Inner { (inner, outer) } else { (outer, inner) };
    let chunks = elements.div_ceil(chunk(over));
    let threads = c::RSVD_THREADS.unsigned_abs();
    let partials = scratch.array("moments", moments_bytes(over, inner, outer)? / 8, 8)?;
    let parameters = RsvdMomentsParams {
        source: source.array("block of the data", dtype.size())?,
        partials,
        stride: to_i64(source.stride),
        inner: to_i64(inner),
        outer: to_i64(outer),
        factor,
    };
    let (kernel, grid) = match over {
        Axis::Inner => {
            let kernel = gpu.kernel("rsvd", &name(dtype, "along")?)?;
            let warps = size(c::RSVD_THREADS) / 32;
            let grid = filling(&kernel, product("moments", &[chunks, outer])?.div_ceil(warps), c::RSVD_THREADS, 0)?;
            (kernel, grid)
        }
        Axis::Outer => {
            let columns = Grid::covering(inner, threads)?.blocks[0];
            let chunks = u32::try_from(chunks).unwrap_or(u32::MAX).min(MOST_BLOCKS_Y);
            let grid = Grid { blocks: [columns, chunks, 1], threads, shared: 0 };
            (gpu.kernel("rsvd", &name(dtype, "across")?)?, grid)
        }
    };
    // SAFETY: the source was checked against its extents, the scratch has a record for each chunk of each place.
    unsafe { launch(&kernel, stream, grid, &parameters) }?;
    let parameters = RsvdMergeParams {
        partials,
        records: records.array("means", product("means", &[RECORD, length])?, 8)?,
        length: to_i64(length),
        elements: to_i64(elements),
        chunk: to_i64(chunk(over)),
        before: to_i64(before),
        factor,
    };
    let kernel = gpu.kernel("rsvd", "purlin_rsvd_merge")?;
    // SAFETY: the chunks that the launch above has written, and a record for each place.
    unsafe { launch(&kernel, stream, Grid::covering(length, threads)?, &parameters) }
}

/// Most blocks of a grid along y.
const MOST_BLOCKS_Y: u32 = 65_535;

/// A matrix on the device with any strides, in elements.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// From element (0, 0) on.
    pub memory: Region<'a>,
    /// Elements from one row to the next.
    pub row: usize,
    /// Elements from one column to the next.
    pub column: usize,
}

/// How a matrix is copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copying {
    /// Whether the conjugate is taken.
    pub conjugate: bool,
    /// Whether the target is added to.
    pub add: bool,
}

/// Copies a matrix of `rows` by `columns`. `from` and `to` may be the same, but may not overlap otherwise.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn copy(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    (rows, columns): (usize, usize),
    from: Strided<'_>,
    to: Strided<'_>,
    copying: Copying,
) -> Result<()> {
    let address =
        |what, m: &Strided<'_>| m.memory.array(what, span(what, rows, m.row, columns, m.column)?, dtype.size());
    let flag = |set: bool, flag: i32| if set { i64::from(flag) } else { 0 };
    let parameters = RsvdCopyParams {
        source: address("source", &from)?,
        output: address("target", &to)?,
        source_row: to_i64(from.row),
        source_column: to_i64(from.column),
        output_row: to_i64(to.row),
        output_column: to_i64(to.column),
        rows: to_i64(rows),
        columns: to_i64(columns),
        flags: flag(copying.conjugate, c::RSVD_CONJUGATE) | flag(copying.add, c::RSVD_ADD),
    };
    let kernel = gpu.kernel("rsvd", &name(dtype, "copy")?)?;
    let tile = size(c::RSVD_COPY_TILE);
    let tiles = product("tiles", &[rows.div_ceil(tile), columns.div_ceil(tile)])?;
    let grid = filling(&kernel, tiles, c::RSVD_THREADS, 0)?;
    // SAFETY: both were checked against their extents.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// The Hermitian matrix (of T), in double, whose lower triangle is that of `source` or its conjugate.
///
/// # Errors
/// [`Error::NotSupported`] for an order over 65535; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn mirror(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    order: usize,
    (source, source_stride): (Region<'_>, usize),
    (output, output_stride): (Region<'_>, usize),
    conjugate: bool,
) -> Result<()> {
    let wide = if dtype.is_complex() { 16 } else { 8 };
    let parameters = RsvdMirrorParams {
        source: source.array("triangle", span("triangle", order, 1, order, source_stride)?, wide)?,
        output: output.array("matrix", span("matrix", order, 1, order, output_stride)?, dtype.size())?,
        source_stride: to_i64(source_stride),
        output_stride: to_i64(output_stride),
        order: to_i64(order),
        flags: if conjugate { i64::from(c::RSVD_CONJUGATE) } else { 0 },
    };
    let kernel = gpu.kernel("rsvd", &name(dtype, "mirror")?)?;
    let columns = small("order", order)?.unsigned_abs();
    if columns > MOST_BLOCKS_Y {
        return Err(Error::NotSupported(format!(
            "a: has a Gram matrix of order {order}, at most {MOST_BLOCKS_Y} on a GPU"
        )));
    }
    let across = Grid::covering(order, c::RSVD_THREADS.unsigned_abs())?.blocks[0].min(8);
    let grid = Grid { blocks: [across, columns, 1], threads: c::RSVD_THREADS.unsigned_abs(), shared: 0 };
    // SAFETY: both were checked against their extents.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}

/// A matrix in compressed rows on the device.
#[derive(Clone, Copy)]
pub struct Compressed<'a> {
    /// I64 [rows + 1]; from 0.
    pub row_ptr: Region<'a>,
    /// I32 below `cols`, one an entry.
    pub columns: Region<'a>,
    /// The values; all are 1 if there are none.
    pub values: Option<Region<'a>>,
    /// Stored entries: the last offset of `row_ptr`.
    pub entries: usize,
    /// Rows of the matrix: numbers of a column of Y.
    pub rows: usize,
    /// Columns of the matrix: rows of X.
    pub cols: usize,
}

/// Y = A X for `width` vectors. X is row-major with `x_stride` elements from row to row, Y column-major.
///
/// # Errors
/// As for every [launch](crate::backend::gpu::kernels#errors).
pub fn sparse(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    a: Compressed<'_>,
    (x, x_stride): (Region<'_>, usize),
    (y, y_stride): (Region<'_>, usize),
    width: usize,
) -> Result<()> {
    let real = dtype.size();
    let parameters = RsvdSparseParams {
        row_ptr: a.row_ptr.array("row_ptr", a.rows + 1, 8)?,
        columns: a.columns.array("col_idx", a.entries, 4)?,
        values: optional(dtype.size(), "values", a.values, a.entries)?,
        x: x.array("x", span("x", width, 1, a.cols, x_stride)?, real)?,
        y: y.array("y", span("y", a.rows, 1, width, y_stride)?, real)?,
        x_stride: to_i64(x_stride),
        y_stride: to_i64(y_stride),
        rows: to_i64(a.rows),
        width: to_i64(width),
    };
    let kernel = gpu.kernel("rsvd", &name(dtype, "sparse")?)?;
    let grid = filling(&kernel, a.rows.div_ceil(size(c::RSVD_THREADS) / 32), c::RSVD_THREADS, 0)?;
    // SAFETY: X and Y were checked against their extents; offsets ascend to the number of entries and columns are below
    // `cols`, as in the matrix that they were made from.
    unsafe { launch(&kernel, stream, grid, &parameters) }
}
