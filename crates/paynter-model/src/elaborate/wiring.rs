//! How chains become bonds: slots of open ports, edges between them, nets of composite ports.
//!
//! In:  filled by `connect`, `ports` and `composites`.
//! Out: `splice` contracts edges to bonds; `domain` and `read` look up what is joined.
//!
//! **Invariant:** a slot has at most one edge on each of its two sides.

use rustc_hash::{FxHashMap, FxHashSet};

use paynter_symbolic::PathId;

use super::data::*;

/// Connections while bonds are made.
#[derive(Debug, Default)]
pub(super) struct Wiring {
    pub slots: Vec<Slot>,
    pub edges: Vec<Edge>,
    /// Ports that stand for something else and that the arrow at hand ends at.
    pub followed: Vec<PortId>,
    /// The same for the edges made so far: (edge, port).
    pub edge_ports: Vec<(u32, PortId)>,
    /// Sides of two-ports that have their bond.
    pub taken_sides: FxHashSet<(ThingId, u32)>,
    /// The bond by which the effort or flow of a junction is read, by component.
    pub shared_bonds: FxHashMap<(ThingId, u32), u32>,
    /// How many bonds without a name of their own have been given this one.
    pub unnamed_bonds: FxHashMap<PathId, i64>,
    /// The port that gives the signals of a net of composite ports.
    pub net_givers: FxHashMap<PortId, PortId>,
    /// Nets of bonds in which two domains meet.
    pub mixed_classes: FxHashSet<u32>,
}

impl Wiring {
    pub(super) fn add_slots(&mut self, port: PortId, n: u32) -> u32 {
        let first = self.slots.len() as u32;
        let slot = Slot {
            port,
            inside: None,
            outside: None,
            bond: None,
        };
        self.slots.resize(self.slots.len() + n as usize, slot);
        first
    }
}
