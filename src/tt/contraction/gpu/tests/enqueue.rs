//! Enqueued products, for which the host does not wait, against the CPU.

use std::sync::Arc;

use super::inputs::{Plain, TYPES, options};
use super::oracle::{assert_close, bound, epsilon, expected};
use crate::backend::memory::Memory;
use crate::context::Context;
use crate::contraction::Contraction;
use crate::contraction::enqueued::RESULT;
use crate::contraction::tests::nonfinite::{self, Case};
use crate::error::Error;
use crate::operator::{Trains, ising};
use crate::scalar::{Complex, DType};
use crate::shape::{Layout, Order};
use crate::tensor::{Location, Tensor};
use crate::trains::info::{Kernel, Outcome};
use crate::trains::options::{Conjugate, Math, Method, NormMethod};
use crate::trains::testing::gpu;
use crate::trains::{Options, Scaled};

pub(super) fn place(context: &Arc<Context>) -> Tensor {
    Tensor::create(context, DType::F64, Location::Device, Order::ColumnMajor, &[RESULT]).unwrap()
}

/// The number in a result, after the work on the context's own stream.
pub(super) fn number(context: &Arc<Context>, result: &Tensor) -> (Scaled, f64) {
    let gpu = context.gpu("test").unwrap();
    let mut parts = [f64::NAN; RESULT];
    gpu.load_numbers(gpu.default_stream(), result.memory().device("result").unwrap(), 0, &mut parts).unwrap();
    let [re, im, exponent, outcome] = parts;
    let largest = re.abs().max(im.abs());
    assert!(largest == 0.0 || !largest.is_finite() || (0.5..1.0).contains(&largest), "{parts:?}");
    (Scaled::new(Complex::new(re, im), exponent as i64), outcome)
}

fn shapes() -> Vec<(Plain, Plain)> {
    let open = |ranks: &[usize], seed| Plain::random(&[2, 3, 2, 2, 3, 2], ranks, seed, 1.0);
    let ring = |rank: usize, seed| Plain::random(&[2; 5], &[rank, 3, 5, 4, 7, rank], seed, 1.0);
    vec![
        (open(&[1, 2, 6, 12, 5, 3, 1], 1), open(&[1, 2, 9, 16, 4, 2, 1], 2)),
        (open(&[1, 2, 40, 64, 33, 3, 1], 3), open(&[1, 2, 17, 31, 8, 2, 1], 4)),
        (open(&[1, 2, 90, 130, 70, 3, 1], 5), open(&[1, 2, 60, 99, 71, 2, 1], 6)),
        (Plain::random(&[3], &[1, 1], 7, 1.0), Plain::random(&[3], &[1, 1], 8, 1.0)),
        (Plain::random(&[3], &[4, 4], 7, 1.0), Plain::random(&[3], &[2, 2], 8, 1.0)),
        (ring(6, 9), ring(4, 10)),
        (ring(17, 11), ring(9, 12)),
        (Plain::random(&[2; 2], &[5, 4, 5], 13, 1.0), Plain::random(&[2; 2], &[3, 7, 3], 14, 1.0)),
        (open(&[1, 2, 6, 280, 9, 3, 1], 15), open(&[1, 2, 5, 270, 4, 2, 1], 16)),
        (ring(36, 17), ring(5, 18)),
    ]
}

/// Options with which each of purlin's own kernels and each layout of cuBLAS computes the products.
fn every_way(conjugate: Conjugate) -> Vec<Options> {
    let by = |kernel| Options { kernel, ..options(Method::Auto, conjugate) };
    vec![
        by(None),
        by(Some(Kernel::Products)),
        Options { block: 1, ..by(Some(Kernel::Products)) },
        Options { block: 5, math: Math::Gemm3m, ..by(Some(Kernel::Products)) },
    ]
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_products_agree_with_the_cpu() {
    let context = gpu(0);
    for dtype in TYPES {
        for options in [Conjugate::Bra, Conjugate::None].into_iter().flat_map(every_way) {
            let conjugate = options.conjugate;
            let mut session = Contraction::new(&context, options).unwrap();
            for (k, (x, y)) in shapes().iter().enumerate() {
                let (tx, ty) = (x.train(&context, dtype, Location::Device), y.train(&context, dtype, Location::Device));
                let mut result = place(&context);
                let info = session.enqueue_inner(None, &tx, &ty, Some(&mut result)).unwrap();
                assert!(info.workspace_bytes > 0);
                let (got, outcome) = number(&context, &result);
                let (want, size) = expected(x, y, (dtype, dtype), conjugate);
                assert_eq!(outcome, 0.0);
                assert_close(&format!("{dtype:?} {conjugate:?} shape {k}"), got, want, size, bound(x, y, dtype));
                // The inner product of a train with itself: half of the pairs, and a real number.
                let info = session.enqueue_inner(None, &tx, &tx, Some(&mut result)).unwrap();
                let (got, _) = number(&context, &result);
                let (want, size) = expected(x, x, (dtype, dtype), conjugate);
                assert_close(&format!("{dtype:?} {conjugate:?} square {k}"), got, want, size, bound(x, x, dtype));
                let real = conjugate == Conjugate::Bra || matches!(dtype, DType::F32 | DType::F64);
                assert_eq!(info.halved, real && x.ranks[0] > 1);
                if info.halved {
                    assert_eq!(got.mantissa.im, 0.0, "{dtype:?} square {k}");
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_norms_agree_with_the_cpu() {
    let context = gpu(0);
    for dtype in TYPES {
        for options in every_way(Conjugate::None) {
            let mut session = Contraction::new(&context, options).unwrap();
            for (k, (x, _)) in shapes().iter().enumerate() {
                let train = x.train(&context, dtype, Location::Device);
                let mut result = place(&context);
                session.enqueue_norm(None, &train, Some(&mut result)).unwrap();
                let (got, outcome) = number(&context, &result);
                assert_eq!((outcome, got.mantissa.im), (0.0, 0.0));
                let (square, _) = expected(x, x, (dtype, dtype), Conjugate::Bra);
                let norm = square.sqrt();
                assert_close(&format!("{dtype:?} norm {k}"), got, norm, norm, bound(x, x, dtype));
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_products_leave_the_range_of_their_type() {
    let context = gpu(0);
    let sizes = [
        (DType::F64, 2.0f64.powi(900)),
        (DType::F64, 2.0f64.powi(-900)),
        (DType::CF64, 2.0f64.powi(1020)),
        (DType::CF64, 2.0f64.powi(-960)),
        (DType::F32, 2.0f64.powi(124)),
        (DType::F32, 2.0f64.powi(-90)),
        (DType::CF32, 2.0f64.powi(80)),
        (DType::F64, 0.0),
        (DType::F32, f64::NAN),
    ];
    for (dtype, size) in sizes {
        for ranks in [[1, 4, 3, 1], [1, 60, 64, 1], [3, 4, 5, 3], [30, 32, 31, 30], [1, 70, 80, 1]] {
            for options in every_way(Conjugate::Bra) {
                let way = format!("{options:?}");
                let one = Plain::random(&[2; 3], &ranks, 5, 1.0);
                let other = Plain::random(&[2; 3], &ranks, 5, size);
                let train = |p: &Plain| p.train(&context, dtype, Location::Device);
                let (one, other) = (train(&one), train(&other));
                let mut session = Contraction::new(&context, options).unwrap();
                let mut result = place(&context);
                session.enqueue_inner(None, &one, &one, Some(&mut result)).unwrap();
                let (plain, _) = number(&context, &result);
                session.enqueue_inner(None, &other, &other, Some(&mut result)).unwrap();
                let (got, said) = number(&context, &result);
                // In single precision, products of a library do not support such cores, and the result says so.
                let is_far =
                    epsilon(dtype) > 1e-10 && !(2.0f64.powi(-59)..2.0f64.powi(59)).contains(&size) && size > 0.0;
                let is_library = session.options().kernel == Some(Kernel::Products);
                let outcome = if size.is_nan() || is_far && is_library { 3.0 } else { 0.0 };
                let what = format!("{dtype:?} {size:e} {ranks:?} {way}");
                assert_eq!(said, outcome, "{what}");
                if outcome > 0.0 {
                    assert!(!got.is_finite());
                    continue;
                }
                session.enqueue_norm(None, &other, Some(&mut result)).unwrap();
                let (norm, _) = number(&context, &result);
                if size == 0.0 {
                    assert!(got.is_zero() && norm.is_zero());
                    continue;
                }
                let shift = 6 * size.log2() as i64;
                // The powers of two are exact, but partial sums have another order.
                let back = Scaled { exponent: got.exponent - shift, ..got };
                assert_close(&what, back, plain, plain, 16.0 * epsilon(dtype));
                // The imaginary part of <x|x> is rounding error, which the norm ignores.
                assert_close(&what, norm.times(norm), got.re(), got, 4.0 * f64::EPSILON);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn a_borrowed_workspace_is_used_and_measured() {
    let context = gpu(0);
    let device = context.gpu("test").unwrap();
    let by = |kernel| Contraction::new(&context, Options { kernel, ..Options::default() }).unwrap();
    let (mut own, mut library) = (by(None), by(Some(Kernel::Products)));
    for (k, (x, y)) in shapes().into_iter().chain(shapes()).enumerate() {
        let session = if k < shapes().len() { &mut own } else { &mut library };
        let (tx, ty) =
            (x.train(&context, DType::CF64, Location::Device), y.train(&context, DType::CF64, Location::Device));
        let mut result = place(&context);
        session.set_workspace(None).unwrap();
        let needed = session.enqueue_inner(None, &tx, &ty, None).unwrap().workspace_bytes as usize;
        session.enqueue_inner(None, &tx, &ty, Some(&mut result)).unwrap();
        let (want, _) = number(&context, &result);
        let memory = device.allocate("work space of a test", needed + 64).unwrap();
        let borrow = |bytes: usize| Some(device.borrow("workspace", memory.address(), bytes, None).unwrap());
        session.set_workspace(borrow(needed - 1)).unwrap();
        let e = session.enqueue_inner(None, &tx, &ty, Some(&mut result)).unwrap_err().to_string();
        assert_eq!(e, format!("workspace: has {} bytes, {needed} are needed", needed - 1));
        session.set_workspace(borrow(needed)).unwrap();
        session.enqueue_inner(None, &tx, &ty, Some(&mut result)).unwrap();
        assert_eq!(number(&context, &result).0, want, "the same kernels give the same bits");
        let mut after = [1u8; 64];
        device.download(device.default_stream(), &memory, needed, &mut after).unwrap();
        assert_eq!(after, [0u8; 64], "nothing behind what is needed was written");
    }
}

#[test]
#[ignore = "needs a GPU"]
fn what_would_wait_is_refused() {
    let context = gpu(0);
    let mut session = Contraction::new(&context, Options::default()).unwrap();
    let mut result = place(&context);
    let small = Plain::random(&[2; 3], &[1, 4, 3, 1], 5, 1.0);
    let train = |p: &Plain, dtype, location| p.train(&context, dtype, location);
    let host = train(&small, DType::F64, Location::Host);
    let real = train(&small, DType::F64, Location::Device);
    let complex = train(&small, DType::CF64, Location::Device);
    let refusals = [(&host, &host, "x: lies on the host"), (&real, &complex, "is F64, the other is complex")];
    for (x, y, text) in refusals {
        let e = session.enqueue_inner(None, x, y, Some(&mut result)).unwrap_err();
        assert!(matches!(e, Error::NotSupported(_)) && e.to_string().contains(text), "{e}");
    }
    let layout = Layout::packed(&[3], Order::ColumnMajor, DType::F64).unwrap();
    let short = context.gpu("test").unwrap().allocate("result of a test", 24).unwrap();
    let mut short = Tensor::from_memory(&context, DType::F64, layout, Memory::Device(short), false, None).unwrap();
    let e = session.enqueue_inner(None, &real, &real, Some(&mut short)).unwrap_err().to_string();
    assert_eq!(e, "result: has dimensions [3], [4] are needed");
    session.enqueue_inner(None, &real, &real, Some(&mut result)).unwrap();
}

#[test]
#[ignore = "needs a GPU"]
fn enqueued_calls_say_what_is_not_finite() {
    let context = gpu(0);
    let nonfinite = f64::from(Outcome::NonFinite as i32);
    let mut result = place(&context);
    for (cyclic, dtype) in [(false, DType::F64), (true, DType::CF64), (false, DType::CF32), (true, DType::F32)] {
        for rank in [1, 3, 40] {
            for case in nonfinite::cases(&context, dtype, Location::Device, cyclic, rank) {
                let Case { x, y, what } = &case;
                let mut spoilt =
                    |session: &mut Contraction, call: &str, run: &mut dyn FnMut(&mut Contraction, &mut Tensor)| {
                        run(session, &mut result);
                        let (got, outcome) = number(&context, &result);
                        assert!(got.mantissa.re.is_nan() && outcome == nonfinite, "{what}, {call}: {got:?} {outcome}");
                    };
                for given in every_way(Conjugate::Bra) {
                    let mut session = Contraction::new(&context, given).unwrap();
                    for (a, b) in [(x, y), (y, x), (x, x)] {
                        spoilt(&mut session, "inner", &mut |s, to| {
                            s.enqueue_inner(None, a, b, Some(to)).unwrap();
                        });
                        spoilt(&mut session, "distance", &mut |s, to| {
                            s.enqueue_distance(None, a, b, Some(to)).unwrap();
                        });
                    }
                }
                for norm_method in [NormMethod::Inner, NormMethod::Triangle, NormMethod::Qr] {
                    let mut session =
                        Contraction::new(&context, Options { norm_method, ..Options::default() }).unwrap();
                    spoilt(&mut session, "norm", &mut |s, to| {
                        s.enqueue_norm(None, x, Some(to)).unwrap();
                    });
                }
                if !matches!(dtype, DType::F64 | DType::CF64) {
                    continue;
                }
                let mut session = Contraction::new(&context, Options::default()).unwrap();
                for value in [0, 1] {
                    let p = nonfinite::projector(&context, value);
                    for (bra, ket) in [(x, y), (y, x), (x, x)] {
                        spoilt(&mut session, "sandwich", &mut |s, to| {
                            s.enqueue_sandwich(None, &Trains::new(bra, Some(&p), ket), Some(to)).unwrap();
                        });
                    }
                    spoilt(&mut session, "rayleigh", &mut |s, to| {
                        s.enqueue_rayleigh(None, x, &p, Some(to)).unwrap();
                    });
                }
                // The bad number is in a block of the operator that is on no path of nonzero blocks.
                let mut bad = ising(&context, DType::F64, x.shape().len(), 1.0, 0.5, false).unwrap();
                bad.train_mut().cores_mut::<f64>("h").unwrap().core(x.shape().len() - 1)[1] = f64::NAN;
                spoilt(&mut session, "operator", &mut |s, to| {
                    s.enqueue_sandwich(None, &Trains::new(y, Some(&bad), y), Some(to)).unwrap();
                });
            }
        }
    }
}
