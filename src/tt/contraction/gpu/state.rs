//! A context's GPU with the libraries and streams that contractions use.

use std::sync::Arc;

use super::load::Loaded;
use crate::alloc;
use crate::backend::gpu::{Blas, Gpu, GpuStream, Precision, Solver, Work as SolverWork};
use crate::context::Context;
use crate::contraction::cpu::CpuContraction;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::stream::Stream;
use crate::tensor::train::TensorTrain;
use crate::trains::options::Math;

/// The contractions of a context on its GPU.
pub struct GpuContraction {
    pub(super) context: Arc<Context>,
    pub(super) gpu: Gpu,
    pub(super) math: Math,
    /// The stream of the right end of a train. `libraries` has cuBLAS on both streams. Created when first needed.
    pub(super) side: Option<GpuStream>,
    pub(super) libraries: Vec<(u64, Blas)>,
    /// cuBLAS for enqueued calls: on the stream of the call and on the stream of the right end.
    pub(super) enqueued: Option<[Blas; 2]>,
    /// cuSOLVER for QR norms; `work` is its workspace.
    pub(super) solver: Option<Solver>,
    pub(super) work: SolverWork,
    pub(super) host: CpuContraction,
}

impl GpuContraction {
    /// The contractions of a context on a GPU.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a context on the CPU.
    pub fn new(context: &Arc<Context>, math: Math) -> Result<Self> {
        Ok(Self {
            context: Arc::clone(context),
            gpu: context.gpu("context")?.clone(),
            math,
            side: None,
            libraries: Vec::new(),
            enqueued: None,
            solver: None,
            work: SolverWork::default(),
            host: CpuContraction::new(context),
        })
    }

    /// The stream of a call: the caller's if it belongs to this context, otherwise the default.
    pub(super) fn stream(&self, stream: Option<&Stream>) -> GpuStream {
        let given = stream.filter(|s| Arc::ptr_eq(s.context(), &self.context));
        given.and_then(|s| s.gpu()).unwrap_or_else(|| self.gpu.default_stream()).clone()
    }

    pub(super) fn precision(&self) -> Precision {
        match self.math {
            Math::Tf32 => Precision::Reduced,
            // [`Math::Tf32x3`]: `Products` itself chooses the products that use reduced precision.
            Math::Default | Math::Tf32x3 | Math::Gemm3m | Math::Int8x6 => Precision::Full,
        }
    }

    /// Creates cuBLAS on a stream if there is none; returns `false` if the library is not installed.
    pub(super) fn allocate_workspace(&mut self, stream: &GpuStream) -> Result<bool> {
        self.libraries.retain(|l| !l.1.is_broken());
        if self.libraries.iter().any(|l| l.0 == stream.raw()) {
            return Ok(true);
        }
        // Free cuBLAS of streams that only earlier calls used.
        let side = self.side.as_ref().map(GpuStream::raw);
        self.libraries.retain(|l| Some(l.0) == side);
        match Blas::new(&self.gpu, stream) {
            Ok(blas) => {
                blas.set_precision(self.precision())?;
                alloc::push("libraries", &mut self.libraries, (stream.raw(), blas))?;
                Ok(true)
            }
            Err(Error::NoDevice(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    pub(super) fn blas(&self, stream: &GpuStream) -> Result<&Blas> {
        let found = self.libraries.iter().find(|l| l.0 == stream.raw());
        found.map(|l| &l.1).ok_or_else(|| Error::Internal("a queue without cuBLAS".into()))
    }

    /// Creates cuSOLVER if there is none and moves it to `stream`; returns `false` if the library is not installed.
    pub(super) fn allocate_solver(&mut self, stream: &GpuStream) -> Result<bool> {
        match &mut self.solver {
            Some(solver) if !solver.is_broken() => solver.move_to(stream)?,
            none => match Solver::new(&self.gpu, stream) {
                Ok(solver) => *none = Some(solver),
                Err(Error::NoDevice(_)) => return Ok(false),
                Err(other) => return Err(other),
            },
        }
        Ok(true)
    }

    /// The trains of a sum in the memory of this device.
    pub(super) fn loaded<'t>(
        &self,
        dtype: DType,
        stream: &GpuStream,
        trains: &[(&'t TensorTrain, f64)],
    ) -> Result<Vec<Loaded<'t>>> {
        let mut loaded = alloc::with_capacity("trains of a norm", trains.len())?;
        for &(train, _) in trains {
            loaded.push(Loaded::new(dtype, &self.context, &self.gpu, stream, "x", train)?);
        }
        Ok(loaded)
    }
}
