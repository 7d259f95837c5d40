//! Spectral methods for graphs: embeddings, clusters, the Fiedler vector, cuts; densities; graphs of images.

use super::handle;
use super::lanczos::{LanczosObject, purlin_lanczos};
use super::lanczos_convert::write_and_check;
use super::lanczos_types::purlin_lanczos_info;
use super::matrix::{self, purlin_matrix};
use super::options::{self, flag};
use super::overlap::{self, Range, ranges, stored};
use super::sparse::alive;
use super::tensor::{self, purlin_tensor};
use super::{context, guard, purlin_context, purlin_status, purlin_stream, stream};
use crate::error::{Error, Result};
use crate::graph::bisect::Cut;
use crate::graph::calls::{self, Labelling};
use crate::graph::embed::{Assignment, Scaling};
use crate::graph::image::Weights;
use crate::shape;

/// Coordinates are the eigenvectors: orthonormal columns.
pub const PURLIN_GRAPH_SCALING_NONE: i32 = 0;
/// Rows of length 1 (Ng, Jordan and Weiss, NIPS 14, 2001); a row of zeros stays.
pub const PURLIN_GRAPH_SCALING_UNIT_ROWS: i32 = 1;
/// Rows over the root of the degree: eigenvectors of the random walk (Shi and Malik, IEEE PAMI 22, 2000).
pub const PURLIN_GRAPH_SCALING_DEGREES: i32 = 2;

/// Labels by k-means from rows of length 1.
pub const PURLIN_GRAPH_LABELS_K_MEANS: i32 = 0;
/// Labels by column-pivoted QR of the eigenvectors (Damle, Minden and Ying, Information and Inference 8, 2019).
pub const PURLIN_GRAPH_LABELS_PIVOTED_QR: i32 = 1;

/// A vector is cut at 0.
pub const PURLIN_GRAPH_CUT_SIGN: i32 = 0;
/// At its median: halves that differ by one vertex at most.
pub const PURLIN_GRAPH_CUT_MEDIAN: i32 = 1;
/// Where cut/vol(S) + cut/vol(rest) is least (Shi and Malik, IEEE PAMI 22, 2000).
pub const PURLIN_GRAPH_CUT_SWEEP: i32 = 2;

/// Coordinates of the vertices of a graph, in which those that hang together lie together: eigenvectors of the k
/// smallest eigenvalues of the normalized Laplacian I - D^-1/2 W D^-1/2, found as the largest of D^-1/2 W D^-1/2. It
/// costs purlin_lanczos_solve for k pairs, and O(n k).
///
/// @param      lanczos      the solver: `count` of its options is k, `which` SMALLEST or the default, `kind` and `shift` are not
///                          to be set.
/// @param      stream       NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      graph        sparse, PURLIN_F64 or PURLIN_F32, symmetric, row sums not negative; or by
///                          purlin_graph_operator_of_image. Weights below 0 draw their vertices apart: eigenvalues may then be
///                          below 0 or above 2.
/// @param      scaling      PURLIN_GRAPH_SCALING_*.
/// @param      coordinates  dense, n x k, PURLIN_F64, any order, on the host.
/// @param      values       k elements of PURLIN_F64: the eigenvalues of the normalized Laplacian, ascending; NULL if not
///                          wanted.
/// @param[out] info         report of the eigensolver; may be NULL.
/// @return as purlin_lanczos_solve.
///
/// # Safety
/// `info` is NULL or an initialized struct.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_embed(
    lanczos: *mut purlin_lanczos,
    stream: *const purlin_stream,
    graph: *const purlin_matrix,
    scaling: i32,
    coordinates: *mut purlin_matrix,
    values: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let (object, lanczos) = LanczosObject::exclusive(lanczos)?;
        let _stream = stream::before(lanczos.context(), stream)?;
        let graph = alive("graph", graph)?;
        let scaling = Scaling::from_code("scaling", scaling)?;
        let mut coordinates = matrix::output("coordinates", coordinates)?;
        let mut values = tensor::output_or_null("values", values)?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        let outputs = ranges(&[("coordinates", Some(&*coordinates))], &[("values", values.as_deref())]);
        overlap::check(&stored("graph", &graph), &outputs)?;
        let found = object
            .run(|report| calls::embed(&lanczos, &graph, scaling, &mut coordinates, values.as_deref_mut(), report))?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_and_check(info, &found, lanczos.problem().options.count) }
    })
}

/// Clusters of a graph, from an embedding: as many as `count` of the solver's options. It costs purlin_graph_embed,
/// and purlin_graph_k_means or purlin_graph_pivoted_qr.
///
/// @param      lanczos      the solver: `count` of its options is the number of clusters, `which` SMALLEST or the
///                          default, `kind` and `shift` are not to be set; k-means has the same seed.
/// @param      stream       NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      graph        as for purlin_graph_embed.
/// @param      assignment   PURLIN_GRAPH_LABELS_K_MEANS or PURLIN_GRAPH_LABELS_PIVOTED_QR.
/// @param      start_count  starts of k-means, at least 1; 10 is usual. The best result stays. Not used by pivoted QR,
///                          which has none.
/// @param      labels       n elements of PURLIN_I64 on the host: the cluster of each vertex, 0 to k - 1.
/// @param[out] inertia      sum of the squared distances of the coordinates from their centres; may be NULL.
/// @param[out] info         report of the eigensolver; may be NULL.
/// @return as purlin_lanczos_solve; after `PURLIN_ERROR_NO_CONVERGENCE` the labels are those of the last iterate, if that
/// has k pairs, and as they were if not.
///
/// # Safety
/// `info` is NULL or an initialized struct; `inertia` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_cluster(
    lanczos: *mut purlin_lanczos,
    stream: *const purlin_stream,
    graph: *const purlin_matrix,
    assignment: i32,
    start_count: i64,
    labels: *mut purlin_tensor,
    inertia: *mut f64,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let (object, lanczos) = LanczosObject::exclusive(lanczos)?;
        let _stream = stream::before(lanczos.context(), stream)?;
        let graph = alive("graph", graph)?;
        let assignment = Assignment::from_code("assignment", assignment)?;
        // As an array's length where there is no array, the number is not looked at where there are no starts.
        let start_count = if assignment == Assignment::KMeans { at_least_one("start_count", start_count)? } else { 1 };
        let mut labels = tensor::output("labels", labels)?;
        // SAFETY: the caller promises NULL or a place for the number.
        let inertia = unsafe { super::pointer::output_or_null("inertia", inertia) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        overlap::check(&stored("graph", &graph), &[Range::of("labels", &labels)])?;
        let (found, from) =
            object.run(|report| calls::clusters(&lanczos, &graph, assignment, start_count, &mut labels, report))?;
        put_number(inertia, found);
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_and_check(info, &from, lanczos.problem().options.count) }
    })
}

fn at_least_one(argument: &str, count: i64) -> Result<u32> {
    u32::try_from(count)
        .ok()
        .filter(|c| *c > 0)
        .ok_or_else(|| Error::invalid(argument, format!("is {count}, outside 1 to {}", u32::MAX)))
}

/// Writes a number that there is to a place that there is.
fn put_number(place: Option<&mut f64>, value: Option<f64>) {
    if let (Some(place), Some(value)) = (place, value) {
        *place = value;
    }
}

/// k-means by Lloyd's iteration from the starts of k-means++ (Arthur and Vassilvitskii, SODA 2007), the best of
/// `start_count`. O(start_count n k dims) a round. The same seed gives the same labels for any number of threads.
///
/// @param      points       dense, n x dims, PURLIN_F64 or PURLIN_F32 (computed with in F64), any order, on the host.
/// @param      clusters     number of clusters k, 1 to n.
/// @param      start_count  at least 1.
/// @param      seed         of the starts.
/// @param      labels       n elements of PURLIN_I64 on the host: the cluster of each point, 0 to k - 1.
/// @param[out] inertia      sum of the squared distances from the centres; may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, numbers that
/// are not finite), `PURLIN_ERROR_NUMERICAL` (a sum of squared distances that overflows, numbers that are too far apart for one
/// unit), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory), `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_BUSY`,
/// `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `inertia` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_k_means(
    points: *const purlin_matrix,
    clusters: i64,
    start_count: i64,
    seed: u64,
    labels: *mut purlin_tensor,
    inertia: *mut f64,
) -> purlin_status {
    guard::run(|| {
        let (clusters, start_count) =
            (shape::size("clusters", clusters, 1)?, at_least_one("start_count", start_count)?);
        // SAFETY: the caller promises NULL or a place for the number.
        let inertia = unsafe { super::pointer::output_or_null("inertia", inertia) }?;
        let points = alive("points", points)?;
        let mut labels = tensor::output("labels", labels)?;
        overlap::check(&stored("points", &points), &[Range::of("labels", &labels)])?;
        let found = calls::label(&points, Labelling::KMeans { clusters, start_count, seed }, &mut labels)?;
        put_number(inertia, Some(found));
        Ok(())
    })
}

/// Labels by column-pivoted QR (Damle, Minden and Ying, Information and Inference 8, 2019): as many clusters as columns,
/// O(n k^2).
///
/// @param      points   dense, n x k, orthonormal columns, PURLIN_F64 or PURLIN_F32 (computed with in F64), any order, on the host.
/// @param      labels   n elements of PURLIN_I64 on the host: the cluster of each point, 0 to k - 1.
/// @param[out] inertia  sum of the squared distances from the points that stand for the clusters, infinite if it overflows;
///                      may be NULL.
/// @return as purlin_graph_k_means.
///
/// # Safety
/// `inertia` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_pivoted_qr(
    points: *const purlin_matrix,
    labels: *mut purlin_tensor,
    inertia: *mut f64,
) -> purlin_status {
    guard::run(|| {
        // SAFETY: the caller promises NULL or a place for the number.
        let inertia = unsafe { super::pointer::output_or_null("inertia", inertia) }?;
        let points = alive("points", points)?;
        let mut labels = tensor::output("labels", labels)?;
        overlap::check(&stored("points", &points), &[Range::of("labels", &labels)])?;
        let found = calls::label(&points, Labelling::PivotedQr, &mut labels)?;
        put_number(inertia, Some(found));
        Ok(())
    })
}

/// The Fiedler vector of a graph: the eigenvector of the second smallest eigenvalue of its Laplacian (Fiedler, Czechoslovak
/// Math. J. 23, 1973), by purlin_lanczos_solve. The known vector of eigenvalue 0 is kept out of the search. O(nnz + n basis) a
/// product, O(sqrt(largest eigenvalue / (third - second)) log(1/tolerance)) products; n (basis + 3) numbers of memory.
///
/// @param      lanczos     the solver: `count` of its options is 1 or the default, `which` SMALLEST or the default, `kind` and
///                         `shift` are not to be set.
/// @param      stream      NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      graph       sparse, PURLIN_F64 or PURLIN_F32, symmetric, at least 2 vertices; or by
///                         purlin_graph_operator_of_image.
/// @param      normalized  0: of D - W; 1: of the normalized Laplacian, its entries over the roots of the degrees.
/// @param[out] value       the eigenvalue: with `normalized` 0 the algebraic connectivity; may be NULL.
/// @param      vector      n elements of PURLIN_F64 on the host: the vector, of 2-norm 1.
/// @param[out] info        report of the eigensolver; may be NULL.
/// @return as purlin_lanczos_solve.
///
/// # Safety
/// `info` is NULL or an initialized struct; `value` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_fiedler(
    lanczos: *mut purlin_lanczos,
    stream: *const purlin_stream,
    graph: *const purlin_matrix,
    normalized: i32,
    value: *mut f64,
    vector: *mut purlin_tensor,
    info: *mut purlin_lanczos_info,
) -> purlin_status {
    guard::run(|| {
        let (object, lanczos) = LanczosObject::exclusive(lanczos)?;
        let _stream = stream::before(lanczos.context(), stream)?;
        let graph = alive("graph", graph)?;
        let normalized = flag("normalized", normalized)?;
        let mut vector = tensor::output("vector", vector)?;
        // SAFETY: the caller promises NULL or a place for the number.
        let value = unsafe { super::pointer::output_or_null("value", value) }?;
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { options::check("info", info) }?;
        overlap::check(&stored("graph", &graph), &[Range::of("vector", &vector)])?;
        let (found, from) = object.run(|report| calls::fiedler(&lanczos, &graph, normalized, &mut vector, report))?;
        put_number(value, found);
        // SAFETY: the caller promises NULL or an initialized struct.
        unsafe { write_and_check(info, &from, 1) }
    })
}

/// Cuts a graph in two by a vector: the Fiedler vector for spectral bisection (Pothen, Simon and Liou, SIAM J. Matrix Anal.
/// Appl. 11, 1990). O(nnz + n log n).
///
/// @param      graph           sparse, PURLIN_F64 or PURLIN_F32, on the host.
/// @param      vector          n finite elements of PURLIN_F64 on the host.
/// @param      method          PURLIN_GRAPH_CUT_SIGN, MEDIAN or SWEEP, which cuts at the median where every normalized cut is
///                             infinite.
/// @param      sides           n elements of PURLIN_I64 on the host: the side of each vertex, 0 or 1.
/// @param[out] cut             weight of the edges between the sides, each once; may be NULL.
/// @param[out] normalized_cut  cut/vol(S) + cut/vol(rest), vol a side's sum of degrees; infinite unless both are above 0;
///                             may be NULL.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (sizes, types, overlap, numbers
/// that are not finite), `PURLIN_ERROR_NUMERICAL` (weights whose sum overflows), `PURLIN_ERROR_NOT_SUPPORTED` (another
/// storage, device memory), `PURLIN_ERROR_BUSY`, `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `cut` and `normalized_cut` are NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_bisect(
    graph: *const purlin_matrix,
    vector: *const purlin_tensor,
    method: i32,
    sides: *mut purlin_tensor,
    cut: *mut f64,
    normalized_cut: *mut f64,
) -> purlin_status {
    guard::run(|| {
        let graph = alive("graph", graph)?;
        let vector = tensor::input("vector", vector)?;
        let method = Cut::from_code("method", method)?;
        let mut sides = tensor::output("sides", sides)?;
        // SAFETY: the caller promises NULL or places for the numbers.
        let (cut, normalized_cut) = unsafe {
            let cut = super::pointer::output_or_null("cut", cut)?;
            (cut, super::pointer::output_or_null("normalized_cut", normalized_cut)?)
        };
        let inputs = [stored("graph", &graph), vec![Range::of("vector", &vector)]].concat();
        overlap::check(&inputs, &[Range::of("sides", &sides)])?;
        let (between, normalized) = calls::bisect(&graph, &vector, method, &mut sides)?;
        put_number(cut, Some(between));
        put_number(normalized_cut, Some(normalized));
        Ok(())
    })
}

/// The density of a spectrum, by Lanczos recurrences from random vectors (Lin, Saad and Yang, SIAM Review 58, 2016):
/// points and weights, which sum to 1, of a quadrature. The sum of f(point) weight is about trace(f(A)) / n; its error
/// falls with the root of `vector_count`. A step of a vector takes one product and O(n) operations, and a vector
/// O(steps^2).
///
/// @param      lanczos       the solver, on one context; `kind`, `shift`, `ordering`, `check_symmetry`, `seed` and
///                           `progress` of its options are used; others, but for `count`, are refused where they are
///                           set.
/// @param      stream        NULL for the context's own; the call begins after its work, and is complete on return.
/// @param      a             as for purlin_lanczos_solve.
/// @param      steps         points of a vector, at least 1.
/// @param      vector_count  at least 1.
/// @param      points        vector_count * steps elements of PURLIN_F64 on the host, ascending for each vector, one
///                           after another.
/// @param      weights       as many elements of PURLIN_F64 on the host.
/// @param[out] count         points found: fewer where a space is invariant; the rest of `points` and `weights` is as
///                           it was.
/// @return as purlin_lanczos_solve, but for NO_CONVERGENCE.
///
/// # Safety
/// `count` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_density(
    lanczos: *mut purlin_lanczos,
    stream: *const purlin_stream,
    a: *const purlin_matrix,
    steps: i64,
    vector_count: i64,
    points: *mut purlin_tensor,
    weights: *mut purlin_tensor,
    count: *mut i64,
) -> purlin_status {
    guard::run(|| {
        let (object, lanczos) = LanczosObject::exclusive(lanczos)?;
        let _stream = stream::before(lanczos.context(), stream)?;
        let a = alive("a", a)?;
        let mut points = tensor::output("points", points)?;
        let mut weights = tensor::output("weights", weights)?;
        // SAFETY: the caller promises NULL or a place for the number.
        let target = unsafe { super::pointer::output("count", count) }?;
        let steps = shape::size("steps", steps, 1)?;
        let vector_count = at_least_one("vector_count", vector_count)?;
        let outputs = [Range::of("points", &points), Range::of("weights", &weights)];
        overlap::check(&stored("a", &a), &outputs)?;
        let found = object
            .run(|report| calls::density(&lanczos, &a, (steps, vector_count), &mut points, &mut weights, report))?;
        *target = shape::to_i64(found);
        Ok(())
    })
}

/// The weighted graph of an image: vertex i is pixel i, and neighbours p and q have weight exp(-(I_p - I_q)^2 /
/// intensity^2) exp(-|p - q|^2 / distance^2) + floor (Shi and Malik, IEEE PAMI 22, 2000). Symmetric, no loops. O(pixels
/// radius^2).
///
/// @param      context    the context it belongs to.
/// @param      image      dense, height x width, PURLIN_F64 or PURLIN_F32, on the host: row-major (PURLIN_ROW_MAJOR) pixel (y, x) is
///                        vertex y width + x, column-major x height + y.
/// @param      radius     pixels up to this distance are neighbours, 1 to 100: 1 for 4 neighbours, 1.5 for 8.
/// @param      intensity  difference at which the weight has fallen to 1/e; infinite for none.
/// @param      distance   distance at which the weight has fallen to 1/e; infinite for none.
/// @param      floor      added to every weight, not negative.
/// @param[out] graph      the graph, sparse, of the image's type; destroy it with purlin_matrix_destroy.
/// @return `PURLIN_SUCCESS`, `PURLIN_ERROR_INVALID_HANDLE`, `PURLIN_ERROR_INVALID_ARGUMENT` (an empty image, element type,
/// pixels that are not finite, options out of range), `PURLIN_ERROR_NOT_SUPPORTED` (another storage, device memory),
/// `PURLIN_ERROR_CANCELLED`, `PURLIN_ERROR_OUT_OF_MEMORY`.
///
/// # Safety
/// `graph` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_of_image(
    context: *const purlin_context,
    image: *const purlin_matrix,
    radius: f64,
    intensity: f64,
    distance: f64,
    floor: f64,
    graph: *mut *mut purlin_matrix,
) -> purlin_status {
    let weights = Weights { radius, intensity, distance, floor };
    // SAFETY: the caller promises NULL or a place for the handle.
    unsafe { of_pixels(context, image, weights, true, graph) }
}

/// Makes the graph of an image, as a sparse matrix or as an operator.
///
/// # Safety
/// `graph` is NULL or valid for writing.
unsafe fn of_pixels(
    context: *const purlin_context,
    image: *const purlin_matrix,
    weights: Weights,
    is_formed: bool,
    graph: *mut *mut purlin_matrix,
) -> purlin_status {
    guard::run(|| {
        let context = context::get(context)?;
        let image = alive("image", image)?;
        // SAFETY: the caller promises NULL or a place for the handle.
        let target = unsafe { super::pointer::output("graph", graph) }?;
        *target = handle::insert(calls::image(&context, &image, weights, is_formed)?)?;
        Ok(())
    })
}

/// The graph of purlin_graph_of_image as an operator that is never formed: one weight for each pair of neighbours and
/// no indices, 8 bytes a pixel for each of two neighbours in F64. purlin_lanczos_solve takes it with
/// PURLIN_LANCZOS_MATRIX to MODULARITY, and purlin_spmv_create with the random-walk Laplacian too; purlin_graph_embed,
/// purlin_graph_cluster, purlin_graph_fiedler, purlin_graph_density and purlin_lanczos_tridiagonalize take it as a
/// graph; functions that need entries, such as purlin_graph_bisect, do not. O(pixels radius^2), and so is a product.
/// Products are formed where the context is. One call at a time uses it.
///
/// @param      context    the context it belongs to.
/// @param      image      as for purlin_graph_of_image.
/// @param      radius     as for purlin_graph_of_image, as are the numbers that follow.
/// @param      intensity  difference at which the weight has fallen to 1/e; infinite for none.
/// @param      distance   distance at which the weight has fallen to 1/e; infinite for none.
/// @param      floor      added to every weight, not negative.
/// @param[out] graph      the operator, of the image's type; destroy it with purlin_matrix_destroy.
/// @return as purlin_graph_of_image.
///
/// # Safety
/// `graph` is NULL or valid for writing.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn purlin_graph_operator_of_image(
    context: *const purlin_context,
    image: *const purlin_matrix,
    radius: f64,
    intensity: f64,
    distance: f64,
    floor: f64,
    graph: *mut *mut purlin_matrix,
) -> purlin_status {
    let weights = Weights { radius, intensity, distance, floor };
    // SAFETY: the caller promises NULL or a place for the handle.
    unsafe { of_pixels(context, image, weights, false, graph) }
}
