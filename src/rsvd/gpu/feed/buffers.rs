//! Buffers for copied blocks: their number and size, and where a block is.

use super::super::cut::Cut;
use crate::backend::gpu::{DeviceMemory, Event};

/// Blocks whose products may be enqueued and unfinished.
pub(super) const IN_FLIGHT: usize = 2;
/// Bytes of a page-locked buffer for pageable memory, and how many there are.
pub(in crate::rsvd::gpu) const PIECE_BYTES: usize = 16 << 20;
pub(in crate::rsvd::gpu) const PIECES: usize = 4;
/// Most page-locked buffers for blocks that are read from a source.
const READ_BUFFERS: usize = 3;

/// Page-locked buffers for the blocks of `rows` rows that are read from a source: no more than there are blocks.
pub(in crate::rsvd::gpu) fn read_buffers(cut: &Cut, rows: usize) -> usize {
    READ_BUFFERS.min(cut.blocks(rows))
}

/// Where a block is on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockMemory {
    /// In the caller's device memory, used in place.
    Caller,
    /// In the memory of the resident rows.
    Store,
    /// In a buffer of the ring.
    Slot(usize),
}

/// State of the resident rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The rows have not been copied yet.
    Empty,
    /// Copied as they are in the data, not converted.
    Raw,
    /// Converted to the type of computing.
    Ready,
}

pub(super) struct Slot {
    pub(super) memory: DeviceMemory,
    /// Event that completes when the block in the slot is no longer needed.
    pub(super) free: Option<Event>,
}
