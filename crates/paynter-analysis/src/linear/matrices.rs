//! Reads A, B, C and D off the slopes at a point.
//!
//! In:  a [`OperatingPoint`].
//! Out: a [`Linearization`]: coordinates that constraints fix are eliminated, rates of inputs are
//!      moved into the states, integrals that nothing reads back are left out.

use super::operating_point::{OperatingPoint, Slopes};
use super::{Label, LinearError, LinearRequest, Linearization, Trim, model_error};
use paynter_design::code;
use paynter_linear::{LinearModel, Matrix};
use paynter_model::experiment::Column;
use paynter_model::units::Unit;
use paynter_symbolic::SymbolId;
use paynter_syntax::{Diagnostic, Span};
use std::collections::HashSet;

/// Makes the linear model at the present point of a point.
pub(super) fn read_off(
    point: &mut OperatingPoint<'_>,
    request: &LinearRequest,
    trim: Option<Trim>,
) -> Result<Linearization, LinearError> {
    let slopes = point.slopes()?;
    let time_slopes = point.time_slopes()?;
    let kinks = point.kinks(&slopes);
    let n_rates = point.inputs.first().map_or(1, Vec::len);
    // A trim may have added inputs and outputs after those that are asked for.
    let (inputs, outputs) = (
        &point.inputs[..request.from.len()],
        &point.outputs[..request.to.len()],
    );

    let columns_of = |k: usize| -> Vec<usize> { inputs.iter().map(|chain| chain[k]).collect() };
    let through = Through::new(point, &slopes);
    let kept = through.without_idle(point, outputs, request.keeps_storages);
    let a = through.block(&kept, &kept);
    let c = through.block(outputs, &kept);
    let b: Vec<Matrix> = (0..n_rates)
        .map(|k| through.block(&kept, &columns_of(k)))
        .collect();
    let d: Vec<Matrix> = (0..n_rates)
        .map(|k| through.block(outputs, &columns_of(k)))
        .collect();
    refuse_high_rates(&b, &d, point.asked)?;
    let (model, shifts) = take_up_rates(a, &b, c, d);

    let states: Vec<Label> = kept.iter().map(|&k| point.state_label(k)).collect();
    let (left_out, dependent) = through.names(point, &kept);
    let is_shifted = |k: &usize| shifts.iter().any(|p| p.row(*k).iter().any(|&x| x != 0.0));
    let labels = |columns: &[&Column], values: &[f64]| -> Vec<Label> {
        let pairs = columns.iter().zip(values);
        pairs
            .map(|(column, &value)| label(&column.name, column.unit.as_ref(), value))
            .collect()
    };
    let from: Vec<&Column> = request.from.iter().map(|q| &q.column).collect();
    let to: Vec<&Column> = request.to.iter().map(|q| &q.column).collect();

    let mut rows = kept.iter().chain(outputs);
    Ok(Linearization {
        shifted: (0..kept.len())
            .filter(is_shifted)
            .map(|k| states[k].name.clone())
            .collect(),
        states,
        inputs: labels(&from, &point.input_values),
        outputs: labels(&to, &point.output_values[..to.len()]),
        time: point.t,
        rates: kept.iter().map(|&k| slopes.f[k]).collect(),
        left_out,
        dependent,
        is_time_frozen: rows.any(|&k| time_slopes[k] != 0.0),
        trim,
        warnings: warnings_of(point, &kinks),
        model,
        sampled: None,
    })
}

/// Refuses models that read more rates of an input than were added.
fn refuse_high_rates(b: &[Matrix], d: &[Matrix], asked: Span) -> Result<(), LinearError> {
    let last = b.len() - 1;
    if !b[last].is_zero() || !d[last].is_zero() {
        return Err(model_error(
            Diagnostic::error(
                code::NO_LINEAR_FORM,
                format!(
                    "the model reads rates of an input beyond order {}",
                    last - 1
                ),
            )
            .primary(asked, "asked for here")
            .help("let the input pass a lag, or take another one"),
        ));
    }
    Ok(())
}

/// Slopes with the coordinates that constraints fix eliminated.
pub(super) struct Through<'s> {
    slopes: &'s Slopes,
    split: Split,
    constraints: Vec<usize>,
}

impl<'s> Through<'s> {
    pub(super) fn new(point: &OperatingPoint<'_>, slopes: &'s Slopes) -> Self {
        Through {
            slopes,
            split: split_by_constraints(point, slopes),
            constraints: point.constraints.clone(),
        }
    }

    /// The slopes of rows by columns, with what the bound coordinates follow: x_b = Φ x_k + Σ Φ_m u⁽ᵐ⁾.
    pub(super) fn block(&self, rows: &[usize], columns: &[usize]) -> Matrix {
        let bound = &self.split.bound;
        let direct = self.slopes.part(rows, columns);
        if bound.is_empty() {
            return direct;
        }
        let follow = self.split.follow(self.slopes, &self.constraints, columns);
        direct.plus(1.0, &self.slopes.part(rows, bound).times(&follow))
    }

    /// The free coordinates, without integrals that neither a rate nor one of these rows reads.
    pub(super) fn without_idle(
        &self,
        point: &OperatingPoint<'_>,
        read: &[usize],
        keeps_storages: bool,
    ) -> Vec<usize> {
        let may_go = may_be_idle(point, keeps_storages || read.is_empty());
        without_idle(&may_go, &self.split.kept, read, &|rows, columns| {
            self.block(rows, columns)
        })
    }

    /// Names of what is left out and of what is fixed by the others.
    pub(super) fn names(
        &self,
        point: &OperatingPoint<'_>,
        kept: &[usize],
    ) -> (Vec<String>, Vec<String>) {
        let name_of = |s: &(usize, SymbolId)| point.name(s.1);
        let bound = &self.split.bound;
        let is_out = |s: &&(usize, SymbolId)| !kept.contains(&s.0) && !bound.contains(&s.0);
        let left_out = point.states.iter().filter(is_out).map(name_of).collect();
        let place = |b: &usize| point.states.iter().find(|s| s.0 == *b).map(name_of);
        (left_out, bound.iter().filter_map(place).collect())
    }
}

/// What is to be known about a point: of its locks, and switches that stand on their thresholds.
pub(super) fn warnings_of(point: &OperatingPoint<'_>, kinks: &[SymbolId]) -> Vec<Diagnostic> {
    let mut warnings = point.messages.clone();
    warnings.extend(kinks.iter().map(|&mode| kink(point, mode)));
    warnings
}

/// Coordinates that constraints fix by the others.
struct Split {
    kept: Vec<usize>,
    bound: Vec<usize>,
    /// Rows of the constraints that fix them.
    rows: Vec<usize>,
    /// The inverse of those rows by the bound columns.
    inverse: Matrix,
}

impl Split {
    /// How bound coordinates follow other columns: −G_b⁻¹ G_c.
    fn follow(&self, slopes: &Slopes, constraints: &[usize], columns: &[usize]) -> Matrix {
        let rows: Vec<usize> = self.rows.iter().map(|&r| constraints[r]).collect();
        self.inverse
            .times(&slopes.part(&rows, columns))
            .scaled(-1.0)
    }
}

/// A constraint whose largest remaining slope is this small against its own is implied by others.
const IMPLIED: f64 = 1e-9;

/// Chooses as many coordinates as there are independent constraints, by complete pivoting: those that
/// the constraints fix best.
fn split_by_constraints(point: &OperatingPoint<'_>, slopes: &Slopes) -> Split {
    let places: Vec<usize> = point.states.iter().map(|s| s.0).collect();
    let full = slopes.part(&point.constraints, &places);
    let (n_rows, n) = (full.n_rows(), full.n_columns());
    let mut g = full.clone();

    // Each row relative to its own size: constraints in metres and in radians count alike.
    for i in 0..n_rows {
        let size = g.row(i).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if size > 0.0 {
            (0..n).for_each(|j| g[(i, j)] /= size);
        }
    }

    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    loop {
        let free = (0..n_rows).filter(|i| !rows.contains(i));
        let entries = free.flat_map(|i| (0..n).map(move |j| (i, j)));
        let entries = entries.filter(|(_, j)| !columns.contains(j));
        let pivot = entries.max_by(|&a, &b| g[a].abs().total_cmp(&g[b].abs()).then(b.cmp(&a)));
        let Some((p, q)) = pivot.filter(|&at| g[at].abs() > IMPLIED) else {
            break;
        };
        for i in (0..n_rows).filter(|i| *i != p && !rows.contains(i)) {
            let factor = g[(i, q)] / g[(p, q)];
            for j in 0..n {
                let part = factor * g[(p, j)];
                g[(i, j)] -= part;
            }
        }
        rows.push(p);
        columns.push(q);
    }

    let block = full.part(&rows, &columns);
    Split {
        kept: (0..n)
            .filter(|j| !columns.contains(j))
            .map(|j| places[j])
            .collect(),
        bound: columns.iter().map(|&j| places[j]).collect(),
        inverse: inverse(&block),
        rows,
    }
}

/// The inverse by Gauss–Jordan elimination; the block was chosen to be regular.
fn inverse(block: &Matrix) -> Matrix {
    let n = block.n_rows();
    let mut a = block.clone();
    let mut inverse = Matrix::identity(n);
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[(i, k)].abs().total_cmp(&a[(j, k)].abs()));
        let pivot = pivot.expect("rows are left");
        for m in [&mut a, &mut inverse] {
            for j in 0..n {
                let (upper, lower) = (m[(k, j)], m[(pivot, j)]);
                (m[(k, j)], m[(pivot, j)]) = (lower, upper);
            }
        }
        let scale = a[(k, k)];
        for m in [&mut a, &mut inverse] {
            (0..n).for_each(|j| m[(k, j)] /= scale);
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[(i, k)];
            if factor != 0.0 {
                for m in [&mut a, &mut inverse] {
                    for j in 0..n {
                        let part = factor * m[(k, j)];
                        m[(i, j)] -= part;
                    }
                }
            }
        }
    }
    inverse
}

/// States that are left out where nothing reads them: energies, measures; and, where there are outputs, storages such as the
/// momentum of a body whose speed acts on nothing.
fn may_be_idle(point: &OperatingPoint<'_>, keeps_storages: bool) -> HashSet<usize> {
    let elements = point.design.graph.elements.iter();
    let stored: HashSet<SymbolId> = elements.flat_map(|e| e.states.iter().copied()).collect();
    let states = point.states.iter();
    let may_go = states.filter(|s| !keeps_storages || !stored.contains(&s.1));
    may_go.map(|s| s.0).collect()
}

/// Leaves out those of these states that neither a rate nor an output reads.
fn without_idle(
    may_go: &HashSet<usize>,
    kept: &[usize],
    outputs: &[usize],
    through: &dyn Fn(&[usize], &[usize]) -> Matrix,
) -> Vec<usize> {
    if may_go.is_empty() {
        return kept.to_vec();
    }
    let a = through(kept, kept);
    let c = through(outputs, kept);
    let mut is_in: Vec<bool> = vec![true; kept.len()];
    loop {
        let is_read = |j: usize| {
            let by_rates = (0..kept.len()).any(|i| is_in[i] && a[(i, j)] != 0.0);
            by_rates || (0..c.n_rows()).any(|i| c[(i, j)] != 0.0)
        };
        let idle = (0..kept.len()).find(|&j| is_in[j] && may_go.contains(&kept[j]) && !is_read(j));
        match idle {
            Some(j) => is_in[j] = false,
            None => break,
        }
    }
    let pairs = kept.iter().zip(is_in);
    pairs.filter(|p| p.1).map(|p| *p.0).collect()
}

/// ẋ = A x + B₀ u + B₁ u̇ + … becomes x̃' = A x̃ + B u with x = x̃ + P₁ u + P₂ u̇ + …
fn take_up_rates(
    a: Matrix,
    b: &[Matrix],
    c: Matrix,
    mut d: Vec<Matrix>,
) -> (LinearModel, Vec<Matrix>) {
    // P_m = B_m, P_k = B_k + A P_{k+1}.
    let mut shifts: Vec<Matrix> = Vec::new();
    for own in b[1..].iter().rev() {
        let shift = match shifts.last() {
            Some(next) if !next.is_zero() => own.plus(1.0, &a.times(next)),
            _ => own.clone(),
        };
        shifts.push(shift);
    }
    shifts.reverse();
    let mut input = b[0].clone();
    if let Some(first) = shifts.first().filter(|p| !p.is_zero()) {
        input = input.plus(1.0, &a.times(first));
    }
    for (direct, shift) in d.iter_mut().zip(&shifts) {
        if !shift.is_zero() {
            *direct = direct.plus(1.0, &c.times(shift));
        }
    }
    while d.len() > 1 && d.last().is_some_and(Matrix::is_zero) {
        d.pop();
    }
    (LinearModel { a, b: input, c, d }, shifts)
}

impl OperatingPoint<'_> {
    /// The state at this place of the machine, with its value at the point.
    pub(super) fn state_label(&self, place: usize) -> Label {
        let found = self.states.iter().find(|s| s.0 == place);
        let symbol = found.expect("a place of a state").1;
        let unit = self.design.state_units.get(&symbol);
        label(&self.name(symbol), unit, self.y[place])
    }
}

pub(super) fn label(name: &str, unit: Option<&Unit>, value: f64) -> Label {
    Label {
        name: name.to_owned(),
        unit: unit.map(|u| u.text.clone()).unwrap_or_default(),
        factor: unit.map_or(1.0, |u| u.factor),
        value: unit.map_or(value, |u| u.from_si(value)),
    }
}

fn kink(point: &OperatingPoint<'_>, mode: SymbolId) -> Diagnostic {
    let dae = &point.reduced.dae;
    let origin = dae
        .modes
        .iter()
        .find(|m| m.symbol == mode)
        .map(|m| m.origin);
    let span = origin.map_or(point.asked, |o| point.design.graph.span(o));
    Diagnostic::warning(
        code::KINK,
        "a switch is exactly at its threshold: the linear model holds to one side of it",
    )
    .primary(span, "switches here")
    .help("move the point a little to one side with `start` or `--at`")
}
