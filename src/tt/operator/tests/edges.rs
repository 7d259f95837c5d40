//! Zeros, NaN and infinity, memory limits, and refused arguments.

use super::support::*;
use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::error::Error;
use crate::operator::{Trains, heisenberg, identity, ising, plan_rayleigh, plan_sandwich, rayleigh, sandwich};
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::{BlockKind, TensorTrain};
use crate::trains::info::{Info, Outcome};
use crate::trains::options::{Method, Options, Scaling};
use crate::trains::scaled::Scaled;

#[test]
fn zeros_are_zero_and_cannot_be_divided_by() {
    let context = cpu(2);
    let zero = Plain::product(vec![vec![c(0.0, 0.0); 2]; 4]).train(&context, DType::F64);
    let h = ising(&context, DType::F64, 4, 1.0, 1.0, true).unwrap();
    let options = Options::default();
    let (value, info) = sandwich(&context, &options, &Trains::new(&zero, Some(&h), &zero)).unwrap();
    assert_eq!((value, info.outcome), (Scaled::ZERO, Outcome::Ok));
    let e = rayleigh(&context, &options, &zero, &h).unwrap_err();
    assert_eq!(e, Error::Numerical("x: has <x|x> = 0, more than 0 is needed".into()));
    // With an operator of zeros there is no path of nonzero blocks.
    let x = Plain::product(vec![vec![c(1.0, 0.0); 2]; 4]).train(&context, DType::F64);
    let mut none = identity(&context, DType::F64, &[2; 4]).unwrap();
    none.train_mut().cores_mut::<f64>("h").unwrap().core(2).fill(0.0);
    assert_eq!(sandwich(&context, &options, &Trains::new(&x, Some(&none), &x)).unwrap().0, Scaled::ZERO);
    let found = rayleigh(&context, &options, &x, &none).unwrap();
    assert_eq!((found.quotient, number(found.denominator)), (Scaled::ZERO, c(16.0, 0.0)));
}

#[test]
fn numbers_that_are_not_finite_make_results_nan() {
    let context = cpu(2);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (site, scaling) in [(0, Scaling::Auto), (3, Scaling::Auto), (5, Scaling::Auto), (3, Scaling::Never)] {
            let options = Options { scaling, ..Options::default() };
            let mut vectors = vec![vec![c(1.0, 0.0), c(0.5, 0.0)]; 6];
            vectors[site][1].re = bad;
            let x = Plain::product(vectors).train(&context, DType::F64);
            let h = ising(&context, DType::F64, 6, 1.0, 1.0, false).unwrap();
            let (value, info) = sandwich(&context, &options, &Trains::new(&x, Some(&h), &x)).unwrap();
            assert!(!value.is_finite() && info.outcome == Outcome::NonFinite, "{bad} at {site}: {value:?}");
            assert_eq!(rayleigh(&context, &options, &x, &h).unwrap().info.outcome, Outcome::NonFinite);

            let x = Plain::product(vec![vec![c(1.0, 0.0), c(0.5, 0.0)]; 6]).train(&context, DType::F64);
            let mut h = h;
            assert_eq!(h.blocks("h").unwrap().from_left(site, 0).len(), 3 - 2 * usize::from(site == 5));
            h.train_mut().cores_mut::<f64>("h").unwrap().core(site)[0] = bad;
            let (value, info) = sandwich(&context, &options, &Trains::new(&x, Some(&h), &x)).unwrap();
            assert!(!value.is_finite() && info.outcome == Outcome::NonFinite, "{bad} in h at {site}: {value:?}");
        }
    }
}

#[test]
fn plain_results_beyond_their_type_say_so() {
    let context = cpu(1);
    for (size, outcome) in [(1e15, Outcome::Overflow), (1e-15, Outcome::Underflow), (1.0, Outcome::Ok)] {
        let x = Plain::product(vec![vec![c(size, 0.0); 2]; 5]).train(&context, DType::F32);
        let (value, info) = sandwich(&context, &Options::default(), &Trains::new(&x, None, &x)).unwrap();
        assert_eq!(info.outcome, outcome);
        assert!((value.log_abs() - 5.0 * (2.0 * size * size).ln()).abs() < 1e-5);
    }
}

#[test]
fn workspace_is_reused_and_named_if_it_is_too_small() {
    let context = cpu(2);
    let mut draw = Draw::new(2);
    let (d, modes) = (6, vec![2; 6]);
    let ranks = vec![9; d + 1];
    let x = Plain::random(&mut draw, &modes, &ranks, true).train(&context, DType::CF64);
    let h = heisenberg(&context, DType::F64, d, &crate::operator::models::Heisenberg::default()).unwrap();
    let trains = Trains::new(&x, Some(&h), &x);
    let run = |options: &Options| {
        let before = context.host_budget().restart_peak();
        let found = sandwich(&context, options, &trains);
        (found, context.host_budget().peak() - before)
    };
    let (all, used) = run(&Options { method: Method::Full, workspace_limit: 1 << 30, ..Options::default() });
    let (all, info) = all.unwrap();
    assert!(used <= info.workspace_bytes as u64, "{used} > {}", info.workspace_bytes);
    assert_eq!((info.pairs, info.block, info.method), (81, 81, Method::Full));
    for limit in [4 << 20, 1 << 20, 300_000, 120_000] {
        let options = Options { workspace_limit: limit, ..Options::default() };
        let (found, used) = run(&options);
        let (found, info) = found.unwrap();
        assert!(used <= info.workspace_bytes as u64 && info.workspace_bytes as u64 <= limit, "{used} of {limit}");
        assert!((number(found) - number(all)).norm() <= 1e-12 * number(all).norm(), "limit {limit}");
    }
    let (refused, _) = run(&Options { workspace_limit: 1000, ..Options::default() });
    let problem = refused.unwrap_err().to_string();
    let needed: u64 = problem
        .strip_prefix("workspace_limit: is 1000, at least ")
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let (found, used) = run(&Options { workspace_limit: needed, ..Options::default() });
    assert!(found.is_ok() && used <= needed);
    assert!(run(&Options { workspace_limit: needed - 1, ..Options::default() }).0.is_err());
}

#[test]
fn sandwiches_and_quotients_take_what_their_plans_say() {
    let context = cpu(2);
    let mut draw = Draw::new(7);
    for (d, rank, ends, dtype) in [
        (1, 1, 1, DType::F64),
        (6, 9, 9, DType::CF64),
        (9, 5, 1, DType::F32),
        (5, 40, 1, DType::F64),
        (4, 3, 2, DType::CF32),
    ] {
        let mut ranks = vec![rank; d + 1];
        (ranks[0], ranks[d]) = (ends, ends);
        let complex = dtype.is_complex();
        let x = Plain::random(&mut draw, &vec![2; d], &ranks, complex).train(&context, dtype);
        let y = Plain::random(&mut draw, &vec![2; d], &ranks, complex).train(&context, dtype);
        let real = if dtype.is_single() { DType::F32 } else { DType::F64 };
        for ring in [false, d > 2] {
            let h = ising(&context, real, d, 1.0, 0.5, ring).unwrap();
            for workspace_limit in [0, 1 << 21] {
                let options = Options { workspace_limit, ..Options::default() };
                let used = |call: &dyn Fn() -> Info| {
                    let before = context.host_budget().restart_peak();
                    let info = call();
                    (info, context.host_budget().peak() - before)
                };
                let trains = Trains::new(&y, Some(&h), &x);
                let sandwiches = used(&|| sandwich(&context, &options, &trains).unwrap().1);
                let quotients = used(&|| rayleigh(&context, &options, &x, &h).unwrap().info);
                let plans = [plan_sandwich(&context, &options, &trains), plan_rayleigh(&context, &options, &x, &h)];
                for ((done, used), plan) in [sandwiches, quotients].into_iter().zip(plans) {
                    let plan = plan.unwrap();
                    let known = Info { seconds: done.seconds, outcome: done.outcome, ..plan };
                    assert_eq!(known, done);
                    assert!(used <= known.workspace_bytes as u64, "{used} bytes: {known:?}");
                }
            }
        }
    }
    let x = Plain::product(vec![vec![c(1.0, 0.0); 2]; 4]).train(&context, DType::F64);
    let h = ising(&context, DType::F64, 4, 1.0, 1.0, false).unwrap();
    let little = Options { workspace_limit: 1, ..Options::default() };
    let trains = Trains::new(&x, Some(&h), &x);
    let problem = plan_sandwich(&context, &little, &trains).unwrap_err();
    assert_eq!(problem, sandwich(&context, &little, &trains).unwrap_err());
    assert!(problem.to_string().starts_with("workspace_limit: is 1, at least "), "{problem}");
}

/// Whether both halves run at the same time depends on the load of the threads. The memory must not depend on it.
#[test]
fn halves_take_the_same_memory_at_once_and_one_after_the_other() {
    let mut draw = Draw::new(11);
    let (d, ranks) = (7, [1, 8, 8, 8, 8, 8, 8, 1]);
    let [a, b] = [0, 1].map(|_| Plain::random(&mut draw, &vec![2; d], &ranks, false));
    let run = |threads: usize, limit: u64| {
        let options = ContextOptions {
            backend: BackendChoice::Cpu,
            threads,
            host_memory_limit: limit,
            ..ContextOptions::default()
        };
        let context = Context::new(options).unwrap();
        // With a complex operator between real trains, each half copies its cores.
        let [x, y] = [&a, &b].map(|train| train.train(&context, DType::F64));
        let h = ising(&context, DType::CF64, d, 1.0, 0.5, false).unwrap();
        let before = context.host_budget().restart_peak();
        let info = sandwich(&context, &Options::default(), &Trains::new(&y, Some(&h), &x))?.1;
        assert!(info.two_ended);
        Ok::<_, Error>((before, context.host_budget().peak() - before, info.workspace_bytes as u64))
    };
    let (before, used, planned) = run(1, 0).unwrap();
    assert_eq!(used, planned);
    for _ in 0..20 {
        assert_eq!(run(2, before + used), Ok((before, used, planned)));
        let refused = run(2, before + used - 1);
        assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let context = cpu(1);
    let train = |modes: &[usize], dtype| {
        Plain::product(modes.iter().map(|&n| vec![c(1.0, 0.0); n]).collect()).train(&context, dtype)
    };
    let x = train(&[2, 3], DType::F64);
    let run = |y: &TensorTrain, x: &TensorTrain| {
        sandwich(&context, &Options::default(), &Trains::new(y, None, x)).map(|_| ())
    };
    let problem = |e: crate::error::Result<()>| e.unwrap_err().to_string();
    assert_eq!(problem(run(&train(&[2, 2], DType::F64), &x)), "y: core 1 has mode size 2, that of x is 3");
    assert_eq!(problem(run(&train(&[2], DType::F64), &x)), "y: has 1 cores, x has 2");
    assert!(problem(run(&train(&[2, 3], DType::F32), &x)).contains("both must be of one precision"));
    let unset = TensorTrain::create(&context, DType::F64, Location::Host, x.shape().clone()).unwrap();
    assert_eq!(problem(run(&unset, &x)), "y: core 0 has not been set");
    let elsewhere = Plain::product(vec![vec![c(1.0, 0.0); 2], vec![c(1.0, 0.0); 3]]).train(&cpu(1), DType::F64);
    assert_eq!(problem(run(&elsewhere, &x)), "y: belongs to another context");
    let h = identity(&context, DType::F64, &[2, 2]).unwrap();
    let e = sandwich(&context, &Options::default(), &Trains::new(&x, Some(&h), &x)).map(|_| ());
    assert_eq!(problem(e), "x: core 1 has mode size 3, that of the rows of h is 2");
    let h = identity(&context, DType::F32, &[2, 3]).unwrap();
    assert!(problem(rayleigh(&context, &Options::default(), &x, &h).map(|_| ())).starts_with("h: is F32"));
    let options = Options { cut: Some(2), ..Options::default() };
    let e = sandwich(&context, &options, &Trains::new(&x, None, &x)).map(|_| ());
    assert_eq!(problem(e), "cut: is 2, outside 0 to 1");
}

#[test]
fn blocks_are_found_once_and_again_after_a_change() {
    let context = cpu(1);
    let mut h = heisenberg(&context, DType::F64, 6, &crate::operator::models::Heisenberg::default()).unwrap();
    let blocks = h.blocks("h").unwrap();
    assert!(std::sync::Arc::ptr_eq(&blocks, &h.blocks("h").unwrap()));
    // 8 of 25 blocks are not zero; two are identities, and two are S_z.
    let count = |kind| blocks.core(2).iter().filter(|b| b.kind == kind).count();
    assert_eq!([BlockKind::Identity, BlockKind::Diagonal, BlockKind::Dense].map(count), [2, 2, 4]);
    h.train_mut().cores_mut::<f64>("h").unwrap().core(2).fill(0.0);
    assert!(h.blocks("h").unwrap().core(2).is_empty());
    assert_eq!(h.blocks("h").unwrap().core(0).len(), blocks.core(0).len());
}
