//! The terms of an operator in device memory.

use crate::backend::gpu::{DeviceMemory, Gpu};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::spmv::terms::Terms;

const WHAT: &str = "operator of a sparse product";

/// [`Terms`] in device memory. The degrees have the matrix's type, the other numbers its real type.
pub(in crate::spmv) struct DeviceTerms {
    pub(super) scale: Option<DeviceMemory>,
    pub(super) diagonal: Option<DeviceMemory>,
    /// The degrees in the matrix's type, and 1 over their sum.
    pub(super) rank_one: Option<(DeviceMemory, f64)>,
}

impl DeviceTerms {
    pub(in crate::spmv) fn new<T: Scalar>(gpu: &Gpu, terms: &Terms<T::Part>) -> Result<Self> {
        let stream = gpu.default_stream();
        let upload = |list: &Option<Vec<T::Part>>| {
            list.as_ref().map(|list| gpu.upload_numbers(stream, "degrees of a graph", list)).transpose()
        };
        let rank_one = match &terms.rank_one {
            None => None,
            Some((degrees, inverse)) => {
                let mut own = crate::alloc::with_capacity(WHAT, degrees.len())?;
                own.extend(degrees.iter().map(|d| T::from_parts(Scalar::re(*d), 0.0)));
                Some((gpu.upload_numbers(stream, "degrees of a graph", &own)?, *inverse))
            }
        };
        Ok(Self { scale: upload(&terms.scale)?, diagonal: upload(&terms.diagonal)?, rank_one })
    }

    pub(in crate::spmv) fn bytes(&self) -> usize {
        let lists = [self.scale.as_ref(), self.diagonal.as_ref(), self.rank_one.as_ref().map(|r| &r.0)];
        lists.into_iter().flatten().map(DeviceMemory::bytes).sum()
    }
}
