//! Whole decompositions: a GPU against the CPU.

use std::sync::Arc;

use super::super::site::{RING, RING_BYTES};
use super::cases::Case;
use super::oracle::C64;
use super::runs::{cpu, gpu};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::rsvd::data::Resident;
use crate::rsvd::options::{Centering, Method, Options as Choice};
use crate::rsvd::outputs::Outputs;
use crate::rsvd::pca::PcaOptions;
use crate::rsvd::session::Rsvd;
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Singular values, U and V on the host.
type Factors = (Vec<f64>, Vec<Vec<C64>>, Vec<Vec<C64>>);

fn values<T: Scalar>(m: &Matrix) -> Vec<Vec<C64>> {
    let (rows, cols) = (m.rows(), m.cols());
    let data = m.dense("test").unwrap().memory.host("test").unwrap().as_slice::<T>().unwrap();
    let at = |i: usize, j: usize| C64::new(data[i + rows * j].re(), data[i + rows * j].im());
    (0..rows).map(|i| (0..cols).map(|j| at(i, j)).collect()).collect()
}

fn matrix<T: Scalar>(context: &Arc<Context>, case: &Case, order: Order, entry: impl Fn(usize, usize) -> C64) -> Matrix {
    let (m, n) = (case.rows, case.columns);
    let mut a = Matrix::create(context, T::DTYPE, Location::Host, order, m, n).unwrap();
    let memory = a.dense_mut("test").unwrap().memory.host_mut("test").unwrap();
    let data = memory.as_mut_slice::<T>().unwrap();
    for i in 0..m {
        for j in 0..n {
            let at = if order == Order::RowMajor { i * n + j } else { i + j * m };
            let v = entry(i, j);
            data[at] = T::from_parts(v.re, v.im);
        }
    }
    a
}

fn factors<T: Scalar>(context: &Arc<Context>, a: &Matrix, choice: &Choice) -> Factors {
    let (m, n, k) = (a.rows(), a.cols(), choice.rank);
    let host = |rows| Matrix::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, rows, k).unwrap();
    let (mut u, mut v) = (host(m), host(n));
    let mut s = Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, &[k]).unwrap();
    let mut rsvd = Rsvd::new(context, choice.clone()).unwrap();
    let outputs = Outputs { u: Some(&mut u), s: Some(&mut s), v: Some(&mut v) };
    rsvd.compute(None, a, outputs, None).unwrap();
    let s = s.view::<f64>("test").unwrap();
    ((0..k).map(|j| s.get(&[j])).collect(), values::<T>(&u), values::<T>(&v))
}

fn check<T: Scalar>(gpu: &Arc<Context>, case: &Case, order: Order, choice: &Choice) {
    // A spectrum that falls by a half from one to the next, with vectors that are nearly orthogonal.
    let wave =
        |i: usize, j: usize, m: usize| (std::f64::consts::PI * (i as f64 + 0.5) * (j + 1) as f64 / m as f64).cos();
    let entry = |i: usize, j: usize| {
        let re: f64 =
            (0..12).map(|r| 0.5f64.powi(r) * wave(i, r as usize, case.rows) * wave(j, r as usize, case.columns)).sum();
        let im = if T::IS_COMPLEX { 0.3 * wave(i, 2, case.rows) * wave(j, 5, case.columns) } else { 0.0 };
        C64::new(re + case.offset, im)
    };
    let cpu = cpu();
    let want = factors::<T>(&cpu, &matrix::<T>(&cpu, case, order, entry), choice);
    let got = factors::<T>(gpu, &matrix::<T>(gpu, case, order, entry), choice);
    let name =
        format!("{:?} {:?} {:?} {order:?} {}x{}", choice.method, choice.center, T::DTYPE, case.rows, case.columns);
    // One pass solves a least-squares problem, which divides by the smallest value kept: a thousandth of the first.
    let eps = T::Part::EPSILON.to_f64() * if choice.method == Method::OnePass { 100.0 } else { 1.0 };
    for (a, b) in got.0.iter().zip(&want.0) {
        assert!((a - b).abs() < 1e3 * eps * want.0[0], "{name}: {:?} {:?}", got.0, want.0);
    }
    // Of the first vectors: gaps of a half make them as accurate as the values, over their size. Waves have peaks that are
    // equal but for their sign, so pairs are compared up to a phase.
    for j in 0..3 {
        let overlap: C64 = got.2.iter().zip(&want.2).map(|(x, y)| x[j].conj() * y[j]).sum();
        let phase = overlap / overlap.norm();
        for (what, a, b) in [("U", &got.1, &want.1), ("V", &got.2, &want.2)] {
            let error: f64 = a.iter().zip(b).map(|(x, y)| (x[j] * phase - y[j]).norm_sqr()).sum::<f64>().sqrt();
            assert!(error < 1e4 * eps * want.0[0] / want.0[j], "{name}: column {j} of {what} is off by {error:e}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn every_method_gives_what_the_cpu_gives() {
    let context = gpu(0);
    for method in Method::ALL {
        for (rows, columns) in [(400, 60), (60, 400)] {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let case = Case { rows, columns, dtype: DType::F64, offset: 0.0 };
                // Powers without orthonormal bases between them lose digits of the small values.
                let power_iterations = Some(if method == Method::Brsvd { 0 } else { 2 });
                let choice = Choice { rank: 5, method, power_iterations, block_rows: 150, ..Choice::default() };
                check::<f64>(&context, &case, order, &choice);
                check::<Complex<f64>>(&context, &case, order, &choice);
                if method != Method::OnePass {
                    check::<f32>(&context, &case, order, &choice);
                }
                let centred = Choice { center: Centering::Columns, ..choice };
                let case = Case { offset: 3.0, ..case };
                check::<f64>(&context, &case, order, &centred);
                check::<f64>(&context, &case, order, &Choice { center: Centering::Rows, ..centred });
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn bytes_moved_are_those_predicted() {
    let context = gpu(0);
    let (rows, columns, kept) = (4000, 100, 1000);
    let case = Case { rows, columns, dtype: DType::F64, offset: 1.0 };
    let entry = |i: usize, j: usize| C64::new(((i * 31 + j * 17) % 101) as f64, 0.0);
    let a = matrix::<f64>(&context, &case, Order::RowMajor, entry);
    for method in
        [Method::Basic, Method::Fifo, Method::RowFused, Method::Gram, Method::Range, Method::Fused, Method::Merge]
    {
        for center in [Centering::None, Centering::Columns] {
            let choice = Choice {
                rank: 5,
                method,
                center,
                block_rows: 500,
                resident_rows: Resident::AtMost(kept),
                ..Choice::default()
            };
            let mut rsvd = Rsvd::new(&context, choice).unwrap();
            let planned = rsvd.plan(&a).unwrap();
            let info = rsvd.compute(None, &a, Outputs::default(), None).unwrap();
            let name = format!("{method:?} {center:?}: {}", info.reason);
            assert_eq!((planned.bytes_predicted, planned.resident_rows), (info.bytes_to_device, 1000), "{name}");
            let later = (rows - kept) * (info.passes as usize - 1);
            assert_eq!(info.bytes_to_device as usize, 8 * columns * (rows + later), "{name}");
        }
    }
}

/// The workspace that cuBLAS prefers is 32 MiB on a Hopper. Below it, and a little above, a run that the plan accepts
/// stays inside the limit; `AUTO` skips methods that do not fit.
#[test]
#[ignore = "needs a GPU"]
fn limits_below_the_workspace_of_cublas_are_respected() {
    let case = Case { rows: 30_000, columns: 64, dtype: DType::F64, offset: 0.0 };
    let mut accepted = 0;
    for mebibytes in [1u64, 4, 16, 20, 24, 31, 33, 48, 64, 128] {
        let (limit, gpu) = (mebibytes << 20, gpu(mebibytes << 20));
        let a = matrix::<f64>(&gpu, &case, Order::RowMajor, |i, j| C64::new(((i * 31 + j * 17) % 101) as f64, 0.0));
        for method in [Method::Auto, Method::Fused, Method::Gram, Method::Krylov, Method::RowFused, Method::OnePass] {
            let choice = Choice { rank: 6, method, ..Choice::default() };
            let mut rsvd = Rsvd::new(&gpu, choice).unwrap();
            let mut u = Matrix::create(&gpu, DType::F64, Location::Host, Order::ColumnMajor, 30_000, 6).unwrap();
            let planned = rsvd.plan(&a);
            let done = rsvd.compute(None, &a, Outputs { u: Some(&mut u), ..Outputs::default() }, None);
            match (planned, done) {
                (Ok(planned), Ok(done)) => {
                    accepted += 1;
                    assert_eq!(planned.method, done.method, "{mebibytes} MiB");
                    assert!(u64::try_from(done.device_bytes_used).unwrap() <= limit, "{mebibytes} MiB: {done:?}");
                    assert!(u64::try_from(planned.device_bytes).unwrap() <= limit, "{mebibytes} MiB: {planned:?}");
                    assert!(done.device_bytes_used <= planned.device_bytes, "{mebibytes} MiB: {planned:?} {done:?}");
                    assert!(done.host_bytes_used <= planned.host_bytes, "{mebibytes} MiB: {planned:?} {done:?}");
                }
                (Err(e), Err(again)) => {
                    for e in [e, again] {
                        assert!(matches!(e, Error::OutOfDeviceMemory { .. }), "{e}");
                    }
                }
                (planned, done) => panic!("{mebibytes} MiB, {method:?}: {planned:?} and {done:?}"),
            }
        }
    }
    assert!(accepted > 30, "{accepted} runs");
}

/// Planned and used bytes agree within a tenth, but for the 12 MiB on the device that the plan has for small
/// factorizations, and on the host for the page-locked buffers of results, which are always planned and only allocated
/// for larger results.
#[test]
#[ignore = "needs a GPU"]
fn planned_memory_is_that_of_small_and_large_runs() {
    let gpu = gpu(0);
    for (rows, columns) in [(500, 40), (30_000, 64), (400_000, 200)] {
        let case = Case { rows, columns, dtype: DType::F64, offset: 0.0 };
        let a = matrix::<f64>(&gpu, &case, Order::RowMajor, |i, j| C64::new(((i * 31 + j * 17) % 101) as f64, 0.0));
        for method in [Method::Fused, Method::Range, Method::Gram, Method::Krylov, Method::Merge] {
            let mut rsvd = Rsvd::new(&gpu, Choice { rank: 10, method, ..Choice::default() }).unwrap();
            let mut u = Matrix::create(&gpu, DType::F64, Location::Host, Order::ColumnMajor, rows, 10).unwrap();
            let planned = rsvd.plan(&a).unwrap();
            let done = rsvd.compute(None, &a, Outputs { u: Some(&mut u), ..Outputs::default() }, None).unwrap();
            let results = (RING * RING_BYTES) as f64;
            for (place, most, used, apart) in [
                ("device", planned.device_bytes as f64, done.device_bytes_used as f64, f64::from(12 << 20)),
                ("host", planned.host_bytes as f64, done.host_bytes_used as f64, results),
            ] {
                println!("{rows} x {columns} {method:?}, {place}: {most} planned, {used} used");
                assert!(used <= most && most <= 1.1 * used + apart, "{method:?}, {place}: {planned:?} {done:?}");
            }
        }
    }
}

/// Means of 1e6 beside a spread of 1 leave nothing of single precision unless they are subtracted before the product.
#[test]
#[ignore = "needs a GPU"]
fn transforms_keep_their_digits_far_from_the_origin() {
    let gpu = gpu(0);
    let case = Case { rows: 600, columns: 8, dtype: DType::F32, offset: 0.0 };
    let entry = |i: usize, j: usize| {
        let noise = |k: usize| ((i * 7919 + k * 104_729 + i * k * 31) % 1009) as f64 / 1009.0 - 0.5;
        C64::new(f64::from((1e6 * (j + 1) as f64 + 3.0 * noise(j) + 2.0 * noise(0)) as f32), 0.0)
    };
    for order in [Order::RowMajor, Order::ColumnMajor] {
        let a = matrix::<f32>(&gpu, &case, order, entry);
        let host = |rows| Matrix::create(&gpu, DType::F32, Location::Host, Order::ColumnMajor, rows, 3).unwrap();
        let (mut scores, mut components) = (host(case.rows), host(case.columns));
        let mut rsvd = Rsvd::new(&gpu, Choice { rank: 3, block_rows: 100, ..Choice::default() }).unwrap();
        let (pca, _) = rsvd.fit_pca(None, &a, &PcaOptions::default(), None, None).unwrap();
        pca.transform(None, &a, &mut scores, None).unwrap();
        pca.components(None, &mut components).unwrap();
        let (scores, components) = (values::<f32>(&scores), values::<f32>(&components));
        let first: Vec<f64> = (0..case.columns).map(|j| entry(0, j).re).collect();
        let means: Vec<f64> = (0..case.columns)
            .map(|j| (0..case.rows).map(|i| entry(i, j).re - first[j]).sum::<f64>() / case.rows as f64)
            .collect();
        for (i, row) in scores.iter().enumerate() {
            for k in 0..3 {
                let right: f64 =
                    (0..case.columns).map(|j| (entry(i, j).re - first[j] - means[j]) * components[j][k].re).sum();
                let found = row[k].re;
                assert!((found - right).abs() < 1e-4, "{order:?}: score {k} of {i} is {found}, not {right}");
            }
        }
    }
}
