//! Plans of principal components: they agree with the fits about memory, passes, method and refusals.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::checksums::Products;
use super::memory::{Case, Data, From, blank, context, matrix, options, sparse};
use super::support::with_spectrum;
use crate::blocks::number::Number;
use crate::context::Context;
use crate::dense::Op;
use crate::error::{Error, Result};
use crate::matrix::{Matrix, Operator};
use crate::rsvd::options::{Centering, ErrorKind, Method, Sign};
use crate::rsvd::pca::{PcaOptions, Samples};
use crate::rsvd::{Info, Options, Rsvd};
use crate::scalar::DType;

/// Samples on a context, and how often their source was read.
type Make<'a> = &'a dyn Fn(&Arc<Context>) -> (Matrix, Arc<AtomicUsize>);

fn fit(context: &Arc<Context>, x: &Matrix, options: &Options, own: &PcaOptions, with_scores: bool) -> Result<Info> {
    let dtype = options.dtype.unwrap_or(x.dtype());
    let by_columns = own.samples == Samples::Columns;
    let (rows, columns) = if by_columns { (options.rank, x.cols()) } else { (x.rows(), options.rank) };
    let mut scores = blank(context, dtype, rows, columns);
    let scores = Some(&mut scores).filter(|_| with_scores);
    Rsvd::new(context, options.clone())?.fit_pca(None, x, own, scores, None).map(|(_, info)| info)
}

/// Plans and fits under limits of host memory from far too little to ample.
fn sweep(name: &str, options: &Options, own: &PcaOptions, with_scores: bool, make: Make<'_>) {
    let free = context(0);
    let ample = fit(&free, &make(&free).0, options, own, with_scores).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (mut accepted, mut refused) = (0, 0);
    for eighths in [1, 6, 8, 10, 16, 40] {
        let limit = u64::try_from(ample.host_bytes).unwrap() * eighths / 8;
        let context = context(limit);
        let (x, reads) = make(&context);
        let planned = Rsvd::new(&context, options.clone()).unwrap().plan_pca(&x, own, with_scores);
        assert_eq!((context.host_budget().used(), reads.load(Ordering::Relaxed)), (0, 0), "{name}");
        let done = fit(&context, &x, options, own, with_scores);
        match planned {
            Ok(planned) => {
                accepted += 1;
                let done = done.unwrap_or_else(|e| panic!("{name}: limit {limit}: {e}: {planned:?}"));
                let plan_of = |i: &Info| {
                    let sizes = [i.rank, i.columns, i.power_iterations, i.passes, i.host_bytes, i.bytes_predicted];
                    (i.method, i.dtype, i.transposed, sizes, [i.blocks, i.block_rows, i.resident_rows])
                };
                assert_eq!(plan_of(&planned), plan_of(&done), "{name}: limit {limit}: {planned:?} {done:?}");
                assert!(done.reason.starts_with(&planned.reason), "{name}: {planned:?} {done:?}");
                assert_eq!(done.bytes_predicted, done.bytes_read, "{name}");
                let used = u64::try_from(done.host_bytes_used).unwrap();
                let ratio = planned.host_bytes as f64 / used as f64;
                assert!(used <= limit && (0.9..=1.1).contains(&ratio), "{name}: {limit}: {used}: {planned:?}");
            }
            Err(e) => {
                refused += 1;
                assert!(matches!(e, Error::OutOfMemory { limit: Some(named), .. } if named == limit), "{name}: {e}");
                assert_eq!((done.unwrap_err(), reads.load(Ordering::Relaxed)), (e.clone(), 0), "{name}");
                // The bytes that the message names are enough.
                let Error::OutOfMemory { bytes, .. } = e else { unreachable!() };
                let enough = self::context(bytes);
                let again = Rsvd::new(&enough, options.clone()).unwrap().plan_pca(&make(&enough).0, own, with_scores);
                assert!(bytes > limit && again.is_ok(), "{name}: limit {limit}: {e}: {again:?}");
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{name}: {accepted} accepted, {refused} refused");
}

#[test]
fn a_plan_and_its_fit_agree_under_every_limit() {
    let numbers = [(Number::F64, None), (Number::F32, None), (Number::Cf64, None), (Number::I16, Some(DType::F64))];
    for (round, method) in Method::ALL.into_iter().enumerate() {
        for (step, from) in [From::Memory, From::Rows, From::Columns].into_iter().enumerate() {
            for with_scores in [false, true] {
                let samples = if from == From::Columns { Samples::Columns } else { Samples::Rows };
                let (number, dtype) = numbers[(round + step) % numbers.len()];
                // Samples are mostly rows of sources of rows. Those in memory may be either.
                let samples = if from == From::Memory && round % 2 == 0 { Samples::Columns } else { samples };
                let (rows, columns) = if samples == Samples::Columns { (36, 240) } else { (240, 36) };
                let own = PcaOptions { samples, center: round % 3 > 0, ..PcaOptions::default() };
                let name = format!("{method:?} {number:?} {from:?} {own:?} scores {with_scores}");
                let case = Case { rows, columns, number, from, data: Data::Full };
                sweep(&name, &Options { dtype, ..options(method) }, &own, with_scores, &|c| matrix(c, case));
            }
        }
    }
}

#[test]
fn scales_and_probes_of_the_error_count() {
    let case = |from| Case { rows: 200, columns: 40, number: Number::F64, from, data: Data::Full };
    for method in [Method::Auto, Method::Fused, Method::Range, Method::Merge] {
        for (scale, error) in [(true, ErrorKind::Identity), (false, ErrorKind::Probes), (true, ErrorKind::Power)] {
            let own = PcaOptions { scale, whiten: scale, ..PcaOptions::default() };
            let options = Options { error, ..options(method) };
            let name = format!("{method:?} {error:?} {own:?}");
            sweep(&name, &options, &own, true, &|c| matrix(c, case(From::Rows)));
            sweep(&name, &options, &own, false, &|c| matrix(c, case(From::Memory)));
        }
    }
}

#[test]
fn plans_of_sparse_samples_agree_with_their_fits() {
    for method in [Method::Auto, Method::Fused, Method::RowFused, Method::Range, Method::Krylov, Method::OnePass] {
        for (center, scale) in [(false, false), (true, false), (true, true)] {
            for with_scores in [false, true] {
                let own = PcaOptions { center, scale, ..PcaOptions::default() };
                let name = format!("sparse {method:?} {own:?} scores {with_scores}");
                sweep(&name, &options(method), &own, with_scores, &|c| (sparse(c, 300, 60), Arc::default()));
            }
        }
    }
}

/// Without an error to estimate, probes still give the total variance of an operator.
#[test]
fn plans_of_operators_count_the_passes_of_their_variance() {
    let context = context(0);
    let values: Vec<f64> = (0..20).map(|i| 0.8f64.powi(i)).collect();
    let entries = with_spectrum::<f64>(&context, 240, 36, &values, 3);
    let x = Matrix::from_operator::<f64>(&context, Box::new(Products(entries)));
    for method in Method::ALL {
        if matches!(method, Method::Gram | Method::Brsvd | Method::Merge | Method::Nystrom | Method::Rayleigh) {
            continue;
        }
        for error in [ErrorKind::None, ErrorKind::Identity, ErrorKind::Probes, ErrorKind::Power] {
            for with_scores in [false, true] {
                let (options, own) = (Options { error, ..options(method) }, PcaOptions::default());
                let planned = Rsvd::new(&context, options.clone()).unwrap().plan_pca(&x, &own, with_scores).unwrap();
                let done = fit(&context, &x, &options, &own, with_scores).unwrap();
                let plan_of =
                    |i: &Info| (i.method, [i.passes, i.columns, i.blocks, i.block_rows, i.resident_rows, i.host_bytes]);
                assert_eq!(plan_of(&planned), plan_of(&done), "{method:?} {error:?} scores {with_scores}: {done:?}");
            }
        }
    }
}

/// The scores of RANGE and FUSED take a pass of their own, which a plan without scores does not count.
#[test]
fn a_plan_counts_the_pass_of_scores() {
    let context = context(0);
    let case = Case { rows: 240, columns: 36, number: Number::F64, from: From::Rows, data: Data::Full };
    let (x, _) = matrix(&context, case);
    for method in Method::ALL {
        if matches!(method, Method::Nystrom | Method::Rayleigh) {
            continue;
        }
        let session = Rsvd::new(&context, options(method)).unwrap();
        let [without, with] =
            [false, true].map(|scores| session.plan_pca(&x, &PcaOptions::default(), scores).unwrap().passes);
        let further = i64::from(matches!(method, Method::Range | Method::Fused));
        assert!(method == Method::Auto || with - without == further, "{method:?}: {without} and {with} passes");
    }
}

/// An operator that no plan and no refused fit may call.
struct Unread;

impl Operator<f64> for Unread {
    fn shape(&self) -> (usize, usize) {
        (60, 20)
    }

    fn apply(&mut self, _: Op, _: &[f64], _: usize, _: &mut [f64]) -> Result<()> {
        unreachable!("a refused call multiplies")
    }
}

#[test]
fn a_plan_refuses_what_the_fit_refuses() {
    let (free, other) = (context(0), context(0));
    let case = Case { rows: 60, columns: 20, number: Number::F64, from: From::Memory, data: Data::Full };
    let (x, _) = matrix(&free, case);
    let (wide, _) = matrix(&free, Case { rows: 1, ..case });
    let (foreign, _) = matrix(&other, case);
    let (source, _) = matrix(&free, Case { from: From::Rows, ..case });
    let rows = sparse(&free, 60, 20);
    let (own, base) = (PcaOptions::default(), options(Method::Auto));
    let columns = PcaOptions { samples: Samples::Columns, ..own };
    let expect = |x: &Matrix, options: Options, own: PcaOptions, problem: &str| {
        let planned = Rsvd::new(&free, options.clone()).unwrap().plan_pca(x, &own, false).unwrap_err();
        assert!(planned.to_string().contains(problem), "{planned}");
        let mut session = Rsvd::new(&free, options).unwrap();
        assert_eq!(session.fit_pca(None, x, &own, None, None).map(|_| ()).unwrap_err(), planned);
    };
    let with = |change: &dyn Fn(&mut Options)| {
        let mut o = base.clone();
        change(&mut o);
        o
    };
    expect(&wide, base.clone(), own, "x: has 1 samples, at least 2");
    expect(&wide, base.clone(), columns, "rank: is 4, more than min(m, n) = 1");
    expect(&foreign, base.clone(), own, "x: ");
    expect(&x, base.clone(), PcaOptions { center: false, scale: true, ..own }, "scale: is set without center");
    expect(&x, with(&|o| o.sign = Sign::UMax), own, "sign: is U_MAX");
    expect(&x, with(&|o| o.center = Centering::Columns), own, "center: is COLUMNS");
    expect(
        &x,
        with(&|o| (o.rank, o.oversampling, o.tolerance) = (0, None, 0.1)),
        own,
        "tolerance: is 0.1, 0 is needed",
    );
    expect(
        &x,
        with(&|o| o.restart_path = Some("purlin-none".into())),
        own,
        "restart_path: is set, principal components",
    );
    expect(&x, with(&|o| o.rank = 21), own, "rank: is 21, more than min(m, n) = 20");
    expect(&x, Options { merge_width: 3, ..options(Method::Merge) }, own, "merge_width: is 3");
    expect(&x, with(&|o| o.read_rate = 1e9), own, "read_rate: ");
    expect(&x, Options { power_iterations: Some(0), ..options(Method::Krylov) }, own, "power_iterations: is 0");
    expect(&rows, base.clone(), columns, "x: samples in the columns of a sparse matrix");
    expect(&rows, with(&|o| o.dtype = Some(DType::F32)), own, "x: is F64, F32 is needed");
    expect(&rows, options(Method::Gram), own, "method: GRAM");
    expect(&rows, with(&|o| o.block_rows = 7), own, "block_rows: is 7");
    let known = Matrix::from_operator::<f64>(&free, Box::new(Unread));
    let scaled = PcaOptions { scale: true, ..own };
    expect(&known, base.clone(), scaled, "scale: is set, a matrix other than an operator is needed");
    let nystrom = Options { rank: 4, method: Method::Nystrom, ..Options::default() };
    expect(&source, nystrom, own, "method: is NYSTROM");
}

/// A sketch of the caller's is refused, as the fit refuses it.
#[test]
fn a_plan_refuses_a_given_sketch() {
    let context = context(0);
    let case = Case { rows: 60, columns: 20, number: Number::F64, from: From::Memory, data: Data::Full };
    let (x, _) = matrix(&context, case);
    let (omega, _) = matrix(&context, Case { rows: 20, columns: 8, ..case });
    let mut session = Rsvd::new(&context, options(Method::Fused)).unwrap();
    session.set_sketch(Some(&omega)).unwrap();
    let planned = session.plan_pca(&x, &PcaOptions::default(), true).unwrap_err();
    assert!(planned.to_string().contains("omega: is set, principal components take no sketch"), "{planned}");
    let done = session.fit_pca(None, &x, &PcaOptions::default(), None, None).map(|_| ()).unwrap_err();
    assert_eq!(done, planned);
}
