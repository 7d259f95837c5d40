//! Relations of Morse theory that a complete set of isolated pairs fulfils, for every order and dimension.

use crate::tensor::Symmetric;

/// Whether a complete set can have `counts[k]` pairs, of one representative each, whose projected Hessians have k negative
/// eigenvalues, for k = 0 .. n-1. A set that cannot is incomplete; one that can may still lack pairs.
///
/// The strong Morse inequalities over the field of two elements bound the alternating sums of the counts from below, and
/// give the last one, which is the Euler characteristic. The form of an even order is a function on the projective space,
/// whose Betti numbers are 1 each. That of an odd order is a function on the sphere, where a pair is two critical points,
/// (lambda, x) with k and (-lambda, -x) with n-1-k negative eigenvalues; Betti numbers are 1 for k = 0 and for k = n-1.
/// For odd order the number of pairs is odd, too: where the entries change, pairs appear and vanish in twos, and
/// x1 |x|^(m-1) has one pair.
pub(super) fn is_possible(shape: Symmetric, counts: &[usize]) -> bool {
    let last = shape.dimension - 1;
    let is_even = shape.order.is_multiple_of(2);
    let mut rest = 0;
    for (k, count) in counts.iter().enumerate() {
        let (points, betti) = match is_even {
            true => (*count, 1),
            false => (count + counts[last - k], usize::from(k == 0) + usize::from(k == last)),
        };
        // The alternating sum up to k of counts less Betti numbers.
        match points.checked_sub(betti + rest) {
            Some(sum) => rest = sum,
            None => return false,
        }
    }
    rest == 0 && (is_even || counts.iter().sum::<usize>() % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::is_possible;
    use crate::tensor::Symmetric;

    /// Pairs of the sum of w_i q_i^m with orthogonal q_i and positive w_i, by k (Robeva, SIAM J. Matrix Anal. Appl. 37,
    /// 2016): one for each set of s of the q_i, and for even order each choice of signs, with k = n - s.
    fn orthogonal(order: usize, n: usize) -> Vec<usize> {
        let mut choose = 1;
        let mut counts = vec![0; n];
        for s in 1..=n {
            choose = choose * (n + 1 - s) / s;
            counts[n - s] = choose * if order.is_multiple_of(2) { 1 << (s - 1) } else { 1 };
        }
        counts
    }

    #[test]
    fn complete_sets_are_possible_and_sets_without_one_pair_are_not() {
        for order in 3..7 {
            for dimension in 1..8 {
                let shape = Symmetric { order, dimension };
                let whole = orthogonal(order, dimension);
                assert!(is_possible(shape, &whole), "{shape:?}: {whole:?}");
                for k in (0..dimension).filter(|k| whole[*k] > 0) {
                    let mut counts = whole.clone();
                    counts[k] -= 1;
                    assert!(!is_possible(shape, &counts), "{shape:?}: {counts:?}");
                }
                assert!(!is_possible(shape, &vec![0; dimension]), "{shape:?}");
            }
        }
    }

    /// These sets have the expected sum, or none is known for their shape.
    #[test]
    fn bounds_of_each_index_find_what_the_sum_does_not() {
        let possible = |order, counts: &[usize]| is_possible(Symmetric { order, dimension: counts.len() }, counts);
        // n = 3, even: two saddles are needed beside two maxima and a minimum; here a maximum has to be one saddle's.
        assert!(possible(4, &[1, 2, 2]) && possible(4, &[2, 2, 1]));
        assert!(!possible(4, &[0, 1, 2]) && !possible(4, &[0, 0, 1]) && !possible(4, &[2, 1, 0]));
        // n = 4, even: as many pairs of even as of odd k, but each k has one.
        assert!(possible(4, &[1, 1, 1, 1]) && possible(4, &[2, 3, 3, 2]));
        assert!(!possible(4, &[2, 0, 0, 2]) && !possible(4, &[1, 0, 1, 2]) && !possible(4, &[3, 1, 1, 3]));
        // n = 4, odd: 15 pairs, an odd number, and at most one extremum more than saddles.
        assert!(possible(3, &[1, 4, 6, 4]) && possible(3, &[0, 0, 0, 1]) && possible(3, &[0, 1, 0, 2]));
        assert!(!possible(3, &[1, 4, 5, 4]) && !possible(3, &[0, 0, 0, 3]) && !possible(3, &[0, 0, 1, 0]));
        // n = 2, odd: maxima and minima of one representative each.
        assert!(possible(3, &[0, 1]) && possible(5, &[1, 2]) && !possible(3, &[0, 2]));
    }
}
