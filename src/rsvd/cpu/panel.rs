//! Rows of the data in the form that products use.

use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::backend::memory::HostMemory;
use crate::blocks::number::{Number, decode};
use crate::context::Context;
use crate::dense::Mat;
use crate::error::{Error, Result};
use crate::matrix::not_finite;
use crate::rsvd::statistics::{
    DOWN, Moments, average, difference, is_constant, largest_part, modulus, moved, steps_of, unless_lost,
};
use crate::scalar::{Complex, Scalar, is_finite};

/// The transform of an entry a of column j: (a - mean_j) / scale_j, or (a - mean_j) factor, or (a - mean of its row) factor.
pub struct Transform {
    /// The setting's factor. Entries and means are multiplied by it before they are subtracted if it is below 1, so that the
    /// difference does not overflow.
    pub factor: f64,
    /// Powers of two that take the place of `factor` in each column: near `factor` / `scale_j`; empty if there are none.
    pub units: Vec<f64>,
    /// Means of the columns, empty if none are subtracted.
    pub means: Vec<Complex<f64>>,
    /// `scale_j`, empty if columns are not scaled.
    pub scales: Vec<f64>,
    /// Factors of the differences besides their unit; empty if they are 1.
    pub gains: Vec<f64>,
    /// Whether the mean of each row is subtracted.
    pub rows: bool,
    /// Means of the rows, for sparse matrices and operators. Means of dense rows are computed from each panel.
    pub row_means: Vec<Complex<f64>>,
    /// Whether each row of a centred sparse matrix is multiplied by 0 because it is constant; empty if none is.
    pub zero_rows: Vec<bool>,
    /// The first column whose deviation was lost.
    pub lost: Option<usize>,
}

impl Default for Transform {
    fn default() -> Self {
        let (units, means, scales, gains, row_means) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let zero_rows = Vec::new();
        Self { factor: 1.0, units, means, scales, gains, rows: false, row_means, zero_rows, lost: None }
    }
}

impl Transform {
    /// Whether the transform is the identity.
    pub fn is_nothing(&self) -> bool {
        !self.is_centred() && !self.multiplies()
    }

    /// Whether means of columns or of rows are subtracted.
    pub fn is_centred(&self) -> bool {
        !self.means.is_empty() || self.rows
    }

    /// Whether row i is multiplied by 0.
    pub fn is_zero_row(&self, i: usize) -> bool {
        self.zero_rows.get(i).copied().unwrap_or(false)
    }

    /// Whether entries are multiplied.
    pub fn multiplies(&self) -> bool {
        !self.gains.is_empty() || self.factor != 1.0
    }

    /// The number that is subtracted from column j.
    pub fn mean(&self, j: usize) -> Complex<f64> {
        self.means.get(j).copied().unwrap_or_default()
    }

    /// Divides the differences by known `divisors`, and multiplies the quotients by `factor`. Neither a difference nor the
    /// inverse of a divisor overflows or underflows where the quotient does not. An infinite divisor gives 0.
    pub fn divide(&mut self, divisors: &[f64], factor: f64) -> Result<()> {
        self.units = alloc::with_capacity("units of columns", divisors.len())?;
        self.gains = alloc::with_capacity("factors of columns", divisors.len())?;
        for divisor in divisors {
            // At most 1 / divisor times the factor, so that an entry does not overflow where its quotient does not.
            let unit = (factor.log2() - divisor.log2().ceil()).clamp(-1000.0, 1000.0).exp2();
            self.units.push(unit);
            self.gains.push(factor / (divisor * unit));
        }
        Ok(())
    }

    /// The factor of the entries and the mean of column j besides the gain: 0 where the gain is 0, because they might
    /// overflow.
    pub fn unit(&self, j: usize) -> f64 {
        if self.gain(j) == 0.0 { 0.0 } else { self.units.get(j).copied().unwrap_or(self.factor) }
    }

    /// The factor of the differences in column j besides their unit.
    pub fn gain(&self, j: usize) -> f64 {
        self.gains.get(j).copied().unwrap_or(1.0)
    }
}

/// Some rows of the data in host memory.
#[derive(Clone, Copy)]
pub struct Part<'b> {
    /// The memory that the rows lie in.
    pub memory: &'b HostMemory,
    /// Type of the elements in `memory`.
    pub number: Number,
    /// Elements from one row to the next.
    pub row_stride: usize,
    /// Elements from one column to the next; one of the two is 1.
    pub column_stride: usize,
    /// Columns of the data.
    pub columns: usize,
    /// Elements before the first row.
    pub skip: usize,
}

/// The findings of the first pass over entries.
#[derive(Clone, Copy, Default)]
pub struct Findings {
    /// Sum of the squares of the moduli, after the transform.
    pub squares: f64,
    /// Largest modulus of an entry as it was read, NaN if one is.
    pub most: f64,
    /// Largest modulus, or largest part, of a centred entry times the factor; not set for other data.
    pub size: f64,
}

impl Findings {
    /// Whether all entries are finite.
    pub fn are_finite(&self) -> bool {
        self.most.is_finite()
    }
}

/// Sum of the squares, and the largest modulus: infinite or NaN if a part is.
fn look<T: Scalar>(values: &[T]) -> Findings {
    let (mut sums, mut largest) = ([0.0f64; 8], [0.0f64; 8]);
    let mut each = |k: usize, x: T| {
        let (re, im) = (x.re(), x.im());
        let square = re * re + im * im;
        sums[k] += square;
        // For complex numbers the square; one root at the end suffices.
        let size = if T::IS_COMPLEX { square } else { re.abs() };
        largest[k] = if size > largest[k] { size } else { largest[k] };
    };
    let mut blocks = values.chunks_exact(8);
    for block in &mut blocks {
        for (k, x) in block.iter().enumerate() {
            each(k, *x);
        }
    }
    for (k, x) in blocks.remainder().iter().enumerate() {
        each(k, *x);
    }
    let squares: f64 = sums.iter().sum();
    let mut most = largest.iter().fold(0.0, |a: f64, b| a.max(*b));
    if T::IS_COMPLEX {
        most = if (1e-280..=1e280).contains(&most) { most.sqrt() } else { largest_modulus(values) };
    }
    // A NaN in the squares comes from an entry that is NaN. The comparisons above have skipped it.
    if squares.is_nan() {
        most = f64::NAN;
    }
    Findings { squares, most, size: most }
}

/// The largest modulus of numbers whose squares are beyond the range of a double.
fn largest_modulus<T: Scalar>(values: &[T]) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(modulus(Complex::new(x.re(), x.im()))))
}

fn merge(all: &[Findings]) -> Findings {
    all.iter().fold(Findings::default(), |sum, f| Findings {
        squares: sum.squares + f.squares,
        most: if sum.most.is_nan() || f.most.is_nan() { f64::NAN } else { sum.most.max(f.most) },
        size: sum.size.max(f.size),
    })
}

impl<'b> Part<'b> {
    /// Whether products can use the entries in place.
    pub fn is_direct<T: Scalar>(&self, transform: &Transform) -> bool {
        transform.is_nothing() && self.number.dtype() == T::DTYPE
    }

    /// The same part without the rows before `first`.
    pub fn below(self, first: usize) -> Self {
        Self { skip: self.skip + first * self.row_stride, ..self }
    }

    fn is_row_major(&self) -> bool {
        self.column_stride == 1
    }

    /// Offset and length of line `line` of `count` rows from `first` on: a row, or the part of a column.
    fn line(&self, first: usize, count: usize, line: usize) -> (usize, usize) {
        if self.is_row_major() {
            (self.skip + (first + line) * self.row_stride, self.columns)
        } else {
            (self.skip + line * self.column_stride + first, count)
        }
    }

    /// The error for `count` rows from `first` on, in which an entry is not finite. The first of them is row `place` of
    /// the problem, which is of the caller's matrix or of its transpose.
    pub fn not_finite(&self, first: usize, count: usize, place: usize, transposed: bool) -> Error {
        let bytes = match self.memory.as_slice::<u8>() {
            Ok(bytes) => bytes,
            Err(e) => return e,
        };
        let lines = if self.is_row_major() { count } else { self.columns };
        let found = not_finite::find(self.number, bytes, (0..lines).map(|line| self.line(first, count, line)));
        match found {
            Some((line, at, value)) => {
                let (row, column) = if self.is_row_major() { (line, at) } else { (at, line) };
                not_finite::entry("a", (place + row, column), transposed, value)
            }
            None => not_finite::rows("a", place, count, transposed),
        }
    }

    /// Rows that products can use in place.
    pub fn direct<T: Scalar>(&self, first: usize, count: usize) -> Result<Mat<'b, T>> {
        let all = self.memory.as_slice::<T>()?;
        if count == 0 || self.columns == 0 {
            return Ok(Mat::from_columns(&[], count, self.columns));
        }
        Ok(if self.is_row_major() {
            let stride = self.row_stride.max(self.columns);
            Mat::from_rows_with_stride(&all[self.skip + first * self.row_stride..], count, self.columns, stride)
        } else {
            Mat::from_columns_with_stride(&all[self.skip + first..], count, self.columns, self.column_stride.max(count))
        })
    }

    /// The findings in rows that are used in place. Must run on a thread of the pool.
    pub fn look_direct<T: Scalar>(&self, first: usize, count: usize) -> Result<Findings> {
        let all = self.memory.as_slice::<T>()?;
        if count == 0 || self.columns == 0 {
            // Empty lines may begin behind the end of the memory.
            return Ok(Findings::default());
        }
        let lines = if self.is_row_major() { count } else { self.columns };
        let found: Vec<Findings> = (0..lines)
            .into_par_iter()
            .map(|line| {
                let (place, length) = self.line(first, count, line);
                look(&all[place..place + length])
            })
            .collect();
        Ok(merge(&found))
    }

    /// Converts and transforms rows into `scratch`, packed in the order of the data, and returns them as a matrix.
    pub fn load<'s, T: Scalar>(
        &self,
        context: &Context,
        first: usize,
        count: usize,
        transform: &Transform,
        scratch: &'s mut [T],
    ) -> Result<(Mat<'s, T>, Findings)> {
        let bytes = self.memory.as_slice::<u8>()?;
        if self.number.is_complex() && !T::IS_COMPLEX {
            let (from, to) = (self.number.dtype().name(), T::DTYPE.name());
            return Err(Error::NotSupported(format!("a: is {from}, which is not converted to {to}")));
        }
        let length = if self.is_row_major() { self.columns } else { count };
        let scratch = &mut scratch[..count * self.columns];
        if length == 0 || scratch.is_empty() {
            return Ok((Mat::from_columns(scratch, count, self.columns), Findings::default()));
        }
        let size = self.number.size();
        let found = context.pool().run(|| -> Result<Vec<Findings>> {
            let factor = transform.factor;
            let has_units = !transform.units.is_empty();
            let row_means =
                if transform.rows && !self.is_row_major() { self.row_means(bytes, first, count)? } else { Vec::new() };
            scratch
                .par_chunks_exact_mut(length)
                .enumerate()
                .map(|(line, out)| {
                    let place = self.line(first, count, line).0 * size;
                    let mut values = Values::new(self.number, length)?;
                    values.read(self.number, &bytes[place..place + length * size]);
                    let most = values.most();
                    // The means of entries, of rows or of columns.
                    let row = if self.is_row_major() && transform.rows { values.mean() } else { Complex::default() };
                    let mean = |k: usize| {
                        if self.is_row_major() {
                            transform.mean(k) + row
                        } else {
                            transform.mean(line) + row_means.get(k).copied().unwrap_or_default()
                        }
                    };
                    if self.is_row_major() {
                        for (j, to) in out.iter_mut().enumerate() {
                            let steps = steps_of(if has_units { transform.unit(j) } else { factor });
                            *to = values.entry(j, mean(j), steps, transform.gain(j));
                        }
                    } else {
                        let (gain, steps) = (transform.gain(line), steps_of(transform.unit(line)));
                        for (i, to) in out.iter_mut().enumerate() {
                            *to = values.entry(i, mean(i), steps, gain);
                        }
                    }
                    let Findings { squares, most: mut size, .. } = look(out);
                    // T may not hold the largest centred entry.
                    let is_exact = (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&size);
                    if !is_exact && transform.is_centred() && transform.scales.is_empty() {
                        let part = |k: usize| largest_part(difference(values.at(k), mean(k), factor));
                        size = (0..length).map(part).fold(0.0, f64::max);
                    }
                    Ok(Findings { squares, most, size })
                })
                .collect()
        })?;
        let matrix = if self.is_row_major() {
            Mat::from_rows(scratch, count, self.columns)
        } else {
            Mat::from_columns(scratch, count, self.columns)
        };
        Ok((matrix, merge(&found)))
    }

    /// Means of the rows of column-major data. The distances from the first entry are summed, so that the mean of equal
    /// entries is exact.
    fn row_means(&self, bytes: &[u8], first: usize, count: usize) -> Result<Vec<Complex<f64>>> {
        let mut means = alloc::filled("means of rows", count, Complex::<f64>::default())?;
        let (mut firsts, mut values) = (Values::new(self.number, count)?, Values::new(self.number, count)?);
        let size = self.number.size();
        // Sums may overflow. A row whose sum does not keeps it: times DOWN, small numbers would lose digits.
        let mut far = alloc::filled("rows whose sums overflow", count, true)?;
        for down in [1.0, DOWN] {
            means.iter_mut().zip(&far).filter(|(_, far)| **far).for_each(|(m, _)| *m = Complex::default());
            for line in 0..self.columns {
                let place = self.line(first, count, line).0 * size;
                if line == 0 {
                    firsts.read(self.number, &bytes[place..place + count * size]);
                    continue;
                }
                values.read(self.number, &bytes[place..place + count * size]);
                for (i, (mean, _)) in means.iter_mut().zip(&far).enumerate().filter(|(_, (_, far))| **far) {
                    *mean += values.at(i) * down - firsts.at(i) * down;
                }
            }
            for (i, (mean, far)) in means.iter_mut().zip(&mut far).enumerate().filter(|(_, (_, far))| **far) {
                let (first, step) = (firsts.at(i), *mean / self.columns as f64);
                *mean = Complex::new(moved(first.re, step.re, down), moved(first.im, step.im, down));
                *far = !is_finite(*mean);
            }
            if !far.contains(&true) {
                break;
            }
        }
        Ok(means)
    }

    /// The moments of each column of the rows. Must run on a thread of the pool.
    pub fn moments(&self, first: usize, count: usize, factor: f64) -> Result<Vec<Moments>> {
        let bytes = self.memory.as_slice::<u8>()?;
        let size = self.number.size();
        // In row-major data a column needs the cache lines of all rows. Many columns are summed at a time, because a cache
        // line holds entries of many.
        let band = if self.is_row_major() { 256 } else { 1 };
        let mut all = alloc::filled("moments of columns", self.columns, Moments::default())?;
        all.par_chunks_mut(band).enumerate().try_for_each(|(b, out)| -> Result<()> {
            let (column, width) = (b * band, out.len());
            let (lines, length) = if self.is_row_major() { (count, width) } else { (1, count) };
            let mut values = Values::new(self.number, length)?;
            // The distances from the first entry are summed, so that the mean of a constant column is exact. The
            // factor, which is that of the largest entry of all columns, would take the digits of columns far below it.
            let mut anchors = alloc::filled("first entries of columns", width, Complex::<f64>::default())?;
            let mut far = alloc::filled("columns whose sums overflow", width, false)?;
            for round in [Round::Sums, Round::FarSums, Round::Spreads] {
                if round == Round::FarSums && !far.contains(&true) {
                    continue;
                }
                for line in 0..lines {
                    let place = if self.is_row_major() {
                        self.skip + (first + line) * self.row_stride + column
                    } else {
                        self.skip + column * self.column_stride + first
                    };
                    values.read(self.number, &bytes[place * size..(place + length) * size]);
                    if round == Round::Sums && line == 0 {
                        anchors.iter_mut().enumerate().for_each(|(k, anchor)| *anchor = values.at(k));
                    }
                    for k in 0..length {
                        let column = if self.is_row_major() { k } else { 0 };
                        let Moments { mean, spread, .. } = &mut out[column];
                        match round {
                            Round::Sums => *mean += values.at(k) - anchors[column],
                            Round::FarSums if !far[column] => {}
                            Round::FarSums => *mean += values.at(k) * DOWN - anchors[column] * DOWN,
                            Round::Spreads => {
                                let square = difference(values.at(k), *mean, factor).norm_sqr();
                                let differs = || !is_constant((values.at(k) - *mean).norm(), mean.norm());
                                let is_lost = square == 0.0 && values.at(k) != anchors[column] && differs();
                                *spread += unless_lost(square, is_lost);
                            }
                        }
                    }
                }
                let down = if round == Round::Sums { 1.0 } else { DOWN };
                for ((Moments { mean, .. }, anchor), far) in out.iter_mut().zip(&anchors).zip(&mut far) {
                    if round == Round::Sums {
                        *far = !is_finite(*mean);
                    }
                    match round {
                        Round::Sums if *far => *mean = Complex::default(),
                        Round::FarSums if !*far => {}
                        Round::Sums | Round::FarSums => {
                            let step = *mean / count as f64;
                            *mean = Complex::new(moved(anchor.re, step.re, down), moved(anchor.im, step.im, down));
                        }
                        Round::Spreads => {}
                    }
                }
            }
            Ok(())
        })?;
        Ok(all)
    }
}

/// The rounds over the rows that give the moments of columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Sums of the distances from the first entry.
    Sums,
    /// The same times [`DOWN`], for columns whose sums overflow.
    FarSums,
    /// Sums of the squared distances from the mean.
    Spreads,
}

/// A line of numbers in double precision.
enum Values {
    Real(Vec<f64>),
    Complex(Vec<Complex<f64>>),
}

impl Values {
    fn new(number: Number, length: usize) -> Result<Self> {
        let what = "line of a block";
        Ok(if number.is_complex() {
            Self::Complex(alloc::filled(what, length, Complex::default())?)
        } else {
            Self::Real(alloc::filled(what, length, 0.0)?)
        })
    }

    fn read(&mut self, number: Number, bytes: &[u8]) {
        match self {
            Self::Real(values) => decode(number, bytes, values),
            Self::Complex(values) => decode(number, bytes, values),
        }
    }

    fn at(&self, k: usize) -> Complex<f64> {
        match self {
            Self::Real(values) => Complex::new(values[k], 0.0),
            Self::Complex(values) => values[k],
        }
    }

    fn most(&self) -> f64 {
        match self {
            Self::Real(values) => look(values).most,
            Self::Complex(values) => look(values).most,
        }
    }

    /// The mean, from the sum of the distances from the first entry: that of equal entries is exact.
    fn mean(&self) -> Complex<f64> {
        let (first, mean) = match self {
            Self::Real(values) => {
                let first = values.first().copied().unwrap_or_default();
                let sum = |by: f64| Complex::new(values.iter().map(|x| x * by - first * by).sum(), 0.0);
                (Complex::new(first, 0.0), average(values.len(), sum))
            }
            Self::Complex(values) => {
                let first = values.first().copied().unwrap_or_default();
                (first, average(values.len(), |by| values.iter().map(|x| x * by - first * by).sum()))
            }
        };
        if is_finite(mean) {
            return first + mean;
        }
        // The distances overflow.
        match self {
            Self::Real(values) => average(values.len(), |by| Complex::new(values.iter().map(|x| x * by).sum(), 0.0)),
            Self::Complex(values) => average(values.len(), |by| values.iter().map(|x| x * by).sum()),
        }
    }

    /// The difference of x_k and the mean, times both numbers of [`steps_of`] and the gain; rounded to T.
    fn entry<T: Scalar>(&self, k: usize, mean: Complex<f64>, (before, after): (f64, f64), gain: f64) -> T {
        let (re, im) = (mean.re * before, mean.im * before);
        match self {
            Self::Real(values) => T::from_parts((values[k] * before - re) * after * gain, -im * after * gain),
            Self::Complex(values) => {
                T::from_parts((values[k].re * before - re) * after * gain, (values[k].im * before - im) * after * gain)
            }
        }
    }
}
