//! Scaling that keeps environments within range while cuBLAS computes the products.

use crate::backend::gpu::kernels::tt::{self, Core, Factors};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::Result;
use crate::scalar::DType;

/// How products are scaled to stay within the range of the type.
#[derive(Clone, Copy)]
pub(super) enum Scaling<'a> {
    /// By the magnitude of an environment that was measured some sites before. The result must be checked for lost
    /// digits.
    Measured,
    /// By the magnitudes of every environment and of the cores. This loses no digits.
    Careful(Careful<'a>),
}

/// The largest entries of the cores, and memory for the factor of a site's second product.
#[derive(Clone, Copy)]
pub(super) struct Careful<'a> {
    /// Element type of the environments.
    pub(super) dtype: DType,
    pub(super) keys: tt::Careful<'a>,
    pub(super) second: Region<'a>,
}

/// Bytes of [`Careful::second`], one factor of any type.
pub(super) const SECOND: usize = 16;

/// The position of a core in the sweep, and whether the core of x is multiplied first there.
pub(super) type Taken = (usize, bool);

fn pair((k, x_first): Taken) -> [Core; 2] {
    if x_first { [(0, k), (1, k)] } else { [(1, k), (0, k)] }
}

impl<'a> Scaling<'a> {
    /// The factor of a site's second product; `None` for 1.
    pub(super) fn second(&self) -> Option<Region<'a>> {
        match self {
            Self::Measured => None,
            Self::Careful(careful) => Some(careful.second),
        }
    }

    /// Scaling of the first or the last core, at position `k`. `next` is the site after the first.
    pub(super) fn edge(&self, k: usize, next: Option<Taken>) -> Option<(tt::Careful<'a>, usize, Option<Core>)> {
        match self {
            Self::Measured => None,
            Self::Careful(careful) => Some((careful.keys, k, next.map(|next| pair(next)[0]))),
        }
    }
}

impl Careful<'_> {
    /// Computes the factors of the two products at site `now` from an environment of `count` elements, which has been
    /// scaled for that site, and the scale for the site after it. If `now` is `None`, only scales the environment into
    /// the range.
    pub(super) fn measure(
        &self,
        gpu: &Gpu,
        stream: &GpuStream,
        (environment, count): (Region<'_>, usize),
        now: Option<Taken>,
        next: Option<Taken>,
        state: Region<'_>,
    ) -> Result<()> {
        let [first, second] = now.map_or([None; 2], |now| pair(now).map(Some));
        let cores = Factors { first, second, next: next.map(|next| pair(next)[0]) };
        tt::factors(self.dtype, gpu, stream, self.keys, environment, count, cores, state, self.second)
    }
}
