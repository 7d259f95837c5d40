//! Bits of fits, harmonics and peaks: a change of structure must not change one.

use std::sync::Arc;

use super::arrays::{batch, status, tensor, zeros};
use super::volume::{VOLUMES, volume};
use crate::context::Context;
use crate::dwi::{
    Basis, CsaOptions, FitOptions, Missing, Nonpositive, PeaksFormat, PeaksOptions, PeaksOutputs, Weighting, csa, fit,
    peaks, sh_to_tensor, tensor_to_sh,
};
use crate::error::Result;
use crate::progress::Progress;
use crate::scalar::{DType, Element, Real, Scalar};
use crate::shape::Order;
use crate::sshopm::Method;
use crate::tensor::Tensor;
use crate::testing::checksums::{Cases, Checksum, checksum_tests};

checksum_tests!("dwi", cases);

/// Voxels of the volume that are used: a full vector of lanes and a rest.
const SOME: usize = 11;

fn cases(c: &Arc<Context>, out: &mut Cases) {
    with_signals::<u16>(c, out, Order::ColumnMajor, |s| s);
    with_signals::<f32>(c, out, Order::RowMajor, f32::from);
    with_signals::<f64>(c, out, Order::ColumnMajor, f64::from);
}

fn add<T: Real + Scalar>(sum: Checksum, t: &Tensor) -> Result<Checksum> {
    Ok(sum.numbers(t.view::<T>("t")?.data()))
}

fn add_words(sum: Checksum, t: &Tensor) -> Checksum {
    sum.integers(status(t).into_iter().map(|v| u64::from(v.cast_unsigned())))
}

struct Input {
    signals: Tensor,
    bvals: Tensor,
    bvecs: Tensor,
    mask: Tensor,
    weights: Tensor,
}

fn with_signals<S: Element>(c: &Arc<Context>, out: &mut Cases, order: Order, convert: impl Fn(u16) -> S) {
    let v = volume();
    let first = 400 * VOLUMES;
    let mut some: Vec<u16> = v.signals[first..first + SOME * VOLUMES].to_vec();
    // Signals that are not positive.
    (some[70], some[7 * VOLUMES + 20]) = (0, 0);
    let signals: Vec<S> = some.into_iter().map(&convert).collect();
    let weights: Vec<f32> = (0..SOME * VOLUMES).map(|k| 1.0 + (k % 5) as f32 * 0.25).collect();
    let mask: Vec<u8> = (0..SOME).map(|k| u8::from(k % 6 != 4)).collect();
    let input = Input {
        signals: tensor(c, order, &[VOLUMES, SOME], &signals),
        bvals: tensor(c, Order::ColumnMajor, &[VOLUMES], &v.bvals),
        bvecs: tensor(c, Order::ColumnMajor, &[3, VOLUMES], &v.bvecs),
        mask: tensor(c, Order::ColumnMajor, &[SOME], &mask),
        weights: tensor(c, Order::ColumnMajor, &[VOLUMES, SOME], &weights),
    };
    let name = format!("{} {order:?}", S::DTYPE.name());
    of::<f32>(c, out, &format!("{name} to F32"), &input);
    of::<f64>(c, out, &format!("{name} to F64"), &input);
}

fn of<T: Real + Scalar>(c: &Arc<Context>, out: &mut Cases, name: &str, input: &Input) {
    let quiet = Progress::none();
    let Input { signals, bvals, bvecs, mask, weights } = input;
    for order in [2, 4, 6] {
        for (weighting, given) in
            [(Weighting::Ordinary, None), (Weighting::Signal, None), (Weighting::Ordinary, Some(weights))]
        {
            for nonpositive in [Nonpositive::Clamp, Nonpositive::Skip] {
                let run = || {
                    let options = FitOptions { weighting, nonpositive, ..FitOptions::default() };
                    let mut found = batch(c, T::DTYPE, order, SOME);
                    let (mut s0, mut outcome) = (zeros(c, T::DTYPE, &[SOME]), zeros(c, DType::I32, &[SOME]));
                    let outputs = (Some(&mut s0), Some(&mut outcome));
                    let mask = (order == 4).then_some(mask);
                    fit(
                        c, None, signals, bvals, bvecs, mask, given, &options, &mut found, outputs.0, outputs.1, &quiet,
                    )?;
                    Ok(add_words(add::<T>(add::<T>(Checksum::new(), &found)?, &s0)?, &outcome))
                };
                let given = if given.is_some() { " weights" } else { "" };
                out.add(format!("{name} fit {order} {weighting:?}{given} {nonpositive:?}"), run());
            }
        }
    }
    for (degree, coefficients) in [(4, 15), (8, 45)] {
        let harmonics = |basis: Basis| -> Result<(Tensor, Checksum)> {
            let mut sh = zeros(c, T::DTYPE, &[coefficients, SOME]);
            let mut outcome = zeros(c, DType::I32, &[SOME]);
            let options = CsaOptions::default();
            csa(c, None, signals, bvals, bvecs, Some(mask), basis, &options, &mut sh, Some(&mut outcome), &quiet)?;
            let sum = add_words(add::<T>(Checksum::new(), &sh)?, &outcome);
            Ok((sh, sum))
        };
        let bases = if degree == 4 { &Basis::ALL[..] } else { &[Basis::Mrtrix3] };
        for &basis in bases {
            out.add(format!("{name} csa {degree} {basis:?}"), harmonics(basis).map(|(_, sum)| sum));
        }
        let (sh, _) = harmonics(Basis::Mrtrix3).unwrap();
        let run = || {
            let (mut packed, mut back) = (batch(c, T::DTYPE, degree, SOME), zeros(c, T::DTYPE, &[coefficients, SOME]));
            sh_to_tensor(c, None, &sh, Basis::Mrtrix3, &mut packed)?;
            tensor_to_sh(c, None, &packed, Basis::Mrtrix3, &mut back)?;
            let sum = add::<T>(add::<T>(Checksum::new(), &packed)?, &back)?;
            Ok(sum.all(&[found::<T>(c, &packed, PeaksOptions { starts: 10, ..PeaksOptions::default() })?]))
        };
        out.add(format!("{name} conversions {degree}"), run());
        let base = PeaksOptions { basis: Some(Basis::Mrtrix3), starts: 10, ..PeaksOptions::default() };
        for (what, options) in [
            ("", base),
            (" of mrtrix", PeaksOptions { format: PeaksFormat::Mrtrix, missing: Missing::Zero, ..base }),
            (" by power", PeaksOptions { method: Method::Power, max_iterations: 30, ..base }),
            (" all", PeaksOptions { relative_threshold: 0.0, min_separation: 0.0, starts: 14, ..base }),
        ] {
            out.add(format!("{name} peaks {degree}{what}"), found::<T>(c, &sh, options));
        }
    }
}

fn found<T: Real + Scalar>(c: &Arc<Context>, input: &Tensor, options: PeaksOptions) -> Result<Checksum> {
    let rows = if options.format == PeaksFormat::Mrtrix { 3 } else { 4 };
    let mut out = zeros(c, T::DTYPE, &[rows, 3, SOME]);
    let (mut count, mut outcome) = (zeros(c, DType::I32, &[SOME]), zeros(c, DType::I32, &[SOME]));
    let outputs = PeaksOutputs { peaks: &mut out, count: Some(&mut count), status: Some(&mut outcome) };
    peaks(c, None, input, None, &options, outputs, &Progress::none())?;
    Ok(add_words(add_words(add::<T>(Checksum::new(), &out)?, &count), &outcome))
}
