//! One error stays one error, and is reported where it is.

mod common;
use common::{files, messages, read, sketches};
use paynter_syntax::{Diagnostic, SourceMap, TokenKind, lex};

#[test]
fn every_sketch_parses_without_a_message() {
    for (name, text) in sketches() {
        assert_eq!(messages(&text), Vec::<String>::new(), "{name}");
    }
}

/// Deletes each token in turn and gives the cases with more than three messages, or with
/// none within two lines of the place.
fn complaints_after_deletion(name: &str, text: &str) -> Vec<String> {
    let tokens = lex(text);
    let mut complaints = Vec::new();
    for i in (0..tokens.len()).filter(|&i| !tokens.kind(i).is_trivia()) {
        let range = tokens.range(i);
        let cut = format!("{}{}", &text[..range.start], &text[range.end..]);
        let line = text[..range.start].matches('\n').count() + 1;
        let lines = lines_of_messages(&cut);
        let is_near = lines.iter().any(|l| l.abs_diff(line) <= 2);
        if !lines.is_empty() && (!is_near || lines.len() > 3) {
            let what = &text[range];
            complaints.push(format!(
                "{name}:{line} without `{what}`: {:#?}",
                messages(&cut)
            ));
        }
    }
    complaints
}

fn lines_of_messages(text: &str) -> Vec<usize> {
    let diagnostics = read(text).diagnostics;
    let mut sources = SourceMap::new();
    sources.add("cut.bond", text);
    let place = |d: &Diagnostic| d.primary.as_ref().expect("a syntax error has a place").span;
    diagnostics
        .iter()
        .map(|d| sources.line_column(place(d)).0)
        .collect()
}

fn assert_no_complaints(complaints: &[String]) {
    assert!(
        complaints.is_empty(),
        "{} complaints\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
fn deleting_any_one_token_gives_few_messages_near_the_place() {
    let all = sketches().into_iter().chain(files("tests/language"));
    let complaints: Vec<String> = all
        .flat_map(|(name, text)| complaints_after_deletion(&name, &text))
        .collect();
    assert_no_complaints(&complaints);
}

/// Puts a blank line and comments, indented like the body they stand in, before a line.
fn airy_line(line: &str) -> String {
    let code = line.trim_start();
    let inner = if code.starts_with('}') { "    " } else { "" };
    let indent = format!("{}{inner}", &line[..line.len() - code.len()]);
    format!("\n{indent}// one\n{indent}// two\n{indent}// three\n{line}\n")
}

/// With comments between all lines, the next statement is far away.
#[test]
fn deleting_a_token_is_reported_near_in_an_airy_file_too() {
    let mut complaints = Vec::new();
    for (name, text) in sketches() {
        let airy: String = text.lines().map(airy_line).collect();
        complaints.extend(complaints_after_deletion(&name, &airy));
    }
    assert_no_complaints(&complaints);
}

#[test]
fn a_file_may_lose_any_kind_of_token_in_the_tests_above() {
    // The law above says something about every sign of the grammar that the sketches use.
    let mut seen = std::collections::HashSet::new();
    for (_, text) in sketches() {
        let tokens = lex(&text);
        seen.extend((0..tokens.len()).map(|i| tokens.kind(i)));
    }
    for kind in [
        TokenKind::LBrace,
        TokenKind::RBrace,
        TokenKind::LParen,
        TokenKind::DotDot,
    ] {
        assert!(seen.contains(&kind), "{kind:?}");
    }
}
