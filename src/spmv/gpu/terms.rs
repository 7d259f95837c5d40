//! The terms of an operator in device memory.

use crate::backend::gpu::{DeviceMemory, Gpu};
use crate::error::Result;
use crate::scalar::{DType, Real};
use crate::shape::product;
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
    /// Copies `terms` of a matrix of type `dtype`.
    pub(in crate::spmv) fn new<P: Real>(dtype: DType, gpu: &Gpu, terms: &Terms<P>) -> Result<Self> {
        let stream = gpu.default_stream();
        let upload = |list: &Option<Vec<P>>| {
            list.as_ref().map(|list| gpu.upload_numbers(stream, "degrees of a graph", list)).transpose()
        };
        let rank_one = match &terms.rank_one {
            None => None,
            Some((degrees, inverse)) => {
                let parts = if dtype.is_complex() { 2 } else { 1 };
                let mut own = crate::alloc::with_capacity(WHAT, product(WHAT, degrees.len(), parts)?)?;
                own.extend(degrees.iter().flat_map(|d| [*d, P::ZERO].into_iter().take(parts)));
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
