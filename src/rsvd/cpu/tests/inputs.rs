//! Every kind of data: strided, packed, sparse, and given by products alone.

use super::plain::{C64, Plain};
use crate::backend::memory::{Budget, HostMemory, Memory};
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::{Number, encode};
use crate::dense::Op;
use crate::error::Result;
use crate::matrix::{Csr, CsrParts, IndexType, Operator};
use crate::scalar::Scalar;
use crate::shape::Order;

fn bytes_of(number: Number, values: &[C64]) -> Vec<u8> {
    let mut bytes = vec![0u8; values.len() * number.size()];
    if number.is_complex() {
        encode(number, values, &mut bytes);
    } else {
        let real: Vec<f64> = values.iter().map(|x| x.re).collect();
        encode(number, &real, &mut bytes);
    }
    bytes
}

/// The matrix as `number`, with a gap of `gap` elements that no product may read.
pub(super) fn laid_out(a: &Plain, number: Number, order: Order, gap: usize) -> (Memory, usize, usize) {
    let (outer, inner) = if order == Order::RowMajor { (a.rows, a.cols) } else { (a.cols, a.rows) };
    let mut values = Vec::new();
    for o in 0..outer {
        for i in 0..inner {
            values.push(if order == Order::RowMajor { a.at(o, i) } else { a.at(i, o) });
        }
        if o + 1 < outer {
            values.extend(vec![C64::new(if number.size() > 2 { f64::NAN } else { 99.0 }, 7.0); gap]);
        }
    }
    let bytes = bytes_of(number, &values);
    let mut memory = HostMemory::allocate("test", bytes.len(), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<u8>().unwrap().copy_from_slice(&bytes);
    let strides = if order == Order::RowMajor { (inner + gap, 1) } else { (1, inner + gap) };
    (Memory::Host(memory), strides.0, strides.1)
}

pub(super) fn packed(a: &Plain, number: Number, order: Order) -> (ArrayInfo, Vec<u8>) {
    let (info, values) = match order {
        Order::RowMajor => ([a.cols, a.rows], a.adjoint().data.iter().map(|x| x.conj()).collect::<Vec<_>>()),
        Order::ColumnMajor => ([a.rows, a.cols], a.data.clone()),
    };
    (ArrayInfo::new(number, &info).unwrap(), bytes_of(number, &values))
}

pub(super) struct Known(pub Plain, pub usize);

impl<T: Scalar> Operator<T> for Known {
    fn shape(&self) -> (usize, usize) {
        (self.0.rows, self.0.cols)
    }

    fn apply(&mut self, op: Op, x: &[T], count: usize, y: &mut [T]) -> Result<()> {
        self.1 += 1;
        let a = if op == Op::Plain { self.0.clone() } else { self.0.adjoint() };
        let x = Plain { rows: a.cols, cols: count, data: x.iter().map(|v| C64::new(v.re(), v.im())).collect() };
        for (to, v) in y.iter_mut().zip(a.times(&x).data) {
            *to = T::from_parts(v.re, v.im);
        }
        Ok(())
    }
}

fn host<E: crate::scalar::Element>(values: &[E]) -> HostMemory {
    let mut memory = HostMemory::allocate("test", size_of_val(values), &Budget::new(0)).unwrap();
    memory.as_mut_slice::<E>().unwrap().copy_from_slice(values);
    memory
}

/// A sparse matrix in rows that are not in order, a third of whose places are stored twice: 2 x and -x make x.
pub(super) fn sparse<T: Scalar>(a: &Plain, base: i64, long: bool) -> Csr {
    let (mut offsets, mut columns, mut values) = (vec![base], Vec::new(), Vec::new());
    for i in 0..a.rows {
        let mut put = |j: usize, x: C64, times: f64| {
            columns.push(j as i64 + base);
            values.push(T::from_parts(times * x.re, times * x.im));
        };
        let stored: Vec<usize> = (0..a.cols).rev().filter(|&j| a.at(i, j).norm() != 0.0).collect();
        for &j in &stored {
            put(j, a.at(i, j), if (i + j) % 3 == 0 { 2.0 } else { 1.0 });
        }
        for &j in stored.iter().filter(|&&j| (i + j) % 3 == 0) {
            put(j, a.at(i, j), -1.0);
        }
        offsets.push(columns.len() as i64 + base);
    }
    let short = |v: &[i64]| host(&v.iter().map(|x| *x as i32).collect::<Vec<_>>());
    let parts = if long {
        CsrParts {
            row_ptr: host(&offsets),
            row_ptr_type: IndexType::I64,
            col_idx: short(&columns),
            col_idx_type: IndexType::I32,
            values: Some(Memory::Host(host(&values))),
        }
    } else {
        CsrParts {
            row_ptr: short(&offsets),
            row_ptr_type: IndexType::I32,
            col_idx: host(&columns),
            col_idx_type: IndexType::I64,
            values: Some(Memory::Host(host(&values))),
        }
    };
    Csr::new(parts, a.rows, a.cols, values.len(), base).unwrap()
}
