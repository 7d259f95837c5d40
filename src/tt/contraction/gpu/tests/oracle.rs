//! Expected results from the CPU in double precision, and bounds of the errors.

use super::inputs::{Plain, cpu};
use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::trains::options::Conjugate;
use crate::trains::{Options, Scaled};

pub(super) fn epsilon(dtype: DType) -> f64 {
    if dtype.is_single() { f64::from(f32::EPSILON) } else { f64::EPSILON }
}

/// The same numbers rounded to this type, as a train in [`wide`] has them.
pub(super) fn rounded(p: &Plain, dtype: DType) -> Plain {
    let cut = |v: f64| if epsilon(dtype) > 1e-10 { f64::from(v as f32) } else { v };
    let cores = p.cores.iter().map(|c| c.iter().map(|&(re, im)| (cut(re), cut(im))).collect()).collect();
    Plain { modes: p.modes.clone(), ranks: p.ranks.clone(), cores }
}

/// The type of double precision, real or complex as the given one.
pub(super) fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F32 => DType::F64,
        DType::CF32 => DType::CF64,
        other => other,
    }
}

/// <x|y> on the CPU, and sqrt(<x|x> <y|y>), to which errors are relative.
pub(super) fn expected(x: &Plain, y: &Plain, types: (DType, DType), conjugate: Conjugate) -> (Scaled, Scaled) {
    expected_by(x, y, types, &Options { conjugate, ..Options::default() })
}

/// [`expected`] with given options.
pub(super) fn expected_by(x: &Plain, y: &Plain, types: (DType, DType), given: &Options) -> (Scaled, Scaled) {
    let context = cpu();
    let x = rounded(x, types.0).train(&context, wide(types.0), Location::Host);
    let y = rounded(y, types.1).train(&context, wide(types.1), Location::Host);
    let sum = |options: &Options, x: &TensorTrain, y: &TensorTrain| {
        Contraction::new(&context, options.clone()).unwrap().inner_scaled(None, x, y, None).unwrap().0
    };
    let bra = Options { conjugate: Conjugate::Bra, ..given.clone() };
    let (a, b) = (sum(&bra, &x, &x).re(), sum(&bra, &y, &y).re());
    (sum(given, &x, &y), a.times(b).sqrt())
}

/// Asserts that `got` differs from `want` by at most `bound` units of roundoff of |x| |y|.
pub(super) fn assert_close(what: &str, got: Scaled, want: Scaled, size: Scaled, bound: f64) {
    let difference = got.plus(want.times(Scaled::real(-1.0)));
    let error = difference.over(size).map_or(0.0, |q| q.log_abs().exp());
    assert!(error <= bound, "{what}: {got:?} for {want:?}, off by {error:e} of {size:?}, {bound:e} is allowed");
}

/// Asserts that cores of magnitude 2^q and 2^-q give the same bits as cores of magnitude 1, with an exponent that
/// differs by `cores` times q. `run` computes the result for cores of the given magnitude.
pub(super) fn assert_sizes_are_exponents(what: &str, dtype: DType, cores: i64, run: impl Fn(f64) -> Scaled) {
    let q = if epsilon(dtype) > 1e-10 { 60 } else { 900 };
    let plain = run(1.0);
    for q in [q, -q] {
        let got = run(2.0f64.powi(q));
        let back = (got.mantissa, got.exponent - cores * i64::from(q));
        assert_eq!(back, (plain.mantissa, plain.exponent), "{dtype:?} {what} 2^{q}");
    }
}

/// Bound of the error of an inner product: sums of up to n r terms at each of d sites, two sums for each site. Every
/// rounding enters at most once, relative to |x| |y| for random trains.
pub(super) fn bound(x: &Plain, y: &Plain, dtype: DType) -> f64 {
    let rank = x.ranks.iter().chain(&y.ranks).copied().max().unwrap_or(1);
    let modes = x.modes.iter().copied().max().unwrap_or(1);
    4.0 * (x.modes.len() * (rank + modes * rank)) as f64 * epsilon(dtype)
}

/// The type of the result.
pub(super) fn common(types: (DType, DType)) -> DType {
    if types.0.is_complex() { types.0 } else { types.1 }
}
