//! Options of robust PCA, and their ranges.

use crate::choice::{numbered, with_defaults};
use crate::error::{Error, Result, real};
use crate::range;
use crate::scalar::DType;

/// Which axis of the matrix counts the frames. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Frames {
    /// A frame is a column.
    Columns = 0,
    /// A frame is a row.
    Rows = 1,
}

numbered!(Frames, Columns, Rows);

with_defaults! {
    /// Options of robust PCA, for all element types.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Options {
        /// Weight of the sparse part, 0 for 1 / sqrt(max(rows, columns)).
        pub lambda: f64 = 0.0,
        /// The iteration ends when ||M - L - S||_F is less than this times ||M||_F. In single precision it is raised to
        /// at least [`Options::LEAST_SINGLE`], because less cannot be reached.
        pub tolerance: f64 = 1e-7,
        /// The first penalty, 0 for 1.25 / ||M||_2.
        pub mu: f64 = 0.0,
        /// Factor of the penalty from one iteration to the next.
        pub rho: f64 = 1.5,
        /// Only entries of the sparse part of modulus over the threshold are counted and stored in compressed rows.
        pub threshold: f64 = 0.0,
        /// Factor that entries are multiplied with when they are read: for example 1 / 255 maps bytes to 0 to 1.
        pub scale: f64 = 1.0,
        /// Largest number of iterations, at least 1.
        pub max_iterations: usize = 1000,
        /// Largest rank of the low-rank part, 0 for no bound. Refused beside `fixed_rank`.
        pub max_rank: usize = 0,
        /// Singular values to compute in each iteration, 0 to follow the rank. Below the rank of the solution the
        /// result solves another problem.
        pub fixed_rank: usize = 0,
        /// Steps of the power iteration in each partial singular value decomposition.
        pub power_iterations: usize = 1,
        /// Columns of the sketch beyond the predicted rank.
        pub oversampling: usize = 10,
        /// Rows of a block where the matrix is read from a source, 0 to choose.
        pub block_rows: usize = 0,
        /// Seed of the sketches' random numbers.
        pub seed: u64 = 0,
        /// Whether the sketch begins with the last iteration's right singular vectors.
        pub warm_start: bool = true,
        /// Which axis counts the frames, if the two are equally long. Otherwise the shorter axis counts them, and
        /// [`Frames::Rows`] is refused. The parts are the same to rounding.
        pub frames: Frames = Frames::Columns,
        /// Type of the arithmetic; `None` for [`DType::computing`] of the matrix's own.
        pub dtype: Option<DType> = None,
    }
}

impl Options {
    /// Smallest tolerance in single precision: the rounding errors of M - L alone are a few 1e-8 of ||M||_F.
    pub const LEAST_SINGLE: f64 = 1e-6;

    /// Upper bound of the penalty, relative to the first penalty.
    pub const MU_GROWTH: f64 = 1e7;

    /// Refuses values outside their domain.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the field.
    pub fn check(&self) -> Result<()> {
        let refuse =
            |name: &str, value: f64, need: &str| Err(Error::invalid(name, format!("is {}, {need}", real(value))));
        for (name, value) in
            [("lambda", self.lambda), ("mu", self.mu), ("threshold", self.threshold), ("tolerance", self.tolerance)]
        {
            range::not_negative(name, value)?;
        }
        if !(self.rho.is_finite() && self.rho > 1.0) {
            return refuse("rho", self.rho, "a finite number above 1 is needed");
        }
        if !(self.scale.is_finite() && self.scale != 0.0) {
            return refuse("scale", self.scale, "a finite number other than 0 is needed");
        }
        if self.max_rank > 0 && self.fixed_rank > 0 {
            let problem =
                format!("is {} beside fixed_rank = {}, which leaves no rank to bound", self.max_rank, self.fixed_rank);
            return Err(Error::invalid("max_rank", problem));
        }
        if self.max_iterations == 0 {
            return Err(Error::invalid("max_iterations", "is 0, 1 or more is needed"));
        }
        Ok(())
    }

    /// The tolerance in force for a type.
    pub fn tolerance_of(&self, dtype: DType) -> f64 {
        match dtype {
            DType::F32 | DType::CF32 => self.tolerance.max(Self::LEAST_SINGLE),
            _ => self.tolerance,
        }
    }

    /// The type of the arithmetic for a matrix of type `own`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a real type where the matrix is complex.
    pub fn dtype_of(&self, own: DType) -> Result<DType> {
        let dtype = self.dtype.unwrap_or_else(|| own.computing());
        if own.is_complex() && !dtype.is_complex() {
            return Err(Error::invalid("dtype", format!("is {}, the matrix is {}", dtype.name(), own.name())));
        }
        Ok(dtype)
    }
}
