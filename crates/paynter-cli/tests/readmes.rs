//! What the READMEs of the gallery show is what the tool prints, and their pictures are its drawings.
//!
//! A fenced block whose first line is `$ paynter …` holds the exact output of that command, run in
//! the folder of the README; a block of lines `paynter …` tells a story that runs from its first line to its last, and what follows it
//! up to the next block is said about its last line. A row ``| `experiment` | `measure` | value | …`` holds a measured value.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folders() -> Vec<PathBuf> {
    let gallery = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery");
    let entries = std::fs::read_dir(gallery).expect("the gallery is part of the project");
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.is_dir())
        .collect();
    folders.sort();
    folders
}

fn paynter(folder: &Path, words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(words)
        .current_dir(folder)
        .output()
        .expect("the program was just built");
    String::from_utf8(output.stdout).expect("the program prints text")
}

/// Splits a command at blanks outside quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            (' ', None) => words.push(String::new()),
            (c, _) => words.last_mut().expect("never empty").push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}

#[test]
fn every_folder_has_a_readme_with_a_title() {
    for folder in folders() {
        let text = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        assert!(
            text.starts_with("# "),
            "{} has no README with a title",
            folder.display()
        );
    }
}

/// The first fenced block of a text that begins with `fence`.
fn first_block<'t>(text: &'t str, fence: &str) -> &'t str {
    let (_, rest) = text.split_once(fence).expect("the text has such a block");
    rest.split_once("\n```").expect("the block ends").0
}

#[test]
fn equations_of_the_front_page_are_those_of_its_model() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).expect("the project has one");
    let folder = std::env::temp_dir().join(format!("paynter-front-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let model = first_block(&text, "```bond\n");
    std::fs::write(folder.join("front.bond"), model).expect("the folder can be written");
    let found = paynter(&folder, &["equations", "front.bond"]);
    std::fs::remove_dir_all(&folder).expect("the folder was made here");
    let (_, after) = text
        .split_once("`paynter equations` prints")
        .expect("the front page shows equations");
    assert_eq!(found.trim_end(), first_block(after, "```text\n"));
}

#[test]
fn outputs_shown_in_readmes_are_those_of_the_tool() {
    let mut n_blocks = 0;
    for folder in folders() {
        let text = std::fs::read_to_string(folder.join("README.md")).expect("tested above");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if !line.starts_with("```text") {
                continue;
            }
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|l| !l.starts_with("```"))
                .collect();
            let Some(command) = block.first().and_then(|l| l.strip_prefix("$ paynter ")) else {
                continue;
            };
            let words = words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let found = paynter(&folder, &words);
            // Sampled runs go through thousands of events; their last digits depend on the processor.
            let is_numeric = words[0] == "sweep" || words[0] == "run";
            let expected = block[1..].join("\n");
            if is_numeric {
                assert_close(
                    &found,
                    &expected,
                    &format!("{}: {command}", folder.display()),
                );
            } else {
                assert_eq!(
                    found.trim_end(),
                    expected.trim_end(),
                    "{}: {command}",
                    folder.display()
                );
            }
            n_blocks += 1;
        }
    }
    assert!(n_blocks > 10, "the READMEs show outputs");
}

/// Copies the files of a folder, and its references.
fn copied(folder: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a temporary folder can be made");
    for entry in std::fs::read_dir(folder).expect("it is there").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copied(&from, &to),
            false => {
                std::fs::copy(from, to).expect("it can be copied");
            }
        }
    }
}

/// The stories of the gallery: each step is a command that runs, what it writes runs with its references, and where the gallery has that
/// file it is the same.
#[test]
fn stories_told_by_commands_run() {
    let mut n_commands = 0;
    for folder in folders() {
        let text = std::fs::read_to_string(folder.join("README.md")).expect("tested above");
        let stories = text.split("```text\n").skip(1);
        let stories = stories.filter_map(|block| block.split("\n```").next());
        let stories: Vec<&str> = stories.filter(|b| b.starts_with("paynter ")).collect();
        if stories.is_empty() {
            continue;
        }
        let name = folder.file_name().expect("a folder has a name");
        let own = std::env::temp_dir().join(format!("paynter-story-{}", std::process::id()));
        let own = own.join(name);
        copied(&folder, &own);
        for line in stories.iter().flat_map(|story| story.lines()) {
            let command = line.strip_prefix("paynter ").expect("a line is a command");
            let words = words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let out = words.iter().position(|w| *w == "--out");
            let out = out.map(|k| words[k + 1]);
            // A model is never written over.
            if let Some(out) = out {
                let _ = std::fs::remove_file(own.join(out));
            }
            let output = Command::new(env!("CARGO_BIN_EXE_paynter"))
                .args(&words)
                .current_dir(&own)
                .output()
                .expect("the program was just built");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{line}: {said}");
            n_commands += 1;
            let Some(out) = out else { continue };
            if let Ok(kept) = std::fs::read_to_string(folder.join(out)) {
                let written = std::fs::read_to_string(own.join(out)).expect("just written");
                assert_eq!(written, kept, "{line}");
            }
            let runs = paynter(&own, &["run", out, "--json", "--no-report"]);
            assert!(runs.contains("\"measures\""), "{line}: {runs}");
        }
        std::fs::remove_dir_all(&own).expect("made above");
    }
    assert!(n_commands > 8, "only {n_commands} commands");
}

/// A block that shows a command is read with the model before it; the file is named in the command.
#[test]
fn outputs_shown_in_the_tutorial_are_those_of_the_tool() {
    assert!(
        outputs_checked("tutorial") > 8,
        "the tutorial shows outputs"
    );
}

#[test]
fn outputs_shown_about_linear_models_are_those_of_the_tool() {
    assert!(outputs_checked("linear") > 4, "the page shows outputs");
}

#[test]
fn outputs_shown_about_structure_are_those_of_the_tool() {
    assert!(outputs_checked("structure") > 5, "the page shows outputs");
}

#[test]
fn outputs_and_pictures_of_the_first_steps_are_those_of_the_tool() {
    assert!(outputs_checked("schematic") > 0, "the page shows outputs");
    assert!(pictures_checked("schematic") > 3, "the page has pictures");
}

#[test]
fn the_book_lists_every_model_of_the_gallery() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/gallery.md");
    let page = std::fs::read_to_string(page).expect("the book has this page");
    let mut n_models = 0;
    for folder in folders() {
        let name = folder.file_name().expect("a folder has a name");
        let name = name.to_string_lossy();
        for entry in std::fs::read_dir(&folder).expect("it is there").flatten() {
            if entry.path().extension().is_none_or(|e| e != "bond") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("a model file");
            let heads = ["model ", "lagrangian "];
            let models = text
                .lines()
                .filter_map(|l| heads.iter().find_map(|head| l.strip_prefix(head)));
            for model in models.filter_map(|rest| rest.split_whitespace().next()) {
                let row = format!("| `{name}` | `{model}` |");
                assert!(page.contains(&row), "docs/src/gallery.md lacks {row}");
                n_models += 1;
            }
        }
    }
    assert!(n_models > 50, "{n_models}");
}

#[test]
fn the_book_lists_every_message() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/diagnostics.md");
    let output = Command::new(env!("CARGO_BIN_EXE_paynter"))
        .args(["explain", "--all"])
        .output()
        .expect("the program was just built");
    let page = String::from_utf8(output.stdout).expect("the program prints text");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::write(&path, &page).expect("the book can be written");
    }
    let written = std::fs::read_to_string(&path).expect("the book has this page");
    assert!(
        written == page,
        "docs/src/diagnostics.md is out of date: paynter explain --all > docs/src/diagnostics.md"
    );
}

#[test]
fn pictures_of_the_readme_are_those_of_the_tool() {
    assert_eq!(pictures_checked("../../README"), 2);
}

/// Draws the pictures of a page again, as comments on it say; gives how many.
///
/// With `UPDATE_FIXTURES` set they are written anew: look at them.
fn pictures_checked(page: &str) -> usize {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let text = std::fs::read_to_string(book.join(format!("{page}.md"))).expect("it is there");
    let folder = std::env::temp_dir().join(format!("paynter-svg-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");

    let mut n_pictures = 0;
    for (model, command) in comments(&text) {
        let words = words(command);
        let named = |ending: &str| words.iter().find(|w| w.ends_with(ending));
        let (file, picture) = (
            named(".bond").expect("a model"),
            named(".svg").expect("a picture"),
        );
        std::fs::write(folder.join(file), model).expect("the folder can be written");
        let output = Command::new(env!("CARGO_BIN_EXE_paynter"))
            .args(&words)
            .current_dir(&folder)
            .output()
            .expect("the program was just built");
        assert!(output.status.success(), "{command}");

        let drawn = std::fs::read_to_string(folder.join(picture)).expect("just drawn");
        let shown = book.join("images").join(picture);
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&shown, &drawn).expect("the book can be written");
        }
        let shown = std::fs::read_to_string(shown).unwrap_or_default();
        // The last digits of a curve differ between processors; those of a drawing do not.
        let is_same = match words[0].as_str() {
            "diagram" => shown == drawn,
            _ => without_numbers(&shown) == without_numbers(&drawn),
        };
        assert!(
            is_same,
            "{picture} has changed: UPDATE_FIXTURES=1 draws it anew"
        );
        n_pictures += 1;
    }
    let _ = std::fs::remove_dir_all(folder);
    n_pictures
}

fn without_numbers(text: &str) -> String {
    text.replace(|c: char| c.is_ascii_digit() || c == '.' || c == '-', "")
}

/// The commands in comments `<!-- $ paynter … -->`, each with the model that stands above it; else with the first one below.
fn comments(text: &str) -> impl Iterator<Item = (&str, &str)> {
    const MARK: &str = "<!-- $ paynter ";
    const BLOCK: &str = "```bond\n";
    text.match_indices(MARK).map(|(at, _)| {
        let (command, below) = text[at + MARK.len()..].split_once(" -->").expect("it ends");
        let above = text[..at].rsplit_once(BLOCK);
        let (_, model) = above.or_else(|| below.split_once(BLOCK)).expect("a model");
        let (model, _) = model.split_once("\n```").expect("every block ends");
        (model, command)
    })
}

/// Checks the outputs on a page of the book; gives how many.
fn outputs_checked(page: &str) -> usize {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/src/{page}.md"));
    let text = std::fs::read_to_string(book).expect("the book has this page");
    let folder = std::env::temp_dir().join(format!("paynter-{page}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    // Counts of work and what rounding leaves of the energy differ between processors.
    let kept = |text: &str| -> String {
        let lines = text.lines();
        let lines = lines.filter(|l| !l.starts_with("  work") && !l.contains("residual"));
        lines.map(|l| format!("{}\n", l.trim_end())).collect()
    };
    let (mut model, mut n_blocks) = ("", 0);
    let mut rest = text.as_str();
    while let Some((_, after)) = rest.split_once("\n```") {
        let (block, after) = after.split_once("\n```").expect("every block ends");
        rest = after;
        let (kind, block) = block.split_once('\n').unwrap_or((block, ""));
        if kind.starts_with("bond") {
            model = block;
        }
        let Some(shown) = block.strip_prefix("$ paynter ").filter(|_| kind == "text") else {
            continue;
        };
        let (command, expected) = shown.split_once('\n').unwrap_or((shown, ""));
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(file) = words.iter().find(|w| w.ends_with(".bond")) else {
            continue;
        };
        // A model of the gallery is read where it is.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let place = match file.starts_with("gallery/") {
            true => &root,
            false => {
                std::fs::write(folder.join(file), model).expect("the folder can be written");
                &folder
            }
        };
        let output = Command::new(env!("CARGO_BIN_EXE_paynter"))
            .args(&words)
            .current_dir(place)
            .output()
            .expect("the program was just built");
        let found = [output.stdout, output.stderr].concat();
        let found = String::from_utf8(found).expect("the program prints text");
        assert_close(&kept(&found), &kept(expected), command);
        n_blocks += 1;
    }
    std::fs::remove_dir_all(&folder).expect("the folder was made here");
    n_blocks
}

/// Compares word by word; numbers to 1e-6.
fn assert_close(found: &str, expected: &str, place: &str) {
    let (a, b): (Vec<&str>, Vec<&str>) = (
        found.split_whitespace().collect(),
        expected.split_whitespace().collect(),
    );
    assert_eq!(a.len(), b.len(), "{place}:\n{found}");
    for (x, y) in a.iter().zip(&b) {
        match (x.parse::<f64>(), y.parse::<f64>()) {
            (Ok(p), Ok(q)) => assert!(
                (p - q).abs() <= 1e-6 * q.abs().max(1e-12),
                "{place}: {p} is not {q}"
            ),
            _ => assert_eq!(x, y, "{place}"),
        }
    }
}

#[test]
fn values_shown_in_readmes_are_measured() {
    let mut n_values = 0;
    for folder in folders() {
        let text = std::fs::read_to_string(folder.join("README.md")).expect("tested above");
        for row in text.lines().filter(|l| l.starts_with("| `")) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [_, experiment, measure, value, ..] = cells[..] else {
                continue;
            };
            let Some(measure) = measure.strip_prefix('`').and_then(|m| m.strip_suffix('`')) else {
                continue;
            };
            let words: Vec<&str> = experiment.split('`').collect();
            let (experiment, file) = (words[1], words.get(3));
            let Some(shown) = value
                .split_whitespace()
                .next()
                .and_then(|v| v.parse::<f64>().ok())
            else {
                continue;
            };
            let file = file.map_or_else(|| file_with(&folder, experiment), |f| (*f).to_owned());
            let output = paynter(
                &folder,
                &["run", &file, "-e", experiment, "--json", "--no-report"],
            );
            let json: serde_json::Value =
                serde_json::from_str(&output).expect("--json prints JSON");
            let measures = json["measures"].as_array().expect("a list of measures");
            let found = measures
                .iter()
                .find(|m| m["name"] == measure)
                .and_then(|m| m["value"].as_f64());
            let found = found.unwrap_or_else(|| panic!("{experiment} has no measure {measure}"));
            // Printed with nine digits; sampled runs keep about seven between processors.
            assert!(
                (found - shown).abs() <= 1e-6 * shown.abs().max(1e-9),
                "{experiment} {measure}: {found}, shown {shown}"
            );
            n_values += 1;
        }
    }
    assert!(n_values > 30, "the READMEs show measured values");
}

fn file_with(folder: &Path, experiment: &str) -> String {
    let entries = std::fs::read_dir(folder).expect("a folder of the gallery");
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "bond"))
        .collect();
    files.sort();
    let heads = ["of", "extends"].map(|word| format!("experiment {experiment} {word} "));
    let found = files.iter().find(|f| {
        std::fs::read_to_string(f).is_ok_and(|t| heads.iter().any(|head| t.contains(head)))
    });
    let file = found.unwrap_or_else(|| panic!("no file of {} has {experiment}", folder.display()));
    file.file_name()
        .expect("a file has a name")
        .to_string_lossy()
        .into_owned()
}

#[test]
fn pictures_of_the_gallery_are_those_of_the_tool() {
    let made = std::env::temp_dir().join(format!("paynter-pictures-{}", std::process::id()));
    std::fs::create_dir_all(&made).expect("a temporary folder can be made");
    for folder in folders() {
        let name = folder
            .file_name()
            .expect("a folder has a name")
            .to_string_lossy()
            .into_owned();
        let out = made.join(format!("{name}.svg"));
        let file = format!("{name}.bond");
        let file = if folder.join(&file).exists() {
            file
        } else {
            panic!("{name} has no {file}")
        };
        paynter(
            &folder,
            &["diagram", &file, "--out", &out.display().to_string()],
        );
        let drawn = std::fs::read_to_string(&out).expect("the drawing was written");
        let kept = std::fs::read_to_string(folder.join("diagram.svg")).unwrap_or_default();
        assert_eq!(drawn, kept, "{name}/diagram.svg is not up to date");
    }
    std::fs::remove_dir_all(made).expect("made above");
}
