//! The RC ladder by hand: backward differentiation of orders 1 to 5 around a tridiagonal solver.
//!
//! In:  the number of cells.
//! Out: the end, and the work done. The method is the quasi-constant-step NDF of Shampine &
//!      Reichelt, *The MATLAB ODE suite* (1997), for this one linear problem.

use crate::gyroscope::open;
use crate::meter::{cpu, cpu_clock, median};
use crate::unaudited::Unaudited;
use paynter::solve::{Absolute, NoObserver, Options, Tolerances, integrate};
use std::path::Path;

/// Conductance over capacitance, 1/s: 1 Ω and 1 µF.
const G: f64 = 1e6;
const KAPPA: [f64; 6] = [0.0, -0.1850, -1.0 / 9.0, -0.0823, -0.0415, 0.0];

fn rates(y: &[f64], f: &mut [f64]) {
    let n = y.len();
    f[0] = G * (1.0 - 2.0 * y[0] + y[1]);
    for i in 1..n - 1 {
        f[i] = G * (y[i - 1] - 2.0 * y[i] + y[i + 1]);
    }
    f[n - 1] = G * (y[n - 2] - y[n - 1]);
}

/// I − c J, factorised.
struct Factor {
    c: f64,
    inverse: Vec<f64>,
}

impl Factor {
    fn new(n: usize, c: f64) -> Self {
        let a = c * G;
        let mut inverse = vec![0.0; n];
        let mut before = 0.0;
        for (i, slot) in inverse.iter_mut().enumerate() {
            let diagonal = if i + 1 == n { 1.0 + a } else { 1.0 + 2.0 * a };
            before = 1.0 / (diagonal - a * a * before);
            *slot = before;
        }
        Self { c, inverse }
    }

    fn solve(&self, x: &mut [f64]) {
        let a = self.c * G;
        let n = x.len();
        for i in 1..n {
            x[i] += a * self.inverse[i - 1] * x[i - 1];
        }
        x[n - 1] *= self.inverse[n - 1];
        for i in (0..n - 1).rev() {
            x[i] = (x[i] + a * x[i + 1]) * self.inverse[i];
        }
    }
}

fn change(d: &mut [Vec<f64>], order: usize, factor: f64) {
    let matrix = |factor: f64| {
        let mut m = [[0.0; 6]; 6];
        m[0] = [1.0; 6];
        for i in 1..=order {
            for j in 1..=order {
                m[i][j] = m[i - 1][j] * (i as f64 - 1.0 - factor * j as f64) / i as f64;
            }
        }
        for row in m.iter_mut().skip(1) {
            row[0] = 0.0;
        }
        m
    };
    let (r, u) = (matrix(factor), matrix(1.0));
    let mut ru = [[0.0; 6]; 6];
    for i in 0..=order {
        for j in 0..=order {
            ru[i][j] = (0..=order).map(|k| r[i][k] * u[k][j]).sum();
        }
    }
    for i in 0..d[0].len() {
        let old: [f64; 6] = std::array::from_fn(|k| if k <= order { d[k][i] } else { 0.0 });
        for j in 0..=order {
            d[j][i] = (0..=order).map(|k| ru[k][j] * old[k]).sum();
        }
    }
}

fn norm(x: &[f64], scale: &[f64], c: f64) -> f64 {
    let sum: f64 = x.iter().zip(scale).map(|(x, s)| (c * x / s).powi(2)).sum();
    (sum / x.len() as f64).sqrt()
}

/// Integrates the ladder from rest; gives the end, steps and evaluations.
pub fn by_hand(n: usize, end: f64, rtol: f64, atol: f64) -> (Vec<f64>, usize, usize) {
    let mut gamma = [0.0; 6];
    for k in 1..6 {
        gamma[k] = gamma[k - 1] + 1.0 / k as f64;
    }
    let alpha: [f64; 6] = std::array::from_fn(|k| (1.0 - KAPPA[k]) * gamma[k]);
    let constant: [f64; 6] = std::array::from_fn(|k| KAPPA[k] * gamma[k] + 1.0 / (k as f64 + 1.0));
    let mut d = vec![vec![0.0; n]; 8];
    let mut f = vec![0.0; n];
    rates(&d[0].clone(), &mut f);
    let mut h = 1e-9;
    d[1] = f.iter().map(|x| x * h).collect();
    let (mut t, mut order, mut equal, mut steps, mut evaluations) = (0.0, 1, 0, 0, 1);
    let mut factor: Option<Factor> = None;
    let (mut y, mut correction, mut scale) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let (mut psi, mut move_by) = (vec![0.0; n], vec![0.0; n]);
    while t < end {
        if h > end - t {
            change(&mut d, order, (end - t) / h);
            h = end - t;
            equal = 0;
            factor = None;
        }
        for i in 0..n {
            let (mut sum, mut p) = (0.0, 0.0);
            for k in 0..=order {
                sum += d[k][i];
                p += gamma[k] * d[k][i];
            }
            y[i] = sum;
            psi[i] = p / alpha[order];
            scale[i] = atol + rtol * sum.abs();
            correction[i] = 0.0;
        }
        let c = h / alpha[order];
        let lu = factor.get_or_insert_with(|| Factor::new(n, c));
        // The problem is linear: a second iteration confirms the first.
        let tolerance = (10.0 * f64::EPSILON / rtol).max(rtol.sqrt().min(0.03));
        for _ in 0..4 {
            rates(&y, &mut f);
            evaluations += 1;
            for i in 0..n {
                move_by[i] = c * f[i] - psi[i] - correction[i];
            }
            lu.solve(&mut move_by);
            for i in 0..n {
                y[i] += move_by[i];
                correction[i] += move_by[i];
            }
            if norm(&move_by, &scale, 1.0) < tolerance {
                break;
            }
        }
        for i in 0..n {
            scale[i] = atol + rtol * y[i].abs();
        }
        let error = norm(&correction, &scale, constant[order]);
        if error > 1.0 {
            let by = (0.8 * error.powf(-1.0 / (order as f64 + 1.0))).max(0.2);
            change(&mut d, order, by);
            h *= by;
            equal = 0;
            factor = None;
            continue;
        }
        t += h;
        steps += 1;
        equal += 1;
        for i in 0..n {
            d[order + 2][i] = correction[i] - d[order + 1][i];
            d[order + 1][i] = correction[i];
            for k in (0..=order).rev() {
                d[k][i] += d[k + 1][i];
            }
        }
        if equal < order + 1 {
            continue;
        }
        let lower = if order > 1 {
            norm(&d[order], &scale, constant[order - 1])
        } else {
            f64::INFINITY
        };
        let higher = if order < 5 {
            norm(&d[order + 2], &scale, constant[order + 1])
        } else {
            f64::INFINITY
        };
        let gains = [
            lower.powf(-1.0 / order as f64),
            error.powf(-1.0 / (order as f64 + 1.0)),
            higher.powf(-1.0 / (order as f64 + 2.0)),
        ];
        let best = (0..3).fold(0, |b, k| if gains[k] > gains[b] { k } else { b });
        order = order + best - 1;
        let by = (0.9 * gains[best]).min(10.0);
        change(&mut d, order, by);
        h *= by;
        equal = 0;
        factor = None;
    }
    (d.swap_remove(0), steps, evaluations)
}

/// Runs ladders of 10⁴ cells in turn.
pub fn ladder(models: &Path) {
    let n = 10_000;
    let mut prepared = open(&models.join("ladder.bond"), "stiff", None);
    let start = prepared.machine.initialise(0.0).expect("it starts");
    // The states are charges of 1 µF; the same tolerance as 1e-9 V.
    let options = Options {
        method: prepared.spec.method,
        tolerances: Tolerances {
            relative: prepared.spec.rtol,
            absolute: Absolute::Scalar(1e-15),
        },
        ..Options::default()
    };
    let (exact, ..) = by_hand(n, 1.0, 1e-10, 1e-13);
    let (mut hand, mut ours, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let mut plain = Vec::new();
    for round in 0..7 {
        let (time, (y, steps, rhs)) = cpu_clock(|| by_hand(n, 1.0, prepared.spec.rtol, 1e-9));
        hand.push(time);
        let (time, finish) = cpu_clock(|| {
            integrate(
                &mut prepared.machine,
                0.0,
                &start.y0,
                1.0,
                &options,
                &mut NoObserver,
            )
            .expect("it runs")
        });
        ours.push(time);
        let system = &mut Unaudited(&mut prepared.machine);
        let (time, _) = cpu_clock(|| {
            integrate(system, 0.0, &start.y0, 1.0, &options, &mut NoObserver).expect("it runs")
        });
        plain.push(time);
        let before = cpu();
        let text = open(&models.join("ladder.bond"), "stiff", None);
        whole.push(cpu() - before);
        drop(text);
        if round == 0 {
            let volts: Vec<f64> = finish.y.iter().map(|q| q * 1e6).collect();
            let off = |y: &[f64]| {
                let gaps = y.iter().zip(&exact).map(|(a, b)| (a - b).abs());
                gaps.fold(0.0, f64::max)
            };
            println!(
                "by hand: {steps} steps, {rhs} evaluations, error {:.1e} V",
                off(&y)
            );
            println!(
                "paynter: {} steps, {} evaluations, {} factorisations, error {:.1e} V",
                finish.statistics.steps,
                finish.statistics.rhs,
                finish.statistics.factorisations,
                off(&volts)
            );
        }
    }
    let (hand, ours) = (median(&mut hand), median(&mut ours));
    let plain = median(&mut plain);
    println!(
        "CPU: by hand {:.1} ms, paynter without audit {:.1} ms, ratio {:.2}, with audit {:.1} ms, ratio {:.2}; \
         from text to machine {:.2} s CPU",
        hand * 1e3,
        plain * 1e3,
        plain / hand,
        ours * 1e3,
        ours / hand,
        median(&mut whole)
    );
}
