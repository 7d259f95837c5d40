use super::products::dense_matrix;
use super::support::*;
use crate::algebra::{Place, Spread, Truncation, matrix as algebra};
use crate::scalar::Scalar;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::trains::scaled::Scaled;

four_types! {
    algebra_of_matrices => all;
    dense_matrices_there_and_back => dense_both_ways;
}

const ROWS: [usize; 3] = [2, 3, 1];
const COLS: [usize; 3] = [3, 1, 2];

fn assert_matrix<T: Scalar>(got: &[C], expected: &[C], scale: f64, what: &str) {
    assert!(distance(got, expected) <= 64.0 * roundoff::<T>() * scale, "{what}: {}", distance(got, expected));
}

fn all<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for ranks in [[1, 3, 2, 1], [2, 3, 2, 2]] {
        let (g, h) = (matrix::<T>(&c, &ROWS, &COLS, &ranks, 1), matrix::<T>(&c, &ROWS, &COLS, &ranks, 2));
        let ((a, sa, m, n), (b, sb, _, _)) = (dense_matrix::<T>(&g), dense_matrix::<T>(&h));
        let scale = sa.iter().chain(&sb).sum::<f64>();
        let (alpha, beta) = (C::new(2.0, 0.0), C::new(-0.5, 0.0));
        let sum = algebra::add(&at, alpha, &g, beta, &h).unwrap();
        let expected: Vec<C> = a.iter().zip(&b).map(|(a, b)| alpha * a + beta * b).collect();
        assert_matrix::<T>(&dense_matrix::<T>(&sum).0, &expected, 3.0 * scale, "sum");
        let tripled = algebra::scale(&at, Scaled::real(3.0), &g, Spread::Auto).unwrap();
        let expected: Vec<C> = a.iter().map(|z| 3.0 * z).collect();
        assert_matrix::<T>(&dense_matrix::<T>(&tripled).0, &expected, 3.0 * scale, "multiple");
        for (result, conjugate) in
            [(algebra::transpose(&at, &g).unwrap(), false), (algebra::adjoint(&at, &g).unwrap(), true)]
        {
            assert_eq!((result.rows(), result.cols()), (&COLS[..], &ROWS[..]));
            let turned = dense_matrix::<T>(&result).0;
            for i in 0..m {
                for j in 0..n {
                    let expected = if conjugate { a[i + m * j].conj() } else { a[i + m * j] };
                    assert_eq!(turned[j + n * i], expected);
                }
            }
        }
        let adjoint = algebra::adjoint(&at, &h).unwrap();
        let product = algebra::multiply(&at, &g, &adjoint).unwrap();
        assert_eq!((product.rows(), product.cols()), (&ROWS[..], &ROWS[..]));
        let times = |i: usize, k: usize| (0..n).map(|j| a[i + m * j] * b[k + m * j].conj()).sum::<C>();
        let expected: Vec<C> = (0..m * m).map(|e| times(e % m, e / m)).collect();
        assert_matrix::<T>(&dense_matrix::<T>(&product).0, &expected, scale * scale, "product");
        if ranks[0] == 1 {
            let (small, info) =
                algebra::multiply_round(&at, &g, &adjoint, &Truncation::relative(10.0 * roundoff::<T>())).unwrap();
            assert_matrix::<T>(&dense_matrix::<T>(&small).0, &expected, scale * scale, "rounded product");
            assert!(small.train().shape().max_rank() <= product.train().shape().max_rank());
            assert!((info.norm.plain(crate::scalar::DType::F64).0.re - norm(&expected)).abs() < 1e-4 * scale * scale);
            let (r, _) = algebra::round(&at, &sum, &Truncation::relative(10.0 * roundoff::<T>())).unwrap();
            let expected = dense_matrix::<T>(&sum).0;
            assert_matrix::<T>(&dense_matrix::<T>(&r).0, &expected, 3.0 * scale, "rounded sum");
        } else {
            let open = algebra::to_open(&at, &g).unwrap();
            assert_matrix::<T>(&dense_matrix::<T>(&open).0, &a, scale, "opened");
        }
        let conjugate = dense_matrix::<T>(&algebra::conj(&at, &g).unwrap()).0;
        assert!(conjugate.iter().zip(&a).all(|(x, y)| *x == y.conj()));
        let twin = algebra::copy(&at, &g).unwrap();
        assert_eq!(dense_matrix::<T>(&twin).0, a);
        let wide = algebra::cast(&at, &g, crate::scalar::DType::CF64).unwrap();
        assert_eq!(dense_matrix::<crate::scalar::Complex<f64>>(&wide).0, a);
    }
}

fn dense_both_ways<T: Scalar>() {
    let c = context(2);
    let at = Place::host(&c);
    for ranks in [[1, 3, 2, 1], [2, 3, 2, 2]] {
        let h = matrix::<T>(&c, &ROWS, &COLS, &ranks, 1);
        let (expected, scales, m, n) = dense_matrix::<T>(&h);
        for order in [Order::ColumnMajor, Order::RowMajor] {
            let mut out = Tensor::create(&c, T::DTYPE, Location::Host, order, &[m, n]).unwrap();
            algebra::to_dense(&at, &h, &mut out, false).unwrap();
            let view = out.view::<T>("out").unwrap();
            let got: Vec<C> = (0..m * n).map(|k| view.get(&[k % m, k / m])).map(|z| C::new(z.re(), z.im())).collect();
            assert_close::<T>(&got, &expected, &scales, steps(h.train()), "dense matrix");
            let (back, _) = algebra::from_dense(&at, &out, &ROWS, &COLS, &Truncation::default()).unwrap();
            assert_eq!((back.rows(), back.cols()), (&ROWS[..], &COLS[..]));
            assert_matrix::<T>(&dense_matrix::<T>(&back).0, &expected, norm(&expected), "and back");
        }
    }
}
