//! The random matrix Omega of a run.

use super::options::Options;
use crate::dense::sketch::Sketch;
use crate::rng;

/// The distribution, seed and stream of Omega.
pub(super) fn sketch_of(options: &Options) -> Sketch {
    Sketch { distribution: options.sketch, seed: options.seed, stream: rng::stream::SKETCH }
}
