//! `paynter export` as a user meets it: files, exit status, messages.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

const MODEL: &str = "model Motor {
    param R = 2 [ohm]
    input u = 12 [V]
    src: Se(u) -> m: 1 -> l: I(1 [mH]), r: R(R)
    output i = m.f
}
model Rectifier {
    src: Se(10*sin(100*time)) -> m: 1 -> d: D()
    m -> l: I(0.1), r: R(10)
}
";

struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("paynter-cli-export-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        std::fs::write(path.join("m.bond"), MODEL).expect("the folder was just made");
        Folder(path)
    }

    fn call(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_paynter"))
            .args(args)
            .env("CC", "/nowhere/cc")
            .current_dir(&self.0)
            .output()
            .expect("the command was built")
    }

    #[track_caller]
    fn expect(&self, status: i32, args: &[&str]) -> String {
        let output = self.call(args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{args:?}\n{errors}");
        errors
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_named_after_the_model_or_as_asked() {
    let folder = Folder::new();
    folder.expect(0, &["export", "c", "m.bond", "--model", "Motor"]);
    assert!(folder.has("motor.c") && folder.has("motor.h"));
    // Its own files may be written again, those of others not.
    folder.expect(0, &["export", "c", "m.bond", "--model", "Motor"]);
    std::fs::write(folder.0.join("motor.h"), "mine").expect("it can be written");
    let errors = folder.expect(2, &["export", "c", "m.bond", "--model", "Motor"]);
    assert!(errors.contains("was not made by paynter"), "{errors}");
    folder.expect(
        0,
        &[
            "export", "c", "m.bond", "--model", "Motor", "--out", "drive.c", "--float",
        ],
    );
    let text = std::fs::read_to_string(folder.0.join("drive.h")).expect("it was written");
    assert!(text.contains("typedef float drive_real;"), "{text}");
}

#[test]
fn without_a_compiler_an_fmu_has_sources_and_says_so() {
    let folder = Folder::new();
    for version in ["2", "3"] {
        let args = [
            "export", "fmu", "m.bond", "--model", "Motor", "--fmi", version, "--out", "a.fmu",
        ];
        let errors = folder.expect(0, &args);
        assert!(errors.contains("sources and no binary"), "{errors}");
        assert!(errors.contains("/nowhere/cc"), "{errors}");
        let bytes = std::fs::read(folder.0.join("a.fmu")).expect("it was written");
        assert_eq!(&bytes[..2], b"PK");
    }
}

#[test]
fn wrong_calls_and_models_are_refused() {
    let folder = Folder::new();
    let errors = folder.expect(1, &["export", "c", "m.bond", "--model", "Rectifier"]);
    assert!(errors.contains("E0870"), "{errors}");
    assert!(!folder.has("rectifier.c"));
    folder.expect(2, &["export", "fmu", "m.bond", "--fmi", "4"]);
    folder.expect(
        2,
        &["export", "fmu", "m.bond", "--model", "Motor", "--float"],
    );
    folder.expect(2, &["export", "java", "m.bond"]);
    folder.expect(2, &["export", "c", "none.bond"]);
    folder.expect(
        2,
        &[
            "export", "c", "m.bond", "--model", "Motor", "--out", "m.txt",
        ],
    );
    folder.expect(
        2,
        &[
            "export", "c", "m.bond", "--model", "Motor", "--out", "m.bond",
        ],
    );
    assert!(folder.expect(0, &["explain", "E0870"]).is_empty());
}
