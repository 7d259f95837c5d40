//! Every option with every method: it changes the plan or the result, or is refused by its name.

use std::path::PathBuf;
use std::sync::Arc;

use super::support::{PACKED, bits, cpu, factor_with, gpu, matrix, with_spectrum};
use crate::context::Context;
use crate::dense::sketch::Distribution;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::rsvd::data::Resident;
use crate::rsvd::options::{Centering, ErrorKind, IterationPrecision, Method, Orthonormalization, Right, Sign};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::DType;

/// The plan and its reason in the end, and all numbers of the result as bits.
type Seen = (String, Vec<Vec<(u64, u64)>>);

fn seen(a: &Matrix, options: &Options) -> Result<Seen> {
    let mut rsvd = Rsvd::new(a.context(), options.clone())?;
    let plan = format!("{:?}", rsvd.plan(a)?);
    let (f, single) = match options.dtype {
        Some(DType::F32) => {
            let f = factor_with::<f32>(&mut rsvd, a)?;
            ((bits(&f.u), bits(&f.v), f.s, f.info), true)
        }
        _ => {
            let f = factor_with::<f64>(&mut rsvd, a)?;
            ((bits(&f.u), bits(&f.v), f.s, f.info), false)
        }
    };
    let (u, v, s, info) = f;
    let plan = plan + &info.reason;
    let number = |x: &f64| (x.to_bits(), u64::from(single));
    let figures = [info.error_frobenius, info.error_spectral, info.frobenius];
    Ok((plan, vec![u, v, s.iter().map(number).collect(), figures.iter().map(number).collect()]))
}

/// An option, a change of it, and the methods whose numbers it does not change although it acts.
type Change = (&'static str, fn(&mut Options), &'static [Method]);

const CHANGES: [Change; 21] = [
    ("rank", |o| o.rank = 5, &[]),
    ("oversampling", |o| o.oversampling = Some(3), &[]),
    ("power_iterations", |o| o.power_iterations = Some(1), &[]),
    ("max_rank", |o| o.max_rank = 7, &[]),
    ("block_columns", |o| o.block_columns = 3, &[]),
    ("block_rows", |o| o.block_rows = 11, &[]),
    ("resident_rows", |o| o.resident_rows = Resident::AtMost(4), &[]),
    ("merge_width", |o| o.merge_width = 20, &[]),
    // Draws the columns that replace dependent ones, and probes, where there is no sketch.
    ("seed", |o| o.seed = 9, &[Method::Direct, Method::Gram, Method::Auto]),
    ("smallest_ratio", |o| o.smallest_ratio = 1e-9, &[]),
    ("dtype", |o| o.dtype = Some(DType::F32), &[]),
    ("orthonormalization", |o| o.orthonormalization = Orthonormalization::Householder, &[]),
    // All eigenvectors of a small A^H A are found, and no sketch is needed: AUTO takes GRAM here.
    ("sketch", |o| o.sketch = Distribution::Uniform, &[Method::Gram, Method::Auto]),
    ("center", |o| o.center = Centering::Columns, &[]),
    ("scale", |o| o.scale = true, &[]),
    ("sign", |o| o.sign = Sign::None, &[]),
    ("right", |o| o.right = Right::Vh, &[]),
    ("error", |o| o.error = ErrorKind::Probes, &[]),
    ("one_pass", |o| o.one_pass = true, &[]),
    ("iteration_precision", |o| o.iteration_precision = IterationPrecision::Fast, &[]),
    ("read_rate", |o| o.read_rate = 1e6, &[]),
];

/// The options without a change above, and where each is tested.
const ELSEWHERE: [(&str, &str); 4] = [
    ("method", "every test here, for each method"),
    ("tolerance", "what_has_no_effect_beside_a_tolerance_or_a_sketch_is_refused_by_name"),
    ("probes", "estimates.rs, by estimates of errors that are known"),
    ("restart_path", "every_option_acts_or_is_refused_by_name, by its file"),
];

#[test]
fn every_option_has_a_change() {
    // One field a line, as the derived `Debug` writes them; the lines of a value have more spaces before them.
    let text = format!("{:#?}", Options::default());
    let fields = text.lines().filter_map(|line| Some(line.strip_prefix("    ")?.split_once(": ")?.0));
    let fields: Vec<_> = fields.filter(|name| !name.starts_with(' ')).collect();
    let listed: Vec<_> = CHANGES.iter().map(|change| change.0).chain(ELSEWHERE.iter().map(|e| e.0)).collect();
    for name in &fields {
        assert_eq!(
            listed.iter().filter(|n| *n == name).count(),
            1,
            "{name}: CHANGES or ELSEWHERE has one entry for it"
        );
    }
    assert_eq!(listed.len(), fields.len(), "every entry is of an option: {listed:?}, {fields:?}");
}

fn refused_by_name(name: &str, e: &Error) -> bool {
    matches!(e, Error::InvalidArgument { .. } | Error::NotSupported(_)) && e.to_string().contains(&format!("{name}:"))
}

/// Changes that a GPU may not show, with the methods of which that holds. Canonical signs may be those of the factorization.
/// AUTO may choose another method than on the CPU, and a GPU need not orthonormalize anything in a direct decomposition or
/// for a Gram matrix. Methods of one pass keep no rows.
const HIDDEN_ON_A_GPU: [(&str, &[Method]); 5] = [
    ("sign", &Method::ALL),
    ("resident_rows", &Method::ALL),
    ("smallest_ratio", &[Method::Auto]),
    ("oversampling", &[Method::Auto]),
    ("orthonormalization", &[Method::Auto, Method::Gram, Method::Direct]),
];

#[test]
fn every_option_acts_or_is_refused_by_name() {
    let tried = try_all(&cpu(), &[]);
    tried.expect_no_failure();
    expect_documented(&tried.refused);
}

#[test]
#[ignore = "needs a GPU"]
fn every_option_acts_or_is_refused_by_name_on_a_gpu() {
    let mut tried = try_all(&gpu(), &HIDDEN_ON_A_GPU);
    // The chapter is not where the test runs, but the CPU's refusals are those of the chapter.
    for ((name, found), (_, right)) in tried.refused.iter().zip(try_all(&cpu(), &[]).refused) {
        // The one option that a GPU alone uses.
        let right = if *name == "resident_rows" { Vec::new() } else { right };
        if *found != right {
            tried.failures.push(format!("{name} is refused by {found:?}, not {right:?}"));
        }
    }
    tried.expect_no_failure();
}

/// The methods that refuse each option, and all cases that are wrong.
struct Tried {
    refused: Vec<(&'static str, Vec<Method>)>,
    failures: Vec<String>,
}

impl Tried {
    /// Prints all cases that are wrong, so that one run shows them.
    fn expect_no_failure(&self) {
        assert!(self.failures.is_empty(), "{} cases:\n{}", self.failures.len(), self.failures.join("\n"));
    }
}

/// Changes each option with each method. Methods that do not refuse an option show its effect, except where `hidden` has both.
fn try_all(context: &Arc<Context>, hidden: &[(&str, &[Method])]) -> Tried {
    let s: Vec<f64> = (0..64).map(|j| 0.8f64.powi(j)).collect();
    let a = matrix(context, &with_spectrum::<f64>(&cpu(), 90, 64, &s, 4), PACKED);
    let names = CHANGES.iter().map(|change| change.0).chain(["restart_path"]);
    let mut tried = Tried { refused: names.map(|name| (name, Vec::new())).collect(), failures: Vec::new() };
    for method in Method::ALL {
        let base = Options { rank: 4, method, block_rows: 30, ..Options::default() };
        let plain = match seen(&a, &base) {
            Ok(plain) => plain,
            Err(e) => {
                tried.failures.push(format!("{method:?}: {e}"));
                continue;
            }
        };
        for (k, (name, change, others)) in CHANGES.into_iter().enumerate() {
            let mut options = base.clone();
            change(&mut options);
            let is_hidden = others.contains(&method) || hidden.iter().any(|h| h.0 == name && h.1.contains(&method));
            let problem = match seen(&a, &options) {
                Ok(found) if is_hidden || found != plain => None,
                Ok(_) => Some("it does nothing".to_owned()),
                // One factor is not to be had then, and both are asked for.
                Err(e) if name == "one_pass" && method == Method::Merge => {
                    (!e.to_string().contains(" u: one pass")).then(|| e.to_string())
                }
                Err(e) => {
                    tried.refused[k].1.push(method);
                    (!refused_by_name(name, &e)).then(|| e.to_string())
                }
            };
            tried.failures.extend(problem.map(|problem| format!("{name} in {method:?}: {problem}")));
        }
        // Seen by its file and by the passes that a restart saves.
        let path = PathBuf::from("/nonexistent/restart");
        let problem = match seen(&a, &Options { restart_path: Some(path), ..base.clone() }) {
            Ok(_) => Some("it does nothing".to_owned()),
            Err(Error::Io { .. }) => None,
            Err(e) => {
                tried.refused[CHANGES.len()].1.push(method);
                (!refused_by_name("restart_path", &e)).then(|| e.to_string())
            }
        };
        tried.failures.extend(problem.map(|problem| format!("restart_path in {method:?}: {problem}")));
    }
    tried
}

/// The name of a method in the documentation.
fn documented(method: Method) -> String {
    let mut name = String::from("`");
    for (k, letter) in format!("{method:?}").chars().enumerate() {
        if k > 0 && letter.is_uppercase() {
            name.push('_');
        }
        name.extend(letter.to_uppercase());
    }
    name + "`"
}

/// The chapter has a line for each option that says which methods use and which refuse it.
fn expect_documented(refused: &[(&str, Vec<Method>)]) {
    let chapter = std::fs::read_to_string(crate::testing::source("docs/rsvd.md")).unwrap();
    let list = |methods: Vec<Method>| match methods.len() {
        0 => "none".to_owned(),
        n if n == Method::ALL.len() => "all".to_owned(),
        _ => methods.into_iter().map(documented).collect::<Vec<_>>().join(", "),
    };
    let mut missing = String::new();
    for (name, refused) in refused {
        let used = Method::ALL.into_iter().filter(|m| !refused.contains(m)).collect();
        let line = format!("| `{name}` | {} | {} |", list(used), list(refused.clone()));
        if !chapter.contains(&line) {
            missing += &(line + "\n");
        }
    }
    assert!(missing.is_empty(), "docs/rsvd.md lacks the lines\n{missing}");
}

#[test]
fn what_the_choice_of_auto_has_no_use_for_is_named() {
    let context = cpu();
    let a = matrix(&context, &with_spectrum::<f64>(&context, 24, 14, &[1.0; 14], 5), PACKED);
    let reason = |o: Options| {
        let info = Rsvd::new(&context, Options { rank: 4, ..o }).unwrap().plan(&a).unwrap();
        assert_eq!(info.method, Method::Direct);
        info.reason
    };
    assert!(!reason(Options::default()).contains("no effect"));
    let sketch = Distribution::SparseSign;
    for (name, options) in [
        ("sketch", Options { sketch, ..Options::default() }),
        ("power_iterations", Options { power_iterations: Some(5), ..Options::default() }),
        ("smallest_ratio", Options { smallest_ratio: 0.5, ..Options::default() }),
    ] {
        let reason = reason(options);
        assert!(reason.ends_with(&format!("; {name} has no effect")), "{reason}");
    }
}

#[test]
fn what_has_no_effect_beside_a_tolerance_or_a_sketch_is_refused_by_name() {
    let context = cpu();
    let s: Vec<f64> = (0..24).map(|j| 0.7f64.powi(j)).collect();
    let a = matrix(&context, &with_spectrum::<f64>(&context, 40, 24, &s, 4), PACKED);
    let base = Options { tolerance: 1e-2, ..Options::default() };
    let plain = seen(&a, &base).unwrap();
    for (name, change, _) in CHANGES {
        let mut options = base.clone();
        change(&mut options);
        // The residual of a basis decides, however the basis was found; this device iterates in full precision.
        let acts_elsewhere = ["iteration_precision", "block_rows"].contains(&name);
        match seen(&a, &options) {
            Ok(found) => assert!(acts_elsewhere || found != plain, "{name} does nothing beside a tolerance"),
            Err(e) => assert!(refused_by_name(name, &e), "{name}: {e}"),
        }
    }
    let omega = matrix(&context, &with_spectrum::<f64>(&context, 24, 14, &[1.0; 14], 5), PACKED);
    let given = |options: Options| {
        let mut rsvd = Rsvd::new(&context, options).unwrap();
        rsvd.set_sketch(Some(&omega)).unwrap();
        rsvd
    };
    let o = Options { rank: 4, ..Options::default() };
    let direct = given(Options { method: Method::Direct, ..o.clone() }).plan(&a).unwrap_err();
    assert!(direct.to_string().contains("omega:"), "{direct}");
    // l is more than half of min(m, n), but a direct decomposition would not look at the sketch.
    assert_ne!(given(o.clone()).plan(&a).unwrap().method, Method::Direct);
    assert_eq!(Rsvd::new(&context, o.clone()).unwrap().plan(&a).unwrap().method, Method::Direct);
    let e = given(o).fit_pca(None, &a, &crate::rsvd::pca::PcaOptions::default(), None, None);
    assert!(e.err().is_some_and(|e| e.to_string().contains("omega:")));
}

#[test]
fn what_the_type_cannot_hold_is_no_success() {
    let context = cpu();
    let big = |x: f64| {
        let mut a = with_spectrum::<f64>(&context, 30, 30, &[1.0], 1);
        a.data.fill(x);
        matrix(&context, &a, PACKED)
    };
    let run = |x: f64| seen(&big(x), &Options { rank: 1, ..Options::default() });
    assert!(matches!(run(1e308), Err(Error::Numerical(t)) if t.starts_with("s: number 0 is")));
    assert!(run(1e306).is_ok());
    let mut rsvd = Rsvd::new(&context, Options { rank: 1, ..Options::default() }).unwrap();
    for (x, fits) in [(1e200, false), (1e-200, false), (1e150, true), (1e-150, true)] {
        let mut a = with_spectrum::<f64>(&context, 30, 3, &[1.0], 1);
        (0..90).for_each(|k| a.data[k] = x * ((k % 30) as f64 - 14.5));
        let found = rsvd.fit_pca(None, &matrix(&context, &a, PACKED), &Default::default(), None, None);
        match found {
            Ok((pca, _)) => {
                let mut ratio = super::support::vector(&context, 1);
                pca.explained_variance_ratio(&mut ratio).unwrap();
                assert!(fits && (super::support::numbers(&ratio)[0] - 1.0).abs() < 1e-12, "{x:e}");
            }
            Err(e) => assert!(!fits && matches!(e, Error::Numerical(_)), "{x:e}: {e}"),
        }
    }
    let a = big(1.0);
    let mut u = with_spectrum::<f64>(&context, 30, 1, &[1.0], 1);
    let v = matrix(&context, &u, PACKED);
    u.data[7] = f64::NAN;
    let (u, mut s) = (matrix(&context, &u, PACKED), super::support::vector(&context, 1));
    let e = rsvd.error(None, &a, (&u, &s, &v), None).unwrap_err();
    assert_eq!(e.to_string(), "u: has NaN in row 7, column 0 (from 0)");
    s.view_mut::<f64>("s").unwrap().set(&[0], f64::INFINITY);
    let e = rsvd.error(None, &a, (&v, &s, &v), None).unwrap_err();
    assert!(e.to_string().starts_with("s: number 0 is inf"), "{e}");
}

#[test]
fn a_tolerance_that_all_triplets_meet_is_met() {
    let context = cpu();
    let flat = vec![1.0; 30];
    let graded: Vec<f64> = (0..30).map(|j| 0.5f64.powi(j)).collect();
    for (rows, columns, s) in [(60, 30, &flat), (30, 30, &flat), (60, 30, &graded), (1, 30, &flat), (30, 1, &flat)] {
        let least = rows.min(columns);
        let a = with_spectrum::<f64>(&context, rows, columns, &s[..least], 2);
        for tolerance in [1e-3, 1e-6, 1e-8, 1e-10] {
            for error in [ErrorKind::Identity, ErrorKind::Probes] {
                let options = Options { tolerance, error, ..Options::default() };
                let f = super::support::factor::<f64>(&context, &matrix(&context, &a, PACKED), options).unwrap();
                let name = format!("{rows} x {columns} to {tolerance:e}, {error:?}: {:?}", f.info);
                assert!(f.info.converged, "{name}");
                let k = usize::try_from(f.info.rank).unwrap();
                let (u, v) = (super::support::leading(&f.u, k), super::support::leading(&f.v, k));
                let off = super::support::residual(&a, &u, &f.s[..k], &v);
                assert!(
                    off <= 1.001 * tolerance * s[..least].iter().map(|x| x * x).sum::<f64>().sqrt(),
                    "{name}: {off:e}"
                );
                // The kind of the error names its source.
                assert!(f.info.error_kind != ErrorKind::None && f.info.error_relative <= 1.3 * tolerance, "{name}");
            }
        }
    }
    // A rank that does not do is not confirmed.
    let a = matrix(&context, &with_spectrum::<f64>(&context, 60, 30, &graded, 2), PACKED);
    for (tolerance, max_rank) in [(1e-3, 5), (1e-8, 20), (1e-8, 5)] {
        let options = Options { tolerance, max_rank, block_columns: 5, ..Options::default() };
        assert!(
            !super::support::factor::<f64>(&context, &a, options).unwrap().info.converged,
            "{tolerance:e} {max_rank}"
        );
    }
}
