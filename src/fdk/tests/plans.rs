//! The plan of a reconstruction against the report of a run from a source to a sink.

use super::session::{Scan, cpu, scan};
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::number::Number;
use crate::blocks::sink::CallbackSink;
use crate::blocks::source::CallbackSource;
use crate::error::{Error, Result};
use crate::fdk::counts::Counts;
use crate::fdk::options::{Options, Precision};
use crate::fdk::{Fdk, Info, Projections, Volume};

fn run(fdk: &mut Fdk, scan: &Scan) -> Result<Info> {
    let read = |_: &Block, out: &mut [u8]| {
        out.fill(0);
        Ok(())
    };
    let write = |_: &Block, _: &[u8]| Ok(());
    let size = fdk.plan().volume_grid().size;
    let mut source = CallbackSource::new(ArrayInfo::new(Number::F32, &scan.dims).unwrap(), Box::new(read));
    let mut sink = CallbackSink::new(ArrayInfo::new(Number::F32, &size).unwrap(), Box::new(write));
    fdk.reconstruct(None, Projections::Source(&mut source), Volume::Sink(&mut sink), None)
}

/// The figures that a plan has.
fn figures(info: &Info) -> Info {
    let mut plain = info.clone();
    for counted in [
        &mut plain.device_bytes_used,
        &mut plain.host_bytes_used,
        &mut plain.pixels_sanitized,
        &mut plain.pixels_clamped,
        &mut plain.pixels_negative,
        &mut plain.pixels_not_finite,
        &mut plain.bytes_uploaded,
        &mut plain.bytes_downloaded,
    ] {
        *counted = 0;
    }
    for seconds in [
        &mut plain.seconds_read,
        &mut plain.seconds_upload,
        &mut plain.seconds_filter,
        &mut plain.seconds_backproject,
        &mut plain.seconds_download,
        &mut plain.seconds_write,
        &mut plain.seconds,
        &mut plain.gups,
    ] {
        *seconds = 0.0;
    }
    plain
}

/// A run follows its plan, whatever came before: other runs, counts, scans that were pushed, cancelled or too large.
/// Where the plan has no slabs the run is refused for its memory.
#[test]
fn a_run_does_what_is_planned() {
    let scan = scan("short");
    let table = [
        Options::default(),
        Options { slab: 5, ..Options::default() },
        Options { slab: 1, view_batch: 3, ..Options::default() },
        Options { precision: Precision::F64, ..Options::default() },
        Options { slab: 1000, view_batch: 1000, ..Options::default() },
    ];
    let (mut good, mut bad) = (0, 0);
    for limit in [0, 100_000, 1_500_000] {
        for options in &table {
            let context = cpu(limit);
            let Ok(mut fdk) = Fdk::new(&context, scan.geometry.clone(), Some(scan.grid), *options) else {
                bad += 1;
                continue;
            };
            let planned = fdk.planned_info();
            let what = format!("limit {limit}: {options:?}");
            let mut check = |fdk: &mut Fdk, before: &str| {
                let plan = planned.get();
                match run(fdk, &scan) {
                    Ok(done) => {
                        assert_eq!(figures(&done), plan, "{what}, after {before}");
                        good += 1;
                    }
                    Err(e) => {
                        assert!(matches!(e, Error::OutOfMemory { .. }), "{what}, after {before}: {e}");
                        assert_eq!((plan.slabs, plan.host_bytes), (0, 0), "{what}, after {before}: {e}");
                        bad += 1;
                    }
                }
            };
            let counts = Counts { unattenuated: 9.0, unattenuated_image: None, dark: None, least: 0.0 };
            fdk.set_counts(Some(counts)).unwrap();
            check(&mut fdk, "counts");
            fdk.set_counts(None).unwrap();
            if fdk.begin(None).is_ok() {
                fdk.cancel_handle().cancel();
            }
            check(&mut fdk, "a cancelled scan");
        }
    }
    assert!(good > 10 && bad > 5, "{good} good, {bad} bad");
}

/// The memory of the transforms is in the plan and under the limit.
#[test]
fn long_transforms_are_planned_and_limited() {
    let scan = scan("short");
    for precision in [Precision::F32, Precision::F64] {
        let of = |limit, fft_length| {
            let options = Options { fft_length, precision, ..Options::default() };
            Fdk::new(&cpu(limit), scan.geometry.clone(), Some(scan.grid), options)
        };
        let host_bytes = |fft_length| of(0, fft_length).unwrap().planned_info().get().host_bytes;
        let (short, long) = (1 << 10, 1 << 13);
        // Sixteen rows of 4 bytes, or a row and its spectrum in double precision, for the one thread at least.
        let least = i64::try_from((long - short) * if precision == Precision::F32 { 64 } else { 32 }).unwrap();
        assert!(host_bytes(long) - host_bytes(short) >= least, "{precision:?}");
        let limited = of(20 << 20, 1 << 20);
        assert!(matches!(limited, Err(Error::OutOfMemory { .. })), "{precision:?}");
        let mut fdk = of(0, long).unwrap();
        let (done, planned) = (run(&mut fdk, &scan).unwrap(), host_bytes(long));
        assert!(done.host_bytes_used <= planned && done.host_bytes_used >= planned * 9 / 10, "{precision:?}");
    }
    let beyond = Options { fft_length: (1 << 24) + 2, ..Options::default() };
    let refused = Fdk::new(&cpu(0), scan.geometry.clone(), Some(scan.grid), beyond).map(|_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "fft_length: is 16777218, at most 16777216 is possible");
}
