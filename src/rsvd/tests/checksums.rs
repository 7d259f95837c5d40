//! Bits of the factors: a change of structure must not change one.

use std::sync::Arc;

use super::support::{Dense, PACKED, blank, factor, held, matrix, numbers, vector};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::dense::Op;
use crate::error::Result;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Operator};
use crate::rsvd::options::{Centering, ErrorKind, Method, Orthonormalization, Right, Sign};
use crate::rsvd::pca::{PcaOptions, Samples};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};
use crate::testing::checksums::{Cases, Checksum, checksum_tests, scalar};

checksum_tests!("rsvd", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    of::<f32>(c, out);
    of::<f64>(c, out);
    of::<Complex<f32>>(c, out);
    of::<Complex<f64>>(c, out);
}

const ROWS: usize = 29;
const COLUMNS: usize = 18;

/// A sum of outer products that fall by half.
fn decaying<T: Scalar>(rows: usize, columns: usize) -> Dense<T> {
    let wide = |k: usize| {
        let x: T = scalar(k);
        Complex::new(x.re(), x.im())
    };
    let entry = |i: usize, j: usize| {
        let mut weight = 1.0;
        let mut sum = Complex::new(0.0, 0.0);
        for k in 0..14 {
            sum += wide(100 * i + k) * wide(50_000 + 100 * j + k) * weight;
            weight *= 0.5;
        }
        T::from_parts(sum.re, sum.im)
    };
    Dense { rows, columns, data: (0..rows * columns).map(|e| entry(e % rows, e / rows)).collect() }
}

/// A A^H of a tall matrix.
fn semidefinite<T: Scalar>(a: &Dense<T>) -> Dense<T> {
    let n = a.rows;
    let entry = |i: usize, j: usize| {
        let terms = (0..a.columns).map(|k| {
            let (x, y) = (a.at(i, k), a.at(j, k));
            Complex::new(x.re(), x.im()) * Complex::new(y.re(), -y.im())
        });
        let sum: Complex<f64> = terms.sum();
        T::from_parts(sum.re, sum.im)
    };
    Dense { rows: n, columns: n, data: (0..n * n).map(|e| entry(e % n, e / n)).collect() }
}

fn factors<T: Scalar>(c: &Arc<Context>, a: &Matrix, options: Options) -> Result<Checksum> {
    let found = factor::<T>(c, a, options)?;
    let errors = [found.info.error_frobenius, found.info.error_spectral];
    Ok(Checksum::new().numbers(&found.u.data).numbers(&found.s).numbers(&found.v.data).numbers(&errors))
}

/// Every third entry of `a` in compressed rows.
fn sparse<T: Scalar>(c: &Arc<Context>, a: &Dense<T>) -> Matrix {
    fn stored<E: crate::scalar::Element>(c: &Arc<Context>, values: &[E]) -> HostMemory {
        let mut memory = HostMemory::allocate("test", size_of_val(values), c.host_budget()).unwrap();
        memory.as_mut_slice::<E>().unwrap().copy_from_slice(values);
        memory
    }
    let (mut row_ptr, mut col_idx, mut values) = (vec![0i64], Vec::new(), Vec::new());
    for i in 0..a.rows {
        for j in (0..a.columns).filter(|j| (i + j) % 3 == 0) {
            col_idx.push(j as i32);
            values.push(a.at(i, j));
        }
        row_ptr.push(values.len() as i64);
    }
    let parts = CsrParts {
        row_ptr: stored(c, &row_ptr),
        row_ptr_type: IndexType::I64,
        col_idx: stored(c, &col_idx),
        col_idx_type: IndexType::I32,
        values: Some(Memory::Host(stored(c, &values))),
    };
    Matrix::from_csr(c, T::DTYPE, Csr::new(parts, a.rows, a.columns, values.len(), 0).unwrap(), true)
}

pub struct Products<T>(pub Dense<T>);

impl<T: Scalar> Operator<T> for Products<T> {
    fn shape(&self) -> (usize, usize) {
        (self.0.rows, self.0.columns)
    }

    fn apply(&mut self, op: Op, x: &[T], _: usize, y: &mut [T]) -> Result<()> {
        let a = &self.0;
        let (m, n) = if op == Op::Plain { (a.rows, a.columns) } else { (a.columns, a.rows) };
        for (x, y) in x.chunks_exact(n).zip(y.chunks_exact_mut(m)) {
            for (i, y) in y.iter_mut().enumerate() {
                *y = T::default();
                for (j, x) in x.iter().enumerate() {
                    *y += if op == Op::Plain { a.at(i, j) } else { a.at(j, i).conjugate() } * *x;
                }
            }
        }
        Ok(())
    }
}

fn of<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let name = T::DTYPE.name();
    let base = Options { rank: 5, oversampling: Some(4), block_rows: 12, ..Options::default() };
    let a = decaying::<T>(ROWS, COLUMNS);
    let tall = matrix(c, &a, PACKED);
    // Direct takes no sketch.
    let by = |method: Method, base: &Options| match method {
        Method::Direct => Options { method, oversampling: Options::default().oversampling, ..base.clone() },
        _ => Options { method, ..base.clone() },
    };
    for method in Method::ALL {
        for error in [ErrorKind::None, ErrorKind::Identity, ErrorKind::Probes, ErrorKind::Power] {
            let options = Options { error, probes: 3, ..by(method, &base) };
            out.add(format!("{name} {method:?} {error:?}"), factors::<T>(c, &tall, options.clone()));
            for tolerance in [0.1, 0.01] {
                if !matches!(method, Method::Auto | Method::Range) {
                    continue;
                }
                let oversampling = Options::default().oversampling;
                let options = Options { tolerance, rank: 0, oversampling, block_columns: 4, ..options.clone() };
                out.add(format!("{name} {method:?} {error:?} to {tolerance}"), factors::<T>(c, &tall, options));
            }
        }
    }
    let wide = matrix(c, &decaying::<T>(COLUMNS, ROWS), PACKED);
    let (csr, implicit) = (sparse(c, &a), Matrix::from_operator::<T>(c, Box::new(Products(a.clone()))));
    for method in Method::ALL {
        let base = Options { method, ..by(method, &base) };
        out.add(format!("{name} {method:?} wide"), factors::<T>(c, &wide, base.clone()));
        for (kind, a) in [("sparse", &csr), ("implicit", &implicit)] {
            let options = Options { block_rows: 0, ..base.clone() };
            out.add(format!("{name} {method:?} {kind}"), factors::<T>(c, a, options));
        }
        for (center, scale) in [(Centering::Columns, false), (Centering::Columns, true), (Centering::Rows, false)] {
            let options = Options { center, scale, ..base.clone() };
            out.add(format!("{name} {method:?} {center:?} scale {scale}"), factors::<T>(c, &tall, options));
        }
        let least = usize::from(matches!(method, Method::Basic | Method::Fifo | Method::RowFused | Method::Krylov));
        let power_iterations = Some(if method == Method::Direct { 2 } else { least });
        let options = Options { power_iterations, right: Right::Vh, sign: Sign::UMax, ..base };
        out.add(format!("{name} {method:?} few iterations"), factors::<T>(c, &tall, options));
    }
    for orthonormalization in
        [Orthonormalization::Householder, Orthonormalization::Cholesky2, Orthonormalization::ShiftedCholesky3]
    {
        let options = Options { method: Method::Fused, orthonormalization, ..base.clone() };
        out.add(format!("{name} {orthonormalization:?}"), factors::<T>(c, &tall, options));
    }
    symmetric::<T>(c, out, &semidefinite(&a), &base);
    range::<T>(c, out, &tall, &base);
    components::<T>(c, out, &tall, &base);
}

fn symmetric<T: Scalar>(c: &Arc<Context>, out: &mut Cases, a: &Dense<T>, base: &Options) {
    let a = matrix(c, a, PACKED);
    for method in [Method::Auto, Method::Nystrom, Method::Rayleigh] {
        for error in [ErrorKind::Identity, ErrorKind::Probes] {
            let run = || {
                let mut session = Rsvd::new(c, Options { method, error, probes: 3, ..base.clone() })?;
                let (mut lambda, mut v) = (vector(c, 5), blank::<T>(c, ROWS, 5));
                let info = session.symmetric(None, &a, Some(&mut lambda), Some(&mut v), None)?;
                let errors = [info.error_frobenius, info.error_spectral];
                Ok(Checksum::new().numbers(&numbers(&lambda)).numbers(&held::<T>(&v).data).numbers(&errors))
            };
            out.add(format!("{} symmetric {method:?} {error:?}", T::DTYPE.name()), run());
        }
    }
}

/// A basis of the range; errors and residuals of factors.
fn range<T: Scalar>(c: &Arc<Context>, out: &mut Cases, a: &Matrix, base: &Options) {
    let name = T::DTYPE.name();
    for method in Method::ALL {
        let run = || {
            let mut session = Rsvd::new(c, Options { method, ..base.clone() })?;
            let (mut q, mut b) = (blank::<T>(c, ROWS, 9), blank::<T>(c, 9, COLUMNS));
            session.range(None, a, &mut q, Some(&mut b), None)?;
            Ok(Checksum::new().numbers(&held::<T>(&q).data).numbers(&held::<T>(&b).data))
        };
        out.add(format!("{name} range {method:?}"), run());
    }
    let run = || {
        let found = factor::<T>(c, a, base.clone())?;
        let mut s = vector(c, 5);
        s.view_mut::<f64>("s")?.data().copy_from_slice(&found.s);
        let (u, v) = (matrix(c, &found.u, PACKED), matrix(c, &found.v, PACKED));
        let mut session = Rsvd::new(c, base.clone())?;
        let (frobenius, spectral, _) = session.error(None, a, (&u, &s, &v), None)?;
        let (mut left, mut right) = (vector(c, 5), vector(c, 5));
        session.residuals(None, a, (&u, &s, &v), &mut left, &mut right, None)?;
        Ok(Checksum::new().numbers(&[frobenius, spectral]).numbers(&numbers(&left)).numbers(&numbers(&right)))
    };
    out.add(format!("{name} errors and residuals"), run());
}

fn components<T: Scalar>(c: &Arc<Context>, out: &mut Cases, x: &Matrix, base: &Options) {
    for samples in [Samples::Rows, Samples::Columns] {
        for scale in [false, true] {
            let run = || {
                let (samples_count, features) =
                    if samples == Samples::Rows { (ROWS, COLUMNS) } else { (COLUMNS, ROWS) };
                let scores_of = || match samples {
                    Samples::Rows => blank::<T>(c, samples_count, 5),
                    Samples::Columns => blank::<T>(c, 5, samples_count),
                };
                let mut session = Rsvd::new(c, base.clone())?;
                let options = PcaOptions { samples, scale, ..PcaOptions::default() };
                let (mut scores, mut again) = (scores_of(), scores_of());
                let (pca, _) = session.fit_pca(None, x, &options, Some(&mut scores), None)?;
                pca.transform(None, x, &mut again, None)?;
                let (mut axes, mut back) = (blank::<T>(c, features, 5), blank::<T>(c, x.rows(), x.cols()));
                pca.components(None, &mut axes)?;
                pca.inverse_transform(None, &again, &mut back, None)?;
                let mut values = vector(c, 5);
                pca.singular_values(&mut values)?;
                let sum = [&scores, &again, &axes, &back]
                    .into_iter()
                    .fold(Checksum::new(), |sum, m| sum.numbers(&held::<T>(m).data));
                Ok(sum.numbers(&numbers(&values)))
            };
            out.add(format!("{} components of {samples:?} scale {scale}", T::DTYPE.name()), run());
        }
    }
}
