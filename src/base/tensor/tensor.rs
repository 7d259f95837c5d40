//! Tensors: elements in memory of the host or of a GPU, with their layout.

use std::sync::Arc;

use super::location::{Location, allocate};
use super::packed::Symmetric;
use super::view::{View, ViewMut};
use crate::alloc;
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{Complex, DType, Element, Scalar, with_scalar};
use crate::shape::{Layout, Order, product, to_i64};

/// An array of numbers on the host or the context's GPU: dense of any rank, or a batch of packed symmetric tensors.
///
/// A symmetric batch of T tensors is stored as a U x T array of packed entries, so its layout is that of a matrix.
pub struct Tensor {
    // Declared before the context: device memory must be freed while its device is open.
    pub(super) memory: Memory,
    pub(super) layout: Layout,
    pub(super) dtype: DType,
    pub(super) symmetric: Option<Symmetric>,
    read_only: bool,
    pub(super) context: Arc<Context>,
}

impl Tensor {
    /// A zeroed tensor that owns its memory.
    ///
    /// # Errors
    /// As [`Layout::packed`]; [`Error::NotSupported`] for device memory of a context on the CPU; out of memory, the
    /// context's limit included; errors of the device.
    pub fn create(
        context: &Arc<Context>,
        dtype: DType,
        location: Location,
        order: Order,
        dims: &[usize],
    ) -> Result<Self> {
        let layout = Layout::packed(dims, order, dtype)?;
        let bytes = layout.extent() * dtype.size();
        let memory = allocate(context, "tensor", location, bytes)?;
        Ok(Self { memory, layout, dtype, symmetric: None, read_only: false, context: Arc::clone(context) })
    }

    /// A host vector that owns its memory, with the elements of `list`.
    ///
    /// # Errors
    /// As [`Tensor::create`].
    pub fn from_list<T: Element>(context: &Arc<Context>, list: &[T]) -> Result<Self> {
        let mut made = Self::create(context, T::DTYPE, Location::Host, Order::ColumnMajor, &[list.len()])?;
        made.view_mut::<T>("tensor")?.data()[..list.len()].copy_from_slice(list);
        Ok(made)
    }

    /// The numbers of a tensor on the host, first index fastest. `what` names them if memory is refused.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an integer type; [`Error::NotSupported`] for memory of a device; out of memory.
    pub fn numbers(&self, argument: &str, what: &'static str) -> Result<Vec<Complex<f64>>> {
        let mut numbers = alloc::with_capacity(what, self.layout.elements())?;
        with_scalar!(self.dtype, argument, T => {
            numbers.extend(self.view::<T>(argument)?.iter().map(|x| Complex::new(x.re(), x.im())));
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Writes numbers, first index fastest, into a tensor of `dims` on the host; only their real parts if its type is
    /// real.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for other dimensions, an integer type or read-only memory; [`Error::NotSupported`] for
    /// memory of a device.
    pub fn set_numbers(&mut self, argument: &str, dims: &[usize], numbers: &[Complex<f64>]) -> Result<()> {
        self.expect_dims(argument, dims)?;
        with_scalar!(self.dtype, argument, T => {
            self.view_mut::<T>(argument)?.write_all(numbers.iter().map(|v| T::from_parts(v.re, v.im)));
            Ok(())
        })
    }

    /// Writes the first numbers of a vector of F64 on the host; the others are unchanged.
    ///
    /// # Errors
    /// As [`Tensor::set_numbers`]; [`Error::InvalidArgument`] for more numbers than the vector has.
    pub fn set_first(&mut self, argument: &str, numbers: &[f64]) -> Result<()> {
        let elements = self.layout.elements();
        if self.layout.dims().len() != 1 || elements < numbers.len() {
            let problem = format!("has dimensions {:?}, [{}] are needed", self.dims(), numbers.len());
            return Err(Error::invalid(argument, problem));
        }
        self.view_mut::<f64>(argument)?.write_column(&[], numbers);
        Ok(())
    }

    /// Writes indices into a vector of I64 on the host.
    ///
    /// # Errors
    /// As [`Tensor::set_numbers`].
    pub fn set_indices(&mut self, argument: &str, indices: &[usize]) -> Result<()> {
        self.expect_dims(argument, &[indices.len()])?;
        let mut view = self.view_mut::<i64>(argument)?;
        indices.iter().enumerate().for_each(|(i, v)| view.set(&[i], to_i64(*v)));
        Ok(())
    }

    /// A zeroed batch of symmetric tensors that owns its memory. Each tensor's entries are contiguous (`ColumnMajor`),
    /// or each entry's tensors are (`RowMajor`).
    ///
    /// # Errors
    /// As [`Symmetric::batch_layout`] and [`Tensor::create`].
    pub fn create_symmetric(
        context: &Arc<Context>,
        dtype: DType,
        location: Location,
        order: Order,
        shape: Symmetric,
        count: usize,
    ) -> Result<Self> {
        let dims = [shape.count(), count];
        shape.batch_layout(dtype, order, count)?;
        let mut tensor = Self::create(context, dtype, location, order, &dims)?;
        tensor.symmetric = Some(shape);
        Ok(tensor)
    }

    /// A tensor over existing memory, which must hold `layout.extent()` elements.
    ///
    /// # Errors
    /// [`Error::Internal`] for too little memory, and for a symmetric batch whose first dimension is not the packed
    /// count.
    pub fn from_memory(
        context: &Arc<Context>,
        dtype: DType,
        layout: Layout,
        memory: Memory,
        read_only: bool,
        symmetric: Option<Symmetric>,
    ) -> Result<Self> {
        let needed = product("dims", layout.extent(), dtype.size())?;
        if memory.bytes() < needed {
            return Err(Error::Internal(format!("{} bytes for a layout of {needed}", memory.bytes())));
        }
        if let Some(s) = symmetric
            && layout.dims().first() != Some(&s.count())
        {
            return Err(Error::Internal("a symmetric batch whose first dimension is not the packed count".into()));
        }
        Ok(Self { memory, layout, dtype, symmetric, read_only, context: Arc::clone(context) })
    }

    /// The context it belongs to.
    #[inline]
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Type of the elements in memory.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Dimensions and strides, the latter in elements.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Sizes of the dimensions, first index first.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        self.layout.dims()
    }

    /// Order and dimension, if this is a symmetric batch.
    #[inline]
    pub fn symmetric(&self) -> Option<Symmetric> {
        self.symmetric
    }

    /// Host or device memory of the elements; [`Tensor::layout`] gives their places in it.
    #[inline]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The memory, to write to.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a read-only tensor or one whose elements overlap.
    pub fn memory_mut(&mut self, argument: &str) -> Result<&mut Memory> {
        self.check_writable(argument)?;
        Ok(&mut self.memory)
    }

    /// Whether the tensor is on the context's GPU.
    #[inline]
    pub fn is_device(&self) -> bool {
        matches!(self.memory, Memory::Device(_))
    }

    /// Whether it was borrowed for reading only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Refuses a tensor that may not be written to.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a tensor that was borrowed read-only, and for elements that overlap.
    pub fn check_writable(&self, argument: &str) -> Result<()> {
        if self.read_only {
            return Err(Error::invalid(argument, "was borrowed read-only and cannot be written to"));
        }
        if !self.layout.is_injective() {
            return Err(Error::invalid(
                argument,
                format!("has elements that overlap (strides {:?}) and cannot be written to", self.layout.strides()),
            ));
        }
        Ok(())
    }

    /// Order and dimension of the tensors of a symmetric batch.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` for a dense tensor.
    pub fn expect_symmetric(&self, argument: &str) -> Result<Symmetric> {
        self.symmetric
            .ok_or_else(|| Error::invalid(argument, "is a dense tensor, a batch of symmetric tensors is needed"))
    }

    /// Refuses other dimensions than `dims`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument`.
    pub fn expect_dims(&self, argument: &str, dims: &[usize]) -> Result<()> {
        if self.dims() == dims {
            return Ok(());
        }
        Err(Error::invalid(argument, format!("has dimensions {:?}, {dims:?} are needed", self.dims())))
    }

    /// Refuses another element type than `dtype`.
    ///
    /// # Errors
    /// As [`DType::expect`].
    pub fn expect_dtype(&self, argument: &str, dtype: DType) -> Result<()> {
        self.dtype.expect(argument, dtype)
    }

    /// Refuses a tensor of another context.
    ///
    /// # Errors
    /// As [`Context::expect_own`].
    pub fn expect_context(&self, argument: &str, context: &Context) -> Result<()> {
        context.expect_own(argument, &self.context)
    }

    /// The elements of a host tensor, for reading.
    ///
    /// # Errors
    /// As [`Tensor::expect_dtype`]; [`Error::NotSupported`] for device memory; [`Error::InvalidArgument`] for memory
    /// that is not aligned as `T` needs.
    pub fn view<T: Element>(&self, argument: &str) -> Result<View<'_, T>> {
        self.expect_dtype(argument, T::DTYPE)?;
        Ok(View::new(self.memory.host(argument)?.as_slice()?, &self.layout))
    }

    /// The elements of a host tensor, for writing.
    ///
    /// # Errors
    /// As [`Tensor::view`] and [`Tensor::check_writable`].
    pub fn view_mut<T: Element>(&mut self, argument: &str) -> Result<ViewMut<'_, T>> {
        self.expect_dtype(argument, T::DTYPE)?;
        self.check_writable(argument)?;
        Ok(ViewMut::new(self.memory.host_mut(argument)?.as_mut_slice()?, &self.layout))
    }
}
