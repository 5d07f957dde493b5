//! Layout changes nothing but blanks, and only once.

mod common;
use common::{files, meaning, read, sketches};
use paynter_syntax::{FileId, TokenKind, format, lex};

fn formatted(text: &str) -> String {
    format(FileId(0), text).text
}

/// Gives the tokens and comments of a text, without blanks.
fn content(text: &str) -> Vec<String> {
    let tokens = lex(text);
    (0..tokens.len())
        .map(|i| tokens.text(i, text).trim().to_owned())
        .filter(|token| !token.is_empty())
        .collect()
}

fn assert_laid_out_well(name: &str, text: &str) {
    let once = formatted(text);
    let parsed = read(&once);
    assert!(
        parsed.diagnostics.is_empty(),
        "{name}: {:?}\n{once}",
        parsed.diagnostics
    );
    assert_eq!(meaning(&parsed), meaning(&read(text)), "{name}\n{once}");
    assert_eq!(content(&once), content(text), "{name}");
    assert_eq!(formatted(&once), once, "{name}");
    assert!(once.lines().all(|line| line == line.trim_end()), "{name}");
}

#[test]
fn formatting_keeps_meaning_and_comments_and_is_idempotent() {
    let all = sketches().into_iter().chain(files("tests/language"));
    for (name, text) in all {
        assert_laid_out_well(&name, &text);
    }
}

/// The same files with their blanks taken away or doubled.
#[test]
fn formatting_is_stable_for_ugly_files() {
    for (name, text) in sketches().into_iter().chain(files("tests/language")) {
        let wide: String = text.replace("    ", "  \t").replace('\n', "\n\n\n");
        assert_laid_out_well(&name, &wide);
        let flat: String = text
            .lines()
            .map(|line| format!("{}\r\n", line.trim()))
            .collect();
        assert_laid_out_well(&name, &flat);
    }
}

/// The same files with every run of blanks and every line break drawn by lot.
#[test]
fn formatting_is_stable_for_any_blanks() {
    // The constants of Knuth's MMIX generator: any fixed sequence will do.
    let mut seed = 1961_u64;
    let mut lot = |n: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for (name, text) in sketches().into_iter().chain(files("tests/language")) {
        let tokens = lex(&text);
        for _ in 0..20 {
            let drawn: String = (0..tokens.len())
                .map(|i| match tokens.kind(i) {
                    TokenKind::Whitespace => " ".repeat(1 + lot(4)),
                    TokenKind::Newline => "\n".repeat(1 + lot(4)),
                    TokenKind::Comma if lot(2) == 0 => " , ".to_owned(),
                    TokenKind::Eq if lot(2) == 0 => "  =".to_owned(),
                    _ => tokens.text(i, &text).to_owned(),
                })
                .collect();
            assert_laid_out_well(&name, &drawn);
        }
    }
}

#[test]
fn the_sketches_are_laid_out_already() {
    // But for blanks after `(` that line up a column, the sketches show the style.
    for (name, text) in sketches() {
        let plain = text
            .replace("( cos", "(cos")
            .replace("( sin", "(sin")
            .replace("[ l/2", "[l/2");
        assert_eq!(formatted(&text), plain, "{name}");
    }
}

#[test]
fn blanks_are_put_where_they_belong() {
    let ugly =
        "model A{\nr :R( 50[ohm] )->j:1\n\n\n\n// why\n x=-a+ b *c- d/e\n y =A' * x [i-1]\n}";
    let error = "model A { x = 1 +\n}";
    // `x [i-1]` has an error: a unit cannot follow a name.
    assert_eq!(formatted(ugly), ugly);
    assert_eq!(formatted(error), error);
    let ugly = ugly.replace("x [i", "x[i");
    let good = "model A {\n    r: R(50 [ohm]) -> j: 1\n\n    // why\n    x = -a + b * c - d/e\n    y = A' * x[i-1]\n}\n";
    assert_eq!(formatted(&ugly), good);
}

#[test]
fn a_line_that_goes_on_is_indented() {
    let text =
        "model A {\na -> b\n-> c\nx = f(\n1,\n2\n)\nif c {\ny = 1\n}\nelse {\n// nothing\n}\n}";
    let good = "model A {\n    a -> b\n        -> c\n    x = f(\n        1,\n        2\n    )\n    if c {\n        y = 1\n    }\n    else {\n        // nothing\n    }\n}\n";
    assert_eq!(formatted(text), good);
}

#[test]
fn a_file_with_errors_is_returned_as_it_is() {
    let text = "model   A {\n x = }";
    let result = format(FileId(0), text);
    assert_eq!(result.text, text);
    assert_eq!(result.diagnostics.len(), 1);
}
