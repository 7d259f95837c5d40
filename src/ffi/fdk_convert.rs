//! Cone-beam CT: the structs' init functions, and conversions of the structs to the core's types.

use super::fdk_types::*;
use super::options::{self, Struct as _, expect_zero, flag};
use super::pointer::list;
use super::{guard, purlin_status};
use crate::error::{Error, Result, real};
use crate::fdk::Info;
use crate::fdk::geometry::{Detector, Geometry, Grid, Orbit};
use crate::fdk::options::Options;
use crate::shape;

/// Sets `struct_size` and zeroes the rest: every length and size has to be given.
///
/// @param[out] geometry  the struct.
/// @param      size      `sizeof *geometry`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `geometry` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_geometry_init(geometry: *mut purlin_fdk_geometry, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("geometry", geometry, size) })
}

/// Sets `struct_size` and zeroes the rest: the standard grid.
///
/// @param[out] grid  the struct.
/// @param      size  `sizeof *grid`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `grid` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_grid_init(grid: *mut purlin_fdk_grid, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("grid", grid, size) })
}

/// Writes the defaults.
///
/// @param[out] options  the struct.
/// @param      size     `sizeof *options`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `options` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_options_init(options: *mut purlin_fdk_options, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("options", options, size) })
}

/// Sets `struct_size` and zeroes the rest.
///
/// @param[out] info  the struct.
/// @param      size  `sizeof *info`.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_ARGUMENT` (NULL pointer, impossible size).
///
/// # Safety
/// `info` is NULL or valid for `size` writable bytes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_fdk_info_init(info: *mut purlin_fdk_info, size: usize) -> purlin_status {
    // SAFETY: as promised above.
    guard::run(|| unsafe { options::init("info", info, size) })
}

/// Panel and views of a caller's struct.
///
/// # Safety
/// Each array is NULL or valid for as many numbers as the struct says.
pub(super) unsafe fn read_geometry(g: &purlin_fdk_geometry) -> Result<Geometry> {
    let columns = shape::size("detector_columns", g.detector_columns, 2)?;
    let rows = shape::size("detector_rows", g.detector_rows, 1)?;
    let views = shape::size("views", g.views, 1)?;
    shape::product("views", views, size_of::<[f64; 12]>())?;
    expect_zero("reserved", g.reserved)?;
    let allow_inside_panel = flag("allow_inside_panel", g.allow_inside_panel)?;
    let column_pitch = g.column_pitch;
    match (g.angles.is_null(), g.matrices.is_null()) {
        (true, true) => Err(Error::invalid("angles", "and matrices are both NULL, one of them is needed")),
        (false, false) => Err(Error::invalid("angles", "and matrices are both given, one of them is needed")),
        (false, true) => {
            let orbit = Orbit {
                source_to_axis: g.source_to_axis,
                source_to_detector: g.source_to_detector,
                column_offset: g.column_offset,
                row_offset: g.row_offset,
                allow_inside_panel,
            };
            let detector = Detector { columns, rows, column_pitch, row_pitch: g.row_pitch };
            // SAFETY: the caller promises `views` elements.
            Geometry::circular(detector, &orbit, unsafe { list("angles", views, g.angles) }?)
        }
        (true, false) => {
            let orbit = [
                ("column_offset", g.column_offset),
                ("row_offset", g.row_offset),
                ("allow_inside_panel", f64::from(g.allow_inside_panel)),
                ("source_to_axis", g.source_to_axis),
                ("source_to_detector", g.source_to_detector),
            ];
            if let Some((name, value)) = orbit.into_iter().find(|(_, v)| *v != 0.0) {
                return Err(Error::invalid(
                    name,
                    format!("is {}, without effect beside matrices, which hold it", real(value)),
                ));
            }
            // The matrices hold the pitch of the rows: one that is given is compared with it.
            let detector = Detector { columns, rows, column_pitch, row_pitch: column_pitch };
            // SAFETY: the caller promises 12 numbers a view.
            let matrices = unsafe { list("matrices", views, g.matrices.cast::<[f64; 12]>()) }?;
            let geometry = Geometry::from_matrices(detector, matrices)?;
            geometry.expect_row_pitch(g.row_pitch)?;
            Ok(geometry)
        }
    }
}

/// Voxels of a caller's struct; `None` for the standard ones.
pub(super) fn read_grid(g: &purlin_fdk_grid) -> Result<Option<Grid>> {
    if g.nx == 0 && g.ny == 0 && g.nz == 0 {
        let rest = [("dx", g.dx), ("dy", g.dy), ("dz", g.dz), ("x0", g.x0), ("y0", g.y0), ("z0", g.z0)];
        if let Some((name, value)) = rest.into_iter().find(|(_, v)| *v != 0.0) {
            let problem =
                format!("is {}, without effect on the standard grid, which nx = ny = nz = 0 asks for", real(value));
            return Err(Error::invalid(name, problem));
        }
        return Ok(None);
    }
    let size = [shape::size("nx", g.nx, 1)?, shape::size("ny", g.ny, 1)?, shape::size("nz", g.nz, 1)?];
    Ok(Some(Grid { size, spacing: [g.dx, g.dy, g.dz], origin: [g.x0, g.y0, g.z0] }))
}

/// Options of a caller's struct.
pub(super) fn read_options(o: &purlin_fdk_options) -> Result<Options> {
    let mut options = Options::default();
    o.read_into(&mut options)?;
    Ok(options)
}

impl purlin_fdk_info {
    /// A report or plan of a reconstruction as C has it.
    pub(super) fn of(i: &Info) -> Self {
        let mut made = Self::zeroed();
        made.set(i);
        made
    }
}

/// A caller's list of views.
///
/// # Safety
/// `views` is NULL or valid for `count` elements.
pub(super) unsafe fn view_numbers<'a>(count: i64, views: *const i64) -> Result<&'a [i64]> {
    let count = shape::size("count", count, 0)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: as promised by the caller.
    unsafe { list("views", count, views) }
}
