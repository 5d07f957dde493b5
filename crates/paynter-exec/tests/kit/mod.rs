//! What the tests of this crate share: equations written in Rust, and runs of them.

#![allow(dead_code, reason = "each test file uses a part of the kit")]

use paynter_exec::{Engine, Form, Lowering, Machine, lower, lower_with};
use paynter_solve::{Finish, Method, NoObserver, Options, SolveError, Tolerances, integrate};
use paynter_symbolic::dae::{
    Action, Clock, EnergyRole, Invariant, Mode, PowerPort, Quadrature, Start, Switch, When,
};
use paynter_symbolic::expr::{Comparison, ExprId, Function1, SymbolId};
use paynter_symbolic::reduce::reduce;
use paynter_symbolic::{Dae, Equation, Names, Origin, Reduced, Role, Symbol};

/// Equations while they are written.
#[derive(Clone, Default)]
pub struct Kit {
    pub dae: Dae,
}

impl Kit {
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&mut self, name: &str, role: Role) -> SymbolId {
        let name = self.dae.names.child(Names::ROOT, name, None);
        self.dae.add_symbol(Symbol {
            name,
            role,
            nominal: 0.0,
            origin: Origin(0),
        })
    }

    pub fn symbol(&mut self, name: &str, role: Role) -> ExprId {
        let symbol = self.add(name, role);
        self.dae.pool.symbol(symbol)
    }

    pub fn id(&self, e: ExprId) -> SymbolId {
        self.dae
            .pool
            .as_symbol(e)
            .expect("the expression is a symbol")
    }

    pub fn time(&mut self) -> ExprId {
        match self.dae.time {
            Some(time) => self.dae.pool.symbol(time),
            None => {
                let time = self.symbol("time", Role::Time);
                self.dae.time = Some(self.id(time));
                time
            }
        }
    }

    pub fn param(&mut self, name: &str, value: f64) -> ExprId {
        self.symbol(
            name,
            Role::Parameter {
                value,
                binding: None,
            },
        )
    }

    pub fn bound(&mut self, name: &str, binding: ExprId) -> ExprId {
        self.symbol(
            name,
            Role::Parameter {
                value: f64::NAN,
                binding: Some(binding),
            },
        )
    }

    pub fn unknown(&mut self, name: &str) -> ExprId {
        self.symbol(name, Role::Unknown)
    }

    pub fn discrete(&mut self, name: &str, start: f64) -> ExprId {
        self.symbol(name, Role::Discrete { start })
    }

    pub fn pre(&mut self, x: ExprId) -> ExprId {
        let of = self.id(x);
        self.symbol("pre", Role::Pre { of })
    }

    pub fn der(&mut self, x: ExprId) -> ExprId {
        let of = self.id(x);
        self.symbol("der", Role::Derivative { of })
    }

    pub fn mode(&mut self, switch: Switch) -> ExprId {
        let mode = self.dae.modes.len() as u32;
        let e = self.symbol(&format!("mode{mode}"), Role::Mode { mode });
        let symbol = self.id(e);
        self.dae.modes.push(Mode {
            symbol,
            switch,
            origin: Origin(0),
        });
        e
    }

    pub fn less(&mut self, left: ExprId, right: ExprId) -> ExprId {
        self.mode(Switch::Relation {
            comparison: Comparison::Less,
            left,
            right,
        })
    }

    pub fn eq(&mut self, left: ExprId, right: ExprId) {
        let origin = Origin(self.dae.equations.len() as u32);
        self.dae.equations.push(Equation {
            left,
            right,
            solves: None,
            origin,
        });
    }

    pub fn start(&mut self, target: ExprId, value: f64) {
        let value = self.num(value);
        self.dae.starts.push(Start {
            target,
            value,
            is_guess: false,
            origin: Origin(0),
        });
    }

    pub fn guess(&mut self, target: ExprId, value: f64) {
        let value = self.num(value);
        self.dae.starts.push(Start {
            target,
            value,
            is_guess: true,
            origin: Origin(0),
        });
    }

    pub fn invariant(&mut self, residual: ExprId) {
        self.dae.invariants.push(Invariant {
            residual,
            origin: Origin(0),
        });
    }

    pub fn when(&mut self, condition: ExprId, actions: Vec<Action>) {
        let name = self
            .dae
            .names
            .child(Names::ROOT, "when", Some(self.dae.whens.len() as i64));
        self.dae.whens.push(When {
            name,
            condition,
            actions,
            origin: Origin(0),
        });
    }

    pub fn clock(&mut self, rate: (u64, u64), equations: &[(ExprId, ExprId)]) {
        let equations = equations.iter().map(|&(s, e)| (self.id(s), e)).collect();
        self.dae.clocks.push(Clock {
            rate,
            equations,
            origin: Origin(0),
        });
    }

    pub fn integral(&mut self, rate: ExprId) -> ExprId {
        let e = self.unknown("integral");
        let symbol = self.id(e);
        self.dae.quadratures.push(Quadrature { symbol, rate });
        e
    }

    pub fn power(&mut self, role: EnergyRole, power: ExprId, energy: Option<ExprId>) {
        let name = self
            .dae
            .names
            .child(Names::ROOT, "element", Some(self.dae.power.len() as i64));
        self.dae.power.push(PowerPort {
            name,
            role,
            power,
            energy,
            held: energy,
            part: 0,
            is_heat: false,
            origin: Origin(0),
        });
    }

    pub fn num(&mut self, x: f64) -> ExprId {
        self.dae.pool.number(x)
    }
    pub fn sum(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.dae.pool.add(a, b)
    }
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.dae.pool.sub(a, b)
    }
    pub fn mul(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.dae.pool.mul(a, b)
    }
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        self.dae.pool.div(a, b)
    }
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        self.dae.pool.neg(a)
    }
    pub fn scale(&mut self, factor: f64, a: ExprId) -> ExprId {
        let factor = self.num(factor);
        self.mul(factor, a)
    }
    pub fn square(&mut self, a: ExprId) -> ExprId {
        self.dae.pool.powi(a, 2)
    }
    pub fn call(&mut self, f: Function1, a: ExprId) -> ExprId {
        self.dae.pool.call1(f, a)
    }

    pub fn reduce(&self) -> Reduced {
        reduce(self.dae.clone()).expect("the equations are well posed")
    }

    pub fn machine(&self, wanted: &[ExprId]) -> Machine {
        lower(&self.reduce(), wanted, Engine::Interpreter).expect("the equations can be lowered")
    }

    pub fn machines(&self, wanted: &[ExprId]) -> [Machine; 4] {
        let reduced = self.reduce();
        [
            (Engine::Interpreter, 20_000),
            (Engine::Jit, 20_000),
            (Engine::Interpreter, 0),
            (Engine::Jit, 0),
        ]
        .map(|(engine, straight_limit)| {
            let lowering = Lowering {
                engine,
                straight_limit,
                form: Form::Explicit,
                ..Lowering::default()
            };
            lower_with(&reduced, wanted, lowering).expect("the equations can be lowered")
        })
    }
}

/// Options of a run with error control.
pub fn options(method: Method, rtol: f64, t_end: f64, machine: &mut Machine) -> Options {
    Options {
        method,
        tolerances: Tolerances {
            relative: rtol,
            absolute: machine.tolerances(rtol, (0.0, t_end)),
        },
        ..Options::default()
    }
}

/// Runs from the start to an end.
pub fn run(
    machine: &mut Machine,
    method: Method,
    rtol: f64,
    t_end: f64,
) -> Result<Finish, Box<SolveError>> {
    let start = machine.initialise(0.0).expect("the start is consistent");
    let options = options(method, rtol, t_end, machine);
    integrate(machine, 0.0, &start.y0, t_end, &options, &mut NoObserver).map_err(Box::new)
}

/// The columns at one point.
pub fn observe(machine: &mut Machine, t: f64, y: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; machine.n_wanted()];
    machine
        .observe(t, y, &mut out)
        .expect("the columns have values");
    out
}

#[track_caller]
pub fn assert_close(got: f64, want: f64, tolerance: f64) {
    assert!(
        (got - want).abs() <= tolerance,
        "got {got}, want {want}, differs by {:e}",
        got - want
    );
}
