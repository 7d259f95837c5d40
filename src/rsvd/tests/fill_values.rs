//! A column of one large value, as of a marker of missing values: centring turns it into zeros.

use std::sync::Arc;

use super::far::forms;
use super::support::{Dense, PACKED, cpu, factor, gpu, matrix};
use crate::context::Context;
use crate::rsvd::Options;
use crate::rsvd::options::{Centering, Method};
use crate::scalar::{Complex, Scalar};

const ROWS: usize = 120;
const COLUMNS: usize = 24;

const METHODS: [Method; 10] = [
    Method::Auto,
    Method::Fused,
    Method::Range,
    Method::Merge,
    Method::Krylov,
    Method::Gram,
    Method::Direct,
    Method::Basic,
    Method::Fifo,
    Method::RowFused,
];

fn noise(i: usize, j: usize) -> f64 {
    ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5
}

/// Noise of falling size in unit `unit`, with column 5 of one value.
fn samples<T: Scalar>(unit: f64, value: f64) -> Dense<T> {
    let entry = |i: usize, j: usize| {
        let size = unit * 0.7f64.powi(j as i32);
        let (re, im) = (size * noise(i, j), size * noise(i, j + 31));
        if j == 5 { T::from_parts(value, -value) } else { T::from_parts(re, im) }
    };
    let data = (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| entry(i, j))).collect();
    Dense { rows: ROWS, columns: COLUMNS, data }
}

fn options(method: Method, block_rows: usize) -> Options {
    let power_iterations = (method != Method::Direct).then_some(2);
    Options { rank: 3, method, center: Centering::Columns, power_iterations, block_rows, ..Options::default() }
}

fn check<T: Scalar>(context: &Arc<Context>, methods: &[Method], (unit, value): (f64, f64), tolerance: f64) {
    let right =
        factor::<T>(context, &matrix(context, &samples::<T>(unit, 0.0), PACKED), options(Method::Direct, 0)).unwrap().s;
    for (form, a) in forms(context, &samples::<T>(unit, value)) {
        for &method in methods {
            // These read blocks of rows.
            if form == "sparse" && !matches!(method, Method::Auto | Method::Range | Method::Krylov) {
                continue;
            }
            let what = format!("{:?} {form} {method:?} {unit:e} {value:e}", T::DTYPE);
            let found = factor::<T>(context, &a, options(method, if form == "sparse" { 0 } else { 50 }))
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            for (got, want) in found.s.iter().zip(&right) {
                assert!((got - want).abs() <= tolerance * right[0], "{what}: {:?} for {right:?}", found.s);
            }
            let away = found.v.at(5, 0);
            assert!(away.re().abs() + away.im().abs() < tolerance, "{what}: {away:?} of a column of zeros");
        }
    }
}

fn check_all(context: &Arc<Context>, methods: &[Method]) {
    for (unit, value) in [(1.0, 0.0), (1.0, 1e20), (1.0, 9.969_21e36), (1e-3, 1e20), (1e-10, 1e30), (1e8, 3e38)] {
        check::<f32>(context, methods, (unit, value), 1e-3);
        check::<Complex<f32>>(context, methods, (unit, value), 1e-3);
    }
    for (unit, value) in [(1.0, 1e36), (1.0, 1e160), (1.0, 1e300), (1e-100, 1e160)] {
        check::<f64>(context, methods, (unit, value), 1e-3);
        check::<Complex<f64>>(context, methods, (unit, value), 1e-3);
    }
}

#[test]
fn a_column_of_one_large_value_is_centred_away() {
    check_all(&cpu(), &METHODS);
}

#[test]
#[ignore = "needs a GPU"]
fn a_column_of_one_large_value_is_centred_away_on_a_gpu() {
    check_all(&gpu(), &[Method::Auto, Method::Fused, Method::Range, Method::Merge, Method::Krylov, Method::Gram]);
}
