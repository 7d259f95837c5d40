//! Files that a run both reads and would replace.

use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use super::calls::session;
use super::inputs::context;
use crate::blocks::array::ArrayInfo;
use crate::blocks::number::{Endianness, Number};
use crate::blocks::sink::{FileSink, Sink};
use crate::blocks::source::FileSource;
use crate::context::Context;
use crate::error::Error;
use crate::matrix::{Matrix, SharedSource};
use crate::rpca::Options;
use crate::rpca::session::Observed;
use crate::shape::Order;

const SIZE: [usize; 2] = [12, 5];

fn info(number: Number) -> ArrayInfo {
    ArrayInfo::new(number, &SIZE).unwrap()
}

fn read(context: &Arc<Context>, path: &Path, number: Number) -> Matrix {
    let source = FileSource::open(path, 0, Endianness::NATIVE, info(number)).unwrap();
    Matrix::from_source(context, SharedSource::new(Box::new(source)), Order::ColumnMajor).unwrap()
}

fn write(path: &Path) -> FileSink {
    FileSink::create(path, &[], Endianness::NATIVE, info(Number::F64)).unwrap()
}

#[test]
fn a_sink_to_a_file_of_the_matrix_or_the_mask_is_refused() {
    let context = context();
    let file =
        |name: &str| -> PathBuf { std::env::temp_dir().join(format!("purlin_rpca_{name}_{}", std::process::id())) };
    let (data, seen, part) = (file("data"), file("seen"), file("part"));
    let entries: Vec<u8> = (0..60u32).flat_map(|k| f64::from(k % 7).to_ne_bytes()).collect();
    std::fs::write(&data, &entries).unwrap();
    std::fs::write(&seen, [1; 60]).unwrap();
    let (m, mask) = (read(&context, &data, Number::F64), read(&context, &seen, Number::U8));
    let mut session = session(from_ref(&context), &Options::default()).unwrap();
    for (path, read) in [(&data, "m"), (&seen, "mask")] {
        for name in ["low_rank", "sparse"] {
            let (mut sink, mut other) = (write(path), write(&part));
            let given = Observed { m: &m, mask: Some(&mask) };
            let (first, second): (&mut dyn Sink, &mut dyn Sink) =
                if name == "low_rank" { (&mut sink, &mut other) } else { (&mut other, &mut sink) };
            let e = session.compute_to_sinks(None, given, Some(first), Some(second), None).unwrap_err();
            let start = format!("{name}: goes to a file that {read} is read from, ");
            assert!(matches!(e, Error::InvalidArgument { .. }) && e.to_string().starts_with(&start), "{e}");
        }
    }
    assert_eq!(std::fs::read(&data).unwrap(), entries);
    assert_eq!(std::fs::read(&seen).unwrap(), [1; 60]);
    assert!(!part.exists());
    // To another file the same run succeeds.
    let given = Observed { m: &m, mask: Some(&mask) };
    session.compute_to_sinks(None, given, Some(&mut write(&part)), None, None).unwrap();
    assert_eq!(std::fs::read(&part).unwrap().len(), entries.len());
    for path in [data, seen, part] {
        std::fs::remove_file(path).unwrap();
    }
}
