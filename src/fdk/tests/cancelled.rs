//! Single steps and conversions of counts: a cancel of the context or of the object ends them. Weights of a pixel depend on
//! no other pixel.

use std::sync::Arc;

use super::device::{gpu, moved};
use super::session::{cpu, scan, tensor, values};
use crate::context::Context;
use crate::fdk::counts::{Counts, PixelDefects};
use crate::fdk::options::Options;
use crate::fdk::pieces;
use crate::scalar::DType;
use crate::shape::Order;
use crate::tensor::{Location, Tensor};
use crate::testing::cancel::is_cancelled;

#[test]
fn weights_and_conversions_of_counts_end_within_a_view() {
    let (context, scan) = (cpu(0), scan("full"));
    let fdk = scan.fdk(&context, Options::default());
    let views: Vec<i64> = (0..scan.dims[2] as i64).collect();
    let input = scan.tensor(&context);
    let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &scan.dims).unwrap();
    let cancel = || context.cancel();
    is_cancelled(&cancel, "weight", || fdk.weight(None, &views, &input, &mut out));
    let model = || Counts { unattenuated: 100.0, unattenuated_image: None, dark: None, least: 0.0 };
    is_cancelled(&cancel, "log_transform", || {
        pieces::log_transform(&context, None, &input, model(), &mut out).map(drop)
    });
}

#[test]
fn a_cancel_of_the_object_ends_its_single_steps() {
    let (context, scan) = (cpu(0), scan("full"));
    let fdk = scan.fdk(&context, Options::default());
    let handle = fdk.cancel_handle();
    let cancel = || handle.cancel();
    let [columns, rows, count] = scan.dims;
    let views: Vec<i64> = (0..count as i64).collect();
    let host = |dims: &[usize]| Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, dims).unwrap();
    let (mut weighted, mut filtered) = (host(&scan.dims), host(&[fdk.plan().columns, rows, count]));
    let (mut drawn, mut volume) = (host(&[columns, rows, count]), host(&fdk.plan().grid.size));
    let mut list = Tensor::create(&context, DType::F64, Location::Host, Order::ColumnMajor, &[8, 10]).unwrap();
    pieces::shepp_logan(20.0, &mut list).unwrap();
    let input = scan.tensor(&context);
    is_cancelled(&cancel, "weight", || fdk.weight(None, &views, &input, &mut weighted));
    is_cancelled(&cancel, "filter", || fdk.filter(None, &views, &weighted, &mut filtered));
    is_cancelled(&cancel, "backproject", || fdk.backproject(None, &views, &filtered, &mut volume));
    is_cancelled(&cancel, "ellipsoids", || fdk.ellipsoids(None, &list, &mut drawn));
    is_cancelled(&cancel, "ellipsoid_volume", || fdk.ellipsoid_volume(&list, &mut volume));
}

/// Counts are copied some images at a time, in any order of their axes, and find their pixel of the dark image.
#[test]
fn counts_of_many_images_are_converted_as_each_alone() {
    let context = cpu(0);
    // Images of 1.6 MB and of 25 kB, and one of 5.6 MB: more than are copied together.
    for dims in [vec![512, 400, 5], vec![64, 48, 2, 170], vec![1000, 700]] {
        let (panel, all) = (dims[0] * dims[1], dims.iter().product::<usize>());
        let counts: Vec<f64> = (0..all).map(|k| 100.0 + (k % 1009) as f64).collect();
        let dark: Vec<f32> = (0..panel).map(|k| (k % 89) as f32).collect();
        let model = |dark: &[f32]| Counts {
            unattenuated: 2000.0,
            unattenuated_image: None,
            dark: Some(dark.to_vec().into()),
            least: 0.0,
        };
        let input = tensor(&context, Order::RowMajor, &dims, &counts);
        let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &dims).unwrap();
        let defects = pieces::log_transform(&context, None, &input, model(&dark), &mut out).unwrap();
        let view = input.view::<f64>("counts").unwrap();
        assert_eq!(defects, PixelDefects::default());
        let lines = out.view::<f32>("lines").unwrap();
        for k in (0..all).step_by(977) {
            let mut at = vec![0; dims.len()];
            dims.iter().zip(&mut at).fold(k, |rest, (n, i)| {
                *i = rest % n;
                rest / n
            });
            let (count, dark) = (view.get(&at), f64::from(dark[k % panel]));
            let want = -((count - dark).max(0.5) / (2000.0 - dark)).ln();
            let error = (f64::from(lines.get(&at)) - want).abs();
            assert!(error < 1e-6 * (1.0 + want), "{dims:?} {at:?}: {error:e}");
        }
    }
}

/// Pixels that are not finite become NaN, and no other pixel is changed by them.
fn check_not_finite(context: &Arc<Context>, place: Location) {
    for name in ["full", "short", "displaced"] {
        let scan = scan(name);
        let fdk = scan.fdk(context, Options::default());
        let views: Vec<i64> = (0..scan.dims[2] as i64).collect();
        let weighted = |pixels: &[f32]| {
            let input = moved(&tensor(context, Order::ColumnMajor, &scan.dims, pixels), place);
            let mut out = Tensor::create(context, DType::F32, place, Order::ColumnMajor, &scan.dims).unwrap();
            fdk.weight(None, &views, &input, &mut out).unwrap();
            values(&moved(&out, Location::Host))
        };
        let want = weighted(&scan.projections);
        let mut pixels = scan.projections.clone();
        let bad = [(100, f32::NAN), (5000, f32::INFINITY), (9999, f32::NEG_INFINITY)];
        bad.iter().for_each(|(at, value)| pixels[*at] = *value);
        let got = weighted(&pixels);
        for (k, (got, want)) in got.iter().zip(&want).enumerate() {
            let is_bad = bad.iter().any(|(at, _)| *at == k);
            assert!(if is_bad { got.is_nan() } else { got == want }, "{name} {k}: {got} {want}");
        }
    }
}

#[test]
fn weights_make_pixels_that_are_not_finite_nan() {
    check_not_finite(&cpu(0), Location::Host);
}

#[test]
#[ignore = "needs a GPU"]
fn weights_make_pixels_that_are_not_finite_nan_on_a_gpu() {
    for place in [Location::Host, Location::Device] {
        check_not_finite(&gpu(0, 0), place);
    }
}
