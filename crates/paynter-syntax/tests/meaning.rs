//! What text means, as plain data.

mod common;
use common::{messages, read};
use paynter_syntax::ast::{
    Action, Arg, BinaryOp, ExperimentKind, Expr, ExprKind, FunctionBody, ItemKind, KindHead,
    NodeKind, PortBinding, PortMember, Stmt, StmtKind, StrokeAt, UnaryOp, Unit, UseFrom,
};

/// Writes an expression with all its brackets, in the order of Lisp.
fn lisp(expr: &Expr) -> String {
    let all = |exprs: &[Expr]| exprs.iter().map(lisp).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Number { value, unit } => format!("{value}{}", shown(unit)),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Name(name) => name.text.to_string(),
        ExprKind::Matrix { rows, unit } => {
            let rows: Vec<String> = rows.iter().map(|row| all(row)).collect();
            format!("[{}]{}", rows.join("; "), shown(unit))
        }
        ExprKind::Field { of, name } => format!("{}.{}", lisp(of), name.text),
        ExprKind::Index { of, index } => format!("(at {} {})", lisp(of), all(index)),
        ExprKind::Call { function, args } => {
            let name: Vec<&str> = function.segments.iter().map(|s| &*s.text).collect();
            format!("({}{})", name.join("."), arguments(args))
        }
        ExprKind::Comprehension {
            function,
            body,
            variable,
            range,
        } => format!(
            "({} {} for {} {} {})",
            function.segments[0].text,
            lisp(body),
            variable.text,
            lisp(&range.from),
            range.to.as_ref().map_or(String::new(), lisp)
        ),
        ExprKind::Unary { op, of } => {
            let sign = match op {
                UnaryOp::Neg => "neg",
                UnaryOp::Plus => "plus",
                UnaryOp::Not => "not",
            };
            format!("({sign} {})", lisp(of))
        }
        ExprKind::Transpose(of) => format!("{}'", lisp(of)),
        ExprKind::Binary { op, left, right } => {
            format!("({} {} {})", sign(*op), lisp(left), lisp(right))
        }
        ExprKind::If {
            condition,
            then,
            otherwise,
        } => {
            format!(
                "(if {} {} {})",
                lisp(condition),
                lisp(then),
                lisp(otherwise)
            )
        }
    }
}

fn arguments(args: &[Arg]) -> String {
    args.iter()
        .map(|arg| match &arg.name {
            Some(name) => format!(" {}:{}", name.text, lisp(&arg.value)),
            None => format!(" {}", lisp(&arg.value)),
        })
        .collect()
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Pow => "^",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}

fn shown(unit: &Option<Unit>) -> String {
    let Some(unit) = unit else {
        return String::new();
    };
    let factors: Vec<String> = unit
        .factors
        .iter()
        .map(|f| match f.exponent {
            (n, 1) => format!("{}{n}", f.name.text),
            (n, d) => format!("{}{n}/{d}", f.name.text),
        })
        .collect();
    format!("<{}>", factors.join(" "))
}

/// Reads the statements of a model.
fn body(text: &str) -> Vec<Stmt> {
    let file = format!("model M {{\n{text}\n}}");
    assert_eq!(messages(&file), Vec::<String>::new(), "{text}");
    let item = read(&file).ast.items.remove(0);
    let ItemKind::Model(model) = item.kind else {
        panic!("a model was written")
    };
    model.body
}

fn statement(text: &str) -> StmtKind {
    let mut all = body(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0).kind
}

fn expression(text: &str) -> String {
    match statement(&format!("x = {text}")) {
        StmtKind::Define(define) => lisp(&define.value),
        other => panic!("{other:?}"),
    }
}

fn item(text: &str) -> ItemKind {
    assert_eq!(messages(text), Vec::<String>::new(), "{text}");
    read(text).ast.items.remove(0).kind
}

fn experiment(text: &str) -> ExperimentKind {
    match item(&format!("experiment e of M {{ {text} }}")) {
        ItemKind::Experiment(mut e) => e.body.remove(0).kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn operators_hold_as_in_mathematics() {
    assert_eq!(expression("a + b*c^d"), "(+ a (* b (^ c d)))");
    assert_eq!(expression("a - b - c"), "(- (- a b) c)");
    assert_eq!(expression("a/b/c"), "(/ (/ a b) c)");
    assert_eq!(expression("a^b^c"), "(^ a (^ b c))");
    assert_eq!(expression("-x^2"), "(neg (^ x 2))");
    assert_eq!(expression("2^-x"), "(^ 2 (neg x))");
    assert_eq!(expression("-a*b"), "(* (neg a) b)");
    assert_eq!(
        expression("a < b and not c > d or e == f"),
        "(or (and (< a b) (not (> c d))) (== e f))"
    );
    assert_eq!(expression("if a then b else c + 1"), "(if a b (+ c 1))");
    assert_eq!(
        expression("1 + if a then b else if c then d else e"),
        "(+ 1 (if a b (if c d e)))"
    );
}

#[test]
fn a_unit_holds_its_literal_tighter_than_any_operator() {
    assert_eq!(expression("x/1 [deg]"), "(/ x 1<deg1>)");
    assert_eq!(expression("-9.81 [m/s^2]"), "(neg 9.81<m1 s-2>)");
    assert_eq!(expression("[1, 2; 3, 4] [m]"), "[1 2; 3 4]<m1>");
    assert_eq!(
        expression("1e-3 [kg*m^2]*eye(3)"),
        "(* 0.001<kg1 m2> (eye 3))"
    );
    assert_eq!(expression("5[mm]"), "5<mm1>");
}

#[test]
fn units_become_exponents() {
    assert_eq!(expression("1 [J/(kg*K)]"), "1<J1 kg-1 K-1>");
    assert_eq!(expression("1 [1/s]"), "1<s-1>");
    assert_eq!(expression("1 [%]"), "1<%1>");
    assert_eq!(expression("1 [m^0.5]"), "1<m1/2>");
    assert_eq!(expression("1 [m^(-1/3)]"), "1<m-1/3>");
    assert_eq!(expression("1 [(kg*m^2)^2/s]"), "1<kg2 m4 s-1>");
    assert_eq!(expression("1 [a/b/c*d]"), "1<a1 b-1 c-1 d1>");
    assert_eq!(expression("1 [1]"), "1<>");
}

#[test]
fn brackets_that_touch_a_name_are_indices() {
    assert_eq!(
        expression("a.b[i-1].c[2,1]'"),
        "(at (at a.b (- i 1)).c 2 1)'"
    );
    assert_eq!(expression("g(1).K[1]"), "(at (g 1).K 1)");
}

#[test]
fn calls_take_names_and_comprehensions() {
    assert_eq!(expression("f(1, gap = 2, c.d(3))"), "(f 1 gap:2 (c.d 3))");
    assert_eq!(expression("NL2()"), "(NL2)");
    assert_eq!(
        expression("sum(x[i] for i in 1 .. n)"),
        "(sum (at x i) for i 1 n)"
    );
    assert_eq!(expression("table(\"f.csv\")"), "(table \"f.csv\")");
    assert_eq!(expression("f(a == b)"), "(f (== a b))");
}

#[test]
fn a_chain_has_groups_and_arrows() {
    let StmtKind::Chain(chain) = statement("a, b: 1 |-> TF(n) =>| (c, _), d.x[2]") else {
        panic!()
    };
    assert_eq!(
        chain.groups.iter().map(Vec::len).collect::<Vec<_>>(),
        [2, 1, 2]
    );
    assert_eq!(chain.arrows[0].stroke, Some(StrokeAt::Tail));
    assert_eq!(chain.arrows[1].stroke, Some(StrokeAt::Head));
    assert!(!chain.arrows[0].multi && chain.arrows[1].multi);
    assert!(matches!(&chain.groups[1][0].kind, NodeKind::Anonymous(kind) if kind.args.is_some()));
    let NodeKind::Tuple(parts) = &chain.groups[2][0].kind else {
        panic!()
    };
    assert!(matches!(parts[1].kind, NodeKind::Fixed));
}

#[test]
fn zero_and_one_are_junctions_where_a_node_may_stand() {
    let StmtKind::Chain(chain) = statement("a -> 0 -> j: 1[3]") else {
        panic!()
    };
    let NodeKind::Anonymous(zero) = &chain.groups[1][0].kind else {
        panic!()
    };
    assert!(matches!(zero.head, KindHead::Zero(_)));
    let NodeKind::Thing { kind, .. } = &chain.groups[2][0].kind else {
        panic!()
    };
    assert!(matches!(kind.head, KindHead::One(_)) && kind.size.is_some());
}

#[test]
fn kinds_have_sizes_values_laws_and_flags() {
    let StmtKind::Chain(chain) = statement("Sf[3](0, position = x[2]) => w") else {
        panic!()
    };
    let NodeKind::Anonymous(kind) = &chain.groups[0][0].kind else {
        panic!()
    };
    assert_eq!(kind.size.as_ref().map(lisp), Some("3".to_owned()));
    assert_eq!(
        arguments(kind.args.as_deref().expect("values")),
        " 0 position:(at x 2)"
    );
    let text = "spring[i]: C[2] { e[1] = q[1]; e[2] = q[2] } unpowered";
    let StmtKind::Chain(chain) = statement(text) else {
        panic!()
    };
    let NodeKind::Thing { name, index, kind } = &chain.groups[0][0].kind else {
        panic!()
    };
    assert_eq!((&*name.text, index.len()), ("spring", 1));
    assert_eq!(kind.law.as_ref().map(Vec::len), Some(2));
    assert_eq!(&*kind.flags[0].text, "unpowered");
}

#[test]
fn keywords_stay_names_where_a_name_stands() {
    for text in [
        "stop: 1 -> start",
        "in -> record",
        "record = 3",
        "input: 1 -> output",
        "when.f -> sample",
        "layout[1]: 0",
    ] {
        assert!(
            matches!(statement(text), StmtKind::Chain(_) | StmtKind::Define(_)),
            "{text}"
        );
    }
    assert_eq!(expression("start + in*record"), "(+ start (* in record))");
    // A declaration that lost its name is not a signal called `param`.
    assert!(matches!(statement("in = 3"), StmtKind::Define(_)));
    for text in ["param = 3", "output [V] = x", "input = 2 [V]"] {
        assert!(
            !common::messages(&format!("model M {{\n{text}\n}}")).is_empty(),
            "{text}"
        );
    }
}

#[test]
fn a_statement_goes_on_in_brackets_behind_operators_and_before_arrows() {
    assert_eq!(
        body("x = a +\n  b\ny = (1\n  + 2)\na\n  -> b\n  -> c").len(),
        3
    );
    assert_eq!(body("x = 1; y = 2;\nz = 3").len(), 3);
    assert_eq!(expression("if a\n  then b\n  else c"), "(if a b c)");
    assert_eq!(body("a -> b,\n  // fan-out\n  c").len(), 1);
}

#[test]
fn declarations_have_shape_unit_value_and_range() {
    let StmtKind::Param(decls) =
        statement("param J: [3,3] [kg*m^2], k = 5 [N/m] in 0 [N/m] .. 1e6 [N/m], c: Kind = 1")
    else {
        panic!()
    };
    assert_eq!(decls[0].shape.as_ref().map(Vec::len), Some(2));
    assert_eq!(shown(&decls[0].unit), "<kg1 m2>");
    assert_eq!(
        decls[1]
            .range
            .as_ref()
            .and_then(|r| r.to.as_ref())
            .map(lisp),
        Some("1000000<N1 m-1>".into())
    );
    assert!(decls[2].kind.is_some());
}

#[test]
fn documentation_goes_to_what_follows_it() {
    let text = "/// the file\nuse a\n\n/// A model\n/// of two lines\n// aside\nmodel M {\n    /// mass\n    param m = 1 /// not this\n    param a = 1,\n        /// second\n        b = 2\n    /// signal\n    x = 1\n}";
    let file = read(text).ast;
    assert_eq!(file.items[1].doc.as_deref(), Some("A model\nof two lines"));
    let ItemKind::Model(model) = &file.items[1].kind else {
        panic!()
    };
    let StmtKind::Param(first) = &model.body[0].kind else {
        panic!()
    };
    assert_eq!(first[0].doc.as_deref(), Some("mass"));
    let StmtKind::Param(second) = &model.body[1].kind else {
        panic!()
    };
    assert_eq!(
        (second[0].doc.as_deref(), second[1].doc.as_deref()),
        (None, Some("second"))
    );
    let StmtKind::Define(define) = &model.body[2].kind else {
        panic!()
    };
    assert_eq!(define.doc.as_deref(), Some("signal"));
}

#[test]
fn ports_stand_for_nodes_or_members() {
    let StmtKind::Port(ports) =
        statement("port a: rotational[3] = w.x, b: Frame = (rot = w, A = eye(3)), c: hydraulic")
    else {
        panic!()
    };
    assert!(matches!(ports[0].binding, Some(PortBinding::Node(_))));
    assert!(matches!(&ports[1].binding, Some(PortBinding::Members(m)) if m.len() == 2));
    assert!(ports[2].binding.is_none() && ports[0].size.is_some());
}

#[test]
fn statements_of_a_model_are_told_apart() {
    assert!(matches!(
        statement("outer world: World"),
        StmtKind::Outer { .. }
    ));
    assert!(matches!(
        statement("replaceable ctrl: Controller = NL1(a = 1)"),
        StmtKind::Replaceable {
            default: Some(_),
            ..
        }
    ));
    assert!(matches!(
        statement("bond s: a -> b"),
        StmtKind::NamedBond { .. }
    ));
    assert!(
        matches!(statement("solve x, y { x == y; y == 1 }"), StmtKind::Solve { unknowns, equations } if unknowns.len() == 2 && equations.len() == 2)
    );
    assert!(matches!(
        statement("invariant dot(Q, Q) == 1"),
        StmtKind::Invariant(_)
    ));
    assert!(matches!(statement("start a.b = 1, c = 2"), StmtKind::Start(v) if v.len() == 2));
    assert!(matches!(statement("guess a = 1"), StmtKind::Guess(_)));
    assert!(
        matches!(statement("sample at 6 [Hz] { u = pre(u) }"), StmtKind::Sample { body, .. } if body.len() == 1)
    );
    assert!(matches!(
        statement("for i in 1 .. n { a[i]: 0 }"),
        StmtKind::For { .. }
    ));
    assert!(
        matches!(statement("layout { a 1 -2.5; b.c[1] 3 4 }"), StmtKind::Layout(p) if p[0].y == -2.5)
    );
    assert!(matches!(statement("der(x) = 1"), StmtKind::Define(d) if d.is_derivative));
    assert!(matches!(statement("theta [deg] = 1"), StmtKind::Define(d) if d.unit.is_some()));
}

#[test]
fn else_if_is_an_if_inside() {
    let StmtKind::If { otherwise, .. } =
        statement("if a { x = 1 }\nelse if b { x = 2 } else { x = 3 }")
    else {
        panic!()
    };
    let [
        Stmt {
            kind: StmtKind::If { otherwise, .. },
            ..
        },
    ] = otherwise.as_slice()
    else {
        panic!()
    };
    assert_eq!(otherwise.len(), 1);
}

#[test]
fn a_when_has_a_name_and_actions() {
    let text = "when bounce: h < 0 [m] { reinit m.p = -m.p; count = 1; stop \"end\"; stop }";
    let StmtKind::When { name, actions, .. } = statement(text) else {
        panic!()
    };
    assert_eq!(name.map(|n| n.text.to_string()).as_deref(), Some("bounce"));
    assert!(matches!(
        actions.as_slice(),
        [
            Action::Reinit(_),
            Action::Define(_),
            Action::Stop {
                message: Some(_),
                ..
            },
            Action::Stop { message: None, .. }
        ]
    ));
}

#[test]
fn items_are_told_apart() {
    assert!(read("units strict\nuse a").ast.units_strict.is_some());
    assert!(matches!(item("use a.b: C, d"), ItemKind::Use(u) if u.names.len() == 2));
    assert!(
        matches!(item("use \"f.bond\""), ItemKind::Use(u) if matches!(&u.from, UseFrom::File { path, .. } if path == "f.bond"))
    );
    assert!(
        matches!(item("domain heat pseudo { effort T [K]; flow Q [W] }"), ItemKind::Domain(d) if d.pseudo.is_some() && d.variables.len() == 2)
    );
    assert!(
        matches!(item("port P { a: rotational[3]; signal r: [3] [m] }"), ItemKind::PortType(p) if matches!(p.members[1], PortMember::Signal(_)))
    );
    assert!(matches!(item("ez [m] = [0, 0, 1]"), ItemKind::Constant(_)));
    assert!(
        matches!(item("model A extends B(c = 1) { }"), ItemKind::Model(m) if m.extends.is_some())
    );
}

#[test]
fn functions_have_three_kinds_of_bodies() {
    let ItemKind::Function(f) = item("fn f(x, gap = 2) = x*gap") else {
        panic!()
    };
    assert!(f.params[1].value.is_some() && matches!(f.body, FunctionBody::Expr(_)));
    let ItemKind::Function(f) = item("fn f(x) {\n a = x\n return K = a, 2*a\n}") else {
        panic!()
    };
    let FunctionBody::Block { defines, results } = f.body else {
        panic!()
    };
    assert_eq!(
        (defines.len(), results.len(), results[1].0.is_none()),
        (1, 2, true)
    );
    let ItemKind::Function(f) = item("external fn care(A: [n,n]) -> [n,m]") else {
        panic!()
    };
    assert!(matches!(f.body, FunctionBody::External) && f.result_shape.is_some());
}

#[test]
fn statements_of_an_experiment_are_told_apart() {
    assert!(
        matches!(experiment("with a.b = 1, ctrl = NL2()"), ExperimentKind::With(v) if v.len() == 2)
    );
    assert!(matches!(
        experiment("method = ab2(step = 1 [s])"),
        ExperimentKind::Setting { .. }
    ));
    let ExperimentKind::Record(all) = experiment("record a [deg], b.c as d, e as f [mm]") else {
        panic!()
    };
    assert_eq!(shown(&all[0].unit), "<deg1>");
    assert!(all[1].alias.is_some() && all[1].unit.is_none());
    assert!(all[2].alias.is_some() && all[2].unit.is_some());
    assert!(
        matches!(experiment("plot a.f, b vs c"), ExperimentKind::Plot { ys, versus: Some(_) } if ys.len() == 2)
    );
    assert!(
        matches!(experiment("measure a = f(x), b = 2"), ExperimentKind::Measure(v) if v.len() == 2)
    );
    assert!(
        matches!(experiment("sweep a.b in 1 [ft] .. 2 [ft] by 0.5 [ft]"), ExperimentKind::Sweep { over, .. } if over.by.is_some())
    );
    assert!(
        matches!(experiment("sweep k in [1, 2] [N/m]"), ExperimentKind::Sweep { over, .. } if over.to.is_none())
    );
    let text = "optimize a in 1 .. 2, b in 3 .. 4 { minimize c; maximize d; subject e < 1, f > 2 }";
    assert!(
        matches!(experiment(text), ExperimentKind::Optimize { over, minimize, maximize, subject, .. } if over.len() == 2 && minimize.len() == 1 && maximize.len() == 1 && subject.len() == 2)
    );
    assert!(matches!(
        experiment("compare \"a.csv\" within 1e-8"),
        ExperimentKind::Compare {
            within: Some(_),
            ..
        }
    ));
    assert!(matches!(experiment("trim a, b.f"), ExperimentKind::Trim(v) if v.len() == 2));
    assert!(
        matches!(experiment("linearize from a to b, c"), ExperimentKind::Linearize { to, .. } if to.len() == 2)
    );
}

#[test]
fn spans_cover_the_text_of_their_node() {
    let text = "model M {\n    x = a + 2 [m]*b // c\n}";
    let ItemKind::Model(model) = read(text).ast.items.remove(0).kind else {
        panic!()
    };
    let at = |span: paynter_syntax::Span| &text[span.start as usize..span.end as usize];
    assert_eq!(at(model.body[0].span), "x = a + 2 [m]*b");
    let StmtKind::Define(define) = &model.body[0].kind else {
        panic!()
    };
    assert_eq!(at(define.value.span), "a + 2 [m]*b");
}
