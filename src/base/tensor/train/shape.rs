//! Mode sizes and ranks of a train.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, TryLockError, Weak};

use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::product;

/// Mode sizes n_0 .. n_{d-1} and ranks r_0 .. r_d of a train, with r_0 = r_d. Every size is at least 1. Neither a core
/// nor all cores together have more than `isize::MAX` bytes in the widest type.
///
/// Trains of one shape share its memory: a batch compares the shapes of thousands of trains and then reads the sizes of
/// one.
#[derive(Debug, Clone)]
pub struct Shape(Arc<Sizes>);

#[derive(Debug, PartialEq, Eq)]
struct Sizes {
    modes: Vec<usize>,
    ranks: Vec<usize>,
    /// First element of each core if they are contiguous, and the end of the last one.
    offsets: Vec<usize>,
}

/// Number of recent shapes that are searched for an equal one.
const LATELY: usize = 8;
/// Weak references to the most recent shapes.
static MADE: Mutex<VecDeque<Weak<Sizes>>> = Mutex::new(VecDeque::new());

impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || *self.0 == *other.0
    }
}

impl Eq for Shape {}

impl Shape {
    /// A checked shape. `argument` is the train's name in messages.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the first core that is wrong; [`Error::OutOfMemory`].
    pub fn new(argument: &str, modes: &[usize], ranks: &[usize]) -> Result<Self> {
        let d = modes.len();
        if d == 0 {
            return Err(Error::invalid(argument, "has no cores, at least 1 is needed"));
        }
        if ranks.len() != d + 1 {
            return Err(Error::invalid(
                argument,
                format!("has {} ranks, {} are needed for d = {d}", ranks.len(), d + 1),
            ));
        }
        if let Some(k) = modes.iter().position(|&n| n == 0) {
            return Err(Error::invalid(argument, format!("core {k} has mode size 0, at least 1 is needed")));
        }
        if let Some(k) = ranks.iter().position(|&r| r == 0) {
            return Err(Error::invalid(argument, format!("bond {k} has the rank 0, at least 1 is needed")));
        }
        if ranks[0] != ranks[d] {
            let problem = format!("the first rank is {} and the last {}; they must be equal", ranks[0], ranks[d]);
            return Err(Error::invalid(argument, problem));
        }
        let what = "shape of a tensor train";
        let mut offsets = alloc::with_capacity(what, d + 1)?;
        let mut end = 0usize;
        offsets.push(end);
        for k in 0..d {
            end = product(argument, ranks[k], modes[k])
                .and_then(|left| product(argument, left, ranks[k + 1]))
                .ok()
                .and_then(|count| end.checked_add(count))
                .filter(|&end| end <= isize::MAX as usize / DType::CF64.size())
                .ok_or_else(|| {
                    let (r, n, s) = (ranks[k], modes[k], ranks[k + 1]);
                    Error::invalid(
                        argument,
                        format!("core {k} of {r} x {n} x {s} makes the train larger than 2^63 bytes"),
                    )
                })?;
            offsets.push(end);
        }
        Ok(Self::shared(Sizes { modes: alloc::copied(what, modes)?, ranks: alloc::copied(what, ranks)?, offsets }))
    }

    /// A recent shape of the same sizes if there is one, otherwise a new one.
    fn shared(sizes: Sizes) -> Self {
        let mut made = match MADE.try_lock() {
            Ok(made) => made,
            Err(TryLockError::Poisoned(made)) => made.into_inner(),
            // Do not wait: sharing only saves time.
            Err(TryLockError::WouldBlock) => return Self(Arc::new(sizes)),
        };
        if let Some(same) = made.iter().filter_map(Weak::upgrade).find(|s| **s == sizes) {
            return Self(same);
        }
        let sizes = Arc::new(sizes);
        made.truncate(LATELY - 1);
        made.push_front(Arc::downgrade(&sizes));
        Self(sizes)
    }

    /// Number of cores d, at least 1.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.modes.len()
    }

    /// Always false: a train has at least one core.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.modes.is_empty()
    }

    /// Mode sizes n_k, d of them.
    #[inline]
    pub fn modes(&self) -> &[usize] {
        &self.0.modes
    }

    /// Ranks r_k, d + 1 of them; the first and the last are equal for a ring.
    #[inline]
    pub fn ranks(&self) -> &[usize] {
        &self.0.ranks
    }

    /// Shape of core k: r_k, n_k, r_{k+1}.
    #[inline]
    pub fn core(&self, k: usize) -> [usize; 3] {
        [self.0.ranks[k], self.0.modes[k], self.0.ranks[k + 1]]
    }

    /// Elements of core k: the product of its shape.
    #[inline]
    pub fn core_len(&self, k: usize) -> usize {
        self.0.offsets[k + 1] - self.0.offsets[k]
    }

    /// First element of core k if all cores are contiguous; for k = d the end of the last one.
    #[inline]
    pub fn offset(&self, k: usize) -> usize {
        self.0.offsets[k]
    }

    /// Elements of all cores together.
    #[inline]
    pub fn elements(&self) -> usize {
        self.0.offsets[self.len()]
    }

    /// Whether the trace runs over more than one value.
    #[inline]
    pub fn is_cyclic(&self) -> bool {
        self.0.ranks[0] > 1
    }

    /// The largest of the d + 1 ranks.
    pub fn max_rank(&self) -> usize {
        self.0.ranks.iter().copied().max().unwrap_or(1)
    }

    /// Refuses a train whose mode sizes differ from `other`'s.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` and the first such core.
    pub fn expect_modes(&self, argument: &str, other: &[usize], other_argument: &str) -> Result<()> {
        if self.len() != other.len() {
            let problem = format!("has {} cores, {other_argument} has {}", self.len(), other.len());
            return Err(Error::invalid(argument, problem));
        }
        match (0..self.len()).find(|&k| self.0.modes[k] != other[k]) {
            None => Ok(()),
            Some(k) => {
                let (here, there) = (self.0.modes[k], other[k]);
                Err(Error::invalid(
                    argument,
                    format!("core {k} has mode size {here}, that of {other_argument} is {there}"),
                ))
            }
        }
    }
}
