//! A Krylov space whose rows are partitioned over several parts.
//!
//! Each part computes the operations on single rows. A product first exchanges the halo of the vector. Sums over rows
//! are copied to the host from all parts and added there in the order of the parts, so that equal calls give equal
//! bits.

use std::sync::Arc;

use super::part::{Part, Reading, Sums};
use super::partition::Partition;
use crate::alloc;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lanczos::cycles::Cycles;
use crate::lanczos::operator::Symmetric;
use crate::lanczos::ops::{Affine, LanczosOps, Projection, product_less};
use crate::lanczos::phase::orient;
use crate::matrix::DenseMut;
use crate::scalar::Scalar;
use crate::shape::Order;

const WHAT: &str = "Krylov space of several contexts";

/// The factor p^2 / sum(d) of the modularity's second term. Its vector d / p, p a power of two, is column 0 of every part.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankOne(pub(super) f64);

/// The columns of a space; each part has some of the rows.
pub(super) struct SharedKrylov<'p, 's, T: Scalar, P: Part<T>> {
    context: Arc<Context>,
    partition: &'p Partition,
    parts: Vec<P>,
    inverse: Option<Symmetric<'s, T>>,
    rank_one: Option<RankOne>,
    terms_norm: f64,
}

impl<'p, 's, T: Scalar, P: Part<T>> SharedKrylov<'p, 's, T, P> {
    /// `parts` have the rows of the partition's blocks. With a second term they have one more column at the front, for
    /// d.
    pub(super) fn new(
        context: &Arc<Context>,
        partition: &'p Partition,
        parts: Vec<P>,
        inverse: Option<Symmetric<'s, T>>,
        rank_one: Option<RankOne>,
        terms_norm: f64,
    ) -> Self {
        Self { context: Arc::clone(context), partition, parts, inverse, rank_one, terms_norm }
    }

    /// The index of column `column` in a part.
    fn at(&self, column: usize) -> usize {
        column + usize::from(self.rank_one.is_some())
    }

    /// Runs a reading on all parts and adds their sums.
    fn read_through(&mut self, reading: Reading<'_, T::Wide>) -> Result<Sums<T::Wide>> {
        self.parts.iter_mut().try_for_each(|part| part.begin(reading))?;
        let mut all: Option<Sums<T::Wide>> = None;
        for part in &mut self.parts {
            let more = part.sums()?;
            match &mut all {
                None => all = Some(more),
                Some(all) => {
                    all.products.iter_mut().zip(more.products).for_each(|(sum, more)| *sum += more);
                    all.before += more.before;
                    all.after += more.after;
                }
            }
        }
        all.ok_or_else(|| Error::Internal("a space without parts".into()))
    }

    /// The reading that subtracts V h from column `column` and, if `forms`, then computes V^H times that column.
    fn reading<'h>(
        &self,
        (first, count): (usize, usize),
        column: usize,
        weights: Option<&'h [T::Wide]>,
        forms: bool,
    ) -> Reading<'h, T::Wide> {
        Reading { first: self.at(first), count, column: self.at(column), weights, forms }
    }
}

impl<T: Scalar, P: Part<T>> LanczosOps for SharedKrylov<'_, '_, T, P> {
    type Number = T;

    fn order(&self) -> usize {
        self.partition.order()
    }

    fn terms_norm(&self) -> f64 {
        self.terms_norm
    }

    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()> {
        let to = self.at(to);
        self.parts.iter_mut().try_for_each(|part| part.columns().random(seed, vector, to))
    }

    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        let (x, y) = (self.at(from), self.at(to));
        self.parts.iter_mut().try_for_each(|part| part.pack(x))?;
        P::exchange(&mut self.parts, self.partition.transfers())?;
        self.parts.iter_mut().try_for_each(|part| part.finish(step, x, y))?;
        let Some(RankOne(inverse)) = self.rank_one else { return Ok(()) };
        let along = self.read_through(Reading { first: 0, count: 1, column: x, weights: None, forms: true })?;
        let taken: Vec<_> =
            along.products.iter().map(|d| *d * T::Wide::from_parts(step.scale * inverse, 0.0)).collect();
        self.read_through(Reading { first: 0, count: 1, column: y, weights: Some(&taken), forms: false }).map(drop)
    }

    fn invert(&mut self, from: usize, to: usize) -> Result<()> {
        let Some(mut inverse) = self.inverse.take() else {
            return Err(Error::NotSupported("solve: there is none".into()));
        };
        let n = self.order();
        let mut x = alloc::filled(WHAT, n, T::default())?;
        let mut y = alloc::filled(WHAT, n, T::default())?;
        let done = self.read(from, &mut x).and_then(|()| inverse.apply(&x, &mut y)).and_then(|()| self.write(&y, to));
        self.inverse = Some(inverse);
        done
    }

    fn orthogonalize(&mut self, count: usize, column: usize) -> Result<Projection> {
        if count == 0 {
            let norm = self.read_through(self.reading((0, 0), column, None, false))?.after.sqrt();
            return Ok(Projection { along: 0.0, before: norm, after: norm });
        }
        let space = (0, count);
        let first = self.read_through(self.reading(space, column, None, true))?;
        let second = self.read_through(self.reading(space, column, Some(&first.products), true))?;
        let last = self.read_through(self.reading(space, column, Some(&second.products), false))?;
        let along = first.products[count - 1].re() + second.products[count - 1].re();
        Ok(Projection { along, before: first.before.sqrt(), after: last.after.sqrt() })
    }

    fn project(
        &mut self,
        first: usize,
        count: usize,
        column: usize,
        width: usize,
        h: &mut [T::Wide],
    ) -> Result<Vec<f64>> {
        let mut norms = alloc::with_capacity(WHAT, width)?;
        for c in 0..width {
            if count == 0 {
                norms.push(self.read_through(self.reading((first, 0), column + c, None, false))?.after.sqrt());
                continue;
            }
            let along = self.read_through(self.reading((first, count), column + c, None, true))?.products;
            let rest = self.read_through(self.reading((first, count), column + c, Some(&along), false))?;
            h[c * count..(c + 1) * count].copy_from_slice(&along);
            norms.push(rest.after.sqrt());
        }
        Ok(norms)
    }

    fn three_term(&mut self, u: Option<(usize, f64)>, v: usize, w: usize) -> Result<(f64, f64)> {
        product_less(self, u, v, w)?;
        let along = self.read_through(self.reading((v, 1), w, None, true))?.products;
        let alpha = along.first().map_or(0.0, |a| a.re());
        let taken = [T::Wide::from_parts(alpha, 0.0)];
        let rest = self.read_through(self.reading((v, 1), w, Some(&taken), false))?;
        Ok((alpha, rest.after.sqrt()))
    }

    fn scale(&mut self, column: usize, factor: f64) -> Result<()> {
        let column = self.at(column);
        self.parts.iter_mut().try_for_each(|part| part.columns().scale(column, factor))
    }

    fn copy(&mut self, from: usize, to: usize) -> Result<()> {
        let (from, to) = (self.at(from), self.at(to));
        self.parts.iter_mut().try_for_each(|part| part.columns().copy(from, to))
    }

    fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()> {
        let (from, to) = (self.at(from), self.at(to));
        self.parts.iter_mut().try_for_each(|part| part.columns().spread(from, weights, to, add))
    }

    fn rotate(&mut self, first: usize, m: usize, y: &[T::Wide], l: usize) -> Result<()> {
        let first = self.at(first);
        self.parts.iter_mut().try_for_each(|part| part.columns().rotate(first, m, y, l))
    }

    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<T::Wide>> {
        let first = self.at(first);
        let mut gram = alloc::filled(WHAT, count * count, T::Wide::default())?;
        for part in &mut self.parts {
            let more = part.columns().gram(first, count)?;
            gram.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        Ok(gram)
    }

    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64> {
        let (w, x) = (self.at(w), self.at(x));
        let mut square = 0.0;
        for part in &mut self.parts {
            square += part.columns().distance(w, lambda, x)?.powi(2);
        }
        Ok(square.sqrt())
    }

    fn read(&mut self, column: usize, to: &mut [T]) -> Result<()> {
        let column = self.at(column);
        for (part, block) in self.parts.iter_mut().zip(self.partition.blocks()) {
            let mut own = alloc::filled(WHAT, block.len(), T::default())?;
            part.columns().read(column, &mut own)?;
            block.put(&own, to);
        }
        Ok(())
    }

    fn write(&mut self, from: &[T], column: usize) -> Result<()> {
        let column = self.at(column);
        for (part, block) in self.parts.iter_mut().zip(self.partition.blocks()) {
            let mut own = alloc::filled(WHAT, block.len(), T::default())?;
            block.take(from, &mut own);
            part.columns().write(&own, column)?;
        }
        Ok(())
    }
}

impl<T: Scalar, P: Part<T>> Cycles for SharedKrylov<'_, '_, T, P> {
    fn deliver(&mut self, first: usize, count: usize, to: &mut DenseMut<'_>) -> Result<()> {
        if to.order != Order::ColumnMajor {
            return Err(Error::NotSupported("vectors: are row-major on a device, column-major ones are needed".into()));
        }
        let gpu = self.context.gpu("vectors")?.clone();
        let mut vector = alloc::filled(WHAT, self.order(), T::default())?;
        let Memory::Device(there) = &mut *to.memory else {
            return Err(Error::Internal("vectors on the host to be delivered".into()));
        };
        for j in 0..count {
            self.read(first + j, &mut vector)?;
            orient(&mut vector);
            let offset = j * to.layout.strides()[1] * size_of::<T>();
            gpu.store_numbers(gpu.default_stream(), &vector, there, offset)?;
        }
        gpu.default_stream().synchronize()
    }
}
