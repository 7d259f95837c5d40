//! The methods on their own and through the session.

mod accuracy;
mod components;
mod edges;
mod estimates;
mod interrupted;
mod methods;
mod plain;
mod session;
mod streamed;
mod support;
