use faer::linalg::matmul::matmul_with_conj;
use faer::{Conj, MatMut as FaerMut, MatRef as FaerRef, Par};

use super::operations::*;
use crate::dense::view::{Accum, Mat, MatMut};
use crate::scalar::{Complex, Scalar};

/// Reproducible numbers in [-1, 1) without a pattern.
fn numbers<T: Scalar>(count: usize, seed: usize) -> Vec<T> {
    let number = |k: usize| ((k * 7919 + seed * 104_729 + 17) % 100_003) as f64 / 50_001.5 - 1.0;
    (0..count).map(|k| T::from_parts(number(k), number(k + 31))).collect()
}

/// Shapes on both sides of every limit at which faer chooses another algorithm: vectors, one term, small, large.
const SHAPES: [[usize; 3]; 14] = [
    [1, 1, 1],
    [1, 7, 33],
    [5, 1, 9],
    [300, 1, 5],
    [1, 40, 300],
    [7, 9, 1],
    [3, 4, 5],
    [8, 8, 8],
    [16, 17, 15],
    [33, 31, 64],
    [64, 64, 64],
    [2048, 3, 7],
    [5, 6, 2048],
    [130, 120, 150],
];

macro_rules! products {
    ($($name:ident: $t:ty;)*) => {$(
        /// The arguments reach faer as they are: shapes, steps, conjugation, factor, and whether the product is added.
        #[test]
        fn $name() {
            for [rows, cols, depth] in SHAPES {
                let stride = |n: usize| n + 3;
                let a = numbers::<$t>(stride(rows.max(depth)) * rows.max(depth), 1);
                let b = numbers::<$t>(stride(depth.max(cols)) * depth.max(cols), 2);
                let start = numbers::<$t>(rows * cols, 3);
                for (turned, conj_a, conj_b, add) in [
                    (false, false, false, false),
                    (true, true, false, true),
                    (true, false, true, false),
                    (false, true, true, true),
                ] {
                    let (mut got, mut want) = (start.clone(), start.clone());
                    let alpha = <$t>::from_parts(-1.5, 0.0);
                    let x = if turned {
                        Mat::from_columns_with_stride(&a, depth, rows, stride(depth)).transpose()
                    } else {
                        Mat::from_columns_with_stride(&a, rows, depth, stride(rows))
                    };
                    let y = if turned {
                        Mat::from_rows_with_stride(&b, depth, cols, stride(cols))
                    } else {
                        Mat::from_columns_with_stride(&b, depth, cols, stride(depth))
                    };
                    multiply(
                        MatMut::from_columns(&mut got, rows, cols),
                        if add { Accum::Add } else { Accum::Replace },
                        x.conjugate_if(conj_a),
                        y.conjugate_if(conj_b),
                        alpha,
                    );
                    let x = if turned {
                        FaerRef::from_column_major_slice_with_stride(&a, depth, rows, stride(depth)).transpose()
                    } else {
                        FaerRef::from_column_major_slice_with_stride(&a, rows, depth, stride(rows))
                    };
                    let y = if turned {
                        FaerRef::from_row_major_slice_with_stride(&b, depth, cols, stride(cols))
                    } else {
                        FaerRef::from_column_major_slice_with_stride(&b, depth, cols, stride(depth))
                    };
                    let flag = |is: bool| if is { Conj::Yes } else { Conj::No };
                    matmul_with_conj(
                        FaerMut::from_column_major_slice_mut(&mut want, rows, cols),
                        if add { faer::Accum::Add } else { faer::Accum::Replace },
                        x,
                        flag(conj_a),
                        y,
                        flag(conj_b),
                        alpha,
                        Par::Seq,
                    );
                    assert_eq!(got, want, "{rows} x {cols} x {depth}, {turned} {conj_a} {conj_b} {add}");
                }
            }
        }
    )*};
}
products! {
    products_of_f32: f32;
    products_of_f64: f64;
    products_of_complex_f32: Complex<f32>;
    products_of_complex_f64: Complex<f64>;
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Some callers mark real factors as conjugated and others do not. Results must be the same bits.
#[test]
fn conjugation_of_real_factors_changes_no_bit() {
    for [rows, cols, depth] in SHAPES {
        let (a, b) = (numbers::<f64>(rows * depth, 1), numbers::<f64>(depth * cols, 2));
        let narrow = |v: &[f64]| v.iter().map(|x| *x as f32).collect::<Vec<f32>>();
        let (a32, b32) = (narrow(&a), narrow(&b));
        for turned in [false, true] {
            let mut found = Vec::new();
            for (conj_a, conj_b) in [(false, false), (true, false), (false, true), (true, true)] {
                let (mut c, mut c32) = (vec![0.5; rows * cols], vec![0.5; rows * cols]);
                fn factor<T>(v: &[T], rows: usize, cols: usize, turned: bool) -> Mat<'_, T> {
                    if turned { Mat::from_rows(v, rows, cols) } else { Mat::from_columns(v, rows, cols) }
                }
                let x = factor(&a, rows, depth, turned).conjugate_if(conj_a);
                let y = factor(&b, depth, cols, turned).conjugate_if(conj_b);
                multiply(MatMut::from_columns(&mut c, rows, cols), Accum::Add, x, y, 1.0);
                let x = factor(&a32, rows, depth, turned).conjugate_if(conj_a);
                let y = factor(&b32, depth, cols, turned).conjugate_if(conj_b);
                multiply(MatMut::from_columns(&mut c32, rows, cols), Accum::Add, x, y, 1.0);
                let wide: Vec<f64> = c32.iter().map(|x| f64::from(*x)).collect();
                found.push((bits(&c), bits(&wide)));
            }
            assert!(found.iter().all(|f| *f == found[0]), "{rows} x {cols} x {depth}, {turned}");
        }
        if rows == cols {
            let sum = |is_conjugated: bool| {
                let mut c = vec![0.25; rows * rows];
                let x = Mat::from_columns(&a, rows, depth);
                add_lower::<f64>(
                    MatMut::from_columns(&mut c, rows, rows),
                    x,
                    x.transpose().conjugate_if(is_conjugated),
                );
                bits(&c)
            };
            assert_eq!(sum(false), sum(true), "{rows} x {rows} x {depth}");
        }
    }
}

#[test]
fn views_name_the_same_entries() {
    let data: Vec<usize> = (0..60).collect();
    let m = Mat::from_columns_with_stride(&data, 4, 5, 6);
    assert_eq!((m.shape(), m[(1, 2)], m.column(3)), ((4, 5), 13, Some(&data[18..22])));
    assert_eq!((m.transpose()[(2, 1)], m.transpose().column(0)), (13, None));
    assert_eq!(m.submatrix(1, 2, 2, 3)[(1, 1)], 20);
    assert_eq!(m.subrows(1, 3).subcols(2, 2)[(0, 1)], 19);
    assert_eq!(Mat::from_rows_with_stride(&data, 4, 5, 6)[(1, 2)], 8);
    assert!(m.adjoint().is_conjugated() && !m.adjoint().adjoint().is_conjugated());
    let mut data = data;
    let (top, bottom) = MatMut::from_columns(&mut data, 6, 10).split_at_row(2);
    let (mut left, right) = top.split_at_col(4);
    left[(1, 3)] = 1000;
    assert_eq!((left.shape(), right.shape(), bottom.shape()), ((2, 4), (2, 6), (4, 10)));
    assert_eq!(right.into_column(0), Some(&mut [24, 25][..]));
    let mut turned = bottom.transpose();
    turned[(9, 0)] = 2000;
    turned.as_mut().subrows(0, 2).copy_from(Mat::from_columns(&[1, 2, 3, 4, 5, 6, 7, 8], 2, 4));
    assert_eq!((data[19], data[56], &data[2..6], &data[8..12]), (1000, 2000, &[1, 3, 5, 7][..], &[2, 4, 6, 8][..]));
}
