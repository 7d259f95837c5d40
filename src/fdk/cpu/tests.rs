//! Back-projection on every instruction set, against RTK and the reference path.

use super::super::geometry::Grid;
use super::super::options::{Edge, Options};
use super::super::plan::Plan;
use super::super::reference;
use super::super::tests::{GRID, case, npy, seen_by_all};
use super::backproject::backproject;
use super::filter::{Batch, Filter, Layout, unwatched};
use super::slab::Slab;

use crate::backend::cpu::{Isa, Pool};

/// The whole volume, cut into slabs of `depth` slices and batches of `batch` views.
fn volume(plan: &Plan, projections: &[f64], isa: Isa, depth: usize, batch: usize, threads: usize) -> Vec<f32> {
    let pool = Pool::new(threads).unwrap();
    let filter = Filter::new(isa, plan).unwrap();
    let panel = plan.panel_pixels();
    let input: Vec<f32> = projections.iter().map(|p| *p as f32).collect();
    let mut out = vec![f32::NAN; plan.voxels()];
    let slice = plan.grid.size[0] * plan.grid.size[1];
    let mut slab = Slab::new(&plan.grid, depth).unwrap();
    for first in (0..plan.grid.size[2]).step_by(depth) {
        let count = depth.min(plan.grid.size[2] - first);
        slab.reset(count);
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
            backproject(&pool, isa, plan, batch, &filtered, first, &mut slab);
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
                reference::backproject_view(&plan, n, &filtered, 0, &mut want);
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
