//! Vectors, rotations and quaternions.
//!
//! In and out: plain arrays. A rotation takes the axes of a frame to those of the frame it is seen from.
//!
//! **Invariant:** products of rotations are rotations up to rounding.

/// Three numbers.
pub(super) type V = [f64; 3];
/// Three rows.
pub(super) type M = [[f64; 3]; 3];

/// No rotation.
pub(super) const ONE: M = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// R = Rz(yaw) Ry(pitch) Rx(roll), as URDF has it: about fixed axes, x first.
pub(super) fn of_angles([roll, pitch, yaw]: V) -> M {
    let ((sr, cr), (sp, cp), (sy, cy)) = (roll.sin_cos(), pitch.sin_cos(), yaw.sin_cos());
    [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
}

pub(super) fn transposed(m: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| m[j][i]))
}

pub(super) fn product(a: &M, b: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

pub(super) fn apply(m: &M, v: V) -> V {
    std::array::from_fn(|i| (0..3).map(|k| m[i][k] * v[k]).sum())
}

pub(super) fn add(a: V, b: V) -> V {
    std::array::from_fn(|i| a[i] + b[i])
}

/// The quaternion of a rotation, real part first and not negative; by its largest component (Shepperd 1978).
pub(super) fn quaternion(m: &M) -> [f64; 4] {
    let trace = m[0][0] + m[1][1] + m[2][2];
    let squares = [
        1.0 + trace,
        1.0 + 2.0 * m[0][0] - trace,
        1.0 + 2.0 * m[1][1] - trace,
        1.0 + 2.0 * m[2][2] - trace,
    ];

    let largest = (1..4).fold(
        0,
        |best, k| if squares[k] > squares[best] { k } else { best },
    );
    let products = match largest {
        0 => [
            squares[0],
            m[2][1] - m[1][2],
            m[0][2] - m[2][0],
            m[1][0] - m[0][1],
        ],
        1 => [
            m[2][1] - m[1][2],
            squares[1],
            m[0][1] + m[1][0],
            m[0][2] + m[2][0],
        ],
        2 => [
            m[0][2] - m[2][0],
            m[0][1] + m[1][0],
            squares[2],
            m[1][2] + m[2][1],
        ],
        _ => [
            m[1][0] - m[0][1],
            m[0][2] + m[2][0],
            m[1][2] + m[2][1],
            squares[3],
        ],
    };

    let scale = 0.5 / squares[largest].sqrt();
    let sign = if products[0] < 0.0 { -1.0 } else { 1.0 };
    products.map(|p| sign * scale * p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quaternion_gives_its_rotation_back() {
        for k in 0..40 {
            let angle = |n: u32| 6.0 * (f64::from(k * 3 + n) * 0.618).fract() - 3.0;
            let m = of_angles([angle(0), angle(1), angle(2)]);
            let [w, x, y, z] = quaternion(&m);
            let back = [
                [
                    w * w + x * x - y * y - z * z,
                    2.0 * (x * y - w * z),
                    2.0 * (x * z + w * y),
                ],
                [
                    2.0 * (x * y + w * z),
                    w * w - x * x + y * y - z * z,
                    2.0 * (y * z - w * x),
                ],
                [
                    2.0 * (x * z - w * y),
                    2.0 * (y * z + w * x),
                    w * w - x * x - y * y + z * z,
                ],
            ];
            for (a, b) in m.iter().flatten().zip(back.iter().flatten()) {
                assert!((a - b).abs() < 1e-14, "{m:?} {back:?}");
            }
        }
    }

    #[test]
    fn roll_comes_first() {
        // A quarter about x, then about z: y goes to z and stays there.
        let quarter = std::f64::consts::FRAC_PI_2;
        let y = apply(&of_angles([quarter, 0.0, quarter]), [0.0, 1.0, 0.0]);
        assert!((y[2] - 1.0).abs() < 1e-15);
    }
}
