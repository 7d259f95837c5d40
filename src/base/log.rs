//! Log messages to the caller's function; off by default.

use std::sync::{OnceLock, PoisonError, RwLock, TryLockError};

use crate::error::{Error, Result};
use crate::message::Message;

/// Severity of a message. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Level {
    /// No message is logged.
    Off = 0,
    /// The failure that ends a call.
    Error = 1,
    /// A deviation from the request that does not end the call.
    Warn = 2,
    /// A choice, with its reason.
    Info = 3,
    /// Details for developers; no message has this level yet.
    Debug = 4,
}

impl Level {
    /// The level whose number is `code`.
    pub fn from_code(code: i32) -> Option<Self> {
        [Self::Off, Self::Error, Self::Warn, Self::Info, Self::Debug].into_iter().find(|l| *l as i32 == code)
    }
}

/// A sink for messages. May be called from any thread.
pub type Sink = Box<dyn Fn(Level, &str) + Send + Sync>;

/// Level and sink of a context, replaceable while calls run.
pub struct Log {
    inner: RwLock<(Level, Option<Sink>)>,
}

impl Log {
    /// A log that passes messages up to `level` to `sink`. With no sink, the environment variable `PURLIN_LOG`
    /// (a number, or `error`, `warn`, `info`, `debug`) sends them to standard error.
    pub fn new(level: Level, sink: Option<Sink>) -> Self {
        Self { inner: RwLock::new((level, sink)) }
    }

    /// Replaces level and sink. After success the former sink is not running and is never called again.
    ///
    /// # Errors
    /// [`Error::Busy`] while a message is being logged. This includes calls from within the sink, which would otherwise wait
    /// for themselves.
    pub fn set(&self, level: Level, sink: Option<Sink>) -> Result<()> {
        let mut inner = match self.inner.try_write() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(e)) => e.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Error::Busy { argument: "context".into() }),
        };
        *inner = (level, sink);
        Ok(())
    }

    /// Logs the text that `message` returns. `message` is only called if there is a sink for `level`.
    pub fn log(&self, level: Level, message: impl FnOnce() -> String) {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        match &inner.1 {
            Some(sink) if level <= inner.0 => sink(level, Message::of(&message()).as_str()),
            None if level <= environment_level() => write_stderr(level, Message::of(&message()).as_str()),
            _ => {}
        }
    }
}

/// Reads the level of the environment, which is read once a process.
pub fn prepare() {
    environment_level();
}

fn environment_level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| match std::env::var("PURLIN_LOG").unwrap_or_default().to_ascii_lowercase().as_str() {
        "error" | "1" => Level::Error,
        "warn" | "2" => Level::Warn,
        "info" | "3" => Level::Info,
        "debug" | "4" => Level::Debug,
        _ => Level::Off,
    })
}

fn write_stderr(level: Level, text: &str) {
    use std::io::Write;
    // Ignores errors, for example of a closed standard error.
    let _ = writeln!(std::io::stderr().lock(), "purlin {level:?}: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn messages_reach_the_sink_up_to_its_level_in_one_line() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let s = Arc::clone(&seen);
        let log = Log::new(Level::Info, Some(Box::new(move |l, m| s.lock().unwrap().push((l, m.to_owned())))));
        log.log(Level::Warn, || "a\nb".into());
        log.log(Level::Debug, || unreachable!("nobody listens"));
        assert_eq!(*seen.lock().unwrap(), [(Level::Warn, "a b".to_owned())]);
        log.log(Level::Warn, || "x".repeat(300_000));
        let seen = seen.lock().unwrap();
        assert!(seen[1].1.len() == crate::message::LIMIT && seen[1].1.ends_with("xx..."));
    }

    #[test]
    fn a_sink_that_replaces_itself_gets_an_error_and_not_a_deadlock() {
        let log = Arc::new(Log::new(Level::Off, None));
        let (inner, outcome) = (Arc::clone(&log), Arc::new(Mutex::new(None)));
        let seen = Arc::clone(&outcome);
        let sink: Sink = Box::new(move |_, _| *seen.lock().unwrap() = Some(inner.set(Level::Off, None)));
        log.set(Level::Info, Some(sink)).unwrap();
        log.log(Level::Info, || "x".into());
        assert_eq!(*outcome.lock().unwrap(), Some(Err(Error::Busy { argument: "context".into() })));
        // The sink holds the log: break the circle.
        log.set(Level::Off, None).unwrap();
    }
}
