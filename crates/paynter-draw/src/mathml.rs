//! Equations as MathML, which browsers set as books do, with nothing but what they have.
//!
//! In:  a [`Presentation`] and names.
//! Out: one `<math>` for each line.
//!
//! **Invariant:** every word of the model is escaped; printing recurses no deeper than
//! [`paynter_symbolic::print::tree::MAX_DEPTH`] levels of a tree.

use crate::svg::escape;
use paynter_symbolic::SymbolId;
use paynter_symbolic::expr::{Comparison, Function1};
use paynter_symbolic::present::{Cause, Effect, Happening, Line, MatrixEquation, Presentation};
use paynter_symbolic::print::letters::{spelled, split_subscript};
use paynter_symbolic::print::text::{function_name, number as number_text, pi_multiple};
use paynter_symbolic::print::typeset::{Around, binding_of, starts_with_digit};
use paynter_symbolic::print::{Term, Tree};
use std::fmt::Write as _;

type Naming<'a> = &'a dyn Fn(SymbolId) -> String;

/// Lines of equations, each a `<math>` element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Equations {
    /// State equations, implicit ones, outputs.
    pub main: Vec<String>,
    /// What the others use.
    pub definitions: Vec<String>,
}

/// Writes equations.
pub fn equations(presentation: &Presentation, name: Naming<'_>) -> Equations {
    let mut found = Equations::default();
    let lines = |lines: &[Line]| -> Vec<String> { lines.iter().map(|l| line(l, name)).collect() };
    found.main.extend(lines(&presentation.states));
    let matrices = presentation.matrices.iter();
    for (matrix, names) in matrices.zip(presentation.matrix_names(name)) {
        found.main.push(matrix_line(matrix, &names, name));
        found.definitions.extend(entries(matrix, &names, name));
    }
    for system in &presentation.implicit {
        let residual = |r: &Tree| equation("<mn>0</mn>", &tree(r, name), "");
        found.main.extend(system.residuals.iter().map(residual));
    }
    found.main.extend(lines(&presentation.outputs));
    for happening in &presentation.happenings {
        found.main.extend(happening_lines(happening, name));
    }
    found.definitions.extend(lines(&presentation.where_lines));
    found
}

fn equation(left: &str, right: &str, more: &str) -> String {
    format!("<math display=\"block\"><mrow>{left}<mo>=</mo>{right}{more}</mrow></math>")
}

fn line(line: &Line, name: Naming<'_>) -> String {
    let named = |s: SymbolId| {
        let own = line.range.as_ref().and_then(|r| r.names.get(&s).cloned());
        own.unwrap_or_else(|| name(s))
    };
    let more = match &line.range {
        Some(range) => format!(
            "<mtext>,&#160; </mtext><mi>{}</mi><mo>=</mo><mn>{}</mn><mo>…</mo><mn>{}</mn>",
            escape(&range.variable),
            range.from,
            range.to
        ),
        None => String::new(),
    };
    equation(
        &name_math(&named(line.symbol)),
        &tree(&line.right, &named),
        &more,
    )
}

/// What happens at a tick or an event: when, and then what is set.
fn happening_lines(happening: &Happening, name: Naming<'_>) -> Vec<String> {
    let words = |text: &str| format!("<mtext>{}</mtext>", escape(text));
    let cause = match &happening.cause {
        Cause::Tick(rate, 1) => words(&format!("at {rate} Hz")),
        Cause::Tick(rate, divisor) => words(&format!("at {rate}/{divisor} Hz")),
        Cause::Event(condition) => format!(
            "<mtext>when&#160;</mtext>{}<mtext>&#160;becomes true</mtext>",
            tree(condition, name)
        ),
    };
    let mut lines = vec![format!(
        "<math display=\"block\"><mrow>{cause}</mrow></math>"
    )];
    lines.extend(happening.effects.iter().map(|effect| match effect {
        Effect::Set(set) => line(set, name),
        Effect::Jump(jump) => {
            let left = format!(
                "<mtext>reinit&#160;</mtext>{}",
                name_math(&name(jump.symbol))
            );
            equation(&left, &tree(&jump.right, name), "")
        }
        Effect::Stop(message) => format!(
            "<math display=\"block\">{}</math>",
            words(&format!("stop: {message}"))
        ),
    }));
    lines
}

fn matrix_line(matrix: &MatrixEquation, names: &(String, String), name: Naming<'_>) -> String {
    let mut left = name_math(&names.0);
    left.push_str("<mrow><mo>[</mo><mtable>");
    for &s in &matrix.unknowns {
        let _ = write!(left, "<mtr><mtd>{}</mtd></mtr>", name_math(&name(s)));
    }
    left.push_str("</mtable><mo>]</mo></mrow>");
    equation(&left, &name_math(&names.1), "")
}

fn entries(matrix: &MatrixEquation, names: &(String, String), name: Naming<'_>) -> Vec<String> {
    let at = |letter: &str, index: String| {
        format!("<msub>{}<mtext>{index}</mtext></msub>", name_math(letter))
    };
    let mut lines = Vec::new();
    for (row, column, value) in &matrix.matrix {
        let mut left = at(&names.0, format!("{},{}", row + 1, column + 1));
        if matrix.is_symmetric && row != column {
            let mirrored = at(&names.0, format!("{},{}", column + 1, row + 1));
            let _ = write!(left, "<mo>=</mo>{mirrored}");
        }
        lines.push(equation(&left, &tree(value, name), ""));
    }
    for (row, value) in matrix.right.iter().enumerate() {
        let left = at(&names.1, (row + 1).to_string());
        lines.push(equation(&left, &tree(value, name), ""));
    }
    lines
}

fn tree(tree: &Tree, name: Naming<'_>) -> String {
    let mut out = String::new();
    write(&mut out, tree, Around::Anything, name);
    out
}

fn write(out: &mut String, tree: &Tree, around: Around, name: Naming<'_>) {
    if binding_of(tree) < around {
        fenced(out, "(", tree, ")", name);
        return;
    }

    match tree {
        Tree::Number(x) => number(out, *x),
        Tree::Symbol(s) => out.push_str(&name_math(&name(*s))),
        Tree::Sum(terms) => sum(out, terms, name),
        Tree::Product(factors) => product(out, factors, name),
        Tree::Quotient(top, bottom) => {
            out.push_str("<mfrac><mrow>");
            write(out, top, Around::Anything, name);
            out.push_str("</mrow><mrow>");
            write(out, bottom, Around::Anything, name);
            out.push_str("</mrow></mfrac>");
        }
        Tree::Power(base, exponent) => {
            out.push_str("<msup><mrow>");
            write(out, base, Around::Base, name);
            out.push_str("</mrow><mrow>");
            write(out, exponent, Around::Anything, name);
            out.push_str("</mrow></msup>");
        }
        Tree::Call1(f, a) => function(out, *f, a, name),
        Tree::Call(f, arguments) => call(out, f, arguments, name),
        Tree::Compare(c, a, b) => {
            out.push_str("<mrow>");
            write(out, a, Around::Sum, name);
            let _ = write!(out, "<mo>{}</mo>", comparison_sign(*c));
            write(out, b, Around::Sum, name);
            out.push_str("</mrow>");
        }
        Tree::Not(a) => {
            out.push_str("<mrow><mo>¬</mo>");
            write(out, a, Around::Base, name);
            out.push_str("</mrow>");
        }
        Tree::And(a, b) | Tree::Or(a, b) => {
            let sign = if matches!(tree, Tree::And(..)) {
                '∧'
            } else {
                '∨'
            };
            out.push_str("<mrow>");
            write(out, a, Around::Comparison, name);
            let _ = write!(out, "<mo>{sign}</mo>");
            write(out, b, Around::Comparison, name);
            out.push_str("</mrow>");
        }
        Tree::If(parts) => cases(out, parts, name),
        Tree::Verbatim(text) => {
            let _ = write!(out, "<mtext>{}</mtext>", escape(text));
        }
        Tree::Cut => out.push_str("<mo>…</mo>"),
    }
}

fn sum(out: &mut String, terms: &[Term], name: Naming<'_>) {
    out.push_str("<mrow>");
    for (i, term) in terms.iter().enumerate() {
        out.push_str(match (i, term.negative) {
            (0, false) => "",
            (_, true) => "<mo>−</mo>",
            (_, false) => "<mo>+</mo>",
        });
        write(out, &term.tree, Around::Product, name);
    }
    out.push_str("</mrow>");
}

fn product(out: &mut String, factors: &[Tree], name: Naming<'_>) {
    out.push_str("<mrow>");
    for (i, factor) in factors.iter().enumerate() {
        if i > 0 {
            out.push_str(if starts_with_digit(factor) {
                "<mo>·</mo>"
            } else {
                "<mspace width=\"0.17em\"></mspace>"
            });
        }
        write(out, factor, Around::Product, name);
    }
    out.push_str("</mrow>");
}

fn call(out: &mut String, f: &str, arguments: &[Tree], name: Naming<'_>) {
    let _ = write!(out, "<mrow><mi>{}</mi><mo>(</mo>", escape(f));
    for (i, argument) in arguments.iter().enumerate() {
        out.push_str(if i > 0 { "<mo>,</mo>" } else { "" });
        write(out, argument, Around::Anything, name);
    }
    out.push_str("<mo>)</mo></mrow>");
}

fn cases(out: &mut String, [condition, a, b]: &[Tree; 3], name: Naming<'_>) {
    // As tall as its cases, not twice as tall as the taller half of them.
    out.push_str("<mrow><mo stretchy=\"true\" symmetric=\"false\" form=\"prefix\">{</mo>");
    out.push_str("<mtable columnalign=\"left\"><mtr><mtd>");
    write(out, a, Around::Anything, name);
    out.push_str("</mtd><mtd><mtext>if&#160;</mtext>");
    write(out, condition, Around::Anything, name);
    out.push_str("</mtd></mtr><mtr><mtd>");
    write(out, b, Around::Anything, name);
    out.push_str("</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>");
}

fn fenced(out: &mut String, open: &str, tree: &Tree, close: &str, name: Naming<'_>) {
    let _ = write!(out, "<mrow><mo>{open}</mo>");
    write(out, tree, Around::Anything, name);
    let _ = write!(out, "<mo>{close}</mo></mrow>");
}

fn function(out: &mut String, f: Function1, a: &Tree, name: Naming<'_>) {
    match f {
        Function1::Sqrt => {
            out.push_str("<msqrt>");
            write(out, a, Around::Anything, name);
            out.push_str("</msqrt>");
        }
        Function1::Exp => {
            out.push_str("<msup><mi>e</mi><mrow>");
            write(out, a, Around::Anything, name);
            out.push_str("</mrow></msup>");
        }
        Function1::Abs => fenced(out, "|", a, "|", name),
        Function1::Floor => fenced(out, "⌊", a, "⌋", name),
        Function1::Ceil => fenced(out, "⌈", a, "⌉", name),
        _ => {
            let word = match f {
                Function1::Log => "ln",
                Function1::Asin => "arcsin",
                Function1::Acos => "arccos",
                Function1::Atan => "arctan",
                f => function_name(f),
            };
            let _ = write!(out, "<mrow><mi>{word}</mi>");
            if matches!(a, Tree::Symbol(_)) {
                out.push_str("<mspace width=\"0.17em\"></mspace>");
                write(out, a, Around::Base, name);
            } else {
                fenced(out, "(", a, ")", name);
            }
            out.push_str("</mrow>");
        }
    }
}

fn comparison_sign(c: Comparison) -> &'static str {
    match c {
        Comparison::Less => "&lt;",
        Comparison::LessEqual => "≤",
        Comparison::Greater => "&gt;",
        Comparison::GreaterEqual => "≥",
        Comparison::Equal => "=",
        Comparison::NotEqual => "≠",
    }
}

fn number(out: &mut String, x: f64) {
    if let Some((n, d)) = pi_multiple(x) {
        let sign = if x < 0.0 { "<mo>−</mo>" } else { "" };
        let times = if n == 1 {
            String::new()
        } else {
            format!("<mn>{n}</mn><mspace width=\"0.17em\"></mspace>")
        };
        let top = format!("<mrow>{times}<mi>π</mi></mrow>");
        let _ = if d == 1 {
            write!(out, "<mrow>{sign}{top}</mrow>")
        } else {
            write!(out, "<mrow>{sign}<mfrac>{top}<mn>{d}</mn></mfrac></mrow>")
        };
        return;
    }
    let text = number_text(x).replace("inf", "∞").replace('-', "−");
    let _ = match text.split_once('e') {
        Some(("1", exponent)) => {
            write!(out, "<msup><mn>10</mn><mn>{exponent}</mn></msup>")
        }
        Some((digits, exponent)) => write!(
            out,
            "<mrow><mn>{digits}</mn><mo>·</mo><msup><mn>10</mn><mn>{exponent}</mn></msup></mrow>"
        ),
        None => write!(out, "<mn>{text}</mn>"),
    };
}

/// A name of the model: `theta` as a letter, `P1` with a subscript, `x'` with a dot, `i2.p` as p with
/// the subscript i2.
fn name_math(name: &str) -> String {
    let inside = |start: &str| name.strip_prefix(start)?.strip_suffix(')');
    if let Some(inside) = inside("pre(") {
        return format!("<msup>{}<mo>−</mo></msup>", name_math(inside));
    }

    // A dot for each derivative, on the letter and not on its subscript; `r'[1]` has one as well.
    let (head, own) = name.split_at(name.rfind('.').map_or(0, |dot| dot + 1));
    let n_dots = own.matches('\'').count();
    let name = format!("{head}{}", own.replace('\'', ""));
    let (path, last) = match name.as_str().rsplit_once('.') {
        Some((path, last)) => (Some(path), last),
        None => (None, name.as_str()),
    };
    let (last, index) = match last.split_once('[') {
        Some((last, rest)) => (last, Some(rest.trim_end_matches(']'))),
        None => (last, None),
    };
    let (letter, own) = split_subscript(last);
    let subscripts: Vec<String> = [own, path, index]
        .into_iter()
        .flatten()
        .map(escape)
        .collect();

    // The browser slants a single letter by itself; a word needs the attribute.
    let greek = spelled(letter).map(String::from);
    let letter = greek.as_deref().unwrap_or(letter);
    let mut letter = if letter.chars().count() > 1 {
        format!("<mi class=\"word\">{}</mi>", escape(letter))
    } else {
        format!("<mi>{}</mi>", escape(letter))
    };

    if n_dots > 0 {
        // Two marks beside each other are not one accent: there are letters for two and three dots.
        let dots = match n_dots {
            1 => "˙".to_owned(),
            2 => "¨".to_owned(),
            3 => "\u{20db}".to_owned(),
            n => "˙".repeat(n),
        };
        letter = format!("<mover accent=\"true\">{letter}<mo>{dots}</mo></mover>");
    }

    if subscripts.is_empty() {
        letter
    } else {
        format!(
            "<msub>{letter}<mtext>{}</mtext></msub>",
            subscripts.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(s: SymbolId) -> String {
        ["theta", "P1", "i2.p", "</math><b>"][s.0 as usize].to_owned()
    }

    fn symbol(k: u32) -> Tree {
        Tree::Symbol(SymbolId(k))
    }

    #[test]
    fn names_become_letters_with_subscripts() {
        assert_eq!(name_math("theta"), "<mi>θ</mi>");
        assert_eq!(name_math("P1"), "<msub><mi>P</mi><mtext>1</mtext></msub>");
        assert_eq!(
            name_math("i2.p'"),
            "<msub><mover accent=\"true\"><mi>p</mi><mo>˙</mo></mover><mtext>i2</mtext></msub>"
        );
        assert_eq!(name_math("gap"), "<mi class=\"word\">gap</mi>");
        assert!(name_math("x''").contains("<mo>¨</mo>"));
        assert_eq!(name_math("r'[1]"), name_math("r[1]'"));
        assert!(name_math("r'[1]").contains("<mo>˙</mo>"));
    }

    #[test]
    fn fractions_have_bars_and_sums_in_products_have_brackets() {
        let sum = Tree::Sum(vec![
            paynter_symbolic::print::Term {
                negative: true,
                tree: symbol(0),
            },
            paynter_symbolic::print::Term {
                negative: true,
                tree: Tree::Number(2.5e-9),
            },
        ]);
        let product = Tree::Product(vec![symbol(0), sum.clone()]);
        let fraction = Tree::Quotient(Box::new(product), Box::new(sum));
        let text = tree(&fraction, &named);
        assert!(text.starts_with("<mfrac><mrow><mrow><mi>θ</mi>"), "{text}");
        assert_eq!(text.matches("<mo>(</mo>").count(), 1, "{text}");
        assert!(text.contains("<mn>2.5</mn><mo>·</mo><msup><mn>10</mn><mn>−9</mn></msup>"));
    }

    #[test]
    fn angles_and_circular_frequencies_are_parts_of_pi() {
        let angle = tree(&Tree::Number(-std::f64::consts::PI / 36.0), &named);
        assert!(angle.contains("<mo>−</mo><mfrac>") && angle.contains("<mn>36</mn>"));
        let frequency = tree(&Tree::Number(100.0 * std::f64::consts::PI), &named);
        assert!(frequency.contains("<mn>100</mn>") && frequency.contains("<mi>π</mi>"));
    }

    #[test]
    fn no_name_becomes_markup() {
        let call = Tree::Call("<i>".to_owned(), vec![symbol(3)]);
        let text = tree(&call, &named);
        assert!(!text.contains("<b>") && !text.contains("<i>") && !text.contains("</math>"));
        assert_eq!(text.matches('<').count(), text.matches('>').count());
    }
}
