//! Volumes that reach a source, of which the mask leaves nothing there.

use std::f64::consts::TAU;
use std::sync::Arc;

use super::super::geometry::{Detector, Geometry, Grid, Orbit};
use super::super::options::{Options, Precision};
use super::super::plan::Plan;
use super::device::gpu;
use super::scans::Folder;
use super::session::{Scan, cpu, scan, tensor, values};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::metaimage::{MetaImageSink, MetaImageSource};
use crate::blocks::number::{Number, decode};
use crate::blocks::source::Source;
use crate::blocks::tensor::TensorSource;
use crate::context::Context;
use crate::error::Error;
use crate::fdk::{Fdk, Projections, Volume};
use crate::group::Group;
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Far behind the sources, which stand about 500 mm from the axis.
const WIDE: Grid = Grid { size: [125, 121, 36], spacing: [9.0, 9.5, 3.5], origin: [-560.0, -570.0, -61.0] };

/// The stored value of 0.
const BLANK: f32 = -7.0;

fn masked(precision: Precision, slab: usize) -> Options {
    Options { fov_mask: true, output_offset: f64::from(BLANK), precision, slab, ..Options::default() }
}

/// The part of [`WIDE`] from the voxel `first` on.
fn cropped(first: [usize; 2], size: [usize; 2]) -> Grid {
    let [x, y] = [0, 1].map(|axis| WIDE.position(axis, first[axis]));
    Grid { size: [size[0], size[1], WIDE.size[2]], origin: [x, y, WIDE.origin[2]], ..WIDE }
}

fn whole(fdk: &mut Fdk, scan: &Scan) -> Vec<f32> {
    let context = Arc::clone(fdk.context());
    let size = fdk.plan().volume_grid().size;
    let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &size).unwrap();
    let input = scan.tensor(&context);
    let info = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap();
    assert_eq!(info.host_bytes_used, info.host_bytes);
    assert_eq!(info.grid.size, size);
    values(&out)
}

fn masked_fdk(scan: &Scan, context: &Arc<Context>, grid: Grid, options: Options) -> Fdk {
    Fdk::new(context, scan.geometry.clone(), Some(grid), options).unwrap()
}

/// The expected volume of [`WIDE`]: a part of it that lies in front of all sources and holds more than the mask keeps,
/// reconstructed by itself, and blanks.
fn expected(scan: &Scan, context: &Arc<Context>, options: Options) -> Vec<f32> {
    let (first, size) = ([50, 48], [24, 25]);
    let mut fdk = masked_fdk(scan, context, cropped(first, size), options);
    assert!(fdk.plan().frame.is_none());
    let part = whole(&mut fdk, scan);
    let [nx, ny, nz] = WIDE.size;
    let mut want = vec![BLANK; nx * ny * nz];
    for (row, values) in part.chunks_exact(size[0]).enumerate() {
        let at = (row / size[1] * ny + first[1] + row % size[1]) * nx + first[0];
        want[at..at + size[0]].copy_from_slice(values);
    }
    let inside = want.iter().filter(|v| **v != BLANK).count();
    assert!(inside > 500 && inside < want.len() / 20, "{inside}");
    want
}

#[test]
fn a_masked_volume_behind_the_sources_is_its_box_and_blanks() {
    let context = cpu(0);
    for name in ["full", "displaced", "carm"] {
        let scan = scan(name);
        let open = Fdk::new(&context, scan.geometry.clone(), Some(WIDE), Options::default()).map(|_| ());
        assert!(open.unwrap_err().to_string().starts_with("grid: reaches ["), "{name}");
        for precision in [Precision::F32, Precision::F64] {
            let want = expected(&scan, &context, masked(precision, 0));
            let mut fdk = masked_fdk(&scan, &context, WIDE, masked(precision, 0));
            let plan = fdk.plan();
            assert!(plan.grid.size[0] < 30 && plan.grid.size[1] < 30 && plan.frame.is_some(), "{:?}", plan.grid);
            assert!(whole(&mut fdk, &scan) == want, "{name} {precision:?}");
            // In slabs.
            let mut fdk = masked_fdk(&scan, &context, WIDE, masked(precision, 16));
            assert!(fdk.planned_info().get().slabs == 3 && whole(&mut fdk, &scan) == want, "{name} {precision:?}");
        }
    }
}

#[test]
fn it_is_the_same_pushed_kept_strided_and_on_several_contexts() {
    let (context, scan) = (cpu(0), scan("full"));
    let want = expected(&scan, &context, masked(Precision::F32, 0));
    let views: Vec<i64> = (0..90).collect();
    for slab in [0, 16] {
        for contexts in [1, 3] {
            let members = std::iter::once(Arc::clone(&context)).chain((1..contexts).map(|_| cpu(0))).collect();
            let group = Group::new(members).unwrap();
            let options = masked(Precision::F32, slab);
            let mut fdk = Fdk::over(&group, scan.geometry.clone(), Some(WIDE), options).unwrap();
            assert!(whole(&mut fdk, &scan) == want, "{contexts} contexts");
            fdk.begin(None).unwrap();
            fdk.push(&views, &scan.tensor(&context)).unwrap();
            let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::RowMajor, &WIDE.size).unwrap();
            fdk.finish(Volume::Tensor(&mut out), None).unwrap();
            assert!(values(&out) == want, "slab {slab} on {contexts} contexts");
        }
    }
    // The request is for the volume, not its box.
    let mut fdk = masked_fdk(&scan, &context, WIDE, masked(Precision::F32, 0));
    let size = fdk.plan().grid.size;
    let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &size).unwrap();
    let input = scan.tensor(&context);
    let e = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap_err();
    assert!(e.to_string().ends_with("[125, 121, 36] are needed"), "{e}");
}

#[test]
fn it_goes_to_files_of_any_type() {
    let folder = Folder::new("fdk-frame");
    let (context, scan) = (cpu(0), scan("full"));
    let want = expected(&scan, &context, masked(Precision::F32, 0));
    let input = scan.tensor(&context);
    let target = folder.join("volume.mha");
    for number in [Number::F32, Number::I16] {
        let info = ArrayInfo::new(number, &WIDE.size).unwrap();
        let mut fdk = masked_fdk(&scan, &context, WIDE, masked(Precision::F32, 16));
        let mut source = TensorSource::new("projections", &input, context.pool()).unwrap();
        let mut sink = MetaImageSink::create(&target, info.clone()).unwrap();
        fdk.reconstruct(None, Projections::Source(&mut source), Volume::Sink(&mut sink), None).unwrap();
        let mut bytes = vec![0u8; info.bytes()];
        MetaImageSource::open(&target).unwrap().read(&Block::whole(&info), &mut bytes).unwrap();
        let mut got = vec![0f32; want.len()];
        decode(number, &bytes, &mut got);
        let near = |(g, w): (&f32, &f32)| if number == Number::F32 { g == w } else { (g - w).abs() <= 0.5 };
        assert!(got.iter().zip(&want).all(near), "{number:?}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_completes_slices_as_threads_do() {
    let (context, threads) = (gpu(0, 0), cpu(0));
    for name in ["full", "displaced", "carm"] {
        let scan = scan(name);
        let length = masked_fdk(&scan, &context, WIDE, masked(Precision::F32, 0)).plan().length;
        let want = expected(&scan, &threads, Options { fft_length: length, ..masked(Precision::F32, 0) });
        for slab in [0, 16] {
            let mut fdk = masked_fdk(&scan, &context, WIDE, masked(Precision::F32, slab));
            let got = whole(&mut fdk, &scan);
            let largest = want.iter().fold(0f32, |m, v| m.max((v - BLANK).abs()));
            // Blanks are exact.
            let near = |(g, w): (&f32, &f32)| (g - w).abs() <= if *w == BLANK { 0.0 } else { 1e-5 * largest };
            assert!(got.iter().zip(&want).all(near), "{name}, slabs of {slab}");
            fdk.begin(None).unwrap();
            let views: Vec<i64> = (0..scan.dims[2] as i64).collect();
            fdk.push(&views, &scan.tensor(&context)).unwrap();
            let mut out =
                Tensor::create(&context, DType::F32, Location::PinnedHost, Order::ColumnMajor, &WIDE.size).unwrap();
            fdk.finish(Volume::Tensor(&mut out), None).unwrap();
            assert!(values(&out) == got, "{name}, slabs of {slab}");
        }
        let mut fdk = masked_fdk(&scan, &context, WIDE, masked(Precision::F32, 0));
        let mut out = Tensor::create(&context, DType::F32, Location::Device, Order::ColumnMajor, &WIDE.size).unwrap();
        let input = scan.tensor(&context);
        let e = fdk.reconstruct(None, Projections::Tensor(&input), Volume::Tensor(&mut out), None).unwrap_err();
        assert_eq!(e, Error::NotSupported("volume: is on a device, host memory is needed".into()));
    }
}

#[test]
fn the_steps_take_the_whole_volume() {
    let (context, scan) = (cpu(0), scan("full"));
    let grid = cropped([50, 48], [24, 25]);
    let [wide, narrow] = [WIDE, grid].map(|grid| masked_fdk(&scan, &context, grid, masked(Precision::F32, 0)));
    let filtered = scan.part(&context, &[3]);
    let [mut out, mut part] = [&wide, &narrow].map(|fdk| {
        let size = fdk.plan().volume_grid().size;
        let mut volume = tensor(&context, Order::ColumnMajor, &size, &vec![2.5f32; size.iter().product()]);
        fdk.backproject(None, &[3], &filtered, &mut volume).unwrap();
        volume
    });
    let added = |volume: &Tensor, first: [usize; 2]| {
        let at = wide.plan().frame.unwrap().first;
        let [nx, ny, nz] = wide.plan().grid.size;
        let view = volume.view::<f32>("volume").unwrap();
        let mut inside = Vec::with_capacity(nx * ny * nz);
        for (k, j) in (0..nz).flat_map(|k| (0..ny).map(move |j| (k, j))) {
            inside.extend((0..nx).map(|i| view.get(&[at[0] - first[0] + i, at[1] - first[1] + j, k])));
        }
        inside
    };
    assert!(added(&out, [0, 0]) == added(&part, [50, 48]));
    let touched = values(&out).iter().filter(|v| **v != 2.5).count();
    let expected = added(&out, [0, 0]).iter().filter(|v| **v != 2.5).count();
    assert!(touched == expected && touched > 1000, "{touched} {expected}");

    let ball = [1.0, 40.0, 40.0, 40.0, 12.0, -20.0, 0.0, 0.0];
    let ball = tensor(&context, Order::ColumnMajor, &[8, 1], &ball);
    wide.ellipsoid_volume(&ball, &mut out).unwrap();
    narrow.ellipsoid_volume(&ball, &mut part).unwrap();
    let sum = |t: &Tensor| values(t).iter().sum::<f32>();
    assert!(sum(&out) == sum(&part) && sum(&out) > 50.0);
}

#[test]
fn a_grid_whose_kept_part_reaches_a_source_is_refused() {
    let orbit = Orbit {
        source_to_axis: 400.0,
        source_to_detector: 600.0,
        column_offset: 0.0,
        row_offset: 0.0,
        allow_inside_panel: false,
    };
    let angles: Vec<f64> = (0..36).map(|n| f64::from(n) * TAU / 36.0).collect();
    let plan = |column_pitch: f64, grid: Grid| {
        let panel = Detector { columns: 16, rows: 12, column_pitch, row_pitch: 3.0 };
        let geometry = Geometry::circular(panel, &orbit, &angles).unwrap();
        Plan::new(geometry, grid, masked(Precision::F32, 0))
    };
    let about = |n: usize, d: f64| Grid {
        size: [n, n, 3],
        spacing: [d, d, 1.0],
        origin: [-(n as f64 - 1.0) / 2.0 * d, -(n as f64 - 1.0) / 2.0 * d, -1.0],
    };
    assert!(plan(30.0, about(101, 9.0)).is_ok());
    // Rays up to 66 degrees from the central one: the disc of 366 mm lies in front of all sources, its corners do not.
    let e = plan(180.0, about(101, 9.0)).unwrap_err();
    let text = e.to_string();
    assert!(matches!(e, Error::InvalidArgument { .. }), "{e}");
    assert!(
        text.starts_with("grid: even its 81 x 81 columns around the disc of 365.5") && text.contains("source of view"),
        "{text}"
    );
    // A volume behind the sources altogether, and one so coarse that no voxel lies in the disc.
    for grid in [Grid { origin: [900.0, -50.0, -1.0], ..about(21, 9.0) }, about(2, 1000.0)] {
        let text = plan(30.0, grid).unwrap_err().to_string();
        assert!(text.contains("holds no voxel that every view sees, which fov_mask keeps"), "{text}");
    }
}
