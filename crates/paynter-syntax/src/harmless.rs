//! Takes from a text what a terminal would obey.
//!
//! In:  any text: of a model, of a table, a file name.
//! Out: the same text with a mark in the place of every control character.
//!
//! A model from elsewhere must not clear the screen, set a title, or turn the direction of a line so that it reads
//! otherwise than it is.
//!
//! **Invariant:** every mark has as many bytes as what it stands for, so that places in the text stay where they are.

use std::borrow::Cow;

/// Replaces control characters, and characters that turn the direction of text. Line ends and tabs stay.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        match c.len_utf8() {
            _ if !is_harmful(c) || ends_line => out.push(c),
            1 => out.push('?'),
            2 => out.push('¿'),
            _ => out.push('\u{fffd}'),
        }
    }
    Cow::Owned(out)
}

fn is_harmful(c: char) -> bool {
    let turns = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left_and_places_stay() {
        let text = "a\u{1b}[2J\u{9b}b\u{7}\u{202e}c\r\nd\re\t\u{7f}\u{0}\u{61c}ü";
        let shown = harmless(text);
        assert_eq!(shown, "a?[2J¿b?\u{fffd}c\r\nd?e\t??¿ü");
        assert_eq!(shown.len(), text.len());
        assert_eq!(harmless("plain\r\nü\t"), "plain\r\nü\t");
    }
}
