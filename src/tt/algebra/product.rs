//! Products of trains entry by entry, and of TT-matrices with trains. Their ranks are the products of the operands'
//! ranks.
//!
//! A bond of the result is a pair of bonds. That of x, or of the right matrix, is the fastest index.

use std::cell::Cell;

use super::erased::Values;
use super::place::{HostTrain, Place, begin, common_type, expect_finite, finish, read_as};
use super::round::{self, FormedCore, Source};
use super::structure::sizes;
use super::sum::spread;
use super::truncate::{Truncated, Truncation};
use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::shape::product;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain, TrainMatrix};
use crate::trains::balance;
use crate::trains::scaled::{Scaled, exponent_of, scale as times_power};

/// Operands of a product of trains, in host memory.
pub(super) enum Pair<'a> {
    /// Two trains that are multiplied entry by entry.
    Entries(HostTrain<'a>, HostTrain<'a>),
    /// A TT-matrix with cores (w, m, n, w') and a train with cores (r, n, c, r'), where c is 1 unless the train is that
    /// of a TT-matrix.
    Matrix { h: HostTrain<'a>, x: HostTrain<'a>, rows: Vec<usize>, columns: Vec<usize> },
}

/// An operand in host memory with elements of `dtype`. If the entries at its bonds differ much, they are balanced by
/// powers of two: exponents in the product of two unbalanced trains would differ twice as much, and small entries would
/// underflow. If balancing itself would lose digits, the train is not balanced, and the flag is set. These digits may
/// matter even in a rounded product, because its norm may be far below the norms of the operands.
fn operand<'a>(at: &Place<'_>, argument: &str, x: &'a TensorTrain, dtype: DType) -> Result<(HostTrain<'a>, bool)> {
    let here = read_as(at, argument, x, dtype)?;
    let (copy, is_far) = balance::for_product(at.context, &here)?;
    Ok((copy.map_or(here, HostTrain::Copied), is_far))
}

/// A product whose cores have not been computed.
pub(super) struct Product<'a> {
    pair: Pair<'a>,
    shape: Shape,
    dtype: DType,
    /// Whether an operand could not be balanced without loss.
    is_far: bool,
}

impl<'a> Product<'a> {
    /// x y, entry by entry.
    fn entries(at: &Place<'_>, x: &'a TensorTrain, y: &'a TensorTrain) -> Result<Self> {
        let dtype = common_type("y", x.dtype(), y.dtype())?;
        y.shape().expect_modes("y", x.shape().modes(), "x")?;
        let shape = Shape::new("y", x.shape().modes(), &pairs_of_ranks("y", x.shape(), y.shape())?)?;
        let ((x, is_far), (y, is_too)) = (operand(at, "x", x, dtype)?, operand(at, "y", y, dtype)?);
        Ok(Self { pair: Pair::Entries(x, y), shape, dtype, is_far: is_far || is_too })
    }

    /// H x for a train x, or for the train of a TT-matrix if `columns` has its column modes.
    pub(super) fn matrix(
        at: &Place<'_>,
        h: &'a TrainMatrix,
        (argument, x): (&str, &'a TensorTrain),
        (modes, columns): (&[usize], Option<&[usize]>),
    ) -> Result<Self> {
        let dtype = common_type(argument, h.train().dtype(), x.dtype())?;
        let what = "shape of a TT-matrix";
        let d = h.cols().len();
        let columns = match columns {
            Some(columns) => alloc::copied(what, columns)?,
            None => alloc::filled(what, d, 1)?,
        };
        // `expect_modes` compares two shapes, so make one with the column modes of H.
        let ones = alloc::filled(what, d + 1, 1)?;
        Shape::new("h", h.cols(), &ones)?.expect_modes("h", modes, argument)?;
        let (mut out, _) = sizes(d)?;
        for (&m, &c) in h.rows().iter().zip(&columns) {
            out.push(product(argument, m, c)?);
        }
        let shape = Shape::new(argument, &out, &pairs_of_ranks(argument, x.shape(), h.train().shape())?)?;
        let rows = alloc::copied(what, h.rows())?;
        let ((h, is_far), (x, is_too)) = (operand(at, "h", h.train(), dtype)?, operand(at, argument, x, dtype)?);
        Ok(Self { pair: Pair::Matrix { h, x, rows, columns }, shape, dtype, is_far: is_far || is_too })
    }

    /// The product as a train.
    pub(super) fn form(&self, at: &Place<'_>) -> Result<TensorTrain> {
        let (mut result, exponents, lost) = self.form_apart(at)?;
        let all = exponents.iter().fold(0i64, |sum, e| sum.saturating_add(*e));
        if exponents.iter().any(|e| *e != 0) || lost.contains(&true) {
            spread(at, &mut result, all, &lost)?;
        }
        finish(at, result)
    }

    /// The product as a train in host memory, the exponents of the powers of two that its cores must be multiplied by,
    /// and for each core whether entries underflow in spite of it.
    fn form_apart(&self, at: &Place<'_>) -> Result<(TensorTrain, Vec<i64>, Vec<bool>)> {
        let mut result = begin(at, self.dtype, self.shape.clone())?;
        let mut exponents = alloc::filled("exponents of cores", self.shape.len(), 0i64)?;
        let mut lost = alloc::filled("exponents of cores", self.shape.len(), false)?;
        with_scalar!(self.dtype, "x", T => {
            let mut cores = result.cores_mut::<T>("result")?;
            exponents.iter_mut().zip(&mut lost).enumerate().try_for_each(|(k, (e, lost))| {
                at.cancel.check()?;
                (*e, *lost) = self.core::<T>(at, k, cores.core(k))?;
                Ok(())
            })
        })?;
        Ok((result, exponents, lost))
    }

    /// The rounded product. Its cores are computed one at a time. Only if entries may underflow, all cores are computed
    /// first and the bonds of the product are balanced. `names` are the operands' names in errors.
    pub(super) fn round(
        &self,
        at: &Place<'_>,
        names: [&str; 2],
        truncation: &Truncation<'_>,
    ) -> Result<(TensorTrain, Truncated)> {
        round::expect_open("product", &self.shape)?;
        truncation.check(self.shape.len())?;
        let (Pair::Entries(first, second) | Pair::Matrix { h: first, x: second, .. }) = &self.pair;
        expect_finite(at, names[0], first, true)?;
        expect_finite(at, names[1], second, true)?;
        let may_lose = Cell::new(false);
        let form = |k: usize| {
            let (values, exponent, lost) = with_scalar!(self.dtype, "x", T => self.formed::<T>(at, k))?;
            may_lose.set(may_lose.get() || lost);
            let low = self.low(at, k)?.saturating_sub(exponent);
            Ok(FormedCore { values, exponent, low })
        };
        if !self.is_far {
            let source = Source::Formed { shape: &self.shape, core: &form, may_lose: &may_lose };
            let rounded = round::round_source(at, "product", self.dtype, &source, truncation);
            // Other errors do not depend on the range of the type.
            if !may_lose.get() || !matches!(rounded, Ok(_) | Err(Error::Numerical(_))) {
                return rounded;
            }
        }
        self.round_formed(at, truncation)
    }

    /// Core k and its exponent and flag, as from [`Product::core`].
    fn formed<T: Scalar>(&self, at: &Place<'_>, k: usize) -> Result<(Values, i64, bool)> {
        let mut values = alloc::filled("core of a product", self.shape.core_len(k), T::default())?;
        let (exponent, lost) = self.core::<T>(at, k, &mut values)?;
        Ok((Values::new(values), exponent, lost))
    }

    /// [`Product::round`] with all cores of the product in memory at the same time and balanced bonds.
    fn round_formed(&self, at: &Place<'_>, truncation: &Truncation<'_>) -> Result<(TensorTrain, Truncated)> {
        let (product, exponents, lost) = self.form_apart(&Place { location: Location::Host, ..*at })?;
        // Upper bounds of the binary logarithms of the norms of the cores.
        let mut norms = alloc::with_capacity("norms of cores", self.shape.len())?;
        for (k, exponent) in exponents.iter().enumerate() {
            at.cancel.check()?;
            let (_, high) = balance::ends(&product, k, at.context.isa())?;
            // `ends` is exact within a factor of 2, and |re|, |im| within another.
            norms.push(high.log2() + 2.0 + 0.5 * (self.shape.core_len(k) as f64).log2() + *exponent as f64);
        }
        let all = norms.iter().sum::<f64>();
        let mut off = f64::NEG_INFINITY;
        for k in (0..self.shape.len()).filter(|k| lost[*k]) {
            let each = (self.dtype.least_exponent() - 1).saturating_add(exponents[k]) as f64;
            off = off.max(each + 0.5 * (self.shape.core_len(k) as f64).log2() + all - norms[k]);
        }
        let copy = balance::for_factors(at.context, at.stream, &product)?;
        let product = copy.unwrap_or(product);
        let core = |k: usize| {
            let values = with_scalar!(product.dtype(), "product", T => {
                alloc::copied("core of a product", product.cores::<T>("product")?.core(k)).map(Values::new)
            })?;
            Ok(FormedCore { values, exponent: exponents[k], low: 0 })
        };
        let source = Source::Formed { shape: &self.shape, core: &core, may_lose: &Cell::new(false) };
        let (rounded, truncated) = round::round_source(at, "product", self.dtype, &source, truncation)?;
        let norm = match truncated.norm {
            norm if norm.is_zero() => f64::NEG_INFINITY,
            norm => norm.mantissa.re.log2() + norm.exponent as f64,
        };
        let digits = if self.dtype.is_single() { 24.0 } else { 53.0 };
        if off > f64::NEG_INFINITY && off + (self.shape.len() as f64).log2() > norm - digits {
            let k = lost.iter().position(|lost| *lost).unwrap_or(0);
            return Err(Error::Numerical(format!(
                "result: core {k} would have numbers that count below the range of {}",
                self.dtype.name()
            )));
        }
        Ok((rounded, truncated))
    }

    /// A lower bound of the exponents of the nonzero entries of core k.
    fn low(&self, at: &Place<'_>, k: usize) -> Result<i64> {
        let (Pair::Entries(x, y) | Pair::Matrix { h: x, x: y, .. }) = &self.pair;
        let low = |x: &TensorTrain| Ok(exponent_of(balance::ends(x, k, at.context.isa())?.0));
        Ok(low(x)?.saturating_add(low(y)?) - 1)
    }

    /// Writes core k to `out`, which is zero. Returns the exponent of the power of two that the core must be multiplied
    /// by, and whether entries underflow in spite of it. The exponent is 0 unless products of entries leave the range
    /// of the type.
    fn core<T: Scalar>(&self, at: &Place<'_>, k: usize, out: &mut [T]) -> Result<(i64, bool)> {
        match &self.pair {
            Pair::Entries(x, y) => {
                let (a, b) = (x.shape().core(k), y.shape().core(k));
                let (x, y) = (x.core::<T>("x", k)?, y.core::<T>("y", k)?);
                let Some(scaled) = InRange::new(x, y)? else {
                    return apart(at, &|place| entry_of_entries((x, a), (y, b), place), out);
                };
                let (x, y) = scaled.of(x, y);
                at.context.pool().run(|| entries_core((x, a), (y, b), out));
                Ok((scaled.exponent, false))
            }
            Pair::Matrix { h, x, rows, columns } => {
                let ([w, _, v], [r, _, s]) = (h.shape().core(k), x.shape().core(k));
                let inner = x.shape().modes()[k] / columns[k];
                let sizes = Sizes { w, v, r, s, rows: rows[k], inner, columns: columns[k] };
                let (h, x) = (h.core::<T>("h", k)?, x.core::<T>("x", k)?);
                let Some(scaled) = InRange::new(h, x)? else {
                    let passes_zeros = is_finite(x);
                    return apart(at, &|place| entry_of_matrix(sizes, h, x, passes_zeros, place), out);
                };
                let (h, x) = scaled.of(h, x);
                at.context.pool().run(|| matrix_core(sizes, h, x, out));
                Ok((scaled.exponent, false))
            }
        }
    }
}

/// Two cores, scaled to [-1, 1] if products of their entries would leave the range of the type.
struct InRange<T> {
    copies: Option<[Vec<T>; 2]>,
    exponent: i64,
}

impl<T: Scalar> InRange<T> {
    /// `None` if the entries of a core differ so much that products of scaled entries would underflow.
    fn new(x: &[T], y: &[T]) -> Result<Option<Self>> {
        // Products of cores within these exponents stay in the range of the type.
        let (range, least) = if T::DTYPE.is_single() { (-40..=100, -125) } else { (-480..=900, -1021) };
        let of = |core: &[T]| {
            let sizes = core.iter().map(|x| x.re().abs().max(x.im().abs())).filter(|x| *x > 0.0 && x.is_finite());
            let (low, high) = sizes.fold((f64::INFINITY, 0.0f64), |(low, high), x| (low.min(x), high.max(x)));
            (exponent_of(low), exponent_of(high))
        };
        let ((x_low, p), (y_low, q)) = (of(x), of(y));
        // The product of numbers with exponents a and b has the exponent a + b - 1 or a + b.
        if range.contains(&(p + q)) && x_low + y_low > least {
            return Ok(Some(Self { copies: None, exponent: 0 }));
        }
        if x_low + y_low - p - q <= least {
            return Ok(None);
        }
        let copy = |core: &[T], by: i64| -> Result<Vec<T>> {
            let mut copy = alloc::with_capacity("core of a product", core.len())?;
            copy.extend(core.iter().map(|x| T::from_parts(times_power(x.re(), -by), times_power(x.im(), -by))));
            Ok(copy)
        };
        Ok(Some(Self { copies: Some([copy(x, p)?, copy(y, q)?]), exponent: p + q }))
    }

    fn of<'a>(&'a self, x: &'a [T], y: &'a [T]) -> (&'a [T], &'a [T]) {
        self.copies.as_ref().map_or((x, y), |[x, y]| (x, y))
    }
}

/// Entries that a task computes.
const CHUNK: usize = 1 << 10;

/// Writes the entries that `value` returns, each with its own exponent, to `out`, divided by one power of two. Returns
/// its exponent, and whether entries underflow. Then the largest entry is near the upper end of the range.
fn apart<T: Scalar>(at: &Place<'_>, value: &(dyn Fn(usize) -> Scaled + Sync), out: &mut [T]) -> Result<(i64, bool)> {
    let (least, most) = if T::DTYPE.is_single() { (-125, 100) } else { (-1021, 900) };
    let mut exponents = alloc::filled("core of a product", out.len(), None)?;
    at.context.pool().run(|| {
        exponents.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, part)| {
            for (i, exponent) in part.iter_mut().enumerate() {
                let value = value(chunk * CHUNK + i);
                *exponent = (value.is_finite() && !value.is_zero()).then_some(value.exponent);
            }
        });
    });
    let found = || exponents.iter().flatten().copied();
    let (low, high) = (found().min().unwrap_or(0), found().max().unwrap_or(0));
    let exponent = if low >= least && high <= most { 0 } else { (low - least).clamp(high - most, high) };
    at.context.pool().run(|| {
        out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, part)| {
            for (i, out) in part.iter_mut().enumerate() {
                let value = value(chunk * CHUNK + i).shifted(-exponent);
                let part = |x: f64| times_power(x, value.exponent);
                *out = T::from_parts(part(value.mantissa.re), part(value.mantissa.im));
            }
        });
    });
    Ok((exponent, low - exponent < least))
}

/// A number with a separate exponent.
fn apart_of<T: Scalar>(x: T) -> Scaled {
    Scaled::new(Complex::new(x.re(), x.im()), 0)
}

/// Entry `place` of [`entries_core`], with a separate exponent.
fn entry_of_entries<T: Scalar>((x, a): (&[T], [usize; 3]), (y, b): (&[T], [usize; 3]), place: usize) -> Scaled {
    let [r, n, s] = a;
    let (row, i, column) = (place % (r * b[0]), place / (r * b[0]) % n, place / (r * b[0] * n));
    let x = x[row % r + r * (i + n * (column % s))];
    let y = y[row / r + b[0] * (i + n * (column / s))];
    apart_of(x).times(apart_of(y))
}

/// Entry `place` of [`matrix_core`], with a separate exponent.
fn entry_of_matrix<T: Scalar>(sizes: Sizes, h: &[T], x: &[T], passes_zeros: bool, place: usize) -> Scaled {
    let Sizes { w, r, s, rows, inner, columns, .. } = sizes;
    let height = r * w * rows * columns;
    let (column, place) = (place / height, place % height);
    let (a, row, c) = (place % r, place / r % (w * rows), place / (r * w * rows));
    let x = &x[column % s * r * inner * columns + c * r * inner..];
    let h = &h[column / s * w * rows * inner..];
    let terms = (0..inner).map(|j| (h[row + w * rows * j], x[a + r * j]));
    let terms = terms.filter(|(factor, _)| !passes_zeros || *factor != T::default());
    terms.map(|(factor, x)| apart_of(factor).times(apart_of(x))).fold(Scaled::ZERO, Scaled::plus)
}

fn is_finite<T: Scalar>(values: &[T]) -> bool {
    values.iter().all(|x| x.re().is_finite() && x.im().is_finite())
}

fn pairs_of_ranks(argument: &str, x: &Shape, y: &Shape) -> Result<Vec<usize>> {
    let (_, mut ranks) = sizes(x.len())?;
    for (&r, &s) in x.ranks().iter().zip(y.ranks()) {
        ranks.push(product(argument, r, s)?);
    }
    Ok(ranks)
}

/// z[(a a'), i, (b b')] = x[a, i, b] y[a', i, b'].
fn entries_core<T: Scalar>((x, a): (&[T], [usize; 3]), (y, b): (&[T], [usize; 3]), out: &mut [T]) {
    let [r, n, s] = a;
    let height = r * b[0];
    out.par_chunks_mut(height * n).enumerate().for_each(|(column, out)| {
        let x = &x[column % s * r * n..][..r * n];
        let y = &y[column / s * b[0] * n..][..b[0] * n];
        for ((out, x), y) in out.chunks_exact_mut(height).zip(x.chunks_exact(r)).zip(y.chunks_exact(b[0])) {
            for (out, &y) in out.chunks_exact_mut(r).zip(y) {
                out.iter_mut().zip(x).for_each(|(z, &x)| *z = x * y);
            }
        }
    });
}

/// Sizes of a core (w, rows, inner, v) of the matrix and a core (r, inner, columns, s) of the right operand.
#[derive(Clone, Copy)]
struct Sizes {
    w: usize,
    v: usize,
    r: usize,
    s: usize,
    rows: usize,
    inner: usize,
    columns: usize,
}

/// z[(a w), (i c), (b v)] = sum over j of H[w, i, j, v] x[a, j, c, b]. If x is finite, zeros of H are skipped:
/// operators of spin chains have many. Otherwise they are multiplied, because 0 times infinity or NaN must give NaN.
fn matrix_core<T: Scalar>(sizes: Sizes, h: &[T], x: &[T], out: &mut [T]) {
    let Sizes { w, r, s, rows, inner, columns, v } = sizes;
    debug_assert_eq!(h.len(), w * rows * inner * v);
    let passes_zeros = is_finite(x);
    out.par_chunks_mut(r * w * rows * columns).enumerate().for_each(|(column, out)| {
        let x = &x[column % s * r * inner * columns..][..r * inner * columns];
        let h = &h[column / s * w * rows * inner..][..w * rows * inner];
        // Row (w, i) of the matrix and column c have one block of r elements in `out`.
        for (place, out) in out.chunks_exact_mut(r).enumerate() {
            let (row, c) = (place % (w * rows), place / (w * rows));
            for (j, x) in x[c * r * inner..][..r * inner].chunks_exact(r).enumerate() {
                let factor = h[row + w * rows * j];
                if !passes_zeros || factor != T::default() {
                    out.iter_mut().zip(x).for_each(|(z, &x)| *z += factor * x);
                }
            }
        }
    });
}

/// The train of the products of entries. Ranks multiply.
///
/// # Errors
/// [`crate::error::Error::InvalidArgument`] for other mode sizes and for types of different precision; as
/// [`super::copy`].
pub fn hadamard(at: &Place<'_>, x: &TensorTrain, y: &TensorTrain) -> Result<TensorTrain> {
    at.check()?;
    Product::entries(at, x, y)?.form(at)
}

/// [`hadamard`] and then [`super::round()`]. The cores of the product are in memory one at a time, unless the exponents
/// of its entries differ so much that the bonds must be balanced.
///
/// # Errors
/// As both.
pub fn hadamard_round(
    at: &Place<'_>,
    x: &TensorTrain,
    y: &TensorTrain,
    truncation: &Truncation<'_>,
) -> Result<(TensorTrain, Truncated)> {
    at.check()?;
    Product::entries(at, x, y)?.round(at, ["x", "y"], truncation)
}

/// H x: ranks multiply. An open train and a cyclic matrix, or the other way round, give a cyclic train.
///
/// # Errors
/// As [`hadamard`].
pub fn apply(at: &Place<'_>, h: &TrainMatrix, x: &TensorTrain) -> Result<TensorTrain> {
    at.check()?;
    Product::matrix(at, h, ("x", x), (x.shape().modes(), None))?.form(at)
}

/// [`apply`] and then [`super::round()`], without holding all cores of the product in memory, except as [`hadamard_round`].
///
/// # Errors
/// As both.
pub fn apply_round(
    at: &Place<'_>,
    h: &TrainMatrix,
    x: &TensorTrain,
    truncation: &Truncation<'_>,
) -> Result<(TensorTrain, Truncated)> {
    at.check()?;
    Product::matrix(at, h, ("x", x), (x.shape().modes(), None))?.round(at, ["h", "x"], truncation)
}
