//! Copies from and to the caller's matrices, on the host or the device, in any order.

use super::cut::Span;
use super::input::pack;
use super::site::{CHUNK_BYTES, ScratchUse, Site, bytes};
use super::state::Devices;
use super::tall::{Access, TallMatrix};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::rsvd::{Copying, Strided, copy};
use crate::backend::gpu::{DeviceMemory, Rows, View};
use crate::backend::memory::Memory;
use crate::dense::gpu::DeviceMatrix;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::DType;

/// Bytes up to which a copy to pageable memory by the driver is faster than the allocation of page-locked buffers.
const FEW_BYTES: usize = 4 << 20;

/// Layout of a caller's matrix, in the rows and columns of purlin's matrix.
#[derive(Debug, Clone, Copy)]
struct CallerLayout {
    /// Elements from one row of purlin's matrix to the next, and from one column to the next.
    row: usize,
    column: usize,
    conjugate: bool,
}

/// Checks type and shape, and returns the layout.
fn caller_layout(
    dtype: DType,
    what: &str,
    matrix: &Matrix,
    (rows, columns): (usize, usize),
    adjoint: bool,
    conjugate: bool,
) -> Result<CallerLayout> {
    let (m, n) = if adjoint { (columns, rows) } else { (rows, columns) };
    matrix.expect_size(what, m, n)?;
    matrix.expect_dtype(what, dtype)?;
    let (row, column) = match matrix.dense(what)?.layout.strides() {
        &[a, b] => (a, b),
        _ => return Err(Error::Internal("a matrix without two strides".into())),
    };
    let (row, column) = if adjoint { (column, row) } else { (row, column) };
    Ok(CallerLayout { row, column, conjugate: dtype.is_complex() && (adjoint != conjugate) })
}

/// Groups of lines of a caller's matrix that are copied together: rows or columns, whichever are contiguous.
fn groups(lines: usize, length: usize, size: usize) -> impl Iterator<Item = Span> {
    let each = (CHUNK_BYTES / (length * size).max(1)).clamp(1, lines.max(1));
    super::cut::spans(0, lines, each)
}

/// One group of lines: the part of the view, and the bytes of the caller's memory.
struct Group<'v> {
    view: View<'v>,
    rows: Rows,
    /// Elements in the packed group from one row of the view to the next, and from one column to the next.
    row: usize,
    column: usize,
}

fn group(dtype: DType, view: View<'_>, at: CallerLayout, first: usize, span: Span) -> Result<Group<'_>> {
    let size = dtype.size();
    let by_columns = at.row <= at.column;
    let (view, length, stride) = if by_columns {
        (view.columns(dtype, span.first, span.rows)?, view.rows, at.column)
    } else {
        (view.rows(dtype, span.first, span.rows)?, view.cols, at.row)
    };
    let begin = first * at.row + span.first * stride;
    let width = length * size;
    let rows = if stride == length || span.rows <= 1 {
        Rows { offset: begin * size, pitch: width * span.rows, width: width * span.rows, count: 1 }
    } else {
        Rows { offset: begin * size, pitch: stride * size, width, count: span.rows }
    };
    let (row, column) = if by_columns { (1, length) } else { (length, 1) };
    Ok(Group { view, rows, row, column })
}

/// Writes a view to rows `first ..` of the caller's memory.
fn store(
    site: &mut Site,
    dtype: DType,
    view: View<'_>,
    memory: &mut Memory,
    at: CallerLayout,
    first: usize,
) -> Result<()> {
    let shape = (view.rows, view.cols);
    if shape.0 == 0 || shape.1 == 0 {
        return Ok(());
    }
    let size = dtype.size();
    let how = Copying { conjugate: at.conjugate, add: false };
    let memory = match memory {
        Memory::Device(memory) => {
            let offset = first * at.row * size;
            let region = memory.region(offset, memory.bytes() - offset)?;
            let source = Strided { memory: view.memory, row: 1, column: view.ld };
            let to = Strided { memory: region, row: at.row, column: at.column };
            return copy(dtype, &site.gpu, &site.stream, shape, source, to, how);
        }
        Memory::Host(memory) => memory.as_mut_slice::<u8>()?,
    };
    let is_pinned = site.gpu.is_pinned(memory)?;
    let mut pieces = None;
    let context = site.context.clone();
    let (lines, length) = if at.row <= at.column { (shape.1, shape.0) } else { (shape.0, shape.1) };
    for span in groups(lines, length, size) {
        let Group { view, rows, row, column } = group(dtype, view, at, first, span)?;
        let bytes = rows.width * rows.count;
        let packed = site.take(ScratchUse::Exchange, bytes)?;
        let source = Strided { memory: view.memory, row: 1, column: view.ld };
        let to = Strided { memory: packed.whole(), row, column };
        copy(dtype, &site.gpu, &site.stream, (view.rows, view.cols), source, to, how)?;
        if is_pinned || (rows.count == 1 && bytes <= FEW_BYTES) {
            for k in 0..rows.count {
                let begin = rows.offset + k * rows.pitch;
                let line = memory.get_mut(begin..begin + rows.width).ok_or_else(beyond)?;
                site.gpu.download(&site.stream, &packed, k * rows.width, line)?;
            }
        } else {
            let mut ring = pieces.take().map_or_else(|| site.take_ring(), Ok)?;
            ring.download(&site.stream, &packed, 0, bytes, |from, part| {
                context.pool().run(|| unpack(part, from, rows, memory))
            })?;
            pieces = Some(ring);
        }
        site.put(ScratchUse::Exchange, packed);
    }
    if let Some(pieces) = pieces {
        site.put_ring(pieces);
    }
    Ok(())
}

/// Writes a device's packed columns to the caller's contiguous columns, without rearranging them.
fn store_columns(
    site: &mut Site,
    dtype: DType,
    columns: &DeviceMemory,
    (share, width): (Span, usize),
    memory: &mut [u8],
    at: CallerLayout,
) -> Result<()> {
    let size = dtype.size();
    let length = share.rows * size;
    if length == 0 || width == 0 {
        return Ok(());
    }
    let rows = match at.column {
        stride if stride == share.rows || width == 1 => {
            Rows { offset: share.first * size, pitch: length * width, width: length * width, count: 1 }
        }
        stride => Rows { offset: share.first * size, pitch: stride * size, width: length, count: width },
    };
    if site.gpu.is_pinned(memory)? {
        for k in 0..rows.count {
            let begin = rows.offset + k * rows.pitch;
            let line = memory.get_mut(begin..begin + rows.width).ok_or_else(beyond)?;
            site.gpu.download(&site.stream, columns, k * rows.width, line)?;
        }
        return Ok(());
    }
    let mut pieces = site.take_ring()?;
    let context = site.context.clone();
    context.pool().run(|| touch(rows, memory))?;
    pieces.download(&site.stream, columns, 0, length * width, |from, part| {
        context.pool().run(|| unpack(part, from, rows, memory))
    })?;
    site.put_ring(pieces);
    Ok(())
}

/// Reads rows `first ..` of the caller's memory into a view.
fn fetch(site: &mut Site, dtype: DType, memory: &Memory, at: CallerLayout, first: usize, view: View<'_>) -> Result<()> {
    let shape = (view.rows, view.cols);
    if shape.0 == 0 || shape.1 == 0 {
        return Ok(());
    }
    let size = dtype.size();
    let how = Copying { conjugate: at.conjugate, add: false };
    let memory = match memory {
        Memory::Device(memory) => {
            let offset = first * at.row * size;
            let region = memory.region(offset, memory.bytes() - offset)?;
            let from = Strided { memory: region, row: at.row, column: at.column };
            let to = Strided { memory: view.memory, row: 1, column: view.ld };
            return copy(dtype, &site.gpu, &site.stream, shape, from, to, how);
        }
        Memory::Host(memory) => memory.as_slice::<u8>()?,
    };
    let mut pieces = site.take_ring()?;
    let context = site.context.clone();
    let (lines, length) = if at.row <= at.column { (shape.1, shape.0) } else { (shape.0, shape.1) };
    for span in groups(lines, length, size) {
        let Group { view, rows, row, column } = group(dtype, view, at, first, span)?;
        let end = rows.offset + (rows.count - 1) * rows.pitch + rows.width;
        if end > memory.len() {
            return Err(beyond());
        }
        let bytes = rows.width * rows.count;
        let mut packed = site.take(ScratchUse::Exchange, bytes)?;
        pieces.upload(&site.stream, bytes, &mut packed, 0, |from, part| {
            context.pool().run(|| pack(memory, rows, from, part));
            Ok(())
        })?;
        let from = Strided { memory: packed.whole(), row, column };
        let to = Strided { memory: view.memory, row: 1, column: view.ld };
        copy(dtype, &site.gpu, &site.stream, (view.rows, view.cols), from, to, how)?;
        site.put(ScratchUse::Exchange, packed);
    }
    site.put_ring(pieces);
    Ok(())
}

fn beyond() -> Error {
    Error::Internal("a matrix that ends before its last line".into())
}

/// Writes one byte to every large page of `rows` of the caller's memory, on the threads of the calling pool. The first write
/// to a new page clears it. Unpacking touches only few pages at a time, so clearing there would have little parallelism.
fn touch(rows: Rows, memory: &mut [u8]) -> Result<()> {
    const PAGE: usize = 2 << 20;
    let Rows { offset, pitch, width, count } = rows;
    let end = offset + (count - 1) * pitch + width;
    let lines = memory.get_mut(offset..end).ok_or_else(beyond)?;
    lines.par_chunks_mut(pitch).for_each(|line| line[..width].par_chunks_mut(PAGE).for_each(|page| page[0] = 0));
    Ok(())
}

/// Unpacks a part of packed lines, whose first byte is the `from`-th, into `rows` of the caller's memory. Runs on the
/// threads of the calling pool, because the first write to new memory costs more than the copy.
fn unpack(part: &[u8], from: usize, rows: Rows, memory: &mut [u8]) -> Result<()> {
    const PIECE: usize = 256 << 10;
    let Rows { offset, pitch, width, .. } = rows;
    let to = from + part.len();
    let (first, last) = (from / width, to.div_ceil(width));
    if first >= last {
        return Ok(());
    }
    let (begin, end) = (offset + first * pitch, offset + (last - 1) * pitch + width);
    let lines = memory.get_mut(begin..end).ok_or_else(beyond)?;
    let together = PIECE.div_ceil(width);
    lines.par_chunks_mut(pitch).enumerate().with_min_len(together).for_each(|(k, line)| {
        let start = (first + k) * width;
        let (low, high) = (from.max(start), to.min(start + width));
        let (target, source) = (&mut line[low - start..high - start], &part[low - from..high - from]);
        if source.len() <= PIECE {
            return target.copy_from_slice(source);
        }
        target.par_chunks_mut(PIECE).zip(source.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
    });
    Ok(())
}

impl Devices<'_> {
    pub(super) fn read_matrix(
        &mut self,
        what: &'static str,
        source: &Matrix,
        adjoint: bool,
        conjugate: bool,
    ) -> Result<DeviceMatrix> {
        let (rows, columns) = if adjoint { (source.cols(), source.rows()) } else { (source.rows(), source.cols()) };
        let at = caller_layout(self.dtype, what, source, (rows, columns), adjoint, conjugate)?;
        let dtype = self.dtype;
        let m = self.site().algebra.uninitialized(dtype, what, rows, columns)?;
        fetch(self.site(), dtype, source.dense(what)?.memory, at, 0, m.view())?;
        Ok(m)
    }

    pub(super) fn write_matrix(
        &mut self,
        m: &DeviceMatrix,
        target: &mut Matrix,
        adjoint: bool,
        conjugate: bool,
    ) -> Result<()> {
        let at = caller_layout(self.dtype, "result", target, m.shape(), adjoint, conjugate)?;
        store(self.site(), m.dtype(), m.view(), target.dense_mut("result")?.memory, at, 0)
    }

    pub(super) fn read_tall(
        &mut self,
        what: &'static str,
        source: &Matrix,
        adjoint: bool,
        conjugate: bool,
    ) -> Result<TallMatrix> {
        let width = if adjoint { source.rows() } else { source.cols() };
        let at = caller_layout(self.dtype, what, source, (self.rows, width), adjoint, conjugate)?;
        let tall = self.make_tall(what, width)?;
        let (dtype, memory) = (self.dtype, source.dense(what)?.memory);
        let mut moved = 0;
        for (k, piece) in tall.pieces.iter().enumerate() {
            for span in piece.chunks() {
                let first = piece.share.first + span.first;
                // The caller's device memory is on the first device. Other devices get their rows through the host.
                let carried = match memory {
                    Memory::Device(_) if k > 0 => {
                        let site = self.site();
                        let m = site.algebra.uninitialized(dtype, what, span.rows, width)?;
                        fetch(site, dtype, memory, at, first, m.view())?;
                        Some(numbers(site, dtype, m.view())?)
                    }
                    _ => None,
                };
                let (site, buffer) = (&mut self.parts[k].site, (ScratchUse::Panel, Access::Write));
                piece.with(site, buffer, span, (width, width), &mut moved, |site, view| match &carried {
                    None => fetch(site, dtype, memory, at, first, view),
                    Some(numbers) => {
                        let m = uploaded(site, dtype, what, (span.rows, width), numbers)?;
                        place(dtype, &site.gpu, &site.stream, m.view(), view, false, false)
                    }
                })?;
            }
        }
        self.traffic.bytes_tall += moved;
        Ok(tall)
    }

    pub(super) fn write_tall(
        &mut self,
        p: &TallMatrix,
        target: &mut Matrix,
        adjoint: bool,
        conjugate: bool,
    ) -> Result<()> {
        let at = caller_layout(self.dtype, "result", target, (self.rows, p.width), adjoint, conjugate)?;
        let memory = target.dense_mut("result")?.memory;
        let (dtype, width, mut moved) = (self.dtype, p.width, 0);
        for (k, piece) in p.pieces.iter().enumerate() {
            if let (Memory::Host(memory), Some(columns), (1, false)) =
                (&mut *memory, piece.device(), (at.row, at.conjugate))
            {
                let memory = memory.as_mut_slice()?;
                store_columns(&mut self.parts[k].site, dtype, columns, (piece.share, width), memory, at)?;
                continue;
            }
            for span in piece.chunks() {
                let first = piece.share.first + span.first;
                let mut carried = None;
                let (site, buffer) = (&mut self.parts[k].site, (ScratchUse::Panel, Access::Read));
                piece.with(site, buffer, span, (width, width), &mut moved, |site, view| {
                    if k > 0 && matches!(memory, Memory::Device(_)) {
                        carried = Some(numbers(site, dtype, view)?);
                        return Ok(());
                    }
                    store(site, dtype, view, memory, at, first)
                })?;
                if let Some(numbers) = carried {
                    let site = self.site();
                    let m = uploaded(site, dtype, "result", (span.rows, width), &numbers)?;
                    store(site, dtype, m.view(), memory, at, first)?;
                }
            }
        }
        self.traffic.bytes_tall += moved;
        Ok(())
    }
}

/// Copies the elements of a view to the host, packed.
fn numbers(site: &Site, dtype: DType, view: View<'_>) -> Result<Vec<u8>> {
    let packed = site.algebra.uninitialized(dtype, "matrix between devices", view.rows, view.cols)?;
    place(dtype, &site.gpu, &site.stream, view, packed.view(), false, false)?;
    let mut numbers = alloc::filled("matrix between devices", bytes(dtype, view.rows, view.cols)?, 0u8)?;
    site.gpu.load_numbers(&site.stream, packed.memory(), 0, &mut numbers)?;
    Ok(numbers)
}

/// A matrix on the device of packed elements on the host.
fn uploaded(
    site: &Site,
    dtype: DType,
    what: &'static str,
    (rows, columns): (usize, usize),
    numbers: &[u8],
) -> Result<DeviceMatrix> {
    let mut m = site.algebra.uninitialized(dtype, what, rows, columns)?;
    site.gpu.store_numbers(&site.stream, numbers, m.memory_mut(), 0)?;
    Ok(m)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_unpacked_from_any_byte_to_any_other() {
        for (pitch, width, count) in [(20, 7, 8), (7, 7, 8), (56, 56, 1), (3, 1, 56)] {
            let rows = Rows { offset: 3, pitch, width, count };
            let packed: Vec<u8> = (1..=56).collect();
            for from in 0..=56 {
                for to in from..=56 {
                    let mut memory = vec![0; 3 + (count - 1) * pitch + width];
                    unpack(&packed[from..to], from, rows, &mut memory).unwrap();
                    let mut wanted = vec![0; memory.len()];
                    for k in from..to {
                        wanted[3 + k / width * pitch + k % width] = packed[k];
                    }
                    assert_eq!(memory, wanted, "{from} .. {to} of {rows:?}");
                }
            }
        }
    }

    #[test]
    fn nothing_between_lines_is_touched() {
        let rows = Rows { offset: 3, pitch: 9, width: 4, count: 5 };
        let mut memory = vec![7; 3 + 4 * 9 + 4];
        touch(rows, &mut memory).unwrap();
        let zeros: Vec<usize> = (0..memory.len()).filter(|k| memory[*k] == 0).collect();
        assert_eq!(zeros, [3, 12, 21, 30, 39]);
        assert!(matches!(touch(rows, &mut memory[..40]), Err(Error::Internal(_))));
    }

    #[test]
    fn long_lines_are_unpacked_in_pieces() {
        let (width, pitch) = ((1 << 20) + 3, (1 << 20) + 10);
        let packed: Vec<u8> = (0..3 * width).map(|k| (k % 251) as u8).collect();
        let rows = Rows { offset: 1, pitch, width, count: 3 };
        let mut memory = vec![255; 1 + 2 * pitch + width];
        unpack(&packed[5..], 5, rows, &mut memory).unwrap();
        assert_eq!(memory[..6], [255; 6]);
        for line in 0..3 {
            let skipped = if line == 0 { 5 } else { 0 };
            let begin = 1 + line * pitch;
            assert_eq!(memory[begin + skipped..begin + width], packed[line * width + skipped..(line + 1) * width]);
            let gap = memory[begin + width..].iter().take(pitch - width);
            assert!(gap.clone().all(|byte| *byte == 255));
        }
        assert!(matches!(unpack(&packed, 0, rows, &mut memory[..2 * pitch]), Err(Error::Internal(_))));
    }
}
