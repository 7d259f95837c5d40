//! Every pass over every kind of data against plain loops.

use std::sync::Arc;

use super::super::CpuOps;
use super::inputs::{Known, laid_out, packed, sparse};
use super::plain::{C64, Plain, plain, whole};
use super::runs::{context, eps, filled, poisoned, sketch};
use crate::blocks::number::Number;
use crate::blocks::source::HostSource;
use crate::context::Context;
use crate::progress::Progress;
use crate::rng::stream;
use crate::rsvd::data::{Center, Data, Problem, Setting};
use crate::rsvd::ops::RsvdOps;
use crate::rsvd::traffic::Traffic;
use crate::scalar::{Complex, Scalar};
use crate::shape::{Order, to_u64};

/// Every pass against plain loops; `a` is the data before treatment.
fn check_passes<'a, T: Scalar>(
    (c, progress): (&'a Arc<Context>, &'a Progress<'a>),
    problem: Problem<'a, T>,
    a: &Plain,
    setting: Setting,
    name: &str,
) -> Traffic {
    let exact_norm = !matches!(problem.data, Data::Operator(_));
    let treated = a.treated(&setting);
    let (m, n, l) = (a.rows, a.cols, 5);
    // Products of sums of at most m n terms; implicit centring subtracts numbers as large as the untreated ones.
    let size = a.norm() * setting.factor * if setting.scale { 3.0 } else { 1.0 } + treated.norm() + 1e-300;
    let bound = |scale: f64| 40.0 * eps::<T>() * size * scale;
    let mut ops = CpuOps::new(c, problem, setting, progress).unwrap();
    let w = filled(&mut ops, n, l, stream::SKETCH);
    let q = filled(&mut ops, m, l, stream::TEST);
    let (wp, qp) = (plain(&w), plain(&q));
    let p_want = treated.times(&wp);
    let t_want = treated.adjoint().times(&p_want);
    let length = (((m + n) * l) as f64).sqrt();

    let mut p = poisoned(&mut ops, m, l);
    ops.pass_multiply(&w, &mut p).unwrap();
    assert!(plain(&p).off(&p_want) <= bound(length), "{name}: A W off by {:e}", plain(&p).off(&p_want));
    let s = ops.statistics().unwrap().clone();
    if exact_norm {
        let norm2 = treated.norm() * treated.norm();
        let slack = 1e-13 * norm2 + 4.0 * eps::<T>() * treated.norm() * size;
        assert!((s.norm2 - norm2).abs() <= slack, "{name}: {} {norm2}", s.norm2);
        let most = a.data.iter().fold(0.0f64, |most, x| most.max(x.norm()));
        assert!((s.max_abs - most).abs() <= 1e-15 * most, "{name}: {} {most}", s.max_abs);
    } else {
        assert!((0.2..5.0).contains(&(s.norm2 / (treated.norm() * treated.norm()))), "{name}: {}", s.norm2);
    }
    if setting.center == Center::Columns {
        let mean = (0..m).map(|i| a.at(i, n - 1)).sum::<C64>() / m as f64;
        assert!((s.means[n - 1] - mean.re).abs() < 50.0 * eps::<T>() * (1.0 + mean.norm()), "{name}");
        assert_eq!(s.means.len(), if T::IS_COMPLEX { 2 * n } else { n });
    }

    let mut t = poisoned(&mut ops, n, l);
    ops.pass_adjoint(&q, &mut t).unwrap();
    let want = treated.adjoint().times(&qp);
    assert!(plain(&t).off(&want) <= bound(length), "{name}: A^H Q off by {:e}", plain(&t).off(&want));

    for with_p in [false, true] {
        let (mut p, mut t) = (poisoned(&mut ops, m, l), poisoned(&mut ops, n, l));
        ops.pass_fused(&w, with_p.then_some(&mut p), &mut t).unwrap();
        let bound = bound(length * (size + 1.0));
        assert!(plain(&t).off(&t_want) <= bound, "{name}: A^H A W off by {:e}", plain(&t).off(&t_want));
        if with_p {
            assert!(plain(&p).off(&p_want) <= bound, "{name}: A W off by {:e}", plain(&p).off(&p_want));
        }
    }

    let (mut p, mut z) = (poisoned(&mut ops, m, l), poisoned(&mut ops, n, 7));
    ops.pass_two_sketches(&w, &mut p, &sketch(stream::TEST), &mut z).unwrap();
    let psi = filled(&mut ops, m, 7, stream::TEST);
    let want = treated.adjoint().times(&plain(&psi));
    assert!(plain(&z).off(&want) <= bound(2.0 * length), "{name}: A^H Psi off by {:e}", plain(&z).off(&want));
    assert!(plain(&p).off(&p_want) <= bound(length), "{name}: A W beside a sketch");

    let mut g = poisoned(&mut ops, n, n);
    ops.pass_gram(&mut g).unwrap();
    let want = treated.adjoint().times(&treated);
    assert!(plain(&g).off(&want) <= bound(size + 1.0), "{name}: A^H A off by {:e}", plain(&g).off(&want));
    *ops.traffic()
}

/// Every kind of treatment that data with entries allow.
fn settings() -> Vec<Setting> {
    let mut all = Vec::new();
    for center in [Center::None, Center::Columns, Center::Rows] {
        for scale in [false, true] {
            for factor in [1.0, 0.25] {
                if !(scale && center == Center::Rows) {
                    all.push(Setting { center, scale, factor, block_rows: 17, ..Setting::plain() });
                }
            }
        }
    }
    all
}

fn dense_passes<T: Scalar>() {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n) in [(1, 1), (61, 13), (13, 61), (200, 7)] {
        let a = whole(m, n, T::IS_COMPLEX);
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for s in settings() {
                let (memory, row_stride, column_stride) = laid_out(&a, Number::of("a", T::DTYPE).unwrap(), order, 3);
                let data = Data::Dense { memory: &memory, dtype: T::DTYPE, row_stride, column_stride };
                let name = format!("{} {m} {n} {order:?} {s:?}", T::DTYPE.name());
                let traffic = check_passes::<T>((&c, &progress), Problem::new(m, n, data), &a, s, &name);
                let extra = u64::from(s.scale || s.center == Center::Columns);
                assert_eq!((traffic.passes, traffic.bytes_read), (6 + extra, 0), "{name}");
            }
        }
    }
}

#[test]
fn passes_over_dense_data() {
    dense_passes::<f32>();
    dense_passes::<f64>();
    dense_passes::<Complex<f32>>();
    dense_passes::<Complex<f64>>();
}

#[test]
fn passes_over_converted_data() {
    let (c, progress) = (context(2, 0), Progress::none());
    for number in [Number::U8, Number::I16, Number::U16, Number::F16, Number::F32, Number::I32, Number::F64] {
        let a = whole(53, 11, false);
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for s in settings().into_iter().step_by(3) {
                let (memory, row_stride, column_stride) = laid_out(&a, number, order, 2);
                let name = format!("{number:?} {order:?} {s:?}");
                macro_rules! check {
                    ($t:ty) => {
                        let data = Data::Dense { memory: &memory, dtype: number.dtype(), row_stride, column_stride };
                        check_passes::<$t>((&c, &progress), Problem::new(53, 11, data), &a, s, &name);
                    };
                }
                check!(f32);
                check!(f64);
                check!(Complex<f64>);
            }
        }
    }
}

fn streamed_passes<T: Scalar>(number: Number) {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n) in [(61, 13), (200, 7)] {
        let a = whole(m, n, number.is_complex());
        for order in [Order::RowMajor, Order::ColumnMajor] {
            for (k, mut s) in settings().into_iter().enumerate() {
                s.alternate = k % 2 == 1;
                let (info, bytes) = packed(&a, number, order);
                let mut source = HostSource::new(info, &bytes).unwrap();
                let data = Data::Streamed { source: &mut source, order };
                let name = format!("{number:?} {m} {n} {order:?} {s:?}");
                let traffic = check_passes::<T>((&c, &progress), Problem::new(m, n, data), &a, s, &name);
                let passes = 6 + u64::from(s.scale || s.center == Center::Columns);
                assert_eq!(traffic.bytes_read, passes * to_u64(m * n * number.size()), "{name}");
                assert_eq!((traffic.blocks, traffic.block_rows), (to_u64(m.div_ceil(17)), 17), "{name}");
            }
        }
    }
}

#[test]
fn passes_over_streamed_data() {
    streamed_passes::<f64>(Number::F64);
    streamed_passes::<f32>(Number::U8);
    streamed_passes::<Complex<f32>>(Number::Cf32);
    streamed_passes::<Complex<f64>>(Number::Cf32);
    streamed_passes::<Complex<f32>>(Number::Cf64);
}

fn sparse_passes<T: Scalar>() {
    let (c, progress) = (context(2, 0), Progress::none());
    for (m, n, base, long) in [(61, 13, 0, false), (13, 61, 1, true)] {
        let a = whole(m, n, T::IS_COMPLEX);
        let csr = sparse::<T>(&a, base, long);
        for s in settings() {
            let name = format!("sparse {} {m} {n} {s:?}", T::DTYPE.name());
            check_passes((&c, &progress), Problem::new(m, n, Data::<T>::Csr(&csr)), &a, s, &name);
        }
    }
}

#[test]
fn passes_over_sparse_data() {
    sparse_passes::<f32>();
    sparse_passes::<f64>();
    sparse_passes::<Complex<f64>>();
}

#[test]
fn passes_over_operators() {
    for s in settings().into_iter().filter(|s| !s.scale) {
        let a = whole(31, 17, true);
        let mut operator = Known(a.clone(), 0);
        let data = Data::Operator(&mut operator);
        let (c, progress) = (context(2, 0), Progress::none());
        check_passes::<Complex<f64>>((&c, &progress), Problem::new(31, 17, data), &a, s, &format!("operator {s:?}"));
    }
}
