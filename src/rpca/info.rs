//! The report of a run of robust PCA.

use crate::error::{Error, Result};
use crate::scalar::DType;

/// The report of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// Whether the tolerance was met; otherwise the outputs hold the last iterate.
    pub converged: bool,
    /// Type of X and Y, in which iterations compute.
    pub dtype: DType,
    /// Iterations, including the one that writes the outputs.
    pub iterations: u64,
    /// Rank of the low-rank part.
    pub rank: u64,
    /// Entries of the sparse part of modulus over the threshold.
    pub nonzeros: u64,
    /// Passes over the working arrays or the matrix.
    pub passes: u64,
    /// Blocks of a pass, of all devices together.
    pub blocks: u64,
    /// Rows of a block; the last may be shorter.
    pub block_rows: u64,
    /// Bytes that were copied to the devices.
    pub bytes_to_device: u64,
    /// Bytes that were read from the matrix's source.
    pub bytes_read: u64,
    /// Measured peak of device memory, on the device that used most.
    pub device_bytes_used: u64,
    /// Measured peak of host memory, in the context that used most.
    pub host_bytes_used: u64,
    /// Weight of the sparse part.
    pub lambda: f64,
    /// Penalty mu of the last iteration.
    pub mu: f64,
    /// ||M||_2, to about 1 %.
    pub norm2: f64,
    /// ||M||_F over the observed entries.
    pub frobenius: f64,
    /// ||M - L - S||_F / ||M||_F over the observed entries.
    pub residual: f64,
    /// ||L||_* + lambda ||S||_1, which the method minimizes.
    pub objective: f64,
    /// ||L||_*, the sum of L's singular values.
    pub nuclear_norm: f64,
    /// ||S||_1 over the observed entries.
    pub one_norm: f64,
    /// Seconds of singular value decompositions beyond the fused pass.
    pub seconds_svd: f64,
    /// Seconds of the fused passes: L, S, Y, and the products of the next decomposition.
    pub seconds_elementwise: f64,
    /// Seconds spent reading sources, of all devices together.
    pub seconds_read: f64,
    /// Seconds of the whole run.
    pub seconds: f64,
    /// Devices that shared the rows.
    pub contexts: u64,
    /// Planned peak of host memory. On the CPU that of a run whose low-rank part has few columns; on GPUs that of the
    /// context that needs most.
    pub host_bytes: u64,
    /// Planned peak of device memory, on the device that needs most.
    pub device_bytes: u64,
    /// Where the iterates X and Y are held, and why.
    pub reason: String,
}

impl Info {
    /// The report before a run.
    pub fn new(dtype: DType) -> Self {
        Self {
            converged: true,
            dtype,
            iterations: 0,
            rank: 0,
            nonzeros: 0,
            passes: 0,
            blocks: 0,
            block_rows: 0,
            bytes_to_device: 0,
            bytes_read: 0,
            device_bytes_used: 0,
            host_bytes_used: 0,
            lambda: 0.0,
            mu: 0.0,
            norm2: 0.0,
            frobenius: 0.0,
            residual: 0.0,
            objective: 0.0,
            nuclear_norm: 0.0,
            one_norm: 0.0,
            seconds_svd: 0.0,
            seconds_elementwise: 0.0,
            seconds_read: 0.0,
            seconds: 0.0,
            contexts: 1,
            host_bytes: 0,
            device_bytes: 0,
            reason: String::new(),
        }
    }

    /// The error of a run that did not meet its tolerance.
    ///
    /// # Errors
    /// [`Error::NoConvergence`] with the iterations and the residual.
    pub fn expect_converged(&self) -> Result<()> {
        if self.converged {
            return Ok(());
        }
        let (n, residual) = (self.iterations, self.residual);
        Err(Error::NoConvergence(format!("the residual is {residual:e} after {n} iterations")))
    }
}
