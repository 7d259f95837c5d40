mod solve;
mod support;
