//! Wrong adjoints where |<Y, A X>| of random vectors is within rounding, because A has very many rows or columns.

use std::sync::{Arc, Mutex};

use super::support::{cpu, factor, gpu};
use crate::context::Context;
use crate::dense::Op;
use crate::error::Result;
use crate::matrix::{Matrix, Operator};
use crate::rsvd::options::{Centering, Method, Options};
use crate::scalar::{Complex, Scalar};

/// The products that an operator was asked for, and their numbers of vectors.
type Calls = Arc<Mutex<Vec<(Op, usize)>>>;

/// A = S + means: row i of S has one entry, in column i mod n, and the means are those that `center` names. The products
/// with the adjoint are those of `factor` S + means.
#[derive(Clone)]
struct Stacked {
    rows: usize,
    columns: usize,
    size: f64,
    center: Centering,
    mean: f64,
    factor: f64,
    calls: Calls,
}

impl Stacked {
    fn new(rows: usize, columns: usize, factor: f64) -> Self {
        Self { rows, columns, size: 1.0, center: Centering::None, mean: 0.0, factor, calls: Calls::default() }
    }

    /// The entry of row i. Columns have different norms unless there are as many as rows.
    fn entry(&self, i: usize) -> f64 {
        let decay = if self.rows == self.columns { 1.0 } else { 0.7f64.powi((i % self.columns) as i32) };
        self.size * decay * if (i / self.columns + i).is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    fn mean_of(&self, k: usize) -> f64 {
        self.mean * (1.0 + 0.5 * (k as f64).sin())
    }

    /// The sum of the vector and that of its products with the means, in double precision.
    fn sums<T: Scalar>(&self, x: &[T]) -> [f64; 4] {
        x.iter().enumerate().fold([0.0; 4], |[re, im, by_re, by_im], (k, x)| {
            let mean = self.mean_of(k);
            [re + x.re(), im + x.im(), by_re + mean * x.re(), by_im + mean * x.im()]
        })
    }
}

impl<T: Scalar> Operator<T> for Stacked {
    fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        self.calls.lock().unwrap().push((op, count));
        let (from, to) = if op == Op::Plain { (self.columns, self.rows) } else { (self.rows, self.columns) };
        for (x, y) in x.chunks_exact(from).zip(y.chunks_exact_mut(to)) {
            let mut wide = vec![[0.0; 2]; to];
            for i in 0..self.rows {
                let (k, row, by) = (i % self.columns, self.entry(i), if op == Op::Plain { 1.0 } else { self.factor });
                let (from, to) = if op == Op::Plain { (k, i) } else { (i, k) };
                wide[to][0] += by * row * x[from].re();
                wide[to][1] += by * row * x[from].im();
            }
            let [re, im, by_re, by_im] = if self.mean == 0.0 { [0.0; 4] } else { self.sums(x) };
            // Of means of columns A has equal rows: A x is their product with x, and A^H y is the sum of y times them.
            let is_one = (self.center == Centering::Columns) == (op == Op::Plain);
            for (k, (y, [s_re, s_im])) in y.iter_mut().zip(&wide).enumerate() {
                let (re, im) = if is_one { (by_re, by_im) } else { (re * self.mean_of(k), im * self.mean_of(k)) };
                *y = T::from_parts(s_re + re, s_im + im);
            }
        }
        Ok(())
    }
}

/// Values, or the error, and the products.
fn run<T: Scalar>(context: &Arc<Context>, a: &Stacked, method: Method) -> (Result<Vec<f64>>, Vec<(Op, usize)>) {
    let options = Options {
        rank: 3,
        oversampling: Some(3),
        power_iterations: (method != Method::OnePass).then_some(1),
        method,
        center: a.center,
        ..Options::default()
    };
    a.calls.lock().unwrap().clear();
    let given = Matrix::from_operator::<T>(context, Box::new(a.clone()));
    let planned = crate::rsvd::Rsvd::new(context, options.clone()).unwrap().plan(&given).unwrap();
    let found = factor::<T>(context, &given, options).map(|found| {
        // A GPU's plan leaves the host out, and a plan leaves out the memory for zeros and entries of extreme sizes.
        let used = found.info.host_bytes_used;
        assert!(
            planned.host_bytes == 0 || a.size != 1.0 || used <= planned.host_bytes,
            "{used} of {}",
            planned.host_bytes
        );
        found.s
    });
    let calls = a.calls.lock().unwrap().clone();
    (found, calls)
}

/// Single products with the adjoint, but the one for means of columns.
fn tests_in(a: &Stacked, calls: &[(Op, usize)]) -> usize {
    let all = calls.iter().filter(|call| **call == (Op::Adjoint, 1)).count();
    all - usize::from(a.center == Centering::Columns)
}

/// The right adjoint is accepted, with `products` more than the method makes, and those times `factors` are refused.
fn check<T: Scalar>(context: &Arc<Context>, right: &Stacked, method: Method, factors: &[f64], products: usize) {
    let what = |factor: f64| {
        format!("{:?} {} x {} {method:?} {:?} {factor}", T::DTYPE, right.rows, right.columns, right.center)
    };
    let (found, calls) = run::<T>(context, right, method);
    assert!(found.is_ok(), "{}: {found:?}", what(1.0));
    assert_eq!(tests_in(right, &calls), products, "{}: {calls:?}", what(1.0));
    for &factor in factors {
        let (found, _) = run::<T>(context, &Stacked { factor, ..right.clone() }, method);
        let text = found.expect_err(&what(factor)).to_string();
        assert!(
            text.starts_with("a: adjoint is not that of A: |<Y, A X> - <A^H Y, X>| is "),
            "{}: {text}",
            what(factor)
        );
    }
}

/// Random Y: each <Y, A X> is about ||Y|| ||A X|| over the root of the number of rows.
fn check_one_pass<T: Scalar>(context: &Arc<Context>) {
    check::<T>(context, &Stacked::new(400_000, 20, 1.0), Method::OnePass, &[2.0, 0.0, 1.05], 1);
    check::<T>(context, &Stacked::new(1_200_000, 8, 1.0), Method::OnePass, &[-1.0], 1);
}

/// A flat spectrum: A X of a random X is as good as orthogonal to A W.
fn check_flat<T: Scalar>(context: &Arc<Context>, method: Method) {
    check::<T>(context, &Stacked::new(300_000, 300_000, 1.0), method, &[2.0, -1.0], 1);
}

/// Adjoints that are wrong without the means, which are larger.
fn check_means<T: Scalar>(context: &Arc<Context>) {
    let columns = Stacked { center: Centering::Columns, mean: 4.0, ..Stacked::new(400_000, 20, 1.0) };
    check::<T>(context, &columns, Method::OnePass, &[2.0, -1.0], 1);
    let rows = Stacked { center: Centering::Rows, mean: 0.1, ..Stacked::new(100_000, 100_000, 1.0) };
    check::<T>(context, &rows, Method::Range, &[2.0, -1.0], 1);
}

/// No product is made for the test where those of the method suffice, and where there is nothing to be tested.
fn check_few(context: &Arc<Context>) {
    for method in [Method::OnePass, Method::Range, Method::Fused, Method::Krylov] {
        check::<f64>(context, &Stacked::new(500, 20, 1.0), method, &[2.0], 0);
        check::<f32>(context, &Stacked::new(500, 20, 1.0), method, &[2.0], 0);
        for center in [Centering::None, Centering::Columns, Centering::Rows] {
            let zeros = Stacked { size: 0.0, center, ..Stacked::new(40_000, 20, 1.0) };
            check::<f32>(context, &zeros, method, &[], 0);
        }
    }
}

/// Numbers near the ends of the type are tested as others are.
fn check_magnitudes(context: &Arc<Context>) {
    for size in [1e-30, 1e-12, 1e12, 1e30] {
        let a = Stacked { size, ..Stacked::new(400_000, 20, 1.0) };
        let (found, calls) = run::<f32>(context, &a, Method::OnePass);
        assert!(found.is_ok() && tests_in(&a, &calls) >= 1, "{size:e}: {found:?} {calls:?}");
        let (found, _) = run::<f32>(context, &Stacked { factor: 2.0, ..a }, Method::OnePass);
        assert!(found.is_err(), "{size:e}: {found:?}");
    }
}

#[test]
fn wrong_adjoints_are_refused_by_one_pass_over_many_rows() {
    check_one_pass::<f32>(&cpu());
    check_one_pass::<Complex<f32>>(&cpu());
}

#[test]
fn wrong_adjoints_of_flat_spectra_are_refused() {
    check_flat::<f32>(&cpu(), Method::Range);
    check_flat::<f32>(&cpu(), Method::Fused);
}

#[test]
fn adjoints_of_many_rows_that_are_wrong_without_the_means_are_refused() {
    check_means::<f32>(&cpu());
    check_means::<Complex<f32>>(&cpu());
}

#[test]
fn no_product_is_made_for_a_test_that_the_method_s_own_suffice_for() {
    check_few(&cpu());
}

#[test]
fn wrong_adjoints_of_any_magnitude_are_refused_by_one_pass() {
    check_magnitudes(&cpu());
}

#[test]
#[ignore = "needs a GPU"]
fn wrong_adjoints_of_many_rows_are_refused_on_a_gpu() {
    let context = gpu();
    check_one_pass::<f32>(&context);
    check_flat::<f32>(&context, Method::Range);
    check_flat::<f32>(&context, Method::Fused);
    check_means::<f32>(&context);
    check_few(&context);
    check_magnitudes(&context);
}
