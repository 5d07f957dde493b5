//! Frequencies at which a response is worth looking at.
//!
//! In:  the response of a channel, the frequencies and dampings at which it turns (poles and
//!      zeros), and the range where one is asked for.
//! Out: ascending frequencies, near enough to each other that straight lines between them in a
//!      Bode diagram follow the curve; narrow resonances have points on their flanks.
//!
//! **Invariant:** frequencies ascend strictly; phases are continuous from point to point.

use crate::{Complex, Response};

/// A place where the response turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// |λ|, rad/s.
    pub frequency: f64,
    /// |ζ|.
    pub damping: f64,
}

impl Corner {
    /// The corner of a pole or zero; none for one at zero.
    pub fn of(root: Complex) -> Option<Self> {
        let frequency = root.norm();
        (frequency > 0.0 && frequency.is_finite()).then(|| Corner {
            frequency,
            damping: root.re.abs() / frequency,
        })
    }
}

/// A response over frequency.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// ω, rad/s.
    pub omega: Vec<f64>,
    /// G(jω).
    pub values: Vec<Complex>,
    /// arg G(jω), rad, continuous.
    pub phase: Vec<f64>,
}

/// Points per decade where nothing happens.
const PER_DECADE: f64 = 40.0;
/// Room before the first and after the last corner: one decade shows the straight lines.
const ROOM: f64 = 10.0;
/// A straight line may miss the curve by this much, dB: less than the width of a line.
const LARGEST_BEND_DB: f64 = 0.05;
/// And this much, rad (0.5°).
const LARGEST_TURN: f64 = 0.5 * std::f64::consts::PI / 180.0;
/// No diagram needs more points.
const MOST_POINTS: usize = 20_000;
/// Points nearer than this, relatively, are one.
const NEAREST: f64 = 1e-9;

/// Computes the response on a grid that resolves its corners, over `range` in rad/s if given.
pub fn frequency_sweep(
    response: &Response,
    corners: &[Corner],
    range: Option<(f64, f64)>,
) -> Sweep {
    let slowest = corners.iter().map(|c| c.frequency).reduce(f64::min);
    let fastest = corners.iter().map(|c| c.frequency).reduce(f64::max);
    let decade = |x: f64, up: bool| {
        let exponent = x.log10();
        10.0_f64.powf(if up {
            exponent.ceil()
        } else {
            exponent.floor()
        })
    };

    let (low, high) = range.unwrap_or_else(|| {
        let (slowest, fastest) = (slowest.unwrap_or(1.0), fastest.unwrap_or(1.0));
        (decade(slowest / ROOM, false), decade(fastest * ROOM, true))
    });
    let n = ((high / low).log10() * PER_DECADE)
        .ceil()
        .clamp(2.0, MOST_POINTS as f64 / 4.0) as usize;
    let step = (high / low).ln() / n as f64;
    let mut omega: Vec<f64> = (0..=n).map(|k| low * (step * k as f64).exp()).collect();
    if let Some(last) = omega.last_mut() {
        *last = high;
    }
    for corner in corners {
        // Half widths of the resonance, out to where it no longer differs from the straight lines.
        let width = corner.damping.max(1e-12);
        for k in -6..=6 {
            let offset = f64::from(k) / 2.0;
            omega.push(corner.frequency * (1.0 + offset * width));
        }
        let mut reach = width * 4.0;
        while reach < 1.0 {
            omega.push(corner.frequency * (1.0 + reach));
            omega.push(corner.frequency * (1.0 - reach));
            reach *= 1.6;
        }
    }

    omega.retain(|&w| w >= low && w <= high);
    omega.sort_by(f64::total_cmp);
    omega.dedup_by(|b, a| *b - *a <= NEAREST * *a && *b != high);
    refine(response, omega)
}

/// Halves intervals in which the curve leaves the straight line between its ends.
fn refine(response: &Response, omega: Vec<f64>) -> Sweep {
    let mut sweep = Sweep::default();
    let mut n_left = MOST_POINTS.saturating_sub(omega.len());
    let mut previous: Option<(f64, Complex)> = None;
    for w in omega {
        let value = response.at_frequency(w);
        if let Some(from) = previous {
            // Right ends still to be reached, the nearest on top.
            let mut open = vec![(w, value)];
            let mut at = from;
            while let Some(&(to, end)) = open.last() {
                let middle = (at.0 * to).sqrt();
                let is_split = n_left > 0 && to - at.0 > NEAREST * to && {
                    let inside = response.at_frequency(middle);
                    let is_bent = bends(at.1, inside, end);
                    if is_bent {
                        open.push((middle, inside));
                        n_left -= 1;
                    }
                    is_bent
                };
                if !is_split {
                    open.pop();
                    sweep.push(to, end);
                    at = (to, end);
                }
            }
        } else {
            sweep.push(w, value);
        }
        previous = Some((w, value));
    }
    sweep
}

/// Tells whether the middle lies off the straight line between the ends.
fn bends(from: Complex, middle: Complex, to: Complex) -> bool {
    let db = |z: Complex| 20.0 * z.norm().log10();
    let bend = db(middle) - 0.5 * (db(from) + db(to));
    let turn = ((middle / from).arg() - (to / middle).arg()) / 2.0;
    bend.abs() > LARGEST_BEND_DB || turn.abs() > LARGEST_TURN
}

impl Sweep {
    fn push(&mut self, omega: f64, value: Complex) {
        let own = value.arg();
        let phase = match self.phase.last() {
            Some(&last) if last.is_finite() && own.is_finite() => {
                let turns = ((last - own) / std::f64::consts::TAU).round();
                own + turns * std::f64::consts::TAU
            }
            // −180° is how an inverting or doubly integrating loop is drawn.
            _ if own > std::f64::consts::PI - 1e-9 => own - std::f64::consts::TAU,
            _ => own,
        };
        self.omega.push(omega);
        self.values.push(value);
        self.phase.push(phase);
    }
}
