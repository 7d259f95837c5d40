//! Tests that a caller's adjoint product belongs to its product: <Y, A X> = <A^H Y, X> for any X and Y.
//!
//! With another matrix in the adjoint's place, methods find values of a mixture of both, whose residuals are small.

use crate::alloc;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::rng;
use crate::scalar::{DType, Scalar, power_of_two};
use crate::shape::to_u64;

/// Partial sums of a dot product, which the processor adds up side by side.
const LANES: usize = 8;

/// Least |<Y, A X>| of a comparison of full power, in units of the rounding limit.
const LEAST: f64 = 4.0;

/// How much a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// Nothing was compared, or zeros or numbers that are not finite.
    None,
    /// |<Y, A X>| is so small that a wrong adjoint may be within rounding.
    Low,
    /// An adjoint that is wrong by a factor of up to 0.75, or of 1.25 and more, is refused.
    Full,
}

/// Two numbers that are equal but for rounding if the adjoint is right, and the sizes by which that is decided.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    /// |<Y, A X> - <A^H Y, X>|.
    pub found: f64,
    /// |<Y, A X>|, without the means where a method subtracts them.
    pub inner: f64,
    /// The unit of the difference, named by `of`.
    pub size: f64,
    /// The name of the unit.
    pub of: &'static str,
    /// The norm of X.
    pub x: f64,
    /// The norm of A X.
    pub ax: f64,
    /// The norm of Y.
    pub y: f64,
    /// The number of vectors that were multiplied.
    pub count: usize,
}

/// The differences that a right adjoint may have by rounding, in units of ||Y||_F ||A X||_F: of functions that compute in
/// the next lower precision, and of those that compute in that of the type, for `terms` rows and columns.
///
/// The next lower precision is that of TF32 and half precision for F32: 2 epsilons of half precision (2^-10) and 64 of
/// single precision (2^-23). The errors of a plain sum of n terms grow with the root of n.
pub fn roundings(dtype: DType, terms: usize) -> [f64; 2] {
    let lower = if dtype.is_single() { -9f64 } else { -17f64 };
    [lower.exp2(), 16.0 * dtype.epsilon() * (terms as f64).sqrt()]
}

/// Compares two numbers for a matrix of these rows and columns.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `a` if they differ by more than rounding.
pub fn expect_equal<T: Scalar>((rows, columns): (usize, usize), numbers: &Numbers) -> Result<Power> {
    let Numbers { found, inner, size, of, x, ax, y, count } = *numbers;
    let terms = rows.saturating_add(columns);
    let [lower, own] = roundings(T::DTYPE, terms);
    let limit = (lower * size).max(own * y * ax);
    let underflow = underflow_of::<T>(terms, count, x + y);
    // False where a norm is not finite, which the caller of the product refuses or repeats with a factor.
    if found.is_finite() && found > limit + underflow {
        let difference = "adjoint is not that of A: |<Y, A X> - <A^H Y, X>| is";
        let problem = if size == 0.0 {
            format!("{difference} {found:.1e} for a random X, and {of} is 0")
        } else {
            let [found, limit] = [found / size, limit / size];
            format!("{difference} {found:.1e} of {of} for a random X, at most {limit:.1e} is rounding")
        };
        return Err(Error::invalid("a", problem));
    }
    if !(found.is_finite() && size > 0.0 && size.is_finite()) {
        return Ok(Power::None);
    }
    Ok(if inner >= LEAST * (limit + underflow) { Power::Full } else { Power::Low })
}

/// A function that multiplies one vector by A or by its supposed adjoint, and writes the product.
pub type Multiply<'a, T> = dyn FnMut(Op, &[T], &mut [T]) -> Result<()> + 'a;

/// The vectors of [`expect_adjoint`], in bytes.
pub fn bytes_of_test<T>((rows, columns): (usize, usize)) -> usize {
    rows.saturating_add(columns.saturating_mul(2)).saturating_mul(size_of::<T>())
}

/// Compares <Y, A X> with <A^H Y, X> for the random vector X of the given number and Y, the sum of a vector of norm about 1
/// along A X and a random one of that norm, halved. By the first neither number is small; by the second the test sees an
/// adjoint whose error P has <P A X, X> = 0 for every X. `multiply` makes the two products. Needs [`bytes_of_test`].
/// Returns the estimate ||A^H Y|| / ||Y|| of ||A||, or `None` if A X is 0, and A^H Y for a random Y as well.
///
/// # Errors
/// [`Error::InvalidArgument`] as [`expect_equal`], and if A X alone is 0; [`Error::Numerical`] if a product is not finite;
/// [`Error::OutOfMemory`]; errors of `multiply`.
pub fn expect_adjoint<T: Scalar>(
    (rows, columns): (usize, usize),
    number: u32,
    multiply: &mut Multiply<'_, T>,
) -> Result<Option<f64>> {
    const WHAT: &str = "vectors that test an adjoint";
    let mut x = alloc::filled(WHAT, columns, T::default())?;
    fill(&mut x, number);
    let mut y = alloc::filled(WHAT, rows, T::default())?;
    // A product with the adjoint first would not show that entries of its result are missing.
    multiply(Op::Plain, &x, &mut y)?;
    if has_infinity(&y) {
        // The product with a vector of norm at most 1 may be finite.
        let by = 0.5 / power_of_two(norm(&x));
        x.iter_mut().for_each(|x| *x = T::from_parts(x.re() * by, x.im() * by));
        multiply(Op::Plain, &x, &mut y)?;
    }
    let (unit, ax) = (unit_of(&y), norm(&y));
    if !ax.is_finite() {
        return Err(not_finite(Op::Plain));
    }
    let mut back = alloc::filled(WHAT, columns, T::default())?;
    if ax == 0.0 {
        fill(&mut y, number);
        multiply(Op::Adjoint, &y, &mut back)?;
        return expect_zero((rows, columns), &y, &back).map(|()| None);
    }
    // Powers of two, so that this part of Y times `size` is A X.
    let size = 2.0 * power_of_two(ax);
    let by = unit / size;
    y.iter_mut().for_each(|y| *y = T::from_parts(y.re() / unit * by, y.im() / unit * by));
    // <Y, A X> over `size`, of the vectors as they are rounded.
    let inner = add_random(&mut y, number ^ 2);
    let y_norm = norm(&y);
    multiply(Op::Adjoint, &y, &mut back)?;
    if !norm(&back).is_finite() {
        return Err(not_finite(Op::Adjoint));
    }
    let found = modulus(dot(&back, &x) - inner * T::Wide::from_parts(size, 0.0));
    let (inner, size) = (modulus(inner) * size, y_norm * ax);
    let numbers = Numbers { found, inner, size, of: "||Y|| ||A X||", x: norm(&x), ax, y: y_norm, count: 1 };
    expect_equal::<T>((rows, columns), &numbers).map(|_| Some(norm(&back) / y_norm))
}

/// Adds a random vector of about the norm of `y` to it. Returns <Y, y> for the sum Y and y before.
fn add_random<T: Scalar>(y: &mut [T], number: u32) -> T::Wide {
    // Uniform numbers in [-1, 1] have the variance 1/3.
    let parts = if T::IS_COMPLEX { 2.0 } else { 1.0 };
    let by = norm(y) / (y.len() as f64 * parts / 3.0).sqrt();
    let mut inner = T::Wide::default();
    for (i, y) in y.iter_mut().enumerate() {
        let random = random::<T>(i, number);
        let sum = T::from_parts(y.re() + random.re() * by, y.im() + random.im() * by);
        inner += sum.conjugate().widen() * y.widen();
        *y = sum;
    }
    inner
}

/// Fills a vector with the random numbers of stream `number`, both parts of complex ones: with a real X the conjugate of
/// A^H Y would pass the test.
fn fill<T: Scalar>(x: &mut [T], number: u32) {
    x.iter_mut().enumerate().for_each(|(i, x)| *x = random(i, number));
}

/// Entry `i` of the random vector of that number.
fn random<T: Scalar>(i: usize, number: u32) -> T {
    let part = |column: u32| rng::uniform(0, rng::stream::STARTS, to_u64(i), column);
    T::from_parts(part(number), if T::IS_COMPLEX { part(number ^ 1) } else { 0.0 })
}

/// Whether a number is infinite and none is NaN.
fn has_infinity<T: Scalar>(y: &[T]) -> bool {
    let parts = || y.iter().flat_map(|y| [y.re(), y.im()]);
    parts().any(f64::is_infinite) && !parts().any(f64::is_nan)
}

/// The error of a product that is not finite.
fn not_finite(op: Op) -> Error {
    let whose = if op == Op::Plain { "A" } else { "its adjoint" };
    Error::Numerical(format!("a: the product of {whose} with a random vector has a number that is not finite"))
}

/// Refuses the product A^H Y for a random Y if it is not 0, where A X is 0 for a random X.
fn expect_zero<T: Scalar>((rows, columns): (usize, usize), y: &[T], back: &[T]) -> Result<()> {
    let size = norm(back);
    let limit = underflow_of::<T>(rows.saturating_add(columns), 1, norm(y));
    if size <= limit {
        return Ok(());
    }
    // The norm is NaN if the product has a NaN.
    if !size.is_finite() {
        return Err(not_finite(Op::Adjoint));
    }
    let problem =
        format!("adjoint is not that of A: A X is 0 for a random X, and ||A^H Y|| is {size:.1e} for a random Y");
    Err(Error::invalid("a", problem))
}

/// By how much products of `count` vectors of norm `size` may change a sum of `terms` terms by underflow: each loses less
/// than the least normal number.
fn underflow_of<T: Scalar>(terms: usize, count: usize, size: f64) -> f64 {
    let least = if T::DTYPE.is_single() { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    terms as f64 * least * (count as f64).sqrt() * size
}

/// x^H y, summed in double precision.
pub fn dot<T: Scalar>(x: &[T], y: &[T]) -> T::Wide {
    let mut sums = [T::Wide::default(); LANES];
    let mut add = |x: &[T], y: &[T]| {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x.conjugate().widen() * y.widen();
        }
    };
    let length = x.len().min(y.len());
    let ((xs, x), (ys, y)) = (x[..length].as_chunks::<LANES>(), y[..length].as_chunks::<LANES>());
    for (x, y) in xs.iter().zip(ys) {
        add(x, y);
    }
    add(x, y);
    sums.into_iter().fold(T::Wide::default(), |all, sum| all + sum)
}

/// The Frobenius norm. No square overflows or underflows but for those that do not count.
pub fn norm<T: Scalar>(values: &[T]) -> f64 {
    // Squares of F32 numbers neither overflow nor underflow in F64.
    let unit = if T::DTYPE.is_single() { 1.0 } else { unit_of(values) };
    norm_from(values, [0.0; 2], unit)
}

/// The power of two by which the largest of `values` is divided before it is squared.
pub fn unit_of<T: Scalar>(values: &[T]) -> f64 {
    let mut most = [0.0f64; LANES];
    let mut add = |values: &[T]| {
        for (most, x) in most.iter_mut().zip(values) {
            // Ignore NaN.
            let larger = |most: f64, part: f64| if part.abs() > most { part.abs() } else { most };
            *most = larger(*most, x.re());
            if T::IS_COMPLEX {
                *most = larger(*most, x.im());
            }
        }
    };
    let (chunks, rest) = values.as_chunks::<LANES>();
    chunks.iter().for_each(|values| add(values));
    add(rest);
    power_of_two(most.into_iter().fold(0.0, f64::max))
}

/// The norm of `values` less one number, whose parts are given in the unit, a power of two.
pub fn norm_from<T: Scalar>(values: &[T], [re, im]: [f64; 2], unit: f64) -> f64 {
    let mut squares = [0.0f64; LANES];
    let per_unit = 1.0 / unit;
    let mut add = |values: &[T]| {
        for (sum, x) in squares.iter_mut().zip(values) {
            let far = x.re() * per_unit - re;
            *sum += far * far;
            if T::IS_COMPLEX {
                let far = x.im() * per_unit - im;
                *sum += far * far;
            }
        }
    };
    let (chunks, rest) = values.as_chunks::<LANES>();
    chunks.iter().for_each(|values| add(values));
    add(rest);
    squares.iter().sum::<f64>().sqrt() * unit
}

/// |x|.
pub fn modulus<T: Scalar>(x: T) -> f64 {
    x.re().hypot(x.im())
}
