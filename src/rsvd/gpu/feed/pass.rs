//! The work on the blocks of a pass, and the bytes that it moved.

use super::super::block::Block;
use super::super::cut::Span;
use super::super::site::Site;
use crate::backend::gpu::kernels::rsvd::TALLY;
use crate::error::Result;
use crate::progress::CancelFlag;

/// Bytes, seconds and tallies of a pass.
#[derive(Debug, Default)]
pub(in crate::rsvd::gpu) struct PassTraffic {
    pub(in crate::rsvd::gpu) to_device: u64,
    pub(in crate::rsvd::gpu) read: u64,
    pub(in crate::rsvd::gpu) seconds_read: f64,
    /// Tallies of the blocks, if [`super::super::conversion::PassWork::tallies`] is set.
    pub(in crate::rsvd::gpu) tallies: Vec<(Span, [f64; TALLY])>,
}

/// The cancel flag, and the caller's progress function on the thread of the call; other threads must not call it.
pub(in crate::rsvd::gpu) struct Watch<'w> {
    pub(in crate::rsvd::gpu) flag: CancelFlag,
    pub(in crate::rsvd::gpu) tick: Option<&'w dyn Fn() -> Result<()>>,
}

impl Watch<'_> {
    pub(super) fn check(&self) -> Result<()> {
        self.flag.check()?;
        self.tick.map_or(Ok(()), |tick| tick())
    }
}

/// The work on a block.
pub(in crate::rsvd::gpu) type Body<'f> = dyn FnMut(&mut Site, &Block<'_>) -> Result<()> + 'f;
