//! Random matrices whose entries are a function of their indices.
//!
//! Entry (i, j) follows from (seed, stream, i, j) alone. A matrix is therefore the same for any cut into blocks, number of
//! threads or device. With c = j for a real type, and columns c = 2j and 2j + 1 for the real and the imaginary part of
//! a complex one:
//!
//! | distribution | part c of row i |
//! |---|---|
//! | Gaussian | [`rng::normal`] of (i, c): cell c / 2 |
//! | uniform | [`rng::uniform`] of (i, c): cell c / 2 |
//! | Rademacher | bit c mod 32 of word 0 of cell c / 32: set -1, clear 1 |
//! | sparse sign | see below |
//!
//! Sparse sign: in each row one of the columns 8g to 8g + 7 holds a number, and the others are 0. The index of this
//! column is 8g plus the three lowest bits of word 0 of cell g. Bits 0 and 1 of word 1 are the signs of the real and
//! the imaginary part: set -1, clear 1. This is the block form of Nelson and Nguyen's OSNAP (FOCS 2013): l / 8 entries
//! a row, for any cut of the matrix. Rows of fewer columns than a group would often be empty, and the columns that they
//! multiply would not be sampled at all: [`Sketch::of_columns`] takes Rademacher's signs for them.

use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Simd, dispatch};
use crate::choice::numbered;
use crate::instances::compiled_here;
use crate::rng;
use crate::scalar::Scalar;
use crate::shape::to_u64;

numbered!(Distribution, Gaussian, Uniform, Rademacher, SparseSign);

/// Group of columns of a sparse sign matrix in which one entry of each row is not 0.
const GROUP: u32 = 8;

/// Distribution of the entries: mean 0, of different variances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// Standard normal; for complex types each part.
    Gaussian,
    /// Uniform in [-1, 1); for complex types each part.
    Uniform,
    /// -1 or 1; for complex types each part.
    Rademacher,
    /// One in eight entries of a row -1 or 1 (for complex types each part), the others 0. See [`Sketch::of_columns`] for
    /// fewer than eight columns.
    SparseSign,
}

/// A random matrix: entry (i, j) follows from the seed, the stream, i and j alone (see [`crate::rng`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sketch {
    /// Distribution of each entry.
    pub distribution: Distribution,
    /// The caller's seed, the generator's key.
    pub seed: u64,
    /// Purpose of the numbers, one of [`crate::rng::stream`].
    pub stream: u32,
}

#[inline]
fn sign(word: u32, bit: u32) -> f64 {
    if word >> bit & 1 == 1 { -1.0 } else { 1.0 }
}

impl Sketch {
    /// This sketch for a matrix, or a block, that begins at column `first` and has `count` columns: if sparse rows could be
    /// without an entry in them, signs in every place.
    #[must_use]
    pub fn of_columns(self, first: usize, count: usize) -> Self {
        let group = GROUP as usize;
        let before = (group - first % group) % group;
        let is_narrow = before + group > count;
        match self.distribution {
            Distribution::SparseSign if is_narrow => Self { distribution: Distribution::Rademacher, ..self },
            _ => self,
        }
    }

    /// A sketch of standard normal numbers.
    pub fn gaussian(seed: u64, stream: u32) -> Self {
        Self { distribution: Distribution::Gaussian, seed, stream }
    }

    /// This sketch, with Gaussian numbers if it [may be singular](Self::may_be_singular).
    #[must_use]
    pub fn never_singular(self) -> Self {
        if self.may_be_singular() { Self::gaussian(self.seed, self.stream) } else { self }
    }

    /// Whether columns may depend on each other, or multiply a matrix that is not 0 to 0, with a probability that is not 0.
    #[inline]
    pub fn may_be_singular(&self) -> bool {
        matches!(self.distribution, Distribution::Rademacher | Distribution::SparseSign)
    }

    /// Entry (row, column), rounded to T.
    pub fn entry<T: Scalar>(&self, row: u64, column: u32) -> T {
        if T::IS_COMPLEX {
            let (re, im) = self.pair(row, column);
            return T::from_parts(re, im);
        }
        let value = match self.distribution {
            Distribution::Gaussian => rng::normal(self.seed, self.stream, row, column),
            Distribution::Uniform => rng::uniform(self.seed, self.stream, row, column),
            Distribution::Rademacher => sign(rng::words(self.seed, self.stream, row, column / 32)[0], column % 32),
            Distribution::SparseSign => self.sparse(row, column).0,
        };
        T::from_parts(value, 0.0)
    }

    /// Columns `2 cell` and `2 cell + 1` of a real matrix, which cost little more than one; or the two parts of entry
    /// (row, cell) of a complex one.
    fn pair(&self, row: u64, cell: u32) -> (f64, f64) {
        match self.distribution {
            Distribution::Gaussian => rng::normals(self.seed, self.stream, row, cell),
            Distribution::Uniform => rng::symmetric_uniforms(self.seed, self.stream, row, cell),
            Distribution::Rademacher => {
                let word = rng::words(self.seed, self.stream, row, cell / 16)[0];
                let bit = cell % 16 * 2;
                (sign(word, bit), sign(word, bit + 1))
            }
            Distribution::SparseSign => self.sparse(row, cell),
        }
    }

    /// Normal or uniform numbers of the cells at `places`: the even columns and the odd ones.
    #[inline(always)]
    fn cells(&self, places: &[(u64, u32); rng::CELLS]) -> ([f64; rng::CELLS], [f64; rng::CELLS]) {
        match self.distribution {
            Distribution::Uniform => rng::uniform_cells(self.seed, self.stream, places),
            _ => rng::normal_cells(self.seed, self.stream, places),
        }
    }

    #[inline]
    fn sparse(&self, row: u64, column: u32) -> (f64, f64) {
        let word = rng::words(self.seed, self.stream, row, column / GROUP);
        if word[0] % GROUP == column % GROUP { (sign(word[1], 0), sign(word[1], 1)) } else { (0.0, 0.0) }
    }

    compiled_here! {
        /// Rows from `first_row` on of one column.
        pub fn fill_column<T: Scalar>(
            &self: Sketch,
            first_row: u64,
            column: u32,
            out: &mut [T],
        ) = Sketch::fill_column_of;
    }

    fn fill_column_of<T: Scalar>(&self, first_row: u64, column: u32, out: &mut [T]) {
        let (cell, odd) = if T::IS_COMPLEX { (column, false) } else { (column / 2, column % 2 == 1) };
        match self.distribution {
            Distribution::Gaussian | Distribution::Uniform if odd => self.fill_cells(first_row, cell, &mut [], out),
            Distribution::Gaussian | Distribution::Uniform => self.fill_cells(first_row, cell, out, &mut []),
            Distribution::Rademacher | Distribution::SparseSign => {
                for (row, value) in (first_row..).zip(out) {
                    *value = self.entry(row, column);
                }
            }
        }
    }

    compiled_here! {
        /// Rows from `first_row` on of columns `column`, which is even, and `column + 1`.
        pub fn fill_pair<T: Scalar>(
            &self: Sketch,
            first_row: u64,
            column: u32,
            even: &mut [T],
            odd: &mut [T],
        ) = Sketch::fill_pair_of;
    }

    fn fill_pair_of<T: Scalar>(&self, first_row: u64, column: u32, even: &mut [T], odd: &mut [T]) {
        match self.distribution {
            Distribution::Gaussian | Distribution::Uniform if !T::IS_COMPLEX => {
                self.fill_cells(first_row, column / 2, even, odd);
            }
            Distribution::Rademacher if !T::IS_COMPLEX => {
                for ((row, even), odd) in (first_row..).zip(even).zip(odd) {
                    let (a, b) = self.pair(row, column / 2);
                    (*even, *odd) = (T::from_parts(a, 0.0), T::from_parts(b, 0.0));
                }
            }
            _ => {
                self.fill_column(first_row, column, even);
                self.fill_column(first_row, column + 1, odd);
            }
        }
    }

    /// Columns from `first_column` on of one row of a real matrix of normal or uniform numbers. Columns are counted modulo
    /// 2^32.
    pub fn fill_row(&self, row: u64, first_column: u64, out: &mut [f64]) {
        dispatch(Isa::detect(), Row { sketch: self, row, first_column, out });
    }

    /// Rows from `first_row` on of a cell of normal or uniform numbers: the even and the odd column of a real matrix, of
    /// which either may be empty, or the one column of a complex matrix.
    fn fill_cells<T: Scalar>(&self, first_row: u64, cell: u32, even: &mut [T], odd: &mut [T]) {
        dispatch(Isa::detect(), Cells { sketch: self, first_row, cell, even, odd });
    }
}

/// See [`Sketch::fill_cells`].
struct Cells<'a, T> {
    sketch: &'a Sketch,
    first_row: u64,
    cell: u32,
    even: &'a mut [T],
    odd: &'a mut [T],
}

impl<T: Scalar> Kernel<f64> for Cells<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) {
        let rows = self.even.len().max(self.odd.len());
        let mut places = [(0, self.cell); rng::CELLS];
        for done in (0..rows).step_by(rng::CELLS) {
            // The last cells may lie beyond the last row.
            for ((row, _), k) in places.iter_mut().zip(done..) {
                *row = self.first_row.wrapping_add(to_u64(k));
            }
            let (a, b) = self.sketch.cells(&places);
            if let Some(even) = self.even.get_mut(done..) {
                for (to, (a, b)) in even.iter_mut().zip(a.into_iter().zip(b)) {
                    *to = T::from_parts(a, if T::IS_COMPLEX { b } else { 0.0 });
                }
            }
            if let Some(odd) = self.odd.get_mut(done..) {
                for (to, b) in odd.iter_mut().zip(b) {
                    *to = T::from_parts(b, 0.0);
                }
            }
        }
    }
}

/// See [`Sketch::fill_row`].
struct Row<'a> {
    sketch: &'a Sketch,
    row: u64,
    first_column: u64,
    out: &'a mut [f64],
}

impl Kernel<f64> for Row<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<f64>>(self, _: S) {
        // Numbers of the first cell that lie before the first column.
        let mut before = usize::from(self.first_column % 2 == 1);
        let (mut rest, mut cell) = (self.out, self.first_column / 2);
        let mut places = [(self.row, 0); rng::CELLS];
        while !rest.is_empty() {
            for ((_, place), k) in places.iter_mut().zip(cell..) {
                *place = (k & 0x7fff_ffff) as u32;
            }
            let (a, b) = self.sketch.cells(&places);
            let (values, more) = rest.split_at_mut(rest.len().min(2 * rng::CELLS - before));
            for (to, k) in values.iter_mut().zip(before..) {
                *to = if k % 2 == 0 { a[k / 2] } else { b[k / 2] };
            }
            (rest, before, cell) = (more, 0, cell + to_u64(rng::CELLS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Complex;

    const ALL: [Distribution; 4] =
        [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher, Distribution::SparseSign];

    fn sketch(distribution: Distribution) -> Sketch {
        Sketch { distribution, seed: 42, stream: 0 }
    }

    #[test]
    fn real_normals_are_the_generators_own() {
        let s = sketch(Distribution::Gaussian);
        // The known answers of the generator, which its own tests hold to sixty digits.
        assert!((s.entry::<f64>(7, 5) - 1.460_481_392_068_240_5).abs() < 1e-15);
        assert!((s.entry::<f64>(8_589_934_597, 10) + 0.481_277_988_282_367_6).abs() < 1e-15);
        assert_eq!(s.entry::<f32>(7, 5), s.entry::<f64>(7, 5) as f32);
        let z: Complex<f64> = s.entry(3, 4);
        assert_eq!((z.re, z.im), (rng::normal(42, 0, 3, 8), rng::normal(42, 0, 3, 9)));
    }

    #[test]
    fn columns_and_pairs_are_made_of_entries() {
        for d in ALL {
            let s = sketch(d);
            let (mut even, mut odd, mut alone) = ([9.0f64; 21], [9.0; 21], [9.0; 21]);
            for column in [0, 6, 30, 62] {
                s.fill_pair(5, column, &mut even, &mut odd);
                s.fill_column(5, column + 1, &mut alone);
                assert_eq!(odd, alone);
                for (row, value) in (5..).zip(even) {
                    assert_eq!(value, s.entry::<f64>(row, column), "{d:?}");
                }
            }
            let (mut even, mut odd) = ([Complex::new(9.0f32, 9.0); 5], [Complex::new(9.0f32, 9.0); 5]);
            s.fill_pair(2, 4, &mut even, &mut odd);
            assert_eq!(odd[3], s.entry(5, 5));
            assert_eq!(even[0], s.entry(2, 4));
        }
    }

    #[test]
    fn rows_are_made_of_entries() {
        for d in [Distribution::Gaussian, Distribution::Uniform] {
            let s = sketch(d);
            for (first, count) in [(0, 0), (0, 1), (1, 1), (3, 40), (4, 16), (9, 15), (4_294_967_290, 20)] {
                let mut row = vec![9.0; count];
                s.fill_row(77, first, &mut row);
                for (column, value) in (first..).zip(row) {
                    assert_eq!(value, s.entry::<f64>(77, (column & 0xffff_ffff) as u32), "{d:?} {column}");
                }
            }
        }
    }

    #[test]
    fn signs_are_signs_and_sparse_rows_hold_one_in_eight() {
        let (dense, sparse) = (sketch(Distribution::Rademacher), sketch(Distribution::SparseSign));
        let mut sums = [0.0f64; 2];
        for row in 0..4000 {
            let mut full = 0;
            for column in 0..24 {
                let x: f64 = dense.entry(row, column);
                assert!(x == 1.0 || x == -1.0);
                sums[0] += x;
                let z: Complex<f64> = sparse.entry(row, column);
                assert_eq!(z.re, sparse.entry::<f64>(row, column));
                assert_eq!(z.re == 0.0, z.im == 0.0);
                full += usize::from(z.re != 0.0);
                sums[1] += z.re;
            }
            assert_eq!(full, 3);
        }
        // Five standard deviations of sums of 96 000 and of 12 000 signs.
        assert!(sums[0].abs() < 5.0 * 96_000f64.sqrt() && sums[1].abs() < 5.0 * 12_000f64.sqrt(), "{sums:?}");
    }

    #[test]
    fn no_row_of_a_narrow_sparse_sketch_is_empty() {
        for (first, count, kind) in [
            (0, 1, Distribution::Rademacher),
            (0, 7, Distribution::Rademacher),
            (0, 8, Distribution::SparseSign),
            (0, 12, Distribution::SparseSign),
            (8, 7, Distribution::Rademacher),
            (3, 12, Distribution::Rademacher),
            (3, 13, Distribution::SparseSign),
            (16, 8, Distribution::SparseSign),
            (usize::MAX - 3, 2, Distribution::Rademacher),
        ] {
            let s = sketch(Distribution::SparseSign).of_columns(first, count);
            assert_eq!(s.distribution, kind, "{first} {count}");
            let columns = (first..first + count).filter_map(|j| u32::try_from(j).ok());
            let is_seen = |i: u64| columns.clone().any(|j| s.entry::<f64>(i, j) != 0.0);
            assert!(first > 100 || (0..1000).all(is_seen), "{first} {count}");
        }
        for d in [Distribution::Gaussian, Distribution::Uniform, Distribution::Rademacher] {
            assert_eq!(sketch(d).of_columns(0, 3), sketch(d));
            assert_eq!(sketch(d).may_be_singular(), d == Distribution::Rademacher);
        }
    }

    #[test]
    fn every_column_of_a_group_is_hit() {
        let s = sketch(Distribution::SparseSign);
        let counts: Vec<usize> = (0..8).map(|j| (0..8000).filter(|&i| s.entry::<f64>(i, j) != 0.0).count()).collect();
        // Expected 1000 with a standard deviation of 29.6.
        assert!(counts.iter().all(|&c| (850..1150).contains(&c)), "{counts:?}");
    }
}
