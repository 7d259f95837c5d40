//! Converts a resolved plan to the parameters of the kernels.

use crate::backend::gpu::kernels::constants as c;
use crate::backend::gpu::kernels::sshopm as kernels;
use crate::scalar::Real;
use crate::sshopm::options::{Goal, Test};
use crate::sshopm::plan::{ConstantShift, Iteration, PeakForm, Plan, SignRule};

/// Settings of one pass over a chunk. `is_second` means that the rows hold pairs of an earlier pass.
pub(super) fn of<T: Real>(
    plan: &Plan<T>,
    peak_form: Option<PeakForm>,
    goal: i32,
    is_second: bool,
) -> kernels::Settings {
    let rule = &plan.reduction;
    let (method, shift_kind, shift) = match plan.iteration {
        Iteration::Hybrid => (c::HYBRID, c::SHIFT_ADAPTIVE, 0.0),
        Iteration::Adaptive => (c::POWER, c::SHIFT_ADAPTIVE, 0.0),
        Iteration::Newton => (c::NEWTON, c::SHIFT_ADAPTIVE, 0.0),
        Iteration::Power(s) => constant(c::POWER, s),
        Iteration::HybridConstant(s) => constant(c::HYBRID, s),
    };
    let mut flags = 0;
    let mut set = |wanted: bool, flag: i32| flags |= if wanted { flag } else { 0 };
    set(plan.absolute, c::ABSOLUTE_TOLERANCE | c::ABSOLUTE_TAU);
    set(plan.remove_isotropic, c::REMOVE_ISOTROPIC);
    set(plan.missing == T::ZERO, c::MISSING_ZERO);
    set(peak_form == Some(PeakForm::Scaled), c::PEAKS_SCALED);
    set(is_second, c::APPEND);
    set(plan.goal == Goal::Both && !is_second, c::FIRST_OF_TWO);
    // The first pass lists the one pair of a continuum.
    set(!rule.special_pair || is_second, c::NO_SPECIAL_PAIR);
    kernels::Settings {
        goal,
        method,
        shift_kind,
        shift,
        test: match plan.test {
            Test::Residual => c::TEST_RESIDUAL,
            Test::Lambda => c::TEST_LAMBDA,
            Test::Step => c::TEST_STEP,
        },
        tolerance: plan.tolerance,
        max_iterations: i32::try_from(plan.max_iterations).unwrap_or(i32::MAX),
        warmup: i32::try_from(plan.warmup).unwrap_or(i32::MAX),
        tau: plan.tau,
        sign: match plan.sign {
            SignRule::Canonical => c::SIGN_CANONICAL,
            SignRule::Raw => c::SIGN_RAW,
            SignRule::UpperHalf => c::SIGN_Z_POSITIVE,
        },
        flags,
        keep_classes: kept_classes(plan, goal),
        merge_chord2: rule.merge_chord2,
        merge_value: rule.merge_value,
        degeneracy: rule.degeneracy,
        level: rule.level,
        isotropy: rule.isotropy,
        thresholds: rule.absolute_threshold.map(|a| (a, rule.relative_threshold)),
        separation_chord2: rule.separation_chord2,
    }
}

/// Classes that may be listed. For odd order and the canonical sign a maximum with lambda < 0 is written as the minimum
/// (-lambda, -x).
fn kept_classes<T>(plan: &Plan<T>, goal: i32) -> i32 {
    let bit = |class: i32| 1 << class;
    let any = bit(c::PAIR_POSITIVE_STABLE) | bit(c::PAIR_NEGATIVE_STABLE);
    let stable = match (plan.shape.order % 2, goal) {
        _ if plan.reduction.saddles => any | bit(c::PAIR_UNSTABLE),
        (1, _) if plan.sign == SignRule::Canonical => any,
        (_, c::MINIMA) => bit(c::PAIR_POSITIVE_STABLE),
        _ => bit(c::PAIR_NEGATIVE_STABLE),
    };
    stable | bit(c::PAIR_DEGENERATE)
}

fn constant(method: i32, shift: ConstantShift) -> (i32, i32, f64) {
    match shift {
        ConstantShift::Value(value) => (method, c::SHIFT_FIXED, value),
        ConstantShift::Guaranteed => (method, c::SHIFT_GUARANTEED, 0.0),
    }
}
