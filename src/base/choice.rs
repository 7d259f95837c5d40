//! Options and reports: their defaults, and the C interface's numbers for their values.

/// `from_code` of enums whose values count from 0: `numbered!(Name, First, Second, …)`, in the order of the values. Fields
/// of such a type are converted by [`FromC`] and [`ToC`].
#[doc(hidden)]
#[macro_export]
macro_rules! __numbered {
    ($name:ident, $($variant:ident),+ $(,)?) => {
        impl $crate::choice::FromC<i32> for $name {
            fn from_c(argument: &str, value: i32) -> $crate::error::Result<Self> {
                Self::from_code(argument, value)
            }
        }

        impl $crate::choice::ToC<i32> for $name {
            fn to_c(&self) -> i32 {
                *self as i32
            }
        }

        impl $name {
            /// The choice whose number is `code`.
            ///
            /// # Errors
            /// [`InvalidArgument`](crate::error::Error::InvalidArgument) with the numbers that there are.
            pub fn from_code(argument: &str, code: i32) -> $crate::error::Result<Self> {
                $crate::choice::pick(argument, code, &[$(Self::$variant),+], |choice| choice as i32)
            }
        }
    };
}

pub use __numbered as numbered;

/// Reports have the numbers of these enums, and no option.
#[doc(hidden)]
#[macro_export]
macro_rules! __reported {
    ($name:ident) => {
        impl $crate::choice::ToC<i32> for $name {
            fn to_c(&self) -> i32 {
                *self as i32
            }
        }
    };
}

pub use __reported as reported;

/// A struct with the default of each field behind `=`, and its `Default`:
/// `with_defaults! { pub struct Options { /// k pub rank: usize = 0, } }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __with_defaults {
    ($(#[$of:meta])* pub struct $name:ident { $($(#[$field_of:meta])* pub $field:ident: $type:ty = $default:expr),+ $(,)? }) => {
        $(#[$of])*
        pub struct $name {
            $($(#[$field_of])* pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }
    };
}

pub use __with_defaults as with_defaults;

use crate::dtype::DType;
use crate::error::{Error, Result, real};
use crate::shape;

/// The word of a variant in messages, as in the name of its constant: `word(Method::RowFused)` is `ROW_FUSED`,
/// `word(Sign::VMax)` is `V_MAX`.
pub fn word(variant: impl std::fmt::Debug) -> String {
    let (name, mut word, mut before) = (format!("{variant:?}"), String::new(), ' ');
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins = letters.peek().is_some_and(|next| next.is_lowercase()) && before.is_uppercase();
        if letter.is_uppercase() && (before.is_lowercase() || before.is_numeric() || begins) {
            word.push('_');
        }
        word.push(letter.to_ascii_uppercase());
        before = letter;
    }
    word
}

/// The value of an option of any type, in messages and to compare with its default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer, or the number of a choice.
    Integer(i128),
    /// A real number, compared by its value.
    Real(f64),
}

macro_rules! integer_values {
    ($($type:ty),+) => {
        $(
            impl From<$type> for Value {
                fn from(value: $type) -> Self {
                    Self::Integer(value.into())
                }
            }
        )+
    };
}

integer_values!(bool, i32, i64, u64);

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Integer(value.to_c().into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{}", real(value)),
        }
    }
}

/// A value of an option, from the field `C` of a struct of the C interface.
pub trait FromC<C>: Sized {
    /// The value.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument), with the name `argument`, for a number that stands for no value.
    fn from_c(argument: &str, value: C) -> Result<Self>;
}

/// A value of an option or a report, as the field `C` of a struct of the C interface.
pub trait ToC<C> {
    /// The value of the field `C`.
    fn to_c(&self) -> C;
}

/// Types that are the same in C.
macro_rules! same {
    ($($type:ty),+) => {
        $(
            impl FromC<$type> for $type {
                fn from_c(_: &str, value: $type) -> Result<Self> {
                    Ok(value)
                }
            }

            impl ToC<$type> for $type {
                fn to_c(&self) -> $type {
                    *self
                }
            }
        )+
    };
}

same!(f64, i64, u64);

impl FromC<i32> for bool {
    fn from_c(argument: &str, value: i32) -> Result<Self> {
        match value {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::invalid(argument, format!("is {other}, 0 or 1 is needed"))),
        }
    }
}

impl ToC<i32> for bool {
    fn to_c(&self) -> i32 {
        i32::from(*self)
    }
}

impl FromC<i64> for usize {
    fn from_c(argument: &str, value: i64) -> Result<Self> {
        shape::size(argument, value, 0)
    }
}

impl ToC<i64> for usize {
    fn to_c(&self) -> i64 {
        shape::to_i64(*self)
    }
}

/// The numbers from 0 on; -1 is `None`.
impl FromC<i64> for Option<usize> {
    fn from_c(argument: &str, value: i64) -> Result<Self> {
        if value == -1 {
            return Ok(None);
        }
        shape::size(argument, value, -1).map(Some)
    }
}

impl ToC<i64> for Option<usize> {
    fn to_c(&self) -> i64 {
        self.map_or(-1, shape::to_i64)
    }
}

impl ToC<i32> for DType {
    fn to_c(&self) -> i32 {
        *self as i32
    }
}

/// The type of a computation; `None`, which is -1, for the type of the data.
impl FromC<i32> for Option<DType> {
    fn from_c(argument: &str, value: i32) -> Result<Self> {
        if value == -1 {
            return Ok(None);
        }
        DType::from_code(argument, value)?.expect_scalar(argument).map(Some)
    }
}

impl ToC<i32> for Option<DType> {
    fn to_c(&self) -> i32 {
        self.map_or(-1, |dtype| dtype as i32)
    }
}

impl FromC<i64> for u64 {
    fn from_c(argument: &str, value: i64) -> Result<Self> {
        Self::try_from(value).map_err(|_| Error::invalid(argument, format!("is {value}, less than 0")))
    }
}

impl ToC<i64> for u64 {
    fn to_c(&self) -> i64 {
        i64::try_from(*self).unwrap_or(i64::MAX)
    }
}

/// The one of `all` whose number is `code`; `all` are in the order of their numbers, which count from 0.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `argument` if none has this number.
pub fn pick<T: Copy>(argument: &str, code: i32, all: &[T], number: impl Fn(T) -> i32) -> Result<T> {
    debug_assert!(all.iter().enumerate().all(|(at, &choice)| usize::try_from(number(choice)) == Ok(at)));
    all.iter()
        .copied()
        .find(|&choice| number(choice) == code)
        .ok_or_else(|| Error::invalid(argument, format!("is {code}, outside 0 to {}", all.len() - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Fruit {
        Apple = 0,
        Pear = 1,
    }

    numbered!(Fruit, Apple, Pear);

    #[test]
    fn numbers_name_choices_and_other_numbers_are_refused_by_name() {
        assert_eq!(Fruit::from_code("fruit", 1).unwrap(), Fruit::Pear);
        for code in [-1, 2, i32::MIN] {
            let message = Fruit::from_code("fruit", code).unwrap_err().to_string();
            assert!(message.contains("fruit") && message.contains(&format!("is {code}, outside 0 to 1")), "{message}");
        }
    }

    #[test]
    fn fields_are_converted_to_c_and_back() {
        fn there_and_back<C: Copy, T: FromC<C> + ToC<C> + PartialEq + std::fmt::Debug>(value: T) {
            assert_eq!(T::from_c("x", value.to_c()).unwrap(), value);
        }
        there_and_back::<i32, _>(true);
        there_and_back::<i32, _>(Fruit::Pear);
        there_and_back::<i64, _>(7usize);
        there_and_back::<i64, _>(Some(7usize));
        there_and_back::<i64, _>(None::<usize>);
        there_and_back::<i64, _>(7u64);
        there_and_back::<f64, _>(0.5);
        assert_eq!((usize::MAX.to_c(), u64::MAX.to_c()), (i64::MAX, i64::MAX));
    }

    #[test]
    fn fields_that_stand_for_no_value_are_refused_by_name() {
        let refused = |result: Result<()>| result.unwrap_err().to_string();
        assert!(refused(bool::from_c("flag", 2).map(drop)).contains("flag: is 2, 0 or 1 is needed"));
        assert!(refused(usize::from_c("size", -1).map(drop)).contains("size: is -1, less than 0"));
        assert!(refused(Option::<usize>::from_c("size", -2).map(drop)).contains("size: is -2, less than -1"));
        assert!(refused(u64::from_c("limit", -1i64).map(drop)).contains("limit: is -1, less than 0"));
    }

    #[test]
    fn words_are_those_of_the_constants_and_integers_have_all_their_digits() {
        #[derive(Debug)]
        enum Of {
            Auto,
            RowFused,
            Cholesky2,
            ShiftedCholesky3,
            Tf32x3,
            UMax,
        }
        let words = [Of::Auto, Of::RowFused, Of::Cholesky2, Of::ShiftedCholesky3, Of::Tf32x3, Of::UMax].map(word);
        assert_eq!(words, ["AUTO", "ROW_FUSED", "CHOLESKY2", "SHIFTED_CHOLESKY3", "TF32X3", "U_MAX"]);
        let values = [Value::from(u64::MAX), Value::from(-1i32), Value::from(1i64 << 62), Value::from(1e-300)];
        let text = values.map(|v| v.to_string());
        assert_eq!(text, ["18446744073709551615", "-1", "4611686018427387904", "1e-300"]);
    }

    with_defaults! {
        #[derive(Debug, PartialEq)]
        pub struct Basket {
            pub fruit: Fruit = Fruit::Pear,
            pub count: usize = 3,
        }
    }

    #[test]
    fn defaults_stand_beside_the_fields() {
        assert_eq!(Basket::default(), Basket { fruit: Fruit::Pear, count: 3 });
    }
}
