//! Plans for open trains, contracted from both ends.

use super::{Plan, Planner};

impl Planner<'_> {
    /// Plans both ends of an open train: the sites whose dense tensors are built, and the bond where the ends meet.
    pub(super) fn ends(&self, plan: &mut Plan, max_rank: usize, (environment, product): (f64, f64)) {
        let d = self.sizes.len();
        let sizes = &self.sizes;
        let core = |i: usize| (self.cut + i) % d;
        // Only the CPU computes one triangle; library products on a GPU compute both.
        plan.triangle = self.request.triangle && self.request.same && self.request.machine.vectors.is_some();
        let both = 2.0 * self.bytes(environment + product);
        let both_fit = both <= self.limit as f64;
        let mixed = sizes.x_operations < sizes.y_operations;
        let mut ahead = [0.0; 2];
        if !mixed {
            // The right end needs workspace of its own.
            let ends = if self.strict && !both_fit { 1 } else { 2 };
            for (end, (grow, gain)) in plan.grow.iter_mut().zip(&mut ahead).enumerate().take(ends) {
                let leftwards = end == 1;
                let at = |i: usize| if leftwards { core(d - 1 - i) } else { core(i) };
                let (mut rows, mut swept) = (1.0, 0.0);
                // Each end keeps at least one site before the bond where they meet.
                for count in 1..=d.saturating_sub(2).min(64) {
                    let k = at(count - 1);
                    rows *= sizes.modes[k] as f64;
                    let far = if leftwards { k } else { k + 1 };
                    let (r, s) = (sizes.r[far] as f64, sizes.s[far] as f64);
                    // Each of the two dense tensors is built alternately in the environment's buffer and in its half
                    // of the product's buffer, so it must fit into both.
                    if rows > r.min(s) || rows * r.max(s) > environment.min((product / 2.0).floor()) {
                        break;
                    }
                    swept += if count > 1 {
                        sizes.site(k).0
                    } else {
                        self.sizes.x_operations * rows * sizes.r[far] as f64 * sizes.s[far] as f64
                    };
                    let dense = sizes.dense_end((0..count).map(at), leftwards);
                    if swept - dense > *gain {
                        (*grow, *gain) = (count, swept - dense);
                    }
                }
            }
        }
        if plan.grow[0] + plan.grow[1] >= d {
            (plan.grow, ahead) = ([0, 0], [0.0; 2]);
        }
        plan.flops -= ahead[0] + ahead[1];
        plan.meet = d - plan.grow[1];
        if d >= 4 && max_rank <= self.request.machine.meet_rank && both_fit {
            let half = (0..d).map(|i| sizes.site(core(i)).0).sum::<f64>() + ahead[1] - ahead[0];
            let (mut left, mut meet) = (0.0, 1);
            for i in 0..d {
                left += sizes.site(core(i)).0;
                if 2.0 * left > half {
                    meet = i + usize::from(2.0 * left - half < half - 2.0 * (left - sizes.site(core(i)).0));
                    break;
                }
            }
            plan.meet = meet.clamp(plan.grow[0].max(1), d - plan.grow[1].max(1));
            plan.two_ended = true;
        }
        if plan.meet < d {
            plan.workspace = both as u64;
        }
        // At lower ranks both triangles are computed, because one takes as long.
        if plan.triangle && max_rank >= 192 {
            plan.flops *= 0.5;
        }
    }
}
