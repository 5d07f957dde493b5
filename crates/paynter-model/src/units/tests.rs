//! Facts about units.

use std::f64::consts::PI;

use super::*;

fn unit(text: &str) -> Unit {
    Unit::parse_text(text).expect("the unit is good")
}

fn wrong(text: &str) -> UnitError {
    Unit::parse_text(text).expect_err("the unit is wrong")
}

#[test]
fn factors_have_all_their_digits() {
    // NIST SP 811 appendix B.8, or exact by definition; the decimal literal is rounded once.
    for (text, factor) in [
        ("ft", 0.3048),
        ("in", 0.0254),
        ("mi", 1609.344),
        ("lbm", 0.453_592_37),
        ("lbf", 4.448_221_615_260_5),
        ("slug", 14.593_902_937_206_364),
        ("psi", 6_894.757_293_168_362),
        ("gal", 0.003_785_411_784),
        ("hp", 745.699_871_582_270_2),
        ("mph", 0.447_04),
        ("oz", 0.028_349_523_125),
        ("slug/ft^3", 515.378_818_393_196_2),
        ("rpm", 0.104_719_755_119_659_77),
        ("deg", 0.017_453_292_519_943_295),
        ("bar", 1e5),
        ("L/min", 0.000_016_666_666_666_666_667),
        ("km/h", 0.277_777_777_777_777_8),
        ("eV", 1.602_176_634e-19),
        ("kWh", 3.6e6),
        ("uF", 1e-6),
        ("mm^3", 1e-9),
        ("kg", 1.0),
        ("mg", 1e-6),
        ("%", 0.01),
    ] {
        let found = unit(text).factor;
        // Two roundings at most, each half a unit in the last place.
        assert!(
            (found / factor - 1.0).abs() <= 2.0 * f64::EPSILON,
            "{text}: {found} {factor}"
        );
    }
}

#[test]
fn a_typed_number_is_rounded_once() {
    assert_eq!(unit("uF").to_si(10.0), 1e-5);
    assert_eq!(unit("mH").to_si(0.6), 6e-4);
    assert_eq!(unit("mm").to_si(5.0), 0.005);
    assert_eq!(unit("degC").to_si(20.0), 293.15);
    assert_eq!(unit("degF").to_si(212.0), 373.15);
    assert_eq!(unit("degF").to_si(-40.0), unit("degC").to_si(-40.0));
}

#[test]
fn newton_metre_per_degree_is_57_times_that_per_radian() {
    let ratio = unit("N*m/deg").to_si(334.0) / unit("N*m/rad").to_si(334.0);
    assert!((ratio - 180.0 / PI).abs() < 1e-13);
}

#[test]
fn whole_names_win_over_prefixes() {
    assert_eq!(unit("min").dimension, Dimension::TIME);
    assert_eq!(unit("min").factor, 60.0);
    assert_eq!(unit("ft").dimension, Dimension::LENGTH);
    assert_eq!(unit("cd").dimension, Dimension::LUMINOUS_INTENSITY);
    assert_eq!(unit("Pa").dimension, Dimension::PRESSURE);
    assert_eq!(unit("T").dimension, Dimension::si(1, 0, -2, -1));
    assert_eq!(unit("h").factor, 3600.0);
    assert_eq!(unit("m").factor, 1.0);
    assert_eq!(unit("mm").factor, 1e-3);
    assert_eq!(unit("mmol").dimension, Dimension::AMOUNT);
    assert_eq!(unit("dam").factor, 10.0);
    assert_eq!(
        unit("\u{b5}F"),
        Unit {
            text: "\u{b5}F".to_owned(),
            ..unit("uF")
        }
    );
    assert_eq!(unit("k\u{3a9}").factor, 1e3);
}

#[test]
fn units_without_prefixes_take_none() {
    for text in ["kmin", "mft", "kdeg", "mh", "kpsi", "mdegC", "kdB", "mrpm"] {
        assert!(Unit::parse_text(text).is_err(), "{text}");
    }
}

#[test]
fn the_pound_force_moves_a_slug() {
    let product = unit("slug*ft/s^2");
    assert_eq!(product.dimension, Dimension::FORCE);
    assert!((product.factor / unit("lbf").factor - 1.0).abs() <= 2.0 * f64::EPSILON);
}

#[test]
fn values_survive_the_way_there_and_back() {
    for text in [
        "degF",
        "degC",
        "psi",
        "N*m/deg",
        "rpm",
        "slug/ft^3",
        "%",
        "Hz^(1/2)",
        "uV",
    ] {
        let unit = unit(text);
        for value in [-459.0, -1.5, 0.1, 3.0, 1234.5] {
            let back = unit.from_si(unit.to_si(value));
            // Offsets are of the size of 460 degrees, which sets the rounding.
            assert!(
                (back - value).abs() <= 1e-12 * value.abs().max(500.0),
                "{text} {value}"
            );
        }
    }
}

#[test]
fn a_product_prints_as_it_is_typed() {
    for text in [
        "kg*m^2/s^2",
        "J/(kg*K)",
        "1/s",
        "1/(s*K)",
        "N*m/deg",
        "m^(3/2)",
        "1",
    ] {
        assert_eq!(unit(text).text, text);
    }
    assert_eq!(unit("N*m*s/rad").dimension.to_string(), "kg*m^2/s");
    assert_eq!(unit("V/A").dimension.describe(), "ohm");
    assert_eq!(unit("Hz^(1/2)").dimension.to_string(), "1/s^(1/2)");
    assert_eq!(Dimension::ONE.to_string(), "1");
}

#[test]
fn dimensions_multiply_divide_and_take_roots() {
    let d = |text: &str| unit(text).dimension;
    assert_eq!(d("V").times(d("A")), d("W"));
    assert_eq!(d("Pa").times(d("m^3/s")), d("W"));
    assert_eq!(d("N*m").per(d("kg*m^2")).sqrt(), d("1/s"));
    assert_eq!(d("m").powf(1.5), Some(d("m^(3/2)")));
    assert_eq!(d("m").powf(1.0 / 3.0), Some(d("m").pow(1, 3)));
    assert_eq!(d("m").powf(std::f64::consts::E), None);
    assert_eq!(
        Dimension::ONE.powf(std::f64::consts::E),
        Some(Dimension::ONE)
    );
    // Saturation: nonsense in, no panic.
    let mut huge = d("m");
    for _ in 0..100 {
        huge = huge.times(huge).pow(7, 11);
    }
    assert_ne!(huge, Dimension::ONE);
}

#[test]
fn every_dimension_has_a_coherent_unit() {
    for text in [
        "N*m",
        "kg*m^2/s",
        "1",
        "dB",
        "J/mol",
        "m^(1/2)*K^3/cd",
        "V*s",
        "rad/s",
    ] {
        let given = unit(text);
        let shown = given.dimension.unit();
        assert_eq!(shown.dimension, given.dimension, "{text}");
        assert_eq!(shown.factor, 1.0, "{text}");
    }
}

#[test]
fn values_are_shown_in_their_unit() {
    assert_eq!(unit("deg").format(unit("deg").to_si(5.0)), "5 deg");
    assert_eq!(unit("mm").format(0.0254), "25.4 mm");
    assert_eq!(unit("1").format(0.5), "0.5");
    assert_eq!(unit("Pa").format(1e12), "1e12 Pa");
}

#[test]
fn wrong_units_are_told_with_the_right_one() {
    for (text, help) in [
        ("Nm", Some("write `N*m`")),
        ("lb", Some("write `lbf` for force or `lbm` for mass")),
        ("Ohm", Some("did you mean `ohm`?")),
        ("hz", Some("did you mean `Hz`?")),
        ("RPM", Some("did you mean `rpm`?")),
        ("sec", Some("seconds are `s`")),
        ("gpm", Some("write `gal/min`")),
        ("degrees", Some("write `deg`")),
        ("kmps", None),
        ("slgu", Some("did you mean `slug`?")),
        ("parsnip", None),
    ] {
        let error = wrong(text);
        assert!(matches!(&error.kind, UnitErrorKind::Unknown(name) if name == text));
        if help.is_some() {
            assert_eq!(error.suggestion.as_deref(), help, "{text}");
        }
    }
    // As the parser of models reads them.
    for (text, help) in [("s2", "s^2"), ("mm3", "mm^3"), ("s²", "s^2")] {
        let told = super::table::suggest(text);
        assert_eq!(told, Some(format!("write `{help}`")));
    }
    for text in ["W/degC", "degF^2", "degC*m", "V*dB", "1/degC"] {
        assert!(
            matches!(wrong(text).kind, UnitErrorKind::NotAlone(_)),
            "{text}"
        );
        assert!(wrong(text).suggestion.is_some());
    }
    assert!(matches!(wrong("m^1000").kind, UnitErrorKind::Exponent(_)));
    for text in ["m)", "m^", "2*m", "m^(1/0)", "m^(1/2", "(m", "#"] {
        let _ = Unit::parse_text(text);
    }
}

#[test]
fn a_level_is_no_plain_number() {
    assert_ne!(unit("dB").dimension, Dimension::ONE);
    assert_eq!(unit("dB").to_si(3.0), 3.0);
    assert_eq!(unit("dB").dimension.describe(), "dB");
}
