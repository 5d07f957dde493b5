//! One run, with messages for people where it fails.
//!
//! In:  a [`Compiled`] model and what is asked of the run.
//! Out: a [`Run`]; what `paynter-run` says of failures is explained in the model's names.

use crate::explain::explain;
use paynter_design::compile::Compiled;
use paynter_exec::Machine;
use paynter_run::recorder::Progress;
use paynter_run::simulate as bare;
use paynter_syntax::Diagnostic;

pub use paynter_run::spec::{RunSpec, Wanted};

/// A finished run.
pub type Run = bare::Run<Vec<Diagnostic>>;
/// Why a run ended.
pub type Ending = paynter_run::spec::Ending<Vec<Diagnostic>>;

/// Makes the machine for a run; it can be copied for other parameters.
///
/// # Errors
///
/// What keeps the equations from being run.
pub fn prepare(compiled: &Compiled, spec: &RunSpec) -> Result<Machine, Vec<Diagnostic>> {
    bare::prepare(compiled, spec).map_err(|trouble| explain(&trouble, compiled))
}

/// Runs a machine.
///
/// # Errors
///
/// What keeps the run from starting. A run that starts and fails is not an error here: see [`Ending`].
pub fn simulate(
    machine: &mut Machine,
    compiled: &Compiled,
    spec: &RunSpec,
    progress: Progress<'_>,
) -> Result<Run, Vec<Diagnostic>> {
    let run = bare::simulate(machine, compiled, spec, progress);
    let run = run.map_err(|trouble| explain(&trouble, compiled))?;
    Ok(run.map(|trouble| explain(&trouble, compiled)))
}
