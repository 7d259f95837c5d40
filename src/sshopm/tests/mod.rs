mod all;
mod edges;
mod invariance;
mod products;
mod solve;
mod support;
