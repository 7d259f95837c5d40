//! Weighted least squares in one voxel.

use super::design::Factors;
use crate::alloc;
use crate::error::Result;

/// Smallest pivot, as part of the largest diagonal element, of a system that counts as solvable.
const PIVOT_TOLERANCE: f64 = 1e-12;

/// Solves `min sum w_j (y_j - a_j x)^2` for changing weights. The system is set up in the orthonormal coordinates of
/// the unweighted problem, so its condition is that of the weights and not that of the gradient scheme squared.
pub(crate) struct Solver {
    unknowns: usize,
    /// U x U, row by row, lower triangle.
    gram: Vec<f64>,
    side: Vec<f64>,
    solution: Vec<f64>,
}

impl Solver {
    pub fn new(unknowns: usize) -> Result<Self> {
        let side = || alloc::filled("weighted fit", unknowns, 0.0);
        Ok(Self {
            unknowns,
            gram: alloc::filled("weighted fit", unknowns * unknowns, 0.0)?,
            side: side()?,
            solution: side()?,
        })
    }

    /// The solution for the rows `(y, w)`, or `None` if the weights leave too few of them.
    pub fn solve(&mut self, factors: &Factors, rows: impl Iterator<Item = (f64, f64)>) -> Option<&[f64]> {
        let u = self.unknowns;
        self.gram.fill(0.0);
        self.side.fill(0.0);
        for ((y, w), q) in rows.zip(factors.left.chunks_exact(u)) {
            for (i, gram) in self.gram.chunks_exact_mut(u).enumerate() {
                let wq = w * q[i];
                self.side[i] += wq * y;
                for (g, qj) in gram[..=i].iter_mut().zip(q) {
                    *g += wq * qj;
                }
            }
        }
        self.cholesky()?;
        for (x, back) in self.solution.iter_mut().zip(factors.back.chunks_exact(u)) {
            *x = back.iter().zip(&self.side).map(|(b, z)| b * z).sum();
        }
        self.solution.iter().all(|x| x.is_finite()).then_some(&self.solution)
    }

    /// Factors `gram` in place and turns `side` into the solution of the system.
    fn cholesky(&mut self) -> Option<()> {
        let u = self.unknowns;
        let largest = (0..u).map(|i| self.gram[i * u + i]).fold(0.0, f64::max);
        for i in 0..u {
            let (above, rest) = self.gram.split_at_mut(i * u);
            let row = &mut rest[..u];
            for j in 0..i {
                let other = &above[j * u..];
                let sum: f64 = row[..j].iter().zip(&other[..j]).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - sum) / other[j];
            }
            let pivot = row[i] - row[..i].iter().map(|a| a * a).sum::<f64>();
            if pivot.is_nan() || pivot <= PIVOT_TOLERANCE * largest {
                return None;
            }
            row[i] = pivot.sqrt();
            let sum: f64 = row[..i].iter().zip(&self.side).map(|(a, b)| a * b).sum();
            self.side[i] = (self.side[i] - sum) / row[i];
        }
        for i in (0..u).rev() {
            let sum: f64 = (i + 1..u).map(|k| self.gram[k * u + i] * self.side[k]).sum();
            self.side[i] = (self.side[i] - sum) / self.gram[i * u + i];
        }
        Some(())
    }
}
