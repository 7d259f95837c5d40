//! The golden scans, and volumes by the reference path.

use super::super::geometry::{Detector, Geometry, Grid, Orbit};
use super::super::plan::Plan;
use super::super::reference;
use crate::testing::source;

/// The numbers of a .npy file of little-endian f4 or f8 in C order.
pub(crate) fn npy(name: &str) -> Vec<f64> {
    let path = source("tests/golden/fdk").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[..start]).into_owned();
    assert!(header.contains("'fortran_order': False"), "{header}");
    let data = &bytes[start..];
    if header.contains("<f4") {
        data.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect()
    } else {
        assert!(header.contains("<f8"), "{header}");
        data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// A golden case: geometry as in its JSON file, the same grid for all.
pub(crate) struct Case {
    pub geometry: Geometry,
    pub projections: Vec<f64>,
    pub name: &'static str,
}

pub(crate) const GRID: Grid = Grid { size: [48, 44, 36], spacing: [2.2, 2.4, 2.0], origin: [-51.7, -51.6, -35.0] };

pub(crate) fn case(name: &'static str) -> Case {
    let degrees = |count: usize, step: f64| (0..count).map(|n| (n as f64 * step).to_radians()).collect::<Vec<_>>();
    let orbit = |offset| Orbit {
        source_to_axis: 500.0,
        source_to_detector: 1000.0,
        column_offset: offset,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let panel = |columns, rows, column_pitch, row_pitch| Detector { columns, rows, column_pitch, row_pitch };
    let geometry = match name {
        "full" => Geometry::circular(panel(80, 64, 3.0, 3.5), &orbit(0.0), &degrees(90, 4.0)),
        "short" => Geometry::circular(panel(72, 48, 3.0, 4.0), &orbit(0.0), &degrees(85, 2.5)),
        "displaced" => Geometry::circular(panel(48, 48, 3.5, 4.0), &orbit(52.0), &degrees(90, 4.0)),
        _ => {
            let flat = npy("carm_matrices.npy");
            let matrices: Vec<[f64; 12]> = flat.chunks_exact(12).map(|m| m.try_into().unwrap()).collect();
            Geometry::from_matrices(panel(76, 60, 3.2, 3.7), &matrices)
        }
    };
    Case { geometry: geometry.unwrap(), projections: npy(&format!("{name}_proj.npy")), name }
}

/// The volume by the reference path.
pub(super) fn reconstruct(plan: &Plan, projections: &[f64]) -> Vec<f64> {
    let mut volume = vec![0.0; plan.voxels()];
    let mut filtered = vec![0.0; plan.filtered_pixels()];
    for (n, projection) in projections.chunks(plan.panel_pixels()).enumerate() {
        filtered.fill(f64::NAN);
        reference::filter_view(plan, n, projection, &mut filtered).unwrap();
        reference::backproject_view(plan, n, &filtered, 0, &mut volume, &|| Ok(())).unwrap();
    }
    volume
}

/// Whether every view sees a voxel with all four pixels: RTK treats the panel's edge in ways of its own.
pub(crate) fn seen_by_all(plan: &Plan) -> Vec<bool> {
    let [nx, ny, _] = plan.grid.size;
    let (columns, rows) = ((plan.left + plan.geometry.detector.columns) as f64, plan.geometry.detector.rows as f64);
    (0..plan.voxels())
        .map(|p| {
            let voxel = [(p % nx) as f64, (p / nx % ny) as f64, (p / (nx * ny)) as f64];
            plan.views.iter().all(|v| {
                let w = v.apply(2, voxel);
                let (i, j) = (v.apply(0, voxel) / w, v.apply(1, voxel) / w);
                i >= plan.left as f64 && i <= columns - 1.0 && j >= 0.0 && j <= rows - 1.0
            })
        })
        .collect()
}
