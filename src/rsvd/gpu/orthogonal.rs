//! Operations on tall matrices. Each device processes its own rows, chunk by chunk.

use super::site::{ScratchUse, Site, bytes, packed};
use super::state::{Devices, Matrix};
use super::tall::{Access, Piece, TallMatrix};
use crate::alloc;
use crate::backend::gpu::kernels::dense::place;
use crate::backend::gpu::kernels::rsvd::{Axis, Centre, Convert, Lines, RECORD};
use crate::backend::gpu::{DeviceMemory, Transpose, View};
use crate::dense::Step;
use crate::dense::gpu::DeviceMatrix;
use crate::dense::sketch::Sketch;
use crate::error::{Error, Result};
use crate::rsvd::ops::power;
use crate::scalar::{Complex, DType};
use crate::shape::to_u64;

/// Rows of a chunk of a tall matrix where the data are not cut into blocks.
const SPARSE_CHUNK: usize = 1 << 17;

impl Devices<'_> {
    /// A zeroed tall matrix of `width` columns, in the pieces of the devices.
    pub(super) fn make_tall(&self, what: &'static str, width: usize) -> Result<TallMatrix> {
        let mut pieces = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let (share, cut) = (part.feed.share, part.feed.cut);
            pieces.push(if cut.tall_on_device || matches!(self.matrix, Matrix::Implicit(_)) {
                // A chunk is as long as a block, because the plan has memory for the products of a block.
                let block = cut.block.max(cut.resident_block);
                let chunk = if block == 0 { SPARSE_CHUNK } else { block };
                Piece::on_device(&part.site, self.dtype, what, share, width, chunk)?
            } else {
                Piece::on_host(&part.site, self.dtype, what, share, width, part.feed.all_blocks())?
            });
        }
        Ok(TallMatrix { pieces, width })
    }

    /// Calls `work` for every chunk of a tall matrix, with the device's site, its number, the index of the chunk's first row
    /// in the whole, and the chunk on that device.
    pub(super) fn chunks(
        &mut self,
        p: &TallMatrix,
        access: Access,
        widths: (usize, usize),
        mut work: impl FnMut(&mut Site, usize, usize, View<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut moved = 0;
        for (k, (part, piece)) in self.parts.iter_mut().zip(&p.pieces).enumerate() {
            for span in piece.chunks() {
                let first = piece.share.first + span.first;
                piece.with(&mut part.site, (ScratchUse::Panel, access), span, widths, &mut moved, |site, view| {
                    work(site, k, first, view)
                })?;
            }
        }
        self.traffic.bytes_tall += moved;
        Ok(())
    }

    /// As [`Devices::chunks`] on two tall matrices at once.
    fn pairs(
        &mut self,
        (p, q): (&TallMatrix, &TallMatrix),
        access: Access,
        mut work: impl FnMut(&mut Site, usize, View<'_>, View<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut moved = 0;
        for (k, (part, (a, b))) in self.parts.iter_mut().zip(p.pieces.iter().zip(&q.pieces)).enumerate() {
            for span in a.chunks() {
                let (mut other, widths) = (0, (p.width, p.width));
                a.with(&mut part.site, (ScratchUse::Panel, Access::Read), span, widths, &mut moved, |site, x| {
                    if std::ptr::eq(a, b) {
                        return work(site, k, x, x);
                    }
                    let widths = (q.width, q.width);
                    b.with(site, (ScratchUse::OtherPanel, access), span, widths, &mut other, |site, y| {
                        work(site, k, x, y)
                    })
                })?;
                moved += other;
            }
        }
        self.traffic.bytes_tall += moved;
        Ok(())
    }

    /// Replaces the columns of a tall matrix by `after` columns that `work` computes from its rows, on each device.
    fn replace(
        &mut self,
        p: &mut TallMatrix,
        after: usize,
        mut work: impl FnMut(&mut Site, usize, View<'_>, View<'_>) -> Result<()>,
    ) -> Result<()> {
        let (dtype, width, mut moved) = (self.dtype, p.width, 0);
        for (k, (part, piece)) in self.parts.iter_mut().zip(&mut p.pieces).enumerate() {
            let site = &mut part.site;
            if let Some(x) = piece.whole(width) {
                let memory = site.take(ScratchUse::Products, bytes(dtype, x.rows, after)?)?;
                work(site, k, x, packed(dtype, &memory, x.rows, after)?)?;
                let before = piece.exchange(memory);
                site.put(ScratchUse::Products, before);
                continue;
            }
            for span in piece.chunks() {
                piece.with(
                    site,
                    (ScratchUse::Panel, Access::Update),
                    span,
                    (width, after),
                    &mut moved,
                    |site, x| in_place(site, dtype, x, after, |site, product| work(site, k, x, product)),
                )?;
            }
        }
        self.traffic.bytes_tall += moved;
        Ok(())
    }

    pub(super) fn fill_tall(&mut self, p: &TallMatrix, sketch: &Sketch, first_column: u32) -> Result<()> {
        let dtype = self.dtype;
        self.chunks(p, Access::Write, (p.width, p.width), |site, _, first, view| {
            site.algebra.draw(dtype, view, sketch, to_u64(first), first_column)
        })
    }

    pub(super) fn multiply_tall(
        &mut self,
        alpha: f64,
        p: &TallMatrix,
        m: &DeviceMatrix,
        beta: f64,
        q: &TallMatrix,
    ) -> Result<()> {
        let (dtype, others) = (self.dtype, self.replicas(m)?);
        let access = if beta == 0.0 { Access::Write } else { Access::Update };
        self.pairs((p, q), access, |site, k, x, y| {
            let m = on_device(m, &others, k)?;
            site.blas().multiply(dtype, alpha, x, Transpose::Plain, m, Transpose::Plain, beta, y)
        })
    }

    /// See [`RsvdOps::tall_shift`](crate::rsvd::ops::RsvdOps::tall_shift).
    pub(super) fn shift_tall(&mut self, p: &TallMatrix, shifts: &[Complex<f64>], exponents: &[i64]) -> Result<()> {
        let (dtype, width) = (self.dtype, p.width);
        if exponents.len() != width || (shifts.len() != width && !shifts.is_empty()) {
            let (shifts, exponents) = (shifts.len(), exponents.len());
            return Err(Error::Internal(format!("{shifts} shifts and {exponents} exponents of {width} columns")));
        }
        let mut left = alloc::copied("exponents of columns", exponents)?;
        let mut shifts = shifts;
        loop {
            let mut numbers = alloc::with_capacity("shifts of columns", width * RECORD)?;
            for (j, left) in left.iter_mut().enumerate() {
                // A kernel multiplies by a number of double precision.
                let e = (*left).clamp(-1000, 1000);
                *left -= e;
                let shift = shifts.get(j).copied().unwrap_or_default();
                numbers.extend([-shift.re, -shift.im, power(e)]);
            }
            shifts = &[];
            let mut records = Vec::with_capacity(self.parts.len());
            for part in &self.parts {
                records.push(part.site.gpu.upload_numbers(&part.site.stream, "shifts of columns", &numbers)?);
            }
            self.chunks(p, Access::Update, (width, width), |site, k, _, view| {
                let lines = Lines { memory: view.memory, inner: view.rows, outer: view.cols, stride: view.ld };
                let centre = Some(Centre { records: records[k].whole(), axis: Axis::Outer, divides: true });
                let convert = Convert { source: lines, dtype, output: Some(lines), centre, factor: 1.0, tally: None };
                convert.run(dtype, &site.gpu, &site.stream)
            })?;
            if left.iter().all(|e| *e == 0) {
                return Ok(());
            }
        }
    }

    pub(super) fn transform_tall(&mut self, p: &mut TallMatrix, m: &DeviceMatrix) -> Result<()> {
        if m.rows() != p.width || m.cols() > p.width {
            let (rows, columns, width) = (m.rows(), m.cols(), p.width);
            return Err(Error::Internal(format!("a tall matrix of {width} columns times {rows} x {columns}")));
        }
        let (dtype, others) = (self.dtype, self.replicas(m)?);
        let after = m.cols();
        self.replace(p, after, |site, k, x, product| {
            let m = on_device(m, &others, k)?;
            site.blas().multiply(dtype, 1.0, x, Transpose::Plain, m, Transpose::Plain, 0.0, product)
        })?;
        p.width = after;
        Ok(())
    }

    pub(super) fn cross_tall(&mut self, p: &TallMatrix, q: &TallMatrix, c: &DeviceMatrix) -> Result<()> {
        let (dtype, (rows, columns)) = (self.dtype, c.shape());
        let mut sums = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            sums.push(part.site.algebra.uninitialized(dtype, "sum of a device", rows, columns)?);
        }
        let mut begun = vec![false; self.parts.len()];
        self.pairs((p, q), Access::Read, |site, k, x, y| {
            let beta = if begun[k] { 1.0 } else { 0.0 };
            begun[k] = true;
            site.blas().multiply(dtype, 1.0, x, Transpose::Adjoint, y, Transpose::Plain, beta, sums[k].view())
        })?;
        self.gather(&sums, &begun)?;
        let site = &self.parts[0].site;
        place(dtype, &site.gpu, &site.stream, sums[0].view(), c.view(), false, false)
    }

    /// Adds the devices' matrices to the first one. Matrices that were not `begun` count as 0.
    fn gather(&self, sums: &[DeviceMatrix], begun: &[bool]) -> Result<()> {
        for ((part, sum), _) in self.parts.iter().zip(sums).zip(begun).filter(|(_, begun)| !**begun) {
            part.site.gpu.clear(&part.site.stream, sum.memory().whole())?;
        }
        let Some(first) = sums.first() else { return Ok(()) };
        let memories: Vec<&DeviceMemory> = sums.iter().map(DeviceMatrix::memory).collect();
        self.add_up(first.dtype(), &memories, first.rows() * first.cols())
    }

    pub(super) fn tall_norms(&mut self, p: &TallMatrix) -> Result<Vec<f64>> {
        let dtype = self.dtype;
        let mut norms = alloc::filled("norms of columns", p.width, 0.0f64)?;
        self.chunks(p, Access::Read, (p.width, p.width), |site, _, _, view| {
            for (norm, part) in norms.iter_mut().zip(site.algebra.norms(dtype, view)?) {
                *norm = norm.hypot(part);
            }
            Ok(())
        })?;
        Ok(norms)
    }

    pub(super) fn tall_peaks(&mut self, p: &TallMatrix) -> Result<Vec<(f64, f64)>> {
        let dtype = self.dtype;
        let mut peaks = alloc::filled("peaks of columns", p.width, (0.0f64, 0.0f64))?;
        self.chunks(p, Access::Read, (p.width, p.width), |site, _, _, view| {
            for (peak, other) in peaks.iter_mut().zip(site.algebra.peaks(dtype, view)?) {
                // Among equal peaks the first one is kept.
                if other.0.hypot(other.1) > peak.0.hypot(peak.1) {
                    *peak = other;
                }
            }
            Ok(())
        })?;
        Ok(peaks)
    }

    pub(super) fn tall_step(&mut self, p: &mut TallMatrix, shift: f64, r: &DeviceMatrix) -> Result<Step> {
        let (dtype, wide, width) = (self.dtype, self.dtype.wide(), p.width);
        if width == 0 {
            return Ok(Step::Done { spread: 1.0 });
        }
        if self.rows == 0 {
            return Ok(Step::Failed);
        }
        let mut sums = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            sums.push(part.site.algebra.uninitialized(wide, "Gram matrix of a tall matrix", width, width)?);
        }
        let mut begun = vec![false; self.parts.len()];
        self.chunks(p, Access::Read, (width, width), |site, k, _, view| {
            let beta = if begun[k] { 1.0 } else { 0.0 };
            begun[k] = true;
            site.algebra.gram_add(dtype, view, beta, sums[k].view())
        })?;
        self.gather(&sums, &begun)?;
        if self.parts.len() > 1 {
            // Each device factorizes the whole sum. All get the same numbers, and only the sum is copied.
            let mut numbers = alloc::filled("Gram matrix between devices", bytes(wide, width, width)?, 0u8)?;
            let first = &self.parts[0].site;
            first.gpu.download_numbers(&first.stream, sums[0].memory(), &mut numbers)?;
            for (part, sum) in self.parts.iter().zip(&mut sums).skip(1) {
                part.site.gpu.store_numbers(&part.site.stream, &numbers, sum.memory_mut(), 0)?;
            }
        }
        let mut divisors = Vec::with_capacity(self.parts.len());
        for (k, (part, sum)) in self.parts.iter_mut().zip(sums).enumerate() {
            let algebra = &mut part.site.algebra;
            let divisor = if k == 0 {
                algebra.cholesky(sum, shift, r)?
            } else {
                let own = algebra.uninitialized(dtype, "triangle of a tall matrix", width, width)?;
                algebra.cholesky(sum, shift, &own)?
            };
            match divisor {
                Some(divisor) => divisors.push(divisor),
                None => return Ok(Step::Failed),
            }
        }
        if self.parts.iter().zip(&divisors).all(|(part, divisor)| part.site.algebra.divides_by_inverse(divisor)) {
            self.replace(p, width, |site, k, x, q| site.algebra.divide_to(x, &divisors[k], q))?;
        } else {
            self.chunks(p, Access::Update, (width, width), |site, k, _, x| site.algebra.divide(x, &divisors[k]))?;
        }
        Ok(Step::Done { spread: divisors.first().map_or(0.0, |d| d.spread()) })
    }
}

/// The view of a matrix on device `k`: of the matrix itself on the first device, else of its copy.
fn on_device<'m>(m: &'m DeviceMatrix, others: &'m [DeviceMemory], k: usize) -> Result<View<'m>> {
    match k.checked_sub(1) {
        None => Ok(m.view()),
        Some(k) => packed(m.dtype(), &others[k], m.rows(), m.cols()),
    }
}

/// Replaces the first `after` columns of `x` by the product that `work` computes from `x` in separate memory.
fn in_place(
    site: &mut Site,
    dtype: DType,
    x: View<'_>,
    after: usize,
    work: impl FnOnce(&mut Site, View<'_>) -> Result<()>,
) -> Result<()> {
    let memory = site.take(ScratchUse::Products, bytes(dtype, x.rows, after)?)?;
    let product = packed(dtype, &memory, x.rows, after)?;
    work(site, product)?;
    place(dtype, &site.gpu, &site.stream, product, x.columns(dtype, 0, after)?, false, false)?;
    site.put(ScratchUse::Products, memory);
    Ok(())
}
