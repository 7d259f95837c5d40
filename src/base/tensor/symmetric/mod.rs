//! Packed symmetric tensors: the order of the entries, conversions, norms.
//!
//! A tensor of order m and dimension n that does not change under permutation of its indices has U = C(m + n - 1, m)
//! different entries. They are stored for the nondecreasing index tuples in lexicographic order.

mod gpu;
mod monomials;
mod operations;

pub use monomials::Ranks;
pub use monomials::{Monomials, exponents, identity_entry, indices, multinomial, multinomials, rank};
pub use operations::{Norm, Packing, convert, from_full, identity, norm, to_full};

#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod tests;
