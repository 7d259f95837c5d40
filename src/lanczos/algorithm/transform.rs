//! An operator's inverse, or a polynomial of it, in its place: what is found with it is turned into pairs of the operator.

use super::super::krylov::{Affine, Krylov, Projection, Space, Wide, extend_once};
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// What takes the operator's place.
#[derive(Debug, Clone, PartialEq)]
pub enum Transform {
    /// (A - sigma I)^-1, by the caller's solve.
    Inverse,
    /// T_d((A - center) / half), scaled to 1 at `top`: what lies within `half` of the centre is small beside what lies
    /// towards `top` (Zhou and Saad, SIAM J. Matrix Anal. Appl. 29, 2007).
    End {
        /// Middle of what is not wanted.
        center: f64,
        /// Half of its length.
        half: f64,
        /// Where the polynomial is 1.
        top: f64,
        /// d, at least 1.
        degree: usize,
    },
    /// Sum of c_k T_k((A - center) / half): large at one place of the interval and small in the rest.
    Series {
        /// Middle of the spectrum.
        center: f64,
        /// Half of its length.
        half: f64,
        /// c, at least 2.
        coefficients: Vec<f64>,
    },
}

impl Transform {
    /// Whether it is large at one place within the spectrum.
    pub fn is_series(&self) -> bool {
        matches!(self, Self::Series { .. })
    }

    /// Products with the operator that one application takes.
    pub fn degree(&self) -> usize {
        match self {
            Self::Inverse => 1,
            Self::End { degree, .. } => *degree,
            Self::Series { coefficients, .. } => coefficients.len() - 1,
        }
    }
}

/// A backend with the operator transformed.
pub struct Transformed<'k, K: ?Sized> {
    /// The backend.
    pub inner: &'k mut K,
    /// What takes the operator's place.
    pub transform: Transform,
    /// Two columns that are free.
    pub work: usize,
}

impl<K: Krylov + ?Sized> Transformed<'_, K> {
    fn polynomial(&mut self, from: usize, to: usize) -> Result<()> {
        let (inner, work) = (&mut *self.inner, self.work);
        match &self.transform {
            Transform::Inverse => inner.invert(from, to),
            &Transform::End { center, half, top, degree } => {
                // The recurrence T_{q+1} = 2 t T_q - T_{q-1}, each T_q divided by its value at `top`.
                let first = half / (top - center);
                let mut ratio = first;
                let [mut here, mut there] = if degree % 2 == 0 { [work, to] } else { [to, work] };
                inner.affine(Affine { scale: ratio / half, center, keep: 0.0 }, from, here)?;
                if degree > 1 {
                    inner.copy(from, there)?;
                }
                for _ in 1..degree {
                    let next = 1.0 / (2.0 / first - ratio);
                    let step = Affine { scale: 2.0 * next / half, center, keep: -ratio * next };
                    inner.affine(step, here, there)?;
                    ratio = next;
                    std::mem::swap(&mut here, &mut there);
                }
                Ok(())
            }
            Transform::Series { center, half, coefficients } => {
                let (center, half) = (*center, *half);
                let [mut here, mut there] = [work, work + 1];
                inner.spread(from, &coefficients[..1], to, false)?;
                inner.copy(from, there)?;
                inner.affine(Affine { scale: 1.0 / half, center, keep: 0.0 }, from, here)?;
                inner.spread(here, &coefficients[1..2], to, true)?;
                for c in &coefficients[2..] {
                    inner.affine(Affine { scale: 2.0 / half, center, keep: -1.0 }, here, there)?;
                    inner.spread(there, std::slice::from_ref(c), to, true)?;
                    std::mem::swap(&mut here, &mut there);
                }
                Ok(())
            }
        }
    }
}

impl<T: Scalar, K: Krylov<Number = T> + ?Sized> Krylov for Transformed<'_, K> {
    type Number = T;

    fn order(&self) -> usize {
        self.inner.order()
    }

    fn random(&mut self, seed: u64, vector: u32, to: usize) -> Result<()> {
        self.inner.random(seed, vector, to)
    }

    fn affine(&mut self, step: Affine, from: usize, to: usize) -> Result<()> {
        if step != Affine::PLAIN {
            return Err(Error::Internal("a transformed operator is applied as it is".into()));
        }
        self.polynomial(from, to)
    }

    fn invert(&mut self, from: usize, to: usize) -> Result<()> {
        self.inner.invert(from, to)
    }

    fn orthogonalise(&mut self, count: usize, column: usize) -> Result<Projection> {
        self.inner.orthogonalise(count, column)
    }

    fn extend(&mut self, space: Space, from: usize, to: usize) -> Result<Vec<Projection>> {
        if !self.inner.defers() {
            return extend_once(self, space, from, to);
        }
        let first = space.locked + from;
        for j in 0..to - from {
            self.polynomial(first + j, first + j + 1)?;
            self.inner.defer(first + j + 1, j)?;
        }
        Ok(space.sound(self.inner.deferred(first + 1, to - from)?))
    }

    fn project(
        &mut self,
        first: usize,
        count: usize,
        column: usize,
        width: usize,
        h: &mut [Wide<Self>],
    ) -> Result<Vec<f64>> {
        self.inner.project(first, count, column, width, h)
    }

    fn three_term(&mut self, _: Option<(usize, f64)>, _: usize, _: usize) -> Result<(f64, f64)> {
        Err(Error::Internal("a transformed operator has no recurrence of three terms here".into()))
    }

    fn scale(&mut self, column: usize, factor: f64) -> Result<()> {
        self.inner.scale(column, factor)
    }

    fn copy(&mut self, from: usize, to: usize) -> Result<()> {
        self.inner.copy(from, to)
    }

    fn spread(&mut self, from: usize, weights: &[f64], to: usize, add: bool) -> Result<()> {
        self.inner.spread(from, weights, to, add)
    }

    fn rotate(&mut self, first: usize, m: usize, y: &[Wide<Self>], l: usize) -> Result<()> {
        self.inner.rotate(first, m, y, l)
    }

    fn gram(&mut self, first: usize, count: usize) -> Result<Vec<Wide<Self>>> {
        self.inner.gram(first, count)
    }

    fn distance(&mut self, w: usize, lambda: f64, x: usize) -> Result<f64> {
        self.inner.distance(w, lambda, x)
    }

    fn read(&mut self, column: usize, to: &mut [Self::Number]) -> Result<()> {
        self.inner.read(column, to)
    }

    fn write(&mut self, from: &[Self::Number], column: usize) -> Result<()> {
        self.inner.write(from, column)
    }
}
