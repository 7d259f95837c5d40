//! Norms and distances by QR factors against the CPU, and properties that dense halves, squaring and QR factors share.

use super::dense::least_workspace;
use super::inputs::{Plain, TYPES, cpu, mixed, options};
use super::oracle::{assert_close, assert_sizes_are_exponents, bound, common, rounded, wide};
use crate::backend::memory::Memory;
use crate::contraction::Contraction;
use crate::error::Error;
use crate::scalar::DType;
use crate::stream::Stream;
use crate::tensor::Location;
use crate::tensor::train::TensorTrain;
use crate::trains::options::{Conjugate, Method, NormMethod};
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

fn qr() -> Options {
    Options { norm_method: NormMethod::Qr, ..Options::default() }
}

/// The distance of x and y, and the sum of their norms, in double precision on the CPU.
fn expected_distance(x: &Plain, y: &Plain, types: (DType, DType), cut: Option<usize>) -> (Scaled, Scaled) {
    let context = cpu();
    let x = rounded(x, types.0).train(&context, wide(types.0), Location::Host);
    let y = rounded(y, types.1).train(&context, wide(types.1), Location::Host);
    let mut session = Contraction::new(&context, Options { cut, ..qr() }).unwrap();
    let mut norm = |t: &TensorTrain| session.norm_scaled(None, t, None).unwrap().0;
    let size = norm(&x).plus(norm(&y));
    (session.distance_scaled(None, &x, &y, None).unwrap().0, size)
}

#[test]
#[ignore = "needs a GPU"]
fn distances_of_every_shape_agree_with_the_cpu() {
    let context = gpu(0);
    for types in mixed() {
        for (modes, rx, ry) in [
            (vec![5], vec![1, 1], vec![1, 1]),
            (vec![5], vec![3, 3], vec![7, 7]),
            (vec![1, 1], vec![1, 4, 1], vec![1, 1, 1]),
            (vec![3, 4], vec![1, 30, 1], vec![1, 9, 1]),
            (vec![2, 1, 3, 2], vec![4, 17, 3, 8, 4], vec![5, 6, 20, 4, 5]),
            (vec![3, 1, 5, 2, 3, 7], vec![1, 1, 33, 17, 3, 1, 1], vec![1, 2, 64, 50, 90, 5, 1]),
            (vec![4, 3, 3], vec![3, 1, 9, 3], vec![1, 5, 1, 1]),
        ] {
            let (x, y) = (Plain::random(&modes, &rx, 5, 1.0), Plain::random(&modes, &ry, 6, 1.0));
            for cut in [None, Some(0), Some(modes.len() - 1)] {
                let (want, size) = expected_distance(&x, &y, types, cut);
                let mut session = Contraction::new(&context, Options { cut, ..qr() }).unwrap();
                for location in [Location::Host, Location::Device] {
                    let (a, b) = (x.train(&context, types.0, location), y.train(&context, types.1, location));
                    let (got, _) = session.distance_scaled(None, &a, &b, None).unwrap();
                    let what = format!("{types:?} {modes:?} {rx:?} {ry:?} {cut:?} {location:?}");
                    assert!(got.mantissa.im == 0.0 && got.mantissa.re >= 0.0, "{what}: {got:?}");
                    assert_close(&what, got, want, size, bound(&x, &y, common(types)));
                    assert_eq!(session.distance_scaled(None, &a, &b, None).unwrap().0, got, "{what}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn distances_of_close_trains_keep_their_digits() {
    let context = gpu(0);
    for dtype in [DType::F64, DType::CF64] {
        for (d, ranks) in [(8, [1, 4, 16, 40, 40, 40, 16, 4, 1]), (8, [5, 9, 20, 30, 31, 30, 20, 9, 5])] {
            let x = Plain::random(&vec![4; d], &ranks, 91, 0.3);
            let other = Plain::random(&vec![4; d], &ranks, 92, 0.3e-10);
            let mut y = Plain { modes: x.modes.clone(), ranks: x.ranks.clone(), cores: x.cores.clone() };
            for (to, by) in y.cores[3].iter_mut().zip(&other.cores[3]) {
                *to = (to.0 + by.0, to.1 + by.1);
            }
            let (want, size) = expected_distance(&x, &y, (dtype, dtype), None);
            let ratio = want.over(size).unwrap().log_abs().exp();
            assert!(ratio > 1e-12 && ratio < 1e-9, "{ratio:e}");
            let train = |p: &Plain| p.train(&context, dtype, Location::Device);
            let mut session = Contraction::new(&context, qr()).unwrap();
            let (got, _) = session.distance_scaled(None, &train(&x), &train(&y), None).unwrap();
            // The difference keeps the rounding errors of both trains.
            assert_close(&format!("{dtype:?} {ranks:?}"), got, want, size, 1e-14);
            assert_close(&format!("{dtype:?} {ranks:?}"), got, want, want, 1e-3);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn norms_by_factors_of_ten_thousand_sites_stay_in_range() {
    let (context, host) = (gpu(0), cpu());
    let d = 10_000;
    let mut ranks = vec![4; d + 1];
    (ranks[0], ranks[d]) = (1, 1);
    for (dtype, size) in [(DType::F32, 9.0), (DType::CF64, 0.001)] {
        let x = Plain::random(&vec![2; d], &ranks, 62, size);
        let want = {
            let x = rounded(&x, dtype).train(&host, wide(dtype), Location::Host);
            Contraction::new(&host, qr()).unwrap().norm_scaled(None, &x, None).unwrap().0
        };
        assert!(want.exponent.abs() > 5_000, "{want:?}");
        let x = (x.train(&context, dtype, Location::Device), bound(&x, &x, dtype));
        let (got, _) = Contraction::new(&context, qr()).unwrap().norm_scaled(None, &x.0, None).unwrap();
        assert_close(&format!("{dtype:?} {size}"), got, want, want, x.1);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn norms_of_huge_and_tiny_cores_differ_by_their_exponents_alone() {
    let context = gpu(0);
    for dtype in TYPES {
        for ranks in [[1, 4, 9, 6, 1], [3, 4, 9, 6, 3]] {
            let run = |factor: f64| {
                let x = Plain::random(&[3; 4], &ranks, 71, factor).train(&context, dtype, Location::Device);
                Contraction::new(&context, qr()).unwrap().norm_scaled(None, &x, None).unwrap().0
            };
            assert_sizes_are_exponents(&format!("{ranks:?}"), dtype, 4, run);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn norms_by_factors_of_zero_and_of_what_is_not_finite_come_out() {
    let context = gpu(0);
    for dtype in TYPES {
        for (modes, ranks) in [(vec![3], vec![1, 1]), (vec![2; 3], vec![1, 3, 3, 1]), (vec![2; 3], vec![2, 20, 30, 2])]
        {
            for bad in [0.0, f64::NAN, f64::INFINITY] {
                for k in 0..modes.len() {
                    let mut x = Plain::random(&modes, &ranks, 3, 1.0);
                    if bad == 0.0 {
                        x.cores[k].fill((0.0, 0.0));
                    } else {
                        x.cores[k][1] = (bad, 0.0);
                    }
                    let x = x.train(&context, dtype, Location::Device);
                    let mut session = Contraction::new(&context, qr()).unwrap();
                    let (got, _) = session.norm_scaled(None, &x, None).unwrap();
                    let wanted = (bad == 0.0, bad == 0.0);
                    assert_eq!((got.is_finite(), got.is_zero()), wanted, "{dtype:?} {ranks:?} {bad} {k}");
                }
            }
        }
    }
}

/// Number of calls that use dense halves, squaring or QR factors.
const CALLS: usize = 4;

fn given(which: usize, workspace_limit: u64) -> Options {
    let given = match which {
        0 => options(Method::Halves, Conjugate::Bra),
        1 => Options { repeat: 11, ..options(Method::Power, Conjugate::Bra) },
        _ => qr(),
    };
    Options { workspace_limit, ..given }
}

fn call(
    which: usize,
    session: &mut Contraction,
    stream: Option<&Stream>,
    (x, y): (&TensorTrain, &TensorTrain),
) -> crate::error::Result<(Scaled, crate::trains::info::Info)> {
    match which {
        0 | 1 => session.inner_scaled(stream, x, y, None),
        2 => session.norm_scaled(stream, x, None),
        _ => session.distance_scaled(stream, x, y, None),
    }
}

#[test]
#[ignore = "needs a GPU"]
fn halves_powers_and_factors_take_what_their_plans_say() {
    let context = gpu(0);
    let budget = context.device_budget();
    for dtype in TYPES {
        for (modes, ranks) in [
            (vec![4, 3, 5, 4], vec![1, 30, 70, 33, 1]),
            (vec![4, 3, 5, 4], vec![6, 9, 20, 8, 6]),
            (vec![2; 6], vec![1, 2, 4, 90, 4, 2, 1]),
            (vec![100, 3], vec![7, 2, 7]),
            (vec![3], vec![12, 12]),
        ] {
            let train = |seed| Plain::random(&modes, &ranks, seed, 1.0).train(&context, dtype, Location::Device);
            let (x, y) = (train(1), train(2));
            for which in 0..CALLS {
                let what = format!("{which} of {dtype:?} {ranks:?}");
                let needed = least_workspace(|limit| {
                    let mut session = Contraction::new(&context, given(which, limit)).unwrap();
                    call(which, &mut session, None, (&x, &y)).map(|_| ())
                });
                for limit in [0, needed] {
                    let mut session = Contraction::new(&context, given(which, limit)).unwrap();
                    // The first call also allocates the memory of the libraries.
                    let first = call(which, &mut session, None, (&x, &y)).unwrap().0;
                    let held = budget.used();
                    budget.restart_peak();
                    let (again, info) = call(which, &mut session, None, (&x, &y)).unwrap();
                    assert_eq!(first, again, "{what}");
                    let (used, said) = (budget.peak() - held, info.workspace_bytes as u64);
                    // The plan does not count scalars, exponents and results.
                    assert!(used <= said + (1 << 16), "{what}: {used} bytes, {info:?}");
                    assert!(limit == 0 || said <= limit, "{what}: {info:?}");
                    assert_eq!(budget.used(), held, "{what}: nothing is kept");
                }
                let mut session = Contraction::new(&context, given(which, needed - 1)).unwrap();
                let refused = call(which, &mut session, None, (&x, &y)).unwrap_err().to_string();
                assert!(refused.starts_with("workspace_limit"), "{what}: {refused}");
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn halves_powers_and_factors_run_in_the_order_of_the_callers_stream() {
    let context = gpu(0);
    let device = context.gpu("test").unwrap();
    for which in 0..CALLS {
        let mut x = Plain::random(&[3, 2], &[3, 40, 3], 3, 1.0).train(&context, DType::F64, Location::Device);
        let y = Plain::random(&[3, 2], &[3, 40, 3], 4, 1.0).train(&context, DType::F64, Location::Device);
        let queue = Stream::new(&context).unwrap();
        let mut session = Contraction::new(&context, given(which, 0)).unwrap();
        let own = call(which, &mut session, None, (&x, &y)).unwrap().0;
        assert_eq!(call(which, &mut session, Some(&queue), (&x, &y)).unwrap().0, own, "{which}");
        // A long kernel, and then zeros for a core: a call that does not wait for them reads the old numbers.
        let gpu_queue = queue.gpu().unwrap();
        let mut target = device.allocate_on(gpu_queue, "long work", 1 << 30).unwrap();
        for byte in 0..20 {
            device.fill(gpu_queue, &mut target, 0, 1 << 30, byte).unwrap();
        }
        let bytes = x.shape().core_len(1) * 8;
        let (Memory::Device(cores), first) = x.memory_mut("x", 1).unwrap() else { panic!("not on the device") };
        device.fill(gpu_queue, cores, first * 8, bytes, 0).unwrap();
        let found = call(which, &mut session, Some(&queue), (&x, &y)).unwrap().0;
        if which < 3 {
            assert_eq!(found, Scaled::ZERO, "{which}");
        } else {
            let norm = call(2, &mut session, Some(&queue), (&y, &y)).unwrap().0;
            assert_close("distance from 0", found, norm, norm, 1e-13);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn halves_powers_and_factors_can_be_cancelled() {
    let context = gpu(0);
    let x = Plain::random(&[3, 2, 3], &[3, 40, 30, 3], 3, 1.0).train(&context, DType::F64, Location::Device);
    let y = Plain::random(&[3, 2, 3], &[3, 40, 30, 3], 4, 1.0).train(&context, DType::F64, Location::Device);
    for which in 0..CALLS {
        let mut session = Contraction::new(&context, given(which, 0)).unwrap();
        let before = call(which, &mut session, None, (&x, &y)).unwrap().0;
        let stop = |_: i64, _: i64, _: f64| false;
        let cancelled = match which {
            0 | 1 => session.inner_scaled(None, &x, &y, Some(&stop)).err(),
            2 => session.norm_scaled(None, &x, Some(&stop)).err(),
            _ => session.distance_scaled(None, &x, &y, Some(&stop)).err(),
        };
        assert!(matches!(cancelled, Some(Error::Cancelled)), "{which}: {cancelled:?}");
        assert_eq!(call(which, &mut session, None, (&x, &y)).unwrap().0, before, "{which}");
    }
}
