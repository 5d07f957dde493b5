//! One run: from reduced equations to a table, an energy audit and the work it took.
//!
//! In:  a [`Compiled`] model, what to record and when, method and tolerances.
//! Out: a [`Run`]; if the solver gave up, what it computed until then and why it stopped.

use crate::areas::{Area, Areas};
use crate::audit::{Audit, Booked, audit};
use crate::hybrid::{End, HybridRun, Rechosen};
use crate::ranges::Ranges;
use crate::recorder::{Progress, Recorder, Rows};
use crate::spec::{LeftOpen, prepare_wanted};
use crate::table::{Column, Table};
use crate::trace::Trace;
use crate::trouble::{Cause, Trouble};
use paynter_design::compile::Compiled;
use paynter_design::names::names_of_integrals;
use paynter_exec::{Machine, StartReport, StoredEnergy};
use paynter_solve::Statistics;
use paynter_symbolic::SymbolId;
use paynter_symbolic::reduced::Reduced;
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

pub use crate::spec::{Ending, RunSpec, Wanted};

/// A finished run; see [`Ending`] for `Why`.
#[derive(Clone, Debug)]
pub struct Run<Why = Box<Trouble>> {
    /// Recorded columns.
    pub table: Table,
    /// What measures read, in the order of [`RunSpec::measured`].
    pub traces: Vec<Trace>,
    /// Least and largest value of each recorded column over the whole run, in its unit, where asked for.
    pub ranges: Vec<Option<(f64, f64)>>,
    /// The area under each recorded column, SI units, where asked for.
    pub areas: Vec<Area>,
    /// Where the start came from.
    pub start: StartReport,
    /// Work done.
    pub statistics: Statistics,
    /// Where the energy went.
    pub audit: Option<Audit>,
    /// Energy lost where ideal contacts joined storages: time, number of the contact, J.
    pub losses: Vec<(f64, usize, f64)>,
    /// Switches that stayed on their surface: mode, first time, how often.
    pub slides: Vec<(SymbolId, f64, usize)>,
    /// When other locks were left out as redundant.
    pub rechosen: Vec<Rechosen>,
    /// Switches that wind faster than can be followed: mode, first time.
    pub unresolved: Vec<(SymbolId, f64)>,
    /// The first equations seen to leave their unknowns open: when, unknowns, places.
    pub left_open: Option<LeftOpen>,
    /// The integrals of `Dae::quadratures` over the run.
    pub integrals: Vec<f64>,
    /// Times of state events.
    pub event_times: Vec<f64>,
    /// Why it ended.
    pub ending: Ending<Why>,
    /// States, by name.
    pub states: Vec<String>,
    /// States that start at zero because nobody gave a value, by name.
    pub defaulted: Vec<String>,
    /// Bytes of machine code; none for the interpreter.
    pub machine_code: Option<usize>,
    /// Time on the clock, without compiling.
    pub elapsed: Duration,
}

impl<Why> Run<Why> {
    /// The same run with the reason of its ending told in another way.
    pub fn map<Other>(self, tell: impl FnOnce(Why) -> Other) -> Run<Other> {
        Run {
            ending: self.ending.map(tell),
            table: self.table,
            traces: self.traces,
            ranges: self.ranges,
            areas: self.areas,
            start: self.start,
            statistics: self.statistics,
            audit: self.audit,
            losses: self.losses,
            slides: self.slides,
            rechosen: self.rechosen,
            unresolved: self.unresolved,
            left_open: self.left_open,
            integrals: self.integrals,
            event_times: self.event_times,
            states: self.states,
            defaulted: self.defaulted,
            machine_code: self.machine_code,
            elapsed: self.elapsed,
        }
    }
}

/// Makes the machine for a run; it can be copied for other parameters.
///
/// # Errors
///
/// What keeps the equations from being run.
pub fn prepare(compiled: &Compiled, spec: &RunSpec) -> Result<Machine, Box<Trouble>> {
    prepare_wanted(&compiled.reduced, spec, &[]).map_err(|e| {
        Box::new(Trouble {
            time: spec.start,
            cause: Cause::NotRunnable(e),
            equations: None,
        })
    })
}

/// What a search for positions leaves in a state that nothing moves, as a part of the largest one.
const ROUNDING: f64 = 1e-9;

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
) -> Result<Run, Box<Trouble>> {
    let begin = Instant::now();
    for &(symbol, value) in &spec.parameters {
        machine
            .set_parameter(symbol, value)
            .expect("the caller checked that this is a parameter");
    }
    let graph = &compiled.graph;
    let hybrid = HybridRun::new(machine, &compiled.reduced, graph, spec, None);
    let mut hybrid = hybrid.choosing_locks_of(compiled);
    let start = hybrid.start()?;
    let (machine, at_start) = hybrid.at_present();
    let nicer = names_of_integrals(graph, at_start);
    let name = |s: &SymbolId| {
        let nicer = nicer.get(s).cloned();
        nicer.unwrap_or_else(|| at_start.dae.name_of(*s))
    };
    let states = machine.independent_states(spec.start, &start.y0);
    let states = states.iter().map(name).collect();
    let defaulted = defaulted_to_zero(machine, &start, spec);
    let defaulted = defaulted.iter().map(name).collect();

    let followed = follow(&mut hybrid, &start, spec, progress);
    let booked = std::mem::take(&mut hybrid.booked);
    let statistics = std::mem::take(&mut hybrid.statistics);
    let losses = std::mem::take(&mut hybrid.losses);
    let slides = std::mem::take(&mut hybrid.slides);
    let rechosen = std::mem::take(&mut hybrid.rechosen);
    let (machine, at_end) = hybrid.at_present();
    let own = machine.audit_layout().own.clone();
    let integrals = booked.quadratures.get(own);
    let integrals = integrals.map(<[f64]>::to_vec).unwrap_or_default();
    Ok(Run {
        table: to_table(&followed.rows, &spec.wanted),
        audit: audit_of(&followed, (&*machine, at_end), &booked, spec),
        unresolved: machine.unresolved(),
        left_open: machine.left_open(),
        traces: followed.traces,
        ranges: in_units(followed.ranges, &spec.wanted),
        areas: followed.areas,
        states,
        defaulted,
        machine_code: machine.machine_code(),
        start,
        statistics,
        losses,
        slides,
        rechosen,
        integrals,
        event_times: followed.event_times,
        ending: followed.ending,
        elapsed: begin.elapsed(),
    })
}

/// States that no start value, constraint or point at rest has given a value.
fn defaulted_to_zero(machine: &Machine, start: &StartReport, spec: &RunSpec) -> Vec<SymbolId> {
    // An equilibrium that `trim` has found gives every state its value.
    if !spec.rest.is_empty() {
        return Vec::new();
    }
    let largest = start.y0.iter().fold(0.0_f64, |m, y| m.max(y.abs()));
    let states_at = machine.states().iter().zip(&start.y0);
    let has_moved = |s: &(&SymbolId, &f64)| s.1.abs() > ROUNDING * largest;
    let moved: FxHashSet<&SymbolId> = states_at.filter(has_moved).map(|s| s.0).collect();
    let defaulted = start.defaulted.iter();
    defaulted.filter(|s| !moved.contains(s)).copied().collect()
}

/// The energy audit of a run; a run that failed may leave no finite one.
fn audit_of(
    followed: &Followed,
    (machine, reduced): (&Machine, &Reduced),
    booked: &Booked,
    spec: &RunSpec,
) -> Option<Audit> {
    let (before, after) = followed.energy.as_ref()?;
    let audit = audit(machine, reduced, (before, after), booked, spec)?;
    let has_failed = matches!(followed.ending, Ending::Failed { .. });
    (!has_failed || audit.residual.is_finite()).then_some(audit)
}

/// What a run gives before anything is named: all that one point of a sweep needs.
pub struct Followed {
    /// Recorded columns.
    pub rows: Rows,
    /// What measures read.
    pub traces: Vec<Trace>,
    /// Times of state events.
    pub event_times: Vec<f64>,
    /// Least and largest value of each column, where asked for.
    pub ranges: Vec<Option<(f64, f64)>>,
    /// The area under each column, where asked for.
    pub areas: Vec<Area>,
    /// Why it ended.
    pub ending: Ending,
    /// Stored energy at the start and at the end, where both have a value.
    pub energy: Option<(StoredEnergy, StoredEnergy)>,
}

/// Runs a hybrid from its start to its end.
pub fn follow(
    hybrid: &mut HybridRun<'_>,
    start: &StartReport,
    spec: &RunSpec,
    progress: Progress<'_>,
) -> Followed {
    hybrid.at_present().0.begin_audit(spec.start, &start.y0);
    let energy_before = hybrid.at_present().0.stored_energy(spec.start, &start.y0);
    let mut recorder = Recorder::new(
        spec.output_times.clone(),
        spec.wanted.len(),
        &spec.measured,
        progress,
    );
    recorder.onlooker.clone_from(&spec.onlooker);
    recorder.ranges = spec.wants_ranges.then(|| Ranges::new(spec.wanted.len()));
    let n_columns = spec.wanted.len();
    let judged = spec.wants_areas.clone();
    recorder.areas = judged.map(|judged| Areas::new(n_columns, judged, spec.rtol));
    let End { t, y, ending } = hybrid.go(&start.y0, &mut recorder);
    let energy_after = hybrid.at_present().0.stored_energy(t, &y);
    Followed {
        rows: recorder.rows,
        traces: recorder.traces,
        event_times: recorder.event_times,
        ranges: recorder.ranges.iter().flat_map(Ranges::found).collect(),
        areas: recorder.areas.iter().flat_map(Areas::found).collect(),
        ending,
        energy: energy_before.ok().zip(energy_after.ok()),
    }
}

fn in_units(ranges: Vec<Option<(f64, f64)>>, wanted: &[Wanted]) -> Vec<Option<(f64, f64)>> {
    let columns = ranges.into_iter().zip(wanted);
    columns
        .map(|(range, w)| {
            let (low, high) = range?;
            // A bounce ends a rounding below the floor: that is the floor.
            let noise = 1e-12 * low.abs().max(high.abs());
            let clean = |x: f64| if x.abs() <= noise { 0.0 } else { x };
            Some((w.to_unit(clean(low)), w.to_unit(clean(high))))
        })
        .collect()
}

/// Makes the table of recorded rows, each column in its unit.
pub fn to_table(rows: &Rows, wanted: &[Wanted]) -> Table {
    let columns = wanted
        .iter()
        .enumerate()
        .map(|(k, w)| Column {
            name: w.name.clone(),
            unit: w.unit.clone(),
            values: rows
                .column(wanted.len(), k)
                .into_iter()
                .map(|x| w.to_unit(x))
                .collect(),
        })
        .collect();
    Table {
        time: rows.time.clone(),
        columns,
        ..Table::default()
    }
}
