//! The methods of integration: one row each.
//!
//! In:  nothing.
//! Out: for every [`Method`] its name in texts and results, how it steps, and how it is made ready.
//!
//! A new method is a file with its formula and a row here.

use crate::bdf::Bdf;
use crate::dop853::Dop853;
use crate::fixed::{Fixed, FixedFormula};
use crate::one_step::OneStep;
use crate::options::Options;
use crate::rodas5p::Rodas5P;
use crate::stepper::{Context, Stepper};
use crate::tsit5::Tsit5;

/// How a method steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stepping {
    /// It chooses its steps, and each costs evaluations only.
    Explicit,
    /// It chooses its steps, and solves equations in each.
    Implicit,
    /// The caller chooses the step.
    Fixed,
}

/// What a method is.
struct MethodEntry {
    /// In texts and results.
    name: &'static str,
    stepping: Stepping,
    make: fn(&Context<'_>, &Options) -> Box<dyn Stepper>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident => $name:literal, $stepping:ident, $make:expr;)*) => {
        /// An integration method.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Method {
            $($(#[$doc])* $method,)*
        }

        impl Method {
            /// All methods.
            pub const ALL: &'static [Method] = &[$(Method::$method,)*];

            fn row(self) -> MethodEntry {
                match self {
                    $(Method::$method => MethodEntry { name: $name, stepping: Stepping::$stepping, make: $make },)*
                }
            }
        }
    };
}

methods! {
    /// Starts explicit, changes when stiffness shows; see [`crate::Statistics::choices`].
    #[default]
    Auto => "auto", Explicit, dop853;
    /// Explicit Runge–Kutta 8(5,3) of Dormand and Prince with dense output of order 7.
    Dop853 => "dop853", Explicit, dop853;
    /// Explicit Runge–Kutta 5(4) of Tsitouras (2011).
    Tsit5 => "tsit5", Explicit, |cx, _| Box::new(OneStep::new(Tsit5::new(cx.system.n()), cx.system.n()));
    /// Rosenbrock method of order 5(4) for stiff and index-1 systems (Steinebach 2023).
    Rodas5P => "rodas5p", Implicit, |cx, _| Box::new(OneStep::new(Rodas5P::new(cx), cx.system.n()));
    /// Backward differentiation of orders 1 to 5, for large smooth stiff systems.
    Bdf => "bdf", Implicit, |cx, _| Box::new(Bdf::new(cx));
    /// Forward Euler with fixed step.
    Euler => "euler", Fixed, |cx, options| fixed(FixedFormula::Euler, cx, options);
    /// Classical Runge–Kutta of order 4 with fixed step.
    Rk4 => "rk4", Fixed, |cx, options| fixed(FixedFormula::Rk4, cx, options);
    /// Adams–Bashforth of order 2 with fixed step.
    Ab2 => "ab2", Fixed, |cx, options| fixed(FixedFormula::Ab2, cx, options);
}

impl Method {
    /// Its name in texts and results.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Finds a method by its name.
    pub fn named(name: &str) -> Option<Method> {
        Self::ALL.iter().copied().find(|m| m.name() == name)
    }

    /// Tells whether the method takes steps of the size given by the caller.
    pub fn has_fixed_step(self) -> bool {
        self.row().stepping == Stepping::Fixed
    }

    /// Tells whether the method solves equations in each step.
    pub fn is_implicit(self) -> bool {
        self.row().stepping == Stepping::Implicit
    }

    /// Makes the method ready to be started.
    pub(crate) fn make(self, cx: &Context<'_>, options: &Options) -> Box<dyn Stepper> {
        (self.row().make)(cx, options)
    }
}

fn dop853(cx: &Context<'_>, _: &Options) -> Box<dyn Stepper> {
    let n = cx.system.n();
    Box::new(OneStep::new(Dop853::new(n, cx.system.n_quadratures()), n))
}

fn fixed(formula: FixedFormula, cx: &Context<'_>, options: &Options) -> Box<dyn Stepper> {
    let h = options.fixed_step;
    let h = h.expect("`check` demands a step for methods of fixed step");
    Box::new(Fixed::new(formula, h, cx.system.n()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_methods() {
        for &method in Method::ALL {
            assert_eq!(Method::named(method.name()), Some(method));
        }
    }
}
