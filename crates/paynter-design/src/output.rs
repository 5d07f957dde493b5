//! Writes files whole or not at all; every file of the program is written here.
//!
//! In:  a path, all bytes of the file, and which files were read and must stay.
//! Out: the new file; or what was there before, and why it could not be written.
//!
//! The bytes go to a file beside, reach the disk, and take the name in one step. A full disk or a kill in
//! the middle leaves the old file as it was.
//!
//! **Invariant:** under the final name is the old file or the whole new one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why a file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file.
    pub file: String,
    /// What is wrong, in words.
    pub message: String,
}

impl FileError {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> Self {
        FileError {
            file: path.display().to_string(),
            message: message.into(),
        }
    }

    fn not_written(path: &Path, error: &io::Error) -> Self {
        FileError::new(path, format!("cannot be written: {error}"))
    }
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}

impl std::error::Error for FileError {}

/// Writes a file; one that is there is replaced, with its permissions.
///
/// # Errors
///
/// A missing folder, a write-protected file, a full disk. What was there is there still.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    Staged::new(path, bytes)?.put()
}

/// Writes a file that must not be there yet.
///
/// # Errors
///
/// As for [`write_whole`], or there is something of that name.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    Staged::new(path, bytes)?.put_new()
}

/// Tells whether [`write_whole`] will be able to write there, before hours are spent on what to write.
///
/// A folder that is missing is not a hindrance if it can be made. Leaves nothing behind.
///
/// # Errors
///
/// As for [`write_whole`], as far as it can be known.
pub fn can_write(path: &Path) -> Result<(), FileError> {
    let target = follow_links(path)?;
    if is_special(&target) {
        return Ok(());
    }
    existing(path, &target)?;
    let mut folder = folder_of(&target);
    while !folder.as_os_str().is_empty() && fs::symlink_metadata(folder).is_err() {
        folder = folder_of(folder);
    }
    let probe = beside(folder, "probe");
    let made = OpenOptions::new().write(true).create_new(true).open(&probe);
    made.map_err(|e| FileError::not_written(path, &e))?;
    let _ = fs::remove_file(&probe);
    Ok(())
}

/// Makes the folder of a file if there is none, and gives the topmost one that was made.
///
/// # Errors
///
/// A folder that cannot be made.
pub fn make_folder(path: &Path) -> Result<Option<PathBuf>, FileError> {
    let target = follow_links(path)?;
    let folder = folder_of(&target);
    if folder.as_os_str().is_empty() || folder.exists() {
        return Ok(None);
    }
    // The working folder is the empty path, which is said not to exist.
    let is_missing = |f: &&Path| !f.as_os_str().is_empty() && !f.exists();
    let missing = folder.ancestors().take_while(is_missing).last();
    let first = missing.unwrap_or(folder).to_owned();
    fs::create_dir_all(folder).map_err(|e| FileError::not_written(path, &e))?;
    Ok(Some(first))
}

/// Bytes on the disk that do not have their name yet.
pub struct Staged {
    /// As the user wrote it.
    asked: PathBuf,
    /// Where it goes: what `asked` is a link to, if it is one.
    target: PathBuf,
    /// None once it has its name, or where it was written to a device.
    temporary: Option<PathBuf>,
}

impl Staged {
    /// Writes bytes beside the file they are for.
    ///
    /// # Errors
    ///
    /// They cannot be written there.
    pub fn new(path: &Path, bytes: &[u8]) -> Result<Staged, FileError> {
        let target = follow_links(path)?;
        let fail = |e: io::Error| FileError::not_written(path, &e);
        let mut staged = Staged {
            asked: path.to_owned(),
            target,
            temporary: None,
        };
        if is_special(&staged.target) {
            let device = OpenOptions::new().write(true).open(&staged.target);
            device.and_then(|mut d| d.write_all(bytes)).map_err(fail)?;
            return Ok(staged);
        }

        let permissions = existing(path, &staged.target)?;

        let folder = folder_of(&staged.target);
        if !folder.as_os_str().is_empty() && !folder.exists() {
            let folder = folder.display();
            let message = format!("cannot be written: there is not a folder `{folder}`");
            return Err(FileError::new(path, message));
        }

        let name = staged.target.file_name().unwrap_or_default();
        let temporary = beside(folder, &name.to_string_lossy());
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        let file = made.map_err(fail)?;

        // From here on it is removed again unless it gets its name.
        staged.temporary = Some(temporary);
        fill(file, bytes, permissions).map_err(fail)?;
        Ok(staged)
    }

    /// Removes the file that this one is to replace, if there is one.
    pub fn remove_old(&self) -> Result<(), FileError> {
        match fs::remove_file(&self.target) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(FileError::not_written(&self.asked, &e))
            }
            _ => Ok(()),
        }
    }

    /// Gives the file its name, in the place of one that is there.
    pub fn put(mut self) -> Result<(), FileError> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.target)
                .map_err(|e| FileError::not_written(&self.asked, &e))?;
            self.temporary = None;
            sync_folder(folder_of(&self.target));
        }
        Ok(())
    }

    /// Gives the file its name if nothing has it.
    fn put_new(mut self) -> Result<(), FileError> {
        let Some(temporary) = &self.temporary else {
            return Ok(());
        };
        // A second name is only made where there is none, unlike a rename.
        match fs::hard_link(temporary, &self.target) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists || self.target.exists() => {
                return Err(FileError::new(&self.asked, "already exists"));
            }
            // Not every file system has second names.
            Err(_) => {
                fs::rename(temporary, &self.target)
                    .map_err(|e| FileError::not_written(&self.asked, &e))?;
                self.temporary = None;
            }
        }
        sync_folder(folder_of(&self.target));
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

fn fill(mut file: File, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    // Before the bytes: what nobody else may read is never readable for a while.
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

/// A new name in a folder, hidden where dots hide.
fn beside(folder: &Path, name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    // File systems end names at 255 bytes.
    let short: String = name.chars().take(50).collect();
    folder.join(format!(".{short}.paynter-{}-{n}.tmp", std::process::id()))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Where a chain of links ends; the file itself need not be there.
fn follow_links(path: &Path) -> Result<PathBuf, FileError> {
    // As many as Linux follows.
    const MOST_LINKS: usize = 40;
    let mut at = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&at) {
            Ok(to) => at = folder_of(&at).join(to),
            Err(_) => return Ok(at),
        }
    }
    Err(FileError::new(path, "is a link that leads back to itself"))
}

/// Devices and pipes are written to, not replaced.
fn is_special(target: &Path) -> bool {
    fs::metadata(target).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// The permissions of the file that would be replaced, if there is one.
fn existing(path: &Path, target: &Path) -> Result<Option<Permissions>, FileError> {
    let facts = match fs::metadata(target) {
        Ok(facts) => facts,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(FileError::not_written(path, &e)),
    };
    if facts.is_dir() {
        return Err(FileError::new(path, "is a folder"));
    }
    if facts.permissions().readonly() {
        return Err(FileError::new(path, "is write-protected"));
    }
    Ok(Some(facts.permissions()))
}

/// A new name is only safe from a power cut once its folder is on the disk.
fn sync_folder(folder: &Path) {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    // Not every system can open folders; the file itself is on the disk in any case.
    let _ = File::open(folder).and_then(|f| f.sync_all());
}

/// Files that no result is written over: what the present call reads.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    kept: Vec<PathBuf>,
}

impl Guard {
    /// Keeps a file.
    pub fn keep(&mut self, path: &Path) {
        self.kept.extend(identity(path));
    }

    /// Tells whether a result may be written there.
    ///
    /// # Errors
    ///
    /// A model that already exists, or a file that the call reads.
    pub fn check(&self, path: &Path) -> Result<(), FileError> {
        let own = identity(path);
        let is_model =
            |p: &Path| matches!(p.extension(), Some(e) if e.eq_ignore_ascii_case("bond"));
        if path.exists() && (is_model(path) || own.as_deref().is_some_and(is_model)) {
            let message = "is a model; results are never written over models";
            return Err(FileError::new(path, message));
        }
        if own.is_some_and(|own| self.kept.contains(&own)) {
            let message =
                "is read by the model, so results are not written over it; choose another name";
            return Err(FileError::new(path, message));
        }
        Ok(())
    }
}

/// One name for all spellings of a path.
fn identity(path: &Path) -> Option<PathBuf> {
    let target = follow_links(path).ok()?;
    if let Ok(found) = fs::canonicalize(&target) {
        return Some(found);
    }
    let folder = match folder_of(&target) {
        f if f.as_os_str().is_empty() => Path::new("."),
        f => f,
    };
    Some(fs::canonicalize(folder).ok()?.join(target.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that disappears with its value.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("paynter-output-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).expect("the temporary folder can be written");
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("made above").flatten();
            let mut names: Vec<String> = entries
                .map(|e| e.file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_replaced_and_nothing_stays_beside_it() {
        let folder = Folder::new("replace");
        let path = folder.0.join("a.csv");
        for text in ["one", "two"] {
            write_whole(&path, text.as_bytes()).expect("writable");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
        }
        assert!(write_new(&path, b"three").is_err());
        write_new(&folder.0.join("b.csv"), b"three").expect("not there yet");
        can_write(&folder.0.join("c/d/e.csv")).expect("the folder can be made");
        assert_eq!(folder.names(), ["a.csv", "b.csv"]);
    }

    #[test]
    fn a_missing_folder_is_made_only_when_asked() {
        let folder = Folder::new("missing");
        let path = folder.0.join("x/y/a.csv");
        let error = write_whole(&path, b"1").expect_err("there is not a folder");
        assert!(error.message.contains("there is not a folder"), "{error}");
        let made = make_folder(&path).expect("it can be made");
        assert_eq!(made, Some(folder.0.join("x")));
        assert_eq!(make_folder(&path), Ok(None));
        write_whole(&path, b"1").expect("writable");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_permissions_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("links");
        let (file, link) = (folder.0.join("file"), folder.0.join("link"));
        fs::write(&file, "old").expect("writable");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("it is ours");
        symlink("file", &link).expect("links can be made");
        write_whole(&link, b"new").expect("writable");
        assert_eq!(fs::read_to_string(&file).expect("there"), "new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        let mode = fs::metadata(&file).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);

        fs::set_permissions(&file, Permissions::from_mode(0o444)).expect("it is ours");
        let error = write_whole(&link, b"newer").expect_err("it is protected");
        assert_eq!(error.message, "is write-protected");
        assert_eq!(fs::read_to_string(&file).expect("there"), "new");

        let circle = folder.0.join("circle");
        symlink("circle", &circle).expect("links can be made");
        assert!(write_whole(&circle, b"1").is_err());
        assert_eq!(folder.names(), ["circle", "file", "link"]);
        write_whole(Path::new("/dev/null"), b"gone").expect("a device is written to");
    }

    #[test]
    fn what_is_read_is_never_written() {
        let folder = Folder::new("guard");
        let read = folder.0.join("ref.csv");
        fs::write(&read, "1").expect("writable");
        let mut guard = Guard::default();
        guard.keep(&read);
        let other_spelling = folder
            .0
            .join("../")
            .join(folder.0.file_name().expect("named"));
        assert!(guard.check(&other_spelling.join("./ref.csv")).is_err());
        let model = folder.0.join("old.BOND");
        fs::write(&model, "model M { }").expect("writable");
        assert!(guard.check(&model).is_err());
        // A derived model may be written where there is none.
        assert!(guard.check(&folder.0.join("new.bond")).is_ok());
        assert!(guard.check(&folder.0.join("other.csv")).is_ok());
    }
}
