mod all;
mod continua;
mod edges;
mod goals;
mod invariance;
mod products;
mod solve;
mod support;
