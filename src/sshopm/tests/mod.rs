mod all;
mod solve;
mod support;
