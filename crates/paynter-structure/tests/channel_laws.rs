//! Laws of channels: Mason's sum is the transfer function, exact degrees are those of the numbers, textbook answers come out.

mod kit;

use kit::{cases, design, random_graph, try_design};
use paynter::linear_algebra::{Complex, Response};
use paynter::symbolic::evaluate::evaluate;
use paynter::symbolic::{ExprId, Role, SymbolId};
use paynter_structure::{FlowGraph, Subject, ask, channels, flow_graph, mason};

/// The value of a gain at a real s.
fn value(flow: &FlowGraph, gain: ExprId, s: f64) -> f64 {
    let env = |symbol: SymbolId| match flow.dae.symbol(symbol).role {
        Role::Parameter { value, .. } => value,
        _ if symbol == flow.s => s,
        _ => 0.0,
    };
    evaluate(&flow.dae.pool, gain, &env).expect("gains have no external functions")
}

#[test]
fn mason_adds_up_to_the_transfer_function_on_random_trees() {
    let mut n_compared = 0;
    for seed in cases(150) {
        let graph = random_graph(seed, 0);
        let Ok(design) = try_design(&graph.text, &graph.from, &graph.to) else {
            continue;
        };
        let Ok(compiled) = design.compile() else {
            continue;
        };
        let subject = Subject::new(&design, ask(&design, None)).expect("inputs are sources");
        let linear = subject.linear(&compiled).expect("it is linear");
        let Ok(mut flow) = flow_graph(&subject) else {
            continue;
        };
        let Some(found) = mason(&mut flow, 0, 0) else {
            continue;
        };
        if found.loops.len() > 14 {
            continue;
        }
        for s in [0.7, 1.9] {
            let of = |e: ExprId| value(&flow, e, s);
            let paths: Vec<f64> = found.paths.iter().map(|w| of(w.gain)).collect();
            let loops: Vec<f64> = found.loops.iter().map(|w| of(w.gain)).collect();
            let sum = found.sum(&paths, &loops, 1.0).unwrap_or(0.0);
            let exact = Response::new(&linear.model.channel(0, 0))
                .at(Complex::new(s, 0.0))
                .re;
            let size = exact.abs().max(1e-6);
            assert!(
                (sum - exact).abs() < 1e-8 * size,
                "{sum} and {exact} at {s}\n{}",
                graph.text
            );
        }
        n_compared += 1;
    }
    assert!(n_compared > 80, "{n_compared}");
}

#[test]
fn exact_degrees_and_zeros_are_those_of_the_numbers() {
    let mut n_compared = 0;
    for seed in cases(200) {
        let graph = random_graph(seed, (seed % 2) as usize);
        let Ok(design) = try_design(&graph.text, &graph.from, &graph.to) else {
            continue;
        };
        let Ok(compiled) = design.compile() else {
            continue;
        };
        let subject = Subject::new(&design, ask(&design, None)).expect("inputs are sources");
        let found = channels(&subject, &compiled).expect("it has inputs and outputs");
        let n_states = subject
            .linear(&compiled)
            .expect("it is linear")
            .model
            .n_states();
        for channel in &found.channels {
            let (Some(degree), Ok(zeros)) = (channel.relative_degree, &channel.zeros) else {
                continue;
            };
            // Zeros of a channel come with those of what it does not pass.
            assert_eq!(
                zeros.len() as i64,
                n_states as i64 - degree,
                "{channel:?}\n{}",
                graph.text
            );
            if let Some((shortest, _)) = &channel.path {
                assert!(i64::from(*shortest) >= 0 && channel.order <= n_states);
            }
            n_compared += 1;
        }
    }
    assert!(n_compared > 150, "{n_compared}");
}

#[test]
fn a_motor_with_a_load_has_the_degrees_of_the_textbook() {
    // Voltage to current: 1. Voltage to speed: 2. Voltage to speed behind a shaft: 4.
    let text = "model Motor {
        param L = 1, R = 2, k = 3, J = 4, b = 5, c = 6, J2 = 7
        supply: Se(1) -> coil: 1 -> l: I(L), r: R(R)
        coil -> GY(k) -> rotor: 1 -> j: I(J), d: R(b)
        rotor -> shaft: 0 -> load: 1 -> j2: I(J2)
        shaft -> twist: C(1/c)
    }";
    let design = design(text, "supply.e", "coil.f, rotor.f, load.f");
    let compiled = design.compile().expect("it is regular");
    let subject = Subject::new(&design, ask(&design, None)).expect("one source");
    let found = channels(&subject, &compiled).expect("it has inputs and outputs");
    let degrees: Vec<Option<i64>> = found.channels.iter().map(|c| c.relative_degree).collect();
    assert_eq!(degrees, [Some(1), Some(2), Some(4)]);
    // Rotor and shaft spring against the load: s² J2/c + 1 for the speed of the rotor.
    let zeros = found.channels[1].zeros.as_ref().expect("it has numbers");
    assert_eq!(zeros.len(), 2);
    assert!((zeros[0].norm() - (6.0_f64 / 7.0).sqrt()).abs() < 1e-9 && zeros[0].re.abs() < 1e-9);
    assert!(!found.is_invertible());
}

#[test]
fn two_inputs_on_one_junction_are_not_decoupled() {
    let text = "model Two {
        a: Se(1) -> v: 1 -> m: I(1), r: R(1)
        b: Se(1) -> v
        v -> g: 0 -> c: C(1), s: R(2)
    }";
    let design = design(text, "a.e, b.e", "v.f, g.e");
    let compiled = design.compile().expect("it is regular");
    let subject = Subject::new(&design, ask(&design, None)).expect("two sources");
    let found = channels(&subject, &compiled).expect("it has inputs and outputs");
    assert_eq!((found.rank, found.is_decouplable), (1, Some(false)));
}

/// Sueur & Dauphin-Tanguy 1991: orders at infinity are those of the shortest disjoint causal paths, and outputs are decoupled by static
/// feedback if these are as short as the shortest path to each output alone. Lengths below are counted by hand: every storage on the
/// way is an integration.
#[test]
fn a_chain_of_masses_has_the_orders_of_its_disjoint_paths() {
    let text = "model Chain {
        push: Se(1) -> a: 1 -> ma: I(1), da: R(1)
        a -> ab: 0 -> kab: C(2)
        ab -> b: 1 -> mb: I(3), db: R(1)
        b -> bc: 0 -> kbc: C(4)
        bc -> c: 1 -> mc: I(5), dc: R(1)
        pull: Se(1) -> c
    }";
    for (outputs, infinite, shortest, is_decouplable) in [
        ("a.f, c.f", [1, 1], [1, 1], true),
        ("a.f, bc.e", [1, 2], [1, 2], true),
        ("a.f, b.f", [1, 3], [1, 3], true),
        // Both are near the push, but the way from there to the spring leads through the mass that the other output needs.
        ("a.f, ab.e", [1, 4], [1, 2], false),
        ("ab.e, bc.e", [2, 2], [2, 2], true),
        ("ab.e, b.f", [2, 3], [2, 3], true),
        ("b.f, bc.e", [2, 3], [3, 2], true),
    ] {
        let design = design(text, "push.e, pull.e", outputs);
        let compiled = design.compile().expect("it is regular");
        let subject = Subject::new(&design, ask(&design, None)).expect("two sources");
        let found = channels(&subject, &compiled).expect("it has inputs and outputs");
        assert_eq!(found.infinite, infinite, "{outputs}");
        assert_eq!(found.row_degrees, shortest.map(Some), "{outputs}");
        assert_eq!(found.is_decouplable, Some(is_decouplable), "{outputs}");
        // What the states do not spend on the way is a finite zero.
        let n_zeros = 5 - infinite.iter().sum::<usize>();
        assert_eq!(found.n_zeros, Some(n_zeros), "{outputs}");
        for (channel, path) in found
            .channels
            .iter()
            .filter_map(|c| Some((c, c.path.as_ref()?)))
        {
            assert_eq!(
                channel.relative_degree,
                Some(i64::from(path.0)),
                "{outputs}"
            );
        }
    }
}
