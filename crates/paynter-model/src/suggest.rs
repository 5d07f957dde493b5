//! Guesses which name was meant by one that does not exist.
//!
//! In:  the name as typed, and every name that would be right there.
//! Out: the nearest of them, if it is near enough to be worth saying.

/// Gives the candidate with the fewest edits, if those are at most a third of the letters
/// (one for a short name). Of equally near ones the first wins.
pub fn nearest<S: AsRef<str>>(typed: &str, candidates: impl IntoIterator<Item = S>) -> Option<S> {
    // A name nobody types by accident; comparing it would only cost time.
    const LONGEST: usize = 64;
    let typed: Vec<char> = typed.chars().take(LONGEST + 1).collect();
    if typed.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, S)> = None;
    for candidate in candidates {
        let letters: Vec<char> = candidate.as_ref().chars().take(LONGEST + 1).collect();
        let allowed = (typed.len().max(letters.len()) / 3).max(1);
        if letters.len().abs_diff(typed.len()) > allowed || letters.len() > LONGEST {
            continue;
        }
        let edits = edit_distance(&typed, &letters);
        // One edit turns any one-letter name into any other: no likeness at all.
        let is_like = edits <= allowed && edits < letters.len();
        if is_like && best.as_ref().is_none_or(|(fewest, _)| edits < *fewest) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Counts insertions, deletions, replacements and swaps of neighbours (Damerau 1964,
/// optimal string alignment).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let names = ["theta", "omega", "alpha"];
        assert_eq!(nearest("tehta", names), Some("theta"));
        assert_eq!(nearest("omga", names), Some("omega"));
        assert_eq!(nearest("beta", names), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest(&"x".repeat(10_000), names), None);
    }
}
