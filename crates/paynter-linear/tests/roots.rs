//! Root loci and transfer functions against closed forms.

use paynter_linear::{Border, Channel, Complex, Matrix, root_locus, transfer};

/// 1/(s (s + 1) (s + 2)): stable up to k = 6, where it swings at √2.
#[test]
fn a_third_order_loop_ends_where_routh_says() {
    let open = Channel {
        a: Matrix::from_rows(&[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[0.0, -2.0, -3.0]]),
        b: vec![0.0, 0.0, 1.0],
        c: vec![1.0, 0.0, 0.0],
        d: vec![0.0],
    };
    let gains: Vec<f64> = (0..200).map(|k| 0.01 * 1.05_f64.powi(k)).collect();
    let locus = root_locus(&open, &gains, Border::Axis).expect("finite");
    let [(gain, pole)] = locus.crossings[..] else {
        panic!("{:?}", locus.crossings);
    };
    assert!((gain - 6.0).abs() < 1e-10, "{gain}");
    assert!((pole.im - 2.0_f64.sqrt()).abs() < 1e-10);
    for (k, &gain) in locus.gains.iter().enumerate() {
        for branch in &locus.branches {
            let s = branch[k];
            let left = s * (s + 1.0) * (s + 2.0) + gain;
            assert!(left.norm() < 1e-9 * (1.0 + gain), "{left:?}");
        }
    }
}

#[test]
fn a_series_circuit_has_the_quotient_of_the_textbook() {
    // i/V = (s/L)/(s² + R/L s + 1/(L C)) with R = 3, L = 0.5, C = 0.25; x = (q, i).
    let channel = Channel {
        a: Matrix::from_rows(&[&[0.0, 1.0], &[-8.0, -6.0]]),
        b: vec![0.0, 2.0],
        c: vec![0.0, 1.0],
        d: vec![0.0],
    };
    let g = transfer(&channel).expect("finite");
    let close = |a: &[f64], b: &[f64]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    };
    assert!(close(&g.numerator, &[2.0, 0.0]), "{:?}", g.numerator);
    assert!(
        close(&g.denominator, &[1.0, 6.0, 8.0]),
        "{:?}",
        g.denominator
    );
    assert_eq!(g.zeros, [Complex::new(0.0, 0.0)]);
}
