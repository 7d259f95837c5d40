//! Counts and images of counts beyond the range of F32, and images of I0 with dead pixels.

use std::sync::Arc;

use super::device::{gpu, moved};
use super::session::{cpu, empty, scan, tensor, values, worst};
use crate::blocks::number::{Number, encode};
use crate::context::Context;
use crate::fdk::counts::{Counts, Image, LineIntegral, PixelDefects};
use crate::fdk::options::Options;
use crate::fdk::{Fdk, Info, Projections, Volume, pieces};
use crate::scalar::{DType, Real};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

const LARGEST: f64 = f64::MAX;
const SINGLE: f64 = f32::MAX as f64;

/// A count, its I0 and dark count, and the logarithm of (I - dark) / (I0 - dark) with both raised to half a count.
const CASES: [(f64, f64, f64, f64); 14] = [
    (100.0, 1e40, 0.0, -87.498_233_5),
    (2.5e40, 4e40, 1e40, -std::f64::consts::LN_2),
    (1e40, 200.0, 0.0, 86.805_086_3),
    // The difference of I or of I0 and the dark count is beyond the range of F32, and each number is not.
    (SINGLE, SINGLE, -SINGLE, 0.0),
    (SINGLE, 0.0, -SINGLE, std::f64::consts::LN_2),
    (0.0, SINGLE, -SINGLE, -std::f64::consts::LN_2),
    // The same for F64.
    (LARGEST, LARGEST, -LARGEST, 0.0),
    (0.0, LARGEST, -LARGEST, -std::f64::consts::LN_2),
    // Raised to half a count.
    (-1e40, 50.0, 0.0, -4.605_170_186),
    (-LARGEST, LARGEST, 0.0, -710.475_860_1),
    (-LARGEST, 0.5, LARGEST, 0.0),
    // I0 that is at most the dark count is raised, too.
    (8.0, 0.0, 0.0, 2.772_588_722),
    (8.0, -1e40, 0.0, 2.772_588_722),
    (LARGEST, -LARGEST, 0.0, 710.475_860_1),
];

fn check_formula<T: LineIntegral>() {
    let mut raw = [0u8; 8];
    for (count, open, dark, ln) in CASES {
        // Of the second pixel I0 is above the dark count, as a panel needs of one.
        let image = |pixel: f64, other: f64| Some(Image::Double(vec![pixel, other]));
        let unattenuated_image = image(open, 1.0);
        let model = Counts { unattenuated: 0.0, unattenuated_image, dark: image(dark, 0.0), least: 0.0 };
        let counts = model.check([2, 1]).unwrap();
        let mut line = [<T as Real>::from_f64(f64::NAN)];
        encode(Number::F64, &[count], &mut raw);
        let defects = counts.convert(Number::F64, &raw, 0, &mut line);
        let (case, got) = (format!("{count:e} {open:e} {dark:e}"), Real::to_f64(line[0]));
        assert!((got + ln).abs() <= 2e-7 * ln.abs(), "{case}: {got} {ln}");
        let (clamped, negative) = (u64::from(0.5 * count - 0.5 * dark < 0.25), u64::from(ln > 0.0));
        assert_eq!(defects, PixelDefects { clamped, negative, ..PixelDefects::default() }, "{case}");
    }
    // Beside the same images, a count that is not finite has no line integral.
    for count in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let open = Some(Image::Double(vec![1e40]));
        let counts = Counts { unattenuated: 0.0, unattenuated_image: open, dark: None, least: 0.0 };
        let mut line = [<T as Real>::from_f64(0.0)];
        encode(Number::F64, &[count], &mut raw);
        let defects = counts.check([1, 1]).unwrap().convert(Number::F64, &raw, 0, &mut line);
        assert!(Real::to_f64(line[0]).is_nan());
        assert_eq!(defects, PixelDefects { not_finite: 1, ..PixelDefects::default() });
    }
}

#[test]
fn every_finite_count_has_a_finite_line_integral() {
    check_formula::<f32>();
    check_formula::<f64>();
}

/// F32 holds these numbers, but neither their differences nor their quotients.
#[test]
fn narrow_counts_whose_differences_overflow_are_converted_in_double() {
    let counts = |dark: f32, open: f32| Counts {
        unattenuated: 0.0,
        unattenuated_image: Some(vec![open].into()),
        dark: Some(vec![dark].into()),
        least: 1e-30,
    };
    let cases = [(3e38f32, 3e38f32, -3e38f32, 0.0), (3e38, 1e38, -3e38, 1.5f64.ln()), (1e-20, 3e38, 0.0, -134.6485)];
    for (count, open, dark, ln) in cases {
        let mut line = [f32::NAN];
        let raw = count.to_ne_bytes();
        let counts = counts(dark, open).check([1, 1]).unwrap();
        assert!(!counts.needs_double(Number::F32));
        let defects = counts.convert(Number::F32, &raw, 0, &mut line);
        assert!((f64::from(line[0]) + ln).abs() <= 1e-3, "{count:e} {line:?} {ln}");
        assert_eq!(defects.negative, u64::from(ln > 0.0));
        assert_eq!((defects.not_finite, defects.clamped), (0, 0));
    }
}

/// Dead pixels of an image of I0 are common: a count there has a negative line integral, and is counted.
#[test]
fn dead_pixels_of_an_image_are_raised_to_the_least_count() {
    let open = Some(Image::Single(vec![1000.0, 0.0, -3.0, 1000.0]));
    let counts = Counts { unattenuated: 0.0, unattenuated_image: open, dark: None, least: 0.0 }.check([2, 2]).unwrap();
    let mut lines = [0f32; 4];
    let raw: Vec<u8> = [500u16, 8, 8, 0].iter().flat_map(|c| c.to_ne_bytes()).collect();
    let defects = counts.convert(Number::U16, &raw, 0, &mut lines);
    assert_eq!(defects, PixelDefects { clamped: 1, negative: 2, ..PixelDefects::default() });
    let want = [2f32.ln(), -(16f32.ln()), -(16f32.ln()), 2000f32.ln()];
    assert!(worst(&lines, &want) < 1e-6, "{lines:?}");
}

/// The volume of counts, or without a `model` of line integrals, whose views come at once or are pushed.
fn volume(fdk: &mut Fdk, model: Option<&Counts>, pixels: &Tensor, is_pushed: bool) -> (Vec<f32>, Info) {
    let mut out = empty(&Arc::clone(fdk.context()));
    fdk.set_counts(model.cloned()).unwrap();
    let info = if is_pushed {
        fdk.begin(None).unwrap();
        fdk.push(&(0..90).collect::<Vec<_>>(), pixels).unwrap();
        fdk.finish(Volume::Tensor(&mut out), None).unwrap()
    } else {
        fdk.reconstruct(None, Projections::Tensor(pixels), Volume::Tensor(&mut out), None).unwrap()
    };
    (values(&out), info)
}

/// Counts whose differences or quotient F32 does not hold have the line integrals of the formula, and their volume.
fn check_beyond_single_precision(context: &Arc<Context>, places: &[Location]) {
    let scan = scan("full");
    let pixels = scan.projections.len();
    let images = |open: f64, dark: f64| Counts {
        unattenuated: 0.0,
        unattenuated_image: Some(Image::Double(vec![open; 5120])),
        dark: (dark != 0.0).then(|| Image::Double(vec![dark; 5120])),
        least: 0.0,
    };
    let one = |open: f64| Counts { unattenuated: open, unattenuated_image: None, dark: None, least: 0.0 };
    let all = |count: f64| tensor(context, Order::ColumnMajor, &scan.dims, &vec![count; pixels]);
    let mut fdk = scan.fdk(context, Options::default());
    let mut of_lines = |line: f64| volume(&mut fdk, None, &all(line), false).0;
    let cases = [
        (images(1e40, 0.0), 100.0, 1e38f64.ln()),
        (images(4e40, 1e40), 2.5e40, 2f64.ln()),
        (one(200.0), 1e40, (200.0 / 1e40f64).ln()),
    ]
    .map(|(model, count, line)| (model, count, line, of_lines(line)));
    // Whole scans, scans that are added to the volume view by view, and stored ones.
    let ways = places.iter().map(|p| (*p, 0, false)).chain([(Location::Host, 0, true), (Location::Host, 16, true)]);
    for (place, slab, is_pushed) in ways {
        let mut fdk = scan.fdk(context, Options { slab, ..Options::default() });
        // A run counts only the rows that the volume needs.
        let bright = volume(&mut fdk, Some(&one(200.0)), &moved(&all(300.0), place), is_pushed).1.pixels_negative;
        assert!(bright > 0);
        for (model, count, line, want) in &cases {
            let case = format!("{count:e} {place:?} {slab} {is_pushed}");
            let (got, info) = volume(&mut fdk, Some(model), &moved(&all(*count), place), is_pushed);
            let negative = if *line < 0.0 { bright } else { 0 };
            assert_eq!((info.pixels_clamped, info.pixels_negative), (0, negative), "{case}");
            assert_eq!(info.pixels_not_finite, 0, "{case}");
            let largest = want.iter().fold(0f32, |m, v| m.max(v.abs()));
            let error = worst(&got, want);
            assert!(error < 1e-5 * largest, "{case}: {error:e} of {largest:e}");
        }
    }
    for (place, (model, count, line, _)) in places.iter().flat_map(|p| cases.iter().map(move |c| (p, c))) {
        let mut out = Tensor::create(context, DType::F32, *place, Order::ColumnMajor, &scan.dims).unwrap();
        let defects =
            pieces::log_transform(context, None, &moved(&all(*count), *place), model.clone(), &mut out).unwrap();
        let negative = if *line < 0.0 { pixels as u64 } else { 0 };
        assert_eq!(defects, PixelDefects { negative, ..PixelDefects::default() }, "{count:e} {place:?}");
        let error = worst(&values(&moved(&out, Location::Host)), &vec![*line as f32; pixels]);
        assert!(error < 1e-5, "{count:e} {place:?}: {error:e}");
    }
}

#[test]
fn counts_beyond_single_precision_are_converted_in_double() {
    let context = cpu(0);
    check_beyond_single_precision(&context, &[Location::Host]);
    // Types that counts never have are refused by that name.
    let counts = tensor(&context, Order::ColumnMajor, &[2, 2], &[1i64; 4]);
    let mut out = Tensor::create(&context, DType::F32, Location::Host, Order::ColumnMajor, &[2, 2]).unwrap();
    let model = Counts { unattenuated: 2.0, unattenuated_image: None, dark: None, least: 0.0 };
    let e = pieces::log_transform(&context, None, &counts, model, &mut out).unwrap_err().to_string();
    assert_eq!(e, "not supported: counts: is I64, U8 to U32, I8 to I32, F16, F32 or F64 is needed");
}

#[test]
#[ignore = "needs a GPU"]
fn counts_beyond_single_precision_are_converted_in_double_on_the_device() {
    check_beyond_single_precision(&gpu(0, 0), &[Location::Host, Location::Device]);
}
