//! Bodies and joints at default settings against mechanics written out by hand.
//!
//! In:  random trees of bodies, and mechanisms that once hung or failed.
//! Out: trees move as Kane's equations in joint coordinates say, integrated here by small steps of Runge's fourth-order
//!      formula; the others keep their joints closed, in a number of steps that fits their motion.

mod kit;

use kit::{column, run_text};
use paynter::exec::Engine;
use paynter::experiment::Outcome;
use paynter::symbolic::reduced::Block;
use std::fmt::Write;

type V = [f64; 3];
/// By rows.
type M = [V; 3];

fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn scale(s: f64, a: V) -> V {
    a.map(|x| s * x)
}

fn sub(a: V, b: V) -> V {
    add(a, scale(-1.0, b))
}

fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: V, b: V) -> V {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn apply(m: &M, a: V) -> V {
    m.map(|row| dot(row, a))
}

fn transposed(m: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

fn product(a: &M, b: &M) -> M {
    let columns = transposed(b);
    a.map(|row| columns.map(|column| dot(row, column)))
}

/// The rotation of a unit quaternion.
fn rotation(q: [f64; 4]) -> M {
    let n = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [w, x, y, z] = q.map(|c| c / n);
    [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
        ],
        [
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
        ],
        [
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Revolute,
    Prismatic,
    Cylindrical,
    Spherical,
}

impl Kind {
    fn n_rates(self) -> usize {
        match self {
            Kind::Revolute | Kind::Prismatic => 1,
            Kind::Cylindrical => 2,
            Kind::Spherical => 3,
        }
    }
}

/// A body and the joint that hangs it on its parent.
#[derive(Clone, Debug)]
struct Link {
    parent: Option<usize>,
    kind: Kind,
    axis: V,
    /// Where the joint is, in the parent and in the body.
    there: V,
    here: V,
    m: f64,
    j: M,
    /// Turn about the axis and way along it at the start; rates of the joint.
    angle: f64,
    way: f64,
    rates: V,
}

/// Where a joint is: relative quaternion and way along the axis.
#[derive(Clone, Copy)]
struct Place {
    q: [f64; 4],
    way: f64,
}

const GRAVITY: V = [0.7, -3.0, -9.0];

/// How a body is turned, where its centre is seen from the origin, and the arms of its joint.
struct Pose {
    turn: M,
    r: V,
    /// The axis, the arm from the parent's centre to the joint, and that from the own centre, in inertial axes.
    axis: V,
    from_parent: V,
    from_own: V,
}

fn poses(tree: &[Link], places: &[Place]) -> Vec<Pose> {
    let mut all: Vec<Pose> = Vec::new();
    for (link, place) in tree.iter().zip(places) {
        let identity = rotation([1.0, 0.0, 0.0, 0.0]);
        let (parent, r) = match link.parent {
            Some(p) => (all[p].turn, all[p].r),
            None => (identity, [0.0; 3]),
        };
        let turn = product(&parent, &rotation(place.q));
        let axis = apply(&parent, link.axis);
        let from_parent = add(apply(&parent, link.there), scale(place.way, axis));
        let from_own = apply(&turn, link.here);
        let r = sub(add(r, from_parent), from_own);
        all.push(Pose {
            turn,
            r,
            axis,
            from_parent,
            from_own,
        });
    }
    all
}

/// Relative rate of turning, and speed along the axis, for these rates.
fn joint_rates(link: &Link, pose: &Pose, u: &[f64]) -> (V, f64) {
    match link.kind {
        Kind::Revolute => (scale(u[0], pose.axis), 0.0),
        Kind::Prismatic => ([0.0; 3], u[0]),
        Kind::Cylindrical => (scale(u[0], pose.axis), u[1]),
        Kind::Spherical => (apply(&pose.turn, [u[0], u[1], u[2]]), 0.0),
    }
}

/// (ω, v of the centre) of every body.
fn velocities(tree: &[Link], poses: &[Pose], u: &[f64]) -> Vec<(V, V)> {
    let mut all: Vec<(V, V)> = Vec::new();
    let mut first = 0;
    for (link, pose) in tree.iter().zip(poses) {
        let (wp, vp) = link.parent.map_or(([0.0; 3], [0.0; 3]), |p| all[p]);
        let (turn, speed) = joint_rates(link, pose, &u[first..]);
        first += link.kind.n_rates();
        let w = add(wp, turn);
        let joint = add(
            add(vp, cross(wp, pose.from_parent)),
            scale(speed, pose.axis),
        );
        all.push((w, sub(joint, cross(w, pose.from_own))));
    }
    all
}

/// (α, a of the centre) of every body while the rates do not change.
fn accelerations(tree: &[Link], poses: &[Pose], u: &[f64]) -> Vec<(V, V)> {
    let moving = velocities(tree, poses, u);
    let mut all: Vec<(V, V)> = Vec::new();
    let mut first = 0;
    for (k, (link, pose)) in tree.iter().zip(poses).enumerate() {
        let zero = ([0.0; 3], [0.0; 3]);
        let (alpha_p, a_p) = link.parent.map_or(zero, |p| all[p]);
        let wp = link.parent.map_or([0.0; 3], |p| moving[p].0);
        let w = moving[k].0;
        let (turn, speed) = joint_rates(link, pose, &u[first..]);
        first += link.kind.n_rates();
        // The rate of a ball joint is fixed in the body, that of the others in the parent.
        let carrier = if link.kind == Kind::Spherical { w } else { wp };
        let alpha = add(alpha_p, cross(carrier, turn));
        let centripetal = |alpha: V, w: V, arm: V| add(cross(alpha, arm), cross(w, cross(w, arm)));
        let joint = add(a_p, centripetal(alpha_p, wp, pose.from_parent));
        let joint = add(joint, scale(2.0 * speed, cross(wp, pose.axis)));
        all.push((alpha, sub(joint, centripetal(alpha, w, pose.from_own))));
    }
    all
}

/// u′ from Kane's equations.
fn rate_changes(tree: &[Link], places: &[Place], u: &[f64]) -> Vec<f64> {
    let n = u.len();
    let poses = poses(tree, places);
    let moving = velocities(tree, &poses, u);
    let bias = accelerations(tree, &poses, u);
    let partial: Vec<Vec<(V, V)>> = (0..n)
        .map(|k| {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            velocities(tree, &poses, &unit)
        })
        .collect();
    let inertia = |b: usize, w: V| {
        let turn = &poses[b].turn;
        apply(turn, apply(&tree[b].j, apply(&transposed(turn), w)))
    };
    let mut a = vec![vec![0.0; n + 1]; n];
    for (k, row) in a.iter_mut().enumerate() {
        for b in 0..tree.len() {
            let (wk, vk) = partial[k][b];
            for l in 0..n {
                let (wl, vl) = partial[l][b];
                row[l] += tree[b].m * dot(vk, vl) + dot(wk, inertia(b, wl));
            }
            let w = moving[b].0;
            let (alpha, acceleration) = bias[b];
            let force = scale(tree[b].m, sub(acceleration, GRAVITY));
            let torque = add(inertia(b, alpha), cross(w, inertia(b, w)));
            row[n] -= dot(vk, force) + dot(wk, torque);
        }
    }
    solve(a)
}

/// Gaussian elimination with row exchanges.
fn solve(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        a.swap(k, best.expect("rows are left"));
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..=n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
        x[i] = (a[i][n] - sum) / a[i][i];
    }
    x
}

fn place_changes(tree: &[Link], places: &[Place], u: &[f64]) -> Vec<Place> {
    let mut first = 0;
    tree.iter()
        .zip(places)
        .map(|(link, place)| {
            let rates = &u[first..];
            first += link.kind.n_rates();
            let (w, way) = match link.kind {
                Kind::Revolute => (scale(rates[0], link.axis), 0.0),
                Kind::Prismatic => ([0.0; 3], rates[0]),
                Kind::Cylindrical => (scale(rates[0], link.axis), rates[1]),
                Kind::Spherical => ([rates[0], rates[1], rates[2]], 0.0),
            };
            // q′ = ½ q ⊗ (0, ω), with ω in axes of the body; the axis is the same in both.
            let [s, x, y, z] = place.q;
            let v = [x, y, z];
            let vector = add(scale(s, w), cross(v, w));
            let q = [-dot(v, w), vector[0], vector[1], vector[2]].map(|c| 0.5 * c);
            Place { q, way }
        })
        .collect()
}

fn moved(places: &[Place], by: &[Place], h: f64) -> Vec<Place> {
    let one = |(p, d): (&Place, &Place)| Place {
        q: std::array::from_fn(|i| p.q[i] + h * d.q[i]),
        way: p.way + h * d.way,
    };
    places.iter().zip(by).map(one).collect()
}

/// Centres of the bodies at the end.
fn reference(tree: &[Link], t_end: f64) -> Vec<V> {
    let mut places: Vec<Place> = tree
        .iter()
        .map(|link| {
            let (s, c) = (0.5 * link.angle).sin_cos();
            let [x, y, z] = scale(s, link.axis);
            Place {
                q: [c, x, y, z],
                way: link.way,
            }
        })
        .collect();
    let rates = |link: &Link| link.rates[..link.kind.n_rates()].to_vec();
    let mut u: Vec<f64> = tree.iter().flat_map(rates).collect();
    let n_steps = 2000;
    let h = t_end / f64::from(n_steps);
    let plus = |u: &[f64], d: &[f64], h: f64| -> Vec<f64> {
        u.iter().zip(d).map(|(u, d)| u + h * d).collect()
    };
    for _ in 0..n_steps {
        let mut slopes: Vec<(Vec<Place>, Vec<f64>)> = Vec::new();
        for share in [0.0, 0.5, 0.5, 1.0] {
            let (p, v) = match slopes.last() {
                Some((dp, du)) => (moved(&places, dp, share * h), plus(&u, du, share * h)),
                None => (places.clone(), u.clone()),
            };
            slopes.push((place_changes(tree, &p, &v), rate_changes(tree, &p, &v)));
        }
        for ((dp, du), weight) in slopes.iter().zip([1.0, 2.0, 2.0, 1.0]) {
            places = moved(&places, dp, h * weight / 6.0);
            u = plus(&u, du, h * weight / 6.0);
        }
    }
    poses(tree, &places).iter().map(|p| p.r).collect()
}

struct Dice(u64);

impl Dice {
    /// −1 … 1 (xorshift64*).
    fn roll(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, size: f64) -> V {
        std::array::from_fn(|_| size * self.roll())
    }

    fn below(&mut self, n: usize) -> usize {
        ((0.5 * (self.roll() + 1.0) * n as f64) as usize).min(n - 1)
    }
}

fn random_tree(seed: u64, n: usize) -> Vec<Link> {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    (0..n)
        .map(|k| {
            let kinds = [
                Kind::Revolute,
                Kind::Prismatic,
                Kind::Cylindrical,
                Kind::Spherical,
            ];
            let axis = match dice.below(3) {
                0 => [0.0, 0.0, 1.0],
                1 => [1.0, 0.0, 0.0],
                _ => dice.vector(1.0),
            };
            let axis = scale(1.0 / dot(axis, axis).sqrt(), axis);
            let kind = kinds[dice.below(4)];
            let turns = matches!(kind, Kind::Revolute | Kind::Cylindrical);
            let slides = matches!(kind, Kind::Prismatic | Kind::Cylindrical);
            // Second moments of a mass are positive; so is the inertia they make.
            let s: V = std::array::from_fn(|_| 0.05 + 0.04 * dice.roll());
            let moments = [s[1] + s[2], s[0] + s[2], s[0] + s[1]];
            let turn = rotation([1.0, dice.roll(), dice.roll(), dice.roll()]);
            let diagonal: M = std::array::from_fn(|i| {
                std::array::from_fn(|j| if i == j { moments[i] } else { 0.0 })
            });
            Link {
                parent: (k > 0 && dice.roll() > -0.8).then(|| dice.below(k)),
                kind,
                axis,
                there: dice.vector(0.5),
                here: dice.vector(0.5),
                m: 1.0 + 0.8 * dice.roll(),
                j: product(&product(&turn, &diagonal), &transposed(&turn)),
                angle: if turns { dice.roll() } else { 0.0 },
                way: if slides { 0.3 * dice.roll() } else { 0.0 },
                rates: dice.vector(1.5),
            }
        })
        .collect()
}

fn list(v: V) -> String {
    format!("[{:?}, {:?}, {:?}]", v[0], v[1], v[2])
}

fn text_of(tree: &[Link], t_end: f64) -> String {
    let mut text = String::from(
        "units strict\nuse mechanics3d: World, Body, Point, Revolute, Prismatic, Cylindrical, Spherical\nmodel Tree {\n",
    );
    let mut line = |s: String| writeln!(text, "    {s}").expect("a text grows");
    line(format!("world: World(gravity = {} [m/s^2])", list(GRAVITY)));
    for (k, link) in tree.iter().enumerate() {
        let [a, b, c] = link
            .j
            .map(|row| format!("{:?}, {:?}, {:?}", row[0], row[1], row[2]));
        line(format!(
            "b{k}: Body(m = {:?} [kg], J = [{a}; {b}; {c}] [kg*m^2])",
            link.m
        ));
        let frame = link
            .parent
            .map_or("world.fixed".to_owned(), |p| format!("b{p}.cg"));
        line(format!(
            "{frame} => p{k}: Point(c = {} [m])",
            list(link.there)
        ));
        line(format!(
            "b{k}.cg => c{k}: Point(c = {} [m])",
            list(link.here)
        ));
        let axis = match link.kind {
            Kind::Spherical => String::new(),
            _ => format!("axis = {}", list(link.axis)),
        };
        line(format!(
            "p{k}.out => j{k}: {:?}({axis}) => c{k}.out",
            link.kind
        ));
        let [u, v, _] = link.rates;
        match link.kind {
            Kind::Revolute => line(format!(
                "start j{k}.angle = {:?} [rad], j{k}.rate = {u:?} [rad/s]",
                link.angle
            )),
            Kind::Prismatic => line(format!(
                "start j{k}.distance = {:?} [m], j{k}.speed = {u:?} [m/s]",
                link.way
            )),
            Kind::Cylindrical => line(format!(
                "start j{k}.angle = {:?} [rad], j{k}.rate = {u:?} [rad/s], j{k}.distance = {:?} [m], j{k}.speed = {v:?} [m/s]",
                link.angle, link.way
            )),
            // A ball joint says nothing of how the body is turned: as its parent, for what it hangs on.
            Kind::Spherical => {
                let parent = link
                    .parent
                    .map_or("world.w".to_owned(), |p| format!("b{p}.w"));
                let turn = link
                    .parent
                    .map_or("world.fixed.A".to_owned(), |p| format!("b{p}.A"));
                line(format!("rel{k} = b{k}.w.f - b{k}.A'*{turn}*{parent}.f"));
                line(format!("dir{k} = {turn}'*b{k}.A"));
                line(format!("start rel{k} = {} [rad/s]", list(link.rates)));
                line(format!(
                    "start dir{k}[2,3] = 0, dir{k}[3,1] = 0, dir{k}[1,2] = 0"
                ));
            }
        }
    }
    let record: Vec<String> = (0..tree.len()).map(|k| format!("b{k}.r as r{k}")).collect();
    write!(
        text,
        "}}\nexperiment e of Tree {{ stop = {t_end:?} [s]; output_step = {t_end:?} [s]; rtol = 1e-10; record {} }}\n",
        record.join(", ")
    )
    .expect("a text grows");
    text
}

fn check_tree(seed: u64, n: usize) {
    let tree = random_tree(seed, n);
    let t_end = 0.5;
    let expected = reference(&tree, t_end);
    let text = text_of(&tree, t_end);
    let outcome = run_text(&text);
    for (k, r) in expected.iter().enumerate() {
        for (i, x) in r.iter().enumerate() {
            let got = *column(&outcome, &format!("r{k}[{}]", i + 1))
                .last()
                .expect("rows");
            assert!(
                (got - x).abs() < 1e-8,
                "seed {seed}, body {k}: {got} for {x}\n{text}"
            );
        }
    }
}

#[test]
fn random_trees_move_as_by_kanes_equations() {
    for seed in 1..=12 {
        check_tree(seed, 2 + seed as usize % 4);
    }
}

#[test]
fn tree_of_many_locks_moves_as_by_kanes_equations() {
    check_tree(77, 14);
}

/// A chain in space, its axes across each other in turn.
fn hinged_chain(n: usize) -> String {
    format!(
        "units strict
use mechanics3d: World, Rod, Revolute, ey, ez
model Chain {{
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    for i in 1 .. {n} {{
        link[i]: Rod(m = 1 [kg], l = 1 [m], radius = 5 [cm])
        hinge[i]: Revolute(axis = if mod(i, 2) == 1 then ey else ez)
        hinge[i] => link[i].a
        guess link[i].r = [(i-0.5)*1 [m], 0 [m], 0 [m]]
        start hinge[i].angle = 0 [rad], hinge[i].rate = 0.5 [rad/s]
    }}
    world => hinge[1]
    for i in 2 .. {n} {{ link[i-1].b => hinge[i] }}
}}
experiment e of Chain {{ stop = 0.1 [s]; output_step = 0.1 [s]; rtol = 1e-8
    record link[{n}].b.r[1] as x, link[{n}].b.r[2] as y, link[{n}].b.r[3] as z }}
"
    )
}

#[test]
fn reactions_are_one_symmetric_system_as_large_as_there_are_locks() {
    let n = 12;
    let compiled = kit::design(&hinged_chain(n))
        .compile()
        .expect("it compiles");
    let mut large = compiled
        .reduced
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Linear {
                unknowns,
                matrix,
                positive_definite,
                ..
            } if unknowns.len() > 6 => Some((unknowns.len(), matrix.len(), *positive_definite)),
            Block::Nonlinear { unknowns, .. } => Some((unknowns.len(), 0, false)),
            _ => None,
        });
    let (unknowns, entries, is_definite) = large.next().expect("one system");
    assert_eq!(unknowns, 5 * n);
    assert!(is_definite);
    // Each joint shares a body with two others at most.
    assert!(entries <= 5 * 5 * (3 * n - 2), "{entries} entries");
    assert_eq!(large.next(), None);
}

#[test]
fn machine_code_of_a_long_chain_gives_the_bits_of_the_interpreter() {
    let design = kit::design(&hinged_chain(40));
    let run = |engine| kit::run_design(&design, engine).expect("it runs");
    let (slow, fast) = (run(Engine::Interpreter), run(Engine::Jit));
    for name in ["x", "y", "z"] {
        assert_eq!(column(&slow, name), column(&fast, name), "{name}");
    }
}

fn steps(outcome: &Outcome) -> usize {
    outcome.run.statistics.steps
}

/// Cranks of equal length joined by couplers: parallelograms that pass through their dead centres.
const FOUR_BARS: &str = "units strict
use mechanics2d: Ground, Bar, Pin
model FourBars {
    param N = 2
    for i in 1 .. N+1 {
        g[i]: Ground(r = [(i-1)*1 [m], 0 [m]])
        c[i]: Bar(m = 1 [kg], l = 1 [m])
        g[i].fixed => j[i]: Pin => c[i].a
        Se[2]([0, -9.81] [N]) => c[i].v
        guess c[i].angle = 90 [deg], c[i].r = [(i-1)*1 [m], 0.5 [m]]
        guess c[i].w.f = -1 [rad/s]
    }
    for i in 1 .. N {
        k[i]: Bar(m = 1 [kg], l = 1 [m])
        c[i].b => h[i]: Pin => k[i].a
        k[i].b => e[i]: Pin => c[i+1].b
        Se[2]([0, -9.81] [N]) => k[i].v
        guess k[i].angle = 0 [deg], k[i].r = [(i-0.5)*1 [m], 1 [m]]
    }
    start c[1].angle = 90 [deg], c[1].w.f = -1 [rad/s]
}
";

#[test]
fn four_bars_pass_their_dead_centres_in_the_steps_of_their_motion() {
    let text = format!(
        "{FOUR_BARS}experiment e of FourBars {{ stop = 10 [s]; output_step = 0.1 [s]; rtol = 1e-8
            record c[1].b.r[1] as x, c[1].b.r[2] as y }}"
    );
    let outcome = run_text(&text);
    assert!(steps(&outcome) < 300, "{} steps", steps(&outcome));
    // Cranks and couplers move as one pendulum: (3 m/3 + 2 m) θ″ = −(3 m/2 + 2 m) g cos θ / l.
    let (mut angle, mut rate) = (std::f64::consts::FRAC_PI_2, -1.0);
    let h = 1e-4;
    let pull = |angle: f64| -(3.5 / 3.0) * 9.81 * angle.cos();
    for _ in 0..100_000 {
        // Störmer and Verlet: second order, and no drift.
        let half = rate + 0.5 * h * pull(angle);
        angle += h * half;
        rate = half + 0.5 * h * pull(angle);
    }
    let (x, y) = (column(&outcome, "x"), column(&outcome, "y"));
    let end = (x[x.len() - 1], y[y.len() - 1]);
    assert!((end.0 - angle.cos()).abs() < 1e-4, "{end:?} for {angle}");
    assert!((end.1 - angle.sin()).abs() < 1e-4, "{end:?} for {angle}");
}

#[test]
fn directions_in_which_nothing_moves_do_not_set_the_step() {
    let door = "units strict
use mechanics3d: World, Body, Point, Spherical
model Door {
    world: World()
    world.fixed => L: Point(c = [0, 0, 0.3] [m])
    world.fixed => H: Point(c = [0, 0, 1.7] [m])
    door: Body(m = 20 [kg], J = diag([6, 7, 1.5] [kg*m^2]))
    door.cg => dl: Point(c = [-0.4, 0, -0.7] [m])
    door.cg => dh: Point(c = [-0.4, 0, 0.7] [m])
    L.out => low: Spherical => dl.out
    H.out => high: Spherical => dh.out
    start door.w.f[3] = 2 [rad/s]
    guess door.r = [0.4, 0, 1] [m]
}
experiment e of Door { stop = 1 [s]; rtol = 1e-9; output_step = 0.1 [s]; record door.w.f[3] as w, door.A[2,1] as s }
";
    let outcome = run_text(door);
    assert!(steps(&outcome) < 40, "{} steps", steps(&outcome));
    let turned = *column(&outcome, "s").last().expect("rows");
    assert!((turned - 2.0_f64.sin()).abs() < 1e-8, "{turned}");
}

#[test]
fn mechanism_with_large_blocks_begins_explicit() {
    let chain = "units strict
use mechanics3d: World, Rod, Spherical
model Chain {
    world: World(gravity = [0, -9.81, 0] [m/s^2])
    for i in 1 .. 3 { link[i]: Rod(m = 1 [kg], l = 1 [m]); hinge[i]: Spherical(); hinge[i] => link[i].a; guess link[i].r = [(i-0.5)*1 [m], 0 [m], 0 [m]]; start link[i].w.f = [0, 0.3, 0] [rad/s] }
    world => hinge[1]
    for i in 2 .. 3 { link[i-1].b => hinge[i] }
}
experiment e of Chain { stop = 1 [s]; output_step = 1 [s]; record system.energy as E }
";
    let outcome = run_text(chain);
    let choices = &outcome.run.statistics.choices;
    assert!(
        choices
            .iter()
            .all(|c| c.method == paynter::solve::Method::Dop853),
        "{choices:?}"
    );
    assert!(steps(&outcome) < 400, "{} steps", steps(&outcome));
}

/// A crank, a coupler between two balls, and a rocker.
const RSSR: &str = "units strict
use mechanics3d: World, Rod, Point, Revolute, Spherical, ex, ey, ez
model RSSR {
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    world.fixed => A: Point(c = [0, 0, 0] [m])
    world.fixed => D: Point(c = [1, 0.3, 0] [m])
    crank: Rod(m = 1 [kg], l = 0.3 [m])
    coup: Rod(m = 1 [kg], l = 1 [m])
    rock: Rod(m = 1 [kg], l = 0.8 [m])
    A.out => R1: Revolute(axis = ez) => crank.a
    crank.b => S1: Spherical => coup.a
    coup.b => S2: Spherical => rock.b
    D.out => R2: Revolute(axis = ey) => rock.a
    motor: Se(1 [N*m]) -> R1.turn
    R2.turn -> R(0.2 [N*m*s/rad])
    start R1.angle = 0 [rad], R1.rate = 3 [rad/s]
    guess crank.r = [0.15, 0, 0] [m], coup.r = [0.7, 0.1, 0.3] [m], rock.r = [1, 0.3, 0.4] [m], rock.Q = [0.7071, 0, -0.7071, 0]
}
experiment e of RSSR { stop = 0.2 [s]; rtol = 1e-9; output_step = 0.05 [s]; record coup.w.f[1] as spin, R1.rate as rate }
";

#[test]
fn rates_that_nobody_gives_stay_zero_while_positions_are_found() {
    let outcome = run_text(RSSR);
    let spin = column(&outcome, "spin")[0];
    // What is left are roundings of a momentum, over an inertia of 5e-5 kg m².
    assert!(spin.abs() < 1e-6, "{spin}");
    assert!((column(&outcome, "rate")[0] - 3.0).abs() < 1e-9);
    let named = outcome
        .run
        .defaulted
        .iter()
        .any(|name| name == "coup.ir.p[1]");
    assert!(named, "{:?}", outcome.run.defaulted);
}

const HINGE: &str = "units strict
use mechanics3d: World, Body, Point, Revolute
model G {
    world: World(gravity = [0, 0, -9.81] [m/s^2])
    b: Body(m = 1 [kg], J = diag([0.1, 0.2, 0.15] [kg*m^2]))
    b.cg => p: Point(c = [0.3, 0, 0] [m])
    world => j: Revolute(axis = [0, 0, 1]) => p.out
    start j.angle = 0.1 [rad], j.rate = 0 [rad/s]
    GUESS
}
experiment e of G { stop = 0.01 [s]; output_step = 0.01 [s]; record b.Q, j.n[1,1] as n11, j.angle as angle }
";

#[test]
fn hinge_with_its_axis_reversed_is_turned_round() {
    // Exactly reversed, and nearly so, with and without a turn.
    for guess in [
        "[0, 1, 0, 0]",
        "[0.1, 1, 0, 0]",
        "[0, 0.6, 0.8, 0]",
        "[0.01, 0, 1, 0.3]",
    ] {
        let outcome = run_text(&HINGE.replace("GUESS", &format!("guess b.Q = {guess}")));
        assert!((column(&outcome, "n11")[0] - 1.0).abs() < 1e-12, "{guess}");
        assert!((column(&outcome, "angle")[0] - 0.1).abs() < 1e-9, "{guess}");
    }
}

#[test]
fn guess_of_the_surrounding_model_wins_over_that_of_the_part() {
    let text = "units strict
use mechanics3d: World, Body
model Free { world: World(); b: Body(m = 1 [kg], J = diag([1, 1, 1] [kg*m^2])); guess b.Q = [0, 1, 0, 0] }
experiment e of Free { stop = 0.01 [s]; output_step = 0.01 [s]; record b.Q }
";
    let outcome = run_text(text);
    let start: Vec<f64> = (1..=4)
        .map(|i| column(&outcome, &format!("b.Q[{i}]"))[0])
        .collect();
    assert_eq!(start, [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn mechanism_is_counted() {
    let outcome = run_text(RSSR);
    let mobility = outcome.mobility.expect("it is a mechanism");
    assert_eq!(
        mobility.summary(),
        "3 bodies, 4 joints, 16 locks, 2 freedoms"
    );
    let joints = mobility.joint_freedoms();
    assert_eq!(joints, ["R1 1", "S1 3", "S2 3", "R2 1"]);
}
