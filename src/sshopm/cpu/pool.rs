//! Lanes that iterate the starts of several tensors at once. A lane whose start has ended takes the next one, possibly
//! of the next tensor, so that no lane waits for the slowest start of a tensor.

use super::flight::{Job, state};
use super::nested;
use crate::alloc;
use crate::backend::cpu::simd::{Kernel, Lanes, Mask, Simd};
use crate::error::Result;
use crate::scalar::Real;

/// Lanes of a pool, a whole number of vectors: enough vectors for the processor to overlap their steps, few enough for their
/// numbers to stay in the L1 cache.
pub const LANES: usize = 64;
/// Limit of vectors in a pool.
const VECTORS: usize = LANES / 4;

/// Rows of numbers of a vector of lanes. In each row the numbers of the lanes are adjacent.
pub mod row {
    /// The three components of x.
    pub const X: usize = 0;
    /// x . A x^(m-1) at the last point evaluated.
    pub const LAMBDA: usize = 3;
    /// Squared residual at that point.
    pub const RESIDUAL2: usize = 4;
    /// Steps taken so far, a whole number.
    pub const ITERATIONS: usize = 5;
    /// Shift of the last step, as in `Flight`.
    pub const SHIFT: usize = 6;
    /// Steps so far that lowered lambda by more than rounding.
    pub const VIOLATIONS: usize = 7;
    /// Squared length of the last step, for the test of steps only.
    pub const STEP2: usize = 8;
    /// State of the start, one of [`super::state`].
    pub const STATE: usize = 9;
    /// Numbers of the tensor's job.
    pub const TENSOR: usize = 10;
    /// The tensor's entries, one a row from here on.
    pub const ENTRIES: usize = TENSOR + super::JOB;
}

/// Numbers of a [`Job`], in the order of [`write_job`].
pub const JOB: usize = 5;

/// Writes a job as numbers; a lane stores them with the entries of its tensor.
pub fn write_job<T: Real>(job: &Job<T>, out: &mut [T]) {
    out.copy_from_slice(&[job.isotropic, job.floor2, job.shift, job.tau, job.limit]);
}

/// Reads the job of each lane of a vector.
#[inline(always)]
pub fn job_of<T: Real, S: Simd<T>>(simd: S, head: &[T]) -> Job<S::V> {
    let number = |k: usize| (row::TENSOR + k) * S::V::LEN;
    Job {
        isotropic: simd.load(&head[number(0)..]),
        floor2: simd.load(&head[number(1)..]),
        shift: simd.load(&head[number(2)..]),
        tau: simd.load(&head[number(3)..]),
        limit: simd.load(&head[number(4)..]),
    }
}

/// [`LANES`] lanes, each with a start of some tensor and the tensor's entries.
pub struct Pool<T> {
    /// Lanes of a vector, at least 4.
    pub width: usize,
    /// Numbers of a lane: the rows of [`row`], then the entries.
    rows: usize,
    /// Number r of lane l of vector v at `[(v * rows + r) * width + l]`.
    data: Vec<T>,
    /// By vector, a bit for each lane whose start has ended or that has no start.
    pub stopped: [u64; VECTORS],
    /// By vector, a bit for each lane that has a start.
    pub busy: [u64; VECTORS],
    /// By lane, the owner of its start: a number that the caller chooses.
    pub owner: [u32; LANES],
    /// By lane, the index of its start.
    pub start: [u32; LANES],
    /// By vector, whether its lanes have consecutive starts of one tensor.
    run: [bool; VECTORS],
    /// By vector, the serial of the tensor whose numbers are in all of its lanes; 0 if they are not one tensor's.
    holds: [u64; VECTORS],
}

impl<T: Real> Pool<T> {
    /// Idle lanes for vectors of `width` lanes and tensors of order m.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn new(order: usize, width: usize) -> Result<Self> {
        let rows = row::ENTRIES + nested::entries(order);
        let mut pool = Self {
            width,
            rows,
            data: alloc::filled("starts in flight", rows * LANES, T::ZERO)?,
            stopped: [0; VECTORS],
            busy: [0; VECTORS],
            owner: [0; LANES],
            start: [0; LANES],
            run: [false; VECTORS],
            holds: [0; VECTORS],
        };
        pool.reset();
        Ok(pool)
    }

    /// Removes the starts from all lanes.
    pub fn reset(&mut self) {
        self.busy.fill(0);
        self.holds.fill(0);
        for v in 0..self.vectors() {
            let at = (v * self.rows + row::STATE) * self.width;
            self.data[at..at + self.width].fill(T::from_f64(state::EXHAUSTED));
        }
    }

    /// Vectors of [`Pool::width`] lanes in the pool.
    pub fn vectors(&self) -> usize {
        LANES / self.width
    }

    /// All lanes of a vector, as bits.
    pub fn full(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// The lanes of vector v whose start has ended, as bits.
    #[inline(always)]
    pub fn ended(&self, v: usize) -> u64 {
        self.stopped[v] & self.busy[v]
    }

    /// Iteration numbers, owners and starts of the lanes of vector v.
    #[inline(always)]
    pub fn ends<V: Lanes>(&self, v: usize) -> Option<(&[T], &[u32], &[u32])> {
        let block = self.data.get(v * self.rows * V::LEN..)?.get(..row::TENSOR * V::LEN)?;
        let lanes = v * V::LEN..(v + 1) * V::LEN;
        Some((block, self.owner.get(lanes.clone())?, self.start.get(lanes)?))
    }

    /// Numbers of the lanes of vector v from lane l on: number r of the first at `[r * width]`.
    pub fn lane(&self, v: usize, l: usize) -> &[T] {
        let at = v * self.rows * self.width;
        &self.data[at + l..at + self.rows * self.width]
    }

    /// Whether all lanes of vector v have ended, and had consecutive starts of one tensor.
    #[inline(always)]
    pub fn ends_whole(&self, v: usize) -> bool {
        self.run[v] && self.ended(v) == self.full()
    }

    /// The numbers of all vectors, the numbers of one vector, and for each vector the bits of its stopped lanes.
    #[inline(always)]
    pub fn blocks<V: Lanes>(&mut self) -> (&mut [T], usize, &mut [u64]) {
        (&mut self.data, self.rows * V::LEN, &mut self.stopped)
    }
}

/// Assigns consecutive starts of one tensor to idle lanes of a vector.
pub struct Launch<'a, T> {
    /// The pool whose lanes get starts.
    pub pool: &'a mut Pool<T>,
    /// Index of the vector in the pool.
    pub vector: usize,
    /// The lanes that get a start, as bits; all are idle.
    pub lanes: u64,
    /// Start vectors, component i of start s at `[i * stride + s]`.
    pub starts: &'a [T],
    /// Elements from one component to the next.
    pub stride: usize,
    /// Index of the first start.
    pub first: usize,
    /// The tensor's job, then its entries.
    pub numbers: &'a [T],
    /// Owner of the starts, returned when they end.
    pub owner: u32,
    /// A number above 0 that identifies the tensor's numbers.
    pub serial: u64,
}

impl<T: Real> Kernel<T> for Launch<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { pool, vector, lanes, starts, stride, first, numbers, owner, serial } = self;
        let width = S::V::LEN;
        let (full, base) = (pool.full(), vector * width);
        let block = &mut pool.data[vector * pool.rows * width..(vector + 1) * pool.rows * width];
        pool.run[vector] = lanes == full;
        if lanes == full {
            for i in 0..3 {
                let from = i * stride + first;
                block[(row::X + i) * width..(row::X + i + 1) * width].copy_from_slice(&starts[from..from + width]);
            }
            pool.owner[base..base + width].fill(owner);
            for (start, s) in pool.start[base..base + width].iter_mut().zip(first as u32..) {
                *start = s;
            }
        } else {
            let (mut bits, mut s) = (lanes, first);
            while bits != 0 {
                // The remainder lets the compiler see that the index is in range.
                let l = bits.trailing_zeros() as usize % width;
                bits &= bits - 1;
                pool.owner[base + l] = owner;
                pool.start[base + l] = s as u32;
                for i in 0..3 {
                    block[(row::X + i) * width + l] = starts[i * stride + s];
                }
                s += 1;
            }
        }
        pool.busy[vector] |= lanes;
        let mask = simd.mask(lanes);
        let infinity = T::from_f64(f64::INFINITY);
        put(simd, mask, block, row::LAMBDA, T::ZERO - infinity);
        put(simd, mask, block, row::RESIDUAL2, T::ZERO);
        put(simd, mask, block, row::ITERATIONS, T::ZERO);
        put(simd, mask, block, row::SHIFT, T::ZERO);
        put(simd, mask, block, row::VIOLATIONS, T::ZERO);
        put(simd, mask, block, row::STEP2, infinity);
        put(simd, mask, block, row::STATE, T::from_f64(state::RUNNING));
        if pool.holds[vector] != serial {
            pool.holds[vector] = if lanes == full { serial } else { 0 };
            for (rows, x) in block[row::TENSOR * width..].chunks_exact_mut(width).zip(numbers) {
                S::V::select(mask, simd.splat(*x), simd.load(rows)).store(rows);
            }
        }
    }
}

/// Writes a number to row `r` of the lanes of the mask.
#[inline(always)]
fn put<T: Real, S: Simd<T>>(simd: S, mask: <S::V as Lanes>::M, block: &mut [T], r: usize, x: T) {
    let rows = &mut block[r * S::V::LEN..(r + 1) * S::V::LEN];
    S::V::select(mask, simd.splat(x), simd.load(rows)).store(rows);
}

/// Bits of the lanes whose start has ended or that have no start.
#[inline(always)]
pub fn stopped<T: Real, S: Simd<T>>(simd: S, block: &[T]) -> u64 {
    simd.splat(T::from_f64(state::RUNNING)).lt(simd.load(&block[row::STATE * S::V::LEN..])).bits()
}

/// Finds the number of lanes of a vector of T.
pub struct Width;

impl<T: Real> Kernel<T> for Width {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd<T>>(self, _: S) -> usize {
        S::V::LEN
    }
}
