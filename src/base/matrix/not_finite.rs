//! Errors of dense matrices with an entry that is not finite. They name its place in the caller's matrix, also where a
//! method works on the transpose.

use crate::blocks::number::{Number, decode};
use crate::error::Error;
use crate::scalar::{Complex, is_finite};

/// The error for entry (`row`, `column`) of `argument`, or of its transpose.
pub fn entry(argument: &str, (row, column): (usize, usize), is_transposed: bool, value: Complex<f64>) -> Error {
    let (row, column) = if is_transposed { (column, row) } else { (row, column) };
    let value = if value.re.is_finite() { value.im } else { value.re };
    Error::invalid(argument, format!("has {value} in row {row}, column {column} (from 0)"))
}

/// The error for an entry in `count` rows of `argument` from `first` on, or of its transpose, where the entry itself is
/// not known.
pub fn rows(argument: &str, first: usize, count: usize, is_transposed: bool) -> Error {
    let axis = if is_transposed { "column" } else { "row" };
    let lines = match count {
        0 | 1 => format!("{axis} {first}"),
        _ => format!("{axis}s {first} to {}", first + count - 1),
    };
    Error::invalid(argument, format!("has a number that is not finite in {lines} (from 0)"))
}

/// Line, place in the line and value of the first entry that is not finite. `lines` are the first elements of lines in
/// `bytes` and their lengths.
pub fn find(
    number: Number,
    bytes: &[u8],
    lines: impl Iterator<Item = (usize, usize)>,
) -> Option<(usize, usize, Complex<f64>)> {
    const PIECE: usize = 256;
    let (size, mut values) = (number.size(), [Complex::<f64>::default(); PIECE]);
    for (line, (first, length)) in lines.enumerate() {
        for from in (0..length).step_by(PIECE) {
            let count = PIECE.min(length - from);
            let begin = (first + from) * size;
            let found = &mut values[..count];
            decode(number, bytes.get(begin..begin + count * size)?, found);
            if let Some(at) = found.iter().position(|x| !is_finite(*x)) {
                return Some((line, from + at, found[at]));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_caller() {
        let nan = Complex::new(f64::NAN, 0.0);
        let text = |e: Error| e.to_string();
        assert_eq!(text(entry("a", (3, 70), false, nan)), "a: has NaN in row 3, column 70 (from 0)");
        assert_eq!(text(entry("x", (70, 3), true, nan)), "x: has NaN in row 3, column 70 (from 0)");
        let imaginary = Complex::new(1.0, f64::NEG_INFINITY);
        assert_eq!(text(entry("a", (0, 1), false, imaginary)), "a: has -inf in row 0, column 1 (from 0)");
        assert_eq!(text(rows("a", 4, 6, false)), "a: has a number that is not finite in rows 4 to 9 (from 0)");
        assert_eq!(text(rows("a", 4, 6, true)), "a: has a number that is not finite in columns 4 to 9 (from 0)");
        assert_eq!(text(rows("a", 4, 1, true)), "a: has a number that is not finite in column 4 (from 0)");
    }

    #[test]
    fn the_first_entry_is_found_behind_gaps_between_lines() {
        let mut numbers = vec![1.0f32; 3 * 700];
        numbers[690] = f32::NAN; // Between lines.
        numbers[2 * 700 + 300] = f32::INFINITY;
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let lines = || (0..3).map(|line| (line * 700, 600));
        let (line, at, value) = find(Number::F32, &bytes, lines()).unwrap();
        assert_eq!((line, at, value.re), (2, 300, f64::INFINITY));
        assert!(find(Number::F32, &bytes, lines().take(2)).is_none());
    }
}
