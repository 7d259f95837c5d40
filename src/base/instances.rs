//! Generic functions that are compiled in the crate that has them, once for each number type, instead of again in every
//! crate that calls them.
//!
//! A call goes through a table of function pointers, so it is for work on whole vectors and matrices.

/// Declares generic functions whose bodies are other functions with the same arguments, which are compiled here:
///
/// ```
/// use purlin_base::instances::compiled_here;
/// use purlin_base::scalar::{Real, Scalar};
///
/// compiled_here! {
///     /// The sum of all parts.
///     pub fn sum<T: Scalar>(numbers: &[T]) -> f64 = sum_of;
///
///     /// The largest number.
///     pub fn largest<T: Real>(numbers: &[T]) -> T = largest_of;
/// }
///
/// fn sum_of<T: Scalar>(numbers: &[T]) -> f64 {
///     numbers.iter().map(|x| x.re() + x.im()).sum()
/// }
///
/// fn largest_of<T: Real>(numbers: &[T]) -> T {
///     numbers.iter().fold(T::ZERO, |most, x| if *x > most { *x } else { most })
/// }
///
/// assert_eq!((sum(&[1.0f32, 2.0]), largest(&[1.0, 2.0])), (3.0, 2.0));
/// ```
///
/// The bound is `Scalar` or `Real`. A method names its type, `&self: Plan`, and its body by the type, `Plan::compute_of`.
/// Lifetimes that results share with arguments come first, `<'a, T: Scalar>`.
#[doc(hidden)]
#[macro_export]
macro_rules! __compiled_here {
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<$($life:lifetime,)* $t:ident: $bound:ident>(
            &$this:ident: $owner:ty, $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? = $($body:ident)::+;
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        #[inline]
        #[allow(clippy::too_many_arguments, reason = "those of the body")]
        $visibility fn $name<$($life,)* $t: $bound>(&$this, $($argument: $type),*) $(-> $result)? {
            $crate::__compiled_here!(@table $bound, ($($life)*), $t, (&$owner, $($type),*), ($($result)?), ($($body)::+));
            $crate::__compiled_here!(@choose $bound, $t)($this, $($argument),*)
        }
        $crate::__compiled_here! { $($rest)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<$($life:lifetime,)* $t:ident: $bound:ident>(
            &mut $this:ident: $owner:ty, $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? = $($body:ident)::+;
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        #[inline]
        #[allow(clippy::too_many_arguments, reason = "those of the body")]
        $visibility fn $name<$($life,)* $t: $bound>(&mut $this, $($argument: $type),*) $(-> $result)? {
            $crate::__compiled_here!(@table $bound, ($($life)*), $t, (&mut $owner, $($type),*), ($($result)?), ($($body)::+));
            $crate::__compiled_here!(@choose $bound, $t)($this, $($argument),*)
        }
        $crate::__compiled_here! { $($rest)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident<$($life:lifetime,)* $t:ident: $bound:ident>(
            $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? = $($body:ident)::+;
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        #[inline]
        #[allow(clippy::too_many_arguments, reason = "those of the body")]
        $visibility fn $name<$($life,)* $t: $bound>($($argument: $type),*) $(-> $result)? {
            $crate::__compiled_here!(@table $bound, ($($life)*), $t, ($($type),*), ($($result)?), ($($body)::+));
            $crate::__compiled_here!(@choose $bound, $t)($($argument),*)
        }
        $crate::__compiled_here! { $($rest)* }
    };
    (@table Scalar, ($($life:lifetime)*), $t:ident, ($($type:ty),*), ($($result:ty)?), ($($body:ident)::+)) => {
        struct Pointer;
        impl $crate::scalar::Generic for Pointer {
            type Of<$t: $crate::scalar::Scalar> = for<$($life),*> fn($($type),*) $(-> $result)?;
        }
        static EACH: $crate::scalar::Each<Pointer> = $crate::scalar::Each {
            f32: $($body)::+::<f32>,
            f64: $($body)::+::<f64>,
            cf32: $($body)::+::<$crate::real::Complex<f32>>,
            cf64: $($body)::+::<$crate::real::Complex<f64>>,
        };
    };
    (@table Real, ($($life:lifetime)*), $t:ident, ($($type:ty),*), ($($result:ty)?), ($($body:ident)::+)) => {
        struct Pointer;
        impl $crate::real::GenericReal for Pointer {
            type Of<$t: $crate::real::Real> = for<$($life),*> fn($($type),*) $(-> $result)?;
        }
        static EACH: $crate::real::EachReal<Pointer> =
            $crate::real::EachReal { f32: $($body)::+::<f32>, f64: $($body)::+::<f64> };
    };
    (@choose Scalar, $t:ident) => { <$t as $crate::scalar::Scalar>::of_each(&EACH) };
    (@choose Real, $t:ident) => { <$t as $crate::real::Real>::of_each_real(&EACH) };
}
pub use __compiled_here as compiled_here;
