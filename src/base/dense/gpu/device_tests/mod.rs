//! Tests that need a GPU: `cargo test -- --ignored`. Plain loops in double precision compute the expected results.

mod algebras;
mod columns;
mod factor;
mod host;
mod products;
mod resources;
mod singular;
