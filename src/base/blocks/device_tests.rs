//! Batches against the same work without chunks, on a device.

use std::sync::Arc;

use super::batch::{Input, Plan};
use super::chunks::for_chunks;
use crate::backend::BackendChoice;
use crate::backend::gpu::kernels::sshopm::{Draw, draw_starts};
use crate::context::{Context, Options};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor, copy};

fn context(device_memory_limit: u64) -> Arc<Context> {
    let options = Options { backend: BackendChoice::Cuda, threads: 2, device_memory_limit, ..Options::default() };
    Context::new(options).unwrap()
}

/// Draws for n = 4 and V = 3. Their values depend on the item alone, so a wrong place is seen.
fn draw(context: &Arc<Context>, items: usize, output: &mut Tensor, scratch: &[usize]) -> Result<i64> {
    let gpu = context.gpu("test")?.clone();
    let progress = context.progress(None);
    let plan = Plan { context, gpu: &gpu, queue: gpu.default_stream(), progress: &progress, items, scratch };
    for_chunks(&plan, &[], &mut [("output", output)], &mut |chunk| {
        let what = Draw {
            dimension: 4,
            seed: 3,
            first_tensor: chunk.first,
            tensors: chunk.count,
            first_start: 0,
            starts: 3,
            cube: false,
        };
        draw_starts(DType::F32, &gpu, chunk.stream, &what, chunk.outputs[0].region)
    })
}

#[test]
#[ignore = "needs a GPU"]
fn outputs_are_the_same_wherever_they_lie_and_however_they_are_cut() {
    let items = 20_011;
    let dims = [4, 3, items];
    let wide = context(0);
    let mut expected = Tensor::create(&wide, DType::F32, Location::Host, Order::ColumnMajor, &dims).unwrap();
    let mut device = Tensor::create(&wide, DType::F32, Location::Device, Order::ColumnMajor, &dims).unwrap();
    assert_eq!(draw(&wide, items, &mut device, &[]).unwrap(), 1);
    copy(&wide, None, &device, &mut expected).unwrap();
    let expected = expected.view::<f32>("expected").unwrap();
    // 48 bytes an item: the limit holds some thousand of them.
    let narrow = context(1 << 19);
    for (context, location, order) in [
        (&wide, Location::Host, Order::ColumnMajor),
        (&wide, Location::PinnedHost, Order::ColumnMajor),
        (&wide, Location::PinnedHost, Order::RowMajor),
        (&narrow, Location::Host, Order::RowMajor),
        (&narrow, Location::PinnedHost, Order::ColumnMajor),
    ] {
        let mut output = Tensor::create(context, DType::F32, location, order, &dims).unwrap();
        let chunks = draw(context, items, &mut output, &[100]).unwrap();
        assert!(chunks > if Arc::ptr_eq(context, &narrow) { 10 } else { 2 }, "{chunks} chunks");
        let view = output.view::<f32>("output").unwrap();
        for t in 0..items {
            for v in 0..3 {
                for i in 0..4 {
                    assert_eq!(view.get(&[i, v, t]), expected.get(&[i, v, t]), "{location:?} {order:?} {t}");
                }
            }
        }
        assert_eq!(
            context.device_budget().used(),
            if Arc::ptr_eq(context, &wide) { device.memory().bytes() as u64 } else { 0 }
        );
    }
    let tiny = context(4096);
    let mut output = Tensor::create(&tiny, DType::F32, Location::Host, Order::ColumnMajor, &dims).unwrap();
    assert!(matches!(draw(&tiny, items, &mut output, &[]), Err(Error::OutOfDeviceMemory { .. })));
}

#[test]
#[ignore = "needs a GPU"]
fn inputs_arrive_whatever_their_strides() {
    use crate::backend::gpu::kernels::sshopm::{Batch, Tables, Vectors, products};
    let context = context(1 << 20);
    let items = 9001;
    let gpu = context.gpu("test").unwrap().clone();
    let queue = gpu.default_stream();
    let upload = |bytes: &[u8]| {
        let mut memory = gpu.allocate("test", bytes.len()).unwrap();
        gpu.upload(queue, bytes, &mut memory, 0).unwrap();
        memory
    };
    // Order 3, dimension 2: packed entries 111, 112, 122, 222.
    let indices = upload(&[0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1]);
    let floats = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let multinomials = upload(&floats(&[1.0, 3.0, 3.0, 1.0]));
    let vectors = upload(&floats(&[2.0, 1.0]));
    for (location, order) in [
        (Location::Host, Order::ColumnMajor),
        (Location::Host, Order::RowMajor),
        (Location::PinnedHost, Order::ColumnMajor),
        (Location::PinnedHost, Order::RowMajor),
        (Location::Device, Order::RowMajor),
    ] {
        let mut host = Tensor::create(&context, DType::F32, Location::Host, order, &[4, items]).unwrap();
        {
            let mut view = host.view_mut::<f32>("host").unwrap();
            for t in 0..items {
                for r in 0..4 {
                    view.set(&[r, t], (t * 5 + r * r) as f32);
                }
            }
        }
        let mut input = Tensor::create(&context, DType::F32, location, order, &[4, items]).unwrap();
        copy(&context, None, &host, &mut input).unwrap();
        let mut output = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &[items]).unwrap();
        let progress = context.progress(None);
        let plan = Plan { context: &context, gpu: &gpu, queue, progress: &progress, items, scratch: &[] };
        for_chunks(&plan, &[Input::any("input", &input)], &mut [("output", &mut output)], &mut |chunk| {
            let field = &chunk.inputs[0];
            let batch = Batch {
                memory: field.region,
                entry_stride: field.strides[0],
                tensor_stride: field.strides[1],
                order: 3,
                dimension: 2,
                entries: 4,
                count: chunk.count,
            };
            let vectors =
                Vectors { memory: vectors.whole(), component_stride: 1, vector_stride: 2, tensor_stride: 0, count: 1 };
            let tables = Tables { indices: indices.whole(), multinomials: multinomials.whole(), identity: None };
            products(DType::F32, &gpu, chunk.stream, &batch, &vectors, &tables, 3, chunk.outputs[0].region)
        })
        .unwrap();
        let view = output.view::<f32>("output").unwrap();
        for t in 0..items {
            let a = |r: usize| (t * 5 + r * r) as f32;
            // x = (2, 1): 8 a111 + 3 * 4 a112 + 3 * 2 a122 + a222.
            let expected = 8.0 * a(0) + 12.0 * a(1) + 6.0 * a(2) + a(3);
            let found = view.get(&[t]);
            assert!((found - expected).abs() <= 1e-6 * expected, "{location:?} {order:?} {t}: {found} {expected}");
        }
    }
}
