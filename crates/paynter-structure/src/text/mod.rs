//! Findings as text and as JSON, in the names of the user: one file for each question.

mod activity;
mod along;
mod bicausal;
mod channels;
mod control;
mod estimate;
mod faults;
mod inverse;
mod loops;
mod partition;

pub use activity::{activity_json, activity_text, proposal_json, proposal_text};
pub use along::{along_json, along_text};
pub use bicausal::{bicausal_json, bicausal_text};
pub use channels::{channels_json, channels_text, gains, together, zero_list};
pub use control::{beside, control_json, control_text, verdict};
pub use estimate::{estimates_json, estimates_text};
pub use faults::{
    balances_json, balances_on_json, balances_on_text, balances_text, faults_json, faults_text,
};
pub use inverse::{inverse_json, inverse_text};
pub use loops::{loops_json, loops_text};
pub use partition::{partition_json, partition_text};

/// Names on a path that are shown; longer ones are cut in the middle.
const MOST_NAMES: usize = 10;

fn shortened(path: &[String]) -> String {
    if path.len() <= MOST_NAMES {
        return path.join(" → ");
    }
    let half = MOST_NAMES / 2;
    let n_more = path.len() - 2 * half;
    format!(
        "{} → … {n_more} more … → {}",
        path[..half].join(" → "),
        path[path.len() - half..].join(" → ")
    )
}

/// Columns of text, the first to the left, the others to the right.
fn columns(rows: &[Vec<String>]) -> String {
    let n = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |k: usize| {
        let cells = rows.iter().filter_map(|r| r.get(k));
        cells.map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::from("  ");
        for (k, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[k] - cell.chars().count());
            match k {
                0 => line.push_str(&format!("{cell}{pad}")),
                _ => line.push_str(&format!("  {pad}{cell}")),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
