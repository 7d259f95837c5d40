//! Contractions with operators on a GPU against the CPU.

use std::sync::Arc;

use super::inputs::{Plain, TYPES, cpu, options, put};
use super::oracle::{assert_close, bound, epsilon, expected};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::contraction::Contraction;
use crate::operator::models::Heisenberg;
use crate::operator::{Environments, Side, Trains, correlation, expect_local, heisenberg, ising, rayleigh, sandwich};
use crate::scalar::{Complex, DType};
use crate::stream::Stream;
use crate::tensor::Location;
use crate::tensor::train::TrainMatrix;
use crate::trains::options::{Conjugate, Method};
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

/// Trains of spins, open and cyclic, with different ranks.
pub(super) fn cases() -> Vec<(Plain, Plain, bool)> {
    [
        (vec![1, 2, 4, 7, 9, 3, 1], vec![1, 2, 3, 8, 5, 2, 1], false),
        (vec![3, 4, 2, 5, 3], vec![2, 6, 3, 2, 2], true),
        (vec![1, 40, 70, 33, 1], vec![1, 50, 35, 60, 1], false),
    ]
    .into_iter()
    .map(|(rx, ry, ring)| {
        let modes = vec![2; rx.len() - 1];
        (Plain::random(&modes, &rx, 3, 1.0), Plain::random(&modes, &ry, 4, 1.0), ring)
    })
    .collect()
}

pub(super) fn operators(context: &Arc<Context>, dtype: DType, d: usize, ring: bool) -> Vec<TrainMatrix> {
    let model = Heisenberg { couplings: [1.0, 0.7, -0.3], field: 0.4, ring, ..Heisenberg::default() };
    vec![ising(context, dtype, d, 1.1, 0.6, ring).unwrap(), heisenberg(context, dtype, d, &model).unwrap()]
}

fn agree(what: &str, got: Complex<f64>, want: Complex<f64>, size: f64, dtype: DType) {
    let off = (got - want).norm();
    assert!(off <= 2e3 * epsilon(dtype) * size, "{what}: {got} for {want}, off by {off:e}");
}

#[test]
#[ignore = "needs a GPU"]
fn sandwiches_and_quotients_agree_with_the_cpu() {
    let (context, host) = (gpu(0), cpu());
    for types in TYPES.map(|t| (t, t)).into_iter().chain([(DType::F64, DType::CF64), (DType::CF32, DType::F32)]) {
        for (x, y, ring) in cases() {
            let d = x.modes.len();
            let real = if epsilon(types.0) > 1e-10 { DType::F32 } else { DType::F64 };
            let here = operators(&context, real, d, ring);
            let there = operators(&host, real, d, ring);
            let (a, b) = (x.train(&context, types.0, Location::Device), y.train(&context, types.1, Location::Device));
            let (c, e) = (x.train(&host, types.0, Location::Host), y.train(&host, types.1, Location::Host));
            for (h, g) in here.iter().zip(&there) {
                for options in [Options::default(), options(Method::Reduced, Conjugate::None)] {
                    let (got, _) = sandwich(&context, &options, &Trains::new(&b, Some(h), &a)).unwrap();
                    let (want, _) = sandwich(&host, &options, &Trains::new(&e, Some(g), &c)).unwrap();
                    let norms = expected(&x, &y, (types.0, types.1), Conjugate::Bra).1.times(Scaled::real(8.0));
                    assert_close(&format!("{types:?} {ring}"), got, want, norms, 4.0 * bound(&x, &y, real));
                }
                let (got, want) = (
                    rayleigh(&context, &Options::default(), &a, h).unwrap(),
                    rayleigh(&host, &Options::default(), &c, g).unwrap(),
                );
                let plain = |s: Scaled| s.plain(DType::CF64).0;
                agree(&format!("{types:?} {ring}"), plain(got.quotient), plain(want.quotient), 8.0, real);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn local_expectations_and_correlations_agree_with_the_cpu() {
    let (context, host) = (gpu(0), cpu());
    let number = |re: f64, im: f64| Complex::new(re, im);
    let z = [number(1.0, 0.0), number(0.0, 0.0), number(0.0, 0.0), number(-1.0, 0.0)];
    let y = [number(0.0, 0.0), number(0.0, 1.0), number(0.0, -1.0), number(0.0, 0.0)];
    for dtype in TYPES {
        for (x, _, _) in cases() {
            let d = x.modes.len();
            let sites: Vec<usize> = (0..d).collect();
            let (a, c) = (x.train(&context, dtype, Location::Device), x.train(&host, dtype, Location::Host));
            for op in [&z, &y] {
                let got = expect_local(&context, &Options::default(), &a, op, &sites).unwrap();
                let want = expect_local(&host, &Options::default(), &c, op, &sites).unwrap();
                for k in 0..d {
                    agree(&format!("{dtype:?} {k}"), got[k], want[k], 1.0, dtype);
                }
            }
            let got = correlation(&context, &Options::default(), &a, &z, &y).unwrap();
            let want = correlation(&host, &Options::default(), &c, &z, &y).unwrap();
            for (k, (got, want)) in got.iter().zip(want.iter()).enumerate() {
                agree(&format!("{dtype:?} {k}"), *got, *want, 1.0, dtype);
            }
        }
    }
}

/// The effective operator of one site, applied to vectors in device memory.
fn apply_there(
    ours: &mut Environments,
    queue: Option<&Stream>,
    (context, trains): (&Arc<Context>, &Trains<'_>),
    k: usize,
    v: &[Complex<f64>],
    out: &mut [Complex<f64>],
) -> i64 {
    let gpu = context.gpu("test").unwrap();
    let stream = queue.and_then(Stream::gpu).unwrap_or_else(|| gpu.default_stream());
    let mut given = gpu.allocate_on(stream, "vector of a test", size_of_val(v)).unwrap();
    let found = gpu.allocate_on(stream, "vector of a test", size_of_val(out)).unwrap();
    gpu.store_numbers(stream, v, &mut given, 0).unwrap();
    let (given, place) = (given.whole(), found.whole());
    let exponent = ours.apply_on_device::<Complex<f64>>(queue, trains, (k, 1), given, place).unwrap();
    gpu.load_numbers(stream, &found, 0, out).unwrap();
    exponent
}

#[test]
#[ignore = "needs a GPU"]
fn environments_on_a_device_serve_a_sweep() {
    let (context, host) = (gpu(0), cpu());
    for (x, y, ring) in cases() {
        let d = x.modes.len();
        let (h, g) = (&operators(&context, DType::F64, d, ring)[1], &operators(&host, DType::F64, d, ring)[1]);
        let dtype = DType::CF64;
        let (mut a, b) = (x.train(&context, dtype, Location::Device), y.train(&context, dtype, Location::Device));
        let (mut c, e) = (x.train(&host, dtype, Location::Host), y.train(&host, dtype, Location::Host));
        let mut ours = Environments::new(&context, &Options::default(), &Trains::new(&b, Some(h), &a)).unwrap();
        let mut theirs = Environments::new(&host, &Options::default(), &Trains::new(&e, Some(g), &c)).unwrap();
        let queues = [Stream::new(&context).unwrap(), Stream::new(&context).unwrap()];
        for round in 0..2 {
            for k in 0..d {
                let (on, off) = (Trains::new(&b, Some(h), &a), Trains::new(&e, Some(g), &c));
                // Another stream each time. Each call is ordered after the one before.
                let queue = |turn: usize| queues.get((k + turn) % 3);
                let (got, want) = (ours.value(queue(0), &on, k).unwrap(), theirs.value(None, &off, k).unwrap());
                let difference = got.plus(want.times(Scaled::real(-1.0))).over(want);
                assert!(difference.is_some_and(|q| q.log_abs() < (1e-9f64).ln()), "{k}: {got:?}, {want:?}");
                let ranks = a.shape().ranks();
                let v: Vec<Complex<f64>> = (0..ranks[k] * 2 * ranks[k + 1])
                    .map(|j| Complex::new((j as f64).sin(), (j as f64 * 0.7).cos()))
                    .collect();
                let count = b.shape().ranks()[k] * 2 * b.shape().ranks()[k + 1];
                let (mut p, mut q) = (vec![Complex::new(0.0, 0.0); count], vec![Complex::new(0.0, 0.0); count]);
                let first = ours.apply(queue(1), &on, (k, 1), &v, &mut p).unwrap();
                let mut same = p.clone();
                assert_eq!(apply_there(&mut ours, queue(2), (&context, &on), k, &v, &mut same), first);
                assert!(p == same, "round {round}, {k}: vectors on the device");
                let second = theirs.apply(None, &off, (k, 1), &v, &mut q).unwrap();
                let most = q.iter().map(|z| z.norm()).fold(0.0, f64::max);
                for (p, q) in p.iter().zip(&q) {
                    let p = *p * 2.0f64.powi(i32::try_from(first - second).unwrap());
                    assert!((p - q).norm() <= 1e-10 * most, "round {round}, {k}: {p}, {q}");
                }
                let dims = ours.dims(&on, k).unwrap();
                let mut read = vec![Complex::new(0.0f64, 0.0); dims.iter().product()];
                ours.get(None, &on, Side::Left, k, &mut read).unwrap();
                assert!(read.iter().all(|z| z.re.is_finite() && z.im.is_finite()));
            }
            // Another core at the site in the middle.
            let other = Plain::random(&x.modes, &x.ranks, 90 + round, 1.0);
            for (context, train) in [(&context, &mut a), (&host, &mut c)] {
                let (memory, offset) = train.memory_mut("x", 1).unwrap();
                put(context, memory, offset * 16, &other.typed::<Complex<f64>>(1));
            }
            ours.update_core(1);
            theirs.update_core(1);
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn operators_run_in_the_order_of_the_callers_stream() {
    let context = gpu(0);
    let options = Options::default();
    for (d, rank) in [(6, 20), (40, 120)] {
        let mut ranks = vec![rank; d + 1];
        (ranks[0], ranks[d]) = (1, 1);
        let plain = Plain::random(&vec![2; d], &ranks, 3, 1.0);
        let mut x = plain.train(&context, DType::F64, Location::Device);
        let h = ising(&context, DType::F64, d, 1.0, 0.5, false).unwrap();
        let op = [1.0, 0.0, 0.0, -1.0].map(|re| Complex::new(re, 0.0));
        let queue = Stream::new(&context).unwrap();
        let mut session = Contraction::new(&context, options.clone()).unwrap();
        let own = session.rayleigh(None, &x, &h, None).unwrap();
        let local = session.expect_local(None, &x, &op, &[0, d - 1], None).unwrap();
        let found = session.rayleigh(Some(&queue), &x, &h, None).unwrap();
        assert_eq!((found.quotient, found.numerator), (own.quotient, own.numerator));
        assert_eq!(session.expect_local(Some(&queue), &x, &op, &[0, d - 1], None).unwrap().values, local.values);
        let pairs = session.correlation(Some(&queue), &x, &op, &op, None).unwrap();
        assert_eq!(pairs.values, session.correlation(None, &x, &op, &op, None).unwrap().values);
        // A long kernel, and then zeros for a core: a call that does not wait for them reads the old numbers.
        let (device, gpu_queue) = (context.gpu("x").unwrap(), queue.gpu().unwrap());
        let mut target = device.allocate_on(gpu_queue, "long work", 1 << 30).unwrap();
        for byte in 0..20 {
            device.fill(gpu_queue, &mut target, 0, 1 << 30, byte).unwrap();
        }
        let bytes = x.shape().core_len(d / 2) * 8;
        let (Memory::Device(cores), first) = x.memory_mut("x", d / 2).unwrap() else { panic!("not on the device") };
        device.fill(gpu_queue, cores, first * 8, bytes, 0).unwrap();
        let trains = Trains::new(&x, Some(&h), &x);
        assert_eq!(session.sandwich(Some(&queue), &trains, None).unwrap().0, Scaled::ZERO);
    }
}
