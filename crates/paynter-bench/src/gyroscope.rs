//! The two-gimbal gyroscope by hand, and from text beside it.
//!
//! In:  `benches/models/gyroscope.bond` and the equations of McBride & Cellier 2001 (44, 45, 50, 51).
//! Out: times of whole runs, of right-hand sides, and of a sweep of 10 000 runs.

use crate::dop853::dop853;
use crate::meter::{clock, cpu, cpu_clock, interleave, median};
use crate::unaudited::Unaudited;
use paynter::Compiled;
use paynter::exec::{Engine, Machine};
use paynter::experiment::{lay_out, run_spec};
use paynter::run::RunChoice;
use paynter::simulate::{RunSpec, prepare, simulate};
use paynter::solve::{EvalError, NoObserver, Options, System, Tolerances, integrate};
use paynter::sweep::Sweeper;
use paynter::{Choice, design};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Moments of inertia, kg m².
#[derive(Clone, Copy, Debug)]
pub struct Gyroscope {
    /// Rotor about the inner axis, and inner gimbal.
    pub a: f64,
    /// Inner gimbal.
    pub a1: f64,
    /// Inner gimbal.
    pub b1: f64,
    /// Rotor about its axis.
    pub c: f64,
    /// Inner gimbal.
    pub c1: f64,
    /// Outer gimbal.
    pub c2: f64,
}

/// As in the gallery.
pub const GYROSCOPE: Gyroscope = Gyroscope {
    a: 2.0,
    a1: 1.4,
    b1: 1.2,
    c: 4.0,
    c1: 2.6,
    c2: 2.2,
};

impl Gyroscope {
    /// Rates of P1, P2, P3, θ, φ, ψ under the torques of the driven run.
    #[inline(always)]
    pub fn rates(&self, t: f64, y: &[f64; 6]) -> [f64; 6] {
        let [p1, p2, p3, theta, _, _] = *y;
        let (n_theta, n_phi, n_psi) = (t.sin(), 0.5 * (2.0 * t).cos(), 0.3 * (0.5 * t).sin());
        let (s, c) = theta.sin_cos();
        let turn = p2 / self.c2;
        let tilt = p1 / (self.a + self.a1);
        let across = self.a + self.b1;
        let m = self.c2 + self.c1 * c * c + across * s * s;
        [
            n_theta - turn * p3 * s + turn * turn * s * c * (across - self.c1),
            self.c2
                * (n_phi - n_psi * c
                    + 2.0 * tilt * turn * s * c * (self.c1 - across)
                    + tilt * p3 * s)
                / m,
            n_psi,
            tilt,
            turn,
            p3 / self.c - turn * c,
        ]
    }

    /// Runs 10 s from θ = 0.2.
    pub fn run(&self, rtol: f64) -> crate::dop853::End<6> {
        let start = [0.0, 0.0, 0.0, 0.2, 0.0, 0.0];
        let rates = |t: f64, y: &[f64; 6]| self.rates(t, y);
        dop853(rates, (0.0, STOP), start, (rtol, 1e-2 * rtol))
    }
}

/// Length of a run, s.
const STOP: f64 = 10.0;

/// Largest difference at the end that counts as solved.
const GOAL: f64 = 1e-7;

/// A model from text, up to its machine.
pub struct Prepared {
    /// Its equations.
    pub compiled: Compiled,
    /// What a run does.
    pub spec: RunSpec,
    /// Its machine.
    pub machine: Machine,
}

/// Reads a file and makes the machine of one experiment.
pub fn open(path: &Path, experiment: &str, rtol: Option<f64>) -> Prepared {
    let choice = Choice {
        experiment: Some(experiment.to_owned()),
        ..Choice::default()
    };
    let mut design = design(path, &choice).expect("the benchmark's model is right");
    if let Some(rtol) = rtol {
        design.plan.rtol = rtol;
    }
    let compiled = design
        .compile()
        .expect("the benchmark's model has equations");
    // Machine code from the start: these measure runs, not compiling.
    let spec = run_spec(&design.plan, &lay_out(&design.plan), &[], Engine::Jit);
    let machine = prepare(&compiled, &spec).expect("the benchmark's model runs");
    Prepared {
        compiled,
        spec,
        machine,
    }
}

fn options(spec: &RunSpec, machine: &mut Machine) -> Options {
    Options {
        method: spec.method,
        tolerances: Tolerances {
            relative: spec.rtol,
            absolute: machine.tolerances(spec.rtol, (spec.start, spec.stop)),
        },
        ..Options::default()
    }
}

/// The end of a run of the machine, its steps and evaluations.
fn end(prepared: &mut Prepared) -> (Vec<f64>, usize, usize) {
    let start = prepared.machine.initialise(0.0).expect("it starts");
    let options = options(&prepared.spec, &mut prepared.machine);
    let run = integrate(
        &mut prepared.machine,
        0.0,
        &start.y0,
        STOP,
        &options,
        &mut NoObserver,
    )
    .expect("it runs");
    (run.y, run.statistics.steps, run.statistics.rhs)
}

/// Where the machine keeps P1, P2, P3, θ, φ, ψ.
fn order(prepared: &Prepared) -> [usize; 6] {
    let names: Vec<String> = prepared
        .machine
        .states()
        .iter()
        .map(|&s| prepared.compiled.reduced.dae.name_of(s))
        .collect();
    [
        "I1.p",
        "I2.p",
        "I3.p",
        "theta",
        "integral[1]",
        "integral[2]",
    ]
    .map(|name| {
        let place = names.iter().position(|n| n == name);
        place.unwrap_or_else(|| panic!("no state `{name}` in {names:?}"))
    })
}

fn distance(x: &[f64; 6], y: &[f64; 6]) -> f64 {
    x.iter().zip(y).fold(0.0, |d, (a, b)| (a - b).abs().max(d))
}

/// The loosest tolerance of a ladder of tenths of decades that reaches the goal.
fn loosest(exact: &[f64; 6], mut end: impl FnMut(f64) -> [f64; 6]) -> f64 {
    (40..140)
        .map(|k| 10f64.powf(-0.1 * f64::from(k)))
        .find(|&rtol| distance(exact, &end(rtol)) <= GOAL)
        .expect("1e-13 is enough")
}

/// One run, from text and by hand.
pub fn whole_run(models: &Path) {
    let path = models.join("gyroscope.bond");
    let exact = GYROSCOPE.run(1e-14).y;
    let hand_rtol = loosest(&exact, |rtol| GYROSCOPE.run(rtol).y);
    let mut prepared = open(&path, "driven", None);
    let order = order(&prepared);
    let rtol = loosest(&exact, |rtol| {
        prepared.spec.rtol = rtol;
        let y = end(&mut prepared).0;
        order.map(|k| y[k])
    });
    prepared.spec.rtol = rtol;
    let (y, steps, rhs) = end(&mut prepared);
    let y = order.map(|k| y[k]);
    let hand = GYROSCOPE.run(hand_rtol);
    println!(
        "hand: rtol {hand_rtol:.1e}, error {:.1e}, {} steps, {} evaluations",
        distance(&exact, &hand.y),
        hand.steps,
        hand.rhs
    );
    println!(
        "paynter: rtol {rtol:.1e}, error {:.1e}, {steps} steps, {rhs} evaluations",
        distance(&exact, &y)
    );
    let text = |engine: Engine| {
        let choice = Choice {
            experiment: Some("driven".to_owned()),
            ..Choice::default()
        };
        let mut design = design(&path, &choice).expect("the benchmark's model is right");
        design.plan.rtol = rtol;
        let how = RunChoice {
            engine,
            ..RunChoice::default()
        };
        let run = paynter::run::run(&design, &how, &mut |_| ControlFlow::Continue(()));
        black_box(run.expect("it runs"));
    };
    let mut other = open(&path, "driven", Some(rtol));
    let mut recorded = || {
        let run = simulate(
            &mut other.machine,
            &other.compiled,
            &other.spec,
            &mut |_| ControlFlow::Continue(()),
        );
        black_box(run.expect("it runs"));
    };
    let mut bare = || {
        black_box(end(&mut prepared));
    };
    let by_hand = || {
        black_box(black_box(GYROSCOPE).run(hand_rtol));
    };
    let mut third = open(&path, "driven", Some(rtol));
    let mut plain = || {
        let start = third.machine.initialise(0.0).expect("it starts");
        let options = options(&third.spec, &mut third.machine);
        let system = &mut Unaudited(&mut third.machine);
        let run = integrate(system, 0.0, &start.y0, STOP, &options, &mut NoObserver);
        black_box(run.expect("it runs"));
    };
    let mut fourth = open(&path, "driven", Some(rtol));
    let mut start_only = || {
        black_box(fourth.machine.initialise(0.0).expect("it starts"));
        black_box(options(&fourth.spec, &mut fourth.machine));
    };
    let by_hand_same = || {
        black_box(black_box(GYROSCOPE).run(rtol));
    };
    // Each sample of the short ones is many runs in a row, so that all have their code in the cache.
    const MANY: usize = 20;
    let mut times = interleave(
        101,
        &mut [
            &mut || (0..MANY).for_each(|_| by_hand()),
            &mut || (0..MANY).for_each(|_| by_hand_same()),
            &mut || (0..MANY).for_each(|_| start_only()),
            &mut || (0..MANY).for_each(|_| plain()),
            &mut || (0..MANY).for_each(|_| bare()),
            &mut || (0..MANY).for_each(|_| recorded()),
        ],
    );
    times.iter_mut().for_each(|time| *time /= MANY as f64);
    times.extend(interleave(
        51,
        &mut [&mut || text(Engine::Auto), &mut || text(Engine::Jit)],
    ));
    let labels = [
        "by hand, own tolerance",
        "by hand, Paynter's tolerance",
        "start alone",
        "start and integration, no audit",
        "with audit",
        "with audit and table",
        "from text to table",
        "from text to table, machine code",
    ];
    for (label, time) in labels.iter().zip(&times) {
        println!(
            "{label:34} {:10.1} us  {:7.2} x by hand",
            time * 1e6,
            time / times[0]
        );
    }
}

/// Right-hand sides.
pub fn rhs(models: &Path) {
    let mut prepared = open(&models.join("gyroscope.bond"), "driven", None);
    let order = order(&prepared);
    let start = prepared.machine.initialise(0.0).expect("it starts").y0;
    let point = [0.3, -0.7, 1.1, 0.4, 0.2, 0.1];
    let mut y = start.clone();
    for (&k, &x) in order.iter().zip(&point) {
        y[k] = x;
    }
    let mut f = vec![0.0; y.len()];
    prepared
        .machine
        .rhs(0.7, &y, &mut f)
        .expect("it has a value");
    let expected = GYROSCOPE.rates(0.7, &point);
    let difference = distance(&order.map(|k| f[k]), &expected);
    println!(
        "gyroscope: {} states in the machine, same rates to {difference:.1e}",
        y.len()
    );
    const MANY: usize = 20_000;
    let mut compiled = || {
        for i in 0..MANY {
            let t = i as f64 * 1e-3;
            let system: &mut dyn System = &mut prepared.machine;
            system
                .rhs(t, black_box(&y), &mut f)
                .expect("it has a value");
            black_box(&f);
        }
    };
    let mut by_hand = || {
        for i in 0..MANY {
            let t = i as f64 * 1e-3;
            black_box(black_box(&GYROSCOPE).rates(t, black_box(&point)));
        }
    };
    report(
        "gyroscope",
        MANY,
        &interleave(201, &mut [&mut by_hand, &mut compiled]),
    );
    servo(models);
}

fn report(what: &str, many: usize, times: &[f64]) {
    let scale = 1e9 / many as f64;
    println!(
        "{what}: by hand {:.1} ns, compiled {:.1} ns, ratio {:.2}",
        times[0] * scale,
        times[1] * scale,
        times[1] / times[0]
    );
}

/// The plant of the servo by hand, in the order of [`SERVO_STATES`].
#[inline(always)]
fn servo_rates(p: f64, hm: f64, y: &[f64; 10]) -> [f64; 10] {
    let degree = std::f64::consts::PI / 180.0;
    let (kbl, gap) = (334.0 / degree, 0.025 * degree);
    let (gr1, gr2) = (0.02, 0.25);
    let [cb, cd, lb, lm, jm, tooth, jf, hinge, energy, _] = *y;
    let v = 500.0 * cb;
    let battery = (200.0 - v) / if v < 200.0 { 1e-3 } else { 500.0 };
    let play = if tooth > 0.5 * gap {
        tooth - 0.5 * gap
    } else if tooth < -0.5 * gap {
        tooth + 0.5 * gap
    } else {
        0.0
    };
    let torque = kbl * play;
    [
        battery - 1000.0 * lb,
        1000.0 * lb - p * lm * (1.0 / 0.0006),
        v - 2000.0 * lb - cd * 1e5,
        p * cd * 1e5 - 1000.0 * lm - (1.5 / 4.5e-7) * jm,
        2500.0 * lm - gr1 * torque - (0.3 / 4.5e-7) * jm,
        (gr1 / 4.5e-7) * jm - (gr2 / 0.0003) * jf,
        gr2 * torque - (0.04 / 0.0003) * jf + hm * hinge,
        jf * (1.0 / 0.0003),
        200.0 * battery,
        jf * jf / (0.0006 * energy.max(1e-6)),
    ]
}

/// The same plant with its parameters in a struct, behind the interface that a solver calls: what a program
/// needs that tries other values.
struct ServoByHand {
    p: f64,
    hm: f64,
    supply: f64,
    source: [f64; 2],
    elastance: [f64; 2],
    susceptance: [f64; 2],
    line: [f64; 2],
    motor: f64,
    friction: [f64; 2],
    inverse_inertia: [f64; 2],
    gears: [f64; 2],
    stiffness: f64,
    gap: f64,
    least_energy: f64,
}

impl ServoByHand {
    fn new(p: f64, hm: f64) -> Self {
        let degree = std::f64::consts::PI / 180.0;
        Self {
            p,
            hm,
            supply: 200.0,
            source: [1e-3, 500.0],
            elastance: [500.0, 1e5],
            susceptance: [1000.0, 1.0 / 0.0006],
            line: [2.0, 0.6],
            motor: 1.5,
            friction: [0.3, 0.04],
            inverse_inertia: [1.0 / 4.5e-7, 1.0 / 0.0003],
            gears: [0.02, 0.25],
            stiffness: 334.0 / degree,
            gap: 0.025 * degree,
            least_energy: 1e-6,
        }
    }
}

impl System for ServoByHand {
    fn n(&self) -> usize {
        10
    }

    fn rhs(&mut self, _t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        let &[cb, cd, lb, lm, jm, tooth, jf, hinge, energy, _] = y else {
            unreachable!("the plant has ten states")
        };
        let v = self.elastance[0] * cb;
        let source = self.source[usize::from(v >= self.supply)];
        let battery = (self.supply - v) / source;
        let half = 0.5 * self.gap;
        let play = if tooth > half {
            tooth - half
        } else if tooth < -half {
            tooth + half
        } else {
            0.0
        };
        let torque = self.stiffness * play;
        let (current, drive) = (self.susceptance[0] * lb, self.susceptance[1] * lm);
        let (motor, fin) = (self.inverse_inertia[0] * jm, self.inverse_inertia[1] * jf);
        f[0] = battery - current;
        f[1] = current - self.p * drive;
        f[2] = v - self.line[0] * current - self.elastance[1] * cd;
        f[3] = self.p * self.elastance[1] * cd - self.line[1] * drive - self.motor * motor;
        f[4] = self.motor * drive - self.gears[0] * torque - self.friction[0] * motor;
        f[5] = self.gears[0] * motor - self.gears[1] * fin;
        f[6] = self.gears[1] * torque - self.friction[1] * fin + self.hm * hinge;
        f[7] = fin;
        f[8] = self.supply * battery;
        f[9] = 0.5 * jf * fin / energy.max(self.least_energy);
        Ok(())
    }
}

/// Names of the servo's states.
const SERVO_STATES: [&str; 10] = [
    "cb.q",
    "cd.q",
    "lb.p",
    "lm.p",
    "jm.p",
    "tooth.q",
    "jf.p",
    "hinge.q",
    "battery.energy",
    "integral[1]",
];

fn servo(models: &Path) {
    let gallery = models.join("../../gallery/servo/servo.bond");
    let mut prepared = open(&gallery, "ch5_nl_step5_hm06_NL1", None);
    let mut y = prepared.machine.initialise(0.0).expect("it starts").y0;
    let names: Vec<String> = prepared
        .machine
        .states()
        .iter()
        .map(|&s| prepared.compiled.reduced.dae.name_of(s))
        .collect();
    let order = SERVO_STATES.map(|name| {
        let place = names.iter().position(|n| n == name);
        place.unwrap_or_else(|| panic!("no state `{name}` in {names:?}"))
    });
    // Inside the play and before the battery has given anything, as at the start, so the frozen switches hold.
    let point = [0.4, 2e-3, 1e-4, 2e-4, 3e-6, 1e-4, 2e-4, 0.05, 5e-7, 0.1];
    for (&k, &x) in order.iter().zip(&point) {
        y[k] = x;
    }
    let mut f = vec![0.0; y.len()];
    prepared
        .machine
        .rhs(0.0, &y, &mut f)
        .expect("it has a value");
    let degree = std::f64::consts::PI / 180.0;
    let (p, hm) = (0.0, -0.6 / degree);
    let expected = servo_rates(p, hm, &point);
    let difference = order
        .iter()
        .zip(&expected)
        .map(|(&k, e)| (f[k] - e).abs() / e.abs().max(1.0))
        .fold(0.0, f64::max);
    println!(
        "servo: {} states in the machine, same rates to {difference:.1e}",
        y.len()
    );
    const MANY: usize = 20_000;
    let mut compiled = || {
        for i in 0..MANY {
            let t = i as f64 * 1e-9;
            let system: &mut dyn System = &mut prepared.machine;
            system
                .rhs(t, black_box(&y), &mut f)
                .expect("it has a value");
            black_box(&f);
        }
    };
    let mut by_hand = || {
        for _ in 0..MANY {
            black_box(servo_rates(black_box(p), black_box(hm), black_box(&point)));
        }
    };
    let mut plant = ServoByHand::new(p, hm);
    let mut g = [0.0; 10];
    plant.rhs(0.0, &point, &mut g).expect("it has a value");
    let difference = g.iter().zip(&expected);
    let difference = difference.map(|(a, b)| (a - b).abs() / b.abs().max(1.0));
    println!(
        "servo: both by hand agree to {:.1e}",
        difference.fold(0.0, f64::max)
    );
    let mut called = || {
        for i in 0..MANY {
            let system: &mut dyn System = black_box(&mut plant);
            system
                .rhs(i as f64 * 1e-9, black_box(&point), &mut g)
                .expect("it has a value");
            black_box(&g);
        }
    };
    let times = interleave(201, &mut [&mut by_hand, &mut compiled, &mut called]);
    report("servo, constants in the code", MANY, &times[..2]);
    report(
        "servo, parameters in a struct, called by a solver",
        MANY,
        &[times[2], times[1]],
    );
}

/// 10 000 runs on all cores, in turn by hand and by `sweep`: by hand at the same tolerance, and at the loosest that
/// errs no more than the sweep does.
pub fn sweep(models: &Path) {
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let path = models.join("gyroscope.bond");
    let choice = Choice {
        experiment: Some("many".to_owned()),
        ..Choice::default()
    };
    let design = design(&path, &choice).expect("the benchmark's model is right");
    let sweep = || paynter::sweep::sweep(&design, &choice, Engine::Auto, jobs);
    let rtol = design.plan.rtol;
    // The columns are θ, φ, ψ. Every 97th point is enough to see the error.
    let sample = || (0..SIDE * SIDE).step_by(97);
    let exact: Vec<[f64; 6]> = sample().map(|k| point(k).run(1e-14).y).collect();
    let error_of = |end: &dyn Fn(usize) -> [f64; 3]| {
        let far = |(k, exact): (usize, &[f64; 6])| {
            let columns = end(k).into_iter().zip(&exact[3..]);
            columns.fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()))
        };
        sample().zip(&exact).map(far).fold(0.0, f64::max)
    };
    let hand_error = |rtol: f64| {
        error_of(&|k| {
            let [.., theta, phi, psi] = point(k).run(rtol).y;
            [theta, phi, psi]
        })
    };
    let points = sweep().expect("the sweep starts");
    let swept_error = error_of(&|k| [0, 1, 2].map(|column| points[k].last[column]));
    let equal = (40..140)
        .map(|k| 10f64.powf(-0.1 * f64::from(k)))
        .find(|&rtol| hand_error(rtol) <= swept_error)
        .expect("1e-14 is enough");
    println!(
        "{} points; sweep: rtol {rtol:.1e}, error {swept_error:.1e}; by hand: rtol {rtol:.1e}, error {:.1e}; rtol {equal:.1e}, error {:.1e}",
        points.len(),
        hand_error(rtol),
        hand_error(equal)
    );
    let mut clocks = [const { Vec::new() }; 3];
    let mut cpus = [const { Vec::new() }; 3];
    for _ in 0..5 {
        for kind in 0..3 {
            let before = cpu();
            let (time, ()) = clock(|| match kind {
                0 => drop(by_hand(jobs, rtol)),
                1 => drop(by_hand(jobs, equal)),
                _ => drop(sweep()),
            });
            clocks[kind].push(time);
            cpus[kind].push(cpu() - before);
        }
    }
    for (what, times) in [("clock", &mut clocks), ("CPU", &mut cpus)] {
        let [same, equal, swept] = times.each_mut().map(|times| median(times));
        println!(
            "{what}: sweep {swept:.3} s; by hand, same tolerance {same:.3} s, ratio {:.2}; same error {equal:.3} s, ratio {:.2}",
            swept / same,
            swept / equal
        );
    }
}

/// The first points of the sweep on one thread, or by hand at the tolerance that errs as much, for profilers.
pub fn points(models: &Path, n_points: usize, is_by_hand: bool) {
    /// What `sweep` finds.
    const EQUAL: f64 = 3.2e-9;
    if is_by_hand {
        let (time, work) = cpu_clock(|| {
            let ends = (0..n_points).map(|k| black_box(point(k).run(EQUAL)));
            ends.fold((0, 0), |sum, end| (sum.0 + end.steps, sum.1 + end.rhs))
        });
        println!(
            "{:.2} µs a point; {work:?} steps and evaluations",
            1e6 * time / n_points as f64
        );
        return;
    }
    let choice = Choice {
        experiment: Some("many".to_owned()),
        ..Choice::default()
    };
    let design = design(&models.join("gyroscope.bond"), &choice).expect("the model is right");
    let sweeper = Sweeper::new(&design, &choice, Engine::Auto).expect("the sweep starts");
    let watch = |_| ControlFlow::Continue(());
    // Machine code is made on the way, once it pays.
    sweeper.run(0..SIDE * SIDE / 2, 1, &watch);
    let before = cpu();
    let points = sweeper.run(0..n_points, 1, &watch);
    let time = cpu() - before;
    let steps: usize = points.iter().map(|p| p.steps).sum();
    println!(
        "{:.2} µs a point; {steps} steps",
        1e6 * time / n_points as f64
    );
}

/// Points on each axis of the sweep.
const SIDE: usize = 100;

/// The gyroscope of a point of the sweep.
fn point(k: usize) -> Gyroscope {
    Gyroscope {
        a: 2.0 + 0.01 * (k / SIDE) as f64,
        c: 4.0 + 0.01 * (k % SIDE) as f64,
        ..GYROSCOPE
    }
}

fn by_hand(jobs: usize, rtol: f64) -> Vec<[f64; 6]> {
    let next = AtomicUsize::new(0);
    let ends = std::sync::Mutex::new(vec![[0.0; 6]; SIDE * SIDE]);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    if k >= SIDE * SIDE {
                        return;
                    }
                    let end = point(k).run(rtol).y;
                    ends.lock().expect("no worker panics")[k] = end;
                }
            });
        }
    });
    ends.into_inner().expect("all workers have ended")
}
