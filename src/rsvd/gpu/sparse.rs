//! A sparse matrix on the device in compressed rows, together with its adjoint in compressed rows. No two threads then add
//! to the same entry of a product.

use super::site::Site;
use crate::alloc;
use crate::backend::gpu::DeviceMemory;
use crate::backend::gpu::kernels::rsvd::Compressed;
use crate::backend::memory::{HostMemory, Memory};
use crate::error::{Error, Result};
use crate::matrix::{Csr, IndexType, not_finite};
use crate::rsvd::data::{Center, Setting};
use crate::rsvd::statistics::{
    ComplexSum, CorrectionError, DOWN, Moments, Statistics, difference, is_zero_line, largest_part, modulus, scaling,
    square_of,
};
use crate::scalar::{Complex, DType, Scalar, is_finite, with_scalar};

/// The matrix or its adjoint.
struct DeviceCsr {
    row_ptr: DeviceMemory,
    columns: DeviceMemory,
    values: Option<DeviceMemory>,
    entries: usize,
    shape: (usize, usize),
}

/// A matrix and its adjoint.
pub(super) struct WithAdjoint {
    plain: DeviceCsr,
    adjoint: DeviceCsr,
}

/// Offsets or columns, from 0.
fn indices(memory: &HostMemory, kind: IndexType, base: i64, count: usize) -> Result<Vec<i64>> {
    let mut out = alloc::with_capacity("indices of a sparse matrix", count)?;
    match kind {
        IndexType::I32 => out.extend(memory.as_slice::<i32>()?.iter().take(count).map(|k| i64::from(*k) - base)),
        IndexType::I64 => out.extend(memory.as_slice::<i64>()?.iter().take(count).map(|k| *k - base)),
    }
    Ok(out)
}

fn place(index: i64) -> usize {
    usize::try_from(index).unwrap_or(0)
}

impl DeviceCsr {
    /// `values` copies the values to the device.
    fn new(
        site: &Site,
        shape: (usize, usize),
        row_ptr: &[i64],
        columns: &[i32],
        values: impl FnOnce() -> Result<Option<DeviceMemory>>,
    ) -> Result<Self> {
        let (gpu, stream) = (&site.gpu, &site.stream);
        Ok(Self {
            row_ptr: gpu.upload_numbers(stream, "offsets of a sparse matrix", row_ptr)?,
            columns: gpu.upload_numbers(stream, "columns of a sparse matrix", columns)?,
            values: values()?,
            entries: columns.len(),
            shape,
        })
    }

    fn compressed(&self) -> Compressed<'_> {
        Compressed {
            row_ptr: self.row_ptr.whole(),
            columns: self.columns.whole(),
            values: self.values.as_ref().map(DeviceMemory::whole),
            entries: self.entries,
            rows: self.shape.0,
            cols: self.shape.1,
        }
    }
}

/// Factors of the columns of a matrix with these statistics; `None` if all are 1.
pub(super) fn gains(found: &Statistics, setting: &Setting, columns: usize) -> Result<Option<Vec<f64>>> {
    if !setting.scale && setting.factor == 1.0 && found.constants.is_empty() {
        return Ok(None);
    }
    let mut gains = alloc::filled("factors of columns", columns, setting.result_factor())?;
    gains.iter_mut().zip(&found.scales).for_each(|(gain, scale)| *gain /= scale);
    // The centred entries of constant columns are rounding errors, so these columns become 0.
    found.constants.iter().for_each(|j| gains[*j] = 0.0);
    Ok(Some(gains))
}

/// `value` times `gain`, rounded once.
fn gained<T: Scalar>(value: T, gain: f64) -> T {
    T::from_parts(value.re() * gain, value.im() * gain)
}

/// Bytes of host memory for the copy of a matrix with values of type `dtype`, and of its adjoint, to the device, and for the
/// sums of rows or columns.
pub(super) fn host_bytes(dtype: DType, csr: &Csr, setting: &Setting) -> usize {
    let entry = 2 * size_of::<i32>() + if csr.parts().values.is_some() { 2 * dtype.size() } else { 0 };
    let entry = entry.max(size_of::<i64>() + size_of::<i32>());
    let lines = if setting.center == Center::Rows { csr.rows() } else { csr.cols() };
    let offsets = csr.rows().saturating_add(csr.cols()).saturating_add(2).saturating_mul(size_of::<i64>());
    // Sums and squares of lines, their means and scales; factors of columns.
    let sums = lines.saturating_mul(size_of::<Line>() + size_of::<LineSums>() + 16 + 24 + size_of::<bool>());
    let sums = sums.saturating_add(csr.cols().saturating_mul(size_of::<f64>()));
    csr.nnz().saturating_mul(entry).saturating_add(offsets).saturating_add(sums)
}

/// Refuses rows and columns that the kernels cannot count.
pub(super) fn check_size(rows: usize, cols: usize) -> Result<()> {
    if i32::try_from(rows.max(cols)).is_err() {
        let problem = format!("a: {rows} x {cols}, 2^31 rows and columns are the most on a GPU");
        return Err(Error::NotSupported(problem));
    }
    Ok(())
}

impl WithAdjoint {
    /// Copies a matrix with values of type `dtype` to the device, with its columns times their [`gains`], which are
    /// returned: a pattern as it is. Also finds the statistics and the means of the rows, of entries as they were.
    pub(super) fn new(
        site: &Site,
        dtype: DType,
        csr: &Csr,
        setting: &Setting,
    ) -> Result<(Self, Survey, Option<Vec<f64>>)> {
        let (rows, cols, nnz, base) = (csr.rows(), csr.cols(), csr.nnz(), csr.index_base());
        let parts = csr.parts();
        let _charge =
            site.context.host_budget().charge_host("copy of a sparse matrix", host_bytes(dtype, csr, setting))?;
        let row_ptr = indices(&parts.row_ptr, parts.row_ptr_type, base, rows + 1)?;
        let wide = indices(&parts.col_idx, parts.col_idx_type, base, nnz)?;
        let mut columns = alloc::with_capacity("columns of a sparse matrix", nnz)?;
        columns.extend(wide.iter().map(|c| i32::try_from(*c).unwrap_or(0)));
        drop(wide);
        let mut entries = with_scalar!(dtype, "a", T => read::<T>(site, csr, &row_ptr, &columns))?;
        let survey = survey((rows, cols), entries.places(), setting)?;
        let gains = if parts.values.is_some() { gains(&survey.found, setting, cols)? } else { None };
        // Products of the entries as they were may overflow.
        if let Some(gains) = &gains {
            entries.multiply_columns(&columns, gains);
        }
        // Nothing is subtracted from constant rows, which are 0.
        if !survey.zero_rows.is_empty() {
            entries.clear_rows(&row_ptr, &survey.zero_rows);
        }
        let plain = DeviceCsr::new(site, (rows, cols), &row_ptr, &columns, || entries.upload(site))?;
        let (starts, across) = entries.places().structure();
        let adjoint = DeviceCsr::new(site, (cols, rows), starts, across, || entries.places().upload(site))?;
        Ok((Self { plain, adjoint }, survey, gains))
    }

    pub(super) fn plain(&self) -> Compressed<'_> {
        self.plain.compressed()
    }

    pub(super) fn adjoint(&self) -> Compressed<'_> {
        self.adjoint.compressed()
    }
}

/// The values of a matrix and its adjoint on the host, without their type.
trait HostEntries {
    /// The adjoint.
    fn places(&self) -> &dyn Places;

    /// Multiplies the entries by the factors of their columns.
    fn multiply_columns(&mut self, columns: &[i32], gains: &[f64]);

    /// Sets the entries of the rows in question to 0.
    fn clear_rows(&mut self, row_ptr: &[i64], in_question: &[bool]);

    /// A copy of the values on the device; `None` for a pattern.
    ///
    /// # Errors
    /// As [`Gpu::upload_numbers`](crate::backend::gpu::Gpu::upload_numbers).
    fn upload(&self, site: &Site) -> Result<Option<DeviceMemory>>;
}

/// The stored places of a matrix, read from its adjoint, without their type.
pub(super) trait Places {
    /// Type of the values.
    fn dtype(&self) -> DType;

    /// Whether values are stored; else they are ones.
    fn has_values(&self) -> bool;

    /// Offsets and columns of the adjoint.
    fn structure(&self) -> (&[i64], &[i32]);

    /// Reads the next places, column by column, until `to` is full or there are no more. `at` is the column and the number
    /// of entries before. Returns the number of places. Entries stored twice for one place are added, as products do.
    fn read(&self, at: &mut (usize, usize), to: &mut [StoredPlace]) -> usize;

    /// A copy of the values on the device; `None` for a pattern.
    ///
    /// # Errors
    /// As [`Gpu::upload_numbers`](crate::backend::gpu::Gpu::upload_numbers).
    fn upload(&self, site: &Site) -> Result<Option<DeviceMemory>>;
}

/// Row, column and value of a stored place.
type StoredPlace = (usize, usize, Complex<f64>);

/// Places that are read at a time, by one call of a trait object.
const STRETCH: usize = 256;

/// The places of `matrix` in turn.
fn each_place(matrix: &dyn Places) -> impl Iterator<Item = StoredPlace> {
    let mut stretch = [StoredPlace::default(); STRETCH];
    let (mut at, mut count, mut next) = ((0, 0), 0, 0);
    std::iter::from_fn(move || {
        if next == count {
            (count, next) = (matrix.read(&mut at, &mut stretch), 0);
        }
        let place = stretch[..count].get(next).copied();
        next += usize::from(place.is_some());
        place
    })
}

/// A matrix on the host, and its adjoint.
struct HostMatrix<T> {
    values: Option<Vec<T>>,
    turned: HostAdjoint<T>,
}

/// Copies the values to memory of the host, and forms the adjoint.
fn read<T: Scalar>(site: &Site, csr: &Csr, row_ptr: &[i64], columns: &[i32]) -> Result<Box<dyn HostEntries>> {
    let nnz = csr.nnz();
    let values: Option<Vec<T>> = match &csr.parts().values {
        None => None,
        Some(memory) if memory.bytes() / size_of::<T>() < nnz => {
            let bytes = memory.bytes();
            return Err(Error::invalid("a", format!("{nnz} values of {} in {bytes} bytes", T::DTYPE.name())));
        }
        Some(Memory::Host(memory)) => Some(alloc::copied("values", &memory.as_slice::<T>()?[..nnz])?),
        Some(Memory::Device(memory)) => {
            let mut values = alloc::filled("values", nnz, T::default())?;
            site.gpu.download_numbers(&site.stream, memory, &mut values)?;
            Some(values)
        }
    };
    let turned = transposed((csr.rows(), csr.cols()), row_ptr, columns, values.as_deref())?;
    Ok(Box::new(HostMatrix { values, turned }))
}

impl<T: Scalar> HostEntries for HostMatrix<T> {
    fn places(&self) -> &dyn Places {
        &self.turned
    }

    fn multiply_columns(&mut self, columns: &[i32], gains: &[f64]) {
        let (Some(values), Some(others)) = (&mut self.values, &mut self.turned.values) else { return };
        for (value, column) in values.iter_mut().zip(columns) {
            *value = gained(*value, gains[place(i64::from(*column))]);
        }
        for (ends, gain) in self.turned.starts.windows(2).zip(gains) {
            others[place(ends[0])..place(ends[1])].iter_mut().for_each(|value| *value = gained(*value, *gain));
        }
    }

    fn clear_rows(&mut self, row_ptr: &[i64], in_question: &[bool]) {
        let (Some(values), Some(others)) = (&mut self.values, &mut self.turned.values) else { return };
        for (ends, _) in row_ptr.windows(2).zip(in_question).filter(|(_, is_zero)| **is_zero) {
            values[place(ends[0])..place(ends[1])].fill(T::default());
        }
        let of = |row: &i32| in_question[place(i64::from(*row))];
        self.turned.across.iter().zip(others).filter(|(row, _)| of(row)).for_each(|(_, x)| *x = T::default());
    }

    fn upload(&self, site: &Site) -> Result<Option<DeviceMemory>> {
        upload(site, self.values.as_deref())
    }
}

fn upload<T: Scalar>(site: &Site, values: Option<&[T]>) -> Result<Option<DeviceMemory>> {
    values.map(|v| site.gpu.upload_numbers(&site.stream, "values of a sparse matrix", v)).transpose()
}

/// The adjoint of a matrix on the host.
pub(super) struct HostAdjoint<T> {
    starts: Vec<i64>,
    /// Rows of the matrix, ascending in each of its columns.
    across: Vec<i32>,
    /// Conjugates of its values; ones if there are none.
    values: Option<Vec<T>>,
}

/// The adjoint, by a counting sort. Within each of its rows, entries have the order of the matrix's rows.
pub(super) fn transposed<T: Scalar>(
    (rows, cols): (usize, usize),
    row_ptr: &[i64],
    columns: &[i32],
    values: Option<&[T]>,
) -> Result<HostAdjoint<T>> {
    let mut starts = alloc::filled("offsets of a sparse matrix", cols + 1, 0i64)?;
    for c in columns {
        starts[place(i64::from(*c)) + 1] += 1;
    }
    for c in 0..cols {
        starts[c + 1] += starts[c];
    }
    let mut next = alloc::copied("offsets of a sparse matrix", &starts)?;
    let mut across = alloc::filled("columns of a sparse matrix", columns.len(), 0i32)?;
    let mut turned = values.map(|v| alloc::filled("values", v.len(), T::default())).transpose()?;
    for r in 0..rows {
        for k in place(row_ptr[r])..place(row_ptr[r + 1]) {
            let slot = &mut next[place(i64::from(columns[k]))];
            across[place(*slot)] = i32::try_from(r).unwrap_or(0);
            if let (Some(to), Some(from)) = (&mut turned, values) {
                to[place(*slot)] = from[k].conjugate();
            }
            *slot += 1;
        }
    }
    Ok(HostAdjoint { starts, across, values: turned })
}

impl<T: Scalar> Places for HostAdjoint<T> {
    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn has_values(&self) -> bool {
        self.values.is_some()
    }

    fn structure(&self) -> (&[i64], &[i32]) {
        (&self.starts, &self.across)
    }

    fn read(&self, (column, k): &mut (usize, usize), to: &mut [StoredPlace]) -> usize {
        let value = |k: usize| self.values.as_ref().map_or([1.0, 0.0], |v| [v[k].re(), -v[k].im()]);
        let mut count = 0;
        while let Some(slot) = to.get_mut(count) {
            let Some(end) = self.starts.get(*column + 1).map(|end| place(*end)) else { break };
            if *k >= end {
                *column += 1;
                continue;
            }
            let row = self.across[*k];
            let [mut re, mut im] = value(*k);
            *k += 1;
            while *k < end && self.across[*k] == row {
                let more = value(*k);
                (re, im, *k) = (re + more[0], im + more[1], *k + 1);
            }
            *slot = (place(i64::from(row)), *column, Complex::new(re, im));
            count += 1;
        }
        count
    }

    fn upload(&self, site: &Site) -> Result<Option<DeviceMemory>> {
        upload(site, self.values.as_deref())
    }
}

/// The stored places of a line.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    stored: usize,
    first: Complex<f64>,
    sum: ComplexSum,
    mean: Complex<f64>,
}

/// Finds the means of lines of `length` entries. If all entries of a line are stored, the distances from the first one are
/// summed, so that the mean of equal entries is exact.
fn find_means<I: Iterator<Item = (usize, Complex<f64>)>>(lines: &mut [Line], length: usize, places: impl Fn() -> I) {
    let is_number = is_finite::<Complex<f64>>;
    let share = 1.0 / length.max(1) as f64;
    // Sums, and distances from the first entry, may overflow. A line whose sum does not keeps it: times DOWN, small numbers
    // would lose digits.
    lines.iter_mut().for_each(|line| line.mean = Complex::new(f64::NAN, 0.0));
    for (down, is_near) in [(1.0, true), (DOWN, true), (DOWN, false)] {
        for line in lines.iter_mut().filter(|line| !is_number(line.mean)) {
            line.sum = ComplexSum::default();
            if !is_near || line.stored < length {
                line.first = Complex::default();
            }
        }
        for (line, value) in places() {
            let line = &mut lines[line];
            if !is_number(line.mean) {
                line.sum.add(value * down - line.first * down);
            }
        }
        for line in lines.iter_mut().filter(|line| !is_number(line.mean)) {
            line.mean = line.first + line.sum.value() * share / down;
        }
        if lines.iter().all(|line| is_number(line.mean)) {
            return;
        }
    }
}

/// Sums over the entries of a line, zeros included.
#[derive(Debug, Clone, Copy, Default)]
struct LineSums {
    /// Of the squared distances from the mean, times the square of the factor.
    spread: f64,
    /// Of the squares, times the square of the factor.
    squares: f64,
    /// Largest part of a distance from the mean.
    size: f64,
    /// Largest part of an entry.
    read: f64,
}

/// Statistics of a sparse matrix.
pub(super) struct Survey {
    pub(super) found: Statistics,
    /// Means of its rows where these are subtracted: real parts, then imaginary parts. 0 for constant rows.
    pub(super) means: Vec<f64>,
    /// Whether each row is 0 because it is constant; empty if no row is, or rows are not centred.
    pub(super) zero_rows: Vec<bool>,
}

/// Statistics of a matrix after the centring and scaling of `setting`.
pub(super) fn survey((rows, columns): (usize, usize), matrix: &dyn Places, setting: &Setting) -> Result<Survey> {
    if setting.scale && setting.center == Center::Rows {
        return Err(Error::NotSupported("scale: is set, centred columns are needed, rows are centred".into()));
    }
    let by_rows = setting.center == Center::Rows;
    let (lines, length) = if by_rows { (rows, columns) } else { (columns, rows) };
    let line_of = |r: usize, c: usize| if by_rows { r } else { c };
    let mut sums = alloc::filled("sums of lines", lines, Line::default())?;
    let mut max_abs = 0.0f64;
    for (r, c, value) in each_place(matrix) {
        if !is_finite(value) {
            return Err(not_finite::entry("a", (r, c), false, value));
        }
        let line = line_of(r, c);
        max_abs = max_abs.max(modulus(value));
        let line = &mut sums[line];
        if line.stored == 0 {
            line.first = value;
        }
        line.stored += 1;
    }
    let places = || each_place(matrix).map(|(r, c, value)| (line_of(r, c), value));
    find_means(&mut sums, length, places);
    let (centers, wants_means) = (setting.center != Center::None, setting.center != Center::None || setting.scale);
    // Sums of the squared distances from the mean and from 0, over the stored entries and the zeros.
    let mut figures = alloc::filled("squares of lines", lines, LineSums::default())?;
    let factor = setting.factor;
    let square = |x, mean| square_of(x, mean, factor);
    for (line, of) in sums.iter().zip(&mut figures).filter(|(line, _)| wants_means && line.stored < length) {
        of.spread = square(Complex::default(), line.mean) * (length - line.stored) as f64;
        of.size = largest_part(line.mean);
    }
    for (line, value) in places() {
        let mean = if wants_means { sums[line].mean } else { Complex::default() };
        let of = &mut figures[line];
        of.spread += square(value, mean);
        of.squares += (value * factor).norm_sqr();
        of.size = of.size.max(largest_part(difference(value, mean, 1.0)));
        of.read = of.read.max(largest_part(value));
    }
    let mut found = Statistics { max_abs, ..Statistics::default() };
    let mut zero_rows = Vec::new();
    for (line, (figures, Line { mean, .. })) in figures.iter().zip(&mut sums).enumerate() {
        let LineSums { spread, squares, size, read } = *figures;
        let of = scaling(&Moments { mean: *mean, spread, ..Moments::default() }, length, factor, centers);
        // The centred entries of a constant line are 0. The values of a pattern are not stored, so no row of it is set to 0.
        let is_zero = match (centers, setting.scale) {
            (false, _) => false,
            (true, true) => of.gain == 0.0,
            (true, false) => is_zero_line(size, *mean) && (!by_rows || matrix.has_values()),
        };
        let gain = if setting.scale { of.gain } else { 1.0 };
        if is_zero && by_rows {
            if zero_rows.is_empty() {
                zero_rows = alloc::filled("constant rows", lines, false)?;
            }
            (zero_rows[line], *mean) = (true, Complex::default());
        } else if is_zero {
            found.constants.push(line);
        } else {
            found.norm2 += if centers { spread } else { squares } * (gain * gain);
            found.size = found.size.max((size * factor).min(f64::MAX));
            found.read = found.read.max(read * factor);
        }
        if setting.scale {
            found.scales.push(of.divisor);
            found.lost = found.lost.or(of.is_lost.then_some(line));
        }
    }
    if !centers || setting.scale {
        found.size = max_abs * factor;
    }
    if centers {
        // Products are rounded to the type before they are corrected.
        let gain = |line: usize| match found.scales.get(line) {
            _ if found.constants.binary_search(&line).is_ok() => 0.0,
            Some(scale) => 1.0 / scale,
            None => factor,
        };
        let of = sums.iter().enumerate().map(|(line, sum)| (sum.mean, gain(line)));
        found.correction = CorrectionError::largest(of, (by_rows, length), matrix.dtype().epsilon());
    }
    let mut means = alloc::with_capacity("means", 2 * lines)?;
    if centers {
        means.extend(sums.iter().map(|line| line.mean.re));
        if matrix.dtype().is_complex() {
            means.extend(sums.iter().map(|line| line.mean.im));
        }
    }
    if by_rows {
        return Ok(Survey { found, means, zero_rows });
    }
    found.means = means;
    Ok(Survey { found, means: Vec::new(), zero_rows })
}
