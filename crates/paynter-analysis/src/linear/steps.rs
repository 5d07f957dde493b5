//! Linear models of sampled loops: the map from one common period of all clocks to the next.
//!
//! In:  a [`OperatingPoint`] whose sampled blocks are open.
//! Out: a [`Linearization`] in steps: exact, by the exponential of the plant between ticks and the sampled lines at each.
//!
//! Convention: inputs are held over a period and step just before its first tick; outputs are taken just after it (or
//! just before it, where a loop is cut at what a sampled block reads).
//!
//! **Invariant:** all clocks tick together at time 0, so the pattern of ticks repeats with the common period.

use super::clocks::Line;
use super::matrices::{Through, label, warnings_of};
use super::operating_point::{OperatingPoint, Slopes};
use super::{Label, LinearError, LinearRequest, Linearization, model_error};
use paynter_design::code;
use paynter_linear::{Look, Matrix, SampledModel, Tick};
use paynter_model::experiment::Column;
use paynter_syntax::Diagnostic;

/// More ticks than this in a common period, and the clocks have none for practical purposes.
const MOST_TICKS: usize = 20_000;

/// Makes the linear model in steps at the present point of a point.
pub(super) fn read_off_steps(
    point: &mut OperatingPoint<'_>,
    request: &LinearRequest,
    look: Look,
) -> Result<Linearization, LinearError> {
    let slopes = point.slopes()?;
    let time_slopes = point.time_slopes()?;
    let kinks = point.real_kinks(&slopes)?;

    let parts = Parts::new(point, &Through::new(point, &slopes), request)?;
    let lines = driven_lines(point, &parts)?;
    let schedule = schedule(point, &lines)?;
    if request.is_injected {
        refuse_many_ticks(point, request, &parts, (&lines, &schedule))?;
    }

    let whole = parts.assemble(point, &lines, &schedule);
    let lifted = whole.lift(look);

    let columns = |all: &[paynter_model::experiment::Quantity], values: &[f64]| {
        let pairs = all.iter().map(|q| &q.column).zip(values);
        pairs
            .map(|(c, &value): (&Column, _)| label(&c.name, c.unit.as_ref(), value))
            .collect::<Vec<_>>()
    };
    let (states, rates) = states_in_steps(
        point,
        (&parts, &lines),
        &lifted.kept,
        (&slopes, schedule.period),
    );

    let mut rows = parts.kept.iter().chain(&parts.outputs);
    Ok(Linearization {
        states,
        rates,
        inputs: columns(&request.from, &point.input_values),
        outputs: columns(&request.to, &point.output_values[..request.to.len()]),
        time: point.t,
        shifted: Vec::new(),
        left_out: parts.left_out.clone(),
        dependent: parts.dependent.clone(),
        is_time_frozen: rows.any(|&k| time_slopes[k] != 0.0),
        trim: None,
        warnings: warnings_of(point, &kinks),
        model: lifted.model,
        sampled: Some(whole),
    })
}

/// Labels and rates of the states: those of the model, then what the sampled lines hold.
fn states_in_steps(
    point: &OperatingPoint<'_>,
    (parts, lines): (&Parts, &[usize]),
    kept: &[usize],
    (slopes, period): (&Slopes, f64),
) -> (Vec<Label>, Vec<f64>) {
    let opened = point
        .opened
        .as_ref()
        .expect("sampled blocks are open at this point");
    let n = parts.kept.len();
    let mut states = Vec::new();
    let mut rates = Vec::new();
    for &k in kept {
        if k < n {
            let place = parts.kept[k];
            states.push(point.state_label(place));
            rates.push(slopes.f[place]);
            continue;
        }
        let number = lines[k - n];
        let line = &opened.lines[number];
        let unit = point.design.state_units.get(&line.symbol);
        let held = point.held_values[number];
        states.push(label(&point.name(line.symbol), unit, held));
        // Rounding lines are where they are; others would move to what they compute.
        let next = slopes.f[point.line_rows[number]];
        rates.push(match line.is_quantised {
            true => 0.0,
            false => (next - held) / period,
        });
    }
    (states, rates)
}

/// Slopes of rates, sampled lines and outputs by states, held values, values just set and inputs.
struct Parts {
    kept: Vec<usize>,
    outputs: Vec<usize>,
    left_out: Vec<String>,
    dependent: Vec<String>,
    /// [states, held, fresh, inputs] for rates, lines and outputs.
    rates: [Matrix; 4],
    lines: [Matrix; 4],
    seen: [Matrix; 4],
}

impl Parts {
    fn new(
        point: &OperatingPoint<'_>,
        through: &Through<'_>,
        request: &LinearRequest,
    ) -> Result<Self, LinearError> {
        let outputs = point.outputs[..request.to.len()].to_vec();
        let read: Vec<usize> = outputs.iter().chain(&point.line_rows).copied().collect();
        let kept = through.without_idle(point, &read, request.keeps_storages);
        let n_rates = point.held.first().map_or(1, Vec::len);
        let first = |chains: &[Vec<usize>], k: usize| -> Vec<usize> {
            chains.iter().map(|chain| chain[k]).collect()
        };
        let inputs = &point.inputs[..request.from.len()];
        let blocks = |rows: &[usize]| {
            [
                through.block(rows, &kept),
                through.block(rows, &first(&point.held, 0)),
                through.block(rows, &first(&point.fresh, 0)),
                through.block(rows, &first(inputs, 0)),
            ]
        };

        let all: Vec<usize> = kept.iter().chain(&read).copied().collect();
        for k in 1..n_rates {
            let of_held = through.block(&all, &first(&point.held, k));
            if !of_held.is_zero() || !through.block(&all, &first(inputs, k)).is_zero() {
                return Err(follows_rate(point));
            }
        }

        let (left_out, dependent) = through.names(point, &kept);
        Ok(Parts {
            rates: blocks(&kept),
            lines: blocks(&point.line_rows),
            seen: blocks(&outputs),
            kept,
            outputs,
            left_out,
            dependent,
        })
    }

    /// Puts plant and ticks together. v: states, then what the lines hold.
    fn assemble(
        &self,
        point: &OperatingPoint<'_>,
        lines: &[usize],
        schedule: &Schedule,
    ) -> SampledModel {
        let (n, m) = (self.kept.len(), lines.len());
        let n_inputs = self.rates[3].n_columns();
        let by_states = |of: &[Matrix; 4], i: usize, j: usize| match j < n {
            true => of[0][(i, j)],
            false => of[1][(i, lines[j - n])],
        };
        let n_outputs = self.outputs.len();
        let ticks = schedule.ticks.iter().map(|(due, until_next)| {
            let (jump, entry) = self.tick(point, lines, due);
            Tick {
                jump,
                entry,
                until_next: *until_next,
            }
        });

        SampledModel {
            a: Matrix::from_fn(n + m, n + m, |i, j| match i < n {
                true => by_states(&self.rates, i, j),
                false => 0.0,
            }),
            b: Matrix::from_fn(n + m, n_inputs, |i, j| match i < n {
                true => self.rates[3][(i, j)],
                false => 0.0,
            }),
            c: Matrix::from_fn(n_outputs, n + m, |i, j| by_states(&self.seen, i, j)),
            d: self.seen[3].clone(),
            ticks: ticks.collect(),
            period: schedule.period,
            n_plant: n,
        }
    }

    /// v⁺ = J v + P u at an instant at which some clocks are due.
    fn tick(&self, point: &OperatingPoint<'_>, lines: &[usize], due: &[usize]) -> (Matrix, Matrix) {
        let (n, m) = (self.kept.len(), lines.len());
        let n_inputs = self.rates[3].n_columns();
        let mut jump = Matrix::identity(n + m);
        let mut entry = Matrix::zeros(n + m, n_inputs);
        let opened = point.opened.as_ref().expect("open at this point");
        let mut open: Vec<usize> = (0..m)
            .filter(|&k| due.contains(&opened.lines[lines[k]].clock))
            .collect();

        // What other lines set comes first. They read each other in no cycle: the model has been run.
        while !open.is_empty() {
            let reads = |k: usize, j: usize| j != k && self.lines[2][(lines[k], lines[j])] != 0.0;
            let ready = open
                .iter()
                .position(|&k| !open.iter().any(|&j| reads(k, j)));
            let k = open.remove(ready.unwrap_or(0));
            let row = lines[k];
            let mut of_v: Vec<f64> = (0..n + m)
                .map(|j| match j < n {
                    true => self.lines[0][(row, j)],
                    false => self.lines[1][(row, lines[j - n])],
                })
                .collect();
            let mut of_u: Vec<f64> = self.lines[3].row(row).to_vec();
            for (j, &other) in lines.iter().enumerate() {
                let slope = self.lines[2][(row, other)];
                if slope != 0.0 {
                    let set = |x: &mut f64, y: f64| *x += slope * y;
                    (0..n + m).for_each(|i| set(&mut of_v[i], jump[(n + j, i)]));
                    (0..n_inputs).for_each(|i| set(&mut of_u[i], entry[(n + j, i)]));
                }
            }
            (0..n + m).for_each(|i| jump[(n + k, i)] = of_v[i]);
            (0..n_inputs).for_each(|i| entry[(n + k, i)] = of_u[i]);
        }
        (jump, entry)
    }
}

fn follows_rate(point: &OperatingPoint<'_>) -> LinearError {
    let message = "the plant reads the rate of what a sampled block holds, which steps";
    model_error(
        Diagnostic::error(code::NO_LINEAR_FORM, message)
            .primary(point.asked, "asked for here")
            .help("let the held value pass a lag"),
    )
}

/// The lines that count: those that follow states, inputs or other such lines, and smooth ones.
///
/// A line that rounds and follows nothing but itself (a generator of random numbers) changes by itself, as time does, and
/// stands still here.
fn driven_lines(point: &OperatingPoint<'_>, parts: &Parts) -> Result<Vec<usize>, LinearError> {
    let opened = point.opened.as_ref().expect("open at this point");
    let n = opened.lines.len();
    let follows = |of: &Matrix, row: usize| of.row(row).iter().any(|&x| x != 0.0);
    let mut driven: Vec<bool> = (0..n)
        .map(|k| follows(&parts.lines[0], k) || follows(&parts.lines[3], k))
        .collect();

    // Held values reach lines through quantities of the plant as well, which the slopes contain.
    loop {
        let by_lines = |k: usize| {
            (0..n).any(|j| {
                let slope = parts.lines[1][(k, j)].abs() + parts.lines[2][(k, j)].abs();
                driven[j] && slope != 0.0
            })
        };
        let Some(k) = (0..n).find(|&k| !driven[k] && by_lines(k)) else {
            break;
        };
        driven[k] = true;
    }

    let rounds = |line: &&Line| line.is_quantised && point.quantiser_gain.is_none();
    let refused = (0..n)
        .filter(|&k| driven[k])
        .map(|k| &opened.lines[k])
        .find(rounds);
    if let Some(line) = refused {
        let name = point.name(line.symbol);
        return Err(model_error(
            Diagnostic::error(
                code::SAMPLED_PATH,
                format!("`{name}` is rounded to whole steps: a quantiser has no slope"),
            )
            .primary(point.asked, "asked for here")
            .secondary(point.design.graph.span(line.origin), "rounds in this block")
            .help("give the gain to use for quantisers: `--quantiser-gain 1`, or `quantiser_gain = 1` in the experiment"),
        ));
    }

    Ok((0..n)
        .filter(|&k| driven[k] || !opened.lines[k].is_quantised)
        .collect())
}

/// The ticks of one common period: which clocks are due, and the time to the next tick.
struct Schedule {
    ticks: Vec<(Vec<usize>, f64)>,
    period: f64,
}

impl Schedule {
    fn n_ticks_of(&self, clock: usize) -> usize {
        let own = self.ticks.iter().filter(|t| t.0.contains(&clock));
        own.count()
    }
}

fn schedule(point: &OperatingPoint<'_>, lines: &[usize]) -> Result<Schedule, LinearError> {
    let opened = point.opened.as_ref().expect("open at this point");
    let mut clocks: Vec<usize> = lines.iter().map(|&k| opened.lines[k].clock).collect();
    clocks.sort_unstable();
    clocks.dedup();
    let rates: Vec<(u64, u64)> = clocks.iter().map(|&c| opened.rates[c]).collect();
    common_period(&clocks, &rates).ok_or_else(|| {
        let hertz: Vec<String> = rates
            .iter()
            .map(|r| format!("{}", r.0 as f64 / r.1 as f64))
            .collect();
        let message = format!(
            "the clocks have no short common period: they tick {} times per second",
            hertz.join(", ")
        );
        model_error(
            Diagnostic::error(code::SAMPLED_PATH, message)
                .primary(
                    point.asked,
                    format!("more than {MOST_TICKS} ticks until they tick together again"),
                )
                .help("choose rates with a small common multiple"),
        )
    })
}

/// Lays the ticks of all clocks on a grid of which every tick is a whole number.
fn common_period(clocks: &[usize], rates: &[(u64, u64)]) -> Option<Schedule> {
    if clocks.is_empty() {
        return None;
    }
    let gcd = |mut a: u128, mut b: u128| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };

    let lcm = |a: u128, b: u128| (a / gcd(a, b)).checked_mul(b);
    let seconds = rates
        .iter()
        .try_fold(1_u128, |d, r| lcm(d, u128::from(r.1)))?;

    // Ticks in so many seconds.
    let counts: Vec<u128> = rates
        .iter()
        .map(|r| u128::from(r.0).checked_mul(seconds / u128::from(r.1)))
        .collect::<Option<_>>()?;
    let grid = counts.iter().try_fold(1_u128, |l, &c| lcm(l, c))?;
    let shared = counts.iter().fold(0_u128, |g, &c| gcd(g, c));
    let end = grid / shared;
    let n_ticks: u128 = counts.iter().map(|c| c / shared).sum();
    if n_ticks > MOST_TICKS as u128 {
        return None;
    }

    let mut instants: Vec<u128> = counts
        .iter()
        .flat_map(|c| (0..c / shared).map(move |k| k * (grid / c)))
        .collect();
    instants.sort_unstable();
    instants.dedup();
    let of_grid = |k: u128| (k * seconds) as f64 / grid as f64;
    let ticks = instants.iter().enumerate().map(|(i, &at)| {
        let next = instants.get(i + 1).copied().unwrap_or(end);
        let due = clocks.iter().zip(&counts);
        let due = due.filter(|(_, c)| at % (grid / **c) == 0).map(|(&k, _)| k);
        (due.collect(), of_grid(next - at))
    });

    Some(Schedule {
        ticks: ticks.collect(),
        period: of_grid(end),
    })
}

/// A loop is cut at something that passes once in a period, else the loop is not a single number at a frequency.
fn refuse_many_ticks(
    point: &OperatingPoint<'_>,
    request: &LinearRequest,
    parts: &Parts,
    (lines, schedule): (&[usize], &Schedule),
) -> Result<(), LinearError> {
    let Some(cut) = request.to.first() else {
        return Ok(());
    };
    let opened = point.opened.as_ref().expect("open at this point");
    let enters = |k: &&usize| parts.lines[3][(**k, 0)] != 0.0;
    let shows = |k: &&usize| parts.seen[1][(0, **k)] != 0.0;
    let touched = lines.iter().filter(|k| enters(k) || shows(k));
    let many = touched
        .map(|&k| opened.lines[k].clock)
        .map(|c| (c, schedule.n_ticks_of(c)))
        .find(|c| c.1 > 1);
    let Some((_, n)) = many else {
        return Ok(());
    };
    let name = &cut.column.name;
    let message = format!(
        "`{name}` passes {n} times in a common period of the clocks: the loop there has no single gain and phase"
    );
    Err(model_error(
        Diagnostic::error(code::SAMPLED_PATH, message)
            .primary(cut.span, "cut here")
            .help("cut at what the slowest sampled block of the loop sets or reads; `paynter poles` tells whether the loop is stable"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_share_the_shortest_period_in_which_all_tick_together() {
        let found = common_period(&[0, 1], &[(6000, 1), (4000, 1)]).expect("short");
        // Ticks at 0, 2, 3, 4 of 12000ths of a second; together again at 6.
        let lengths: Vec<f64> = found.ticks.iter().map(|t| t.1 * 12000.0).collect();
        assert!((found.period - 5e-4).abs() < 1e-18);
        assert_eq!(lengths.len(), 4);
        for (found, exact) in lengths.iter().zip([2.0, 1.0, 1.0, 2.0]) {
            assert!((found - exact).abs() < 1e-12);
        }
        assert_eq!(found.ticks[0].0, [0, 1]);
        assert_eq!(found.ticks[1].0, [0]);
        assert_eq!(found.ticks[2].0, [1]);
        // Periods of 0.3 s and 1/7 s share three seconds: 10 and 21 ticks, one instant of them together.
        let odd = common_period(&[0, 1], &[(10, 3), (7, 1)]).expect("short");
        assert_eq!((odd.period, odd.ticks.len()), (3.0, 30));
        assert!(common_period(&[0, 1], &[(1_000_000_007, 1), (998_244_353, 1)]).is_none());
    }
}
