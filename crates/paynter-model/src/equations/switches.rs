//! Freezes every switch of the continuous equations, so that solvers see smooth pieces.
//!
//! In:  equations and `when` conditions with comparisons, `abs`, `min`, `floor` …
//! Out: the same with mode symbols in place of the switches; [`Dae::modes`] says what each stands for.
//!
//! Sampled blocks and the right sides of actions are not frozen: they run at instants.

use paynter_symbolic::dae::{Dae, Mode, Origin, Role, Switch, Symbol};
use paynter_symbolic::events::Freezer;
use paynter_symbolic::{ExprId, Names, Pool, SymbolId};

/// Freezes all continuous expressions.
pub(super) fn freeze_all(dae: &mut Dae) {
    // A switch on what changes only at instants needs no guard.
    let is_constant: Vec<bool> = dae
        .symbols
        .iter()
        .map(|s| {
            matches!(
                s.role,
                Role::Parameter { .. } | Role::Discrete { .. } | Role::Pre { .. }
            )
        })
        .collect();

    let mut freezer = Freezer::new();
    for index in 0..dae.equations.len() {
        let equation = dae.equations[index];
        let left = freeze(
            &mut freezer,
            dae,
            &is_constant,
            equation.left,
            equation.origin,
        );
        let right = freeze(
            &mut freezer,
            dae,
            &is_constant,
            equation.right,
            equation.origin,
        );
        dae.equations[index].left = left;
        dae.equations[index].right = right;
    }

    for index in 0..dae.whens.len() {
        let (condition, origin) = (dae.whens[index].condition, dae.whens[index].origin);
        dae.whens[index].condition = freeze(&mut freezer, dae, &is_constant, condition, origin);
    }
}

fn freeze(
    freezer: &mut Freezer,
    dae: &mut Dae,
    is_constant: &[bool],
    e: ExprId,
    origin: Origin,
) -> ExprId {
    let Dae {
        pool,
        symbols,
        modes,
        names,
        ..
    } = dae;

    let is_constant = |s: SymbolId| is_constant.get(s.0 as usize).copied().unwrap_or(false);
    let mut new_mode = |_: &mut Pool, switch: Switch| {
        let symbol = SymbolId(u32::try_from(symbols.len()).expect("fewer than 2^32 symbols"));
        let number = modes.len() as u32;
        let name = names.child(Names::ROOT, "switch", Some(i64::from(number) + 1));
        symbols.push(Symbol {
            name,
            role: Role::Mode { mode: number },
            nominal: 1.0,
            origin,
        });
        modes.push(Mode {
            symbol,
            switch,
            origin,
        });
        symbol
    };
    freezer.freeze(pool, e, &is_constant, &mut new_mode)
}
