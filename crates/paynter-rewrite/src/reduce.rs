//! `reduce`: takes coordinates out whose momentum is conserved.
//!
//! In:  a model, and the coordinates that are meant; all that can go where none are named.
//! Out: the model without them: their momenta are parameters (or zero), their rates signals of the others.
//!
//! A 1-junction on which only sources of zero act gives no effort to the 0-junction it is bonded to. An inertia there that is bonded to nothing
//! else then has ṗ = 0: the bonds carry no effort for ever and are cut; moduli read a parameter instead of the state (McBride & Cellier 2001, eqs 53 and 54).

use crate::code;
use crate::expression::{is_number, negative, product, quotient, square, sum};
use crate::minimal::freeze;
use crate::net::{BondId, Image, Images, Kind, Net, Step, ThingId};
use crate::read::Source;
use crate::rules::apply;
use crate::session::{Rewritten, Wish, rewrite, with_lines};
use crate::starts::{beginning, beginning_alone};
use paynter::DesignError;
use paynter::model::project::Loader;
use paynter::syntax::Diagnostic;
use paynter::syntax::ast::{Experiment, ExperimentKind, ExprKind, StmtKind};
use std::collections::BTreeSet;

/// What is taken out.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// Coordinates or their 1-junctions; all that can be where none are named.
    pub cyclic: Vec<String>,
}

/// Reduces a model.
///
/// # Errors
///
/// The file cannot be read or has errors, or a coordinate that is named is not cyclic.
pub fn reduce<L: Loader + Clone>(
    loader: &mut L,
    path: &str,
    wish: &Wish,
    what: &Reduction,
) -> Result<Rewritten, DesignError> {
    let own = loader.clone();
    rewrite(loader, path, wish, &mut |net, source| {
        let mut reducer = Reducer {
            loader: &own,
            path,
            source,
            wish,
        };
        reducer.reduce(net, what)
    })
}

struct Reducer<'r, 'a, L> {
    loader: &'r L,
    path: &'r str,
    source: &'r Source<'a>,
    wish: &'r Wish,
}

/// A coordinate that can go.
struct Free {
    /// Its 1-junction.
    junction: ThingId,
    /// The 0-junction without effort.
    sum: ThingId,
    /// Sources of zero at its junction.
    sources: Vec<ThingId>,
    /// Inertias that keep their momentum, each with the junction it stands at, if it has one of its own.
    inertias: Vec<(ThingId, Option<ThingId>)>,
    /// Transformers from 1-junctions into the 0-junction.
    ratios: Vec<Ratio>,
}

/// A transformer that gives a sum of flows the flow of a 1-junction times its modulus.
struct Ratio {
    tf: ThingId,
    /// The flow that it gives.
    flow: String,
}

/// A momentum at the start of runs.
struct Momentum {
    /// In the experiments: (experiment, value as it is written).
    values: Vec<(String, String)>,
    /// In a run without one.
    alone: String,
    /// It is zero in all of them.
    is_zero: bool,
}

impl<L: Loader + Clone> Reducer<'_, '_, L> {
    fn reduce(&mut self, net: &mut Net, what: &Reduction) -> Result<Vec<Step>, Vec<Diagnostic>> {
        let driven = self.driven();
        let idle: BTreeSet<String> = self
            .zero_inputs()
            .into_iter()
            .filter(|i| !driven.contains(i))
            .collect();
        let wanted = self.wanted_junctions(net, what)?;
        if self.needs_routh(net, &wanted, &idle) {
            return self.routh(net, &wanted, &idle);
        }
        let mut steps = Vec::new();
        for junction in net.alive() {
            let name = net.things[junction].name.clone().unwrap_or_default();
            let claimed = wanted.iter().find(|(_, j)| *j == name);
            if net.things[junction].kind != Kind::One || (!wanted.is_empty() && claimed.is_none()) {
                continue;
            }
            match free(net, junction, &idle) {
                Ok(free) => match self.take_out(net, &free, &idle)? {
                    Some(step) => steps.push(step),
                    None if claimed.is_some() => {
                        let why = net.refused.iter().next().cloned().unwrap_or_default();
                        return Err(vec![self.not_cyclic(&name, &why)]);
                    }
                    None => {}
                },
                Err(why) if claimed.is_some() => {
                    let asked = &claimed.expect("just looked").0;
                    return Err(vec![self.not_cyclic(asked, &why)]);
                }
                Err(_) => {}
            }
        }
        if !steps.is_empty() {
            let rest = ["zero", "idle", "ring"].map(str::to_owned);
            steps.extend(apply(net, &rest));
        }
        Ok(steps)
    }

    /// Tells whether a coordinate that is named moves more than inertias of its own.
    fn needs_routh(&self, net: &Net, wanted: &[(String, String)], idle: &BTreeSet<String>) -> bool {
        let mut junctions = wanted.iter().filter_map(|(_, j)| called(net, j));
        junctions.any(|j| free(net, j, idle).is_err())
    }

    /// Takes coordinates out that move several inertias: their masses become one field, in which their momenta are parameters.
    fn routh(
        &mut self,
        net: &mut Net,
        wanted: &[(String, String)],
        idle: &BTreeSet<String>,
    ) -> Result<Vec<Step>, Vec<Diagnostic>> {
        let mut trial = net.clone();
        let mut constant = Vec::new();
        for (asked, junction) in wanted {
            let Some(id) = called(net, junction) else {
                continue;
            };
            constant.push((id, trial.fresh(&format!("p_{asked}"))));
        }
        let wrong = |at: usize, why: &str| vec![self.not_cyclic(&wanted[at].0, why)];
        let found = freeze(&mut trial, self.source, &constant).map_err(|why| wrong(0, &why))?;
        let mut steps = found.steps;
        found.hidden.iter().for_each(|e| add_hidden(&mut trial, e));
        for (at, ((junction, parameter), (momentum, rate))) in
            constant.iter().zip(&found.motions).enumerate()
        {
            let sources = only_idle(&trial, *junction, idle).map_err(|why| wrong(at, &why))?;
            let momentum = self
                .momentum(&trial, momentum)
                .map_err(|why| wrong(at, &format!("its start value cannot be found: {why}")))?;
            self.keep_constant(&mut trial, &wanted[at].0, parameter, &momentum);
            self.drop_driven(&mut trial, &sources, idle);
            let label = trial.label(*junction);
            for thing in sources.iter().chain([junction]) {
                self.release_starts(&mut trial, *thing);
                let images = vec![
                    ("f", Image::of(&**rate)),
                    ("e", Image::of("0")),
                    ("power", Image::of("0")),
                    ("energy", Image::of("0")),
                ];
                trial
                    .may_drop(*thing, &images)
                    .map_err(|why| wrong(at, &why))?;
                trial.drop(*thing, images);
            }
            steps.push(Step {
                rule: "reduce",
                text: format!("{label} feels no effort: its momentum `{parameter}` is a parameter, and its rate follows from the others"),
            });
        }
        *net = trial;
        Ok(steps)
    }

    /// Makes a parameter of a momentum.
    fn keep_constant(&self, net: &mut Net, of: &str, parameter: &str, momentum: &Momentum) {
        net.added.push(format!(
            "/// Momentum of `{of}`, which is constant.\n    param {parameter} = {}",
            momentum.alone
        ));
        for (experiment, value) in &momentum.values {
            let line = format!("with {parameter} = {value}");
            net.added_to.push((experiment.clone(), line));
        }
        net.constants.insert(parameter.to_owned());
    }

    /// The experiments that the new model is for: all, or the one that is wished and those that it extends.
    fn experiments(&self) -> impl Iterator<Item = &Experiment> {
        let named = |name: &str| {
            let mut all = self.source.experiments();
            all.find(|e| *e.name.text == *name)
        };
        let mut meant: Vec<&str> = Vec::new();
        let mut next = self.wish.experiment.as_deref().and_then(named);
        while let Some(e) = next.filter(|e| !meant.contains(&&*e.name.text)) {
            meant.push(&e.name.text);
            next = e.extends.as_ref().and_then(|base| named(&base.text));
        }
        let is_all = self.wish.experiment.is_none();
        let all = self.source.experiments();
        all.filter(move |e| is_all || meant.contains(&&*e.name.text))
    }

    /// Inputs and parameters that the experiments set.
    fn driven(&self) -> BTreeSet<String> {
        self.experiments().flat_map(set_by).collect()
    }

    /// Inputs whose default is zero.
    fn zero_inputs(&self) -> Vec<String> {
        let statements = self.source.model.body.iter();
        let decls = statements.filter_map(|s| match &s.kind {
            StmtKind::Input(decls) => Some(decls),
            _ => None,
        });
        let is_zero = |e: &paynter::syntax::ast::Expr| is_number(&self.source.slice(e.span), 0.0);
        let zero = decls
            .flatten()
            .filter(|d| d.value.as_ref().is_some_and(is_zero));
        zero.map(|d| d.name.text.to_string()).collect()
    }

    /// The junctions that are meant: (name as asked, junction).
    fn wanted_junctions(
        &self,
        net: &Net,
        what: &Reduction,
    ) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        let mut found = Vec::new();
        for asked in &what.cyclic {
            let is_junction = |t: &crate::net::Thing| {
                t.kind == Kind::One && t.name.as_deref() == Some(asked.as_str())
            };
            let junction = match net.things.iter().any(is_junction) {
                true => Some(asked.clone()),
                false => self.junction_of(asked),
            };
            match junction {
                Some(junction) => found.push((asked.clone(), junction)),
                None => {
                    let why = "it is not a 1-junction of the model, nor a signal `der(…) = junction.f` or `integral(junction.f)`";
                    return Err(vec![self.not_cyclic(asked, why)]);
                }
            }
        }
        Ok(found)
    }

    /// The junction whose flow is the rate of a signal.
    fn junction_of(&self, signal: &str) -> Option<String> {
        for statement in &self.source.model.body {
            let (name, value, is_rate) = match &statement.kind {
                StmtKind::Define(d) => (
                    self.source.slice(d.target.span),
                    Some(&d.value),
                    d.is_derivative,
                ),
                StmtKind::Output(decls) => {
                    let Some(d) = decls.iter().find(|d| *d.name.text == *signal) else {
                        continue;
                    };
                    (d.name.text.to_string(), d.value.as_ref(), false)
                }
                _ => continue,
            };
            let (true, Some(value)) = (name == signal, value) else {
                continue;
            };
            let rate = match &value.kind {
                _ if is_rate => value,
                ExprKind::Call { function, args }
                    if function
                        .segments
                        .last()
                        .is_some_and(|s| *s.text == *"integral")
                        && args.len() == 1 =>
                {
                    &args[0].value
                }
                _ => continue,
            };
            let text = self.source.slice(rate.span);
            return text.strip_suffix(".f").map(str::to_owned);
        }
        None
    }

    fn not_cyclic(&self, asked: &str, why: &str) -> Diagnostic {
        Diagnostic::error(
            code::NOT_CYCLIC,
            format!("the momentum of `{asked}` is not conserved"),
        )
        .primary(self.source.place_of(asked), why.to_owned())
    }

    /// Cuts a coordinate out; none if something has no image.
    fn take_out(
        &mut self,
        net: &mut Net,
        free: &Free,
        idle: &BTreeSet<String>,
    ) -> Result<Option<Step>, Vec<Diagnostic>> {
        let label = net.label(free.junction);
        let mut momenta = Vec::new();
        for &(inertia, _) in &free.inertias {
            let name = net.things[inertia].name.clone().unwrap_or_default();
            let found = self.momentum(net, &format!("{name}.p")).map_err(|why| {
                vec![self.not_cyclic(&name, &format!("its start value cannot be found: {why}"))]
            })?;
            momenta.push(found);
        }
        let Some(plan) = self.images(net, free, &momenta) else {
            return Ok(None);
        };
        for (thing, _) in &plan {
            self.release_starts(net, *thing);
        }
        for (thing, images) in &plan {
            if !net.can_drop("reduce", *thing, images) {
                return Ok(None);
            }
        }
        let names: Vec<String> = free.inertias.iter().map(|(i, _)| net.label(*i)).collect();
        let zero = momenta.iter().all(Momentum::is_zero);
        let text = format!(
            "{label} feels no effort: the momentum of {} is {}, and the rate of {label} follows from the others",
            names.join(", "),
            if zero { "zero" } else { "a parameter" }
        );
        self.keep_momenta(net, free, &momenta);
        self.drop_driven(net, &free.sources, idle);
        for (thing, images) in plan {
            net.drop(thing, images);
        }
        Ok(Some(Step {
            rule: "reduce",
            text,
        }))
    }

    /// Images of everything that goes.
    fn images(
        &self,
        net: &mut Net,
        free: &Free,
        momenta: &[Momentum],
    ) -> Option<Vec<(ThingId, Images)>> {
        let zero = || Image::of("0");
        let mut plan: Vec<(ThingId, Images)> = Vec::new();
        for (&(inertia, own), momentum) in free.inertias.iter().zip(momenta) {
            let name = net.things[inertia].name.clone()?;
            let gain = net.things[inertia].gain.clone()?;
            let p = match momentum.is_zero() {
                true => "0".to_owned(),
                false => parameter(net, &name),
            };
            let flow = match momentum.is_zero() {
                true => "0".to_owned(),
                false => quotient(&p, &gain),
            };
            let energy = quotient(&square(&p), &product("2", &gain));
            let images = vec![
                ("p", Image::of(&*p)),
                ("f", Image::of(&*flow)),
                ("e", zero()),
                ("power", zero()),
                ("energy", zero()),
                (
                    "stored",
                    Image::of(if momentum.is_zero() { "0" } else { &energy }),
                ),
            ];
            plan.push((inertia, images));
            if let Some(own) = own {
                plan.push((own, vec![("f", Image::of(flow))]));
            }
        }
        // The rate of the coordinate: what the others leave at the 0-junction.
        let rate = self.balance(net, free, &plan)?;
        for &source in &free.sources {
            let images = vec![
                ("e", zero()),
                ("f", Image::of(&*rate)),
                ("power", zero()),
                ("energy", zero()),
            ];
            plan.push((source, images));
        }
        plan.extend(free.ratios.iter().map(|ratio| (ratio.tf, Vec::new())));
        plan.push((free.junction, vec![("f", Image::of(rate))]));
        plan.push((free.sum, vec![("e", zero())]));
        Some(plan)
    }

    /// The flow of the coordinate's junction, in flows of what stays.
    fn balance(&self, net: &Net, free: &Free, plan: &[(ThingId, Images)]) -> Option<String> {
        let sign = |b: BondId| net.bonds[b].head == free.sum;
        let mut own_is_in = true;
        let mut total = "0".to_owned();
        for bond in net.at(free.sum) {
            let other = net.across(bond, free.sum);
            if other == free.junction {
                own_is_in = sign(bond);
                continue;
            }
            let known = plan.iter().find(|(t, _)| *t == other);
            let ratio = free.ratios.iter().find(|r| r.tf == other);
            let flow = match (known, ratio) {
                (Some((_, images)), _) => images.iter().find(|(q, _)| *q == "f")?.1.text.clone(),
                (None, Some(ratio)) => ratio.flow.clone(),
                (None, None) => format!("{}.f", net.things[other].name.as_ref()?),
            };
            // Σ in = Σ out: what flows out is given by what flows in.
            let flow = if sign(bond) { negative(&flow) } else { flow };
            if !is_number(&flow, 0.0) {
                total = sum(&total, &flow);
            }
        }
        Some(match own_is_in {
            true => total,
            false => negative(&total),
        })
    }

    /// Start values of what goes are in the momenta.
    fn release_starts(&self, net: &mut Net, thing: ThingId) {
        let Some(name) = net.things[thing].name.clone() else {
            return;
        };
        let start = format!("{name}.");
        let released: Vec<String> = net
            .assigned
            .iter()
            .filter(|p| p.starts_with(&start))
            .cloned()
            .collect();
        for path in released {
            net.assigned.remove(&path);
            net.dropped_starts.insert(path);
        }
    }

    /// Makes parameters of momenta, and adds the energy they hold.
    fn keep_momenta(&self, net: &mut Net, free: &Free, momenta: &[Momentum]) {
        let mut hidden = String::new();
        for (&(inertia, _), momentum) in free.inertias.iter().zip(momenta) {
            let name = net.things[inertia].name.clone().unwrap_or_default();
            let gain = net.things[inertia].gain.clone().unwrap_or_default();
            if momentum.is_zero() {
                net.tie(&format!("{name}.p"), "0");
                continue;
            }
            let p = parameter(net, &name);
            net.names.insert(p.clone());
            net.added.push(format!(
                "/// Momentum of `{name}`, which is constant.\n    param {p} = {}",
                momentum.alone
            ));
            for (experiment, value) in &momentum.values {
                let line = format!("with {p} = {value}");
                net.added_to.push((experiment.clone(), line));
            }
            net.constants.insert(p.clone());
            net.parameters.push((p.clone(), format!("{name}.p")));
            let energy = quotient(&square(&p), &product("2", &gain));
            hidden = sum(if hidden.is_empty() { "0" } else { &hidden }, &energy);
        }
        if !hidden.is_empty() {
            add_hidden(net, &hidden);
        }
    }

    /// Experiments that drive what is gone cannot run any more.
    fn drop_driven(&self, net: &mut Net, sources: &[ThingId], idle: &BTreeSet<String>) {
        let gains = sources.iter().filter_map(|&s| net.things[s].gain.clone());
        let inputs: BTreeSet<String> = gains.filter(|g| idle.contains(g)).collect();
        for e in self.source.experiments() {
            let is_meant = self.experiments().any(|m| m.name.text == e.name.text);
            if set_by(e).any(|name| inputs.contains(&name)) || !is_meant {
                net.dropped_experiments.insert(e.name.text.to_string());
            }
        }
        net.fixed.extend(inputs);
    }

    /// A momentum at the start of each experiment.
    fn momentum(&self, net: &Net, of: &str) -> Result<Momentum, String> {
        let mut momentum = Momentum {
            values: Vec::new(),
            alone: "0".to_owned(),
            is_zero: true,
        };
        let asked = [of.to_owned()];
        let with = with_lines(self.source, net);
        let is_number = |v: &f64| v.is_finite();
        let alone = beginning_alone(self.loader, self.path, (self.source, &with), &asked).ok();
        // With all coordinates at zero the model may have no momentum: it is experiments that say where it begins.
        if let Some(found) = alone.filter(|found| found.values[0].iter().all(is_number)) {
            momentum.alone = found.texts[0].clone();
            momentum.is_zero = found.values[0].iter().all(|v| *v == 0.0);
        }
        // An experiment without lines of its own has the value of the one that it extends.
        for e in self.experiments().filter(|e| !e.body.is_empty()) {
            let text = (self.path, self.source.text);
            let found = beginning(self.loader, text, &e.name.text, &asked)?;
            if !found.values[0].iter().all(is_number) {
                let name = &e.name.text;
                return Err(format!("`{of}` has no value where `{name}` begins"));
            }
            momentum.is_zero &= found.values[0].iter().all(|v| *v == 0.0);
            let value = found.texts[0].clone();
            momentum.values.push((e.name.text.to_string(), value));
        }
        Ok(momentum)
    }
}

impl Momentum {
    /// Zero in every experiment that is meant; without any, it is a parameter.
    fn is_zero(&self) -> bool {
        self.is_zero && !self.values.is_empty()
    }
}

/// The name of a momentum, one that is not taken.
fn parameter(net: &Net, inertia: &str) -> String {
    let mut name = format!("p_{inertia}");
    while net.names.contains(&name) {
        name.push('_');
    }
    name
}

/// What an experiment sets.
fn set_by(e: &Experiment) -> impl Iterator<Item = String> {
    let with = e.statements().filter_map(|s| match &s.kind {
        ExperimentKind::With(all) => Some(all),
        _ => None,
    });
    let targets = with.flatten().map(|a| &a.target);
    targets.map(|r| {
        let parts: Vec<&str> = r.parts.iter().map(|p| &*p.name.text).collect();
        parts.join(".")
    })
}

/// Adds a constant to the energy of the whole.
fn add_hidden(net: &mut Net, energy: &str) {
    let before = net.images.get("system.energy").map(|i| i.text.clone());
    let all = sum(before.as_deref().unwrap_or("system.energy"), energy);
    net.images
        .insert("system.energy".to_owned(), Image::of(all));
}

/// The 1-junction of a name.
fn called(net: &Net, name: &str) -> Option<ThingId> {
    let is_it = |t: &ThingId| {
        net.things[*t].kind == Kind::One && net.things[*t].name.as_deref() == Some(name)
    };
    net.alive().into_iter().find(is_it)
}

/// The sources of zero at a junction.
///
/// # Errors
///
/// Something else acts there.
fn only_idle(
    net: &Net,
    junction: ThingId,
    idle: &BTreeSet<String>,
) -> Result<Vec<ThingId>, String> {
    let mut sources = Vec::new();
    for bond in net.at(junction) {
        let other = net.across(bond, junction);
        let thing = &net.things[other];
        let gain = thing.gain.as_ref();
        let is_idle = gain.is_some_and(|g| idle.contains(g) || is_number(g, 0.0));
        match thing.kind {
            Kind::Se if is_idle => sources.push(other),
            _ => return Err(format!("{} acts there", net.label(other))),
        }
    }
    Ok(sources)
}

/// Looks whether nothing acts on a junction, and what it holds.
///
/// # Errors
///
/// What acts there.
fn free(net: &Net, junction: ThingId, idle: &BTreeSet<String>) -> Result<Free, String> {
    if net.things[junction].has_hidden_bonds {
        return Err("ports, blocks or vectors may act there".to_owned());
    }
    let (mut sums, mut sources) = (Vec::new(), Vec::new());
    for bond in net.at(junction) {
        let other = net.across(bond, junction);
        let thing = &net.things[other];
        let is_idle = thing
            .gain
            .as_ref()
            .is_some_and(|g| idle.contains(g) || is_number(g, 0.0));
        match thing.kind {
            Kind::Zero => sums.push(other),
            Kind::Se if is_idle => sources.push(other),
            _ => return Err(format!("{} acts there", net.label(other))),
        }
    }
    let &[sum] = sums.as_slice() else {
        return Err(match sums.len() {
            0 => "it is bonded to no 0-junction".to_owned(),
            _ => "it moves several 0-junctions".to_owned(),
        });
    };
    if net.things[sum].has_hidden_bonds {
        return Err(format!(
            "ports, blocks or vectors may act on {}",
            net.label(sum)
        ));
    }
    let (mut inertias, mut ratios) = (Vec::new(), Vec::new());
    for bond in net.at(sum) {
        let other = net.across(bond, sum);
        if other == junction {
            continue;
        }
        if let Some(found) = lone_inertia(net, other, sum) {
            inertias.push(found);
        } else if let Some(ratio) = ratio(net, other, sum) {
            ratios.push(ratio);
        } else if net.things[other].kind != Kind::One || net.things[other].name.is_none() {
            return Err(format!("{} acts on {}", net.label(other), net.label(sum)));
        }
    }
    match inertias.is_empty() {
        true => Err(format!("{} holds no inertia of its own", net.label(sum))),
        false => Ok(Free {
            junction,
            sum,
            sources,
            inertias,
            ratios,
        }),
    }
}

/// A transformer that leads from a 1-junction with a name into a 0-junction.
fn ratio(net: &Net, tf: ThingId, sum: ThingId) -> Option<Ratio> {
    let thing = &net.things[tf];
    let bonds = net.at(tf);
    let &[a, b] = bonds.as_slice() else {
        return None;
    };
    let is_out = |b: BondId| net.bonds[b].tail == tf && net.bonds[b].head == sum;
    let before = match (is_out(a), is_out(b)) {
        (true, false) => b,
        (false, true) => a,
        _ => return None,
    };
    let from = &net.things[net.bonds[before].tail];
    let leads = thing.kind == Kind::Tf && net.bonds[before].head == tf && from.kind == Kind::One;
    let (true, Some(gain), Some(name)) = (leads, &thing.gain, &from.name) else {
        return None;
    };
    Some(Ratio {
        tf,
        flow: product(gain, &format!("{name}.f")),
    })
}

/// An inertia at a 0-junction, directly or behind a 1-junction of its own.
fn lone_inertia(net: &Net, thing: ThingId, sum: ThingId) -> Option<(ThingId, Option<ThingId>)> {
    let is_inertia = |t: ThingId| {
        let t = &net.things[t];
        t.kind == Kind::I && t.gain.is_some() && t.name.is_some()
    };
    if is_inertia(thing) {
        return Some((thing, None));
    }
    if net.things[thing].kind != Kind::One || net.things[thing].has_hidden_bonds {
        return None;
    }
    let bonds = net.at(thing);
    let others: Vec<ThingId> = bonds
        .iter()
        .map(|&b| net.across(b, thing))
        .filter(|&o| o != sum)
        .collect();
    // p̃ = e of the bond, arrow into the inertia: its sign is that of the sum.
    let into = bonds.iter().find(|&&b| net.across(b, thing) == sum)?;
    match others.as_slice() {
        [only] if is_inertia(*only) && net.bonds[*into].head == thing => Some((*only, Some(thing))),
        _ => None,
    }
}
