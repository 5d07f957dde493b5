//! Random Lagrangians: the same numbers as text and as a function.
//!
//! In:  a seed.
//! Out: a `lagrangian` block, an experiment of it, and L for the reference.

use crate::kit::Seeded;
use crate::reference::{Complex, System, c};

/// One entry of a rate: its text and its value.
type Entry = (&'static str, fn(Complex, Complex) -> Complex);

/// Functions of two coordinates, `a` and `b` in the text.
const ENTRIES: [Entry; 8] = [
    ("1", |_, _| c(1.0)),
    ("cos(a)", |a, _| a.cos()),
    ("sin(a)", |a, _| a.sin()),
    ("cos(a - b)", |a, b| (a - b).cos()),
    ("sin(a + b)", |a, b| (a + b).sin()),
    ("(0.5 + a/4)", |a, _| c(0.5) + a * c(0.25)),
    ("sin(a)*cos(b)", |a, b| a.sin() * b.cos()),
    ("1.5", |_, _| c(1.5)),
];

/// A rate: its entries, as (entry, coordinate a, coordinate b, velocity).
type RandomRate = Vec<(usize, usize, usize, usize)>;

/// A random system, as numbers from which both the text and the reference are made.
pub struct RandomSystem {
    pub n: usize,
    /// Factor of rates that are not der(…); their inertias have its square below.
    pub scale: f64,
    own: Vec<f64>,
    rates: Vec<(f64, RandomRate)>,
    stiffness: Vec<f64>,
    coupling: Option<(usize, usize)>,
    /// A·q̇ with A_i = size·sin(q_j).
    magnetic: Option<(f64, usize, usize)>,
    damping: Option<(f64, usize, usize)>,
    given: bool,
    drive: Option<usize>,
}

impl RandomSystem {
    pub fn new(seed: u64) -> Self {
        let mut random = Seeded(seed);
        let n = 1 + random.below(4);
        let chance = |p: f64, random: &mut Seeded| random.between(0.0, 1.0) < p;
        let given = chance(0.4, &mut random);
        let n_velocities = n + usize::from(given);
        let rates = (0..1 + random.below(3))
            .map(|_| {
                let entries = (0..1 + random.below(3))
                    .map(|_| {
                        let entry = random.below(ENTRIES.len());
                        (
                            entry,
                            random.below(n),
                            random.below(n),
                            random.below(n_velocities),
                        )
                    })
                    .collect();
                (random.between(0.3, 2.0), entries)
            })
            .collect();
        let pair = |random: &mut Seeded| (random.below(n), random.below(n));
        RandomSystem {
            n,
            scale: 1.0,
            own: (0..n).map(|_| random.between(0.5, 2.0)).collect(),
            rates,
            stiffness: (0..n).map(|_| random.between(0.2, 3.0)).collect(),
            coupling: (n > 1).then(|| (0, n - 1)),
            magnetic: chance(0.4, &mut random).then(|| {
                let (i, j) = pair(&mut random);
                (random.between(0.2, 1.5), i, j)
            }),
            damping: chance(0.4, &mut random).then(|| {
                let (i, j) = pair(&mut random);
                (random.between(0.05, 0.5), i, j)
            }),
            given,
            drive: chance(0.4, &mut random).then(|| random.below(n)),
        }
    }

    fn rate_text(rate: &RandomRate, n: usize) -> String {
        let terms = rate.iter().map(|&(entry, a, b, v)| {
            let text = ENTRIES[entry]
                .0
                .replace("cos(", "COS(")
                .replace("sin(", "SIN(");
            let text = text
                .replace('a', &format!("q{a}"))
                .replace('b', &format!("q{b}"));
            let text = text.replace("COS(", "cos(").replace("SIN(", "sin(");
            let velocity = if v == n {
                "der(s)".to_owned()
            } else {
                format!("der(q{v})")
            };
            format!("{text}*{velocity}")
        });
        terms.collect::<Vec<_>>().join(" + ")
    }

    /// Statements of the block, without the braces.
    pub fn statements(&self) -> Vec<String> {
        let names: Vec<String> = (0..self.n).map(|i| format!("q{i}")).collect();
        let mut lines = vec![format!("coordinate {}", names.join(", "))];
        if self.given {
            lines.push("given s = 0.3*sin(1.7*time)".to_owned());
        }
        for (i, mu) in self.own.iter().enumerate() {
            lines.push(format!("rate w{i} = der(q{i})"));
            lines.push(format!("kinetic own{i} = 0.5*{mu}*w{i}^2"));
            let k = self.stiffness[i];
            lines.push(format!("potential v{i} = 0.5*{k}*q{i}^2 - 0.3*cos(q{i})"));
        }
        for (k, (size, rate)) in self.rates.iter().enumerate() {
            let text = Self::rate_text(rate, self.n);
            if self.scale == 1.0 {
                lines.push(format!("rate r{k} = {text}"));
            } else {
                lines.push(format!("rate r{k} = {}*({text})", self.scale));
            }
            let size = size / self.scale.powi(2);
            lines.push(format!("kinetic t{k} = 0.5*{size}*r{k}^2"));
        }
        if let Some((i, j)) = self.coupling {
            lines.push(format!(
                "potential tie = 0.7*(q{i} - q{j})^2 + 0.2*sin(q{i}*q{j})"
            ));
        }
        if let Some((size, i, j)) = self.magnetic {
            lines.push(format!("potential field = -{size}*sin(q{j})*der(q{i})"));
        }
        if let Some((b, i, j)) = self.damping {
            lines.push(format!("loss drag = 0.5*{b}*(der(q{i}) + 0.5*der(q{j}))^2"));
        }
        if let Some(i) = self.drive {
            lines.push(format!("effort q{i} = 0.4*sin(2*time)"));
        }
        lines
    }

    pub fn text(&self) -> String {
        format!("lagrangian M {{\n{}\n}}\n", self.statements().join("\n"))
    }

    /// The same in coordinates z with q = K z, K random and regular.
    pub fn turned_text(&self, seed: u64) -> String {
        let mut random = Seeded(seed + 1000);
        let mut text = self.text();
        let names: Vec<String> = (0..self.n).map(|i| format!("z{i}")).collect();
        for i in 0..self.n {
            let sum = |random: &mut Seeded, of: fn(usize) -> String| {
                let entry =
                    |j: usize, x: f64| format!("{:.3}*{}", if i == j { 1.5 + x } else { x }, of(j));
                let terms: Vec<String> = (0..self.n)
                    .map(|j| entry(j, random.between(-0.4, 0.4)))
                    .collect();
                terms.join(" + ")
            };
            let mut again = Seeded(random.0);
            let place = sum(&mut random, |j| format!("z{j}"));
            let rate = sum(&mut again, |j| format!("der(z{j})"));
            text = text.replace(
                &format!("rate w{i} = der(q{i})"),
                &format!("q{i} = {place}\nrate w{i} = {rate}"),
            );
            text = text.replace(&format!("der(q{i})"), &format!("w{i}"));
            text = text.replace(&format!("effort q{i} ="), &format!("effort w{i} ="));
        }
        let head = text.lines().find(|line| line.starts_with("coordinate"));
        let head = head.expect("every block has coordinates").to_owned();
        text.replace(&head, &format!("coordinate {}", names.join(", ")))
    }

    pub fn run_text(&self, model: &str) -> String {
        let starts: Vec<String> = (0..self.n)
            .flat_map(|i| {
                [
                    format!("q{i} = {}", start(i).0),
                    format!("w{i}.f = {}", start(i).1),
                ]
            })
            .collect();
        let columns: Vec<String> = (0..self.n).map(|i| format!("q{i}")).collect();
        format!(
            "{model}experiment e of M {{ start {}\nstop = 1; rtol = 1e-11; record {} }}\n",
            starts.join(", "),
            columns.join(", ")
        )
    }

    pub fn system(&self) -> System<'_> {
        let motion = |t: Complex| c(0.3) * (c(1.7) * t).sin();
        let motion_rate = |t: Complex| c(0.51) * (c(1.7) * t).cos();
        System {
            n: self.n,
            lagrangian: Box::new(move |q, v, t| {
                let mut sum = c(0.0);
                for i in 0..self.n {
                    sum = sum + c(0.5 * self.own[i]) * v[i] * v[i];
                    sum = sum - c(0.5 * self.stiffness[i]) * q[i] * q[i] + c(0.3) * q[i].cos();
                }
                let _ = motion(t);
                for (size, rate) in &self.rates {
                    let mut f = c(0.0);
                    for &(entry, a, b, k) in rate {
                        let speed = if k == self.n { motion_rate(t) } else { v[k] };
                        f = f + (ENTRIES[entry].1)(q[a], q[b]) * speed;
                    }
                    sum = sum + c(0.5 * size) * f * f;
                }
                if let Some((i, j)) = self.coupling {
                    let d = q[i] - q[j];
                    sum = sum - c(0.7) * d * d - c(0.2) * (q[i] * q[j]).sin();
                }
                if let Some((size, i, j)) = self.magnetic {
                    sum = sum + c(size) * q[j].sin() * v[i];
                }
                sum
            }),
            forces: Box::new(move |_, v, t| {
                let mut forces = vec![0.0; self.n];
                if let Some((b, i, j)) = self.damping {
                    let f = v[i] + 0.5 * v[j];
                    forces[i] -= b * f;
                    forces[j] -= 0.5 * b * f;
                }
                if let Some(i) = self.drive {
                    forces[i] += 0.4 * (2.0 * t).sin();
                }
                forces
            }),
            constraints: Box::new(|_, _| Vec::new()),
        }
    }
}

/// Where a coordinate begins, and how fast.
pub fn start(i: usize) -> (f64, f64) {
    (0.3 + 0.2 * i as f64, 0.5 - 0.3 * i as f64)
}
