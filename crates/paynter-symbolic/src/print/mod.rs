//! Printed expressions: one tree, and printers for text, LaTeX and JSON.
//!
//! In:  an expression (through [`tree::tree_of`] as it stands, or through
//!      [`crate::normal::normal_form`] rearranged), and names for its symbols.
//! Out: text that a person reads.
//!
//! **Invariant:** equal trees print to equal bytes; the text, read by the usual rules of
//! precedence, has the value of the expression.

pub mod json;
pub mod latex;
pub mod letters;
pub mod order;
pub mod text;
pub mod tree;
pub mod typeset;

pub use json::to_json;
pub use latex::to_latex;
pub use order::Style;
pub use text::to_text;
pub use tree::{Term, Tree, tree_of};
