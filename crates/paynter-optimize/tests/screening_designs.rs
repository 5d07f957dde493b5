//! Screening against functions whose effects are known.

use paynter_optimize::screening::{morris_design, morris_effects, sobol_design, sobol_shares};
use std::f64::consts::PI;

#[test]
fn morris_finds_slopes_of_a_plane_exactly_and_sees_what_is_not_one() {
    let points = morris_design(4, 12, 7);
    assert_eq!(points.len(), 60);
    assert!(points.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
    let values: Vec<f64> = points
        .iter()
        .map(|x| 3.0 * x[0] - 2.0 * x[1] + 5.0 * x[2] * x[3])
        .collect();
    let found = morris_effects(&points, &values);
    assert!((found[0].mean - 3.0).abs() < 1e-12 && found[0].spread < 1e-12);
    assert!((found[1].mean + 2.0).abs() < 1e-12 && (found[1].size - 2.0).abs() < 1e-12);
    assert!(found[2].spread > 0.5 && found[3].spread > 0.5);
    assert!(found.iter().all(|e| e.n == 12));
    let mut holes = values;
    holes[0] = f64::NAN;
    let n: usize = morris_effects(&points, &holes).iter().map(|e| e.n).sum();
    assert_eq!(n, 47);
}

#[test]
fn shares_of_ishigamis_function_are_those_of_its_integrals() {
    let (n, a, b) = (3, 7.0, 0.1);
    let points = sobol_design(n, 4096, 1);
    let values: Vec<f64> = points
        .iter()
        .map(|u| {
            let x: Vec<f64> = u.iter().map(|u| PI * (2.0 * u - 1.0)).collect();
            x[0].sin() + a * x[1].sin().powi(2) + b * x[2].powi(4) * x[0].sin()
        })
        .collect();
    let found = sobol_shares(n, &values, 1).expect("it varies");
    let v1 = 0.5 * (1.0 + b * PI.powi(4) / 5.0).powi(2);
    let v2 = a * a / 8.0;
    let v13 = b * b * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
    let v = v1 + v2 + v13;
    let exact = [(v1 / v, (v1 + v13) / v), (v2 / v, v2 / v), (0.0, v13 / v)];
    for (own, (first, total)) in found.iter().zip(exact) {
        assert!((own.first - first).abs() < 0.02, "{own:?} {first}");
        assert!((own.total - total).abs() < 0.02, "{own:?} {total}");
        assert!(own.doubt.0 < 0.1 && own.doubt.1 < 0.1, "{own:?}");
    }
    assert!(sobol_shares(n, &vec![1.5; values.len()], 1).is_none());
}
