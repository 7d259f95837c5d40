//! Columns and entries: copies, scales, norms, peaks, adjoints and fills.

use super::super::{GpuAlgebra, GpuMatrix};
use super::algebras::{algebra, for_all_types};
use super::host::{C64, Host, at};
use crate::backend::gpu::kernels::dense;
use crate::dense::Algebra;
use crate::dense::sketch::{Distribution, Sketch};
use crate::scalar::{Complex, Scalar};

fn columns_are_copied_scaled_and_measured<T: Scalar>() {
    let mut ops = algebra();
    let (a, b) = (Host::random::<T>(1009, 7, 4), Host::random::<T>(1009, 5, 5));
    let (on_a, mut on_b) = (a.to::<T>(&mut ops), b.to::<T>(&mut ops));
    ops.copy_columns(&on_a, 2, 3, &mut on_b, 1).unwrap();
    let got = Host::from(&mut ops, &on_b);
    assert_eq!((got.get(8, 3), got.get(3, 0), got.get(3, 4)), (a.get(8, 4), b.get(3, 0), b.get(3, 4)));
    assert!(ops.copy_columns(&on_a, 5, 3, &mut on_b, 0).is_err());

    ops.scale_columns(&mut on_b, &[1.0, 2.0, 0.0, -0.5, 1.0]).unwrap();
    assert!(ops.scale_columns(&mut on_b, &[1.0]).is_err());
    let got = Host::from(&mut ops, &on_b);
    assert_eq!((got.get(8, 3), got.get(8, 2)), (a.get(8, 4) * -0.5, C64::default()));
    let norms = ops.column_norms(&on_b).unwrap();
    for (j, n) in norms.iter().enumerate() {
        let want = (0..1009).map(|i| got.get(i, j).norm_sqr()).sum::<f64>().sqrt();
        assert!((n - want).abs() <= 1e-14 * want, "{n} {want}");
    }
    let total = ops.norm2(&on_b).unwrap();
    assert!((total - norms.iter().map(|n| n * n).sum::<f64>()).abs() < 1e-13 * total);

    for (rows, cols) in [(1, 1), (1009, 7), (31, 65), (0, 3), (33, 0)] {
        let a = Host::random::<T>(rows, cols, 6);
        let on = a.to::<T>(&mut ops);
        let t = ops.adjoint("test", &on).unwrap();
        assert_eq!(Host::from(&mut ops, &t).at, a.adjoint().at, "{rows} {cols}");
        for (transposed, conjugate) in [(false, false), (false, true), (true, false)] {
            let shape = if transposed { (cols, rows) } else { (rows, cols) };
            let out = ops.uninitialized(T::DTYPE, "test", shape.0, shape.1).unwrap();
            let out = GpuMatrix::<T>::new(out).unwrap();
            dense::place(T::DTYPE, ops.gpu(), ops.stream(), on.view(), out.view(), transposed, conjugate).unwrap();
            let taken = |x: C64| if conjugate { x.conj() } else { x };
            let want = Host::new(shape.0, shape.1, |i, j| taken(if transposed { a.get(j, i) } else { a.get(i, j) }));
            assert_eq!(Host::from(&mut ops, &out).at, want.at, "{rows} {cols} {transposed} {conjugate}");
        }
    }

    // The first of two equal peaks counts, wherever the threads are; a column of zeros has none.
    let mut c = Host::new(5000, 3, |i, j| C64::new(if j == 2 { 0.0 } else { (i % 7) as f64 }, 0.0));
    (c.at[4321], c.at[2]) = (C64::new(9.0, 0.0), C64::new(-9.0, 0.0));
    c.at[9999] = C64::new(-7.0, 0.0);
    let peaks = |ops: &mut GpuAlgebra, c: &Host| {
        let on = c.to::<T>(ops);
        ops.column_peaks(&on).unwrap()
    };
    assert_eq!(peaks(&mut ops, &c), [(-9.0, 0.0), (-7.0, 0.0), (0.0, 0.0)]);
    assert_eq!(peaks(&mut ops, &Host::new(0, 2, |_, _| C64::default())), [(0.0, 0.0); 2]);
    if T::IS_COMPLEX {
        c.at[2] = C64::new(-10.0, 0.0);
        c.at[100] = C64::new(6.0, -8.0);
        assert_eq!(peaks(&mut ops, &c)[0], (-10.0, 0.0));
        c.at[1] = C64::new(6.0, -8.0);
        assert_eq!(peaks(&mut ops, &c)[0], (6.0, -8.0));
    }

    let odd = vec![T::from_parts(2.0, 0.0); 12 * 7];
    let sub = ops.upload("test", 3, 2, &odd, 4).unwrap();
    assert!(ops.upload("test", 3, 2, &odd[..6], 4).is_err(), "six elements with a leading dimension of 4 take 7");
    let mut back = vec![T::default(); 8];
    ops.download(&sub, &mut back, 5).unwrap();
    assert_eq!((back[2], back[3], back[7]), (odd[0], T::default(), odd[0]));
}

#[test]
#[ignore = "needs a GPU"]
fn columns() {
    for_all_types!(columns_are_copied_scaled_and_measured());
}

fn norms_neither_overflow_nor_vanish<T: Scalar>(large: f64, small: f64) {
    let mut ops = algebra();
    let sizes = [large, small, 0.0, 1.0];
    let a = Host::new(300, 4, |i, j| C64::new(if i % 3 == 0 { -sizes[j] } else { sizes[j] }, 0.0));
    let on = a.to::<T>(&mut ops);
    for (n, size) in ops.column_norms(&on).unwrap().iter().zip(sizes) {
        let want = at::<T>(T::from_parts(size, 0.0)).re * 300f64.sqrt();
        assert!((n - want).abs() <= 1e-14 * want, "{n} {want}");
    }
    let mut bad = a;
    bad.at[305] = C64::new(f64::NAN, 0.0);
    let on = bad.to::<T>(&mut ops);
    let norms = ops.column_norms(&on).unwrap();
    assert!(norms[1].is_nan() && norms[3] > 0.0);
}

#[test]
#[ignore = "needs a GPU"]
fn extreme_norms() {
    norms_neither_overflow_nor_vanish::<f64>(1e300, 1e-300);
    norms_neither_overflow_nor_vanish::<Complex<f64>>(1e300, 1e-300);
    norms_neither_overflow_nor_vanish::<f32>(1e38, 1e-40);
    norms_neither_overflow_nor_vanish::<Complex<f32>>(1e38, 1e-40);
}

fn a_fill_is_the_sketch<T: Scalar>() {
    let mut ops = algebra();
    for d in [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher, Distribution::SparseSign] {
        let sketch = Sketch { distribution: d, seed: 0x1234_5678_9abc, stream: 3 };
        for (first_row, first_column, rows, cols) in
            [(0, 0, 4100, 35), (5, 3, 17, 6), (1 << 40, 1, 1, 1), (7, 2, 257, 1), (0, 0, 0, 2), (0, 0, 3, 0)]
        {
            let mut m = Algebra::<T>::zeros(&mut ops, "test", rows, cols).unwrap();
            ops.fill(&mut m, &sketch, first_row, first_column).unwrap();
            let got = Host::from(&mut ops, &m);
            for j in 0..cols {
                for i in 0..rows {
                    let (row, column) = (first_row + i as u64, first_column + j as u32);
                    assert_eq!(got.get(i, j), at::<T>(sketch.entry(row, column)), "{d:?} {row} {column}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn fills() {
    for_all_types!(a_fill_is_the_sketch());
}
