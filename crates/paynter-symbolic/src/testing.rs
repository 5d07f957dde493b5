//! What tests of this crate share: random expressions and a complex evaluator.
//!
//! In:  a seed.
//! Out: the same expressions on every run and machine.

use crate::dae::{Dae, Role, Symbol};
use crate::evaluate::evaluate;
use crate::expr::{Comparison, ExprId, Function1, Function2, Node, Pool, SymbolId};
use crate::walk::below;
use std::collections::HashMap;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Computes an expression with symbol i = `at[i]`.
pub(crate) fn evaluate_at(pool: &Pool, e: ExprId, at: &[f64]) -> f64 {
    evaluate(pool, e, &|s| at[s.0 as usize]).expect("no external function fails in tests")
}

/// The largest size of any finite part of an expression at a point, and of its divisors.
pub(crate) fn largest_part(pool: &Pool, e: ExprId, at: &[f64]) -> f64 {
    let mut size: f64 = 1.0;
    for id in below(pool, &[e]) {
        size = size.max(evaluate_at(pool, id, at).abs());
        if let Node::Div(_, b) | Node::Power(b, _) = pool.node(id) {
            size = size.max(1.0 / evaluate_at(pool, b, at).abs());
        }
    }
    size
}

/// Names of symbols in tests, numbered as they are first met.
#[derive(Clone, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    ids: HashMap<String, SymbolId>,
}

impl Names {
    pub(crate) fn id(&mut self, name: &str) -> SymbolId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = SymbolId(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    pub(crate) fn name(&self, s: SymbolId) -> String {
        self.names[s.0 as usize].clone()
    }

    /// p, q, P and theta, with or without a number.
    pub(crate) fn is_state(&self, s: SymbolId) -> bool {
        let name = self.names[s.0 as usize].trim_end_matches(|c: char| c.is_ascii_digit());
        ["p", "q", "P", "theta"].contains(&name)
    }
}

/// Reads an expression in the notation that `print::text` writes.
pub(crate) fn parse(pool: &mut Pool, names: &mut Names, text: &str) -> ExprId {
    let tokens = tokens(text);
    let mut parser = Parser {
        pool,
        names,
        tokens,
        at: 0,
    };
    let e = parser.choice();
    assert_eq!(parser.at, parser.tokens.len(), "unread text in {text}");
    e
}

fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let is_word = |c: char| c.is_alphanumeric() || "_.[]'".contains(c);
        if chars[i].is_whitespace() {
            i += 1;
            continue;
        } else if chars[i].is_ascii_digit() {
            while i < chars.len()
                && (chars[i].is_ascii_digit()
                    || chars[i] == '.'
                    || chars[i] == 'e'
                    || (chars[i] == '-' && chars[i - 1] == 'e'))
            {
                i += 1;
            }
        } else if is_word(chars[i]) {
            while i < chars.len() && is_word(chars[i]) {
                i += 1;
            }
        } else if i + 1 < chars.len() && chars[i + 1] == '=' {
            i += 2;
        } else {
            i += 1;
        }
        tokens.push(chars[start..i].iter().collect());
    }
    tokens
}

struct Parser<'a> {
    pool: &'a mut Pool,
    names: &'a mut Names,
    tokens: Vec<String>,
    at: usize,
}

impl Parser<'_> {
    fn take(&mut self, token: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t == token);
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, token: &str) {
        assert!(
            self.take(token),
            "expected {token} at {:?}",
            &self.tokens[self.at..]
        );
    }

    fn choice(&mut self) -> ExprId {
        if !self.take("if") {
            return self.either();
        }
        let condition = self.either();
        self.need("then");
        let a = self.either();
        self.need("else");
        let b = self.choice();
        self.pool.if_else(condition, a, b)
    }

    fn either(&mut self) -> ExprId {
        let mut a = self.both();
        while self.take("or") {
            let b = self.both();
            a = self.pool.or(a, b);
        }
        a
    }

    fn both(&mut self) -> ExprId {
        let mut a = self.negation();
        while self.take("and") {
            let b = self.negation();
            a = self.pool.and(a, b);
        }
        a
    }

    fn negation(&mut self) -> ExprId {
        if self.take("not") {
            let a = self.negation();
            return self.pool.not(a);
        }
        self.comparison()
    }

    fn comparison(&mut self) -> ExprId {
        use Comparison::*;
        let a = self.sum();
        let signs = [
            ("<", Less),
            ("<=", LessEqual),
            (">", Greater),
            (">=", GreaterEqual),
            ("==", Equal),
            ("!=", NotEqual),
        ];
        for (sign, c) in signs {
            if self.take(sign) {
                let b = self.sum();
                return self.pool.compare(c, a, b);
            }
        }
        a
    }

    fn sum(&mut self) -> ExprId {
        let mut a = if self.take("-") {
            let a = self.product();
            self.pool.neg(a)
        } else {
            self.product()
        };
        loop {
            if self.take("+") {
                let b = self.product();
                a = self.pool.add(a, b);
            } else if self.take("-") {
                let b = self.product();
                a = self.pool.sub(a, b);
            } else {
                return a;
            }
        }
    }

    fn product(&mut self) -> ExprId {
        let mut a = self.power();
        loop {
            if self.take("*") {
                let b = self.power();
                a = self.pool.mul(a, b);
            } else if self.take("/") {
                let b = self.power();
                a = self.pool.div(a, b);
            } else {
                return a;
            }
        }
    }

    fn power(&mut self) -> ExprId {
        let a = self.primary();
        if self.take("^") {
            let n = self.primary();
            return self.pool.pow(a, n);
        }
        a
    }

    fn primary(&mut self) -> ExprId {
        if self.take("(") {
            let e = self.choice();
            self.need(")");
            return e;
        }
        let word = self.tokens[self.at].clone();
        self.at += 1;
        if self.take("(") {
            let mut args = vec![self.choice()];
            while self.take(",") {
                args.push(self.choice());
            }
            self.need(")");
            return self.call(&word, &args);
        }
        match word.as_str() {
            "inf" => self.pool.number(f64::INFINITY),
            "NaN" => self.pool.number(f64::NAN),
            "pi" => self.pool.number(std::f64::consts::PI),
            _ => match word.parse() {
                Ok(x) => self.pool.number(x),
                Err(_) => {
                    let s = self.names.id(&word);
                    self.pool.symbol(s)
                }
            },
        }
    }

    fn call(&mut self, name: &str, args: &[ExprId]) -> ExprId {
        use Function1::*;
        use Function2::*;
        let ones = [
            Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Exp, Log, Log10, Sqrt, Abs, Sign,
            Floor, Ceil, Round,
        ];
        for f in ones {
            if crate::print::text::function_name(f) == name {
                return self.pool.call1(f, args[0]);
            }
        }
        if name == "der" {
            let of = self
                .pool
                .as_symbol(args[0])
                .expect("a derivative of a symbol");
            let s = self.names.id(&format!("{}'", self.names.name(of)));
            return self.pool.symbol(s);
        }
        for f in [Atan2, Min, Max, Mod, Hypot] {
            if format!("{f:?}").to_lowercase() == name {
                return self.pool.call2(f, args[0], args[1]);
            }
        }
        panic!("no function is called {name}");
    }
}

/// Reads equations, one on a line; `param a b c`, `prefer x y` and `tear z` are lists of names.
pub(crate) fn dae(text: &str) -> Dae {
    let mut dae = Dae::default();
    let mut names = Names::default();
    let mut params: Vec<SymbolId> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(list) = line.strip_prefix("param ") {
            params.extend(list.split_whitespace().map(|name| names.id(name)));
        } else if let Some(list) = line.strip_prefix("prefer ") {
            dae.preferred_states
                .extend(list.split_whitespace().map(|name| names.id(name)));
        } else if let Some(list) = line.strip_prefix("tear ") {
            dae.tearing
                .extend(list.split_whitespace().map(|name| names.id(name)));
        } else {
            let (line, solves) = match line.split_once(" -> ") {
                Some((line, solves)) => (line, Some(parse(&mut dae.pool, &mut names, solves))),
                None => (line, None),
            };
            let solves = solves.and_then(|e| dae.pool.as_symbol(e));
            let (left, right) = line.split_once(" = ").expect("an equation");
            let left = parse(&mut dae.pool, &mut names, left);
            let right = parse(&mut dae.pool, &mut names, right);
            let origin = crate::dae::Origin(dae.equations.len() as u32);
            dae.equations.push(crate::dae::Equation {
                left,
                right,
                solves,
                origin,
            });
        }
    }

    for (i, name) in names.names.clone().iter().enumerate() {
        let role = match name.strip_suffix('\'') {
            Some(of) => Role::Derivative { of: names.id(of) },
            None if params.contains(&SymbolId(i as u32)) => Role::Parameter {
                value: 1.0 + i as f64 / 7.0,
                binding: None,
            },
            None => Role::Unknown,
        };
        let path = dae.names.child(crate::names::Names::ROOT, name, None);
        dae.add_symbol(Symbol {
            name: path,
            role,
            nominal: 0.0,
            origin: Default::default(),
        });
    }
    dae
}

/// Makes expressions from a fixed seed (splitmix64).
pub(crate) struct RandomExpressions {
    state: u64,
}

impl RandomExpressions {
    pub(crate) fn new(seed: u64) -> Self {
        RandomExpressions { state: seed }
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    /// Coordinates in (−2, 2), none near 0.
    pub(crate) fn point(&mut self, n: usize) -> Vec<f64> {
        (0..n)
            .map(|_| {
                let x = 0.1 + 1.9 * self.below(1_000_003) as f64 / 1_000_003.0;
                if self.below(2) == 0 { x } else { -x }
            })
            .collect()
    }

    /// An expression of smooth functions.
    pub(crate) fn analytic(&mut self, pool: &mut Pool, depth: u32, n: u32) -> ExprId {
        self.make(pool, depth, n, false)
    }

    /// An expression that may also switch.
    pub(crate) fn any(&mut self, pool: &mut Pool, depth: u32, n: u32) -> ExprId {
        self.make(pool, depth, n, true)
    }

    fn leaf(&mut self, pool: &mut Pool, n: u32) -> ExprId {
        if self.below(4) == 0 {
            let x = [0.0, 1.0, 2.0, 0.5, -1.0, 3.0, -0.25][self.below(7) as usize];
            pool.number(x)
        } else {
            pool.symbol(SymbolId(self.below(u64::from(n)) as u32))
        }
    }

    fn make(&mut self, pool: &mut Pool, depth: u32, n: u32, switches: bool) -> ExprId {
        if depth == 0 || self.below(8) == 0 {
            return self.leaf(pool, n);
        }
        let choice = self.below(if switches { 20 } else { 14 });
        let a = self.make(pool, depth - 1, n, switches);
        let b = match choice {
            0..=7 | 13.. => self.make(pool, depth - 1, n, switches),
            _ => a,
        };

        match choice {
            0 | 1 => pool.add(a, b),
            2 | 3 => pool.sub(a, b),
            4..=6 => pool.mul(a, b),
            7 => pool.div(a, b),
            8 => pool.neg(a),
            9 => pool.powi(a, [2, 3, -1, 2][self.below(4) as usize]),
            10..=12 => {
                use Function1::*;
                let f = [
                    Sin, Cos, Tan, Atan, Sinh, Cosh, Tanh, Exp, Log, Sqrt, Asin, Log10,
                ];
                pool.call1(f[self.below(f.len() as u64) as usize], a)
            }
            13 => {
                if switches {
                    return pool.call2(Function2::Hypot, a, b);
                }
                // Only where the exponent's base is positive, so that both sides are real.
                let size = pool.call1(Function1::Exp, a);
                pool.pow(size, b)
            }
            14 => {
                use Function1::*;
                let f = [Abs, Sign, Floor, Ceil, Round];
                pool.call1(f[self.below(5) as usize], a)
            }
            15 => {
                use Function2::*;
                let f = [Min, Max, Mod, Atan2, Hypot];
                pool.call2(f[self.below(5) as usize], a, b)
            }
            16 => pool.smooth(a),
            _ => {
                let c = self.condition(pool, depth - 1, n);
                pool.if_else(c, a, b)
            }
        }
    }

    fn condition(&mut self, pool: &mut Pool, depth: u32, n: u32) -> ExprId {
        use Comparison::*;
        let all = [Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual];
        let c = all[self.below(6) as usize];
        let (a, b) = (self.make(pool, depth.min(2), n, true), self.leaf(pool, n));
        let one = pool.compare(c, a, b);
        match self.below(5) {
            0 => pool.not(one),
            1 | 2 if depth > 0 => {
                let other = self.condition(pool, depth - 1, n);
                if self.below(2) == 0 {
                    pool.and(one, other)
                } else {
                    pool.or(one, other)
                }
            }
            _ => one,
        }
    }
}

/// A complex number with just what a complex step needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Complex {
    pub(crate) re: f64,
    pub(crate) im: f64,
}

impl Complex {
    pub(crate) fn new(re: f64, im: f64) -> Self {
        Complex { re, im }
    }

    fn exp(self) -> Self {
        let size = self.re.exp();
        Complex::new(size * self.im.cos(), size * self.im.sin())
    }

    fn ln(self) -> Self {
        Complex::new(self.re.hypot(self.im).ln(), self.im.atan2(self.re))
    }

    fn sqrt(self) -> Self {
        let (size, angle) = (self.re.hypot(self.im).sqrt(), self.im.atan2(self.re) / 2.0);
        Complex::new(size * angle.cos(), size * angle.sin())
    }

    /// arctan z; Im = ¼ ln((x² + (1+y)²) / (x² + (1−y)²)), without 1 + y, which would lose a tiny y.
    fn atan(self) -> Self {
        let (x, y) = (self.re, self.im);
        let im = 0.25 * (4.0 * y / (x * x + (1.0 - y) * (1.0 - y))).ln_1p();
        Complex::new(x.atan(), im)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Complex::new(self.re + o.re, self.im + o.im)
    }
}
impl Sub for Complex {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Complex::new(self.re - o.re, self.im - o.im)
    }
}
impl Mul for Complex {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Complex::new(
            self.re * o.re - self.im * o.im,
            self.re * o.im + self.im * o.re,
        )
    }
}
impl Div for Complex {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let size = o.re * o.re + o.im * o.im;
        self * Complex::new(o.re / size, -o.im / size)
    }
}
impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Complex::new(-self.re, -self.im)
    }
}

/// Computes a smooth expression at a complex point, and the largest size met on the way.
pub(crate) fn complex_value(pool: &Pool, e: ExprId, at: &[Complex]) -> (Complex, f64) {
    let mut values: HashMap<ExprId, Complex> = HashMap::new();
    let mut size: f64 = 1.0;
    for id in below(pool, &[e]) {
        let v = |a: ExprId| values[&a];
        let value = match pool.node(id) {
            Node::Number(bits) => Complex::new(f64::from_bits(bits), 0.0),
            Node::Symbol(s) => at[s.0 as usize],
            Node::Neg(a) => -v(a),
            Node::Add(a, b) => v(a) + v(b),
            Node::Sub(a, b) => v(a) - v(b),
            Node::Mul(a, b) => v(a) * v(b),
            Node::Div(a, b) => {
                size = size.max(1.0 / v(b).re.abs());
                v(a) / v(b)
            }
            Node::Power(a, b) => complex_power(v(a), v(b)),
            Node::Call1(f, a) => complex_function(f, v(a)),
            other => panic!("{other:?} is not smooth"),
        };
        size = size.max(value.re.abs()).max((value.im * 1e30).abs());
        if !size.is_finite() || value.re.is_nan() || value.im.is_nan() {
            return (Complex::new(f64::NAN, f64::NAN), f64::INFINITY);
        }
        values.insert(id, value);
    }
    (values[&e], size)
}

fn complex_power(a: Complex, b: Complex) -> Complex {
    if b.im == 0.0 && b.re.fract() == 0.0 && b.re.abs() <= 64.0 {
        let mut product = Complex::new(1.0, 0.0);
        for _ in 0..b.re.abs() as u32 {
            product = product * a;
        }
        return if b.re < 0.0 {
            Complex::new(1.0, 0.0) / product
        } else {
            product
        };
    }
    (b * a.ln()).exp()
}

/// The value by the addition theorems, which know nothing of derivatives.
fn complex_function(f: Function1, z: Complex) -> Complex {
    use Function1::*;
    let (x, y) = (z.re, z.im);
    let one = Complex::new(1.0, 0.0);
    let sin = Complex::new(x.sin() * y.cosh(), x.cos() * y.sinh());
    let cos = Complex::new(x.cos() * y.cosh(), -x.sin() * y.sinh());
    let sinh = Complex::new(x.sinh() * y.cos(), x.cosh() * y.sin());
    let cosh = Complex::new(x.cosh() * y.cos(), x.sinh() * y.sin());

    // arcsin z = arctan(z / √(1 − z²)); real logarithms and roots only.
    let defined = match f {
        Log | Log10 | Sqrt => x > 0.0,
        Asin | Acos => x.abs() < 1.0,
        _ => true,
    };
    if !defined {
        return Complex::new(f64::NAN, f64::NAN);
    }
    match f {
        Sin => sin,
        Cos => cos,
        Tan => sin / cos,
        Asin => (z / (one - z * z).sqrt()).atan(),
        Acos => Complex::new(std::f64::consts::FRAC_PI_2, 0.0) - (z / (one - z * z).sqrt()).atan(),
        Atan => z.atan(),
        Sinh => sinh,
        Cosh => cosh,
        Tanh => sinh / cosh,
        Exp => z.exp(),
        Log => z.ln(),
        Log10 => z.ln() * Complex::new(std::f64::consts::LOG10_E, 0.0),
        Sqrt => z.sqrt(),
        Abs | Sign | Floor | Ceil | Round => panic!("{f:?} is not smooth"),
    }
}
