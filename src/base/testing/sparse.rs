//! Contexts, sparse matrices of entries and on a device, and the golden data of spectra.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::backend::memory::HostMemory;
use crate::context::{self, Context};
use crate::matrix::sparse::{Coordinates, Duplicates, Indices, Symmetrize, from_coordinates, read_market, symmetrize};
use crate::matrix::{Csr, DeviceArrays, Matrix, Storage};
use crate::scalar::{DType, Element, Scalar};
use crate::shape::Order;
use crate::tensor::{Location, Tensor};

/// A context of `threads` threads on the CPU.
pub fn cpu(threads: usize) -> Arc<Context> {
    Context::new(context::Options { backend: BackendChoice::Cpu, threads, ..context::Options::default() }).unwrap()
}

/// The values in host memory of the context.
pub fn stored<T: Element>(c: &Context, values: &[T]) -> HostMemory {
    let mut m = HostMemory::allocate("test", size_of_val(values), c.host_budget()).unwrap();
    m.as_mut_slice::<T>().unwrap().copy_from_slice(values);
    m
}

/// A sparse matrix of any shape from rows, columns and values of its entries; those at one (row, column) are added.
pub fn from_entries<T: Scalar>(
    c: &Arc<Context>,
    (rows, cols): (usize, usize),
    entries: &[(usize, usize, T)],
) -> Matrix {
    let row_idx: Vec<i64> = entries.iter().map(|e| e.0 as i64).collect();
    let col_idx: Vec<i64> = entries.iter().map(|e| e.1 as i64).collect();
    let values: Vec<T> = entries.iter().map(|e| e.2).collect();
    let values = stored(c, &values);
    let (row_idx, col_idx) = (Indices::I64(&row_idx), Indices::I64(&col_idx));
    let from = Coordinates { rows, cols, row_idx, col_idx, base: 0, dtype: T::DTYPE, values: Some(&values) };
    from_coordinates(c, &from, Duplicates::Sum).unwrap()
}

fn path(file: &str) -> PathBuf {
    super::source("tests/golden/spectral").join(file)
}

/// The graphs that have entries of their own in `reference.json`.
pub const GRAPHS: [&str; 6] =
    ["as-caida20071105", "ca-AstroPh-cc", "email-Enron", "cit-HepPh-symmetrised", "ego-Twitter", "4elt"];

/// A matrix of the golden data, by its name in `reference.json`.
pub fn golden(c: &Arc<Context>, name: &str) -> Matrix {
    match name {
        "ego-Twitter" => unpacked(c, "ego-Twitter.gaps.gz"),
        "cit-HepPh-directed_raw" => read_market(c, &path("cit-HepPh-directed.mtx.gz"), None).unwrap(),
        "cit-HepPh-symmetrised" => symmetrize(c, &golden(c, "cit-HepPh-directed_raw"), Symmetrize::Union).unwrap(),
        _ => read_market(c, &path(&format!("{name}.mtx.gz")), None).unwrap(),
    }
}

/// A symmetric pattern as `pack_graph.py` writes it.
fn unpacked(c: &Arc<Context>, file: &str) -> Matrix {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path(file)).unwrap()).read_to_end(&mut bytes).unwrap();
    let mut at = bytes.iter();
    let mut number = || {
        let (mut value, mut shift) = (0i64, 0);
        for byte in at.by_ref() {
            value |= i64::from(byte & 127) << shift;
            shift += 7;
            if byte & 128 == 0 {
                return value;
            }
        }
        panic!("{file} ends early");
    };
    let n = number();
    let counts: Vec<i64> = (0..n).map(|_| number()).collect();
    let (mut rows, mut cols) = (Vec::new(), Vec::new());
    for (i, count) in (0..n).zip(counts) {
        let mut j = i;
        for _ in 0..count {
            j += number();
            rows.push(i);
            cols.push(j);
            if i != j {
                rows.push(j);
                cols.push(i);
            }
        }
    }
    let (row_idx, col_idx) = (Indices::I64(&rows), Indices::I64(&cols));
    let n = usize::try_from(n).unwrap();
    let from = Coordinates { rows: n, cols: n, row_idx, col_idx, base: 0, dtype: DType::F64, values: None };
    from_coordinates(c, &from, Duplicates::Refuse).unwrap()
}

/// The text of a key's value in a JSON object.
fn member<'a>(object: &'a str, key: &str) -> &'a str {
    let name = format!("\"{key}\":");
    let at = object.find(&name).unwrap_or_else(|| panic!("no {key}"));
    let rest = object[at + name.len()..].trim_start();
    let mut depth = 0;
    let end = rest.find(|c| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        depth < 0 || (depth == 0 && c == ',')
    });
    &rest[..end.unwrap_or(rest.len())]
}

/// The numbers under a key of a graph in `reference.json`; a point in the key separates nested keys.
pub fn recorded(graph: &str, key: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(path("reference.json")).unwrap();
    let body = key.split('.').fold(member(&text, graph), |object, key| member(object, key));
    body.trim().trim_matches(['[', ']']).split(',').map(|n| n.trim().parse().unwrap()).collect()
}

/// Grey values, height and width of the photograph.
pub fn photograph() -> (Vec<f64>, usize, usize) {
    let number = |key: &str| recorded("image_china.jpg", key)[0] as usize;
    let (rows, cols) = (number("rows"), number("cols"));
    let bytes = std::fs::read(path("china_rgbsum_stride4.npy")).unwrap();
    let sums = bytes[bytes.len() - 2 * rows * cols..].chunks_exact(2);
    (sums.map(|b| f64::from(u16::from_le_bytes([b[0], b[1]])) / 3.0 / 255.0).collect(), rows, cols)
}

/// The values as a packed tensor in host memory.
pub fn vector<T: Scalar>(c: &Arc<Context>, values: &[T]) -> Tensor {
    let mut t = Tensor::create(c, T::DTYPE, Location::Host, Order::ColumnMajor, &[values.len()]).unwrap();
    t.view_mut::<T>("t").unwrap().data().copy_from_slice(values);
    t
}

/// A context on a GPU whose free memory holds NaN, so that reads of uninitialized memory are seen.
pub fn gpu() -> Arc<Context> {
    let backend = BackendChoice::Cuda;
    let context = Context::new(context::Options { backend, threads: 2, ..context::Options::default() }).unwrap();
    let gpu = context.gpu("test").unwrap();
    let stream = gpu.default_stream();
    let mut memory = gpu.allocate_on(stream, "poison", 256 << 20).unwrap();
    gpu.fill(stream, &mut memory, 0, 256 << 20, 0xff).unwrap();
    context
}

/// The arrays of a matrix in device memory, the indices in the form that they have on the host.
pub fn all_on_device<T: Scalar>(c: &Arc<Context>, a: &Matrix) -> Matrix {
    let Storage::Csr(csr) = a.storage() else { unreachable!("a sparse matrix") };
    let (gpu, parts) = (c.gpu("test").unwrap(), csr.parts());
    let stream = gpu.default_stream();
    let bytes = |m: &HostMemory| gpu.upload_numbers(stream, "test", m.as_slice::<u8>().unwrap()).unwrap();
    let numbers = |m: &HostMemory| gpu.upload_numbers(stream, "test", m.as_slice::<T>().unwrap()).unwrap();
    let arrays = DeviceArrays {
        row_ptr: bytes(&parts.row_ptr),
        row_ptr_type: parts.row_ptr_type,
        col_idx: bytes(&parts.col_idx),
        col_idx_type: parts.col_idx_type,
        values: parts.values.as_ref().map(|v| numbers(v.host("a").unwrap())),
    };
    let made = Csr::on_device(c, arrays, (csr.rows(), csr.cols(), csr.nnz()), csr.index_base()).unwrap();
    Matrix::from_csr(c, T::DTYPE, made, true)
}
