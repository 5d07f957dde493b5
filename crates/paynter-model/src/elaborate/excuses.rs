//! What is missing because of an error that was reported: lacking it is not a second error.
//!
//! In:  filled wherever something could not be made.
//! Out: asked before a message about something missing.

use paynter_symbolic::PathId;
use rustc_hash::FxHashSet;

use super::data::*;

/// What may be missing without another message.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    /// Names whose making failed.
    pub paths: FxHashSet<PathId>,
    /// Parts whose arguments could not be understood.
    pub misused_parts: FxHashSet<InstanceId>,
    /// Parts with a block that was skipped because its condition or range failed.
    pub incomplete_parts: FxHashSet<InstanceId>,
    /// Composite ports that leave a member open.
    pub incomplete_ports: FxHashSet<PortId>,
    /// Ports that a bond was meant for which could not be made.
    pub ports: FxHashSet<PortId>,
    /// Nets of these.
    pub nets: FxHashSet<PortId>,
    /// Parts inside parts have no end.
    pub has_endless_parts: bool,
    /// Some element could not be made.
    pub lacks_elements: bool,
}
