//! The views of a scan, and the voxels.

use std::f64::consts::TAU;

pub use super::orbit::Orbit;
pub use super::view::{Detector, View};
use super::view::{dot, inverse, norm};
use crate::alloc;
use crate::error::{Error, Result, real, rounded};
use crate::range;

/// The form in which the views were given; messages name it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Trajectory {
    /// Angles on a circular orbit, in rad.
    Orbit(Orbit),
    /// A projection matrix for each view.
    Matrices,
}

/// Panel and views of a scan.
#[derive(Debug, Clone, PartialEq)]
pub struct Geometry {
    /// The panel, the same in all views.
    pub detector: Detector,
    /// The views, in the caller's order.
    pub views: Vec<View>,
    /// The form in which they were given.
    pub trajectory: Trajectory,
}

/// Largest modulus of an angle, rad. Numbers of double precision are 1e-7 apart there, and multiples of 2 pi are as wrong.
const MOST_ANGLE: f64 = 1e9;

impl Geometry {
    /// A circular orbit with the given angles, rad, in any order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the length, the angle or the view that is out of range.
    pub fn circular(detector: Detector, orbit: &Orbit, angles: &[f64]) -> Result<Self> {
        detector.check()?;
        orbit.check([detector.column_pitch, detector.row_pitch])?;
        let (sid, sdd) = (orbit.source_to_axis, orbit.source_to_detector);
        let mut geometry = Self::with_capacity(detector, angles.len(), Trajectory::Orbit(*orbit))?;
        for (n, &angle) in angles.iter().enumerate() {
            if !angle.is_finite() {
                return Err(Error::invalid("angles", format!("element {n} is {angle}, not finite")));
            }
            if angle.abs() > MOST_ANGLE {
                let problem =
                    format!("element {n} is {angle:e}, beyond {MOST_ANGLE:e} rad: numbers are too far apart there");
                return Err(Error::invalid("angles", problem));
            }
            let (sin, cos) = angle.sin_cos();
            let depth = [-cos, -sin, 0.0, sid];
            let column = (detector.columns - 1) as f64 / 2.0 - orbit.column_offset / detector.column_pitch;
            let row = (detector.rows - 1) as f64 / 2.0 - orbit.row_offset / detector.row_pitch;
            let along_u = [-sin, cos, 0.0, 0.0];
            let along_v = [0.0, 0.0, 1.0, 0.0];
            let matrix = [
                std::array::from_fn(|k| sdd / detector.column_pitch * along_u[k] + column * depth[k]),
                std::array::from_fn(|k| sdd / detector.row_pitch * along_v[k] + row * depth[k]),
                depth,
            ];
            let m: [[f64; 3]; 3] = std::array::from_fn(|r| [matrix[r][0], matrix[r][1], matrix[r][2]]);
            geometry.views.push(View {
                matrix,
                source: [sid * cos, sid * sin, 0.0],
                principal_column: column,
                principal_row: row,
                source_to_detector: sdd,
                angle: angle.rem_euclid(TAU),
                inverse: inverse(m).ok_or_else(|| detector.too_wide(orbit))?,
                scale: 1.0,
            });
        }
        Ok(geometry)
    }

    /// Views given by 3x4 matrices, row after row, from world coordinates in mm to pixel indices; any scale and sign.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the view whose matrix is singular or not finite.
    pub fn from_matrices(detector: Detector, matrices: &[[f64; 12]]) -> Result<Self> {
        detector.check()?;
        let mut geometry = Self::with_capacity(detector, matrices.len(), Trajectory::Matrices)?;
        for (n, matrix) in matrices.iter().enumerate() {
            geometry.views.push(View::from_matrix(n, matrix, &detector)?);
        }
        Ok(geometry)
    }

    /// The error of view `n`, by the name of the argument that gave it.
    pub fn refusal(&self, n: usize, problem: &str) -> Error {
        match self.trajectory {
            Trajectory::Orbit(_) => Error::invalid("angles", format!("view {n} {problem}")),
            Trajectory::Matrices => Error::invalid(format!("matrices, view {n}"), problem),
        }
    }

    fn with_capacity(detector: Detector, views: usize, trajectory: Trajectory) -> Result<Self> {
        if views == 0 {
            return Err(Error::invalid("views", "is 0, less than 1"));
        }
        Ok(Self { detector, views: alloc::with_capacity("views", views)?, trajectory })
    }

    /// Refuses a row pitch that differs from the one in the views' matrices; 0 accepts any.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if it is more than 5 % off in some view, or negative or not finite.
    pub fn expect_row_pitch(&self, pitch: f64) -> Result<()> {
        if pitch == 0.0 {
            return Ok(());
        }
        range::positive("row_pitch", pitch)?;
        for (n, view) in self.views.iter().enumerate() {
            let [_, row, depth] = view.matrix.map(|m| [m[0], m[1], m[2]]);
            let focal = norm(std::array::from_fn(|k| row[k] - view.principal_row * depth[k]));
            let held = view.source_to_detector / focal;
            let off = (pitch / held - 1.0).abs();
            if off.is_nan() || off > 0.05 {
                let problem =
                    format!("is {}, the matrix of view {n} holds {}: give that, or 0", real(pitch), rounded(held, 6));
                return Err(Error::invalid("row_pitch", problem));
            }
        }
        Ok(())
    }

    /// Position of a column in a view, mm from the foot of the perpendicular.
    pub fn column_position(&self, view: &View, column: f64) -> f64 {
        (column - view.principal_column) * self.detector.column_pitch
    }

    /// Whether every view has an upright panel, so that iv is affine in z: the fast back-projection applies.
    pub fn is_vertical(&self) -> bool {
        self.views.iter().all(View::is_vertical)
    }
}

/// Limit of voxels along an axis, because slabs and their panel rows are counted one by one.
const MOST_VOXELS: usize = 1 << 20;

/// The voxels: sizes, spacings, and the centre of voxel (0, 0, 0), mm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Voxels along x, y, z.
    pub size: [usize; 3],
    /// Distance of two voxels along x, y, z.
    pub spacing: [f64; 3],
    /// Centre of the first voxel.
    pub origin: [f64; 3],
}

impl Grid {
    /// The default grid: cubic voxels with the panel's pitch, scaled to the axis by the mean magnification of all
    /// views. It has as many voxels along x and y as the panel has columns, and along z as it has rows, and is centred
    /// on the isocentre.
    pub fn standard(geometry: &Geometry) -> Self {
        let d = &geometry.detector;
        let scale = |view: &View| view.source_distance() / view.source_to_detector;
        let first = scale(&geometry.views[0]);
        // This form is exact if all scales are equal.
        let others = geometry.views.iter().map(|v| scale(v) - first).sum::<f64>();
        let pitch = d.column_pitch * (first + others / geometry.views.len() as f64);
        let size = [d.columns, d.columns, d.rows];
        Self { size, spacing: [pitch; 3], origin: size.map(|n| -((n - 1) as f64) / 2.0 * pitch) }
    }

    /// Refuses sizes of 0 or more than 2^20, spacings that are not positive, and a volume past the address space.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], also for an origin that is not finite.
    pub fn check(&self) -> Result<()> {
        for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
            if !(1..=MOST_VOXELS).contains(&self.size[k]) {
                let problem = format!("is {}, outside 1 to {MOST_VOXELS}", self.size[k]);
                return Err(Error::invalid(format!("n{axis}"), problem));
            }
            range::positive(&format!("d{axis}"), self.spacing[k])?;
            range::finite(&format!("{axis}0"), self.origin[k])?;
        }
        let voxels = self.size.iter().try_fold(1usize, |p, n| p.checked_mul(*n));
        match voxels.and_then(|v| v.checked_mul(8)).and_then(|b| isize::try_from(b).ok()) {
            Some(_) => Ok(()),
            None => Err(Error::invalid("nx", format!("{:?} voxels are more than 2^63 bytes", self.size))),
        }
    }

    /// Centre of a voxel along one axis.
    pub fn position(&self, axis: usize, index: usize) -> f64 {
        self.origin[axis] + index as f64 * self.spacing[axis]
    }

    /// The eight corners, as centres of the corner voxels.
    pub fn corners(&self) -> [[f64; 3]; 8] {
        std::array::from_fn(|c| {
            std::array::from_fn(|k| self.position(k, if c >> k & 1 == 1 { self.size[k] - 1 } else { 0 }))
        })
    }

    /// Describes where the grid reaches the source plane of a view, at which magnification is unbounded; `None` if nowhere.
    pub fn behind_source(&self, geometry: &Geometry) -> Option<String> {
        for (n, view) in geometry.views.iter().enumerate() {
            for corner in self.corners() {
                let depth = dot([view.matrix[2][0], view.matrix[2][1], view.matrix[2][2]], corner) + view.matrix[2][3];
                if depth <= 0.0 || depth.is_nan() {
                    let depth = rounded(0.0 - depth, 4);
                    return Some(format!("{corner:?}, which lies {depth} mm behind the source of view {n}"));
                }
            }
        }
        None
    }

    /// Whether the grid's box falls beyond one side of the panel in every view, all in front of the sources.
    pub fn is_unseen(&self, geometry: &Geometry) -> bool {
        let (corners, d) = (self.corners(), &geometry.detector);
        let sides = [(0, d.columns), (1, d.rows)];
        geometry.views.iter().all(|view| {
            let at = |r: usize, p: [f64; 3]| {
                let m = &view.matrix[r];
                dot([m[0], m[1], m[2]], p) + m[3]
            };
            // A sample beside the outermost pixels still has a share of them.
            let low = |r: usize| corners.iter().all(|p| at(r, *p) <= -at(2, *p));
            let high = |r: usize, size: usize| corners.iter().all(|p| at(r, *p) >= size as f64 * at(2, *p));
            corners.iter().all(|p| at(2, *p) > 0.0) && sides.iter().any(|(r, size)| low(*r) || high(*r, *size))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::MOST_PIXELS;
    use super::*;

    const PANEL: Detector = Detector { columns: 80, rows: 64, column_pitch: 3.0, row_pitch: 3.5 };
    const ORBIT: Orbit = Orbit {
        source_to_axis: 500.0,
        source_to_detector: 1000.0,
        column_offset: 7.0,
        row_offset: -2.0,
        allow_inside_panel: false,
    };

    fn project(view: &View, p: [f64; 3]) -> [f64; 2] {
        let h: [f64; 3] = std::array::from_fn(|r| {
            dot([view.matrix[r][0], view.matrix[r][1], view.matrix[r][2]], p) + view.matrix[r][3]
        });
        [h[0] / h[2], h[1] / h[2]]
    }

    #[test]
    fn a_point_falls_where_the_ray_through_it_meets_the_panel() {
        for angle in [0.0, 0.3, 2.0, -1.0, 7.5] {
            let g = Geometry::circular(PANEL, &ORBIT, &[angle]).unwrap();
            let v = &g.views[0];
            let (sin, cos) = f64::sin_cos(angle);
            let p = [12.0, -34.0, 25.0];
            // Intersect source + t (p - source) with the plane at SDD.
            let s = [500.0 * cos, 500.0 * sin, 0.0];
            let d: [f64; 3] = std::array::from_fn(|k| p[k] - s[k]);
            let t = 1000.0 / -(d[0] * cos + d[1] * sin);
            let u = t * (-d[0] * sin + d[1] * cos);
            let w = t * d[2];
            let want = [(u - 7.0) / 3.0 + 39.5, (w + 2.0) / 3.5 + 31.5];
            let got = project(v, p);
            assert!((got[0] - want[0]).abs() < 1e-10 && (got[1] - want[1]).abs() < 1e-10, "{got:?} {want:?}");
            let position = g.column_position(v, want[0]);
            assert!((position - u).abs() < 1e-9);
            let cosine = 1000.0 / (1e6 + u * u + w * w).sqrt();
            assert!((v.weight(want[0], want[1]) - cosine).abs() < 1e-14);
            assert!(v.is_vertical());
        }
    }

    #[test]
    fn matrices_of_any_scale_and_sign_give_the_same_view() {
        let g = Geometry::circular(PANEL, &ORBIT, &[0.7]).unwrap();
        let a = g.views[0];
        for scale in [1.0, -3.0, 1e-3, 1e4] {
            let m: [f64; 12] = std::array::from_fn(|k| scale * a.matrix[k / 4][k % 4]);
            let b = Geometry::from_matrices(PANEL, &[m]).unwrap().views[0];
            assert!((a.source_to_detector - b.source_to_detector).abs() < 1e-9);
            assert!((a.principal_column - b.principal_column).abs() < 1e-10);
            assert!((a.principal_row - b.principal_row).abs() < 1e-10);
            assert!((a.angle - b.angle).abs() < 1e-14);
            for k in 0..3 {
                assert!((a.source[k] - b.source[k]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn bad_geometry_names_what_is_wrong() {
        let text = |r: Result<Geometry>| r.unwrap_err().to_string();
        let orbit = |sid, sdd| Orbit { source_to_axis: sid, source_to_detector: sdd, ..ORBIT };
        assert_eq!(
            text(Geometry::circular(PANEL, &orbit(0.0, 1.0), &[0.0])),
            "source_to_axis: is 0, a finite number above 0 is needed"
        );
        assert!(
            text(Geometry::circular(PANEL, &orbit(500.0, 400.0), &[0.0]))
                .starts_with("source_to_detector: is 400, less")
        );
        assert!(text(Geometry::circular(PANEL, &ORBIT, &[0.0, f64::NAN])).starts_with("angles: element 1 is NaN"));
        let wide = Detector { column_pitch: 1e30, ..PANEL };
        let problem = "column_pitch: is 1e30: 80 columns are too wide for source_to_detector = 1000";
        assert_eq!(text(Geometry::circular(wide, &ORBIT, &[0.0])), problem);
        assert_eq!(text(Geometry::circular(PANEL, &ORBIT, &[])), "views: is 0, less than 1");
        assert_eq!(text(Geometry::from_matrices(PANEL, &[[1.0; 12]])), "matrices, view 0: is singular");
        let mut m = [0.0; 12];
        m[5] = f64::INFINITY;
        assert!(text(Geometry::from_matrices(PANEL, &[m])).contains("view 0: has an entry that is not finite"));
        let narrow = Detector { columns: 1, ..PANEL };
        assert_eq!(text(Geometry::circular(narrow, &ORBIT, &[0.0])), "detector_columns: is 1, less than 2");
        let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 500.0];
        for count in [MOST_PIXELS + 1, 1 << 40, 1 << 62, usize::MAX] {
            let wide = Detector { columns: count, ..PANEL };
            let problem = format!("detector_columns: is {count}, more than 8388608");
            assert_eq!(text(Geometry::circular(wide, &ORBIT, &[0.0])), problem);
            assert_eq!(text(Geometry::from_matrices(wide, &[identity])), problem);
            let high = Detector { rows: count, ..PANEL };
            let problem = format!("detector_rows: is {count}, more than 8388608");
            assert_eq!(text(Geometry::circular(high, &ORBIT, &[0.0])), problem);
        }
        let largest = Detector { columns: MOST_PIXELS, rows: MOST_PIXELS, ..PANEL };
        assert!(Geometry::circular(largest, &ORBIT, &[0.0, 1.0]).is_ok());
    }

    #[test]
    fn a_grid_behind_the_source_is_refused() {
        let g = Geometry::circular(PANEL, &ORBIT, &[0.0, 1.0]).unwrap();
        let grid = Grid { size: [3, 3, 3], spacing: [300.0; 3], origin: [-300.0; 3] };
        assert_eq!(grid.behind_source(&g), None);
        let grid = Grid { spacing: [520.0; 3], origin: [-520.0; 3], ..grid };
        let place = grid.behind_source(&g).unwrap();
        assert!(place.ends_with("20.0000 mm behind the source of view 0"), "{place}");
        assert!(Grid { size: [usize::MAX, 2, 2], ..grid }.check().is_err());
        assert!(Grid::standard(&g).check().is_ok());
    }
}
