//! The one error type of the library: a variant per status, carrying the data of its message.

/// Result of every fallible function of the crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, with the argument, the value and the limit where they apply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An argument lies outside its documented domain.
    #[error("{argument}: {problem}")]
    InvalidArgument {
        /// Name of the argument, as the header spells it.
        argument: String,
        /// The value found and the values expected.
        problem: String,
    },
    /// A handle that is null, destroyed, foreign or of another type.
    #[error("{argument}: {problem}")]
    InvalidHandle {
        /// Name of the argument, as in the header.
        argument: String,
        /// Why the handle was refused.
        problem: &'static str,
    },
    /// The object is in use by another call.
    #[error("{argument}: is in use by another call")]
    Busy {
        /// Name of the argument, as in the header.
        argument: String,
    },
    /// Host memory, the context's limit included.
    #[error("{what}: {bytes} bytes of host memory cannot be allocated{}", limit_text(*.limit))]
    OutOfMemory {
        /// The purpose of the memory.
        what: &'static str,
        /// Bytes of the refused allocation.
        bytes: u64,
        /// The context's limit, if it caused the refusal.
        limit: Option<u64>,
    },
    /// The system refused to start a thread.
    #[error("{what}: thread {number} of {count} could not be started: {problem}")]
    ThreadRefused {
        /// The purpose of the threads.
        what: &'static str,
        /// Which of them, from 1.
        number: usize,
        /// Threads that were to be started.
        count: usize,
        /// The system's message for the refused start.
        problem: String,
    },
    /// Device memory, the context's limit included.
    #[error("{what}: {bytes} bytes of device memory cannot be allocated{}", limit_text(*.limit))]
    OutOfDeviceMemory {
        /// The purpose of the memory.
        what: &'static str,
        /// Bytes of the refused allocation.
        bytes: u64,
        /// The context's limit, if it caused the refusal.
        limit: Option<u64>,
    },
    /// The iteration ended before its tolerance was met; outputs hold the last iterate.
    #[error("no convergence: {0}")]
    NoConvergence(String),
    /// Cancelled by the progress callback, by `purlin_context_cancel`, or by the cancel function of the call's object.
    #[error("cancelled")]
    Cancelled,
    /// No driver, or no such GPU.
    #[error("no device: {0}")]
    NoDevice(String),
    /// The CUDA driver reported an error.
    #[error("CUDA: {call} failed with {name} ({code})")]
    Cuda {
        /// Name of the function that failed, of the driver or of a library.
        call: &'static str,
        /// The driver's name of the error.
        name: String,
        /// The driver's number of the error.
        code: i32,
    },
    /// This type, shape or device combination is not supported.
    #[error("not supported: {0}")]
    NotSupported(String),
    /// Overflow, breakdown or singularity; the text says which.
    #[error("numerical failure: {0}")]
    Numerical(String),
    /// A file could not be read or written.
    #[error("{path}: {problem}")]
    Io {
        /// Path of the file, as the caller gave it.
        path: String,
        /// The problem: the system's message, or the defect of the contents.
        problem: String,
    },
    /// The context was created before `fork()` and is used in the child.
    #[error("{0}: was made before fork() and cannot be used in the child process")]
    Forked(&'static str),
    /// A broken invariant of purlin: always a bug.
    #[error("internal error: {0}")]
    Internal(String),
}

/// A real number in a message: its shortest digits, with an exponent if it would have many zeros.
pub fn real(value: f64) -> impl std::fmt::Display {
    Decimal { value, digits: None }
}

/// As [`real`], with `digits` digits after the point.
pub fn rounded(value: f64, digits: usize) -> impl std::fmt::Display {
    Decimal { value, digits: Some(digits) }
}

struct Decimal {
    value: f64,
    digits: Option<usize>,
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.value.abs();
        let (is_short, is_large) = (size == 0.0 || size >= 1e-5, size.is_finite() && size >= 1e15);
        match self.digits {
            None if is_short && !is_large => write!(f, "{}", self.value),
            None => write!(f, "{:e}", self.value),
            Some(digits) if is_large => write!(f, "{:.digits$e}", self.value),
            Some(digits) => write!(f, "{:.digits$}", self.value),
        }
    }
}

fn limit_text(limit: Option<u64>) -> String {
    limit.map_or_else(String::new, |l| format!(" under the context's limit of {l} bytes"))
}

impl Error {
    /// An [`Error::InvalidArgument`]: `argument: problem`.
    pub fn invalid(argument: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::InvalidArgument { argument: argument.into(), problem: problem.into() }
    }

    /// The error with argument `to` in place of `from`, for a caller whose argument has another name. Texts begin with
    /// the name of the argument, if they are about one.
    pub fn renamed(self, from: &str, to: &str) -> Self {
        let text = |text: String| match text.strip_prefix(from).and_then(|rest| rest.strip_prefix(": ")) {
            Some(rest) => format!("{to}: {rest}"),
            None => text,
        };
        match self {
            Self::InvalidArgument { argument, problem } if argument == from => Self::invalid(to, problem),
            Self::InvalidHandle { argument, problem } if argument == from => {
                Self::InvalidHandle { argument: to.to_owned(), problem }
            }
            Self::Busy { argument } if argument == from => Self::Busy { argument: to.to_owned() },
            Self::NotSupported(found) => Self::NotSupported(text(found)),
            Self::Numerical(found) => Self::Numerical(text(found)),
            Self::NoConvergence(found) => Self::NoConvergence(text(found)),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_in_messages_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1e-5, "0.00001"),
            (9.5e-6, "9.5e-6"),
            (-1e-300, "-1e-300"),
            (999_999_999_999_999.0, "999999999999999"),
            (1e15, "1e15"),
            (-1.25e300, "-1.25e300"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(real(value).to_string(), text);
        }
        assert_eq!(rounded(2.0 / 3.0, 4).to_string(), "0.6667");
        assert_eq!(rounded(-7e299, 2).to_string(), "-7.00e299");
        assert_eq!(rounded(1e-300, 2).to_string(), "0.00");
        assert_eq!(rounded(f64::NAN, 2).to_string(), "NaN");
    }

    #[test]
    fn an_argument_is_renamed_in_every_error_that_names_it() {
        let of = |argument: &str| {
            let name = argument.to_owned();
            let text = format!("{argument}: overflows beside a: and graph:");
            [
                Error::invalid(argument, "is 0"),
                Error::InvalidHandle { argument: name.clone(), problem: "is NULL" },
                Error::Busy { argument: name },
                Error::NotSupported(text.clone()),
                Error::Numerical(text.clone()),
                Error::NoConvergence(text),
            ]
        };
        for (found, want) in of("a").into_iter().zip(of("graph")) {
            assert_eq!(found.renamed("a", "graph"), want);
        }
        for other in of("ab").into_iter().chain([Error::Cancelled]) {
            assert_eq!(other.clone().renamed("a", "graph"), other);
        }
    }

    #[test]
    fn messages_name_the_argument_the_value_and_the_limit() {
        let e = Error::invalid("ld", "is 1, less than n = 2");
        assert_eq!(e.to_string(), "ld: is 1, less than n = 2");
        let e = Error::OutOfMemory { what: "start vectors", bytes: 80, limit: Some(64) };
        assert_eq!(
            e.to_string(),
            "start vectors: 80 bytes of host memory cannot be allocated under the context's limit of 64 bytes"
        );
    }
}
