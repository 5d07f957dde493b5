//! The binary of an FMU: the C compiler of the user, if there is one.
//!
//! In:  the sources.
//! Out: a shared library for this platform, or why there is none.

use super::Version;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What came of it.
pub(super) enum Built {
    Library(Vec<u8>),
    None(String),
}

/// Folder and file ending of binaries for this platform.
pub(super) fn platform(version: Version) -> (String, &'static str) {
    let is_64 = cfg!(target_pointer_width = "64");
    let ending = match std::env::consts::OS {
        "windows" => "dll",
        "macos" => "dylib",
        _ => "so",
    };
    let folder = match (version, std::env::consts::OS) {
        (Version::Two, "windows") => format!("win{}", if is_64 { "64" } else { "32" }),
        (Version::Two, "macos") => "darwin64".to_owned(),
        (Version::Two, _) => format!("linux{}", if is_64 { "64" } else { "32" }),
        (Version::Three, os) => {
            let os = if os == "macos" { "darwin" } else { os };
            format!("{}-{os}", std::env::consts::ARCH)
        }
    };
    (folder, ending)
}

/// Compiles the sources with `CC`, or with `cc`.
///
/// # Errors
///
/// No folder can be made to work in.
pub(super) fn compile(prefix: &str, source: &str, header: &str) -> Result<Built, String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("paynter-fmu-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let problem = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(problem)?;
    let written = std::fs::write(folder.join(format!("{prefix}.c")), source)
        .and_then(|()| std::fs::write(folder.join(format!("{prefix}.h")), header));
    let built = written.map_err(problem).map(|()| run(&folder, prefix));
    // What is left of it disturbs nobody.
    let _ = std::fs::remove_dir_all(&folder);
    built
}

fn run(folder: &Path, prefix: &str) -> Built {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut words = compiler.split_whitespace();
    let Some(program) = words.next() else {
        return Built::None("CC is set to nothing".to_owned());
    };
    let library = folder.join("library");
    let flags = [
        "-std=c99",
        "-O2",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-o",
    ];

    let output = Command::new(program)
        .args(words)
        .args(flags)
        .arg(&library)
        .args([&format!("{prefix}.c"), "-lm"])
        .current_dir(folder)
        .output();
    match output {
        Err(error) => Built::None(format!("the C compiler `{program}` cannot be run: {error}")),
        Ok(output) if !output.status.success() => {
            let text = String::from_utf8_lossy(&output.stderr);
            let first: Vec<&str> = text.lines().take(4).collect();
            Built::None(format!(
                "the C compiler `{program}` failed: {}",
                first.join("\n")
            ))
        }
        Ok(_) => match std::fs::read(&library) {
            Ok(bytes) => Built::Library(bytes),
            Err(error) => Built::None(format!(
                "the C compiler `{program}` left no library: {error}"
            )),
        },
    }
}
