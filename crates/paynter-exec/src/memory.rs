//! The numbers a running model needs: its slots, and room to work in.
//!
//! In:  sizes known when the model was lowered.
//! Out: written by the steps of `code`.
//!
//! **Invariant:** nothing here is shared between machines; the code that works on it is.

use crate::block::Factor;

/// Slots and work space of one machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Parameters, time, states, discrete symbols, modes, computed values.
    pub slots: Vec<f64>,
    /// Registers of the kernel that is being run.
    pub batch: Vec<f64>,
    /// Arguments of the external function that is being called.
    pub arguments: Vec<f64>,
    /// What the last external function that failed had to say.
    pub message: String,
    /// Factors of the blocks, by number.
    pub factors: Vec<Factor>,
    /// Newton iterations made so far.
    pub newton_iterations: u64,
    /// Factorisations of blocks made so far.
    pub factorisations: u64,
}
