//! Bodies in motion on the report page.
//!
//! In:  a [`Film`]: what there is as JSON, and its columns over time.
//! Out: a section with a place for the picture, and the data and script that fill it.
//!
//! The script is built from the sources of Studio (`studio/src/report`): both show the same stage.
//!
//! **Invariant:** the data stays below [`MAX_NUMBERS`] numbers of 5⅓ letters; a film that would not fit has fewer
//! pictures, and one with too many things for [`MIN_FRAMES`] is left out and the page says so.

use std::fmt::Write as _;

/// A film of bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    /// What there is, and which columns each thing has, as JSON.
    pub head: String,
    /// Times, s.
    pub time: Vec<f64>,
    /// Numbers at these times.
    pub columns: Vec<Vec<f64>>,
}

/// Numbers of a film: two thirds of a megabyte of letters, as much as the script that shows it.
const MAX_NUMBERS: usize = 120_000;
/// Fewer pictures are not motion.
const MIN_FRAMES: usize = 30;

const STYLE: &str = include_str!("bodies.css");
const SCRIPT: &str = include_str!("../../../../studio/dist-report/bodies.js");

/// Writes the section; nothing without a film.
pub(super) fn write_bodies(body: &mut String, film: Option<&Film>) {
    let Some(film) = film else { return };
    body.push_str("<h2 id=\"bodies\">Bodies</h2>\n");
    let words = match frames(film) {
        Some(_) => {
            body.push_str("<div id=\"bodies-stage\" class=\"bodies\"></div>\n");
            "Drag to turn, wheel to zoom. The time goes with the cursor of the curves."
        }
        None => "There are too many bodies for a page of this size; `paynter studio` shows them.",
    };
    let _ = writeln!(body, "<p class=\"hint\">{words}</p>");
}

/// Style, data and script of the picture; nothing without a film.
pub(super) fn script(film: Option<&Film>) -> String {
    let Some((film, frames)) = film.and_then(|f| frames(f).map(|n| (f, n))) else {
        return String::new();
    };
    let data = packed(film, &frames);
    // `</script>` in the program would end the element.
    let program = SCRIPT.replace("</", "<\\/");
    format!(
        "<style>\n{STYLE}</style>\n<script type=\"application/json\" id=\"film-data\">{data}</script>\n<script>\n{program}</script>\n"
    )
}

/// The rows that are shown, evenly chosen; none if there are too few to see a motion.
fn frames(film: &Film) -> Option<Vec<usize>> {
    let moving = film
        .columns
        .iter()
        .filter(|c| constant(c).is_none())
        .count();
    let most = MAX_NUMBERS / (moving + 1);
    let n_rows = film.time.len();
    let n = n_rows.min(most);
    if n < MIN_FRAMES.min(n_rows) || n < 2 {
        return None;
    }
    Some((0..n).map(|i| i * (n_rows - 1) / (n - 1)).collect())
}

/// The value of a column that never changes.
fn constant(column: &[f64]) -> Option<f64> {
    let first = *column.first()?;
    (first.is_finite() && column.iter().all(|&x| x == first)).then_some(first)
}

/// The film as JSON that can be inside HTML.
fn packed(film: &Film, rows: &[usize]) -> String {
    // Letters that could end the element are inside strings only.
    let head = film.head.replace('<', "\\u003c").replace('>', "\\u003e");
    let head = head.replace('&', "\\u0026");
    let pick = |values: &[f64]| rows.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let mut out = format!(
        "{{\"head\":{head},\"time\":\"{}\",\"columns\":[",
        base64(&pick(&film.time))
    );
    for (k, column) in film.columns.iter().enumerate() {
        if k > 0 {
            out.push(',');
        }
        let _ = match constant(column) {
            Some(value) => write!(out, "{value:e}"),
            None => write!(out, "\"{}\"", base64(&pick(column))),
        };
    }
    out.push_str("]}");
    out
}

/// Numbers as 32-bit floats, little endian, in base64: seven digits are more than a screen shows.
fn base64(numbers: &[f64]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = numbers
        .iter()
        .flat_map(|&x| (x as f32).to_le_bytes())
        .collect();
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= chunk.len() {
                letter as char
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed_as_the_page_unpacks_them() {
        // 0, 1, -2 as 32-bit floats: 00000000 0000803f 000000c0.
        assert_eq!(base64(&[0.0, 1.0, -2.0]), "AAAAAAAAgD8AAADA");
        assert_eq!(base64(&[1.0]), "AACAPw==");
        assert_eq!(base64(&[1.0, 1.0]), "AACAPwAAgD8=");
    }

    fn film(n_rows: usize, n_columns: usize) -> Film {
        let column = |k: usize| (0..n_rows).map(|i| (i * (k + 1)) as f64).collect();
        Film {
            head: r#"{"model":"</script>"}"#.to_owned(),
            time: (0..n_rows).map(|i| i as f64).collect(),
            columns: (0..n_columns).map(column).collect(),
        }
    }

    #[test]
    fn a_large_film_has_fewer_pictures_and_a_huge_one_none() {
        assert_eq!(frames(&film(601, 10)).map(|f| f.len()), Some(601));
        let rows = frames(&film(601, 999)).expect("120 pictures fit");
        assert_eq!((rows.len(), rows[0], rows[119]), (120, 0, 600));
        assert_eq!(frames(&film(601, 9_999)), None);
        assert_eq!(frames(&film(1, 3)), None);
    }

    #[test]
    fn a_film_never_ends_its_element() {
        let mut small = film(3, 1);
        small.columns.push(vec![0.25; 3]);
        let data = packed(&small, &[0, 1, 2]);
        assert!(!data.contains('<') && data.contains("2.5e-1]}"), "{data}");
    }
}
