//! Many products in one call against the same ones on the CPU.

use std::sync::Arc;

use super::inputs::{Plain, TYPES};
use super::oracle::{assert_close, bound, epsilon, expected};
use crate::backend::gpu::Gpu;
use crate::backend::memory::Memory;
use crate::contraction::Contraction;
use crate::group::Group;
use crate::scalar::DType;
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::trains::options::Conjugate;
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

/// Trains of three shapes. Some are contiguous, some are borrowed core by core with gaps.
fn list(seeds: std::ops::Range<u64>) -> Vec<Plain> {
    seeds
        .map(|seed| match seed % 3 {
            0 => Plain::random(&[2; 6], &[1, 2, 9, 16, 5, 2, 1], seed, 1.0),
            1 => Plain::random(&[2, 3, 2], &[3, 17, 4, 3], seed, 1.0),
            _ => Plain::random(&[2; 4], &[1, 30, 33, 7, 1], seed, 1.0),
        })
        .collect()
}

#[test]
#[ignore = "needs a GPU"]
fn batches_agree_with_the_cpu_wherever_the_trains_are() {
    let context = gpu(0);
    for types in TYPES.map(|t| (t, t)).into_iter().chain([(DType::F64, DType::CF64), (DType::CF32, DType::F32)]) {
        let (x, y) = (list(0..19), list(60..79));
        for (first, second) in
            [(Location::Device, Location::Device), (Location::Host, Location::Host), (Location::Host, Location::Device)]
        {
            let made = |list: &[Plain], dtype, location| -> Vec<TensorTrain> {
                list.iter().map(|p| p.train(&context, dtype, location)).collect()
            };
            let (tx, ty) = (made(&x, types.0, first), made(&y, types.1, second));
            let (rx, ry): (Vec<_>, Vec<_>) = (tx.iter().collect(), ty.iter().collect());
            let mut session = Contraction::new(&context, Options::default()).unwrap();
            let mut sums = vec![Scaled::ONE; x.len()];
            session.inner_batch(None, &rx, &ry, &mut sums, None).unwrap();
            let mut again = vec![Scaled::ONE; x.len()];
            session.inner_batch(None, &rx, &ry, &mut again, None).unwrap();
            assert_eq!(sums, again);
            for k in 0..x.len() {
                let (want, size) = expected(&x[k], &y[k], types, Conjugate::Bra);
                let single = if epsilon(types.0) > 1e-10 { DType::F32 } else { DType::F64 };
                assert_close(&format!("{types:?} place {k}"), sums[k], want, size, bound(&x[k], &y[k], single));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn gram_matrices_meet_every_train_once() {
    let context = gpu(0);
    for location in [Location::Host, Location::Device] {
        let plain: Vec<_> = (0..9).map(|s| Plain::random(&[2; 5], &[1, 2, 12, 8, 2, 1], s, 1.0)).collect();
        let trains: Vec<_> = plain.iter().map(|p| p.train(&context, DType::CF64, location)).collect();
        let list: Vec<_> = trains.iter().collect();
        let mut sums = vec![Scaled::ONE; 81];
        let mut session = Contraction::new(&context, Options::default()).unwrap();
        session.gram(None, &list, &list, &mut sums, None).unwrap();
        for (k, sum) in sums.iter().enumerate() {
            let (x, y) = (&plain[k % 9], &plain[k / 9]);
            let (want, size) = expected(x, y, (DType::CF64, DType::CF64), Conjugate::Bra);
            assert_close(&format!("{k}"), *sum, want, size, bound(x, y, DType::CF64));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn cores_borrowed_one_by_one_are_taken_with_gaps_and_without() {
    let context = gpu(0);
    let device = context.gpu("test").unwrap();
    for (gap, offset) in [(0, 0), (16, 0), (8, 8)] {
        let plain: Vec<_> = (0..5).map(|s| Plain::random(&[2, 3, 2], &[1, 6, 5, 1], s, 1.0)).collect();
        let mut memory = device.allocate("cores of a test", 1 << 20).unwrap();
        let mut at = offset;
        let mut trains = Vec::new();
        for p in &plain {
            let mut cores = Vec::new();
            for k in 0..3 {
                let bytes = p.cores[k].len() * 8;
                device.store_numbers(device.default_stream(), &p.typed::<f64>(k), &mut memory, at).unwrap();
                cores.push(Memory::Device(device.borrow("core", memory.address() + at as u64, bytes, None).unwrap()));
                at += bytes + gap;
            }
            let shape = Shape::new("x", &p.modes, &p.ranks).unwrap();
            let train = TensorTrain::from_cores(&context, DType::F64, shape, cores, true).unwrap();
            assert_eq!(train.is_packed(), gap == 0);
            trains.push(train);
        }
        let list: Vec<_> = trains.iter().collect();
        let other: Vec<_> = trains.iter().rev().collect();
        let mut sums = vec![Scaled::ONE; 5];
        let mut session = Contraction::new(&context, Options::default()).unwrap();
        session.inner_batch(None, &list, &other, &mut sums, None).unwrap();
        for k in 0..5 {
            let (want, size) = expected(&plain[k], &plain[4 - k], (DType::F64, DType::F64), Conjugate::Bra);
            assert_close(&format!("{gap} {k}"), sums[k], want, size, bound(&plain[k], &plain[k], DType::F64));
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_place_of_a_batch_has_an_outcome_of_its_own() {
    let context = gpu(0);
    let sizes = [1.0, 2.0f64.powi(900), 2.0f64.powi(-900), 0.0, f64::NAN];
    let trains: Vec<_> = sizes
        .iter()
        .map(|&size| Plain::random(&[2; 3], &[1, 4, 3, 1], 5, size).train(&context, DType::F64, Location::Device))
        .collect();
    let list: Vec<_> = trains.iter().collect();
    let mut sums = vec![Scaled::ONE; 5];
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    session.inner_batch(None, &list, &list, &mut sums, None).unwrap();
    for (sum, shift) in [(sums[1], 6 * 900), (sums[2], -6 * 900)] {
        let back = Scaled { exponent: sum.exponent - shift, ..sum };
        let off = back.plus(sums[0].times(Scaled::real(-1.0))).over(sums[0]).map_or(0.0, |q| q.log_abs().exp());
        assert!(off < 1e-13, "{sum:?}");
    }
    assert!(sums[3].is_zero() && !sums[4].is_finite());
}

#[test]
#[ignore = "needs two GPUs"]
fn batches_on_the_host_are_dealt_out_over_two_devices() {
    if Gpu::device_count().unwrap() < 2 {
        println!("skipped: this machine has one GPU");
        return;
    }
    let (first, second) = (gpu(0), gpu(1));
    let (x, y) = (list(0..19), list(60..79));
    let tx: Vec<_> = x.iter().map(|p| p.train(&first, DType::F64, Location::Host)).collect();
    let ty: Vec<_> = y.iter().map(|p| p.train(&first, DType::F64, Location::Host)).collect();
    let (rx, ry): (Vec<_>, Vec<_>) = (tx.iter().collect(), ty.iter().collect());
    let mut session = Contraction::new(&first, Options::default()).unwrap();
    let (mut one, mut both) = (vec![Scaled::ONE; 19], vec![Scaled::ONE; 19]);
    session.inner_batch(None, &rx, &ry, &mut one, None).unwrap();
    let group = Group::new(vec![Arc::clone(&first), Arc::clone(&second)]).unwrap();
    let mut session = Contraction::over(&group, Options::default()).unwrap();
    session.inner_batch(None, &rx, &ry, &mut both, None).unwrap();
    // The number of blocks of a ring depends on the number of devices, and so do the roundings.
    for (a, b) in one.iter().zip(&both) {
        let off = b.plus(a.times(Scaled::real(-1.0))).over(*a).map_or(0.0, |q| q.log_abs().exp());
        assert!(off < 1e-13, "{a:?} {b:?}");
    }
}
