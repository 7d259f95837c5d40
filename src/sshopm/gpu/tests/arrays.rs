//! Arrays wherever they lie, chunks, and failures between them.

use super::cases::{Case, Found, context, entry, integers, numbers};
use crate::backend::BackendChoice;
use crate::error::Error;
use crate::scalar::DType;
use crate::shape::Order;
use crate::sshopm::{Options, Results, StartKind, all, solve, starts};
use crate::tensor::{Location, Symmetric, Tensor};

#[test]
#[ignore = "needs a GPU"]
fn large_batches_are_the_same_wherever_the_arrays_lie() {
    let wide = context(BackendChoice::Cuda, 0);
    let narrow = context(BackendChoice::Cuda, 4 << 20);
    for (shape, start_kind) in [
        (Symmetric::new(4, 3).unwrap(), StartKind::Auto),
        (Symmetric::new(4, 3).unwrap(), StartKind::Random),
        (Symmetric::new(3, 4).unwrap(), StartKind::Random),
    ] {
        let items = 9000;
        let seed = if start_kind == StartKind::Random { 5 } else { Options::default().seed };
        let options = Options { start_kind, starts: 16, seed, ..Options::default() };
        let reference = Case::<f32>::new(&wide, shape, items, Location::Device, Order::ColumnMajor, entry).solve(
            &options,
            3,
            Location::Device,
        );
        assert!(reference.count.iter().all(|c| *c > 0));
        for (context, from, order, to) in [
            (&wide, Location::Host, Order::ColumnMajor, Location::Host),
            (&wide, Location::PinnedHost, Order::ColumnMajor, Location::PinnedHost),
            (&wide, Location::PinnedHost, Order::RowMajor, Location::Device),
            (&wide, Location::Device, Order::RowMajor, Location::Host),
            (&narrow, Location::Host, Order::RowMajor, Location::PinnedHost),
        ] {
            let found = Case::<f32>::new(context, shape, items, from, order, entry).solve(&options, 3, to);
            let what = format!("{shape:?} {start_kind:?} {from:?} {order:?} {to:?}");
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(found.count, reference.count, "{what}");
            assert_eq!(found.status, reference.status, "{what}");
            assert_eq!(bits(&found.values), bits(&reference.values), "{what}");
            assert_eq!(bits(&found.vectors), bits(&reference.vectors), "{what}");
            assert_eq!(found.basins, reference.basins, "{what}");
            assert_eq!(found.info.iterations, reference.info.iterations, "{what}");
        }
    }
}

/// Two million tensors, of which the device holds a small part at a time.
#[test]
#[ignore = "needs a GPU"]
fn a_large_batch_passes_through_a_device_with_little_memory() {
    let (period, items, pairs) = (1000, 2_000_000, 3);
    let shape = Symmetric::new(4, 3).unwrap();
    let solve = |limit: u64, items: usize| {
        let gpu = context(BackendChoice::Cuda, limit);
        let put = |t: usize, r: usize| entry(t % period, r);
        Case::<f32>::new(&gpu, shape, items, Location::Host, Order::ColumnMajor, put).solve(
            &Options::default(),
            pairs,
            Location::Host,
        )
    };
    let (few, all) = (solve(0, period), solve(32 << 20, items));
    // Tensors alone are four times the memory.
    assert!(all.info.chunks >= 4, "{} chunks", all.info.chunks);
    assert_eq!(all.info.iterations, few.info.iterations * (items / period) as i64);
    let rows = |found: &Found, size: usize, t: usize| {
        let bits: Vec<u64> = found.values[pairs * t..pairs * (t + size)].iter().map(|v| v.to_bits()).collect();
        (bits, found.count[t..t + size].to_vec(), found.status[t..t + size].to_vec())
    };
    let expected = rows(&few, period, 0);
    assert!(few.count.iter().all(|c| *c > 0));
    for t in (0..items).step_by(period) {
        assert!(rows(&all, period, t) == expected, "tensors from {t} on differ");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn cancelling_ends_a_large_batch_between_chunks() {
    let gpu = context(BackendChoice::Cuda, 0);
    let shape = Symmetric::new(4, 3).unwrap();
    let case = Case::<f32>::new(&gpu, shape, 100_000, Location::Host, Order::ColumnMajor, entry);
    let mut count = case.output(DType::I32, Location::Host, &[100_000]);
    let mut results = Results { count: Some(&mut count), ..Results::default() };
    let stop = |_: i64, _: i64, _: f64| false;
    let progress = gpu.progress(Some(&stop));
    let e = solve(&gpu, None, &case.tensors, None, &Options::default(), &mut results, &progress);
    assert_eq!(e.err(), Some(Error::Cancelled));
    let progress = gpu.progress(None);
    assert!(solve(&gpu, None, &case.tensors, None, &Options::default(), &mut results, &progress).is_ok());
}

#[test]
#[ignore = "needs a GPU"]
fn calls_of_the_host_take_arrays_on_the_device() {
    let gpu = context(BackendChoice::Cuda, 0);
    let new = |location, dims: &[usize]| Tensor::create(&gpu, DType::F64, location, Order::ColumnMajor, dims).unwrap();
    let mut given = [Location::Host, Location::Device].map(|location| new(location, &[3, 20]));
    for starts_of in &mut given {
        starts(&gpu, None, StartKind::FibonacciSphere, 0, starts_of).unwrap();
    }
    let [here, there] = &given;
    assert_eq!(numbers::<f64>(here), numbers::<f64>(there));
    assert!(numbers::<f64>(there).iter().any(|x| *x != 0.0));

    let shape = Symmetric::new(4, 3).unwrap();
    let (items, starts) = (5, 20);
    let solved = [Location::Host, Location::Device].map(|location| {
        let case = Case::<f64>::new(&gpu, shape, items, location, Order::ColumnMajor, entry);
        let mut values = case.output(DType::F64, location, &[starts, items]);
        let mut results = Results { start_values: Some(&mut values), ..Results::default() };
        let from = if location == Location::Host { here } else { there };
        let progress = gpu.progress(None);
        solve(&gpu, None, &case.tensors, Some(from), &Options::default(), &mut results, &progress).unwrap();
        numbers::<f64>(&values)
    });
    assert_eq!(solved[0], solved[1]);
    assert!(solved[0].iter().all(|x| x.is_finite()));

    for order in [2, 4] {
        let shape = Symmetric::new(order, 3).unwrap();
        let found = [Location::Host, Location::Device].map(|location| {
            let case = Case::<f64>::new(&gpu, shape, items, location, Order::RowMajor, entry);
            let [mut count, mut sum, mut expected] = [(); 3].map(|()| case.output(DType::I32, location, &[items]));
            let mut vectors = case.output(DType::F64, location, &[3, 12, items]);
            let mut results = Results { count: Some(&mut count), vectors: Some(&mut vectors), ..Results::default() };
            // Pairs of matrices are not searched for.
            let (starts, max_starts) = if order == 2 { (0, 0) } else { (200, 400) };
            let options = Options { starts, max_starts, ..Options::default() };
            let (progress, morse) = (gpu.progress(None), (Some(&mut sum), Some(&mut expected)));
            all(&gpu, None, &case.tensors, &options, &mut results, morse.0, morse.1, &progress).unwrap();
            let bits: Vec<u64> = numbers::<f64>(&vectors).iter().map(|x| x.to_bits()).collect();
            (integers(&count), integers(&sum), integers(&expected), bits)
        });
        assert_eq!(found[0], found[1]);
        assert!(found[0].0.iter().all(|c| *c >= 3) && found[0].2 == [1; 5]);
    }

    let mut traces = [Location::Host, Location::Device].map(|location| new(location, &[30]));
    for trace in &mut traces {
        let case = Case::<f64>::new(&gpu, shape, 1, Location::Host, Order::ColumnMajor, entry);
        let mut results = Results { trace: Some(trace), ..Results::default() };
        let options = Options { starts: 1, ..Options::default() };
        solve(&gpu, None, &case.tensors, None, &options, &mut results, &gpu.progress(None)).unwrap();
    }
    let bits = |t: &Tensor| numbers::<f64>(t).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&traces[0]), bits(&traces[1]));
    assert!(numbers::<f64>(&traces[1])[0].is_finite());
}

#[cfg(feature = "fault-injection")]
#[test]
#[ignore = "needs a GPU"]
fn every_device_operation_of_a_solve_may_fail_once() {
    use crate::fault::{self, Kind};
    let gpu = context(BackendChoice::Cuda, 0);
    let kinds = [Kind::HostMemory, Kind::DeviceMemory, Kind::Copy, Kind::Launch, Kind::Load];
    let kinds = kinds.iter().fold(0, |all, kind| all | *kind as u32);
    for (order, dimension) in [(4, 3), (3, 4)] {
        let shape = Symmetric::new(order, dimension).unwrap();
        let case = Case::<f32>::new(&gpu, shape, 200, Location::Host, Order::RowMajor, entry);
        let mut count = case.output(DType::I32, Location::Host, &[200]);
        let (host, device) = (gpu.host_memory_used(), gpu.device_budget().used());
        for sticky in [false, true] {
            for n in 0..1000 {
                let mut results = Results { count: Some(&mut count), ..Results::default() };
                let options = Options { start_kind: StartKind::Random, ..Options::default() };
                let progress = gpu.progress(None);
                fault::arm(n, kinds, sticky);
                let outcome = solve(&gpu, None, &case.tensors, None, &options, &mut results, &progress);
                let failed = fault::disarm();
                gpu.check_alive().unwrap();
                assert_eq!((gpu.host_memory_used(), gpu.device_budget().used()), (host, device), "{n}");
                match outcome {
                    Ok(_) => {
                        assert_eq!(failed, 0);
                        assert!(n > 5, "{n} fault points");
                        break;
                    }
                    Err(Error::OutOfMemory { .. } | Error::OutOfDeviceMemory { .. } | Error::Cuda { .. }) => {
                        assert!(failed > 0);
                    }
                    Err(other) => panic!("{n}: {other}"),
                }
            }
        }
        assert!(integers(&count).iter().all(|c| *c > 0));
    }
}
