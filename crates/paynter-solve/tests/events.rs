//! Events on dense output: times, directions, order, re-arming, and the ways they can go wrong.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Closures, Log, ode, options};
use paynter_solve::{
    Direction, EventOutcome, Failure, FinishReason, Method, NoObserver, integrate,
};

const GRAVITY: f64 = 9.81;
const ADAPTIVE: [Method; 4] = [Method::Tsit5, Method::Dop853, Method::Rodas5P, Method::Bdf];

/// A ball above a floor; each fall on the floor turns its velocity by `restitution`.
fn ball(restitution: f64) -> Closures {
    ode(2, |_, y, f| {
        f[0] = y[1];
        f[1] = -GRAVITY;
    })
    .guards(1, |_, y, g| g[0] = y[0])
    .on_event(move |_, y, fired| {
        let falls = fired.iter().any(|c| c.direction == Direction::Falling);
        if falls {
            y[1] *= -restitution;
        }
        EventOutcome::Continue { changed: falls }
    })
}

/// Falls from height 1: first impact at √(2/g), then flights of 2 eᵏ √(2/g).
fn impact_times(restitution: f64, count: i32) -> Vec<f64> {
    let first = (2.0 / GRAVITY).sqrt();
    let mut t = first;
    let mut times = vec![t];
    for k in 1..count {
        t += 2.0 * first * restitution.powi(k);
        times.push(t);
    }
    times
}

#[test]
fn thirty_bounces_come_at_their_times() {
    // LIMIT: not BDF. Each bounce sends it back to order 1, whose error at these tolerances is
    // larger than the last bounces are high; it then reports chattering.
    for method in [Method::Tsit5, Method::Dop853, Method::Rodas5P] {
        for restitution in [0.5, 0.7, 0.8, 0.9, 1.0] {
            let exact = impact_times(restitution, 30);
            let last = exact[29];
            let after = if restitution == 1.0 {
                0.1
            } else {
                0.5 * (impact_times(restitution, 31)[30] - last)
            };
            let mut log = Log::default();
            integrate(
                &mut ball(restitution),
                0.0,
                &[1.0, 0.0],
                last + after,
                &options(method, 1e-10, 1e-12),
                &mut log,
            )
            .unwrap();
            let times: Vec<f64> = log.events.iter().map(|event| event.0).collect();
            assert_eq!(times.len(), 30, "{method:?}, e = {restitution}");
            for (time, exact) in times.iter().zip(&exact) {
                assert!(
                    (time - exact).abs() < 1e-9,
                    "{method:?}, e = {restitution}: {time} instead of {exact}"
                );
            }
        }
    }
}

#[test]
fn a_ball_that_bounces_without_end_is_reported() {
    for restitution in [0.5, 0.9] {
        let error = integrate(
            &mut ball(restitution),
            0.0,
            &[1.0, 0.0],
            100.0,
            &options(Method::Tsit5, 1e-8, 1e-10),
            &mut NoObserver,
        )
        .unwrap_err();
        let accumulation = (2.0 / GRAVITY).sqrt() * (1.0 + restitution) / (1.0 - restitution);
        let Failure::Chattering { t, guard: 0, .. } = error.failure else {
            panic!("{:?}", error.failure);
        };
        // Impact velocity, and with it the rest of the time, is known to about 1e-8.
        assert!((t - accumulation).abs() < 1e-6, "{t} {accumulation}");
        assert!(error.y[0].abs() < 1e-9, "the ball stays on the floor");
    }
}

/// The system does not look at its guards: its mode follows only from the crossings that are reported to it.
#[test]
fn a_rectifier_switches_twice_per_period_for_a_thousand_periods() {
    for method in [Method::Tsit5, Method::Dop853, Method::Rodas5P] {
        let count = std::rc::Rc::new(std::cell::Cell::new(0));
        let is_open = std::rc::Rc::new(std::cell::Cell::new(true));
        let (seen, mode) = (count.clone(), is_open.clone());
        // A source 2 sin(2πt) charges a capacitor through an ideal valve and a resistor.
        let source = |t: f64| 2.0 * (std::f64::consts::TAU * t).sin();
        let mut system = ode(1, move |t, y, f| {
            let current = if is_open.get() { source(t) - y[0] } else { 0.0 };
            f[0] = current - 0.5 * y[0];
        })
        .guards(1, move |t, y, g| g[0] = source(t) - y[0])
        .on_event(move |_, _, fired| {
            assert_eq!(fired.len(), 1);
            let rises = fired[0].direction == Direction::Rising;
            assert_ne!(rises, mode.get(), "told twice the same");
            mode.set(rises);
            seen.set(seen.get() + 1);
            EventOutcome::Continue { changed: true }
        });
        let options = options(method, 1e-6, 1e-8);
        integrate(&mut system, 0.0, &[0.0], 1000.0, &options, &mut NoObserver).unwrap();
        // Open at the start; closes and opens once per period, except the last opening.
        assert_eq!(count.get(), 1999, "{method:?}");
    }
}

/// A mass on a moving belt: it sticks until the spring outweighs the friction, slips, sticks.
#[test]
fn stick_and_slip_alternate() {
    use std::cell::Cell;
    use std::rc::Rc;
    // Mode 0: sticking; ±1: slipping with the friction in that direction.
    let mode = Rc::new(Cell::new(0_i32));
    let log: Rc<std::cell::RefCell<Vec<(f64, i32)>>> = Rc::default();
    let (m1, m2, m3) = (mode.clone(), mode.clone(), mode);
    let history = log.clone();
    let belt = 0.1;
    let mut system = ode(2, move |_, y, f| {
        f[0] = y[1];
        f[1] = match m1.get() {
            0 => 0.0,
            side => -y[0] + 0.5 * f64::from(side),
        };
    })
    .guards(2, move |_, y, g| {
        // Sticking: the spring breaks loose at 1. Slipping: relative speed comes to 0.
        g[0] = if m2.get() == 0 { 1.0 - y[0] } else { 1.0 };
        g[1] = if m2.get() == 0 { -1.0 } else { y[1] - belt };
    })
    .on_event(move |t, y, fired| {
        let before = m3.get();
        for crossing in fired {
            if m3.get() == 0 && crossing.guard == 0 && crossing.direction == Direction::Falling {
                m3.set(1);
            } else if m3.get() == 1
                && crossing.guard == 1
                && crossing.direction == Direction::Rising
            {
                m3.set(0);
                y[1] = belt;
            }
        }
        if m3.get() != before {
            history.borrow_mut().push((t, m3.get()));
        }
        EventOutcome::Continue {
            changed: m3.get() != before,
        }
    });
    let options = options(Method::Dop853, 1e-9, 1e-11);
    integrate(
        &mut system,
        0.0,
        &[0.0, belt],
        50.0,
        &options,
        &mut NoObserver,
    )
    .unwrap();
    let log = log.borrow();
    // Sticks from 0 to 1 at belt speed: 10 s.
    assert!((log[0].0 - 10.0).abs() < 1e-9);
    assert!(log.windows(2).all(|pair| pair[0].1 != pair[1].1));
    assert!(log.len() >= 5, "{log:?}");
    // Slips round the centre 1/2 from ẋ = 0.1 over the crest and the trough until ẋ = 0.1
    // again: half a turn and twice the angle whose tangent is ẋ / (x − 1/2).
    let slip = std::f64::consts::PI + 2.0 * (0.1_f64 / 0.5).atan();
    assert!((log[1].0 - log[0].0 - slip).abs() < 1e-7, "{log:?}");
    // Each slip and each stick lasts as long as the one before it.
    let durations: Vec<f64> = log.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    for pair in durations.windows(3).skip(1) {
        assert!((pair[2] - pair[0]).abs() < 1e-7, "{durations:?}");
    }
}

#[test]
fn chattering_relay_is_reported() {
    // ẏ = −mode, mode = sign y: the surface y = 0 attracts from both sides.
    let mut system = ode(2, |_, y, f| {
        f[0] = -y[1];
        f[1] = 0.0;
    })
    .guards(1, |_, y, g| g[0] = y[0])
    .on_event(|_, y, fired| {
        let rises = fired[0].direction == Direction::Rising;
        y[1] = if rises { 1.0 } else { -1.0 };
        EventOutcome::Continue { changed: true }
    });
    let options = options(Method::Dop853, 1e-8, 1e-10);
    let error = integrate(
        &mut system,
        0.0,
        &[1.0, 1.0],
        3.0,
        &options,
        &mut NoObserver,
    )
    .unwrap_err();
    assert!(
        matches!(
            error.failure,
            Failure::Chattering { guard: 0, .. } | Failure::EventLoop { guard: 0, .. }
        ),
        "{:?}",
        error.failure
    );
    assert!((error.t - 1.0).abs() < 1e-6);
}

/// ẏ = 1, so that t itself is the state and the step is as long as the limit allows.
fn clockwork(n_guards: usize, g: impl FnMut(f64, &[f64], &mut [f64]) + 'static) -> Closures {
    ode(1, |_, _, f| f[0] = 1.0).guards(n_guards, g)
}

fn events_of(system: &mut Closures, method: Method, t_end: f64) -> Log {
    let mut log = Log::default();
    integrate(
        system,
        0.0,
        &[0.0],
        t_end,
        &options(method, 1e-6, 1e-9),
        &mut log,
    )
    .unwrap();
    log
}

#[test]
fn a_dip_of_a_ten_thousandth_of_a_step_is_found() {
    // Steps grow to 1 (a tenth of the run); the dip is 1e-4 wide, at places that differ in
    // their position inside of the step.
    for method in ADAPTIVE {
        for place in 0..40 {
            let middle = 7.013 + 0.047 * f64::from(place);
            let mut system = clockwork(1, move |_, y, g| {
                g[0] = (y[0] - middle).powi(2) - 0.25e-8;
            });
            let log = events_of(&mut system, method, 10.0);
            let long_steps = log.steps.iter().filter(|(t0, t1)| t1 - t0 > 0.9).count();
            assert!(
                long_steps >= 3,
                "the test needs long steps: {:?}",
                log.steps
            );
            let times: Vec<f64> = log.events.iter().map(|event| event.0).collect();
            assert_eq!(
                times.len(),
                2,
                "{method:?}: dip at {middle} gives {times:?}"
            );
            // g has slope 1e-4 at its roots and rounding errors of 1e-16 of y² ≈ 1.
            assert!((times[0] - (middle - 0.5e-4)).abs() < 1e-10);
            assert!((times[1] - (middle + 0.5e-4)).abs() < 1e-10);
            assert_eq!(log.events[0].1[0].direction, Direction::Falling);
            assert_eq!(log.events[1].1[0].direction, Direction::Rising);
        }
    }
}

#[test]
fn a_kinked_dip_is_found() {
    // Every place in a step: at its ends as well.
    for method in [Method::Dop853, Method::Tsit5] {
        for place in 0..200 {
            let middle = 7.01 + 0.0093 * f64::from(place);
            let mut system = clockwork(1, move |_, y, g| g[0] = (y[0] - middle).abs() - 0.01);
            let log = events_of(&mut system, method, 10.0);
            assert_eq!(log.events.len(), 2, "{method:?}: dip at {middle}");
        }
    }
}

#[test]
fn a_tangential_touch_is_no_event() {
    for method in ADAPTIVE {
        for place in 0..20 {
            let middle = 5.01 + 0.11 * f64::from(place);
            let mut system = clockwork(1, move |_, y, g| g[0] = (y[0] - middle).powi(2));
            let log = events_of(&mut system, method, 10.0);
            assert_eq!(log.events.len(), 0, "{method:?}: touch at {middle}");
        }
    }
}

#[test]
fn guards_that_cross_together_are_told_together() {
    for method in ADAPTIVE {
        let mut system = clockwork(3, |_, y, g| {
            g[0] = y[0] - 3.7;
            g[1] = 3.7 * 3.7 - y[0] * y[0];
            g[2] = y[0] - 3.700_001;
        });
        let log = events_of(&mut system, method, 10.0);
        assert_eq!(log.events.len(), 2);
        let guards: Vec<usize> = log.events[0].1.iter().map(|c| c.guard).collect();
        assert_eq!(guards, [0, 1]);
        assert_eq!(log.events[0].1[0].direction, Direction::Rising);
        assert_eq!(log.events[0].1[1].direction, Direction::Falling);
        // BDF sums differences up, with a rounding error each.
        assert!((log.events[0].0 - 3.7).abs() < 1e-12);
        assert!((log.events[1].0 - 3.700_001).abs() < 1e-12);
    }
}

#[test]
fn crossings_alternate_and_come_in_order() {
    let mut system = ode(2, |_, y, f| {
        f[0] = y[1];
        f[1] = -y[0];
    })
    .guards(2, |_, y, g| {
        g[0] = y[0] - 0.5;
        g[1] = y[1] + 0.25;
    });
    let mut log = Log::default();
    integrate(
        &mut system,
        0.0,
        &[1.0, 0.0],
        100.0,
        &options(Method::Dop853, 1e-9, 1e-12),
        &mut log,
    )
    .unwrap();
    assert!(log.events.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let mut exact: Vec<f64> = Vec::new();
    for turn in 0..17 {
        let start = f64::from(turn) * std::f64::consts::TAU;
        let third = std::f64::consts::TAU / 6.0;
        let quarter = 0.25_f64.asin();
        exact.extend([third, -third + std::f64::consts::TAU].map(|t| t + start));
        exact.extend([quarter, std::f64::consts::PI - quarter].map(|t| t + start));
    }
    exact.retain(|&t| t < 100.0);
    exact.sort_by(f64::total_cmp);
    assert_eq!(log.events.len(), exact.len());
    for ((time, _), exact) in log.events.iter().zip(&exact) {
        // Phase error of the method grows over 16 turns to about 100 rtol.
        assert!((time - exact).abs() < 1e-7, "{time} {exact}");
    }
    for guard in 0..2 {
        let directions: Vec<Direction> = log
            .events
            .iter()
            .flat_map(|event| &event.1)
            .filter(|crossing| crossing.guard == guard)
            .map(|crossing| crossing.direction)
            .collect();
        assert!(directions.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

#[test]
fn a_reaction_that_moves_another_guard_is_told_in_the_same_instant() {
    let mut system = clockwork(2, |_, y, g| {
        g[0] = y[0] - 1.0;
        g[1] = y[0] - 5.0;
    })
    .on_event(|_, y, fired| {
        let first = fired.iter().any(|crossing| crossing.guard == 0);
        if first {
            y[0] = 6.0;
        }
        EventOutcome::Continue { changed: first }
    });
    let log = events_of(&mut system, Method::Tsit5, 3.0);
    assert_eq!(log.events.len(), 1);
    let guards: Vec<usize> = log.events[0].1.iter().map(|c| c.guard).collect();
    assert_eq!(guards, [0, 1]);
}

#[test]
fn reactions_that_trigger_each_other_for_ever_are_reported() {
    let mut system = clockwork(1, |_, y, g| g[0] = y[0] - 1.0).on_event(|_, y, fired| {
        let rises = fired[0].direction == Direction::Rising;
        y[0] = if rises { 0.0 } else { 2.0 };
        EventOutcome::Continue { changed: true }
    });
    let options = options(Method::Tsit5, 1e-6, 1e-9);
    let error = integrate(&mut system, 0.0, &[0.0], 3.0, &options, &mut NoObserver).unwrap_err();
    assert!(matches!(error.failure, Failure::EventLoop { guard: 0, .. }));
}

#[test]
fn a_stop_ends_the_run_at_the_event() {
    let mut system = clockwork(1, |_, y, g| g[0] = y[0] - 1.25)
        .on_event(|_, _, _| EventOutcome::Stop { code: 7 });
    let options = options(Method::Dop853, 1e-6, 1e-9);
    let finish = integrate(&mut system, 0.0, &[0.0], 3.0, &options, &mut NoObserver).unwrap();
    assert_eq!(finish.reason, FinishReason::Stopped { code: 7 });
    assert!((finish.t - 1.25).abs() < 1e-14);
}

#[test]
fn time_events_are_met_exactly_with_every_method() {
    for method in [
        Method::Euler,
        Method::Rk4,
        Method::Ab2,
        Method::Tsit5,
        Method::Dop853,
    ] {
        let mut system = ode(1, |_, y, f| f[0] = -y[0]).on_event(|_, y, _| {
            y[0] += 1.0;
            EventOutcome::Continue { changed: true }
        });
        system.period = Some(0.1);
        let mut log = Log::default();
        let mut options = options(method, 1e-9, 1e-12);
        options.fixed_step = Some(0.03);
        integrate(&mut system, 0.0, &[1.0], 0.95, &options, &mut log).unwrap();
        let times: Vec<f64> = log.events.iter().map(|event| event.0).collect();
        let exact: Vec<f64> = (1..10).map(|k| f64::from(k) * 0.1).collect();
        assert_eq!(times, exact, "{method:?}");
    }
}

#[test]
fn an_event_of_both_kinds_is_one_event() {
    let mut system = clockwork(1, |_, y, g| g[0] = y[0] - 0.5);
    system.period = Some(0.25);
    let log = events_of(&mut system, Method::Dop853, 0.9);
    assert_eq!(log.events.len(), 3);
    assert_eq!(log.events[1].1.len(), 1);
    assert_eq!(log.events[1].0, 0.5);
}

#[test]
fn fixed_step_methods_find_state_events_too() {
    for method in [Method::Euler, Method::Rk4, Method::Ab2] {
        let mut log = Log::default();
        let mut options = options(method, 1e-6, 1e-9);
        options.fixed_step = Some(0.01);
        // Constant acceleration is exact for orders ≥ 2.
        integrate(&mut ball(0.8), 0.0, &[1.0, 0.0], 2.0, &options, &mut log).unwrap();
        let exact = impact_times(0.8, 4);
        let tolerance = if method == Method::Euler { 0.1 } else { 1e-9 };
        for ((time, _), exact) in log.events.iter().zip(&exact).take(3) {
            assert!(
                (time - exact).abs() < tolerance,
                "{method:?} {time} {exact}"
            );
        }
        assert!(log.events.len() >= 3);
    }
}
