//! Names for C: identifiers that compile, one for each quantity.
//!
//! In:  names of the model, in any letters.
//! Out: identifiers of C99, never a keyword or a name that the generated code uses, never two alike.

use std::collections::HashSet;

/// Words of C, of math.h and of the code around.
const TAKEN: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "errno",
    "bool",
    "true",
    "false",
    "linux",
    "unix",
    "m",
    "NULL",
    "NAN",
    "INFINITY",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "fabs",
    "floor",
    "ceil",
    "round",
    "trunc",
    "sqrt",
    "cbrt",
    "exp",
    "log",
    "log10",
    "pow",
    "hypot",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "absolute",
    "square",
    "smaller",
    "larger",
    "signum",
    "modulo",
    "is_finite",
    "whole_power",
    "power",
    "turned",
    "sine",
    "cosine",
    "table_value",
    "table_slope",
    "matrix_values",
    "matrix_slopes",
    "fail",
    "real",
    "factor_block",
    "solve_block",
    "HELPER",
    "EPSILON",
];

/// Gives out identifiers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identifiers {
    used: HashSet<String>,
}

impl Identifiers {
    /// Gives the identifier for a name; two names never get the same.
    pub(crate) fn take(&mut self, name: &str) -> String {
        let plain = identifier(name);
        let mut candidate = plain.clone();
        let mut number = 2;
        while !self.used.insert(candidate.clone()) {
            candidate = format!("{plain}_{number}");
            number += 1;
        }
        candidate
    }
}

/// A name in letters, digits and underscores of ASCII.
pub(crate) fn identifier(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => out.push(c),
            '\'' => out.push_str("_rate"),
            ')' | ']' => {}
            _ if c.is_alphanumeric() => out.push_str(&format!("u{:04x}", c as u32)),
            _ if out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    let out = out.trim_end_matches('_');
    let is_bad = out.is_empty()
        || out.starts_with(|c: char| c.is_ascii_digit() || c == '_')
        || TAKEN.contains(&out)
        || out.starts_with("newton_")
        || out.starts_with("block_")
        || out.starts_with("table_")
        || is_macro(out);
    match is_bad {
        true => format!("v_{out}"),
        false => out.to_owned(),
    }
}

/// Macros and enumerators of the code around are in capitals with an underscore.
fn is_macro(name: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.contains('_') && name.chars().all(is_capital)
}

/// Text inside a C comment or string: nothing ends it early, and nothing but ASCII letters is left to guess.
pub(crate) fn in_comment(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    plain
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .replace("\\", "/")
        .replace("??", "? ?")
}

/// Text as a string of C.
pub(crate) fn in_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '?' => out.push_str("\\?"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_stay_apart() {
        let mut names = Identifiers::default();
        let given = [
            "c1.q",
            "c1_q",
            "link[3].f",
            "der(x)",
            "double",
            "2x",
            "θ",
            "N_X",
            "",
            "_a",
            "J",
        ];
        let made: Vec<String> = given.iter().map(|n| names.take(n)).collect();
        assert_eq!(
            made,
            [
                "c1_q", "c1_q_2", "link_3_f", "der_x", "v_double", "v_2x", "u03b8", "v_N_X", "v_",
                "v__a", "J"
            ]
        );
    }

    #[test]
    fn nothing_breaks_out_of_comments_and_strings() {
        assert_eq!(in_comment("a */ b \\\n"), "a * / b / ");
        assert_eq!(in_string("say \"hi\" \\ ??/"), r#""say \"hi\" \\ \?\?/""#);
    }
}
