//! Explicit Runge–Kutta pair of order 5(4) with an interpolant of order 4.
//!
//! Source: Ch. Tsitouras, "Runge–Kutta pairs of order 5(4) satisfying only the first column
//! simplifying assumption", Computers & Mathematics with Applications 62 (2011) 770–775.
//! The order tests of this crate check every digit that matters.

use crate::one_step::{Formula, Ready, Span, remove_along};
use crate::stepper::{Context, Stiffness, Trouble, combine, error_size, worst_index};

const C: [f64; 4] = [0.161, 0.327, 0.9, 0.9800255409045097];
const A2: [f64; 1] = [0.161];
const A3: [f64; 2] = [-0.008480655492356989, 0.335480655492357];
const A4: [f64; 3] = [2.8971530571054935, -6.359448489975075, 4.3622954328695815];
const A5: [f64; 4] = [
    5.325864828439257,
    -11.748883564062828,
    7.4955393428898365,
    -0.09249506636175525,
];
const A6: [f64; 5] = [
    5.86145544294642,
    -12.92096931784711,
    8.159367898576159,
    -0.071584973281401,
    -0.028269050394068383,
];
const B: [f64; 6] = [
    0.09646076681806523,
    0.01,
    0.4798896504144996,
    1.379008574103742,
    -3.290069515436081,
    2.324710524099774,
];
/// Difference between the two solutions of the pair.
const E: [f64; 7] = [
    -0.001780011052225777,
    -0.0008164344596567469,
    0.007880878010261995,
    -0.1447110071732629,
    0.5823571654525552,
    -0.45808210592918697,
    0.015151515151515152,
];
/// `bᵢ(θ) = θ (Rᵢ₀ + Rᵢ₁ θ + Rᵢ₂ θ² + Rᵢ₃ θ³)`.
const R: [[f64; 4]; 7] = [
    [
        1.0,
        -2.763706197274826,
        2.9132554618219126,
        -1.0530884977290216,
    ],
    [0.0, 0.13169999999999998, -0.2234, 0.1017],
    [
        0.0,
        3.9302962368947516,
        -5.941033872131505,
        2.490627285651253,
    ],
    [
        0.0,
        -12.411077166933676,
        30.33818863028232,
        -16.548102889244902,
    ],
    [0.0, 37.50931341651104, -88.1789048947664, 47.37952196281928],
    [
        0.0,
        -27.896526289197286,
        65.09189467479366,
        -34.87065786149661,
    ],
    [0.0, 1.5, -4.0, 2.5],
];

/// Work arrays of the method.
pub(crate) struct Tsit5 {
    k: [Vec<f64>; 7],
    stage: Vec<f64>,
    error: Vec<f64>,
    stiffness: Option<Stiffness>,
}

impl Tsit5 {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            k: std::array::from_fn(|_| vec![0.0; n]),
            stage: vec![0.0; n],
            error: vec![0.0; n],
            stiffness: None,
        }
    }
}

impl Formula for Tsit5 {
    const ERROR_ORDER: f64 = 5.0;
    const BETA: f64 = 0.04;
    const MAX_GROWTH: f64 = 10.0;
    const NODES: &'static [f64] = &C;
    const IS_EXPLICIT: bool = true;
    /// The region reaches to 3.5 along the negative real axis; a little less gives the alarm
    /// before steps are rejected for it.
    const STABILITY_LIMIT: f64 = 3.25;

    /// At loose tolerances the estimate, of order 4, sees too little of the error of the step, of order 5: without
    /// the weight a pendulum errs by 70 times a tolerance of 1e-4, and by 2 times one of 1e-8. The factor keeps the
    /// energy of a pendulum to ten times the tolerance.
    fn error_weight(relative: f64) -> f64 {
        1.5 * (relative / 1e-6).max(1.0).powf(0.25)
    }

    fn begin(&mut self, cx: &mut Context<'_>, t: f64, y: &[f64], _h: f64) -> Result<(), Trouble> {
        cx.rhs(t, y, &mut self.k[0])
    }

    fn attempt(
        &mut self,
        cx: &mut Context<'_>,
        (t, h): (f64, f64),
        y0: &[f64],
        y1: &mut [f64],
    ) -> Result<(), Trouble> {
        let [k1, k2, k3, k4, k5, k6, k7] = &mut self.k;
        let g = &mut self.stage;
        combine(g, y0, h, A2, [k1]);
        cx.rhs(t + C[0] * h, g, k2)?;
        combine(g, y0, h, A3, [k1, k2]);
        cx.rhs(t + C[1] * h, g, k3)?;
        combine(g, y0, h, A4, [k1, k2, k3]);
        cx.rhs(t + C[2] * h, g, k4)?;
        combine(g, y0, h, A5, [k1, k2, k3, k4]);
        cx.rhs(t + C[3] * h, g, k5)?;
        combine(g, y0, h, A6, [k1, k2, k3, k4, k5]);
        cx.rhs(t + h, g, k6)?;
        combine(y1, y0, h, B, [k1, k2, k3, k4, k5, k6]);
        cx.rhs(t + h, y1, k7)?;

        for i in 0..y1.len() {
            self.error[i] = h
                * (E[0] * k1[i]
                    + E[1] * k2[i]
                    + E[2] * k3[i]
                    + E[3] * k4[i]
                    + E[4] * k5[i]
                    + E[5] * k6[i]
                    + E[6] * k7[i]);
        }
        // Stages 6 and 7 are at the same time.
        self.stiffness = Stiffness::estimate(h, (g, y1), (k6, k7));
        Ok(())
    }

    fn error_norm(&self, _h: f64, inverse_scale: &[f64]) -> f64 {
        error_size(&self.error, inverse_scale)
    }

    fn worst(&self, inverse_scale: &[f64]) -> usize {
        worst_index(&self.error, inverse_scale)
    }

    fn remove_error_along(&mut self, direction: &[f64], inverse_scale: &[f64]) {
        remove_along(&mut self.error, direction, inverse_scale);
    }

    fn accept(
        &mut self,
        _cx: &mut Context<'_>,
        _step: Span,
        _y: (&[f64], &[f64]),
        moved: bool,
    ) -> Result<Ready, Trouble> {
        Ok(if moved { Ready::NotBegun } else { Ready::Shift })
    }

    fn shift(&mut self) {
        // The last stage of a step is where the next begins.
        self.k.swap(0, 6);
    }

    fn prepare_dense(
        &mut self,
        _cx: &mut Context<'_>,
        _step: Span,
        _states: (&[f64], &[f64]),
        _inverse_scale: &[f64],
    ) -> Result<(), Trouble> {
        Ok(())
    }

    fn interpolate(&self, theta: f64, h: f64, y0: &[f64], y1: &[f64], out: &mut [f64]) {
        // The blend s(θ) carries a projection of y1 into the interior without a kink.
        let s = theta * theta * (3.0 - 2.0 * theta);
        let mut b = R.map(|r| theta * (r[0] + theta * (r[1] + theta * (r[2] + theta * r[3]))));
        for (b, at_end) in b.iter_mut().zip(B) {
            *b -= s * at_end;
        }
        for i in 0..out.len() {
            let mut sum = 0.0;
            for j in 0..7 {
                sum += b[j] * self.k[j][i];
            }
            out[i] = y0[i] + s * (y1[i] - y0[i]) + h * sum;
        }
    }

    fn stiffness(&self) -> Option<Stiffness> {
        self.stiffness
    }
}
