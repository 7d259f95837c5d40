//! Products and classification on a GPU.

use super::tables::Tables;
use crate::backend::gpu::kernels::sshopm as kernels;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::blocks::{self, Chunk, Field, Input};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::scalar::{DType, Real};
use crate::sshopm::plan::Plan;
use crate::tensor::{Symmetric, Tensor};

/// Device and inputs of a call.
pub struct Site<'a> {
    /// The context of the tensors, on a GPU.
    pub context: &'a Context,
    /// The GPU of `context`.
    pub gpu: &'a Gpu,
    /// The queue of the call.
    pub queue: &'a GpuStream,
    /// Order m and dimension n of the tensors.
    pub shape: Symmetric,
    /// Packed entries [U, T], in host or device memory.
    pub tensors: &'a Tensor,
    /// Real [n, V], shared by all tensors, or [n, V, T].
    pub vectors: &'a Tensor,
}

impl Site<'_> {
    fn tables<T: Real>(&self) -> Result<Tables> {
        let Symmetric { order, dimension } = self.shape;
        if order > kernels::MAX_ORDER || dimension > kernels::MAX_DIMENSION {
            let (found, most) = (format!("order {order}, dimension {dimension}"), kernels::MAX_ORDER);
            let problem = format!("tensors: {found}, at most {most} and {} on a GPU", kernels::MAX_DIMENSION);
            return Err(Error::NotSupported(problem));
        }
        let (multinomials, _) = Plan::<T>::tables(self.shape)?;
        Tables::new::<T>(self.gpu, self.queue, self.shape, &multinomials, &[])
    }

    fn batch<'c>(&self, chunk: &Chunk<'c>) -> kernels::Batch<'c> {
        let field = &chunk.inputs[0];
        kernels::Batch {
            memory: field.region,
            entry_stride: field.strides[0],
            tensor_stride: field.strides[1],
            order: self.shape.order,
            dimension: self.shape.dimension,
            entries: self.shape.count(),
            count: chunk.count,
        }
    }

    /// Uploads the vectors that all tensors share; `None` if each tensor has its own or they are on the device already.
    fn shared_vectors<T: Real>(&self) -> Result<Option<DeviceMemory>> {
        if self.vectors.dims().len() == 3 || self.vectors.is_device() {
            return Ok(None);
        }
        let view = self.vectors.view::<T>("vectors")?;
        let (n, v) = (view.dim(0), view.dim(1));
        let mut packed = crate::alloc::filled("vectors", n * v, T::ZERO)?;
        for (k, x) in packed.chunks_exact_mut(n).enumerate() {
            view.read_column(&[k], x);
        }
        self.gpu.upload_numbers(self.queue, "vectors", &packed).map(Some)
    }

    fn vectors<'c>(
        &'c self,
        shared: Option<&'c DeviceMemory>,
        field: Option<&Field<'c>>,
    ) -> Result<kernels::Vectors<'c>> {
        let dims = self.vectors.dims();
        if let Some(memory) = shared {
            let (n, v) = (dims[0], dims[1]);
            return Ok(kernels::Vectors {
                memory: memory.whole(),
                component_stride: 1,
                vector_stride: n,
                tensor_stride: 0,
                count: v,
            });
        }
        let count = dims[1];
        if let Some(field) = field {
            let &[component_stride, vector_stride, tensor_stride] = field.strides.as_slice() else {
                return Err(Error::Internal("vectors without three strides".into()));
            };
            return Ok(kernels::Vectors {
                memory: field.region,
                component_stride,
                vector_stride,
                tensor_stride,
                count,
            });
        }
        let strides = self.vectors.layout().strides();
        let memory = self.vectors.memory().device("vectors")?.whole();
        Ok(kernels::Vectors {
            memory,
            component_stride: strides[0],
            vector_stride: strides[1],
            tensor_stride: 0,
            count,
        })
    }
}

/// A x^power of checked tensors and vectors; `products` is real [V, T], [n, V, T] or [n, n, V, T].
///
/// # Errors
/// [`Error::NotSupported`] for an order or dimension that the kernels do not have; as [`blocks::for_chunks`].
pub fn product<T: Real>(site: &Site<'_>, power: usize, products: &mut Tensor) -> Result<()> {
    let tables = site.tables::<T>()?;
    let shared = site.shared_vectors::<T>()?;
    product_as(T::DTYPE, site, &tables, shared.as_ref(), power, products)
}

fn product_as(
    dtype: DType,
    site: &Site<'_>,
    tables: &Tables,
    shared: Option<&DeviceMemory>,
    power: usize,
    products: &mut Tensor,
) -> Result<()> {
    let own = site.vectors.dims().len() == 3;
    let mut inputs = vec![Input::any("tensors", site.tensors)];
    if own {
        inputs.push(Input::any("vectors", site.vectors));
    }
    let progress = Progress::none();
    let items = site.tensors.dims()[1];
    let (context, gpu, queue) = (site.context, site.gpu, site.queue);
    let plan = blocks::Plan { context, gpu, queue, progress: &progress, items, scratch: &[] };
    blocks::for_chunks(&plan, &inputs, &mut [("products", products)], &mut |chunk| {
        let vectors = site.vectors(shared, chunk.inputs.get(1))?;
        let out = chunk.outputs[0].region;
        kernels::products(dtype, gpu, chunk.stream, &site.batch(chunk), &vectors, &tables.regions(), power, out)
    })?;
    Ok(())
}

/// Residuals [V, T], Hessian eigenvalues [n - 1, V, T] and classes [V, T] of checked pairs; vectors are [n, V, T].
///
/// # Errors
/// As [`product`].
pub fn classify<T: Real>(
    site: &Site<'_>,
    values: &Tensor,
    degeneracy: f64,
    residuals: Option<&mut Tensor>,
    hessian: Option<&mut Tensor>,
    classes: Option<&mut Tensor>,
) -> Result<()> {
    let outputs = [("residuals", residuals), ("hessian", hessian), ("classes", classes)];
    classify_as(T::DTYPE, site, &site.tables::<T>()?, values, degeneracy, outputs)
}

fn classify_as(
    dtype: DType,
    site: &Site<'_>,
    tables: &Tables,
    values: &Tensor,
    degeneracy: f64,
    wanted: [(&'static str, Option<&mut Tensor>); 3],
) -> Result<()> {
    let inputs =
        [Input::any("tensors", site.tensors), Input::any("vectors", site.vectors), Input::packed("values", values)];
    let mut outputs: Vec<(&str, &mut Tensor)> = Vec::with_capacity(3);
    let mut places = [None; 3];
    for (place, (name, tensor)) in places.iter_mut().zip(wanted) {
        if let Some(tensor) = tensor {
            *place = Some(outputs.len());
            outputs.push((name, tensor));
        }
    }
    let progress = Progress::none();
    let items = site.tensors.dims()[1];
    let (context, gpu, queue) = (site.context, site.gpu, site.queue);
    let plan = blocks::Plan { context, gpu, queue, progress: &progress, items, scratch: &[] };
    blocks::for_chunks(&plan, &inputs, &mut outputs, &mut |chunk| {
        let region =
            |k: usize| -> Option<Region<'_>> { places[k].and_then(|p| chunk.outputs.get(p)).map(|f| f.region) };
        let vectors = site.vectors(None, chunk.inputs.get(1))?;
        let out = kernels::Classified { residuals: region(0), hessian: region(1), classes: region(2) };
        let values = chunk.inputs[2].region;
        kernels::classify(
            dtype,
            gpu,
            chunk.stream,
            &site.batch(chunk),
            &vectors,
            &tables.regions(),
            values,
            degeneracy,
            &out,
        )
    })?;
    Ok(())
}
