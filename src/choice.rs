//! Conversion of the C interface's numbers to enums.

/// `from_code` of enums whose values count from 0: `numbered!(Name, First, Second, …)`, in the order of the values.
macro_rules! numbered {
    ($name:ident, $($variant:ident),+ $(,)?) => {
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

pub(crate) use numbered;

use crate::error::{Error, Result};

/// The one of `all` whose number is `code`; `all` are in the order of their numbers, which count from 0.
pub(crate) fn pick<T: Copy>(argument: &str, code: i32, all: &[T], number: impl Fn(T) -> i32) -> Result<T> {
    debug_assert!(all.iter().enumerate().all(|(at, &choice)| usize::try_from(number(choice)) == Ok(at)));
    all.iter()
        .copied()
        .find(|&choice| number(choice) == code)
        .ok_or_else(|| Error::invalid(argument, format!("is {code}, outside 0 to {}", all.len() - 1)))
}

#[cfg(test)]
mod tests {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Fruit {
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
}
