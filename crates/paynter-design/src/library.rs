//! The domain library and the gallery that travel inside the program.
//!
//! In:  `library/*.bond` and `gallery/*/` of the source tree, packed when the program is built.
//! Out: their texts by name: `use electrical: Resistor` finds `electrical` here.
//!
//! A new library file or gallery folder needs no line of code.

include!(concat!(env!("OUT_DIR"), "/packed.rs"));

/// Gives the text of a library file.
pub fn library(name: &str) -> Option<&'static str> {
    LIBRARY
        .iter()
        .find(|(n, _)| n.strip_suffix(".bond") == Some(name))
        .map(|(_, text)| *text)
}

/// Lists the names of the library files.
pub fn library_names() -> impl Iterator<Item = &'static str> {
    LIBRARY.iter().filter_map(|(n, _)| n.strip_suffix(".bond"))
}

/// Lists the gallery: name of the folder, then its files as (path below the folder, text).
pub fn gallery() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut folders: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for (path, text) in GALLERY {
        let Some((folder, below)) = path.split_once('/') else {
            continue;
        };
        match folders.last_mut() {
            Some((name, files)) if *name == folder => files.push((below, text)),
            _ => folders.push((folder, vec![(below, text)])),
        }
    }
    folders
}
