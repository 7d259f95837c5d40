//! The ramp filter's response, computed from its kernel in space. Sampling |f| instead would lose the mean of every row.

use std::f64::consts::PI;

use realfft::RealFftPlanner;

use crate::alloc;
use crate::choice::numbered;
use crate::error::{Error, Result, real};
use crate::shape::to_u64;

/// Apodization of the ramp. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Window {
    /// The band-limited ramp without a window.
    None = 0,
    /// sin(pi x / 2) / (pi x / 2).
    SheppLogan = 1,
    /// cos(pi x / 2).
    Cosine = 2,
    /// 0.54 + 0.46 cos(pi x).
    Hamming = 3,
    /// (1 + cos(pi x)) / 2.
    Hann = 4,
}

numbered!(Window, None, SheppLogan, Cosine, Hamming, Hann);

impl Window {
    /// The window at x, the frequency over the cut-off; 0 beyond.
    pub fn at(self, x: f64) -> f64 {
        if x > 1.0 {
            return 0.0;
        }
        match self {
            Self::None => 1.0,
            Self::SheppLogan if x == 0.0 => 1.0,
            Self::SheppLogan => (PI * x / 2.0).sin() / (PI * x / 2.0),
            Self::Cosine => (PI * x / 2.0).cos(),
            Self::Hamming => 0.54 + 0.46 * (PI * x).cos(),
            Self::Hann => 0.5 * (1.0 + (PI * x).cos()),
        }
    }
}

/// Smallest even 2^a 3^b 5^c of at least `2 * columns`, so that the circular convolution does not wrap a row around.
///
/// # Errors
/// [`Error::InvalidArgument`] for more than 2^39 columns.
pub fn fft_length(columns: usize) -> Result<usize> {
    let least = columns
        .checked_mul(2)
        .filter(|l| *l <= 1 << 40)
        .ok_or_else(|| Error::invalid("detector_columns", format!("is {columns}, too many to filter")))?;
    let smooth = |mut n: usize| {
        for p in [2, 3, 5] {
            while n.is_multiple_of(p) {
                n /= p;
            }
        }
        n == 1
    };
    Ok((least..).step_by(2).find(|&n| smooth(n)).unwrap_or(least.next_power_of_two()))
}

/// Bytes of transforms of `length` real numbers in double precision on so many threads: the numbers, the spectrum, and
/// about as much of tables and scratch as of both.
pub fn transform_bytes(length: usize, threads: usize) -> u64 {
    to_u64(length).saturating_mul(32).saturating_mul(to_u64(threads))
}

/// Response at the frequencies 0 to `length / 2` of the filter `pitch * h`, with the band-limited ramp
/// h(0) = 1 / (4 pitch^2), h(k) = -1 / (pi k pitch)^2 for odd k, 0 for even k; real, as h is even. Unit 1/mm.
///
/// # Errors
/// [`Error::InvalidArgument`] for a cut-off outside (0, 1].
pub fn response(length: usize, pitch: f64, window: Window, cutoff: f64) -> Result<Vec<f64>> {
    if !(cutoff > 0.0 && cutoff <= 1.0) {
        return Err(Error::invalid("cutoff", format!("is {}, more than 0 and at most 1 is needed", real(cutoff))));
    }
    let mut kernel = alloc::filled("ramp kernel", length, 0.0)?;
    for (m, h) in kernel.iter_mut().enumerate() {
        let k = m.min(length - m);
        *h = match k {
            0 => 1.0 / (4.0 * pitch),
            k if k % 2 == 1 => -1.0 / ((PI * k as f64).powi(2) * pitch),
            _ => 0.0,
        };
    }
    let transform = RealFftPlanner::<f64>::new().plan_fft_forward(length);
    let mut spectrum = transform.make_output_vec();
    transform
        .process(&mut kernel, &mut spectrum)
        .map_err(|e| Error::Internal(format!("transform of the ramp: {e}")))?;
    let mut response = alloc::with_capacity("ramp response", spectrum.len())?;
    response.extend(spectrum.iter().enumerate().map(|(i, s)| {
        let x = 2.0 * i as f64 / (length as f64 * cutoff);
        s.re * window.at(x)
    }));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_smooth_and_long_enough() {
        for (columns, length) in [(2, 4), (7, 16), (80, 160), (1023, 2048), (1024, 2048), (1000, 2000), (1025, 2160)] {
            assert_eq!(fft_length(columns).unwrap(), length, "{columns}");
        }
        assert!(fft_length(usize::MAX).is_err());
    }

    #[test]
    fn the_response_is_the_sum_of_the_kernel() {
        // At frequency 0 the kernel's tails nearly cancel its centre; a sampled |f| would give 0.
        for (length, pitch) in [(160, 3.0), (30, 0.7)] {
            let r = response(length, pitch, Window::None, 1.0).unwrap();
            assert_eq!(r.len(), length / 2 + 1);
            for (i, got) in r.iter().enumerate() {
                let mut want = 1.0 / (4.0 * pitch);
                for m in 1..length {
                    let k = m.min(length - m);
                    if k % 2 == 1 {
                        let phase = 2.0 * PI * ((i * m) % length) as f64 / length as f64;
                        want -= phase.cos() / ((PI * k as f64).powi(2) * pitch);
                    }
                }
                assert!((got - want).abs() < 1e-14, "{i}: {got} {want}");
            }
            assert!(r[0] > 0.0);
            // Nearly |f| away from 0: f = i / (length pitch).
            let f = (length / 4) as f64 / (length as f64 * pitch);
            assert!((r[length / 4] - f).abs() < 0.02 / pitch);
        }
    }

    #[test]
    fn windows_start_at_one_and_end_at_the_cutoff() {
        for w in [Window::None, Window::SheppLogan, Window::Cosine, Window::Hamming, Window::Hann] {
            assert_eq!(w.at(0.0), 1.0);
            assert_eq!(w.at(1.01), 0.0);
            assert_eq!(Window::from_code("window", w as i32).unwrap(), w);
        }
        assert!((Window::SheppLogan.at(1.0) - 2.0 / PI).abs() < 1e-15);
        assert!((Window::Hamming.at(1.0) - 0.08).abs() < 1e-15);
        let r = response(64, 1.0, Window::Hann, 0.5).unwrap();
        assert!(r[16].abs() < 1e-15 && r[17..].iter().all(|v| *v == 0.0) && r[8] > 0.0);
        for cutoff in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(response(64, 1.0, Window::Hann, cutoff).is_err());
        }
        assert!(Window::from_code("window", 5).is_err());
    }
}
