//! One error stays one error, and is reported where it is.

mod common;
use common::{messages, read, sketches};
use paynter_syntax::{SourceMap, TokenKind, lex};

#[test]
fn every_sketch_parses_without_a_message() {
    for (name, text) in sketches() {
        assert_eq!(messages(&text), Vec::<String>::new(), "{name}");
    }
}

/// Deletes each token of each sketch in turn.
#[test]
fn deleting_any_one_token_gives_few_messages_near_the_place() {
    let mut complaints = Vec::new();
    for (name, text) in sketches() {
        let tokens = lex(&text);
        for i in (0..tokens.len()).filter(|&i| !tokens.kind(i).is_trivia()) {
            let range = tokens.range(i);
            let cut = format!("{}{}", &text[..range.start], &text[range.end..]);
            let line = text[..range.start].matches('\n').count() + 1;
            let diagnostics = read(&cut).diagnostics;
            let mut sources = SourceMap::new();
            sources.add("cut.bond", cut.as_str());
            let lines: Vec<usize> = diagnostics
                .iter()
                .map(|d| {
                    sources
                        .line_column(d.primary.as_ref().expect("a place").span)
                        .0
                })
                .collect();
            let is_near = lines.iter().any(|l| l.abs_diff(line) <= 2);
            if !lines.is_empty() && (!is_near || lines.len() > 3) {
                let what = &text[range];
                complaints.push(format!(
                    "{name}:{line} without `{what}`: {:#?}",
                    messages(&cut)
                ));
            }
        }
    }
    assert!(
        complaints.is_empty(),
        "{} complaints\n{}",
        complaints.len(),
        complaints.join("\n")
    );
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
