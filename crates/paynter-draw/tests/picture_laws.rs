//! Laws of drawings: nothing covers anything, strokes can be told apart, and everything is drawn once, in its part.
//!
//! On the whole gallery, on models made of library parts, and on random graphs with a fixed seed.

use paynter_draw::diagram::{
    Diagram, DiagramOptions, Faults, NodeKind, Parts, Strokes, diagram, to_svg,
};
use paynter_model::causality::assign_causality;
use paynter_model::elaborate::elaborate;
use paynter_model::graph::{BondGraph, ElementId};
use paynter_model::project::{Loader, Project, Request, load};
use paynter_symbolic::{Names, PathId};
use paynter_syntax::ast::ItemKind;
use std::path::{Path, PathBuf};

/// Reads files beside the model, and the library.
struct Disk;

impl Loader for Disk {
    fn library(&mut self, name: &str) -> Option<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
        std::fs::read_to_string(folder.join(format!("{name}.bond"))).ok()
    }

    fn file(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        let file = Path::new(from.unwrap_or_default()).with_file_name(path);
        let file = file.canonicalize().map_err(|e| e.to_string())?;
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string())?;
        Ok((file.to_string_lossy().into_owned(), text))
    }
}

fn models(project: &Project) -> Vec<(String, BondGraph)> {
    let mut graphs = Vec::new();
    for item in &project.files[0].ast.items {
        let ItemKind::Model(model) = &item.kind else {
            continue;
        };
        let request = Request {
            model: Some(model.name.text.to_string()),
            ..Request::default()
        };
        if let Some(elaborated) = elaborate(project, &request).elaborated {
            graphs.push((model.name.text.to_string(), elaborated.into_graph()));
        }
    }
    graphs
}

/// The last model of a text; none if the text makes no sense.
fn graph(text: &str) -> Option<BondGraph> {
    let (project, _) = load("test.bond", text, &mut Disk);
    let request = Request::default();
    let elaborated = elaborate(&project, &request).elaborated;
    elaborated.map(|e| e.into_graph())
}

/// Every model of the gallery that stands by itself, with its name.
fn gallery() -> Vec<(String, BondGraph)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let folders = std::fs::read_dir(root).expect("the gallery is beside the crates");
    let inside = folders
        .flatten()
        .filter_map(|f| std::fs::read_dir(f.path()).ok());
    let mut files: Vec<PathBuf> = inside.flatten().flatten().map(|f| f.path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "bond"));
    files.sort();
    let mut graphs = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a gallery file is text");
        let (project, _) = load(&file.to_string_lossy(), &text, &mut Disk);
        graphs.extend(models(&project));
    }
    graphs
}

/// Models made of library parts: unnamed transformers, composite ports, parts inside parts.
const LIBRARY_MODELS: [&str; 5] = [
    "use rotational: Inertia, Gear, TorqueSource, TorsionSpring
    model Drive {
        push: TorqueSource(T = 1 [N*m])
        motor: Inertia(J = 1 [kg*m^2])
        gear: Gear(ratio = 10)
        shaft: TorsionSpring(k = 500 [N*m/rad])
        load: Inertia(J = 2 [kg*m^2])
        push -> motor -> gear -> shaft -> load
    }",
    "use hydraulic: FlowSource, Accumulator, Orifice, Cylinder, Volume, Reservoir, CheckValve
    use translational: Mass, ForceSource
    model Lift {
        input y = 0
        pump: FlowSource(Q = 12 [l/min])
        acc: Accumulator(V0 = 1 [l], p0 = 60 [bar], n = 1.3)
        relief: CheckValve(crack = 160 [bar], G = 2e-11 [m^3/(s*Pa)])
        pa: Orifice(A = 6 [mm^2], rho = 870 [kg/m^3], opening = max(y, 0))
        bt: Orifice(A = 6 [mm^2], rho = 870 [kg/m^3], opening = max(y, 0))
        va: Volume(V = 0.3 [l], beta = 1.2 [GPa])
        vb: Volume(V = 0.3 [l], beta = 1.2 [GPa])
        cyl: Cylinder(A1 = 12 [cm^2], A2 = 8 [cm^2], m = 250 [kg], d = 800 [N*s/m])
        load: ForceSource(F = -5 [kN])
        tank: Reservoir()
        pump -> acc
        acc -> relief -> tank
        acc -> pa -> va -> cyl -> vb -> bt -> tank
        load -> cyl.rod
    }",
    "use mechanics2d: Ground, Bar, Pin
    units strict
    model Double {
        param m = 1 [kg], l = 0.5 [m], g = 9.81 [m/s^2]
        ground: Ground()
        upper: Bar(m = m, l = l)
        lower: Bar(m = m, l = l)
        ground.fixed => top: Pin => upper.a
        upper.b => elbow: Pin => lower.a
        w1: Se[2]([0, -m*g]) => upper.v
        w2: Se[2]([0, -m*g]) => lower.v
    }",
    "use rotational: Inertia, Gear, TorqueSource
    model Stage { port a: rotational, b: rotational \\n g1: Gear(ratio = 2) \\n g2: Gear(ratio = 3) \\n a -> g1 -> w: 1 -> i: I(1) \\n w -> g2 -> b }
    model Train {
        push: TorqueSource(T = 1 [N*m])
        first: Stage()
        second: Stage()
        load: Inertia(J = 2 [kg*m^2])
        push -> first -> second -> load
    }",
    "use rotational: Inertia, Gear, TorqueSource, TorsionSpring
    model Long {
        push: TorqueSource(T = 1 [N*m])
        g1: Gear(ratio = 2)
        s1: TorsionSpring(k = 5 [N*m/rad])
        j1: Inertia(J = 1 [kg*m^2])
        g2: Gear(ratio = 2)
        s2: TorsionSpring(k = 5 [N*m/rad])
        j2: Inertia(J = 1 [kg*m^2])
        push -> j1 -> g1 -> s1 -> j2 -> g2 -> s2 -> end: 1 -> r: R(1 [N*m*s/rad])
    }",
];

fn library_models() -> Vec<(String, BondGraph)> {
    let text = |t: &&str| t.replace("\\n", "\n");
    let graph = |t: &&str| graph(&text(t)).unwrap_or_else(|| panic!("not a model: {t}"));
    LIBRARY_MODELS
        .iter()
        .enumerate()
        .map(|(k, t)| (format!("library model {k}"), graph(t)))
        .collect()
}

fn drawn(graph: &BondGraph, parts: Parts) -> Diagram {
    let options = DiagramOptions {
        parts,
        ..DiagramOptions::default()
    };
    diagram(graph, Some(&assign_causality(graph)), &options)
}

/// Names of the parts that an element stands in, outermost first.
fn parts_of(graph: &BondGraph, element: ElementId) -> Vec<String> {
    let names = &graph.signals.names;
    let part = graph.element(element).part;
    let up = |p: &PathId| names.parent(*p);
    let mut chain: Vec<String> = std::iter::successors(Some(part), up)
        .filter(|&p| p != Names::ROOT)
        .map(|p| match names.last(p) {
            (text, None) => text.to_owned(),
            (text, Some(i)) => format!("{text}[{i}]"),
        })
        .collect();
    chain.reverse();
    chain
}

/// Every element is in exactly one node, and that node is in the frames, or is the box, of its part.
fn check_parts(name: &str, graph: &BondGraph, drawing: &Diagram) {
    if drawing.nodes.iter().any(|n| n.kind == NodeKind::Many) {
        return;
    }
    let mut times = vec![0; graph.elements.len()];
    for (k, node) in drawing.nodes.iter().enumerate() {
        let around = drawing.frames.iter().filter(|f| f.nodes.contains(&k));
        let around: Vec<&str> = around.map(|f| f.name.as_str()).collect();
        for &element in &node.elements {
            times[element.0 as usize] += 1;
            let mut expected = parts_of(graph, element);
            if node.kind == NodeKind::Closed {
                expected.truncate(around.len() + 1);
                assert_eq!(
                    expected.pop().as_deref(),
                    Some(node.text.as_str()),
                    "{name}"
                );
            }
            assert_eq!(around, expected, "{name}: {}", node.text);
        }
    }
    assert!(times.iter().all(|&n| n == 1), "{name}: {times:?}");
}

/// A stroke of the picture is square to its bond, with its middle at the bond's very end.
fn check_stroke_places(name: &str, drawing: &Diagram) {
    let svg = to_svg(drawing);
    let mut strokes = svg.lines().filter(|l| l.contains(" stroke at-"));
    for line in &drawing.bonds {
        let ends: &[usize] = match line.strokes {
            Strokes::None => &[],
            Strokes::Tail => &[0],
            Strokes::Head => &[1],
            Strokes::Both => &[0, 1],
            Strokes::ToHead | Strokes::ToTail => unreachable!("no bond is bicausal here"),
        };
        for &end in ends {
            let text = strokes.next().expect("every stroke is written");
            let numbers: Vec<f64> = text
                .split('"')
                .filter_map(|word| word.parse().ok())
                .collect();
            let [x1, y1, x2, y2] = numbers[..] else {
                panic!("{name}: {text}")
            };
            let (p, q) = (line.points[end], line.points[1 - end]);
            // Coordinates are written to a hundredth.
            assert!((0.5 * (x1 + x2) - p.0).abs() < 0.02, "{name}: {text} {p:?}");
            assert!((0.5 * (y1 + y2) - p.1).abs() < 0.02, "{name}: {text} {p:?}");
            let along = (x2 - x1) * (q.0 - p.0) + (y2 - y1) * (q.1 - p.1);
            let along = along / (q.0 - p.0).hypot(q.1 - p.1);
            assert!(
                along.abs() < 0.03,
                "{name}: {text} is not square to its bond"
            );
            assert!(((x2 - x1).hypot(y2 - y1) - 16.0).abs() < 0.05);
        }
    }
    assert!(strokes.next().is_none());
}

/// No label or node covers another, no bond passes through a foreign node or over a label, no strokes merge.
fn check_geometry(name: &str, drawing: &Diagram) {
    let expected = Faults {
        crossings: drawing.faults().crossings,
        ..Faults::default()
    };
    assert_eq!(drawing.faults(), expected, "{name}");
    for line in &drawing.bonds {
        let (a, b) = (line.points[0], line.points[1]);
        // Room for a half arrow and a stroke.
        assert!((b.0 - a.0).hypot(b.1 - a.1) >= 22.0, "{name}: a short bond");
    }
    for area in drawing.labels().chain(drawing.nodes.iter().map(|n| n.area)) {
        let [left, top, right, bottom] = area.sides();
        let is_inside =
            left >= 0.0 && top >= 0.0 && right <= drawing.size.0 && bottom <= drawing.size.1;
        assert!(is_inside, "{name}: something is cut off");
    }
}

#[test]
fn gallery_and_library_pictures_are_readable_and_show_every_element_once_in_its_part() {
    let mut all = gallery();
    assert!(all.len() >= 12);
    all.extend(library_models());
    for (name, graph) in &all {
        for parts in [Parts::Automatic, Parts::Closed] {
            let drawing = drawn(graph, parts);
            let name = format!("{name}, {parts:?}");
            check_parts(&name, graph, &drawing);
            check_stroke_places(&name, &drawing);
            check_geometry(&name, &drawing);
        }
    }
}

#[test]
fn a_closed_part_of_an_unnamed_transformer_is_a_box_with_the_names_of_its_ports() {
    let (_, graph) = &library_models()[0];
    let closed = drawn(graph, Parts::Closed);
    let at = closed.nodes.iter().position(|n| n.text == "gear");
    let at = at.expect("the gear is a box");
    assert_eq!(closed.nodes[at].kind, NodeKind::Closed);
    let own = closed.bonds.iter().filter(|b| b.tail == at || b.head == at);
    let mut ports: Vec<&str> = own
        .map(|b| b.port_names[usize::from(b.head == at)].as_str())
        .collect();
    ports.sort_unstable();
    assert_eq!(ports, ["a", "b"]);
}

#[test]
fn a_composite_port_is_one_line_and_hands_on_its_signals_without_arrows_or_boxes() {
    let (_, graph) = &library_models()[2];
    let closed = drawn(graph, Parts::Closed);
    let node = |text: &str| closed.nodes.iter().position(|n| n.text == text);
    let (top, upper) = (node("top").expect("a box"), node("upper").expect("a box"));
    let between: Vec<_> = closed
        .bonds
        .iter()
        .filter(|b| (b.tail, b.head) == (top, upper))
        .collect();
    assert_eq!(between.len(), 1);
    // A torque and two forces.
    assert_eq!(between[0].dimension, Some(3));
    assert_eq!(between[0].port_names, ["b", "a"]);
    assert!(closed.signals.is_empty(), "{:?}", closed.signals);
    assert!(closed.nodes.iter().all(|n| n.kind != NodeKind::Signals));
}

#[test]
fn a_long_chain_is_drawn_in_rows() {
    for n in [13_u32, 25, 60] {
        let mut text = String::from("model Chain { s: Se(1) -> j0: 1 \n");
        for k in 1..n {
            let kind = (k % 2) as usize;
            text += &format!(
                "j{} -> j{k}: {kind} -> x{k}: {}(1) \n",
                k - 1,
                ["C", "I"][kind]
            );
        }
        let graph = graph(&(text + "}")).expect("a chain");
        let options = DiagramOptions {
            parts: Parts::Open,
            ..DiagramOptions::default()
        };
        let drawing = diagram(&graph, Some(&assign_causality(&graph)), &options);
        if drawing.nodes.iter().all(|node| node.kind != NodeKind::Many) {
            let (width, height) = drawing.size;
            assert!(width < 1150.0, "{n} junctions are {width} wide");
            assert!(
                height < 150.0 * (f64::from(n) / 6.0).ceil(),
                "and {height} high"
            );
            check_geometry("chain", &drawing);
        }
    }
}

/// Random numbers: Marsaglia 2003, xorshift64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// A random model: a tree of junctions with one-ports, a loop or two, transformers without a name, parts.
fn random_text(dice: &mut Dice) -> String {
    let mut text = String::from(
        "model Half { port a: rotational, b: rotational \n a -> TF(2) -> b }
        model Wheel { port a: rotational, b: rotational \n a -> TF(3) -> w: 1 -> inertia: I(1) \n w -> R(1) \n w -> half: Half() -> b }
        model Random { s: Se(1) -> j0: 1 -> r0: R(1) \n",
    );
    let n = 2 + dice.below(9);
    for k in 1..n {
        let (from, kind) = (dice.below(k), k % 2);
        text += &match dice.below(6) {
            0 => format!("j{from} -> TF({k}) -> j{k}: {kind} \n"),
            1 => format!("j{from} -> part{k}: Half() -> j{k}: {kind} \n"),
            2 => format!("j{from} -> part{k}: Wheel() -> j{k}: {kind} \n"),
            _ => format!("j{from} -> j{k}: {kind} \n"),
        };
        for leaf in 0..1 + dice.below(2) {
            let element = ["R", "C", "I"][dice.below(3) as usize];
            text += &format!("j{k} -> leaf{k}_{leaf}: {element}(1) \n");
        }
    }
    for k in 0..dice.below(3) {
        let (a, b) = (dice.below(n), dice.below(n));
        if a != b {
            text += &format!("j{a} -> turn{k}: GY(2) -> j{b} \n");
        }
    }
    text + "}"
}

#[test]
fn random_pictures_are_readable_and_show_every_element_once_in_its_part() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut n_drawn, mut n_faulty) = (0, 0);
    for case in 0..60 {
        let text = random_text(&mut dice);
        let Some(graph) = graph(&text) else { continue };
        for parts in [Parts::Automatic, Parts::Closed] {
            let drawing = drawn(&graph, parts);
            let name = format!("case {case}, {parts:?}:\n{text}");
            check_parts(&name, &graph, &drawing);
            check_stroke_places(&name, &drawing);
            let faults = drawing.faults();
            assert_eq!(
                (faults.strangers, faults.pierced),
                (0, 0),
                "{name}: {faults:?}"
            );
            n_drawn += 1;
            n_faulty += usize::from(faults.n_serious() > 0);
            assert!(faults.n_serious() <= 1, "{name}: {faults:?}");
        }
    }
    assert!(n_drawn >= 80, "{n_drawn} drawn");
    // Labels are put one after the other: where many bonds meet, one in twenty drawings may have a name
    // that touches something, and none has two.
    assert!(
        n_faulty * 20 <= n_drawn,
        "{n_faulty} of {n_drawn} have a fault"
    );
}
