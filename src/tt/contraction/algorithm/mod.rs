//! Contractions on any backend that implements [`super::ops::ContractOps`].

pub(super) mod inner;
pub(super) mod norm;
pub(super) mod power;
