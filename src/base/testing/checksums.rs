//! Checksums of results, compared with recorded ones: a change of structure must leave every bit as it was.
//!
//! Each family has a list of named cases in `tests/checksums.rs`. The list runs with portable vector instructions on one
//! and on two threads, which must agree, and its checksums must be those of `tests/golden/checksums/FAMILY.txt`. Matrix
//! products use the instructions of the processor whatever the context's option says, so that file has a column for each
//! kind of processor. On a processor without a column, and for checksums that read `-`, only the threads are compared.
//!
//! A GPU's checksums are printed, and are compared with `FAMILY.txt` in the folder that `PURLIN_GPU_CHECKSUMS` names.
//! `PURLIN_BLESS=1` writes the files.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use crate::backend::BackendChoice;
use crate::backend::cpu::Isa;
use crate::context::{Context, Options};
use crate::error::{Error, Result};
use crate::scalar::Scalar;

/// The hash FNV-1a of 64 bits, over the numbers that are given to it.
#[derive(Debug, Clone, Copy)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// The hash of no numbers.
    pub fn new() -> Self {
        Self::default()
    }

    fn word(mut self, word: u64) -> Self {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        self
    }

    /// Adds floating-point numbers. Every NaN counts alike, because its bits are not specified.
    pub fn numbers<T: Scalar>(self, values: &[T]) -> Self {
        let bits = |part: f64| if part.is_nan() { u64::MAX } else { part.to_bits() };
        let start = self.word(values.len() as u64);
        values.iter().fold(start, |sum, v| {
            let sum = sum.word(bits(v.re()));
            if T::IS_COMPLEX { sum.word(bits(v.im())) } else { sum }
        })
    }

    /// Adds one number, as [`Checksum::numbers`] does.
    pub fn number(self, value: f64) -> Self {
        self.numbers(&[value])
    }

    /// Adds integers in their order.
    pub fn integers(self, values: impl IntoIterator<Item = u64>) -> Self {
        values.into_iter().fold(self, Self::word)
    }

    /// Adds the values of other checksums, in their order.
    pub fn all(self, sums: &[Self]) -> Self {
        self.integers(sums.iter().map(|sum| sum.0))
    }
}

/// Names and checksums in the order of the cases; a word in place of the checksum of a call that returns an error.
#[derive(Debug, Clone, Default)]
pub struct Cases(Vec<(String, String)>);

impl Cases {
    /// Adds a case. Of an error only its kind is recorded: texts may change.
    ///
    /// # Panics
    /// On errors that neither arguments nor numbers cause.
    pub fn add(&mut self, name: impl Into<String>, result: Result<Checksum>) {
        let name = name.into();
        let text = match result {
            Ok(sum) => format!("{:016x}", sum.0),
            Err(Error::InvalidArgument { .. } | Error::NotSupported(_)) => "refused".into(),
            Err(Error::Numerical(_)) => "numerical".into(),
            Err(e) => panic!("{name}: {e}"),
        };
        assert!(self.0.iter().all(|(other, _)| *other != name), "{name} twice");
        self.0.push((name, text));
    }
}

/// Processors whose matrix products round alike, in the order of the columns.
const PROCESSORS: [&str; 2] = ["avx512", "avx2"];

/// The column of this machine.
fn processor() -> Option<usize> {
    match Isa::detect() {
        Isa::Avx512 => Some(0),
        Isa::Avx2 => Some(1),
        Isa::Portable => None,
    }
}

/// One recorded case: its name and a text for each column.
type Line = (String, Vec<String>);

/// The lines of a file, without comments. Empty where there is no file.
fn read(path: &Path, columns: usize) -> Vec<Line> {
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            let sums = words.split_off(words.len() - columns);
            (words.join(" "), sums.into_iter().map(String::from).collect())
        })
        .collect()
}

/// Whether the run writes the files.
fn blesses() -> bool {
    std::env::var_os("PURLIN_BLESS").is_some()
}

/// Compares cases with column `at` of a file, or writes that column. Where a checksum changes, the other columns become
/// unknown.
fn compare(path: &Path, columns: &[&str], at: usize, cases: &Cases, writes: bool) {
    let old = read(path, columns.len());
    if writes {
        let mut text =
            format!("# Checksums of purlin's results, see docs/testing.md. Columns: {}.\n", columns.join(", "));
        for (name, sum) in &cases.0 {
            let same = |(other, sums): &&Line| other == name && (sums[at] == *sum || sums[at] == "-");
            let mut sums = old.iter().find(same).map_or(vec!["-".to_string(); columns.len()], |(_, sums)| sums.clone());
            sums[at].clone_from(sum);
            writeln!(text, "{name} {}", sums.join(" ")).unwrap();
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        return;
    }
    let names: Vec<&str> = cases.0.iter().map(|(name, _)| &name[..]).collect();
    let recorded: Vec<&str> = old.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(names, recorded, "{} has other cases", path.display());
    let wrong: Vec<String> = (cases.0.iter().zip(&old))
        .filter(|((_, sum), (_, sums))| sums[at] != "-" && *sum != sums[at])
        .map(|((name, sum), (_, sums))| format!("{name}: {sum}, not {}", sums[at]))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), names.len(), wrong.join("\n"));
}

fn cpu(threads: usize) -> Arc<Context> {
    let options = Options { backend: BackendChoice::Cpu, threads, isa: Some(Isa::Portable), ..Options::default() };
    Context::new(options).unwrap()
}

/// Runs the cases on the CPU.
pub fn on_cpu(family: &str, cases: impl Fn(&Arc<Context>, &mut Cases)) {
    let run = |threads: usize| {
        let mut sums = Cases::default();
        cases(&cpu(threads), &mut sums);
        sums
    };
    let one = run(1);
    let two = run(2);
    for ((name, one), (_, two)) in one.0.iter().zip(&two.0) {
        assert_eq!(one, two, "{name} depends on the number of threads");
    }
    let path = super::source(&format!("tests/golden/checksums/{family}.txt"));
    match processor() {
        Some(at) => compare(&path, &PROCESSORS, at, &one, blesses()),
        None => println!("{family}: no checksums are recorded for this processor"),
    }
}

/// Runs the cases on a GPU.
pub fn on_gpu(family: &str, cases: impl Fn(&Arc<Context>, &mut Cases)) {
    let options = Options { backend: BackendChoice::Cuda, threads: 2, ..Options::default() };
    let c = Context::new(options).unwrap();
    let mut sums = Cases::default();
    cases(&c, &mut sums);
    sums.0.iter().for_each(|(name, sum)| println!("{family}: {name} {sum}"));
    if let Some(folder) = std::env::var_os("PURLIN_GPU_CHECKSUMS") {
        compare(&Path::new(&folder).join(format!("{family}.txt")), &["gpu"], 0, &sums, blesses());
    }
}

/// The two tests of a family.
#[doc(hidden)]
#[macro_export]
macro_rules! __checksum_tests {
    ($family:literal, $cases:path) => {
        #[test]
        fn checksums_are_those_recorded() {
            $crate::testing::checksums::on_cpu($family, $cases);
        }

        #[test]
        #[ignore = "needs a GPU"]
        fn checksums_of_a_gpu_are_those_recorded() {
            $crate::testing::checksums::on_gpu($family, $cases);
        }
    };
}
pub use __checksum_tests as checksum_tests;

/// Numbers between -1 and 1 with 10 binary digits, as single precision holds them too.
pub fn value(k: usize) -> f64 {
    let mut x = (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    (x % 2049) as f64 / 1024.0 - 1.0
}

/// The same as any number type.
pub fn scalar<T: Scalar>(k: usize) -> T {
    T::from_parts(value(k), value(k + 1_000_003))
}

#[test]
fn changed_checksums_are_found_and_written() {
    let path = std::env::temp_dir().join(format!("purlin-checksums-{}.txt", std::process::id()));
    let of = |a: f64, b: f64| {
        let mut cases = Cases::default();
        cases.add("a case", Ok(Checksum::new().number(a)));
        cases.add("another", Ok(Checksum::new().numbers(&[b, f64::NAN])));
        cases.add("refused", Err(Error::invalid("x", "is wrong")));
        cases
    };
    let differs =
        |at: usize, cases: &Cases| std::panic::catch_unwind(|| compare(&path, &PROCESSORS, at, cases, false)).is_err();
    let (first, second) = (of(1.0, 2.0), of(1.0, -0.0));
    assert!(differs(0, &first), "no file");
    compare(&path, &PROCESSORS, 0, &first, true);
    compare(&path, &PROCESSORS, 1, &first, true);
    assert!(!differs(0, &first) && !differs(1, &first));
    assert!(differs(0, &second) && differs(1, &second) && differs(0, &of(1.0, 0.0)));
    // The other column of a case that changed is not known.
    compare(&path, &PROCESSORS, 0, &second, true);
    assert!(!differs(0, &second) && !differs(1, &first) && differs(1, &of(-1.0, 2.0)));
    assert_eq!(read(&path, 2)[1].1[1], "-");
    std::fs::remove_file(&path).unwrap();
}
