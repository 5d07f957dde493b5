//! The balance of energy as a variable of an FMU.
//!
//! In:  a design, and the choice that made it.
//! Out: its [`Export`] with the balance among the outputs, or without it and a warning that says why.
//!
//! The balance is what sources gave and resistors did not take, less what is stored by law. Events may change it; between
//! them it stays what it was but for errors of the integration. The FMU takes off its start and what events do, and
//! shows the rest as `system.residual`.

use crate::code;
use crate::seam::{Export, export, export_with};
use paynter::symbolic::dae::EnergyRole;
use paynter::syntax::Diagnostic;
use paynter::{Choice, Design, DesignError, LinearChoice};

/// As one would write it in an experiment.
const BALANCE: &str = "system.supplied - system.dissipated - system.energy";

/// Why a law may have no energy in C.
const NO_FORMULA: &str =
    "the energy of a storage has no formula: it is found by quadrature of its law";

/// Makes the seam of a design for a format that integrates by itself, with the audit of that integration.
///
/// # Errors
///
/// What cannot be exported, and why.
pub fn export_audited(design: &Design, choice: &Choice) -> Result<Export, Vec<Diagnostic>> {
    if design.graph.bonds.is_empty() {
        return export(design);
    }
    match with_balance(design, choice) {
        Ok(export) => Ok(export),
        Err(why) => {
            // What keeps the model itself from being exported is the better message.
            let mut plain = export(design)?;
            plain.warnings.push(left_out(design, &why));
            Ok(plain)
        }
    }
}

fn with_balance(design: &Design, choice: &Choice) -> Result<Export, String> {
    let asked = Choice {
        linear: Some(LinearChoice {
            to: Some(BALANCE.to_owned()),
            ..choice.linear.clone().unwrap_or_default()
        }),
        ..choice.clone()
    };

    let first = |messages: &[Diagnostic]| {
        let first = messages.iter().find(|m| m.is_error());
        first.map_or_else(String::new, |m| m.message.clone())
    };
    let audited = design.varied(&asked, &[]).map_err(|error| match error {
        DesignError::Unreadable(why) => why,
        DesignError::Model(failed) => first(&failed.diagnostics),
    })?;
    let compiled = audited.compile().map_err(|m| first(&m))?;
    let dae = &compiled.reduced.dae;
    let unknown = dae
        .power
        .iter()
        .find(|p| p.role == EnergyRole::Storage && p.energy.is_none());
    if let Some(port) = unknown {
        let name = dae.names.display(port.name);
        return Err(format!("the energy in `{name}` has no formula"));
    }

    let balance = audited.linear.to.first().map(|q| q.column.value);
    export_with(&audited, balance).map_err(|m| match m.first() {
        // The model itself uses no such function, or its own export says so.
        Some(m) if m.code == code::NO_RECIPE => NO_FORMULA.to_owned(),
        _ => first(&m),
    })
}

fn left_out(design: &Design, why: &str) -> Diagnostic {
    let place = design.plan.places.whole.unwrap_or_default();
    Diagnostic::warning(code::NO_AUDIT, "the FMU has no audit of its energy")
        .primary(place, "exported without `system.residual`")
        .fact(why.to_owned())
}
