//! Systems made of closures, observers that collect, and problems with known ends.
#![allow(dead_code, reason = "each test file uses its own part of this module")]

use std::ops::ControlFlow;

use paynter_solve::{
    Absolute, Crossing, Dense, EvalError, EventOutcome, EventRecord, Finish, Method, NoObserver,
    Observer, Options, Pattern, Projection, System, Tolerances, integrate,
};

type Rhs = Box<dyn FnMut(f64, &[f64], &mut [f64])>;
type Handler = Box<dyn FnMut(f64, &mut [f64], &[Crossing]) -> EventOutcome>;
type Projector = Box<dyn FnMut(&mut [f64]) -> Projection>;

/// A system given by closures.
pub struct Closures {
    pub n: usize,
    pub f: Rhs,
    pub algebraic: Vec<bool>,
    pub jacobian: Option<Rhs>,
    pub pattern: Option<Pattern>,
    pub n_guards: usize,
    pub g: Rhs,
    pub period: Option<f64>,
    pub on_event: Handler,
    pub projector: Option<Projector>,
    pub n_quadratures: usize,
    pub q: Rhs,
}

pub fn ode(n: usize, f: impl FnMut(f64, &[f64], &mut [f64]) + 'static) -> Closures {
    Closures {
        n,
        f: Box::new(f),
        algebraic: Vec::new(),
        jacobian: None,
        pattern: None,
        n_guards: 0,
        g: Box::new(|_, _, _| {}),
        period: None,
        on_event: Box::new(|_, _, _| EventOutcome::Continue { changed: false }),
        projector: None,
        n_quadratures: 0,
        q: Box::new(|_, _, _| {}),
    }
}

impl Closures {
    pub fn guards(mut self, n: usize, g: impl FnMut(f64, &[f64], &mut [f64]) + 'static) -> Self {
        (self.n_guards, self.g) = (n, Box::new(g));
        self
    }

    pub fn on_event(
        mut self,
        handler: impl FnMut(f64, &mut [f64], &[Crossing]) -> EventOutcome + 'static,
    ) -> Self {
        self.on_event = Box::new(handler);
        self
    }

    pub fn jacobian(mut self, jacobian: impl FnMut(f64, &[f64], &mut [f64]) + 'static) -> Self {
        self.jacobian = Some(Box::new(jacobian));
        self
    }
}

impl System for Closures {
    fn n(&self) -> usize {
        self.n
    }

    fn algebraic(&self) -> &[bool] {
        &self.algebraic
    }

    fn rhs(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        (self.f)(t, y, f);
        Ok(())
    }

    fn jacobian_pattern(&self) -> Option<&Pattern> {
        self.pattern.as_ref()
    }

    fn jacobian(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<bool, EvalError> {
        match &mut self.jacobian {
            Some(jacobian) => {
                jacobian(t, y, values);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn n_guards(&self) -> usize {
        self.n_guards
    }

    fn guards(&mut self, t: f64, y: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
        (self.g)(t, y, g);
        Ok(())
    }

    fn next_time_event(&mut self, t: f64) -> Option<f64> {
        let period = self.period?;
        let mut k = (t / period).floor();
        while k * period <= t {
            k += 1.0;
        }
        Some(k * period)
    }

    fn handle_event(
        &mut self,
        t: f64,
        y: &mut [f64],
        fired: &[Crossing],
    ) -> Result<EventOutcome, EvalError> {
        Ok((self.on_event)(t, y, fired))
    }

    fn projects(&self) -> bool {
        self.projector.is_some()
    }

    fn project(&mut self, _t: f64, y: &mut [f64]) -> Result<Projection, EvalError> {
        Ok(match &mut self.projector {
            Some(projector) => projector(y),
            None => Projection::default(),
        })
    }

    fn n_quadratures(&self) -> usize {
        self.n_quadratures
    }

    fn quadrature_rates(&mut self, t: f64, y: &[f64], q: &mut [f64]) -> Result<(), EvalError> {
        (self.q)(t, y, q);
        Ok(())
    }
}

/// Times and kinds of all events, and the largest error of the interpolant.
#[derive(Default)]
pub struct Log {
    pub events: Vec<(f64, Vec<Crossing>)>,
    pub steps: Vec<(f64, f64)>,
    pub exact: Option<fn(f64) -> f64>,
    pub worst_dense: f64,
    pub worst_end: f64,
}

impl Observer for Log {
    fn step(&mut self, dense: &dyn Dense, _: &[f64], _: &mut dyn System) -> ControlFlow<()> {
        self.steps.push((dense.t0(), dense.t1()));
        if let Some(exact) = self.exact {
            let mut y = dense.y0().to_vec();
            let error = (dense.y1()[0] - exact(dense.t1())).abs();
            self.worst_end = self.worst_end.max(error);
            for part in 1..8 {
                let t = dense.t0() + (dense.t1() - dense.t0()) * f64::from(part) / 8.0;
                dense.eval(t, &mut y);
                self.worst_dense = self.worst_dense.max((y[0] - exact(t)).abs());
            }
        }
        ControlFlow::Continue(())
    }

    fn event(&mut self, event: &EventRecord<'_>, _: &mut dyn System) -> ControlFlow<()> {
        self.events.push((event.t, event.fired.to_vec()));
        ControlFlow::Continue(())
    }
}

pub fn options(method: Method, relative: f64, absolute: f64) -> Options {
    Options {
        method,
        tolerances: Tolerances {
            relative,
            absolute: Absolute::Scalar(absolute),
        },
        ..Options::default()
    }
}

/// Steps of size `h` throughout: tolerances so wide that no step is ever rejected or grown.
pub fn fixed(method: Method, h: f64) -> Options {
    Options {
        max_step: h,
        initial_step: Some(h),
        fixed_step: Some(h),
        ..options(method, 0.9, 1e9)
    }
}

pub fn solve(system: &mut Closures, y0: &[f64], (t0, t1): (f64, f64), options: &Options) -> Finish {
    integrate(system, t0, y0, t1, options, &mut NoObserver).expect("the problem can be solved")
}

/// Largest error relative to `1 + |reference|`… of a state against reference digits.
pub fn worst_relative(y: &[f64], reference: &[f64]) -> f64 {
    y.iter()
        .zip(reference)
        .map(|(y, r)| ((y - r) / r).abs())
        .fold(0.0, f64::max)
}
