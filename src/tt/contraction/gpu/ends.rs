//! Open trains by cuBLAS. Both ends are contracted at the same time, each on its own stream.
//!
//! The environment from the left is F[b, a] = sum x cj(y), that from the right G[b, a] = sum cj(x) y. Then every
//! conjugation comes with a transposition, as cuBLAS offers it, and S = sum F cj(G).

use super::blocks::{interval, slice};
use super::call::{Call, Sums};
use super::careful::{Scaling, Taken};
use super::chain;
use super::products::{Products, adjoint};
use crate::backend::gpu::kernels::tt::{self, STATE_BYTES, Site, result};
use crate::backend::gpu::{Blas, DeviceMemory, GpuStream, Region, Transpose, View};
use crate::contraction::cost::First;
use crate::error::Result;
use crate::shape::{product, to_u64};
use crate::trains::options::Math;

/// The contraction of one end of the train, up to the bond where the ends meet.
pub(super) struct End<'a> {
    pub(super) products: Products<'a>,
    pub(super) is_right: bool,
    /// Sites from this end to the bond where the ends meet.
    pub(super) sites: usize,
    pub(super) f: Region<'a>,
    pub(super) t: Region<'a>,
    pub(super) state: Region<'a>,
    pub(super) scaling: Scaling<'a>,
    /// Whether the next product multiplies the environment by the factor in `state`.
    pub(super) measured: bool,
}

/// Bytes of the environment and of the product, for each end; one element each for an end without sites.
pub(super) fn bytes(call: &Call<'_>) -> Result<[[usize; 2]; 2]> {
    let (environment, products) = largest(call)?;
    let bytes = |elements: usize| product("rank", elements, call.dtype().size());
    let left = [bytes(environment)?, bytes(products)?];
    Ok([left, if call.plan().meet < call.length { left } else { [call.dtype().size(); 2] }])
}

/// Elements of the largest environment and product of a site.
fn largest(call: &Call<'_>) -> Result<(usize, usize)> {
    let plan = call.plan();
    let (mut environment, mut products) = (1, 1);
    for (i, Site { r, s, n }) in call.sites.iter().copied().enumerate() {
        environment = environment.max(product("rank", r[1], s[1])?);
        let one = match plan.order[plan.core(to_u64(i))] {
            First::X => product("rank", s[0], r[1])?,
            First::Y => product("rank", r[0], s[1])?,
        };
        products = products.max(product("rank", one, n)?);
    }
    // The plan counts this size, too. The dense ends are built in these buffers.
    products = products.max(call.sites.last().map_or(1, |site| site.s[0]));
    Ok((environment, products))
}

/// Computes an open product. Returns whether digits may be lost, so that `chain` must recompute it with care.
pub(super) fn contract(call: &Call<'_>, left: &Blas, right: &Blas, math: Math, sums: &mut Sums<'_>) -> Result<bool> {
    let (gpu, stream) = (call.gpu, call.stream);
    let states = gpu.allocate_on(stream, "states of a contraction", 2 * STATE_BYTES)?;
    // The stream of the right end must wait until the cores have been loaded.
    right.stream().wait_for(stream)?;
    // Zeroed for the same reason as in `blocks`.
    let space = |blas: &Blas, bytes| gpu.allocate_on(blas.stream(), "work space of a contraction", bytes);
    let [bytes_left, bytes_right] = bytes(call)?;
    let left_space = [space(left, bytes_left[0])?, space(left, bytes_left[1])?];
    let right_space = [space(right, bytes_right[0])?, space(right, bytes_right[1])?];
    let result = from_both(call, (left, right), math, [&left_space, &right_space], &states, sums);
    if result.is_err() {
        // After an error, work on the other stream may still use this memory, which is freed in the order of `stream`.
        let _ = right.stream().synchronize();
    }
    result
}

fn from_both(
    call: &Call<'_>,
    (left, right): (&Blas, &Blas),
    math: Math,
    spaces: [&[DeviceMemory; 2]; 2],
    states: &DeviceMemory,
    sums: &mut Sums<'_>,
) -> Result<bool> {
    let plan = call.plan();
    let meet = plan.meet.min(call.length);
    let sites = [meet, call.length - meet];
    let end = |blas, is_right: bool| -> Result<End<'_>> {
        let side = usize::from(is_right);
        let [f, t] = spaces[side];
        Ok(End {
            products: Products::new(call.dtype(), call.gpu, blas, math)?,
            is_right,
            sites: sites[side],
            f: f.whole(),
            t: t.whole(),
            state: states.region(side * STATE_BYTES, STATE_BYTES)?,
            scaling: Scaling::Measured,
            measured: false,
        })
    };
    let mut ends = [end(left, false)?, end(right, true)?];
    let mut from = [0; 2];
    for (side, end) in ends.iter_mut().enumerate() {
        from[side] = plan.grow[side].min(end.sites).max(1);
        if end.sites > 0 {
            end.start(call, from[side])?;
        }
    }
    sweep(call, &mut ends, from)?;
    let count = joined(call, &ends)?;
    let results = call.results(tt::sum_blocks(count))?;
    join(call, &ends, states.whole(), results.whole())?;
    let doubt = chain::joined(call, &results, count, sums)?;
    call.steps(usize::from(sites[0] > 0) + usize::from(sites[1] > 0))?;
    Ok(doubt && call.rescues())
}

/// Enqueues the sites of both ends from `from` on. It alternates between the ends, so that neither stream runs out of
/// work.
pub(super) fn sweep(call: &Call<'_>, ends: &mut [End<'_>; 2], from: [usize; 2]) -> Result<()> {
    // Sites within the dense tensors are counted one by one, too.
    for i in from[0].min(1)..ends[0].sites.max(ends[1].sites) {
        for (side, end) in ends.iter_mut().enumerate() {
            if i >= end.sites {
                continue;
            }
            if i >= from[side] {
                end.site(call, i)?;
            }
            call.work.step()?;
        }
    }
    Ok(())
}

/// Elements of the environments at the bond where both ends meet.
pub(super) fn joined(call: &Call<'_>, ends: &[End<'_>; 2]) -> Result<usize> {
    if ends[1].sites == 0 {
        return Ok(1);
    }
    let site = call.sites[ends[0].sites];
    product("rank", site.r[0], site.s[0])
}

/// Enqueues the partial sums of the product of both ends. The call's stream waits for the other one.
pub(super) fn join(call: &Call<'_>, ends: &[End<'_>; 2], states: Region<'_>, results: Region<'_>) -> Result<()> {
    call.stream.wait_for(ends[1].stream())?;
    let other = (ends[1].sites > 0).then_some(ends[1].f);
    let flags = (call.plan().conjugate, call.unscaled && matches!(ends[0].scaling, Scaling::Measured));
    let all = (joined(call, ends)?, 0);
    tt::join(call.dtype(), call.gpu, call.stream, ends[0].f, other, all, states, None, flags, results)
}

impl End<'_> {
    fn stream(&self) -> &GpuStream {
        self.products.blas().stream()
    }

    /// The core at the i-th site from this end.
    fn core(&self, call: &Call<'_>, i: usize) -> usize {
        if self.is_right { call.length - 1 - i } else { i }
    }

    /// How a product reads a core of the conjugated train.
    fn taken(&self, call: &Call<'_>) -> Transpose {
        adjoint(call.plan().conjugate)
    }

    /// Computes the environment after `sites` sites from the dense tensors of both trains over them.
    fn start(&mut self, call: &Call<'_>, sites: usize) -> Result<()> {
        // The dense tensor of each train has one half of the product's buffer. Its steps alternate between that half
        // and the environment's buffer.
        let half = self.t.bytes() / call.dtype().size() / 2 * call.dtype().size();
        let (first, second) = (self.t.part(0, half)?, self.t.part(half, half)?);
        let (x, r, rows) = self.dense(call, sites, true, first)?;
        let (y, s, _) = self.dense(call, sites, false, second)?;
        let taken = self.taken(call);
        let to = View::packed(self.f, s, r);
        if self.is_right {
            // G[b, a] = sum over m of R_y[b, m] cj(R_x[a, m]).
            let (x, y) = (View::packed(x, r, rows), View::packed(y, s, rows));
            self.products.multiply(None, false, (y, Transpose::Plain), (x, taken), to)
        } else {
            // F[b, a] = sum over m of cj(L_y[m, b]) L_x[m, a].
            let (x, y) = (View::packed(x, rows, r), View::packed(y, rows, s));
            self.products.multiply(None, false, (y, taken), (x, Transpose::Plain), to)
        }
    }

    /// The dense tensor of one train over the first sites of this end: its memory, the size of the bond, and the number
    /// of the mode index combinations. The layout is [m, a] from the left, [a, m] from the right. The tensor is in
    /// `target`, unless it is a single core, which is not copied.
    fn dense<'s>(
        &'s self,
        call: &Call<'s>,
        sites: usize,
        is_x: bool,
        target: Region<'s>,
    ) -> Result<(Region<'s>, usize, usize)> {
        let bond = |i: usize| {
            let Site { r, s, n } = call.sites[self.core(call, i)];
            let [left, right] = if is_x { r } else { s };
            if self.is_right { (right, n, left) } else { (left, n, right) }
        };
        let core = |i: usize| if is_x { call.x[self.core(call, i)] } else { call.y[self.core(call, i)] };
        let (_, n, far) = bond(0);
        let (mut from, mut rows, mut at) = (core(0), n, far);
        for i in 1..sites {
            let (near, n, far) = bond(i);
            let memory = if (sites - 1 - i).is_multiple_of(2) { target } else { self.f };
            if self.is_right {
                let (a, b) = (View::packed(core(i), far * n, near), View::packed(from, near, rows));
                let to = View::packed(memory, far * n, rows);
                self.products.multiply(None, false, (a, Transpose::Plain), (b, Transpose::Plain), to)?;
            } else {
                let (a, b) = (View::packed(from, rows, near), View::packed(core(i), near, n * far));
                let to = View::packed(memory, rows, n * far);
                self.products.multiply(None, false, (a, Transpose::Plain), (b, Transpose::Plain), to)?;
            }
            from = memory;
            (rows, at) = (rows * n, far);
        }
        Ok((from, at, rows))
    }

    /// Applies the i-th site from this end: the environment of the next bond.
    fn site(&mut self, call: &Call<'_>, i: usize) -> Result<()> {
        let plan = call.plan();
        let k = self.core(call, i);
        let Site { r: [r, r2], s: [s, s2], n } = call.sites[k];
        let (core_x, core_y) = (call.x[k], call.y[k]);
        let (f, t) = (self.f, self.t);
        let taken = self.taken(call);
        if let Scaling::Careful(careful) = self.scaling {
            let side = usize::from(self.is_right);
            let count = product("rank", [r, r2][side], [s, s2][side])?;
            let (now, next) = (self.order(call, i), self.order(call, i + 1));
            careful.measure(call.gpu, self.stream(), (f, count), now, next, self.state)?;
            self.measured = true;
        }
        let (alpha, second) = (self.measured.then_some(self.state), self.scaling.second());
        let plain = |view| (view, Transpose::Plain);
        // The products with the slices of a core are stored one after another.
        let part = |index: usize| {
            let bytes = s2 * r * call.dtype().size();
            t.part(index * bytes, bytes)
        };
        let products = &self.products;
        match (self.is_right, plan.order[plan.core(to_u64(k))]) {
            (false, First::X) => {
                // T[b, (i a')] = F[b, a] X[a, (i a')], F'[b', a'] = cj(Y[(b i), b']) T[(b i), a'].
                let x = View::packed(core_x, r, n * r2);
                products.multiply(alpha, false, plain(View::packed(f, s, r)), plain(x), View::packed(t, s, n * r2))?;
                let y = View::packed(core_y, s * n, s2);
                let t = plain(View::packed(t, s * n, r2));
                products.multiply(second, false, (y, taken), t, View::packed(f, s2, r2))?;
            }
            (false, First::Y) => {
                // T[b', (a i)] = cj(Y[b, i, b']) F[b, a], F'[b', a'] = T[b', (a i)] X[(a i), a'].
                for j in 0..n {
                    let y = slice(call.dtype(), core_y, [s, s2], n, j)?;
                    let to = View::packed(part(j)?, s2, r);
                    products.multiply(alpha, false, (y, taken), plain(View::packed(f, s, r)), to)?;
                }
                let x = View::packed(core_x, r * n, r2);
                let t = plain(View::packed(t, s2, r * n));
                products.multiply(second, false, t, plain(x), View::packed(f, s2, r2))?;
            }
            (true, First::X) => {
                // The same products as from the left: T[(b i), a'] = Y[(b i), b'] G[b', a'], G[b, a] = T[b, (i a')]
                // cj(X[a, (i a')]).
                let y = View::packed(core_y, s * n, s2);
                let to = View::packed(t, s * n, r2);
                products.multiply(alpha, false, plain(y), plain(View::packed(f, s2, r2)), to)?;
                let x = View::packed(core_x, r, n * r2);
                let t = plain(View::packed(t, s, n * r2));
                products.multiply(second, false, t, (x, taken), View::packed(f, s, r))?;
            }
            (true, First::Y) => {
                // T[b', (a i)] = G[b', a'] cj(X[(a i), a']), G[b, a] = sum over i of Y[b, i, b'] T[b', a, i].
                let x = View::packed(core_x, r * n, r2);
                let g = plain(View::packed(f, s2, r2));
                products.multiply(alpha, false, g, (x, taken), View::packed(t, s2, r * n))?;
                for j in 0..n {
                    let y = slice(call.dtype(), core_y, [s, s2], n, j)?;
                    let t = plain(View::packed(part(j)?, s2, r));
                    products.multiply(second, j > 0, plain(y), t, View::packed(f, s, r))?;
                }
            }
        }
        self.measured = false;
        let due = i.is_multiple_of(interval(call)) && i + 1 < self.sites;
        if due && matches!(self.scaling, Scaling::Measured) { self.measure(call, i) } else { Ok(()) }
    }

    /// The core at the i-th site from this end, and whether the core of x is multiplied first; `None` beyond the last
    /// site.
    fn order(&self, call: &Call<'_>, i: usize) -> Option<Taken> {
        if i >= self.sites {
            return None;
        }
        let (k, plan) = (self.core(call, i), call.plan());
        // From the right, the order of the two products is reversed.
        Some((k, (plan.order[plan.core(to_u64(k))] == First::X) != self.is_right))
    }

    /// Starts before the first site with the environment 1, so that also the products of the first site are scaled by
    /// the cores.
    pub(super) fn open(&self, call: &Call<'_>) -> Result<()> {
        result::store(call.gpu, self.stream(), &result::one(call.dtype()), self.f)
    }

    /// Measures the magnitude of the environment after site i, for the factor of the next product.
    fn measure(&mut self, call: &Call<'_>, i: usize) -> Result<()> {
        let Site { r, s, .. } = call.sites[self.core(call, i)];
        let side = if self.is_right { 0 } else { 1 };
        let count = product("rank", r[side], s[side])?;
        tt::measure(call.dtype(), call.gpu, self.stream(), self.f, count, self.state, call.unscaled)?;
        self.measured = true;
        Ok(())
    }
}
