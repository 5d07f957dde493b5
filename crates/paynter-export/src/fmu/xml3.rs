//! The model description of FMI 3.0, and how its sources are built.

use super::variables::{Kind, Variable, Variables};
use super::xml::{
    default_experiment, dependencies, escape, initial_unknowns, list, naming, nominal_attribute,
    number, range_attributes, unit_attributes, unit_definitions,
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
    out.push_str(&unit_definitions(variables));
    out.push_str("  <LogCategories>\n    <Category name=\"logStatusError\"/>\n    <Category name=\"logStatusWarning\"/>\n    <Category name=\"logAll\"/>\n  </LogCategories>\n");
    out.push_str(&default_experiment(export));
    out.push_str("  <ModelVariables>\n");
    for (k, variable) in variables.all.iter().enumerate() {
        out.push_str(&float64(export, variables, k, variable));
    }
    out.push_str("  </ModelVariables>\n");
    out.push_str(&structure(export, variables));
    out.push_str("</fmiModelDescription>\n");
    out
}

fn float64(
    export: &Export,
    variables: &Variables,
    reference: usize,
    variable: &Variable,
) -> String {
    let (causality, variability, initial) = match variable.kind {
        Kind::Time => ("independent", "continuous", None),
        Kind::State(k) if export.states[k].is_calculated => {
            ("local", "continuous", Some("calculated"))
        }
        Kind::State(_) => ("local", "continuous", Some("exact")),
        Kind::Rate(_) => ("local", "continuous", Some("calculated")),
        Kind::Input(_) => ("input", "continuous", None),
        Kind::Output(_) if variable.is_declared => ("output", "continuous", Some("calculated")),
        Kind::Output(_) => ("local", "continuous", Some("calculated")),
        Kind::Parameter(_) => ("parameter", "fixed", Some("exact")),
        Kind::Bound(_) => ("calculatedParameter", "fixed", Some("calculated")),
        Kind::Number => ("local", "constant", Some("exact")),
        Kind::Discrete(_) => ("local", "discrete", Some("calculated")),
        Kind::Guard(_) => ("local", "continuous", Some("calculated")),
    };
    let initial_text = match (variable.kind, initial) {
        (Kind::Input(_), _) | (_, None) => String::new(),
        (_, Some(initial)) => format!(" initial=\"{initial}\""),
    };
    let has_start = initial == Some("exact") || matches!(variable.kind, Kind::Input(_));
    let start = match has_start {
        true => format!(" start=\"{}\"", number(variable.start)),
        false => String::new(),
    };
    let derivative = match variable.kind {
        Kind::Rate(k) => format!(" derivative=\"{}\"", variables.reference(Kind::State(k))),
        _ => String::new(),
    };
    format!(
        "    <Float64 name=\"{}\" valueReference=\"{reference}\" description=\"{}\" causality=\"{causality}\" variability=\"{variability}\"{initial_text}{}{}{}{derivative}{start}/>\n",
        escape(&variable.name),
        variable.description,
        unit_attributes(variable),
        range_attributes(variable),
        nominal_attribute(variable)
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
    for (k, _) in export
        .outputs
        .iter()
        .enumerate()
        .filter(|(_, o)| o.is_declared)
    {
        unknown("Output", Kind::Output(k));
    }
    for k in 0..export.states.len() {
        unknown("ContinuousStateDerivative", Kind::Rate(k));
    }
    for reference in initial_unknowns(export, variables) {
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
