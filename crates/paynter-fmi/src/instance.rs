//! One instance of an FMU, whatever the version of the standard.
//!
//! In:  calls in the order that the standard allows; `store` keeps to it.
//! Out: numbers, or the function that failed with what the FMU reported.

use crate::binary::Binary;
use crate::description::{Description, Interface, Sort, Version};
use crate::{fmi2, fmi3};
use std::fmt::Debug;
use std::sync::Arc;

/// The way an instance is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ModelExchange,
    CoSimulation,
}

/// What came of an update of discrete states.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Update {
    pub needs_another: bool,
    pub has_ended: bool,
    pub next_time: Option<f64>,
}

/// An instance.
pub(crate) trait Instance: Debug + Send {
    /// Sets variables of one sort.
    fn set(&mut self, sort: Sort, references: &[u32], values: &[f64]) -> Result<(), String>;
    /// Gets variables of one sort.
    fn get(&mut self, sort: Sort, references: &[u32], values: &mut [f64]) -> Result<(), String>;
    /// Brings it to the state just after it was made.
    fn reset(&mut self) -> Result<(), String>;
    /// Enters initialization at a time.
    fn begin_start(&mut self, time: f64, tolerance: Option<f64>) -> Result<(), String>;
    /// Ends initialization.
    fn end_start(&mut self) -> Result<(), String>;
    /// Goes to event mode.
    fn begin_event(&mut self) -> Result<(), String>;
    /// Updates discrete states once.
    fn update(&mut self) -> Result<Update, String>;
    /// Goes back to continuous time.
    fn end_event(&mut self) -> Result<(), String>;
    /// Sets the time.
    fn set_time(&mut self, time: f64) -> Result<(), String>;
    /// Sets the continuous states.
    fn set_states(&mut self, states: &[f64]) -> Result<(), String>;
    /// Gets the continuous states.
    fn states(&mut self, states: &mut [f64]) -> Result<(), String>;
    /// Gets the rates of the states.
    fn rates(&mut self, rates: &mut [f64]) -> Result<(), String>;
    /// Gets the event indicators.
    fn indicators(&mut self, indicators: &mut [f64]) -> Result<(), String>;
    /// Gets derivatives of variables by one other.
    fn slopes(&mut self, of: &[u32], by: u32, slopes: &mut [f64]) -> Result<(), String>;
    /// Tells it that a step was accepted; true if it wants an event.
    fn step_done(&mut self) -> Result<bool, String>;
    /// Makes a communication step; true if the FMU has ended the run.
    fn step(&mut self, from: f64, length: f64) -> Result<bool, String>;
}

/// Makes an instance.
///
/// # Errors
///
/// A function is missing, or the FMU refuses.
pub(crate) fn instantiate(
    binary: &Arc<Binary>,
    description: &Description,
    interface: &Interface,
    kind: Kind,
) -> Result<Box<dyn Instance>, String> {
    Ok(match description.version {
        Version::Two => Box::new(fmi2::Instance2::new(binary, description, interface, kind)?),
        Version::Three => Box::new(fmi3::Instance3::new(binary, description, interface, kind)?),
    })
}
