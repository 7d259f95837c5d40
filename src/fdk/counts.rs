//! Conversion of raw detector counts to line integrals.

use crate::alloc;
use crate::blocks::number::{Convertible, Number, decode};
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::range;
use crate::scalar::{DType, Element, Real};
use crate::shape::to_u64;
use crate::tensor::Tensor;

/// Number types of line integrals.
pub trait LineIntegral: Real + Convertible {
    /// The largest finite number of the type.
    const MOST: f64;

    /// Natural logarithm of a positive number.
    fn ln(self) -> Self;
    /// Whether the number is finite and has all digits of its type.
    fn is_normal(self) -> bool;
}

impl LineIntegral for f32 {
    const MOST: f64 = f32::MAX as f64;

    fn ln(self) -> Self {
        Self::ln(self)
    }
    fn is_normal(self) -> bool {
        Self::is_normal(self)
    }
}

impl LineIntegral for f64 {
    const MOST: f64 = f64::MAX;

    fn ln(self) -> Self {
        Self::ln(self)
    }
    fn is_normal(self) -> bool {
        Self::is_normal(self)
    }
}

/// Numbers of counts without a reliable logarithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PixelDefects {
    /// Counts below the least one, which replaced them.
    pub clamped: u64,
    /// Counts above the unattenuated count; their negative line integral is kept.
    pub negative: u64,
    /// Counts or line integrals that are not finite; the result is NaN.
    pub not_finite: u64,
    /// Finite line integrals that are too large for the arithmetic.
    pub too_large: u64,
}

impl PixelDefects {
    /// From the counters of a GPU: not finite, clamped, negative, too large.
    pub fn from_counters(counters: &[i64]) -> Self {
        let of = |k: usize| counters.get(k).map_or(0, |c| c.unsigned_abs());
        Self { not_finite: of(0), clamped: of(1), negative: of(2), too_large: of(3) }
    }
}

impl std::ops::AddAssign for PixelDefects {
    fn add_assign(&mut self, other: Self) {
        self.clamped += other.clamped;
        self.negative += other.negative;
        self.not_finite += other.not_finite;
        self.too_large += other.too_large;
    }
}

impl std::iter::Sum for PixelDefects {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// Counts of every pixel of a panel, row after row.
#[derive(Debug, Clone, PartialEq)]
pub enum Image {
    /// In f32, the type of most detectors' corrections.
    Single(Vec<f32>),
    /// In f64, because f32 would round some of them. The conversion then subtracts in f64.
    Double(Vec<f64>),
}

impl From<Vec<f32>> for Image {
    fn from(pixels: Vec<f32>) -> Self {
        Self::Single(pixels)
    }
}

impl Image {
    /// From pixels in f64; stores them in f32 if that holds all of them exactly.
    fn narrowed(pixels: Vec<f64>) -> Result<Self> {
        let is_exact = pixels.iter().all(|p| f64::from(*p as f32) == *p);
        if !is_exact {
            return Ok(Self::Double(pixels));
        }
        let mut narrow = alloc::with_capacity("counts of a panel", pixels.len())?;
        narrow.extend(pixels.iter().map(|p| *p as f32));
        Ok(Self::Single(narrow))
    }

    /// Pixels of the panel, columns times rows.
    pub fn pixels(&self) -> usize {
        match self {
            Self::Single(pixels) => pixels.len(),
            Self::Double(pixels) => pixels.len(),
        }
    }

    /// Whether the pixels are f64.
    pub fn is_double(&self) -> bool {
        matches!(self, Self::Double(_))
    }

    fn at(&self, pixel: usize) -> f64 {
        match self {
            Self::Single(pixels) => f64::from(pixels[pixel]),
            Self::Double(pixels) => pixels[pixel],
        }
    }
}

/// Parameters of the conversion `p = -ln(max(I - dark, eps) / max(I0 - dark, eps))`.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Counts without an object, I0, for all pixels; used if there is no image.
    pub unattenuated: f64,
    /// I0 of each pixel of the panel.
    pub unattenuated_image: Option<Image>,
    /// Counts without radiation, for each pixel of the panel; 0 if `None`.
    pub dark: Option<Image>,
    /// Smallest argument of the logarithm, eps.
    pub least: f64,
}

impl Counts {
    /// Copies the images from tensors of `context`, F32 or F64 on the host, [columns, rows] of the `panel`.
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
            match tensor.dtype() {
                DType::F32 => read::<f32>(name, tensor, panel).map(|p| Some(Image::Single(p))),
                DType::F64 => Image::narrowed(read::<f64>(name, tensor, panel)?).map(Some),
                other => Err(Error::invalid(name, format!("is {}, F32 or F64 is needed", other.name()))),
            }
        };
        let unattenuated_image = image("i0_image", unattenuated_image)?;
        Ok(Self { unattenuated, unattenuated_image, dark: image("dark", dark)?, least })
    }

    /// Checks sizes and ranges for a panel of [columns, rows]; a `least` of 0 means half a count.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the number that is out of range.
    pub fn check(mut self, [columns, rows]: [usize; 2]) -> Result<Self> {
        let pixels = columns * rows;
        if self.least == 0.0 {
            self.least = 0.5;
        }
        range::positive("epsilon", self.least)?;
        // Counts are compared with it in f32.
        let held = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
        if !held.contains(&self.least) {
            let problem = format!("is {:e}, outside {:e} to {:e}", self.least, held.start(), held.end());
            return Err(Error::invalid("epsilon", problem));
        }
        if self.unattenuated_image.is_some() && self.unattenuated != 0.0 {
            let problem = format!("is {}, without effect beside i0_image", real(self.unattenuated));
            return Err(Error::invalid("i0", problem));
        }
        if self.unattenuated_image.is_none() {
            range::positive("i0", self.unattenuated)?;
        }
        for (name, image) in [("i0_image", &self.unattenuated_image), ("dark", &self.dark)] {
            let Some(image) = image else { continue };
            if image.pixels() != pixels {
                return Err(Error::invalid(name, format!("has {} pixels, {pixels} are needed", image.pixels())));
            }
            if let Some(at) = (0..pixels).find(|at| !image.at(*at).is_finite()) {
                let (row, column, value) = (at / columns, at % columns, image.at(at));
                return Err(Error::invalid(name, format!("row {row}, column {column} is {value}, not finite")));
            }
        }
        self.expect_light(pixels)?;
        Ok(self)
    }

    /// Refuses counts without an object that are above the dark ones at no pixel. A few such pixels are defects of a panel:
    /// their counts are clamped.
    fn expect_light(&self, pixels: usize) -> Result<()> {
        if (0..pixels).any(|at| self.open_at(at) > self.dark_at(at)) {
            return Ok(());
        }
        let least = (0..pixels).map(|at| self.dark_at(at)).fold(f64::INFINITY, f64::min);
        match self.unattenuated_image {
            Some(_) => Err(Error::invalid("i0_image", "is above dark at no pixel")),
            None => {
                let (open, least) = (real(self.unattenuated), real(least));
                Err(Error::invalid("i0", format!("is {open}, above dark at no pixel, the least of which is {least}")))
            }
        }
    }

    /// Whether counts of type `number` are subtracted in f64. F32 would round a count of more than 24 bits, or an image in f64,
    /// before the subtraction, and a small difference of large numbers would be wrong.
    pub fn needs_double(&self, number: Number) -> bool {
        let is_double = |image: &Option<Image>| image.as_ref().is_some_and(Image::is_double);
        matches!(number, Number::U32 | Number::I32 | Number::F64)
            || is_double(&self.unattenuated_image)
            || is_double(&self.dark)
    }

    /// Converts raw counts of type `number` to line integrals. `first` is the panel index of the first pixel. Returns the
    /// numbers of clamped, negative and non-finite counts. Zeros and negative counts are clamped to `least`. A count that is
    /// not finite, of either sign, gives NaN, and is counted neither as clamped nor as negative. Every finite count has
    /// a finite line integral: where `T` does not hold the difference or the quotient, the conversion is in f64.
    pub fn convert<T: LineIntegral>(
        &self,
        number: Number,
        raw: &[u8],
        first: usize,
        integrals: &mut [T],
    ) -> PixelDefects {
        let dark = |k: usize| self.dark_at(first + k);
        if size_of::<T>() == size_of::<f64>() || !self.needs_double(number) {
            decode(number, raw, integrals);
            for (k, count) in integrals.iter_mut().enumerate() {
                *count -= <T as Real>::from_f64(dark(k));
            }
        } else {
            // On the stack, so that a row of any length needs no memory.
            let mut wide = [0f64; PIECE];
            let pieces = integrals.chunks_mut(PIECE).zip(raw.chunks(PIECE * number.size()));
            for (n, (integrals, raw)) in pieces.enumerate() {
                let wide = &mut wide[..integrals.len()];
                decode(number, raw, wide);
                for (k, (count, wide)) in integrals.iter_mut().zip(wide).enumerate() {
                    *count = <T as Real>::from_f64(*wide - dark(n * PIECE + k));
                }
            }
        }
        self.take_logarithms(number, raw, first, integrals)
    }

    fn dark_at(&self, pixel: usize) -> f64 {
        self.dark.as_ref().map_or(0.0, |i| i.at(pixel))
    }

    fn open_at(&self, pixel: usize) -> f64 {
        self.unattenuated_image.as_ref().map_or(self.unattenuated, |i| i.at(pixel))
    }

    /// Replaces counts less dark by line integrals, in place. `raw` holds the counts themselves.
    fn take_logarithms<T: LineIntegral>(
        &self,
        number: Number,
        raw: &[u8],
        first: usize,
        pixels: &mut [T],
    ) -> PixelDefects {
        let least = <T as Real>::from_f64(self.least);
        let mut defects = PixelDefects::default();
        for (k, p) in pixels.iter_mut().enumerate() {
            let (at, given) = (first + k, *p);
            // In f64: the dark count may be almost as large. The second rounding changes no bit of a difference of f32 numbers.
            let open = <T as Real>::from_f64(self.open_at(at) - self.dark_at(at));
            let count = if given < least { least } else { given };
            let open = if open > least { open } else { least };
            let quotient = count / open;
            if given.is_finite() && quotient.is_normal() {
                defects.clamped += u64::from(given < least);
                defects.negative += u64::from(count > open);
                *p = -quotient.ln();
            } else {
                let mut count = [0f64];
                decode(number, &raw[k * number.size()..][..number.size()], &mut count);
                *p = <T as Real>::from_f64(self.line_integral(count[0], at, &mut defects));
            }
        }
        defects
    }

    /// The line integral of a count whose difference or quotient the arithmetic does not hold; NaN if it is not finite.
    fn line_integral(&self, count: f64, at: usize, defects: &mut PixelDefects) -> f64 {
        if !count.is_finite() {
            defects.not_finite += 1;
            return f64::NAN;
        }
        // A difference of halves does not overflow.
        let (dark, least) = (0.5 * self.dark_at(at), 0.5 * self.least);
        let (given, open) = (0.5 * count - dark, (0.5 * self.open_at(at) - dark).max(least));
        let count = given.max(least);
        defects.clamped += u64::from(given < least);
        defects.negative += u64::from(count > open);
        let quotient = count / open;
        // A quotient near 1 has more digits than the difference of the logarithms.
        if quotient.is_normal() { -quotient.ln() } else { open.ln() - count.ln() }
    }
}

/// How many line integrals of type `number` are finite numbers beyond `largest`, which `row` may hold as infinities.
pub fn too_large<T: LineIntegral>(number: Number, raw: &[u8], row: &[T], largest: f64) -> u64 {
    let largest = <T as Real>::from_f64(largest);
    let count = row.iter().filter(|p| p.is_finite() && p.abs() > largest).count();
    if number != Number::F64 || size_of::<T>() == size_of::<f64>() {
        return to_u64(count);
    }
    let mut word = [0u8; 8];
    let is_finite = move |bytes: &[u8]| {
        word.copy_from_slice(bytes);
        f64::from_ne_bytes(word).is_finite()
    };
    let rounded = row.iter().zip(raw.chunks_exact(8).map(is_finite)).filter(|(p, finite)| !p.is_finite() && *finite);
    to_u64(count + rounded.count())
}

/// Counts that are subtracted together in f64.
const PIECE: usize = 256;

/// The pixels of an image, row after row.
fn read<T: Element>(name: &str, tensor: &Tensor, [columns, rows]: [usize; 2]) -> Result<Vec<T>> {
    let view = tensor.view::<T>(name)?;
    let mut pixels = alloc::filled("counts of a panel", columns * rows, T::default())?;
    for (row, out) in pixels.chunks_mut(columns.max(1)).enumerate() {
        view.read_column(&[row], out);
    }
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::number::encode;

    /// Counts of a type as bytes.
    fn raw(number: Number, counts: &[f64]) -> Vec<u8> {
        let mut raw = vec![0u8; counts.len() * number.size()];
        encode(number, counts, &mut raw);
        raw
    }

    impl Counts {
        /// [`Counts::convert`] in place.
        fn apply<T: LineIntegral>(&self, first: usize, pixels: &mut [T]) -> PixelDefects {
            let counts: Vec<f64> = pixels.iter().map(|p| Real::to_f64(*p)).collect();
            let number = Number::of("counts", T::DTYPE).unwrap();
            self.convert(number, &raw(number, &counts), first, pixels)
        }
    }

    #[test]
    fn counts_become_line_integrals() {
        let counts = Counts {
            unattenuated: 0.0,
            unattenuated_image: Some(vec![1010f32, 2010.0, 1010.0, 1010.0].into()),
            dark: Some(vec![10f32; 4].into()),
            least: 0.0,
        };
        let counts = counts.check([2, 2]).unwrap();
        let mut pixels = [10.0 + 1000.0 * (-1.5f32).exp(), 2010.0, 3.0, f32::NAN];
        assert_eq!(counts.apply(0, &mut pixels), PixelDefects { clamped: 1, not_finite: 1, ..PixelDefects::default() });
        assert!((pixels[0] - 1.5).abs() < 1e-6 && pixels[1] == 0.0);
        assert!((pixels[2] - 2000f32.ln()).abs() < 1e-5 && pixels[3].is_nan());
        let mut tail = [2010.0f32];
        counts.apply(1, &mut tail);
        assert_eq!(tail, [0.0]);
        let mut bright = [2010.0f32, 2011.0, 1010.0, 0.0];
        assert_eq!(counts.apply(0, &mut bright), PixelDefects { clamped: 1, negative: 2, ..PixelDefects::default() });
        assert!((bright[0] + 2f32.ln()).abs() < 1e-6 && bright[1] < 0.0 && bright[2] == 0.0);
    }

    #[test]
    fn counts_that_are_not_finite_are_nan_whatever_their_sign() {
        let counts =
            Counts { unattenuated: 1000.0, unattenuated_image: None, dark: None, least: 0.0 }.check([4, 2]).unwrap();
        let row = [f32::NEG_INFINITY, f32::INFINITY, f32::NAN, 0.0, -0.0, -3.0, 1e-30, 1001.0];
        let mut pixels = row;
        assert_eq!(counts.apply(0, &mut pixels), PixelDefects { clamped: 4, negative: 1, not_finite: 3, too_large: 0 });
        assert!(pixels[..3].iter().all(|p| p.is_nan()));
        assert!(pixels[3..7].iter().all(|p| (p - 2000f32.ln()).abs() < 1e-5) && pixels[7] < 0.0);
        let mut wide = row.map(f64::from);
        assert_eq!(counts.apply(0, &mut wide), PixelDefects { clamped: 4, negative: 1, not_finite: 3, too_large: 0 });
        // The largest count over the smallest one is more than f32 holds.
        let faint = Counts { unattenuated: 1e-3, least: 1e-3, ..counts }.check([1, 1]).unwrap();
        let mut large = [f32::MAX];
        assert_eq!(faint.apply(0, &mut large), PixelDefects { negative: 1, ..PixelDefects::default() });
        assert!((f64::from(large[0]) + (f64::from(f32::MAX) / 1e-3).ln()).abs() < 1e-5, "{large:?}");
    }

    #[test]
    fn impossible_counts_are_refused() {
        let base = Counts { unattenuated: 1000.0, unattenuated_image: None, dark: None, least: 0.0 };
        assert_eq!(base.clone().check([2, 2]).unwrap().least, 0.5);
        let text = |c: Counts| c.check([2, 2]).unwrap_err().to_string();
        assert_eq!(text(Counts { unattenuated: 0.0, ..base.clone() }), "i0: is 0, a finite number above 0 is needed");
        assert_eq!(text(Counts { least: -1.0, ..base.clone() }), "epsilon: is -1, a finite number above 0 is needed");
        assert_eq!(
            text(Counts { dark: Some(vec![0f32; 3].into()), ..base.clone() }),
            "dark: has 3 pixels, 4 are needed"
        );
        let large = Counts { least: 1e300, ..base.clone() };
        assert_eq!(text(large), "epsilon: is 1e300, outside 1.1754943508222875e-38 to 3.4028234663852886e38");
        let infinite = Counts { unattenuated: f64::INFINITY, ..base.clone() };
        assert_eq!(text(infinite), "i0: is inf, a finite number above 0 is needed");
        let both = Counts { unattenuated_image: Some(vec![9f32; 4].into()), ..base.clone() };
        assert_eq!(text(both), "i0: is 1000, without effect beside i0_image");
        let nan = Counts { dark: Some(vec![0.0, 1.0, 2.0, f32::NAN].into()), ..base.clone() };
        assert_eq!(text(nan), "dark: row 1, column 1 is NaN, not finite");
        let wide = Image::Double(vec![1e39, 0.1, f64::INFINITY, 1.0]);
        let infinite = Counts { unattenuated: 0.0, unattenuated_image: Some(wide), ..base.clone() };
        assert_eq!(text(infinite), "i0_image: row 1, column 0 is inf, not finite");
        // One pixel above the dark ones suffices.
        let dark = |level: f32| Some(vec![2000.0, 1500.0, level, 1000.0].into());
        assert!(Counts { dark: dark(999.5), ..base.clone() }.check([2, 2]).is_ok());
        let unlit = Counts { dark: dark(1000.0), ..base.clone() };
        assert_eq!(text(unlit), "i0: is 1000, above dark at no pixel, the least of which is 1000");
        let image = |open: f32| Counts {
            unattenuated: 0.0,
            unattenuated_image: Some(vec![9.0, 9.0, open, 9.0].into()),
            ..base.clone()
        };
        assert!(Counts { dark: dark(8.0), ..image(9.0) }.check([2, 2]).is_ok());
        assert_eq!(text(Counts { dark: dark(9.0), ..image(9.0) }), "i0_image: is above dark at no pixel");
        assert_eq!(
            text(Counts { unattenuated_image: Some(vec![0f32; 4].into()), ..image(0.0) }),
            "i0_image: is above dark at no pixel"
        );
    }

    #[test]
    fn counts_are_subtracted_before_they_are_rounded() {
        // More than one piece.
        let above: Vec<f64> = (0..700).map(|k| (50_000.0 * (-f64::from(k) / 70.0).exp()).round()).collect();
        for (number, level) in [
            (Number::U32, 1e8),
            (Number::U32, 1e9),
            (Number::U32, 4e9),
            (Number::I32, 2e9),
            (Number::I32, -2e9),
            (Number::F64, 1e12),
        ] {
            let dark = |k: usize| level + (k % 3) as f64;
            let image = |more: f64| Some(Image::narrowed((0..700).map(|k| dark(k) + more).collect()).unwrap());
            let values: Vec<f64> = above.iter().enumerate().map(|(k, a)| dark(k) + a).collect();
            let raw = raw(number, &values);
            let flat = Counts { unattenuated: 0.0, unattenuated_image: image(50_001.0), dark: image(0.0), least: 0.0 };
            let one = Counts { unattenuated: level + 50_004.25, unattenuated_image: None, ..flat.clone() };
            for (counts, open) in [(flat, None), (one, Some(level + 50_004.25))] {
                if open.is_some_and(|open| open < 0.0) {
                    continue;
                }
                let counts = counts.check([70, 10]).unwrap();
                assert!(counts.needs_double(number));
                let (mut single, mut double) = (vec![0f32; 700], vec![0f64; 700]);
                assert_eq!(counts.convert(number, &raw, 0, &mut single), PixelDefects::default(), "{number:?} {level}");
                assert_eq!(counts.convert(number, &raw, 0, &mut double), PixelDefects::default());
                for k in 0..700 {
                    let want = -(above[k] / open.map_or(50_001.0, |open| open - dark(k))).ln();
                    assert_eq!(double[k], want, "{number:?} {level} {k}");
                    // Roundings of both differences, of the quotient and of the logarithm.
                    let error = (f64::from(single[k]) - want).abs();
                    assert!(error < 2e-7 * (1.0 + want), "{number:?} {level} {k}: {error:e}");
                }
            }
        }
        // A narrow type beside an image that f32 would round.
        let dark = Image::narrowed(vec![60_000.000_3; 4]).unwrap();
        let counts = Counts { unattenuated: 60_001.0, unattenuated_image: None, dark: Some(dark), least: 1e-4 };
        let counts = counts.check([2, 2]).unwrap();
        let mut single = [0f32; 1];
        counts.convert(Number::U16, &raw(Number::U16, &[60_001.0]), 3, &mut single);
        assert_eq!(single, [0.0]);
        counts.convert(Number::F32, &raw(Number::F32, &[60_000.5]), 3, &mut single);
        assert!((f64::from(single[0]) + (0.4997f64 / 0.9997).ln()).abs() < 1e-7);
    }

    /// Count, i0, dark and epsilon whose difference or quotient f32 or f64 does not hold, with the type of the count.
    const WIDE: [(Number, f64, f64, f64, f64); 15] = [
        (Number::F64, 100.0, 1e40, 0.0, 0.5),
        (Number::F64, 2.5e40, 4e40, 1e40, 0.5),
        (Number::F64, 1e40, 200.0, 0.0, 0.5),
        (Number::F64, 1e40, 1.000_001e40, 0.0, 0.5),
        (Number::F64, 1.7e308, 200.0, 0.0, 1e-37),
        (Number::F64, 1e-37, 1.7e308, 0.0, 1e-37),
        (Number::F64, -1e40, 200.0, 0.0, 0.5),
        (Number::F64, 1.7e308, 1e308, -1.7e308, 0.5),
        (Number::F64, -1.7e308, 1.75e308, 1.7e308, 0.5),
        (Number::F64, 100.0, 1e-300, 0.0, 0.5),
        (Number::U16, 100.0, 1e40, 0.0, 0.5),
        (Number::U16, 100.0, 200.0, -1e40, 0.5),
        (Number::F32, 3.4e38, 1e38, -1e38, 0.5),
        (Number::F32, 1e-37, 3.4e38, 0.0, 1e-37),
        (Number::F32, 3e-37, 1e5, 0.0, 1.2e-38),
    ];

    #[test]
    fn finite_counts_have_finite_line_integrals() {
        for (number, count, open, dark, least) in WIDE {
            let raw = raw(number, &[count; 4]);
            let mut stored = [0f64];
            decode(number, &raw[..number.size()], &mut stored);
            // Of halves, and of the logarithms of numbers that f64 holds.
            let above = (stored[0] / 2.0 - dark / 2.0).max(least / 2.0);
            let full = (open / 2.0 - dark / 2.0).max(least / 2.0);
            let want = full.ln() - above.ln();
            let image = |value: f64| Some(Image::narrowed(vec![value; 4]).unwrap());
            let one = Counts { unattenuated: open, unattenuated_image: None, dark: image(dark), least };
            let each = Counts { unattenuated: 0.0, unattenuated_image: image(open), ..one.clone() };
            for counts in [one, each] {
                let counts = counts.check([2, 2]).unwrap();
                let (mut single, mut double) = ([0f32; 4], [0f64; 4]);
                let clamped = if stored[0] / 2.0 - dark / 2.0 < least / 2.0 { 4 } else { 0 };
                let negative = if above > full { 4 } else { 0 };
                let defects = PixelDefects { clamped, negative, ..PixelDefects::default() };
                assert_eq!(counts.convert(number, &raw, 0, &mut single), defects, "{number:?} {count:e} {open:e}");
                assert_eq!(counts.convert(number, &raw, 0, &mut double), defects, "{number:?} {count:e} {open:e}");
                for (single, double) in single.iter().zip(&double) {
                    let error = (f64::from(*single) - want).abs();
                    assert!(error <= 2e-7 * (1.0 + want.abs()), "{number:?} {count:e} {open:e}: {single} for {want}");
                    assert!(
                        (double - want).abs() <= 1e-13 * (1.0 + want.abs()),
                        "{count:e} {open:e}: {double}, {want}"
                    );
                }
            }
        }
        let counts = Counts { unattenuated: 1e300, unattenuated_image: None, dark: None, least: 0.0 };
        let counts = counts.check([1, 1]).unwrap();
        for count in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut single = [0f32];
            let defects = counts.convert(Number::F64, &raw(Number::F64, &[count]), 0, &mut single);
            assert_eq!(defects, PixelDefects { not_finite: 1, ..PixelDefects::default() });
            assert!(single[0].is_nan());
        }
    }

    #[test]
    fn narrow_counts_stay_in_single_precision_with_the_whole_i0() {
        let dark = Image::narrowed(vec![65_000.0; 4]).unwrap();
        assert!(!dark.is_double());
        // f32 rounds i0 to a multiple of 1 / 256.
        let open = 65_000.501;
        let counts = Counts { unattenuated: open, unattenuated_image: None, dark: Some(dark), least: 0.1 };
        let counts = counts.check([2, 2]).unwrap();
        for number in [Number::U8, Number::I8, Number::U16, Number::I16, Number::F16, Number::F32] {
            assert!(!counts.needs_double(number));
        }
        let mut single = [0f32];
        assert_eq!(counts.convert(Number::U16, &raw(Number::U16, &[65_001.0]), 0, &mut single).negative, 1);
        assert!((f64::from(single[0]) + (1.0 / 0.501f64).ln()).abs() < 2e-7, "{single:?}");
    }
}
