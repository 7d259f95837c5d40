//! Data whose entries follow from their place, in each kind of memory.

use std::sync::Arc;

use super::oracle::C64;
use crate::backend::memory::Memory;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::source::Source;
use crate::context::Context;
use crate::error::Result;
use crate::rsvd::data::{Data, Problem};
use crate::scalar::{DType, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Data whose entries follow from their place.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub rows: usize,
    pub columns: usize,
    pub dtype: DType,
    /// The number that is added to every entry.
    pub offset: f64,
}

impl Case {
    pub fn entry(&self, i: usize, j: usize) -> C64 {
        let x = ((i * 7919 + j * 104_729 + i * j * 31) % 1009) as f64 / 1009.0 - 0.5;
        let y = ((i * 31 + j * 17 + 5) % 101) as f64 / 101.0 - 0.5;
        let value = match self.dtype {
            DType::U8 => (x * 200.0 + 100.0).round(),
            DType::I8 => (x * 200.0).round(),
            DType::U16 | DType::I16 | DType::I32 | DType::U32 => (x * 2000.0 + 1000.0).round(),
            // Exact in 11 bits.
            DType::F16 => (x * 1024.0).round() / 256.0,
            _ => f64::from((x + self.offset) as f32),
        };
        let is_complex = self.dtype.is_complex();
        C64::new(value, if is_complex { f64::from(y as f32) } else { 0.0 })
    }

    pub fn matrix(&self) -> Vec<Vec<C64>> {
        (0..self.rows).map(|i| (0..self.columns).map(|j| self.entry(i, j)).collect()).collect()
    }

    fn put(&self, i: usize, j: usize, out: &mut [u8]) {
        let v = self.entry(i, j);
        match self.dtype {
            DType::U8 => out.copy_from_slice(&[v.re as u8]),
            DType::I8 => out.copy_from_slice(&(v.re as i8).to_ne_bytes()),
            DType::U16 => out.copy_from_slice(&(v.re as u16).to_ne_bytes()),
            DType::I16 => out.copy_from_slice(&(v.re as i16).to_ne_bytes()),
            DType::U32 => out.copy_from_slice(&(v.re as u32).to_ne_bytes()),
            DType::I32 => out.copy_from_slice(&(v.re as i32).to_ne_bytes()),
            DType::F16 => crate::blocks::number::encode(Number::F16, &[v.re], out),
            DType::F32 => out.copy_from_slice(&(v.re as f32).to_ne_bytes()),
            DType::F64 => out.copy_from_slice(&v.re.to_ne_bytes()),
            DType::CF32 => {
                out[..4].copy_from_slice(&(v.re as f32).to_ne_bytes());
                out[4..].copy_from_slice(&(v.im as f32).to_ne_bytes());
            }
            DType::CF64 => {
                out[..8].copy_from_slice(&v.re.to_ne_bytes());
                out[8..].copy_from_slice(&v.im.to_ne_bytes());
            }
            DType::I64 => unreachable!("no case has such entries"),
        }
    }

    /// The bytes, with `gap` more elements a line than there are.
    fn bytes(&self, order: Order, gap: usize) -> (Vec<u8>, usize) {
        let size = self.dtype.size();
        let (inner, outer) =
            if order == Order::RowMajor { (self.columns, self.rows) } else { (self.rows, self.columns) };
        let stride = inner + gap;
        let mut bytes = vec![0xa5; stride * outer * size];
        for o in 0..outer {
            for i in 0..inner {
                let (row, column) = if order == Order::RowMajor { (o, i) } else { (i, o) };
                let at = (o * stride + i) * size;
                self.put(row, column, &mut bytes[at..at + size]);
            }
        }
        (bytes, stride)
    }
}

/// The kind of memory that holds the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Pageable,
    Pinned,
    Device,
    Source,
}

pub(super) const PLACES: [From; 4] = [From::Pageable, From::Pinned, From::Device, From::Source];

/// A source over bytes in memory.
pub(super) struct Bytes {
    pub info: ArrayInfo,
    pub bytes: Vec<u8>,
    /// Reads after which it fails.
    pub left: usize,
}

impl Source for Bytes {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        if self.left == 0 {
            return Err(crate::error::Error::Io { path: "test".into(), problem: "no more".into() });
        }
        self.left -= 1;
        let size = self.info.number.size();
        block.for_runs(&self.info.dims, |from, to, length| {
            out[to * size..(to + length) * size].copy_from_slice(&self.bytes[from * size..(from + length) * size]);
            Ok(())
        })
    }
}

/// Data of a case in their place.
pub(super) enum Held {
    Memory(Tensor, usize),
    Source(Bytes),
}

pub(super) fn hold(case: &Case, context: &Arc<Context>, from: From, order: Order, gap: usize) -> Held {
    let gap = if from == From::Source { 0 } else { gap };
    let (bytes, stride) = case.bytes(order, gap);
    let location = match from {
        From::Source => {
            let dims = if order == Order::RowMajor { [case.columns, case.rows] } else { [case.rows, case.columns] };
            let info = ArrayInfo::new(Number::of("test", case.dtype).unwrap(), &dims).unwrap();
            return Held::Source(Bytes { info, bytes, left: usize::MAX });
        }
        From::Pageable => Location::Host,
        From::Pinned => Location::PinnedHost,
        From::Device => Location::Device,
    };
    let mut host = Tensor::create(context, DType::U8, Location::Host, Order::ColumnMajor, &[bytes.len()]).unwrap();
    host.memory_mut("test").unwrap().host_mut("test").unwrap().as_mut_slice().unwrap().copy_from_slice(&bytes);
    let mut there = Tensor::create(context, DType::U8, location, Order::ColumnMajor, &[bytes.len()]).unwrap();
    crate::tensor::copy(context, None, &host, &mut there).unwrap();
    if location == Location::Device {
        context.gpu("test").unwrap().default_stream().synchronize().unwrap();
    }
    Held::Memory(there, stride)
}

pub(super) fn problem<'a, T: Scalar>(case: &Case, held: &'a mut Held, order: Order) -> Problem<'a, T> {
    let data = match held {
        Held::Source(source) => Data::Streamed { source, order },
        Held::Memory(tensor, stride) => {
            let (row_stride, column_stride) = if order == Order::RowMajor { (*stride, 1) } else { (1, *stride) };
            let memory: &Memory = tensor.memory();
            Data::Dense { memory, dtype: case.dtype, row_stride, column_stride }
        }
    };
    Problem::new(case.rows, case.columns, data)
}
