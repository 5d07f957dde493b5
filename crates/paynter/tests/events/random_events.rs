//! Events and clocks at random places, against closed forms.
//!
//! In:  undamped oscillators of random size, watched by crossings and by clocks of unrelated rates, thrown back by a
//!      wall, or held by dry friction.
//! Out: the number and times of crossings, the samples, and the motion after any number of impacts or stops, for
//!      every adaptive method.

use crate::kit::{Seeded, assert_close, column, last, run_text};
use paynter::simulate::Ending;

const METHODS: [&str; 4] = ["tsit5", "dop853", "rodas5p", "bdf"];
/// Global error allowed, of motions of size 1, at a relative tolerance of 1e-9.
const ALLOWED: f64 = 1e-7;

/// x = a cos(ωt + φ) as mass and spring: (text of the model's lines, a, ω, φ).
fn oscillator(random: &mut Seeded) -> (String, f64, f64, f64) {
    let (m, k) = (random.between(0.5, 2.0), random.between(1.0, 20.0));
    let (a, phase) = (random.between(0.5, 1.5), random.between(-3.0, 3.0));
    let w = (k / m).sqrt();
    let (x, p) = (a * phase.cos(), -m * a * w * phase.sin());
    let lines = format!("v: 1 -> m: I({m}), c: C(1/{k})\nstart c.q = {x}, m.p = {p}");
    (lines, a, w, phase)
}

#[test]
fn crossings_are_counted_and_timed_and_clocks_see_the_motion() {
    let mut random = Seeded(11);
    for case in 0..40 {
        let method = METHODS[case % 4];
        let (lines, a, w, phase) = oscillator(&mut random);
        let level = a * random.between(-0.95, 0.95);
        let stop = random.between(3.0, 12.0);
        let (fast, slow) = (7 + random.below(30), 3 + random.below(4));
        let outcome = run_text(&format!(
            "model M {{
                {lines}
                when up: c.q > {level} {{ n = pre(n) + 1; at = time }}
                sample at {fast} [Hz] {{ x = c.q; k = pre(k) + 1 }}
                sample at {slow}/3 [Hz] {{ mean = 0.5*(x + pre(x)); j = pre(j) + 1 }}
            }}
            experiment e of M {{ stop = {stop}; rtol = 1e-9; method = {method}; record n, at, x, k, j, mean }}"
        ));
        // Upwards through the level where ωt + φ = −arccos(level/a) + 2πi.
        let first = (-(level / a).acos() - phase) / w;
        let period = std::f64::consts::TAU / w;
        let turns = |t: f64| ((t - first) / period).floor();
        let n = turns(stop) - turns(0.0);
        assert_eq!(last(&outcome, "n"), n, "case {case}, {method}");
        if n > 0.0 {
            assert_close(last(&outcome, "at"), first + turns(stop) * period, ALLOWED);
        }
        let ticks = (stop * fast as f64).floor();
        assert_eq!(last(&outcome, "k"), ticks + 1.0);
        let sample = |tick: f64| a * (w * tick / fast as f64 + phase).cos();
        assert_close(last(&outcome, "x"), sample(ticks), ALLOWED * a);
        // The slow clock reads the fast one: where both tick at once its new value, else the one that is held.
        let slow_ticks = (stop * slow as f64 / 3.0).floor();
        assert_eq!(last(&outcome, "j"), slow_ticks + 1.0);
        let at_slow = slow_ticks as usize * 3 * fast;
        let held = (at_slow / slow) as f64;
        let before = if at_slow.is_multiple_of(slow) {
            held - 1.0
        } else {
            held
        };
        let mean = 0.5 * (sample(held) + if before < 0.0 { 0.0 } else { sample(before) });
        assert_close(last(&outcome, "mean"), mean, ALLOWED * a);
    }
}

#[test]
fn wall_throws_an_oscillator_back_as_the_closed_form_says() {
    let mut random = Seeded(12);
    for case in 0..40 {
        let method = METHODS[case % 4];
        let (m, k) = (random.between(0.5, 2.0), random.between(1.0, 20.0));
        let (a, w) = (random.between(0.5, 1.5), (k / m).sqrt());
        // Right of the middle: else the spring presses against it, and bounces never end.
        let wall = a * random.between(0.05, 0.8);
        let restitution = random.between(0.5, 1.0);
        let stop = random.between(2.0, 8.0);
        // From rest, far enough away to come to the wall.
        let left = -a;
        let outcome = run_text(&format!(
            "model M {{
                v: 1 -> m: I({m}), c: C(1/{k})
                start c.q = {left}
                when hit: c.q > {wall} and v.f > 0 {{ reinit m.p = -{restitution}*m.p; n = pre(n) + 1 }}
            }}
            experiment e of M {{
                stop = {stop}; rtol = 1e-9; method = {method}; record c.q as x, n
            }}"
        ));
        assert_eq!(outcome.run.ending, Ending::Reached, "case {case}, {method}");
        let (x, n) = impacts((left, w), wall, restitution, stop);
        assert_eq!(last(&outcome, "n"), n, "case {case}, {method}");
        // Each impact multiplies an error of the speed by no more than one, that of the time by at most 1 + r.
        assert_close(last(&outcome, "x"), x, ALLOWED * (1.0 + n) * a);
    }
}

/// Where an oscillator that starts at rest left of a wall is at `stop`, and how often it met the wall.
fn impacts((left, w): (f64, f64), wall: f64, restitution: f64, stop: f64) -> (f64, f64) {
    // x = b cos(ωt + φ), from rest at `left`.
    let (mut t, mut b, mut phase, mut n) = (0.0, -left, std::f64::consts::PI, 0.0);
    loop {
        // Rightwards through the wall where the angle is −arccos(wall/b), modulo a turn.
        let angle = -(wall / b).acos();
        let turn = std::f64::consts::TAU;
        let t_hit = t + (angle - phase).rem_euclid(turn) / w;
        if t_hit > stop || b <= wall.abs() {
            return (b * (w * (stop - t) + phase).cos(), n);
        }
        // Speed there is −b ω sin(angle) > 0; after the impact it is −r times that.
        let speed = -restitution * -b * w * angle.sin();
        b = wall.hypot(speed / w);
        phase = (-speed / w).atan2(wall);
        (t, n) = (t_hit, n + 1.0);
    }
}

#[test]
fn dry_friction_stops_an_oscillator_where_the_closed_form_says() {
    let mut random = Seeded(13);
    for case in 0..20 {
        let method = METHODS[case % 3];
        let (m, k) = (random.between(0.5, 2.0), random.between(1.0, 20.0));
        let (start, friction) = (random.between(0.5, 1.5), random.between(0.1, 1.0));
        let outcome = run_text(&format!(
            "model M {{ v: 1 -> m: I({m}), c: C(1/{k}), rub: R {{ e = {friction}*sign(f) }}; start c.q = {start} }}
            experiment e of M {{ stop = 40; output_step = 1; rtol = 1e-9; method = {method}; record c.q as x }}"
        ));
        assert_eq!(outcome.run.ending, Ending::Reached, "case {case}, {method}");
        // Each half swing about ±F/k ends 2F/k nearer to the middle, on the other side.
        let reach = friction / k;
        let mut x: f64 = start;
        let mut n_swings: f64 = 0.0;
        while x.abs() > reach && n_swings * std::f64::consts::PI < 40.0 * (k / m).sqrt() {
            x = -x.signum() * (x.abs() - 2.0 * reach);
            n_swings += 1.0;
        }
        let has_stopped = n_swings * std::f64::consts::PI < 39.0 * (k / m).sqrt();
        if has_stopped {
            assert_close(last(&outcome, "x"), x, ALLOWED);
            // It rests there.
            let before = column(&outcome, "x").iter().nth_back(1);
            assert_close(*before.expect("many rows"), x, ALLOWED);
        }
    }
}
