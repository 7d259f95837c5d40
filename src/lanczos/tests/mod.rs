mod edges;
mod methods;
mod operators;
pub(super) mod orders;
mod recorded;
mod singular;

use std::sync::Arc;

use super::algorithm::cullum::filter;
use super::operator::{Kind, Symmetric};
use super::solve::{Given, eigenpairs, tridiagonalise};
use super::tridiagonal::ends;
use super::*;
use crate::backend::memory::HostMemory;
use crate::context::Context;
use crate::error::Error;
use crate::matrix::sparse::{Coordinates, Duplicates, Indices, from_coordinates};
use crate::matrix::{Matrix, Operator};
use crate::progress::Progress;
use crate::scalar::{Complex, Real, Scalar};
use crate::spmv::tests::{cpu, golden, recorded};

/// A symmetric matrix from entries; those off the diagonal stand for their mirror images too.
pub(crate) fn symmetric<T: Scalar>(c: &Arc<Context>, n: usize, entries: &[(usize, usize, T)]) -> Matrix {
    let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
    for &(i, j, v) in entries {
        rows.push(i as i64);
        cols.push(j as i64);
        values.push(v);
        if i != j {
            rows.push(j as i64);
            cols.push(i as i64);
            values.push(v.conjugate());
        }
    }
    let mut held = HostMemory::allocate("test", size_of_val(&values[..]), c.host_budget()).unwrap();
    held.as_mut_slice::<T>().unwrap().copy_from_slice(&values);
    let from = Coordinates {
        rows: n,
        cols: n,
        row_idx: Indices::I64(&rows),
        col_idx: Indices::I64(&cols),
        base: 0,
        dtype: T::DTYPE,
        values: Some(&held),
    };
    from_coordinates(c, &from, Duplicates::Sum).unwrap()
}

pub(crate) fn edges(list: impl IntoIterator<Item = (usize, usize)>) -> Vec<(usize, usize, f64)> {
    list.into_iter().map(|(i, j)| (i, j, 1.0)).collect()
}

fn solve_with<T: Scalar>(
    c: &Arc<Context>,
    a: &Matrix,
    kind: Kind,
    options: &Options,
    given: &Given<'_, T>,
) -> crate::error::Result<Pairs<T>> {
    let mut operator = Symmetric::new(c, a, kind, 0.0)?;
    let pairs = eigenpairs(c, &mut operator, options, given, &Progress::none())?;
    let n = a.rows();
    let k = pairs.values.len();
    // Orthonormal, and what the residuals say.
    let eps = T::Part::EPSILON.to_f64();
    for i in 0..k {
        let x = &pairs.vectors[i * n..(i + 1) * n];
        for j in 0..=i {
            let z = &pairs.vectors[j * n..(j + 1) * n];
            let dot: Complex<f64> =
                z.iter().zip(x).map(|(z, x)| Complex::new(z.re(), -z.im()) * Complex::new(x.re(), x.im())).sum();
            let want = if i == j { 1.0 } else { 0.0 };
            assert!((dot - want).norm() < 5000.0 * eps, "{i} {j}: {dot}");
        }
    }
    Ok(pairs)
}

fn solve(c: &Arc<Context>, a: &Matrix, kind: Kind, options: &Options) -> Pairs<f64> {
    solve_with(c, a, kind, options, &Given::default()).unwrap()
}

fn near(found: &[f64], want: &[f64], limit: f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}: {found:?}");
    for (f, w) in found.iter().zip(want) {
        assert!((f - w).abs() <= limit, "{what}: {found:?}, not {want:?}");
    }
}

#[test]
fn graphs_have_the_recorded_eigenvalues() {
    let c = cpu(2);
    for name in ["as-caida20071105", "ca-AstroPh-cc", "email-Enron"] {
        let a = golden(&c, name);
        let want = recorded(name, "A_LA");
        let pairs = solve(&c, &a, Kind::Matrix, &Options { count: 10, ..Options::default() });
        let norm = pairs.info.norm;
        assert_eq!((pairs.info.reason, pairs.info.converged), (Reason::Converged, 10));
        near(&pairs.values, &want[..10], 1e-10 * norm, name);
        // Restarts that keep more than is wanted: ARPACK takes 86 to 125 products here.
        assert!(pairs.info.products <= 130, "{name}: {} products", pairs.info.products);
        assert!(pairs.residuals.iter().all(|r| *r <= 2e-10 * norm), "{name}: {:?}", pairs.residuals);
        let tight = Options { count: 10, tolerance: 1e-12, which: Which::Smallest, ..Options::default() };
        let low = solve(&c, &a, Kind::Matrix, &tight);
        near(&low.values, &recorded(name, "A_SA"), 1e-12 * norm, name);
        let both = solve(&c, &a, Kind::Matrix, &Options { count: 5, which: Which::BothEnds, ..Options::default() });
        let low = recorded(name, "A_SA");
        near(&both.values, &[want[0], want[1], want[2], low[1], low[0]], 1e-10 * norm, name);
        let mut far: Vec<f64> = want.iter().chain(&low).copied().collect();
        far.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
        let magnitude = solve(&c, &a, Kind::Matrix, &Options { which: Which::LargestMagnitude, ..Options::default() });
        near(&magnitude.values, &far[..6], 1e-10 * norm, name);
    }
}

#[test]
fn laplacians_are_those_of_the_graph() {
    let c = cpu(2);
    let name = "as-caida20071105";
    let a = golden(&c, name);
    let options = Options { count: 8, ..Options::default() };
    near(&solve(&c, &a, Kind::Laplacian, &options).values, &recorded(name, "L_LA")[..8], 1e-9 * 2629.0, "L");
    let s = recorded(name, "N_LA_largest_cc");
    near(&solve(&c, &a, Kind::NormalisedAdjacency, &options).values, &s[..8], 1e-10, "S");
    let low = Options { which: Which::Smallest, ..options };
    let n: Vec<f64> = s[..8].iter().map(|v| 1.0 - v).collect();
    near(&solve(&c, &a, Kind::NormalisedLaplacian, &low).values, &n, 1e-10, "N");
    let stiff = golden(&c, "bcsstk13");
    let top = solve(&c, &stiff, Kind::Matrix, &options);
    near(&top.values, &recorded("bcsstk13", "A_LA")[..8], 1e-10 * top.info.norm, "bcsstk13");
}

/// Path, star, complete graph, cycle and grid, whose eigenvalues are known.
#[test]
fn closed_forms_are_met() {
    let c = cpu(2);
    let pi = std::f64::consts::PI;
    let n = 300;
    let path = symmetric(&c, n, &edges((1..n).map(|i| (i - 1, i))));
    let low = Options { count: 5, which: Which::Smallest, basis: 60, ..Options::default() };
    let want: Vec<f64> = (0..5).map(|j| 2.0 - 2.0 * (pi * f64::from(j) / n as f64).cos()).collect();
    near(&solve(&c, &path, Kind::Laplacian, &low).values, &want, 1e-10 * 4.0, "path");
    let star = symmetric(&c, 1001, &edges((1..1001).map(|i| (0, i))));
    let both = Options { count: 2, which: Which::BothEnds, ..Options::default() };
    near(&solve(&c, &star, Kind::Matrix, &both).values, &[1000f64.sqrt(), -(1000f64.sqrt())], 1e-10 * 32.0, "star");
    let complete = symmetric(&c, 50, &edges((0..50).flat_map(|i| (0..i).map(move |j| (i, j)))));
    let all = solve(&c, &complete, Kind::Matrix, &Options { count: 50, ..Options::default() });
    let want: Vec<f64> = (0..50).map(|i| if i == 0 { 49.0 } else { -1.0 }).collect();
    near(&all.values, &want, 1e-12 * 49.0, "complete");
    assert_eq!(all.info.reason, Reason::Exhausted);
    let cycle = symmetric(&c, 100, &edges((0..100).map(|i| (i, (i + 1) % 100))));
    let low = Options { count: 5, which: Which::Smallest, ..Options::default() };
    let one = |j: f64| 1.0 - (2.0 * pi * j / 100.0).cos();
    let want = [one(0.0), one(1.0), one(1.0), one(2.0), one(2.0)];
    near(&solve(&c, &cycle, Kind::NormalisedLaplacian, &low).values, &want, 1e-10, "cycle");
}

#[test]
fn every_copy_of_a_multiple_eigenvalue_is_found() {
    let c = cpu(2);
    // The hypercube Q10: 10, then 8 ten times, then 6.
    let cube = symmetric(
        &c,
        1024,
        &edges((0..1024).flat_map(|v| (0..10).filter(move |b| v & (1 << b) != 0).map(move |b| (v, v ^ (1 << b))))),
    );
    let mut want = vec![10.0];
    want.extend([8.0; 10]);
    want.push(6.0);
    for seed in 0..3 {
        let pairs = solve(&c, &cube, Kind::Matrix, &Options { count: 12, basis: 40, seed, ..Options::default() });
        near(&pairs.values, &want, 1e-9 * 10.0, "Q10");
        assert!(pairs.info.recovered > 0);
    }
    let low = Options { count: 12, basis: 40, which: Which::Smallest, ..Options::default() };
    let mirrored: Vec<f64> = want.iter().map(|v| -v).collect();
    near(&solve(&c, &cube, Kind::Matrix, &low).values, &mirrored, 1e-9 * 10.0, "-Q10");
    // Three copies of a graph, side by side.
    let ring: Vec<_> = (0..400).map(|i| (i, (i * i + 1) % 400)).filter(|(i, j)| i != j).collect();
    let three = edges((0..3).flat_map(|g| ring.iter().map(move |(i, j)| (i + 400 * g, j + 400 * g))));
    let three = symmetric(&c, 1200, &three);
    let one = symmetric(&c, 400, &edges(ring.iter().copied()));
    let single = solve(&c, &one, Kind::Matrix, &Options { count: 2, verify: Verify::On, ..Options::default() });
    let want = [[single.values[0]; 3], [single.values[1]; 3]].concat();
    let tripled = solve(&c, &three, Kind::Matrix, &Options { verify: Verify::On, ..Options::default() });
    near(&tripled.values, &want, 1e-9 * tripled.info.norm, "three copies");
    // Without the check, copies are missed: else the check would prove nothing.
    let blind =
        solve(&c, &cube, Kind::Matrix, &Options { count: 12, basis: 40, verify: Verify::Off, ..Options::default() });
    assert!(blind.values.iter().filter(|v| (**v - 8.0).abs() < 1e-6).count() < 10);
}

#[test]
fn invariant_spaces_do_not_stop_the_search() {
    let c = cpu(1);
    let identity = symmetric(&c, 100, &(0..100).map(|i| (i, i, 1.0)).collect::<Vec<_>>());
    near(&solve(&c, &identity, Kind::Matrix, &Options::default()).values, &[1.0; 6], 1e-13, "identity");
    let zero = symmetric::<f64>(&c, 100, &[]);
    near(&solve(&c, &zero, Kind::Matrix, &Options::default()).values, &[0.0; 6], 0.0, "zero");
    let diagonal: Vec<_> = [0.0, 2.0, 3.0, 4.0, 5.0].into_iter().enumerate().map(|(i, v)| (i, i, v)).collect();
    let diagonal = symmetric(&c, 5, &diagonal);
    let start = [1.0, 0.0, 0.0, 0.0, 0.0];
    let given = Given { start: Some(&start[..]), ..Given::default() };
    let three = Options { count: 3, ..Options::default() };
    let pairs = solve_with(&c, &diagonal, Kind::Matrix, &three, &given).unwrap();
    near(&pairs.values, &[5.0, 4.0, 3.0], 1e-13, "diagonal");
    let wide: Vec<_> = (0..200).map(|i| (i, i, f64::from(u32::try_from(i).unwrap()))).collect();
    let wide = symmetric(&c, 200, &wide);
    let mut start = vec![0.0; 200];
    start[3] = 1.0;
    let given = Given { start: Some(&start[..]), ..Given::default() };
    let pairs = solve_with(&c, &wide, Kind::Matrix, &three, &given).unwrap();
    near(&pairs.values, &[199.0, 198.0, 197.0], 1e-8, "from an eigenvector");
    for n in 1..5 {
        let small = symmetric(&c, n, &(0..n).map(|i| (i, i, i as f64)).collect::<Vec<_>>());
        let all = solve(&c, &small, Kind::Matrix, &Options { count: n, ..Options::default() });
        near(&all.values, &(0..n).rev().map(|i| i as f64).collect::<Vec<_>>(), 1e-13, "small");
    }
}

#[test]
fn known_vectors_are_kept_out() {
    let c = cpu(1);
    let a = golden(&c, "as-caida20071105");
    let first = solve(&c, &a, Kind::Matrix, &Options { count: 3, ..Options::default() });
    let given = Given { deflate: &first.vectors[..], ..Given::default() };
    let rest = solve_with(&c, &a, Kind::Matrix, &Options { count: 3, ..Options::default() }, &given).unwrap();
    near(&rest.values, &recorded("as-caida20071105", "A_LA")[3..6], 1e-9 * 70.0, "deflated");
    let twice = [&first.vectors[..a.rows()], &first.vectors[..a.rows()]].concat();
    let given = Given { deflate: &twice[..], ..Given::default() };
    let e = solve_with(&c, &a, Kind::Matrix, &Options::default(), &given).unwrap_err().to_string();
    assert_eq!(e, "deflate: vector 1 depends on the vectors before it");
}

#[test]
fn hermitian_matrices_and_single_precision() {
    let c = cpu(2);
    // A ring with a magnetic flux: 2 cos(2 pi (j + phi) / n).
    let (n, phi) = (90usize, 0.3);
    let turn = |k: usize| {
        let angle = 2.0 * std::f64::consts::PI * phi / n as f64;
        let _ = k;
        Complex::new(angle.cos(), angle.sin())
    };
    let ring: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, turn(i))).collect();
    let a = symmetric(&c, n, &ring);
    let options = Options { count: 4, ..Options::default() };
    let pairs = solve_with::<Complex<f64>>(&c, &a, Kind::Matrix, &options, &Given::default()).unwrap();
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
    let low = solve_with::<f32>(&c, &symmetric(&c, 2000, &single), Kind::Matrix, &options, &Given::default()).unwrap();
    let high = solve(&c, &symmetric(&c, 2000, &double), Kind::Matrix, &options);
    near(&low.values, &high.values, 1e-5 * high.info.norm, "f32");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let bits = |threads: usize| {
        let c = cpu(threads);
        let pairs = solve(&c, &golden(&c, "4elt"), Kind::Matrix, &Options::default());
        pairs.vectors.iter().chain(&pairs.values).map(|v| v.to_bits()).collect::<Vec<_>>()
    };
    assert!(bits(1) == bits(3));
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
        y.iter_mut().zip(x).zip(&self.0).for_each(|((y, x), d)| *y = d * x);
        Ok(())
    }
}

#[test]
fn operators_of_the_caller_are_used_and_their_errors_passed_on() {
    let c = cpu(1);
    let a = |n: usize| Matrix::from_operator(&c, Box::new(Diagonal((0..n).map(|i| i as f64).collect(), 0)));
    let top = solve(&c, &a(30), Kind::Matrix, &Options { count: 2, ..Options::default() });
    near(&top.values, &[29.0, 28.0], 1e-12, "own");
    let e = solve_with::<f64>(&c, &a(500), Kind::Matrix, &Options::default(), &Given::default()).unwrap_err();
    assert!(matches!(e, Error::Io { .. }));
    assert!(Symmetric::<f64>::new(&c, &a(3), Kind::Laplacian, 0.0).is_err());
}

#[test]
fn arguments_are_checked_and_named() {
    let c = cpu(1);
    let a = symmetric(&c, 100, &edges((1..100).map(|i| (i - 1, i))));
    let wrong = |o: Options| solve_with::<f64>(&c, &a, Kind::Matrix, &o, &Given::default()).unwrap_err().to_string();
    let plain = Options::default();
    assert_eq!(wrong(Options { count: 0, ..plain }), "count: is 0, outside 1 to n = 100");
    assert_eq!(wrong(Options { count: 101, ..plain }), "count: is 101, outside 1 to n = 100");
    assert_eq!(wrong(Options { basis: 6, ..plain }), "basis: is 6, outside count + 1 = 7 to 100");
    assert_eq!(wrong(Options { tolerance: -1.0, ..plain }), "tolerance: is -1, outside 0 to 1");
    let given = |start: &[f64]| {
        let given = Given { start: Some(start), ..Given::default() };
        solve_with(&c, &a, Kind::Matrix, &plain, &given).unwrap_err().to_string()
    };
    assert_eq!(given(&[0.0; 100]), "start: vector 0 is 0");
    assert_eq!(given(&[f64::NAN; 100]), "start: element 0 is not finite");
    assert_eq!(given(&[1.0; 99]), "start: has 99 elements, 100 are needed");
    let skew = symmetric(&c, 2, &[(0, 0, 1.0)]);
    assert!(Symmetric::<f64>::new(&c, &skew, Kind::Matrix, f64::NAN).is_err());
    let nan = symmetric(&c, 100, &[(0, 0, f64::NAN)]);
    assert!(Symmetric::<f64>::new(&c, &nan, Kind::Matrix, 0.0).is_err());
    let negative = symmetric(&c, 2, &[(0, 1, -1.0)]);
    let e = Symmetric::<f64>::new(&c, &negative, Kind::NormalisedLaplacian, 0.0).map(|_| ()).unwrap_err();
    assert!(e.to_string().contains("row sum -1 in row 0"), "{e}");
}

#[test]
fn isolated_vertices_add_zeros_to_the_normalised_laplacian() {
    let c = cpu(1);
    let a = symmetric(&c, 7, &edges([(0, 1), (2, 3), (3, 4)]));
    let all =
        solve(&c, &a, Kind::NormalisedLaplacian, &Options { count: 7, which: Which::Smallest, ..Options::default() });
    // Four components: two edges, and two vertices alone.
    assert_eq!(all.values.iter().filter(|v| v.abs() < 1e-12).count(), 4);
    near(&all.values[4..], &[1.0, 2.0, 2.0], 1e-12, "the rest");
}

#[test]
fn runs_that_are_cut_short_return_what_converged() {
    let c = cpu(1);
    let a = golden(&c, "4elt");
    let options = Options { count: 6, which: Which::Smallest, restarts: 3, ..Options::default() };
    let pairs = solve(&c, &a, Kind::Laplacian, &options);
    assert_eq!((pairs.info.reason, pairs.values.len(), pairs.info.restarts), (Reason::Restarts, 6, 3));
    assert!(pairs.info.converged < 6);
    let mut operator = Symmetric::<f64>::new(&c, &a, Kind::Laplacian, 0.0).unwrap();
    let stop = |_: i64, _: i64, _: f64| false;
    let progress = c.progress(Some(&stop));
    let e = eigenpairs(&c, &mut operator, &options, &Given::default(), &progress).unwrap_err();
    assert_eq!(e, Error::Cancelled);
}

#[test]
fn tridiagonal_matrices_have_their_closed_forms() {
    for m in [1usize, 2, 3, 50, 400] {
        let found = ends(&vec![2.0; m], &vec![-1.0; m - 1]).unwrap();
        let order = (m + 1) as f64;
        for j in 1..=m {
            let angle = std::f64::consts::PI * j as f64 / order;
            assert!((found.values[j - 1] - (2.0 - 2.0 * angle.cos())).abs() < 1e-13);
            let component = (2.0 / order).sqrt() * angle.sin();
            assert!((found.first[j - 1].abs() - component.abs()).abs() < 1e-12);
            assert!((found.last[j - 1].abs() - component.abs()).abs() < 1e-12);
        }
    }
    assert!(ends(&[1.0, f64::NAN], &[0.0]).is_err() && ends(&[1.0], &[0.0]).is_err());
    assert!(ends(&[], &[]).unwrap().values.is_empty());
}

#[test]
fn the_plain_recurrence_accepts_nothing_that_is_no_eigenvalue() {
    let c = cpu(2);
    for name in ["as-caida20071105", "ca-AstroPh-cc", "email-Enron"] {
        let a = golden(&c, name);
        let want = recorded(name, "A_LA");
        // One long run, and twenty of 63 steps.
        for seed in 0..=20 {
            let mut operator = Symmetric::<f64>::new(&c, &a, Kind::Matrix, 0.0).unwrap();
            let steps = if seed == 0 { 200 } else { 63 };
            let of = tridiagonalise(&c, &mut operator, steps, seed, None, &Progress::none()).unwrap();
            assert_eq!(of.alpha.len(), steps);
            let accepted = filter(&of, 1e-12, 1e-6).unwrap();
            let top: Vec<_> = accepted.iter().filter(|v| v.value >= want[19] - 1e-6).collect();
            for v in &top {
                let off = want.iter().map(|w| (w - v.value).abs()).fold(f64::MAX, f64::min);
                assert!(off <= 1e-6 * want[0], "{name} seed {seed}: {} is no eigenvalue", v.value);
            }
            // The table of the reference: 6 to 9 of them after 63 steps, all 20 after 200.
            assert!(top.len() >= if steps == 200 { 20 } else { 4 }, "{name} seed {seed}: {} values", top.len());
            if steps == 200 {
                assert!(top.last().unwrap().copies > 1, "no copies: the test has not been needed");
                let values: Vec<f64> = top.iter().rev().map(|v| v.value).collect();
                near(&values, &want, 1e-13 * want[0], name);
            }
        }
    }
}
