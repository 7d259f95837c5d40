//! Sizes of the matrices for which the backend reserves memory.

use super::super::data::LongColumns;
use super::super::options::{ErrorKind, Method, Options};
use super::plan::Plan;
use super::request::Goal;

impl Plan {
    /// Sets the sizes for which the backend reserves memory.
    pub(super) fn set_sizes(&mut self, options: &Options, goal: Goal) {
        // Sizes beyond any memory are refused by the allocation. Here they must only not wrap around, so they saturate.
        let n = Size(self.columns);
        let (l, k) = (Size(self.width), Size(self.rank));
        let least = Size(self.rows.min(self.columns));
        let krylov = self.krylov_columns();
        let (merged, block) = (Size(self.merge_width), Size(options.block_columns));
        let is_probed = options.error.is_probed() || (self.estimates_norm && options.error != ErrorKind::None);
        let probes = Size(if is_probed { options.probes } else { 0 });
        let times = |factor: usize, size: Size| Size(factor) * size;
        let (tall, small) = match (goal, self.method) {
            (Goal::Products(width) | Goal::Map { width, .. }, _) => (times(3, Size(width)), n * times(3, Size(width))),
            (Goal::Decompose, _) if options.tolerance > 0.0 => {
                let basis = times(2, k + block);
                (basis, n * basis + times(4, k * k))
            }
            (_, Method::Krylov) => (krylov, n * times(2, krylov + l) + times(6, krylov * krylov)),
            (_, Method::OnePass) => (times(3, l) + Size(1), n * (times(4, l) + Size(1)) + times(16, l * l)),
            (_, Method::Direct) => (least, times(2, n * n) + times(6, least * least)),
            // G, a second sum, and the workspace of its eigenvectors.
            (_, Method::Gram) => (l, times(5, n * n) + n * times(4, l) + times(6, l * l)),
            (_, Method::Merge) => (l, n * times(6, merged) + times(8, merged * merged)),
            (_, Method::Nystrom | Method::Rayleigh) => (times(2, l), n * times(3, l) + times(6, l * l)),
            _ => (l, n * times(4, l) + times(8, l * l)),
        };
        self.setting.tall_columns = (tall + probes).0;
        self.setting.small_elements = (small + n * times(2, probes)).0;
        self.setting.alternate = self.method == Method::Fifo;
        self.setting.long = self.long_columns(options, goal, if is_probed { probes } else { Size(0) });
    }

    /// Columns of matrices beside tall ones. A run with `probes` may multiply them together with the vectors that it found.
    fn long_columns(&self, options: &Options, goal: Goal, probes: Size) -> LongColumns {
        let (l, k) = (Size(self.width), Size(self.rank));
        let none = Size(0);
        let (replaced, scratch, result) = match (goal, self.method) {
            (Goal::Products(width) | Goal::Map { width, .. }, _) => (none, none, Size(width)),
            (Goal::Decompose, _) if options.tolerance > 0.0 => (Size(2) * (k + Size(options.block_columns)), none, k),
            // Their results are narrower than matrices that are gone by then.
            (_, Method::Krylov) => (self.krylov_columns(), l, none),
            (_, Method::OnePass) => (l, Size(2) * l + Size(1), none),
            (_, Method::Direct) => (Size(self.rows.min(self.columns)), none, k),
            (_, Method::Fused | Method::RowFused | Method::Brsvd | Method::Nystrom | Method::Rayleigh) => (l, l, k),
            _ => (l, none, k),
        };
        let merges = goal == Goal::Decompose && self.method == Method::Merge;
        let merged = if merges { Size(2) * Size(self.merge_width) } else { none };
        let refined = if probes.0 > 0 { probes + k } else { none };
        LongColumns {
            replaced: replaced.0.max(probes.0),
            scratch: scratch.0,
            result: result.0,
            merged: merged.0,
            product: [replaced, scratch, result, l, refined].into_iter().fold(0, |most, columns| most.max(columns.0)),
        }
    }

    /// Columns of the basis that the method computes.
    pub fn basis_columns(&self) -> usize {
        match self.method {
            Method::Krylov => self.krylov_columns().0,
            Method::Direct => self.rows.min(self.columns),
            _ => self.width,
        }
    }

    /// Columns of the basis of [`Method::Krylov`].
    fn krylov_columns(&self) -> Size {
        let all = Size(self.width) * Size(self.iterations.saturating_add(1));
        Size(all.0.min(self.rows).min(self.columns))
    }
}

/// A number of elements with saturating arithmetic.
#[derive(Clone, Copy)]
struct Size(usize);

impl std::ops::Add for Size {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::ops::Mul for Size {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0.saturating_mul(other.0))
    }
}
