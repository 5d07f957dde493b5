//! Inputs to outputs, and the gains of paths.

use super::shortened;
use crate::channels::{ChannelFindings, Channels};
use crate::flow_graph::{NoFlow, flow_graph};
use crate::inverse::complex;
use crate::mason::{Mason, mason};
use crate::subject::Subject;
use paynter::linear_algebra::Complex;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Prints channels for people.
pub fn channels_text(found: &Channels) -> String {
    let mut out = String::new();
    for channel in &found.channels {
        channel_text(&mut out, channel);
    }
    out + &together(found)
}

/// What is said of all inputs and outputs together.
pub fn together(found: &Channels) -> String {
    let mut out = String::new();
    let (p, m) = found.shape;
    let _ = writeln!(
        out,
        "all together: {p} output{}, {m} input{}, {} states",
        plural(p),
        plural(m),
        found.n_states
    );
    let _ = writeln!(
        out,
        "  rank of the transfer matrix: {} ({})",
        found.rank,
        if found.is_invertible() {
            "invertible"
        } else {
            "not invertible"
        }
    );
    let orders: Vec<String> = found.infinite.iter().map(usize::to_string).collect();
    let _ = writeln!(out, "  orders of the zeros at infinity: {}", list(&orders));
    if let Some(n) = found.n_zeros {
        let _ = writeln!(out, "  finite zeros: {n}");
    }
    if let Some(is_decouplable) = found.is_decouplable {
        let _ = writeln!(
            out,
            "  decoupling by state feedback: {}",
            if is_decouplable {
                "possible"
            } else {
                "not possible by static feedback"
            }
        );
    }
    out
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn list(items: &[String]) -> String {
    match items.is_empty() {
        true => "none".to_owned(),
        false => items.join(", "),
    }
}

fn channel_text(out: &mut String, channel: &ChannelFindings) {
    let _ = writeln!(out, "`{}` to `{}`", channel.input, channel.output);
    let Some(degree) = channel.relative_degree else {
        let _ = writeln!(out, "  nothing passes, whatever the parameters are\n");
        return;
    };
    let zeros = channel.order as i64 - degree;
    let _ = writeln!(
        out,
        "  relative degree {degree}, order {}, {zeros} zero{} (for almost all parameters)",
        channel.order,
        plural(zeros.unsigned_abs() as usize)
    );
    if let Some((n, path)) = &channel.path {
        let _ = writeln!(
            out,
            "  shortest path, {n} integration{}: {}",
            plural(*n as usize),
            shortened(path)
        );
        if i64::from(*n) < degree {
            let _ = writeln!(out, "  shorter paths than the relative degree cancel");
        }
    }
    let _ = match &channel.zeros {
        Ok(zeros) => writeln!(
            out,
            "  zeros with these numbers: {}",
            list(&zero_list(zeros))
        ),
        Err(why) => writeln!(out, "  no zeros with these numbers: {why}"),
    };
    out.push('\n');
}

/// Zeros, each pair once; those that make an inverse grow say so.
pub fn zero_list(zeros: &[Complex]) -> Vec<String> {
    let upper = zeros.iter().filter(|z| z.im >= 0.0);
    upper
        .map(|z| {
            let growing = if z.re > 1e-9 * z.norm() {
                " (right half plane)"
            } else {
                ""
            };
            format!("{}{growing}", complex(*z))
        })
        .collect()
}

/// Gives channels as JSON.
pub fn channels_json(found: &Channels) -> Value {
    let channels = found.channels.iter().map(|c| {
        let zeros = c.zeros.as_ref().ok();
        json!({
            "input": c.input,
            "output": c.output,
            "relative_degree": c.relative_degree,
            "order": c.order,
            "integrations": c.path.as_ref().map(|p| p.0),
            "path": c.path.as_ref().map(|p| &p.1),
            "zeros": zeros.map(|z| z.iter().map(|z| [z.re, z.im]).collect::<Vec<_>>()),
            "no_zeros": c.zeros.as_ref().err(),
        })
    });
    json!({
        "channels": channels.collect::<Vec<_>>(),
        "rank": found.rank,
        "invertible": found.is_invertible(),
        "row_degrees": found.row_degrees,
        "infinite_orders": found.infinite,
        "n_zeros": found.n_zeros,
        "decouplable": found.is_decouplable,
    })
}

/// The gains of all causal paths and loops of every channel, as text and as JSON.
pub fn gains(subject: &Subject<'_>) -> (String, Value) {
    let mut out = String::new();
    let mut flow = match flow_graph(subject) {
        Ok(flow) => flow,
        Err(why) => {
            let why = match why {
                NoFlow::Strokes => "the strokes leave open what is computed from which equation",
                NoFlow::TooLarge => "the model is too large to list its paths",
            };
            let _ = writeln!(out, "no path gains: {why}");
            return (out, json!({ "no_gains": why }));
        }
    };
    let mut all = Vec::new();
    for i in 0..subject.outputs.len() {
        for j in 0..subject.inputs.len() {
            let (input, output) = (
                &subject.ask.from[j].column.name,
                &subject.ask.to[i].column.name,
            );
            let _ = writeln!(out, "gains from `{input}` to `{output}`");
            let Some(found) = mason(&mut flow, j, i) else {
                let _ = writeln!(out, "  too many paths or loops to list\n");
                all.push(json!({ "input": input, "output": output, "too_many": true }));
                continue;
            };
            let Mason { paths, loops } = &found;
            let mut lists = Vec::new();
            for (title, walks) in [("paths", paths), ("loops", loops)] {
                if walks.is_empty() {
                    let _ = writeln!(out, "  no {title}");
                }
                for walk in walks {
                    let gain = flow.text(walk.gain);
                    let name = title.trim_end_matches('s');
                    let _ = writeln!(
                        out,
                        "  {name} {}\n       gain {gain}",
                        shortened(&walk.through)
                    );
                }
                let walks = walks
                    .iter()
                    .map(|w| json!({ "through": w.through, "gain": flow.text(w.gain) }));
                lists.push(walks.collect::<Vec<_>>());
            }
            out.push('\n');
            all.push(
                json!({ "input": input, "output": output, "paths": lists[0], "loops": lists[1] }),
            );
        }
    }
    (out, json!({ "gains": all }))
}
