//! Parallel loops over pieces of data, with rayon's names and meaning, on the threads of [`super::Pool::run`] and
//! [`super::Pool::run_here`].
//!
//! Rayon compiles its scheduling into every loop. Most loops of this library exist in four number types, and with rayon's
//! own iterators a quarter of the compiled code was scheduling. Here a loop compiles to its body and one call.
//!
//! `items.rs`, `adaptors.rs` and `sources.rs` import each other: the methods of the trait return the adaptors and collect
//! into the pieces of a vector, and both implement the trait.

mod adaptors;
mod each;
pub(super) mod here;
mod items;
mod join;
mod sources;
#[cfg(test)]
mod tests;

pub use items::{IntoItems, Items};
pub(super) use join::Work;
pub use join::join;
pub use sources::Pieces;
