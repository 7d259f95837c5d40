//! Kernels of cone-beam CT on the CPU, one thread: updates of voxels a second for back-projection on every instruction
//! set and for upright and tilted panels, pixels a second for the filter. `cargo bench --bench fdk`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use purlin::backend::cpu::{Isa, Pool};
use purlin::fdk::cpu::backproject::backproject;
use purlin::fdk::cpu::filter::{Filter, Layout};
use purlin::fdk::cpu::slab::{CACHE_LINE, Slab, before_line};
use purlin::fdk::geometry::{Detector, Geometry, Grid, Orbit};
use purlin::fdk::ops::Watch;
use purlin::fdk::options::Options;
use purlin::fdk::plan::{Batch, Plan};
use purlin::progress::Progress;

const VIEWS: usize = 16;
const PANEL: usize = 384;
const SIZE: usize = 256;

/// A full circle, the panel upright or turned a little against the axis.
fn plan(tilt: f64) -> Plan {
    let panel = Detector { columns: PANEL, rows: PANEL, column_pitch: 1.0, row_pitch: 1.0 };
    let orbit = Orbit {
        source_to_axis: 1000.0,
        source_to_detector: 1500.0,
        column_offset: 0.0,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let angles: Vec<f64> = (0..VIEWS).map(|n| n as f64 * std::f64::consts::TAU / VIEWS as f64).collect();
    let upright = Geometry::circular(panel, &orbit, &angles).unwrap();
    let matrices = upright.views.iter().map(|v| {
        let mut m: [f64; 12] = std::array::from_fn(|k| v.matrix[k / 4][k % 4]);
        for r in 0..3 {
            m[4 * r + 2] += tilt * m[4 * r];
        }
        m
    });
    let geometry = Geometry::from_matrices(panel, &matrices.collect::<Vec<_>>()).unwrap();
    assert_eq!(geometry.is_vertical(), tilt == 0.0);
    let spacing = 240.0 / SIZE as f64;
    let origin = -(SIZE as f64 - 1.0) / 2.0 * spacing;
    let grid = Grid { size: [SIZE; 3], spacing: [spacing; 3], origin: [origin; 3] };
    Plan::new(geometry, grid, Options::default()).unwrap()
}

fn kernels(c: &mut Criterion) {
    let pool = Pool::new(1).unwrap();
    let views: Vec<usize> = (0..VIEWS).collect();
    let batch = Batch { views: &views, first_row: 0, rows: PANEL };
    let pixels: Vec<f32> = (0..VIEWS * PANEL * PANEL).map(|k| (k % 1013) as f32 * 1e-3).collect();
    for (name, tilt) in [("upright", 0.0), ("tilted", 0.02)] {
        let plan = plan(tilt);
        let filter = Filter::new(Isa::detect(), &plan).unwrap();
        let samples = VIEWS * Layout::Columns.samples(&plan, PANEL);
        let mut filtered = vec![0.0; samples + CACHE_LINE];
        let start = before_line(&filtered);
        let filtered = &mut filtered[start..start + samples];
        let mut group = c.benchmark_group(format!("fdk {SIZE}^3 from {VIEWS} x {PANEL}^2, {name}"));
        group.sample_size(10).throughput(Throughput::Elements(pixels.len() as u64));
        group.bench_function("filter", |b| {
            let flag = Progress::none().flag();
            let mut watch = Watch { flag: &flag, wait: &mut || Ok(()) };
            b.iter(|| filter.run(&pool, &plan, batch, &pixels, (Layout::Columns, &mut *filtered), &mut watch).unwrap());
        });
        let mut slab = Slab::new(&plan.grid, SIZE).unwrap();
        let flag = Progress::none().flag();
        slab.reset(&pool, SIZE, &mut Watch { flag: &flag, wait: &mut || Ok(()) }).unwrap();
        group.throughput(Throughput::Elements((SIZE * SIZE * SIZE * VIEWS) as u64));
        for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|i| *i <= Isa::detect()) {
            group.bench_function(format!("back-projection {isa:?}"), |b| {
                let flag = Progress::none().flag();
                let mut watch = Watch { flag: &flag, wait: &mut || Ok(()) };
                b.iter(|| backproject(&pool, isa, &plan, batch, filtered, 0, &mut slab, &mut watch).unwrap());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
