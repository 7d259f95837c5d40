//! Randomized SVD, principal components and robust PCA, on matrices of every storage.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use purlin::fault::{self, Kind};
use purlin::ffi::*;

use crate::cases::{Call, Case};
use crate::fixture::{Fixture, c, good, initialized, message, noise};

/// Large enough that the buffers of a decomposition count as large.
const ROWS: i64 = 600;
const COLS: i64 = 120;
const RANK: i64 = 5;

/// Decompositions of matrices in memory.
pub fn on_any_backend() -> Vec<Case> {
    vec![
        Case { name: "purlin_rsvd_compute", allocations: 4, prepare: |f| decompose(f, Form::Dense) },
        Case { name: "purlin_rsvd_compute, a reader", allocations: 4, prepare: |f| decompose(f, Form::Read) },
    ]
}

/// Calls that use several GPUs, or one several times.
pub fn on_gpus() -> Vec<Case> {
    vec![Case { name: "purlin_rpca_compute_once, two contexts", allocations: 4, prepare: split_over_two }]
}

/// Calls that are tried on the host only.
pub fn on_host() -> Vec<Case> {
    vec![
        Case { name: "purlin_rsvd_compute_once", allocations: 4, prepare: decompose_once },
        Case { name: "purlin_rsvd_compute, sparse", allocations: 4, prepare: |f| decompose(f, Form::Sparse) },
        Case { name: "purlin_rsvd_compute, an operator", allocations: 4, prepare: |f| decompose(f, Form::Operator) },
        Case { name: "purlin_rsvd_compute, restarting", allocations: 4, prepare: restarting },
        Case { name: "purlin_rsvd_compute, going on", allocations: 4, prepare: going_on },
        Case { name: "purlin_rsvd_range, symmetric, error", allocations: 4, prepare: others },
        Case { name: "purlin_pca_plan, fit, transform", allocations: 4, prepare: components },
        Case { name: "purlin_rpca_compute_once", allocations: 4, prepare: split },
        Case { name: "purlin_rpca_compute_csr", allocations: 4, prepare: split_sparsely },
    ]
}

/// Calls that read and write files.
pub fn on_files() -> Vec<Case> {
    vec![
        Case { name: "purlin_rsvd_compute, restarting", allocations: 0, prepare: restarting },
        Case { name: "purlin_rsvd_compute, going on", allocations: 0, prepare: going_on },
        Case { name: "robust PCA, .npy to raw files", allocations: 0, prepare: |f| files(f, "npy") },
        Case { name: "robust PCA, mapped to raw files", allocations: 0, prepare: |f| files(f, "mapped") },
    ]
}

/// How the matrix is given.
#[derive(Clone, Copy)]
enum Form {
    Dense,
    Read,
    Sparse,
    Operator,
}

/// Entries of a matrix of rank 5 and some noise, column by column. Thousands of trials take the same ones.
fn entries() -> Vec<f64> {
    static ENTRIES: OnceLock<Vec<f64>> = OnceLock::new();
    let part = |i: usize, j: usize, r: usize| noise(7 * i + r) * noise(1000 + 11 * j + r);
    let entry = |i: usize, j: usize| (0..5).map(|r| part(i, j, r)).sum::<f64>() + 1e-3 * noise(i + 601 * j);
    let make = || (0..COLS as usize).flat_map(|j| (0..ROWS as usize).map(move |i| entry(i, j))).collect();
    ENTRIES.get_or_init(make).clone()
}

/// The first failure of some calls, each made when all before it have succeeded.
macro_rules! in_turn {
    ($($call:expr),* $(,)?) => {{
        let mut status = purlin_status::PURLIN_SUCCESS;
        $(
            if status == purlin_status::PURLIN_SUCCESS {
                status = c!($call);
            }
        )*
        status
    }};
}
pub(crate) use in_turn;

fn end_matrices(matrices: &[*mut purlin_matrix]) {
    for m in matrices {
        assert_eq!(purlin_matrix_destroy(*m), purlin_status::PURLIN_SUCCESS, "{}", message());
    }
}

unsafe extern "C" fn read(_: *const i64, count: *const i64, block: *mut c_void, user: *mut c_void) -> i32 {
    // SAFETY: purlin passes two counts, and memory for their product of F64; `user` has at least as many.
    unsafe {
        let elements = *count * *count.add(1);
        block.cast::<f64>().copy_from_nonoverlapping(user.cast::<f64>(), elements as usize);
    }
    0
}

unsafe extern "C" fn apply(
    adjoint: i32,
    count: i64,
    x: *const c_void,
    ldx: i64,
    y: *mut c_void,
    ldy: i64,
    _cuda_stream: u64,
    _: *mut c_void,
) -> i32 {
    let (long_x, long_y) = if adjoint == 0 { (COLS, ROWS) } else { (ROWS, COLS) };
    for k in 0..count {
        for i in 0..long_y {
            // Diagonal: the i-th number over i + 1.
            // SAFETY: purlin passes columns of these lengths.
            unsafe {
                let value = if i < long_x { *x.cast::<f64>().add((ldx * k + i) as usize) } else { 0.0 };
                y.cast::<f64>().add((ldy * k + i) as usize).write(value / (i + 1) as f64);
            }
        }
    }
    0
}

/// Makes the matrix of a form over `data`.
fn matrix(
    context: *mut purlin_context,
    form: Form,
    data: &[f64],
    indices: &(Vec<i64>, Vec<i32>),
    place: *mut *mut purlin_matrix,
) -> purlin_status {
    let start = data.as_ptr().cast_mut().cast::<c_void>();
    match form {
        Form::Dense => c!(purlin_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, ROWS, COLS, ROWS, start, place)),
        Form::Operator => {
            c!(purlin_matrix_from_operator(
                context,
                PURLIN_F64,
                ROWS,
                COLS,
                Some(apply),
                null_mut(),
                PURLIN_HOST,
                place
            ))
        }
        Form::Read => {
            let (mut source, dims) = (null_mut(), [COLS, ROWS]);
            let status = in_turn!(
                purlin_source_from_callback(context, PURLIN_F64, 2, dims.as_ptr(), Some(read), start, &raw mut source),
                purlin_matrix_from_source(context, source, PURLIN_ROW_MAJOR, place),
            );
            assert_eq!(purlin_source_destroy(source), purlin_status::PURLIN_SUCCESS, "{}", message());
            status
        }
        Form::Sparse => {
            let (row_ptr, col_idx) = (indices.0.as_ptr().cast(), indices.1.as_ptr().cast());
            let (nnz, values) = (indices.1.len() as i64, start.cast_const());
            c!(purlin_matrix_borrow_csr(
                context, PURLIN_F64, 0, ROWS, COLS, nnz, PURLIN_I64, row_ptr, PURLIN_I32, col_idx, values, place
            ))
        }
    }
}

/// Offsets and columns of a sparse matrix with three entries a row.
fn indices() -> (Vec<i64>, Vec<i32>) {
    let row_ptr = (0..=ROWS).map(|i| 3 * i).collect();
    let col_idx = (0..3 * ROWS).map(|k| ((k * 37) % COLS) as i32).collect();
    (row_ptr, col_idx)
}

/// Makes a decomposition, calls `body` with it and destroys it.
fn with_rsvd(
    context: *mut purlin_context,
    change: impl Fn(&mut purlin_rsvd_options),
    body: impl FnOnce(*mut purlin_rsvd) -> purlin_status,
) -> purlin_status {
    let mut o = initialized!(purlin_rsvd_options, purlin_rsvd_options_init);
    (o.rank, o.block_rows, o.power_iterations) = (RANK, 200, 1);
    change(&mut o);
    let mut rsvd = null_mut();
    let status = c!(purlin_rsvd_create(context, &raw const o, &raw mut rsvd));
    if status != purlin_status::PURLIN_SUCCESS {
        return status;
    }
    let status = body(rsvd);
    assert_eq!(purlin_rsvd_destroy(rsvd), purlin_status::PURLIN_SUCCESS, "{}", message());
    status
}

fn decompose(f: &Fixture, form: Form) -> Call {
    let (context, data, indices) = (f.context, entries(), indices());
    let values = f.vector(RANK);
    Box::new(move || {
        let [mut a, mut u, mut v] = [null_mut(); 3];
        let made = in_turn!(
            matrix(context, form, &data, &indices, &raw mut a),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, ROWS, RANK, &raw mut u),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, COLS, RANK, &raw mut v),
        );
        let status = in_turn!(
            made,
            with_rsvd(
                context,
                |o| {
                    if matches!(form, Form::Sparse | Form::Operator) {
                        o.block_rows = 0;
                    }
                },
                |rsvd| {
                    let mut info = initialized!(purlin_rsvd_info, purlin_rsvd_info_init);
                    c!(purlin_rsvd_compute(rsvd, null(), a, u, values, v, &raw mut info))
                },
            ),
        );
        end_matrices(&[v, u, a]);
        status
    })
}

fn decompose_once(f: &Fixture) -> Call {
    let (context, data) = (f.context, entries());
    let values = f.vector(RANK);
    Box::new(move || {
        let mut a = null_mut();
        let mut o = initialized!(purlin_rsvd_options, purlin_rsvd_options_init);
        o.rank = RANK;
        let none = (Vec::new(), Vec::new());
        let status = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut a),
            purlin_rsvd_compute_once(context, null(), a, &raw const o, null_mut(), values, null_mut(), null_mut()),
        );
        end_matrices(&[a]);
        status
    })
}

/// A decomposition that saves its state. A failure leaves the state of a pass before it or none, from which the next call
/// goes on; a success leaves nothing.
fn restarting(f: &Fixture) -> Call {
    let (context, data, folder) = (f.context, entries(), Folder::new("restart"));
    let values = f.vector(RANK);
    Box::new(move || {
        let mut a = null_mut();
        let path = folder.path("state");
        let none = (Vec::new(), Vec::new());
        let status = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut a),
            with_rsvd(
                context,
                |o| (o.restart_path, o.method, o.power_iterations) = (path.as_ptr(), PURLIN_RSVD_METHOD_ROW_FUSED, 4),
                |rsvd| c!(purlin_rsvd_compute(rsvd, null(), a, null_mut(), values, null_mut(), null_mut())),
            ),
        );
        end_matrices(&[a]);
        for left in std::fs::read_dir(&folder.0).expect("the folder") {
            let name = left.expect("a file").file_name();
            assert!(name == "state" && status != purlin_status::PURLIN_SUCCESS, "{status:?} left {name:?}");
        }
        status
    })
}

/// The word at byte offset `place` of a restart file.
fn word(state: &[u8], place: usize) -> u64 {
    u64::from_le_bytes(state[place..place + 8].try_into().expect("eight bytes"))
}

/// The word of a restart file that counts iterations.
const ITERATIONS_DONE: usize = 8 + 8 * 2;

/// Whether a restart file is whole: its last word is the checksum (FNV-1a) of the others.
fn is_whole(state: &[u8]) -> bool {
    let (all, _) = state.split_at(state.len().saturating_sub(8));
    let sum = all.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3));
    all.starts_with(b"PURLINRS") && word(state, all.len()) == sum
}

/// A decomposition that resumes from a saved state. A failure leaves that state or a later one, complete; an error of a
/// file names it.
fn going_on(f: &Fixture) -> Call {
    // The file operation that fails after the first state, which is the same for each fixture: a search from the first
    // operation on takes several runs.
    static SECOND_STATE: AtomicI64 = AtomicI64::new(0);
    let (context, data, folder) = (f.context, entries(), Folder::new("going-on"));
    let values = f.vector(RANK);
    let path = folder.path("state");
    let name = folder.0.join("state");
    let run = move || {
        let mut a = null_mut();
        let mut text = String::new();
        let none = (Vec::new(), Vec::new());
        let status = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut a),
            with_rsvd(
                context,
                |o| (o.restart_path, o.method, o.power_iterations) = (path.as_ptr(), PURLIN_RSVD_METHOD_ROW_FUSED, 4),
                |rsvd| {
                    let status = c!(purlin_rsvd_compute(rsvd, null(), a, null_mut(), values, null_mut(), null_mut()));
                    text = message();
                    status
                },
            ),
        );
        end_matrices(&[a]);
        (status, text)
    };
    // A run whose second state cannot be written leaves the first.
    let state = (SECOND_STATE.load(Ordering::Relaxed)..100)
        .find_map(|n| {
            SECOND_STATE.store(n, Ordering::Relaxed);
            fault::arm(n, Kind::File as u32, true);
            let _ = run();
            fault::disarm();
            std::fs::read(&name).ok()
        })
        .expect("a state of an interrupted run");
    assert!(is_whole(&state));
    Box::new(move || {
        std::fs::write(&name, &state).expect("the state");
        let (status, text) = run();
        let kept = std::fs::read(&name).ok();
        match status {
            purlin_status::PURLIN_SUCCESS => assert!(kept.is_none(), "a complete run left its state"),
            _ => {
                let kept = kept.unwrap_or_else(|| panic!("{status:?} {text} removed the state"));
                let is_later = word(&kept, ITERATIONS_DONE) > word(&state, ITERATIONS_DONE);
                assert!(kept == state || (is_whole(&kept) && is_later), "{status:?} {text} spoilt the state");
            }
        }
        if status == purlin_status::PURLIN_ERROR_IO {
            assert!(text.contains(&*name.to_string_lossy()), "{text} does not name {}", name.display());
        }
        for left in std::fs::read_dir(&folder.0).expect("the folder") {
            assert_eq!(left.expect("a file").file_name(), "state", "{status:?} {text}");
        }
        status
    })
}

/// A basis, its error, and eigenvalues of a matrix of ones.
fn others(f: &Fixture) -> Call {
    let (context, data, ones) = (f.context, entries(), vec![1.0f64; (COLS * COLS) as usize]);
    let (values, lambda) = (f.vector(RANK), f.vector(RANK));
    Box::new(move || {
        let [mut a, mut h, mut q, mut b, mut v] = [null_mut(); 5];
        let start = ones.as_ptr().cast_mut().cast();
        let none = (Vec::new(), Vec::new());
        let made = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut a),
            purlin_matrix_borrow(context, PURLIN_F64, PURLIN_READ_ONLY, COLS, COLS, COLS, start, &raw mut h),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, ROWS, RANK, &raw mut q),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, RANK, COLS, &raw mut b),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, COLS, RANK, &raw mut v),
        );
        let status = in_turn!(
            made,
            with_rsvd(context, |_| {}, |rsvd| c!(purlin_rsvd_range(rsvd, null(), a, q, b, null_mut()))),
            with_rsvd(
                context,
                |o| o.error = PURLIN_RSVD_ERROR_PROBES,
                |rsvd| {
                    let mut norm = 0.0;
                    in_turn!(
                        purlin_rsvd_compute(rsvd, null(), a, q, values, v, null_mut()),
                        purlin_rsvd_error(rsvd, null(), a, q, values, v, &raw mut norm, null_mut(), null_mut()),
                        purlin_rsvd_symmetric(rsvd, null(), h, lambda, v, null_mut()),
                    )
                },
            ),
        );
        end_matrices(&[v, b, q, h, a]);
        status
    })
}

fn components(f: &Fixture) -> Call {
    let (context, data) = (f.context, entries());
    Box::new(move || {
        let [mut x, mut scores] = [null_mut(); 2];
        let mut pca = null_mut();
        let mut info = initialized!(purlin_rsvd_info, purlin_rsvd_info_init);
        let none = (Vec::new(), Vec::new());
        let made = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut x),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, ROWS, RANK, &raw mut scores),
        );
        let place = &raw mut pca;
        let status = in_turn!(
            made,
            with_rsvd(
                context,
                |_| {},
                |rsvd| {
                    in_turn!(
                        purlin_pca_plan(rsvd, x, null(), 1, &raw mut info),
                        purlin_pca_fit(rsvd, null(), x, null(), scores, place, null_mut()),
                    )
                },
            ),
            purlin_pca_transform(pca, null(), x, scores, null_mut()),
        );
        assert_eq!(purlin_pca_destroy(pca), purlin_status::PURLIN_SUCCESS, "{}", message());
        end_matrices(&[scores, x]);
        status
    })
}

/// A loose tolerance for few iterations: each has the same fault points.
fn loose() -> purlin_rpca_options {
    let mut o = initialized!(purlin_rpca_options, purlin_rpca_options_init);
    o.tolerance = 0.05;
    o
}

fn split(f: &Fixture) -> Call {
    let (context, data) = (f.context, entries());
    Box::new(move || {
        let [mut m, mut low_rank, mut sparse] = [null_mut(); 3];
        let o = loose();
        let none = (Vec::new(), Vec::new());
        let status = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut m),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, ROWS, COLS, &raw mut low_rank),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, PURLIN_ROW_MAJOR, ROWS, COLS, &raw mut sparse),
            purlin_rpca_compute_once(context, null(), m, null(), &raw const o, low_rank, sparse, null_mut()),
        );
        end_matrices(&[sparse, low_rank, m]);
        status
    })
}

/// A group that is destroyed when the value is dropped.
struct Group(*mut purlin_group);

impl Drop for Group {
    fn drop(&mut self) {
        assert_eq!(purlin_group_destroy(self.0), purlin_status::PURLIN_SUCCESS, "{}", message());
    }
}

fn split_over_two(f: &Fixture) -> Call {
    let (context, data) = (f.context, entries());
    let mut options = initialized!(purlin_context_options, purlin_context_options_init);
    (options.backend, options.threads) = (PURLIN_BACKEND_CUDA, 2);
    let (mut other, mut both) = (null_mut(), Group(null_mut()));
    good!(purlin_context_create(&raw const options, &raw mut other));
    let members = [context.cast_const(), other.cast_const()];
    good!(purlin_group_create(2, members.as_ptr(), null(), &raw mut both.0));
    // The group keeps its member alive.
    good!(purlin_context_destroy(other));
    Box::new(move || {
        let [mut m, mut low_rank, mut sparse] = [null_mut(); 3];
        // The group itself, not only its handle, so that it is dropped with this closure.
        let both = &both;
        let mut o = loose();
        o.group = both.0;
        let none = (Vec::new(), Vec::new());
        let status = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut m),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, 0, ROWS, COLS, &raw mut low_rank),
            purlin_matrix_create(context, PURLIN_F64, PURLIN_HOST, PURLIN_ROW_MAJOR, ROWS, COLS, &raw mut sparse),
            purlin_rpca_compute_once(context, null(), m, null(), &raw const o, low_rank, sparse, null_mut()),
        );
        end_matrices(&[sparse, low_rank, m]);
        status
    })
}

fn split_sparsely(f: &Fixture) -> Call {
    let (context, data) = (f.context, entries());
    Box::new(move || {
        let [mut m, mut sparse] = [null_mut(); 2];
        let (mut rpca, o) = (null_mut(), loose());
        let none = (Vec::new(), Vec::new());
        let place = &raw mut sparse;
        let status = in_turn!(
            matrix(context, Form::Dense, &data, &none, &raw mut m),
            purlin_rpca_create(context, &raw const o, &raw mut rpca),
            purlin_rpca_plan(rpca, m, null(), null_mut()),
            purlin_rpca_compute_csr(rpca, null(), m, null(), null_mut(), place, null_mut()),
        );
        assert_eq!(purlin_rpca_destroy(rpca), purlin_status::PURLIN_SUCCESS, "{}", message());
        end_matrices(&[sparse, m]);
        status
    })
}

/// A folder that is removed when the value is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(kind: &str) -> Self {
        let path = std::env::temp_dir().join(format!("purlin-fault-{kind}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder for files");
        Self(path)
    }

    /// Path of the folder itself.
    pub fn whole(&self) -> &Path {
        &self.0
    }

    pub fn path(&self, name: &str) -> CString {
        CString::new(self.0.join(name).to_str().expect("a plain path")).expect("no zero in it")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file's matrix is split into two files. A failure must leave no file but the input.
fn files(f: &Fixture, kind: &'static str) -> Call {
    const HEADER: &str = "{'descr': '<f8', 'fortran_order': True, 'shape': (600, 120), }\n";
    let (context, folder) = (f.context, Folder::new(kind));
    let offset = 10 + HEADER.len();
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((HEADER.len() as u16).to_le_bytes());
    bytes.extend(HEADER.as_bytes());
    bytes.extend(entries().iter().flat_map(|v| v.to_le_bytes()));
    std::fs::write(folder.0.join("m"), bytes).expect("the file can be written");
    Box::new(move || {
        let (mut source, mut m, mut rpca) = (null_mut(), null_mut(), null_mut());
        let [mut low_rank, mut sparse] = [null_mut(); 2];
        let o = loose();
        let [input, first, second] = ["m", "low", "sparse"].map(|name| folder.path(name));
        let sizes = [ROWS, COLS];
        let (d, place, order) = (sizes.as_ptr(), &raw mut source, PURLIN_LITTLE_ENDIAN);
        let status = in_turn!(
            match kind {
                "npy" => purlin_source_from_npy(context, input.as_ptr(), place),
                _ => {
                    let offset = offset as i64;
                    purlin_source_from_mapped_file(context, input.as_ptr(), offset, PURLIN_F64, order, 2, d, place)
                }
            },
            purlin_matrix_from_source(context, source, 0, &raw mut m),
            purlin_sink_to_file(context, first.as_ptr(), 0, PURLIN_F32, order, 2, d, &raw mut low_rank),
            purlin_sink_to_file(context, second.as_ptr(), 0, PURLIN_F64, order, 2, d, &raw mut sparse),
            purlin_rpca_create(context, &raw const o, &raw mut rpca),
            purlin_rpca_compute_to_sinks(rpca, null(), m, null(), low_rank, sparse, null_mut()),
        );
        assert_eq!(purlin_rpca_destroy(rpca), purlin_status::PURLIN_SUCCESS, "{}", message());
        for sink in [low_rank, sparse] {
            assert_eq!(purlin_sink_destroy(sink), purlin_status::PURLIN_SUCCESS, "{}", message());
        }
        end_matrices(&[m]);
        assert_eq!(purlin_source_destroy(source), purlin_status::PURLIN_SUCCESS, "{}", message());
        // The two files get their names one after the other, so the first may exist when the second fails.
        let _ = std::fs::remove_file(folder.0.join("low"));
        let _ = std::fs::remove_file(folder.0.join("sparse"));
        let left = std::fs::read_dir(&folder.0).expect("the folder").count();
        assert_eq!(left, 1, "a failure leaves no file");
        status
    })
}
