//! The algebra with and without cuSOLVER, and the four element types.

use super::super::GpuAlgebra;
use crate::backend::BackendChoice;
use crate::context::{Context, Options};

pub(super) fn algebra() -> GpuAlgebra {
    let options = Options { backend: BackendChoice::Cuda, threads: 2, ..Options::default() };
    let context = Context::new(options).unwrap();
    let gpu = context.gpu("test").unwrap().clone();
    GpuAlgebra::new(&context, &gpu, &gpu.create_stream().unwrap()).unwrap()
}

/// As [`algebra`], without cuSOLVER: factorizations run on the CPU.
pub(super) fn bare() -> GpuAlgebra {
    GpuAlgebra { solver: Some(None), ..algebra() }
}

/// Calls a generic test for each of the four types.
macro_rules! for_all_types {
    ($test:ident($($argument:expr),*)) => {
        $test::<f32>($($argument),*);
        $test::<f64>($($argument),*);
        $test::<$crate::scalar::Complex<f32>>($($argument),*);
        $test::<$crate::scalar::Complex<f64>>($($argument),*);
    };
}

pub(super) use for_all_types;
