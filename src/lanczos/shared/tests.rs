//! Results of several contexts against those of one.

use std::sync::Arc;

use super::super::algorithm::pairs::Vectors;
use super::super::info::{Pairs, Shares};
use super::super::operator::{Kind, Symmetric};
use super::super::options::Options;
use super::super::solve::SolveInputs;
use super::eigenpairs::eigenpairs_over;
use super::partition::Partition;
use crate::context::Context;
use crate::error::Result;
use crate::group::Group;
use crate::lanczos::solve::eigenpairs_to;
use crate::lanczos::tests::inputs::{edges, symmetric as graph};
use crate::lanczos::{Filter, Method, Orthogonalization, Verify, Which};
use crate::matrix::sparse::{Rows, pattern};
use crate::matrix::{Matrix, Operator};
use crate::progress::Progress;
use crate::scalar::{Complex, DType, Real, Scalar};
use crate::testing::sparse::{cpu, from_entries, golden};

/// Order of the matrix of [`web`].
const N: usize = 3001;

/// A graph with a hub, chains and an isolated last vertex; weights are positive and integers.
pub(crate) fn web<T: Scalar>(c: &Arc<Context>) -> Matrix {
    let weight = |k: usize, turn: f64| T::from_parts(1.0 + (k % 4) as f64, turn);
    let mut list: Vec<(usize, usize, T)> =
        (0..4 * N).map(|k| (k % (N - 1), (k * k + k / N + 1) % (N - 1), weight(k, 0.5))).collect();
    list.extend((2..N - 1).step_by(3).map(|j| (1, j, weight(j, -0.25))));
    list.retain(|(i, j, _)| i < j);
    list.push((7, 7, weight(2, 0.0)));
    graph(c, N, &list)
}

#[test]
fn parts_have_every_row_once_and_gather_what_they_need() {
    let c = cpu(1);
    let a = web::<f64>(&c);
    let rows = Rows::new(crate::spmv::tiles::csr(&a).unwrap()).unwrap();
    for count in [2usize, 3, 7] {
        let contexts: Vec<_> = std::iter::once(Arc::clone(&c)).chain((1..count).map(|_| cpu(1))).collect();
        let partition = Partition::new(&contexts, &a).unwrap();
        let blocks = partition.blocks();
        assert_eq!(blocks.len(), count);
        let mut seen = vec![0; N];
        let mut sums = 0;
        for block in blocks {
            let own: Vec<usize> = block.rows.iter().flat_map(Clone::clone).collect();
            assert!(own.len() == block.len() && own.is_sorted());
            own.iter().for_each(|&i| seen[i] += 1);
            // The halo by its definition.
            let mut wanted: Vec<usize> = own.iter().flat_map(|&i| rows.row(i)).map(|k| rows.col(k)).collect();
            wanted.retain(|col| own.binary_search(col).is_err());
            wanted.sort_unstable();
            wanted.dedup();
            let mut found: Vec<usize> = block.halo.iter().map(|h| *h as usize).collect();
            found.sort_unstable();
            assert_eq!(found, wanted);
            let of_rows = Rows::new(crate::spmv::tiles::csr(&block.matrix).unwrap()).unwrap();
            for (k, &i) in own.iter().enumerate() {
                let cols: Vec<usize> = rows.row(i).map(|k| rows.col(k)).collect();
                let global = |k: usize| match of_rows.col(k) {
                    at if at < own.len() => own[at],
                    at => block.halo[at - own.len()] as usize,
                };
                assert_eq!(of_rows.row(k).map(global).collect::<Vec<_>>(), cols, "row {i}");
            }
            sums += of_rows.entry(own.len());
        }
        assert!(seen.iter().all(|s| *s == 1) && sums == rows.entry(N));
        // The transfers send exactly the halo, to the indices that are gathered from.
        let mut filled: Vec<Vec<Option<usize>>> = blocks.iter().map(|b| vec![None; b.gathered()]).collect();
        for t in partition.transfers() {
            for k in 0..t.count {
                let own = blocks[t.source].sends[t.from + k] as usize;
                let row = blocks[t.source].rows.iter().flat_map(Clone::clone).nth(own).unwrap();
                assert_eq!(filled[t.target][t.at + k].replace(row), None);
            }
        }
        for (block, filled) in blocks.iter().zip(filled) {
            let halo: Vec<_> = block.halo.iter().map(|h| Some(*h as usize)).collect();
            assert_eq!(filled[block.len()..], halo);
        }
        let shares = partition.shares(DType::F64);
        let nnz = rows.entry(N);
        assert_eq!(shares.contexts, count);
        assert_eq!(shares.halo, blocks.iter().map(|b| b.halo.len()).sum::<usize>());
        assert_eq!(shares.halo_bytes, 8 * shares.halo);
        // At most a fifth above the mean, plus the longest row.
        let longest = (0..N).map(|i| rows.row(i).len()).max().unwrap();
        assert!(shares.entries >= nnz / count && shares.entries <= nnz * 6 / 5 / count + longest, "{shares:?}");
        assert!(shares.rows >= N / count && shares.rows <= N * 6 / 5 / count + longest, "{shares:?}");
        assert!(shares.product_bytes > 12 * shares.entries && shares.product_bytes < 40 * (nnz + 3 * N));
    }
}

/// A graph whose first vertices have nearly all the edges.
fn front<T: Scalar>(c: &Arc<Context>, n: usize) -> Matrix {
    let list = (0..12 * n).map(|k| (k * k % (n / 16), (k * 7 + k / n) % n)).filter(|(i, j)| i < j);
    graph(c, n, &list.map(|(i, j)| (i, j, T::from_parts(1.0 + ((i + j) % 3) as f64, 0.0))).collect::<Vec<_>>())
}

#[test]
fn rows_are_dealt_out_where_the_front_has_the_entries() {
    let contexts = [cpu(1), cpu(2), cpu(1)];
    let (c, n) = (&contexts[0], 8000);
    let a = front::<f64>(c, n);
    let nnz = crate::spmv::tiles::csr(&a).unwrap().nnz();
    for count in [2, 3] {
        let partition = Partition::new(&contexts[..count], &a).unwrap();
        let shares = partition.shares(DType::F64);
        assert!(partition.blocks().iter().all(|b| b.rows.len() > 1 && b.len().abs_diff(n / count) <= n / count / 4));
        assert!(shares.entries <= nnz * 6 / 5 / count, "{shares:?} of {nnz}");
    }
    let options = Options { count: 4, ..Options::default() };
    check::<f64>(&contexts, &a, &GRAPHS, &options);
    check::<Complex<f32>>(&contexts, &front::<Complex<f32>>(c, n), &[Kind::Matrix], &options);
    // Meshes keep their rows together.
    let chain = graph(c, n, &edges((0..n - 1).map(|i| (i, i + 1))));
    let partition = Partition::new(&contexts, &chain).unwrap();
    assert!(partition.blocks().iter().all(|b| b.rows.len() == 1));
    assert_eq!(partition.shares(DType::F64).halo, 4);
}

#[test]
fn there_are_no_more_parts_than_rows() {
    let c = cpu(1);
    let contexts = [Arc::clone(&c), cpu(1), cpu(1), cpu(1)];
    for n in [1usize, 2, 3] {
        let diagonal: Vec<_> = (0..n).map(|i| (i, i, 1.0 + i as f64)).collect();
        let a = graph(&c, n, &diagonal);
        let partition = Partition::new(&contexts, &a).unwrap();
        assert_eq!(partition.blocks().len(), n);
        let options = Options { count: 1, ..Options::default() };
        let found = over(&contexts, &a, Kind::Matrix, &options, &SolveInputs::<f64>::default()).unwrap();
        assert!((found.values[0] - n as f64 - 0.25).abs() < 1e-14, "{:?}", found.values);
        assert_eq!((found.info.shares.contexts, found.info.shares.halo), (n, 0));
    }
}

pub(crate) fn over<T: Scalar>(
    contexts: &[Arc<Context>],
    a: &Matrix,
    kind: Kind,
    options: &Options,
    given: &SolveInputs<'_, T>,
) -> Result<Pairs<T>> {
    let group = Group::new(contexts.to_vec())?;
    eigenpairs_over(&group, a, (kind, 0.25), options, given, &Progress::none(), Vectors::Returned)
}

/// Eigenpairs over all contexts against those of the first, and the same bits twice.
pub(crate) fn check<T: Scalar>(contexts: &[Arc<Context>], a: &Matrix, kinds: &[Kind], options: &Options) {
    let (n, eps) = (a.rows(), T::Part::EPSILON.to_f64());
    let start: Vec<T> = (0..n).map(|i| T::from_parts(1.0 + (i % 7) as f64, 0.0)).collect();
    for &kind in kinds {
        let what = format!("{kind:?} {:?} {:?} {:?}", options.method, options.which, T::DTYPE);
        let one = |given: &SolveInputs<'_, T>| {
            let mut operator = Symmetric::<T>::new(&contexts[0], a, kind, 0.25).unwrap();
            let none = Progress::none();
            eigenpairs_to(&contexts[0], &mut operator, options, given, &none, Vectors::Returned).unwrap()
        };
        let near = |found: &Pairs<T>, wanted: &Pairs<T>| {
            assert_eq!(found.values.len(), wanted.values.len(), "{what}");
            for (f, w) in found.values.iter().zip(&wanted.values) {
                assert!(
                    (f - w).abs() <= 1e5 * eps * wanted.info.norm,
                    "{what}: {:?}, not {:?}",
                    found.values,
                    wanted.values
                );
            }
        };
        let alone = one(&SolveInputs::default());
        let found = over(contexts, a, kind, options, &SolveInputs::default()).unwrap();
        near(&found, &alone);
        assert_eq!(found.info.shares.contexts, contexts.len().min(n));
        assert_eq!(alone.info.shares, Shares::default());
        // The same start vector gives the same steps, except for rounding errors.
        assert!(found.info.products.abs_diff(alone.info.products) <= alone.info.products / 4, "{what}");
        let again = over(contexts, a, kind, options, &SolveInputs::default()).unwrap();
        assert_eq!((&found.values, &found.vectors), (&again.values, &again.vectors), "{what}: not the same bits");
        // The vectors are in the matrix's order.
        let mut operator = Symmetric::<T>::new(&contexts[0], a, kind, 0.25).unwrap();
        let mut y = vec![T::default(); n];
        for ((x, &value), reported) in found.vectors.chunks_exact(n).zip(&found.values).zip(&found.residuals) {
            operator.apply(x, &mut y).unwrap();
            let square = |(y, x): (&T, &T)| (y.re() - value * x.re()).powi(2) + (y.im() - value * x.im()).powi(2);
            let r = y.iter().zip(x).map(square).sum::<f64>().sqrt();
            assert!((r - reported).abs() <= 100.0 * eps * alone.info.norm, "{what}: residual {r}, not {reported}");
        }
        if options.method == Method::ThickRestart && options.orthogonalization == Orthogonalization::Full {
            let known = SolveInputs { start: Some(&start), deflate: &alone.vectors[..n], solve: None };
            near(&over(contexts, a, kind, options, &known).unwrap(), &one(&known));
        }
    }
}

const GRAPHS: [Kind; 6] = [
    Kind::Matrix,
    Kind::Laplacian,
    Kind::NormalizedLaplacian,
    Kind::SignlessLaplacian,
    Kind::NormalizedAdjacency,
    Kind::Modularity,
];

/// Every type, kind and method.
pub(crate) fn everything(contexts: &[Arc<Context>]) {
    let c = &contexts[0];
    let options = Options { count: 4, ..Options::default() };
    let real = web::<f64>(c);
    check::<f64>(contexts, &real, &GRAPHS, &options);
    check::<f32>(contexts, &web::<f32>(c), &GRAPHS, &options);
    check::<Complex<f64>>(contexts, &web::<Complex<f64>>(c), &[Kind::Matrix], &options);
    check::<Complex<f32>>(contexts, &web::<Complex<f32>>(c), &[Kind::Matrix], &options);
    let links = pattern(c, &real).unwrap();
    check::<f64>(contexts, &links, &[Kind::Matrix, Kind::NormalizedLaplacian], &options);
    check::<f64>(contexts, &front::<f64>(c, 8000), &GRAPHS, &options);
    let ways = [
        Options { method: Method::Plain, basis: 100, ..options },
        Options { block: 3, basis: 45, ..options },
        Options { orthogonalization: Orthogonalization::Partial, ..options },
        Options { filter: Filter::Chebyshev, ..options },
        Options { which: Which::BothEnds, verify: Verify::On, ..options },
    ];
    for way in ways {
        check::<f64>(contexts, &real, &[Kind::Matrix, Kind::Modularity], &way);
    }
}

#[test]
fn several_contexts_find_what_one_finds() {
    let contexts = [cpu(2), cpu(1), cpu(2)];
    everything(&contexts);
    let a = web::<f64>(&contexts[0]);
    check::<f64>(&contexts[..2], &a, &[Kind::Laplacian, Kind::Modularity], &Options { count: 4, ..Options::default() });
}

#[test]
fn threads_do_not_change_bits() {
    let options = Options { count: 3, ..Options::default() };
    let bits = |threads: usize| {
        let contexts = [cpu(threads), cpu(threads)];
        let a = golden(&contexts[0], "as-caida20071105");
        over(&contexts, &a, Kind::Laplacian, &options, &SolveInputs::<f64>::default()).unwrap().vectors
    };
    assert_eq!(bits(1), bits(3));
}

/// (A - sigma I)^-1 for A = diag(1, 2, ..., n).
struct Inverse(usize, f64);

impl Operator<f64> for Inverse {
    fn shape(&self) -> (usize, usize) {
        (self.0, self.0)
    }

    fn apply(&mut self, _: crate::dense::Op, x: &[f64], _: usize, y: &mut [f64]) -> Result<()> {
        y.iter_mut().zip(x).enumerate().for_each(|(i, (y, x))| *y = x / (1.25 + i as f64 - self.1));
        Ok(())
    }
}

#[test]
fn a_solve_takes_vectors_of_all_parts() {
    let contexts = [cpu(1), cpu(1)];
    let (n, sigma) = (500, 200.4);
    let a = graph(&contexts[0], n, &(0..n).map(|i| (i, i, 1.0 + i as f64)).collect::<Vec<_>>());
    let solve = Matrix::from_operator::<f64>(&contexts[0], Box::new(Inverse(n, sigma)));
    let options = Options { count: 3, which: Which::Nearest, sigma, ..Options::default() };
    let given = SolveInputs { solve: Some(&solve), ..SolveInputs::default() };
    let found = over::<f64>(&contexts, &a, Kind::Matrix, &options, &given).unwrap();
    for (value, wanted) in found.values.iter().zip([200.25, 201.25, 199.25]) {
        assert!((value - wanted).abs() < 1e-9, "{:?}", found.values);
    }
}

#[test]
fn the_parts_of_a_matrix_that_keeps_its_values_are_made_once() {
    let contexts = [cpu(1), cpu(1)];
    let c = &contexts[0];
    let links = pattern(c, &web::<f64>(c)).unwrap();
    let (first, second) =
        (Partition::cached(&contexts, &links).unwrap(), Partition::cached(&contexts, &links).unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    let other = Partition::cached(&[Arc::clone(c), cpu(1)], &links).unwrap();
    assert!(!Arc::ptr_eq(&first, &other));
    // The caller may write to these values.
    let web = web::<f64>(c);
    assert!(!web.owns_values());
    let (first, second) = (Partition::cached(&contexts, &web).unwrap(), Partition::cached(&contexts, &web).unwrap());
    assert!(!Arc::ptr_eq(&first, &second));
}

fn refused<T: Scalar>(contexts: &[Arc<Context>], a: &Matrix, kind: Kind, text: &str) {
    let e = over::<T>(contexts, a, kind, &Options::default(), &SolveInputs::default()).map(|_| ()).unwrap_err();
    assert!(e.to_string().contains(text), "{e}");
}

#[test]
fn what_several_contexts_cannot_share_is_refused() {
    let contexts = [cpu(1), cpu(1)];
    let a = web::<f64>(&contexts[0]);
    let twice = [Arc::clone(&contexts[0]), Arc::clone(&contexts[0])];
    refused::<f64>(&twice, &a, Kind::Matrix, "contexts[1]: is given twice");
    refused::<f64>(&[], &a, Kind::Matrix, "count: is 0");
    refused::<f64>(&[cpu(1), cpu(1)], &a, Kind::Matrix, "another context");
    refused::<f32>(&contexts, &a, Kind::Matrix, "F32 is needed");
    refused::<f64>(&contexts, &a, Kind::Gram, "kind: is GRAM");
    refused::<f64>(&contexts, &a, Kind::Augmented, "kind: is AUGMENTED");
    let own = Matrix::from_operator::<f64>(&contexts[0], Box::new(Inverse(9, 0.0)));
    refused::<f64>(&contexts, &own, Kind::Matrix, "is an operator");
    let directed = from_entries(&contexts[0], (3, 3), &[(0, 1, 1.0), (1, 2, 1.0)]);
    refused::<f64>(&contexts, &directed, Kind::Matrix, "not symmetric");
    let negative =
        graph(&contexts[0], 40, &(0..39).map(|i| (i, i + 1, if i == 30 { -3.0 } else { 1.0 })).collect::<Vec<_>>());
    refused::<f64>(&contexts, &negative, Kind::NormalizedLaplacian, "in row 30");
}
