//! Degenerate shapes and refused arguments.

use super::support::session;
use crate::backend::cpu::flags;
use crate::contraction::Contraction;
use crate::error::Error;
use crate::progress::ProgressFn;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::info::{Info, Outcome};
use crate::trains::options::{Math, Method, NormMethod};
use crate::trains::testing::{C, Plain, TYPES, cpu, inner};
use crate::trains::{Options, Scaled};
use std::cell::Cell;

const PAIRS: [Method; 5] = [Method::Auto, Method::Full, Method::Reduced, Method::Blocked, Method::Halves];

#[test]
fn degenerate_shapes_have_right_results() {
    let c = cpu(2);
    let shapes: &[(&[usize], &[usize], &[usize])] = &[
        (&[5], &[1, 1], &[1, 1]),
        (&[4], &[3, 3], &[2, 2]),
        (&[1], &[1, 1], &[1, 1]),
        (&[1], &[4, 4], &[4, 4]),
        (&[3, 4], &[1, 3, 1], &[1, 2, 1]),
        (&[3, 4], &[2, 3, 2], &[4, 2, 4]),
        (&[1, 1, 1], &[2, 3, 2, 2], &[1, 4, 1, 1]),
        (&[2, 2, 2], &[1, 1, 1, 1], &[1, 1, 1, 1]),
        (&[2, 3, 2, 2], &[4, 1, 5, 1, 4], &[2, 6, 1, 3, 2]),
        (&[9, 1, 9], &[1, 2, 2, 1], &[1, 7, 7, 1]),
        (&[40, 2], &[3, 1, 3], &[1, 1, 1]),
    ];
    for (dtype, tolerance) in TYPES {
        for (modes, r, s) in shapes {
            let x = Plain::random(modes, r, dtype.is_complex(), 91);
            let y = Plain::random(modes, s, dtype.is_complex(), 92);
            let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
            for method in PAIRS {
                let (value, info) =
                    session(&c, Options { method, ..Options::default() }).inner(None, &tx, &ty, None).unwrap();
                let error = (value - inner(&x, &y, true)).norm();
                assert!(error <= tolerance * x.norm() * y.norm(), "{dtype:?} {modes:?} {r:?} {s:?}: {info:?}");
            }
            for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                let (norm, _) =
                    session(&c, Options { norm_method, ..Options::default() }).norm(None, &tx, None).unwrap();
                assert!((norm - x.norm()).abs() <= tolerance * x.norm(), "{dtype:?} {modes:?} {norm_method:?}: {norm}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let c = cpu(1);
    let x = Plain::uniform_ranks(3, 2, 3, false, false, 1).train(&c, DType::F64);
    let message = |y: &TensorTrain| session(&c, Options::default()).inner(None, &x, y, None).unwrap_err().to_string();
    let other = Plain::random(&[2, 3, 2], &[1, 2, 2, 1], false, 2);
    assert_eq!(message(&other.train(&c, DType::F64)), "y: core 1 has mode size 3, that of x is 2");
    let longer = Plain::uniform_ranks(4, 2, 2, false, false, 1);
    assert_eq!(message(&longer.train(&c, DType::F64)), "y: has 4 cores, x has 3");
    let same = Plain::uniform_ranks(3, 2, 2, false, false, 1);
    assert_eq!(message(&same.train(&c, DType::F32)), "y: is F32, x is F64: precisions differ");
    assert_eq!(message(&same.train(&c, DType::CF32)), "y: is CF32, x is F64: precisions differ");
    assert_eq!(message(&same.train(&cpu(1), DType::F64)), "y: belongs to another context");
    let shape = Shape::new("y", &[2, 2, 2], &[1, 2, 2, 1]).unwrap();
    let unset = TensorTrain::create(&c, DType::F64, Location::Host, shape).unwrap();
    assert_eq!(message(&unset), "y: core 0 has not been set");
}

#[test]
fn options_that_do_not_fit_are_refused_by_name() {
    let c = cpu(1);
    let ring = Plain::uniform_ranks(3, 2, 3, true, false, 1).train(&c, DType::F64);
    let other = Plain::uniform_ranks(3, 2, 2, true, false, 2).train(&c, DType::F64);
    let message = |options: Options| session(&c, options).inner(None, &ring, &other, None).unwrap_err().to_string();
    assert!(message(Options { method: Method::Open, ..Options::default() }).starts_with("method: is OPEN"));
    assert!(message(Options { method: Method::Power, ..Options::default() }).starts_with("method: is POWER"));
    assert!(message(Options { cut: Some(3), ..Options::default() }).starts_with("cut: is 3, outside 0 to 2"));
    let repeated = Options { repeat: 2, method: Method::Halves, ..Options::default() };
    assert!(message(repeated).starts_with("method: is HALVES"));
    let none = Options { repeat: 0, ..Options::default() };
    assert_eq!(Contraction::new(&c, none).err().unwrap().to_string(), "repeat: is 0, at least 1 is needed");
    let qr = Options { repeat: 2, norm_method: NormMethod::Qr, ..Options::default() };
    let refused = |found: Result<(f64, Info), Error>, name: &str| match found.unwrap_err() {
        Error::NotSupported(problem) => assert_eq!(problem, format!("{name}: QR factors with repeat = 2, they take 1")),
        other => panic!("{other}"),
    };
    refused(session(&c, qr).norm(None, &ring, None), "norm_method");
    let repeated = Options { repeat: 2, ..Options::default() };
    refused(session(&c, repeated).distance(None, &ring, &ring, None), "repeat");
}

#[test]
fn a_workspace_too_small_is_refused_with_what_is_needed() {
    let c = cpu(2);
    let x = Plain::uniform_ranks(6, 2, 4, true, false, 1);
    let (tx, ty) = (x.train(&c, DType::F64), Plain::uniform_ranks(6, 2, 4, true, false, 2).train(&c, DType::F64));
    // Elements of workspace: (n + 1) max r s.
    let needed = 3 * 16 * 8;
    for method in [Method::Reduced, Method::Blocked] {
        let with = |workspace_limit| {
            let options = Options { method, workspace_limit, ..Options::default() };
            session(&c, options).inner(None, &tx, &ty, None)
        };
        let wanted = format!("workspace_limit: is {}, at least {needed} bytes are needed", needed - 1);
        assert_eq!(with(needed - 1).unwrap_err().to_string(), wanted);
        let before = c.host_budget().restart_peak();
        let (value, info) = with(needed).unwrap();
        assert!(info.workspace_bytes as u64 <= needed && info.block == 1, "{info:?}");
        assert_eq!(before, c.host_budget().used());
        assert!((value - inner(&x, &Plain::uniform_ranks(6, 2, 4, true, false, 2), true)).norm() < 1e-9);
    }
}

#[test]
fn workspace_is_never_above_what_the_plan_says() {
    let c = cpu(2);
    for (dtype, _) in TYPES {
        for cyclic in [false, true] {
            let x = Plain::uniform_ranks(7, 3, 6, cyclic, dtype.is_complex(), 3);
            let y = Plain::uniform_ranks(7, 3, 5, cyclic, dtype.is_complex(), 4);
            let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
            for method in PAIRS {
                let held = c.host_budget().used();
                c.host_budget().restart_peak();
                let mut s = session(&c, Options { method, ..Options::default() });
                let (_, info) = s.inner(None, &tx, &ty, None).unwrap();
                let used = c.host_budget().peak() - held;
                assert!(used <= info.workspace_bytes as u64, "{used} bytes: {info:?}");
                let pairs = info.pairs as u64;
                let formula = match method {
                    Method::Full => 4 * 30 * pairs,
                    Method::Reduced => 4 * 30,
                    _ => continue,
                };
                assert!(info.workspace_bytes as u64 <= formula * dtype.size() as u64, "{info:?}");
            }
            for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                let held = c.host_budget().used();
                c.host_budget().restart_peak();
                let (_, info) =
                    session(&c, Options { norm_method, ..Options::default() }).norm(None, &tx, None).unwrap();
                let used = c.host_budget().peak() - held;
                assert!(used <= info.workspace_bytes as u64, "{used} bytes: {info:?}");
            }
        }
    }
}

#[test]
fn open_trains_take_a_workspace_for_each_end() {
    let c = cpu(2);
    for (dtype, _) in TYPES {
        // Ends of all lengths; rank 1 in the middle; ends whose dense tensors are built.
        for ranks in [[1, 6, 6, 6, 6, 6, 6, 1], [1, 3, 9, 1, 9, 9, 3, 1], [1, 2, 4, 30, 30, 4, 2, 1]] {
            let (x, y) =
                (Plain::random(&[3; 7], &ranks, dtype.is_complex(), 3), Plain::random(&[3; 7], &ranks, false, 4));
            let (tx, ty) = (x.train(&c, dtype), y.train(&c, dtype));
            let run = |workspace_limit: u64| {
                let held = c.host_budget().used();
                c.host_budget().restart_peak();
                let options = Options { method: Method::Open, workspace_limit, ..Options::default() };
                let mut s = session(&c, options);
                let result = s.inner(None, &tx, &ty, None);
                (result, c.host_budget().peak() - held)
            };
            // (n + 1) max r s elements, or fewer if the neighbouring ranks are smaller.
            let largest = |count: &dyn Fn(usize) -> usize| (0..7).map(count).max().unwrap() as u64;
            let environment = largest(&|k| ranks[k] * ranks[k]);
            let one = (environment + 3 * largest(&|k| ranks[k] * ranks[k + 1])) * dtype.size() as u64;
            assert!(one <= 4 * environment * dtype.size() as u64);
            let (found, used) = run(0);
            let (value, info) = found.unwrap();
            assert!(info.two_ended);
            assert_eq!((used, info.workspace_bytes as u64), (2 * one, 2 * one), "{dtype:?} {ranks:?}");
            for limit in [2 * one - 1, one] {
                let (found, used) = run(limit);
                let (alone, info) = found.unwrap();
                assert!(!info.two_ended && (alone - value).norm() <= 1e-5 * x.norm() * y.norm());
                assert_eq!((used, info.workspace_bytes as u64), (one, one), "{dtype:?} {ranks:?} {limit}");
            }
            let problem = run(one - 1).0.unwrap_err().to_string();
            assert_eq!(problem, format!("workspace_limit: is {}, at least {one} bytes are needed", one - 1));
        }
    }
}

#[test]
fn numbers_that_are_not_finite_give_nan_and_say_so() {
    let c = cpu(2);
    for bad in [f64::NAN, f64::INFINITY] {
        for (cyclic, dtype) in [(false, DType::F64), (true, DType::CF64), (false, DType::CF32), (true, DType::F32)] {
            let mut x = Plain::uniform_ranks(5, 2, 3, cyclic, dtype.is_complex(), 5);
            x.cores[2][4] = C::new(bad, 0.0);
            let t = x.train(&c, dtype);
            let y = Plain::uniform_ranks(5, 2, 3, cyclic, dtype.is_complex(), 6).train(&c, dtype);
            for method in PAIRS {
                let (value, info) =
                    session(&c, Options { method, ..Options::default() }).inner(None, &t, &y, None).unwrap();
                assert!(value.re.is_nan(), "{dtype:?} {method:?}: {value}");
                assert_eq!(info.outcome, Outcome::NonFinite);
            }
            for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                let (norm, info) =
                    session(&c, Options { norm_method, ..Options::default() }).norm(None, &t, None).unwrap();
                assert!(norm.is_nan(), "{dtype:?} {norm_method:?}: {norm}");
                assert_eq!(info.outcome, Outcome::NonFinite);
            }
        }
    }
}

#[test]
fn exact_zeros_are_zero() {
    let c = cpu(2);
    let mut x = Plain::uniform_ranks(6, 2, 3, true, false, 7);
    x.cores[4].fill(C::new(0.0, 0.0));
    let (tx, ty) = (x.train(&c, DType::F64), Plain::uniform_ranks(6, 2, 3, true, false, 8).train(&c, DType::F64));
    for method in PAIRS {
        let (value, info) =
            session(&c, Options { method, ..Options::default() }).inner_scaled(None, &tx, &ty, None).unwrap();
        assert!(value.is_zero() && value.exponent == 0, "{value:?}");
        assert_eq!(info.outcome, Outcome::Ok);
    }
}

#[test]
fn calls_are_cancelled_and_the_session_lives_on() {
    let c = cpu(2);
    let x = Plain::uniform_ranks(40, 2, 24, true, false, 9).train(&c, DType::F64);
    let y = Plain::uniform_ranks(40, 2, 24, true, false, 10).train(&c, DType::F64);
    let mut s = session(&c, Options { method: Method::Blocked, ..Options::default() });
    let refuse = |_: i64, _: i64, _: f64| false;
    assert_eq!(s.inner(None, &x, &y, Some(&refuse)).unwrap_err(), Error::Cancelled);
    let last = Cell::new((0, 0));
    let watch = |step: i64, steps: i64, _: f64| {
        assert!(step >= last.get().0 && step <= steps);
        last.set((step, steps));
        true
    };
    let (value, info) = s.inner(None, &x, &y, Some(&watch)).unwrap();
    let blocks = (info.pairs + info.block - 1) / info.block;
    assert_eq!(last.get(), (40 * blocks, 40 * blocks));
    assert_eq!(value, s.inner(None, &x, &y, None).unwrap().0);
    // Cancel from another thread.
    let handle = s.cancel_handle();
    let cancel = |step: i64, _: i64, _: f64| {
        if step > 0 {
            std::thread::scope(|t| t.spawn(|| handle.cancel()).join().unwrap());
        }
        true
    };
    let result = s.inner(None, &x, &y, Some(&cancel));
    assert!(matches!(result, Err(Error::Cancelled)) || result.unwrap().0 == value);
}

/// A contraction in single precision that loses digits is repeated in double precision. The first contraction reports
/// its end, and a cancel in that report must end the call.
#[test]
fn a_cancel_between_the_parts_of_a_call_is_not_lost() {
    let c = cpu(1);
    let mut x = Plain::uniform_ranks(3, 2, 1, false, false, 7);
    for (at, core) in x.cores.iter_mut().enumerate() {
        let numbers = if at == 1 { [-100i32, 100] } else { [0, 0] };
        core.iter_mut().zip(numbers).for_each(|(z, e)| *z = C::new(2f64.powi(e), 0.0));
    }
    let t = x.train(&c, DType::F32);
    let mut s = session(&c, Options::default());
    type Run = fn(&mut Contraction, &TensorTrain, Option<&ProgressFn<'_>>) -> crate::error::Result<()>;
    let calls: [(&str, Run); 4] = [
        ("inner", |s, t, report| s.inner(None, t, t, report).map(drop)),
        ("norm", |s, t, report| s.norm_scaled(None, t, report).map(drop)),
        ("batch", |s, t, report| s.inner_batch(None, &[t, t], &[t, t], &mut [Scaled::ZERO; 2], report).map(drop)),
        ("gram", |s, t, report| s.gram(None, &[t], &[t], &mut [Scaled::ZERO], report).map(drop)),
    ];
    let handle = s.cancel_handle();
    for (name, run) in calls {
        let ends = Cell::new(0);
        let count = |step: i64, steps: i64, _: f64| {
            ends.set(ends.get() + i32::from(step == steps));
            true
        };
        run(&mut s, &t, Some(&count)).unwrap();
        // The call has a second part only if the CPU reports lost digits.
        assert!(!(flags::IS_READABLE && ["inner", "norm"].contains(&name)) || ends.get() > 1, "{name}");
        let cancel = |step: i64, steps: i64, _: f64| {
            if step == steps {
                handle.cancel();
            }
            true
        };
        let ended = run(&mut s, &t, Some(&cancel));
        assert_eq!(ended.is_err(), ends.get() > 1, "{name}: {ended:?}");
    }
}

#[test]
fn repeated_calls_see_new_cores() {
    let c = cpu(1);
    let mut x = Plain::uniform_ranks(4, 2, 3, false, false, 11);
    let mut s = session(&c, Options::default());
    let mut t = x.train(&c, DType::F64);
    for factor in [1.0, 3.0, -2.0] {
        x = x.scaled(factor);
        for k in 0..4 {
            let values: Vec<f64> = x.cores[k].iter().map(|v| v.re).collect();
            t.cores_mut::<f64>("x").unwrap().core(k).copy_from_slice(&values);
        }
        let (value, _) = s.inner(None, &t, &t, None).unwrap();
        assert!((value - inner(&x, &x, true)).norm() <= 1e-13 * value.re);
    }
}

#[test]
fn options_without_effect_are_refused_by_name() {
    let c = cpu(1);
    let x = Plain::uniform_ranks(3, 2, 2, true, false, 7).train(&c, DType::F64);
    let h = crate::operator::ising(&c, DType::F64, 3, 1.0, 0.5, false).unwrap();
    let none = Options::default();
    let by = |method| Options { method, ..Options::default() };
    let mut cases: Vec<(&str, Options)> = Vec::new();
    for method in [Method::Open, Method::Full, Method::Reduced, Method::Halves, Method::Power] {
        cases.push(("block", Options { block: 2, ..by(method) }));
    }
    for math in [Math::Tf32, Math::Tf32x3, Math::Gemm3m, Math::Int8x6] {
        cases.push(("math", Options { math, ..none.clone() }));
    }
    cases.push(("repeat", Options { repeat: 0, ..none.clone() }));
    for (name, options) in cases {
        let problem = Contraction::new(&c, options.clone()).map(|_| ()).unwrap_err();
        assert!(problem.to_string().starts_with(name), "{options:?}: {problem}");
    }
    // Options that depend on the trains.
    let mut inner: Vec<(&str, Options)> = vec![("cut", Options { cut: Some(3), ..none.clone() })];
    inner.push(("method", by(Method::Open)));
    inner.push(("method", by(Method::Power)));
    inner.push(("method", Options { repeat: 2, ..by(Method::Halves) }));
    for (name, options) in inner {
        let mut s = Contraction::new(&c, options.clone()).unwrap();
        let problem = s.inner_scaled(None, &x, &x, None).map(|_| ()).unwrap_err();
        assert!(problem.to_string().starts_with(name), "{options:?}: {problem}");
    }
    let one = [C::new(1.0, 0.0), C::new(0.0, 0.0), C::new(0.0, 0.0), C::new(1.0, 0.0)];
    let mut operators: Vec<(&str, Options)> = vec![("repeat", Options { repeat: 2, ..none.clone() })];
    operators.push(("cut", Options { cut: Some(3), ..none }));
    operators.push(("method", by(Method::Halves)));
    operators.push(("method", by(Method::Power)));
    for (name, options) in operators {
        let mut s = Contraction::new(&c, options.clone()).unwrap();
        let problems = [
            s.sandwich(None, &crate::operator::Trains::new(&x, Some(&h), &x), None).map(|_| ()).unwrap_err(),
            s.rayleigh(None, &x, &h, None).map(|_| ()).unwrap_err(),
            s.expect_local(None, &x, &one, &[0], None).map(|_| ()).unwrap_err(),
            s.correlation(None, &x, &one, &one, None).map(|_| ()).unwrap_err(),
        ];
        for problem in problems {
            assert!(problem.to_string().contains(name), "{options:?}: {problem}");
        }
    }
}

#[test]
fn memory_that_runs_out_is_named_with_all_that_the_call_needs() {
    let backend = crate::backend::BackendChoice::Cpu;
    let given = crate::context::Options { backend, threads: 1, host_memory_limit: 4 << 20, ..Default::default() };
    let c = crate::context::Context::new(given).unwrap();
    let x = Plain::uniform_ranks(3, 2, 24, true, false, 5).train(&c, DType::F64);
    let options = Options { method: Method::Full, workspace_limit: 1 << 30, ..Options::default() };
    let mut s = session(&c, options);
    let y = Plain::uniform_ranks(3, 2, 24, true, false, 6).train(&c, DType::F64);
    let needed = s.plan_inner(&x, &y).unwrap().workspace_bytes;
    // The first of three buffers is allocated, the second is refused.
    assert!(needed > 4 << 20 && needed / 3 < 4 << 20);
    let problem = s.inner(None, &x, &y, None).unwrap_err().to_string();
    let wanted = format!(
        "whole workspace of a contraction: {needed} bytes of host memory cannot be allocated under the context's limit of 4194304 bytes"
    );
    assert_eq!(problem, wanted);
}
