//! Zip files.
//!
//! In:  bytes.
//! Out: the files in it, stored or deflated (PKWARE APPNOTE 6.3.3).
//!
//! **Invariant:** names are relative and lead to no folder above; sizes are those of the directory, and all files
//! together stay below [`MAX_BYTES`], whatever a file claims.

use flate2::read::DeflateDecoder;
use std::collections::BTreeMap;
use std::io::Read as _;

/// The largest contents that are unpacked. FMUs with data of their own have some hundred megabytes.
const MAX_BYTES: usize = 1 << 30;

/// A file that was unpacked.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    files: BTreeMap<String, Vec<u8>>,
}

impl Archive {
    /// Unpacks a zip file.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Archive, String> {
        let no_zip = || "is not a zip file".to_owned();
        let end = find_end(bytes).ok_or_else(no_zip)?;
        let n_entries = half(bytes, end + 10).ok_or_else(no_zip)?;
        let mut at = word(bytes, end + 16).ok_or_else(no_zip)? as usize;
        let mut archive = Archive::default();
        let mut total = 0;
        for _ in 0..n_entries {
            let (entry, next) = entry(bytes, at).ok_or("is a broken zip file")?;
            at = next;
            let Some(name) = plain_name(&entry.name)? else {
                continue;
            };
            let content = unpack(bytes, &entry, MAX_BYTES - total)?;
            total += content.len();
            archive.files.insert(name, content);
        }
        Ok(archive)
    }

    /// Gives a file by its name.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// Lists the names of all files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Gives all files with their names.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(n, c)| (n.as_str(), c.as_slice()))
    }
}

/// What the directory says of a file.
struct Entry {
    name: String,
    method: u16,
    checksum: u32,
    packed: usize,
    size: usize,
    offset: usize,
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes([pair[0], pair[1]]))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let low = half(bytes, at)?;
    let high = half(bytes, at.checked_add(2)?)?;
    Some(u32::from(low) | u32::from(high) << 16)
}

/// The record at the end; a comment of up to 64 kB may follow it.
fn find_end(bytes: &[u8]) -> Option<usize> {
    const LENGTH: usize = 22;
    let last = bytes.len().checked_sub(LENGTH)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let is_end = |&at: &usize| bytes[at..].starts_with(b"PK\x05\x06");
    (first..=last).rev().find(is_end)
}

fn entry(bytes: &[u8], at: usize) -> Option<(Entry, usize)> {
    if !bytes.get(at..)?.starts_with(b"PK\x01\x02") {
        return None;
    }
    let length = |k: usize| half(bytes, at + k).map(usize::from);
    let size = |k: usize| word(bytes, at + k).map(|w| w as usize);
    let name_end = at + 46 + length(28)?;
    let name = bytes.get(at + 46..name_end)?;
    let entry = Entry {
        name: String::from_utf8_lossy(name).into_owned(),
        method: half(bytes, at + 10)?,
        checksum: word(bytes, at + 16)?,
        packed: size(20)?,
        size: size(24)?,
        offset: size(42)?,
    };
    Some((entry, name_end + length(30)? + length(32)?))
}

/// The name with plain slashes; none for a folder.
fn plain_name(name: &str) -> Result<Option<String>, String> {
    let name = name.replace('\\', "/");
    if name.ends_with('/') {
        return Ok(None);
    }
    let leads_out = name.starts_with('/')
        || name.contains(':')
        || name.split('/').any(|part| part == ".." || part.is_empty());
    match leads_out {
        true => Err(format!("holds a file `{name}` outside its own folder")),
        false => Ok(Some(name)),
    }
}

fn unpack(bytes: &[u8], entry: &Entry, room: usize) -> Result<Vec<u8>, String> {
    let name = &entry.name;
    let broken = || format!("is a broken zip file: `{name}` cannot be unpacked");
    // The header before the contents has lengths of its own.
    let lengths = half(bytes, entry.offset + 26).zip(half(bytes, entry.offset + 28));
    let (name_length, extra) = lengths.ok_or_else(broken)?;
    let first = entry.offset + 30 + usize::from(name_length) + usize::from(extra);
    let end = first.checked_add(entry.packed).ok_or_else(broken)?;
    let packed = bytes.get(first..end).ok_or_else(broken)?;
    if entry.size > room {
        return Err(format!("unpacks to more than {} MB", MAX_BYTES >> 20));
    }
    let content = match entry.method {
        0 => packed.to_vec(),
        8 => {
            let mut content = Vec::new();
            let mut reader = DeflateDecoder::new(packed).take(entry.size as u64 + 1);
            reader.read_to_end(&mut content).map_err(|_| broken())?;
            content
        }
        other => {
            return Err(format!(
                "packs `{name}` by method {other}, which is unknown"
            ));
        }
    };

    let mut checksum = flate2::Crc::new();
    checksum.update(&content);
    match content.len() == entry.size && checksum.sum() == entry.checksum {
        true => Ok(content),
        false => Err(broken()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a.txt` with "hello hello hello hello" deflated, made by Python's zipfile.
    const DEFLATED: &[u8] = include_bytes!("../tests/data/hello.zip");

    #[test]
    fn a_packed_file_is_unpacked() {
        let archive = Archive::read(DEFLATED).expect("a good file");
        assert_eq!(
            archive.file("a/b.txt"),
            Some(&b"hello hello hello hello"[..])
        );
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a/b.txt"]);
    }

    #[test]
    fn whatever_is_broken_is_a_message() {
        assert!(Archive::read(b"").is_err());
        assert!(Archive::read(b"PK\x05\x06").is_err());
        for at in 0..DEFLATED.len() {
            // A cut or changed file is refused, or is as good as before where the change does not count: in names, and a
            // folder without its slash is an empty file.
            let _ = Archive::read(&DEFLATED[..at]);
            let mut changed = DEFLATED.to_vec();
            changed[at] ^= 0xff;
            if let Ok(archive) = Archive::read(&changed) {
                let is_known = |c: &[u8]| c.is_empty() || c == b"hello hello hello hello";
                assert!(archive.files().all(|(_, c)| is_known(c)), "byte {at}");
            }
        }
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in ["../x", "/etc/x", "a/../../x", "c:x", "a//x"] {
            assert!(plain_name(name).is_err(), "{name}");
        }
        assert_eq!(plain_name("a\\b"), Ok(Some("a/b".to_owned())));
        assert_eq!(plain_name("a/"), Ok(None));
    }
}
