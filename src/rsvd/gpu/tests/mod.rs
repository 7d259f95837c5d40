//! The passes on a GPU against loops in double precision, wherever the data lie and however they are cut.

mod cases;
mod cuts;
mod oracle;
mod passes;
mod runs;
mod session;
mod survey;
mod tall;
