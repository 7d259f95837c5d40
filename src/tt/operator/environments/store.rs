//! The environments that are stored, without their element type in the type that holds them.

use std::any::Any;

use crate::error::{Error, Result};
use crate::operator::erased::Work;
use crate::operator::exact::Exact;
use crate::operator::side::Side;
use crate::operator::stored::Stored;
use crate::scalar::Scalar;

/// The environments that have been built, by their bonds, and the workspace of steps.
pub(super) struct Store<T: Scalar> {
    pub(super) left: Vec<Option<Stored<T>>>,
    pub(super) right: Vec<Option<Stored<T>>>,
    /// For rings whose bonds exceed the balancing limit, the environments with an exponent for each entry. `None` until
    /// they are needed.
    pub(super) exact: Option<Exact<T::Wide>>,
    pub(super) work: Work,
}

pub(super) fn find<T: Scalar>(store: &(dyn Any + Send + Sync), side: Side, k: usize) -> Result<&Stored<T>> {
    let Some(store) = store.downcast_ref::<Store<T>>() else {
        return Err(Error::invalid("v", format!("is {}, not the type of the environments", T::DTYPE.name())));
    };
    let list = if side == Side::Left { &store.left } else { &store.right };
    list.get(k).and_then(Option::as_ref).ok_or_else(|| Error::Internal(format!("no environment at bond {k}")))
}

pub(super) fn find_exact<T: Scalar>(store: &(dyn Any + Send + Sync)) -> Result<&Exact<T::Wide>> {
    let Some(store) = store.downcast_ref::<Store<T>>() else {
        return Err(Error::invalid("v", format!("is {}, not the type of the environments", T::DTYPE.name())));
    };
    store.exact.as_ref().ok_or_else(|| Error::Internal("no environments of a ring".into()))
}
