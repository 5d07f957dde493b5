//! Places in a text, counted as each reader counts: bytes, UTF-16 units, lines and columns.
//!
//! In:  a text.
//! Out: a [`LineIndex`], which turns byte offsets into [`Range`]s and positions of editors into bytes.
//!
//! Editors count columns in UTF-16 units, as LSP 3.17 and JavaScript do; everything inside counts bytes.
//!
//! **Invariant:** any offset and any position give a place inside the text, on a character boundary.

use serde::{Deserialize, Serialize};

/// A line and a column, both from 0; the column in UTF-16 units.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// From 0.
    pub line: u32,
    /// In UTF-16 units, from 0.
    pub character: u32,
}

/// A stretch of text in all three counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Range {
    /// First byte, and one past the last.
    pub bytes: (usize, usize),
    /// The same in UTF-16 units from the start of the text: what JavaScript counts.
    pub utf16: (usize, usize),
    /// Where it begins.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// For each line its first byte, and how many UTF-16 units stand before it.
    lines: Vec<(usize, usize)>,
    length: usize,
}

impl LineIndex {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        let mut lines = vec![(0, 0)];
        let mut units = 0;
        for (at, c) in text.char_indices() {
            units += c.len_utf16();
            if c == '\n' {
                lines.push((at + 1, units));
            }
        }
        LineIndex {
            lines,
            length: text.len(),
        }
    }

    /// Gives the range of bytes `start..end` of the text it was made from.
    pub fn range(&self, text: &str, start: usize, end: usize) -> Range {
        let (start, first, from) = self.locate(text, start);
        let (end, last, to) = self.locate(text, end);
        Range {
            bytes: (start, end),
            utf16: (from, to),
            start: first,
            end: last,
        }
    }

    /// Gives line and column of a byte.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        self.locate(text, offset).1
    }

    /// Gives the byte at a line and column: the end of the line for a column beyond it, the end of the
    /// text for a line beyond it, the start of a character for a place inside of one.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let line = position.line as usize;
        let Some(&(start, _)) = self.lines.get(line) else {
            return self.length;
        };
        let end = self.lines.get(line + 1).map_or(self.length, |next| next.0);
        let mut column = 0;
        for (at, c) in text[start..end].char_indices() {
            column += c.len_utf16();
            let is_line_end = c == '\n' || (c == '\r' && text[start + at..end].starts_with("\r\n"));
            if column > position.character as usize || is_line_end {
                return start + at;
            }
        }
        end
    }

    /// Gives the first byte of a line.
    pub fn line_start(&self, line: usize) -> usize {
        self.lines.get(line).map_or(self.length, |l| l.0)
    }

    /// Gives the line of a byte.
    pub fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|&(start, _)| start <= offset) - 1
    }

    fn locate(&self, text: &str, offset: usize) -> (usize, Position, usize) {
        let mut offset = offset.min(self.length);
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_of(offset);
        let (start, units) = self.lines[line];
        let character = text[start..offset].encode_utf16().count();
        let position = Position {
            line: line as u32,
            character: character as u32,
        };
        (offset, position, units + character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units() {
        let text = "a\n𝛾ψ = 1\r\nz";
        let index = LineIndex::new(text);
        let at = text.find('=').expect("it is there");
        let range = index.range(text, at, at + 1);
        assert_eq!(
            range.start,
            Position {
                line: 1,
                character: 4
            }
        );
        assert_eq!(range.utf16, (6, 7));
        assert_eq!(index.offset(text, range.start), at);
        // Between the two halves of 𝛾 lies its start.
        let half = Position {
            line: 1,
            character: 1,
        };
        assert_eq!(index.offset(text, half), 2);
        // Beyond the line is its end, before the carriage return.
        let beyond = Position {
            line: 1,
            character: 99,
        };
        assert_eq!(index.offset(text, beyond), text.find('\r').expect("there"));
        assert_eq!(
            index.offset(
                text,
                Position {
                    line: 9,
                    character: 0
                }
            ),
            text.len()
        );
    }

    #[test]
    fn every_byte_survives_the_way_there_and_back() {
        let text = "model M {\n  θ: 1 // 𝛾\n\n}\n";
        let index = LineIndex::new(text);
        for (at, _) in text.char_indices() {
            assert_eq!(index.offset(text, index.position(text, at)), at);
        }
    }
}
