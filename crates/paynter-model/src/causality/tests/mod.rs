//! Facts about causality, on graphs built by hand.

mod builder;
mod oracle;
