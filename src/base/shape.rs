//! Checked sizes: every product, offset and byte count of the library is checked here, once.

use crate::dtype::DType;
use crate::error::{Error, Result};

/// Largest number of dimensions of a tensor.
pub const MAX_RANK: usize = 32;

/// Dimensions and strides of an array, checked against overflow.
///
/// Strides are in elements and not negative. The extent is the number of elements between the first and one past the
/// last touched: for an n-by-m matrix with leading dimension ld that is `(m - 1) * ld + n`, not `ld * m`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    dims: Vec<usize>,
    strides: Vec<usize>,
    elements: usize,
    extent: usize,
}

/// Order in which packed storage runs through the dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The first index runs fastest, as in Fortran and MATLAB.
    ColumnMajor,
    /// The last index runs fastest, as in C and NumPy.
    RowMajor,
}

impl Layout {
    /// Packed storage of `dims` in `order`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more than [`MAX_RANK`] dimensions, and for an array of more than 2^63 bytes.
    pub fn packed(dims: &[usize], order: Order, dtype: DType) -> Result<Self> {
        let mut strides = vec![1usize; dims.len()];
        let mut step = 1usize;
        let mut set = |d: usize| -> Result<()> {
            strides[d] = step;
            // A zero dimension makes the array empty; its strides still have to be defined.
            step = step
                .checked_mul(dims[d].max(1))
                .ok_or_else(|| Error::invalid("dims", format!("{dims:?} has more elements than 2^63")))?;
            Ok(())
        };
        match order {
            Order::ColumnMajor => (0..dims.len()).try_for_each(&mut set)?,
            Order::RowMajor => (0..dims.len()).rev().try_for_each(&mut set)?,
        }
        Self::strided(dims, &strides, dtype)
    }

    /// Storage with the given strides, in elements.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more than [`MAX_RANK`] dimensions, and for an array that spans more than 2^63
    /// bytes; [`Error::Internal`] for another number of strides.
    pub fn strided(dims: &[usize], strides: &[usize], dtype: DType) -> Result<Self> {
        if dims.len() > MAX_RANK {
            return Err(Error::invalid("ndim", format!("is {}, more than {MAX_RANK}", dims.len())));
        }
        if dims.len() != strides.len() {
            return Err(Error::Internal(format!("{} dims with {} strides", dims.len(), strides.len())));
        }
        let too_large =
            || Error::invalid("dims", format!("{dims:?} with strides {strides:?} spans more than 2^63 bytes"));
        let empty = dims.contains(&0);
        let mut elements = 1usize;
        let mut last = 0usize;
        for (&d, &s) in dims.iter().zip(strides) {
            elements = elements.checked_mul(d.max(1)).ok_or_else(too_large)?;
            last = d.saturating_sub(1).checked_mul(s).and_then(|o| o.checked_add(last)).ok_or_else(too_large)?;
        }
        let (elements, extent) = if empty { (0, 0) } else { (elements, last.checked_add(1).ok_or_else(too_large)?) };
        let bytes = extent.max(elements).checked_mul(dtype.size()).ok_or_else(too_large)?;
        // A slice of more than isize::MAX bytes is undefined behaviour even if never read.
        if isize::try_from(bytes).is_err() {
            return Err(too_large());
        }
        Ok(Self { dims: dims.to_vec(), strides: strides.to_vec(), elements, extent })
    }

    /// Sizes of the dimensions, first index first.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Strides of the dimensions, in elements.
    #[inline]
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// Number of elements: the product of the dimensions.
    #[inline]
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Elements from the first touched to one past the last touched.
    #[inline]
    pub fn extent(&self) -> usize {
        self.extent
    }

    /// Whether the elements lie without gaps in the given order.
    pub fn is_packed(&self, order: Order) -> bool {
        let mut step = 1usize;
        let mut matches = |d: usize| {
            let fits = self.dims[d] <= 1 || self.strides[d] == step;
            step = step.saturating_mul(self.dims[d]);
            fits
        };
        self.elements == 0
            || match order {
                Order::ColumnMajor => (0..self.dims.len()).all(&mut matches),
                Order::RowMajor => (0..self.dims.len()).rev().all(&mut matches),
            }
    }

    /// Whether no two index tuples share an element. Outputs must be injective.
    pub fn is_injective(&self) -> bool {
        if self.elements <= 1 {
            return true;
        }
        let mut axes: Vec<(usize, usize)> =
            self.dims.iter().zip(&self.strides).filter(|(d, _)| **d > 1).map(|(d, s)| (*s, *d)).collect();
        axes.sort_unstable();
        let mut reach = 0usize;
        axes.iter().all(|&(stride, dim)| {
            let fits = stride > reach;
            reach += stride * (dim - 1);
            fits
        })
    }
}

/// Converts caller-given `int64_t` sizes.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `argument` and the first negative size.
pub fn sizes(argument: &str, values: &[i64]) -> Result<Vec<usize>> {
    values
        .iter()
        .enumerate()
        .map(|(k, &v)| {
            usize::try_from(v).map_err(|_| Error::invalid(argument, format!("element {k} is {v}, negative")))
        })
        .collect()
}

/// Converts one caller-given `int64_t` size of at least `least`.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `argument` for a smaller or negative size.
pub fn size(argument: &str, value: i64, least: i64) -> Result<usize> {
    if value < least {
        return Err(Error::invalid(argument, format!("is {value}, less than {least}")));
    }
    usize::try_from(value).map_err(|_| Error::invalid(argument, format!("is {value}, negative")))
}

/// As [`size`], for a number of elements of a list that the library keeps, of at most 8 bytes each.
///
/// # Errors
/// As [`size`], and [`Error::InvalidArgument`] for a list of more than 2^63 bytes.
pub fn length(argument: &str, value: i64, least: i64) -> Result<usize> {
    let count = size(argument, value, least)?;
    if value > i64::MAX / 8 { Err(too_large(&[(argument, count)])) } else { Ok(count) }
}

/// The error of an array of more than 2^63 bytes. Of the sizes that determine it, with their arguments' names, it names the
/// largest first.
pub fn too_large(sizes: &[(&str, usize)]) -> Error {
    let (largest, (argument, value)) =
        sizes.iter().enumerate().rev().max_by_key(|(_, (_, value))| *value).map_or((0, ("dims", 0)), |(k, s)| (k, *s));
    let others: Vec<_> = sizes
        .iter()
        .enumerate()
        .filter(|(k, _)| *k != largest)
        .map(|(_, (name, value))| format!("{name} = {value}"))
        .collect();
    let with = if others.is_empty() { String::new() } else { format!(" with {}", others.join(", ")) };
    Error::invalid(argument, format!("is {value},{with} more than 2^63 bytes"))
}

/// Converts a caller-given index of one of `count` things. Fortran and MATLAB, where indices count from 1, rewrite this
/// message for the arguments in their lists; `tests/header/tests/indices.rs` compares these with the calls of this function,
/// of [`index_in_list`] and of [`index_in_tuple`].
///
/// # Errors
/// [`Error::InvalidArgument`] for an index that is not there.
pub fn index(argument: &str, value: i64, count: usize) -> Result<usize> {
    within(value, count)
        .ok_or_else(|| Error::invalid(argument, format!("is {value}, outside 0 to {}", to_i64(count) - 1)))
}

/// [`index`] for element `k` of a list.
///
/// # Errors
/// As [`index`].
pub fn index_in_list(argument: &str, k: usize, value: i64, count: usize) -> Result<usize> {
    within(value, count)
        .ok_or_else(|| Error::invalid(argument, format!("element {k} is {value}, outside 0 to {}", to_i64(count) - 1)))
}

/// [`index`] for element `k` of tuple `t` in a list of them.
///
/// # Errors
/// As [`index`].
pub fn index_in_tuple(argument: &str, (t, k): (usize, usize), value: i64, count: usize) -> Result<usize> {
    within(value, count).ok_or_else(|| {
        Error::invalid(argument, format!("tuple {t}: element {k} is {value}, outside 0 to {}", to_i64(count) - 1))
    })
}

fn within(value: i64, count: usize) -> Option<usize> {
    usize::try_from(value).ok().filter(|&k| k < count)
}

/// `a * b` elements.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `argument` if the product overflows.
#[inline]
pub fn product(argument: &str, a: usize, b: usize) -> Result<usize> {
    a.checked_mul(b).ok_or_else(|| Error::invalid(argument, format!("{a} times {b} elements is more than 2^64")))
}

/// A size as the `int64_t` of the C interface. The conversion is exact, because no array exceeds `isize::MAX` bytes.
#[inline]
pub fn to_i64(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A size as the `u64` of messages and byte counts.
#[inline]
pub fn to_u64(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// An axis of a walk over the elements of N arrays of the same dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis<const N: usize> {
    /// Number of elements along the axis.
    pub count: usize,
    /// Stride in each array, in elements.
    pub steps: [usize; N],
}

/// The axes of a walk over all elements of N arrays with these dimensions and strides, by ascending stride in the first
/// array. Axes that lie one after another in every array are merged into one. The first axis is contiguous in every
/// array; where none is, it has one element. `None` if there are no elements.
pub fn merged_axes<const N: usize>(dims: &[usize], strides: [&[usize]; N]) -> Option<Vec<Axis<N>>> {
    if dims.contains(&0) {
        return None;
    }
    let axis = |k: usize| Axis { count: dims[k], steps: strides.map(|strides| strides[k]) };
    let mut axes: Vec<_> = (0..dims.len()).filter(|&k| dims[k] != 1).map(axis).collect();
    axes.sort_unstable_by_key(|axis| (axis.steps, axis.count));
    let mut merged = vec![Axis { count: 1, steps: [1; N] }];
    for axis in axes {
        match merged.last_mut() {
            Some(last) if axis.steps == last.steps.map(|step| step * last.count) => last.count *= axis.count,
            _ => merged.push(axis),
        }
    }
    Some(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_that_follow_one_another_in_all_arrays_are_merged() {
        let merged = |dims: &[usize], strides: [&[usize]; 2]| -> Option<Vec<(usize, [usize; 2])>> {
            Some(merged_axes(dims, strides)?.into_iter().map(|axis| (axis.count, axis.steps)).collect())
        };
        let all = |axes: &[(usize, [usize; 2])]| Some(axes.to_vec());
        assert_eq!(merged(&[2, 3, 4], [&[1, 2, 6], &[1, 2, 6]]), all(&[(24, [1, 1])]));
        // The second array has a gap behind each of its matrices.
        assert_eq!(merged(&[2, 3, 4], [&[1, 2, 6], &[1, 2, 7]]), all(&[(6, [1, 1]), (4, [6, 7])]));
        // Rows of one are columns of the other.
        assert_eq!(merged(&[2, 3], [&[3, 1], &[1, 2]]), all(&[(1, [1, 1]), (3, [1, 2]), (2, [3, 1])]));
        // Axes of one element do not separate others.
        assert_eq!(merged(&[2, 1, 3], [&[1, 99, 2], &[1, 7, 2]]), all(&[(6, [1, 1])]));
        assert_eq!(merged(&[], [&[], &[]]), all(&[(1, [1, 1])]));
        assert_eq!(merged(&[2, 0], [&[1, 2], &[1, 2]]), None);
    }

    #[test]
    fn the_last_column_has_n_elements_not_ld() {
        let l = Layout::strided(&[3, 2], &[1, 10], DType::F64).unwrap();
        assert_eq!((l.elements(), l.extent()), (6, 13));
    }

    #[test]
    fn packed_orders_differ_and_are_recognized() {
        let c = Layout::packed(&[2, 3, 4], Order::ColumnMajor, DType::F32).unwrap();
        let r = Layout::packed(&[2, 3, 4], Order::RowMajor, DType::F32).unwrap();
        assert_eq!(c.strides(), [1, 2, 6]);
        assert_eq!(r.strides(), [12, 4, 1]);
        assert!(c.is_packed(Order::ColumnMajor) && !c.is_packed(Order::RowMajor));
        assert!(r.is_packed(Order::RowMajor) && !r.is_packed(Order::ColumnMajor));
    }

    #[test]
    fn sizes_beyond_the_address_space_are_refused() {
        assert!(Layout::packed(&[1 << 40, 1 << 40], Order::ColumnMajor, DType::U8).is_err());
        assert!(Layout::packed(&[1 << 60, 8], Order::ColumnMajor, DType::F64).is_err());
        assert!(Layout::strided(&[2], &[usize::MAX], DType::U8).is_err());
    }

    #[test]
    fn sizes_that_are_too_large_are_named() {
        let text = |sizes: &[(&str, usize)]| too_large(sizes).to_string();
        assert_eq!(
            text(&[("rows", 3), ("cols", 1 << 62)]),
            "cols: is 4611686018427387904, with rows = 3 more than 2^63 bytes"
        );
        let both = [("rows", 1 << 40), ("cols", 1 << 40), ("ld", 2)];
        assert_eq!(text(&both), "rows: is 1099511627776, with cols = 1099511627776, ld = 2 more than 2^63 bytes");
        let problem = length("bins", i64::MAX, 1).unwrap_err().to_string();
        assert_eq!(problem, "bins: is 9223372036854775807, more than 2^63 bytes");
        assert_eq!(length("bins", i64::MAX / 8, 1), Ok(usize::MAX / 16));
        assert_eq!(length("bins", 0, 1).unwrap_err().to_string(), "bins: is 0, less than 1");
    }

    #[test]
    fn empty_arrays_touch_nothing() {
        let l = Layout::packed(&[0, 5], Order::ColumnMajor, DType::F32).unwrap();
        assert_eq!((l.elements(), l.extent()), (0, 0));
    }

    #[test]
    fn overlapping_strides_are_not_injective() {
        assert!(!Layout::strided(&[3, 3], &[1, 2], DType::F32).unwrap().is_injective());
        assert!(!Layout::strided(&[3], &[0], DType::F32).unwrap().is_injective());
        assert!(Layout::strided(&[3, 3], &[4, 1], DType::F32).unwrap().is_injective());
    }
}
