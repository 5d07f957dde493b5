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

/// Draws numbers below `n`.
fn lots(mut seed: u64) -> impl FnMut(usize) -> usize {
    // The constants of Knuth's MMIX generator: any fixed sequence will do.
    move |n: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    }
}

/// The same files with every run of blanks and every line break drawn by lot.
#[test]
fn formatting_is_stable_for_any_blanks() {
    let mut lot = lots(1961);
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

/// Name and text of everything in the language that the project ships: the gallery, the library,
/// and the snippets of the book and the front page.
fn shipped() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut found = Vec::new();
    let mut folders = ["gallery", "library", "docs/src", "benches"]
        .map(|f| std::path::Path::new(root).join(f))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("a folder can be read").path();
            let name = path.display().to_string();
            match path.extension().and_then(|e| e.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("bond") => found.push((
                    name,
                    std::fs::read_to_string(&path).expect("a file can be read"),
                )),
                Some("md") => found.extend(
                    snippets(&std::fs::read_to_string(&path).expect("a file can be read"))
                        .into_iter()
                        .map(|text| (name.clone(), text)),
                ),
                _ => {}
            }
        }
    }
    found.sort();
    // What does not stand alone (a few lines of a body) is not laid out.
    found.retain(|(_, text)| !read(text).has_errors());
    assert!(found.len() > 60, "{} texts", found.len());
    found
}

/// The fenced blocks of a page that begin with an item.
fn snippets(page: &str) -> Vec<String> {
    page.split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .map(|(_, text)| text.to_owned())
        .filter(|text| text.contains("model ") || text.contains("experiment "))
        .collect()
}

/// Takes line breaks away inside of blocks and brackets and puts others in, where the language allows it.
fn mangled(text: &str, lot: &mut impl FnMut(usize) -> usize) -> String {
    let tokens = lex(text);
    let mut out = String::new();
    for i in 0..tokens.len() {
        let next = (i + 1..tokens.len()).find(|&k| tokens.kind(k) != TokenKind::Whitespace);
        let next = next.map(|k| tokens.kind(k));
        let before = (0..i)
            .rev()
            .find(|&k| tokens.kind(k) != TokenKind::Whitespace);
        let before = before.map(|k| tokens.kind(k));
        match tokens.kind(i) {
            // A statement may begin behind `{` and end before `}` on the same line.
            TokenKind::Newline
                if (before == Some(TokenKind::LBrace)
                    || next == Some(TokenKind::RBrace)
                        && !matches!(
                            before,
                            Some(TokenKind::Comment | TokenKind::DocComment | TokenKind::Newline)
                        ))
                    && lot(2) == 0 =>
            {
                out.push_str(["", " ", "   "][lot(3)]);
            }
            TokenKind::Newline => out.push_str(&"\n".repeat(1 + lot(3))),
            TokenKind::Whitespace => out.push_str(&" ".repeat(1 + lot(4))),
            TokenKind::Arrow | TokenKind::Comma if lot(4) == 0 => {
                out.push_str(tokens.text(i, text));
                out.push_str("\n  ");
            }
            TokenKind::LBrace | TokenKind::RBrace if lot(4) == 0 => {
                let brace = tokens.text(i, text);
                out.push_str(&if brace == "{" {
                    "{\n".to_owned()
                } else {
                    "\n}".to_owned()
                });
            }
            _ => out.push_str(tokens.text(i, text)),
        }
    }
    out
}

#[test]
fn whatever_ships_keeps_its_meaning_however_its_lines_are_broken() {
    let mut lot = lots(1959);
    let (mut n_drawn, mut n_legal) = (0, 0);
    for (name, text) in shipped() {
        assert_laid_out_well(&name, &text);
        for _ in 0..3 {
            let drawn = mangled(&text, &mut lot);
            // A brace of an element inside of an expression may not be broken everywhere.
            n_drawn += 1;
            if read(&drawn).has_errors() {
                continue;
            }
            n_legal += 1;
            assert_eq!(
                meaning(&read(&drawn)),
                meaning(&read(&text)),
                "{name}\n{drawn}"
            );
            assert_laid_out_well(&name, &drawn);
        }
    }
    assert!(2 * n_legal > n_drawn, "{n_legal} of {n_drawn} can be read");
}

#[test]
fn what_ships_as_a_file_is_laid_out_already() {
    for (name, text) in shipped().iter().filter(|(name, _)| name.ends_with(".bond")) {
        assert_eq!(&formatted(text), text, "{name}");
    }
}

#[test]
fn a_block_on_several_lines_opens_and_closes_on_its_own() {
    let text = "model A {   param a = 1\n x = 2 }\nmodel B { x = 1 }\nmodel C { // why\n x=1}\n";
    let good = "model A {\n    param a = 1\n    x = 2\n}\nmodel B { x = 1 }\nmodel C { // why\n    x = 1\n}\n";
    assert_eq!(formatted(text), good);
    let text = "model D {\n when x > 0 { reinit v = -v }\n when y: x > 1 { k = 1\n }\n if a { /// about b\n b = 1 } else { b = 2 }\n}\n";
    let good = "model D {\n    when x > 0 { reinit v = -v }\n    when y: x > 1 {\n        k = 1\n    }\n    if a {\n        /// about b\n        b = 1\n    } else { b = 2 }\n}\n";
    assert_eq!(formatted(text), good);
}

#[test]
fn a_block_too_wide_for_one_line_is_broken() {
    let one_line = |n: usize| format!("model A {{ x = {} }}\n", "1 + ".repeat(n) + "1");
    assert_eq!(formatted(&one_line(24)), one_line(24));
    assert_eq!(
        formatted(&one_line(30)),
        one_line(30).replace("{ x", "{\n    x").replace(" }", "\n}")
    );
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
