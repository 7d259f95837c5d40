//! Every operation that can fail is made to fail once, and then it and all later ones: each call of the C boundary must
//! answer with a documented status, leave nothing behind, and succeed with the same objects afterwards.
//!
//! Two ways. The library's own fault points (feature `fault-injection`) stand where memory is asked for, copies and
//! launches are made. And an allocator that refuses large blocks finds what has no fault point: an allocation that
//! cannot fail would end the process here.
#![cfg(feature = "fault-injection")]

#[path = "fault/allocator.rs"]
mod allocator;
#[path = "fault/cases.rs"]
mod cases;
#[path = "fault/families.rs"]
mod families;
#[path = "fault/fdk.rs"]
mod fdk;
#[path = "fault/fixture.rs"]
mod fixture;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cases::Case;
use fixture::Fixture;
use purlin::fault::{self, Kind};
use purlin::ffi::{self, purlin_status};

/// More fault points than any call has; a loop that gets there does not end.
const ENDLESS: i64 = 10_000;

/// Faults are counted in the whole process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what is being tried where the test harness does not catch it: an abort would leave no other trace.
fn announce(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Runs a case again and again, failing its n-th operation, until it has no n-th one. Gives the number of operations.
fn fail_each(case: &Case, make: fn() -> Fixture, kinds: u32, allowed: &[purlin_status], sticky: bool) -> i64 {
    for n in 0..ENDLESS {
        let objects = make();
        let call = (case.prepare)(&objects);
        let live = ffi::purlin_live_handles();
        let used = objects.memory_used();
        fault::arm(n, kinds, sticky);
        let status = call();
        let hits = fault::disarm();
        let what = format!("{}, operation {n} failing{}", case.name, if sticky { " with all later ones" } else { "" });
        if hits == 0 {
            assert_eq!(status, purlin_status::PURLIN_SUCCESS, "{what}: {}", fixture::message());
        } else {
            assert!(allowed.contains(&status), "{what}: {status:?}: {}", fixture::message());
        }
        assert_eq!(ffi::purlin_live_handles(), live, "{what}: handles");
        assert_eq!(objects.memory_used(), used, "{what}: memory");
        if hits == 0 {
            return n;
        }
        let again = call();
        assert_eq!(again, purlin_status::PURLIN_SUCCESS, "{what}, then again: {}", fixture::message());
        assert_eq!(ffi::purlin_live_handles(), live, "{what}, then again: handles");
    }
    panic!("{}: more than {ENDLESS} operations", case.name);
}

#[test]
fn every_host_allocation_fails_once() {
    let _alone = alone();
    for case in cases::all() {
        let allowed = [purlin_status::PURLIN_ERROR_OUT_OF_MEMORY];
        let points = [false, true]
            .map(|sticky| fail_each(&case, || Fixture::on_cpu(7), Kind::HostMemory as u32, &allowed, sticky));
        println!("{:<44} {:>3} allocations", case.name, points[0]);
        assert!(points[0] >= case.allocations, "{}: only {} fault points", case.name, points[0]);
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}

#[test]
fn every_file_operation_fails_once() {
    let _alone = alone();
    for case in cases::on_files() {
        let allowed = [purlin_status::PURLIN_ERROR_IO];
        let points =
            [false, true].map(|sticky| fail_each(&case, || Fixture::on_cpu(7), Kind::File as u32, &allowed, sticky));
        println!("{:<44} {:>3} file operations", case.name, points[0]);
        // Opened, read, created, written, named.
        assert!(points[0] >= 5, "{}: only {} fault points", case.name, points[0]);
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// A new slot of the handle table needs memory, which fails before the object is lost.
#[test]
fn the_handle_table_cannot_grow() {
    let _alone = alone();
    let objects = Fixture::on_cpu(1);
    let mut made = Vec::new();
    fault::arm(0, Kind::HostMemory as u32, false);
    let status = loop {
        match objects.borrow_one() {
            Ok(tensor) => made.push(tensor),
            Err(status) => break status,
        }
        assert!(made.len() < 100_000, "the table grew without asking for memory");
    };
    assert_eq!(fault::disarm(), 1);
    assert_eq!(status, purlin_status::PURLIN_ERROR_OUT_OF_MEMORY);
    made.push(objects.borrow_one().expect("the table can grow now"));
    for tensor in made {
        assert_eq!(ffi::purlin_tensor_destroy(tensor), purlin_status::PURLIN_SUCCESS);
    }
    drop(objects);
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// The n-th block that grows with the data is refused by the allocator itself, with all later ones.
#[test]
fn every_large_allocation_is_refused_once() {
    let _alone = alone();
    for case in cases::all() {
        announce(&format!("refusing large blocks to {}", case.name));
        for n in 0..ENDLESS {
            assert!(n + 1 < ENDLESS, "{}: more than {ENDLESS} large blocks", case.name);
            let objects = Fixture::on_one_thread(5000);
            let call = (case.prepare)(&objects);
            // The matrix products of faer keep a scratch of fixed size for each thread, which they cannot do without:
            // it is there before.
            assert_eq!(call(), purlin_status::PURLIN_SUCCESS, "{}: {}", case.name, fixture::message());
            let live = ffi::purlin_live_handles();
            let used = objects.memory_used();
            allocator::refuse_after(n);
            let status = call();
            let refused = allocator::refuse_none();
            let what = format!("{}, large block {n} refused", case.name);
            let expected = match refused {
                0 => purlin_status::PURLIN_SUCCESS,
                _ => purlin_status::PURLIN_ERROR_OUT_OF_MEMORY,
            };
            assert_eq!(status, expected, "{what}: {}", fixture::message());
            assert_eq!(ffi::purlin_live_handles(), live, "{what}: handles");
            assert_eq!(objects.memory_used(), used, "{what}: memory");
            if refused == 0 {
                println!("{:<44} {n:>3} large blocks", case.name);
                break;
            }
        }
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// Allocations of the device, copies and launches, on tensors that lie there.
#[test]
#[ignore = "needs a GPU"]
fn every_device_operation_fails_once() {
    let _alone = alone();
    let kinds = Kind::DeviceMemory as u32 | Kind::Copy as u32 | Kind::Launch as u32;
    let allowed = [purlin_status::PURLIN_ERROR_OUT_OF_DEVICE_MEMORY, purlin_status::PURLIN_ERROR_CUDA];
    let (resident, streamed) = (Fixture::on_gpu as fn() -> Fixture, Fixture::streamed as fn() -> Fixture);
    for (make, place, cases) in [(resident, "device", cases::on_device()), (streamed, "host", cases::on_gpu())] {
        for case in cases {
            let points = [false, true].map(|sticky| fail_each(&case, make, kinds, &allowed, sticky));
            println!("{:<44} {:>3} operations on {place} tensors", case.name, points[0]);
            assert!(points[0] > 0, "{}: nothing of the device was used", case.name);
        }
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}
