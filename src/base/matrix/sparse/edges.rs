//! Edge lists: each line has two vertices, and optionally a weight.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use super::coordinates::{Coordinates, Duplicates, from_coordinates_watched};
use super::entries::{WHAT, csr};
use super::index::{Indices, Rows};
use super::lines::Lines;
use super::list::List;
use super::market::{is_beyond, number, write_entries};
use super::measures::is_symmetric;
use crate::alloc;
use crate::backend::memory::{Budget, HostMemory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{DType, Scalar, with_scalar};
use crate::shape::to_i64;

/// The largest vertex that can be a row: the bytes of all rows up to it, at most 16 each, are a number below 2^63.
const LAST_ROW: i64 = i64::MAX / 16 - 1;

/// How an edge list is read.
#[derive(Debug, Clone, Copy)]
pub struct EdgeList {
    /// Type of the matrix's values.
    pub dtype: DType,
    /// Whether a third number is a weight. Without, the matrix is a pattern and a third number is ignored.
    pub weighted: bool,
    /// How edges that occur several times are combined.
    pub duplicates: Duplicates,
    /// Whether vertices are renumbered in the order in which they first occur. Otherwise a vertex's number, from 0 to
    /// 2^59 - 2, is its row, and the largest number determines the size.
    pub relabel: bool,
}

/// Reads the adjacency matrix of a graph: the first vertex of an edge is the row, the second the column. Lines that
/// begin with `#` or `%` are skipped. Numbers are separated by blanks, tabs or commas. With `relabel`, the second
/// result has for each vertex its number in the file.
///
/// # Errors
/// [`Error::Io`] naming the malformed line; [`Error::OutOfMemory`] naming the bytes that are needed beside each other, at
/// least; [`Error::Cancelled`].
pub fn read_edges(context: &Arc<Context>, path: &Path, options: EdgeList) -> Result<(Matrix, Option<List<i64>>)> {
    let cancel = context.cancel_watch();
    let mut lines = Lines::open(path, cancel)?;
    let budget = context.host_budget();
    let total = |e: Error| with_used(e, budget);
    let (mut row_idx, mut col_idx) = (List::with_capacity(0, budget)?, List::with_capacity(0, budget)?);
    let mut weights = List::with_capacity(0, budget)?;
    let mut names = List::with_capacity(0, budget)?;
    let mut places: HashMap<i64, i64> = HashMap::new();
    let mut places_charge = None;
    let mut largest = -1i64;
    let allowed = if options.relabel { i64::MIN..=i64::MAX } else { 0..=LAST_ROW };
    let mut vertex = |id: i64| -> Result<i64> {
        if !options.relabel {
            largest = largest.max(id);
            return Ok(id);
        }
        if let Some(&place) = places.get(&id) {
            return Ok(place);
        }
        let place = to_i64(names.len());
        if places.len() == places.capacity() {
            // A slot has a key, a value and a control byte. At most 7 of 8 slots are used, and their number is a power
            // of 2. The old table stays charged until the new one is allocated.
            let capacity = places.len().saturating_mul(2).max(64);
            let bytes = (capacity / 7 * 8 + 8).next_power_of_two() * (size_of::<(i64, i64)>() + 1);
            let charge = budget.charge_host(WHAT, bytes).map_err(total)?;
            alloc::refusable(|| places.try_reserve(capacity - places.len()))
                .map_err(|_| alloc::out_of_memory(WHAT, bytes))?;
            places_charge = Some(charge);
        }
        places.insert(id, place);
        names.push(id).map_err(total)?;
        Ok(place)
    };
    loop {
        let parsed = match lines.next()? {
            None => break,
            Some(line) if line.get(..14).is_some_and(|mark| mark.eq_ignore_ascii_case("%%MatrixMarket")) => {
                return Err(lines.bad("is a Matrix Market file, not a list of edges"));
            }
            Some(line) if line.is_empty() || line.starts_with(['#', '%']) => continue,
            Some(line) => edge(line).ok_or_else(|| no_edge(line, &allowed)),
        };
        let (from, to, weight) = parsed.map_err(|problem| lines.wrong(problem))?;
        if let Some(wrong) = [from, to].iter().find(|vertex| !allowed.contains(vertex)) {
            return Err(lines.wrong(outside(i128::from(*wrong), &allowed)));
        }
        let (from, to) = (vertex(from)?, vertex(to)?);
        row_idx.push(from).map_err(total)?;
        col_idx.push(to).map_err(total)?;
        if options.weighted {
            let beyond = |what: String| lines.wrong(format!("{what} is beyond the range of {}", options.dtype.name()));
            let weight = weight.ok_or_else(|| lines.wrong("has no weight"))?;
            let (weight, digits) = weight.map_err(|()| beyond("a weight".into()))?;
            if is_beyond(weight, options.dtype) {
                return Err(beyond(format!("{weight:e}")));
            }
            let held = if options.dtype.is_single() { f64::from(weight as f32) } else { weight };
            if let Some(digits) = digits.filter(|digits| held as i128 != *digits) {
                return Err(lines.wrong(format!("{digits} is between two numbers of {}", options.dtype.name())));
            }
            weights.push(weight).map_err(total)?;
        }
    }
    drop((places, places_charge));
    row_idx.shrink()?;
    col_idx.shrink()?;
    names.shrink()?;
    let vertices = if options.relabel { names.len() } else { usize::try_from(largest + 1).unwrap_or(0) };
    let held = match options.weighted {
        false => None,
        true => Some(with_scalar!(options.dtype, "dtype", T => {
            let bytes = weights.len() * options.dtype.size();
            let mut memory = HostMemory::allocate(WHAT, bytes, budget).map_err(total)?;
            for (o, w) in memory.as_mut_slice::<T>()?.iter_mut().zip(weights.as_slice()?) {
                *o = T::from_parts(*w, 0.0);
            }
            Ok(memory)
        })?),
    };
    drop(weights);
    let from = Coordinates {
        rows: vertices,
        cols: vertices,
        row_idx: Indices::I64(row_idx.as_slice()?),
        col_idx: Indices::I64(col_idx.as_slice()?),
        base: 0,
        dtype: options.dtype,
        values: held.as_ref(),
    };
    let matrix = from_coordinates_watched(context, &from, options.duplicates, cancel).map_err(|e| match e {
        // The number of a duplicate entry does not help to find it in a file.
        Error::InvalidArgument { problem, .. } => lines.bad(problem),
        other => total(other),
    })?;
    Ok((matrix, options.relabel.then_some(names)))
}

/// An error of too little memory with the bytes in use added to those of the allocation that does not fit the limit.
fn with_used(e: Error, budget: &Budget) -> Error {
    match e {
        Error::OutOfMemory { what, bytes, limit: Some(limit) } => {
            Error::OutOfMemory { what, bytes: bytes.saturating_add(budget.used()), limit: Some(limit) }
        }
        other => other,
    }
}

/// Writes the stored entries of a real sparse matrix on the host as edges: row and column, counted from 0, and the
/// value unless the matrix is a pattern. With `symmetric`, each edge of a symmetric matrix is written once, from the
/// larger vertex to the smaller. The file gets its name only when it is complete.
///
/// # Errors
/// [`Error::InvalidArgument`] for a complex matrix, and with `symmetric` for a matrix that is not symmetric;
/// [`Error::NotSupported`] for another storage or a device; [`Error::Io`]; [`Error::Cancelled`].
pub fn write_edges(a: &Matrix, path: &Path, symmetric: bool) -> Result<()> {
    let cancel = a.context().cancel_watch();
    if a.dtype().is_complex() {
        return Err(Error::invalid("a", format!("is {}, F32 or F64 is needed", a.dtype().name())));
    }
    if symmetric && !is_symmetric(a, 0.0)? {
        return Err(Error::invalid("symmetric", "is set, the matrix is not symmetric"));
    }
    let rows = Rows::new(csr("a", a)?)?;
    let head = format!("# {} x {}\n", a.rows(), a.cols());
    write_entries(a, path, &head, 0, |i, k| !symmetric || rows.col(k) <= i, cancel)
}

/// The third number of a line, and if it is a large integer, its digits' number; [`Err`] if double precision cannot hold it.
type Weight = std::result::Result<(f64, Option<i128>), ()>;

/// The smallest integer above which single precision has no odd ones.
const LARGE: f64 = 16_777_216.0;

fn edge(line: &str) -> Option<(i64, i64, Option<Weight>)> {
    if line.contains(',') && has_empty_field(line) {
        return None;
    }
    let mut words = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|w| !w.is_empty());
    let from = words.next()?.parse().ok()?;
    let to = words.next()?.parse().ok()?;
    let Some(word) = words.next() else { return Some((from, to, None)) };
    let weight = number(word).transpose()?;
    let digits = |weight: f64| if weight.abs() > LARGE { word.parse().ok() } else { None };
    Some((from, to, Some(weight.map(|weight| (weight, digits(weight))))))
}

/// The problem of a line that [`edge`] does not understand.
fn no_edge(line: &str, allowed: &RangeInclusive<i64>) -> String {
    let words = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|w| !w.is_empty()).take(2);
    let mut large = words.filter_map(|word| word.parse::<i128>().ok()).filter(|vertex| i64::try_from(*vertex).is_err());
    match large.next() {
        Some(vertex) => outside(vertex, allowed),
        None => "is not two vertices".into(),
    }
}

fn outside(vertex: i128, allowed: &RangeInclusive<i64>) -> String {
    format!("vertex {vertex} is outside {} to {}", allowed.start(), allowed.end())
}

/// Whether a field before a comma is empty; later fields would be taken for earlier columns. An empty last field is
/// allowed.
fn has_empty_field(line: &str) -> bool {
    let mut is_empty = true;
    line.chars().filter(|c| !c.is_whitespace()).any(|c| std::mem::replace(&mut is_empty, c == ',') && c == ',')
}
