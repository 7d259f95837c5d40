//! A backend that allocates no memory. It runs the methods with sizes instead of matrices, and counts the bytes that the
//! CPU backend would charge.

use std::sync::Arc;

use super::shape::{DataAssumption, Entries, Shape};
use crate::backend::memory::Charge;
use crate::context::Context;
use crate::dense::orthonormal::{BasisAccuracy, BasisMethod, Counts, Kind, Own, orthonormalize};
use crate::dense::sizes::{Blank, SimulatedResults, Sizes};
use crate::dense::sketch::Sketch;
use crate::dense::{Algebra, Op, Step, Svd};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rsvd::cpu;
use crate::rsvd::ops::{BlockParameters, Prepared, RsvdOps};
use crate::rsvd::statistics::Statistics;
use crate::rsvd::traffic::Traffic;
use crate::scalar::{Complex, Scalar};

/// The operations on sizes. `T` is real or complex like the problem; [`Shape::element`] has the size of its elements.
pub struct Ledger<T> {
    shape: Shape,
    course: DataAssumption,
    sizes: Sizes<T>,
    statistics: Statistics,
    traffic: Traffic,
    /// Memory that the first pass allocates and keeps.
    kept: Vec<Charge>,
    is_surveyed: bool,
}

/// The simulated results of the operations in a course. `kind` is how columns are made orthonormal.
fn answers(course: DataAssumption, kind: Kind) -> SimulatedResults {
    match course {
        DataAssumption::Regular => SimulatedResults::REGULAR,
        DataAssumption::Deficient => SimulatedResults::deficient(kind),
        DataAssumption::Decaying => SimulatedResults { large: 1, ..SimulatedResults::deficient(kind) },
        DataAssumption::Single => SimulatedResults { large: 1, vanishes: true, ..SimulatedResults::deficient(kind) },
    }
}

impl<T: Scalar> Ledger<T> {
    /// A ledger without bytes. `kind` is how the run makes columns orthonormal.
    pub fn new(shape: Shape, course: DataAssumption, kind: Kind) -> Self {
        Self {
            shape,
            course,
            sizes: Sizes::new(shape.element, answers(course, kind)),
            statistics: Statistics {
                norm2: 1.0,
                max_abs: 1.0,
                is_estimate: matches!(shape.entries, Entries::Operator),
                ..Statistics::default()
            },
            traffic: Traffic::default(),
            kept: Vec::new(),
            is_surveyed: false,
        }
    }

    /// Peak of the counted bytes.
    pub fn peak(&self) -> u64 {
        self.sizes.peak()
    }

    fn hold(&self, what: &'static str, bytes: usize) -> Result<Charge> {
        self.sizes.hold(what, bytes)
    }

    fn blank(&self, what: &'static str, rows: usize, cols: usize) -> Result<Blank> {
        self.sizes.blank(what, rows, cols)
    }

    fn elements(&self, what: &'static str, rows: usize, cols: usize, size: usize) -> Result<Charge> {
        self.sizes.elements(what, rows, cols, size)
    }

    fn product(&self, rows: usize, cols: usize, depth: usize) -> Result<()> {
        self.sizes.product(rows, cols, depth)
    }

    /// Whether panels are used in place.
    fn is_direct(&self) -> bool {
        // Data that cannot be squared are multiplied by a power of two, which needs a copy of each panel.
        self.shape.is_direct && self.course == DataAssumption::Regular
    }

    fn survey(&mut self) -> Result<()> {
        if self.is_surveyed {
            return Ok(());
        }
        self.is_surveyed = true;
        self.traffic.passes += 1;
        let (m, n, element) = (self.shape.rows, self.shape.columns, self.shape.element);
        self.kept.push(self.hold("means of columns", self.shape.moments)?);
        match self.shape.entries {
            Entries::Memory | Entries::Source => {}
            Entries::Sparse(stored) => {
                let entry = 8usize.saturating_add(element.next_multiple_of(8));
                let columns = stored.saturating_mul(entry).saturating_add(n.saturating_add(1).saturating_mul(8));
                self.kept.push(self.hold("columns of a sparse matrix", columns)?);
            }
            Entries::Operator => {
                self.kept.push(self.elements("vectors of a test", m.saturating_add(n), 1, element)?);
                if self.shape.is_centered {
                    self.elements("ones", m.saturating_add(n), 1, element)?;
                }
                let _w = self.blank("probes", n, cpu::PROBES)?;
                let _p = self.blank("products with probes", m, cpu::PROBES)?;
            }
        }
        Ok(())
    }

    /// A pass of the CPU backend. `w` is the width of W, and `left` that of the factor of A^H. The flags say whether A W is
    /// kept, the factor is drawn, and A^H A is formed.
    fn pass(&mut self, w: usize, kept: bool, left: usize, drawn: bool, gram: bool) -> Result<()> {
        self.survey()?;
        match self.shape.entries {
            Entries::Memory | Entries::Source => self.dense_pass(w, left, drawn, gram),
            Entries::Sparse(_) | Entries::Operator => self.implicit_pass(w, kept, left, drawn, gram),
        }
    }

    fn dense_pass(&self, w: usize, left: usize, drawn: bool, gram: bool) -> Result<()> {
        let (n, element, wide) = (self.shape.columns, self.shape.element, size_of::<T::Wide>());
        let height = self.shape.panel_rows;
        let copied = if self.is_direct() { 0 } else { n };
        let _panels = [
            self.elements("rows of the data", height, copied, element)?,
            self.elements("rows of A W", height, w, element)?,
            self.elements("rows of a sketch", height, if drawn { left } else { 0 }, element)?,
            self.elements("rows of the data", height, if gram { n } else { 0 }, wide)?,
            self.elements("A^H A", n, if gram { n } else { 0 }, wide)?,
        ];
        self.product(height, w, n)?;
        self.product(n, left, height)
    }

    fn implicit_pass(&self, w: usize, kept: bool, left: usize, drawn: bool, gram: bool) -> Result<()> {
        let (m, n) = (self.shape.rows, self.shape.columns);
        let is_plain = !self.shape.is_scaled && self.course == DataAssumption::Regular;
        let is_sparse = matches!(self.shape.entries, Entries::Sparse(_));
        let rows = |inner: usize, width: usize| if is_sparse { (inner, width) } else { (0, 0) };
        let forward = |width: usize| -> Result<()> {
            let _gained = self.blank("scaled factor", if is_plain || is_sparse { 0 } else { n }, width)?;
            let (inner, width) = rows(n, width);
            self.blank("rows of a factor", inner, width).map(drop)
        };
        let _own = self.blank("A W", if kept { 0 } else { m }, w)?;
        forward(w)?;
        if gram {
            let count = n.min(64);
            let _identity = self.blank("columns of the identity", n, count)?;
            let _columns = self.blank("columns of the data", m, count)?;
            forward(count)?;
            let (inner, width) = rows(m, count);
            self.blank("rows of a factor", inner, width)?;
        }
        let _drawn = self.blank("sketch", if drawn { m } else { 0 }, left)?;
        if left > 0 && !is_sparse {
            // One product more, where those of the method do not test the adjoint.
            self.elements("vector of a test", m.saturating_add(n), 1, self.shape.element)?;
        }
        let (inner, width) = rows(m, left);
        self.blank("rows of a factor", inner, width).map(drop)
    }

    /// The copy of a block that a block method holds in addition to its own matrices.
    fn block_scratch(&self) -> Result<Charge> {
        let copied = if self.is_direct() { 0 } else { self.shape.columns };
        self.elements("block of the data", self.shape.block_rows, copied, self.shape.element)
    }

    fn basis(&mut self, x: &mut Blank, need: BasisAccuracy) -> Result<Blank> {
        let before = self.sizes.set_failures(answers(self.course, Kind::Auto).failures);
        let how = BasisMethod { kind: Kind::Auto, need, seed: 0, draw: 0 };
        let r = orthonormalize(&mut Own(&mut *self), x, how, &mut Counts::default());
        self.sizes.set_failures(before);
        r
    }

    /// One block of a merge, with the allocations of `cpu::blocks`.
    fn merge_block(&mut self, local: &BlockParameters, before: Option<Blank>) -> Result<Blank> {
        let (rows, columns) = (self.shape.block_rows, self.shape.columns);
        let width = local.width.min(rows).min(columns);
        let mut p = self.blank("sketch of a block", rows, width)?;
        let mut q = self.blank("rows of a block", columns, width)?;
        self.product(columns, width, rows)?;
        self.product(rows, width, columns)?;
        self.basis(&mut q, BasisAccuracy::Basis)?;
        let r = self.basis(&mut p, BasisAccuracy::Basis)?;
        let own = self.blank("block", columns, width)?;
        self.product(columns, width, width)?;
        let kept = before.as_ref().map_or(0, |b| b.cols());
        let mut both = self.blank("two blocks", columns, kept + width)?;
        let leading = self.merge_leading(local, &mut both)?;
        drop((before, own, r));
        Ok(leading)
    }

    fn merge_leading(&mut self, local: &BlockParameters, both: &mut Blank) -> Result<Blank> {
        let (rows, cols) = (both.rows(), both.cols());
        let keep = local.width.min(rows).min(cols);
        let (is_tall, u) = if rows >= cols {
            let r = self.basis(both, BasisAccuracy::Basis)?;
            (true, self.svd(&r)?.u)
        } else {
            (false, self.svd(both)?.u)
        };
        let head = self.blank("leading vectors", u.rows(), keep)?;
        if !is_tall {
            return Ok(head);
        }
        let leading = self.blank("leading vectors", rows, keep)?;
        self.product(rows, keep, cols)?;
        Ok(leading)
    }
}

impl<T: Scalar> Algebra<T> for Ledger<T> {
    type Matrix = Blank;

    fn zeros(&mut self, what: &'static str, rows: usize, cols: usize) -> Result<Blank> {
        self.blank(what, rows, cols)
    }

    fn shape(&self, m: &Blank) -> (usize, usize) {
        (m.rows(), m.cols())
    }

    fn upload(&mut self, what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> Result<Blank> {
        self.sizes.upload(what, rows, cols, data, ld)
    }

    fn download(&mut self, m: &Blank, data: &mut [T], ld: usize) -> Result<()> {
        self.sizes.download(m, data, ld)
    }

    fn copy_columns(&mut self, from: &Blank, first: usize, count: usize, to: &mut Blank, at: usize) -> Result<()> {
        self.sizes.copy_columns(from, first, count, to, at)
    }

    fn multiply(
        &mut self,
        alpha: f64,
        a: &Blank,
        op_a: Op,
        b: &Blank,
        op_b: Op,
        beta: f64,
        c: &mut Blank,
    ) -> Result<()> {
        self.sizes.multiply(alpha, a, op_a, b, op_b, beta, c)
    }

    fn scale_columns(&mut self, m: &mut Blank, factors: &[f64]) -> Result<()> {
        self.sizes.scale_columns(m, factors)
    }

    fn adjoint(&mut self, what: &'static str, m: &Blank) -> Result<Blank> {
        self.sizes.adjoint(what, m)
    }

    fn fill(&mut self, m: &mut Blank, sketch: &Sketch, row: u64, column: u32) -> Result<()> {
        self.sizes.fill(m, sketch, row, column)
    }

    fn norm2(&mut self, m: &Blank) -> Result<f64> {
        self.sizes.norm2(m)
    }

    fn column_norms(&mut self, m: &Blank) -> Result<Vec<f64>> {
        self.sizes.column_norms(m)
    }

    fn column_peaks(&mut self, m: &Blank) -> Result<Vec<(f64, f64)>> {
        self.sizes.column_peaks(m)
    }

    fn cholesky_step(&mut self, x: &mut Blank, shift: f64, r: &mut Blank) -> Result<Step> {
        self.sizes.cholesky_step(x, shift, r)
    }

    fn householder(&mut self, x: &mut Blank, r: &mut Blank) -> Result<()> {
        self.sizes.householder(x, r)
    }

    fn svd(&mut self, a: &Blank) -> Result<Svd<Blank>> {
        self.sizes.svd(a)
    }

    fn eigen(&mut self, a: &Blank) -> Result<(Vec<f64>, Blank)> {
        self.sizes.eigen(a)
    }
}

impl<T: Scalar> RsvdOps<T> for Ledger<T> {
    type Tall = Blank;

    fn rows(&self) -> usize {
        self.shape.rows
    }

    fn columns(&self) -> usize {
        self.shape.columns
    }

    fn statistics(&self) -> Option<&Statistics> {
        Some(&self.statistics)
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    fn checkpoint(&mut self, _: i64, _: i64, _: f64) -> Result<()> {
        Ok(())
    }

    fn element_bytes(&self) -> usize {
        self.shape.element
    }

    fn charge(&self, _: &Context, what: &'static str, bytes: usize) -> Result<Charge> {
        self.hold(what, bytes)
    }

    fn identity(&mut self, what: &'static str, rows: usize, columns: usize) -> Result<Blank> {
        self.blank(what, rows, columns)
    }

    fn tall_of(&mut self, _: &Arc<Context>, m: &Blank) -> Result<Blank> {
        self.blank("tall copy", m.rows(), m.cols())
    }

    fn matrix_of(&mut self, _: &Arc<Context>, what: &'static str, p: &Blank) -> Result<Blank> {
        self.blank(what, p.rows(), p.cols())
    }

    fn tall_identity(&mut self, _: &Arc<Context>, columns: usize) -> Result<Blank> {
        self.blank("identity", self.shape.rows, columns)
    }

    fn tall_ones(&mut self, _: &Arc<Context>) -> Result<Blank> {
        self.blank("ones", self.shape.rows, 1)
    }

    fn set_columns(&mut self, _: &[f64], _: &[f64]) -> Result<Prepared> {
        Ok(Prepared::Divided)
    }

    fn pass_multiply(&mut self, w: &Blank, _: &mut Blank) -> Result<()> {
        self.pass(w.cols(), true, 0, false, false)
    }

    fn pass_adjoint(&mut self, _: &Blank, t: &mut Blank) -> Result<()> {
        self.pass(0, true, t.cols(), false, false)
    }

    fn pass_fused(&mut self, w: &Blank, p: Option<&mut Blank>, t: &mut Blank) -> Result<()> {
        self.pass(w.cols(), p.is_some(), t.cols(), false, false)
    }

    fn pass_gram(&mut self, _: &mut Blank) -> Result<()> {
        self.pass(0, true, 0, false, true)
    }

    fn pass_block_sum(&mut self, _: &BlockParameters, y: &mut Blank) -> Result<()> {
        self.survey()?;
        let _scratch = self.block_scratch()?;
        let (rows, columns, width) = (self.shape.block_rows, self.shape.columns, y.cols());
        let _omega = self.blank("sketch of a block", rows, width)?;
        let _t = self.blank("A_J^H Y", columns, width)?;
        self.product(columns, width, rows)?;
        self.product(rows, width, columns)
    }

    fn pass_merge(&mut self, local: &BlockParameters, _: &mut Blank) -> Result<()> {
        self.survey()?;
        let _scratch = self.block_scratch()?;
        let mut merged = self.merge_block(local, None)?;
        if self.shape.block_rows < self.shape.rows {
            // A later block is merged with as many columns as the merge keeps.
            let (columns, most) = (self.shape.columns, local.width.min(self.shape.rows).min(self.shape.columns));
            if merged.cols() < most {
                drop(merged);
                merged = self.blank("leading vectors", columns, most)?;
            }
            self.merge_block(local, Some(merged))?;
        }
        Ok(())
    }

    fn pass_two_sketches(&mut self, w: &Blank, _: &mut Blank, _: &Sketch, z: &mut Blank) -> Result<()> {
        self.pass(w.cols(), true, z.cols(), true, false)
    }

    fn tall(&mut self, what: &'static str, width: usize) -> Result<Blank> {
        self.blank(what, self.shape.rows, width)
    }

    fn tall_width(&self, p: &Blank) -> usize {
        p.cols()
    }

    fn tall_fill(&mut self, _: &mut Blank, _: &Sketch, _: u32) -> Result<()> {
        Ok(())
    }

    fn tall_multiply(&mut self, _: f64, p: &Blank, _: &Blank, _: f64, q: &mut Blank) -> Result<()> {
        self.product(q.rows(), q.cols(), p.cols())
    }

    fn tall_shift(&mut self, _: &mut Blank, _: &[Complex<f64>], _: &[i64]) -> Result<()> {
        Ok(())
    }

    fn tall_transform(&mut self, p: &mut Blank, m: &Blank) -> Result<()> {
        let q = self.blank("transformed tall matrix", p.rows(), m.cols())?;
        self.product(p.rows(), m.cols(), p.cols())?;
        *p = q;
        Ok(())
    }

    fn tall_cross(&mut self, p: &Blank, q: &Blank, _: &mut Blank) -> Result<()> {
        self.product(p.cols(), q.cols(), p.rows())
    }

    fn tall_column_norms(&mut self, p: &Blank) -> Result<Vec<f64>> {
        self.column_norms(p)
    }

    fn tall_cholesky_step(&mut self, p: &mut Blank, shift: f64, r: &mut Blank) -> Result<Step> {
        self.cholesky_step(p, shift, r)
    }

    fn tall_column_peaks(&mut self, p: &Blank) -> Result<Vec<(f64, f64)>> {
        self.column_peaks(p)
    }

    fn tall_read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<Blank> {
        self.read(what, source, adjoint, conjugate)
    }

    fn tall_write(&mut self, _: &Blank, _: &mut Matrix, _: bool, _: bool) -> Result<()> {
        Ok(())
    }

    fn read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, _: bool) -> Result<Blank> {
        let (rows, cols) = (source.rows(), source.cols());
        if adjoint { self.blank(what, cols, rows) } else { self.blank(what, rows, cols) }
    }

    fn write(&mut self, _: &Blank, _: &mut Matrix, _: bool, _: bool) -> Result<()> {
        Ok(())
    }
}
