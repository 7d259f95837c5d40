//! What the kernels know of trains: their shapes and where their cores are.

use std::marker::PhantomData;

use super::{KeysParams, launch_plain};
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use crate::shape::{to_i64, to_u64};

/// A core of both trains: X is r x n x r', Y is s x n x s'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// r and r'.
    pub r: [usize; 2],
    /// s and s'.
    pub s: [usize; 2],
    /// n.
    pub n: usize,
}

/// The cores of trains of one shape, in device memory.
pub type Trains<'a> = [Vec<Region<'a>>];

/// Tables of numbers that kernels read, one after another.
const WHAT: &str = "tables of tensor trains";

/// Shapes and addresses of the trains of one contraction or of many, in device memory.
pub struct Tables<'a> {
    memory: DeviceMemory,
    sites: Vec<Site>,
    /// Trains of x and of y.
    counts: [usize; 2],
    items: usize,
    /// Largest numbers of the cores of x, then of y.
    keys: Option<DeviceMemory>,
    trains: PhantomData<Region<'a>>,
}

fn words(list: &mut Vec<i64>, value: i64) -> Result<()> {
    alloc::push(WHAT, list, value)
}

/// Two 32-bit numbers as a kernel reads them from 64 bits.
fn pair(what: &str, low: usize, high: usize) -> Result<i64> {
    Ok(i64::from(super::super::small(what, low)?) | (i64::from(super::super::small(what, high)?) << 32))
}

impl<'a> Tables<'a> {
    /// Tables for products of trains of `x` with trains of `y`: those that `items` lists, by number. All trains of a side
    /// have the shapes in `sites`.
    ///
    /// # Errors
    /// [`Error::Internal`] for a core that is shorter than its shape; [`Error::InvalidArgument`] for one that is not
    /// aligned to an element; memory.
    pub fn new<T: Scalar>(
        gpu: &Gpu,
        stream: &GpuStream,
        sites: Vec<Site>,
        x: &Trains<'a>,
        y: &Trains<'a>,
        items: &[(usize, usize)],
    ) -> Result<Self> {
        let d = sites.len();
        let capacity = 5 * d + (x.len() + y.len()) * d + items.len() + 2;
        let mut list = alloc::with_capacity(WHAT, capacity)?;
        for site in &sites {
            words(&mut list, 0)?;
            words(&mut list, 0)?;
            words(&mut list, pair("rank", site.r[0], site.r[1])?)?;
            words(&mut list, pair("rank", site.s[0], site.s[1])?)?;
            words(&mut list, pair("mode size", site.n, 0)?)?;
        }
        for (name, trains, is_x) in [("x", x, true), ("y", y, false)] {
            for train in trains {
                if train.len() != d {
                    return Err(Error::Internal(format!("{name}: {} cores, {d} sites", train.len())));
                }
                for (core, site) in train.iter().zip(&sites) {
                    let address = core.array(name, size(site, is_x)?, size_of::<T>())?;
                    words(&mut list, i64::from_ne_bytes(address.to_ne_bytes()))?;
                }
            }
        }
        for side in 0..2 {
            let number = |j: usize| items.get(j).map_or(0, |i| if side == 0 { i.0 } else { i.1 });
            let count = if side == 0 { x.len() } else { y.len() };
            if (0..items.len()).any(|j| number(j) >= count) {
                return Err(Error::Internal(format!("a product of a train beyond {count}")));
            }
            for j in (0..items.len()).step_by(2) {
                words(&mut list, pair("train", number(j), number(j + 1))?)?;
            }
        }
        let memory = gpu.allocate_uninitialised_on(stream, WHAT, list.len() * 8)?;
        let mut tables =
            Self { memory, sites, counts: [x.len(), y.len()], items: items.len(), keys: None, trains: PhantomData };
        gpu.store_numbers(stream, &list, &mut tables.memory, 0)?;
        Ok(tables)
    }

    /// Finds the largest number of each core, for what is computed with care.
    pub fn measure<T: Scalar>(&mut self, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        if self.keys.is_some() {
            return Ok(());
        }
        let d = self.sites.len();
        let all = (self.counts[0] + self.counts[1]) * d;
        let keys = gpu.allocate_on(stream, "largest numbers of cores", all * 8)?;
        let mut sizes = alloc::with_capacity(WHAT, all)?;
        for (count, is_x) in [(self.counts[0], true), (self.counts[1], false)] {
            for _ in 0..count {
                for site in &self.sites {
                    sizes.push(to_i64(size(site, is_x)?));
                }
            }
        }
        let mut memory = gpu.allocate_uninitialised_on(stream, WHAT, all * 8)?;
        gpu.store_numbers(stream, &sizes, &mut memory, 0)?;
        let parameters = KeysParams {
            bases: self.base(0),
            sizes: memory.whole().array("sizes", all, 8)?,
            keys: keys.whole().array("keys", all, 8)?,
            count: to_i64(all),
        };
        let blocks = [16, u32::try_from(all.min(65_535)).unwrap_or(1), 1];
        // SAFETY: the addresses are those of cores that `new` checked, the arrays have an entry each.
        unsafe { launch_plain::<T, _>(gpu, stream, "keys", blocks, &parameters)? };
        self.keys = Some(keys);
        Ok(())
    }

    /// Number of cores.
    pub fn cores(&self) -> usize {
        self.sites.len()
    }

    /// The shapes.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Products in the list.
    pub fn items(&self) -> usize {
        self.items
    }

    fn at(&self, word: usize) -> u64 {
        self.memory.address() + to_u64(word * 8)
    }

    pub(super) fn shapes(&self) -> u64 {
        self.at(0)
    }

    /// Bases of the cores of x (side 0) or y (side 1).
    pub(super) fn base(&self, side: usize) -> u64 {
        let d = self.sites.len();
        self.at(5 * d + if side == 0 { 0 } else { self.counts[0] * d })
    }

    /// Numbers of the trains of a side.
    pub(super) fn index(&self, side: usize) -> u64 {
        let d = self.sites.len();
        self.at((5 + self.counts[0] + self.counts[1]) * d + if side == 0 { 0 } else { self.items.div_ceil(2) })
    }

    /// Keys of the cores of a side; 0 if they were not asked for.
    pub(super) fn keys(&self, side: usize) -> u64 {
        let offset = if side == 0 { 0 } else { self.counts[0] * self.sites.len() };
        self.keys.as_ref().map_or(0, |k| k.address() + to_u64(offset * 8))
    }
}

/// Elements of a core.
fn size(site: &Site, is_x: bool) -> Result<usize> {
    let [left, right] = if is_x { site.r } else { site.s };
    super::super::product("core", &[left, site.n, right])
}
