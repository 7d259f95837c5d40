//! Start vectors: points distributed over the sphere.

use super::cpu::tensor::draw;
use super::options::StartKind;
use crate::alloc;
use crate::choice::word;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::scalar::{Real, with_real};
use crate::stream::{self, Stream};
use crate::tensor::{HostOutput, Tensor};

/// Fills `starts` [n, V] with unit vectors of the given kind. Random ones are those that [`super::solve`] draws for its
/// first tensor.
///
/// # Errors
/// [`Error::InvalidArgument`] for [`StartKind::Auto`], whose vectors depend on the order of a tensor, for a kind without
/// points in this dimension or of this number, or for a seed if the kind is not random.
pub fn starts(
    context: &Context,
    queue: Option<&Stream>,
    kind: StartKind,
    seed: u64,
    starts: &mut Tensor,
) -> Result<()> {
    if kind == StartKind::Auto {
        return Err(Error::invalid("kind", "is 0 (auto), which depends on the order of a tensor"));
    }
    context.check_alive()?;
    let queue = stream::select(context, queue)?;
    starts.expect_context("starts", context)?;
    let &[n, count] = starts.dims() else {
        return Err(Error::invalid("starts", format!("has dimensions {:?}, [n, V] are needed", starts.dims())));
    };
    if !matches!(kind, StartKind::Random | StartKind::RandomCube) {
        refuse_idle_seed(seed, IDLE_SEED)?;
    }
    with_real!(starts.dtype(), "starts", T => {
        let points = points::<T>(("kind", kind), seed, n, count)?;
        let mut out = HostOutput::new("starts", starts)?;
        let mut view = out.tensor().view_mut::<T>("starts")?;
        for (v, x) in points.chunks_exact(n.max(1)).enumerate() {
            view.write_column(&[v], x);
        }
        out.finish(queue)
    })
}

/// Reason for which a seed is refused if the start vectors are not random.
pub const IDLE_SEED: &str = "the start vectors are not random ones";

/// Refuses a seed that has no effect. A seed of 0, the default, is accepted, because it may mean that no seed was set.
pub fn refuse_idle_seed(seed: u64, reason: &str) -> Result<()> {
    if seed == 0 { Ok(()) } else { Err(Error::invalid("seed", format!("is {seed}, but {reason}"))) }
}

/// Unit vectors [n x count] of a kind that is not `Auto`. `argument` is the name of the kind in messages.
pub fn points<T: Real>((argument, kind): (&str, StartKind), seed: u64, n: usize, count: usize) -> Result<Vec<T>> {
    if n == 0 {
        return Err(Error::invalid("starts", "has dimension 0"));
    }
    let mut out = alloc::filled("start vectors", crate::shape::product("starts", n, count)?, T::ZERO)?;
    match kind {
        StartKind::Random | StartKind::RandomCube | StartKind::Auto => {
            let mut drawn = alloc::filled("start vectors", out.len(), 0.0)?;
            draw(kind, seed, 0, 0, n, &mut drawn);
            for (x, c) in out.iter_mut().zip(&drawn) {
                *x = T::from_f64(*c);
            }
        }
        _ if n != 3 => {
            return Err(Error::invalid(argument, format!("{} is for dimension 3, this is {n}", word(kind))));
        }
        StartKind::Icosahedral => {
            let vertices = icosahedral(count)?;
            for (x, p) in out.chunks_exact_mut(3).zip(&vertices) {
                write(x, *p);
            }
        }
        StartKind::FibonacciHemisphere | StartKind::FibonacciSphere => {
            for (v, x) in out.chunks_exact_mut(3).enumerate() {
                write(x, fibonacci(v, count, kind == StartKind::FibonacciHemisphere));
            }
        }
    }
    Ok(out)
}

fn write<T: Real>(x: &mut [T], p: [f64; 3]) {
    for (x, c) in x.iter_mut().zip(p) {
        *x = T::from_f64(c);
    }
}

/// Point i of V: equal steps in z, rotated by multiples of the golden angle pi (3 - sqrt 5).
fn fibonacci(i: usize, count: usize, half: bool) -> [f64; 3] {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let (i, count) = (i as f64, count as f64);
    let z = if half { 1.0 - (i + 0.5) / count } else { 1.0 - (2.0 * i + 1.0) / count };
    let (sine, cosine) = (i * golden).sin_cos();
    let radius = (1.0 - z * z).sqrt();
    [radius * cosine, radius * sine, z]
}

/// Number of vertices of an icosahedron with edges divided into f parts: on the sphere, or up to sign.
pub fn icosahedral_count(f: usize, half: bool) -> usize {
    if half { 5 * f * f + 1 } else { 10 * f * f + 2 }
}

/// Vertices of the icosahedron with edges divided into f parts, projected to the sphere: 10 f^2 + 2 of them, or 5 f^2 +
/// 1 with one of each antipodal pair.
fn icosahedral(count: usize) -> Result<Vec<[f64; 3]>> {
    let matching = |half: bool| (1..=4096).find(|f| icosahedral_count(*f, half) == count);
    let (f, half) = match (matching(false), matching(true)) {
        (Some(f), _) => (f, false),
        (None, Some(f)) => (f, true),
        (None, None) => {
            return Err(Error::invalid(
                "starts",
                format!("is {count}; an icosahedral set has 10 f^2 + 2 or, up to sign, 5 f^2 + 1 vectors"),
            ));
        }
    };
    let g = (1.0 + 5f64.sqrt()) / 2.0;
    let corners = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ];
    let distance2 = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>();
    let adjacent = |a: usize, b: usize| (distance2(corners[a], corners[b]) - 4.0).abs() < 1e-9;
    let mut all = alloc::with_capacity("start vectors", icosahedral_count(f, false))?;
    let mut add = |weights: &[(usize, usize)]| {
        let mut p = [0.0; 3];
        for (corner, weight) in weights {
            for (p, c) in p.iter_mut().zip(corners[*corner]) {
                *p += c * *weight as f64;
            }
        }
        let norm = distance2(p, [0.0; 3]).sqrt();
        let p = p.map(|c| c / norm);
        // The half contains the points whose last nonzero component is positive.
        let upper = p.iter().rev().find(|c| c.abs() > 1e-9).is_some_and(|c| *c > 0.0);
        if !half || upper {
            all.push(p);
        }
    };
    // Corners, then points on edges, then points inside faces, each once.
    for a in 0..12 {
        add(&[(a, 1)]);
    }
    for a in 0..12 {
        for b in (a + 1..12).filter(|b| adjacent(a, *b)) {
            for i in 1..f {
                add(&[(a, f - i), (b, i)]);
            }
        }
    }
    for a in 0..12 {
        for b in (a + 1..12).filter(|b| adjacent(a, *b)) {
            for c in (b + 1..12).filter(|c| adjacent(a, *c) && adjacent(b, *c)) {
                for i in 1..f {
                    for j in 1..f - i {
                        add(&[(a, i), (b, j), (c, f - i - j)]);
                    }
                }
            }
        }
    }
    Ok(all)
}
