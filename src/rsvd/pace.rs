//! Passes of a run, and its progress, which is counted in blocks.

use super::traffic::Traffic;

/// Passes at the last report, and those of the interrupted run that this one goes on with.
#[derive(Debug, Clone, Default)]
pub struct Passes {
    /// Passes done, expected passes and measure of the last report.
    last: (i64, i64, f64),
    /// Passes over the data at the last report.
    reported: u64,
    /// Passes of the interrupted run, but for those that this one makes again.
    earlier: u64,
}

impl Passes {
    /// Sets the number of passes that progress reports as the total.
    pub fn expect(&mut self, passes: i64) {
        self.last.1 = passes;
    }

    /// Goes on with an interrupted run. Its first `passes` passes need not be made again.
    pub fn go_on(&mut self, passes: u64) {
        self.earlier = passes;
        self.last.0 = i64::try_from(passes).unwrap_or(i64::MAX);
    }

    /// Whether the next pass is the second, fourth, ... of the run, which may run backwards.
    pub fn is_second(&self, traffic: &Traffic) -> bool {
        (traffic.passes + self.earlier) % 2 == 1
    }

    /// Notes a report; [`Pace::between`] of the result gives its numbers.
    pub fn note(&mut self, step: i64, steps: i64, measure: f64, traffic: &Traffic) -> Pace {
        (self.last, self.reported) = ((step, steps, measure), traffic.passes);
        self.pace(traffic)
    }

    /// The steps so far: those of the last report, and one for each pass since.
    pub fn pace(&self, traffic: &Traffic) -> Pace {
        let (step, steps, measure) = self.last;
        let since = traffic.passes.saturating_sub(self.reported);
        let step = step.saturating_add(i64::try_from(since).unwrap_or(i64::MAX));
        Pace { passes: (step, steps, measure), blocks: traffic.blocks }
    }
}

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
