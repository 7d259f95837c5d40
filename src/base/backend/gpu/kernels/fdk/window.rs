//! Which back-projection kernel a scan takes, and how large the windows of its tiles are.

use std::ops::Range;

use super::super::{constants as c, size};
use super::Layout;

const TILE: usize = size(c::FDK_TILE);

/// Rows and columns by which a tile may stick out of the panel and still need its window: the bounds hold up to there.
const BEYOND: f64 = 128.0;

/// Shared memory for the windows of a block, bytes: every supported GPU has as much.
const MOST_SHARED: usize = 96 * 1024;

/// A back-projection kernel, by the views and windows that it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Along voxel columns: every panel stands upright.
    Column,
    /// Any matrices, with staged windows.
    General,
    /// Any matrices, voxels of any size.
    Plain,
}

/// Samples of a line of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Width {
    /// Voxels up to about the size of a pixel.
    Narrow = c::FDK_NARROW,
    /// Voxels larger than that.
    Wide = c::FDK_WIDE,
}

impl Width {
    pub(super) const fn samples(self) -> usize {
        size(self as i32)
    }
}

/// A plane of symmetry: slices k and `slices - k` see rows r and `rows - r`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mirror {
    /// Sum of the numbers of two slices that belong together.
    pub slices: usize,
    /// Sum of the rows they see.
    pub rows: i64,
}

/// How a scan is back-projected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The kernel that the views allow.
    pub kind: Kind,
    /// Samples of a line of its window.
    pub width: Width,
    /// Lines of its window, each of `width` samples.
    pub window_rows: usize,
    /// The views' plane of symmetry; only with [`Kind::Column`].
    pub mirror: Option<Mirror>,
}

/// The image of the grid under a view's matrix.
struct Reach {
    /// Least homogeneous coordinate w of a voxel.
    depth: f64,
    /// Least and largest column and row, cut at the panel's surroundings.
    range: [[f64; 2]; 2],
}

impl Reach {
    /// Of a grid of `size` voxels that goes on for `beyond` slices.
    fn new(m: &[[f64; 4]; 3], size: [usize; 3], beyond: usize, panel: [usize; 2]) -> Self {
        let (mut depth, mut range) = (f64::INFINITY, [[f64::INFINITY, f64::NEG_INFINITY]; 2]);
        let last = [size[0].saturating_sub(1), size[1].saturating_sub(1), (size[2] + beyond).saturating_sub(1)];
        for corner in 0..8usize {
            let voxel: [f64; 3] = std::array::from_fn(|k| if corner >> k & 1 == 1 { last[k] as f64 } else { 0.0 });
            let row = |r: &[f64; 4]| r[0] * voxel[0] + r[1] * voxel[1] + r[2] * voxel[2] + r[3];
            let w = row(&m[2]);
            depth = depth.min(w);
            for axis in 0..2 {
                let at = (row(&m[axis]) / w).clamp(-BEYOND, panel[axis] as f64 + BEYOND);
                range[axis] = [range[axis][0].min(at), range[axis][1].max(at)];
            }
        }
        Self { depth, range }
    }

    /// Most columns (axis 0) or rows (1) from one voxel to the next along x, y, z: the derivative of a ratio of affine
    /// functions is (numerator's - ratio * denominator's) / denominator.
    fn steps(&self, m: &[[f64; 4]; 3], axis: usize) -> [f64; 3] {
        std::array::from_fn(|k| {
            let [a, b] = self.range[axis].map(|at| (m[axis][k] - at * m[2][k]).abs());
            a.max(b) / self.depth
        })
    }
}

impl Shape {
    /// For a scan with the given matrices from voxel indices to pixels, a grid of `voxels`, and images of `columns` by
    /// `rows`. With `skip` a sample counts only if all its pixels exist, for which no plane of symmetry is used.
    pub fn new<'a>(
        views: impl Iterator<Item = &'a [[f64; 4]; 3]> + Clone,
        voxels: [usize; 3],
        (columns, rows): (usize, usize),
        skip: bool,
    ) -> Self {
        let panel = [columns, rows];
        let upright = views.clone().all(|m| is_upright(m, voxels[2], Reach::new(m, voxels, 0, panel).depth));
        let mirror = if upright && !skip { mirror(views.clone(), voxels) } else { None };
        let slices = size_of_tile(upright, mirror.is_some());
        // Along columns the last tile is worked on to its end; with a plane of symmetry that is not in the middle, tiles
        // reach farther still.
        let beyond = if upright { slices + voxels[2] / 4 } else { 0 };
        let across = |n: usize| (n.min(TILE) - 1) as f64;
        let lengths = [across(voxels[0]), across(voxels[1]), slices.saturating_sub(1) as f64];
        let mut extent = [0.0f64; 2];
        for m in views {
            let reach = Reach::new(m, voxels, beyond, panel);
            for (axis, extent) in extent.iter_mut().enumerate() {
                let steps = reach.steps(m, axis);
                let whole: f64 = steps.iter().zip(lengths).map(|(s, l)| s * l).sum();
                *extent = extent.max(whole);
            }
        }
        // Both ends rounded outwards, the second pixel of the last sample, and for columns a start at a multiple of four.
        let wanted = extent.map(|e| e.min(1e6).ceil());
        let (width, window_rows) = (wanted[0] as usize + 3 + 3, wanted[1] as usize + 4);
        let fitting = [Width::Narrow, Width::Wide].into_iter().find(|w| w.samples() >= width);
        let kind = if upright { Kind::Column } else { Kind::General };
        match fitting.map(|width| Self { kind, width, window_rows, mirror }) {
            Some(shape) if shape.shared() <= MOST_SHARED => shape,
            _ => Self { kind: Kind::Plain, width: Width::Narrow, window_rows: 2, mirror: None },
        }
    }

    /// Slices of a tile: slabs that begin and end at multiples of this waste no work.
    pub fn slice_group(&self) -> usize {
        match self.kind {
            Kind::Plain => 1,
            kind => size_of_tile(kind == Kind::Column, self.mirror.is_some()),
        }
    }

    /// The slices, of the volume's `slices`, whose rows must be stored for a slab of `count` from `first` on. A
    /// column's walk begins where its tile does, and its rounding on the way to the slab stays in it: with these rows
    /// the bits are the same whatever the slab.
    pub fn walked(&self, first: usize, count: usize, slices: usize) -> Range<usize> {
        let (mut start, mut end) = (first, (first + count).min(slices));
        if self.kind != Kind::Column || start >= end {
            return start..end;
        }
        let depth = self.slice_group();
        let Some(mirror) = self.mirror else {
            return start / depth * depth..end;
        };
        // Tiles go from the plane upwards, and their images downwards.
        let plane = mirror.slices.div_ceil(2);
        if start >= plane {
            start -= (start - plane) % depth;
        } else if end <= plane {
            end += (mirror.slices + 1 - end).saturating_sub(plane) % depth;
        }
        start..end.min(slices)
    }

    /// Bytes of shared memory of a block.
    pub(super) fn shared(&self) -> usize {
        let halves = if self.mirror.is_some() { 2 } else { 1 };
        let windows = match (self.kind, self.width) {
            (Kind::Plain, _) => 0,
            (Kind::General, _) => size(c::FDK_STAGES),
            (Kind::Column, Width::Narrow) => 2 * size(c::FDK_TOGETHER_NARROW),
            (Kind::Column, Width::Wide) => 2 * size(c::FDK_TOGETHER_WIDE),
        };
        windows * self.window_rows * self.width.samples() * 4 * halves
    }

    /// Zeros that the kernel needs around an image: columns and rows. An even number of rows, as lines are filtered in
    /// pairs, and the partner of a panel row must not depend on the other stored rows.
    pub(super) fn border(&self) -> (usize, usize) {
        match self.kind {
            Kind::Plain => (4, 2),
            _ => (self.width.samples(), (self.window_rows + 2).next_multiple_of(2)),
        }
    }

    /// The layout of images of `columns` columns, if rows `first_row` to `first_row + rows - 1` are stored.
    pub fn layout(&self, columns: usize, first_row: usize, rows: usize) -> Layout {
        let (left, top) = self.border();
        let pitch = (left + columns + left).next_multiple_of(32);
        Layout { columns, first_row, rows, left, top, pitch, height: rows + 2 * top }
    }
}

/// Slices along z of a tile.
fn size_of_tile(upright: bool, mirrored: bool) -> usize {
    match (upright, mirrored) {
        (true, true) => size(c::FDK_MIRROR_SLICES),
        (true, false) => size(c::FDK_COLUMN_SLICES),
        (false, _) => size(c::FDK_GENERAL_SLICES),
    }
}

/// Whether column and depth do not change along z by anything that counts.
fn is_upright(m: &[[f64; 4]; 3], slices: usize, depth: f64) -> bool {
    m[2][2].abs() * slices as f64 <= 1e-12 * depth && m[0][2].abs() * slices as f64 <= 1e-9 * depth
}

/// The plane of symmetry that all views share, if it goes through the middle of the volume, or nearly.
fn mirror<'a>(mut views: impl Iterator<Item = &'a [[f64; 4]; 3]> + Clone, size: [usize; 3]) -> Option<Mirror> {
    // v(k) + v(K - k) = C for all (x, y) where 2 (m10 x + m11 y + m13) + K m12 = C (m20 x + m21 y + m23).
    let m = views.clone().next()?;
    let rows = (2.0 * (m[1][0] * m[2][0] + m[1][1] * m[2][1]) / (m[2][0].powi(2) + m[2][1].powi(2))).round();
    let slices = ((rows * m[2][3] - 2.0 * m[1][3]) / m[1][2]).round();
    let n = size[2] as f64;
    if !(rows.abs() < 1e6 && (slices - (n - 1.0)).abs() <= n / 4.0) || size[2] < 4 || slices < 0.0 {
        return None;
    }
    let [nx, ny, _] = size.map(|n| n as f64);
    let holds = |m: &[[f64; 4]; 3]| {
        let x = (2.0 * m[1][0] - rows * m[2][0]).abs() * nx;
        let y = (2.0 * m[1][1] - rows * m[2][1]).abs() * ny;
        let rest = (2.0 * m[1][3] + slices * m[1][2] - rows * m[2][3]).abs();
        x + y + rest <= 1e-8 * Reach::new(m, size, 0, [1, 1]).depth
    };
    views.all(holds).then_some(Mirror { slices: slices as usize, rows: rows as i64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A circular orbit about the middle of a grid: pixels per voxel at the axis is `scale`.
    fn orbit(size: [usize; 3], panel: [f64; 2], scale: f64, tilt: f64) -> Vec<[[f64; 4]; 3]> {
        let [nx, ny, nz] = size.map(|n| (n as f64 - 1.0) / 2.0);
        let sid = 4.0 * size[0] as f64;
        (0..24)
            .map(|n| {
                let (sin, cos) = (0.2 + f64::from(n) * 0.2618).sin_cos();
                let depth = [-cos, -sin, tilt, sid + cos * nx + sin * ny - tilt * nz];
                let focal = scale * sid;
                let u = [-sin * focal, cos * focal, 0.0, (sin * nx - cos * ny) * focal];
                let v = [0.0, 0.0, focal, -focal * nz];
                let row = |a: [f64; 4], c: f64| std::array::from_fn(|k| a[k] + c * depth[k]);
                [row(u, panel[0]), row(v, panel[1]), depth]
            })
            .collect()
    }

    /// The largest window that any tile of the grid really needs.
    fn largest(views: &[[[f64; 4]; 3]], size: [usize; 3], slices: usize) -> [f64; 2] {
        let mut most = [0.0f64; 2];
        for m in views {
            for tile in 0..size[0].div_ceil(TILE) * size[1].div_ceil(TILE) * size[2].div_ceil(slices) {
                let across = size[0].div_ceil(TILE);
                let down = size[1].div_ceil(TILE);
                let start = [tile % across * TILE, tile / across % down * TILE, tile / across / down * slices];
                let edge = [TILE, TILE, slices];
                let mut range = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
                for corner in 0..8usize {
                    let x: [f64; 3] = std::array::from_fn(|k| {
                        let end = start[k] + edge[k];
                        let last = if k == 2 && m[2][2] == 0.0 { end } else { end.min(size[k]) } - 1;
                        (if corner >> k & 1 == 1 { last } else { start[k] }) as f64
                    });
                    let row = |r: &[f64; 4]| r[0] * x[0] + r[1] * x[1] + r[2] * x[2] + r[3];
                    for axis in 0..2 {
                        let at = row(&m[axis]) / row(&m[2]);
                        range[axis] = [range[axis][0].min(at), range[axis][1].max(at)];
                    }
                }
                for axis in 0..2 {
                    most[axis] = most[axis].max(range[axis][1] - range[axis][0]);
                }
            }
        }
        most
    }

    #[test]
    fn windows_hold_what_every_tile_needs() {
        for (size, scale, tilt) in
            [([96, 80, 64], 0.8, 0.0), ([70, 70, 41], 1.0, 0.0), ([64, 64, 64], 1.6, 0.0), ([64, 64, 33], 0.9, 0.05)]
        {
            let panel = [96, 90];
            let views = orbit(size, [47.5, 44.5], scale, tilt);
            let shape = Shape::new(views.iter(), size, (panel[0], panel[1]), false);
            assert_eq!(shape.kind, if tilt == 0.0 { Kind::Column } else { Kind::General }, "{size:?} {scale}");
            let need = largest(&views, size, shape.slice_group());
            assert!(need[0] + 6.0 <= shape.width.samples() as f64, "{need:?} {shape:?}");
            assert!(need[1] + 3.0 <= shape.window_rows as f64, "{need:?} {shape:?}");
            assert_eq!(shape.width, if scale > 1.0 { Width::Wide } else { Width::Narrow });
        }
        let views = orbit([64, 64, 64], [500.0, 500.0], 30.0, 0.0);
        assert_eq!(Shape::new(views.iter(), [64; 3], (1001, 1001), false).kind, Kind::Plain);
    }

    #[test]
    fn the_plane_of_symmetry_is_found_where_there_is_one() {
        let size = [64, 64, 50];
        let views = orbit(size, [47.5, 44.5], 0.8, 0.0);
        let of = |views: &[[[f64; 4]; 3]], skip| Shape::new(views.iter(), size, (96, 90), skip).mirror;
        assert_eq!(of(&views, false), Some(Mirror { slices: 49, rows: 89 }));
        assert_eq!(of(&views, true), None);
        let mut shifted = views.clone();
        // One panel is a tenth of a pixel off.
        let depth = shifted[5][2];
        shifted[5][1].iter_mut().zip(depth).for_each(|(v, w)| *v += 0.1 * w);
        assert_eq!(of(&shifted, false), None);
        let mut moved = views;
        for m in &mut moved {
            m[1][3] += 3.0 * m[1][2];
        }
        assert_eq!(of(&moved, false), Some(Mirror { slices: 43, rows: 89 }));
    }

    #[test]
    fn a_slab_s_rows_begin_where_its_tiles_do() {
        let mut shape = Shape { kind: Kind::Column, width: Width::Narrow, window_rows: 20, mirror: None };
        let depth = shape.slice_group();
        assert_eq!(shape.walked(depth + 3, 5, 100), depth..depth + 8);
        assert_eq!(shape.walked(2 * depth, 5, 100), 2 * depth..2 * depth + 5);
        for sum in [98, 99] {
            shape.mirror = Some(Mirror { slices: sum, rows: 0 });
            let (depth, plane) = (shape.slice_group(), sum.div_ceil(2));
            assert_eq!(shape.walked(plane + depth + 1, 3, 100), plane + depth..plane + depth + 4);
            // The images of the second tile's slices: the first of them is the nearest to the plane.
            let last = sum - plane - depth;
            assert_eq!(shape.walked(last - 6, 4, 100), last - 6..last + 1);
            assert_eq!(shape.walked(last - 3, 4, 100), last - 3..last + 1);
            assert_eq!(shape.walked(plane - 5, 10, 100), plane - 5..plane + 5);
        }
        shape.kind = Kind::General;
        assert_eq!(shape.walked(3, 5, 100), 3..8);
    }

    #[test]
    fn images_have_a_border_for_windows_on_all_sides() {
        let views = orbit([64, 64, 50], [47.5, 44.5], 0.8, 0.0);
        let shape = Shape::new(views.iter(), [64, 64, 50], (96, 90), false);
        let l = shape.layout(96, 10, 30);
        assert!(l.left >= shape.width.samples() && l.pitch >= l.left + 96 + shape.width.samples());
        assert!(l.top > shape.window_rows && l.height >= l.top + 30 + shape.window_rows);
        assert!(l.pitch.is_multiple_of(4) && l.left.is_multiple_of(4));
    }
}
