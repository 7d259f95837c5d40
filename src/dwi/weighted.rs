//! Weighted least squares with a separate system for each voxel.
//!
//! `min sum w_j (y_j - a_j x)^2` is formulated in the orthonormal coordinates of the unweighted problem. So its condition
//! number is that of the weights, without the square of the gradient scheme's. One matrix product computes the matrices of
//! a block of voxels: row (i, k) of its left factor, which all voxels share, contains `q_i q_k` of every measurement.

use super::design::Factors;
use super::voxels::{LANES, Number};
use crate::alloc;
use crate::error::Result;

/// Smallest pivot, relative to the largest diagonal element, of a solvable system.
const PIVOT_TOLERANCE: f64 = 1e-12;

/// Matrices that all voxels share.
pub(crate) struct Design {
    unknowns: usize,
    measurements: usize,
    /// U (U + 1) / 2 x N: products of two coordinates, row by row of a lower triangle.
    products: Vec<f64>,
    /// U x N: coordinates of the measurements.
    coordinates: Vec<f64>,
    /// U x U: maps the solution's coordinates to the solution.
    back: Vec<f64>,
}

impl Design {
    pub fn new(factors: Factors, unknowns: usize) -> Result<Self> {
        let u = unknowns;
        let n = factors.left.len() / u;
        let rows = || factors.left.chunks_exact(u);
        let mut products = alloc::with_capacity("weighted fit", u * (u + 1) / 2 * n)?;
        let mut coordinates = alloc::with_capacity("weighted fit", u * n)?;
        for i in 0..u {
            coordinates.extend(rows().map(|q| q[i]));
            for k in 0..=i {
                products.extend(rows().map(|q| q[i] * q[k]));
            }
        }
        Ok(Self { unknowns, measurements: n, products, coordinates, back: factors.back })
    }
}

/// A thread's scratch memory for blocks of voxels.
pub(crate) struct Solver<'a> {
    design: &'a Design,
    /// Weights, N rows of lanes.
    pub weights: Vec<f64>,
    /// Weights times measurements, N rows of lanes.
    pub weighted: Vec<f64>,
    /// Lower triangles, U (U + 1) / 2 rows of lanes.
    gram: Vec<f64>,
    /// Right-hand sides, U rows of lanes.
    sides: Vec<f64>,
    triangle: Vec<f64>,
    side: Vec<f64>,
    solution: Vec<f64>,
}

impl<'a> Solver<'a> {
    pub fn new(design: &'a Design) -> Result<Self> {
        let zeros = |len: usize| alloc::filled("weighted fit", len, 0.0);
        let (u, n) = (design.unknowns, design.measurements);
        let triangle = u * (u + 1) / 2;
        Ok(Self {
            design,
            weights: zeros(n * LANES)?,
            weighted: zeros(n * LANES)?,
            gram: zeros(triangle * LANES)?,
            sides: zeros(u * LANES)?,
            triangle: zeros(triangle)?,
            side: zeros(u)?,
            solution: zeros(u)?,
        })
    }

    /// Computes the systems of all lanes from `weights` and `weighted`.
    pub fn assemble(&mut self) {
        f64::product(&self.design.products, &self.weights, &mut self.gram);
        f64::product(&self.design.coordinates, &self.weighted, &mut self.sides);
    }

    /// The solution of one lane, or `None` if its weights leave too few measurements.
    pub fn solve(&mut self, lane: usize) -> Option<&[f64]> {
        let column = |to: &mut [f64], from: &[f64]| {
            for (t, row) in to.iter_mut().zip(from.chunks_exact(LANES)) {
                *t = row[lane];
            }
        };
        column(&mut self.triangle, &self.gram);
        column(&mut self.side, &self.sides);
        cholesky(&mut self.triangle, &mut self.side)?;
        for (x, back) in self.solution.iter_mut().zip(self.design.back.chunks_exact(self.design.unknowns)) {
            *x = back.iter().zip(&self.side).map(|(b, z)| b * z).sum();
        }
        self.solution.iter().all(|x| x.is_finite()).then_some(&self.solution)
    }
}

/// Factors the lower triangle `a`, row by row, in place, and overwrites `b` with the solution of the system.
fn cholesky(a: &mut [f64], b: &mut [f64]) -> Option<()> {
    let start = |i: usize| i * (i + 1) / 2;
    let u = b.len();
    let largest = (0..u).map(|i| a[start(i) + i]).fold(0.0, f64::max);
    for i in 0..u {
        let (above, rest) = a.split_at_mut(start(i));
        let row = &mut rest[..=i];
        for j in 0..i {
            let other = &above[start(j)..=start(j) + j];
            let sum: f64 = row[..j].iter().zip(other).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - sum) / other[j];
        }
        let pivot = row[i] - row[..i].iter().map(|x| x * x).sum::<f64>();
        if pivot.is_nan() || pivot <= PIVOT_TOLERANCE * largest {
            return None;
        }
        row[i] = pivot.sqrt();
        let sum: f64 = row[..i].iter().zip(&*b).map(|(x, y)| x * y).sum();
        b[i] = (b[i] - sum) / row[i];
    }
    for i in (0..u).rev() {
        b[i] /= a[start(i) + i];
        let known = b[i];
        for (x, l) in b[..i].iter_mut().zip(&a[start(i)..]) {
            *x -= l * known;
        }
    }
    Some(())
}
