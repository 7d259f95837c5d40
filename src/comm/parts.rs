//! Fixed parts of the rows of an array, the members that own them, and the tree of sums over parts.
//!
//! The cut depends on the rows and on the number of parts alone, never on the number of members. Sums over parts are
//! added in one binary tree over the numbers of the parts: S(0, v) is the sum of part v, and S(k, j) is S(k - 1, 2 j) +
//! S(k - 1, 2 j + 1), the lower term first. Members add the subtrees that lie within the parts they own, and the rest of the
//! tree joins these. Every number of members therefore gives the same bits.

use std::ops::Range;

use crate::alloc;
use crate::error::Result;

/// Parts of an array unless more members than these share it.
pub const DEFAULT_PARTS: usize = 64;

/// Fewest rows of a part, unless the whole array has fewer.
pub const LEAST_ROWS: usize = 8;

/// floor(k total / count), exact for all sizes. `k` is at most `count`, which is not 0.
fn bound(k: usize, total: usize, count: usize) -> usize {
    // At most `total`, since k <= count, so the conversion does not lose digits.
    ((k as u128 * total as u128) / count as u128) as usize
}

/// The number of parts for `members`: [`DEFAULT_PARTS`], or the power of two from `members` on if that is larger.
pub fn default_parts(members: usize) -> usize {
    DEFAULT_PARTS.max(members.next_power_of_two())
}

/// The cut of rows into parts, and the owner of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// V, a power of two, at least 1.
    count: usize,
    rows: usize,
    /// At least 1. May exceed `count`: members then own no part.
    members: usize,
}

impl Parts {
    /// Cuts `rows` into at most `most` parts of at least [`LEAST_ROWS`] rows, owned by `members` (at least 1; 0 counts as
    /// 1). The number of parts is the largest power of two that both allow, and at least 1.
    pub fn new(most: usize, rows: usize, members: usize) -> Self {
        let limit = most.min(rows / LEAST_ROWS).max(1);
        Self { count: 1 << limit.ilog2(), rows, members: members.max(1) }
    }

    /// The number of parts, V: a power of two.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of members among which the parts are distributed.
    pub fn members(&self) -> usize {
        self.members
    }

    /// The rows of part `part` < [`count`](Self::count). Parts ascend and tile all rows.
    pub fn rows(&self, part: usize) -> Range<usize> {
        bound(part, self.rows, self.count)..bound(part + 1, self.rows, self.count)
    }

    /// The parts that member `member` < [`members`](Self::members) owns, possibly none. Members ascend with their parts.
    pub fn owned(&self, member: usize) -> Range<usize> {
        bound(member, self.count, self.members)..bound(member + 1, self.count, self.members)
    }

    /// The rows of all parts that member `member` owns.
    pub fn owned_rows(&self, member: usize) -> Range<usize> {
        let owned = self.owned(member);
        bound(owned.start, self.rows, self.count)..bound(owned.end, self.rows, self.count)
    }

    /// The member that owns part `part` < [`count`](Self::count): the inverse of [`owned`](Self::owned).
    pub fn owner(&self, part: usize) -> usize {
        // The first member k with floor((k + 1) V / M) > part.
        ((part as u128 + 1) * self.members as u128).div_ceil(self.count as u128) as usize - 1
    }
}

/// A node of the tree: the parts from `index` 2^`level` up to, without it, (`index` + 1) 2^`level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// 0 for a single part.
    pub level: u32,
    /// Position among the nodes of its level, from 0 on.
    pub index: usize,
}

impl Node {
    /// The node of one part.
    pub fn of_part(part: usize) -> Self {
        Self { level: 0, index: part }
    }

    /// The parts below the node.
    pub fn parts(self) -> Range<usize> {
        self.index << self.level..(self.index + 1) << self.level
    }

    /// The node that joins this one and its sibling.
    fn parent(self) -> Self {
        Self { level: self.level + 1, index: self.index / 2 }
    }

    fn is_sibling(self, other: Self) -> bool {
        self.level == other.level && self.index ^ 1 == other.index
    }
}

/// The fewest nodes that together have the parts of `range`, in ascending order. In a tree of V parts they are at most 2
/// log2 V, and at least 1 unless the range is empty.
pub fn cover(range: Range<usize>) -> impl Iterator<Item = Node> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        let level = start.trailing_zeros().min(range.end.saturating_sub(start).checked_ilog2()?);
        let node = Node { level, index: start >> level };
        start += 1 << level;
        Some(node)
    })
}

/// The sums of a part of the tree while parts arrive: the finished subtrees that wait for their siblings.
///
/// `rule` joins the lower and the upper term of a node. It may be an addition, a maximum, or the merge of two
/// decompositions, and need not be commutative.
pub struct Tree<T, F> {
    rule: F,
    /// No two are siblings. In the order of arrival, which is ascending or descending.
    held: Vec<(Node, T)>,
}

impl<T, F: FnMut(Node, T, T) -> Result<T>> Tree<T, F> {
    /// An empty tree over `parts` parts. `name` says in a refusal what the memory was for. Later pushes allocate nothing.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::error::Error::OutOfMemory).
    pub fn new(name: &'static str, parts: usize, rule: F) -> Result<Self> {
        // Those that wait cover a range, and one arrives.
        let most = 2 * parts.max(1).ilog2() as usize + 1;
        Ok(Self { rule, held: alloc::with_capacity(name, most)? })
    }

    /// Adds the value of the next part. Parts arrive in ascending or in descending order, without gaps.
    ///
    /// # Errors
    /// Those of the rule.
    pub fn push_part(&mut self, part: usize, value: T) -> Result<()> {
        self.push(Node::of_part(part), value)
    }

    /// Adds the value of a finished subtree next to those before, and joins all siblings that this completes.
    ///
    /// # Errors
    /// Those of the rule. The values that it took are lost, so the tree is of no further use.
    pub fn push(&mut self, node: Node, value: T) -> Result<()> {
        let (mut node, mut value) = (node, value);
        while let Some((other, held)) = self.held.pop_if(|last| last.0.is_sibling(node)) {
            let (lower, upper) = if other.index < node.index { (held, value) } else { (value, held) };
            node = node.parent();
            value = (self.rule)(node, lower, upper)?;
        }
        self.held.push((node, value));
        Ok(())
    }

    /// The subtrees that were not joined, in ascending order: the [`cover`] of the parts that arrived.
    pub fn into_subtrees(mut self) -> impl Iterator<Item = (Node, T)> {
        if let (Some(first), Some(last)) = (self.held.first(), self.held.last())
            && first.0.parts().start > last.0.parts().start
        {
            self.held.reverse();
        }
        self.held.into_iter()
    }

    /// The value of all parts together, if every part of the tree arrived; `None` while more than one subtree is left.
    pub fn into_sum(mut self) -> Option<T> {
        let sum = self.held.pop().map(|(_, value)| value);
        if self.held.is_empty() { sum } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// The values of all nodes level by level, without a stack.
    fn plain<T: Clone>(parts: &[T], join: impl Fn(&T, &T) -> T) -> T {
        let mut level = parts.to_vec();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| join(&pair[0], &pair[1])).collect();
        }
        level[0].clone()
    }

    /// Numbers of both signs between 2^-30 and 2^30, whose sums depend on the order of the additions.
    fn numbers(count: usize) -> Vec<f64> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..count).map(|_| (next() - 0.5) * (next() * 60.0 - 30.0).exp2()).collect()
    }

    #[test]
    fn every_number_of_members_gives_the_bits_of_a_plain_loop() {
        for count in [1, 2, 4, 8, 16, 32, 64, 128] {
            let values = numbers(count);
            let expected = plain(&values, |a, b| a + b).to_bits();
            for members in 1..=64 {
                let parts = Parts::new(count, count * LEAST_ROWS, members);
                assert_eq!(parts.count(), count);
                let add = |_: Node, a: f64, b: f64| Ok(a + b);
                let mut whole = Tree::new("sums", count, add).unwrap();
                for member in 0..members {
                    let mut own = Tree::new("sums", count, add).unwrap();
                    let owned = parts.owned(member);
                    // Passes alternate their direction.
                    let order: Vec<_> = if member % 2 == 0 { owned.collect() } else { owned.rev().collect() };
                    order.into_iter().for_each(|part| own.push_part(part, values[part]).unwrap());
                    own.into_subtrees().for_each(|(node, value)| whole.push(node, value).unwrap());
                }
                assert_eq!(whole.into_sum().unwrap().to_bits(), expected, "{count} parts, {members} members");
            }
        }
    }

    #[test]
    fn members_end_with_the_cover_of_their_parts() {
        for members in 1..=64 {
            let parts = Parts::new(64, 1 << 20, members);
            for member in 0..members {
                let owned = parts.owned(member);
                let nodes: Vec<_> = cover(owned.clone()).collect();
                let covered: Vec<_> = nodes.iter().flat_map(|node| node.parts()).collect();
                assert!(covered.iter().copied().eq(owned.clone()), "{owned:?}: {nodes:?}");
                assert!(nodes.len() <= 12, "{owned:?}: {nodes:?}");
                for is_ascending in [true, false] {
                    let mut tree = Tree::new("sums", 64, |_, a: u64, b| Ok(a + b)).unwrap();
                    let capacity = tree.held.capacity();
                    for k in 0..owned.len() {
                        let part = if is_ascending { owned.start + k } else { owned.end - 1 - k };
                        tree.push_part(part, 1).unwrap();
                    }
                    assert_eq!(tree.held.capacity(), capacity);
                    let held: Vec<_> = tree.into_subtrees().collect();
                    assert!(held.iter().map(|h| h.0).eq(nodes.iter().copied()), "{owned:?}: {held:?}");
                    assert!(held.iter().all(|(node, sum)| *sum == 1 << node.level), "{held:?}");
                }
            }
        }
        let counts =
            |members| (0..members).map(|k| cover(Parts::new(64, 512, members).owned(k)).count()).collect::<Vec<_>>();
        assert_eq!(counts(3), [3, 5, 3]);
        assert_eq!(counts(64), [1; 64]);
        assert_eq!(cover(5..5).count(), 0);
    }

    #[test]
    fn the_rule_gets_the_node_and_the_lower_term_first() {
        let letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
        for is_ascending in [true, false] {
            let mut nodes = Vec::new();
            let mut tree = Tree::new("texts", 8, |node: Node, a: String, b: String| {
                nodes.push(node);
                Ok(format!("({a}{b})"))
            })
            .unwrap();
            for k in 0..8 {
                let part = if is_ascending { k } else { 7 - k };
                tree.push_part(part, letters[part].to_owned()).unwrap();
            }
            assert_eq!(tree.into_sum().unwrap(), "(((ab)(cd))((ef)(gh)))");
            assert_eq!(nodes.last(), Some(&Node { level: 3, index: 0 }));
            assert_eq!(nodes[0], Node { level: 1, index: if is_ascending { 0 } else { 3 } });
        }
    }

    #[test]
    fn an_error_of_the_rule_ends_the_sum() {
        let refuse = |node: Node, a: i64, b: i64| match node.level {
            2 => Err(Error::Internal("no".to_owned())),
            _ => Ok(a + b),
        };
        let mut tree = Tree::new("sums", 4, refuse).unwrap();
        (0..3).for_each(|part| tree.push_part(part, 1).unwrap());
        assert!(tree.push_part(3, 1).is_err());
    }

    #[test]
    fn a_sum_needs_all_parts() {
        let add = |_: Node, a: i64, b: i64| Ok(a + b);
        assert_eq!(Tree::new("sums", 4, add).unwrap().into_sum(), None);
        let mut tree = Tree::new("sums", 4, add).unwrap();
        (0..3).for_each(|part| tree.push_part(part, 1).unwrap());
        assert_eq!(tree.into_sum(), None);
    }

    #[test]
    fn parts_tile_the_rows_and_have_one_owner_each() {
        for (most, rows, count) in [
            (64, 1000, 64),
            (64, 511, 32),
            (64, 512, 64),
            (64, 0, 1),
            (64, 7, 1),
            (64, 16, 2),
            (1, 1000, 1),
            (65536, usize::MAX, 65536),
            (100, usize::MAX, 64),
        ] {
            for members in [1, 2, 3, 5, 7, 64, 100, 1024] {
                let parts = Parts::new(most, rows, members);
                assert_eq!((parts.count(), parts.members()), (count, members));
                let mut end = 0;
                for part in 0..count {
                    let of = parts.rows(part);
                    assert!(of.start == end && (of.len() >= LEAST_ROWS || count == 1), "{parts:?}, {part}: {of:?}");
                    assert!(parts.owned(parts.owner(part)).contains(&part), "{parts:?}, {part}");
                    end = of.end;
                }
                assert_eq!(end, rows);
                let (mut part, mut row) = (0, 0);
                for member in 0..members {
                    let (owned, rows) = (parts.owned(member), parts.owned_rows(member));
                    assert_eq!((owned.start, rows.start), (part, row));
                    (part, row) = (owned.end, rows.end);
                }
                assert_eq!((part, row), (count, rows));
            }
        }
    }

    #[test]
    fn the_cut_does_not_depend_on_the_members() {
        let cut = |members| (0..64).map(|v| Parts::new(64, 12345, members).rows(v)).collect::<Vec<_>>();
        assert!((2..=64).all(|members| cut(members) == cut(1)));
        assert_eq!([1, 3, 64, 65, 1024].map(default_parts), [64, 64, 64, 128, 1024]);
    }
}
