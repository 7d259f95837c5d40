//! [`super::Algebra`] on the GPU.
