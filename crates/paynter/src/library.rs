//! The domain library that travels inside the program.
//!
//! In:  `library/*.bond` of the source tree, read when the program is built.
//! Out: their texts by name: `use electrical: Resistor` finds `electrical` here.
//!
//! A new library file is one line in [`LIBRARY`].

/// Name and text of every library file, in alphabetical order.
pub const LIBRARY: &[(&str, &str)] = &[];

/// Gives the text of a library file.
pub fn text(name: &str) -> Option<&'static str> {
    LIBRARY.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
