//! Device memory of a run on a GPU: the rows of a panel, and whether the whole matrix stays on the device.

use crate::backend::memory::Charge;
use crate::dense::sizes::{Blank, SimulatedResults, Sizes};
use crate::error::{Error, Result};
use crate::rpca::algorithm::{FIRST_RANK, rehearse, solve};
use crate::rpca::ops::{LowRank, Product, RpcaOps, Start, Step, Sums, Weights};
use crate::rpca::options::Options;
use crate::scalar::{DType, Element, Scalar};
use crate::shape::to_u64;

/// Sizes of a device's rows.
#[derive(Debug, Clone, Copy)]
pub struct DeviceShape {
    /// Rows of the device, and columns.
    pub size: (usize, usize),
    /// Bytes of an entry of the matrix plus that of the mask in purlin's device memory; 0 for data in the caller's device
    /// memory.
    pub entry: usize,
    /// Largest number of rows of a panel.
    pub rows: usize,
    /// Whether the caller chose `rows`.
    pub is_chosen: bool,
    /// Bytes of the sums of a panel with a given number of elements.
    pub sums: fn(usize) -> usize,
    /// The relative costs that choose the method of the decomposition.
    pub weights: Weights,
}

/// The panels that fit, and the bytes that they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceFit {
    /// Rows of a panel; the last may be shorter.
    pub rows: usize,
    /// Whether matrix, mask, X and Y stay on the device.
    pub is_resident: bool,
    /// Peak in bytes of a run whose low-rank part has few columns.
    pub expected: u64,
}

/// The largest panels that fit into `available` bytes. With a `limit`, memory must suffice for all ranks that the
/// options allow; without one, for a small rank.
///
/// # Errors
/// [`Error::OutOfDeviceMemory`] with the bytes that the smallest panels need.
pub fn fit_device<T: Scalar>(
    shape: &DeviceShape,
    options: &Options,
    available: u64,
    limit: Option<u64>,
) -> Result<DeviceFit> {
    let expected = |fit: DeviceFit| -> Result<u64> {
        let mut ledger = DeviceLedger::<T>::new(shape, fit, FIRST_RANK / 2)?;
        solve(&mut ledger, &super::fit::rehearsed(options))?;
        Ok(ledger.sizes.peak())
    };
    let most_of = |fit: DeviceFit| -> Result<u64> {
        if limit.is_none() {
            return expected(fit);
        }
        let mut ledger = DeviceLedger::<T>::new(shape, fit, usize::MAX)?;
        rehearse(&mut ledger, options)?;
        Ok(ledger.sizes.peak())
    };
    let mut least = u64::MAX;
    for is_resident in [true, false] {
        let mut rows = shape.rows;
        loop {
            let fit = DeviceFit { rows, is_resident, expected: 0 };
            let most = most_of(fit)?;
            if most <= available {
                return Ok(DeviceFit { expected: expected(fit)?, ..fit });
            }
            least = least.min(most);
            if rows == 1 || shape.is_chosen {
                break;
            }
            rows = rows.div_ceil(2);
        }
    }
    let what = "robust PCA with a low-rank part of up to max_rank columns";
    Err(Error::OutOfDeviceMemory { what, bytes: least, limit: limit.or(Some(available)) })
}

/// The passes on sizes alone: they count the bytes of a device.
struct DeviceLedger<'a, T: Scalar> {
    shape: &'a DeviceShape,
    rows: usize,
    sizes: Sizes<T::Wide>,
    _held: Vec<Charge>,
}

impl<'a, T: Scalar> DeviceLedger<'a, T> {
    fn new(shape: &'a DeviceShape, fit: DeviceFit, rank: usize) -> Result<Self> {
        let answers = SimulatedResults { large: rank, value: super::LARGE, failures: 0, vanishes: false };
        let sizes = Sizes::new(size_of::<T::Wide>(), answers);
        let (m, n) = shape.size;
        let rows = fit.rows.min(m);
        let kept = if fit.is_resident { m } else { rows };
        let held = vec![
            sizes.elements("X and Y", kept, n, 2 * size_of::<T>())?,
            sizes.elements("matrix and mask", kept, n, shape.entry)?,
            sizes.elements("low-rank part of a panel", rows, n, size_of::<T>())?,
            sizes.hold("sums of a panel", (shape.sums)(rows.saturating_mul(n)))?,
        ];
        Ok(Self { shape, rows, sizes, _held: held })
    }

    /// A pass that forms L and a product.
    fn pass(&self, low_rank: &LowRank<'_, Blank>, product: &Product<'_, Blank>) -> Result<()> {
        let (n, size, wide) = (self.shape.size.1, size_of::<T>(), size_of::<T::Wide>());
        let is_single = T::DTYPE != <T::Wide as Element>::DTYPE;
        // For complex numbers the second factor is conjugated in an additional copy.
        let copies = if T::IS_COMPLEX { 2 } else { 1 };
        let (a, b) = low_rank.operands();
        let factor = |m: Option<&Blank>, copies: usize| {
            let elements = m.map_or(0, |m| m.rows().saturating_mul(m.cols()));
            self.sizes.elements("factor", elements, copies, size)
        };
        let _factors = [factor(a, 1)?, factor(b, copies)?, factor(product.operand(), 1)?];
        let _sum = match product {
            Product::Normal(w) => Some(self.sizes.elements("X^H X W", n, w.cols(), size)?),
            _ => None,
        };
        if let LowRank::Factors(a, _) = low_rank {
            self.sizes.elements("X V", self.rows, a.cols(), size)?;
        }
        match product {
            Product::None => Ok(()),
            Product::Gram => {
                let (copied, kept) = (if is_single { self.rows } else { 0 }, if T::IS_COMPLEX { n } else { 0 });
                self.sizes.elements("X in double precision", copied, n, wide)?;
                self.sizes.elements("X^H X", kept, n, wide).map(drop)
            }
            Product::Normal(w) => {
                self.sizes.elements("X W", self.rows, w.cols(), size)?;
                self.sizes.elements("X^H X W", n, w.cols(), wide).map(drop)
            }
            Product::Projected(w) => self.sizes.elements("X W", self.rows, w.cols(), size + wide).map(drop),
        }
    }
}

impl<T: Scalar> RpcaOps<T::Wide> for DeviceLedger<'_, T> {
    type Small = Sizes<T::Wide>;

    fn dtype(&self) -> DType {
        T::DTYPE
    }

    fn small(&mut self) -> &mut Sizes<T::Wide> {
        &mut self.sizes
    }

    fn size(&self) -> (usize, usize) {
        self.shape.size
    }

    fn weights(&self) -> Weights {
        self.shape.weights
    }

    fn checkpoint(&mut self, _: usize, _: usize, _: f64) -> Result<()> {
        Ok(())
    }

    fn set_scale(&mut self, _: f64) {}

    fn begin(&mut self) -> Result<Start> {
        Ok(Start { norm2: 1.0, max_abs: 1.0, one_norm: 1.0 })
    }

    fn product(&mut self, product: &Product<'_, Blank>, _: &mut Blank) -> Result<()> {
        self.pass(&LowRank::Zero, product)
    }

    fn update(
        &mut self,
        _: &Step,
        low_rank: &LowRank<'_, Blank>,
        product: &Product<'_, Blank>,
        _: &mut Blank,
    ) -> Result<Sums> {
        self.pass(low_rank, product)?;
        Ok(Sums::default())
    }
}

/// Bytes of host memory for the page-locked buffers of a run, and for X and Y where they are not on the device.
pub fn host_bytes(dtype: DType, shape: &DeviceShape, fit: &DeviceFit) -> u64 {
    let (m, n) = shape.size;
    let panel = to_u64(fit.rows.min(m)).saturating_mul(to_u64(n));
    let rings = panel.saturating_mul(to_u64(shape.entry)).saturating_mul(2);
    let parts = panel.saturating_mul(to_u64(2 * dtype.size()));
    let arrays = to_u64(m).saturating_mul(to_u64(n)).saturating_mul(to_u64(2 * dtype.size()));
    let kept = if fit.is_resident { 0 } else { arrays };
    rings.saturating_add(parts).saturating_add(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: Weights = Weights { gram: 2.0, eigen: 100.0 };

    fn shape(size: (usize, usize)) -> DeviceShape {
        DeviceShape { size, entry: 8, rows: size.0, is_chosen: false, sums: |_| 4096, weights: WEIGHTS }
    }

    #[test]
    fn panels_become_smaller_before_a_limit_is_too_small() {
        let (shape, options) = (shape((40_000, 120)), Options::default());
        let fit = |limit| fit_device::<f64>(&shape, &options, limit, Some(limit));
        let ample = fit(1 << 30).unwrap();
        assert!(ample.is_resident && ample.rows == 40_000, "{ample:?}");
        // X, Y and M take 38 MB each.
        let little = fit(70_000_000).unwrap();
        assert!(!little.is_resident && little.rows < 40_000 && little.expected <= 70_000_000, "{little:?}");
        let e = fit(400_000).unwrap_err();
        let Error::OutOfDeviceMemory { bytes, limit, .. } = e else { panic!("{e}") };
        assert!(bytes > 400_000 && limit == Some(400_000), "{e}");
        assert!(fit(bytes).is_ok() && fit(bytes - 1).is_err(), "the reported bytes are the least");
        // A bound of the rank bounds the memory.
        let bound = Options { max_rank: 3, ..Options::default() };
        assert!(fit_device::<f64>(&shape, &bound, bytes / 2, Some(bytes / 2)).is_ok());
        // Without a limit the plan assumes a small rank.
        assert!(fit_device::<f64>(&shape, &options, bytes / 2, None).is_ok());
    }

    #[test]
    fn panels_of_the_caller_are_respected() {
        let shape = DeviceShape { rows: 500, is_chosen: true, ..shape((4000, 50)) };
        let options = Options::default();
        let fit = fit_device::<f32>(&shape, &options, 3_000_000, Some(3_000_000)).unwrap();
        assert_eq!((fit.rows, fit.is_resident), (500, false));
        assert!(fit_device::<f32>(&shape, &options, 500_000, Some(500_000)).is_err());
        assert!(host_bytes(DType::F32, &shape, &fit) > 2 * 4000 * 50 * 4);
    }
}
