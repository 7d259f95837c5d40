//! Checks a scan's geometry, grid and options, and converts them to the numbers of the kernels.

use super::fan::Fan;
use super::frame::Frame;
use super::geometry::{Geometry, Grid, Trajectory, View};
use super::options::{Mode, Options, Precision};
use super::ramp::{Window, fft_length, response};
use super::view::MOST_LENGTH;
use super::weights::{Redundancy, Scan};
use crate::alloc;
use crate::choice::word;
use crate::error::{Error, Result, real};
use crate::range;

/// Back-projection numbers of a view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ViewPlan {
    /// Voxel indices (i, j, k, 1) to (column w, row w, w); columns include those added on the left.
    pub matrix: [[f64; 4]; 3],
    /// Weight of a sample, before the division by w^2.
    pub weight: f64,
}

impl ViewPlan {
    /// The product of row `r` with (i, j, k, 1).
    pub fn apply(&self, r: usize, voxel: [f64; 3]) -> f64 {
        let m = &self.matrix[r];
        m[0] * voxel[0] + m[1] * voxel[1] + m[2] * voxel[2] + m[3]
    }
}

/// Some views with a range of panel rows: a slab needs only the rows that its voxels project onto.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Indices of the views in the scan.
    pub views: &'a [usize],
    /// First panel row that they have.
    pub first_row: usize,
    /// Number of panel rows, from `first_row` on.
    pub rows: usize,
}

/// Everything about a reconstruction that does not depend on the projections.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Panel and views, as given.
    pub geometry: Geometry,
    /// The reconstructed voxels: the volume's, or those of its frame's box.
    pub grid: Grid,
    /// The whole volume, if it reaches a source and the mask blanks it there.
    pub frame: Option<Frame>,
    /// Options as given; defaults are resolved in the other fields.
    pub options: Options,
    /// Arc, redundancy in force, and weights of the angles.
    pub scan: Scan,
    /// Columns of a filtered row: the panel's, and the zero columns that a half fan adds on one side.
    pub columns: usize,
    /// Added columns on the left of the panel's.
    pub left: usize,
    /// Samples of extrapolation beyond an end of a row that is continued.
    pub extrapolated: usize,
    /// Length of the transforms, in padded samples.
    pub length: usize,
    /// The filter's response, divided by `length` for transforms that do not normalize.
    pub response: Vec<f64>,
    /// The views in the order of the geometry.
    pub views: Vec<ViewPlan>,
    /// Largest modulus of a pixel whose sums stay in the range of the arithmetic, a power of two of at least 1. A larger one
    /// counts as a pixel that is not finite.
    pub largest_pixel: f64,
}

/// Angle of rows, or of the orbit, to the plane across z above which a warning is logged, rad.
const TILTED_ROWS: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// Angle above which the scan is refused, rad.
const TURNED_ROWS: f64 = 45.0 * std::f64::consts::PI / 180.0;

/// Refuses views without weights: sources on the axis, and panels that are not wholly in front of the source, seen along the
/// axis.
fn check_weights(geometry: &Geometry) -> Result<()> {
    let (right, top) = ((geometry.detector.columns - 1) as f64, (geometry.detector.rows - 1) as f64);
    let corners = [(0.0, 0.0), (right, 0.0), (0.0, top), (right, top)];
    for (n, view) in geometry.views.iter().enumerate() {
        let refuse = |problem: &str| Err(geometry.refusal(n, problem));
        if view.orbit_radius() <= 0.0 {
            return refuse("has its source on the axis of rotation, z");
        }
        if !corners.into_iter().all(|(i, j)| view.weight(i, j).is_finite() && view.depth(i, j) > 0.0) {
            return refuse("has a panel that is not in front of its source, seen along the axis of rotation, z");
        }
        if view.has_row_without_scale(geometry.detector.rows) {
            return refuse(
                "has a row of its panel in a plane across the line from its source to the axis of rotation, z",
            );
        }
    }
    Ok(())
}

/// The sources define a plane if their mean square distance from it is at most `FLAT` of the one along the plane's
/// shorter direction, and that is at least `LINE` of the one along its longer direction. The root of the former is at
/// least `BENT` of the sources' distance from the isocentre, which an arc of 30 degrees has: on a shorter one, sources
/// that waver by some mm define the plane across their rays.
const FLAT: f64 = 0.1;
const LINE: f64 = 1e-3;
const BENT: f64 = 0.01;

/// Largest distance of an orbit's plane from the isocentre, in units of the sources' mean distance. Sources on a short
/// arc that also move along z lie near a plane, too, but that faces the isocentre.
const FACING: f64 = 0.7;

/// Angle between the plane of the sources and the plane across z, rad; 0 if the sources define no plane of an orbit or
/// lie on a line.
fn orbit_tilt(geometry: &Geometry) -> f64 {
    let count = geometry.views.len() as f64;
    let distance = geometry.views.iter().map(View::source_distance).sum::<f64>() / count;
    // A power of two changes no digit, and keeps the eighth powers of lengths below in range.
    let unit = 2f64.powi(distance.log2().floor() as i32);
    let distance = distance / unit;
    let source = |v: &View, k: usize| v.source[k] / unit;
    let mean: [f64; 3] = std::array::from_fn(|k| geometry.views.iter().map(|v| source(v, k)).sum::<f64>() / count);
    let moment = |i: usize, j: usize| {
        geometry.views.iter().map(|v| (source(v, i) - mean[i]) * (source(v, j) - mean[j])).sum::<f64>() / count
    };
    let c: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| moment(i, j)));
    // Eigenvalues of a symmetric matrix of order 3 by its characteristic polynomial.
    let middle = (c[0][0] + c[1][1] + c[2][2]) / 3.0;
    let off = |i: usize, j: usize| if i == j { c[i][i] - middle } else { c[i][j] };
    let spread = ((0..9).map(|k| off(k / 3, k % 3).powi(2)).sum::<f64>() / 6.0).sqrt();
    if spread.is_nan() || spread <= 0.0 {
        return 0.0;
    }
    let b: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| off(i, j) / spread));
    let cross = |x: [f64; 3], y: [f64; 3]| -> [f64; 3] {
        std::array::from_fn(|k| x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3])
    };
    let dot = |x: [f64; 3], y: [f64; 3]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let phase = (dot(b[0], cross(b[1], b[2])) / 2.0).clamp(-1.0, 1.0).acos() / 3.0;
    let value = |k: f64| middle + 2.0 * spread * (phase + k * std::f64::consts::TAU / 3.0).cos();
    let (largest, second, least) = (value(0.0), value(2.0), value(1.0));
    if second < LINE * largest || second.sqrt() < BENT * distance || least > FLAT * second {
        return 0.0;
    }
    // The rows of C - least span the plane.
    let row = |i: usize| -> [f64; 3] { std::array::from_fn(|j| c[i][j] - if i == j { least } else { 0.0 }) };
    let normals = [cross(row(0), row(1)), cross(row(1), row(2)), cross(row(2), row(0))];
    let normal = normals.into_iter().fold([0.0; 3], |best, n| if dot(n, n) > dot(best, best) { n } else { best });
    let length = dot(normal, normal).sqrt();
    if length > 0.0 && dot(normal, mean).abs() <= FACING * distance * length {
        (normal[2].abs() / length).min(1.0).acos()
    } else {
        0.0
    }
}

/// Refuses an orbit about an axis other than z, since all weights assume the rotation axis z. Returns its tilt.
fn check_orbit(geometry: &Geometry) -> Result<f64> {
    let tilt = orbit_tilt(geometry);
    if tilt <= TURNED_ROWS {
        return Ok(tilt);
    }
    let problem = format!(
        "have their sources on an orbit at {:.1} degrees to the plane across the axis of rotation, z, more than 45",
        tilt.to_degrees()
    );
    let name = match geometry.trajectory {
        Trajectory::Orbit(_) => "angles",
        Trajectory::Matrices => "matrices",
    };
    Err(Error::invalid(name, problem))
}

/// Refuses panels with rows along the axis, such as a panel on its side, because the filter runs along the rows.
/// Returns the view whose rows are farthest out of the plane across the axis, and their angle.
fn check_rows(geometry: &Geometry) -> Result<(usize, f64)> {
    let angles = geometry.views.iter().map(View::row_angle).enumerate();
    let (view, angle) = angles.fold((0, 0.0), |most, this| if this.1 > most.1 { this } else { most });
    if angle > TURNED_ROWS {
        let problem = format!(
            "has rows at {:.1} degrees to the plane of the orbit, more than 45: rows are filtered, so they run \
             across the axis of rotation, which is z",
            angle.to_degrees()
        );
        return Err(geometry.refusal(view, &problem));
    }
    Ok((view, angle))
}

/// Warns of rows and orbits that are far out of the plane across the axis, and of views that see little of the axis in
/// common.
fn warn_of_tilts(geometry: &Geometry, tilt: f64, (view, angle): (usize, f64), scan: &mut Scan) -> Result<()> {
    if angle > TILTED_ROWS {
        let degrees = angle.to_degrees();
        let problem = format!("rows are filtered {degrees:.1} degrees out of the plane of the orbit in view {view}");
        scan.warn(problem)?;
    } else if tilt > TILTED_ROWS {
        let tilt = tilt.to_degrees();
        scan.warn(format!(
            "the orbit of the sources is {tilt:.1} degrees out of the plane across the axis of rotation, z"
        ))?;
    }
    let seen = geometry.views.iter().map(|v| v.heights_seen(geometry.detector.rows));
    let (low, high, least) = seen.fold((f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY), |(a, b, c), [low, high]| {
        (a.max(low), b.min(high), c.min(high - low))
    });
    let common = (high - low).max(0.0);
    if common < least / 2.0 {
        scan.warn(format!(
            "all views have {common:.1} mm of the axis in common, each sees at least {least:.1} mm: densities at other \
             heights are too low, since no weights for a helical orbit are offered"
        ))?;
    }
    Ok(())
}

/// Refuses options that other options make ineffective.
fn check_effects(o: &Options) -> Result<()> {
    if o.allow_short_arc && matches!(o.redundancy, Redundancy::None | Redundancy::HalfFan) {
        let redundancy = word(o.redundancy);
        let problem = format!("has no effect with redundancy {redundancy}, which takes no short arc for another");
        return Err(Error::invalid("allow_short_arc", problem));
    }
    if o.mode == Mode::RabbitCt {
        let set = [
            ("window", o.window != Window::None),
            ("cutoff", o.cutoff != 1.0),
            ("truncation", o.truncation != 0.0),
            ("fft_length", o.fft_length != 0),
            ("allow_short_arc", o.allow_short_arc),
            ("redundancy", !matches!(o.redundancy, Redundancy::Auto | Redundancy::None)),
        ];
        if let Some((name, _)) = set.into_iter().find(|(_, is_set)| *is_set) {
            return Err(Error::invalid(name, "has no effect in RabbitCT mode, which neither filters nor weighs"));
        }
    }
    Ok(())
}

impl Plan {
    /// Checks all arguments and computes the kernels' numbers.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the argument that is out of range: see [`Geometry`], [`Grid`], [`Scan::new`] and
    /// [`response`].
    pub fn new(geometry: Geometry, grid: Grid, options: Options) -> Result<Self> {
        grid.check()?;
        geometry.check_lengths(&grid, &options)?;
        let behind = grid.behind_source(&geometry);
        if let Some(place) = behind.as_ref().filter(|_| !options.fov_mask) {
            return Err(Error::invalid("grid", format!("reaches {place}")));
        }
        if !(0.0..=1.0).contains(&options.truncation) {
            return Err(Error::invalid("truncation", format!("is {}, outside 0 to 1", real(options.truncation))));
        }
        for (name, value) in [("output_scale", options.output_scale), ("output_offset", options.output_offset)] {
            range::finite(name, value)?;
        }
        check_effects(&options)?;
        let asked = match options.mode {
            Mode::Fdk => options.redundancy,
            Mode::RabbitCt => Redundancy::None,
        };
        let tilt = if options.mode == Mode::Fdk { check_orbit(&geometry)? } else { 0.0 };
        let rows = if options.mode == Mode::Fdk { check_rows(&geometry)? } else { (0, 0.0) };
        let mut scan = Scan::new(&geometry, asked, options.allow_short_arc)?;
        if options.mode == Mode::Fdk {
            check_weights(&geometry)?;
            warn_of_tilts(&geometry, tilt, rows, &mut scan)?;
            if scan.redundancy == Redundancy::None && !scan.is_arc {
                scan.warn("a full circle measures rays twice, and without weights they count twice".to_owned())?;
            }
        }
        if grid.is_unseen(&geometry) {
            scan.warn("no view sees a voxel of the volume".to_owned())?;
        }
        let (grid, frame) = match behind {
            None => (grid, None),
            Some(place) => Frame::around(grid, &geometry, &scan, &place).map(|(b, f)| (b, Some(f)))?,
        };
        let panel = geometry.detector.columns;
        let columns = panel + scan.extra_left + scan.extra_right;
        let extrapolated = (options.truncation * panel as f64).round() as usize;
        if extrapolated == 0 && options.truncation > 0.0 {
            let truncation = real(options.truncation);
            let problem = format!("is {truncation}, less than half of one of {panel} columns: it has no effect");
            return Err(Error::invalid("truncation", problem));
        }
        let least = fft_length(columns + extrapolated)?;
        let length = match options.fft_length {
            0 => least,
            n if n > MOST_LENGTH => {
                return Err(Error::invalid("fft_length", format!("is {n}, at most {MOST_LENGTH} is possible")));
            }
            n if n >= 2 * (columns + extrapolated) && n % 2 == 0 => n,
            n => {
                let needed = 2 * (columns + extrapolated);
                return Err(Error::invalid(
                    "fft_length",
                    format!("is {n}, an even number of at least {needed} is needed"),
                ));
            }
        };
        let mut response = response(length, geometry.detector.column_pitch, options.window, options.cutoff)?;
        response.iter_mut().for_each(|r| *r /= length as f64);
        let mut views = alloc::with_capacity("views", geometry.views.len())?;
        for (n, (view, angular)) in geometry.views.iter().zip(&scan.angular).enumerate() {
            let mut world = view.matrix;
            let left = scan.extra_left as f64;
            let depth = world[2];
            for (column, w) in world[0].iter_mut().zip(depth) {
                *column += left * w;
            }
            let matrix = world.map(|row| {
                let mut out = [0.0; 4];
                out[3] = row[3];
                for k in 0..3 {
                    out[k] = row[k] * grid.spacing[k];
                    out[3] += row[k] * grid.origin[k];
                }
                out
            });
            let weight = match options.mode {
                Mode::Fdk => angular * view.orbit_radius() * view.source_to_detector,
                // w in the scale of the given matrix.
                Mode::RabbitCt => 1.0 / (view.scale * view.scale),
            };
            let is_in_range = match options.precision {
                Precision::F32 => (weight as f32).is_normal(),
                Precision::F64 => weight.is_normal(),
            };
            if options.mode == Mode::RabbitCt && !is_in_range {
                let problem = "has a third row of a size whose inverse square is out of the range of the arithmetic";
                return Err(geometry.refusal(n, problem));
            }
            views.push(ViewPlan { matrix, weight });
        }
        let left = scan.extra_left;
        let largest_pixel = 0.0;
        let mut plan = Self {
            geometry,
            grid,
            frame,
            options,
            scan,
            columns,
            left,
            extrapolated,
            length,
            response,
            views,
            largest_pixel,
        };
        plan.set_largest_pixel()?;
        Ok(plan)
    }

    /// Sets the length of the transforms, even and no shorter than the current one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn set_length(&mut self, length: usize) -> Result<()> {
        let (pitch, options) = (self.geometry.detector.column_pitch, &self.options);
        self.response = response(length, pitch, options.window, options.cutoff)?;
        self.response.iter_mut().for_each(|r| *r /= length as f64);
        self.length = length;
        self.set_largest_pixel()
    }

    /// Whether rows are continued beyond their left end, and beyond their right one. A half fan's rows are not, on the short
    /// side: their weights end in 0 there, because the opposite views measure the rays beyond, so nothing is truncated.
    pub fn continued(&self) -> [bool; 2] {
        [self.scan.extra_left, self.scan.extra_right].map(|added| added == 0 && self.extrapolated > 0)
    }

    /// Pixels of a measured view.
    pub fn panel_pixels(&self) -> usize {
        self.geometry.detector.columns * self.geometry.detector.rows
    }

    /// Samples of a filtered view.
    pub fn filtered_pixels(&self) -> usize {
        self.columns * self.geometry.detector.rows
    }

    /// The voxels of the whole volume, including those outside the box, which the mask blanks.
    pub fn volume_grid(&self) -> &Grid {
        self.frame.as_ref().map_or(&self.grid, |f| &f.grid)
    }

    /// Reconstructed voxels: those of the grid.
    pub fn voxels(&self) -> usize {
        self.grid.size.iter().product()
    }

    /// Panel rows that the slices `first` to `first + count - 1` can project onto in a view, with one more row on both
    /// sides; an empty range if none.
    pub fn row_window(&self, view: usize, first: usize, count: usize) -> std::ops::Range<usize> {
        let [nx, ny, _] = self.grid.size;
        let plan = &self.views[view];
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        // iv is a ratio of two affine functions, so its extremes over the slab lie at corners (w > 0 everywhere).
        for corner in 0..8usize {
            let pick = |bit: usize, end: usize| if corner >> bit & 1 == 1 { end as f64 } else { 0.0 };
            let k = first as f64 + pick(2, count.saturating_sub(1));
            let voxel = [pick(0, nx - 1), pick(1, ny - 1), k];
            let row = plan.apply(1, voxel) / plan.apply(2, voxel);
            low = low.min(row);
            high = high.max(row);
        }
        let rows = self.geometry.detector.rows;
        let start = (low.floor() - 1.0).clamp(0.0, rows as f64) as usize;
        let end = (high.ceil() + 2.0).clamp(start as f64, rows as f64) as usize;
        if start == end {
            return start..end;
        }
        // Whole pairs of rows: a GPU filters two rows at a time, and the pairs must not depend on the window.
        start & !1..end.next_multiple_of(2).min(rows)
    }

    /// Panel rows that some views need for `count` slices from `first` on.
    pub fn rows_of(&self, views: std::ops::Range<usize>, first: usize, count: usize) -> std::ops::Range<usize> {
        views
            .map(|v| self.row_window(v, first, count))
            .filter(|w| !w.is_empty())
            .reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
            .unwrap_or(0..0)
    }

    /// Radius about the z axis within which every ray is measured, mm. It is the smallest extent over all views on the
    /// narrower side of the fan, or on the wider side for a half fan; 0 if some view misses the axis.
    pub fn fov_radius(&self) -> f64 {
        let [a, b] = self.scan.reach;
        let side = if self.scan.redundancy == Redundancy::HalfFan { a.max(b) } else { a.min(b) };
        side.max(0.0)
    }

    /// Redundancy weight of the ray through a pixel.
    pub fn pixel_weight(&self, view: usize, column: usize, row: usize) -> f64 {
        self.scan.ray_weight(&self.geometry, view, column as f64, row as f64)
    }

    /// The same for the ray through column `column` in the plane of the orbit. It holds for the whole column if
    /// [`Scan::is_by_pixel`] is false.
    pub fn ray_weight(&self, view: usize, column: usize) -> f64 {
        let column = column as f64;
        let row = Fan::row_in_plane(&self.geometry.views[view], &self.geometry.detector, column);
        self.scan.ray_weight(&self.geometry, view, column, row)
    }
}
