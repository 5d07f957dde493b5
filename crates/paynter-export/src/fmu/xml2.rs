//! The model description of FMI 2.0.
//!
//! **Invariant:** indices in the model structure count from 1; references are those of `variables`.

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
         <fmiModelDescription fmiVersion=\"2.0\" generationTool=\"paynter {}\" modelName=\"{}\" guid=\"{token}\" \
         variableNamingConvention=\"{}\" numberOfEventIndicators=\"{}\">\n",
        env!("CARGO_PKG_VERSION"),
        escape(&export.model),
        naming(variables),
        export.program.n_guards
    );

    let can = "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\" providesDirectionalDerivative=\"true\"";
    let sources =
        format!("    <SourceFiles>\n      <File name=\"{prefix}.c\"/>\n    </SourceFiles>\n");
    let _ = write!(
        out,
        "  <ModelExchange modelIdentifier=\"{prefix}\" {can}>\n{sources}  </ModelExchange>\n\
         \u{20} <CoSimulation modelIdentifier=\"{prefix}\" canHandleVariableCommunicationStepSize=\"true\" {can}>\n{sources}  </CoSimulation>\n"
    );

    let variable = |k, variable: &_| scalar(export, variables, k, variable);
    out.push_str(&units_to_variables(export, variables, &variable));
    out.push_str(&structure(export, variables));
    out.push_str("</fmiModelDescription>\n");
    out
}

fn scalar(export: &Export, variables: &Variables, reference: usize, variable: &Variable) -> String {
    let (roles, start) = roles(export, variable);
    let derivative = match variable.kind {
        Kind::Rate(k) => format!(
            " derivative=\"{}\"",
            variables.reference(Kind::State(k)) + 1
        ),
        _ => String::new(),
    };
    format!(
        "    <ScalarVariable name=\"{}\" valueReference=\"{reference}\" description=\"{}\"{roles}>\n      <Real{}{derivative}{start}/>\n    </ScalarVariable>\n",
        escape(&variable.name),
        variable.description,
        measures(variable)
    )
}

fn structure(export: &Export, variables: &Variables) -> String {
    let mut out = String::from("  <ModelStructure>\n");
    let unknown = |out: &mut String, kind: Kind| {
        let depends: Vec<usize> = dependencies(export, variables, kind)
            .iter()
            .map(|r| r + 1)
            .collect();
        let index = variables.reference(kind) + 1;
        let _ = writeln!(
            out,
            "      <Unknown index=\"{index}\" dependencies=\"{}\"/>",
            list(&depends)
        );
    };

    let section = |out: &mut String, name: &str, kinds: Vec<Kind>| {
        if kinds.is_empty() {
            return;
        }
        let _ = writeln!(out, "    <{name}>");
        kinds.into_iter().for_each(|kind| unknown(out, kind));
        let _ = writeln!(out, "    </{name}>");
    };

    let (outputs, rates) = unknowns(export);
    section(&mut out, "Outputs", outputs);
    section(&mut out, "Derivatives", rates);
    let initial = initial_unknowns(export, variables);
    if !initial.is_empty() {
        out.push_str("    <InitialUnknowns>\n");
        for reference in initial {
            let _ = writeln!(out, "      <Unknown index=\"{}\"/>", reference + 1);
        }
        out.push_str("    </InitialUnknowns>\n");
    }

    out.push_str("  </ModelStructure>\n");
    out
}
