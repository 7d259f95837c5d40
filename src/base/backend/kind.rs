//! The backends of contexts, their names in messages, and the choice of one.

use std::fmt;

use super::gpu;

/// The device a context runs on.
pub enum Backend {
    /// The threads of the context's pool.
    Cpu,
    /// One GPU, through its primary context.
    Gpu(gpu::Gpu),
}

impl Backend {
    /// The device as messages name it.
    pub fn device(&self) -> DeviceName {
        match self {
            Self::Cpu => DeviceName::Cpu,
            Self::Gpu(gpu) => DeviceName::Gpu(gpu.ordinal()),
        }
    }
}

/// The device of a backend, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceName {
    /// The threads of the context's pool.
    Cpu,
    /// The GPU of this ordinal.
    Gpu(i32),
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("the CPU"),
            Self::Gpu(ordinal) => write!(f, "GPU {ordinal}"),
        }
    }
}

/// Which backend a caller asks for. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum BackendChoice {
    /// The GPU if there is one, else the CPU.
    Auto = 0,
    /// The CPU, even if there is a GPU.
    Cpu = 1,
    /// A GPU; an error if there is none.
    Cuda = 2,
}
