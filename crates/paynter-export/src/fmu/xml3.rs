//! The model description of FMI 3.0, and how its sources are built.

use super::variables::{Kind, Variable, Variables};
use super::xml::{
    dependencies, escape, initial_unknowns, list, measures, naming, roles, units_to_variables,
    unknowns,
};
use crate::seam::Export;
use std::fmt::Write as _;

/// Writes it.
pub(super) fn description(
    export: &Export,
    variables: &Variables,
    prefix: &str,
    token: &str,
) -> String {
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <fmiModelDescription fmiVersion=\"3.0\" generationTool=\"paynter {}\" modelName=\"{}\" \
         instantiationToken=\"{token}\" variableNamingConvention=\"{}\">\n",
        env!("CARGO_PKG_VERSION"),
        escape(&export.model),
        naming(variables)
    );

    let can = "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" providesDirectionalDerivatives=\"true\"";
    let drifts = !export.program.constraints.rows.is_empty();
    let _ = write!(
        out,
        "  <ModelExchange modelIdentifier=\"{prefix}\" {can} needsCompletedIntegratorStep=\"{drifts}\"/>\n\
         \u{20} <CoSimulation modelIdentifier=\"{prefix}\" {can} canHandleVariableCommunicationStepSize=\"true\" mightReturnEarlyFromDoStep=\"true\"/>\n"
    );

    let variable = |k, variable: &Variable| match variable.kind {
        Kind::Clock(_) => clock(k, variable),
        _ => float64(export, variables, k, variable),
    };
    out.push_str(&units_to_variables(export, variables, &variable));
    out.push_str(&structure(export, variables));
    out.push_str("</fmiModelDescription>\n");
    out
}

/// A clock that the model ticks itself: the importer hears of it and need not know about it.
fn clock(reference: usize, variable: &Variable) -> String {
    format!(
        "    <Clock name=\"{}\" valueReference=\"{reference}\" description=\"{}\" causality=\"output\" intervalVariability=\"triggered\"/>\n",
        escape(&variable.name),
        variable.description
    )
}

fn float64(
    export: &Export,
    variables: &Variables,
    reference: usize,
    variable: &Variable,
) -> String {
    let (roles, start) = roles(export, variable);
    let derivative = match variable.kind {
        Kind::Rate(k) => format!(" derivative=\"{}\"", variables.reference(Kind::State(k))),
        _ => String::new(),
    };
    format!(
        "    <Float64 name=\"{}\" valueReference=\"{reference}\" description=\"{}\"{roles}{}{derivative}{start}/>\n",
        escape(&variable.name),
        variable.description,
        measures(variable)
    )
}

fn structure(export: &Export, variables: &Variables) -> String {
    let mut out = String::from("  <ModelStructure>\n");
    let mut unknown = |name: &str, kind: Kind| {
        let depends = dependencies(export, variables, kind);
        let reference = variables.reference(kind);
        let _ = writeln!(
            out,
            "    <{name} valueReference=\"{reference}\" dependencies=\"{}\"/>",
            list(&depends)
        );
    };

    let (outputs, rates) = unknowns(export);
    for output in outputs {
        unknown("Output", output);
    }
    for k in 0..export.program.clocks.len() {
        unknown("Output", Kind::Clock(k));
    }
    for rate in rates {
        unknown("ContinuousStateDerivative", rate);
    }

    // A clock that ticks is an output that is computed, at the start as well.
    let clocks = (0..export.program.clocks.len()).map(|k| variables.reference(Kind::Clock(k)));
    for reference in initial_unknowns(export, variables)
        .into_iter()
        .chain(clocks)
    {
        let _ = writeln!(out, "    <InitialUnknown valueReference=\"{reference}\"/>");
    }
    for k in 0..export.program.n_guards {
        let reference = variables.reference(Kind::Guard(k));
        let _ = writeln!(out, "    <EventIndicator valueReference=\"{reference}\"/>");
    }
    out.push_str("  </ModelStructure>\n");
    out
}

/// How a tool builds the sources.
pub(super) fn build_description(prefix: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <fmiBuildDescription fmiVersion=\"3.0\">\n\
         \u{20} <BuildConfiguration modelIdentifier=\"{prefix}\">\n\
         \u{20}   <SourceFileSet language=\"C99\">\n\
         \u{20}     <SourceFile name=\"{prefix}.c\"/>\n\
         \u{20}   </SourceFileSet>\n\
         \u{20}   <Library name=\"m\"/>\n\
         \u{20} </BuildConfiguration>\n\
         </fmiBuildDescription>\n"
    )
}
