//! What a run has to say for itself, as JSON: what `paynter run --json` prints and what Python reads.
//!
//! In:  a design and what its run gave.
//! Out: one JSON object; [`outcome_facts`] leaves out the numbers of the curves, which Python has as arrays.

use paynter_analysis::experiment::Outcome;
use paynter_analysis::linear::{to_json, trim_to_json};
use paynter_analysis::simulate::Ending;
use paynter_design::design::Design;
use paynter_run::audit::Audit;
use paynter_run::table::Column;
use paynter_solve::Method;
use serde_json::{Value, json};

/// Everything about a run, with its curves.
pub fn outcome_json(design: &Design, outcome: &Outcome) -> Value {
    let run = &outcome.run;
    let table = run.table.to_json();
    let columns = run.table.columns.iter().enumerate();
    let signals = columns.map(|(k, column)| {
        let range = range_of(column, run.ranges.get(k).copied().flatten());
        signal_json(column, range, &table["columns"][k]["values"])
    });
    let mut all = outcome_facts(design, outcome);
    all["time"] = table["time"].clone();
    all["signals"] = signals.collect::<Vec<_>>().into();
    all
}

/// Everything about a run but its curves.
pub fn outcome_facts(design: &Design, outcome: &Outcome) -> Value {
    let run = &outcome.run;
    let statistics = &run.statistics;
    let is_balanced = run.audit.as_ref().is_none_or(Audit::is_good);
    let agrees = outcome.comparisons.iter().all(|c| c.is_good());

    json!({
        "is_good": is_whole(&run.ending) && is_balanced && agrees,
        "warnings": outcome.warnings.iter().map(|w| json!({
            "code": w.code, "message": w.message,
        })).collect::<Vec<_>>(),
        "model": design.model,
        "experiment": design.plan.name,
        "states": run.states,
        "method": statistics.method().map(Method::name),
        "steps": statistics.steps,
        "rejected": statistics.rejected,
        "rhs": statistics.rhs,
        "jacobians": statistics.jacobians,
        "events": statistics.state_events + statistics.time_events,
        "singular_positions": statistics.passages,
        "ending": ending_json(&run.ending),
        "audit": run.audit.as_ref().map(|audit| audit_json(audit, is_whole(&run.ending))),
        "trim": outcome.trim.as_ref().map(trim_to_json),
        "linear": outcome.linear.iter().map(to_json).collect::<Vec<_>>(),
        "measures": outcome.measures.iter().map(|m| json!({
            "name": m.name, "value": m.value, "unit": m.unit,
        })).collect::<Vec<_>>(),
        "comparisons": outcome.comparisons.iter().map(|c| json!({
            "path": c.path, "within": c.within, "worst": c.result.worst(), "is_good": c.is_good(),
        })).collect::<Vec<_>>(),
    })
}

/// What a run has computed before it failed proves nothing about the rest.
fn is_whole(ending: &Ending) -> bool {
    matches!(ending, Ending::Reached | Ending::Stopped { .. })
}

fn ending_json(ending: &Ending) -> Value {
    match ending {
        Ending::Reached => json!({"kind": "reached"}),
        Ending::Stopped { time, message } => {
            json!({"kind": "stopped", "time": time, "message": message})
        }
        Ending::Cancelled { time } => json!({"kind": "cancelled", "time": time}),
        Ending::Failed {
            time,
            why: diagnostics,
        } => json!({
            "kind": "failed", "time": time,
            "messages": diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>(),
        }),
    }
}

fn audit_json(audit: &Audit, is_whole: bool) -> Value {
    json!({
        "supplied": audit.supplied, "dissipated": audit.dissipated, "stored": audit.stored,
        "unpowered": audit.unpowered, "jumps": audit.jumps, "residual": audit.residual,
        "scale": audit.scale, "is_good": is_whole && audit.is_good(),
        "faults": audit.faults.iter().map(|f| json!({
            "what": f.to_string(), "residual": f.residual, "scale": f.scale,
        })).collect::<Vec<_>>(),
    })
}

/// A recorded column: its numbers, the range of the whole curve, and the final number.
fn signal_json(column: &Column, range: Option<(f64, f64)>, values: &Value) -> Value {
    json!({
        "name": column.name, "unit": column.unit,
        "min": range.map(|r| r.0), "max": range.map(|r| r.1),
        "final": values.as_array().and_then(|v| v.last()),
        "values": values,
    })
}

/// Min and max of a column: over the whole run where that is known, else of the recorded values.
pub fn range_of(column: &Column, whole: Option<(f64, f64)>) -> Option<(f64, f64)> {
    let finite = column.values.iter().copied().filter(|x| x.is_finite());
    let seen = finite.chain(whole.into_iter().flat_map(|(low, high)| [low, high]));
    seen.fold(None, |range, x| match range {
        None => Some((x, x)),
        Some((low, high)) => Some((f64::min(low, x), f64::max(high, x))),
    })
}
