//! Options of a fit of principal components, beside those of its decomposition.

use crate::choice::{numbered, with_defaults};

/// Which axis of a matrix has the samples. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Samples {
    /// A row is a sample.
    Rows = 0,
    /// A column is a sample.
    Columns = 1,
}

numbered!(Samples, Rows, Columns);

with_defaults! {
    /// Options of a fit, beside those of the decomposition.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PcaOptions {
        /// Which axis has the samples.
        pub samples: Samples = Samples::Rows,
        /// Whether the mean of each feature is subtracted.
        pub center: bool = true,
        /// Whether each feature is divided by its standard deviation; needs `center`.
        pub scale: bool = false,
        /// Whether scores have variance 1.
        pub whiten: bool = false,
    }
}
