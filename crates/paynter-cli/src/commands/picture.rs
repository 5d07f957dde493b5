//! Writes pictures as the ending of their file name says.

use paynter::draw::to_png;
use std::path::Path;

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
