//! Types of the elements of callers' arrays.

use super::super::constants as c;

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
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}
