//! Checks of power: a resistor takes it, a gyrator or transformer passes it on.
//!
//! In:  an R, RS, Sw, D, TF or GY.
//! Out: an error where power is certainly created; a warning where it is at some point.

use paynter_symbolic::ExprId;
use paynter_symbolic::walk::depends_on;
use paynter_syntax::Diagnostic;

use super::Checker;
use super::points::N_POINTS;
use crate::code;
use crate::functions::care::is_positive_definite;
use crate::graph::{Element, ElementId, ElementKind, Law, Variable};
use crate::units::format_number;

/// Power below this part of its terms is rounding: a product of ten factors loses less.
const ROUNDING: f64 = 1e-9;

/// An active element is fine where it is meant: Chua's diode, a negative resistance of an oscillator.
const UNPOWERED_HELP: &str = "if an active element is meant, write `unpowered` after it; the audit then lists what it gives as a source";

impl Checker<'_> {
    pub(super) fn check_resistor(&mut self, id: ElementId, element: &Element) {
        if element.is_unpowered {
            return;
        }
        match &element.law {
            Law::Gain(gain) | Law::InverseGain(gain) => self.check_gain(id, *gain),
            Law::Field(entries) | Law::InverseField(entries) => {
                self.check_resistor_field(id, element, entries);
            }
            Law::Explicit(entries) => self.check_loss(id, element, entries),
            Law::Switch { r_on, g_off, .. } => {
                for gain in [*r_on, *g_off] {
                    self.check_gain(id, gain);
                }
            }
            Law::Diode { r_on, g_off, .. } => {
                for gain in [*r_on, *g_off] {
                    self.check_gain(id, gain);
                }
            }
            _ => {}
        }
    }

    /// e = R f: negative if R is. A modulated one is only known to be negative if it is so at
    /// every point.
    fn check_gain(&mut self, id: ElementId, gain: ExprId) {
        match self.constant(gain) {
            Some(value) if value < 0.0 => {
                let name = self.name(id);
                self.report(
                    Diagnostic::error(
                        code::ACTIVE_RESISTOR,
                        format!("the resistance of {name} is negative, so it would create power"),
                    )
                    .primary(self.span(id), format!("is {} in SI units", format_number(value)))
                    .help("use a source if power is to come in here, or write `unpowered` after it, as in `R(-5 [ohm]) unpowered`: it may then give power, and the audit lists it as a source"),
                );
            }
            Some(_) => {}
            None => {
                let is_negative = |x: Option<f64>| x.is_some_and(|x| x < 0.0);
                if (0..N_POINTS).all(|p| is_negative(self.points.at(&self.pool, gain, p))) {
                    self.warn_active(id, "is negative wherever it was tried".to_owned());
                }
            }
        }
    }

    fn warn_active(&mut self, id: ElementId, label: String) {
        let name = self.name(id);
        self.report(
            Diagnostic::warning(
                code::RESISTOR_MAY_CREATE_POWER,
                format!("{name} may create power"),
            )
            .primary(self.span(id), label)
            .help("a resistor takes power whatever happens: e·f must not be negative; with `unpowered`, as in `R { … } unpowered`, it may give power, and the audit lists it as a source"),
        );
    }

    /// f'Mf ≥ 0: the symmetric part has no negative eigenvalue.
    fn check_resistor_field(&mut self, id: ElementId, element: &Element, entries: &[ExprId]) {
        let n = element.ports.len();
        let Some(matrix) = entries
            .iter()
            .map(|&e| self.constant(e))
            .collect::<Option<Vec<f64>>>()
        else {
            return;
        };

        if matrix.len() != n * n {
            return;
        }
        let size = matrix.iter().fold(0.0f64, |m, x| m.max(x.abs()));

        // Lifted by rounding, because a matrix that loses nothing in some direction is fine.
        let lifted: Vec<f64> = (0..n * n)
            .map(|at| {
                let (i, j) = (at / n, at % n);
                let lift = if i == j { ROUNDING * size } else { 0.0 };
                0.5 * (matrix[n * i + j] + matrix[n * j + i]) + lift
            })
            .collect();
        if size > 0.0 && !is_positive_definite(&lifted, n) {
            let name = self.name(id);
            self.report(
                Diagnostic::error(
                    code::ACTIVE_RESISTOR,
                    format!("the resistance matrix of {name} creates power in some direction"),
                )
                .primary(
                    self.span(id),
                    "its symmetric part has a negative eigenvalue",
                )
                .help(UNPOWERED_HELP),
            );
        }
    }

    /// Tries e·f at points. Negative at all is certain; negative at some is so for a law of its
    /// own variables, and undecided for one that reads signals.
    fn check_loss(
        &mut self,
        id: ElementId,
        element: &Element,
        entries: &[(u32, Variable, ExprId)],
    ) {
        let Some(entries) = self.entries_of_loss(element, entries) else {
            return;
        };
        let mut gives_at = None;
        let (mut n_tried, mut n_giving) = (0, 0);
        for point in 0..N_POINTS {
            let Some((power, size)) = self.power_at(id, element, &entries, point) else {
                continue;
            };
            n_tried += 1;
            if power < -ROUNDING * size {
                n_giving += 1;
                gives_at = gives_at.or(Some(point));
            }
        }

        let Some(point) = gives_at else { return };
        let (port, variable, _) = entries[0];
        let (letter, input) = match variable {
            Variable::Effort => ("f", self.flow(element, port as usize)),
            _ => ("e", self.effort(element, port as usize)),
        };

        let at = format!(
            "{letter} = {:.3e} in SI units",
            self.points.symbol(input, point)
        );
        let name = self.name(id);
        if n_giving == n_tried && n_tried > 1 {
            self.report(
                Diagnostic::error(
                    code::ACTIVE_RESISTOR,
                    format!("the law of {name} creates power"),
                )
                .primary(
                    self.span(id),
                    format!("e·f is negative, for instance at {at}"),
                )
                .help("reverse the sign of the law, use a source, or write `unpowered` after the law, `R { … } unpowered`: it may then give power, and the audit lists it as a source"),
            );
        } else if !element.is_modulated && element.kind.memory().is_none() {
            // What is remembered is like a signal: it may never come to where the law gives power. A run in which it
            // does says so.
            self.warn_active(id, format!("e·f is negative at {at}"));
        }
    }

    /// The entries of a law that must not give power; none if that cannot be asked of it.
    fn entries_of_loss(
        &self,
        element: &Element,
        entries: &[(u32, Variable, ExprId)],
    ) -> Option<Vec<(u32, Variable, ExprId)>> {
        // Port 1 of an RS is the thermal one; its flow follows from the loss at port 0.
        let entries: Vec<_> = match element.kind {
            ElementKind::Rs => entries
                .iter()
                .filter(|(port, ..)| *port == 0)
                .copied()
                .collect(),
            _ => entries.to_vec(),
        };
        let is_complete = element.kind == ElementKind::Rs || entries.len() == element.ports.len();

        // Heat that is conducted may flow either way, and still makes entropy: only a loss that
        // does not know the temperature must be positive.
        let knows_temperature = element.kind == ElementKind::Rs
            && element.ports.len() > 1
            && entries.iter().any(|&(_, _, e)| {
                let (effort, flow) = (self.effort(element, 1), self.flow(element, 1));
                depends_on(&self.pool, e, effort) || depends_on(&self.pool, e, flow)
            });
        let is_decided = !entries.is_empty() && is_complete && !knows_temperature;
        is_decided.then_some(entries)
    }

    /// Net power into the element at a point, and the size of its terms.
    fn power_at(
        &mut self,
        id: ElementId,
        element: &Element,
        entries: &[(u32, Variable, ExprId)],
        point: usize,
    ) -> Option<(f64, f64)> {
        let (mut power, mut size) = (0.0, 0.0);
        for &(port, variable, e) in entries {
            let port = port as usize;
            let partner = match variable {
                Variable::Effort => self.flow(element, port),
                Variable::Flow => self.effort(element, port),
                Variable::Stored => return None,
            };
            let value = self.points.at(&self.pool, e, point)?;
            let term = value * self.points.symbol(partner, point);
            let sign = if self.points_in(id, port) { 1.0 } else { -1.0 };
            power += sign * term;
            size += term.abs();
        }
        Some((power, size))
    }

    /// An n-port gyrator with a law for every port: Σ e f ≡ 0. A two-port with one gain or one
    /// written equation is powerless by construction.
    pub(super) fn check_powerless(&mut self, id: ElementId, element: &Element) {
        match &element.law {
            Law::Gain(gain) | Law::InverseGain(gain) => self.check_passes_power(id, *gain),
            Law::Explicit(entries) if entries.len() == element.ports.len() => {
                for point in 0..N_POINTS {
                    let Some((power, size)) = self.power_at(id, element, entries, point) else {
                        continue;
                    };
                    if power.abs() > ROUNDING * size {
                        self.refuse_power(id, power);
                        return;
                    }
                }
            }
            Law::Field(entries) | Law::InverseField(entries) => {
                self.check_skew(id, element, entries);
            }
            _ => {}
        }
    }

    fn refuse_power(&mut self, id: ElementId, power: f64) {
        let name = self.name(id);
        let word = if power > 0.0 { "loses" } else { "creates" };
        self.report(
            Diagnostic::error(code::NOT_POWERLESS, format!("{name} {word} power"))
                .primary(self.span(id), "the sum of e·f over its ports must be zero, whatever the flows")
                .help("efforts at right angles to the flows, such as `e = cross(f, p)`, are powerless"),
        );
    }

    /// e = M f with f'Mf ≡ 0: M is skew-symmetric.
    fn check_skew(&mut self, id: ElementId, element: &Element, entries: &[ExprId]) {
        let n = element.ports.len();
        if entries.len() != n * n {
            return;
        }
        for point in 0..N_POINTS {
            for i in 0..n {
                for j in i..n {
                    let (a, b) = (
                        self.points.at(&self.pool, entries[n * i + j], point),
                        self.points.at(&self.pool, entries[n * j + i], point),
                    );
                    let (Some(a), Some(b)) = (a, b) else { continue };
                    if (a + b).abs() > ROUNDING * a.abs().max(b.abs()) {
                        self.refuse_power(id, a + b);
                        return;
                    }
                }
            }
        }
    }

    /// A modulus that is zero for good separates what it should join. An entry of a matrix may be zero: the others pass
    /// power.
    fn check_passes_power(&mut self, id: ElementId, gain: ExprId) {
        let is_entry = self.graph.element(id).part_of.is_some();
        if is_entry || self.constant(gain) != Some(0.0) {
            return;
        }
        let name = self.name(id);
        self.report(
            Diagnostic::warning(code::ZERO_MODULUS, format!("the modulus of {name} is zero"))
                .primary(self.span(id), "no power passes"),
        );
    }
}
