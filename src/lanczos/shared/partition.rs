//! The rows of a sparse matrix, shared out over contexts, and what each needs of the others' vectors.

use std::ops::Range;
use std::sync::Arc;

use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::memory::{HostMemory, Memory};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::sparse::{Index, Rows};
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Storage};
use crate::scalar::DType;
use crate::shape::product;

const WHAT: &str = "rows of several contexts";

/// Entries that a row is worth beside its own: a step reads three times half of some thirty vectors of 8 bytes, about 360
/// bytes, and an entry takes an index, a value and what it gathers, 12 to 44 bytes.
const ROW: usize = 16;

/// Pieces that a part is made of where consecutive rows would leave it out of balance.
const DEALT: usize = 16;

/// Fewest rows of such a piece.
const LEAST: usize = 64;

/// Entries whose columns a thread renumbers at a time.
const PIECE: usize = 1 << 14;

/// What one part sends to another: `count` numbers from its packed ones at `from` to what `to` gathers from, at `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// Part that sends.
    pub source: usize,
    /// First of its packed numbers.
    pub from: usize,
    /// Part that receives.
    pub target: usize,
    /// Where they go among those that it gathers.
    pub at: usize,
    /// How many.
    pub count: usize,
}

/// Rows of one context.
pub struct Block {
    /// Which rows, ascending.
    pub rows: Vec<Range<usize>>,
    /// The rows, with the order and the values of their entries in the matrix: the columns of the same rows come first,
    /// then the halo, the columns of other parts that have entries here.
    pub matrix: Matrix,
    /// The halo, by columns of the matrix: part by part, ascending.
    pub halo: Vec<u32>,
    /// Rows of this part that others gather, counted from its first, by the parts that they go to.
    pub sends: Vec<u32>,
}

impl Block {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.matrix.rows()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers that products gather from.
    pub fn gathered(&self) -> usize {
        self.matrix.cols()
    }

    /// Copies the numbers of these rows from those of all.
    pub fn take<T: Copy>(&self, all: &[T], own: &mut [T]) {
        let mut at = 0;
        for rows in &self.rows {
            own[at..at + rows.len()].copy_from_slice(&all[rows.clone()]);
            at += rows.len();
        }
    }

    /// Copies the numbers of these rows to their places among those of all.
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

/// A square sparse matrix in rows of several contexts.
pub struct Partition {
    contexts: Vec<Arc<Context>>,
    blocks: Vec<Block>,
    transfers: Vec<Transfer>,
    order: usize,
    has_values: bool,
}

/// What parts have, and what a product costs them. The fields are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shares {
    /// Contexts that have rows.
    pub contexts: usize,
    /// Most rows of one.
    pub rows: usize,
    /// Most entries of one.
    pub entries: usize,
    /// Numbers that go from one to another in a product, all together.
    pub halo: usize,
    /// Bytes of them.
    pub halo_bytes: usize,
    /// Most bytes that one reads and writes in a product, if each number that is gathered is read once: indices and values
    /// of its entries, offsets and results of its rows, the vector and the halo, which is packed, copied and read.
    pub product_bytes: usize,
}

/// The rows of each part, of as many parts as there are contexts and rows, none empty: consecutive ones, of as much work
/// each as whole rows allow, where rows and entries are then in balance; else pieces that are dealt out.
fn shared_out(rows: &Rows<'_>, parts: usize) -> Result<Vec<Vec<Range<usize>>>> {
    let n = rows.len();
    let parts = parts.min(n);
    let cuts = cuts(rows, parts)?;
    // A fifth more than the mean, or what the longest row makes unavoidable.
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

/// Deals out pieces of as many rows, those with the most entries first, each to the part that has the fewest entries of
/// those that have not an eighth more pieces than the mean.
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

/// Where consecutive rows are cut.
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
        // The row that the goal lies in goes where less is out of balance; every part keeps a row.
        if low > 0 && goal - work(low - 1) < work(low) - goal {
            low -= 1;
        }
        cuts.push(low.clamp(cuts[part - 1] + 1, n - (parts - part)));
    }
    cuts.push(n);
    Ok(cuts)
}

/// The values of a matrix as bytes on the host.
fn values(a: &Matrix, csr: &Csr) -> Result<Option<Values>> {
    Ok(match &csr.parts().values {
        None => None,
        Some(Memory::Host(_)) => Some(Values::There),
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
    /// In the matrix.
    There,
    Copy(HostMemory),
}

/// Where each row of the matrix is.
struct Places {
    /// Its part.
    part: Vec<u16>,
    /// Its number there.
    row: Vec<u32>,
}

impl Places {
    fn new(parts: &[Vec<Range<usize>>], n: usize) -> Result<Self> {
        let mut places = Self { part: alloc::filled(WHAT, n, 0u16)?, row: alloc::filled(WHAT, n, 0u32)? };
        for (part, ranges) in (0u16..).zip(parts) {
            for (own, row) in (0u32..).zip(ranges.iter().flat_map(Clone::clone)) {
                (places.part[row], places.row[row]) = (part, own);
            }
        }
        Ok(places)
    }

    /// The columns of other parts that `own` rows of part `part` have entries in: part by part, ascending; `marks` is false
    /// everywhere, before and after.
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

/// Columns of the block of part `part`, which has `length` rows: `halo` has the places of those of the halo.
fn columns<I: Index>(
    context: &Context,
    rows: &Rows<'_>,
    (part, own, length): (u16, &[Range<usize>], usize),
    (places, halo): (&Places, &[u32]),
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
    (halo, places, of_halo): (&[u32], &Places, &mut [u32]),
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
    /// Shares the rows of a square sparse matrix out to parts of as much work, O(nnz + contexts * rows). Parts are of
    /// consecutive rows, cut where they have as many entries, of which a row counts for 16 more. Where one would still have
    /// a fifth more rows or entries than the mean, as of power-law graphs whose hubs come first, each has 16 pieces from
    /// all over the matrix. Contexts that no row is left for have none.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for another storage and 2^32 rows and more; [`Error::OutOfMemory`].
    pub fn new(contexts: &[Arc<Context>], a: &Matrix) -> Result<Self> {
        let csr = crate::spmv::plan::csr(a)?;
        let rows = Rows::new(csr)?;
        let n = a.rows();
        if u32::try_from(n).is_err() {
            let problem = format!("a: has {n} rows, several contexts share up to {}", u32::MAX);
            return Err(Error::NotSupported(problem));
        }
        // Rows of all parts, marks and the places in a halo.
        let _charge = contexts[0].host_budget().charge_host(WHAT, n.saturating_mul(11))?;
        let parts = shared_out(&rows, contexts.len())?;
        let places = Places::new(&parts, n)?;
        let copied = values(a, csr)?;
        let held = match (&copied, &csr.parts().values) {
            (Some(Values::Copy(own)), _) => Some(own.as_slice::<u8>()?),
            (Some(Values::There), Some(there)) => Some(there.host("a")?.as_slice::<u8>()?),
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
        let mut kept = alloc::with_capacity(WHAT, contexts.len())?;
        kept.extend(contexts.iter().cloned());
        Ok(Self { contexts: kept, blocks, transfers, order: n, has_values: held.is_some() })
    }

    /// A partition that stays with the matrix for later calls, where its values are known to be those of the matrix.
    ///
    /// # Errors
    /// As [`Partition::new`].
    pub fn kept(contexts: &[Arc<Context>], a: &Matrix) -> Result<Arc<Self>> {
        let csr = crate::spmv::plan::csr(a)?;
        let fits = |kept: &Self| {
            kept.contexts.len() == contexts.len() && kept.contexts.iter().zip(contexts).all(|(k, c)| Arc::ptr_eq(k, c))
        };
        let (version, is_settled) = (csr.version(), a.is_settled());
        if let Some((made_of, found)) = csr.kept().find(fits)
            && (!found.has_values || (is_settled && made_of == version))
        {
            return Ok(found);
        }
        let made = Arc::new(Self::new(contexts, a)?);
        if is_settled || !made.has_values {
            csr.kept().put(version, &made, fits)?;
        }
        Ok(made)
    }

    /// The parts, in the order of their rows.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// What parts send to each other for a product.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Rows of the matrix.
    pub fn order(&self) -> usize {
        self.order
    }

    /// What parts have, with numbers of type `dtype`.
    pub fn shares(&self, dtype: DType) -> Shares {
        let most = |of: &dyn Fn(&Block) -> usize| self.blocks.iter().map(of).max().unwrap_or(0);
        let halo: usize = self.blocks.iter().map(|b| b.halo.len()).sum();
        let (number, value) = (dtype.size(), if self.has_values { dtype.size() } else { 0 });
        let bytes = |b: &Block| {
            let matrix = b.entries() * (4 + value) + b.len() * (8 + number);
            // x is copied to where products gather from; what others need is picked from there.
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

/// Finds what each part sends, and where it goes: halos are in the order of the parts.
fn connect(blocks: &mut [Block], places: &Places) -> Result<Vec<Transfer>> {
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
