//! Counts of more than 24 bits on every way from the caller to the volume.

use std::sync::Arc;

use super::device::{gpu, moved};
use super::session::{Scan, cpu, empty, scan, tensor, values, worst};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::{Number, encode};
use crate::blocks::source::CallbackSource;
use crate::context::Context;
use crate::fdk::counts::{Counts, Image, PixelDefects};
use crate::fdk::options::{Options, Precision};
use crate::fdk::{Fdk, Projections, Volume, pieces};
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// Counts without radiation of each pixel, whose level needs 32 bits, or in f64 40.
fn dark(level: f64) -> Vec<f64> {
    (0..5120).map(|k| level + f64::from(k % 11)).collect()
}

const OPEN: f64 = 50_000.0;

/// The counts of a scan over a dark level, and their line integrals in f32.
fn counted(scan: &Scan, level: f64) -> (Vec<f64>, Vec<f32>) {
    let above: Vec<f64> = scan.projections.iter().map(|p| (OPEN * (-f64::from(*p) / 20.0).exp()).round()).collect();
    let dark = dark(level);
    let counts = above.iter().enumerate().map(|(k, a)| dark[k % 5120] + a).collect();
    (counts, above.iter().map(|a| -(*a as f32 / OPEN as f32).ln()).collect())
}

fn model(level: f64) -> Counts {
    let image = |more: f64| Some(Image::Double(dark(level).iter().map(|d| d + more).collect()));
    Counts { unattenuated: 0.0, unattenuated_image: image(OPEN), dark: image(0.0), least: 0.0 }
}

/// Counts as a tensor of the type `dtype`.
fn typed(context: &Arc<Context>, dtype: DType, dims: &[usize], counts: &[f64]) -> Tensor {
    match dtype {
        DType::U32 => tensor(context, Order::ColumnMajor, dims, &counts.iter().map(|c| *c as u32).collect::<Vec<_>>()),
        DType::I32 => tensor(context, Order::ColumnMajor, dims, &counts.iter().map(|c| *c as i32).collect::<Vec<_>>()),
        _ => tensor(context, Order::ColumnMajor, dims, counts),
    }
}

const CASES: [(DType, f64); 3] = [(DType::U32, 4e9), (DType::I32, 2e9), (DType::F64, 1e12)];

fn volume(fdk: &mut Fdk, input: Projections<'_>) -> Vec<f32> {
    let mut out = empty(&Arc::clone(fdk.context()));
    let info = fdk.reconstruct(None, input, Volume::Tensor(&mut out), None).unwrap();
    assert_eq!((info.pixels_clamped, info.pixels_negative, info.pixels_not_finite), (0, 0, 0));
    values(&out)
}

/// A check of a result against the right one; the first argument names it.
type Check<'a> = &'a dyn Fn(&str, &[f32], &[f32]);

/// Runs `check` with the volumes that a context makes of wide counts, and with that of their line integrals.
fn every_way(context: &Arc<Context>, places: &[Location], check: Check<'_>) {
    let scan = scan("full");
    for (dtype, level) in CASES {
        let (counts, integrals) = counted(&scan, level);
        let number = Number::of("counts", dtype).unwrap();
        let mut fdk = scan.fdk(context, Options::default());
        let want = tensor(context, Order::ColumnMajor, &scan.dims, &integrals);
        let want = volume(&mut fdk, Projections::Tensor(&want));
        fdk.set_counts(Some(model(level))).unwrap();
        let input = typed(context, dtype, &scan.dims, &counts);
        for place in places {
            let input = moved(&input, *place);
            check(&format!("{dtype:?} {place:?}"), &volume(&mut fdk, Projections::Tensor(&input)), &want);
        }
        // Read in blocks, with several slabs.
        let mut bytes = vec![0u8; counts.len() * number.size()];
        encode(number, &counts, &mut bytes);
        let read = |block: &Block, out: &mut [u8]| {
            let ([i, j, k], [columns, rows, views]) =
                ([0, 1, 2].map(|a| block.first()[a]), [0, 1, 2].map(|a| block.count()[a]));
            let (row, size) = (scan.dims[0], number.size());
            for (n, out) in out.chunks_exact_mut(columns * size).take(rows * views).enumerate() {
                let at = (((k + n / rows) * scan.dims[1] + j + n % rows) * row + i) * size;
                out.copy_from_slice(&bytes[at..at + columns * size]);
            }
            Ok(())
        };
        let mut cut = scan.fdk(context, Options { slab: 16, view_batch: 7, ..Options::default() });
        cut.set_counts(Some(model(level))).unwrap();
        let mut source = CallbackSource::new(ArrayInfo::new(number, &scan.dims).unwrap(), Box::new(read));
        check(&format!("{dtype:?} read"), &volume(&mut cut, Projections::Source(&mut source)), &want);
        // Pushed into the volume, and kept as line integrals.
        for (slab, place) in places.iter().map(|p| (0, *p)).chain([(16, Location::Host)]) {
            let mut fdk = scan.fdk(context, Options { slab, ..Options::default() });
            fdk.set_counts(Some(model(level))).unwrap();
            fdk.begin(None).unwrap();
            let views: Vec<i64> = (0..90).collect();
            fdk.push(&views, &moved(&input, place)).unwrap();
            let mut out = empty(context);
            fdk.finish(Volume::Tensor(&mut out), None).unwrap();
            check(&format!("{dtype:?} pushed from {place:?}, slab {slab}"), &values(&out), &want);
        }
        // On their own.
        for place in places {
            let mut lines = Tensor::create(context, DType::F32, *place, Order::ColumnMajor, &scan.dims).unwrap();
            let defects =
                pieces::log_transform(context, None, &moved(&input, *place), model(level), &mut lines).unwrap();
            assert_eq!(defects, PixelDefects::default());
            check(&format!("{dtype:?} lines {place:?}"), &values(&moved(&lines, Location::Host)), &integrals);
        }
    }
}

#[test]
fn wide_counts_give_the_volume_of_their_line_integrals() {
    let context = cpu(0);
    every_way(&context, &[Location::Host], &|what, got, want| assert!(got == want, "{what}"));
    // In double precision, the same but for the rounding of the other one.
    let scan = scan("full");
    let (counts, integrals) = counted(&scan, 1e12);
    let mut fdk = scan.fdk(&context, Options { precision: Precision::F64, ..Options::default() });
    let want = volume(&mut fdk, Projections::Tensor(&tensor(&context, Order::ColumnMajor, &scan.dims, &integrals)));
    fdk.set_counts(Some(model(1e12))).unwrap();
    let got = volume(&mut fdk, Projections::Tensor(&tensor(&context, Order::ColumnMajor, &scan.dims, &counts)));
    assert!(worst(&got, &want) < 1e-5);
}

#[test]
#[ignore = "needs a GPU"]
fn wide_counts_are_subtracted_in_double_precision_on_the_device() {
    let context = gpu(0, 0);
    every_way(&context, &[Location::Host, Location::PinnedHost, Location::Device], &|what, got, want| {
        let largest = want.iter().fold(0f32, |m, v| m.max(v.abs()));
        let error = worst(got, want);
        assert!(error < 1e-5 * largest, "{what}: {error:e} of {largest:e}");
    });
}

#[test]
#[ignore = "needs a GPU"]
fn narrow_counts_over_images_in_double_precision_agree_with_the_cpu() {
    // F32 would round these images.
    let image = |low: f64| Some(Image::Double((0..5120).map(|k| low + f64::from(k % 13) / 7.0).collect()));
    let model = || Counts { unattenuated: 0.0, unattenuated_image: image(50_000.0), dark: image(95.0), least: 0.0 };
    let half = || Counts { unattenuated: 50_000.3, unattenuated_image: None, dark: image(95.0), least: 0.0 };
    let scan = scan("full");
    let counts: Vec<u16> =
        scan.projections.iter().map(|p| (100.0 + 49_000.0 * (-p / 20.0).exp()).round() as u16).collect();
    for model in [&model as &dyn Fn() -> Counts, &half] {
        let lines = |context: &Arc<Context>, place: Location| {
            let input = moved(&tensor(context, Order::ColumnMajor, &scan.dims, &counts), place);
            let mut out = Tensor::create(context, DType::F32, place, Order::ColumnMajor, &scan.dims).unwrap();
            let defects = pieces::log_transform(context, None, &input, model(), &mut out).unwrap();
            (values(&moved(&out, Location::Host)), defects)
        };
        let ((got, a), (want, b)) = (lines(&gpu(0, 0), Location::Device), lines(&cpu(0), Location::Host));
        assert!(worst(&got, &want) < 1e-6 && a == b);
    }
}
