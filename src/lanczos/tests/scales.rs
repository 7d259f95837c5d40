//! Operators that are 0, multiples of the identity, or tiny, or whose eigenvalues have a high multiplicity.

use std::sync::Arc;

use super::inputs::{cube, edges, symmetric};
use super::solves::{near, solve, solve_with};
use crate::context::Context;
use crate::error::Error;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::singular::{Request, singular_triplets};
use crate::lanczos::solve::{SolveInputs, eigenpairs, tridiagonalize};
use crate::lanczos::{Filter, Method, Options, Orthogonalization, Pairs, Verify, Which};
use crate::matrix::Matrix;
use crate::progress::Progress;
use crate::scalar::Scalar;
use crate::testing::sparse::{from_entries, golden};

fn diagonal(c: &Arc<Context>, values: &[f64]) -> Matrix {
    symmetric(c, values.len(), &values.iter().enumerate().map(|(i, v)| (i, i, *v)).collect::<Vec<_>>())
}

fn attempt(c: &Arc<Context>, a: &Matrix, options: &Options) -> crate::error::Result<Pairs<f64>> {
    let mut operator = Symmetric::<f64>::new(c, a, Kind::Matrix, 0.0)?;
    eigenpairs(c, &mut operator, options, &SolveInputs::default(), &Progress::none())
}

pub(super) fn multiples_of_the_identity_are_solved_by_every_method(c: &Arc<Context>) {
    let base = Options { count: 3, ..Options::default() };
    for (n, value) in [(1, 0.0), (64, 0.0), (65, 0.0), (130, 0.0), (130, 2.0), (130, -1e20)] {
        let a = diagonal(c, &vec![value; n]);
        let count = n.min(3);
        let mut ways = vec![
            Options { count, ..base },
            Options { count, which: Which::Smallest, ..base },
            Options { count, which: Which::LargestMagnitude, ..base },
            Options { count, which: Which::BothEnds, ..base },
            Options { count: 1, method: Method::Plain, ..base },
        ];
        if n > 64 {
            let near = Options { which: Which::Nearest, sigma: 0.1, ..base };
            ways.extend([
                Options { filter: Filter::Chebyshev, ..base },
                Options { filter: Filter::Chebyshev, which: Which::Smallest, ..base },
                near,
                Options { block: 2, ..base },
            ]);
        }
        for options in ways {
            let found = attempt(c, &a, &options).unwrap_or_else(|e| panic!("{n} times {value}, {options:?}: {e}"));
            assert_eq!(found.info.converged, options.count, "{n} times {value}, {options:?}: {:?}", found.info);
            near(&found.values, &vec![value; options.count], 1e-14 * value.abs(), "a multiple of the identity");
        }
    }
}

pub(super) fn matrices_whose_squares_underflow_are_refused(c: &Arc<Context>) {
    let path: Vec<(usize, usize, f64)> = (1..100).map(|i| (i - 1, i, 1.0)).collect();
    let scaled = |scale: f64| symmetric(c, 100, &path.iter().map(|(i, j, v)| (*i, *j, scale * v)).collect::<Vec<_>>());
    let top = 2.0 * (std::f64::consts::PI / 101.0).cos();
    let options = Options { count: 2, ..Options::default() };
    for scale in [1e-120, 1e120] {
        let found = attempt(c, &scaled(scale), &options).unwrap();
        assert!((found.values[0] / scale - top).abs() < 1e-9 && found.info.verified, "{:?}", found.values);
        assert!(found.residuals.iter().all(|r| *r > 0.0), "{:?}", found.residuals);
    }
    for scale in [1e-145, 1e-165, 1e-300] {
        let e = attempt(c, &scaled(scale), &options).unwrap_err();
        assert!(matches!(e, Error::Numerical(_)) && e.to_string().contains("squares of residuals underflow"), "{e}");
        let a = scaled(scale);
        let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, 0.0).unwrap();
        let e = tridiagonalize(c, &mut operator, 20, 0, None, &Progress::none()).unwrap_err();
        assert!(e.to_string().contains("squares of residuals underflow"), "{e}");
        let e = singular_triplets::<f64>(c, &a, Request::default(), &options, &Progress::none()).unwrap_err();
        assert!(e.to_string().contains("squares of residuals underflow"), "{e}");
    }
    // The squares of the singular values are outside the type's range, the values are inside.
    for scale in [1e-24f32, 1e-20, 1e19, 1e30] {
        let single: Vec<(usize, usize, f32)> = path.iter().map(|(i, j, _)| (*i, *j, scale)).collect();
        let a = symmetric(c, 100, &single);
        for which in [Which::Largest, Which::Smallest] {
            let options = Options { which, ..options };
            let found = singular_triplets::<f32>(c, &a, Request::default(), &options, &Progress::none()).unwrap();
            let angle = std::f64::consts::PI / 101.0 * if which == Which::Largest { 1.0 } else { 50.0 };
            let want = 2.0 * angle.cos();
            assert!((found.values[0] / f64::from(scale) - want).abs() < 1e-5, "{scale} {which:?}: {:?}", found.values);
        }
    }
}

pub(super) fn matrices_whose_squares_overflow_are_refused(c: &Arc<Context>) {
    fn all<T: Scalar>(c: &Arc<Context>, kind: Kind, scale: f64, is_refused: bool) {
        let entries: Vec<_> = (1..200).map(|i| (i - 1, i, T::from_parts(scale, 0.0))).collect();
        let a = symmetric::<T>(c, 200, &entries);
        let base = Options { count: 2, ..Options::default() };
        let mut ways = vec![
            base,
            Options { which: Which::Smallest, ..base },
            Options { block: 2, ..base },
            Options { filter: Filter::Chebyshev, ..base },
            Options { which: Which::Nearest, sigma: 0.1 * scale, ..base },
        ];
        if is_refused {
            ways.push(Options { method: Method::Plain, ..base });
        }
        let none = Progress::none();
        for options in ways {
            let mut operator = Symmetric::<T>::new(c, &a, kind, 0.0).unwrap();
            let found =
                eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &none).map(|found| found.values);
            expect(found, is_refused, &format!("{:?} {kind:?} {scale:e} {options:?}", T::DTYPE));
        }
        if kind == Kind::Matrix {
            let found = singular_triplets::<T>(c, &a, Request::default(), &base, &none).map(|found| found.values);
            expect(found, is_refused, &format!("{:?} singular {scale:e}", T::DTYPE));
        }
        let mut operator = Symmetric::<T>::new(c, &a, kind, 0.0).unwrap();
        let found = tridiagonalize(c, &mut operator, 20, 0, None, &none).map(|found| found.beta);
        expect(found, is_refused, &format!("{:?} tridiagonal {kind:?} {scale:e}", T::DTYPE));
    }
    fn expect(found: crate::error::Result<Vec<f64>>, is_refused: bool, what: &str) {
        match found {
            Ok(values) => {
                assert!(
                    !is_refused && !values.is_empty() && values.iter().all(|v| v.is_finite()),
                    "{what}: {values:?}"
                );
            }
            Err(e) => {
                let is_named = e.to_string().contains("norm is above 1.3e154, in single precision 3.4e38");
                assert!(is_refused && is_named && matches!(e, Error::Numerical(_)), "{what}: {e}");
            }
        }
    }
    for (scale, is_refused) in [(6e153, false), (2e154, true), (1e300, true)] {
        all::<f64>(c, Kind::Matrix, scale, is_refused);
    }
    for (scale, is_refused) in [(1e76, false), (1e78, true), (1e200, true)] {
        all::<f64>(c, Kind::Gram, scale, is_refused);
    }
    for scale in [1e19, 1e37, 1e38] {
        all::<f32>(c, Kind::Matrix, scale, false);
    }
    for scale in [1e30, 1e38] {
        all::<f32>(c, Kind::Gram, scale, true);
    }
    // At the limit it depends on the order of sums whether a product overflows. A pair that is found is right.
    let scale = 2e19;
    let entries: Vec<_> = (1..200).map(|i| (i - 1, i, scale as f32)).collect();
    let a = symmetric::<f32>(c, 200, &entries);
    let mut operator = Symmetric::<f32>::new(c, &a, Kind::Gram, 0.0).unwrap();
    let options = Options { count: 2, ..Options::default() };
    match eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()) {
        Err(e) => assert!(matches!(e, Error::Numerical(_)), "{e}"),
        Ok(found) => {
            // (2 cos(pi / 201))^2, twice.
            let largest = (2.0 * (std::f64::consts::PI / 201.0).cos() * scale).powi(2);
            near(&found.values, &[largest; 2], 1e-5 * largest, "values at the limit");
        }
    }
}

/// The largest eigenvalues of the Gram matrix of [`grams_whose_products_underflow_are_refused`] for a scale of 1, by LAPACK.
const SQUARES: [f64; 3] = [396.249_807_4, 306.197_320_96, 151.501_741_79];

pub(super) fn grams_whose_products_underflow_are_refused(c: &Arc<Context>) {
    fn of<T: Scalar>(c: &Arc<Context>, scale: f64) -> Matrix {
        let entry = |k: usize| T::from_parts(scale * (1.0 + (k * k % 7) as f64), 0.0);
        let entries: Vec<_> = (0..90).map(|k| (k % 30, (k * k / 3 + k) % 12, entry(k))).collect();
        from_entries(c, (30, 12), &entries)
    }
    fn refused<T: Scalar>(c: &Arc<Context>, scale: f64) {
        let options = Options { count: 3, ..Options::default() };
        let a = of::<T>(c, scale);
        for kind in [Kind::Gram, Kind::OuterGram] {
            let mut operator = Symmetric::<T>::new(c, &a, kind, 0.0).unwrap();
            match eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()) {
                Err(e) => {
                    let is_named = e.to_string().contains("underflow") && !e.to_string().contains("not finite");
                    assert!(matches!(e, Error::Numerical(_)) && is_named, "{kind:?} {scale:e}: {e}");
                }
                // At the limit it depends on the order of sums whether the squares are lost. A pair that is found is
                // right.
                Ok(found) => {
                    assert!(scale == 1e-19, "{kind:?} {scale:e}: {:?}", found.values);
                    let scaled: Vec<_> = found.values.iter().map(|v| v / (scale * scale)).collect();
                    near(&scaled, &SQUARES, 1e-5 * SQUARES[0], "squares of singular values");
                }
            }
            let found = tridiagonalize(c, &mut operator, 5, 0, None, &Progress::none()).map(|r| r.alpha);
            let is_right = |r: &[f64]| scale == 1e-19 && r.iter().all(|v| *v > 1e-37);
            let is_known = found.as_ref().map_or_else(|e| matches!(e, Error::Numerical(_)), |r| is_right(r));
            assert!(is_known, "{kind:?} {scale:e}: {found:?}");
        }
    }
    for scale in [1e-19, 1e-20, 1e-22, 1e-24, 1e-25, 1e-30] {
        refused::<f32>(c, scale);
    }
    for scale in [1e-100, 1e-155, 1e-161, 1e-165, 1e-200, 1e-300] {
        refused::<f64>(c, scale);
    }
    // Singular values are not squared.
    let options = Options { count: 3, ..Options::default() };
    let none = Progress::none();
    let want = singular_triplets::<f64>(c, &of::<f64>(c, 1.0), Request::default(), &options, &none).unwrap().values;
    for scale in [1e-20, 1e-25, 1e-30] {
        let found = singular_triplets::<f32>(c, &of::<f32>(c, scale), Request::default(), &options, &none).unwrap();
        near(
            &found.values.iter().map(|v| v / scale).collect::<Vec<_>>(),
            &want,
            1e-5 * want[0],
            "tiny singular values",
        );
    }
    let found = singular_triplets::<f64>(c, &of::<f64>(c, 1e-100), Request::default(), &options, &none).unwrap();
    near(&found.values.iter().map(|v| v / 1e-100).collect::<Vec<_>>(), &want, 1e-12 * want[0], "tiny singular values");
    // A matrix of zeros has the values 0.
    let zeros = from_entries::<f32>(c, (30, 12), &[(3, 4, 0.0)]);
    let mut operator = Symmetric::<f32>::new(c, &zeros, Kind::Gram, 0.0).unwrap();
    let found = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &none).unwrap();
    assert_eq!((found.values, found.info.converged), (vec![0.0; 3], 3));
}

pub(super) fn spaces_of_many_vectors_are_solved_at_every_scale(c: &Arc<Context>) {
    let n = 150;
    for scale in [1e-10, 1.0, 1e6] {
        let entries: Vec<_> =
            (0..3 * n).map(|k| (k % n, (k * k + 7 * k / n) % n, scale * (1.0 + (k % 5) as f64))).collect();
        let entries: Vec<_> = entries.into_iter().filter(|(i, j, _)| i <= j).collect();
        let a = symmetric(c, n, &entries);
        let found = attempt(c, &a, &Options { count: n, ..Options::default() }).unwrap();
        assert_eq!(found.info.converged, n, "{scale}: {:?}", found.info);
    }
}

pub(super) fn what_is_nearest_is_found_or_the_solve_says_no(c: &Arc<Context>) {
    let n = 100;
    let complete = edges((0..n).flat_map(|i| (0..i).map(move |j| (i, j))));
    let star = edges((1..n).map(|i| (0, i)));
    let root = ((n - 1) as f64).sqrt();
    let mut of_complete = vec![-1.0; n];
    of_complete[0] = (n - 1) as f64;
    let mut of_star = vec![0.0; n];
    (of_star[0], of_star[1]) = (root, -root);
    let mut of_one = vec![0.0; n];
    of_one[0] = 1.0;
    let of_cube: Vec<f64> = (0..128u32).map(|v| 7.0 - 2.0 * f64::from(v.count_ones())).collect();
    let (mut solved, mut all) = (0, 0);
    for (name, a, values, places) in [
        ("complete", symmetric(c, n, &complete), of_complete, vec![60.0]),
        ("star", symmetric(c, n, &star), of_star, vec![6.0, 4.0, -7.0, 9.0]),
        ("one", symmetric(c, n, &[(0, 0, 1.0)]), of_one, vec![0.7]),
        ("cube", symmetric(c, 128, &edges(cube(7))), of_cube, vec![-5.3, 0.9]),
    ] {
        for sigma in places {
            for count in [1, 2] {
                let options = Options { count, which: Which::Nearest, sigma, restarts: 40, ..Options::default() };
                let found = attempt(c, &a, &options).unwrap();
                let mut want: Vec<f64> = values.iter().map(|v| (v - sigma).abs()).collect();
                want.sort_by(f64::total_cmp);
                all += 1;
                if found.info.converged == count {
                    let far: Vec<f64> = found.values.iter().map(|v| (v - sigma).abs()).collect();
                    near(&far, &want[..count], 1e-6, &format!("{name} at {sigma}"));
                    solved += 1;
                }
            }
        }
    }
    assert_eq!(solved, all);
}

pub(super) fn ties_about_the_place_are_solved(c: &Arc<Context>) {
    // Eigenvalues of a cube in odd dimension come in pairs about 0, 35 times each nearest to it; those of a path are simple.
    for (name, a, want) in [
        ("cube", symmetric(c, 128, &edges(cube(7))), [1.0, 1.0, 1.0]),
        ("path", symmetric(c, 90, &edges((1..90).map(|i| (i - 1, i)))), {
            let value = |j: usize| (2.0 * (std::f64::consts::PI * j as f64 / 91.0).cos()).abs();
            [value(45), value(46), value(44)]
        }),
    ] {
        for count in [1, 3] {
            let options = Options { count, which: Which::Nearest, ..Options::default() };
            let found = attempt(c, &a, &options).unwrap();
            assert_eq!(found.info.converged, count, "{name}: {:?}", found.info);
            let far: Vec<f64> = found.values.iter().map(|v| v.abs()).collect();
            near(&far, &want[..count], 1e-8, name);
            assert!(found.info.residual < 1e-8 && found.info.orthogonality < 1e-8, "{name}: {:?}", found.info);
        }
    }
}

pub(super) fn many_values_far_from_the_place_hide_none_near_it(c: &Arc<Context>) {
    for (n, sigma, count) in [(70, 1.520_981_267_963_081_6, 2), (71, -1.672_203_499_429_443_4, 4), (90, 0.3, 3)] {
        let ring = symmetric(c, n, &edges((0..n).map(|i| (i, (i + 1) % n))));
        let mut far: Vec<f64> =
            (0..n).map(|j| ((std::f64::consts::TAU * j as f64 / n as f64).cos() * 2.0 - sigma).abs()).collect();
        far.sort_by(f64::total_cmp);
        let options = Options { count, which: Which::Nearest, sigma, ..Options::default() };
        let found = attempt(c, &ring, &options).unwrap();
        assert_eq!(found.info.converged, count, "{n}: {:?}", found.info);
        let mut got: Vec<f64> = found.values.iter().map(|v| (v - sigma).abs()).collect();
        got.sort_by(f64::total_cmp);
        near(&got, &far[..count], 1e-8, "a ring");
    }
}

pub(super) fn a_filter_of_no_use_is_given_up(c: &Arc<Context>) {
    // Three eigenvalues, 33 times each.
    let block = [(0, 0, 1.0), (1, 1, -0.5), (2, 2, 0.3), (0, 1, 0.4), (1, 2, -1.1), (0, 2, 0.7)];
    let entries: Vec<_> = (0..33).flat_map(|g| block.map(|(i, j, v)| (3 * g + i, 3 * g + j, v))).collect();
    let single: Vec<_> = entries.iter().map(|&(i, j, v)| (i, j, v as f32)).collect();
    let base = Options { count: 10, which: Which::Smallest, ..Options::default() };
    let plain = attempt(c, &symmetric(c, 99, &entries), &base).unwrap();
    let options = Options { filter: Filter::Chebyshev, ..base };
    let found = attempt(c, &symmetric(c, 99, &entries), &options).unwrap();
    near(&found.values, &plain.values, 1e-9, "three values");
    assert!(found.info.products < 1000 && found.info.verified && found.info.degree == 0, "{:?}", found.info);
    let given = SolveInputs::default();
    let found = solve_with::<f32>(c, &symmetric(c, 99, &single), Kind::Matrix, &options, &given).unwrap();
    near(&found.values, &plain.values, 1e-4, "three values in single precision");
    assert!(found.info.products < 1000 && found.info.converged == 10, "{:?}", found.info);
}

pub(super) fn partial_orthogonality_gives_way_where_it_is_lost(c: &Arc<Context>) {
    for (n, values, which, count) in
        [(150, 3, Which::Largest, 12), (110, 4, Which::BothEnds, 9), (190, 2, Which::Smallest, 7)]
    {
        for seed in 0..10 {
            let diagonal: Vec<f64> = (0..n).map(|i| [2.9, -1.3, 0.4, 1.7][(i * i + i / 7) % values]).collect();
            let a = self::diagonal(c, &diagonal);
            let options =
                Options { count, which, seed, orthogonalization: Orthogonalization::Partial, ..Options::default() };
            let found = attempt(c, &a, &options).unwrap();
            assert_eq!(found.info.converged, count, "{n} {seed}: {:?}", found.info);
            let mut sorted = diagonal;
            sorted.sort_by(|a, b| b.total_cmp(a));
            let order = which.order(&sorted);
            let want: Vec<f64> = order[..count].iter().map(|&i| sorted[i]).collect();
            let want: Vec<f64> = which.arrange(&want).iter().map(|&i| want[i]).collect();
            near(&found.values, &want, 1e-9, "a diagonal");
        }
    }
}

pub(super) fn cancelling_is_heard_within_a_cycle(c: &Arc<Context>) {
    let n = 2000;
    let a = symmetric(c, n, &edges((1..n).map(|i| (i - 1, i))));
    let entries: Vec<_> = (0..n).map(|i| (i, i, 1.0 + i as f64)).collect();
    let stored = from_entries(c, (n, n), &entries);
    let base = Options { count: 40, basis: 400, ..Options::default() };
    for options in [
        base,
        Options { block: 2, ..base },
        Options { orthogonalization: Orthogonalization::Partial, ..base },
        Options { count: 4, basis: 20, filter: Filter::Chebyshev, degree: 900, ..base },
        Options { count: 4, basis: 20, which: Which::Nearest, sigma: 0.5, degree: 900, ..base },
    ] {
        let calls = std::cell::Cell::new(0);
        let report = |_: i64, _: i64, _: f64| {
            calls.set(calls.get() + 1);
            c.cancel();
            true
        };
        let progress = Progress::new(c.cancel_epoch(), Some(&report));
        let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, 0.0).unwrap();
        let e = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &progress).unwrap_err();
        assert!(matches!(e, Error::Cancelled) && calls.get() == 1, "{options:?}: {e}");
    }
    let smallest = Options { which: Which::Smallest, ..base };
    let request = Request::default();
    let report = |_: i64, _: i64, _: f64| false;
    let progress = Progress::new(c.cancel_epoch(), Some(&report));
    let begin = std::time::Instant::now();
    let e = singular_triplets::<f64>(c, &stored, request, &smallest, &progress).unwrap_err();
    assert!(matches!(e, Error::Cancelled), "{e}");
    assert!(begin.elapsed().as_secs() < 10);
}

pub(super) fn progress_has_the_figures_of_the_header(c: &Arc<Context>) {
    let n = 400;
    let entries: Vec<_> = (0..n).map(|i| (i, i, (i as f64).sqrt())).collect();
    let stored = from_entries(c, (n, n), &entries);
    let base = Options { count: 3, tolerance: 1e-5, ..Options::default() };
    for options in [
        base,
        Options { block: 2, ..base },
        Options { orthogonalization: Orthogonalization::Partial, ..base },
        Options { which: Which::BothEnds, ..base },
        Options { filter: Filter::Chebyshev, ..base },
        Options { method: Method::Plain, basis: 350, ..base },
    ] {
        let seen = std::cell::RefCell::new(Vec::new());
        let report = |step: i64, steps: i64, measure: f64| {
            seen.borrow_mut().push((step, steps, measure));
            true
        };
        let progress = Progress::new(c.cancel_epoch(), Some(&report));
        let mut operator = Symmetric::<f64>::new(c, &stored, Kind::Matrix, 0.0).unwrap();
        let found = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &progress).unwrap();
        assert_eq!(found.info.converged, 3, "{options:?}: {:?}", found.info);
        let seen = seen.into_inner();
        let (first, last) = (seen[0], seen[seen.len() - 1]);
        assert!(seen.iter().all(|s| s.1 == 3 && (0..=3).contains(&s.0) && s.2 >= 0.0), "{options:?}: {seen:?}");
        assert!(first.0 == 0 && first.2 == f64::INFINITY, "nothing is known yet: {options:?}: {seen:?}");
        // The largest residual of the pairs, of the matrix, or of the filter's polynomial.
        assert!(last.0 == 3 && last.2.is_finite(), "{options:?}: {seen:?}");
        if options.filter == Filter::Off {
            assert!(last.2 <= 1e-5 * found.info.norm, "{options:?}: {seen:?}");
            assert!(found.info.residual <= 1.1 * last.2 + 1e-12, "{options:?}: {} {seen:?}", found.info.residual);
        }
    }
    let seen = std::cell::Cell::new((-1, -1, -1.0));
    let report = |step: i64, steps: i64, measure: f64| {
        seen.set((step, steps, measure));
        true
    };
    // A plain recurrence that is too short for all pairs says how many it found.
    let progress = Progress::new(c.cancel_epoch(), Some(&report));
    let options = Options { method: Method::Plain, basis: 40, count: 3, tolerance: 1e-9, ..Options::default() };
    let mut operator = Symmetric::<f64>::new(c, &stored, Kind::Matrix, 0.0).unwrap();
    let found = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &progress).unwrap();
    assert!(found.info.converged < 3 && seen.get().1 == 3, "{:?} {:?}", found.info, seen.get());
    assert!(seen.get().0 < 3 && seen.get().2 == f64::INFINITY, "{:?} {:?}", found.info, seen.get());
    let options = Options { count: 3, tolerance: 1e-5, ..Options::default() };
    let progress = Progress::new(c.cancel_epoch(), Some(&report));
    let found = singular_triplets::<f64>(c, &stored, Request::default(), &options, &progress).unwrap();
    assert!(found.info.converged == 3 && seen.get().0 == 3 && seen.get().1 == 3, "{:?}", seen.get());
    assert!(seen.get().2 <= 1e-5 * found.info.norm, "{:?}", seen.get());
}

/// A function that is slow once all pairs have converged gets a report of the search for copies, then the end again.
pub(super) fn the_last_report_is_that_of_the_end(c: &Arc<Context>) {
    let n = 400;
    let ring = symmetric(c, n, &(0..n).map(|i| (i, (i + 1) % n, 1.0)).collect::<Vec<_>>());
    let options = Options { count: 3, basis: 12, verify: Verify::On, ..Options::default() };
    let (seen, is_slow) = (std::cell::RefCell::new(Vec::new()), std::cell::Cell::new(true));
    let report = |step: i64, steps: i64, _: f64| {
        if step == steps && is_slow.replace(false) {
            std::thread::sleep(std::time::Duration::from_millis(60));
        }
        seen.borrow_mut().push((step, steps));
        true
    };
    let progress = Progress::new(c.cancel_epoch(), Some(&report));
    let mut operator = Symmetric::<f64>::new(c, &ring, Kind::Matrix, 0.0).unwrap();
    let found = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &progress).unwrap();
    assert!(found.info.converged == 3 && found.info.verified, "{:?}", found.info);
    let at = seen.borrow().iter().position(|s| *s == (3, 3)).unwrap();
    assert!(seen.borrow()[at..].iter().any(|s| s.0 < 3), "the search reported nothing: {seen:?}");
    assert_eq!(seen.borrow().last(), Some(&(3, 3)), "{seen:?}");
    seen.borrow_mut().clear();
    is_slow.set(true);
    // The bidiagonalization of the smallest values searches too.
    let progress = Progress::new(c.cancel_epoch(), Some(&report));
    let options = Options { which: Which::Smallest, basis: 40, ..options };
    let diagonal: Vec<_> = (0..n).map(|i| (i, i, 1.0 + (i as f64).sqrt())).collect();
    let stored = from_entries(c, (n, n), &diagonal);
    let found = singular_triplets::<f64>(c, &stored, Request::default(), &options, &progress).unwrap();
    assert!(found.info.converged == 3 && found.info.verified, "{:?}", found.info);
    let at = seen.borrow().iter().position(|s| *s == (3, 3)).unwrap();
    assert!(seen.borrow()[at..].iter().any(|s| s.0 < 3), "the search reported nothing: {seen:?}");
    assert_eq!(seen.borrow().last(), Some(&(3, 3)), "{seen:?}");
}

pub(super) fn a_basis_that_is_given_is_used_on_small_matrices_too(c: &Arc<Context>) {
    let values: Vec<f64> = (0..60).map(f64::from).collect();
    let a = diagonal(c, &values);
    for (basis, taken) in [(0, 60), (12, 12), (60, 60)] {
        let found = attempt(c, &a, &Options { count: 3, basis, ..Options::default() }).unwrap();
        near(&found.values, &[59.0, 58.0, 57.0], 1e-7, "a small matrix");
        assert_eq!((found.info.basis, found.info.restarts > 0), (taken, basis == 12), "{:?}", found.info);
    }
}

pub(super) fn a_verified_solve_takes_no_more_products_than_the_search(c: &Arc<Context>) {
    let a = golden(c, "as-caida20071105");
    let products = |verify: Verify| {
        let found = solve(c, &a, Kind::Matrix, &Options { count: 10, verify, ..Options::default() });
        assert_eq!(found.info.verified, verify != Verify::Off);
        found.info.products
    };
    let [off, auto, on] = [Verify::Off, Verify::Auto, Verify::On].map(products);
    // The search without the test takes 45 more products, the test 25.
    assert!(off < auto && auto <= off + 35 && auto < on, "{off} {auto} {on}");
}
