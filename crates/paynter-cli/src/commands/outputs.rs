//! Writes the results of a command: tables, pictures, pages.
//!
//! In:  a path, what to write, and the files that the command reads.
//! Out: the whole file, or a message and whatever was there before.

use paynter::Design;
use paynter::draw::to_png;
use paynter::output::{self, Guard};
use paynter::table::{Table, meta_path};
use std::path::Path;

/// Endings of pictures.
pub const PICTURES: &[&str] = &["svg", "png"];

/// The ending of a file name in small letters.
pub fn ending(path: &Path) -> String {
    path.extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default()
}

/// Where results may go.
pub struct Outputs {
    guard: Guard,
}

impl Outputs {
    /// Anywhere but over what the model is made of.
    pub fn of(design: &Design) -> Outputs {
        Outputs {
            guard: design.guard(),
        }
    }

    /// Anywhere but over these files.
    pub fn beside<'a>(files: impl IntoIterator<Item = &'a Path>) -> Outputs {
        let guard = Guard::default();
        files
            .into_iter()
            .fold(Outputs { guard }, |outputs, file| outputs.and_keep(file))
    }

    /// Keeps another file.
    pub fn and_keep(mut self, path: &Path) -> Outputs {
        self.guard.keep(path);
        // A CSV is read with its units.
        self.guard.keep(&meta_path(path));
        self
    }

    /// Tells before the work begins whether its result can be written.
    ///
    /// # Errors
    ///
    /// Why not, with the name of the file.
    pub fn check(&self, path: &Path, endings: &[&str]) -> Result<(), String> {
        if !endings.contains(&ending(path).as_str()) && !is_device(path) {
            let known: Vec<String> = endings.iter().map(|e| format!(".{e}")).collect();
            let (last, others) = known.split_last().expect("every file has endings");
            let known = match others {
                [] => last.clone(),
                others => format!("{} or {last}", others.join(", ")),
            };
            return Err(format!("unknown ending of {}; use {known}", path.display()));
        }
        self.guard.check(path).map_err(|e| e.to_string())?;
        output::can_write(path).map_err(|e| e.to_string())
    }

    /// As [`Outputs::check`] for a table.
    ///
    /// # Errors
    ///
    /// As for [`Outputs::check`].
    pub fn check_table(&self, path: &Path) -> Result<(), String> {
        let guarded = [path, &meta_path(path)];
        for path in guarded {
            self.guard.check(path).map_err(|e| e.to_string())?;
        }
        Table::can_write(path).map_err(|e| e.to_string())
    }

    /// Tells whether a file whose name nobody typed may be written: not over one that somebody else made.
    ///
    /// # Errors
    ///
    /// As for [`Outputs::check`], or such a file is there; `option` chooses another name.
    pub fn check_unasked(&self, path: &Path, option: &str) -> Result<(), String> {
        if path.exists() && !is_ours(path) {
            return Err(format!(
                "{} already exists and was not made by paynter; choose another name with {option}",
                path.display()
            ));
        }
        self.check(path, &[&ending(path)])
    }

    /// Writes bytes; tells of a folder that was made for them.
    ///
    /// # Errors
    ///
    /// Why the file cannot be written, with its name.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        self.make_room(path)?;
        output::write_whole(path, bytes).map_err(|e| e.to_string())
    }

    /// Writes an SVG as .svg or .png.
    ///
    /// # Errors
    ///
    /// As for [`Outputs::write`], or another ending.
    pub fn write_svg(&self, path: &Path, svg: &str) -> Result<(), String> {
        self.check(path, PICTURES)?;
        match ending(path).as_str() {
            "png" => self.write(path, &to_png(svg).map_err(|e| e.to_string())?),
            _ => self.write(path, svg.as_bytes()),
        }
    }

    /// Writes a table as .csv, .parquet or .json.
    ///
    /// # Errors
    ///
    /// As for [`Outputs::write`], or another ending.
    pub fn write_table(&self, path: &Path, table: &Table) -> Result<(), String> {
        self.check_table(path)?;
        self.make_room(path)?;
        table.write(path).map_err(|e| e.to_string())
    }

    fn make_room(&self, path: &Path) -> Result<(), String> {
        self.guard.check(path).map_err(|e| e.to_string())?;
        if let Some(made) = output::make_folder(path).map_err(|e| e.to_string())? {
            crate::tell!("note: made the folder {}", made.display());
        }
        Ok(())
    }
}

fn is_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Tells whether paynter made a picture or page, by what it writes at the beginning of each.
fn is_ours(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(1000)]).into_owned();
    match ending(path).as_str() {
        "svg" => beginning.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\""),
        "c" | "h" => beginning.starts_with("/* ") && beginning.contains(": made by paynter "),
        "fmu" => beginning.starts_with("PK") && beginning.contains("generationTool=\"paynter "),
        _ => {
            beginning.starts_with("<!doctype html>")
                && beginning.contains("Content-Security-Policy")
        }
    }
}
