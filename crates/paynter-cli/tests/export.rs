//! `paynter export` as a user meets it: files, exit status, messages.

mod kit;

use kit::Folder;

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

/// Calls on a machine without a C compiler; gives the messages.
#[track_caller]
fn expect(folder: &Folder, status: i32, args: &[&str]) -> String {
    let output = folder.command(args).env("CC", "/nowhere/cc").output();
    kit::expect(status, args, output.expect("the command was built")).errors
}

#[test]
fn files_are_named_after_the_model_or_as_asked() {
    let folder = Folder::with_model(MODEL);
    expect(&folder, 0, &["export", "c", "m.bond", "--model", "Motor"]);
    assert!(folder.has("motor.c") && folder.has("motor.h"));
    // Its own files may be written again, those of others not.
    expect(&folder, 0, &["export", "c", "m.bond", "--model", "Motor"]);
    std::fs::write(folder.0.join("motor.h"), "mine").expect("it can be written");
    let errors = expect(&folder, 2, &["export", "c", "m.bond", "--model", "Motor"]);
    assert!(errors.contains("was not made by paynter"), "{errors}");
    expect(
        &folder,
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
    let folder = Folder::with_model(MODEL);
    for version in ["2", "3"] {
        let args = [
            "export", "fmu", "m.bond", "--model", "Motor", "--fmi", version, "--out", "a.fmu",
        ];
        let errors = expect(&folder, 0, &args);
        assert!(errors.contains("sources and no binary"), "{errors}");
        assert!(errors.contains("/nowhere/cc"), "{errors}");
        let bytes = std::fs::read(folder.0.join("a.fmu")).expect("it was written");
        assert_eq!(&bytes[..2], b"PK");
    }
}

#[test]
fn wrong_calls_and_models_are_refused() {
    let folder = Folder::with_model(MODEL);
    let errors = expect(
        &folder,
        1,
        &["export", "c", "m.bond", "--model", "Rectifier"],
    );
    assert!(errors.contains("E0870"), "{errors}");
    assert!(!folder.has("rectifier.c"));
    expect(&folder, 2, &["export", "fmu", "m.bond", "--fmi", "4"]);
    expect(
        &folder,
        2,
        &["export", "fmu", "m.bond", "--model", "Motor", "--float"],
    );
    expect(&folder, 2, &["export", "java", "m.bond"]);
    expect(&folder, 2, &["export", "c", "none.bond"]);
    expect(
        &folder,
        2,
        &[
            "export", "c", "m.bond", "--model", "Motor", "--out", "m.txt",
        ],
    );
    expect(
        &folder,
        2,
        &[
            "export", "c", "m.bond", "--model", "Motor", "--out", "m.bond",
        ],
    );
    assert!(expect(&folder, 0, &["explain", "E0870"]).is_empty());
}
