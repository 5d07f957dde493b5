//! What a run has to say for itself, for people; `paynter::outcome_json` has the same for programs.

use crate::say;
use paynter::Design;
use paynter::assumed::other_models;
use paynter::audit::Audit;
use paynter::digits::significant;
use paynter::experiment::{Compared, Outcome};
use paynter::gaps::worst;
use paynter::linear::Label;
use paynter::outcome_json::range_of;
use paynter::simulate::Ending;
use paynter::solve::{Choice, Reason};
use std::path::Path;

/// Prints the summary.
pub fn print(design: &Design, outcome: &Outcome, out: Option<&Path>, report: Option<&Path>) {
    print_choice(design);
    print_mechanism(outcome);
    print_start(outcome);
    print_work(outcome);
    print_ending(&outcome.run.ending);
    print_audit(outcome);

    print_signals(outcome);
    print_measures(outcome);
    outcome.comparisons.iter().for_each(print_comparison);

    if let Some(path) = out {
        say!("\n  table in {}", path.display());
    }
    if let Some(path) = report {
        say!("  report written to {}", path.display());
    }
}

/// What was run, and what could have been.
fn print_choice(design: &Design) {
    let name = design.plan.name.as_deref().unwrap_or("(no experiment)");
    say!("{name} of {}", design.model);

    let others = design.experiments.iter();
    let others = others.filter(|e| Some(*e) != design.plan.name.as_ref());
    let others: Vec<String> = others.cloned().collect();
    if !others.is_empty() {
        say!(
            "  others      {} (choose with --experiment)",
            shorten(&others)
        );
    }

    let models = other_models(design);
    if design.plan.name.is_none() && !models.is_empty() {
        say!(
            "  others      {} (choose with --model; without a choice, the last model of the file runs)",
            shorten(&models)
        );
    }
    if let Some(stop) = assumed_stop(design) {
        say!("  assumed     stop = {stop} s, since no experiment says how long to run");
    }
}

/// Bodies, freedoms, and how far locks gave way.
fn print_mechanism(outcome: &Outcome) {
    if let Some(mobility) = &outcome.mobility {
        say!("  mechanism   {}", mobility.summary());
        let joints = mobility.joint_freedoms();
        if !joints.is_empty() {
            say!("  freedoms    {}", shorten(&joints));
        }
        if mobility.redundant > 0 {
            let determinate = match mobility.determinate.is_empty() {
                true => "none".to_owned(),
                false => shorten(&mobility.determinate),
            };
            say!(
                "  determinate {determinate}: rigid bodies do not say how the other locks share the load"
            );
        }
    }

    for gap in worst(&outcome.gaps) {
        let size = significant(gap.size, 2);
        say!(
            "  gap         {size} {} at most, in {}",
            gap.unit(),
            gap.lock
        );
    }

    if let Some(springs) = &outcome.springs {
        say!(
            "  springs     give way by {} of the mechanism's size, dampers take {} of its energy: off by about {} of its range",
            significant(springs.gap, 2),
            significant(springs.lost, 2),
            significant(springs.of_way(), 2)
        );
    }

    if let Some(gain) = &outcome.loop_gain {
        say!(
            "  loop gain   {} to {} of the delayed storages (stable below {})",
            significant(gain.low, 4),
            significant(gain.high, 4),
            significant(gain.limit, 3)
        );
    }
}

/// States, where they start, and the linear models made there.
fn print_start(outcome: &Outcome) {
    let run = &outcome.run;
    say!("  states      {}", shorten(&run.states));
    if !run.defaulted.is_empty() {
        say!("  start       defaulted to 0: {}", shorten(&run.defaulted));
    }
    if let Some(trim) = &outcome.trim {
        let values: Vec<String> = trim.values.iter().map(with_unit).collect();
        say!("  trim        at rest with {}", values.join(", "));
    }
    for linear in &outcome.linear {
        let names = |labels: &[Label]| -> String {
            let names: Vec<&str> = labels.iter().map(|l| l.name.as_str()).collect();
            names.join(", ")
        };
        say!(
            "  linear      {} state{} from {} to {} (`paynter linearize` prints it)",
            linear.states.len(),
            if linear.states.len() == 1 { "" } else { "s" },
            names(&linear.inputs),
            names(&linear.outputs)
        );
    }
}

fn print_work(outcome: &Outcome) {
    let run = &outcome.run;
    let statistics = &run.statistics;
    const SHOWN_CHOICES: usize = 6;
    for (k, choice) in statistics.choices.iter().take(SHOWN_CHOICES).enumerate() {
        say!("  method      {}", method(choice, k == 0));
    }
    if let Some(further @ 1..) = statistics.choices.len().checked_sub(SHOWN_CHOICES) {
        say!("              and {further} further changes of the method");
    }

    say!(
        "  work        {} steps, {} rejected, {} right-hand sides, {} Jacobians, {} events, {:.1} ms{}",
        statistics.steps,
        statistics.rejected,
        statistics.rhs,
        statistics.jacobians,
        statistics.state_events + statistics.time_events,
        run.elapsed.as_secs_f64() * 1e3,
        match run.machine_code {
            Some(bytes) => format!(", {bytes} bytes of machine code"),
            None => ", interpreted".to_owned(),
        }
    );

    if let [first, rest @ ..] = statistics.passages.as_slice() {
        let times = match rest.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        say!("  singular    position at t = {first:.6} s{times}: passed on the smooth branch");
    }
}

fn print_ending(ending: &Ending) {
    match ending {
        Ending::Reached => {}
        Ending::Stopped { time, message } => {
            say!(
                "  stopped     at t = {} s: {message}",
                significant(*time, 8)
            );
        }
        Ending::Cancelled { time } => {
            say!(
                "  cancelled   at t = {} s; what was computed is kept",
                significant(*time, 8)
            )
        }
        Ending::Failed { time, .. } => {
            say!(
                "  FAILED      at t = {} s; what was computed is kept",
                significant(*time, 8)
            )
        }
    }
}

fn print_signals(outcome: &Outcome) {
    let run = &outcome.run;
    if run.table.columns.is_empty() {
        return;
    }
    say!(
        "\n  {:<24} {:>14} {:>14} {:>14}",
        "signal",
        "min",
        "max",
        "final"
    );
    for (k, column) in run.table.columns.iter().enumerate() {
        let label = if column.unit.is_empty() {
            column.name.clone()
        } else {
            format!("{} [{}]", column.name, column.unit)
        };
        let range = range_of(column, run.ranges.get(k).copied().flatten());
        let last = column.values.last().copied().filter(|x| x.is_finite());
        say!(
            "  {label:<24} {} {} {}",
            number(range.map(|r| r.0)),
            number(range.map(|r| r.1)),
            number(last)
        );
    }
}

fn print_measures(outcome: &Outcome) {
    if outcome.measures.is_empty() {
        return;
    }
    say!("");
    for m in &outcome.measures {
        let value = m.value.map_or("never".to_owned(), |v| significant(v, 9));
        say!(
            "  {:<24} {}",
            m.name,
            format!("{value} {}", m.unit).trim_end()
        );
    }
}

fn print_comparison(compared: &Compared) {
    let verdict = if compared.is_good() {
        "agrees with"
    } else {
        "DIFFERS from"
    };
    say!(
        "\n  {verdict} {}: largest difference {:.2e} of the range, {} allowed ({} times, {} columns)",
        compared.path,
        compared.result.worst(),
        significant(compared.within, 9),
        compared.result.n_times,
        compared.result.columns.len()
    );
    if !compared.is_good() {
        for c in &compared.result.columns {
            say!("    {:<20} {:.3e} at t = {}", c.name, c.scaled, c.time);
        }
    }
    if !compared.result.missing.is_empty() {
        say!("    not recorded: {}", compared.result.missing.join(", "));
    }
}

/// The end of the run, where nobody gave it.
fn assumed_stop(design: &Design) -> Option<String> {
    let plan = &design.plan;
    plan.is_stop_default.then(|| significant(plan.stop, 6))
}

fn with_unit(label: &Label) -> String {
    let value = significant(label.value, 9);
    let text = format!("{} = {value} {}", label.name, label.unit);
    text.trim_end().to_owned()
}

fn print_audit(outcome: &Outcome) {
    let Some(audit) = &outcome.run.audit else {
        return;
    };
    // A run that failed before its first step has moved nothing that could be accounted for.
    let run = &outcome.run;
    if matches!(run.ending, Ending::Failed { .. }) && audit.scale == 0.0 {
        return;
    }
    say!("  energy      {}", balance(audit));
    let is_whole = matches!(outcome.run.ending, Ending::Reached | Ending::Stopped { .. });
    let verdict = match (audit.residual.abs() <= audit.allowed, is_whole) {
        (true, true) => "accounted for",
        // What came before the failure says nothing of the failure.
        (true, false) if audit.relative() <= CLEAR_SHARE => "accounted for until then",
        (true, false) => "incomplete, since the run failed",
        (false, _) => "NOT ACCOUNTED FOR",
    };
    say!(
        "              residual {} J = {} of the {} J that moved: {verdict}",
        significant(audit.residual, 3),
        significant(audit.relative(), 2),
        significant(audit.scale, 3)
    );
    for fault in audit.faults.iter().take(MOST_FAULTS) {
        say!("              {fault}: NOT ACCOUNTED FOR");
    }
}

/// As many faults as a reader looks at; a warning names the worst.
const MOST_FAULTS: usize = 5;

/// Storages of a run that was cut off are known to their tolerances only, which may be large beside the little that has
/// moved. Beyond this part of it nothing is claimed.
const CLEAR_SHARE: f64 = 1e-3;

/// Less than this part of the energy that moved is rounding.
const ROUNDING: f64 = 1e-11;

/// What came in on the left, where it went on the right; each part where it is positive.
fn balance(audit: &Audit) -> String {
    let parts = [
        (audit.supplied, "supplied", "returned to sources"),
        (
            audit.unpowered,
            "from unpowered elements",
            "to unpowered elements",
        ),
        (audit.jumps, "gained at events", "lost at events"),
        (-audit.dissipated, "gained in resistors", "dissipated"),
        (-audit.stored, "taken from storages", "stored"),
    ];
    let side = |sign: f64| -> String {
        let words: Vec<String> = parts
            .iter()
            .filter(|part| sign * part.0 > ROUNDING * audit.scale)
            .map(|&(x, comes, goes)| {
                let word = if sign > 0.0 { comes } else { goes };
                format!("{} J {word}", significant(x.abs(), 6))
            })
            .collect();
        words.join(" + ")
    };
    match (side(1.0).as_str(), side(-1.0).as_str()) {
        ("", "") => "nothing came in, nothing went out".to_owned(),
        ("", goes) => format!("nothing came in, {goes}"),
        (comes, "") => format!("{comes}, nothing went out"),
        (comes, goes) => format!("{comes} = {goes}"),
    }
}

/// A number, or a dash where there is none.
fn number(x: Option<f64>) -> String {
    format!("{:>14}", x.map_or("–".to_owned(), |x| significant(x, 7)))
}

/// As many names as fit in a line.
fn shorten(names: &[String]) -> String {
    const WIDTH: usize = 90;
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut shown = String::new();
    for (k, name) in names.iter().enumerate() {
        if k > 0 && shown.chars().count() + name.chars().count() + 2 > WIDTH {
            return format!("{shown}, … ({} in all)", names.len());
        }
        if k > 0 {
            shown.push_str(", ");
        }
        shown.push_str(name);
    }
    shown
}

fn method(choice: &Choice, is_first: bool) -> String {
    let name = choice.method.name();
    let why = match choice.reason {
        Reason::Requested => "as asked".to_owned(),
        Reason::TightTolerance => "high order pays at this tolerance".to_owned(),
        Reason::LooseTolerance => "cheap steps suffice at this tolerance".to_owned(),
        Reason::AlgebraicRows => "there are algebraic equations".to_owned(),
        Reason::Resumed => "it ran before the last change of structure".to_owned(),
        Reason::Stiff { h_lambda, .. } => {
            format!("stiff: stability limits the step (h·λ = {h_lambda:.1})")
        }
        Reason::StepCollapsed { h } => format!("explicit steps fell to {h:.1e} s"),
        Reason::Chattered => "explicit steps made a switch chatter".to_owned(),
        Reason::NoLongerStiff { .. } => "no longer stiff".to_owned(),
    };
    if is_first {
        format!("{name}: {why}")
    } else {
        format!("{name} from t = {} s: {why}", significant(choice.t, 5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_energy_stands_where_it_is_positive() {
        let audit = Audit {
            supplied: -2.0,
            dissipated: 449.0,
            stored: -451.0,
            ..Audit::default()
        };
        assert_eq!(
            balance(&audit),
            "451 J taken from storages = 2 J returned to sources + 449 J dissipated"
        );
    }
}
