//! The shared library of an FMU.
//!
//! In:  the files of an FMU.
//! Out: an open library, in a folder of its own that is removed with it.
//!
//! **Invariant:** the library stays loaded as long as any of its functions can be called: whoever holds a function
//! holds the [`Binary`].
#![expect(
    unsafe_code,
    reason = "code of others cannot be checked: that it is an FMU is the user's word"
)]

use crate::archive::Archive;
use crate::description::Version;
use libloading::Library;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An open library.
#[derive(Debug)]
pub(crate) struct Binary {
    library: Option<Library>,
    folder: PathBuf,
}

/// Where the library for this platform is.
pub(crate) fn path_in_archive(version: Version, identifier: &str) -> String {
    let os = std::env::consts::OS;
    let ending = match os {
        "windows" => "dll",
        "macos" => "dylib",
        _ => "so",
    };
    let bits = if cfg!(target_pointer_width = "64") {
        "64"
    } else {
        "32"
    };
    let folder = match (version, os) {
        (Version::Two, "windows") => format!("win{bits}"),
        (Version::Two, "macos") => "darwin64".to_owned(),
        (Version::Two, _) => format!("linux{bits}"),
        (Version::Three, "macos") => format!("{}-darwin", std::env::consts::ARCH),
        (Version::Three, _) => format!("{}-{os}", std::env::consts::ARCH),
    };
    format!("binaries/{folder}/{identifier}.{ending}")
}

impl Binary {
    /// Unpacks an FMU and loads its library.
    ///
    /// # Errors
    ///
    /// Why it cannot be loaded.
    pub(crate) fn load(archive: &Archive, path: &str) -> Result<Binary, String> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("paynter-fmi-{}-{number}", std::process::id());
        let mut binary = Binary {
            library: None,
            folder: std::env::temp_dir().join(name),
        };
        unpack(archive, &binary.folder)
            .map_err(|e| format!("cannot be unpacked to {}: {e}", binary.folder.display()))?;
        // SAFETY: loading runs the initialisers of a library that the user has named; the module says what is risked.
        let library = unsafe { Library::new(binary.folder.join(path)) };
        binary.library = Some(library.map_err(|e| format!("its library cannot be loaded: {e}"))?);
        Ok(binary)
    }

    /// Gives a function.
    ///
    /// `F` must be the type that the standard gives to the function of this name.
    ///
    /// # Errors
    ///
    /// The library has no such function.
    pub(crate) fn function<F: Copy>(&self, name: &str) -> Result<F, String> {
        let library = self.library.as_ref().expect("a loaded library");
        // SAFETY: the types are those of the headers of the standard, and every holder of a function also holds
        // this library.
        let found = unsafe { library.get::<F>(name.as_bytes()) };
        match found {
            Ok(function) => Ok(*function),
            Err(_) => Err(format!("its library has no function `{name}`")),
        }
    }

    /// The folder of resources.
    pub(crate) fn resources(&self) -> PathBuf {
        self.folder.join("resources")
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        self.library = None;
        // What is left of it disturbs nobody.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn unpack(archive: &Archive, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("resources"))?;
    let wanted = |name: &str| name.starts_with("binaries/") || name.starts_with("resources/");
    for (name, content) in archive.files().filter(|(name, _)| wanted(name)) {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)?;
    }
    Ok(())
}

thread_local! {
    /// What the last calls of this thread reported.
    static REPORTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Longest text of messages that is kept; the first ones tell the cause.
const MAX_REPORT: usize = 2000;

/// Notes a message of an FMU.
pub(crate) fn note(message: *const c_char) {
    if message.is_null() {
        return;
    }
    // SAFETY: the standard says that the text ends with a zero and lives during the call.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    REPORTED.with_borrow_mut(|reported| {
        if reported.len() < MAX_REPORT {
            if !reported.is_empty() {
                reported.push_str("; ");
            }
            reported.push_str(text.trim());
        }
    });
}

/// Tells whether a text is exactly "%s".
pub(crate) fn is_plain_text_format(message: *const c_char) -> bool {
    // SAFETY: as in `note`.
    !message.is_null() && unsafe { CStr::from_ptr(message) } == c"%s"
}

/// Forgets what was reported before.
pub(crate) fn forget() {
    REPORTED.with_borrow_mut(String::clear);
}

/// Turns a status into a result: OK and Warning are good.
///
/// # Errors
///
/// The function, the status, and what the FMU reported.
pub(crate) fn check(function: &str, status: i32) -> Result<(), String> {
    let name = match status {
        0 | 1 => return Ok(()),
        2 => "Discard",
        3 => "Error",
        4 => "Fatal",
        5 => "Pending",
        _ => "a status that is none",
    };
    let reported = REPORTED.take();
    match reported.is_empty() {
        true => Err(format!("`{function}` gave {name}")),
        false => Err(format!("`{function}` gave {name}: {reported}")),
    }
}
