//! Progress within a pass, counted in blocks.

/// The steps of a run so far: blocks of all passes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Passes done, all passes, and the measure of the last report.
    pub passes: (i64, i64, f64),
    /// Blocks of a pass.
    pub blocks: u64,
}

impl Pace {
    /// Steps done, all steps and the measure when `done` blocks of the current pass are done. Only the report after the last
    /// pass has all steps.
    pub fn within(&self, done: usize) -> (i64, i64, f64) {
        let (passes, all, measure) = self.passes;
        let blocks = i64::try_from(self.blocks.max(1)).unwrap_or(i64::MAX);
        let done = i64::try_from(done).unwrap_or(i64::MAX).min(blocks);
        let all = all.saturating_mul(blocks);
        (passes.saturating_mul(blocks).saturating_add(done).min((all - 1).max(0)), all, measure)
    }

    /// The same between two passes and at the end.
    pub fn between(&self) -> (i64, i64, f64) {
        let (passes, all, measure) = self.passes;
        let blocks = i64::try_from(self.blocks.max(1)).unwrap_or(i64::MAX);
        (passes.saturating_mul(blocks), all.saturating_mul(blocks), measure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_blocks_of_all_passes() {
        let pace = Pace { passes: (2, 4, 0.5), blocks: 3 };
        assert_eq!([0, 2, 3, 9].map(|done| pace.within(done).0), [6, 8, 9, 9]);
        assert_eq!((pace.within(1), pace.between()), ((7, 12, 0.5), (6, 12, 0.5)));
        let last = Pace { passes: (3, 4, 0.0), ..pace };
        assert_eq!((last.within(3), Pace { passes: (4, 4, 0.0), ..pace }.between()), ((11, 12, 0.0), (12, 12, 0.0)));
        // Data that are not cut.
        assert_eq!(Pace { passes: (0, 1, 0.0), blocks: 0 }.within(0), (0, 1, 0.0));
    }
}
