//! The `paynter` command.
fn main() {}
