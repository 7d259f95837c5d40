//! Values that other programs computed and recorded, and known clusters of values.

use std::sync::Arc;

use super::solves::{near, solve, solve_with};
use crate::context::Context;
use crate::lanczos::operator::Kind;
use crate::lanczos::solve::SolveInputs;
use crate::lanczos::{Filter, Options, Reason, Verify, Which};
use crate::matrix::sparse::component;
use crate::matrix::{Csr, CsrParts, IndexType, Matrix, Operator, Storage};
use crate::scalar::DType;
use crate::testing::sparse::{GRAPHS, golden, recorded, stored};

/// The graphs whose largest eigenvalues take few products.
const POWER_LAW: [&str; 5] =
    ["as-caida20071105", "ca-AstroPh-cc", "email-Enron", "cit-HepPh-symmetrised", "ego-Twitter"];

pub(super) fn graphs_have_the_recorded_eigenvalues(c: &Arc<Context>) {
    for name in POWER_LAW {
        let a = golden(c, name);
        let want = recorded(name, "A_LA");
        let pairs = solve(c, &a, Kind::Matrix, &Options { count: 10, ..Options::default() });
        let norm = pairs.info.norm;
        assert_eq!((pairs.info.stop_reason, pairs.info.converged), (Reason::Converged, 10));
        near(&pairs.values, &want[..10], 1e-10 * norm, name);
        // Restarts keep more than the wanted pairs. ARPACK takes 86 to 125 products here, and does not look for further
        // copies.
        let options = Options { count: 10, verify: Verify::Off, ..Options::default() };
        let alone = solve(c, &a, Kind::Matrix, &options).info.products;
        assert!(alone <= 130, "{name}: {alone} products");
        assert!(pairs.info.products <= alone + 60, "{name}: {} products, {alone} unverified", pairs.info.products);
        assert!(pairs.residuals.iter().all(|r| *r <= 2e-10 * norm), "{name}: {:?}", pairs.residuals);
        let both = solve(c, &a, Kind::Matrix, &Options { count: 5, which: Which::BothEnds, ..Options::default() });
        let low = recorded(name, "A_SA");
        near(&both.values, &[want[0], want[1], want[2], low[1], low[0]], 1e-10 * norm, name);
        let mut far: Vec<f64> = want.iter().chain(&low).copied().collect();
        far.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
        let magnitude = solve(c, &a, Kind::Matrix, &Options { which: Which::LargestMagnitude, ..Options::default() });
        near(&magnitude.values, &far[..6], 1e-10 * norm, name);
    }
}

/// All values recorded under a key, to the tolerance.
fn check(c: &Arc<Context>, a: &Matrix, kind: Kind, (name, key): (&str, &str), options: &Options) {
    let want = recorded(name, key);
    let found = solve(c, a, kind, &Options { count: want.len(), tolerance: 1e-12, ..*options });
    let (what, norm) = (format!("{name} {key}"), found.info.norm);
    assert_eq!(
        (found.info.stop_reason, found.info.converged),
        (Reason::Converged, want.len()),
        "{what}: {:?}",
        found.info
    );
    near(&found.values, &want, 1e-12 * norm, &what);
    assert!(found.residuals.iter().all(|r| *r <= 2e-12 * norm), "{what}: {:?}", found.residuals);
}

fn at(which: Which) -> Options {
    Options { which, ..Options::default() }
}

pub(super) fn adjacency_matrices_have_every_value_on_record(c: &Arc<Context>) {
    for name in GRAPHS {
        let a = golden(c, name);
        check(c, &a, Kind::Matrix, (name, "A_LA"), &at(Which::Largest));
        check(c, &a, Kind::Matrix, (name, "A_SA"), &at(Which::Smallest));
    }
    check(c, &golden(c, "bcsstk13"), Kind::Matrix, ("bcsstk13", "A_LA"), &at(Which::Largest));
}

pub(super) fn laplacians_have_every_value_on_record(c: &Arc<Context>) {
    for name in GRAPHS {
        check(c, &golden(c, name), Kind::Laplacian, (name, "L_LA"), &at(Which::Largest));
    }
    let filtered = Options { filter: Filter::Chebyshev, ..at(Which::Smallest) };
    for name in ["as-caida20071105", "4elt"] {
        check(c, &golden(c, name), Kind::Laplacian, (name, "L_SA"), &filtered);
    }
    check(c, &golden(c, "4elt"), Kind::NormalizedLaplacian, ("4elt", "Nlap_SA"), &filtered);
}

pub(super) fn normalized_adjacency_matrices_have_every_value_on_record(c: &Arc<Context>) {
    for name in GRAPHS {
        let a = component(c, &golden(c, name), None).unwrap().0;
        let filter = if name == "4elt" { Filter::Chebyshev } else { Filter::Off };
        check(c, &a, Kind::NormalizedAdjacency, (name, "N_LA_largest_cc"), &Options { filter, ..at(Which::Largest) });
        check(c, &a, Kind::NormalizedAdjacency, (name, "N_SA_largest_cc"), &at(Which::Smallest));
    }
    let name = "as-caida20071105";
    let want: Vec<f64> = recorded(name, "N_LA_largest_cc").iter().map(|v| 1.0 - v).collect();
    let options = Options { count: want.len(), ..at(Which::Smallest) };
    near(&solve(c, &golden(c, name), Kind::NormalizedLaplacian, &options).values, &want, 1e-10, name);
}

/// Zachary's karate club, from the recorded indices.
fn karate(c: &Arc<Context>) -> Matrix {
    let list = |key: &str| -> Vec<i32> { recorded("karate_unweighted", key).iter().map(|v| *v as i32).collect() };
    let (row_ptr, col_idx) = (list("indptr"), list("indices"));
    let (row_ptr_type, col_idx_type) = (IndexType::I32, IndexType::I32);
    let parts = CsrParts {
        row_ptr: stored(c, &row_ptr),
        row_ptr_type,
        col_idx: stored(c, &col_idx),
        col_idx_type,
        values: None,
    };
    let csr = Csr::new(parts, row_ptr.len() - 1, row_ptr.len() - 1, col_idx.len(), 0).unwrap();
    Matrix::from_csr(c, DType::F64, csr, true)
}

pub(super) fn the_karate_club_has_its_three_spectra(c: &Arc<Context>) {
    let a = karate(c);
    for (kind, key, which) in [
        (Kind::Matrix, "A", Which::Largest),
        (Kind::Laplacian, "L", Which::Smallest),
        (Kind::NormalizedLaplacian, "Nlap", Which::Smallest),
    ] {
        let want = recorded("karate_unweighted", key);
        let all = solve(c, &a, kind, &Options { count: 34, which, ..Options::default() });
        assert_eq!(all.info.stop_reason, Reason::Exhausted);
        near(&all.values, &want, 1e-13 * 18.2, key);
    }
    // The signs of this vector are the two parts of the club, except for two members.
    let pair = solve(c, &a, Kind::Laplacian, &Options { count: 2, which: Which::Smallest, ..Options::default() });
    let fiedler = &pair.vectors[34..];
    let officer = [9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33];
    let sides = |flip: bool| (0..34).filter(|i| (fiedler[*i] > 0.0) == (officer.contains(i) != flip)).count();
    let agreement = recorded("karate_unweighted", "fiedler_sign_agreement_with_split")[0];
    assert_eq!(sides(false).max(sides(true)) as f64, agreement);
}

/// Solves with A = L L^T by columns of L.
struct Cholesky {
    n: usize,
    /// The factor L, n-by-n, column-major.
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

pub(super) fn a_stiffness_matrix_has_the_recorded_small_end_by_a_solve(c: &Arc<Context>) {
    let a = golden(c, "bcsstk13");
    let want = recorded("bcsstk13", "A_SA_shift_invert");
    let inverse = Matrix::from_operator::<f64>(c, Box::new(Cholesky::new(&a)));
    let given = SolveInputs::<f64> { solve: Some(&inverse), ..SolveInputs::default() };
    let options = Options { count: want.len(), which: Which::Nearest, ..Options::default() };
    let low = solve_with(c, &a, Kind::Matrix, &options, &given).unwrap();
    assert_eq!(low.info.converged, want.len(), "{:?}", low.info);
    // Dense eigenvalues, which are recorded too, differ by 3e-10: the matrix spans ten decades.
    for (found, want) in low.values.iter().zip(&want) {
        assert!((found - want).abs() <= 1e-8 * want, "{found}, not {want}");
    }
}
