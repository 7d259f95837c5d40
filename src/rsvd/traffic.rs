//! Bytes that a run moved, and seconds that its parts took.

/// Passes, bytes and seconds of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Traffic {
    /// Passes over the data so far.
    pub passes: u64,
    /// Blocks that the rows are read in, in one pass.
    pub blocks: u64,
    /// Rows of a block; the last may be shorter.
    pub block_rows: u64,
    /// Rows of the data that stay on the device.
    pub resident_rows: u64,
    /// Bytes of the data that the first pass moves: to the device or, on the CPU, from a source.
    pub bytes_first: u64,
    /// Bytes that each later pass moves.
    pub bytes_later: u64,
    /// Bytes of the data that were copied to the device, without tall matrices.
    pub bytes_to_device: u64,
    /// Bytes of tall matrices that were copied between host and device, in both directions.
    pub bytes_tall: u64,
    /// Bytes that were read from sources.
    pub bytes_read: u64,
    /// Seconds spent reading sources, of all readers together.
    pub seconds_read: f64,
    /// Seconds that copies to the device took.
    pub seconds_link: f64,
    /// Seconds of products with the data.
    pub seconds_multiply: f64,
    /// Seconds of making columns orthonormal.
    pub seconds_orthonormalize: f64,
    /// Seconds of factorizations of small matrices.
    pub seconds_small: f64,
}

impl Traffic {
    /// Adds the passes, bytes and seconds of a later try, and takes over its cut.
    pub fn add(&mut self, later: &Self) {
        *self = Self {
            passes: self.passes + later.passes,
            bytes_to_device: self.bytes_to_device + later.bytes_to_device,
            bytes_tall: self.bytes_tall + later.bytes_tall,
            bytes_read: self.bytes_read + later.bytes_read,
            seconds_read: self.seconds_read + later.seconds_read,
            seconds_link: self.seconds_link + later.seconds_link,
            seconds_multiply: self.seconds_multiply + later.seconds_multiply,
            seconds_orthonormalize: self.seconds_orthonormalize + later.seconds_orthonormalize,
            seconds_small: self.seconds_small + later.seconds_small,
            ..*later
        };
    }
}
