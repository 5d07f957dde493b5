//! Spreads strokes through junctions and two-ports until nothing more follows.
//!
//! In:  a [`Network`] (the graph as "exactly one strong bond here" rules) and strokes to set.
//! Out: every stroke that they imply, each with its reason, or a [`Clash`].
//!
//! A bond is *strong* at a junction if it brings the variable that the junction shares:
//! effort at a 0, flow at a 1. Each junction has exactly one strong bond. A TF is a junction
//! of two bonds, and so is a GY if its second port counts flows: one rule covers all four.
//!
//! **Invariant:** each node keeps the number of its open bonds and its strong bond, so a stroke
//! costs O(1) and a star of 10⁵ bonds is linear; [`StrokeTable::undo`] takes back exactly what was
//! set since a mark, in time proportional to that.

use super::Reason;
use super::ranking::Ranking;
use super::rings::Ring;
use crate::graph::{BondGraph, BondId, ElementId, ElementKind, End, Stroke};
use rustc_hash::FxHashSet;

/// The rules of the junction structure.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// Tail and head of each bond.
    ends: Vec<[Port; 2]>,
    /// Bonds of each element that is a node, by rank; `offsets[i]..offsets[i + 1]`.
    bonds: Vec<BondId>,
    offsets: Vec<u32>,
    pub is_node: Vec<bool>,
    is_two_port: Vec<bool>,
}

/// How the end of a bond takes part in the rule of its element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Port {
    pub element: ElementId,
    /// The bond is strong here if the effort comes in; else if the flow does.
    pub counts_effort: bool,
}

/// Why strokes cannot agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    /// The bond was set the other way already.
    Bond(BondId),
    /// Two bonds would both be strong at the element.
    Twice(ElementId, BondId, BondId),
    /// No bond of the element is left to be strong.
    Never(ElementId),
}

/// Strokes as far as they are known.
#[derive(Clone, Debug)]
pub(super) struct StrokeTable {
    stroke: Vec<Option<Stroke>>,
    reason: Vec<Reason>,
    /// Position in `trail`, to find out what came before.
    position: Vec<u32>,
    n_open: Vec<u32>,
    strong: Vec<Option<BondId>>,
    /// Nodes whose rule was given up because of a conflict.
    is_broken: Vec<bool>,
    trail: Vec<BondId>,
    next: usize,
    /// Number of ports looked at: the measure of work.
    pub n_visits: u64,
}

/// The bonds of each node one after the other, and where those of each begin. They are in the order of `ranked`.
fn bonds_of_nodes(
    ranked: &[BondId],
    ends: &[[Port; 2]],
    is_node: &[bool],
) -> (Vec<BondId>, Vec<u32>) {
    let mut offsets = vec![0u32; is_node.len() + 1];
    let node_ends = |b: BondId| {
        let elements = ends[b.0 as usize].iter().map(|p| p.element.0 as usize);
        elements.filter(|&e| is_node[e])
    };
    for &b in ranked {
        node_ends(b).for_each(|e| offsets[e + 1] += 1);
    }
    for e in 0..is_node.len() {
        offsets[e + 1] += offsets[e];
    }

    let mut fill = offsets.clone();
    let mut bonds = vec![BondId(0); offsets[is_node.len()] as usize];
    for &b in ranked {
        for e in node_ends(b) {
            bonds[fill[e] as usize] = b;
            fill[e] += 1;
        }
    }
    (bonds, offsets)
}

impl Network {
    pub fn new(graph: &BondGraph, ranking: &Ranking, rings: &[Ring]) -> Self {
        let mut is_two_port: Vec<bool> = graph
            .elements
            .iter()
            .map(|e| matches!(e.kind, ElementKind::Tf | ElementKind::Gy) && e.ports.len() == 2)
            .collect();

        // A two-port that is left out passes nothing on.
        for element in rings.iter().filter_map(Ring::left_out) {
            is_two_port[element.0 as usize] = false;
        }
        let is_node: Vec<bool> = graph
            .elements
            .iter()
            .zip(&is_two_port)
            .map(|(e, &two)| e.kind.is_junction() || two)
            .collect();

        // A port that is left out belongs to no node: it is as if another element stood there.
        let left_out: FxHashSet<End> = rings.iter().filter_map(Ring::left_out_port).collect();
        let nobody = ElementId(graph.elements.len() as u32);
        let mut is_node = is_node;
        is_node.push(false);
        is_two_port.push(false);
        let port = |end: End| Port {
            element: match left_out.contains(&end) {
                true => nobody,
                false => end.element,
            },
            counts_effort: match graph.element(end.element).kind {
                ElementKind::One => false,
                ElementKind::Gy => end.port == 0,
                _ => true,
            },
        };

        let ends: Vec<[Port; 2]> = graph
            .bonds
            .iter()
            .map(|b| [port(b.tail), port(b.head)])
            .collect();

        let (bonds, offsets) = bonds_of_nodes(&ranking.bonds, &ends, &is_node);
        Network {
            ends,
            bonds,
            offsets,
            is_node,
            is_two_port,
        }
    }

    pub fn n_bonds(&self) -> usize {
        self.ends.len()
    }

    pub fn n_elements(&self) -> usize {
        self.is_node.len()
    }

    pub fn ends(&self, bond: BondId) -> &[Port; 2] {
        &self.ends[bond.0 as usize]
    }

    /// Bonds at a node, by rank; a bond with both ends here is listed twice.
    pub fn bonds_at(&self, element: ElementId) -> &[BondId] {
        let e = element.0 as usize;
        &self.bonds[self.offsets[e] as usize..self.offsets[e + 1] as usize]
    }

    /// The stroke that makes the bond strong at its end number `side` (0 tail, 1 head).
    pub fn strong_stroke(&self, bond: BondId, side: usize) -> Stroke {
        let at_this_end = self.ends(bond)[side].counts_effort;
        if at_this_end == (side == 1) {
            Stroke::Head
        } else {
            Stroke::Tail
        }
    }

    /// The end of the bond that is at the element; the tail if both are.
    pub fn side(&self, bond: BondId, element: ElementId) -> usize {
        usize::from(self.ends(bond)[0].element != element)
    }
}

/// The other stroke.
pub(super) fn opposite(stroke: Stroke) -> Stroke {
    match stroke {
        Stroke::Head => Stroke::Tail,
        Stroke::Tail => Stroke::Head,
    }
}

impl StrokeTable {
    pub fn new(network: &Network) -> Self {
        let n_open = (0..network.n_elements())
            .map(|e| network.bonds_at(ElementId(e as u32)).len() as u32)
            .collect();
        StrokeTable {
            stroke: vec![None; network.n_bonds()],
            reason: vec![Reason::Open; network.n_bonds()],
            position: vec![u32::MAX; network.n_bonds()],
            n_open,
            strong: vec![None; network.n_elements()],
            is_broken: vec![false; network.n_elements()],
            trail: Vec::new(),
            next: 0,
            n_visits: 0,
        }
    }

    pub fn stroke(&self, bond: BondId) -> Option<Stroke> {
        self.stroke[bond.0 as usize]
    }

    pub fn reason(&self, bond: BondId) -> Reason {
        self.reason[bond.0 as usize]
    }

    pub fn strong(&self, element: ElementId) -> Option<BondId> {
        self.strong[element.0 as usize]
    }

    pub fn trail(&self) -> &[BondId] {
        &self.trail
    }

    /// Replaces the reason of a stroke by a stronger one that agrees with it.
    pub fn confirm(&mut self, bond: BondId, reason: Reason) {
        self.reason[bond.0 as usize] = reason;
    }

    /// Gives up the rule of a node; only with no bond set since.
    pub fn break_rule(&mut self, element: ElementId) {
        self.is_broken[element.0 as usize] = true;
    }

    pub fn has_rule(&self, network: &Network, element: ElementId) -> bool {
        network.is_node[element.0 as usize] && !self.is_broken[element.0 as usize]
    }

    /// Sets a stroke and everything that follows from it.
    pub fn assume(
        &mut self,
        network: &Network,
        bond: BondId,
        stroke: Stroke,
        reason: Reason,
    ) -> Result<(), Clash> {
        self.set(network, bond, stroke, reason)?;
        self.spread(network)
    }

    /// Sets what follows from the rules alone: a node with one bond needs it.
    pub fn start(&mut self, network: &Network, element: ElementId) -> Result<(), Clash> {
        if self.has_rule(network, element) && self.n_open[element.0 as usize] == 1 {
            self.fill_last(network, element)?;
        }
        self.spread(network)
    }

    /// Takes back everything set since the trail had this length.
    pub fn undo(&mut self, network: &Network, mark: usize) {
        while self.trail.len() > mark {
            let bond = self.trail.pop().expect("the trail is longer than the mark");
            for end in network.ends(bond) {
                let e = end.element.0 as usize;
                if network.is_node[e] {
                    self.n_open[e] += 1;
                    if self.strong[e] == Some(bond) {
                        self.strong[e] = None;
                    }
                }
            }
            self.stroke[bond.0 as usize] = None;
            self.reason[bond.0 as usize] = Reason::Open;
            self.position[bond.0 as usize] = u32::MAX;
        }
        self.next = mark;
    }

    fn set(
        &mut self,
        network: &Network,
        bond: BondId,
        stroke: Stroke,
        reason: Reason,
    ) -> Result<(), Clash> {
        match self.stroke(bond) {
            Some(s) if s == stroke => return Ok(()),
            Some(_) => return Err(Clash::Bond(bond)),
            None => {}
        }

        let b = bond.0 as usize;
        self.stroke[b] = Some(stroke);
        self.reason[b] = reason;
        self.position[b] = self.trail.len() as u32;
        self.trail.push(bond);
        let mut clash = None;
        for side in 0..2 {
            self.n_visits += 1;
            let element = network.ends(bond)[side].element;
            let e = element.0 as usize;
            if !network.is_node[e] {
                continue;
            }
            self.n_open[e] -= 1;
            if stroke == network.strong_stroke(bond, side) {
                match self.strong[e] {
                    None => self.strong[e] = Some(bond),
                    Some(first) if !self.is_broken[e] => {
                        clash = clash.or(Some(Clash::Twice(element, first, bond)));
                    }
                    Some(_) => {}
                }
            }
        }

        // Only now are both counters right, whichever end is looked at first.
        for side in 0..2 {
            let element = network.ends(bond)[side].element;
            if self.has_rule(network, element)
                && self.n_open[element.0 as usize] == 0
                && self.strong(element).is_none()
            {
                clash = clash.or(Some(Clash::Never(element)));
            }
        }
        clash.map_or(Ok(()), Err)
    }

    fn spread(&mut self, network: &Network) -> Result<(), Clash> {
        while self.next < self.trail.len() {
            let bond = self.trail[self.next];
            self.next += 1;
            for side in 0..2 {
                let element = network.ends(bond)[side].element;
                if !self.has_rule(network, element) {
                    continue;
                }
                if self.strong(element) == Some(bond) {
                    self.fill_weak(network, element, bond)?;
                } else if self.strong(element).is_none() && self.n_open[element.0 as usize] == 1 {
                    self.fill_last(network, element)?;
                }
            }
        }
        Ok(())
    }

    /// The strong bond is known: all others are weak.
    fn fill_weak(
        &mut self,
        network: &Network,
        element: ElementId,
        strong: BondId,
    ) -> Result<(), Clash> {
        let bonds = network.bonds_at(element);
        self.n_visits += bonds.len() as u64;
        for &bond in bonds {
            if bond == strong || self.stroke(bond).is_some() {
                continue;
            }
            let stroke = opposite(network.strong_stroke(bond, network.side(bond, element)));
            let reason = if network.is_two_port[element.0 as usize] {
                Reason::TwoPort {
                    element,
                    from: strong,
                }
            } else {
                Reason::Weak { element, strong }
            };
            self.set(network, bond, stroke, reason)?;
        }
        Ok(())
    }

    /// All other bonds are weak: the last open one is strong.
    fn fill_last(&mut self, network: &Network, element: ElementId) -> Result<(), Clash> {
        let bonds = network.bonds_at(element);
        self.n_visits += bonds.len() as u64;
        let Some(&last) = bonds.iter().find(|&&b| self.stroke(b).is_none()) else {
            return Ok(());
        };
        let reason = match bonds {
            [a, b] if network.is_two_port[element.0 as usize] => Reason::TwoPort {
                element,
                from: if *a == last { *b } else { *a },
            },
            _ => Reason::Last { element },
        };
        self.set(
            network,
            last,
            network.strong_stroke(last, network.side(last, element)),
            reason,
        )
    }

    /// The strokes from which the stroke of a bond follows directly.
    pub fn causes(&self, network: &Network, bond: BondId) -> Vec<BondId> {
        causes(network, self.reason(bond), bond)
    }

    /// The strokes that make the clash.
    pub fn culprits(&self, network: &Network, clash: Clash) -> Vec<BondId> {
        match clash {
            Clash::Bond(b) => vec![b],
            Clash::Twice(_, a, b) => vec![a, b],
            Clash::Never(e) => network.bonds_at(e).to_vec(),
        }
    }

    /// Finds one stroke, set since `mark`, that alone leads to the clash: its opposite holds
    /// whatever was decided at `mark` (the first unique implication point of SAT solvers).
    pub fn blame(&self, network: &Network, clash: Clash, mark: usize) -> BondId {
        let mut is_marked = vec![false; self.trail.len() - mark];
        let mut n_marked = 0usize;
        let mut pending = self.culprits(network, clash);
        for at in (mark..self.trail.len()).rev() {
            for b in pending.drain(..) {
                let position = self.position[b.0 as usize] as usize;
                if position >= mark && position < self.trail.len() && !is_marked[position - mark] {
                    is_marked[position - mark] = true;
                    n_marked += 1;
                }
            }
            if !is_marked[at - mark] {
                continue;
            }
            if n_marked == 1 {
                return self.trail[at];
            }
            n_marked -= 1;
            pending = self.causes(network, self.trail[at]);
        }
        self.trail[mark]
    }
}

/// The strokes that a reason rests on.
pub(super) fn causes(network: &Network, reason: Reason, bond: BondId) -> Vec<BondId> {
    match reason {
        Reason::Weak { strong, .. } => vec![strong],
        Reason::TwoPort { from, .. } => vec![from],
        Reason::Last { element } => network
            .bonds_at(element)
            .iter()
            .copied()
            .filter(|&b| b != bond)
            .collect(),
        _ => Vec::new(),
    }
}
