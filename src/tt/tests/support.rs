//! Trains in plain vectors, and contractions of them by definition.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};

pub type C = Complex<f64>;

/// A context on the CPU.
pub fn cpu(threads: usize) -> Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads, ..ContextOptions::default() }).unwrap()
}

/// Numbers that look random, in [-1, 1).
pub struct Disorder(u64);

impl Disorder {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64) / (1u64 << 52) as f64 - 1.0
    }

    /// A number from `least` to `most`.
    pub fn pick(&mut self, least: usize, most: usize) -> usize {
        least + (((self.next() + 1.0) / 2.0) * (most - least + 1) as f64) as usize
    }
}

/// A train in plain complex numbers.
#[derive(Clone)]
pub struct Plain {
    pub modes: Vec<usize>,
    pub ranks: Vec<usize>,
    pub cores: Vec<Vec<C>>,
}

impl Plain {
    pub fn random(modes: &[usize], ranks: &[usize], complex: bool, seed: u64) -> Self {
        let mut d = Disorder::new(seed);
        let cores = (0..modes.len())
            .map(|k| {
                let len = ranks[k] * modes[k] * ranks[k + 1];
                // 1/64ths: exact in every type.
                let mut number = || (d.next() * 64.0).round() / 64.0;
                (0..len).map(|_| C::new(number(), if complex { number() } else { 0.0 })).collect()
            })
            .collect();
        Self { modes: modes.to_vec(), ranks: ranks.to_vec(), cores }
    }

    /// Ranks all equal; open or cyclic.
    pub fn uniform_ranks(d: usize, n: usize, rank: usize, cyclic: bool, complex: bool, seed: u64) -> Self {
        let mut ranks = vec![rank; d + 1];
        if !cyclic {
            (ranks[0], ranks[d]) = (1, 1);
        }
        Self::random(&vec![n; d], &ranks, complex, seed)
    }

    pub fn train(&self, context: &Arc<Context>, dtype: DType) -> TensorTrain {
        let shape = Shape::new("x", &self.modes, &self.ranks).unwrap();
        let mut t = TensorTrain::create(context, dtype, Location::Host, shape).unwrap();
        with_scalar!(dtype, "dtype", T => {
            let mut cores = t.cores_mut::<T>("x").unwrap();
            for (k, core) in self.cores.iter().enumerate() {
                for (to, from) in cores.core(k).iter_mut().zip(core) {
                    *to = T::from_parts(from.re, from.im);
                }
            }
            Ok::<(), crate::error::Error>(())
        })
        .unwrap();
        t
    }

    /// The dense tensor, first index fastest.
    pub fn full(&self) -> Vec<C> {
        let r0 = self.ranks[0];
        let mut out = Vec::new();
        // rows (p, i_0 ..), columns the bond.
        let mut left: Vec<C> = (0..r0 * r0).map(|i| C::new(f64::from(u8::from(i % r0 == i / r0)), 0.0)).collect();
        let mut rows = r0;
        for (k, core) in self.cores.iter().enumerate() {
            let (r, n, r2) = (self.ranks[k], self.modes[k], self.ranks[k + 1]);
            let mut next = vec![C::new(0.0, 0.0); rows * n * r2];
            for b in 0..r2 {
                for i in 0..n {
                    for a in 0..r {
                        for q in 0..rows {
                            next[q + rows * (i + n * b)] += left[q + rows * a] * core[a + r * (i + n * b)];
                        }
                    }
                }
            }
            (left, rows) = (next, rows * n);
        }
        for i in 0..rows / r0 {
            out.push((0..r0).map(|p| left[p + r0 * i + rows * p]).sum());
        }
        out
    }

    pub fn norm(&self) -> f64 {
        self.full().iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt()
    }
}

/// sum conj(x) y, or sum x y.
pub fn inner(x: &Plain, y: &Plain, conj: bool) -> C {
    x.full().iter().zip(y.full()).map(|(x, y)| if conj { x.conj() * y } else { x * y }).sum()
}
