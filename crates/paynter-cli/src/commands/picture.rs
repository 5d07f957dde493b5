//! Writes pictures as the ending of their file name says.

use clap::ValueEnum;
use paynter::draw::{Theme, themed, to_png};
use std::path::Path;

/// The paper of a picture.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Paper {
    /// Follows the reader's screen (.svg); light elsewhere
    #[default]
    Auto,
    /// Light paper
    Light,
    /// Dark paper
    Dark,
}

impl Paper {
    /// Puts a picture on this paper.
    pub fn of(self, svg: &str) -> String {
        let theme = match self {
            Paper::Auto => Theme::Auto,
            Paper::Light => Theme::Light,
            Paper::Dark => Theme::Dark,
        };
        themed(svg, theme)
    }
}

/// The ending of a file name in small letters.
pub fn ending(path: &Path) -> String {
    path.extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default()
}

/// Writes bytes, making the folder if there is none.
///
/// # Errors
///
/// Why the file cannot be written, with its name.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("{}: cannot be written: {e}", path.display());
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    std::fs::write(path, bytes).map_err(fail)
}

/// Writes an SVG as .svg or .png.
///
/// # Errors
///
/// Another ending, or a file that cannot be written.
pub fn write_svg(path: &Path, svg: &str) -> Result<(), String> {
    match ending(path).as_str() {
        "svg" => write(path, svg.as_bytes()),
        "png" => write(path, &to_png(svg).map_err(|e| e.to_string())?),
        _ => Err(format!(
            "unknown ending of {}; use .svg or .png",
            path.display()
        )),
    }
}
