//! Packs the built page, `studio/dist`, into the program, so that nobody needs Node to run it.
//!
//! In:  the files below `studio/dist`.
//! Out: one table of (path, bytes) in `packed.rs`, in alphabetical order.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = here.join("../../studio/dist");
    let mut files = Vec::new();
    collect(&dist, &dist, &mut files);
    files.sort();
    let mut out = String::from("static PAGE: &[(&str, &[u8])] = &[\n");
    for (short, full) in files {
        let full = full.display().to_string();
        writeln!(out, "    ({short:?}, include_bytes!({full:?})),").expect("writing to a string");
    }
    out.push_str("];\n");
    let target = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("packed.rs");
    fs::write(target, out).expect("OUT_DIR is writable");
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo:rerun-if-changed={}", folder.display());
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let below = path.strip_prefix(root).expect("found below it");
            let name = below.to_string_lossy().replace('\\', "/");
            files.push((name, fs::canonicalize(&path).expect("it was just listed")));
        }
    }
}
