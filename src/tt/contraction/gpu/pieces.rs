//! Pieces of device workspace, each allocated on its own or a part of the caller's memory.

use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region, View};
use crate::error::{Error, Result};
use crate::scalar::DType;

/// Alignment of pieces in bytes, which suffices for every kernel and library.
const GRAIN: usize = 256;

/// Memory that this object owns, or a region of the caller's memory.
pub(super) enum Piece<'a> {
    Own(DeviceMemory),
    Borrowed(Region<'a>),
}

impl Piece<'_> {
    pub(super) fn whole(&self) -> Region<'_> {
        match self {
            Self::Own(memory) => memory.whole(),
            Self::Borrowed(region) => *region,
        }
    }
}

/// Bytes of a region that [`divide`] can divide into pieces of these sizes.
pub(super) fn in_all(sizes: &[usize]) -> Result<usize> {
    let sum = sizes.iter().try_fold(0usize, |sum, bytes| sum.checked_add(bytes.checked_next_multiple_of(GRAIN)?));
    sum.ok_or_else(|| Error::invalid("workspace", "of more bytes than there are addresses is needed"))
}

/// Divides a region into pieces of these sizes, each aligned to [`GRAIN`].
pub(super) fn divide<'a, const N: usize>(space: Region<'a>, sizes: [usize; N]) -> Result<[Region<'a>; N]> {
    let mut pieces = [space.part(0, 0)?; N];
    let mut first = 0;
    for (piece, bytes) in pieces.iter_mut().zip(sizes) {
        *piece = space.part(first, bytes)?;
        first += bytes.next_multiple_of(GRAIN);
    }
    Ok(pieces)
}

/// Writes ones to the diagonal of a zero matrix. Copies the 1 in device memory to the first place, and then doubles the
/// number of ones with each copy.
pub(super) fn identity(
    dtype: DType,
    gpu: &Gpu,
    stream: &GpuStream,
    one: Region<'_>,
    matrix: Region<'_>,
    order: usize,
) -> Result<()> {
    let all = View { memory: matrix, rows: 1, cols: order, ld: order + 1 };
    let copy = |from, to| dense::place(dtype, gpu, stream, from, to, false, false);
    copy(View::packed(one, 1, 1), all.columns(dtype, 0, 1)?)?;
    let mut made = 1;
    while made < order {
        let more = made.min(order - made);
        copy(all.columns(dtype, 0, more)?, all.columns(dtype, made, more)?)?;
        made += more;
    }
    Ok(())
}
