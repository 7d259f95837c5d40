//! Bits of volumes: a change of structure must not change one.

use std::sync::Arc;

use super::session::{shuffled, tensor, values};
use crate::context::Context;
use crate::error::Result;
use crate::fdk::counts::Counts;
use crate::fdk::geometry::{Detector, Geometry, Grid, Orbit};
use crate::fdk::options::{Edge, Mode, Options, Precision};
use crate::fdk::ramp::Window;
use crate::fdk::{Fdk, Projections, Volume};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::testing::checksums::{Cases, Checksum, checksum_tests, value};

checksum_tests!("fdk", cases);

/// Columns and rows of the panel.
const PANEL: [usize; 2] = [22, 15];

fn cases(c: &Arc<Context>, out: &mut Cases) {
    for (scan, geometry) in scans() {
        all(c, out, scan, &geometry);
    }
}

/// A full circle, a short scan, a half fan and oblique matrices.
fn scans() -> Vec<(&'static str, Geometry)> {
    let detector = Detector { columns: PANEL[0], rows: PANEL[1], column_pitch: 6.0, row_pitch: 7.0 };
    let orbit = |column_offset| Orbit {
        source_to_axis: 400.0,
        source_to_detector: 700.0,
        column_offset,
        row_offset: 1.5,
        allow_inside_panel: false,
    };
    let degrees = |count: usize, step: f64| (0..count).map(|n| (n as f64 * step).to_radians()).collect::<Vec<f64>>();
    let circle = |offset: f64, count: usize, step: f64| {
        Geometry::circular(detector, &orbit(offset), &degrees(count, step)).unwrap()
    };
    let oblique: Vec<[f64; 12]> = circle(0.0, 18, 20.0)
        .views
        .iter()
        .enumerate()
        .map(|(n, view)| {
            let [columns, mut rows, depth] = view.matrix;
            // The rows of pixels rise along the columns.
            let tilt = 0.03 + 0.001 * n as f64;
            rows.iter_mut().zip(&columns).for_each(|(row, column)| *row += tilt * column);
            [columns, rows, depth].concat().try_into().unwrap()
        })
        .collect();
    vec![
        ("circle", circle(0.0, 18, 20.0)),
        ("short", circle(0.0, 22, 9.5)),
        ("half fan", circle(40.0, 18, 20.0)),
        ("oblique", Geometry::from_matrices(detector, &oblique).unwrap()),
    ]
}

fn grid() -> Grid {
    Grid { size: [17, 15, 11], spacing: [4.0, 4.5, 4.0], origin: [-32.0, -31.5, -20.0] }
}

fn empty(c: &Arc<Context>) -> Tensor {
    Tensor::create(c, DType::F32, Location::Host, Order::ColumnMajor, &grid().size).unwrap()
}

fn all(c: &Arc<Context>, out: &mut Cases, scan: &str, geometry: &Geometry) {
    let views = geometry.views.len();
    let panel = PANEL[0] * PANEL[1];
    let numbers: Vec<f32> = (0..panel * views).map(|k| value(k) as f32 + 1.5).collect();
    let dims = [PANEL[0], PANEL[1], views];
    let projections = tensor(c, Order::ColumnMajor, &dims, &numbers);
    let session = |options: Options| Fdk::new(c, geometry.clone(), Some(grid()), options);
    let base = Options::default();
    let whole = |fdk: &mut Fdk, projections: &Tensor| -> Result<Checksum> {
        let mut volume = empty(c);
        fdk.reconstruct(None, Projections::Tensor(projections), Volume::Tensor(&mut volume), None)?;
        Ok(Checksum::new().numbers(&values(&volume)))
    };
    for (what, options) in [
        ("plain", base),
        ("skip", Options { edge: Edge::Skip, ..base }),
        ("double", Options { precision: Precision::F64, ..base }),
        ("back-projection", Options { mode: Mode::RabbitCt, ..base }),
        ("truncation", Options { truncation: 0.25, ..base }),
        ("mask and output", Options { fov_mask: true, output_scale: 0.5, output_offset: 3.0, ..base }),
        ("hann", Options { window: Window::Hann, cutoff: 0.75, ..base }),
        ("shepp-logan", Options { window: Window::SheppLogan, ..base }),
        ("cosine", Options { window: Window::Cosine, fft_length: 128, ..base }),
        ("hamming", Options { window: Window::Hamming, cutoff: 0.5, ..base }),
        ("slabs", Options { slab: 4, view_batch: 3, ..base }),
    ] {
        out.add(format!("{scan} {what}"), session(options).and_then(|mut fdk| whole(&mut fdk, &projections)));
    }
    let counts: Vec<u16> = (0..panel * views).map(|k| ((value(k) + 1.01) * 20_000.0) as u16 + 1).collect();
    let run = || {
        let mut fdk = session(base)?;
        let dark = Some(vec![3f32; panel].into());
        fdk.set_counts(Some(Counts { unattenuated: 60_000.0, unattenuated_image: None, dark, least: 0.0 }))?;
        whole(&mut fdk, &tensor(c, Order::ColumnMajor, &dims, &counts))
    };
    out.add(format!("{scan} counts"), run());
    for (what, order) in [("pushed", (0..views as i64).collect::<Vec<_>>()), ("pushed at random", shuffled(views))] {
        let run = || {
            let mut fdk = session(base)?;
            fdk.begin(None)?;
            for some in order.chunks(4) {
                let part: Vec<f32> = some
                    .iter()
                    .flat_map(|v| numbers[*v as usize * panel..(*v as usize + 1) * panel].to_vec())
                    .collect();
                fdk.push(some, &tensor(c, Order::ColumnMajor, &[PANEL[0], PANEL[1], some.len()], &part))?;
            }
            let mut volume = empty(c);
            fdk.finish(Volume::Tensor(&mut volume), None)?;
            Ok(Checksum::new().numbers(&values(&volume)))
        };
        out.add(format!("{scan} {what}"), run());
    }
    let run = || {
        let fdk = session(base)?;
        let all: Vec<i64> = (0..views as i64).collect();
        let made = |columns: usize| {
            Tensor::create(c, DType::F32, Location::Host, Order::ColumnMajor, &[columns, PANEL[1], views])
        };
        let (mut weighted, mut filtered, mut volume) = (made(PANEL[0])?, made(fdk.plan().columns)?, empty(c));
        fdk.weight(None, &all, &projections, &mut weighted)?;
        fdk.filter(None, &all, &weighted, &mut filtered)?;
        fdk.backproject(None, &all, &filtered, &mut volume)?;
        Ok(Checksum::new().numbers(&values(&weighted)).numbers(&values(&filtered)).numbers(&values(&volume)))
    };
    out.add(format!("{scan} steps"), run());
}
