//! Energy domains: which effort and flow make power, and what p and q are called there.
//!
//! In:  the built-in table (McBride 2005, tables 3.1 and 3.2) and `domain` items of the text.
//! Out: a [`Domains`] table by [`DomainId`], with the dimension of every variable.
//!
//! **Invariant:** in a true domain effort · flow is a power, in a pseudo domain the flow alone
//! is; p has the dimension of effort · time, q that of flow · time.

use paynter_syntax::{Diagnostic, Span, ast};

use crate::code;
use crate::graph::{self, DomainId};
use crate::kinds::Memory;
use crate::suggest::nearest;
use crate::units::{Dimension, Unit};

/// One of the four variables of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainVariable {
    /// What an engineer calls it: `voltage`.
    pub name: String,
    /// The unit it is shown in.
    pub unit: Unit,
}

/// An energy domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its name in ports: `electrical`.
    pub name: String,
    /// The flow alone is the power.
    pub is_pseudo: bool,
    /// e
    pub effort: DomainVariable,
    /// f
    pub flow: DomainVariable,
    /// p = ∫e; none where nature has no inertia (thermal, chemical).
    pub momentum: Option<DomainVariable>,
    /// q = ∫f
    pub displacement: DomainVariable,
    /// Where the text defines it; none for a built-in one.
    pub defined_at: Option<Span>,
}

impl Domain {
    /// Gives the dimension of a variable of a bond in this domain; `Stored` is p for an inertia
    /// and q for everything else.
    pub fn dimension(&self, variable: graph::Variable, kind: graph::ElementKind) -> Dimension {
        match variable {
            graph::Variable::Effort => self.effort.unit.dimension,
            graph::Variable::Flow => self.flow.unit.dimension,
            graph::Variable::Stored => match kind.memory() {
                Some(Memory::Momentum) => self.effort.unit.dimension.times(Dimension::TIME),
                _ => self.displacement.unit.dimension,
            },
        }
    }
}

/// All domains of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Domains {
    table: Vec<Domain>,
}

/// Name; effort, flow, momentum, displacement, each with its unit.
type DomainRow = (&'static str, [(&'static str, &'static str); 4]);

/// Tables 3.1 and 3.2 of the thesis. An empty momentum does not exist.
const BUILT_IN: &[DomainRow] = &[
    (
        "electrical",
        [
            ("voltage", "V"),
            ("current", "A"),
            ("flux linkage", "Wb"),
            ("charge", "C"),
        ],
    ),
    (
        "translational",
        [
            ("force", "N"),
            ("velocity", "m/s"),
            ("momentum", "N*s"),
            ("displacement", "m"),
        ],
    ),
    (
        "rotational",
        [
            ("torque", "N*m"),
            ("angular velocity", "rad/s"),
            ("angular momentum", "N*m*s"),
            ("angle", "rad"),
        ],
    ),
    (
        "hydraulic",
        [
            ("pressure", "Pa"),
            ("volume flow", "m^3/s"),
            ("pressure momentum", "Pa*s"),
            ("volume", "m^3"),
        ],
    ),
    (
        "thermal",
        [
            ("temperature", "K"),
            ("entropy flow", "W/K"),
            ("", ""),
            ("entropy", "J/K"),
        ],
    ),
    (
        "chemical",
        [
            ("chemical potential", "J/mol"),
            ("molar flow", "mol/s"),
            ("", ""),
            ("amount", "mol"),
        ],
    ),
    (
        PSEUDO_HEAT,
        [
            ("temperature", "K"),
            ("heat flow", "W"),
            ("", ""),
            ("heat", "J"),
        ],
    ),
];

/// The built-in domain whose flow is a power.
const PSEUDO_HEAT: &str = "heat";

impl Default for Domains {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Domains {
    /// Gives the table without any domain of the text.
    pub fn built_in() -> Self {
        let quantity = |(name, unit): (&str, &str)| DomainVariable {
            name: name.to_owned(),
            unit: Unit::parse_text(unit).expect("the built-in domains use units of the table"),
        };
        let table = BUILT_IN
            .iter()
            .map(|&(name, [effort, flow, momentum, displacement])| Domain {
                name: name.to_owned(),
                is_pseudo: name == PSEUDO_HEAT,
                effort: quantity(effort),
                flow: quantity(flow),
                momentum: (!momentum.0.is_empty()).then(|| quantity(momentum)),
                displacement: quantity(displacement),
                defined_at: None,
            })
            .collect();
        Domains { table }
    }

    /// Gives the unit in which `.e`, `.f`, `.p` or `.q` of this dimension is shown: a torque in
    /// N*m and an angle in rad, though J and 1 are the same to the SI.
    pub fn unit_of(&self, letter: &str, dimension: Dimension) -> Option<&Unit> {
        let pick: fn(&Domain) -> Option<&DomainVariable> = match letter {
            "e" => |d| Some(&d.effort),
            "f" => |d| Some(&d.flow),
            "p" => |d| d.momentum.as_ref(),
            "q" => |d| Some(&d.displacement),
            _ => return None,
        };
        self.table
            .iter()
            .filter_map(pick)
            .map(|quantity| &quantity.unit)
            .find(|unit| unit.dimension == dimension && unit.factor == 1.0)
    }

    /// Finds a domain by name.
    pub fn find(&self, name: &str) -> Option<DomainId> {
        self.table
            .iter()
            .position(|d| d.name == name)
            .map(|at| DomainId(at as u32))
    }

    /// Finds a domain by name, or says which was probably meant.
    ///
    /// # Errors
    ///
    /// A finished message at `span`.
    pub fn require(&self, name: &str, span: Span) -> Result<DomainId, Box<Diagnostic>> {
        self.find(name).ok_or_else(|| {
            let names = || self.table.iter().map(|d| d.name.as_str());
            let message =
                Diagnostic::error(code::UNKNOWN_DOMAIN, format!("there is no domain `{name}`"))
                    .primary(span, "not a domain");
            Box::new(match nearest(name, names()) {
                Some(meant) => message.help(format!("did you mean `{meant}`?")),
                None => {
                    let known: Vec<String> = names().map(|n| format!("`{n}`")).collect();
                    message.help(format!("the domains are {}", known.join(", ")))
                }
            })
        })
    }

    /// Gives a domain.
    pub fn get(&self, id: DomainId) -> &Domain {
        &self.table[id.0 as usize]
    }

    /// Gives all domains in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (DomainId, &Domain)> {
        self.table
            .iter()
            .enumerate()
            .map(|(at, d)| (DomainId(at as u32), d))
    }

    /// Gives the plain table that a [`graph::BondGraph`] carries.
    pub fn to_graph(&self) -> Vec<graph::Domain> {
        self.table
            .iter()
            .map(|d| graph::Domain {
                name: d.name.clone(),
                is_pseudo: d.is_pseudo,
            })
            .collect()
    }

    /// Finds the only domain with an effort of this dimension, or with this flow.
    ///
    /// Temperature belongs to two domains, so it decides nothing.
    pub fn with_dimension(
        &self,
        variable: graph::Variable,
        dimension: Dimension,
    ) -> Option<DomainId> {
        let fits = |d: &Domain| match variable {
            graph::Variable::Effort => d.effort.unit.dimension == dimension,
            graph::Variable::Flow => d.flow.unit.dimension == dimension,
            graph::Variable::Stored => d.displacement.unit.dimension == dimension,
        };
        let mut found = self.iter().filter(|(_, d)| fits(d));
        match (found.next(), found.next()) {
            (Some((id, _)), None) => Some(id),
            _ => None,
        }
    }

    /// Adds a domain of the text: `domain acoustic { effort p [Pa]; flow U [m^3/s] }`.
    ///
    /// # Errors
    ///
    /// Every rule it breaks: an unknown or missing role, a unit that cannot be read, a product
    /// that is not power, a name that is taken.
    pub fn define(&mut self, item: &ast::Domain) -> Result<DomainId, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        if let Some(id) = self.find(&item.name.text) {
            errors.push(duplicate(item, self.get(id)));
        }
        let [effort, flow, momentum, displacement] = roles_of(item, &mut errors);
        let (Some((effort, _)), Some((flow, flow_at))) = (effort, flow) else {
            if errors.is_empty() {
                errors.push(
                    Diagnostic::error(
                        code::DOMAIN_ROLE,
                        format!("domain `{}` lacks its effort or its flow", item.name.text),
                    )
                    .primary(item.name.span, "needs both")
                    .help("write `effort p [Pa]; flow U [m^3/s]`"),
                );
            }
            return Err(errors);
        };

        errors.extend(check_power(item, &effort, &flow, flow_at));
        let integrals =
            [(momentum, &effort), (displacement, &flow)].map(|(given, of)| match given {
                Some((quantity, at)) => {
                    errors.extend(check_integral(&quantity, of, at));
                    quantity
                }
                None => integral_of(of),
            });

        if !errors.is_empty() {
            return Err(errors);
        }
        let [momentum, displacement] = integrals;
        self.table.push(Domain {
            name: item.name.text.to_string(),
            is_pseudo: item.pseudo.is_some(),
            effort,
            flow,
            momentum: Some(momentum),
            displacement,
            defined_at: Some(item.name.span),
        });
        Ok(DomainId((self.table.len() - 1) as u32))
    }
}

/// The words before the variables of a `domain` item.
const ROLES: [&str; 4] = ["effort", "flow", "momentum", "displacement"];

/// The variables that a domain gives, in the order of [`ROLES`], and where.
fn roles_of(
    item: &ast::Domain,
    errors: &mut Vec<Diagnostic>,
) -> [Option<(DomainVariable, Span)>; ROLES.len()] {
    let mut roles = [const { None }; ROLES.len()];
    for (role, name, unit) in &item.variables {
        let Some(slot) = ROLES.iter().position(|r| *r == &*role.text) else {
            errors.push(unknown_role(role));
            continue;
        };
        if let Some((_, first)) = &roles[slot] {
            errors.push(
                Diagnostic::error(code::DOMAIN_ROLE, format!("`{}` is given twice", role.text))
                    .primary(role.span, "given again")
                    .secondary(*first, "first here"),
            );
            continue;
        }
        let unit = match unit.as_ref().map(Unit::parse) {
            Some(Ok(unit)) => unit,
            Some(Err(error)) => {
                errors.push(error.to_diagnostic());
                continue;
            }
            None => {
                errors.push(without_unit(role));
                continue;
            }
        };
        let name = name.as_ref().map_or(&role.text, |n| &n.text).to_string();
        roles[slot] = Some((DomainVariable { name, unit }, role.span));
    }
    roles
}

fn duplicate(item: &ast::Domain, first: &Domain) -> Diagnostic {
    let message = Diagnostic::error(
        code::DUPLICATE_DOMAIN,
        format!("there are two domains `{}`", item.name.text),
    )
    .primary(item.name.span, "defined again");
    match first.defined_at {
        Some(span) => message.secondary(span, "first defined here"),
        None => message.help("this domain is built in; choose another name"),
    }
}

fn unknown_role(role: &ast::Ident) -> Diagnostic {
    let message = Diagnostic::error(
        code::DOMAIN_ROLE,
        format!("a domain has no variable `{}`", role.text),
    )
    .primary(
        role.span,
        "one of `effort`, `flow`, `momentum`, `displacement`",
    );
    match nearest(&role.text, ROLES) {
        Some(meant) => message.help(format!("did you mean `{meant}`?")),
        None => message,
    }
}

fn without_unit(role: &ast::Ident) -> Diagnostic {
    Diagnostic::error(
        code::DOMAIN_ROLE,
        format!("the {} of a domain needs a unit", role.text),
    )
    .primary(role.span, "no unit in brackets")
    .help(format!("write its unit, such as `{} p [Pa]`", role.text))
}

fn check_power(
    item: &ast::Domain,
    effort: &DomainVariable,
    flow: &DomainVariable,
    flow_at: Span,
) -> Option<Diagnostic> {
    let (e, f) = (effort.unit.dimension, flow.unit.dimension);
    let is_power = |d: Dimension| d == Dimension::POWER;
    let name = &item.name.text;
    if item.pseudo.is_some() {
        return (!is_power(f)).then(|| {
            Diagnostic::error(
                code::DOMAIN_NO_POWER,
                format!("the flow of the pseudo domain `{name}` is not power"),
            )
            .primary(flow_at, format!("{} is not W", f.describe()))
            .help("in a pseudo domain the flow alone is the power, in W")
        });
    }

    if is_power(e.times(f)) {
        return None;
    }
    let message = Diagnostic::error(
        code::DOMAIN_NO_POWER,
        format!("effort times flow of domain `{name}` is not power"),
    )
    .primary(
        item.name.span,
        format!(
            "{} times {} is {}, not W",
            effort.unit.text,
            flow.unit.text,
            e.times(f)
        ),
    );

    Some(match is_power(f) {
        true => message.help(format!(
            "the flow alone is a power: write `domain {name} pseudo`"
        )),
        false => message,
    })
}

fn integral_of(rate: &DomainVariable) -> DomainVariable {
    let dimension = rate.unit.dimension.times(Dimension::TIME);
    let unit = Unit::parse_text(&dimension.to_string()).expect("a dimension prints as a unit");
    DomainVariable {
        name: format!("integral of {}", rate.name),
        unit,
    }
}

fn check_integral(given: &DomainVariable, rate: &DomainVariable, at: Span) -> Option<Diagnostic> {
    let right = rate.unit.dimension.times(Dimension::TIME);
    (given.unit.dimension != right).then(|| {
        Diagnostic::error(
            code::DOMAIN_ROLE,
            format!(
                "`{}` is not the time integral of `{}`",
                given.name, rate.name
            ),
        )
        .primary(
            at,
            format!("in {}, should be in {}", given.unit.text, right.describe()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{ElementKind, Variable};

    fn ident(text: &str) -> ast::Ident {
        ast::Ident {
            text: text.into(),
            span: Span::default(),
        }
    }

    fn unit(text: &str) -> ast::Unit {
        let factors = match text {
            "Pa" => vec![("Pa", 1)],
            "m^3/s" => vec![("m", 3), ("s", -1)],
            "W" => vec![("W", 1)],
            "K" => vec![("K", 1)],
            _ => vec![("m", 1)],
        };
        ast::Unit {
            factors: factors
                .into_iter()
                .map(|(name, n)| ast::UnitFactor {
                    name: ident(name),
                    exponent: (n, 1),
                })
                .collect(),
            span: Span::default(),
        }
    }

    fn define(variables: &[(&str, &str)], pseudo: bool) -> Result<DomainId, Vec<&'static str>> {
        let item = ast::Domain {
            name: ident("acoustic"),
            variables: variables
                .iter()
                .map(|(role, u)| (ident(role), Some(ident("x")), Some(unit(u))))
                .collect(),
            pseudo: pseudo.then(Span::default),
        };
        Domains::built_in()
            .define(&item)
            .map_err(|errors| errors.into_iter().map(|e| e.code).collect())
    }

    #[test]
    fn effort_times_flow_is_power_and_integrals_fit() {
        for (_, domain) in Domains::built_in().iter() {
            let (e, f) = (domain.effort.unit.dimension, domain.flow.unit.dimension);
            let power = if domain.is_pseudo { f } else { e.times(f) };
            assert_eq!(power, Dimension::POWER, "{}", domain.name);
            assert_eq!(domain.displacement.unit.dimension, f.times(Dimension::TIME));
            if let Some(p) = &domain.momentum {
                assert_eq!(
                    p.unit.dimension,
                    e.times(Dimension::TIME),
                    "{}",
                    domain.name
                );
            }
        }
    }

    #[test]
    fn heat_and_entropy_have_no_inertia() {
        let domains = Domains::built_in();
        for name in ["thermal", "chemical", "heat"] {
            let id = domains.find(name).expect("it is built in");
            assert_eq!(domains.get(id).momentum, None);
        }
    }

    #[test]
    fn a_domain_is_known_by_its_variables_unless_two_share_them() {
        let domains = Domains::built_in();
        let id = domains
            .with_dimension(Variable::Effort, Dimension::VOLTAGE)
            .expect("only one");
        assert_eq!(domains.get(id).name, "electrical");
        assert_eq!(
            domains
                .get(id)
                .dimension(Variable::Stored, ElementKind::I)
                .describe(),
            "Wb = V*s"
        );
        assert_eq!(
            domains.with_dimension(Variable::Effort, Dimension::TEMPERATURE),
            None
        );
    }

    #[test]
    fn a_new_domain_must_carry_power() {
        assert!(define(&[("effort", "Pa"), ("flow", "m^3/s")], false).is_ok());
        assert!(define(&[("effort", "K"), ("flow", "W")], true).is_ok());
        assert_eq!(
            define(&[("effort", "K"), ("flow", "W")], false),
            Err(vec![code::DOMAIN_NO_POWER])
        );
        assert_eq!(
            define(&[("effort", "Pa"), ("flow", "m^3/s")], true),
            Err(vec![code::DOMAIN_NO_POWER])
        );
        assert_eq!(
            define(&[("effort", "Pa")], false),
            Err(vec![code::DOMAIN_ROLE])
        );
        assert_eq!(
            define(&[("effrt", "Pa"), ("flow", "m^3/s"), ("flow", "W")], false),
            Err(vec![code::DOMAIN_ROLE, code::DOMAIN_ROLE])
        );
        assert_eq!(
            define(
                &[("effort", "Pa"), ("flow", "m^3/s"), ("displacement", "m")],
                false
            ),
            Err(vec![code::DOMAIN_ROLE])
        );
    }

    #[test]
    fn an_unknown_domain_is_told_with_the_nearest() {
        let error = Domains::built_in()
            .require("electric", Span::default())
            .expect_err("unknown");
        assert_eq!(error.help, ["did you mean `electrical`?"]);
    }
}
