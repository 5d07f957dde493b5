//! Results as binary frames, with as many points as there are pixels.
//!
//! In:  curves of any length, the span of time that is looked at, and its width in pixels.
//! Out: u32 length of the head (little endian), the head as JSON, filled up to 8 bytes, then x and y of each
//!      series as 64-bit floats.
//!
//! **Invariant:** every point sent is a point of the curve; a peak is never lost, however narrow.

use paynter::draw::thin::extremes_of;
use paynter::scene::Film;
use serde_json::{Value, json};

/// A curve to be sent.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// Ascending, but for phase plots.
    pub x: Vec<f64>,
    /// As many.
    pub y: Vec<f64>,
}

/// Points per pixel: the lowest and the highest of each of two columns.
const POINTS_PER_PIXEL: usize = 4;

/// Writes a frame.
pub fn frame(head: &Value, curves: &[Curve]) -> Vec<u8> {
    let text = head.to_string();
    let n_points: usize = curves.iter().map(|c| c.x.len() + c.y.len()).sum();
    let mut bytes = Vec::with_capacity(16 + text.len() + 8 * n_points);
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
    while bytes.len() % 8 != 0 {
        bytes.push(b' ');
    }
    for curve in curves {
        for value in curve.x.iter().chain(&curve.y) {
            bytes.extend(value.to_le_bytes());
        }
    }
    bytes
}

/// Writes the film of a file's bodies: time, then its columns.
pub fn film_frame(film: Film, path: &str) -> Vec<u8> {
    let mut head = film.head;
    head["purpose"] = json!("scene");
    head["path"] = json!(path);
    head["panels"] = json!([]);
    let column = |values: Vec<f64>| Curve {
        x: values,
        y: Vec::new(),
    };
    let all = std::iter::once(film.time).chain(film.columns);
    let curves: Vec<Curve> = all.map(column).collect();
    frame(&head, &curves)
}

/// The points of a curve over time that are seen between two times: with one more at each side, so that the
/// line runs out of the picture, and thinned to the pixels there are.
pub fn seen(curve: &Curve, range: Option<(f64, f64)>, width: usize) -> Curve {
    let n = curve.x.len().min(curve.y.len());
    let (first, last) = match range {
        Some((from, to)) => {
            let first = curve.x[..n]
                .partition_point(|&x| x < from)
                .saturating_sub(1);
            let last = curve.x[..n]
                .partition_point(|&x| x <= to)
                .saturating_add(1)
                .min(n);
            (first.min(last), last)
        }
        None => (0, n),
    };
    thin(
        &curve.x[first..last],
        &curve.y[first..last],
        POINTS_PER_PIXEL * width.max(50),
    )
}

/// Keeps the lowest and the highest point of each of many bins, and both ends.
fn thin(x: &[f64], y: &[f64], max_points: usize) -> Curve {
    let n = x.len();
    if n <= max_points {
        return Curve {
            x: x.to_vec(),
            y: y.to_vec(),
        };
    }
    let kept = extremes_of(&y[..n], max_points);
    Curve {
        x: kept.iter().map(|&i| x[i]).collect(),
        y: kept.iter().map(|&i| y[i]).collect(),
    }
}

/// Every so manieth point of a curve that is not over time.
pub fn strided(curve: &Curve, max_points: usize) -> Curve {
    let step = curve.x.len().div_ceil(max_points.max(1)).max(1);
    let every = |v: &[f64]| v.iter().step_by(step).copied().collect();
    Curve {
        x: every(&curve.x),
        y: every(&curve.y),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_in_a_million_points_is_kept() {
        let n = 1_000_000;
        let mut curve = Curve {
            x: (0..n).map(|i| i as f64).collect(),
            y: vec![0.0; n],
        };
        curve.y[123_457] = 7.0;
        let thin = seen(&curve, None, 800);
        assert!(
            thin.x.len() <= POINTS_PER_PIXEL * 800 + 2,
            "{}",
            thin.x.len()
        );
        assert!(thin.y.contains(&7.0));
        assert_eq!((thin.x[0], thin.x[thin.x.len() - 1]), (0.0, (n - 1) as f64));
        let near = seen(&curve, Some((123_450.5, 123_460.5)), 800);
        assert_eq!((near.x[0], near.x.len()), (123_450.0, 12));
    }

    #[test]
    fn a_range_outside_of_the_run_gives_no_wild_points() {
        let curve = Curve {
            x: vec![0.0, 1.0],
            y: vec![2.0, 3.0],
        };
        assert!(seen(&curve, Some((5.0, 6.0)), 100).x.len() <= 1);
        assert!(seen(&Curve::default(), Some((0.0, 1.0)), 100).x.is_empty());
    }

    #[test]
    fn columns_begin_at_a_multiple_of_eight() {
        let bytes = frame(
            &serde_json::json!({"a": "θ"}),
            &[Curve {
                x: vec![1.0],
                y: vec![2.0],
            }],
        );
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        let start = (4 + length).div_ceil(8) * 8;
        assert_eq!(&bytes[start..start + 8], 1.0_f64.to_le_bytes());
        assert_eq!(bytes.len(), start + 16);
    }
}
