//! Matrices on the host in double precision, which compute the expected results in plain loops.

use super::super::{GpuAlgebra, GpuMatrix};
use crate::dense::sketch::{Distribution, Sketch};
use crate::dense::{Algebra, Op};
use crate::scalar::{Complex, Real, Scalar};

pub(super) type C64 = Complex<f64>;

pub(super) fn eps<T: Scalar>() -> f64 {
    <T::Part as Real>::EPSILON.to_f64()
}

/// A matrix on the host in double precision, whatever it came from.
#[derive(Clone)]
pub(super) struct Host {
    pub rows: usize,
    pub cols: usize,
    pub at: Vec<C64>,
}

impl Host {
    pub fn new(rows: usize, cols: usize, f: impl Fn(usize, usize) -> C64) -> Self {
        Self { rows, cols, at: (0..rows * cols).map(|k| f(k % rows, k / rows)).collect() }
    }

    pub fn random<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Self {
        let sketch = Sketch { distribution: Distribution::Gaussian, seed, stream: 0 };
        Self::new(rows, cols, |i, j| {
            let x: T = sketch.entry(i as u64, j as u32);
            C64::new(x.re(), x.im())
        })
    }

    /// Columns as near to orthonormal as twice Gram-Schmidt makes them.
    pub fn orthonormal<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Self {
        let mut q = Self::random::<T>(rows, cols, seed);
        for j in 0..cols {
            for _ in 0..2 {
                for k in 0..j {
                    let (a, b) = q.at.split_at_mut(j * rows);
                    let (a, b) = (&a[k * rows..(k + 1) * rows], &mut b[..rows]);
                    let dot: C64 = a.iter().zip(b.iter()).map(|(x, y)| x.conj() * y).sum();
                    b.iter_mut().zip(a).for_each(|(y, x)| *y -= x * dot);
                }
            }
            let column = &mut q.at[j * rows..(j + 1) * rows];
            let norm = column.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
            column.iter_mut().for_each(|x| *x /= norm);
        }
        q
    }

    /// Q diag(s) W^H with random Q and W, rounded to T.
    pub fn with_values<T: Scalar>(rows: usize, cols: usize, s: impl Fn(usize) -> f64) -> Self {
        let rank = rows.min(cols);
        let (mut u, v) = (Self::orthonormal::<T>(rows, rank, 1), Self::orthonormal::<T>(cols, rank, 2));
        for j in 0..rank {
            u.at[j * rows..(j + 1) * rows].iter_mut().for_each(|x| *x *= s(j));
        }
        u.times(&v.adjoint()).rounded::<T>()
    }

    pub fn rounded<T: Scalar>(mut self) -> Self {
        self.at.iter_mut().for_each(|x| *x = at::<T>(T::from_parts(x.re, x.im)));
        self
    }

    pub fn get(&self, i: usize, j: usize) -> C64 {
        self.at[j * self.rows + i]
    }

    pub fn adjoint(&self) -> Self {
        Self::new(self.cols, self.rows, |i, j| self.get(j, i).conj())
    }

    pub fn op(&self, op: Op) -> Self {
        if op == Op::Plain { self.clone() } else { self.adjoint() }
    }

    pub fn times(&self, other: &Self) -> Self {
        let mut c = Self::new(self.rows, other.cols, |_, _| C64::default());
        for j in 0..other.cols {
            let column = &mut c.at[j * self.rows..(j + 1) * self.rows];
            for k in 0..self.cols {
                let factor = other.get(k, j);
                let from = &self.at[k * self.rows..(k + 1) * self.rows];
                column.iter_mut().zip(from).for_each(|(c, a)| *c += a * factor);
            }
        }
        c
    }

    pub fn minus(&self, other: &Self) -> Self {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        Self { at: self.at.iter().zip(&other.at).map(|(a, b)| a - b).collect(), ..*self }
    }

    pub fn norm(&self) -> f64 {
        self.at.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    /// ||Q^H Q - I||_F.
    pub fn defect(&self) -> f64 {
        let one = Self::new(self.cols, self.cols, |i, j| C64::new(f64::from(u8::from(i == j)), 0.0));
        self.adjoint().times(self).minus(&one).norm()
    }

    pub fn to<T: Scalar>(&self, ops: &mut GpuAlgebra) -> GpuMatrix<T> {
        let data: Vec<T> = self.at.iter().map(|x| T::from_parts(x.re, x.im)).collect();
        ops.upload("test", self.rows, self.cols, &data, self.rows).unwrap()
    }

    pub fn from<T: Scalar>(ops: &mut GpuAlgebra, m: &GpuMatrix<T>) -> Self {
        let (rows, cols) = m.shape();
        let mut data = vec![T::default(); rows * cols];
        ops.download(m, &mut data, rows).unwrap();
        Self { rows, cols, at: data.into_iter().map(at::<T>).collect() }
    }
}

pub(super) fn at<T: Scalar>(x: T) -> C64 {
    C64::new(x.re(), x.im())
}
