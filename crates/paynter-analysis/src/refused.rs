//! Why a question has no answer, for all questions that may need a run.

use crate::linear::LinearError;
use paynter_syntax::Diagnostic;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The model does not run, or has no answer.
    Model(Vec<Diagnostic>),
    /// The run failed.
    Run(Vec<Diagnostic>),
    /// What was asked for cannot be had: in words.
    Call(String),
}

impl From<Vec<Diagnostic>> for Refused {
    fn from(messages: Vec<Diagnostic>) -> Self {
        Refused::Model(messages)
    }
}

impl From<LinearError> for Refused {
    fn from(error: LinearError) -> Self {
        match error {
            LinearError::Model(messages) => Refused::Model(messages),
            LinearError::Run(messages) => Refused::Run(messages),
        }
    }
}
