//! A sort of vertices that a cancellation ends.

use std::cmp::Ordering;

use crate::error::Result;
use crate::progress::CancelWatch;

/// Lists of at most this length are sorted without a check, in some milliseconds.
const SHORT: usize = 1 << 16;

/// Sorts distinct elements in place by a total order. The result is that of `sort_unstable_by`.
///
/// # Errors
/// [`Error::Cancelled`](crate::error::Error::Cancelled), which leaves the elements in another order.
pub(super) fn sort_watched<T: Copy>(
    list: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Copy,
    cancel: CancelWatch<'_>,
) -> Result<()> {
    sort_to_depth(list, compare, cancel, 2 * list.len().max(1).ilog2())
}

/// Quicksort of long lists. Where `depth` divisions were not enough, the standard library sorts the remaining parts.
fn sort_to_depth<T: Copy>(
    mut list: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Copy,
    cancel: CancelWatch<'_>,
    mut depth: u32,
) -> Result<()> {
    cancel.check()?;
    while list.len() > SHORT && depth > 0 {
        depth -= 1;
        let (pivot, mut end) = (pivot_of(list, compare), 0);
        for block in cancel.blocks(0..list.len()) {
            for k in block? {
                if compare(&list[k], &pivot) == Ordering::Less {
                    list.swap(k, end);
                    end += 1;
                }
            }
        }
        // The shorter part is sorted by the call, so that calls are at most log2 of the length deep.
        let (left, right) = list.split_at_mut(end);
        let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
        sort_to_depth(short, compare, cancel, depth)?;
        list = long;
    }
    list.sort_unstable_by(compare);
    Ok(())
}

/// The median of nine elements at equal distances.
fn pivot_of<T: Copy>(list: &[T], compare: impl Fn(&T, &T) -> Ordering) -> T {
    let mut picked: [T; 9] = std::array::from_fn(|k| list[(2 * k + 1) * (list.len() / 18)]);
    picked.sort_unstable_by(compare);
    picked[4]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cancel::is_cancelled;
    use crate::testing::sparse::cpu;

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let n = 4 * SHORT + 5;
        type Key = fn(usize) -> usize;
        let lists: [(&str, Key); 4] = [
            ("ascending", |k| k),
            ("descending", |k| usize::MAX - k),
            ("in disorder", |k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            ("nearly equal", |k| usize::from(k % 1000 == 0)),
        ];
        for (name, key) in lists {
            let compare = |a: &usize, b: &usize| key(*a).cmp(&key(*b)).then(a.cmp(b));
            let (mut list, mut right): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..n).collect());
            sort_watched(&mut list, compare, CancelWatch::never()).unwrap();
            right.sort_unstable_by(compare);
            assert!(list == right, "{name}");
            // Without a division left, and of no elements.
            let mut list: Vec<usize> = (0..n).collect();
            sort_to_depth(&mut list, compare, CancelWatch::never(), 0).unwrap();
            assert!(list == right, "{name}");
            sort_watched(&mut [], compare, CancelWatch::never()).unwrap();
        }
    }

    #[test]
    fn a_sort_ends_when_it_is_cancelled() {
        let c = cpu(1);
        let mixed: Vec<usize> = (0..4 * SHORT).map(|k| k.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        is_cancelled(&|| c.cancel(), "sort", || sort_watched(&mut mixed.clone(), usize::cmp, c.cancel_watch()));
    }
}
