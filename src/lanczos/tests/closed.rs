//! Matrices whose eigenvalues and spaces are known in closed form.

use std::sync::Arc;

use super::inputs::{cube, edges, symmetric};
use super::solves::{near, solve, solve_with};
use crate::context::Context;
use crate::error::Error;
use crate::lanczos::operator::Kind;
use crate::lanczos::solve::SolveInputs;
use crate::lanczos::tridiagonal::ends;
use crate::lanczos::{Options, Pairs, Reason, Verify, Which};
use crate::matrix::Matrix;
use crate::testing::sparse::{from_entries, golden, recorded};

/// 2 cos(pi j / (n + 1)), j = 1 ... n: the path of n vertices.
fn path_values(n: usize) -> Vec<f64> {
    (1..=n).map(|j| 2.0 * (std::f64::consts::PI * j as f64 / (n + 1) as f64).cos()).collect()
}

fn descending(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

pub(super) fn closed_forms_are_met(c: &Arc<Context>) {
    let pi = std::f64::consts::PI;
    let n = 300;
    let path = symmetric(c, n, &edges((1..n).map(|i| (i - 1, i))));
    let low = Options { count: 5, which: Which::Smallest, basis: 60, ..Options::default() };
    let want: Vec<f64> = (0..5).map(|j| 2.0 - 2.0 * (pi * f64::from(j) / n as f64).cos()).collect();
    near(&solve(c, &path, Kind::Laplacian, &low).values, &want, 1e-10 * 4.0, "path");
    // tridiag(-1, 2, -1): its eigenvalues are two minus those of a path.
    let links = (0..n).map(|i| (i, i, 2.0)).chain((1..n).map(|i| (i - 1, i, -1.0)));
    let second = symmetric(c, n, &links.collect::<Vec<_>>());
    let all: Vec<f64> = path_values(n).iter().map(|v| 2.0 - v).collect();
    near(&solve(c, &second, Kind::Matrix, &low).values, &all[..5], 1e-10 * 4.0, "tridiag(-1, 2, -1)");
    let high = solve(c, &second, Kind::Matrix, &Options { which: Which::Largest, ..low });
    near(&high.values, &descending(all)[..5], 1e-10 * 4.0, "tridiag(-1, 2, -1), top");
    let star = symmetric(c, 1001, &edges((1..1001).map(|i| (0, i))));
    let both = Options { count: 2, which: Which::BothEnds, ..Options::default() };
    near(&solve(c, &star, Kind::Matrix, &both).values, &[1000f64.sqrt(), -(1000f64.sqrt())], 1e-10 * 32.0, "star");
    let complete = symmetric(c, 50, &edges((0..50).flat_map(|i| (0..i).map(move |j| (i, j)))));
    let all = solve(c, &complete, Kind::Matrix, &Options { count: 50, ..Options::default() });
    let want: Vec<f64> = (0..50).map(|i| if i == 0 { 49.0 } else { -1.0 }).collect();
    near(&all.values, &want, 1e-12 * 49.0, "complete");
    assert_eq!(all.info.stop_reason, Reason::Exhausted);
    let cycle = symmetric(c, 100, &edges((0..100).map(|i| (i, (i + 1) % 100))));
    let low = Options { count: 5, which: Which::Smallest, ..Options::default() };
    let one = |j: f64| 1.0 - (2.0 * pi * j / 100.0).cos();
    let want = [one(0.0), one(1.0), one(1.0), one(2.0), one(2.0)];
    near(&solve(c, &cycle, Kind::NormalizedLaplacian, &low).values, &want, 1e-10, "cycle");
}

/// The eigenvalues of a grid are the sums of those of two paths.
pub(super) fn grids_have_the_sums_of_paths(c: &Arc<Context>) {
    let (height, width) = (17usize, 23usize);
    let at = |i: usize, j: usize| i * width + j;
    let down = (1..height).flat_map(|i| (0..width).map(move |j| (i, j))).map(|(i, j)| (at(i - 1, j), at(i, j)));
    let across = (0..height).flat_map(|i| (1..width).map(move |j| (i, j))).map(|(i, j)| (at(i, j - 1), at(i, j)));
    let grid = symmetric(c, height * width, &edges(down.chain(across)));
    let sums = |one: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> {
        let (a, b) = (one(height), one(width));
        descending(a.iter().flat_map(|a| b.iter().map(move |b| a + b)).collect())
    };
    let options = Options { count: 12, verify: Verify::On, ..Options::default() };
    let want = sums(&path_values);
    near(&solve(c, &grid, Kind::Matrix, &options).values, &want[..12], 1e-10 * 4.0, "grid");
    let natural =
        |n: usize| (0..n).map(|j| 2.0 - 2.0 * (std::f64::consts::PI * j as f64 / n as f64).cos()).collect::<Vec<_>>();
    let mut want = sums(&natural);
    let top = solve(c, &grid, Kind::Laplacian, &options);
    near(&top.values, &want[..12], 1e-10 * 8.0, "the Laplacian of a grid");
    want.reverse();
    let low = solve(c, &grid, Kind::Laplacian, &Options { which: Which::Smallest, basis: 60, ..options });
    near(&low.values, &want[..12], 1e-10 * 8.0, "the Laplacian of a grid, low");
}

pub(super) fn every_copy_of_a_multiple_eigenvalue_is_found(c: &Arc<Context>) {
    // The hypercube Q10: 10, then 8 ten times, then 6.
    let q10 = symmetric(c, 1024, &edges(cube(10)));
    let mut want = vec![10.0];
    want.extend([8.0; 10]);
    want.push(6.0);
    for seed in 0..3 {
        let pairs = solve(c, &q10, Kind::Matrix, &Options { count: 12, basis: 40, seed, ..Options::default() });
        near(&pairs.values, &want, 1e-9 * 10.0, "Q10");
        assert!(pairs.info.recovered > 0);
    }
    let low = Options { count: 12, basis: 40, which: Which::Smallest, ..Options::default() };
    let mirrored: Vec<f64> = want.iter().map(|v| -v).collect();
    near(&solve(c, &q10, Kind::Matrix, &low).values, &mirrored, 1e-9 * 10.0, "-Q10");
    // Three disjoint copies of a graph.
    let ring: Vec<_> = (0..400).map(|i| (i, (i * i + 1) % 400)).filter(|(i, j)| i != j).collect();
    let three = edges((0..3).flat_map(|g| ring.iter().map(move |(i, j)| (i + 400 * g, j + 400 * g))));
    let three = symmetric(c, 1200, &three);
    let one = symmetric(c, 400, &edges(ring.iter().copied()));
    let single = solve(c, &one, Kind::Matrix, &Options { count: 2, verify: Verify::On, ..Options::default() });
    let want = [[single.values[0]; 3], [single.values[1]; 3]].concat();
    let tripled = solve(c, &three, Kind::Matrix, &Options { verify: Verify::On, ..Options::default() });
    near(&tripled.values, &want, 1e-9 * tripled.info.norm, "three copies");
    // Without the search copies are missed; otherwise the search would prove nothing.
    let blind =
        solve(c, &q10, Kind::Matrix, &Options { count: 12, basis: 40, verify: Verify::Off, ..Options::default() });
    assert!(blind.values.iter().filter(|v| (**v - 8.0).abs() < 1e-6).count() < 10);
}

/// Three disjoint copies of a real graph: each of its eigenvalues three times.
pub(super) fn three_copies_of_a_graph_have_its_values_three_times(c: &Arc<Context>) {
    let name = "as-caida20071105";
    let a = golden(c, name);
    let n = a.rows();
    let rows = crate::matrix::sparse::Rows::new(crate::spmv::tiles::csr(&a).unwrap()).unwrap();
    let each = |g: usize| {
        (0..n)
            .flat_map(|i| rows.row(i).map(|k| (i, rows.col(k))).collect::<Vec<_>>())
            .map(move |(i, j)| (g * n + i, g * n + j, 1.0))
    };
    let three = from_entries(c, (3 * n, 3 * n), &(0..3).flat_map(each).collect::<Vec<_>>());
    let want: Vec<f64> = recorded(name, "A_LA")[..2].iter().flat_map(|v| [*v; 3]).collect();
    for seed in 0..3 {
        for block in [1, 3] {
            // Also with the default options: the graph has three components.
            for verify in [Verify::On, Verify::Auto] {
                let options = Options { count: 6, seed, block, verify, ..Options::default() };
                let found = solve(c, &three, Kind::Matrix, &options);
                near(&found.values, &want, 1e-10 * want[0], &format!("seed {seed}, block {block}, {verify:?}"));
            }
        }
    }
}

/// Three cubes of 256 vertices whose weights differ by a part in ten million: 8, and 6 eight times, of each.
const SCALES: [f64; 3] = [1.0, 1.0 + 1e-7, 1.0 - 1e-7];

fn three_cubes(c: &Arc<Context>) -> Matrix {
    let one = |g: usize| cube(8).map(move |(i, j)| (256 * g + i, 256 * g + j, SCALES[g]));
    symmetric(c, 768, &(0..3).flat_map(one).collect::<Vec<_>>())
}

pub(super) fn tight_clusters_are_found_with_every_copy(c: &Arc<Context>) {
    let a = three_cubes(c);
    let want = descending(SCALES.iter().flat_map(|s| std::iter::once(8.0 * s).chain([6.0 * s; 8])).collect());
    let options = Options { count: 27, tolerance: 1e-12, verify: Verify::On, ..Options::default() };
    for seed in 0..3 {
        for block in [1, 4] {
            let found = solve(c, &a, Kind::Matrix, &Options { seed, block, ..options });
            near(&found.values, &want, 1e-10 * 8.0, &format!("seed {seed}, block {block}"));
        }
    }
}

/// Square root of the sum of squared sines of the angles between vectors and a space, which is given by orthonormal
/// columns.
fn sines(space: &[Vec<f64>], vectors: &[f64]) -> f64 {
    let n = space[0].len();
    let mut total = 0.0;
    for x in vectors.chunks_exact(n) {
        let mut rest = x.to_vec();
        for w in space {
            let along: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
            rest.iter_mut().zip(w).for_each(|(r, w)| *r -= along * w);
        }
        total += rest.iter().map(|r| r * r).sum::<f64>();
    }
    total.sqrt()
}

/// Vectors of clustered eigenvalues are compared as spaces: the sines are at most the residuals over the gap to the
/// rest of the spectrum (Davis and Kahan, SIAM J. Numer. Anal. 7, 1970).
pub(super) fn clusters_have_the_space_that_is_known(c: &Arc<Context>) {
    let within = |space: &[Vec<f64>], pairs: &Pairs<f64>, which: std::ops::Range<usize>, gap: f64, what: &str| {
        let n = space[0].len();
        assert_eq!(space.len(), which.len());
        let residual = pairs.residuals[which.clone()].iter().map(|r| r * r).sum::<f64>().sqrt();
        let found = sines(space, &pairs.vectors[which.start * n..which.end * n]);
        assert!(found <= 2.0 * residual / gap + 1e-12, "{what}: {found}, residual {residual}");
        assert!(found < 1e-8, "{what}: {found}");
    };
    // The eigenvectors of a cube are the Walsh functions; those of the second value are the signs of one bit.
    let walsh = |d: usize, offset: usize, n: usize, bit: Option<usize>| {
        let size = (1.0 / (1 << d) as f64).sqrt();
        let sign = |v: usize| bit.is_some_and(|b| v & (1 << b) != 0);
        let inside = |i: usize| i.checked_sub(offset).filter(|v| *v < 1 << d);
        (0..n).map(|i| inside(i).map_or(0.0, |v| if sign(v) { -size } else { size })).collect::<Vec<f64>>()
    };
    let q10 = symmetric(c, 1024, &edges(cube(10)));
    let signs: Vec<_> = (0..10).map(|b| walsh(10, 0, 1024, Some(b))).collect();
    let options = Options { count: 12, basis: 40, ..Options::default() };
    for options in [options, Options { block: 4, verify: Verify::On, ..options }] {
        let pairs = solve(c, &q10, Kind::Matrix, &options);
        within(&[walsh(10, 0, 1024, None)], &pairs, 0..1, 2.0, "10 of Q10");
        within(&signs, &pairs, 1..11, 2.0, "8 of Q10");
    }
    let a = three_cubes(c);
    let tops: Vec<_> = (0..3).map(|g| walsh(8, 256 * g, 768, None)).collect();
    let seconds: Vec<_> = (0..24).map(|k| walsh(8, 256 * (k / 8), 768, Some(k % 8))).collect();
    let options = Options { count: 27, tolerance: 1e-12, verify: Verify::On, ..Options::default() };
    for block in [1, 4] {
        let pairs = solve(c, &a, Kind::Matrix, &Options { block, ..options });
        within(&tops, &pairs, 0..3, 1.9, "three tops");
        within(&seconds, &pairs, 3..27, 1.9, "three seconds");
    }
    // Cosine and sine of a cycle; the next value is 2 cos(4 pi / n).
    let n = 200;
    let cycle = symmetric(c, n, &edges((0..n).map(|i| (i, (i + 1) % n))));
    let angle = 2.0 * std::f64::consts::PI / n as f64;
    let waves = [0.0, std::f64::consts::FRAC_PI_2].map(|phase: f64| {
        (0..n).map(|i| (2.0 / n as f64).sqrt() * (angle * i as f64 + phase).cos()).collect::<Vec<f64>>()
    });
    let options = Options { count: 3, basis: 60, tolerance: 1e-12, verify: Verify::On, ..Options::default() };
    let pairs = solve(c, &cycle, Kind::Matrix, &options);
    within(&waves, &pairs, 1..3, 2.0 * (angle.cos() - (2.0 * angle).cos()), "a cycle");
}

pub(super) fn invariant_spaces_do_not_stop_the_search(c: &Arc<Context>) {
    for sign in [1.0, -1.0] {
        let identity = symmetric(c, 100, &(0..100).map(|i| (i, i, sign)).collect::<Vec<_>>());
        for which in [Which::Largest, Which::Smallest, Which::LargestMagnitude, Which::BothEnds] {
            let found = solve(c, &identity, Kind::Matrix, &Options { which, ..Options::default() });
            near(&found.values, &[sign; 6], 1e-13, "identity");
        }
    }
    let zero = symmetric::<f64>(c, 100, &[]);
    near(&solve(c, &zero, Kind::Matrix, &Options::default()).values, &[0.0; 6], 0.0, "zero");
    let diagonal: Vec<_> = [0.0, 2.0, 3.0, 4.0, 5.0].into_iter().enumerate().map(|(i, v)| (i, i, v)).collect();
    let diagonal = symmetric(c, 5, &diagonal);
    let start = [1.0, 0.0, 0.0, 0.0, 0.0];
    let given = SolveInputs { start: Some(&start[..]), ..SolveInputs::default() };
    let three = Options { count: 3, ..Options::default() };
    let pairs = solve_with(c, &diagonal, Kind::Matrix, &three, &given).unwrap();
    near(&pairs.values, &[5.0, 4.0, 3.0], 1e-13, "diagonal");
    let wide: Vec<_> = (0..200).map(|i| (i, i, f64::from(u32::try_from(i).unwrap()))).collect();
    let wide = symmetric(c, 200, &wide);
    let mut start = vec![0.0; 200];
    start[3] = 1.0;
    let given = SolveInputs { start: Some(&start[..]), ..SolveInputs::default() };
    let pairs = solve_with(c, &wide, Kind::Matrix, &three, &given).unwrap();
    near(&pairs.values, &[199.0, 198.0, 197.0], 1e-8, "from an eigenvector");
    for n in 1..5 {
        let small = symmetric(c, n, &(0..n).map(|i| (i, i, i as f64)).collect::<Vec<_>>());
        let all = solve(c, &small, Kind::Matrix, &Options { count: n, ..Options::default() });
        near(&all.values, &(0..n).rev().map(|i| i as f64).collect::<Vec<_>>(), 1e-13, "small");
    }
}

#[test]
fn tridiagonal_matrices_have_their_closed_forms() {
    for m in [1usize, 2, 3, 50, 400] {
        let found = ends(&vec![2.0; m], &vec![-1.0; m - 1], &mut || Ok(())).unwrap();
        let order = (m + 1) as f64;
        for j in 1..=m {
            let angle = std::f64::consts::PI * j as f64 / order;
            assert!((found.values[j - 1] - (2.0 - 2.0 * angle.cos())).abs() < 1e-13);
            let component = (2.0 / order).sqrt() * angle.sin();
            assert!((found.first[j - 1].abs() - component.abs()).abs() < 1e-12);
            assert!((found.last[j - 1].abs() - component.abs()).abs() < 1e-12);
        }
    }
    let quiet = &mut || Ok(());
    assert!(ends(&[1.0, f64::NAN], &[0.0], quiet).is_err() && ends(&[1.0], &[0.0], quiet).is_err());
    assert!(ends(&[], &[], quiet).unwrap().values.is_empty());
    // A long solve is cancelled in the middle.
    let mut left = 3;
    let stop = &mut || {
        left -= 1;
        if left == 0 { Err(Error::Cancelled) } else { Ok(()) }
    };
    assert_eq!(ends(&[2.0; 400], &[-1.0; 399], stop), Err(Error::Cancelled));
}
