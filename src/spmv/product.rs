//! Entry points: products of a plan, a matrix and vectors.

use super::cpu::{self, Finish, Job};
use super::known;
use super::plan::Plan;
use super::tiles::csr;
use crate::backend::Backend;
use crate::backend::memory::Memory;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::matrix::Matrix;
use crate::matrix::sparse::Rows;
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::shape::{Layout, Order, product};
use crate::stream::{self, Stream};
use crate::tensor::Tensor;

impl Plan {
    /// y = alpha op(A) x + beta y, or the same with the operator of A that [`super::Options::kind`] names. Vectors are
    /// on the host, or on the device of a context on a GPU. If y is on the device, the product is enqueued on the
    /// context's own stream; if y is on the host, it is complete on return. With beta = 0, y is not read; with alpha =
    /// 0, A and x are not read. O(rows + entries); reads rows * 8 + entries * 12 bytes in f64 with 32-bit indices.
    ///
    /// Sums are in the element type. Shares and their order depend only on the structure of A, so equal calls give
    /// equal bits for any number of threads.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a matrix of another structure than the plan's, another type or length of x or y,
    /// or a read-only y; [`Error::NotSupported`] for strided vectors.
    pub fn apply(&self, alpha: Complex<f64>, a: &Matrix, x: &Tensor, beta: Complex<f64>, y: &mut Tensor) -> Result<()> {
        self.apply_on(None, (alpha, beta), a, x, y)
    }

    /// [`Plan::apply`] on a stream of the context, with (alpha, beta); `None` is the context's own.
    ///
    /// # Errors
    /// As [`Plan::apply`]; [`Error::InvalidArgument`] for a stream of another context.
    pub fn apply_on(
        &self,
        queue: Option<&Stream>,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        a: &Matrix,
        x: &Tensor,
        y: &mut Tensor,
    ) -> Result<()> {
        self.expect(a)?;
        let (rows, cols) = self.size();
        x.expect_context("x", self.context())?;
        y.expect_context("y", self.context())?;
        x.expect_dims("x", &[cols])?;
        y.expect_dims("y", &[rows])?;
        let queue = stream::select(self.context(), queue)?;
        if let (Backend::Gpu(gpu), Some(queue)) = (self.context().backend(), queue) {
            if known::is_on_host(a)? {
                return with_scalar!(a.dtype(), "a", T => self.apply_through_host::<T>((gpu, queue), a, (alpha, beta), x, y));
            }
            return self.apply_on_device((gpu, queue), a, (alpha, beta), x, y);
        }
        with_scalar!(a.dtype(), "a", T => {
            let x = packed("x", x.view::<T>("x")?.data(), x)?;
            let strided = y.layout().strides()[0] != 1 && rows > 1;
            if strided {
                return Err(Error::NotSupported(format!("y: has stride {}, 1 is needed", y.layout().strides()[0])));
            }
            let mut y = y.view_mut::<T>("y")?;
            let factors = (T::from_parts(alpha.re, alpha.im), T::from_parts(beta.re, beta.im));
            self.multiply(a, factors, 1, x, &mut y.data()[..rows])
        })
    }

    /// Y = alpha op(A) X + beta Y for the columns of dense matrices. Both are on the host or, in a context on a GPU,
    /// both are on its device, where the products are enqueued on the context's own stream. For packed row-major X and
    /// Y, A is read once for all columns; on the device they may have any leading dimension. Column-major ones may have
    /// any leading dimension and take one product for each column.
    ///
    /// # Errors
    /// As [`Plan::apply`]; [`Error::NotSupported`] for X and Y of different orders, or row-major with gaps.
    pub fn apply_block(
        &self,
        alpha: Complex<f64>,
        a: &Matrix,
        x: &Matrix,
        beta: Complex<f64>,
        y: &mut Matrix,
    ) -> Result<()> {
        self.apply_block_on(None, (alpha, beta), a, x, y)
    }

    /// [`Plan::apply_block`] on a stream of the context, with (alpha, beta); `None` is the context's own. Matrices in
    /// host memory always use the context's own.
    ///
    /// # Errors
    /// As [`Plan::apply_block`]; [`Error::InvalidArgument`] for a stream of another context.
    pub fn apply_block_on(
        &self,
        queue: Option<&Stream>,
        (alpha, beta): (Complex<f64>, Complex<f64>),
        a: &Matrix,
        x: &Matrix,
        y: &mut Matrix,
    ) -> Result<()> {
        self.expect(a)?;
        let queue = stream::select(self.context(), queue)?;
        let ((rows, cols), width) = (self.size(), x.cols());
        x.expect_context("x", self.context())?;
        y.expect_context("y", self.context())?;
        x.expect_dtype("x", a.dtype())?;
        y.expect_dtype("y", a.dtype())?;
        x.expect_size("x", cols, width)?;
        y.expect_size("y", rows, width)?;
        let (mut x, mut y) = (x.dense("x")?, y.dense_mut("y")?);
        // A single row or column without gaps and a matrix without elements have both orders.
        let turned_x = turned(x.layout, y.order, a.dtype())?;
        let turned_y = turned(y.layout, x.order, a.dtype())?;
        match (turned_x.as_ref(), turned_y.as_ref()) {
            _ if x.order == y.order => {}
            (Some(layout), _) => (x.layout, x.order) = (layout, y.order),
            (_, Some(layout)) => (y.layout, y.order) = (layout, x.order),
            _ => {}
        }
        if x.order != y.order {
            return Err(Error::NotSupported("y: is stored in another order than x".into()));
        }
        if width == 0 {
            return Ok(());
        }
        if let (Memory::Device(_), Memory::Device(_), Some(queue)) = (x.memory, &*y.memory, queue) {
            let scalars = (alpha, beta);
            if known::is_on_host(a)? {
                return with_scalar!(a.dtype(), "a", T => self.apply_block_through_host::<T>(queue, a, scalars, x, y));
            }
            return self.apply_block_on_device(queue, a, scalars, width, x, y);
        }
        with_scalar!(a.dtype(), "a", T => {
            let (alpha, beta) = (T::from_parts(alpha.re, alpha.im), T::from_parts(beta.re, beta.im));
            let (from, to) = (x.memory.host("x")?.as_slice::<T>()?, y.memory.host_mut("y")?.as_mut_slice::<T>()?);
            self.multiply_lines(a, (alpha, beta), x.order, (from, x.layout), (to, y.layout))
        })
    }

    /// Y = alpha Op X + beta Y for the columns of dense matrices of one order on the host.
    pub(super) fn multiply_lines<T: Scalar>(
        &self,
        a: &Matrix,
        scalars: (T, T),
        order: Order,
        (from, x): (&[T], &Layout),
        (to, y): (&mut [T], &Layout),
    ) -> Result<()> {
        let ((rows, cols), width) = (self.size(), x.dims()[1]);
        if order == Order::RowMajor {
            for (name, layout) in [("x", x), ("y", y)] {
                if !layout.is_packed(Order::RowMajor) {
                    let ld = layout.strides()[0];
                    return Err(Error::NotSupported(format!("{name}: has ld = {ld}, its {width} columns are needed")));
                }
            }
            return self.multiply(a, scalars, width, &from[..cols * width], &mut to[..rows * width]);
        }
        // Columns without rows have no address.
        let column = |j: usize, stride: usize, len: usize| if len == 0 { 0..0 } else { j * stride..j * stride + len };
        (0..width).try_for_each(|j| {
            let (from, to) = (&from[column(j, x.strides()[1], cols)], &mut to[column(j, y.strides()[1], rows)]);
            self.multiply(a, scalars, 1, from, to)
        })
    }

    /// Y = alpha Op X + beta Y for rows of `width` numbers in the matrix's order. Op is the plan's operator of A, or
    /// its filter.
    pub(super) fn multiply<T: Scalar>(
        &self,
        a: &Matrix,
        (alpha, beta): (T, T),
        width: usize,
        x: &[T],
        y: &mut [T],
    ) -> Result<()> {
        let run = |x: &[T], y: &mut [T]| match self.options().degree {
            // With alpha = 0 there is no product to filter.
            1.. if alpha != T::default() => self.filter(a, (alpha, beta), width, x, y),
            _ => self.once(a, (alpha, beta), width, x, y),
        };
        // With alpha = 0, x is not read, and the order does not matter.
        if alpha == T::default() { run(x, y) } else { self.ordered(width, beta != T::default(), x, y, run) }
    }

    /// Y = alpha Op X + beta Y in the plan's order, without a filter.
    pub(super) fn once<T: Scalar>(
        &self,
        a: &Matrix,
        (alpha, beta): (T, T),
        width: usize,
        x: &[T],
        y: &mut [T],
    ) -> Result<()> {
        match self.operator() {
            Some(operator) => self.operate(operator, a, (alpha, beta), width, x, y),
            None if width == 1 => self.compute(a, Finish::plain(alpha, beta), x, x, y),
            None => self.compute_block(a, (alpha, beta), width, x, y),
        }
    }

    compiled_here! {
        /// Y = alpha op(A) X + beta Y for `width` vectors, whatever the plan's kind. X and Y are row-major: rows of `width`
        /// numbers without gaps. A is read once for all vectors, and each entry gathers consecutive numbers. Rows are in
        /// the plan's order ([`Plan::renumbering`]).
        ///
        /// # Errors
        /// [`Error::InvalidArgument`] for no vectors, and other lengths of x or y; [`Error::OutOfMemory`].
        pub fn compute_block<T: Scalar>(
            &self: Plan,
            a: &Matrix,
            factors: (T, T),
            width: usize,
            x: &[T],
            y: &mut [T],
        ) -> Result<()> = Plan::compute_block_of;
    }

    fn compute_block_of<T: Scalar>(
        &self,
        a: &Matrix,
        (alpha, beta): (T, T),
        width: usize,
        x: &[T],
        y: &mut [T],
    ) -> Result<()> {
        self.compute_block_finished(a, Finish::plain(alpha, beta), width, (x, x), y)
    }

    /// As [`Plan::compute`] for rows of `width` numbers.
    pub(super) fn compute_block_finished<T: Scalar>(
        &self,
        a: &Matrix,
        finish: Finish<'_, T>,
        width: usize,
        (gathered, x): (&[T], &[T]),
        y: &mut [T],
    ) -> Result<()> {
        if width == 0 {
            return Err(Error::invalid("width", "is 0, at least 1 is needed"));
        }
        let (rows, cols) = self.matrix_size();
        for (name, found, size) in [("x", gathered.len(), cols), ("y", y.len(), rows)] {
            let need = product(name, size, width)?;
            if found != need {
                return Err(Error::invalid(name, format!("has {found} elements, {need} are needed")));
            }
        }
        if let Some(own) = known::operator(a) {
            return self.ask(own, finish, width, (gathered, x), y);
        }
        if let Backend::Gpu(gpu) = self.context().backend() {
            return self.compute_block_on_device(gpu, a, finish, width, (gathered, x), y);
        }
        if finish.alpha == T::default() {
            let of = |at: usize, y: T| finish.rest_of(at / width, || x[at], y);
            self.context().pool().run_here(|| y.iter_mut().enumerate().for_each(|(at, y)| *y = of(at, *y)));
            return Ok(());
        }
        let from = csr(self.matrix(a))?;
        let values = from.parts().values.as_ref().map(|v| v.host("a")?.as_slice::<T>()).transpose()?;
        let job = cpu::block::BlockJob { rows: Rows::new(from)?, values, finish, gathered, x, width };
        cpu::block::product(self.context(), self.shares(), &job, y)
    }

    compiled_here! {
        /// y = `finish` applied to the sums op(A) `gathered`, whatever the plan's kind. Slices have the matrix's type and
        /// the plan's order ([`Plan::renumbering`]).
        ///
        /// # Errors
        /// [`Error::InvalidArgument`] for other lengths; [`Error::OutOfMemory`].
        pub fn compute<T: Scalar>(
            &self: Plan,
            a: &Matrix,
            finish: Finish<'_, T>,
            gathered: &[T],
            x: &[T],
            y: &mut [T],
        ) -> Result<()> = Plan::compute_of;
    }

    fn compute_of<T: Scalar>(
        &self,
        a: &Matrix,
        finish: Finish<'_, T>,
        gathered: &[T],
        x: &[T],
        y: &mut [T],
    ) -> Result<()> {
        let (rows, cols) = self.matrix_size();
        for (name, found, need) in [("x", gathered.len(), cols), ("y", y.len(), rows)] {
            if found != need {
                return Err(Error::invalid(name, format!("has {found} elements, {need} are needed")));
            }
        }
        if let Some(own) = known::operator(a) {
            return self.ask(own, finish, 1, (gathered, x), y);
        }
        if let Backend::Gpu(gpu) = self.context().backend() {
            return self.compute_on_device(gpu, a, finish, gathered, x, y);
        }
        if finish.alpha == T::default() {
            // Do not multiply by 0: NaN times 0 is not 0.
            self.context().pool().run_here(|| {
                y.iter_mut().enumerate().for_each(|(i, y)| *y = finish.rest(i, x, *y));
            });
            return Ok(());
        }
        let from = csr(self.matrix(a))?;
        let values = from.parts().values.as_ref().map(|v| v.host("a")?.as_slice::<T>()).transpose()?;
        let job = Job { rows: Rows::new(from)?, values, finish, gathered, x };
        cpu::product(self.context(), self.shares(), &job, y)
    }
}

/// The layout of a single row or column without gaps, or of a matrix without elements, in the other order; `None` for other
/// shapes.
fn turned(layout: &Layout, order: Order, dtype: DType) -> Result<Option<Layout>> {
    let has_both = layout.dims().contains(&0) || (layout.dims().contains(&1) && layout.is_packed(order));
    if has_both { Ok(Some(Layout::packed(layout.dims(), order, dtype)?)) } else { Ok(None) }
}

pub(super) fn packed<'a, T>(argument: &str, data: &'a [T], tensor: &Tensor) -> Result<&'a [T]> {
    let (length, stride) = (tensor.dims()[0], tensor.layout().strides()[0]);
    if stride != 1 && length > 1 {
        return Err(Error::NotSupported(format!("{argument}: has stride {stride}, 1 is needed")));
    }
    Ok(&data[..length])
}
