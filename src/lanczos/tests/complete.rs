//! The guarantees of a success: no copy of a multiple eigenvalue is missing, and residuals are within the tolerance.
//! The graphs have eigenvalues in closed form.

use std::sync::Arc;

use super::inputs::{cube, edges, symmetric};
use super::solves::{near, solve, solve_with};
use crate::context::Context;
use crate::error::Error;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::singular::{Request, singular_triplets};
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Filter, Method, Options, Orthogonalization, Reason, Verify, Which};
use crate::matrix::{Matrix, Operator};
use crate::progress::Progress;
use crate::testing::sparse::from_entries;

const PI: f64 = std::f64::consts::PI;

/// A grid of `height` by `width` vertices, or the torus.
fn grid(c: &Arc<Context>, height: usize, width: usize, is_torus: bool) -> Matrix {
    let at = |i: usize, j: usize| (i % height) * width + j % width;
    let down = (0..height).flat_map(|i| (0..width).map(move |j| (i, j))).filter(|(i, _)| is_torus || i + 1 < height);
    let across = (0..height).flat_map(|i| (0..width).map(move |j| (i, j))).filter(|(_, j)| is_torus || j + 1 < width);
    let list = down.map(|(i, j)| (at(i, j), at(i + 1, j))).chain(across.map(|(i, j)| (at(i, j), at(i, j + 1))));
    symmetric(c, height * width, &edges(list))
}

fn cycle(c: &Arc<Context>, n: usize) -> Matrix {
    symmetric(c, n, &edges((0..n).map(|i| (i, (i + 1) % n))))
}

fn descending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

fn cycle_values(n: usize) -> Vec<f64> {
    (0..n).map(|j| 2.0 * (2.0 * PI * j as f64 / n as f64).cos()).collect()
}

fn path_values(n: usize) -> Vec<f64> {
    (1..=n).map(|j| 2.0 * (PI * j as f64 / (n + 1) as f64).cos()).collect()
}

fn sums(one: &[f64], other: &[f64]) -> Vec<f64> {
    descending(one.iter().flat_map(|a| other.iter().map(move |b| a + b)).collect())
}

/// Graphs and the eigenvalues of their adjacency matrices, descending.
fn graphs(c: &Arc<Context>) -> Vec<(&'static str, Matrix, Vec<f64>)> {
    let q9: Vec<f64> = (0..512u32).map(|v| 9.0 - 2.0 * f64::from(v.count_ones())).collect();
    let bipartite = edges((0..40).flat_map(|i| (40..100).map(move |j| (i, j))));
    let mut of_bipartite = vec![0.0; 100];
    of_bipartite[0] = 2400f64.sqrt();
    of_bipartite[99] = -(2400f64.sqrt());
    // Four disjoint copies of a path.
    let copies = edges((0..4).flat_map(|g| (1..60).map(move |i| (60 * g + i - 1, 60 * g + i))));
    let of_copies = descending((0..4).flat_map(|_| path_values(60)).collect());
    vec![
        ("cycle of 200", cycle(c, 200), descending(cycle_values(200))),
        ("grid of 20 x 20", grid(c, 20, 20, false), sums(&path_values(20), &path_values(20))),
        ("torus of 12 x 18", grid(c, 12, 18, true), sums(&cycle_values(12), &cycle_values(18))),
        ("cube of 512", symmetric(c, 512, &edges(cube(9))), descending(q9)),
        ("40 joined with 60", symmetric(c, 100, &bipartite), of_bipartite),
        ("four paths", symmetric(c, 240, &copies), of_copies),
    ]
}

pub(super) fn no_copy_is_missing_by_default(c: &Arc<Context>) {
    let mut missed = 0;
    for (name, a, want) in graphs(c) {
        for (count, seed) in [(3, 0), (4, 1), (5, 2)] {
            let options = Options { count, seed, basis: 60, ..Options::default() };
            let found = solve(c, &a, Kind::Matrix, &options);
            near(&found.values, &want[..count], 1e-8, name);
            assert!(found.info.verified && found.info.stop_reason == Reason::Converged, "{name}: {:?}", found.info);
            let blind = solve(c, &a, Kind::Matrix, &Options { verify: Verify::Off, ..options });
            assert!(!blind.info.verified, "{name}");
            missed += usize::from(blind.values.iter().zip(&want).any(|(v, w)| (v - w).abs() > 1e-8));
        }
    }
    for (name, a, want) in [
        ("grid of 40 x 40", grid(c, 40, 40, false), sums(&path_values(40), &path_values(40))),
        ("cycle of 500", cycle(c, 500), descending(cycle_values(500))),
    ] {
        for (count, seed) in [(3, 0), (4, 1), (5, 0), (5, 1)] {
            let options = Options { count, seed, basis: 60, ..Options::default() };
            let found = solve(c, &a, Kind::Matrix, &options);
            near(&found.values, &want[..count], 1e-8, name);
            assert!(found.info.verified, "{name}: {:?}", found.info);
        }
    }
    let found = solve(c, &cycle(c, 200), Kind::NormalizedAdjacency, &Options { count: 3, ..Options::default() });
    let want: Vec<f64> = descending(cycle_values(200))[..3].iter().map(|v| 0.5 * v).collect();
    near(&found.values, &want, 1e-9, "normalized adjacency of the cycle of 200");
    // Otherwise the test would prove nothing.
    assert!(missed >= 5, "{missed}");
}

pub(super) fn loose_tolerances_hide_no_copies(c: &Arc<Context>) {
    let seven: Vec<f64> = (0..128u32).map(|v| 2.0 * f64::from(v.count_ones())).collect();
    let torus = descending(sums(&cycle_values(12), &cycle_values(12)));
    let rings: Vec<f64> = (0..211).map(|j| f64::from(j) * 2.0 * PI / 211.0).collect();
    let mut rings: Vec<f64> = rings.iter().map(|x| 1.0 - 0.5 * (x.cos() + (3.0 * x).cos())).collect();
    rings.sort_by(f64::total_cmp);
    let links = |step: usize| (0..211).map(move |i| (i, (i + step) % 211));
    let (largest, smallest) = (Which::Largest, Which::Smallest);
    for (name, a, kind, which, count, want) in [
        ("torus", grid(c, 12, 12, true), Kind::Matrix, largest, 5, &torus),
        ("cube", symmetric(c, 128, &edges(cube(7))), Kind::Laplacian, largest, 8, &descending(seven)),
        ("rings", symmetric(c, 211, &edges(links(1).chain(links(3)))), Kind::NormalizedLaplacian, smallest, 4, &rings),
    ] {
        for tolerance in [0.1, 0.01, 1e-3, 1e-4] {
            for (verify, block, seed) in [(Verify::Auto, 1, 0), (Verify::Auto, 2, 1), (Verify::On, 1, 2)] {
                let options = Options { count, which, tolerance, verify, block, seed, ..Options::default() };
                let found = solve(c, &a, kind, &options);
                assert!(found.info.verified, "{name} {options:?}: {:?}", found.info);
                for (v, w) in found.values.iter().zip(&want[..count]) {
                    assert!((v - w).abs() <= 1.5 * tolerance * w.abs() + 1e-9, "{name} {options:?}: {v}, not {w}");
                }
            }
        }
    }
    // Singular values of a matrix that is a multiple of a permutation in parts: copies of each.
    let entries: Vec<_> = (0..400).map(|i| (i, (7 * i + 3) % 400, [3.0, 2.9, 1.0, 0.5][i % 4])).collect();
    let a = from_entries(c, (400, 400), &entries);
    for tolerance in [0.05, 1e-3] {
        let options = Options { count: 5, tolerance, ..Options::default() };
        let found = singular_triplets::<f64>(c, &a, Request::default(), &options, &Progress::none()).unwrap();
        assert!(found.info.verified, "{:?}", found.info);
        near(&found.values, &[3.0; 5], 1.5 * 3.0 * tolerance, "singular values");
    }
}

pub(super) fn no_copy_is_missing_whatever_the_method(c: &Arc<Context>) {
    let n = 300;
    let (a, want) = (cycle(c, n), descending(cycle_values(n)));
    let base = Options { count: 4, basis: 60, ..Options::default() };
    let low: Vec<f64> = want.iter().rev().copied().collect();
    let both = [want[0], want[1], want[2], low[1], low[0]];
    for (what, options, want) in [
        ("the smallest", Options { which: Which::Smallest, ..base }, &low[..4]),
        ("of both ends", Options { which: Which::BothEnds, count: 5, ..base }, &both),
        ("by blocks", Options { block: 2, ..base }, &want[..4]),
        ("partial", Options { orthogonalization: Orthogonalization::Partial, ..base }, &want[..4]),
        ("by a filter", Options { filter: Filter::Chebyshev, ..base }, &want[..4]),
    ] {
        let found = solve(c, &a, Kind::Matrix, &options);
        near(&found.values, want, 1e-8, what);
        assert!(found.info.verified && found.info.converged == options.count, "{what}: {:?}", found.info);
    }
    let found = solve(c, &a, Kind::Matrix, &Options { which: Which::LargestMagnitude, count: 6, ..base });
    let moduli: Vec<f64> = found.values.iter().map(|v| v.abs()).collect();
    near(&moduli, &[2.0, 2.0, want[1], want[1], want[1], want[1]], 1e-8, "of largest modulus");
    let ring: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, 1.0f32)).collect();
    let single = symmetric(c, n, &ring);
    let found = solve_with::<f32>(c, &single, Kind::Matrix, &base, &SolveInputs::default()).unwrap();
    near(&found.values, &want[..4], 1e-3, "in single precision");
    // Known vectors are deflated, and the small space that is left is known to be complete.
    let ones = vec![1.0; n];
    let given = SolveInputs { deflate: &ones[..], ..SolveInputs::default() };
    let found = solve_with(c, &a, Kind::Matrix, &base, &given).unwrap();
    near(&found.values, &want[1..5], 1e-8, "without a known vector");
    assert!(solve(c, &cycle(c, 40), Kind::Matrix, &Options { basis: 0, ..base }).info.verified);
    let plain = Options { method: Method::Plain, count: 2, basis: 0, ..base };
    let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, 0.0).unwrap();
    let found = eigenpairs(c, &mut operator, &plain, &SolveInputs::default(), &Progress::none()).unwrap();
    assert!(!found.info.verified);
}

/// An operator whose products are a function of the row, the vector and the number of products before.
struct Formula<F>(usize, usize, F);

impl<F: FnMut(usize, &[f64], usize) -> f64 + Send> Operator<f64> for Formula<F> {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.0)
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
        for (x, y) in x.chunks_exact(self.0).zip(y.chunks_exact_mut(self.0)) {
            self.1 += 1;
            for (i, y) in y.iter_mut().enumerate() {
                *y = (self.2)(i, x, self.1);
            }
        }
        Ok(())
    }
}

pub(super) fn a_residual_that_contradicts_is_no_success(c: &Arc<Context>) {
    let n = 200;
    let base = Options { count: 3, restarts: 6, ..Options::default() };
    // Upper triangular: nothing about it is symmetric.
    let upper = |i: usize, x: &[f64], _: usize| (i as f64) * x[i] + x.get(i + 1).map_or(0.0, |x| 100.0 * x);
    let lame = |i: usize, x: &[f64], at: usize| (i as f64) * x[i] * (1.0 + 1e-6 * (at % 3) as f64);
    for options in [
        base,
        Options { block: 2, ..base },
        Options { orthogonalization: Orthogonalization::Partial, ..base },
        Options { filter: Filter::Chebyshev, degree: 8, restarts: 3, ..base },
        Options { method: Method::Plain, basis: 150, restarts: 0, ..base },
        Options { which: Which::Nearest, sigma: 30.0, degree: 40, restarts: 2, ..base },
    ] {
        for at in 0..2 {
            let own: Box<dyn Operator<f64>> =
                if at == 0 { Box::new(Formula(n, 0, upper)) } else { Box::new(Formula(n, 0, lame)) };
            let a = Matrix::from_operator(c, own);
            match solve_with::<f64>(c, &a, Kind::Matrix, &options, &SolveInputs::default()) {
                Ok(found) => {
                    // Products that differ a little may give residuals within the tolerance.
                    let is_small = at == 1 && found.info.residual <= 2e-10 * found.info.norm;
                    let is_reported = found.info.converged < 3 && found.info.stop_reason != Reason::Converged;
                    assert!(is_small || (is_reported && !found.info.verified), "{at} {options:?}: {:?}", found.info);
                    // Two products with random vectors show why restarts did not suffice.
                    let is_short = at == 0 && found.info.stop_reason == Reason::Restarts;
                    assert!(!is_short || found.info.asymmetry > 1e-3, "{options:?}: {:?}", found.info);
                }
                Err(e) => assert!(matches!(e, Error::Numerical(_)), "{at} {options:?}: {e}"),
            }
        }
    }
    // A solve for another sigma than the option's.
    let links: Vec<_> = (0..n).map(|i| (i, i, i as f64)).collect();
    let a = symmetric(c, n, &links);
    let inverse = |sigma: f64| {
        Matrix::from_operator(c, Box::new(Formula(n, 0, move |i: usize, x: &[f64], _| x[i] / (i as f64 - sigma))))
    };
    let options = Options { which: Which::Nearest, sigma: 30.3, restarts: 0, ..base };
    for (sigma, reason) in [(30.3, Reason::Converged), (30.3 + 1e-6, Reason::Contradicted)] {
        let with = inverse(sigma);
        let given = SolveInputs::<f64> { solve: Some(&with), ..SolveInputs::default() };
        let found = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap();
        assert_eq!(
            (found.info.stop_reason, found.info.converged == 3),
            (reason, reason == Reason::Converged),
            "{sigma}"
        );
        near(&found.values, &[30.0, 31.0, 29.0], 1e-5, "nearest");
        assert_eq!(found.info.verified, reason == Reason::Converged);
    }
}

/// A binary tree has values of many copies, and blocks of five are slow to find the last of them.
pub(super) fn restarts_that_run_out_contradict_nothing(c: &Arc<Context>) {
    let tree = symmetric(c, 255, &edges((1..255).map(|i| ((i - 1) / 2, i))));
    let base = Options { count: 11, which: Which::BothEnds, block: 5, ..Options::default() };
    let mut short = 0;
    for restarts in [200, 300, 400] {
        let found =
            solve_with::<f64>(c, &tree, Kind::Laplacian, &Options { restarts, ..base }, &SolveInputs::default());
        let info = found.unwrap().info;
        let is_done = info.converged == 11;
        assert_eq!(
            info.stop_reason,
            if is_done { Reason::Converged } else { Reason::Restarts },
            "{restarts}: {info:?}"
        );
        short += usize::from(!is_done);
    }
    assert!(short > 0);
}

pub(super) fn zero_eigenvalues_converge_to_roundings_of_the_norm(c: &Arc<Context>) {
    let base = Options { which: Which::Smallest, count: 5, basis: 60, ..Options::default() };
    let mesh = grid(c, 18, 18, false);
    let one: Vec<f64> = (0..18).map(|j| 2.0 - 2.0 * (PI * f64::from(j) / 18.0).cos()).collect();
    let mut want = sums(&one, &one);
    want.reverse();
    for block in [1, 2, 4] {
        let found = solve(c, &mesh, Kind::Laplacian, &Options { block, ..base });
        assert_eq!(found.info.converged, 5, "block {block}: {:?} {:?}", found.info, found.residuals);
        near(&found.values, &want[..5], 1e-9, "a grid");
        assert!(found.info.restarts < 60, "{:?}", found.info);
        assert!(found.info.residual <= 1e-10 && found.info.orthogonality < 1e-12, "{:?}", found.info);
    }
    // Two paths: 0 comes twice.
    let two = edges((0..2).flat_map(|g| (1..150).map(move |i| (150 * g + i - 1, 150 * g + i))));
    let two = symmetric(c, 300, &two);
    let found = solve(c, &two, Kind::Laplacian, &Options { block: 2, count: 3, ..base });
    near(&found.values, &[0.0, 0.0, 2.0 - 2.0 * (PI / 150.0).cos()], 1e-9, "two paths");
    assert_eq!(found.info.converged, 3);
    let entries: Vec<(usize, usize, f32)> = (1..300).map(|i| (i - 1, i, 1.0)).collect();
    let single = symmetric(c, 300, &entries);
    for filter in [Filter::Off, Filter::Chebyshev] {
        let options = Options { filter, ..base };
        let found = solve_with::<f32>(c, &single, Kind::Laplacian, &options, &SolveInputs::default()).unwrap();
        assert_eq!(found.info.converged, 5, "{filter:?}: {:?} {:?}", found.info, found.residuals);
    }
}

pub(super) fn options_without_effect_are_refused(c: &Arc<Context>) {
    let a = symmetric(c, 200, &edges((1..200).map(|i| (i - 1, i))));
    let wrong =
        |o: Options| solve_with::<f64>(c, &a, Kind::Matrix, &o, &SolveInputs::default()).unwrap_err().to_string();
    let base = Options::default();
    assert_eq!(wrong(Options { sigma: 2.0, ..base }), "sigma: is 2, but which = LARGEST: NEAREST is needed");
    assert_eq!(wrong(Options { degree: 7, ..base }), "degree: is 7, there is no filter");
    let plain = Options { method: Method::Plain, ..base };
    assert_eq!(wrong(Options { degree: 7, which: Which::Nearest, ..plain }), "degree: is 7, there is no filter");
    assert!(wrong(Options { restarts: 7, ..plain }).starts_with("restarts: is set"));
    assert!(
        wrong(Options { orthogonalization: Orthogonalization::Partial, ..plain })
            .starts_with("orthogonalization: is partial")
    );
    assert!(wrong(Options { which: Which::Nearest, block: 2, ..base }).starts_with("block: is set, NEAREST"));
    let ones = vec![1.0; 200];
    let given = SolveInputs { deflate: &ones[..], ..SolveInputs::default() };
    let partial = Options { orthogonalization: Orthogonalization::Partial, ..base };
    let e = solve_with(c, &a, Kind::Matrix, &partial, &given).unwrap_err().to_string();
    assert!(e.starts_with("orthogonalization: is partial, a space"), "{e}");
    // An entry that is not finite is reported as such, not as a lack of symmetry.
    for (i, j, value) in [(4, 4, f64::NAN), (3, 9, f64::INFINITY), (7, 2, f64::NAN), (0, 0, f64::NEG_INFINITY)] {
        let sick = symmetric(c, 100, &[(i, j, value), (50, 51, 1.0)]);
        let e = Symmetric::<f64>::new(c, &sick, Kind::Matrix, 0.0).map(|_| ()).unwrap_err().to_string();
        let (i, j) = (i.min(j), i.max(j));
        assert_eq!(e, format!("a: has {value} in row {i}, column {j} (from 0)"));
    }
    let sick = from_entries(c, (100, 80), &[(1, 2, f64::NAN), (50, 51, 1.0)]);
    let e = solve_with::<f64>(c, &sick, Kind::Gram, &base, &SolveInputs::default()).unwrap_err().to_string();
    assert_eq!(e, "a: has NaN in row 1, column 2 (from 0)");
}

pub(super) fn copies_of_zero_are_as_accurate_as_the_pairs_before_them(c: &Arc<Context>) {
    // 20 paths of 8 vertices: 0 twenty times, and two more values, whose residuals may be larger.
    let a = symmetric(c, 160, &edges((0..20).flat_map(|g| (1..8).map(move |i| (8 * g + i - 1, 8 * g + i)))));
    let mut want = vec![0.0; 20];
    want.extend([2.0 - 2.0 * (PI / 8.0).cos(); 5]);
    for seed in 0..6 {
        let options = Options { count: 25, which: Which::Smallest, seed, ..Options::default() };
        let found = solve(c, &a, Kind::Laplacian, &options);
        assert!(found.info.stop_reason == Reason::Converged && found.info.verified, "seed {seed}: {:?}", found.info);
        near(&found.values, &want, 1e-10, "values of the paths");
    }
    // Both ends have clustered eigenvalues.
    let options = Options { count: 24, which: Which::BothEnds, ..Options::default() };
    let found = solve(c, &a, Kind::Laplacian, &options);
    assert!(found.info.stop_reason == Reason::Converged, "{:?}", found.info);
    let top = 2.0 - 2.0 * (7.0 * PI / 8.0).cos();
    let mut values = found.values.clone();
    values.sort_by(f64::total_cmp);
    near(&values[..12], &[0.0; 12], 1e-10, "the small end");
    near(&values[12..], &[top; 12], 1e-9, "the large end");
}

pub(super) fn all_pairs_of_a_cluster_as_wide_as_rounding_are_found(c: &Arc<Context>) {
    // The deferred steps of a GPU have two passes whatever remains. Their basis may be lost, which the report must say.
    let may_fall_short = !matches!(c.backend(), crate::backend::Backend::Cpu);
    for n in [64, 100] {
        for seed in 0..3 {
            let spread = |i: usize| ((i * i + 5 * i + 17 * seed) as f64).sin();
            let mut want: Vec<f64> =
                (0..n).map(|i| if i < n / 2 { 1.0 + 1e-14 * spread(i) } else { 2.0 * spread(i) }).collect();
            let a = symmetric(c, n, &want.iter().enumerate().map(|(i, v)| (i, i, *v)).collect::<Vec<_>>());
            want = descending(want);
            let options = Options { count: n, seed: seed as u64, ..Options::default() };
            let found = if may_fall_short {
                // `solve` needs vectors that are all orthogonal.
                let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, 0.0).unwrap();
                eigenpairs(c, &mut operator, &options, &SolveInputs::default(), &Progress::none()).unwrap()
            } else {
                solve(c, &a, Kind::Matrix, &options)
            };
            let what = format!("order {n}, seed {seed}: {:?}", found.info);
            // A pair that counts as converged is one of the matrix.
            for (value, residual) in found.values.iter().zip(&found.residuals).take(found.info.converged) {
                let distance = want.iter().fold(f64::INFINITY, |least, w| least.min((w - value).abs()));
                assert!(distance <= 1.001 * residual + 1e-13, "{what}: {value} is off by {distance}");
            }
            if !may_fall_short || found.info.verified {
                assert_eq!(found.info.converged, n, "{what}");
                // A verified solve has missed nothing that is 1e-9 of the norm away.
                near(&found.values, &want, if may_fall_short { 2e-9 } else { 1e-11 }, "a diagonal");
            }
        }
    }
}

pub(super) fn a_loose_tolerance_leaves_out_nothing_nearer(c: &Arc<Context>) {
    // Eigenvalues over six decades on both sides of sigma. A polynomial of a small degree cannot separate most of them.
    for (n, seed) in [(80usize, 273), (100, 1)] {
        let value = |i: usize| 10f64.powf(-6.0 * i as f64 / (n - 1) as f64) * if i % 2 == 1 { 1.0 } else { -1.0 };
        let a = symmetric(c, n, &(0..n).map(|i| (i, i, value(i))).collect::<Vec<_>>());
        let base = Options { count: 11, which: Which::Nearest, tolerance: 1e-2, seed, ..Options::default() };
        let found = solve(c, &a, Kind::Matrix, &Options { degree: 60, restarts: 4, ..base });
        let far = found.values.iter().fold(0.0f64, |far, v| far.max(v.abs()));
        let nearer = (0..n).filter(|i| value(*i).abs() < 0.99 * far).count();
        assert!(found.info.converged == 0 || nearer < 11, "{n}, {seed}: {nearer} within {far}, {:?}", found.info);
    }
    // Eigenvalues that a polynomial can separate are found.
    let n = 400;
    let a = symmetric(c, n, &(0..n).map(|i| (i, i, i as f64 + 0.001 * (i * i % 7) as f64)).collect::<Vec<_>>());
    for tolerance in [1e-2, 1e-4] {
        let options = Options { count: 6, which: Which::Nearest, sigma: 150.3, tolerance, ..Options::default() };
        let found = solve(c, &a, Kind::Matrix, &options);
        assert!(found.info.converged == 6 && found.info.verified, "{:?}", found.info);
        assert!(
            found.values.iter().all(|v| (v - 150.3).abs() < 3.0 + 2.0 * tolerance * n as f64),
            "{:?}",
            found.values
        );
    }
}

pub(super) fn places_within_copies_and_grades_are_searched_in_bounds(c: &Arc<Context>) {
    // A dense matrix with three eigenvalues of many copies, one of which is sigma.
    let n = 100;
    let x = |i: usize| (1.0 + i as f64).sin();
    let square: f64 = (0..n).map(|i| x(i) * x(i)).sum();
    let reflected = |i: usize, j: usize| f64::from(u8::from(i == j)) - 2.0 * x(i) * x(j) / square;
    let value = |i: usize| [-1.0, 0.0, 2.0][i % 3];
    let entry = |i: usize, j: usize| -> f64 { (0..n).map(|k| reflected(i, k) * value(k) * reflected(j, k)).sum() };
    let entries: Vec<_> = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| (i, j, entry(i, j))).collect();
    let a = symmetric(c, n, &entries);
    for (count, sigma, want) in [(1, 0.0, 0.0), (3, 2.0, 2.0), (1, 1e-3, 0.0), (2, 1e-9, 0.0)] {
        let options = Options { count, which: Which::Nearest, sigma, ..Options::default() };
        let found = solve(c, &a, Kind::Matrix, &options);
        assert!(found.values.iter().all(|v| (v - want).abs() < 1e-8), "{sigma}: {:?}", found.values);
        assert!(found.info.converged == count && found.info.products < 60_000, "{sigma}: {:?}", found.info);
    }
    // Eigenvalues over six and ten decades on both sides of sigma.
    let graded = |n: usize, decades: f64| {
        move |i: usize| 10f64.powf(-decades * i as f64 / (n - 1) as f64) * if i % 2 == 1 { 1.0 } else { -1.0 }
    };
    for decades in [6.0, 10.0] {
        let value = graded(n, decades);
        let a = symmetric(c, n, &(0..n).map(|i| (i, i, value(i))).collect::<Vec<_>>());
        let options = Options { count: 5, which: Which::Nearest, ..Options::default() };
        let found = solve(c, &a, Kind::Matrix, &options);
        let far = found.values.iter().fold(0.0f64, |far, v| far.max(v.abs()));
        let want = value(n - 5).abs();
        assert!(found.info.converged == 5 && (far - want).abs() < 1e-14, "{decades}: {far}, {want}, {:?}", found.info);
        assert!(found.info.products < 60_000, "{:?}", found.info);
        // If the caller sets the number of vectors, the search ends without finding them.
        if decades == 10.0 {
            let found = solve(c, &a, Kind::Matrix, &Options { basis: 30, ..options });
            assert!(found.info.converged == 0 && found.info.products < 2_000_000, "{:?}", found.info);
        }
    }
}
