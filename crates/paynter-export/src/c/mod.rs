//! C code: one header, one source, C99, nothing but math.h.
//!
//! In:  the seam, and [`Options`].
//! Out: [`Files`]: texts that compile without a warning and compute what the interpreter computes.
//!
//! `layout` says where every slot lives, `functions` lists the functions, `body` and `text` write them, `tables`
//! writes what the part that is the same for all models (`runtime/`) reads.
//!
//! **Invariant:** equal models give equal bytes.

mod body;
mod functions;
mod layout;
mod tables;
mod text;

use crate::names::{identifier, in_comment};
use crate::seam::Export;
use body::{BodyPart, Context, Function, write_function};
use functions::functions;
use layout::Layout;
use paynter::exec::program::{Program, Step};
use paynter::model::units::Unit;
use paynter::symbolic::expr::{External, Recipe};
use std::fmt::Write as _;
use std::sync::Arc;
use tables::Sizes;
use text::Numbers;

/// What a caller may choose.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Single precision.
    pub is_float: bool,
    /// What all names of the code begin with; the name of the model where none is given.
    pub prefix: Option<String>,
}

/// The texts.
#[derive(Clone, Debug)]
pub struct Files {
    /// What all public names begin with.
    pub prefix: String,
    /// Text of `PREFIX.h`.
    pub header: String,
    /// Text of `PREFIX.c`.
    pub source: String,
}

const HEADER: &str = include_str!("runtime/header.h");
const REALS: &str = include_str!("runtime/reals.c");
const NUMERICS: &str = include_str!("runtime/numerics.c");
const BLOCKS: &str = include_str!("runtime/blocks.c");
const ROWS: &str = include_str!("runtime/rows.c");
const EVENTS: &str = include_str!("runtime/events.c");
const MODEL: &str = include_str!("runtime/model.c");

/// Writes a model in C.
pub fn write(export: &Export, options: &Options) -> Files {
    let prefix = match &options.prefix {
        Some(prefix) => identifier(prefix),
        None => identifier(&export.model).to_lowercase(),
    };
    let numbers = Numbers {
        is_float: options.is_float,
    };
    let program = &export.program;
    let mut layout = Layout::new(export);
    let setup = setup(program, &layout);
    let mut rate_of = vec![None; program.states.len()];
    for (k, state) in export.states.iter().enumerate() {
        rate_of[state.variable] = Some(k);
    }
    let (functions, places) = functions(program, setup, &rate_of);
    layout.share(&functions);
    let sizes = Sizes::new(export, &layout, &places);
    let context = Context {
        export,
        layout: &layout,
        numbers,
        newton_places: places.by_unknown.clone(),
        tangent_bodies: places.by_tangent.clone(),
        tables: tables_of(&functions),
    };

    let mut source = heading(export, "c");
    let _ = writeln!(source, "#include \"{prefix}.h\"\n");
    let _ = writeln!(
        source,
        "#define REAL_IS_DOUBLE {}",
        u8::from(!options.is_float)
    );

    source.push_str(REALS);
    source.push_str(&sizes.macros());
    source.push_str(NUMERICS);
    source.push_str(&tables::tables(&context, &sizes));
    source.push_str(BLOCKS);
    source.push_str("\n/* ---- the equations of the model -------------------------------------------------------------- */\n\n");
    for function in &functions {
        source.push_str(&write_function(function, &context));
    }
    source.push_str(&tables::newton_places(&context, &places));
    for part in [ROWS, EVENTS, MODEL] {
        source.push_str(part);
    }
    let header = header(&context, &sizes, &prefix);
    Files {
        source: source.replace("@P@", &prefix),
        header: header.replace("@P@", &prefix),
        prefix,
    }
}

fn heading(export: &Export, what: &str) -> String {
    let of = match &export.experiment {
        Some(experiment) => format!(
            "{} with the values of experiment {experiment}",
            export.model
        ),
        None => export.model.clone(),
    };
    format!(
        "/* {}: made by paynter {}; do not edit. ({what}) */\n\n",
        in_comment(&of),
        env!("CARGO_PKG_VERSION")
    )
}

/// Bound parameters, then everything that depends on parameters only.
fn setup<'p>(program: &'p Program, layout: &Layout) -> Function<'p> {
    let mut parts = Vec::new();
    for (_, slot, routine) in &program.bindings {
        parts.push(BodyPart::Steps(&routine.steps));
        if let layout::SlotPlace::Given { member, .. } = layout.place(*slot) {
            parts.push(BodyPart::Out {
                to: member.clone(),
                slot: routine.outputs[0],
                must_be_finite: false,
            });
        }
    }
    parts.push(BodyPart::Steps(&program.set_up.steps));
    let checks = program.set_up.checks.iter();
    parts.extend(checks.map(|&(block, pivot, scale)| BodyPart::Check {
        block,
        pivot,
        scale,
    }));
    Function {
        name: "routine_setup".to_owned(),
        arguments: "",
        comment: "Parameters that follow from others, and what depends on parameters only."
            .to_owned(),
        parts,
        reads_members: true,
    }
}

/// All tables that functions read, each once.
fn tables_of(functions: &[Function<'_>]) -> Vec<Arc<dyn External>> {
    fn visit(steps: &[Step], found: &mut Vec<Arc<dyn External>>) {
        for step in steps {
            if let Step::Call { function, .. } = step
                && matches!(function.recipe(), Recipe::Table { .. })
                && !found.iter().any(|t| Arc::ptr_eq(t, function))
            {
                found.push(function.clone());
            }
        }
    }
    fn visit_parts(parts: &[BodyPart<'_>], found: &mut Vec<Arc<dyn External>>) {
        for part in parts {
            match part {
                BodyPart::Steps(steps) => visit(steps, found),
                BodyPart::If(_, parts) => visit_parts(parts, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    functions
        .iter()
        .for_each(|f| visit_parts(&f.parts, &mut found));
    found
}

/// `name [unit]` for a comment. Numbers are in SI units, whatever unit they are shown in.
pub(crate) fn described(name: &str, unit: Option<&Unit>) -> String {
    match unit {
        Some(unit) => format!("{name} [{}]", unit.dimension.unit().text),
        None => name.to_owned(),
    }
}

fn header(context: &Context<'_>, sizes: &Sizes, prefix: &str) -> String {
    let export = context.export;
    let mut out = heading(export, "h");
    let guard = format!("{}_H", prefix.to_uppercase());
    let kind = if context.numbers.is_float {
        "float"
    } else {
        "double"
    };
    let _ = write!(
        out,
        "#ifndef {guard}\n#define {guard}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\ntypedef {kind} @P@_real;\n\n"
    );
    write_parameters(&mut out, context);
    write_lists(&mut out, export);

    let program = &export.program;
    let _ = write!(
        out,
        "enum {{ @P@_n_x = {}, @P@_n_u = {}, @P@_n_y = {}, @P@_n_guards = {}, @P@_n_clocks = {} }};\n\n",
        export.states.len(),
        export.inputs.len(),
        export.outputs.len(),
        program.n_guards,
        program.clocks.len()
    );

    out.push_str("/* A model. Read p, t, x, u, d; the rest is its own. */\n");
    out.push_str("typedef struct @P@ {\n    @P@_params p;\n");
    for (kind, name, n) in sizes.members() {
        let kind = if kind == "real" { "@P@_real" } else { kind };
        match n {
            None => {
                let _ = writeln!(out, "    {kind} {name};");
            }
            Some(n) => {
                let _ = writeln!(out, "    {kind} {name}[{}];", n.max(1));
            }
        }
    }

    out.push_str("} @P@;\n\n");
    out.push_str(HEADER);
    out.push_str("\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
    out
}

/// The struct of the parameters.
fn write_parameters(out: &mut String, context: &Context<'_>) {
    let export = context.export;
    out.push_str("/* Parameters. */\ntypedef struct {\n");
    for (name, k) in &context.layout.parameters {
        let parameter = &export.parameters[*k];
        let follows = if parameter.is_bound {
            "; follows from others"
        } else {
            ""
        };
        let described = in_comment(&described(&parameter.name, parameter.unit.as_ref()));
        let _ = writeln!(out, "    @P@_real {name}; /* {described}{follows} */");
    }

    if context.layout.parameters.is_empty() {
        out.push_str("    char none;\n");
    }
    out.push_str("} @P@_params;\n\n");
}

/// What states, inputs and outputs are, in comments.
fn write_lists(out: &mut String, export: &Export) {
    let lists = [
        (
            "States, m.x",
            export
                .states
                .iter()
                .map(|s| described(&s.name, s.unit.as_ref()))
                .collect(),
        ),
        (
            "Inputs, m.u",
            export
                .inputs
                .iter()
                .map(|s| described(&s.name, s.unit.as_ref()))
                .collect(),
        ),
        (
            "Outputs",
            export
                .outputs
                .iter()
                .map(|s| described(&s.name, s.unit.as_ref()))
                .collect::<Vec<String>>(),
        ),
    ];

    for (title, names) in lists {
        let _ = writeln!(out, "/* {title}:");
        for (k, name) in names.iter().enumerate() {
            let _ = writeln!(out, "     {k:3}  {}", in_comment(name));
        }
        out.push_str("*/\n");
    }
}
