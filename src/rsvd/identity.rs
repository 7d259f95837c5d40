//! The properties of a run that its restart file is compared with.
//!
//! Compared are the size and the first bytes of the matrix, its sketch, and each option that the state depends on.
//! `sign`, `right`, `error` and `probes` act on the finished factors, `smallest_ratio` and `read_rate` on the choice of
//! the method alone, and `tolerance`, `one_pass`, `max_rank` and `block_columns` cannot be combined with a restart
//! file: a run that goes on may change them. So may threads, limits of memory, devices and the backend, which change
//! rounding errors alone.

use super::data::Resident;
use super::options::{Centering, IterationPrecision, Method, Options, Orthonormalization};
use super::plan::Plan;
use crate::choice::{ToC as _, word};
use crate::dense::sketch::Distribution;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scalar::{DType, Scalar as _, with_scalar};
use crate::shape::to_u64;

/// FNV-1a, 64 bits, continued from `hash`.
pub fn checksum(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Initial value of [`checksum`], the offset basis of FNV-1a.
pub const CHECKSUM_START: u64 = 0xcbf2_9ce4_8422_2325;

/// How a refusal shows the words of a property.
#[derive(Clone, Copy)]
enum PropertyFormat {
    /// As unsigned numbers.
    Number,
    /// As signed numbers, -1 for a default.
    Signed,
    /// By the words of a choice.
    Choice(fn(i32) -> Option<String>),
    /// By a sentence about the file for each of the values 0 and 1.
    Either([&'static str; 2]),
    /// Checksums, which are not shown: the sentence names the difference.
    Contents(&'static str),
}

/// Words of a run's properties in its restart file.
pub const PROPERTIES: usize = 20;

/// The properties of a run, in the order of [`Identity::words`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity([u64; PROPERTIES]);

macro_rules! words_of {
    ($choice:ty) => {
        PropertyFormat::Choice(|code| <$choice>::from_code("", code).ok().map(word))
    };
}

/// Name and appearance of each property. The names are those of the options.
const SHOWN: [(&str, PropertyFormat); PROPERTIES] = [
    ("number of rows", PropertyFormat::Number),
    ("number of columns", PropertyFormat::Number),
    ("dtype", PropertyFormat::Choice(|code| DType::from_code("", code).ok().map(|dtype| dtype.name().to_owned()))),
    ("orientation", PropertyFormat::Either([BY_ROWS, BY_COLUMNS])),
    ("method", words_of!(Method)),
    ("rank", PropertyFormat::Number),
    ("rank + oversampling", PropertyFormat::Number),
    ("power_iterations", PropertyFormat::Number),
    ("merge_width", PropertyFormat::Number),
    ("seed", PropertyFormat::Number),
    ("sketch", words_of!(Distribution)),
    ("orthonormalization", words_of!(Orthonormalization)),
    ("iteration_precision", words_of!(IterationPrecision)),
    ("center", words_of!(Centering)),
    ("scale", PropertyFormat::Number),
    ("block_rows", PropertyFormat::Number),
    ("resident_rows", PropertyFormat::Signed),
    ("given sketch", PropertyFormat::Either(["its sketch was drawn", "its sketch was given (omega)"])),
    ("numbers of the given sketch", PropertyFormat::Contents("its given sketch (omega) has other numbers")),
    ("data", PropertyFormat::Contents("its data, or their order in memory, differ in the first MiB")),
];

const BY_ROWS: &str = "its matrix is read in blocks of rows, this one's in blocks of columns: the order of a source decides \
                       (ROW_MAJOR, COLUMN_MAJOR)";
const BY_COLUMNS: &str = "its matrix is read in blocks of columns, this one's in blocks of rows: the order of a source decides \
                          (COLUMN_MAJOR, ROW_MAJOR)";

/// Place of the orientation. It is compared behind all other properties but the data, because `scale` and a given sketch
/// decide it, too. Where those and the size are equal, only the order of a source makes a difference.
const ORIENTATION: usize = 3;

/// Place of the checksum of the data, the last property.
const DATA: usize = PROPERTIES - 1;

impl Identity {
    /// The properties of a run of `plan`, but for its data.
    ///
    /// # Errors
    /// [`Error::Internal`] for a given sketch that is not in host memory.
    pub fn new(options: &Options, plan: &Plan, given: Option<&Matrix>) -> Result<Self> {
        let (rows, columns) = if plan.transposed { (plan.columns, plan.rows) } else { (plan.rows, plan.columns) };
        let resident = match options.resident_rows {
            Resident::Auto => u64::MAX,
            Resident::AtMost(rows) => to_u64(rows),
        };
        let is_merge = plan.method == Method::Merge;
        Ok(Self([
            to_u64(rows),
            to_u64(columns),
            code(plan.dtype.to_c()),
            u64::from(plan.transposed),
            code(plan.method.to_c()),
            to_u64(plan.rank),
            to_u64(plan.width),
            to_u64(plan.iterations),
            if is_merge { to_u64(plan.merge_width) } else { 0 },
            options.seed,
            code(options.sketch.to_c()),
            code(options.orthonormalization.to_c()),
            code(options.iteration_precision.to_c()),
            code(options.center.to_c()),
            u64::from(options.scale),
            to_u64(options.block_rows),
            resident,
            u64::from(given.is_some()),
            given.map_or(Ok(0), checksum_of)?,
            0,
        ]))
    }

    /// The same with the checksum of the data.
    #[must_use]
    pub fn with_data(mut self, checksum: u64) -> Self {
        self.0[DATA] = checksum;
        self
    }

    /// The words as they are in a file.
    pub fn words(&self) -> &[u64; PROPERTIES] {
        &self.0
    }

    /// The difference from the properties `found` in a file, in a sentence; `None` if there is none. The checksums of the
    /// data are compared only if `with_data`.
    pub fn difference(&self, found: &[u64], with_data: bool) -> Option<String> {
        let order = (0..DATA).filter(|&k| k != ORIENTATION).chain([ORIENTATION]).chain(with_data.then_some(DATA));
        let mut pairs = order.filter_map(|k| Some((SHOWN.get(k)?, (found.get(k)?, self.0.get(k)?))));
        pairs.find(|(_, (found, needed))| found != needed).map(|((name, shown), (&found, &needed))| {
            let values =
                |show: &dyn Fn(u64) -> String| format!("its {name} is {}, this one's {}", show(found), show(needed));
            match *shown {
                PropertyFormat::Number => values(&|word| word.to_string()),
                PropertyFormat::Signed => values(&|word| word.cast_signed().to_string()),
                PropertyFormat::Choice(name) => {
                    values(&|word| i32::try_from(word).ok().and_then(name).unwrap_or_else(|| word.to_string()))
                }
                PropertyFormat::Either([no, yes]) => if found == 0 { no } else { yes }.to_owned(),
                PropertyFormat::Contents(sentence) => sentence.to_owned(),
            }
        })
    }

    /// Whether the elements of the state are complex.
    pub fn is_complex(&self) -> bool {
        [DType::CF32, DType::CF64].iter().any(|t| code(t.to_c()) == self.0[2])
    }

    /// Whether means are subtracted from the data.
    pub fn is_centred(&self) -> bool {
        self.0[13] != code(Centering::None.to_c())
    }
}

/// The number of a choice as a word.
fn code(number: i32) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Checksum of the size and the entries of a sketch, column by column in double precision. It does not depend on the
/// order of the entries in memory.
fn checksum_of(sketch: &Matrix) -> Result<u64> {
    let dense = sketch.dense("omega")?;
    let &[row_stride, column_stride] = dense.layout.strides() else {
        return Err(Error::Internal("a matrix without two strides".into()));
    };
    let sizes = [sketch.rows(), sketch.cols()].map(|size| to_u64(size).to_le_bytes());
    let start = sizes.iter().fold(CHECKSUM_START, |sum, size| checksum(sum, size));
    with_scalar!(sketch.dtype(), "omega", T => {
        let entries = dense.memory.host("omega")?.as_slice::<T>()?;
        let places = (0..sketch.cols()).flat_map(|j| (0..sketch.rows()).map(move |i| i * row_stride + j * column_stride));
        Ok(places.map(|place| entries[place]).fold(start, |sum, x| {
            checksum(checksum(sum, &x.re().to_le_bytes()), &x.im().to_le_bytes())
        }))
    })
}
