//! Options of a reconstruction: filter, weights, precision, and memory.

use super::ramp::Window;
use super::weights::Redundancy;
use crate::choice::{numbered, with_defaults};

numbered!(Edge, Zero, Skip);
numbered!(Mode, Fdk, RabbitCt);
numbered!(Interpolation, Exact, Fast);
numbered!(Precision, F32, F64);
numbered!(Redundancy, Auto, None, Full, Short, HalfFan);

/// Handling of samples outside the panel. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Edge {
    /// Pixels outside are 0, interpolated linearly over one pixel.
    Zero = 0,
    /// A sample counts only if all four of its pixels exist.
    Skip = 1,
}

/// Method of the reconstruction. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Mode {
    /// Weights, ramp filter and back-projection.
    Fdk = 0,
    /// Back-projection alone with weight 1/w^2 and the matrices as given: the task of the RabbitCT benchmark.
    RabbitCt = 1,
}

/// Interpolation between pixels. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Interpolation {
    /// In f32, with positions as exact as f32 has them.
    Exact = 0,
    /// Permission to round positions where that is faster. No kernel uses it: the texture unit of a GPU, whose
    /// fractions have 8 bits, was measured to be slower than the exact kernels.
    Fast = 1,
}

/// Floating-point type of the computation. The numbers are those of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Precision {
    /// f32, with positions and weights prepared in f64.
    F32 = 0,
    /// f64 throughout, on the CPU threads even of a GPU context: slow, for checks.
    F64 = 1,
}

with_defaults! {
    /// Options of a reconstruction, checked when it is made.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Options {
        /// Apodization of the ramp, as a function of the frequency.
        pub window: Window = Window::None,
        /// Its cut-off, as a fraction of the largest frequency; in (0, 1].
        pub cutoff: f64 = 1.0,
        /// Weights of rays that are measured twice.
        pub redundancy: Redundancy = Redundancy::Auto,
        /// Handling of samples outside the panel.
        pub edge: Edge = Edge::Zero,
        /// Whether views are weighted and filtered before the back-projection.
        pub mode: Mode = Mode::Fdk,
        /// Width of the smooth extrapolation beyond both ends of a row, of a half fan beyond its long side alone, as a
        /// fraction of the panel's columns, 0 to 1: for objects wider than the panel.
        pub truncation: f64 = 0.0,
        /// Zero the voxels that some view does not see. The grid may then reach the sources: see
        /// [`frame`](super::frame).
        pub fov_mask: bool = false,
        /// Accept an arc of less than 180 degrees.
        pub allow_short_arc: bool = false,
        /// Replace pixels that are not finite by 0. Without it, such a pixel makes its whole row NaN.
        pub sanitize: bool = false,
        /// Length of the transforms, at most 2^24; 0 for the smallest that is long enough.
        pub fft_length: usize = 0,
        /// Interpolation between pixels of the panel.
        pub interpolation: Interpolation = Interpolation::Exact,
        /// Floating-point type of the computation.
        pub precision: Precision = Precision::F32,
        /// Accept missing views when a pushed scan is finished; they count as zero.
        pub allow_missing: bool = false,
        /// Factor of the output: the written volume is this times its values, plus `output_offset`.
        pub output_scale: f64 = 1.0,
        /// Added to each voxel after `output_scale`.
        pub output_offset: f64 = 0.0,
        /// Slices of a slab; 0 chooses. Rounded up to a multiple of the kernels' slice group.
        pub slab: usize = 0,
        /// Views of a batch, which are filtered and back-projected together; 0 chooses.
        pub view_batch: usize = 0,
    }
}

impl Options {
    /// The value of a pixel that is not finite, on every backend. It is never infinite: a filtered row would hold
    /// infinities, which integer volumes would take for densities beyond their range.
    pub fn not_finite(&self) -> f64 {
        if self.sanitize { 0.0 } else { f64::NAN }
    }
}
