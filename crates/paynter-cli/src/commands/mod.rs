//! One file for each command.

pub mod causality;
pub mod check;
pub mod equations;
pub mod explain;
pub mod fmt;
pub mod gallery;
pub mod new;
pub mod run;
pub mod summary;
pub mod sweep;
