//! Every code has a text that provokes it, with the message and the place it gives.

mod common;
use common::{files, messages, read, read_bytes};
use paynter_syntax::{FileId, SourceMap, code, parse, render};
use std::collections::BTreeSet;

/// (text, the message as `line: code message`)
const FIXTURES: &[(&str, &str)] = &[
    (
        "model A { x = }",
        "1: E0101 expected a value, found the end of the block",
    ),
    (
        "experiment e Circuit { }",
        "1: E0101 expected `of` and a model, found `Circuit`",
    ),
    (
        "model A {\n    sample every 1 [ms] { x = 1 }\n}",
        "2: E0101 expected `at` and a rate, found `every`",
    ),
    (
        "model A {\n    x = a +\n    y = 2\n}",
        "2: E0101 nothing follows `+` at the end of the line",
    ),
    (
        "model A {\n    if c then { x = 1 }\n}",
        "2: E0101 expected `{`, found `then`",
    ),
    (
        "model A {\n    y = if x = 0 then 1 else 2\n}",
        "2: E0101 two values are compared with `==`",
    ),
    (
        "model A {\n    when (x = 0) { y = 1 }\n}",
        "2: E0101 two values are compared with `==`",
    ),
    (
        "model A {\n    if n = 2 { r: R(1) }\n}",
        "2: E0101 two values are compared with `==`",
    ),
    (
        "model A {\n    when x > 0 { reinit(q, 0) }\n}",
        "2: E0101 expected the name of a state, found `(`",
    ),
    (
        "model A {\n    tilt 1 -> i: I(2)\n}",
        "2: E0101 expected `:`, `=` or an arrow, found `1`",
    ),
    (
        "model A {\n    x = 1\n\nmodel B { }",
        "2: E0102 `{` is never closed",
    ),
    (
        "model A {\n    r: R(50\n    c: C(1)\n}",
        "2: E0102 `(` is never closed",
    ),
    (
        "model A {\n    x = a[2 + 1\n}",
        "2: E0102 `[` is never closed",
    ),
    ("model A { } }", "1: E0103 `}` closes nothing"),
    ("model A {\n    x = 1)\n}", "2: E0103 `)` closes nothing"),
    ("model A { x = a − b }", "1: E0104 `−` means nothing here"),
    ("use \"other.bond", "1: E0105 a string has no closing quote"),
    ("model A { x = 1e999 }", "1: E0106 this number is too large"),
    ("model A { x = 5 [kg m] }", "1: E0107 this is not a unit"),
    ("model A { x = 5 [2] }", "1: E0107 this is not a unit"),
    (
        "model A { x = 5 [m^99999999999] }",
        "1: E0107 this is not a unit",
    ),
    (
        "model A { x = eye(3) [m] }",
        "1: E0108 a unit may follow only a number, a matrix or a name being declared",
    ),
    (
        "model A { r: R(50 ohm) }",
        "1: E0109 a word follows a number without an operator",
    ),
    (
        "model A { r: R(50 kg*m^2]) }",
        "1: E0109 a word follows a number without an operator",
    ),
    ("model A {\n    r1\n}", "2: E0111 this line does nothing"),
    ("model A {\n    R(5)\n}", "2: E0111 this line does nothing"),
    (
        "model A {\n    a -> b, c -> d\n}",
        "2: E0112 a list is allowed only at the start or at the end of a chain",
    ),
    ("model A { a: 2 -> b }", "1: E0113 a junction is `0` or `1`"),
    (
        "model A { solve x { x = 2 } }",
        "1: E0114 an equation is written with `==`",
    ),
    (
        "model A { invariant dot(q, q) }",
        "1: E0114 an equation is written with `==`",
    ),
    (
        "modle A { }",
        "1: E0115 `modle` does not begin an item of a file",
    ),
    (
        "lagrange Pendulum {\n    coordinate theta [rad]\n}",
        "1: E0115 `lagrange` does not begin an item of a file",
    ),
    (
        "a -> b\nc -> d",
        "1: E0115 `a` does not begin an item of a file",
    ),
    (
        "model A {\n    parm n = 3\n}",
        "2: E0116 `parm` does not begin a statement",
    ),
    (
        "experiment e of A { recrod x }",
        "1: E0116 `recrod` does not begin a statement",
    ),
    (
        "model A { param not = 3 }",
        "1: E0117 `not` is a reserved word, not a name",
    ),
    (
        "model A { x' = 3 }",
        "1: E0118 `'` is the transpose, not a derivative",
    ),
    (
        "model A { bond s: a -> b -> c }",
        "1: E0119 the named bond `s` joins exactly two nodes",
    ),
    (
        "model A {\n    x = 1\n    + 2\n}",
        "3: E0120 a line cannot start with `+`",
    ),
    (
        "model A { x = (a)(b) }",
        "1: E0124 only a name can be called",
    ),
    (
        "experiment b extends a { stop = 1 [s] }",
        "1: E0125 there is no experiment `a` to extend",
    ),
];

#[test]
fn every_fixture_gives_its_one_message() {
    for (text, expected) in FIXTURES {
        assert_eq!(messages(text), [*expected], "{text}");
    }
}

fn nested_too_deep() -> String {
    format!("model A {{ x = {}1{} }}", "(".repeat(300), ")".repeat(300))
}

fn many_errors() -> String {
    format!("model A {{\n{}}}", "    x = )\n".repeat(300))
}

#[test]
fn every_code_has_a_fixture() {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (text, _) in FIXTURES {
        seen.extend(read(text).diagnostics.iter().map(|d| d.code));
    }
    seen.extend(read(&nested_too_deep()).diagnostics.iter().map(|d| d.code));
    seen.extend(read(&many_errors()).diagnostics.iter().map(|d| d.code));
    seen.extend(read_bytes(b"model \xff").diagnostics.iter().map(|d| d.code));
    seen.extend(
        read(&" ".repeat((32 << 20) + 1))
            .diagnostics
            .iter()
            .map(|d| d.code),
    );
    let listed: BTreeSet<&str> = code::TABLE.iter().map(|(code, ..)| *code).collect();
    assert_eq!(seen, listed);
    assert_eq!(listed.len(), code::TABLE.len(), "a code is listed twice");
}

#[test]
fn every_code_is_explained() {
    for (code, title, explanation) in code::TABLE {
        assert!(code.starts_with("E01") && code.len() == 5, "{code}");
        assert!(!title.is_empty() && explanation.ends_with('.'), "{code}");
    }
}

#[test]
fn independent_errors_are_all_reported() {
    let text = "model A {\n    param = 3, k = 2\n    x = a b\n    r: R(50 ohm)\n    when c { y = }\n}\nexperiment e of A {\n    stop 3\n    record x,\n}\n";
    let lines: Vec<String> = messages(text).iter().map(|m| m[..8].to_owned()).collect();
    assert_eq!(
        lines,
        [
            "2: E0101", "3: E0101", "4: E0109", "5: E0101", "8: E0101", "9: E0101"
        ]
    );
}

#[test]
fn wording_follows_the_style() {
    let texts = FIXTURES.iter().map(|(text, _)| (*text).to_owned());
    for text in texts.chain([nested_too_deep(), many_errors()]) {
        for d in read(&text).diagnostics {
            let label = d.primary.clone().expect("a syntax error has a place").text;
            for words in d.help.iter().chain([&d.message, &label]) {
                assert!(!words.ends_with('.') && !words.is_empty(), "{words}");
                let first = words.chars().next().expect("not empty");
                assert!(!first.is_uppercase(), "{words}");
            }
        }
    }
}

#[test]
fn a_file_that_is_not_text_says_where() {
    let parsed = read_bytes(b"model A {\n\xff\xfe }");
    let label = parsed.diagnostics[0].primary.clone().expect("a place").text;
    assert_eq!(label, "byte 10, on line 2, is not text");
}

#[test]
fn a_unit_behind_an_expression_is_sent_to_the_name() {
    let mut sources = SourceMap::new();
    let text = "model A {\n    J = eye(3) [kg]\n}\n";
    let file: FileId = sources.add("a.bond", text);
    let shown = render(&parse(file, text).diagnostics, &sources, false);
    let expected = "\
error[E0108]: a unit may follow only a number, a matrix or a name being declared
  ┌─ a.bond:2:16
  │
2 │     J = eye(3) [kg]
  │                ^^^^ here it follows an expression, which has its unit already
  │
  = help: the unit goes after the name that is defined: `J [kg] = …`

";
    assert_eq!(shown, expected);
}

#[test]
fn files_that_use_the_whole_language_have_no_message() {
    for (name, text) in files("tests/language") {
        assert_eq!(messages(&text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn statements_of_other_languages_are_told_what_to_write() {
    let cases = [
        ("parameter k = 2", "write `param k = …`"),
        ("constant k = 2", "write `param k = …`"),
        (
            "Real x(start = 1)",
            "a signal is not declared: write `x = …`",
        ),
        ("let x = 3", "a signal is not declared: write `x = …`"),
        ("initial x = 3", "write `start x = …`"),
        ("clock tick = 0.1", "`sample at 100 [Hz] { … }`"),
        ("import motors", "write `use \"file.bond\"`"),
        ("Se source(5)", "the name comes first: `source: Se`"),
    ];
    for (line, help) in cases {
        let parsed = read(&format!("model A {{\n    {line}\n}}\n"));
        let shown = parsed.diagnostics[0].help.join("; ");
        assert!(shown.contains(help), "{line}:\n{shown}");
    }
}
