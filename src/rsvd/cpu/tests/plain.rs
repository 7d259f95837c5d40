//! Matrices in double precision, which compute the expected results in plain loops.

use crate::dense::cpu::matrix::CpuMatrix;
use crate::rsvd::data::{Center, Setting};
use crate::scalar::{Complex, Scalar};

pub(super) type C64 = Complex<f64>;

/// A plain matrix in double precision.
#[derive(Clone)]
pub(super) struct Plain {
    pub rows: usize,
    pub cols: usize,
    pub data: Vec<C64>,
}

impl Plain {
    pub fn new(rows: usize, cols: usize, f: impl Fn(usize, usize) -> C64) -> Self {
        Self { rows, cols, data: (0..rows * cols).map(|e| f(e % rows.max(1), e / rows.max(1))).collect() }
    }

    pub fn at(&self, i: usize, j: usize) -> C64 {
        self.data[j * self.rows + i]
    }

    pub fn adjoint(&self) -> Self {
        Self::new(self.cols, self.rows, |i, j| self.at(j, i).conj())
    }

    pub fn times(&self, b: &Self) -> Self {
        assert_eq!(self.cols, b.rows);
        Self::new(self.rows, b.cols, |i, j| (0..self.cols).map(|k| self.at(i, k) * b.at(k, j)).sum())
    }

    pub fn block(&self, first: usize, count: usize) -> Self {
        Self::new(count, self.cols, |i, j| self.at(first + i, j))
    }

    /// The matrix that the setting makes of it: centred, scaled.
    pub fn treated(&self, s: &Setting) -> Self {
        let (m, n) = (self.rows as f64, self.cols as f64);
        let means: Vec<C64> = (0..self.cols).map(|j| (0..self.rows).map(|i| self.at(i, j)).sum::<C64>() / m).collect();
        let rows: Vec<C64> = (0..self.rows).map(|i| (0..self.cols).map(|j| self.at(i, j)).sum::<C64>() / n).collect();
        let deviation = |j: usize| {
            let spread: f64 = (0..self.rows).map(|i| (self.at(i, j) - means[j]).norm_sqr()).sum();
            let d = (spread / (m - 1.0).max(1.0)).sqrt();
            if d > 0.0 { d } else { 1.0 }
        };
        let gains: Vec<f64> = (0..self.cols).map(|j| if s.scale { 1.0 / deviation(j) } else { s.factor }).collect();
        Self::new(self.rows, self.cols, |i, j| {
            let mean = match s.center {
                Center::None => C64::default(),
                Center::Columns => means[j],
                Center::Rows => rows[i],
            };
            (self.at(i, j) - mean) * gains[j]
        })
    }

    pub fn norm(&self) -> f64 {
        self.data.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    pub fn off(&self, other: &Self) -> f64 {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        self.data.iter().zip(&other.data).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>().sqrt()
    }
}

pub(super) fn plain<T: Scalar>(m: &CpuMatrix<T>) -> Plain {
    let data = m.slice().unwrap().iter().map(|x| C64::new(x.re(), x.im())).collect();
    Plain { rows: m.rows(), cols: m.cols(), data }
}

/// Small whole numbers, which every element type holds, a third of them 0 and every column with a mean of its own.
pub(super) fn whole(rows: usize, cols: usize, complex: bool) -> Plain {
    let value = |seed: u64, i: usize, j: usize| {
        let word = crate::rng::words(seed, 9, i as u64, j as u32)[0];
        if word.is_multiple_of(3) { 0.0 } else { f64::from(word / 3 % 19) + 3.0 * (j % 5) as f64 }
    };
    Plain::new(rows, cols, |i, j| C64::new(value(1, i, j), if complex { value(2, i, j) } else { 0.0 }))
}
