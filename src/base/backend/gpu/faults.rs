//! Fault points: a test can make calls of the driver and of the libraries fail.

#[cfg(feature = "fault-injection")]
use crate::error::Error;
use crate::error::Result;

/// An error if fault injection makes this operation fail.
#[cfg(feature = "fault-injection")]
#[track_caller]
pub(super) fn injected(kind: crate::fault::Kind, call: &'static str) -> Result<()> {
    if crate::fault::fails(kind, call) {
        Err(Error::Cuda { call, name: "an injected fault".into(), code: -1 })
    } else {
        Ok(())
    }
}

/// Fault point: a test can make a call of a library fail here.
#[cfg(feature = "fault-injection")]
#[track_caller]
pub(super) fn library_fault(call: &'static str) -> Result<()> {
    injected(crate::fault::Kind::Library, call)
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
pub(super) fn library_fault(_: &'static str) -> Result<()> {
    Ok(())
}
