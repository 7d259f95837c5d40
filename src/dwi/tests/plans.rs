//! The plan of peaks against the report of the search.

use std::sync::Arc;

use super::arrays::{batch, tensor, zeros};
use crate::backend::BackendChoice;
use crate::context::{Context, Options};
use crate::dwi::{Basis, CsaOptions, Dwi, FitOptions, Options as DwiOptions, PeaksFormat, PeaksOptions, PeaksOutputs};
use crate::error::Result;
use crate::scalar::DType;
use crate::shape::Order;
use crate::sshopm::{Info, StartKind};
use crate::tensor::{Location, Symmetric, Tensor};

fn limited(host_memory_limit: u64) -> Arc<Context> {
    Context::new(Options { backend: BackendChoice::Cpu, threads: 2, host_memory_limit, ..Options::default() }).unwrap()
}

/// The plan and the report of a search for five peaks of each voxel, their number and the status, whose arrays exist
/// before both.
fn planned_and_found(dwi: &Dwi, input: &Tensor, rows: usize) -> (Result<Info>, Result<Info>) {
    let (c, voxels) = (dwi.context(), input.dims()[1]);
    let mut peaks = zeros(c, input.dtype(), &[rows, 5, voxels]);
    let (mut count, mut status) = (zeros(c, DType::I32, &[voxels]), zeros(c, DType::I32, &[voxels]));
    let planned = dwi.plan(input);
    let outputs = PeaksOutputs { peaks: &mut peaks, count: Some(&mut count), status: Some(&mut status) };
    (planned, dwi.peaks(None, input, None, outputs, None))
}

/// A plan ends as the search does, with the same text, for good and bad options and inputs and under limits; and where both
/// end well their figures agree.
#[test]
fn a_plan_is_what_a_search_does_or_is_refused_as_the_search_is() {
    let plain = PeaksOptions::default;
    let of = |peaks: PeaksOptions| DwiOptions { peaks, ..DwiOptions::default() };
    let table = [
        of(plain()),
        of(PeaksOptions { basis: Some(Basis::Mrtrix3), ..plain() }),
        of(PeaksOptions { basis: Some(Basis::Canonical), starts: 40, ..plain() }),
        of(PeaksOptions { format: PeaksFormat::Mrtrix, ..plain() }),
        of(PeaksOptions { seed: 3, ..plain() }),
        of(PeaksOptions { seed: 3, start_kind: StartKind::Random, ..plain() }),
        of(PeaksOptions { starts: 1, start_kind: StartKind::FibonacciHemisphere, ..plain() }),
        of(PeaksOptions { tolerance: 1e-30, ..plain() }),
        DwiOptions { fit: FitOptions { clamp: 1e-3, ..FitOptions::default() }, ..of(plain()) },
        DwiOptions { fit: FitOptions { b0_threshold: 10.0, ..FitOptions::default() }, ..of(plain()) },
        DwiOptions { csa: CsaOptions { smoothing: 0.1, ..CsaOptions::default() }, ..of(plain()) },
    ];
    let (mut good, mut bad) = (0, 0);
    for limit in [0, 20_000, 40_000, 60_000, 100_000, 200_000, 1 << 20] {
        let c = limited(limit);
        let values: Vec<f64> = (0..45).map(|k| (f64::from(k) * 0.7).sin() + 1.0).collect();
        let symmetric = |order, dimension, count| {
            let shape = Symmetric::new(order, dimension).unwrap();
            Tensor::create_symmetric(&c, DType::F64, Location::Host, Order::ColumnMajor, shape, count).unwrap()
        };
        let mut some = batch(&c, DType::F64, 4, 3);
        some.view_mut::<f64>("test").unwrap().data().copy_from_slice(&values);
        let inputs = [
            some,
            batch(&c, DType::F32, 2, 4),
            batch(&c, DType::F64, 4, 0),
            tensor(&c, Order::ColumnMajor, &[15, 3], &values),
            tensor(&c, Order::RowMajor, &[15, 3], &values),
            tensor(&c, Order::ColumnMajor, &[9, 5], &values),
            tensor(&c, Order::ColumnMajor, &[10, 1], &values[..10]),
            symmetric(3, 3, 2),
            symmetric(4, 2, 2),
            zeros(&c, DType::I32, &[15, 2]),
            batch(&limited(0), DType::F64, 4, 1),
        ];
        for options in &table {
            let dwi = Dwi::new(&c, *options).unwrap();
            let rows = if options.peaks.format == PeaksFormat::Mrtrix { 3 } else { 4 };
            for input in &inputs {
                let (planned, done) = planned_and_found(&dwi, input, rows);
                let what = format!("limit {limit}, {:?} {:?}: {options:?}", input.dims(), input.dtype());
                assert_eq!(planned.clone().err(), done.clone().err(), "{what}");
                let (Ok(planned), Ok(done)) = (planned, done) else {
                    bad += 1;
                    continue;
                };
                let figures = |i: Info| (i.tensors, i.starts, i.chunks, i.tolerance, i.tolerance_raised, i.reason);
                assert_eq!(figures(planned), figures(done), "{what}");
                assert_eq!(planned.host_bytes, done.host_bytes, "{what}");
                good += 1;
            }
        }
    }
    assert!(good > 50 && bad > 300, "{good} good, {bad} bad");
}
