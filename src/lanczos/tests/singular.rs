//! Singular triplets against those of a dense matrix, and against known values.

use std::sync::Arc;

use super::operators::{rectangular, whole};
use super::solves::near;
use crate::context::Context;
use crate::dense::cpu::CpuAlgebra;
use crate::dense::{Algebra, Op};
use crate::error::Error;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::singular::{Request, SingularOperator, Triplets, singular_triplets};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Options, Orthogonalization, Reason, Verify, Which};
use crate::matrix::{Matrix, Operator};
use crate::progress::Progress;
use crate::scalar::{Complex, Real, Scalar};
use crate::testing::sparse::{cpu, from_entries};

/// Triplets, after checks that the vectors are orthonormal and the residuals correct.
fn found_by<T: Scalar>(c: &Arc<Context>, a: &Matrix, request: Request<'_, T>, options: &Options) -> Triplets<T> {
    let found = singular_triplets::<T>(c, a, request, options, &Progress::none()).unwrap();
    let (rows, cols) = (a.rows(), a.cols());
    let eps = T::Part::EPSILON.to_f64();
    for (vectors, n) in [(&found.left, rows), (&found.right, cols)] {
        let columns: Vec<Vec<Complex<f64>>> =
            vectors.chunks_exact(n).map(|x| x.iter().map(|x| Complex::new(x.re(), x.im())).collect()).collect();
        assert_eq!(columns.len(), options.count);
        for (i, x) in columns.iter().enumerate() {
            for (j, y) in columns.iter().enumerate() {
                let dot: Complex<f64> = x.iter().zip(y).map(|(x, y)| x.conj() * y).sum();
                let want = f64::from(u8::from(i == j));
                assert!((dot - want).norm() < 100.0 * eps, "vectors {i} and {j} of {n} numbers: {dot}");
            }
        }
    }
    let dense = whole::<T>(c, a);
    let norm = dense.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
    for (k, s) in found.values.iter().enumerate() {
        let wide = |v: &[T]| v.iter().map(|v| Complex::new(v.re(), v.im())).collect::<Vec<_>>();
        let (u, v) = (wide(&found.left[k * rows..(k + 1) * rows]), wide(&found.right[k * cols..(k + 1) * cols]));
        let (mut one, mut two) = (0.0f64, 0.0f64);
        for i in 0..rows {
            let sum: Complex<f64> = (0..cols).map(|j| dense[j * rows + i] * v[j]).sum();
            one += (sum - s * u[i]).norm_sqr();
        }
        for j in 0..cols {
            let sum: Complex<f64> = (0..rows).map(|i| dense[j * rows + i].conj() * u[i]).sum();
            two += (sum - s * v[j]).norm_sqr();
        }
        let residual = one.max(two).sqrt();
        assert!((residual - found.residuals[k]).abs() <= 100.0 * eps * norm, "{residual}, not {}", found.residuals[k]);
    }
    assert_eq!(found.info.converged, options.count, "{:?}", found.info);
    let reported = found.info.orthogonality;
    // The norm of one vector may round to exactly 1.
    let may_be_zero = options.count < 2 || options.count * rows < 30;
    assert!(reported < 100.0 * eps && (may_be_zero || reported > 0.0), "{:?}", found.info);
    found
}

fn check<T: Scalar>(
    c: &Arc<Context>,
    (rows, cols): (usize, usize),
    through: SingularOperator,
    which: Which,
    accuracy: f64,
) {
    let a = rectangular::<T>(c, rows, cols, 4);
    let dense: Vec<Complex<f64>> = whole::<T>(c, &a);
    let mut algebra = CpuAlgebra::new(&cpu(2));
    let held: <CpuAlgebra as Algebra<Complex<f64>>>::Matrix = algebra.upload("a", rows, cols, &dense, rows).unwrap();
    let mut want = Algebra::<Complex<f64>>::svd(&mut algebra, &held).unwrap().s;
    let norm = want[0];
    if which == Which::Smallest {
        want.reverse();
    }
    let options = Options { count: 4, which, verify: Verify::On, ..Options::default() };
    let found = found_by::<T>(c, &a, Request { through, ..Request::default() }, &options);
    near(&found.values, &want[..4], accuracy * norm, "singular values");
    let limit = (10.0 * accuracy).max(2e-10) * norm;
    assert!(found.residuals.iter().all(|r| *r <= limit), "{:?}", found.residuals);
}

pub(super) fn singular_values_come_through_either_operator(c: &Arc<Context>) {
    for through in [SingularOperator::Auto, SingularOperator::Gram] {
        check::<f64>(c, (180, 110), through, Which::Largest, 1e-10);
        check::<f64>(c, (110, 180), through, Which::Largest, 1e-10);
        check::<Complex<f64>>(c, (90, 120), through, Which::Largest, 1e-10);
        check::<f32>(c, (150, 90), through, Which::Largest, 1e-5);
        check::<f64>(c, (50, 40), through, Which::Smallest, 1e-14);
    }
    check::<f64>(c, (180, 110), SingularOperator::Augmented, Which::Largest, 1e-10);
    check::<Complex<f64>>(c, (90, 120), SingularOperator::Augmented, Which::Largest, 1e-10);
    check::<f64>(c, (60, 60), SingularOperator::Auto, Which::Smallest, 1e-14);
    check::<Complex<f64>>(c, (40, 70), SingularOperator::Auto, Which::Smallest, 1e-14);
    check::<Complex<f32>>(c, (70, 40), SingularOperator::Auto, Which::Smallest, 1e-6);
    // Longer than matrices that are bidiagonalized as a whole.
    check::<f64>(c, (400, 300), SingularOperator::Auto, Which::Smallest, 1e-10);
}

/// A = H diag(values) G with reflections H and G; `values` are its singular values up to rounding errors.
pub(super) fn of_values<T: Scalar>(c: &Arc<Context>, (rows, cols): (usize, usize), values: &[f64]) -> Matrix {
    let unit = |n: usize, of: f64| -> Vec<f64> {
        let raw: Vec<f64> = (0..n).map(|i| (of * (i as f64 + 1.0)).sin()).collect();
        let norm = raw.iter().map(|v| v * v).sum::<f64>().sqrt();
        raw.iter().map(|v| v / norm).collect()
    };
    let (h, g) = (unit(rows, 0.7), unit(cols, 1.3));
    let part = |v: &[f64], i: usize, k: usize| f64::from(u8::from(i == k)) - 2.0 * v[i] * v[k];
    let mut entries = Vec::new();
    for i in 0..rows {
        for j in 0..cols {
            let sum: f64 = values.iter().enumerate().map(|(k, s)| part(&h, i, k) * s * part(&g, j, k)).sum();
            // A unitary diagonal on either side changes no singular value.
            let (sin, cos) = if T::IS_COMPLEX { (0.3 * i as f64 + 0.2 * j as f64).sin_cos() } else { (0.0, 1.0) };
            entries.push((i, j, T::from_parts(sum * cos, sum * sin)));
        }
    }
    from_entries(c, (rows, cols), &entries)
}

pub(super) fn graded_values_are_accurate_to_the_norm(c: &Arc<Context>) {
    let decades: Vec<f64> = (0..60).map(|j| 10f64.powi(-j)).collect();
    for shape in [(80, 60), (60, 80), (60, 60)] {
        let a = of_values::<f64>(c, shape, &decades);
        let options = Options { count: 10, ..Options::default() };
        let found = found_by::<f64>(c, &a, Request::default(), &options);
        for (k, s) in found.values.iter().enumerate() {
            // As SciPy's svds or better. The stored matrix represents each value only to eps of the norm, and so 1e-8
            // only to 2e-8 of itself.
            assert!((s - decades[k]).abs() <= 2e-15 * decades[k] + 3e-17, "{k}: {s}");
        }
        assert!(found.residuals.iter().all(|r| *r < 1e-14), "{:?}", found.residuals);
        let options = Options { which: Which::Smallest, ..options };
        let found = found_by::<f64>(c, &a, Request::default(), &options);
        assert!(found.values.iter().all(|s| *s < 2e-15), "{:?}", found.values);
    }
    let decades: Vec<f64> = (0..50).map(|j| 10f64.powf(-0.2 * j as f64)).collect();
    for which in [Which::Largest, Which::Smallest] {
        let options = Options { count: 5, which, ..Options::default() };
        let want = |k: usize| if which == Which::Largest { decades[k] } else { decades[49 - k] };
        let a = of_values::<Complex<f64>>(c, (70, 50), &decades);
        for (k, s) in found_by::<Complex<f64>>(c, &a, Request::default(), &options).values.iter().enumerate() {
            assert!((s - want(k)).abs() <= 1e-15, "{k}: {s}, not {}", want(k));
        }
        let a = of_values::<f32>(c, (50, 70), &decades);
        for (k, s) in found_by::<f32>(c, &a, Request::default(), &options).values.iter().enumerate() {
            assert!((s - want(k)).abs() <= 5e-7, "{k}: {s}, not {}", want(k));
        }
    }
}

pub(super) fn a_thousandth_in_single_precision_is_not_squared(c: &Arc<Context>) {
    let values: Vec<f64> = (0..40).map(|j| 10f64.powi(-(j.min(4)))).collect();
    let a = of_values::<f32>(c, (50, 40), &values);
    let found = found_by::<f32>(c, &a, Request::default(), &Options { count: 8, ..Options::default() });
    for (s, want) in found.values.iter().zip(&values) {
        assert!((s - want).abs() <= 2e-7, "{s}, not {want}");
    }
}

pub(super) fn every_copy_of_a_singular_value_is_found(c: &Arc<Context>) {
    for which in [Which::Largest, Which::Smallest] {
        let options = Options { count: 7, which, ..Options::default() };
        for shape in [(40, 40), (60, 40), (40, 60)] {
            let one = of_values::<f64>(c, shape, &[1.0; 40]);
            near(&found_by::<f64>(c, &one, Request::default(), &options).values, &[1.0; 7], 1e-14, "isometry");
        }
        // Two equal blocks, larger than matrices that are bidiagonalized as a whole.
        let (rows, cols) = (320, 290);
        let block = |i: usize, j: usize| (i, j, if i == j { 2.0 + (i as f64 / 7.0).sin() } else { 0.25 });
        let one: Vec<_> = (0..cols / 2).flat_map(|j| [block(j, j), block(j + 5, j)]).collect();
        let both = one.iter().flat_map(|&(i, j, v)| [(i, j, v), (i + rows / 2, j + cols / 2, v)]);
        let a = from_entries(c, (rows, cols), &both.collect::<Vec<_>>());
        let found = found_by::<f64>(c, &a, Request::default(), &Options { count: 6, ..options });
        let half = from_entries(c, (rows / 2, cols / 2), &one);
        let once = found_by::<f64>(c, &half, Request::default(), &Options { count: 3, ..options });
        for (k, s) in found.values.iter().enumerate() {
            assert!((s - once.values[k / 2]).abs() < 1e-9, "{which:?}: {:?}, {:?}", found.values, once.values);
        }
    }
}

pub(super) fn values_of_a_deficient_matrix_are_zero_and_their_vectors_orthonormal(c: &Arc<Context>) {
    for (rows, cols) in [(30, 20), (20, 30), (25, 25), (1, 1), (1, 5), (7, 2)] {
        let least: usize = rows.min(cols);
        for rank in [0, 1, least / 2] {
            let values: Vec<f64> = (0..rank.min(least)).map(|k| 2.0 - k as f64 / least as f64).collect();
            let a = of_values::<f64>(c, (rows, cols), &values);
            for through in [SingularOperator::Auto, SingularOperator::Gram, SingularOperator::Augmented] {
                for which in [Which::Largest, Which::Smallest] {
                    if through == SingularOperator::Augmented && which == Which::Smallest {
                        continue;
                    }
                    let options = Options { count: least, which, ..Options::default() };
                    let found = found_by::<f64>(c, &a, Request { through, ..Request::default() }, &options);
                    let mut want = values.clone();
                    want.resize(least, 0.0);
                    if which == Which::Smallest {
                        want.reverse();
                    }
                    near(&found.values, &want, 1e-14, "deficient matrix");
                }
            }
        }
    }
}

pub(super) fn start_vectors_and_wishes_for_vectors_are_heeded(c: &Arc<Context>) {
    for (rows, cols) in [(60, 45), (45, 60)] {
        let a = rectangular::<f64>(c, rows, cols, 4);
        let options = Options { count: 3, ..Options::default() };
        let whole = found_by::<f64>(c, &a, Request::default(), &options);
        let exact = if cols <= rows { &whole.right } else { &whole.left };
        for which in [Which::Largest, Which::Smallest] {
            let options = Options { which, ..options };
            let plain = found_by::<f64>(c, &a, Request::default(), &options);
            for through in [SingularOperator::Auto, SingularOperator::Augmented] {
                if (through, which) == (SingularOperator::Augmented, Which::Smallest) {
                    continue;
                }
                let request = Request { through, start: Some(&exact[..45]), ..Request::default() };
                let found = found_by::<f64>(c, &a, request, &options);
                near(&found.values, &plain.values, 1e-12, "with a start vector");
            }
            for vectors in [[false, false], [true, false], [false, true]] {
                let request = Request { vectors, ..Request::default() };
                let found = singular_triplets::<f64>(c, &a, request, &options, &Progress::none()).unwrap();
                assert_eq!((&found.values, &found.residuals), (&plain.values, &plain.residuals));
                let lengths = [if vectors[0] { 3 * rows } else { 0 }, if vectors[1] { 3 * cols } else { 0 }];
                assert_eq!([found.left.len(), found.right.len()], lengths);
            }
        }
    }
    // A start vector that is a sum of the wanted vectors needs no restart.
    let a = rectangular::<f64>(c, 600, 450, 4);
    let options = Options { count: 3, basis: 8, verify: Verify::Off, ..Options::default() };
    let plain = found_by::<f64>(c, &a, Request::default(), &options);
    let sum: Vec<f64> = (0..450).map(|i| (0..3).map(|k| plain.right[450 * k + i]).sum()).collect();
    let led = found_by::<f64>(c, &a, Request { start: Some(&sum), ..Request::default() }, &options);
    near(&led.values, &plain.values, 1e-9, "with a start vector");
    assert!(plain.info.restarts > 2 && led.info.restarts <= 1, "{:?} {:?}", plain.info, led.info);
}

pub(super) fn arguments_of_singular_values_are_named(c: &Arc<Context>) {
    let a = rectangular::<f64>(c, 30, 4, 1);
    let options = Options { count: 4, ..Options::default() };
    let refused = |o: Options, request: Request<'_, f64>| {
        singular_triplets::<f64>(c, &a, request, &o, &Progress::none()).unwrap_err().to_string()
    };
    let none = Request::default();
    assert_eq!(refused(Options { count: 5, ..options }, none), "count: is 5, outside 1 to 4");
    let both = Options { which: Which::BothEnds, ..options };
    assert_eq!(refused(both, none), "which: is BOTH_ENDS, LARGEST or SMALLEST is needed");
    let augmented = Request { through: SingularOperator::Augmented, ..none };
    assert!(refused(Options { which: Which::Smallest, ..options }, augmented).contains("GRAM is needed"));
    let started = |start| Request { start: Some(start), ..none };
    assert_eq!(refused(options, started(&[1.0; 30])), "start: has 30 elements, 4 are needed");
    assert_eq!(refused(options, started(&[0.0; 4])), "start: is 0");
    assert_eq!(refused(options, started(&[1.0, f64::NAN, 0.0, 0.0])), "start: element 1 is not finite");
    assert!(SingularOperator::from_code("through", 3).is_err());
    let a = from_entries::<f64>(c, (6, 5), &[(1, 1, 1.0), (2, 2, f64::NAN)]);
    for which in [Which::Largest, Which::Smallest] {
        let options = Options { count: 2, which, ..Options::default() };
        let found = singular_triplets::<f64>(c, &a, Request::default(), &options, &Progress::none());
        assert_eq!(found.unwrap_err().to_string(), "a: has NaN in row 2, column 2 (from 0)");
    }
}

pub(super) fn a_search_that_is_cut_short_says_so(c: &Arc<Context>) {
    let a = rectangular::<f64>(c, 400, 300, 4);
    for which in [Which::Largest, Which::Smallest] {
        let options = Options { count: 6, basis: 10, restarts: 1, which, ..Options::default() };
        let found = singular_triplets::<f64>(c, &a, Request::default(), &options, &Progress::none()).unwrap();
        assert!(found.info.converged < 6 && found.info.stop_reason == Reason::Restarts, "{:?}", found.info);
        assert!(found.info.restarts <= 1);
    }
}

/// An upper bidiagonal matrix of the order given; its adjoint, or the matrix once more in the adjoint's place.
struct Bidiagonal {
    order: usize,
    is_wrong: bool,
}

impl Operator<f64> for Bidiagonal {
    fn shape(&self) -> (usize, usize) {
        (self.order, self.order)
    }

    fn apply(&mut self, op: Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
        for (x, y) in x.chunks_exact(self.order).zip(y.chunks_exact_mut(self.order)) {
            for (i, y) in y.iter_mut().enumerate() {
                let other = if op == Op::Adjoint && !self.is_wrong { i.wrapping_sub(1) } else { i + 1 };
                *y = (1.0 + i as f64 / 50.0) * x[i] + 2.0 * x.get(other).unwrap_or(&0.0);
            }
        }
        Ok(())
    }
}

fn is_wrong_adjoint(error: &Error) -> bool {
    error.to_string().starts_with("a: adjoint is not that of A: ")
}

pub(super) fn a_product_that_is_not_the_adjoints_is_no_success(c: &Arc<Context>) {
    let base = Options { count: 3, ..Options::default() };
    let ways = [
        (SingularOperator::Auto, base),
        (SingularOperator::Gram, base),
        (SingularOperator::Augmented, base),
        (SingularOperator::Gram, Options { block: 2, ..base }),
        (SingularOperator::Gram, Options { orthogonalization: Orthogonalization::Partial, ..base }),
        (SingularOperator::Auto, Options { which: Which::Smallest, ..base }),
    ];
    for (order, restarts) in [(40, 6), (200, 6), (400, 6)] {
        for (through, options) in ways {
            let find = |is_wrong: bool, restarts: usize| {
                let a = Matrix::from_operator(c, Box::new(Bidiagonal { order, is_wrong }));
                let options = Options { restarts, ..options };
                singular_triplets::<f64>(c, &a, Request { through, ..Request::default() }, &options, &Progress::none())
            };
            let found = find(false, 0).unwrap();
            let limit = 1e-7 * found.info.norm;
            assert!(found.info.converged == 3, "{order} {through:?} {options:?}: {:?}", found.info);
            assert!(found.residuals.iter().all(|r| *r <= limit), "{:?}", found.residuals);
            match find(true, restarts) {
                Ok(found) => panic!("{order} {through:?} {options:?}: {:?}", found.info),
                Err(e) => assert!(is_wrong_adjoint(&e), "{order} {through:?} {options:?}: {e}"),
            }
        }
    }
}

/// A full matrix whose adjoint has its entries times `factor`, and 0 in one place if `skips`.
#[derive(Clone, Copy)]
struct Spoilt {
    shape: (usize, usize),
    factor: f64,
    skips: bool,
}

impl Operator<f64> for Spoilt {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn apply(&mut self, op: Op, x: &[f64], count: usize, y: &mut [f64]) -> crate::error::Result<()> {
        let (rows, cols) = self.shape;
        let entry = |i: usize, j: usize| ((i * 7 + j * 3 + i * j) % 11) as f64 - 4.0;
        let (inner, outer) = if op == Op::Plain { (cols, rows) } else { (rows, cols) };
        for (x, y) in x.chunks_exact(inner).zip(y.chunks_exact_mut(outer)).take(count) {
            for (i, y) in y.iter_mut().enumerate() {
                let of = |j: usize| if op == Op::Plain { entry(i, j) } else { self.factor * entry(j, i) };
                *y = x.iter().enumerate().map(|(j, x)| of(j) * x).sum();
            }
            if op == Op::Adjoint && self.skips {
                y[outer / 2] = 0.0;
            }
        }
        Ok(())
    }
}

pub(super) fn an_adjoint_of_another_matrix_is_refused(c: &Arc<Context>) {
    for shape in [(30, 40), (40, 30), (35, 35), (1, 7)] {
        for (factor, skips) in [(1.0, false), (2.0, false), (-1.0, false), (1.0, true), (1.001, false)] {
            let matrix = || Matrix::from_operator::<f64>(c, Box::new(Spoilt { shape, factor, skips }));
            let is_right = factor == 1.0 && !skips;
            let check = |found: Result<(), Error>, what: &str| match found {
                Ok(()) => assert!(is_right, "{shape:?} {factor} {skips} {what}"),
                Err(e) => {
                    assert!(!is_right && is_wrong_adjoint(&e), "{shape:?} {factor} {what}: {e}");
                }
            };
            for which in [Which::Largest, Which::Smallest] {
                let options = Options { count: 1, which, ..Options::default() };
                let found = singular_triplets::<f64>(c, &matrix(), Request::default(), &options, &Progress::none());
                check(found.map(|_| ()), "triplets");
            }
            for kind in [Kind::Gram, Kind::OuterGram] {
                let options = Options { count: 1, ..Options::default() };
                let a = matrix();
                let found = Symmetric::<f64>::new(c, &a, kind, 0.0).and_then(|mut operator| {
                    eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none())
                });
                check(found.map(|_| ()), "eigenpairs");
            }
        }
    }
}

/// The tests of an operator's adjoint count as one product each: before every run, and after those for eigenpairs, with
/// which most searches for triplets begin.
#[test]
fn the_tests_of_an_adjoint_are_counted() {
    let (c, shape) = (cpu(2), (40, 30));
    let (mut entry, mut column) = (Spoilt { shape, factor: 1.0, skips: false }, vec![0.0; shape.0]);
    let mut entries = Vec::new();
    for j in 0..shape.1 {
        let mut unit = vec![0.0; shape.1];
        unit[j] = 1.0;
        entry.apply(Op::Plain, &unit, 1, &mut column).unwrap();
        entries.extend(column.iter().enumerate().map(|(i, v)| (i, j, *v)));
    }
    let stored = from_entries(&c, shape, &entries);
    let own = || Matrix::from_operator::<f64>(&c, Box::new(entry));
    let pairs = |a: &Matrix, kind: Kind| {
        let options = Options { count: 2, ..Options::default() };
        let mut operator = Symmetric::<f64>::new(&c, a, kind, 0.0).unwrap();
        eigenpairs(&c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap().info.products
    };
    for kind in [Kind::Gram, Kind::OuterGram, Kind::Augmented] {
        assert_eq!(pairs(&own(), kind), pairs(&stored, kind) + 2, "{kind:?}");
    }
    let triplets = |a: &Matrix, which: Which, through: SingularOperator| {
        let options = Options { count: 2, which, ..Options::default() };
        let request = Request { through, ..Request::default() };
        singular_triplets::<f64>(&c, a, request, &options, &Progress::none()).unwrap().info.products
    };
    for (which, through, wanted) in [
        (Which::Largest, SingularOperator::Auto, 2),
        (Which::Largest, SingularOperator::Augmented, 2),
        // This one does not begin with eigenpairs.
        (Which::Smallest, SingularOperator::Auto, 1),
    ] {
        let tests = triplets(&own(), which, through) - triplets(&stored, which, through);
        assert_eq!(tests, wanted, "{which:?} {through:?}");
    }
}

#[test]
fn singular_triplets_do_not_depend_on_the_number_of_threads() {
    for which in [Which::Largest, Which::Smallest] {
        let bits = |threads: usize| {
            let c = cpu(threads);
            let a = rectangular::<f64>(&c, 5000, 400, 3);
            let options = Options { count: 3, which, tolerance: 1e-4, restarts: 3, ..Options::default() };
            let found = singular_triplets::<f64>(&c, &a, Request::default(), &options, &Progress::none()).unwrap();
            found.left.iter().chain(&found.right).chain(&found.values).map(|v| v.to_bits()).collect::<Vec<_>>()
        };
        assert!(bits(1) == bits(3), "{which:?}");
    }
}

#[test]
fn jacobi_keeps_the_digits_of_graded_columns() {
    use crate::lanczos::algorithm::jacobi::decompose;
    let k = 6;
    // Columns of sizes 1, 1e-40, ... that are far from orthogonal.
    let at = |i: usize, j: usize| (1.0 + ((i * k + j) as f64).sin()) * 10f64.powi(-40 * j as i32);
    let a: Vec<Complex<f64>> = (0..k * k)
        .map(|e| {
            Complex::new(
                at(e % k, e / k),
                0.5 * at(e / k, e % k) * 10f64.powi(40 * (e % k) as i32 - 40 * (e / k) as i32),
            )
        })
        .collect();
    let found = decompose(k, a.clone()).unwrap();
    for j in 0..k {
        for i in 0..k {
            let entry: Complex<f64> =
                (0..k).map(|l| found.left[l * k + i] * found.values[l] * found.right[l * k + j].conj()).sum();
            let size = a[j * k..(j + 1) * k].iter().map(|v| v.norm()).fold(0.0, f64::max);
            assert!((entry - a[j * k + i]).norm() <= 1e-14 * size, "{i} {j}");
        }
    }
    let zero = decompose(3, vec![0.0f64; 9]).unwrap();
    assert_eq!(zero.values, [0.0; 3]);
    assert_eq!(zero.left, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    assert!(decompose(1, vec![f64::NAN]).is_err() && decompose(0, Vec::<f64>::new()).unwrap().values.is_empty());
}

pub(super) fn values_of_zero_are_found_beside_empty_rows_and_columns(c: &Arc<Context>) {
    // The vectors of the null spaces have their entries in the empty rows and columns, which no product reaches.
    let cases = [((300, 300), 1, 0), ((300, 300), 1, 5), ((400, 300), 1, 0), ((300, 340), 1, 100), ((400, 300), 2, 0)];
    for (size, zeros, shift) in cases {
        let n = size.0.min(size.1);
        let value = |i: usize| 1.0 + i as f64 / n as f64;
        let entries: Vec<_> = (zeros..n).map(|i| ((i + shift) % n, i, value(i))).collect();
        let a = from_entries(c, size, &entries);
        for (more, verify) in [(1, Verify::Auto), (2, Verify::On), (2, Verify::Off)] {
            // Without a search for copies, a Krylov space of one start vector holds one of them.
            if verify == Verify::Off && zeros > 1 {
                continue;
            }
            let count = zeros + more;
            let options = Options { count, which: Which::Smallest, verify, ..Options::default() };
            let want: Vec<f64> = (0..zeros).map(|_| 0.0).chain((zeros..n).map(value)).take(count).collect();
            let found = found_by::<f64>(c, &a, Request::default(), &options);
            near(&found.values, &want, 1e-13, &format!("{size:?}, {options:?}"));
            assert!(found.residuals.iter().all(|r| *r < 1e-9), "{:?}", found.residuals);
        }
        let options = Options { count: 2, which: Which::Smallest, ..Options::default() };
        let single: Vec<_> = entries.iter().map(|&(i, j, v)| (i, j, v as f32)).collect();
        let found = found_by::<f32>(c, &from_entries(c, size, &single), Request::default(), &options);
        near(&found.values[..1], &[0.0], 1e-5, "in single precision");
    }
}

pub(super) fn values_of_zero_of_square_matrices_have_vectors_on_both_sides(c: &Arc<Context>) {
    let n = 301;
    let ring = |i: usize| (i + 1) % n;
    let path: Vec<_> = (1..n).flat_map(|i| [(i - 1, i, 1.0), (i, i - 1, 1.0)]).collect();
    let cycle: Vec<_> = (0..n).flat_map(|i| [(i, i, 1.0), (i, ring(i), -1.0)]).collect();
    // Skew-symmetric of odd order: values in pairs, and a 0.
    let skew: Vec<_> = (0..n)
        .flat_map(|i| [(i, ring(i), 1.0 + i as f64 / 300.0), (i, (i * i + 7) % n, 0.5), (i, (3 * i + 2) % n, -0.7)])
        .filter(|(i, j, _)| i != j)
        .flat_map(|(i, j, v)| [(i, j, v), (j, i, -v)])
        .collect();
    let gap = 2.0 * (std::f64::consts::PI / 302.0).sin();
    for (what, entries, next) in [("path", path, Some(gap)), ("cycle", cycle, None), ("skew", skew, None)] {
        let a = from_entries(c, (n, n), &entries);
        for (seed, count, basis) in [(0, 1, 0), (1, 2, 0), (2, 1, 100)] {
            let options = Options { count, which: Which::Smallest, seed, basis, ..Options::default() };
            let found = found_by::<f64>(c, &a, Request::default(), &options);
            assert!(found.values[0] <= 1e-13, "{what} {options:?}: {:?}", found.values);
            assert!(found.residuals.iter().all(|r| *r < 1e-9), "{what} {options:?}: {:?}", found.residuals);
            if let (Some(next), true) = (next, count > 1) {
                assert!((found.values[1] - next).abs() < 1e-12, "{:?}", found.values);
            }
        }
    }
    // Empty rows and columns, as many as the values that are 0, and fewer.
    for (zeros, count, seed) in [(2, 2, 0), (3, 5, 1), (3, 2, 2)] {
        let value = |i: usize| if i < zeros { 0.0 } else { 1.0 + i as f64 / 300.0 };
        let a = from_entries(c, (300, 300), &(zeros..300).map(|i| (i, i, value(i))).collect::<Vec<_>>());
        let options = Options { count, which: Which::Smallest, seed, ..Options::default() };
        let found = found_by::<f64>(c, &a, Request::default(), &options);
        let want: Vec<f64> = (0..count).map(value).collect();
        near(&found.values, &want, 1e-13, &format!("{zeros} zeros, {options:?}"));
        assert!(found.residuals.iter().all(|r| *r < 1e-9), "{:?}", found.residuals);
    }
}

pub(super) fn a_looser_tolerance_finds_what_the_default_one_does(c: &Arc<Context>) {
    let n = 300;
    let value = |i: usize| if i < 3 { 1e-9 } else { 1.0 + (i - 3) as f64 / (n - 3) as f64 };
    let a = from_entries(c, (400, n), &(0..n).map(|i| (i, i, value(i))).collect::<Vec<_>>());
    let want: Vec<f64> = (0..6).map(value).collect();
    for (seed, tolerance) in [(0, 1e-2), (3, 1e-2), (4, 1e-2), (5, 1e-2), (0, 1e-6)] {
        let options = Options { count: 6, which: Which::Smallest, tolerance, seed, ..Options::default() };
        let found = found_by::<f64>(c, &a, Request::default(), &options);
        near(&found.values, &want, 1e-2, "three of 1e-9");
        near(&found.values[..3], &want[..3], 1e-13, "three of 1e-9");
    }
}
