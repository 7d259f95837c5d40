//! The kernels against published values and against each other, on a device.

use super::super::constants as c;
use super::arrays::{Batch, Pairs, StartResults, Starts, Tables};
use super::product::{Draw, Vectors, draw_starts, products};
use super::settings::Settings;
use super::sizes::COUNTERS;
use super::solve::Solve;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream};
use crate::backend::memory::Budget;
use crate::rng;
use crate::scalar::{DType, Real};

/// Kofidis and Regalia's tensor of order 4, dimension 3 (Kolda and Mayo 2011, example 3.5).
const KOFIDIS: [f64; 15] = [
    0.2883, -0.0031, 0.1973, -0.2485, -0.2939, 0.3847, 0.2972, 0.1862, 0.0919, -0.3619, 0.1241, -0.3420, 0.2127,
    0.2727, -0.3054,
];
/// Its local maxima and minima.
const MAXIMA: [f64; 3] = [0.8893220107, 0.8168813450, 0.3633060484];
const MINIMA: [f64; 3] = [-1.0953516989, -0.5629171327, -0.0450921811];

struct Device {
    gpu: Gpu,
    stream: GpuStream,
}

impl Device {
    fn open() -> Self {
        let gpu = Gpu::open(0, &Budget::new(0)).unwrap();
        let stream = gpu.create_stream().unwrap();
        Self { gpu, stream }
    }

    fn empty(&self, bytes: usize) -> DeviceMemory {
        self.gpu.allocate("test", bytes).unwrap()
    }

    fn put<T: Real>(&self, values: &[f64]) -> DeviceMemory {
        let bytes: Vec<u8> = values.iter().flat_map(|v| bytes_of::<T>(*v)).collect();
        self.raw(&bytes)
    }

    fn raw(&self, bytes: &[u8]) -> DeviceMemory {
        let mut memory = self.empty(bytes.len());
        self.gpu.upload(&self.stream, bytes, &mut memory, 0).unwrap();
        memory
    }

    fn get<T: Real>(&self, memory: &DeviceMemory) -> Vec<f64> {
        let bytes = self.bytes(memory);
        if size_of::<T>() == 4 {
            bytes.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect()
        } else {
            bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
        }
    }

    fn integers(&self, memory: &DeviceMemory) -> Vec<i32> {
        self.bytes(memory).chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    fn bytes(&self, memory: &DeviceMemory) -> Vec<u8> {
        let mut bytes = vec![0; memory.bytes()];
        self.gpu.download(&self.stream, memory, 0, &mut bytes).unwrap();
        bytes
    }
}

fn bytes_of<T: Real>(value: f64) -> Vec<u8> {
    if size_of::<T>() == 4 { (value as f32).to_le_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
}

/// Index tuples in lexicographic order, and multinomials.
fn tables(order: usize, dimension: usize) -> (Vec<u8>, Vec<f64>) {
    let mut tuple = vec![0u8; order];
    let (mut indices, mut multinomials) = (Vec::new(), Vec::new());
    let factorial = |k: usize| (1..=k).map(|i| i as f64).product::<f64>();
    loop {
        indices.extend(&tuple);
        let runs: f64 = (0..dimension).map(|i| factorial(tuple.iter().filter(|t| **t as usize == i).count())).product();
        multinomials.push(factorial(order) / runs);
        let Some(at) = tuple.iter().rposition(|t| (*t as usize) < dimension - 1) else { break };
        let next = tuple[at] + 1;
        tuple[at..].fill(next);
    }
    (indices, multinomials)
}

fn hemisphere(count: usize) -> Vec<f64> {
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    (0..count)
        .flat_map(|i| {
            let z = 1.0 - (i as f64 + 0.5) / count as f64;
            let (r, phi) = ((1.0 - z * z).sqrt(), i as f64 * golden);
            [r * phi.cos(), r * phi.sin(), z]
        })
        .collect()
}

fn settings<T: Real>(goal: i32) -> Settings {
    let single = size_of::<T>() == 4;
    let chord = |angle: f64| (2.0 * (angle / 2.0).sin()).powi(2);
    Settings {
        goal,
        method: c::HYBRID,
        tolerance: if single { 1e-5 } else { 1e-12 },
        max_iterations: 500,
        tau: 1e-6,
        flags: c::REMOVE_ISOTROPIC,
        keep_classes: 0b1111,
        merge_chord2: chord(1f64.to_radians()),
        degeneracy: if single { 1e-3 } else { 1e-7 },
        level: if single { 3e-5 } else { 1e-9 },
        isotropy: if single { 1e-6 } else { 1e-13 },
        ..Settings::default()
    }
}

fn solves_the_published_tensor<T: Real>() {
    let d = Device::open();
    let copies = 1000;
    let starts = 32;
    let entries: Vec<f64> = (0..copies).flat_map(|_| KOFIDIS).collect();
    let tensors = d.put::<T>(&entries);
    let vectors = d.put::<T>(&hemisphere(starts));
    let (indices, multinomials) = tables(4, 3);
    let (indices, multinomials) = (d.raw(&indices), d.put::<T>(&multinomials));
    let real = size_of::<T>();
    for (goal, expected) in [(c::MAXIMA, MAXIMA), (c::MINIMA, MINIMA)] {
        for (method, shift_kind, fused) in [
            (c::HYBRID, c::SHIFT_ADAPTIVE, true),
            (c::POWER, c::SHIFT_ADAPTIVE, true),
            (c::POWER, c::SHIFT_GUARANTEED, true),
            (c::HYBRID, c::SHIFT_ADAPTIVE, false),
            (c::POWER, c::SHIFT_FIXED, false),
        ] {
            let limit = 5;
            let (count, status) = (d.empty(4 * copies), d.empty(4 * copies));
            let (values, basins) = (d.empty(real * limit * copies), d.empty(4 * limit * copies));
            let (out, classes) = (d.empty(3 * real * limit * copies), d.empty(4 * limit * copies));
            let counters = d.empty(8 * COUNTERS);
            let per_start = starts * copies;
            let (sv, sx) = (d.empty(real * per_start), d.empty(3 * real * per_start));
            let (sr, ss) = (d.empty(real * per_start), d.empty(4 * per_start));
            let mut solve = Solve {
                batch: Batch {
                    memory: tensors.whole(),
                    entry_stride: 1,
                    tensor_stride: 15,
                    order: 4,
                    dimension: 3,
                    entries: 15,
                    count: copies,
                },
                mask: None,
                transform: None,
                starts: Starts { vectors: vectors.whole(), count: starts, per_tensor: false },
                settings: Settings { method, shift_kind, shift: 2.0, max_iterations: 3000, ..settings::<T>(goal) },
                pairs: Pairs {
                    limit,
                    count: Some(count.whole()),
                    values: Some(values.whole()),
                    vectors: Some(out.whole()),
                    classes: Some(classes.whole()),
                    basins: Some(basins.whole()),
                    status: Some(status.whole()),
                    ..Pairs::default()
                },
                start_results: StartResults::default(),
                trace: None,
                counters: Some(counters.whole()),
                tables: Some(Tables { indices: indices.whole(), multinomials: multinomials.whole(), identity: None }),
            };
            if fused {
                solve.fused(T::DTYPE, &d.gpu, &d.stream).unwrap();
            } else {
                solve.start_results = StartResults {
                    values: Some(sv.whole()),
                    vectors: Some(sx.whole()),
                    residuals: Some(sr.whole()),
                    status: Some(ss.whole()),
                    ..StartResults::default()
                };
                solve.general(T::DTYPE, &d.gpu, &d.stream).unwrap();
                solve.select(T::DTYPE, &d.gpu, &d.stream, 32, None).unwrap();
            }
            let case = format!("goal {goal}, method {method}, shift {shift_kind}, fused {fused}");
            let tolerance = if real == 4 { 1e-5 } else { 1e-9 };
            let found = d.get::<T>(&values);
            assert_eq!(d.integers(&count), vec![3; copies], "{case}");
            assert_eq!(d.integers(&status), vec![c::TENSOR_OK; copies], "{case}");
            for row in found.chunks_exact(limit) {
                for (v, e) in row.iter().zip(expected) {
                    assert!((v - e).abs() < tolerance, "{case}: {row:?}");
                }
                assert!(row[3].is_nan() && row[4].is_nan(), "{case}");
            }
            let kind = if goal == c::MAXIMA { c::PAIR_NEGATIVE_STABLE } else { c::PAIR_POSITIVE_STABLE };
            assert!(d.integers(&classes).chunks_exact(limit).all(|r| r[..3] == [kind; 3]), "{case}");
            assert!(d.integers(&basins).chunks_exact(limit).all(|r| r[..3].iter().sum::<i32>() == 32), "{case}");
            let total = d.bytes(&counters);
            let converged = u64::from_le_bytes(total[..8].try_into().unwrap());
            assert_eq!(converged, per_start as u64, "{case}");
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn the_published_tensor_in_f64() {
    solves_the_published_tensor::<f64>();
}

#[test]
#[ignore = "needs a GPU"]
fn the_published_tensor_in_f32() {
    solves_the_published_tensor::<f32>();
}

#[test]
#[ignore = "needs a GPU"]
fn starts_are_the_hosts_numbers() {
    let d = Device::open();
    let (n, v, t) = (5, 7, 3);
    let output = d.empty(8 * n * v * t);
    let draw = Draw { dimension: n, seed: 42, first_tensor: 10, tensors: t, first_start: 4, starts: v, cube: false };
    draw_starts(DType::F64, &d.gpu, &d.stream, &draw, output.whole()).unwrap();
    let drawn = d.get::<f64>(&output);
    for item in 0..t {
        for start in 0..v {
            let x: Vec<f64> = (0..n)
                .map(|i| rng::normal(42, rng::stream::STARTS, 10 + item as u64, ((4 + start) * n + i) as u32))
                .collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            for i in 0..n {
                let there = drawn[i + n * (start + v * item)];
                assert!((there - x[i] / norm).abs() < 1e-15, "{item} {start} {i}: {there} {}", x[i] / norm);
            }
        }
    }
}

#[test]
#[ignore = "needs a GPU"]
fn products_agree_with_the_definition() {
    let d = Device::open();
    for (order, dimension) in [(2, 1), (3, 3), (4, 3), (3, 2), (5, 4), (2, 6), (6, 3), (4, 16)] {
        let (indices, multinomials) = tables(order, dimension);
        let u = multinomials.len();
        let (v, t) = (5, 4);
        let number = |stream: u32, k: usize| rng::uniform(1, stream, 0, k as u32);
        let entries: Vec<f64> = (0..u * t).map(|k| number(90, k)).collect();
        let points: Vec<f64> = (0..dimension * v).map(|k| if k == 1 { 0.0 } else { number(91, k) }).collect();
        let (tensors, vectors) = (d.put::<f64>(&entries), d.put::<f64>(&points));
        let (indices_d, multinomials_d) = (d.raw(&indices), d.put::<f64>(&multinomials));
        let batch = Batch {
            memory: tensors.whole(),
            entry_stride: t,
            tensor_stride: 1,
            order,
            dimension,
            entries: u,
            count: t,
        };
        let vectors = Vectors {
            memory: vectors.whole(),
            component_stride: 1,
            vector_stride: dimension,
            tensor_stride: 0,
            count: v,
        };
        let tables = Tables { indices: indices_d.whole(), multinomials: multinomials_d.whole(), identity: None };
        let run = |power: usize, width: usize| {
            let output = d.empty(8 * width * v * t);
            products(DType::F64, &d.gpu, &d.stream, &batch, &vectors, &tables, power, output.whole()).unwrap();
            d.get::<f64>(&output)
        };
        let (values, gradients, matrices) =
            (run(order, 1), run(order - 1, dimension), run(order - 2, dimension * dimension));
        for item in 0..t {
            for k in 0..v {
                let x = &points[dimension * k..dimension * (k + 1)];
                let cell = k + v * item;
                let expected: f64 = (0..u)
                    .map(|r| {
                        let monomial: f64 =
                            indices[r * order..(r + 1) * order].iter().map(|i| x[*i as usize]).product();
                        multinomials[r] * entries[r * t + item] * monomial
                    })
                    .sum();
                let scale = 1e-12 * u as f64;
                assert!((values[cell] - expected).abs() < scale, "({order},{dimension})");
                let y = &gradients[dimension * cell..dimension * (cell + 1)];
                let dot: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
                assert!((dot - expected).abs() < scale, "({order},{dimension}) x.Ax^(m-1)");
                let b = &matrices[dimension * dimension * cell..dimension * dimension * (cell + 1)];
                for i in 0..dimension {
                    let bx: f64 = (0..dimension).map(|j| b[i * dimension + j] * x[j]).sum();
                    assert!((bx - y[i]).abs() < scale, "({order},{dimension}) (Ax^(m-2))x");
                }
            }
        }
    }
}
