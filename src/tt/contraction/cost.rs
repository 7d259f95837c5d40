//! Floating-point operations and workspace of contractions, by closed formulas. They use f64, so no shape overflows.

use std::ops::Range;

/// The train whose core is multiplied first at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// T = F X, then F' = cj(Y)^T T.
    X,
    /// T = cj(Y)^T F, then F' = T X.
    Y,
}

/// Mode sizes and ranks of two trains, and the real operations of a multiply-add with a core of each.
#[derive(Debug, Clone, Copy)]
pub struct Sizes<'a> {
    /// Mode sizes n_k, d of them.
    pub modes: &'a [usize],
    /// Ranks of x, d + 1.
    pub r: &'a [usize],
    /// Ranks of y, d + 1.
    pub s: &'a [usize],
    /// Real operations of a multiply-add with a core of x: 2 if all numbers are real, 4 if the environment is complex,
    /// 8 if x is.
    pub x_operations: f64,
    /// Real operations of a multiply-add with a core of y.
    pub y_operations: f64,
}

impl Sizes<'_> {
    /// Number of cores d, at least 1.
    pub fn len(&self) -> usize {
        self.modes.len()
    }

    /// Always false: a train has at least one core.
    pub fn is_empty(&self) -> bool {
        self.modes.is_empty()
    }

    /// n, r, r', s, s' of core k.
    fn core(&self, k: usize) -> [f64; 5] {
        [self.modes[k], self.r[k], self.r[k + 1], self.s[k], self.s[k + 1]].map(|v| v as f64)
    }

    /// Operations of an inner site for one pair, and the cheaper order of its two products.
    pub fn site(&self, k: usize) -> (f64, First) {
        let [n, r, r2, s, s2] = self.core(k);
        let x_first = n * s * r2 * (self.x_operations * r + self.y_operations * s2);
        let y_first = n * r * s2 * (self.y_operations * s + self.x_operations * r2);
        if x_first <= y_first { (x_first, First::X) } else { (y_first, First::Y) }
    }

    /// Operations of the first site for one pair: an outer product for each mode index.
    pub fn first(&self, k: usize) -> f64 {
        let [n, _, r2, _, s2] = self.core(k);
        self.x_operations * n * r2 * s2
    }

    /// Operations of the last site for one pair: a matrix-vector product for each mode index, and a sum of products.
    pub fn last(&self, k: usize) -> f64 {
        let [n, r, _, s, _] = self.core(k);
        n * s * (self.x_operations * r + self.y_operations)
    }

    /// Operations of one pair, `repeat` times around from the bond before core `cut`. `middle` is [`Sizes::middle`].
    pub fn pair(&self, cut: usize, repeat: u64, middle: f64) -> f64 {
        let d = self.len();
        let end = (cut + d - 1) % d;
        if d == 1 && repeat == 1 {
            return (self.x_operations + self.y_operations) * self.modes[0] as f64;
        }
        middle * repeat as f64 - self.site(cut).0 - self.site(end).0 + self.first(cut) + self.last(end)
    }

    /// Operations of one pair if all cores are inner sites.
    pub fn middle(&self) -> f64 {
        (0..self.len()).map(|k| self.site(k).0).sum()
    }

    /// Elements of the largest environment, and of the largest product of an environment with one core, for one pair.
    /// If `repeat` > 1, the environment at the cut counts, too.
    pub fn largest(&self, cut: usize, repeat: u64) -> (f64, f64) {
        let d = self.len();
        let bonds = (0..d).filter(|&k| k != cut || repeat > 1);
        let environment = bonds.map(|k| self.r[k] as f64 * self.s[k] as f64).fold(1.0, f64::max);
        // The last site takes a vector of y's bond.
        let column = self.s[(cut + d - 1) % d] as f64;
        let product = (0..d).map(|k| self.product(k)).fold(column, f64::max);
        (environment, product)
    }

    /// Elements of the cores of both trains at a site, the largest of all sites.
    pub fn cores(&self) -> f64 {
        let both = |[n, r, r2, s, s2]: [f64; 5]| n * (r * r2 + s * s2);
        (0..self.len()).map(|k| both(self.core(k))).fold(1.0, f64::max)
    }

    /// Elements of the first product at core k, all mode indices together.
    pub fn product(&self, k: usize) -> f64 {
        let [n, r, r2, s, s2] = self.core(k);
        match self.site(k).1 {
            First::X => n * s * r2,
            First::Y => n * r * s2,
        }
    }

    /// Elements of workspace for one end of an open train in either order: two environments and one product.
    pub fn grid(&self) -> f64 {
        let most = |size: &dyn Fn([f64; 5]) -> f64| (0..self.len()).map(|k| size(self.core(k))).fold(1.0, f64::max);
        let environment = most(&|[_, r, r2, s, s2]| (r * s).max(r2 * s2));
        2.0 * environment + most(&|[n, r, r2, s, s2]| n * (s * r2).max(s2 * r))
    }

    /// Operations to build the dense tensor of the given cores, one after the other in this order, if a multiply-add
    /// takes `operations`. `p` is the number of further rows. Also returns the elements of the largest tensor on the
    /// way.
    fn grown(
        &self,
        ranks: &[usize],
        operations: f64,
        cores: impl Iterator<Item = usize>,
        p: f64,
        leftwards: bool,
    ) -> (f64, f64) {
        let (mut rows, mut flops, mut largest, mut begun) = (p, 0.0, 0.0f64, false);
        for k in cores {
            let n = self.modes[k] as f64;
            let (near, far) = (ranks[k] as f64, ranks[k + 1] as f64);
            let (near, far) = if leftwards { (far, near) } else { (near, far) };
            if begun {
                flops += operations * rows * near * n * far;
            }
            begun = true;
            rows *= n;
            largest = largest.max(rows * far);
        }
        (flops, largest)
    }

    /// Cost of the dense tensors of both halves and of the whole, split before the core `split` after the cut:
    /// operations, and the elements of the halves and of the tensors that they are made from, for x and y.
    pub fn halves(&self, cut: usize, split: usize) -> Halves {
        let d = self.len();
        let core = |i: usize| (cut + i) % d;
        let size = |range: Range<usize>| range.map(|i| self.modes[core(i)] as f64).product::<f64>();
        let (left, right) = (size(0..split), size(split..d));
        let mut out = Halves { split, left, right, flops: self.y_operations * left * right, x: 0.0, y: 0.0 };
        // The dense tensor of a real train is computed in real arithmetic.
        let x_own = if self.x_operations < self.y_operations { 2.0 } else { self.x_operations };
        for (ranks, operations, held) in [(self.r, x_own, &mut out.x), (self.s, self.y_operations, &mut out.y)] {
            let p = ranks[cut] as f64;
            let (a, most_left) = self.grown(ranks, operations, (0..split).map(core), p, false);
            let (b, most_right) = self.grown(ranks, operations, (split..d).rev().map(core), p, true);
            let middle = ranks[core(split)] as f64;
            out.flops += a + b + operations * left * right * p * middle;
            *held = 2.0 * (most_left + most_right);
        }
        out
    }

    /// Operations for the environment of an open train behind `cores`, which begin at one end, by the dense tensors of
    /// both trains.
    pub fn dense_end(&self, cores: impl Iterator<Item = usize> + Clone, leftwards: bool) -> f64 {
        let (mut rows, mut last) = (1.0, (1.0, 1.0));
        for k in cores.clone() {
            rows *= self.modes[k] as f64;
            let far = if leftwards { k } else { k + 1 };
            last = (self.r[far] as f64, self.s[far] as f64);
        }
        let (x, _) = self.grown(self.r, self.x_operations, cores.clone(), 1.0, leftwards);
        let (y, _) = self.grown(self.s, self.y_operations, cores, 1.0, leftwards);
        x + y + self.y_operations * rows * last.0 * last.1
    }
}

/// Cost of a contraction by the dense tensors of both halves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// Sites of the left half.
    pub split: usize,
    /// Number of mode index combinations of the left half.
    pub left: f64,
    /// Number of mode index combinations of the right half.
    pub right: f64,
    /// Floating-point operations of both halves together.
    pub flops: f64,
    /// Elements of workspace for the halves of x.
    pub x: f64,
    /// Elements of workspace for the halves of y.
    pub y: f64,
}

/// Operations of trace(M^exponent) by repeated squaring, for M of order `order` and `operations` a multiply-add.
pub fn power(order: f64, exponent: u64, operations: f64) -> f64 {
    if exponent <= 1 {
        return 0.0;
    }
    let squarings = f64::from(exponent.ilog2());
    let products = f64::from(exponent.count_ones() - 1);
    operations * order * order * order * (squarings + products)
}
