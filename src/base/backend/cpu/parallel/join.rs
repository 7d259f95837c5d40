//! Two functions at the same time, and work that leaves its result.

use super::super::flags::LostDigits;

/// Runs both functions, possibly at the same time.
pub fn join<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let (mut a, mut b) = (Work::new(a), Work::new(b));
    both(&mut || a.run(), &mut || b.run());
    (a.result(), b.result())
}

/// Work that is called through `dyn FnMut` and leaves its result here.
pub(in crate::backend::cpu) enum Work<F, R> {
    Waiting(F),
    Running,
    Done(R),
}

impl<R, F: FnOnce() -> R> Work<F, R> {
    pub(in crate::backend::cpu) fn new(work: F) -> Self {
        Self::Waiting(work)
    }

    pub(in crate::backend::cpu) fn run(&mut self) {
        if let Self::Waiting(work) = std::mem::replace(self, Self::Running) {
            *self = Self::Done(work());
        }
    }

    pub(in crate::backend::cpu) fn result(self) -> R {
        match self {
            Self::Done(result) => result,
            _ => unreachable!("who called it has returned, not unwound"),
        }
    }
}

fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    let lost = LostDigits::default();
    rayon::join(|| lost.part(a), || lost.part(b));
    lost.hand_on();
}
