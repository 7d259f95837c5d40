use std::sync::Arc;

use super::*;
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Symmetric, Tensor};

fn context() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 2, ..Options::default() }).unwrap()
}

fn shape(order: usize, dimension: usize) -> Symmetric {
    Symmetric { order, dimension }
}

#[test]
fn tuples_run_lexicographically_and_ranks_invert_them() {
    for (m, n) in [(2, 1), (2, 2), (4, 3), (3, 5), (6, 3), (8, 3), (5, 4), (7, 1)] {
        let s = shape(m, n);
        let mut walk = Monomials::new(s).unwrap();
        let mut last: Option<Vec<usize>> = None;
        let mut seen = 0;
        while let Some((r, tuple)) = walk.next_tuple() {
            assert!(tuple.is_sorted() && last.as_deref().is_none_or(|l| l < tuple));
            assert_eq!((r, rank(s, tuple).unwrap()), (seen, seen));
            last = Some(tuple.to_vec());
            seen += 1;
        }
        assert_eq!(seen, s.count());
    }
    assert!(rank(shape(3, 3), &[0, 2, 1]).is_err() && rank(shape(3, 3), &[0, 1, 3]).is_err());
    assert!(rank(shape(3, 3), &[0, 1]).is_err());
}

#[test]
fn tables_are_those_of_the_definition() {
    let s = shape(4, 3);
    let mut i = [0i64; 60];
    indices(s, &mut i).unwrap();
    assert_eq!(i[..12], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!(i[56..], [2, 2, 2, 2]);
    let mut e = [0i64; 45];
    exponents(s, &mut e).unwrap();
    assert_eq!(e[..6], [4, 0, 0, 3, 1, 0]);
    let mut w = [0i64; 15];
    multinomials(s, &mut w).unwrap();
    assert_eq!(w, [1, 4, 4, 6, 12, 6, 4, 12, 12, 4, 1, 4, 6, 4, 1]);
    assert_eq!(w.iter().sum::<i64>(), 81);
    assert!(multinomial(&(0..30).collect::<Vec<_>>()).is_err());
}

#[test]
fn full_and_packed_are_inverse_and_asymmetry_is_found() {
    let c = context();
    for order in [Order::ColumnMajor, Order::RowMajor] {
        let mut full = Tensor::create(&c, DType::F64, Location::Host, order, &[3, 3, 3, 2]).unwrap();
        for t in 0..2 {
            for i in 0..27 {
                let mut x = [i / 9, i / 3 % 3, i % 3];
                let place = [x[0], x[1], x[2], t];
                x.sort_unstable();
                let value = (x[0] * 100 + x[1] * 10 + x[2] + 1000 * t) as f64;
                full.view_mut::<f64>("full").unwrap().set(&place, value);
            }
        }
        let mut packed = Tensor::create_symmetric(&c, DType::F64, Location::Host, order, shape(3, 3), 2).unwrap();
        from_full(&c, None, &full, false, 0.0, &mut packed).unwrap();
        let at = |p: &Tensor, u, t| p.view::<f64>("packed").unwrap().get(&[u, t]);
        assert_eq!((at(&packed, 0, 0), at(&packed, 4, 1), at(&packed, 9, 0)), (0.0, 1012.0, 222.0));
        let mut back = Tensor::create(&c, DType::F64, Location::Host, order, &[3, 3, 3, 2]).unwrap();
        to_full(&c, None, &packed, &mut back).unwrap();
        assert_eq!(full.view::<f64>("a").unwrap().data(), back.view::<f64>("b").unwrap().data());
        full.view_mut::<f64>("full").unwrap().set(&[2, 1, 0, 1], 1015.0);
        full.view_mut::<f64>("full").unwrap().set(&[0, 0, 0, 0], 7.0);
        let e = from_full(&c, None, &full, false, 0.0, &mut packed).unwrap_err().to_string();
        assert!(e.contains("tensor 1 is not symmetric") && e.contains("[2, 1, 0]"), "{e}");
        assert_eq!(at(&packed, 0, 0), 0.0, "what is refused writes nothing");
        full.view_mut::<f64>("full").unwrap().set(&[0, 0, 0, 0], 0.0);
        // Of several the first is named.
        full.view_mut::<f64>("full").unwrap().set(&[1, 0, 0, 0], 5.0);
        let e = from_full(&c, None, &full, false, 0.0, &mut packed).unwrap_err().to_string();
        assert!(e.contains("tensor 0 is not symmetric") && e.contains("[1, 0, 0]"), "{e}");
        full.view_mut::<f64>("full").unwrap().set(&[1, 0, 0, 0], 1.0);
        from_full(&c, None, &full, false, 1e-2, &mut packed).unwrap();
        from_full(&c, None, &full, true, 0.0, &mut packed).unwrap();
        assert_eq!(at(&packed, 4, 1), 1012.5);
    }
}

#[test]
fn norms_count_every_place_of_the_full_tensor() {
    let c = context();
    let mut a = Tensor::create_symmetric(&c, DType::F64, Location::Host, Order::ColumnMajor, shape(2, 2), 2).unwrap();
    a.view_mut::<f64>("a").unwrap().data().copy_from_slice(&[3.0, -4.0, 5.0, 1e200, 0.0, 1e200]);
    let mut n = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, &[2]).unwrap();
    let mut of = |kind| {
        norm(&c, None, &a, kind, &mut n).unwrap();
        n.view::<f64>("n").unwrap().data().to_vec()
    };
    let f = of(Norm::Frobenius);
    assert!((f[0] - 66f64.sqrt()).abs() < 1e-14 && (f[1] / 2f64.sqrt() - 1e200).abs() < 1e186);
    assert_eq!(of(Norm::One)[0], 16.0);
    assert_eq!(of(Norm::Max)[0], 5.0);
}

#[test]
fn the_identity_and_both_packings() {
    let c = context();
    let new = || Tensor::create_symmetric(&c, DType::F32, Location::Host, Order::RowMajor, shape(4, 3), 1).unwrap();
    let (mut e, mut p, mut back) = (new(), new(), new());
    identity(&c, None, 2.0, &mut e).unwrap();
    let third = (2.0f64 / 3.0) as f32;
    let expected = [2.0, 0.0, 0.0, third, 0.0, third, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, third, 0.0, 2.0];
    assert_eq!(e.view::<f32>("e").unwrap().data(), expected);
    convert(&c, None, &e, Packing::Entries, &mut p, Packing::Polynomial).unwrap();
    // (x^2 + y^2 + z^2)^2 doubled.
    assert_eq!(p.view::<f32>("p").unwrap().data()[3], 4.0);
    convert(&c, None, &p, Packing::Polynomial, &mut back, Packing::Entries).unwrap();
    assert_eq!(back.view::<f32>("b").unwrap().data(), expected);
    let mut odd = Tensor::create_symmetric(&c, DType::F32, Location::Host, Order::RowMajor, shape(3, 3), 1).unwrap();
    assert!(identity(&c, None, 1.0, &mut odd).is_err());
}
