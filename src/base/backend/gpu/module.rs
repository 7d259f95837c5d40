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
use super::driver::{INVALID_IMAGE, NO_BINARY_FOR_GPU, NOT_FOUND, UNSUPPORTED_PTX_VERSION, dotted};
use super::dynamic::expect_memory;
use super::images;
use super::loaded::Function;
use crate::error::{Error, Result};

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
    let gpu = device.info.compute_capability;
    let Some(image) = images::load(family, gpu)? else {
        return Err(Error::NotSupported(match images::has(family) {
            true => format!("{family}: {}", no_code_for(gpu)),
            false => format!("{family}: this build of purlin has no GPU kernels for it"),
        }));
    };
    let mut module = std::ptr::null_mut();
    expect_memory()?;
    // SAFETY: a whole image, as nvcc wrote it, and a zero; the driver copies it, and writes one handle.
    let code = unsafe { (entered.api().cuModuleLoadData)(&mut module, image.as_ptr().cast()) };
    if let Some(problem) = unsuitable(code, gpu, device.info.driver_version, build_cuda()) {
        return Err(Error::NotSupported(format!("{family}: {problem}")));
    }
    entered.check("cuModuleLoadData", code)?;
    Ok(module)
}

fn no_code_for((major, minor): (i32, i32)) -> String {
    format!("the GPU has compute capability {major}.{minor}, this build has code for {}", build_archs())
}

/// Why a driver for CUDA `driver` cannot load kernels that nvcc of version `built` made for a GPU of compute capability
/// `gpu`, if its status number says so.
fn unsuitable(code: u32, gpu: (i32, i32), driver: i32, built: &str) -> Option<String> {
    let major: i32 = built.split('.').next()?.parse().unwrap_or(0);
    let is_older = driver / 1000 < major;
    if code == NO_BINARY_FOR_GPU && !is_older {
        return Some(no_code_for(gpu));
    }
    if !matches!(code, INVALID_IMAGE | NO_BINARY_FOR_GPU | UNSUPPORTED_PTX_VERSION) {
        return None;
    }
    // NVIDIA, CUDA Compatibility, "Minor Version Compatibility": the first driver of each major version. It loads the
    // machine code of all its minor versions; intermediate code needs a driver as new as the compiler.
    let needed = match major {
        _ if !is_older => format!("a driver for CUDA {built}"),
        11 => "driver 450".into(),
        12 => "driver 525".into(),
        13 => "driver 580".into(),
        _ => format!("a driver for CUDA {major}.0"),
    };
    let has = dotted(driver);
    Some(format!(
        "the kernels of this build are of CUDA {built} and need {needed} or newer, this one is for CUDA {has}"
    ))
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
    ///
    /// # Errors
    /// [`Error::Cuda`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_is_too_old_for_the_kernels_learns_which_one_is_needed() {
        let of = |code, driver, built| unsuitable(code, (7, 5), driver, built);
        let text = |code, driver, built| of(code, driver, built).unwrap();
        for code in [INVALID_IMAGE, NO_BINARY_FOR_GPU, UNSUPPORTED_PTX_VERSION] {
            let old =
                "the kernels of this build are of CUDA 13.0.88 and need driver 580 or newer, this one is for CUDA 12.4";
            assert_eq!(text(code, 12040, "13.0.88"), old);
            assert!(text(code, 11080, "12.4.131").contains("need driver 525 or newer"));
            assert!(text(code, 13000, "15.1.2").contains("need a driver for CUDA 15.0 or newer"));
        }
        // Intermediate code of a later minor version, for a GPU that there is no machine code for.
        assert!(text(UNSUPPORTED_PTX_VERSION, 12040, "12.9.86").contains("need a driver for CUDA 12.9.86 or newer"));
        // The driver is new enough, and the GPU is too old.
        assert!(text(NO_BINARY_FOR_GPU, 13000, "13.0.88").starts_with("the GPU has compute capability 7.5"));
        for code in [0, 2, 209 + 1, 700] {
            assert_eq!(of(code, 12040, "13.0.88"), None, "{code}");
        }
    }
}
