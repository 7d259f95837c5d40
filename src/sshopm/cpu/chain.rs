//! Tensors of any order and dimension: A x^(m-2) by repeated contraction with x, in lanes.
//!
//! The contraction of a symmetric tensor with a vector is symmetric, and on packed entries it is
//! (A x)(k) = sum over i of a(k + e_i) x_i for every index tuple k of one index fewer: no multinomials, no divisions
//! and no powers. Orders m, m - 1, .., 2 take U(j) n multiply-adds each; the first dominates.

use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use crate::alloc;
use crate::backend::cpu::simd::{Lanes, Simd};
use crate::error::{Error, Result};
use crate::scalar::Real;
use crate::tensor::Symmetric;
use crate::tensor::symmetric::{Monomials, Ranks};

/// One contraction; its result has tuples of `order` indices.
#[derive(Debug)]
struct Level {
    /// Tuples of the result: its packed entries.
    count: usize,
    /// Rank of tuple k with index i inserted, at `[k * n + i]`.
    source: Vec<u32>,
}

/// Index tables of a shape.
#[derive(Debug)]
pub struct Chain {
    shape: Symmetric,
    /// From order m - 1 down to 2.
    levels: Vec<Level>,
}

/// Cached tables, most recently used first.
static CACHE: Mutex<Vec<Arc<Chain>>> = Mutex::new(Vec::new());
/// Limits of the number of tables and of the entries of each.
const CACHED: usize = 8;
const CACHED_ENTRIES: usize = 1 << 20;

impl Chain {
    /// The tables of a shape, from the cache if it has them.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn of(shape: Symmetric) -> Result<Arc<Self>> {
        if let Some(mut cache) = Self::cache()
            && let Some(p) = cache.iter().position(|c| c.shape == shape)
        {
            let found = cache.remove(p);
            cache.insert(0, Arc::clone(&found));
            return Ok(found);
        }
        let chain = Arc::new(Self::build(shape)?);
        if chain.levels.iter().map(|l| l.source.len()).sum::<usize>() <= CACHED_ENTRIES
            && let Some(mut cache) = Self::cache()
        {
            cache.truncate(CACHED - 1);
            cache.insert(0, Arc::clone(&chain));
        }
        Ok(chain)
    }

    /// The cache, unless another thread holds it. Waiting costs more than new tables, and in a child of `fork()` that thread
    /// does not exist.
    fn cache() -> Option<MutexGuard<'static, Vec<Arc<Self>>>> {
        match CACHE.try_lock() {
            Ok(cache) => Some(cache),
            Err(TryLockError::Poisoned(cache)) => Some(cache.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn build(shape: Symmetric) -> Result<Self> {
        let Symmetric { order, dimension: n } = shape;
        let mut levels = alloc::with_capacity("index tables", order.saturating_sub(2))?;
        for j in (2..order).rev() {
            let lower = Symmetric { order: j, dimension: n };
            let ranks = Ranks::new(Symmetric { order: j + 1, dimension: n })?;
            let count = lower.count();
            let mut source = alloc::with_capacity("index tables", crate::shape::product("order", count, n)?)?;
            let mut walk = Monomials::new(lower)?;
            let mut longer = alloc::filled("index tuple", j + 1, 0usize)?;
            while let Some((_, tuple)) = walk.next_tuple() {
                for i in 0..n {
                    let p = tuple.partition_point(|t| *t <= i);
                    longer[..p].copy_from_slice(&tuple[..p]);
                    longer[p] = i;
                    longer[p + 1..].copy_from_slice(&tuple[p..]);
                    let rank = u32::try_from(ranks.rank(&longer))
                        .map_err(|_| Error::Internal("a rank beyond the packed limit".into()))?;
                    source.push(rank);
                }
            }
            levels.push(Level { count, source });
        }
        Ok(Self { shape, levels })
    }

    /// Order m and dimension n of the uncontracted tensors.
    pub fn shape(&self) -> Symmetric {
        self.shape
    }
}

/// Contracted tensors of LEN vectors: packed entry r of lane l at `[r * LEN + l]`, one array for each order.
pub struct Contracted<T> {
    levels: Vec<Vec<T>>,
    /// A x^(m-2), its n (n + 1) / 2 entries packed.
    pub matrix: Vec<T>,
    /// A x^(m-1), n components.
    pub gradient: Vec<T>,
}

impl<T: Real> Contracted<T> {
    /// Allocates arrays for vectors of up to `lanes` lanes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(chain: &Chain, lanes: usize) -> Result<Self> {
        let n = chain.shape.dimension;
        let mut levels = alloc::with_capacity("contracted tensors", chain.levels.len())?;
        // The last level is `matrix`, which order 2 needs as well.
        for level in chain.levels.iter().rev().skip(1).rev() {
            levels.push(alloc::filled("contracted tensors", level.count * lanes, T::ZERO)?);
        }
        Ok(Self {
            levels,
            matrix: alloc::filled("contracted tensors", n * (n + 1) / 2 * lanes, T::ZERO)?,
            gradient: alloc::filled("contracted tensors", n * lanes, T::ZERO)?,
        })
    }

    /// Computes matrix and gradient of the tensor with packed entries `a` at the vectors `x` (component i of lane l at
    /// `[i * LEN + l]`).
    #[inline(always)]
    pub fn evaluate<S: Simd<T>>(&mut self, simd: S, chain: &Chain, a: &[T], x: &[T]) {
        let n = chain.shape.dimension;
        let lanes = S::V::LEN;
        let Self { levels, matrix, gradient } = self;
        if chain.levels.is_empty() {
            for (r, a) in a.iter().enumerate() {
                simd.splat(*a).store(&mut matrix[r * lanes..]);
            }
        }
        for (depth, level) in chain.levels.iter().enumerate() {
            let (done, rest) = levels.split_at_mut(depth);
            let to: &mut [T] = rest.first_mut().map_or(&mut matrix[..], |l| &mut l[..]);
            for (k, source) in level.source.chunks_exact(n).enumerate() {
                let mut sum = simd.splat(T::ZERO);
                match done.last() {
                    None => {
                        for (i, r) in source.iter().enumerate() {
                            sum = simd.splat(a[*r as usize]).mul_add(simd.load(&x[i * lanes..]), sum);
                        }
                    }
                    Some(from) => {
                        for (i, r) in source.iter().enumerate() {
                            sum = simd.load(&from[*r as usize * lanes..]).mul_add(simd.load(&x[i * lanes..]), sum);
                        }
                    }
                }
                sum.store(&mut to[k * lanes..]);
            }
        }
        for i in 0..n {
            let mut sum = simd.splat(T::ZERO);
            for j in 0..n {
                let b = simd.load(&matrix[packed(n, i, j) * lanes..]);
                sum = b.mul_add(simd.load(&x[j * lanes..]), sum);
            }
            sum.store(&mut gradient[i * lanes..]);
        }
    }
}

/// Index of (i, j) in the packed entries of a symmetric matrix.
#[inline(always)]
pub fn packed(n: usize, i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    i * (2 * n - i - 1) / 2 + j
}
