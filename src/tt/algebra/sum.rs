//! Linear combinations, and multiplication by factors that may be beyond the range of the type.

use super::levels::Levels;
use super::place::{Place, begin, bytes, bytes_mut, common_type, finish, read_as};
use super::structure::{host_copy, parts_mut, sizes};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::choice::numbered;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Real, Scalar, with_scalar};
use crate::shape::to_i64;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::balance;
use crate::trains::scaled::{Scaled, exponent_of, scale as times_power};

/// The cores that a factor multiplies. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(i32)]
pub enum Spread {
    /// The first core. If it would leave the range of the type or lose small entries, the power of two is distributed
    /// over all cores, so that they get similar magnitudes.
    #[default]
    Auto = 0,
    /// The first core alone.
    First = 1,
    /// The phase and the leading digits multiply the first core, an equal power of two each core. A core that would
    /// lose small entries gets another power.
    Even = 2,
}

numbered!(Spread, Auto, First, Even);

/// Returns an error for a factor that is not finite, and for one with an imaginary part and a real type.
pub(super) fn check_factor(argument: &str, factor: Complex<f64>, dtype: DType) -> Result<()> {
    check_scaled(argument, Scaled { mantissa: factor, exponent: 0 }, dtype)
}

fn check_scaled(argument: &str, Scaled { mantissa: factor, exponent }: Scaled, dtype: DType) -> Result<()> {
    if !factor.re.is_finite() || !factor.im.is_finite() {
        return Err(Error::invalid(argument, format!("is {} + {} i, not finite", factor.re, factor.im)));
    }
    if factor.im != 0.0 && !dtype.is_complex() {
        let part = times_power(factor.im, exponent);
        return Err(Error::invalid(argument, format!("has the imaginary part {part} for {}", dtype.name())));
    }
    Ok(())
}

/// alpha x + beta y, exactly. Its ranks are the sums of those of x and y, except at the ends if both are open. A real
/// train is converted to complex if the other is complex. The factors multiply the first core.
///
/// # Errors
/// [`Error::InvalidArgument`] for other mode sizes, for types of different precision, for factors that are not finite or
/// not real where the type is; as [`super::copy`].
pub fn add(
    at: &Place<'_>,
    alpha: Complex<f64>,
    x: &TensorTrain,
    beta: Complex<f64>,
    y: &TensorTrain,
) -> Result<TensorTrain> {
    at.check()?;
    let dtype = common_type("y", x.dtype(), y.dtype())?;
    y.shape().expect_modes("y", x.shape().modes(), "x")?;
    check_factor("alpha", alpha, dtype)?;
    check_factor("beta", beta, dtype)?;
    let (a, b) = (x.shape(), y.shape());
    let open = !a.is_cyclic() && !b.is_cyclic();
    let d = a.len();
    let (_, mut ranks) = sizes(d)?;
    for (k, (r, s)) in a.ranks().iter().zip(b.ranks()).enumerate() {
        ranks.push(if open && (k == 0 || k == d) { 1 } else { r + s });
    }
    let shape = Shape::new("y", a.modes(), &ranks)?;
    let (x, y) = (read_as(at, "x", x, dtype)?, read_as(at, "y", y, dtype)?);
    let mut result = begin(at, dtype, shape)?;
    if open && d == 1 && !(is_summed_safely(at, alpha, &x)? && is_summed_safely(at, beta, &y)?) {
        with_scalar!(dtype, "x", T => add_apart::<T>((alpha, &x), (beta, &y), &mut result))?;
        return finish(at, result);
    }
    let (alpha, x_scaled) = scaled_apart(at, "alpha", alpha, &x)?;
    let (beta, y_scaled) = scaled_apart(at, "beta", beta, &y)?;
    let (x, y) = ((alpha, x_scaled.as_ref().unwrap_or(&x)), (beta, y_scaled.as_ref().unwrap_or(&y)));
    with_scalar!(dtype, "x", T => add_cores::<T>(at, x, y, open, &mut result))?;
    finish(at, result)
}

/// Prepares `plain` x for a sum. Usually returns the factor for the first core. If the first core would leave the range
/// of the type or lose digits, returns 1 and the product with the factor's power of two distributed over all cores.
fn scaled_apart(
    at: &Place<'_>,
    argument: &str,
    plain: Complex<f64>,
    x: &TensorTrain,
) -> Result<(Complex<f64>, Option<TensorTrain>)> {
    let (one, factor) = (Complex::new(1.0, 0.0), Scaled::new(plain, 0));
    if factor.is_zero() || factor == Scaled::ONE {
        return Ok((plain, None));
    }
    let there = Place { location: Location::Host, ..*at };
    let (low, first) = balance::ends(x, 0, at.context.isa())?;
    if first == 0.0 {
        // A core of zeros stays 0 with any factor, even one beyond the range of the type.
        return Ok((one, None));
    }
    let is_safe = safe_exponents(x.dtype()).contains(&(exponent_of(first) + factor.exponent));
    // The factor's mantissa changes the exponent of an entry by at most 1.
    if is_safe && is_held(factor, x.dtype()) && exponent_of(low) + factor.exponent > x.dtype().least_exponent() {
        return Ok((plain, None));
    }
    Ok((one, Some(scaled(&there, argument, factor, x, Spread::Auto)?)))
}

/// Whether the type holds all digits of the factor, which is in double precision.
fn is_held(factor: Scaled, dtype: DType) -> bool {
    !dtype.is_single() || (dtype.least_exponent()..dtype.largest_exponent()).contains(&factor.exponent)
}

/// Whether trains of one core can be added in arithmetic of their type: factor x has all its digits and is less than a
/// quarter of the largest number.
fn is_summed_safely(at: &Place<'_>, factor: Complex<f64>, x: &TensorTrain) -> Result<bool> {
    let (low, high) = balance::ends(x, 0, at.context.isa())?;
    let (factor, dtype) = (Scaled::new(factor, 0), x.dtype());
    if factor.is_zero() || high == 0.0 && is_held(factor, dtype) {
        return Ok(true);
    }
    let (least, most) = (dtype.least_exponent(), dtype.largest_exponent() - 2);
    let is_exact = factor == Scaled::ONE || is_held(factor, dtype) && exponent_of(low) + factor.exponent > least;
    // A part of a complex product may be twice the product of the largest parts.
    Ok(is_exact && exponent_of(high) + factor.exponent < most)
}

/// The sum of two trains of one core, with a separate exponent for each number.
fn add_apart<T: Scalar>(
    (alpha, x): (Complex<f64>, &TensorTrain),
    (beta, y): (Complex<f64>, &TensorTrain),
    result: &mut TensorTrain,
) -> Result<()> {
    let (x, y) = (x.cores::<T>("x")?, y.cores::<T>("y")?);
    let are_real = alpha.im == 0.0 && beta.im == 0.0;
    let sum = |x: Complex<f64>, y: Complex<f64>| {
        let times = |factor: Complex<f64>, x| Scaled::new(factor, 0).times(Scaled::new(x, 0));
        times(alpha, x).plus(times(beta, y))
    };
    let mut beyond = None;
    let mut cores = result.cores_mut::<T>("result")?;
    for (z, (x, y)) in cores.core(0).iter_mut().zip(x.core(0).iter().zip(y.core(0))) {
        let (x, y) = (Complex::new(x.re(), x.im()), Complex::new(y.re(), y.im()));
        let wide = |s: Scaled| (times_power(s.mantissa.re, s.exponent), times_power(s.mantissa.im, s.exponent));
        let size = if are_real {
            // With real factors, the real and the imaginary parts are added separately: their exponents may differ
            // much.
            let [re, im] = [(x.re, y.re), (x.im, y.im)].map(|(x, y)| sum(x.into(), y.into()));
            *z = T::from_parts(wide(re).0, wide(im).0);
            re.exponent.max(im.exponent)
        } else {
            let both = sum(x, y);
            let (re, im) = wide(both);
            *z = T::from_parts(re, im);
            both.exponent
        };
        let is_finite = |re: f64, im: f64| re.is_finite() && im.is_finite();
        if !is_finite(z.re(), z.im()) && is_finite(x.re, x.im) && is_finite(y.re, y.im) {
            beyond = beyond.max(Some(size));
        }
    }
    match beyond {
        None => Ok(()),
        Some(size) => {
            let dtype = T::DTYPE.name();
            Err(Error::Numerical(format!(
                "result: its core would be of magnitude 2^{size}, beyond the range of {dtype}"
            )))
        }
    }
}

fn add_cores<T: Scalar>(
    at: &Place<'_>,
    (alpha, x): (Complex<f64>, &TensorTrain),
    (beta, y): (Complex<f64>, &TensorTrain),
    open: bool,
    result: &mut TensorTrain,
) -> Result<()> {
    let shape = result.shape().clone();
    let (x, y) = (x.cores::<T>("x")?, y.cores::<T>("y")?);
    let cores = result.cores_mut::<T>("result")?.into_vec();
    let last = cores.len() - 1;
    at.context.pool().run(|| {
        cores.into_par_iter().enumerate().try_for_each(|(k, out)| {
            at.cancel.check()?;
            let [height, _, _] = shape.core(k);
            let factor = |f| if k == 0 { f } else { Complex::new(1.0, 0.0) };
            let [row, _, column] = x.shape().core(k);
            place_core(factor(alpha), x.core(k), x.shape().core(k), out, (0, 0), height);
            let row = if open && k == 0 { 0 } else { row };
            let column = if open && k == last { 0 } else { column };
            place_core(factor(beta), y.core(k), y.shape().core(k), out, (row, column), height);
            Ok(())
        })
    })
}

/// Adds a multiple of a core to a larger core with `height` rows, from (row, column) on.
fn place_core<T: Scalar>(
    factor: Complex<f64>,
    core: &[T],
    [r, n, s]: [usize; 3],
    out: &mut [T],
    (row, column): (usize, usize),
    height: usize,
) {
    let one = factor == Complex::new(1.0, 0.0);
    let factor = T::from_parts(factor.re, factor.im);
    for (j, from) in core.chunks_exact(r).enumerate().take(n * s) {
        let first = row + height * (column * n + j);
        for (y, x) in out[first..first + r].iter_mut().zip(from) {
            *y += if one { *x } else { factor * *x };
        }
    }
}

/// Exponents of a core's largest entry with which no digits are lost: the range above is for sums, below for small
/// entries.
fn safe_exponents(dtype: DType) -> std::ops::RangeInclusive<i64> {
    if dtype.is_single() { -90..=120 } else { -900..=1000 }
}

/// factor x. `spread` chooses the cores that are multiplied.
///
/// # Errors
/// [`Error::InvalidArgument`] for a factor that is not finite or not real where the type is; [`Error::Numerical`] if the
/// cores leave the range of the type, or would lose numbers that count; as [`super::copy`].
pub fn scale(at: &Place<'_>, factor: Scaled, x: &TensorTrain, spread: Spread) -> Result<TensorTrain> {
    at.check()?;
    scaled(at, "factor", factor, x, spread)
}

/// [`scale`] by a factor that errors call `argument`.
fn scaled(at: &Place<'_>, argument: &str, factor: Scaled, x: &TensorTrain, spread: Spread) -> Result<TensorTrain> {
    check_scaled(argument, factor, x.dtype())?;
    let mut result = host_copy(at, x)?;
    let (mut mantissa, mut exponent) = (factor.mantissa, factor.exponent);
    if is_sign(mantissa * 2.0) {
        // A power of two is exact in any core, so it can be moved to the exponent.
        (mantissa, exponent) = (mantissa * 2.0, exponent - 1);
    }
    let taken = take_mantissa(at, mantissa, spread, &mut result)?;
    if factor.is_zero() || exponent == 0 && taken.moved == 0 && !taken.has_lost {
        return finish(at, result);
    }
    let Some(mut peaks) = peaks(at, &mut result)? else { return finish(at, result) };
    let mut shifts = shifts_of(spread, exponent, &peaks, taken, x.dtype())?;
    let (least, most) = (x.dtype().least_exponent(), x.dtype().largest_exponent());
    let is_beyond = |peaks: &[i64], shifts: &[i64]| {
        let of = |k: usize| peaks[k].saturating_add(shifts[k]);
        // A core whose largest entry was subnormal before may stay so.
        let below = |k: usize| if k == taken.core { least.min(peaks[k] - taken.moved) } else { least };
        (0..peaks.len()).find(|&k| !(below(k)..=most).contains(&of(k)))
    };
    // Small entries of one core may be multiplied by large ones of the next.
    if taken.has_lost || is_beyond(&peaks, &shifts).is_some() || is_lossy(at, &result, &shifts)? {
        let held = |x: &TensorTrain| match Levels::new(at, x, x.dtype())? {
            Some(levels) if spread != Spread::First => levels.shifts(exponent.saturating_sub(taken.moved)),
            _ => Ok(None),
        };
        if let Some(found) = held(&result)? {
            shifts = found;
        } else if let Some(copy) = balance::for_product(at.context, &result)?.0 {
            for k in 0..peaks.len() {
                bytes_mut(&mut result, k)?.copy_from_slice(bytes(&copy, k)?);
            }
            let Some(found) = self::peaks(at, &mut result)? else { return finish(at, result) };
            shifts = shifts_of(spread, exponent, &found, taken, x.dtype())?;
            peaks = found;
            if (is_beyond(&peaks, &shifts).is_some() || is_lossy(at, &result, &shifts)?)
                && let Some(found) = held(&result)?
            {
                shifts = found;
            }
        }
    }
    if let Some(k) = is_beyond(&peaks, &shifts) {
        let (peak, shift) = (peaks[k], shifts[k]);
        return Err(Error::Numerical(format!(
            "{argument}: core {k} of magnitude 2^{peak} times 2^{shift} is beyond the range of {}",
            x.dtype().name()
        )));
    }
    if let Some(levels) = Levels::new(at, &result, x.dtype())? {
        let mut lost = alloc::filled("exponents of cores", peaks.len(), false)?;
        lost[taken.core] = taken.has_lost;
        levels.expect_held(at, argument, &mut result, &shifts, &lost)?;
    }
    shift(at, &mut result, &shifts)?;
    finish(at, result)
}

/// Whether a number is 1, -1, i or -i: a product with it is exact.
fn is_sign(x: Complex<f64>) -> bool {
    (x.re.abs(), x.im.abs()) == (1.0, 0.0) || (x.re.abs(), x.im.abs()) == (0.0, 1.0)
}

/// The core that was multiplied by the mantissa of a factor.
#[derive(Clone, Copy)]
struct Taken {
    core: usize,
    /// Exponent of the power of two by which the core was multiplied first, so that the products stay in the range of
    /// the type.
    moved: i64,
    /// Whether small entries lost digits in spite of it.
    has_lost: bool,
}

/// Multiplies one core by a mantissa: the first core, or, if that would lose digits and `spread` allows other cores,
/// the next core that loses none.
fn take_mantissa(at: &Place<'_>, mantissa: Complex<f64>, spread: Spread, x: &mut TensorTrain) -> Result<Taken> {
    let mut best = Taken { core: 0, moved: 0, has_lost: false };
    if mantissa == Complex::new(1.0, 0.0) {
        return Ok(best);
    }
    if mantissa != Complex::new(0.0, 0.0) && !is_sign(mantissa) {
        let count = if spread == Spread::Auto { x.shape().len() } else { 1 };
        for core in 0..count {
            let (low, high) = balance::ends(x, core, at.context.isa())?;
            let found = Taken { core, ..power_taken(x.dtype(), mantissa, low, high) };
            if core == 0 || !found.has_lost {
                best = found;
            }
            if !best.has_lost {
                break;
            }
        }
    }
    with_scalar!(x.dtype(), "x", T => multiply_core::<T>(at, mantissa, best, x))?;
    Ok(best)
}

/// The power of two by which a core with entries between `low` and `high` is multiplied before the mantissa.
fn power_taken(dtype: DType, mantissa: Complex<f64>, low: f64, high: f64) -> Taken {
    let none = Taken { core: 0, moved: 0, has_lost: false };
    if high == 0.0 || !high.is_finite() {
        return none;
    }
    // The mantissa lowers an exponent by at most 1. A part of a complex product may be twice as large.
    let up = dtype.least_exponent() + 1 - exponent_of(low);
    let down = dtype.largest_exponent() - exponent_of(high) - i64::from(mantissa.im != 0.0);
    if up <= 0 && down >= 0 {
        return none;
    }
    Taken { moved: if up > 0 { up.min(down) } else { down }, has_lost: up > down, ..none }
}

/// The exponents of the powers of two for the cores. `peaks` has the exponents of their largest entries.
fn shifts_of(spread: Spread, exponent: i64, peaks: &[i64], taken: Taken, dtype: DType) -> Result<Vec<i64>> {
    let mut shifts = alloc::filled("exponents of cores", peaks.len(), 0i64)?;
    // The core that was multiplied by the mantissa is divided by its power of two.
    let back = |k: usize| if k == taken.core { taken.moved } else { 0 };
    match spread {
        Spread::Auto if !safe_exponents(dtype).contains(&(peaks[0] - back(0)).saturating_add(exponent)) => {
            share(
                &mut shifts,
                peaks.iter().fold(exponent.saturating_sub(taken.moved), |sum, p| sum.saturating_add(*p)),
            );
            shifts.iter_mut().zip(peaks).for_each(|(s, p)| *s -= p);
            return Ok(shifts);
        }
        Spread::Auto | Spread::First => shifts[0] = exponent,
        Spread::Even => share(&mut shifts, exponent),
    }
    shifts[taken.core] = shifts[taken.core].saturating_sub(taken.moved);
    Ok(shifts)
}

/// Whether entries of a host train lose digits if its cores are multiplied by these powers of two.
fn is_lossy(at: &Place<'_>, x: &TensorTrain, shifts: &[i64]) -> Result<bool> {
    for (k, &shift) in shifts.iter().enumerate().filter(|(_, shift)| **shift < 0) {
        let (low, high) = balance::ends(x, k, at.context.isa())?;
        if high != 0.0 && exponent_of(low).saturating_add(shift) < x.dtype().least_exponent() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Multiplies a train by 2^exponent, distributed so that all cores get the same magnitude as far as their small entries
/// allow. Cores of `lost` have already lost entries below the smallest normal number.
///
/// # Errors
/// [`Error::Numerical`] if a core leaves the range of the type, or would lose numbers that count.
pub(super) fn spread(at: &Place<'_>, train: &mut TensorTrain, exponent: i64, lost: &[bool]) -> Result<()> {
    let Some(peaks) = peaks(at, train)? else { return Ok(()) };
    let mut shifts = alloc::filled("exponents of cores", train.shape().len(), 0i64)?;
    share(&mut shifts, peaks.iter().fold(exponent, |sum, p| sum.saturating_add(*p)));
    shifts.iter_mut().zip(&peaks).for_each(|(s, p)| *s -= p);
    let wide = train.dtype().exponent_range();
    if let Some((s, p)) = shifts.iter().zip(&peaks).find(|(s, p)| !wide.contains(&p.saturating_add(**s))) {
        return Err(Error::Numerical(format!(
            "result: its cores would be of magnitude 2^{}, beyond the range of {}",
            s.saturating_add(*p),
            train.dtype().name()
        )));
    }
    let Some(levels) = Levels::new(at, train, train.dtype())? else { return Ok(()) };
    if (0..shifts.len()).any(|k| levels.is_lossy(k, shifts[k]))
        && let Some(found) = levels.shifts(exponent)?
    {
        shifts = found;
    }
    levels.expect_held(at, "result", train, &shifts, lost)?;
    shift(at, train, &shifts)
}

/// A copy of a train in double precision that can be converted to single precision; `None` if the train can be
/// converted as it is. If an entry would underflow, the bonds are balanced first, because a later core may make it
/// large. Then the cores get powers of two if their largest entries need them.
///
/// # Errors
/// [`Error::Numerical`] if no powers of two bring the cores into the range.
pub(super) fn level_for_single(at: &Place<'_>, x: &TensorTrain) -> Result<Option<TensorTrain>> {
    // The lower limit leaves range for entries far below the largest one of a core.
    const HELD: std::ops::RangeInclusive<i64> = -100..=127;
    let mut is_held = true;
    for k in 0..x.shape().len() {
        at.cancel.check()?;
        let (low, high) = balance::ends(x, k, at.context.isa())?;
        let is_empty = high == 0.0;
        is_held &= is_empty || !high.is_finite() || HELD.contains(&exponent_of(high)) && exponent_of(low) >= -125;
    }
    if is_held {
        return Ok(None);
    }
    let balanced = balance::for_single(at.context, x)?;
    let mut copy = match balanced {
        Some(copy) => copy,
        None => host_copy(at, x)?,
    };
    let Some(levels) = Levels::new(at, &copy, DType::F32)? else {
        // The tensor is 0. Scale the other cores so that they do not overflow.
        let mut shifts = alloc::filled("exponents of cores", x.shape().len(), 0i64)?;
        for (k, shift) in shifts.iter_mut().enumerate() {
            let peak = exponent_of(largest::<f64>(at, &mut copy, k)?);
            *shift = if HELD.contains(&peak) { 0 } else { -peak };
        }
        shift(at, &mut copy, &shifts)?;
        return Ok(Some(copy));
    };
    let Some(found) = peaks(at, &mut copy)? else { return Ok(Some(copy)) };
    let are_held = found.iter().all(|p| HELD.contains(p));
    if are_held && !(0..found.len()).any(|k| levels.is_lossy(k, 0)) {
        return Ok(Some(copy));
    }
    if let Some(shifts) = levels.shifts(0)? {
        shift(at, &mut copy, &shifts)?;
        return Ok(Some(copy));
    }
    if are_held {
        return Ok(Some(copy));
    }
    spread(at, &mut copy, 0, &[])?;
    match peaks(at, &mut copy)?.unwrap_or_default().iter().find(|p| !(-125..=127).contains(*p)) {
        Some(p) => {
            Err(Error::Numerical(format!("result: its cores would be of magnitude 2^{p}, beyond the range of F32")))
        }
        None => Ok(Some(copy)),
    }
}

/// Multiplies core `to.core` by 2^`to.moved`, and then by the mantissa.
fn multiply_core<T: Scalar>(at: &Place<'_>, mantissa: Complex<f64>, to: Taken, train: &mut TensorTrain) -> Result<()> {
    let factor = T::from_parts(mantissa.re, mantissa.im);
    let moved = |x: T| match to.moved {
        0 => x,
        e => T::from_parts(times_power(x.re(), e), times_power(x.im(), e)),
    };
    let mut cores = train.cores_mut::<T>("result")?;
    let core = cores.core(to.core);
    at.context.pool().run(|| core.iter_mut().for_each(|x| *x = factor * moved(*x)));
    Ok(())
}

/// Divides a sum of exponents equally. If it does not divide evenly, the first parts are larger by one.
fn share(parts: &mut [i64], sum: i64) {
    let d = to_i64(parts.len());
    let (quotient, rest) = (sum.div_euclid(d), sum.rem_euclid(d));
    for (k, part) in (0..).zip(parts) {
        *part = quotient + i64::from(k < rest);
    }
}

/// Exponents of the largest part of each core; `None` if a core is zero, which makes the tensor zero.
fn peaks(at: &Place<'_>, train: &mut TensorTrain) -> Result<Option<Vec<i64>>> {
    let d = train.shape().len();
    let mut peaks = alloc::with_capacity("exponents of cores", d)?;
    for k in 0..d {
        at.cancel.check()?;
        let peak =
            if train.dtype().is_single() { largest::<f32>(at, train, k)? } else { largest::<f64>(at, train, k)? };
        if peak == 0.0 {
            return Ok(None);
        }
        peaks.push(exponent_of(peak));
    }
    Ok(Some(peaks))
}

fn largest<P: Real>(at: &Place<'_>, train: &mut TensorTrain, k: usize) -> Result<f64> {
    let parts = parts_mut::<P>(train, k)?;
    Ok(at.context.pool().run(|| parts.iter().fold(0.0f64, |most, x| most.max(x.abs().to_f64()))))
}

/// Multiplies each core by a power of two.
fn shift(at: &Place<'_>, train: &mut TensorTrain, shifts: &[i64]) -> Result<()> {
    for (k, &e) in shifts.iter().enumerate().filter(|(_, e)| **e != 0) {
        at.cancel.check()?;
        if train.dtype().is_single() {
            shift_core::<f32>(at, train, k, e)?;
        } else {
            shift_core::<f64>(at, train, k, e)?;
        }
    }
    Ok(())
}

fn shift_core<P: Real>(at: &Place<'_>, train: &mut TensorTrain, k: usize, e: i64) -> Result<()> {
    let parts = parts_mut::<P>(train, k)?;
    at.context.pool().run(|| {
        parts.par_chunks_mut(1 << 14).for_each(|part| {
            part.iter_mut().for_each(|x| *x = P::from_f64(times_power(x.to_f64(), e)));
        });
    });
    Ok(())
}
