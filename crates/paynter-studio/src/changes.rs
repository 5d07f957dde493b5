//! Changes of texts as the editor of the page writes them: counts of UTF-16 units.
//!
//! In:  a text and a change set: `5` keeps five units, `[3]` deletes three, `[3, "a", "b"]` replaces three by
//!      the lines `a` and `b`.
//! Out: the changed text; a change that does not fit the text is refused.

use serde_json::Value;

/// Applies a change set.
///
/// # Errors
///
/// The change set does not fit the text.
pub fn apply(text: &str, changes: &Value) -> Result<String, String> {
    let parts = changes.as_array().ok_or("a change set is a list")?;
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    for part in parts {
        match part {
            Value::Number(n) => {
                let (kept, after) = split(rest, n.as_u64().ok_or("a count is a whole number")?)?;
                out.push_str(kept);
                rest = after;
            }
            Value::Array(change) => {
                let deleted = change.first().and_then(Value::as_u64);
                rest = split(rest, deleted.ok_or("a count is a whole number")?)?.1;
                let mut lines = change
                    .iter()
                    .skip(1)
                    .map(|l| l.as_str().ok_or("a line is a text"));
                if let Some(first) = lines.next() {
                    out.push_str(first?);
                }
                for line in lines {
                    out.push('\n');
                    out.push_str(line?);
                }
            }
            _ => return Err("a part of a change set is a count or a list".to_owned()),
        }
    }
    match rest.is_empty() {
        true => Ok(out),
        false => Err("the change set is shorter than the text".to_owned()),
    }
}

/// Splits a text after a number of UTF-16 units.
fn split(text: &str, units: u64) -> Result<(&str, &str), String> {
    let at = byte_at(text, units)
        .ok_or("the change set is longer than the text, or cuts a character")?;
    Ok(text.split_at(at))
}

/// The byte at a number of UTF-16 units; none beyond the end or inside of a character.
pub fn byte_at(text: &str, units: u64) -> Option<usize> {
    if units == 0 {
        return Some(0);
    }
    let mut seen = 0;
    for (at, c) in text.char_indices() {
        seen += c.len_utf16() as u64;
        if seen == units {
            return Some(at + c.len_utf8());
        }
        if seen > units {
            return None;
        }
    }
    None
}

/// The one change that turns a text into another, in UTF-16 units: (from, to, insert).
pub fn difference(old: &str, new: &str) -> Option<(usize, usize, String)> {
    if old == new {
        return None;
    }
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    };
    let head = same(&mut old.chars().zip(new.chars()));
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = same(&mut old_rest.chars().rev().zip(new_rest.chars().rev()));
    let removed = &old_rest[..old_rest.len() - tail];
    let inserted = &new_rest[..new_rest.len() - tail];
    let from = old[..head].encode_utf16().count();
    let to = from + removed.encode_utf16().count();
    Some((from, to, inserted.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changes_count_utf16_units() {
        let text = "θ 𝛾 = 1\nb";
        assert_eq!(
            apply(text, &json!([2, [2, "x", "y"], 6])).expect("fits"),
            "θ x\ny = 1\nb"
        );
        assert_eq!(apply("", &json!([[0, "a"]])).expect("fits"), "a");
        assert_eq!(apply("abc", &json!([1, [1], 1])).expect("fits"), "ac");
    }

    #[test]
    fn changes_that_do_not_fit_are_refused() {
        for bad in [
            json!([9]),
            json!([1]),
            json!([-1, [1]]),
            json!(["a"]),
            json!({}),
            json!([[1, 2], 2]),
            json!([1, [99]]),
        ] {
            assert!(apply("abc", &bad).is_err(), "{bad}");
        }
        assert!(apply("𝛾", &json!([1, [1]])).is_err(), "half of a character");
    }

    #[test]
    fn the_difference_turns_one_text_into_the_other() {
        for (old, new) in [
            ("abc", "abXc"),
            ("aaa", "aa"),
            ("", "θ"),
            ("𝛾a", "𝛾b"),
            ("abab", "ab"),
            ("x", ""),
        ] {
            let (from, to, insert) = difference(old, new).expect("they differ");
            let units: Vec<u16> = old.encode_utf16().collect();
            let mut made = units[..from].to_vec();
            made.extend(insert.encode_utf16());
            made.extend(&units[to..]);
            assert_eq!(String::from_utf16(&made).expect("text"), new);
        }
        assert_eq!(difference("a", "a"), None);
    }
}
