//! Conversion of raw detector counts to line integrals.

use crate::alloc;
use crate::blocks::number::Convertible;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::range;
use crate::scalar::Real;
use crate::tensor::Tensor;

/// Number types of line integrals.
pub trait Linear: Real + Convertible {
    /// Natural logarithm of a positive number.
    fn ln(self) -> Self;
}

impl Linear for f32 {
    fn ln(self) -> Self {
        Self::ln(self)
    }
}

impl Linear for f64 {
    fn ln(self) -> Self {
        Self::ln(self)
    }
}

/// Numbers of counts without a reliable logarithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Odd {
    /// Counts below the least one, which replaced them.
    pub clamped: u64,
    /// Counts above the unattenuated count; their negative line integral is kept.
    pub negative: u64,
    /// Counts or line integrals that are not finite; the result is NaN.
    pub not_finite: u64,
}

impl Odd {
    /// From the counters of a GPU: not finite, clamped, negative.
    pub fn from_counters(counters: &[i64]) -> Self {
        let of = |k: usize| counters.get(k).map_or(0, |c| c.unsigned_abs());
        Self { not_finite: of(0), clamped: of(1), negative: of(2) }
    }
}

impl std::ops::AddAssign for Odd {
    fn add_assign(&mut self, other: Self) {
        self.clamped += other.clamped;
        self.negative += other.negative;
        self.not_finite += other.not_finite;
    }
}

impl std::iter::Sum for Odd {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// Parameters of the conversion `p = -ln(max(I - dark, eps) / max(I0 - dark, eps))`.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Counts without an object, I0, for all pixels; used if there is no image.
    pub unattenuated: f64,
    /// I0 of each pixel of the panel.
    pub unattenuated_image: Option<Vec<f32>>,
    /// Counts without radiation, for each pixel of the panel; 0 if `None`.
    pub dark: Option<Vec<f32>>,
    /// Smallest argument of the logarithm, eps.
    pub least: f64,
}

impl Counts {
    /// Copies the images from tensors of `context`, F32 on the host, [columns, rows] of the `panel`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for images of other sizes or types.
    pub fn from_tensors(
        context: &Context,
        panel: [usize; 2],
        unattenuated: f64,
        unattenuated_image: Option<&Tensor>,
        dark: Option<&Tensor>,
        least: f64,
    ) -> Result<Self> {
        let image = |name: &str, tensor: Option<&Tensor>| {
            let Some(tensor) = tensor else { return Ok(None) };
            tensor.expect_context(name, context)?;
            tensor.expect_dims(name, &panel)?;
            let view = tensor.view::<f32>(name)?;
            let mut pixels = alloc::filled("counts of a panel", panel[0] * panel[1], 0f32)?;
            for (row, out) in pixels.chunks_mut(panel[0].max(1)).enumerate() {
                view.read_column(&[row], out);
            }
            Ok(Some(pixels))
        };
        let unattenuated_image = image("i0_image", unattenuated_image)?;
        Ok(Self { unattenuated, unattenuated_image, dark: image("dark", dark)?, least })
    }

    /// Checks sizes and ranges for a panel of `pixels`; a `least` of 0 means half a count.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the number that is out of range.
    pub fn check(mut self, pixels: usize) -> Result<Self> {
        if self.least == 0.0 {
            self.least = 0.5;
        }
        range::positive("epsilon", self.least)?;
        // Line integrals are computed in f32.
        let held = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        for (name, value) in [("epsilon", self.least), ("i0", self.unattenuated)] {
            if value > 0.0 && value.is_finite() && !held.contains(&value) {
                let problem = format!("is {value:e}, outside {:e} to {:e}", held.start(), held.end());
                return Err(Error::invalid(name, problem));
            }
        }
        if self.unattenuated_image.is_some() && self.unattenuated != 0.0 {
            let problem = format!("is {}, without effect beside i0_image", real(self.unattenuated));
            return Err(Error::invalid("i0", problem));
        }
        if self.unattenuated_image.is_none() {
            range::positive("i0", self.unattenuated)?;
        }
        for (name, image) in [("i0_image", &self.unattenuated_image), ("dark", &self.dark)] {
            if let Some(image) = image
                && image.len() != pixels
            {
                return Err(Error::invalid(name, format!("has {} pixels, {pixels} are needed", image.len())));
            }
            if let Some(at) = image.as_ref().and_then(|i| i.iter().position(|v| !v.is_finite())) {
                let value = image.as_ref().map_or(f32::NAN, |i| i[at]);
                return Err(Error::invalid(name, format!("pixel {at} is {value}, not finite")));
            }
        }
        Ok(self)
    }

    /// Replaces counts by line integrals, in place. `first` is the panel index of the first pixel. Returns the numbers of
    /// clamped, negative and non-finite counts. Zeros and negative counts are clamped to `least`. A count that is not finite,
    /// of either sign, gives NaN, and is counted neither as clamped nor as negative.
    pub fn apply<T: Linear>(&self, first: usize, pixels: &mut [T]) -> Odd {
        let least = <T as Real>::from_f64(self.least);
        let of = |image: &Option<Vec<f32>>, at: usize, otherwise: f64| {
            <T as Real>::from_f64(image.as_ref().map_or(otherwise, |i| f64::from(i[at])))
        };
        let mut odd = Odd::default();
        for (k, p) in pixels.iter_mut().enumerate() {
            let at = first + k;
            let dark = of(&self.dark, at, 0.0);
            let open = of(&self.unattenuated_image, at, self.unattenuated) - dark;
            let count = *p - dark;
            if !count.is_finite() {
                odd.not_finite += 1;
                *p = <T as Real>::from_f64(f64::NAN);
                continue;
            }
            if count < least {
                odd.clamped += 1;
            }
            let count = if count < least { least } else { count };
            let open = if open > least { open } else { least };
            if count > open {
                odd.negative += 1;
            }
            *p = -(count / open).ln();
            // The quotient of the largest count and the least one can overflow.
            odd.not_finite += u64::from(!p.is_finite());
        }
        odd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_line_integrals() {
        let counts = Counts {
            unattenuated: 0.0,
            unattenuated_image: Some(vec![1010.0, 2010.0, 1010.0, 1010.0]),
            dark: Some(vec![10.0; 4]),
            least: 0.0,
        };
        let counts = counts.check(4).unwrap();
        let mut pixels = [10.0 + 1000.0 * (-1.5f32).exp(), 2010.0, 3.0, f32::NAN];
        assert_eq!(counts.apply(0, &mut pixels), Odd { clamped: 1, negative: 0, not_finite: 1 });
        assert!((pixels[0] - 1.5).abs() < 1e-6 && pixels[1] == 0.0);
        assert!((pixels[2] - 2000f32.ln()).abs() < 1e-5 && pixels[3].is_nan());
        let mut tail = [2010.0f32];
        counts.apply(1, &mut tail);
        assert_eq!(tail, [0.0]);
        let mut bright = [2010.0f32, 2011.0, 1010.0, 0.0];
        assert_eq!(counts.apply(0, &mut bright), Odd { clamped: 1, negative: 2, not_finite: 0 });
        assert!((bright[0] + 2f32.ln()).abs() < 1e-6 && bright[1] < 0.0 && bright[2] == 0.0);
    }

    #[test]
    fn counts_that_are_not_finite_are_nan_whatever_their_sign() {
        let counts =
            Counts { unattenuated: 1000.0, unattenuated_image: None, dark: None, least: 0.0 }.check(8).unwrap();
        let row = [f32::NEG_INFINITY, f32::INFINITY, f32::NAN, 0.0, -0.0, -3.0, 1e-30, 1001.0];
        let mut pixels = row;
        assert_eq!(counts.apply(0, &mut pixels), Odd { clamped: 4, negative: 1, not_finite: 3 });
        assert!(pixels[..3].iter().all(|p| p.is_nan()));
        assert!(pixels[3..7].iter().all(|p| (p - 2000f32.ln()).abs() < 1e-5) && pixels[7] < 0.0);
        let mut wide = row.map(f64::from);
        assert_eq!(counts.apply(0, &mut wide), Odd { clamped: 4, negative: 1, not_finite: 3 });
        // The largest count over the smallest one is more than f32 holds.
        let faint = Counts { unattenuated: 1e-3, least: 1e-3, ..counts }.check(1).unwrap();
        let mut large = [f32::MAX];
        assert_eq!(faint.apply(0, &mut large), Odd { clamped: 0, negative: 1, not_finite: 1 });
    }

    #[test]
    fn impossible_counts_are_refused() {
        let base = Counts { unattenuated: 1000.0, unattenuated_image: None, dark: None, least: 0.0 };
        assert_eq!(base.clone().check(4).unwrap().least, 0.5);
        let text = |c: Counts| c.check(4).unwrap_err().to_string();
        assert_eq!(text(Counts { unattenuated: 0.0, ..base.clone() }), "i0: is 0, a finite number above 0 is needed");
        assert_eq!(text(Counts { least: -1.0, ..base.clone() }), "epsilon: is -1, a finite number above 0 is needed");
        assert_eq!(text(Counts { dark: Some(vec![0.0; 3]), ..base.clone() }), "dark: has 3 pixels, 4 are needed");
        let large = Counts { unattenuated: 1e300, ..base.clone() };
        assert_eq!(text(large), "i0: is 1e300, outside 1.1754943508222875e-38 to 3.4028234663852886e38");
        let both = Counts { unattenuated_image: Some(vec![9.0; 4]), ..base };
        assert_eq!(text(both), "i0: is 1000, without effect beside i0_image");
    }
}
