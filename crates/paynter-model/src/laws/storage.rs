//! Checks of C and I: energy must depend on the stored quantity alone, and once only.
//!
//! In:  a storage element.
//! Out: messages about modulation, reciprocity, sizes and domains.

use paynter_symbolic::calculus::gradient;
use paynter_symbolic::walk::symbols_of;
use paynter_symbolic::{ExprId, Role, SymbolId};
use paynter_syntax::Diagnostic;

use super::points::N_POINTS;
use super::{Checker, expressions};
use crate::code;
use crate::functions::care::is_positive_definite;
use crate::graph::{Element, ElementId, ElementKind, Law, Memory, Variable};
use crate::units::format_number;

/// Relative difference of mirrored entries that rounding may leave: an inertia turned by
/// two rotation matrices passes some ten roundings.
const SYMMETRIC: f64 = 1e-9;

impl Checker<'_> {
    pub(super) fn check_storage(&mut self, id: ElementId, element: &Element) {
        self.check_inertia_exists(id, element);
        if element.is_unpowered {
            return;
        }
        if element.is_modulated {
            self.refuse_modulation(id, element);
            return;
        }
        match &element.law {
            Law::Gain(gain) => self.check_size(id, element, *gain),
            Law::InverseGain(gain) => self.check_inverse_size(id, element, *gain),
            Law::Field(entries) => self.check_field(id, element, entries),
            Law::InverseField(entries) => self.check_inverse_field(id, element, entries),
            // Slopes of one energy are reciprocal; where they nearly cancel, roundings would be taken for a fault.
            Law::Explicit(_) if element.kind == ElementKind::Ic => {}
            Law::Explicit(entries) => self.check_reciprocity(id, element, entries),
            _ => {}
        }
    }

    fn check_inertia_exists(&mut self, id: ElementId, element: &Element) {
        let is_momentum = |port: &usize| element.memory(*port) == Some(Memory::Momentum);
        let mut places = (0..element.ports.len())
            .filter(is_momentum)
            .filter_map(|port| {
                self.graph
                    .bond(element.ports[port])
                    .domain
                    .or(element.domain)
            })
            .map(|domain| domain.0 as usize);
        let has_none = |at: &usize| self.has_no_inertia.get(*at).copied().unwrap_or(false);
        let Some(at) = places.find(has_none) else {
            return;
        };
        let name = self.name(id);
        let message = format!(
            "{name} is an inertia in the {} domain",
            self.graph.domains[at].name
        );
        self.report(
            Diagnostic::error(code::NO_INERTIA, message)
                .primary(self.span(id), "nature has no such element")
                .help("heat and matter are stored in a C"),
        );
    }

    fn refuse_modulation(&mut self, id: ElementId, element: &Element) {
        let mut own: Vec<SymbolId> = element.states.clone();
        for port in 0..element.ports.len() {
            own.extend([self.effort(element, port), self.flow(element, port)]);
        }
        let symbols = &self.graph.signals.symbols;
        let mut read: Vec<SymbolId> = expressions(&element.law)
            .into_iter()
            .flat_map(|e| symbols_of(&self.pool, e))
            .filter(|s| !own.contains(s))
            .filter(|s| !matches!(symbols[s.0 as usize].role, Role::Parameter { .. }))
            .collect();
        read.sort_unstable();
        read.dedup();
        let changes_with = match read.first() {
            Some(&s) => format!("changes with `{}`", self.graph.signals.name_of(s)),
            None => "changes during a run".to_owned(),
        };
        let name = self.name(id);
        self.report(
            Diagnostic::error(
                code::MODULATED_STORAGE,
                format!("the law of {name} {changes_with}, so its energy could be changed for nothing"),
            )
            .primary(self.span(id), "a storage that is changed from outside")
            .help("give it a second port through which the change does its work, such as `C[2] { … }`")
            .help("or write `unpowered` after the law; the audit then lists it as a source"),
        );
    }

    fn size_word(element: &Element) -> &'static str {
        match element.kind {
            ElementKind::I => "inertia",
            _ => "capacitance",
        }
    }

    fn check_size(&mut self, id: ElementId, element: &Element, gain: ExprId) {
        let Some(value) = self.constant(gain) else {
            return;
        };
        if value > 0.0 {
            return;
        }
        let word = Self::size_word(element);
        let name = self.name(id);
        let (message, label) = match value == 0.0 {
            true => (
                format!("the {word} of {name} is zero"),
                "stores nothing, so its law has no solution",
            ),
            false => (
                format!("the {word} of {name} is negative"),
                "would give energy without end",
            ),
        };

        let diagnostic = Diagnostic::error(code::STORAGE_SIZE, message);
        let diagnostic = match value == 0.0 {
            true => diagnostic.help("leave the element out, or give it a size greater than zero"),
            false => diagnostic.fact(format!("its value is {} in SI units", format_number(value))),
        };
        match self.cause(gain, value) {
            // One wrong number is reported once, however many storages it makes.
            Some(cause) if self.told.contains(&cause) => {}
            Some(cause) => {
                self.told.push(cause);
                let symbol = self.graph.signals.symbol(cause);
                let what = if value == 0.0 { "zero" } else { "negative" };
                let at_cause = format!("`{}` is {what}", self.graph.signals.name_of(cause));
                let place = self.graph.span(symbol.origin);
                let diagnostic = diagnostic.primary(place, at_cause);
                self.report(diagnostic.secondary(self.span(id), label));
            }
            None => self.report_at(diagnostic, (id, label)),
        }
    }

    /// The parameter that makes a size zero or negative: it is so itself, and follows from no other that is.
    fn cause(&mut self, gain: ExprId, value: f64) -> Option<SymbolId> {
        let mut next = Some(gain);
        let mut cause = None;
        while let Some(e) = next.take() {
            for s in symbols_of(&self.pool, e) {
                let Role::Parameter {
                    value: own,
                    binding,
                } = self.graph.signals.symbol(s).role
                else {
                    continue;
                };
                let is_as_bad = if value == 0.0 { own == 0.0 } else { own < 0.0 };
                if is_as_bad {
                    (cause, next) = (Some(s), binding);
                    break;
                }
            }
        }
        cause
    }

    /// A stiffness of zero is a spring that is not there; a negative one exists (buckling).
    fn check_inverse_size(&mut self, id: ElementId, element: &Element, gain: ExprId) {
        let Some(value) = self.constant(gain) else {
            return;
        };
        if value >= 0.0 {
            return;
        }
        let name = self.name(id);
        let word = Self::size_word(element);
        self.report(
            Diagnostic::warning(
                code::STORAGE_UNSTABLE,
                format!("the {word} of {name} is negative"),
            )
            .primary(self.span(id), "its energy has no lower bound")
            .fact(format!(
                "the inverse is {} in SI units",
                format_number(value)
            )),
        );
    }

    /// All entries, if all are constant.
    fn constants(&mut self, entries: &[ExprId]) -> Option<Vec<f64>> {
        entries.iter().map(|&e| self.constant(e)).collect()
    }

    /// Reports the first pair of mirrored entries that differ.
    fn check_symmetric(&mut self, id: ElementId, matrix: &[f64], n: usize) -> bool {
        let size = matrix.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for i in 0..n {
            for j in i + 1..n {
                let (above, below) = (matrix[n * i + j], matrix[n * j + i]);
                if (above - below).abs() > SYMMETRIC * size {
                    let fact = format!(
                        "entry [{},{}] is {above}, entry [{},{}] is {below}",
                        i + 1,
                        j + 1,
                        j + 1,
                        i + 1
                    );
                    self.not_reciprocal(id, i, j, fact);
                    return false;
                }
            }
        }
        true
    }

    fn not_reciprocal(&mut self, id: ElementId, i: usize, j: usize, fact: String) {
        let name = self.name(id);
        let text = format!(
            "ports {} and {} act on each other differently",
            i + 1,
            j + 1
        );
        self.report_at(
            Diagnostic::error(
                code::NOT_RECIPROCAL,
                format!(
                    "the field {name} is not reciprocal, so a cycle through its ports would create energy"
                ),
            )
            .fact(fact)
            .help("derive all outputs from one energy: entry [i,j] equals entry [j,i]"),
            (id, &text),
        );
    }

    fn check_field(&mut self, id: ElementId, element: &Element, entries: &[ExprId]) {
        let n = element.ports.len();
        let Some(matrix) = self.constants(entries) else {
            return;
        };
        if matrix.len() != n * n || !self.check_symmetric(id, &matrix, n) {
            return;
        }
        if !is_positive_definite(&matrix, n) {
            let name = self.name(id);
            let word = Self::size_word(element);
            self.report_at(
                Diagnostic::error(
                    code::STORAGE_SIZE,
                    format!("the {word} matrix of {name} is not positive definite"),
                ),
                (id, "some motion would store no energy, or less than none"),
            );
        }
    }

    fn check_inverse_field(&mut self, id: ElementId, element: &Element, entries: &[ExprId]) {
        let n = element.ports.len();
        let Some(matrix) = self.constants(entries) else {
            return;
        };
        if matrix.len() != n * n || !self.check_symmetric(id, &matrix, n) {
            return;
        }

        // A singular stiffness is fine (a free motion); rounding must not make it negative.
        let size = matrix.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let lifted: Vec<f64> = (0..n * n)
            .map(|at| {
                matrix[at]
                    + if at / n == at % n {
                        SYMMETRIC * size
                    } else {
                        0.0
                    }
            })
            .collect();

        if size > 0.0 && !is_positive_definite(&lifted, n) {
            let name = self.name(id);
            self.report(
                Diagnostic::warning(
                    code::STORAGE_UNSTABLE,
                    format!("the energy of {name} has no lower bound"),
                )
                .primary(self.span(id), "its matrix has a negative eigenvalue"),
            );
        }
    }

    /// Maxwell's reciprocity: the Jacobian of e(q) or f(p) is symmetric; where one port is
    /// given the other way round (q of e), its mixed entries are mirrored with opposite sign,
    /// because the generating function is a Legendre transform there.
    fn check_reciprocity(
        &mut self,
        id: ElementId,
        element: &Element,
        entries: &[(u32, Variable, ExprId)],
    ) {
        let n = element.ports.len();
        if n < 2 || entries.len() != n || element.states.len() != n {
            return;
        }
        let inputs: Vec<SymbolId> = entries
            .iter()
            .map(|&(port, variable, _)| {
                let port = port as usize;
                match (variable, element.memory(port)) {
                    (Variable::Stored, Some(Memory::Momentum)) => self.flow(element, port),
                    (Variable::Stored, _) => self.effort(element, port),
                    _ => element.states[port],
                }
            })
            .collect();

        let jacobian: Vec<Vec<ExprId>> = entries
            .iter()
            .map(|&(_, _, e)| gradient(&mut self.pool, e, &inputs))
            .collect();
        let is_inverse = |k: usize| entries[k].1 == Variable::Stored;
        for i in 0..n {
            for j in i + 1..n {
                let sign = if is_inverse(i) == is_inverse(j) {
                    1.0
                } else {
                    -1.0
                };
                if let Some((above, below)) = self.differ(jacobian[i][j], jacobian[j][i], sign) {
                    let (i, j) = (entries[i].0 as usize, entries[j].0 as usize);
                    let fact = format!("at a test point the slopes are {above} and {below}");
                    self.not_reciprocal(id, i, j, fact);
                    return;
                }
            }
        }
    }

    /// Finds a point where a ≠ sign·b.
    fn differ(&mut self, a: ExprId, b: ExprId, sign: f64) -> Option<(f64, f64)> {
        if a == b && sign > 0.0 {
            return None;
        }
        (0..N_POINTS).find_map(|point| {
            let left = self.points.at(&self.pool, a, point)?;
            let right = sign * self.points.at(&self.pool, b, point)?;
            ((left - right).abs() > SYMMETRIC * left.abs().max(right.abs()))
                .then_some((left, right))
        })
    }
}
