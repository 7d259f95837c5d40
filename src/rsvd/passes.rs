//! How often the methods read the data.

use super::options::Method;

/// Passes that a method usually takes. A method may find that it needs more, and says so in its remarks.
pub fn passes(method: Method, iterations: usize, one_pass: bool) -> usize {
    match method {
        Method::Basic | Method::Fifo => 2 * iterations + 1,
        Method::Range => 2 * iterations + 2,
        Method::Gram | Method::Brsvd => 2,
        Method::Merge => 2 - usize::from(one_pass),
        Method::OnePass | Method::Direct => 1,
        Method::Rayleigh => iterations.max(1) + 1,
        Method::Auto | Method::RowFused | Method::Fused | Method::Krylov | Method::Nystrom => iterations + 1,
    }
}
