//! Checks the inertias of rigid bodies: no body has principal moments of which one exceeds the sum of the others.
//!
//! In:  the parts that have three rotational and three translational inertias of their own, as `Body` has.
//! Out: a warning for each whose moments no distribution of mass can have.
//!
//! With ∫ x² dm = a, ∫ y² dm = b, ∫ z² dm = c along the principal axes the moments are b + c, a + c and a + b: each is
//! at most the sum of the other two, and equal to it for a flat plate. Three rotational inertias alone are not looked
//! at: rotors on three axes that meet in gears may have any.
//!
//! **Invariant:** only inertias that are constant are judged.

use std::collections::BTreeMap;

use paynter_symbolic::PathId;
use paynter_syntax::Diagnostic;

use super::Checker;
use crate::code;
use crate::graph::{Element, ElementId, ElementKind, Law};

/// Moments written with few digits, or of a plate taken as flat, miss the limit by this share.
const ROUNDED: f64 = 0.01;

/// What a part has of inertias.
#[derive(Default)]
struct Inertias {
    /// Rotational ones, in the order of the text.
    turning: Vec<ElementId>,
    n_translational: usize,
}

impl Checker<'_> {
    /// Looks at all bodies.
    pub(super) fn check_bodies(&mut self) {
        let mut parts: BTreeMap<PathId, Inertias> = BTreeMap::new();
        for (index, element) in self.graph.elements.iter().enumerate() {
            let names = &self.graph.signals.names;
            let part = element.name.and_then(|name| names.parent(name));
            let (Some(part), ElementKind::I, Some(domain)) = (part, element.kind, element.domain)
            else {
                continue;
            };
            let own = parts.entry(part).or_default();
            match self.graph.domains[domain.0 as usize].name.as_str() {
                "rotational" => own.turning.push(ElementId(index as u32)),
                "translational" => own.n_translational += element.ports.len(),
                _ => {}
            }
        }
        for inertias in parts.into_values().filter(|i| i.n_translational == 3) {
            self.check_body(&inertias.turning);
        }
    }

    fn check_body(&mut self, turning: &[ElementId]) {
        let Some(matrix) = self.inertia_matrix(turning) else {
            return;
        };
        let mut moments = eigenvalues(matrix);
        moments.sort_by(f64::total_cmp);
        let [a, b, c] = moments;

        // What is not positive has a message of its own.
        if a <= 0.0 || c <= (1.0 + ROUNDED) * (a + b) {
            return;
        }
        let text = "the largest of its principal moments exceeds the sum of the other two";
        let name = self.graph.element(turning[0]).name;
        let names = &self.graph.signals.names;
        let body = name.and_then(|n| names.parent(n)).map(|p| names.display(p));
        let body = body.filter(|b| !b.is_empty());
        let body = body.map_or("this model".to_owned(), |b| format!("`{b}`"));
        self.report_at(
            Diagnostic::warning(
                code::IMPOSSIBLE_INERTIA,
                format!("the moments of inertia of {body} are impossible for a rigid body"),
            )
            .fact(format!(
                "principal moments: {}, {} and {} kg·m²",
                short(a),
                short(b),
                short(c)
            ))
            .help(format!(
                "{} kg·m² is the most that fits the other two, for a flat plate",
                short(a + b)
            )),
            (turning[0], text),
        );
    }

    /// The matrix of three rotational inertias, if they are three and constant.
    fn inertia_matrix(&mut self, turning: &[ElementId]) -> Option<[[f64; 3]; 3]> {
        let graph = self.graph;
        match *turning {
            [one] => {
                let element: &Element = graph.element(one);
                let Law::Field(entries) = &element.law else {
                    return None;
                };
                if element.ports.len() != 3 || entries.len() != 9 {
                    return None;
                }
                let mut matrix = [[0.0; 3]; 3];
                for (at, &e) in entries.iter().enumerate() {
                    matrix[at / 3][at % 3] = self.constant(e)?;
                }
                Some(matrix)
            }
            [a, b, c] => {
                let mut matrix = [[0.0; 3]; 3];
                for (k, id) in [a, b, c].into_iter().enumerate() {
                    let Law::Gain(gain) = graph.element(id).law else {
                        return None;
                    };
                    matrix[k][k] = self.constant(gain)?;
                }
                Some(matrix)
            }
            _ => None,
        }
    }
}

/// Four digits, without zeros at the end.
fn short(x: f64) -> String {
    let text = format!("{x:.3e}");
    let rounded: f64 = text.parse().unwrap_or(x);
    format!("{rounded}")
}

/// Eigenvalues of a symmetric matrix, by rotations that make one entry after another zero (Jacobi 1846).
fn eigenvalues(mut m: [[f64; 3]; 3]) -> [f64; 3] {
    // Each sweep squares what is left beside the diagonal; six are more than a number has digits for.
    for _ in 0..6 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if m[p][q] == 0.0 {
                continue;
            }
            let angle = 0.5 * (2.0 * m[p][q]).atan2(m[q][q] - m[p][p]);
            let (s, c) = angle.sin_cos();
            let turn = |row: &mut [f64; 3]| {
                let (x, y) = (row[p], row[q]);
                row[p] = c * x - s * y;
                row[q] = s * x + c * y;
            };
            m.iter_mut().for_each(turn);
            let (x, y) = (m[p], m[q]);
            for k in 0..3 {
                m[p][k] = c * x[k] - s * y[k];
                m[q][k] = s * x[k] + c * y[k];
            }
        }
    }
    [m[0][0], m[1][1], m[2][2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_of_a_turned_diagonal_are_its_entries() {
        // R diag(1, 2, 5) Rᵀ with R about (1, 2, 3).
        let (s, c) = 0.7_f64.sin_cos();
        let axis = [1.0, 2.0, 3.0].map(|x: f64| x / 14.0_f64.sqrt());
        let skew = [
            [0.0, -axis[2], axis[1]],
            [axis[2], 0.0, -axis[0]],
            [-axis[1], axis[0], 0.0],
        ];
        let mut r = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let one = if i == j { 1.0 } else { 0.0 };
                r[i][j] = c * one + s * skew[i][j] + (1.0 - c) * axis[i] * axis[j];
            }
        }
        let mut m = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] = (0..3).map(|k| r[i][k] * [1.0, 2.0, 5.0][k] * r[j][k]).sum();
            }
        }
        let mut found = eigenvalues(m);
        found.sort_by(f64::total_cmp);
        for (found, exact) in found.iter().zip([1.0, 2.0, 5.0]) {
            // Some ten rotations of numbers of this size.
            assert!((found - exact).abs() < 1e-13, "{found} for {exact}");
        }
    }
}
