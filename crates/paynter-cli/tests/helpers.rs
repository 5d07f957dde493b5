//! What helps at the terminal: completions, the manual page, pages of parts, watching a file.

mod kit;

use kit::{Folder, GOOD, with_good};
use std::process::Command;

#[test]
fn completions_and_the_manual_page_name_every_command() {
    let folder = Folder::new();
    let help = folder.expect(0, &["--help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|l| !l.starts_with("Commands:"))
        .skip(1)
        .take_while(|l| l.starts_with("  "))
        // What is further in goes on with the words of a line before.
        .filter(|l| !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|c| *c != "help" && c.chars().all(|l| l.is_ascii_lowercase()))
        .collect();
    assert!(commands.len() > 15, "{commands:?}");
    let page = folder.expect(0, &["man"]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.expect(0, &["completions", shell]);
        for command in &commands {
            assert!(script.contains(command), "{shell} lacks {command}");
            assert!(page.contains(command), "the page lacks {command}");
        }
    }
    folder.expect(2, &["completions", "cmd"]);
}

#[test]
fn doc_describes_a_part_and_guesses_what_was_meant() {
    let folder = Folder::new();
    let page = folder.expect(0, &["doc", "Resistor"]);
    for line in [
        "use electrical: Resistor",
        "Ohmic resistance",
        "R [ohm]   (must be given)",
        "a: electrical",
        "v [V] = r.e",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(page.contains("Example"), "{page}");
    assert!(folder.expect(0, &["doc"]).lines().count() > 50);
    let output = folder.call(&["doc", "Resistr"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `Resistor`"));
    folder.write("m.bond", GOOD);
    assert!(
        folder
            .expect(0, &["doc", "M", "--file", "m.bond"])
            .contains("k = 4 [N/m]")
    );
}

#[test]
fn watch_checks_and_runs_again_after_a_save() {
    let folder = with_good();
    let text = folder.expect(0, &["watch", "m.bond", "--times", "1"]);
    assert!(
        text.contains("no errors") && text.contains("swing:"),
        "{text}"
    );
    folder.expect(2, &["watch", "nowhere.bond"]);
    let child = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(["watch", "m.bond", "--times", "2", "--check"])
        .current_dir(&folder.0)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the command was built");
    // The second look follows a save, whenever it comes.
    let path = folder.0.clone();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let mut n = 0;
        while is_done
            .recv_timeout(std::time::Duration::from_millis(100))
            .is_err()
        {
            n += 1;
            let text = GOOD.replace("v: 1", &format!("{}v: 2", " ".repeat(n % 7)));
            std::fs::write(path.join("m.bond"), text).expect("the folder is there");
        }
    });
    let output = child.wait_with_output().expect("it was started");
    let _ = done.send(());
    writer.join().expect("it only writes");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("error"), "{text}");
    assert_eq!(output.status.code(), Some(0));
}
