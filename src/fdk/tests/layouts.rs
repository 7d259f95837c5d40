//! Arrays whose rows stand apart in memory, and of every type.

use std::sync::Arc;

use super::golden::GRID;
use super::session::{Scan, cpu, empty, scan, values};
use crate::backend::memory::{HostMemory, Memory};
use crate::blocks::number::{Number, encode};
use crate::context::Context;
use crate::fdk::options::Options;
use crate::fdk::{Fdk, Projections, Volume};
use crate::scalar::{DType, Element};
use crate::shape::Layout;
use crate::tensor::Tensor;

/// A tensor whose rows are `gap` elements apart and whose planes twice that, over elements that are all `filler`.
fn apart<T: Element>(context: &Arc<Context>, dims: [usize; 3], gap: usize, filler: T) -> Tensor {
    let row = dims[0] + gap;
    let layout = Layout::strided(&dims, &[1, row, row * dims[1] + 2 * gap], T::DTYPE).unwrap();
    let bytes = layout.extent() * T::DTYPE.size();
    let mut memory = HostMemory::allocate("tensor", bytes, context.host_budget()).unwrap();
    memory.as_mut_slice::<T>().unwrap()[..layout.extent()].fill(filler);
    Tensor::from_memory(context, T::DTYPE, layout, Memory::Host(memory), false, None).unwrap()
}

/// The views `first` to `first + count - 1` of a scan, with rows apart. The gaps between them must not be read.
fn rows_apart<T: Element>(
    scan: &Scan,
    context: &Arc<Context>,
    (first, count): (usize, usize),
    of: fn(f32) -> T,
) -> Tensor {
    let [columns, rows, _] = scan.dims;
    let mut tensor = apart(context, [columns, rows, count], 5, of(f32::NAN));
    let mut view = tensor.view_mut::<T>("projections").unwrap();
    for (r, row) in scan.projections.chunks(columns).skip(first * rows).take(count * rows).enumerate() {
        let row: Vec<T> = row.iter().map(|p| of(*p)).collect();
        view.write_column(&[r % rows, r / rows], &row);
    }
    tensor
}

fn reconstruct(fdk: &mut Fdk, projections: &Tensor, volume: &mut Tensor) {
    fdk.reconstruct(None, Projections::Tensor(projections), Volume::Tensor(volume), None).unwrap();
}

#[test]
fn rows_apart_are_taken_and_written_and_what_lies_between_is_left_alone() {
    let (scan, context) = (scan("short"), cpu(0));
    let mut want = empty(&context);
    reconstruct(&mut scan.fdk(&context, Options::default()), &scan.tensor(&context), &mut want);
    let want = values(&want);
    let count = scan.dims[2];
    for slab in [0, 16] {
        let mut fdk = scan.fdk(&context, Options { slab, ..Options::default() });
        let check = |out: &Tensor| {
            assert!(values(out) == want, "slab {slab}");
            let view = out.view::<f32>("volume").unwrap();
            let untouched = view.data().iter().filter(|v| **v == 77.0).count();
            assert_eq!(untouched, view.data().len() - want.len());
        };
        // Numbers that were f32 are the same as f64.
        for wide in [false, true] {
            let part = |views| match wide {
                false => rows_apart(&scan, &context, views, |p| p),
                true => rows_apart(&scan, &context, views, f64::from),
            };
            let mut out = apart(&context, GRID.size, 3, 77.0f32);
            reconstruct(&mut fdk, &part((0, count)), &mut out);
            check(&out);
            fdk.begin(None).unwrap();
            for first in (0..count).step_by(13) {
                let views = (first, 13.min(count - first));
                let names: Vec<i64> = (views.0 as i64..(views.0 + views.1) as i64).collect();
                fdk.push(&names, &part(views)).unwrap();
            }
            let mut out = apart(&context, GRID.size, 3, 77.0f32);
            fdk.finish(Volume::Tensor(&mut out), None).unwrap();
            check(&out);
        }
    }
}

#[test]
fn counts_of_every_integer_type_are_the_same_counts() {
    let (scan, context) = (scan("full"), cpu(0));
    // Counts that fit all types.
    let counts: Vec<f32> = scan.projections.iter().map(|p| (1.0 + 120.0 * (-p / 40.0).exp()).round()).collect();
    let model = crate::fdk::counts::Counts { unattenuated: 121.0, unattenuated_image: None, dark: None, least: 0.0 };
    let mut before: Option<Vec<f32>> = None;
    for dtype in [DType::U8, DType::I8, DType::U16, DType::I16, DType::U32, DType::I32, DType::F32, DType::F64] {
        let number = Number::of("projections", dtype).unwrap();
        let mut memory = HostMemory::allocate("tensor", counts.len() * dtype.size(), context.host_budget()).unwrap();
        encode(number, &counts, memory.as_mut_slice::<u8>().unwrap());
        let layout = Layout::packed(&scan.dims, crate::shape::Order::ColumnMajor, dtype).unwrap();
        let input = Tensor::from_memory(&context, dtype, layout, Memory::Host(memory), true, None).unwrap();
        for pushed in [false, true] {
            let mut fdk = scan.fdk(&context, Options::default());
            fdk.set_counts(Some(model.clone())).unwrap();
            let mut out = empty(&context);
            if pushed {
                fdk.begin(None).unwrap();
                fdk.push(&(0..90).collect::<Vec<_>>(), &input).unwrap();
                fdk.finish(Volume::Tensor(&mut out), None).unwrap();
            } else {
                reconstruct(&mut fdk, &input, &mut out);
            }
            let got = values(&out);
            assert!(before.get_or_insert_with(|| got.clone()) == &got, "{dtype:?}, pushed: {pushed}");
        }
    }
}
