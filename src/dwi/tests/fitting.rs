//! Fits of diffusion tensors.

use std::sync::Arc;

use super::arrays::{batch, context, distance, elements, f64s, status, tensor, zeros};
use super::volume::{VOLUMES, VOXELS, volume, volume_tensors};
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::dense::{Mat, small};
use crate::dwi::sh::{monomial_row, monomials};
use crate::dwi::voxels::is_rejected;
use crate::dwi::{FitOptions, Nonpositive, Weighting, fit};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Real};
use crate::shape::Order;
use crate::sshopm::{Info, TensorStatus};
use crate::tensor::{Location, Symmetric, Tensor};

const ZERO_SIGNAL: [usize; 4] = [75, 178, 549, 818];

type Input = [Tensor; 3];

struct Extra<'a> {
    mask: Option<&'a Tensor>,
    weights: Option<&'a Tensor>,
    options: FitOptions,
}

fn plain() -> Extra<'static> {
    Extra { mask: None, weights: None, options: FitOptions::default() }
}

fn run(c: &Context, input: &Input, extra: &Extra<'_>, out: &mut Tensor, status: Option<&mut Tensor>) -> Result<Info> {
    let [s, b, g] = input;
    fit(c, None, s, b, g, extra.mask, extra.weights, &extra.options, out, None, status, &Progress::none())
}

fn golden<T: Real>(tolerance: f64) {
    let c = context(2);
    let expected = f64s(include_bytes!("../../../tests/golden/dwi/adc4_tensor.f64"));
    for storage in [Order::ColumnMajor, Order::RowMajor] {
        let input = volume_tensors(&c, storage, |x| x);
        let mut out = batch(&c, T::DTYPE, 4, VOXELS);
        let mut outcome = zeros(&c, DType::I32, &[VOXELS]);
        run(&c, &input, &plain(), &mut out, Some(&mut outcome)).unwrap();
        let d = distance(&elements::<T>(&out), &expected);
        assert!(d < tolerance, "{d}");
        for (v, s) in status(&outcome).into_iter().enumerate() {
            let expected = if ZERO_SIGNAL.contains(&v) { TensorStatus::Clamped } else { TensorStatus::Ok };
            assert_eq!(s, expected as i32, "voxel {v}");
        }
    }
}

#[test]
fn golden_tensors_f64() {
    golden::<f64>(1e-9);
}

#[test]
fn golden_tensors_f32() {
    golden::<f32>(1e-4);
}

/// Signals `S0 exp(-b A g^m)` of a known tensor for the volume's scheme with every other b doubled.
fn synthetic(c: &Arc<Context>, order: usize, voxels: usize) -> (Input, Vec<f64>) {
    let v = volume();
    let u = (order + 1) * (order + 2) / 2;
    let bvals: Vec<f64> = v.bvals.iter().enumerate().map(|(k, b)| if k % 2 == 0 { *b } else { 2.0 * b }).collect();
    let (mut signals, mut truth, mut row) = (Vec::new(), Vec::new(), vec![0.0; u]);
    for t in 0..voxels {
        // Over the multinomial, so that no order's profile is so large that its signals vanish.
        let a: Vec<f64> = monomials(order)
            .enumerate()
            .map(|(k, (_, multinomial))| 3e-4 * ((k + 3 * t) as f64).cos() / multinomial)
            .collect();
        for (b, g) in bvals.iter().zip(v.bvecs.chunks_exact(3)) {
            let mut adc = 0.0;
            if *b > 50.0 {
                monomial_row(order, [g[0], g[1], g[2]], &mut row);
                adc = row.iter().zip(&a).map(|(r, a)| r * a).sum::<f64>();
            }
            signals.push((100.0 + t as f64) * (-b * adc).exp());
        }
        truth.extend(a);
    }
    let input = [
        tensor(c, Order::ColumnMajor, &[VOLUMES, voxels], &signals),
        tensor(c, Order::ColumnMajor, &[VOLUMES], &bvals),
        tensor(c, Order::ColumnMajor, &[3, VOLUMES], &v.bvecs),
    ];
    (input, truth)
}

#[test]
fn known_tensors_of_every_order_are_recovered_by_every_weighting() {
    let c = context(2);
    let ones = tensor(&c, Order::RowMajor, &[VOLUMES, 130], &vec![2.5f32; VOLUMES * 130]);
    for order in [2, 4, 6, 8] {
        let (input, truth) = synthetic(&c, order, 130);
        let options = FitOptions { weighting: Weighting::Signal, ..FitOptions::default() };
        let weighted = Extra { options, ..plain() };
        let own = Extra { weights: Some(&ones), ..plain() };
        for extra in [plain(), weighted, own] {
            let mut out = batch(&c, DType::F64, order as i64, 130);
            run(&c, &input, &extra, &mut out, None).unwrap();
            // Rounding of the signals, 1e-16, over b D = 1e-1, times the condition, below 1e3 at order 8.
            let d = distance(&elements::<f64>(&out), &truth);
            assert!(d < 1e-11, "order {order}: {d}");
        }
    }
}

/// Minimizes `sum w (y - row x)^2` by its normal equations, written from the definition.
fn reference(rows: &[Vec<f64>], y: &[f64], w: &[f64]) -> Vec<f64> {
    let u = rows[0].len();
    let sum = |f: &dyn Fn(usize) -> f64| (0..rows.len()).map(f).sum::<f64>();
    let gram: Vec<f64> = (0..u * u).map(|at| sum(&|k| w[k] * rows[k][at / u] * rows[k][at % u])).collect();
    let side: Vec<f64> = (0..u).map(|i| sum(&|k| w[k] * rows[k][i] * y[k])).collect();
    let inverse = small::inverse(Mat::from_rows(&gram, u, u)).unwrap();
    (0..u).map(|i| (0..u).map(|j| inverse[(i, j)] * side[j]).sum()).collect()
}

#[test]
fn weighted_fits_minimize_the_weighted_sum() {
    let c = context(1);
    let v = volume();
    let input = volume_tensors(&c, Order::ColumnMajor, f64::from);
    let weights: Vec<f64> = (0..VOLUMES * VOXELS).map(|k| 1.0 + (k as f64).sin()).collect();
    let weight_tensor = tensor(&c, Order::ColumnMajor, &[VOLUMES, VOXELS], &weights);
    let options = FitOptions { weighting: Weighting::Signal, ..FitOptions::default() };
    for (own, extra) in
        [(true, Extra { weights: Some(&weight_tensor), ..plain() }), (false, Extra { options, ..plain() })]
    {
        let mut out = batch(&c, DType::F64, 4, VOXELS);
        run(&c, &input, &extra, &mut out, None).unwrap();
        let found = elements::<f64>(&out);
        for voxel in [0, 17, 501, 999] {
            let s: Vec<f64> = v.signals[voxel * VOLUMES..][..VOLUMES].iter().map(|x| f64::from(*x)).collect();
            let (mut rows, mut y, mut w) = (Vec::new(), Vec::new(), Vec::new());
            for k in 1..VOLUMES {
                let g = &v.bvecs[3 * k..3 * k + 3];
                let norm = g.iter().map(|x| x * x).sum::<f64>().sqrt();
                let mut row = vec![0.0; 15];
                monomial_row(4, [g[0] / norm, g[1] / norm, g[2] / norm], &mut row);
                rows.push(row);
                y.push(-(s[k] / s[0]).ln() / v.bvals[k]);
                w.push(if own { weights[voxel * VOLUMES + k] } else { (v.bvals[k] * s[k]).powi(2) });
            }
            let d = distance(&found[15 * voxel..15 * voxel + 15], &reference(&rows, &y, &w));
            assert!(d < 1e-10, "voxel {voxel}: {d}");
        }
    }
}

#[test]
fn a_skipped_signal_is_as_if_it_had_not_been_measured() {
    let c = context(1);
    let (input, truth) = synthetic(&c, 4, 3);
    let [mut signals, b, g] = input;
    signals.view_mut::<f64>("s").unwrap().set(&[7, 1], 0.0);
    signals.view_mut::<f64>("s").unwrap().set(&[9, 1], -3.0);
    let input = [signals, b, g];
    let options = FitOptions { nonpositive: Nonpositive::Skip, ..FitOptions::default() };
    let mut outcome = zeros(&c, DType::I32, &[3]);
    let mut out = batch(&c, DType::F64, 4, 3);
    run(&c, &input, &Extra { options, ..plain() }, &mut out, Some(&mut outcome)).unwrap();
    assert_eq!(status(&outcome), [0, TensorStatus::Clamped as i32, 0]);
    assert!(distance(&elements::<f64>(&out), &truth) < 1e-11);
    // Clamped, the two spoil the voxel, and no other.
    run(&c, &input, &plain(), &mut out, None).unwrap();
    let clamped = elements::<f64>(&out);
    assert!(distance(&clamped[15..30], &truth[15..30]) > 1e-2);
    assert!(distance(&clamped[..15], &truth[..15]) < 1e-11 && distance(&clamped[30..], &truth[30..]) < 1e-11);
}

#[test]
fn a_bad_voxel_is_zero_and_harms_no_other() {
    let c = context(2);
    let (input, _) = synthetic(&c, 4, 300);
    let mut clean = batch(&c, DType::F64, 4, 300);
    run(&c, &input, &plain(), &mut clean, None).unwrap();
    let [mut signals, b, g] = input;
    let bad = [
        (3, 5, f64::NAN, TensorStatus::Nonfinite),
        (130, 5, f64::INFINITY, TensorStatus::Nonfinite),
        (131, 0, f64::NAN, TensorStatus::Nonfinite),
        (132, 0, 0.0, TensorStatus::Signal),
        (299, 0, -1.0, TensorStatus::Signal),
    ];
    for (voxel, row, x, _) in bad {
        signals.view_mut::<f64>("s").unwrap().set(&[row, voxel], x);
    }
    let mut masked = vec![1u8; 300];
    masked[4] = 0;
    masked[256..260].fill(0);
    let mask = tensor(&c, Order::ColumnMajor, &[300], &masked);
    let (mut out, mut outcome) = (batch(&c, DType::F64, 4, 300), zeros(&c, DType::I32, &[300]));
    let mut s0 = zeros(&c, DType::F64, &[300]);
    out.view_mut::<f64>("out").unwrap().data().fill(7.0);
    s0.view_mut::<f64>("s0").unwrap().data().fill(7.0);
    let options = FitOptions::default();
    let progress = Progress::none();
    let info = fit(
        &c,
        None,
        &signals,
        &b,
        &g,
        Some(&mask),
        None,
        &options,
        &mut out,
        Some(&mut s0),
        Some(&mut outcome),
        &progress,
    )
    .unwrap();
    let (found, clean, outcome, s0) =
        (elements::<f64>(&out), elements::<f64>(&clean), status(&outcome), elements::<f64>(&s0));
    let mut lost = 0;
    for v in 0..300 {
        let expected = if masked[v] == 0 {
            TensorStatus::Masked
        } else {
            bad.iter().find(|b| b.0 == v).map_or(TensorStatus::Ok, |b| b.3)
        };
        assert_eq!(outcome[v], expected as i32, "voxel {v}");
        lost += i64::from(is_rejected(expected));
        let (found, clean) = (&found[15 * v..15 * v + 15], &clean[15 * v..15 * v + 15]);
        if expected == TensorStatus::Ok {
            assert_eq!(found, clean, "voxel {v}");
            assert!((s0[v] - (100.0 + v as f64)).abs() < 1e-11);
        } else {
            assert!(found.iter().all(|x| *x == 0.0), "voxel {v}");
        }
    }
    assert_eq!((info.tensors, info.skipped_tensors, info.chunks), (300, lost, 1));
    assert_eq!(info.reason, "on the CPU of the context");
}

#[test]
fn results_depend_neither_on_threads_nor_on_the_split() {
    let input_of = |c: &Arc<Context>| volume_tensors(c, Order::ColumnMajor, f32::from);
    let mut results = Vec::new();
    for threads in [1, 4] {
        let c = context(threads);
        let mut out = batch(&c, DType::F32, 6, VOXELS);
        run(&c, &input_of(&c), &plain(), &mut out, None).unwrap();
        results.push(elements::<f32>(&out));
    }
    assert_eq!(results[0], results[1]);
    let c = context(2);
    let v = volume();
    let [_, b, g] = input_of(&c);
    let part: Vec<f32> = v.signals[333 * VOLUMES..340 * VOLUMES].iter().map(|x| f32::from(*x)).collect();
    let input = [tensor(&c, Order::RowMajor, &[VOLUMES, 7], &part), b, g];
    let mut out = batch(&c, DType::F32, 6, 7);
    run(&c, &input, &plain(), &mut out, None).unwrap();
    assert_eq!(elements::<f32>(&out), results[0][333 * 28..340 * 28]);
}

#[test]
fn outputs_may_have_any_strides_and_signals_any_type() {
    let c = context(2);
    let mut expected = batch(&c, DType::F64, 2, VOXELS);
    run(&c, &volume_tensors(&c, Order::ColumnMajor, |x| x), &plain(), &mut expected, None).unwrap();
    let expected = elements::<f64>(&expected);
    let shape = Symmetric::new(2, 3).unwrap();
    let mut out = Tensor::create_symmetric(&c, DType::F64, Location::Host, Order::RowMajor, shape, VOXELS).unwrap();
    let inputs = [
        volume_tensors(&c, Order::RowMajor, i32::from),
        volume_tensors(&c, Order::ColumnMajor, f64::from),
        volume_tensors(&c, Order::ColumnMajor, f32::from),
    ];
    for input in &inputs {
        out.view_mut::<f64>("out").unwrap().data().fill(7.0);
        run(&c, input, &plain(), &mut out, None).unwrap();
        let view = out.view::<f64>("out").unwrap();
        for v in 0..VOXELS {
            for k in 0..6 {
                assert_eq!(view.get(&[k, v]), expected[6 * v + k]);
            }
        }
    }
}

#[test]
fn a_fit_is_charged_to_the_limit_of_host_memory() {
    let c = context(1);
    let input = volume_tensors(&c, Order::ColumnMajor, |x| x);
    let mut out = batch(&c, DType::F64, 6, VOXELS);
    let options = FitOptions { weighting: Weighting::Signal, ..FitOptions::default() };
    let used = c.host_budget().used();
    c.host_budget().restart_peak();
    run(&c, &input, &Extra { options, ..plain() }, &mut out, None).unwrap();
    let most = c.host_budget().peak();
    // 28 unknowns, of which each pair is multiplied for each of the 64 directions; triangles, weights and results of a
    // block.
    let (pairs, lanes) = (28 * 29 / 2, 128);
    let least = 8 * (64 * pairs + 64 * 28 + lanes * (pairs + 3 * 64 + 28));
    assert!(most - used > least, "{} bytes, at least {least}", most - used);
    assert_eq!(c.host_budget().used(), used);

    let of = |host_memory_limit: u64| {
        let backend = BackendChoice::Cpu;
        let o = Options { backend, threads: 1, host_memory_limit, ..Options::default() };
        let c = Context::new(o).unwrap();
        let input = volume_tensors(&c, Order::ColumnMajor, |x| x);
        let mut limited = batch(&c, DType::F64, 6, VOXELS);
        let outcome = run(&c, &input, &Extra { options, ..plain() }, &mut limited, None);
        outcome.map(|_| elements::<f64>(&limited))
    };
    assert_eq!(of(most).unwrap(), elements::<f64>(&out));
    let refused = of(most - least / 2);
    assert!(matches!(refused, Err(Error::OutOfMemory { limit: Some(_), .. })), "{refused:?}");
}

/// The least limit of two threads is that of all their memory, whichever thread comes first to a block: a byte less is
/// refused in every call.
#[test]
fn the_least_limit_does_not_depend_on_how_threads_are_scheduled() {
    let runs = |threads: usize, host_memory_limit: u64| {
        let backend = BackendChoice::Cpu;
        let c = Context::new(Options { backend, threads, host_memory_limit, ..Options::default() }).unwrap();
        let input = volume_tensors(&c, Order::ColumnMajor, |x| x);
        match run(&c, &input, &plain(), &mut batch(&c, DType::F64, 4, VOXELS), None) {
            Ok(_) => true,
            Err(Error::OutOfMemory { .. }) => false,
            Err(other) => panic!("{other}"),
        }
    };
    let least = |threads| {
        let (mut low, mut high) = (0, 64 << 20);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            (low, high) = if runs(threads, middle) { (low, middle) } else { (middle, high) };
        }
        high
    };
    let (one, two) = (least(1), least(2));
    // 15 unknowns and 64 logarithms of each of the 128 voxels of a block.
    assert!(two - one > 8 * 128 * (15 + 64), "{one} and {two} bytes");
    for _ in 0..40 {
        assert!(!runs(2, two - 1) && runs(2, two), "{two} bytes");
    }
}

#[test]
fn wrong_arguments_are_named() {
    let c = context(1);
    let (input, _) = synthetic(&c, 4, 2);
    let message = |extra: &Extra<'_>, out: &mut Tensor| run(&c, &input, extra, out, None).unwrap_err().to_string();
    let odd = message(&plain(), &mut batch(&c, DType::F64, 3, 2));
    assert_eq!(odd, "tensors: has the odd order 3; functions of diffusion are even, so the order must be even");
    let big = message(&plain(), &mut batch(&c, DType::F64, 10, 2));
    assert_eq!(big, "bvecs: 64 directions determine 64 coefficients, order 10 needs 66 distinct axes");
    let options = FitOptions { clamp: 1.0, ..FitOptions::default() };
    assert!(message(&Extra { options, ..plain() }, &mut batch(&c, DType::F64, 4, 2)).starts_with("clamp: is 1"));
    let mut ints =
        Tensor::create_symmetric(&c, DType::I32, Location::Host, Order::ColumnMajor, Symmetric::new(4, 3).unwrap(), 2)
            .unwrap();
    assert!(message(&plain(), &mut ints).starts_with("tensors: are I32"));
    let mask = zeros(&c, DType::U8, &[3]);
    let masked = Extra { mask: Some(&mask), ..plain() };
    assert!(message(&masked, &mut batch(&c, DType::F64, 4, 2)).starts_with("mask: has dimensions [3]"));
}

#[test]
fn a_call_can_be_cancelled() {
    let c = context(1);
    let (input, _) = synthetic(&c, 2, 2);
    let no = |_: i64, _: i64, _: f64| false;
    let progress = c.progress(Some(&no));
    let mut out = batch(&c, DType::F64, 2, 2);
    let [s, b, g] = &input;
    let r = fit(&c, None, s, b, g, None, None, &FitOptions::default(), &mut out, None, None, &progress);
    assert_eq!(r, Err(Error::Cancelled));
}
