//! Products and centred data in plain loops, in double precision.

use crate::dense::sketch::Sketch;
use crate::rsvd::data::Center;
use crate::scalar::{Complex, Real, Scalar};

pub(super) type C64 = Complex<f64>;

pub(super) fn sketched<T: Scalar>(sketch: &Sketch, first: usize, rows: usize, cols: usize) -> Vec<Vec<C64>> {
    let entry = |i: usize, j: usize| {
        let v: T = sketch.entry((first + i) as u64, j as u32);
        C64::new(v.re(), v.im())
    };
    (0..rows).map(|i| (0..cols).map(|j| entry(i, j)).collect()).collect()
}

pub(super) fn times(a: &[Vec<C64>], b: &[Vec<C64>]) -> Vec<Vec<C64>> {
    let columns = b.first().map_or(0, Vec::len);
    let row = |a: &Vec<C64>| (0..columns).map(|j| a.iter().zip(b).map(|(x, y)| x * y[j]).sum()).collect();
    a.iter().map(row).collect()
}

/// a^H b, for matrices given row by row.
pub(super) fn adjoint_times(a: &[Vec<C64>], b: &[Vec<C64>], rows: usize) -> Vec<Vec<C64>> {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |i: usize, j: usize| a.iter().zip(b).map(|(x, y)| x[i].conj() * y[j]).sum();
    (0..rows).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect()
}

pub(super) fn frobenius(a: &[Vec<C64>]) -> f64 {
    a.iter().flatten().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
}

pub(super) fn distance(a: &[Vec<C64>], b: &[Vec<C64>]) -> f64 {
    assert_eq!((a.len(), a.first().map(Vec::len)), (b.len(), b.first().map(Vec::len)));
    let squares: f64 = a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| (x - y).norm_sqr()).sum();
    squares.sqrt()
}

/// Two sums of up to `terms` products each: relative to the norms of the factors.
pub(super) fn tolerance<T: Scalar>(terms: usize) -> f64 {
    T::Part::EPSILON.to_f64() * 4.0 * (terms as f64).sqrt()
}

/// The data as they are computed with.
pub(super) fn centred(a: &[Vec<C64>], center: Center, scale: bool) -> Vec<Vec<C64>> {
    let (m, n) = (a.len(), a[0].len());
    let column = |j: usize| a.iter().map(|r| r[j]).sum::<C64>() / m as f64;
    let means: Vec<C64> = (0..n).map(column).collect();
    let deviation = |j: usize| {
        let squares: f64 = a.iter().map(|r| (r[j] - means[j]).norm_sqr()).sum();
        let d = (squares / (m as f64 - 1.0).max(1.0)).sqrt();
        if scale && d > 0.0 { d } else { 1.0 }
    };
    let deviations: Vec<f64> = (0..n).map(deviation).collect();
    let row = |r: &Vec<C64>| {
        let mean = r.iter().sum::<C64>() / n as f64;
        let shift = |j: usize| match center {
            Center::None => C64::new(0.0, 0.0),
            Center::Columns => means[j],
            Center::Rows => mean,
        };
        (0..n).map(|j| (r[j] - shift(j)) / deviations[j]).collect()
    };
    a.iter().map(row).collect()
}
