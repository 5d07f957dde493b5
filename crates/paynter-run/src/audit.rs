//! The first law, checked over a whole run.
//!
//! In:  energy in the storages before and after, from their laws; powers integrated on the
//!      dense output of every step.
//! Out: supplied − dissipated − stored, what it is measured against, and the worst element. The same for each
//!      connected part, each storage (its law against the power it took), and each junction, transformer and gyrator
//!      (what goes in against what comes out): each is measured against what moved there.
//!
//! **Invariant:** no two of the three terms are computed from each other, so the residual can fail. The residuals of
//! storages and junctions add up to that of the whole, so that energy made anywhere shows somewhere.

use crate::spec::RunSpec;
use paynter_design::digits::significant;
use paynter_exec::{AuditTotals, Machine, StoredEnergy};
use paynter_symbolic::dae::{Dae, EnergyRole, Origin};
use paynter_symbolic::reduced::Reduced;

/// Where the energy of a run went, all in J.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Given by sources.
    pub supplied: f64,
    /// Lost in resistors.
    pub dissipated: f64,
    /// More in the storages than at the start.
    pub stored: f64,
    /// Given by elements declared `unpowered`.
    pub unpowered: f64,
    /// Added at events by `reinit`, by contacts that join storages, and by impulses.
    pub jumps: f64,
    /// supplied + unpowered + jumps − dissipated − stored: 0 but for the error of the solver.
    pub residual: f64,
    /// What the elements gave and took, summed from step to step: what the residual is measured against.
    pub scale: f64,
    /// The storage whose energy disagrees most with the power it took, and by how much.
    pub worst: Option<(String, f64)>,
    /// Energy of each element that can give or take: (name, part in the first law, J); empty for very large models.
    pub elements: Vec<(String, EnergyRole, f64)>,
    /// |residual| above this is worth a warning.
    pub allowed: f64,
    /// Where the first law does not hold by itself, the largest first.
    pub faults: Vec<Fault>,
    /// Resistors that gave energy.
    pub active: Vec<Active>,
    /// A storage whose law has no value between two states of the run, so that its energy is not known.
    pub unknown: Option<String>,
}

/// A place where energy is made or lost, measured against what moved there.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Where.
    pub place: Place,
    /// Energy that is not accounted for, J.
    pub residual: f64,
    /// Energy that moved there, J.
    pub scale: f64,
}

/// What a [`Fault`] belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A storage: its law and the power it took disagree.
    Storage(String),
    /// A junction, transformer or gyrator that does not pass on all it takes.
    Junction(String),
    /// A resistor that takes another power than its law says.
    Resistor(String),
    /// A connected part of the graph, by some of its elements.
    Part(Vec<String>),
}

/// A resistor that gave energy.
#[derive(Clone, Debug, PartialEq)]
pub struct Active {
    /// Its name.
    pub name: String,
    /// Energy that it gave, J.
    pub given: f64,
    /// Where it is in the text.
    pub origin: Origin,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let energies = format!(
            "{} J of {} J",
            significant(self.residual.abs(), 3),
            significant(self.scale, 3)
        );
        match &self.place {
            Place::Storage(name) => write!(
                out,
                "the energy of `{name}` and the power it took differ by {energies}"
            ),
            Place::Junction(name) => {
                let word = if self.residual > 0.0 {
                    "makes"
                } else {
                    "loses"
                };
                write!(out, "`{name}` {word} about {energies} that pass through it")
            }
            Place::Resistor(name) => write!(
                out,
                "the power into `{name}` and its law differ by about {energies}"
            ),
            Place::Part(names) => {
                let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
                write!(
                    out,
                    "in the part with {}: {energies} that moved there",
                    names.join(", ")
                )
            }
        }
    }
}

/// A residual of this many relative tolerances of the scale is the solver's right; more is a warning.
const ALLOWED_TOLERANCES: f64 = 10.0;
/// A flow that is only noise is this part of its typical size in relative tolerances (see `Machine::tolerances`), and
/// makes that part of the power that moves there otherwise.
const NOISE_TOLERANCES: f64 = 1e-2;
/// The same for one storage: errors of neighbours cancel in the whole, not in one of them. Stiff networks of
/// diodes (300 random ones) need up to 60.
const STORAGE_TOLERANCES: f64 = 100.0;
/// Errors of the storages of a part that cancel to this share are an exchange among them.
const EXCHANGED: f64 = 0.05;
/// Rounding in long sums, as a part of the scale.
const ROUNDING: f64 = 1e-13;

impl Audit {
    /// Tells whether the first law holds as well as the tolerances promise.
    pub fn is_good(&self) -> bool {
        self.residual.abs() <= self.allowed && self.faults.is_empty()
    }

    /// The residual as a part of the scale.
    pub fn relative(&self) -> f64 {
        if self.scale > 0.0 {
            self.residual.abs() / self.scale
        } else {
            self.residual.abs()
        }
    }
}

/// Adds up a run, as a whole, by parts and by elements; none for a model without power.
pub(crate) fn audit(
    machine: &Machine,
    reduced: &Reduced,
    stored: (&StoredEnergy, &StoredEnergy),
    booked: &Booked,
    spec: &RunSpec,
) -> Option<Audit> {
    let totals = audit_totals(machine, stored, booked, spec)?;
    let books = Books {
        machine,
        dae: &reduced.dae,
        stored,
        booked,
        rtol: spec.rtol,
        has_fixed_step: spec.fixed_step.is_some(),
    };

    let storages = books.storages();
    let worst = storages
        .iter()
        .max_by(|a, b| a.error.abs().total_cmp(&b.error.abs()))
        .map(|s| (books.name(s.port), s.error.abs()));

    // A storage at rest takes nothing, but its state is kept to its tolerance only: what it disagrees by with
    // the power it took, up to that, is not energy lost.
    let held_loosely: f64 = storages.iter().map(|s| s.error.abs().min(s.allowed)).sum();
    let parts = books.parts(&storages);
    let mut faults = books.faults_of_storages(&storages);
    faults.extend(books.faults_of_balances(&parts));
    faults.extend(books.faults_of_parts(&parts));
    faults.sort_by(|a, b| b.residual.abs().total_cmp(&a.residual.abs()));
    let (doubt, doubtful) = machine.doubt_of_stored_energy();
    let dae = &reduced.dae;

    Some(Audit {
        worst,
        elements: books.elements(),
        active: books.active_resistors(),
        unknown: doubtful
            .filter(|_| doubt.is_infinite())
            .map(|name| dae.names.display(name)),
        allowed: totals.allowed
            + held_loosely
            + books.taken().iter().map(|t| t.3).sum::<f64>()
            + if doubt.is_finite() { doubt } else { 0.0 },
        faults,
        ..totals
    })
}

/// What a run has written down about its energies.
struct Books<'a> {
    machine: &'a Machine,
    dae: &'a Dae,
    stored: (&'a StoredEnergy, &'a StoredEnergy),
    booked: &'a Booked,
    rtol: f64,
    has_fixed_step: bool,
}

/// The balance of one storage, J.
struct StorageBalance {
    /// Position in `Dae::power`.
    port: usize,
    /// Change of its energy by its law, jumps left out, less what it took.
    error: f64,
    /// What it gave and took, from step to step.
    moved: f64,
    /// An error up to this is the solver's right, and may show in the sum of its part.
    allowed: f64,
    /// Beyond this the storage itself is accused.
    accused_at: f64,
    /// What its law says that it has more than at the start.
    gained: f64,
    /// What jumps added.
    jumped: f64,
}

/// The balance of one connected part, J.
#[derive(Clone, Debug, Default)]
struct PartBalance {
    residual: f64,
    moved: f64,
    allowed: f64,
    /// Positions in `Dae::power` of its first elements.
    members: Vec<usize>,
}

/// So many elements are enough to name a part.
const MOST_MEMBERS: usize = 3;

impl Books<'_> {
    fn name(&self, port: usize) -> String {
        self.dae.names.display(self.dae.power[port].name)
    }

    /// (Position in `Dae::power`, energy taken, energy moved, error of the quadrature) of each element.
    fn taken(&self) -> Vec<(usize, f64, f64, f64)> {
        let layout = self.machine.audit_layout();
        let energies = layout.elements(&self.booked.quadratures);
        let moved = layout.elements(&self.booked.variations);
        let errors = layout.elements(&self.booked.errors);
        let all = energies.zip(moved).zip(errors);
        all.map(|(((k, energy), (_, moved)), (_, error))| (k, energy, moved, error))
            .collect()
    }

    fn elements(&self) -> Vec<(String, EnergyRole, f64)> {
        let taken = self.taken().into_iter();
        taken
            .map(|(k, energy, ..)| (self.name(k), self.dae.power[k].role, energy))
            .collect()
    }

    /// Energy that moved in each connected part, J.
    fn moved_in_parts(&self) -> Vec<f64> {
        let ports = self.dae.power.iter().map(|p| p.part);
        let mut moved = vec![0.0; ports.max().map_or(0, |last| last as usize + 1)];
        for (k, _, of_element, _) in self.taken() {
            moved[self.dae.power[k].part as usize] += of_element;
        }
        moved
    }

    /// Compares the law of each storage with the power it took.
    fn storages(&self) -> Vec<StorageBalance> {
        let (before, after) = self.stored;
        let taken = self.taken();
        let mut taken = taken.into_iter().peekable();
        let changes = before.elements.iter().zip(&after.elements);
        let held = before.held.iter().zip(&after.held);
        let jumps = self.machine.jumps_of_storages();
        let moved_in_part = self.moved_in_parts();
        let mut found = Vec::new();
        for (((&(k, start), &(_, end)), (held_first, held_last)), &jumped) in
            changes.zip(held).zip(jumps)
        {
            // Both lists follow the order of the ports.
            while taken.next_if(|t| t.0 < k).is_some() {}
            let Some((_, energy, moved, quadrature_error)) = taken.next_if(|t| t.0 == k) else {
                continue;
            };
            let gained = end - start;
            // An error of the state by its tolerance changes the energy by that part of e q; the sums round.
            // A state at a pole has no such size.
            let size = moved + 0f64.max(*held_first).max(*held_last);
            // What is small beside its part is known to the absolute tolerance and rounding of that only.
            let around = moved_in_part[self.dae.power[k].part as usize];
            let rounding = ROUNDING * (around + size + start.abs().max(end.abs()) + jumped.abs());
            let noise = NOISE_TOLERANCES * self.rtol * around;
            let beside = quadrature_error + noise + rounding;
            found.push(StorageBalance {
                port: k,
                error: gained - jumped - energy,
                moved,
                allowed: ALLOWED_TOLERANCES * self.rtol * size + beside,
                accused_at: STORAGE_TOLERANCES * self.rtol * size + beside,
                gained,
                jumped,
            });
        }
        found
    }

    /// Adds up the first law of each connected part.
    fn parts(&self, storages: &[StorageBalance]) -> Vec<PartBalance> {
        let ports = self.dae.power.iter().map(|p| p.part);
        let n = ports.max().map_or(0, |last| last as usize + 1);
        let mut parts = vec![PartBalance::default(); n];
        for (k, energy, moved, quadrature_error) in self.taken() {
            let port = &self.dae.power[k];
            let part = &mut parts[port.part as usize];
            part.moved += moved;
            part.allowed += ALLOWED_TOLERANCES * self.rtol * moved + quadrature_error;
            if part.members.len() < MOST_MEMBERS {
                part.members.push(k);
            }
            part.residual += match port.role {
                EnergyRole::Source => energy,
                EnergyRole::Dissipator | EnergyRole::Unpowered => -energy,
                EnergyRole::Storage if port.energy.is_none() => -energy,
                EnergyRole::Storage | EnergyRole::Conserving => 0.0,
            };
        }
        for storage in storages {
            let part = &mut parts[self.dae.power[storage.port].part as usize];
            part.residual += storage.jumped - storage.gained;
            part.allowed += storage.error.abs().min(storage.allowed);
            part.allowed += ROUNDING * (storage.gained.abs() + storage.moved);
        }
        parts
    }

    fn faults_of_storages(&self, storages: &[StorageBalance]) -> Vec<Fault> {
        // A fixed step keeps no tolerance: what its storages err by is the method's, and only the whole is judged.
        // What one storage has too much another may have too little: charge that a stiff step moved between them at
        // once. No energy was made, only the way of it was not resolved.
        let mut left = vec![
            0.0;
            self.dae
                .power
                .iter()
                .map(|p| p.part as usize + 1)
                .max()
                .unwrap_or(0)
        ];
        for s in storages {
            left[self.dae.power[s.port].part as usize] += s.error;
        }
        let is_exchanged = |s: &StorageBalance| {
            let left: f64 = left[self.dae.power[s.port].part as usize];
            left.abs() <= EXCHANGED * s.error.abs()
        };
        let is_fine = |s: &&StorageBalance| {
            self.has_fixed_step || s.error.abs() <= s.accused_at || is_exchanged(s)
        };
        let wrong = storages.iter().filter(|s| !is_fine(s));
        wrong
            .map(|s| Fault {
                place: Place::Storage(self.name(s.port)),
                residual: s.error,
                scale: s.moved,
            })
            .collect()
    }

    fn faults_of_balances(&self, parts: &[PartBalance]) -> Vec<Fault> {
        let balances = self.dae.balances.iter().zip(self.machine.passed());
        balances
            .filter(|(balance, passed)| {
                let part = parts.get(balance.part as usize);
                let moved = part.map_or(0.0, |part| part.moved);
                let noise = NOISE_TOLERANCES * self.rtol * moved;
                passed.missing > ALLOWED_TOLERANCES * self.rtol * passed.through + noise
            })
            .map(|(balance, passed)| Fault {
                place: match balance.is_of_law {
                    true => Place::Resistor(self.dae.names.display(balance.name)),
                    false => Place::Junction(self.dae.names.display(balance.name)),
                },
                residual: -passed.net,
                scale: passed.through,
            })
            .collect()
    }

    /// One part is the whole, which has its own line.
    fn faults_of_parts(&self, parts: &[PartBalance]) -> Vec<Fault> {
        let is_single = parts.iter().filter(|p| !p.members.is_empty()).count() < 2;
        let is_fine = |p: &&PartBalance| is_single || p.residual.abs() <= p.allowed;
        let wrong = parts.iter().filter(|p| !is_fine(p));
        wrong
            .map(|part| Fault {
                place: Place::Part(part.members.iter().map(|&k| self.name(k)).collect()),
                residual: part.residual,
                scale: part.moved,
            })
            .collect()
    }

    /// Resistors that gave energy in some steps; heat may flow either way.
    fn active_resistors(&self) -> Vec<Active> {
        let taken = self.taken().into_iter();
        taken
            .filter_map(|(k, energy, moved, quadrature_error)| {
                let port = &self.dae.power[k];
                let given = 0.5 * (moved - energy);
                let allowed = ALLOWED_TOLERANCES * self.rtol * moved + quadrature_error;
                let is_active = port.role == EnergyRole::Dissipator && !port.is_heat;
                (is_active && given > allowed).then(|| Active {
                    name: self.name(k),
                    given,
                    origin: port.origin,
                })
            })
            .collect()
    }
}

/// Integrals of a run, and how far each went up and down.
#[derive(Clone, Debug, Default)]
pub struct Booked {
    /// The integrals.
    pub quadratures: Vec<f64>,
    /// How far each went up and down.
    pub variations: Vec<f64>,
    /// What the quadratures may be wrong by.
    pub errors: Vec<f64>,
}

/// As `audit`, without a look at single elements.
pub fn audit_totals(
    machine: &Machine,
    (before, after): (&StoredEnergy, &StoredEnergy),
    booked: &Booked,
    spec: &RunSpec,
) -> Option<Audit> {
    let AuditTotals {
        supplied,
        dissipated,
        unpowered,
        stored_without_law,
        scale,
    } = machine
        .audit_layout()
        .totals(&booked.quadratures, &booked.variations)?;

    let jumps = machine.energy_jumps().iter().sum::<f64>() + machine.energy_of_impulses();
    let stored = after.total - before.total + stored_without_law;
    let peak = scale.max(before.total.abs()).max(after.total.abs());
    Some(Audit {
        supplied,
        dissipated,
        stored,
        unpowered: -unpowered,
        jumps,
        residual: supplied - unpowered + jumps - dissipated - stored,
        scale,
        worst: None,
        elements: Vec::new(),
        faults: Vec::new(),
        active: Vec::new(),
        unknown: None,
        allowed: ALLOWED_TOLERANCES * spec.rtol * scale + ROUNDING * peak,
    })
}
