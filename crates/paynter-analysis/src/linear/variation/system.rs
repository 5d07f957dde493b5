//! The model beside its variational equations, as one system for the integrator.
//!
//! In:  a machine in which parameters are variables that do not move, and rows for outputs, surfaces and `reinit`s.
//! Out: a [`System`]: the machine's variables y, then σ = scale · ∂x/∂θ for one parameter after the other.
//!
//! At an event at time τ(θ) on the surface g(x, θ, t) = 0 the states jump by x⁺ = R(x⁻, θ, t). With
//! dτ/dθ = −(g_x σ + g_θ)/(g_x f⁻ + g_t) the sensitivities jump to
//! σ⁺ = R_x (σ + f⁻ dτ/dθ) + R_θ + R_t dτ/dθ − f⁺ dτ/dθ   (Galán, Feehery & Barton 1999, §3).
//!
//! **Invariant:** rows that were added to be read off never move, so that y has no use for them.

use paynter_exec::Machine;
use paynter_run::following::Instant;
use paynter_solve::{
    Absolute, Crossing, EvalError, EventOutcome, Failure, Passed, SolveError, Stepped, System,
};
use paynter_symbolic::SymbolId;

/// What is zero where a mode changes.
#[derive(Clone)]
pub(super) struct Surface {
    pub mode: SymbolId,
    pub row: usize,
    /// The mode is the whole part of it.
    pub is_floor: bool,
}

/// Why sensitivities could not be followed through an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The surface is touched, not crossed.
    Grazing(SymbolId),
    /// Two surfaces are crossed at once, and parameters move them apart.
    Together(SymbolId),
    /// A `reinit` caused another one.
    Cascade,
    /// Something jumped without a surface.
    Unknown,
}

/// A switch that comes to its surface within this part of the run is what caused an event; what changed because of it is
/// further away.
const ON_SURFACE: f64 = 1e-9;
/// Instants of two switches may differ by this part and still be one.
const SAME_INSTANT: f64 = 1e-6;

#[derive(Clone)]
pub(super) struct Variational {
    pub machine: Machine,
    /// Places of the states, of the parameters, of the outputs.
    own: Vec<usize>,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    surfaces: Vec<Surface>,
    /// `when`, place of the target, row of the value.
    reinits: Vec<(usize, usize, usize)>,
    /// What σ is counted in, for each parameter.
    pub scales: Vec<f64>,
    /// The length of the run, s.
    pub span: f64,
    /// Entries of the Jacobian, column by column.
    places: Vec<(usize, usize)>,
    values: Vec<f64>,
    f: Vec<f64>,
    /// How the instants of events follow the parameters.
    pub instants: Vec<Instant>,
    /// Room for a direction and for the rows along it.
    room: (Vec<f64>, Vec<f64>),
    pub trouble: Option<(f64, Trouble)>,
}

/// What is known of an event when σ jumps.
struct Passage {
    time_slopes: Vec<f64>,
    /// Rates before the event.
    f_left: Vec<f64>,
    /// Rates after it.
    f_right: Vec<f64>,
    /// `when`s that acted, with their rounds.
    acted: Vec<(usize, usize)>,
    /// How the instant follows each parameter.
    tau: Vec<f64>,
}

impl Variational {
    pub(super) fn new(
        machine: Machine,
        (own, inputs, outputs): (Vec<usize>, Vec<usize>, Vec<usize>),
        surfaces: Vec<Surface>,
        reinits: Vec<(usize, usize, usize)>,
    ) -> Self {
        let n = machine.n();
        let pattern = machine.jacobian_pattern().cloned();
        let full: Vec<usize> = (0..n).collect();
        let column = |j: usize| pattern.as_ref().map_or(&full[..], |p| p.column(j));
        let places: Vec<(usize, usize)> = (0..n)
            .flat_map(|j| column(j).iter().map(move |&i| (i, j)).collect::<Vec<_>>())
            .collect();
        Variational {
            values: vec![0.0; places.len()],
            f: vec![0.0; n],
            scales: vec![1.0; inputs.len()],
            span: 1.0,
            machine,
            own,
            inputs,
            outputs,
            surfaces,
            reinits,
            places,
            instants: Vec::new(),
            room: (vec![0.0; n], vec![0.0; n]),
            trouble: None,
        }
    }

    /// For each output its value and its slopes.
    pub(super) fn n_columns(&self) -> usize {
        self.outputs.len() * (1 + self.inputs.len())
    }

    pub(super) fn n_states(&self) -> usize {
        self.own.len()
    }

    /// The place of a parameter.
    pub(super) fn input(&self, k: usize) -> usize {
        self.inputs[k]
    }

    /// A failure in terms of the machine's variables: a sensitivity stands for its state.
    pub(super) fn about_machine(&self, mut error: SolveError) -> SolveError {
        let n = self.machine.n();
        error.y.truncate(n);
        let own = |k: usize| match k < n {
            true => k,
            false => self.own[(k - n) % self.own.len().max(1)],
        };
        match &mut error.failure {
            Failure::StepTooSmall { worst, .. } => *worst = own(*worst),
            Failure::NotFinite { index, .. } => *index = own(*index),
            _ => {}
        }
        error
    }

    pub(super) fn own(&self) -> &[usize] {
        &self.own
    }

    /// Error allowed in states and in σ, which has their units.
    pub(super) fn tolerances(
        &mut self,
        rtol: f64,
        span: (f64, f64),
        atol: Option<f64>,
    ) -> Absolute {
        if let Some(atol) = atol {
            return Absolute::Scalar(atol);
        }

        // σ has no nominal size: it learns one, a digit above what its states would be given.
        const LEARNT_SHARE: f64 = 1e-2;
        let (mut least, mut share, groups) = match self.machine.tolerances(rtol, span) {
            Absolute::Growing {
                least,
                share,
                groups,
            } => (least, share, groups),
            Absolute::PerVariable(least) => {
                let n = least.len();
                (least, vec![0.0; n], Vec::new())
            }
            Absolute::Scalar(x) => (
                vec![x; self.machine.n()],
                vec![0.0; self.machine.n()],
                Vec::new(),
            ),
        };

        for _ in &self.inputs {
            for &k in &self.own {
                least.push(1e-3 * least[k]);
                share.push(rtol * LEARNT_SHARE);
            }
        }

        Absolute::Growing {
            least,
            share,
            groups,
        }
    }

    /// Rates and the entries of the Jacobian at a point.
    pub(super) fn evaluate(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        let n = self.machine.n();
        self.machine.rhs(t, &y[..n], &mut self.f)?;
        let is_given = self.machine.jacobian(t, &y[..n], &mut self.values)?;
        match is_given && self.values.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(EvalError::NotFinite { index: 0 }),
        }
    }

    /// The rows of J · direction, where the direction is given by the machine's variables.
    pub(super) fn along(&self, direction: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.f.len()];
        self.add_along(direction, &mut out);
        out
    }

    fn add_along(&self, direction: &[f64], out: &mut [f64]) {
        for (&(i, j), &x) in self.places.iter().zip(&self.values) {
            out[i] += x * direction[j];
        }
    }

    /// The direction in which the variables move with parameter `k`.
    fn direction(&self, y: &[f64], k: usize) -> Vec<f64> {
        let mut direction = vec![0.0; self.machine.n()];
        self.set_direction(y, k, &mut direction);
        direction
    }

    /// Sets the places that states and parameter `k` have; the others are zero.
    fn set_direction(&self, y: &[f64], k: usize, direction: &mut [f64]) {
        let (n, n_states) = (self.machine.n(), self.own.len());
        let sigma = &y[n + k * n_states..n + (k + 1) * n_states];
        self.inputs.iter().for_each(|&place| direction[place] = 0.0);
        for (&place, &s) in self.own.iter().zip(sigma) {
            direction[place] = s;
        }
        direction[self.inputs[k]] = self.scales[k];
    }

    /// Gives the rows along the direction of each parameter to `take`, without allocating.
    fn for_each_direction(&mut self, y: &[f64], mut take: impl FnMut(&Self, usize, &[f64])) {
        let (mut direction, mut rows) = std::mem::take(&mut self.room);
        for k in 0..self.inputs.len() {
            self.set_direction(y, k, &mut direction);
            rows.fill(0.0);
            self.add_along(&direction, &mut rows);
            take(self, k, &rows);
        }
        self.room = (direction, rows);
    }

    fn modes(&self) -> Vec<Option<f64>> {
        let surfaces = self.surfaces.iter();
        surfaces.map(|s| self.machine.discrete(s.mode)).collect()
    }

    /// How the instant of an event follows each parameter: from the surface that was met, at the left limits.
    fn instant(
        &self,
        (moved, time_slopes): (&[usize], &[f64]),
        directions: &[Vec<f64>],
    ) -> Result<Option<Vec<f64>>, Trouble> {
        let n = self.machine.n();
        let mut rates = vec![0.0; n];
        self.own.iter().for_each(|&k| rates[k] = self.f[k]);
        let along_flow = self.along(&rates);
        let mut found: Option<(SymbolId, Vec<f64>)> = None;
        for &number in moved {
            let Surface {
                row,
                mode,
                is_floor,
            } = self.surfaces[number];
            let value = match is_floor {
                true => self.f[row] - self.f[row].round(),
                false => self.f[row],
            };
            let pace = along_flow[row] + time_slopes[row];
            let by: Vec<f64> = directions.iter().map(|d| -d[row]).collect();
            if pace == 0.0 && value == 0.0 && by.iter().any(|&x| x != 0.0) {
                return Err(Trouble::Grazing(mode));
            }
            if value.abs() > ON_SURFACE * self.span * pace.abs() || pace == 0.0 {
                continue;
            }
            let own: Vec<f64> = by.iter().map(|x| x / pace).collect();
            match &found {
                None => found = Some((mode, own)),
                Some((_, first)) => {
                    let largest = first
                        .iter()
                        .chain(&own)
                        .fold(0.0_f64, |m, x| m.max(x.abs()));
                    let differs = |(a, b): (&f64, &f64)| (a - b).abs() > SAME_INSTANT * largest;
                    if first.iter().zip(&own).any(differs) {
                        return Err(Trouble::Together(mode));
                    }
                }
            }
        }
        Ok(found.map(|f| f.1))
    }

    /// Reacts to an event with the jump of σ.
    fn jump(
        &mut self,
        t: f64,
        y: &mut [f64],
        fired: &[Crossing],
    ) -> Result<Result<EventOutcome, Trouble>, EvalError> {
        let (n, n_inputs) = (self.machine.n(), self.inputs.len());
        self.evaluate(t, y)?;
        let mut time_slopes = vec![0.0; n];
        self.machine.time_derivative(t, &y[..n], &mut time_slopes)?;
        let before = self.modes();
        let left = y.to_vec();
        let f_left = self.f.clone();
        let directions: Vec<Vec<f64>> = (0..n_inputs)
            .map(|k| self.along(&self.direction(y, k)))
            .collect();

        // What is read off at the left limits, before the machine moves on.
        let (values, rows) = (self.values.clone(), self.f.clone());
        let outcome = self.machine.handle_event(t, &mut y[..n], fired)?;
        let moved = self.moved(&before, fired);
        let acted: Vec<(usize, usize)> = self.machine.acted().to_vec();
        let has_jumped = self.own.iter().any(|&k| y[k] != left[k]);
        if moved.is_empty() && acted.is_empty() && !has_jumped {
            return Ok(Ok(outcome));
        }

        let by_instant = match self.instant((&moved, &time_slopes), &directions) {
            Ok(found) => found,
            Err(trouble) => return Ok(Err(trouble)),
        };
        let last = self.instants.last().filter(|l| l.0 == t);
        let known = last.map(|l| l.1.clone());
        let is_found = by_instant.is_some() || known.is_some();
        let tau = by_instant.or(known).unwrap_or_else(|| vec![0.0; n_inputs]);
        self.instants.push((t, tau.clone()));

        self.machine.rhs(t, &y[..n], &mut self.f)?;
        let f_right = self.f.clone();
        let bends = self.own.iter().any(|&k| f_left[k] != f_right[k]);
        if !is_found && (bends || has_jumped) {
            return Ok(Err(Trouble::Unknown));
        }

        let is_cascade =
            |&(round, when): &(usize, usize)| round > 0 && self.reinits.iter().any(|r| r.0 == when);
        if acted.iter().any(is_cascade) {
            return Ok(Err(Trouble::Cascade));
        }

        // Slopes of the new values are those of the left limits.
        (self.values, self.f) = (values, rows);
        let passage = Passage {
            time_slopes,
            f_left,
            f_right,
            acted,
            tau,
        };
        self.jump_slopes(y, &left, &passage);
        Ok(Ok(outcome))
    }

    /// The surfaces that were crossed: those whose modes changed, and those that fired.
    fn moved(&self, before: &[Option<f64>], fired: &[Crossing]) -> Vec<usize> {
        // A switch may be back on its side already, after what a `reinit` did.
        let fired: Vec<SymbolId> = fired
            .iter()
            .filter_map(|c| self.machine.mode_of_guard(c.guard))
            .collect();
        let after = self.modes();
        (0..self.surfaces.len())
            .filter(|&k| before[k] != after[k] || fired.contains(&self.surfaces[k].mode))
            .collect()
    }

    /// Sets σ after an event: with the instant moving by τ, σ⁺ = (slope of the new value) − f⁺ τ.
    fn jump_slopes(&self, y: &mut [f64], left: &[f64], passage: &Passage) {
        let (n, n_states, n_inputs) = (self.machine.n(), self.own.len(), self.inputs.len());
        for k in 0..n_inputs {
            let mut direction = self.direction(left, k);
            for &place in &self.own {
                direction[place] += passage.f_left[place] * passage.tau[k];
            }
            let through = self.along(&direction);
            for (number, &place) in self.own.iter().enumerate() {
                let set = self.reinits.iter().find(|(when, target, _)| {
                    *target == place && passage.acted.iter().any(|a| a.1 == *when)
                });
                let after = match set {
                    Some(&(_, _, row)) => through[row] + passage.time_slopes[row] * passage.tau[k],
                    None => direction[place],
                };
                y[n + k * n_states + number] = after - passage.f_right[place] * passage.tau[k];
            }
        }
    }
}

impl System for Variational {
    fn n(&self) -> usize {
        self.machine.n() + self.own.len() * self.inputs.len()
    }

    fn rhs(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), EvalError> {
        let (n, n_states) = (self.machine.n(), self.own.len());
        self.evaluate(t, y)?;
        f[..n].fill(0.0);
        self.own.iter().for_each(|&k| f[k] = self.f[k]);
        self.for_each_direction(y, |own, k, rates| {
            for (number, &place) in own.own.iter().enumerate() {
                f[n + k * n_states + number] = rates[place];
            }
        });
        Ok(())
    }

    fn n_guards(&self) -> usize {
        self.machine.n_guards()
    }

    fn guards(&mut self, t: f64, y: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
        let n = self.machine.n();
        self.machine.guards(t, &y[..n], g)
    }

    fn guard_sides(&mut self, sides: &mut [f64]) -> bool {
        self.machine.guard_sides(sides)
    }

    fn guard_rates(
        &mut self,
        t: f64,
        y: &[f64],
        dy: &[f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        let n = self.machine.n();
        self.machine.guard_rates(t, &y[..n], &dy[..n], rates)
    }

    fn may_cut_steps(&self) -> bool {
        self.machine.may_cut_steps()
    }

    fn cut_step(&mut self, t: (f64, f64), y: [&[f64]; 3], cuts: &mut Vec<f64>) -> bool {
        let n = self.machine.n();
        self.machine.cut_step(t, y.map(|y| &y[..n]), cuts)
    }

    fn passed_over(&mut self, step: &Stepped<'_>) -> Passed {
        let n = self.machine.n();
        // The equations of the model come first, and only they are looked at.
        let at_nodes: Vec<Vec<f64>> = step.at_nodes.iter().map(|y| y[..n].to_vec()).collect();
        self.machine.passed_over(&Stepped {
            y: (&step.y.0[..n], &step.y.1[..n]),
            at_nodes: &at_nodes,
            ..*step
        })
    }

    fn expect_end(&mut self, t_end: f64) {
        self.machine.expect_end(t_end);
    }

    fn is_due(&mut self, t: f64) -> bool {
        self.machine.is_due(t)
    }

    fn next_time_event(&mut self, t: f64) -> Option<f64> {
        self.machine.next_time_event(t)
    }

    fn known_until(&self) -> f64 {
        self.machine.known_until()
    }

    fn handle_event(
        &mut self,
        t: f64,
        y: &mut [f64],
        fired: &[Crossing],
    ) -> Result<EventOutcome, EvalError> {
        match self.jump(t, y, fired)? {
            Ok(outcome) => Ok(outcome),
            Err(trouble) => {
                self.trouble = Some((t, trouble));
                Err(EvalError::Fatal { code: u32::MAX })
            }
        }
    }

    fn step_done(&mut self, t: f64, y: &[f64]) {
        let n = self.machine.n();
        self.machine.step_done(t, &y[..n]);
    }

    /// For each output its value, then its slope by every parameter.
    fn observe(&mut self, t: f64, y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.evaluate(t, y)?;
        let wide = 1 + self.inputs.len();
        for (number, &row) in self.outputs.iter().enumerate() {
            out[number * wide] = self.f[row];
        }
        self.for_each_direction(y, |own, k, slopes| {
            for (number, &row) in own.outputs.iter().enumerate() {
                out[number * wide + 1 + k] = slopes[row];
            }
        });
        Ok(())
    }
}
