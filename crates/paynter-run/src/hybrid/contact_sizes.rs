//! How large the efforts and flows at ideal contacts are: what rounding is compared with.
//!
//! In:  readings of contacts along the run.
//! Out: for each contact, the largest effort and flow seen so far in its energy domain.
//!
//! **Invariant:** a size is one of the model itself, never one of a resistance that the search put in the place of a
//! diode, and amperes are never compared with cubic metres per second.

use crate::configuration::ContactReading;
use paynter_model::graph::{BondGraph, ElementId};

/// Largest effort and flow of the contacts of each energy domain.
#[derive(Clone, Debug)]
pub(crate) struct ContactSizes {
    /// The group of each contact.
    groups: Vec<usize>,
    /// Largest effort and flow of each group.
    largest: Vec<(f64, f64)>,
}

impl ContactSizes {
    /// Nothing seen yet of these contacts.
    pub(crate) fn new(graph: &BondGraph, contacts: &[ElementId]) -> Self {
        let mut domains = Vec::new();
        let groups = contacts
            .iter()
            .map(|&id| {
                let domain = graph.element(id).domain;
                let known = domains.iter().position(|&d| d == domain);
                known.unwrap_or_else(|| {
                    domains.push(domain);
                    domains.len() - 1
                })
            })
            .collect();
        ContactSizes {
            groups,
            largest: vec![(0.0, 0.0); domains.len()],
        }
    }

    /// Largest effort and flow in the domain of contact `k`.
    pub(crate) fn of(&self, k: usize) -> (f64, f64) {
        self.largest[self.groups[k]]
    }

    /// Takes readings of all contacts into account.
    pub(crate) fn note(&mut self, contacts: &[ContactReading]) {
        self.note_efforts(contacts);
        for (&group, contact) in self.groups.iter().zip(contacts) {
            let flow = &mut self.largest[group].1;
            *flow = flow.max(contact.flow.abs());
        }
    }

    /// The same where the flows are not those of the model.
    pub(crate) fn note_efforts(&mut self, contacts: &[ContactReading]) {
        for (&group, contact) in self.groups.iter().zip(contacts) {
            let effort = &mut self.largest[group].0;
            *effort = effort.max(contact.effort.abs());
        }
    }
}
