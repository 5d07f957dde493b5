//! Packs `library/*.bond` and the files of `gallery/*/` into the program.
//!
//! In:  the two folders at the root of the source tree.
//! Out: two tables of `include_str!` in `packed.rs`, in alphabetical order.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let mut out = String::new();
    table(
        &mut out,
        "LIBRARY",
        &files(&root.join("library"), &["bond"]),
    );
    table(
        &mut out,
        "GALLERY",
        &files(&root.join("gallery"), &["bond", "csv", "md"]),
    );
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("packed.rs");
    fs::write(target, out).expect("OUT_DIR is writable");
}

/// All files below a folder with one of the endings: (path below the folder, full path).
fn files(folder: &Path, endings: &[&str]) -> Vec<(String, PathBuf)> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        let Ok(entries) = fs::read_dir(&next) else {
            continue;
        };
        for path in entries.flatten().map(|e| e.path()) {
            if path.is_dir() {
                println!("cargo:rerun-if-changed={}", path.display());
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|e| endings.contains(&&*e.to_string_lossy()))
            {
                let below = path.strip_prefix(folder).expect("found below it");
                let name = below.to_string_lossy().replace('\\', "/");
                found.push((name, fs::canonicalize(&path).expect("it was just listed")));
            }
        }
    }
    found.sort();
    found
}

fn table(out: &mut String, name: &str, files: &[(String, PathBuf)]) {
    writeln!(out, "static {name}: &[(&str, &str)] = &[").expect("writing to a string");
    for (short, full) in files {
        let full = full.display().to_string();
        writeln!(out, "    ({short:?}, include_str!({full:?})),").expect("writing to a string");
    }
    writeln!(out, "];").expect("writing to a string");
}
