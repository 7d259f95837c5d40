//! Interface between the per-tensor driver and the kernels of a shape. Each method dispatches to the vector instructions
//! once, so that the compiler sees every kernel as a separate function.

use std::marker::PhantomData;

use super::chain::Chain;
use super::flight::{Flight, Job, Rule, Step};
use super::general::{self, WorkArrays};
use super::linear::jacobi;
use super::nested::{self, Broadcast, Form};
use super::pool::{Pool, Width};
use super::three;
use crate::backend::cpu::Isa;
use crate::backend::cpu::simd::{Kernel, Lanes, Simd, Vectorized, dispatch, dispatch_wide};
use crate::scalar::Real;

/// Limit of the lanes of a vector times the vectors that a kernel processes together.
pub const WIDEST: usize = 32;

/// Vectors as arrays: component i of vector p is at `data[i * stride + p]`. Kernels process whole vector widths.
#[derive(Debug, Clone, Copy)]
pub struct Vectors<'a, T> {
    /// n rows of `stride` elements.
    pub data: &'a [T],
    /// Elements from one component to the next.
    pub stride: usize,
    /// Number of vectors. Arrays are padded to whole widths.
    pub count: usize,
}

/// Kernels of one order and dimension.
pub trait Engine<T: Real> {
    /// Runs the first `count` starts for at most `steps` steps.
    fn advance(&mut self, a: &[T], rule: &Rule<T>, job: &Job<T>, flight: &mut Flight<T>, count: usize, steps: usize);
    /// Lanes of the vectors in [`Engine::advance_pool`]; `None` if the shape has no such kernel.
    fn pool_width(&self) -> Option<usize> {
        None
    }
    /// Runs the starts of a pool until at most `keep` of them still run, for at most `steps` steps. Returns false if
    /// there is no kernel for it.
    fn advance_pool(&mut self, _: &Rule<T>, _: &mut Pool<T>, _keep: usize, _steps: usize) -> bool {
        false
    }
    /// A x^(m-free) for 0, 1 or 2 free indices: component c of vector p at `out[c * stride + p]`; matrices are packed.
    fn contract(&mut self, a: &[T], x: Vectors<'_, T>, free: usize, out: &mut [T]);
    /// Eigenvalues of the projected Hessian at vectors with the given lambda, ascending: eigenvalue j of vector p at
    /// `out[j * stride + p]`.
    fn hessians(&mut self, a: &[T], x: Vectors<'_, T>, lambda: &[T], out: &mut [T]);
}

#[inline(always)]
fn splat_job<T: Real, S: Simd<T>>(simd: S, job: &Job<T>) -> Job<S::V> {
    Job {
        isotropic: simd.splat(job.isotropic),
        floor2: simd.splat(job.floor2),
        shift: simd.splat(job.shift),
        tau: simd.splat(job.tau),
        limit: simd.splat(job.limit),
    }
}

/// Arguments of a method of an engine.
enum Call<'a, T> {
    Advance { rule: &'a Rule<T>, job: &'a Job<T>, flight: &'a mut Flight<T>, count: usize, steps: usize },
    Contract { x: Vectors<'a, T>, free: usize, out: &'a mut [T] },
    Hessians { x: Vectors<'a, T>, lambda: &'a [T], out: &'a mut [T] },
}

/// Kernels for dimension 3 and a fixed order, two vectors at a time; without wide vectors the general kernels.
pub struct Dimension3Kernels<'a, F, T> {
    many: GeneralKernels<'a, T>,
    form: PhantomData<F>,
}

impl<'a, F: Form, T> Dimension3Kernels<'a, F, T> {
    /// Uses the instructions, tables and work arrays of `many`.
    pub fn new(many: GeneralKernels<'a, T>) -> Self {
        Self { many, form: PhantomData }
    }
}

macro_rules! three_kernel {
    ($name:ident, ($($field:ident: $t:ty),*), |$this:ident, $simd:ident| $body:block) => {
        struct $name<'a, F, T> {
            a: &'a [T],
            $($field: $t,)*
            form: PhantomData<F>,
        }

        impl<F: Form, T: Real> Kernel<T> for $name<'_, F, T> {
            type Output = ();

            #[inline(always)]
            fn run<S: Simd<T>>(self, simd: S) {
                let ($this, $simd) = (self, simd.doubled());
                $body
            }
        }
    };
}

/// Steps of a pool's starts; `POWER` for power steps with a constant shift.
struct Steps<'a, F, T, const POWER: bool> {
    rule: &'a Rule<T>,
    pool: &'a mut Pool<T>,
    keep: usize,
    steps: usize,
    form: PhantomData<F>,
}

impl<F: Form, T: Real, const POWER: bool> Kernel<T> for Steps<'_, F, T, POWER> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        three::advance::<F, T, S>(simd, self.rule, self.pool, self.keep, self.steps, POWER);
    }
}

/// The computation at each vector.
#[derive(Debug, Clone, Copy)]
enum PointValue<'a, T> {
    /// The contraction that leaves this many free indices.
    Product(usize),
    /// Eigenvalues of the projected Hessian for given lambdas.
    Hessian(&'a [T]),
}

three_kernel!(Points, (x: Vectors<'a, T>, wanted: PointValue<'a, T>, out: &'a mut [T]), |k, simd| {
    let a = Broadcast::new(simd, &k.a[..nested::entries(F::ORDER)]);
    let stride = k.x.stride;
    for at in (0..k.x.count).step_by(width(simd)) {
        let x = load3(simd, k.x, at);
        let b = F::matrix(simd, a, x);
        match k.wanted {
            PointValue::Product(0) => three::dot(x, three::apply(b, x)).store(&mut k.out[at..]),
            PointValue::Product(1) => {
                for (c, g) in three::apply(b, x).iter().enumerate() {
                    g.store(&mut k.out[c * stride + at..]);
                }
            }
            PointValue::Product(_) => {
                for (c, b) in b.iter().enumerate() {
                    b.store(&mut k.out[c * stride + at..]);
                }
            }
            PointValue::Hessian(lambda) => {
                let lambda = simd.load(&lambda[at..]);
                let (low, high) = three::hessian_eigenvalues(simd, F::ORDER, b, lambda, x);
                low.store(&mut k.out[at..]);
                high.store(&mut k.out[stride + at..]);
            }
        }
    }
});

/// Lanes of a token's vectors.
#[inline(always)]
fn width<T: Real, S: Simd<T>>(_: S) -> usize {
    S::V::LEN
}

#[inline(always)]
fn load3<T: Real, S: Simd<T>>(simd: S, x: Vectors<'_, T>, at: usize) -> [S::V; 3] {
    [simd.load(&x.data[at..]), simd.load(&x.data[x.stride + at..]), simd.load(&x.data[2 * x.stride + at..])]
}

impl<F: Form, T: Vectorized> Engine<T> for Dimension3Kernels<'_, F, T> {
    fn advance(&mut self, a: &[T], rule: &Rule<T>, job: &Job<T>, flight: &mut Flight<T>, count: usize, steps: usize) {
        self.many.advance(a, rule, job, flight, count, steps);
    }

    fn pool_width(&self) -> Option<usize> {
        dispatch_wide::<T, _>(self.many.isa, Width).ok()
    }

    fn advance_pool(&mut self, rule: &Rule<T>, pool: &mut Pool<T>, keep: usize, steps: usize) -> bool {
        let (isa, form) = (self.many.isa, self.form);
        if rule.step == Step::Power {
            dispatch_wide(isa, Steps::<F, T, true> { rule, pool, keep, steps, form }).is_ok()
        } else {
            dispatch_wide(isa, Steps::<F, T, false> { rule, pool, keep, steps, form }).is_ok()
        }
    }

    fn contract(&mut self, a: &[T], x: Vectors<'_, T>, free: usize, out: &mut [T]) {
        let (isa, form) = (self.many.isa, self.form);
        if dispatch_wide(isa, Points { a, x, wanted: PointValue::Product(free), out, form }).is_err() {
            self.many.contract(a, x, free, out);
        }
    }

    fn hessians(&mut self, a: &[T], x: Vectors<'_, T>, lambda: &[T], out: &mut [T]) {
        let kernel = Points { a, x, wanted: PointValue::Hessian(lambda), out, form: self.form };
        if dispatch_wide(self.many.isa, kernel).is_err() {
            self.many.hessians(a, x, lambda, out);
        }
    }
}

/// Kernels for any order and dimension.
pub struct GeneralKernels<'a, T> {
    /// Vector instructions of the context.
    pub isa: Isa,
    /// Tables of the contractions of this order and dimension.
    pub chain: &'a Chain,
    /// Arrays for the vectors of one width, overwritten by each call.
    pub work: &'a mut WorkArrays<T>,
}

struct GeneralKernel<'a, T> {
    chain: &'a Chain,
    work: &'a mut WorkArrays<T>,
    a: &'a [T],
    call: Call<'a, T>,
}

impl<T: Real> Kernel<T> for GeneralKernel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self, simd: S) {
        let Self { chain, work, a, call } = self;
        let lanes = S::V::LEN;
        match call {
            Call::Advance { rule, job, flight, count, steps } => {
                let job = splat_job(simd, job);
                for at in (0..count).step_by(lanes) {
                    general::advance(simd, chain, work, a, rule, &job, flight, at, steps);
                }
            }
            Call::Contract { x, free, out } => {
                for at in (0..x.count).step_by(lanes) {
                    let value = work.evaluate(simd, chain, a, x.data, x.stride, at);
                    let n = chain.shape().dimension;
                    let (from, components) = match free {
                        0 => {
                            value.store(&mut out[at..]);
                            continue;
                        }
                        1 => (&work.contracted.gradient, n),
                        _ => (&work.contracted.matrix, n * (n + 1) / 2),
                    };
                    for c in 0..components {
                        simd.load(&from[c * lanes..]).store(&mut out[c * x.stride + at..]);
                    }
                }
            }
            Call::Hessians { x, lambda, out } => {
                for at in (0..x.count).step_by(lanes) {
                    work.evaluate(simd, chain, a, x.data, x.stride, at);
                    hessian(simd, chain, work, simd.load(&lambda[at..]), x.stride, at, out);
                }
            }
        }
    }
}

/// Eigenvalues of the projected Hessian at the last evaluated point of `work`.
#[inline(always)]
fn hessian<T: Real, S: Simd<T>>(
    simd: S,
    chain: &Chain,
    work: &mut WorkArrays<T>,
    lambda: S::V,
    stride: usize,
    at: usize,
    out: &mut [T],
) {
    let (m, n) = (chain.shape().order, chain.shape().dimension);
    if n == 1 {
        return;
    }
    let lanes = S::V::LEN;
    work.project(simd, n);
    let size = n - 1;
    let c = work.projected_mut();
    let k = simd.splat(T::from_f64((m - 1) as f64));
    for i in 0..size {
        for j in 0..size {
            let value = k.mul(simd.load(&c[(i * size + j) * lanes..]));
            let value = if i == j { value.sub(lambda) } else { value };
            value.store(&mut c[(i * size + j) * lanes..]);
        }
    }
    jacobi(simd, c, size);
    for i in 0..size {
        simd.load(&c[(i * size + i) * lanes..]).store(&mut out[i * stride + at..]);
    }
    for p in at..at + lanes {
        // Insertion sort, ascending; the lists are short.
        for i in 1..size {
            let mut j = i;
            while j > 0 && out[j * stride + p] < out[(j - 1) * stride + p] {
                out.swap(j * stride + p, (j - 1) * stride + p);
                j -= 1;
            }
        }
    }
}

impl<T: Vectorized> GeneralKernels<'_, T> {
    fn call(&mut self, a: &[T], call: Call<'_, T>) {
        dispatch(self.isa, GeneralKernel { chain: self.chain, work: self.work, a, call });
    }
}

impl<T: Vectorized> Engine<T> for GeneralKernels<'_, T> {
    fn advance(&mut self, a: &[T], rule: &Rule<T>, job: &Job<T>, flight: &mut Flight<T>, count: usize, steps: usize) {
        self.call(a, Call::Advance { rule, job, flight, count, steps });
    }

    fn contract(&mut self, a: &[T], x: Vectors<'_, T>, free: usize, out: &mut [T]) {
        self.call(a, Call::Contract { x, free, out });
    }

    fn hessians(&mut self, a: &[T], x: Vectors<'_, T>, lambda: &[T], out: &mut [T]) {
        self.call(a, Call::Hessians { x, lambda, out });
    }
}

/// Calls the work with the kernels of a shape: generated for dimension 3 and orders 2, 3, 4, 6, 8, else general.
pub fn with_engine<T: Vectorized, R>(
    isa: Isa,
    chain: &Chain,
    work: &mut WorkArrays<T>,
    run: impl FnOnce(&mut dyn Engine<T>) -> R,
) -> R {
    let shape = (chain.shape().dimension, chain.shape().order);
    let mut many = GeneralKernels { isa, chain, work };
    match shape {
        (3, 2) => run(&mut Dimension3Kernels::<nested::Order2, T>::new(many)),
        (3, 3) => run(&mut Dimension3Kernels::<nested::Order3, T>::new(many)),
        (3, 4) => run(&mut Dimension3Kernels::<nested::Order4, T>::new(many)),
        (3, 6) => run(&mut Dimension3Kernels::<nested::Order6, T>::new(many)),
        (3, 8) => run(&mut Dimension3Kernels::<nested::Order8, T>::new(many)),
        _ => run(&mut many),
    }
}
