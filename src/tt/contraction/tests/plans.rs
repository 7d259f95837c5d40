//! Plans of calls, against the reports of the same calls.

use crate::backend::BackendChoice;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::{Context, Options as ContextOptions};
use crate::contraction::Contraction;
use crate::scalar::DType;
use crate::tensor::train::TensorTrain;
use crate::trains::info::{Info, Kernel};
use crate::trains::options::{Method, NormMethod};
use crate::trains::testing::{Plain, TYPES, cpu};
use crate::trains::{Options, Scaled};
use std::sync::Arc;

/// A session with automatic choices.
fn session(context: &Arc<Context>, options: Options) -> Contraction {
    Contraction::new(context, options).unwrap()
}

/// Bytes that a call allocates at most, in addition to those held before.
fn used<R>(context: &Context, call: impl FnOnce() -> R) -> (R, u64) {
    let before = context.host_budget().restart_peak();
    let found = call();
    (found, context.host_budget().peak() - before)
}

/// Asserts that plan and report are equal, except for the figures that only a call knows.
fn expect_as_planned(planned: &Info, done: &Info, used: u64, what: &str) {
    let known = Info { seconds: done.seconds, outcome: done.outcome, ..planned.clone() };
    assert_eq!(known, *done, "{what}");
    assert!(used <= planned.workspace_bytes as u64, "{what}: {used} bytes are used, {planned:?}");
}

/// Shapes of all kinds: short and long, small and large ranks, ends whose dense tensors are built, rings with a small
/// bond.
fn shapes() -> Vec<(Vec<usize>, Vec<usize>)> {
    let uniform = |d: usize, n: usize, rank: usize, ends: usize| {
        let mut ranks = vec![rank; d + 1];
        (ranks[0], ranks[d]) = (ends, ends);
        (vec![n; d], ranks)
    };
    vec![
        (vec![3], vec![1, 1]),
        (vec![2], vec![4, 4]),
        uniform(2, 5, 3, 1),
        uniform(7, 2, 9, 1),
        uniform(40, 2, 5, 1),
        uniform(5, 3, 70, 1),
        uniform(4, 2, 6, 6),
        uniform(6, 3, 3, 3),
        (vec![2, 3, 1, 4], vec![5, 2, 7, 1, 5]),
        (vec![4, 4, 4], vec![1, 30, 4, 1]),
    ]
}

#[test]
fn products_norms_and_distances_take_what_their_plans_say() {
    let c = cpu(2);
    for (dtype, _) in TYPES {
        for (modes, ranks) in shapes() {
            let (x, y) =
                (Plain::random(&modes, &ranks, dtype.is_complex(), 1), Plain::random(&modes, &ranks, false, 2));
            let (x, y) = (x.train(&c, dtype), y.train(&c, dtype));
            let what = |name: &str| format!("{name} of {dtype:?} {modes:?} {ranks:?}");
            for kernel in [None, Some(Kernel::Products)] {
                for method in [Method::Auto, Method::Full, Method::Reduced, Method::Halves] {
                    // The dense halves of a long train fit no memory.
                    if method == Method::Halves && modes.len() > 8 {
                        continue;
                    }
                    let options = Options { method, kernel, ..Options::default() };
                    let planned = session(&c, options.clone()).plan_inner(&x, &y).unwrap();
                    let (done, bytes) = used(&c, || session(&c, options).inner_scaled(None, &x, &y, None).unwrap().1);
                    expect_as_planned(&planned, &done, bytes, &what("inner"));
                }
                for norm_method in [NormMethod::Auto, NormMethod::Inner, NormMethod::Qr] {
                    let options = Options { norm_method, kernel, ..Options::default() };
                    let planned = session(&c, options.clone()).plan_norm(&x).unwrap();
                    let (done, bytes) = used(&c, || session(&c, options).norm_scaled(None, &x, None).unwrap().1);
                    expect_as_planned(&planned, &done, bytes, &what(&format!("{norm_method:?} norm")));
                }
            }
            let planned = session(&c, Options::default()).plan_distance(&x, &y).unwrap();
            let (done, bytes) =
                used(&c, || session(&c, Options::default()).distance_scaled(None, &x, &y, None).unwrap().1);
            expect_as_planned(&planned, &done, bytes, &what("distance"));
        }
    }
}

#[test]
fn uniform_trains_take_what_their_plans_say() {
    let c = cpu(2);
    for rank in [1, 3] {
        let x = Plain::uniform_ranks(1, 2, rank, true, false, 5).train(&c, DType::F64);
        let options = Options { method: Method::Power, repeat: 50, ..Options::default() };
        let planned = session(&c, options.clone()).plan_inner(&x, &x).unwrap();
        let (done, bytes) = used(&c, || session(&c, options).inner_scaled(None, &x, &x, None).unwrap().1);
        expect_as_planned(&planned, &done, bytes, "a uniform train");
    }
}

#[test]
fn batches_take_what_their_plans_say() {
    for threads in [1, 3] {
        let c = cpu(threads);
        // Small products, which are computed together, and large ones, which follow one by one.
        let plain: Vec<Plain> = (0..12u64)
            .map(|seed| match seed % 4 {
                0 => Plain::uniform_ranks(12, 4, 5, false, true, seed),
                1 => Plain::uniform_ranks(12, 4, 4, true, false, seed),
                2 => Plain::uniform_ranks(12, 4, 80, false, false, seed),
                _ => Plain::uniform_ranks(12, 4, 12, false, true, seed),
            })
            .collect();
        let types = [DType::CF64, DType::F64, DType::F64, DType::CF64];
        let trains: Vec<TensorTrain> = plain.iter().zip(types.iter().cycle()).map(|(t, d)| t.train(&c, *d)).collect();
        let x: Vec<&TensorTrain> = trains.iter().collect();
        let y: Vec<&TensorTrain> = trains.iter().rev().collect();
        for count in [0, 1, 12] {
            let (x, y) = (&x[..count], &y[..count]);
            let mut sums = vec![Scaled::ZERO; count * count];
            let planned = session(&c, Options::default()).plan_batch(x, y).unwrap();
            let (done, bytes) =
                used(&c, || session(&c, Options::default()).inner_batch(None, x, y, &mut sums[..count], None).unwrap());
            expect_as_planned(&planned, &done, bytes, "a batch");
            for (x, y) in [(x, y), (x, x)] {
                let planned = session(&c, Options::default()).plan_gram(x, y).unwrap();
                let (done, bytes) =
                    used(&c, || session(&c, Options::default()).gram(None, x, y, &mut sums, None).unwrap());
                expect_as_planned(&planned, &done, bytes, "a Gram matrix");
            }
        }
        // With a smaller limit fewer pairs are computed together.
        let (x, y) = (&x[..1], &y[..1]);
        let (x, y) = (x.repeat(9), y.repeat(9));
        let one = session(&c, Options::default()).plan_batch(&x[..1], &y[..1]).unwrap().workspace_bytes as u64;
        let options = Options { workspace_limit: 2 * one, ..Options::default() };
        let planned = session(&c, options.clone()).plan_batch(&x, &y).unwrap();
        assert_eq!(planned.workspace_bytes as u64, one * threads.min(2) as u64);
        let mut sums = vec![Scaled::ZERO; 9];
        let (done, bytes) = used(&c, || session(&c, options).inner_batch(None, &x, &y, &mut sums, None).unwrap());
        expect_as_planned(&planned, &done, bytes, "a batch with little memory");
        // A limit that is too small is refused as by the call.
        let mut again = session(&c, Options::default());
        let problem = again.plan_batch(&x, &y[..1]).unwrap_err();
        assert_eq!(problem, again.inner_batch(None, &x, &y[..1], &mut sums, None).unwrap_err());
    }
}

#[test]
fn the_last_calls_workspace_alone_is_kept() {
    let c = cpu(2);
    let small = Plain::uniform_ranks(30, 2, 5, false, false, 1).train(&c, DType::F64);
    let large = Plain::uniform_ranks(30, 2, 100, false, false, 2).train(&c, DType::F64);
    let before = c.host_budget().used();
    let mut kept = session(&c, Options::default());
    for x in [&small, &large, &small] {
        let (_, info) = kept.inner_scaled(None, x, x, None).unwrap();
        assert_eq!(c.host_budget().used() - before, info.workspace_bytes as u64, "{info:?}");
    }
    let norms = Options { norm_method: NormMethod::Qr, ..Options::default() };
    drop(kept);
    let mut kept = session(&c, norms);
    kept.norm_scaled(None, &large, None).unwrap();
    assert_eq!(c.host_budget().used(), before);
}

#[test]
#[allow(unsafe_code, reason = "borrows memory as the C boundary does")]
fn a_plan_fits_the_memory_that_the_context_allows() {
    let (modes, ranks) = ([3; 6], [24; 7]);
    let (x, y) = (Plain::random(&modes, &ranks, false, 1), Plain::random(&modes, &ranks, false, 2));
    let of = |host_memory_limit: u64| {
        let options =
            ContextOptions { backend: BackendChoice::Cpu, threads: 1, host_memory_limit, ..ContextOptions::default() };
        let c = Context::new(options).unwrap();
        // The trains are the caller's memory, which the limit does not count.
        let free = cpu(1);
        let given = |p: &Plain| {
            let own = p.train(&free, DType::F64);
            let cores = own.cores::<f64>("x").unwrap();
            let memory = (0..modes.len())
                .map(|k| {
                    let core = cores.core(k).to_vec().leak();
                    let start = std::ptr::NonNull::new(core.as_mut_ptr().cast::<u8>()).unwrap();
                    // SAFETY: the memory is never given back.
                    Memory::Host(unsafe { HostMemory::borrow(start, size_of_val(core)) })
                })
                .collect();
            TensorTrain::from_cores(&c, DType::F64, own.shape().clone(), memory, true).unwrap()
        };
        let (x, y) = (given(&x), given(&y));
        let mut s = session(&c, Options::default());
        let planned = s.plan_inner(&x, &y).unwrap();
        assert!(host_memory_limit == 0 || planned.workspace_bytes as u64 <= host_memory_limit, "{planned:?}");
        (planned.method, s.inner_scaled(None, &x, &y, None).unwrap().0)
    };
    let (usual, wanted) = of(0);
    assert_eq!(usual, Method::Halves);
    for limit in [1 << 15, 1 << 18] {
        let (method, found) = of(limit);
        assert_ne!(method, Method::Halves);
        let error = found.plus(wanted.times(Scaled::real(-1.0)));
        assert!(error.is_zero() || error.over(wanted).unwrap().log_abs() < -20.0, "{found:?} {wanted:?}");
    }
}

#[test]
fn open_takes_the_bond_of_one_pair() {
    let c = cpu(1);
    // The pairs of the bond in the middle, of which half are summed, are cheaper.
    let x = Plain::uniform_ranks(2, 2, 3, false, false, 41).train(&c, DType::F64);
    let mut auto = session(&c, Options::default());
    let mut open = session(&c, Options { method: Method::Open, ..Options::default() });
    let (found, info) = open.inner(None, &x, &x, None).unwrap();
    assert_eq!((info.method, info.cut), (Method::Open, 0));
    let wanted = auto.inner(None, &x, &x, None).unwrap().0.re;
    assert!((found.re - wanted).abs() <= 1e-13 * wanted, "{found}, not {wanted}");
    let norm = open.norm(None, &x, None).unwrap().0;
    assert!((norm * norm - wanted).abs() <= 1e-13 * wanted, "{norm}");
}
