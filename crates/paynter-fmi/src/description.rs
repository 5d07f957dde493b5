//! What an FMU says of itself: `modelDescription.xml` of FMI 2.0 and 3.0.
//!
//! In:  the text.
//! Out: a [`Description`]: variables, units, interfaces and structure, the same for both versions.
//!
//! **Invariant:** positions point into [`Description::variables`]; states and their rates are in the order of the
//! functions that get and set them.

use crate::Problem;
use roxmltree::{Document, Node};
use std::collections::HashMap;

/// The version of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// FMI 2.0.x
    Two,
    /// FMI 3.0.x
    Three,
}

/// Everything that is known without running the FMU.
#[derive(Clone, Debug)]
pub struct Description {
    /// Version of the standard.
    pub version: Version,
    /// Name of the model.
    pub name: String,
    /// The GUID or token that ties the binary to this text.
    pub token: String,
    /// Model Exchange, if the FMU has it.
    pub model_exchange: Option<Interface>,
    /// Co-Simulation, if the FMU has it.
    pub co_simulation: Option<Interface>,
    /// All variables.
    pub variables: Vec<Variable>,
    /// Units by name: exponents of the SI and scale, where the file gives them.
    pub units: HashMap<String, UnitOf>,
    /// Positions of the states.
    pub states: Vec<usize>,
    /// Positions of their rates.
    pub rates: Vec<usize>,
    /// The outputs.
    pub outputs: Vec<Output>,
    /// How many event indicators there are.
    pub n_indicators: usize,
    /// Relative tolerance that the FMU asks for.
    pub tolerance: Option<f64>,
}

/// One way to run the FMU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name of the library.
    pub identifier: String,
    /// Only one instance can be made.
    pub is_only_once: bool,
    /// It gives directional derivatives.
    pub has_derivatives: bool,
    /// It need not be told of the steps of the integrator.
    pub needs_no_steps: bool,
    /// It is a shell around another program that must be installed.
    pub needs_tool: bool,
}

/// An output.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its position.
    pub variable: usize,
    /// What it depends on at the same instant; none if the file does not say.
    pub dependencies: Option<Vec<usize>>,
}

/// Where a value comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the standard")]
pub enum Causality {
    Parameter,
    Calculated,
    Structural,
    Input,
    Output,
    Local,
    Independent,
}

/// When a value may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of the standard")]
pub enum Variability {
    Constant,
    Fixed,
    Tunable,
    Discrete,
    Continuous,
}

/// The type of a variable; whole numbers by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Sort {
    Float64,
    Float32,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Boolean,
    Enumeration,
    /// Texts, clocks, bytes.
    Other,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// What it is called in calls.
    pub reference: u32,
    /// Its type.
    pub sort: Sort,
    /// Where it comes from.
    pub causality: Causality,
    /// When it changes.
    pub variability: Variability,
    /// Its value at the start, in its own unit.
    pub start: Option<f64>,
    /// Smallest and largest value, in its own unit.
    pub range: (Option<f64>, Option<f64>),
    /// A typical size.
    pub nominal: f64,
    /// Its unit.
    pub unit: Option<String>,
    /// It is an array (FMI 3.0).
    pub is_array: bool,
    /// SI value = factor · value + offset.
    pub scale: (f64, f64),
    /// What the file says about it.
    pub description: String,
}

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitOf {
    /// Exponents of kg, m, s, A, K, mol, cd, rad.
    pub exponents: [i32; 8],
    /// SI value = factor · value + offset.
    pub scale: (f64, f64),
}

/// Elements may be nested this deep: the reader needs stack for each level. Vendors' annotations in good files go
/// some twenty deep.
const MAX_DEPTH: usize = 512;

impl Description {
    /// Reads a model description.
    ///
    /// # Errors
    ///
    /// What is wrong with it, with the line.
    pub fn read(text: &str) -> Result<Description, Problem> {
        let bad = |why: String| Problem::Description(format!("`modelDescription.xml`: {why}"));
        if is_too_deep(text) {
            return Err(bad(format!("nested more than {MAX_DEPTH} deep")));
        }
        let document = Document::parse(text).map_err(|e| bad(e.to_string()))?;
        let root = document.root_element();
        if root.tag_name().name() != "fmiModelDescription" {
            let name = root.tag_name().name();
            return Err(bad(format!(
                "begins with `{name}`, not `fmiModelDescription`"
            )));
        }
        let version = root.attribute("fmiVersion").unwrap_or("");
        let version = match version {
            _ if version.starts_with("2.") => Version::Two,
            _ if version.starts_with("3.") => Version::Three,
            _ => return Err(Problem::Version(version.to_owned())),
        };
        let reader = Reader {
            version,
            types: declared_types(root),
        };
        reader.description(root).map_err(bad)
    }

    /// Gives the position of a variable by its name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|v| v.name == name)
    }
}

/// Tells by looks whether elements are nested too deep.
fn is_too_deep(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    for (k, &byte) in bytes.iter().enumerate() {
        match (byte, bytes.get(k + 1)) {
            (b'<', Some(b'/')) | (b'/', Some(b'>')) => depth = depth.saturating_sub(1),
            (b'<', Some(b'?' | b'!')) => {}
            (b'<', _) => depth += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// What a variable takes from its declared type.
#[derive(Clone, Debug, Default)]
struct Declared {
    unit: Option<String>,
    nominal: Option<f64>,
    range: (Option<f64>, Option<f64>),
}

struct Reader {
    version: Version,
    types: HashMap<String, Declared>,
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    node.children().find(|c| c.has_tag_name(name))
}

fn elements<'a, 'b>(node: Option<Node<'a, 'b>>) -> impl Iterator<Item = Node<'a, 'b>> {
    let all = node.into_iter().flat_map(|n| n.children());
    all.filter(Node::is_element)
}

fn number(node: Node<'_, '_>, name: &str) -> Option<f64> {
    let text = node.attribute(name)?.trim();
    match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        _ => text.parse().ok(),
    }
}

fn is_true(node: Node<'_, '_>, name: &str) -> bool {
    matches!(node.attribute(name), Some("true" | "1"))
}

fn declared_types(root: Node<'_, '_>) -> HashMap<String, Declared> {
    let mut types = HashMap::new();
    for one in elements(child(root, "TypeDefinitions")) {
        // FMI 2.0: <SimpleType name><Real unit/></SimpleType>; FMI 3.0: <Float64Type name unit/>.
        let Some(name) = one.attribute("name") else {
            continue;
        };
        let inner = elements(Some(one)).next();
        let facts = match one.has_tag_name("SimpleType") {
            true => inner.unwrap_or(one),
            false => one,
        };
        let declared = Declared {
            unit: facts.attribute("unit").map(str::to_owned),
            nominal: number(facts, "nominal"),
            range: (number(facts, "min"), number(facts, "max")),
        };
        types.insert(name.to_owned(), declared);
    }
    types
}

impl Reader {
    fn description(&self, root: Node<'_, '_>) -> Result<Description, String> {
        let key = match self.version {
            Version::Two => "guid",
            Version::Three => "instantiationToken",
        };
        let token = root.attribute(key);
        let token = token.ok_or_else(|| format!("the attribute `{key}` is missing"))?;
        let mut variables = Vec::new();
        let mut derivatives: Vec<(usize, usize)> = Vec::new();
        for node in elements(child(root, "ModelVariables")) {
            let at = variables.len();
            let (variable, derivative) = self.variable(node)?;
            derivatives.extend(derivative.map(|of| (at, of)));
            variables.push(variable);
        }

        let places = Places::of(self.version, &variables);
        let structure = child(root, "ModelStructure");
        let rates = self.listed(
            structure,
            ("Derivatives", "ContinuousStateDerivative"),
            &places,
        )?;
        let states = rates
            .iter()
            .map(|rate| {
                let of = derivatives.iter().find(|d| d.0 == rate.variable);
                let of = of.and_then(|d| places.find(d.1));
                of.ok_or_else(|| {
                    let name = &variables[rate.variable].name;
                    format!("`{name}` is listed as a derivative without saying of what")
                })
            })
            .collect::<Result<Vec<usize>, String>>()?;

        let outputs = self.listed(structure, ("Outputs", "Output"), &places)?;
        let n_indicators = match self.version {
            Version::Two => number(root, "numberOfEventIndicators").unwrap_or(0.0) as usize,
            Version::Three => elements(structure)
                .filter(|n| n.has_tag_name("EventIndicator"))
                .count(),
        };

        Ok(Description {
            version: self.version,
            name: root.attribute("modelName").unwrap_or("model").to_owned(),
            token: token.to_owned(),
            model_exchange: interface(child(root, "ModelExchange"))?,
            co_simulation: interface(child(root, "CoSimulation"))?,
            units: units(root),
            states,
            rates: rates.into_iter().map(|r| r.variable).collect(),
            outputs,
            n_indicators,
            tolerance: child(root, "DefaultExperiment").and_then(|n| number(n, "tolerance")),
            variables,
        })
    }

    /// A variable, and what it is the derivative of: index or reference.
    fn variable(&self, node: Node<'_, '_>) -> Result<(Variable, Option<usize>), String> {
        let name = node.attribute("name").ok_or("a variable has no name")?;
        let reference = node.attribute("valueReference").unwrap_or("");
        let reference = reference
            .parse()
            .map_err(|_| format!("`{name}` has no valueReference"))?;
        let facts = match self.version {
            Version::Two => elements(Some(node)).find(|n| !n.has_tag_name("Annotations")),
            Version::Three => Some(node),
        };
        let facts = facts.ok_or_else(|| format!("`{name}` has no type"))?;
        let sort = sort(facts.tag_name().name());
        let declared = facts.attribute("declaredType");
        let declared = declared.and_then(|d| self.types.get(d)).cloned();
        let declared = declared.unwrap_or_default();
        let unit = facts.attribute("unit").map(str::to_owned);
        let derivative = facts.attribute("derivative").and_then(|d| d.parse().ok());
        let variable = Variable {
            name: name.to_owned(),
            reference,
            sort,
            causality: causality(node.attribute("causality"))?,
            variability: variability(node.attribute("variability"), sort)?,
            start: number(facts, "start"),
            range: (
                number(facts, "min").or(declared.range.0),
                number(facts, "max").or(declared.range.1),
            ),
            nominal: number(facts, "nominal")
                .or(declared.nominal)
                .filter(|n| *n != 0.0 && n.is_finite())
                .map_or(1.0, f64::abs),
            unit: unit.or(declared.unit),
            is_array: child(node, "Dimension").is_some(),
            scale: (1.0, 0.0),
            description: node.attribute("description").unwrap_or("").to_owned(),
        };
        Ok((variable, derivative))
    }

    /// Unknowns of the model structure with what they depend on.
    fn listed(
        &self,
        structure: Option<Node<'_, '_>>,
        (section, element): (&str, &str),
        places: &Places,
    ) -> Result<Vec<Output>, String> {
        let (list, key) = match self.version {
            Version::Two => (structure.and_then(|s| child(s, section)), "index"),
            Version::Three => (structure, "valueReference"),
        };
        let wanted = |n: &Node<'_, '_>| self.version == Version::Two || n.has_tag_name(element);
        let mut found = Vec::new();
        for node in elements(list).filter(wanted) {
            let at = node.attribute(key).and_then(|k| k.parse().ok());
            let at = at.and_then(|k| places.find(k));
            let at = at.ok_or_else(|| format!("`{section}` names a variable that is not there"))?;
            let dependencies = node.attribute("dependencies").map(|list| {
                let each = list.split_whitespace();
                each.filter_map(|d| places.find(d.parse().ok()?)).collect()
            });
            found.push(Output {
                variable: at,
                dependencies,
            });
        }
        Ok(found)
    }
}

/// How the model structure names variables: by place in FMI 2.0, by reference in FMI 3.0.
enum Places {
    Index(usize),
    Reference(HashMap<usize, usize>),
}

impl Places {
    fn of(version: Version, variables: &[Variable]) -> Places {
        let references = variables.iter().enumerate();
        match version {
            Version::Two => Places::Index(variables.len()),
            Version::Three => {
                Places::Reference(references.map(|(k, v)| (v.reference as usize, k)).collect())
            }
        }
    }

    fn find(&self, key: usize) -> Option<usize> {
        match self {
            Places::Index(n) => (1..=*n).contains(&key).then(|| key - 1),
            Places::Reference(places) => places.get(&key).copied(),
        }
    }
}

fn interface(node: Option<Node<'_, '_>>) -> Result<Option<Interface>, String> {
    let Some(node) = node else {
        return Ok(None);
    };
    let identifier = node.attribute("modelIdentifier").unwrap_or("");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if identifier.is_empty() || !identifier.chars().all(is_name) {
        return Err(format!("`{identifier}` is not a modelIdentifier"));
    }
    Ok(Some(Interface {
        identifier: identifier.to_owned(),
        is_only_once: is_true(node, "canBeInstantiatedOnlyOncePerProcess"),
        has_derivatives: is_true(node, "providesDirectionalDerivative")
            || is_true(node, "providesDirectionalDerivatives"),
        needs_no_steps: is_true(node, "completedIntegratorStepNotNeeded")
            || node.attribute("needsCompletedIntegratorStep") == Some("false"),
        needs_tool: is_true(node, "needsExecutionTool"),
    }))
}

fn units(root: Node<'_, '_>) -> HashMap<String, UnitOf> {
    let mut units = HashMap::new();
    for unit in elements(child(root, "UnitDefinitions")) {
        let (Some(name), Some(base)) = (unit.attribute("name"), child(unit, "BaseUnit")) else {
            continue;
        };
        let letters = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];
        let exponents = letters.map(|l| number(base, l).unwrap_or(0.0) as i32);
        let factor = number(base, "factor").unwrap_or(1.0);
        let offset = number(base, "offset").unwrap_or(0.0);
        let scale = (factor, offset);
        units.insert(name.to_owned(), UnitOf { exponents, scale });
    }
    units
}

fn sort(tag: &str) -> Sort {
    match tag {
        "Real" | "Float64" => Sort::Float64,
        "Float32" => Sort::Float32,
        "Int8" => Sort::Int8,
        "UInt8" => Sort::UInt8,
        "Int16" => Sort::Int16,
        "UInt16" => Sort::UInt16,
        "Integer" | "Int32" => Sort::Int32,
        "UInt32" => Sort::UInt32,
        "Int64" => Sort::Int64,
        "UInt64" => Sort::UInt64,
        "Boolean" => Sort::Boolean,
        "Enumeration" => Sort::Enumeration,
        _ => Sort::Other,
    }
}

fn causality(text: Option<&str>) -> Result<Causality, String> {
    Ok(match text {
        Some("parameter") => Causality::Parameter,
        Some("calculatedParameter") => Causality::Calculated,
        Some("structuralParameter") => Causality::Structural,
        Some("input") => Causality::Input,
        Some("output") => Causality::Output,
        Some("local") | None => Causality::Local,
        Some("independent") => Causality::Independent,
        Some(other) => return Err(format!("`{other}` is not a causality")),
    })
}

fn variability(text: Option<&str>, sort: Sort) -> Result<Variability, String> {
    Ok(match text {
        Some("constant") => Variability::Constant,
        Some("fixed") => Variability::Fixed,
        Some("tunable") => Variability::Tunable,
        Some("discrete") => Variability::Discrete,
        Some("continuous") => Variability::Continuous,
        None if matches!(sort, Sort::Float64 | Sort::Float32) => Variability::Continuous,
        None => Variability::Discrete,
        Some(other) => return Err(format!("`{other}` is not a variability")),
    })
}

impl Sort {
    /// Tells whether its values are numbers or truth values.
    pub fn is_number(self) -> bool {
        self != Sort::Other
    }

    /// Tells whether its values vary continuously.
    pub fn is_real(self) -> bool {
        matches!(self, Sort::Float64 | Sort::Float32)
    }
}
