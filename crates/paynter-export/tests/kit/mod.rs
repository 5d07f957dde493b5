//! What the tests of exported code share: models, a compiler, numbers.
#![allow(dead_code, reason = "each test uses a part")]

use paynter::exec::Machine;
use paynter::{Choice, Design, LinearChoice};
use paynter_export::{Export, c};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model and everything that its export is compared with.
pub struct Model {
    pub name: String,
    pub design: Design,
    pub export: Export,
    pub files: c::Files,
    pub machine: Machine,
    pub start: Vec<f64>,
    /// What C and interpreter may differ by, relative.
    pub tolerance: f64,
}

/// A folder for what the tests make.
pub fn work_folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("paynter-export-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    folder
}

pub fn choice() -> Choice {
    Choice {
        linear: Some(LinearChoice::default()),
        ..Choice::default()
    }
}

pub fn design_of_text(name: &str, text: &str) -> Design {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = work_folder().join(format!("{name}{number}.bond"));
    std::fs::write(&path, text).expect("it can be written");
    design_of_file(&path)
}

pub fn design_of_file(path: &Path) -> Design {
    match paynter::design(path, &choice()) {
        Ok(design) => design,
        Err(error) => panic!("{}: {error:?}", path.display()),
    }
}

impl Model {
    pub fn of_text(name: &str, text: &str) -> Model {
        Model::new(name, design_of_text(name, text), false)
    }

    pub fn of_text_with(name: &str, text: &str, is_float: bool) -> Model {
        Model::new(name, design_of_text(name, text), is_float)
    }

    pub fn of_gallery(name: &str) -> Model {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
        let design = design_of_file(&root.join(name).join(format!("{name}.bond")));
        Model::new(name, design, false)
    }

    fn new(name: &str, design: Design, is_float: bool) -> Model {
        let export = match paynter_export::export(&design) {
            Ok(export) => export,
            Err(messages) => panic!("{name}: {messages:?}"),
        };
        let options = c::Options {
            is_float,
            prefix: Some(name.to_owned()),
        };
        let files = c::write(&export, &options);
        let compiled = design.compile().expect("it was compiled before");
        let driven = paynter::driven::drive(&design, &compiled).expect("it was driven before");
        let wanted = paynter_export::wanted_expressions(&design);
        let (machine, start) = paynter::driven::machine_for_export(&design, &driven, &wanted)
            .expect("it was made before");
        let has_blocks = export.program.blocks.iter().any(|b| b.0 > 0);
        Model {
            name: name.to_owned(),
            design,
            export,
            files,
            machine,
            start: start.y0,
            tolerance: if has_blocks { 1e-10 } else { 1e-14 },
        }
    }
}

/// Tells whether exported code can be compiled here.
pub fn has_compiler() -> bool {
    let found = Command::new("cc").arg("--version").output().is_ok();
    let is_needed = std::env::var_os("PAYNTER_NEEDS_CC").is_some();
    assert!(found || !is_needed, "no C compiler");
    if !found {
        eprintln!("no C compiler: exported code was not compiled");
    }
    found
}

/// A program that was compiled.
pub struct Program(PathBuf);

impl Program {
    pub fn run(&self) -> String {
        let output = Command::new(&self.0)
            .output()
            .expect("it was compiled for this machine");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{printed}\n{errors}");
        assert!(errors.is_empty(), "a sanitizer complains:\n{errors}");
        printed
    }

    pub fn numbers(&self) -> Vec<f64> {
        let printed = self.run();
        let words = printed.split_whitespace();
        words.map(|w| w.parse().expect("a number")).collect()
    }
}

/// Compiles a model with a main program, with all warnings as errors and with sanitizers.
pub fn compile(model: &Model, main: &str) -> Program {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = work_folder().join(format!("{}{number}", model.name));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let prefix = &model.files.prefix;
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("it can be written")
    };
    write(&format!("{prefix}.c"), &model.files.source);
    write(&format!("{prefix}.h"), &model.files.header);
    write("main.c", main);
    let flags = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pedantic",
        "-O1",
        "-fsanitize=undefined,address",
    ];
    let output = Command::new("cc")
        .args(flags)
        .args([&format!("{prefix}.c"), "main.c", "-o", "main", "-lm"])
        .current_dir(&folder)
        .output()
        .expect("the compiler was found");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", model.name);
    Program(folder.join("main"))
}

/// Numbers from −1 to 1 (splitmix64).
pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// Voltage of the capacitor of the circuit of the README at a time, from small steps of its two equations.
pub fn circuit_at(t: f64, r1: f64) -> f64 {
    let rate = |t: f64, [q, p]: [f64; 2]| {
        let (v, i) = (q / 100e-6, p / 0.1);
        let u = 10.0 * (100.0 * std::f64::consts::PI * t).sin();
        [(u - v) / r1 - i, v - 10.0 * i]
    };
    let n = 20_000;
    let h = t / n as f64;
    let mut y = [0.0, 0.0];
    for k in 0..n {
        let at = k as f64 * h;
        // Heun's method: an error of h², far below what is asked for.
        let a = rate(at, y);
        let b = rate(at + h, [y[0] + h * a[0], y[1] + h * a[1]]);
        y = [
            y[0] + h / 2.0 * (a[0] + b[0]),
            y[1] + h / 2.0 * (a[1] + b[1]),
        ];
    }
    y[0] / 100e-6
}
