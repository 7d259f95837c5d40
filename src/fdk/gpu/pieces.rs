//! The single steps of a reconstruction on device memory.

use std::sync::Arc;

use super::launch::{LAUNCH, raw, shape_of};
use super::tables::{PanelImage, Tables};
use crate::alloc;
use crate::backend::gpu::kernels::fdk::{self as kernels, Backprojection, Convert, Filter, Layout, Slab};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::blocks::number::Number;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fdk::counts::{Counts, Image, PixelDefects};
use crate::fdk::options::Edge;
use crate::fdk::phantom::Ellipsoid;
use crate::fdk::plan::Plan;
use crate::shape::to_u64;

/// A device and the queue of a call.
pub(in crate::fdk) struct Site<'a> {
    pub context: &'a Arc<Context>,
    pub gpu: &'a Gpu,
    pub queue: &'a GpuStream,
}

/// [`log_transform`](super::super::pieces::log_transform) of counts in device memory.
pub(in crate::fdk) fn log_transform(
    site: &Site<'_>,
    (input, number): (&DeviceMemory, Number),
    dims: &[usize],
    counts: &Counts,
    output: &DeviceMemory,
) -> Result<PixelDefects> {
    let Site { gpu, queue, .. } = *site;
    let image = |what, image: &Option<Image>| image.as_ref().map(|i| PanelImage::new(gpu, queue, what, i)).transpose();
    let open = image("counts without an object", &counts.unattenuated_image)?;
    let dark = image("counts without radiation", &counts.dark)?;
    let counters = gpu.allocate("counters", kernels::COUNTERS * 8)?;
    let convert = Convert {
        source: input.whole(),
        number: raw(number),
        swap: false,
        columns: dims[0],
        first_row: 0,
        rows: dims[1],
        views: dims[2..].iter().product(),
        counts: Some(kernels::Counts {
            open: counts.unattenuated,
            open_image: open.as_ref().map(PanelImage::whole),
            dark_image: dark.as_ref().map(PanelImage::whole),
            least: counts.least,
            panel_rows: dims[1],
        }),
        sanitize: false,
        largest: f32::MAX,
        weights: None,
        output: Some(output.whole()),
        counters: counters.whole(),
    };
    convert.run(gpu, queue)?;
    let mut counted = [0i64; kernels::COUNTERS];
    gpu.download_numbers(queue, &counters, &mut counted)?;
    Ok(PixelDefects::from_counters(&counted))
}

/// Tables of a plan and the indices of some views, on the device.
struct Prepared {
    tables: Tables,
    index: DeviceMemory,
}

fn prepare(site: &Site<'_>, plan: &Plan, views: &[usize]) -> Result<Prepared> {
    let tables = Tables::new(site.context, site.gpu, site.queue, plan, None)?;
    let mut numbers = alloc::with_capacity("numbers of views", views.len())?;
    for view in views {
        let number =
            i32::try_from(*view).map_err(|_| Error::NotSupported(format!("views: number {view}, at most 2^31 - 1")));
        numbers.push(number?);
    }
    Ok(Prepared { tables, index: site.gpu.upload_numbers(site.queue, "numbers of views", &numbers)? })
}

/// Operation on the rows of some views.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::fdk) enum Step {
    /// Multiplication with the cosine and the redundancy weight.
    Weight,
    /// The ramp filter with its window.
    Ramp,
}

/// Weights or filters the rows of `views`, in stream order. Returns how many numbers were not finite before the ramp
/// filter, and waits for this count; without the filter none are counted.
pub(in crate::fdk) fn rows(
    site: &Site<'_>,
    plan: &Plan,
    step: Step,
    views: &[usize],
    input: &DeviceMemory,
    output: &DeviceMemory,
) -> Result<PixelDefects> {
    if views.is_empty() {
        return Ok(PixelDefects::default());
    }
    let d = &plan.geometry.detector;
    let p = prepare(site, plan, views)?;
    let columns = if step == Step::Weight { d.columns } else { plan.columns };
    // If weights depend on the row, the conversion kernel applies them.
    let weights = p.tables.pixel_weights(plan, p.index.whole()).filter(|_| step == Step::Weight);
    let largest = if step == Step::Ramp { plan.largest_single() } else { f32::MAX };
    let sanitize = step == Step::Ramp && plan.options.sanitize;
    let mut defects = PixelDefects::default();
    let mut converted = None;
    if weights.is_some() || step == Step::Ramp {
        let counters = site.gpu.allocate("counters", kernels::COUNTERS * 8)?;
        // Without an output the numbers are only counted.
        if weights.is_some() || sanitize {
            converted = Some(site.gpu.allocate("weighted projections", input.bytes())?);
        }
        let convert = Convert {
            source: input.whole(),
            number: kernels::Raw::F32,
            swap: false,
            columns: d.columns,
            first_row: 0,
            rows: d.rows,
            views: views.len(),
            counts: None,
            sanitize,
            largest,
            weights,
            output: converted.as_ref().map(DeviceMemory::whole),
            counters: counters.whole(),
        };
        convert.run(site.gpu, site.queue)?;
        if step == Step::Ramp {
            let mut counted = [0i64; kernels::COUNTERS];
            site.gpu.download_numbers(site.queue, &counters, &mut counted)?;
            defects = PixelDefects::from_counters(&counted);
        }
    }
    let filter = Filter {
        input: converted.as_ref().unwrap_or(input).whole(),
        index: p.index.whole(),
        batch: views.len(),
        scan: plan.views.len(),
        columns: d.columns,
        panel_rows: d.rows,
        added_left: if step == Step::Weight { 0 } else { plan.left },
        rays: (step == Step::Weight).then(|| p.tables.rays()),
        ramp: (step == Step::Ramp).then(|| p.tables.ramp(plan)),
        largest,
        output: output.whole(),
        layout: Layout::packed(columns, 0, d.rows),
    };
    filter.run(site.gpu, site.queue)?;
    Ok(defects)
}

/// Adds the back-projection of filtered views to a volume.
pub(in crate::fdk) fn backproject(
    site: &Site<'_>,
    plan: &Plan,
    views: &[usize],
    filtered: &DeviceMemory,
    volume: &DeviceMemory,
) -> Result<()> {
    let Site { gpu, queue, .. } = *site;
    let d = &plan.geometry.detector;
    let p = prepare(site, plan, views)?;
    let shape = shape_of(plan);
    let layout = shape.layout(plan.columns, 0, d.rows);
    let each = layout.samples() * 4;
    let images = gpu.allocate("filtered projections", each * LAUNCH.min(views.len()))?;
    for first in (0..views.len()).step_by(LAUNCH) {
        let batch = LAUNCH.min(views.len() - first);
        let index = p.index.region(first * 4, batch * 4)?;
        let view = plan.filtered_pixels() * 4;
        let input = filtered.region(first * view, batch * view)?;
        let output = images.region(0, batch * each)?;
        let place = Filter {
            input,
            index,
            batch,
            scan: plan.views.len(),
            columns: plan.columns,
            panel_rows: d.rows,
            added_left: 0,
            rays: None,
            ramp: None,
            largest: f32::MAX,
            output,
            layout,
        };
        place.run(gpu, queue)?;
        let task = Backprojection {
            images: output,
            layout,
            index,
            batch,
            views: p.tables.views(),
            scan: plan.views.len(),
            shape,
            skip: plan.options.edge == Edge::Skip,
            size: plan.grid.size,
            panel_rows: d.rows,
            slab: Slab { memory: volume.whole(), first: 0, slices: plan.grid.size[2] },
            mirror_slab: None,
        };
        task.run(gpu, queue)?;
    }
    Ok(())
}

/// Exact line integrals through ellipsoids, for every pixel of every view.
pub(in crate::fdk) fn ellipsoids(
    site: &Site<'_>,
    plan: &Plan,
    list: &[Ellipsoid],
    projections: &DeviceMemory,
) -> Result<()> {
    let Site { gpu, queue, .. } = *site;
    let d = &plan.geometry.detector;
    let mut rays = alloc::with_capacity("rays of views", kernels::VIEW_NUMBERS * plan.views.len())?;
    for view in &plan.geometry.views {
        rays.extend(kernels::ray_numbers(&view.inverse, view.source));
    }
    let mut numbers = alloc::with_capacity("ellipsoids", kernels::ELLIPSOID_NUMBERS * list.len())?;
    for e in list {
        let ([a, b, c], [x, y, z]) = (e.axes, e.centre);
        numbers.extend([e.density, a, b, c, x, y, z, e.rotation]);
    }
    let (rays, numbers) =
        (gpu.upload_numbers(queue, "rays of views", &rays)?, gpu.upload_numbers(queue, "ellipsoids", &numbers)?);
    let view = d.columns * d.rows * 4;
    let rays_of_view = kernels::VIEW_NUMBERS * 8;
    // Limit the pixels of a launch to the grid size of the driver.
    let together = usize::try_from((1u64 << 31) / to_u64(view)).unwrap_or(1).max(1);
    for first in (0..plan.views.len()).step_by(together) {
        let batch = together.min(plan.views.len() - first);
        let task = kernels::Ellipsoids {
            ellipsoids: numbers.whole(),
            count: list.len(),
            views: rays.region(first * rays_of_view, batch * rays_of_view)?,
            batch,
            columns: d.columns,
            rows: d.rows,
            output: projections.region(first * view, batch * view)?,
        };
        task.run(gpu, queue)?;
    }
    Ok(())
}
