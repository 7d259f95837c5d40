//! Contractions against plain statements of them.

mod support;
mod values;
