//! The cut of one device's rows: which rows stay on the device, which are copied in every pass, and the rows of a block.

use crate::error::{Error, Result};
use crate::rsvd::data::Resident;
use crate::shape::to_u64;

/// Where the entries are before a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Memory of this device: nothing is copied.
    Device,
    /// Host memory or a source.
    Host,
}

/// Subject of the error for a plan that does not fit device memory. The run has not begun, so another method can be tried.
pub const NO_CUT: &str = "blocks of a matrix";

/// As [`NO_CUT`], for page-locked host memory.
pub const NO_HOST: &str = "page-locked blocks of a matrix";

/// The input of a cut: sizes, memory and the caller's options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) origin: Origin,
    /// Bytes of an entry of the data.
    pub(super) entry: usize,
    /// Bytes of an element of the type of computation.
    pub(super) element: usize,
    /// Whether blocks are converted into separate memory before they are used. False if they are used unchanged or
    /// converted in place.
    pub(super) apart: bool,
    /// Columns that tall matrices have together.
    pub(super) tall_columns: usize,
    /// Columns of the products of a block that exist beside tall matrices.
    pub(super) product_columns: usize,
    /// Columns of the products of a block before there is a tall matrix.
    pub(super) merged_columns: usize,
    /// Whether tall matrices have to be on the device, as those of data that are not read in blocks.
    pub(super) needs_tall: bool,
    /// Bytes of everything whose size does not depend on the rows of a block.
    pub(super) fixed: u64,
    /// Bytes that may be used.
    pub(super) available: u64,
    /// The context's limit, for messages.
    pub(super) limit: Option<u64>,
    /// Rows of a block, 0 to choose.
    pub(super) block_rows: usize,
    pub(super) resident: Resident,
}

/// How a device's rows are divided, and the memory that this takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cut {
    /// Rows of a block that is read in every pass; 0 if there is none.
    pub(super) block: usize,
    /// Number of resident rows: the leading rows of the share, which stay on the device after the first pass.
    pub(super) resident: usize,
    /// Rows of a block of resident rows.
    pub(super) resident_block: usize,
    /// Number of buffers that blocks are copied to.
    pub(super) slots: usize,
    /// Whether tall matrices are on the device.
    pub(super) tall_on_device: bool,
    /// Bytes of device memory for buffers and resident rows.
    pub(super) bytes: u64,
}

impl Cut {
    /// Blocks of `rows` rows: those of resident rows, and those that are copied in every pass.
    pub(super) fn blocks(&self, rows: usize) -> usize {
        let copied = rows.saturating_sub(self.resident);
        spans(0, self.resident, self.resident_block).count() + spans(self.resident, copied, self.block).count()
    }
}

/// Bytes of a block that are enough to keep the link busy.
const BLOCK_BYTES: usize = 128 << 20;
/// Most bytes of a block, unless it has too few rows.
const MOST_BLOCK_BYTES: usize = 256 << 20;
/// Rows of a block below which products are slow.
const FEW_ROWS: usize = 2048;
/// Rows of a block above which products are not faster.
const MANY_ROWS: usize = 16_384;
/// Bytes of a block of resident rows that are copied in the first pass, where work overlaps with copies.
const RESIDENT_BYTES: usize = 512 << 20;
/// Bytes of a block of data that lie on the device. Longer products are faster, and cancellation is checked between them.
const THERE_BYTES: usize = 8 << 30;
/// Buffers of the ring: for blocks that are being copied or used.
const SLOTS: usize = 3;

/// The sum of `bytes`, `u64::MAX` if it is larger.
fn total(bytes: &[u64]) -> u64 {
    bytes.iter().fold(0, |sum, b| sum.saturating_add(*b))
}

impl Task {
    fn row(&self) -> usize {
        self.columns * self.entry
    }

    /// Device memory of `slots` buffers for blocks of `block` rows, and of one converted block where `apart`.
    fn ring(&self, block: usize, slots: usize) -> u64 {
        let apart = if self.apart { self.columns * self.element } else { 0 };
        to_u64(block) * to_u64(slots * self.row() + apart)
    }

    /// Bytes of `columns` columns of a block.
    fn columns_of(&self, block: usize, columns: usize) -> u64 {
        to_u64(block).saturating_mul(to_u64(columns.saturating_mul(self.element)))
    }

    /// Bytes of a block's products, which have as many rows as the block, and of the buffers for tall matrices in host
    /// memory. `block` is the largest number of rows that is tried, and blocks of about the same size may have fewer. At
    /// least `least` times the bytes of such a block of the tall matrices.
    fn products(&self, block: usize, least: usize, tall_on_device: bool) -> u64 {
        let own = self.even(self.rows, block);
        let (tall, buffers) = if tall_on_device { (self.tall(), 0) } else { (0, self.tall_columns) };
        self.columns_of(own, self.product_columns.saturating_add(buffers))
            .max(self.columns_of(block, self.tall_columns.saturating_mul(least)))
            .max(self.columns_of(own, self.merged_columns).saturating_sub(tall))
    }

    fn tall(&self) -> u64 {
        self.columns_of(self.rows, self.tall_columns)
    }

    /// Rows of a block if memory suffices.
    fn preferred(&self) -> usize {
        let row = self.row().max(1);
        let by_bytes = (BLOCK_BYTES / row).max(FEW_ROWS.min(MOST_BLOCK_BYTES / row)).max(1);
        let wanted = if self.block_rows > 0 { self.block_rows } else { by_bytes };
        wanted.clamp(1, self.rows.max(1))
    }

    fn preferred_resident(&self, bytes: usize) -> usize {
        if self.block_rows > 0 {
            return self.preferred();
        }
        (bytes / self.row().max(1)).max(MANY_ROWS).clamp(1, self.rows.max(1))
    }

    fn most_resident(&self) -> usize {
        match self.resident {
            Resident::Auto => self.rows,
            Resident::AtMost(rows) => rows.min(self.rows),
        }
    }

    /// The cut that keeps most on the device.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`] if even blocks of one row do not fit.
    pub(super) fn cut(&self) -> Result<Cut> {
        match self.origin {
            Origin::Device => self.cut_there(),
            Origin::Host => self.cut_in_core().map_or_else(|| self.cut_streamed(), Ok),
        }
    }

    /// The cut with all rows resident; `None` if they do not fit or the caller allows fewer.
    fn cut_in_core(&self) -> Option<Cut> {
        if self.most_resident() < self.rows {
            return None;
        }
        let (mut block, slots) = (self.preferred_resident(RESIDENT_BYTES), if self.apart { 1 } else { 0 });
        loop {
            let own = to_u64(self.rows) * to_u64(self.row());
            let needed = total(&[self.fixed, self.tall(), own, self.ring(block, 0), self.products(block, 1, true)]);
            if needed <= self.available {
                let block = self.even(self.rows, block);
                let tall_on_device = true;
                return Some(Cut {
                    block: 0,
                    resident: self.rows,
                    resident_block: block,
                    slots,
                    tall_on_device,
                    bytes: needed,
                });
            }
            if block <= FEW_ROWS || self.block_rows > 0 {
                return None;
            }
            block = (block / 2).max(FEW_ROWS);
        }
    }

    /// The cut of data on the device, which are used in the caller's memory.
    fn cut_there(&self) -> Result<Cut> {
        // Products of data that are not read in blocks are counted in `fixed`, where they are as long as the data.
        let least = if self.needs_tall { 0 } else { 1 };
        for tall_on_device in [true, false].into_iter().filter(|on_device| *on_device || !self.needs_tall) {
            let tall = if tall_on_device { self.tall() } else { 0 };
            let mut block = if self.apart { self.preferred() } else { self.preferred_resident(THERE_BYTES) };
            loop {
                let products = self.products(block, least, tall_on_device);
                let needed = total(&[self.fixed, tall, self.ring(block, 0), products]);
                if needed <= self.available {
                    let resident_block = self.even(self.rows, block);
                    return Ok(Cut {
                        block: 0,
                        resident: self.rows,
                        resident_block,
                        slots: 0,
                        tall_on_device,
                        bytes: needed,
                    });
                }
                if block <= if tall_on_device { FEW_ROWS } else { 1 } {
                    break;
                }
                block = block.div_ceil(2);
            }
        }
        let (tall, block) = if self.needs_tall { (self.tall(), FEW_ROWS.min(self.rows)) } else { (0, 1) };
        let products = self.products(block, least, self.needs_tall);
        Err(self.refused(total(&[self.fixed, tall, self.ring(1, 0), products])))
    }

    fn cut_streamed(&self) -> Result<Cut> {
        for tall_on_device in [true, false] {
            let tall = if tall_on_device { self.tall() } else { 0 };
            let least = if tall_on_device { FEW_ROWS / 8 } else { 1 };
            let mut block = self.preferred();
            loop {
                let products = self.products(block, 2, tall_on_device);
                let needed = total(&[self.fixed, tall, self.ring(block, SLOTS), products]);
                if needed <= self.available {
                    let spare =
                        usize::try_from((self.available - needed) / to_u64(self.row().max(1))).unwrap_or(usize::MAX);
                    let resident = self.whole(spare.min(self.most_resident()), block);
                    let bytes = needed + to_u64(resident) * to_u64(self.row());
                    // Blocks of resident rows are no longer than copied blocks, so the buffers suffice for both.
                    let resident_block = self.even(resident, block);
                    let block = self.even(self.rows - resident, block);
                    return Ok(Cut { block, resident, resident_block, slots: SLOTS, tall_on_device, bytes });
                }
                if block <= least {
                    break;
                }
                block = block.div_ceil(2).max(least);
            }
        }
        Err(self.refused(total(&[self.fixed, self.ring(1, SLOTS), self.products(1, 2, false)])))
    }

    /// Rows of a block, at most `most`, for `rows` rows. Blocks have about the same size, unless the caller chose it.
    fn even(&self, rows: usize, most: usize) -> usize {
        match rows {
            0 => 0,
            rows if self.block_rows > 0 => most.min(rows),
            rows => rows.div_ceil(rows.div_ceil(most.max(1))),
        }
    }

    /// `rows`, rounded down to whole blocks if the caller chose their rows. Blocks are then the same for any number of
    /// resident rows.
    fn whole(&self, rows: usize, block: usize) -> usize {
        if self.block_rows > 0 && rows < self.rows { rows / block.max(1) * block } else { rows }
    }

    fn refused(&self, bytes: u64) -> Error {
        Error::OutOfDeviceMemory { what: NO_CUT, bytes, limit: self.limit.or(Some(self.available)) }
    }
}

/// Rows `first .. first + rows` of a device's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) rows: usize,
}

/// The blocks of some rows.
pub(super) fn spans(first: usize, rows: usize, block: usize) -> impl DoubleEndedIterator<Item = Span> + Clone {
    let count = if rows == 0 { 0 } else { rows.div_ceil(block.max(1)) };
    (0..count).map(move |k| Span { first: first + k * block, rows: block.min(rows - k * block) })
}

#[cfg(test)]
mod tests {
    use super::super::feed::read_buffers;
    use super::*;

    const GIB: u64 = 1 << 30;

    fn task(rows: usize, columns: usize, available: u64) -> Task {
        Task {
            rows,
            columns,
            origin: Origin::Host,
            entry: 8,
            element: 8,
            apart: false,
            tall_columns: 128,
            product_columns: 128,
            merged_columns: 0,
            needs_tall: false,
            fixed: 64 << 20,
            available,
            limit: None,
            block_rows: 0,
            resident: Resident::Auto,
        }
    }

    #[test]
    fn what_fits_stays_and_the_rest_comes_in_large_blocks() {
        let small = task(100_000, 4000, 16 * GIB).cut().unwrap();
        assert_eq!((small.resident, small.block, small.slots), (100_000, 0, 0));
        // 69 GB of data and 4.3 GB of one tall matrix within 16 GiB.
        let t = task(4_194_304, 2048, 16 * GIB);
        let large = t.cut().unwrap();
        assert!(large.tall_on_device && large.bytes <= 16 * GIB, "{large:?}");
        assert!((4096..=16_384).contains(&large.block), "{large:?}");
        // All memory is used up to less than a row.
        assert!(large.bytes + 2048 * 8 * 2 > 16 * GIB, "{large:?}");
        let streamed = 4_194_304 - large.resident;
        assert_eq!(spans(large.resident, streamed, large.block).map(|s| s.rows).sum::<usize>(), streamed);
    }

    #[test]
    fn tall_matrices_go_to_the_host_before_blocks_get_tiny() {
        let t = task(4_194_304, 2048, 2 * GIB);
        let cut = t.cut().unwrap();
        assert!(!cut.tall_on_device && cut.block >= 4096 && cut.bytes <= 2 * GIB, "{cut:?}");
        let none = task(4_194_304, 2048, 64 << 20).cut();
        assert!(matches!(none, Err(Error::OutOfDeviceMemory { .. })));
    }

    /// Data of one block are read into one buffer, whatever the length of the ring.
    #[test]
    fn there_are_no_more_buffers_than_blocks() {
        let buffers = |t: Task| read_buffers(&t.cut().unwrap(), t.rows);
        assert_eq!(buffers(task(20_000, 128, GIB)), 1);
        assert_eq!(buffers(Task { block_rows: 10_000, ..task(20_000, 128, GIB) }), 2);
        assert_eq!(buffers(Task { block_rows: 1000, ..task(20_000, 128, GIB) }), 3);
        assert_eq!(buffers(Task { resident: Resident::AtMost(0), ..task(4_194_304, 2048, 16 * GIB) }), 3);
        // One block stays on the device, and one is copied in every pass.
        let two = Task { block_rows: 999, resident: Resident::AtMost(999), ..task(1000, 30, GIB) };
        assert_eq!(buffers(two), 2);
    }

    /// A fused pass forms A W in memory beside that in which a tall matrix is replaced; products of a block that is merged
    /// are gone before there is one.
    #[test]
    fn products_that_no_tall_matrix_receives_count() {
        let (rows, l) = (300_000, 16);
        let range = Task { tall_columns: l, product_columns: l, fixed: 0, ..task(rows, 128, GIB) };
        let fused = Task { product_columns: 2 * l, ..range };
        let merge = Task { merged_columns: 4 * l, ..range };
        let [range, fused, merge] = [range, fused, merge].map(|task| task.cut().unwrap());
        assert_eq!([range, fused, merge].map(|cut| cut.resident_block), [rows; 3]);
        let column = 8 * to_u64(rows * l);
        assert_eq!((fused.bytes - range.bytes, merge.bytes - range.bytes), (column, 2 * column));
    }

    /// Data that are not read in blocks have no panels in host memory, so a limit that leaves no memory for tall matrices
    /// on the device is refused.
    #[test]
    fn tall_matrices_of_data_without_blocks_stay_on_the_device() {
        let (rows, l) = (100_000, 16);
        let tall = 8 * to_u64(rows * l);
        let task = |available| Task {
            tall_columns: l,
            product_columns: l,
            origin: Origin::Device,
            needs_tall: true,
            fixed: 0,
            ..task(rows, 0, available)
        };
        let ample = task(2 * tall).cut().unwrap();
        assert_eq!((ample.tall_on_device, ample.resident_block, ample.bytes), (true, rows, 2 * tall));
        let tight = task(tall + tall / 4).cut().unwrap();
        assert!(tight.tall_on_device && tight.bytes <= tall + tall / 4, "{tight:?}");
        let refused = task(tall).cut().unwrap_err();
        assert!(matches!(refused, Error::OutOfDeviceMemory { what: NO_CUT, bytes, .. } if bytes > tall), "{refused}");
        assert!(!Task { needs_tall: false, ..task(tall) }.cut().unwrap().tall_on_device);
    }

    #[test]
    fn callers_numbers_are_respected() {
        let t = Task { block_rows: 100, resident: Resident::AtMost(250), ..task(1000, 30, GIB) };
        let cut = t.cut().unwrap();
        assert_eq!((cut.resident, cut.resident_block, cut.block), (200, 100, 100));
        let all: Vec<Span> = spans(0, 200, 100).chain(spans(200, 800, 100)).collect();
        assert_eq!(all.len(), 10);
        assert!(all.windows(2).all(|w| w[0].first + w[0].rows == w[1].first));
        assert_eq!(spans(5, 0, 0).count(), 0);
    }
}
