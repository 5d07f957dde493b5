//! One file for each command.

pub mod bode;
pub mod causality;
pub mod check;
pub mod control;
pub mod diagram;
pub mod equations;
pub mod explain;
pub mod fit;
pub mod fmt;
pub mod gallery;
pub mod lagrangian;
pub mod linear;
pub mod linearize;
pub mod margins;
pub mod new;
pub mod optimize;
pub mod outputs;
pub mod picture;
pub mod plot;
pub mod poles;
pub mod run;
pub mod step;
pub mod structure;
pub mod studio;
pub mod summary;
pub mod sweep;
