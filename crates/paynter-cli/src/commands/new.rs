//! `paynter new`: a commented starter model, or a copy of a gallery model.

use crate::console::{OK, call_error};
use clap::Args;
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
        None => write_new(&PathBuf::from(format!("{}.bond", args.name)), STARTER),
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
        return call_error(format!("{} is there already", folder.display()));
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
    for (name, files) in gallery.iter().filter(|(name, _)| wanted.contains(name)) {
        // Alone it lies in the new folder itself; with others, each in a folder of its own name.
        let target = if wanted.len() == 1 {
            folder.to_owned()
        } else {
            folder.join(name)
        };
        for (below, text) in files {
            let path = target.join(below);
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            if let Err(error) = made.and_then(|()| std::fs::write(&path, text)) {
                return call_error(format!("{}: {error}", path.display()));
            }
            if path.extension().is_some_and(|e| e == "bond") {
                crate::say!("made {}", path.display());
            }
        }
    }
    OK
}

fn write_new(path: &Path, text: &str) -> u8 {
    if path.exists() {
        return call_error(format!("{} is there already", path.display()));
    }
    if let Err(error) = std::fs::write(path, text) {
        return call_error(format!("{}: {error}", path.display()));
    }
    crate::say!(
        "made {}; try: paynter run {}",
        path.display(),
        path.display()
    );
    OK
}
