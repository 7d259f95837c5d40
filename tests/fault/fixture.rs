//! The objects that cases work on: a context and tensors of purlin's own memory, filled with usable values.

use std::cell::RefCell;
use std::ffi::CStr;

use purlin::ffi::*;

/// A call of the C boundary.
macro_rules! c {
    ($call:expr) => {{
        #[allow(unused_unsafe, reason = "some functions take handles alone and are safe")]
        // SAFETY: every pointer handed over is live and of the size stated.
        let status = unsafe { $call };
        status
    }};
}
pub(crate) use c;

/// A call of the setup, which must succeed.
macro_rules! good {
    ($call:expr) => {
        assert_eq!($crate::fixture::c!($call), purlin_status::PURLIN_SUCCESS, "{}", $crate::fixture::message())
    };
}
pub(crate) use good;

/// The text of the last failure.
pub fn message() -> String {
    // SAFETY: never NULL, valid until the next call.
    unsafe { CStr::from_ptr(purlin_last_error_message()) }.to_string_lossy().into_owned()
}

/// A struct as its init function leaves it.
macro_rules! initialized {
    ($type:ty, $init:path) => {{
        let mut value = std::mem::MaybeUninit::<$type>::uninit();
        $crate::fixture::good!($init(value.as_mut_ptr(), size_of::<$type>()));
        // SAFETY: the init function has written all of it.
        unsafe { value.assume_init() }
    }};
}
pub(crate) use initialized;

/// Location of a case's tensors.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Host,
    Device,
}

/// A context and its objects. Dropping the fixture destroys all.
pub struct Fixture {
    pub context: *mut purlin_context,
    /// Number of symmetric tensors or voxels of a batch.
    pub count: i64,
    place: Place,
    made: RefCell<Vec<*mut purlin_tensor>>,
}

impl Fixture {
    /// Host tensors in a context on the CPU.
    pub fn on_cpu(count: i64) -> Self {
        Self::new(PURLIN_BACKEND_CPU, count, Place::Host, 2)
    }

    /// The same with a single thread, on which all work runs.
    pub fn on_one_thread(count: i64) -> Self {
        Self::new(PURLIN_BACKEND_CPU, count, Place::Host, 1)
    }

    /// Device tensors in a context on a GPU.
    pub fn on_gpu(count: i64) -> Self {
        Self::new(PURLIN_BACKEND_CUDA, count, Place::Device, 2)
    }

    /// Host tensors in a context on a GPU, which streams them.
    pub fn streamed(count: i64) -> Self {
        Self::new(PURLIN_BACKEND_CUDA, count, Place::Host, 2)
    }

    fn new(backend: i32, count: i64, place: Place, threads: i64) -> Self {
        let mut options = initialized!(purlin_context_options, purlin_context_options_init);
        options.backend = backend;
        options.threads = threads;
        let mut context = std::ptr::null_mut();
        good!(purlin_context_create(&raw const options, &raw mut context));
        Self { context, count, place, made: RefCell::new(Vec::new()) }
    }

    /// Location of the trains, which is that of the tensors.
    pub fn location(&self) -> i32 {
        if self.place == Place::Device { PURLIN_DEVICE } else { PURLIN_HOST }
    }

    /// Bytes of host and device memory that the context's objects hold.
    pub fn memory_used(&self) -> (i64, i64) {
        let mut info = initialized!(purlin_context_info, purlin_context_info_init);
        good!(purlin_context_properties(self.context, &raw mut info));
        (info.host_memory_used, info.device_memory_used)
    }

    /// A handle over memory of the fixture's, for which nothing but the handle is allocated.
    pub fn borrow_one(&self) -> Result<*mut purlin_tensor, purlin_status> {
        static mut NUMBER: f64 = 0.0;
        let mut tensor = std::ptr::null_mut();
        let (dims, data) = ([1i64], (&raw mut NUMBER).cast());
        let place = &raw mut tensor;
        match c!(purlin_tensor_borrow(self.context, PURLIN_F64, 0, 1, dims.as_ptr(), std::ptr::null(), data, place)) {
            purlin_status::PURLIN_SUCCESS => Ok(tensor),
            status => Err(status),
        }
    }

    fn host(&self, dtype: i32, dims: &[i64]) -> *mut purlin_tensor {
        let mut tensor = std::ptr::null_mut();
        let ndim = i64::try_from(dims.len()).expect("few dimensions");
        good!(purlin_tensor_create(self.context, dtype, PURLIN_HOST, 0, ndim, dims.as_ptr(), &raw mut tensor));
        tensor
    }

    fn host_symmetric(&self, dtype: i32, order: i64, dimension: i64) -> *mut purlin_tensor {
        let mut tensor = std::ptr::null_mut();
        let place = &raw mut tensor;
        good!(purlin_tensor_create_symmetric(self.context, dtype, PURLIN_HOST, 0, order, dimension, self.count, place));
        tensor
    }

    /// Fills a host tensor by `value` of the element's number.
    fn fill(&self, tensor: *mut purlin_tensor, value: impl Fn(usize) -> f64) {
        let mut info = initialized!(purlin_tensor_info, purlin_tensor_info_init);
        good!(purlin_tensor_properties(tensor, &raw mut info));
        let elements = usize::try_from(info.elements).expect("a size");
        for k in 0..elements {
            let x = value(k);
            // SAFETY: packed memory of purlin's own with that many elements of that type.
            unsafe {
                match info.dtype {
                    PURLIN_F32 => (info.data as *mut f32).add(k).write(x as f32),
                    PURLIN_F64 => (info.data as *mut f64).add(k).write(x),
                    PURLIN_I64 => (info.data as *mut i64).add(k).write(x as i64),
                    PURLIN_U8 => (info.data as *mut u8).add(k).write(x as u8),
                    _ => (info.data as *mut i32).add(k).write(x as i32),
                }
            }
        }
    }

    /// Registers a tensor for destruction; moves it to the device first if the fixture's tensors are there.
    fn keep(&self, host: *mut purlin_tensor, symmetric: Option<(i64, i64)>) -> *mut purlin_tensor {
        self.keep_in(self.place, host, symmetric)
    }

    fn keep_in(&self, place: Place, host: *mut purlin_tensor, symmetric: Option<(i64, i64)>) -> *mut purlin_tensor {
        let mut tensor = host;
        if place == Place::Device {
            let mut info = initialized!(purlin_tensor_info, purlin_tensor_info_init);
            good!(purlin_tensor_properties(host, &raw mut info));
            let (dtype, place, device) = (info.dtype, &raw mut tensor, PURLIN_DEVICE);
            match symmetric {
                Some((order, n)) => {
                    good!(purlin_tensor_create_symmetric(self.context, dtype, device, 0, order, n, self.count, place));
                }
                None => {
                    let mut dims = [0i64; 32];
                    good!(purlin_tensor_shape(host, 32, dims.as_mut_ptr(), std::ptr::null_mut()));
                    good!(purlin_tensor_create(self.context, dtype, device, 0, info.ndim, dims.as_ptr(), place));
                }
            }
            good!(purlin_tensor_copy(self.context, std::ptr::null(), host, tensor));
            good!(purlin_tensor_destroy(host));
        }
        self.made.borrow_mut().push(tensor);
        tensor
    }

    /// A dense tensor with element k `value(k)`, at the fixture's location.
    pub fn dense(&self, dtype: i32, dims: &[i64], value: impl Fn(usize) -> f64) -> *mut purlin_tensor {
        let tensor = self.host(dtype, dims);
        self.fill(tensor, value);
        self.keep(tensor, None)
    }

    /// A dense tensor on the host, whatever the fixture's location.
    pub fn on_host(&self, dtype: i32, dims: &[i64], value: impl Fn(usize) -> f64) -> *mut purlin_tensor {
        let host = self.host(dtype, dims);
        self.fill(host, value);
        self.keep_in(Place::Host, host, None)
    }

    /// A vector on the device, whatever the fixture's location, and its address.
    pub fn on_device(&self, dtype: i32, length: i64, value: impl Fn(usize) -> f64) -> (*mut purlin_tensor, u64) {
        let host = self.host(dtype, &[length]);
        self.fill(host, value);
        let tensor = self.keep_in(Place::Device, host, None);
        let mut info = initialized!(purlin_tensor_info, purlin_tensor_info_init);
        good!(purlin_tensor_properties(tensor, &raw mut info));
        (tensor, info.data as u64)
    }

    /// A vector of F64 on the host, whatever the fixture's location.
    pub fn vector(&self, length: i64) -> *mut purlin_tensor {
        let tensor = self.host(PURLIN_F64, &[length]);
        self.made.borrow_mut().push(tensor);
        tensor
    }

    /// A batch of `count` symmetric tensors with entries in [-1, 1].
    pub fn symmetric(&self, dtype: i32, order: i64, dimension: i64) -> *mut purlin_tensor {
        let tensor = self.host_symmetric(dtype, order, dimension);
        self.fill(tensor, noise);
        self.keep(tensor, Some((order, dimension)))
    }
}

/// A number in [-1, 1] for each number; the same in every run.
pub fn noise(k: usize) -> f64 {
    let mut x = (k as u64).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

impl Drop for Fixture {
    fn drop(&mut self) {
        for tensor in self.made.take() {
            good!(purlin_tensor_destroy(tensor));
        }
        good!(purlin_context_destroy(self.context));
    }
}
