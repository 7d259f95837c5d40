mod solve;
mod all;
mod support;
