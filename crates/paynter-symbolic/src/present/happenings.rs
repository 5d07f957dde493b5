//! What happens at ticks and events, readable.
//!
//! In:  the sampled blocks and `when`s of a reduced system.
//! Out: for each, what causes it and what it sets, in the model's names.
//!
//! **Invariant:** nothing of what a tick or an event sets is left out.

use super::{Line, Presenter};
use crate::dae::Action;
use crate::expr::{ExprId, SymbolId};
use crate::print::Tree;
use crate::reduced::Reduced;
use crate::walk::symbols_of;

/// When something is set.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// At this rate in Hz, as a fraction.
    Tick(u64, u64),
    /// When this becomes true.
    Event(Tree),
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// A discrete quantity gets a value.
    Set(Line),
    /// A continuous quantity jumps.
    Jump(Line),
    /// The run ends.
    Stop(String),
}

/// A sampled block or an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// When.
    pub cause: Cause,
    /// What, in order.
    pub effects: Vec<Effect>,
}

impl Effect {
    /// The equation, if there is one.
    pub fn line(&self) -> Option<&Line> {
        match self {
            Effect::Set(line) | Effect::Jump(line) => Some(line),
            Effect::Stop(_) => None,
        }
    }
}

/// What ticks and events read.
pub(super) fn symbols(reduced: &Reduced) -> Vec<SymbolId> {
    let dae = &reduced.dae;
    let mut roots: Vec<ExprId> = Vec::new();
    for clock in &dae.clocks {
        roots.extend(clock.equations.iter().map(|e| e.1));
    }
    for when in &dae.whens {
        roots.push(when.condition);
        roots.extend(when.actions.iter().filter_map(|action| match action {
            Action::Reinit { value, .. } | Action::Assign { value, .. } => Some(*value),
            Action::Stop { .. } => None,
        }));
    }
    roots
        .into_iter()
        .flat_map(|e| symbols_of(&dae.pool, e))
        .collect()
}

impl Presenter<'_> {
    pub(super) fn happenings(
        &mut self,
        reduced: &Reduced,
        needed: &mut Vec<ExprId>,
    ) -> Vec<Happening> {
        let mut all = Vec::new();
        for clock in &reduced.dae.clocks {
            let effects = clock
                .equations
                .iter()
                .map(|&(symbol, e)| Effect::Set(self.effect(symbol, e, needed)))
                .collect();
            all.push(Happening {
                cause: Cause::Tick(clock.rate.0, clock.rate.1),
                effects,
            });
        }

        for when in &reduced.dae.whens {
            let condition = self.read(when.condition, needed);
            let effects = when
                .actions
                .iter()
                .map(|action| match action {
                    Action::Reinit { target, value, .. } => {
                        Effect::Jump(self.effect(*target, *value, needed))
                    }
                    Action::Assign { target, value, .. } => {
                        Effect::Set(self.effect(*target, *value, needed))
                    }
                    Action::Stop { message } => Effect::Stop(message.clone()),
                })
                .collect();
            all.push(Happening {
                cause: Cause::Event(condition),
                effects,
            });
        }
        all
    }

    fn effect(&mut self, symbol: SymbolId, e: ExprId, needed: &mut Vec<ExprId>) -> Line {
        Line {
            symbol,
            right: self.read(e, needed),
            range: None,
        }
    }

    fn read(&mut self, e: ExprId, needed: &mut Vec<ExprId>) -> Tree {
        let e = self.elimination.thawed(e);
        let value = self.choose(e);
        needed.push(value);
        self.tree(value)
    }
}
