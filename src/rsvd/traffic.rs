//! What a run moved and where its time went.

/// Passes, bytes and seconds of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traffic {
    /// Passes over the data.
    pub passes: u64,
    /// Blocks of one pass.
    pub blocks: u64,
    /// Rows of a block.
    pub block_rows: u64,
    /// Rows of the data that stay on the device.
    pub resident_rows: u64,
    /// Bytes of the data that the first pass moves: to the device or, on the CPU, from a source.
    pub bytes_first: u64,
    /// Bytes that each later pass moves.
    pub bytes_later: u64,
    /// Bytes of the data that went to the device, tall matrices apart.
    pub bytes_to_device: u64,
    /// Bytes of tall matrices that went either way between host and device.
    pub bytes_tall: u64,
    /// Bytes that sources were read for.
    pub bytes_read: u64,
    /// Seconds in the reading of sources.
    pub seconds_read: f64,
    /// Seconds that copies to the device took.
    pub seconds_link: f64,
    /// Seconds of products with the data.
    pub seconds_multiply: f64,
    /// Seconds of orthonormalisation.
    pub seconds_orthonormalize: f64,
    /// Seconds of small factorisations.
    pub seconds_small: f64,
}
