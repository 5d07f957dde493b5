//! `unwrap(angle, rate = w)`: an angle that counts turns, made of one that jumps at ±180°.
//!
//! In:  an angle that is known up to whole turns, and its rate.
//! Out: s + δ, where the hidden state s turns with the rate, and δ, between −π and π, is what the angle
//!      says beyond s. The sum has the accuracy of the angle: s decides on the number of turns only, so
//!      what it drifts by does not show, and nothing jumps where the angle does.
//!
//! **Invariant:** s starts where δ is 0, as far from the jumps of δ as can be.

use paynter_symbolic::dae::Start;
use paynter_symbolic::walk::below;
use paynter_symbolic::{ExprId, Names, Pool, Role, Symbol, SymbolId};
use paynter_syntax::{Span, ast};

use super::lower::{Ctx, Lowered, Stop};
use super::value::Value;
use super::{Elaborator, code};
use crate::graph::{Reading, ReadingKind};
use crate::units::Dimension;

impl<'a> Elaborator<'a> {
    pub(super) fn unwrap(&mut self, args: &[ast::Arg], span: Span, ctx: Ctx<'_>) -> Lowered {
        let (angle, rate) = self.unwrap_arguments(args, span, ctx)?;
        if let Some(known) = self.readings.unwrapped.get(&(angle, rate)) {
            return Ok(known.clone());
        }

        let parent = self.tables.scopes[ctx.scope.at()].instance;
        let parent = parent.map_or(Names::ROOT, |i| self.tables.instances[i.at()].path);
        let number = self.readings.unwrapped.len() as i64 + 1;
        let name = self.child(parent, "unwrap", Some(number));
        let origin = self.origin(span);
        let state = self.graph.signals.add_symbol(Symbol {
            name,
            role: Role::Unknown,
            nominal: 0.0,
            origin,
        });
        self.graph.readings.push(Reading {
            symbol: state,
            what: ReadingKind::Integral(rate),
        });

        let total = self.whole_angle(angle, state);
        self.graph.signals.late_starts.push((state, total));
        self.readings.turn_counters.insert(total, state);

        let value = Value::scalar(total).measured(Some(Dimension::ONE), Some(span));
        self.readings.unwrapped.insert((angle, rate), value.clone());
        Ok(value)
    }

    /// s + δ with δ = angle − s, brought between −π and π.
    fn whole_angle(&mut self, angle: ExprId, state: SymbolId) -> ExprId {
        use paynter_symbolic::{Function1, Function2, Node};
        let pool = self.pool();
        let s = pool.symbol(state);
        let (sin, cos) = match pool.node(angle) {
            // The point itself, turned back by s: the jump of its own angle is not met.
            Node::Call2(Function2::Atan2, y, x) => {
                let (sin_s, cos_s) = (pool.call1(Function1::Sin, s), pool.call1(Function1::Cos, s));
                let (y_cos, x_sin) = (pool.mul(y, cos_s), pool.mul(x, sin_s));
                let (x_cos, y_sin) = (pool.mul(x, cos_s), pool.mul(y, sin_s));
                (pool.sub(y_cos, x_sin), pool.add(x_cos, y_sin))
            }
            _ => {
                let beyond = pool.sub(angle, s);
                let sin = pool.call1(Function1::Sin, beyond);
                (sin, pool.call1(Function1::Cos, beyond))
            }
        };

        // δ stays far from its jump at ±π, which need not be watched along the run; switches inside of it must be.
        let mut small = pool.call2(Function2::Atan2, sin, cos);
        if !has_switches(pool, small) {
            small = pool.smooth(small);
        }
        pool.add(s, small)
    }

    fn unwrap_arguments(
        &mut self,
        args: &[ast::Arg],
        span: Span,
        ctx: Ctx<'_>,
    ) -> Result<(ExprId, ExprId), Stop> {
        let mut found = [None, None];
        let wanted = [Dimension::ONE, Dimension::TIME.pow(-1, 1)];
        for (position, arg) in args.iter().enumerate() {
            let slot = match arg.name.as_ref().map(|n| &*n.text) {
                None => position,
                Some("angle") => 0,
                Some("rate") => 1,
                Some(_) => 2,
            };
            if slot > 1 || found[slot].is_some() {
                return Err(self.report_unwrap(arg.value.span, "not expected"));
            }
            let value = self.lower(&arg.value, ctx)?;
            if value.dimension.is_some_and(|d| d != wanted[slot]) {
                let words = [
                    "an angle is needed here",
                    "the rate of the angle is needed here",
                ];
                return Err(self.report_unwrap(arg.value.span, words[slot]));
            }
            found[slot] = Some(self.scalar_of(&value, arg.value.span)?);
        }

        match found {
            [Some(angle), Some(rate)] => Ok((angle, rate)),
            _ => Err(self.report_unwrap(span, "an argument is missing")),
        }
    }

    fn report_unwrap(&mut self, span: Span, label: &str) -> Stop {
        report!(self, code::ARGUMENTS, span, "`unwrap` is called with the wrong arguments";
            "{label}";
            help: "it is called as `unwrap(atan2(y, x), rate = w)`, with an angle and its rate");
        Stop::Reported
    }

    /// Lets a demand or hint on an angle that counts turns choose the turn on which the search begins.
    pub(super) fn choose_turn(&mut self, start: Start) {
        if let Some(&state) = self.readings.turn_counters.get(&start.target) {
            let target = self.pool().symbol(state);
            let is_guess = true;
            self.graph.signals.starts.push(Start {
                target,
                is_guess,
                ..start
            });
        }
    }
}

/// Tells whether an expression holds something that switches, other than angles.
fn has_switches(pool: &Pool, e: ExprId) -> bool {
    use paynter_symbolic::{Function1, Function2, Node};
    below(pool, &[e]).into_iter().any(|id| match pool.node(id) {
        Node::Compare(..) | Node::If(..) => true,
        Node::Call1(f, _) => matches!(
            f,
            Function1::Abs
                | Function1::Sign
                | Function1::Floor
                | Function1::Ceil
                | Function1::Round
        ),
        Node::Call2(f, ..) => matches!(f, Function2::Min | Function2::Max | Function2::Mod),
        _ => false,
    })
}
