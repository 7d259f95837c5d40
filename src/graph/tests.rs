mod cancelled;
mod degrees;
mod lanczos;
mod products;

use std::sync::Arc;

use lanczos::{an_image_is_solved_from_its_pixels, the_photograph_has_the_recorded_eigenvalues};

use super::bisect::{Cut, bisect, fiedler};
use super::cluster::{k_means, pivoted_qr};
use super::density::{Density, density};
use super::embed::{Assignment, Scaling, clusters, embed};
use super::image::{Weights, image_graph, image_graph_of};
use super::stencil::{image_adjacency, image_adjacency_of};
use crate::context::Context;
use crate::error::Error;
use crate::group::Group;
use crate::lanczos::operator::{Kind, Symmetric};
use crate::lanczos::shared::shares;
use crate::lanczos::{Method, Options, Verify};
use crate::matrix::sparse::{Norm, Symmetrize, components, is_symmetric, norm, row_sums, symmetrize};
use crate::matrix::{Matrix, Storage};
use crate::progress::Progress;
use crate::testing::sparse::{cpu, from_entries, golden, photograph, recorded};

/// The weights of the graph whose eigenvalues are recorded for the photograph.
const PHOTOGRAPH: Weights = Weights { radius: 1.0, intensity: 0.1, distance: f64::INFINITY, floor: 1e-6 };

/// A test of every check on the CPU, and one on a GPU.
macro_rules! on_both_backends {
    ($($check:ident)+) => {
        mod on_a_cpu {$(
            #[test]
            fn $check() {
                super::$check(&crate::testing::sparse::cpu(2));
            }
        )+}

        mod on_a_gpu {$(
            #[test]
            #[ignore = "needs a GPU"]
            fn $check() {
                super::$check(&crate::testing::sparse::gpu());
            }
        )+}
    };
}

on_both_backends! {
    isolated_vertices_have_zeros_of_their_own
    signed_graphs_are_refused_where_the_second_value_is_below_zero
    weights_below_zero_widen_the_spectrum_of_an_embedding
    densities_report_their_end
    clumps_are_separated_in_every_way
    graph_functions_promise_what_was_verified
    single_precision_separates_clumps
    images_of_single_precision_are_graphs_of_it
    the_mesh_is_cut_where_it_is_known_to_be
    a_sweep_finds_the_weak_edge
    a_graph_of_pixels_need_not_be_formed
    densities_give_traces_and_shares
    an_image_is_solved_from_its_pixels
    the_photograph_has_the_recorded_eigenvalues
}

fn graph(c: &Arc<Context>, n: usize, edges: &[(usize, usize, f64)]) -> Matrix {
    symmetrize(c, &from_entries(c, (n, n), edges), Symmetrize::Mirror).unwrap()
}

/// `groups` dense groups of `size` vertices, a weak edge from each to the next.
fn clumps(c: &Arc<Context>, groups: usize, size: usize) -> Matrix {
    let mut edges = Vec::new();
    for g in 0..groups {
        for i in 0..size {
            for j in 0..i {
                edges.push((g * size + j, g * size + i, 1.0));
            }
        }
        if g > 0 {
            edges.push(((g - 1) * size, g * size, 0.1));
        }
    }
    graph(c, groups * size, &edges)
}

/// Whether labels are equal exactly for vertices of the same group.
fn are_groups(labels: &[usize], size: usize) -> bool {
    (0..labels.len()).all(|i| (0..i).all(|j| (labels[i] == labels[j]) == (i / size == j / size)))
}

fn signed_graphs_are_refused_where_the_second_value_is_below_zero(c: &Arc<Context>) {
    // All row sums are positive, and D - W has the eigenvalue -6.
    let pairs = (0..20).flat_map(|i| (0..i).map(move |j| (i, j)));
    let signed: Vec<_> = pairs.map(|(i, j)| (i, j, if (i, j) == (1, 0) { -12.0 } else { 1.0 })).collect();
    let options = Options::default();
    let e = fiedler(&Group::of(c), &graph(c, 20, &signed), false, &options, &Progress::none()).unwrap_err();
    assert!(e.to_string().starts_with("graph: has weights below 0"), "{e}");
    // Negative weights that make no eigenvalue negative.
    let mild: Vec<_> = signed.iter().map(|&(i, j, w)| (i, j, if w < 0.0 { -1.0 } else { w })).collect();
    let found = fiedler(&Group::of(c), &graph(c, 20, &mild), false, &options, &Progress::none()).unwrap();
    assert!((found.value - 16.0).abs() < 1e-9, "{}", found.value);
    let path: Vec<_> = (1..100).map(|i| (i, i - 1, if i == 1 { -1.0 } else { 1.0 })).collect();
    for (normalized, text) in [(false, "has weights below 0"), (true, "has row sum -1 in row 0")] {
        let e = fiedler(&Group::of(c), &graph(c, 100, &path), normalized, &options, &Progress::none()).unwrap_err();
        assert!(e.to_string().contains(text), "{e}");
    }
    let plain = Options { method: Method::Plain, ..options };
    let e = fiedler(&Group::of(c), &graph(c, 20, &mild), false, &plain, &Progress::none()).unwrap_err();
    assert_eq!(e.to_string(), "method: is PLAIN, which keeps no known vector out: RESTART is needed");
}

fn weights_below_zero_widen_the_spectrum_of_an_embedding(c: &Arc<Context>) {
    let signed = graph(c, 3, &[(0, 1, 2.0), (0, 2, -1.5), (1, 2, 2.0)]);
    let options = Options { count: 3, ..Options::default() };
    let found = embed(&Group::of(c), &signed, &options, Scaling::None, &Progress::none()).unwrap();
    for (value, want) in found.values.iter().zip([-2.0, 0.0, 5.0]) {
        assert!((value - want).abs() < 1e-12, "{:?}", found.values);
    }
    // Vertices 0 and 2 have the largest possible distance.
    let apart = &found.coordinates[..3];
    assert!((apart[0] + apart[2]).abs() < 1e-12 && apart[1].abs() < 1e-12 && apart[0].abs() > 0.7, "{apart:?}");
}

#[test]
fn a_normalized_cut_needs_volumes_above_zero() {
    let c = &cpu(1);
    let edges: Vec<_> = (1..6).map(|i| (i - 1, i, -1.0)).collect();
    let x: Vec<f64> = (0..6).map(f64::from).collect();
    let found = bisect(&graph(c, 6, &edges), &x, Cut::Sweep).unwrap();
    assert_eq!((found.cut, found.normalized_cut), (-1.0, f64::INFINITY));
    assert_eq!(found.sides, [false, false, false, true, true, true]);
}

fn densities_report_their_end(c: &Arc<Context>) {
    let ring: Vec<_> = (0..200).map(|i| (i, (i + 1) % 200, 1.0)).collect();
    let a = graph(c, 200, &ring);
    let seen = std::cell::RefCell::new(Vec::new());
    let report = |step: i64, steps: i64, _: f64| {
        seen.borrow_mut().push((step, steps));
        true
    };
    let progress = Progress::new(c.cancel_epoch(), Some(&report));
    let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, 0.0).unwrap();
    density(c, &mut operator, 20, 3, 0, &progress).unwrap();
    let steps = seen.into_inner();
    assert_eq!((steps[0], steps[steps.len() - 1]), ((0, 60), (60, 60)), "{steps:?}");
    assert!(steps.is_sorted());
}

#[test]
fn points_of_every_size_are_separated() {
    let c = cpu(2);
    let at = |i: usize| [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)][i % 3];
    let noise = |i: usize| (i as f64 * 12.9898).sin();
    let points: Vec<f64> =
        (0..120).map(|i| at(i).0 + noise(i)).chain((0..120).map(|i| at(i).1 + noise(i + 500))).collect();
    let plain = k_means(&c, &points, 120, 3, 10, 0).unwrap();
    assert!((3..120).all(|i| plain.labels[i] == plain.labels[i % 3]) && plain.labels[0] != plain.labels[1]);
    for scale in [500.0f64, -1000.0] {
        let scaled: Vec<f64> = points.iter().map(|x| x * scale.exp2()).collect();
        let found = k_means(&c, &scaled, 120, 3, 10, 0).unwrap();
        assert_eq!(found.labels, plain.labels);
        assert_eq!(found.inertia, plain.inertia * scale.exp2() * scale.exp2());
    }
    let huge: Vec<f64> = points.iter().map(|x| x * 1e200).collect();
    let e = k_means(&c, &huge, 120, 3, 10, 0).unwrap_err();
    assert!(e.to_string().contains("squared distances to the centres overflows"), "{e}");
}

/// One far point scales the others down until their squared distances underflow.
#[test]
fn a_far_point_hides_no_clusters() {
    let c = cpu(2);
    let mut points: Vec<f64> = (0..40).map(|i| (i % 2 * 50) as f64 + (i as f64 * 12.9898).sin()).collect();
    let near = k_means(&c, &points, 40, 2, 10, 0).unwrap();
    for far in [1e150, 1e200, 1e300, -1e300] {
        points.push(far);
        let found = k_means(&c, &points, 41, 3, 10, 0).unwrap();
        points.pop();
        let of = |k: usize| found.labels[k];
        assert!((0..40).all(|i| of(i) == of(i % 2)) && of(0) != of(1) && of(40) != of(0) && of(40) != of(1), "{far}");
        assert!((found.inertia / near.inertia - 1.0).abs() < 1e-12, "{far}: {} {}", found.inertia, near.inertia);
    }
}

/// The mean of equal points is rounded; their centre is not.
#[test]
fn equal_points_have_no_inertia_at_any_size() {
    let c = cpu(2);
    for x in [0.7, 0.7e150, 0.7e200, 7e299, -7e299] {
        for n in [3, 7, 11] {
            let found = k_means(&c, &vec![x; n], n, 1, 2, 0).unwrap();
            assert_eq!(found.inertia, 0.0, "{n} points of {x:e}");
            // Beside a group of small numbers.
            let points: Vec<f64> = (0..n).map(|_| x).chain([-1e3, -1e3 + 0.5, -1e3 + 1.0]).collect();
            let found = k_means(&c, &points, n + 3, 2, 5, 0).unwrap();
            assert!((found.inertia - 0.5).abs() < 1e-12, "{n} points of {x:e}: {}", found.inertia);
        }
    }
    // In one dimension equal, in the other not.
    let points: Vec<f64> = [7e299; 7].into_iter().chain((0..7).map(f64::from)).collect();
    let found = k_means(&c, &points, 7, 1, 2, 0).unwrap();
    assert!((found.inertia - 28.0).abs() < 1e-12, "{}", found.inertia);
}

/// Numbers that are up to 1e440 apart have clusters; one unit does not hold those that are further apart.
#[test]
fn clusters_beside_the_farthest_point_are_found_or_refused() {
    let c = cpu(2);
    let near = |i: usize| (i % 2 * 50) as f64 + (i as f64 * 12.9898).sin();
    let start = k_means(&c, &(0..40).map(near).collect::<Vec<_>>(), 40, 2, 10, 0).unwrap();
    for (small, far) in [(1e-100, 1e240), (1e-150, 1e280), (1e-20, -1e308), (1e-310, 1e10), (1e-300, 1.0)] {
        let points: Vec<f64> = (0..40).map(|i| small * near(i)).chain([far]).collect();
        let found = k_means(&c, &points, 41, 3, 10, 0).unwrap();
        let of = |k: usize| found.labels[k];
        assert!((0..40).all(|i| of(i) == of(i % 2)) && of(0) != of(1) && of(40) != of(0) && of(40) != of(1), "{far:e}");
        let want = start.inertia * small * small;
        assert!((found.inertia - want).abs() <= 1e-12 * want + 1e-320, "{small:e} {far:e}: {}", found.inertia);
    }
    for (small, far) in [(1e-300, 1e300), (1e-200, -1e290)] {
        let points: Vec<f64> = (0..40).map(|i| small * near(i)).chain([far]).collect();
        let e = k_means(&c, &points, 41, 3, 10, 0).unwrap_err();
        let is_named = e.to_string().contains("points: some that differ are equal beside the largest number");
        assert!(matches!(e, Error::Numerical(_)) && is_named, "{small:e} {far:e}: {e}");
        let all: Vec<f64> = (0..40).map(|_| small).chain([far]).collect();
        let found = k_means(&c, &all, 41, 2, 10, 0).unwrap();
        assert!(found.inertia == 0.0 && found.labels[0] != found.labels[40], "{small:e} {far:e}");
    }
}

#[test]
fn cuts_and_clusters_of_degenerate_input_are_refused() {
    let c = cpu(1);
    let arrows = from_entries(&c, (3, 3), &[(0, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0)]);
    let e = bisect(&arrows, &[0.0, 1.0, 2.0], Cut::Sweep).unwrap_err().to_string();
    assert_eq!(e, "graph: is not symmetric");
    let heavy = graph(&c, 3, &[(0, 1, 1e308), (1, 2, 1e308)]);
    let e = bisect(&heavy, &[0.0, 1.0, 2.0], Cut::Sweep).unwrap_err().to_string();
    assert!(e.contains("overflows"), "{e}");
    let e = pivoted_qr(&c, &[1.0; 30], 10).unwrap_err().to_string();
    assert_eq!(e, "points: have 1 independent columns, 3 are needed");
    let e = pivoted_qr(&c, &[1.0; 6], 2).unwrap_err().to_string();
    assert_eq!(e, "points: have 1 independent columns, 3 are needed");
}

fn isolated_vertices_have_zeros_of_their_own(c: &Arc<Context>) {
    // A path of four and two isolated vertices: three zeros, which the other eigenvalues do not hide by sign or size.
    let a = graph(c, 6, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]);
    let options = Options { count: 4, verify: Verify::On, ..Options::default() };
    let found = embed(&Group::of(c), &a, &options, Scaling::None, &Progress::none()).unwrap();
    // 1 - cos(pi k / 3) of a path of four, whose normalized Laplacian has the values 0, 1/2, 3/2, 2.
    for (value, want) in found.values.iter().zip([0.0, 0.0, 0.0, 0.5]) {
        assert!((value - want).abs() < 1e-12, "{:?}", found.values);
    }
    let second = fiedler(&Group::of(c), &a, true, &Options::default(), &Progress::none()).unwrap();
    assert!(second.value.abs() < 1e-12, "{}", second.value);
}

#[test]
fn several_contexts_find_what_one_does() {
    let c = &cpu(2);
    let a = clumps(c, 4, 30);
    let both = Group::new(vec![Arc::clone(c), cpu(1)]).unwrap();
    let alone = Group::of(c);
    let (options, none) = (Options { count: 4, ..Options::default() }, Progress::none());
    let [one, two] = [&alone, &both].map(|g| embed(g, &a, &options, Scaling::Degrees, &none).unwrap());
    assert!(one.values.iter().zip(&two.values).all(|(a, b)| (a - b).abs() < 1e-12));
    assert_eq!((one.info.shares.contexts, two.info.shares.contexts), (0, 2));
    let labels = clusters(&both, &a, &options, Assignment::KMeans, 10, &none).unwrap().0.unwrap();
    assert!(are_groups(&labels.labels, 30));
    for normalized in [false, true] {
        let [one, two] = [&alone, &both].map(|g| fiedler(g, &a, normalized, &options, &none).unwrap());
        assert!((one.value - two.value).abs() < 1e-10, "{} {}", one.value, two.value);
    }
    // The traffic of a product is known before a solve, and the solve reports the same.
    assert_eq!(shares(&both, &a).unwrap(), two.info.shares);
    let alone = shares(&alone, &a).unwrap();
    assert_eq!((alone.contexts, alone.rows, alone.halo), (1, 120, 0));
    let image = image_adjacency(c, &[0.5; 6], (2, 3), PHOTOGRAPH).unwrap();
    let text = |r: crate::error::Result<()>| r.unwrap_err().to_string();
    let refused = "not supported: a: is an operator, several contexts share the rows of a sparse matrix";
    assert_eq!(text(embed(&both, &image, &options, Scaling::None, &none).map(drop)), refused);
    assert_eq!(text(shares(&both, &image).map(drop)), refused);
    let wide = from_entries(c, (2, 3), &[(0, 1, 1.0)]);
    assert_eq!(text(shares(&both, &wide).map(drop)), "a: is 2 x 3, a square matrix is needed");
}

fn images_of_single_precision_are_graphs_of_it(c: &Arc<Context>) {
    let (height, width) = (7, 9);
    let pixels: Vec<f64> = (0..height * width).map(|k| ((k * 7919 % 13) as f64) / 16.0).collect();
    let wide = image_graph(c, &pixels, height, width, PHOTOGRAPH).unwrap();
    let single = image_graph_of::<f32>(c, &pixels, height, width, PHOTOGRAPH).unwrap();
    let unformed = image_adjacency_of::<f32>(c, &pixels, (height, width), PHOTOGRAPH).unwrap();
    let options = Options { count: 3, ..Options::default() };
    let [a, b, d] = [&wide, &single, &unformed]
        .map(|graph| embed(&Group::of(c), graph, &options, Scaling::None, &Progress::none()).unwrap().values);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5), "{a:?} {b:?}");
    assert!(a.iter().zip(&d).all(|(a, d)| (a - d).abs() < 1e-5), "{a:?} {d:?}");
}

fn single_precision_separates_clumps(c: &Arc<Context>) {
    let (groups, size) = (3, 20);
    let wide = clumps(c, groups, size);
    let n = groups * size;
    let edge = |i: usize, j: usize| if i / size == j / size { 1.0f32 } else { 0.1 };
    let joined =
        |i: usize, j: usize| i != j && (i / size == j / size || (i.is_multiple_of(size) && i.abs_diff(j) == size));
    let entries: Vec<(usize, usize, f32)> =
        (0..n).flat_map(|i| (0..n).filter(move |&j| joined(i, j)).map(move |j| (i, j, edge(i, j)))).collect();
    let single = from_entries(c, (n, n), &entries);
    let options = Options { count: groups, ..Options::default() };
    let [a, b] = [&wide, &single].map(|w| embed(&Group::of(c), w, &options, Scaling::None, &Progress::none()).unwrap());
    assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-5), "{:?} {:?}", a.values, b.values);
    let labels =
        clusters(&Group::of(c), &single, &options, Assignment::PivotedQr, 1, &Progress::none()).unwrap().0.unwrap();
    assert!(are_groups(&labels.labels, size));
    for normalized in [false, true] {
        let [a, b] =
            [&wide, &single].map(|w| fiedler(&Group::of(c), w, normalized, &options, &Progress::none()).unwrap());
        assert!((a.value - b.value).abs() < 1e-4, "{} {}", a.value, b.value);
        let [a, b] = [(&wide, &a), (&single, &b)].map(|(w, f)| bisect(w, &f.vector, Cut::Sweep).unwrap());
        assert!((a.cut - b.cut).abs() < 1e-6, "{} {}", a.cut, b.cut);
    }
}

fn clumps_are_separated_in_every_way(c: &Arc<Context>) {
    let (groups, size) = (4, 30);
    let a = clumps(c, groups, size);
    let n = groups * size;
    let options = Options { count: groups, ..Options::default() };
    for scaling in [Scaling::UnitRows, Scaling::Degrees] {
        let e = embed(&Group::of(c), &a, &options, scaling, &Progress::none()).unwrap();
        assert!(e.values[0].abs() < 1e-12 && e.values.is_sorted() && e.values[groups - 1] < 0.05, "{:?}", e.values);
        let found = k_means(c, &e.coordinates, n, groups, 10, 1).unwrap();
        assert!(are_groups(&found.labels, size), "{scaling:?}");
    }
    let plain = embed(&Group::of(c), &a, &options, Scaling::None, &Progress::none()).unwrap();
    assert!(are_groups(&pivoted_qr(c, &plain.coordinates, n).unwrap().labels, size));
    let unit = embed(&Group::of(c), &a, &options, Scaling::UnitRows, &Progress::none()).unwrap();
    let lengths = |i: usize| unit.coordinates.iter().skip(i).step_by(n).map(|x| x * x).sum::<f64>();
    assert!((0..n).all(|i| (lengths(i) - 1.0).abs() < 1e-12));
}

/// The cycle has the eigenvalues 2 - 2 cos(2 pi j / n), each twice except the outer ones; its normalized Laplacian has
/// half of them.
fn graph_functions_promise_what_was_verified(c: &Arc<Context>) {
    let n = 300;
    let edges: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, 1.0)).collect();
    let ring = graph(c, n, &edges);
    let exact = |j: usize| 2.0 - 2.0 * (std::f64::consts::TAU * j.div_ceil(2) as f64 / n as f64).cos();
    for (block, verify) in [(1, Verify::Auto), (3, Verify::Auto), (1, Verify::Off)] {
        let options = Options { count: 5, block, verify, restarts: 3000, ..Options::default() };
        let is_verified = verify == Verify::Auto;
        let e = embed(&Group::of(c), &ring, &options, Scaling::None, &Progress::none()).unwrap();
        assert_eq!(e.info.verified, is_verified, "embed, block {block}");
        if is_verified {
            let found = e.values.iter().enumerate().all(|(j, value)| (value - exact(j) / 2.0).abs() < 1e-10);
            assert!(found, "block {block}: {:?}", e.values);
        }
        for normalized in [false, true] {
            let f = fiedler(&Group::of(c), &ring, normalized, &options, &Progress::none()).unwrap();
            assert_eq!(f.info.verified, is_verified, "fiedler, block {block}, normalized {normalized}");
            let value = if normalized { exact(1) / 2.0 } else { exact(1) };
            assert!((f.value - value).abs() < 1e-10, "block {block}: {} for {value}", f.value);
        }
    }
}

#[test]
fn labels_do_not_depend_on_the_number_of_threads() {
    let points: Vec<f64> = (0..30_000).map(|k| ((k * 7919) % 1000) as f64 / 1000.0 + (k % 3) as f64).collect();
    let labels = |threads| k_means(&cpu(threads), &points, 10_000, 5, 3, 9).unwrap();
    assert_eq!(labels(1), labels(3));
}

#[test]
fn bad_points_are_refused() {
    let c = cpu(1);
    let message = |e: Error| e.to_string();
    let wrong = |points: &[f64], n, k, r| k_means(&c, points, n, k, r, 0).map(|_| ()).map_err(message).unwrap_err();
    assert_eq!(wrong(&[1.0, 2.0, 3.0], 2, 1, 1), "points: has 3 elements for 2 points");
    assert_eq!(wrong(&[1.0, 2.0], 2, 3, 1), "clusters: is 3, outside 1 to n = 2");
    assert_eq!(wrong(&[1.0, f64::NAN], 2, 1, 1), "points: has NaN in row 1, column 0 (from 0)");
    assert_eq!(wrong(&[1.0, 2.0], 2, 1, 0), "start_count: is 0, at least 1 is needed");
    assert_eq!(k_means(&c, &[5.0, 5.0, 5.0], 3, 2, 2, 0).unwrap().inertia, 0.0);
    assert!(pivoted_qr(&c, &[0.0, 0.0], 2).is_err());
}

#[test]
fn pivoted_qr_takes_points_of_any_unit() {
    let c = cpu(1);
    let plain = [1.0, 1.0, 0.9, 0.0, 0.0, 0.0, 0.1, 1.0];
    let right = pivoted_qr(&c, &plain, 4).unwrap();
    assert_eq!(right.labels, [right.labels[0], right.labels[0], right.labels[0], right.labels[3]]);
    assert_ne!(right.labels[0], right.labels[3]);
    for by in [1e-310, 1e-300, 1e-200, 1e-160, 1e-100, 1e100, 1e160, 1e200, 1e300, 1.5e308] {
        let found = pivoted_qr(&c, &plain.map(|x| x * by), 4).unwrap_or_else(|e| panic!("{by:e}: {e}"));
        assert_eq!(found.labels, right.labels, "{by:e}");
        let inertia = right.inertia * by * by;
        assert!(
            found.inertia == inertia || (found.inertia - inertia).abs() <= 1e-10 * inertia + 1e-322,
            "{by:e}: {}",
            found.inertia
        );
    }
}

/// The bisection of a finite-element mesh with known figures.
fn the_mesh_is_cut_where_it_is_known_to_be(c: &Arc<Context>) {
    let mesh = golden(c, "4elt");
    let options = Options { tolerance: 1e-8, basis: 60, restarts: 2000, verify: Verify::Off, ..Options::default() };
    let f = fiedler(&Group::of(c), &mesh, false, &options, &Progress::none()).unwrap();
    assert!((f.value - recorded("4elt", "L_SA")[1]).abs() < 1e-9, "{}", f.value);
    let signs = bisect(&mesh, &f.vector, Cut::Sign).unwrap();
    let side = signs.sides.iter().filter(|s| **s).count();
    let mut counts = [side as f64, (mesh.rows() - side) as f64];
    counts.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(counts[..], recorded("4elt", "fiedler_sign_counts")[..]);
    assert_eq!(signs.cut, recorded("4elt", "fiedler_sign_cut_edges")[0]);
    let median = bisect(&mesh, &f.vector, Cut::Median).unwrap();
    assert_eq!(median.sides.iter().filter(|s| **s).count(), mesh.rows() / 2);
    assert_eq!(median.cut, recorded("4elt", "fiedler_median_cut_edges")[0]);
    let sweep = bisect(&mesh, &f.vector, Cut::Sweep).unwrap();
    assert!(sweep.normalized_cut <= signs.normalized_cut.min(median.normalized_cut));
}

fn a_sweep_finds_the_weak_edge(c: &Arc<Context>) {
    let a = clumps(c, 2, 12);
    for normalized in [false, true] {
        let f = fiedler(&Group::of(c), &a, normalized, &Options::default(), &Progress::none()).unwrap();
        for rule in [Cut::Sign, Cut::Median, Cut::Sweep] {
            let b = bisect(&a, &f.vector, rule).unwrap();
            assert!((b.cut - 0.1).abs() < 1e-12, "{rule:?}: {}", b.cut);
            let labels: Vec<usize> = b.sides.iter().map(|s| usize::from(*s)).collect();
            assert!(are_groups(&labels, 12));
            // Each side: 12 * 11 from inner edges, and the edge between the sides.
            assert!((b.normalized_cut - 2.0 * 0.1 / 132.1).abs() < 1e-12);
        }
    }
    let lonely = graph(c, 3, &[(0, 1, 1.0)]);
    assert_eq!(bisect(&lonely, &[0.0, 0.0, 1.0], Cut::Median).unwrap().sides, [false, true, true]);
    assert!(bisect(&lonely, &[0.0, f64::NAN, 1.0], Cut::Sign).is_err());
    assert!(bisect(&lonely, &[0.0], Cut::Sign).is_err());
}

#[test]
fn a_matrix_that_is_not_square_is_no_graph() {
    let c = cpu(1);
    let wide = from_entries(&c, (2, 3), &[(0, 2, 1.0), (1, 0, 1.0)]);
    for rule in [Cut::Sign, Cut::Median, Cut::Sweep] {
        let refused = bisect(&wide, &[0.0, 1.0], rule).unwrap_err().to_string();
        assert!(refused.contains("2 x 3"), "{refused}");
    }
}

#[test]
fn images_become_graphs_of_their_neighbours() {
    let c = cpu(1);
    let pixels = [0.0, 0.5, 0.0, 1.0, 0.0, 0.25];
    let w = Weights { radius: 1.0, intensity: 0.5, distance: f64::INFINITY, floor: 0.0 };
    let a = image_graph(&c, &pixels, 2, 3, w).unwrap();
    let nnz = |m: &Matrix| match m.storage() {
        Storage::Csr(csr) => csr.nnz(),
        _ => 0,
    };
    assert_eq!((a.rows(), nnz(&a)), (6, 14));
    assert!(is_symmetric(&a, 0.0).unwrap());
    assert!((norm(&a, Norm::Max).unwrap() - (-0.25f64).exp()).abs() < 1e-15, "pixels 2 and 5 are the most alike");
    assert_eq!(nnz(&image_graph(&c, &pixels, 2, 3, Weights { radius: 1.5, ..w }).unwrap()), 22);
    let flat = image_graph(&c, &[3.0; 6], 2, 3, Weights { distance: 1.0, floor: 0.25, ..w }).unwrap();
    assert!((norm(&flat, Norm::Max).unwrap() - ((-1.0f64).exp() + 0.25)).abs() < 1e-15);
    for bad in [Weights { radius: 0.5, ..w }, Weights { intensity: 0.0, ..w }, Weights { floor: -1.0, ..w }] {
        assert!(image_graph(&c, &pixels, 2, 3, bad).is_err());
    }
    assert!(image_graph(&c, &pixels, 2, 2, w).is_err() && image_graph(&c, &[f64::NAN], 1, 1, w).is_err());
}

#[test]
fn the_photograph_becomes_one_connected_graph() {
    let c = cpu(2);
    let (pixels, height, width) = photograph();
    let a = image_graph(&c, &pixels, height, width, PHOTOGRAPH).unwrap();
    assert_eq!(components(&a).unwrap().sizes, [height * width]);
    let Storage::Csr(csr) = a.storage() else { panic!("not sparse") };
    assert_eq!(csr.nnz(), 2 * (height * (width - 1) + (height - 1) * width));
    assert_eq!(csr.nnz() as f64, recorded("image_china.jpg", "nnz")[0]);
    assert!(is_symmetric(&a, 0.0).unwrap());
    let largest = norm(&a, Norm::Max).unwrap();
    assert!((largest - 1.000001).abs() < 1e-12, "some neighbours are alike: {largest}");
    // The square root of the degrees is the eigenvector of eigenvalue 0.
    let mut operator = Symmetric::<f64>::new(&c, &a, Kind::NormalizedLaplacian, 0.0).unwrap();
    let roots: Vec<f64> = row_sums(&a).unwrap().iter().map(|d| d.re.sqrt()).collect();
    let mut y = vec![f64::NAN; roots.len()];
    operator.apply(&roots, &mut y).unwrap();
    assert!(y.iter().all(|v| v.abs() < 1e-14));
}

fn a_graph_of_pixels_need_not_be_formed(c: &Arc<Context>) {
    let (height, width) = (20, 30);
    let shade = |k: usize| if k % width < 13 { 0.2 } else { 0.8 };
    let pixels: Vec<f64> = (0..height * width).map(|k| shade(k) + 0.01 * ((k * 7919 % 13) as f64 / 13.0)).collect();
    let weights = Weights { radius: 1.5, intensity: 0.1, distance: f64::INFINITY, floor: 1e-6 };
    let formed = image_graph(c, &pixels, height, width, weights).unwrap();
    let unformed = image_adjacency(c, &pixels, (height, width), weights).unwrap();
    let (options, none) = (Options { count: 2, basis: 60, ..Options::default() }, Progress::none());
    for scaling in [Scaling::None, Scaling::UnitRows, Scaling::Degrees] {
        let [a, b] = [&formed, &unformed].map(|graph| embed(&Group::of(c), graph, &options, scaling, &none).unwrap());
        assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-10), "{:?} {:?}", a.values, b.values);
        assert!(a.coordinates.iter().zip(&b.coordinates).all(|(a, b)| (a - b).abs() < 1e-6));
    }
    let labels = clusters(&Group::of(c), &unformed, &options, Assignment::KMeans, 10, &none).unwrap().0.unwrap();
    assert!((0..height * width).all(|k| (labels.labels[k] == labels.labels[0]) == (k % width < 13)));
    for normalized in [false, true] {
        let [a, b] =
            [&formed, &unformed].map(|graph| fiedler(&Group::of(c), graph, normalized, &options, &none).unwrap());
        assert!((a.value - b.value).abs() < 1e-10);
        assert!(a.vector.iter().zip(&b.vector).all(|(a, b)| (a - b).abs() < 1e-6));
    }
    let refused = bisect(&unformed, &pixels, Cut::Median).map(|_| ()).unwrap_err().to_string();
    assert_eq!(refused, "not supported: graph: is an operator, a sparse matrix is needed");
    assert!(image_adjacency(c, &pixels, (height, width - 1), weights).is_err());
}

fn densities_give_traces_and_shares(c: &Arc<Context>) {
    let a = golden(c, "as-caida20071105");
    let n = a.rows();
    let mut operator = Symmetric::<f64>::new(c, &a, Kind::Matrix, 0.0).unwrap();
    let d = density(c, &mut operator, 40, 8, 3, &Progress::none()).unwrap();
    assert!((d.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    // trace(A) = 0, trace(A^2) = nnz.
    let nnz = recorded("as-caida20071105", "nnz")[0];
    let squares = d.trace(n, |x| x * x).unwrap();
    assert!((squares / nnz - 1.0).abs() < 0.15, "{squares}");
    assert!(d.trace(n, |x| x).unwrap().abs() < 0.1 * nnz);
    let shares = d.histogram(-70.0, 70.0, 14).unwrap();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares[6] + shares[7] > 0.9);
    assert!(d.histogram(1.0, 1.0, 3).is_err() && density(c, &mut operator, 40, 0, 3, &Progress::none()).is_err());
}

#[test]
fn densities_refuse_numbers_that_are_not_finite() {
    let good = Density { points: vec![1.0, 2.0], weights: vec![0.5, 0.5] };
    assert_eq!(good.trace(4, |x| x), Ok(6.0));
    let beyond = good.trace(4, |x| if x > 1.5 { f64::INFINITY } else { x }).unwrap_err();
    assert_eq!(beyond, Error::Numerical("trace: is inf, a finite sum is needed".into()));
    for (bad, refused) in [
        (Density { points: vec![1.0, f64::NAN], ..good.clone() }, "points: element 1 is NaN, not finite"),
        (Density { weights: vec![f64::INFINITY, 0.5], ..good.clone() }, "weights: element 0 is inf, not finite"),
    ] {
        assert_eq!(bad.trace(4, |x| x).unwrap_err().to_string(), refused);
        assert_eq!(bad.histogram(0.0, 3.0, 2).unwrap_err().to_string(), refused);
    }
}

#[test]
fn a_sweep_finds_the_least_cut_beside_vertices_without_edges() {
    let c = cpu(1);
    let n = 20;
    for seed in 0..40 {
        let weight = |k: usize| 0.5 + 0.5 * crate::rng::uniform(seed, 77, crate::shape::to_u64(k), 0);
        let pairs = (0..n - 1).flat_map(|i| (0..i).map(move |j| (i, j)));
        let list: Vec<_> =
            pairs.filter(|(i, j)| weight(i * n + j) < 0.3).map(|(i, j)| (i, j, weight(j * n + i))).collect();
        let mirrored = list.iter().map(|&(i, j, w)| (j, i, w));
        let a = from_entries(&c, (n, n), &list.iter().copied().chain(mirrored).collect::<Vec<_>>());
        // The vertex without edges is last, and some numbers are equal.
        let x: Vec<f64> = (0..n).map(|i| if i == n - 1 { 99.0 } else { (10.0 * weight(1000 + i)).floor() }).collect();
        let cut_at = |limit: f64| {
            let (mut cut, mut volumes) = (0.0, [0.0, 0.0]);
            for (i, j, w) in &list {
                let sides = [x[*i] <= limit, x[*j] <= limit];
                sides.iter().for_each(|s| volumes[usize::from(*s)] += w);
                cut += if sides[0] == sides[1] { 0.0 } else { *w };
            }
            if volumes[0] > 0.0 && volumes[1] > 0.0 { cut / volumes[0] + cut / volumes[1] } else { f64::INFINITY }
        };
        let least = x.iter().map(|limit| cut_at(*limit)).fold(f64::INFINITY, f64::min);
        let found = bisect(&a, &x, Cut::Sweep).unwrap();
        assert!(found.normalized_cut <= least * (1.0 + 1e-12), "{seed}: {}, not {least}", found.normalized_cut);
    }
}

#[test]
fn weights_that_are_not_finite_are_named_when_a_graph_is_cut() {
    let c = cpu(1);
    for bad in [f64::NAN, f64::INFINITY] {
        let a = from_entries(&c, (3, 3), &[(0, 1, 1.0), (1, 0, 1.0), (1, 2, bad), (2, 1, bad)]);
        for rule in [Cut::Sign, Cut::Median, Cut::Sweep] {
            let message = bisect(&a, &[-1.0, 0.0, 1.0], rule).unwrap_err().to_string();
            assert!(message.contains("row 1, column 2"), "{message}");
        }
    }
}
