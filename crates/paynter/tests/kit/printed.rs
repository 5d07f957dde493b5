//! Printed equations read back and computed, with the model language's own parser.
//!
//! In:  what `paynter equations` prints, and values of names.
//! Out: values of left sides.

use paynter::syntax::ast::{BinaryOp, Expr, ExprKind, ItemKind, UnaryOp};
use paynter::syntax::{FileId, parse};
use std::collections::BTreeMap;

/// Values by printed name.
pub type Values = BTreeMap<String, f64>;

/// One equation: left side as printed, right side read.
pub struct Equation {
    pub left: String,
    pub right: Expr,
    pub text: String,
}

/// M z = h as printed.
pub struct Matrix {
    pub letter: String,
    pub right: String,
    pub unknowns: Vec<String>,
}

/// A printed text, taken apart.
#[derive(Default)]
pub struct Printed {
    pub equations: Vec<Equation>,
    pub matrices: Vec<Matrix>,
    /// Equations inside `sample` and `when`.
    pub at_ticks: Vec<Equation>,
    /// Every name that was met, by the word that stands for it.
    words: BTreeMap<String, String>,
}

/// A value, and the largest number that was met on the way to it.
#[derive(Clone, Copy)]
pub struct Computed {
    pub value: f64,
    pub size: f64,
}

impl Printed {
    /// Reads what is printed.
    pub fn read(text: &str) -> Printed {
        let mut printed = Printed::default();
        let mut is_inside = false;
        for line in joined(text) {
            let line = line.trim();
            if line == "where" || line == "}" {
                is_inside = is_inside && line != "}";
                continue;
            }
            if line.ends_with('{') {
                is_inside = true;
                continue;
            }
            if line.starts_with("stop ") {
                continue;
            }
            let line = line.strip_prefix("reinit ").unwrap_or(line);
            if let Some(rest) = line.strip_prefix("for ") {
                printed.add_loop(rest);
                continue;
            }
            let (left, right) = line.split_once(" = ").expect("an equation");
            if let Some((letter, unknowns)) = left.split_once("*[") {
                printed.matrices.push(Matrix {
                    letter: letter.to_owned(),
                    right: right.to_owned(),
                    unknowns: unknowns
                        .trim_end_matches(']')
                        .split(", ")
                        .map(str::to_owned)
                        .collect(),
                });
                continue;
            }
            // M[1,2] = M[2,1] = …
            let (mirrored, right) = match right.split_once(" = ") {
                Some((mirrored, right)) => (Some(mirrored), right),
                None => (None, right),
            };
            let right = right.split("   (solved for").next().unwrap_or(right);
            for left in [Some(left), mirrored].into_iter().flatten() {
                let equation = printed.equation(left, right);
                if is_inside {
                    printed.at_ticks.push(equation);
                } else {
                    printed.equations.push(equation);
                }
            }
        }
        printed
    }

    /// `i in 2 .. 99: cap[i].q' = cap[i-1].q`, written out.
    fn add_loop(&mut self, text: &str) {
        let (head, equation) = text.split_once(": ").expect("a loop");
        let (variable, range) = head.split_once(" in ").expect("a range");
        let (from, to) = range.split_once(" .. ").expect("two ends");
        let (from, to): (i64, i64) = (from.parse().expect("whole"), to.parse().expect("whole"));
        for i in from..=to {
            let mut line = equation.to_owned();
            for offset in -3..=3_i64 {
                let index = match offset {
                    0 => format!("[{variable}]"),
                    1.. => format!("[{variable}+{offset}]"),
                    _ => format!("[{variable}{offset}]"),
                };
                line = line.replace(&index, &format!("[{}]", i + offset));
            }
            let (left, right) = line.split_once(" = ").expect("an equation");
            let equation = self.equation(left, right);
            self.equations.push(equation);
        }
    }

    fn equation(&mut self, left: &str, right: &str) -> Equation {
        let text = format!("value = {}", self.with_words(right));
        let parsed = parse(FileId(0), &text);
        assert!(!parsed.has_errors(), "not in the language: {text}\n{right}");
        let item = parsed.ast.items.into_iter().next().expect("one line");
        let ItemKind::Constant(define) = item.kind else {
            panic!("not an expression: {text}");
        };
        Equation {
            left: left.to_owned(),
            right: define.value,
            text: format!("{left} = {right}"),
        }
    }

    /// Names with dots, indices and primes become single words: the rest of the line is the
    /// language's business.
    fn with_words(&mut self, text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let mut out = String::new();
        let mut at = 0;
        while at < chars.len() {
            let c = chars[at];
            if !(c.is_alphabetic() || c == '_') {
                let is_number = c.is_ascii_digit();
                out.push(c);
                at += 1;
                // The exponent of 1e-5 is not a name.
                while is_number
                    && at < chars.len()
                    && (chars[at].is_ascii_digit()
                        || chars[at] == '.'
                        || chars[at] == 'e'
                        || (chars[at] == '-' && chars[at - 1] == 'e'))
                {
                    out.push(chars[at]);
                    at += 1;
                }
                continue;
            }
            let begin = at;
            while at < chars.len() && (chars[at].is_alphanumeric() || "_.'".contains(chars[at])) {
                at += 1;
                if at < chars.len() && chars[at] == '[' {
                    while at < chars.len() && chars[at] != ']' {
                        at += 1;
                    }
                    at += 1;
                }
            }
            let name: String = chars[begin..at].iter().collect();
            let is_call = chars.get(at) == Some(&'(');
            if name == "pre" && is_call {
                let close = begin
                    + chars[begin..]
                        .iter()
                        .position(|&c| c == ')')
                        .expect("closed");
                let name: String = chars[begin..=close].iter().collect();
                out.push_str(&self.word(&name));
                at = close + 1;
                continue;
            }
            const WORDS: [&str; 8] = ["if", "then", "else", "and", "or", "not", "pi", "time"];
            if is_call || WORDS.contains(&name.as_str()) {
                // Outputs of external functions have an index: a call all the same.
                out.push_str(&name.replace(['[', ']', '\''], "_"));
            } else {
                out.push_str(&self.word(&name));
            }
        }
        out
    }

    fn word(&mut self, name: &str) -> String {
        let n = self.words.len();
        let known = self.words.iter().find(|(_, known)| *known == name);
        if let Some((word, _)) = known {
            return word.clone();
        }
        let word = format!("name{n}");
        self.words.insert(word.clone(), name.to_owned());
        word
    }

    /// All names on right sides.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.words.values()
    }

    /// Computes an expression; `None` if it calls a function that is not of the language, or
    /// reads what has no value.
    pub fn compute(&self, e: &Expr, values: &Values) -> Option<Computed> {
        let both = |a: Computed, b: Computed, value: f64| Computed {
            value,
            size: a.size.max(b.size).max(value.abs()),
        };
        let leaf = |value: f64| Computed {
            value,
            size: value.abs(),
        };
        let truth = |holds: bool| f64::from(u8::from(holds));
        Some(match &e.kind {
            ExprKind::Number { value, unit: None } => leaf(*value),
            ExprKind::Name(name) => match &*name.text {
                "pi" => leaf(std::f64::consts::PI),
                "time" => leaf(*values.get("time")?),
                word => leaf(*values.get(self.words.get(word)?)?),
            },
            ExprKind::Unary { op, of } => {
                let a = self.compute(of, values)?;
                let value = match op {
                    UnaryOp::Neg => -a.value,
                    UnaryOp::Plus => a.value,
                    UnaryOp::Not => truth(a.value == 0.0),
                };
                Computed { value, ..a }
            }
            ExprKind::If {
                condition,
                then,
                otherwise,
            } => {
                let chosen = if self.compute(condition, values)?.value == 0.0 {
                    otherwise
                } else {
                    then
                };
                self.compute(chosen, values)?
            }
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.compute(left, values)?, self.compute(right, values)?);
                let (x, y) = (a.value, b.value);
                let value = match op {
                    BinaryOp::Add => x + y,
                    BinaryOp::Sub => x - y,
                    BinaryOp::Mul => x * y,
                    BinaryOp::Div => x / y,
                    BinaryOp::Pow => x.powf(y),
                    BinaryOp::Lt => truth(x < y),
                    BinaryOp::Le => truth(x <= y),
                    BinaryOp::Gt => truth(x > y),
                    BinaryOp::Ge => truth(x >= y),
                    BinaryOp::Eq => truth(x == y),
                    BinaryOp::Ne => truth(x != y),
                    BinaryOp::And => truth(x != 0.0 && y != 0.0),
                    BinaryOp::Or => truth(x != 0.0 || y != 0.0),
                };
                let mut computed = both(a, b, value);
                // What is lost in a sum is lost times the factor it is multiplied with.
                if *op == BinaryOp::Mul {
                    computed.size = (a.size * y.abs()).max(x.abs() * b.size);
                } else if *op == BinaryOp::Div {
                    computed.size = (a.size / y.abs()).max(value.abs() * b.size / y.abs());
                }
                computed
            }
            ExprKind::Call { function, args } => {
                let name = &*function.segments.last()?.text;
                let args: Option<Vec<Computed>> = args
                    .iter()
                    .map(|a| self.compute(&a.value, values))
                    .collect();
                let args = args?;
                let size = args.iter().map(|a| a.size).fold(0.0, f64::max);
                let x = args.first()?.value;
                let y = args.get(1).map_or(f64::NAN, |b| b.value);
                let value = match name {
                    "sin" => x.sin(),
                    "cos" => x.cos(),
                    "tan" => x.tan(),
                    "asin" => x.asin(),
                    "acos" => x.acos(),
                    "atan" => x.atan(),
                    "sinh" => x.sinh(),
                    "cosh" => x.cosh(),
                    "tanh" => x.tanh(),
                    "exp" => x.exp(),
                    "log" => x.ln(),
                    "log10" => x.log10(),
                    "sqrt" => x.sqrt(),
                    "abs" => x.abs(),
                    "sign" => {
                        if x == 0.0 {
                            0.0
                        } else {
                            x.signum()
                        }
                    }
                    "floor" => x.floor(),
                    "ceil" => x.ceil(),
                    "min" => x.min(y),
                    "max" => x.max(y),
                    "atan2" => x.atan2(y),
                    "hypot" => x.hypot(y),
                    _ => return None,
                };
                Computed {
                    value,
                    size: size.max(value.abs()),
                }
            }
            _ => return None,
        })
    }

    /// Adds to `values` every left side whose right side can be computed, however they are
    /// ordered, and the unknowns of matrices.
    pub fn solve(&self, values: &mut Values) {
        loop {
            let n = values.len();
            for equation in &self.equations {
                if !values.contains_key(&equation.left)
                    && let Some(computed) = self.compute(&equation.right, values)
                {
                    values.insert(equation.left.clone(), computed.value);
                }
            }
            for matrix in &self.matrices {
                self.solve_matrix(matrix, values);
            }
            if values.len() == n {
                return;
            }
        }
    }

    /// M and h with zeros where nothing is printed; `None` as long as an entry is not known.
    pub fn system(&self, matrix: &Matrix, values: &Values) -> Option<Vec<Vec<f64>>> {
        let n = matrix.unknowns.len();
        let entry = |name: String| {
            let is_printed = self.equations.iter().any(|e| e.left == name);
            if is_printed {
                values.get(&name).copied()
            } else {
                Some(0.0)
            }
        };
        let mut rows = vec![vec![0.0; n + 1]; n];
        for (i, row) in rows.iter_mut().enumerate() {
            for (j, place) in row.iter_mut().enumerate() {
                *place = if j < n {
                    entry(format!("{}[{},{}]", matrix.letter, i + 1, j + 1))?
                } else {
                    entry(format!("{}[{}]", matrix.right, i + 1))?
                };
            }
        }
        Some(rows)
    }

    fn solve_matrix(&self, matrix: &Matrix, values: &mut Values) {
        let n = matrix.unknowns.len();
        let Some(mut a) = self.system(matrix, values) else {
            return;
        };
        for k in 0..n {
            let pivot = (k..n)
                .max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))
                .unwrap_or(k);
            a.swap(k, pivot);
            for i in (0..n).filter(|&i| i != k) {
                let factor = a[i][k] / a[k][k];
                for j in k..=n {
                    let x = a[k][j];
                    a[i][j] -= factor * x;
                }
            }
        }
        for (k, name) in matrix.unknowns.iter().enumerate() {
            // What was given is what is compared with.
            let solved = a[k][n] / a[k][k];
            values.entry(name.clone()).or_insert(solved);
        }
    }
}

/// Lines that begin with an operator continue the one before.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let rest = line.trim_start();
        let is_continued = rest.starts_with("+ ") || rest.starts_with("- ");
        match lines.last_mut() {
            Some(last) if is_continued => {
                last.push(' ');
                last.push_str(rest);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}
