//! Randomized singular value decomposition of matrices that need not fit the device, nor the host (Halko, Martinsson,
//! Tropp, SIAM Review 53, 2011).

pub mod basis;
pub mod data;
pub mod ops;
pub mod statistics;
pub mod traffic;
