//! Functional mock-up units: a zip file with a model description, C sources, and a binary for this platform.
//!
//! In:  the seam, and [`Options`].
//! Out: the bytes of an `.fmu`, and what the user should know about them.
//!
//! The sources are those of the C export, followed by an adaptive integrator for Co-Simulation and by the functions
//! of the standard. `variables` gives every quantity its value reference, `xml2` and `xml3` write the description.
//!
//! **Invariant:** equal models give equal sources and descriptions; the token in both is a number made from them.

mod build;
mod variables;
mod xml;
mod xml2;
mod xml3;
mod zip;

use crate::c;
use crate::seam::Export;
use std::fmt::Write as _;
use variables::{Kind, Variables, variables};

const ADAPTIVE: &str = include_str!("runtime/adaptive.c");
const COMPONENT: &str = include_str!("runtime/component.c");
const FMI2: &str = include_str!("runtime/fmi2.c");
const FMI3: &str = include_str!("runtime/fmi3.c");
const EXCHANGE: &str = include_str!("runtime/exchange.c");

/// Version of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 2.0
    Two,
    /// 3.0
    Three,
}

/// What a caller may choose.
#[derive(Clone, Debug)]
pub struct Options {
    /// Version of the standard.
    pub version: Version,
    /// Leave out the binary even where a C compiler is found.
    pub is_sources_only: bool,
}

/// An FMU.
#[derive(Clone, Debug)]
pub struct Fmu {
    /// The file.
    pub bytes: Vec<u8>,
    /// The model description in it.
    pub description: String,
    /// The C source in it.
    pub source: String,
    /// The platform of the binary in it; none if it has none.
    pub platform: Option<String>,
    /// Why there is no binary, in the words of the compiler or about it.
    pub no_binary: Option<String>,
}

/// Makes an FMU.
///
/// # Errors
///
/// No folder can be made for the compiler to work in.
pub fn write(export: &Export, options: &Options) -> Result<Fmu, String> {
    let c_options = c::Options::default();
    let files = c::write(export, &c_options);
    let prefix = &files.prefix;
    let variables = variables(export, options.version == Version::Three);
    let token = token(&[
        &files.source,
        &files.header,
        &format!("{:?}", options.version),
    ]);
    let tables = tables(export, &variables, &token);
    let api = match options.version {
        Version::Two => FMI2,
        Version::Three => FMI3,
    };
    let parts = [&files.source, &tables, ADAPTIVE, COMPONENT, api, EXCHANGE];
    let source = parts.concat().replace("@P@", prefix);
    let description = match options.version {
        Version::Two => xml2::description(export, &variables, prefix, &token),
        Version::Three => xml3::description(export, &variables, prefix, &token),
    };

    let mut zip = zip::Zip::default();
    zip.add("modelDescription.xml", description.as_bytes());
    zip.add(&format!("sources/{prefix}.c"), source.as_bytes());
    zip.add(&format!("sources/{prefix}.h"), files.header.as_bytes());
    if options.version == Version::Three {
        zip.add(
            "sources/buildDescription.xml",
            xml3::build_description(prefix).as_bytes(),
        );
    }

    let (mut platform, mut no_binary) = (None, None);
    match options.is_sources_only {
        true => no_binary = Some("left out as asked".to_owned()),
        false => match build::compile(prefix, &source, &files.header)? {
            build::Built::Library(bytes) => {
                let (folder, ending) = build::platform(options.version);
                zip.add(&format!("binaries/{folder}/{prefix}.{ending}"), &bytes);
                platform = Some(folder);
            }
            build::Built::None(reason) => no_binary = Some(reason),
        },
    }

    Ok(Fmu {
        bytes: zip.finish(),
        description,
        source,
        platform,
        no_binary,
    })
}

/// Packs files into a zip file, as FMUs are.
pub fn pack(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::Zip::default();
    for (name, content) in files {
        zip.add(name, content);
    }
    zip.finish()
}

/// A GUID made from texts (FNV-1a twice, with different beginnings).
fn token(texts: &[&str]) -> String {
    let hash = |mut h: u64| {
        for byte in texts.iter().flat_map(|t| t.bytes()) {
            h = (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        h
    };
    let (a, b) = (hash(0xcbf2_9ce4_8422_2325), hash(0x8422_2325_cbf2_9ce4));
    format!(
        "{{{:08x}-{:04x}-{:04x}-{:04x}-{:012x}}}",
        a >> 32,
        (a >> 16) & 0xffff,
        a & 0xffff,
        b >> 48,
        b & 0xffff_ffff_ffff
    )
}

/// What the functions of the standard read.
fn tables(export: &Export, variables: &Variables, token: &str) -> String {
    let mut out = String::from(
        "\n/* ---- tables of the FMU ------------------------------------------------------------------------------ */\n\n\
         enum { OF_TIME, OF_STATE, OF_RATE, OF_INPUT, OF_OUTPUT, OF_PARAMETER, OF_BOUND, OF_NUMBER, OF_DISCRETE, OF_GUARD, OF_CLOCK, OF_AUDIT };\n\
         typedef struct { int kind, index; double low, high; const char *name; } variable_row;\n\
         static const variable_row references[] = {\n",
    );

    let number = |x: f64| match x.is_finite() {
        true => format!("{x:?}"),
        false => format!("{}HUGE_VAL", if x < 0.0 { "-" } else { "" }),
    };

    for variable in &variables.all {
        let (kind, index) = kind_in_c(variable.kind);
        // Of a state: whether its start is calculated; of a number: the number.
        let low = match variable.kind {
            Kind::State(k) => f64::from(u8::from(export.states[k].is_calculated)),
            Kind::Number => variable.start,
            _ => variable.range.0.unwrap_or(f64::NEG_INFINITY),
        };
        let high = variable.range.1.unwrap_or(f64::INFINITY);
        let name = crate::names::in_string(&variable.name);
        let _ = writeln!(
            out,
            "    {{{kind}, {index}, {}, {}, {name}}},",
            number(low),
            number(high)
        );
    }

    let nominals: Vec<String> = export
        .states
        .iter()
        .map(|s| format!("{:?}", s.nominal))
        .collect();
    let nominals = if nominals.is_empty() {
        "0".to_owned()
    } else {
        nominals.join(", ")
    };
    let _ = write!(
        out,
        "}};\n#define HAS_AUDIT {}\nenum {{ N_REFERENCES = {}, AUDIT = {} }};\nstatic const double state_nominal[] = {{{nominals}}};\n\
         static const double default_tolerance = {:?}, default_start = {:?};\n\
         static const char instantiation_token[] = \"{token}\";\n",
        u8::from(export.audit.is_some()),
        variables.all.len(),
        export.audit.unwrap_or(0),
        export.rtol,
        export.span.0
    );
    out
}

/// The kind of a variable in the tables, and its number there.
fn kind_in_c(kind: Kind) -> (&'static str, usize) {
    match kind {
        Kind::Time => ("OF_TIME", 0),
        Kind::State(k) => ("OF_STATE", k),
        Kind::Rate(k) => ("OF_RATE", k),
        Kind::Input(k) => ("OF_INPUT", k),
        Kind::Output(k) => ("OF_OUTPUT", k),
        Kind::Parameter(k) => ("OF_PARAMETER", k),
        Kind::Bound(k) => ("OF_BOUND", k),
        Kind::Number => ("OF_NUMBER", 0),
        Kind::Discrete(k) => ("OF_DISCRETE", k),
        Kind::Guard(k) => ("OF_GUARD", k),
        Kind::Clock(k) => ("OF_CLOCK", k),
        Kind::Audit(k) => ("OF_AUDIT", k),
    }
}
