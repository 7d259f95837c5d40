//! Methods, tests and thresholds of a solve.

/// How to solve: the numbers of `cuda/sshopm_launch.h`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    /// `MAXIMA` or `MINIMA` of A x^m on the unit sphere.
    pub goal: i32,
    /// `HYBRID`, `POWER` or `NEWTON`; a fused kernel takes its own.
    pub method: i32,
    /// Shift of the power method.
    pub shift_kind: i32,
    /// The shift, if `shift_kind` is `SHIFT_FIXED`.
    pub shift: f64,
    /// `TEST_*`: the quantity that ends a start when it is small.
    pub test: i32,
    /// Threshold below which the quantity of `test` ends a start.
    pub tolerance: f64,
    /// Most steps of a start.
    pub max_iterations: i32,
    /// Power steps before the first Newton step.
    pub warmup: i32,
    /// Margin of the adaptive shift.
    pub tau: f64,
    /// `SIGN_*`: which of x and -x is returned.
    pub sign: i32,
    /// Bit set of the flags of `cuda/sshopm_launch.h`.
    pub flags: i32,
    /// Bit set of the classes that are kept.
    pub keep_classes: i32,
    /// (2 sin(merge angle / 2))^2.
    pub merge_chord2: f64,
    /// Largest relative difference of values that are one pair, 0 for any.
    pub merge_value: f64,
    /// Relative size of Hessian eigenvalues that count as 0.
    pub degeneracy: f64,
    /// Relative distance of the values of one continuum.
    pub level: f64,
    /// Relative distance from a multiple of the identity that counts as none.
    pub isotropy: f64,
    /// Smallest absolute and relative value of a peak, where there are such thresholds.
    pub thresholds: Option<(f64, f64)>,
    /// (2 sin(separation / 2))^2: squared chord of the least angle between two peaks.
    pub separation_chord2: f64,
}
