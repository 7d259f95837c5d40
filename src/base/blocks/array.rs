//! Shape of an array that is read or written in blocks, and the blocks.

use super::number::Number;
use crate::error::{Error, Result};

/// Most axes of such an array.
pub const MAX_AXES: usize = 4;

/// An array outside of purlin: its element type, and its axes, fastest first.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayInfo {
    /// Type of the elements, as stored in a file.
    pub number: Number,
    /// Sizes of the axes, fastest first.
    pub dims: Vec<usize>,
    /// Distance of two elements along each axis, mm; `None` if unknown.
    pub spacing: Option<Vec<f64>>,
    /// Position of the first element, mm; `None` if unknown.
    pub origin: Option<Vec<f64>>,
}

impl ArrayInfo {
    /// An array without spacing and origin.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no or more than [`MAX_AXES`] axes, or more than 2^63 bytes.
    pub fn new(number: Number, dims: &[usize]) -> Result<Self> {
        if dims.is_empty() || dims.len() > MAX_AXES {
            return Err(Error::invalid("ndim", format!("is {}, outside 1 to {MAX_AXES}", dims.len())));
        }
        let bytes = dims.iter().try_fold(number.size(), |p, d| p.checked_mul(*d));
        if bytes.and_then(|b| isize::try_from(b).ok()).is_none() {
            return Err(Error::invalid("dims", format!("{dims:?} are more than 2^63 bytes")));
        }
        Ok(Self { number, dims: dims.to_vec(), spacing: None, origin: None })
    }

    /// Product of the sizes of all axes.
    pub fn elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// Bytes of all elements, packed.
    pub fn bytes(&self) -> usize {
        self.elements() * self.number.size()
    }

    /// Refuses other sizes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming `argument`.
    pub fn expect_dims(&self, argument: &str, dims: &[usize]) -> Result<()> {
        if self.dims == dims {
            return Ok(());
        }
        Err(Error::invalid(argument, format!("has dimensions {:?}, {dims:?} are needed", self.dims)))
    }
}

/// A box of an array: from `first`, `count` elements along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    axes: usize,
    first: [usize; MAX_AXES],
    count: [usize; MAX_AXES],
}

impl Block {
    /// The block with all elements of the array.
    pub fn whole(info: &ArrayInfo) -> Self {
        let mut block = Self { axes: info.dims.len(), first: [0; MAX_AXES], count: [1; MAX_AXES] };
        block.count[..info.dims.len()].copy_from_slice(&info.dims);
        block
    }

    /// The same box with `count` elements from `first` on along `axis`.
    #[must_use]
    pub fn along(mut self, axis: usize, first: usize, count: usize) -> Self {
        self.first[axis] = first;
        self.count[axis] = count;
        self
    }

    /// First element along each axis.
    pub fn first(&self) -> &[usize] {
        &self.first[..self.axes]
    }

    /// Elements along each axis, as many numbers as the array has axes.
    pub fn count(&self) -> &[usize] {
        &self.count[..self.axes]
    }

    /// Elements of the box: the product of [`Block::count`].
    pub fn elements(&self) -> usize {
        self.count().iter().product()
    }

    /// Refuses a box that does not lie in the array.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub fn check(&self, info: &ArrayInfo) -> Result<()> {
        let inside = self.axes == info.dims.len()
            && (0..self.axes).all(|a| self.first[a].checked_add(self.count[a]).is_some_and(|e| e <= info.dims[a]));
        if inside {
            return Ok(());
        }
        let (first, count) = (self.first(), self.count());
        Err(Error::Internal(format!("a block from {first:?} of {count:?} in an array of {:?}", info.dims)))
    }

    /// Calls `run(offset in the array, offset in the packed block, length)`, in elements, for every contiguous run of
    /// the box, in the order of the array.
    ///
    /// # Errors
    /// The first error of `run`, which ends the calls.
    pub fn for_runs(&self, dims: &[usize], mut run: impl FnMut(usize, usize, usize) -> Result<()>) -> Result<()> {
        if self.elements() == 0 {
            return Ok(());
        }
        // Leading axes that are read whole join into one run.
        let mut joined = 0;
        let mut length = self.count[0];
        while joined + 1 < self.axes && self.count[joined] == dims[joined] {
            joined += 1;
            length *= self.count[joined];
        }
        let mut strides = [1usize; MAX_AXES];
        for a in 1..self.axes {
            strides[a] = strides[a - 1] * dims[a - 1];
        }
        let base: usize = (0..self.axes).map(|a| self.first[a] * strides[a]).sum();
        let outer = joined + 1..self.axes;
        let runs: usize = outer.clone().map(|a| self.count[a]).product();
        for r in 0..runs {
            let (mut rest, mut place) = (r, base);
            for a in outer.clone() {
                place += rest % self.count[a] * strides[a];
                rest /= self.count[a];
            }
            run(place, r * length, length)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(dims: &[usize], block: Block) -> Vec<(usize, usize, usize)> {
        let mut found = Vec::new();
        block
            .for_runs(dims, |a, b, n| {
                found.push((a, b, n));
                Ok(())
            })
            .unwrap();
        found
    }

    #[test]
    fn whole_axes_join_into_one_run() {
        let info = ArrayInfo::new(Number::U8, &[4, 3, 5]).unwrap();
        let all = Block::whole(&info);
        assert_eq!(runs(&info.dims, all), [(0, 0, 60)]);
        assert_eq!(runs(&info.dims, all.along(2, 1, 2)), [(12, 0, 24)]);
        assert_eq!(runs(&info.dims, all.along(1, 1, 2).along(2, 3, 2)), [(40, 0, 8), (52, 8, 8)]);
        assert_eq!(runs(&info.dims, all.along(0, 2, 1).along(2, 0, 1)), [(2, 0, 1), (6, 1, 1), (10, 2, 1)]);
        assert!(runs(&info.dims, all.along(1, 0, 0)).is_empty());
    }

    #[test]
    fn boxes_outside_and_arrays_too_large_are_refused() {
        let info = ArrayInfo::new(Number::F32, &[4, 3]).unwrap();
        assert!(Block::whole(&info).along(1, 2, 2).check(&info).is_err());
        assert!(Block::whole(&info).along(1, usize::MAX, 2).check(&info).is_err());
        assert!(Block::whole(&info).check(&info).is_ok());
        assert!(ArrayInfo::new(Number::F64, &[1 << 40, 1 << 40]).is_err());
        assert!(ArrayInfo::new(Number::F64, &[]).is_err());
        assert!(ArrayInfo::new(Number::F64, &[1; 5]).is_err());
    }
}
