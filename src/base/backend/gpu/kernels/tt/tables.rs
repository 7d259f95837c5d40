//! Tables of trains for kernels: shapes, and addresses of cores.

use std::marker::PhantomData;

use super::super::mirrors::TtKeysParams;
use super::plain::launch_plain;
use super::result;
use super::sandwich::CoreKeys;
use crate::alloc;
use crate::backend::gpu::{DeviceMemory, Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

/// A core of both trains: X is r x n x r', Y is s x n x s'.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Left and right rank of X: r and r'.
    pub r: [usize; 2],
    /// Left and right rank of Y: s and s'.
    pub s: [usize; 2],
    /// Mode size n, the same in both.
    pub n: usize,
}

/// Where the cores of the trains of one side are, all of one shape.
#[derive(Clone, Copy)]
pub enum Places<'r, 'a> {
    /// Each core of each train.
    Cores(&'r [Vec<Region<'a>>]),
    /// Each train: its cores begin at the same elements of it as those of all the others.
    Trains(&'r [Region<'a>], &'r [usize]),
}

impl Places<'_, '_> {
    fn trains(&self) -> usize {
        match self {
            Self::Cores(trains) => trains.len(),
            Self::Trains(trains, _) => trains.len(),
        }
    }

    /// Bytes from the start of a train to core `k`; 0 where that core has an address of its own.
    fn offset(&self, dtype: DType, k: usize) -> Result<i64> {
        let Self::Trains(_, offsets) = self else { return Ok(0) };
        let bytes = offsets.get(k).and_then(|o| o.checked_mul(dtype.size()));
        bytes.map(to_i64).ok_or_else(|| Error::Internal(format!("core {k} of {} in a train", offsets.len())))
    }

    /// Bases of a train and of a core in the list of addresses.
    fn strides(&self, d: usize) -> (usize, usize) {
        match self {
            Self::Cores(_) => (d, 1),
            Self::Trains(..) => (1, 0),
        }
    }

    /// The addresses, if every core lies inside its memory.
    fn list(&self, dtype: DType, name: &str, sites: &[Site], is_x: bool, list: &mut Vec<i64>) -> Result<()> {
        let address = |a: u64| i64::from_ne_bytes(a.to_ne_bytes());
        match self {
            Self::Cores(trains) => {
                for train in *trains {
                    if train.len() != sites.len() {
                        return Err(Error::Internal(format!("{name}: {} cores, {} sites", train.len(), sites.len())));
                    }
                    for (core, site) in train.iter().zip(sites) {
                        words(list, address(core.array(name, size(site, is_x)?, dtype.size())?))?;
                    }
                }
            }
            Self::Trains(trains, offsets) => {
                let mut end = 0;
                for (&offset, site) in offsets.iter().zip(sites) {
                    let reach = offset.checked_add(size(site, is_x)?);
                    end = end.max(reach.ok_or_else(|| Error::Internal(format!("{name}: a core at {offset}")))?);
                }
                for train in *trains {
                    words(list, address(train.array(name, end, dtype.size())?))?;
                }
            }
        }
        Ok(())
    }
}

/// Tables of numbers that kernels read, one after another.
const WHAT: &str = "tables of tensor trains";

/// Shapes and addresses of the trains of one contraction or of many, in device memory.
pub struct Tables<'a> {
    address: u64,
    _memory: Option<DeviceMemory>,
    sites: Vec<Site>,
    /// Trains of x and of y.
    counts: [usize; 2],
    /// Bases of a train and of a core, for x and y.
    strides: [(usize, usize); 2],
    items: usize,
    /// Largest numbers of the cores of x, then of y.
    keys: Option<u64>,
    _keys: Option<DeviceMemory>,
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
    pub fn new(
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        sites: Vec<Site>,
        x: Places<'_, 'a>,
        y: Places<'_, 'a>,
        items: &[(usize, usize)],
    ) -> Result<Self> {
        let (list, counts, strides) = listed(dtype, &sites, x, y, items)?;
        let mut memory = gpu.allocate_uninitialized_on(stream, WHAT, list.len() * 8)?;
        gpu.store_numbers(stream, &list, &mut memory, 0)?;
        let (address, items) = (memory.address(), items.len());
        let memory = Some(memory);
        Ok(Self {
            address,
            _memory: memory,
            sites,
            counts,
            strides,
            items,
            keys: None,
            _keys: None,
            trains: PhantomData,
        })
    }

    /// Tables for the product of one train with another, given core by core, in memory of the caller; enqueued
    /// without a copy from the host, with the largest number of each core.
    ///
    /// # Errors
    /// As [`Tables::new`].
    pub fn enqueued(
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        sites: Vec<Site>,
        (x, y): (&[Vec<Region<'a>>], &[Vec<Region<'a>>]),
        space: Region<'a>,
    ) -> Result<Self> {
        let d = sites.len();
        let (list, counts, strides) = listed(dtype, &sites, Places::Cores(x), Places::Cores(y), &[(0, 0)])?;
        let (words, all) = (list.len() * 8, 2 * d * 8);
        result::store(gpu, stream, &list, space.part(0, words)?)?;
        let (sizes, keys) = (space.part(words, all)?, space.part(words + all, all)?);
        let mut elements = alloc::with_capacity(WHAT, 2 * d)?;
        for is_x in [true, false] {
            for site in &sites {
                elements.push(to_i64(size(site, is_x)?));
            }
        }
        result::store(gpu, stream, &elements, sizes)?;
        elements.fill(0);
        result::store(gpu, stream, &elements, keys)?;
        let address = space.part(0, words)?.array("tables", list.len(), 8)?;
        let key = keys.array("keys", 2 * d, 8)?;
        let mut tables = Self {
            address,
            _memory: None,
            sites,
            counts,
            strides,
            items: 1,
            keys: None,
            _keys: None,
            trains: PhantomData,
        };
        tables.find(dtype, gpu, stream, sizes, keys)?;
        tables.keys = Some(key);
        Ok(tables)
    }

    /// Bytes that [`Tables::enqueued`] needs for trains of `d` cores.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for sizes whose product overflows.
    pub fn enqueued_bytes(d: usize) -> Result<usize> {
        // Shapes, addresses and numbers of the trains; sizes and keys of the cores.
        super::super::product("cores", &[d, 11 * 8])?
            .checked_add(2 * 8)
            .ok_or_else(|| Error::invalid("cores", "are too many"))
    }

    /// Finds the largest number of each core, for the kernels that scale by it.
    ///
    /// # Errors
    /// [`Error::Internal`] for cores without addresses of their own; [`Error::OutOfMemory`];
    /// [`Error::OutOfDeviceMemory`]; as for every [launch](crate::backend::gpu::kernels#errors).
    pub fn measure(&mut self, dtype: DType, gpu: &Gpu, stream: &GpuStream) -> Result<()> {
        if self.keys.is_some() {
            return Ok(());
        }
        let d = self.sites.len();
        if self.strides != [(d, 1); 2] {
            return Err(Error::Internal("largest numbers of cores without addresses of their own".into()));
        }
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
        let mut memory = gpu.allocate_uninitialized_on(stream, WHAT, all * 8)?;
        gpu.store_numbers(stream, &sizes, &mut memory, 0)?;
        self.find(dtype, gpu, stream, memory.whole(), keys.whole())?;
        self.keys = Some(keys.address());
        self._keys = Some(keys);
        Ok(())
    }

    /// Enqueues the search for the largest numbers of all cores, whose `sizes` are given, to `keys`, which are 0.
    fn find(&self, dtype: DType, gpu: &Gpu, stream: &GpuStream, sizes: Region<'_>, keys: Region<'_>) -> Result<()> {
        let all = (self.counts[0] + self.counts[1]) * self.sites.len();
        let parameters = TtKeysParams {
            bases: self.base(0),
            sizes: sizes.array("sizes", all, 8)?,
            keys: keys.array("keys", all, 8)?,
            count: to_i64(all),
        };
        let blocks = [16, u32::try_from(all.min(65_535)).unwrap_or(1), 1];
        // SAFETY: the addresses are those of cores that `listed` checked, the arrays have an entry each.
        unsafe { launch_plain(dtype, gpu, stream, "keys", blocks, &parameters) }
    }

    /// Number of cores, the same for each train.
    pub fn cores(&self) -> usize {
        self.sites.len()
    }

    /// Shapes of the cores, from left to right.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Products in the list: pairs of a train x and a train y.
    pub fn items(&self) -> usize {
        self.items
    }

    fn at(&self, word: usize) -> u64 {
        self.address + to_u64(word * 8)
    }

    pub(super) fn shapes(&self) -> u64 {
        self.at(0)
    }

    /// Bases of a train and of a core of a side in its list.
    pub(super) fn strides(&self, side: usize) -> (usize, usize) {
        self.strides[side]
    }

    /// Bases of the cores of x (side 0) or y (side 1).
    pub(super) fn base(&self, side: usize) -> u64 {
        let d = self.sites.len();
        self.at(5 * d + if side == 0 { 0 } else { self.counts[0] * self.strides[0].0 })
    }

    /// Numbers of the trains of a side.
    pub(super) fn index(&self, side: usize) -> u64 {
        let bases = self.counts[0] * self.strides[0].0 + self.counts[1] * self.strides[1].0;
        self.at(5 * self.sites.len() + bases + if side == 0 { 0 } else { self.items.div_ceil(2) })
    }

    /// Keys of the cores of a side; 0 if they were not asked for.
    /// The largest numbers of all cores of both trains, if they were looked for. Of one product.
    pub fn core_keys(&self) -> Option<CoreKeys> {
        self.keys.filter(|_| self.items == 1).map(|keys| CoreKeys::of(keys, 2 * self.sites.len()))
    }

    pub(super) fn keys(&self, side: usize) -> u64 {
        let offset = if side == 0 { 0 } else { self.counts[0] * self.sites.len() };
        self.keys.map_or(0, |k| k + to_u64(offset * 8))
    }
}

/// The table in the layout of the kernels, with the numbers of trains and the strides of both sides.
type Listed = (Vec<i64>, [usize; 2], [(usize, usize); 2]);

/// Makes the table of the kernels.
fn listed(
    dtype: DType,
    sites: &[Site],
    x: Places<'_, '_>,
    y: Places<'_, '_>,
    items: &[(usize, usize)],
) -> Result<Listed> {
    let d = sites.len();
    let counts = [x.trains(), y.trains()];
    let strides = [x.strides(d), y.strides(d)];
    let bases = counts[0] * strides[0].0 + counts[1] * strides[1].0;
    let capacity = 5 * d + bases + items.len() + 2;
    let mut list = alloc::with_capacity(WHAT, capacity)?;
    for (k, site) in sites.iter().enumerate() {
        words(&mut list, x.offset(dtype, k)?)?;
        words(&mut list, y.offset(dtype, k)?)?;
        words(&mut list, pair("rank", site.r[0], site.r[1])?)?;
        words(&mut list, pair("rank", site.s[0], site.s[1])?)?;
        words(&mut list, pair("mode size", site.n, 0)?)?;
    }
    x.list(dtype, "x", sites, true, &mut list)?;
    y.list(dtype, "y", sites, false, &mut list)?;
    for (side, &count) in counts.iter().enumerate() {
        let number = |j: usize| items.get(j).map_or(0, |i| if side == 0 { i.0 } else { i.1 });
        if (0..items.len()).any(|j| number(j) >= count) {
            return Err(Error::Internal(format!("a product of a train beyond {count}")));
        }
        for j in (0..items.len()).step_by(2) {
            words(&mut list, pair("train", number(j), number(j + 1))?)?;
        }
    }
    Ok((list, counts, strides))
}

/// Elements of X's core, or of Y's.
fn size(site: &Site, is_x: bool) -> Result<usize> {
    let [left, right] = if is_x { site.r } else { site.s };
    super::super::product("core", &[left, site.n, right])
}
