//! Kernels: embedded at build time, loaded on first use.

use std::ffi::{CString, c_int, c_uint};
use std::sync::Arc;

use cudarc::driver::sys;
use cudarc::driver::sys::CUfunction_attribute::{
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES as LOCAL, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_DYNAMIC,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK as MAX_THREADS, CU_FUNC_ATTRIBUTE_NUM_REGS as REGISTERS,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES as STATIC_SHARED,
};
use sys::{CUfunction, CUmodule};

use super::device::{Device, Entered};
use super::driver::{NO_BINARY_FOR_GPU, NOT_FOUND};
use super::library::expect_memory;
use super::loaded::Function;
use crate::error::{Error, Result};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/fatbins.rs"));

    pub(super) fn find(family: &str) -> Option<&'static [u8]> {
        FATBINS.iter().find(|f| f.0 == family).map(|f| f.1)
    }
}

/// A kernel of a device, ready to be launched.
pub struct Kernel {
    device: Arc<Device>,
    function: Function,
    name: String,
}

// SAFETY: the driver's handle may be used from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// Version of the nvcc that compiled the kernels of this build, `none` if there are none.
pub fn build_cuda() -> &'static str {
    env!("PURLIN_BUILD_CUDA")
}

/// Architectures for which this build has kernels, `none` if for none.
pub fn build_archs() -> &'static str {
    env!("PURLIN_BUILD_ARCHS")
}

/// The kernel `name` of `family`, a file of `cuda/`.
pub(super) fn kernel(device: &Arc<Device>, family: &'static str, name: &str) -> Result<Kernel> {
    let entered = device.enter()?;
    let mut loaded = device.modules.lock();
    let key = (family, name.to_owned());
    let function = match loaded.functions.get(&key) {
        Some(function) => *function,
        None => {
            let module = match loaded.modules.get(family) {
                Some(module) => *module,
                None => {
                    let module = entered.beside_graphs(|| load(&entered, device, family))??;
                    loaded.modules.insert(family, module);
                    module
                }
            };
            let function = entered.beside_graphs(|| find(&entered, device, module, name))??;
            loaded.functions.insert(key, function);
            function
        }
    };
    Ok(Kernel { device: Arc::clone(device), function, name: name.to_owned() })
}

fn load(entered: &Entered<'_>, device: &Device, family: &'static str) -> Result<CUmodule> {
    fault("cuModuleLoadData")?;
    let image = embedded::find(family)
        .ok_or_else(|| Error::NotSupported(format!("{family}: this build of purlin has no GPU kernels for it")))?;
    let mut module = std::ptr::null_mut();
    expect_memory()?;
    // SAFETY: a whole fat binary, as nvcc wrote it; writes one handle.
    let code = unsafe { (entered.api().cuModuleLoadData)(&mut module, image.as_ptr().cast()) };
    if code == NO_BINARY_FOR_GPU {
        let (major, minor) = device.info.compute_capability;
        let archs = build_archs();
        return Err(Error::NotSupported(format!(
            "{family}: the GPU has compute capability {major}.{minor}, this build has code for {archs}"
        )));
    }
    entered.check("cuModuleLoadData", code)?;
    Ok(module)
}

fn find(entered: &Entered<'_>, device: &Device, module: CUmodule, name: &str) -> Result<Function> {
    let api = entered.api();
    let text = CString::new(name).map_err(|_| Error::Internal(format!("kernel name {name:?}")))?;
    let mut raw = std::ptr::null_mut();
    // SAFETY: a loaded module and a text that ends with a zero; writes one handle.
    let code = unsafe { (api.cuModuleGetFunction)(&mut raw, module, text.as_ptr()) };
    if code == NOT_FOUND {
        return Err(Error::Internal(format!("there is no kernel {name}")));
    }
    entered.check("cuModuleGetFunction", code)?;
    let attribute = |which: sys::CUfunction_attribute| {
        let mut value: c_int = 0;
        // SAFETY: writes one integer.
        let code = unsafe { (api.cuFuncGetAttribute)(&mut value, which as c_uint, raw) };
        entered.check("cuFuncGetAttribute", code).map(|()| value)
    };
    let fixed = attribute(STATIC_SHARED)?;
    let limit = i32::try_from(device.info.shared_memory_per_block).unwrap_or(i32::MAX);
    let most = (limit - fixed).max(0);
    // More than 48 KB of shared memory has to be allowed for each kernel. Allowing the maximum costs nothing, because a
    // launch uses only the bytes that it asks for. SAFETY: a function of this device.
    let code = unsafe { (api.cuFuncSetAttribute)(raw, MAX_DYNAMIC as c_uint, most) };
    entered.check("cuFuncSetAttribute", code)?;
    Ok(Function {
        raw,
        most_threads: u32::try_from(attribute(MAX_THREADS)?).unwrap_or(0),
        most_shared: usize::try_from(most).unwrap_or(0),
        registers: attribute(REGISTERS)?,
        local_bytes: attribute(LOCAL)?,
    })
}

impl Kernel {
    /// Most bytes of dynamic shared memory that a block can have.
    pub fn most_shared(&self) -> usize {
        self.function.most_shared
    }

    /// Most threads that a block can have.
    pub fn most_threads(&self) -> u32 {
        self.function.most_threads
    }

    /// Registers and bytes of local memory of a thread, for the log.
    pub fn resources(&self) -> (i32, i32) {
        (self.function.registers, self.function.local_bytes)
    }

    /// Name of the function in `cuda/`, its type included.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Blocks of `threads` threads and `shared` bytes of dynamic shared memory that the whole device holds at once,
    /// at least 1.
    pub fn resident_blocks(&self, threads: u32, shared: usize) -> Result<u32> {
        let entered = self.device.enter()?;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let mut blocks = 0;
        // SAFETY: a function of this device; writes one integer.
        let code = unsafe {
            (entered.api().cuOccupancyMaxActiveBlocksPerMultiprocessor)(&mut blocks, self.raw(), threads, shared)
        };
        entered.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code)?;
        let all = blocks.saturating_mul(self.device.info.multiprocessors);
        Ok(u32::try_from(all).unwrap_or(1).max(1))
    }

    pub(super) fn raw(&self) -> CUfunction {
        self.function.raw
    }

    pub(super) fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

/// Fault point: a test can make a module load fail here.
#[cfg(feature = "fault-injection")]
fn fault(call: &'static str) -> Result<()> {
    super::faults::injected(crate::fault::Kind::Load, call)
}

#[cfg(not(feature = "fault-injection"))]
#[inline(always)]
fn fault(_: &'static str) -> Result<()> {
    Ok(())
}
