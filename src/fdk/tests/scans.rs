//! Whole scans through sources and sinks.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::golden::{GRID, case, reconstruct as by_reference};
use crate::backend::BackendChoice;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::metaimage::{MetaImageSink, MetaImageSource};
use crate::blocks::number::{Endianness, Number, encode};
use crate::blocks::sink::{CallbackSink, FileSink, HostSink, Sink};
use crate::blocks::source::{CallbackSource, FileSource, HostSource, Source};
use crate::context::{Context, Options as ContextOptions};
use crate::error::{Error, Result};
use crate::fdk::counts::Counts;
use crate::fdk::options::Options;
use crate::fdk::plan::Plan;
use crate::fdk::{Fdk, Info, Projections, Volume};
use crate::progress::ProgressFn;

/// Parameters of a test besides the plan.
#[derive(Clone, Copy, Default)]
pub(super) struct Output {
    pub scale: f64,
    pub offset: f64,
    pub slab: usize,
    pub batch: usize,
}

pub(super) const PLAIN: Output = Output { scale: 1.0, offset: 0.0, slab: 0, batch: 0 };

pub(super) fn context(threads: usize, host_memory_limit: u64) -> std::sync::Arc<Context> {
    let options =
        ContextOptions { backend: BackendChoice::Cpu, threads, host_memory_limit, ..ContextOptions::default() };
    Context::new(options).unwrap()
}

fn plan(name: &'static str) -> (Plan, Vec<f32>) {
    let case = case(name);
    let projections = case.projections.iter().map(|p| *p as f32).collect();
    (Plan::new(case.geometry, GRID, Options::default()).unwrap(), projections)
}

pub(super) fn bytes(number: Number, values: &[f32]) -> Vec<u8> {
    let mut out = vec![0; values.len() * number.size()];
    encode(number, values, &mut out);
    out
}

pub(super) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

pub(super) fn projection_info(plan: &Plan, number: Number) -> ArrayInfo {
    let d = &plan.geometry.detector;
    ArrayInfo::new(number, &[d.columns, d.rows, plan.views.len()]).unwrap()
}

pub(super) fn volume_info(plan: &Plan) -> ArrayInfo {
    let mut info = ArrayInfo::new(Number::F32, &plan.grid.size).unwrap();
    info.spacing = Some(plan.grid.spacing.to_vec());
    info.origin = Some(plan.grid.origin.to_vec());
    info
}

pub(super) fn run(
    plan: &Plan,
    counts: Option<&Counts>,
    output: &Output,
    limit: u64,
    source: &mut dyn Source,
    sink: &mut dyn Sink,
    progress: Option<&ProgressFn<'_>>,
) -> Result<Info> {
    let options = Options {
        output_scale: output.scale,
        output_offset: output.offset,
        slab: output.slab,
        view_batch: output.batch,
        ..plan.options
    };
    let mut fdk = Fdk::new(&context(2, limit), plan.geometry.clone(), Some(plan.grid), options)?;
    fdk.set_counts(counts.cloned())?;
    fdk.reconstruct(None, Projections::Source(source), Volume::Sink(sink), progress)
}

pub(super) fn in_memory(plan: &Plan, projections: &[f32], output: &Output, limit: u64) -> (Vec<f32>, Info) {
    let input = bytes(Number::F32, projections);
    let mut out = vec![0xffu8; plan.voxels() * 4];
    let mut source = HostSource::new(projection_info(plan, Number::F32), &input).unwrap();
    let mut sink = HostSink::new(volume_info(plan), &mut out).unwrap();
    let info = run(plan, None, output, limit, &mut source, &mut sink, None).unwrap();
    drop(sink);
    (floats(&out), info)
}

/// A folder that goes with the value.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl std::ops::Deref for Folder {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn memory_limits_and_batches_change_no_bit() {
    for name in ["full", "carm"] {
        let (plan, projections) = plan(name);
        let (whole, info) = in_memory(&plan, &projections, &PLAIN, 0);
        assert_eq!((info.slabs, info.slab), (1, 36));
        let want = by_reference(&plan, &projections.iter().map(|p| f64::from(*p)).collect::<Vec<_>>());
        let worst = whole.iter().zip(&want).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
        assert!(worst < 2e-5, "{name}: {worst:e}");
        assert_eq!(info.host_bytes_used, info.host_bytes);
        let small = info.host_bytes * 3 / 4;
        let (cut_up, info) = in_memory(&plan, &projections, &PLAIN, small.unsigned_abs());
        assert!(info.slabs > 1 && info.host_bytes <= small, "{info:?}");
        assert_eq!(info.host_bytes_used, info.host_bytes);
        assert!(cut_up == whole, "{name} in {} slabs", info.slabs);
        let (batched, info) = in_memory(&plan, &projections, &Output { batch: 7, slab: 17, ..PLAIN }, 0);
        assert_eq!((info.view_batch, info.slab, info.slabs), (7, 32, 2));
        assert!(batched == whole);
    }
}

#[test]
fn too_little_memory_is_an_error_that_names_what_is_needed() {
    let (plan, projections) = plan("full");
    let input = bytes(Number::F32, &projections);
    let mut out = vec![0u8; plan.voxels() * 4];
    let mut source = HostSource::new(projection_info(&plan, Number::F32), &input).unwrap();
    let mut sink = HostSink::new(volume_info(&plan), &mut out).unwrap();
    let e = run(&plan, None, &PLAIN, 1000, &mut source, &mut sink, None).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { limit: Some(1000), .. }), "{e}");
}

#[test]
fn files_of_any_type_and_byte_order_give_the_volume() {
    let folder = Folder::new("fdk-files");
    let (plan, projections) = plan("short");
    let (want, _) = in_memory(&plan, &projections, &PLAIN, 0);
    for (number, endianness) in [(Number::F32, Endianness::Big), (Number::F64, Endianness::Little)] {
        let raw = folder.join("scan.raw");
        let mut content = vec![7u8; 123];
        let mut data = bytes(number, &projections);
        endianness.swap_to_native(number, &mut data);
        content.extend(data);
        std::fs::write(&raw, content).unwrap();
        let mut source = FileSource::open(&raw, 123, endianness, projection_info(&plan, number)).unwrap();
        let target = folder.join("volume.mha");
        let mut sink = MetaImageSink::create(&target, volume_info(&plan)).unwrap();
        assert!(!target.exists());
        run(&plan, None, &PLAIN, 0, &mut source, &mut sink, None).unwrap();
        drop(sink);
        assert_eq!(folder.names(), ["scan.raw", "volume.mha"]);
        let mut back = MetaImageSource::open(&target).unwrap();
        assert_eq!(back.info(), &volume_info(&plan));
        let mut out = vec![0u8; plan.voxels() * 4];
        back.read(&Block::whole(&volume_info(&plan)), &mut out).unwrap();
        assert!(floats(&out) == want);
        std::fs::remove_file(&target).unwrap();
    }
    // A detached header, written last.
    let target = folder.join("volume.mhd");
    let mut sink = MetaImageSink::create(&target, volume_info(&plan)).unwrap();
    sink.write(&Block::whole(&volume_info(&plan)), &bytes(Number::F32, &want)).unwrap();
    sink.finish().unwrap();
    let mut out = vec![0u8; plan.voxels() * 4];
    MetaImageSource::open(&target).unwrap().read(&Block::whole(&volume_info(&plan)), &mut out).unwrap();
    assert!(floats(&out) == want);
}

#[test]
fn raw_counts_give_the_volume_of_their_line_integrals() {
    let (plan, projections) = plan("full");
    // Line integrals up to 90 leave nothing of any beam; scale the object down.
    let scaled: Vec<f32> = projections.iter().map(|p| p / 20.0).collect();
    let counts: Vec<f32> = scaled.iter().map(|p| (100.0 + 50_000.0 * (-p).exp()).round()).collect();
    let dark = vec![100.0; plan.panel_pixels()];
    let model = Counts { unattenuated: 50_100.0, unattenuated_image: None, dark: Some(dark.into()), least: 0.0 };
    let model = model.check([plan.geometry.detector.columns, plan.geometry.detector.rows]).unwrap();
    let input = bytes(Number::U16, &counts);
    let mut out = vec![0u8; plan.voxels() * 4];
    let mut source = HostSource::new(projection_info(&plan, Number::U16), &input).unwrap();
    let mut sink = HostSink::new(volume_info(&plan), &mut out).unwrap();
    let output = Output { scale: 20.0, offset: 1.0, ..PLAIN };
    let info = run(&plan, Some(&model), &output, 0, &mut source, &mut sink, None).unwrap();
    drop(sink);
    assert_eq!((info.pixels_clamped, info.pixels_negative), (0, 0));
    let (want, _) = in_memory(&plan, &projections, &PLAIN, 0);
    let rms = floats(&out).iter().zip(&want).map(|(a, b)| f64::from(a - 1.0 - b).powi(2)).sum::<f64>();
    // Rounding to whole counts, at most 1 part in 600 of a transmission of 1 percent.
    let rms = (rms / want.len() as f64).sqrt();
    assert!(rms < 2e-2, "{rms}");
}

#[test]
fn a_cancelled_or_failed_run_leaves_no_file() {
    let folder = Folder::new("fdk-cancel");
    let (plan, projections) = plan("full");
    let target = folder.join("volume.raw");
    let create = || FileSink::create(&target, &[], Endianness::NATIVE, volume_info(&plan)).unwrap();
    let input = bytes(Number::F32, &projections);
    let steps = AtomicUsize::new(0);
    let stop = |_: i64, _: i64, _: f64| steps.fetch_add(1, Ordering::Relaxed) < 1;
    let mut source = HostSource::new(projection_info(&plan, Number::F32), &input).unwrap();
    let mut sink = create();
    // The first report is let through, the last one cancels.
    let outcome = run(&plan, None, &Output { batch: 90, slab: 16, ..PLAIN }, 0, &mut source, &mut sink, Some(&stop));
    assert_eq!(outcome.map(|_| ()), Err(Error::Cancelled));
    drop(sink);
    assert!(folder.names().is_empty(), "{:?}", folder.names());

    let failing = |block: &Block, _: &mut [u8]| {
        if block.first()[2] > 30 {
            Err(Error::Io { path: "detector".into(), problem: "unplugged".into() })
        } else {
            Ok(())
        }
    };
    let mut source = CallbackSource::new(projection_info(&plan, Number::F32), Box::new(failing));
    let mut sink = create();
    let outcome = run(&plan, None, &PLAIN, 0, &mut source, &mut sink, None);
    assert_eq!(outcome.unwrap_err().to_string(), "detector: unplugged");
    drop(sink);
    assert!(folder.names().is_empty());

    let full = |_: &Block, _: &[u8]| Err(Error::Io { path: "disk".into(), problem: "full".into() });
    let mut source = HostSource::new(projection_info(&plan, Number::F32), &input).unwrap();
    let mut sink = CallbackSink::new(volume_info(&plan), Box::new(full));
    let outcome = run(&plan, None, &PLAIN, 0, &mut source, &mut sink, None);
    assert_eq!(outcome.unwrap_err().to_string(), "disk: full");
}

#[test]
fn files_that_do_not_fit_are_refused_by_name() {
    let folder = Folder::new("fdk-bad");
    let (plan, _) = plan("full");
    let open =
        |path: &Path| FileSource::open(path, 0, Endianness::Little, projection_info(&plan, Number::F32)).map(|_| ());
    assert!(matches!(open(&folder.join("missing")), Err(Error::Io { .. })));
    std::fs::write(folder.join("short"), [0u8; 100]).unwrap();
    let text = open(&folder.join("short")).unwrap_err().to_string();
    assert!(text.contains("has 100 bytes, 1843200 are needed"), "{text}");
    for (text, problem) in [
        ("no header at all", "is not a MetaImage"),
        ("DimSize = 2 2\nElementType = MET_FLOAT\n", "no ElementDataFile"),
        ("DimSize = 2 x\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n", "which are no sizes"),
        ("DimSize = 2 2\nElementType = MET_LONG_DOUBLE\nElementDataFile = LOCAL\n", "is not supported"),
        ("DimSize = 2 2\nCompressedData = True\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n", "is compressed"),
        ("DimSize = 2 2\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n", "has 62 bytes, 78 are needed"),
    ] {
        let path = folder.join("image.mha");
        std::fs::write(&path, text).unwrap();
        let e = MetaImageSource::open(&path).map(|_| ()).unwrap_err().to_string();
        assert!(e.contains(problem), "{text:?}: {e}");
    }
}
