//! Which quantities are held between events: a plot draws them in steps.
//!
//! In:  the signals of a model, and an expression that is plotted.
//! Out: whether its value changes at ticks and events only.
//!
//! **Invariant:** what is called held cannot move between events, by the structure of its definition;
//! what is not called so may still stand still.

use paynter_symbolic::dae::Dae;
use paynter_symbolic::expr::{Function1, Node};
use paynter_symbolic::walk::for_each_argument;
use paynter_symbolic::{ExprId, Role, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Tells which of some expressions are held.
pub(crate) struct Held<'a> {
    dae: &'a Dae,
    /// `x = …`
    defined: FxHashMap<SymbolId, ExprId>,
}

impl<'a> Held<'a> {
    /// Looks up the definitions of a model; a model without samples and events needs none.
    pub(crate) fn new(dae: &'a Dae) -> Held<'a> {
        let is_discrete = dae
            .symbols
            .iter()
            .any(|s| matches!(s.role, Role::Discrete { .. }));
        let equations = dae.equations.iter().filter(|_| is_discrete);
        let explicit =
            |e: &paynter_symbolic::Equation| Some((dae.pool.as_symbol(e.left)?, e.right));
        Held {
            dae,
            defined: equations.filter_map(explicit).collect(),
        }
    }

    /// Tells whether an expression changes at events only.
    pub(crate) fn is_held(&self, e: ExprId) -> bool {
        let mut open = vec![e];
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(e) = open.pop() {
            if !seen.insert(e) {
                continue;
            }
            match self.dae.pool.node(e) {
                Node::Symbol(s) => match self.symbol(s) {
                    Moves::Never => {}
                    Moves::As(definition) => open.push(definition),
                    Moves::Freely => return false,
                },
                // A truth switches, whatever it compares.
                Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => {}
                Node::Call1(f, _) if is_stepped(f) => {}
                Node::If(_, yes, no) => open.extend([yes, no]),
                _ => for_each_argument(&self.dae.pool, e, |a| open.push(a)),
            }
        }
        true
    }

    fn symbol(&self, s: SymbolId) -> Moves {
        match self.dae.symbol(s).role {
            Role::Parameter { .. } | Role::Discrete { .. } | Role::Mode { .. } => Moves::Never,
            Role::Unknown => self
                .defined
                .get(&s)
                .map_or(Moves::Freely, |&e| Moves::As(e)),
            Role::Time | Role::Derivative { .. } | Role::Pre { .. } => Moves::Freely,
        }
    }
}

enum Moves {
    Never,
    As(ExprId),
    Freely,
}

fn is_stepped(f: Function1) -> bool {
    matches!(
        f,
        Function1::Sign | Function1::Floor | Function1::Ceil | Function1::Round
    )
}
