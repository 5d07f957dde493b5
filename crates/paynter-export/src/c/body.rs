//! Bodies of C functions out of routines of the program.
//!
//! In:  a [`Function`]: steps and what is done with their results; the [`Layout`] of the slots.
//! Out: lines of C. Definitions of the model keep their names; what is used once is where it is used.
//!
//! **Invariant:** operations are those of the interpreter, in an order in which everything is computed before it
//! is read; a function returns a status other than 0 as soon as equations cannot be solved.

use super::layout::{Layout, SlotPlace};
use super::text::{Numbers, Text, operation};
use crate::names::{Identifiers, in_comment};
use crate::seam::Export;
use paynter::exec::program::{Instr, Newton, Step};
use paynter::symbolic::SymbolId;
use paynter::symbolic::expr::{External, Recipe};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Row, column and slot of an entry of a matrix.
type MatrixEntry = (u32, u32, u32);

/// A function to be written.
#[derive(Clone, Debug)]
pub(super) struct Function<'p> {
    pub name: String,
    /// Parameters after the model, such as `real *dx`; empty for none.
    pub arguments: &'static str,
    pub comment: String,
    pub parts: Vec<BodyPart<'p>>,
    /// Members that it writes must be read as they are, not copied at the beginning.
    pub reads_members: bool,
}

/// One part of a function.
#[derive(Clone, Debug)]
pub(super) enum BodyPart<'p> {
    Steps(&'p [Step]),
    /// `to = slot;`, with the reason to fail where it must be finite.
    Out {
        to: String,
        slot: u32,
        must_be_finite: bool,
    },
    /// `to += slot;`
    Add {
        to: String,
        slot: u32,
    },
    /// `to = 0;`
    Zero {
        to: String,
    },
    /// A pivot that must stand clear of rounding.
    Check {
        block: u32,
        pivot: u32,
        scale: u32,
    },
    /// Runs parts where a condition of C holds.
    If(String, Vec<BodyPart<'p>>),
}

/// Visits every slot that a function touches, and whether others touch it for sure.
pub(super) fn for_each_slot(function: &Function<'_>, visit: &mut dyn FnMut(u32, bool)) {
    visit_parts(&function.parts, visit);
}

fn visit_parts(parts: &[BodyPart<'_>], visit: &mut dyn FnMut(u32, bool)) {
    for part in parts {
        match part {
            BodyPart::Steps(steps) => steps.iter().for_each(|step| visit_step(step, visit)),
            BodyPart::Out { slot, .. } | BodyPart::Add { slot, .. } => visit(*slot, false),
            BodyPart::Zero { .. } => {}
            BodyPart::Check { pivot, scale, .. } => {
                visit(*pivot, false);
                visit(*scale, false);
            }
            BodyPart::If(_, parts) => visit_parts(parts, visit),
        }
    }
}

fn visit_step(step: &Step, visit: &mut dyn FnMut(u32, bool)) {
    match step {
        Step::Operation(i, _) => {
            visit(i.dst, false);
            i.operands().for_each(|slot| visit(slot, false));
        }
        Step::Call {
            function,
            wants_slopes,
            inputs,
            first_output,
        } => {
            inputs.iter().for_each(|&slot| visit(slot, false));
            let n = n_results(function, *wants_slopes);
            (0..n as u32).for_each(|k| visit(first_output + k, false));
        }
        Step::Linear {
            unknowns,
            matrix,
            right,
            ..
        } => {
            unknowns
                .iter()
                .chain(right)
                .for_each(|&slot| visit(slot, false));
            matrix.iter().for_each(|entry| visit(entry.2, false));
        }
        Step::LinearTangent {
            unknowns,
            tangents,
            matrix,
            right,
            ..
        } => {
            unknowns
                .iter()
                .chain(tangents)
                .for_each(|&slot| visit(slot, false));
            matrix.iter().for_each(|entry| visit(entry.2, false));
            right.iter().for_each(|entry| visit(entry.1, false));
        }
        Step::Newton(newton) => newton.unknowns.iter().for_each(|&slot| visit(slot, true)),
        Step::NewtonTangent {
            tangents,
            residuals,
            ..
        } => {
            tangents.iter().for_each(|&slot| visit(slot, true));
            residuals.iter().for_each(|entry| visit(entry.1, false));
        }
    }
}

/// Visits the slots that a step other than an operation reads.
fn visit_reads(step: &Step, visit: &mut dyn FnMut(u32)) {
    match step {
        Step::Operation(i, _) => i.operands().for_each(visit),
        Step::Call { inputs, .. } => inputs.iter().for_each(|&slot| visit(slot)),
        Step::Linear { matrix, right, .. } => {
            matrix.iter().for_each(|entry| visit(entry.2));
            right.iter().for_each(|&slot| visit(slot));
        }
        Step::LinearTangent {
            unknowns,
            matrix,
            right,
            ..
        } => {
            matrix.iter().for_each(|entry| {
                visit(unknowns[entry.1 as usize]);
                visit(entry.2);
            });
            right.iter().for_each(|entry| visit(entry.1));
        }
        Step::Newton(_) => {}
        Step::NewtonTangent { residuals, .. } => residuals.iter().for_each(|entry| visit(entry.1)),
    }
}

pub(super) fn n_results(function: &Arc<dyn External>, wants_slopes: bool) -> usize {
    let n = function.n_outputs();
    if wants_slopes {
        n * function.n_inputs()
    } else {
        n
    }
}

/// What all bodies are written with.
pub(super) struct Context<'a> {
    pub export: &'a Export,
    pub layout: &'a Layout,
    pub numbers: Numbers,
    /// Numbers of Newton places, by the slot of their first unknown.
    pub newton_places: HashMap<u32, usize>,
    /// Numbers of tangent bodies, by the slot of their first tangent.
    pub tangent_bodies: HashMap<u32, usize>,
    /// Numbers of tables, by the function.
    pub tables: Vec<Arc<dyn External>>,
}

/// Writes a whole function.
pub(super) fn write_function(function: &Function<'_>, context: &Context<'_>) -> String {
    let mut writer = Writer::new(function, context);
    writer.parts(&function.parts);
    writer.flush();
    let mut out = String::new();
    let comma = if function.arguments.is_empty() {
        ""
    } else {
        ", "
    };
    let _ = writeln!(out, "/* {} */", in_comment(&function.comment));
    let _ = writeln!(
        out,
        "HELPER int {}(M *m{comma}{})\n{{",
        function.name, function.arguments
    );
    for line in writer.prologue.iter().chain(&writer.lines) {
        let _ = writeln!(out, "    {line}");
    }
    let _ = writeln!(out, "    (void)m;");
    for argument in function.arguments.split(", ").filter(|a| !a.is_empty()) {
        let name = argument.rsplit([' ', '*']).next().unwrap_or(argument);
        let _ = writeln!(out, "    (void){name};");
    }
    out.push_str("    return STATUS_OK;\n}\n\n");
    out
}

/// Expressions longer than this get a line of their own.
const LONG: usize = 90;

struct Writer<'a> {
    context: &'a Context<'a>,
    reads_members: bool,
    /// How often each local slot is read.
    uses: HashMap<u32, usize>,
    /// Texts of local slots: names, or what will be where it is used.
    texts: HashMap<u32, Text>,
    /// Local slots that were computed and not written yet, in order.
    pending: Vec<u32>,
    names: Identifiers,
    given: HashMap<u32, String>,
    prologue: Vec<String>,
    lines: Vec<String>,
    indent: usize,
    n_temporaries: usize,
    /// The last operation of each definition.
    is_last: HashMap<u32, SymbolId>,
}

impl<'a> Writer<'a> {
    fn new(function: &Function<'_>, context: &'a Context<'a>) -> Self {
        let mut writer = Writer {
            context,
            reads_members: function.reads_members,
            uses: HashMap::new(),
            texts: HashMap::new(),
            pending: Vec::new(),
            names: Identifiers::default(),
            given: HashMap::new(),
            prologue: Vec::new(),
            lines: Vec::new(),
            indent: 0,
            n_temporaries: 0,
            is_last: HashMap::new(),
        };
        writer.count(&function.parts);
        writer
    }

    fn is_local(&self, slot: u32) -> bool {
        *self.context.layout.place(slot) == SlotPlace::Local
    }

    /// Counts readers from the end, so that what nobody reads is not computed.
    fn count(&mut self, parts: &[BodyPart<'_>]) {
        for part in parts.iter().rev() {
            match part {
                BodyPart::Out { slot, .. } | BodyPart::Add { slot, .. } => self.read(*slot),
                BodyPart::Zero { .. } => {}
                BodyPart::Check { pivot, scale, .. } => {
                    self.read(*pivot);
                    self.read(*scale);
                }
                BodyPart::If(_, parts) => self.count(parts),
                BodyPart::Steps(steps) => {
                    let mut owner = None;
                    for step in steps.iter().rev() {
                        let Step::Operation(i, own) = step else {
                            owner = None;
                            visit_reads(step, &mut |slot| self.read(slot));
                            continue;
                        };
                        if let Some(own) = own.filter(|_| *own != owner) {
                            self.is_last.insert(i.dst, own);
                        }
                        owner = *own;
                        if !self.is_local(i.dst) || self.uses.contains_key(&i.dst) {
                            i.operands().for_each(|slot| self.read(slot));
                        }
                    }
                }
            }
        }
    }

    fn read(&mut self, slot: u32) {
        *self.uses.entry(slot).or_default() += 1;
    }

    fn line(&mut self, line: String) {
        self.lines
            .push(format!("{}{line}", "    ".repeat(self.indent)));
    }

    fn parts(&mut self, parts: &[BodyPart<'_>]) {
        for part in parts {
            match part {
                BodyPart::Steps(steps) => steps.iter().for_each(|step| self.step(step)),
                BodyPart::Out {
                    to,
                    slot,
                    must_be_finite,
                } => {
                    let text = self.operand(*slot).text;
                    self.line(format!("{to} = {text};"));
                    if *must_be_finite {
                        self.line(format!("if (!is_finite({to}))"));
                        self.line("    return fail(m, STATUS_NOT_FINITE, -1);".to_owned());
                    }
                }
                BodyPart::Add { to, slot } => {
                    let text = self.operand(*slot).text;
                    self.line(format!("{to} += {text};"));
                }
                BodyPart::Zero { to } => {
                    let zero = self.context.numbers.write(0.0);
                    self.line(format!("{to} = {zero};"));
                }
                BodyPart::Check {
                    block,
                    pivot,
                    scale,
                } => {
                    let (pivot, scale) = (self.operand(*pivot).text, self.operand(*scale).text);
                    self.line(format!(
                        "if (absolute({pivot}) <= {} * EPSILON * ({scale}))",
                        self.context.numbers.write(16.0)
                    ));
                    self.line(format!("    return fail(m, STATUS_SINGULAR, {block});"));
                }
                BodyPart::If(condition, parts) => {
                    self.flush();
                    self.line(format!("if ({condition}) {{"));
                    self.indent += 1;
                    self.parts(parts);
                    self.flush();
                    self.indent -= 1;
                    self.line("}".to_owned());
                }
            }
        }
    }

    /// Writes what still waits to be used: after this, members may change.
    fn flush(&mut self) {
        for slot in std::mem::take(&mut self.pending) {
            // Who is not there any more was used.
            let Some(text) = self.texts.remove(&slot) else {
                continue;
            };
            self.declare(slot, &text.text);
        }
    }

    /// Gives a local slot a variable.
    fn declare(&mut self, slot: u32, text: &str) {
        let own = self
            .is_last
            .get(&slot)
            .and_then(|&s| self.context.export.name(s));
        let name = match own {
            Some(name) => self.names.take(name),
            None => {
                self.n_temporaries += 1;
                self.names.take(&format!("s{}", self.n_temporaries))
            }
        };
        self.line(format!("const real {name} = {text};"));
        self.texts.insert(slot, Text::whole(name));
    }

    fn operand(&mut self, slot: u32) -> Text {
        match self.context.layout.place(slot) {
            SlotPlace::Number(x) => self.context.numbers.text(*x),
            SlotPlace::Member(member) => {
                let named = self.texts.get(&slot).cloned();
                named.unwrap_or_else(|| Text::whole(member.clone()))
            }
            SlotPlace::Given { member, name } if self.reads_members => {
                let _ = name;
                Text::whole(member.clone())
            }
            SlotPlace::Given { member, name } => Text::whole(self.given_name(slot, member, name)),
            SlotPlace::Local => {
                let text = self.texts.get(&slot).cloned();
                let text = text.expect("what is read was computed before");
                if let Some(at) = self.pending.iter().position(|&s| s == slot) {
                    // It is used once, here.
                    self.pending.remove(at);
                    self.texts.remove(&slot);
                }
                text
            }
        }
    }

    /// The name that a member has in this function.
    fn given_name(&mut self, slot: u32, member: &str, name: &str) -> String {
        if let Some(known) = self.given.get(&slot) {
            return known.clone();
        }
        let own = self.names.take(name);
        self.prologue.push(format!("const real {own} = {member};"));
        self.given.insert(slot, own.clone());
        own
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Operation(i, _) => self.operate(i),
            Step::Call {
                function,
                wants_slopes,
                inputs,
                first_output,
            } => {
                self.flush();
                self.call(function, *wants_slopes, inputs, *first_output);
            }
            Step::Linear {
                block,
                unknowns,
                matrix,
                right,
            } => {
                self.flush();
                self.linear(*block, unknowns, (matrix, right));
            }
            Step::LinearTangent {
                block,
                unknowns,
                tangents,
                matrix,
                right,
            } => {
                self.flush();
                self.linear_tangent(*block, (unknowns, tangents), (matrix, right));
            }
            Step::Newton(newton) => {
                self.flush();
                self.newton(newton);
            }
            Step::NewtonTangent {
                newton,
                tangents,
                residuals,
                ..
            } => {
                self.flush();
                self.newton_tangent(newton, tangents, residuals);
            }
        }
    }

    fn operate(&mut self, i: &Instr) {
        let is_local = self.is_local(i.dst);
        let n_uses = self.uses.get(&i.dst).copied().unwrap_or(0);
        if is_local && n_uses == 0 {
            return;
        }
        let args: Vec<Text> = i.operands().map(|slot| self.operand(slot)).collect();
        let text = operation(i.op, &args, &self.context.numbers);
        if !is_local {
            let (SlotPlace::Member(member) | SlotPlace::Given { member, .. }) =
                self.context.layout.place(i.dst)
            else {
                unreachable!("nothing computes a number of the text");
            };
            // What others read as well has its name here, too.
            let is_shared = member.starts_with("m->w[");
            match is_shared && n_uses > 0 && self.is_last.contains_key(&i.dst) {
                true => self.declare(i.dst, &format!("{member} = {}", text.text)),
                false => self.line(format!("{member} = {};", text.text)),
            }
            return;
        }
        let is_named = self.is_last.contains_key(&i.dst);
        if n_uses == 1 && !is_named && text.text.len() <= LONG {
            self.texts.insert(i.dst, text);
            self.pending.push(i.dst);
        } else {
            self.declare(i.dst, &text.text);
        }
    }

    /// `slot = text;`, wherever the slot is.
    fn assign(&mut self, slot: u32, text: &str) {
        match self.context.layout.place(slot) {
            SlotPlace::Local if self.uses.get(&slot).copied().unwrap_or(0) > 0 => {
                self.declare(slot, text)
            }
            SlotPlace::Local | SlotPlace::Number(_) => {}
            SlotPlace::Member(member) | SlotPlace::Given { member, .. } => {
                self.line(format!("{member} = {text};"))
            }
        }
    }

    fn call(
        &mut self,
        function: &Arc<dyn External>,
        wants_slopes: bool,
        inputs: &[u32],
        first: u32,
    ) {
        let args: Vec<String> = inputs.iter().map(|&slot| self.operand(slot).text).collect();
        let n = n_results(function, wants_slopes);
        match function.recipe() {
            Recipe::Table { x, .. } => {
                let which = if wants_slopes { "slope" } else { "value" };
                let mut tables = self.context.tables.iter();
                let table = tables.position(|t| Arc::ptr_eq(t, function));
                let table = table.expect("all tables were listed");
                let (n_points, u) = (x.len(), &args[0]);
                self.assign(
                    first,
                    &format!("table_{which}(table_x{table}, table_y{table}, {n_points}, {u})"),
                );
            }
            Recipe::Inverse { n: rows } | Recipe::Solve { n: rows, .. } => {
                let columns = match function.recipe() {
                    Recipe::Solve { columns, .. } => columns,
                    _ => 0,
                };
                self.n_temporaries += 1;
                let (given, made) = (
                    format!("in{}_", self.n_temporaries),
                    format!("out{}_", self.n_temporaries),
                );
                self.line(format!(
                    "real {given}[{}] = {{{}}};",
                    inputs.len(),
                    args.join(", ")
                ));
                self.line(format!("real {made}[{n}];"));
                let which = if wants_slopes { "slopes" } else { "values" };
                self.line(format!(
                    "if (matrix_{which}(m, {rows}, {columns}, {given}, {made}) != STATUS_OK)"
                ));
                self.line("    return fail(m, STATUS_SINGULAR, -1);".to_owned());
                for k in 0..n {
                    self.assign(first + k as u32, &format!("{made}[{k}]"));
                }
            }
            Recipe::Unknown | Recipe::Foreign => {
                unreachable!("functions without a recipe were refused")
            }
        }
    }

    /// The vector of a block that right sides and solutions are in.
    fn open_block(&mut self, block: u32, what: &str) -> String {
        let names = self.context.export.program.blocks[block as usize].1.iter();
        let names: Vec<&str> = names.filter_map(|&s| self.context.export.name(s)).collect();
        self.line(format!("/* {what} {} */", in_comment(&names.join(", "))));
        format!("block_vector(m, {block}, B_X)")
    }

    fn linear(&mut self, block: u32, unknowns: &[u32], (matrix, right): (&[MatrixEntry], &[u32])) {
        let vector = self.open_block(block, "solved together:");
        let n = unknowns.len();
        let entries: Vec<(usize, String)> = matrix
            .iter()
            .map(|&(row, column, slot)| {
                (row as usize * n + column as usize, self.operand(slot).text)
            })
            .collect();

        let right: Vec<String> = right.iter().map(|&slot| self.operand(slot).text).collect();
        self.line("{".to_owned());
        self.indent += 1;
        self.line(format!(
            "real *a_ = block_matrix(m, {block}), *b_ = {vector};"
        ));
        self.line("int k_;".to_owned());
        self.line(format!("for (k_ = 0; k_ < {}; ++k_)", n * n));
        self.line(format!("    a_[k_] = {};", self.context.numbers.write(0.0)));
        for (at, text) in entries {
            self.line(format!("a_[{at}] += {text};"));
        }
        for (row, text) in right.iter().enumerate() {
            self.line(format!("b_[{row}] = {text};"));
        }
        self.line(format!("if ((k_ = factor_block(m, {block})) != STATUS_OK)"));
        self.line("    return k_;".to_owned());
        self.line(format!("solve_block(m, {block});"));
        self.indent -= 1;
        self.line("}".to_owned());
        self.results(block, unknowns);
    }

    fn results(&mut self, block: u32, slots: &[u32]) {
        let symbols = self.context.export.program.blocks[block as usize].1.clone();
        for (k, &slot) in slots.iter().enumerate() {
            if let Some(&symbol) = symbols.get(k) {
                self.is_last.insert(slot, symbol);
            }
            self.assign(slot, &format!("block_vector(m, {block}, B_X)[{k}]"));
        }
    }

    fn linear_tangent(
        &mut self,
        block: u32,
        (unknowns, tangents): (&[u32], &[u32]),
        (matrix, right): (&[MatrixEntry], &[(u32, u32)]),
    ) {
        let vector = self.open_block(block, "derivatives of");
        let zero = self.context.numbers.write(0.0);
        let mut sums: Vec<String> = vec![zero; unknowns.len()];
        for &(row, slot) in right {
            let text = self.operand(slot).within_product();
            let _ = write!(sums[row as usize], " + {text}");
        }
        for &(row, column, slot) in matrix {
            let z = self.operand(unknowns[column as usize]).within_product();
            let text = self.operand(slot).within_product();
            let _ = write!(sums[row as usize], " - {text} * {z}");
        }
        for (row, sum) in sums.iter().enumerate() {
            self.line(format!("{vector}[{row}] = {sum};"));
        }
        self.line(format!("solve_block(m, {block});"));
        for (k, &slot) in tangents.iter().enumerate() {
            self.assign(slot, &format!("{vector}[{k}]"));
        }
    }

    fn newton(&mut self, newton: &Newton) {
        let place = self.context.newton_places[&newton.unknowns[0]];
        self.open_block(newton.block, "found by Newton's method:");
        self.line("{".to_owned());
        self.line(format!("    const int status_ = newton_solve(m, {place});"));
        self.line("    if (status_ != STATUS_OK)".to_owned());
        self.line("        return status_;".to_owned());
        self.line("}".to_owned());
    }

    fn newton_tangent(&mut self, newton: &Newton, tangents: &[u32], residuals: &[(u32, u32)]) {
        let place = self.context.newton_places[&newton.unknowns[0]];
        let body = self.context.tangent_bodies[&tangents[0]];
        let vector = self.open_block(newton.block, "derivatives of");
        let member = |slot: u32| match self.context.layout.place(slot) {
            SlotPlace::Member(member) => member.clone(),
            _ => unreachable!("tangents of Newton blocks are shared"),
        };
        let members: Vec<String> = tangents.iter().map(|&slot| member(slot)).collect();
        let zero = self.context.numbers.write(0.0);
        for member in &members {
            self.line(format!("{member} = {zero};"));
        }

        let run = format!("if ((status_ = newton_tangent{body}(m)) != STATUS_OK)");
        self.line("{".to_owned());
        self.indent += 1;
        self.line("int status_;".to_owned());
        self.line(run.clone());
        self.line("    return status_;".to_owned());
        self.line(format!(
            "if ((status_ = newton_factor(m, &newton_places[{place}])) != STATUS_OK)"
        ));
        self.line("    return status_;".to_owned());
        for row in 0..tangents.len() {
            self.line(format!("{vector}[{row}] = {zero};"));
        }

        for &(row, slot) in residuals {
            let text = self.operand(slot).within_product();
            self.line(format!("{vector}[{row}] = -{text};"));
        }

        self.line(format!("solve_block(m, {});", newton.block));
        for (k, member) in members.iter().enumerate() {
            self.line(format!("{member} = {vector}[{k}];"));
        }

        self.line(run);
        self.line("    return status_;".to_owned());
        self.indent -= 1;
        self.line("}".to_owned());
    }
}
