//! Law: structural ranks are the ranks at random parameters, on random linear graphs with loops and algebraic loops.
//!
//! In:  random graphs as text, as the generator writes them.
//! Out: order, rank of [A B] and dimension of what inputs reach (dually for outputs), found here in another way than the program
//!      does and without rounding, beside what it says.
//!
//! Nothing of the program has a part in it: the lines are read as bonds, and s E − A of all efforts, flows and states is a pencil over
//! the prime field of 2⁶¹ − 1 with a random value for every element. Then the order is the degree of det(s E − A); modes that
//! no input moves are what det(s E − A − B F) has in common for all F (Rosenbrock 1970, *State-space and multivariable theory*, ch. 2); and the
//! rank of [A B] is that of the pencil at s = 0, less the part without states. No tolerance tells zero from small.

mod kit;

use kit::{Dice, RandomGraph, cases, findings, random_graph, try_design};
use paynter_structure::SideFindings;
use std::collections::BTreeMap;
use std::ops::Range;

/// A Mersenne prime: random polynomials of some degree d vanish at a random place once in p/d times.
const P: u64 = (1 << 61) - 1;

/// Feedbacks whose common modes count: two random ones have a factor in common by chance once in p times.
const N_FEEDBACKS: usize = 2;

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(P)) as u64
}

fn plus(a: u64, b: u64) -> u64 {
    (a + b) % P
}

fn minus(a: u64, b: u64) -> u64 {
    (a + P - b) % P
}

/// 1/a by Fermat: a^(p − 2).
fn inverse(a: u64) -> u64 {
    let (mut result, mut power, mut left) = (1, a, P - 2);
    while left > 0 {
        if left % 2 == 1 {
            result = times(result, power);
        }
        power = times(power, power);
        left /= 2;
    }
    result
}

type Rows = Vec<Vec<u64>>;

/// Eliminates; gives rank and determinant (of the first columns, if there are as many).
fn eliminate(mut rows: Rows) -> (usize, u64) {
    let n_columns = rows.first().map_or(0, Vec::len);
    let (mut rank, mut determinant) = (0, 1);
    for column in 0..n_columns {
        let Some(at) = (rank..rows.len()).find(|&r| rows[r][column] != 0) else {
            determinant = 0;
            continue;
        };
        if at != rank {
            rows.swap(at, rank);
            determinant = minus(0, determinant);
        }
        let (done, below) = rows.split_at_mut(rank + 1);
        let pivot = &done[rank];
        determinant = times(determinant, pivot[column]);
        let scale = inverse(pivot[column]);
        for row in below.iter_mut().filter(|r| r[column] != 0) {
            let factor = times(row[column], scale);
            for k in column..n_columns {
                if pivot[k] != 0 {
                    row[k] = minus(row[k], times(factor, pivot[k]));
                }
            }
        }
        rank += 1;
    }
    (rank, determinant)
}

/// A polynomial, lowest power first, without zeros at its end.
type Polynomial = Vec<u64>;

fn trimmed(mut p: Polynomial) -> Polynomial {
    while p.last() == Some(&0) {
        p.pop();
    }
    p
}

/// The polynomial of degree < n with these values at 1, 2, … n (Newton's divided differences).
fn through(values: &[u64]) -> Polynomial {
    let n = values.len();
    let mut divided = values.to_vec();
    for k in 1..n {
        for i in (k..n).rev() {
            divided[i] = times(minus(divided[i], divided[i - 1]), inverse(k as u64));
        }
    }
    let mut result = vec![0; n];
    for k in (0..n).rev() {
        // result ← result (s − (k + 1)) + divided[k]
        for i in (0..n).rev() {
            let below = if i > 0 { result[i - 1] } else { divided[k] };
            result[i] = minus(below, times(result[i], k as u64 + 1));
        }
    }
    trimmed(result)
}

fn common(mut a: Polynomial, mut b: Polynomial) -> Polynomial {
    while let Some(&lead) = b.last() {
        let scale = inverse(lead);
        while a.len() >= b.len() {
            let factor = times(a[a.len() - 1], scale);
            let shift = a.len() - b.len();
            for (k, &x) in b.iter().enumerate() {
                a[shift + k] = minus(a[shift + k], times(factor, x));
            }
            a = trimmed(a);
        }
        (a, b) = (b, a);
    }
    a
}

/// A graph as a pencil: rows of s E − A, and where inputs and outputs stand in it.
struct Pencil {
    /// −A: rows of equations, columns of unknowns.
    still: Rows,
    /// Entries of E: (row, column).
    rates: Vec<(usize, usize)>,
    /// The row that each input stands in.
    inputs: Vec<usize>,
    /// The column that each output is.
    outputs: Vec<usize>,
}

/// The ends of the bonds of one text, in the order of its lines.
#[derive(Default)]
struct Bonds {
    /// For each thing its bonds: (bond, power flows into the thing).
    at: BTreeMap<String, Vec<(usize, bool)>>,
    /// Kinds by thing: `0`, `1`, `R`, `C`, `I`, `TF`, `GY`, `Se`, `Sf`.
    kinds: BTreeMap<String, String>,
    /// Junctions that are one with another.
    merged: BTreeMap<String, String>,
    n: usize,
}

impl Bonds {
    /// Reads what the generator writes: chains `a: KIND(value) -> b -> …`.
    fn of(text: &str) -> Bonds {
        let mut bonds = Bonds::default();
        let lines = text.lines().filter(|l| l.starts_with("    "));
        let chains: Vec<Vec<String>> = lines
            .map(|l| l.trim().split(" -> ").map(|n| bonds.thing(n)).collect())
            .collect();
        let mut pairs: Vec<[String; 2]> = Vec::new();
        for chain in &chains {
            pairs.extend(chain.windows(2).map(|p| [p[0].clone(), p[1].clone()]));
        }
        bonds.merge(&mut pairs);
        for [tail, head] in pairs {
            let bond = bonds.n;
            bonds.n += 1;
            bonds.at.entry(tail).or_default().push((bond, false));
            bonds.at.entry(head).or_default().push((bond, true));
        }
        bonds
    }

    /// Merges junctions of the same kind that are bonded to each other. In a ring of them a circulating flow or effort is
    /// undetermined, but nothing depends on it.
    fn merge(&mut self, pairs: &mut Vec<[String; 2]>) {
        let is_junction = |kind: &str| kind == "0" || kind == "1";
        let kinds = self.kinds.clone();
        let same = |p: &[String; 2]| is_junction(&kinds[&p[0]]) && kinds[&p[0]] == kinds[&p[1]];
        while let Some(at) = pairs.iter().position(same) {
            let [kept, gone] = pairs.remove(at);
            if kept == gone {
                continue;
            }
            let ends = pairs.iter_mut().flatten().filter(|e| **e == gone);
            ends.for_each(|e| e.clone_from(&kept));
            self.kinds.remove(&gone);
            self.merged.insert(gone, kept);
        }
    }

    /// What a junction was merged into.
    fn kept(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while let Some(into) = self.merged.get(&name) {
            name.clone_from(into);
        }
        name
    }

    /// The name of a node, which is remembered with its kind where it is made.
    fn thing(&mut self, node: &str) -> String {
        let (name, kind) = match node.split_once(": ") {
            Some((name, kind)) => (name.to_owned(), kind),
            None if node.contains('(') => (format!("two_port_{}", self.kinds.len()), node),
            None => return node.to_owned(),
        };
        let kind = kind.split('(').next().unwrap_or(kind).to_owned();
        self.kinds.insert(name.clone(), kind);
        name
    }
}

impl Pencil {
    fn of(graph: &RandomGraph, dice: &mut Dice) -> Pencil {
        let bonds = Bonds::of(&graph.text);
        let is_storage = |k: &String| k == "C" || k == "I";
        let n_storages = bonds.kinds.values().filter(|k| is_storage(k)).count();
        let n = 2 * bonds.n + n_storages;
        let mut pencil = Pencil {
            still: Vec::new(),
            rates: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let mut source_rows = BTreeMap::new();
        let mut state = 2 * bonds.n;
        for (name, kind) in &bonds.kinds {
            let at = &bonds.at[name];
            if kind.starts_with('S') {
                source_rows.insert(name.clone(), pencil.still.len());
            }
            let value = 1 + dice.next() % (P - 1);
            pencil.element(n, kind, at, (value, state));
            state += usize::from(is_storage(kind));
        }
        assert_eq!(pencil.still.len(), n, "{}", graph.text);
        let of = |path: &str| path.split('.').next().unwrap_or(path).to_owned();
        pencil.inputs = graph
            .from
            .split(", ")
            .map(|i| source_rows[&of(i)])
            .collect();
        let shared = |path: &str| {
            let (bond, _) = bonds.at[&bonds.kept(&of(path))][0];
            2 * bond + usize::from(path.ends_with(".f"))
        };
        pencil.outputs = graph.to.split(", ").map(shared).collect();
        pencil
    }

    /// Adds the equations of an element. Effort and flow of bond b are the unknowns 2b and 2b + 1.
    fn element(
        &mut self,
        n: usize,
        kind: &str,
        at: &[(usize, bool)],
        (value, state): (u64, usize),
    ) {
        let (e, f) = (|k: usize| 2 * at[k].0, |k: usize| 2 * at[k].0 + 1);
        let mut equation = |terms: &[(usize, u64)]| {
            let mut row = vec![0; n];
            terms
                .iter()
                .for_each(|&(column, x)| row[column] = plus(row[column], x));
            self.still.push(row);
        };
        let negative = P - 1;
        match kind {
            "0" | "1" => {
                let (shared, summed) = if kind == "1" { (1, 0) } else { (0, 1) };
                for pair in at.windows(2) {
                    equation(&[
                        (2 * pair[0].0 + shared, 1),
                        (2 * pair[1].0 + shared, negative),
                    ]);
                }
                let sign = |is_in: bool| if is_in { 1 } else { negative };
                let sum: Vec<(usize, u64)> =
                    at.iter().map(|&(b, i)| (2 * b + summed, sign(i))).collect();
                equation(&sum);
            }
            "R" => equation(&[(e(0), 1), (f(0), minus(0, value))]),
            "Se" => equation(&[(e(0), 1)]),
            "Sf" => equation(&[(f(0), 1)]),
            // f2 = n f1, e1 = n e2; e1 = r f2, e2 = r f1.
            "TF" => {
                equation(&[(f(1), 1), (f(0), minus(0, value))]);
                equation(&[(e(0), 1), (e(1), minus(0, value))]);
            }
            "GY" => {
                equation(&[(e(0), 1), (f(1), minus(0, value))]);
                equation(&[(e(1), 1), (f(0), minus(0, value))]);
            }
            storage => {
                // q' = f and e = q/C; p' = e and f = p/I.
                let (rate, own) = if storage == "C" {
                    (f(0), e(0))
                } else {
                    (e(0), f(0))
                };
                equation(&[(rate, negative)]);
                equation(&[(own, value), (state, negative)]);
                let row = self.still.len() - 2;
                self.rates.push((row, state));
            }
        }
    }

    /// s E − A.
    fn at(&self, s: u64) -> Rows {
        let mut rows = self.still.clone();
        for &(row, column) in &self.rates {
            rows[row][column] = plus(rows[row][column], s);
        }
        rows
    }

    /// det(s E − A − change) as a polynomial.
    fn determinant(&self, change: &dyn Fn(&mut Rows)) -> Polynomial {
        let n_points = self.rates.len() as u64 + 1;
        let value = |s: u64| {
            let mut rows = self.at(s);
            change(&mut rows);
            eliminate(rows).1
        };
        through(&(1..=n_points).map(value).collect::<Vec<u64>>())
    }

    /// Order, rank of [A B] and dimension of what the inputs reach; with C for outputs. None for a graph without one solution.
    fn ranks(&self, is_control: bool, dice: &mut Dice) -> Option<(usize, usize, usize)> {
        let own = self.determinant(&|_| {});
        let order = own.len().checked_sub(1)?;
        let n = self.still.len();
        let doors = if is_control {
            &self.inputs
        } else {
            &self.outputs
        };
        let mut fixed = own;
        for _ in 0..N_FEEDBACKS {
            let gains: Rows = doors
                .iter()
                .map(|_| (0..n).map(|_| dice.next() % P).collect())
                .collect();
            let moved = self.determinant(&|rows| {
                for (&door, gain) in doors.iter().zip(&gains) {
                    for (k, &g) in gain.iter().enumerate() {
                        let (row, column) = if is_control { (door, k) } else { (k, door) };
                        rows[row][column] = plus(rows[row][column], g);
                    }
                }
            });
            fixed = common(fixed, moved);
        }
        let mut bordered = self.still.clone();
        for (k, &door) in doors.iter().enumerate() {
            match is_control {
                true => bordered
                    .iter_mut()
                    .enumerate()
                    .for_each(|(r, row)| row.push(u64::from(r == door))),
                false => {
                    let mut row = vec![0; n];
                    row[door] = 1 + k as u64;
                    bordered.push(row);
                }
            }
        }
        let rank = eliminate(bordered).0 + order - n;
        Some((order, rank, order + 1 - fixed.len()))
    }
}

/// What a campaign showed.
#[derive(Default)]
struct Compared {
    n_graphs: usize,
    n_sides: usize,
    /// Sides that hide something.
    n_hidden: usize,
}

fn compare(side: &SideFindings, exact: (usize, usize, usize), graph: &RandomGraph) {
    let generic = side
        .generic
        .as_ref()
        .expect("linear graphs have a generic model");
    let found = (generic.order, generic.rank, generic.dimension);
    assert_eq!(
        found, exact,
        "{}from {} to {}",
        graph.text, graph.from, graph.to
    );
}

fn campaign(seeds: Range<u64>, n_loops: usize) -> Compared {
    let mut all = Compared::default();
    for seed in seeds {
        let graph = random_graph(seed, n_loops);
        // Sources that fight, or rings that lock, have no equations at all.
        let Ok(design) = try_design(&graph.text, &graph.from, &graph.to) else {
            continue;
        };
        if design.compile().is_err() {
            continue;
        }
        let dice = &mut Dice(seed + 1);
        let pencil = Pencil::of(&graph, dice);
        let found = findings(&graph.text, &graph.from, &graph.to).expect("it was compiled");
        all.n_graphs += 1;
        for (side, is_control) in [(found.control, true), (found.observe, false)] {
            let Some(side) = side else { continue };
            let exact = pencil
                .ranks(is_control, dice)
                .expect("what compiles has one solution");
            compare(&side, exact, &graph);
            all.n_sides += 1;
            all.n_hidden += usize::from(exact.2 < exact.0);
        }
    }
    all
}

#[test]
fn on_trees_structural_ranks_are_those_of_random_parameters() {
    let all = campaign(cases(200), 0);
    assert!(
        all.n_sides > 200 && all.n_hidden > 20,
        "{} of {}",
        all.n_hidden,
        all.n_sides
    );
}

#[test]
fn with_loops_structural_ranks_are_those_of_random_parameters() {
    let all = campaign(cases(200), 2);
    assert!(
        all.n_sides > 100 && all.n_hidden > 7,
        "{} of {}",
        all.n_hidden,
        all.n_sides
    );
}
