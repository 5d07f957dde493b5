//! Zip files whose entries are stored as they are.
//!
//! In:  names and bytes.
//! Out: the bytes of a zip file (PKWARE APPNOTE 6.3.3), with a fixed date so that equal contents give equal files.

/// A zip file in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    n_entries: u16,
}

/// 1980-01-01, the first date that the format can say.
const DATE: u16 = 0x21;

impl Zip {
    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, content: &[u8]) {
        let offset = self.bytes.len() as u32;
        let size = u32::try_from(content.len()).expect("an FMU is far below 4 GB");
        let mut common = Vec::new();

        // Version 2.0, names in UTF-8, stored, time, date, checksum, sizes, length of the name, no extra field.
        for half in [20_u16, 0x800, 0, 0, DATE] {
            common.extend_from_slice(&half.to_le_bytes());
        }
        for word in [crc32(content), size, size] {
            common.extend_from_slice(&word.to_le_bytes());
        }
        common.extend_from_slice(&(name.len() as u16).to_le_bytes());
        common.extend_from_slice(&0_u16.to_le_bytes());

        self.bytes.extend_from_slice(b"PK\x03\x04");
        self.bytes.extend_from_slice(&common);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.extend_from_slice(content);

        self.directory.extend_from_slice(b"PK\x01\x02");
        // Made by Unix, so that the mode below counts.
        self.directory.extend_from_slice(&0x031e_u16.to_le_bytes());
        self.directory.extend_from_slice(&common);
        for half in [0_u16, 0, 0] {
            self.directory.extend_from_slice(&half.to_le_bytes());
        }
        let mode = 0o100_755_u32 << 16;
        self.directory.extend_from_slice(&mode.to_le_bytes());
        self.directory.extend_from_slice(&offset.to_le_bytes());
        self.directory.extend_from_slice(name.as_bytes());
        self.n_entries += 1;
    }

    /// Gives the file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let offset = self.bytes.len() as u32;
        let size = self.directory.len() as u32;
        self.bytes.append(&mut self.directory);
        self.bytes.extend_from_slice(b"PK\x05\x06");
        for half in [0, 0, self.n_entries, self.n_entries] {
            self.bytes.extend_from_slice(&half.to_le_bytes());
        }
        for word in [size, offset] {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
        self.bytes.extend_from_slice(&0_u16.to_le_bytes());
        self.bytes
    }
}

/// The checksum of zip files.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_known_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
