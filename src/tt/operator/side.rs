//! The ends of a chain of sites.

use crate::choice::numbered;

/// The end from which an environment is built. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Side {
    /// Environment of the sites before a bond.
    Left = 0,
    /// Environment of the sites after a bond.
    Right = 1,
}

numbered!(Side, Left, Right);
