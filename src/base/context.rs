//! A context: the backend, its thread pool, memory limits and log. Every other object belongs to a context.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::cpu::{self, Isa, Pool};
use crate::backend::fork;
use crate::backend::gpu::Gpu;
use crate::backend::memory::Budget;
use crate::backend::{Backend, BackendChoice, DeviceName};
use crate::choice::word;
use crate::error::{Error, Result};
use crate::log::{self, Level, Log, Sink};
use crate::progress::{CancelWatch, Progress, ProgressFn};
use crate::shape::to_u64;

/// Options of a context. The default is the GPU if there is one, all cores, no limits and no log.
pub struct Options {
    /// Backend that is asked for: automatic, CPU or GPU.
    pub backend: BackendChoice,
    /// Ordinal of the GPU, from 0. Other than 0 it is refused on the CPU, and asks for a GPU under AUTO.
    pub device: i32,
    /// Threads of the pool, 0 for one a core.
    pub threads: usize,
    /// Vector instructions, `None` for the best of this machine.
    pub isa: Option<Isa>,
    /// Bytes of host memory that purlin may allocate, 0 for no limit.
    pub host_memory_limit: u64,
    /// Bytes of device memory that purlin may allocate, 0 for no limit. A limit is refused with the backend CPU, and has no
    /// effect where AUTO chooses the CPU.
    pub device_memory_limit: u64,
    /// Most detailed level that reaches the log.
    pub log_level: Level,
    /// Function that receives the log.
    pub log: Option<Sink>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            backend: BackendChoice::Auto,
            device: 0,
            threads: 0,
            isa: None,
            host_memory_limit: 0,
            device_memory_limit: 0,
            log_level: Level::Off,
            log: None,
        }
    }
}

/// Backend, thread pool, limits and log.
pub struct Context {
    backend: Backend,
    pool: Pool,
    isa: Isa,
    host: Arc<Budget>,
    device: Arc<Budget>,
    log: Log,
    cancel_epoch: Arc<AtomicU64>,
    generation: u64,
}

impl Context {
    /// Creates a context.
    ///
    /// # Errors
    /// [`Error::NoDevice`] if a GPU is asked for and there is none; [`Error::InvalidArgument`] for a device other than 0 or
    /// a limit of device memory on the CPU; [`Error::NotSupported`] if the machine lacks the vector instructions asked for.
    pub fn new(options: Options) -> Result<Arc<Self>> {
        fork::undisturbed(|| {
            log::prepare();
            cpu::prepare_process()
        })?;
        let log = Log::new(options.log_level, options.log);
        let best = Isa::detect();
        let isa = options.isa.unwrap_or(best);
        if isa > best {
            let (asked, best) = (word(isa), word(best));
            return Err(Error::NotSupported(format!("cpu_isa: {asked} is asked for, this machine has {best}")));
        }
        let device = Budget::new(options.device_memory_limit);
        let backend = match options.backend {
            BackendChoice::Cpu if options.device != 0 => {
                let problem = format!("is {}, the backend CPU has no device but 0", options.device);
                return Err(Error::invalid("device", problem));
            }
            BackendChoice::Cpu if options.device_memory_limit != 0 => {
                let problem = format!("is {}, the backend CPU has no device memory", options.device_memory_limit);
                return Err(Error::invalid("device_memory_limit", problem));
            }
            BackendChoice::Cpu => Backend::Cpu,
            BackendChoice::Auto if options.device != 0 => Backend::Gpu(Gpu::open(options.device, &device)?),
            BackendChoice::Cuda => Backend::Gpu(Gpu::open(options.device, &device)?),
            BackendChoice::Auto => match Gpu::device_count() {
                Ok(n) if n > 0 => match Gpu::open(options.device, &device) {
                    Ok(gpu) => Backend::Gpu(gpu),
                    Err(e) => {
                        log.log(Level::Warn, || format!("the GPU cannot be used, going on with the CPU: {e}"));
                        Backend::Cpu
                    }
                },
                _ => Backend::Cpu,
            },
        };
        let pool = Pool::new(options.threads)?;
        log.log(Level::Info, || {
            let name = match &backend {
                Backend::Cpu => format!("CPU, {}", word(isa)),
                Backend::Gpu(gpu) => format!("GPU {}, {}", gpu.ordinal(), gpu.name()),
            };
            format!("context: {name}, {} threads", pool.threads())
        });
        Ok(Arc::new(Self {
            backend,
            pool,
            isa,
            host: Budget::new(options.host_memory_limit),
            device,
            log,
            cancel_epoch: Arc::new(AtomicU64::new(0)),
            generation: fork::generation(),
        }))
    }

    /// The CPU, or the GPU with its handles.
    #[inline]
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// The GPU of the context.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a context on the CPU, with the message that `what` needs a GPU.
    pub fn gpu(&self, what: &str) -> Result<&Gpu> {
        match &self.backend {
            Backend::Gpu(gpu) => Ok(gpu),
            Backend::Cpu => {
                Err(Error::NotSupported(format!("{what}: needs a context on a GPU, this one is on the CPU")))
            }
        }
    }

    /// Refuses an argument that belongs to another context than this one, which is that of the call.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument`, and both devices if they differ.
    pub fn expect_own(&self, argument: &str, owner: &Context) -> Result<()> {
        if std::ptr::eq(self, owner) {
            return Ok(());
        }
        Err(another_context(argument, "belongs to", owner, self))
    }

    /// The context's threads, which a GPU context has too.
    #[inline]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Vector instructions that the context's loops use.
    #[inline]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Limit and charge of host memory, shared by all objects of the context.
    #[inline]
    pub fn host_budget(&self) -> &Arc<Budget> {
        &self.host
    }

    /// Limit and charge of device memory; unused on the CPU.
    #[inline]
    pub fn device_budget(&self) -> &Arc<Budget> {
        &self.device
    }

    /// Level of the messages, and the caller's function that gets them.
    #[inline]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Progress of a call that starts now.
    pub fn progress<'a>(&self, report: Option<&'a ProgressFn<'a>>) -> Progress<'a> {
        Progress::new(&self.cancel_epoch, report)
    }

    /// Cancellation of a call that starts now and reports no progress.
    #[inline]
    pub fn cancel_watch(&self) -> CancelWatch<'_> {
        CancelWatch::new(&self.cancel_epoch)
    }

    /// Number of cancellations so far. A call ends if it changes while it runs.
    #[inline]
    pub fn cancel_epoch(&self) -> &Arc<AtomicU64> {
        &self.cancel_epoch
    }

    /// Cancels the running calls of this context. Callable from any thread.
    pub fn cancel(&self) {
        self.cancel_epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// Refuses a context that was made before a `fork()` or whose GPU context is dead.
    ///
    /// # Errors
    /// [`Error::Forked`]; the error after which the GPU context is dead.
    pub fn check_alive(&self) -> Result<()> {
        if self.is_forked() {
            return Err(Error::Forked("context"));
        }
        match &self.backend {
            Backend::Cpu => Ok(()),
            Backend::Gpu(gpu) => gpu.check_alive(),
        }
    }

    /// Whether this process inherited the context over a `fork()`.
    pub fn is_forked(&self) -> bool {
        fork::happened_since(self.generation)
    }

    /// Bytes of host memory charged to this context now.
    pub fn host_memory_used(&self) -> u64 {
        self.host.used()
    }

    /// Number of threads, in the type of the C interface.
    #[inline]
    pub fn threads(&self) -> u64 {
        to_u64(self.pool.threads())
    }
}

/// The refusal of an argument that `relates` ("belongs to", "begins with") to another context than the call's.
pub fn another_context(argument: &str, relates: &str, owner: &Context, call: &Context) -> Error {
    Error::invalid(argument, another_device(relates, owner.backend.device(), call.backend.device()))
}

fn another_device(relates: &str, owner: DeviceName, call: DeviceName) -> String {
    if owner == call {
        return format!("{relates} another context");
    }
    format!("{relates} another context: it is on {owner}, the call is on {call}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(threads: usize) -> Arc<Context> {
        Context::new(Options { backend: BackendChoice::Cpu, threads, ..Options::default() }).unwrap()
    }

    #[test]
    fn contexts_have_threads_of_their_own() {
        let (a, b) = (cpu(1), cpu(2));
        assert_eq!((a.threads(), b.threads()), (1, 2));
    }

    #[test]
    fn a_device_is_used_or_refused() {
        let with =
            |backend, device| Context::new(Options { backend, device, threads: 1, ..Options::default() }).map(|_| ());
        let refusal = Error::invalid("device", "is 3, the backend CPU has no device but 0");
        assert_eq!(with(BackendChoice::Cpu, 3), Err(refusal));
        assert!(with(BackendChoice::Cpu, 0).is_ok() && with(BackendChoice::Auto, 0).is_ok());
        let limited = |backend| {
            let options = Options { backend, device_memory_limit: 1 << 30, threads: 1, ..Options::default() };
            Context::new(options).map(|_| ())
        };
        let refusal = Error::invalid("device_memory_limit", "is 1073741824, the backend CPU has no device memory");
        assert_eq!(limited(BackendChoice::Cpu), Err(refusal));
        assert_eq!(limited(BackendChoice::Auto), Ok(()));
        // No machine has so many.
        for backend in [BackendChoice::Auto, BackendChoice::Cuda] {
            assert!(matches!(with(backend, 1000), Err(Error::NoDevice(_))));
        }
    }

    #[test]
    fn an_argument_of_another_backend_is_refused_with_both_devices() {
        let text = |owner, call| another_device("belongs to", owner, call);
        let (cpu, gpu) = (DeviceName::Cpu, DeviceName::Gpu(0));
        assert_eq!(text(cpu, gpu), "belongs to another context: it is on the CPU, the call is on GPU 0");
        assert_eq!(text(gpu, cpu), "belongs to another context: it is on GPU 0, the call is on the CPU");
        assert_eq!(text(gpu, DeviceName::Gpu(3)), "belongs to another context: it is on GPU 0, the call is on GPU 3");
        assert_eq!(text(cpu, cpu), "belongs to another context");
    }

    #[test]
    fn an_argument_belongs_to_the_context_of_the_call() {
        let (a, b) = (cpu(1), cpu(1));
        assert_eq!(a.expect_own("x", &a), Ok(()));
        assert_eq!(a.expect_own("x", &b), Err(Error::invalid("x", "belongs to another context")));
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn a_tensor_of_the_cpu_is_refused_on_a_gpu_and_the_other_way_round() {
        use crate::scalar::DType;
        use crate::shape::Order;
        use crate::tensor::{Location, Tensor};

        let (host, device) = (cpu(1), crate::testing::sparse::gpu());
        let on = |context: &Arc<Context>| Tensor::create(context, DType::F64, Location::Host, Order::ColumnMajor, &[3]);
        let problem =
            |call: &Arc<Context>, of: &Arc<Context>| on(of).unwrap().expect_context("x", call).unwrap_err().to_string();
        assert_eq!(problem(&device, &host), "x: belongs to another context: it is on the CPU, the call is on GPU 0");
        assert_eq!(problem(&host, &device), "x: belongs to another context: it is on GPU 0, the call is on the CPU");
    }

    #[test]
    fn cancelling_ends_running_calls_and_no_later_ones() {
        let c = cpu(1);
        let running = c.progress(None);
        c.cancel();
        assert_eq!(running.check(), Err(Error::Cancelled));
        assert!(c.progress(None).check().is_ok());
    }
}
