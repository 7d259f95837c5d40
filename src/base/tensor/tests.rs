use std::sync::Arc;

use super::copy::{copy, copy_memory, copy_strided};
use super::location::Location;
use super::packed::Symmetric;
use super::tensor::Tensor;
use crate::backend::BackendChoice;
use crate::backend::memory::Memory;
use crate::context::{Context, Options};
use crate::scalar::{Complex, DType};
use crate::shape::{Layout, Order};
use crate::testing::cancel::is_cancelled;

fn context() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 1, ..Options::default() }).unwrap()
}

#[test]
fn packed_counts_are_the_binomials() {
    for (m, n, u) in
        [(3, 3, 10), (4, 3, 15), (6, 3, 28), (8, 3, 45), (4, 4, 35), (3, 10, 220), (6, 10, 5005), (5, 1, 1)]
    {
        assert_eq!(Symmetric::new(m, n).unwrap().count(), u, "({m},{n})");
    }
    for (m, n) in [(1, 3), (0, 3), (-2, 3), (2, 0), (40, 40), (i64::MAX, 2), (2, i64::MAX), (i64::MAX, i64::MAX)] {
        assert!(Symmetric::new(m, n).is_err(), "({m},{n})");
    }
    let e = |order, dimension| Symmetric::new(order, dimension).unwrap_err().to_string();
    assert_eq!(e(40, 39), "order: is 40, with dimension = 39 more than 2147483647 packed entries");
    assert_eq!(
        e(4, i64::MAX),
        format!("dimension: is {}, with order = 4 more than 2147483647 packed entries", i64::MAX)
    );
    let batch = Symmetric::new(4, 3).unwrap().batch_layout(DType::F64, Order::ColumnMajor, 1 << 60).unwrap_err();
    assert_eq!(batch.to_string(), "count: is 1152921504606846976, with 15 entries each more than 2^63 bytes");
    assert_eq!(Symmetric::new(1 << 20, 1).unwrap().count(), 1);
    for order in [(1 << 20) + 1, i64::from(i32::MAX), i64::MAX] {
        let e = Symmetric::new(order, 1).unwrap_err().to_string();
        assert_eq!(e, format!("order: is {order}, outside 2 to 1048576"));
    }
}

#[test]
fn numbers_are_read_and_written_first_index_fastest() {
    let c = context();
    let numbers: Vec<_> = (0..24).map(|k| Complex::new(f64::from(k), f64::from(-k))).collect();
    for (dtype, imaginary) in [(DType::F32, 0.0), (DType::F64, 0.0), (DType::CF32, -1.0), (DType::CF64, -1.0)] {
        for (dims, order) in [
            (&[24][..], Order::ColumnMajor),
            (&[4, 6], Order::ColumnMajor),
            (&[4, 6], Order::RowMajor),
            (&[2, 3, 4], Order::RowMajor),
        ] {
            let mut a = Tensor::create(&c, dtype, Location::Host, order, dims).unwrap();
            a.set_numbers("a", dims, &numbers).unwrap();
            let wanted: Vec<_> = numbers.iter().map(|x| Complex::new(x.re, x.re * imaginary)).collect();
            assert_eq!(a.numbers("a", "numbers").unwrap(), wanted, "{dtype:?} {dims:?} {order:?}");
        }
    }
    let mut rows = Tensor::create(&c, DType::F64, Location::Host, Order::RowMajor, &[2, 3]).unwrap();
    rows.set_numbers("a", &[2, 3], &numbers[..6]).unwrap();
    assert_eq!(rows.view::<f64>("a").unwrap().data()[..6], [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    let refused = rows.set_numbers("a", &[3, 2], &numbers[..6]).unwrap_err().to_string();
    assert_eq!(refused, "a: has dimensions [2, 3], [3, 2] are needed");
    let integers = Tensor::create(&c, DType::I64, Location::Host, Order::ColumnMajor, &[2]).unwrap();
    assert!(integers.numbers("a", "numbers").is_err());
}

#[test]
fn copies_follow_any_strides() {
    let c = context();
    let dims = [3, 4, 5];
    let mut a = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &dims).unwrap();
    let mut b = Tensor::create(&c, DType::F32, Location::Host, Order::RowMajor, &dims).unwrap();
    for (k, v) in a.view_mut::<f32>("a").unwrap().data().iter_mut().enumerate() {
        *v = k as f32;
    }
    copy(&c, None, &a, &mut b).unwrap();
    let (va, vb) = (a.view::<f32>("a").unwrap(), b.view::<f32>("b").unwrap());
    for i in 0..3 {
        for j in 0..4 {
            for k in 0..5 {
                assert_eq!(va.get(&[i, j, k]), vb.get(&[i, j, k]));
                assert_eq!(va.get(&[i, j, k]), (i + 3 * j + 12 * k) as f32);
            }
        }
    }
}

#[test]
fn mismatches_name_the_argument() {
    let c = context();
    let a = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &[2]).unwrap();
    let mut b = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &[3]).unwrap();
    assert_eq!(copy(&c, None, &a, &mut b).unwrap_err().to_string(), "destination: has dimensions [3], [2] are needed");
    let mut d = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, &[2]).unwrap();
    assert_eq!(copy(&c, None, &a, &mut d).unwrap_err().to_string(), "destination: is F64, F32 is needed");
    let other = context();
    assert!(copy(&other, None, &a, &mut d).unwrap_err().to_string().contains("another context"));
    assert!(Tensor::create(&c, DType::F32, Location::Device, Order::ColumnMajor, &[2]).is_err());
}

#[test]
fn empty_and_scalar_tensors_copy() {
    let c = context();
    for dims in [&[][..], &[0], &[3, 0, 2], &[1, 1]] {
        let a = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, dims).unwrap();
        let mut b = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, dims).unwrap();
        copy(&c, None, &a, &mut b).unwrap();
    }
}

#[test]
#[ignore = "needs a GPU"]
fn device_tensors_copy_from_order_to_order() {
    let c = Context::new(Options { backend: BackendChoice::Cuda, ..Options::default() }).unwrap();
    let orders = [Order::ColumnMajor, Order::RowMajor];
    let shapes: [&[usize]; 7] = [&[7, 9], &[1, 7, 1, 9], &[64, 33], &[5], &[3, 4, 5], &[1, 1], &[0, 4]];
    for dtype in [DType::U8, DType::I16, DType::F32, DType::I32, DType::F64, DType::CF32, DType::CF64] {
        for dims in shapes {
            for (from, to) in [(orders[0], orders[1]), (orders[1], orders[0])] {
                let tensor = |location, order| Tensor::create(&c, dtype, location, order, dims).unwrap();
                let mut here = tensor(Location::Host, from);
                let bytes = here.memory_mut("here").unwrap();
                if let Memory::Host(host) = bytes {
                    // Among the bit patterns are those of signalling NaN.
                    host.as_mut_slice::<u8>()
                        .unwrap()
                        .iter_mut()
                        .enumerate()
                        .for_each(|(i, b)| *b = (i * 37 % 255) as u8);
                }
                let (mut there, mut other) = (tensor(Location::Device, from), tensor(Location::Device, to));
                copy(&c, None, &here, &mut there).unwrap();
                copy(&c, None, &there, &mut other).unwrap();
                let mut back = tensor(Location::Host, from);
                copy(&c, None, &other, &mut back).unwrap();
                let content = |t: &Tensor| match t.memory() {
                    Memory::Host(host) => host.as_slice::<u8>().unwrap().to_vec(),
                    Memory::Device(_) => Vec::new(),
                };
                assert_eq!(content(&back), content(&here), "{} {dims:?}", dtype.name());
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn parts_of_device_matrices_are_copied() {
    let c = Context::new(Options { backend: BackendChoice::Cuda, ..Options::default() }).unwrap();
    let (rows, cols, ld) = (37, 23, 41);
    // By columns and by rows, without gaps and with.
    let layouts = [[1, rows], [1, ld], [cols, 1], [ld, 1]];
    for dtype in [DType::F32, DType::I64, DType::CF64] {
        let size = dtype.size();
        for from in layouts {
            for to in layouts {
                let [from, to] = [from, to].map(|strides| Layout::strided(&[rows, cols], &strides, dtype).unwrap());
                let given: Vec<u8> = (0..ld * ld * size).map(|i| (i * 89 % 251) as u8).collect();
                let memory = || c.gpu("x").unwrap().allocate("matrix", given.len()).unwrap();
                let (mut source, mut destination) = (Memory::Device(memory()), Memory::Device(memory()));
                let queue = c.gpu("x").unwrap().default_stream();
                let Memory::Device(device) = &mut source else { unreachable!() };
                c.gpu("x").unwrap().upload(queue, &given, device, 0).unwrap();
                copy_memory(&c, Some(queue), dtype, (&source, &from), (&mut destination, &to)).unwrap();
                let Memory::Device(device) = &destination else { unreachable!() };
                let mut found = vec![0u8; given.len()];
                c.gpu("x").unwrap().download(queue, device, 0, &mut found).unwrap();
                let mut want = vec![0u8; given.len()];
                copy_strided(size, &given, from.strides(), &mut want, to.strides(), &[rows, cols]);
                assert!(found == want, "{} {:?} to {:?}", dtype.name(), from.strides(), to.strides());
            }
        }
    }
}

/// Copies of packed and of turned arrays, of more than one piece.
#[test]
fn copies_end_when_the_context_is_cancelled() {
    let c = context();
    let dims = [512, 1024];
    let tensor = |order| Tensor::create(&c, DType::F64, Location::Host, order, &dims).unwrap();
    let (a, mut same, mut turned) = (tensor(Order::ColumnMajor), tensor(Order::ColumnMajor), tensor(Order::RowMajor));
    is_cancelled(&|| c.cancel(), "packed", || copy(&c, None, &a, &mut same));
    is_cancelled(&|| c.cancel(), "turned", || copy(&c, None, &a, &mut turned));
}

/// Elements of every size along lines with gaps, of one piece and of several, and in runs next to each other.
#[test]
fn strided_elements_of_every_size_arrive_in_their_places() {
    let layouts: [([usize; 2], [usize; 2], [usize; 2]); 5] = [
        ([5, 7], [1, 5], [7, 1]),
        ([5, 7], [2, 11], [1, 5]),
        ([6, 4], [1, 9], [1, 6]),
        ([1, 3], [1, 2], [4, 5]),
        ([3 << 16, 2], [2, 6 << 16], [1, 3 << 16]),
    ];
    for (dims, from_strides, to_strides) in layouts {
        for size in [1, 2, 3, 4, 8, 16] {
            let extent = |s: &[usize; 2]| size * (1 + (dims[0] - 1) * s[0] + (dims[1] - 1) * s[1]);
            let from: Vec<u8> = (0..extent(&from_strides)).map(|at| (at % 251) as u8).collect();
            let mut to = vec![255u8; extent(&to_strides)];
            copy_strided(size, &from, &from_strides, &mut to, &to_strides, &dims);
            let mut want = vec![255u8; to.len()];
            for (i, j) in (0..dims[0]).flat_map(|i| (0..dims[1]).map(move |j| (i, j))) {
                let place = |s: &[usize; 2]| size * (i * s[0] + j * s[1]);
                want[place(&to_strides)..][..size].copy_from_slice(&from[place(&from_strides)..][..size]);
            }
            assert!(to == want, "{dims:?} {from_strides:?} {to_strides:?} {size}");
        }
    }
}
