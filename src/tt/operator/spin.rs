//! Matrices of spins, column-major, the state of largest S_z first.

use crate::alloc;
use crate::error::{Error, Result};
use crate::scalar::Complex;

/// S_x ("sx"), S_y ("sy"), S_z ("sz"), S_+ ("s+"), S_- ("s-") or the identity ("id") of a spin S = `twice_spin` / 2:
/// (2 S + 1) x (2 S + 1), in units of hbar.
///
/// # Errors
/// [`Error::InvalidArgument`] for a spin of 0 or above 1000 and for another name.
pub fn spin(twice_spin: usize, name: &str) -> Result<Vec<Complex<f64>>> {
    if !(1..=2000).contains(&twice_spin) {
        return Err(Error::invalid("twice_spin", format!("is {twice_spin}, outside 1 to 2000")));
    }
    let n = twice_spin + 1;
    let mut out = alloc::filled("matrix of a spin", n * n, Complex::new(0.0, 0.0))?;
    let s = twice_spin as f64 / 2.0;
    // The element of S_+ from state i to i - 1, where state i has m = S - i.
    let raise = |i: usize| {
        let m = s - i as f64;
        (s * (s + 1.0) - m * (m + 1.0)).sqrt()
    };
    match name {
        "id" => (0..n).for_each(|i| out[i + n * i] = Complex::new(1.0, 0.0)),
        "sz" => (0..n).for_each(|i| out[i + n * i] = Complex::new(s - i as f64, 0.0)),
        "s+" | "s-" | "sx" | "sy" => {
            let (up, down) = match name {
                "s+" => (Complex::new(1.0, 0.0), Complex::new(0.0, 0.0)),
                "s-" => (Complex::new(0.0, 0.0), Complex::new(1.0, 0.0)),
                "sx" => (Complex::new(0.5, 0.0), Complex::new(0.5, 0.0)),
                _ => (Complex::new(0.0, -0.5), Complex::new(0.0, 0.5)),
            };
            for i in 1..n {
                out[i - 1 + n * i] = up * raise(i);
                out[i + n * (i - 1)] = down * raise(i);
            }
        }
        other => {
            let problem = format!("is \"{other}\"; there are sx, sy, sz, s+, s- and id");
            return Err(Error::invalid("name", problem));
        }
    }
    Ok(out)
}

/// The Pauli matrices sigma_x ("x"), sigma_y ("y"), sigma_z ("z"), (sigma_x +- i sigma_y) / 2 ("+", "-"), or the identity
/// ("id").
///
/// # Errors
/// [`Error::InvalidArgument`] for another name.
pub fn pauli(name: &str) -> Result<Vec<Complex<f64>>> {
    let (spin_name, factor) = match name {
        "x" => ("sx", 2.0),
        "y" => ("sy", 2.0),
        "z" => ("sz", 2.0),
        "+" => ("s+", 1.0),
        "-" => ("s-", 1.0),
        "id" => ("id", 1.0),
        other => return Err(Error::invalid("name", format!("is \"{other}\"; there are x, y, z, +, - and id"))),
    };
    let mut out = spin(1, spin_name)?;
    out.iter_mut().for_each(|x| *x *= factor);
    Ok(out)
}
