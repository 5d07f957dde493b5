//! Laws of activity: closed forms, rewriting changes nothing, and what is left out is what moved little.

mod kit;

use kit::design;
use paynter::Choice;
use paynter_structure::{Activities, Change, activities, reduce};

fn found(text: &str) -> Activities {
    activities(&design(text, "", "")).unwrap_or_else(|e| panic!("{e:?}"))
}

fn joules(found: &Activities, name: &str) -> f64 {
    let element = found.elements.iter().find(|e| e.name == name);
    element.unwrap_or_else(|| panic!("no {name}")).joules
}

const CAR: &str = "model QuarterCar {
    param ms = 267, mu = 36.6, ks = 18.7e3, kt = 193.9e3, bs = 700
    road: Sf(0.1*sin(10*time)) -> tyre: 0 -> kt1: C(1/kt)
    tyre -> wheel: 1 -> mw: I(mu)
    wheel -> gap: 0 -> body: 1 -> mb: I(ms)
    gap -> susp: 1 -> k: C(1/ks), b: R(bs)
}
experiment drive of QuarterCar { stop = 5 [s]; rtol = 1e-9; record body.f as v }
";

#[test]
fn a_swing_moves_its_energy_four_times_in_a_period() {
    // q = cos t with m = k = 1: each storage fills and empties twice in 2π, 1/2 J each time.
    let text = "model Swing { v: 1 -> m: I(1), s: C(1)
        start s.q = 1 }
    experiment e of Swing { stop = 6.283185307179586 [s]; rtol = 1e-10; record v.f }";
    let found = found(text);
    for name in ["m", "s"] {
        assert!(
            (joules(&found, name) - 2.0).abs() < 1e-6,
            "{}",
            joules(&found, name)
        );
    }
    let shares: f64 = found.elements.iter().filter_map(|e| e.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
}

#[test]
fn a_resistor_that_only_loses_is_as_active_as_its_loss() {
    let text = "model Decay { n: 0 -> c: C(2), r: R(3)
        start c.e = 6 }
    experiment e of Decay { stop = 60 [s]; rtol = 1e-10; record n.e }";
    let found = found(text);
    // All of ½ C e² = 36 J, but for e^(−20).
    assert!((joules(&found, "r") - 36.0).abs() < 1e-6);
    assert!((joules(&found, "c") - 36.0).abs() < 1e-6);
}

#[test]
fn rewriting_a_model_does_not_change_what_its_elements_move() {
    // Junctions split in two, a transformer there and back, lines in another order.
    let other = "model QuarterCar {
        param ms = 267, mu = 36.6, ks = 18.7e3, kt = 193.9e3, bs = 700
        gap -> susp: 1 -> again: 1 -> b: R(bs)
        susp -> k: C(1/ks)
        wheel -> TF(4) -> mid: 1 -> TF(1/4) -> gap: 0 -> body: 1 -> mb: I(ms)
        tyre -> wheel: 1 -> mw: I(mu)
        road: Sf(0.1*sin(10*time)) -> tyre: 0 -> node: 0 -> kt1: C(1/kt)
    }
    experiment drive of QuarterCar { stop = 5 [s]; rtol = 1e-9; record body.f as v }";
    let (first, second) = (found(CAR), found(other));
    for name in ["kt1", "mw", "mb", "k", "b", "road"] {
        let (a, b) = (joules(&first, name), joules(&second, name));
        assert!((a - b).abs() < 2e-5 * a, "{name}: {a} and {b}");
    }
    assert!((first.total - second.total).abs() < 2e-5 * first.total);
}

#[test]
fn the_wheel_of_a_quarter_car_is_left_out_first() {
    // Louca's quarter car: at low frequency wheel mass and tyre are the least active.
    let path = std::env::temp_dir().join(format!("paynter-reduce-{}.bond", std::process::id()));
    std::fs::write(&path, CAR).expect("the temporary folder can be written");
    let design = paynter::design(&path, &Choice::default()).expect("it has no errors");
    let found = activities(&design).expect("it runs");
    let order: Vec<&str> = found.elements.iter().map(|e| e.name.as_str()).collect();
    assert_eq!(order, ["k", "mb", "b", "kt1", "mw", "road"]);
    let proposal = reduce(&design, &found, 0.95, &Choice::default()).expect("the wheel can go");
    let _ = std::fs::remove_file(&path);
    let left_out: Vec<(&str, Change)> = proposal
        .left_out
        .iter()
        .map(|e| (e.name.as_str(), e.change))
        .collect();
    assert_eq!(left_out, [("mw", Change::Remove)]);
    assert!(proposal.text.contains("mw: Se(0)"));
    assert!(proposal.errors[0].worst < 0.03, "{:?}", proposal.errors);
}
