//! Prints a tree as LaTeX for math mode.
//!
//! In:  a tree and names.
//! Out: `\frac{P_{2}^{2} \sin\theta \cos\theta}{I_{2}^{2}}`.
//!
//! **Invariant:** braces are balanced, `\left` and `\right` pair up, and only commands of
//! LaTeX with amsmath are used, whatever characters a name holds.

use crate::expr::{Comparison, Function1, SymbolId};
use crate::print::letters::{name_of, spelled, split_subscript};
use crate::print::text::{function_name, number, pi_multiple};
use crate::print::tree::Tree;
use crate::print::typeset::{Around, binding_of, starts_with_digit};

/// Prints a tree.
pub fn to_latex(tree: &Tree, name: &dyn Fn(SymbolId) -> String) -> String {
    let mut out = String::new();
    write(&mut out, tree, Around::Anything, name);
    out
}

fn write(out: &mut String, tree: &Tree, around: Around, name: &dyn Fn(SymbolId) -> String) {
    if binding_of(tree) < around {
        out.push_str("\\left(");
        write(out, tree, Around::Anything, name);
        out.push_str("\\right)");
        return;
    }

    match tree {
        Tree::Number(x) => out.push_str(&latex_number(*x)),
        Tree::Symbol(s) => out.push_str(&latex_name(&name(*s))),
        Tree::Sum(terms) => {
            for (i, term) in terms.iter().enumerate() {
                out.push_str(term.sign(i == 0));
                write(out, &term.tree, Around::Product, name);
            }
        }
        Tree::Product(factors) => write_product(out, factors, name),
        Tree::Quotient(top, bottom) => {
            out.push_str("\\frac{");
            write(out, top, Around::Anything, name);
            out.push_str("}{");
            write(out, bottom, Around::Anything, name);
            out.push('}');
        }
        Tree::Power(base, exponent) => write_power(out, base, exponent, name),
        Tree::Call1(f, a) => write_function(out, *f, None, a, name),
        Tree::Call(f, args) => write_call(out, f, args, name),
        Tree::Compare(c, a, b) => {
            write(out, a, Around::Sum, name);
            out.push_str(comparison_sign(*c));
            write(out, b, Around::Sum, name);
        }
        Tree::Not(a) => {
            out.push_str("\\lnot ");
            write(out, a, Around::Base, name);
        }
        Tree::And(a, b) | Tree::Or(a, b) => {
            write(out, a, Around::Comparison, name);
            out.push_str(if matches!(tree, Tree::And(..)) {
                " \\land "
            } else {
                " \\lor "
            });
            write(out, b, Around::Comparison, name);
        }
        Tree::If(parts) => {
            let [condition, a, b] = &**parts;
            out.push_str("\\begin{cases} ");
            write(out, a, Around::Anything, name);
            out.push_str(" & \\text{if } ");
            write(out, condition, Around::Anything, name);
            out.push_str(" \\\\ ");
            write(out, b, Around::Anything, name);
            out.push_str(" & \\text{otherwise} \\end{cases}");
        }
        Tree::Verbatim(text) => out.push_str(&format!("\\text{{{}}}", latex_text(text))),
        Tree::Cut => out.push_str("\\ldots"),
    }
}

fn write_call(out: &mut String, f: &str, args: &[Tree], name: &dyn Fn(SymbolId) -> String) {
    out.push_str(&format!("\\operatorname{{{}}}", escape(f)));
    out.push_str("\\left(");
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, arg, Around::Anything, name);
    }
    out.push_str("\\right)");
}

fn write_product(out: &mut String, factors: &[Tree], name: &dyn Fn(SymbolId) -> String) {
    for (i, factor) in factors.iter().enumerate() {
        if i > 0 {
            out.push_str(if starts_with_digit(factor) {
                " \\cdot "
            } else {
                " "
            });
        }
        write(out, factor, Around::Product, name);
    }
}

fn write_power(out: &mut String, base: &Tree, exponent: &Tree, name: &dyn Fn(SymbolId) -> String) {
    // sin² θ rather than (sin θ)²
    if let (Tree::Call1(f, a), Tree::Number(n)) = (base, exponent)
        && has_power_form(*f)
        && n.fract() == 0.0
        && *n > 1.0
    {
        write_function(out, *f, Some(*n), a, name);
        return;
    }
    // A dotted or primed symbol keeps its exponent apart from its own decoration.
    let is_decorated = matches!(base, Tree::Symbol(s) if latex_name(&name(*s)).contains('^'));
    if is_decorated {
        out.push_str("\\left(");
    }
    write(out, base, Around::Base, name);
    if is_decorated {
        out.push_str("\\right)");
    }
    out.push_str("^{");
    write(out, exponent, Around::Anything, name);
    out.push('}');
}

fn has_power_form(f: Function1) -> bool {
    matches!(
        f,
        Function1::Sin
            | Function1::Cos
            | Function1::Tan
            | Function1::Sinh
            | Function1::Cosh
            | Function1::Tanh
    )
}

fn write_function(
    out: &mut String,
    f: Function1,
    power: Option<f64>,
    a: &Tree,
    name: &dyn Fn(SymbolId) -> String,
) {
    let fences = match f {
        Function1::Sqrt => Some(("\\sqrt{", "}")),
        Function1::Abs => Some(("\\left|", "\\right|")),
        Function1::Floor => Some(("\\left\\lfloor ", "\\right\\rfloor ")),
        Function1::Ceil => Some(("\\left\\lceil ", "\\right\\rceil ")),
        Function1::Exp => Some(("e^{", "}")),
        _ => None,
    };
    if let Some((open, close)) = fences {
        // A bare e^{x} with another exponent on top would be a double superscript.
        out.push_str(if f == Function1::Exp { "{" } else { "" });
        out.push_str(open);
        write(out, a, Around::Anything, name);
        out.push_str(close);
        out.push_str(if f == Function1::Exp { "}" } else { "" });
        return;
    }

    out.push_str(&match f {
        Function1::Sin
        | Function1::Cos
        | Function1::Tan
        | Function1::Sinh
        | Function1::Cosh
        | Function1::Tanh => format!("\\{}", function_name(f)),
        Function1::Asin => "\\arcsin".to_owned(),
        Function1::Acos => "\\arccos".to_owned(),
        Function1::Atan => "\\arctan".to_owned(),
        Function1::Log => "\\ln".to_owned(),
        Function1::Log10 => "\\log_{10}".to_owned(),
        _ => format!("\\operatorname{{{}}}", function_name(f)),
    });

    if let Some(n) = power {
        out.push_str(&format!("^{{{n}}}"));
    }
    if matches!(a, Tree::Symbol(_)) {
        out.push(' ');
        write(out, a, Around::Base, name);
    } else {
        out.push_str("\\left(");
        write(out, a, Around::Anything, name);
        out.push_str("\\right)");
    }
}

fn comparison_sign(c: Comparison) -> &'static str {
    match c {
        Comparison::Less => " < ",
        Comparison::LessEqual => " \\le ",
        Comparison::Greater => " > ",
        Comparison::GreaterEqual => " \\ge ",
        Comparison::Equal => " = ",
        Comparison::NotEqual => " \\ne ",
    }
}

fn latex_number(x: f64) -> String {
    if let Some((n, d)) = pi_multiple(x) {
        let sign = if x < 0.0 { "-" } else { "" };
        let top = if n == 1 {
            "\\pi".to_owned()
        } else {
            format!("{n} \\pi")
        };
        return if d == 1 {
            format!("{sign}{top}")
        } else {
            format!("{sign}\\frac{{{top}}}{{{d}}}")
        };
    }
    let text = number(x);
    match text.split_once('e') {
        Some(("1", exponent)) => format!("10^{{{exponent}}}"),
        Some((digits, exponent)) => format!("{digits} \\cdot 10^{{{exponent}}}"),
        None => text
            .replace("inf", "\\infty ")
            .replace("NaN", "\\mathrm{NaN}"),
    }
}

/// Writes a name of the model: `theta` as a letter, `P1` with a subscript, `x'` and
/// `der(x)` with a dot, `i2.p` as p with the subscript i2.
pub fn latex_name(name: &str) -> String {
    let inside = name.trim_end_matches('\'');
    match name.len() - inside.len() {
        0 => {}
        1 => return format!("\\dot{{{}}}", latex_name(inside)),
        2 => return format!("\\ddot{{{}}}", latex_name(inside)),
        n => return format!("{{{}}}^{{({n})}}", latex_name(inside)),
    }

    if let Some(inside) = name
        .strip_prefix("der(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return format!("\\dot{{{}}}", latex_name(inside));
    }
    if let Some(inside) = name
        .strip_prefix("pre(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return format!("{{{}}}^{{-}}", latex_name(inside));
    }
    let (path, last) = match name.rsplit_once('.') {
        Some((path, last)) => (Some(path), last),
        None => (None, name),
    };
    let (last, index) = match last.split_once('[') {
        Some((last, rest)) => (last, Some(rest.trim_end_matches(']'))),
        None => (last, None),
    };
    let (letter, own) = split_subscript(last);
    let mut subscripts: Vec<String> = Vec::new();
    subscripts.extend(own.map(upright));
    subscripts.extend(path.map(upright));
    subscripts.extend(index.map(upright));
    let letter = letter_name(letter);
    if subscripts.is_empty() {
        letter
    } else {
        format!("{letter}_{{{}}}", subscripts.join(", "))
    }
}

/// Digits stay as they are, Greek names are letters, words are upright.
fn upright(text: &str) -> String {
    if text.chars().all(|c| c.is_ascii_digit()) {
        text.to_owned()
    } else if spelled(text).is_some() {
        format!("\\{text}")
    } else {
        format!("\\mathrm{{{}}}", escape(text))
    }
}

/// One letter is italic, Greek names are letters, other words are one italic word.
fn letter_name(name: &str) -> String {
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if c.is_ascii_alphabetic() => c.to_string(),
        (Some(c), None) if name_of(c).is_some() => {
            name_of(c).map_or_else(String::new, |word| format!("\\{word}"))
        }
        _ if spelled(name).is_some() => format!("\\{name}"),
        _ => format!("\\mathit{{{}}}", escape(name)),
    }
}

/// Writes any text so that LaTeX takes it literally inside `\mathrm` or `\mathit`.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '_' | '#' | '%' | '&' | '$' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\backslash "),
            '^' => out.push_str("\\wedge "),
            '~' => out.push_str("\\sim "),
            c if c.is_ascii() && !c.is_ascii_control() => out.push(c),
            c => match name_of(c) {
                Some(word) => {
                    out.push('\\');
                    out.push_str(word);
                    out.push(' ');
                }
                // pdflatex stops at characters it has no glyph for.
                None => out.push('?'),
            },
        }
    }
    out
}

/// Writes words for text mode so that LaTeX takes them literally.
pub fn latex_text(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '_' | '#' | '%' | '&' | '$' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            c if c.is_ascii() && !c.is_ascii_control() => out.push(c),
            c => match name_of(c) {
                Some(word) => out.push_str(&format!("\\(\\{word}\\)")),
                // pdflatex stops at characters it has no glyph for.
                None => out.push('?'),
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_letters_with_subscripts() {
        assert_eq!(latex_name("theta"), "\\theta");
        assert_eq!(latex_name("P1"), "P_{1}");
        assert_eq!(latex_name("P2'"), "\\dot{P_{2}}");
        assert_eq!(latex_name("x''"), "\\ddot{x}");
        assert_eq!(latex_name("M_alpha"), "M_{\\alpha}");
        assert_eq!(latex_name("R_load"), "R_{\\mathrm{load}}");
        assert_eq!(latex_name("SE12"), "\\mathit{SE}_{12}");
        assert_eq!(latex_name("cap[3].q"), "q_{\\mathrm{cap[3]}}");
        assert_eq!(latex_name("der(i2.p)"), "\\dot{p_{\\mathrm{i2}}}");
        assert_eq!(latex_name("φ"), "\\phi");
        assert_eq!(latex_name("a#b"), "\\mathit{a\\#b}");
    }

    #[test]
    fn squares_of_functions_are_written_as_in_books() {
        let sin = Tree::Call1(Function1::Sin, Box::new(Tree::Symbol(SymbolId(0))));
        let square = Tree::Power(Box::new(sin), Box::new(Tree::Number(2.0)));
        assert_eq!(
            to_latex(&square, &|_| "theta".to_owned()),
            "\\sin^{2} \\theta"
        );
    }
}
