//! What all printers in two dimensions (LaTeX, MathML) agree on: where brackets and dots go.
//!
//! In:  a tree.
//! Out: how strongly it holds together.

use crate::print::text::pi_multiple;
use crate::print::tree::Tree;

/// What is around an expression; one that binds less than this needs brackets.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Around {
    /// Nothing that could tear it apart.
    Anything,
    /// A comparison, `and`, `or`.
    Comparison,
    /// A sum, or one side of a comparison.
    Sum,
    /// A product, or a term of a sum.
    Product,
    /// An exponent.
    Base,
}

/// Tells how strongly an expression binds.
pub fn binding_of(tree: &Tree) -> Around {
    match tree {
        Tree::Or(..) | Tree::And(..) | Tree::Not(_) => Around::Anything,
        Tree::Compare(..) => Around::Comparison,
        Tree::Sum(_) => Around::Sum,
        // A fraction binds by its bar, but is too tall for a base.
        Tree::Product(_) | Tree::Quotient(..) | Tree::Power(..) | Tree::Call1(..) => {
            Around::Product
        }
        Tree::Number(x) if x.abs() != 0.0 && !(1e-4..1e7).contains(&x.abs()) => Around::Product,
        Tree::Number(x) if pi_multiple(*x).is_some() => Around::Product,
        _ => Around::Base,
    }
}

/// Tells whether a factor needs a dot before it: 2 3 would read as twenty-three.
pub fn starts_with_digit(tree: &Tree) -> bool {
    match tree {
        Tree::Number(_) => true,
        Tree::Power(base, _) => starts_with_digit(base),
        _ => false,
    }
}
