//! Products and classification of batches on the CPU, one tensor with its vectors at a time.

use std::sync::{Mutex, PoisonError};

use super::chain::{Chain, packed};
use super::engine::{Engine, Vectors, WIDEST, with_engine};
use super::general::WorkArrays;
use super::load::{self, power_of_two_times};
use crate::alloc;
use crate::backend::cpu::Isa;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::cpu::simd::Vectorized;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::sshopm::options::PairClass;
use crate::tensor::Symmetric;

/// The computation at each vector.
#[derive(Debug, Clone, Copy)]
pub enum Task {
    /// A x^(m - free); matrices are full, not packed.
    Product {
        /// Free indices: 0, 1 or 2.
        free: usize,
    },
    /// Residual, class and eigenvalues of the projected Hessian of a given pair: n + 1 numbers, the class is the second.
    Classify {
        /// Eigenvalues below this times the Frobenius norm count as 0.
        degeneracy: f64,
    },
}

impl Task {
    /// Result numbers of one vector.
    pub fn size(self, n: usize) -> usize {
        match self {
            Self::Product { free: 0 } => 1,
            Self::Product { free: 1 } => n,
            Self::Product { .. } => n * n,
            Self::Classify { .. } => n + 1,
        }
    }
}

/// Vectors of one tensor in the layout of the kernels.
struct Work<T> {
    stride: usize,
    a: Vec<T>,
    x: Vec<T>,
    lambda: Vec<T>,
    out: Vec<T>,
}

/// Packed inputs of a tile: entries [U x B], vectors [n x V] or [n x V x B], values [V x B] for classification.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a, T> {
    /// U numbers a tensor.
    pub entries: &'a [T],
    /// V vectors, for all tensors if `shared`, else for each.
    pub vectors: &'a [T],
    /// Whether all tensors use the same vectors.
    pub shared: bool,
    /// Lambda of each vector; empty for products.
    pub values: &'a [T],
    /// Vectors V of a tensor.
    pub count: usize,
}

/// Kernels and memory for one shape.
pub struct Batch<'a, T> {
    context: &'a Context,
    shape: Symmetric,
    chain: std::sync::Arc<Chain>,
    multinomials: Vec<T>,
    work: Mutex<Vec<(Work<T>, WorkArrays<T>)>>,
}

impl<'a, T: Vectorized> Batch<'a, T> {
    /// Allocates the memory of every thread; `count` is V.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; as [`Plan::tables`](crate::sshopm::plan::Plan::tables).
    pub fn new(context: &'a Context, shape: Symmetric, count: usize) -> Result<Self> {
        let chain = Chain::of(shape)?;
        let n = shape.dimension;
        let stride = count.next_multiple_of(WIDEST);
        let threads = context.pool().threads();
        let mut work = alloc::with_capacity("thread memory", threads)?;
        for _ in 0..threads {
            let array = |k: usize| alloc::filled("thread memory", k * stride, T::ZERO);
            let memory = Work {
                stride,
                a: alloc::filled("packed entries", shape.count(), T::ZERO)?,
                x: array(n)?,
                lambda: array(1)?,
                out: array(n * (n + 1) / 2)?,
            };
            work.push((memory, WorkArrays::new(&chain, WIDEST)?));
        }
        let (multinomials, _) = crate::sshopm::plan::Plan::<T>::tables(shape)?;
        Ok(Self { context, shape, chain, multinomials, work: Mutex::new(work) })
    }

    /// Computes the task for a tile. `out` receives V times `task.size(n)` numbers for each tensor.
    ///
    /// # Errors
    /// [`Error::Internal`] for more tasks at a time than threads.
    pub fn run(&self, task: Task, inputs: Inputs<'_, T>, out: &mut [T]) -> Result<()> {
        let size = inputs.count * task.size(self.shape.dimension);
        if size == 0 {
            return Ok(());
        }
        let isa: Isa = self.context.isa();
        self.context.pool().run(|| {
            out.par_chunks_mut(size).enumerate().try_for_each(|(t, out)| {
                let taken = self.work.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let Some((mut work, mut general)) = taken else {
                    return Err(Error::Internal("more tasks than threads".into()));
                };
                with_engine(isa, &self.chain, &mut general, |engine| self.one(engine, task, inputs, t, &mut work, out));
                self.work.lock().unwrap_or_else(PoisonError::into_inner).push((work, general));
                Ok(())
            })
        })
    }

    /// Computes one tensor at its vectors.
    fn one(
        &self,
        engine: &mut dyn Engine<T>,
        task: Task,
        inputs: Inputs<'_, T>,
        t: usize,
        work: &mut Work<T>,
        out: &mut [T],
    ) {
        let n = self.shape.dimension;
        let packed_count = self.shape.count();
        let Inputs { entries, vectors, shared, values, count } = inputs;
        let a = &entries[t * packed_count..(t + 1) * packed_count];
        let own = if shared { 0 } else { t * n * count };
        let stride = work.stride;
        for (v, x) in vectors[own..own + n * count].chunks_exact(n).enumerate() {
            for (i, c) in x.iter().enumerate() {
                work.x[i * stride + v] = *c;
            }
        }
        match task {
            Task::Product { free } => {
                engine.contract(a, Vectors { data: &work.x, stride, count }, free, &mut work.out);
                for (v, out) in out.chunks_exact_mut(task.size(n)).enumerate() {
                    for (c, o) in out.iter_mut().enumerate() {
                        let component = if free == 2 { packed(n, c % n, c / n) } else { c };
                        *o = work.out[component * stride + v];
                    }
                }
            }
            Task::Classify { degeneracy } => {
                self.classify(engine, degeneracy, a, &values[t * count..(t + 1) * count], work, out);
            }
        }
    }

    /// Classifies the pairs of one tensor. It uses the scaled tensor, so that nothing overflows.
    fn classify(
        &self,
        engine: &mut dyn Engine<T>,
        degeneracy: f64,
        a: &[T],
        values: &[T],
        work: &mut Work<T>,
        out: &mut [T],
    ) {
        let n = self.shape.dimension;
        let (stride, count) = (work.stride, values.len());
        let largest = a.iter().fold(T::ZERO, |m, x| if x.abs() > m || !x.is_finite() { x.abs() } else { m });
        let exponent = if largest > T::ZERO && largest.is_finite() { load::exponent_of(largest.to_f64()) } else { 0 };
        let mut norm2 = T::ZERO;
        for ((s, a), w) in work.a.iter_mut().zip(a).zip(&self.multinomials) {
            *s = power_of_two_times(*a, -exponent);
            norm2 += *w * *s * *s;
        }
        let flat = T::from_f64(degeneracy) * norm2.sqrt();
        for (v, value) in values[..count].iter().enumerate() {
            work.lambda[v] = power_of_two_times(*value, -exponent);
            // Normalize x first: the projection onto the plane orthogonal to x requires a unit vector.
            let size = |i: usize| work.x[i * stride + v].abs();
            let most = (0..n).map(size).fold(T::ZERO, |m, x| if x > m { x } else { m });
            let own = if most > T::ZERO && most.is_finite() { load::exponent_of(most.to_f64()) } else { 0 };
            let mut square = T::ZERO;
            for x in (0..n).map(|i| i * stride + v) {
                work.x[x] = power_of_two_times(work.x[x], -own);
                square += work.x[x] * work.x[x];
            }
            let length = square.sqrt();
            for x in (0..n).map(|i| i * stride + v) {
                work.x[x] = work.x[x] / length;
            }
        }
        engine.contract(&work.a, Vectors { data: &work.x, stride, count }, 1, &mut work.out);
        for (v, out) in out.chunks_exact_mut(n + 1).enumerate() {
            let residual2: T = (0..n)
                .map(|i| {
                    let r = work.out[i * stride + v] - work.lambda[v] * work.x[i * stride + v];
                    r * r
                })
                .sum();
            out[0] = power_of_two_times(residual2.sqrt(), exponent);
        }
        engine.hessians(&work.a, Vectors { data: &work.x, stride, count }, &work.lambda, &mut work.out);
        for (v, out) in out.chunks_exact_mut(n + 1).enumerate() {
            let eigenvalue = |j: usize| work.out[j * stride + v];
            let all = |f: &dyn Fn(T) -> bool| (0..n - 1).all(|j| f(eigenvalue(j)));
            let class = match () {
                () if !out[0].is_finite() || !all(&|e| e.is_finite()) => PairClass::Unclassified,
                () if !all(&|e| e.abs() > flat) => PairClass::Degenerate,
                () if all(&|e| e < T::ZERO) => PairClass::NegativeStable,
                () if all(&|e| e > T::ZERO) => PairClass::PositiveStable,
                () => PairClass::Unstable,
            };
            out[1] = T::from_f64(f64::from(class as i32));
            for j in 0..n - 1 {
                out[2 + j] = power_of_two_times(eigenvalue(j), exponent);
            }
        }
    }
}
