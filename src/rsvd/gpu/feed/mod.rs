//! Supplies the blocks of a device's rows for products, one after the other. Resident blocks come first, so that the first
//! copies overlap with work on them. The other blocks are copied through a ring of buffers on a separate queue.

mod blocks;
mod buffers;
mod copies;
#[allow(clippy::module_inception, reason = "the file has the type that the folder is named after")]
mod feed;
mod pass;

pub(super) use buffers::{PIECE_BYTES, PIECES, read_buffers};
pub(super) use feed::Feed;
pub(super) use pass::{PassTraffic, Watch};
