//! The functions on matrices and tensors of any type. Those that solve an eigenproblem take a session of the eigensolver,
//! with its options and contexts.

use std::sync::Arc;
use std::time::Instant;

use super::bisect::{self, Cut};
use super::cluster;
use super::density;
use super::embed::{self, Assignment, Scaling};
use super::image::{Weights, image_graph_of};
use super::stencil::image_adjacency_of;
use crate::alloc;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::lanczos::session::{Lanczos, recurrence_memory};
use crate::lanczos::{Info, Options};
use crate::matrix::Matrix;
use crate::progress::ProgressFn;
use crate::scalar::{DType, with_real, with_scalar};
use crate::shape::{Order, product};
use crate::tensor::Tensor;

/// Refuses a tensor that is not `length` numbers in F64 of the context of `of`.
fn expect_vector(name: &str, vector: &Tensor, of: &Matrix, length: usize) -> Result<()> {
    vector.expect_context(name, of.context())?;
    vector.expect_dtype(name, DType::F64)?;
    vector.expect_dims(name, &[length])
}

/// Refuses a tensor that cannot take `length` numbers in F64 on the host.
fn expect_output(name: &str, vector: &mut Tensor, of: &Matrix, length: usize) -> Result<()> {
    expect_vector(name, vector, of, length)?;
    vector.view_mut::<f64>(name).map(drop)
}

/// Refuses labels `name` that cannot take one index for each row of `of`, on the host.
fn expect_labels(name: &str, labels: &mut Tensor, of: &Matrix) -> Result<()> {
    labels.expect_context(name, of.context())?;
    labels.expect_dtype(name, DType::I64)?;
    labels.expect_dims(name, &[of.rows()])?;
    labels.view_mut::<i64>(name).map(drop)
}

/// [`embed::embed`] into `coordinates`, n-by-k in F64 on the host, and `values`. [`Info::check_converged`] says whether all
/// pairs have converged.
///
/// # Errors
/// As [`embed::embed`]; [`Error::InvalidArgument`] for options that the function does not use, and outputs that do not fit.
pub fn embed(
    lanczos: &Lanczos,
    graph: &Matrix,
    scaling: Scaling,
    coordinates: &mut Matrix,
    mut values: Option<&mut Tensor>,
    report: Option<&ProgressFn<'_>>,
) -> Result<Info> {
    lanczos.expect_own("graph", graph)?;
    let options = lanczos.problem().expect_of_graph()?;
    let k = options.count;
    coordinates.expect_context("coordinates", graph.context())?;
    coordinates.expect_dtype("coordinates", DType::F64)?;
    coordinates.expect_size("coordinates", graph.rows(), k)?;
    coordinates.dense_mut("coordinates")?.memory.host("coordinates")?;
    values.as_mut().map_or(Ok(()), |v| expect_output("values", v, graph, k))?;
    let found = embed::embed(lanczos.group(), graph, options, scaling, &lanczos.progress(report))
        .map_err(|e| e.renamed("a", "graph"))?;
    coordinates.dense_mut("coordinates")?.set_columns("coordinates", &found.coordinates)?;
    values.map_or(Ok(()), |v| v.set_first("values", &found.values))?;
    Ok(lanczos.record(found.info))
}

/// [`embed::clusters`] into `labels`, n indices on the host, which stay as they are if the solve found fewer pairs than
/// clusters. Returns the inertia also.
///
/// # Errors
/// As [`embed::clusters`] and [`embed()`].
pub fn clusters(
    lanczos: &Lanczos,
    graph: &Matrix,
    assignment: Assignment,
    start_count: u32,
    labels: &mut Tensor,
    report: Option<&ProgressFn<'_>>,
) -> Result<(Option<f64>, Info)> {
    lanczos.expect_own("graph", graph)?;
    let options = lanczos.problem().expect_of_graph()?;
    expect_labels("labels", labels, graph)?;
    let (found, from) =
        embed::clusters(lanczos.group(), graph, options, assignment, start_count, &lanczos.progress(report))
            .map_err(|e| e.renamed("a", "graph"))?;
    let info = lanczos.record(from.info);
    let Some(found) = found else { return Ok((None, info)) };
    labels.set_indices("labels", &found.labels)?;
    Ok((Some(found.inertia), info))
}

/// [`bisect::fiedler`] into `vector`, n numbers in F64 on the host, which stay as they are if no pair was found. Returns the
/// eigenvalue also.
///
/// # Errors
/// As [`bisect::fiedler`] and [`embed()`]; [`Error::InvalidArgument`] for a `count` other than 1 and the default.
pub fn fiedler(
    lanczos: &Lanczos,
    graph: &Matrix,
    normalized: bool,
    vector: &mut Tensor,
    report: Option<&ProgressFn<'_>>,
) -> Result<(Option<f64>, Info)> {
    expect_output("vector", vector, graph, graph.rows())?;
    lanczos.expect_own("graph", graph)?;
    let options = lanczos.problem().expect_of_graph()?;
    if ![1, Options::default().count].contains(&options.count) {
        let problem = format!("is {}, this function finds one vector: 1, or the default", options.count);
        return Err(Error::invalid("count", problem));
    }
    let found = bisect::fiedler(lanczos.group(), graph, normalized, options, &lanczos.progress(report))
        .map_err(|e| e.renamed("a", "graph"))?;
    let info = lanczos.record(found.info);
    if info.count == 0 {
        return Ok((None, info));
    }
    vector.set_first("vector", &found.vector)?;
    Ok((Some(found.value), info))
}

/// [`density::density`] of the operator of `a` into `points` and `weights`, vector_count * steps numbers in F64 on the
/// host. Returns the number of points.
///
/// # Errors
/// As [`density::density`]; [`Error::InvalidArgument`] for several contexts, for options that the recurrence does not use,
/// and for outputs that do not fit.
pub fn density(
    lanczos: &Lanczos,
    a: &Matrix,
    (steps, vector_count): (usize, u32),
    points: &mut Tensor,
    weights: &mut Tensor,
    report: Option<&ProgressFn<'_>>,
) -> Result<usize> {
    lanczos.expect_alone()?;
    let problem = lanczos.problem();
    problem.expect_recurrence()?;
    lanczos.expect_own("a", a)?;
    let length = product("vector_count", steps, vector_count as usize)?;
    expect_output("points", points, a, length)?;
    expect_output("weights", weights, a, length)?;
    let (context, seed, progress) = (lanczos.context(), problem.options.seed, lanczos.progress(report));
    let begin = Instant::now();
    let (found, bytes) = with_scalar!(a.dtype(), "a", T => {
        let mut operator = problem.operator::<T>(context, a)?;
        let found = density::density(context, &mut operator, steps, vector_count, seed, &progress)?;
        Ok((found, recurrence_memory(context, &operator)?))
    })?;
    // The points are Ritz values, at most the norm in modulus.
    let norm = found.points.iter().fold(0.0f64, |most, p| most.max(p.abs()));
    let info = Info::of_recurrences(steps, [found.points.len(), length], norm, begin.elapsed().as_secs_f64());
    lanczos.record(Info { host_bytes: bytes.host, device_bytes: bytes.device, ..info });
    points.set_first("points", &found.points)?;
    weights.set_first("weights", &found.weights)?;
    Ok(found.points.len())
}

/// How points become labels without an eigenproblem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labelling {
    /// [`cluster::k_means`].
    KMeans {
        /// Number of clusters, at least 1.
        clusters: usize,
        /// Number of starts. The best result is taken.
        start_count: u32,
        /// Seed of the random starts.
        seed: u64,
    },
    /// [`cluster::pivoted_qr`].
    PivotedQr,
}

/// Labels of `points`, a dense matrix on the host with a row for each point, into `labels`. Returns the inertia.
///
/// # Errors
/// As [`cluster::k_means`] and [`cluster::pivoted_qr`]; [`Error::InvalidArgument`] and [`Error::NotSupported`] for points of
/// another type or storage, and for labels that do not fit.
pub fn label(points: &Matrix, labelling: Labelling, labels: &mut Tensor) -> Result<f64> {
    expect_labels("labels", labels, points)?;
    let dense = points.dense("points")?;
    let numbers = with_real!(points.dtype(), "points", T => embed::widened(&dense.columns::<T>("points")?))?;
    let (context, n) = (points.context(), points.rows());
    let found = match labelling {
        Labelling::KMeans { clusters, start_count, seed } => {
            cluster::k_means(context, &numbers, n, clusters, start_count, seed)?
        }
        Labelling::PivotedQr => cluster::pivoted_qr(context, &numbers, n)?,
    };
    labels.set_indices("labels", &found.labels)?;
    Ok(found.inertia)
}

/// The two sides of a cut of a graph by `vector`, n numbers in F64 on the host, into `sides` as labels 0 and 1. Returns the
/// cut and the normalized cut.
///
/// # Errors
/// As [`bisect::bisect`]; [`Error::InvalidArgument`] for tensors that do not fit.
pub fn bisect(graph: &Matrix, vector: &Tensor, rule: Cut, sides: &mut Tensor) -> Result<(f64, f64)> {
    expect_vector("vector", vector, graph, graph.rows())?;
    expect_labels("sides", sides, graph)?;
    let mut packed = alloc::filled("vector", graph.rows(), 0.0)?;
    vector.view::<f64>("vector")?.read_column(&[], &mut packed);
    let found = bisect::bisect(graph, &packed, rule).map_err(|e| e.renamed("a", "graph"))?;
    sides.set_indices("sides", &found.labels()?)?;
    Ok((found.cut, found.normalized_cut))
}

/// The graph of the pixels of `image`, a dense matrix on the host: a row-major image by rows, a column-major one by
/// columns. Sparse if `is_formed`, else an operator.
///
/// # Errors
/// As [`image_graph_of`] and [`image_adjacency_of`]; [`Error::InvalidArgument`] and [`Error::NotSupported`] for an image of
/// another type, storage or context.
pub fn image(context: &Arc<Context>, image: &Matrix, weights: Weights, is_formed: bool) -> Result<Matrix> {
    image.expect_context("image", context)?;
    let dense = image.dense("image")?;
    // Distances are the same in both directions: columns of a column-major image are rows of its transpose.
    let (height, width) = match dense.order {
        Order::RowMajor => (image.rows(), image.cols()),
        Order::ColumnMajor => (image.cols(), image.rows()),
    };
    let made = with_real!(image.dtype(), "image", T => {
        let pixels = embed::widened(&dense.lines::<T>("image")?)?;
        match is_formed {
            true => image_graph_of::<T>(context, &pixels, height, width, weights),
            false => image_adjacency_of::<T>(context, &pixels, (height, width), weights),
        }
    });
    made.map_err(|e| e.renamed("pixels", "image"))
}
