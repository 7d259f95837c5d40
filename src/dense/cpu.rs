//! [`super::Algebra`] on the CPU.
