//! A sparse matrix on the device in compressed rows, together with its adjoint in compressed rows. No two threads then add
//! to the same entry of a product.

use super::site::Site;
use crate::alloc;
use crate::backend::gpu::DeviceMemory;
use crate::backend::gpu::kernels::rsvd::Compressed;
use crate::backend::memory::{HostMemory, Memory};
use crate::error::{Error, Result};
use crate::matrix::{Csr, IndexType};
use crate::rsvd::data::{Center, Setting};
use crate::rsvd::statistics::{ComplexSum, DOWN, Moments, Statistics, modulus, scaling, square_of};
use crate::scalar::{Complex, Scalar, is_finite};

/// The matrix or its adjoint.
struct Half {
    row_ptr: DeviceMemory,
    columns: DeviceMemory,
    values: Option<DeviceMemory>,
    entries: usize,
    shape: (usize, usize),
}

/// A matrix and its adjoint.
pub(super) struct Halves {
    plain: Half,
    adjoint: Half,
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

impl Half {
    fn new<T: Scalar>(
        site: &Site,
        shape: (usize, usize),
        row_ptr: &[i64],
        columns: &[i32],
        values: Option<&[T]>,
    ) -> Result<Self> {
        let (gpu, stream) = (&site.gpu, &site.stream);
        Ok(Self {
            row_ptr: gpu.upload_numbers(stream, "offsets of a sparse matrix", row_ptr)?,
            columns: gpu.upload_numbers(stream, "columns of a sparse matrix", columns)?,
            values: values.map(|v| gpu.upload_numbers(stream, "values of a sparse matrix", v)).transpose()?,
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

/// Bytes of host memory for the copy of a matrix and its adjoint to the device, and for the sums of rows or columns.
pub(super) fn host_bytes<T>(csr: &Csr, setting: &Setting) -> usize {
    let entry = 2 * size_of::<i32>() + if csr.parts().values.is_some() { 2 * size_of::<T>() } else { 0 };
    let entry = entry.max(size_of::<i64>() + size_of::<i32>());
    let lines = if setting.center == Center::Rows { csr.rows() } else { csr.cols() };
    let offsets = csr.rows().saturating_add(csr.cols()).saturating_add(2).saturating_mul(size_of::<i64>());
    // Sums and squares of lines, their means and scales.
    let sums = lines.saturating_mul(size_of::<Line>() + 16 + 24);
    csr.nnz().saturating_mul(entry).saturating_add(offsets).saturating_add(sums)
}

impl Halves {
    /// Copies a matrix to the device. Also finds its statistics and the means of its rows.
    pub(super) fn new<T: Scalar>(site: &Site, csr: &Csr, setting: &Setting) -> Result<(Self, Statistics, Vec<f64>)> {
        let (rows, cols, nnz, base) = (csr.rows(), csr.cols(), csr.nnz(), csr.index_base());
        let parts = csr.parts();
        if i32::try_from(rows.max(cols)).is_err() {
            return Err(Error::NotSupported(format!(
                "a: {rows} x {cols}, 2^31 rows and columns are the most on a GPU"
            )));
        }
        let _charge =
            site.context.host_budget().charge_host("copy of a sparse matrix", host_bytes::<T>(csr, setting))?;
        let row_ptr = indices(&parts.row_ptr, parts.row_ptr_type, base, rows + 1)?;
        let wide = indices(&parts.col_idx, parts.col_idx_type, base, nnz)?;
        let mut columns = alloc::with_capacity("columns of a sparse matrix", nnz)?;
        columns.extend(wide.iter().map(|c| i32::try_from(*c).unwrap_or(0)));
        drop(wide);
        let values: Option<Vec<T>> = match &parts.values {
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
        let turned = transposed((rows, cols), &row_ptr, &columns, values.as_deref())?;
        let (found, means) = survey((rows, cols), &turned, setting)?;
        let plain = Half::new(site, (rows, cols), &row_ptr, &columns, values.as_deref())?;
        let adjoint = Half::new(site, (cols, rows), &turned.starts, &turned.across, turned.values.as_deref())?;
        Ok((Self { plain, adjoint }, found, means))
    }

    pub(super) fn plain(&self) -> Compressed<'_> {
        self.plain.compressed()
    }

    pub(super) fn adjoint(&self) -> Compressed<'_> {
        self.adjoint.compressed()
    }
}

/// The adjoint of a matrix on the host.
struct Turned<T> {
    starts: Vec<i64>,
    /// Rows of the matrix, ascending in each of its columns.
    across: Vec<i32>,
    /// Conjugates of its values; ones if there are none.
    values: Option<Vec<T>>,
}

/// The adjoint, by a counting sort. Within each of its rows, entries have the order of the matrix's rows.
fn transposed<T: Scalar>(
    (rows, cols): (usize, usize),
    row_ptr: &[i64],
    columns: &[i32],
    values: Option<&[T]>,
) -> Result<Turned<T>> {
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
    Ok(Turned { starts, across, values: turned })
}

impl<T: Scalar> Turned<T> {
    /// Row, column and value of each stored place, column by column. Entries stored twice for one place are added, as
    /// products do.
    fn places(&self) -> impl Iterator<Item = (usize, usize, Complex<f64>)> {
        let value = |k: usize| self.values.as_ref().map_or([1.0, 0.0], |v| [v[k].re(), -v[k].im()]);
        self.starts.windows(2).enumerate().flat_map(move |(c, ends)| {
            let (mut k, end) = (place(ends[0]), place(ends[1]));
            std::iter::from_fn(move || {
                let row = *self.across[..end].get(k)?;
                let [mut re, mut im] = value(k);
                k += 1;
                while k < end && self.across[k] == row {
                    let more = value(k);
                    (re, im, k) = (re + more[0], im + more[1], k + 1);
                }
                Some((place(i64::from(row)), c, Complex::new(re, im)))
            })
        })
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

/// Statistics of a matrix after the centring and scaling of `setting`, and the means of its rows where these are
/// subtracted: real parts, then imaginary parts.
fn survey<T: Scalar>(
    (rows, columns): (usize, usize),
    turned: &Turned<T>,
    setting: &Setting,
) -> Result<(Statistics, Vec<f64>)> {
    if setting.scale && setting.center == Center::Rows {
        return Err(Error::NotSupported("scale: needs the means of columns, rows are centred".into()));
    }
    let by_rows = setting.center == Center::Rows;
    let (lines, length) = if by_rows { (rows, columns) } else { (columns, rows) };
    let places = || turned.places().map(|(r, c, value)| (r, if by_rows { r } else { c }, value));
    let mut sums = alloc::filled("sums of lines", lines, Line::default())?;
    let mut max_abs = 0.0f64;
    for (r, line, value) in places() {
        if !is_finite(value) {
            return Err(Error::invalid("a", format!("holds a number that is not finite in row {r}")));
        }
        max_abs = max_abs.max(modulus(value));
        let line = &mut sums[line];
        if line.stored == 0 {
            line.first = value;
        }
        line.stored += 1;
    }
    find_means(&mut sums, length, || places().map(|(_, line, value)| (line, value)));
    let (centers, wants_means) = (setting.center != Center::None, setting.center != Center::None || setting.scale);
    // Sums of the squared distances from the mean and from 0, over the stored entries and the zeros.
    let mut spreads = alloc::filled("squares of lines", lines, [0.0f64; 2])?;
    let square = |x, mean| square_of(x, mean, setting.factor);
    for (line, spread) in sums.iter().zip(&mut spreads).filter(|_| wants_means) {
        spread[0] = square(Complex::default(), line.mean) * length.saturating_sub(line.stored) as f64;
    }
    for (_, line, value) in places() {
        let mean = if wants_means { sums[line].mean } else { Complex::default() };
        spreads[line][0] += square(value, mean);
        spreads[line][1] += (value * setting.factor).norm_sqr();
    }
    let mut found = Statistics { max_abs, ..Statistics::default() };
    for (line, ([spread, around_zero], Line { mean, .. })) in spreads.iter().zip(&sums).enumerate() {
        let of =
            scaling(&Moments { mean: *mean, spread: *spread, ..Moments::default() }, length, setting.factor, centers);
        let squares = if centers { *spread } else { *around_zero };
        // The centred entries of a constant column are 0.
        let is_zero = centers && !by_rows && (setting.scale || mean.norm() > 0.0) && of.gain == 0.0;
        let gain = if setting.scale { of.gain } else { 1.0 };
        found.norm2 += if is_zero { 0.0 } else { squares * (gain * gain) };
        if is_zero {
            found.constants.push(line);
        }
        if setting.scale {
            found.scales.push(of.divisor);
            found.lost = found.lost.or(of.is_lost.then_some(line));
        }
    }
    let mut means = alloc::with_capacity("means", 2 * lines)?;
    if centers {
        means.extend(sums.iter().map(|line| line.mean.re));
        if T::IS_COMPLEX {
            means.extend(sums.iter().map(|line| line.mean.im));
        }
    }
    if by_rows {
        return Ok((found, means));
    }
    found.means = means;
    Ok((found, Vec::new()))
}
