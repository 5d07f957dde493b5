//! A folder of its own for each test, and the command called in it.
#![allow(dead_code)] // each test takes what it needs

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that disappears with its value.
pub struct Folder(pub PathBuf);

/// What a call printed.
pub struct Printed {
    pub out: String,
    pub errors: String,
}

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("paynter-cli-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path.canonicalize().expect("it was just made"))
    }

    /// A folder with a model `m.bond`.
    pub fn with_model(text: &str) -> Folder {
        let folder = Folder::new();
        folder.write("m.bond", text);
        folder
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("the folder was just made");
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.bytes(name)).into_owned()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_paynter"));
        command.args(args).current_dir(&self.0);
        command
    }

    pub fn call(&self, args: &[&str]) -> Output {
        let output = self.command(args).output();
        output.expect("the command was built")
    }

    /// Calls, expects this exit status, and gives what was printed for results.
    #[track_caller]
    pub fn expect(&self, status: i32, args: &[&str]) -> String {
        expect(status, args, self.call(args)).out
    }

    /// As [`Folder::expect`], for the messages.
    #[track_caller]
    pub fn expect_errors(&self, status: i32, args: &[&str]) -> String {
        expect(status, args, self.call(args)).errors
    }

    /// As [`Folder::expect`], for results and messages.
    #[track_caller]
    pub fn expect_both(&self, status: i32, args: &[&str]) -> (String, String) {
        let Printed { out, errors } = expect(status, args, self.call(args));
        (out, errors)
    }
}

/// Checks the exit status of a call.
#[track_caller]
pub fn expect(status: i32, args: &[&str], output: Output) -> Printed {
    let [out, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{errors}");
    Printed { out, errors }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub const GOOD: &str = "model M {
    param k = 4 [N/m]
    v: 1 -> m: I(1 [kg]), s: C(1/k)
    start s.q = 1 [m]
    output x [m] = s.q
}
experiment swing of M { stop = 1 [s]; output_step = 0.1 [s]; record x, v.f as v; plot x }
experiment stiffer of M { stop = 1 [s]; record x; measure end = final(x); sweep k in [1, 2, 4, 8, 16, 32] [N/m] }
";

/// A folder with a model that runs and sweeps.
pub fn with_good() -> Folder {
    Folder::with_model(GOOD)
}
