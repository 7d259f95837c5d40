//! Bad input and difficult matrices: each of them has a documented outcome.

use std::sync::{Arc, Mutex};

use super::inputs::{edges, symmetric};
use super::solves::{near, solve, solve_with};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::Error;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Filter, Method, Options, Orthogonalization, Reason, Verify, Which};
use crate::matrix::sparse::{has_symmetric_values, is_symmetric};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Operator};
use crate::progress::Progress;
use crate::scalar::{Complex, DType};
use crate::testing::sparse::{from_entries, golden, recorded, stored};

/// A path whose matrix has further entries on one side of the diagonal alone.
pub(super) fn absent_entries_are_zeros(c: &Arc<Context>) {
    let n = 90;
    let path: Vec<_> = (1..n).flat_map(|i| [(i - 1, i, 1.0), (i, i - 1, 1.0)]).collect();
    let want = solve(c, &from_entries(c, (n, n), &path), Kind::Matrix, &Options { count: 2, ..Options::default() });
    for (value, is_mirrored) in [(0.0, true), (1e-300, true), (1e-20, true), (-1e-16, true), (1e-9, false)] {
        // Before and after all entries of a row, between them, and in a corner.
        for one in [vec![(0, 50)], vec![(50, 0)], vec![(7, 3), (3, 60), (60, 70)], vec![(n - 1, 0)], vec![(0, n - 1)]] {
            let more = one.iter().map(|&(i, j)| (i, j, value));
            let a = from_entries(c, (n, n), &path.iter().copied().chain(more).collect::<Vec<_>>());
            assert!(!is_symmetric(&a, 1e-3).unwrap(), "{value} {one:?}");
            assert_eq!(has_symmetric_values(&a, 1e-14).unwrap(), is_mirrored, "{value} {one:?}");
            if is_mirrored {
                let found = solve(c, &a, Kind::Matrix, &Options { count: 2, ..Options::default() });
                near(&found.values, &want.values, 1e-12, &format!("{value} {one:?}"));
            }
        }
    }
    let a = from_entries(c, (n, n), &path.iter().copied().chain([(9, 4, f64::NAN)]).collect::<Vec<_>>());
    assert!(!has_symmetric_values(&a, 1e-3).unwrap());
}

fn ring(c: &Arc<Context>, n: usize) -> Matrix {
    symmetric(c, n, &edges((0..n).map(|i| (i, (i + 1) % n)).filter(|(i, j)| i != j)))
}

pub(super) fn an_order_of_one_or_two_is_solved_by_every_method(c: &Arc<Context>) {
    for n in [1usize, 2] {
        let a = symmetric(c, n, &(0..n).map(|i| (i, i, 3.0 - i as f64)).collect::<Vec<_>>());
        let base = Options { count: 1, ..Options::default() };
        for options in [
            base,
            Options { block: 4, ..base },
            Options { orthogonalization: Orthogonalization::Partial, ..base },
            Options { filter: Filter::Chebyshev, ..base },
            Options { method: Method::Plain, ..base },
            Options { which: Which::Nearest, sigma: 2.9, ..base },
            Options { which: Which::BothEnds, ..base },
        ] {
            let pairs = solve(c, &a, Kind::Matrix, &options);
            near(&pairs.values, &[3.0], 1e-14, &format!("n = {n}, {options:?}"));
        }
    }
}

pub(super) fn components_and_empty_rows_do_not_hide_values(c: &Arc<Context>) {
    // Two disjoint rings, and isolated vertices before, between and after them.
    let list = (0..70).map(|i| (5 + i, 5 + (i + 1) % 70)).chain((0..90).map(|i| (80 + i, 80 + (i + 1) % 90)));
    let a = symmetric(c, 180, &edges(list));
    let options = Options { count: 4, basis: 30, verify: Verify::On, ..Options::default() };
    let second = 2.0 * (2.0 * std::f64::consts::PI / 90.0).cos();
    near(&solve(c, &a, Kind::Matrix, &options).values, &[2.0, 2.0, second, second], 1e-9, "two rings");
    // With the default basis for so many pairs: a basis of 22 + 8 vectors restarts without end from most starts.
    let low = Options { count: 22, which: Which::Smallest, basis: Options::default().basis, ..options };
    let zeros = solve(c, &a, Kind::Laplacian, &low).values;
    // One zero for each component: two rings and twenty vertices.
    assert!(zeros.iter().all(|v| v.abs() < 1e-8), "{zeros:?}");
}

pub(super) fn one_row_that_holds_everything_is_a_star(c: &Arc<Context>) {
    let mut list: Vec<_> = (1..5000usize).map(|i| (0, i, 1.0)).collect();
    list.push((0, 0, 7.0));
    let a = symmetric(c, 5000, &list);
    let root = (49.0f64 / 4.0 + 4999.0).sqrt();
    let both = Options { count: 2, which: Which::BothEnds, ..Options::default() };
    near(&solve(c, &a, Kind::Matrix, &both).values, &[3.5 + root, 3.5 - root], 1e-9 * 75.0, "a star with a loop");
}

pub(super) fn a_huge_range_keeps_its_absolute_accuracy_and_a_solve_the_relative_one(c: &Arc<Context>) {
    let n = 300;
    let values: Vec<f64> = (0..n).map(|i| 10f64.powf(12.0 * i as f64 / (n - 1) as f64)).collect();
    let a = symmetric(c, n, &values.iter().enumerate().map(|(i, v)| (i, i, *v)).collect::<Vec<_>>());
    let top = solve(c, &a, Kind::Matrix, &Options { count: 3, ..Options::default() });
    near(&top.values, &[values[n - 1], values[n - 2], values[n - 3]], 1e-10 * 1e12, "top");
    struct Inverse(Vec<f64>);
    impl Operator<f64> for Inverse {
        fn shape(&self) -> (usize, usize) {
            (self.0.len(), self.0.len())
        }
        fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
            y.iter_mut().zip(x).zip(&self.0).for_each(|((y, x), d)| *y = x / d);
            Ok(())
        }
    }
    let inverse = Matrix::from_operator(c, Box::new(Inverse(values.clone())));
    let given = SolveInputs::<f64> { solve: Some(&inverse), ..SolveInputs::default() };
    let options = Options { count: 3, which: Which::Nearest, ..Options::default() };
    let low = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap();
    for (found, want) in low.values.iter().zip(&values) {
        assert!((found - want).abs() <= 1e-11 * want, "{found}, not {want}");
    }
}

/// A matrix of rows as they are given: neither sorted nor without duplicates.
fn as_given(c: &Arc<Context>, rows: &[Vec<(usize, f64)>]) -> Matrix {
    let mut row_ptr = vec![0i64];
    row_ptr.extend(rows.iter().scan(0, |end, row| {
        *end += row.len() as i64;
        Some(*end)
    }));
    let entries = || rows.iter().flatten();
    let (cols, values): (Vec<i32>, Vec<f64>) = entries().map(|e| (e.0 as i32, e.1)).unzip();
    let parts = CsrParts {
        row_ptr: stored(c, &row_ptr),
        row_ptr_type: IndexType::I64,
        col_idx: stored(c, &cols),
        col_idx_type: IndexType::I32,
        values: Some(Memory::Host(stored(c, &values))),
    };
    let csr = Csr::new(parts, rows.len(), rows.len(), cols.len(), 0).unwrap();
    Matrix::from_csr(c, DType::F64, csr, true)
}

/// The rows of a ring with loops, from the entries that `parts` makes of a weight; each row backwards, then around.
fn twisted(n: usize, parts: impl Fn(usize, usize, f64) -> Vec<f64>) -> Vec<Vec<(usize, f64)>> {
    let weight = |i: usize, j: usize| 1.0 + (i.min(j) * 7 % 5) as f64;
    let row = |i: usize| {
        let mut row: Vec<_> = [(i + 1) % n, i, (i + n - 1) % n]
            .into_iter()
            .flat_map(|j| parts(i, j, weight(i, j)).into_iter().map(move |v| (j, v)))
            .collect();
        row.rotate_left(i % 3);
        row
    };
    (0..n).map(row).collect()
}

pub(super) fn rows_need_not_be_canonical(c: &Arc<Context>) {
    let n = 150;
    let ordered = |rows: &[Vec<(usize, f64)>]| {
        let list = rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |e| (i, e.0, e.1)));
        from_entries(c, (n, n), &list.collect::<Vec<_>>())
    };
    let unsorted = twisted(n, |_, _, w| vec![w]);
    // Two and three entries at one (row, column), with equal sums on both sides of the diagonal.
    let repeated = twisted(n, |i, j, w| if i < j { vec![w - 0.5, 0.25, 0.25] } else { vec![0.125, w - 0.125] });
    for rows in [unsorted, repeated] {
        let (given, want) = (as_given(c, &rows), ordered(&rows));
        assert!(is_symmetric(&given, 1e-15).unwrap() && is_symmetric(&want, 1e-15).unwrap());
        for kind in [Kind::Matrix, Kind::Laplacian, Kind::NormalizedLaplacian, Kind::Modularity] {
            for options in [Options::default(), Options { block: 3, ..Options::default() }] {
                let options = Options { count: 4, verify: Verify::On, ..options };
                let (a, b) = (solve(c, &given, kind, &options), solve(c, &want, kind, &options));
                near(&a.values, &b.values, 1e-10 * b.info.norm, &format!("{kind:?}"));
            }
        }
    }
    let uneven = twisted(n, |i, j, w| if i < j { vec![w - 0.5, 0.5] } else { vec![w + f64::from(u8::from(i == 77))] });
    assert!(!is_symmetric(&as_given(c, &uneven), 1e-3).unwrap());
    assert!(Symmetric::<f64>::new(c, &as_given(c, &uneven), Kind::Matrix, 0.0).is_err());
}

pub(super) fn numbers_that_are_not_finite_stop_a_solve(c: &Arc<Context>) {
    struct Sick(usize);
    impl Operator<f64> for Sick {
        fn shape(&self) -> (usize, usize) {
            (400, 400)
        }
        fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
            self.0 += 1;
            y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = (i % 400) as f64 * x);
            if self.0 == 7 {
                y[3] = f64::NAN;
            }
            Ok(())
        }
    }
    let base = Options { count: 3, ..Options::default() };
    for options in [
        base,
        Options { block: 2, ..base },
        Options { orthogonalization: Orthogonalization::Partial, ..base },
        Options { filter: Filter::Chebyshev, ..base },
        Options { method: Method::Plain, ..base },
        Options { which: Which::Nearest, sigma: 30.0, ..base },
    ] {
        let a = Matrix::from_operator(c, Box::new(Sick(0)));
        let e = solve_with::<f64>(c, &a, Kind::Matrix, &options, &SolveInputs::default()).unwrap_err();
        assert!(matches!(e, Error::Numerical(_)), "{options:?}: {e}");
    }
}

pub(super) fn one_wrong_product_is_no_norm_to_judge_by(c: &Arc<Context>) {
    /// A diagonal matrix of norm 1, one of whose products is 1e20 times as long.
    struct Spiked(usize, usize);
    impl Operator<f64> for Spiked {
        fn shape(&self) -> (usize, usize) {
            (30, 30)
        }
        fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
            for (x, y) in x.chunks_exact(30).zip(y.chunks_exact_mut(30)) {
                let factor = if self.0 == self.1 { 1e20 } else { 1.0 };
                self.0 += 1;
                y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = factor * 0.9f64.powi(i as i32) * x);
            }
            Ok(())
        }
    }
    for at in [0, 1, 2, 3, 7, 20, 1000] {
        for (which, sigma) in [(Which::Nearest, 0.5), (Which::Smallest, 0.0), (Which::Largest, 0.0)] {
            let a = Matrix::from_operator::<f64>(c, Box::new(Spiked(0, at)));
            let options = Options { count: 2, which, sigma, ..Options::default() };
            match solve_with::<f64>(c, &a, Kind::Matrix, &options, &SolveInputs::default()) {
                Ok(found) if found.info.converged == 2 && found.info.stop_reason != Reason::Contradicted => {
                    assert!(found.residuals.iter().all(|r| *r < 1e-6), "{at} {which:?}: {:?}", found.residuals);
                }
                Ok(found) => assert!(!found.info.verified && at < 1000, "{at} {which:?}: {:?}", found.info),
                Err(e) => assert!(matches!(e, Error::Numerical(_)) && at < 1000, "{at} {which:?}: {e}"),
            }
        }
    }
}

pub(super) fn matrices_that_are_not_symmetric_are_refused_whatever_their_order(c: &Arc<Context>) {
    let refused = |entries: &[(usize, usize, f64)]| {
        Symmetric::<f64>::new(c, &from_entries(c, (3, 3), entries), Kind::Matrix, 0.0).is_err()
    };
    assert!(refused(&[(0, 1, 1.0)]));
    assert!(refused(&[(0, 1, 1.0), (1, 0, 1.5)]));
    assert!(refused(&[(2, 0, 1.0), (0, 1, 1.0), (1, 2, 1.0)]));
    assert!(!refused(&[(2, 0, 1.0), (0, 2, 1.0), (1, 1, -3.0)]));
}

pub(super) fn a_space_may_be_as_large_as_the_whole(c: &Arc<Context>) {
    let a = ring(c, 150);
    let want = 2.0 * (2.0 * std::f64::consts::PI / 150.0).cos();
    for basis in [0, 20, 149, 150] {
        let options = Options { count: 3, basis, verify: Verify::On, ..Options::default() };
        let pairs = solve(c, &a, Kind::Matrix, &options);
        near(&pairs.values, &[2.0, want, want], 1e-9, &format!("basis {basis}"));
    }
    // A space that is hardly larger than the wanted pairs converges or says that it did not.
    let tight = solve(c, &a, Kind::Matrix, &Options { count: 3, basis: 4, ..Options::default() });
    assert_eq!((tight.values.len(), tight.info.basis), (3, 6));
    assert!((tight.info.stop_reason == Reason::Converged) == (tight.info.converged == 3));
    let all = solve(c, &a, Kind::Matrix, &Options { count: 150, ..Options::default() });
    assert_eq!((all.info.stop_reason, all.values.len()), (Reason::Exhausted, 150));
}

pub(super) fn the_search_is_orthogonal_to_known_vectors(c: &Arc<Context>) {
    let a = golden(c, "as-caida20071105");
    let first = solve(c, &a, Kind::Matrix, &Options { count: 3, ..Options::default() });
    let given = SolveInputs { deflate: &first.vectors[..], ..SolveInputs::default() };
    let rest = solve_with(c, &a, Kind::Matrix, &Options { count: 3, ..Options::default() }, &given).unwrap();
    near(&rest.values, &recorded("as-caida20071105", "A_LA")[3..6], 1e-9 * 70.0, "deflated");
    let twice = [&first.vectors[..a.rows()], &first.vectors[..a.rows()]].concat();
    let given = SolveInputs { deflate: &twice[..], ..SolveInputs::default() };
    let e = solve_with(c, &a, Kind::Matrix, &Options::default(), &given).unwrap_err().to_string();
    assert_eq!(e, "deflate: vector 1 depends on the vectors before it");
}

pub(super) fn hermitian_matrices_and_single_precision(c: &Arc<Context>) {
    // A ring with a magnetic flux: 2 cos(2 pi (j + phi) / n).
    let (n, phi) = (90usize, 0.3);
    let turn = |k: usize| {
        let angle = 2.0 * std::f64::consts::PI * phi / n as f64;
        let _ = k;
        Complex::new(angle.cos(), angle.sin())
    };
    let ring: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, turn(i))).collect();
    let a = symmetric(c, n, &ring);
    let options = Options { count: 4, ..Options::default() };
    let pairs = solve_with::<Complex<f64>>(c, &a, Kind::Matrix, &options, &SolveInputs::default()).unwrap();
    let mut want: Vec<f64> =
        (0..n).map(|j| 2.0 * (2.0 * std::f64::consts::PI * (j as f64 + phi) / n as f64).cos()).collect();
    want.sort_by(|a, b| b.total_cmp(a));
    near(&pairs.values, &want[..4], 1e-10 * 2.0, "flux");
    for x in pairs.vectors.chunks_exact(n) {
        let largest = x.iter().max_by(|a, b| a.norm().total_cmp(&b.norm())).unwrap();
        assert!(largest.re > 0.0 && x.iter().any(|v| v.im.abs() < 1e-14 && v.re > 0.999 * largest.norm()));
    }
    let single: Vec<_> = (0..2000usize).map(|i| (i, (i * 7 + 3) % 2000, ((i % 13) as f32) / 13.0)).collect();
    let double: Vec<_> = single.iter().map(|&(i, j, v)| (i, j, f64::from(v))).collect();
    let low =
        solve_with::<f32>(c, &symmetric(c, 2000, &single), Kind::Matrix, &options, &SolveInputs::default()).unwrap();
    let high = solve(c, &symmetric(c, 2000, &double), Kind::Matrix, &options);
    near(&low.values, &high.values, 1e-5 * high.info.norm, "f32");
    // The square of the distance from this point leaves the range of the numbers.
    let far = Options { which: Which::Nearest, sigma: 1e22, ..options };
    let a = symmetric(c, 2000, &single);
    let e = solve_with::<f32>(c, &a, Kind::Matrix, &far, &SolveInputs::default()).unwrap_err().to_string();
    assert!(e.starts_with("sigma: is 1e22, "), "{e}");
}

pub(super) fn isolated_vertices_add_zeros_to_the_normalized_laplacian(c: &Arc<Context>) {
    let a = symmetric(c, 7, &edges([(0, 1), (2, 3), (3, 4)]));
    let all =
        solve(c, &a, Kind::NormalizedLaplacian, &Options { count: 7, which: Which::Smallest, ..Options::default() });
    // Four components: two edges, and two isolated vertices.
    assert_eq!(all.values.iter().filter(|v| v.abs() < 1e-12).count(), 4);
    near(&all.values[4..], &[1.0, 2.0, 2.0], 1e-12, "the rest");
}

pub(super) fn runs_that_are_cut_short_return_what_converged(c: &Arc<Context>) {
    let a = golden(c, "4elt");
    let options = Options { count: 6, which: Which::Smallest, restarts: 3, ..Options::default() };
    let pairs = solve(c, &a, Kind::Laplacian, &options);
    assert_eq!((pairs.info.stop_reason, pairs.values.len(), pairs.info.restarts), (Reason::Restarts, 6, 3));
    assert!(pairs.info.converged < 6);
    let mut operator = Symmetric::<f64>::new(c, &a, Kind::Laplacian, 0.0).unwrap();
    let stop = |_: i64, _: i64, _: f64| false;
    let progress = c.progress(Some(&stop));
    let e = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &progress).unwrap_err();
    assert_eq!(e, Error::Cancelled);
}

struct Diagonal(Vec<f64>, usize);

impl Operator<f64> for Diagonal {
    fn shape(&self) -> (usize, usize) {
        (self.0.len(), self.0.len())
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
        self.1 += 1;
        if self.1 == 40 {
            return Err(Error::Io { path: "operator".into(), problem: "gave up".into() });
        }
        y.iter_mut().zip(x).zip(self.0.iter().cycle()).for_each(|((y, x), d)| *y = d * x);
        Ok(())
    }
}

pub(super) fn operators_of_the_caller_are_used_and_their_errors_passed_on(c: &Arc<Context>) {
    let a = |n: usize| Matrix::from_operator(c, Box::new(Diagonal((0..n).map(|i| i as f64).collect(), 0)));
    let top = solve(c, &a(30), Kind::Matrix, &Options { count: 2, ..Options::default() });
    near(&top.values, &[29.0, 28.0], 1e-12, "own");
    let e = solve_with::<f64>(c, &a(500), Kind::Matrix, &Options::default(), &SolveInputs::default()).unwrap_err();
    assert!(matches!(e, Error::Io { .. }));
    assert!(Symmetric::<f64>::new(c, &a(3), Kind::Laplacian, 0.0).is_err());
}

pub(super) fn arguments_are_checked_and_named(c: &Arc<Context>) {
    let a = symmetric(c, 100, &edges((1..100).map(|i| (i - 1, i))));
    let wrong =
        |o: Options| solve_with::<f64>(c, &a, Kind::Matrix, &o, &SolveInputs::default()).unwrap_err().to_string();
    let plain = Options::default();
    assert_eq!(wrong(Options { count: 0, ..plain }), "count: is 0, outside 1 to n = 100");
    assert_eq!(wrong(Options { count: 101, ..plain }), "count: is 101, outside 1 to n = 100");
    assert_eq!(wrong(Options { basis: 6, ..plain }), "basis: is 6, outside count + 1 = 7 to 100");
    assert_eq!(wrong(Options { basis: 101, ..plain }), "basis: is 101, outside count + 1 = 7 to 100");
    let all = Options { count: 100, ..plain };
    assert_eq!(wrong(Options { basis: 10, ..all }), "basis: is 10, 100 is needed for all 100 vectors");
    assert_eq!(wrong(Options { tolerance: -1.0, ..plain }), "tolerance: is -1, at least 0 and less than 1 is needed");
    let given = |start: &[f64]| {
        let given = SolveInputs { start: Some(start), ..SolveInputs::default() };
        solve_with(c, &a, Kind::Matrix, &plain, &given).unwrap_err().to_string()
    };
    assert_eq!(given(&[0.0; 100]), "start: vector 0 is 0");
    assert_eq!(given(&[f64::NAN; 100]), "start: element 0 is not finite");
    assert_eq!(given(&[1.0; 99]), "start: has 99 elements, 100 are needed");
    let skew = symmetric(c, 2, &[(0, 0, 1.0)]);
    assert!(Symmetric::<f64>::new(c, &skew, Kind::Matrix, f64::NAN).is_err());
    let nan = symmetric(c, 100, &[(0, 0, f64::NAN)]);
    assert!(Symmetric::<f64>::new(c, &nan, Kind::Matrix, 0.0).is_err());
    let negative = symmetric(c, 2, &[(0, 1, -1.0)]);
    let e = Symmetric::<f64>::new(c, &negative, Kind::NormalizedLaplacian, 0.0).map(|_| ()).unwrap_err();
    assert!(e.to_string().contains("row sum -1 in row 0"), "{e}");
}

pub(super) fn operators_of_the_caller_are_asked_for_whole_blocks(c: &Arc<Context>) {
    struct Asked(usize, Arc<Mutex<Vec<usize>>>);
    impl Operator<f64> for Asked {
        fn shape(&self) -> (usize, usize) {
            (self.0, self.0)
        }
        fn apply(&mut self, _: crate::dense::Op, x: &[f64], count: usize, y: &mut [f64]) -> crate::error::Result<()> {
            self.1.lock().unwrap().push(count);
            assert!(x.len() == count * self.0 && y.len() == x.len());
            let n = self.0;
            y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = ((i % n) * (i % n)) as f64 * x);
            Ok(())
        }
    }
    let (n, asked) = (200, Arc::default());
    let a = Matrix::from_operator(c, Box::new(Asked(n, Arc::clone(&asked))));
    let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, -1.5).unwrap();
    let options = Options { count: 4, block: 4, verify: Verify::Off, ..Options::default() };
    let pairs = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap();
    let square = |i: usize| (i * i) as f64 - 1.5;
    near(&pairs.values, &[square(199), square(198), square(197), square(196)], 1e-9 * 4e4, "by blocks");
    let asked = asked.lock().unwrap();
    let blocks = asked.iter().filter(|count| **count == 4).count();
    assert!(4 * blocks >= pairs.info.products - 8 && blocks > 5, "{asked:?} for {} products", pairs.info.products);
}

/// The terms of these operators cancel, so products are rounding errors of the terms. Relative to the norm of such
/// products, the operator would not be symmetric.
pub(super) fn operators_whose_terms_cancel_are_zero(c: &Arc<Context>) {
    let n = 130;
    let loops = symmetric(c, n, &(0..n).map(|i| (i, i, 0.3 + (i % 17) as f64)).collect::<Vec<_>>());
    let scaled = symmetric(c, n, &(0..n).map(|i| (i, i, 7.3)).collect::<Vec<_>>());
    let base = Options { count: 2, basis: 30, ..Options::default() };
    for (a, kind, shift) in [(&loops, Kind::NormalizedLaplacian, 0.0), (&scaled, Kind::Matrix, -7.3)] {
        for options in [
            base,
            Options { block: 3, ..base },
            Options { orthogonalization: Orthogonalization::Partial, ..base },
            Options { filter: Filter::Chebyshev, ..base },
            Options { method: Method::Plain, count: 1, ..base },
            Options { check_symmetry: true, ..base },
        ] {
            let mut operator = Symmetric::<f64>::new(c, a, kind, shift).unwrap();
            let pairs = eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap();
            assert_eq!(pairs.info.converged, options.count, "{kind:?} {options:?}: {:?}", pairs.info);
            near(&pairs.values, &vec![0.0; options.count], 1e-14, &format!("{kind:?} {options:?}"));
        }
    }
}

/// Blocks whose space is invariant after two steps, in single precision. The rounding errors in a column are mostly
/// along the space, and have to be subtracted until none is left.
pub(super) fn blocks_of_rounding_stay_orthogonal(c: &Arc<Context>) {
    let n = 219;
    let missing = [(3, 77), (100, 218)];
    let mut list = Vec::new();
    for i in 0..n {
        list.extend((i + 1..n).filter(|j| !missing.contains(&(i, *j))).map(|j| (i, j, 1.0f32)));
    }
    let a = symmetric(c, n, &list);
    let ones = vec![1.0f32; n];
    for block in [2, 3, 4] {
        for seed in 236..244 {
            let options = Options { count: 1, which: Which::Smallest, block, seed, ..Options::default() };
            let mut operator = Symmetric::<f32>::new(c, &a, Kind::Laplacian, 0.0).unwrap();
            let given = SolveInputs { deflate: &ones, ..SolveInputs::default() };
            let pairs = eigenpairs(c, &mut operator, &options, &given, &Progress::none()).unwrap();
            let label = format!("block {block}, seed {seed}: {:?}", pairs.info);
            assert!(pairs.info.converged == 1 && pairs.info.verified, "{label}");
            near(&pairs.values, &[(n - 2) as f64], 1e-4 * n as f64, &label);
        }
    }
}

pub(super) fn known_vectors_may_leave_the_null_space_alone(c: &Arc<Context>) {
    let unit = |n: usize, i: usize| (0..n).map(move |j| f64::from(u8::from(i == j)));
    for n in [5usize, 100, 300] {
        let a = symmetric(c, n, &(0..n).map(|i| (i, i, i as f64)).collect::<Vec<_>>());
        for left in [0, 1] {
            let known: Vec<f64> = (0..n).filter(|i| *i != left).flat_map(|i| unit(n, i)).collect();
            let given = SolveInputs { deflate: &known[..], ..SolveInputs::default() };
            let options = Options { count: 1, ..Options::default() };
            let found = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap();
            near(&found.values, &[left as f64], 1e-11, &format!("{n}, {left}"));
            assert_eq!(found.info.converged, 1);
        }
    }
    // A matrix of rank one whose vector is known.
    let ones: Vec<_> = (0..100).flat_map(|i| (0..=i).map(move |j| (i, j, 1.0))).collect();
    for (entries, known) in [(ones, vec![1.0; 100]), (vec![(0, 0, 7.0)], unit(100, 0).collect())] {
        let given = SolveInputs { deflate: &known[..], ..SolveInputs::default() };
        let options = Options { count: 2, ..Options::default() };
        let found = solve_with(c, &symmetric(c, 100, &entries), Kind::Matrix, &options, &given).unwrap();
        near(&found.values, &[0.0, 0.0], 1e-12, "rank one");
        assert_eq!(found.info.converged, 2);
    }
}

pub(super) fn vectors_given_may_have_any_norm(c: &Arc<Context>) {
    let n = 100;
    let a = symmetric(c, n, &(0..n).map(|i| (i, i, i as f64)).collect::<Vec<_>>());
    for size in [1e-310, 1e-300, 1e-200, 1e200, 1e300] {
        let (start, mut known) = (vec![size; n], vec![0.0; n]);
        known[n - 1] = size;
        for method in [Method::ThickRestart, Method::Plain] {
            let given = SolveInputs { start: Some(&start[..]), ..SolveInputs::default() };
            let options = Options {
                count: 1,
                method,
                basis: if method == Method::Plain { 100 } else { 0 },
                ..Options::default()
            };
            near(&solve_with(c, &a, Kind::Matrix, &options, &given).unwrap().values, &[99.0], 1e-8, "start");
        }
        let given = SolveInputs { deflate: &known[..], ..SolveInputs::default() };
        let options = Options { count: 1, ..Options::default() };
        near(&solve_with(c, &a, Kind::Matrix, &options, &given).unwrap().values, &[98.0], 1e-8, "known");
    }
}
