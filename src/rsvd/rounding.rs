//! Whether products of a centred operator are more than rounding errors.
//!
//! The entries of an operator are not known, so a distant constant line cannot be left out: products are corrected for
//! its mean. If the mean is far larger than the centred data, the rounding errors of the products remain. Two tests
//! with random vectors x and y show them. Exact products are linear, but A (x + y) - A x - A y holds rounding errors.
//! Exact products of data with centred columns have the sum 0, but that of computed ones holds the error of the means.

use super::statistics::{CorrectionError, largest_part, mean_of};
use crate::dense::sketch::{Distribution, Sketch};
use crate::rng::stream;
use crate::scalar::{Complex, Scalar};
use crate::shape::to_u64;

/// Pairs of random vectors.
const PAIRS: usize = 5;

/// The vectors of the test: x, y and x + y of each pair. Fewer than the probes of the norm, whose memory they take.
pub const VECTORS: usize = 3 * PAIRS;

/// Index of the first random vector in the stream of probes. The probes of the norm are before it.
const FIRST: u32 = (1 << 30) + 64;

/// The rounding error that a correction for means is expected to have, if products of centred data of this `norm` have
/// to be tested: the means are so large that rounding errors might hide the data. `lines` are the means and the factors
/// of the means in products, `length` is the number of entries of a line, `epsilon` that of the element type.
pub fn suspect(
    lines: impl ExactSizeIterator<Item = (Complex<f64>, f64)>,
    (is_row, length): (bool, usize),
    norm: f64,
    epsilon: f64,
) -> Option<CorrectionError> {
    let count = lines.len() as f64;
    let expected = CorrectionError::largest(lines, (is_row, length), epsilon)?;
    // A plain sum of n numbers may be wrong by n roundings. A line of one entry is its own mean, and its distance 0.
    let most = expected.norm * count.sqrt() * (count + length as f64);
    (length > 1 && norm <= most).then_some(expected)
}

/// Writes the vectors of the test, of `length` entries each.
pub fn draw<T: Scalar>(vectors: &mut [T], length: usize) {
    let sketch = Sketch { distribution: Distribution::Gaussian, seed: 0, stream: stream::PROBES };
    for (pair, vectors) in (0u32..).zip(vectors.chunks_exact_mut((3 * length).max(1))) {
        let (xy, sums) = vectors.split_at_mut(2 * length);
        let (x, y) = xy.split_at_mut(length);
        for i in 0..length {
            x[i] = sketch.entry(to_u64(i), FIRST + 2 * pair);
            y[i] = sketch.entry(to_u64(i), FIRST + 2 * pair + 1);
            sums[i] = x[i] + y[i];
        }
    }
}

/// The mean of `length` numbers, and the sum of the squares of their distances from it.
fn moments(length: usize, number: impl Fn(usize) -> Complex<f64>) -> (Complex<f64>, f64) {
    let mean = mean_of(length, length, || (0..length).map(&number));
    (mean, (0..length).map(|i| (number(i) - mean).norm_sqr()).sum())
}

/// The rounding error of products with the vectors of [`draw`], corrected for the means, if it hides the centred data.
/// Products have `length` entries each, as many as a line.
pub fn confirm<T: Scalar>(expected: CorrectionError, products: &[T], length: usize) -> Option<CorrectionError> {
    let wide = |x: &T| Complex::new(x.re(), x.im());
    let unit = products.iter().map(|x| largest_part(wide(x))).fold(0.0, f64::max);
    // Nothing is left of the data, but the means are not 0.
    if unit == 0.0 {
        return Some(expected);
    }
    let (mut data, mut rounding, mut offset) = (0.0, 0.0, 0.0);
    for pair in products.chunks_exact(3 * length) {
        let at = |k: usize, i: usize| wide(&pair[k * length + i]) / unit;
        for k in 0..2 {
            let (mean, squares) = moments(length, |i| at(k, i));
            data += 0.5 * squares;
            offset += 0.5 * length as f64 * mean.norm_sqr();
        }
        // The rounding errors of A (x + y), which are larger, of A x and of A y.
        rounding += 0.25 * moments(length, |i| at(2, i) - at(0, i) - at(1, i)).1;
    }
    let error = rounding.max(offset).sqrt();
    let is_hidden = data.sqrt() <= 2.0 * error;
    let norm = expected.norm.max(error / (PAIRS as f64).sqrt() * unit);
    is_hidden.then_some(CorrectionError { norm, ..expected })
}
