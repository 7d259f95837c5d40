//! Trains as plain vectors, and contractions from the definition.

use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::context::{Context, Options as ContextOptions};
use crate::scalar::{Complex, DType, Scalar, with_scalar};
use crate::tensor::Location;
use crate::tensor::train::{Shape, TensorTrain};
use crate::testing::source;
use crate::tt::info::Kernel;
use crate::tt::{Contraction, Options};

pub type C = Complex<f64>;

/// A context on the CPU.
pub fn cpu(threads: usize) -> Arc<Context> {
    Context::new(ContextOptions { backend: BackendChoice::Cpu, threads, ..ContextOptions::default() }).unwrap()
}

/// Pseudorandom numbers in [-1, 1).
pub struct Disorder(u64);

impl Disorder {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 11) as f64) / (1u64 << 52) as f64 - 1.0
    }

    /// A number from `least` to `most`.
    pub fn pick(&mut self, least: usize, most: usize) -> usize {
        least + (((self.next() + 1.0) / 2.0) * (most - least + 1) as f64) as usize
    }
}

/// A train of plain complex numbers.
#[derive(Clone)]
pub struct Plain {
    pub modes: Vec<usize>,
    pub ranks: Vec<usize>,
    pub cores: Vec<Vec<C>>,
}

impl Plain {
    pub fn random(modes: &[usize], ranks: &[usize], complex: bool, seed: u64) -> Self {
        let mut d = Disorder::new(seed);
        let cores = (0..modes.len())
            .map(|k| {
                let len = ranks[k] * modes[k] * ranks[k + 1];
                // Multiples of 1/64 are exact in every type.
                let mut number = || (d.next() * 64.0).round() / 64.0;
                (0..len).map(|_| C::new(number(), if complex { number() } else { 0.0 })).collect()
            })
            .collect();
        Self { modes: modes.to_vec(), ranks: ranks.to_vec(), cores }
    }

    /// A random train with equal ranks, open or cyclic.
    pub fn uniform_ranks(d: usize, n: usize, rank: usize, cyclic: bool, complex: bool, seed: u64) -> Self {
        let mut ranks = vec![rank; d + 1];
        if !cyclic {
            (ranks[0], ranks[d]) = (1, 1);
        }
        Self::random(&vec![n; d], &ranks, complex, seed)
    }

    pub fn train(&self, context: &Arc<Context>, dtype: DType) -> TensorTrain {
        let shape = Shape::new("x", &self.modes, &self.ranks).unwrap();
        let mut t = TensorTrain::create(context, dtype, Location::Host, shape).unwrap();
        with_scalar!(dtype, "dtype", T => {
            let mut cores = t.cores_mut::<T>("x").unwrap();
            for (k, core) in self.cores.iter().enumerate() {
                for (to, from) in cores.core(k).iter_mut().zip(core) {
                    *to = T::from_parts(from.re, from.im);
                }
            }
            Ok::<(), crate::error::Error>(())
        })
        .unwrap();
        t
    }

    /// The dense tensor, first index fastest.
    pub fn full(&self) -> Vec<C> {
        let r0 = self.ranks[0];
        let mut out = Vec::new();
        // Matrix with rows (p, i_0, ...) and the bond as column.
        let mut left: Vec<C> = (0..r0 * r0).map(|i| C::new(f64::from(u8::from(i % r0 == i / r0)), 0.0)).collect();
        let mut rows = r0;
        for (k, core) in self.cores.iter().enumerate() {
            let (r, n, r2) = (self.ranks[k], self.modes[k], self.ranks[k + 1]);
            let mut next = vec![C::new(0.0, 0.0); rows * n * r2];
            for b in 0..r2 {
                for i in 0..n {
                    for a in 0..r {
                        for q in 0..rows {
                            next[q + rows * (i + n * b)] += left[q + rows * a] * core[a + r * (i + n * b)];
                        }
                    }
                }
            }
            (left, rows) = (next, rows * n);
        }
        for i in 0..rows / r0 {
            out.push((0..r0).map(|p| left[p + r0 * i + rows * p]).sum());
        }
        out
    }

    pub fn norm(&self) -> f64 {
        self.full().iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt()
    }
}

/// sum conj(x) y, or sum x y.
pub fn inner(x: &Plain, y: &Plain, conj: bool) -> C {
    x.full().iter().zip(y.full()).map(|(x, y)| if conj { x.conj() * y } else { x * y }).sum()
}

/// A session that computes by matrix products, also for small ranks.
pub fn session(context: &Arc<Context>, options: Options) -> Contraction {
    let kernel = Some(options.kernel.unwrap_or(Kernel::Products));
    Contraction::new(context, Options { kernel, ..options }).unwrap()
}

/// Both kernels, and the automatic choice.
pub const KERNELS: [Option<Kernel>; 3] = [Some(Kernel::Products), Some(Kernel::Chain), None];

/// A session with options and one of [`KERNELS`].
pub fn session_by(context: &Arc<Context>, kernel: Option<Kernel>, options: Options) -> Contraction {
    Contraction::new(context, Options { kernel, ..options }).unwrap()
}

/// The four types, and the allowed error of their results relative to |x| |y|.
pub const TYPES: [(DType, f64); 4] =
    [(DType::F64, 1e-13), (DType::CF64, 1e-13), (DType::F32, 2e-6), (DType::CF32, 2e-6)];

/// The path of a file of golden data.
pub fn golden(name: &str) -> PathBuf {
    source("tests/golden/tt").join(name)
}

/// A value of a JSON text.
#[derive(Debug, Clone)]
pub enum Json {
    Number(f64),
    Text(String),
    Bool(bool),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn read(path: &str) -> Self {
        let path = golden(path);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self::parse(text.trim(), &mut 0)
    }

    fn parse(text: &str, at: &mut usize) -> Self {
        let bytes = text.as_bytes();
        let skip = |at: &mut usize| {
            while bytes[*at].is_ascii_whitespace() || bytes[*at] == b',' || bytes[*at] == b':' {
                *at += 1;
            }
        };
        skip(at);
        match bytes[*at] {
            b'[' | b'{' => {
                let object = bytes[*at] == b'{';
                *at += 1;
                let (mut list, mut fields) = (Vec::new(), Vec::new());
                loop {
                    skip(at);
                    if matches!(bytes[*at], b']' | b'}') {
                        *at += 1;
                        return if object { Self::Object(fields) } else { Self::List(list) };
                    }
                    let value = Self::parse(text, at);
                    match (object, value) {
                        (true, Self::Text(key)) => fields.push((key, Self::parse(text, at))),
                        (_, value) => list.push(value),
                    }
                }
            }
            b'"' => {
                let end = *at + 1 + text[*at + 1..].find('"').unwrap();
                let value = text[*at + 1..end].to_string();
                *at = end + 1;
                Self::Text(value)
            }
            _ => {
                let length = text[*at..].find([',', ']', '}']).unwrap();
                let word = text[*at..*at + length].trim();
                *at += length;
                match word {
                    "true" | "false" => Self::Bool(word == "true"),
                    _ => Self::Number(word.parse().unwrap()),
                }
            }
        }
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(k, _)| k == key).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn at(&self, key: &str) -> &Self {
        self.get(key).unwrap_or_else(|| panic!("no {key}"))
    }

    pub fn list(&self) -> &[Self] {
        if let Self::List(list) = self { list } else { panic!("{self:?} is no list") }
    }

    pub fn number(&self) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Text(t) => t.parse().unwrap(),
            other => panic!("{other:?} is no number"),
        }
    }

    pub fn text(&self) -> &str {
        if let Self::Text(t) = self { t } else { panic!("{self:?} is no text") }
    }

    pub fn bool(&self) -> bool {
        if let Self::Bool(b) = self { *b } else { panic!("{self:?} is no bool") }
    }

    pub fn numbers(&self) -> Vec<f64> {
        self.list().iter().map(Self::number).collect()
    }

    /// A complex number given by its parts.
    pub fn complex(&self) -> C {
        C::new(self.at("re").number(), self.at("im").number())
    }

    /// Shape and entries of a core.
    pub fn core(&self) -> (Vec<usize>, Vec<C>) {
        let shape = self.at("shape").numbers().iter().map(|&v| v as usize).collect();
        let re = self.at("re").numbers();
        let im = self.get("im").map_or_else(|| vec![0.0; re.len()], Self::numbers);
        (shape, re.iter().zip(im).map(|(&re, im)| C::new(re, im)).collect())
    }
}

impl Plain {
    /// A train of cores that come with their shapes.
    pub fn of_cores(cores: Vec<(Vec<usize>, Vec<C>)>) -> Self {
        let mut ranks = vec![cores[0].0[0]];
        ranks.extend(cores.iter().map(|(shape, _)| shape[2]));
        let modes = cores.iter().map(|(shape, _)| shape[1]).collect();
        Self { modes, ranks, cores: cores.into_iter().map(|(_, core)| core).collect() }
    }

    /// The same train with every entry of every core times a factor.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.cores.iter_mut().flatten().for_each(|v| *v *= factor);
        self
    }

    /// A train of d copies of one core.
    pub fn repeated(d: usize, shape: [usize; 3], core: &[C]) -> Self {
        let [r, n, r2] = shape;
        assert_eq!(r, r2);
        Self { modes: vec![n; d], ranks: vec![r; d + 1], cores: vec![core.to_vec(); d] }
    }
}
