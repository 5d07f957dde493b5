//! Everything Paynter knows about a text, for editors and for Studio.
//!
//! In:  texts in memory over folders on disk.
//! Out: messages, views of models, edits of graphs as edits of texts.
//!
//! Nothing here touches a screen or a socket: `paynter lsp` and `paynter studio` do.

pub mod analysis;
pub mod document;
pub mod edit;
mod fix;
pub mod message;
pub mod place;
pub mod rename;
pub mod symbol;
pub mod view;
pub mod workspace;
pub mod world;

pub use edit::{Edit, EndRef, Refusal, TextEdit};
pub use message::{Fix, Label, Message, Severity};
pub use place::{LineIndex, Position, Range};
pub use view::View;
pub use workspace::Workspace;
