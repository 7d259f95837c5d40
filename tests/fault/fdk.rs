//! Cone-beam CT, and the sources and sinks that its runs read and write.

use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::cases::{Call, Case};
use crate::fixture::{Fixture, c, initialized, message, noise};

const COLUMNS: i64 = 32;
const ROWS: i64 = 40;
const VIEWS: i64 = 24;
const PANELS: [i64; 3] = [COLUMNS, ROWS, VIEWS];
/// Voxels of the grid along each axis.
const N: i64 = 24;
const VOXELS: [i64; 3] = [N, N, N];

/// Whole scans and pushed ones, on tensors.
pub fn on_any_backend() -> Vec<Case> {
    vec![
        Case { name: "purlin_fdk_reconstruct", allocations: 8, prepare: |f| reconstruct(f, 0) },
        Case { name: "purlin_fdk_reconstruct, slabs", allocations: 8, prepare: |f| reconstruct(f, 8) },
        Case { name: "purlin_fdk_push", allocations: 8, prepare: push },
    ]
}

/// Calls that run on the processor that holds their tensors, a GPU too.
pub fn where_tensors_are() -> Vec<Case> {
    vec![Case { name: "purlin_fdk_weight, filter, backproject", allocations: 4, prepare: steps }]
}

/// Calls that run on the host only.
pub fn on_host() -> Vec<Case> {
    vec![
        Case { name: "purlin_fdk_reconstruct, F64", allocations: 8, prepare: exact },
        Case { name: "purlin_fdk_reconstruct_to_sink, callbacks", allocations: 8, prepare: callbacks },
        Case { name: "purlin_fdk_set_counts", allocations: 8, prepare: counts },
        Case { name: "purlin_fdk_log_transform", allocations: 1, prepare: log_transform },
        Case { name: "purlin_fdk_ellipsoids", allocations: 3, prepare: ellipsoids },
    ]
}

/// Calls that read and write files.
pub fn on_files() -> Vec<Case> {
    vec![
        Case { name: "raw file to raw file", allocations: 0, prepare: |f| files(f, "raw") },
        Case { name: "MetaImage to MetaImage", allocations: 0, prepare: |f| files(f, "mha") },
        Case { name: "detached MetaImage to detached MetaImage", allocations: 0, prepare: |f| files(f, "mhd") },
        Case { name: "TIFF to TIFF", allocations: 0, prepare: |f| files(f, "tif") },
    ]
}

/// Makes a reconstruction, calls `body` with it and destroys it.
fn with_fdk(
    f: &Fixture,
    change: impl Fn(&mut purlin_fdk_options) + 'static,
    body: impl Fn(*mut purlin_fdk) -> purlin_status + 'static,
) -> Call {
    let context = f.context;
    let angles: Vec<f64> = (0..VIEWS).map(|n| n as f64 * std::f64::consts::TAU / VIEWS as f64).collect();
    Box::new(move || {
        let mut g = initialized!(purlin_fdk_geometry, purlin_fdk_geometry_init);
        (g.source_to_axis, g.source_to_detector, g.column_pitch, g.row_pitch) = (500.0, 1000.0, 4.0, 4.0);
        (g.detector_columns, g.detector_rows, g.views, g.angles) = (COLUMNS, ROWS, VIEWS, angles.as_ptr());
        let mut grid = initialized!(purlin_fdk_grid, purlin_fdk_grid_init);
        (grid.nx, grid.ny, grid.nz, grid.dx, grid.dy, grid.dz) = (N, N, N, 2.0, 2.0, 2.0);
        (grid.x0, grid.y0, grid.z0) = (-23.0, -23.0, -23.0);
        let mut o = initialized!(purlin_fdk_options, purlin_fdk_options_init);
        change(&mut o);
        let mut fdk = null_mut();
        let place = &raw mut fdk;
        let status = c!(purlin_fdk_create(context, &raw const g, &raw const grid, &raw const o, place));
        if status != purlin_status::PURLIN_SUCCESS {
            return status;
        }
        let status = body(fdk);
        assert_eq!(purlin_fdk_destroy(fdk), purlin_status::PURLIN_SUCCESS, "{}", message());
        status
    })
}

/// The first failure of some calls, each made when all before it have succeeded.
macro_rules! in_turn {
    ($($call:expr),* $(,)?) => {{
        let mut status = purlin_status::PURLIN_SUCCESS;
        $(
            if status == purlin_status::PURLIN_SUCCESS {
                status = c!($call);
            }
        )*
        status
    }};
}

fn scan(f: &Fixture) -> [*mut purlin_tensor; 2] {
    [f.dense(PURLIN_F32, &PANELS, noise), f.dense(PURLIN_F32, &VOXELS, noise)]
}

fn reconstruct(f: &Fixture, slab: i64) -> Call {
    let [projections, volume] = scan(f);
    with_fdk(
        f,
        move |o| o.slab = slab,
        move |fdk| {
            let mut info = initialized!(purlin_fdk_info, purlin_fdk_info_init);
            c!(purlin_fdk_reconstruct(fdk, null(), projections, volume, &raw mut info))
        },
    )
}

fn exact(f: &Fixture) -> Call {
    let [projections, volume] = scan(f);
    with_fdk(
        f,
        |o| o.precision = PURLIN_FDK_PRECISION_F64,
        move |fdk| c!(purlin_fdk_reconstruct(fdk, null(), projections, volume, null_mut())),
    )
}

fn push(f: &Fixture) -> Call {
    let part = VIEWS / 3;
    let parts: Vec<_> = (0..3).map(|_| f.dense(PURLIN_F32, &[COLUMNS, ROWS, part], noise)).collect();
    let volume = f.dense(PURLIN_F32, &VOXELS, noise);
    with_fdk(
        f,
        |o| o.view_batch = 5,
        move |fdk| {
            let mut status = c!(purlin_fdk_begin(fdk, null()));
            for (first, tensor) in (0..VIEWS).step_by(part as usize).zip(&parts) {
                let views: Vec<i64> = (first..first + part).collect();
                if status == purlin_status::PURLIN_SUCCESS {
                    status = c!(purlin_fdk_push(fdk, part, views.as_ptr(), *tensor));
                }
            }
            in_turn!(status, purlin_fdk_finish(fdk, volume, null_mut()))
        },
    )
}

unsafe extern "C" fn read(
    _: *const i64,
    count: *const i64,
    block: *mut std::ffi::c_void,
    _: *mut std::ffi::c_void,
) -> i32 {
    // SAFETY: purlin passes three counts, and memory for their product of F32.
    unsafe {
        let elements: i64 = std::slice::from_raw_parts(count, 3).iter().product();
        for k in 0..elements as usize {
            block.cast::<f32>().add(k).write(noise(k) as f32);
        }
    }
    0
}

unsafe extern "C" fn write(_: *const i64, _: *const i64, _: *const std::ffi::c_void, _: *mut std::ffi::c_void) -> i32 {
    0
}

fn callbacks(f: &Fixture) -> Call {
    let context = f.context;
    with_fdk(
        f,
        |_| {},
        move |fdk| {
            let (mut source, mut sink) = (null_mut(), null_mut());
            let (panels, voxels) = (PANELS.as_ptr(), VOXELS.as_ptr());
            let none = null_mut();
            let status = in_turn!(
                purlin_source_from_callback(context, PURLIN_F32, 3, panels, Some(read), none, &raw mut source),
                purlin_sink_to_callback(context, PURLIN_U16, 3, voxels, Some(write), none, &raw mut sink),
                purlin_fdk_reconstruct_to_sink(fdk, null(), source, sink, null_mut()),
            );
            end(source, sink);
            status
        },
    )
}

fn end(source: *mut purlin_source, sink: *mut purlin_sink) {
    assert_eq!(purlin_source_destroy(source), purlin_status::PURLIN_SUCCESS, "{}", message());
    assert_eq!(purlin_sink_destroy(sink), purlin_status::PURLIN_SUCCESS, "{}", message());
}

fn counts(f: &Fixture) -> Call {
    let [projections, volume] = scan(f);
    let image = f.dense(PURLIN_F32, &[COLUMNS, ROWS], |_| 1000.0);
    let dark = f.dense(PURLIN_F32, &[COLUMNS, ROWS], |_| 10.0);
    with_fdk(
        f,
        |_| {},
        move |fdk| {
            in_turn!(
                purlin_fdk_set_counts(fdk, 0.0, image, dark, 0.0),
                purlin_fdk_reconstruct(fdk, null(), projections, volume, null_mut()),
            )
        },
    )
}

fn log_transform(f: &Fixture) -> Call {
    let (context, counts) = (f.context, f.dense(PURLIN_F32, &PANELS, |k| 500.0 + 100.0 * noise(k)));
    let projections = f.dense(PURLIN_F32, &PANELS, noise);
    let dark = f.dense(PURLIN_F32, &[COLUMNS, ROWS], |_| 10.0);
    Box::new(move || {
        let mut raised = 0;
        let place = &raw mut raised;
        c!(purlin_fdk_log_transform(context, null(), counts, 1000.0, null(), dark, 0.0, projections, place))
    })
}

fn steps(f: &Fixture) -> Call {
    let [projections, volume] = scan(f);
    let (weighted, filtered) = (f.dense(PURLIN_F32, &PANELS, noise), f.dense(PURLIN_F32, &PANELS, noise));
    let views: Vec<i64> = (0..VIEWS).collect();
    with_fdk(
        f,
        |_| {},
        move |fdk| {
            let views = views.as_ptr();
            in_turn!(
                purlin_fdk_weight(fdk, null(), VIEWS, views, projections, weighted),
                purlin_fdk_filter(fdk, null(), VIEWS, views, weighted, filtered),
                purlin_fdk_backproject(fdk, null(), VIEWS, views, filtered, volume),
            )
        },
    )
}

fn ellipsoids(f: &Fixture) -> Call {
    let [projections, volume] = scan(f);
    let list = f.dense(PURLIN_F64, &[8, 10], |_| 0.0);
    with_fdk(
        f,
        |_| {},
        move |fdk| {
            in_turn!(
                purlin_fdk_shepp_logan(20.0, list),
                purlin_fdk_ellipsoids(fdk, null(), list, projections),
                purlin_fdk_ellipsoid_volume(fdk, list, volume),
            )
        },
    )
}

/// A folder that is removed when the value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(kind: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-fault-{kind}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for files");
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the folder");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A path as C has it.
fn c_path(path: &Path) -> std::ffi::CString {
    std::ffi::CString::new(path.to_str().expect("a plain path")).expect("no zero in it")
}

/// A sink of `kind` for an array of the given sizes.
fn sink_to(
    context: *mut purlin_context,
    kind: &str,
    path: &Path,
    dims: &[i64; 3],
    sink: *mut *mut purlin_sink,
) -> purlin_status {
    let (path, d) = (c_path(path), dims.as_ptr());
    match kind {
        "raw" => c!(purlin_sink_to_file(context, path.as_ptr(), 9, PURLIN_F32, PURLIN_BIG_ENDIAN, 3, d, sink)),
        "tif" => c!(purlin_sink_to_tiff(context, path.as_ptr(), PURLIN_F32, dims[0], dims[1], dims[2], sink)),
        _ => c!(purlin_sink_to_metaimage(context, path.as_ptr(), PURLIN_F32, 3, d, null(), null(), sink)),
    }
}

fn source_from(
    context: *mut purlin_context,
    kind: &str,
    path: &Path,
    dims: &[i64; 3],
    source: *mut *mut purlin_source,
) -> purlin_status {
    let path = c_path(path);
    let name = path.as_ptr();
    match kind {
        "raw" => {
            c!(purlin_source_from_file(context, name, 9, PURLIN_F32, PURLIN_BIG_ENDIAN, 3, dims.as_ptr(), source))
        }
        "tif" => c!(purlin_source_from_tiff(context, 1, &raw const name, source)),
        _ => c!(purlin_source_from_metaimage(context, name, source)),
    }
}

/// A file to a file of the same kind. A failure must leave no new file.
fn files(f: &Fixture, kind: &'static str) -> Call {
    let folder = Folder::new(kind);
    let context = f.context;
    let (scan, volume) = (folder.0.join(format!("scan.{kind}")), folder.0.join(format!("volume.{kind}")));
    write_scan(f, kind, &scan);
    let before = folder.names();
    with_fdk(
        f,
        |_| {},
        move |fdk| {
            let (mut source, mut sink) = (null_mut(), null_mut());
            let status = in_turn!(
                source_from(context, kind, &scan, &PANELS, &raw mut source),
                sink_to(context, kind, &volume, &VOXELS, &raw mut sink),
                purlin_fdk_reconstruct_to_sink(fdk, null(), source, sink, null_mut()),
            );
            let text = message();
            end(source, sink);
            // A file whose name could not be made durable keeps the name.
            if status == purlin_status::PURLIN_SUCCESS || text.contains("write out its folder") {
                assert!(folder.names().len() > before.len());
                for name in folder.names().into_iter().filter(|n| !before.contains(n)) {
                    std::fs::remove_file(folder.0.join(name)).expect("the volume can be removed");
                }
            }
            // A detached image whose header failed may leave its data, which no header names.
            let left: Vec<String> = folder.names().into_iter().filter(|n| n != "volume.raw").collect();
            assert_eq!(left, before, "a failure leaves no file");
            let _ = std::fs::remove_file(folder.0.join("volume.raw"));
            status
        },
    )
}

/// Writes the scan by a run over an array whose sizes are the panel's, which the same kind of sink takes.
fn write_scan(f: &Fixture, kind: &str, path: &Path) {
    let context = f.context;
    let mut sink = null_mut();
    let angles: Vec<f64> = (0..8).map(|n| f64::from(n) * std::f64::consts::FRAC_PI_4).collect();
    let mut g = initialized!(purlin_fdk_geometry, purlin_fdk_geometry_init);
    (g.source_to_axis, g.source_to_detector, g.column_pitch, g.row_pitch) = (500.0, 1000.0, 8.0, 8.0);
    (g.detector_columns, g.detector_rows, g.views, g.angles) = (16, 16, 8, angles.as_ptr());
    let mut grid = initialized!(purlin_fdk_grid, purlin_fdk_grid_init);
    (grid.nx, grid.ny, grid.nz, grid.dx, grid.dy, grid.dz) = (COLUMNS, ROWS, VIEWS, 1.0, 1.0, 1.0);
    let projections = f.dense(PURLIN_F32, &[16, 16, 8], noise);
    let (mut fdk, mut source) = (null_mut(), null_mut());
    let status = in_turn!(
        purlin_fdk_create(context, &raw const g, &raw const grid, null(), &raw mut fdk),
        purlin_source_from_tensor(context, projections, &raw mut source),
        sink_to(context, kind, path, &PANELS, &raw mut sink),
        purlin_fdk_reconstruct_to_sink(fdk, null(), source, sink, null_mut()),
    );
    assert_eq!(status, purlin_status::PURLIN_SUCCESS, "{}", message());
    end(source, sink);
    assert_eq!(purlin_fdk_destroy(fdk), purlin_status::PURLIN_SUCCESS);
}
