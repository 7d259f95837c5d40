//! Environments stored for sweeps (DMRG, ALS, TDVP): after a core has changed, one step suffices instead of a
//! contraction.
//!
//! | file | subject |
//! |---|---|
//! | `state`, `store` | the object and the environments that it stores |
//! | `build` | builds missing environments |
//! | `value` | values and local expectations from environments |
//! | `apply` | the effective operator of zero, one or two sites, multiplied by a vector |
//! | `checks` | checks of arguments |

mod apply;
mod build;
mod checks;
mod state;
mod store;
mod value;

pub(super) use checks::expect_extent;
pub use state::Environments;
