//! The passes over the data.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::block::{Block, Entries, Sum, is_flipped, stored};
use super::conversion::PassWork;
use super::feed::{PassTraffic, Watch};
use super::operands::PassOperands;
use super::site::{ScratchUse, Site, bytes, packed};
use super::state::{Devices, Matrix};
use super::tall::{Access, TallMatrix};
use crate::backend::gpu::kernels::dense;
use crate::backend::gpu::kernels::rsvd::{self as kernels, Convert, Copying, Lines, Strided};
use crate::backend::gpu::{DeviceMemory, View};
use crate::dense::gpu::DeviceMatrix;
use crate::dense::sketch::Sketch;
use crate::error::{Error, Result};
use crate::rsvd::ops::{BlockParameters, exponent_of, power};
use crate::scalar::DType;
use crate::shape::to_u64;
use crate::team;

/// Upper bound of the bytes of converted rows that are added to a Gram matrix at a time.
const WIDE_BYTES: usize = 64 << 20;

impl Devices<'_> {
    /// One pass: calls `body` for every block, with the operands of its device.
    pub(super) fn pass<L: Send>(
        &mut self,
        device_operands: Vec<L>,
        body: impl Fn(&mut Site, &mut L, &Block<'_>) -> Result<()> + Sync,
    ) -> Result<Vec<L>> {
        self.gather_moments()?;
        let backwards = self.setting.alternate && self.passes.is_second(&self.traffic);
        let pass_work = PassWork { tallies: self.statistics.is_none(), moments: false, backwards };
        let (device_operands, moved) = self.each(pass_work, device_operands, body)?;
        self.count(pass_work, moved)?;
        Ok(device_operands)
    }

    /// Calls `body` for the blocks of each device. All devices run at the same time.
    pub(super) fn each<L: Send>(
        &mut self,
        pass_work: PassWork,
        mut device_operands: Vec<L>,
        body: impl Fn(&mut Site, &mut L, &Block<'_>) -> Result<()> + Sync,
    ) -> Result<(Vec<L>, Vec<PassTraffic>)> {
        let (flag, pace) = (self.progress.flag(), self.passes.pace(&self.traffic));
        let input = match &self.matrix {
            Matrix::Dense(input) => input,
            Matrix::Implicit(matrix) => {
                if let (Some(part), Some(operands)) = (self.parts.first_mut(), device_operands.first_mut()) {
                    flag.check()?;
                    let block =
                        Block { dtype: self.dtype, span: part.feed.share, entries: Entries::Implicit(&**matrix) };
                    body(&mut part.site, operands, &block)?;
                }
                return Ok((device_operands, Vec::new()));
            }
        };
        let (stop, count) = (Arc::new(AtomicU64::new(0)), device_operands.len());
        let flag = flag.and(&stop);
        let (progress, begun) = (self.progress, Cell::new(0));
        // Before each block of the first device, which is on this thread. The others are about as far.
        let tick: &dyn Fn() -> Result<()> = &|| progress.repeat(pace.within(begun.replace(begun.get() + count)));
        let jobs: Vec<_> = self.parts.iter_mut().zip(&mut device_operands).collect();
        // A report may cancel the call: the other devices stop at their next block.
        let moved = team::together("purlin-device", &stop, jobs, tick, None, |(part, operands), tick| {
            let watch = Watch { flag: flag.clone(), tick };
            part.feed.run(&mut part.site, input, pass_work, &watch, &mut |site, block| body(site, operands, block))
        })?;
        Ok((device_operands, moved))
    }

    /// The operands of all devices. `others` are the copies of `w` on the other devices; `sum` is the shape of the sum.
    fn device_operands<'p>(
        &self,
        w: Option<View<'p>>,
        others: &'p [DeviceMemory],
        tall: Option<&'p TallMatrix>,
        sums: &'p [Arc<DeviceMemory>],
        sum: Option<(usize, usize)>,
    ) -> Result<Vec<PassOperands<'p>>> {
        let flipped = match &self.matrix {
            Matrix::Dense(input) => is_flipped(self.dtype, input.row_major),
            Matrix::Implicit(_) => false,
        };
        let mut device_operands = Vec::with_capacity(self.parts.len());
        for (k, part) in self.parts.iter().enumerate() {
            let w = match (k, w) {
                (0, w) => w,
                (_, None) => None,
                (k, Some(w)) => Some(packed(self.dtype, &others[k - 1], w.rows, w.cols)?),
            };
            let piece = tall.map(|t| (&t.pieces[k], t.width));
            let sum = match sum {
                Some((rows, columns)) => Some(Sum::new(packed(self.dtype, &sums[k], rows, columns)?, flipped)),
                None => None,
            };
            let first = part.feed.share.first;
            device_operands.push(PassOperands { first, w, piece, sum, adds: false, exponent: None, moved: 0 });
        }
        Ok(device_operands)
    }

    /// The work after a pass: clears the sums of devices without a block, and counts the copied bytes.
    fn finish(&mut self, device_operands: &[PassOperands<'_>]) -> Result<()> {
        for (part, operands) in self.parts.iter().zip(device_operands) {
            if let (Some(sum), false) = (operands.sum, operands.adds) {
                part.site.gpu.clear(&part.site.stream, sum.view.memory)?;
            }
            self.traffic.bytes_tall += operands.moved;
        }
        Ok(())
    }

    /// Memory on each device for a sum.
    fn sums(&mut self, rows: usize, columns: usize) -> Result<Vec<Arc<DeviceMemory>>> {
        let bytes = bytes(self.dtype, rows, columns)?;
        self.parts.iter_mut().map(|p| p.site.scratch(ScratchUse::Sum, bytes)).collect()
    }

    /// A pass that ends in a sum over all rows, n-by-l, in `t`.
    fn summed(
        &mut self,
        w: Option<&DeviceMatrix>,
        tall: Option<&TallMatrix>,
        t: &DeviceMatrix,
        body: impl Fn(&mut Site, &mut PassOperands<'_>, &Block<'_>) -> Result<()> + Sync,
    ) -> Result<()> {
        let (dtype, rows, columns) = (self.dtype, t.rows(), t.cols());
        let others = match w {
            Some(w) => self.replicas(w)?,
            None => Vec::new(),
        };
        let sums = self.sums(rows, columns)?;
        let device_operands =
            self.device_operands(w.map(DeviceMatrix::view), &others, tall, &sums, Some((rows, columns)))?;
        let device_operands = self.pass(device_operands, body)?;
        self.finish(&device_operands)?;
        // The sums of all devices are scaled to the largest power of two among them.
        let top = device_operands.iter().filter_map(|operands| operands.exponent).max();
        for (part, operands) in self.parts.iter().zip(&device_operands) {
            if let (Some(sum), Some(e), Some(top)) = (operands.sum, operands.exponent, top) {
                shift(&part.site, dtype, sum.view, e - top)?;
            }
        }
        let flipped = device_operands.first().and_then(|l| l.sum).is_some_and(|s| s.flipped);
        drop(device_operands);
        self.add_up(dtype, &sums.iter().map(|s| &**s).collect::<Vec<_>>(), rows * columns)?;
        let site = &self.parts[0].site;
        let from = Strided {
            memory: sums[0].whole(),
            row: if flipped { columns } else { 1 },
            column: if flipped { 1 } else { rows },
        };
        let to = Strided { memory: t.memory().whole(), row: 1, column: rows };
        let how = Copying { conjugate: flipped, add: false };
        kernels::copy(dtype, &site.gpu, &site.stream, (rows, columns), from, to, how)
    }

    pub(super) fn multiply_pass(&mut self, w: &DeviceMatrix, p: &TallMatrix) -> Result<()> {
        let others = self.replicas(w)?;
        let device_operands = self.device_operands(Some(w.view()), &others, Some(p), &[], None)?;
        let device_operands = self.pass(device_operands, |site, operands, block| {
            let w = operands.factor()?;
            operands.tall(site, block.span, Access::Write, |_, site, p| block.multiply(site, w, p))
        })?;
        self.finish(&device_operands)
    }

    pub(super) fn adjoint_pass(&mut self, p: &TallMatrix, t: &DeviceMatrix) -> Result<()> {
        self.summed(None, Some(p), t, |site, operands, block| {
            operands.tall(site, block.span, Access::Read, |operands, site, p| {
                operands.add(|sum, adds| block.adjoint(site, p, sum, adds))
            })
        })
    }

    pub(super) fn fused_pass(&mut self, w: &DeviceMatrix, p: Option<&TallMatrix>, t: &DeviceMatrix) -> Result<()> {
        let dtype = self.dtype;
        self.summed(Some(w), p, t, |site, operands, block| {
            let w = operands.factor()?;
            let both = |operands: &mut PassOperands<'_>, site: &mut Site, p: View<'_>| {
                block.multiply(site, w, p)?;
                operands.add(|sum, adds| block.adjoint(site, p, sum, adds))
            };
            if operands.piece.is_some() {
                return operands.tall(site, block.span, Access::Write, both);
            }
            let rows = block.span.rows;
            let memory = site.scratch(ScratchUse::Products, bytes(dtype, rows, w.cols)?)?;
            both(operands, site, packed(dtype, &memory, rows, w.cols)?)
        })
    }

    pub(super) fn two_sketches_pass(
        &mut self,
        w: &DeviceMatrix,
        p: &TallMatrix,
        psi: &Sketch,
        z: &DeviceMatrix,
    ) -> Result<()> {
        let (dtype, width) = (self.dtype, z.cols());
        self.summed(Some(w), Some(p), z, |site, operands, block| {
            let w = operands.factor()?;
            let rows = block.span.rows;
            let memory = site.scratch(ScratchUse::Products, bytes(dtype, rows, width)?)?;
            let drawn = packed(dtype, &memory, rows, width)?;
            draw(site, dtype, drawn, psi, operands.first + block.span.first)?;
            operands.tall(site, block.span, Access::Write, |_, site, p| block.multiply(site, w, p))?;
            operands.add(|sum, adds| block.adjoint(site, drawn, sum, adds))
        })
    }

    pub(super) fn block_sum_pass(&mut self, local: &BlockParameters, y: &DeviceMatrix) -> Result<()> {
        let (dtype, width) = (self.dtype, y.cols());
        self.summed(None, None, y, |site, operands, block| {
            let (rows, columns) = (block.span.rows, operands.sum.map_or(0, |s| s.columns()));
            let memory = site.scratch(ScratchUse::Products, bytes(dtype, rows, width)?)?;
            let z = packed(dtype, &memory, rows, width)?;
            draw(site, dtype, z, &local.sketch, operands.first + block.span.first)?;
            // Powers may leave the range of the type. Each factor is scaled, and its power of two is counted.
            let mut exponent = 0;
            for _ in 0..local.iterations {
                let small = site.scratch(ScratchUse::Small, bytes(dtype, columns, width)?)?;
                let small = packed(dtype, &small, columns, width)?;
                block.adjoint_plain(site, z, small)?;
                let Some(e) = level(site, dtype, small)? else { return Ok(()) };
                block.multiply(site, small, z)?;
                let Some(f) = level(site, dtype, z)? else { return Ok(()) };
                exponent += e + f;
            }
            // Blocks are added with the weights of their powers.
            let before = *operands.exponent.get_or_insert(exponent);
            if exponent <= before {
                shift(site, dtype, z, exponent - before)?;
            } else {
                operands.exponent = Some(exponent);
                if let (Some(sum), true) = (operands.sum, operands.adds) {
                    shift(site, dtype, sum.view, before - exponent)?;
                }
            }
            operands.add(|sum, adds| block.adjoint(site, z, sum, adds))
        })
    }

    pub(super) fn gram_pass(&mut self, g: &DeviceMatrix) -> Result<()> {
        let (n, dtype, wide_type) = (self.columns, self.dtype, self.dtype.wide());
        let row_major = match &self.matrix {
            Matrix::Dense(input) => input.row_major,
            Matrix::Implicit(_) => {
                return Err(Error::NotSupported("method: forms a Gram matrix, a dense matrix is needed".into()));
            }
        };
        let bytes = bytes(wide_type, n, n)?;
        let sums: Vec<_> =
            self.parts.iter_mut().map(|p| p.site.scratch(ScratchUse::Gram, bytes)).collect::<Result<_>>()?;
        let mut device_operands = self.device_operands(None, &[], None, &[], None)?;
        for (operands, sum) in device_operands.iter_mut().zip(&sums) {
            operands.sum = Some(Sum { view: packed(wide_type, sum, n, n)?, flipped: false });
        }
        let device_operands = self.pass(device_operands, |site, operands, block| {
            let Entries::Dense { lines, .. } = &block.entries else { return Ok(()) };
            operands.add(|sum, adds| add_gram(site, dtype, *lines, row_major, sum.view, adds))
        })?;
        self.finish(&device_operands)?;
        drop(device_operands);
        self.add_up(wide_type, &sums.iter().map(|s| &**s).collect::<Vec<_>>(), n * n)?;
        let site = &mut self.parts[0].site;
        let (wide, to) = ((sums[0].whole(), n), (g.memory().whole(), n));
        kernels::mirror(dtype, &site.gpu, &site.stream, n, wide, to, is_flipped(dtype, row_major))?;
        drop(sums);
        for part in &mut self.parts {
            part.site.forget(ScratchUse::Gram);
            part.site.forget(ScratchUse::Wide);
        }
        Ok(())
    }
}

/// Divides a matrix by a power of two, which is exact, so that its norm is of the order of one. Returns the exponent; `None` for
/// zeros.
fn level(site: &Site, dtype: DType, m: View<'_>) -> Result<Option<i64>> {
    let norms = site.algebra.norms(dtype, m)?;
    let Some(e) = exponent_of(&norms) else { return Ok(None) };
    shift(site, dtype, m, -e)?;
    Ok(Some(e))
}

/// Multiplies a matrix by 2^e.
fn shift(site: &Site, dtype: DType, m: View<'_>, e: i64) -> Result<()> {
    if e == 0 {
        return Ok(());
    }
    let factors = crate::alloc::filled("factors", m.cols, power(e))?;
    let factors = site.gpu.upload_numbers(&site.stream, "factors", &factors)?;
    dense::scale(dtype, &site.gpu, &site.stream, m, factors.whole())
}

/// Fills a matrix with the rows of a sketch from `first` on.
pub(super) fn draw(site: &Site, dtype: DType, matrix: View<'_>, sketch: &Sketch, first: usize) -> Result<()> {
    site.algebra.draw(dtype, matrix, sketch, to_u64(first), 0)
}

/// Adds lines^H lines, or lines lines^H where a row is a line, in double.
fn add_gram(site: &mut Site, dtype: DType, lines: Lines<'_>, outer: bool, sum: View<'_>, adds: bool) -> Result<()> {
    let beta = if adds { 1.0 } else { 0.0 };
    let wide_type = dtype.wide();
    if dtype == wide_type {
        return site.blas().rank_update(dtype, 1.0, stored(&lines), outer, beta, sum);
    }
    // The sum is computed in parts along its axis: over lines where these are rows, else over the elements of each line.
    let size = dtype.size();
    let (length, across) = if outer { (lines.outer, lines.inner) } else { (lines.inner, lines.outer) };
    let panel = WIDE_BYTES.min(site.algebra.panel_bytes());
    let step = (panel / (across * 2 * size).max(1)).clamp(1, length.max(1));
    let memory = site.scratch(ScratchUse::Wide, bytes(wide_type, step, across)?)?;
    for (k, from) in (0..length).step_by(step).enumerate() {
        let count = step.min(length - from);
        let (inner, outer_lines) = if outer { (lines.inner, count) } else { (count, lines.outer) };
        let offset = size * if outer { from * lines.stride } else { from };
        let part = lines.memory.part(offset, lines.memory.bytes() - offset)?;
        let source = Lines { memory: part, inner, outer: outer_lines, stride: lines.stride };
        let wide = Lines { memory: memory.whole(), inner, outer: outer_lines, stride: inner };
        let convert = Convert { source, dtype, output: Some(wide), centre: None, factor: 1.0, tally: None };
        convert.run(wide_type, &site.gpu, &site.stream)?;
        let beta = if k > 0 { 1.0 } else { beta };
        site.blas().rank_update(wide_type, 1.0, stored(&wide), outer, beta, sum)?;
    }
    Ok(())
}
