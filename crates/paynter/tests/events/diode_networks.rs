//! Random passive networks with ideal diodes and switches, against two independent answers.
//!
//! In:  netlists of resistors, storages, sources, diodes and switches: meshes, series chains, bridges, multipliers,
//!      converters, check valves, ratchets; some start with charges that do not fit together.
//! Out: none of them is refused; the curves are those of a time stepping that tries all 2ᵏ combinations of contacts in
//!      every step, and those of the same network with diodes of finite `Ron` and `Roff`.
//!
//! `PAYNTER_CASES` sets how many networks are made, `PAYNTER_SEED` which: their numbers begin at a million times it.
//! `PAYNTER_CASE` looks at one of them.

use crate::kit::{self, Seeded, column, number_from, run_text, scratch};
use paynter::exec::Engine;
use paynter::simulate::Ending;
use paynter::syntax::render;
use paynter::{Choice, DesignError};

/// Steps of the independent time stepping; it is of first order.
const STEPS: usize = 6000;
const OUTPUTS: usize = 200;
/// Mean difference allowed against time stepping of first order, as a part of the largest effort.
const ALLOWED_STEPPING: f64 = 1e-2;
/// Mean difference allowed against diodes with 1e-5 and 1e7 of a typical resistance.
const ALLOWED_FINITE: f64 = 2e-3;

/// Everything in series between two nodes; node 0 is ground.
#[derive(Clone, Debug, Default)]
struct Branch {
    from: usize,
    to: usize,
    r: f64,
    /// Capacitance and first charge.
    c: Option<(f64, f64)>,
    l: Option<f64>,
    is_diode: bool,
    /// Closed between these times.
    closed: Option<(f64, f64)>,
    /// Amplitude, angular frequency, phase.
    source: Option<(f64, f64, f64)>,
}

#[derive(Clone, Debug)]
struct Network {
    n_nodes: usize,
    branches: Vec<Branch>,
    stop: f64,
    /// What is compared: effort of the first node less that of the second.
    outputs: Vec<(usize, usize)>,
    /// Factors on efforts and flows: the same network in other units.
    scale: (f64, f64),
    is_dual: bool,
}

fn between(from: usize, to: usize) -> Branch {
    Branch {
        from,
        to,
        ..Branch::default()
    }
}

fn wave(random: &mut Seeded) -> Option<(f64, f64, f64)> {
    let phase = if random.below(2) == 0 {
        0.0
    } else {
        random.between(-3.0, 3.0)
    };
    Some((random.between(2.0, 12.0), random.between(3.0, 20.0), phase))
}

/// Nodes with leaks, and branches of any kind between them.
fn mesh(random: &mut Seeded) -> Network {
    let n_nodes = 2 + random.below(4);
    let mut branches = Vec::new();
    for k in 1..n_nodes {
        branches.push(Branch {
            r: random.between(2.0, 40.0),
            ..between(k, 0)
        });
    }
    branches.push(Branch {
        source: wave(random),
        r: random.between(0.1, 1.0),
        ..between(0, 1)
    });
    let mut n_contacts = 0;
    for _ in 0..2 + random.below(6) {
        let (a, b) = (random.below(n_nodes), random.below(n_nodes));
        if a == b {
            continue;
        }
        let mut branch = between(a, b);
        let r = random.between(0.1, 2.0);
        match random.below(8) {
            0 => branch.r = r,
            1 => (branch.c, branch.r) = (Some((random.between(0.005, 0.1), 0.0)), r),
            2 => (branch.l, branch.r) = (Some(random.between(0.02, 0.3)), r),
            3 if n_contacts < 6 => {
                (branch.is_diode, branch.r) = (true, r);
                branch.l = (random.below(2) == 0).then(|| random.between(0.02, 0.3));
            }
            4 if n_contacts < 6 => {
                let on = random.between(0.0, 0.5);
                branch.closed = Some((on, on + random.between(0.3, 1.5)));
                branch.r = r;
            }
            _ if n_contacts < 6 => branch.is_diode = true,
            _ => branch.r = r,
        }
        n_contacts += usize::from(branch.is_diode || branch.closed.is_some());
        branches.push(branch);
    }
    network(n_nodes, branches, 2.0)
}

fn network(n_nodes: usize, branches: Vec<Branch>, stop: f64) -> Network {
    Network {
        n_nodes,
        branches,
        stop,
        outputs: (1..n_nodes).map(|k| (k, 0)).collect(),
        scale: (1.0, 1.0),
        is_dual: false,
    }
}

fn diode(from: usize, to: usize) -> Branch {
    Branch {
        is_diode: true,
        ..between(from, to)
    }
}

/// Four ideal diodes about a source; without a resistance the source floats while all of them block.
fn bridge(random: &mut Seeded) -> Network {
    let has_resistance = random.below(2) == 0;
    let mut source = Branch {
        source: wave(random),
        r: if has_resistance {
            random.between(0.1, 1.0)
        } else {
            0.0
        },
        ..between(2, 1)
    };
    if !has_resistance {
        // A source that jumps onto a capacitor at the start is another matter.
        source.source = source.source.map(|(a, w, _)| (a, w, 0.0));
    }
    let mut branches = vec![
        source,
        diode(1, 3),
        diode(2, 3),
        diode(0, 1),
        diode(0, 2),
        Branch {
            r: random.between(2.0, 40.0),
            ..between(3, 0)
        },
    ];
    if random.below(3) > 0 {
        branches.push(Branch {
            c: Some((random.between(0.005, 0.1), 0.0)),
            r: if random.below(2) == 0 { 0.0 } else { 0.1 },
            ..between(3, 0)
        });
    }
    Network {
        outputs: vec![(3, 0)],
        ..network(4, branches, 2.0)
    }
}

/// Cockcroft and Walton's multiplier.
fn multiplier(random: &mut Seeded) -> Network {
    let stages = 1 + random.below(3);
    let n_nodes = 2 * stages + 2;
    let mut branches = vec![Branch {
        source: wave(random).map(|(a, w, _)| (a, w, 0.0)),
        r: random.between(0.05, 0.5),
        ..between(0, 1)
    }];
    let at = |k: usize| if k == 0 { 0 } else { k + 1 };
    for k in 1..=2 * stages {
        // Odd places hang on the source, even ones on ground.
        let below = match k {
            1 => 1,
            2 => 0,
            k => at(k - 2),
        };
        branches.push(Branch {
            c: Some((random.between(0.01, 0.05), 0.0)),
            ..between(below, at(k))
        });
        branches.push(diode(at(k - 1), at(k)));
    }
    branches.push(Branch {
        r: random.between(20.0, 200.0),
        ..between(at(2 * stages), 0)
    });
    Network {
        outputs: vec![(at(2 * stages), 0)],
        ..network(n_nodes, branches, 4.0)
    }
}

/// A switch feeds a coil, a diode lets its current run on.
fn converter(random: &mut Seeded) -> Network {
    let on = random.between(0.1, 0.4);
    let branches = vec![
        Branch {
            source: Some((random.between(5.0, 12.0), 0.0, std::f64::consts::FRAC_PI_2)),
            r: 0.1,
            ..between(0, 1)
        },
        Branch {
            closed: Some((on, on + random.between(0.2, 1.0))),
            ..between(1, 2)
        },
        diode(0, 2),
        Branch {
            l: Some(random.between(0.05, 0.5)),
            r: random.between(0.0, 0.5),
            ..between(2, 3)
        },
        Branch {
            c: Some((random.between(0.005, 0.05), 0.0)),
            ..between(3, 0)
        },
        Branch {
            r: random.between(1.0, 20.0),
            ..between(3, 0)
        },
        Branch {
            r: 1000.0,
            ..between(1, 0)
        },
        // A path for a current that has turned round while the switch was closed.
        Branch {
            r: 50.0,
            ..between(2, 0)
        },
    ];
    Network {
        outputs: vec![(3, 0)],
        ..network(4, branches, 2.0)
    }
}

/// Capacitors with charges of their own between nodes that diodes join: some share at once.
fn charged(random: &mut Seeded) -> Network {
    let n_nodes = 3 + random.below(3);
    let mut branches = Vec::new();
    for k in 1..n_nodes {
        let c = random.between(0.01, 0.1);
        branches.push(Branch {
            c: Some((c, c * random.between(-10.0, 10.0))),
            ..between(k, 0)
        });
        branches.push(Branch {
            r: random.between(5.0, 40.0),
            ..between(k, 0)
        });
    }
    for k in 1..n_nodes - 1 {
        branches.push(diode(k, k + 1));
    }
    if random.below(2) == 0 {
        branches.push(diode(n_nodes - 1, 1));
    }
    network(n_nodes, branches, 2.0)
}

/// Diodes in series and in parallel, with nothing that divides between them.
fn shared(random: &mut Seeded) -> Network {
    let mut branches = vec![
        Branch {
            source: wave(random),
            r: random.between(0.1, 1.0),
            ..between(0, 1)
        },
        diode(1, 2),
        diode(2, 3),
        Branch {
            r: random.between(2.0, 40.0),
            ..between(3, 0)
        },
    ];
    for _ in 0..1 + random.below(2) {
        branches.push(diode(1, 3));
    }
    if random.below(2) == 0 {
        branches.push(Branch {
            c: Some((random.between(0.005, 0.1), 0.0)),
            ..between(3, 0)
        });
    }
    Network {
        outputs: vec![(1, 0), (3, 0)],
        ..network(4, branches, 2.0)
    }
}

fn make(seed: u64) -> Network {
    let mut random = Seeded(seed);
    let mut made = match random.below(10) {
        0..=3 => mesh(&mut random),
        4 => bridge(&mut random),
        5 => multiplier(&mut random),
        6 => converter(&mut random),
        7 | 8 => charged(&mut random),
        _ => shared(&mut random),
    };
    match random.below(4) {
        // Check valves: efforts in Pa, flows in m³/s.
        0 => made.scale = (1e5, 1e-3),
        // Ratchets: every 0 a 1, every storage the other, effort and flow exchanged.
        1 => made.is_dual = true,
        _ => {}
    }
    made
}

impl Network {
    /// The model text; `diode` is what stands behind D.
    fn text(&self, diode: &str) -> String {
        let (e, f) = self.scale;
        let (common, series) = if self.is_dual { ("1", "0") } else { ("0", "1") };
        let r = |r: f64| if self.is_dual { f / (r * e) } else { r * e / f };
        // Capacitance is flow · time per effort, inertance the inverse; exchanged in the dual.
        let c_name = if self.is_dual { "I" } else { "C" };
        let l_name = if self.is_dual { "C" } else { "I" };
        let (zero, sign) = if self.is_dual {
            ("Sf", -1.0)
        } else {
            ("Se", 1.0)
        };
        let mut text = format!("model M {{\nn0: {common}\nground: {zero}(0) -> n0\n");
        for k in 1..self.n_nodes {
            text += &format!("n{k}: {common}\n");
        }
        for (k, b) in self.branches.iter().enumerate() {
            text += &format!("n{} -> b{k}: {series} -> n{}\n", b.from, b.to);
            if b.r > 0.0 {
                text += &format!("b{k} -> r{k}: R({:e})\n", r(b.r));
            }
            if let Some((c, q)) = b.c {
                text += &format!("b{k} -> c{k}: {c_name}({:e})\n", c * f / e);
                if q != 0.0 {
                    let state = if self.is_dual { "p" } else { "q" };
                    text += &format!("start c{k}.{state} = {:e}\n", sign * q * f);
                }
            }
            if let Some(l) = b.l {
                text += &format!("b{k} -> l{k}: {l_name}({:e})\n", l * e / f);
            }
            if b.is_diode {
                text += &format!("b{k} -> d{k}: D{diode}\n");
            }
            if let Some((on, off)) = b.closed {
                text += &format!("b{k} -> s{k}: Sw({})\n", self.command(on, off));
            }
            if let Some((a, w, phase)) = b.source {
                let a = sign * a * e;
                text += &format!("e{k}: {zero}({a:e}*sin({w:?}*time + {phase:?})) -> b{k}\n");
            }
        }
        let (stop, step) = (self.stop, self.stop / OUTPUTS as f64);
        let variable = if self.is_dual { "f" } else { "e" };
        let record: Vec<String> = (0..self.outputs.len())
            .map(|k| {
                let (a, b) = self.outputs[k];
                format!("n{a}.{variable} - n{b}.{variable} as u{k}")
            })
            .collect();
        text + &format!(
            "}}\nexperiment x of M {{ stop = {stop:?}; output_step = {step:?}; rtol = 1e-7; record {} }}\n",
            record.join(", ")
        )
    }

    /// A switch in series that is closed carries flow; in the dual it is one across that must be open.
    fn command(&self, on: f64, off: f64) -> String {
        match self.is_dual {
            false => format!("time >= {on:?} and time < {off:?}"),
            true => format!("time < {on:?} or time >= {off:?}"),
        }
    }
}

/// One instant of the independent time stepping.
struct Stepping<'n> {
    network: &'n Network,
    h: f64,
    /// Charge and flow of each branch.
    q: Vec<f64>,
    i: Vec<f64>,
    /// Which diodes conduct.
    on: Vec<bool>,
}

impl Stepping<'_> {
    /// Node efforts and branch flows with given diodes; none if these do not fix them.
    fn solve(&self, t: f64, on: &[bool]) -> Option<Vec<f64>> {
        let (n, m) = (self.network.n_nodes - 1, self.network.branches.len());
        let size = n + m;
        let mut a = vec![vec![0.0; size + 1]; size];
        for (k, row) in a.iter_mut().take(n).enumerate() {
            // What floats is held by a leak far below anything that counts.
            row[k] = 1e-9;
        }
        for (k, b) in self.network.branches.iter().enumerate() {
            for (node, sign) in [(b.from, 1.0), (b.to, -1.0)] {
                if node > 0 {
                    a[node - 1][n + k] += sign;
                }
            }
            let row = &mut a[n + k];
            let is_closed = b.closed.is_none_or(|(on, off)| t >= on && t < off);
            if !is_closed || (b.is_diode && !on[k]) {
                row[n + k] = 1.0;
                continue;
            }
            for (node, sign) in [(b.from, 1.0), (b.to, -1.0)] {
                if node > 0 {
                    row[node - 1] += sign;
                }
            }
            let c = b.c.map_or(0.0, |(c, _)| 1.0 / c);
            let l = b.l.unwrap_or(0.0);
            row[n + k] -= b.r + self.h * c + l / self.h + 1e-9;
            let source = b
                .source
                .map_or(0.0, |(a, w, phase)| a * (w * t + phase).sin());
            row[size] = self.q[k] * c - l / self.h * self.i[k] - source;
        }
        gauss(a)
    }

    /// Diodes that are on the wrong side.
    fn is_right(&self, x: &[f64], on: &[bool], t: f64) -> bool {
        let n = self.network.n_nodes - 1;
        let at = |node: usize| if node == 0 { 0.0 } else { x[node - 1] };
        let size = x.iter().fold(1e-9, |s: f64, v| s.max(v.abs()));
        self.network.branches.iter().enumerate().all(|(k, b)| {
            if !b.is_diode {
                return true;
            }
            if on[k] {
                return x[n + k] >= -1e-9 * size;
            }
            let c = b.c.map_or(0.0, |(c, _)| 1.0 / c);
            let l = b.l.unwrap_or(0.0);
            let source = b
                .source
                .map_or(0.0, |(a, w, phase)| a * (w * t + phase).sin());
            let rest = self.q[k] * c - l / self.h * self.i[k] - source;
            at(b.from) - at(b.to) - rest <= 1e-9 * size
        })
    }

    /// Goes on by one step: the combination of last time, then all others.
    fn step(&mut self, t: f64) -> Vec<f64> {
        let diodes: Vec<usize> = (0..self.on.len())
            .filter(|&k| self.network.branches[k].is_diode)
            .collect();
        let mut masks: Vec<u32> = (0..1 << diodes.len()).collect();
        masks.sort_by_key(|mask| mask.count_ones());
        for mask in masks {
            let mut on = self.on.clone();
            for (bit, &k) in diodes.iter().enumerate() {
                on[k] ^= mask & (1 << bit) != 0;
            }
            let Some(x) = self.solve(t, &on) else {
                continue;
            };
            if self.is_right(&x, &on, t) {
                let n = self.network.n_nodes - 1;
                let currents = &x[n..n + on.len()];
                for (q, i) in self.q.iter_mut().zip(currents) {
                    *q += self.h * i;
                }
                self.i[..on.len()].copy_from_slice(currents);
                self.on = on;
                return x;
            }
        }
        panic!(
            "the time stepping has no solution at {t}: {:?}",
            self.network
        );
    }
}

/// Gauss's elimination with row exchanges.
fn gauss(mut a: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = a.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, best);
        if a[k][k].abs() < 1e-14 {
            return None;
        }
        let own = a[k].clone();
        for row in a.iter_mut().skip(k + 1) {
            let factor = row[k] / own[k];
            if factor != 0.0 {
                for (x, y) in row.iter_mut().zip(&own).skip(k) {
                    *x -= factor * y;
                }
            }
        }
    }
    for k in (0..n).rev() {
        a[k][n] /= a[k][k];
        let x = a[k][n];
        for row in a.iter_mut().take(k) {
            row[n] -= row[k] * x;
        }
    }
    Some(a.iter().map(|row| row[n]).collect())
}

/// The outputs at all recorded instants after the start, by implicit Euler and trial of all combinations.
fn stepped(network: &Network) -> Vec<Vec<f64>> {
    let m = network.branches.len();
    let h = network.stop / STEPS as f64;
    let mut now = Stepping {
        network,
        h,
        q: network
            .branches
            .iter()
            .map(|b| b.c.map_or(0.0, |(_, q)| q))
            .collect(),
        i: vec![0.0; m],
        on: vec![false; m],
    };
    let mut curves = vec![Vec::new(); network.outputs.len()];
    for k in 1..=STEPS {
        let x = now.step(h * k as f64);
        if k % (STEPS / OUTPUTS) == 0 {
            let at = |node: usize| if node == 0 { 0.0 } else { x[node - 1] };
            for (curve, &(a, b)) in curves.iter_mut().zip(&network.outputs) {
                curve.push(at(a) - at(b));
            }
        }
    }
    curves
}

/// Runs a text; the message if it is refused or stops.
fn try_curves(text: &str, n: usize) -> Result<Vec<Vec<f64>>, String> {
    let file = scratch(text);
    let design = paynter::design(&file.0, &Choice::default()).map_err(|e| match e {
        DesignError::Model(f) => render(&f.diagnostics, &f.sources, false),
        DesignError::Unreadable(message) => message,
    })?;
    let shown = |d: &[paynter::syntax::Diagnostic]| render(d, &design.project.sources, false);
    let outcome = kit::run_design(&design, Engine::Auto).map_err(|d| shown(&d))?;
    if let Ending::Failed {
        why: diagnostics, ..
    } = &outcome.run.ending
    {
        return Err(shown(diagnostics));
    }
    if outcome
        .run
        .audit
        .as_ref()
        .is_some_and(|audit| !audit.is_good())
    {
        return Err(format!("the audit objects: {:?}", outcome.run.audit));
    }
    // Rows at events come twice: only the regular instants are compared.
    let time = &outcome.run.table.time;
    let step = time[time.len() - 1] / OUTPUTS as f64;
    let mut rows = Vec::new();
    for k in 1..=OUTPUTS {
        let aim = step * k as f64;
        let row = time.iter().rposition(|t| (t - aim).abs() < 1e-6 * step);
        rows.push(row.ok_or("a row is missing")?);
    }
    let curve = |k: usize| {
        let all = column(&outcome, &format!("u{k}"));
        rows.iter().map(|&row| all[row]).collect()
    };
    Ok((0..n).map(curve).collect())
}

/// Mean difference as a part of the largest value, or of `typical` if all are smaller: diodes both ways hold a node at
/// zero, where nothing but rounding is left.
fn mean_difference(a: &[Vec<f64>], b: &[Vec<f64>], typical: f64) -> f64 {
    let all = || a.iter().flatten().zip(b.iter().flatten());
    let size = all().fold(typical, |s: f64, (x, y)| s.max(x.abs()).max(y.abs()));
    let sum: f64 = all().map(|(x, y)| (x - y).abs()).sum();
    sum / size / all().count() as f64
}

/// What is wrong with one network; nothing if all three answers agree.
fn trouble(seed: u64) -> Option<String> {
    let network = make(seed);
    let n = network.outputs.len();
    let text = network.text("()");
    let ideal = match try_curves(&text, n) {
        Ok(curves) => curves,
        Err(message) => return Some(format!("refused: {message}\n{text}")),
    };
    let (e, f) = network.scale;
    let factor = if network.is_dual { -e } else { e };
    let reference: Vec<Vec<f64>> = stepped(&network)
        .into_iter()
        .map(|curve| curve.into_iter().map(|u| factor * u).collect())
        .collect();
    let difference = mean_difference(&ideal, &reference, e);
    // A difference that is not a number is too large as well.
    if difference.is_nan() || difference > ALLOWED_STEPPING {
        return Some(format!("{difference:e} from the time stepping\n{text}"));
    }
    // Typical resistances are 1. What conducts blocks in the dual, so that its resistances are the inverse.
    let (on, off) = match network.is_dual {
        false => (1e-5 * e / f, 1e7 * e / f),
        true => (1e-7 * f / e, 1e5 * f / e),
    };
    let finite = network.text(&format!("(Ron = {on:e}, Roff = {off:e})"));
    match try_curves(&finite, n) {
        Err(message) => Some(format!("with Ron and Roff refused: {message}\n{finite}")),
        Ok(curves) => {
            let difference = mean_difference(&ideal, &curves, e);
            let is_far = difference.is_nan() || difference > ALLOWED_FINITE;
            is_far.then(|| format!("{difference:e} from diodes with Ron and Roff\n{finite}"))
        }
    }
}

#[test]
fn no_passive_network_of_ideal_contacts_is_refused_or_wrong() {
    if let Some(seed) = number_from("PAYNTER_CASE") {
        assert_eq!(trouble(seed), None);
        return;
    }
    let cases = number_from("PAYNTER_CASES").unwrap_or(300);
    let first = 1_000_000 * number_from("PAYNTER_SEED").unwrap_or(0);
    let mut wrong = Vec::new();
    for seed in first..first + cases {
        if let Some(what) = trouble(seed) {
            wrong.push(format!("seed {seed}: {what}"));
        }
    }
    // LIMIT: diodes with Ron and Roff twelve decades apart may chatter, or take steps without end, where ideal ones do
    // not: refused with a message in four networks of 300, and one lies 6e-3 from the ideal one.
    let is_finite = |what: &&String| what.contains("Ron and Roff");
    let (finite, ideal): (Vec<&String>, Vec<&String>) = wrong.iter().partition(is_finite);
    let shown = |all: &[&String]| -> String {
        let first: Vec<&str> = all.iter().take(5).map(|w| w.as_str()).collect();
        format!("{} of {cases} networks:\n{}", all.len(), first.join("\n"))
    };
    assert!(ideal.is_empty(), "{}", shown(&ideal));
    assert!(finite.len() as u64 <= 1 + cases / 50, "{}", shown(&finite));
}

/// Currents of 1e-4 A beside starts that differ by 1e6 V, rings of diodes that equalise at once, and currents that end
/// at 1e-9 of what others are.
#[test]
fn networks_that_were_wrong_or_refused_by_their_sizes_once() {
    for seed in [
        21_000_018, 21_000_072, 21_000_118, 21_000_215, 21_000_264, 21_000_432, 21_000_454,
        21_000_562,
    ] {
        assert_eq!(trouble(seed), None, "seed {seed}");
    }
}

#[test]
fn a_small_valve_beside_a_large_diode_closes() {
    // Beside 2e8 A, the 1e-3 m³/s of the valve would be rounding.
    let outcome = run_text(
        "units strict
        model M {
            supply: Se(20 [V]*sin(100 [rad/s]*time)) -> mesh: 1 -> d: D(), r: R(1e-7 [ohm])
            pump: Se(1e5 [Pa]*sin(100 [rad/s]*time)) -> pipe: 1 -> v: D(), o: R(1e8 [Pa*s/m^3])
            pipe -> tank: C(1e-7 [m^3/Pa])
            output p [Pa] = tank.e
        }
        experiment x of M { stop = 0.1 [s]; rtol = 1e-9; record p, pipe.f as q }",
    );
    let least = column(&outcome, "q").iter().copied().fold(0.0, f64::min);
    assert!(least > -1e-12, "the valve lets {least} m³/s back");
    let p = column(&outcome, "p");
    assert!(
        p.windows(2).all(|w| w[1] >= w[0] - 1e-6),
        "the tank never empties"
    );
}

#[test]
fn bridge_of_four_ideal_diodes_on_an_ideal_source_rectifies() {
    let outcome = run_text(
        "model M {
            gnd: 0
            ground: Se(0) -> gnd
            n1: 0
            n2: 0
            p: 0
            n2 -> s: 1 -> n1
            ac: Se(20*sin(100*pi*time)) -> s
            n1 -> j1: 1 -> p
            n2 -> j2: 1 -> p
            gnd -> j3: 1 -> n1
            gnd -> j4: 1 -> n2
            j1 -> d1: D()
            j2 -> d2: D()
            j3 -> d3: D()
            j4 -> d4: D()
            p -> load: 1 -> gnd
            load -> r: R(100)
            p -> store: 1 -> gnd
            store -> c: C(1e-3)
        }
        experiment x of M { stop = 0.1; output_step = 1e-4; rtol = 1e-9; record c.e as v }",
    );
    // Tied to |20 sin| while it charges; then v' = −v/RC until the next half wave comes up to it.
    let w = 100.0 * std::f64::consts::PI;
    let tau: f64 = 0.1;
    // The diodes let go where the source falls as fast as the load discharges: tan(wt) = −w τ.
    let let_go = (std::f64::consts::PI - (w * tau).atan()) / w;
    let expected = |t: f64| {
        let half = 0.01;
        let since = (t - let_go).rem_euclid(half);
        let held = 20.0 * (w * let_go).sin() * (-since / tau).exp();
        let source = 20.0 * (w * t).sin().abs();
        if t < let_go { source } else { held.max(source) }
    };
    let v = column(&outcome, "v");
    for (k, &t) in outcome.run.table.time.iter().enumerate() {
        kit::assert_close(v[k], expected(t), 2e-5);
    }
}

/// Between resistors that carry nothing a diode has a voltage that is a rounding of the others, and changed its sign in
/// every step: after 200 000 steps the run was 8 ns long.
#[test]
fn a_diode_whose_voltage_is_rounding_does_not_hold_a_run_up() {
    let network = |diode: &str| {
        format!(
            "model M {{
                n0: 0; ground: Se(0) -> n0; n1: 0; n2: 0; n3: 0; n4: 0
                n1 -> b0: 1 -> n0; b0 -> r0: R(36.2)
                n2 -> b1: 1 -> n0; b1 -> r1: R(33.6)
                n3 -> b2: 1 -> n0; b2 -> r2: R(24.1)
                n4 -> b3: 1 -> n0; b3 -> r3: R(4.126)
                n0 -> b4: 1 -> n1; b4 -> r4: R(0.151)
                e4: Se(9.96*sin(16.624*time + 2.862)) -> b4
                n0 -> b5: 1 -> n3; b5 -> r5: R(1.529), l5: I(0.125)
                n3 -> b6: 1 -> n1; b6 -> d6: D{diode}
                n0 -> b7: 1 -> n2; b7 -> r7: R(1.761), l7: I(0.2707)
                n0 -> b8: 1 -> n2; b8 -> d8: D{diode}
                n4 -> b9: 1 -> n3; b9 -> d9: D{diode}
                n2 -> b10: 1 -> n4; b10 -> d10: D{diode}
            }}
            experiment x of M {{
                stop = 2; output_step = 0.01; rtol = 1e-7; max_steps = 5000
                record n1.e as u0, n2.e as u1, n3.e as u2, n4.e as u3
            }}"
        )
    };
    let ideal = try_curves(&network("()"), 4).expect("it runs");
    let finite = try_curves(&network("(Ron = 1e-5, Roff = 1e7)"), 4).expect("it runs");
    let difference = mean_difference(&ideal, &finite, 1.0);
    assert!(difference < ALLOWED_FINITE, "{difference:e}");
}

/// Networks that were refused once: one diode whose current ends in a long step, eight diodes whose leakages decide,
/// a check valve in series with an orifice, and a bridge of library parts.
#[test]
fn networks_that_were_refused_once_run() {
    for method in ["tsit5", "dop853", "rodas5p", "bdf"] {
        for rtol in ["1e-5", "1e-6", "1e-7"] {
            run_text(&format!(
                "model M {{
                    src: Se(10.661*sin(13.057*time)) -> sj: 1 -> n0: 0 -> b0: 1 -> d: D(), r0: R(1.98)
                    sj -> ri: R(0.625)
                    n0 -> rl: R(5.591)
                    n0 -> b2: 1 -> c2: C(0.01), r2: R(0.171)
                    b2 -> m: 0 -> rp: R(4.893)
                }}
                experiment x of M {{ stop = 3; rtol = {rtol}; method = {method}; record n0.e }}"
            ));
        }
    }
    run_text(
        "model M {
            p: Se(1e5*sin(3*time)) -> j: 1 -> o: R { f = 1e-4*signed_sqrt(e, 10) }
            j -> check: R { e = if f > 0 then 1e6*f else 1e12*f }
            j -> a: C(1e-8)
        }
        experiment e of M { stop = 1; record j.f, check.e; output_step = 0.3 }",
    );
    run_text(
        "units strict
        use electrical: Ground, VoltageSource, Resistor, Capacitor, IdealDiode
        /// Full bridge rectifier
        model Bridge {
            gnd: Ground()
            ac: VoltageSource(v = 20 [V]*sin(2*pi*50 [1/s]*time))
            d1: IdealDiode()
            d2: IdealDiode()
            d3: IdealDiode()
            d4: IdealDiode()
            c: Capacitor(C = 1 [mF])
            r: Resistor(R = 100 [ohm])
            n2: 0 -> ac -> n1: 0
            n1 -> d1 -> p: 0
            n2 -> d2 -> p
            gnd -> d3 -> n1
            gnd -> d4 -> n2
            p -> c -> gnd
            p -> r -> gnd
            output v [V] = p.e
        }
        experiment on of Bridge { stop = 0.1 [s]; record v, ac.i }",
    );
    run_text(EIGHT_DIODES);
}

const EIGHT_DIODES: &str = "model M {
    gnd: 0
    g0: Se(0) -> gnd
    n0: 0
    n0 -> rl0: R(13.186)
    n1: 0
    n1 -> rl1: R(28.41)
    n2: 0
    n2 -> rl2: R(6.317)
    n3: 0
    n3 -> rl3: R(11.624)
    src: Se(10.382*sin(22.938*time)) -> sj: 1 -> n0
    sj -> ri: R(0.531)
    n2 -> b0: 1 -> gnd
    b0 -> e0: D(Ron = 1e-5, Roff = 1e6)
    b0 -> er0: R(0.882)
    n3 -> b1: 1 -> gnd
    b1 -> e1: D(Ron = 1e-5, Roff = 1e6)
    gnd -> b2: 1 -> n3
    b2 -> e2: D(Ron = 1e-5, Roff = 1e6)
    n0 -> b3: 1 -> n3
    b3 -> e3: D(Ron = 1e-5, Roff = 1e6)
    gnd -> b4: 1 -> n0
    b4 -> e4: D(Ron = 1e-5, Roff = 1e6)
    b4 -> er4: R(0.141)
    n1 -> b5: 1 -> n3
    b5 -> e5: D(Ron = 1e-5, Roff = 1e6)
    n2 -> b6: 1 -> n1
    b6 -> e6: D(Ron = 1e-5, Roff = 1e6)
    n3 -> b7: 1 -> n2
    b7 -> z7: 0 -> c7: C(0.002)
    b7 -> cr7: R(0.092)
}
experiment x of M { stop = 0.3; rtol = 1e-7; output_step = 0.01; record n0.e, n1.e, n2.e, n3.e }";
