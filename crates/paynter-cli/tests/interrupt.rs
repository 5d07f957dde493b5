//! Ctrl-C in the middle of a long run keeps what was computed, and says so by its status.
//!
//! Where a run stands is read from its CPU time, so nothing here waits for a clock.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A year in steps of a second, or so: nobody waits for the end of it.
const LONG: &str = "model M {
    param k = 1
    s: Se(sin(time)) -> j: 1 -> m: I(1), c: C(k), r: R(0.1)
}
experiment long of M { stop = 3e7; output_step = 10; record c.e as v }
experiment many of M { stop = 3e3; record c.e as v; measure end = final(c.e); sweep k in 1 .. 2 by 0.00001 }
";

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("paynter-int-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&path).expect("the temporary folder can be written");
    std::fs::write(path.join("long.bond"), LONG).expect("the folder was just made");
    path
}

fn start(folder: &Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built")
}

/// CPU time of a process in hundredths of a second.
fn cpu_time(child: &Child) -> u64 {
    let path = format!("/proc/{}/stat", child.id());
    let text = std::fs::read_to_string(path).expect("it has not been waited for");
    // After the name in brackets: state, …, user time and system time as fields 14 and 15.
    let (_, fields) = text.rsplit_once(')').expect("the name stands in brackets");
    let mut times = fields.split_whitespace().skip(11);
    let mut next = || -> u64 {
        times
            .next()
            .and_then(|field| field.parse().ok())
            .expect("a number")
    };
    next() + next()
}

/// Presses Ctrl-C when the process has worked for half a second, far beyond its start.
fn interrupt(mut child: Child) -> Output {
    while cpu_time(&child) < 50 {
        let ended = child.try_wait().expect("it is ours");
        assert!(ended.is_none(), "it ended by itself: {ended:?}");
        std::thread::yield_now();
    }
    let status = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("every Linux has it");
    assert!(status.success());
    child.wait_with_output().expect("it ends")
}

#[test]
fn interrupted_run_keeps_its_rows_and_says_so() {
    let folder = folder("run");
    let child = start(
        &folder,
        &[
            "run",
            "long.bond",
            "-e",
            "long",
            "--no-report",
            "-o",
            "out.csv",
        ],
    );
    let output = interrupt(child);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("cancelled   at t = "), "{said}");
    assert!(said.contains("what was computed is kept"), "{said}");
    let table = std::fs::read_to_string(folder.join("out.csv")).expect("it was written");
    let n_rows = table.lines().count();
    assert!(n_rows > 10 && n_rows < 3_000_000, "{n_rows} rows");
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn interrupted_sweep_keeps_its_points_and_says_how_many() {
    let folder = folder("sweep");
    let child = start(
        &folder,
        &["sweep", "long.bond", "-e", "many", "-o", "out.csv"],
    );
    let output = interrupt(child);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("cancelled after "), "{said}");
    assert!(said.contains("what was computed is kept"), "{said}");
    let table = std::fs::read_to_string(folder.join("out.csv")).expect("it was written");
    let is_done = |line: &&str| !line.contains("NaN");
    let n_done = table.lines().skip(1).filter(is_done).count();
    assert!(n_done > 0 && n_done < 100_000, "{n_done} points");
    let _ = std::fs::remove_dir_all(folder);
}
