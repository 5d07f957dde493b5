//! Freezes the switches of expressions, so that what is integrated is smooth between events.
//!
//! In:  an expression with comparisons, `abs`, `min`, `floor` …
//! Out: the same with a mode symbol in the place of each switch. A mode keeps its value
//!      until its switch really changes; finding that moment is the engine's work.
//!
//! **Invariant:** with every mode at the value of its switch, the frozen expression has the
//! value of the original one. Equal switches share a mode, and so do opposite ones
//! (`x < 0` and `x >= 0`). What is under `smooth` is not frozen.

use std::f64::consts::FRAC_PI_4;

use crate::dae::Switch;
use crate::expr::{Comparison, ExprId, Function1, Function2, Node, Pool, SymbolId};
use crate::walk::{below, for_each_argument, rebuild, substitute};
use rustc_hash::{FxHashMap, FxHashSet};

/// Freezes one expression; to share modes between several, use one [`Freezer`].
///
/// `is_constant` tells which symbols cannot change between events: what depends only on
/// those is left as it is. `new_mode` makes the symbol of a new mode.
pub fn freeze(
    pool: &mut Pool,
    e: ExprId,
    is_constant: &dyn Fn(SymbolId) -> bool,
    new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
) -> ExprId {
    Freezer::new().freeze(pool, e, is_constant, new_mode)
}

/// Freezes many expressions, with one mode for each different switch.
#[derive(Clone, Debug, Default)]
pub struct Freezer {
    modes: FxHashMap<Key, ModeUse>,
    frozen: FxHashMap<ExprId, ExprId>,
    /// [`VARIES`] and [`SWITCHES`], by expression.
    traits: Vec<u8>,
}

/// It can change between events.
const VARIES: u8 = 1;
/// It holds a switch or `smooth`: without either, freezing changes nothing.
const SWITCHES: u8 = 2;
/// It holds a root, a logarithm or a broken power.
const ROOTS: u8 = 4;

/// A switch up to swapping and negating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Less(ExprId, ExprId),
    Equal(ExprId, ExprId),
    Floor(ExprId),
    Sign(ExprId),
}

#[derive(Clone, Copy, Debug)]
struct ModeUse {
    symbol: SymbolId,
    /// The mode is 1 where the key does not hold.
    negated: bool,
}

impl Freezer {
    /// Makes a freezer that knows no mode yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Freezes an expression; see [`freeze`]. `is_constant` must be the same in every call.
    pub fn freeze(
        &mut self,
        pool: &mut Pool,
        e: ExprId,
        is_constant: &dyn Fn(SymbolId) -> bool,
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        self.look(pool, e, is_constant);
        if self.traits[e.0 as usize] & SWITCHES == 0 {
            return e;
        }
        // Only what is seen from outside `smooth`: the rest must make no modes.
        for id in self.visible(pool, e) {
            let new = self.freeze_node(pool, id, new_mode);
            self.frozen.insert(id, new);
        }
        self.frozen[&e]
    }

    /// Looks at the nodes up to `e` that were made since the last call.
    fn look(&mut self, pool: &Pool, e: ExprId, is_constant: &dyn Fn(SymbolId) -> bool) {
        for id in self.traits.len() as u32..=e.0 {
            let id = ExprId(id);
            let mut traits = match pool.node(id) {
                Node::Symbol(s) if !is_constant(s) => VARIES,
                Node::Compare(..) | Node::Call1(..) | Node::Call2(..) | Node::Smooth(_) => SWITCHES,
                _ => 0,
            };
            traits |= root_argument(pool, id).map_or(0, |_| ROOTS);
            for_each_argument(pool, id, |a| traits |= self.traits[a.0 as usize]);
            self.traits.push(traits);
        }
    }

    fn varies(&self, e: ExprId) -> bool {
        self.traits[e.0 as usize] & VARIES != 0
    }

    /// Nodes not yet frozen, arguments first, without what is only below `smooth`.
    fn visible(&self, pool: &Pool, e: ExprId) -> Vec<ExprId> {
        let mut seen = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(id) = stack.pop() {
            if self.frozen.contains_key(&id) || !seen.insert(id) {
                continue;
            }
            if !matches!(pool.node(id), Node::Smooth(_)) && self.varies(id) {
                for_each_argument(pool, id, |a| stack.push(a));
            }
        }
        let mut found: Vec<ExprId> = seen.into_iter().collect();
        found.sort_unstable();
        found
    }

    fn freeze_node(
        &mut self,
        pool: &mut Pool,
        id: ExprId,
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        if let Node::Smooth(inside) = pool.node(id) {
            return inside;
        }
        if !self.varies(id) {
            return id;
        }

        let frozen = &self.frozen;
        match pool.node(id) {
            Node::Compare(c, a, b) => {
                let (a, b) = (frozen[&a], frozen[&b]);
                self.relation(pool, c, (a, b), new_mode)
            }
            Node::If(condition, a, b) => self.choice(pool, condition, (a, b)),
            Node::Call1(..) | Node::Power(..) if root_argument(pool, id).is_some() => {
                let root = rebuild(pool, id, &|a| frozen[&a]);
                match root_argument(pool, id) {
                    Some(a) if frozen[&a] != a && is_never_negative(pool, a) => {
                        let size = pool.call1(Function1::Abs, frozen[&a]);
                        with_argument(pool, root, size)
                    }
                    _ => root,
                }
            }
            Node::Call1(f, a) => {
                let a = frozen[&a];
                self.freeze_function(pool, f, a, new_mode)
            }
            Node::Call2(Function2::Atan2, y, x) => self.freeze_angle(pool, (y, x), new_mode),
            Node::Call2(f, a, b) => {
                let (a, b) = (frozen[&a], frozen[&b]);
                self.freeze_function2(pool, f, (a, b), new_mode)
            }
            _ => rebuild(pool, id, &|a| frozen[&a]),
        }
    }

    /// Freezes a choice, whose condition is frozen already.
    fn choice(&self, pool: &mut Pool, condition: ExprId, (a, b): (ExprId, ExprId)) -> ExprId {
        let mode = self.frozen[&condition];
        let (mut yes, mut no) = (self.frozen[&a], self.frozen[&b]);
        let has_roots = |e: ExprId| self.traits[e.0 as usize] & (ROOTS | VARIES) == ROOTS | VARIES;
        if mode != condition && (has_roots(a) || has_roots(b)) {
            let condition = self.unfrozen_condition(pool, condition);
            if has_roots(a) {
                yes = continued(pool, yes, condition, true);
            }
            if has_roots(b) {
                no = continued(pool, no, condition, false);
            }
        }
        pool.if_else(mode, yes, no)
    }

    /// A condition that is looked at wherever it is read, of frozen arguments.
    fn unfrozen_condition(&self, pool: &mut Pool, condition: ExprId) -> ExprId {
        if !self.varies(condition) {
            return condition;
        }
        match pool.node(condition) {
            Node::Compare(c, a, b) => pool.compare(c, self.frozen[&a], self.frozen[&b]),
            Node::Not(a) => {
                let a = self.unfrozen_condition(pool, a);
                pool.not(a)
            }
            Node::And(a, b) => {
                let a = self.unfrozen_condition(pool, a);
                let b = self.unfrozen_condition(pool, b);
                pool.and(a, b)
            }
            Node::Or(a, b) => {
                let a = self.unfrozen_condition(pool, a);
                let b = self.unfrozen_condition(pool, b);
                pool.or(a, b)
            }
            _ => self.frozen[&condition],
        }
    }

    fn freeze_function(
        &mut self,
        pool: &mut Pool,
        f: Function1,
        a: ExprId,
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        if pool.as_number(a).is_some() {
            return pool.call1(f, a);
        }
        match f {
            Function1::Abs => {
                let zero = pool.number(0.0);
                let m = self.relation(pool, Comparison::GreaterEqual, (a, zero), new_mode);
                let minus = pool.neg(a);
                pool.if_else(m, a, minus)
            }
            Function1::Sign => self.mode(pool, Key::Sign(a), Switch::Sign { of: a }, new_mode),
            Function1::Floor => self.floor(pool, a, new_mode),
            Function1::Ceil => {
                // ⌈a⌉ = −⌊−a⌋
                let minus = pool.neg(a);
                let floor = self.floor(pool, minus, new_mode);
                pool.neg(floor)
            }
            Function1::Round => {
                // Halves go up, also negative ones: one rule on both sides makes one switch.
                let half = pool.number(0.5);
                let above = pool.add(a, half);
                self.floor(pool, above, new_mode)
            }
            _ => pool.call1(f, a),
        }
    }

    fn freeze_function2(
        &mut self,
        pool: &mut Pool,
        f: Function2,
        (a, b): (ExprId, ExprId),
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        match f {
            Function2::Min => {
                let second = self.relation(pool, Comparison::Less, (b, a), new_mode);
                pool.if_else(second, b, a)
            }
            Function2::Max => {
                let second = self.relation(pool, Comparison::Greater, (b, a), new_mode);
                pool.if_else(second, b, a)
            }
            Function2::Mod => {
                // a mod b = a − b ⌊a/b⌋
                let ratio = pool.div(a, b);
                let turns = self.floor(pool, ratio, new_mode);
                let whole = pool.mul(b, turns);
                pool.sub(a, whole)
            }
            Function2::Atan2 | Function2::Hypot => pool.call2(f, a, b),
        }
    }

    /// Freezes `atan2(y, x)`, which jumps by a turn where the point crosses the negative x-axis. A mode says whether the
    /// point is in the third quadrant; either way, the angle is measured from the middle of where the point is, and goes
    /// on smoothly a quarter of a turn beyond. Where x is positive nothing is changed.
    fn freeze_angle(
        &mut self,
        pool: &mut Pool,
        (y, x): (ExprId, ExprId),
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        // On its cut, the sign of a zero is half a turn.
        let is_upper = is_never_negative(pool, y);
        let is_right = is_never_negative(pool, x);
        let is_frozen = self.frozen[&y] != y;
        let (mut y, x) = (self.frozen[&y], self.frozen[&x]);
        if is_upper && is_frozen {
            y = pool.call1(Function1::Abs, y);
        }
        let angle = pool.call2(Function2::Atan2, y, x);
        if is_upper || is_right || pool.as_number(angle).is_some() {
            return angle;
        }
        let zero = pool.number(0.0);
        let height = above_the_cut(pool, y, x);
        let not_below = self.relation(pool, Comparison::GreaterEqual, (height, zero), new_mode);
        let outside = angle_from(pool, (y, x), FRAC_PI_4);
        let inside = angle_from(pool, (y, x), -3.0 * FRAC_PI_4);
        let behind = pool.if_else(not_below, outside, inside);
        let is_in_front = pool.compare(Comparison::GreaterEqual, x, zero);
        pool.if_else(is_in_front, angle, behind)
    }

    fn floor(
        &mut self,
        pool: &mut Pool,
        a: ExprId,
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        if pool.as_number(a).is_some() {
            return pool.call1(Function1::Floor, a);
        }
        self.mode(pool, Key::Floor(a), Switch::Floor { of: a }, new_mode)
    }

    fn relation(
        &mut self,
        pool: &mut Pool,
        comparison: Comparison,
        (a, b): (ExprId, ExprId),
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        if a == b || (pool.as_number(a).is_some() && pool.as_number(b).is_some()) {
            // Freezing the arguments made them equal or numbers: nothing can switch.
            let (a, b) = if a == b {
                (pool.number(0.0), pool.number(0.0))
            } else {
                (a, b)
            };
            return pool.compare(comparison, a, b);
        }

        // a ≤ b is not (b < a), and so on: one guard for all of them.
        let (key, negated) = match comparison {
            Comparison::Less => (Key::Less(a, b), false),
            Comparison::Greater => (Key::Less(b, a), false),
            Comparison::LessEqual => (Key::Less(b, a), true),
            Comparison::GreaterEqual => (Key::Less(a, b), true),
            Comparison::Equal => (Key::Equal(a.min(b), a.max(b)), false),
            Comparison::NotEqual => (Key::Equal(a.min(b), a.max(b)), true),
        };

        let switch = Switch::Relation {
            comparison,
            left: a,
            right: b,
        };

        let known = match self.modes.get(&key) {
            Some(&known) => known,
            None => {
                let made = ModeUse {
                    symbol: new_mode(pool, switch),
                    negated,
                };
                self.modes.insert(key, made);
                made
            }
        };

        let mode = pool.symbol(known.symbol);
        if known.negated == negated {
            mode
        } else {
            pool.not(mode)
        }
    }

    fn mode(
        &mut self,
        pool: &mut Pool,
        key: Key,
        switch: Switch,
        new_mode: &mut dyn FnMut(&mut Pool, Switch) -> SymbolId,
    ) -> ExprId {
        let symbol = match self.modes.get(&key) {
            Some(known) => known.symbol,
            None => {
                let symbol = new_mode(pool, switch);
                self.modes.insert(
                    key,
                    ModeUse {
                        symbol,
                        negated: false,
                    },
                );
                symbol
            }
        };
        pool.symbol(symbol)
    }
}

/// An angle this little beyond its cut, in radians, is on it: what rests there must not switch at every rounding.
const ON_THE_CUT: f64 = 1e-12;

/// Negative where x and y both are, that is, between the cut of `atan2` and the negative y-axis: x + y + |(x, y)|, which
/// bends nowhere but at the origin.
fn above_the_cut(pool: &mut Pool, y: ExprId, x: ExprId) -> ExprId {
    let sum = pool.add(x, y);
    let radius = pool.call2(Function2::Hypot, x, y);
    let slack = pool.number(1.0 + ON_THE_CUT);
    let radius = pool.mul(slack, radius);
    pool.add(sum, radius)
}

/// The angle of a point, measured from the direction `from`, which is π/4 or −3π/4: it jumps opposite of that.
fn angle_from(pool: &mut Pool, (y, x): (ExprId, ExprId), from: f64) -> ExprId {
    // Turned back by `from`, and made larger by √2.
    let (mut aside, mut along) = (pool.sub(y, x), pool.add(x, y));
    if from < 0.0 {
        (aside, along) = (pool.neg(aside), pool.neg(along));
    }
    let beyond = pool.call2(Function2::Atan2, aside, along);
    let from = pool.number(from);
    pool.add(from, beyond)
}

/// `if x >= 0 then atan2(y, x) else …`, which only frozen angles have.
fn angle_of_choice(pool: &mut Pool, a: ExprId, b: ExprId) -> Option<ExprId> {
    let (Node::Call2(Function2::Atan2, y, x), Node::If(_, yes, no)) = (pool.node(a), pool.node(b))
    else {
        return None;
    };
    let outside = angle_from(pool, (y, x), FRAC_PI_4);
    (yes == outside || no == outside).then_some(a)
}

/// The argument of a root, a logarithm or a broken power: what must not be negative.
///
/// With the sign of x frozen, √|x| has no value a moment beyond the crossing, where a step must look to find it, nor has
/// the √x of `if x > 0 then √x …`. Such an argument is continued there as its mirror image: that of what is never
/// negative by its form, and that of a branch where its own condition does not hold. Where the modes are right, nothing
/// is changed, and a root of something negative stays without a value.
fn root_argument(pool: &Pool, e: ExprId) -> Option<ExprId> {
    match pool.node(e) {
        Node::Call1(Function1::Sqrt | Function1::Log | Function1::Log10, a) => Some(a),
        Node::Power(a, n) => {
            let is_whole = pool.as_number(n).is_some_and(|n| n.fract() == 0.0);
            (!is_whole).then_some(a)
        }
        _ => None,
    }
}

fn with_argument(pool: &mut Pool, root: ExprId, argument: ExprId) -> ExprId {
    match pool.node(root) {
        Node::Call1(f, _) => pool.call1(f, argument),
        Node::Power(_, n) => pool.pow(argument, n),
        _ => root,
    }
}

/// Continues the roots of a branch where its condition does not hold.
fn continued(pool: &mut Pool, branch: ExprId, condition: ExprId, holds: bool) -> ExprId {
    let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in below(pool, &[branch]) {
        let mut rebuilt = rebuild(pool, id, &|a| new[&a]);
        if let Some(a) = root_argument(pool, rebuilt)
            && pool.as_number(a).is_none()
            && !matches!(pool.node(a), Node::Call1(Function1::Abs, _))
        {
            let size = pool.call1(Function1::Abs, a);
            let (yes, no) = if holds { (a, size) } else { (size, a) };
            let argument = pool.if_else(condition, yes, no);
            rebuilt = with_argument(pool, rebuilt, argument);
        }
        new.insert(id, rebuilt);
    }
    new[&branch]
}

/// Tells whether an expression is never negative, by its form.
fn is_never_negative(pool: &Pool, e: ExprId) -> bool {
    match pool.node(e) {
        Node::Number(bits) => f64::from_bits(bits) >= 0.0,
        Node::Call1(Function1::Abs | Function1::Sqrt | Function1::Exp, _) => true,
        Node::Call2(Function2::Hypot, ..) => true,
        Node::Call2(Function2::Max, a, b) => {
            is_never_negative(pool, a) || is_never_negative(pool, b)
        }
        Node::Call2(Function2::Min, a, b) | Node::Add(a, b) | Node::Div(a, b) => {
            is_never_negative(pool, a) && is_never_negative(pool, b)
        }
        Node::Mul(a, b) => a == b || is_never_negative(pool, a) && is_never_negative(pool, b),
        Node::Power(a, n) => {
            let is_even = pool.as_number(n).is_some_and(|n| n % 2.0 == 0.0);
            is_even || is_never_negative(pool, a)
        }
        _ => false,
    }
}

/// Takes back what continues roots beyond their switches.
fn without_mirror(pool: &mut Pool, e: ExprId) -> ExprId {
    if let Node::Call2(Function2::Atan2, y, x) = pool.node(e)
        && let Node::Call1(Function1::Abs, inner) = pool.node(y)
        && is_never_negative(pool, inner)
    {
        return pool.call2(Function2::Atan2, inner, x);
    }
    match root_argument(pool, e).map(|a| pool.node(a)) {
        Some(Node::Call1(Function1::Abs, inner)) if is_never_negative(pool, inner) => {
            with_argument(pool, e, inner)
        }
        _ => e,
    }
}

/// `if c then x else abs(x)`, which only roots of frozen branches have.
fn mirror_image(pool: &mut Pool, a: ExprId, b: ExprId) -> Option<ExprId> {
    if pool.call1(Function1::Abs, a) == b {
        Some(a)
    } else if pool.call1(Function1::Abs, b) == a {
        Some(b)
    } else {
        None
    }
}

/// Puts switches back in the place of modes, for printing: the inverse of [`freeze`].
///
/// `modes` in the order in which they were made: a switch reads earlier modes only.
pub fn thaw(pool: &mut Pool, modes: &[(SymbolId, Switch)]) -> FxHashMap<SymbolId, ExprId> {
    let mut thawed: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for &(symbol, switch) in modes {
        let argument = |pool: &mut Pool, e: ExprId| {
            let e = substitute(pool, e, &|s| thawed.get(&s).copied());
            restore_functions(pool, e)
        };
        let e = match switch {
            Switch::Relation {
                comparison,
                left,
                right,
            } => {
                let (left, right) = (argument(pool, left), argument(pool, right));
                pool.compare(comparison, left, right)
            }
            Switch::Floor { of } => {
                let of = argument(pool, of);
                pool.call1(Function1::Floor, of)
            }
            Switch::Sign { of } => {
                let of = argument(pool, of);
                pool.call1(Function1::Sign, of)
            }
        };
        thawed.insert(symbol, e);
    }
    thawed
}

/// Writes `if x >= 0 then x else -x` as `abs(x)` again, and so `min` and `max`.
pub fn restore_functions(pool: &mut Pool, e: ExprId) -> ExprId {
    let mut restored: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in below(pool, &[e]) {
        let new = rebuild(pool, id, &|a| restored[&a]);
        let new = match pool.node(new) {
            Node::If(condition, a, b) => {
                let (condition, a, b) = plain_condition(pool, condition, a, b);
                let of_frozen = mirror_image(pool, a, b).or_else(|| angle_of_choice(pool, a, b));
                if let Some(x) = of_frozen {
                    restored.insert(id, x);
                    continue;
                }
                function_of_choice(pool, condition, a, b)
                    .unwrap_or_else(|| pool.if_else(condition, a, b))
            }
            _ => without_mirror(pool, new),
        };
        restored.insert(id, new);
    }
    restored[&e]
}

/// `if (if c then 1 else 0) then a else b` is `if c then a else b`.
fn plain_condition(
    pool: &Pool,
    mut condition: ExprId,
    mut a: ExprId,
    mut b: ExprId,
) -> (ExprId, ExprId, ExprId) {
    while let Node::If(inner, yes, no) = pool.node(condition) {
        match (pool.as_number(yes), pool.as_number(no)) {
            (Some(yes), Some(0.0)) if yes != 0.0 => condition = inner,
            (Some(0.0), Some(no)) if no != 0.0 => (condition, a, b) = (inner, b, a),
            _ => break,
        }
    }
    (condition, a, b)
}

fn function_of_choice(pool: &mut Pool, condition: ExprId, a: ExprId, b: ExprId) -> Option<ExprId> {
    let (condition, a, b) = match pool.node(condition) {
        Node::Not(inner) => (inner, b, a),
        _ => (condition, a, b),
    };
    let Node::Compare(c, left, right) = pool.node(condition) else {
        return None;
    };
    let is_less = matches!(c, Comparison::Less | Comparison::LessEqual);
    let is_greater = matches!(c, Comparison::Greater | Comparison::GreaterEqual);
    if !is_less && !is_greater {
        return None;
    }
    if pool.as_number(right) == Some(0.0) {
        let (positive, negative) = if is_greater { (a, b) } else { (b, a) };
        if positive == left && pool.neg(left) == negative {
            return Some(pool.call1(Function1::Abs, left));
        }
    }

    if (left, right) == (a, b) {
        let f = if is_less {
            Function2::Min
        } else {
            Function2::Max
        };
        return Some(pool.call2(f, b, a));
    }

    if (left, right) == (b, a) {
        let f = if is_less {
            Function2::Max
        } else {
            Function2::Min
        };
        return Some(pool.call2(f, a, b));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{RandomExpressions, evaluate_at};
    use crate::walk::symbols_of;

    fn value_of(pool: &Pool, switch: Switch, at: &[f64]) -> f64 {
        match switch {
            Switch::Relation {
                comparison,
                left,
                right,
            } => {
                let (a, b) = (evaluate_at(pool, left, at), evaluate_at(pool, right, at));
                f64::from(u8::from(comparison.holds(a, b)))
            }
            Switch::Floor { of } => evaluate_at(pool, of, at).floor(),
            Switch::Sign { of } => Function1::Sign.eval(evaluate_at(pool, of, at)),
        }
    }

    /// Freezes with symbols 0..3 varying and modes from 3 on.
    fn frozen(pool: &mut Pool, e: ExprId) -> (ExprId, Vec<Switch>) {
        let mut switches = Vec::new();
        let e = freeze(pool, e, &|_| false, &mut |_, switch| {
            switches.push(switch);
            SymbolId(2 + switches.len() as u32)
        });
        (e, switches)
    }

    fn has_switches(pool: &Pool, e: ExprId) -> bool {
        // Without symbols it is a constant that could not be folded, such as floor(1/0).
        let roots: Vec<ExprId> = below(pool, &[e])
            .into_iter()
            .flat_map(|id| match pool.node(id) {
                Node::Call2(Function2::Atan2, y, _) => vec![y],
                Node::If(c, a, _) if matches!(pool.node(a), Node::Call2(Function2::Atan2, ..)) => {
                    vec![c]
                }
                _ => root_argument(pool, id).into_iter().collect(),
            })
            .collect();
        let mirrors = below(pool, &roots);
        below(pool, &[e])
            .into_iter()
            .filter(|id| !mirrors.contains(id))
            .filter(|&id| !symbols_of(pool, id).is_empty())
            .any(|id| {
                matches!(
                    pool.node(id),
                    Node::Compare(..)
                        | Node::Call1(
                            Function1::Abs
                                | Function1::Sign
                                | Function1::Floor
                                | Function1::Ceil
                                | Function1::Round,
                            _
                        )
                        | Node::Call2(Function2::Min | Function2::Max | Function2::Mod, ..)
                )
            })
    }

    #[test]
    fn freezing_keeps_every_value_and_leaves_no_switch() {
        let mut random = RandomExpressions::new(3);
        let mut n_modes = 0;
        for _ in 0..3000 {
            let mut pool = Pool::new();
            let e = random.any(&mut pool, 4, 3);
            let is_smooth = below(&pool, &[e])
                .iter()
                .any(|&id| matches!(pool.node(id), Node::Smooth(_)));
            let (new, switches) = frozen(&mut pool, e);
            assert!(is_smooth || !has_switches(&pool, new));
            n_modes += switches.len();
            let mut at = random.point(3);
            let before = evaluate_at(&pool, e, &at);
            for switch in switches {
                let value = value_of(&pool, switch, &at);
                at.push(value);
            }
            let after = evaluate_at(&pool, new, &at);
            // NaN on the way may choose the other side of a negated comparison.
            if before.is_finite() && !at.iter().any(|x| x.is_nan()) && !rounds(&pool, e) {
                assert!(
                    (before - after).abs() <= 1e-9 * before.abs().max(1.0),
                    "{before} {after}"
                );
            }
        }
        assert!(n_modes > 1000);
    }

    /// Negative halves are rounded the other way.
    fn rounds(pool: &Pool, e: ExprId) -> bool {
        below(pool, &[e])
            .into_iter()
            .any(|id| matches!(pool.node(id), Node::Call1(Function1::Round, _)))
    }

    #[test]
    fn equal_and_opposite_switches_share_a_mode() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let less = pool.compare(Comparison::Less, x, y);
        let not_less = pool.compare(Comparison::GreaterEqual, x, y);
        let swapped = pool.compare(Comparison::Greater, y, x);
        let e = pool.if_else(less, x, y);
        let e = pool.if_else(not_less, e, x);
        let e = pool.if_else(swapped, e, y);
        let larger = pool.call2(Function2::Max, x, y);
        let e = pool.add(e, larger);
        let (_, switches) = frozen(&mut pool, e);
        assert_eq!(switches.len(), 1);
    }

    #[test]
    fn smooth_switches_and_constant_conditions_stay() {
        let mut pool = Pool::new();
        let (x, p) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let zero = pool.number(0.0);
        let size = pool.call1(Function1::Abs, x);
        let smooth = pool.smooth(size);
        let is_on = pool.compare(Comparison::Greater, p, zero);
        let e = pool.if_else(is_on, smooth, x);
        let mut n_modes = 0;
        let new = freeze(&mut pool, e, &|s| s == SymbolId(1), &mut |_, _| {
            n_modes += 1;
            SymbolId(9)
        });
        assert_eq!(n_modes, 0);
        assert_eq!(pool.node(new), Node::If(is_on, size, x));
    }

    #[test]
    fn thawing_gives_back_what_was_frozen() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let size = pool.call1(Function1::Abs, x);
        let smaller = pool.call2(Function2::Min, size, y);
        let larger = pool.call2(Function2::Max, y, x);
        let step = pool.call1(Function1::Floor, larger);
        let e = pool.add(smaller, step);
        let mut modes = Vec::new();
        let frozen = freeze(&mut pool, e, &|_| false, &mut |_, switch| {
            let symbol = SymbolId(10 + modes.len() as u32);
            modes.push((symbol, switch));
            symbol
        });
        let thawed = thaw(&mut pool, &modes);
        let back = substitute(&mut pool, frozen, &|s| thawed.get(&s).copied());
        let back = restore_functions(&mut pool, back);
        assert_eq!(back, e);
    }

    #[test]
    fn truth_values_as_numbers_are_conditions_again() {
        let mut pool = Pool::new();
        let (x, y) = (pool.symbol(SymbolId(0)), pool.symbol(SymbolId(1)));
        let (zero, one) = (pool.number(0.0), pool.number(1.0));
        let truth = pool.if_else(x, zero, one);
        let e = pool.if_else(truth, x, y);
        let plain = restore_functions(&mut pool, e);
        assert_eq!(pool.node(plain), Node::If(x, y, x));
    }
}
