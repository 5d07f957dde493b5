//! Rings of junctions, double bonds and gyrators, against the equations written down densely.
//!
//! In:  random graphs of junctions, transformers, gyrators and one-ports, with loops of all sorts.
//! Out: paynter's verdict is that of the rank of the pencil s E + A; trajectories are those of an independent
//!      integrator of the descriptor form; what is called undetermined is the null space.
//!
//! `PAYNTER_RINGS=first,count` runs other seeds: `PAYNTER_RINGS=1000,10000`.

use crate::dense::{Factors, Matrix, integrate, null_space, pencil, transposed};
use crate::kit::{self, Seeded, last, messages, run_design, try_design};
use paynter::exec::Engine;
use paynter::simulate::Ending;
use paynter::syntax::render;

/// What stands at the end of a bond.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Zero,
    One,
    Se(f64, f64),
    Sf(f64, f64),
    R(f64),
    C(f64),
    I(f64),
    Tf(f64),
    Gy(f64),
}

/// A bond graph as lists: elements with their names, bonds with (element, element).
#[derive(Default)]
struct Graph {
    elements: Vec<(String, Kind)>,
    bonds: Vec<(usize, usize)>,
    /// Bonds in the form of the text.
    lines: Vec<String>,
}

/// A modulus: often one of a few numbers, so that products and differences come out even.
fn modulus(random: &mut Seeded) -> f64 {
    match random.below(3) {
        0 => [0.5, 1.0, 2.0][random.below(3)],
        _ => (1000.0 * random.between(0.5, 2.0)).round() / 1000.0,
    }
}

fn random_graph(seed: u64) -> Graph {
    let mut random = Seeded(seed);
    let mut graph = Graph::default();
    let n_junctions = 2 + random.below(4);
    for k in 0..n_junctions {
        let kind = [Kind::Zero, Kind::One][random.below(2)];
        graph.elements.push((format!("j{k}"), kind));
    }
    let n_links = n_junctions - 1 + random.below(5);
    for k in 0..n_links {
        // A tree first, then links that close loops.
        let (mut a, mut b) = match k + 1 < n_junctions {
            true => (random.below(k + 1), k + 1),
            false => (random.below(n_junctions), random.below(n_junctions)),
        };
        if a == b {
            continue;
        }
        if random.below(2) == 0 {
            (a, b) = (b, a);
        }
        let m = modulus(&mut random);
        match random.below(4) {
            0 => graph.link(a, Some(Kind::Gy(m)), b),
            1 => graph.link(a, Some(Kind::Tf(m)), b),
            _ => graph.link(a, None, b),
        }
    }
    for _ in 0..2 + random.below(4) {
        let (m, w) = (modulus(&mut random), random.between(0.5, 2.0));
        let kind = [
            Kind::Se(m, w),
            Kind::Sf(m, w),
            Kind::R(m),
            Kind::R(m),
            Kind::C(m),
            Kind::I(m),
            Kind::C(m),
            Kind::I(m),
        ];
        graph.attach(random.below(n_junctions), kind[random.below(8)]);
    }
    graph
}

impl Graph {
    fn link(&mut self, a: usize, by: Option<Kind>, b: usize) {
        let [from, to] = [a, b].map(|j| self.elements[j].0.clone());
        let Some(kind) = by else {
            self.bonds.push((a, b));
            self.lines.push(format!("{from} -> {to}"));
            return;
        };
        let id = self.elements.len();
        let name = format!("t{id}");
        let written = match kind {
            Kind::Tf(m) => format!("TF({m})"),
            Kind::Gy(m) => format!("GY({m})"),
            _ => unreachable!("a link is a transformer or a gyrator"),
        };
        self.lines
            .push(format!("{from} -> {name}: {written} -> {to}"));
        self.elements.push((name, kind));
        self.bonds.extend([(a, id), (id, b)]);
    }

    fn attach(&mut self, junction: usize, kind: Kind) {
        let id = self.elements.len();
        let (name, at) = (format!("p{id}"), self.elements[junction].0.clone());
        // Smooth from rest: value and three derivatives are zero at the start.
        let source = |m: f64, w: f64| format!("{m}*(1 - cos({w}*time))^2");
        let line = match kind {
            Kind::Se(m, w) => format!("{name}: Se({}) -> {at}", source(m, w)),
            Kind::Sf(m, w) => format!("{name}: Sf({}) -> {at}", source(m, w)),
            Kind::R(m) => format!("{at} -> {name}: R({m})"),
            Kind::C(m) => format!("{at} -> {name}: C({m})"),
            Kind::I(m) => format!("{at} -> {name}: I({m})"),
            _ => unreachable!("a one-port is attached"),
        };
        let is_source = matches!(kind, Kind::Se(..) | Kind::Sf(..));
        self.bonds.push(if is_source {
            (id, junction)
        } else {
            (junction, id)
        });
        self.elements.push((name, kind));
        self.lines.push(line);
    }

    fn one_ports(&self) -> impl Iterator<Item = usize> + '_ {
        let is_one_port =
            |k: Kind| !matches!(k, Kind::Zero | Kind::One | Kind::Tf(_) | Kind::Gy(_));
        (0..self.elements.len()).filter(move |&e| is_one_port(self.elements[e].1))
    }

    fn text(&self) -> String {
        let mut text = String::from("model M {\n");
        for (name, kind) in &self.elements {
            match kind {
                Kind::Zero => text += &format!("    {name}: 0\n"),
                Kind::One => text += &format!("    {name}: 1\n"),
                _ => {}
            }
        }
        self.lines
            .iter()
            .for_each(|line| text += &format!("    {line}\n"));
        let recorded: Vec<String> = self
            .one_ports()
            .flat_map(|e| ["e", "f"].map(|v| format!("{}.{v}", self.elements[e].0)))
            .collect();
        text + &format!(
            "}}\nexperiment x of M {{ stop = {STOP}; rtol = 1e-11; atol = 1e-12; record {} }}\n",
            recorded.join(", ")
        )
    }

    /// Writes E ẋ + A x = b(t): efforts and flows of bonds, then charges and momenta.
    fn descriptor(&self) -> Descriptor {
        let n = 2 * self.bonds.len() + self.one_ports().filter(|&e| self.is_storage(e)).count();
        let mut d = Descriptor::new(n);
        let mut state = 2 * self.bonds.len();
        for e in 0..self.elements.len() {
            let ports: Vec<(usize, f64)> = (0..self.bonds.len())
                .flat_map(|b| {
                    let (tail, head) = self.bonds[b];
                    [
                        (tail == e).then_some((b, -1.0)),
                        (head == e).then_some((b, 1.0)),
                    ]
                })
                .flatten()
                .collect();
            match self.elements[e].1 {
                Kind::Zero => junction(&mut d, &ports, effort, flow),
                Kind::One => junction(&mut d, &ports, flow, effort),
                Kind::Se(m, w) => d.source(effort(ports[0].0), m, w),
                Kind::Sf(m, w) => d.source(flow(ports[0].0), m, w),
                Kind::R(m) => d.row(&[(effort(ports[0].0), 1.0), (flow(ports[0].0), -m)]),
                Kind::C(m) => d.storage(&mut state, (flow(ports[0].0), effort(ports[0].0)), m),
                Kind::I(m) => d.storage(&mut state, (effort(ports[0].0), flow(ports[0].0)), m),
                Kind::Tf(m) => {
                    let (one, two) = (ports[0].0, ports[1].0);
                    d.row(&[(flow(two), 1.0), (flow(one), -m)]);
                    d.row(&[(effort(one), 1.0), (effort(two), -m)]);
                }
                Kind::Gy(m) => {
                    let (one, two) = (ports[0].0, ports[1].0);
                    d.row(&[(effort(one), 1.0), (flow(two), -m)]);
                    d.row(&[(effort(two), 1.0), (flow(one), -m)]);
                }
            }
        }
        assert_eq!(d.a.len(), n);
        d
    }

    fn is_storage(&self, e: usize) -> bool {
        matches!(self.elements[e].1, Kind::C(_) | Kind::I(_))
    }

    /// Columns of the variables that one-ports have: what an engineer looks at.
    fn outer_columns(&self) -> Vec<(String, usize)> {
        let bond_of = |e: usize| {
            self.bonds
                .iter()
                .position(|&(a, b)| a == e || b == e)
                .expect("it has a bond")
        };
        self.one_ports()
            .flat_map(|e| {
                let (name, b) = (&self.elements[e].0, bond_of(e));
                [
                    (format!("{name}.e"), effort(b)),
                    (format!("{name}.f"), flow(b)),
                ]
            })
            .collect()
    }
}

fn effort(bond: usize) -> usize {
    2 * bond
}

fn flow(bond: usize) -> usize {
    2 * bond + 1
}

fn junction(
    d: &mut Descriptor,
    ports: &[(usize, f64)],
    shared: fn(usize) -> usize,
    summed: fn(usize) -> usize,
) {
    for pair in ports.windows(2) {
        d.row(&[(shared(pair[0].0), 1.0), (shared(pair[1].0), -1.0)]);
    }
    let sum: Vec<(usize, f64)> = ports.iter().map(|&(b, sign)| (summed(b), sign)).collect();
    d.row(&sum);
}

struct Descriptor {
    n: usize,
    e: Matrix,
    a: Matrix,
    /// (row, size, angular frequency)
    sources: Vec<(usize, f64, f64)>,
    /// Rows through which sources and start values act.
    inputs: Vec<usize>,
}

impl Descriptor {
    fn new(n: usize) -> Self {
        Descriptor {
            n,
            e: Vec::new(),
            a: Vec::new(),
            sources: Vec::new(),
            inputs: Vec::new(),
        }
    }

    fn row(&mut self, entries: &[(usize, f64)]) {
        let mut row = vec![0.0; self.n];
        entries.iter().for_each(|&(j, value)| row[j] += value);
        self.a.push(row);
        self.e.push(vec![0.0; self.n]);
    }

    fn source(&mut self, column: usize, m: f64, w: f64) {
        self.sources.push((self.a.len(), m, w));
        self.inputs.push(self.a.len());
        self.row(&[(column, 1.0)]);
    }

    /// x' = rate, x = m answer.
    fn storage(&mut self, state: &mut usize, (rate, answer): (usize, usize), m: f64) {
        self.inputs.push(self.a.len());
        self.row(&[(rate, -1.0)]);
        self.e.last_mut().expect("just pushed")[*state] = 1.0;
        self.row(&[(*state, 1.0), (answer, -m)]);
        *state += 1;
    }

    fn given(&self, t: f64, n: usize) -> Vec<f64> {
        let mut b = vec![0.0; n];
        for &(row, m, w) in &self.sources {
            b[row] = m * (1.0 - (w * t).cos()).powi(2);
        }
        b
    }

    /// Adds unknowns and rows that make a singular system regular without changing what is determined.
    fn bordered(&self, null: &[Vec<f64>], left: &[Vec<f64>]) -> (Matrix, Matrix) {
        let k = null.len();
        let (mut e, mut a) = (self.e.clone(), self.a.clone());
        for (i, row) in a.iter_mut().enumerate() {
            row.extend(left.iter().map(|l| l[i]));
        }
        e.iter_mut().for_each(|row| row.extend(vec![0.0; k]));
        for vector in null {
            let mut row = vector.clone();
            row.extend(vec![0.0; k]);
            a.push(row);
            e.push(vec![0.0; self.n + k]);
        }
        (e, a)
    }
}

const STOP: f64 = 1.5;
/// Some place off the real spectrum of everything made here.
const PLACE: f64 = 1.618_034;
/// Agreement asked for, of motions of about size 1.
const ALLOWED: f64 = 1e-8;

/// What became of the graphs.
#[derive(Debug, Default)]
struct Count {
    regular: usize,
    singular: usize,
    held: usize,
    shared: usize,
}

fn check(seed: u64, count: &mut Count) {
    let graph = random_graph(seed);
    let text = graph.text();
    let d = graph.descriptor();
    let (_, null) = null_space(pencil(&d.e, &d.a, PLACE));
    let show = |what: &str| format!("seed {seed}: {what}\n{text}");

    let design = match try_design(&text) {
        Ok(design) => design,
        Err(f) => panic!(
            "{}\n{}",
            show("no design"),
            render(&f.diagnostics, &f.sources, false)
        ),
    };
    let told = match design.compile() {
        Ok(compiled) => compiled.warnings,
        Err(refused) => {
            let said = render(&refused, &design.project.sources, false);
            assert_is_true(&graph, &said, &show(&said));
            if refused.iter().all(|m| m.code == "E0609") {
                count.held += 1;
                assert!(!null.is_empty() || has_dead_variable(&d), "{}", show(&said));
            } else {
                count.singular += 1;
                assert!(
                    !null.is_empty(),
                    "{}",
                    show(&format!("refused though regular: {said}"))
                );
            }
            return;
        }
    };
    let n_open = told.iter().filter(|m| m.code == "W0610").count();
    assert_eq!(n_open, null.len(), "{}", show("undetermined shares"));
    if null.is_empty() {
        count.regular += 1;
    } else {
        count.shared += 1;
    }
    let (_, left) = null_space(transposed(&pencil(&d.e, &d.a, PLACE)));
    for (name, column) in graph.outer_columns() {
        assert!(
            null.iter().all(|x| x[column].abs() < 1e-8),
            "{}",
            show(&format!("{name} is not determined"))
        );
    }
    compare(&design, &graph, &d.bordered(&null, &left), &d, &show);
}

/// No message speaks of two sources where there is one.
fn assert_is_true(graph: &Graph, said: &str, show: &str) {
    let n_sources = graph
        .one_ports()
        .filter(|&e| matches!(graph.elements[e].1, Kind::Se(..) | Kind::Sf(..)))
        .count();
    assert!(!said.contains("two sources") || n_sources >= 2, "{show}");
}

/// Tells whether some effort or flow answers to no source and no start value at all.
fn has_dead_variable(d: &Descriptor) -> bool {
    let factors = Factors::new(pencil(&d.e, &d.a, PLACE));
    let answers: Vec<Vec<f64>> = d
        .inputs
        .iter()
        .map(|&row| {
            let mut b = vec![0.0; d.n];
            b[row] = 1.0;
            factors.solve(&b)
        })
        .collect();
    (0..d.n).any(|j| answers.iter().all(|x| x[j].abs() < 1e-10))
}

fn compare(
    design: &paynter::Design,
    graph: &Graph,
    (e, a): &(Matrix, Matrix),
    d: &Descriptor,
    show: &dyn Fn(&str) -> String,
) {
    let outcome = run_design(design, Engine::Auto)
        .unwrap_or_else(|m| panic!("{}", show(&render(&m, &design.project.sources, false))));
    if let Ending::Failed {
        why: diagnostics, ..
    } = &outcome.run.ending
    {
        panic!(
            "{}",
            show(&render(diagnostics, &design.project.sources, false))
        );
    }
    let n = e.len();
    let x = integrate(e, a, &|t| d.given(t, n), STOP, 150);
    for (name, column) in graph.outer_columns() {
        let (here, there) = (last(&outcome, &name), x[column]);
        assert!(
            (here - there).abs() <= ALLOWED * (1.0 + there.abs()),
            "{}",
            show(&format!("{name} is {here}, should be {there}"))
        );
    }
}

#[test]
fn verdicts_and_trajectories_are_those_of_the_dense_pencil() {
    let asked = std::env::var("PAYNTER_RINGS").unwrap_or_default();
    let numbers: Vec<u64> = asked.split(',').filter_map(|n| n.parse().ok()).collect();
    let (first, n) = match numbers[..] {
        [first, n] => (first, n),
        _ => (0, 400),
    };
    let mut count = Count::default();
    for seed in first..first + n {
        check(seed, &mut count);
    }
    println!("{count:?}");
    // The law is worth something only if all kinds occur.
    assert!(count.regular * 4 > n as usize, "{count:?}");
    assert!(count.singular * 50 > n as usize, "{count:?}");
    assert!(count.held * 200 > n as usize, "{count:?}");
    assert!(count.shared * 50 > n as usize, "{count:?}");
}

/// The value after a run, of a model that must run.
fn final_value(text: &str, name: &str) -> f64 {
    last(&kit::run_text(text), name)
}

#[test]
fn gyrators_between_joined_junctions_cancel() {
    // i1.f = 3 sin(t/2) whatever the gyrator does, so i1.e = 4 · 1.5 cos(t/2).
    for gyrators in [
        "j0 -> GY(0.5) -> j1",
        "j0 -> GY(r) -> j1",
        "j0 -> GY(r) -> j1\nj0 -> GY(2*r) -> j1",
        "j0 -> GY(1.5 + sin(time)) -> j1",
    ] {
        let text = format!(
            "model M {{
                param r = 0.7
                j0: 0 -> i1: I(4)
                j1: 0
                Sf(3*sin(0.5*time)) -> j0
                {gyrators}
                j0 -> j1
            }}
            experiment x of M {{ stop = 2; rtol = 1e-10; record i1.e, i1.f }}"
        );
        kit::assert_close(final_value(&text, "i1.f"), 3.0 * 1.0_f64.sin(), 1e-8);
        kit::assert_close(final_value(&text, "i1.e"), 6.0 * 1.0_f64.cos(), 1e-7);
    }
}

#[test]
fn two_ways_between_the_same_junctions_run_and_are_reported() {
    for ways in [
        "n1 -> n2\nn1 -> n2",
        "n1 -> x: 1 -> n2\nn1 -> y: 1 -> n2",
        "n1 -> n2\nn1 -> x: 1 -> n2\nn2 -> n1",
    ] {
        let text = format!(
            "model M {{
                n1: 0
                n2: 0 -> r: R(2)
                s: Se(3) -> n1
                {ways}
            }}
            experiment x of M {{ stop = 1; record s.f, r.f, r.e }}"
        );
        assert_eq!(final_value(&text, "r.f"), 1.5);
        assert_eq!(final_value(&text, "s.f"), 1.5);
    }
}

#[test]
fn ways_with_opposite_arrows_hold_the_effort_at_zero_and_say_nothing_of_two_sources() {
    let (found, text) = messages(
        "model M {
            s: Se(1) -> n1: 0
            n2: 0 -> r: R(1)
            n1 -> x: 1 -> n2
            n1 -> y: 1
            n2 -> y
        }
        experiment x of M { stop = 1; record r.f }",
    );
    assert!(!found.is_empty());
    assert!(!text.contains("two sources"), "{text}");
}
