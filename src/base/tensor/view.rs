//! Typed access to the elements of a host tensor.

use crate::scalar::Element;
use crate::shape::Layout;

/// Elements of a host tensor, for reading.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    data: &'a [T],
    layout: &'a Layout,
}

impl<'a, T: Element> View<'a, T> {
    /// A view of `data`, which begins with the tensor's first element.
    pub fn new(data: &'a [T], layout: &'a Layout) -> Self {
        Self { data, layout }
    }

    /// The elements as they lie in memory.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Dimensions and strides, the latter in elements.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Size of dimension `axis`, counted from 0.
    pub fn dim(&self, axis: usize) -> usize {
        self.layout.dims()[axis]
    }

    /// Stride of dimension `axis`, in elements.
    pub fn stride(&self, axis: usize) -> usize {
        self.layout.strides()[axis]
    }

    /// The element at `index`, one number from 0 for each dimension.
    pub fn get(&self, index: &[usize]) -> T {
        self.data[offset(self.layout, index)]
    }

    /// Copies the elements along axis 0 at `rest` (indices of the other axes) into `out`.
    pub fn read_column(&self, rest: &[usize], out: &mut [T]) {
        let base = column_offset(self.layout, rest);
        let step = self.stride(0);
        for (k, o) in out.iter_mut().enumerate() {
            *o = self.data[base + k * step];
        }
    }

    /// All elements, first index fastest.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let Self { data, layout } = *self;
        (0..layout.elements()).map(move |k| data[place(layout, k)])
    }
}

/// Elements of a host tensor, for writing.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    data: &'a mut [T],
    layout: &'a Layout,
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// A view of `data`, which begins with the tensor's first element.
    pub fn new(data: &'a mut [T], layout: &'a Layout) -> Self {
        Self { data, layout }
    }

    /// The elements as they lie in memory.
    pub fn data(&mut self) -> &mut [T] {
        self.data
    }

    /// Dimensions and strides, the latter in elements.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The element at `index`, to write.
    pub fn set(&mut self, index: &[usize], value: T) {
        self.data[offset(self.layout, index)] = value;
    }

    /// Writes `values` along axis 0 at `rest` (indices of the other axes).
    pub fn write_column(&mut self, rest: &[usize], values: &[T]) {
        let base = column_offset(self.layout, rest);
        let step = self.layout.strides()[0];
        for (k, v) in values.iter().enumerate() {
            self.data[base + k * step] = *v;
        }
    }

    /// Writes the elements, first index fastest.
    pub fn write_all(&mut self, values: impl Iterator<Item = T>) {
        for (k, value) in (0..self.layout.elements()).zip(values) {
            self.data[place(self.layout, k)] = value;
        }
    }
}

#[inline]
fn offset(layout: &Layout, index: &[usize]) -> usize {
    debug_assert!(index.iter().zip(layout.dims()).all(|(i, d)| i < d) && index.len() == layout.dims().len());
    index.iter().zip(layout.strides()).map(|(i, s)| i * s).sum()
}

/// Offset of element `k`, counted with the first index fastest.
#[inline]
fn place(layout: &Layout, mut k: usize) -> usize {
    let axes = layout.dims().iter().zip(layout.strides());
    axes.map(|(n, stride)| {
        let index = k % n;
        k /= n;
        index * stride
    })
    .sum()
}

#[inline]
fn column_offset(layout: &Layout, rest: &[usize]) -> usize {
    rest.iter().zip(&layout.strides()[1..]).map(|(i, s)| i * s).sum()
}
