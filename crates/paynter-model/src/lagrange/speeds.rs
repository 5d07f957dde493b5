//! Generalised speeds: rates that are chosen as states (Kane & Levinson, *Dynamics*, 1985, §2.11–2.14).
//!
//! In:  the rates that are named as speeds, the constraints, and the forms of both.
//! Out: every velocity as q̇ = Σ_r E_r(q) w_r over what moves by itself: the speeds w, given motions, and constraints
//!      that ask for a flow. The column E_r is what all partial velocities for w_r are made of.
//!
//! A velocity that obeys the constraints for any w needs no reaction: loads on the w are loads on q̇ seen through
//! transformers of the moduli E, Σ_i E_ir (d/dt ∂L/∂q̇_i − ∂L/∂q_i − Q_i) = 0, which are Kane's equations. Without
//! speeds E is the identity.
//!
//! **Invariant:** speeds are as many as free coordinates less independent constraints, and E has no entry that is zero.

use super::choice::{check, values_at_a_point};
use super::elements::held;
use super::forms::Forms;
use super::fractions::tidy;
use super::gyrators::Curl;
use super::names::{junction_of, original, shown, velocity_junction};
use super::points::{is_number, is_zero, sum_of};
use super::system::{Role, System, TIME};
use paynter_symbolic::calculus::derivative;
use paynter_symbolic::{ExprId, SymbolId};
use paynter_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

/// A flow as a sum over some others: (which, coefficient).
pub(super) type LinearForm = Vec<(usize, ExprId)>;

/// Something that moves by itself: every flow follows from these.
#[derive(Clone, Debug)]
pub(super) struct Top {
    /// The velocity or rate; none for the flow that a constraint asks for.
    pub symbol: Option<SymbolId>,
    pub junction: String,
    /// What it is, in words.
    pub label: String,
    /// Where it is not free: its flow, and the name of its source.
    pub drive: Option<(ExprId, String)>,
    pub span: Span,
}

/// What moves by itself, and how coordinates follow.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub tops: Vec<Top>,
    /// Velocity of each coordinate over tops; none where the coordinates are the tops.
    velocities: Option<Vec<LinearForm>>,
}

impl Basis {
    /// Tells whether coordinates move by themselves.
    pub fn is_plain(&self) -> bool {
        self.velocities.is_none()
    }

    /// The top that a velocity or rate is, if it is one.
    pub fn top_of(&self, symbol: SymbolId) -> Option<usize> {
        self.tops.iter().position(|top| top.symbol == Some(symbol))
    }

    /// Number of speeds; the other tops are driven.
    pub fn n_free(&self) -> usize {
        self.tops.iter().filter(|top| top.drive.is_none()).count()
    }

    /// Coefficients over tops of something with coefficients over velocities: its partial velocities.
    pub fn over(&self, system: &mut System, form: &[(usize, ExprId)]) -> LinearForm {
        let Some(velocities) = &self.velocities else {
            return form.to_vec();
        };
        let mut parts: FxHashMap<usize, Vec<ExprId>> = FxHashMap::default();
        for &(i, coefficient) in form {
            for &(top, e) in &velocities[i] {
                let part = system.pool.mul(coefficient, e);
                parts.entry(top).or_default().push(part);
            }
        }
        row_of(system, parts)
    }

    /// A 2-form over velocities as one over tops: Ω(E_r, E_s).
    pub fn curl_over(&self, system: &mut System, curl: Curl) -> Curl {
        let Some(velocities) = &self.velocities else {
            return curl;
        };
        let mut parts: FxHashMap<(usize, usize), Vec<ExprId>> = FxHashMap::default();
        for (i, j, omega) in curl.expressions() {
            for &(r, e) in &velocities[i] {
                for &(s, f) in velocities[j].iter().filter(|entry| entry.0 != r) {
                    let product = system.pool.mul(e, f);
                    let mut part = system.pool.mul(omega, product);
                    if r > s {
                        part = system.pool.neg(part);
                    }
                    parts.entry((r.min(s), r.max(s))).or_default().push(part);
                }
            }
        }
        Curl::from_parts(system, parts, tidy)
    }

    /// Lines that list how every velocity and rate follows from the speeds.
    pub fn partial_velocities(&self, system: &mut System, forms: &Forms) -> Vec<String> {
        if self.is_plain() {
            return Vec::new();
        }
        let velocities = system.coordinates.iter().map(|c| c.velocity);
        let rates = system.rates.iter().map(|r| r.symbol);
        let symbols: Vec<SymbolId> = velocities.chain(rates).collect();
        let mut lines = Vec::new();
        for symbol in symbols {
            let is_own = original(system, symbol) == symbol;
            if !is_own || self.top_of(symbol).is_some() {
                continue;
            }
            let form = forms.of(system, symbol).over.clone();
            let row = self.over(system, &form);
            let parts: Vec<String> = row
                .iter()
                .map(|&(top, e)| format!("{} by {}", shown(system, e), self.tops[top].junction))
                .collect();
            let parts = match parts.is_empty() {
                true => "none".to_owned(),
                false => parts.join(", "),
            };
            lines.push(format!("{}: {parts}", junction_of(system, symbol)));
        }
        lines
    }
}

/// Sums of parts as a row: in order, short, without zeros.
fn row_of(system: &mut System, parts: FxHashMap<usize, Vec<ExprId>>) -> LinearForm {
    let mut parts: Vec<(usize, Vec<ExprId>)> = parts.into_iter().collect();
    parts.sort_unstable_by_key(|entry| entry.0);
    let mut row = LinearForm::new();
    for (key, parts) in parts {
        if let Some(sum) = sum_of(system, &parts) {
            row.push((key, tidy(system, sum)));
        }
    }
    row
}

/// Finds what moves by itself.
///
/// # Errors
///
/// Speeds that depend on each other, or leave some motion open; constraints of a wrong form.
pub(super) fn basis(system: &mut System, forms: &Forms) -> Result<Basis, Vec<Diagnostic>> {
    if system.speeds.is_empty() {
        return Ok(Basis {
            tops: (0..system.coordinates.len())
                .map(|i| coordinate_top(system, i))
                .collect(),
            velocities: None,
        });
    }
    let mut tops = Vec::new();
    for (symbol, span) in system.speeds.clone() {
        let junction = junction_of(system, symbol);
        tops.push(Top {
            symbol: Some(symbol),
            label: junction.clone(),
            junction,
            drive: None,
            span,
        });
    }
    for i in system.n_free()..system.coordinates.len() {
        tops.push(coordinate_top(system, i));
    }
    let equations = equations(system, forms, &mut tops)?;
    let values = values_at_a_point(system, &equations);
    check(system, forms, &equations, &values).map_err(|message| vec![*message])?;
    let velocities = solve(system, equations, &tops).map_err(|message| vec![*message])?;
    Ok(Basis {
        tops,
        velocities: Some(velocities),
    })
}

/// A coordinate that moves by itself, or as it is given.
fn coordinate_top(system: &mut System, i: usize) -> Top {
    let coordinate = system.coordinates[i].clone();
    let drive = coordinate.given.map(|given| {
        let rate = derivative(&mut system.pool, given, TIME);
        (system.simplify(rate), format!("{}_drive", coordinate.name))
    });
    Top {
        symbol: Some(coordinate.velocity),
        junction: velocity_junction(system, i),
        label: coordinate.name,
        drive,
        span: coordinate.span,
    }
}

/// Σ a_i q̇_i = Σ b_r top_r: what a speed is, or what a constraint asks for.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub name: String,
    pub span: Span,
    pub is_speed: bool,
    /// a, by free coordinate.
    pub left: FxHashMap<usize, ExprId>,
    /// b, by top.
    right: FxHashMap<usize, ExprId>,
}

/// One equation for each constraint, then one for each speed. Constraints that ask for a flow become tops.
fn equations(
    system: &mut System,
    forms: &Forms,
    tops: &mut Vec<Top>,
) -> Result<Vec<Equation>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut found = Vec::new();
    for constraint in system.constraints.clone() {
        let held = match held(system, &constraint) {
            Ok(held) => held,
            Err(message) => {
                errors.push(*message);
                continue;
            }
        };
        let form = forms.over(system, &held.terms);
        let mut equation = equation(system, &form, (&constraint.name, constraint.span));
        if !is_zero(system, held.free) {
            let flow = system.pool.neg(held.free);
            let flow = system.simplify(flow);
            let one = system.pool.number(1.0);
            equation.right.insert(tops.len(), one);
            tops.push(Top {
                symbol: None,
                junction: system.fresh(&format!("{}_flow", constraint.name)),
                label: constraint.name.clone(),
                drive: Some((flow, constraint.name.clone())),
                span: constraint.span,
            });
        }
        found.push(equation);
    }
    for (r, (symbol, span)) in system.speeds.clone().into_iter().enumerate() {
        let form = forms.of(system, symbol).over.clone();
        let name = match system.role(symbol) {
            Role::Velocity(i) => system.coordinates[i].name.clone(),
            _ => system.symbol_name(symbol).to_owned(),
        };
        let mut equation = equation(system, &form, (&name, span));
        equation.is_speed = true;
        let one = system.pool.number(1.0);
        equation.right.insert(r, one);
        found.push(equation);
    }
    if errors.is_empty() {
        Ok(found)
    } else {
        Err(errors)
    }
}

/// An equation of a form: given motions go to the right.
fn equation(system: &mut System, form: &[(usize, ExprId)], (name, span): (&str, Span)) -> Equation {
    let (n, n_speeds) = (system.n_free(), system.speeds.len());
    let mut equation = Equation {
        name: name.to_owned(),
        span,
        is_speed: false,
        left: FxHashMap::default(),
        right: FxHashMap::default(),
    };
    for &(i, e) in form {
        if i < n {
            equation.left.insert(i, e);
        } else {
            let e = system.pool.neg(e);
            equation.right.insert(n_speeds + i - n, e);
        }
    }
    equation
}

/// Solves the equations for all velocities by Gauss and Jordan, dividing by numbers as long as there are any.
fn solve(
    system: &mut System,
    mut open: Vec<Equation>,
    tops: &[Top],
) -> Result<Vec<LinearForm>, Box<Diagnostic>> {
    let n = system.n_free();
    let mut solved: Vec<Option<FxHashMap<usize, ExprId>>> = vec![None; n];
    let mut done: Vec<(usize, Equation)> = Vec::new();
    while let Some((k, column)) = best_pivot(system, &open) {
        let mut pivot = open.remove(k);
        divide(system, &mut pivot, column);
        for other in open.iter_mut().chain(done.iter_mut().map(|d| &mut d.1)) {
            eliminate(system, other, &pivot, column);
        }
        done.push((column, pivot));
    }
    // What is left is a constraint that the others hold already; it must not ask for anything else.
    if let Some(wrong) = open.iter().find(|e| !e.right.is_empty()) {
        return Err(Box::new(super::choice::contradiction(wrong)));
    }
    for (column, equation) in done {
        solved[column] = Some(equation.right);
    }
    let mut velocities = Vec::new();
    for row in solved {
        let parts = row.unwrap_or_default().into_iter();
        let parts = parts.map(|(top, e)| (top, vec![e])).collect();
        velocities.push(row_of(system, parts));
    }
    let one = system.pool.number(1.0);
    for i in n..system.coordinates.len() {
        let velocity = Some(system.coordinates[i].velocity);
        let top = tops.iter().position(|top| top.symbol == velocity);
        velocities.push(top.map(|top| (top, one)).into_iter().collect());
    }
    Ok(velocities)
}

/// The entry that is best to divide by: ±1, a constant, anything; then that of the shortest equation.
fn best_pivot(system: &System, open: &[Equation]) -> Option<(usize, usize)> {
    let kind = |e: ExprId| {
        if is_number(system, e, 1.0) || is_number(system, e, -1.0) {
            0
        } else if system.is_constant(e) {
            1
        } else {
            2
        }
    };
    let entries = open.iter().enumerate().flat_map(|(k, equation)| {
        let left = equation.left.iter();
        left.map(move |(&column, &e)| (e, equation.left.len(), k, column))
    });
    let best = entries.min_by_key(|&(e, n, k, column)| (kind(e), n, k, column));
    best.map(|(_, _, k, column)| (k, column))
}

/// Divides an equation by its entry in a column.
fn divide(system: &mut System, equation: &mut Equation, column: usize) {
    let Some(by) = equation.left.remove(&column) else {
        return;
    };
    if is_number(system, by, 1.0) {
        return;
    }
    let Equation { left, right, .. } = equation;
    for e in left.values_mut().chain(right.values_mut()) {
        *e = if is_number(system, by, -1.0) {
            system.pool.neg(*e)
        } else {
            system.pool.div(*e, by)
        };
        *e = tidy(system, *e);
    }
}

/// Puts q̇ of a column, as the pivot has it, into another equation.
fn eliminate(system: &mut System, other: &mut Equation, pivot: &Equation, column: usize) {
    let Some(factor) = other.left.remove(&column) else {
        return;
    };
    let minus = system.pool.neg(factor);
    for (from, into) in [
        (&pivot.left, &mut other.left),
        (&pivot.right, &mut other.right),
    ] {
        for (&key, &e) in from {
            let part = system.pool.mul(minus, e);
            let parts: Vec<ExprId> = into.remove(&key).into_iter().chain([part]).collect();
            let Some(sum) = sum_of(system, &parts) else {
                continue;
            };
            let sum = tidy(system, sum);
            if !is_zero(system, sum) {
                into.insert(key, sum);
            }
        }
    }
}
