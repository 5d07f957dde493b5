//! Trees and closed loops of bodies, moved by Kane's equations in joint coordinates: mechanics written out by hand.
//!
//! In:  links, each with the joint that hangs it on its parent, and loops that tie a point of a body to the ground or to
//!      another body.
//! Out: where the bodies are at the end, integrated by small steps of Runge's fourth-order formula; and the same mechanism
//!      as text.
//!
//! The directions in which a loop holds its point are demanded of the accelerations, with a reaction for each.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fmt::Write;

pub type V = [f64; 3];
/// By rows.
pub type M = [V; 3];

pub fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn scale(s: f64, a: V) -> V {
    a.map(|x| s * x)
}

pub fn sub(a: V, b: V) -> V {
    add(a, scale(-1.0, b))
}

pub fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: V, b: V) -> V {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub fn apply(m: &M, a: V) -> V {
    m.map(|row| dot(row, a))
}

pub fn transposed(m: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

pub fn product(a: &M, b: &M) -> M {
    let columns = transposed(b);
    a.map(|row| columns.map(|column| dot(row, column)))
}

/// The rotation of a unit quaternion.
pub fn rotation(q: [f64; 4]) -> M {
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
pub enum Kind {
    Revolute,
    Prismatic,
    Cylindrical,
    Spherical,
}

impl Kind {
    pub fn n_rates(self) -> usize {
        match self {
            Kind::Revolute | Kind::Prismatic => 1,
            Kind::Cylindrical => 2,
            Kind::Spherical => 3,
        }
    }
}

/// A body and the joint that hangs it on its parent.
#[derive(Clone, Debug)]
pub struct Link {
    pub parent: Option<usize>,
    pub kind: Kind,
    pub axis: V,
    /// Where the joint is, in the parent and in the body.
    pub there: V,
    pub here: V,
    pub m: f64,
    pub j: M,
    /// Turn about the axis and way along it at the start; rates of the joint.
    pub angle: f64,
    pub way: f64,
    pub rates: V,
}

/// Where a joint is: relative quaternion and way along the axis.
#[derive(Clone, Copy)]
pub struct Place {
    pub q: [f64; 4],
    pub way: f64,
}

pub const GRAVITY: V = [0.7, -3.0, -9.0];

/// How a body is turned, where its centre is seen from the origin, and the arms of its joint.
pub struct Pose {
    pub turn: M,
    pub r: V,
    /// The axis, the arm from the parent's centre to the joint, and that from the own centre, in inertial axes.
    pub axis: V,
    pub from_parent: V,
    pub from_own: V,
}

pub fn poses(tree: &[Link], places: &[Place]) -> Vec<Pose> {
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
pub fn joint_rates(link: &Link, pose: &Pose, u: &[f64]) -> (V, f64) {
    match link.kind {
        Kind::Revolute => (scale(u[0], pose.axis), 0.0),
        Kind::Prismatic => ([0.0; 3], u[0]),
        Kind::Cylindrical => (scale(u[0], pose.axis), u[1]),
        Kind::Spherical => (apply(&pose.turn, [u[0], u[1], u[2]]), 0.0),
    }
}

/// (ω, v of the centre) of every body.
pub fn velocities(tree: &[Link], poses: &[Pose], u: &[f64]) -> Vec<(V, V)> {
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
pub fn accelerations(tree: &[Link], poses: &[Pose], u: &[f64]) -> Vec<(V, V)> {
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

/// A point `tip` of body `b` that is held at the point `at` of body `a`, or of the ground, in some directions: all three,
/// or of the ground fewer. The directions do not turn.
#[derive(Clone, Debug)]
pub struct Loop {
    pub a: Option<usize>,
    pub at: V,
    pub b: usize,
    pub tip: V,
    pub directions: Vec<V>,
}

impl Loop {
    /// What body b does at its tip more than body a at the same place, of what bodies do at points.
    fn difference(&self, poses: &[Pose], of: impl Fn(usize, V) -> V) -> V {
        let there = of(self.b, apply(&poses[self.b].turn, self.tip));
        match self.a {
            Some(a) => sub(there, of(a, apply(&poses[a].turn, self.at))),
            None => there,
        }
    }

    /// How fast the tip leaves its place.
    fn speed(&self, poses: &[Pose], moving: &[(V, V)]) -> V {
        self.difference(poses, |b, arm| add(moving[b].1, cross(moving[b].0, arm)))
    }

    /// How fast that changes while the rates do not.
    fn bias(&self, poses: &[Pose], moving: &[(V, V)], bias: &[(V, V)]) -> V {
        self.difference(poses, |b, arm| {
            let (alpha, a) = bias[b];
            let w = moving[b].0;
            add(a, add(cross(alpha, arm), cross(w, cross(w, arm))))
        })
    }
}

/// What every rate alone does to every body.
fn partial_velocities(tree: &[Link], poses: &[Pose], n: usize) -> Vec<Vec<(V, V)>> {
    let alone = |k: usize| {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        velocities(tree, poses, &unit)
    };
    (0..n).map(alone).collect()
}

/// What loops demand of the rates: rows that must give zero.
fn demands(tree: &[Link], loops: &[Loop], places: &[Place], n: usize) -> Vec<Vec<f64>> {
    let poses = poses(tree, places);
    let partial = partial_velocities(tree, &poses, n);
    let mut rows = Vec::new();
    for l in loops {
        for &d in &l.directions {
            let row = partial.iter().map(|moving| dot(d, l.speed(&poses, moving)));
            rows.push(row.collect());
        }
    }
    rows
}

/// The rates nearest to these that the loops allow; None where a loop holds something twice, or nearly so.
fn allowed_rates(tree: &[Link], loops: &[Loop], places: &[Place], u: &[f64]) -> Option<Vec<f64>> {
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut allowed = u.to_vec();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut row in demands(tree, loops, places, u.len()) {
        let before = product(&row, &row).sqrt();
        for b in &basis {
            let part = product(&row, b);
            row.iter_mut().zip(b).for_each(|(x, b)| *x -= part * b);
        }
        let length = product(&row, &row).sqrt();
        // Near to a singular position the start alone would have few digits.
        if length < 0.2 * before || before < 0.1 {
            return None;
        }
        row.iter_mut().for_each(|x| *x /= length);
        let part = product(&row, &allowed);
        let pairs = allowed.iter_mut().zip(&row);
        pairs.for_each(|(u, x)| *u -= part * x);
        basis.push(row);
    }
    Some(allowed)
}

/// u′ from Kane's equations.
pub fn rate_changes(tree: &[Link], loops: &[Loop], places: &[Place], u: &[f64]) -> Vec<f64> {
    let n = u.len();
    let poses = poses(tree, places);
    let moving = velocities(tree, &poses, u);
    let bias = accelerations(tree, &poses, u);
    let partial = partial_velocities(tree, &poses, n);
    let n_held: usize = loops.iter().map(|l| l.directions.len()).sum();
    let size = n + n_held;
    let inertia = |b: usize, w: V| {
        let turn = &poses[b].turn;
        apply(turn, apply(&tree[b].j, apply(&transposed(turn), w)))
    };
    let mut a = vec![vec![0.0; size + 1]; size];
    for (k, row) in a.iter_mut().take(n).enumerate() {
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
            row[size] -= dot(vk, force) + dot(wk, torque);
        }
    }
    let mut held = n;
    for l in loops {
        let bias = l.bias(&poses, &moving, &bias);
        for &d in &l.directions {
            for k in 0..n {
                let along = dot(d, l.speed(&poses, &partial[k]));
                a[held][k] = along;
                a[k][held] = along;
            }
            a[held][size] = -dot(d, bias);
            held += 1;
        }
    }
    let mut changes = solve(a);
    changes.truncate(n);
    changes
}

/// Gaussian elimination with row exchanges.
pub fn solve(mut a: Vec<Vec<f64>>) -> Vec<f64> {
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

pub fn place_changes(tree: &[Link], places: &[Place], u: &[f64]) -> Vec<Place> {
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

pub fn moved(places: &[Place], by: &[Place], h: f64) -> Vec<Place> {
    let one = |(p, d): (&Place, &Place)| Place {
        q: std::array::from_fn(|i| p.q[i] + h * d.q[i]),
        way: p.way + h * d.way,
    };
    places.iter().zip(by).map(one).collect()
}

/// Where the joints are at the start.
pub fn start_places(tree: &[Link]) -> Vec<Place> {
    tree.iter()
        .map(|link| {
            let (s, c) = (0.5 * link.angle).sin_cos();
            let [x, y, z] = scale(s, link.axis);
            Place {
                q: [c, x, y, z],
                way: link.way,
            }
        })
        .collect()
}

/// How the bodies are turned at the start.
fn turns_at_start(tree: &[Link]) -> Vec<[f64; 4]> {
    let mut all: Vec<[f64; 4]> = Vec::new();
    for (link, place) in tree.iter().zip(start_places(tree)) {
        let [a, b @ ..] = link.parent.map_or([1.0, 0.0, 0.0, 0.0], |p| all[p]);
        let [c, d @ ..] = place.q;
        let v = add(add(scale(a, d), scale(c, b)), cross(b, d));
        all.push([a * c - dot(b, d), v[0], v[1], v[2]]);
    }
    all
}

fn rates_of(tree: &[Link]) -> Vec<f64> {
    let rates = |link: &Link| link.rates[..link.kind.n_rates()].to_vec();
    tree.iter().flat_map(rates).collect()
}

/// Centres of the bodies at the end.
pub fn reference(tree: &[Link], loops: &[Loop], t_end: f64) -> Vec<V> {
    let mut places = start_places(tree);
    let mut u = rates_of(tree);
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
            slopes.push((
                place_changes(tree, &p, &v),
                rate_changes(tree, loops, &p, &v),
            ));
        }
        for ((dp, du), weight) in slopes.iter().zip([1.0, 2.0, 2.0, 1.0]) {
            places = moved(&places, dp, h * weight / 6.0);
            u = plus(&u, du, h * weight / 6.0);
        }
    }
    poses(tree, &places).iter().map(|p| p.r).collect()
}

pub struct Dice(pub u64);

impl Dice {
    /// −1 … 1 (xorshift64*).
    pub fn roll(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, size: f64) -> V {
        std::array::from_fn(|_| size * self.roll())
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((0.5 * (self.roll() + 1.0) * n as f64) as usize).min(n - 1)
    }
}

pub fn random_tree(seed: u64, n: usize) -> Vec<Link> {
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

pub fn list(v: V) -> String {
    format!("[{:?}, {:?}, {:?}]", v[0], v[1], v[2])
}

/// The mechanism in space.
pub fn text_of(tree: &[Link], loops: &[Loop], t_end: f64) -> String {
    let mut text = String::from(
        "units strict\nuse mechanics3d: World, Body, Point, Revolute, Prismatic, Cylindrical, Spherical, PointOnLine, PointOnPlane\nmodel Tree {\n",
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
    // A closed mechanism has several ways to be put together: this one.
    let turns = turns_at_start(tree);
    for (k, pose) in poses(tree, &start_places(tree)).iter().enumerate() {
        if !loops.is_empty() {
            let ([w, x, y, z], r) = (turns[k], list(pose.r));
            line(format!(
                "guess b{k}.r = {r} [m], b{k}.Q = [{w:?}, {x:?}, {y:?}, {z:?}]"
            ));
        }
    }
    for (k, l) in loops.iter().enumerate() {
        let frame = l.a.map_or("world.fixed".to_owned(), |a| format!("b{a}.cg"));
        line(format!("{frame} => at{k}: Point(c = {} [m])", list(l.at)));
        let (b, tip) = (l.b, list(l.tip));
        line(format!("b{b}.cg => tip{k}: Point(c = {tip} [m])"));
        let joint = match l.directions[..] {
            [d] => format!("PointOnPlane(axis = {})", list(d)),
            [d, e] => format!("PointOnLine(axis = {})", list(cross(d, e))),
            _ => "Spherical".to_owned(),
        };
        line(format!("at{k}.out => loop{k}: {joint} => tip{k}.out"));
    }
    text.push_str(&experiment(tree, t_end));
    text
}

/// Records the centres of all bodies.
fn experiment(tree: &[Link], t_end: f64) -> String {
    let record: Vec<String> = (0..tree.len()).map(|k| format!("b{k}.r as r{k}")).collect();
    format!(
        "}}\nexperiment e of Tree {{ stop = {t_end:?} [s]; output_step = {t_end:?} [s]; rtol = 1e-10; record {} }}\n",
        record.join(", ")
    )
}

fn list2(v: V) -> String {
    format!("[{:?}, {:?}]", v[0], v[1])
}

/// The same in a plane: pins about z, sliders in x and y.
pub fn text_in_plane(tree: &[Link], loops: &[Loop], t_end: f64) -> String {
    let mut text = String::from(
        "units strict\nuse mechanics2d: Ground, Plate, Spot, Pin, Slider, Slot\nmodel Tree {\n",
    );
    let mut line = |s: String| writeln!(text, "    {s}").expect("a text grows");
    let frame = |at: String, parent: Option<usize>, c: V| match parent {
        Some(p) => format!("b{p}.cg => {at}: Spot(c = {} [m])", list2(c)),
        None => format!("{at}: Ground(r = {} [m])", list2(c)),
    };
    let end = |parent: Option<usize>| if parent.is_some() { "out" } else { "fixed" };
    for (k, link) in tree.iter().enumerate() {
        line(format!(
            "b{k}: Plate(m = {:?} [kg], J = {:?} [kg*m^2])",
            link.m, link.j[2][2]
        ));
        let weight = list2(scale(link.m, GRAVITY));
        line(format!("Se[2]({weight} [N]) => b{k}.v"));
        line(frame(format!("p{k}"), link.parent, link.there));
        line(frame(format!("c{k}"), Some(k), link.here));
        let from = format!("p{k}.{}", end(link.parent));
        let u = link.rates[0];
        if link.kind == Kind::Revolute {
            line(format!("{from} => j{k}: Pin => c{k}.out"));
            line(format!(
                "start j{k}.angle = {:?} [rad], j{k}.rate = {u:?} [rad/s]",
                link.angle
            ));
        } else {
            let axis = list2(link.axis);
            line(format!("{from} => j{k}: Slider(axis = {axis}) => c{k}.out"));
            line(format!(
                "start j{k}.distance = {:?} [m], j{k}.speed = {u:?} [m/s]",
                link.way
            ));
        }
    }
    for (k, l) in loops.iter().enumerate() {
        line(frame(format!("at{k}"), l.a, l.at));
        line(frame(format!("tip{k}"), Some(l.b), l.tip));
        let joint = match l.directions[..] {
            // Along the slot nothing is held.
            [d] => format!("Slot(axis = {})", list2([-d[1], d[0], 0.0])),
            _ => "Pin".to_owned(),
        };
        let from = end(l.a);
        line(format!("at{k}.{from} => loop{k}: {joint} => tip{k}.out"));
    }
    text.push_str(&experiment(tree, t_end));
    text
}

/// Ties a random point of the last body to the ground, or to another body that it does not hang on, where it is at the
/// start. Rates become the nearest that this allows. At least one freedom is left.
pub fn closed(seed: u64, mut tree: Vec<Link>, directions: &[V]) -> (Vec<Link>, Vec<Loop>) {
    let mut dice = Dice(seed.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
    let places = start_places(&tree);
    for _ in 0..100 {
        let loops = vec![random_loop(&mut dice, &tree, directions)];
        let Some(allowed) = allowed_rates(&tree, &loops, &places, &rates_of(&tree)) else {
            continue;
        };
        let mut first = 0;
        for link in &mut tree {
            let n = link.kind.n_rates();
            link.rates[..n].copy_from_slice(&allowed[first..first + n]);
            // A rate that the loop forbids is zero, not a rounding of it.
            let near_zero = link.rates.iter_mut().filter(|u| u.abs() < 1e-14);
            near_zero.for_each(|u| *u = 0.0);
            first += n;
        }
        return (tree, loops);
    }
    panic!("seed {seed}: no point of the tree can be tied");
}

fn random_loop(dice: &mut Dice, tree: &[Link], directions: &[V]) -> Loop {
    let n_rates: usize = tree.iter().map(|link| link.kind.n_rates()).sum();
    let all = poses(tree, &start_places(tree));
    let b = tree.len() - 1;
    let mut above = vec![b];
    while let Some(p) = tree[above[above.len() - 1]].parent {
        above.push(p);
    }
    let others: Vec<usize> = (0..b).filter(|k| !above.contains(k)).collect();
    let mut tip = dice.vector(0.5);
    if directions.len() == 2 {
        tip[2] = 0.0;
    }
    let place = add(all[b].r, apply(&all[b].turn, tip));
    let most = directions.len().min(n_rates - 1);
    let may_tie = most == directions.len() && !others.is_empty() && dice.roll() > -0.5;
    let a = may_tie.then(|| others[dice.below(others.len())]);
    let n_held = match a {
        Some(_) => most,
        None => 1 + dice.below(most),
    };
    let at = match a {
        Some(a) => apply(&transposed(&all[a].turn), sub(place, all[a].r)),
        None => place,
    };
    Loop {
        a,
        at,
        b,
        tip,
        directions: directions[..n_held].to_vec(),
    }
}

/// A random tree in the plane of x and y.
pub fn random_plane_tree(seed: u64, n: usize) -> Vec<Link> {
    let mut dice = Dice(seed.wrapping_mul(0xA24B_AED4_963E_E407) | 1);
    let flat = |v: V| [v[0], v[1], 0.0];
    let mut tree = random_tree(seed, n);
    for link in &mut tree {
        let slides = dice.roll() > 0.4;
        let turn = 3.0 * dice.roll();
        (link.there, link.here) = (flat(link.there), flat(link.here));
        (link.kind, link.axis, link.angle, link.way) = match slides {
            true => (
                Kind::Prismatic,
                [turn.cos(), turn.sin(), 0.0],
                0.0,
                0.3 * dice.roll(),
            ),
            false => (Kind::Revolute, [0.0, 0.0, 1.0], turn, 0.0),
        };
    }
    tree
}
