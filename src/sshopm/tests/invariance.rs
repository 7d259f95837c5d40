//! Changes that must not change results: scale, isotropic part, rotation, batch order and split, threads, instruction
//! set, precision.

use super::support::*;
use crate::backend::cpu::Isa;
use crate::rng;
use crate::sshopm::{Goal, Method, Options, StartKind};
use crate::tensor::Symmetric;
use crate::tensor::symmetric::rank;

/// Random tensors of order m in dimension 3.
fn random(m: usize, count: usize) -> Vec<f64> {
    let packed = (m + 1) * (m + 2) / 2;
    (0..count * packed).map(|k| rng::normal(8, 60, m as u64, u32::try_from(k).unwrap())).collect()
}

#[test]
fn scaling_scales_the_values_alone() {
    let c = context(1);
    for m in [3, 4, 6] {
        let entries = random(m, 20);
        let s = run::<f64>(&c, &symmetric::<f64>(&c, m, 3, &entries), None, &Options::default(), 6);
        // A power of two changes no bit; the extremes leave the range of squares and cubes.
        for scale in [0.25, 2f64.powi(900), 2f64.powi(-900)] {
            let scaled: Vec<f64> = entries.iter().map(|a| a * scale).collect();
            let z = run::<f64>(&c, &symmetric::<f64>(&c, m, 3, &scaled), None, &Options::default(), 6);
            assert_eq!(s.count, z.count);
            for (a, b) in s.values.iter().zip(&z.values) {
                assert!(a * scale == *b || (a.is_nan() && b.is_nan()), "{a} {b} {scale}");
            }
        }
    }
    let entries = random(4, 20);
    let single = |scale: f64| {
        let scaled: Vec<f64> = entries.iter().map(|a| a * scale).collect();
        run::<f32>(&c, &symmetric::<f32>(&c, 4, 3, &scaled), None, &Options::default(), 6)
    };
    assert_eq!(single(1.0).count, single(2f64.powi(-100)).count);
    assert_eq!(single(1.0).basins, single(2f64.powi(100)).basins);
}

#[test]
fn an_isotropic_part_adds_to_lambda() {
    let c = context(1);
    let entries = random(4, 20);
    let mut shifted = entries.clone();
    for t in shifted.chunks_exact_mut(15) {
        for (k, e) in [(0, 1.0), (10, 1.0), (14, 1.0), (3, 1.0 / 3.0), (5, 1.0 / 3.0), (12, 1.0 / 3.0)] {
            t[k] += 7.0 * e;
        }
    }
    let o = Options { tolerance: 1e-13, starts: 200, ..Options::default() };
    let s = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries), None, &o, 6);
    let z = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &shifted), None, &o, 6);
    assert_eq!(s.count, z.count);
    for (a, b) in s.values.iter().zip(&z.values) {
        // Rounding of entries of size 8.
        assert!((a + 7.0 - b).abs() < 1e-13 * 8.0 || a.is_nan(), "{a} {b}");
    }
}

#[test]
fn rotation_by_an_axis_permutation_permutes_the_vectors() {
    let c = context(1);
    let count = 10;
    let entries = random(4, count);
    let shape = Symmetric { order: 4, dimension: 3 };
    let mut turned = entries.clone();
    let mut walk = crate::tensor::symmetric::Monomials::new(shape).unwrap();
    while let Some((r, tuple)) = walk.next_tuple() {
        let mut image: Vec<usize> = tuple.iter().map(|i| (i + 1) % 3).collect();
        image.sort_unstable();
        let to = rank(shape, &image).unwrap();
        for t in 0..count {
            turned[15 * t + to] = entries[15 * t + r];
        }
    }
    let o = Options { starts: 200, tolerance: 1e-12, ..Options::default() };
    let s = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries), None, &o, 6);
    let z = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &turned), None, &o, 6);
    assert_eq!(s.count, z.count);
    for t in 0..count {
        for k in 6 * t..6 * t + s.count[t] as usize {
            assert!((s.values[k] - z.values[k]).abs() < 1e-11);
            let dot: f64 = (0..3).map(|i| s.vectors[3 * k + i] * z.vectors[3 * k + (i + 1) % 3]).sum();
            assert!((dot.abs() - 1.0).abs() < 1e-12, "{dot}");
        }
    }
}

/// The matrix of a random rotation.
fn rotation(k: u32) -> [[f64; 3]; 3] {
    let q: [f64; 4] = std::array::from_fn(|i| rng::normal(8, 61, i as u64, k));
    let s = 2.0 / q.iter().map(|c| c * c).sum::<f64>();
    let [w, v @ ..] = q;
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (j + 3 - i) % 3 {
            0 => 1.0 - s * (v[(i + 1) % 3].powi(2) + v[(i + 2) % 3].powi(2)),
            1 => s * (v[i] * v[j] - w * v[(i + 2) % 3]),
            _ => s * (v[i] * v[j] + w * v[(i + 1) % 3]),
        })
    })
}

fn rotated(q: &[[f64; 3]; 3], x: &[f64]) -> [f64; 3] {
    q.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum())
}

/// Applies a rotation to each index of a packed tensor.
fn turned(shape: Symmetric, q: &[[f64; 3]; 3], packed: &[f64]) -> Vec<f64> {
    let size = 3usize.pow(shape.order as u32);
    let place = |p: usize| {
        let mut index: Vec<usize> = (0..shape.order).map(|axis| p / 3usize.pow(axis as u32) % 3).collect();
        index.sort_unstable();
        rank(shape, &index).unwrap()
    };
    let mut full: Vec<f64> = (0..size).map(|p| packed[place(p)]).collect();
    for stride in (0..shape.order).map(|axis| 3usize.pow(axis as u32)) {
        for first in (0..size).filter(|p| p / stride % 3 == 0) {
            let line = [0, 1, 2].map(|i| full[first + i * stride]);
            for (i, x) in rotated(q, &line).into_iter().enumerate() {
                full[first + i * stride] = x;
            }
        }
    }
    let mut out = vec![0.0; packed.len()];
    (0..size).for_each(|p| out[place(p)] = full[p]);
    out
}

#[test]
fn rotation_of_tensor_and_starts_rotates_the_vectors() {
    let c = context(1);
    let (count, kept) = (8, 8);
    let near: Vec<f64> = (0..300).map(|k| rng::normal(8, 62, 0, k)).collect();
    for (m, turn) in [(3, 0), (3, 1), (4, 2), (4, 3), (5, 4), (6, 5)] {
        let (shape, q) = (Symmetric { order: m, dimension: 3 }, rotation(turn));
        let entries = random(m, count);
        let there: Vec<f64> = entries.chunks_exact(shape.count()).flat_map(|a| turned(shape, &q, a)).collect();
        let far: Vec<f64> = near.chunks_exact(3).flat_map(|x| rotated(&q, x)).collect();
        for goal in [Goal::Maxima, Goal::Minima] {
            let o = Options { goal, tolerance: 1e-12, ..Options::default() };
            let solve = |entries: &[f64], from: &[f64]| {
                let from = from_slice(&c, &[3, from.len() / 3], from);
                run::<f64>(&c, &symmetric::<f64>(&c, m, 3, entries), Some(&from), &o, kept)
            };
            let (s, z) = (solve(&entries, &near), solve(&there, &far));
            assert_eq!(s.count, z.count, "order {m}");
            for t in 0..count {
                for k in kept * t..kept * t + s.count[t] as usize {
                    assert!((s.values[k] - z.values[k]).abs() < 1e-11, "order {m}: {} {}", s.values[k], z.values[k]);
                    let image = rotated(&q, &s.vectors[3 * k..3 * k + 3]);
                    let dot: f64 = image.iter().zip(&z.vectors[3 * k..]).map(|(a, b)| a * b).sum();
                    // An eigenvector of odd order has a sign of its own.
                    let dot = if m % 2 == 1 { dot } else { dot.abs() };
                    assert!((dot - 1.0).abs() < 1e-12, "order {m}: {dot}");
                }
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_batch_threads_or_neighbours() {
    let count = 300;
    for (m, kind) in [(4, StartKind::Auto), (3, StartKind::Random), (5, StartKind::Auto)] {
        let entries = random(m, count);
        let packed = entries.len() / count;
        let o = Options {
            start_kind: kind,
            seed: if kind == StartKind::Random { 4 } else { 0 },
            starts: 40,
            ..Options::default()
        };
        let reference = context(1);
        let whole = run::<f32>(&reference, &symmetric::<f32>(&reference, m, 3, &entries), None, &o, 4);
        for threads in [2, 3, 5] {
            let c = context(threads);
            let s = run::<f32>(&c, &symmetric::<f32>(&c, m, 3, &entries), None, &o, 4);
            assert!(s.values.iter().zip(&whole.values).all(|(a, b)| a.to_bits() == b.to_bits()), "{threads}");
            assert!(s.vectors.iter().zip(&whole.vectors).all(|(a, b)| a.to_bits() == b.to_bits()), "{threads}");
            assert_eq!((s.info.iterations, &s.basins), (whole.info.iterations, &whole.basins));
        }
        if kind == StartKind::Random {
            // Drawn by the index in the batch: only the first tensor of a split has the same starts.
            continue;
        }
        for size in [1, 7, 100] {
            for first in (0..count).step_by(size).step_by(3) {
                let part = first..(first + size).min(count);
                let a = symmetric::<f32>(&reference, m, 3, &entries[part.start * packed..part.end * packed]);
                let s = run::<f32>(&reference, &a, None, &o, 4);
                for (k, v) in s.values.iter().enumerate() {
                    assert_eq!(v.to_bits(), whole.values[4 * first + k].to_bits());
                }
            }
        }
    }
}

/// Few starts, many, two passes, limits that cut starts short, and tensors without a start between the others.
#[test]
fn tensors_that_share_lanes_do_not_mix() {
    let (c, count) = (context(1), 90);
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for (m, starts, goal, method) in [
        (4, 1, Goal::Maxima, Method::Hybrid),
        (4, 13, Goal::Both, Method::Hybrid),
        (6, 40, Goal::Minima, Method::Power),
        (8, 70, Goal::Both, Method::Hybrid),
        (3, 130, Goal::Maxima, Method::Power),
    ] {
        let mut entries = random(m, count);
        let packed = entries.len() / count;
        entries[5 * packed..6 * packed].fill(0.0);
        entries[17 * packed] = f64::NAN;
        let o = Options { goal, method, starts, max_iterations: 25, ..Options::default() };
        let v = usize::try_from(starts).unwrap();
        let batch = symmetric::<f32>(&c, m, 3, &entries);
        let whole = run::<f32>(&c, &batch, None, &o, 6);
        let ends = (goal != Goal::Both).then(|| run_starts::<f32>(&c, &batch, None, &o, v));
        let mut iterations = 0;
        for t in 0..count {
            let single = symmetric::<f32>(&c, m, 3, &entries[t * packed..(t + 1) * packed]);
            let s = run::<f32>(&c, &single, None, &o, 6);
            let pairs = 6 * t..6 * (t + 1);
            assert_eq!((whole.count[t], whole.status[t]), (s.count[0], s.status[0]), "{m} {t}");
            assert_eq!(whole.basins[pairs.clone()], s.basins, "{m} {t}");
            assert_eq!(bits(&whole.values[pairs.clone()]), bits(&s.values), "{m} {t}");
            assert_eq!(bits(&whole.vectors[18 * t..18 * (t + 1)]), bits(&s.vectors), "{m} {t}");
            assert_eq!(bits(&whole.residuals[pairs]), bits(&s.residuals), "{m} {t}");
            iterations += s.info.iterations;
            if let Some(ends) = &ends {
                let (e, starts) = (run_starts::<f32>(&c, &single, None, &o, v), v * t..v * (t + 1));
                assert_eq!(ends.iterations[starts.clone()], e.iterations, "{m} {t}");
                assert_eq!(ends.status[starts.clone()], e.status, "{m} {t}");
                assert_eq!(bits(&ends.values[starts.clone()]), bits(&e.values), "{m} {t}");
                assert_eq!(bits(&ends.residuals[starts]), bits(&e.residuals), "{m} {t}");
                assert_eq!(bits(&ends.vectors[3 * v * t..3 * v * (t + 1)]), bits(&e.vectors), "{m} {t}");
            }
        }
        assert_eq!(whole.info.iterations, iterations, "{m}");
    }
}

#[test]
fn instruction_sets_and_precisions_agree_on_the_pairs() {
    let entries = random(4, 50);
    let o = Options { starts: 128, ..Options::default() };
    let c = context(1);
    let best = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries), None, &o, 8);
    for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512].into_iter().filter(|i| *i <= Isa::detect()) {
        for method in [Method::Hybrid, Method::Power] {
            let c = with_isa(2, Some(isa));
            let o = Options { method, ..o };
            let d = run::<f64>(&c, &symmetric::<f64>(&c, 4, 3, &entries), None, &o, 8);
            let f = run::<f32>(&c, &symmetric::<f32>(&c, 4, 3, &entries), None, &o, 8);
            for t in 0..50 {
                // A start may end in another basin; with 128 of them the union is the same.
                assert_eq!((best.count[t], best.count[t]), (d.count[t], f.count[t]), "{isa:?} {method:?} {t}");
                for k in 8 * t..8 * t + best.count[t] as usize {
                    assert!((best.values[k] - d.values[k]).abs() < 1e-9);
                    assert!((best.values[k] - f64::from(f.values[k])).abs() < 2e-5 * best.values[8 * t].abs());
                }
            }
        }
    }
}

#[test]
fn a_small_memory_limit_cuts_the_batch_and_changes_nothing() {
    use crate::context::{Context, Options as ContextOptions};
    let entries = random(4, 200);
    // Host memory is limited here, and bits are compared: the CPU in any case.
    let on_cpu = |threads, host_memory_limit| {
        let backend = crate::backend::BackendChoice::Cpu;
        Context::new(ContextOptions { backend, threads, host_memory_limit, ..ContextOptions::default() }).unwrap()
    };
    let free = on_cpu(1, 0);
    let whole = run::<f64>(&free, &symmetric::<f64>(&free, 4, 3, &entries), None, &Options::default(), 3);
    // Too little for a second thread: one thread's need, less half of the tile.
    let limited = on_cpu(2, free.host_budget().peak() - 20_000);
    let s = run::<f64>(&limited, &symmetric::<f64>(&limited, 4, 3, &entries), None, &Options::default(), 3);
    assert!(s.info.chunks > 1, "{}", s.info.chunks);
    assert!(s.values.iter().zip(&whole.values).all(|(a, b)| a.to_bits() == b.to_bits()));
    assert_eq!(whole.info.chunks, 1);
}
