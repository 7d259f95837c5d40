mod creation;
mod entries;
mod linear;
mod matrices;
mod products;
mod refusals;
mod rounding;
pub(in crate::tt) mod support;
mod tensors;
