//! Problems with known answers: Hock & Schittkowski 1981, Rosenbrock, Rastrigin; threads and failures.

use paynter_optimize::search::Agreement;
use paynter_optimize::{Evaluation, Found, Options, Problem, Trial, search};

type Constraint = fn(&[f64]) -> f64;

/// A problem over a box.
struct Boxed {
    low: Vec<f64>,
    high: Vec<f64>,
    aim: fn(&[f64]) -> f64,
    constraints: Vec<Constraint>,
}

impl Boxed {
    fn place(&self, x: &[f64]) -> Vec<f64> {
        let ends = self.low.iter().zip(&self.high);
        x.iter()
            .zip(ends)
            .map(|(x, (l, h))| l + x * (h - l))
            .collect()
    }
}

impl Problem for Boxed {
    fn n_variables(&self) -> usize {
        self.low.len()
    }
    fn n_constraints(&self) -> usize {
        self.constraints.len()
    }
    fn evaluate(&self, x: &[f64]) -> Trial {
        let x = self.place(x);
        let aim = (self.aim)(&x);
        if !aim.is_finite() {
            return Trial::Bad;
        }
        Trial::Good(Evaluation {
            aim,
            constraints: self.constraints.iter().map(|c| c(&x)).collect(),
        })
    }
}

fn options(jobs: usize) -> Options {
    Options {
        seed: 1,
        jobs,
        n_starts: 8,
        is_global: false,
        max_trials: 20_000,
    }
}

fn best(problem: &Boxed, found: &Found) -> (Vec<f64>, f64) {
    let (x, value) = found.best.as_ref().expect("there are values");
    assert!(value.is_feasible(), "{value:?}");
    (problem.place(x), value.aim)
}

/// (name, problem, optimum, one point of it)
fn hock_schittkowski() -> Vec<(&'static str, Boxed, f64, Vec<f64>)> {
    let boxed = |n: usize, low: f64, high: f64, aim, constraints| Boxed {
        low: vec![low; n],
        high: vec![high; n],
        aim,
        constraints,
    };
    vec![
        (
            "HS1",
            Boxed {
                low: vec![-10.0, -1.5],
                high: vec![10.0, 10.0],
                aim: |x| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2),
                constraints: vec![],
            },
            0.0,
            vec![1.0, 1.0],
        ),
        (
            "HS4",
            Boxed {
                low: vec![1.0, 0.0],
                high: vec![11.0, 10.0],
                aim: |x| (x[0] + 1.0).powi(3) / 3.0 + x[1],
                constraints: vec![],
            },
            8.0 / 3.0,
            vec![1.0, 0.0],
        ),
        (
            "HS5",
            Boxed {
                low: vec![-1.5, -3.0],
                high: vec![4.0, 3.0],
                aim: |x| {
                    (x[0] + x[1]).sin() + (x[0] - x[1]).powi(2) - 1.5 * x[0] + 2.5 * x[1] + 1.0
                },
                constraints: vec![],
            },
            -(3f64.sqrt() / 2.0 + std::f64::consts::PI / 3.0),
            vec![
                0.5 - std::f64::consts::PI / 3.0,
                -0.5 - std::f64::consts::PI / 3.0,
            ],
        ),
        (
            "HS10",
            boxed(
                2,
                -10.0,
                10.0,
                |x| x[0] - x[1],
                vec![|x| 3.0 * x[0] * x[0] - 2.0 * x[0] * x[1] + x[1] * x[1] - 1.0],
            ),
            -1.0,
            vec![0.0, 1.0],
        ),
        (
            "HS11",
            boxed(
                2,
                -10.0,
                10.0,
                |x| (x[0] - 5.0).powi(2) + x[1] * x[1] - 25.0,
                vec![|x| x[0] * x[0] - x[1]],
            ),
            -8.498464223,
            vec![1.2347728, 1.5246638],
        ),
        (
            "HS12",
            boxed(
                2,
                -10.0,
                10.0,
                |x| 0.5 * x[0] * x[0] + x[1] * x[1] - x[0] * x[1] - 7.0 * x[0] - 7.0 * x[1],
                vec![|x| 4.0 * x[0] * x[0] + x[1] * x[1] - 25.0],
            ),
            -30.0,
            vec![2.0, 3.0],
        ),
        (
            "HS15",
            Boxed {
                low: vec![-5.0, -5.0],
                high: vec![0.5, 5.0],
                aim: |x| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2),
                constraints: vec![|x| 1.0 - x[0] * x[1], |x| -x[0] - x[1] * x[1]],
            },
            306.5,
            vec![0.5, 2.0],
        ),
        (
            "HS24",
            boxed(
                2,
                0.0,
                5.0,
                |x| ((x[0] - 3.0).powi(2) - 9.0) * x[1].powi(3) / (27.0 * 3f64.sqrt()),
                vec![
                    |x| -(x[0] / 3f64.sqrt() - x[1]),
                    |x| -(x[0] + 3f64.sqrt() * x[1]),
                    |x| x[0] + 3f64.sqrt() * x[1] - 6.0,
                ],
            ),
            -1.0,
            vec![3.0, 3f64.sqrt()],
        ),
        (
            "HS29",
            boxed(
                3,
                -10.0,
                10.0,
                |x| -x[0] * x[1] * x[2],
                vec![|x| x[0] * x[0] + 2.0 * x[1] * x[1] + 4.0 * x[2] * x[2] - 48.0],
            ),
            -16.0 * 2f64.sqrt(),
            vec![],
        ),
        (
            "HS35",
            boxed(
                3,
                0.0,
                10.0,
                |x| {
                    9.0 - 8.0 * x[0] - 6.0 * x[1] - 4.0 * x[2]
                        + 2.0 * x[0] * x[0]
                        + 2.0 * x[1] * x[1]
                        + x[2] * x[2]
                        + 2.0 * x[0] * x[1]
                        + 2.0 * x[0] * x[2]
                },
                vec![|x| x[0] + x[1] + 2.0 * x[2] - 3.0],
            ),
            1.0 / 9.0,
            vec![4.0 / 3.0, 7.0 / 9.0, 4.0 / 9.0],
        ),
        (
            "HS43",
            boxed(
                4,
                -10.0,
                10.0,
                |x| {
                    x[0] * x[0] + x[1] * x[1] + 2.0 * x[2] * x[2] + x[3] * x[3]
                        - 5.0 * x[0]
                        - 5.0 * x[1]
                        - 21.0 * x[2]
                        + 7.0 * x[3]
                },
                vec![
                    |x| {
                        x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] + x[0] - x[1] + x[2]
                            - x[3]
                            - 8.0
                    },
                    |x| {
                        x[0] * x[0] + 2.0 * x[1] * x[1] + x[2] * x[2] + 2.0 * x[3] * x[3]
                            - x[0]
                            - x[3]
                            - 10.0
                    },
                    |x| {
                        2.0 * x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + 2.0 * x[0]
                            - x[1]
                            - x[3]
                            - 5.0
                    },
                ],
            ),
            -44.0,
            vec![0.0, 1.0, 2.0, -1.0],
        ),
        (
            "HS76",
            boxed(
                4,
                0.0,
                10.0,
                |x| {
                    x[0] * x[0] + 0.5 * x[1] * x[1] + x[2] * x[2] + 0.5 * x[3] * x[3] - x[0] * x[2]
                        + x[2] * x[3]
                        - x[0]
                        - 3.0 * x[1]
                        + x[2]
                        - x[3]
                },
                vec![
                    |x| x[0] + 2.0 * x[1] + x[2] + x[3] - 5.0,
                    |x| 3.0 * x[0] + x[1] + 2.0 * x[2] - x[3] - 4.0,
                    |x| 1.5 - x[1] - 4.0 * x[2],
                ],
            ),
            -4.681818182,
            vec![0.2727273, 2.090909, -0.26e-10, 0.5454545],
        ),
        (
            "HS100",
            boxed(
                7,
                -5.0,
                5.0,
                |x| {
                    (x[0] - 10.0).powi(2)
                        + 5.0 * (x[1] - 12.0).powi(2)
                        + x[2].powi(4)
                        + 3.0 * (x[3] - 11.0).powi(2)
                        + 10.0 * x[4].powi(6)
                        + 7.0 * x[5] * x[5]
                        + x[6].powi(4)
                        - 4.0 * x[5] * x[6]
                        - 10.0 * x[5]
                        - 8.0 * x[6]
                },
                vec![
                    |x| {
                        2.0 * x[0] * x[0]
                            + 3.0 * x[1].powi(4)
                            + x[2]
                            + 4.0 * x[3] * x[3]
                            + 5.0 * x[4]
                            - 127.0
                    },
                    |x| 7.0 * x[0] + 3.0 * x[1] + 10.0 * x[2] * x[2] + x[3] - x[4] - 282.0,
                    |x| 23.0 * x[0] + x[1] * x[1] + 6.0 * x[5] * x[5] - 8.0 * x[6] - 196.0,
                    |x| {
                        4.0 * x[0] * x[0] + x[1] * x[1] - 3.0 * x[0] * x[1]
                            + 2.0 * x[2] * x[2]
                            + 5.0 * x[5]
                            - 11.0 * x[6]
                    },
                ],
            ),
            680.6300573,
            vec![
                2.330499, 1.951372, -0.4775414, 4.365726, -0.6244870, 1.038131, 1.594227,
            ],
        ),
        (
            "HS108-like ring",
            boxed(
                2,
                -2.0,
                2.0,
                |x| x[0],
                vec![
                    |x| 1.0 - x[0] * x[0] - x[1] * x[1],
                    |x| x[0] * x[0] + x[1] * x[1] - 2.25,
                    |x| -x[1],
                ],
            ),
            -1.5,
            vec![-1.5, 0.0],
        ),
    ]
}

#[test]
fn descents_find_the_optima_of_hock_and_schittkowski() {
    for (name, problem, optimum, at) in hock_schittkowski() {
        let found = search(&problem, None, &options(2));
        let (x, aim) = best(&problem, &found);
        // Differences of 1e-5 of the box and a margin of 1e-10 leave seven digits of the aim, half as many of the place.
        assert!(
            (aim - optimum).abs() < 2e-7 * (1.0 + optimum.abs()),
            "{name}: {aim:.12} at {x:?}, not {optimum:.12}"
        );
        for (x, at) in x.iter().zip(&at) {
            assert!(
                (x - at).abs() < 2e-3 * (1.0 + at.abs()),
                "{name}: {x} instead of {at}"
            );
        }
        let n_same = found
            .locals
            .iter()
            .filter(|l| l.agreement == Agreement::Same)
            .count();
        let n_as_good = found
            .locals
            .iter()
            .filter(|l| l.agreement == Agreement::AsGood)
            .count();
        assert!(
            n_same + n_as_good >= 2,
            "{name}: {n_same} starts of 8 agree"
        );
    }
}

#[test]
fn multipliers_are_the_price_of_each_constraint() {
    // HS43 (Rosen & Suzuki): multipliers 1, 0, 2.
    let (_, problem, ..) = hock_schittkowski()
        .into_iter()
        .find(|p| p.0 == "HS43")
        .expect("listed");
    let found = search(&problem, None, &options(1));
    for (found, exact) in found.multipliers.iter().zip([1.0, 0.0, 2.0]) {
        assert!((found - exact).abs() < 1e-3, "{found} instead of {exact}");
    }
}

fn rastrigin(x: &[f64]) -> f64 {
    let each = x
        .iter()
        .map(|x| x * x - 10.0 * (2.0 * std::f64::consts::PI * x).cos());
    10.0 * x.len() as f64 + each.sum::<f64>()
}

#[test]
fn the_evolution_finds_the_lowest_of_many_minima() {
    let problem = Boxed {
        low: vec![-5.12; 4],
        high: vec![4.12; 4],
        aim: rastrigin,
        constraints: vec![],
    };
    let how = Options {
        is_global: true,
        n_starts: 4,
        max_trials: 40_000,
        ..options(2)
    };
    let (x, aim) = best(&problem, &search(&problem, None, &how));
    assert!(aim.abs() < 1e-9, "{aim} at {x:?}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for (name, problem, ..) in hock_schittkowski().into_iter().take(6) {
        let by = |jobs| {
            let how = Options {
                is_global: true,
                max_trials: 3000,
                ..options(jobs)
            };
            search(&problem, Some(&[0.3, 0.6]), &how)
        };
        let (one, three) = (by(1), by(3));
        assert_eq!(one.tried, three.tried, "{name}");
        assert_eq!(one.best, three.best, "{name}");
        assert_eq!(one.multipliers, three.multipliers, "{name}");
    }
}

#[test]
fn where_nothing_is_feasible_the_least_violated_point_is_found() {
    // x² + y² ≤ 1 and x + y ≥ 3: in between, on the diagonal.
    let problem = Boxed {
        low: vec![-5.0; 2],
        high: vec![5.0; 2],
        aim: |x| x[0],
        constraints: vec![|x| x[0] * x[0] + x[1] * x[1] - 1.0, |x| 3.0 - x[0] - x[1]],
    };
    let found = search(
        &problem,
        None,
        &Options {
            is_global: true,
            ..options(1)
        },
    );
    let (x, value) = found.best.expect("there are values");
    let x = problem.place(&x);
    assert!(!value.is_feasible());
    assert!((x[0] - x[1]).abs() < 0.05, "{x:?}");
}

#[test]
fn a_half_without_values_is_skipped_and_a_dead_variable_is_named() {
    // √ of a negative number on one side; the third variable is read by nobody.
    let problem = Boxed {
        low: vec![-1.0; 3],
        high: vec![1.0; 3],
        aim: |x| x[0].sqrt() + (x[1] - 0.25).powi(2),
        constraints: vec![|x| 0.04 - x[0]],
    };
    let found = search(&problem, None, &options(2));
    let (x, aim) = best(&problem, &found);
    assert!(
        (aim - 0.2).abs() < 1e-7 && (x[1] - 0.25).abs() < 1e-3,
        "{x:?} {aim}"
    );
    assert_eq!(found.is_inert, [false, false, true]);
    assert!(found.tried.iter().any(|t| t.1.value.is_none()));
}

#[test]
fn noise_of_a_millionth_leaves_the_optimum_within_its_reach() {
    fn noisy(x: &[f64]) -> f64 {
        let smooth = (x[0] - 0.3).powi(2) + 2.0 * (x[1] + 0.2).powi(2) + 1.0;
        // The last digits of a product of irrational numbers are as good as random.
        let wild = (x[0] * 1e7 + x[1] * 3.7e6).sin() * 1e-6;
        smooth * (1.0 + wild)
    }
    let problem = Boxed {
        low: vec![-1.0; 2],
        high: vec![1.0; 2],
        aim: noisy,
        constraints: vec![],
    };
    let (x, _) = best(&problem, &search(&problem, None, &options(1)));
    assert!(
        (x[0] - 0.3).abs() < 5e-3 && (x[1] + 0.2).abs() < 5e-3,
        "{x:?}"
    );
}

#[test]
fn a_constraint_that_is_flat_where_it_holds_does_not_lead_astray() {
    // As an overshoot over damping: hardly a slope where it is met, and none that leads back from the far end.
    let problem = Boxed {
        low: vec![0.0],
        high: vec![1.0],
        aim: |x| x[0],
        constraints: vec![|x| {
            let u = 30.0 * x[0];
            0.25 * (-u * u).exp() + u * (1.0 - u).exp() - 0.2
        }],
    };
    let found = search(&problem, None, &options(1));
    let (x, _) = best(&problem, &found);
    let u = 30.0 * x[0];
    assert!((u * (1.0 - u).exp() - 0.2).abs() < 1e-6, "{x:?}");
    let ends: Vec<_> = found.locals.iter().map(|l| l.agreement).collect();
    let n_same = ends.iter().filter(|e| **e == Agreement::Same).count();
    assert!(n_same + 1 >= ends.len(), "{ends:?}");
}
