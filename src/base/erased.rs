//! Values whose type only their backend knows, so that methods above a backend are compiled once.

use std::any::{Any, type_name};

use crate::error::{Error, Result};

/// Any value, with the name of its type for messages.
pub trait Value: Any {
    /// The type's name with its path.
    fn type_name(&self) -> &'static str;
}

impl<M: Any> Value for M {
    fn type_name(&self) -> &'static str {
        type_name::<M>()
    }
}

/// `value` as an `M`.
///
/// # Errors
/// [`Error::InvalidArgument`] naming `argument`, its type and `M`, if it is of another type: another backend's, or that of
/// other numbers.
pub fn of<'v, M: Any>(argument: &str, value: &'v dyn Value) -> Result<&'v M> {
    let any: &dyn Any = value;
    any.downcast_ref().ok_or_else(|| mismatch::<M>(argument, value.type_name()))
}

/// `value` as an `M`, to be changed.
///
/// # Errors
/// As [`of`].
pub fn of_mut<'v, M: Any>(argument: &str, value: &'v mut dyn Value) -> Result<&'v mut M> {
    let found = (*value).type_name();
    let any: &mut dyn Any = value;
    any.downcast_mut().ok_or_else(|| mismatch::<M>(argument, found))
}

/// The `M` in a box.
///
/// # Errors
/// As [`of`].
pub fn into_inner<M: Any>(argument: &str, value: Box<dyn Value>) -> Result<M> {
    let found = (*value).type_name();
    let any: Box<dyn Any> = value;
    any.downcast().map(|value| *value).map_err(|_| mismatch::<M>(argument, found))
}

fn mismatch<M>(argument: &str, found: &str) -> Error {
    Error::invalid(argument, format!("is a {}, a {} is needed", without_paths(found), without_paths(type_name::<M>())))
}

/// A type's name without the modules in which it and its parameters are.
fn without_paths(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    for c in name.chars() {
        short.push(c);
        if short.ends_with("::") {
            let start = short.trim_end_matches("::").rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
            short.truncate(start.map_or(0, |at| at + 1));
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::memory::Budget;
    use crate::dense::cpu::matrix::CpuMatrix;
    use crate::dense::gpu::GpuMatrix;
    use crate::scalar::Complex;

    #[test]
    fn a_matrix_of_another_backend_is_refused_by_name() {
        let mut host = CpuMatrix::<f64>::zeros("x", 2, 3, &Budget::new(0)).unwrap();
        assert!(of::<CpuMatrix<f64>>("x", &host).is_ok() && of_mut::<CpuMatrix<f64>>("x", &mut host).is_ok());
        let needed = "is a CpuMatrix<f64>, a GpuMatrix<f64> is needed";
        let refused = Some(Error::invalid("x", needed));
        assert_eq!(of::<GpuMatrix<f64>>("x", &host).err(), refused);
        assert_eq!(of_mut::<GpuMatrix<f64>>("x", &mut host).err(), refused);
        assert_eq!(into_inner::<GpuMatrix<f64>>("x", Box::new(host)).err(), refused);
    }

    #[test]
    fn a_matrix_of_other_numbers_is_refused_by_name() {
        let host = CpuMatrix::<Complex<f32>>::zeros("x", 1, 1, &Budget::new(0)).unwrap();
        let refused = Error::invalid("x", "is a CpuMatrix<Complex<f32>>, a CpuMatrix<f64> is needed");
        assert_eq!(of::<CpuMatrix<f64>>("x", &host).err(), Some(refused));
    }

    #[test]
    fn paths_are_left_out_of_type_names() {
        assert_eq!(without_paths("f64"), "f64");
        assert_eq!(without_paths("a::b::M<(c::D, e::f::G<u8>)>"), "M<(D, G<u8>)>");
    }
}
