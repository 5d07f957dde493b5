//! Every experiment of the gallery against its reference, its audit and the laws of the text.
//!
//! The references were computed apart from this project; the allowed difference stands in each
//! experiment's `compare` line.

use crate::kit::{bond_files, gallery};

/// Runs every experiment of every file of one folder; sweeps are run by their own command.
fn run_folder(name: &str) {
    let mut n_runs = 0;
    for file in bond_files(&gallery().join(name)) {
        let experiments = paynter::experiments(&file).expect("the file parses");
        for experiment in experiments {
            let summary = paynter::run_experiment(&file, &experiment)
                .unwrap_or_else(|message| panic!("{experiment} does not start:\n{message}"));
            assert!(summary.is_good, "{experiment}: {}", summary.text);
            n_runs += 1;
        }
    }
    assert!(n_runs > 0, "the folder {name} has no experiment");
}

macro_rules! folders {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { run_folder(stringify!($name)); })*
        const TESTED: &[&str] = &[$(stringify!($name)),*];
    };
}

folders!(
    ball_joint,
    cart_pendulum,
    circuit,
    disc,
    flight_table,
    gear_train,
    gyroscope,
    missile,
    pendulum,
    platform,
    power_limit,
    rate_gyro,
    rolling_disc,
    servo,
    slider_crank,
    spring_mass_damper,
    wheatstone,
);

#[test]
fn no_folder_of_the_gallery_is_left_out() {
    let entries = std::fs::read_dir(gallery()).expect("the gallery is part of the project");
    for entry in entries.flatten().filter(|e| e.path().is_dir()) {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(
            TESTED.contains(&name.as_str()),
            "{name} is not in the list of tested folders"
        );
    }
}

#[test]
fn every_file_checks_without_a_message_and_is_laid_out() {
    for folder in TESTED {
        for file in bond_files(&gallery().join(folder)) {
            let checked = paynter::check(&file).expect("the file can be read");
            let text = paynter::syntax::render(&checked.diagnostics, &checked.sources, false);
            assert!(checked.diagnostics.is_empty(), "{text}");
            let formatted = paynter::format_file(&file).expect("the file parses");
            assert!(
                formatted.is_none(),
                "{} is not laid out by paynter fmt",
                file.display()
            );
        }
    }
}
