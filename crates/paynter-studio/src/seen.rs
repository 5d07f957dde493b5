//! The curves that the page sees, and the part of the time that it looks at.
//!
//! In:  the present run, as far as it has come; runs that are kept beside it; where the page zooms to.
//! Out: frames.
//!
//! **Invariant:** whole curves are kept here, so that every part of every run that is seen can be shown finely.

use crate::result::Shown;
use std::sync::Arc;

/// Earlier runs that can be kept to compare with.
const MOST_PINNED: usize = 3;

/// What the page sees.
#[derive(Default)]
pub struct Seen {
    present: Option<Arc<Shown>>,
    pinned: Vec<Arc<Shown>>,
    range: Option<(f64, f64)>,
    width: usize,
}

impl Seen {
    /// From now on this part of the time is looked at.
    pub fn look_at(&mut self, range: Option<(f64, f64)>, width: usize) {
        (self.range, self.width) = (range, width);
    }

    /// Shows a run, or more of it.
    pub fn show(&mut self, shown: Shown) -> Vec<u8> {
        let frame = shown.frame(None, self.range, self.width);
        self.present = Some(Arc::new(shown));
        frame
    }

    /// Gives a part of all curves that are seen.
    pub fn zoom(&mut self, range: Option<(f64, f64)>, width: usize) -> Vec<Vec<u8>> {
        self.look_at(range, width);
        let present = self.present.as_ref().map(|s| s.run());
        let others = self.pinned.iter().filter(|p| Some(p.run()) != present);
        let runs = self.present.iter().chain(others);
        runs.map(|run| run.frame(Some("zoom"), range, width))
            .collect()
    }

    /// Keeps these runs: the present one, and those that are kept already.
    pub fn pin(&mut self, runs: &[u64]) {
        self.pinned.retain(|kept| runs.contains(&kept.run()));
        let is_new = |run: u64| self.pinned.iter().all(|kept| kept.run() != run);
        let present = self.present.as_ref();
        let added = present.filter(|s| runs.contains(&s.run()) && is_new(s.run()));
        if self.pinned.len() < MOST_PINNED {
            self.pinned.extend(added.cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paynter::draw::plot::{Panel, Plot, Series};
    use serde_json::{Value, json};

    fn run(number: u64, n: usize) -> Shown {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let series = Series {
            name: "x".to_owned(),
            y: x.clone(),
            x,
            ..Series::default()
        };
        let panel = Panel {
            x_label: "time [s]".to_owned(),
            series: vec![series],
            ..Panel::default()
        };
        let plot = Plot {
            title: String::new(),
            panels: vec![panel],
        };
        Shown::of_plots(json!({ "run": number }), &[plot])
    }

    /// Number of the run, and how many points of its curve are sent.
    fn told(frame: &[u8]) -> (u64, u64) {
        let length = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
        let head: Value = serde_json::from_slice(&frame[4..4 + length]).expect("JSON");
        let n = head["panels"][0]["series"][0]["n"].as_u64();
        (head["run"].as_u64().unwrap_or(0), n.unwrap_or(0))
    }

    #[test]
    fn pinned_runs_are_zoomed_with_the_present_one() {
        let mut seen = Seen::default();
        seen.look_at(None, 100);
        let whole = told(&seen.show(run(1, 100_000)));
        assert!(whole.1 <= 402, "{whole:?}");
        seen.pin(&[1]);
        seen.show(run(2, 100_000));
        let parts = seen.zoom(Some((1000.5, 1010.5)), 100);
        // All points between, and one at each side.
        let told_of: Vec<_> = parts.iter().map(|p| told(p)).collect();
        assert_eq!(told_of, [(2, 12), (1, 12)]);
        seen.pin(&[]);
        assert_eq!(seen.zoom(None, 100).len(), 1);
    }

    #[test]
    fn a_run_in_a_zoomed_plot_comes_finely() {
        let mut seen = Seen::default();
        seen.look_at(Some((1000.5, 1010.5)), 100);
        assert_eq!(told(&seen.show(run(1, 100_000))), (1, 12));
    }

    #[test]
    fn a_pinned_run_that_is_the_present_one_comes_once() {
        let mut seen = Seen::default();
        seen.show(run(7, 10));
        seen.pin(&[7]);
        seen.pin(&[7]);
        assert_eq!(seen.zoom(None, 100).len(), 1);
    }
}
