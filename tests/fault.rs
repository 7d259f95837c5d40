//! Fault loop: makes each operation that can fail do so once, and then together with all later ones. Each call of the C
//! interface must return a documented status, leak nothing, and succeed with the same objects afterwards.
//!
//! There are two kinds of faults. The library has fault points (feature `fault-injection`) at allocations, copies, launches
//! and other operations. And an allocator that refuses blocks of 4 KiB and more finds allocations without a fault point: one
//! that aborts on failure, and that the reserve cannot serve, would end the process here.
//!
//! A call with very many operations repeats most of them in loops. Of these the test tries the first [`FIRST`]; of each site
//! (a line of the source and the purpose of the operation) the first, the middle and the last; and of all others every k-th,
//! [`SPREAD`] in all.
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
#[path = "fault/late.rs"]
mod late;
#[path = "fault/rsvd.rs"]
mod rsvd;
#[path = "fault/sparse.rs"]
mod sparse;
#[path = "fault/spectra.rs"]
mod spectra;
#[path = "fault/tt.rs"]
mod tt;

use std::collections::BTreeSet;
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cases::{Call, Case, Family, OnGpu, Work};
use fixture::Fixture;
use purlin::fault::{self, Kind, Site};
use purlin::ffi::{self, purlin_status};

/// More fault points than any call has; a loop that reaches it would never end.
const ENDLESS: i64 = 10_000;

/// Operations of a call up to which every one is tried.
const FEW: usize = 150;
/// Of a call with more operations: the first ones that are tried, and all that are tried.
const FIRST: usize = 40;
const SPREAD: usize = 40;

/// Operations by which two runs of a call may differ.
const VARYING: usize = 10;

/// The operations of a call that are tried.
fn chosen(sites: &[Site]) -> BTreeSet<usize> {
    if sites.len() <= FEW {
        return (0..sites.len()).collect();
    }
    let mut places: HashMap<Site, Vec<usize>> = HashMap::new();
    for (n, site) in sites.iter().enumerate() {
        places.entry(*site).or_default().push(n);
    }
    let of_each = places.values().flat_map(|p| [p[0], p[p.len() / 2], p[p.len() - 1]]);
    of_each.chain(0..FIRST).chain((0..sites.len()).step_by(sites.len().div_ceil(SPREAD))).collect()
}

/// Faults are counted in the whole process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints the current trial to stderr, which the test harness does not capture: an abort would leave no other trace.
fn announce(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A case whose operations are made to fail one after the other.
struct Trial<'a> {
    case: &'a Case,
    /// Kinds of operations, as bits.
    kinds: u32,
    /// The statuses that a failure may have.
    allowed: &'a [purlin_status],
    /// Whether all operations after the failing one fail too.
    sticky: bool,
}

impl Trial<'_> {
    /// Fails the operations, each on new objects. Returns the number of operations and the number of those tried.
    fn on_new(&self, make: impl Fn() -> Fixture) -> (i64, usize) {
        let objects = make();
        let sites = self.sites(&(self.case.prepare)(&objects));
        self.count(&sites, |n| {
            let objects = make();
            self.fails(n, &objects, &(self.case.prepare)(&objects))
        })
    }

    /// The same on one set of objects: creating a GPU's objects and loading its kernels take long.
    fn on_same(&self, objects: &Fixture, call: &Call) -> (i64, usize) {
        self.count(&self.sites(call), |n| self.fails(n, objects, call))
    }

    /// Fails the first operation of each of the first sites, `most` of them, and of all operations the one in the middle and
    /// the last, on one set of objects. Returns the number of operations.
    fn on_few(&self, most: usize, objects: &Fixture, call: &Call) -> i64 {
        let sites = self.sites(call);
        let mut seen: Vec<Site> = Vec::new();
        let mut tried = BTreeSet::new();
        for (n, site) in (0i64..).zip(&sites) {
            if seen.len() < most && !seen.contains(site) {
                seen.push(*site);
                tried.insert(n);
                let is_there = self.fails(n, objects, call);
                assert!(is_there || n > 0, "{}: the first of {} operations is gone", self.case.name, sites.len());
            }
        }
        let count = sites.len() as i64;
        for n in [count / 2, count - 1].into_iter().filter(|n| (0..count).contains(n)) {
            // The number of the last ones may vary a little with the threads.
            let is_done = (0..=n).rev().take(VARYING).any(|n| !tried.insert(n) || self.fails(n, objects, call));
            assert!(is_done, "{}: operation {n} of {count} and those before it are gone", self.case.name);
        }
        count
    }

    /// The operations of a call that succeeds.
    fn sites(&self, call: &Call) -> Vec<Site> {
        fault::record(self.kinds);
        let status = call();
        let sites = fault::recorded();
        assert_eq!(status, purlin_status::PURLIN_SUCCESS, "{}: {}", self.case.name, fixture::message());
        sites
    }

    /// Fails each loading of a module of kernels, on new objects. Returns their number.
    fn on_loading(case: &Case, objects: &Fixture, call: &Call) -> i64 {
        let trial = |sticky| Trial { case, kinds: Kind::Load as u32, allowed: CUDA, sticky };
        // A loaded module stays loaded. So after a failure the next module is the second that is requested. A module that
        // failed is not loaded, so it can fail again in the other trial.
        let mut loads = 0;
        while trial(true).attempt(i64::from(loads > 0), objects, call) {
            assert!(trial(false).attempt(0, objects, call), "{}: module {loads} was loaded", case.name);
            loads += 1;
            assert!(loads < ENDLESS, "{}: more than {ENDLESS} modules", case.name);
        }
        loads
    }

    fn count(&self, sites: &[Site], mut fails: impl FnMut(i64) -> bool) -> (i64, usize) {
        if sites.len() <= FEW {
            let end = (0..ENDLESS).find(|n| !fails(*n));
            let end = end.unwrap_or_else(|| panic!("{}: more than {ENDLESS} operations", self.case.name));
            return (end, sites.len());
        }
        let chosen = chosen(sites);
        // The number of the last ones may vary a little with the threads.
        let failed = chosen.iter().filter(|n| fails(**n as i64)).count();
        assert!(failed + VARYING > chosen.len(), "{}: {failed} of {} failed", self.case.name, chosen.len());
        (sites.len() as i64, failed)
    }

    /// Makes the call with its n-th operation failing, then once more with none. Returns whether an n-th operation exists.
    fn fails(&self, n: i64, objects: &Fixture, call: &Call) -> bool {
        if !self.attempt(n, objects, call) {
            return false;
        }
        let live = ffi::purlin_live_handles();
        let what = self.what(n);
        assert_eq!(call(), purlin_status::PURLIN_SUCCESS, "{what}, then again: {}", fixture::message());
        assert_eq!(ffi::purlin_live_handles(), live, "{what}, then again: handles");
        true
    }

    /// Makes the call with its n-th operation failing. Returns whether an n-th operation exists.
    fn attempt(&self, n: i64, objects: &Fixture, call: &Call) -> bool {
        let live = ffi::purlin_live_handles();
        let used = objects.memory_used();
        fault::arm(n, self.kinds, self.sticky);
        let status = call();
        let hits = fault::disarm();
        let what = self.what(n);
        if hits == 0 {
            assert_eq!(status, purlin_status::PURLIN_SUCCESS, "{what}: {}", fixture::message());
        } else {
            assert!(self.allowed.contains(&status), "{what}: {status:?}: {}", fixture::message());
        }
        assert_eq!(ffi::purlin_live_handles(), live, "{what}: handles");
        assert_eq!(objects.memory_used(), used, "{what}: memory");
        hits > 0
    }

    fn what(&self, n: i64) -> String {
        let others = if self.sticky { " with all later ones" } else { "" };
        format!("{}, operation {n} of kinds {} failing{others}", self.case.name, self.kinds)
    }
}

#[test]
fn every_host_allocation_fails_once() {
    let _alone = alone();
    for case in cases::all() {
        let allowed = &[purlin_status::PURLIN_ERROR_OUT_OF_MEMORY];
        let begin = Instant::now();
        let [(points, tried), _] = [false, true].map(|sticky| {
            Trial { case: &case, kinds: Kind::HostMemory as u32, allowed, sticky }.on_new(|| Fixture::on_cpu(7))
        });
        let seconds = begin.elapsed().as_secs_f64();
        println!("{:<44} {points:>5} allocations, {tried:>3} tried in {seconds:>4.1} s", case.name);
        assert!(points >= case.allocations, "{}: only {points} fault points", case.name);
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}

#[test]
fn every_file_operation_fails_once() {
    let _alone = alone();
    for case in cases::on_files() {
        let allowed = &[purlin_status::PURLIN_ERROR_IO];
        let [(points, tried), _] = [false, true].map(|sticky| {
            Trial { case: &case, kinds: Kind::File as u32, allowed, sticky }.on_new(|| Fixture::on_cpu(7))
        });
        println!("{:<44} {points:>5} file operations, {tried:>3} tried", case.name);
        // Opened, read, created, written, named; or opened, written often, removed.
        assert!(points >= 5, "{}: only {points} fault points", case.name);
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// Each thread is refused once. A call works without it, or its message names the thread that could not be started.
#[test]
fn every_thread_start_fails_once() {
    let _alone = alone();
    let least = HashMap::from([
        ("purlin_context_create", 2),
        ("purlin_tt_inner, sandwich, with progress", 3),
        ("purlin_fdk_reconstruct_to_sink, callbacks", 2),
        ("raw file to raw file", 2),
        ("purlin_rsvd_compute, a reader", 1),
        ("robust PCA, .npy to raw files", 1),
    ]);
    let mut found = 0;
    for case in cases::all().into_iter().chain(cases::on_files()) {
        let mut starts = 0;
        for sticky in [false, true] {
            let objects = Fixture::on_cpu(7);
            let call = (case.prepare)(&objects);
            let checked: Call = Box::new(move || {
                let status = call();
                let text = fixture::message();
                // Cases that destroy their results have cleared the message.
                let is_reported = text.contains("could not be started: Resource temporarily unavailable");
                assert!(text.is_empty() || is_reported, "{status:?}: {text}");
                status
            });
            let allowed = &[purlin_status::PURLIN_SUCCESS, purlin_status::PURLIN_ERROR_OUT_OF_MEMORY];
            let trial = Trial { case: &case, kinds: Kind::Thread as u32, allowed, sticky };
            (starts, _) = trial.on_same(&objects, &checked);
            if starts == 0 {
                break;
            }
        }
        if starts > 0 {
            println!("{:<44} {starts:>3} threads", case.name);
        }
        if let Some(least) = least.get(case.name) {
            found += 1;
            assert!(starts >= *least, "{}: only {starts} threads", case.name);
        }
    }
    assert!(found >= least.len() || !cases::are_complete(), "{found} of the calls that start threads");
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// Each check for a cancellation finds one. Outputs and objects are as after any other failure.
#[test]
fn every_check_for_a_cancellation_finds_one() {
    let _alone = alone();
    let least = HashMap::from([
        ("purlin_tt_add, apply, full", 20),
        ("purlin_tt_round, svd, canonicalize", 20),
        ("purlin_graph_density, of_image", 2),
        ("purlin_fdk_ellipsoids", 2),
        ("purlin_fdk_log_transform", 2),
        ("purlin_fdk_weight, filter, backproject", 40),
        ("Matrix Market and edges", 4),
        ("purlin_spmv_create, purlin_lanczos_solve_once, order", 1),
        ("purlin_matrix_from_coordinates, transpose, symmetrize", 20),
        ("purlin_matrix_select, component, row_sums, scale", 10),
        ("purlin_matrix_from_columns, canonical, permute", 20),
        ("purlin_matrix_from_dense, to_dense, set_values, drop_zeros", 8),
    ]);
    let mut found = 0;
    for case in cases::all() {
        let allowed = &[purlin_status::PURLIN_ERROR_CANCELLED];
        let trial = Trial { case: &case, kinds: Kind::Cancel as u32, allowed, sticky: false };
        let (checks, tried) = trial.on_new(|| Fixture::on_cpu(7));
        if checks > 0 {
            println!("{:<44} {checks:>5} checks, {tried:>3} tried", case.name);
        }
        if let Some(least) = least.get(case.name) {
            found += 1;
            assert!(checks >= *least, "{}: only {checks} checks", case.name);
        }
    }
    assert!(found >= least.len() || !cases::are_complete(), "{found} of the calls that check");
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// The memory of small matrices can be refused, which `every_host_allocation_fails_once` does.
#[test]
fn small_matrices_have_fault_points() {
    let _alone = alone();
    let names = [
        "purlin_sshopm_solve_all_once, m = 2",
        "purlin_dwi_fit_once",
        "purlin_dwi_sh_to_tensor",
        "purlin_graph_embed, k_means, pivoted_qr",
    ];
    let mut found = 0;
    for case in cases::all().into_iter().filter(|case| names.contains(&case.name)) {
        let objects = Fixture::on_cpu(7);
        let call = (case.prepare)(&objects);
        let sites = Trial { case: &case, kinds: Kind::HostMemory as u32, allowed: &[], sticky: false }.sites(&call);
        for name in ["small matrix", "working memory of a factorization"] {
            assert!(sites.iter().any(|(_, what)| *what == name), "{}: no {name}", case.name);
        }
        found += 1;
    }
    assert!(found == names.len() || !cases::are_complete(), "{found} of {}", names.len());
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

/// The numbers of the large blocks to refuse: all of few; of many the first and last ones and some between.
fn chosen_blocks(blocks: i64) -> BTreeSet<i64> {
    let (first, last) = (FIRST as i64, SPREAD as i64 / 2);
    if blocks <= first + last {
        return (0..blocks).collect();
    }
    let step = (blocks / SPREAD as i64).max(1) as usize;
    (0..first).chain(blocks - last..blocks).chain((0..blocks).step_by(step)).collect()
}

/// The n-th block of 4 KiB and more is refused by the system, with all later ones.
#[test]
fn every_large_allocation_is_refused_once() {
    let _alone = alone();
    let (success, short) = (purlin_status::PURLIN_SUCCESS, purlin_status::PURLIN_ERROR_OUT_OF_MEMORY);
    for case in cases::all() {
        announce(&format!("refusing large blocks to {}", case.name));
        let begin = Instant::now();
        // A search for all pairs takes one tensor after the other, with blocks for each.
        let is_search = case.name.starts_with("purlin_sshopm_solve_all");
        let objects = Fixture::on_one_thread(if is_search { 20 } else { 600 });
        let call = (case.prepare)(&objects);
        // faer's matrix products keep a workspace of fixed size for each thread and abort without it, so this call allocates it
        // before.
        assert_eq!(call(), success, "{}: {}", case.name, fixture::message());
        let live = ffi::purlin_live_handles();
        let used = objects.memory_used();
        allocator::refuse_after(i64::MAX);
        let status = call();
        let (blocks, _) = allocator::refuse_none();
        assert_eq!(status, success, "{}: {}", case.name, fixture::message());
        let (chosen, mut missed) = (chosen_blocks(blocks), 0);
        for n in &chosen {
            allocator::refuse_after(*n);
            let status = call();
            let (asked, unserved) = allocator::refuse_none();
            let what = format!("{}, large block {n} of {blocks} refused", case.name);
            // The reserve may have served all requests of the call.
            let is_right = status == short || (unserved == 0 && status == success);
            assert!(is_right, "{what}: {status:?} after {unserved} of {asked} refusals: {}", fixture::message());
            // The last blocks may be tables that are cached by now.
            missed += usize::from(asked <= *n);
            assert_eq!(ffi::purlin_live_handles(), live, "{what}: handles");
            assert_eq!(objects.memory_used(), used, "{what}: memory");
            // This also prepares the next refusal: an interrupted run may have left a file to resume from.
            assert_eq!(call(), success, "{what}, then again: {}", fixture::message());
        }
        assert!(missed <= 2, "{}: {missed} of {} blocks were not asked for", case.name, chosen.len());
        let (tried, seconds) = (chosen.len(), begin.elapsed().as_secs_f64());
        println!("{:<44} {blocks:>5} large blocks, {tried:>3} refused in {seconds:>4.1} s", case.name);
    }
    assert_eq!(ffi::purlin_live_handles(), 0);
}

/// Status of device failures other than those of its memory.
const CUDA: &[purlin_status] = &[purlin_status::PURLIN_ERROR_CUDA];

/// Allowed statuses of each kind of failure. Page-locked memory is allocated by the driver but is host memory.
const ANSWERS: [(Kind, &[purlin_status]); 6] = [
    (Kind::HostMemory, &[purlin_status::PURLIN_ERROR_OUT_OF_MEMORY]),
    (
        Kind::DeviceMemory,
        &[purlin_status::PURLIN_ERROR_OUT_OF_DEVICE_MEMORY, purlin_status::PURLIN_ERROR_OUT_OF_MEMORY],
    ),
    (Kind::Copy, CUDA),
    (Kind::Launch, CUDA),
    (Kind::Library, CUDA),
    (Kind::Thread, &[purlin_status::PURLIN_ERROR_OUT_OF_MEMORY, purlin_status::PURLIN_SUCCESS]),
];

/// Sites of a case on a GPU whose first check for a cancellation finds one, beside the check in the middle and the last of
/// all. The checks are those of the CPU, where the test `every_check_for_a_cancellation_finds_one` tries nearly all. A
/// cancellation behaves differently only in the device work that it leaves in flight, which later blocks have more of.
const CANCELLED_SITES: usize = 4;

/// Cases on a GPU that check for a cancellation, as on the CPU.
const CHECKING: [&str; 4] = [
    "purlin_tt_add, apply, full",
    "purlin_tt_round, svd, canonicalize",
    "purlin_graph_density, of_image",
    "purlin_spmv_create, purlin_lanczos_solve_once, order",
];

/// Fails every operation of a case, kind by kind, and cancels it at a few checks; prints the number of operations of each kind.
fn fail_on_a_gpu(given: &OnGpu, make: fn(i64) -> Fixture, is_resident: bool) {
    let OnGpu { case, work, count } = given;
    let place = if is_resident { "device" } else { "host" };
    announce(&format!("failing {} on {place} tensors", case.name));
    let mut points = [0; ANSWERS.len()];
    let objects = make(*count);
    let call = (case.prepare)(&objects);
    let loads = Trial::on_loading(case, &objects, &call);
    for sticky in [false, true] {
        for ((kind, allowed), points) in ANSWERS.iter().zip(&mut points) {
            announce(&format!("  {kind:?}{}", if sticky { " and all later" } else { "" }));
            (*points, _) = Trial { case, kinds: *kind as u32, allowed, sticky }.on_same(&objects, &call);
        }
    }
    announce("  Cancel");
    let allowed = &[purlin_status::PURLIN_ERROR_CANCELLED];
    let trial = Trial { case, kinds: Kind::Cancel as u32, allowed, sticky: false };
    let checks = trial.on_few(CANCELLED_SITES, &objects, &call);
    assert!(checks > 0 || !CHECKING.contains(&case.name), "{}: no check for a cancellation", case.name);
    let [host, memory, copies, launches, libraries, threads] = points;
    println!(
        "{:<38} {place:<6} tensors: {host:>4} host and {memory:>3} device allocations, {copies:>3} copies, \
         {launches:>2} launches of {loads} modules, {libraries:>2} calls of libraries, {threads} threads, {checks} checks",
        case.name
    );
    let is_used = memory + copies + launches > 0;
    assert_eq!(is_used, is_resident || *work == Work::Device, "{}: on {place} tensors", case.name);
    assert_eq!(loads > 0, launches > 0, "{}: kernels without a module", case.name);
}

/// Fails the allocations, copies, launches and the loading of kernels of a family's calls.
fn fail_family(family: Family) {
    let _alone = alone();
    // The device's context is made once, and not for every fixture.
    let open = Fixture::on_gpu(1);
    for given in cases::on_gpu(family) {
        fail_on_a_gpu(&given, Fixture::on_gpu, true);
        fail_on_a_gpu(&given, Fixture::streamed, false);
    }
    drop(open);
    assert_eq!(ffi::purlin_live_handles(), 0);
}

macro_rules! every_device_operation_fails_once {
    ($($name:ident: $family:ident,)+) => {
        mod every_device_operation_fails_once {
            use super::{Family, fail_family};
            $(
                #[test]
                #[ignore = "needs a GPU"]
                fn $name() {
                    fail_family(Family::$family);
                }
            )+
        }
    };
}

every_device_operation_fails_once! {
    of_tensors: Tensors,
    of_fdk: Fdk,
    of_rsvd: Rsvd,
    of_spectra: Spectra,
    of_tt: Tt,
}

#[test]
#[ignore = "needs a GPU"]
fn every_device_operation_of_chunks_fails_once() {
    let _alone = alone();
    let open = Fixture::on_gpu(1);
    for given in cases::in_chunks() {
        fail_on_a_gpu(&given, Fixture::streamed, false);
    }
    drop(open);
    assert_eq!(ffi::purlin_live_handles(), 0);
}
