//! Results of a session's calls: checks of the matrices and tensors they are written to, and the writing.

use super::info::Pairs;
use super::singular::Triplets;
use crate::alloc;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Storage};
use crate::scalar::{DType, Scalar};
use crate::shape::Order;
use crate::tensor::Tensor;

/// Destinations of k eigenpairs of a matrix of order n.
pub struct Outputs<'a> {
    /// k eigenvalues, in F64 on the host.
    pub values: &'a mut Tensor,
    /// n-by-k eigenvectors: dense, of the matrix's type, on the host or, column-major, on the context's device.
    pub vectors: Option<&'a mut Matrix>,
    /// k residuals, in F64 on the host.
    pub residuals: Option<&'a mut Tensor>,
}

impl Outputs<'_> {
    /// Refuses outputs that do not fit `k` eigenpairs of order `n`.
    pub(super) fn check<T: Scalar>(&mut self, context: &Context, n: usize, k: usize) -> Result<()> {
        check_lists(context, k, &[("values", Some(&*self.values)), ("residuals", self.residuals.as_deref())])?;
        let Some(vectors) = &mut self.vectors else { return Ok(()) };
        vectors.expect_context("vectors", context)?;
        vectors.expect_dtype("vectors", T::DTYPE)?;
        vectors.expect_size("vectors", n, k)?;
        let target = vectors.dense_mut("vectors")?;
        if matches!(target.memory, Memory::Device(_)) && target.order != Order::ColumnMajor {
            return Err(Error::NotSupported("vectors: are row-major on the device, column-major is needed".into()));
        }
        Ok(())
    }

    /// Whether a solve returns vectors in host memory.
    pub(super) fn returns_vectors(&self) -> bool {
        let is_on_host = |m: &Matrix| !matches!(m.storage(), Storage::Dense { memory: Memory::Device(_), .. });
        self.vectors.as_deref().is_some_and(is_on_host)
    }

    /// Writes the pairs that were found; further values are left as they are. Vectors on the device are there already.
    pub(super) fn write<T: Scalar>(&mut self, pairs: &Pairs<T>) -> Result<()> {
        self.values.set_first("values", &pairs.values)?;
        if let Some(vectors) = &mut self.vectors {
            let mut target = vectors.dense_mut("vectors")?;
            if !matches!(target.memory, Memory::Device(_)) {
                target.set_columns("vectors", &pairs.vectors)?;
            }
        }
        if let Some(residuals) = &mut self.residuals {
            residuals.set_first("residuals", &pairs.residuals)?;
        }
        Ok(())
    }
}

/// Destinations of k singular triplets, all on the host.
pub struct TripletOutputs<'a> {
    /// rows-by-k left vectors: dense, of the matrix's type.
    pub u: Option<&'a mut Matrix>,
    /// k singular values, in F64.
    pub values: &'a mut Tensor,
    /// cols-by-k right vectors, as `u`.
    pub v: Option<&'a mut Matrix>,
    /// k residuals, in F64: the larger one of both vectors.
    pub residuals: Option<&'a mut Tensor>,
}

impl TripletOutputs<'_> {
    /// Refuses outputs that do not fit `k` triplets of `a`.
    pub(super) fn check<T: Scalar>(&mut self, a: &Matrix, k: usize) -> Result<()> {
        let context = a.context();
        check_lists(context, k, &[("values", Some(&*self.values)), ("residuals", self.residuals.as_deref())])?;
        for (name, vectors, n) in [("u", &mut self.u, a.rows()), ("v", &mut self.v, a.cols())] {
            let Some(vectors) = vectors else { continue };
            vectors.expect_context(name, context)?;
            vectors.expect_dtype(name, T::DTYPE)?;
            vectors.expect_size(name, n, k)?;
            vectors.dense_mut(name)?.memory.host(name)?;
        }
        Ok(())
    }

    /// Writes the triplets that were found; further values are left as they are.
    pub(super) fn write<T: Scalar>(&mut self, found: &Triplets<T>) -> Result<()> {
        self.values.set_first("values", &found.values)?;
        for (name, vectors, columns) in [("u", &mut self.u, &found.left), ("v", &mut self.v, &found.right)] {
            if let Some(vectors) = vectors {
                vectors.dense_mut(name)?.set_columns(name, columns)?;
            }
        }
        if let Some(residuals) = &mut self.residuals {
            residuals.set_first("residuals", &found.residuals)?;
        }
        Ok(())
    }
}

/// Refuses outputs that are not `k` numbers of double precision each.
fn check_lists(context: &Context, k: usize, lists: &[(&str, Option<&Tensor>)]) -> Result<()> {
    for (name, list) in lists.iter().filter_map(|(name, list)| Some((*name, (*list)?))) {
        list.expect_context(name, context)?;
        list.expect_dims(name, &[k])?;
        list.expect_dtype(name, DType::F64)?;
        list.check_writable(name)?;
    }
    Ok(())
}

/// A packed copy of the caller's start vector of `n` numbers.
pub(super) fn read_start<T: Scalar>(start: Option<&Tensor>, context: &Context, n: usize) -> Result<Option<Vec<T>>> {
    let Some(start) = start else { return Ok(None) };
    start.expect_context("start", context)?;
    start.expect_dims("start", &[n])?;
    let mut packed = alloc::filled("start vector", n, T::default())?;
    start.view::<T>("start")?.read_column(&[], &mut packed);
    Ok(Some(packed))
}
