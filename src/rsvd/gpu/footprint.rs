//! Memory of a sparse matrix or an operator, and of its products, from sizes alone. A plan counts it before anything is
//! allocated, and before a function of the caller's runs.

use super::site::CHUNK_BYTES;
use super::sparse;
use crate::backend::gpu::kernels::rsvd::RECORD;
use crate::matrix::Csr;
use crate::rsvd::data::{Center, Setting};
use crate::scalar::DType;
use crate::shape::to_u64;

/// Number of probes of an operator's norm.
pub(super) const PROBES: usize = 16;

/// Upper bounds of the bytes that a matrix and its products take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Footprint {
    /// Device memory, beside tall matrices and small ones.
    pub(super) device: u64,
    /// Host memory while the matrix is copied to the device.
    pub(super) host_copy: u64,
    /// Host memory of a product.
    pub(super) host_product: u64,
}

/// A product of sizes, which saturates.
fn product(factors: &[usize]) -> u64 {
    factors.iter().fold(1, |all: u64, factor| all.saturating_mul(to_u64(*factor)))
}

fn total(bytes: &[u64]) -> u64 {
    bytes.iter().fold(0, |all, bytes| all.saturating_add(*bytes))
}

/// The memory of a sparse matrix in a computation of type `dtype`.
pub(super) fn of_sparse(dtype: DType, csr: &Csr, setting: &Setting) -> Footprint {
    let (rows, columns) = (csr.rows(), csr.cols());
    let is_pattern = csr.parts().values.is_none();
    let entry = size_of::<i32>() + if is_pattern { 0 } else { dtype.size() };
    // The matrix and its adjoint.
    let copies =
        [product(&[2, csr.nnz(), entry]), product(&[rows.saturating_add(columns).saturating_add(2), size_of::<i64>()])];
    let multiplies = is_pattern && (setting.center != Center::None || setting.scale || setting.factor != 1.0);
    let shared = shared(dtype, (rows, columns), setting, (setting.long.product, multiplies));
    Footprint {
        device: total(&copies).saturating_add(shared),
        host_copy: to_u64(sparse::host_bytes(dtype, csr, setting)),
        host_product: 0,
    }
}

/// The memory of an operator of `rows` and `columns`.
pub(super) fn of_operator(dtype: DType, (rows, columns): (usize, usize), setting: &Setting) -> Footprint {
    let width = setting.long.product.max(PROBES);
    // A run whose squares would overflow is repeated with factors.
    let shared = shared(dtype, (rows, columns), setting, (width, true));
    let lines = rows.saturating_add(columns);
    // The probes of the norm and their products come before the other matrices.
    let probes = product(&[lines, PROBES, dtype.size()]);
    let later = total(&[
        product(&[rows, setting.tall_columns.saturating_add(setting.long.replaced), dtype.size()]),
        product(&[setting.small_elements, dtype.size()]),
    ]);
    // A vector and its product, with which the adjoint is tested, beside those of the call.
    let host_product = product(&[lines, width.saturating_add(1), dtype.size()]);
    Footprint { device: shared.saturating_add(probes.saturating_sub(later)), host_copy: 0, host_product }
}

/// Device memory of means, factors and the workspace of products with up to `width` columns. `multiplies` says that columns
/// may be multiplied by factors in each product.
fn shared(dtype: DType, (rows, columns): (usize, usize), setting: &Setting, (width, multiplies): (usize, bool)) -> u64 {
    let element = dtype.size();
    let longer = rows.max(columns);
    let means = if setting.center == Center::None { 0 } else { product(&[rows.saturating_add(columns), element]) };
    let factors = if multiplies {
        total(&[product(&[columns, RECORD, size_of::<f64>()]), product(&[columns, width, element])])
    } else {
        0
    };
    // Vectors in the layout that the product takes, products that no tall matrix receives, and results on their way to the
    // caller's memory.
    let vectors = product(&[longer, width, element]);
    let products = product(&[rows, setting.long.scratch, element]);
    let results = product(&[longer, setting.long.result, element]);
    let results = results.min(to_u64(CHUNK_BYTES).max(product(&[longer, element])));
    total(&[means, factors, vectors, products, results])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rsvd::data::LongColumns;

    fn setting() -> Setting {
        Setting {
            tall_columns: 20,
            long: LongColumns { replaced: 20, scratch: 20, result: 20, product: 20, merged: 0 },
            small_elements: 1000,
            ..Setting::plain()
        }
    }

    #[test]
    fn vectors_of_an_operator_and_of_the_test_of_its_adjoint_count() {
        let (rows, columns) = (1000, 50);
        let plain = of_operator(DType::F64, (rows, columns), &setting());
        assert_eq!(plain.host_product, 8 * 1050 * 21);
        // Vectors and products as long as the data, results, factors and their products.
        assert_eq!(plain.device, 8 * (1000 * 60 + 50 * 20) + 50 * 24);
        let centred = of_operator(DType::F64, (rows, columns), &Setting { center: Center::Columns, ..setting() });
        assert_eq!(centred.device - plain.device, 8 * 1050);
        // A narrow run makes its largest product for the norm.
        let long = LongColumns { replaced: 1, scratch: 0, product: 1, ..LongColumns::default() };
        let narrow = Setting { tall_columns: 1, long, ..setting() };
        let narrow = of_operator(DType::F64, (rows, columns), &narrow);
        assert_eq!(narrow.host_product, 8 * 1050 * 17);
        assert!(narrow.device >= 8 * 1000 * 16 + 8 * 1050 * 16 - 8 * 3000, "{narrow:?}");
    }

    #[test]
    fn sizes_beyond_any_memory_saturate() {
        let huge = of_operator(DType::F64, (usize::MAX, 2), &setting());
        assert_eq!((huge.device, huge.host_product), (u64::MAX, u64::MAX));
    }
}
