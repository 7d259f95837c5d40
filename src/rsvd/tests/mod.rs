//! The methods on their own and through the session.

mod methods;
mod plain;
mod support;
