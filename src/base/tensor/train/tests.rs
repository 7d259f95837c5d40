use super::*;
use crate::backend::BackendChoice;
use crate::backend::memory::{HostMemory, Memory};
use crate::context::{Context, Options};
use crate::scalar::DType;
use crate::tensor::Location;
use std::ptr::NonNull;
use std::sync::Arc;

fn context() -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 1, ..Options::default() }).unwrap()
}

#[test]
fn shapes_are_checked_by_core() {
    let s = Shape::new("x", &[2, 3], &[4, 5, 4]).unwrap();
    assert_eq!((s.core(1), s.offset(1), s.elements(), s.is_cyclic(), s.max_rank()), ([5, 3, 4], 40, 100, true, 5));
    assert!(!Shape::new("x", &[7], &[1, 1]).unwrap().is_cyclic());
    for (modes, ranks, problem) in [
        (&[][..], &[1][..], "x: has no cores, at least 1 is needed"),
        (&[2], &[1], "x: has 1 ranks, 2 are needed for d = 1"),
        (&[2, 0], &[1, 1, 1], "x: core 1 has mode size 0, at least 1 is needed"),
        (&[2, 2], &[1, 0, 1], "x: bond 1 has the rank 0, at least 1 is needed"),
        (&[2, 2], &[2, 1, 3], "x: the first rank is 2 and the last 3; they must be equal"),
    ] {
        assert_eq!(Shape::new("x", modes, ranks).unwrap_err().to_string(), problem);
    }
    let huge = 1usize << 31;
    assert!(Shape::new("x", &[huge], &[huge, huge]).unwrap_err().to_string().contains("core 0 of"));
}

#[test]
fn own_cores_have_to_be_set_and_lie_one_after_another() {
    let c = context();
    let shape = Shape::new("x", &[2, 2], &[1, 3, 1]).unwrap();
    let mut x = TensorTrain::create(&c, DType::F64, Location::Host, shape).unwrap();
    assert_eq!(x.cores::<f64>("x").unwrap_err().to_string(), "x: core 0 has not been set");
    let (memory, offset) = x.memory_mut("x", 0).unwrap();
    assert_eq!((offset, memory.bytes()), (0, 96));
    x.mark_set(0);
    assert_eq!(x.cores::<f64>("x").unwrap_err().to_string(), "x: core 1 has not been set");
    x.cores_mut::<f64>("x").unwrap().core(1)[5] = 7.0;
    assert_eq!(x.cores::<f64>("x").unwrap().core(1), [0.0, 0.0, 0.0, 0.0, 0.0, 7.0]);
    assert!(x.cores::<f32>("x").is_err());
    assert_eq!(x.address(1), x.address(0) + 48);
    assert!(x.is_same(&x) && !x.is_uniform());
}

#[test]
#[allow(unsafe_code, reason = "borrows memory as the C boundary does")]
fn borrowed_cores_may_be_shared_for_reading_alone() {
    let c = context();
    let mut data = [1.0f64, 2.0, 3.0, 4.0];
    let start = NonNull::new(data.as_mut_ptr().cast::<u8>()).unwrap();
    // SAFETY: `data` outlives the train.
    let memory = || Memory::Host(unsafe { HostMemory::borrow(start, 32) });
    let shape = Shape::new("x", &[1, 1], &[2, 2, 2]).unwrap();
    let train = |read_only| {
        TensorTrain::from_cores(&c, DType::F64, shape.clone(), vec![memory(), memory()], read_only).unwrap()
    };
    let mut x = train(false);
    assert!(x.is_uniform() && x.is_same(&train(true)));
    assert_eq!(x.cores::<f64>("x").unwrap().core(1), [1.0, 2.0, 3.0, 4.0]);
    let problem = x.cores_mut::<f64>("x").map(|_| ()).unwrap_err().to_string();
    assert_eq!(problem, "x: cores 0 and 1 share memory and cannot be written to");
    let apart = TensorTrain::zeros(&c, DType::F64, Location::Host, shape.clone()).unwrap();
    let problem = copy(&c, None, &apart, &mut x).unwrap_err().to_string();
    assert_eq!(problem, "destination: cores 0 and 1 share memory and cannot be written to");
    let mut other = [0.0f64; 4];
    let start = NonNull::new(other.as_mut_ptr().cast::<u8>()).unwrap();
    // SAFETY: `other` outlives the train.
    let memory = || Memory::Host(unsafe { HostMemory::borrow(start, 32) });
    let mut y = TensorTrain::from_cores(&c, DType::F64, shape.clone(), vec![memory(), memory()], false).unwrap();
    copy(&c, None, &x, &mut y).unwrap();
    assert_eq!(y.cores::<f64>("y").unwrap().core(1), [1.0, 2.0, 3.0, 4.0]);
    assert!(train(true).cores_mut::<f64>("x").is_err());
}

#[test]
fn matrix_cores_are_checked_against_their_modes() {
    let c = context();
    let shape = TrainMatrix::shape_of("h", &[2, 3], &[3, 2], &[1, 4, 1]).unwrap();
    assert_eq!(shape.modes(), [6, 6]);
    let train = || TensorTrain::zeros(&c, DType::F32, Location::Host, shape.clone()).unwrap();
    let h = TrainMatrix::new("h", train(), &[2, 3], &[3, 2]).unwrap();
    assert_eq!(h.core(0), [1, 2, 3, 4]);
    assert!(TrainMatrix::new("h", train(), &[2, 3], &[3, 3]).map(|_| ()).unwrap_err().to_string().contains("core 1"));
    assert!(TrainMatrix::shape_of("h", &[2], &[2, 2], &[1, 1]).is_err());
}
