//! Constant tables of a scan on the device.

use crate::alloc;
use crate::backend::cpu::parallel::{Items as _, Pieces as _};
use crate::backend::gpu::kernels::fdk::{
    self as kernels, FILTER_NUMBERS, Filter, Layout, PixelWeights, RAY_NUMBERS, Ramp, Rays, VIEW_NUMBERS,
};
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fdk::counts::{Counts, Image};
use crate::fdk::options::Mode;
use crate::fdk::plan::Plan;
use crate::fdk::weights::{Ramp as WeightRamp, Redundancy};
use crate::shape::to_u64;

/// Tables that the kernels read, on the device.
pub(in crate::fdk) struct Tables {
    rays: DeviceMemory,
    /// Weights of the rays, and the number of rows in that table.
    weights: Option<(DeviceMemory, usize)>,
    response: DeviceMemory,
    roots: DeviceMemory,
    fall: Option<DeviceMemory>,
    matrices: DeviceMemory,
    /// Coefficients for weights by pixel in the conversion.
    pixel_rays: Option<DeviceMemory>,
    open: Option<PanelImage>,
    dark: Option<PanelImage>,
}

/// Counts of every pixel of a panel, on the device.
pub(super) struct PanelImage {
    memory: DeviceMemory,
    is_double: bool,
}

impl PanelImage {
    /// Uploads an image; `what` names it in the errors.
    pub(super) fn new(gpu: &Gpu, stream: &GpuStream, what: &'static str, image: &Image) -> Result<Self> {
        let memory = match image {
            Image::Single(pixels) => gpu.upload_numbers(stream, what, pixels),
            Image::Double(pixels) => gpu.upload_numbers(stream, what, pixels),
        };
        Ok(Self { memory: memory?, is_double: image.is_double() })
    }

    /// The image as a parameter of the conversion.
    pub(super) fn whole(&self) -> kernels::CountImage<'_> {
        kernels::CountImage { pixels: self.memory.whole(), is_double: self.is_double }
    }
}

/// Rows of the table of ray weights: none if all rays of all views have one weight or the conversion applies weights by
/// pixel, one if all views have the same weights.
fn weight_rows(plan: &Plan) -> usize {
    if plan.scan.is_by_pixel {
        return 0;
    }
    let views = &plan.geometry.views;
    match plan.scan.redundancy {
        Redundancy::Auto | Redundancy::None | Redundancy::Full => 0,
        Redundancy::Short => views.len(),
        Redundancy::HalfFan => {
            let fans = &plan.scan.fans;
            if fans.iter().all(|f| f.is_like(&fans[0], &plan.geometry.detector)) { 1 } else { views.len() }
        }
    }
}

/// View indices as the bytes of 32-bit integers.
pub(super) fn numbers(views: &[usize]) -> Result<Vec<u8>> {
    let mut bytes = alloc::with_capacity("numbers of views", 4 * views.len())?;
    for view in views {
        let number =
            i32::try_from(*view).map_err(|_| Error::NotSupported(format!("views: number {view}, at most 2^31 - 1")))?;
        bytes.extend(number.to_ne_bytes());
    }
    Ok(bytes)
}

impl Tables {
    /// Bytes of all tables of a plan on the device.
    pub(super) fn bytes(plan: &Plan, counts: Option<&Counts>) -> u64 {
        let (views, columns) = (plan.views.len(), plan.geometry.detector.columns);
        let image = |image: &Option<Image>| {
            image.as_ref().map_or(0, |i| i.pixels() * if i.is_double() { size_of::<f64>() } else { size_of::<f32>() })
        };
        let images = counts.map_or(0, |c| image(&c.unattenuated_image) + image(&c.dark));
        let pixel_rays = if plan.scan.is_by_pixel { RAY_NUMBERS * views } else { 0 };
        let f32s = FILTER_NUMBERS * views
            + pixel_rays
            + weight_rows(plan) * columns
            + plan.response.len()
            + 2 * plan.length
            + plan.extrapolated;
        to_u64(4 * f32s + 8 * VIEW_NUMBERS * views + images)
    }

    /// Computes and uploads the tables.
    pub(in crate::fdk) fn new(
        context: &Context,
        gpu: &Gpu,
        stream: &GpuStream,
        plan: &Plan,
        counts: Option<&Counts>,
    ) -> Result<Self> {
        let d = &plan.geometry.detector;
        let rows = weight_rows(plan);
        let mut weights = alloc::filled("weights of rays", rows * d.columns, 0f32)?;
        context.pool().run(|| {
            weights.par_chunks_mut(d.columns).enumerate().for_each(|(view, row)| {
                row.iter_mut().enumerate().for_each(|(i, w)| *w = plan.ray_weight(view, i) as f32);
            });
        });
        let mut rays = alloc::with_capacity("weights of views", FILTER_NUMBERS * plan.views.len())?;
        let mut matrices = alloc::with_capacity("matrices of views", VIEW_NUMBERS * plan.views.len())?;
        for (n, (view, planned)) in plan.geometry.views.iter().zip(&plan.views).enumerate() {
            let (weight, row) = match rows {
                0 if plan.scan.is_by_pixel => (1.0, None),
                0 => (plan.ray_weight(n, 0), None),
                1 => (1.0, Some(0)),
                _ => (1.0, Some(n)),
            };
            let scale = view.row_scale_terms((d.rows - 1) as f64 / 2.0).map(|v| v.map(|x| view.focal() * x));
            let size = (d.columns, d.rows);
            rays.extend(kernels::filter_numbers(&view.inverse, view.inwards(), scale, size, weight, row));
            matrices.extend(kernels::view_numbers(&planned.matrix, planned.weight));
        }
        let mut pixel_rays = alloc::with_capacity("weights of views", RAY_NUMBERS * plan.views.len())?;
        if plan.scan.is_by_pixel {
            for (view, fan) in plan.geometry.views.iter().zip(&plan.scan.fans) {
                pixel_rays.extend(fan.centred(d).map(|v| v as f32));
                pixel_rays.extend([fan.radius / plan.scan.radius, plan.scan.along(view.angle)].map(|v| v as f32));
            }
        }
        let mut response = alloc::with_capacity("ramp response", plan.response.len())?;
        response.extend(plan.response.iter().map(|r| *r as f32));
        let upload = |what, numbers: &[f32]| gpu.upload_numbers(stream, what, numbers);
        let optional =
            |what, numbers: &[f32]| if numbers.is_empty() { Ok(None) } else { upload(what, numbers).map(Some) };
        let image = |what, image: Option<&Image>| image.map(|i| PanelImage::new(gpu, stream, what, i)).transpose();
        Ok(Self {
            rays: upload("weights of views", &rays)?,
            weights: optional("weights of rays", &weights)?.map(|w| (w, rows)),
            response: upload("ramp response", &response)?,
            roots: upload("roots of unity", &kernels::roots(plan.length)?)?,
            fall: optional("extrapolation", &kernels::falls(plan.extrapolated)?)?,
            matrices: gpu.upload_numbers(stream, "matrices of views", &matrices)?,
            pixel_rays: optional("weights of views", &pixel_rays)?,
            open: image("counts without an object", counts.and_then(|c| c.unattenuated_image.as_ref()))?,
            dark: image("counts without radiation", counts.and_then(|c| c.dark.as_ref()))?,
        })
    }

    /// The matrices of the back-projection.
    pub(in crate::fdk) fn views(&self) -> Region<'_> {
        self.matrices.whole()
    }

    /// Parameters of the conversion of counts to line integrals.
    pub(super) fn counts<'a>(&'a self, plan: &Plan, counts: Option<&Counts>) -> Option<kernels::Counts<'a>> {
        counts.map(|c| kernels::Counts {
            open: c.unattenuated,
            open_image: self.open.as_ref().map(PanelImage::whole),
            dark_image: self.dark.as_ref().map(PanelImage::whole),
            least: c.least,
            panel_rows: plan.geometry.detector.rows,
        })
    }

    /// Parameters of the conversion's weights by pixel for some views; `None` if there are none.
    pub(in crate::fdk) fn pixel_weights<'a>(&'a self, plan: &Plan, index: Region<'a>) -> Option<PixelWeights<'a>> {
        let (ramp, long_side) = match plan.scan.ramp() {
            WeightRamp::Flat(_) => return None,
            WeightRamp::Short { delta } => (delta, 0.0),
            WeightRamp::HalfFan { reach, long_side } => (reach, long_side),
        };
        let rays = self.pixel_rays.as_ref()?.whole();
        let panel_rows = plan.geometry.detector.rows;
        Some(PixelWeights { rays, scan: plan.views.len(), index, panel_rows, ramp, long_side })
    }

    /// The weights of the rays.
    pub(in crate::fdk) fn rays(&self) -> Rays<'_> {
        Rays { views: self.rays.whole(), table: self.weights.as_ref().map(|(m, rows)| (m.whole(), *rows)) }
    }

    pub(in crate::fdk) fn ramp(&self, plan: &Plan) -> Ramp<'_> {
        Ramp {
            length: plan.length,
            response: self.response.whole(),
            roots: self.roots.whole(),
            fall: self.fall.as_ref().map(|f| (f.whole(), plan.extrapolated)),
            continued: plan.continued(),
        }
    }

    /// Weighting and filtering of a batch as in the plan.
    pub(super) fn filter<'a>(
        &'a self,
        plan: &Plan,
        input: Region<'a>,
        index: Region<'a>,
        batch: usize,
        output: Region<'a>,
        layout: Layout,
    ) -> Filter<'a> {
        let is_fdk = plan.options.mode == Mode::Fdk;
        Filter {
            input,
            index,
            batch,
            scan: plan.views.len(),
            columns: plan.geometry.detector.columns,
            panel_rows: plan.geometry.detector.rows,
            added_left: plan.left,
            rays: is_fdk.then(|| self.rays()),
            ramp: is_fdk.then(|| self.ramp(plan)),
            largest: plan.largest_pixel as f32,
            output,
            layout,
        }
    }
}
