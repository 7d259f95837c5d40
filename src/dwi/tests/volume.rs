//! The volume small_64D of dipy.

use std::sync::Arc;

use super::arrays::{numbers, tensor};
use crate::context::Context;
use crate::scalar::Element;
use crate::shape::Order;
use crate::tensor::Tensor;

pub(super) const VOXELS: usize = 1000;
pub(super) const VOLUMES: usize = 65;

/// The volume small_64D: signals as U16, 65 a voxel in C order, and its gradient scheme.
pub(super) struct Volume {
    pub signals: Vec<u16>,
    pub bvals: Vec<f64>,
    /// Three components a volume, volume by volume.
    pub bvecs: Vec<f64>,
}

pub(super) fn volume() -> Volume {
    let file = include_bytes!("../../../examples-c/data/small_64D.nii");
    let stored: Vec<i16> = file[352..].as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect();
    assert_eq!(stored.len(), VOXELS * VOLUMES);
    let mut signals = Vec::new();
    for v in 0..VOXELS {
        let (x, y, z) = (v / 100, v / 10 % 10, v % 10);
        signals.extend((0..VOLUMES).map(|n| stored[x + 10 * (y + 10 * (z + 10 * n))].cast_unsigned()));
    }
    Volume {
        signals,
        bvals: numbers(include_str!("../../../examples-c/data/small_64D.bval")),
        bvecs: numbers(include_str!("../../../examples-c/data/small_64D.bvec")),
    }
}

/// The volume as tensors of `context`: signals in the type asked for, b-values, directions.
pub(super) fn volume_tensors<T: Element>(
    context: &Arc<Context>,
    order: Order,
    convert: impl Fn(u16) -> T,
) -> [Tensor; 3] {
    let v = volume();
    let signals: Vec<T> = v.signals.iter().map(|x| convert(*x)).collect();
    [
        tensor(context, order, &[VOLUMES, VOXELS], &signals),
        tensor(context, Order::ColumnMajor, &[VOLUMES], &v.bvals),
        tensor(context, Order::ColumnMajor, &[3, VOLUMES], &v.bvecs),
    ]
}
