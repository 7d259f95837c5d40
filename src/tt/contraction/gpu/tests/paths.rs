//! Every kernel and library path on random trains.

use std::sync::Arc;

use super::inputs::{Disorder, Plain, TYPES, mixed, options};
use super::oracle::{assert_close, bound, common, epsilon, expected};
use crate::backend::gpu::Gpu;
use crate::context::Context;
use crate::contraction::Contraction;
use crate::group::Group;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::trains::info::Kernel;
use crate::trains::options::{Conjugate, Method, Scaling};
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

/// Checks one product on the GPU against the CPU, with trains in host memory and on the device.
fn check(context: &Arc<Context>, x: &Plain, y: &Plain, types: (DType, DType), options: &Options) {
    let (want, size) = expected(x, y, types, options.conjugate);
    let mut session = Contraction::new(context, options.clone()).unwrap();
    for location in [Location::Host, Location::Device] {
        let (a, b) = (x.train(context, types.0, location), y.train(context, types.1, location));
        let (got, info) = session.inner_scaled(None, &a, &b, None).unwrap();
        let what = format!("{types:?} {:?} {:?} {:?} {options:?} {:?}", x.modes, x.ranks, y.ranks, info.kernel);
        assert_close(&what, got, want, size, bound(x, y, common(types)));
        // A second call must give the same bits.
        assert_eq!(session.inner_scaled(None, &a, &b, None).unwrap().0, got, "{what}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn open_trains_of_all_sizes_agree_with_the_cpu() {
    let context = gpu(0);
    let mut disorder = Disorder(1);
    for types in mixed() {
        for most in [1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 65, 90] {
            let d = disorder.pick(1, 7);
            let modes: Vec<usize> = (0..d).map(|_| disorder.pick(1, 3)).collect();
            let mut ranks = || {
                let mut r: Vec<usize> = (0..=d).map(|_| disorder.pick(1.max(most / 2), most)).collect();
                (r[0], r[d]) = (1, 1);
                r
            };
            let (rx, ry) = (ranks(), ranks());
            let (x, y) = (Plain::random(&modes, &rx, most as u64, 1.0), Plain::random(&modes, &ry, 99, 1.0));
            for conjugate in [Conjugate::Bra, Conjugate::None] {
                check(&context, &x, &y, types, &options(Method::Open, conjugate));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn rings_by_every_algorithm_agree_with_the_cpu() {
    let context = gpu(0);
    for types in mixed() {
        // Small ranks use the chain kernel, larger ones the library.
        for (modes, rx, ry) in [
            (vec![2], vec![3, 3], vec![5, 5]),
            (vec![3, 2], vec![3, 4, 3], vec![2, 9, 2]),
            (vec![2, 1, 3, 2], vec![4, 17, 3, 8, 4], vec![5, 6, 20, 4, 5]),
            (vec![2, 2, 2], vec![2, 40, 33, 2], vec![3, 64, 50, 3]),
            (vec![2, 2, 2, 1], vec![3, 70, 66, 90, 3], vec![2, 81, 67, 30, 2]),
        ] {
            let (x, y) = (Plain::random(&modes, &rx, 5, 1.0), Plain::random(&modes, &ry, 6, 1.0));
            for method in [Method::Full, Method::Reduced, Method::Blocked] {
                check(&context, &x, &y, types, &options(method, Conjugate::Bra));
            }
            for block in [1, 2, 4, 5] {
                for cut in [None, Some(0), Some(modes.len() - 1)] {
                    let options = Options { block, cut, ..options(Method::Blocked, Conjugate::None) };
                    check(&context, &x, &y, types, &options);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn norms_of_rings_sum_half_of_the_pairs() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [vec![5, 12, 7, 5], vec![3, 70, 80, 3]] {
            let x = Plain::random(&[2, 3, 2], &ranks, 8, 1.0);
            let (want, size) = expected(&x, &x, (dtype, dtype), Conjugate::Bra);
            let train = x.train(&context, dtype, Location::Device);
            for block in [0, 1, 4] {
                let given = Options { block, ..options(Method::Blocked, Conjugate::Bra) };
                let mut session = Contraction::new(&context, given).unwrap();
                let (got, info) = session.inner_scaled(None, &train, &train, None).unwrap();
                assert!(info.halved);
                assert_eq!(got.mantissa.im, 0.0);
                assert_close(&format!("{dtype:?} {ranks:?} {block}"), got, want, size, bound(&x, &x, dtype));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn large_ranks_go_through_the_library_from_both_ends() {
    let context = gpu(0);
    for dtype in TYPES {
        // The ends are dense, and the ranks differ, so that both orders of products occur.
        let modes = [2, 2, 3, 1, 2, 2, 2, 2];
        let rx = [1, 2, 30, 400, 390, 420, 40, 3, 1];
        let ry = [1, 4, 90, 385, 60, 410, 380, 2, 1];
        let (x, y) = (Plain::random(&modes, &rx, 3, 1.0), Plain::random(&modes, &ry, 4, 1.0));
        for conjugate in [Conjugate::Bra, Conjugate::None] {
            check(&context, &x, &y, (dtype, dtype), &options(Method::Open, conjugate));
        }
        let short = Plain::random(&[3, 2], &[1, 500, 1], 5, 1.0);
        check(&context, &short, &short, (dtype, dtype), &options(Method::Open, Conjugate::Bra));
    }
}

#[test]
#[ignore = "needs a GPU"]
fn scaling_changes_no_bits_where_nothing_overflows() {
    let context = gpu(0);
    for dtype in TYPES {
        for rank in [10, 30, 60, 80] {
            let modes = [2; 6];
            let mut ranks = [rank; 7];
            (ranks[0], ranks[6]) = (1, 1);
            let x = Plain::random(&modes, &ranks, 21, 0.1).train(&context, dtype, Location::Device);
            let y = Plain::random(&modes, &ranks, 22, 0.1).train(&context, dtype, Location::Device);
            let run = |scaling| {
                let given = Options { scaling, ..Options::default() };
                Contraction::new(&context, given).unwrap().inner_scaled(None, &x, &y, None).unwrap().0
            };
            assert_eq!(run(Scaling::Always), run(Scaling::Never), "{dtype:?} {rank}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn plans_say_which_kernel_runs() {
    let context = gpu(0);
    let (chain, products) = (Some(Kernel::Chain), Some(Kernel::Products));
    for dtype in [DType::F32, DType::CF64] {
        for (rank, asked, kernel) in [
            (20, None, Kernel::Chain),
            (64, None, Kernel::Chain),
            (65, None, Kernel::Chain),
            (256, None, Kernel::Chain),
            (257, None, Kernel::Products),
            (20, products, Kernel::Products),
            (65, products, Kernel::Products),
            (256, products, Kernel::Products),
            (256, chain, Kernel::Chain),
            (300, chain, Kernel::Chain),
        ] {
            let x = Plain::random(&[2; 4], &[1, rank, rank, rank, 1], 1, 1.0);
            let y = Plain::random(&[2; 4], &[1, rank, rank, rank, 1], 2, 1.0);
            let given = Options { kernel: asked, ..options(Method::Open, Conjugate::Bra) };
            check(&context, &x, &y, (dtype, dtype), &given);
            let (a, b) = (x.train(&context, dtype, Location::Device), y.train(&context, dtype, Location::Device));
            let info = Contraction::new(&context, given).unwrap().plan_inner(&a, &b).unwrap();
            assert_eq!((info.kernel, info.two_ended), (kernel, true), "{dtype:?} {rank} {asked:?}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn rings_by_the_kernel_that_was_asked_for_agree_with_the_cpu() {
    let context = gpu(0);
    let (x, y) = (Plain::random(&[2; 3], &[2, 70, 40, 2], 5, 1.0), Plain::random(&[2; 3], &[3, 50, 66, 3], 6, 1.0));
    for kernel in [Kernel::Chain, Kernel::Products] {
        let given = Options { kernel: Some(kernel), ..options(Method::Blocked, Conjugate::Bra) };
        check(&context, &x, &y, (DType::CF64, DType::CF64), &given);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn workspace_is_what_the_plan_says() {
    let context = gpu(0);
    let budget = context.device_budget();
    for dtype in TYPES {
        for (ranks, kernel) in [
            ([1, 60, 60, 60, 60, 1], None),
            ([1, 90, 200, 150, 90, 1], None),
            ([1, 90, 200, 150, 90, 1], Some(Kernel::Products)),
            ([1, 2, 4, 300, 300, 1], None),
            ([1, 300, 300, 4, 2, 1], None),
        ] {
            let train = |seed| Plain::random(&[2; 5], &ranks, seed, 1.0).train(&context, dtype, Location::Device);
            let (x, y) = (train(1), train(2));
            let needed = |method, workspace_limit| {
                let given = Options { kernel, workspace_limit, ..options(method, Conjugate::Bra) };
                let mut session = Contraction::new(&context, given).unwrap();
                // The first call also allocates the memory of the library.
                let first = session.inner_scaled(None, &x, &y, None).unwrap().0;
                let held = budget.used();
                budget.restart_peak();
                let (again, info) = session.inner_scaled(None, &x, &y, None).unwrap();
                assert_eq!(first, again);
                let (used, said) = (budget.peak() - held, info.workspace_bytes as u64);
                // The plan does not count tables of the sites, scalars and results.
                assert!(said <= used && used <= said + (1 << 16), "{dtype:?} {ranks:?} {kernel:?}: {used}, {info:?}");
                assert!(workspace_limit == 0 || said <= workspace_limit, "{dtype:?} {ranks:?} {kernel:?}: {info:?}");
                said
            };
            needed(Method::Open, 0);
            let largest = |count: &dyn Fn(usize) -> usize| (0..5).map(count).max().unwrap();
            let one = largest(&|k| ranks[k] * ranks[k]) + 2 * largest(&|k| ranks[k] * ranks[k + 1]);
            needed(Method::Open, (one * dtype.size()) as u64);
            needed(Method::Reduced, 0);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn calls_take_what_their_plans_say() {
    let context = gpu(0);
    let budget = context.device_budget();
    for dtype in TYPES {
        for ranks in [[1, 12, 12, 12, 12, 1], [1, 90, 200, 150, 90, 1], [1, 300, 300, 4, 2, 1], [8, 8, 8, 8, 8, 8]] {
            let train = |seed| Plain::random(&[2; 5], &ranks, seed, 1.0).train(&context, dtype, Location::Device);
            let (x, y) = (train(1), train(2));
            let real = if epsilon(dtype) > 1e-10 { DType::F32 } else { DType::F64 };
            let h = crate::operator::ising(&context, real, 5, 1.0, 0.5, false).unwrap();
            let trains = crate::operator::Trains::new(&y, Some(&h), &x);
            let mut session = Contraction::new(&context, Options::default()).unwrap();
            let (many, others, mut sums) = ([&x; 9], [&y; 9], [Scaled::ZERO; 9]);
            let plans = [
                session.plan_norm(&x).unwrap(),
                session.plan_batch(&many, &others).unwrap(),
                session.plan_sandwich(&trains).unwrap(),
                session.plan_rayleigh(&x, &h).unwrap(),
            ];
            for (which, plan) in plans.iter().enumerate() {
                let mut run = || match which {
                    0 => session.norm_scaled(None, &x, None).unwrap().1,
                    1 => session.inner_batch(None, &many, &others, &mut sums, None).unwrap(),
                    2 => session.sandwich(None, &trains, None).unwrap().1,
                    _ => session.rayleigh(None, &x, &h, None).unwrap().info,
                };
                // The first call also allocates the memory of the library.
                run();
                let held = budget.used();
                budget.restart_peak();
                let done = run();
                assert_eq!((done.method, done.kernel, done.flops), (plan.method, plan.kernel, plan.flops));
                let (used, said) = (budget.peak() - held, plan.workspace_bytes as u64);
                assert_eq!(said, done.workspace_bytes as u64);
                // The plan does not count tables of the sites, scalars and results, nor cuBLAS's workspace in a call
                // with an operator.
                let library = if which >= 2 { 32 << 20 } else { 0 };
                assert!(used <= said + library + (1 << 16), "{which} of {dtype:?} {ranks:?}: {used} bytes, {plan:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn norms_by_the_library_count_both_triangles() {
    let context = gpu(0);
    let x = Plain::random(&[2; 5], &[1, 300, 320, 300, 280, 1], 1, 1.0).train(&context, DType::F64, Location::Device);
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    let whole = session.inner_scaled(None, &x, &x, None).unwrap().1;
    assert_eq!(session.norm_scaled(None, &x, None).unwrap().1.flops, whole.flops);
}

#[test]
#[ignore = "needs two GPUs"]
fn two_devices_give_the_sum_of_one() {
    if Gpu::device_count().unwrap() < 2 {
        println!("skipped: this machine has one GPU");
        return;
    }
    let (first, second) = (gpu(0), gpu(1));
    for ranks in [vec![6, 12, 7, 6], vec![6, 70, 80, 6]] {
        let given = Options { block: 4, ..options(Method::Blocked, Conjugate::Bra) };
        let x = Plain::random(&[2, 3, 2], &ranks, 8, 1.0);
        let y = Plain::random(&[2, 3, 2], &ranks, 9, 1.0);
        for location in [Location::Host, Location::Device] {
            let (a, b) = (x.train(&first, DType::CF64, location), y.train(&first, DType::CF64, location));
            let mut session = Contraction::new(&first, given.clone()).unwrap();
            let one = session.inner_scaled(None, &a, &b, None).unwrap().0;
            let group = Group::new(vec![Arc::clone(&first), Arc::clone(&second)]).unwrap();
            let mut session = Contraction::over(&group, given.clone()).unwrap();
            let both = session.inner_scaled(None, &a, &b, None).unwrap().0;
            // Whether a library chooses the same kernel depends on the alignment, unless cores are copied.
            let same = location == Location::Host || ranks[1] <= 64;
            assert!(!same || both == one, "{ranks:?}: {both:?}, {one:?}");
            let (want, size) = expected(&x, &y, (DType::CF64, DType::CF64), Conjugate::Bra);
            assert_close(&format!("{ranks:?}"), both, want, size, bound(&x, &y, DType::CF64));
        }
    }
}
