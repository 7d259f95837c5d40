//! Reports of a reconstruction: the weights that it is made with, and the pixels that its counters include.

use std::f64::consts::PI;

use super::session::{cpu, tensor, values};
use crate::fdk::geometry::{Detector, Geometry, Grid, Orbit};
use crate::fdk::options::{Options, Precision};
use crate::fdk::weights::Redundancy;
use crate::fdk::{Fdk, Projections, Volume};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

const ORBIT: Orbit = Orbit {
    source_to_axis: 500.0,
    source_to_detector: 1000.0,
    column_offset: 0.0,
    row_offset: 0.0,
    allow_inside_panel: false,
};
const COLUMNS: usize = 31;
/// One row, in the plane of the orbit. The fan of 3.4 degrees is part of the excess of every arc below.
const PANEL: Detector = Detector { columns: COLUMNS, rows: 1, column_pitch: 2.0, row_pitch: 2.0 };
/// Seen by every view, with a voxel on the axis.
const GRID: Grid = Grid { size: [9, 9, 1], spacing: [1.0; 3], origin: [-4.0, -4.0, 0.0] };

/// The redundancy weights, columns fastest, and the angular ones.
fn weights(fdk: &Fdk, columns: usize, views: usize) -> (Vec<f64>, Vec<f64>) {
    let context = fdk.context();
    let empty = |dims: &[usize]| Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, dims).unwrap();
    let (mut redundancy, mut angular) = (empty(&[columns, views]), empty(&[views]));
    fdk.weights(Some(&mut redundancy), Some(&mut angular)).unwrap();
    let numbers = |t: &Tensor| t.memory().host("weights").unwrap().as_slice::<f64>().unwrap().to_vec();
    (numbers(&redundancy), numbers(&angular))
}

/// Feldkamp's formula in the plane of the orbit with given weights. The convolution is summed as it is written.
fn by_formula(angles: &[f64], redundancy: &[f64], angular: &[f64], scan: &[f32]) -> Vec<f64> {
    let (distance, focal) = (ORBIT.source_to_axis, ORBIT.source_to_detector);
    let tau = PANEL.column_pitch * distance / focal;
    let ramp = |k: usize| match k {
        0 => 1.0 / (4.0 * tau * tau),
        k if k % 2 == 1 => -1.0 / (PI * k as f64 * tau).powi(2),
        _ => 0.0,
    };
    let middle = (COLUMNS - 1) as f64 / 2.0;
    let [nx, ny, _] = GRID.size;
    let mut volume = vec![0.0; nx * ny];
    for (n, angle) in angles.iter().enumerate() {
        let weighted: Vec<f64> = (0..COLUMNS)
            .map(|i| {
                let u = (i as f64 - middle) * PANEL.column_pitch;
                f64::from(scan[n * COLUMNS + i]) * redundancy[n * COLUMNS + i] * focal / focal.hypot(u)
            })
            .collect();
        let filtered: Vec<f64> =
            (0..COLUMNS).map(|i| tau * (0..COLUMNS).map(|j| ramp(i.abs_diff(j)) * weighted[j]).sum::<f64>()).collect();
        let (sin, cos) = angle.sin_cos();
        for (p, voxel) in volume.iter_mut().enumerate() {
            let (x, y) = (GRID.origin[0] + (p % nx) as f64, GRID.origin[1] + (p / nx) as f64);
            let depth = distance - x * cos - y * sin;
            let column = focal * (y * cos - x * sin) / depth / PANEL.column_pitch + middle;
            let (i, part) = (column.floor() as usize, column.fract());
            let value = (1.0 - part) * filtered[i] + part * filtered[i + 1];
            *voxel += angular[n] * (distance / depth).powi(2) * value;
        }
    }
    volume
}

/// Parker's weights end between two views where an arc exceeds 180 degrees by less than a step. The weights of such a scan
/// are scaled, and the report has the scaled ones.
#[test]
fn a_scan_is_reconstructed_with_the_weights_that_are_reported() {
    let context = cpu(0);
    let mut scaled = 0;
    for views in [4usize, 5, 6, 9, 17, 61] {
        for part in [0.2, 0.45, 0.7, 0.9, 1.5] {
            // The arc is `views - 1` steps and exceeds half a circle by `part` of one of them.
            let step = PI / ((views - 1) as f64 - part);
            let excess = part * step;
            if !(0.07..=PI / 2.0).contains(&excess) {
                continue;
            }
            let angles: Vec<f64> = (0..views).map(|n| 0.3 + n as f64 * step).collect();
            let geometry = Geometry::circular(PANEL, &ORBIT, &angles).unwrap();
            let pixels: Vec<f32> = (0..COLUMNS * views).map(|k| ((k * k * 31 + k * 17) % 101) as f32 - 50.0).collect();
            let input = tensor(&context, Order::ColumnMajor, &[COLUMNS, 1, views], &pixels);
            for precision in [Precision::F64, Precision::F32] {
                let what = format!("{views} views, {:.1} degrees of excess, {precision:?}", excess.to_degrees());
                let options = Options { redundancy: Redundancy::Short, precision, ..Options::default() };
                let mut fdk = Fdk::new(&context, geometry.clone(), Some(GRID), options).unwrap();
                assert!(fdk.plan().scan.warnings.is_empty(), "{what}: {}", fdk.plan().scan.reason);
                let (redundancy, angular) = weights(&fdk, COLUMNS, views);
                let on_axis: f64 = (0..views).map(|n| angular[n] * redundancy[n * COLUMNS + COLUMNS / 2]).sum();
                if part < 1.0 {
                    assert!((on_axis - PI).abs() < 1e-12, "{what}: {} of pi", on_axis / PI);
                    let arc = (views - 1) as f64 * step;
                    scaled += usize::from((angular.iter().sum::<f64>() / arc - 1.0).abs() > 0.01);
                }
                let mut out =
                    Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &GRID.size).unwrap();
                fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
                let want = by_formula(&angles, &redundancy, &angular, &pixels);
                let largest = want.iter().fold(0f64, |m, v| m.max(v.abs()));
                let error = values(&out).iter().zip(&want).map(|(g, w)| (f64::from(*g) - w).abs()).fold(0.0, f64::max);
                assert!(error < 2e-6 * largest, "{what}: {error:e} of {largest:e}");
            }
        }
    }
    assert!(scaled >= 10, "{scaled} scans have weights that the scaling changes");
}

/// A run reads only the panel rows that its volume is seen through, and counts the pixels of no others.
#[test]
fn pixels_count_in_the_rows_that_the_volume_is_seen_through() {
    let context = cpu(0);
    let panel = Detector { columns: 16, rows: 16, column_pitch: 1.0, row_pitch: 1.0 };
    let angles: Vec<f64> = (0..16).map(|n| f64::from(n) * PI / 8.0).collect();
    let mut pixels = vec![0f32; 16 * 16 * 16];
    let (rim, middle) = (3 * 256, 7 * 256 + 8 * 16 + 4);
    (pixels[rim], pixels[middle]) = (f32::NAN, f32::INFINITY);
    let input = tensor(&context, Order::ColumnMajor, &[16, 16, 16], &pixels);
    for (slices, slab, whole, stored) in [(1, 0, 1, 1), (16, 0, 2, 2)] {
        let grid =
            Grid { size: [8, 8, slices], spacing: [0.5; 3], origin: [-1.75, -1.75, -0.25 * (slices - 1) as f64] };
        let geometry = Geometry::circular(panel, &ORBIT, &angles).unwrap();
        let options = Options { slab, ..Options::default() };
        let mut fdk = Fdk::new(&context, geometry, Some(grid), options).unwrap();
        let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &grid.size).unwrap();
        let info = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
        assert_eq!(info.pixels_not_finite, whole, "{slices} slices, slab {slab}, {} slabs", info.slabs);
        fdk.begin(None).unwrap();
        fdk.push(&(0..16).collect::<Vec<_>>(), &input).unwrap();
        let info = fdk.finish(Volume::Tensor(&mut out), None).unwrap();
        assert_eq!(info.pixels_not_finite, stored, "{slices} slices, slab {slab}: pushed, {} slabs", info.slabs);
    }
}
