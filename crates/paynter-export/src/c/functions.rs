//! The functions of the C file: one for each routine of the program, and those that Newton blocks need.
//!
//! In:  the program.
//! Out: [`Function`]s in an order in which each is after those it calls, and where Newton's method is used.

use super::body::{BodyPart, Function};
use paynter::exec::program::{self, Newton, Program, Routine, Step};
use std::collections::HashMap;

/// Where Newton's method is used: numbers that bodies refer to.
#[derive(Clone, Debug, Default)]
pub(super) struct Places<'p> {
    /// In order.
    pub newtons: Vec<&'p Newton>,
    pub by_unknown: HashMap<u32, usize>,
    pub by_tangent: HashMap<u32, usize>,
}

/// Where output number k of a routine goes; none if nobody wants it.
type Target<'t> = &'t dyn Fn(usize) -> Option<String>;

/// Lists all functions. `rate_of` gives the state that a variable of the program is; none for an input.
pub(super) fn functions<'p>(
    program: &'p Program,
    setup: Function<'p>,
    rate_of: &[Option<usize>],
) -> (Vec<Function<'p>>, Places<'p>) {
    let mut list = List::default();
    list.add(setup);
    let rate = |k: usize| rate_of[k].map(|state| format!("v_[{state}]"));
    let entry = |k: usize| Some(format!("v_[{k}]"));
    list.function("rates", "rates of the states", &program.rates, &rate);
    list.function("outputs", "outputs", &program.outputs, &entry);
    list.function(
        "targets",
        "what `reinit` aims at",
        &program.reinit_targets,
        &entry,
    );

    let n_hard = program.n_demands + program.constraints.values.outputs.len();
    let demand = |k: usize| (k < n_hard).then(|| format!("v_[{k}]"));
    list.function(
        "demands",
        "what must vanish at the start",
        &program.demands,
        &demand,
    );

    list.function(
        "constraints",
        "what must stay zero",
        &program.constraints,
        &entry,
    );

    for (name, comment, routine) in plain_routines(program) {
        list.routine(name, comment, routine, &entry);
    }
    list.left_limits(program);
    list.samples(program);
    (list.functions, list.places)
}

/// Routines that are needed without derivatives: name, comment, and what is computed.
fn plain_routines(program: &Program) -> [(&'static str, &'static str, &Routine); 7] {
    [
        (
            "switches",
            "what decides on switches: each compared with zero",
            &program.switches,
        ),
        (
            "timing",
            "lines of time that decide on switches: slope, offset",
            &program.timing,
        ),
        (
            "conditions",
            "conditions of the `when`s",
            &program.conditions,
        ),
        (
            "reinit",
            "values that `reinit` gives",
            &program.reinit_values,
        ),
        (
            "assigned",
            "values that `when`s give to discrete quantities",
            &program.assigned_values,
        ),
        ("starts", "values at the start", &program.start_values),
        (
            "late",
            "values at the start that follow from all others",
            &program.late_values,
        ),
    ]
}

#[derive(Default)]
struct List<'p> {
    functions: Vec<Function<'p>>,
    places: Places<'p>,
}

impl<'p> List<'p> {
    /// Adds a function after those that its Newton blocks need.
    fn add(&mut self, function: Function<'p>) {
        let mut steps: Vec<&'p [Step]> = Vec::new();
        collect_steps(&function.parts, &mut steps);
        for step in steps.into_iter().flatten() {
            match step {
                Step::Newton(newton) => self.newton(newton),
                Step::NewtonTangent { tangents, body, .. } => {
                    self.newton_tangent(tangents[0], body)
                }
                _ => {}
            }
        }
        self.functions.push(function);
    }

    fn newton(&mut self, newton: &'p Newton) {
        if self.places.by_unknown.contains_key(&newton.unknowns[0]) {
            return;
        }
        let number = self.places.newtons.len();
        self.places.newtons.push(newton);
        self.places.by_unknown.insert(newton.unknowns[0], number);
        let mut parts = vec![BodyPart::Steps(&newton.body)];
        let residuals = newton.residuals.iter().enumerate();
        parts.extend(residuals.map(|(k, &slot)| out(format!("r_[{k}]"), slot)));
        let loose = newton.loose.iter().enumerate();
        parts.extend(loose.map(|(k, mode)| out(format!("loose_[{k}]"), mode.2)));
        self.add(Function {
            name: format!("newton_body{number}"),
            arguments: "real *r_, real *loose_",
            comment: "What Newton's method makes zero, and what its switches look at.".to_owned(),
            parts,
            reads_members: true,
        });

        let n = newton.unknowns.len() as u32;
        let mut parts = vec![BodyPart::Steps(&newton.slopes)];
        let entries = newton.jacobian.iter();
        parts.extend(entries.map(|&(row, column, slot)| {
            let to = format!("a_[{}]", row * n + column);
            BodyPart::Add { to, slot }
        }));

        self.add(Function {
            name: format!("newton_slopes{number}"),
            arguments: "real *a_",
            comment: "Its derivatives.".to_owned(),
            parts,
            reads_members: true,
        });
    }

    fn newton_tangent(&mut self, first: u32, body: &'p [Step]) {
        let number = self.places.by_tangent.len();
        self.places.by_tangent.insert(first, number);
        self.add(Function {
            name: format!("newton_tangent{number}"),
            arguments: "",
            comment: "Derivatives of what Newton's method makes zero, along the seeds.".to_owned(),
            parts: vec![BodyPart::Steps(body)],
            reads_members: true,
        });
    }

    /// Values and derivatives.
    fn function(
        &mut self,
        name: &str,
        comment: &str,
        function: &'p program::Function,
        target: Target<'_>,
    ) {
        self.routine(name, comment, &function.values, target);
        let mut parts = vec![BodyPart::Steps(&function.tangent)];
        for (k, slot) in function.tangents.iter().enumerate() {
            let Some(to) = target(k) else { continue };
            parts.push(match slot {
                Some(slot) => out(to, *slot),
                None => BodyPart::Zero { to },
            });
        }
        self.add(Function {
            name: format!("tangent_{name}"),
            arguments: "real *v_",
            comment: format!("Derivatives along the seeds: {comment}."),
            parts,
            reads_members: false,
        });
    }

    fn routine(&mut self, name: &str, comment: &str, routine: &'p Routine, target: Target<'_>) {
        let mut parts = vec![BodyPart::Steps(&routine.steps)];
        let checks = routine.checks.iter();
        parts.extend(checks.map(|&(block, pivot, scale)| BodyPart::Check {
            block,
            pivot,
            scale,
        }));
        for (k, &slot) in routine.outputs.iter().enumerate() {
            parts.extend(target(k).map(|to| out(to, slot)));
        }
        self.add(Function {
            name: format!("routine_{name}"),
            arguments: "real *v_",
            comment: format!("Values: {comment}."),
            parts,
            reads_members: false,
        });
    }

    fn left_limits(&mut self, program: &'p Program) {
        let mut parts = vec![BodyPart::Steps(&program.left_limits.steps)];
        let outputs = program.left_limits.outputs.iter().enumerate();
        parts.extend(outputs.map(|(k, &slot)| out(format!("m->left[{k}]"), slot)));
        self.add(Function {
            name: "routine_left_limits".to_owned(),
            arguments: "",
            comment: "Values just before the present event.".to_owned(),
            parts,
            reads_members: false,
        });
    }

    fn samples(&mut self, program: &'p Program) {
        let mut parts = vec![BodyPart::Steps(&program.sample_inputs.steps)];
        let discrete: HashMap<u32, usize> = program
            .discrete
            .iter()
            .enumerate()
            .map(|(k, d)| (d.1, k))
            .collect();
        for sampled in &program.sampled {
            let inner = vec![
                BodyPart::Steps(&sampled.routine.steps),
                BodyPart::Out {
                    to: format!("m->d[{}]", discrete[&sampled.slot]),
                    slot: sampled.routine.outputs[0],
                    must_be_finite: true,
                },
            ];
            parts.push(BodyPart::If(format!("due_[{}]", sampled.clock), inner));
        }
        self.add(Function {
            name: "routine_samples".to_owned(),
            arguments: "const int *due_",
            comment: "Sampled equations of the clocks that are due.".to_owned(),
            parts,
            reads_members: false,
        });
    }
}

fn out<'p>(to: String, slot: u32) -> BodyPart<'p> {
    BodyPart::Out {
        to,
        slot,
        must_be_finite: false,
    }
}

fn collect_steps<'p>(parts: &[BodyPart<'p>], all: &mut Vec<&'p [Step]>) {
    for part in parts {
        match part {
            BodyPart::Steps(steps) => all.push(steps),
            BodyPart::If(_, parts) => collect_steps(parts, all),
            _ => {}
        }
    }
}
