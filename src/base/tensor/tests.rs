use super::*;
use crate::backend::BackendChoice;
use crate::context::Options;

fn context() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 1, ..Options::default() }).unwrap()
}

#[test]
fn packed_counts_are_the_binomials() {
    for (m, n, u) in
        [(3, 3, 10), (4, 3, 15), (6, 3, 28), (8, 3, 45), (4, 4, 35), (3, 10, 220), (6, 10, 5005), (5, 1, 1)]
    {
        assert_eq!(Symmetric::new(m, n).unwrap().count(), u, "({m},{n})");
    }
    for (m, n) in [(1, 3), (0, 3), (-2, 3), (2, 0), (40, 40), (i64::MAX, 2), (2, i64::MAX), (i64::MAX, i64::MAX)] {
        assert!(Symmetric::new(m, n).is_err(), "({m},{n})");
    }
    assert_eq!(Symmetric::new(1 << 20, 1).unwrap().count(), 1);
    for order in [(1 << 20) + 1, i64::from(i32::MAX), i64::MAX] {
        let e = Symmetric::new(order, 1).unwrap_err().to_string();
        assert_eq!(e, format!("order: is {order}, outside 2 to 1048576"));
    }
}

#[test]
fn copies_follow_any_strides() {
    let c = context();
    let dims = [3, 4, 5];
    let mut a = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &dims).unwrap();
    let mut b = Tensor::create(&c, DType::F32, Location::Host, Order::RowMajor, &dims).unwrap();
    for (k, v) in a.view_mut::<f32>("a").unwrap().data().iter_mut().enumerate() {
        *v = k as f32;
    }
    copy(&c, None, &a, &mut b).unwrap();
    let (va, vb) = (a.view::<f32>("a").unwrap(), b.view::<f32>("b").unwrap());
    for i in 0..3 {
        for j in 0..4 {
            for k in 0..5 {
                assert_eq!(va.get(&[i, j, k]), vb.get(&[i, j, k]));
                assert_eq!(va.get(&[i, j, k]), (i + 3 * j + 12 * k) as f32);
            }
        }
    }
}

#[test]
fn mismatches_name_the_argument() {
    let c = context();
    let a = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &[2]).unwrap();
    let mut b = Tensor::create(&c, DType::F32, Location::Host, Order::ColumnMajor, &[3]).unwrap();
    assert_eq!(copy(&c, None, &a, &mut b).unwrap_err().to_string(), "destination: has dimensions [3], [2] are needed");
    let mut d = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, &[2]).unwrap();
    assert_eq!(copy(&c, None, &a, &mut d).unwrap_err().to_string(), "destination: is F64, F32 is needed");
    let other = context();
    assert!(copy(&other, None, &a, &mut d).unwrap_err().to_string().contains("another context"));
    assert!(Tensor::create(&c, DType::F32, Location::Device, Order::ColumnMajor, &[2]).is_err());
}

#[test]
fn empty_and_scalar_tensors_copy() {
    let c = context();
    for dims in [&[][..], &[0], &[3, 0, 2], &[1, 1]] {
        let a = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, dims).unwrap();
        let mut b = Tensor::create(&c, DType::F64, Location::Host, Order::ColumnMajor, dims).unwrap();
        copy(&c, None, &a, &mut b).unwrap();
    }
}
