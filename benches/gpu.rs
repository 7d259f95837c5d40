//! Peaks of a million voxels on a GPU, with the data on the device, in page-locked and in ordinary host memory:
//! `cargo bench --bench gpu`. Prints a table, and writes it as JSON to the file that `PURLIN_BENCH_JSON` names.

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use purlin::backend::BackendChoice;
use purlin::context::{Context, Options};
use purlin::dwi::{self, Basis, FitOptions, PeaksOptions, PeaksOutputs};
use purlin::progress::Progress;
use purlin::scalar::{DType, Real};
use purlin::shape::Order;
use purlin::tensor::{self, Location, Symmetric, Tensor};

const VOXELS: usize = 1_000_000;
const PEAKS: usize = 5;
const STARTS: i64 = 64;
const REPEATS: usize = 9;

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Row {
    case: String,
    unit: &'static str,
    value: f64,
    seconds: f64,
}

/// Median wall-clock seconds of `work`, which is complete when it returns.
fn median(mut work: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    work()?;
    let mut times = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[REPEATS / 2])
}

/// Orientation functions of a real volume as tensors, repeated to a million, on the host.
fn tensors<T: Real>(context: &Arc<Context>, location: Location) -> Outcome<Tensor> {
    let bytes = include_bytes!("../tests/golden/dwi/csa4_sh_mrtrix.f32");
    let sh: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let volume: Vec<&[f32]> = sh.chunks_exact(15).filter(|v| v.iter().any(|x| *x != 0.0)).collect();
    let mut coefficients = Tensor::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, &[15, VOXELS])?;
    let mut view = coefficients.view_mut::<T>("sh")?;
    for (out, v) in view.data().chunks_exact_mut(15).zip(volume.iter().cycle()) {
        for (o, x) in out.iter_mut().zip(*v) {
            *o = T::from_f64(f64::from(*x));
        }
    }
    let shape = Symmetric::new(4, 3)?;
    let mut out = Tensor::create_symmetric(context, T::DTYPE, location, Order::ColumnMajor, shape, VOXELS)?;
    dwi::sh_to_tensor(context, None, &coefficients, Basis::Mrtrix3, &mut out)?;
    Ok(out)
}

fn peaks<T: Real>(context: &Arc<Context>, location: Location, rows: &mut Vec<Row>) -> Outcome<()> {
    let input = tensors::<T>(context, location)?;
    let mut out = Tensor::create(context, T::DTYPE, location, Order::ColumnMajor, &[4, PEAKS, VOXELS])?;
    let options = PeaksOptions { starts: STARTS, ..PeaksOptions::default() };
    let mut iterations = 0;
    let seconds = median(|| {
        let outputs = PeaksOutputs { peaks: &mut out, count: None, status: None };
        iterations = dwi::peaks(context, None, &input, None, &options, outputs, &Progress::none())?.iterations;
        Ok(())
    })?;
    let steps = iterations as f64 / (VOXELS as f64 * STARTS as f64);
    rows.push(Row {
        case: format!("peaks {} {location:?}, {steps:.1} steps a start", T::DTYPE.name()),
        unit: "voxels/s",
        value: VOXELS as f64 / seconds,
        seconds,
    });
    Ok(())
}

/// Speed of the link, which bounds work on host memory: one array in one direction.
fn link(context: &Arc<Context>, rows: &mut Vec<Row>) -> Outcome<()> {
    let dims = [64 << 20];
    let create = |location| Tensor::create(context, DType::F32, location, Order::ColumnMajor, &dims);
    for location in [Location::PinnedHost, Location::Host] {
        let (mut host, mut device) = (create(location)?, create(Location::Device)?);
        let queue = purlin::stream::Stream::new(context)?;
        for up in [true, false] {
            let seconds = median(|| {
                if up {
                    tensor::copy(context, Some(&queue), &host, &mut device)?;
                } else {
                    tensor::copy(context, Some(&queue), &device, &mut host)?;
                }
                Ok(queue.synchronize()?)
            })?;
            let way = if up { "to the device" } else { "from the device" };
            let value = 4.0 * dims[0] as f64 / seconds / 1e9;
            rows.push(Row { case: format!("copy {location:?} {way}"), unit: "GB/s", value, seconds });
        }
    }
    Ok(())
}

fn fit(context: &Arc<Context>, location: Location, rows: &mut Vec<Row>) -> Outcome<()> {
    const VOLUMES: usize = 65;
    let create = |location, dims: &[usize]| Tensor::create(context, DType::F32, location, Order::ColumnMajor, dims);
    let (mut host, mut bvals, mut bvecs) = (
        create(Location::Host, &[VOLUMES, VOXELS])?,
        create(Location::Host, &[VOLUMES])?,
        create(Location::Host, &[3, VOLUMES])?,
    );
    for k in 0..VOLUMES {
        let z = 1.0 - (2 * k + 1) as f64 / VOLUMES as f64;
        let (r, phi) = ((1.0 - z * z).sqrt(), 2.399_963 * k as f64);
        bvals.view_mut::<f32>("bvals")?.set(&[k], if k == 0 { 0.0 } else { 1000.0 });
        for (axis, x) in [r * phi.cos(), r * phi.sin(), z].into_iter().enumerate() {
            bvecs.view_mut::<f32>("bvecs")?.set(&[axis, k], x as f32);
        }
    }
    for (k, s) in host.view_mut::<f32>("signals")?.data().iter_mut().enumerate() {
        *s = if k % VOLUMES == 0 { 1000.0 } else { 300.0 + ((k * 31) % 401) as f32 };
    }
    let mut signals = create(location, &[VOLUMES, VOXELS])?;
    tensor::copy(context, None, &host, &mut signals)?;
    let shape = Symmetric::new(4, 3)?;
    let mut out = Tensor::create_symmetric(context, DType::F32, location, Order::ColumnMajor, shape, VOXELS)?;
    let (options, progress) = (FitOptions::default(), Progress::none());
    let queue = purlin::stream::Stream::new(context)?;
    let seconds = median(|| {
        dwi::fit(
            context,
            Some(&queue),
            &signals,
            &bvals,
            &bvecs,
            None,
            None,
            &options,
            &mut out,
            None,
            None,
            &progress,
        )?;
        Ok(queue.synchronize()?)
    })?;
    let value = VOXELS as f64 / seconds;
    rows.push(Row { case: format!("fit F32 64 directions {location:?}"), unit: "voxels/s", value, seconds });
    Ok(())
}

fn main() -> Outcome<()> {
    // `cargo test --benches` runs this too, to see that it starts.
    if std::env::args().any(|a| a == "--test") {
        return Ok(());
    }
    let options = Options { backend: BackendChoice::Cuda, ..Options::default() };
    let context = match Context::new(options) {
        Ok(context) => context,
        Err(e) => {
            println!("gpu: skipped, {e}");
            return Ok(());
        }
    };
    let device = context.gpu("bench")?.name().to_owned();
    let mut rows = Vec::new();
    link(&context, &mut rows)?;
    for location in [Location::Device, Location::PinnedHost, Location::Host] {
        peaks::<f32>(&context, location, &mut rows)?;
        peaks::<f64>(&context, location, &mut rows)?;
        fit(&context, location, &mut rows)?;
    }
    let title = format!("{VOXELS} voxels, order 4, {STARTS} starts, hybrid, {PEAKS} peaks");
    println!("{title}, {device}, {}", purlin::build_info());
    let mut json = format!("{{\"title\": \"{title}\", \"device\": \"{device}\", \"rows\": [");
    for (k, r) in rows.iter().enumerate() {
        println!("  {:<56} {:10.4e} {:<9} {:9.3} ms", r.case, r.value, r.unit, 1e3 * r.seconds);
        let comma = if k > 0 { ", " } else { "" };
        write!(
            json,
            "{comma}{{\"case\": \"{}\", \"unit\": \"{}\", \"purlin\": {:.6e}, \"seconds\": {:.6e}}}",
            r.case, r.unit, r.value, r.seconds
        )?;
    }
    json.push_str("]}\n");
    if let Ok(path) = std::env::var("PURLIN_BENCH_JSON") {
        std::fs::write(path, json)?;
    }
    Ok(())
}
