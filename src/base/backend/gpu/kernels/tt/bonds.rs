//! The kernels of `cuda/tt_bonds.cu`: how far the values of a bond lie apart in size.

use super::super::mirrors::{
    TtBondsParams, TtCarriedParams, TtGradedParams, TtLargestParams, TtNearParams, TtSpreadParams,
};
use super::super::{constants as c, size};
use super::sandwich::CoreKeys;
use crate::alloc;
use crate::backend::gpu::launch::{Grid, launch};
use crate::backend::gpu::{Gpu, GpuStream, Region};
use crate::error::{Error, Result};
use crate::scalar::DType;
use crate::shape::{to_i64, to_u64};

const WHAT: &str = "bonds of tensor trains";
/// Words of `purlin_tt_bond_core`, `purlin_tt_bond` and `purlin_tt_chain`.
const CORE: usize = size(c::TT_BOND_CORE_BYTES) / 8;
const BOND: usize = size(c::TT_BOND_BYTES) / 8;
const CHAIN: usize = size(c::TT_CHAIN_BYTES) / 8;
/// Most blocks beside each other in a core.
const BLOCKS: usize = 64;

/// Addresses of the cores, or their offsets in trains of one shape.
pub enum Cores<'r, 'a> {
    /// Each core of one train.
    Of(&'r [Region<'a>]),
    /// First elements of the cores in each of the trains, which lie in one piece each.
    In(&'r [usize]),
}

/// The cores and bonds to look at: those of several trains, or of one shape that many trains have.
#[derive(Default)]
pub struct Bonds {
    cores: Vec<i64>,
    bonds: Vec<i64>,
    /// The cores of each train.
    chains: Vec<i64>,
    /// Whether one of the trains is a ring.
    has_rings: bool,
    /// Keys of all rows and columns, and four more words for each core.
    keys: usize,
    /// Columns of the widest core.
    widest: usize,
}

impl Bonds {
    /// Adds the cores of a train with their (r, n, s), and the bonds between them. Products go through the cores of a ring
    /// `turns` times.
    ///
    /// # Errors
    /// [`Error::Internal`] for a core shorter than its shape; out of memory.
    pub fn add(&mut self, dtype: DType, shapes: &[[usize; 3]], cores: &Cores<'_, '_>, turns: usize) -> Result<()> {
        let parts = parts(dtype);
        let mut before: Option<usize> = None;
        let (first, number) = (self.keys, self.cores());
        for (k, &[r, n, s]) in shapes.iter().enumerate() {
            let elements = super::super::product("core", &[r, n, s])?;
            let absent = || Error::Internal(format!("core {k} of {} to look at", shapes.len()));
            let address = match cores {
                Cores::Of(regions) => {
                    let count = super::super::product("core", &[elements, parts])?;
                    regions.get(k).ok_or_else(absent)?.array("core", count, dtype.part_size())?
                }
                Cores::In(offsets) => {
                    to_u64(super::super::product("core", &[*offsets.get(k).ok_or_else(absent)?, dtype.size()])?)
                }
            };
            let (rows, columns) = (self.keys, self.keys + r);
            let more = columns + s;
            self.keys = more + 4;
            self.widest = self.widest.max(s);
            let address = i64::from_ne_bytes(address.to_ne_bytes());
            for word in [address, to_i64(r), to_i64(n), to_i64(s), to_i64(rows), to_i64(columns), to_i64(more)] {
                alloc::push(WHAT, &mut self.cores, word)?;
            }
            if let Some(before) = before {
                self.bond(before, rows, r)?;
            }
            before = Some(columns);
        }
        // The bond that closes a ring.
        if let (Some(last), Some(&[r, ..])) = (before, shapes.first()) {
            self.bond(last, first, r)?;
            self.has_rings |= r > 1;
            for word in [to_i64(number), to_i64(shapes.len()), i64::from(r > 1), to_i64(turns)] {
                alloc::push(WHAT, &mut self.chains, word)?;
            }
        }
        Ok(())
    }

    fn bond(&mut self, columns: usize, rows: usize, count: usize) -> Result<()> {
        if count > 1 {
            for word in [columns, rows, count] {
                alloc::push(WHAT, &mut self.bonds, to_i64(word))?;
            }
        }
        Ok(())
    }

    /// Whether a bond has more than one value.
    pub fn has_bonds(&self) -> bool {
        !self.bonds.is_empty()
    }

    /// The table of cores and bonds that the kernels read.
    ///
    /// # Errors
    /// Out of memory.
    pub fn table(&self) -> Result<Vec<i64>> {
        let mut list = alloc::with_capacity(WHAT, self.words())?;
        list.extend_from_slice(&self.cores);
        list.extend_from_slice(&self.bonds);
        list.extend_from_slice(&self.chains);
        Ok(list)
    }

    fn words(&self) -> usize {
        self.cores.len() + self.bonds.len() + self.chains.len()
    }

    /// Bytes of [`Bonds::table`]: cores, bonds and chains in words of 8.
    pub fn table_bytes(&self) -> usize {
        self.words() * 8
    }

    /// Bytes of the keys of one train of the shape.
    pub fn key_bytes(&self) -> usize {
        self.keys * 8
    }

    /// Enqueues the search for the keys of all rows and columns of all cores. The table is on the device, the keys are
    /// 0. `bases` are the addresses of the trains' first elements, in device memory, where [`Cores::In`] was added.
    ///
    /// # Errors
    /// [`Error::Internal`] for memory that is too short.
    pub fn keys(
        &self,
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        (table, keys): (Region<'_>, Region<'_>),
        bases: Option<Region<'_>>,
        trains: usize,
    ) -> Result<()> {
        let cores = self.cores.len() / CORE;
        let all = super::super::product("keys", &[trains, self.keys])?;
        let single = matches!(dtype, DType::F32 | DType::CF32);
        let parameters = TtBondsParams {
            cores: table.array("table", self.words(), 8)?,
            bases: bases.map(|bases| bases.array("bases", trains, 8)).transpose()?.unwrap_or(0),
            keys: keys.array("keys", all, 8)?,
            count: to_i64(cores),
            trains: to_i64(trains),
            stride: to_i64(self.keys),
            parts: to_i64(parts(dtype)),
        };
        let name = if single { "purlin_tt_bonds_f32" } else { "purlin_tt_bonds_f64" };
        let threads = c::TT_BONDS_THREADS.unsigned_abs();
        let beside = self.widest.div_ceil(size(c::TT_BONDS_COLUMNS)).clamp(1, BLOCKS);
        let below = super::super::product("cores", &[cores, trains])?.clamp(1, 65_535);
        let blocks = [u32::try_from(beside).unwrap_or(1), u32::try_from(below).unwrap_or(1), 1];
        // SAFETY: the cores were checked when they were added, those in trains by the caller who made their bases; the keys
        // hold all rows and columns of all trains.
        unsafe { launch(&gpu.kernel("tt_bonds", name)?, stream, Grid { blocks, threads, shared: 0 }, &parameters) }
    }

    /// Enqueues the look at the bonds: NaN goes to number j `to_stride` of `to` for a train j, one of whose bonds has
    /// values that lie more than `limit` powers of two apart. Otherwise as [`Bonds::keys`].
    ///
    /// # Errors
    /// [`Error::Internal`] for memory that is too short.
    #[expect(clippy::too_many_arguments, reason = "each is a part of one launch")]
    pub fn look(
        &self,
        dtype: DType,
        gpu: &Gpu,
        stream: &GpuStream,
        (table, keys): (Region<'_>, Region<'_>),
        bases: Option<Region<'_>>,
        trains: usize,
        limit: i64,
        (to, to_stride): (Region<'_>, usize),
    ) -> Result<()> {
        self.keys(dtype, gpu, stream, (table, keys), bases, trains)?;
        let bonds = self.bonds.len() / BOND;
        let table = table.array("table", self.words(), 8)?;
        let keys = keys.array("keys", super::super::product("keys", &[trains, self.keys])?, 8)?;
        let threads = c::TT_BONDS_THREADS.unsigned_abs();
        let numbers = super::super::product("results", &[trains.saturating_sub(1), to_stride])?.saturating_add(1);
        let parameters = TtSpreadParams {
            keys,
            bonds: table + to_u64(self.cores.len() * 8),
            to: to.array("results", numbers, 8)?,
            count: to_i64(bonds),
            trains: to_i64(trains),
            stride: to_i64(self.keys),
            to_stride: to_i64(to_stride),
            limit,
        };
        let blocks = super::super::product("bonds", &[bonds, trains])?.clamp(1, 1 << 16);
        let grid = Grid::row(u32::try_from(blocks).unwrap_or(1), threads, 0);
        // SAFETY: the bonds' keys are among those above, `to` has a number for each train.
        unsafe { launch(&gpu.kernel("tt_bonds", "purlin_tt_spread")?, stream, grid, &parameters) }
    }
}

impl Bonds {
    /// Cores that were added so far, of all trains.
    pub fn cores(&self) -> usize {
        self.cores.len() / CORE
    }

    /// After [`Bonds::look`]: enqueues the search for numbers that grow from core to core, to the same results. NaN
    /// goes to the same number of `wide` for a train one of whose cores has numbers 2^a apart below a largest of 2^b,
    /// with a beyond `apart` or a + |b| beyond `away`.
    ///
    /// # Errors
    /// [`Error::Internal`] for memory that is too short.
    #[expect(clippy::too_many_arguments, reason = "each is a part of one launch")]
    pub fn carried(
        &self,
        gpu: &Gpu,
        stream: &GpuStream,
        (table, keys): (Region<'_>, Region<'_>),
        trains: usize,
        limit: i64,
        (apart, away): (i64, i64),
        (to, to_stride): (Region<'_>, usize),
        wide: Region<'_>,
    ) -> Result<()> {
        let count = self.chains.len() / CHAIN;
        let cores = table.array("table", self.words(), 8)?;
        let numbers = super::super::product("results", &[trains.saturating_sub(1), to_stride])?.saturating_add(1);
        let parameters = TtCarriedParams {
            keys: keys.array("keys", super::super::product("keys", &[trains, self.keys])?, 8)?,
            cores,
            chains: cores + to_u64((self.cores.len() + self.bonds.len()) * 8),
            to: to.array("results", numbers, 8)?,
            wide: wide.array("results", numbers, 8)?,
            count: to_i64(count),
            trains: to_i64(trains),
            stride: to_i64(self.keys),
            to_stride: to_i64(to_stride),
            limit,
            apart,
            away,
        };
        let blocks = super::super::product("chains", &[count, trains])?.clamp(1, 1 << 16);
        let grid = Grid::row(u32::try_from(blocks).unwrap_or(1), c::TT_CARRIED_THREADS.unsigned_abs(), 0);
        // SAFETY: the chains' cores and their keys are among those of the table, `to` has a number for each train.
        unsafe { launch(&gpu.kernel("tt_bonds", "purlin_tt_carried")?, stream, grid, &parameters) }
    }

    /// Whether one of the trains that were added is a ring.
    pub fn has_rings(&self) -> bool {
        self.has_rings
    }

    /// After [`Bonds::look`]: NaN goes to number j `to_stride` of `to` for a train j that has a ring whose numbers may
    /// be more than 2^`half` apart at some bond.
    ///
    /// # Errors
    /// [`Error::Internal`] for memory that is too short.
    pub fn near(
        &self,
        gpu: &Gpu,
        stream: &GpuStream,
        (table, keys): (Region<'_>, Region<'_>),
        trains: usize,
        half: f64,
        (to, to_stride): (Region<'_>, usize),
    ) -> Result<()> {
        let count = self.chains.len() / CHAIN;
        let cores = table.array("table", self.words(), 8)?;
        let numbers = super::super::product("results", &[trains.saturating_sub(1), to_stride])?.saturating_add(1);
        let parameters = TtNearParams {
            keys: keys.array("keys", super::super::product("keys", &[trains, self.keys])?, 8)?,
            cores,
            chains: cores + to_u64((self.cores.len() + self.bonds.len()) * 8),
            to: to.array("results", numbers, 8)?,
            count: to_i64(count),
            trains: to_i64(trains),
            stride: to_i64(self.keys),
            to_stride: to_i64(to_stride),
            half,
        };
        let blocks = super::super::product("chains", &[count, trains])?.clamp(1, 1 << 16);
        let grid = Grid::row(u32::try_from(blocks).unwrap_or(1), c::TT_BONDS_THREADS.unsigned_abs(), 0);
        // SAFETY: the chains' cores and their keys are among those of the table, `to` has a number for each train.
        unsafe { launch(&gpu.kernel("tt_bonds", "purlin_tt_near")?, stream, grid, &parameters) }
    }

    /// After [`Bonds::look`] at one train of each shape, with its table and keys: enqueues the largest number of each
    /// core, in the order in which they were added, to numbers that are 0.
    ///
    /// # Errors
    /// [`Error::Internal`] for memory that is too short.
    pub fn peaks(
        &self,
        gpu: &Gpu,
        stream: &GpuStream,
        (table, keys): (Region<'_>, Region<'_>),
        to: Region<'_>,
    ) -> Result<()> {
        let parameters = TtLargestParams {
            keys: keys.array("keys", self.keys, 8)?,
            cores: table.array("table", self.cores.len(), 8)?,
            to: to.array("largest numbers", self.cores(), 8)?,
            count: to_i64(self.cores()),
        };
        let blocks = u32::try_from(self.cores().clamp(1, 1 << 16)).unwrap_or(1);
        let grid = Grid::row(blocks, c::TT_BONDS_THREADS.unsigned_abs(), 0);
        // SAFETY: the table has the cores, whose columns are among the keys; `to` has a number for each core.
        unsafe { launch(&gpu.kernel("tt_bonds", "purlin_tt_largest")?, stream, grid, &parameters) }
    }
}

/// Real numbers of an element.
fn parts(dtype: DType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}

/// Makes the first number of `to` NaN where a core of a train has an exponent beyond `one`, or the sums of two trains'
/// exponents up to some core are more than `apart` apart. The keys are those of `count` cores of each train in the
/// order of a sweep.
///
/// # Errors
/// [`Error::Internal`] for keys of another number of cores.
pub fn mark_graded(
    gpu: &Gpu,
    stream: &GpuStream,
    keys: CoreKeys,
    count: usize,
    (one, apart): (i64, i64),
    to: Region<'_>,
) -> Result<()> {
    let trains = keys.cores() / count.max(1);
    if trains * count != keys.cores() || !(1..=2).contains(&trains) {
        return Err(Error::Internal(format!("{} keys of trains of {count} cores", keys.cores())));
    }
    let (to, count, trains) = (to.array("results", 1, 8)?, to_i64(count), to_i64(trains));
    let parameters = TtGradedParams { keys: keys.address(), to, count, trains, one, apart };
    let kernel = gpu.kernel("tt_bonds", "purlin_tt_graded")?;
    // SAFETY: the keys are those of a search, as many as were counted; `to` was checked.
    unsafe { launch(&kernel, stream, Grid::row(1, 32, 0), &parameters) }
}
