//! The operands of one device in a pass.

use super::block::Sum;
use super::cut::Span;
use super::site::{ScratchUse, Site};
use super::tall::{Access, Piece};
use crate::backend::gpu::View;
use crate::error::{Error, Result};

/// Factors, results and rows of one device.
pub(super) struct PassOperands<'p> {
    /// Index of the device's first row in the data.
    pub(super) first: usize,
    /// The factor W, on this device.
    pub(super) w: Option<View<'p>>,
    /// The device's rows of a tall matrix, and its number of columns.
    pub(super) piece: Option<(&'p Piece, usize)>,
    /// The sum over the device's blocks.
    pub(super) sum: Option<Sum<'p>>,
    /// Whether a block was added already: the next one adds to the sum instead of replacing it.
    pub(super) adds: bool,
    /// The result is `sum` times 2 to this exponent; `None` for sums that are not scaled.
    pub(super) exponent: Option<i64>,
    /// Bytes of tall matrices that were copied.
    pub(super) moved: u64,
}

impl<'p> PassOperands<'p> {
    pub(super) fn factor(&self) -> Result<View<'p>> {
        self.w.ok_or_else(|| Error::Internal("a product without a factor".into()))
    }

    /// Runs `work` on the rows of the tall matrix that belong to a block.
    pub(super) fn tall(
        &mut self,
        site: &mut Site,
        span: Span,
        access: Access,
        work: impl FnOnce(&mut Self, &mut Site, View<'_>) -> Result<()>,
    ) -> Result<()> {
        let (piece, width) = self.piece.ok_or_else(|| Error::Internal("a pass without a tall matrix".into()))?;
        let mut moved = 0;
        piece
            .with(site, (ScratchUse::Panel, access), span, (width, width), &mut moved, |site, p| work(self, site, p))?;
        self.moved += moved;
        Ok(())
    }

    /// Calls `work` with the sum, and with whether to add to it or to replace it.
    pub(super) fn add(&mut self, work: impl FnOnce(Sum<'p>, bool) -> Result<()>) -> Result<()> {
        let sum = self.sum.ok_or_else(|| Error::Internal("a pass without a sum".into()))?;
        work(sum, self.adds)?;
        self.adds = true;
        Ok(())
    }
}
