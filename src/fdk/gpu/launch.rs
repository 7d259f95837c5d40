//! Choices that launches share: views of a launch, the kernels of a scan, codes of number types.

use crate::backend::gpu::kernels::fdk::{Raw, Shape};
use crate::blocks::number::Number;
use crate::fdk::options::Edge;
use crate::fdk::plan::Plan;

/// Views of a back-projection launch, which reads and writes the slab once for all of them.
pub(super) const LAUNCH: usize = 64;

/// The kernels' code of a number type. Complex types were refused before.
pub(super) fn raw(number: Number) -> Raw {
    match number {
        Number::U8 => Raw::U8,
        Number::I8 => Raw::I8,
        Number::U16 => Raw::U16,
        Number::I16 => Raw::I16,
        Number::U32 => Raw::U32,
        Number::I32 => Raw::I32,
        Number::F16 => Raw::F16,
        Number::F32 | Number::Cf32 => Raw::F32,
        Number::F64 | Number::Cf64 => Raw::F64,
    }
}

/// Selects the kernels for a scan.
pub(in crate::fdk) fn shape_of(plan: &Plan) -> Shape {
    let panel = (plan.columns, plan.geometry.detector.rows);
    Shape::new(plan.views.iter().map(|v| &v.matrix), plan.grid.size, panel, plan.options.edge == Edge::Skip)
}
