//! The kernels of `cuda/tt_digits.cu`: products of f32 matrices by tensor cores for 8-bit integers.

use super::super::mirrors::{TtDigitsFactor, TtDigitsProductParams, TtDigitsSplitParams};
use super::super::{constants as c, product, size};
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Kernel, Region, Transpose, View};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

/// Longest sums of one launch.
const MOST: usize = size(c::TT_DIGITS_MOST);
/// Lines and numbers of a block of digits.
const LINES: usize = size(c::TT_DIGITS_LINES);
const INNER: usize = size(c::TT_DIGITS_INNER);
/// Bytes of a block: one for each digit of its numbers.
const BLOCK: usize = size(c::TT_DIGITS) * LINES * INNER;

/// The lines of a factor that inner products run over: rows of op(A), columns of op(B).
#[derive(Clone, Copy)]
struct Lines<'a> {
    view: View<'a>,
    /// Whether they lie side by side.
    across: bool,
}

impl<'a> Lines<'a> {
    fn new((view, op): (View<'a>, Transpose), is_left: bool) -> Self {
        Self { view, across: (op == Transpose::Plain) == is_left }
    }

    fn count(&self) -> usize {
        if self.across { self.view.rows } else { self.view.cols }
    }

    fn inner(&self) -> usize {
        if self.across { self.view.cols } else { self.view.rows }
    }

    /// The numbers `from .. from + count` of each.
    fn part(&self, from: usize, count: usize) -> Result<Self> {
        let view = &self.view;
        let view =
            if self.across { view.columns(DType::F32, from, count)? } else { view.rows(DType::F32, from, count)? };
        Ok(Self { view, ..*self })
    }

    /// Bytes of the digits of all lines, both dimensions rounded up to whole blocks.
    fn digits(&self) -> Result<usize> {
        product("digits", &[self.count().div_ceil(LINES), self.inner().div_ceil(INNER), BLOCK])
    }

    /// Blocks of threads that split them.
    fn blocks(&self) -> usize {
        // A row alone lies along its numbers, too.
        let along = !self.across || self.view.ld == 1;
        self.count().div_ceil(size(if along { c::TT_DIGITS_ALONG } else { c::TT_DIGITS_ACROSS }))
    }

    fn params(&self, what: &str, digits: u64, units: u64) -> Result<TtDigitsFactor> {
        let ld = to_i64(self.view.ld);
        Ok(TtDigitsFactor {
            input: self.view.address(DType::F32, what)?,
            digits,
            units,
            line_stride: if self.across { 1 } else { ld },
            inner_stride: if self.across { ld } else { 1 },
            lines: to_i64(self.count()),
            inner: to_i64(self.inner()),
        })
    }
}

/// Blocks that the kernel for products holds in shared memory.
fn stages(kernel: &Kernel) -> Result<usize> {
    let most = kernel.most_shared().saturating_sub(size(c::TT_DIGITS_BESIDE)) / size(c::TT_DIGITS_STAGE);
    if most < 2 {
        let (has, least) = (kernel.most_shared(), size(c::TT_DIGITS_BESIDE) + 2 * size(c::TT_DIGITS_STAGE));
        let problem = format!("math: the GPU has {has} bytes of shared memory a block, at least {least} are needed");
        return Err(Error::NotSupported(problem));
    }
    Ok(most.min(size(c::TT_DIGITS_STAGES)))
}

/// C = alpha op(A) op(B), with `add` added to C, for f32 matrices. `alpha` is read when the product runs. Errors are
/// those of f32 numbers relative to the norms of the rows of op(A) and columns of op(B); where one of them holds a
/// number that is not finite, C holds NaN. `workspace` holds the digits: it grows, and the next product on the same
/// stream uses it again.
///
/// # Errors
/// [`Error::Internal`] for shapes that do not fit and for sums without terms; [`Error::NotSupported`] if the GPU has
/// too little shared memory; [`Error::OutOfDeviceMemory`]; as for every [launch](crate::backend::gpu::kernels#errors).
pub fn multiply(
    gpu: &Gpu,
    stream: &GpuStream,
    workspace: &mut Option<DeviceMemory>,
    (alpha, add): (Region<'_>, bool),
    a: (View<'_>, Transpose),
    b: (View<'_>, Transpose),
    c: View<'_>,
) -> Result<()> {
    let ((m, k), (inner, n)) = (a.1.shape(&a.0), b.1.shape(&b.0));
    if k != inner || (m, n) != (c.rows, c.cols) || k == 0 {
        let (p, q) = (c.rows, c.cols);
        return Err(Error::Internal(format!("a product {m} x {k} times {inner} x {n} is no {p} x {q} by digits")));
    }
    if m == 0 || n == 0 {
        return Ok(());
    }
    let (a, b) = (Lines::new(a, true), Lines::new(b, false));
    for from in (0..k).step_by(MOST) {
        let count = MOST.min(k - from);
        let (a, b) = (a.part(from, count)?, b.part(from, count)?);
        panel(gpu, stream, workspace, (alpha, add || from > 0), (a, b), c)?;
    }
    Ok(())
}

fn panel(
    gpu: &Gpu,
    stream: &GpuStream,
    workspace: &mut Option<DeviceMemory>,
    (alpha, add): (Region<'_>, bool),
    (a, b): (Lines<'_>, Lines<'_>),
    to: View<'_>,
) -> Result<()> {
    let (m, n) = (a.count(), b.count());
    let split = gpu.kernel("tt_digits", "purlin_tt_digits_split")?;
    let multiply = gpu.kernel("tt_digits", "purlin_tt_digits_product")?;
    let stages = stages(&multiply)?;
    let (a_bytes, b_bytes) = (a.digits()?, b.digits()?);
    let many = || Error::invalid("math", format!("digits of {m} rows and {n} columns are too many"));
    let digits = a_bytes.checked_add(b_bytes).ok_or_else(many)?;
    let bytes = (m + n).checked_mul(4).and_then(|units| units.checked_add(digits)).ok_or_else(many)?;
    let held = workspace.take().filter(|memory| memory.bytes() >= bytes);
    let memory = match held {
        Some(memory) => memory,
        None => gpu.allocate_uninitialized_on(stream, "digits of factors", bytes)?,
    };
    let a_digits = workspace.insert(memory).address();
    let b_digits = a_digits + to_u64(a_bytes);
    let a_units = a_digits + to_u64(digits);
    let b_units = a_units + to_u64(4 * m);
    let parameters = TtDigitsSplitParams {
        a: a.params("a", a_digits, a_units)?,
        b: b.params("b", b_digits, b_units)?,
        a_blocks: to_i64(a.blocks()),
    };
    let blocks = |count: usize| u32::try_from(count).map_err(|_| many());
    let grid = Grid::row(blocks(a.blocks() + b.blocks())?, c::TT_DIGITS_SPLIT_THREADS.unsigned_abs(), 0);
    // SAFETY: both factors were checked, and the memory holds the digits and units of all their lines.
    unsafe { launch(&split, stream, grid, &parameters)? };
    let parameters = TtDigitsProductParams {
        a_digits,
        a_units,
        b_digits,
        b_units,
        alpha: alpha.array("alpha", 1, 4)?,
        c: to.address(DType::F32, "c")?,
        c_stride: to_i64(to.ld),
        rows: to_i64(m),
        columns: to_i64(n),
        inner: to_i64(a.inner()),
        add: i32::from(add),
        stages: i32::try_from(stages).unwrap_or(2),
    };
    let tiles = product("blocks of a product", &[m.div_ceil(LINES), n.div_ceil(LINES)])?;
    let shared = stages * size(c::TT_DIGITS_STAGE) + size(c::TT_DIGITS_BESIDE);
    let grid = Grid::row(blocks(tiles)?, c::TT_DIGITS_THREADS.unsigned_abs(), shared);
    // SAFETY: C was checked; the digits lie in whole blocks as the kernel before this one wrote them.
    unsafe { launch(&multiply, stream, grid, &parameters) }
}
