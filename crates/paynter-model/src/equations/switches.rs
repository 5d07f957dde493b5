//! Freezes every switch of the continuous equations, so that solvers see smooth pieces.
//!
//! In:  equations and `when` conditions with comparisons, `abs`, `min`, `floor` …
//! Out: the same with mode symbols in place of the switches; [`Dae::modes`] says what each stands for.
//!
//! Sampled blocks and the right sides of actions are not frozen: they run at instants.

use paynter_symbolic::dae::{Dae, Mode, Origin, Role, Switch, Symbol};
use paynter_symbolic::{ExprId, Names, Pool, SymbolId, events};
use rustc_hash::FxHashMap;

/// Freezes all continuous expressions.
pub(super) fn freeze_all(dae: &mut Dae) {
    let mut freezer = Freezer::new(dae);
    for index in 0..dae.equations.len() {
        let equation = dae.equations[index];
        let left = freezer.freeze(dae, equation.left, equation.origin);
        let right = freezer.freeze(dae, equation.right, equation.origin);
        dae.equations[index].left = left;
        dae.equations[index].right = right;
    }
    for index in 0..dae.whens.len() {
        let (condition, origin) = (dae.whens[index].condition, dae.whens[index].origin);
        dae.whens[index].condition = freezer.freeze(dae, condition, origin);
    }
}

struct Freezer {
    /// Modes by what they stand for: equal switches share one.
    modes: FxHashMap<Switch, SymbolId>,
    /// Symbols that change only at instants: a switch on them alone needs no guard.
    is_constant: Vec<bool>,
}

impl Freezer {
    fn new(dae: &Dae) -> Self {
        let is_constant = dae
            .symbols
            .iter()
            .map(|s| matches!(s.role, Role::Parameter { .. } | Role::Discrete { .. } | Role::Pre { .. }))
            .collect();
        Freezer { modes: FxHashMap::default(), is_constant }
    }

    fn freeze(&mut self, dae: &mut Dae, e: ExprId, origin: Origin) -> ExprId {
        let Dae { pool, symbols, modes, names, .. } = dae;
        let is_constant = &self.is_constant;
        let known = &mut self.modes;
        let mut new_mode = |_: &mut Pool, switch: Switch| {
            *known.entry(switch).or_insert_with(|| {
                let symbol = SymbolId(u32::try_from(symbols.len()).expect("fewer than 2^32 symbols"));
                let number = modes.len() as u32;
                let name = names.child(Names::ROOT, "switch", Some(i64::from(number) + 1));
                symbols.push(Symbol { name, role: Role::Mode { mode: number }, nominal: 1.0, origin });
                modes.push(Mode { symbol, switch, origin });
                symbol
            })
        };
        events::freeze(pool, e, &|s: SymbolId| is_constant.get(s.0 as usize).copied().unwrap_or(false), &mut new_mode)
    }
}
