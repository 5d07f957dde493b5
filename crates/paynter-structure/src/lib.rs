//! What the structure of a bond graph tells before, and beside, any number.
//!
//! In:  a [`paynter::Design`], inputs and outputs.
//! Out: controllability and observability with the causal paths that prove them; relative degrees, zeros and path gains; activities
//!      and a smaller model; the inputs that wanted outputs need; sizes of elements from data;
//!      detectable and isolable faults; gains of loops through dependent storages.
//!
//! `generic` has the model for all parameter values at once; `reach` follows causal paths; `derivative` turns
//! strokes round; `control` puts them together. `text` says it in the names of the user.

mod activity;
mod along;
mod attach;
mod balances;
mod begin;
mod bicausal;
mod channels;
pub mod code;
pub mod control;
mod cures;
mod derivative;
mod estimate;
mod faults;
mod findings;
mod flow_graph;
pub mod generic;
mod inverse;
mod loops;
mod mason;
mod measured;
mod partition;
mod picture;
mod ranks;
mod reach;
mod reduce;
mod sections;
mod subject;
pub mod text;

pub use activity::{Activities, ElementActivity, activities};
pub use along::{Instant, along};
pub use balances::{Balance, BalanceOnData, balances, balances_on};
pub use bicausal::{Bicausal, TwoWay, bicausal};
pub use channels::{Channels, channels};
pub use control::control;
pub use derivative::{Leftover, prefer_derivative};
pub use estimate::{Estimate, Estimates, estimate};
pub use faults::{Fault, FaultKind, Faults, Residual, SensorSet, faults};
pub use findings::{Cure, Findings, Sensors, Side, SideFindings};
pub use flow_graph::{FlowGraph, NoFlow, flow_graph};
pub use inverse::{Actuator, ActuatorPower, Inverse, inverse};
pub use loops::{Gain, LoopPath, Loops, loops};
pub use mason::{Mason, Walk, mason};
pub use partition::{OneWay, Partition, partition};
pub use picture::{draw_activities, draw_bicausal, draw_control};
pub use ranks::Reach;
pub use reduce::{Change, NoProposal, Proposal, reduce};
pub use sections::sections;
pub use subject::{Subject, ask};
