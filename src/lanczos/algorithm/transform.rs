//! An operator's inverse, or a polynomial of it, that replaces the operator in a solve. Its pairs are then converted to
//! pairs of the operator.

use super::super::cycles::{Cycles, extend_once};
use super::super::ops::{Affine, LanczosOps, Poll, Projection, Space, Wide};
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// The function of the operator that replaces it in a solve.
#[derive(Debug, Clone, PartialEq)]
pub enum Transform {
    /// (A - sigma I)^-1, by the caller's solve.
    Inverse,
    /// T_d((A - center) / half), scaled to 1 at `top`: it is small within `half` of the centre, and large towards `top`
    /// (Zhou and Saad, SIAM J. Matrix Anal. Appl. 29, 2007).
    End {
        /// Middle of the interval of unwanted eigenvalues.
        center: f64,
        /// Half of the interval's length, positive.
        half: f64,
        /// Point where the polynomial is 1.
        top: f64,
        /// Degree d, at least 1.
        degree: usize,
        /// With a sigma, the polynomial is one of (A - sigma I)^2, whose smallest eigenvalues belong to those of A
        /// nearest to sigma.
        fold: Option<f64>,
    },
    /// Sum of c_k T_k((A - center) / half): large near one point of the interval and small in the rest.
    Series {
        /// Middle of an interval that holds the spectrum.
        center: f64,
        /// Half of that interval's length, positive.
        half: f64,
        /// c, at least 2 coefficients.
        coefficients: Vec<f64>,
    },
}

impl Transform {
    /// Whether it is large near one point within the spectrum.
    pub fn is_series(&self) -> bool {
        matches!(self, Self::Series { .. })
    }

    /// Whether the eigenvalues at which it is large may lie within the spectrum.
    pub fn is_interior(&self) -> bool {
        self.is_series() || matches!(self, Self::End { fold: Some(_), .. })
    }

    /// The same polynomial for an end, but of (A - sigma I)^2.
    #[must_use]
    pub fn folded(self, sigma: f64) -> Self {
        match self {
            Self::End { center, half, top, degree, .. } => Self::End { center, half, top, degree, fold: Some(sigma) },
            other => other,
        }
    }

    /// The sigma of a polynomial of (A - sigma I)^2.
    pub fn fold(&self) -> Option<f64> {
        if let Self::End { fold, .. } = self { *fold } else { None }
    }

    /// The point on the side of `top` where a polynomial for an end has this value; the edge of the interval for
    /// smaller values.
    pub fn place(&self, value: f64) -> f64 {
        let &Self::End { center, half, top, degree, .. } = self else { return value };
        if degree == 1 {
            // A line, inside the interval too.
            return center + value * (top - center);
        }
        let size = (value.abs() * self.growth()).max(1.0).acosh() / degree as f64;
        center + (top - center).signum() * half * size.cosh()
    }

    /// The ratio of a polynomial for an end at `top` to its maximum inside the interval.
    fn growth(&self) -> f64 {
        let &Self::End { center, half, top, degree, .. } = self else { return 1.0 };
        (((top - center) / half).abs().max(1.0).acosh() * degree as f64).cosh()
    }

    /// Whether a polynomial for an end has this value outside its interval, where it decreases with the distance from
    /// `top`. Inside the interval many points have the same value.
    pub fn is_lifted(&self, value: f64) -> bool {
        matches!(self, Self::End { degree: 1, .. }) || value * self.growth() > 1.0 + 1e-9
    }

    /// The series at `x`, by Clenshaw's recurrence; 1 for other transforms.
    fn value(&self, x: f64) -> f64 {
        let Self::Series { center, half, coefficients } = self else { return 1.0 };
        let t = (x - center) / half;
        let (mut next, mut after) = (0.0, 0.0);
        for c in coefficients.iter().skip(1).rev() {
            (next, after) = (c + 2.0 * t * next - after, next);
        }
        coefficients.first().map_or(0.0, |c| c + t * next - after)
    }

    /// Angles of the ends of the interval `place` +- `reach`; the lower end has the larger angle and comes first.
    fn angles(&self, place: f64, reach: f64) -> [f64; 2] {
        let Self::Series { center, half, .. } = self else { return [0.0; 2] };
        [place - reach, place + reach].map(|x| ((x - center) / half).clamp(-1.0, 1.0).acos())
    }

    /// Whether a series is below `floor` somewhere less than `reach` from `place`.
    pub fn dips(&self, place: f64, reach: f64, floor: f64) -> bool {
        self.is_series() && self.least(place, reach) < floor - 1e-6 * floor.abs()
    }

    /// The least value of a series less than `reach` from `place`, sampled many times an oscillation. For a folded
    /// polynomial, which decreases with the distance from its own sigma, its value at distance `reach`. Infinite for
    /// other transforms.
    pub fn least(&self, place: f64, reach: f64) -> f64 {
        match self {
            Self::Series { center, half, coefficients } => {
                let [low, high] = self.angles(place, reach);
                let parts = 8.0 * coefficients.len() as f64 * (low - high) / std::f64::consts::PI;
                let parts = parts.clamp(32.0, 2e4).ceil();
                let at = |part: usize| center + half * (high + (low - high) * part as f64 / parts).cos();
                (0..=parts as usize).map(|part| self.value(at(part))).fold(f64::INFINITY, f64::min)
            }
            &Self::End { center, half, top, degree, fold: Some(_) } => {
                let x = reach * reach;
                let t = (x - center) / (top - center);
                if degree == 1 {
                    return t;
                }
                // Inside the interval the value is not known; 0 is safe.
                let far = (x - center).abs() / half;
                if t > 0.0 && far > 1.0 { (far.acosh() * degree as f64).cosh() / self.growth() } else { 0.0 }
            }
            _ => f64::INFINITY,
        }
    }

    /// A point about which the same series is as small at one end of the interval `place` +- `reach` as at the other,
    /// and a little larger at the lower end, or at the upper one without `is_above`.
    pub fn balanced(&self, place: f64, reach: f64, is_above: bool) -> f64 {
        let Self::Series { center, half, .. } = self else { return place };
        let [low, high] = self.angles(place, reach);
        let aside = if is_above { 0.01 } else { -0.01 };
        center + half * (0.5 * (low + high) + aside * (low - high)).cos()
    }

    /// Products with the operator for one application.
    pub fn degree(&self) -> usize {
        match self {
            Self::Inverse => 1,
            Self::End { degree, fold, .. } => {
                if fold.is_some() {
                    2 * *degree
                } else {
                    *degree
                }
            }
            Self::Series { coefficients, .. } => coefficients.len() - 1,
        }
    }
}

/// A backend whose operator is replaced by a transform of it.
pub struct Transformed<'k, K: ?Sized> {
    /// The backend with the operator A.
    pub inner: &'k mut K,
    /// The function of the operator that replaces it.
    pub transform: Transform,
    /// The first of three free columns; an inverse needs none.
    pub work: usize,
    /// Called every few products; an error that it returns ends the polynomial.
    pub poll: &'k dyn Fn() -> Result<()>,
}

/// Products of a polynomial between two calls of `poll`.
const PRODUCTS_A_POLL: usize = 16;

impl<K: Cycles + ?Sized> Transformed<'_, K> {
    fn polynomial(&mut self, from: usize, to: usize) -> Result<()> {
        let (inner, work, poll) = (&mut *self.inner, self.work, self.poll);
        match &self.transform {
            Transform::Inverse => inner.invert(from, to),
            &Transform::End { center, half, top, degree, fold } => {
                let affine = |inner: &mut K, step: Affine, from: usize, to: usize| match fold {
                    None => inner.affine(step, from, to),
                    Some(sigma) => {
                        inner.affine(Affine { center: sigma, ..Affine::PLAIN }, from, work + 2)?;
                        inner.affine(Affine { center: sigma, ..step }, work + 2, to)?;
                        inner.spread(from, &[-step.scale * step.center], to, true)
                    }
                };
                // The recurrence T_{q+1} = 2 t T_q - T_{q-1}, each T_q divided by its value at `top`.
                let first = half / (top - center);
                let mut ratio = first;
                let [mut here, mut there] = if degree % 2 == 0 { [work, to] } else { [to, work] };
                affine(inner, Affine { scale: ratio / half, center, keep: 0.0 }, from, here)?;
                if degree > 1 {
                    inner.copy(from, there)?;
                }
                for q in 1..degree {
                    if q % PRODUCTS_A_POLL == 0 {
                        inner.pace(&mut || poll())?;
                    }
                    let next = 1.0 / (2.0 / first - ratio);
                    let step = Affine { scale: 2.0 * next / half, center, keep: -ratio * next };
                    affine(inner, step, here, there)?;
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
                for (q, c) in coefficients[2..].iter().enumerate() {
                    if q % PRODUCTS_A_POLL == PRODUCTS_A_POLL - 1 {
                        inner.pace(&mut || poll())?;
                    }
                    inner.affine(Affine { scale: 2.0 / half, center, keep: -1.0 }, here, there)?;
                    inner.spread(there, std::slice::from_ref(c), to, true)?;
                    std::mem::swap(&mut here, &mut there);
                }
                Ok(())
            }
        }
    }
}

impl<T: Scalar, K: Cycles<Number = T> + ?Sized> LanczosOps for Transformed<'_, K> {
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

    fn orthogonalize(&mut self, count: usize, column: usize) -> Result<Projection> {
        self.inner.orthogonalize(count, column)
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

impl<T: Scalar, K: Cycles<Number = T> + ?Sized> Cycles for Transformed<'_, K> {
    fn extend(&mut self, space: Space, (from, to): (usize, usize), poll: &mut Poll<'_>) -> Result<Vec<Projection>> {
        if !self.inner.defers() {
            return extend_once(self, space, (from, to), poll);
        }
        let first = space.locked + from;
        for j in 0..to - from {
            self.polynomial(first + j, first + j + 1)?;
            self.inner.defer(first + j + 1, j)?;
            self.inner.pace(poll)?;
        }
        Ok(space.sound(self.inner.deferred(first + 1, to - from, poll)?))
    }

    fn pace(&mut self, poll: &mut Poll<'_>) -> Result<()> {
        self.inner.pace(poll)
    }
}
