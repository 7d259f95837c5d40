//! Operations on batches of packed symmetric tensors, all in host or all in device memory. The arithmetic is in f64. On the
//! host it runs on the context's pool; sums run over the entries in order, so no result depends on the number of threads.
//!
//! `gpu.rs` and `operations.rs` import each other: each operation chooses its backend here, and both share the
//! packings.

use super::gpu::Site;
use super::monomials::{Monomials, identity_entry, multinomial};
use crate::alloc;
use crate::backend::cpu::parallel::{IntoItems as _, Items as _, Pieces as _};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::range;
use crate::scalar::{DType, Real, with_real};
use crate::shape::Order;
use crate::stream::{self, Stream};
use crate::tensor::{Symmetric, Tensor, View, ViewMut};

/// Meaning of the packed numbers. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Packing {
    /// Entries of the tensor, each distinct one once.
    Entries = 0,
    /// Coefficients of the polynomial A x^m: entries times multinomial coefficients.
    Polynomial = 1,
}

/// A norm of a symmetric tensor, over all n^m places. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Norm {
    /// Root of the sum of squares.
    Frobenius = 0,
    /// Sum of magnitudes over all places.
    One = 1,
    /// Largest magnitude over all places.
    Max = 2,
}

/// Checks the requirements of all operations. Returns the device if the tensors are there.
fn start<'a>(context: &'a Context, queue: Option<&'a Stream>, tensors: &[(&str, &Tensor)]) -> Result<Option<Site<'a>>> {
    context.check_alive()?;
    let queue = stream::select(context, queue)?;
    tensors.iter().try_for_each(|(argument, t)| t.expect_context(argument, context))?;
    Site::of(context, queue, tensors)
}

fn multinomials_f64(shape: Symmetric) -> Result<Vec<f64>> {
    let mut table = alloc::with_capacity("multinomial table", shape.count())?;
    let mut walk = Monomials::new(shape)?;
    while let Some((_, tuple)) = walk.next_tuple() {
        table.push(multinomial(tuple)? as f64);
    }
    Ok(table)
}

/// Calls `work(t, column)` for every column of a matrix-shaped output and stores the column; in parallel if columns are
/// contiguous in memory.
fn write_columns<T: Real>(
    context: &Context,
    out: &mut ViewMut<'_, T>,
    work: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
) -> Result<()> {
    let (rows, columns) = (out.layout().dims()[0], out.layout().dims()[1]);
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    if out.layout().is_packed(Order::ColumnMajor) {
        let data = &mut out.data()[..rows * columns];
        return context.pool().run(|| data.par_chunks_mut(rows).enumerate().try_for_each(|(t, c)| work(t, c)));
    }
    context.pool().run(|| {
        let mut column = alloc::filled("column of a strided tensor", rows, T::ZERO)?;
        (0..columns).try_for_each(|t| {
            work(t, &mut column)?;
            out.write_column(&[t], &column);
            Ok(())
        })
    })
}

/// Converts between tensor entries and polynomial coefficients; with equal packings it copies. Element types may differ.
///
/// # Errors
/// [`Error::InvalidArgument`] for other shapes or for types other than F32 and F64.
pub fn convert(
    context: &Context,
    queue: Option<&Stream>,
    source: &Tensor,
    source_packing: Packing,
    destination: &mut Tensor,
    destination_packing: Packing,
) -> Result<()> {
    let device = start(context, queue, &[("source", source), ("destination", destination)])?;
    let shape = source.expect_symmetric("source")?;
    expect_shape("destination", destination, shape)?;
    destination.expect_dims("destination", source.dims())?;
    let table = multinomials_f64(shape)?;
    if let Some(site) = device {
        return site.convert(source, source_packing, &table, destination, destination_packing);
    }
    let weight = move |u: usize| match (source_packing, destination_packing) {
        (Packing::Entries, Packing::Polynomial) => (table[u], 1.0),
        (Packing::Polynomial, Packing::Entries) => (1.0, table[u]),
        _ => (1.0, 1.0),
    };
    with_real!(source.dtype(), "source", S => {
        let from = source.view::<S>("source")?;
        with_real!(destination.dtype(), "destination", D => {
            write_columns(context, &mut destination.view_mut::<D>("destination")?, |t, column| {
                for (u, c) in column.iter_mut().enumerate() {
                    let (times, over) = weight(u);
                    *c = D::from_f64(from.get(&[u, t]).to_f64() * times / over);
                }
                Ok(())
            })
        })
    })
}

fn expect_shape(argument: &str, tensor: &Tensor, shape: Symmetric) -> Result<()> {
    let found = tensor.expect_symmetric(argument)?;
    if found == shape {
        return Ok(());
    }
    Err(Error::invalid(
        argument,
        format!(
            "has order {} and dimension {}, order {} and dimension {} are needed",
            found.order, found.dimension, shape.order, shape.dimension
        ),
    ))
}

/// Returns an error for a dense tensor that is not [n, .., n] or [n, .., n, T].
fn expect_full(full: &Tensor, shape: Symmetric, count: usize) -> Result<()> {
    let dims = full.dims();
    let Symmetric { order, dimension } = shape;
    let single = dims.len() == order && count == 1;
    let batch = order.checked_add(1) == Some(dims.len()) && dims.last() == Some(&count);
    if full.symmetric().is_some() || !(single || batch) || dims.iter().take(order).any(|d| *d != dimension) {
        return Err(Error::invalid(
            "full",
            format!("has dimensions {dims:?}, {order} times {dimension} and then {count} are needed"),
        ));
    }
    Ok(())
}

/// Advances to the next distinct permutation; `false` after the last (descending) one.
pub(super) fn next_permutation(tuple: &mut [usize]) -> bool {
    let Some(p) = tuple.windows(2).rposition(|w| w[0] < w[1]) else { return false };
    // It exists, because tuple[p + 1] is larger.
    let q = tuple.iter().rposition(|i| *i > tuple[p]).unwrap_or(p);
    tuple.swap(p, q);
    tuple[p + 1..].reverse();
    true
}

/// Packs dense tensors [n, .., n] or [n, .., n, T].
///
/// With `symmetrize` each entry is the mean over the permutations of its indices. Without, a tensor whose entries differ
/// under permutation by more than `check_tolerance` times its largest magnitude is refused (0: 1e-12 for F64, 1e-5 for
/// F32) and the entry at the sorted indices is taken.
///
/// # Errors
/// [`Error::InvalidArgument`] for other shapes, types or an asymmetric tensor, named by its index.
pub fn from_full(
    context: &Context,
    queue: Option<&Stream>,
    full: &Tensor,
    symmetrize: bool,
    check_tolerance: f64,
    packed: &mut Tensor,
) -> Result<()> {
    let device = start(context, queue, &[("full", full), ("packed", packed)])?;
    range::at_least_zero("check_tolerance", check_tolerance)?;
    let shape = packed.expect_symmetric("packed")?;
    let count = packed.dims()[1];
    expect_full(full, shape, count)?;
    packed.expect_dtype("packed", full.dtype())?;
    let tolerance = match check_tolerance {
        0.0 if full.dtype() == DType::F64 => 1e-12,
        0.0 => 1e-5,
        t => t,
    };
    if let Some(site) = device {
        return site.pack(full, (!symmetrize).then_some(tolerance), packed, shape);
    }
    with_real!(full.dtype(), "full", T => {
        let from = full.view::<T>("full")?;
        if !symmetrize {
            // Check the whole batch before writing any output.
            let check = |t| check_symmetry(&from, shape, tolerance, t);
            context.pool().run(|| (0..count).into_par_iter().try_for_each(check))?;
        }
        write_columns(context, &mut packed.view_mut::<T>("packed")?, |t, column| {
            let mut walk = Monomials::new(shape)?;
            let mut permuted = alloc::filled("index tuple", if symmetrize { shape.order } else { 0 }, 0usize)?;
            while let Some((u, tuple)) = walk.next_tuple() {
                if !symmetrize {
                    column[u] = T::from_f64(read_full(&from, tuple, t));
                    continue;
                }
                let (mut sum, mut places) = (0.0, 0.0);
                permuted.copy_from_slice(tuple);
                loop {
                    sum += read_full(&from, &permuted, t);
                    places += 1.0;
                    if !next_permutation(&mut permuted) {
                        break;
                    }
                }
                column[u] = T::from_f64(sum / places);
            }
            Ok(())
        })
    })
}

/// Returns an error if a permutation of indices changes a value of tensor `t` by more than `tolerance` times the
/// largest.
fn check_symmetry<T: Real>(from: &View<'_, T>, shape: Symmetric, tolerance: f64, t: usize) -> Result<()> {
    let limit = tolerance * largest(from, shape, t)?;
    let mut walk = Monomials::new(shape)?;
    let mut permuted = alloc::filled("index tuple", shape.order, 0usize)?;
    while let Some((_, tuple)) = walk.next_tuple() {
        let sorted = read_full(from, tuple, t);
        permuted.copy_from_slice(tuple);
        while next_permutation(&mut permuted) {
            let value = read_full(from, &permuted, t);
            let fits = (value - sorted).abs() <= limit || (!value.is_finite() && !sorted.is_finite());
            if !fits {
                return Err(asymmetric(t, (value, &permuted), (sorted, tuple)));
            }
        }
    }
    Ok(())
}

/// The error for tensor `t`: two permutations of the same indices have different values.
pub(super) fn asymmetric(t: usize, (value, index): (f64, &[usize]), (other, sorted): (f64, &[usize])) -> Error {
    Error::invalid("full", format!("tensor {t} is not symmetric: {value:e} at {index:?}, {other:e} at {sorted:?}"))
}

/// Offset of a full tensor's element. The tensor's index is ignored if there is only one tensor.
pub(super) fn full_offset(strides: &[usize], tuple: &[usize], t: usize) -> usize {
    let place: usize = tuple.iter().zip(strides).map(|(i, s)| i * s).sum();
    place + strides.get(tuple.len()).map_or(0, |s| s * t)
}

fn read_full<T: Real>(from: &View<'_, T>, tuple: &[usize], t: usize) -> f64 {
    from.data()[full_offset(from.layout().strides(), tuple, t)].to_f64()
}

/// Advances an index tuple over the whole cube, first index fastest; `false` after the last.
fn next_index(tuple: &mut [usize], dimension: usize) -> bool {
    for i in tuple.iter_mut() {
        if *i + 1 < dimension {
            *i += 1;
            return true;
        }
        *i = 0;
    }
    false
}

fn largest<T: Real>(from: &View<'_, T>, shape: Symmetric, t: usize) -> Result<f64> {
    let mut tuple = alloc::filled("index tuple", shape.order, 0usize)?;
    let mut largest = 0.0f64;
    loop {
        let a = read_full(from, &tuple, t).abs();
        if a.is_finite() {
            largest = largest.max(a);
        }
        if !next_index(&mut tuple, shape.dimension) {
            return Ok(largest);
        }
    }
}

/// Unpacks into dense tensors [n, .., n] or [n, .., n, T].
///
/// # Errors
/// [`Error::InvalidArgument`] for other shapes or types.
pub fn to_full(context: &Context, queue: Option<&Stream>, packed: &Tensor, full: &mut Tensor) -> Result<()> {
    let device = start(context, queue, &[("packed", packed), ("full", full)])?;
    let shape = packed.expect_symmetric("packed")?;
    let count = packed.dims()[1];
    expect_full(full, shape, count)?;
    full.expect_dtype("full", packed.dtype())?;
    if let Some(site) = device {
        return site.unpack(packed, shape, full);
    }
    with_real!(packed.dtype(), "packed", T => {
        let from = packed.view::<T>("packed")?;
        let mut to = full.view_mut::<T>("full")?;
        context.pool().run(|| {
            let strides = to.layout().strides();
            let data = to.data();
            let mut walk = Monomials::new(shape)?;
            let mut permuted = alloc::filled("index tuple", shape.order, 0usize)?;
            while let Some((u, tuple)) = walk.next_tuple() {
                permuted.copy_from_slice(tuple);
                loop {
                    for t in 0..count {
                        data[full_offset(strides, &permuted, t)] = from.get(&[u, t]);
                    }
                    if !next_permutation(&mut permuted) {
                        break;
                    }
                }
            }
            Ok(())
        })
    })
}

/// A norm of each tensor of a batch into `norms` `[T]`.
///
/// # Errors
/// [`Error::InvalidArgument`] for other shapes or types.
pub fn norm(context: &Context, queue: Option<&Stream>, packed: &Tensor, kind: Norm, norms: &mut Tensor) -> Result<()> {
    let device = start(context, queue, &[("packed", packed), ("norms", norms)])?;
    let shape = packed.expect_symmetric("packed")?;
    norms.expect_dims("norms", &packed.dims()[1..])?;
    norms.expect_dtype("norms", packed.dtype())?;
    let table = multinomials_f64(shape)?;
    if let Some(site) = device {
        return site.norm(packed, &table, kind, norms);
    }
    with_real!(packed.dtype(), "packed", T => {
        let from = packed.view::<T>("packed")?;
        let mut to = norms.view_mut::<T>("norms")?;
        context.pool().run(|| {
            for t in 0..packed.dims()[1] {
                let entry = |u: usize| from.get(&[u, t]).to_f64();
                to.set(&[t], T::from_f64(packed_norm(kind, &table, entry)));
            }
        });
        Ok(())
    })
}

/// The norm of one tensor whose packed entries are `entry(u)`, scaled so that no square overflows.
fn packed_norm(kind: Norm, multinomials: &[f64], entry: impl Fn(usize) -> f64) -> f64 {
    let all = || (0..multinomials.len()).map(&entry);
    if let Some(bad) = all().find(|a| !a.is_finite()) {
        return bad.abs();
    }
    let largest = all().fold(0.0f64, |m, a| m.max(a.abs()));
    match kind {
        Norm::Max => largest,
        _ if largest == 0.0 => 0.0,
        Norm::One => all().zip(multinomials).map(|(a, w)| w * a.abs()).sum(),
        Norm::Frobenius => {
            largest * all().zip(multinomials).map(|(a, w)| w * (a / largest) * (a / largest)).sum::<f64>().sqrt()
        }
    }
}

/// Sets every tensor of an even-order batch to `scale` times the identity E, for which E x^m = |x|^m.
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd order, a scale that is not finite, or a type other than F32 and F64.
pub fn identity(context: &Context, queue: Option<&Stream>, scale: f64, packed: &mut Tensor) -> Result<()> {
    let device = start(context, queue, &[("packed", packed)])?;
    let shape = packed.expect_symmetric("packed")?;
    if shape.order % 2 == 1 {
        return Err(Error::invalid("packed", format!("has order {}, an even order is needed", shape.order)));
    }
    if !scale.is_finite() {
        return Err(Error::invalid("scale", format!("is {scale}, a finite number is needed")));
    }
    let mut entries = alloc::with_capacity("identity tensor", shape.count())?;
    let mut walk = Monomials::new(shape)?;
    while let Some((_, tuple)) = walk.next_tuple() {
        entries.push(scale * identity_entry(tuple)?);
    }
    if let Some(site) = device {
        return site.fill(&entries, packed);
    }
    with_real!(packed.dtype(), "packed", T => {
        write_columns(context, &mut packed.view_mut::<T>("packed")?, |_, column| {
            for (c, e) in column.iter_mut().zip(&entries) {
                *c = T::from_f64(*e);
            }
            Ok(())
        })
    })
}
