//! Boundary pairs of a ring: the values of the two bonds at the cut.

use std::ops::Range;

/// The boundary pairs that are summed, in order. Pair q is (p_x, p_y) with p_x fastest. If `halved`, only pairs with
/// p_x <= p_y are summed, and each term off the diagonal counts twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairs {
    /// Rank of x at the cut.
    pub r: usize,
    /// Rank of y at the cut.
    pub s: usize,
    /// Whether only p_x <= p_y are summed.
    pub halved: bool,
}

impl Pairs {
    /// Number of pairs that are summed.
    pub fn len(self) -> usize {
        if self.halved { triangle(self.r) } else { self.r.saturating_mul(self.s) }
    }

    /// Always false: ranks are at least 1.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// (p_x, p_y) of pair q.
    pub fn get(self, q: usize) -> (usize, usize) {
        if !self.halved {
            return (q % self.r, q / self.r);
        }
        // The largest p_y with p_y (p_y + 1) / 2 <= q. The computed root may be off by one for large q.
        let mut p = (((8.0 * q as f64 + 1.0).sqrt() - 1.0) / 2.0) as usize;
        while triangle(p) > q {
            p -= 1;
        }
        while triangle(p + 1) <= q {
            p += 1;
        }
        (q - triangle(p), p)
    }

    /// The weight of a pair's term: 2 off the diagonal of a halved sum, which uses only the real part; otherwise 1.
    pub fn weight(self, pair: (usize, usize)) -> f64 {
        if self.halved && pair.0 != pair.1 { 2.0 } else { 1.0 }
    }

    /// Number of blocks of `block` pairs; the last block may have fewer.
    pub fn blocks(self, block: usize) -> usize {
        self.len().div_ceil(block.max(1))
    }

    /// The pairs of a block.
    pub fn block(self, index: usize, block: usize) -> Range<usize> {
        index * block..((index + 1) * block).min(self.len())
    }
}

fn triangle(p: usize) -> usize {
    if p.is_multiple_of(2) { (p / 2).saturating_mul(p + 1) } else { p.saturating_mul(p.div_ceil(2)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_met_once_in_order() {
        let all = Pairs { r: 3, s: 2, halved: false };
        let seen: Vec<_> = (0..all.len()).map(|q| all.get(q)).collect();
        assert_eq!(seen, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
        let half = Pairs { r: 4, s: 4, halved: true };
        let seen: Vec<_> = (0..half.len()).map(|q| half.get(q)).collect();
        let wanted: Vec<_> = (0..4).flat_map(|y| (0..=y).map(move |x| (x, y))).collect();
        assert_eq!(seen, wanted);
        assert_eq!(wanted.iter().map(|&p| half.weight(p)).sum::<f64>(), 16.0);
    }

    #[test]
    fn large_halves_are_counted_exactly() {
        let p = 3_000_000_000;
        let half = Pairs { r: p, s: p, halved: true };
        assert_eq!(half.len(), 4_500_000_001_500_000_000);
        assert_eq!(half.get(half.len() - 1), (p - 1, p - 1));
        assert_eq!(half.get(triangle(p - 1) - 1), (p - 2, p - 2));
    }

    #[test]
    fn blocks_cover_the_pairs() {
        let all = Pairs { r: 3, s: 3, halved: false };
        for block in 1..=10 {
            let mut next = 0;
            for i in 0..all.blocks(block) {
                let range = all.block(i, block);
                assert_eq!(range.start, next);
                assert!(!range.is_empty() && range.len() <= block);
                next = range.end;
            }
            assert_eq!(next, 9);
        }
    }
}
