//! Finds the entries of the cores that contribute to some entry of the tensor.
//!
//! An entry contributes if a path of nonzero entries through it connects both ends of the train. All other entries are
//! only multiplied by zeros, so their size does not matter. In a ring every path must close. It may take any number of
//! passes, because a contraction may pass through the ring several times.

use super::norms::NONE;
use super::powers::WHAT;
use crate::alloc;
use crate::error::Result;
use crate::tensor::train::Shape;

const BITS: usize = u64::BITS as usize;

/// One set of values of the boundary bond for each value of another bond, as bits. The boundary bond closes the train.
struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn new(values: usize, words: usize) -> Result<Self> {
        Ok(Self { words, bits: alloc::filled(WHAT, values * words, 0u64)? })
    }

    /// The sets at the boundary bond itself: the set of value p is {p}.
    fn own(values: usize, words: usize) -> Result<Self> {
        let mut sets = Self::new(values, words)?;
        (0..values).for_each(|p| sets.bits[p * words + p / BITS] |= 1 << (p % BITS));
        Ok(sets)
    }

    fn of(&self, value: usize) -> &[u64] {
        &self.bits[value * self.words..][..self.words]
    }

    fn has(&self, value: usize, other: usize) -> bool {
        self.of(value)[other / BITS] >> (other % BITS) & 1 == 1
    }

    fn join(&mut self, value: usize, other: &[u64]) {
        self.bits[value * self.words..][..self.words].iter_mut().zip(other).for_each(|(to, from)| *to |= from);
    }

    fn meet(&self, value: usize, other: &[u64]) -> bool {
        self.of(value).iter().zip(other).any(|(a, b)| a & b != 0)
    }
}

/// For each value of each bond, the set of boundary values that paths to the right lead to. `last` holds the sets of
/// the last bond.
fn behind(sizes: &[Vec<f64>], shape: &Shape, last: Sets) -> Result<Vec<Sets>> {
    let (d, words) = (shape.len(), last.words);
    let mut all = alloc::with_capacity(WHAT, d + 1)?;
    all.push(last);
    for k in (0..d).rev() {
        let [r, _, _] = shape.core(k);
        let mut sets = Sets::new(r, words)?;
        for (b, column) in sizes[k].chunks_exact(r).enumerate() {
            let from = all[d - 1 - k].of(b);
            column.iter().enumerate().filter(|(_, size)| **size != NONE).for_each(|(a, _)| sets.join(a, from));
        }
        all.push(sets);
    }
    all.reverse();
    Ok(all)
}

/// Sets the size of each entry that does not contribute to [`NONE`]. Returns whether there was one. Sizes are
/// logarithms of norms over the mode index of each core, left bond fastest.
pub(super) fn prune(sizes: &mut [Vec<f64>], shape: &Shape) -> Result<bool> {
    if !sizes.iter().any(|core| core.contains(&NONE)) {
        return Ok(false);
    }
    let p = shape.ranks()[0];
    let words = p.div_ceil(BITS);
    let mut ways = behind(sizes, shape, Sets::own(p, words)?)?;
    if shape.is_cyclic() {
        // Transitive closure by Warshall's algorithm: paths of any number of passes through the ring.
        let mut turns = ways.swap_remove(0);
        for middle in 0..p {
            let on = alloc::copied(WHAT, turns.of(middle))?;
            for from in 0..p {
                if turns.has(from, middle) {
                    turns.join(from, &on);
                }
            }
        }
        (0..p).for_each(|p| turns.bits[p * words + p / BITS] |= 1 << (p % BITS));
        ways = behind(sizes, shape, turns)?;
    }
    let mut now = Sets::own(p, words)?;
    let mut is_any = false;
    for (k, core) in sizes.iter_mut().enumerate() {
        let [r, _, s] = shape.core(k);
        let mut next = Sets::new(s, words)?;
        for (b, column) in core.chunks_exact_mut(r).enumerate() {
            for (a, size) in column.iter_mut().enumerate().filter(|(_, size)| **size != NONE) {
                if now.meet(a, ways[k + 1].of(b)) {
                    next.join(b, now.of(a));
                } else {
                    (*size, is_any) = (NONE, true);
                }
            }
        }
        now = next;
    }
    Ok(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pattern of nonzero entries after [`prune`], as 0 and 1, and the value that it returns.
    fn pruned(ranks: &[usize], cores: &[&[u8]]) -> (bool, Vec<Vec<u8>>) {
        let shape = Shape::new("x", &vec![1; cores.len()], ranks).unwrap();
        let mut sizes: Vec<Vec<f64>> =
            cores.iter().map(|core| core.iter().map(|x| if *x == 0 { NONE } else { 3.0 }).collect()).collect();
        let any = prune(&mut sizes, &shape).unwrap();
        (any, sizes.iter().map(|core| core.iter().map(|x| u8::from(*x != NONE)).collect()).collect())
    }

    #[test]
    fn what_is_not_reached_or_leads_to_zeros_is_dead() {
        // Value 1 of the first bond is not reached. Value 1 of the second bond leads only to zeros. Value 2 of both
        // bonds is connected to neither end.
        let (any, left) = pruned(&[1, 3, 3, 1], &[&[1, 0, 0], &[1, 1, 0, 1, 0, 0, 0, 0, 1], &[1, 0, 0]]);
        assert!(any);
        assert_eq!(left, [vec![1, 0, 0], vec![1, 0, 0, 0, 0, 0, 0, 0, 0], vec![1, 0, 0]]);
        // These zeros disconnect no value.
        let (any, left) = pruned(&[1, 2, 2, 1], &[&[1, 1], &[1, 0, 0, 1], &[1, 1]]);
        assert!(!any);
        assert_eq!(left, [vec![1, 1], vec![1, 0, 0, 1], vec![1, 1]]);
        // A train of zeros.
        let (any, left) = pruned(&[1, 2, 1], &[&[1, 1], &[0, 0]]);
        assert!(any);
        assert_eq!(left, [[0, 0], [0, 0]]);
    }

    #[test]
    fn ways_round_a_ring_close_after_any_number_of_turns() {
        // The second value comes back after two passes.
        let (any, _) = pruned(&[2, 2, 2], &[&[0, 1, 1, 0], &[1, 0, 0, 1]]);
        assert!(!any);
        // A path leads from one closed path to another, but not back.
        let (any, left) = pruned(&[2, 2, 2], &[&[1, 0, 1, 1], &[1, 0, 0, 1]]);
        assert!(any);
        assert_eq!(left, [[1, 0, 0, 1], [1, 0, 0, 1]]);
        // More values than a word has bits: one cycle through all of them, and an edge between two of them that
        // contributes.
        let n = 70;
        let mut core = vec![0u8; n * n];
        (0..n).for_each(|a| core[a + n * ((a + 1) % n)] = 1);
        core[5 + n * 68] = 1;
        let (any, left) = pruned(&[n, n], &[&core]);
        assert!(!any);
        assert_eq!(left, [core.clone()]);
        // Without its last edge the cycle is open. A loop at one value is the only closed path.
        core[n - 1] = 0;
        core[3 + n * 3] = 1;
        let (any, left) = pruned(&[n, n], &[&core]);
        assert!(any);
        assert_eq!(left[0].iter().map(|x| usize::from(*x)).sum::<usize>(), 1);
    }
}
