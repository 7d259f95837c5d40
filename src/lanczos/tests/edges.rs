//! Bad input and awkward matrices: each of them has a documented outcome.

use super::*;

fn ring(c: &Arc<Context>, n: usize) -> Matrix {
    symmetric(c, n, &edges((0..n).map(|i| (i, (i + 1) % n)).filter(|(i, j)| i != j)))
}

#[test]
fn an_order_of_one_or_two_is_solved_by_every_method() {
    let c = cpu(1);
    for n in [1usize, 2] {
        let a = symmetric(&c, n, &(0..n).map(|i| (i, i, 3.0 - i as f64)).collect::<Vec<_>>());
        let base = Options { count: 1, ..Options::default() };
        for options in [
            base,
            Options { block: 4, ..base },
            Options { orthogonality: Orthogonality::Partial, ..base },
            Options { filter: Filter::Chebyshev, ..base },
            Options { method: Method::Plain, ..base },
            Options { which: Which::Nearest, sigma: 2.9, ..base },
            Options { which: Which::BothEnds, ..base },
        ] {
            let pairs = solve(&c, &a, Kind::Matrix, &options);
            near(&pairs.values, &[3.0], 1e-14, &format!("n = {n}, {options:?}"));
        }
    }
}

#[test]
fn components_and_empty_rows_do_not_hide_values() {
    let c = cpu(2);
    // Two rings apart, and vertices alone before, between and behind.
    let list = (0..70).map(|i| (5 + i, 5 + (i + 1) % 70)).chain((0..90).map(|i| (80 + i, 80 + (i + 1) % 90)));
    let a = symmetric(&c, 180, &edges(list));
    let options = Options { count: 4, basis: 30, verify: Verify::On, ..Options::default() };
    let second = 2.0 * (2.0 * std::f64::consts::PI / 90.0).cos();
    near(&solve(&c, &a, Kind::Matrix, &options).values, &[2.0, 2.0, second, second], 1e-9, "two rings");
    // With the basis that suits so many: eight columns more than 22 restart without end from most starts.
    let low = Options { count: 22, which: Which::Smallest, basis: Options::default().basis, ..options };
    let zeros = solve(&c, &a, Kind::Laplacian, &low).values;
    // A zero a component: two rings and twenty vertices.
    assert!(zeros.iter().all(|v| v.abs() < 1e-8), "{zeros:?}");
}

#[test]
fn one_row_that_holds_everything_is_a_star() {
    let c = cpu(2);
    let mut list: Vec<_> = (1..5000usize).map(|i| (0, i, 1.0)).collect();
    list.push((0, 0, 7.0));
    let a = symmetric(&c, 5000, &list);
    let root = (49.0f64 / 4.0 + 4999.0).sqrt();
    let both = Options { count: 2, which: Which::BothEnds, ..Options::default() };
    near(&solve(&c, &a, Kind::Matrix, &both).values, &[3.5 + root, 3.5 - root], 1e-9 * 75.0, "a star with a loop");
}

#[test]
fn a_huge_range_keeps_its_absolute_accuracy_and_a_solve_the_relative_one() {
    let c = cpu(2);
    let n = 300;
    let values: Vec<f64> = (0..n).map(|i| 10f64.powf(12.0 * i as f64 / (n - 1) as f64)).collect();
    let a = symmetric(&c, n, &values.iter().enumerate().map(|(i, v)| (i, i, *v)).collect::<Vec<_>>());
    let top = solve(&c, &a, Kind::Matrix, &Options { count: 3, ..Options::default() });
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
    let inverse = Matrix::from_operator(&c, Box::new(Inverse(values.clone())));
    let given = Given::<f64> { solve: Some(&inverse), ..Given::default() };
    let options = Options { count: 3, which: Which::Nearest, ..Options::default() };
    let low = solve_with(&c, &a, Kind::Matrix, &options, &given).unwrap();
    for (found, want) in low.values.iter().zip(&values) {
        assert!((found - want).abs() <= 1e-11 * want, "{found}, not {want}");
    }
}

#[test]
fn duplicates_are_added_by_products_too() {
    let c = cpu(1);
    // Twice the same edge: weight 2.
    let twice = symmetric(&c, 80, &edges((1..80).flat_map(|i| [(i - 1, i), (i - 1, i)])));
    let once = symmetric(&c, 80, &(1..80).map(|i| (i - 1, i, 2.0)).collect::<Vec<_>>());
    let options = Options { count: 2, ..Options::default() };
    let (a, b) = (solve(&c, &twice, Kind::Matrix, &options), solve(&c, &once, Kind::Matrix, &options));
    near(&a.values, &b.values, 1e-12, "duplicates");
}

#[test]
fn numbers_that_are_not_finite_stop_a_solve() {
    let c = cpu(1);
    struct Sick(usize);
    impl Operator<f64> for Sick {
        fn shape(&self) -> (usize, usize) {
            (400, 400)
        }
        fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
            self.0 += 1;
            y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = i as f64 * x);
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
        Options { orthogonality: Orthogonality::Partial, ..base },
        Options { filter: Filter::Chebyshev, ..base },
        Options { method: Method::Plain, ..base },
        Options { which: Which::Nearest, sigma: 30.0, ..base },
    ] {
        let a = Matrix::from_operator(&c, Box::new(Sick(0)));
        let e = solve_with::<f64>(&c, &a, Kind::Matrix, &options, &Given::default()).unwrap_err();
        assert!(matches!(e, Error::Numerical(_)), "{options:?}: {e}");
    }
}

#[test]
fn matrices_that_are_not_symmetric_are_refused_whatever_their_order() {
    let c = cpu(1);
    let build = |entries: &[(i64, i64, f64)]| {
        let rows: Vec<i64> = entries.iter().map(|e| e.0).collect();
        let cols: Vec<i64> = entries.iter().map(|e| e.1).collect();
        let values: Vec<f64> = entries.iter().map(|e| e.2).collect();
        let mut held = HostMemory::allocate("test", size_of_val(&values[..]), c.host_budget()).unwrap();
        held.as_mut_slice::<f64>().unwrap().copy_from_slice(&values);
        let from = Coordinates {
            rows: 3,
            cols: 3,
            row_idx: Indices::I64(&rows),
            col_idx: Indices::I64(&cols),
            base: 0,
            dtype: crate::scalar::DType::F64,
            values: Some(&held),
        };
        from_coordinates(&c, &from, Duplicates::Sum).unwrap()
    };
    let refused = |entries: &[(i64, i64, f64)]| Symmetric::<f64>::new(&c, &build(entries), Kind::Matrix, 0.0).is_err();
    assert!(refused(&[(0, 1, 1.0)]));
    assert!(refused(&[(0, 1, 1.0), (1, 0, 1.5)]));
    assert!(refused(&[(2, 0, 1.0), (0, 1, 1.0), (1, 2, 1.0)]));
    assert!(!refused(&[(2, 0, 1.0), (0, 2, 1.0), (1, 1, -3.0)]));
}

#[test]
fn a_space_may_be_as_large_as_the_whole() {
    let c = cpu(2);
    let a = ring(&c, 150);
    let want = 2.0 * (2.0 * std::f64::consts::PI / 150.0).cos();
    for basis in [0, 20, 149, 150] {
        let options = Options { count: 3, basis, verify: Verify::On, ..Options::default() };
        let pairs = solve(&c, &a, Kind::Matrix, &options);
        near(&pairs.values, &[2.0, want, want], 1e-9, &format!("basis {basis}"));
    }
    // A space that has hardly room for what is wanted says so, or gives it.
    let tight = solve(&c, &a, Kind::Matrix, &Options { count: 3, basis: 4, ..Options::default() });
    assert_eq!((tight.values.len(), tight.info.basis), (3, 6));
    assert!((tight.info.reason == Reason::Converged) == (tight.info.converged == 3));
    let all = solve(&c, &a, Kind::Matrix, &Options { count: 150, ..Options::default() });
    assert_eq!((all.info.reason, all.values.len()), (Reason::Exhausted, 150));
}
