//! Checks of the arguments of environments.

use crate::error::{Error, Result};
use crate::operator::ops::Extent;
use crate::scalar::{DType, Scalar};
use crate::shape::{self, to_i64};

pub(super) fn expect_length(found: usize, extent: Extent) -> Result<()> {
    let count = extent.elements()?;
    if found == count {
        return Ok(());
    }
    Err(Error::invalid("environment", format!("has {found} elements, {count} are needed")))
}

pub(super) fn wrong_type<T: Scalar>(argument: &str, dtype: DType) -> Error {
    Error::invalid(argument, format!("is {}, {} is needed", T::DTYPE.name(), dtype.name()))
}

pub(super) fn expect_type<T: Scalar>(argument: &str, dtype: DType) -> Result<()> {
    if T::DTYPE == dtype { Ok(()) } else { Err(wrong_type::<T>(argument, dtype)) }
}

pub(super) fn expect_bond(k: usize, sites: usize, d: usize) -> Result<()> {
    shape::index("k", to_i64(k), d - expect_sites(sites, d)? + 1).map(drop)
}

/// `sites`, unless an effective operator of `d` cores has no such number of sites.
pub(super) fn expect_sites(sites: usize, d: usize) -> Result<usize> {
    if sites > 2 {
        return Err(Error::invalid("sites", format!("is {sites}, 0 to 2 are possible")));
    }
    if sites > d {
        return Err(Error::invalid("sites", format!("is {sites}, the trains have {d} cores")));
    }
    Ok(sites)
}

pub(in super::super) fn expect_extent(bond: usize, found: Extent, needed: Extent) -> Result<()> {
    if found == needed {
        return Ok(());
    }
    let problem = format!(
        "has ranks {} and {} of bra and ket at bond {bond}, the environment there {} and {}: a core has changed without \
         an update",
        needed.bra, needed.ket, found.bra, found.ket
    );
    Err(Error::invalid("x", problem))
}
