//! State that all contexts of a process share.

use super::loads::prefers_loads;
use super::{simd, workspace};
use crate::backend::fork;
use crate::error::Result;

/// Initializes the state that all contexts of the process share. A fork in another thread waits until it is complete.
///
/// # Errors
/// As [`super::Pool::new`].
pub fn prepare_process() -> Result<()> {
    fork::undisturbed(|| {
        // Each is behind a `Once`. If a fork interrupted it, the child would wait for it for ever.
        let _ = prefers_loads();
        simd::detect();
        crossbeam_epoch::default_collector();
        workspace::measure()
    })
}
