//! Small changes of a placement, as long as they pay.
//!
//! In:  a board on which every node has a place.
//! Out: the same board with a lower cost, or unchanged.

use super::{Board, Cell};

/// Shifts that are tried on groups of nodes, in cells.
const STRAIGHT_SHIFTS: [Cell; 8] = [
    (0, 1),
    (0, -1),
    (1, 0),
    (-1, 0),
    (0, 2),
    (0, -2),
    (2, 0),
    (-2, 0),
];

/// Pairs of things looked at, at most: some tenths of a second of work.
const MAX_WORK: u64 = 60_000_000;

/// Annealing has to save this much, in cells of length, to be taken.
const MIN_GAIN: f64 = 1.5;

impl Board {
    pub(super) fn improve(&mut self, seed: u64) {
        if self.cells.len() < 2 {
            return;
        }
        self.descend();
        // Hot enough to pass over a crossing (`price::CROSSING`); the second time, from the best found, not.
        let quiet = (self.whole_cost(), self.cells.clone());
        for heat in [8.0, 3.0] {
            self.anneal(heat, seed);
            self.descend();
        }
        // What chance finds must be worth it: without it a small edit moves less.
        if self.whole_cost() > quiet.0 - MIN_GAIN {
            self.put_all(quiet.1);
        }
    }

    /// Takes every small change that pays, until none does.
    fn descend(&mut self) {
        // Each sweep lowers the cost; a dozen reach the bottom, the bound is for the rest.
        for _ in 0..12 {
            let mut is_better = false;
            for node in 0..self.cells.len() {
                for dy in -3..=3 {
                    for dx in -3..=3 {
                        is_better |= self.try_move(&[node], (dx, dy), 0.0);
                    }
                }
                let star = self.star(node);
                for shift in STRAIGHT_SHIFTS {
                    is_better |= star.len() > 1 && self.try_move(&star, shift, 0.0);
                }
            }
            for frame in 0..self.frames.len() {
                let members = self.frames[frame].clone();
                for shift in STRAIGHT_SHIFTS {
                    is_better |= self.try_move(&members, shift, 0.0);
                }
                for turn in [Turn::LeftRight, Turn::UpDown, Turn::Diagonal] {
                    is_better |= self.try_turn(&members, turn, 0.0);
                }
            }
            is_better |= self.close_gaps();
            if !is_better || self.work > MAX_WORK {
                break;
            }
        }
    }

    /// Small random changes, at first also some that cost a little.
    fn anneal(&mut self, first_heat: f64, seed: u64) {
        let n = self.cells.len() as u64;
        let mut dice = Dice(seed);
        // Enough for every node to try its surroundings several times.
        let n_tries = 400 * n.min(60);
        let allowed = self.work + MAX_WORK / 3;
        let mut best = (self.whole_cost(), self.cells.clone());
        for step in 0..n_tries {
            if self.work > allowed {
                break;
            }
            let part_done = step as f64 / n_tries as f64;
            let heat = first_heat * (1.0 - part_done) * (1.0 - part_done) + 0.02;
            // A threshold instead of the Metropolis rule (Dueck & Scheuer 1990): no logarithm,
            // whose last bit differs between machines.
            let luck = dice.part();
            let credit = heat * luck * luck;
            self.try_random(&mut dice, credit);
            if step % 64 == 63 {
                let cost = self.whole_cost();
                if cost < best.0 - 1e-9 {
                    best = (cost, self.cells.clone());
                }
            }
        }
        if self.whole_cost() > best.0 {
            self.put_all(best.1);
        }
    }

    fn try_random(&mut self, dice: &mut Dice, credit: f64) {
        let node = dice.below(self.cells.len());
        match dice.below(10) {
            0 | 1 => {
                let star = self.star(node);
                let shift = (dice.below(5) as i32 - 2, dice.below(5) as i32 - 2);
                self.try_move(&star, shift, credit);
            }
            2 if !self.frames.is_empty() => {
                let members = self.frames[dice.below(self.frames.len())].clone();
                match dice.below(5) {
                    0 => self.try_turn(&members, Turn::LeftRight, credit),
                    1 => self.try_turn(&members, Turn::UpDown, credit),
                    2 => self.try_turn(&members, Turn::Diagonal, credit),
                    _ => {
                        let shift = (dice.below(5) as i32 - 2, dice.below(5) as i32 - 2);
                        self.try_move(&members, shift, credit)
                    }
                };
            }
            3 => {
                let far: Vec<usize> = match dice.below(4) {
                    0 => self.beyond(|c, at| c.0 >= at.0, node),
                    1 => self.beyond(|c, at| c.1 >= at.1, node),
                    2 => self.beyond(|c, at| c.0 <= at.0, node),
                    _ => self.beyond(|c, at| c.1 <= at.1, node),
                };
                let shift = [(0, 1), (0, -1), (1, 0), (-1, 0)][dice.below(4)];
                self.try_move(&far, shift, credit);
            }
            4..=6 => {
                // Beside a neighbour, where most nodes belong.
                let near: Vec<usize> = self.neighbours(node).collect();
                if near.is_empty() {
                    return;
                }
                let at = self.cells[near[dice.below(near.len())]];
                let side = [
                    (0, 1),
                    (0, -1),
                    (1, 0),
                    (-1, 0),
                    (1, 1),
                    (-1, -1),
                    (1, -1),
                    (-1, 1),
                ][dice.below(8)];
                let own = self.cells[node];
                self.try_move(
                    &[node],
                    (at.0 + side.0 - own.0, at.1 + side.1 - own.1),
                    credit,
                );
            }
            _ => {
                let shift = (dice.below(7) as i32 - 3, dice.below(7) as i32 - 3);
                self.try_move(&[node], shift, credit);
            }
        }
    }

    fn beyond(&self, test: impl Fn(Cell, Cell) -> bool, node: usize) -> Vec<usize> {
        (0..self.cells.len())
            .filter(|&k| test(self.cells[k], self.cells[node]))
            .collect()
    }

    /// A node and the one-ports that hang on it alone.
    fn star(&self, node: usize) -> Vec<usize> {
        let mut star = vec![node];
        star.extend(self.neighbours(node).filter(|&k| self.roles[k].is_leaf()));
        star.sort_unstable();
        star.dedup();
        star
    }

    /// Removes rows and columns without nodes.
    fn close_gaps(&mut self) -> bool {
        let mut is_better = false;
        for node in 0..self.cells.len() {
            let right = self.beyond(|c, at| c.0 >= at.0, node);
            is_better |= self.try_move(&right, (-1, 0), 0.0);
            let below = self.beyond(|c, at| c.1 >= at.1, node);
            is_better |= self.try_move(&below, (0, -1), 0.0);
        }
        is_better
    }

    fn try_turn(&mut self, nodes: &[usize], turn: Turn, credit: f64) -> bool {
        let (mut low, mut high) = ((i32::MAX, i32::MAX), (i32::MIN, i32::MIN));
        for &k in nodes {
            let c = self.cells[k];
            low = (low.0.min(c.0), low.1.min(c.1));
            high = (high.0.max(c.0), high.1.max(c.1));
        }
        let turned = |c: Cell| match turn {
            Turn::LeftRight => (low.0 + high.0 - c.0, c.1),
            Turn::UpDown => (c.0, low.1 + high.1 - c.1),
            Turn::Diagonal => (low.0 + c.1 - low.1, low.1 + c.0 - low.0),
        };
        let to: Vec<Cell> = nodes.iter().map(|&k| turned(self.cells[k])).collect();
        self.try_cells(nodes, &to, credit)
    }

    /// Moves nodes if that costs at most `credit`; a single node changes places with what is there.
    fn try_move(&mut self, nodes: &[usize], shift: Cell, credit: f64) -> bool {
        if shift == (0, 0) {
            return false;
        }
        let to: Vec<Cell> = nodes
            .iter()
            .map(|&k| (self.cells[k].0 + shift.0, self.cells[k].1 + shift.1))
            .collect();
        if let [node] = *nodes
            && let Some(&other) = self.taken.get(&to[0])
        {
            let own = self.cells[node];
            return self.try_cells(&[node, other], &[to[0], own], credit);
        }
        self.try_cells(nodes, &to, credit)
    }

    fn try_cells(&mut self, nodes: &[usize], to: &[Cell], credit: f64) -> bool {
        if nodes.iter().any(|&k| self.is_pinned[k]) {
            return false;
        }
        let is_free = |cell: &Cell| self.taken.get(cell).is_none_or(|k| nodes.contains(k));
        if !to.iter().all(is_free) {
            return false;
        }
        let from: Vec<Cell> = nodes.iter().map(|&k| self.cells[k]).collect();
        let before = self.present_cost(nodes);
        self.set_cells(nodes, to);
        // Less than rounding is not a gain; without this two equal places would alternate for ever.
        let limit = if credit > 0.0 {
            before + credit
        } else {
            before - 1e-6
        };
        let after = if self.is_many(nodes) {
            self.whole_cost_up_to(limit)
        } else {
            self.cost_up_to(nodes, limit)
        };
        if after < limit {
            self.generation += 1;
            return true;
        }
        self.set_cells(nodes, &from);
        false
    }

    /// For so many nodes everything is weighed: that looks at each pair once, and is known before.
    fn is_many(&self, nodes: &[usize]) -> bool {
        5 * nodes.len() > self.cells.len()
    }

    /// The cost of nodes where they are, remembered until something moves.
    fn present_cost(&mut self, nodes: &[usize]) -> f64 {
        if self.is_many(nodes) {
            let (generation, known) = self.known_whole;
            if generation == self.generation {
                return known;
            }
            let cost = self.whole_cost();
            self.known_whole = (self.generation, cost);
            return cost;
        }
        let [node] = *nodes else {
            return self.cost_at(nodes);
        };
        let (generation, known) = self.known_costs[node];
        if generation == self.generation {
            return known;
        }
        let cost = self.cost_at(nodes);
        self.known_costs[node] = (self.generation, cost);
        cost
    }

    fn set_cells(&mut self, nodes: &[usize], to: &[Cell]) {
        for &k in nodes {
            self.taken.remove(&self.cells[k]);
        }
        for (&k, &cell) in nodes.iter().zip(to) {
            self.cells[k] = cell;
            self.taken.insert(cell, k);
        }
        for &k in nodes {
            self.draw_lines(k);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    LeftRight,
    UpDown,
    /// Columns become rows.
    Diagonal,
}

/// Random numbers that are the same on every machine: Marsaglia 2003, xorshift64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 11) % n.max(1) as u64) as usize
    }

    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
