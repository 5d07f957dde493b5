//! No file of the user's is lost: not by a full disk, not by a kill in the middle, not by a wrong name.
//!
//! A limit on the size of files stands for the full disk. Where the signal that comes with it is ignored, the
//! write fails; where it is not, it kills the program in the middle of the write.
#![cfg(unix)]

mod kit;

use kit::Folder;
use std::path::Path;
use std::process::{Command, Output};

/// Calls from an inner folder; gives the messages.
#[track_caller]
fn expect_in(folder: &Folder, inner: &str, status: i32, args: &[&str]) -> String {
    let mut command = folder.command(args);
    let output = command.current_dir(folder.0.join(inner)).output();
    kit::expect(status, args, output.expect("the command was built")).errors
}

/// Calls with files limited to `kilobytes`; beyond that a write fails, or ends the program.
fn call_limited(folder: &Folder, end: End, kilobytes: usize, args: &[&str]) -> Output {
    let trap = match end {
        End::Fails => "trap '' XFSZ;",
        End::Killed => "",
    };
    let script = format!("ulimit -c 0; ulimit -f {kilobytes}; {trap} exec \"$@\"");
    Command::new("bash")
        .args(["-c", &script, "bash", env!("CARGO_BIN_EXE_paynter")])
        .args(args)
        .current_dir(&folder.0)
        .output()
        .expect("there is a shell")
}

/// Names of all that is there, hidden or not.
fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(&folder.0).expect("it is there").flatten();
    let mut names: Vec<String> = entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Fails,
    Killed,
}

/// Every file that it makes is larger than a kilobyte.
const MODEL: &str = "model M {
    param k = 4 [N/m]
    v: 1 -> m: I(1 [kg]), s: C(1/k)
    start s.q = 1 [m]
    output x [m] = s.q
}
experiment swing of M { stop = 1 [s]; output_step = 1 [ms]; record x, v.f as v; plot x }
experiment many of M { stop = 1 [s]; record x; measure end = final(x); sweep k in 1 .. 4 [N/m] by 0.05 }
";

const OLD: &str = "what the user had before";

/// Calls that write, and the files they write.
const WRITERS: &[(&[&str], &str)] = &[
    (&["run", "m.bond", "--no-report", "-o", "x.csv"], "x.csv"),
    (&["run", "m.bond", "--no-report", "-o", "x.json"], "x.json"),
    (
        &["run", "m.bond", "--no-report", "-o", "x.parquet"],
        "x.parquet",
    ),
    (
        &["run", "m.bond", "--no-report", "--plot", "p.svg"],
        "p.svg",
    ),
    (
        &["run", "m.bond", "--no-report", "--plot", "p.png"],
        "p.png",
    ),
    (&["run", "m.bond", "--report", "r.html"], "r.html"),
    (&["sweep", "m.bond", "-e", "many", "-o", "s.csv"], "s.csv"),
    (&["sweep", "m.bond", "-e", "many", "-o", "s.json"], "s.json"),
    (&["diagram", "m.bond", "-o", "d.svg"], "d.svg"),
    (&["diagram", "m.bond", "-o", "d.pdf"], "d.pdf"),
    (&["diagram", "m.bond", "-o", "d.tex"], "d.tex"),
    (&["plot", "result.csv", "-o", "q.svg"], "q.svg"),
    (&["plot", "result.csv", "-o", "q.png"], "q.png"),
    (
        &[
            "step", "m.bond", "--from", "F", "--to", "x", "--for", "9", "-o", "t.csv",
        ],
        "t.csv",
    ),
    (
        &["bode", "m.bond", "--from", "F", "--to", "x", "-o", "b.csv"],
        "b.csv",
    ),
];

fn with_model() -> Folder {
    let folder = Folder::new();
    folder.write(
        "m.bond",
        &MODEL.replace("start s.q", "input F = 0\n    Se(F) -> v\n    start s.q"),
    );
    folder.expect_errors(0, &["run", "m.bond", "--no-report", "-o", "result.csv"]);
    folder
}

#[test]
fn every_writer_keeps_the_old_file_when_the_disk_is_full_and_when_it_is_killed() {
    for end in [End::Fails, End::Killed] {
        let folder = with_model();
        for (args, name) in WRITERS {
            folder.write(name, OLD);
            let before = names(&folder);
            let output = call_limited(&folder, end, 1, args);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(folder.read(name), OLD, "{args:?} {end:?}\n{said}");
            match end {
                End::Fails => {
                    assert_eq!(output.status.code(), Some(2), "{args:?}\n{said}");
                    assert!(said.contains("cannot be written"), "{said}");
                    assert_eq!(names(&folder), before, "{args:?} left something");
                }
                End::Killed => assert_eq!(output.status.code(), None, "{args:?}\n{said}"),
            }
            // With room, the same call replaces it.
            let output = folder.call(args);
            assert_eq!(output.status.code(), Some(0), "{args:?}");
            assert_ne!(folder.read(name), OLD, "{args:?}");
        }
    }
}

#[test]
fn fmt_keeps_the_source_when_the_disk_is_full_and_when_it_is_killed() {
    let long: String = (0..1100).map(|k| format!("x{k}=1\n")).collect();
    let source = format!("model A {{\n{long}}}\n");
    for end in [End::Fails, End::Killed] {
        let folder = Folder::new();
        folder.write("f.bond", &source);
        for kilobytes in [0, 1, 8] {
            let output = call_limited(&folder, end, kilobytes, &["fmt", "f.bond"]);
            assert_ne!(output.status.code(), Some(0));
            assert_eq!(folder.read("f.bond"), source, "{end:?} {kilobytes}");
        }
        folder.expect_errors(0, &["fmt", "f.bond"]);
        assert!(folder.read("f.bond").contains("\n    x1099 = 1\n"));
    }
}

#[test]
fn new_leaves_no_part_of_a_model() {
    for end in [End::Fails, End::Killed] {
        let folder = Folder::new();
        call_limited(&folder, end, 0, &["new", "first"]);
        call_limited(&folder, end, 1, &["new", "mine", "--from", "gyroscope"]);
        let shown: Vec<String> = names(&folder);
        assert!(shown.iter().all(|n| n.starts_with('.')), "{shown:?}");
        if end == End::Fails {
            assert!(shown.is_empty(), "{shown:?}");
        }
        folder.expect_errors(0, &["new", "first"]);
        folder.expect_errors(0, &["new", "mine", "--from", "gyroscope"]);
        folder.expect_errors(0, &["check", "mine/gyroscope.bond"]);
    }
}

#[test]
fn a_disk_that_is_really_full_keeps_the_source() {
    let folder = Folder::new();
    let place = folder.0.join("disk");
    std::fs::create_dir(&place).expect("the folder is there");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(&place)
        .output();
    // Not everybody may mount; the limits above show the same.
    if !mounted.is_ok_and(|o| o.status.success()) {
        return;
    }
    let long: String = (0..1100).map(|k| format!("x{k}=1\n")).collect();
    let source = format!("model A {{\n{long}}}\n");
    std::fs::write(place.join("f.bond"), &source).expect("it fits");
    // As much as goes in.
    let _ = std::fs::write(place.join("fill"), vec![0_u8; 64 << 10]);
    let output = folder.call(&["fmt", "disk/f.bond"]);
    let kept = std::fs::read_to_string(place.join("f.bond"));
    let _ = Command::new("umount").arg(&place).output();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(kept.expect("it is there"), source);
}

#[test]
fn results_are_never_written_over_what_is_read() {
    let folder = Folder::new();
    let model = "use \"parts.bond\"
model M { der(x) = table(\"t.csv\") }
experiment e of M { stop = 1; record x; plot x }
experiment f of M { stop = 1; record x; compare \"ref.csv\" within 1 }
";
    let files = [
        ("m.bond", model),
        ("parts.bond", "model P { x = 1 }\n"),
        ("t.csv", "t,y\n0,1\n1,2\n"),
        ("ref.csv", "time,x\n0,0\n1,1.5\n"),
        ("times.csv", "time\n0\n0.5\n"),
    ];
    for (name, text) in files {
        folder.write(name, text);
    }
    std::fs::create_dir(folder.0.join("sub")).expect("the folder is there");
    std::os::unix::fs::symlink("ref.csv", folder.0.join("link.csv")).expect("links can be made");
    for args in [
        &["run", "m.bond", "--report", "m.bond"][..],
        &["run", "m.bond", "--report", "./sub/../m.bond"],
        &["run", "m.bond", "--report", "parts.bond"],
        &["run", "m.bond", "--report", "t.csv"],
        &["run", "m.bond", "--report", "other.bond"],
        &["run", "m.bond", "--no-report", "-o", "t.csv"],
        &["run", "m.bond", "--no-report", "-o", "ref.csv"],
        &["run", "m.bond", "--no-report", "-o", "link.csv"],
        &[
            "run",
            "m.bond",
            "-e",
            "f",
            "--no-report",
            "-o",
            "sub/../ref.csv",
        ],
        &[
            "run",
            "m.bond",
            "--no-report",
            "--times",
            "times.csv",
            "-o",
            "times.csv",
        ],
        &["run", "m.bond", "--no-report", "--plot", "m.bond"],
        &["diagram", "m.bond", "-o", "m.bond"],
        &["plot", "ref.csv", "-o", "m.bond"],
    ] {
        folder.expect_errors(2, args);
    }
    for (name, text) in files {
        assert_eq!(folder.read(name), text);
    }
    assert!(!folder.0.join("other.bond").exists());
}

#[test]
fn a_file_of_somebody_else_is_not_replaced_unless_it_is_named() {
    let folder = with_model();
    folder.write("swing.html", OLD);
    folder.write("M.svg", OLD);
    folder.write("result.svg", OLD);
    for args in [
        &["run", "m.bond"][..],
        &["diagram", "m.bond"],
        &["plot", "result.csv"],
    ] {
        let said = folder.expect_errors(2, args);
        assert!(said.contains("choose another name"), "{said}");
    }
    for name in ["swing.html", "M.svg", "result.svg"] {
        assert_eq!(folder.read(name), OLD);
        std::fs::remove_file(folder.0.join(name)).expect("it is ours");
    }
    // An earlier result is replaced.
    for _ in 0..2 {
        folder.expect_errors(0, &["run", "m.bond"]);
        folder.expect_errors(0, &["diagram", "m.bond"]);
        folder.expect_errors(0, &["plot", "result.csv"]);
    }
}

#[test]
fn a_folder_that_is_made_is_mentioned() {
    let folder = with_model();
    let said = folder.expect_errors(0, &["run", "m.bond", "--no-report", "-o", "new/deep/x.csv"]);
    assert!(said.contains("made the folder new"), "{said}");
    let said = folder.expect_errors(0, &["run", "m.bond", "--no-report", "-o", "new/deep/x.csv"]);
    assert!(!said.contains("made the folder"), "{said}");
    // A call that fails makes none.
    folder.expect_errors(1, &["run", "m.bond", "-e", "nobody", "-o", "other/x.csv"]);
    assert!(!folder.0.join("other").exists());
}

#[test]
fn units_of_one_result_never_stand_beside_another() {
    let folder = with_model();
    folder.expect_errors(0, &["run", "m.bond", "--no-report", "-o", "x.csv"]);
    let before = (folder.read("x.csv"), folder.read("x.csv.meta.json"));
    call_limited(
        &folder,
        End::Killed,
        1,
        &["run", "m.bond", "--no-report", "-o", "x.csv"],
    );
    assert_eq!(
        before,
        (folder.read("x.csv"), folder.read("x.csv.meta.json"))
    );
    folder.expect_errors(0, &["sweep", "m.bond", "-e", "many", "-o", "x.csv"]);
    let facts: serde_json::Value =
        serde_json::from_str(&folder.read("x.csv.meta.json")).expect("it is JSON");
    assert!(facts["units"].get("v").is_none(), "{facts}");
}

#[test]
fn permissions_and_links_survive_fmt() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("f.bond", "model A{x=1}\n");
    let path = folder.0.join("f.bond");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
    std::os::unix::fs::symlink("f.bond", folder.0.join("l.bond")).expect("links can be made");
    folder.expect_errors(0, &["fmt", "l.bond"]);
    let mode = std::fs::metadata(&path)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    let link = std::fs::symlink_metadata(folder.0.join("l.bond")).expect("there");
    assert!(link.is_symlink());
    assert_eq!(names(&folder), ["f.bond", "l.bond"]);
    assert!(Path::new(&path).exists());
}

#[test]
fn what_a_model_names_is_read_only_if_it_is_a_file_of_bounded_size() {
    let folder = Folder::new();
    for pipe in ["pipe.csv", "pipe.bond"] {
        let made = Command::new("mkfifo").arg(folder.0.join(pipe)).status();
        assert!(made.is_ok_and(|s| s.success()), "pipes can be made");
    }
    // It takes no room on the disk, but would take all of the memory.
    let large = std::fs::File::create(folder.0.join("large.csv")).expect("the folder is there");
    large.set_len(1 << 40).expect("files may have holes");
    let table = |name: &str| format!("model M {{ der(x) = table(\"{name}\") }}\n");
    let compare = |name: &str| {
        format!(
            "model M {{ der(x) = 1 }}\nexperiment e of M {{ stop = 1; record x; compare \"{name}\" within 1 }}\n"
        )
    };
    for (text, words) in [
        (table("pipe.csv"), "is a device or pipe"),
        (table("/dev/zero"), "is a device or pipe"),
        (table("large.csv"), "is larger than"),
        (
            "use \"pipe.bond\"\nmodel M { x = 1 }\n".to_owned(),
            "is a device or pipe",
        ),
        (compare("pipe.csv"), "is a device or pipe"),
        (compare("/dev/zero"), "is a device or pipe"),
        (compare("large.csv"), "is larger than"),
    ] {
        folder.write("m.bond", &text);
        for command in [&["check", "m.bond"][..], &["run", "m.bond", "--no-report"]] {
            let said = folder.expect_errors(1, command);
            assert!(said.contains(words), "{text}\n{said}");
        }
    }
}

#[test]
fn a_model_reads_the_files_of_its_project_only() {
    let folder = Folder::new();
    let inner = |name: &str| folder.0.join(name);
    for name in ["mine", "mine/parts", "yours"] {
        std::fs::create_dir(inner(name)).expect("made");
    }
    folder.write("secret.csv", "time,x\n0,1\n1,2\n");
    folder.write("secret.bond", "model S { }\n");
    folder.write("mine/table.csv", "time,x\n0,1\n1,2\n");
    folder.write(
        "mine/parts/inner.bond",
        "model M { der(x) = table(\"../table.csv\") }\n",
    );
    let experiment = "experiment e of M { stop = 1";
    let attempts = [
        "model M { der(x) = table(\"../secret.csv\") }".to_owned(),
        format!(
            "model M {{ der(x) = table(\"{}\") }}",
            inner("secret.csv").display()
        ),
        "use \"../secret.bond\"\nmodel M { s: S }".to_owned(),
        format!(
            "model M {{ der(x) = 1 }}\n{experiment}; record x; compare \"../secret.csv\" within 1 }}"
        ),
    ];
    let path = inner("mine/m.bond");
    let path = path.to_str().expect("plain");

    // Run from elsewhere: the folder of the model is its project.
    for text in &attempts {
        folder.write("mine/m.bond", &format!("{text}\n"));
        let said = expect_in(&folder, "yours", 1, &["check", path]);
        assert!(
            said.contains("is outside the project folder"),
            "{text}\n{said}"
        );
        assert!(said.contains("paynter.toml"), "{text}\n{said}");
    }

    // A link does not lead out, and a project may use all its folders.
    std::os::unix::fs::symlink(inner("secret.csv"), inner("mine/link.csv")).expect("linked");
    folder.write("mine/m.bond", "model M { der(x) = table(\"link.csv\") }\n");
    expect_in(&folder, "yours", 1, &["check", path]);
    let part = inner("mine/parts/inner.bond");
    let part = part.to_str().expect("plain");
    expect_in(&folder, "yours", 1, &["check", part]);
    expect_in(&folder, "mine", 0, &["check", part]);
    folder.write("mine/paynter.toml", "");
    expect_in(&folder, "yours", 0, &["check", part]);
    expect_in(&folder, "yours", 1, &["check", path]);
    folder.write("paynter.toml", "");
    folder.write("mine/m.bond", "model M { der(x) = table(\"link.csv\") }\n");
    std::fs::remove_file(inner("mine/paynter.toml")).expect("there");
    expect_in(&folder, "yours", 0, &["check", path]);
}
