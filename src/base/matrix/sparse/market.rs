//! Matrix Market files (Boisvert, Pozo, Remington, NISTIR 5935, 1996): coordinates, one-based, plain or compressed.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::coordinates::{Coordinates, Duplicates, from_coordinates_watched};
use super::entries::{WHAT, csr, value_at, values};
use super::index::{Indices, Rows};
use super::lines::{Lines, TextFile};
use super::list::List;
use super::measures::is_symmetric;
use crate::backend::memory::HostMemory;
use crate::blocks::source::io_error;
use crate::context::Context;
use crate::error::{Error, Result, real};
use crate::matrix::Matrix;
use crate::progress::CancelWatch;
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::shape::{product, to_u64};

/// The last word of a file's first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    General,
    Symmetric,
    Skew,
    Hermitian,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Pattern,
    Integer,
    Real,
    Complex,
}

/// Largest modulus below which every integer is a number of double precision.
const EXACT: i128 = 1 << 53;

/// Reads a sparse matrix. A symmetric file has one triangle; the other becomes its mirror image. `dtype` is the type of
/// the values; `None` means F64, or CF64 for complex values. Duplicate entries are added; duplicates of a pattern
/// become one entry.
///
/// # Errors
/// [`Error::Io`] naming the line that is malformed, or has a number that `dtype` cannot hold, or the part that is missing;
/// [`Error::InvalidArgument`] for a real `dtype` with complex values; [`Error::NotSupported`] for a file of a dense array; [`Error::OutOfMemory`];
/// [`Error::Cancelled`].
pub fn read_market(context: &Arc<Context>, path: &Path, dtype: Option<DType>) -> Result<Matrix> {
    let cancel = context.cancel_watch();
    let mut lines = Lines::open(path, cancel)?;
    let (field, kind) = header(&mut lines)?;
    let dtype = dtype.unwrap_or(if field == Field::Complex { DType::CF64 } else { DType::F64 });
    if field == Field::Complex && !dtype.is_complex() {
        return Err(Error::invalid("dtype", format!("is {}, the file's values are complex", dtype.name())));
    }
    let [rows, cols, stored] = sizes(&mut lines)?;
    if kind != Kind::General && rows != cols {
        return Err(lines.wrong(format!("a symmetric matrix of {rows} x {cols}")));
    }
    // Everything is refused by the header's numbers, before it is allocated or read.
    let least = match field {
        Field::Pattern => "1 1\n",
        Field::Integer | Field::Real => "1 1 1\n",
        Field::Complex => "1 1 1 1\n",
    };
    // The last line may have no line feed.
    if to_u64(stored) > lines.most_bytes().saturating_add(1) / to_u64(least.len()) {
        return Err(lines.bad(format!("is too short for the {stored} entries that its header says")));
    }
    let most = if kind == Kind::General { stored } else { product(WHAT, stored, 2)? };
    let budget = context.host_budget();
    let (mut row_idx, mut col_idx) = (List::with_capacity(most, budget)?, List::with_capacity(most, budget)?);
    let numbers = if field == Field::Pattern { 0 } else { product(WHAT, most, dtype.size())? };
    let mut held = HostMemory::allocate(WHAT, numbers, budget)?;
    let size = [rows, cols, stored];
    with_scalar!(dtype, "dtype", T => {
        let mut at = 0;
        let numbers = held.as_mut_slice::<T>()?;
        entries(&mut lines, field, (kind, dtype), size, |row, col, value| {
            row_idx.push(row)?;
            col_idx.push(col)?;
            if field != Field::Pattern {
                numbers[at] = T::from_parts(value.re, value.im);
                at += 1;
            }
            Ok(())
        })
    })?;
    let held = (field != Field::Pattern).then_some(&held);
    let (row_idx, col_idx) = (Indices::I64(row_idx.as_slice()?), Indices::I64(col_idx.as_slice()?));
    let from = Coordinates { rows, cols, row_idx, col_idx, base: 1, dtype, values: held };
    from_coordinates_watched(context, &from, Duplicates::Sum, cancel)
}

/// Reads the entries of a matrix with the given rows, columns and stored entries. Calls `push` for each entry and for
/// its mirror image.
fn entries(
    lines: &mut Lines<'_>,
    field: Field,
    (kind, dtype): (Kind, DType),
    [rows, cols, stored]: [usize; 3],
    mut push: impl FnMut(i64, i64, Complex<f64>) -> Result<()>,
) -> Result<()> {
    let mut count = 0usize;
    while let Some((row, col, value)) = entry(lines, field, dtype)? {
        if count == stored {
            return Err(lines.wrong(format!("is an entry more than the {stored} that the header says")));
        }
        for (name, index, size) in [("row", row, rows), ("column", col, cols)] {
            if index < 1 || usize::try_from(index).map_or(true, |i| i > size) {
                return Err(lines.wrong(format!("{name} {index}, outside 1 to {size}")));
            }
        }
        for part in [value.re, value.im] {
            if is_beyond(part, dtype) {
                return Err(lines.wrong(format!("{part:e} is beyond the range of {}", dtype.name())));
            }
        }
        let is_single = dtype.is_single();
        if field == Field::Integer && is_single && f64::from(value.re as f32) != value.re {
            return Err(lines.wrong(format!("{} is between two numbers of {}", real(value.re), dtype.name())));
        }
        count += 1;
        push(row, col, value)?;
        match kind {
            Kind::General => {}
            Kind::Skew if row == col => return Err(lines.wrong("a diagonal entry of a skew-symmetric matrix")),
            Kind::Hermitian if row == col && value.im != 0.0 => {
                return Err(lines.wrong("a diagonal entry of a Hermitian matrix that is not real"));
            }
            _ if row == col => {}
            Kind::Symmetric => push(col, row, value)?,
            Kind::Skew => push(col, row, -value)?,
            Kind::Hermitian => push(col, row, value.conj())?,
        }
    }
    if count != stored {
        return Err(lines.bad(format!("has {count} entries, its header says {stored}")));
    }
    Ok(())
}

/// Whether a finite number becomes infinite in a type.
pub(super) fn is_beyond(value: f64, dtype: DType) -> bool {
    let single = dtype.is_single();
    single && value.is_finite() && (value as f32).is_infinite()
}

/// A number as text, if it is one; [`Err`] if it has digits that double precision cannot hold. An infinity that is written as
/// a word is one.
pub(super) fn number(word: &str) -> std::result::Result<Option<f64>, ()> {
    match word.parse::<f64>() {
        Ok(value) if value.is_infinite() && word.contains(|c: char| c.is_ascii_digit()) => Err(()),
        other => Ok(other.ok()),
    }
}

fn header(lines: &mut Lines<'_>) -> Result<(Field, Kind)> {
    let first = lines.next()?.unwrap_or_default().to_ascii_lowercase();
    let words: Vec<&str> = first.split_whitespace().collect();
    let [mark, object, format, field, kind] = words[..] else {
        return Err(lines.bad("is no Matrix Market file: its first line is not %%MatrixMarket and four words"));
    };
    if mark != "%%matrixmarket" || object != "matrix" {
        return Err(lines.bad("is no Matrix Market file: it does not begin with %%MatrixMarket matrix"));
    }
    if format == "array" {
        return Err(Error::NotSupported(format!(
            "{}: is a dense array, the format coordinate is needed",
            lines.path().display()
        )));
    }
    let field = match field {
        "pattern" => Field::Pattern,
        "integer" => Field::Integer,
        "real" | "double" => Field::Real,
        "complex" => Field::Complex,
        other => return Err(lines.wrong(format!("values are {other}; pattern, real, integer or complex is needed"))),
    };
    let kind = match kind {
        "general" => Kind::General,
        "symmetric" => Kind::Symmetric,
        "skew-symmetric" => Kind::Skew,
        "hermitian" => Kind::Hermitian,
        other => {
            let need = "general, symmetric, skew-symmetric or hermitian is needed";
            return Err(lines.wrong(format!("the matrix is {other}; {need}")));
        }
    };
    if format != "coordinate" {
        return Err(lines.wrong(format!("the format is {format}; coordinate is needed")));
    }
    if (field, kind) == (Field::Pattern, Kind::Skew) {
        return Err(lines.wrong("the matrix is skew-symmetric, and a pattern has no signs"));
    }
    Ok((field, kind))
}

/// Reads rows, columns and entries from the first line that is not a comment.
fn sizes(lines: &mut Lines<'_>) -> Result<[usize; 3]> {
    let found = loop {
        match lines.next()? {
            None => return Err(lines.bad("ends before its line of sizes")),
            Some(line) if line.is_empty() || line.starts_with('%') => {}
            Some(line) => {
                let words: Vec<Option<usize>> = line.split_whitespace().map(|w| w.parse().ok()).collect();
                break words;
            }
        }
    };
    match found[..] {
        [Some(rows), Some(cols), Some(stored)] => {
            for (name, size) in [("rows", rows), ("columns", cols), ("entries", stored)] {
                if i64::try_from(size).is_err() {
                    return Err(lines.wrong(format!("{size} {name}, at most {}", i64::MAX)));
                }
            }
            Ok([rows, cols, stored])
        }
        _ => Err(lines.wrong("is not rows, columns and entries")),
    }
}

/// The next entry, one-based; `None` at the end.
fn entry(lines: &mut Lines<'_>, field: Field, dtype: DType) -> Result<Option<(i64, i64, Complex<f64>)>> {
    let mut is_beyond = false;
    let parsed = loop {
        match lines.next()? {
            None => return Ok(None),
            Some(line) if line.is_empty() || line.starts_with('%') => {}
            Some(line) => {
                let mut words = line.split_whitespace();
                let mut index = || words.next().and_then(|w| w.parse::<i64>().ok());
                let place = (index(), index());
                let mut number = || {
                    words.next().and_then(|w| {
                        number(w).unwrap_or_else(|()| {
                            is_beyond = true;
                            Some(f64::INFINITY)
                        })
                    })
                };
                let value = match field {
                    Field::Pattern => Some(Complex::new(1.0, 0.0)),
                    Field::Integer => {
                        let whole = words.next().and_then(|w| w.parse::<i128>().ok());
                        whole.filter(|w| w.abs() <= EXACT).map(|w| Complex::new(w as f64, 0.0))
                    }
                    Field::Real => number().map(|re| Complex::new(re, 0.0)),
                    Field::Complex => number().and_then(|re| number().map(|im| Complex::new(re, im))),
                };
                break match (place, value, words.next()) {
                    ((Some(row), Some(col)), Some(value), None) => Some((row, col, value)),
                    _ => None,
                };
            }
        }
    };
    match (parsed, field) {
        (Some(_), _) if is_beyond => Err(lines.wrong(format!("a number is beyond the range of {}", dtype.name()))),
        (Some(entry), _) => Ok(Some(entry)),
        (None, Field::Pattern) => Err(lines.wrong("is not a row and a column")),
        (None, Field::Integer) => Err(lines.wrong("is not a row, a column and an integer of modulus at most 2^53")),
        (None, Field::Real) => Err(lines.wrong("is not a row, a column and a number")),
        (None, Field::Complex) => Err(lines.wrong("is not a row, a column and two numbers")),
    }
}

/// Writes a sparse matrix on the host, with all digits of its values. With `symmetric`, writes only the lower triangle;
/// the matrix must be symmetric (Hermitian if complex) bit for bit. Compresses with gzip if the name ends in `.gz`. The
/// file gets its name only when it is complete.
///
/// # Errors
/// [`Error::InvalidArgument`] with `symmetric` for a matrix that is not symmetric; [`Error::NotSupported`] for another
/// storage or a device; [`Error::Io`]; [`Error::Cancelled`].
pub fn write_market(a: &Matrix, path: &Path, symmetric: bool) -> Result<()> {
    let cancel = a.context().cancel_watch();
    let from = csr("a", a)?;
    if symmetric && !is_symmetric(a, 0.0)? {
        return Err(Error::invalid("symmetric", "is set, the matrix is not symmetric"));
    }
    let held = values("a", a)?;
    let rows = Rows::new(from)?;
    let written = |i: usize, k: usize| !symmetric || rows.col(k) <= i;
    let stored: usize = (0..a.rows()).map(|i| rows.row(i).filter(|&k| written(i, k)).count()).sum();
    let complex = a.dtype().is_complex();
    let field = if held.is_none() { "pattern" } else { if complex { "complex" } else { "real" } };
    let kind = if !symmetric { "general" } else { if complex { "hermitian" } else { "symmetric" } };
    let head = format!("%%MatrixMarket matrix coordinate {field} {kind}\n{} {} {stored}\n", a.rows(), a.cols());
    write_entries(a, path, &head, 1, written, cancel)
}

/// Writes `head` and the entries for which `written(row, entry)` is true, one on each line: row and column, counted
/// from `base`, and the value unless the matrix is a pattern.
pub(super) fn write_entries(
    a: &Matrix,
    path: &Path,
    head: &str,
    base: usize,
    written: impl Fn(usize, usize) -> bool,
    cancel: CancelWatch<'_>,
) -> Result<()> {
    let from = csr("a", a)?;
    let held = values("a", a)?;
    let rows = Rows::new(from)?;
    let mut file = TextFile::create(path, cancel)?;
    file.text().extend_from_slice(head.as_bytes());
    let io = |e: std::io::Error| io_error(path, "write", &e);
    with_scalar!(a.dtype(), "a", T => {
        let held = held.as_ref().map(|h| h.as_slice::<T>()).transpose()?;
        for i in 0..a.rows() {
            for k in rows.row(i).filter(|&k| written(i, k)) {
                let text = file.text();
                write!(text, "{} {}", i + base, rows.col(k) + base).map_err(io)?;
                if held.is_some() {
                    write_value(text, value_at::<T>(held, k)).map_err(io)?;
                }
                text.push(b'\n');
                file.spill()?;
            }
        }
        Ok(())
    })?;
    file.finish()
}

/// Writes the shortest digits that parse to the same number.
fn write_value<T: Scalar>(text: &mut Vec<u8>, value: T) -> std::io::Result<()> {
    let single = size_of::<T::Part>() == 4;
    let mut part = |x: f64| if single { write!(text, " {:e}", x as f32) } else { write!(text, " {x:e}") };
    part(value.re())?;
    if T::IS_COMPLEX { part(value.im()) } else { Ok(()) }
}
