//! Every option: it changes the plan or the result, or is refused by its name.

use std::sync::Arc;

use super::calls::split;
use super::device;
use super::inputs::{context, matrix};
use crate::context::Context;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::rpca::{Frames, Options};
use crate::scalar::DType;
use crate::shape::Order;

/// The report without times and measured memory, and all numbers of both parts as bits.
type Seen = (String, Vec<u64>);

fn seen(context: &Arc<Context>, m: &Matrix, mask: Option<&Matrix>, options: &Options) -> Result<Seen> {
    let single = options.dtype == Some(DType::F32);
    let (low, sparse, mut info) = match single {
        true => {
            let (low, sparse, info) = split::<f32>(context, m, mask, options)?;
            let wide = |part: Vec<f32>| part.into_iter().map(f64::from).collect::<Vec<_>>();
            (wide(low), wide(sparse), info)
        }
        false => split::<f64>(context, m, mask, options)?,
    };
    (info.seconds, info.seconds_svd, info.seconds_elementwise, info.seconds_read) = (0.0, 0.0, 0.0, 0.0);
    (info.host_bytes_used, info.device_bytes_used) = (0, 0);
    Ok((format!("{info:?}"), low.iter().chain(&sparse).map(|x| x.to_bits()).collect()))
}

/// An option and a change of it. None is the value of a base below.
type Change = (&'static str, fn(&mut Options));

const CHANGES: [Change; 16] = [
    ("lambda", |o| o.lambda = 0.2),
    ("tolerance", |o| o.tolerance = 1e-4),
    ("mu", |o| o.mu = 0.3),
    ("rho", |o| o.rho = 1.3),
    ("threshold", |o| o.threshold = 20.0),
    ("scale", |o| o.scale = 3.0),
    ("max_iterations", |o| o.max_iterations = 6),
    ("max_rank", |o| o.max_rank = 1),
    ("fixed_rank", |o| o.fixed_rank = 4),
    ("power_iterations", |o| o.power_iterations = 3),
    ("oversampling", |o| o.oversampling = 3),
    ("block_rows", |o| o.block_rows = 11),
    ("seed", |o| o.seed = 9),
    ("warm_start", |o| o.warm_start = false),
    ("frames", |o| o.frames = Frames::Rows),
    ("dtype", |o| o.dtype = Some(DType::F32)),
];

#[test]
fn every_option_has_a_change() {
    // One field a line, as the derived `Debug` writes them; the lines of a value have more spaces before them.
    let text = format!("{:#?}", Options::default());
    let fields = text.lines().filter_map(|line| Some(line.strip_prefix("    ")?.split_once(": ")?.0));
    let fields: Vec<_> = fields.filter(|name| !name.starts_with(' ')).collect();
    assert_eq!(CHANGES.map(|change| change.0).as_slice(), fields);
}

#[test]
fn every_option_acts_or_is_refused_by_name() {
    expect_effects(&context());
}

#[test]
#[ignore = "needs a GPU"]
fn every_option_acts_or_is_refused_by_name_on_a_gpu() {
    expect_effects(&device::gpu_context(0));
}

/// Changes each option beside each base. Prints all cases that are wrong, so that one run shows them.
fn expect_effects(context: &Arc<Context>) {
    let entry = |i: usize, j: usize| {
        let low = (0.3 * i as f64).sin() * (0.7 * j as f64).cos() + (0.2 * i as f64).cos() * (0.9 * j as f64).sin();
        if (i * 31 + j * 17).is_multiple_of(41) { low + 5.0 } else { low }
    };
    let bases = [
        Options::default(),
        Options { fixed_rank: 2, max_iterations: 200, ..Options::default() },
        Options { max_rank: 2, max_iterations: 200, ..Options::default() },
        Options { power_iterations: 0, max_iterations: 200, ..Options::default() },
    ];
    let mut failures = Vec::new();
    for size in [(60, 60), (50, 70)] {
        let m = matrix(context, Order::ColumnMajor, size, entry);
        let observed = matrix(context, Order::ColumnMajor, size, |i, j| u8::from((i * 7 + j * 3) % 11 > 0));
        for (k, base) in bases.iter().enumerate() {
            for mask in [None, Some(&observed)].into_iter().take(if k == 0 { 2 } else { 1 }) {
                let beside = format!("{size:?}, {base:?}, {} mask", if mask.is_some() { "a" } else { "no" });
                let plain = match seen(context, &m, mask, base) {
                    Ok(plain) => plain,
                    Err(e) => {
                        failures.push(format!("{beside}: {e}"));
                        continue;
                    }
                };
                for (name, change) in CHANGES {
                    let mut options = base.clone();
                    change(&mut options);
                    // The two ranks exclude each other; the message names both.
                    let refused = match name {
                        "frames" if size.0 != size.1 => Some(name),
                        "max_rank" if base.fixed_rank > 0 => Some(name),
                        "fixed_rank" if base.max_rank > 0 => Some("max_rank"),
                        _ => None,
                    };
                    let problem = match (seen(context, &m, mask, &options), refused) {
                        (Ok(found), None) => (found == plain).then(|| "it does nothing".to_owned()),
                        (Ok(_), Some(_)) => Some("it is not refused".to_owned()),
                        (Err(e), Some(name)) if e.to_string().starts_with(&format!("{name}: is ")) => None,
                        (Err(e), _) => Some(e.to_string()),
                    };
                    failures.extend(problem.map(|problem| format!("{name}, {beside}: {problem}")));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} cases:\n{}", failures.len(), failures.join("\n"));
}
