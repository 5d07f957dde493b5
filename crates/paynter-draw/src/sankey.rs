//! Where the energy of a run went: ribbons as wide as joules.
//!
//! In:  the totals of the first-law audit, by element.
//! Out: one SVG: givers at the left, takers at the right.
//!
//! **Invariant:** both sides have the same height; what the audit cannot explain is drawn as a
//! giver or taker of its own, never spread over the others.

use crate::svg::{Svg, number};

/// Energies of a run, J.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Energy {
    /// Given by each source; negative if it took.
    pub supplied: Vec<(String, f64)>,
    /// Lost in each resistor.
    pub dissipated: Vec<(String, f64)>,
    /// Gained by each storage; negative if it gave.
    pub stored: Vec<(String, f64)>,
    /// supplied − dissipated − stored.
    pub residual: f64,
}

/// What a ribbon stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ribbon {
    Source,
    Loss,
    Storage,
    Unexplained,
}

/// More ribbons than this on one side are drawn as one.
const MAX_RIBBONS: usize = 12;
/// A ribbon below this part of the whole is thinner than a line; it joins the others.
const MIN_PART: f64 = 0.002;

const WIDTH: f64 = 640.0;
/// Height of the whole energy.
const HEIGHT: f64 = 200.0;
const GAP: f64 = 18.0;
const TOP: f64 = 22.0;

const STYLE: &str = ".ps text{fill:#222;font-size:12px}.ps .end{text-anchor:end}.ps .bg{fill:#fff}\
.ps path{fill-opacity:.55;stroke:none}.ps .source{fill:#0072b2}.ps .loss{fill:#d55e00}.ps .storage{fill:#009e73}.ps .unexplained{fill:#c8102e}\
.ps .bar{fill:#555}@media (prefers-color-scheme:dark){.ps text{fill:#ddd}.ps .bg{fill:#16181d}.ps .bar{fill:#bbb}}";

/// Draws the energies of a run; none if no energy moved.
pub fn sankey(energy: &Energy) -> Option<String> {
    let (left, right) = sides(energy);
    let total: f64 = left.iter().map(|r| r.2).sum();
    if !(total.is_finite() && total > 0.0) {
        return None;
    }
    let n = left.len().max(right.len());
    let height = 2.0 * TOP + HEIGHT + GAP * n as f64;
    let mut svg = Svg::new();
    svg.rect((0.0, 0.0), (WIDTH, height), "bg");
    let middle = 0.5 * WIDTH;
    let bar_top = 0.5 * (height - HEIGHT);
    for (ribbons, is_left) in [(&left, true), (&right, false)] {
        let used = HEIGHT + GAP * (ribbons.len() as f64 - 1.0);
        let mut y = 0.5 * (height - used);
        let mut bar = bar_top;
        for (name, part, joules) in ribbons {
            let h = HEIGHT * joules / total;
            let (x, class) = (if is_left { 190.0 } else { WIDTH - 190.0 }, class(*part));
            let inner = if is_left { middle - 4.0 } else { middle + 4.0 };
            ribbon(&mut svg, (x, y), (inner, bar), h, class);
            let text = format!("{name}  {}", joules_text(*joules));
            let at = (if is_left { x - 8.0 } else { x + 8.0 }, y + 0.5 * h + 4.0);
            svg.text(at, &text, if is_left { "end" } else { "start" });
            y += h + GAP;
            bar += h;
        }
    }

    svg.rect((middle - 4.0, bar_top), (8.0, HEIGHT), "bar");
    Some(svg.finish_as("ps", WIDTH, height, STYLE))
}

type Ribbons = Vec<(String, Ribbon, f64)>;

/// Givers and takers, largest first, both with the same sum.
fn sides(energy: &Energy) -> (Ribbons, Ribbons) {
    let mut left: Ribbons = Vec::new();
    let mut right: Ribbons = Vec::new();
    let finite = |list: &[(String, f64)]| -> Vec<(String, f64)> {
        list.iter().filter(|x| x.1.is_finite()).cloned().collect()
    };
    for (name, joules) in finite(&energy.supplied) {
        let side = if joules >= 0.0 { &mut left } else { &mut right };
        side.push((name, Ribbon::Source, joules.abs()));
    }

    for (list, part) in [
        (&energy.dissipated, Ribbon::Loss),
        (&energy.stored, Ribbon::Storage),
    ] {
        for (name, joules) in finite(list) {
            let side = if joules >= 0.0 { &mut right } else { &mut left };
            side.push((name, part, joules.abs()));
        }
    }

    let sum = |side: &Ribbons| side.iter().map(|r| r.2).sum::<f64>();
    let missing = sum(&left) - sum(&right);
    let scale = sum(&left).max(sum(&right));

    // What is left over within the error of a solver is not worth a ribbon of its own.
    let short = if missing > 0.0 { &mut right } else { &mut left };
    if missing.abs() > MIN_PART * scale {
        short.push((
            "not explained".to_owned(),
            Ribbon::Unexplained,
            missing.abs(),
        ));
    } else if let Some(last) = short.iter_mut().max_by(|a, b| a.2.total_cmp(&b.2)) {
        last.2 += missing.abs();
    }
    (gathered(left, scale), gathered(right, scale))
}

/// The largest, and the rest as one.
fn gathered(mut side: Ribbons, scale: f64) -> Ribbons {
    side.retain(|r| r.2 > 0.0);
    side.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    let n_large = side
        .iter()
        .filter(|r| r.2 >= MIN_PART * scale)
        .count()
        .min(MAX_RIBBONS);
    if side.len() > n_large + 1 {
        let rest = side.split_off(n_large);
        let joules = rest.iter().map(|r| r.2).sum();
        side.push((format!("{} others", rest.len()), rest[0].1, joules));
    }
    side
}

fn class(part: Ribbon) -> &'static str {
    match part {
        Ribbon::Source => "source",
        Ribbon::Loss => "loss",
        Ribbon::Storage => "storage",
        Ribbon::Unexplained => "unexplained",
    }
}

/// A band of constant height between two upright lines.
fn ribbon(svg: &mut Svg, from: (f64, f64), to: (f64, f64), h: f64, class: &str) {
    let half = 0.5 * (from.0 + to.0);
    let n = number;
    svg.raw(&format!(
        r#"<path class="{class}" d="M{x1},{y1} C{m},{y1} {m},{y2} {x2},{y2} L{x2},{y2b} C{m},{y2b} {m},{y1b} {x1},{y1b} Z"/>"#,
        x1 = n(from.0),
        y1 = n(from.1),
        m = n(half),
        x2 = n(to.0),
        y2 = n(to.1),
        y2b = n(to.1 + h),
        y1b = n(from.1 + h)
    ));
}

/// `12.3 kJ`.
pub(crate) fn joules_text(joules: f64) -> String {
    with_prefix(joules, "J")
}

/// `12.3 kW`.
pub(crate) fn with_prefix(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 8] = [
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
        (1e-12, "p"),
    ];

    let size = value.abs();
    for (factor, prefix) in PREFIXES {
        // 999.6 mW would be written as 1000 mW.
        if size >= 0.9995 * factor {
            let digits = if size >= 99.95 * factor {
                0
            } else if size >= 9.995 * factor {
                1
            } else {
                2
            };
            return format!("{:.digits$} {prefix}{unit}", value / factor);
        }
    }

    if size == 0.0 {
        format!("0 {unit}")
    } else {
        format!("{value:.1e} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energy() -> Energy {
        Energy {
            supplied: vec![("battery".into(), 10.0)],
            dissipated: vec![("r<1>".into(), 7.0), ("r2".into(), 1.0)],
            stored: vec![("c".into(), 3.0), ("m".into(), -1.0)],
            residual: 0.0,
        }
    }

    #[test]
    fn both_sides_have_the_same_sum() {
        let (left, right) = sides(&energy());
        let sum = |side: &Ribbons| side.iter().map(|r| r.2).sum::<f64>();
        assert_eq!(sum(&left), 11.0);
        assert_eq!(sum(&right), 11.0);
        assert_eq!(
            left.iter().map(|r| r.0.as_str()).collect::<Vec<_>>(),
            ["battery", "m"]
        );
    }

    #[test]
    fn energy_that_is_missing_gets_its_own_ribbon() {
        let mut wrong = energy();
        wrong.dissipated[0].1 = 5.0;
        let svg = sankey(&wrong).expect("energy moved");
        assert!(svg.contains("not explained  2.00 J") && svg.contains("class=\"unexplained\""));
        assert!(
            !sankey(&energy())
                .expect("energy moved")
                .contains("not explained")
        );
    }

    #[test]
    fn names_are_escaped_and_nothing_gives_no_picture() {
        assert!(
            sankey(&energy())
                .expect("energy moved")
                .contains("r&lt;1&gt;")
        );
        assert_eq!(sankey(&Energy::default()), None);
        let broken = Energy {
            supplied: vec![("s".into(), f64::NAN)],
            ..Energy::default()
        };
        assert_eq!(sankey(&broken), None);
    }

    #[test]
    fn many_small_losses_are_gathered() {
        let dissipated: Vec<(String, f64)> = (0..500).map(|k| (format!("r{k}"), 1.0)).collect();
        let (_, right) = sides(&Energy {
            supplied: vec![("s".into(), 500.0)],
            dissipated,
            ..Energy::default()
        });
        assert_eq!(right.len(), MAX_RIBBONS + 1);
        assert_eq!(right[MAX_RIBBONS].0, "488 others");
    }

    #[test]
    fn joules_are_written_with_a_prefix() {
        assert_eq!(joules_text(12_345.0), "12.3 kJ");
        assert_eq!(joules_text(-0.5), "-500 mJ");
        assert_eq!(joules_text(0.0), "0 J");
    }
}
