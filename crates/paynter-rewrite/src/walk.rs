//! Visits every expression and every reference of statements, with their places.
//!
//! In:  statements of a model or an experiment.
//! Out: calls of a [`Visit`], in text order.

use paynter::syntax::ast::{
    Action, Arg, Assign, Decl, Define, ExperimentKind, ExperimentStmt, Expr, ExprKind, Kind, Node,
    NodeKind, PortBinding, Range, Ref, Stmt, StmtKind,
};

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At<'a> {
    /// `start x.f = value`, `guess`, `reinit`.
    Assigned(&'a Assign),
    /// `trim x`, `linearize from x`: only another name may stand there.
    Plain,
    /// A node of a chain, or what a port stands for.
    Node,
}

/// What is reported.
pub trait Visit {
    /// An outermost expression.
    fn expr(&mut self, e: &Expr);
    /// A reference.
    fn reference(&mut self, r: &Ref, at: At<'_>);
}

/// Calls `f` for an expression and all within it, until it says no.
pub fn each(e: &Expr, f: &mut dyn FnMut(&Expr) -> bool) {
    if !f(e) {
        return;
    }
    match &e.kind {
        ExprKind::Matrix { rows, .. } => rows.iter().flatten().for_each(|e| each(e, f)),
        ExprKind::Field { of, .. } | ExprKind::Unary { of, .. } | ExprKind::Transpose(of) => {
            each(of, f);
        }
        ExprKind::Index { of, index } => {
            each(of, f);
            index.iter().for_each(|e| each(e, f));
        }
        ExprKind::Call { args, .. } => args.iter().for_each(|a| each(&a.value, f)),
        ExprKind::Comprehension { body, range, .. } => {
            each(body, f);
            of_range(range, &mut |e| each(e, f));
        }
        ExprKind::Binary { left, right, .. } => {
            each(left, f);
            each(right, f);
        }
        ExprKind::If {
            condition,
            then,
            otherwise,
        } => [condition, then, otherwise]
            .into_iter()
            .for_each(|e| each(e, f)),
        _ => {}
    }
}

fn of_range(range: &Range, f: &mut dyn FnMut(&Expr)) {
    f(&range.from);
    range.to.iter().chain(&range.by).for_each(f);
}

/// Gives the names of a dotted path, such as `r1.e`; none for anything else.
pub fn dotted(e: &Expr) -> Option<Vec<String>> {
    match &e.kind {
        ExprKind::Name(name) => Some(vec![name.text.to_string()]),
        ExprKind::Field { of, name } => {
            let mut path = dotted(of)?;
            path.push(name.text.to_string());
            Some(path)
        }
        _ => None,
    }
}

/// The names of a reference without indices.
pub fn dotted_ref(r: &Ref) -> Option<Vec<String>> {
    let plain = r.parts.iter().all(|p| p.index.is_empty());
    plain.then(|| r.parts.iter().map(|p| p.name.text.to_string()).collect())
}

/// Visits a statement of a model.
pub fn statement(s: &Stmt, v: &mut dyn Visit) {
    match &s.kind {
        StmtKind::Param(decls) | StmtKind::Input(decls) | StmtKind::Output(decls) => {
            decls.iter().for_each(|d| declared(d, v));
        }
        StmtKind::Port(ports) => ports.iter().for_each(|p| bound(p.binding.as_ref(), v)),
        StmtKind::Outer { .. } => {}
        StmtKind::Replaceable { default, .. } => {
            let args = default.iter().flat_map(|d| &d.args);
            args.for_each(|a| v.expr(&a.value));
        }
        StmtKind::NamedBond { chain, .. } | StmtKind::Chain(chain) => {
            chain.groups.iter().flatten().for_each(|n| node(n, v));
        }
        StmtKind::Define(d) => defined(d, v),
        StmtKind::Solve { equations, .. } => {
            for demand in equations {
                v.expr(&demand.left);
                v.expr(&demand.right);
            }
        }
        StmtKind::Invariant(demand) => {
            v.expr(&demand.left);
            v.expr(&demand.right);
        }
        StmtKind::Start(all) | StmtKind::Guess(all) => all.iter().for_each(|a| assigned(a, v)),
        StmtKind::Sample { rate, body } => {
            v.expr(rate);
            body.iter().for_each(|d| defined(d, v));
        }
        StmtKind::When {
            condition, actions, ..
        } => {
            v.expr(condition);
            actions.iter().for_each(|a| acted(a, v));
        }
        StmtKind::For { range, body, .. } => {
            of_range(range, &mut |e| v.expr(e));
            body.iter().for_each(|s| statement(s, v));
        }
        StmtKind::If {
            condition,
            then,
            otherwise,
        } => {
            v.expr(condition);
            then.iter().chain(otherwise).for_each(|s| statement(s, v));
        }
        StmtKind::Layout(_) => {}
    }
}

fn bound(binding: Option<&PortBinding>, v: &mut dyn Visit) {
    match binding {
        Some(PortBinding::Node(r)) => v.reference(r, At::Node),
        Some(PortBinding::Members(members)) => members.iter().for_each(|(_, e)| v.expr(e)),
        None => {}
    }
}

fn acted(action: &Action, v: &mut dyn Visit) {
    match action {
        Action::Reinit(a) => assigned(a, v),
        Action::Define(d) => defined(d, v),
        Action::Stop { .. } => {}
    }
}

fn declared(d: &Decl, v: &mut dyn Visit) {
    d.value.iter().for_each(|e| v.expr(e));
    if let Some(range) = &d.range {
        of_range(range, &mut |e| v.expr(e));
    }
}

fn defined(d: &Define, v: &mut dyn Visit) {
    v.expr(&d.value);
}

fn assigned(a: &Assign, v: &mut dyn Visit) {
    v.reference(&a.target, At::Assigned(a));
    v.expr(&a.value);
}

fn node(n: &Node, v: &mut dyn Visit) {
    match &n.kind {
        NodeKind::Thing { index, kind, .. } => {
            index.iter().for_each(|e| v.expr(e));
            of_kind(kind, v);
        }
        NodeKind::Anonymous(kind) => of_kind(kind, v),
        NodeKind::Ref(r) => v.reference(r, At::Node),
        NodeKind::Tuple(nodes) => nodes.iter().for_each(|n| node(n, v)),
        NodeKind::Fixed => {}
    }
}

/// Visits what an element or part is given.
pub fn of_kind(kind: &Kind, v: &mut dyn Visit) {
    kind.size.iter().for_each(|e| v.expr(e));
    let args = kind.args.iter().flatten();
    args.for_each(|a: &Arg| v.expr(&a.value));
    kind.law.iter().flatten().for_each(|l| v.expr(&l.value));
}

/// Visits a statement of an experiment.
pub fn experiment(s: &ExperimentStmt, v: &mut dyn Visit) {
    match &s.kind {
        // What `with` sets are parameters and inputs; these keep their names.
        ExperimentKind::With(all) => all.iter().for_each(|a| v.expr(&a.value)),
        ExperimentKind::Start(all) | ExperimentKind::Guess(all) => {
            all.iter().for_each(|a| assigned(a, v));
        }
        ExperimentKind::Setting { value, .. } => v.expr(value),
        ExperimentKind::Record(all) => all.iter().for_each(|r| v.expr(&r.value)),
        ExperimentKind::Plot { ys, versus } => ys.iter().chain(versus).for_each(|e| v.expr(e)),
        ExperimentKind::Measure(all) => all.iter().for_each(|(_, e)| v.expr(e)),
        ExperimentKind::Sweep { over, .. } => of_range(over, &mut |e| v.expr(e)),
        ExperimentKind::Optimize {
            over,
            minimize,
            maximize,
            subject,
            worst,
            mean,
        } => {
            over.iter()
                .for_each(|(_, range)| of_range(range, &mut |e| v.expr(e)));
            for e in [minimize, maximize, subject, worst, mean]
                .into_iter()
                .flatten()
            {
                v.expr(e);
            }
        }
        ExperimentKind::Limit(all) => all.iter().for_each(|e| v.expr(e)),
        ExperimentKind::Fit { over, sigmas, .. } => {
            over.iter()
                .for_each(|(_, range)| of_range(range, &mut |e| v.expr(e)));
            sigmas.iter().for_each(|(_, e)| v.expr(e));
        }
        ExperimentKind::Compare { .. } => {}
        ExperimentKind::Trim(refs) => refs.iter().for_each(|r| v.reference(r, At::Plain)),
        ExperimentKind::Linearize { from, to } => {
            from.iter()
                .chain(to)
                .for_each(|r| v.reference(r, At::Plain));
        }
    }
}
