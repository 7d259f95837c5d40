//! The rule for numbers that are not finite ([`crate::trains::finite`]), for inner products by boundary pairs.

use std::collections::HashMap;

use super::pairs::Pairs;
use super::plan::Plan;
use crate::alloc;
use crate::error::Result;
use crate::tensor::train::TensorTrain;
use crate::trains::finite::{checked_where, expect_exponent, is_finite, is_read_in_part};
use crate::trains::scaled::Scaled;

/// As [`is_read_in_part`], for inner products by these boundary pairs. Kernels of a device never end early, so they
/// skip only the off-diagonal entries of a ring of one core.
fn is_read_in_part_by(pairs: Pairs, train: &TensorTrain) -> bool {
    if train.is_device() {
        return is_read_in_part(train) && train.shape().len() == 1;
    }
    is_read_in_part(train) || pairs.len() > 1
}

/// [`checked`] for an inner product as planned.
pub(super) fn checked_inner(value: Scaled, plan: &Plan, trains: &[&TensorTrain]) -> Result<Scaled> {
    checked_where(value, plan.dtype, trains, |train| is_read_in_part_by(plan.pairs, train))
}

/// [`checked_inner`] for many results. Examines each train only once.
#[derive(Default)]
pub(super) struct Known(HashMap<*const TensorTrain, bool>);

impl Known {
    pub(super) fn checked(&mut self, value: Scaled, plan: &Plan, trains: [&TensorTrain; 2]) -> Result<Scaled> {
        for train in trains {
            if value.is_zero() || is_read_in_part_by(plan.pairs, train) {
                let key = std::ptr::from_ref(train);
                let known = match self.0.get(&key) {
                    Some(known) => *known,
                    None => {
                        let bytes = size_of::<(usize, bool)>() * (self.0.len() + 1);
                        self.0.try_reserve(1).map_err(|_| alloc::out_of_memory("trains of a batch", bytes))?;
                        *self.0.entry(key).or_insert(is_finite(train)?)
                    }
                };
                if !known {
                    return Ok(Scaled::nan(plan.dtype));
                }
            }
        }
        expect_exponent(value)?;
        Ok(if value.is_finite() { value } else { Scaled::nan(plan.dtype) })
    }
}
