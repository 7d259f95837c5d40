//! The cut of the matrix into panels, groups of blocks, and blocks, and the location of X and Y. The cut determines the last
//! bits of results. Therefore it depends on sizes and on the memory limit, and never on the number of threads.

use crate::shape::to_u64;

/// Bytes of a block that fits a second-level cache together with its results.
const BLOCK_BYTES: usize = 1 << 18;
/// Smallest and largest number of rows of a block.
const BLOCK_ROWS: (usize, usize) = (32, 1024);
/// Rows of the smallest block where memory is short.
const LEAST_ROWS: usize = 8;
/// Largest number of groups. Each group has its own product.
const GROUPS: usize = 32;
/// Limits of the bytes of all groups' products: the bytes that are allowed for any matrix, and the upper bound for large
/// ones. In between the limit is half of the bytes of X and Y.
const PRODUCTS_BYTES: (usize, usize) = (1 << 26, 1 << 30);
/// Bytes of a panel that is read or written at once.
const PANEL_BYTES: usize = 1 << 25;
/// Bytes of a piece of the results in memory that a sink takes at once.
const PIECE_BYTES: usize = 1 << 22;

/// The input of a cut: sizes and location of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutInput {
    /// Rows m and columns n of the matrix.
    pub size: (usize, usize),
    /// Bytes of a number of X and Y.
    pub element: usize,
    /// Whether matrix and mask are in memory.
    pub is_held: bool,
    /// The caller's rows of a panel, 0 to choose.
    pub block_rows: usize,
}

/// How rows are divided into panels, groups and blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Rows of a block, which a thread processes at once.
    pub block: usize,
    /// Rows of a panel: a multiple of `block`, or all rows.
    pub panel: usize,
    /// Groups of a panel, whose sums are separate.
    pub groups: usize,
    /// Whether X and Y are in memory.
    pub in_memory: bool,
}

impl CutInput {
    fn row(&self) -> usize {
        self.size.1.saturating_mul(self.element).max(1)
    }

    /// Bytes of X and Y.
    pub fn arrays(&self) -> usize {
        self.row().saturating_mul(self.size.0).saturating_mul(2)
    }

    fn panel(&self, block: usize, in_memory: bool) -> usize {
        let m = self.size.0.max(1);
        if self.is_held && in_memory {
            return m;
        }
        let rows = if self.block_rows > 0 { self.block_rows } else { PANEL_BYTES / self.row() };
        rows.clamp(1, m).next_multiple_of(block)
    }

    /// The cut without a limit of memory.
    pub fn cut(&self, in_memory: bool) -> Cut {
        let n = self.size.1;
        let mut block = (BLOCK_BYTES / self.row()).clamp(BLOCK_ROWS.0, BLOCK_ROWS.1) / 8 * 8;
        if self.block_rows > 0 {
            block = block.min(self.block_rows.next_multiple_of(8));
        }
        let products = (self.arrays() / 2).clamp(PRODUCTS_BYTES.0, PRODUCTS_BYTES.1);
        let groups = (products / n.saturating_mul(n).saturating_mul(8).max(1)).clamp(1, GROUPS);
        Cut { block, panel: self.panel(block, in_memory), groups, in_memory }
    }

    /// The next smaller cut; `None` after the smallest.
    pub fn smaller(&self, cut: Cut) -> Option<Cut> {
        let n = self.size.1;
        let is_fixed = self.block_rows > 0 || (self.is_held && cut.in_memory);
        let may_shrink = !is_fixed && cut.panel > cut.block;
        let panels = cut.panel.saturating_mul(self.row());
        let products = n.saturating_mul(n).saturating_mul(8);
        let groups = cut.groups.saturating_mul(products.saturating_add(cut.block.saturating_mul(self.row())));
        if may_shrink && (panels >= groups || cut.groups == 1) {
            return Some(Cut { panel: (cut.panel / 2).next_multiple_of(cut.block), ..cut });
        }
        if cut.groups > 1 {
            return Some(Cut { groups: cut.groups / 2, ..cut });
        }
        if cut.block <= LEAST_ROWS {
            return None;
        }
        let block = (cut.block / 16 * 8).max(LEAST_ROWS);
        let panel = if is_fixed { self.panel(block, cut.in_memory) } else { block };
        Some(Cut { block, panel, ..cut })
    }
}

impl Cut {
    /// Rows of a panel of `m` rows, and the number of panels.
    pub fn panels(&self, m: usize) -> (u64, u64) {
        let rows = self.panel.min(m);
        (to_u64(rows), to_u64(m.div_ceil(rows.max(1))))
    }

    /// Rows of a piece of the results that is delivered at once: whole blocks.
    pub fn delivered_rows(&self, sheet: &CutInput) -> usize {
        let bytes = if self.in_memory { PIECE_BYTES } else { PANEL_BYTES };
        self.panel.min((bytes / sheet.row()).max(1).next_multiple_of(self.block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_become_smaller_down_to_one_group_of_a_small_block() {
        for (size, element, is_held, block_rows) in [
            ((2_000_000, 1000), 4, false, 0),
            ((300, 200), 8, false, 70),
            ((300, 200), 8, true, 0),
            ((5, 3), 16, true, 0),
            ((40_000, 30_000), 8, false, 0),
            ((1, 1), 4, false, 0),
        ] {
            let sheet = CutInput { size, element, is_held, block_rows };
            for in_memory in [true, false] {
                let mut cut = sheet.cut(in_memory);
                for steps in 0.. {
                    assert!(steps < 80, "{sheet:?} {cut:?}");
                    let is_whole = is_held && in_memory;
                    assert!(is_whole || cut.panel.is_multiple_of(cut.block), "{sheet:?} {cut:?}");
                    assert!(cut.delivered_rows(&sheet) <= cut.panel);
                    let Some(next) = sheet.smaller(cut) else { break };
                    let size = |c: Cut| (c.block, c.panel, c.groups);
                    assert!(size(next) < size(cut) && next.in_memory == in_memory, "{sheet:?} {cut:?} {next:?}");
                    cut = next;
                }
                assert_eq!((cut.groups, cut.block), (1, LEAST_ROWS), "{sheet:?}");
            }
        }
    }
}
