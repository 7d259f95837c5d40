//! Trains as plain arrays, contracted from the definition; golden data.

use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::error::Result;
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain, TrainMatrix};
use crate::trains::Scaled;
use crate::trains::testing::golden;

pub type C = Complex<f64>;

pub fn c(re: f64, im: f64) -> C {
    Complex::new(re, im)
}

pub fn cpu(threads: usize) -> Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads, ..ContextOptions::default() }).unwrap()
}

/// The number in double precision, or infinities if it is beyond the range.
pub fn number(value: Scaled) -> C {
    value.plain(DType::CF64).0
}

/// A few units of roundoff of a type.
pub fn tolerance(dtype: DType) -> f64 {
    if dtype.is_single() { 2e-6 } else { 1e-13 }
}

/// Pseudorandom multiples of 1/8, which are exact in every type.
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    pub fn eighth(&mut self) -> f64 {
        (self.below(17) as f64 - 8.0) / 8.0
    }

    pub fn numbers(&mut self, count: usize, complex: bool) -> Vec<C> {
        (0..count).map(|_| c(self.eighth(), if complex { self.eighth() } else { 0.0 })).collect()
    }

    pub fn sizes(&mut self, count: usize, most: usize) -> Vec<usize> {
        (0..count).map(|_| 1 + self.below(most)).collect()
    }

    /// Random ranks of a train of d cores, with `ends` or 1 at both ends.
    pub fn ranks(&mut self, d: usize, most: usize, ends: usize) -> Vec<usize> {
        let mut ranks = self.sizes(d + 1, most);
        (ranks[0], ranks[d]) = (ends, ends);
        ranks
    }
}

/// A train as packed arrays, one for each core.
#[derive(Clone)]
pub struct Plain {
    pub modes: Vec<usize>,
    pub ranks: Vec<usize>,
    pub cores: Vec<Vec<C>>,
}

impl Plain {
    pub fn new(modes: &[usize], ranks: &[usize], cores: Vec<Vec<C>>) -> Self {
        Self { modes: modes.to_vec(), ranks: ranks.to_vec(), cores }
    }

    pub fn random(draw: &mut Draw, modes: &[usize], ranks: &[usize], complex: bool) -> Self {
        let cores = (0..modes.len()).map(|k| draw.numbers(ranks[k] * modes[k] * ranks[k + 1], complex)).collect();
        Self::new(modes, ranks, cores)
    }

    /// A train with the same core (r, n, r) at each site.
    pub fn uniform(d: usize, n: usize, r: usize, core: &[C]) -> Self {
        Self::new(&vec![n; d], &vec![r; d + 1], vec![core.to_vec(); d])
    }

    /// A train of rank 1: the outer product of vectors.
    pub fn product(vectors: Vec<Vec<C>>) -> Self {
        let modes: Vec<usize> = vectors.iter().map(Vec::len).collect();
        Self::new(&modes, &vec![1; modes.len() + 1], vectors)
    }

    pub fn at(&self, k: usize, a: usize, i: usize, b: usize) -> C {
        self.cores[k][a + self.ranks[k] * (i + self.modes[k] * b)]
    }

    pub fn train(&self, context: &Arc<Context>, dtype: DType) -> TensorTrain {
        let shape = Shape::new("x", &self.modes, &self.ranks).unwrap();
        let mut train = TensorTrain::zeros(context, dtype, Location::Host, shape).unwrap();
        self.write(&mut train).unwrap();
        train
    }

    fn write(&self, train: &mut TensorTrain) -> Result<()> {
        let dtype = train.dtype();
        with_scalar!(dtype, "x", T => {
            let mut cores = train.cores_mut::<T>("x")?;
            for (k, core) in self.cores.iter().enumerate() {
                cores.core(k).iter_mut().zip(core).for_each(|(to, x)| *to = T::from_parts(x.re, x.im));
            }
            Ok(())
        })
    }

    /// The tensor, first index fastest.
    pub fn full(&self) -> Vec<C> {
        let r = self.ranks[0];
        // Array [p, I, a], starting with the identity of p and a.
        let mut now: Vec<C> = (0..r * r).map(|at| c(f64::from(u8::from(at % r == at / r)), 0.0)).collect();
        let mut count = 1;
        for k in 0..self.modes.len() {
            let (n, from, to) = (self.modes[k], self.ranks[k], self.ranks[k + 1]);
            let mut next = vec![c(0.0, 0.0); r * count * n * to];
            for b in 0..to {
                for i in 0..n {
                    for a in 0..from {
                        let x = self.at(k, a, i, b);
                        for at in 0..r * count {
                            next[at + r * count * (i + n * b)] += now[at + r * count * a] * x;
                        }
                    }
                }
            }
            (now, count) = (next, count * n);
        }
        (0..count).map(|at| (0..r).map(|p| now[p + r * (at + count * p)]).sum()).collect()
    }
}

/// A TT-matrix as packed arrays, one for each core.
#[derive(Clone)]
pub struct PlainMatrix {
    pub rows: Vec<usize>,
    pub cols: Vec<usize>,
    pub train: Plain,
}

impl PlainMatrix {
    pub fn random(draw: &mut Draw, rows: &[usize], cols: &[usize], ranks: &[usize], complex: bool) -> Self {
        let modes: Vec<usize> = rows.iter().zip(cols).map(|(m, n)| m * n).collect();
        let mut train = Plain::random(draw, &modes, ranks, complex);
        // Most blocks are zeros, as in spin chains.
        for (core, k) in train.cores.iter_mut().zip(0..) {
            let (left, mn) = (ranks[k], modes[k]);
            for at in 0..left * ranks[k + 1] {
                if draw.below(3) == 0 {
                    (0..mn).for_each(|i| core[at % left + left * (i + mn * (at / left))] = c(0.0, 0.0));
                }
            }
        }
        Self { rows: rows.to_vec(), cols: cols.to_vec(), train }
    }

    pub fn of(matrix: &TrainMatrix) -> Self {
        let train = Self::read(matrix).unwrap();
        Self { rows: matrix.rows().to_vec(), cols: matrix.cols().to_vec(), train }
    }

    fn read(matrix: &TrainMatrix) -> Result<Plain> {
        let shape = matrix.train().shape();
        with_scalar!(matrix.train().dtype(), "h", T => {
            let cores = matrix.train().cores::<T>("h")?;
            let cores = (0..shape.len()).map(|k| cores.core(k).iter().map(|x| c(x.re(), x.im())).collect());
            Ok(Plain::new(shape.modes(), shape.ranks(), cores.collect()))
        })
    }

    pub fn matrix(&self, context: &Arc<Context>, dtype: DType) -> TrainMatrix {
        TrainMatrix::new("h", self.train.train(context, dtype), &self.rows, &self.cols).unwrap()
    }

    /// H x, whose ranks are products.
    pub fn apply(&self, x: &Plain) -> Plain {
        let d = self.rows.len();
        let ranks: Vec<usize> = (0..=d).map(|k| self.train.ranks[k] * x.ranks[k]).collect();
        let cores = (0..d).map(|k| {
            let (m, n, w) = (self.rows[k], self.cols[k], self.train.ranks[k]);
            let (r, v) = (x.ranks[k], self.train.ranks[k + 1]);
            let mut core = vec![c(0.0, 0.0); ranks[k] * m * ranks[k + 1]];
            for (at, to) in core.iter_mut().enumerate() {
                let (left, i, right) = (at % ranks[k], at / ranks[k] % m, at / ranks[k] / m);
                for j in 0..n {
                    *to += self.train.at(k, left % w, i + m * j, right % v) * x.at(k, left / w, j, right / v);
                }
            }
            assert_eq!(core.len(), w * r * m * ranks[k + 1]);
            core
        });
        Plain::new(&self.rows, &ranks, cores.collect())
    }
}

pub fn dot(y: &[C], x: &[C]) -> C {
    y.iter().zip(x).map(|(y, x)| y.conj() * x).sum()
}

pub fn norm(x: &[C]) -> f64 {
    dot(x, x).re.sqrt()
}

/// Applies `op` (n-by-n) at site k to a full tensor.
pub fn act(x: &[C], modes: &[usize], k: usize, op: &[C]) -> Vec<C> {
    let (before, n): (usize, usize) = (modes[..k].iter().product(), modes[k]);
    let mut out = vec![c(0.0, 0.0); x.len()];
    for (at, to) in out.iter_mut().enumerate() {
        let i = at / before % n;
        for j in 0..n {
            *to += op[i + n * j] * x[at - before * i + before * j];
        }
    }
    out
}

/// A value of a JSON file, enough for the golden data.
#[derive(Debug, Clone)]
pub enum Json {
    Number(f64),
    Text(String),
    Bool(bool),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(golden(name)).unwrap();
        let (value, rest) = Self::parse(&text);
        assert_eq!(rest.trim(), "");
        value
    }

    fn parse(text: &str) -> (Self, &str) {
        let text = text.trim_start();
        let list = |open: char, close: char, item: &mut dyn FnMut(&str) -> usize| {
            let mut rest = text.strip_prefix(open).unwrap().trim_start();
            while let Some(more) = rest.strip_prefix(',').or((!rest.starts_with(close)).then_some(rest)) {
                let used = item(more);
                rest = more[used..].trim_start();
            }
            rest.len() - 1
        };
        if text.starts_with('[') {
            let mut items = Vec::new();
            let left = list('[', ']', &mut |t| {
                let (item, rest) = Self::parse(t);
                items.push(item);
                t.len() - rest.len()
            });
            return (Self::List(items), &text[text.len() - left..]);
        }
        if text.starts_with('{') {
            let mut items = Vec::new();
            let left = list('{', '}', &mut |t| {
                let (Self::Text(key), rest) = Self::parse(t) else { panic!("{t}") };
                let (item, rest) = Self::parse(rest.trim_start().strip_prefix(':').unwrap());
                items.push((key, item));
                t.len() - rest.len()
            });
            return (Self::Object(items), &text[text.len() - left..]);
        }
        if let Some(text) = text.strip_prefix('"') {
            let end = text.find('"').unwrap();
            return (Self::Text(text[..end].to_owned()), &text[end + 1..]);
        }
        for (word, value) in [("true", true), ("false", false)] {
            if let Some(rest) = text.strip_prefix(word) {
                return (Self::Bool(value), rest);
            }
        }
        let end = text.find(|ch: char| !ch.is_ascii_digit() && !"+-.eE".contains(ch)).unwrap_or(text.len());
        (Self::Number(text[..end].parse().unwrap()), &text[end..])
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(items) = self else { panic!("{self:?}") };
        items.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    pub fn list(&self) -> &[Self] {
        let Self::List(items) = self else { panic!("{self:?}") };
        items
    }

    pub fn number(&self) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Text(text) => text.parse().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub fn sizes(&self) -> Vec<usize> {
        self.list().iter().map(|x| x.number() as usize).collect()
    }

    /// {re, im} as one number.
    pub fn complex(&self) -> C {
        c(self.get("re").unwrap().number(), self.get("im").unwrap().number())
    }

    /// A list of cores {shape, re, im}. The first and the last dimension of each are its bonds.
    pub fn cores(&self) -> Plain {
        let shapes: Vec<Vec<usize>> = self.list().iter().map(|core| core.get("shape").unwrap().sizes()).collect();
        let modes: Vec<usize> = shapes.iter().map(|s| s[1..s.len() - 1].iter().product()).collect();
        let ranks: Vec<usize> = std::iter::once(shapes[0][0]).chain(shapes.iter().map(|s| s[s.len() - 1])).collect();
        let part =
            |core: &Self, key: &str| core.get(key).map(|p| p.list().iter().map(Self::number).collect::<Vec<_>>());
        let cores = self.list().iter().map(|core| {
            let (re, im) = (part(core, "re").unwrap(), part(core, "im"));
            re.iter().enumerate().map(|(at, &re)| c(re, im.as_ref().map_or(0.0, |im| im[at]))).collect()
        });
        Plain::new(&modes, &ranks, cores.collect())
    }
}
