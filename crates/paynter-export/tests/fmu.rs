//! FMUs: what is in them, and what their functions do when they are called rightly and wrongly.
//!
//! `tests/fmu/check.py` has fmpy validate and simulate the gallery; here the sources are linked to a small importer and
//! run under sanitizers.

mod kit;

use kit::{design_of_text, has_compiler, work_folder};
use paynter_export::fmu::{Options, Version, write};
use std::process::Command;

const BALL: &str = "model Ball {
    param k = 0.8, h0 = 1 [m] in 0 [m] .. 100 [m]
    input wind = 0 [N]
    weight: Se(-9.81 + wind) -> body: 1 -> mass: I(1)
    der(h) = body.f
    when bounce: h < 0 and body.f < 0 { reinit mass.p = -k*mass.p }
    start h = h0
    output height = h, speed = body.f
}";

fn fmu(name: &str, text: &str, version: Version) -> paynter_export::fmu::Fmu {
    let export = paynter_export::export(&design_of_text(name, text)).expect("it can be exported");
    let options = Options {
        version,
        is_sources_only: true,
    };
    write(&export, &options).expect("it can be written")
}

fn attribute(description: &str, line: &str, name: &str) -> String {
    let line = description
        .lines()
        .find(|l| l.contains(line))
        .expect("the line is there");
    let rest = line
        .split(&format!(" {name}=\""))
        .nth(1)
        .expect("the attribute is there");
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// Links the sources of an FMU to an importer, runs it under sanitizers, and gives what it prints.
fn drive(
    name: &str,
    fmu: &paynter_export::fmu::Fmu,
    header: &str,
    driver: &str,
    defines: &[String],
) -> String {
    let folder = work_folder().join(format!("driven_{name}"));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("it can be written")
    };
    write(&format!("{name}.c"), &fmu.source);
    write(&format!("{name}.h"), header);
    write("driver.c", driver);
    let flags = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-O1",
        "-fsanitize=undefined,address",
    ];
    let output = Command::new("cc")
        .args(flags)
        .args(defines)
        .args([&format!("{name}.c"), "driver.c", "-o", "driver", "-lm"])
        .current_dir(&folder)
        .output()
        .expect("the compiler was found");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = Command::new(folder.join("driver"))
        .output()
        .expect("it was compiled for this machine");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && errors.is_empty(),
        "{printed}\n{errors}"
    );
    assert!(
        !printed.contains("ACCEPTED") && !printed.contains("ERROR"),
        "{printed}"
    );
    printed
}

/// The k-th word of the line that begins with this one.
fn number(printed: &str, word: &str, k: usize) -> f64 {
    let line = printed
        .lines()
        .find(|l| l.starts_with(word))
        .unwrap_or_else(|| panic!("no {word}:\n{printed}"));
    line.split_whitespace()
        .nth(k)
        .and_then(|w| w.parse().ok())
        .expect("a number")
}

fn header(name: &str, text: &str) -> String {
    let export = paynter_export::export(&design_of_text(name, text)).expect("it can be exported");
    paynter_export::c::write(&export, &paynter_export::c::Options::default()).header
}

#[test]
fn the_functions_of_the_standard_keep_their_promises() {
    if !has_compiler() {
        return;
    }
    let fmu = fmu("ball", BALL, Version::Two);
    let reference = |name: &str| {
        attribute(
            &fmu.description,
            &format!("name=\"{name}\""),
            "valueReference",
        )
    };
    let guid = attribute(&fmu.description, "<fmiModelDescription", "guid");
    let n_states = fmu.description.matches(" derivative=\"").count();
    let defines = [
        format!("-DGUID=\"{guid}\""),
        format!("-DPARAMETER={}", reference("h0")),
        format!("-DOUTPUT={}", reference("height")),
        format!("-DSTATE={}", reference("mass.p")),
        format!("-DRATE={}", reference("der(h)")),
        format!("-DN_STATES={n_states}"),
    ];
    let driver = include_str!("kit/driver2.c");
    let printed = drive("ball", &fmu, &header("ball", BALL), driver, &defines);
    let number = |word: &str, k: usize| number(&printed, word, k);
    // Free fall from 2 m, then up again with 0.8 of the speed.
    let (g, stop) = (9.81_f64, 1.5);
    let first = (4.0 / g).sqrt();
    let (up, left) = (0.8 * g * first, stop - first);
    let height = up * left - g * left * left / 2.0;
    assert!(
        (number("end", 1) - height).abs() < 1e-7,
        "{printed}instead of {height}"
    );
    assert_eq!(number("same", 1), 1.0);
    assert!(
        (number("slope", 1) - 1.0).abs() < 1e-12 && (number("slope", 2) - 1.0).abs() < 1e-6,
        "{printed}"
    );
    assert!((number("event", 1) - first).abs() < 5e-3, "{printed}");
}

/// A mass that a sampled integrator pulls at.
const SAMPLED: &str = "model Sampled {
    input aim = 1
    pull: Se(u) -> body: 1 -> mass: I(2), friction: R(1)
    sample at 10 [Hz] { u = pre(u) + 0.5*(aim - body.f) }
    output speed = body.f
}
experiment go of Sampled { stop = 3; record body.f as v, system.residual as residual }";

/// The speed at `stop`, tick by tick in closed form; the aim is another from `t = 1` on.
fn sampled_speed(stop: f64, later: f64) -> f64 {
    let (mut v, mut u, mut t) = (0.0_f64, 0.0, 0.0);
    for tick in 0.. {
        // The tick at the end of a communication step is part of it: what is set afterwards is seen by the next.
        let aim = if tick > 10 { later } else { 1.0 };
        u += 0.5 * (aim - v);
        let next = (f64::from(tick + 1) / 10.0).min(stop);
        v = u + (v - u) * f64::exp(-(next - t) / 2.0);
        t = next;
        if t >= stop {
            return v;
        }
    }
    unreachable!("the stop comes")
}

#[test]
fn an_fmu_of_fmi_3_ticks_looks_ahead_and_returns_early() {
    if !has_compiler() {
        return;
    }
    let fmu = fmu("sampled", SAMPLED, Version::Three);
    let reference = |name: &str| {
        attribute(
            &fmu.description,
            &format!("name=\"{name}\""),
            "valueReference",
        )
    };
    let clock = fmu.description.lines().find(|l| l.contains("<Clock "));
    assert!(
        clock.is_some_and(|l| l.contains("intervalVariability=\"triggered\"")),
        "{}",
        fmu.description
    );
    let token = attribute(
        &fmu.description,
        "<fmiModelDescription",
        "instantiationToken",
    );
    let n_states = fmu.description.matches(" derivative=\"").count();
    let defines = [
        format!("-DTOKEN=\"{token}\""),
        format!("-DINPUT={}", reference("aim")),
        format!("-DOUTPUT={}", reference("speed")),
        format!("-DRESIDUAL={}", reference("residual")),
        format!("-DCLOCK={}", reference("clocks[1]")),
        format!("-DN_STATES={n_states}"),
    ];
    let driver = include_str!("kit/driver3.c");
    let printed = drive(
        "sampled",
        &fmu,
        &header("sampled", SAMPLED),
        driver,
        &defines,
    );
    let number = |word: &str| number(&printed, word, 1);
    for (word, later) in [("fine", 1.0), ("whole", 1.0), ("changed", 2.0)] {
        let (got, wanted) = (number(word), sampled_speed(3.0, later));
        assert!(
            (got - wanted).abs() < 1e-8,
            "{word} instead of {wanted}:\n{printed}"
        );
    }
    assert_eq!(number("same"), 1.0);
    assert!(number("residual").abs() < 1e-7, "{printed}");
    assert_eq!(
        (number("early"), number("ticks")),
        (29.0, 10.0),
        "{printed}"
    );
}

/// Runs an FMU with its audit in `n` and in one communication steps; what it prints.
fn audited(name: &str, text: &str, output: &str, (stop, rtol, n): (f64, f64, usize)) -> String {
    let design = design_of_text(name, text);
    let export = paynter_export::export_audited(&design, &kit::choice()).expect("exported");
    assert!(export.audit.is_some(), "{:?}", export.warnings);
    let options = Options {
        version: Version::Two,
        is_sources_only: true,
    };
    let fmu = write(&export, &options).expect("it can be written");
    let d = &fmu.description;
    let reference = |name: &str| attribute(d, &format!("name=\"{name}\""), "valueReference");
    assert!(d.contains("name=\"system.residual\""), "{d}");
    let defines = [
        format!(
            "-DGUID=\"{}\"",
            attribute(d, "<fmiModelDescription", "guid")
        ),
        format!("-DOUTPUT={}", reference(output)),
        format!("-DRESIDUAL={}", reference("system.residual")),
        format!("-DSTOP={stop:?}"),
        format!("-DRTOL={rtol:?}"),
        format!("-DN={n}"),
    ];
    let files = paynter_export::c::write(&export, &paynter_export::c::Options::default());
    drive(
        name,
        &fmu,
        &files.header,
        include_str!("kit/steps2.c"),
        &defines,
    )
}

/// What bounces lose is the model's own; what the integration errs by is not, and grows with its tolerance.
#[test]
fn an_fmu_audits_its_own_integration() {
    if !has_compiler() {
        return;
    }
    let residual = |rtol: f64| {
        let printed = audited("ball", BALL, "height", (1.5, rtol, 30));
        number(&printed, "many", 2).abs()
    };
    // The ball has 9.81 J at first and loses a third of that in its first bounce.
    assert!(residual(1e-10) < 1e-7, "{}", residual(1e-10));

    let swing = "model Swing {
        s: Se(0) -> j: 1 -> m: I(1), k: C { e = sin(q) }, r: R(0.01)
        start k.q = 2
        output x = k.q
    }";
    let errs = |rtol: f64| {
        let printed = audited("swing", swing, "x", (60.0, rtol, 7));
        number(&printed, "one", 2).abs()
    };
    let (rough, fine) = (errs(1e-4), errs(1e-9));
    assert!(
        fine < 1e-7 && rough > 20.0 * fine && rough < 1e-2,
        "{rough} and {fine}"
    );
}

/// A stiff model takes hardly more steps where it is asked for a thousand points than where it is asked for one.
#[test]
fn stiff_steps_reach_over_communication_points() {
    if !has_compiler() {
        return;
    }
    // A fast valve before a slow tank: rates of 10⁵ and 1 per second, driven by a slow wave.
    let stiff = "model Stiff {
        s: Se(1 + sin(time)) -> j: 1 -> fast: I(1e-5), r: R(1)
        j -> n: 0 -> tank: C(1), leak: R(3)
        output level = tank.e
    }";
    let printed = audited("stiff", stiff, "level", (20.0, 1e-6, 2000));
    let (many, one) = (number(&printed, "many", 3), number(&printed, "one", 3));
    assert!(many < 1.5 * one + 20.0 && many < 1000.0, "{printed}");
    let (a, b) = (number(&printed, "many", 1), number(&printed, "one", 1));
    // A slow first-order lag within 10⁻⁴: x' = (u − x)·1 − x/3 with u = 1 + sin t.
    let w = 4.0_f64 / 3.0;
    let wave = (w * 20.0_f64.sin() - 20.0_f64.cos()) / (w * w + 1.0);
    let level = 0.75 + wave - (0.75 - 1.0 / (w * w + 1.0)) * (-w * 20.0).exp();
    assert!(
        (a - level).abs() < 1e-4 && (a - b).abs() < 1e-5,
        "{printed}{level}"
    );
}

#[test]
fn descriptions_say_what_the_model_says() {
    for version in [Version::Two, Version::Three] {
        let text = "model Motor {
            param R = 2 [ohm], Rk = 2*R, L = 1 [mH], km = 0.1 [V*s/rad]
            input u = 12 [V]
            src: Se(u) -> m: 1 -> l: I(L), r: R(Rk)
            m -> GY(km) -> shaft: 1 -> j: I(1e-4 [kg*m^2]), b: R(1e-5 [N*m*s/rad])
            speed [rpm] = shaft.f
            output speed
        }";
        let text = text
            .replace(
                "            output speed\n",
                "            output w [rpm] = shaft.f\n",
            )
            .replace("            speed [rpm] = shaft.f\n", "");
        let fmu = fmu("motor", &text, version);
        let d = &fmu.description;
        assert_eq!(attribute(d, "name=\"R\"", "causality"), "parameter");
        assert_eq!(
            attribute(d, "name=\"Rk\"", "causality"),
            "calculatedParameter"
        );
        assert_eq!(attribute(d, "name=\"u\"", "causality"), "input");
        assert_eq!(attribute(d, "name=\"w\"", "causality"), "output");
        assert!(d.contains("displayUnit=\"rpm\""), "{d}");
        assert!(
            d.contains("<BaseUnit kg=\"1\" m=\"2\" s=\"-3\" A=\"-2\"/>"),
            "{d}"
        );
        // The rate of the flux depends on both states and the input, that of the shaft on the states only.
        let [p, j] =
            ["l.p", "j.p"].map(|n| attribute(d, &format!("name=\"{n}\""), "valueReference"));
        let u = attribute(d, "name=\"u\"", "valueReference");
        let shift = usize::from(version == Version::Two);
        let list = |names: &[&String]| {
            let mut all: Vec<usize> = names
                .iter()
                .map(|r| r.parse::<usize>().expect("a number") + shift)
                .collect();
            all.sort_unstable();
            all.iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(
            d.contains(&format!("dependencies=\"{}\"", list(&[&p, &j, &u]))),
            "{d}"
        );
        assert!(
            d.contains(&format!("dependencies=\"{}\"", list(&[&p, &j]))),
            "{d}"
        );
        assert_eq!(&fmu.bytes[..4], b"PK\x03\x04");
        assert!(fmu.no_binary.is_some());
    }
}

#[test]
fn equal_models_give_equal_files() {
    let (a, b) = (
        fmu("ball", BALL, Version::Three),
        fmu("ball", BALL, Version::Three),
    );
    assert_eq!(a.bytes, b.bytes);
}
