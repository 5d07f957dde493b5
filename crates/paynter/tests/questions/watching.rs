//! Plots of a run while it goes on.

use crate::kit::design;
use paynter::draw::plot::Plot;
use paynter::run::{RunChoice, run};
use paynter::watching::Watch;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TEXT: &str = "model M {
    s: Se(sin(30*time)) -> j: 1 -> i: I(1), c: C(0.01), r: R(0.1)
    bounce: Se(1)
    bounce -> k: 1 -> m: I(1)
    when m.p > 2 { reinit m.p = 0 }
}
experiment go of M { stop = 40; output_step = 0.01; record i.p, m.p; plot i.p, m.p; plot i.p vs c.q }
";

/// Every plot so far is the beginning of the plot in the end, and all have the same panels and curves.
#[test]
fn plots_on_the_way_are_beginnings_of_those_at_the_end() {
    let design = design(TEXT);
    let seen: Arc<Mutex<Vec<Vec<Plot>>>> = Arc::default();
    let told = seen.clone();
    let choice = RunChoice {
        watch: Some(Watch::new(Duration::ZERO, Duration::ZERO, move |plots| {
            told.lock().expect("nobody panicked").push(plots);
        })),
        ..RunChoice::default()
    };
    let outcome = run(&design, &choice, &mut |_| ControlFlow::Continue(())).expect("it runs");
    let seen = seen.lock().expect("nobody panicked");
    assert!(seen.len() >= 3, "{} looks", seen.len());
    let last = &outcome.plots[0].panels;
    let mut lengths = Vec::new();
    for plots in seen.iter() {
        assert_eq!(plots[0].panels.len(), last.len());
        for (part, whole) in plots[0].panels.iter().zip(last) {
            assert_eq!(
                (&part.x_label, &part.y_label),
                (&whole.x_label, &whole.y_label)
            );
            for (a, b) in part.series.iter().zip(&whole.series) {
                assert_eq!(a.name, b.name);
                // The last row may be replaced by the values after an event at the same instant.
                let n = a.x.len().saturating_sub(1);
                assert_eq!((&a.x[..n], &a.y[..n]), (&b.x[..n], &b.y[..n]));
            }
        }
        lengths.push(plots[0].panels[0].series[0].x.len());
    }
    assert!(lengths.is_sorted() && lengths[0] < lengths[lengths.len() - 1]);
    // Looking on changes nothing.
    let alone = run(&design, &RunChoice::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(alone.expect("it runs").run.table, outcome.run.table);
}
