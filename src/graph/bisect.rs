//! The Fiedler vector, and cuts of a graph by a vector.

use super::degrees;
use super::embed::in_double;
use super::sort::sort_watched;
use crate::alloc;
use crate::backend::memory::HostMemory;
use crate::choice::numbered;
use crate::error::{Error, Result, real};
use crate::group::Group;
use crate::lanczos::operator::Kind;
use crate::lanczos::solve::{SolveInputs, Vectors};
use crate::lanczos::{Info, Method, Options, Which, eigenpairs_over};
use crate::matrix::sparse::{Rows, Values, has_symmetric_values, values};
use crate::matrix::{Matrix, Storage, not_finite};
use crate::progress::{CancelWatch, Progress};
use crate::scalar::{Complex, DType, Element, Scalar, with_real};

const WHAT: &str = "bisection of a graph";

/// Where a vector is cut. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Cut {
    /// At 0: nonnegative entries are one side.
    Sign = 0,
    /// At its median: the sides differ by one vertex at most.
    Median = 1,
    /// Where cut/vol(S) + cut/vol(rest) is least; at the median if it is infinite everywhere.
    Sweep = 2,
}

numbered!(Cut, Sign, Median, Sweep);

/// The second eigenvector of a Laplacian.
#[derive(Debug, Clone, PartialEq)]
pub struct Fiedler {
    /// The eigenvalue: the algebraic connectivity of the Laplacian; NaN if none was found.
    pub value: f64,
    /// The vector, of norm 1; empty if none was found.
    pub vector: Vec<f64>,
    /// Figures of the solve. [`Info::check_converged`] says whether the pair has converged.
    pub info: Info,
}

/// A division of a graph into two sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Bisection {
    /// Side of each vertex: `false` for the smaller entries of the vector.
    pub sides: Vec<bool>,
    /// Weight of the edges between the sides, each counted once.
    pub cut: f64,
    /// cut/vol(S) + cut/vol(rest), where vol is a side's sum of degrees; infinite unless both are above 0.
    pub normalized_cut: f64,
}

impl Bisection {
    /// The sides as labels, 0 and 1.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn labels(&self) -> Result<Vec<usize>> {
        let mut labels = alloc::with_capacity(WHAT, self.sides.len())?;
        labels.extend(self.sides.iter().map(|s| usize::from(*s)));
        Ok(labels)
    }
}

fn expect_graph(graph: &Matrix) -> Result<()> {
    with_real!(graph.dtype(), "graph", T => Ok(T::DTYPE)).map(|_| ())?;
    if graph.rows() != graph.cols() {
        return Err(Error::invalid("graph", format!("is {} x {}, not square", graph.rows(), graph.cols())));
    }
    Ok(())
}

fn graph_rows(graph: &Matrix) -> Result<Rows<'_>> {
    expect_graph(graph)?;
    match graph.storage() {
        Storage::Csr(csr) => Rows::new(csr),
        other => Err(Error::NotSupported(format!("graph: is {}, a sparse matrix is needed", other.name()))),
    }
}

/// The eigenvector of the second smallest eigenvalue of the Laplacian L. With `normalized`, that of D^-1/2 L D^-1/2,
/// whose entries are divided by the square root of the degree. All members of `group` take part; the graph belongs
/// to the first. The known vector of eigenvalue 0 is deflated. The options `count` and `which` are ignored.
///
/// # Errors
/// [`Error::InvalidArgument`] for a graph of fewer than 2 vertices, of complex numbers, or with weights below 0 that make an
/// eigenvalue negative, and for the plain recurrence; else as [`eigenpairs_over`].
pub fn fiedler(
    group: &Group,
    graph: &Matrix,
    normalized: bool,
    options: &Options,
    progress: &Progress<'_>,
) -> Result<Fiedler> {
    expect_graph(graph)?;
    let n = graph.rows();
    if n < 2 {
        return Err(Error::invalid("graph", format!("has {n} vertices, at least 2 are needed")));
    }
    if options.method == Method::Plain {
        return Err(Error::invalid("method", "is PLAIN, which keeps no known vector out: RESTART is needed"));
    }
    // Charge the degrees, the known vector and the result.
    let _charge = graph.context().host_budget().charge_host(WHAT, n.saturating_mul(3 * size_of::<f64>()))?;
    let degrees = degrees(graph)?;
    // The normalized Laplacian is shifted by -1: errors are relative to eigenvalues, and near 0 they would have to be
    // tiny.
    let (kind, shift) = if normalized { (Kind::NormalizedLaplacian, -1.0) } else { (Kind::Laplacian, 0.0) };
    let options = Options { count: 1, which: Which::Smallest, ..*options };
    let (values, mut vector, info) = with_real!(graph.dtype(), "graph", T => {
        let mut known = alloc::with_capacity(WHAT, n)?;
        // Without edges every vector has eigenvalue 0.
        let is_scaled = normalized && degrees.iter().any(|d| *d > 0.0);
        known.extend(degrees.iter().map(|d| T::from_parts(if is_scaled { d.max(0.0).sqrt() } else { 1.0 }, 0.0)));
        let given = SolveInputs { deflate: &known[..], ..SolveInputs::default() };
        let pairs = eigenpairs_over(group, graph, (kind, shift), &options, &given, progress, Vectors::Returned)?;
        Ok((pairs.values, in_double(pairs.vectors)?, pairs.info))
    })?;
    let Some(&value) = values.first() else {
        return Ok(Fiedler { value: f64::NAN, vector: Vec::new(), info });
    };
    // The known vector has the smallest eigenvalue only if no eigenvalue is negative.
    let floor = -1e3 * if graph.dtype() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    if value - shift < floor * info.norm {
        let problem = format!("has weights below 0: eigenvalue {} of D - W is less than 0", real(value - shift));
        return Err(Error::invalid("graph", problem));
    }
    if normalized {
        vector.iter_mut().zip(&degrees).filter(|(_, d)| **d > 0.0).for_each(|(x, d)| *x /= d.sqrt());
        let norm = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    Ok(Fiedler { value: value - shift, vector, info })
}

/// Cuts a graph by a vector, O(nnz + n log n).
///
/// # Errors
/// [`Error::InvalidArgument`] for a graph that is not symmetric, another length of the vector, or numbers or weights
/// that are not finite; [`Error::Numerical`] for weights whose sum overflows; [`Error::NotSupported`] for values on a
/// device; [`Error::OutOfMemory`]; [`Error::Cancelled`].
pub fn bisect(graph: &Matrix, vector: &[f64], rule: Cut) -> Result<Bisection> {
    let (rows, cancel) = (graph_rows(graph)?, graph.context().cancel_watch());
    let n = graph.rows();
    if n == 0 {
        return Err(Error::invalid("graph", "has 0 vertices, at least 1 is needed"));
    }
    if vector.len() != n {
        return Err(Error::invalid("vector", format!("has {} elements, {n} are needed", vector.len())));
    }
    if let Some(i) = vector.iter().position(|x| !x.is_finite()) {
        return Err(Error::invalid("vector", format!("element {i} is {}", vector[i])));
    }
    // Charge the order of vertices, their positions in it, the volumes after each, and the sides.
    let _charge = graph.context().host_budget().charge_host(WHAT, n.saturating_mul(3 * size_of::<usize>() + 1))?;
    let mut order = alloc::with_capacity(WHAT, n)?;
    order.extend(0..n);
    // The vertex numbers make the order total; the in-place sort does not allocate.
    let compare = |&i: &usize, &j: &usize| vector[i].total_cmp(&vector[j]).then(i.cmp(&j));
    sort_watched(&mut order, compare, cancel)?;
    let values = weights_of(graph)?;
    let weights = Weights::new(graph, values.as_deref())?;
    let mut paced = cancel.paced();
    for i in 0..n {
        paced.step(rows.row(i).len())?;
        if let Some(k) = rows.row(i).find(|&k| !weights.at(k).is_finite()) {
            return Err(not_finite::entry("graph", (i, rows.col(k)), false, Complex::new(weights.at(k), 0.0)));
        }
    }
    // A cut of a directed graph would depend on whether its rows or its columns are stored.
    if !has_symmetric_values(graph, 1e-5)? {
        return Err(Error::invalid("graph", "is not symmetric"));
    }
    let below = match rule {
        Cut::Sign => order.partition_point(|&i| vector[i] < 0.0),
        Cut::Median => n / 2,
        Cut::Sweep => sweep(graph, &rows, &order, vector, cancel)?,
    };
    let mut sides = alloc::filled(WHAT, n, true)?;
    order[..below].iter().for_each(|&i| sides[i] = false);
    let (mut cut, mut volumes) = (0.0, [0.0, 0.0]);
    for i in 0..n {
        paced.step(rows.row(i).len())?;
        for k in rows.row(i) {
            let w = weights.at(k);
            volumes[usize::from(sides[i])] += w;
            cut += if sides[i] == sides[rows.col(k)] { 0.0 } else { 0.5 * w };
        }
    }
    if !(volumes[0] + volumes[1]).is_finite() || !cut.is_finite() {
        return Err(overflowed(graph));
    }
    Ok(Bisection { sides, cut, normalized_cut: normalized(cut, volumes) })
}

/// The error of finite weights whose sum overflows: it names the row whose own sum does, if there is one.
fn overflowed(graph: &Matrix) -> Error {
    match degrees(graph) {
        Ok(_) => Error::Numerical("graph: the sum of its entries overflows".into()),
        Err(error) => error,
    }
}

fn normalized(cut: f64, [a, b]: [f64; 2]) -> f64 {
    if a > 0.0 && b > 0.0 { cut / a + cut / b } else { f64::INFINITY }
}

/// The stored weights of the edges, in host memory; `None` where each is 1.
fn weights_of(graph: &Matrix) -> Result<Option<Values<'_>>> {
    if matches!(graph.storage(), Storage::Csr(_)) { values("graph", graph) } else { Ok(None) }
}

/// The weights of the edges.
enum Weights<'a> {
    /// No values are stored: each weight is 1.
    Ones,
    Single(&'a [f32]),
    Double(&'a [f64]),
}

impl<'a> Weights<'a> {
    fn new(graph: &Matrix, values: Option<&'a HostMemory>) -> Result<Self> {
        let Some(values) = values else { return Ok(Self::Ones) };
        Ok(if graph.dtype() == DType::F32 {
            Self::Single(values.as_slice()?)
        } else {
            Self::Double(values.as_slice()?)
        })
    }

    fn at(&self, k: usize) -> f64 {
        match self {
            Self::Ones => 1.0,
            Self::Single(w) => f64::from(w[k]),
            Self::Double(w) => w[k],
        }
    }
}

/// The number of first vertices in `order` with the least normalized cut. When a vertex changes sides, the cut grows by
/// its edges to later vertices and shrinks by those to earlier ones. Vertices of equal values are never separated.
fn sweep(graph: &Matrix, rows: &Rows<'_>, order: &[usize], vector: &[f64], cancel: CancelWatch<'_>) -> Result<usize> {
    let n = order.len();
    let values = weights_of(graph)?;
    let weights = Weights::new(graph, values.as_deref())?;
    let mut place = alloc::filled(WHAT, n, 0usize)?;
    for block in cancel.blocks(0..n) {
        block?.for_each(|at| place[order[at]] = at);
    }
    // Volumes of the vertices after each position, summed from the end: exactly 0 if none of them has an edge.
    let mut behind = alloc::filled(WHAT, n, 0.0f64)?;
    let mut paced = cancel.paced();
    for at in (1..n).rev() {
        paced.step(rows.row(order[at]).len())?;
        behind[at - 1] = behind[at] + rows.row(order[at]).map(|k| weights.at(k)).sum::<f64>();
    }
    let (mut cut, mut volume) = (0.0, 0.0);
    let mut best = (f64::INFINITY, n / 2);
    for (at, &i) in order[..n - 1].iter().enumerate() {
        paced.step(rows.row(i).len())?;
        for k in rows.row(i) {
            let (w, j) = (weights.at(k), rows.col(k));
            volume += w;
            if j != i {
                cut += if place[j] > at { w } else { -w };
            }
        }
        let value = normalized(cut, [volume, behind[at]]);
        if value < best.0 && vector[i] < vector[order[at + 1]] {
            best = (value, at + 1);
        }
    }
    // A sum that has overflowed stays so.
    if ![cut, volume, behind[0]].iter().all(|sum| sum.is_finite()) {
        return Err(overflowed(graph));
    }
    Ok(best.1)
}
