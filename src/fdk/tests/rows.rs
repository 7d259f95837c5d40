//! The rows of the panel that a slab of the volume needs.

use super::super::options::Options;
use super::super::plan::Plan;
use super::golden::{GRID, case};

#[test]
fn the_row_window_holds_every_row_a_slab_touches() {
    for name in ["full", "carm"] {
        let plan = Plan::new(case(name).geometry, GRID, Options::default()).unwrap();
        for (first, count) in [(0, 36), (0, 1), (17, 2), (35, 1)] {
            for view in [0, 7, 40] {
                let window = plan.row_window(view, first, count);
                let rows = plan.geometry.detector.rows as f64;
                for k in first..first + count {
                    for p in 0..48 * 44 {
                        let voxel = [(p % 48) as f64, (p / 48) as f64, k as f64];
                        let v = &plan.views[view];
                        let row = v.apply(1, voxel) / v.apply(2, voxel);
                        if row > -1.0 && row < rows {
                            let (low, high) = (row.floor().max(0.0), (row.floor() + 1.0).min(rows - 1.0));
                            assert!(window.start as f64 <= low && high < window.end as f64, "{row} {window:?}");
                        }
                    }
                }
            }
        }
    }
}
