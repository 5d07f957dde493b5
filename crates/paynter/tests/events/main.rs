//! Events at their instants, none missed: switches, pulses, contacts, clocks.

mod diode_networks;
mod event_order;
mod events;
mod gates;
#[path = "../kit/mod.rs"]
mod kit;
mod pulses;
mod random_events;
mod random_guards;
mod switches;
