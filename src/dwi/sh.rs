//! Real even spherical harmonics, and the matrices between them and packed symmetric tensors.
//!
//! Even harmonics up to degree L and forms of degree L restricted to the sphere span the same space, so a U x U matrix
//! converts one to the other. The matrix is computed by quadrature that is exact for these integrands: Gauss-Legendre nodes
//! in z times equally spaced azimuths.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

use crate::alloc;
use crate::dense::{Mat, small};
use crate::error::{Error, Result};

/// Largest supported harmonic degree; 153 coefficients.
pub const MAX_DEGREE: usize = 16;

/// Basis of spherical-harmonic coefficients. There is no default, because a wrong basis rotates or mirrors every
/// direction and the result still looks plausible. The numbers are those of the C interface.
///
/// Coefficients are ordered l = 0, 2, .., L and m = -l .. l within each l. The values below define element (l, m) of
/// each basis in terms of Y(l, m), the canonical basis: orthonormal, without the Condon-Shortley sign, cosines for m >
/// 0 and sines for m < 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Basis {
    /// Y(l, m) itself, without a sign.
    Canonical = 1,
    /// (-1)^m Y(l, m): MRtrix3, and dipy's `tournier07` with `legacy=False`.
    Mrtrix3 = 2,
    /// Y(l, 0), else (-1)^m Y(l, m) / sqrt(2): dipy's `tournier07` with `legacy=True`, MRtrix 0.2.
    Tournier07Legacy = 3,
    /// (-1)^m Y(l, -m): dipy's default, `descoteaux07` with `legacy=True`.
    Descoteaux07Legacy = 4,
    /// Y(l, -m) for m < 0, else (-1)^m Y(l, -m): dipy's `descoteaux07` with `legacy=False`.
    Descoteaux07 = 5,
}

impl Basis {
    /// Every basis, in the order of its number.
    pub const ALL: [Self; 5] =
        [Self::Canonical, Self::Mrtrix3, Self::Tournier07Legacy, Self::Descoteaux07Legacy, Self::Descoteaux07];

    /// The basis with the number `code`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument` for the number of no basis.
    pub fn from_code(argument: &str, code: i32) -> Result<Self> {
        Self::ALL.into_iter().find(|b| *b as i32 == code).ok_or_else(|| {
            Error::invalid(argument, format!("is {code}, not a spherical-harmonic basis; there is no default"))
        })
    }

    /// Element (l, m) of this basis as `factor * Y(l, m')`: `(m', factor)`.
    fn in_canonical(self, m: i64) -> (i64, f64) {
        let alternating = if m % 2 == 0 { 1.0 } else { -1.0 };
        match self {
            Self::Canonical => (m, 1.0),
            Self::Mrtrix3 => (m, alternating),
            Self::Tournier07Legacy if m == 0 => (0, 1.0),
            Self::Tournier07Legacy => (m, alternating * FRAC_1_SQRT_2),
            Self::Descoteaux07Legacy => (-m, alternating),
            Self::Descoteaux07 => (-m, if m < 0 { 1.0 } else { alternating }),
        }
    }
}

/// Number of even harmonics up to degree `lmax`, which is the number of packed entries of a tensor of that order.
pub const fn coefficients(lmax: usize) -> usize {
    (lmax + 1) * (lmax + 2) / 2
}

/// The degree with `count` coefficients: 1, 6, 15, 28, 45, ...
///
/// # Errors
/// [`Error::InvalidArgument`] naming `argument` if there is none up to [`MAX_DEGREE`].
pub fn degree(argument: &str, count: usize) -> Result<usize> {
    (0..=MAX_DEGREE).step_by(2).find(|l| coefficients(*l) == count).ok_or_else(|| {
        Error::invalid(
            argument,
            format!(
                "has {count} coefficients, which is no (L + 1)(L + 2) / 2 with even L up to {MAX_DEGREE}: \
                 1, 6, 15, 28, 45, .."
            ),
        )
    })
}

/// Refuses orders without even harmonics and orders above the limit. It refuses 0 too, because a tensor has an order.
pub(crate) fn check_order(argument: &str, order: usize) -> Result<()> {
    if order % 2 == 1 {
        return Err(Error::invalid(
            argument,
            format!("has the odd order {order}; functions of diffusion are even, so the order must be even"),
        ));
    }
    if !(2..=MAX_DEGREE).contains(&order) {
        return Err(Error::invalid(argument, format!("has order {order}, outside 2 .. {MAX_DEGREE}")));
    }
    Ok(())
}

/// Exponents `[kx, ky, kz]` and multinomial weights of the packed entries of an order-`order` tensor in three
/// dimensions, in their lexicographic order.
pub(crate) fn monomials(order: usize) -> impl Iterator<Item = ([usize; 3], f64)> {
    (0..=order).rev().flat_map(move |kx| {
        (0..=order - kx).rev().map(move |ky| {
            let kz = order - kx - ky;
            ([kx, ky, kz], binomial(order, kx) * binomial(order - kx, ky))
        })
    })
}

/// C(n, k) as a float, exact for the small arguments used here.
fn binomial(n: usize, k: usize) -> f64 {
    (1..=k).fold(1.0, |c, i| c * (n - k + i) as f64 / i as f64)
}

/// Row of the design matrix of a tensor fit: `multinomial * g^k` of every packed entry.
pub(crate) fn monomial_row(order: usize, g: [f64; 3], row: &mut [f64]) {
    let mut powers = [[1.0; MAX_DEGREE + 1]; 3];
    for (p, x) in powers.iter_mut().zip(g) {
        for k in 1..=order.min(MAX_DEGREE) {
            p[k] = p[k - 1] * x;
        }
    }
    for (r, (k, weight)) in row.iter_mut().zip(monomials(order)) {
        *r = weight * powers[0][k[0]] * powers[1][k[1]] * powers[2][k[2]];
    }
}

/// The canonical harmonics Y(l, m), l = 0, 2, .., lmax, at the unit vector `g`, in the order of the coefficients.
pub fn canonical_row(lmax: usize, g: [f64; 3], row: &mut [f64]) {
    let z = g[2].clamp(-1.0, 1.0);
    let sine = g[0].hypot(g[1]);
    let (cos_phi, sin_phi) = if sine > 0.0 { (g[0] / sine, g[1] / sine) } else { (1.0, 0.0) };
    let (mut cos_m, mut sin_m) = (1.0, 0.0);
    // Fully normalized functions: P(m, m) from P(m-1, m-1), then upwards in l. No factorials, so no overflow.
    let mut diagonal = (0.25 / PI).sqrt();
    for m in 0..=lmax {
        if m > 0 {
            let k = m as f64;
            diagonal *= ((2.0 * k + 1.0) / (2.0 * k)).sqrt() * sine;
            (cos_m, sin_m) = (cos_m * cos_phi - sin_m * sin_phi, sin_m * cos_phi + cos_m * sin_phi);
        }
        let (mut below, mut here) = (0.0, diagonal);
        for l in m..=lmax {
            if l > m {
                let (a, b) = (l as f64, m as f64);
                let scale = (4.0 * a * a - 1.0) / (a * a - b * b);
                let lower = ((a - 1.0) * (a - 1.0) - b * b) / (4.0 * (a - 1.0) * (a - 1.0) - 1.0);
                (below, here) = (here, scale.sqrt() * (z * here - lower.sqrt() * below));
            }
            if l % 2 == 0 {
                let middle = l * (l + 1) / 2;
                if m == 0 {
                    row[middle] = here;
                } else {
                    row[middle + m] = SQRT_2 * here * cos_m;
                    row[middle - m] = SQRT_2 * here * sin_m;
                }
            }
        }
    }
}

/// Nodes and weights of Gauss-Legendre quadrature on [-1, 1].
fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    (0..count)
        .map(|i| {
            let mut z = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 1.0;
            // Newton's method; five steps from this starting value reach the last bit for any count used here.
            for _ in 0..8 {
                let (mut below, mut here) = (1.0, z);
                for k in 2..=count {
                    let k = k as f64;
                    (below, here) = (here, ((2.0 * k - 1.0) * z * here - (k - 1.0) * below) / k);
                }
                slope = n * (z * here - below) / (z * z - 1.0);
                z -= here / slope;
            }
            (z, 2.0 / ((1.0 - z * z) * slope * slope))
        })
        .collect()
}

/// The matrix from packed entries of an order-`lmax` tensor to canonical coefficients, U x U, row by row:
/// `C[j][r]` is the integral of `Y_j(g) * multinomial(r) * g^k(r)` over the sphere.
fn tensor_to_canonical(lmax: usize) -> Result<Vec<f64>> {
    let u = coefficients(lmax);
    let mut matrix = alloc::filled("harmonics of a tensor", u * u, 0.0)?;
    let mut y = alloc::filled("harmonics at a node", u, 0.0)?;
    let mut p = alloc::filled("monomials at a node", u, 0.0)?;
    let azimuths = 2 * lmax + 3;
    for (z, weight) in gauss_legendre(lmax + 2) {
        let r = (1.0 - z * z).sqrt();
        for k in 0..azimuths {
            let phi = 2.0 * PI * k as f64 / azimuths as f64;
            let g = [r * phi.cos(), r * phi.sin(), z];
            canonical_row(lmax, g, &mut y);
            monomial_row(lmax, g, &mut p);
            let weight = weight * 2.0 * PI / azimuths as f64;
            for (row, yj) in matrix.chunks_exact_mut(u).zip(&y) {
                for (c, pr) in row.iter_mut().zip(&p) {
                    *c += weight * yj * pr;
                }
            }
        }
    }
    Ok(matrix)
}

/// For each coefficient of `basis`: the index of the canonical coefficient, and the factor of that one.
pub(crate) fn canonical_of(basis: Basis, lmax: usize) -> impl Iterator<Item = (usize, f64)> {
    (0..=lmax).step_by(2).flat_map(move |l| {
        let (l, middle) = (l as i64, (l * (l + 1) / 2) as i64);
        (-l..=l).map(move |m| {
            let (canonical_m, factor) = basis.in_canonical(m);
            ((middle + canonical_m) as usize, factor)
        })
    })
}

/// Matrix from packed entries of an order-`lmax` tensor to the coefficients of `basis`: U x U, row by row.
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd `lmax` or one above [`MAX_DEGREE`].
pub fn tensor_to_sh_matrix(lmax: usize, basis: Basis) -> Result<Vec<f64>> {
    check_order("lmax", lmax)?;
    let u = coefficients(lmax);
    let canonical = tensor_to_canonical(lmax)?;
    let mut matrix = alloc::filled("harmonics of a tensor", u * u, 0.0)?;
    for (row, (source, factor)) in matrix.chunks_exact_mut(u).zip(canonical_of(basis, lmax)) {
        for (m, c) in row.iter_mut().zip(&canonical[source * u..(source + 1) * u]) {
            *m = c / factor;
        }
    }
    Ok(matrix)
}

/// Matrix from the coefficients of `basis` to the packed entries of an order-`lmax` tensor: U x U, row by row, the
/// inverse of [`tensor_to_sh_matrix`].
///
/// # Errors
/// As [`tensor_to_sh_matrix`].
pub fn sh_to_tensor_matrix(lmax: usize, basis: Basis) -> Result<Vec<f64>> {
    let forward = tensor_to_sh_matrix(lmax, basis)?;
    let u = coefficients(lmax);
    let inverse = small::inverse(Mat::from_rows(&forward, u, u))?;
    let mut matrix = alloc::with_capacity("tensor of harmonics", u * u)?;
    for i in 0..u {
        matrix.extend((0..u).map(|j| inverse[(i, j)]));
    }
    if matrix.iter().all(|x: &f64| x.is_finite()) {
        Ok(matrix)
    } else {
        Err(Error::Internal(format!("the matrix of degree {lmax} between harmonics and tensors is singular")))
    }
}
