//! Lagrange's equations without symbols: complex steps and exact differences.
//!
//! In:  L(q, q̇, t), quadratic in q̇, forces, and constraints linear in q̇.
//! Out: accelerations and motions.

use std::ops::{Add, Div, Mul, Sub};

/// A complex number: all that a complex step needs.
#[derive(Clone, Copy, Debug)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

/// A real number.
pub fn c(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

impl Add for Complex {
    type Output = Complex;
    fn add(self, o: Complex) -> Complex {
        Complex {
            re: self.re + o.re,
            im: self.im + o.im,
        }
    }
}

impl Sub for Complex {
    type Output = Complex;
    fn sub(self, o: Complex) -> Complex {
        Complex {
            re: self.re - o.re,
            im: self.im - o.im,
        }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, o: Complex) -> Complex {
        Complex {
            re: self.re * o.re - self.im * o.im,
            im: self.re * o.im + self.im * o.re,
        }
    }
}

impl Div for Complex {
    type Output = Complex;
    fn div(self, o: Complex) -> Complex {
        let size = o.re * o.re + o.im * o.im;
        self * Complex {
            re: o.re / size,
            im: -o.im / size,
        }
    }
}

impl Complex {
    pub fn sin(self) -> Complex {
        Complex {
            re: self.re.sin() * self.im.cosh(),
            im: self.re.cos() * self.im.sinh(),
        }
    }

    pub fn cos(self) -> Complex {
        Complex {
            re: self.re.cos() * self.im.cosh(),
            im: -self.re.sin() * self.im.sinh(),
        }
    }
}

/// Small enough that its square is nothing beside 1, and no difference is taken that could round.
const STEP: f64 = 1e-30;

type Scalar<'a> = Box<dyn Fn(&[Complex], &[Complex], Complex) -> Complex + 'a>;
type Forces<'a> = Box<dyn Fn(&[f64], &[f64], f64) -> Vec<f64> + 'a>;
type Constraints<'a> = Box<dyn Fn(&[Complex], &[Complex]) -> Vec<Complex> + 'a>;

/// A mechanical system.
pub struct System<'a> {
    /// Number of coordinates.
    pub n: usize,
    pub lagrangian: Scalar<'a>,
    pub forces: Forces<'a>,
    /// What must be zero, linear in q̇ without a constant.
    pub constraints: Constraints<'a>,
}

impl System<'_> {
    /// ∂L/∂q̇_i, exact for an L that is quadratic in q̇.
    fn momentum(&self, q: &[Complex], v: &[Complex], t: Complex, i: usize) -> Complex {
        let shifted = |by: f64| {
            let mut v = v.to_vec();
            v[i] = v[i] + c(by);
            (self.lagrangian)(q, &v, t)
        };
        (shifted(1.0) - shifted(-1.0)) * c(0.5)
    }

    /// Accelerations: M q̈ + λ a = b, a q̈ = −ȧ q̇.
    pub fn accelerations(&self, q: &[f64], v: &[f64], t: f64) -> Vec<f64> {
        let n = self.n;
        let real = |x: &[f64]| x.iter().map(|&x| c(x)).collect::<Vec<_>>();
        let (qc, vc) = (real(q), real(v));
        let m = (self.constraints)(&qc, &vc).len();
        let size = n + m;
        let mut matrix = vec![vec![0.0; size + 1]; size];
        let forces = (self.forces)(q, v, t);
        // Along the motion with q̈ = 0.
        let along: Vec<Complex> = (0..n)
            .map(|i| Complex {
                re: q[i],
                im: STEP * v[i],
            })
            .collect();
        let time = Complex { re: t, im: STEP };
        for i in 0..n {
            let drift = self.momentum(&along, &vc, time, i).im / STEP;
            let mut place = qc.clone();
            place[i].im = STEP;
            let slope = (self.lagrangian)(&place, &vc, c(t)).im / STEP;
            matrix[i][size] = slope - drift + forces[i];
            for j in 0..n {
                let mut unit = vc.clone();
                unit[j] = unit[j] + c(1.0);
                let change = self.momentum(&qc, &unit, c(t), i) - self.momentum(&qc, &vc, c(t), i);
                matrix[i][j] = change.re;
            }
        }
        for k in 0..m {
            for j in 0..n {
                let mut unit = vec![c(0.0); n];
                unit[j] = c(1.0);
                let a = (self.constraints)(&qc, &unit)[k].re;
                matrix[n + k][j] = a;
                matrix[j][n + k] = a;
            }
            matrix[n + k][size] = -(self.constraints)(&along, &vc)[k].im / STEP;
        }
        let mut solution = solve(matrix);
        solution.truncate(n);
        solution
    }

    /// Positions and velocities after a time, by classical Runge–Kutta steps.
    pub fn integrate(
        &self,
        mut q: Vec<f64>,
        mut v: Vec<f64>,
        until: f64,
        n_steps: usize,
    ) -> (Vec<f64>, Vec<f64>) {
        let h = until / n_steps as f64;
        let plus = |x: &[f64], by: f64, d: &[f64]| -> Vec<f64> {
            x.iter().zip(d).map(|(x, d)| x + by * d).collect()
        };
        for k in 0..n_steps {
            let t = k as f64 * h;
            let a1 = self.accelerations(&q, &v, t);
            let (q2, v2) = (plus(&q, h / 2.0, &v), plus(&v, h / 2.0, &a1));
            let a2 = self.accelerations(&q2, &v2, t + h / 2.0);
            let (q3, v3) = (plus(&q, h / 2.0, &v2), plus(&v, h / 2.0, &a2));
            let a3 = self.accelerations(&q3, &v3, t + h / 2.0);
            let (q4, v4) = (plus(&q, h, &v3), plus(&v, h, &a3));
            let a4 = self.accelerations(&q4, &v4, t + h);
            for i in 0..self.n {
                q[i] += h / 6.0 * (v[i] + 2.0 * v2[i] + 2.0 * v3[i] + v4[i]);
                v[i] += h / 6.0 * (a1[i] + 2.0 * a2[i] + 2.0 * a3[i] + a4[i]);
            }
        }
        (q, v)
    }
}

/// Solves a linear system, its right side in the last column, by elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        a.swap(k, pivot.expect("some row is left"));
        let row = a[k].clone();
        for other in a.iter_mut().skip(k + 1) {
            let factor = other[k] / row[k];
            for (x, y) in other.iter_mut().zip(&row).skip(k) {
                *x -= factor * y;
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][n] - known) / a[k][k];
    }
    x
}
