mod edges;
mod inputs;
mod passes;
mod plain;
mod runs;
