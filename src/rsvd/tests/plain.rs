//! A backend of the plainest kind: the matrix whole in memory, cut into blocks where a method asks for them. The
//! results of the methods with it are the reference for other backends.

use std::sync::Arc;

use crate::context::Context;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::cpu::matrix::CpuMatrix;
use crate::dense::sketch::Sketch;
use crate::dense::{Algebra, Op, Step, Svd};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::ops::{BlockParameters, RsvdOps};
use crate::rsvd::options::IterationPrecision;
use crate::rsvd::statistics::Statistics;
use crate::rsvd::traffic::Traffic;
use crate::scalar::{Complex, Scalar};

/// A backend in plain loops, which counts passes and can make products rough.
pub struct Plain<T: Scalar> {
    algebra: CpuAlgebra,
    a: CpuMatrix<T>,
    block: usize,
    factor: f64,
    /// Whether products may be rough, and whether they are.
    pub has_rough: bool,
    is_rough: bool,
    /// Passes whose products were rough.
    pub rough_passes: u64,
    statistics: Option<Statistics>,
    traffic: Traffic,
}

impl<T: Scalar> Plain<T> {
    /// A backend for a matrix given column by column; `block` rows are a block.
    pub fn new(context: &Arc<Context>, rows: usize, columns: usize, data: &[T], block: usize) -> Self {
        let mut algebra = CpuAlgebra::new(context);
        let a = algebra.upload("a", rows, columns, data, rows.max(1)).unwrap();
        let blocks = rows.div_ceil(block) as u64;
        let traffic = Traffic { blocks, block_rows: block as u64, ..Traffic::default() };
        Self {
            algebra,
            a,
            block,
            factor: 1.0,
            has_rough: false,
            is_rough: false,
            rough_passes: 0,
            statistics: None,
            traffic,
        }
    }

    fn pass(&mut self) -> Result<()> {
        self.traffic.passes += 1;
        if self.statistics.is_none() {
            let data = self.a.slice()?;
            if let Some(i) = data.iter().position(|x| !x.re().is_finite() || !x.im().is_finite()) {
                return Err(Error::invalid("a", format!("entry {i} is not finite")));
            }
            let max_abs = data.iter().map(|x| x.re().hypot(x.im())).fold(0.0, f64::max);
            let norm2 = self.algebra.norm2(&self.a)? * self.factor * self.factor;
            self.statistics = Some(Statistics { norm2, max_abs, size: max_abs * self.factor, ..Statistics::default() });
        }
        Ok(())
    }

    /// The matrix and a factor of a product with it as the product takes them: rough ones have 11 bits.
    fn operands(&mut self, x: &M<T>) -> Result<(M<T>, M<T>)> {
        let is_rough = self.is_rough;
        self.rough_passes += u64::from(is_rough);
        let mut copy = |m: &M<T>| {
            let round =
                |v: f64| if is_rough { f64::from_bits((v.to_bits() + (1 << 41)) & !((1 << 42) - 1)) } else { v };
            let data: Vec<T> = m.slice()?.iter().map(|v| T::from_parts(round(v.re()), round(v.im()))).collect();
            self.algebra.upload("operand", m.rows(), m.cols(), &data, m.rows().max(1))
        };
        Ok((copy(&self.a)?, copy(x)?))
    }

    /// The blocks, each with its first row.
    fn blocks(&mut self) -> Result<Vec<(usize, CpuMatrix<T>)>> {
        let (rows, columns) = self.a.shape();
        let mut all = Vec::new();
        for first in (0..rows).step_by(self.block) {
            let count = self.block.min(rows - first);
            let data = self.a.slice()?[first..].to_vec();
            let mut padded = data;
            padded.resize(rows * columns, T::default());
            all.push((first, self.algebra.upload("block", count, columns, &padded, rows)?));
        }
        Ok(all)
    }
}

macro_rules! forward {
    ($($name:ident($($arg:ident: $t:ty),*) -> $out:ty;)*) => {$(
        fn $name(&mut self, $($arg: $t),*) -> Result<$out> {
            self.algebra.$name($($arg),*)
        }
    )*};
}

type M<T> = CpuMatrix<T>;

impl<T: Scalar> Algebra<T> for Plain<T> {
    type Matrix = CpuMatrix<T>;

    fn shape(&self, m: &M<T>) -> (usize, usize) {
        m.shape()
    }

    forward! {
        zeros(what: &'static str, rows: usize, cols: usize) -> M<T>;
        upload(what: &'static str, rows: usize, cols: usize, data: &[T], ld: usize) -> M<T>;
        download(m: &M<T>, data: &mut [T], ld: usize) -> ();
        copy_columns(source: &M<T>, from: usize, count: usize, target: &mut M<T>, to: usize) -> ();
        scale_columns(m: &mut M<T>, factors: &[f64]) -> ();
        adjoint(what: &'static str, m: &M<T>) -> M<T>;
        fill(m: &mut M<T>, sketch: &Sketch, first_row: u64, first_column: u32) -> ();
        norm2(m: &M<T>) -> f64;
        column_norms(m: &M<T>) -> Vec<f64>;
        column_peaks(m: &M<T>) -> Vec<(f64, f64)>;
        cholesky_step(x: &mut M<T>, shift: f64, r: &mut M<T>) -> Step;
        householder(x: &mut M<T>, r: &mut M<T>) -> ();
        svd(a: &M<T>) -> Svd<M<T>>;
        eigen(a: &M<T>) -> (Vec<f64>, M<T>);
    }

    fn multiply(&mut self, alpha: f64, a: &M<T>, op_a: Op, b: &M<T>, op_b: Op, beta: f64, c: &mut M<T>) -> Result<()> {
        self.algebra.multiply(alpha, a, op_a, b, op_b, beta, c)
    }
}

impl<T: Scalar> RsvdOps<T> for Plain<T> {
    type Tall = CpuMatrix<T>;

    fn rows(&self) -> usize {
        self.a.rows()
    }

    fn columns(&self) -> usize {
        self.a.cols()
    }

    fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    fn factor(&self) -> f64 {
        self.factor
    }

    fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    fn checkpoint(&mut self, _: i64, _: i64, _: f64) -> Result<()> {
        Ok(())
    }

    fn set_precision(&mut self, precision: IterationPrecision) -> Result<bool> {
        self.is_rough = self.has_rough && precision == IterationPrecision::Fast;
        Ok(self.has_rough)
    }

    fn pass_multiply(&mut self, w: &M<T>, p: &mut M<T>) -> Result<()> {
        self.pass()?;
        let (a, w) = self.operands(w)?;
        self.algebra.multiply(self.factor, &a, Op::Plain, &w, Op::Plain, 0.0, p)
    }

    fn pass_adjoint(&mut self, p: &M<T>, t: &mut M<T>) -> Result<()> {
        self.pass()?;
        let (a, p) = self.operands(p)?;
        self.algebra.multiply(self.factor, &a, Op::Adjoint, &p, Op::Plain, 0.0, t)
    }

    fn pass_fused(&mut self, w: &M<T>, p: Option<&mut M<T>>, t: &mut M<T>) -> Result<()> {
        let mut own = self.tall("A W", w.cols())?;
        let p = p.unwrap_or(&mut own);
        self.pass_multiply(w, p)?;
        let (a, p) = self.operands(p)?;
        self.algebra.multiply(self.factor, &a, Op::Adjoint, &p, Op::Plain, 0.0, t)
    }

    fn pass_gram(&mut self, g: &mut M<T>) -> Result<()> {
        self.pass()?;
        let factor = self.factor * self.factor;
        self.algebra.multiply(factor, &self.a, Op::Adjoint, &self.a, Op::Plain, 0.0, g)
    }

    fn pass_block_sum(&mut self, local: &BlockParameters, y: &mut M<T>) -> Result<()> {
        self.pass()?;
        let mut beta = 0.0;
        for (first, block) in self.blocks()? {
            let mut omega = self.zeros("omega", block.rows(), local.width)?;
            self.fill(&mut omega, &local.sketch, first as u64, 0)?;
            let mut part = self.zeros("part", block.cols(), local.width)?;
            self.multiply(1.0, &block, Op::Adjoint, &omega, Op::Plain, 0.0, &mut part)?;
            for _ in 0..local.iterations {
                self.multiply(1.0, &block, Op::Plain, &part, Op::Plain, 0.0, &mut omega)?;
                self.multiply(1.0, &block, Op::Adjoint, &omega, Op::Plain, 0.0, &mut part)?;
            }
            let mut eye = self.zeros("eye", local.width, local.width)?;
            (0..local.width).for_each(|j| eye.slice_mut().unwrap()[j * (local.width + 1)] = T::from_parts(1.0, 0.0));
            self.multiply(1.0, &part, Op::Plain, &eye, Op::Plain, beta, y)?;
            beta = 1.0;
        }
        Ok(())
    }

    fn pass_merge(&mut self, local: &BlockParameters, r: &mut M<T>) -> Result<()> {
        self.pass()?;
        let n = self.a.cols();
        // Exact decompositions of the blocks: the best that a merge can do, but for the truncation.
        let mut merged: Option<M<T>> = None;
        for (_, block) in self.blocks()? {
            let Svd { s, v, .. } = self.algebra.svd(&block)?;
            let width = local.width.min(s.len());
            let old = merged.as_ref().map_or(0, M::cols);
            let mut joined = self.zeros("joined", n, old + width)?;
            if let Some(m) = &merged {
                self.copy_columns(m, 0, old, &mut joined, 0)?;
            }
            let mut scaled = self.zeros("scaled", n, width)?;
            self.copy_columns(&v, 0, width, &mut scaled, 0)?;
            self.scale_columns(&mut scaled, &s[..width])?;
            self.copy_columns(&scaled, 0, width, &mut joined, old)?;
            let Svd { u, s, .. } = self.algebra.svd(&joined)?;
            let width = local.width.min(s.len());
            let mut next = self.zeros("merged", n, width)?;
            self.copy_columns(&u, 0, width, &mut next, 0)?;
            self.scale_columns(&mut next, &s[..width])?;
            merged = Some(next);
        }
        let merged = merged.ok_or_else(|| Error::Internal("no block".into()))?;
        self.copy_columns(&merged, 0, merged.cols(), r, 0)
    }

    fn pass_two_sketches(&mut self, w: &M<T>, p: &mut M<T>, psi: &Sketch, z: &mut M<T>) -> Result<()> {
        self.pass_multiply(w, p)?;
        let mut test = self.tall("psi", z.cols())?;
        self.fill(&mut test, psi, 0, 0)?;
        self.algebra.multiply(self.factor, &self.a, Op::Adjoint, &test, Op::Plain, 0.0, z)
    }

    fn tall(&mut self, what: &'static str, width: usize) -> Result<M<T>> {
        self.algebra.zeros(what, self.a.rows(), width)
    }

    fn tall_width(&self, p: &M<T>) -> usize {
        p.cols()
    }

    fn tall_fill(&mut self, p: &mut M<T>, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.algebra.fill(p, sketch, 0, first_column)
    }

    fn tall_multiply(&mut self, alpha: f64, p: &M<T>, m: &M<T>, beta: f64, q: &mut M<T>) -> Result<()> {
        self.algebra.multiply(alpha, p, Op::Plain, m, Op::Plain, beta, q)
    }

    fn tall_shift(&mut self, _: &mut M<T>, _: &[Complex<f64>], _: &[i64]) -> Result<()> {
        Err(Error::Internal("a map of samples on a backend for methods".into()))
    }

    fn tall_transform(&mut self, p: &mut M<T>, m: &M<T>) -> Result<()> {
        let mut q = self.tall("product", m.cols())?;
        self.tall_multiply(1.0, p, m, 0.0, &mut q)?;
        *p = q;
        Ok(())
    }

    fn tall_cross(&mut self, p: &M<T>, q: &M<T>, c: &mut M<T>) -> Result<()> {
        self.algebra.multiply(1.0, p, Op::Adjoint, q, Op::Plain, 0.0, c)
    }

    fn tall_column_norms(&mut self, p: &M<T>) -> Result<Vec<f64>> {
        self.algebra.column_norms(p)
    }

    fn tall_cholesky_step(&mut self, p: &mut M<T>, shift: f64, r: &mut M<T>) -> Result<Step> {
        self.algebra.cholesky_step(p, shift, r)
    }

    fn tall_column_peaks(&mut self, p: &M<T>) -> Result<Vec<(f64, f64)>> {
        self.algebra.column_peaks(p)
    }

    fn tall_read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<M<T>> {
        self.read(what, source, adjoint, conjugate)
    }

    fn tall_write(&mut self, p: &M<T>, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        self.write(p, target, adjoint, conjugate)
    }

    fn read(&mut self, what: &'static str, source: &Matrix, adjoint: bool, conjugate: bool) -> Result<M<T>> {
        let dense = source.dense(what)?;
        let data = dense.memory.host(what)?.as_slice::<T>()?;
        let (strides, dims) = (dense.layout.strides(), dense.layout.dims());
        let (rows, columns) = if adjoint { (dims[1], dims[0]) } else { (dims[0], dims[1]) };
        let mut out = Vec::new();
        for j in 0..columns {
            for i in 0..rows {
                let (r, c) = if adjoint { (j, i) } else { (i, j) };
                let x = data[r * strides[0] + c * strides[1]];
                out.push(if adjoint != conjugate { x.conjugate() } else { x });
            }
        }
        self.algebra.upload(what, rows, columns, &out, rows.max(1))
    }

    fn write(&mut self, m: &M<T>, target: &mut Matrix, adjoint: bool, conjugate: bool) -> Result<()> {
        let (rows, columns) = m.shape();
        let dense = target.dense_mut("target")?;
        let strides = dense.layout.strides().to_vec();
        let data = dense.memory.host_mut("target")?.as_mut_slice::<T>()?;
        for j in 0..columns {
            for i in 0..rows {
                let (r, c) = if adjoint { (j, i) } else { (i, j) };
                let x = m.slice()?[j * rows + i];
                data[r * strides[0] + c * strides[1]] = if adjoint != conjugate { x.conjugate() } else { x };
            }
        }
        Ok(())
    }
}
