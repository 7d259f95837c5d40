//! Back-projection on every instruction set, against RTK and the reference path.

use super::super::geometry::Grid;
use super::super::ops::Watch;
use super::super::options::{Edge, Options};
use super::super::plan::Plan;
use super::super::reference;
use super::super::tests::golden::{GRID, case, npy, seen_by_all};
use super::backproject::{Task, Upright, backproject};
use super::filter::{Batch, Filter, Layout, unwatched};
use super::general::General;
use super::slab::{Slab, TILE, TilePlace};
use crate::backend::cpu::simd::dispatch;
use crate::backend::cpu::{Isa, Pool};
use crate::error::Error;
use crate::progress::Progress;

/// The whole volume, cut into slabs of `depth` slices and batches of `batch` views.
fn volume(plan: &Plan, projections: &[f64], isa: Isa, depth: usize, batch: usize, threads: usize) -> Vec<f32> {
    let pool = Pool::new(threads).unwrap();
    let filter = Filter::new(isa, plan).unwrap();
    let panel = plan.panel_pixels();
    let input: Vec<f32> = projections.iter().map(|p| *p as f32).collect();
    let mut out = vec![f32::NAN; plan.voxels()];
    let slice = plan.grid.size[0] * plan.grid.size[1];
    let mut slab = Slab::new(&plan.grid, depth).unwrap();
    let flag = Progress::none().flag();
    for first in (0..plan.grid.size[2]).step_by(depth) {
        let count = depth.min(plan.grid.size[2] - first);
        slab.reset(&pool, count, &mut Watch { flag: &flag, wait: &mut || Ok(()) }).unwrap();
        for start in (0..plan.views.len()).step_by(batch) {
            let views: Vec<usize> = (start..(start + batch).min(plan.views.len())).collect();
            // Only the rows that the slab needs.
            let windows = views.iter().map(|v| plan.row_window(*v, first, count));
            let rows = windows.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap();
            let batch = Batch { views: &views, first_row: rows.start, rows: rows.len() };
            let columns = plan.geometry.detector.columns;
            let part: Vec<f32> = views
                .iter()
                .flat_map(|v| input[v * panel + rows.start * columns..v * panel + rows.end * columns].to_vec())
                .collect();
            let mut filtered = vec![f32::NAN; views.len() * Layout::Columns.samples(plan, rows.len())];
            unwatched(&filter, &pool, plan, batch, &part, Layout::Columns, &mut filtered).unwrap();
            let mut watch = Watch { flag: &flag, wait: &mut || Ok(()) };
            backproject(&pool, isa, plan, batch, &filtered, first, &mut slab, &mut watch).unwrap();
        }
        slab.store(&pool, 0, 1.0, 0.0, &mut out[first * slice..(first + count) * slice]);
    }
    out
}

fn worst(a: &[f32], b: &[f64], at: impl Fn(usize) -> bool) -> f64 {
    a.iter().zip(b).enumerate().filter(|(p, _)| at(*p)).map(|(_, (x, y))| (f64::from(*x) - y).abs()).fold(0.0, f64::max)
}

fn isas() -> impl Iterator<Item = Isa> {
    [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|i| *i <= Isa::detect())
}

#[test]
fn golden_cases_agree_with_rtk_on_every_instruction_set() {
    for (name, tolerance) in [("full", 2e-5), ("short", 2e-5), ("displaced", 2e-5), ("carm", 2e-4)] {
        let case = case(name);
        let options = Options { edge: Edge::Skip, ..Options::default() };
        let plan = Plan::new(case.geometry, GRID, options).unwrap();
        let golden = npy(&format!("{name}_rtk.npy"));
        let seen = seen_by_all(&plan);
        for isa in isas() {
            let got = volume(&plan, &case.projections, isa, 36, 32, 2);
            let worst = worst(&got, &golden, |p| name != "carm" || seen[p]);
            assert!(worst < tolerance, "{name} {isa:?}: {worst:e}");
        }
    }
}

#[test]
fn both_edge_rules_agree_with_the_reference_path() {
    // Voxels well outside the panel's view, steep columns (dz of several rows) and an odd grid.
    let grid = Grid { size: [37, 21, 19], spacing: [5.0, 7.0, 9.5], origin: [-91.0, -70.0, -85.0] };
    for name in ["full", "carm"] {
        for (edge, dz) in [(Edge::Zero, 9.5), (Edge::Skip, 9.5), (Edge::Zero, 2.0), (Edge::Zero, 0.1)] {
            let case = case(name);
            let grid = Grid { spacing: [5.0, 7.0, dz], ..grid };
            let plan = Plan::new(case.geometry, grid, Options { edge, ..Options::default() }).unwrap();
            let mut want = vec![0.0; plan.voxels()];
            let mut filtered = vec![0.0; plan.filtered_pixels()];
            for (n, p) in case.projections.chunks(plan.panel_pixels()).enumerate() {
                reference::filter_view(&plan, n, p, &mut filtered).unwrap();
                reference::backproject_view(&plan, n, &filtered, 0, &mut want, &|| Ok(())).unwrap();
            }
            let scale = want.iter().fold(0f64, |m, w| m.max(w.abs()));
            for isa in isas() {
                let got = volume(&plan, &case.projections, isa, 19, 90, 2);
                let worst = worst(&got, &want, |_| true);
                // Positions in f32 within a table err by 1e-6 of a row; edges of the phantom are steep.
                assert!(worst < 2e-5 * scale.max(1.0), "{name} {edge:?} {dz} {isa:?}: {worst:e}");
            }
        }
    }
}

#[test]
fn slabs_batches_and_threads_change_no_bit() {
    let case = case("full");
    let plan = Plan::new(case.geometry, GRID, Options::default()).unwrap();
    let isa = Isa::detect();
    let whole = volume(&plan, &case.projections, isa, 36, 90, 1);
    for (depth, batch, threads) in [(36, 90, 3), (36, 7, 2)] {
        assert!(volume(&plan, &case.projections, isa, depth, batch, threads) == whole, "{depth} {batch} {threads}");
    }
    // A slab that starts elsewhere rounds positions elsewhere.
    let cut = volume(&plan, &case.projections, isa, 16, 90, 2);
    let difference = cut.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
    assert!(difference == 0.0, "{difference:e}");
}

#[test]
fn a_tile_is_looked_at_for_every_few_views_and_changes_no_bit() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    // One column of many voxels, one layer of columns, and both; more voxels along z than are computed together.
    for (name, size) in [("full", [1, 1, 600]), ("full", [16, 16, 1]), ("full", [7, 5, 300]), ("carm", [7, 5, 300])] {
        let case = case(name);
        let grid = Grid { size, spacing: [3.0, 3.0, 0.1], origin: [-20.0, -20.0, -25.0] };
        let plan = Plan::new(case.geometry, grid, Options::default()).unwrap();
        let views: Vec<usize> = (0..plan.views.len()).collect();
        let rows = plan.geometry.detector.rows;
        let batch = Batch { views: &views, first_row: 0, rows };
        let samples = views.len() * Layout::Columns.samples(&plan, rows);
        let filtered: Vec<f32> = (0..samples).map(|k| (k % 101) as f32).collect();
        let [nx, ny, count] = size;
        let stride = count.next_multiple_of(16);
        let looks = AtomicUsize::new(0);
        let run = |last: usize| {
            let mut tile = vec![0f32; TILE * TILE * stride];
            let poll = || {
                let is_last = looks.fetch_add(1, Ordering::Relaxed) + 1 == last;
                if is_last { Err(Error::Cancelled) } else { Ok(()) }
            };
            let place = TilePlace { x: 0, y: 0, nx, ny };
            let (filtered, tile_of) = (&filtered[..], &mut tile[..]);
            let task =
                Task { plan: &plan, batch, filtered, first: 0, count, place, tile: tile_of, stride, poll: &poll };
            let isa = Isa::detect();
            let is_upright = plan.geometry.is_vertical();
            let outcome = if is_upright { dispatch(isa, Upright(task)) } else { dispatch(isa, General(task)) };
            (outcome, tile)
        };
        let (outcome, whole) = run(0);
        assert_eq!(outcome, Ok(()));
        let all = looks.swap(0, Ordering::Relaxed);
        let layers = count.div_ceil(256);
        let least = if name == "full" { layers * views.len().div_ceil(4) } else { layers * views.len() * ny };
        assert_eq!(all, least, "{name} {size:?}");
        let mut before = vec![0f32; whole.len()];
        for last in (1..=all).step_by(all / 7) {
            let (outcome, tile) = run(last);
            assert_eq!(outcome, Err(Error::Cancelled));
            // No look follows, and the work ends there: more is done the later it is.
            assert_eq!(looks.swap(0, Ordering::Relaxed), last);
            assert!(tile != whole && (last == 1 || tile != before), "{name} {size:?} {last}");
            before = tile;
        }
        assert!(run(0).1 == whole);
        looks.store(0, Ordering::Relaxed);
    }
}
