//! The calls that allocate, each with arguments for which it succeeds.

use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::families;
use crate::fdk;
use crate::fixture::{Fixture, c, initialized, noise};
use crate::rsvd;
use crate::sparse;
use crate::spectra;
use crate::tt;

/// One call on objects of a fixture, which are created before. It destroys the objects that it creates itself.
pub type Call = Box<dyn Fn() -> purlin_status>;

/// A call, its name and its least number of fault points.
pub struct Case {
    pub name: &'static str,
    /// Least number of host allocations with a fault point: fewer mean that one was lost.
    pub allocations: i64,
    pub prepare: fn(&Fixture) -> Call,
}

/// Whether a call on a GPU context uses the device although its tensors are on the host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Host tensors are streamed through the device.
    Device,
    /// They stay on the host; those on the device are worked on there, or copied.
    Host,
}

/// A case for a GPU context.
pub struct OnGpu {
    pub case: Case,
    pub work: Work,
    /// Number of tensors or voxels.
    pub count: i64,
}

/// Whether a run is to try a case: `PURLIN_FAULT_CASES` names the beginnings of their names, with semicolons between them.
fn is_wanted(case: &Case) -> bool {
    std::env::var("PURLIN_FAULT_CASES").map_or(true, |names| names.split(';').any(|name| case.name.starts_with(name)))
}

/// Whether all cases are tried, so that they can be counted; prints a line if not.
pub fn are_complete() -> bool {
    let is_chosen = std::env::var_os("PURLIN_FAULT_CASES").is_some();
    if is_chosen {
        println!("PURLIN_FAULT_CASES is set: cases are not counted");
    }
    !is_chosen
}

/// All calls of all families, in a fixed order.
pub fn all() -> Vec<Case> {
    let families = [families::packed(), families::on_any_backend(), families::searches(), families::on_the_host()];
    let scans = [fdk::on_any_backend(), fdk::where_tensors_are(), fdk::on_host()];
    let matrices = [rsvd::on_any_backend(), rsvd::on_host(), sparse::on_host(), spectra::on_any_backend()];
    let trains = [tt::on_any_backend(), tt::where_trains_are()];
    let cases = families.into_iter().chain(scans).chain(matrices).chain(trains).flatten();
    base().into_iter().chain([copy_case()]).chain(cases).filter(is_wanted).collect()
}

/// Calls that belong together, a test each: they take minutes on a GPU.
#[derive(Clone, Copy)]
pub enum Family {
    Tensors,
    Fdk,
    Rsvd,
    Spectra,
    Tt,
}

/// Those of a family that may use a GPU.
pub fn on_gpu(family: Family) -> Vec<OnGpu> {
    let group = |cases: Vec<Case>, work, count| cases.into_iter().map(move |case| OnGpu { case, work, count });
    let cases: Vec<OnGpu> = match family {
        Family::Tensors => {
            // A search waits for the device dozens of times a tensor: one is enough. The eigensolver of matrices, the last
            // of them, is the host's.
            let mut searches: Vec<OnGpu> = group(families::searches(), Work::Device, 1).collect();
            if let Some(matrices) = searches.last_mut() {
                matrices.work = Work::Host;
            }
            // A plan computes nothing on a device.
            let computed = families::on_any_backend().into_iter().filter(|case| !case.name.ends_with("_plan"));
            group(computed.collect(), Work::Device, 300)
                .chain(group(families::packed(), Work::Host, 300))
                .chain(group(families::on_the_host(), Work::Host, 300))
                .chain(group(vec![copy_case()], Work::Host, 300))
                .chain(searches)
                .collect()
        }
        Family::Fdk => group(fdk::on_any_backend(), Work::Device, 7)
            .chain(group(fdk::where_tensors_are(), Work::Host, 7))
            .collect(),
        Family::Rsvd => {
            group(rsvd::on_any_backend(), Work::Device, 7).chain(group(rsvd::on_gpus(), Work::Device, 7)).collect()
        }
        Family::Spectra => {
            group(spectra::on_any_backend(), Work::Device, 7).chain(group(spectra::on_gpu(), Work::Device, 7)).collect()
        }
        Family::Tt => group(tt::on_any_backend(), Work::Device, 7)
            .chain(group(tt::where_trains_are(), Work::Host, 7))
            .chain(group(tt::on_gpu(), Work::Device, 7))
            .collect(),
    };
    cases.into_iter().filter(|given| is_wanted(&given.case)).collect()
}

/// Those whose host tensors are so many that they take several chunks, on several streams.
pub fn in_chunks() -> Vec<OnGpu> {
    families::in_chunks().into_iter().map(|case| OnGpu { case, work: Work::Device, count: 9000 }).collect()
}

/// Those that read and write files.
pub fn on_files() -> Vec<Case> {
    fdk::on_files().into_iter().chain(rsvd::on_files()).chain(sparse::on_files()).collect()
}

fn copy_case() -> Case {
    Case { name: "purlin_tensor_copy", allocations: 0, prepare: copy }
}

fn base() -> Vec<Case> {
    vec![
        Case { name: "purlin_context_create", allocations: 1, prepare: context_create },
        Case { name: "purlin_group_create", allocations: 1, prepare: group_create },
        Case { name: "purlin_tensor_create", allocations: 1, prepare: tensor_create },
        Case { name: "purlin_tensor_create_symmetric", allocations: 1, prepare: tensor_create_symmetric },
        Case { name: "purlin_matrix_create", allocations: 1, prepare: matrix_create },
        Case { name: "purlin_matrix_copy_csr", allocations: 3, prepare: matrix_copy_csr },
    ]
}

/// Destroys the result of a success, and returns the call's status with its message.
fn finish(status: purlin_status, destroy: impl FnOnce() -> purlin_status) -> purlin_status {
    if status == purlin_status::PURLIN_SUCCESS { destroy() } else { status }
}

fn context_create(_: &Fixture) -> Call {
    let mut options = initialized!(purlin_context_options, purlin_context_options_init);
    options.backend = PURLIN_BACKEND_CPU;
    options.threads = 2;
    Box::new(move || {
        let mut context = null_mut();
        let status = c!(purlin_context_create(&raw const options, &raw mut context));
        finish(status, || purlin_context_destroy(context))
    })
}

fn group_create(f: &Fixture) -> Call {
    let members = [f.context.cast_const()];
    Box::new(move || {
        let mut group = null_mut();
        let status = c!(purlin_group_create(1, members.as_ptr(), null(), &raw mut group));
        finish(status, || purlin_group_destroy(group))
    })
}

fn tensor_create(f: &Fixture) -> Call {
    let (context, dims) = (f.context, [f.count, 15]);
    Box::new(move || {
        let mut tensor = null_mut();
        let place = &raw mut tensor;
        let status = c!(purlin_tensor_create(context, PURLIN_F64, PURLIN_HOST, 0, 2, dims.as_ptr(), place));
        finish(status, || purlin_tensor_destroy(tensor))
    })
}

fn tensor_create_symmetric(f: &Fixture) -> Call {
    let (context, count) = (f.context, f.count);
    Box::new(move || {
        let mut tensor = null_mut();
        let place = &raw mut tensor;
        let status = c!(purlin_tensor_create_symmetric(context, PURLIN_F64, PURLIN_HOST, 0, 4, 3, count, place));
        finish(status, || purlin_tensor_destroy(tensor))
    })
}

fn matrix_create(f: &Fixture) -> Call {
    let (context, count) = (f.context, f.count);
    Box::new(move || {
        let mut matrix = null_mut();
        let status = c!(purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, count, 15, &raw mut matrix));
        finish(status, || purlin_matrix_destroy(matrix))
    })
}

fn matrix_copy_csr(f: &Fixture) -> Call {
    let (context, count) = (f.context, f.count);
    let rows: Vec<i64> = (0..=count).collect();
    let columns: Vec<i32> = vec![0; rows.len()];
    let values = vec![1.0; rows.len()];
    Box::new(move || {
        let mut matrix = null_mut();
        let status = c!(purlin_matrix_copy_csr(
            context,
            PURLIN_F64,
            0,
            count,
            1,
            count,
            PURLIN_I64,
            rows.as_ptr().cast(),
            PURLIN_I32,
            columns.as_ptr().cast(),
            values.as_ptr().cast(),
            &raw mut matrix,
        ));
        finish(status, || purlin_matrix_destroy(matrix))
    })
}

fn copy(f: &Fixture) -> Call {
    let (from, to) = (f.symmetric(PURLIN_F64, 4, 3), f.dense(PURLIN_F64, &[15, f.count], noise));
    let context = f.context;
    Box::new(move || c!(purlin_tensor_copy(context, null(), from, to)))
}
