//! Bits of dense linear algebra: a change of structure must not change one.

use std::sync::Arc;

use super::cpu::CpuAlgebra;
use super::gpu::GpuAlgebra;
use super::orthonormal::{BasisAccuracy, BasisMethod, Counts, Kind, Own, orthonormalize};
use super::{Algebra, Op, Step};
use crate::backend::Backend;
use crate::context::Context;
use crate::dense::sketch::{Distribution, Sketch};
use crate::error::Result;
use crate::scalar::{Complex, Scalar};
use crate::testing::checksums::{Cases, Checksum, checksum_tests, scalar};

checksum_tests!("dense", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    of::<f32>(c, out);
    of::<f64>(c, out);
    of::<Complex<f32>>(c, out);
    of::<Complex<f64>>(c, out);
}

fn of<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    match c.backend() {
        Backend::Cpu => all::<T, _>(&mut CpuAlgebra::new(c), out),
        Backend::Gpu(gpu) => {
            let stream = gpu.create_stream().unwrap();
            all::<T, _>(&mut GpuAlgebra::new(c, gpu, &stream).unwrap(), out);
        }
    }
}

fn host<T: Scalar, A: Algebra<T>>(algebra: &mut A, m: &A::Matrix) -> Result<Vec<T>> {
    let (rows, cols) = algebra.shape(m);
    let mut data = vec![T::default(); rows * cols];
    algebra.download(m, &mut data, rows)?;
    Ok(data)
}

fn all<T: Scalar, A: Algebra<T>>(algebra: &mut A, out: &mut Cases) {
    let name = T::DTYPE.name();
    // Columns that fall by a factor: the condition is about its power.
    for (what, fall) in [("even", 1.0), ("graded", 0.125), ("nearly dependent", 1.0 / 512.0)] {
        for (rows, cols) in [(60, 9), (17, 17)] {
            let (mut data, mut weight) = (Vec::new(), 1.0);
            for j in 0..cols {
                let beside = if fall == 1.0 || j == 0 { 0.0 } else { 1.0 };
                for i in 0..rows {
                    let (x, y): (T, T) = (scalar(31 * i + 1009 * j), scalar(31 * i));
                    data.push(T::from_parts(weight * x.re() + beside * y.re(), weight * x.im() + beside * y.im()));
                }
                weight *= fall;
            }
            let what = format!("{name} {what} {rows} x {cols}");
            matrix(algebra, out, &what, (rows, cols), &data);
        }
    }
    let zeros: Vec<T> = (0..60 * 9).map(|k| if k / 60 % 3 == 1 { T::default() } else { scalar(k) }).collect();
    matrix(algebra, out, &format!("{name} zero columns"), (60, 9), &zeros);
    let mut sketch = |distribution: Distribution| {
        let mut m = algebra.zeros("test", 23, 11)?;
        algebra.fill(&mut m, &Sketch { distribution, seed: 5, stream: 2 }, 3, 1)?;
        Ok(Checksum::new().numbers(&host(algebra, &m)?))
    };
    for distribution in
        [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher, Distribution::SparseSign]
    {
        let sum = sketch(distribution);
        out.add(format!("{name} {distribution:?}"), sum);
    }
}

fn matrix<T: Scalar, A: Algebra<T>>(
    algebra: &mut A,
    out: &mut Cases,
    what: &str,
    (rows, cols): (usize, usize),
    data: &[T],
) {
    for kind in [Kind::Auto, Kind::Householder, Kind::Cqr, Kind::Cqr2, Kind::Scqr3] {
        for need in [BasisAccuracy::Span, BasisAccuracy::Basis] {
            let mut run = || {
                let mut x = algebra.upload("test", rows, cols, data, rows)?;
                let mut counts = Counts::default();
                let r = orthonormalize(
                    &mut Own(algebra),
                    &mut x,
                    BasisMethod { kind, need, seed: 3, draw: 0 },
                    &mut counts,
                )?;
                let Counts { plain, shifted, householder, deflated, replaced } = counts;
                let sum = Checksum::new().numbers(&host(algebra, &x)?).numbers(&host(algebra, &r)?);
                Ok(sum.integers([plain, shifted, householder, deflated, replaced]))
            };
            let sum = run();
            out.add(format!("{what} {kind:?} {need:?}"), sum);
        }
    }
    let mut run = || {
        let a = algebra.upload("test", rows, cols, data, rows)?;
        let mut gram = algebra.zeros("test", cols, cols)?;
        algebra.multiply(0.5, &a, Op::Adjoint, &a, Op::Plain, 0.0, &mut gram)?;
        algebra.multiply(-0.25, &a, Op::Adjoint, &a, Op::Plain, 1.5, &mut gram)?;
        let mut outer = algebra.zeros("test", rows, rows)?;
        algebra.multiply(1.0, &a, Op::Plain, &a, Op::Adjoint, 0.0, &mut outer)?;
        let (values, vectors) = algebra.eigen(&gram)?;
        let adjoint = algebra.adjoint("test", &a)?;
        let wide = algebra.svd(&adjoint)?;
        let tall = algebra.svd(&a)?;
        let mut sum = Checksum::new().numbers(&values).numbers(&tall.s).numbers(&wide.s);
        for m in [&gram, &outer, &vectors, &adjoint, &tall.u, &tall.v, &wide.u, &wide.v] {
            sum = sum.numbers(&host(algebra, m)?);
        }
        let mut x = algebra.upload("test", rows, cols, data, rows)?;
        let mut r = algebra.zeros("test", cols, cols)?;
        let step = algebra.cholesky_step(&mut x, 1e-3, &mut r)?;
        sum = sum.integers([u64::from(matches!(step, Step::Done { .. }))]);
        sum = sum.numbers(&host(algebra, &x)?).numbers(&host(algebra, &r)?);
        let mut q = algebra.upload("test", rows, cols, data, rows)?;
        algebra.householder(&mut q, &mut r)?;
        sum = sum.numbers(&host(algebra, &q)?).numbers(&host(algebra, &r)?).number(algebra.norm2(&a)?);
        sum = sum.numbers(&algebra.column_norms(&a)?);
        let peaks: Vec<f64> = algebra.column_peaks(&a)?.into_iter().flat_map(|(re, im)| [re, im]).collect();
        Ok(sum.numbers(&peaks))
    };
    let sum = run();
    out.add(format!("{what} products and factors"), sum);
}
