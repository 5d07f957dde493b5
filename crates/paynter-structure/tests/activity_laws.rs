//! Laws of activity: closed forms, rewriting changes nothing, and what is left out is what moved little.

mod kit;

use kit::{Dice, cases, design, random_graph, try_design};
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
            (joules(&found, name) - 2.0).abs() < 1e-9,
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
    let expected = 36.0 * (1.0 - (-20.0_f64).exp());
    assert!((joules(&found, "r") - expected).abs() < 1e-8);
    assert!((joules(&found, "c") - expected).abs() < 1e-8);
}

/// The quarter car above with steps as long as its tolerance allows. Reference: DOP853 at 1e-13 (SciPy 1.17), each power integrated between
/// its zeros by Gauss's rule with 12 points.
#[test]
fn corners_of_a_size_cost_nothing_of_the_tolerance() {
    let expected = [
        ("kt1", 15.319_739_815_905),
        ("mw", 4.763_240_142_273),
        ("mb", 122.365_317_755_961),
        ("k", 146.290_455_265_517),
        ("b", 84.395_825_955_658),
        ("road", 95.001_582_936_538),
    ];
    for (settings, allowed) in [
        ("rtol = 1e-6", 1e-6),
        ("rtol = 1e-8", 1e-9),
        ("rtol = 1e-8; method = rodas5p", 1e-8),
        ("rtol = 1e-8; method = bdf", 1e-6),
    ] {
        let found = found(&CAR.replace("rtol = 1e-9", settings));
        for (name, value) in expected {
            let far = (joules(&found, name) - value).abs();
            assert!(far < allowed * 373.0, "{name} with {settings}: {far:e}");
        }
    }
}

/// Peaks between the points of the output, means and root mean squares: v = 3 sin 2t through 4 Ω.
#[test]
fn what_a_bond_carries_is_that_of_the_formula() {
    let text = "model M { s: Se(3*sin(2*time)) -> v: 1 -> r: R(4) }
    experiment e of M { stop = 3.141592653589793 [s]; output_step = 1 [s]; record v.f }";
    let found = found(text);
    let load = found
        .bonds
        .iter()
        .find(|b| b.name.ends_with("r"))
        .expect("a bond");
    let near = |x: f64, y: f64| (x - y).abs() < 1e-9;
    assert!(near(load.peak.0, 2.25) && load.peak.1 < 1e-12, "{load:?}");
    assert!(
        near(load.mean, 1.125) && near(load.joules, 1.125 * std::f64::consts::PI),
        "{load:?}"
    );
    assert!(
        near(load.effort, 4.5_f64.sqrt()) && near(load.flow, 4.5_f64.sqrt() / 4.0),
        "{load:?}"
    );
}

/// Where nothing moves, resistors and storages are no sources.
#[test]
fn a_model_at_rest_moves_nothing() {
    let text = "model M { v: 1 -> m: I(1), r: R(1) }
    experiment e of M { stop = 1 [s]; record v.f }";
    let found = found(text);
    assert_eq!(found.total, 0.0);
    assert!(found.elements.iter().all(|e| e.share == Some(0.0)));
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
        assert!((a - b).abs() < 1e-8 * a, "{name}: {a} and {b}");
    }
    assert!((first.total - second.total).abs() < 1e-8 * first.total);
}

/// The same graph in other words: elements behind a junction of their own, transformers there and back in bonds.
fn reworded(text: &str, dice: &mut Dice) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let parts: Vec<&str> = line.trim().split(" -> ").collect();
        lines.push(match parts[..] {
            // `j2: 1 -> a2: C(3)`
            [junction, own] if junction.contains(": ") && own.contains(": ") => {
                let (name, kind) = junction.split_once(": ").expect("it has a kind");
                match kind {
                    "0" | "1" => format!("{junction}\n{name} -> own_{name}: {kind} -> {own}"),
                    _ => line.to_owned(),
                }
            }
            [from, to] if !from.contains(": ") && !to.contains(": ") => {
                let ratio = 0.5 + dice.below(7) as f64;
                let name = format!("mid{}", lines.len());
                format!("{from} -> TF({ratio}) -> {name}: 1 -> TF(1/{ratio}) -> {to}")
            }
            _ => line.to_owned(),
        });
    }
    lines.join("\n")
}

#[test]
fn rewording_random_graphs_does_not_change_what_their_elements_move() {
    let mut n_compared = 0;
    for seed in cases(60) {
        let graph = random_graph(seed, (seed % 2) as usize);
        // From rest: storages that depend on each other then begin at zero, whichever of them is the state.
        let text = graph.text.replace("(1) -> j", "(sin(3*time)) -> j");
        let experiment = "\nexperiment e of M { stop = 4 [s]; rtol = 1e-10; record a0.e }";
        let other = reworded(&text, &mut Dice(seed));
        let pair = [text, other].map(|t| t + experiment);
        let Ok(design) = try_design(&pair[0], "", "") else {
            continue;
        };
        let Ok(first) = activities(&design) else {
            continue;
        };
        let second = found(&pair[1]);
        let apart = (first.total - second.total).abs();
        assert!(
            apart <= 1e-8 * first.total,
            "seed {seed}: {} and {}\n{}\n{}",
            first.total,
            second.total,
            pair[0],
            pair[1]
        );
        for element in &first.elements {
            let b = joules(&second, &element.name);
            assert!(
                (element.joules - b).abs() <= 1e-8 * first.total,
                "seed {seed}, {}: {} and {b}\n{}\n{}",
                element.name,
                element.joules,
                pair[0],
                pair[1]
            );
        }
        n_compared += 1;
    }
    assert!(n_compared > 25, "{n_compared}");
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

const HALF_CAR: &str = "model HalfCar {
    param M = 1100, J = 1600, a = 1.1, c = 1.5, mf = 45, mr = 40, kf = 20e3, kr = 22e3, bf = 1100, br = 1200, tf = 190e3, tr = 190e3
    front: Sf(0.3*sin(7*time)) -> n1: 0 -> tyre_f: C(1/tf)
    rear: Sf(0.3*sin(7*time - 1.2)) -> n2: 0 -> tyre_r: C(1/tr)
    n1 -> wf: 1 -> hub_f: I(mf)
    n2 -> wr: 1 -> hub_r: I(mr)
    wf -> gf: 0 -> leg_f: 1 -> spring_f: C(1/kf), damper_f: R(bf)
    wr -> gr: 0 -> leg_r: 1 -> spring_r: C(1/kr), damper_r: R(br)
    heave: 1 -> mass: I(M)
    pitch: 1 -> inertia: I(J)
    gf -> heave
    gr -> heave
    gf -> TF(1/a) -> pitch
    pitch -> TF(c) -> gr
}
experiment drive of HalfCar { stop = 4 [s]; rtol = 1e-10; record heave.f as v }
";

/// Louca's half car: heave and pitch on two axles. ∫|P| of every element, by Runge–Kutta steps of the equations written by hand.
#[test]
fn the_activities_of_a_half_car_are_those_of_its_equations() {
    let found = found(HALF_CAR);
    let (m, j, a, c) = (1100.0, 1600.0, 1.1, 1.5);
    let (mf, mr, kf, kr, bf, br, t) = (45.0, 40.0, 20e3, 22e3, 1100.0, 1200.0, 190e3);
    // Heave, pitch, front and rear wheel; deflections of tyres and springs.
    let powers = |time: f64, s: &[f64; 8]| {
        let [v, w, vf, vr, xf, xr, qf, qr] = *s;
        let (front, rear) = (0.3 * (7.0 * time).sin(), 0.3 * (7.0 * time - 1.2).sin());
        // Body above the axles: heave plus pitch in front, less behind.
        let (lf, lr) = (vf - v - a * w, vr - v + c * w);
        let (ff, fr) = (kf * qf + bf * lf, kr * qr + br * lr);
        let (dv, dw) = ((ff + fr) / m, (a * ff - c * fr) / j);
        let (dvf, dvr) = ((t * xf - ff) / mf, (t * xr - fr) / mr);
        let rates = [dv, dw, dvf, dvr, front - vf, rear - vr, lf, lr];
        let power = [
            ("mass", m * dv * v),
            ("inertia", j * dw * w),
            ("hub_f", mf * dvf * vf),
            ("hub_r", mr * dvr * vr),
            ("tyre_f", t * xf * (front - vf)),
            ("tyre_r", t * xr * (rear - vr)),
            ("spring_f", kf * qf * lf),
            ("spring_r", kr * qr * lr),
            ("damper_f", bf * lf * lf),
            ("damper_r", br * lr * lr),
        ];
        (rates, power)
    };
    let (n, mut s, mut sums) = (40_000, [0.0; 8], [0.0; 10]);
    let h = 4.0 / f64::from(n);
    let moved = |s: &[f64; 8], k: &[f64; 8], h: f64| std::array::from_fn(|i| s[i] + h * k[i]);
    for step in 0..n {
        let time = h * f64::from(step);
        let (k1, p1) = powers(time, &s);
        let (k2, p2) = powers(time + h / 2.0, &moved(&s, &k1, h / 2.0));
        let (k3, _) = powers(time + h / 2.0, &moved(&s, &k2, h / 2.0));
        let (k4, _) = powers(time + h, &moved(&s, &k3, h));
        s = std::array::from_fn(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        let (_, p3) = powers(time + h, &s);
        for (i, sum) in sums.iter_mut().enumerate() {
            // Simpson's rule; the corners of |P| cost a part of h² each.
            *sum += h / 6.0 * (p1[i].1.abs() + 4.0 * p2[i].1.abs() + p3[i].1.abs());
        }
    }
    let names = powers(0.0, &s).1.map(|p| p.0);
    let total: f64 = sums.iter().sum();
    for (name, sum) in names.iter().zip(sums) {
        let value = joules(&found, name);
        assert!(
            (value - sum).abs() < 1e-6 * total,
            "{name}: {value} J, {sum} J by hand"
        );
    }
    // At this road the wheels move least, as Louca found at low frequency.
    let least: Vec<&str> = found
        .elements
        .iter()
        .filter(|e| e.share.is_some())
        .rev()
        .take(2)
        .map(|e| e.name.as_str())
        .collect();
    assert!(
        least.contains(&"hub_f") && least.contains(&"hub_r"),
        "{least:?}"
    );
}
