//! Which ideal contacts conduct: the search for a configuration that fits.
//!
//! In:  a configuration whose commands are right, the storages, and a very short implicit step.
//! Out: a configuration in which every conducting diode carries a flow and every blocking one is pushed back; or the
//!      contacts that stand in each other's way.
//!
//! Contacts that are wrong are flipped first: most events need no more. Where that does not settle, the network
//! between the diodes is measured: each is replaced by a resistance and a source, through which every passive network
//! has a solution, whatever its contacts short or cut. The step turns it into a relation between what each diode lacks
//! to conduct (w) and what it carries (z), and 0 ≤ w ⟂ z ≥ 0 is solved by Lemke's method
//! (`paynter_solve::complement`), which ends with a configuration or with a proof that there is none. Laws that bend are
//! measured again where the last answer lies (Newton's method outside, Lemke's inside).
//!
//! **Invariant:** what is given back was verified in the configuration itself, not only in what was measured.

use crate::configuration::{Configuration, ContactReading, Snapshot, Values};
use crate::hybrid::{FIRST_PROBE_SHARE, HybridRun, MOST_CHANGES};
use crate::trouble::{Cause, Trouble};
use paynter_exec::StartReport;
use paynter_model::equations::Control;
use paynter_model::graph::ElementKind;
use paynter_solve::{Complement, Pairs, complement};
use paynter_symbolic::SymbolId;
use std::collections::HashSet;

/// A contact is wrong when it is beyond zero by more than this part of the largest effort or flow
/// among contacts of its energy domain.
const CONTACT_NOISE: f64 = 1e-9;
/// What a linear solution leaves of a zero, as a part of the largest effort.
const ROUNDING: f64 = 1e-14;
/// So many times wrong contacts are flipped before the network is measured.
const MOST_FLIPS: usize = 4;
/// So many times a network with laws that bend is measured; one with straight laws needs one.
const MOST_MEASURES: usize = 12;
/// So many configurations are tried where measuring did not help: the network is not passive.
const MOST_TRIALS: usize = 1024;
/// A port's resistance is moved when it differs by more than this from what it looks into.
const FAR_RESISTANCE: f64 = 1e3;

/// Why no configuration fits.
#[derive(Clone, Debug, Default)]
pub(crate) struct NoFit {
    /// Contacts that together prove it; all if there is no proof.
    pub contacts: Vec<usize>,
}

/// An instant to look from: time and step, storages, discrete values.
#[derive(Clone, Copy)]
struct Instant<'v> {
    step: (f64, f64),
    x: &'v [f64],
    discrete: Values<'v>,
}

/// A diode as a port of the network.
struct Port {
    contact: usize,
    source: SymbolId,
    resistance: SymbolId,
    /// Values of the two.
    a: f64,
    r: f64,
}

impl HybridRun<'_> {
    /// Finds the configuration at the start, and the start in it.
    pub(crate) fn first_configuration(&mut self, t: f64) -> Result<StartReport, Box<Trouble>> {
        let h = FIRST_PROBE_SHARE * (self.spec.stop - self.spec.start);
        let (from, x, report) = match self.start_at_ports(t) {
            Some((open, report, snapshot)) => (open, snapshot.x, Some(report)),
            None => {
                let (from, snapshot) = self.start_somewhere(t)?;
                (from, snapshot.x, None)
            }
        };
        let commanded = Configuration {
            is_open: false,
            ..from.clone()
        };
        let configuration = self
            .search(&commanded, (t, h), &x, &[])
            .map_err(|none| self.no_configuration(t, &none))?;
        let own = self
            .configurations
            .initialise(&configuration, t)
            .expect("a configuration that fits was made");
        let why = match own {
            Ok(own) => {
                self.current = Some(configuration.clone());
                // Where all efforts start at zero, a step shows what they are small against.
                let ahead = self.configurations.probe(&configuration, (t, h), &x, &[]);
                if let Some(ahead) = ahead.filter(|ahead| !self.has_jumped(&x, &ahead.x)) {
                    self.note_sizes(&ahead);
                }
                // A start value that gave way is a storage that jumped, and not by a law of its own.
                if own.changed.is_empty() && self.is_consistent(t, &own.y0) {
                    return Ok(own);
                }
                self.no_configuration(t, &NoFit::default())
            }
            Err(error) => self.trouble_in(Some(&configuration), t, Cause::NoStart(error)),
        };

        // The start values hold with contacts that give way, not with those that conduct: storages jump.
        let Some(mut report) = report else {
            return Err(why);
        };
        let Some(snapshot) = self.configurations.look(&from, t, &report.y0) else {
            return Err(why);
        };
        // The flows through these resistances are none of the model.
        self.note_storages(&snapshot);
        self.contact_sizes.note_efforts(&snapshot.contacts);
        self.current = Some(from.clone());
        let landed = self.move_to(&from, &configuration, (t, h), &snapshot, (&[], &[]), &[])?;
        if let Some(flowing) = self.configurations.look(&configuration, t, &landed) {
            self.note_sizes(&flowing);
        }
        report.y0 = self.settle((t, h), landed)?;
        // The audit begins after this jump: what it lost is reported, but is not part of the run.
        let (machine, _) = self.at_present();
        machine.forget_jumps();
        Ok(report)
    }

    /// Finds a start with a resistance in the place of every diode. None if there is none, or if it depends on these
    /// resistances: then a start value is of something that the contacts decide on.
    fn start_at_ports(&mut self, t: f64) -> Option<(Configuration, StartReport, Snapshot)> {
        let is_switch = self.are_switches();
        if is_switch.iter().all(|&is| is) {
            return None;
        }

        let mut open = Configuration {
            conducting: vec![false; is_switch.len()],
            sliding: Vec::new(),
            is_open: true,
        };
        for _ in 0..MOST_CHANGES {
            let ports = self.ports(&open)?;
            let mut starts = Vec::new();
            for resistance in [1e3, 1.0] {
                let entry = self.configurations.get(&open)?;
                for port in &ports {
                    entry
                        .machine
                        .set_parameter(port.resistance, resistance)
                        .ok()?;
                }
                let report = entry.machine.initialise(t).ok()?;
                let snapshot = self.configurations.look(&open, t, &report.y0)?;
                starts.push((report, snapshot));
            }
            let (report, snapshot) = starts.pop()?;
            if self.has_jumped(&starts.pop()?.1.x, &snapshot.x) {
                return None;
            }
            let obeys = self.commanded(&open, &snapshot);
            if obeys == open {
                return Some((open, report, snapshot));
            }
            open = obeys;
        }
        None
    }

    /// Finds a configuration that has a start and obeys its commands, whatever its diodes do.
    fn start_somewhere(&mut self, t: f64) -> Result<(Configuration, Snapshot), Box<Trouble>> {
        let is_switch = self.are_switches();
        let mut guess = Configuration {
            conducting: vec![false; is_switch.len()],
            ..Configuration::default()
        };
        let mut first_error = None;
        for _ in 0..MOST_CHANGES {
            let mut found = None;
            for candidate in neighbours(&guess, &is_switch).take(MOST_TRIALS) {
                match self.configurations.initialise(&candidate, t) {
                    Some(Ok(report)) => {
                        let snapshot = self.configurations.look(&candidate, t, &report.y0);
                        if let Some(snapshot) = snapshot {
                            found = Some((candidate, snapshot));
                            break;
                        }
                    }
                    Some(Err(error)) if first_error.is_none() => {
                        let cause = Cause::NoStart(error);
                        first_error = Some(self.trouble_in(Some(&candidate), t, cause));
                    }
                    Some(Err(_)) | None => {}
                }
            }
            let Some((candidate, snapshot)) = found else {
                let none = || self.no_configuration(t, &NoFit::default());
                return Err(first_error.unwrap_or_else(none));
            };
            let obeys = self.commanded(&candidate, &snapshot);
            let changes = |k: usize| is_switch[k] && obeys.conducting[k] != guess.conducting[k];
            if !(0..is_switch.len()).any(changes) {
                return Ok((obeys, snapshot));
            }
            guess = obeys;
        }
        Err(self.no_configuration(t, &NoFit::default()))
    }

    /// The same configuration with its switches as they are commanded.
    fn commanded(&self, configuration: &Configuration, snapshot: &Snapshot) -> Configuration {
        let mut obeys = configuration.clone();
        for (k, is_switch) in self.are_switches().into_iter().enumerate() {
            if is_switch {
                obeys.conducting[k] = snapshot.contacts[k].command != 0.0;
            }
        }
        obeys
    }

    pub(crate) fn are_switches(&self) -> Vec<bool> {
        let contacts = self.configurations.contacts.iter();
        contacts
            .map(|&id| self.graph.element(id).kind == ElementKind::Sw)
            .collect()
    }

    /// Finds the configuration that fits, from one whose commands are right.
    pub(crate) fn search(
        &mut self,
        from: &Configuration,
        step: (f64, f64),
        x: &[f64],
        discrete: Values<'_>,
    ) -> Result<Configuration, NoFit> {
        let at = Instant { step, x, discrete };
        let mut tried: HashSet<Configuration> = HashSet::new();
        let mut candidate = from.clone();
        for _ in 0..MOST_FLIPS {
            if !tried.insert(candidate.clone()) {
                break;
            }
            let Some(wrong) = self.wrong_contacts(&candidate, at) else {
                break;
            };
            if wrong.is_empty() {
                return Ok(candidate);
            }
            for k in wrong {
                candidate.conducting[k] = !candidate.conducting[k];
            }
        }

        let none = match self.measured(from, at) {
            Measured::Fits(configuration) => return Ok(configuration),
            Measured::None(contacts) => NoFit { contacts },
            Measured::Unclear => NoFit::default(),
        };

        // A network that is not passive, or whose equations cancel: all combinations, nearest first.
        let is_switch = self.are_switches();
        let rest: Vec<Configuration> = neighbours(from, &is_switch).take(MOST_TRIALS).collect();
        for candidate in rest {
            if !tried.insert(candidate.clone()) {
                continue;
            }
            let wrong = self.wrong_contacts(&candidate, at);
            if wrong.is_some_and(|w| w.is_empty()) {
                return Ok(candidate);
            }
        }
        Err(none)
    }

    /// Finds the configuration by measuring the network between the diodes.
    fn measured(&mut self, from: &Configuration, at: Instant<'_>) -> Measured {
        let open = Configuration {
            is_open: true,
            ..from.clone()
        };
        let Some(mut ports) = self.ports(&open) else {
            return Measured::Unclear;
        };
        let mut proof = Vec::new();
        for _ in 0..MOST_MEASURES {
            let Some(pairs) = self.measure(&open, &mut ports, at) else {
                return Measured::Unclear;
            };
            let size = pairs.w0.iter().chain(&pairs.z0);
            let size = size.fold(0.0, |s: f64, x| s.max(x.abs()));
            let mut answer = complement(&pairs, ROUNDING * size);
            if matches!(answer, Complement::None(_)) {
                answer = complement(&pairs, CONTACT_NOISE * size);
            }
            let (carries, a) = match answer {
                Complement::Solution { carries, a } => (carries, a),
                Complement::None(pairs) => {
                    proof = pairs.iter().map(|&k| ports[k].contact).collect();
                    break;
                }
                Complement::Unclear => break,
            };

            let mut candidate = from.clone();
            for (port, &conducts) in ports.iter().zip(&carries) {
                candidate.conducting[port.contact] = conducts;
            }
            let Some(wrong) = self.wrong_contacts(&candidate, at) else {
                break;
            };
            if wrong.is_empty() {
                return Measured::Fits(candidate);
            }
            // A law has bent on the way there.
            for (port, step) in ports.iter_mut().zip(a) {
                port.a += step;
            }
        }
        match proof.is_empty() {
            true => Measured::Unclear,
            false => Measured::None(proof),
        }
    }

    /// The diodes of an open configuration.
    fn ports(&mut self, open: &Configuration) -> Option<Vec<Port>> {
        let sizes = self.contact_sizes.clone();
        let entry = self.configurations.get(open)?;
        let contacts = entry.contacts.iter().enumerate();
        let ports = contacts.filter_map(|(contact, c)| match c.control {
            Control::Port {
                source, resistance, ..
            } => {
                let (e, f) = sizes.of(contact);
                Some(Port {
                    contact,
                    source,
                    resistance,
                    a: 0.0,
                    r: if e > 0.0 && f > 0.0 { e / f } else { 1.0 },
                })
            }
            _ => None,
        });
        Some(ports.collect())
    }

    /// Measures what each diode lacks to conduct (w) and what it carries (z, as an effort across its port's
    /// resistance), as functions of the sources at the ports.
    fn measure(
        &mut self,
        open: &Configuration,
        ports: &mut [Port],
        at: Instant<'_>,
    ) -> Option<Pairs> {
        let mut here = self.look_through(open, ports, at)?;
        // Resistances far from what they look into would lose digits: move them there first.
        let mut has_moved = false;
        for k in 0..ports.len() {
            let push = self.push(&ports[k], &here);
            ports[k].a += push;
            let there = self.look_through(open, ports, at)?;
            ports[k].a -= push;
            let contact = ports[k].contact;
            let slope = (there.contacts[contact].flow - here.contacts[contact].flow) / push;
            let inner = -1.0 / slope - ports[k].r;
            let ratio = inner / ports[k].r;
            if ratio.is_finite() && (ratio > FAR_RESISTANCE || ratio * FAR_RESISTANCE < 1.0) {
                ports[k].r *= ratio.clamp(1e-12, 1e12);
                has_moved = true;
            }
        }
        if has_moved {
            here = self.look_through(open, ports, at)?;
        }

        let n = ports.len();
        let mut pairs = Pairs {
            w: vec![0.0; n * n],
            w0: vec![0.0; n],
            z: vec![0.0; n * n],
            z0: vec![0.0; n],
        };
        for (k, port) in ports.iter().enumerate() {
            pairs.w0[k] = here.contacts[port.contact].command;
            pairs.z0[k] = port.r * here.contacts[port.contact].parameter;
        }
        for j in 0..n {
            let push = self.push(&ports[j], &here);
            ports[j].a += push;
            let there = self.look_through(open, ports, at)?;
            ports[j].a -= push;
            for (k, port) in ports.iter().enumerate() {
                let (now, then) = (here.contacts[port.contact], there.contacts[port.contact]);
                pairs.w[k * n + j] = (then.command - now.command) / push;
                pairs.z[k * n + j] = port.r * (then.parameter - now.parameter) / push;
            }
        }
        Some(pairs)
    }

    /// A change of a port's source that shows above rounding.
    fn push(&self, port: &Port, here: &Snapshot) -> f64 {
        let ContactReading {
            effort: e, flow: f, ..
        } = here.contacts[port.contact];
        let size = e.abs().max(port.r * f.abs()).max(port.a.abs());
        let size = size.max(self.contact_sizes.of(port.contact).0);
        if size > 0.0 { size } else { 1.0 }
    }

    fn look_through(
        &mut self,
        open: &Configuration,
        ports: &[Port],
        at: Instant<'_>,
    ) -> Option<Snapshot> {
        let set: Vec<(SymbolId, f64)> = ports
            .iter()
            .flat_map(|port| [(port.source, port.a), (port.resistance, port.r)])
            .collect();
        self.configurations
            .probe_at(open, at.step, at.x, (at.discrete, &set))
    }

    /// Diodes that would carry a flow backwards or hold back a push; none if the configuration has no
    /// solution.
    fn wrong_contacts(&mut self, candidate: &Configuration, at: Instant<'_>) -> Option<Vec<usize>> {
        let snapshot = self
            .configurations
            .probe(candidate, at.step, at.x, at.discrete)?;
        // A configuration without a probe has equations; one without equations is not a candidate either.
        self.configurations.get(candidate)?;
        Some(self.wrong_in(candidate, &snapshot))
    }

    pub(crate) fn wrong_in(
        &self,
        configuration: &Configuration,
        snapshot: &Snapshot,
    ) -> Vec<usize> {
        let mut sizes = self.contact_sizes.clone();
        sizes.note(&snapshot.contacts);
        let is_switch = self.are_switches();
        (0..snapshot.contacts.len())
            .filter(|&k| !is_switch[k])
            .filter(|&k| {
                let s = snapshot.contacts[k].parameter;
                let (e, f) = sizes.of(k);
                if configuration.conducting[k] {
                    s < -CONTACT_NOISE * f
                } else {
                    s > CONTACT_NOISE * e
                }
            })
            .collect()
    }

    /// Says that no configuration fits, and which contacts are in each other's way.
    pub(crate) fn no_configuration(&self, t: f64, none: &NoFit) -> Box<Trouble> {
        let all = &self.configurations.contacts;
        let contacts = match none.contacts.is_empty() {
            true => all.clone(),
            false => none.contacts.iter().map(|&k| all[k]).collect(),
        };
        Box::new(Trouble {
            time: t,
            cause: Cause::NoConfiguration { contacts },
            equations: None,
        })
    }
}

/// What measuring comes to.
enum Measured {
    Fits(Configuration),
    /// These contacts prove that nothing does.
    None(Vec<usize>),
    Unclear,
}

/// All configurations with the same commands, those with the fewest diodes flipped first.
fn neighbours(from: &Configuration, is_switch: &[bool]) -> impl Iterator<Item = Configuration> {
    let diodes: Vec<usize> = (0..is_switch.len()).filter(|&k| !is_switch[k]).collect();
    // Beyond this the number of combinations passes any limit on trials anyway.
    let n = diodes.len().min(20);
    let mut masks: Vec<u32> = (0..1_u32 << n.min(13)).collect();
    if n > 13 {
        // All single and double flips of the rest.
        for a in 0..n {
            for b in a..n {
                let mask = (1 << a) | (1 << b);
                if mask >= 1 << 13 {
                    masks.push(mask);
                }
            }
        }
    }
    masks.sort_by_key(|mask| mask.count_ones());
    let from = from.clone();
    masks.into_iter().map(move |mask| {
        let mut next = from.clone();
        for (bit, &k) in diodes.iter().take(n).enumerate() {
            if mask & (1 << bit) != 0 {
                next.conducting[k] = !next.conducting[k];
            }
        }
        next
    })
}
