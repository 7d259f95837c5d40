//! Memory of a run, computed before it starts.
//!
//! A backend that counts bytes runs the method with sizes instead of matrices. The rank is not known before the run. Memory
//! must suffice for all ranks that the options allow; the cut is made smaller until it does.
//!
//! | file | subject |
//! |---|---|
//! | `fit` | the largest cut that fits into the available host memory |
//! | `shape` | sizes that determine the memory, besides the options |
//! | `ledger` | the backend that counts host memory of a run on the CPU |
//! | `device` | panels on a GPU, and the backend that counts device memory |

mod device;
mod fit;
mod ledger;
mod shape;

pub use device::{DeviceFit, DeviceShape, fit_device, host_bytes};
pub use fit::{Fit, fit};
pub(super) use shape::LARGE;
pub use shape::Shape;
