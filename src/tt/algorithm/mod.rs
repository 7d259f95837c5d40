//! Contractions on whatever offers [`super::ops::ContractOps`].

pub(super) mod inner;
pub(super) mod norm;
