//! Robots of URDF files move as they should.

use paynter::exec::Engine;
use paynter::experiment::Outcome;
use paynter::run::{RunChoice, run};
use paynter::syntax::render;
use paynter::{Choice, DesignError};
use paynter_import::import_urdf;
use std::ops::ControlFlow;
use std::path::Path;

/// Imports a robot and runs it with an experiment `e`.
fn run_robot(name: &str, urdf: &str, experiment: &str) -> Outcome {
    let imported = import_urdf("robot.urdf", urdf);
    let shown = render(&imported.diagnostics, &imported.sources, false);
    let model = imported.text.unwrap_or_else(|| panic!("{shown}"));
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.bond", std::process::id()));
    std::fs::write(&path, format!("{model}\n{experiment}\n")).expect("it can be written");
    let choice = Choice {
        experiment: Some("e".to_owned()),
        ..Choice::default()
    };
    let design = paynter::design(&path, &choice).unwrap_or_else(|error| match error {
        DesignError::Model(failed) => panic!(
            "{}\n{model}",
            render(&failed.diagnostics, &failed.sources, false)
        ),
        DesignError::Unreadable(message) => panic!("{message}"),
    });
    std::fs::remove_file(&path).expect("it was written here");
    let choice = RunChoice {
        engine: Engine::Auto,
        ..RunChoice::default()
    };
    let outcome = run(&design, &choice, &mut |_| ControlFlow::Continue(()));
    outcome.unwrap_or_else(|d| panic!("{}\n{model}", render(&d, &design.project.sources, false)))
}

fn last(outcome: &Outcome, name: &str) -> f64 {
    let column = outcome.run.table.column(name);
    let values = &column
        .unwrap_or_else(|| panic!("`{name}` is not recorded"))
        .values;
    *values.last().expect("rows")
}

/// A flap on a seat that is moved and turned, its centre and its principal axes off the hinge, with a tool fixed to it.
const FLAP: &str = r#"<?xml version="1.0"?>
<robot name="flap-1">
  <link name="base link"/>
  <link name="flap">
    <visual><geometry><box size="1 1 1"/></geometry></visual>
    <inertial>
      <origin xyz="0.3 0.1 -0.2" rpy="0.4 -0.7 1.1"/>
      <mass value="2.5"/>
      <inertia ixx="0.2" ixy="0.01" ixz="-0.02" iyy="0.25" iyz="0.03" izz="0.3"/>
    </inertial>
  </link>
  <link name="tool"/>
  <joint name="hinge" type="revolute">
    <parent link="base link"/>
    <child link="flap"/>
    <origin xyz="1 2 3" rpy="0.3 0.2 -0.5"/>
    <axis xyz="0 1 0.5"/>
    <dynamics damping="0.05"/>
    <limit lower="-1" upper="2" effort="10" velocity="5"/>
  </joint>
  <joint name="tip" type="fixed">
    <parent link="flap"/><child link="tool"/>
    <origin xyz="0.5 0 0"/>
  </joint>
</robot>"#;

type V = [f64; 3];
type M = [V; 3];

fn apply(m: &M, v: V) -> V {
    std::array::from_fn(|i| (0..3).map(|k| m[i][k] * v[k]).sum())
}

fn product(a: &M, b: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn dot(a: V, b: V) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn cross(a: V, b: V) -> V {
    std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
}

/// A turn about any axis (Rodrigues).
fn turn(axis: V, angle: f64) -> M {
    let n = dot(axis, axis).sqrt();
    let u = axis.map(|x| x / n);
    let (s, c) = angle.sin_cos();
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let e: V = std::array::from_fn(|k| f64::from(u8::from(k == j)));
            c * e[i] + s * cross(u, e)[i] + (1.0 - c) * u[i] * u[j]
        })
    })
}

#[test]
fn a_flap_falls_by_the_law_of_its_hinge() {
    let experiment = "experiment e of Flap_1 { stop = 1.5 [s]; rtol = 1e-10
        record hinge.angle as q, hinge.rate as u, tool_frame.out.r as p, hinge_to_limit as room }";
    let outcome = run_robot("flap", FLAP, experiment);

    let rpy = |r: f64, p: f64, y: f64| {
        let (z, y, x) = (
            turn([0.0, 0.0, 1.0], y),
            turn([0.0, 1.0, 0.0], p),
            turn([1.0, 0.0, 0.0], r),
        );
        product(&product(&z, &y), &x)
    };
    let axis: V = [0.0, 1.0, 0.5];
    let u = axis.map(|x| x / dot(axis, axis).sqrt());
    let inner = rpy(0.4, -0.7, 1.1);
    let moments: M = [[0.2, 0.01, -0.02], [0.01, 0.25, 0.03], [-0.02, 0.03, 0.3]];
    let across = [0, 1, 2].map(|k| (0..3).map(|i| inner[i][k] * u[i]).sum::<f64>());
    let centre = [0.3, 0.1, -0.2];
    let arm = cross(u, centre);
    let inertia = dot(across, apply(&moments, across)) + 2.5 * dot(arm, arm);
    let seat = rpy(0.3, 0.2, -0.5);
    let pull = |q: f64, w: f64| {
        let lever = apply(&product(&seat, &turn(axis, q)), arm);
        (-2.5 * 9.81 * lever[2] - 0.05 * w) / inertia
    };
    let (mut q, mut w, h) = (0.0, 0.0, 1e-4);
    for _ in 0..15_000 {
        let (k1, l1) = (w, pull(q, w));
        let (k2, l2) = (w + 0.5 * h * l1, pull(q + 0.5 * h * k1, w + 0.5 * h * l1));
        let (k3, l3) = (w + 0.5 * h * l2, pull(q + 0.5 * h * k2, w + 0.5 * h * l2));
        let (k4, l4) = (w + h * l3, pull(q + h * k3, w + h * l3));
        q += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        w += h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4);
    }
    assert!(
        (last(&outcome, "q") - q).abs() < 1e-7,
        "{} for {q}",
        last(&outcome, "q")
    );
    assert!(
        (last(&outcome, "u") - w).abs() < 1e-6,
        "{} for {w}",
        last(&outcome, "u")
    );
    let tool = apply(&product(&seat, &turn(axis, q)), [0.5, 0.0, 0.0]);
    for (k, name) in ["p[1]", "p[2]", "p[3]"].iter().enumerate() {
        let place = [1.0, 2.0, 3.0][k] + tool[k];
        assert!((last(&outcome, name) - place).abs() < 1e-7, "{name}");
    }
    let room = (q + 1.0).min(2.0 - q);
    assert!((last(&outcome, "room") - room).abs() < 1e-7);
}

/// A cart on a slope with a ball welded to it, and a stone that nothing holds.
#[test]
fn slides_welds_and_free_links_move() {
    let link = |name: &str, mass: &str| {
        format!(
            "<link name='{name}'><inertial><mass value='{mass}'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial></link>"
        )
    };
    let urdf = format!(
        "<robot name='cart'><link name='world'/>{}{}{}
        <joint name='rail' type='prismatic'><parent link='world'/><child link='model'/><origin rpy='0 0.5 0'/><axis xyz='1 0 0'/></joint>
        <joint name='glue' type='fixed'><parent link='model'/><child link='ball'/><origin xyz='0 0 1' rpy='1 0 0'/></joint>
        <joint name='air' type='floating'><parent link='world'/><child link='stone'/><origin xyz='0 0 5'/></joint></robot>",
        link("model", "2"),
        link("ball", "1"),
        link("stone", "1")
    );
    let experiment = "experiment e of Cart { stop = 1 [s]; rtol = 1e-9; record rail.distance as x, stone.r as s }";
    let outcome = run_robot("cart", &urdf, experiment);
    // Turned by 0.5 rad about y the rail points down: a = g sin 0.5.
    let x = 0.5 * 9.81 * 0.5f64.sin();
    assert!(
        (last(&outcome, "x") - x).abs() < 1e-8,
        "{}",
        last(&outcome, "x")
    );
    assert!((last(&outcome, "s[3]") - (5.0 - 4.905)).abs() < 1e-8);
}
