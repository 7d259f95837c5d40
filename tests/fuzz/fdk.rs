//! Sources, sinks and cone-beam CT. Sizes are small and mostly fit together; the program's bytes decide the files' contents.

use std::ffi::{CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use purlin::ffi::*;

use crate::base::any_stream;
use crate::families::{context, progress, shaped, wanted};
use crate::options::{StructMemory, any_init, initialized};
use crate::program::c;
use crate::source::Source;
use crate::world::World;

/// Sizes that a reconstruction was made with.
#[derive(Clone, Copy)]
pub struct Shape {
    panels: [i64; 3],
    voxels: [i64; 3],
}

/// Makes one random call of these functions; returns its status.
pub fn call(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(24) {
        0 => inits(s),
        1..=3 => source(s, w),
        4..=6 => sink(s, w),
        7..=10 => create(s, w),
        11..=13 => reconstruct(s, w),
        14..=17 => push(s, w),
        18 => steps(s, w),
        19 => settings(s, w),
        20 => phantom(s, w),
        21 => c!(purlin_fdk_cancel(w.fdks.pick(s))),
        _ => destroy(s, w),
    }
}

fn inits(s: &mut Source<'_>) -> purlin_status {
    match s.below(5) {
        0 => any_init!(s, purlin_array_info, purlin_array_info_init),
        1 => any_init!(s, purlin_fdk_geometry, purlin_fdk_geometry_init),
        2 => any_init!(s, purlin_fdk_grid, purlin_fdk_grid_init),
        3 => any_init!(s, purlin_fdk_options, purlin_fdk_options_init),
        _ => any_init!(s, purlin_fdk_info, purlin_fdk_info_init),
    }
}

/// The process's own folder for files, which holds two or three at a time.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("purlin-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for files");
        path
    })
}

/// Removes the folder, which must have finished files only.
pub fn clean() {
    for entry in std::fs::read_dir(folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        assert!(!path.to_string_lossy().contains("partial"), "{} is left", path.display());
    }
    let _ = std::fs::remove_dir_all(folder());
}

/// A path to a file of the folder, to none, or nothing at all.
pub struct Name(Option<CString>);

impl Name {
    pub fn of(s: &mut Source<'_>, file: &str) -> Self {
        let path = match s.below(20) {
            0 => return Self(None),
            1 => String::new(),
            2 => "/nowhere/at/all".to_owned(),
            _ => folder().join(file).to_string_lossy().into_owned(),
        };
        Self(CString::new(path).ok())
    }

    pub fn get(&self) -> *const c_char {
        self.0.as_ref().map_or(null(), |p| p.as_ptr())
    }

    /// The path in memory that lives as long as the world.
    pub fn keep(self, w: &mut World) -> *const c_char {
        self.0.map_or(null(), |p| w.keep(p.into_bytes_with_nul()).cast_const().cast())
    }
}

/// Writes a file whose beginning is one that a reader may take, changed in a few places.
pub fn write_file(s: &mut Source<'_>, name: &str, head: &[u8]) {
    let mut bytes = head.to_vec();
    bytes.extend((0..s.below(200)).map(|k| (k * 37) as u8));
    for _ in 0..s.below(6) {
        let place = s.bits() as usize % bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(place) {
            *byte = s.byte();
        }
    }
    if s.once_in(8) {
        bytes.truncate(s.below(256));
    }
    std::fs::write(folder().join(name), bytes).expect("the file can be written");
}

/// Removes a file if an earlier call has left it.
pub fn remove_old_file(name: &str) {
    if folder().join(name).exists() {
        remove_file(name);
    }
}

/// Removes a file's name.
pub fn remove_file(name: &str) {
    std::fs::remove_file(folder().join(name)).expect("the file can be removed");
}

/// A TIFF of one page of 4 x 3 bytes.
fn tiff() -> Vec<u8> {
    let mut bytes = b"II*\0\x08\0\0\0".to_vec();
    let entries: [(u16, u16, u32); 10] = [
        (256, 4, 4),
        (257, 4, 3),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 134),
        (277, 3, 1),
        (278, 4, 3),
        (279, 4, 12),
        (339, 3, 1),
    ];
    bytes.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend([0; 4]);
    bytes
}

const IMAGE: &[u8] =
    b"ObjectType = Image\nNDims = 3\nDimSize = 3 2 4\nElementSpacing = 1 2 3\nElementType = MET_SHORT\nElementDataFile = LOCAL\n";

unsafe extern "C" fn read(_: *const i64, _: *const i64, _: *mut c_void, user: *mut c_void) -> i32 {
    user.addr() as i32
}

unsafe extern "C" fn write(_: *const i64, _: *const i64, _: *const c_void, user: *mut c_void) -> i32 {
    user.addr() as i32
}

/// The return value of a caller's function, as its `user` pointer: mostly 0.
pub fn answer(s: &mut Source<'_>) -> *mut c_void {
    std::ptr::without_provenance_mut(usize::from(s.once_in(6)))
}

/// Sizes of a scan, a volume or anything.
fn any_dims(s: &mut Source<'_>, w: &World) -> (i64, [i64; 64]) {
    let mut dims = [1; 64];
    let known = w.shape(s);
    let (ndim, sizes) = match s.below(8) {
        0 => (s.one_of(&[0, -1, 4, 5, i64::MIN, i64::MAX]), [s.size(), s.size(), s.size()]),
        1 => (3, [s.size(), s.size(), s.size()]),
        2..=4 => (3, known.voxels),
        _ => (3, known.panels),
    };
    dims[..3].copy_from_slice(&sizes);
    (ndim, dims)
}

fn source(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut made = null_mut();
    let place = if s.once_in(30) { null_mut() } else { &raw mut made };
    let (ndim, dims) = any_dims(s, w);
    let (dims, dtype) = (if s.once_in(30) { null() } else { dims.as_ptr() }, s.code(12));
    let context = context(s, w);
    let status = match s.below(6) {
        0 => {
            let known = w.shape(s).panels;
            let tensor = shaped(s, w, dtype, &known);
            c!(purlin_source_from_tensor(context, tensor, place))
        }
        1 => {
            write_file(s, "raw", &[0; 300]);
            let (name, offset) = (Name::of(s, "raw"), if s.once_in(6) { s.strange() } else { s.below(40) as i64 });
            c!(purlin_source_from_file(context, name.get(), offset, dtype, s.code(2), ndim, dims, place))
        }
        2 => {
            write_file(s, "image.mha", IMAGE);
            let name = Name::of(s, "image.mha");
            c!(purlin_source_from_metaimage(context, name.get(), place))
        }
        3 => {
            write_file(s, "stack.tif", &tiff());
            let names = [Name::of(s, "stack.tif"), Name::of(s, "stack.tif")];
            let paths = names.each_ref().map(Name::get);
            let count = s.one_of(&[1, 1, 2, 2, 0, -1, i64::MIN]);
            c!(purlin_source_from_tiff(context, count, paths.as_ptr(), place))
        }
        4 => {
            let read = if s.once_in(20) { None } else { Some(read as _) };
            c!(purlin_source_from_callback(context, dtype, ndim, dims, read, answer(s), place))
        }
        _ => {
            let info = initialized!(purlin_array_info, purlin_array_info_init);
            let mut memory = StructMemory::of(s, &info);
            return c!(purlin_source_info(w.sources.pick(s), memory.get_mut()));
        }
    };
    w.sources.made(status, made);
    status
}

fn sink(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut made = null_mut();
    let place = if s.once_in(30) { null_mut() } else { &raw mut made };
    let (ndim, mut dims) = any_dims(s, w);
    if dims.iter().any(|d| (1024..=1 << 40).contains(d)) {
        // A sparse file of that size can be created, and writing its volume would really write that much.
        dims[..3].copy_from_slice(&[3, 4, 5]);
    }
    let (sizes, dtype) = (if s.once_in(30) { null() } else { dims.as_ptr() }, s.code(12));
    let context = context(s, w);
    let status = match s.below(5) {
        0 => {
            let known = w.shape(s).voxels;
            let tensor = shaped(s, w, dtype, &known);
            c!(purlin_sink_to_tensor(context, tensor, place))
        }
        1 => {
            let name = Name::of(s, "volume.raw");
            let offset = s.one_of(&[0, 0, 7, 4096, -1, i64::MIN, i64::MAX]);
            c!(purlin_sink_to_file(context, name.get(), offset, dtype, s.code(2), ndim, sizes, place))
        }
        2 => {
            let file = s.one_of(&["volume.mha", "volume.mhd"]);
            let name = Name::of(s, file);
            let numbers: [f64; 8] = std::array::from_fn(|_| s.float().abs());
            let given = |s: &mut Source<'_>| if s.below(2) == 0 { null() } else { numbers.as_ptr() };
            let (spacing, origin) = (given(s), given(s));
            c!(purlin_sink_to_metaimage(context, name.get(), dtype, ndim, sizes, spacing, origin, place))
        }
        3 => {
            let name = Name::of(s, "volume.tif");
            c!(purlin_sink_to_tiff(context, name.get(), dtype, dims[0], dims[1], dims[2], place))
        }
        _ => {
            let write = if s.once_in(20) { None } else { Some(write as _) };
            c!(purlin_sink_to_callback(context, dtype, ndim, sizes, write, answer(s), place))
        }
    };
    w.sinks.made(status, made);
    status
}

fn options(s: &mut Source<'_>, w: &World) -> purlin_fdk_options {
    let mut o = initialized!(purlin_fdk_options, purlin_fdk_options_init);
    o.allow_short_arc = 1;
    (o.window, o.edge, o.fov_mask) = (s.code(5), s.code(2), s.code(2));
    for _ in 0..s.below(4) {
        match s.below(16) {
            0 => o.redundancy = s.code(5),
            1 => o.interpolation = s.code(2),
            2 => o.precision = s.code(2),
            3 => o.mode = s.code(2),
            4 => o.allow_missing = s.code(2),
            5 => o.allow_short_arc = s.code(2),
            6 => o.sanitize = s.code(2),
            7 => o.cutoff = s.float(),
            8 => o.truncation = s.float(),
            9 => o.output_scale = s.float(),
            10 => o.output_offset = s.float(),
            11 => o.slab = s.size(),
            12 => o.view_batch = s.size(),
            14 => o.group = w.groups.pick(s),
            13 => o.fft_length = s.one_of(&[64, 128, 32, 37, 0, -2, 1 << 62, i64::MAX]),
            _ => o.sanitize = 1,
        }
    }
    o.progress = progress(s);
    o
}

fn create(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut g = initialized!(purlin_fdk_geometry, purlin_fdk_geometry_init);
    (g.source_to_axis, g.source_to_detector, g.column_pitch, g.row_pitch) = (50.0, 100.0, 2.0, 3.0);
    (g.detector_columns, g.detector_rows, g.views) =
        (2 + s.below(8) as i64, 1 + s.below(6) as i64, 1 + s.below(6) as i64);
    for _ in 0..s.below(3) {
        match s.below(14) {
            0 => g.source_to_axis = s.float(),
            1 => g.source_to_detector = s.float(),
            2 => g.column_pitch = s.float(),
            3 => g.row_pitch = s.float(),
            4 => g.column_offset = s.float() * 8.0,
            5 => g.row_offset = s.float() * 8.0,
            6 => g.detector_columns = s.size(),
            7 => g.detector_rows = s.size(),
            8 => g.views = s.size(),
            9 => g.allow_inside_panel = s.code(2),
            10 => g.reserved = s.code(2),
            _ => {}
        }
    }
    let count = g.views.clamp(0, 16) as usize;
    let step = std::f64::consts::TAU / count.max(1) as f64;
    let strange = s.once_in(8);
    let angles: Vec<f64> = (0..count).map(|n| if strange { s.float() * 8.0 } else { n as f64 * step }).collect();
    let matrices: Vec<f64> = (0..count)
        .flat_map(|n| {
            let (sin, cos) = (n as f64 * step).sin_cos();
            [-sin * 40.0 - cos, cos * 40.0 - sin, 0.0, 50.0, -cos, -sin, 40.0, 50.0, -cos, -sin, 0.0, 50.0]
        })
        .map(|v| if s.once_in(60) { s.float() } else { v })
        .collect();
    // For an invalid or a large size there is no array of that size.
    if g.views <= 16 {
        match s.below(6) {
            0 => {}
            1 => (g.angles, g.matrices) = (angles.as_ptr(), matrices.as_ptr()),
            2 => {
                g.matrices = matrices.as_ptr();
                // Fields that the matrices determine are refused together with them.
                if !s.once_in(6) {
                    (g.source_to_axis, g.source_to_detector, g.row_pitch) = (0.0, 0.0, 0.0);
                    (g.column_offset, g.row_offset, g.allow_inside_panel) = (0.0, 0.0, 0);
                }
            }
            _ => g.angles = angles.as_ptr(),
        }
    }
    let mut grid = initialized!(purlin_fdk_grid, purlin_fdk_grid_init);
    if !s.once_in(4) {
        (grid.nx, grid.ny, grid.nz) = (1 + s.below(6) as i64, 1 + s.below(6) as i64, 1 + s.below(20) as i64);
        (grid.dx, grid.dy, grid.dz) = (1.0, 1.5, 0.5);
        match s.below(12) {
            0 => grid.nx = s.size(),
            1 => grid.ny = s.size(),
            2 => grid.nz = s.size(),
            3 => grid.dx = s.float(),
            4 => grid.y0 = s.float(),
            5 => grid.z0 = s.float() * 40.0,
            _ => {}
        }
    }
    let o = options(s, w);
    let context = context(s, w);
    let (rg, rn, ro) = (StructMemory::of(s, &g), StructMemory::of(s, &grid), StructMemory::of(s, &o));
    let (mut fdk, given) = (null_mut(), s.below(30));
    let place = if given == 0 { null_mut() } else { &raw mut fdk };
    let geometry = if given == 1 { null() } else { rg.get() };
    let grid_given = if given == 2 { null() } else { rn.get() };
    if s.once_in(8) {
        let projections = shaped(s, w, PURLIN_F32, &[g.detector_columns, g.detector_rows, g.views]);
        let volume = shaped(s, w, PURLIN_F32, &[grid.nx, grid.ny, grid.nz]);
        let (o, info) = (ro.get(), null_mut());
        return c!(purlin_fdk_reconstruct_once(context, null(), projections, geometry, grid_given, o, volume, info));
    }
    let status = c!(purlin_fdk_create(context, geometry, grid_given, ro.get(), place));
    w.fdks.made(status, fdk);
    if status == purlin_status::PURLIN_SUCCESS {
        let mut info = initialized!(purlin_fdk_info, purlin_fdk_info_init);
        let queried = c!(purlin_fdk_plan(fdk, &raw mut info));
        assert_eq!(queried, purlin_status::PURLIN_SUCCESS);
        let panels = [g.detector_columns, g.detector_rows, g.views];
        w.shapes.push((fdk, Shape { panels, voxels: [info.nx, info.ny, info.nz] }));
    }
    status
}

impl World {
    /// Sizes of one of the live reconstructions.
    fn shape(&self, s: &mut Source<'_>) -> Shape {
        let none = Shape { panels: [4, 3, 2], voxels: [3, 4, 5] };
        if self.shapes.is_empty() { none } else { self.shapes[s.below(self.shapes.len())].1 }
    }

    /// A reconstruction and its sizes.
    fn fdk(&self, s: &mut Source<'_>) -> (*mut purlin_fdk, Shape) {
        let fdk = self.fdks.pick(s);
        let known = self.shapes.iter().find(|k| k.0 == fdk).map(|k| k.1);
        (fdk, known.unwrap_or_else(|| self.shape(s)))
    }
}

fn reconstruct(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let ((fdk, shape), stream) = (w.fdk(s), any_stream(s, w));
    let info = initialized!(purlin_fdk_info, purlin_fdk_info_init);
    let mut info = StructMemory::of(s, &info);
    let info = if s.below(2) == 0 { null_mut() } else { info.get_mut() };
    if s.below(2) == 0 {
        return c!(purlin_fdk_reconstruct_to_sink(fdk, stream, w.sources.pick(s), w.sinks.pick(s), info));
    }
    let (from, to) = (s.one_of(&[PURLIN_F32, PURLIN_F32, PURLIN_U16, PURLIN_F64]), s.one_of(&[PURLIN_F32, PURLIN_I16]));
    let (projections, volume) = (shaped(s, w, from, &shape.panels), shaped(s, w, to, &shape.voxels));
    c!(purlin_fdk_reconstruct(fdk, stream, projections, volume, info))
}

/// Up to 8 numbers of views, and how many of them count.
fn any_views(s: &mut Source<'_>, shape: &Shape) -> (i64, [i64; 8]) {
    let first = s.below(8) as i64;
    let views =
        std::array::from_fn(|k| if s.once_in(30) { s.size() } else { (first + k as i64) % shape.panels[2].max(1) });
    let count = if s.once_in(20) { s.one_of(&[-1, i64::MIN]) } else { s.below(9) as i64 };
    (count, views)
}

fn push(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (fdk, shape) = w.fdk(s);
    match s.below(6) {
        0 => c!(purlin_fdk_begin(fdk, any_stream(s, w))),
        1 => c!(purlin_fdk_finish_to_sink(fdk, w.sinks.pick(s), null_mut())),
        2 => {
            let volume = shaped(s, w, PURLIN_F32, &shape.voxels);
            c!(purlin_fdk_finish(fdk, volume, null_mut()))
        }
        3 => {
            // All views at once.
            let views: Vec<i64> = (0..shape.panels[2].clamp(0, 64)).collect();
            let projections = shaped(s, w, PURLIN_F32, &shape.panels);
            c!(purlin_fdk_push(fdk, views.len() as i64, views.as_ptr(), projections))
        }
        _ => {
            let (count, views) = any_views(s, &shape);
            let projections = shaped(s, w, PURLIN_F32, &[shape.panels[0], shape.panels[1], count]);
            let views = if s.once_in(30) { null() } else { views.as_ptr() };
            c!(purlin_fdk_push(fdk, count, views, projections))
        }
    }
}

fn steps(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let ((fdk, shape), stream) = (w.fdk(s), any_stream(s, w));
    let (count, views) = any_views(s, &shape);
    let dims = [shape.panels[0], shape.panels[1], count];
    let views = if s.once_in(30) { null() } else { views.as_ptr() };
    let from = shaped(s, w, PURLIN_F32, &dims);
    match s.below(3) {
        0 => {
            let to = shaped(s, w, PURLIN_F32, &dims);
            c!(purlin_fdk_weight(fdk, stream, count, views, from, to))
        }
        1 => {
            let to = shaped(s, w, PURLIN_F32, &dims);
            c!(purlin_fdk_filter(fdk, stream, count, views, from, to))
        }
        _ => {
            let to = shaped(s, w, PURLIN_F32, &shape.voxels);
            c!(purlin_fdk_backproject(fdk, stream, count, views, from, to))
        }
    }
}

fn settings(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (fdk, shape) = w.fdk(s);
    let panel = [shape.panels[0], shape.panels[1]];
    match s.below(5) {
        0 => {
            let info = initialized!(purlin_fdk_info, purlin_fdk_info_init);
            let mut memory = StructMemory::of(s, &info);
            let info = if s.once_in(10) { null_mut() } else { memory.get_mut() };
            if s.once_in(2) { c!(purlin_fdk_last_info(fdk, info)) } else { c!(purlin_fdk_plan(fdk, info)) }
        }
        1 => {
            let redundancy = wanted(s, w, PURLIN_F64, &[shape.panels[0], shape.panels[2]]);
            let angular = wanted(s, w, PURLIN_F64, &[shape.panels[2]]);
            c!(purlin_fdk_weights(fdk, redundancy, angular))
        }
        2 => {
            let (image, dark) = (wanted(s, w, PURLIN_F32, &panel), wanted(s, w, PURLIN_F32, &panel));
            c!(purlin_fdk_set_counts(fdk, s.float() * 100.0, image, dark, s.float()))
        }
        _ => {
            let (counts, projections) =
                (shaped(s, w, PURLIN_U16, &shape.panels), shaped(s, w, PURLIN_F32, &shape.panels));
            let (image, dark) = (wanted(s, w, PURLIN_F32, &panel), wanted(s, w, PURLIN_F32, &panel));
            let (context, stream, i0, least) = (context(s, w), any_stream(s, w), s.float() * 100.0, s.float());
            let mut raised = 0;
            let place = if s.below(2) == 0 { null_mut() } else { &raw mut raised };
            c!(purlin_fdk_log_transform(context, stream, counts, i0, image, dark, least, projections, place))
        }
    }
}

fn phantom(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let ((fdk, shape), stream) = (w.fdk(s), any_stream(s, w));
    let list = shaped(s, w, PURLIN_F64, &[8, 10]);
    if !s.once_in(4) {
        let _ = c!(purlin_fdk_shepp_logan(s.float() * 20.0, list));
    }
    if s.below(2) == 0 {
        let projections = shaped(s, w, PURLIN_F32, &shape.panels);
        c!(purlin_fdk_ellipsoids(fdk, stream, list, projections))
    } else {
        let volume = shaped(s, w, PURLIN_F32, &shape.voxels);
        c!(purlin_fdk_ellipsoid_volume(fdk, list, volume))
    }
}

fn destroy(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(3) {
        0 => {
            let source = w.sources.pick(s);
            let status = c!(purlin_source_destroy(source));
            w.sources.destroyed(status, source);
            status
        }
        1 => {
            let sink = w.sinks.pick(s);
            let status = c!(purlin_sink_destroy(sink));
            w.sinks.destroyed(status, sink);
            status
        }
        _ => {
            let fdk = w.fdks.pick(s);
            let status = c!(purlin_fdk_destroy(fdk));
            w.fdks.destroyed(status, fdk);
            status
        }
    }
}
