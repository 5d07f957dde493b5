//! From energies to a bond graph: a `lagrangian` block becomes the text of a model.
//!
//! In:  a parsed `lagrangian` block, and the texts it stands in.
//! Out: the same system as `.bond` text with junctions, I, C, R, TF and GY, each line with the
//!      statement that made it; or what is wrong with the energies.
//!
//! With rates f_k = t_k(q)·q̇ and T = Σ ½ I_k f_k², Lagrange's equations say of each coordinate
//!
//! ```text
//! Σ_k t_ki ṗ_k                               transformers from q̇_i to the junction of f_k
//! + Σ_j Σ_k p_k (∂_j t_ki − ∂_i t_kj) q̇_j     gyrators between q̇_i and q̇_j, powerless
//! + ∂_i V = Q_i                              a C, and sources of effort
//! ```
//!
//! (McBride & Cellier 2001; a proof for any number of rates is in the book.) The second line is the
//! exterior derivative of the rate: where it is the product of two rates that have junctions already, one
//! gyrator between these says it (`gyrators.rs`); for a rigid body that is the Eulerian ring.
//!
//! | file | does |
//! |---|---|
//! | `read`, `expressions`, `rewrite` | statements to expressions over one pool |
//! | `clock` | time that is read becomes a coordinate |
//! | `measure` | energies are in joules |
//! | `forms` | rates as sums of velocities |
//! | `kinetic`, `squares`, `general`, `poly` | kinetic energy as inertias |
//! | `speeds`, `choice`, `fractions` | velocities by generalised speeds |
//! | `elements` | potentials, losses, constraints |
//! | `gyrators` | what transformers alone would miss |
//! | `points`, `magnitude` | whether expressions are zero or equal, at random points |
//! | `write`, `names` | the text |
//! | `motion` | whether every coordinate is held, which are cyclic, where inertia vanishes |
//! | `proof`, `loads`, `kane` | the written text, read back, against Lagrange's or Kane's equations |
//!
//! **Invariant:** what is written is a model like any other. Nothing after this stage knows where it came from.

mod choice;
mod clock;
mod elements;
mod expressions;
mod forms;
mod fractions;
mod general;
mod gyrators;
mod kane;
mod kinetic;
mod loads;
mod magnitude;
mod measure;
mod motion;
mod names;
mod points;
mod poly;
mod proof;
mod read;
mod rewrite;
mod speeds;
mod squares;
mod system;
mod write;

pub use gyrators::Style;
pub use poly::shortest;
pub use proof::{Proof, prove};
pub use write::Line;

use paynter_syntax::{Diagnostic, SourceMap, Span, ast};

/// A `lagrangian` block and what it may read.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// The block.
    pub lagrangian: &'a ast::Lagrangian,
    /// Its file and those that it uses, whose functions and constants it may read; earlier ones win.
    pub files: Vec<&'a ast::File>,
    /// The texts.
    pub sources: &'a SourceMap,
    /// `units strict` stands in its file.
    pub is_strict: bool,
}

/// The graph of a Lagrangian, as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Name of the model.
    pub name: String,
    /// Statements of the model.
    pub lines: Vec<Line>,
    /// Kinetic energies that were not squares as written, and how they were taken apart.
    pub ways: Vec<String>,
    /// Rates of inertias that need no gyrator.
    pub closed: Vec<String>,
    /// Coordinates on which nothing depends: their momenta are constant.
    pub cyclic: Vec<String>,
    /// Where inertia vanishes along some direction.
    pub singular: Vec<String>,
    /// Where the speeds no longer tell all velocities.
    pub dependent: Vec<String>,
    /// How each rate follows from the speeds, where some are chosen: its partial velocities.
    pub partial: Vec<String>,
    /// Number of gyrators.
    pub n_gyrators: usize,
}

impl Derived {
    /// The model as text, one statement a line, and where each stretch of it comes from: (end, place).
    pub fn text(&self) -> (String, Vec<(u32, Span)>) {
        let mut out = format!("model {} {{\n", self.name);
        let mut origins = Vec::new();
        for line in &self.lines {
            out.push_str("    ");
            for &(end, place) in &line.parts {
                origins.push(((out.len() + end) as u32, place));
            }
            out.push_str(&line.text);
            if !line.comment.is_empty() {
                out.push_str("  // ");
                out.push_str(&line.comment);
            }
            out.push('\n');
            origins.push((out.len() as u32, line.span));
        }
        for (word, names) in [
            ("kinetic energy", &self.ways),
            ("closed rates", &self.closed),
            ("cyclic", &self.cyclic),
            ("singular where", &self.singular),
            ("speeds dependent where", &self.dependent),
        ] {
            if !names.is_empty() {
                out.push_str(&format!("    // {word}: {}\n", names.join(", ")));
            }
        }
        for line in &self.partial {
            out.push_str(&format!("    // partial velocities of {line}\n"));
        }
        out.push_str("}\n");
        (out, origins)
    }
}

/// Derives the bond graph of a `lagrangian` block.
///
/// # Errors
///
/// Everything that keeps the energies from having one, at the statements.
pub fn derive(block: &Block<'_>, style: Style) -> Result<Derived, Vec<Diagnostic>> {
    let mut system = read::read(block)?;
    let mut forms = forms::forms(&mut system)?;
    let wrong = measure::check(&system);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let basis = speeds::basis(&mut system, &forms)?;
    let kinetic = kinetic::kinetic(&mut system, &mut forms)?;
    let inertias = kinetic.everywhere(&system);
    let elements = elements::elements(&mut system, &mut forms)?;
    motion::refuse_idle(&mut system, &forms, &inertias)?;
    let gyrators = gyrators::find(&mut system, (&forms, &basis), &inertias, style)?;
    let derived = Derived {
        name: system.name.clone(),
        closed: motion::closed(&system, &inertias, &gyrators),
        cyclic: motion::cyclic(&mut system, &forms),
        singular: motion::singular(&mut system, (&forms, &basis), &inertias),
        dependent: motion::dependent_speeds(&mut system, &forms),
        partial: basis.partial_velocities(&mut system, &forms),
        ways: kinetic.ways.clone(),
        n_gyrators: gyrators.len(),
        lines: Vec::new(),
    };
    let lines = write::lines(&mut system, (&forms, &basis), &kinetic, elements, &gyrators);
    Ok(Derived { lines, ..derived })
}
