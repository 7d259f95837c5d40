//! Tests that need a GPU: `cargo test -- --ignored`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::kernels::lanczos::{Scale, scale};
use super::kernels::selftest::selftest;
use super::*;
use crate::backend::budget::{Budget, Release};
use crate::error::{Error, Result};
use crate::scalar::Element as _;

fn gpu() -> Gpu {
    Gpu::open(0, &Budget::new(0)).unwrap()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
}

#[test]
#[ignore = "needs a GPU"]
fn the_device_describes_itself() {
    assert!(Gpu::device_count().unwrap() > 0);
    let info = Gpu::device_info(0).unwrap();
    assert!(info.memory_free > 0 && info.memory_free <= info.memory_total);
    assert!(info.multiprocessors > 0 && info.compute_capability.0 >= 7 && !info.name.is_empty());
    assert!(info.shared_memory_per_block >= 48 << 10);
    let count = Gpu::device_count().unwrap();
    match Gpu::device_info(count) {
        Err(Error::NoDevice(text)) => assert!(text.contains(&format!("device {count}")), "{text}"),
        other => panic!("{other:?}"),
    }
    assert!(Gpu::open(-1, &Budget::new(0)).is_err());
}

#[test]
#[ignore = "needs a GPU"]
fn pageable_and_pinned_memory_survive_the_way_there_and_back() {
    let gpu = gpu();
    let stream = gpu.create_stream().unwrap();
    for bytes in [0usize, 1, 3, 65_536, 65_537, 9 << 20] {
        let source: Vec<u8> = (0..bytes).map(|k| (k * 31 + k / 251) as u8).collect();
        let mut device = gpu.allocate("test", bytes + 5).unwrap();
        gpu.upload(&stream, &source, &mut device, 5).unwrap();
        let mut back = vec![0u8; bytes];
        gpu.download(&stream, &device, 5, &mut back).unwrap();
        assert_eq!(source, back, "{bytes} bytes");
        let mut head = [1u8; 5];
        gpu.download(&stream, &device, 0, &mut head).unwrap();
        assert_eq!(head, [0; 5], "fresh memory is zero");

        let mut pinned = Staging::new(&gpu, "test", bytes + 1, &Budget::new(0)).unwrap();
        pinned.contents().unwrap()[..bytes].copy_from_slice(&source);
        let mut second = gpu.allocate("test", bytes).unwrap();
        pinned.upload(&stream, 0, bytes, &mut second, 0).unwrap();
        pinned.contents().unwrap().fill(0);
        pinned.download(&stream, &second, 0, 0, bytes).unwrap();
        assert_eq!(&pinned.contents().unwrap()[..bytes], source);
    }
}

#[test]
#[ignore = "needs a GPU"]
fn small_copies_take_slots_while_there_are_some() {
    let gpu = gpu();
    let stream = gpu.create_stream().unwrap();
    let source: Vec<u8> = (0..4096).map(|k| (k * 31 + k / 251) as u8).collect();
    let mut device = gpu.allocate("test", source.len()).unwrap();
    gpu.upload(&stream, &source, &mut device, 0).unwrap();
    let begin = |offset: usize, bytes: usize| gpu.begin_small_download(&stream, &device, offset, bytes).unwrap();
    let mut pending: Vec<_> = (0..20).map(|k| begin(k, 100)).collect();
    assert_eq!(pending.iter().filter(|p| p.is_some()).count(), 16);
    // Without a free slot the copy goes to pageable memory.
    let mut whole = [0u8; 1000];
    gpu.download(&stream, &device, 7, &mut whole).unwrap();
    assert_eq!(whole, source[7..1007]);
    for (k, pending) in pending.drain(..16).enumerate().rev() {
        let mut back = [0u8; 100];
        pending.unwrap().receive(&mut back).unwrap();
        assert_eq!(back, source[k..k + 100], "{k}");
    }
    assert!(begin(0, 0).is_none() && begin(0, 1025).is_none());
    for k in 0..40 {
        // Slots are free again after a copy that nobody received, and after one of another length.
        assert!(begin(k, 1024).is_some());
        assert!(begin(k, 1024).unwrap().receive(&mut [0u8; 1023]).is_err());
    }
    assert!(gpu.begin_small_download(&stream, &device, 4000, 100).is_err());
    std::thread::scope(|scope| {
        for thread in 0..24 {
            let (gpu, device, source) = (&gpu, &device, &source);
            scope.spawn(move || {
                let stream = gpu.create_stream().unwrap();
                for k in 0..100 {
                    let (offset, bytes) = (37 * thread + k, 1 + 11 * k);
                    let mut back = vec![0u8; bytes];
                    gpu.download(&stream, device, offset, &mut back).unwrap();
                    assert_eq!(back, source[offset..offset + bytes], "{thread} {k}");
                }
            });
        }
    });
}

#[test]
#[ignore = "needs a GPU"]
fn a_side_stream_begins_behind_another_and_is_used_again() {
    let gpu = gpu();
    let stream = gpu.create_stream().unwrap();
    let bytes = 64 << 20;
    let mut device = gpu.allocate("test", bytes).unwrap();
    let mut last = None;
    for value in 1..30u8 {
        gpu.fill(&stream, &mut device, 0, bytes, value).unwrap();
        let side = gpu.side_of(&stream).unwrap();
        assert_ne!(side.raw(), stream.raw());
        assert!(last.replace(side.raw()).is_none_or(|last| last == side.raw()), "an idle stream is taken");
        let mut end = [0u8];
        gpu.download(&side, &device, bytes - 1, &mut end).unwrap();
        assert_eq!(end, [value]);
    }
    let two = [gpu.side_of(&stream).unwrap(), gpu.side_of(&stream).unwrap()];
    assert_ne!(two[0].raw(), two[1].raw());
}

#[test]
#[ignore = "needs a GPU"]
fn memory_goes_from_one_device_to_another() {
    let devices = Gpu::device_count().unwrap();
    for (one, other) in [(0, 0), (0, devices - 1), (devices - 1, 0)] {
        let open = |ordinal| Gpu::open(ordinal, &Budget::new(0)).unwrap();
        let (one, other) = (open(one), open(other));
        for opened in [false, true] {
            if opened {
                one.open_to(&other).unwrap();
            }
            let source: Vec<u8> = (0..100_003).map(|k| (k * 31 + k / 251) as u8).collect();
            let (from, to) = (one.create_stream().unwrap(), other.create_stream().unwrap());
            let mut there = one.allocate_on(&from, "test", source.len()).unwrap();
            one.upload(&from, &source, &mut there, 0).unwrap();
            let here = other.allocate_on(&to, "test", source.len() + 8).unwrap();
            from.record().unwrap().make_wait(&to).unwrap();
            let target = here.region(8, source.len() - 3).unwrap();
            other.copy_from(&to, &one, there.region(3, source.len() - 3).unwrap(), target).unwrap();
            assert!(other.copy_from(&to, &one, there.whole(), here.whole()).is_err());
            to.record().unwrap().make_wait(&from).unwrap();
            let mut back = vec![1u8; source.len() + 8];
            other.download(&to, &here, 0, &mut back).unwrap();
            assert_eq!(back[..8], [0; 8]);
            assert_eq!(back[8..source.len() + 5], source[3..], "opened: {opened}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_ring_copies_more_than_it_holds() {
    let gpu = gpu();
    let stream = gpu.create_stream().unwrap();
    let bytes = 1_000_003;
    let mut device = gpu.allocate("test", bytes).unwrap();
    let mut ring = StagingRing::new(&gpu, "test", 3, 4096, &Budget::new(0)).unwrap();
    let value = |k: usize| (k * 7 + k / 256) as u8;
    let pack = |at: usize, part: &mut [u8]| {
        part.iter_mut().enumerate().for_each(|(k, b)| *b = value(at + k));
        Ok(())
    };
    ring.upload(&stream, bytes, &mut device, 0, pack).unwrap();
    let mut seen = 0;
    let unpack = |at: usize, part: &[u8]| {
        assert_eq!(at, seen);
        assert!(part.iter().enumerate().all(|(k, b)| *b == value(at + k)), "at {at}");
        seen += part.len();
        Ok(())
    };
    ring.download(&stream, &device, 0, bytes, unpack).unwrap();
    assert_eq!(seen, bytes);
}

#[test]
#[ignore = "needs a GPU"]
fn only_page_locked_memory_is_pinned() {
    let gpu = gpu();
    let mut staging = Staging::new(&gpu, "test", 4096, &Budget::new(0)).unwrap();
    assert!(gpu.is_pinned(staging.contents().unwrap()).unwrap());
    assert!(!gpu.is_pinned(&[0u8; 64]).unwrap());
    assert!(!gpu.is_pinned(&[]).unwrap());
}

#[test]
#[ignore = "needs a GPU"]
fn kernels_load_take_their_parameters_and_get_their_shared_memory() {
    let gpu = gpu();
    let stream = gpu.create_stream().unwrap();
    let most = gpu.kernel("selftest", "purlin_selftest").unwrap().most_shared();
    assert!(most > 48 << 10);
    for (count, threads, shared) in [(1usize, 1u32, 4usize), (1000, 128, 512), (4096, 256, most)] {
        let mut output = gpu.allocate_on(&stream, "test", count * 4).unwrap();
        selftest(&gpu, &stream, &mut output, count, 3, threads, shared).unwrap();
        let mut back = vec![0u8; count * 4];
        gpu.download(&stream, &output, 0, &mut back).unwrap();
        let sum = threads * (threads - 1) / 2;
        let expected: Vec<u32> = (0..count as u32).map(|i| 3 * i + sum).collect();
        assert_eq!(words(&back), expected);
    }
    let mut output = gpu.allocate("test", 4096).unwrap();
    assert!(matches!(
        selftest(&gpu, &stream, &mut output, 1024, 1, 128, most + 4096),
        Err(Error::NotSupported(text)) if text.contains("shared memory")
    ));
    assert!(selftest(&gpu, &stream, &mut output, 1025, 1, 128, 4096).is_err(), "longer than the memory");
    assert!(matches!(gpu.kernel("selftest", "no_such_kernel"), Err(Error::Internal(_))));
    assert!(matches!(gpu.kernel("no_such_family", "x"), Err(Error::NotSupported(_))));
}

#[test]
#[ignore = "needs a GPU"]
fn freed_memory_waits_for_the_streams_that_use_it() {
    let gpu = gpu();
    let streams: Vec<GpuStream> = (0..4).map(|_| gpu.create_stream().unwrap()).collect();
    let count = 1 << 20;
    let mut results = Vec::new();
    for round in 0..50u32 {
        let stream = &streams[round as usize % streams.len()];
        let mut input = gpu.allocate("test", count * 4).unwrap();
        let mut kept = gpu.allocate("test", count * 4).unwrap();
        selftest(&gpu, stream, &mut input, count, round, 64, 256).unwrap();
        gpu.copy(stream, &input, &mut kept, count * 4).unwrap();
        // The kernel may not have begun; the next round must not be given this memory before the copy is done.
        drop(input);
        results.push(kept);
    }
    for (round, kept) in results.iter().enumerate() {
        let mut back = vec![0u8; count * 4];
        streams[round % 4].synchronize().unwrap();
        gpu.download(&streams[0], kept, 0, &mut back).unwrap();
        let wrong = words(&back).iter().enumerate().filter(|(i, w)| **w != (round * i) as u32 + 2016).count();
        assert_eq!(wrong, 0, "round {round}");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_callers_stream_is_used_and_left_alone() {
    let gpu = gpu();
    let own = gpu.create_stream().unwrap();
    let wrapped = gpu.wrap_stream(own.raw()).unwrap();
    let mut output = gpu.allocate("test", 4096).unwrap();
    selftest(&gpu, &wrapped, &mut output, 1024, 5, 32, 128).unwrap();
    drop(wrapped);
    own.synchronize().unwrap();
    let refused = gpu.wrap_stream(2).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused.starts_with("cuda_stream: is the per-thread default stream"), "{refused}");
    let legacy = gpu.wrap_stream(0).unwrap();
    let mut back = vec![0u8; 4096];
    gpu.download(&legacy, &output, 0, &mut back).unwrap();
    assert_eq!(words(&back)[1023], 5 * 1023 + 496);
    let event = own.record().unwrap();
    event.make_wait(&legacy).unwrap();
    event.synchronize().unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn foreign_addresses_are_checked_and_given_back_once() {
    let gpu = gpu();
    let memory = gpu.allocate("test", 1 << 16).unwrap();
    let released = Arc::new(AtomicU32::new(0));
    let release = || -> Option<Release> {
        let count = Arc::clone(&released);
        Some(Box::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        }))
    };
    let good = gpu.borrow("data", memory.address() + 16, (1 << 16) - 16, release()).unwrap();
    assert_eq!(released.load(Ordering::Relaxed), 0);
    drop(good);
    assert_eq!(released.load(Ordering::Relaxed), 1);

    let on_the_host = [0u8; 64];
    let address = on_the_host.as_ptr() as u64;
    let e = gpu.borrow("data", address, 64, release()).err().unwrap();
    assert!(e.to_string().contains("is not device memory"), "{e}");
    assert_eq!(released.load(Ordering::Relaxed), 2, "given back when refused");

    let e = gpu.borrow("data", memory.address(), (1 << 16) + (4 << 20), None).err().unwrap();
    assert!(e.to_string().starts_with("data: "), "{e}");
    let mut pinned = Staging::new(&gpu, "test", 64, &Budget::new(0)).unwrap();
    let address = pinned.contents().unwrap().as_ptr() as u64;
    assert!(gpu.borrow("data", address, 64, None).is_err());
    assert!(gpu.borrow("data", u64::MAX - 3, 64, None).is_err());
    assert!(gpu.borrow("data", 8, 64, None).is_err());
}

#[test]
#[ignore = "needs a GPU"]
fn limits_and_the_device_itself_refuse_too_much() {
    let limited = Budget::new(1 << 20);
    let gpu = Gpu::open(0, &limited).unwrap();
    let first = gpu.allocate("test", 1 << 19).unwrap();
    let e = gpu.allocate("test", (1 << 19) + 1).err().unwrap();
    assert_eq!(e, Error::OutOfDeviceMemory { what: "test", bytes: (1 << 19) + 1, limit: Some(1 << 20) });
    drop(first);
    assert_eq!(limited.used(), 0);
    assert!(gpu.allocate("test", 1 << 20).is_ok());

    let gpu = self::gpu();
    let e = gpu.allocate("test", 1 << 50).err().unwrap();
    assert_eq!(e, Error::OutOfDeviceMemory { what: "test", bytes: 1 << 50, limit: None });
    // Less than there is, more than is free: the driver's own refusal.
    let most = usize::try_from(gpu.info().memory_total).unwrap();
    assert!(matches!(gpu.allocate("test", most), Err(Error::OutOfDeviceMemory { limit: None, .. })));
    assert!(gpu.allocate("test", 1 << 20).is_ok(), "the context lives on");
}

#[test]
#[ignore = "needs a GPU"]
fn overlapped_copies_are_complete_when_the_scope_ends() {
    let gpu = gpu();
    let streams = [gpu.create_independent_stream().unwrap(), gpu.create_independent_stream().unwrap()];
    let lanes = [&streams[0], &streams[1]];
    let bytes = 8 << 20;
    let budget = Budget::new(0);
    let mut from = Staging::new(&gpu, "test", 2 * bytes, &budget).unwrap();
    let mut to = Staging::new(&gpu, "test", 2 * bytes, &budget).unwrap();
    from.contents().unwrap().iter_mut().enumerate().for_each(|(k, b)| *b = (k / 3) as u8);
    let source: &[u8] = from.contents().unwrap();
    let destination = to.contents().unwrap();
    let mut buffers = [gpu.allocate("test", bytes).unwrap(), gpu.allocate("test", bytes).unwrap()];
    let (first, second) = destination.split_at_mut(bytes);
    gpu.overlapped(&lanes, |transfers| {
        for ((lane, out), part) in [first, second].into_iter().enumerate().zip(source.chunks(bytes)) {
            transfers.upload(lane, part, &mut buffers[lane], 0)?;
            transfers.download(lane, &buffers[lane], 0, out)?;
        }
        Ok(())
    })
    .unwrap();
    assert!(destination.iter().enumerate().all(|(k, b)| *b == (k / 3) as u8));
    let result: Result<()> = gpu.overlapped(&lanes, |_| Err(Error::Cancelled));
    assert_eq!(result, Err(Error::Cancelled));
}

#[test]
#[ignore = "needs a GPU"]
fn a_dead_context_is_reported_from_then_on() {
    const MARK: &str = "PURLIN_TEST_DEAD_CONTEXT";
    if std::env::var_os(MARK).is_none() {
        // The fault takes the process's CUDA with it, so it happens in one of its own.
        let name = "backend::gpu::device_tests::a_dead_context_is_reported_from_then_on";
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", name, "--test-threads=1"])
            .env(MARK, "1")
            .output()
            .unwrap();
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
        return;
    }
    let gpu = gpu();
    let stream = gpu.create_stream().unwrap();
    let memory = gpu.allocate("test", 64).unwrap();
    kernels::selftest::trap(&gpu, &stream).unwrap();
    let first = stream.synchronize().unwrap_err();
    assert!(matches!(&first, Error::Cuda { code, .. } if driver::is_sticky(*code as u32)), "{first}");
    assert_eq!(gpu.check_alive(), Err(first.clone()));
    assert_eq!(gpu.allocate("test", 64).err(), Some(first.clone()));
    assert_eq!(gpu.create_stream().err(), Some(first));
    drop((memory, stream, gpu));
}

#[cfg(feature = "fault-injection")]
#[test]
#[ignore = "needs a GPU"]
fn every_device_operation_may_fail_once() {
    use crate::fault::{self, Kind};
    let gpu = gpu();
    let budget = Budget::new(0);
    let kinds = [Kind::DeviceMemory, Kind::Copy, Kind::Launch, Kind::Load].iter().fold(0, |all, k| all | *k as u32);
    for sticky in [false, true] {
        let mut n = 0;
        loop {
            fault::arm(n, kinds, sticky);
            let result = (|| {
                let stream = gpu.create_stream()?;
                let mut staging = Staging::new(&gpu, "test", 4096, &budget)?;
                let mut output = gpu.allocate_on(&stream, "test", 4096)?;
                selftest(&gpu, &stream, &mut output, 1024, 2, 32, 128)?;
                let mut other = gpu.allocate("test", 4096)?;
                gpu.copy(&stream, &output, &mut other, 4096)?;
                staging.download(&stream, &other, 0, 0, 4096)?;
                Ok(words(staging.contents()?)[7])
            })();
            let failed = fault::disarm();
            match result {
                Ok(value) => {
                    assert_eq!((value, failed), (14 + 496, 0));
                    break;
                }
                Err(e) => {
                    assert!(failed > 0, "{e}");
                    assert!(
                        matches!(e, Error::OutOfDeviceMemory { .. } | Error::OutOfMemory { .. } | Error::Cuda { .. }),
                        "{e}"
                    );
                }
            }
            n += 1;
            assert!(n < 100);
        }
        assert!(n >= 5, "{n} fault points");
        assert_eq!(budget.used(), 0);
        gpu.check_alive().unwrap();
    }
}

#[test]
#[ignore = "needs a GPU"]
fn recorded_launches_run_in_their_order_each_time() {
    let gpu = gpu();
    let stream = gpu.create_stream().unwrap();
    let rows = 5000;
    let ones = vec![1.0f64; rows];
    let x = gpu.upload_numbers(&stream, "test", &ones).unwrap();
    let y = gpu.upload_numbers(&stream, "test", &ones).unwrap();
    let add = |stream: &GpuStream, factor: f64, keep: f64| {
        let (from, to) = (x.whole(), y.whole());
        scale(f64::DTYPE, &gpu, stream, Scale { from, to, rows, square: None, parts: None, factor, keep })
    };
    // y = 2 x + 3 y, then y = x - 2 y: the other way round gives something else.
    let recorded = Graph::record(&gpu, |stream| add(stream, 2.0, 3.0).and_then(|()| add(stream, 1.0, -2.0))).unwrap();
    let mut graph = recorded.expect("a graph of two launches");
    let mut found = vec![0.0f64; rows];
    let mut wanted = 1.0;
    for _ in 0..4 {
        gpu.load_numbers(&stream, &y, 0, &mut found).unwrap();
        assert!(found.iter().all(|v| *v == wanted), "{} for {wanted}", found[0]);
        graph.launch(&stream).unwrap();
        wanted = 1.0 - 2.0 * (2.0 + 3.0 * wanted);
    }
    // The error of `work` is returned, and nothing of it is kept.
    let refused = Graph::record(&gpu, |_| Err(Error::Cancelled)).map(|_| ()).unwrap_err();
    assert_eq!(refused, Error::Cancelled);
}
