//! Limits of host memory from just below the least that is accepted up: files, numbers that are converted, sparse matrices.

use std::path::PathBuf;
use std::sync::Arc;

use super::memory::{compute, context, options, sparse};
use crate::blocks::npy::NpySource;
use crate::context::Context;
use crate::error::Error;
use crate::matrix::{Matrix, SharedSource};
use crate::rsvd::options::{Centering, Method};
use crate::rsvd::{Options, Rsvd};
use crate::scalar::DType;

/// A file that goes with the test.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Integers from -2 to 1, each a number of every type but the unsigned ones, in a .npy file.
fn npy(name: &str, descr: &str, (rows, columns): (usize, usize), is_fortran: bool) -> Scratch {
    let path = std::env::temp_dir().join(format!("purlin-limits-{name}-{}.npy", std::process::id()));
    let order = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({rows}, {columns}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    for e in 0..rows * columns {
        let (i, j) = if is_fortran { (e % rows, e / rows) } else { (e / columns, e % columns) };
        let x = (i * 7919 + j * 104_729 + i * j * 31) % 1009 % 4;
        // -2, -1, 0 and 1 as numbers of 16 bits.
        let half: [u16; 4] = [0xc000, 0xbc00, 0, 0x3c00];
        let value = i32::try_from(x).unwrap() - 2;
        match descr {
            "<f2" => bytes.extend(half[x].to_le_bytes()),
            "<i8" => bytes.extend(i64::from(value).to_le_bytes()),
            "<i2" => bytes.extend(i16::try_from(value).unwrap().to_le_bytes()),
            "<f4" => bytes.extend((value as f32).to_le_bytes()),
            _ => bytes.extend(f64::from(value).to_le_bytes()),
        }
    }
    std::fs::write(&path, bytes).unwrap();
    Scratch(path)
}

/// Runs under limits from just below the least that is accepted up.
fn sweep(name: &str, options: &Options, make: impl Fn(&Arc<Context>) -> Matrix) {
    let under = |limit: u64| {
        let context = context(limit);
        let a = make(&context);
        let planned = Rsvd::new(&context, options.clone()).unwrap().plan(&a);
        assert_eq!(context.host_budget().used(), 0, "{name}");
        (planned, context, a)
    };
    // The message names the bytes needed.
    let (refused, ..) = under(256);
    let Err(Error::OutOfMemory { bytes, .. }) = refused else { panic!("{name}: {refused:?}") };
    let (below, context, a) = under(bytes - 1);
    let e = below.map(|planned| format!("{planned:?}")).unwrap_err();
    assert!(matches!(e, Error::OutOfMemory { bytes: again, .. } if again == bytes), "{name}: {bytes} bytes, {e}");
    assert_eq!(compute(&context, &a, options).map(|_| ()).unwrap_err(), e, "{name}");
    assert_eq!(context.host_budget().used(), 0, "{name}");
    for sixteenths in [16, 17, 19, 22, 27, 32, 48, 100, 400] {
        let limit = bytes * sixteenths / 16;
        let (planned, context, a) = under(limit);
        let planned = planned.unwrap_or_else(|e| panic!("{name}: limit {limit} of {bytes} needed: {e}"));
        let info = compute(&context, &a, options).unwrap_or_else(|e| panic!("{name}: limit {limit}: {e} {planned:?}"));
        let used = u64::try_from(info.host_bytes_used).unwrap();
        assert!(used <= limit && planned.method == info.method, "{name}: {used} bytes of {limit}: {info:?}");
        let ratio = planned.host_bytes as f64 / used as f64;
        assert!((0.9..=1.1).contains(&ratio), "{name}: limit {limit}: {ratio}: {planned:?} {info:?}");
    }
}

#[test]
fn files_of_any_type_stay_inside_from_the_least_limit_on() {
    let mut round = 0;
    for method in Method::ALL {
        for (descr, dtype) in
            [("<f2", None), ("<i8", None), ("<f8", None), ("<i2", Some(DType::F64)), ("<f4", Some(DType::F64))]
        {
            round += 1;
            let (shape, is_fortran) = ([(240, 36), (50, 210), (90, 90)][round % 3], round % 2 == 0);
            let name = format!("{method:?} {descr} {shape:?} fortran {is_fortran}");
            let file = npy(&round.to_string(), descr, shape, is_fortran);
            sweep(&name, &Options { dtype, ..options(method) }, |context| {
                let source = NpySource::open(&file.0).unwrap();
                let order = source.order();
                Matrix::from_source(context, SharedSource::new(Box::new(source)), order).unwrap()
            });
        }
    }
}

#[test]
fn centred_files_stay_inside_from_the_least_limit_on() {
    let file = npy("centred", "<i8", (220, 40), false);
    for method in [Method::Auto, Method::Fused, Method::Gram, Method::Merge, Method::Krylov] {
        for (center, scale) in [(Centering::Columns, false), (Centering::Columns, true), (Centering::Rows, false)] {
            let options = Options { center, scale, ..options(method) };
            sweep(&format!("{method:?} {center:?} {scale}"), &options, |context| {
                let source = NpySource::open(&file.0).unwrap();
                let order = source.order();
                Matrix::from_source(context, SharedSource::new(Box::new(source)), order).unwrap()
            });
        }
    }
}

#[test]
fn sparse_matrices_stay_inside_from_the_least_limit_on() {
    for method in [Method::Auto, Method::Fused, Method::RowFused, Method::Range, Method::Krylov, Method::Basic] {
        for (center, scale) in [
            (Centering::None, false),
            (Centering::Columns, false),
            (Centering::Columns, true),
            (Centering::Rows, false),
        ] {
            let options = Options { center, scale, ..options(method) };
            for shape in [(600, 40), (60, 500)] {
                sweep(&format!("{method:?} {center:?} {scale} {shape:?}"), &options, |context| {
                    sparse(context, shape.0, shape.1)
                });
            }
        }
    }
}
