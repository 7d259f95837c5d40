//! Graphs of images in the solver: operators that are not formed against those of the formed matrix, and eigenvalues.

use std::sync::Arc;

use super::PHOTOGRAPH;
use crate::context::Context;
use crate::graph::bisect::{Cut, bisect};
use crate::graph::image::{Weights, image_graph};
use crate::graph::stencil::{image_adjacency, image_operator};
use crate::lanczos::cpu::CpuKrylov;
use crate::lanczos::cycles::Columns;
use crate::lanczos::gpu::GpuKrylov;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::ops::Affine;
use crate::lanczos::solve::{SolveInputs, eigenpairs};
use crate::lanczos::{Filter, Options, Pairs, Which};
use crate::matrix::Storage;
use crate::matrix::sparse::row_sums;
use crate::progress::Progress;
use crate::testing::sparse::{cpu, from_entries, gpu, photograph, recorded};

fn solve(c: &Arc<Context>, operator: &mut Symmetric<'_, f64>, options: &Options) -> Pairs<f64> {
    eigenpairs(c, operator, options, &SolveInputs::default(), &Progress::none()).unwrap()
}

fn noise(k: usize) -> f64 {
    let x = (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d;
    ((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24) - 0.5
}

/// Products, affine ones and those with blocks, of two operators whose entries are at most a few. y holds NaN if it must
/// not be read.
fn are_alike(a: &mut Symmetric<'_, f64>, b: &mut Symmetric<'_, f64>, what: &str) {
    let n = a.order();
    let numbers = |count: usize, seed: usize| (0..count).map(|k| noise(seed + k)).collect::<Vec<f64>>();
    let near = |a: &[f64], b: &[f64], how: &str| {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            assert!((a - b).abs() <= 400.0 * f64::EPSILON * n as f64, "{what}, {how}, number {i}: {a} and {b}");
        }
    };
    let (mut y, mut z) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    a.apply(&numbers(n, 3), &mut y).unwrap();
    b.apply(&numbers(n, 3), &mut z).unwrap();
    near(&y, &z, "apply");
    let affine = Affine { scale: -1.5, center: 0.75, keep: 0.5 };
    (y, z) = (numbers(n, 11), numbers(n, 11));
    a.affine(affine, &numbers(n, 3), &mut y).unwrap();
    b.affine(affine, &numbers(n, 3), &mut z).unwrap();
    near(&y, &z, "affine");
    (y, z) = (vec![f64::NAN; 3 * n], vec![f64::NAN; 3 * n]);
    a.apply_block(&numbers(3 * n, 5), 3, &mut y).unwrap();
    b.apply_block(&numbers(3 * n, 5), 3, &mut z).unwrap();
    near(&y, &z, "block");
}

#[test]
fn images_have_the_operators_of_their_graphs() {
    let c = cpu(3);
    let usual = [(1, 1, 1.0), (1, 9, 1.0), (9, 1, 1.5), (13, 7, 1.0), (11, 17, 1.5), (8, 6, 3.2)];
    // Neighbours at distances larger than the width of the image.
    let narrow = [(9, 1, 2.0), (1, 4, 6.5), (5, 2, 4.0)];
    for (height, width, radius) in usual.into_iter().chain(narrow) {
        let pixels: Vec<f64> = (0..height * width).map(|k| noise(3 * k)).collect();
        let weights = Weights { radius, intensity: 0.4, distance: 2.0, floor: 1e-3 };
        let graph = image_graph(&c, &pixels, height, width, weights).unwrap();
        for kind in [Kind::Matrix, Kind::Laplacian, Kind::NormalizedAdjacency, Kind::NormalizedLaplacian] {
            let what = format!("{height} x {width}, radius {radius}, {kind:?}");
            let mut by_matrix = Symmetric::<f64>::new(&c, &graph, kind, 0.0).unwrap();
            let mut by_pixels = image_operator::<f64>(&c, &pixels, (height, width), weights, kind, 0.0).unwrap();
            are_alike(&mut by_matrix, &mut by_pixels, &what);
            // Also as a matrix that is known only by its products.
            let unformed = image_adjacency(&c, &pixels, (height, width), weights).unwrap();
            let mut by_products = Symmetric::<f64>::new(&c, &unformed, kind, 0.0).unwrap();
            are_alike(&mut by_matrix, &mut by_products, &format!("{what}, a matrix"));
        }
    }
    let weights = Weights { radius: 1.0, intensity: 0.4, distance: 2.0, floor: 0.0 };
    let refused = image_operator::<f64>(&c, &[0.0; 5], (2, 3), weights, Kind::Matrix, 0.0).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "pixels: has 5 elements for an image of 2 x 3");
    assert!(image_operator::<f64>(&c, &[0.0; 6], (2, 3), weights, Kind::Gram, 0.0).is_err());
}

pub(super) fn an_image_is_solved_from_its_pixels(c: &Arc<Context>) {
    let (height, width) = (60, 80);
    let pixels: Vec<f64> =
        (0..height * width).map(|k| f64::from(u8::from((k % width) > 40)) + 0.02 * ((k * 7919 % 13) as f64)).collect();
    let weights = Weights { radius: 1.0, intensity: 0.1, distance: f64::INFINITY, floor: 1e-6 };
    let mut operator =
        image_operator::<f64>(c, &pixels, (height, width), weights, Kind::NormalizedAdjacency, 0.0).unwrap();
    let options = Options { count: 2, filter: Filter::Chebyshev, tolerance: 1e-8, ..Options::default() };
    let pairs = solve(c, &mut operator, &options);
    assert_eq!(pairs.info.converged, 2, "{:?}", pairs.info);
    // The second vector separates the two halves.
    let second = &pairs.vectors[height * width..];
    let side = |k: usize| second[k] > 0.0;
    assert!((0..height * width).all(|k| side(k) == (side(0) == ((k % width) <= 40))));
}

pub(super) fn the_photograph_has_the_recorded_eigenvalues(c: &Arc<Context>) {
    let (pixels, height, width) = photograph();
    let formed = image_graph(c, &pixels, height, width, PHOTOGRAPH).unwrap();
    let Storage::Csr(csr) = formed.storage() else { panic!("not sparse") };
    assert_eq!(csr.nnz() as f64, recorded("image_china.jpg", "nnz")[0]);
    let sum: f64 = row_sums(&formed).unwrap().iter().map(|d| d.re).sum();
    let total = recorded("image_china.jpg", "sum_weights")[0];
    assert!((sum - total).abs() < 1e-12 * total, "{sum}, not {total}");
    let want = recorded("image_china.jpg", "Nlap_smallest8");
    let options =
        Options { count: 8, which: Which::Smallest, filter: Filter::Chebyshev, tolerance: 1e-9, ..Options::default() };
    let unformed = image_adjacency(c, &pixels, (height, width), PHOTOGRAPH).unwrap();
    for a in [&formed, &unformed] {
        let mut operator = Symmetric::<f64>::new(c, a, Kind::NormalizedLaplacian, 0.0).unwrap();
        let found = solve(c, &mut operator, &options);
        assert_eq!(found.info.converged, 8, "{:?}", found.info);
        // The error of a value is the square of its residual over the distance to the next one, plus rounding errors.
        for (value, want) in found.values.iter().zip(&want) {
            assert!((value - want).abs() <= 1e-11, "{:?}, not {want}", found.values);
        }
        // The vectors are orthonormal and have small residuals.
        let n = height * width;
        let mut y = vec![0.0; n];
        for (i, (x, value)) in found.vectors.chunks_exact(n).zip(&found.values).enumerate() {
            operator.apply(x, &mut y).unwrap();
            let residual = y.iter().zip(x).map(|(y, x)| (y - value * x).powi(2)).sum::<f64>().sqrt();
            assert!((residual - found.residuals[i]).abs() <= 1e-12 && residual <= 1e-8, "pair {i}: {residual}");
            for (j, z) in found.vectors.chunks_exact(n).take(i + 1).enumerate() {
                let dot: f64 = x.iter().zip(z).map(|(x, z)| x * z).sum();
                assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-11, "{i} {j}: {dot}");
            }
        }
        // The sign of the second vector is arbitrary: compare the smaller side.
        let second = &found.vectors[n..2 * n];
        let positive = second.iter().filter(|v| **v > 0.0).count();
        let few = recorded("image_china.jpg", "ncut_vec2_positive_pixels")[0];
        assert_eq!(positive.min(n - positive) as f64, few);
    }
}

#[test]
fn entries_that_round_to_nothing_may_lack_their_mirror_image() {
    let (c, n) = (cpu(2), 90);
    let path: Vec<_> = (1..n).flat_map(|i| [(i - 1, i, 1.0), (i, i - 1, 1.0)]).collect();
    for value in [0.0, 1e-300, 1e-20, -1e-16, 1e-9] {
        // Before and after all entries of a row, between them, and in a corner.
        for one in [vec![(0, 50)], vec![(50, 0)], vec![(7, 3), (3, 60), (60, 70)], vec![(n - 1, 0)], vec![(0, n - 1)]] {
            let more = one.iter().map(|&(i, j)| (i, j, value));
            let a = from_entries(&c, (n, n), &path.iter().copied().chain(more).collect::<Vec<_>>());
            let sides = bisect(&a, &vec![1.0; n], Cut::Median);
            assert!(sides.is_ok(), "{value} {one:?}: {:?}", sides.err());
        }
    }
}

/// Products with the graph of an image run where the vectors are.
#[test]
#[ignore = "needs a GPU"]
fn images_are_those_of_the_host() {
    let (on_gpu, on_cpu) = (gpu(), cpu(2));
    for ((height, width), radius) in [((1, 9), 2.0), ((9, 1), 2.0), ((7, 5), 1.5), ((33, 70), 3.0), ((107, 160), 5.0)] {
        let n = height * width;
        let pixels: Vec<f64> = (0..n).map(|i| ((i * 37 + i * i) % 101) as f64 / 101.0).collect();
        let weights = Weights { radius, intensity: 0.4, distance: 2.0, floor: 0.0 };
        let a = image_adjacency(&on_gpu, &pixels, (height, width), weights).unwrap();
        let b = image_adjacency(&on_cpu, &pixels, (height, width), weights).unwrap();
        for kind in [Kind::Matrix, Kind::Laplacian, Kind::NormalizedLaplacian, Kind::Modularity] {
            let mut op_a = Symmetric::<f64>::new(&on_gpu, &a, kind, 0.25).unwrap();
            let mut op_b = Symmetric::<f64>::new(&on_cpu, &b, kind, 0.25).unwrap();
            assert!(!op_a.is_on_host().unwrap() && op_b.is_on_host().unwrap());
            let mut device = GpuKrylov::new(&on_gpu, &mut op_a, None, 3).unwrap();
            let mut host = CpuKrylov::new(&on_cpu, &mut op_b, None, 3).unwrap();
            let (mut got, mut want) = (vec![f64::NAN; n], vec![0.0; n]);
            let backends: [(&mut Columns<'_, f64>, &mut [f64]); 2] = [(&mut device, &mut got), (&mut host, &mut want)];
            for (krylov, out) in backends {
                (0..2).for_each(|j| krylov.random(3, j, j as usize).unwrap());
                krylov.affine(Affine { scale: -0.5, center: 1.5, keep: 2.0 }, 0, 1).unwrap();
                krylov.read(1, out).unwrap();
            }
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                assert!((got - want).abs() <= 1e-12, "{height} x {width}, {kind:?}, number {i}: {got} and {want}");
            }
        }
    }
}
