//! Trains as plain vectors, and contractions from the definition.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain, copy};
use crate::testing::checksums::Checksum;
use crate::trains::Scaled;
use crate::trains::info::Kernel;

/// Complex numbers in double precision.
pub type C = Complex<f64>;

/// A context on the CPU.
pub fn cpu(threads: usize) -> Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads, ..ContextOptions::default() }).unwrap()
}

/// Pseudorandom numbers in [-1, 1).
pub struct Disorder(u64);

impl Disorder {
    /// Numbers that `seed` determines.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// The next of the numbers.
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64) / (1u64 << 52) as f64 - 1.0
    }

    /// A number from `least` to `most`.
    pub fn pick(&mut self, least: usize, most: usize) -> usize {
        least + (((self.number() + 1.0) / 2.0) * (most - least + 1) as f64) as usize
    }
}

/// A train of plain complex numbers.
#[derive(Clone)]
pub struct Plain {
    /// Mode sizes n_k.
    pub modes: Vec<usize>,
    /// Ranks r_0 to r_d.
    pub ranks: Vec<usize>,
    /// Cores, r_k by n_k by r_(k+1), column-major.
    pub cores: Vec<Vec<C>>,
}

impl Plain {
    /// A train of random multiples of 1/64 between -1 and 1.
    pub fn random(modes: &[usize], ranks: &[usize], complex: bool, seed: u64) -> Self {
        let mut d = Disorder::new(seed);
        let cores = (0..modes.len())
            .map(|k| {
                let len = ranks[k] * modes[k] * ranks[k + 1];
                // Exact in every type.
                let mut number = || (d.number() * 64.0).round() / 64.0;
                (0..len).map(|_| C::new(number(), if complex { number() } else { 0.0 })).collect()
            })
            .collect();
        Self { modes: modes.to_vec(), ranks: ranks.to_vec(), cores }
    }

    /// A random train with equal ranks, open or cyclic.
    pub fn uniform_ranks(d: usize, n: usize, rank: usize, cyclic: bool, complex: bool, seed: u64) -> Self {
        let mut ranks = vec![rank; d + 1];
        if !cyclic {
            (ranks[0], ranks[d]) = (1, 1);
        }
        Self::random(&vec![n; d], &ranks, complex, seed)
    }

    /// The train in host memory.
    ///
    /// # Panics
    /// For shapes and memory that are refused.
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
        // Matrix with rows (p, i_0, ...) and the bond as column.
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

    /// The Euclidean norm of the dense tensor.
    pub fn norm(&self) -> f64 {
        self.full().iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt()
    }
}

/// sum conj(x) y, or sum x y.
pub fn inner(x: &Plain, y: &Plain, conj: bool) -> C {
    x.full().iter().zip(y.full()).map(|(x, y)| if conj { x.conj() * y } else { x * y }).sum()
}

/// Both kernels, and the automatic choice.
pub const KERNELS: [Option<Kernel>; 3] = [Some(Kernel::Products), Some(Kernel::Chain), None];

/// The four types, and the allowed error of their results relative to |x| |y|.
pub const TYPES: [(DType, f64); 4] =
    [(DType::F64, 1e-13), (DType::CF64, 1e-13), (DType::F32, 2e-6), (DType::CF32, 2e-6)];

impl Plain {
    /// A train of cores that come with their shapes.
    pub fn of_cores(cores: Vec<(Vec<usize>, Vec<C>)>) -> Self {
        let mut ranks = vec![cores[0].0[0]];
        ranks.extend(cores.iter().map(|(shape, _)| shape[2]));
        let modes = cores.iter().map(|(shape, _)| shape[1]).collect();
        Self { modes, ranks, cores: cores.into_iter().map(|(_, core)| core).collect() }
    }

    /// The same train with every entry of every core times a factor.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.cores.iter_mut().flatten().for_each(|v| *v *= factor);
        self
    }

    /// A train of d copies of one core.
    pub fn repeated(d: usize, shape: [usize; 3], core: &[C]) -> Self {
        let [r, n, r2] = shape;
        assert_eq!(r, r2);
        Self { modes: vec![n; d], ranks: vec![r; d + 1], cores: vec![core.to_vec(); d] }
    }
}

/// A train of cores with one mode index value each.
pub fn bare(ranks: &[usize], cores: Vec<Vec<f64>>) -> Plain {
    let cores: Vec<Vec<C>> = cores.into_iter().map(|core| core.into_iter().map(|v| C::new(v, 0.0)).collect()).collect();
    Plain { modes: vec![1; cores.len()], ranks: ranks.to_vec(), cores }
}

/// Moves `train` to the memory of `location`.
pub fn placed(context: &Arc<Context>, train: TensorTrain, location: Location) -> TensorTrain {
    if location == Location::Host {
        return train;
    }
    let mut there = TensorTrain::create(context, train.dtype(), location, train.shape().clone()).unwrap();
    copy(context, None, &train, &mut there).unwrap();
    there
}

/// Adds the mantissas and exponents of `values`.
pub fn add_scaled(sum: Checksum, values: &[Scaled]) -> Checksum {
    values.iter().fold(sum, |sum, v| sum.numbers(&[v.mantissa]).integers([v.exponent.cast_unsigned()]))
}
