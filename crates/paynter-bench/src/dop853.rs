//! The Runge–Kutta method 8(5,3) of Dormand and Prince, written by hand for N variables and nothing else.
//!
//! In:  a function, a start, a tolerance.
//! Out: the end, and the work done. No events, no dense output, no observers: what a careful
//!      programmer would write for one problem, and what the general solver is measured against.
//!
//! Coefficients as in Hairer, Nørsett & Wanner, *Solving ODEs I*, §II.5; the comment is the stage.

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

/// What a run gave.
#[derive(Clone, Copy, Debug)]
pub struct End<const N: usize> {
    /// Values at the end.
    pub y: [f64; N],
    /// Accepted steps.
    pub steps: usize,
    /// Evaluations.
    pub rhs: usize,
}

fn combine<const N: usize, const M: usize>(
    y: &[f64; N],
    h: f64,
    weights: &[f64; M],
    stages: [&[f64; N]; M],
) -> [f64; N] {
    let mut out = *y;
    for i in 0..N {
        let mut sum = 0.0;
        for j in 0..M {
            sum += weights[j] * stages[j][i];
        }
        out[i] += h * sum;
    }
    out
}

/// Integrates from `t` to `end` with error `atol + rtol |y|` per step.
pub fn dop853<const N: usize>(
    f: impl Fn(f64, &[f64; N]) -> [f64; N],
    (mut t, end): (f64, f64),
    mut y: [f64; N],
    (rtol, atol): (f64, f64),
) -> End<N> {
    let mut k1 = f(t, &y);
    let mut h = 0.01 * (end - t);
    let (mut steps, mut rhs) = (0, 1);
    while t < end {
        h = h.min(end - t);
        let k2 = f(t + 0.05260015195876773 * h, &combine(&y, h, &A2, [&k1]));
        let k3 = f(t + 0.0789002279381516 * h, &combine(&y, h, &A3, [&k1, &k2]));
        let k4 = f(t + 0.1183503419072274 * h, &combine(&y, h, &A4, [&k1, &k3]));
        let g = combine(&y, h, &A5, [&k1, &k3, &k4]);
        let k5 = f(t + 0.2816496580927726 * h, &g);
        let g = combine(&y, h, &A6, [&k1, &k4, &k5]);
        let k6 = f(t + h / 3.0, &g);
        let g = combine(&y, h, &A7, [&k1, &k4, &k5, &k6]);
        let k7 = f(t + 0.25 * h, &g);
        let g = combine(&y, h, &A8, [&k1, &k4, &k5, &k6, &k7]);
        let k8 = f(t + 0.3076923076923077 * h, &g);
        let g = combine(&y, h, &A9, [&k1, &k4, &k5, &k6, &k7, &k8]);
        let k9 = f(t + 0.6512820512820513 * h, &g);
        let g = combine(&y, h, &A10, [&k1, &k4, &k5, &k6, &k7, &k8, &k9]);
        let k10 = f(t + 0.6 * h, &g);
        let g = combine(&y, h, &A11, [&k1, &k4, &k5, &k6, &k7, &k8, &k9, &k10]);
        let k11 = f(t + 0.8571428571428571 * h, &g);
        let g = combine(&y, h, &A12, [&k1, &k4, &k5, &k6, &k7, &k8, &k9, &k10, &k11]);
        let k12 = f(t + h, &g);
        let last = [&k1, &k6, &k7, &k8, &k9, &k10, &k11, &k12];
        let y1 = combine(&y, h, &B, last);
        let (mut sum5, mut sum3) = (0.0, 0.0);
        for i in 0..N {
            let scale = atol + rtol * y[i].abs().max(y1[i].abs());
            let (mut e5, mut e3) = (0.0, 0.0);
            for j in 0..8 {
                e5 += E5[j] * last[j][i];
                e3 += E3[j] * last[j][i];
            }
            sum5 += (e5 / scale).powi(2);
            sum3 += (e3 / scale).powi(2);
        }
        rhs += 11;
        let blend = sum5 + 0.01 * sum3;
        let error = if blend > 0.0 {
            h * sum5 / (blend * N as f64).sqrt()
        } else {
            0.0
        };
        let factor = (0.9 * error.powf(-0.125)).clamp(0.333, 6.0);
        if error <= 1.0 {
            t += h;
            y = y1;
            k1 = f(t, &y);
            rhs += 1;
            steps += 1;
        }
        h *= factor;
    }
    End { y, steps, rhs }
}
