//! Constants and structs of cone-beam CT.

use std::ffi::{c_char, c_void};

use super::callback::purlin_progress_fn;
use super::group::purlin_group;
use super::options::versioned;

/// The band-limited ramp, without a window.
pub const PURLIN_FDK_WINDOW_NONE: i32 = 0;
/// The ramp times sin(pi x / 2) / (pi x / 2), x the frequency over the cut-off.
pub const PURLIN_FDK_WINDOW_SHEPP_LOGAN: i32 = 1;
/// The ramp times cos(pi x / 2).
pub const PURLIN_FDK_WINDOW_COSINE: i32 = 2;
/// The ramp times 0.54 + 0.46 cos(pi x).
pub const PURLIN_FDK_WINDOW_HAMMING: i32 = 3;
/// The ramp times (1 + cos(pi x)) / 2.
pub const PURLIN_FDK_WINDOW_HANN: i32 = 4;

/// Chosen from angles and panel: SHORT for a gap of more than 20 degrees and three times the median one (views at the
/// same angle have none), or of more than half a circle, else HALF_FAN for a panel whose centre is more than a tenth of
/// its width off the projected axis, else FULL. The width counts that all views cover on both sides of the axis.
pub const PURLIN_FDK_REDUNDANCY_AUTO: i32 = 0;
/// Every ray is measured once: all weights 1.
pub const PURLIN_FDK_REDUNDANCY_NONE: i32 = 1;
/// A full circle measures every ray twice: all weights 1/2. A gap as for SHORT is refused.
pub const PURLIN_FDK_REDUNDANCY_FULL: i32 = 2;
/// Parker's weights (Med. Phys. 9, 1982), for an arc of at least 180 degrees.
pub const PURLIN_FDK_REDUNDANCY_SHORT: i32 = 3;
/// A panel shifted sideways on a full circle, whose two halves see the object from opposite sides. Its short side has to
/// reach beyond the axis by 3 columns, and by the cube root of the number of columns from the axis to its far rim. The
/// weights rise within these columns, and over fewer the filter takes that rise for an edge.
pub const PURLIN_FDK_REDUNDANCY_HALF_FAN: i32 = 4;

/// Pixels outside the panel are 0, interpolated linearly over one pixel.
pub const PURLIN_FDK_EDGE_ZERO: i32 = 0;
/// A sample counts only if all four of its pixels exist.
pub const PURLIN_FDK_EDGE_SKIP: i32 = 1;

/// Bilinear interpolation between four pixels, in f32.
pub const PURLIN_FDK_INTERPOLATION_EXACT: i32 = 0;
/// Leave to round positions where that is faster, up to 6e-4 of the density scale off. At present the same as EXACT,
/// which no other kernel outruns.
pub const PURLIN_FDK_INTERPOLATION_FAST: i32 = 1;

/// Arithmetic in f32; positions and weights are prepared in f64.
pub const PURLIN_FDK_PRECISION_F32: i32 = 0;
/// Everything in f64 on the CPU threads, whatever the context: slow, for checks.
pub const PURLIN_FDK_PRECISION_F64: i32 = 1;

/// Weights, ramp filter and back-projection.
pub const PURLIN_FDK_MODE_FDK: i32 = 0;
/// Back-projection alone with the factor 1/w^2 and the matrices as given, as the RabbitCT benchmark asks (Rohkohl et
/// al., Med. Phys. 36, 2009).
pub const PURLIN_FDK_MODE_RABBITCT: i32 = 1;

/// The panel stands upright in every view: a row of voxels along z is seen along a panel column.
pub const PURLIN_FDK_KERNEL_VERTICAL: i32 = 0;
/// Any 3 x 4 matrices: panels that are tilted against the z axis too.
pub const PURLIN_FDK_KERNEL_GENERAL: i32 = 1;

/// Where source and panel stand at each view. Lengths in mm, angles in rad.
///
/// World axes are right-handed, z is the axis of rotation, the origin the isocentre. On a circular orbit the source of
/// angle b stands at `source_to_axis` (cos b, sin b, 0), and the flat panel stands perpendicular to the line from it to
/// the axis, with axes e_u = (-sin b, cos b, 0) along its columns' index and e_v = (0, 0, 1) along its rows'. The
/// centre of pixel (i, j) lies at u = (i - (detector_columns - 1) / 2) column_pitch + column_offset from the foot of
/// the perpendicular, likewise v.
///
/// The arrays are read by purlin_fdk_create and not kept.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_fdk_geometry {
    /// Size of the caller's struct; set by purlin_fdk_geometry_init.
    pub struct_size: usize,
    /// Source to axis, positive; 0 with matrices, which hold it.
    pub source_to_axis: f64,
    /// Source to panel, positive; 0 with matrices.
    pub source_to_detector: f64,
    /// Distance of two columns, positive; with matrices too, where it scales the filter.
    pub column_pitch: f64,
    /// Distance of two rows, positive; with matrices 0, or within 5 % of the pitch that each matrix implies.
    pub row_pitch: f64,
    /// Shift of the panel along e_u; default 0; 0 with matrices.
    pub column_offset: f64,
    /// Shift of the panel along e_v; default 0; 0 with matrices.
    pub row_offset: f64,
    /// Pixels along u, 2 to 8388608.
    pub detector_columns: i64,
    /// Pixels along v, 1 to 8388608.
    pub detector_rows: i64,
    /// Number of views, at least 1.
    pub views: i64,
    /// `views` angles in any order, not necessarily of equal steps; NULL with matrices.
    pub angles: *const f64,
    /// `views` 3 x 4 matrices, row after row, from (x, y, z, 1) in mm to pixel indices (column w, row w, w), 0 at the
    /// centre of the first pixel; of any scale and sign. NULL with angles.
    pub matrices: *const f64,
    /// 1: a panel between source and axis is accepted; default 0; 0 with matrices.
    pub allow_inside_panel: i32,
    /// Must be 0: kept for later fields.
    pub reserved: i32,
}

versioned!(purlin_fdk_geometry, first = size_of::<Self>());

/// The voxels. With `nx`, `ny` and `nz` all 0, the default, they are the standard grid: cubes of the panel's column
/// pitch scaled to the axis, `detector_columns` of them along x and y, `detector_rows` along z, centred on the
/// isocentre.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_fdk_grid {
    /// Size of the caller's struct; set by purlin_fdk_grid_init.
    pub struct_size: usize,
    /// Voxels along x, at most 2^20.
    pub nx: i64,
    /// Voxels along y, as `nx`.
    pub ny: i64,
    /// Voxels along z, as `nx`.
    pub nz: i64,
    /// Distance of two voxels along x, mm, positive.
    pub dx: f64,
    /// Distance of two voxels along y.
    pub dy: f64,
    /// Distance of two voxels along z.
    pub dz: f64,
    /// x of the centre of the first voxel, mm.
    pub x0: f64,
    /// y of the centre of the first voxel.
    pub y0: f64,
    /// z of the centre of the first voxel.
    pub z0: f64,
}

versioned!(purlin_fdk_grid, first = size_of::<Self>());

/// How a scan is reconstructed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_fdk_options {
    /// Size of the caller's struct; set by purlin_fdk_options_init.
    pub struct_size: usize,
    /// Window of the ramp filter, one of PURLIN_FDK_WINDOW_*; default NONE.
    pub window: i32,
    /// Weights of rays that a scan measures twice, one of PURLIN_FDK_REDUNDANCY_*; default AUTO.
    pub redundancy: i32,
    /// Samples at the rim of the panel, one of PURLIN_FDK_EDGE_*; default ZERO.
    pub edge: i32,
    /// How exactly samples between pixels are interpolated, one of PURLIN_FDK_INTERPOLATION_*; default EXACT.
    pub interpolation: i32,
    /// Precision of the arithmetic, one of PURLIN_FDK_PRECISION_*; default F32.
    pub precision: i32,
    /// Steps of a reconstruction, one of PURLIN_FDK_MODE_*; default FDK.
    pub mode: i32,
    /// 1: voxels that some view does not see are 0; default 0. A grid may then reach the sources and lie behind them,
    /// as long as the box of the columns that every view sees does not: only that box is reconstructed, and the volume
    /// is a tensor in host memory or a sink.
    pub fov_mask: i32,
    /// 1: a streamed scan may be finished with views missing, which count as zero; default 0.
    pub allow_missing: i32,
    /// 1: go on with an arc of less than 180 degrees, or with FULL although views leave a gap in the circle; no volume
    /// is complete then; default 0.
    pub allow_short_arc: i32,
    /// 1: pixels that are not finite become 0. Default 0: such a pixel makes its filtered row NaN; a GPU filters rows in
    /// pairs, so there both. Voxels that these rows reach are NaN (0 in integer volumes). Such pixels are counted either
    /// way, and the log has one warning a run. The same holds for pixels that are too large for the sums of the precision;
    /// the warning says how large they may be, far more than any line integral is.
    pub sanitize: i32,
    /// Cut-off of the window as part of the largest frequency, above 0 and at most 1; default 1.
    pub cutoff: f64,
    /// Width of the smooth extrapolation beyond both ends of a row, of a half fan beyond its long side alone, as part of
    /// the panel's columns, 0 to 1, for objects wider than the panel; default 0.
    pub truncation: f64,
    /// Voxels are written times this; default 1. Volumes of F64 take any, others in F32 precision one that F32 holds.
    pub output_scale: f64,
    /// Number that is added to the scaled voxels; default 0. Likewise.
    pub output_offset: f64,
    /// Slices that are worked on at once, rounded up to a multiple of the slices that a kernel takes together; 0, the
    /// default, chooses by the memory limits and the memory that is free.
    pub slab: i64,
    /// Views that are filtered and back-projected together; 0, the default, chooses.
    pub view_batch: i64,
    /// Length of the transforms, even, at least twice the filtered columns and at most 16777216; 0, the default, chooses.
    pub fft_length: i64,
    /// Called by reconstruct and finish with the steps done, all steps, 0, and by push with the views pushed, all views, 0;
    /// default NULL. It must be callable while the object lives.
    pub progress: purlin_progress_fn,
    /// Passed to `progress` as its last argument, not dereferenced; default NULL.
    pub progress_user: *mut c_void,
    /// Contexts that slabs of the volume are distributed over, with the same bits as on one; begins with the context of
    /// purlin_fdk_create. Default NULL: that context alone.
    pub group: *const purlin_group,
}

versioned!(purlin_fdk_options, first = size_of::<Self>(), of = crate::fdk::options::Options);

/// The choices for a scan, and the report of its last run. Times are of work, waiting left out; stages overlap, so they
/// add up to more than the total.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct purlin_fdk_info {
    /// Size of the caller's struct; set by purlin_fdk_info_init.
    pub struct_size: usize,
    /// The redundancy in force, one of PURLIN_FDK_REDUNDANCY_*, not AUTO.
    pub redundancy: i32,
    /// PURLIN_FDK_KERNEL_VERTICAL or PURLIN_FDK_KERNEL_GENERAL.
    pub kernel: i32,
    /// Angle from the first view to the last across the scan, rad: 2 pi less the largest gap.
    pub arc: f64,
    /// Largest angle between a ray and the one through the axis, seen along the axis, rad.
    pub fan_half_angle: f64,
    /// Largest gap between neighbouring views, rad.
    pub largest_gap: f64,
    /// Radius about the z axis within which the object is measured completely, mm.
    pub fov_radius: f64,
    /// Voxels of the grid along x.
    pub nx: i64,
    /// Voxels of the grid along y.
    pub ny: i64,
    /// Voxels of the grid along z.
    pub nz: i64,
    /// Distance of two voxels along x, mm.
    pub dx: f64,
    /// Distance of two voxels along y.
    pub dy: f64,
    /// Distance of two voxels along z.
    pub dz: f64,
    /// x of the centre of the first voxel, mm.
    pub x0: f64,
    /// y of the centre of the first voxel.
    pub y0: f64,
    /// z of the centre of the first voxel.
    pub z0: f64,
    /// Slices of the thickest slab.
    pub slab: i64,
    /// Slabs of the volume, of all contexts together.
    pub slabs: i64,
    /// Views of a batch, which are filtered and back-projected together.
    pub view_batch: i64,
    /// Length of the transforms: samples of a row with its padding.
    pub fft_length: i64,
    /// Columns of a filtered row: the panel's, and zeros added on one side for a half fan.
    pub filtered_columns: i64,
    /// Of these, how many stand before the panel's first.
    pub filtered_left: i64,
    /// Number of contexts that the slabs go over.
    pub contexts: i64,
    /// Planned peak of device memory of each context, bytes.
    pub device_bytes: i64,
    /// Planned peak of host memory of each context, bytes.
    pub host_bytes: i64,
    /// Measured peak of device memory in the last run, of the context that took most, bytes.
    pub device_bytes_used: i64,
    /// Measured peak of host memory in the last run, likewise, bytes.
    pub host_bytes_used: i64,
    /// Views pushed since the last purlin_fdk_begin; 0 after the scan was cancelled or dropped.
    pub views_pushed: i64,
    /// Pixels of the last run that were not finite or too large and were replaced by 0, in the panel rows that the volume
    /// is seen through; a run reads no others. A pixel that two slabs need counts twice. Of a pushed scan that is stored
    /// in host memory all pixels count, once.
    pub pixels_sanitized: i64,
    /// Counts of it that were raised to the least; counted like `pixels_sanitized`.
    pub pixels_clamped: i64,
    /// Bytes of it that were copied to devices.
    pub bytes_uploaded: i64,
    /// Bytes of it that were copied from devices.
    pub bytes_downloaded: i64,
    /// Seconds of all contexts together: of reading.
    pub seconds_read: f64,
    /// Seconds of copying to devices.
    pub seconds_upload: f64,
    /// Seconds of converting, weighting and filtering.
    pub seconds_filter: f64,
    /// Seconds of back-projecting, of all contexts together.
    pub seconds_backproject: f64,
    /// Seconds of copying from devices; on the CPU of bringing slices into their order.
    pub seconds_download: f64,
    /// Seconds of writing slices, of all contexts together.
    pub seconds_write: f64,
    /// Seconds from the call to its return; of a pushed scan from the first view on.
    pub seconds: f64,
    /// 1e9 voxel updates a second: views times voxels over `seconds`.
    pub gups: f64,
    /// Why this redundancy was chosen; ends with a NUL.
    pub reason: [c_char; 128],
    /// Counts of the last run above those without an object, whose line integrals are negative and kept; counted like
    /// `pixels_sanitized`.
    pub pixels_negative: i64,
    /// Pixels of the last run that were not finite (NaN or infinite) or too large for the precision, whether `sanitize`
    /// replaced them or not; counted like `pixels_sanitized`. Where it did not, the voxels that their rows contribute to
    /// are NaN, or 0 in volumes of integers.
    pub pixels_not_finite: i64,
}

versioned!(purlin_fdk_info, first = std::mem::offset_of!(Self, pixels_negative));
