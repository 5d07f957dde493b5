//! Which lines of two texts differ.
//!
//! In:  an old and a new text.
//! Out: the fewest stretches of whole lines to replace.
//!
//! **Invariant:** applied to the old text, they give the new one; lines that are in both in order are kept.

/// Larger differences than this many pairs of lines are handed out as one stretch.
const MAX_PAIRS: usize = 4_000_000;

/// Gives (first byte, end, new text) for each stretch, in text order.
pub fn diff(old: &str, new: &str) -> Vec<(usize, usize, String)> {
    let a: Vec<&str> = old.split_inclusive('\n').collect();
    let b: Vec<&str> = new.split_inclusive('\n').collect();
    let head = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let rest = a.len().min(b.len()) - head;
    let tail = a.iter().rev().zip(b.iter().rev()).take(rest);
    let tail = tail.take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let start: usize = a[..head].iter().map(|l| l.len()).sum();
    let (a, b) = (&a[head..], &b[head..]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    if a.len().saturating_mul(b.len()) > MAX_PAIRS {
        let length: usize = a.iter().map(|l| l.len()).sum();
        return vec![(start, start + length, b.concat())];
    }
    stretches(a, b, start)
}

/// Longest common subsequence of lines, then what lies between.
fn stretches(a: &[&str], b: &[&str], start: usize) -> Vec<(usize, usize, String)> {
    let width = b.len() + 1;
    let mut common = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = match a[i] == b[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    let (mut i, mut j, mut at) = (0, 0, start);
    let mut open: Option<(usize, usize, String)> = None;
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            found.extend(open.take());
            at += a[i].len();
            i += 1;
            j += 1;
            continue;
        }
        let stretch = open.get_or_insert((at, at, String::new()));
        let takes_old =
            j == b.len() || i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1];
        if takes_old {
            at += a[i].len();
            stretch.1 = at;
            i += 1;
        } else {
            stretch.2.push_str(b[j]);
            j += 1;
        }
    }
    found.extend(open);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_turns_the_old_text_into_the_new_one() {
        let texts = [
            "",
            "a\n",
            "a\nb\nc\n",
            "a\nx\nc",
            "b\nc\na\n",
            "c\nb\n\n\na\n",
        ];
        for old in texts {
            for new in texts {
                let mut out = String::new();
                let mut at = 0;
                for (start, end, text) in diff(old, new) {
                    out.push_str(&old[at..start]);
                    out.push_str(&text);
                    at = end;
                }
                out.push_str(&old[at..]);
                assert_eq!(out, new, "from {old:?}");
            }
        }
    }
}
