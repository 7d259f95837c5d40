//! Bits of the parts: a change of structure must not change one.

use std::slice::from_ref;
use std::sync::Arc;

use super::calls::{compute_csr, split};
use super::inputs::matrix;
use crate::context::Context;
use crate::error::Result;
use crate::matrix::{Matrix, Storage};
use crate::rpca::Options;
use crate::scalar::{Complex, Scalar};
use crate::shape::Order;
use crate::testing::checksums::{Cases, Checksum, checksum_tests, scalar, value};

checksum_tests!("rpca", cases);

fn cases(c: &Arc<Context>, out: &mut Cases) {
    of::<f32>(c, out);
    of::<f64>(c, out);
    of::<Complex<f32>>(c, out);
    of::<Complex<f64>>(c, out);
}

/// Rank 2, with a tenth of the entries off by more than its norm.
fn entry<T: Scalar>(i: usize, j: usize) -> T {
    let wide = |k: usize| {
        let x: T = scalar(k);
        Complex::new(x.re(), x.im())
    };
    let smooth: Complex<f64> = (0..2).map(|k| wide(1000 * k + i) * wide(5000 + 1000 * k + j)).sum();
    let spike = if value(70_000 + 100 * i + j) > 0.8 { wide(90_000 + 100 * i + j) * 4.0 } else { Complex::default() };
    T::from_parts(smooth.re + spike.re, smooth.im + spike.im)
}

fn parts<T: Scalar>(c: &Arc<Context>, m: &Matrix, mask: Option<&Matrix>, options: &Options) -> Result<Checksum> {
    let (l, s, info) = split::<T>(c, m, mask, options)?;
    let counts = [info.rank, info.iterations, info.nonzeros];
    Ok(Checksum::new().numbers(&l).numbers(&s).integers(counts).number(info.objective))
}

fn of<T: Scalar>(c: &Arc<Context>, out: &mut Cases) {
    let name = T::DTYPE.name();
    let base = Options { tolerance: 1e-4, ..Options::default() };
    // The last shape has more columns than a sketch.
    for (rows, cols) in [(24, 10), (10, 24), (15, 15), (44, 36)] {
        for order in [Order::ColumnMajor, Order::RowMajor] {
            let m = matrix(c, order, (rows, cols), entry::<T>);
            out.add(format!("{name} {rows} x {cols} {order:?}"), parts::<T>(c, &m, None, &base));
        }
    }
    let m = matrix(c, Order::ColumnMajor, (36, 28), entry::<T>);
    let mask = matrix(c, Order::ColumnMajor, (36, 28), |i, j| u8::from(value(100 * i + j) > -0.6));
    out.add(format!("{name} mask"), parts::<T>(c, &m, Some(&mask), &base));
    let blocks = Options { block_rows: 7, ..base.clone() };
    out.add(format!("{name} blocks"), parts::<T>(c, &m, None, &blocks));
    for (what, options) in [
        ("fixed rank", Options { fixed_rank: 3, ..base.clone() }),
        ("fixed rank, cold start", Options { fixed_rank: 3, warm_start: false, power_iterations: 2, ..base.clone() }),
        ("largest rank", Options { max_rank: 2, ..base.clone() }),
        ("scaled", Options { scale: 0.25, oversampling: 3, ..base.clone() }),
        ("few iterations", Options { max_iterations: 4, rho: 1.2, ..base.clone() }),
    ] {
        out.add(format!("{name} {what}"), parts::<T>(c, &m, None, &options));
    }
    let run = || {
        let options = Options { threshold: 0.01, ..base.clone() };
        let (sparse, info) = compute_csr(from_ref(c), None, &m, None, &options, None, None)?;
        let Storage::Csr(csr) = sparse.storage() else { panic!("not sparse") };
        let values = csr.parts().values.as_ref().unwrap().host("s")?.as_slice::<T>()?;
        let columns = csr.parts().col_idx.as_slice::<i32>()?;
        let sum =
            Checksum::new().numbers(&values[..csr.nnz()]).integers(columns[..csr.nnz()].iter().map(|j| *j as u64));
        Ok(sum.integers([info.nonzeros]))
    };
    out.add(format!("{name} compressed rows"), run());
}
