//! How the trains of a product are swept.

use super::super::constants as c;

/// How the trains are swept.
#[derive(Debug, Clone, Copy)]
pub struct Sweep {
    /// Sites: a multiple of the cores.
    pub length: usize,
    /// Sites from the left where both ends are contracted at once.
    pub middle: Option<usize>,
    /// Bond values of x at the boundary.
    pub pairs_x: usize,
    /// Whether pairs have p_x <= p_y.
    pub halved: bool,
    /// Whether y is conjugated in the product.
    pub conjugate: bool,
    /// Whether environments are never rescaled: norms may overflow or underflow.
    pub unscaled: bool,
}

impl Sweep {
    pub(super) fn flags(&self) -> i32 {
        let flag = |on: bool, bit: i32| if on { bit } else { 0 };
        flag(self.conjugate, c::TT_CONJUGATE)
            | flag(self.unscaled, c::TT_UNSCALED)
            | flag(self.halved, c::TT_HALVED)
            | flag(self.middle.is_some(), c::TT_TWO_ENDED)
    }
}
