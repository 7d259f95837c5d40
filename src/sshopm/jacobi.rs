//! Eigenvalues and eigenvectors of small symmetric matrices.

/// Limit of sweeps over all pairs of rows.
const SWEEPS: usize = 30;

/// Diagonalizes the symmetric n x n matrix `h` by cyclic Jacobi rotations; row k of `vectors` is the eigenvector of the
/// diagonal element k.
pub(super) fn jacobi(n: usize, h: &mut [f64], vectors: &mut [f64]) {
    for (k, v) in vectors.iter_mut().enumerate() {
        *v = f64::from(u8::from(k % (n + 1) == 0));
    }
    for _ in 0..SWEEPS {
        let (mut off, mut all) = (0.0, 0.0);
        for (k, e) in h.iter().enumerate() {
            all += e * e;
            off += if k % (n + 1) == 0 { 0.0 } else { e * e };
        }
        if off.is_nan() || off <= f64::EPSILON * f64::EPSILON * all {
            return;
        }
        for p in 0..n {
            for q in p + 1..n {
                let apq = h[p * n + q];
                if apq == 0.0 {
                    continue;
                }
                let theta = (h[q * n + q] - h[p * n + p]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                let rotate = |a: &mut f64, b: &mut f64| (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
                for k in 0..n {
                    let (left, right) = h[k * n..(k + 1) * n].split_at_mut(q);
                    rotate(&mut left[p], &mut right[0]);
                }
                for matrix in [&mut *h, &mut *vectors] {
                    let (above, below) = matrix.split_at_mut(q * n);
                    above[p * n..(p + 1) * n].iter_mut().zip(below).for_each(|(a, b)| rotate(a, b));
                }
            }
        }
    }
}

/// Element (i, j) of the matrix P (k B - lambda I) P + `own` x x' that [`jacobi`] diagonalizes for the pair (lambda,
/// x). Here P = I - x x', B x = y, and x . y and B's element (i, j) are given.
pub(super) fn projected(
    b: f64,
    (x, y, lambda): (&[f64], &[f64], f64),
    k: f64,
    own: f64,
    (i, j): (usize, usize),
) -> f64 {
    let inner = b - x[i] * y[j] - y[i] * x[j] + lambda * x[i] * x[j];
    k * inner - lambda * (f64::from(u8::from(i == j)) - x[i] * x[j]) + own * x[i] * x[j]
}
