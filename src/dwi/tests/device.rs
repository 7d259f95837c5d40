//! The GPU against the CPU, on a device.

use std::sync::Arc;

use super::arrays::{batch, context, distance, elements, status, tensor, zeros};
use super::volume::{VOLUMES, VOXELS, volume_tensors};
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::dwi::sh::coefficients;
use crate::dwi::{Basis, CsaOptions, FitOptions, Nonpositive, Weighting, csa, fit, sh_to_tensor, tensor_to_sh};
use crate::progress::Progress;
use crate::rng;
use crate::scalar::{DType, Element, Real};
use crate::shape::Order;
use crate::tensor::{Location, Symmetric, Tensor, copy};

fn gpu() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cuda, threads: 2, ..Options::default() }).unwrap()
}

/// Entries, S0 and status of a fit.
fn fitted<T: Real>(c: &Arc<Context>, storage: Order, order: i64, weights: bool, options: &FitOptions) -> Fitted {
    let [signals, bvals, bvecs] = volume_tensors(c, storage, |x| x);
    let mut mask = zeros(c, DType::U8, &[VOXELS]);
    for (v, m) in mask.view_mut::<u8>("mask").unwrap().data().iter_mut().enumerate() {
        *m = u8::from(v % 7 != 2);
    }
    let mut own = zeros(c, T::DTYPE, &[VOLUMES, VOXELS]);
    for (k, w) in own.view_mut::<T>("weights").unwrap().data().iter_mut().enumerate() {
        *w = T::from_f64(1.0 + 0.5 * rng::uniform(8, 60, 0, k as u32));
    }
    let (mut out, mut s0) = (batch(c, T::DTYPE, order, VOXELS), zeros(c, T::DTYPE, &[VOXELS]));
    let mut outcome = zeros(c, DType::I32, &[VOXELS]);
    let weights = weights.then_some(&own);
    let (s0_out, status_out) = (Some(&mut s0), Some(&mut outcome));
    let progress = Progress::none();
    fit(c, None, &signals, &bvals, &bvecs, Some(&mask), weights, options, &mut out, s0_out, status_out, &progress)
        .unwrap();
    Fitted { entries: elements::<T>(&out), s0: elements::<T>(&s0), status: status(&outcome) }
}

struct Fitted {
    entries: Vec<f64>,
    s0: Vec<f64>,
    status: Vec<i32>,
}

fn fits_agree<T: Real>(tolerance: f64) {
    let (cpu, gpu) = (context(2), gpu());
    for (order, storage) in [(2, Order::RowMajor), (4, Order::ColumnMajor), (6, Order::RowMajor)] {
        for (weighting, weights) in
            [(Weighting::Ordinary, false), (Weighting::Signal, false), (Weighting::Ordinary, true)]
        {
            let options = FitOptions { weighting, ..FitOptions::default() };
            let a = fitted::<T>(&cpu, storage, order, weights, &options);
            let b = fitted::<T>(&gpu, storage, order, weights, &options);
            let what = format!("order {order} {storage:?} {weighting:?} {weights}");
            assert_eq!(a.status, b.status, "{what}");
            let u = coefficients(order as usize);
            let largest = a.entries.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            for (k, (x, y)) in a.entries.iter().zip(&b.entries).enumerate() {
                // Clamped voxels hold logarithms of 1e-6, whose fits are as large as they are wrong.
                let scale = if a.status[k / u] == 0 { largest } else { 100.0 * largest };
                assert!((x - y).abs() <= tolerance * scale, "{what}: voxel {} entry {}: {x} {y}", k / u, k % u);
            }
            assert!(a.s0.iter().zip(&b.s0).all(|(x, y)| (x - y).abs() <= 1e-6 * x.abs()), "{what}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn fits_agree_with_the_cpu() {
    fits_agree::<f64>(1e-9);
    fits_agree::<f32>(2e-4);
}

#[test]
#[ignore = "needs a GPU"]
fn harmonics_agree_with_the_cpu_wherever_they_lie() {
    let (cpu, gpu) = (context(2), gpu());
    for order in [2, 4, 8, 10] {
        let u = coefficients(order as usize);
        let count = 500;
        let data: Vec<f64> = (0..u * count).map(|k| rng::uniform(9, 61, 0, k as u32)).collect();
        for basis in [Basis::Mrtrix3, Basis::Descoteaux07Legacy] {
            let sh = tensor(&cpu, Order::ColumnMajor, &[u, count], &data);
            let mut expected = batch(&cpu, DType::F64, order, count);
            sh_to_tensor(&cpu, None, &sh, basis, &mut expected).unwrap();
            let expected = elements::<f64>(&expected);
            for storage in [Order::ColumnMajor, Order::RowMajor] {
                let sh = tensor(&gpu, storage, &[u, count], &data);
                let mut there = batch(&gpu, DType::F64, order, count);
                sh_to_tensor(&gpu, None, &sh, basis, &mut there).unwrap();
                assert!(distance(&elements::<f64>(&there), &expected) < 1e-12, "order {order} {basis:?} {storage:?}");
                let shape = Symmetric::new(order, 3).unwrap();
                let mut device =
                    Tensor::create_symmetric(&gpu, DType::F64, Location::Device, Order::ColumnMajor, shape, count)
                        .unwrap();
                sh_to_tensor(&gpu, None, &sh, basis, &mut device).unwrap();
                copy(&gpu, None, &device, &mut there).unwrap();
                assert!(distance(&elements::<f64>(&there), &expected) < 1e-12);
                let mut back = zeros(&gpu, DType::F64, &[u, count]);
                tensor_to_sh(&gpu, None, &device, basis, &mut back).unwrap();
                assert!(distance(&elements::<f64>(&back), &data) < 1e-11, "order {order} {basis:?}: back");
            }
        }
    }
}

/// `host` itself, or a copy of it on the device.
fn at(c: &Arc<Context>, location: Location, order: Order, host: Tensor) -> Tensor {
    if location == Location::Host {
        return host;
    }
    let mut there = Tensor::create(c, host.dtype(), location, order, host.dims()).unwrap();
    copy(c, None, &host, &mut there).unwrap();
    there
}

/// The elements of a packed tensor, wherever it lies.
fn read<T: Element>(c: &Arc<Context>, from: &Tensor) -> Vec<T> {
    let mut here = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, from.dims()).unwrap();
    copy(c, None, from, &mut here).unwrap();
    here.view::<T>("test").unwrap().data().to_vec()
}

#[test]
#[ignore = "needs a GPU"]
fn what_the_host_computes_takes_arrays_on_the_device() {
    let gpu = gpu();
    let run = |location: Location, storage: Order| {
        let [signals, bvals, bvecs] = volume_tensors(&gpu, storage, |x| x);
        let signals = at(&gpu, location, storage, signals);
        let [bvals, bvecs] = [bvals, bvecs].map(|t| at(&gpu, location, Order::ColumnMajor, t));
        let inside: Vec<u8> = (0..VOXELS).map(|v| u8::from(v % 5 != 1)).collect();
        let mask = tensor(&gpu, Order::ColumnMajor, &[VOXELS], &inside);
        let mask = at(&gpu, location, Order::ColumnMajor, mask);
        let new = |dtype, dims: &[usize]| Tensor::create(&gpu, dtype, location, Order::ColumnMajor, dims).unwrap();
        let (mut sh, mut outcome) = (new(DType::F64, &[15, VOXELS]), new(DType::I32, &[VOXELS]));
        let (progress, options) = (Progress::none(), CsaOptions::default());
        let status = Some(&mut outcome);
        csa(&gpu, None, &signals, &bvals, &bvecs, Some(&mask), Basis::Mrtrix3, &options, &mut sh, status, &progress)
            .unwrap();

        let shape = Symmetric::new(4, 3).unwrap();
        let order = Order::ColumnMajor;
        let mut fitted = Tensor::create_symmetric(&gpu, DType::F32, location, order, shape, VOXELS).unwrap();
        let (mut s0, mut fit_outcome) = (new(DType::F32, &[VOXELS]), new(DType::I32, &[VOXELS]));
        let options = FitOptions { nonpositive: Nonpositive::Skip, ..FitOptions::default() };
        let (s0_out, status) = (Some(&mut s0), Some(&mut fit_outcome));
        let mask = Some(&mask);
        fit(&gpu, None, &signals, &bvals, &bvecs, mask, None, &options, &mut fitted, s0_out, status, &progress)
            .unwrap();
        (
            read::<f64>(&gpu, &sh),
            read::<f32>(&gpu, &fitted),
            read::<f32>(&gpu, &s0),
            read::<i32>(&gpu, &outcome),
            read::<i32>(&gpu, &fit_outcome),
        )
    };
    for storage in [Order::ColumnMajor, Order::RowMajor] {
        let (here, there) = (run(Location::Host, storage), run(Location::Device, storage));
        assert!(here == there, "{storage:?}");
        assert!(here.0[0] != 0.0 && here.1[0] != 0.0 && here.2[0] > 0.0);
        assert_eq!((here.3[1], here.4[1]), (4, 4));
    }
}
