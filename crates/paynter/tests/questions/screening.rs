//! Screening through the measures of an experiment: known functions, points without a value, refusals.

use crate::kit::scratch;
use paynter::refused::Refused;
use paynter::screening::{Method, Ranking, Screening, screen};
use paynter::{Choice, DesignError, SweepChoice};
use std::ops::ControlFlow;

fn look(text: &str, over: &[&str], method: Method, jobs: usize) -> Result<Screening, String> {
    let file = scratch(text);
    let choice = Choice {
        sweep: Some(SweepChoice {
            over: over.iter().map(|s| s.to_string()).collect(),
            is_paired: true,
        }),
        ..Choice::default()
    };
    let design = paynter::design(&file.0, &choice).map_err(|e| match e {
        DesignError::Model(f) => f.diagnostics[0].message.clone(),
        DesignError::Unreadable(message) => message,
    })?;
    let go_on = |_: usize| ControlFlow::Continue(());
    screen(design, &choice, (method, 1), (jobs, &go_on)).map_err(|e| match e {
        Refused::Call(message) => message,
        Refused::Model(messages) | Refused::Run(messages) => messages[0].message.clone(),
    })
}

const ISHIGAMI: &str = "model M {
        param x1 = 0, x2 = 0, x3 = 0
        y = sin(x1) + 7*sin(x2)^2 + 0.1*x3^4*sin(x1)
        der(z) = -z
        output out = y
    }
    experiment e of M { stop = 0.001 [s]; record y; measure end = final(y) }";

const CUBE: [&str; 3] = [
    "x1 in [-3.141592653589793, 3.141592653589793]",
    "x2 in [-3.141592653589793, 3.141592653589793]",
    "x3 in [-3.141592653589793, 3.141592653589793]",
];

#[test]
fn shares_of_ishigamis_function_through_a_measure() {
    let found = look(ISHIGAMI, &CUBE, Method::Sobol(1024), 2).expect("runs");
    assert_eq!((found.n_runs, found.n_failed), (5120, 0));
    let Ranking::Shares(Some(shares)) = &found.measures[0].3 else {
        panic!("it varies");
    };
    // Saltelli et al., Global Sensitivity Analysis (2008), §4.
    for (own, (first, total)) in
        shares
            .iter()
            .zip([(0.3139, 0.5576), (0.4424, 0.4424), (0.0, 0.2437)])
    {
        assert!((own.first - first).abs() < 0.04, "{own:?} {first}");
        assert!((own.total - total).abs() < 0.04, "{own:?} {total}");
    }
}

#[test]
fn effects_are_those_of_whole_ranges_and_any_number_of_threads() {
    let text = "model M {
            param a = 1 [kohm], b = 0, c = 0
            der(x) = a/1 [ohm] - 3*b
            output out = x
        }
        experiment e of M { stop = 1 [s]; record x; measure end = final(x), early = final(x)/2 }";
    let over = ["a in [1, 2] [kohm]", "b in [0, 10]", "c in [0, 1]"];
    let found = look(text, &over, Method::Morris(8), 1).expect("runs");
    let Ranking::Effects(effects) = &found.measures[0].3 else {
        panic!("Morris gives effects");
    };
    for (own, exact) in effects.iter().zip([1000.0, -30.0, 0.0]) {
        assert!((own.mean - exact).abs() < 1e-6, "{own:?} {exact}");
        assert!(own.spread < 1e-6);
    }
    let again = look(text, &over, Method::Morris(8), 3).expect("runs");
    assert_eq!(found.measures, again.measures);
}

#[test]
fn runs_without_a_value_are_left_out_and_counted() {
    // The square root has no value for half of the range.
    let text = "model M { param a = 1; der(x) = 1 + 0*a; y = sqrt(a); output out = y }
        experiment e of M { stop = 0.1 [s]; record x; measure end = final(y) }";
    let found = look(text, &["a in [-1, 1]"], Method::Morris(20), 2).expect("runs");
    assert!(found.n_failed > 0 || found.measures[0].2 > 0);
    let Ranking::Effects(effects) = &found.measures[0].3 else {
        panic!("Morris gives effects");
    };
    assert!(effects[0].n < 20);
}

#[test]
fn what_cannot_be_screened_is_refused() {
    let bare = ISHIGAMI.replace("; measure end = final(y)", "");
    assert!(look(&bare, &CUBE, Method::Morris(4), 1).is_err());
    let flat = ["x1 in [2, 2]"];
    assert!(look(ISHIGAMI, &flat, Method::Morris(4), 1).is_err());
    assert!(look(ISHIGAMI, &["nobody in [1, 2]"], Method::Morris(4), 1).is_err());
    assert!(look(ISHIGAMI, &["method in [dop853, bdf]"], Method::Morris(4), 1).is_err());
}
