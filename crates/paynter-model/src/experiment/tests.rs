//! Facts about experiments, with a scope that knows a handful of names.

use paynter_symbolic::{ExprId, Node, Pool, SymbolId};
use paynter_syntax::{FileId, SourceMap, Span, ast};

use super::*;
use crate::code;

/// A model with the curves `theta [deg]`, `omega [rad/s]`, `cmd [deg]`, `battery.energy`,
/// `fin.stored`, the vector `r` of 3, the parameters `K = 340 N·m/rad`, `n = 5`, and a
/// replaceable part `ctrl`.
struct Model {
    sources: SourceMap,
    pool: Pool,
    found: Vec<Diagnostic>,
}

fn dimension(text: &str) -> Option<Dimension> {
    Some(Unit::parse_text(text).expect("the unit is good").dimension)
}

impl Model {
    fn symbol(&mut self, number: u32) -> ExprId {
        self.pool.symbol(SymbolId(number))
    }
}

impl Scope for Model {
    fn read(&mut self, e: &ast::Expr) -> Option<Read> {
        let one = |e: ExprId, dimension: Option<Dimension>| Read {
            entries: vec![(String::new(), e)],
            dimension,
            unit: None,
        };
        if let ast::ExprKind::Number { value, unit } = &e.kind {
            let unit = unit
                .as_ref()
                .map(|u| Unit::parse(u).expect("the unit is good"));
            let si = unit.as_ref().map_or(*value, |u| u.to_si(*value));
            return Some(one(self.pool.number(si), unit.map(|u| u.dimension)));
        }
        if let ast::ExprKind::Unary {
            op: ast::UnaryOp::Neg,
            of,
        } = &e.kind
        {
            let inner = self.read(of)?;
            let negative = self.pool.neg(inner.entries[0].1);
            return Some(one(negative, inner.dimension));
        }
        let text = self.text(e.span);
        let deg = Some(Unit::parse_text("deg").expect("deg is a unit"));
        Some(match text.trim() {
            "theta" => Read {
                unit: deg,
                ..one(self.symbol(0), dimension("rad"))
            },
            "cmd" => Read {
                unit: deg,
                ..one(self.symbol(1), dimension("rad"))
            },
            "omega" => one(self.symbol(2), dimension("rad/s")),
            "K" => one(self.pool.number(340.0), dimension("N*m/rad")),
            "n" => one(self.pool.number(5.0), None),
            "r" => Read {
                entries: (1..=3)
                    .map(|k| (format!("[{k}]"), self.symbol(10 + k)))
                    .collect(),
                dimension: dimension("m"),
                unit: None,
            },
            "wrong" => {
                let message = Diagnostic::error("E0201", "nothing is called `wrong`");
                self.report(message.primary(e.span, ""));
                return None;
            }
            // Anything else is a curve of unknown unit.
            _ => one(self.symbol(1000 + e.span.start), None),
        })
    }

    fn constant(&mut self, e: ExprId) -> Option<f64> {
        match self.pool.node(e) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn knows(&mut self, name: &ast::Ident) -> bool {
        !matches!(&*name.text, "way" | "speed")
    }

    fn variable(&mut self, target: &ast::Ref) -> Option<SettableValue> {
        let text = self.text(target.span);
        let path = text.trim().to_owned();
        match path.as_str() {
            "K" => Some(SettableValue {
                path,
                dimension: dimension("N*m/rad"),
                is_part: false,
                unit: None,
            }),
            "n" => Some(SettableValue {
                path,
                dimension: None,
                is_part: false,
                unit: None,
            }),
            "ctrl" => Some(SettableValue {
                path,
                dimension: None,
                is_part: true,
                unit: None,
            }),
            _ => {
                let message = Diagnostic::error("E0221", format!("`{path}` cannot be changed"));
                self.report(message.primary(target.span, ""));
                None
            }
        }
    }

    fn text(&self, span: Span) -> String {
        self.sources.text(span).to_owned()
    }

    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }
}

fn run(body: &str) -> (Plan, Vec<Diagnostic>) {
    let text = format!("experiment e of M {{\n{body}\n}}\n");
    let mut sources = SourceMap::new();
    let file: FileId = sources.add("e.bond", text.as_str());
    let parsed = paynter_syntax::parse(file, &text);
    assert!(!parsed.has_errors(), "{body}: {:?}", parsed.diagnostics);
    let experiment = match &parsed.ast.items[0].kind {
        ast::ItemKind::Experiment(experiment) => experiment,
        other => unreachable!("an experiment, not {other:?}"),
    };
    let mut model = Model {
        sources,
        pool: Pool::new(),
        found: Vec::new(),
    };
    let plan = plan_in(experiment, &mut model);
    (plan, model.found)
}

fn good(body: &str) -> Plan {
    let (plan, found) = run(body);
    assert!(found.is_empty(), "{body}: {found:?}");
    plan
}

fn codes(body: &str) -> Vec<&'static str> {
    run(body).1.iter().map(|d| d.code).collect()
}

fn helps(body: &str) -> String {
    run(body)
        .1
        .iter()
        .flat_map(|d| d.help.clone())
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn settings_are_read_in_si() {
    let plan = good(
        "stop = 20 [ms]; rtol = 1e-9; atol = 1e-12; output_step = 0.2 [ms]; output_start = 1 [ms]; max_step = 1 [ms]",
    );
    assert_eq!(
        (plan.start, plan.stop, plan.is_stop_default),
        (0.0, 0.02, false)
    );
    assert_eq!((plan.rtol, plan.atol), (1e-9, Some(1e-12)));
    assert_eq!(
        (plan.output_step, plan.output_start, plan.max_step),
        (Some(2e-4), Some(1e-3), Some(1e-3))
    );
    assert_eq!(plan.name.as_deref(), Some("e"));
    // Without unit, a bare number is taken as SI.
    assert_eq!(good("stop = 3").stop, 3.0);
    let plan = good("");
    assert!(plan.is_stop_default && plan.stop == DEFAULT_STOP && plan.method == Method::Auto);
}

#[test]
fn methods_are_read_with_their_step() {
    for (text, method, step) in [
        ("auto", Method::Auto, None),
        ("dop853", Method::Dop853, None),
        ("tsit5", Method::Tsit5, None),
        ("rodas5p", Method::Rodas5P, None),
        ("bdf", Method::Bdf, None),
        ("ab2(step = 2 [ms])", Method::Ab2, Some(0.002)),
        ("rk4(1 [ms])", Method::Rk4, Some(0.001)),
        ("euler(step = 1e-3)", Method::Euler, Some(1e-3)),
    ] {
        let plan = good(&format!("method = {text}"));
        assert_eq!((plan.method, plan.fixed_step), (method, step), "{text}");
    }
    assert_eq!(good("step = 1 [ms]; method = rk4").fixed_step, Some(1e-3));
}

#[test]
fn constraints_are_read() {
    assert_eq!(
        good("constraints = multiplier").constraints,
        Constraints::Multiplier
    );
    assert_eq!(
        good("constraints = parasitic(k = 1e7 [N/m], b = 200 [N*s/m])").constraints,
        Constraints::Parasitic(Parasitic {
            k: Some(1e7),
            b: Some(200.0),
            ..Parasitic::default()
        })
    );
}

#[test]
fn wrong_settings_are_told() {
    for (body, expected) in [
        ("stopp = 1 [s]", code::UNKNOWN_SETTING),
        ("stop = 1 [m]", code::SETTING_UNIT),
        ("stop = -1 [s]", code::STOP_BEFORE_START),
        ("start = 2 [s]; stop = 1 [s]", code::STOP_BEFORE_START),
        ("start = 2 [s]", code::STOP_BEFORE_START),
        (
            "stop = 1 [s]; output_start = 2 [s]",
            code::STOP_BEFORE_START,
        ),
        ("stop = 1 [s]; stop = 2 [s]", code::SETTING_TWICE),
        ("stop = theta", code::SETTING_VALUE),
        ("stop = other", code::SETTING_VALUE),
        ("stop = r", code::SETTING_VALUE),
        ("rtol = 0", code::SETTING_VALUE),
        ("rtol = -1e-6", code::SETTING_VALUE),
        ("rtol = 2", code::SETTING_VALUE),
        ("atol = 0", code::SETTING_VALUE),
        ("output_step = 0 [s]", code::SETTING_VALUE),
        ("stop = 1 [day]; output_step = 1 [ns]", code::SETTING_VALUE),
        ("output_step = 1 [Hz]", code::SETTING_UNIT),
        ("method = radau5", code::UNKNOWN_METHOD),
        ("method = 3", code::UNKNOWN_METHOD),
        ("method = rk4", code::SETTING_VALUE),
        ("method = ab2(size = 1 [s])", code::SETTING_VALUE),
        ("method = ab2(step = 1 [m])", code::SETTING_UNIT),
        ("constraints = sloppy", code::UNKNOWN_CONSTRAINTS),
        ("constraints = parasitic(c = 1)", code::UNKNOWN_CONSTRAINTS),
        ("constraints = minimal(k = 1)", code::UNKNOWN_CONSTRAINTS),
        ("compare \"f.csv\" within 0", code::SETTING_VALUE),
        ("compare \"f.csv\" within 1 [m]", code::SETTING_UNIT),
    ] {
        let found = codes(body);
        assert_eq!(found.first(), Some(&expected), "{body}");
    }
    assert_eq!(helps("stopp = 1 [s]"), "did you mean `stop`?");
    assert_eq!(helps("method = dop583"), "did you mean `dop853`?");
    assert!(helps("method = radau5").contains("rodas5p"));
}

#[test]
fn columns_have_names_and_units() {
    let plan = good("record theta, omega as w, r, theta [rad] as angle");
    let shown: Vec<(String, String)> = plan
        .columns
        .iter()
        .map(|c| {
            (
                c.name.clone(),
                c.unit.as_ref().map_or(String::new(), |u| u.text.clone()),
            )
        })
        .collect();
    let expected = [
        ("theta", "deg"),
        ("w", "1/s"),
        ("r[1]", "m"),
        ("r[2]", "m"),
        ("r[3]", "m"),
        ("angle", "rad"),
    ];
    assert_eq!(shown, expected.map(|(n, u)| (n.to_owned(), u.to_owned())));
    let plan = good("plot theta, cmd; plot omega vs theta");
    assert_eq!(plan.plots.len(), 2);
    assert_eq!(
        plan.plots[1].versus.as_ref().map(|c| c.name.as_str()),
        Some("theta")
    );
    assert_eq!(
        codes("record theta as a, omega as a"),
        [code::DUPLICATE_COLUMN]
    );
    assert_eq!(codes("record theta [m]"), [code::SETTING_UNIT]);
    assert_eq!(codes("record theta [parsec]"), [code::UNKNOWN_UNIT]);
    assert_eq!(codes("record wrong, theta, wrong"), ["E0201", "E0201"]);
    assert_eq!(codes("plot theta vs r"), [code::SETTING_VALUE]);
    // The same column twice is one column.
    assert_eq!(good("record theta, theta").columns.len(), 1);
}

#[test]
fn measures_are_trees_with_units() {
    let plan = good(
        "measure rise = rise_time(theta, 10 [%], 90 [%]), over = overshoot(theta, cmd)\n\
         measure last = final(theta), area = integral(omega), both = rise + 2 [s]\n\
         measure ratio = max(theta)/min(theta), worst = max(rise, final(time_like)), bare = -over",
    );
    let units: Vec<String> = plan
        .measures
        .iter()
        .map(|m| m.unit.as_ref().map_or("-".to_owned(), |u| u.text.clone()))
        .collect();
    assert_eq!(units, ["s", "%", "deg", "-", "s", "-", "s", "%"]);
    match plan.measures[0].value {
        Measure::Of(Functional::RiseTime { low, high, .. }) => {
            assert_eq!((low, high), (0.1, 0.9));
        }
        ref other => unreachable!("a rise time, not {other:?}"),
    }
    assert!(matches!(
        plan.measures[4].value,
        Measure::Arithmetic(Operation::Add, ref a, _) if **a == Measure::Earlier(0)
    ));
    assert!(matches!(
        plan.measures[6].value,
        Measure::Call2(Function2::Max, _, _)
    ));
}

#[test]
fn wrong_measures_are_told() {
    for (body, expected) in [
        ("measure a = theta", code::NOT_A_MEASURE),
        ("measure a = final(r)", code::NOT_A_MEASURE),
        ("measure a = r", code::NOT_A_MEASURE),
        ("measure a = overshot(theta)", code::NOT_A_MEASURE),
        (
            "measure a = final(theta), a = final(omega)",
            code::DUPLICATE_MEASURE,
        ),
        ("measure a = final()", code::MEASURE_ARGUMENTS),
        ("measure a = final(theta, cmd)", code::MEASURE_ARGUMENTS),
        (
            "measure a = rise_time(theta, mid = 3)",
            code::MEASURE_ARGUMENTS,
        ),
        (
            "measure a = rise_time(theta, 90 [%], 10 [%])",
            code::MEASURE_ARGUMENTS,
        ),
        ("measure a = rise_time(theta, 10)", code::SETTING_VALUE),
        ("measure a = rise_time(theta, 1 [s])", code::SETTING_UNIT),
        ("measure a = overshoot(theta, omega)", code::SETTING_UNIT),
        (
            "measure a = final(theta) + final(omega)",
            code::SETTING_UNIT,
        ),
        ("measure a = final(wrong)", "E0201"),
        (
            "measure a = efficiency(from = battery)",
            code::MEASURE_ARGUMENTS,
        ),
    ] {
        assert_eq!(codes(body), [expected], "{body}");
    }
    assert!(helps("measure a = theta").contains("final(theta)"));
    assert_eq!(
        helps("measure a = overshot(theta)"),
        "did you mean `overshoot`?"
    );
}

#[test]
fn a_measure_of_any_depth_is_answered() {
    let deep = format!("measure a = {}1{}", "-(".repeat(90), ")".repeat(90));
    assert!(codes(&deep).is_empty());
    let long = format!("measure a = {}final(theta)", "final(theta) + ".repeat(300));
    assert!(codes(&long).is_empty());
}

fn values(plan: &Plan) -> Vec<(String, f64)> {
    plan.sweeps[0]
        .values
        .iter()
        .map(|v| match v.setting {
            SweepSetting::Number(x, _) => (v.label.clone(), x),
            _ => (v.label.clone(), f64::NAN),
        })
        .collect()
}

#[test]
fn sweeps_walk_through_their_values() {
    let plan = good("sweep K in [34, 340, 3400] [N*m/rad]");
    assert_eq!(
        values(&plan).iter().map(|v| v.1).collect::<Vec<_>>(),
        [34.0, 340.0, 3400.0]
    );
    assert_eq!(values(&plan)[1].0, "340 N*m/rad");
    let plan = good("sweep K in 1 [N*m/rad] .. 2 [N*m/rad] by 0.1 [N*m/rad]");
    let found = values(&plan);
    assert_eq!(found.len(), 11);
    // No running sum: the last value is the end to one rounding.
    assert!((found[10].1 - 2.0).abs() <= 2.0 * f64::EPSILON);
    assert_eq!(found[3].0, "1.3 N*m/rad");
    assert_eq!(values(&good("sweep n in 1 .. 4")).len(), 4);
    let plan =
        good("sweep constraints in [minimal, multiplier, parasitic(k = 1, b = 2), implicit]");
    assert_eq!(plan.sweeps[0].values.len(), 4);
    assert_eq!(plan.sweeps[0].target, SweepTarget::Constraints);
    let plan = good("sweep method in [dop853, ab2(step = 1 [ms])]");
    assert_eq!(
        plan.sweeps[0].values[1].setting,
        SweepSetting::Method(Method::Ab2, Some(1e-3))
    );
    let plan = good("sweep ctrl in [NL1(), NL2()]; sweep rtol in [1e-4, 1e-6]");
    assert_eq!(
        (plan.sweeps.len(), plan.sweeps[0].values[1].label.as_str()),
        (2, "NL2()")
    );
}

#[test]
fn draws_repeat_with_their_seed_and_fill_their_range() {
    let draw = |seed: u32| {
        let text = format!("sweep n in random(1000, seed = {seed}, from = 2, to = 4)");
        values(&good(&text))
            .into_iter()
            .map(|v| v.1)
            .collect::<Vec<f64>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    let found = draw(1);
    assert!(found.iter().all(|x| (2.0..4.0).contains(x)));
    // The mean of 1000 even draws has a standard deviation of 2/√12/√1000 = 0.018.
    let mean = found.iter().sum::<f64>() / 1000.0;
    assert!((mean - 3.0).abs() < 0.08, "{mean}");
}

#[test]
fn in_a_grid_the_last_sweep_varies_fastest() {
    let mut plan = good("sweep n in 1 .. 2; sweep rtol in [1e-4, 1e-5, 1e-6]");
    assert_eq!(plan.n_points(), 6);
    assert_eq!(plan.place(1), [0, 1]);
    assert_eq!(plan.place(3), [1, 0]);
    assert_eq!(plan.place(5), [1, 2]);
    plan.is_paired = true;
    assert_eq!((plan.n_points(), plan.place(1)), (2, vec![1, 1]));
}

#[test]
fn wrong_sweeps_are_told() {
    for (body, expected) in [
        ("sweep K in [1 [m]]", code::SETTING_UNIT),
        ("sweep K in 1 [N*m/rad] .. 2 [N*m/rad]", code::SWEEP_VALUES),
        ("sweep n in 3 .. 1", code::SWEEP_VALUES),
        ("sweep n in 1 .. 3 by 0", code::SWEEP_VALUES),
        ("sweep n in 1 .. 1e9", code::SWEEP_VALUES),
        ("sweep n in random(5)", code::SWEEP_VALUES),
        (
            "sweep n in random(0, from = 1, to = 2)",
            code::SETTING_VALUE,
        ),
        ("sweep theta in [1, 2]", "E0221"),
        ("sweep method in [dop583]", code::UNKNOWN_METHOD),
        ("sweep constraints in 1 .. 2", code::SWEEP_VALUES),
        ("sweep n in [theta]", code::SETTING_VALUE),
    ] {
        assert_eq!(codes(body), [expected], "{body}");
    }
}

#[test]
fn a_search_has_bounds_aims_and_conditions() {
    let plan = good(
        "measure PI = integral((1 - G/Gc)^2), over = overshoot(theta, cmd)\n\
         optimize K in 1 [N*m/rad] .. 2 [N*m/rad], n in 1 .. 9 {\n\
             minimize PI\n\
             subject over <= 20 [%], gain_margin(pilot.delta) > 3 [dB]\n\
         }",
    );
    let search = plan.optimize.expect("there is a search");
    assert_eq!(search.over.len(), 2);
    assert_eq!(search.over[0].range, Searched::Between(1.0, 2.0));
    assert_eq!(search.aims[0].value, Measure::Earlier(0));
    assert!(search.aims[0].is_small);
    assert_eq!(search.conditions[0].texts.1, "over");
    assert_eq!(search.conditions.len(), 2);
    assert_eq!(search.conditions[1].comparison, Comparison::Greater);
    for (body, expected) in [
        ("optimize n in 1 .. 9 { subject n < 3 }", code::OPTIMIZE),
        ("optimize n in 9 .. 1 { minimize n }", code::OPTIMIZE),
        ("optimize n in 2 { minimize n }", code::OPTIMIZE),
        (
            "optimize n in 1 .. 2, n in 1 .. 3 { minimize n }",
            code::OPTIMIZE,
        ),
        (
            "optimize n in 1 .. 2 { minimize n; worst 3 }",
            code::OPTIMIZE,
        ),
        (
            "optimize n in 1 .. 9 { minimize n; subject n }",
            code::OPTIMIZE,
        ),
        (
            "measure o = overshoot(theta)\noptimize n in 1 .. 9 { minimize n; subject o < 3 [s] }",
            code::SETTING_UNIT,
        ),
        // A ratio is not a level: 3 dB cannot be compared with a plain number that has a unit.
        (
            "measure o = overshoot(theta)\noptimize n in 1 .. 9 { minimize n; subject o < 3 [dB] }",
            code::SETTING_UNIT,
        ),
    ] {
        assert_eq!(codes(body), [expected], "{body}");
    }
}

#[test]
fn trim_linearize_and_compare_are_kept() {
    let plan = good(
        "trim theta, omega; linearize from cmd to theta, r; compare \"a.csv\"; compare \"b.csv\" within 1e-8",
    );
    assert_eq!(
        plan.trim
            .iter()
            .map(|t| t.column.name.as_str())
            .collect::<Vec<_>>(),
        ["theta", "omega"]
    );
    assert_eq!(plan.linearize[0].to.len(), 4);
    assert_eq!(plan.comparisons[1].within, 1e-8);
}

#[test]
fn a_model_alone_records_its_outputs_or_its_states_in_their_units() {
    use crate::elaborate::elaborate;
    use crate::project::{NoFiles, Request, load};
    let shown = |text: &str| -> Vec<String> {
        let (project, messages) = load("m.bond", text, &mut NoFiles);
        assert!(messages.is_empty());
        let request = Request::default();
        let mut model = elaborate(&project, &request)
            .elaborated
            .expect("the model is right");
        let column = |c: Column| match c.unit {
            Some(unit) => format!("{} [{}]", c.name, unit.text),
            None => c.name,
        };
        let plan = default_plan(&mut model);
        plan.columns.into_iter().map(column).collect()
    };
    let states = "s: Se(1 [N*m]) -> j: 1 -> jm: I(1 [kg*m^2]), k: C(1 [rad/N/m]), b: R(1 [N*m*s])
        der(angle) [deg] = j.f
        der(ratio) = 2*ratio";
    assert_eq!(
        shown(&format!("model M {{ {states} }}")),
        ["jm.p [N*m*s]", "k.q [rad]", "angle [deg]", "ratio"]
    );
    let outputs = "theta [deg] = k.q
        output torque = k.e, passed = theta, T = 20 [degC], U [degF] = 300 [K], plain = 2*ratio";
    assert_eq!(
        shown(&format!("model M {{ {states}\n {outputs} }}")),
        [
            "torque [N*m]",
            "passed [deg]",
            "T [degC]",
            "U [degF]",
            "plain"
        ]
    );
}
