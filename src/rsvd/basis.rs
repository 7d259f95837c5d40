//! Orthonormal bases of tall matrices: the ladder of [`crate::dense::orthonormal`] on [`RsvdOps`].

use super::ops::RsvdOps;
use crate::dense::Step;
use crate::dense::orthonormal::Columns;
use crate::dense::sketch::Sketch;
use crate::error::Result;
use crate::scalar::Scalar;

/// [`Columns`] of the tall matrices of a backend.
pub struct TallColumns<'a, O>(pub &'a mut O);

impl<T: Scalar, O: RsvdOps<T>> Columns<T> for TallColumns<'_, O> {
    type Algebra = O;
    type X = O::Tall;

    fn algebra(&mut self) -> &mut O {
        self.0
    }

    fn shape(&self, x: &O::Tall) -> (usize, usize) {
        (self.0.rows(), self.0.tall_width(x))
    }

    fn create(&mut self, _: &O::Tall, width: usize) -> Result<O::Tall> {
        self.0.tall("part of a basis", width)
    }

    fn fill(&mut self, x: &mut O::Tall, sketch: &Sketch, first_column: u32) -> Result<()> {
        self.0.tall_fill(x, sketch, first_column)
    }

    fn multiply(&mut self, alpha: f64, x: &O::Tall, m: &O::Matrix, beta: f64, y: &mut O::Tall) -> Result<()> {
        self.0.tall_multiply(alpha, x, m, beta, y)
    }

    fn transform(&mut self, x: &mut O::Tall, m: &O::Matrix) -> Result<()> {
        self.0.tall_transform(x, m)
    }

    fn cross(&mut self, x: &O::Tall, y: &O::Tall, c: &mut O::Matrix) -> Result<()> {
        self.0.tall_cross(x, y, c)
    }

    fn norms(&mut self, x: &O::Tall) -> Result<Vec<f64>> {
        self.0.tall_column_norms(x)
    }

    fn cholesky_step(&mut self, x: &mut O::Tall, shift: f64, r: &mut O::Matrix) -> Result<Step> {
        self.0.tall_cholesky_step(x, shift, r)
    }

    /// Tall matrices may lie in pieces, so they have no Householder factorization.
    fn householder(&mut self, _: &mut O::Tall, _: &mut O::Matrix) -> Result<bool> {
        Ok(false)
    }
}
