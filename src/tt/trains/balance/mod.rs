//! Balancing: multiplies the values of each bond by powers of two before trains are contracted.
//!
//! Multiplying value b of a bond by a number in one core and dividing by it in the next core does not change the
//! tensor. An environment of two trains holds products of two such numbers: with 2^40 and 2^-40 at one bond its entries
//! are 2^160 apart. In single precision the small entries underflow, although the next core makes them large again.
//! Balancing moves powers of two between neighbouring cores, which is exact, until the columns before a bond are as
//! large as the rows behind it. In a balanced copy, entries that the contraction multiplies only by zeros become 0.
//! Otherwise the entries that contribute to the result would be small relative to them.
//!
//! A balanced copy is charged to the context's budget, not to the workspace of a plan. Bonds of trains on a device are
//! examined there, at the same time as the contraction. Only trains that need balancing are copied to the host.
//!
//! | file | subject |
//! |---|---|
//! | `copies` | balanced copies of trains and operators |
//! | `powers`, `norms`, `paths`, `prune` | the powers of two of each bond |
//! | `range`, `ring_underflow`, `risk` | whether a contraction may still lose digits |
//! | `device` | the examination of trains on a device |

mod copies;
mod device;
mod norms;
mod paths;
mod powers;
mod prune;
mod range;
mod ring_underflow;
mod risk;

pub use copies::{
    Balanced, are_far_apart, balanced_all, copies_here, for_dense, for_factors, for_product, for_single, is_any_far,
    listed, of_operator, with_balanced,
};
#[cfg(any(test, feature = "testing"))]
pub use copies::{is_wide_there, ring_underflows};
pub use device::Enqueued;
pub use powers::{ends, peak};
pub use range::is_wide;
pub use risk::Risk;
