//! Values that other programs recorded, and clusters of values that are known.

use std::path::PathBuf;

use super::*;
use crate::graph::image::{Weights, image_graph};
use crate::graph::stencil::image_adjacency;
use crate::matrix::sparse::component;
use crate::matrix::{Csr, CsrParts, IndexType, Storage};
use crate::scalar::DType;

/// Zachary's karate club, from the indices that are recorded with its spectra.
fn karate(c: &Arc<Context>) -> Matrix {
    let list = |key: &str| -> Vec<i32> { recorded("karate_unweighted", key).iter().map(|v| *v as i32).collect() };
    let memory = |list: &[i32]| {
        let mut own = HostMemory::allocate("test", size_of_val(list), c.host_budget()).unwrap();
        own.as_mut_slice::<i32>().unwrap().copy_from_slice(list);
        own
    };
    let (row_ptr, col_idx) = (list("indptr"), list("indices"));
    let (row_ptr_type, col_idx_type) = (IndexType::I32, IndexType::I32);
    let parts =
        CsrParts { row_ptr: memory(&row_ptr), row_ptr_type, col_idx: memory(&col_idx), col_idx_type, values: None };
    let csr = Csr::new(parts, row_ptr.len() - 1, row_ptr.len() - 1, col_idx.len(), 0).unwrap();
    Matrix::from_csr(c, DType::F64, csr, true)
}

#[test]
fn the_karate_club_has_its_three_spectra() {
    let c = cpu(1);
    let a = karate(&c);
    for (kind, key, which) in [
        (Kind::Matrix, "A", Which::Largest),
        (Kind::Laplacian, "L", Which::Smallest),
        (Kind::NormalisedLaplacian, "Nlap", Which::Smallest),
    ] {
        let want = recorded("karate_unweighted", key);
        let all = solve(&c, &a, kind, &Options { count: 34, which, ..Options::default() });
        assert_eq!(all.info.reason, Reason::Exhausted);
        near(&all.values, &want, 1e-13 * 18.2, key);
    }
    // The vector whose signs the club split by, but for two members.
    let pair = solve(&c, &a, Kind::Laplacian, &Options { count: 2, which: Which::Smallest, ..Options::default() });
    let fiedler = &pair.vectors[34..];
    let officer = [9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33];
    let sides = |flip: bool| (0..34).filter(|i| (fiedler[*i] > 0.0) == (officer.contains(i) != flip)).count();
    let agreement = recorded("karate_unweighted", "fiedler_sign_agreement_with_split")[0];
    assert_eq!(sides(false).max(sides(true)) as f64, agreement);
}

#[test]
fn the_photograph_has_the_recorded_eigenvalues() {
    let c = cpu(2);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/spectral");
    let bytes = std::fs::read(folder.join("china_rgbsum_stride4.npy")).unwrap();
    let data = &bytes[bytes.len() - 107 * 160 * 2..];
    let pixels: Vec<f64> =
        data.chunks_exact(2).map(|b| f64::from(u16::from_le_bytes([b[0], b[1]])) / 3.0 / 255.0).collect();
    let weights = Weights { radius: 1.0, intensity: 0.1, distance: f64::INFINITY, floor: 1e-6 };
    let formed = image_graph(&c, &pixels, 107, 160, weights).unwrap();
    let Storage::Csr(csr) = formed.storage() else { panic!("not sparse") };
    assert_eq!(csr.nnz() as f64, recorded("image_china.jpg", "nnz")[0]);
    let sum: f64 = crate::matrix::sparse::row_sums(&formed).unwrap().iter().map(|d| d.re).sum();
    let total = recorded("image_china.jpg", "sum_weights")[0];
    assert!((sum - total).abs() < 1e-12 * total, "{sum}, not {total}");
    let want = recorded("image_china.jpg", "Nlap_smallest8");
    let options =
        Options { count: 8, which: Which::Smallest, filter: Filter::Chebyshev, tolerance: 1e-9, ..Options::default() };
    let unformed = image_adjacency(&c, &pixels, (107, 160), weights).unwrap();
    for a in [&formed, &unformed] {
        let found = solve(&c, a, Kind::NormalisedLaplacian, &options);
        assert_eq!(found.info.converged, 8, "{:?}", found.info);
        // A value is wrong by the square of its residual over the distance to the next one, and by rounding.
        near(&found.values, &want, 1e-11, "photograph");
    }
}

/// A = L L^T, solved with by columns of L.
struct Cholesky {
    n: usize,
    /// Column-major.
    l: Vec<f64>,
}

impl Cholesky {
    fn new(a: &Matrix) -> Self {
        let n = a.rows();
        let mut l = vec![0.0; n * n];
        let Storage::Csr(csr) = a.storage() else { panic!("not sparse") };
        let rows = crate::matrix::sparse::Rows::new(csr).unwrap();
        let Some(values) = &csr.parts().values else { panic!("a pattern") };
        let values = values.host("a").unwrap().as_slice::<f64>().unwrap();
        for i in 0..n {
            rows.row(i).filter(|&k| rows.col(k) <= i).for_each(|k| l[rows.col(k) * n + i] += values[k]);
        }
        for j in 0..n {
            let (before, own) = l.split_at_mut(j * n);
            let own = &mut own[j..n];
            for column in before.chunks_exact(n).filter(|column| column[j] != 0.0) {
                let factor = column[j];
                own.iter_mut().zip(&column[j..]).for_each(|(x, y)| *x -= factor * y);
            }
            let root = own[0].sqrt();
            own.iter_mut().for_each(|x| *x /= root);
        }
        Self { n, l }
    }
}

impl Operator<f64> for Cholesky {
    fn shape(&self) -> (usize, usize) {
        (self.n, self.n)
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> crate::error::Result<()> {
        y.copy_from_slice(x);
        let n = self.n;
        for (j, column) in self.l.chunks_exact(n).enumerate() {
            y[j] /= column[j];
            let solved = y[j];
            y[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(y, l)| *y -= solved * l);
        }
        for (j, column) in self.l.chunks_exact(n).enumerate().rev() {
            let rest: f64 = y[j + 1..].iter().zip(&column[j + 1..]).map(|(y, l)| y * l).sum();
            y[j] = (y[j] - rest) / column[j];
        }
        Ok(())
    }
}

#[test]
fn a_stiffness_matrix_has_the_recorded_small_end_by_a_solve() {
    let c = cpu(2);
    let a = golden(&c, "bcsstk13");
    let want = recorded("bcsstk13", "A_SA_shift_invert");
    let inverse = Matrix::from_operator::<f64>(&c, Box::new(Cholesky::new(&a)));
    let given = Given::<f64> { solve: Some(&inverse), ..Given::default() };
    let options = Options { count: want.len(), which: Which::Nearest, ..Options::default() };
    let low = solve_with(&c, &a, Kind::Matrix, &options, &given).unwrap();
    assert_eq!(low.info.converged, want.len(), "{:?}", low.info);
    // Dense eigenvalues, which are recorded too, differ by 3e-10: the matrix spans ten decades.
    for (found, want) in low.values.iter().zip(&want) {
        assert!((found - want).abs() <= 1e-8 * want, "{found}, not {want}");
    }
}

#[test]
fn the_normalised_adjacency_has_the_recorded_ends() {
    let c = cpu(2);
    for name in ["as-caida20071105", "ca-AstroPh-cc", "email-Enron", "4elt"] {
        let a = component(&c, &golden(&c, name), None).unwrap().0;
        let options = Options { count: 10, which: Which::Smallest, basis: 60, ..Options::default() };
        let low = solve(&c, &a, Kind::NormalisedAdjacency, &options);
        near(&low.values, &recorded(name, "N_SA_largest_cc"), 1e-10, name);
    }
}

#[test]
fn tight_clusters_are_found_with_every_copy() {
    let c = cpu(2);
    // Three cubes of 256 vertices whose weights differ by a part in ten million: 8, and 6 eight times, of each.
    let scales = [1.0, 1.0 + 1e-7, 1.0 - 1e-7];
    let mut list = Vec::new();
    for (g, scale) in scales.iter().enumerate() {
        let ways =
            (0..256usize).flat_map(|v| (0..8).filter(move |b| v & (1 << b) != 0).map(move |b| (v, v ^ (1 << b))));
        list.extend(ways.map(|(i, j)| (256 * g + i, 256 * g + j, *scale)));
    }
    let a = symmetric(&c, 768, &list);
    let mut want: Vec<f64> = scales.iter().flat_map(|s| std::iter::once(8.0 * s).chain([6.0 * s; 8])).collect();
    want.sort_by(|a, b| b.total_cmp(a));
    let options = Options { count: 27, tolerance: 1e-12, verify: Verify::On, ..Options::default() };
    for seed in 0..3 {
        for block in [1, 4] {
            let found = solve(&c, &a, Kind::Matrix, &Options { seed, block, ..options });
            near(&found.values, &want, 1e-10 * 8.0, &format!("seed {seed}, block {block}"));
        }
    }
}
