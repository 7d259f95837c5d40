//! NaN or infinity in the first, a middle or the last core makes every result NaN, also if another core is zero.

use std::sync::Arc;
use std::time::Instant;

use crate::context::Context;
use crate::contraction::Contraction;
use crate::operator::{Environments, Trains, identity, ising};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::{TensorTrain, TrainMatrix};
use crate::trains::info::Outcome;
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{C, KERNELS, Plain, cpu, placed};
use crate::trains::{Info, Options, Scaled};

const SITES: usize = 5;

/// A train with a number that is not finite.
pub struct Case {
    /// The train with the bad number.
    pub x: TensorTrain,
    /// A train of the same shape with finite entries only.
    pub y: TensorTrain,
    /// Name of the case in messages.
    pub what: String,
}

impl Case {
    fn expect(&self, call: &str, value: Scaled, info: &Info) {
        let is_nan = value.mantissa.re.is_nan() && value.exponent == 0;
        assert!(is_nan && info.outcome == Outcome::NonFinite, "{}, {call}: {value:?} {:?}", self.what, info.outcome);
    }
}

/// A case for each core of x with a bad number. With `zero`, another core of x is zero.
pub fn cases(context: &Arc<Context>, dtype: DType, location: Location, cyclic: bool, rank: usize) -> Vec<Case> {
    let mut all = Vec::new();
    for at in [0, 2, SITES - 1] {
        for (bad, zero) in [(f64::NAN, None), (f64::INFINITY, None), (f64::NAN, Some(1)), (f64::NAN, Some(3))] {
            let mut x = Plain::uniform_ranks(SITES, 2, rank, cyclic, dtype.is_complex(), 5);
            x.cores[at][rank - 1] = C::new(bad, 0.0);
            if let Some(zero) = zero {
                x.cores[zero].fill(C::new(0.0, 0.0));
            }
            let y = Plain::uniform_ranks(SITES, 2, rank, cyclic, dtype.is_complex(), 6);
            let what = format!("{dtype:?}, {bad} at core {at}, zero {zero:?}, cyclic {cyclic}, rank {rank}");
            let [x, y] = [x, y].map(|t| placed(context, t.train(context, dtype), location));
            all.push(Case { x, y, what });
        }
    }
    all
}

/// Checks the contractions without an operator.
fn contract(context: &Arc<Context>, case: &Case) {
    let Case { x, y, .. } = case;
    let session = |options| Contraction::new(context, options).unwrap();
    for kernel in KERNELS {
        for method in [Method::Auto, Method::Full, Method::Reduced, Method::Halves, Method::Power] {
            let repeat = if method == Method::Power { 3 } else { 1 };
            let mut s = session(Options { method, kernel, repeat, ..Options::default() });
            for (a, b) in [(x, y), (y, x), (x, x)] {
                let (value, info) = s.inner_scaled(None, a, b, None).unwrap();
                case.expect(&format!("{method:?} {kernel:?}"), value, &info);
            }
            let (value, info) = s.inner(None, x, y, None).unwrap();
            assert!(value.re.is_nan() && info.outcome == Outcome::NonFinite, "{}: {value}", case.what);
        }
        for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
            let mut s = session(Options { norm_method, kernel, ..Options::default() });
            let (value, info) = s.norm_scaled(None, x, None).unwrap();
            case.expect(&format!("norm {norm_method:?}"), value, &info);
            for (a, b) in [(x, y), (y, x), (x, x)] {
                let (value, info) = s.distance_scaled(None, a, b, None).unwrap();
                case.expect("distance", value, &info);
            }
            let (value, info) = s.distance(None, x, x, None).unwrap();
            assert!(value.is_nan() && info.outcome == Outcome::NonFinite);
        }
        let mut s = session(Options { kernel, ..Options::default() });
        let mut sums = [Scaled::ONE; 3];
        let info = s.inner_batch(None, &[y, x, y], &[y, y, x], &mut sums, None).unwrap();
        assert!(sums[0].is_finite(), "{}", case.what);
        sums[1..].iter().for_each(|sum| case.expect("batch", *sum, &info));
        let mut sums = [Scaled::ONE; 4];
        let info = s.gram(None, &[x, y], &[x, y], &mut sums, None).unwrap();
        assert!(sums[3].is_finite(), "{}", case.what);
        sums[..3].iter().for_each(|sum| case.expect("gram", *sum, &info));
        let info = s.gram(None, &[y], &[y], &mut sums[..1], None).unwrap();
        assert!(sums[0].is_finite() && info.outcome == Outcome::Ok);
    }
}

/// The projector to one value of every index. It keeps all other entries out of the sums.
pub fn projector(context: &Arc<Context>, value: usize) -> TrainMatrix {
    let mut p = identity(context, DType::F64, &[2; SITES]).unwrap();
    let mut cores = p.train_mut().cores_mut::<f64>("h").unwrap();
    for k in 0..SITES {
        cores.core(k)[3 * (1 - value)] = 0.0;
    }
    p
}

/// Checks contractions with operators, and with an operator at a site, that keep some entries of the ket out of the
/// sums.
fn project(context: &Arc<Context>, case: &Case) {
    let Case { x, y, .. } = case;
    let mut s = Contraction::new(context, Options::default()).unwrap();
    for value in [0, 1] {
        let p = projector(context, value);
        for (bra, ket) in [(x, y), (y, x), (x, x)] {
            let trains = Trains::new(bra, Some(&p), ket);
            let (sum, info) = s.sandwich(None, &trains, None).unwrap();
            case.expect(&format!("projector {value}"), sum, &info);
            let mut kept = Environments::new(context, s.options(), &trains).unwrap();
            for bond in [0, 2, SITES] {
                case.expect("value of a projector", kept.value(None, &trains, bond).unwrap(), &info);
            }
            // Exact environments take minutes for large rings. One pass over the cores must find the number instead.
            assert!(!kept.has_exact(), "{}: exact environments", case.what);
            let mut op = [C::new(0.0, 0.0); 4];
            op[3 * value] = C::new(1.0, 0.0);
            let trains = Trains::new(bra, None, ket);
            let mut kept = Environments::new(context, s.options(), &trains).unwrap();
            for site in 0..SITES {
                case.expect("local projector", kept.local(None, &trains, site, &op).unwrap(), &info);
            }
            assert!(!kept.has_exact(), "{}: exact environments", case.what);
        }
        let found = s.rayleigh(None, x, &p, None).unwrap();
        case.expect("rayleigh of a projector", found.numerator, &found.info);
        let (sum, _) = s.sandwich(None, &Trains::new(y, Some(&p), y), None).unwrap();
        assert!(sum.is_finite() && !sum.is_zero());
    }
}

/// Checks the calls with operators, and the environments.
fn operate(context: &Arc<Context>, case: &Case) {
    let Case { x, y, what } = case;
    let h = ising(context, DType::F64, SITES, 1.0, 0.5, false).unwrap();
    let mut s = Contraction::new(context, Options::default()).unwrap();
    let op = [C::new(1.0, 0.0), C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(-1.0, 0.0)];
    let sites = [0, 2, SITES - 1];
    for operator in [Some(&h), None] {
        for (bra, ket) in [(x, y), (y, x), (x, x)] {
            let trains = Trains::new(bra, operator, ket);
            let (value, info) = s.sandwich(None, &trains, None).unwrap();
            case.expect("sandwich", value, &info);
            let mut kept = Environments::new(context, s.options(), &trains).unwrap();
            for bond in [0, 1, 3, SITES] {
                case.expect("value", kept.value(None, &trains, bond).unwrap(), &info);
            }
            if operator.is_none() {
                case.expect("local", kept.local(None, &trains, 2, &op).unwrap(), &info);
            }
            assert!(!kept.has_exact(), "{what}: exact environments");
        }
    }
    let found = s.rayleigh(None, x, &h, None).unwrap();
    for value in [found.numerator, found.denominator, found.quotient] {
        case.expect("rayleigh", value, &found.info);
    }
    for found in [
        s.expect_local(None, x, &op, &sites, None).unwrap(),
        s.correlation(None, x, &op, &op, None).unwrap(),
        s.correlation(None, x, &op, &[op[0]; 4], None).unwrap(),
    ] {
        assert!(found.info.outcome == Outcome::NonFinite && found.iter().all(|v| v.re.is_nan()), "{what}: {found:?}");
    }
    // The bad number is in the second row of the operator's first core, which is on no path of nonzero blocks.
    let mut bad = ising(context, DType::F64, SITES, 1.0, 0.5, false).unwrap();
    bad.train_mut().cores_mut::<f64>("h").unwrap().core(SITES - 1)[1] = f64::NAN;
    let (value, info) = s.sandwich(None, &Trains::new(y, Some(&bad), y), None).unwrap();
    case.expect("operator", value, &info);
    let found = s.rayleigh(None, y, &bad, None).unwrap();
    assert!(found.denominator.is_finite());
    case.expect("operator's quotient", found.quotient, &found.info);
}

/// Checks all calls for trains in the memory of `location`, with one case of each `every`. Cases come in groups of
/// twelve, so an `every` without a common factor with twelve covers all kinds.
pub fn check(context: &Arc<Context>, location: Location, ranks: &[usize], every: usize) {
    let mut number = 0;
    for (cyclic, dtype) in [(false, DType::F64), (true, DType::CF64), (false, DType::CF32), (true, DType::F32)] {
        for &rank in ranks {
            // The time for a ring grows with the fifth power of the rank.
            let rank = if cyclic { rank.min(12) } else { rank };
            for case in cases(context, dtype, location, cyclic, rank) {
                number += 1;
                if number % every != 0 {
                    continue;
                }
                let start = Instant::now();
                let report = |calls| println!("{}, {calls}: {:.1} s", case.what, start.elapsed().as_secs_f64());
                contract(context, &case);
                report("contracted");
                if matches!(dtype, DType::F64 | DType::CF64) {
                    operate(context, &case);
                    report("operators");
                    project(context, &case);
                    report("projectors");
                }
            }
        }
    }
}

#[test]
fn every_call_gives_nan_and_says_so() {
    check(&cpu(2), Location::Host, &[1, 3], 1);
}

#[test]
fn zeros_of_finite_trains_stay_zeros() {
    let context = cpu(1);
    let mut x = Plain::uniform_ranks(SITES, 2, 3, true, false, 7);
    x.cores[2].fill(C::new(0.0, 0.0));
    let x = x.train(&context, DType::F64);
    let mut s = Contraction::new(&context, Options::default()).unwrap();
    for (value, info) in [
        s.inner_scaled(None, &x, &x, None).unwrap(),
        s.norm_scaled(None, &x, None).unwrap(),
        s.distance_scaled(None, &x, &x, None).unwrap(),
        s.sandwich(None, &Trains::new(&x, None, &x), None).unwrap(),
    ] {
        assert_eq!((value, info.outcome), (Scaled::ZERO, Outcome::Ok));
    }
}
