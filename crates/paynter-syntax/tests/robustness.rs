//! Any text gives a tree of that text: no panic, no deep recursion, no quadratic time.

mod common;
use common::{files, read, read_bytes, sketches};
use paynter_syntax::{FileId, SourceMap, Tree, format, lex, render, to_json};
use proptest::prelude::*;

/// Parses, and checks what must hold for every text.
fn assert_total(text: &str) -> usize {
    let parsed = read(text);
    assert_eq!(parsed.tree.to_text(text), text);
    assert_nested(&parsed.tree);
    let mut sources = SourceMap::new();
    let file = sources.add("any.bond", text);
    for diagnostic in &parsed.diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let bytes = label.span.start as usize..label.span.end as usize;
            assert!(
                label.span.file == file && text.get(bytes).is_some(),
                "{diagnostic:?}"
            );
        }
    }
    parsed.diagnostics.len()
}

/// Children lie inside of their parent, one behind the other.
fn assert_nested(tree: &Tree) {
    for node in tree.nodes() {
        let parent = tree.token_range(node);
        let mut end = parent.end;
        for child in tree.children_backwards(node) {
            let range = tree.token_range(child);
            assert!(
                range.start >= parent.start && range.end <= end,
                "{:?}",
                tree.kind(child)
            );
            end = range.start;
        }
    }
}

#[test]
fn a_file_cut_off_at_any_byte_is_read() {
    for (_, text) in sketches().into_iter().chain(files("tests/language")) {
        for end in 0..text.len() {
            match text.get(..end) {
                Some(cut) => {
                    read(cut);
                }
                None => assert!(read_bytes(&text.as_bytes()[..end]).has_errors()),
            }
        }
    }
}

#[test]
fn deep_nesting_is_one_error() {
    let n = 10_000;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("-", ""),
        ("not ", ""),
        ("x^", ""),
        ("if a then b else ", ""),
    ] {
        let text = format!("model A {{ x = {}1{} }}", open.repeat(n), close.repeat(n));
        assert_eq!(assert_total(&text), 1, "{open}");
        let unclosed = format!("model A {{ x = {}", open.repeat(n));
        assert!(assert_total(&unclosed) <= 3, "{open}");
    }
    for open in [
        "if a { ",
        "for i in 1 .. 2 { ",
        "if a { } else ",
        "if a {\n",
        "{",
        "a: C { e = ",
    ] {
        let text = format!("model A {{ {}{} }}", open.repeat(n), "}".repeat(n));
        assert!(
            (1..=3).contains(&assert_total(&text)),
            "{open}: {}",
            assert_total(&text)
        );
        assert!((1..=3).contains(&assert_total(&open.repeat(n))), "{open}");
    }
    assert!((1..=3).contains(&assert_total(&format!(
        "model A {{ x = 1 [{}m{}] }}",
        "(".repeat(n),
        ")".repeat(n)
    ))));
    assert!((1..=3).contains(&assert_total(&format!(
        "model A {{ {} -> b }}",
        "(".repeat(n)
    ))));
}

/// A sum is as high as it is long, and dropping or walking it must not overflow the stack.
#[test]
fn long_expressions_are_refused_before_they_get_dangerous() {
    for link in [" + a", ".a", "'", "[1]", " and a"] {
        let text = format!("model A {{ x = a{} }}", link.repeat(100_000));
        assert_eq!(assert_total(&text), 1, "{link}");
    }
    let text = format!(
        "model A {{ x = {}a{} }}",
        "(".repeat(90),
        " + a + a + a)".repeat(90)
    );
    assert_eq!(assert_total(&text), 0);
}

#[test]
fn odd_files_are_read() {
    let long_name = "x".repeat(1 << 20);
    for text in [
        "",
        "\n",
        "\u{feff}model A { }\r\n",
        "\0\0\0",
        "{",
        "}",
        "///",
        "\"",
        &long_name,
    ] {
        assert_total(text);
    }
    assert_eq!(assert_total("\u{feff}model A { }\r\n"), 0);
    assert!(read_bytes(&[0xff; 100]).has_errors());
}

/// Twice the text must not cost more than twice the looks at tokens, and a bit.
fn assert_linear(name: &str, unit: &dyn Fn(usize) -> String) {
    let work = |n: usize| {
        let text: String = (0..n).map(unit).collect();
        let parsed = read(&text);
        (parsed.work as f64, text.len() as f64)
    };
    let (small, small_size) = work(500);
    let (large, large_size) = work(8_000);
    // The slack is for the few looks that every file costs.
    assert!(
        large / small < 1.2 * large_size / small_size,
        "{name}: {small} {large}"
    );
}

#[test]
fn work_grows_with_the_text() {
    assert_linear("models", &|i| {
        format!("model M{i} {{\n    r: R({i} [ohm]) -> a: 1\n}}\n")
    });
    assert_linear("unclosed", &|i| {
        format!("model M{i} {{\n    r: R({i} [ohm] -> a: 1\n\n")
    });
    assert_linear("unopened", &|i| {
        format!("model M{i}\n    for i in 1 .. 2\n }} }}\n")
    });
    assert_linear("headers", &|_| "if a for i in 1 .. 3\n".into());
    assert_linear("headers in a body", &|i| {
        if i == 0 {
            "model A {\n".into()
        } else {
            "if a\n".into()
        }
    });
    assert_linear("one line", &|i| {
        if i == 0 {
            "model A { ".into()
        } else {
            "if a x = (1; } ".into()
        }
    });
    assert_linear("braces", &|_| "{ } } {\n".into());
    assert_linear("junk", &|_| "( [ ) = -> , x : 1 ".into());
    assert_linear("operators", &|i| {
        if i == 0 {
            "x = 1".into()
        } else {
            " +\n1".into()
        }
    });
    assert_linear("words", &|_| "model when if record ".into());
}

#[test]
fn a_large_flat_file_is_read_in_linear_work() {
    let element =
        |i: usize| format!("    n{i}: 0 -> b{i}: 1 -> r{i}: R({i}.5 [ohm]), c{i}: C(1e-6 [F])\n");
    let text = |n: usize| {
        format!(
            "model Flat {{\n{}}}\n",
            (0..n).map(element).collect::<String>()
        )
    };
    let (small, large) = (text(1_000), text(80_000));
    assert!(large.len() > 5 << 20);
    let per_byte = |text: &str| {
        let parsed = read(text);
        assert!(parsed.diagnostics.is_empty());
        parsed.work as f64 / text.len() as f64
    };
    // Longer numbers make the large file a little cheaper per byte, never dearer.
    assert!(per_byte(&large) <= 1.05 * per_byte(&small));
}

/// Words from which random files are made.
fn vocabulary() -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (_, text) in sketches().into_iter().chain(files("tests/language")) {
        let tokens = lex(&text);
        words.extend((0..tokens.len()).map(|i| tokens.text(i, &text).to_owned()));
    }
    words.extend(
        [
            "'",
            "|->",
            "\u{0}",
            "θ",
            "\"",
            "unpowered",
            "else",
            "{",
            "}",
        ]
        .map(str::to_owned),
    );
    words.sort();
    words.dedup();
    words
}

fn all_text() -> Vec<String> {
    sketches()
        .into_iter()
        .chain(files("tests/language"))
        .map(|(_, text)| text)
        .collect()
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        rng_seed: prop::test_runner::RngSeed::Fixed(1961),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_comes_out_as_it_went_in(text in any::<String>()) {
        assert_total(&text);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_bytes(&bytes);
    }

    #[test]
    fn any_tokens_in_any_order_are_read(
        words in prop::collection::vec(prop::sample::select(vocabulary()), 0..120),
        spaced in any::<bool>(),
    ) {
        let text = words.join(if spaced { " " } else { "" });
        assert_total(&text);
        let once = format(FileId(0), &text).text;
        prop_assert_eq!(&format(FileId(0), &once).text, &once);
    }

    /// Several tokens of a real file deleted, doubled or swapped.
    #[test]
    fn damaged_files_are_read(
        text in prop::sample::select(all_text()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3), 1..8),
    ) {
        let tokens = lex(&text);
        let mut words: Vec<&str> = (0..tokens.len()).map(|i| tokens.text(i, &text)).collect();
        for (at, other, what) in damage {
            let (at, other) = (at.index(words.len()), other.index(words.len()));
            match what {
                0 => { words.remove(at); }
                1 => words.insert(other, words[at]),
                _ => words.swap(at, other),
            }
        }
        let text = words.concat();
        assert_total(&text);
        let mut sources = SourceMap::new();
        let file = sources.add("damaged.bond", text.as_str());
        let diagnostics = paynter_syntax::parse(file, &text).diagnostics;
        render(&diagnostics, &sources, true);
        to_json(&diagnostics, &sources);
    }
}
