//! Everything Paynter knows about a text, for editors and for Studio.
//!
//! In:  texts in memory over folders on disk.
//! Out: messages, views of models, edits of graphs as edits of texts; hover, completion, definitions, renames
//!      and everything else that an editor asks.
//!
//! Nothing here touches a screen or a socket: `paynter lsp` and `paynter studio` do.

pub mod analysis;
pub mod complete;
mod describe;
pub mod document;
pub mod edit;
mod fix;
pub mod hints;
pub mod hover;
mod lagrangian;
pub mod message;
pub mod outline;
pub mod part;
pub mod place;
pub mod rename;
pub mod signature;
pub mod symbol;
pub mod tokens;
pub mod view;
pub mod workspace;
pub mod world;

pub use edit::{Edit, EndRef, Refusal, TextEdit};
pub use message::{Fix, Label, Message, Severity};
pub use place::{LineIndex, Position, Range};
pub use view::View;
pub use workspace::Workspace;
