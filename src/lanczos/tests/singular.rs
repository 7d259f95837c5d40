//! Singular triplets against those of a dense matrix.

use super::operators::{rectangular, whole};
use super::*;
use crate::dense::Algebra;
use crate::dense::cpu::CpuAlgebra;
use crate::lanczos::singular::{Through, singular_triplets};

fn check<T: Scalar>(c: &Arc<Context>, (rows, cols): (usize, usize), through: Through, which: Which, accuracy: f64) {
    let a = rectangular::<T>(c, rows, cols, 4);
    let dense: Vec<Complex<f64>> = whole::<T>(c, &a);
    let mut algebra = CpuAlgebra::new(&cpu(2));
    let held: <CpuAlgebra as Algebra<Complex<f64>>>::Matrix = algebra.upload("a", rows, cols, &dense, rows).unwrap();
    let mut want = Algebra::<Complex<f64>>::svd(&mut algebra, &held).unwrap().s;
    let norm = want[0];
    if which == Which::Smallest {
        want.reverse();
    }
    let options = Options { count: 4, which, verify: Verify::On, basis: 40.min(rows.min(cols)), ..Options::default() };
    let found = singular_triplets::<T>(c, &a, through, &options, &Progress::none()).unwrap();
    near(&found.values, &want[..4], accuracy * norm, "singular values");
    assert!(found.residuals.iter().all(|r| *r <= 10.0 * accuracy * norm), "{:?}", found.residuals);
    for (vectors, n) in [(&found.left, rows), (&found.right, cols)] {
        for x in vectors.chunks_exact(n) {
            let norm: f64 = x.iter().map(|x| x.re() * x.re() + x.im() * x.im()).sum();
            assert!((norm - 1.0).abs() < 1e3 * T::Part::EPSILON.to_f64());
        }
    }
}

pub(super) fn singular_values_come_through_either_operator(c: &Arc<Context>) {
    check::<f64>(c, (180, 110), Through::Gram, Which::Largest, 1e-10);
    check::<f64>(c, (110, 180), Through::Gram, Which::Largest, 1e-10);
    check::<f64>(c, (180, 110), Through::Augmented, Which::Largest, 1e-10);
    check::<Complex<f64>>(c, (90, 120), Through::Gram, Which::Largest, 1e-10);
    check::<Complex<f64>>(c, (90, 120), Through::Augmented, Which::Largest, 1e-10);
    check::<f32>(c, (150, 90), Through::Gram, Which::Largest, 1e-4);
    check::<f64>(c, (50, 40), Through::Gram, Which::Smallest, 1e-8);
}

pub(super) fn values_of_a_deficient_matrix_are_zero_and_their_vectors_too(c: &Arc<Context>) {
    // One column in four is empty.
    let a = rectangular::<f64>(c, 30, 4, 1);
    let options = Options { count: 4, ..Options::default() };
    let found = singular_triplets::<f64>(c, &a, Through::Gram, &options, &Progress::none()).unwrap();
    let dense = whole::<f64>(c, &a);
    let filled = dense.chunks_exact(30).filter(|column| column.iter().any(|v| v.norm() > 0.0)).count();
    let positive = found.values.iter().filter(|v| **v > 1e-12).count();
    assert_eq!(positive, filled);
    assert!(
        found.values.iter().zip(found.left.chunks_exact(30)).all(|(s, u)| *s > 1e-12 || u.iter().all(|x| *x == 0.0))
    );
    assert!(found.residuals.iter().all(|r| *r < 1e-12));
    let refused =
        |o: Options, t: Through| singular_triplets::<f64>(c, &a, t, &o, &Progress::none()).unwrap_err().to_string();
    assert_eq!(refused(Options { count: 5, ..options }, Through::Gram), "count: is 5, outside 1 to 4");
    let both = Options { which: Which::BothEnds, ..options };
    assert_eq!(refused(both, Through::Gram), "which: is BothEnds, Largest or Smallest is needed");
    assert!(refused(Options { which: Which::Smallest, ..options }, Through::Augmented).contains("Gram is needed"));
    assert!(Through::from_code("through", 2).is_err());
}
