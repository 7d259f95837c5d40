//! Sources of more than two axes as matrices. All axes but the last are joined into one, for example the pixels of a
//! frame.

use super::streamed::SharedSource;
use crate::blocks::array::{ArrayInfo, Block};
use crate::blocks::regular::FileNumber;
use crate::blocks::source::Source;
use crate::error::{Error, Result};

/// A source as an array of two axes: all axes but the last joined, and the last.
pub struct Flattened {
    source: SharedSource,
    inner: ArrayInfo,
    info: ArrayInfo,
}

impl Flattened {
    /// The source with its axes joined.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a source of fewer than two axes; [`Error::Busy`] while a run reads it.
    pub fn new(argument: &str, source: SharedSource) -> Result<Self> {
        let inner = source.lock(argument)?.info().clone();
        let problem = || Error::invalid(argument, format!("has dimensions {:?}, at least two are needed", inner.dims));
        let (slow, joined) = inner.dims.split_last().ok_or_else(problem)?;
        if joined.is_empty() {
            return Err(problem());
        }
        let info = ArrayInfo::new(inner.number, &[joined.iter().product(), *slow])?;
        Ok(Self { source, inner, info })
    }
}

/// Splits the elements `first .. first + count` of the leading axes of `block`, whose sizes are `dims`, into boxes, and
/// calls `visit` for them in order.
fn split(
    dims: &[usize],
    block: Block,
    first: usize,
    count: usize,
    visit: &mut impl FnMut(Block) -> Result<()>,
) -> Result<()> {
    let Some((_, joined)) = dims.split_last().filter(|_| count > 0) else { return Ok(()) };
    let axis = joined.len();
    if axis == 0 {
        return visit(block.along(0, first, count));
    }
    let size: usize = joined.iter().product();
    let (at, within) = (first / size, first % size);
    let head = if within > 0 { count.min(size - within) } else { 0 };
    split(joined, block.along(axis, at, 1), within, head, visit)?;
    let (at, rest) = (at + usize::from(head > 0), count - head);
    let whole = rest / size;
    if whole > 0 {
        let all = joined.iter().enumerate().fold(block, |b, (a, d)| b.along(a, 0, *d));
        visit(all.along(axis, at, whole))?;
    }
    split(joined, block.along(axis, at + whole, 1), 0, rest % size, visit)
}

impl Source for Flattened {
    fn info(&self) -> &ArrayInfo {
        &self.info
    }

    fn read(&mut self, block: &Block, out: &mut [u8]) -> Result<()> {
        block.check(&self.info)?;
        let (&[first, from], &[count, slow]) = (block.first(), block.count()) else {
            return Err(Error::Internal("a block of a matrix without two axes".into()));
        };
        let mut source = self.source.lock("a")?;
        let last = self.inner.dims.len() - 1;
        let whole = Block::whole(&self.inner);
        if count == self.info.dims[0] {
            return source.read(&whole.along(last, from, slow), out);
        }
        let size = self.info.number.size();
        let mut rest = out;
        for at in from..from + slow {
            split(&self.inner.dims[..last], whole.along(last, at, 1), first, count, &mut |part| {
                let (head, tail) = std::mem::take(&mut rest).split_at_mut(part.elements() * size);
                rest = tail;
                source.read(&part, head)
            })?;
        }
        Ok(())
    }

    fn is_from_file(&self, file: FileNumber) -> bool {
        self.source.lock("a").is_ok_and(|source| source.is_from_file(file))
    }

    fn host_range(&self) -> Option<(u64, usize)> {
        self.source.lock("a").ok()?.host_range()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::number::Number;
    use crate::blocks::source::CallbackSource;

    /// Element (i, j, k, l) is its place in the array.
    fn source(dims: &'static [usize]) -> SharedSource {
        let info = ArrayInfo::new(Number::U16, dims).unwrap();
        let read = move |block: &Block, out: &mut [u8]| {
            let (mut k, size) = (0, 2);
            block.for_runs(dims, |place, _, length| {
                for e in place..place + length {
                    out[k..k + size].copy_from_slice(&u16::try_from(e).unwrap().to_ne_bytes());
                    k += size;
                }
                Ok(())
            })
        };
        SharedSource::new(Box::new(CallbackSource::new(info, Box::new(read))))
    }

    #[test]
    fn any_part_of_a_frame_is_read_in_order() {
        for dims in [&[3usize, 4, 5][..], &[2, 3, 2, 4], &[12, 5]] {
            let mut flat = Flattened::new("a", source(dims)).unwrap();
            let &[fast, slow] = &flat.info().dims[..] else { unreachable!() };
            for first in 0..=fast {
                for count in 0..=fast - first {
                    let block = Block::whole(flat.info()).along(0, first, count).along(1, 1, slow - 1);
                    let mut out = vec![0u8; 2 * block.elements()];
                    flat.read(&block, &mut out).unwrap();
                    let found: Vec<usize> =
                        out.chunks(2).map(|b| usize::from(u16::from_ne_bytes([b[0], b[1]]))).collect();
                    let want: Vec<usize> =
                        (1..slow).flat_map(|s| (first..first + count).map(move |f| f + fast * s)).collect();
                    assert_eq!(found, want, "{dims:?}, {first} + {count}");
                }
            }
        }
        assert!(Flattened::new("a", source(&[7])).is_err());
    }
}
