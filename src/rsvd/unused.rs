//! Options of a decomposition that calls with a result of another kind have no use for.

use super::options::{Centering, Method, Options, Sign};
use crate::choice::word;
use crate::error::{Error, Result, real};

const BASIS: &str = "a basis of the range";
const COMPONENTS: &str = "principal components";

impl Options {
    /// Refuses options that are set and without effect on a basis of the range, which is found as RANGE finds it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option.
    pub(super) fn expect_used_by_range(&self) -> Result<()> {
        if !matches!(self.method, Method::Auto | Method::Range) {
            let problem = format!("is {} for {BASIS}, AUTO or RANGE is needed", word(self.method));
            return Err(Error::invalid("method", problem));
        }
        if self.smallest_ratio > 0.0 {
            let problem = format!("is {} for {BASIS}, which has one method", real(self.smallest_ratio));
            return Err(Error::invalid("smallest_ratio", problem));
        }
        if self.sign != Sign::VMax {
            return Err(Error::invalid("sign", format!("is {} for {BASIS}, which has no sign rule", word(self.sign))));
        }
        if self.error.is_probed() {
            let problem = format!("is {} for {BASIS}, IDENTITY or NONE is needed", word(self.error));
            return Err(Error::invalid("error", problem));
        }
        Ok(())
    }

    /// Refuses options that are set and in whose place a fit of principal components has options or a rule of its own.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the option.
    pub(super) fn expect_used_by_components(&self) -> Result<()> {
        if self.center != Centering::None {
            let problem = format!("is {} for {COMPONENTS}, which have an option of their own", word(self.center));
            return Err(Error::invalid("center", problem));
        }
        if self.sign != Sign::VMax {
            let problem = format!("is {} for {COMPONENTS}, whose largest entries are positive", word(self.sign));
            return Err(Error::invalid("sign", problem));
        }
        Ok(())
    }
}
