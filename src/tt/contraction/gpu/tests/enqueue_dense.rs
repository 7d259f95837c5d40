//! Enqueued dense halves, powers and norms by QR factors, for which the host does not wait, against the CPU.

use std::sync::Arc;

use super::enqueue::{number, place};
use super::inputs::{Plain, TYPES, cpu, options};
use super::oracle::{assert_close, bound, epsilon, expected, expected_by};
use crate::context::Context;
use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::tensor::train::TensorTrain;
use crate::tensor::{Location, Tensor};
use crate::trains::options::{Conjugate, Math, Method, NormMethod};
use crate::trains::testing::gpu;
use crate::trains::{Info, Options, Scaled};

/// An enqueued call: an inner product by the options, or a norm.
struct Case {
    options: Options,
    x: Plain,
    /// `None` for the norm of x.
    y: Option<Plain>,
}

impl Case {
    fn enqueue(&self, session: &mut Contraction, trains: &[TensorTrain; 2], result: Option<&mut Tensor>) -> Info {
        match &self.y {
            Some(_) => session.enqueue_inner(None, &trains[0], &trains[1], result),
            None => session.enqueue_norm(None, &trains[0], result),
        }
        .unwrap()
    }

    fn trains(&self, context: &Arc<Context>, dtype: DType) -> [TensorTrain; 2] {
        let train = |p: &Plain| p.train(context, dtype, Location::Device);
        [train(&self.x), train(self.y.as_ref().unwrap_or(&self.x))]
    }

    /// The result, and the number to which its rounding error is relative.
    fn expected(&self, dtype: DType) -> (Scaled, Scaled) {
        let Some(y) = &self.y else {
            let norm = expected(&self.x, &self.x, (dtype, dtype), Conjugate::Bra).0.sqrt();
            return (norm, norm);
        };
        let round = Options { method: Method::Blocked, math: Math::Default, ..self.options.clone() };
        expected_by(&self.x, y, (dtype, dtype), &round)
    }

    fn bound(&self, dtype: DType) -> f64 {
        self.options.repeat as f64 * bound(&self.x, self.y.as_ref().unwrap_or(&self.x), dtype)
    }
}

fn cases() -> Vec<Case> {
    let shapes: [(&[usize], &[usize], &[usize]); 9] = [
        (&[5], &[1, 1], &[1, 1]),
        (&[5], &[3, 3], &[7, 7]),
        (&[3, 4], &[1, 30, 1], &[1, 9, 1]),
        (&[2, 1, 3, 2], &[4, 17, 3, 8, 4], &[5, 6, 20, 4, 5]),
        (&[3, 1, 5, 2, 3], &[1, 40, 33, 17, 3, 1], &[1, 2, 64, 50, 90, 1]),
        (&[2, 3], &[3, 5, 3], &[2, 7, 2]),
        (&[40, 2], &[3, 2, 3], &[2, 9, 2]),
        (&[2, 2], &[11, 3, 11], &[9, 13, 9]),
        (&[2; 6], &[1, 2, 4, 90, 4, 2, 1], &[1, 2, 4, 70, 4, 2, 1]),
    ];
    let mut cases = Vec::new();
    for (modes, rx, ry) in shapes {
        let train = |ranks: &[usize], seed| Plain::random(modes, ranks, seed, 0.7);
        for conjugate in [Conjugate::Bra, Conjugate::None] {
            let halves = options(Method::Halves, conjugate);
            for math in [Math::Default, Math::Gemm3m] {
                let given = Options { math, ..halves.clone() };
                cases.push(Case { options: given, x: train(rx, 31), y: Some(train(ry, 32)) });
            }
            for repeat in [2, 37, 64] {
                let power = Options { repeat, ..options(Method::Power, conjugate) };
                cases.push(Case { options: power, x: train(rx, 33), y: Some(train(ry, 34)) });
            }
        }
        for cut in [None, Some(modes.len() - 1)] {
            let options = Options { norm_method: NormMethod::Qr, cut, ..Options::default() };
            cases.push(Case { options, x: train(rx, 35), y: None });
        }
    }
    cases
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_halves_powers_and_factors_agree_with_the_cpu_in_a_borrowed_workspace() {
    let context = gpu(0);
    let device = context.gpu("test").unwrap();
    for dtype in TYPES {
        for case in cases() {
            let what = format!("{dtype:?} {:?} {:?}", case.options, case.x.ranks);
            let trains = case.trains(&context, dtype);
            let mut session = Contraction::new(&context, case.options.clone()).unwrap();
            let mut result = place(&context);
            let needed = case.enqueue(&mut session, &trains, None).workspace_bytes as usize;
            case.enqueue(&mut session, &trains, Some(&mut result));
            let (got, outcome) = number(&context, &result);
            let (want, size) = case.expected(dtype);
            assert_eq!(outcome, 0.0, "{what}");
            assert_close(&what, got, want, size, case.bound(dtype));
            // Workspace of NaN, which shows if something is read before it is written.
            let mut memory = device.allocate("work space of a test", needed + 64).unwrap();
            device.fill(device.default_stream(), &mut memory, 0, needed, 0xff).unwrap();
            let borrowed = device.borrow("workspace", memory.address(), needed, None).unwrap();
            session.set_workspace(Some(borrowed)).unwrap();
            case.enqueue(&mut session, &trains, Some(&mut result));
            assert_eq!(number(&context, &result).0, got, "{what}: the same bits in a borrowed workspace");
            let mut after = [1u8; 64];
            device.download(device.default_stream(), &memory, needed, &mut after).unwrap();
            assert_eq!(after, [0u8; 64], "{what}: nothing behind what is needed was written");
            let short = device.borrow("workspace", memory.address(), needed - 1, None).unwrap();
            session.set_workspace(Some(short)).unwrap();
            let problem = match &case.y {
                Some(_) => session.enqueue_inner(None, &trains[0], &trains[1], Some(&mut result)),
                None => session.enqueue_norm(None, &trains[0], Some(&mut result)),
            };
            let text = format!("workspace: has {} bytes, {needed} are needed", needed - 1);
            assert_eq!(problem.unwrap_err().to_string(), text);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_distances_agree_with_the_cpu() {
    let (context, host) = (gpu(0), cpu());
    for dtype in TYPES {
        for ranks in [vec![1, 3, 9, 4, 1], vec![3, 4, 9, 5, 3], vec![1, 40, 33, 20, 1]] {
            let x = Plain::random(&[3, 2, 4, 2], &ranks, 5, 1.0);
            let mut near = x.clone();
            near.cores[1][0].0 += 1e-3;
            for y in [near, Plain::random(&[3, 2, 4, 2], &[2, 5, 1, 7, 2], 6, 1.0)] {
                let on = |p: &Plain, context, location| p.train(context, dtype, location);
                let (a, b) = (on(&x, &host, Location::Host), on(&y, &host, Location::Host));
                let mut there = Contraction::new(&host, Options::default()).unwrap();
                let (want, _) = there.distance_scaled(None, &a, &b, None).unwrap();
                let (size, _) = there.norm_scaled(None, &a, None).unwrap();
                let (a, b) = (on(&x, &context, Location::Device), on(&y, &context, Location::Device));
                let mut result = place(&context);
                let mut session = Contraction::new(&context, Options::default()).unwrap();
                let needed = session.enqueue_distance(None, &a, &b, None).unwrap().workspace_bytes;
                assert!(needed > 0);
                session.enqueue_distance(None, &a, &b, Some(&mut result)).unwrap();
                let (got, outcome) = number(&context, &result);
                assert_eq!((outcome, got.mantissa.im), (0.0, 0.0));
                assert_close(&format!("{dtype:?} {ranks:?}"), got, want, size, 64.0 * epsilon(dtype));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_squares_are_made_of_one_dense_tensor() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [vec![1, 30, 20, 1], vec![3, 30, 20, 3]] {
            let x = Plain::random(&[3, 4, 5], &ranks, 7, 1.0);
            let train = x.train(&context, dtype, Location::Device);
            let (want, size) = expected(&x, &x, (dtype, dtype), Conjugate::Bra);
            let mut session = Contraction::new(&context, options(Method::Halves, Conjugate::Bra)).unwrap();
            let mut result = place(&context);
            session.enqueue_inner(None, &train, &train, Some(&mut result)).unwrap();
            assert_close(&format!("{dtype:?}"), number(&context, &result).0, want, size, bound(&x, &x, dtype));
            session.enqueue_norm(None, &train, Some(&mut result)).unwrap();
            let norm = want.sqrt();
            assert_close(&format!("{dtype:?}"), number(&context, &result).0, norm, norm, bound(&x, &x, dtype));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_powers_leave_the_range_of_their_type() {
    let context = gpu(0);
    for dtype in TYPES {
        // Two cores of entries 1000: each pass multiplies by 2000^2, a billion times.
        let one = Plain { modes: vec![1], ranks: vec![2, 2], cores: vec![vec![(1000.0, 0.0); 4]] };
        let train = one.train(&context, dtype, Location::Device);
        let repeat = 1_000_000_007;
        let given = Options { repeat, ..options(Method::Power, Conjugate::Bra) };
        let mut session = Contraction::new(&context, given).unwrap();
        let mut result = place(&context);
        session.enqueue_inner(None, &train, &train, Some(&mut result)).unwrap();
        let (got, outcome) = number(&context, &result);
        let want = repeat as f64 * 2.0 * 2000f64.ln();
        assert_eq!(outcome, 0.0);
        // All products are of integers times powers of two that need few bits.
        assert!((got.log_abs() - want).abs() <= 1e-6 * want.abs(), "{dtype:?}: {} for {want}", got.log_abs());
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_calls_say_what_is_not_finite_or_nothing() {
    let context = gpu(0);
    for dtype in TYPES {
        for case in cases().into_iter().filter(|case| case.options.conjugate == Conjugate::Bra) {
            for bad in [0.0, f64::NAN] {
                let mut x = case.x.clone();
                for number in &mut x.cores[0] {
                    *number = (bad, 0.0);
                }
                let case = Case { x, y: case.y.clone(), options: case.options.clone() };
                let trains = case.trains(&context, dtype);
                let mut session = Contraction::new(&context, case.options.clone()).unwrap();
                let mut result = place(&context);
                case.enqueue(&mut session, &trains, Some(&mut result));
                let (got, outcome) = number(&context, &result);
                let what = format!("{dtype:?} {:?} {:?} {bad}", case.options, case.x.ranks);
                if bad == 0.0 {
                    assert!(got.is_zero() && outcome == 0.0, "{what}: {got:?}");
                } else {
                    assert!(!got.is_finite() && outcome == 3.0, "{what}: {got:?}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn uniform_trains_are_squared_without_being_asked() {
    let context = gpu(0);
    let x = Plain::random(&[2], &[6, 6], 3, 0.5);
    let train = x.train(&context, DType::F64, Location::Device);
    let given = Options { repeat: 5000, ..Options::default() };
    let mut session = Contraction::new(&context, given).unwrap();
    let mut result = place(&context);
    let info = session.enqueue_inner(None, &train, &train, Some(&mut result)).unwrap();
    assert_eq!(info.method, Method::Power);
    let (want, _) = session.inner_scaled(None, &train, &train, None).unwrap();
    assert_close("5000", number(&context, &result).0, want, want, 1e-10);
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_halves_of_cores_far_from_one_say_so() {
    let context = gpu(0);
    for (dtype, power) in [(DType::F32, 100), (DType::F64, 900)] {
        let (near, far) = (1.0, 2.0f64.powi(-power));
        for (size, outcome) in [(near, 0.0), (far, 1.0)] {
            let mut plain = Plain::random(&[2; 4], &[1, 3, 4, 2, 1], 3, 1.0);
            plain.cores[1].iter_mut().for_each(|v| *v = (v.0 * size, v.1 * size));
            let x = plain.train(&context, dtype, Location::Device);
            let mut session = Contraction::new(&context, options(Method::Halves, Conjugate::Bra)).unwrap();
            let mut result = place(&context);
            session.enqueue_inner(None, &x, &x, Some(&mut result)).unwrap();
            let (got, found) = number(&context, &result);
            assert_eq!((got.mantissa.re.is_nan(), found > 0.0), (outcome > 0.0, outcome > 0.0), "{dtype:?} {size:e}");
        }
    }
}
