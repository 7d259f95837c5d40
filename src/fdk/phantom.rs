//! A test object of ellipsoids, for checking geometry and scale: its projections are exact line integrals.

use super::geometry::{Geometry, Grid, View};
use crate::backend::cpu::Pool;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::error::{Error, Result};
use crate::progress::CancelWatch;

/// An ellipsoid of constant density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    /// Density to add inside, 1/mm.
    pub density: f64,
    /// Semi-axes along its own x, y, z, mm.
    pub axes: [f64; 3],
    /// Centre in the world's axes, mm.
    pub centre: [f64; 3],
    /// Rotation about z, rad, counter-clockwise.
    pub rotation: f64,
}

impl Ellipsoid {
    /// From density, three semi-axes, the centre and the rotation.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the ellipsoid for a semi-axis that is not positive or a number not finite.
    pub fn new(index: usize, row: [f64; 8]) -> Result<Self> {
        let name = || format!("ellipsoids, column {index}");
        if row.iter().any(|v| !v.is_finite()) {
            return Err(Error::invalid(name(), "has a number that is not finite"));
        }
        let axes = [row[1], row[2], row[3]];
        if axes.iter().any(|a| *a <= 0.0) {
            return Err(Error::invalid(name(), format!("has semi-axes {axes:?}, which must be positive")));
        }
        Ok(Self { density: row[0], axes, centre: [row[4], row[5], row[6]], rotation: row[7] })
    }

    /// Transforms a point or direction to the frame in which the ellipsoid is the unit ball.
    fn to_ball(self, p: [f64; 3]) -> [f64; 3] {
        let (sin, cos) = self.rotation.sin_cos();
        [(p[0] * cos + p[1] * sin) / self.axes[0], (p[1] * cos - p[0] * sin) / self.axes[1], p[2] / self.axes[2]]
    }

    /// Length of a line's part inside the ellipsoid, times the density. `direction` is a unit vector.
    fn line_integral(self, source: [f64; 3], direction: [f64; 3]) -> f64 {
        let o = self.to_ball(std::array::from_fn(|k| source[k] - self.centre[k]));
        let d = self.to_ball(direction);
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let (a, b) = (dot(d, d), dot(o, d));
        // |o|^2 - b^2/a is the squared distance of the line from the centre. It is computed from the foot of the
        // perpendicular, because the difference of two large numbers would lose digits.
        let foot: [f64; 3] = std::array::from_fn(|k| o[k] - b / a * d[k]);
        let inside = 1.0 - dot(foot, foot);
        if inside > 0.0 { self.density * 2.0 * (inside / a).sqrt() } else { 0.0 }
    }

    /// Whether a point lies inside.
    fn contains(self, p: [f64; 3]) -> bool {
        let q = self.to_ball(std::array::from_fn(|k| p[k] - self.centre[k]));
        q[0] * q[0] + q[1] * q[1] + q[2] * q[2] <= 1.0
    }
}

/// The three-dimensional Shepp-Logan head with densities raised for contrast, in the ball of the given radius, mm.
pub fn shepp_logan(radius: f64) -> [[f64; 8]; 10] {
    // Density, semi-axes, centre, rotation in degrees, in units of the radius.
    const TABLE: [[f64; 8]; 10] = [
        [1.0, 0.69, 0.92, 0.81, 0.0, 0.0, 0.0, 0.0],
        [-0.8, 0.6624, 0.874, 0.78, 0.0, -0.0184, 0.0, 0.0],
        [-0.2, 0.11, 0.31, 0.22, 0.22, 0.0, 0.0, -18.0],
        [-0.2, 0.16, 0.41, 0.28, -0.22, 0.0, 0.0, 18.0],
        [0.1, 0.21, 0.25, 0.41, 0.0, 0.35, -0.15, 0.0],
        [0.1, 0.046, 0.046, 0.05, 0.0, 0.1, 0.25, 0.0],
        [0.1, 0.046, 0.046, 0.05, 0.0, -0.1, 0.25, 0.0],
        [0.1, 0.046, 0.023, 0.05, -0.08, -0.605, 0.0, 0.0],
        [0.1, 0.023, 0.023, 0.02, 0.0, -0.606, 0.0, 0.0],
        [0.1, 0.023, 0.046, 0.02, 0.06, -0.605, 0.0, 0.0],
    ];
    TABLE.map(|row| {
        let mut out = row.map(|v| v * radius);
        (out[0], out[7]) = (row[0], row[7].to_radians());
        out
    })
}

/// Pixels or voxels that are computed between two checks for a cancellation.
const UNWATCHED: usize = 1 << 12;

/// Exact line integrals of the ellipsoids at every pixel of a view, row after row.
fn project_view(
    geometry: &Geometry,
    view: &View,
    ellipsoids: &[Ellipsoid],
    out: &mut [f32],
    cancel: CancelWatch<'_>,
) -> Result<()> {
    let columns = geometry.detector.columns;
    for (p, value) in out.iter_mut().enumerate() {
        if p.is_multiple_of(UNWATCHED) {
            cancel.check()?;
        }
        let (i, j) = ((p % columns) as f64, (p / columns) as f64);
        let ray: [f64; 3] =
            std::array::from_fn(|k| view.inverse[k][0] * i + view.inverse[k][1] * j + view.inverse[k][2]);
        let length = (ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2]).sqrt();
        let direction = ray.map(|r| r / length);
        *value = ellipsoids.iter().map(|e| e.line_integral(view.source, direction)).sum::<f64>() as f32;
    }
    Ok(())
}

/// Exact projections: `out` holds columns x rows x views, columns fastest.
///
/// # Errors
/// [`Error::Cancelled`], within a view.
pub fn project(
    pool: &Pool,
    geometry: &Geometry,
    ellipsoids: &[Ellipsoid],
    out: &mut [f32],
    cancel: CancelWatch<'_>,
) -> Result<()> {
    let view_size = geometry.detector.columns * geometry.detector.rows;
    pool.run(|| {
        out.par_chunks_mut(view_size.max(1))
            .zip(&geometry.views)
            .try_for_each(|(image, view)| project_view(geometry, view, ellipsoids, image, cancel))
    })
}

/// Density of the ellipsoids at the voxels' centres, x fastest: the ideal reconstruction.
///
/// # Errors
/// [`Error::Cancelled`], within a slice.
pub fn sample(
    pool: &Pool,
    grid: &Grid,
    ellipsoids: &[Ellipsoid],
    out: &mut [f32],
    cancel: CancelWatch<'_>,
) -> Result<()> {
    let [nx, ny, _] = grid.size;
    pool.run(|| {
        out.par_chunks_mut((nx * ny).max(1)).enumerate().try_for_each(|(k, slice)| {
            for (p, value) in slice.iter_mut().enumerate() {
                if p.is_multiple_of(UNWATCHED) {
                    cancel.check()?;
                }
                let point = [grid.position(0, p % nx), grid.position(1, p / nx), grid.position(2, k)];
                *value = ellipsoids.iter().filter(|e| e.contains(point)).map(|e| e.density).sum::<f64>() as f32;
            }
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Detector, Orbit};
    use super::*;

    #[test]
    fn the_chord_through_a_ball_is_its_diameter() {
        let detector = Detector { columns: 5, rows: 3, column_pitch: 1.0, row_pitch: 1.0 };
        let orbit = Orbit {
            source_to_axis: 500.0,
            source_to_detector: 1000.0,
            column_offset: 0.0,
            row_offset: 0.0,
            allow_inside_panel: false,
        };
        let g = Geometry::circular(detector, &orbit, &[0.0, 1.0, 4.0]).unwrap();
        let ball = Ellipsoid::new(0, [0.02, 30.0, 30.0, 30.0, 0.0, 0.0, 0.0, 0.3]).unwrap();
        let mut out = [f32::NAN; 45];
        project(&Pool::new(2).unwrap(), &g, &[ball], &mut out, CancelWatch::never()).unwrap();
        for view in out.chunks(15) {
            assert!((view[7] - 1.2).abs() < 1e-6, "2 mu R");
            assert!(view.iter().all(|v| *v <= view[7] && *v > 1.19));
        }
    }

    #[test]
    fn a_rotated_ellipsoid_and_a_turned_source_are_the_same() {
        let e = |phi: f64| Ellipsoid::new(0, [1.0, 40.0, 20.0, 30.0, 0.0, 0.0, 0.0, phi]).unwrap();
        for phi in [0.2, 1.0, 2.5] {
            let (sin, cos) = f64::sin_cos(phi);
            let turned = e(phi).line_integral([500.0 * cos, 500.0 * sin, 3.0], [-cos, -sin, 0.0]);
            let still = e(0.0).line_integral([500.0, 0.0, 3.0], [-1.0, 0.0, 0.0]);
            assert!((turned - still).abs() < 1e-10);
        }
    }

    #[test]
    fn ellipsoids_without_size_are_refused() {
        let e = Ellipsoid::new(3, [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]).unwrap_err().to_string();
        assert!(e.starts_with("ellipsoids, column 3: has semi-axes"), "{e}");
        assert!(Ellipsoid::new(0, [f64::NAN; 8]).is_err());
        assert!(shepp_logan(60.0).iter().enumerate().all(|(k, row)| Ellipsoid::new(k, *row).is_ok()));
    }
}
