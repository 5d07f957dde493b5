//! Plants between ticks of sampled controllers, and what becomes of them from period to period.
//!
//! In:  a [`SampledModel`]: v' = A v + B u between ticks, v⁺ = J v + P u at each tick of one common period of all
//!      clocks. v holds the states of the plant and all held values, whose rates are zero.
//! Out: the map over one period as a [`LinearModel`] in steps, and step responses at and between the ticks.
//!
//! The flow between ticks is a matrix exponential: nothing is approximated, whatever the rates of the clocks.
//!
//! **Invariant:** the first tick is at the beginning of the period; what lies between the last one and the end belongs
//! to the last.

use crate::{LinearModel, Matrix, StepResponse, hold};

/// A linear plant with sampled controllers.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledModel {
    /// A between ticks.
    pub a: Matrix,
    /// B between ticks.
    pub b: Matrix,
    /// y = C v + D u
    pub c: Matrix,
    /// D
    pub d: Matrix,
    /// The ticks of one period.
    pub ticks: Vec<Tick>,
    /// The common period of all clocks, s.
    pub period: f64,
    /// So many entries of v are states of the plant; the others are held.
    pub n_plant: usize,
}

/// What happens at an instant at which clocks are due.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// J
    pub jump: Matrix,
    /// P
    pub entry: Matrix,
    /// The time to the next tick, s.
    pub until_next: f64,
}

/// When outputs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Just before the first tick of the period.
    Before,
    /// Just after it.
    After,
}

/// The map over one period.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifted {
    /// v(k+1) = A v(k) + B u(k), y(k) = C v(k) + D u(k), inputs held over the period, v just before its first tick.
    pub model: LinearModel,
    /// Which entries of v are left: what the ticks overwrite unread is not a state.
    pub kept: Vec<usize>,
}

impl SampledModel {
    /// Computes the map over one period.
    pub fn lift(&self, look: Look) -> Lifted {
        let (n, m) = (self.a.n_rows(), self.b.n_columns());
        let (mut a, mut b) = (Matrix::identity(n), Matrix::zeros(n, m));
        let seen = |a: &Matrix, b: &Matrix| (self.c.times(a), self.d.plus(1.0, &self.c.times(b)));
        let (mut c, mut d) = seen(&a, &b);
        let mut flows: Vec<(u64, (Matrix, Matrix))> = Vec::new();
        for (k, tick) in self.ticks.iter().enumerate() {
            a = tick.jump.times(&a);
            b = tick.entry.plus(1.0, &tick.jump.times(&b));
            if k == 0 && look == Look::After {
                (c, d) = seen(&a, &b);
            }
            let length = tick.until_next.to_bits();
            let known = flows.iter().position(|f| f.0 == length);
            let known = known.unwrap_or_else(|| {
                flows.push((length, hold(&self.a, &self.b, tick.until_next)));
                flows.len() - 1
            });
            let (flow, input) = &flows[known].1;
            b = input.plus(1.0, &flow.times(&b));
            a = flow.times(&a);
        }

        let kept = read_entries(&a, &c);
        Lifted {
            model: LinearModel {
                a: a.part(&kept, &kept),
                b: b.part(&kept, &(0..m).collect::<Vec<_>>()),
                c: c.part(&(0..c.n_rows()).collect::<Vec<_>>(), &kept),
                d: vec![d],
            },
            kept,
        }
    }

    /// Computes the response to a unit step of one input just before the first tick of a period, with about `n` points
    /// over `horizon`. Values at a tick are those after it.
    pub fn step_response(&self, input: usize, horizon: f64, n: usize) -> StepResponse {
        let spacing = horizon / n.max(1) as f64;
        let mut result = StepResponse {
            time: Vec::new(),
            outputs: vec![Vec::new(); self.c.n_rows()],
        };

        // Ticks of one period with the flow of a part of the way to the next one.
        let parts: Vec<(usize, Matrix, Matrix)> = self
            .ticks
            .iter()
            .map(|tick| {
                // A relative rounding must not cost a further point.
                let parts = (tick.until_next / spacing * (1.0 - 1e-9)).ceil().max(1.0);
                let (flow, drive) = hold(&self.a, &self.b, tick.until_next / parts);
                (parts as usize, flow, drive)
            })
            .collect();

        let mut v = vec![0.0; self.a.n_rows()];
        let mut next_shown = 0.0;
        for period in 0.. {
            let mut t = self.period * f64::from(period);
            for (tick, (n_parts, flow, drive)) in self.ticks.iter().zip(&parts) {
                v = affine(&tick.jump, &v, &tick.entry, input);
                for part in 0..*n_parts {
                    let at = t + tick.until_next * (part as f64 / *n_parts as f64);
                    if at > horizon * (1.0 + 1e-9) {
                        return result;
                    }
                    if at >= next_shown {
                        self.show(&v, input, at, &mut result);
                        next_shown = at + spacing * (1.0 - 1e-9);
                    }
                    v = affine(flow, &v, drive, input);
                }
                t += tick.until_next;
            }
        }
        result
    }

    fn show(&self, v: &[f64], input: usize, at: f64, result: &mut StepResponse) {
        result.time.push(at);
        for (output, values) in result.outputs.iter_mut().enumerate() {
            let own: f64 = self.c.row(output).iter().zip(v).map(|(c, v)| c * v).sum();
            values.push(own + self.d[(output, input)]);
        }
    }
}

/// M v + the column of an input.
fn affine(m: &Matrix, v: &[f64], entry: &Matrix, input: usize) -> Vec<f64> {
    (0..m.n_rows())
        .map(|i| {
            let own: f64 = m.row(i).iter().zip(v).map(|(m, v)| m * v).sum();
            own + entry[(i, input)]
        })
        .collect()
}

/// Entries that the next period or an output reads. Products with zero are zero, so no tolerance is needed.
fn read_entries(a: &Matrix, c: &Matrix) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..a.n_rows()).collect();
    loop {
        let is_read = |j: &usize| {
            kept.iter().any(|&i| a[(i, *j)] != 0.0) || (0..c.n_rows()).any(|i| c[(i, *j)] != 0.0)
        };
        let left: Vec<usize> = kept.iter().copied().filter(is_read).collect();
        if left.len() == kept.len() {
            return kept;
        }
        kept = left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eigenvalues;

    /// An integrator x' = u_held under u = −K x, sampled every T.
    fn integrator(gain: f64, period: f64) -> SampledModel {
        SampledModel {
            a: Matrix::from_rows(&[&[0.0, 1.0], &[0.0, 0.0]]),
            b: Matrix::zeros(2, 1),
            c: Matrix::from_rows(&[&[1.0, 0.0]]),
            d: Matrix::zeros(1, 1),
            ticks: vec![Tick {
                jump: Matrix::from_rows(&[&[1.0, 0.0], &[-gain, 0.0]]),
                entry: Matrix::from_rows(&[&[0.0], &[gain]]),
                until_next: period,
            }],
            period,
            n_plant: 1,
        }
    }

    #[test]
    fn held_values_that_are_overwritten_are_no_states() {
        let lifted = integrator(3.0, 0.1).lift(Look::After);
        assert_eq!(lifted.kept, [0]);
        // x(k+1) = (1 − K T) x(k) + K T u(k)
        let pole = eigenvalues(&lifted.model.a).expect("finite")[0].re;
        assert!((pole - 0.7).abs() < 1e-15);
        assert!((lifted.model.b[(0, 0)] - 0.3).abs() < 1e-15);
    }

    #[test]
    fn a_step_is_exact_at_and_between_ticks() {
        let (gain, period) = (3.0, 0.1);
        let response = integrator(gain, period).step_response(0, 1.0, 40);
        assert!(response.time.len() >= 40);
        for (t, x) in response.time.iter().zip(&response.outputs[0]) {
            let k = (t / period + 1e-9).floor();
            let at_tick = 1.0 - (1.0 - gain * period).powf(k);
            let exact = at_tick + gain * (1.0 - at_tick) * (t - k * period);
            assert!((x - exact).abs() < 1e-13, "{t} {x} {exact}");
        }
    }

    #[test]
    fn several_ticks_in_a_period_are_put_together() {
        // The same clock written as a period of three ticks has the third power as its map.
        let one = integrator(3.0, 0.1);
        let mut three = one.clone();
        three.ticks = vec![one.ticks[0].clone(); 3];
        three.period = 0.3;
        let pole = eigenvalues(&three.lift(Look::After).model.a).expect("finite")[0].re;
        assert!((pole - 0.343).abs() < 1e-15);
    }
}
