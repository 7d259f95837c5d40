//! The kernels of `cuda/fdk.cu` and `cuda/fdk_backproject.cu`. Tables that describe a scan are uploaded once; a batch names
//! its views by their numbers in the scan.

mod backproject;
mod convert;
mod ellipsoids;
mod filter;
mod store;
mod window;

pub use backproject::{Backprojection, Slab, VIEW_NUMBERS, view_numbers};
pub use convert::{Convert, CountImage, Counts, PixelWeights, RAY_NUMBERS};
pub use ellipsoids::{ELLIPSOID_NUMBERS, Ellipsoids, ray_numbers};
pub use filter::{FILTER_NUMBERS, Filter, MAX_LENGTH, Ramp, Rays, falls, filter_numbers, roots};
pub use store::{Fov, Store};
pub use window::{Kind, Mirror, Shape, Width};

use super::{constants as c, size};
use crate::error::{Error, Result};

/// Numbers that the device counts, U64: pixels that are not finite, clamped counts, counts above those without an
/// object, pixels that are too large, voxels beyond the range of the output.
pub const COUNTERS: usize = size(c::FDK_COUNTERS);

/// Index of the voxels beyond the range of the output among the counters.
pub const OVERFLOWN: usize = size(c::FDK_OVERFLOWN);

/// Type of the elements of an array that comes in or goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Raw {
    /// Unsigned 8-bit integer.
    U8 = c::FDK_U8,
    /// Signed 8-bit integer.
    I8 = c::FDK_I8,
    /// Unsigned 16-bit integer.
    U16 = c::FDK_U16,
    /// Signed 16-bit integer.
    I16 = c::FDK_I16,
    /// Unsigned 32-bit integer.
    U32 = c::FDK_U32,
    /// Signed 32-bit integer.
    I32 = c::FDK_I32,
    /// 16-bit IEEE float.
    F16 = c::FDK_F16,
    /// 32-bit IEEE float.
    F32 = c::FDK_F32,
    /// 64-bit IEEE float.
    F64 = c::FDK_F64,
}

impl Raw {
    /// Bytes of one element.
    const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// How filtered rows lie on the device: each view an image of `height` lines of `pitch` samples, the panel's rows that are
/// stored in the middle of zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Columns of a filtered row.
    pub columns: usize,
    /// First stored row of the panel.
    pub first_row: usize,
    /// Rows of the panel that are stored, from `first_row` on.
    pub rows: usize,
    /// Zeros on the left of each row.
    pub left: usize,
    /// Lines of zeros above the first row.
    pub top: usize,
    /// Samples from one line to the next.
    pub pitch: usize,
    /// Lines of an image, at least `top + rows`.
    pub height: usize,
}

impl Layout {
    /// Rows one after the other with nothing around, for callers.
    pub fn packed(columns: usize, first_row: usize, rows: usize) -> Self {
        Self { columns, first_row, rows, left: 0, top: 0, pitch: columns, height: rows }
    }

    /// Samples from one view's image to the next.
    pub fn samples(&self) -> usize {
        self.pitch * self.height
    }

    fn check(&self) -> Result<()> {
        if self.left + self.columns > self.pitch || self.top + self.rows > self.height {
            return Err(Error::Internal(format!("an image that its rows do not fit into: {self:?}")));
        }
        Ok(())
    }
}
