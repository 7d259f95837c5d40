//! The panel, and the position of source and panel in one view.
//!
//! A view is a 3x4 matrix A that maps a point (x, y, z, 1), mm, to (iu w, iv w, w): pixel indices, 0 at the centre of
//! pixel (0, 0), times the depth w along the panel's normal, mm. Circular orbits are converted to such matrices, so that
//! weighting, filtering and back-projection handle one form only.

use std::f64::consts::TAU;

use super::orbit::Orbit;
use crate::error::{Error, Result, real};
use crate::range;

/// The panel: columns along u, rows along v.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detector {
    /// Pixels along u, 2 to 2^23.
    pub columns: usize,
    /// Pixels along v, 1 to 2^23.
    pub rows: usize,
    /// Distance of two columns, mm.
    pub column_pitch: f64,
    /// Distance of two rows, mm.
    pub row_pitch: f64,
}

/// Longest transform that an option may ask for: thousands of times the length that a panel needs.
pub(super) const MOST_LENGTH: usize = 1 << 24;

/// Most columns, and most rows, of a panel: the filter's longest transform holds twice as many columns, and indices of
/// pixels keep their fractions in the views' matrices.
pub(super) const MOST_PIXELS: usize = MOST_LENGTH / 2;

impl Detector {
    pub(super) fn check(&self) -> Result<()> {
        for (name, count, least) in [("detector_columns", self.columns, 2), ("detector_rows", self.rows, 1)] {
            if count < least {
                return Err(Error::invalid(name, format!("is {count}, less than {least}")));
            }
            if count > MOST_PIXELS {
                return Err(Error::invalid(name, format!("is {count}, more than {MOST_PIXELS}")));
            }
        }
        range::positive("column_pitch", self.column_pitch)?;
        range::positive("row_pitch", self.row_pitch).map(drop)
    }

    /// The error of a panel so wide that the matrices of an orbit's views are singular, whatever their angles.
    pub(super) fn too_wide(&self, orbit: &Orbit) -> Error {
        let [across, along] = [self.columns as f64 * self.column_pitch, self.rows as f64 * self.row_pitch];
        let (name, pitch, count) = if across >= along {
            ("column_pitch", self.column_pitch, format!("{} columns", self.columns))
        } else {
            ("row_pitch", self.row_pitch, format!("{} rows", self.rows))
        };
        let distance = real(orbit.source_to_detector);
        let problem = format!("is {}: {count} are too wide for source_to_detector = {distance}", real(pitch));
        Error::invalid(name, problem)
    }
}

/// One view, with the numbers derived from its matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// World to pixel, third row scaled so that w is the depth in mm and positive at the isocentre.
    pub matrix: [[f64; 4]; 3],
    /// Position of the source, mm, in the world's axes.
    pub source: [f64; 3],
    /// Column index of the foot of the perpendicular from the source.
    pub principal_column: f64,
    /// Row index of the foot of that perpendicular.
    pub principal_row: f64,
    /// Distance from the source to the panel's plane, mm.
    pub source_to_detector: f64,
    /// Angle of the source about the z axis, [0, 2 pi).
    pub angle: f64,
    /// Columns of the inverse of the matrix's left part: the direction of the ray through pixel (i, j) is
    /// `inverse (i, j, 1)`.
    pub inverse: [[f64; 3]; 3],
    /// Divisor that normalized the given matrix; 1 for an orbit. Infinite or 0 where it is out of range.
    pub scale: f64,
}

impl View {
    /// Distance from the source to the isocentre, mm.
    pub fn source_distance(&self) -> f64 {
        norm(self.source)
    }

    /// Source to axis of rotation, mm.
    pub fn orbit_radius(&self) -> f64 {
        norm([self.source[0], self.source[1], 0.0])
    }

    /// Direction from the source to the axis of rotation, in the plane of the orbit.
    pub fn inwards(&self) -> [f64; 3] {
        let radius = self.orbit_radius();
        [-self.source[0] / radius, -self.source[1] / radius, 0.0]
    }

    /// Direction of the panel's normal in the plane of the orbit.
    pub fn outwards(&self) -> [f64; 3] {
        let [x, y, _, _] = self.matrix[2];
        let length = norm([x, y, 0.0]);
        [x / length, y / length, 0.0]
    }

    /// Weight of the ray through pixel (i, j): the cosine of its angle to the line from source to axis, divided by
    /// [`View::row_scale`].
    pub fn weight(&self, column: f64, row: f64) -> f64 {
        let ray = self.ray(column, row);
        dot(ray, self.inwards()) / (norm(ray) * self.row_scale(row))
    }

    /// Scale of a row, 1 for a panel that is perpendicular to the line from source to axis.
    ///
    /// The FDK formulas hold for such a panel. The same rays meet it in a row that is a straight line, too, since both
    /// rows lie in one plane with the source. Between the two rows, positions change by a projective map, under which
    /// the ramp filter keeps its form: with the normal a x s of that plane, from the step a between columns and the
    /// row's first pixel s, the filtered values and their weights change by the length of (a x s) x n, where n points
    /// from the source to the axis.
    pub fn row_scale(&self, row: f64) -> f64 {
        let [first, slope] = self.row_scale_terms(0.0);
        self.focal() * norm(std::array::from_fn(|k| first[k] + slope[k] * row))
    }

    /// The vector whose length is the scale of a row, in units of the inverse of the panel's focal length in columns:
    /// its value in row `origin` and its change with the row.
    pub fn row_scale_terms(&self, origin: f64) -> [[f64; 3]; 2] {
        let column = |k: usize| -> [f64; 3] { std::array::from_fn(|r| self.inverse[r][k]) };
        let (along, inwards) = (column(0), self.inwards());
        [self.ray(0.0, origin), column(1)].map(|v| cross(cross(along, v), inwards))
    }

    /// Whether the scale of a row of the panel is 0 or not finite: the row and the source lie in a plane across the
    /// line from the source to the axis.
    pub fn has_row_without_scale(&self, rows: usize) -> bool {
        let [least, most] = self.row_scales(rows);
        least.is_nan() || !most.is_finite() || least <= 1e-9 * most
    }

    /// The least and the largest scale of a row of the panel.
    pub fn row_scales(&self, rows: usize) -> [f64; 2] {
        let last = (rows - 1) as f64;
        let [first, slope] = self.row_scale_terms(0.0);
        let lowest = (-dot(first, slope) / dot(slope, slope)).clamp(0.0, last);
        // NaN for rows of equal scale.
        let lowest = if lowest.is_nan() { 0.0 } else { lowest };
        [self.row_scale(lowest), self.row_scale(0.0).max(self.row_scale(last))]
    }

    /// Source to panel in units of the distance of two columns across the rows' normal.
    pub fn focal(&self) -> f64 {
        let (column, depth) = (self.matrix[0], self.matrix[2]);
        norm(std::array::from_fn(|k| column[k] - self.principal_column * depth[k]))
    }

    /// Distance of pixel (i, j) from the source along [`View::outwards`], in units of the distance along the panel's normal.
    pub fn depth(&self, column: f64, row: f64) -> f64 {
        dot(self.ray(column, row), self.outwards())
    }

    /// Direction of the ray through pixel (i, j), 1 mm long along the panel's normal.
    fn ray(&self, column: f64, row: f64) -> [f64; 3] {
        std::array::from_fn(|k| self.inverse[k][0] * column + self.inverse[k][1] * row + self.inverse[k][2])
    }

    /// Angle between the panel's rows and the plane of the orbit, rad, 0 to pi / 2.
    pub fn row_angle(&self) -> f64 {
        // The first column of the inverse points along the rows.
        let along: [f64; 3] = std::array::from_fn(|k| self.inverse[k][0]);
        (along[2].abs() / norm(along)).min(1.0).asin()
    }

    /// The lowest and the highest point of the axis of rotation that the panel shows, mm, if its columns run along the axis.
    pub fn heights_seen(&self, rows: usize) -> [f64; 2] {
        let [_, row, depth] = self.matrix;
        let at = |edge: f64| (edge * depth[3] - row[3]) / (row[2] - edge * depth[2]);
        let (first, last) = (at(-0.5), at(rows as f64 - 0.5));
        [first.min(last), first.max(last)]
    }

    /// Whether iv is affine in z at fixed (x, y): the panel and its columns are parallel to the z axis.
    pub fn is_vertical(&self) -> bool {
        let scale = self.matrix[1][2].abs();
        // Neither w nor iu may depend on z; the latter means that the columns are upright.
        self.matrix[2][2].abs() <= 1e-14 && self.matrix[0][2].abs() <= 1e-12 * scale
    }

    pub(super) fn from_matrix(index: usize, matrix: &[f64; 12], detector: &Detector) -> Result<Self> {
        let name = || format!("matrices, view {index}");
        if matrix.iter().any(|v| !v.is_finite()) {
            return Err(Error::invalid(name(), "has an entry that is not finite"));
        }
        // A power of two changes no digit, and keeps the squares below from overflow and underflow.
        let largest = matrix[8..11].iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if largest == 0.0 {
            return Err(Error::invalid(name(), "has a third row without a direction"));
        }
        let power = largest.log2().floor() as i32;
        // Two factors, because the inverse of the least number overflows.
        let [half, rest] = [power / 2, power - power / 2].map(|k| 2f64.powi(k));
        let mut a: [[f64; 4]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| matrix[4 * r + c] / half / rest));
        let scale = norm([a[2][0], a[2][1], a[2][2]]);
        let sign = if depth_in_front(&a, scale) < 0.0 { -scale } else { scale };
        a.iter_mut().flatten().for_each(|v| *v /= sign);
        let m: [[f64; 3]; 3] = std::array::from_fn(|r| [a[r][0], a[r][1], a[r][2]]);
        let inverse = inverse(m).ok_or_else(|| Error::invalid(name(), "is singular"))?;
        let last = [a[0][3], a[1][3], a[2][3]];
        let source: [f64; 3] = std::array::from_fn(|k| -dot(inverse[k], last));
        if norm(source) == 0.0 {
            return Err(Error::invalid(name(), "has its source at the isocentre"));
        }
        let principal_column = dot(m[0], m[2]);
        let focal = norm(std::array::from_fn(|k| m[0][k] - principal_column * m[2][k]));
        Ok(Self {
            matrix: a,
            source,
            principal_column,
            principal_row: dot(m[1], m[2]),
            source_to_detector: focal * detector.column_pitch,
            angle: source[1].atan2(source[0]).rem_euclid(TAU),
            inverse,
            scale: sign * half * rest,
        })
    }
}

/// Least modulus of the cosine between the panel's normal and the line from source to axis at which it decides the sign
/// of a matrix.
const LEAST_COSINE: f64 = 0.5;

/// A number with the sign of w in front of the source, from a matrix of any sign whose third row has the length `scale`
/// without its last entry. The axis beside the source is in front of it, at whatever height the world has its origin.
/// Where the panel stands nearly across the axis, which weights refuse, the isocentre is.
fn depth_in_front(a: &[[f64; 4]; 3], scale: f64) -> f64 {
    let m: [[f64; 3]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| a[r][c] / scale));
    let Some(inverse) = inverse(m) else { return a[2][3] };
    let last: [f64; 3] = std::array::from_fn(|r| a[r][3] / scale);
    let [x, y] = [0, 1].map(|k| -dot(inverse[k], last));
    let cosine = -(m[2][0] * x + m[2][1] * y) / x.hypot(y);
    if cosine.abs() >= LEAST_COSINE { cosine } else { a[2][3] }
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Inverse by cofactors; `None` if the rows are dependent to rounding.
pub(super) fn inverse(m: [[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let c = [cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])];
    let determinant = dot(m[0], c[0]);
    let size = norm(m[0]) * norm(m[1]) * norm(m[2]);
    if determinant.is_nan() || determinant.abs() <= 1e-14 * size {
        return None;
    }
    Some(std::array::from_fn(|k| std::array::from_fn(|r| c[r][k] / determinant)))
}
