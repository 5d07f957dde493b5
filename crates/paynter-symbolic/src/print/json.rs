//! Prints a tree as JSON, for programs.
//!
//! In:  a tree and names.
//! Out: numbers as numbers, symbols as `{"symbol": "x"}`, everything else as
//!      `{"op": "+", "args": [...]}`; a negated term is `{"op": "-", "args": [x]}`.
//!
//! **Invariant:** the output is one valid JSON value.

use crate::expr::SymbolId;
use crate::print::text::{comparison_sign, function_name};
use crate::print::tree::Tree;
use std::fmt::Write as _;

/// Prints a tree.
pub fn to_json(tree: &Tree, name: &dyn Fn(SymbolId) -> String) -> String {
    let mut out = String::new();
    write(&mut out, tree, name);
    out
}

fn write(out: &mut String, tree: &Tree, name: &dyn Fn(SymbolId) -> String) {
    match tree {
        Tree::Number(x) if x.is_finite() => {
            let _ = write!(out, "{x:?}");
        }
        // JSON has no infinity and no NaN.
        Tree::Number(x) => out.push_str(&json_string(&format!("{x}"))),
        Tree::Symbol(s) => {
            let _ = write!(out, "{{\"symbol\":{}}}", json_string(&name(*s)));
        }
        Tree::Sum(terms) => {
            if let [only] = terms.as_slice()
                && only.negative
            {
                operation(out, "-", std::slice::from_ref(&only.tree), name);
                return;
            }
            out.push_str("{\"op\":\"+\",\"args\":[");
            for (i, term) in terms.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                if term.negative {
                    operation(out, "-", std::slice::from_ref(&term.tree), name);
                } else {
                    write(out, &term.tree, name);
                }
            }
            out.push_str("]}");
        }
        Tree::Product(factors) => operation(out, "*", factors, name),
        Tree::Quotient(a, b) => pair(out, "/", a, b, name),
        Tree::Power(a, b) => pair(out, "^", a, b, name),
        Tree::Call1(f, a) => operation(out, function_name(*f), std::slice::from_ref(&**a), name),
        Tree::Call(f, args) => operation(out, f, args, name),
        Tree::Compare(c, a, b) => pair(out, comparison_sign(*c), a, b, name),
        Tree::Not(a) => operation(out, "not", std::slice::from_ref(&**a), name),
        Tree::And(a, b) => pair(out, "and", a, b, name),
        Tree::Or(a, b) => pair(out, "or", a, b, name),
        Tree::If(parts) => operation(out, "if", &parts[..], name),
        Tree::Verbatim(text) => out.push_str(&json_string(text)),
        Tree::Cut => out.push_str("null"),
    }
}

fn operation(out: &mut String, op: &str, args: &[Tree], name: &dyn Fn(SymbolId) -> String) {
    let _ = write!(out, "{{\"op\":{},\"args\":[", json_string(op));
    for (i, arg) in args.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        write(out, arg, name);
    }
    out.push_str("]}");
}

fn pair(out: &mut String, op: &str, a: &Tree, b: &Tree, name: &dyn Fn(SymbolId) -> String) {
    let _ = write!(out, "{{\"op\":{},\"args\":[", json_string(op));
    write(out, a, name);
    out.push(',');
    write(out, b, name);
    out.push_str("]}");
}

/// Quotes a text for JSON.
pub fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::tree::Term;

    #[test]
    fn a_difference_is_a_sum_with_a_negated_term() {
        let tree = Tree::Sum(vec![
            Term {
                negative: false,
                tree: Tree::Symbol(SymbolId(0)),
            },
            Term {
                negative: true,
                tree: Tree::Number(2.0),
            },
        ]);
        assert_eq!(
            to_json(&tree, &|_| "a\"b".to_owned()),
            r#"{"op":"+","args":[{"symbol":"a\"b"},{"op":"-","args":[2.0]}]}"#
        );
    }
}
