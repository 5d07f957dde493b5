//! What decides on modes and events, lowered: guards, functions of time, fast waves, corners and pulses.
//!
//! In:  switches, `when`s and equations of the plan.
//! Out: the [`crate::image::EventLayout`] of the image.

use super::*;

/// What the actions of all `when`s write.
#[derive(Default)]
struct Written {
    reinit_values: Vec<ExprId>,
    /// Quantities that are not states, to be solved for.
    targets: Vec<ExprId>,
    assigned: Vec<ExprId>,
}

/// What decides on modes, as expressions, in the order of their numbers.
#[derive(Default)]
struct Deciding {
    by_state: Vec<ExprId>,
    /// The same without the band about zero in which differences are noise.
    as_they_are: Vec<ExprId>,
    /// Slope and offset of each line in time.
    by_time: Vec<ExprId>,
    line_sizes: Vec<ExprId>,
}

impl Maker {
    pub(super) fn make_events(&mut self) -> Result<(), LowerError> {
        self.make_modes()?;
        let dae = &self.emitter.plan.dae;
        let whens = dae.whens.clone();
        let conditions: Vec<ExprId> = whens.iter().map(|when| when.condition).collect();
        self.image.events.conditions = self.emitter.routine(&conditions)?;
        let mut written = Written::default();
        for (number, when) in whens.iter().enumerate() {
            let actions = when.actions.iter();
            let actions = actions.map(|action| self.action(action, number, &mut written));
            let actions = actions.collect();
            self.image.events.actions.push(actions);
        }
        self.image.events.reinit_values = self.emitter.routine(&written.reinit_values)?;
        self.image.events.assigned_values = self.emitter.routine(&written.assigned)?;
        self.image.events.reinit_targets =
            Map::new(&mut self.emitter, &self.image.inputs, &written.targets)?;
        self.make_left_limits()
    }

    /// Lowers an action of the `when` with this number, and adds what it writes.
    fn action(&mut self, action: &Action, number: usize, written: &mut Written) -> ActionInfo {
        match action {
            Action::Assign { target, value, .. } => {
                written.assigned.push(*value);
                ActionInfo::Assign {
                    value: written.assigned.len() - 1,
                    slot: self.emitter.input(*target),
                }
            }
            Action::Stop { message } => {
                let events = &mut self.image.events;
                events.stops.push((number, message.clone()));
                let stop = events.stops.len() as u32 - 1;
                ActionInfo::Stop { stop }
            }
            Action::Reinit {
                target,
                value,
                origin,
            } => {
                written.reinit_values.push(*value);
                let value = written.reinit_values.len() - 1;
                let target_expr = self.emitter.plan.dae.pool.symbol(*target);
                if let Some((index, is_negated)) = self.as_state(target_expr) {
                    return ActionInfo::SetState {
                        value,
                        index,
                        is_negated,
                    };
                }
                written.targets.push(target_expr);
                let events = &mut self.image.events;
                events.aims.push((*target, *origin));
                ActionInfo::Aim {
                    value,
                    row: written.targets.len() - 1,
                    action: events.aims.len() as u32 - 1,
                }
            }
        }
    }

    pub(super) fn make_left_limits(&mut self) -> Result<(), LowerError> {
        let mut of = Vec::new();
        for s in 0..self.emitter.plan.dae.symbols.len() {
            let symbol = SymbolId(s as u32);
            if let Role::Pre { of: x } = self.emitter.plan.dae.symbol(symbol).role
                && !matches!(self.emitter.plan.dae.symbol(x).role, Role::Discrete { .. })
            {
                of.push(self.emitter.plan.dae.pool.symbol(x));
                let slot = self.emitter.input(symbol);
                self.image.events.pre_continuous_slots.push(slot);
            }
        }
        self.image.events.pre_continuous = self.emitter.routine(&of)?;
        Ok(())
    }

    /// Follows names to a state: `x`, `−x`.
    pub(super) fn as_state(&self, mut e: ExprId) -> Option<(usize, bool)> {
        let plan = &self.emitter.plan;
        let mut is_negated = false;
        // Chains of names are short; a cycle would be a broken promise of `reduce`.
        for _ in 0..plan.sources.len() + 2 {
            match plan.dae.pool.node(e) {
                Node::Neg(a) => {
                    is_negated = !is_negated;
                    e = a;
                }
                Node::Smooth(a) => e = a,
                Node::Symbol(s) => match plan.sources[s.0 as usize] {
                    Source::Forward(value) | Source::Assign(value) => e = value,
                    Source::Input => return Some((*self.state_index.get(&s)?, is_negated)),
                    Source::Nowhere | Source::Solved(_) => return None,
                },
                _ => return None,
            }
        }
        None
    }

    pub(super) fn make_modes(&mut self) -> Result<(), LowerError> {
        let modes = self.emitter.plan.dae.modes.clone();
        let mut deciding = Deciding::default();
        for mode in &modes {
            let (value, kind) = match mode.switch {
                Switch::Relation {
                    comparison,
                    left,
                    right,
                } => {
                    let guard = self.emitter.plan.dae.pool.sub(left, right);
                    (guard, SwitchKind::Relation(comparison))
                }
                Switch::Floor { of } => (of, SwitchKind::Floor),
                Switch::Sign { of } => (of, SwitchKind::Sign),
            };
            let decider = self.decider(mode, (value, kind), &mut deciding);
            let slot = self.emitter.input(mode.symbol);
            self.image.events.modes.push(ModeInfo {
                symbol: mode.symbol,
                slot,
                kind,
                decider,
            });
        }

        let Deciding {
            by_state,
            as_they_are,
            by_time,
            line_sizes,
        } = deciding;
        let owners = self.image.events.modes.iter().filter_map(|mode| {
            matches!(mode.decider, Decider::State { .. }).then_some((mode.symbol, mode.kind))
        });
        let guards: Vec<_> = owners.zip(as_they_are.iter().copied()).collect();
        if !self.is_for_export {
            self.make_waves(&guards);
        }
        self.image.events.switches = self.emitter.routine(&by_state)?;
        self.image.events.switch_flow =
            Map::along_only(&mut self.emitter, &self.image.inputs, &as_they_are)?;
        self.image.events.timing = self.emitter.routine(&by_time)?;
        self.image.events.line_sizes = self.emitter.routine(&line_sizes)?;
        Ok(())
    }

    /// How a mode is decided: by a line in time, by another function of time, or by a guard that reads states.
    fn decider(
        &mut self,
        mode: &Mode,
        (value, kind): (ExprId, SwitchKind),
        deciding: &mut Deciding,
    ) -> Decider {
        if let Some(Line { slope, offset }) = self.lines.line(&mut self.emitter.plan, value) {
            let size = Lines::size_of_terms(&mut self.emitter.plan, offset);
            deciding.by_time.extend([slope, offset]);
            deciding.line_sizes.push(size);
            return Decider::Time {
                output: deciding.by_time.len() - 2,
            };
        }
        if self.reads_time_alone(value) {
            if !self.is_for_export {
                return Decider::Clock {
                    watched: self.watch(value, Cells::Switch(kind)),
                };
            }
            self.image.events.wave_modes.push(mode.symbol);
        }

        let first_guard = self.image.events.n_guards;
        self.image.events.n_guards += kind.n_guards();
        deciding.as_they_are.push(value);
        deciding.by_state.push(match mode.switch {
            Switch::Relation { left, right, .. } => {
                without_noise(&mut self.emitter.plan.dae.pool, left, right)
            }
            _ => value,
        });
        Decider::State {
            output: deciding.by_state.len() - 1,
            first_guard,
        }
    }

    /// Finds what may wind inside the guards: functions of time or states that are not low powers, wherever the guards
    /// read them, in equations solved together as well.
    pub(super) fn make_waves(&mut self, guards: &[((SymbolId, SwitchKind), ExprId)]) {
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut seen_blocks: FxHashSet<u32> = FxHashSet::default();
        for &((mode, kind), guard) in guards {
            self.make_winding_guard(kind, guard);
            let mut stack = vec![guard];
            while let Some(e) = stack.pop() {
                if !seen.insert(e) {
                    continue;
                }
                if may_wind(&self.emitter.plan.dae.pool, e)
                    && let Reads::Time | Reads::States = self.dependences.of(&self.emitter.plan, e)
                {
                    let tape = Tape::new(&mut self.emitter, &mut self.dependences, e);
                    self.image.events.waves.push(tape);
                    self.image.events.wave_modes.push(mode);
                }
                let plan = &self.emitter.plan;
                match plan
                    .dae
                    .pool
                    .as_symbol(e)
                    .map(|s| plan.sources[s.0 as usize])
                {
                    Some(Source::Forward(value) | Source::Assign(value)) => stack.push(value),
                    Some(Source::Solved(block)) if seen_blocks.insert(block) => {
                        for_each_expression(&plan.solved[block as usize], |e| stack.push(e));
                    }
                    Some(_) => {}
                    None => for_each_argument(&plan.dae.pool, e, |a| stack.push(a)),
                }
            }
        }
    }

    /// Keeps a whole guard beside the functions that wind inside of it: the sum of two that rise and fall may turn where
    /// neither does.
    fn make_winding_guard(&mut self, kind: SwitchKind, guard: ExprId) {
        if self.has_part(guard, may_wind)
            && self.dependences.of(&self.emitter.plan, guard) == Reads::States
        {
            let tape = Tape::new(&mut self.emitter, &mut self.dependences, guard);
            self.image.events.winding_guards.push(tape);
            self.image.events.winding_cells.push(Cells::Switch(kind));
        }
    }

    pub(super) fn reads_time_alone(&mut self, value: ExprId) -> bool {
        self.dependences.of(&self.emitter.plan, value) == Reads::Time
    }

    /// Watches a function of time; gives its number.
    pub(super) fn watch(&mut self, value: ExprId, cells: Cells) -> usize {
        let tape = Tape::new(&mut self.emitter, &mut self.dependences, value);
        self.image.events.watched.push(Watched { tape, cells });
        self.image.events.watched.len() - 1
    }

    /// Functions of time with corners: the solver lands on each of them.
    pub(super) fn make_corners(&mut self, equations: &[Equation]) -> Result<(), LowerError> {
        let dae = &self.emitter.plan.dae;
        if dae.pool.externals().iter().all(|f| f.corners().is_empty()) {
            return Ok(());
        }

        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let mut roots: Vec<ExprId> = equations.iter().flat_map(|e| [e.left, e.right]).collect();
        roots.extend(dae.quadratures.iter().map(|q| q.rate));
        for id in below(&dae.pool, &roots) {
            if let Node::External(f, args, _) = dae.pool.node(id)
                && let &[argument] = dae.pool.args(args)
                && !dae.pool.external(f).corners().is_empty()
                && seen.insert((f, argument))
            {
                found.push((argument, dae.pool.external(f).corners().to_vec()));
            }
        }

        let mut wanted: Vec<ExprId> = Vec::new();
        for (argument, corners) in found {
            if let Some(line) = self.lines.line(&mut self.emitter.plan, argument) {
                self.image.events.corners.push(Corners {
                    output: wanted.len(),
                    corners,
                });
                wanted.extend([line.slope, line.offset]);
            } else if !self.is_for_export && self.reads_time_alone(argument) {
                let watched = self.watch(argument, Cells::Between(corners));
                self.image.events.watched_corners.push(watched);
            }
        }

        let routine = self.emitter.routine(&wanted)?;
        let n_before = self.image.events.timing.outputs.len();
        for corners in &mut self.image.events.corners {
            corners.output += n_before;
        }

        self.image.events.timing.steps.extend(routine.steps);
        self.image.events.timing.outputs.extend(routine.outputs);
        Ok(())
    }

    /// Finds what may be a short pulse in the equations: whole functions of time with a part that rises and falls
    /// steeply, and such parts of states by themselves.
    pub(super) fn make_pulses(&mut self, equations: &[Equation]) {
        let mut stack: Vec<ExprId> = equations.iter().flat_map(|e| [e.left, e.right]).collect();
        let pool = &self.emitter.plan.dae.pool;
        if !below(pool, &stack)
            .into_iter()
            .any(|e| may_be_pulse(pool, e))
        {
            return;
        }

        let mut seen = FxHashSet::default();
        let mut of_time = Vec::new();
        let mut of_states = Vec::new();
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            match self.dependences.of(&self.emitter.plan, e) {
                // What is a part of this one is looked at as such.
                Reads::Time if self.has_part(e, may_be_pulse) => {
                    of_time.push(e);
                    continue;
                }
                Reads::Held | Reads::Time => continue,
                Reads::States if self.is_pulse_of_states(e) => of_states.push(e),
                Reads::States | Reads::More => {}
            }
            for_each_argument(&self.emitter.plan.dae.pool, e, |a| stack.push(a));
        }

        if of_states.len() > MOST_PULSES_OF_STATES {
            of_states.clear();
        }
        for angle in self.angles_inside(&of_states) {
            let tape = Tape::new(&mut self.emitter, &mut self.dependences, angle);
            self.image.events.pulse_angles.push(tape);
        }

        for e in of_time.into_iter().chain(of_states) {
            let tape = Tape::new(&mut self.emitter, &mut self.dependences, e);
            self.image.events.pulses.push(tape);
        }
    }

    /// Arguments, in states, of the sines and cosines that functions read, through names as well.
    fn angles_inside(&mut self, functions: &[ExprId]) -> Vec<ExprId> {
        let mut seen = FxHashSet::default();
        let mut angles = Vec::new();
        let mut stack = functions.to_vec();
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            let plan = &self.emitter.plan;
            if let Node::Call1(Function1::Sin | Function1::Cos | Function1::Tan, angle) =
                plan.dae.pool.node(e)
                && self.dependences.of(plan, angle) == Reads::States
                && !angles.contains(&angle)
            {
                angles.push(angle);
            }
            for_each_input(&self.emitter.plan, e, |a| stack.push(a));
        }
        angles
    }

    /// Tells whether a function of states may be a pulse, by itself or as the difference of two steps.
    pub(super) fn is_pulse_of_states(&self, e: ExprId) -> bool {
        let pool = &self.emitter.plan.dae.pool;
        match pool.node(e) {
            Node::Add(a, b) | Node::Sub(a, b) => {
                below(pool, &[a]).into_iter().any(|e| may_be_pulse(pool, e))
                    && below(pool, &[b]).into_iter().any(|e| may_be_pulse(pool, e))
            }
            _ => may_be_pulse(pool, e),
        }
    }

    /// Tells whether a function has such a part, through names as well.
    fn has_part(&self, e: ExprId, is_such: fn(&Pool, ExprId) -> bool) -> bool {
        let plan = &self.emitter.plan;
        let mut seen = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            if is_such(&plan.dae.pool, e) {
                return true;
            }
            for_each_input(plan, e, |a| stack.push(a));
        }
        false
    }
}

/// Pulses of states are looked for in models with no more of them than this: each costs a look at every step.
const MOST_PULSES_OF_STATES: usize = 32;

/// Tells whether a function may rise and fall again in a short time while its argument moves slowly.
fn may_be_pulse(pool: &Pool, e: ExprId) -> bool {
    /// Powers up to this one are no steeper than what error estimates are made for.
    const LOW_POWER: f64 = 3.0;
    match pool.node(e) {
        Node::Call1(f, _) => matches!(
            f,
            Function1::Exp | Function1::Tanh | Function1::Atan | Function1::Cosh | Function1::Sinh
        ),
        Node::Power(_, n) => pool
            .as_number(n)
            .is_none_or(|n| !(0.0..=LOW_POWER).contains(&n)),
        Node::Div(a, b) => pool.as_number(a).is_some() && pool.as_number(b).is_none(),
        Node::External(..) => true,
        _ => false,
    }
}

/// Tells whether a function can turn more often than its argument: beyond what samples of a step would show.
fn may_wind(pool: &Pool, e: ExprId) -> bool {
    /// Powers up to this one turn as rarely as the polynomials of a step do.
    const LOW_POWER: f64 = 3.0;
    match pool.node(e) {
        Node::Call1(f, _) => !matches!(
            f,
            Function1::Abs
                | Function1::Sign
                | Function1::Floor
                | Function1::Ceil
                | Function1::Round
                | Function1::Sqrt
                | Function1::Log
                | Function1::Log10
        ),
        Node::Power(_, n) => pool
            .as_number(n)
            .is_none_or(|n| !(0.0..=LOW_POWER).contains(&n)),
        // 1/(1 + x²) is a pulse that no polynomial of a step is.
        Node::Div(_, b) => pool.as_number(b).is_none(),
        Node::External(..) => true,
        _ => false,
    }
}
