//! `paynter new`: a commented starter model, or a copy of a gallery model.

use crate::console::{OK, call_error};
use clap::Args;
use paynter::output::write_new;
use std::path::{Path, PathBuf};

/// What to start.
#[derive(Args)]
pub struct NewArgs {
    /// Name of the new model; a file NAME.bond is made
    name: String,
    /// Start from this gallery model (see `paynter gallery`)
    #[arg(long, value_name = "GALLERY")]
    from: Option<String>,
}

const STARTER: &str = include_str!("starter.bond");

/// Makes the file or folder; never writes over one that is there.
pub fn new(args: &NewArgs) -> u8 {
    let is_name = args.name.chars().next().is_some_and(char::is_alphabetic)
        && args
            .name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if !is_name {
        return call_error(format!(
            "`{}` cannot be a file name; use letters, digits, `_` and `-`",
            args.name
        ));
    }
    match &args.from {
        None => start(&PathBuf::from(format!("{}.bond", args.name)), STARTER),
        Some(from) => copy_gallery(from, Path::new(&args.name)),
    }
}

/// Copies a gallery folder, and beside it the folders that its models use.
fn copy_gallery(from: &str, folder: &Path) -> u8 {
    let gallery = paynter::library::gallery();
    if !gallery.iter().any(|(name, _)| *name == from) {
        let names: Vec<&str> = gallery.iter().map(|(name, _)| *name).collect();
        return call_error(format!(
            "the gallery has no `{from}`; it has {}",
            names.join(", ")
        ));
    }

    if folder.exists() {
        return call_error(format!("{} already exists", folder.display()));
    }
    let mut wanted = vec![from];
    let mut next = 0;
    while next < wanted.len() {
        let present = wanted[next];
        let files = gallery
            .iter()
            .filter(|(name, _)| *name == present)
            .flat_map(|(_, files)| files);
        for (_, text) in files {
            for (name, _) in &gallery {
                if text.contains(&format!("use \"../{name}/")) && !wanted.contains(name) {
                    wanted.push(name);
                }
            }
        }
        next += 1;
    }

    let unfinished = PathBuf::from(format!(
        ".{}.paynter-{}.tmp",
        folder.display(),
        std::process::id()
    ));
    let mut copies: Vec<(PathBuf, &str)> = Vec::new();
    for (name, files) in gallery.iter().filter(|(name, _)| wanted.contains(name)) {
        // Alone it lies in the new folder itself; with others, each in a folder of its own name.
        let target = match wanted.len() {
            1 => PathBuf::new(),
            _ => PathBuf::from(name),
        };
        files.iter().for_each(|(below, text)| {
            copies.push((target.join(below), *text));
        });
    }

    if let Err(message) = copy_all(&copies, folder, &unfinished) {
        let _ = std::fs::remove_dir_all(&unfinished);
        return call_error(message);
    }

    for (path, _) in &copies {
        if path.extension().is_some_and(|e| e == "bond") {
            crate::say!("made {}", folder.join(path).display());
        }
    }
    OK
}

/// Fills a folder of another name and gives it its own when all is there.
fn copy_all(copies: &[(PathBuf, &str)], folder: &Path, unfinished: &Path) -> Result<(), String> {
    let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    for (path, text) in copies {
        let path = unfinished.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| failed(parent, e))?;
        }
        write_new(&path, text.as_bytes()).map_err(|e| e.to_string())?;
    }
    std::fs::rename(unfinished, folder).map_err(|e| failed(folder, e))
}

fn start(path: &Path, text: &str) -> u8 {
    if let Err(error) = write_new(path, text.as_bytes()) {
        return call_error(error);
    }
    crate::say!(
        "made {}; try: paynter run {}",
        path.display(),
        path.display()
    );
    OK
}
