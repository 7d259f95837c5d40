//! Angles of a view's rays in its fan, measured from the ray through the rotation axis in the plane of the orbit.
//!
//! They do not depend on the panel's principal point. That point is on the projected axis only if the panel is perpendicular
//! to the line from source to axis; a yaw of one degree moves it by SDD / 57.

use super::geometry::{Detector, View};

/// The rays of a view, seen along the rotation axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fan {
    /// Product with (column, row, 1): the part of a ray's direction across the line from source to axis, positive along
    /// the orbit's sense of rotation.
    across: [f64; 3],
    /// Product with (column, row, 1): the part of a ray's direction along that line.
    along: [f64; 3],
    /// Distance from the source to the axis of rotation, mm.
    pub radius: f64,
}

/// Extent of a panel on both sides of the axis, mm from the axis; negative on a side where some row of it ends before the
/// axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// On the side of negative angles.
    pub negative: f64,
    /// On the side of positive angles.
    pub positive: f64,
    /// Whether angles grow with the columns' index.
    pub is_ascending: bool,
}

impl Fan {
    /// The fan of a view.
    pub fn new(view: &View) -> Self {
        let (sin, cos) = view.angle.sin_cos();
        let of = |x: f64, y: f64| std::array::from_fn(|k| x * view.inverse[0][k] + y * view.inverse[1][k]);
        Self { across: of(-sin, cos), along: of(-cos, -sin), radius: view.source[0].hypot(view.source[1]) }
    }

    /// Angle of the ray through a pixel, rad, 0 for the ray through the axis.
    pub fn angle(&self, column: f64, row: f64) -> f64 {
        let dot = |a: [f64; 3]| a[0] * column + a[1] * row + a[2];
        dot(self.across).atan2(dot(self.along))
    }

    /// Signed distance from the axis of the ray at an angle, mm.
    pub fn distance(&self, angle: f64) -> f64 {
        self.radius * angle.clamp(-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2).sin()
    }

    /// The panel's extent on both sides of the axis, over all its rows.
    pub fn reach(&self, detector: &Detector) -> Reach {
        let ends = [0.0, (detector.rows - 1) as f64];
        // Along an edge of the panel the angle is monotonic, so its extremes are at the ends.
        let edge = |column: f64| ends.map(|row| self.distance(self.angle(column, row)));
        let (first, last) = (edge(0.0), edge((detector.columns - 1) as f64));
        let is_ascending = last[0] + last[1] >= first[0] + first[1];
        let (low, high) = if is_ascending { (first, last) } else { (last, first) };
        Reach { negative: -low[0].max(low[1]), positive: high[0].min(high[1]), is_ascending }
    }

    /// Distance of two columns at the axis, mm on a panel through the axis, in the panel's middle row.
    pub fn pitch_at_axis(&self, detector: &Detector) -> f64 {
        let row = (detector.rows - 1) as f64 / 2.0;
        let [a, b, c] = self.across;
        let column = -(b * row + c) / a;
        let [d, e, f] = self.along;
        self.radius * (a / (d * column + e * row + f)).abs()
    }

    /// Largest angle of a ray to the one through the axis, rad.
    pub fn widest(&self, detector: &Detector) -> f64 {
        let (right, top) = ((detector.columns - 1) as f64, (detector.rows - 1) as f64);
        let corners = [(0.0, 0.0), (right, 0.0), (0.0, top), (right, top)];
        corners.into_iter().map(|(i, j)| self.angle(i, j).abs()).fold(0.0, f64::max)
    }

    /// Whether the rays through a column of the panel have different angles: its columns are not parallel to the axis.
    /// Differences below a thousandth of a column do not count.
    pub fn is_oblique(&self, detector: &Detector) -> bool {
        let (right, top) = ((detector.columns - 1) as f64, (detector.rows - 1) as f64);
        let step = (self.angle(right, 0.0) - self.angle(0.0, 0.0)).abs() / right;
        [0.0, right].into_iter().any(|i| (self.angle(i, top) - self.angle(i, 0.0)).abs() > 1e-3 * step)
    }

    /// The row at which the ray through a column lies in the plane of the orbit, clamped to the panel.
    pub fn row_in_plane(view: &View, detector: &Detector, column: f64) -> f64 {
        let [a, b, c] = view.inverse[2];
        let row = -(a * column + c) / b;
        let last = (detector.rows - 1) as f64;
        if row.is_finite() { row.clamp(0.0, last) } else { last / 2.0 }
    }

    /// Coefficients of (column, row, 1) across and along the line from source to axis, with the middle of the panel as
    /// the origin of columns and rows.
    pub fn centred(&self, detector: &Detector) -> [f64; 6] {
        let (i, j) = ((detector.columns - 1) as f64 / 2.0, (detector.rows - 1) as f64 / 2.0);
        let of = |a: [f64; 3]| [a[0], a[1], a[0] * i + a[1] * j + a[2]];
        let ([a, b, c], [d, e, f]) = (of(self.across), of(self.along));
        [a, b, c, d, e, f]
    }

    /// Whether the rays of another view have the same angles, column by column.
    pub fn is_like(&self, other: &Self, detector: &Detector) -> bool {
        let right = (detector.columns - 1) as f64;
        let near = |i: f64| (self.angle(i, 0.0) - other.angle(i, 0.0)).abs() <= 1e-12;
        (self.radius - other.radius).abs() <= 1e-12 * self.radius && near(0.0) && near(right / 2.0) && near(right)
    }
}
