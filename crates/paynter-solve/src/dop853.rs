//! Explicit Runge–Kutta method of order 8 with dense output of order 7.
//!
//! Source: Dormand & Prince's 8(5,3) method as in Hairer, Nørsett & Wanner, *Solving Ordinary
//! Differential Equations I*, 2nd ed., §II.5 and §II.6. Error estimates of orders 5 and
//! 3 are blended; the dense output takes three more evaluations, made only when asked for.
//! Zero coefficients are left out; the comment beside each number is the stage it weighs.

use crate::one_step::{Formula, Ready, Span, remove_along};
use crate::stepper::{
    Context, Stages, StepQuadrature, Stiffness, Trouble, combine, weighted_norm, worst_index,
};

const C: [f64; 16] = [
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
    1.0,
    0.1,
    0.2,
    0.7777777777777778,
];
const A2: [f64; 1] = [
    0.05260015195876773, // 1
];
const A3: [f64; 2] = [
    0.0197250569845379, // 1
    0.0591751709536137, // 2
];
const A4: [f64; 2] = [
    0.02958758547680685, // 1
    0.08876275643042054, // 3
];
const A5: [f64; 3] = [
    0.2413651341592667,  // 1
    -0.8845494793282861, // 3
    0.924834003261792,   // 4
];
const A6: [f64; 3] = [
    0.037037037037037035, // 1
    0.17082860872947386,  // 4
    0.12546768756682242,  // 5
];
const A7: [f64; 4] = [
    0.037109375,         // 1
    0.17025221101954405, // 4
    0.06021653898045596, // 5
    -0.017578125,        // 6
];
const A8: [f64; 5] = [
    0.03709200011850479,   // 1
    0.17038392571223998,   // 4
    0.10726203044637328,   // 5
    -0.015319437748624402, // 6
    0.008273789163814023,  // 7
];
const A9: [f64; 6] = [
    0.6241109587160757,  // 1
    -3.3608926294469414, // 4
    -0.868219346841726,  // 5
    27.59209969944671,   // 6
    20.154067550477894,  // 7
    -43.48988418106996,  // 8
];
const A10: [f64; 7] = [
    0.47766253643826434,   // 1
    -2.4881146199716677,   // 4
    -0.590290826836843,    // 5
    21.230051448181193,    // 6
    15.279233632882423,    // 7
    -33.28821096898486,    // 8
    -0.020331201708508627, // 9
];
const A11: [f64; 8] = [
    -0.9371424300859873, // 1
    5.186372428844064,   // 4
    1.0914373489967295,  // 5
    -8.149787010746927,  // 6
    -18.52006565999696,  // 7
    22.739487099350505,  // 8
    2.4936055526796523,  // 9
    -3.0467644718982196, // 10
];
const A12: [f64; 9] = [
    2.273310147516538,   // 1
    -10.53449546673725,  // 4
    -2.0008720582248625, // 5
    -17.9589318631188,   // 6
    27.94888452941996,   // 7
    -2.8589982771350235, // 8
    -8.87285693353063,   // 9
    12.360567175794303,  // 10
    0.6433927460157636,  // 11
];
const B: [f64; 8] = [
    0.054293734116568765, // 1
    4.450312892752409,    // 6
    1.8915178993145003,   // 7
    -5.801203960010585,   // 8
    0.3111643669578199,   // 9
    -0.1521609496625161,  // 10
    0.20136540080403034,  // 11
    0.04471061572777259,  // 12
];
const A14: [f64; 8] = [
    0.056167502283047954, // 1
    0.25350021021662483,  // 7
    -0.2462390374708025,  // 8
    -0.12419142326381637, // 9
    0.15329179827876568,  // 10
    0.00820105229563469,  // 11
    0.007567897660545699, // 12
    -0.008298,            // 13
];
const A15: [f64; 8] = [
    0.03183464816350214,     // 1
    0.028300909672366776,    // 6
    0.053541988307438566,    // 7
    -0.05492374857139099,    // 8
    -0.00010834732869724932, // 11
    0.0003825710908356584,   // 12
    -0.00034046500868740456, // 13
    0.1413124436746325,      // 14
];
const A16: [f64; 8] = [
    -0.42889630158379194,   // 1
    -4.697621415361164,     // 6
    7.683421196062599,      // 7
    4.06898981839711,       // 8
    0.3567271874552811,     // 9
    -0.0013990241651590145, // 13
    2.9475147891527724,     // 14
    -9.15095847217987,      // 15
];
const E5: [f64; 8] = [
    0.01312004499419488,   // 1
    -1.2251564463762044,   // 6
    -0.4957589496572502,   // 7
    1.6643771824549864,    // 8
    -0.35032884874997366,  // 9
    0.3341791187130175,    // 10
    0.08192320648511571,   // 11
    -0.022355307863886294, // 12
];
/// A second estimate of order 5. On the stages used, the errors of sixth order are two independent sums of
/// elementary differentials; `E5` sees one combination of them and this the orthogonal one. Where the first
/// passes through zero by chance, as it does twice in each period of a driven relaxation, the second does not.
/// Its length makes it count a tenth beside the first: there the steps of smooth problems stay as many as with
/// `E5` alone, and the interpolant errs by less than three times the tolerance, where `E5` alone lets it err by
/// thousands.
const E5_ACROSS: [f64; 8] = [
    -0.009646386018950744, // 1
    -0.13406957728363933,  // 6
    0.23085388620919986,   // 7
    -0.19797887398513891,  // 8
    -0.7244067526879414,   // 9
    0.7513091629756606,    // 10
    0.10526570998982979,   // 11
    -0.021327169199019988, // 12
];
const E3: [f64; 8] = [
    -0.18980075407240762, // 1
    4.450312892752409,    // 6
    1.8915178993145003,   // 7
    -5.801203960010585,   // 8
    -0.4226823213237919,  // 9
    -0.1521609496625161,  // 10
    0.20136540080403034,  // 11
    0.02265179219836082,  // 12
];
const D4: [f64; 12] = [
    -8.428938276109013,   // 1
    0.5667149535193777,   // 6
    -3.0689499459498917,  // 7
    2.38466765651207,     // 8
    2.117034582445028,    // 9
    -0.871391583777973,   // 10
    2.2404374302607883,   // 11
    0.6315787787694688,   // 12
    -0.08899033645133331, // 13
    18.148505520854727,   // 14
    -9.194632392478356,   // 15
    -4.436036387594894,   // 16
];
const D5: [f64; 12] = [
    10.427508642579134,  // 1
    242.28349177525817,  // 6
    165.20045171727028,  // 7
    -374.5467547226902,  // 8
    -22.113666853125306, // 9
    7.733432668472264,   // 10
    -30.674084731089398, // 11
    -9.332130526430229,  // 12
    15.697238121770845,  // 13
    -31.139403219565178, // 14
    -9.35292435884448,   // 15
    35.81684148639408,   // 16
];
const D6: [f64; 12] = [
    19.985053242002433,  // 1
    -387.0373087493518,  // 6
    -189.17813819516758, // 7
    527.8081592054236,   // 8
    -11.57390253995963,  // 9
    6.8812326946963,     // 10
    -1.0006050966910838, // 11
    0.7777137798053443,  // 12
    -2.778205752353508,  // 13
    -60.19669523126412,  // 14
    84.32040550667716,   // 15
    11.99229113618279,   // 16
];
const D7: [f64; 12] = [
    -25.69393346270375,  // 1
    -154.18974869023643, // 6
    -231.5293791760455,  // 7
    357.6391179106141,   // 8
    93.40532418362432,   // 9
    -37.45832313645163,  // 10
    104.0996495089623,   // 11
    29.8402934266605,    // 12
    -43.53345659001114,  // 13
    96.32455395918828,   // 14
    -39.17726167561544,  // 15
    -149.72683625798564, // 16
];

/// The error is taken for this many times its estimate. An oscillation sums the errors of all
/// its steps up; with 2, a hundred periods keep their energy to ten times the tolerance. It
/// costs a tenth more steps.
const ERROR_WEIGHT: f64 = 2.0;

/// Where the defect of the interpolant is taken, and how many times the peak of the interpolant's error it is
/// there. Over all chains of integrations that end in t⁸ the quotient lies between 8.4 and 8.9, the peak at 0.83;
/// for the plain quadrature, whose error is a hundredth, it is 5.6.
const DEFECT_AT: f64 = 0.95;
const DEFECT_OVER_PEAK: f64 = 8.0;
/// An interpolant that errs by more times the tolerance than this is replaced. Its error is not carried on by the
/// next step as that of the end is, so it may be a little larger.
const MAX_INTERPOLANT_ERROR: f64 = 4.0;
/// Each halving divides the error by 2⁸; three are enough for a step sixteen million times too rough.
const MAX_HALVINGS: usize = 3;

/// Work arrays of the method.
pub(crate) struct Dop853 {
    /// Rates at stages 1 … 13, one after the other.
    k: Vec<f64>,
    stage: Vec<f64>,
    error5: Vec<f64>,
    error5_across: Vec<f64>,
    error3: Vec<f64>,
    /// Rates at stages 14, 15, 16, then the coefficients of the interpolant; made when first asked for.
    dense: Vec<f64>,
    /// Integrands of the quadratures at stages 1, 6 … 13.
    rates: Vec<f64>,
    stiffness: Option<Stiffness>,
    /// The step in two halves, where its interpolant was too rough; made when first needed.
    halves: Option<Box<[Half; 2]>>,
    is_halved: bool,
    /// How often the step that this goes over was halved.
    depth: usize,
}

/// Number of stages that every step evaluates, and of those among them whose integrands are taken.
const N_STAGES: usize = 13;
const N_WEIGHED: usize = 9;

impl Dop853 {
    pub(crate) fn new(n: usize, n_quadratures: usize) -> Self {
        Self {
            k: vec![0.0; N_STAGES * n],
            stage: vec![0.0; n],
            error5: vec![0.0; n],
            error5_across: vec![0.0; n],
            error3: vec![0.0; n],
            dense: Vec::new(),
            rates: vec![0.0; N_WEIGHED * n_quadratures],
            stiffness: None,
            halves: None,
            is_halved: false,
            depth: 0,
        }
    }
}

/// Cuts S rows of equal length.
fn rows<const S: usize>(data: &mut [f64]) -> [&mut [f64]; S] {
    let n = data.len() / S;
    let mut rest = data;
    std::array::from_fn(|_| {
        let (row, after) = std::mem::take(&mut rest).split_at_mut(n);
        rest = after;
        row
    })
}

impl Formula for Dop853 {
    const ERROR_ORDER: f64 = 8.0;
    const BETA: f64 = 0.0;
    const MAX_GROWTH: f64 = 6.0;
    /// Along the negative real axis (Hairer & Wanner, *Solving ODEs II*, §IV.2).
    const STABILITY_LIMIT: f64 = 6.1;

    fn begin(&mut self, cx: &mut Context<'_>, t: f64, y: &[f64], _h: f64) -> Result<(), Trouble> {
        let [k1, ..] = rows::<N_STAGES>(&mut self.k);
        let [p1, ..] = rows::<N_WEIGHED>(&mut self.rates);
        cx.rhs_and_rates(t, y, k1, p1)
    }

    fn attempt(
        &mut self,
        cx: &mut Context<'_>,
        (t, h): (f64, f64),
        y0: &[f64],
        y1: &mut [f64],
    ) -> Result<(), Trouble> {
        let [k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, _] = rows::<N_STAGES>(&mut self.k);
        let [_, p6, p7, p8, p9, p10, p11, p12, _] = rows::<N_WEIGHED>(&mut self.rates);
        let g = &mut self.stage;
        combine(g, y0, h, A2, [k1]);
        cx.rhs(t + C[1] * h, g, k2)?;
        combine(g, y0, h, A3, [k1, k2]);
        cx.rhs(t + C[2] * h, g, k3)?;
        combine(g, y0, h, A4, [k1, k3]);
        cx.rhs(t + C[3] * h, g, k4)?;
        combine(g, y0, h, A5, [k1, k3, k4]);
        cx.rhs(t + C[4] * h, g, k5)?;
        combine(g, y0, h, A6, [k1, k4, k5]);
        cx.rhs_and_rates(t + C[5] * h, g, k6, p6)?;
        combine(g, y0, h, A7, [k1, k4, k5, k6]);
        cx.rhs_and_rates(t + C[6] * h, g, k7, p7)?;
        combine(g, y0, h, A8, [k1, k4, k5, k6, k7]);
        cx.rhs_and_rates(t + C[7] * h, g, k8, p8)?;
        combine(g, y0, h, A9, [k1, k4, k5, k6, k7, k8]);
        cx.rhs_and_rates(t + C[8] * h, g, k9, p9)?;
        combine(g, y0, h, A10, [k1, k4, k5, k6, k7, k8, k9]);
        cx.rhs_and_rates(t + C[9] * h, g, k10, p10)?;
        combine(g, y0, h, A11, [k1, k4, k5, k6, k7, k8, k9, k10]);
        cx.rhs_and_rates(t + C[10] * h, g, k11, p11)?;
        combine(g, y0, h, A12, [k1, k4, k5, k6, k7, k8, k9, k10, k11]);
        cx.rhs_and_rates(t + h, g, k12, p12)?;

        let weighed: [&[f64]; 8] = [k1, k6, k7, k8, k9, k10, k11, k12];
        combine(y1, y0, h, B, weighed);
        let n = y1.len();
        let weighed = weighed.map(|stage| &stage[..n]);
        let (error5, error3) = (&mut self.error5[..n], &mut self.error3[..n]);
        let error5_across = &mut self.error5_across[..n];
        for i in 0..n {
            let (mut sum5, mut across, mut sum3) = (0.0, 0.0, 0.0);
            for j in 0..8 {
                sum5 += E5[j] * weighed[j][i];
                across += E5_ACROSS[j] * weighed[j][i];
                sum3 += E3[j] * weighed[j][i];
            }
            error5[i] = h * sum5;
            error5_across[i] = h * across;
            error3[i] = h * sum3;
        }
        Ok(())
    }

    fn error_norm(&self, _h: f64, inverse_scale: &[f64]) -> f64 {
        let n = inverse_scale.len();
        let (error5, error3) = (&self.error5[..n], &self.error3[..n]);
        let error5_across = &self.error5_across[..n];
        let (mut sum5, mut squares5, mut sum3) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let e5 = error5[i] * inverse_scale[i];
            let across = error5_across[i] * inverse_scale[i];
            let e3 = error3[i] * inverse_scale[i];
            let square = e5 * e5 + across * across;
            sum5 += square;
            squares5 += square * square;
            sum3 += e3 * e3;
        }
        let blend = sum5 + 0.01 * sum3;
        if blend > 0.0 {
            // In place of √n, as in `error_size`: the variables that share the error.
            ERROR_WEIGHT * (squares5 / blend).sqrt()
        } else {
            // Keeps NaN from being taken for a perfect step.
            blend
        }
    }

    fn worst(&self, inverse_scale: &[f64]) -> usize {
        worst_index(&self.error5, inverse_scale)
    }

    fn remove_error_along(&mut self, direction: &[f64], inverse_scale: &[f64]) {
        remove_along(&mut self.error5, direction, inverse_scale);
        remove_along(&mut self.error5_across, direction, inverse_scale);
        remove_along(&mut self.error3, direction, inverse_scale);
    }

    fn accept(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        (_, y1): (&[f64], &[f64]),
        moved: bool,
    ) -> Result<Ready, Trouble> {
        let [.., k12, k13] = rows::<N_STAGES>(&mut self.k);
        let [.., p13] = rows::<N_WEIGHED>(&mut self.rates);
        cx.rhs_and_rates(step.t1, y1, k13, p13)?;
        // Stages 12 and 13 stand at the same time, unless the projection moved the latter.
        self.stiffness = if moved {
            None
        } else {
            Stiffness::estimate(step.h, (&self.stage, y1), (k12, k13))
        };
        Ok(Ready::Shift)
    }

    fn shift(&mut self) {
        let n = self.stage.len();
        self.k.copy_within((N_STAGES - 1) * n.., 0);
        let n = self.rates.len() / N_WEIGHED;
        self.rates.copy_within((N_WEIGHED - 1) * n.., 0);
    }

    fn prepare_dense(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        states: (&[f64], &[f64]),
        inverse_scale: &[f64],
    ) -> Result<(), Trouble> {
        self.is_halved = false;
        self.make_interpolant(cx, step, states.0)?;
        if self.depth >= MAX_HALVINGS {
            return Ok(());
        }
        let error = self.interpolant_error(cx, step, states, inverse_scale)?;
        if error > MAX_INTERPOLANT_ERROR {
            self.halve(cx, step, states.0, inverse_scale)?;
        }
        Ok(())
    }

    fn quadrature(&self, h: f64) -> StepQuadrature<'_> {
        StepQuadrature::Stages(Stages {
            h,
            rates: &self.rates,
            weights: &B,
            errors: [&E5, &E3],
        })
    }

    fn interpolate(&self, theta: f64, h: f64, y0: &[f64], y1: &[f64], out: &mut [f64]) {
        match &self.halves {
            Some(halves) if self.is_halved => interpolate_halves(halves, theta, h, y1, out),
            _ => self.interpolate_whole(theta, h, y0, y1, out),
        }
    }

    fn stiffness(&self) -> Option<Stiffness> {
        self.stiffness
    }
}

impl Dop853 {
    /// Three more stages, and the coefficients of the interpolant.
    fn make_interpolant(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        y0: &[f64],
    ) -> Result<(), Trouble> {
        let Span { t0, h, .. } = step;
        let [k1, _, _, _, _, k6, k7, k8, k9, k10, k11, k12, k13] = rows::<N_STAGES>(&mut self.k);
        self.dense.resize(7 * y0.len(), 0.0);
        let [k14, k15, k16, d4, d5, d6, d7] = rows::<7>(&mut self.dense);
        let g = &mut self.stage;
        combine(g, y0, h, A14, [k1, k7, k8, k9, k10, k11, k12, k13]);
        cx.rhs(t0 + C[13] * h, g, k14)?;
        combine(g, y0, h, A15, [k1, k6, k7, k8, k11, k12, k13, k14]);
        cx.rhs(t0 + C[14] * h, g, k15)?;
        combine(g, y0, h, A16, [k1, k6, k7, k8, k9, k13, k14, k15]);
        cx.rhs(t0 + C[15] * h, g, k16)?;
        let weighed: [&[f64]; 12] = [k1, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16];
        for (row, dense) in [D4, D5, D6, D7].into_iter().zip([d4, d5, d6, d7]) {
            for i in 0..dense.len() {
                let mut sum = 0.0;
                for j in 0..12 {
                    sum += row[j] * weighed[j][i];
                }
                dense[i] = h * sum;
            }
        }
        Ok(())
    }

    /// Size of the interpolant's own error at its peak, by the defect `u̇ − f(u)` at one point: its leading
    /// term has nearly the same course over the step whatever the equation. A step that stability limits,
    /// not accuracy, shows up, too: there the interpolant magnifies what is left of the fast modes.
    fn interpolant_error(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        (y0, y1): (&[f64], &[f64]),
        inverse_scale: &[f64],
    ) -> Result<f64, Trouble> {
        let Span { t0, h, .. } = step;
        let n = y0.len();
        let mut y = std::mem::take(&mut self.stage);
        self.interpolate_whole(DEFECT_AT, h, y0, y1, &mut y);
        // The error of the accepted step has been used; its place is free.
        let outcome = cx.rhs(t0 + DEFECT_AT * h, &y, &mut self.error3);
        self.stage = y;
        outcome?;
        let (f0, f1) = (&self.k[..n], &self.k[(N_STAGES - 1) * n..]);
        let dense = |row: usize| &self.dense[row * n..(row + 1) * n];
        let [d4, d5, d6, d7] = [3, 4, 5, 6].map(dense);
        let (theta, rest) = (DEFECT_AT, 1.0 - DEFECT_AT);
        for i in 0..n {
            let gap = y1[i] - y0[i];
            let bend = h * f0[i] - gap;
            let twist = gap - h * f1[i] - bend;
            // The nested products of the interpolant, from the inside out, each with its derivative by θ.
            let (p, dp) = (d6[i] + theta * d7[i], d7[i]);
            let (p, dp) = (d5[i] + rest * p, rest * dp - p);
            let (p, dp) = (d4[i] + theta * p, p + theta * dp);
            let (p, dp) = (twist + rest * p, rest * dp - p);
            let (p, dp) = (bend + theta * p, p + theta * dp);
            let (p, dp) = (gap + rest * p, rest * dp - p);
            let slope = p + theta * dp;
            self.error3[i] = (slope - h * self.error3[i]) / DEFECT_OVER_PEAK;
        }
        Ok(weighted_norm(&self.error3, inverse_scale))
    }

    /// Goes over the step once more in two halves, for reading only: the end of the step stays what it is.
    fn halve(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        y0: &[f64],
        inverse_scale: &[f64],
    ) -> Result<(), Trouble> {
        let n = y0.len();
        let depth = self.depth + 1;
        let halves = self
            .halves
            .get_or_insert_with(|| Box::new([Half::new(n, depth), Half::new(n, depth)]));
        let [left, right] = &mut **halves;
        let h = 0.5 * step.h;
        let middle = step.t0 + h;
        left.y0.copy_from_slice(y0);
        left.method.k[..n].copy_from_slice(&self.k[..n]);
        left.pass(
            cx,
            Span {
                t0: step.t0,
                t1: middle,
                h,
            },
            inverse_scale,
        )?;
        right.y0.copy_from_slice(&left.y1);
        let last = (N_STAGES - 1) * n;
        right.method.k[..n].copy_from_slice(&left.method.k[last..]);
        right.pass(
            cx,
            Span {
                t0: middle,
                t1: step.t1,
                h,
            },
            inverse_scale,
        )?;
        self.is_halved = true;
        Ok(())
    }

    fn interpolate_whole(&self, theta: f64, h: f64, y0: &[f64], y1: &[f64], out: &mut [f64]) {
        let rest = 1.0 - theta;
        let n = out.len();
        let (f0, f1) = (&self.k[..n], &self.k[(N_STAGES - 1) * n..]);
        let dense = |row: usize| &self.dense[row * n..(row + 1) * n];
        let [d4, d5, d6, d7] = [3, 4, 5, 6].map(dense);
        for i in 0..out.len() {
            let gap = y1[i] - y0[i];
            let bend = h * f0[i] - gap;
            let twist = gap - h * f1[i] - bend;
            let high = d4[i] + theta * (d5[i] + rest * (d6[i] + theta * d7[i]));
            out[i] = y0[i] + theta * (gap + rest * (bend + theta * (twist + rest * high)));
        }
    }
}

/// One half of a step that is gone over again.
struct Half {
    method: Dop853,
    y0: Vec<f64>,
    y1: Vec<f64>,
}

impl Half {
    fn new(n: usize, depth: usize) -> Self {
        Self {
            method: Dop853 {
                depth,
                ..Dop853::new(n, 0)
            },
            y0: vec![0.0; n],
            y1: vec![0.0; n],
        }
    }

    /// Makes the step from `y0` and its interpolant; the first stage is there.
    fn pass(
        &mut self,
        cx: &mut Context<'_>,
        step: Span,
        inverse_scale: &[f64],
    ) -> Result<(), Trouble> {
        let Self { method, y0, y1 } = self;
        method.attempt(cx, (step.t0, step.h), y0, y1)?;
        method.accept(cx, step, (y0, y1), false)?;
        method.prepare_dense(cx, step, (y0, y1), inverse_scale)
    }
}

/// Reads the half that `θ` lies in. The halves end a little beside the step's own end; the gap is spread over
/// the step without a kink.
fn interpolate_halves(halves: &[Half; 2], theta: f64, h: f64, y1: &[f64], out: &mut [f64]) {
    let [left, right] = halves;
    let (half, theta_of_half) = if theta < 0.5 {
        (left, 2.0 * theta)
    } else {
        (right, 2.0 * theta - 1.0)
    };
    half.method
        .interpolate(theta_of_half, 0.5 * h, &half.y0, &half.y1, out);
    let share = theta * theta * (3.0 - 2.0 * theta);
    for i in 0..out.len() {
        out[i] += share * (y1[i] - right.y1[i]);
    }
}
