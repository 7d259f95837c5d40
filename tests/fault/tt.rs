//! Tensor trains: contractions, operators, environments and algebra. Each call creates its objects.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use purlin::ffi::*;

use crate::cases::{Call, Case};
use crate::fixture::{Fixture, c, initialized, message};
use crate::rsvd::in_turn;

/// Number of sites of every train.
const SITES: i64 = 5;
const MODES: [i64; SITES as usize] = [2; SITES as usize];
const OPEN: [i64; SITES as usize + 1] = [1, 2, 4, 4, 2, 1];
const RING: [i64; SITES as usize + 1] = [3; SITES as usize + 1];

/// Contractions and factorizations, which run where the context is.
pub fn on_any_backend() -> Vec<Case> {
    vec![
        Case { name: "purlin_tt_inner, norm, distance", allocations: 8, prepare: |f| contract(f, &OPEN) },
        Case { name: "purlin_tt_inner of rings", allocations: 8, prepare: |f| contract(f, &RING) },
        Case { name: "purlin_tt_inner, sandwich, with progress", allocations: 8, prepare: reported },
        Case { name: "purlin_tt_inner_batch, gram", allocations: 8, prepare: lists },
        Case { name: "purlin_tt_add, apply, full", allocations: 8, prepare: combine },
        Case { name: "purlin_tt_round, svd, canonicalize", allocations: 8, prepare: truncate },
    ]
}

/// Calls that run on the processor that holds the trains.
pub fn where_trains_are() -> Vec<Case> {
    vec![
        Case { name: "purlin_tt_sandwich, rayleigh, correlation", allocations: 8, prepare: operate },
        Case { name: "purlin_tt_environments", allocations: 8, prepare: sweep },
    ]
}

/// Calls that exist on a GPU only.
pub fn on_gpu() -> Vec<Case> {
    vec![
        Case { name: "purlin_tt_inner_enqueue", allocations: 3, prepare: enqueue },
        Case {
            name: "purlin_tt_inner_enqueue by cuBLAS",
            allocations: 3,
            prepare: |f| enqueue_by(f, |options| options.kernel = PURLIN_TT_KERNEL_PRODUCTS),
        },
        Case {
            name: "purlin_tt_inner_enqueue by dense halves",
            allocations: 3,
            prepare: |f| enqueue_by(f, |options| options.method = PURLIN_TT_METHOD_HALVES),
        },
        Case {
            name: "purlin_tt_inner_enqueue by powers",
            allocations: 3,
            prepare: |f| enqueue_by(f, |options| (options.method, options.repeat) = (PURLIN_TT_METHOD_POWER, 3)),
        },
        Case {
            name: "purlin_tt_norm_enqueue by QR factors",
            allocations: 3,
            prepare: |f| enqueue_by(f, |options| options.norm_method = PURLIN_TT_NORM_QR),
        },
        Case { name: "purlin_tt_distance_enqueue", allocations: 3, prepare: enqueue_distance },
        Case { name: "purlin_tt_sandwich_enqueue, rayleigh", allocations: 3, prepare: enqueue_operators },
    ]
}

/// Handles of a call, destroyed at its end whatever its status.
struct Made {
    trains: [*mut purlin_tt; 4],
    matrix: *mut purlin_tt_matrix,
    contraction: *mut purlin_tt_contraction,
    environments: *mut purlin_tt_environments,
}

impl Made {
    fn none() -> Self {
        Self { trains: [null_mut(); 4], matrix: null_mut(), contraction: null_mut(), environments: null_mut() }
    }

    /// Destroys all handles; those of objects that were not created are NULL.
    fn end(self, status: purlin_status) -> purlin_status {
        // The next successful call clears the message of a failure, so only the status is passed on.
        let text = message();
        let good = purlin_status::PURLIN_SUCCESS;
        assert_eq!(purlin_tt_environments_destroy(self.environments), good, "{}", message());
        assert_eq!(purlin_tt_contraction_destroy(self.contraction), good, "{}", message());
        assert_eq!(purlin_tt_matrix_destroy(self.matrix), good, "{}", message());
        for train in self.trains {
            assert_eq!(purlin_tt_destroy(train), good, "{}", message());
        }
        assert_eq!(text.is_empty(), status == good, "{status:?}: {text}");
        status
    }
}

/// Where random trains are made.
type Where = (*mut purlin_context, i32);

fn place_of(f: &Fixture) -> Where {
    (f.context, f.location())
}

fn random((context, location): Where, ranks: &[i64], seed: u64, place: *mut *mut purlin_tt) -> purlin_status {
    c!(purlin_tt_random(context, PURLIN_F64, location, SITES, MODES.as_ptr(), ranks.as_ptr(), seed, place))
}

fn nothing() -> purlin_tt_scaled {
    purlin_tt_scaled { re: 0.0, im: 0.0, exponent: 0, log_abs: 0.0, phase_re: 0.0, phase_im: 0.0 }
}

fn contract(f: &Fixture, ranks: &'static [i64]) -> Call {
    let (context, at) = (f.context, place_of(f));
    Box::new(move || {
        let (mut made, mut out, mut scaled) = (Made::none(), [0.0; 2], nothing());
        let [x, y, ..] = &mut made.trains;
        let status = in_turn!(
            random(at, ranks, 1, &raw mut *x),
            random(at, ranks, 2, &raw mut *y),
            purlin_tt_contraction_create(context, null(), &raw mut made.contraction),
            purlin_tt_inner(made.contraction, null(), *x, *y, out.as_mut_ptr(), null_mut()),
            purlin_tt_inner_scaled(made.contraction, null(), *x, *x, &raw mut scaled, null_mut()),
            purlin_tt_norm(made.contraction, null(), *x, out.as_mut_ptr(), null_mut()),
            purlin_tt_distance(made.contraction, null(), *x, *y, out.as_mut_ptr(), null_mut()),
            purlin_tt_inner_once(context, null(), *x, *y, null(), out.as_mut_ptr(), null_mut()),
        );
        made.end(status)
    })
}

unsafe extern "C" fn go_on(_: i64, _: i64, _: f64, _: *mut c_void) -> i32 {
    0
}

/// Calls with a progress function run on threads of their own. Their values are the same where those cannot be started.
fn reported(f: &Fixture) -> Call {
    let (context, at) = (f.context, place_of(f));
    let values = RefCell::new(None);
    Box::new(move || {
        let (mut made, mut out) = (Made::none(), [0.0; 6]);
        let mut options = initialized!(purlin_tt_contraction_options, purlin_tt_contraction_options_init);
        options.progress = Some(go_on);
        let [x, y, ..] = &mut made.trains;
        let (to, last) = (out.as_mut_ptr(), null_mut());
        let status = in_turn!(
            random(at, &OPEN, 1, &raw mut *x),
            random(at, &RING, 2, &raw mut *y),
            purlin_tt_matrix_ising(context, PURLIN_F64, SITES, 1, 1.0, 0.5, &raw mut made.matrix),
            purlin_tt_contraction_create(context, &raw const options, &raw mut made.contraction),
            purlin_tt_inner(made.contraction, null(), *x, *y, to, last),
            purlin_tt_distance(made.contraction, null(), *x, *y, to.wrapping_add(2), last),
            purlin_tt_sandwich(made.contraction, null(), *x, made.matrix, *y, to.wrapping_add(4), last),
        );
        if status == purlin_status::PURLIN_SUCCESS {
            assert_eq!(*values.borrow_mut().get_or_insert(out), out);
        }
        made.end(status)
    })
}

fn enqueue(f: &Fixture) -> Call {
    let (context, (result, _)) = (f.context, f.on_device(PURLIN_F64, 4, |_| 0.0));
    Box::new(move || {
        let mut made = Made::none();
        let [x, y, ..] = &mut made.trains;
        let (dtype, modes, ranks) = (PURLIN_F64, MODES.as_ptr(), RING.as_ptr());
        let status = in_turn!(
            purlin_tt_random(context, dtype, PURLIN_DEVICE, SITES, modes, ranks, 1, &raw mut *x),
            purlin_tt_random(context, dtype, PURLIN_DEVICE, SITES, modes, ranks, 2, &raw mut *y),
            purlin_tt_contraction_create(context, null(), &raw mut made.contraction),
            purlin_tt_inner_enqueue(made.contraction, null(), *x, *y, result, null_mut()),
            purlin_tt_inner_enqueue(made.contraction, null(), *x, *x, result, null_mut()),
            purlin_tt_norm_enqueue(made.contraction, null(), *x, result, null_mut()),
        );
        made.end(status)
    })
}

fn enqueue_by(f: &Fixture, adapt: fn(&mut purlin_tt_contraction_options)) -> Call {
    let (context, (result, _)) = (f.context, f.on_device(PURLIN_F64, 4, |_| 0.0));
    Box::new(move || {
        let mut made = Made::none();
        let mut options = initialized!(purlin_tt_contraction_options, purlin_tt_contraction_options_init);
        adapt(&mut options);
        let [x, y, ..] = &mut made.trains;
        let (dtype, modes, ring, open) = (PURLIN_F64, MODES.as_ptr(), RING.as_ptr(), OPEN.as_ptr());
        let status = in_turn!(
            purlin_tt_random(context, dtype, PURLIN_DEVICE, SITES, modes, ring, 1, &raw mut *x),
            purlin_tt_random(context, dtype, PURLIN_DEVICE, SITES, modes, open, 2, &raw mut *y),
            purlin_tt_contraction_create(context, &raw const options, &raw mut made.contraction),
            purlin_tt_inner_enqueue(made.contraction, null(), *x, *x, result, null_mut()),
            purlin_tt_norm_enqueue(made.contraction, null(), *y, result, null_mut()),
        );
        made.end(status)
    })
}

fn enqueue_distance(f: &Fixture) -> Call {
    let (context, (result, _)) = (f.context, f.on_device(PURLIN_F64, 4, |_| 0.0));
    Box::new(move || {
        let mut made = Made::none();
        let [x, y, ..] = &mut made.trains;
        let (dtype, modes, ring, open) = (PURLIN_F64, MODES.as_ptr(), RING.as_ptr(), OPEN.as_ptr());
        let status = in_turn!(
            purlin_tt_random(context, dtype, PURLIN_DEVICE, SITES, modes, ring, 1, &raw mut *x),
            purlin_tt_random(context, dtype, PURLIN_DEVICE, SITES, modes, open, 2, &raw mut *y),
            purlin_tt_contraction_create(context, null(), &raw mut made.contraction),
            purlin_tt_distance_enqueue(made.contraction, null(), *x, *y, result, null_mut()),
        );
        made.end(status)
    })
}

fn enqueue_operators(f: &Fixture) -> Call {
    let (context, (result, _)) = (f.context, f.on_device(PURLIN_F64, 4, |_| 0.0));
    Box::new(move || {
        let mut made = Made::none();
        let x = &mut made.trains[0];
        let (dtype, modes, ranks) = (PURLIN_F64, MODES.as_ptr(), RING.as_ptr());
        let status = in_turn!(
            purlin_tt_random(context, dtype, PURLIN_DEVICE, SITES, modes, ranks, 1, &raw mut *x),
            purlin_tt_matrix_ising(context, dtype, SITES, 1, 1.0, 0.5, &raw mut made.matrix),
            purlin_tt_contraction_create(context, null(), &raw mut made.contraction),
            purlin_tt_sandwich_enqueue(made.contraction, null(), *x, made.matrix, *x, result, null_mut()),
            purlin_tt_rayleigh_enqueue(made.contraction, null(), made.matrix, *x, result, null_mut()),
        );
        made.end(status)
    })
}

fn lists(f: &Fixture) -> Call {
    let at = place_of(f);
    let (context, values, square) = (f.context, f.vector(2), f.on_host(PURLIN_F64, &[2, 2], |_| 0.0));
    Box::new(move || {
        let mut made = Made::none();
        // Before the others: the next successful call clears the message of a failure.
        let mut info = initialized!(purlin_tt_contraction_info, purlin_tt_contraction_info_init);
        let [x, y, ..] = &mut made.trains;
        let status = in_turn!(
            random(at, &OPEN, 1, &raw mut *x),
            random(at, &RING, 2, &raw mut *y),
            purlin_tt_contraction_create(context, null(), &raw mut made.contraction),
        );
        let (a, b) = ([x.cast_const(), y.cast_const()], [y.cast_const(), x.cast_const()]);
        let (with, a, b) = (made.contraction, a.as_ptr(), b.as_ptr());
        let status = in_turn!(
            status,
            purlin_tt_inner_batch(with, null(), 2, a, b, values, null_mut(), null_mut()),
            purlin_tt_gram(with, null(), 2, a, 2, b, square, null_mut(), null_mut()),
            purlin_tt_plan_batch(with, 2, a, b, &raw mut info),
            purlin_tt_plan_gram(with, 2, a, 2, b, &raw mut info),
        );
        made.end(status)
    })
}

fn operate(f: &Fixture) -> Call {
    let at = place_of(f);
    let (context, op) = (f.context, f.on_host(PURLIN_F64, &[2, 2], |k| [1.0, 0.0, 0.0, -1.0][k]));
    let values = f.on_host(PURLIN_F64, &[SITES, SITES], |_| 0.0);
    let local = f.vector(2);
    Box::new(move || {
        let (mut made, mut out, sites) = (Made::none(), [0.0; 2], [0i64, 3]);
        let x = &mut made.trains[0];
        let status = in_turn!(
            random(at, &RING, 1, &raw mut *x),
            purlin_tt_matrix_ising(context, PURLIN_F64, SITES, 1, 1.0, 0.5, &raw mut made.matrix),
            purlin_tt_contraction_create(context, null(), &raw mut made.contraction),
            purlin_tt_sandwich(made.contraction, null(), *x, made.matrix, *x, out.as_mut_ptr(), null_mut()),
            purlin_tt_rayleigh(
                made.contraction,
                null(),
                made.matrix,
                *x,
                out.as_mut_ptr(),
                null_mut(),
                null_mut(),
                null_mut()
            ),
            purlin_tt_expect_local(made.contraction, null(), *x, op, 2, sites.as_ptr(), local, null_mut()),
            purlin_tt_correlation(made.contraction, null(), *x, op, op, values, null_mut()),
        );
        made.end(status)
    })
}

fn sweep(f: &Fixture) -> Call {
    let at = place_of(f);
    let (context, v, out) =
        (f.context, f.on_host(PURLIN_F64, &[4, 2, 4], |k| k as f64), f.on_host(PURLIN_F64, &[4, 2, 4], |_| 0.0));
    Box::new(move || {
        let (mut made, mut exponent, mut scaled) = (Made::none(), 0i64, nothing());
        let x = &mut made.trains[0];
        let e = &mut made.environments;
        let status = in_turn!(
            random(at, &OPEN, 1, &raw mut *x),
            purlin_tt_matrix_ising(context, PURLIN_F64, SITES, 0, 1.0, 0.5, &raw mut made.matrix),
            purlin_tt_contraction_create(context, null(), &raw mut made.contraction),
            purlin_tt_environments_create(made.contraction, *x, made.matrix, *x, &raw mut *e),
            purlin_tt_environments_build(*e, null(), PURLIN_TT_LEFT, 2),
            purlin_tt_environments_build(*e, null(), PURLIN_TT_RIGHT, 3),
            purlin_tt_environments_apply(*e, null(), 2, 1, v, out, &raw mut exponent),
            purlin_tt_environments_value(*e, null(), 2, &raw mut scaled),
        );
        made.end(status)
    })
}

fn combine(f: &Fixture) -> Call {
    let at = place_of(f);
    let (context, full) = (f.context, f.on_host(PURLIN_F64, &MODES, |_| 0.0));
    Box::new(move || {
        let (mut made, one) = (Made::none(), [1.0, 0.0]);
        let [x, y, sum, applied] = &mut made.trains;
        let status = in_turn!(
            random(at, &RING, 1, &raw mut *x),
            random(at, &RING, 2, &raw mut *y),
            purlin_tt_matrix_ising(context, PURLIN_F64, SITES, 0, 1.0, 0.5, &raw mut made.matrix),
            purlin_tt_add(context, null(), one.as_ptr(), *x, one.as_ptr(), *y, &raw mut *sum),
            purlin_tt_apply(context, null(), made.matrix, *sum, &raw mut *applied),
            purlin_tt_full(context, null(), *applied, full),
        );
        made.end(status)
    })
}

fn truncate(f: &Fixture) -> Call {
    let at = place_of(f);
    let (context, tensor) = (f.context, f.on_host(PURLIN_F64, &MODES, |k| 1.0 / (k + 1) as f64));
    let mut options = initialized!(purlin_tt_round_options, purlin_tt_round_options_init);
    options.epsilon = 1e-6;
    Box::new(move || {
        let (mut made, mut exponent, o) = (Made::none(), 0i64, &raw const options);
        let [x, short, made_of, centred] = &mut made.trains;
        let (modes, none) = (MODES.as_ptr(), null_mut());
        let status = in_turn!(
            random(at, &OPEN, 1, &raw mut *x),
            purlin_tt_round(context, null(), *x, o, &raw mut *short, null_mut(), none),
            purlin_tt_svd(context, null(), tensor, SITES, modes, o, &raw mut *made_of, null_mut(), null_mut()),
            purlin_tt_canonicalize(context, null(), *made_of, 2, &raw mut exponent, &raw mut *centred),
        );
        made.end(status)
    })
}
