//! Slots: the values of an operator's bonds that are computed.
//!
//! An environment has one matrix for each value w of the operator's bond. If the operator is a ring, the value p of the
//! cut bond is carried through all sites, and a slot is a pair (w, p). Slots that are on no path of nonzero blocks from
//! (p, p) to (p, p) are left out: a ring with couplings of nearest neighbours has 8 of the 20 pairs of its bonds.

use crate::alloc;
use crate::error::Result;
use crate::tensor::train::Sparsity;

/// The slots at each of the d + 1 bonds, counted from the cut.
#[derive(Debug)]
pub struct Slots {
    /// Pairs (p, w), sorted at each bond.
    pairs: Vec<(u32, u32)>,
    /// Index of the first pair of each bond; one more entry at the end.
    offsets: Vec<usize>,
    /// Whether each bond has one more slot at its end, for the identity.
    identity: bool,
}

const WHAT: &str = "slots of an operator";

impl Slots {
    /// Slots without an operator: at each bond only that of the identity.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn identity(d: usize) -> Result<Self> {
        let offsets = alloc::filled(WHAT, d + 2, 0)?;
        Ok(Self { pairs: Vec::new(), offsets, identity: true })
    }

    /// All pairs of a value w of each bond with a value p at the cut, w fastest.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn all(ranks: &[usize]) -> Result<Self> {
        let mut slots =
            Self { pairs: Vec::new(), offsets: alloc::with_capacity(WHAT, ranks.len() + 1)?, identity: false };
        for &rank in ranks {
            slots.offsets.push(slots.pairs.len());
            for p in 0..ranks[0] {
                for w in 0..rank {
                    // Ranks are below 2^32: `Sparsity` has checked that.
                    alloc::push(WHAT, &mut slots.pairs, (p as u32, w as u32))?;
                }
            }
        }
        slots.offsets.push(slots.pairs.len());
        Ok(slots)
    }

    /// The pairs on closed paths from (p, p) to (p, p), for `count` values p from `first` on. With `identity`, each
    /// bond has one more slot. The matrix of d cores is cut at bond `cut`.
    ///
    /// # Errors
    /// [`crate::error::Error::OutOfMemory`].
    pub fn on_closed_paths(
        blocks: &Sparsity,
        d: usize,
        cut: usize,
        first: usize,
        count: usize,
        identity: bool,
    ) -> Result<Self> {
        let boundary = |list: &mut Vec<(u32, u32)>| -> Result<()> {
            (first..first + count).try_for_each(|p| alloc::push(WHAT, list, (p as u32, p as u32)))
        };
        // The pairs that a path from the left end reaches.
        let mut reached = Self { pairs: Vec::new(), offsets: alloc::with_capacity(WHAT, d + 2)?, identity };
        reached.offsets.push(0);
        boundary(&mut reached.pairs)?;
        for t in 0..d {
            let (from, to) = (reached.offsets[t], reached.pairs.len());
            reached.offsets.push(to);
            for at in from..to {
                let (p, w) = reached.pairs[at];
                for block in blocks.from_left((cut + t) % d, w as usize) {
                    alloc::push(WHAT, &mut reached.pairs, (p, block.right))?;
                }
            }
            sort_from(&mut reached.pairs, to);
        }
        reached.offsets.push(reached.pairs.len());
        // Of these, the pairs from which a path leads to the right end.
        let mut kept = alloc::filled(WHAT, reached.pairs.len(), false)?;
        let bond = |t: usize| reached.offsets[t]..reached.offsets[t + 1];
        kept[bond(d)].iter_mut().zip(&reached.pairs[bond(d)]).for_each(|(kept, (p, w))| *kept = p == w);
        for t in (0..d).rev() {
            let (before, after) = kept.split_at_mut(reached.offsets[t + 1]);
            for (kept, &(p, w)) in before[reached.offsets[t]..].iter_mut().zip(&reached.pairs[bond(t)]) {
                let mut onward = blocks.from_left((cut + t) % d, w as usize).iter();
                *kept = onward.any(|b| reached.find(t + 1, (p, b.right)).is_some_and(|q| after[q]));
            }
        }
        let mut on_paths = Self { pairs: Vec::new(), offsets: alloc::with_capacity(WHAT, d + 2)?, identity };
        for t in 0..=d {
            on_paths.offsets.push(on_paths.pairs.len());
            for (&pair, _) in reached.pairs[bond(t)].iter().zip(&kept[bond(t)]).filter(|(_, kept)| **kept) {
                alloc::push(WHAT, &mut on_paths.pairs, pair)?;
            }
        }
        on_paths.offsets.push(on_paths.pairs.len());
        Ok(on_paths)
    }

    /// Number of slots at bond t, with that of the identity.
    pub fn count(&self, t: usize) -> usize {
        self.operator(t).len() + usize::from(self.identity)
    }

    /// The operator's slots at bond t as pairs (p, w). The identity's slot comes after them.
    pub fn operator(&self, t: usize) -> &[(u32, u32)] {
        &self.pairs[self.offsets[t]..self.offsets[t + 1]]
    }

    /// Number of bonds, d + 1.
    pub fn bonds(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is a slot of the identity.
    pub fn has_identity(&self) -> bool {
        self.identity
    }

    /// Index of (p, w) among the operator's slots at bond t.
    pub fn find(&self, t: usize, pair: (u32, u32)) -> Option<usize> {
        self.operator(t).binary_search(&pair).ok()
    }

    /// Whether slot q has ones in the environment of the cut, at the first or the last bond. It has if w = p.
    pub fn starts(&self, t: usize, q: usize) -> bool {
        self.operator(t).get(q).is_none_or(|(p, w)| p == w)
    }
}

/// Sorts the pairs from `first` on and drops duplicates.
fn sort_from(pairs: &mut Vec<(u32, u32)>, first: usize) {
    pairs[first..].sort_unstable();
    let mut end = first;
    for at in first..pairs.len() {
        if end == first || pairs[end - 1] != pairs[at] {
            pairs[end] = pairs[at];
            end += 1;
        }
    }
    pairs.truncate(end);
}
