//! Ranks along a run, in words.

use crate::along::Instant;
use crate::control::combination;
use crate::findings::NumericRank;
use paynter::digits::significant;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Instants that are listed where something is hidden.
const MOST_LISTED: usize = 12;

/// Says where on the run inputs reach, and outputs see, less than everything.
pub fn along_text(found: &[Instant]) -> String {
    let mut out = format!("along the run, at {} instants\n", found.len());
    side_text(&mut out, found, "controllable", "reached", |i| {
        i.control.as_ref()
    });
    side_text(&mut out, found, "observable", "seen", |i| {
        i.observe.as_ref()
    });
    out
}

fn side_text<'f>(
    out: &mut String,
    found: &'f [Instant],
    able: &str,
    reached: &str,
    side: impl Fn(&'f Instant) -> Option<&'f Result<NumericRank, String>>,
) {
    let all: Vec<(f64, &Result<NumericRank, String>)> = found
        .iter()
        .filter_map(|i| Some((i.time, side(i)?)))
        .collect();
    if all.is_empty() {
        return;
    }
    let is_whole = |r: &NumericRank| r.dimension == r.order;
    let known = all.iter().filter_map(|(t, r)| Some((*t, r.as_ref().ok()?)));
    let n_whole = known.clone().filter(|(_, r)| is_whole(r)).count();
    let _ = writeln!(out, "  {able} at {n_whole} of {}", all.len());
    let faintest = known.clone().filter(|(_, r)| is_whole(r));
    let faintest = faintest.min_by(|a, b| a.1.smallest_kept.total_cmp(&b.1.smallest_kept));
    if let Some((t, rank)) = faintest.filter(|(_, r)| r.smallest_kept.is_finite()) {
        let _ = writeln!(
            out,
            "    the faintest singular value that counts: {:.2e} at t = {} s",
            rank.smallest_kept,
            significant(t, 4)
        );
    }
    for (t, rank) in known.filter(|(_, r)| !is_whole(r)).take(MOST_LISTED) {
        let hidden: Vec<String> = rank.hidden.iter().map(|w| combination(w)).collect();
        let _ = writeln!(
            out,
            "    at t = {} s not {reached}: {}",
            significant(t, 4),
            hidden.join("; ")
        );
    }
    for (t, why) in all
        .iter()
        .filter_map(|(t, r)| Some((t, r.as_ref().err()?)))
        .take(1)
    {
        let _ = writeln!(out, "    no numbers at t = {} s: {why}", significant(*t, 4));
    }
}

/// Gives the same as JSON.
pub fn along_json(found: &[Instant]) -> Value {
    let side = |r: &Option<Result<NumericRank, String>>| {
        r.as_ref().map(|r| match r {
            Ok(rank) => {
                json!({ "order": rank.order, "dimension": rank.dimension, "rank": rank.rank })
            }
            Err(why) => json!({ "no_numbers": why }),
        })
    };
    let list = found.iter().map(|i| {
        json!({ "time": i.time, "controllability": side(&i.control), "observability": side(&i.observe) })
    });
    Value::Array(list.collect())
}
