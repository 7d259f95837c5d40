//! Options of an object that is made for one call.

use super::session::Contraction;
use crate::choice::word;
use crate::error::{Error, Result};
use crate::tensor::train::TensorTrain;
use crate::trains::options::{Conjugate, Method, NormMethod};

/// A call without an object, which refuses options that it does not use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Once {
    /// [`Contraction::inner`].
    Inner,
    /// [`Contraction::norm`].
    Norm,
    /// [`Contraction::distance`].
    Distance,
}

impl Contraction {
    /// Returns an error for an option that has no effect on this call of these trains. An object for several calls may
    /// have such options, because other calls may use them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option.
    pub fn expect_used(&self, call: Once, trains: &[&TensorTrain]) -> Result<()> {
        let o = self.options();
        let (name, by_qr) = match call {
            Once::Inner => ("an inner product", false),
            Once::Norm => ("a norm", o.norm_method == NormMethod::Qr),
            Once::Distance => ("a distance", true),
        };
        let kernel = o.kernel.map_or(String::new(), word);
        let unused = [
            ("norm_method", call != Once::Norm && o.norm_method != NormMethod::Auto, word(o.norm_method)),
            ("conjugate", call != Once::Inner && o.conjugate != Conjugate::Bra, word(o.conjugate)),
            ("assume_hermitian", o.assume_hermitian, "1".into()),
        ];
        if let Some((option, _, value)) = unused.into_iter().find(|u| u.1) {
            return Err(Error::invalid(option, format!("is {value}, {name} does not use it")));
        }
        let unused = [
            ("method", o.method != Method::Auto, word(o.method)),
            ("kernel", o.kernel.is_some(), kernel),
            ("block", o.block > 0, o.block.to_string()),
        ];
        if let Some((option, _, value)) = unused.into_iter().find(|u| by_qr && u.1) {
            return Err(Error::invalid(option, format!("is {value}, {name} by QR factors does not use it")));
        }
        if trains.iter().any(|t| t.shape().is_cyclic()) {
            if o.norm_method == NormMethod::Triangle {
                return Err(Error::invalid("norm_method", "is TRIANGLE, which is for open trains"));
            }
            return Ok(());
        }
        if o.cut.is_some() {
            return Err(Error::invalid("cut", "belongs to rings, the trains are open"));
        }
        if o.block > 0 {
            return Err(Error::invalid("block", format!("is {}, open trains have one boundary pair", o.block)));
        }
        Ok(())
    }
}
