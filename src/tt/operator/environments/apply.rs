//! The effective operator of zero, one or two sites, multiplied by a vector.

use std::sync::Arc;

use super::checks::{expect_bond, expect_sites, expect_type, wrong_type};
use super::state::Environments;
use super::store::{Store, find_exact};
use crate::alloc;
use crate::backend::gpu::Region;
use crate::error::{Error, Result};
use crate::instances::compiled_here;
use crate::operator::chain::Chain;
use crate::operator::device::Ops;
use crate::operator::erased::Work;
use crate::operator::gather::Gather;
use crate::operator::side::Side;
use crate::operator::slots::Slots;
use crate::operator::stored::{self, Stored};
use crate::operator::trains::Trains;
use crate::operator::wide;
use crate::scalar::Scalar;
use crate::stream::Stream;

impl Environments {
    compiled_here! {
        /// The effective operator of `sites` sites from k on, 0, 1 or 2, times a vector: with sites = 1
        /// out\[a, i, a'\] = sum over b, j, b' of (L H_k R)\[a i a', b j b'\] v\[b, j, b'\], first index fastest; with 0 the
        /// vector is a matrix of bond k, with 2 it has both modes between its bonds. Returns the power of two that `out` is
        /// to be multiplied with. Missing environments are built.
        ///
        /// # Errors
        /// As [`Environments::build`]; [`Error::InvalidArgument`] for `sites`, and vectors of another type or length.
        pub fn apply<T: Scalar>(
            &mut self: Environments,
            stream: Option<&Stream>,
            trains: &Trains<'_>,
            at: (usize, usize),
            v: &[T],
            out: &mut [T],
        ) -> Result<i64> = Environments::apply_of;
    }

    fn apply_of<T: Scalar>(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        (k, sites): (usize, usize),
        v: &[T],
        out: &mut [T],
    ) -> Result<i64> {
        let ops = self.ops(stream)?;
        let chain = self.expect_vectors::<T>(trains, (k, sites), (v.len(), out.len()))?;
        ops.in_order(|| {
            if self.is_far(stream, &chain)? {
                return self.apply_exact(&ops, &chain, (k, sites), v, out);
            }
            let memory = Arc::clone(self.context.host_budget());
            let exponent = self.between::<T, _>(&ops, &chain, (k, sites), |work, l, gathers, r| {
                stored::apply(&ops, work, (&chain, &memory), (l, r), gathers, v, out)
            })?;
            if let Some(exponent) = exponent {
                return Ok(exponent);
            }
            self.is_far = Some(true);
            self.apply_exact(&ops, &chain, (k, sites), v, out)
        })
    }

    fn apply_exact<T: Scalar>(
        &mut self,
        ops: &Ops,
        chain: &Chain<'_>,
        (k, sites): (usize, usize),
        v: &[T],
        out: &mut [T],
    ) -> Result<i64> {
        self.extend_exact::<T>(ops, chain, Side::Left, k)?;
        self.extend_exact::<T>(ops, chain, Side::Right, k + sites)?;
        let gathers = gathers(chain, &self.slots, k, sites)?;
        let exact = find_exact::<T>(&*self.store)?;
        let (left, right) = (exact.find(Side::Left, k)?, exact.find(Side::Right, k + sites)?);
        self.context.pool().run(|| Ok(wide::fold(&left.apply(right, &gathers, &wide::widened(v)?)?, out)))
    }

    compiled_here! {
        /// [`Environments::apply`] for vectors in device memory. If the environments have been built, it only enqueues
        /// work and does not wait, so a graph may capture it. The environments must not change before the graph is
        /// replayed.
        ///
        /// # Errors
        /// As [`Environments::apply`]; [`Error::NotSupported`] for environments on the host, and for a stream that is being
        /// captured before environments or cuBLAS have been created.
        pub fn apply_on_device<T: Scalar>(
            &mut self: Environments,
            stream: Option<&Stream>,
            trains: &Trains<'_>,
            at: (usize, usize),
            v: Region<'_>,
            out: Region<'_>,
        ) -> Result<i64> = Environments::apply_on_device_of;
    }

    fn apply_on_device_of<T: Scalar>(
        &mut self,
        stream: Option<&Stream>,
        trains: &Trains<'_>,
        (k, sites): (usize, usize),
        v: Region<'_>,
        out: Region<'_>,
    ) -> Result<i64> {
        let ops = Ops::with_stored_environments(&self.context, stream, self.on_device)?;
        let sizes = (v.bytes() / size_of::<T>(), out.bytes() / size_of::<T>());
        let chain = self.expect_vectors::<T>(trains, (k, sites), sizes)?;
        let mut run = || {
            if self.is_far.is_none() && chain.is_ring() && ops.is_captured()? {
                let problem =
                    "stream: is being captured, and the bonds of the ring have not been examined: build before";
                return Err(Error::NotSupported(problem.into()));
            }
            if self.is_far(stream, &chain)? {
                return Err(Error::Numerical(format!(
                    "v: lies on the device, and bonds of a ring are far from balanced, which is made up for on the host: \
                     canonicalize or balance the {} trains first",
                    T::DTYPE.name()
                )));
            }
            self.between::<T, _>(&ops, &chain, (k, sites), |work, l, gathers, r| {
                for (bond, side) in [(k, l), (k + sites, r)] {
                    if side.is_graded() {
                        return Err(Error::Numerical(format!(
                            "v: lies on the device, and values of bond {bond} differ by more than the range of {}, which is made up \
                             for on the host: canonicalize the trains first",
                            T::DTYPE.name()
                        )));
                    }
                }
                let (list, exponent) = stored::limited(gathers, chain.limit())?;
                let gathers = if list.is_empty() { gathers } else { &list };
                let (from, to) = ((l.held.data.of()?, l.extent()), (r.held.data.of()?, r.extent()));
                ops.apply_in_order::<T>(work.of_mut()?, from, gathers, to, v, out)?;
                Ok(Some(exponent))
            })?
            .ok_or_else(|| Error::Internal("no result of environments".into()))
        };
        // A captured graph must not depend on another stream.
        if ops.is_captured()? { run() } else { ops.in_order(run) }
    }

    /// The last k from which there are `sites` sites.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more than two sites, or more than the trains have cores.
    pub fn last_start(&self, sites: usize) -> Result<usize> {
        Ok(self.sites() - expect_sites(sites, self.sites())?)
    }

    /// Returns an error unless `v` and `out` have the type and the numbers of elements for these sites.
    fn expect_vectors<'t, T: Scalar>(
        &self,
        trains: &Trains<'t>,
        (k, sites): (usize, usize),
        (v, out): (usize, usize),
    ) -> Result<Chain<'t>> {
        let chain = self.chain(trains)?;
        expect_bond(k, sites, trains.len())?;
        expect_type::<T>("v", self.dtype)?;
        let [bra, ket] = [trains.bra.shape(), trains.ket.shape()].map(|s| {
            s.modes()[k..k + sites]
                .iter()
                .try_fold(s.ranks()[k], |n, &m| n.checked_mul(m))?
                .checked_mul(s.ranks()[k + sites])
        });
        for (name, found, needed) in [("v", v, ket), ("out", out, bra)] {
            if Some(found) != needed {
                let needed = needed.map_or_else(|| "more than 2^64".into(), |n| n.to_string());
                return Err(Error::invalid(name, format!("has {found} elements, {needed} are needed")));
            }
        }
        Ok(chain)
    }

    /// Calls `run` with the environments at bonds k and k + sites, and with the operator's terms at the sites between
    /// them. Returns the exponent of the result, if `run` returns one.
    fn between<T: Scalar, R>(
        &mut self,
        ops: &Ops,
        chain: &Chain<'_>,
        (k, sites): (usize, usize),
        run: R,
    ) -> Result<Option<i64>>
    where
        R: FnOnce(&mut Work, &Stored<T>, &[Gather], &Stored<T>) -> Result<Option<i64>> + Send,
    {
        if (self.valid[0] < k || self.valid[1] > k + sites) && ops.is_captured()? {
            let problem =
                format!("stream: is being captured, and environments at bonds {k} and {} are missing", k + sites);
            return Err(Error::NotSupported(problem));
        }
        self.extend::<T>(ops, chain, Side::Left, k)?;
        self.extend::<T>(ops, chain, Side::Right, k + sites)?;
        let group = self.group();
        let Some(Store { left, right, work, .. }) = self.store.downcast_mut::<Store<T>>() else {
            return Err(wrong_type::<T>("v", self.dtype));
        };
        let (Some(left), Some(right)) = (&left[k], &right[k + sites]) else {
            return Err(Error::Internal(format!("no environments at bonds {k} and {}", k + sites)));
        };
        let gathers = gathers(chain, &self.slots, k, sites)?;
        let beside = self.context.pool().run(|| run(work, left, &gathers, right))?;
        Ok(beside.map(|beside| left.held.exponent[group] + right.held.exponent[group] + beside))
    }
}

/// The operator's terms at `sites` sites from k on, not scaled.
fn gathers(chain: &Chain<'_>, slots: &Slots, k: usize, sites: usize) -> Result<Vec<Gather>> {
    let mut gathers = alloc::with_capacity("operators of sites", sites)?;
    for t in k..k + sites {
        gathers.push(chain.gather_within(t, slots, false, None)?);
    }
    Ok(gathers)
}
