//! Weights so that every ray counts once: angular weights of the views, and weights of rays that are measured twice.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

use super::fan::{Fan, Reach};
use super::geometry::Geometry;
use super::half_fan;
use crate::alloc;
use crate::error::{Error, Result};

/// Weights of rays that are measured twice. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Redundancy {
    /// Chosen from angles and panel; see [`Scan::new`].
    Auto = 0,
    /// All weights 1: every ray is measured once.
    None = 1,
    /// All weights 1/2: a full circle measures every ray twice.
    Full = 2,
    /// Parker's weights, for an arc of 180 degrees and the fan angle.
    Short = 3,
    /// A panel shifted sideways on a full circle: the two halves of the object are seen from opposite sides.
    HalfFan = 4,
}

/// The arc of a scan, its redundancy and the weights that follow.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// The redundancy in force, not [`Redundancy::Auto`].
    pub redundancy: Redundancy,
    /// Why it was chosen, in words.
    pub reason: String,
    /// Problems of the scan that do not prevent a result. `reason` contains them too.
    pub warnings: Vec<String>,
    /// Angular weight of each view, rad: half the gaps beside it. Those of a short scan whose excess over 180 degrees is
    /// less than a step of its views are scaled: Parker's weights end between two views there, and their sum over the
    /// views is not half a circle.
    pub angular: Vec<f64>,
    /// Angle from the first view of the arc to the last, rad.
    pub arc: f64,
    /// Whether the views leave a part of the circle out.
    pub is_arc: bool,
    /// Angle of the first view of the arc, the one after the largest gap, rad.
    pub first: f64,
    /// Largest gap between neighbouring views, rad.
    pub largest_gap: f64,
    /// Largest angle between a ray and the one through the axis, seen along the axis, rad.
    pub half_fan_angle: f64,
    /// Zero columns to add on the left of the panel (half fan).
    pub extra_left: usize,
    /// Zero columns to add on the right of the panel (half fan).
    pub extra_right: usize,
    /// Smallest extent of the panel over all views on the side of negative angles and on that of positive ones, mm from the
    /// axis.
    pub reach: [f64; 2],
    /// Whether the weight of a ray depends on the row as well as on the column: columns are not parallel to the axis.
    pub is_by_pixel: bool,
    /// The rays of each view.
    pub fans: Vec<Fan>,
    /// Radius of the orbit on which weights are computed, mm: the mean of all views. The weights are functions of the
    /// line and not of the source's distance, so the two weights of a line add to 1 on non-circular orbits, too.
    pub radius: f64,
}

/// Dependence of a scan's weights on the fan angle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ramp {
    /// None: the same weight for all rays.
    Flat(f64),
    /// Parker's weights for an arc of pi + 2 `delta`.
    Short {
        /// Half of the arc's excess over pi, rad.
        delta: f64,
    },
    /// A step across the strip that both sides see.
    HalfFan {
        /// Half width of the strip, as an angle on the orbit of [`Scan::radius`].
        reach: f64,
        /// 1 if the long side is that of positive angles, else -1.
        long_side: f64,
    },
}

impl Scan {
    /// Computes the weights of a scan.
    ///
    /// `Auto` assumes a short scan if the largest gap is more than 20 degrees and more than three times the median gap,
    /// or more than half a circle. Otherwise it assumes a full circle. On a full circle, it assumes a half fan if the
    /// panel's centre is more than a tenth of its width off the projected axis. The panel's extent on each side of the
    /// axis is the smallest of all views.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an arc below 180 degrees with Parker's weights and for a gap in a full circle,
    /// unless `allow_short_arc`; for a half fan that does not reach [`half_fan::least_overlap`] columns beyond the axis in
    /// every view, whose columns change their direction between views, or that is not on a full circle.
    pub fn new(geometry: &Geometry, asked: Redundancy, allow_short_arc: bool) -> Result<Self> {
        let gaps = Gaps::new(geometry)?;
        let detector = &geometry.detector;
        let mut fans: Vec<Fan> = alloc::with_capacity("fans of the views", geometry.views.len())?;
        fans.extend(geometry.views.iter().map(Fan::new));
        let first = fans[0].radius;
        // This form is exact if all radii are equal.
        let radius = first + fans.iter().map(|f| f.radius - first).sum::<f64>() / fans.len() as f64;
        let half_fan_angle = fans.iter().map(|f| f.widest(detector)).fold(0.0, f64::max);
        let reach = fans
            .iter()
            .map(|f| f.reach(detector))
            .fold([f64::INFINITY; 2], |[a, b], r: Reach| [a.min(r.negative), b.min(r.positive)]);
        let is_arc = gaps.is_arc();
        // Extents on a panel at the axis that is perpendicular to the ray through it.
        let [left, right] = reach.map(|r| radius * (r / radius).clamp(-1.0, 1.0).asin().tan());
        let columns = detector.columns as f64;
        let (width, shift) = ((left + right) * columns / (columns - 1.0), (right - left) / 2.0);
        let degrees = |a: f64| a.to_degrees();
        let (redundancy, reason) = match asked {
            Redundancy::Auto if is_arc => {
                (Redundancy::Short, format!("the largest gap between views is {:.1} degrees", degrees(gaps.largest)))
            }
            Redundancy::Auto if shift.abs() > 0.1 * width => (
                Redundancy::HalfFan,
                format!("a full circle, the axis {shift:.3} mm off the middle of the {width:.3} mm seen about it"),
            ),
            Redundancy::Auto => {
                (Redundancy::Full, format!("a full circle: the largest gap is {:.2} degrees", degrees(gaps.largest)))
            }
            other => (other, "asked for".to_owned()),
        };
        let arc = TAU - gaps.largest;
        let mut scan = Self {
            redundancy,
            reason,
            warnings: Vec::new(),
            // No view covers the gap of an arc, so the views at its ends do not get half of it.
            angular: gaps.weights(is_arc || redundancy == Redundancy::Short)?,
            arc,
            is_arc,
            first: gaps.first,
            largest_gap: gaps.largest,
            half_fan_angle,
            extra_left: 0,
            extra_right: 0,
            reach,
            is_by_pixel: false,
            fans,
            radius,
        };
        match redundancy {
            Redundancy::Short => {
                scan.check_short(allow_short_arc)?;
                let factor = scan.short_factor(geometry, gaps.second);
                scan.angular.iter_mut().for_each(|w| *w *= factor);
            }
            Redundancy::HalfFan => scan.extend_half_fan(geometry, is_arc)?,
            Redundancy::Full if is_arc && !allow_short_arc => {
                let gap = degrees(gaps.largest);
                let problem = format!("is full, with a gap of {gap:.1} degrees between views; a full circle is needed");
                return Err(Error::invalid("redundancy", problem));
            }
            _ => {}
        }
        if matches!(redundancy, Redundancy::Short | Redundancy::HalfFan) {
            if let Some(n) = scan.fans.iter().position(|f| f.radius <= 0.0) {
                return Err(Error::invalid(
                    "redundancy",
                    format!("needs an orbit, view {n} has its source on the axis"),
                ));
            }
            scan.is_by_pixel = scan.fans.iter().any(|f| f.is_oblique(detector));
        }
        let needed = if scan.misses_rays() {
            Some(PI + 2.0 * scan.half_fan_angle)
        } else {
            (redundancy == Redundancy::Full && is_arc).then_some(TAU)
        };
        if let Some(needed) = needed {
            let (arc, needed) = (degrees(arc), degrees(needed));
            scan.warn(format!("rays are missing: the arc is {arc:.1} degrees, {needed:.1} are needed"))?;
        }
        if is_arc && gaps.is_wide(gaps.second) {
            let hole = degrees(gaps.second);
            scan.warn(format!("rays are missing: another gap of {hole:.1} degrees is inside the arc"))?;
        }
        if redundancy == Redundancy::Short && shift.abs() > 0.1 * width {
            let radius = scan.reach[0].min(scan.reach[1]).max(0.0);
            scan.warn(format!("the panel is off the axis, an arc measures {radius:.1} mm about it completely"))?;
        }
        Ok(scan)
    }

    /// Adds a warning, and appends it to the reason.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn warn(&mut self, problem: String) -> Result<()> {
        self.reason = format!("{}; {problem}", self.reason);
        alloc::push("warnings", &mut self.warnings, problem)
    }

    fn check_short(&self, allow_short_arc: bool) -> Result<()> {
        if self.arc < PI * (1.0 - 1e-9) && !allow_short_arc {
            return Err(Error::invalid(
                "angles",
                format!("the arc is {:.2} degrees, less than the 180 that a short scan needs", self.arc.to_degrees()),
            ));
        }
        Ok(())
    }

    /// The factor of all angular weights; see [`Scan::angular`]. `step` is the largest gap between views of the arc, rad.
    fn short_factor(&self, geometry: &Geometry, step: f64) -> f64 {
        let delta = (self.arc - PI) / 2.0;
        if self.misses_rays() || 2.0 * delta >= step {
            return 1.0;
        }
        let weights =
            geometry.views.iter().zip(&self.angular).map(|(v, w)| w * parker(self.along(v.angle), 0.0, delta));
        let sum = weights.sum::<f64>();
        // A scan of a few views may have none with a weight.
        if sum > FRAC_PI_2 { PI / sum } else { 1.0 }
    }

    /// Whether an arc is too short for its fan, so that some rays are missing. The scan is reconstructed all the same.
    pub fn misses_rays(&self) -> bool {
        self.redundancy == Redundancy::Short && (self.arc - PI) / 2.0 < self.half_fan_angle * (1.0 - 1e-9)
    }

    /// The dependence of the weights on the fan angle.
    pub fn ramp(&self) -> Ramp {
        match self.redundancy {
            Redundancy::None | Redundancy::Auto => Ramp::Flat(1.0),
            Redundancy::Full => Ramp::Flat(0.5),
            Redundancy::Short => Ramp::Short { delta: (self.arc - PI) / 2.0 },
            Redundancy::HalfFan => {
                let [negative, positive] = self.reach;
                Ramp::HalfFan {
                    reach: (negative.min(positive) / self.radius).min(1.0).asin(),
                    long_side: if negative <= positive { 1.0 } else { -1.0 },
                }
            }
        }
    }

    /// Angle of a view's source from the start of the arc, rad.
    pub fn along(&self, angle: f64) -> f64 {
        let along = (angle - self.first).rem_euclid(TAU);
        // Rounding may give almost 2 pi for the first view.
        if along > self.arc + self.largest_gap / 2.0 { 0.0 } else { along }
    }

    /// Weight of the ray through a pixel of view `n`.
    pub fn ray_weight(&self, geometry: &Geometry, n: usize, column: f64, row: f64) -> f64 {
        let ramp = self.ramp();
        if let Ramp::Flat(weight) = ramp {
            return weight;
        }
        let fan = &self.fans[n];
        let angle = fan.angle(column, row);
        // The fan angle of the same line for a source on the mean orbit.
        let mean = (fan.distance(angle) / self.radius).clamp(-1.0, 1.0).asin();
        match ramp {
            Ramp::Flat(weight) => weight,
            // The source moves to where the line meets that orbit.
            Ramp::Short { delta } => parker(self.along(geometry.views[n].angle) + mean - angle, -mean, delta),
            Ramp::HalfFan { reach, long_side } => half_fan::weight(mean, reach, long_side),
        }
    }
}

/// Parker's weight at angle `along` from the start of an arc of pi + 2 delta, for the ray at fan angle `gamma`. The second
/// measurement of the ray, at `along + pi + 2 gamma` and -gamma, has the complementary weight.
fn parker(along: f64, gamma: f64, delta: f64) -> f64 {
    // At the edge of the fan one of the ramps has length 0; the adjacent weight applies.
    let ramp = |x: f64, length: f64| if length > 0.0 { (FRAC_PI_4 * x / length).sin().powi(2) } else { 1.0 };
    let end = PI + 2.0 * delta;
    if along < 0.0 || along > end {
        0.0
    } else if along <= 2.0 * (delta - gamma) {
        ramp(along, delta - gamma)
    } else if along <= PI - 2.0 * gamma {
        1.0
    } else {
        ramp(end - along, delta + gamma)
    }
}

/// Views whose angles differ by at most this are views from one position, rad. An encoder at rest reports such differences;
/// steps of a scan are longer.
const ONE_PLACE: f64 = 1e-4;

/// Rounding error of an angle, rad.
const ROUNDING: f64 = 1e-9;

/// Gaps between neighbouring views around the circle.
struct Gaps {
    order: Vec<usize>,
    /// Gap behind each view of `order`, to the next.
    gaps: Vec<f64>,
    largest: f64,
    largest_at: usize,
    /// Largest gap but one, rad.
    second: f64,
    median: f64,
    first: f64,
    /// Largest difference of angles that count as one angle, rad.
    one_angle: f64,
}

impl Gaps {
    fn new(geometry: &Geometry) -> Result<Self> {
        let views = &geometry.views;
        let count = views.len();
        let mut order = alloc::with_capacity("order of the views", count)?;
        order.extend(0..count);
        order.sort_by(|&a, &b| views[a].angle.total_cmp(&views[b].angle).then(a.cmp(&b)));
        let mut gaps = alloc::with_capacity("gaps between views", count)?;
        for k in 0..count {
            let here = views[order[k]].angle;
            gaps.push(if k + 1 < count {
                views[order[k + 1]].angle - here
            } else {
                TAU + views[order[0]].angle - here
            });
        }
        // Much less than the angular step of a full circle of `count` views.
        let one_angle = ONE_PLACE.min(TAU / count as f64 / 10.0);
        // Repeated views have no gap between them.
        let mut sorted = alloc::with_capacity("gaps between views", count)?;
        sorted.extend(gaps.iter().copied().filter(|gap| *gap > one_angle));
        sorted.sort_by(f64::total_cmp);
        let largest_at = (0..count).max_by(|&a, &b| gaps[a].total_cmp(&gaps[b])).unwrap_or(0);
        let first = views[order[(largest_at + 1) % count]].angle;
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(TAU);
        let second = gaps.iter().enumerate().filter(|(k, _)| *k != largest_at).map(|(_, g)| *g).fold(0.0, f64::max);
        Ok(Self { largest: gaps[largest_at], second, median, order, gaps, largest_at, first, one_angle })
    }

    /// Whether a gap is much wider than most, so that it was not measured.
    fn is_wide(&self, gap: f64) -> bool {
        // A gap of more than half a circle always counts as wide, whatever the other gaps are.
        gap > (20f64.to_radians()).max(3.0 * self.median).min(PI + ROUNDING)
    }

    /// Whether a part of the circle has no views.
    fn is_arc(&self) -> bool {
        self.is_wide(self.largest)
    }

    /// Whether all views have the same angle.
    fn is_one_angle(&self) -> bool {
        TAU - self.largest <= self.one_angle
    }

    /// Angular weights: half the gaps on both sides of each angle, divided among the views at that angle. Open arcs
    /// exclude the largest gap.
    fn weights(&self, open: bool) -> Result<Vec<f64>> {
        let count = self.order.len();
        let mut weights = alloc::filled("angular weights", count, 0.0)?;
        // On an open arc with a single angle there is no gap to weight the views by.
        if open && self.is_one_angle() {
            weights.fill(TAU / count as f64);
            return Ok(weights);
        }
        let share = |gap: usize| if open && gap == self.largest_at { 0.0 } else { self.gaps[gap] / 2.0 };
        // Start after the largest gap, so that the start of the circle does not separate the views of one angle.
        let place = |k: usize| (self.largest_at + 1 + k) % count;
        let mut begin = 0;
        while begin < count {
            let (mut end, mut extent) = (begin, 0.0);
            // Measure from the first view of the angle, so that a chain of short steps does not become one angle.
            while end + 1 < count && extent + self.gaps[place(end)] <= self.one_angle {
                extent += self.gaps[place(end)];
                end += 1;
            }
            let views = (end - begin + 1) as f64;
            let weight = (share(place(begin + count - 1)) + extent + share(place(end))) / views;
            (begin..=end).for_each(|k| weights[self.order[place(k)]] = weight);
            begin = end + 1;
        }
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Detector, Orbit};
    use super::*;

    const PANEL: Detector = Detector { columns: 40, rows: 4, column_pitch: 5.0, row_pitch: 5.0 };

    fn orbit(offset: f64) -> Orbit {
        Orbit {
            source_to_axis: 500.0,
            source_to_detector: 1000.0,
            column_offset: offset,
            row_offset: 0.0,
            allow_inside_panel: false,
        }
    }

    fn scan(angles: &[f64], offset: f64, asked: Redundancy) -> Result<(Geometry, Scan)> {
        let g = Geometry::circular(PANEL, &orbit(offset), angles)?;
        let s = Scan::new(&g, asked, false)?;
        Ok((g, s))
    }

    fn steps(count: usize, step: f64) -> Vec<f64> {
        (0..count).map(|n| n as f64 * step).collect()
    }

    #[test]
    fn angular_weights_of_a_circle_sum_to_it_in_any_order_and_with_duplicates() {
        let mut angles = steps(90, TAU / 90.0);
        angles.reverse();
        angles.swap(3, 70);
        angles.push(angles[5] + TAU);
        let (_, s) = scan(&angles, 0.0, Redundancy::Auto).unwrap();
        assert_eq!(s.redundancy, Redundancy::Full);
        assert!((s.angular.iter().sum::<f64>() - TAU).abs() < 1e-12);
        assert!((s.angular[0] - TAU / 90.0).abs() < 1e-12);
        assert!((s.angular[5] + s.angular[90] - TAU / 90.0).abs() < 1e-12);
    }

    #[test]
    fn views_at_one_angle_share_its_weight() {
        for turns in [2, 3, 8] {
            let step = TAU / 60.0;
            let angles: Vec<f64> = (0..60 * turns).map(|n| (n % 60) as f64 * step + (n / 60) as f64 * TAU).collect();
            let (_, s) = scan(&angles, 0.0, Redundancy::Auto).unwrap();
            assert!(s.angular.iter().all(|w| (w - step / turns as f64).abs() < 1e-9), "{turns}: {:?}", s.angular);
            // An arc of 220 degrees there and back: the views at its turning points count once.
            let arc: Vec<f64> = (0..111 * turns).map(|n| (n % 111) as f64 * 2f64.to_radians()).collect();
            let (_, s) = scan(&arc, 0.0, Redundancy::Short).unwrap();
            let wanted =
                |n: usize| 2f64.to_radians() / turns as f64 / if matches!(n % 111, 0 | 110) { 2.0 } else { 1.0 };
            assert!(
                s.angular.iter().enumerate().all(|(n, w)| (w - wanted(n)).abs() < 1e-9),
                "{turns}: {:?}",
                s.angular
            );
        }
        let (_, s) = scan(&[0.0, 0.0, 0.0, PI], 0.0, Redundancy::Full).unwrap();
        assert!(s.angular[..3].iter().all(|w| (w - PI / 3.0).abs() < 1e-12) && (s.angular[3] - PI).abs() < 1e-12);
    }

    #[test]
    fn views_at_nearly_one_angle_are_views_at_one() {
        // Frames of a place as an encoder reads them: the same scan and the same weights, whatever the last digits are.
        for (places, redundancy) in [(16, Redundancy::Full), (11, Redundancy::Short)] {
            for jitter in [0.0, 1e-9, 2e-9, 1e-7, 1e-6, 4e-5] {
                let step = TAU / 16.0;
                let mut angles = steps(places, step);
                (1..3).for_each(|k| angles.extend((0..places).map(|n| n as f64 * step + f64::from(k) * jitter)));
                let (_, s) = scan(&angles, 0.0, Redundancy::Auto).unwrap();
                assert_eq!((s.redundancy, s.warnings.len()), (redundancy, 0), "{jitter}: {}", s.reason);
                let whole = if redundancy == Redundancy::Full { TAU } else { (places - 1) as f64 * step };
                assert!((s.angular.iter().sum::<f64>() - whole).abs() < 4.0 * jitter + 1e-12, "{places}, {jitter}");
                let of = |n: usize| match (redundancy, n % places) {
                    (Redundancy::Short, n) if n == 0 || n + 1 == places => step / 6.0,
                    _ => step / 3.0,
                };
                assert!(
                    s.angular.iter().enumerate().all(|(n, w)| (w - of(n)).abs() < 2.0 * jitter + 1e-12),
                    "{places}, {jitter}: {:?}",
                    s.angular
                );
            }
        }
        let of = |angles: &[f64]| Scan::new(&scan(angles, 0.0, Redundancy::None).unwrap().0, Redundancy::Short, true);
        for apart in [0.0, 5e-10, 1e-9, 1e-7, 5e-5] {
            assert_eq!(of(&[1.0, 1.0 + apart]).unwrap().angular, [PI; 2], "{apart}");
            assert_eq!(of(&[apart, TAU, TAU]).unwrap().angular, [TAU / 3.0; 3], "{apart}");
        }
        let s = of(&[0.0, 1e-3]).unwrap();
        assert!(s.angular.iter().all(|w| (w - 5e-4).abs() < 1e-12), "{:?}", s.angular);
        // A fine arc is not one angle, however short its steps are.
        let s = of(&steps(200_000, 2e-5)).unwrap();
        assert!((s.angular.iter().sum::<f64>() - s.arc).abs() < 1e-9 && s.angular.iter().all(|w| *w < 3e-5));
    }

    #[test]
    fn a_second_gap_inside_an_arc_is_warned_of() {
        let angles: Vec<f64> = (0..100).chain(160..260).map(|d| f64::from(d).to_radians()).collect();
        let (_, s) = scan(&angles, 0.0, Redundancy::Auto).unwrap();
        assert_eq!(s.warnings, ["rays are missing: another gap of 61.0 degrees is inside the arc"]);
        assert!(s.reason.ends_with(&s.warnings[0]));
        let (_, s) = scan(&steps(110, 2f64.to_radians()), 0.0, Redundancy::Auto).unwrap();
        assert!(s.warnings.is_empty());
    }

    #[test]
    fn conjugate_rays_of_a_short_scan_weigh_one_together() {
        for delta in [0.12, 0.3] {
            for k in 1..200 {
                let along = k as f64 / 200.0 * (PI + 2.0 * delta);
                for gamma in [-0.1, -0.05, 0.0, 0.03, 0.1] {
                    let other = along + PI + 2.0 * gamma;
                    let back = along - (PI - 2.0 * gamma);
                    // The second measurement comes half a turn later or earlier, if within the arc.
                    let sum = parker(along, gamma, delta) + parker(other, -gamma, delta) + parker(back, -gamma, delta);
                    assert!((sum - 1.0).abs() < 1e-12, "delta {delta} along {along} gamma {gamma}: {sum}");
                }
            }
        }
        assert_eq!(parker(0.0, 0.2, 0.2), 1.0, "no ramp at the edge of the fan, and no NaN");
    }

    #[test]
    fn auto_distinguishes_the_scans() {
        let step = 2f64.to_radians();
        let (_, s) = scan(&steps(110, step), 0.0, Redundancy::Auto).unwrap();
        assert_eq!(s.redundancy, Redundancy::Short);
        assert!((s.arc - 109.0 * step).abs() < 1e-12 && s.first.abs() < 1e-12 && !s.misses_rays());
        let (_, s) = scan(&steps(93, step), 0.0, Redundancy::Auto).unwrap();
        assert!(s.misses_rays(), "184 degrees are too few for a fan of 11");
        assert!(s.reason.ends_with("; rays are missing: the arc is 184.0 degrees, 191.1 are needed"), "{}", s.reason);
        let (_, s) = scan(&steps(180, step), 60.0, Redundancy::Auto).unwrap();
        assert_eq!((s.redundancy, s.extra_left, s.extra_right), (Redundancy::HalfFan, 40, 0));
        let (_, s) = scan(&steps(180, step), -60.0, Redundancy::Auto).unwrap();
        assert_eq!((s.redundancy, s.extra_left, s.extra_right), (Redundancy::HalfFan, 0, 40));
        let (_, s) = scan(&steps(180, step), 10.0, Redundancy::Auto).unwrap();
        assert_eq!(s.redundancy, Redundancy::Full);
        // The same arc, descending and across zero.
        let wrapped: Vec<f64> = (0..110).map(|n| 0.5 - n as f64 * step).collect();
        let (_, s) = scan(&wrapped, 0.0, Redundancy::Auto).unwrap();
        assert!((s.first - (0.5 - 109.0 * step).rem_euclid(TAU)).abs() < 1e-12);
    }

    #[test]
    fn impossible_weights_are_refused_with_the_figure() {
        let text = |r: Result<(Geometry, Scan)>| r.unwrap_err().to_string();
        let step = 2f64.to_radians();
        assert!(text(scan(&steps(60, step), 0.0, Redundancy::Auto)).contains("angles: the arc is 118.00 degrees"));
        assert!(text(scan(&steps(110, step), 60.0, Redundancy::HalfFan)).contains("a full circle is needed"));
        assert!(text(scan(&steps(180, step), 200.0, Redundancy::HalfFan)).contains("view 0 does not see the axis"));
    }

    #[test]
    fn an_open_arc_without_weights_counts_one_sided_gaps_at_its_ends() {
        let (_, s) = scan(&steps(100, 0.02), 0.0, Redundancy::None).unwrap();
        assert!((s.angular.iter().sum::<f64>() - 99.0 * 0.02).abs() < 1e-12);
        assert!((s.angular[0] - 0.01).abs() < 1e-12);
        let (_, s) = scan(&[1.0], 0.0, Redundancy::None).unwrap();
        assert!((s.angular[0] - TAU).abs() < 1e-12);
    }
}
