//! URDF: robots as trees of links and joints.
//!
//! In:  the text of a URDF.
//! Out: a model with one [`Body`](https://wiki.ros.org/urdf/XML/link) for each link with mass, a joint of the library for each
//!      joint, mounts for the frames in between, limits as parameters, and an experiment from rest.
//!
//! | file | does |
//! |---|---|
//! | `read` | XML to links and joints, each with its place in the text |
//! | `tree` | the order from the root; where everything is when all joints are at zero |
//! | `rotation` | 3×3 matrices and quaternions |
//! | `write` | the text of the model |
//!
//! **Invariant:** names in the model are those of the URDF, with what cannot be in a name replaced.

mod read;
mod rotation;
mod tree;
mod write;

use crate::Imported;
use paynter_syntax::{Diagnostic, SourceMap};

/// Reads a URDF; `name` is what messages call the file.
pub fn import_urdf(name: &str, text: &str) -> Imported {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text);
    let mut diagnostics = Vec::new();
    let robot = read::read(text, file, &mut diagnostics);
    let tree = robot.and_then(|robot| tree::tree(robot, &mut diagnostics));
    let has_errors = diagnostics.iter().any(Diagnostic::is_error);
    let text = tree.filter(|_| !has_errors);
    Imported {
        text: text.map(|tree| write::write(&tree)),
        diagnostics,
        sources,
    }
}
