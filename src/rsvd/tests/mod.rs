//! The methods on their own and through the session.

mod accuracy;
mod checksums;
mod choice;
mod components;
mod constants;
mod edges;
mod effects;
mod estimates;
mod far;
mod interrupted;
mod limits;
mod magnitudes;
mod memory;
mod methods;
mod no_iterations;
mod operators;
mod plain;
mod progress;
mod restart_files;
mod session;
mod signs;
mod spectra;
mod streamed;
mod support;
mod tables;
mod whitened;
