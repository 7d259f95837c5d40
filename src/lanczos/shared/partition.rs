//! The partition of the rows of a sparse matrix over contexts, and the entries of vectors that each context needs of
//! the others.

use std::ops::Range;
use std::sync::Arc;

use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lanczos::info::Shares;
use crate::matrix::sparse::{Index, Rows};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Storage};
use crate::scalar::DType;
use crate::shape::product;

const WHAT: &str = "rows of several contexts";

/// The cost of a row beside its entries, in entries. A step reads half of some thirty vectors of 8-byte numbers three
/// times, which is about 360 bytes a row. An entry takes 12 to 44 bytes: an index, a value and the number that it
/// gathers.
const ROW: usize = 16;

/// Pieces of a part, if parts of consecutive rows would be out of balance.
const DEALT: usize = 16;

/// Fewest rows of such a piece.
const LEAST: usize = 64;

/// Entries whose columns a thread renumbers at a time.
const PIECE: usize = 1 << 14;

/// A copy between two parts for a product: `count` numbers from `from` on of the packed ones of `source`, to `at` in
/// the gather buffer of `target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Number of the part that sends.
    pub source: usize,
    /// First of its packed numbers.
    pub from: usize,
    /// Number of the part that receives.
    pub target: usize,
    /// First index in the receiver's gather buffer.
    pub at: usize,
    /// Numbers that are copied in a product.
    pub count: usize,
}

/// The rows of one context, and the columns that they need from others.
pub struct Block {
    /// The ranges of its rows, ascending.
    pub rows: Vec<Range<usize>>,
    /// The rows as a matrix, with the order and the values of their entries in the original matrix. The columns with
    /// the numbers of these rows come first, then the halo: the columns of other parts that have entries here.
    pub matrix: Matrix,
    /// The halo as columns of the original matrix: part by part, ascending in each.
    pub halo: Vec<u32>,
    /// Rows of this part that other parts gather, as local indices, grouped by receiving part.
    pub sends: Vec<u32>,
}

impl Block {
    /// Rows of this part, which may be 0.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// Whether this part has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Length of the gather buffer, in numbers.
    pub fn gathered(&self) -> usize {
        self.matrix.cols()
    }

    /// Copies the entries of these rows from the full vector `all` to `own`.
    pub fn take<T: Copy>(&self, all: &[T], own: &mut [T]) {
        let mut at = 0;
        for rows in &self.rows {
            own[at..at + rows.len()].copy_from_slice(&all[rows.clone()]);
            at += rows.len();
        }
    }

    /// Copies the entries of these rows from `own` to their indices in the full vector `all`.
    pub fn put<T: Copy>(&self, own: &[T], all: &mut [T]) {
        let mut at = 0;
        for rows in &self.rows {
            all[rows.clone()].copy_from_slice(&own[at..at + rows.len()]);
            at += rows.len();
        }
    }

    fn entries(&self) -> usize {
        match self.matrix.storage() {
            Storage::Csr(csr) => csr.nnz(),
            _ => 0,
        }
    }
}

/// A square sparse matrix whose rows are partitioned over several contexts.
pub struct Partition {
    contexts: Vec<Arc<Context>>,
    blocks: Vec<Block>,
    transfers: Vec<Transfer>,
    order: usize,
    has_values: bool,
}

/// The ranges of rows of each part. There are as many parts as contexts, at most as many as rows; none is empty. Parts
/// are of consecutive rows, cut so that their work is as equal as whole rows allow. If rows or entries are then out of
/// balance, [`deal`] distributes pieces instead.
fn shared_out(rows: &Rows<'_>, parts: usize) -> Result<Vec<Vec<Range<usize>>>> {
    let n = rows.len();
    let parts = parts.min(n);
    let cuts = cuts(rows, parts)?;
    // The limit: a fifth above the mean, plus the entries of the longest row.
    let longest = (0..n).map(|i| rows.row(i).len()).max().unwrap_or(0);
    let too_much = |share: usize, all: usize| share > all / parts + all / parts / 5 + longest;
    let entries = |cut: &[usize]| rows.entry(cut[1]) - rows.entry(cut[0]);
    let is_even = |cut: &[usize]| !too_much(cut[1] - cut[0], n) && !too_much(entries(cut), rows.entry(n));
    if parts < 2 || n < parts * DEALT * LEAST || cuts.windows(2).all(is_even) {
        let mut consecutive = alloc::with_capacity(WHAT, parts)?;
        for cut in cuts.windows(2) {
            let mut own = alloc::with_capacity(WHAT, 1)?;
            own.push(cut[0]..cut[1]);
            consecutive.push(own);
        }
        return Ok(consecutive);
    }
    deal(rows, parts)
}

/// Cuts the rows into pieces of equal numbers of rows and assigns them to parts, those with the most entries first.
/// Each goes to the part with the fewest entries among the parts that have at most an eighth more pieces than the mean.
fn deal(rows: &Rows<'_>, parts: usize) -> Result<Vec<Vec<Range<usize>>>> {
    let (n, count) = (rows.len(), parts * DEALT);
    let piece = |k: usize| k * n / count..(k + 1) * n / count;
    let entries = |k: usize| rows.entry(piece(k).end) - rows.entry(piece(k).start);
    let mut pieces = alloc::with_capacity(WHAT, count)?;
    pieces.extend(0..count);
    pieces.sort_by_key(|&k| (std::cmp::Reverse(entries(k)), k));
    let mut held: Vec<(usize, Vec<usize>)> = alloc::with_capacity(WHAT, parts)?;
    for _ in 0..parts {
        held.push((0, alloc::with_capacity(WHAT, DEALT + DEALT / 8)?));
    }
    for k in pieces {
        let open = held.iter_mut().filter(|part| part.1.len() < DEALT + DEALT / 8);
        let Some(part) = open.min_by_key(|part| (part.0, part.1.len())) else {
            return Err(Error::Internal("pieces of rows that no part takes".into()));
        };
        part.0 += entries(k);
        part.1.push(k);
    }
    let mut dealt = alloc::with_capacity(WHAT, parts)?;
    for (_, mut own) in held {
        own.sort_unstable();
        let mut ranges: Vec<Range<usize>> = alloc::with_capacity(WHAT, own.len())?;
        for rows in own.into_iter().map(piece) {
            match ranges.last_mut() {
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ => ranges.push(rows),
            }
        }
        dealt.push(ranges);
    }
    dealt.sort_by_key(|ranges| ranges.first().map_or(0, |r| r.start));
    Ok(dealt)
}

/// The first row of each part of consecutive rows, and n at the end.
fn cuts(rows: &Rows<'_>, parts: usize) -> Result<Vec<usize>> {
    let n = rows.len();
    let work = |row: usize| (rows.entry(row) as u128) + (row as u128) * (ROW as u128);
    let total = work(n);
    let mut cuts = alloc::with_capacity(WHAT, parts + 1)?;
    cuts.push(0);
    for part in 1..parts {
        let goal = total * part as u128 / parts as u128;
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = low + (high - low) / 2;
            if work(middle) < goal { low = middle + 1 } else { high = middle }
        }
        // Cut before or after the row that contains the goal, whichever is better balanced. Every part keeps a row.
        if low > 0 && goal - work(low - 1) < work(low) - goal {
            low -= 1;
        }
        cuts.push(low.clamp(cuts[part - 1] + 1, n - (parts - part)));
    }
    cuts.push(n);
    Ok(cuts)
}

/// The values of a matrix on the host; values on a device are copied.
fn values(a: &Matrix, csr: &Csr) -> Result<Option<Values>> {
    Ok(match &csr.parts().values {
        None => None,
        Some(Memory::Host(_)) => Some(Values::InPlace),
        Some(Memory::Device(device)) => {
            let gpu = a.context().gpu("a")?;
            let bytes = product(WHAT, csr.nnz(), a.dtype().size())?;
            let mut own = HostMemory::allocate(WHAT, bytes, a.context().host_budget())?;
            gpu.download(gpu.default_stream(), device, 0, own.as_mut_slice::<u8>()?)?;
            Some(Values::Copy(own))
        }
    })
}

/// Where values are on the host.
enum Values {
    /// In the matrix's own host memory.
    InPlace,
    Copy(HostMemory),
}

/// The part and the local index of each row of the matrix.
struct RowOwners {
    /// The part that has the row.
    part: Vec<u16>,
    /// The row's index in that part.
    row: Vec<u32>,
}

impl RowOwners {
    fn new(parts: &[Vec<Range<usize>>], n: usize) -> Result<Self> {
        let mut places = Self { part: alloc::filled(WHAT, n, 0u16)?, row: alloc::filled(WHAT, n, 0u32)? };
        for (part, ranges) in (0u16..).zip(parts) {
            for (own, row) in (0u32..).zip(ranges.iter().flat_map(Clone::clone)) {
                (places.part[row], places.row[row]) = (part, own);
            }
        }
        Ok(places)
    }

    /// The halo of part `part` with rows `own`: columns of other parts that these rows have entries in, part by part,
    /// ascending in each. `marks` is false everywhere before and after.
    fn halo(&self, rows: &Rows<'_>, part: u16, own: &[Range<usize>], marks: &mut [bool]) -> Result<Vec<u32>> {
        let mut count = 0usize;
        for k in own.iter().flat_map(|r| rows.entry(r.start)..rows.entry(r.end)) {
            let col = rows.col(k);
            if self.part[col] != part && !marks[col] {
                marks[col] = true;
                count += 1;
            }
        }
        let mut found = alloc::with_capacity(WHAT, count)?;
        for (col, mark) in (0u32..).zip(marks.iter_mut()).filter(|(_, mark)| **mark) {
            *mark = false;
            found.push(col);
        }
        found.sort_by_key(|&col| self.part[col as usize]);
        Ok(found)
    }
}

/// The column indices of the block of part `part`, which has `length` rows. `halo` maps columns of the matrix to
/// indices in the halo.
fn columns<I: Index>(
    context: &Context,
    rows: &Rows<'_>,
    (part, own, length): (u16, &[Range<usize>], usize),
    (places, halo): (&RowOwners, &[u32]),
    nnz: usize,
) -> Result<HostMemory> {
    let bytes = product(WHAT, nnz, size_of::<I>())?;
    let mut memory = HostMemory::allocate(WHAT, bytes, context.host_budget())?;
    let mut left = &mut memory.as_mut_slice::<I>()?[..nnz];
    for range in own {
        let entries = rows.entry(range.start)..rows.entry(range.end);
        let (out, rest) = left.split_at_mut(entries.len());
        left = rest;
        context.pool().run(|| {
            out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
                for (k, out) in (entries.start + piece * PIECE..).zip(out) {
                    let col = rows.col(k);
                    let is_own = places.part[col] == part;
                    let place = if is_own { places.row[col] as usize } else { length + halo[col] as usize };
                    *out = I::from_usize(place);
                }
            });
        });
    }
    Ok(memory)
}

/// The rows of a part as a matrix of `context`.
fn block(
    context: &Arc<Context>,
    (a, csr, held): (&Matrix, &Csr, Option<&[u8]>),
    (part, own): (u16, &[Range<usize>]),
    (halo, places, of_halo): (&[u32], &RowOwners, &mut [u32]),
) -> Result<Matrix> {
    let rows = Rows::new(csr)?;
    let length: usize = own.iter().map(Range::len).sum();
    let nnz: usize = own.iter().map(|r| rows.entry(r.end) - rows.entry(r.start)).sum();
    for (place, &col) in (0u32..).zip(halo) {
        of_halo[col as usize] = place;
    }
    let cols = length + halo.len();
    let budget = context.host_budget();
    let mut row_ptr = HostMemory::allocate(WHAT, product(WHAT, length + 1, size_of::<i64>())?, budget)?;
    let mut end = 0;
    let (first, others) = row_ptr.as_mut_slice::<i64>()?.split_at_mut(1);
    first[0] = 0;
    for (out, row) in others.iter_mut().zip(own.iter().flat_map(Clone::clone)) {
        end += rows.row(row).len();
        *out = i64::from_usize(end);
    }
    let (which, at) = ((part, own, length), (places, &*of_halo));
    let (col_idx, col_idx_type) = if i32::try_from(cols).is_ok() {
        (columns::<i32>(context, &rows, which, at, nnz)?, IndexType::I32)
    } else {
        (columns::<i64>(context, &rows, which, at, nnz)?, IndexType::I64)
    };
    let values = match held {
        None => None,
        Some(held) => {
            let size = a.dtype().size();
            let mut copy = HostMemory::allocate(WHAT, product(WHAT, nnz, size)?, budget)?;
            let mut at = 0;
            for range in own {
                let from = &held[rows.entry(range.start) * size..rows.entry(range.end) * size];
                copy.as_mut_slice::<u8>()?[at..at + from.len()].copy_from_slice(from);
                at += from.len();
            }
            Some(Memory::Host(copy))
        }
    };
    let parts = CsrParts { row_ptr, row_ptr_type: IndexType::I64, col_idx, col_idx_type, values };
    let csr = Csr::new(parts, length, cols, nnz, 0)?;
    Ok(Matrix::from_csr(context, a.dtype(), csr, true))
}

impl Partition {
    /// Partitions the rows of a square sparse matrix into parts of equal work, O(nnz + contexts * rows). Parts are of
    /// consecutive rows and cut by their entries, where a row counts for 16 more. If one part would still have a fifth
    /// more rows or entries than the mean, each part gets about 16 pieces from all over the matrix. This happens for
    /// power-law graphs whose hubs come first. If there are more contexts than rows, the last contexts get no part.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for another storage and 2^32 rows and more; [`Error::OutOfMemory`].
    pub fn new(contexts: &[Arc<Context>], a: &Matrix) -> Result<Self> {
        let csr = crate::spmv::tiles::csr(a)?;
        let rows = Rows::new(csr)?;
        let n = a.rows();
        if u32::try_from(n).is_err() {
            let problem = format!("a: has {n} rows, several contexts share up to {}", u32::MAX);
            return Err(Error::NotSupported(problem));
        }
        // Rows of all parts, marks and the places in a halo.
        let _charge = contexts[0].host_budget().charge_host(WHAT, n.saturating_mul(11))?;
        let parts = shared_out(&rows, contexts.len())?;
        let places = RowOwners::new(&parts, n)?;
        let copied = values(a, csr)?;
        let held = match (&copied, &csr.parts().values) {
            (Some(Values::Copy(own)), _) => Some(own.as_slice::<u8>()?),
            (Some(Values::InPlace), Some(there)) => Some(there.host("a")?.as_slice::<u8>()?),
            _ => None,
        };
        let mut marks = alloc::filled(WHAT, n, false)?;
        let mut of_halo = alloc::filled(WHAT, n, 0u32)?;
        let mut blocks: Vec<Block> = alloc::with_capacity(WHAT, parts.len())?;
        for ((part, own), context) in (0u16..).zip(parts).zip(contexts) {
            let halo = places.halo(&rows, part, &own, &mut marks)?;
            let matrix = block(context, (a, csr, held), (part, &own), (&halo, &places, &mut of_halo))?;
            blocks.push(Block { rows: own, matrix, halo, sends: Vec::new() });
        }
        let transfers = connect(&mut blocks, &places)?;
        let mut members = alloc::with_capacity(WHAT, contexts.len())?;
        members.extend(contexts.iter().cloned());
        Ok(Self { contexts: members, blocks, transfers, order: n, has_values: held.is_some() })
    }

    /// The partition, which the matrix keeps for later calls if its values are known not to change. A cached one is used
    /// again if it was made for the same contexts and the same version of the values.
    ///
    /// # Errors
    /// As [`Partition::new`].
    pub fn cached(contexts: &[Arc<Context>], a: &Matrix) -> Result<Arc<Self>> {
        let csr = crate::spmv::tiles::csr(a)?;
        let fits = |cached: &Self| {
            cached.contexts.len() == contexts.len()
                && cached.contexts.iter().zip(contexts).all(|(k, c)| Arc::ptr_eq(k, c))
        };
        let (version, is_owned) = (csr.version(), a.owns_values());
        if let Some((made_of, found)) = csr.cache().find(fits)
            && (!found.has_values || (is_owned && made_of == version))
        {
            return Ok(found);
        }
        let made = Arc::new(Self::new(contexts, a)?);
        if made.is_kept_by(a) {
            csr.cache().put(version, &made, fits)?;
        }
        Ok(made)
    }

    /// Whether the matrix keeps the partition: its values are known not to change, or it has none.
    pub(super) fn is_kept_by(&self, a: &Matrix) -> bool {
        a.owns_values() || !self.has_values
    }

    /// The parts, in the order of their rows.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The copies between parts that a product needs.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Rows of the whole matrix, which is square.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Sizes of the parts, for vectors of type `dtype`.
    pub fn shares(&self, dtype: DType) -> Shares {
        let most = |of: &dyn Fn(&Block) -> usize| self.blocks.iter().map(of).max().unwrap_or(0);
        let halo: usize = self.blocks.iter().map(|b| b.halo.len()).sum();
        let (number, value) = (dtype.size(), if self.has_values { dtype.size() } else { 0 });
        let bytes = |b: &Block| {
            let matrix = b.entries() * (4 + value) + b.len() * (8 + number);
            // x is read and written to the gather buffer, and read from there; the entries that others need are packed
            // from there.
            let vector = 3 * b.len() * number;
            matrix + vector + b.sends.len() * (4 + 2 * number) + 2 * b.halo.len() * number
        };
        Shares {
            contexts: self.blocks.len(),
            rows: most(&Block::len),
            entries: most(&Block::entries),
            halo,
            halo_bytes: halo * number,
            product_bytes: most(&bytes),
        }
    }
}

/// Fills [`Block::sends`] of each block and returns the copies between parts. Relies on halos being in the order of the
/// parts.
fn connect(blocks: &mut [Block], places: &RowOwners) -> Result<Vec<Transfer>> {
    let mut transfers = Vec::new();
    for source in 0..blocks.len() {
        let mut sends = Vec::new();
        for (target, block) in blocks.iter().enumerate() {
            let of = |col: &u32| usize::from(places.part[*col as usize]);
            let begin = block.halo.partition_point(|col| of(col) < source);
            let end = block.halo.partition_point(|col| of(col) <= source);
            if begin == end {
                continue;
            }
            let from = sends.len();
            for &col in &block.halo[begin..end] {
                alloc::push(WHAT, &mut sends, places.row[col as usize])?;
            }
            let at = block.len() + begin;
            alloc::push(WHAT, &mut transfers, Transfer { source, from, target, at, count: end - begin })?;
        }
        blocks[source].sends = sends;
    }
    Ok(transfers)
}
