//! Library, contexts, groups, streams, tensors, DLPack and matrices.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::options::{self, StructMemory, any_init};
use crate::program::c;
use crate::source::Source;
use crate::world::{World, element_size, extent, packed_count};

/// Makes one random call of these functions; returns its status.
pub fn call(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(32) {
        0 => whole_library(s),
        1 | 2 => context(s, w),
        3 => stream(s, w),
        4 => group(s, w),
        5..=8 => tensor_create(s, w),
        9..=12 => tensor_borrow(s, w),
        13..=15 => symmetric(s, w),
        16..=18 => tensor_copy(s, w),
        19 | 20 => tensor_question(s, w),
        21 | 22 => tensor_destroy(s, w),
        23 | 24 => dlpack(s, w),
        25..=27 => matrix_make(s, w),
        28 | 29 => csr(s, w),
        _ => matrix_use(s, w),
    }
}

fn whole_library(s: &mut Source<'_>) -> purlin_status {
    assert!(purlin_version() > 0 && !purlin_build_info().is_null());
    assert!(!purlin_status_string(s.strange() as i32).is_null());
    match s.below(8) {
        0 => {
            let mut count = 0;
            c!(purlin_device_count(if s.once_in(4) { null_mut() } else { &raw mut count }))
        }
        1 => any_init!(s, purlin_device_info, purlin_device_info_init),
        2 => any_init!(s, purlin_context_info, purlin_context_info_init),
        3 if s.once_in(4) => any_init!(s, purlin_group_options, purlin_group_options_init),
        3 => any_init!(s, purlin_context_options, purlin_context_options_init),
        4 => any_init!(s, purlin_tensor_info, purlin_tensor_info_init),
        5 => any_init!(s, purlin_matrix_info, purlin_matrix_info_init),
        _ => {
            let info = options::initialized!(purlin_device_info, purlin_device_info_init);
            let mut memory = StructMemory::of(s, &info);
            c!(purlin_device_properties(s.strange() as i32, memory.get_mut()))
        }
    }
}

fn context(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(8) {
        0 if w.contexts.live.len() < 3 => {
            let memory = {
                let o = options::any_context(s);
                StructMemory::of(s, &o)
            };
            let mut context = null_mut();
            let status = c!(purlin_context_create(memory.get(), &raw mut context));
            w.contexts.made(status, context);
            status
        }
        1 => c!(purlin_context_create(null(), null_mut())),
        2 => {
            let info = options::context_info();
            let mut memory = StructMemory::of(s, &info);
            let target = if s.once_in(8) { null_mut() } else { memory.get_mut() };
            c!(purlin_context_properties(w.contexts.pick(s), target))
        }
        3 => {
            let log = s.one_of(&[None, Some(options::log as _)]);
            c!(purlin_context_set_log(w.contexts.pick(s), s.code(5), log, null_mut()))
        }
        4 if w.contexts.live.len() > 1 => {
            let context = w.contexts.pick(s);
            let status = c!(purlin_context_destroy(context));
            w.contexts.destroyed(status, context);
            status
        }
        _ => c!(purlin_context_cancel(w.contexts.pick(s))),
    }
}

fn stream(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let mut stream = null_mut();
    match s.below(4) {
        0 => {
            let status = c!(purlin_stream_create(w.contexts.pick(s), &raw mut stream));
            w.streams.made(status, stream);
            status
        }
        1 => {
            let status = c!(purlin_stream_wrap(w.contexts.pick(s), s.bits(), &raw mut stream));
            w.streams.made(status, stream);
            status
        }
        2 => c!(purlin_stream_synchronize(w.streams.pick(s))),
        _ => {
            let stream = w.streams.pick(s);
            let status = c!(purlin_stream_destroy(stream));
            w.streams.destroyed(status, stream);
            status
        }
    }
}

fn group(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(4) {
        0 | 1 => {
            let members: Vec<_> = (0..s.below(4)).map(|_| w.contexts.pick(s).cast_const()).collect();
            let count = match s.below(12) {
                0 => s.one_of(&[-1, 1025, i64::MIN, i64::MAX]),
                _ => members.len() as i64,
            };
            let mut group = null_mut();
            let list = if members.is_empty() || s.once_in(20) { null() } else { members.as_ptr() };
            let memory = StructMemory::of(s, &options::initialized!(purlin_group_options, purlin_group_options_init));
            let options = if s.once_in(2) { null() } else { memory.get() };
            let status = c!(purlin_group_create(count, list, options, &raw mut group));
            w.groups.made(status, group);
            status
        }
        2 => {
            let info = options::initialized!(purlin_group_info, purlin_group_info_init);
            let mut memory = StructMemory::of(s, &info);
            c!(purlin_group_properties(w.groups.pick(s), memory.get_mut()))
        }
        _ => {
            let group = w.groups.pick(s);
            let status = c!(purlin_group_destroy(group));
            w.groups.destroyed(status, group);
            status
        }
    }
}

/// A number of dimensions, and sizes for the largest one that may be drawn, 40.
fn any_dims(s: &mut Source<'_>) -> (i64, [i64; 64]) {
    let ndim = if s.once_in(20) { s.one_of(&[-1, 32, 33, i64::MIN, i64::MAX]) } else { s.below(5) as i64 };
    let mut dims = [1; 64];
    let known = usize::try_from(ndim).unwrap_or(0).min(8);
    for d in &mut dims[..known] {
        *d = s.size();
    }
    (ndim, dims)
}

fn used(ndim: i64, dims: &[i64; 64]) -> &[i64] {
    &dims[..usize::try_from(ndim).unwrap_or(0).min(32)]
}

fn tensor_create(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (ndim, dims) = any_dims(s);
    let mut tensor = null_mut();
    let (context, dtype, location, flags) = (w.contexts.pick(s), s.code(12), s.code(2), any_flags(s));
    let place = if s.once_in(30) { null_mut() } else { &raw mut tensor };
    let dims = if s.once_in(30) { null() } else { dims.as_ptr() };
    let status = c!(purlin_tensor_create(context, dtype, location, flags, ndim, dims, place));
    w.tensors.made(status, tensor);
    status
}

fn any_flags(s: &mut Source<'_>) -> i32 {
    if s.once_in(20) { s.strange() as i32 } else { s.one_of(&[0, 0, 0, 1, 2, 3, 4, 5, 8]) }
}

fn tensor_borrow(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (ndim, dims) = any_dims(s);
    let (context, dtype, flags) = (w.contexts.pick(s), s.code(12), any_flags(s));
    let mut tensor = null_mut();
    let strides = s.once_in(3).then(|| {
        let mut strides = [1i64; 64];
        for t in &mut strides[..8] {
            *t = s.size();
        }
        strides
    });
    let given = strides.as_ref().map_or(null(), |t| t.as_ptr());
    let bytes = extent(used(ndim, &dims), strides.as_ref().map(|t| used(ndim, t)), element_size(dtype));
    let status = if s.once_in(20) {
        c!(purlin_tensor_borrow_device(context, dtype, flags, ndim, dims.as_ptr(), given, s.bits(), &raw mut tensor))
    } else {
        let data = w.buffer(s, bytes);
        c!(purlin_tensor_borrow(context, dtype, flags, ndim, dims.as_ptr(), given, data, &raw mut tensor))
    };
    w.tensors.made(status, tensor);
    status
}

fn symmetric(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let context = w.contexts.pick(s);
    let dtype = if s.once_in(10) { s.code(12) } else { s.one_of(&[PURLIN_F32, PURLIN_F64]) };
    let order = if s.once_in(20) { s.strange() } else { 2 + s.below(7) as i64 };
    let dimension = if s.once_in(20) { s.strange() } else { s.one_of(&[3, 3, 3, 1, 2, 4, 5]) };
    let (count, flags) = (s.size(), s.one_of(&[0, 0, 0, 8, 2, 4, 1]));
    let mut tensor = null_mut();
    if s.once_in(3) {
        let location = s.code(2);
        let place = &raw mut tensor;
        let status =
            c!(purlin_tensor_create_symmetric(context, dtype, location, flags, order, dimension, count, place));
        w.tensors.made(status, tensor);
        return status;
    }
    let (entry, step) = if s.once_in(4) { (s.size(), s.size()) } else { (0, 0) };
    let strides = ((entry, step) != (0, 0)).then_some([entry, step]);
    let bytes = packed_count(order, dimension)
        .and_then(|u| extent(&[u, count], strides.as_ref().map(|t| t.as_slice()), element_size(dtype)));
    let place = &raw mut tensor;
    let status = if s.once_in(20) {
        let data = s.bits();
        c!(purlin_tensor_borrow_symmetric_device(
            context, dtype, flags, order, dimension, count, entry, step, data, place
        ))
    } else {
        let data = w.buffer(s, bytes);
        c!(purlin_tensor_borrow_symmetric(context, dtype, flags, order, dimension, count, entry, step, data, place))
    };
    w.tensors.made(status, tensor);
    status
}

/// A stream of any kind, mostly none.
pub fn any_stream(s: &mut Source<'_>, w: &World) -> *const purlin_stream {
    if s.once_in(6) { w.streams.pick(s) } else { null() }
}

fn tensor_copy(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (stream, from) = (any_stream(s, w), w.tensors.pick(s));
    let mut to = w.tensors.pick(s);
    // Two random tensors rarely fit each other, so the second is made to fit.
    let (mut dims, mut info) = ([0i64; 32], options::initialized!(purlin_tensor_info, purlin_tensor_info_init));
    if s.below(2) == 0
        && c!(purlin_tensor_properties(from, &raw mut info)) == purlin_status::PURLIN_SUCCESS
        && c!(purlin_tensor_shape(from, 32, dims.as_mut_ptr(), null_mut())) == purlin_status::PURLIN_SUCCESS
    {
        let (mut twin, flags) = (null_mut(), s.one_of(&[0, 1]));
        let place = &raw mut twin;
        let status =
            c!(purlin_tensor_create(w.home(), info.dtype, PURLIN_HOST, flags, info.ndim, dims.as_ptr(), place));
        w.tensors.made(status, twin);
        if !twin.is_null() {
            to = twin;
        }
    }
    let context = if s.once_in(4) { w.contexts.pick(s).cast_const() } else { w.home() };
    c!(purlin_tensor_copy(context, stream, from, to))
}

fn tensor_question(s: &mut Source<'_>, w: &World) -> purlin_status {
    let tensor = w.tensors.pick(s);
    if s.below(2) == 0 {
        let info = options::initialized!(purlin_tensor_info, purlin_tensor_info_init);
        let mut memory = StructMemory::of(s, &info);
        return c!(purlin_tensor_properties(tensor, if s.once_in(8) { null_mut() } else { memory.get_mut() }));
    }
    let (mut dims, mut strides) = ([0i64; 40], [0i64; 40]);
    let capacity = s.below(42) as i64 - 2;
    let (a, b) = (s.once_in(4), s.once_in(4));
    let dims = if a { null_mut() } else { dims.as_mut_ptr() };
    let strides = if b { null_mut() } else { strides.as_mut_ptr() };
    c!(purlin_tensor_shape(tensor, capacity, dims, strides))
}

fn tensor_destroy(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let tensor = w.tensors.pick(s);
    let status = c!(purlin_tensor_destroy(tensor));
    w.tensors.destroyed(status, tensor);
    status
}

/// The structs of DLPack 1.0.
#[repr(C)]
struct Managed {
    version: [u32; 2],
    manager: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
    flags: u64,
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    offset: u64,
}

/// A capsule of the test's with its arrays. The world owns its memory. The struct of DLPack must be the first field.
#[repr(C)]
struct Capsule {
    managed: Managed,
    dims: [i64; 64],
    steps: [i64; 64],
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: `manager` is the box that `dlpack` made, and the deleter is called once.
    drop(unsafe { Box::from_raw((*managed).manager.cast::<Capsule>()) });
}

/// Calls the deleter of a capsule that purlin exported.
pub fn delete_capsule(capsule: *mut c_void) {
    let managed = capsule.cast::<Managed>();
    // SAFETY: purlin made it, and its deleter is called here alone.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

fn dlpack(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    match s.below(4) {
        0 => {
            let mut capsule = null_mut();
            let status = c!(purlin_tensor_to_dlpack(w.tensors.pick(s), &raw mut capsule));
            if status == purlin_status::PURLIN_SUCCESS {
                w.capsules.push(capsule);
            }
            status
        }
        1 if !w.capsules.is_empty() => {
            // Back to purlin: its own capsule, which the call takes over whether or not it succeeds.
            let place = s.below(w.capsules.len());
            let capsule = w.capsules.swap_remove(place);
            if s.once_in(2) {
                delete_capsule(capsule);
                return purlin_status::PURLIN_SUCCESS;
            }
            import(s, w, capsule)
        }
        _ => {
            let (ndim, dims) = any_dims(s);
            let mut steps = [1i64; 64];
            for t in &mut steps[..8] {
                *t = s.size();
            }
            let (code, bits) = s.one_of(&[(2u8, 32u8), (2, 64), (0, 32), (1, 8), (5, 128), (3, 7), (2, 16)]);
            let strided = s.once_in(2);
            let given = strided.then(|| used(ndim, &steps));
            let data = w.buffer(s, extent(used(ndim, &dims), given, usize::from(bits / 8)));
            let mut capsule = Box::new(Capsule {
                managed: Managed {
                    version: [if s.once_in(10) { s.byte().into() } else { 1 }, 0],
                    manager: null_mut(),
                    deleter: Some(delete),
                    flags: s.bits() & 3,
                    data,
                    device: [s.one_of(&[1, 1, 1, 1, 1, 2, 3, 8, -1]), 0],
                    ndim: i32::try_from(ndim).unwrap_or(i32::MAX),
                    code,
                    bits,
                    lanes: if s.once_in(10) { 0 } else { 1 },
                    shape: null_mut(),
                    strides: null_mut(),
                    offset: 0,
                },
                dims,
                steps,
            });
            capsule.managed.shape = capsule.dims.as_mut_ptr();
            if strided {
                capsule.managed.strides = capsule.steps.as_mut_ptr();
            }
            let capsule = Box::into_raw(capsule);
            // SAFETY: just made; its first member is the struct of DLPack.
            unsafe { (*capsule).managed.manager = capsule.cast() };
            import(s, w, capsule.cast())
        }
    }
}

fn import(s: &mut Source<'_>, w: &mut World, capsule: *mut c_void) -> purlin_status {
    let mut tensor = null_mut();
    let status = c!(purlin_tensor_from_dlpack(w.contexts.pick(s), capsule, &raw mut tensor));
    w.tensors.made(status, tensor);
    status
}

fn matrix_make(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (context, dtype, flags, rows, cols) = (w.contexts.pick(s), s.code(12), any_flags(s), s.size(), s.size());
    let mut matrix = null_mut();
    let place = &raw mut matrix;
    let status = match s.below(8) {
        0..=2 => c!(purlin_matrix_create(context, dtype, s.code(2), flags, rows, cols, place)),
        3 => c!(purlin_matrix_borrow_device(context, dtype, flags, rows, cols, s.size(), s.bits(), place)),
        _ => {
            let ld = rows.max(cols).saturating_add(s.size()).max(1);
            let ld = if s.once_in(8) { s.size() } else { ld };
            // Enough for either order of storage.
            let long = extent(&[rows.max(cols), rows.max(cols)], Some(&[1, ld]), element_size(dtype));
            let data = w.buffer(s, long);
            c!(purlin_matrix_borrow(context, dtype, flags, rows, cols, ld, data, place))
        }
    };
    w.matrices.made(status, matrix);
    status
}

fn csr(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let (rows, cols, base) = (s.below(6) as i64, s.below(6) as i64, s.code(2));
    let (row_type, column_type) = (s.one_of(&[4, 5, 5, 4, 1]), s.one_of(&[4, 5, 5, 4, 0]));
    // Right offsets of rows with up to three entries, then one of them at times wrong.
    let mut offsets = vec![i64::from(base)];
    for _ in 0..rows {
        let last = offsets.last().copied().unwrap_or(0);
        offsets.push(last + s.below(4) as i64);
    }
    let nnz = offsets.last().copied().unwrap_or(0) - i64::from(base);
    let mut columns: Vec<i64> = (0..nnz).map(|_| i64::from(base) + s.below(cols.max(1) as usize) as i64).collect();
    if s.once_in(4) {
        let place = s.below(offsets.len());
        offsets[place] = s.strange();
    }
    if s.once_in(4) && !columns.is_empty() {
        let place = s.below(columns.len());
        columns[place] = s.strange();
    }
    let (row_ptr, col_idx) = (indices(w, row_type, &offsets), indices(w, column_type, &columns));
    let dtype = s.code(12);
    let values = if s.once_in(3) { null_mut() } else { w.buffer(s, Some(16 * columns.len())) };
    let mut matrix = null_mut();
    let context = w.contexts.pick(s);
    let claimed = if s.once_in(20) { -1 } else { nnz };
    let (d, b, n, place) = (dtype, base, claimed, &raw mut matrix);
    let (rt, r, kt, k, v) = (row_type, row_ptr.cast_const(), column_type, col_idx.cast_const(), values.cast_const());
    let status = if s.once_in(8) {
        let (r, k, v) = (s.bits(), s.bits(), s.bits());
        c!(purlin_matrix_borrow_csr_device(context, d, b, rows, cols, n, rt, r, kt, k, v, place))
    } else if s.once_in(2) {
        c!(purlin_matrix_borrow_csr(context, d, b, rows, cols, n, rt, r, kt, k, v, place))
    } else {
        c!(purlin_matrix_copy_csr(context, d, b, rows, cols, n, rt, r, kt, k, v, place))
    };
    w.matrices.made(status, matrix);
    status
}

/// Indices in the world's memory, of the given integer type.
fn indices(w: &mut World, dtype: i32, values: &[i64]) -> *mut c_void {
    w.keep(if dtype == PURLIN_I32 {
        values.iter().flat_map(|v| (*v as i32).to_ne_bytes()).collect()
    } else {
        values.iter().flat_map(|v| v.to_ne_bytes()).collect()
    })
}

fn matrix_use(s: &mut Source<'_>, w: &mut World) -> purlin_status {
    let matrix = w.matrices.pick(s);
    match s.below(4) {
        0 => {
            let info = options::initialized!(purlin_matrix_info, purlin_matrix_info_init);
            let mut memory = StructMemory::of(s, &info);
            c!(purlin_matrix_properties(matrix, if s.once_in(8) { null_mut() } else { memory.get_mut() }))
        }
        1 | 2 => {
            let (context, stream, to) = (w.contexts.pick(s), any_stream(s, w), w.matrices.pick(s));
            c!(purlin_matrix_copy(context, stream, matrix, to))
        }
        _ => {
            let status = c!(purlin_matrix_destroy(matrix));
            w.matrices.destroyed(status, matrix);
            status
        }
    }
}
