//! Sizes and constant tables that the part of the C file that is the same for all models reads.
//!
//! In:  the seam and its layout.
//! Out: `#define`s, members of the struct, tables.

use super::body::Context;
use super::functions::Places;
use super::layout::Layout;
use super::text::Numbers;
use crate::names::{in_comment, in_string};
use crate::seam::Export;
use paynter::exec::program::{Action, Aim, Program, Step, SwitchKind, Watch};
use paynter::symbolic::expr::{Comparison, Recipe};
use std::collections::HashMap;
use std::fmt::Write as _;

/// How many of everything there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    counts: Vec<(&'static str, usize)>,
    block_at: Vec<usize>,
    block_row_at: Vec<usize>,
}

/// Vectors of each block beside its two matrices; see `blocks.c`.
const BLOCK_VECTORS: usize = 10;

/// How many numbers a member of the struct holds.
enum Count {
    /// A plain number.
    One,
    /// As many as the size of this name says.
    Many(&'static str),
    /// As many for each row of what must vanish.
    PerRow(&'static str),
    /// As many, if there are rows at all.
    WithRows(&'static str),
}
use Count::{Many, One, PerRow, WithRows};

/// Members of the struct: type, name, and how many.
const MEMBERS: &[(&str, &str, Count)] = &[
    ("real", "t", One),
    ("real", "x", Many("N_X")),
    ("real", "u", Many("N_U")),
    ("real", "d", Many("N_DISCRETE")),
    ("unsigned long", "events", One),
    ("unsigned long", "evaluations", One),
    ("unsigned long", "iterations", One),
    ("int", "where", One),
    ("int", "has_moved", One),
    ("int", "is_when_due", One),
    ("real", "before", Many("N_BEFORE")),
    ("real", "left", Many("N_LEFT")),
    ("real", "mode", Many("N_MODES")),
    ("real", "k", Many("N_FIXED")),
    ("real", "w", Many("N_SHARED")),
    ("real", "x_seed", Many("N_X")),
    ("real", "u_seed", Many("N_U")),
    ("real", "time_seed", One),
    ("real", "block", Many("N_BLOCK_ROOM")),
    ("int", "block_row", Many("N_BLOCK_ROWS")),
    ("int", "block_has_last", Many("N_BLOCKS")),
    ("int", "block_may_jump", Many("N_BLOCKS")),
    ("real", "loose", Many("N_LOOSE")),
    ("real", "loose_before", Many("N_LOOSE")),
    ("real", "value", Many("N_SWITCHES")),
    ("real", "value_before", Many("N_SWITCHES")),
    ("real", "value_size", Many("N_SWITCHES")),
    ("int", "has_crossed", Many("N_SWITCHES")),
    ("int", "has_jumped", Many("N_SWITCHES")),
    ("real", "mode_before", Many("N_MODES")),
    ("int", "is_resting", Many("N_MODES")),
    ("real", "moved_value", Many("N_SWITCHES")),
    ("real", "x_at_rest", Many("N_X")),
    ("real", "line", Many("N_LINES")),
    ("real", "guard", Many("N_GUARDS")),
    ("signed char", "side", Many("N_GUARDS")),
    ("signed char", "fired", Many("N_GUARDS")),
    ("long long", "tick", Many("N_CLOCKS")),
    ("real", "condition", Many("N_WHENS")),
    ("int", "held_condition", Many("N_WHENS")),
    ("real", "reinit", Many("N_REINIT")),
    ("real", "assigned", Many("N_ASSIGNED")),
    ("real", "new_x", Many("N_VARIABLES")),
    ("int", "is_set", Many("N_VARIABLES")),
    ("real", "new_d", Many("N_DISCRETE")),
    ("int", "is_assigned", Many("N_DISCRETE")),
    ("int", "aim_row", Many("N_ACTIONS")),
    ("real", "aim_value", Many("N_ACTIONS")),
    ("real", "start_value", Many("N_STARTS")),
    ("real", "late", Many("N_LATE")),
    ("int", "is_free", Many("N_VARIABLES")),
    ("real", "row_value", Many("N_ROWS")),
    ("real", "row_gap", Many("N_ROWS")),
    ("real", "row_dot", Many("N_ROWS")),
    ("real", "row_weight", Many("N_ROWS")),
    ("real", "row_solution", Many("N_ROWS")),
    ("int", "row_order", Many("N_ROWS")),
    ("real", "row_matrix", PerRow("N_ROWS")),
    ("real", "row_slope", PerRow("N_VARIABLES")),
    ("real", "row_step", WithRows("N_VARIABLES")),
    ("real", "row_from", WithRows("N_VARIABLES")),
    ("real", "rk_x0", Many("N_X")),
    ("real", "rk_k", Many("N_X")),
    ("real", "rk_sum", Many("N_X")),
];

impl Sizes {
    pub(super) fn new(export: &Export, layout: &Layout, places: &Places<'_>) -> Self {
        let p = &export.program;
        let mut sizes = Sizes::default();
        let (room, rows) = sizes.place_blocks(p);
        let n_constraints = p.constraints.values.outputs.len();
        let n_hard = p.n_demands + n_constraints;
        let n_aims = p.reinit_targets.values.outputs.len();
        let actions = p.whens.iter().flatten();
        let n_stops = actions.filter(|a| matches!(a, Action::Stop { .. })).count();
        let n_loose = places.newtons.iter().map(|n| n.loose.len()).max();

        let (matrix_n, matrix_wide) = matrices(export);
        sizes.counts = vec![
            ("N_X", export.states.len()),
            ("N_U", export.inputs.len()),
            ("N_Y", export.outputs.len()),
            ("N_VARIABLES", p.states.len()),
            ("N_FIXED", p.fixed.len()),
            ("N_SHARED", layout.n_shared),
            ("N_MODES", p.modes.len()),
            ("N_GUARDS", p.n_guards),
            ("N_SWITCHES", p.switches.outputs.len()),
            ("N_LINES", p.timing.outputs.len()),
            ("N_CORNERS", p.corners.iter().map(|c| c.1.len()).sum()),
            ("N_DISCRETE", p.discrete.len()),
            ("N_BEFORE", p.held_before.len()),
            ("N_LEFT", p.left_limit_slots.len()),
            ("N_CLOCKS", p.clocks.len()),
            ("N_WHENS", p.whens.len()),
            ("N_ACTIONS", p.whens.iter().map(Vec::len).sum()),
            ("N_REINIT", p.reinit_values.outputs.len()),
            ("N_ASSIGNED", p.assigned_values.outputs.len()),
            ("N_AIMS", n_aims),
            ("N_STOPS", n_stops),
            ("N_STARTS", p.starts.len()),
            ("N_LATE", p.late.len()),
            ("N_HARD", n_hard),
            ("N_CONSTRAINTS", n_constraints),
            (
                "N_ROWS",
                n_hard.max(n_aims).max(p.demands.values.outputs.len()),
            ),
            ("N_BLOCKS", p.blocks.len()),
            ("N_NEWTON", places.newtons.len()),
            ("N_LOOSE", n_loose.unwrap_or(0)),
            ("N_BLOCK_ROOM", room),
            ("N_BLOCK_ROWS", rows),
            ("MATRIX_N", matrix_n),
            ("MATRIX_WIDE", matrix_wide),
        ];
        sizes
    }

    /// Places of the blocks, one after the other; gives the room and the rows of all.
    fn place_blocks(&mut self, program: &Program) -> (usize, usize) {
        let (mut room, mut rows) = (0, 0);
        for (n, _) in &program.blocks {
            self.block_at.push(room);
            self.block_row_at.push(rows);
            room += 2 * n * n + BLOCK_VECTORS * n;
            rows += n;
        }
        (room, rows)
    }

    fn get(&self, name: &str) -> usize {
        let found = self.counts.iter().find(|c| c.0 == name);
        found.map_or(0, |c| c.1)
    }

    pub(super) fn macros(&self) -> String {
        let mut out = String::from("\n");
        for (name, n) in &self.counts {
            let _ = writeln!(out, "#define {name} {n}");
        }
        out.push_str("typedef long long tick_count;\n\n");
        out
    }

    /// Members of the struct: type, name, and how many.
    pub(super) fn members(&self) -> Vec<(&'static str, &'static str, Option<usize>)> {
        let rows = self.get("N_ROWS");
        let number = |count: &Count| match count {
            One => None,
            Many(size) => Some(self.get(size)),
            PerRow(size) => Some(rows * self.get(size)),
            WithRows(size) => Some(if rows > 0 { self.get(size) } else { 0 }),
        };
        let member = |(kind, name, count): &(_, _, Count)| (*kind, *name, number(count));
        MEMBERS.iter().map(member).collect()
    }
}

/// Rows and columns of the largest matrices that `inv` and `solve` work on.
fn matrices(export: &Export) -> (usize, usize) {
    let p = &export.program;
    let mut largest = (0, 0);
    let mut visit = |steps: &[Step]| {
        for step in steps {
            if let Step::Call { function, .. } = step {
                let (n, wide) = match function.recipe() {
                    Recipe::Inverse { n } => (n, n),
                    Recipe::Solve { n, columns } => (n, n.max(columns)),
                    _ => (0, 0),
                };
                largest = (largest.0.max(n), largest.1.max(wide));
            }
        }
    };

    let functions = [
        &p.rates,
        &p.outputs,
        &p.reinit_targets,
        &p.demands,
        &p.constraints,
    ];
    for function in functions {
        visit(&function.values.steps);
        visit(&function.tangent);
    }

    let routines = [
        &p.switches,
        &p.timing,
        &p.conditions,
        &p.reinit_values,
        &p.assigned_values,
        &p.left_limits,
        &p.sample_inputs,
        &p.start_values,
        &p.late_values,
        &p.set_up,
    ];

    routines.iter().for_each(|r| visit(&r.steps));
    p.sampled.iter().for_each(|s| visit(&s.routine.steps));
    p.bindings.iter().for_each(|b| visit(&b.2.steps));
    for newton in newtons(p) {
        visit(&newton.body);
        visit(&newton.slopes);
    }
    largest
}

fn newtons(p: &paynter::exec::program::Program) -> Vec<&paynter::exec::program::Newton> {
    let all = [
        &p.rates,
        &p.outputs,
        &p.reinit_targets,
        &p.demands,
        &p.constraints,
    ];
    let steps = all.into_iter().flat_map(|f| &f.values.steps);
    let steps = steps
        .chain(&p.switches.steps)
        .chain(&p.left_limits.steps)
        .chain(&p.sample_inputs.steps);
    let found = steps.filter_map(|step| match step {
        Step::Newton(newton) => Some(&**newton),
        _ => None,
    });
    found.collect()
}

/// `static const TYPE NAME[] = {…};`; one entry of nothing where there is none.
fn array(out: &mut String, kind: &str, name: &str, entries: &[String], nothing: &str) {
    let entries = match entries.is_empty() {
        true => nothing.to_owned(),
        false => entries.join(", "),
    };
    let _ = writeln!(out, "HELPER const {kind} {name}[] = {{{entries}}};");
}

fn numbers_of(values: impl IntoIterator<Item = f64>, numbers: Numbers) -> Vec<String> {
    values.into_iter().map(|x| numbers.write(x)).collect()
}

/// An array of numbers.
fn reals(
    out: &mut String,
    name: &str,
    values: impl IntoIterator<Item = f64>,
    context: &Context<'_>,
) {
    array(out, "real", name, &numbers_of(values, context.numbers), "0");
}

fn kind_of(kind: SwitchKind) -> &'static str {
    match kind {
        SwitchKind::Relation(Comparison::Less) => "KIND_LESS",
        SwitchKind::Relation(Comparison::LessEqual) => "KIND_LESS_EQUAL",
        SwitchKind::Relation(Comparison::Greater) => "KIND_GREATER",
        SwitchKind::Relation(Comparison::GreaterEqual) => "KIND_GREATER_EQUAL",
        SwitchKind::Relation(Comparison::Equal) => "KIND_EQUAL",
        SwitchKind::Relation(Comparison::NotEqual) => "KIND_NOT_EQUAL",
        SwitchKind::Floor => "KIND_FLOOR",
        SwitchKind::Sign => "KIND_SIGN",
    }
}

/// All tables but those of Newton places, which name functions.
pub(super) fn tables(context: &Context<'_>, sizes: &Sizes) -> String {
    let mut out = String::from(
        "\n/* ---- tables of the model --------------------------------------------------- */\n\n",
    );
    parameters(&mut out, context);
    variables(&mut out, context);
    switches(&mut out, context);
    actions(&mut out, context);
    starts(&mut out, context);
    blocks(&mut out, context, sizes);
    for (k, table) in context.tables.iter().enumerate() {
        if let Recipe::Table { x, y } = table.recipe() {
            reals(&mut out, &format!("table_x{k}"), x.iter().copied(), context);
            reals(&mut out, &format!("table_y{k}"), y.iter().copied(), context);
        }
    }
    out.push('\n');
    out
}

fn parameters(out: &mut String, context: &Context<'_>) {
    out.push_str("HELPER const @P@_params default_parameters = {\n");
    for (_, k) in &context.layout.parameters {
        let parameter = &context.export.parameters[*k];
        let value = context.numbers.write(parameter.value);
        let _ = writeln!(out, "    {value}, /* {} */", in_comment(&parameter.name));
    }
    if context.layout.parameters.is_empty() {
        out.push_str("    0\n");
    }
    out.push_str("};\n");
}

fn variables(out: &mut String, context: &Context<'_>) {
    let export = context.export;
    let n = export.program.states.len();
    let (mut place, mut is_input, mut start, mut size) =
        (vec![0; n], vec![0; n], vec![0.0; n], vec![1.0; n]);
    for (k, state) in export.states.iter().enumerate() {
        place[state.variable] = k;
        start[state.variable] = state.start;
        size[state.variable] = if state.nominal > 0.0 {
            state.nominal
        } else {
            1.0
        };
    }

    for (k, input) in export.inputs.iter().enumerate() {
        place[input.variable] = k;
        is_input[input.variable] = 1;
        start[input.variable] = input.start;
    }

    // A state that a start sets by itself is not moved to meet other demands.
    let mut is_sought: Vec<u8> = is_input.iter().map(|i| 1 - i).collect();
    for (aim, is_guess) in &export.program.starts {
        if let Aim::Variable { index, .. } = aim
            && !is_guess
        {
            is_sought[*index] = 0;
        }
    }

    let strings = |v: &[u8]| -> Vec<String> { v.iter().map(u8::to_string).collect() };
    let places: Vec<String> = place.iter().map(usize::to_string).collect();
    array(out, "int", "variable_place", &places, "0");
    array(
        out,
        "unsigned char",
        "variable_is_input",
        &strings(&is_input),
        "0",
    );

    array(
        out,
        "unsigned char",
        "variable_is_sought",
        &strings(&is_sought),
        "0",
    );

    reals(out, "variable_start", start, context);
    reals(out, "variable_size", size, context);
    out.push_str(
        "HELPER real *variable(M *m, int k) { return variable_is_input[k] ? &m->u[variable_place[k]] : &m->x[variable_place[k]]; }\n\
         HELPER real *seed(M *m, int k) { return variable_is_input[k] ? &m->u_seed[variable_place[k]] : &m->x_seed[variable_place[k]]; }\n",
    );
}

fn switches(out: &mut String, context: &Context<'_>) {
    let p = &context.export.program;
    let rows: Vec<String> = p
        .modes
        .iter()
        .map(|mode| match mode.watch {
            Watch::Guard { output, first } => {
                format!("{{{}, {output}, {first}}}", kind_of(mode.kind))
            }
            Watch::Line { output } => format!("{{{}, {output}, -1}}", kind_of(mode.kind)),
        })
        .collect();

    out.push_str("/* guard: number of the first guard, -1 where time alone decides */\n");
    out.push_str("typedef struct { int kind, output, guard; } mode_row;\n");
    array(out, "mode_row", "modes", &rows, "{0, 0, 0}");
    reals(
        out,
        "mode_start",
        context.export.modes.iter().copied(),
        context,
    );

    let corners: Vec<String> = p
        .corners
        .iter()
        .flat_map(|(line, levels)| levels.iter().map(move |level| (line, level)))
        .map(|(line, &level)| format!("{{{line}, {}}}", context.numbers.write(level)))
        .collect();

    out.push_str("typedef struct { int line; real level; } corner_row;\n");
    array(out, "corner_row", "corners", &corners, "{0, 0}");
    let discrete = discrete_places(p);
    let before: Vec<String> = p
        .held_before
        .iter()
        .map(|b| discrete[&b.0].to_string())
        .collect();
    array(out, "int", "before_of", &before, "0");
    let names: Vec<&str> = context
        .export
        .discrete
        .iter()
        .map(|d| d.0.as_str())
        .collect();

    let _ = writeln!(
        out,
        "/* discrete values, m.d: {} */",
        in_comment(&names.join(", "))
    );

    let values = context.export.discrete.iter().map(|d| d.1);
    reals(out, "discrete_start", values, context);
    let clocks: Vec<String> = p
        .clocks
        .iter()
        .map(|c| format!("{{{}.0, {}.0}}", c.0, c.1))
        .collect();

    out.push_str(
        "/* ticks per second */\ntypedef struct { double numerator, denominator; } clock_row;\n",
    );
    array(out, "clock_row", "clocks", &clocks, "{1, 1}");
}

/// Places of the discrete quantities by slot.
fn discrete_places(program: &Program) -> HashMap<u32, usize> {
    let all = program.discrete.iter().enumerate();
    all.map(|(place, &(_, slot, _))| (slot, place)).collect()
}

fn actions(out: &mut String, context: &Context<'_>) {
    let p = &context.export.program;
    let discrete = discrete_places(p);
    let (mut rows, mut stops) = (Vec::new(), Vec::new());
    for (when, actions) in p.whens.iter().enumerate() {
        for action in actions {
            rows.push(match action {
                Action::Set {
                    variable,
                    value,
                    is_negated,
                } => {
                    format!(
                        "{{{when}, ACTION_SET, {variable}, {value}, {}}}",
                        u8::from(*is_negated)
                    )
                }
                Action::Aim { row, value } => format!("{{{when}, ACTION_AIM, {row}, {value}, 0}}"),
                Action::Assign { slot, value } => {
                    format!("{{{when}, ACTION_ASSIGN, {}, {value}, 0}}", discrete[slot])
                }
                Action::Stop { message } => {
                    stops.push(in_string(message));
                    format!("{{{when}, ACTION_STOP, {}, 0, 0}}", stops.len() - 1)
                }
            });
        }
    }

    out.push_str("typedef struct { int when, kind, target, value, is_negated; } action_row;\n");
    array(out, "action_row", "actions", &rows, "{0, 0, 0, 0, 0}");
    array(out, "char *const", "stop_message", &stops, "\"\"");
}

fn starts(out: &mut String, context: &Context<'_>) {
    let p = &context.export.program;
    let discrete = discrete_places(p);
    let calculated: Vec<usize> = context
        .export
        .states
        .iter()
        .filter(|s| s.is_calculated)
        .map(|s| s.variable)
        .collect();

    let mut rows: Vec<(bool, String)> = Vec::new();
    for (k, (aim, is_guess)) in p.starts.iter().enumerate() {
        let row = match aim {
            // A hint was followed when the start was found; a demand that is a number is a start value.
            Aim::Variable { index, is_negated } if calculated.contains(index) && !is_guess => {
                format!(
                    "{{START_VARIABLE, {index}, {k}, {}}}",
                    u8::from(*is_negated)
                )
            }
            Aim::Discrete { slot } => format!("{{START_DISCRETE, {}, {k}, 0}}", discrete[slot]),
            _ => format!("{{START_OTHER, 0, {k}, 0}}"),
        };
        rows.push((!is_guess, row));
    }

    rows.sort_by_key(|r| r.0);
    let rows: Vec<String> = rows.into_iter().map(|r| r.1).collect();
    out.push_str("typedef struct { int kind, target, value, is_negated; } start_row;\n");
    array(out, "start_row", "starts", &rows, "{0, 0, 0, 0}");
    let late: Vec<String> = p
        .late
        .iter()
        .map(|(variable, negated)| format!("{{{variable}, {}}}", u8::from(*negated)))
        .collect();

    out.push_str("typedef struct { int variable, is_negated; } late_row;\n");
    array(out, "late_row", "late", &late, "{0, 0}");
}

fn blocks(out: &mut String, context: &Context<'_>, sizes: &Sizes) {
    let p = &context.export.program;
    let list =
        |v: &mut dyn Iterator<Item = usize>| -> Vec<String> { v.map(|n| n.to_string()).collect() };
    array(
        out,
        "int",
        "block_size",
        &list(&mut p.blocks.iter().map(|b| b.0)),
        "0",
    );

    array(
        out,
        "int",
        "block_at",
        &list(&mut sizes.block_at.iter().copied()),
        "0",
    );

    array(
        out,
        "int",
        "block_row_at",
        &list(&mut sizes.block_row_at.iter().copied()),
        "0",
    );

    let guesses = p.blocks.iter().zip(&p.guesses).flat_map(|(block, found)| {
        (0..block.0).map(|k| {
            found
                .get(k)
                .copied()
                .filter(|x| x.is_finite())
                .unwrap_or(0.0)
        })
    });
    reals(out, "block_guess", guesses, context);
    let messages: Vec<String> = p
        .blocks
        .iter()
        .flat_map(|(_, symbols)| {
            const MOST: usize = 4;
            let shown = symbols
                .iter()
                .take(MOST)
                .filter_map(|&s| context.export.name(s));
            let mut names: Vec<&str> = shown.collect();
            if symbols.len() > MOST {
                names.push("...");
            }
            let names = names.join(", ");
            [
                in_string(&format!("the equations for {names} no longer fix them")),
                in_string(&format!(
                    "no solution of the equations for {names} was found"
                )),
            ]
        })
        .collect();
    array(out, "char *const", "block_message", &messages, "\"\"");
}

/// Where Newton's method is used.
pub(super) fn newton_places(context: &Context<'_>, places: &Places<'_>) -> String {
    let mut out = String::new();
    if places.newtons.is_empty() {
        return out;
    }
    let modes: HashMap<u32, usize> = context
        .export
        .program
        .modes
        .iter()
        .enumerate()
        .map(|(k, m)| (m.slot, k))
        .collect();

    let mut rows = Vec::new();
    for (k, newton) in places.newtons.iter().enumerate() {
        let unknowns: Vec<String> = newton
            .unknowns
            .iter()
            .map(|&s| context.layout.shared_index(s).to_string())
            .collect();
        array(
            &mut out,
            "int",
            &format!("newton_unknown{k}"),
            &unknowns,
            "0",
        );
        let nominals = numbers_of(newton.nominals.iter().copied(), context.numbers);
        array(
            &mut out,
            "real",
            &format!("newton_nominal{k}"),
            &nominals,
            "0",
        );
        let loose: Vec<String> = newton
            .loose
            .iter()
            .map(|l| modes[&l.0].to_string())
            .collect();
        array(&mut out, "int", &format!("newton_loose{k}"), &loose, "0");
        rows.push(format!(
            "    {{{}, newton_unknown{k}, newton_nominal{k}, newton_body{k}, newton_slopes{k}, {}, newton_loose{k}}}",
            newton.block,
            newton.loose.len()
        ));
    }

    let _ = write!(
        out,
        "static const newton_place newton_places[N_NEWTON] = {{\n{}}};\n\n",
        rows.join(",\n")
    );
    out
}
