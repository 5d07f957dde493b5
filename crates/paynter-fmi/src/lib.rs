//! FMUs of others as functions that a model can call.
//!
//! In:  the bytes of an FMU (FMI 2.0 or 3.0).
//! Out: its [`Description`], and a [`Part`]: external functions that compute its rates, outputs, events and steps.
//!
//! | file | does |
//! |---|---|
//! | `archive` | reads zip files |
//! | `description` | reads `modelDescription.xml` |
//! | `binary`, `fmi2`, `fmi3` | load the shared library and call it: the only code that is not checked by the compiler |
//! | `instance` | one instance, whatever the version of the standard |
//! | `store` | instances by epoch: what happened to them up to the present event or step |
//! | `functions` | the external functions |
//!
//! **Invariant:** the functions are functions in the sense of mathematics: equal arguments give equal results,
//! whatever was asked for in between. What an FMU remembers is an argument of its own, the *epoch*.
//!
//! The library is loaded when the first number is asked for, never by reading the file.

mod archive;
mod binary;
mod description;
mod fmi2;
mod fmi3;
mod functions;
mod instance;
mod store;

pub use archive::Archive;
pub use description::{
    Causality, Description, Interface, Output, Sort, UnitOf, Variability, Variable, Version,
};
pub use functions::{Part, co_simulation, model_exchange};

use std::fmt;

/// An FMU that was read and not loaded.
#[derive(Clone, Debug)]
pub struct Fmu {
    /// What the file says of itself.
    pub description: Description,
    archive: Archive,
}

/// Why a file cannot be used as an FMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file is not a zip file, or a broken one.
    Archive(String),
    /// `modelDescription.xml` is missing, or cannot be read.
    Description(String),
    /// A version of the standard that is not known here.
    Version(String),
    /// There is no binary for this platform.
    Platform {
        /// The file that is missing.
        wanted: String,
        /// The platforms that there are binaries for.
        found: Vec<String>,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Archive(why) | Problem::Description(why) => out.write_str(why),
            Problem::Version(version) => {
                write!(out, "is of FMI {version}; 2.0 and 3.0 can be read")
            }
            Problem::Platform { wanted, found } => {
                let found = match found.is_empty() {
                    true => "holds sources only".to_owned(),
                    false => format!("holds binaries for {}", found.join(", ")),
                };
                write!(out, "{found}; `{wanted}` is needed here")
            }
        }
    }
}

impl Fmu {
    /// Reads an FMU. Nothing of it is run.
    ///
    /// # Errors
    ///
    /// Why the file cannot be used.
    pub fn read(bytes: &[u8]) -> Result<Fmu, Problem> {
        let archive = Archive::read(bytes).map_err(Problem::Archive)?;
        let Some(text) = archive.file("modelDescription.xml") else {
            let why = "has no `modelDescription.xml`: it is not an FMU".to_owned();
            return Err(Problem::Description(why));
        };
        let text = std::str::from_utf8(text)
            .map_err(|e| Problem::Description(format!("`modelDescription.xml`: {e}")))?;
        let description = Description::read(text)?;
        Ok(Fmu {
            description,
            archive,
        })
    }

    /// Checks that there is a binary for this platform.
    ///
    /// # Errors
    ///
    /// Which platforms it has instead.
    pub fn check_platform(&self, interface: &Interface) -> Result<(), Problem> {
        let wanted = binary::path_in_archive(self.description.version, &interface.identifier);
        if self.archive.file(&wanted).is_some() {
            return Ok(());
        }
        let folders = self.archive.names().filter_map(|name| {
            let (folder, file) = name.strip_prefix("binaries/")?.split_once('/')?;
            (!file.is_empty()).then(|| folder.to_owned())
        });
        let mut found: Vec<String> = folders.collect();
        found.sort();
        found.dedup();
        Err(Problem::Platform { wanted, found })
    }
}
