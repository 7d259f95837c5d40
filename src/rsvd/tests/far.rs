//! Data far from the origin: the subtraction of means must not cancel the digits.

use std::sync::Arc;

use super::spectra::csr_of;
use super::support::{Dense, MatrixLayout, PACKED, blank, cpu, held, matrix, numbers, vector};
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::Number;
use crate::blocks::source::{CallbackSource, HostSource, Source};
use crate::context::Context;
use crate::matrix::{Matrix, SharedSource};
use crate::rsvd::pca::{Pca, PcaOptions, Samples};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::{Complex, Scalar};
use crate::shape::Order;

const ROWS: usize = 240;
const COLUMNS: usize = 9;

/// Samples of spread 1 about `offset` times 1, 2, ...: exact in single precision.
fn samples<T: Scalar>(offset: f64) -> Dense<T> {
    let entry = |i: usize, j: usize| {
        let noise = |k: usize| ((i * 7919 + k * 104_729 + i * k * 31) % 1009) as f64 / 1009.0 - 0.5;
        let centre = offset * (j + 1) as f64;
        // Rounded where single precision rounds it.
        let re = (centre + 3.0 * noise(j) + 2.0 * noise(0)) as f32;
        T::from_parts(f64::from(re), f64::from((centre - noise(j + 11)) as f32))
    };
    let data = (0..COLUMNS).flat_map(|j| (0..ROWS).map(move |i| entry(i, j))).collect();
    Dense { rows: ROWS, columns: COLUMNS, data }
}

/// The same matrix as `a`, wherever it may lie.
pub fn forms<T: Scalar>(context: &Arc<Context>, a: &Dense<T>) -> Vec<(&'static str, Matrix)> {
    let rows = MatrixLayout { order: Order::RowMajor, gap: 2 };
    let mut forms = vec![("columns", matrix(context, a, PACKED)), ("rows", matrix(context, a, rows))];
    for (name, order) in [("read by columns", Order::ColumnMajor), ("read by rows", Order::RowMajor)] {
        let dims = if order == Order::RowMajor { [a.columns, a.rows] } else { [a.rows, a.columns] };
        let info = ArrayInfo::new(Number::of("test", T::DTYPE).unwrap(), &dims).unwrap();
        let whole = matrix(context, a, MatrixLayout { order, gap: 0 });
        let dense = whole.dense("test").unwrap();
        let bytes = dense.memory.host("test").unwrap().as_slice::<u8>().unwrap().to_vec();
        let inner = info.clone();
        let read = move |block: &_, out: &mut [u8]| HostSource::new(inner.clone(), &bytes)?.read(block, out);
        let source = SharedSource::new(Box::new(CallbackSource::new(info, Box::new(read))));
        forms.push((name, Matrix::from_source(context, source, order).unwrap()));
    }
    forms.push(("sparse", csr_of(context, a)));
    forms
}

/// Means of the columns, and entries without them, in double precision.
fn centred<T: Scalar>(a: &Dense<T>) -> Vec<Vec<Complex<f64>>> {
    (0..a.columns)
        .map(|j| {
            let column: Vec<_> = (0..a.rows).map(|i| Complex::new(a.at(i, j).re(), a.at(i, j).im())).collect();
            let first = column[0];
            let mean = first + column.iter().map(|x| x - first).sum::<Complex<f64>>() / a.rows as f64;
            column.iter().map(|x| x - mean).collect()
        })
        .collect()
}

/// Scores by the definition, from the components of `pca`, with its scales.
fn scores<T: Scalar>(pca: &Pca, a: &Dense<T>, whiten: bool) -> Vec<Complex<f64>> {
    let (context, k) = (pca.context(), pca.info().rank);
    let (mut components, mut s) = (blank::<T>(context, a.columns, k), vector(context, k));
    let mut scales = vector(context, a.columns);
    pca.components(None, &mut components).unwrap();
    pca.singular_values(&mut s).unwrap();
    pca.scale(&mut scales).unwrap();
    let (components, s, scales, x) = (held::<T>(&components), numbers(&s), numbers(&scales), centred(a));
    let mut out = Vec::new();
    for (j, value) in s.iter().enumerate().take(k) {
        let gain = if whiten { ((a.rows - 1) as f64).sqrt() / value } else { 1.0 };
        out.extend((0..a.rows).map(|i| {
            let term = |f: usize| {
                let c = components.at(f, j);
                x[f][i] * Complex::new(c.re(), c.im()) / scales[f]
            };
            (0..a.columns).map(term).sum::<Complex<f64>>() * gain
        }));
    }
    out
}

fn check<T: Scalar>(offset: f64, tolerance: f64) {
    let context = cpu();
    let a = samples::<T>(offset);
    for (form, x) in forms(&context, &a) {
        for (scale, whiten) in [(false, false), (true, false), (false, true)] {
            if form == "read by columns" && scale {
                continue;
            }
            let what = format!("{form} {:?} {offset:e} {scale} {whiten}", T::DTYPE);
            let mut session = Rsvd::new(&context, Options { rank: 4, ..Options::default() }).unwrap();
            let options = PcaOptions { scale, whiten, ..PcaOptions::default() };
            let (mut fitted, mut found) = (blank::<T>(&context, ROWS, 4), blank::<T>(&context, ROWS, 4));
            let (pca, _) = session.fit_pca(None, &x, &options, Some(&mut fitted), None).unwrap();
            pca.transform(None, &x, &mut found, None).unwrap();
            let right = scores(&pca, &a, whiten);
            let most = right.iter().map(|x| x.norm()).fold(0.0, f64::max);
            for (name, m) in [("transform", &found), ("fit", &fitted)] {
                // Scores of a fit may come of U diag(s), whose components are not exact.
                let allowed = if name == "fit" { 20.0 * tolerance } else { tolerance };
                for (k, (x, y)) in held::<T>(m).data.iter().zip(&right).enumerate() {
                    let off = (Complex::new(x.re(), x.im()) - y).norm();
                    assert!(off <= allowed * most, "{what}: {name} {k} is {x:?}, not {y}, of up to {most}");
                }
            }
        }
    }
}

#[test]
fn scores_keep_their_digits_far_from_the_origin() {
    for offset in [0.0, 1e2, 1e4, 1e6] {
        check::<f32>(offset, 3e-6);
        check::<f64>(offset, 1e-13 * (1.0 + offset));
        check::<Complex<f32>>(offset, 3e-6);
        check::<Complex<f64>>(offset, 1e-13 * (1.0 + offset));
    }
}

#[test]
fn samples_in_columns_keep_their_digits_too() {
    let context = cpu();
    let a = samples::<f32>(1e6);
    let turned: Vec<f32> = (0..ROWS).flat_map(|i| (0..COLUMNS).map(move |j| (i, j))).map(|(i, j)| a.at(i, j)).collect();
    let turned = Dense { rows: COLUMNS, columns: ROWS, data: turned };
    for (form, x) in forms(&context, &turned).into_iter().filter(|f| f.0 != "sparse") {
        let mut session = Rsvd::new(&context, Options { rank: 4, ..Options::default() }).unwrap();
        let options = PcaOptions { samples: Samples::Columns, ..PcaOptions::default() };
        let (pca, _) = session.fit_pca(None, &x, &options, None, None).unwrap();
        let mut found = blank::<f32>(&context, 4, ROWS);
        pca.transform(None, &x, &mut found, None).unwrap();
        let (found, right) = (held::<f32>(&found), scores(&pca, &a, false));
        let most = right.iter().map(|x| x.norm()).fold(0.0, f64::max);
        for (k, y) in right.iter().enumerate() {
            let x = f64::from(found.at(k / ROWS, k % ROWS));
            assert!((x - y.re).abs() <= 3e-6 * most, "{form}: {k} is {x}, not {y}");
        }
    }
}
