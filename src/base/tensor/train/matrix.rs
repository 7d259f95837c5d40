//! TT-matrices: trains whose modes are pairs of a row and a column index.
//!
//! `blocks.rs` and `matrix.rs` import each other: a matrix keeps the pattern of its blocks, which is found from its
//! elements.

use std::sync::{Arc, OnceLock};

use super::blocks::Sparsity;
use super::shape::Shape;
use super::storage::TensorTrain;
use crate::alloc;
use crate::error::{Error, Result};
use crate::shape::product;

/// A TT-matrix (matrix-product operator): core k is an array (w_k, m_k, n_k, w_{k+1}), first index fastest, of the left
/// bond, the row (bra, out) index, the column (ket, in) index and the right bond.
pub struct TrainMatrix {
    train: TensorTrain,
    rows: Vec<usize>,
    cols: Vec<usize>,
    /// Computed at the first request; dropped when a core may be written to.
    blocks: OnceLock<Arc<Sparsity>>,
}

impl TrainMatrix {
    /// The shape of the train behind a TT-matrix: its modes are m_k n_k.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the core, as for [`Shape::new`].
    pub fn shape_of(argument: &str, rows: &[usize], cols: &[usize], ranks: &[usize]) -> Result<Shape> {
        if rows.len() != cols.len() {
            let problem = format!("has {} row modes and {} column modes", rows.len(), cols.len());
            return Err(Error::invalid(argument, problem));
        }
        let mut modes = alloc::with_capacity("shape of a TT-matrix", rows.len())?;
        for (&m, &n) in rows.iter().zip(cols) {
            modes.push(product(argument, m, n)?);
        }
        Shape::new(argument, &modes, ranks)
    }

    /// A TT-matrix over a train with modes `rows[k] * cols[k]`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the core whose modes do not fit.
    pub fn new(argument: &str, train: TensorTrain, rows: &[usize], cols: &[usize]) -> Result<Self> {
        let modes = train.shape().modes();
        if rows.len() != modes.len() || cols.len() != modes.len() {
            let problem = format!("has {} cores, {} row and {} column modes", modes.len(), rows.len(), cols.len());
            return Err(Error::invalid(argument, problem));
        }
        if let Some(k) = (0..modes.len()).find(|&k| rows[k].checked_mul(cols[k]) != Some(modes[k])) {
            let problem =
                format!("core {k} has {} elements a bond pair, {} x {} are needed", modes[k], rows[k], cols[k]);
            return Err(Error::invalid(argument, problem));
        }
        let what = "shape of a TT-matrix";
        Ok(Self { rows: alloc::copied(what, rows)?, cols: alloc::copied(what, cols)?, train, blocks: OnceLock::new() })
    }

    /// The train with modes m_k n_k whose cores the matrix has.
    #[inline]
    pub fn train(&self) -> &TensorTrain {
        &self.train
    }

    /// The train behind it, to write cores to.
    pub fn train_mut(&mut self) -> &mut TensorTrain {
        self.blocks.take();
        &mut self.train
    }

    /// The nonzero blocks of the cores. For purlin's own memory they are found once. Borrowed cores are examined again
    /// at each call, because their owner may have changed them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a core that has not been set; [`Error::NotSupported`] for a matrix on a device;
    /// out of memory.
    pub fn blocks(&self, argument: &str) -> Result<Arc<Sparsity>> {
        if !self.train.memory(0).0.is_owned() {
            return Sparsity::new(argument, self).map(Arc::new);
        }
        if let Some(found) = self.blocks.get() {
            return Ok(Arc::clone(found));
        }
        let found = Arc::new(Sparsity::new(argument, self)?);
        Ok(Arc::clone(self.blocks.get_or_init(|| found)))
    }

    /// Row (bra, out) modes m_k.
    #[inline]
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Column (ket, in) modes n_k.
    #[inline]
    pub fn cols(&self) -> &[usize] {
        &self.cols
    }

    /// Shape of core k: w_k, m_k, n_k, w_{k+1}.
    #[inline]
    pub fn core(&self, k: usize) -> [usize; 4] {
        let [left, _, right] = self.train.shape().core(k);
        [left, self.rows[k], self.cols[k], right]
    }
}
