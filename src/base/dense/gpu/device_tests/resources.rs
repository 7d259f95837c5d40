//! Memory is charged and given back, also after a failure of any operation.

use super::super::GpuAlgebra;
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::dense::Algebra;
use crate::error::Error;

#[test]
#[ignore = "needs a GPU"]
fn memory_is_charged_and_given_back() {
    let limited = |device_memory_limit| {
        Context::new(Options { backend: BackendChoice::Cuda, device_memory_limit, ..Options::default() }).unwrap()
    };
    let context = limited(48 << 20);
    let gpu = context.gpu("test").unwrap().clone();
    let stream = gpu.create_stream().unwrap();
    {
        // The workspace of cuBLAS takes at most an eighth of the free memory, so that several fit.
        let mut ops = GpuAlgebra::new(&context, &gpu, &stream).unwrap();
        let one = context.device_budget().used();
        assert!((64 << 10..=(6 << 20) + 1024).contains(&one), "{one} bytes");
        assert_eq!(ops.blas().own_workspace_bytes(), 4 << 20);
        let other = GpuAlgebra::new(&context, &gpu, &stream).unwrap();
        assert_eq!(context.device_budget().used(), 2 * one);
        drop(other);
        let e = Algebra::<f64>::zeros(&mut ops, "test", 3 << 20, 2).map(|_| ()).unwrap_err();
        assert!(matches!(e, Error::OutOfDeviceMemory { what: "test", .. }), "{e}");
    }
    assert_eq!(context.device_budget().used(), 0);
    // Less than the smallest workspace.
    let context = limited(32 << 10);
    let gpu = context.gpu("test").unwrap().clone();
    let stream = gpu.create_stream().unwrap();
    let e = GpuAlgebra::new(&context, &gpu, &stream).map(|_| ()).unwrap_err();
    assert!(matches!(e, Error::OutOfDeviceMemory { limit: Some(_), .. }), "{e}");
    assert_eq!(context.device_budget().used(), 0);
}

#[cfg(feature = "fault-injection")]
#[test]
#[ignore = "needs a GPU"]
fn every_operation_may_fail_once() {
    use super::host::Host;
    use crate::fault::{self, Kind};

    let options = Options { backend: BackendChoice::Cuda, threads: 2, ..Options::default() };
    let context = Context::new(options).unwrap();
    let gpu = context.gpu("test").unwrap().clone();
    let stream = gpu.create_stream().unwrap();
    let a = Host::random::<f32>(200, 70, 5);
    let kinds = [Kind::HostMemory, Kind::DeviceMemory, Kind::Copy, Kind::Launch, Kind::Load, Kind::Library];
    let kinds = kinds.iter().fold(0, |all, k| all | *k as u32);
    for sticky in [false, true] {
        let mut n = 0;
        loop {
            let data: Vec<f32> = a.at.iter().map(|x| x.re as f32).collect();
            fault::arm(n, kinds, sticky);
            let result = (|| {
                let mut ops = GpuAlgebra::new(&context, &gpu, &stream)?;
                let mut x = ops.upload("test", 200, 70, &data, 200)?;
                let mut r = Algebra::<f32>::zeros(&mut ops, "test", 70, 70)?;
                ops.cholesky_step(&mut x, 0.0, &mut r)?;
                let svd = ops.svd(&r)?;
                ops.householder(&mut x, &mut r)?;
                Ok(svd.s[0])
            })();
            let failed = fault::disarm();
            match result {
                Ok(value) => {
                    assert!(value > 14.0 && failed == 0, "{value}");
                    break;
                }
                Err(e) => {
                    let expected =
                        matches!(e, Error::OutOfDeviceMemory { .. } | Error::OutOfMemory { .. } | Error::Cuda { .. });
                    assert!(failed > 0 && expected, "{e}");
                }
            }
            n += 1;
            assert!(n < 1000);
        }
        assert!(n >= 60, "{n} fault points");
        assert_eq!(context.device_budget().used(), 0);
        assert_eq!(context.host_budget().used(), 0);
        gpu.check_alive().unwrap();
    }
}
