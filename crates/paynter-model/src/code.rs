//! The codes of all messages of this crate, with what each means.
//!
//! In:  nothing.
//! Out: constants for the places that report, and [`TABLE`] for `paynter explain` and the book.
//!
//! **Invariant:** every constant has a row in [`TABLE`]; every row has a fixture in
//! `tests/diagnostics` whose file name begins with the code.

/// One row: code, title, explanation in a sentence or two.
pub type CodeRow = (&'static str, &'static str, &'static str);

// E08xx: Lagrangians.

/// A name of a `lagrangian` block that is missing, there twice, or without a value.
pub const LAGRANGIAN_NAME: &str = "E0801";
/// An expression of a `lagrangian` block that cannot be differentiated.
pub const LAGRANGIAN_EXPRESSION: &str = "E0802";
/// A rate that is not linear in rates of coordinates.
pub const RATE_FORM: &str = "E0803";
/// A rate or energy that reads time or an input directly.
pub const LAGRANGIAN_TIME: &str = "E0804";
/// A kinetic energy that is not quadratic in rates.
pub const NOT_QUADRATIC: &str = "E0805";
/// A kinetic energy that can be negative.
pub const INDEFINITE: &str = "E0806";
/// A direction of motion that nothing resists.
pub const IDLE_COORDINATE: &str = "E0807";
/// An energy that is not in joules, or a loss that is not in watts.
pub const NOT_AN_ENERGY: &str = "E0808";
/// A loss that belongs to no single rate.
pub const LOSS_FORM: &str = "E0809";
/// A constraint that is not linear in rates, or holds nothing.
pub const CONSTRAINT_FORM: &str = "E0810";
/// A rolling constraint that was put into the kinetic energy.
pub const ROLLING_SUBSTITUTED: &str = "E0811";
/// A potential that is not linear in rates, or reads no coordinate.
pub const POTENTIAL_FORM: &str = "E0812";
/// A parameter with the name of a variable of laws.
pub const LETTER_TAKEN: &str = "E0813";
/// A given motion that reads more than time and parameters.
pub const GIVEN_FORM: &str = "E0815";
/// Generalised speeds that do not tell the motion, or tell it twice.
pub const SPEEDS: &str = "E0816";

// E03xx: units and domains.

/// A name in brackets is no unit.
pub const UNKNOWN_UNIT: &str = "E0301";
/// `degC`, `degF` or `dB` inside a product.
pub const UNIT_NOT_ALONE: &str = "E0302";
/// A power that no quantity has.
pub const UNIT_EXPONENT: &str = "E0303";
/// A port or bond names a domain that does not exist.
pub const UNKNOWN_DOMAIN: &str = "E0310";
/// Two domains of one name.
pub const DUPLICATE_DOMAIN: &str = "E0311";
/// A `domain` item with a wrong, missing or repeated variable.
pub const DOMAIN_ROLE: &str = "E0312";
/// Effort times flow of a domain is no power.
pub const DOMAIN_NO_POWER: &str = "E0313";

// E033x: built-in functions.

/// A call of a function that does not exist.
pub const UNKNOWN_FUNCTION: &str = "E0330";
/// Too many, too few or unknown arguments of a built-in function.
pub const WRONG_ARGUMENTS: &str = "E0331";
/// A vector where a number is needed, or a matrix of the wrong size.
pub const ARGUMENT_SHAPE: &str = "E0332";
/// An argument of a built-in function with the wrong unit.
pub const ARGUMENT_UNIT: &str = "E0333";
/// A constant argument for which the function has no value.
pub const ARGUMENT_VALUE: &str = "E0334";
/// Points that make no table.
pub const TABLE_DATA: &str = "E0335";
/// A table file that cannot be read.
pub const TABLE_FILE: &str = "E0336";
/// A transfer function with more zeros than poles.
pub const IMPROPER_TRANSFER: &str = "E0337";

// E045x–E049x: physics of laws.

/// A C or I whose law reads a signal.
pub const MODULATED_STORAGE: &str = "E0450";
/// A C or I field whose ports act on each other differently.
pub const NOT_RECIPROCAL: &str = "E0451";
/// A capacitance or inertia that is not positive.
pub const STORAGE_SIZE: &str = "E0452";
/// A storage whose energy has no lower bound.
pub const STORAGE_UNSTABLE: &str = "W0453";
/// A resistor that certainly creates power.
pub const ACTIVE_RESISTOR: &str = "E0454";
/// A resistor that creates power at some point.
pub const RESISTOR_MAY_CREATE_POWER: &str = "W0455";
/// A gyrator or transformer whose law creates or loses power.
pub const NOT_POWERLESS: &str = "E0456";
/// A transformer or gyrator that passes nothing.
pub const ZERO_MODULUS: &str = "W0457";
/// An inertia in a domain without momentum.
pub const NO_INERTIA: &str = "E0458";
/// A law with a constant that is not finite.
pub const LAW_NOT_FINITE: &str = "E0459";
/// A bond from an element to itself, found after parts were joined.
pub const BOND_TO_ITSELF: &str = "E0460";
/// A bond between two sources, found after parts were joined.
pub const SOURCE_MEETS_SOURCE: &str = "E0461";
/// A junction that joins nothing, found after parts were joined.
pub const JUNCTION_ALONE: &str = "E0462";
/// A junction with one bond that does nothing.
pub const JUNCTION_IDLE: &str = "W0463";
/// Moments of inertia that no rigid body has.
pub const IMPOSSIBLE_INERTIA: &str = "W0464";

// E06xx: causality.

/// Two elements give effort to one 0-junction.
pub const EFFORT_SET_TWICE: &str = "E0601";
/// Two elements give flow to one 1-junction.
pub const FLOW_SET_TWICE: &str = "E0602";
/// All bonds of a junction take the variable that it shares.
pub const NOTHING_SETS: &str = "E0603";
/// A bond is required both ways.
pub const BOND_BOTH_WAYS: &str = "E0604";
/// Junctions in a loop contradict each other.
pub const JUNCTIONS_DISAGREE: &str = "E0605";
/// The equations divide by a modulus that can vanish.
pub const MODULUS_INVERTED: &str = "W0606";
/// A nonlinear law is used backwards.
pub const LAW_INVERTED: &str = "E0607";
/// Components of a multibond have different strokes.
pub const MULTIBOND_SPLIT: &str = "E0608";
/// Ratios round a ring of two-ports disagree.
pub const RING_LOCKS: &str = "E0609";
/// Ratios round a ring of two-ports agree: one is redundant.
pub const RING_REDUNDANT: &str = "W0610";

// E05xx: experiments.

/// A setting that experiments do not have.
pub const UNKNOWN_SETTING: &str = "E0501";
/// A setting with a value it cannot have.
pub const SETTING_VALUE: &str = "E0502";
/// A setting, bound or target in the wrong unit.
pub const SETTING_UNIT: &str = "E0503";
/// Times of a run out of order.
pub const STOP_BEFORE_START: &str = "E0504";
/// A method that does not exist.
pub const UNKNOWN_METHOD: &str = "E0505";
/// A way to enforce constraints that does not exist.
pub const UNKNOWN_CONSTRAINTS: &str = "E0506";
/// A setting given twice.
pub const SETTING_TWICE: &str = "E0507";
/// Two columns of one name.
pub const DUPLICATE_COLUMN: &str = "E0508";
/// Wrong arguments of a measure.
pub const MEASURE_ARGUMENTS: &str = "E0509";
/// Something that is no single number.
pub const NOT_A_MEASURE: &str = "E0510";
/// Two measures of one name.
pub const DUPLICATE_MEASURE: &str = "E0511";
/// Values that a sweep cannot walk through.
pub const SWEEP_VALUES: &str = "E0512";
/// A search without aim, bounds or a proper condition.
pub const OPTIMIZE: &str = "E0513";

/// Every code of this crate.
pub const TABLE: &[CodeRow] = &ALL;

const N_CODES: usize = OWN.len() + crate::elaborate::code::TABLE.len();

const ALL: [CodeRow; N_CODES] = {
    let mut all = [("", "", ""); N_CODES];
    let mut at = 0;
    while at < N_CODES {
        all[at] = if at < OWN.len() {
            OWN[at]
        } else {
            crate::elaborate::code::TABLE[at - OWN.len()]
        };
        at += 1;
    }
    all
};

/// The codes of this file, in the order in which they were added.
const OWN: &[CodeRow] = &[
    (
        LAGRANGIAN_NAME,
        "name in a Lagrangian",
        "Every coordinate, rate and energy of a `lagrangian` block has a name of its own and is declared there.",
    ),
    (
        LAGRANGIAN_EXPRESSION,
        "expression without derivative",
        "Energies, rates and constraints are differentiated: they are made of + - * / ^, `if`, elementary functions, and functions of the file that are one expression.",
    ),
    (
        RATE_FORM,
        "rate that is not linear",
        "A `rate` is a sum of der(…) of coordinates and other rates, each times a function of coordinates and parameters.",
    ),
    (
        LAGRANGIAN_TIME,
        "input in an energy",
        "What changes an energy from outside must be a motion with a drive: declare it as `given s = …`, and read s and der(s). Then the power it takes is in the graph. How an input changes is not known.",
    ),
    (
        NOT_QUADRATIC,
        "kinetic energy that is not quadratic",
        "An inertia stores 0.5*I*f^2. Kinetic energy must be quadratic in der(…) and nothing else.",
    ),
    (
        INDEFINITE,
        "negative kinetic energy",
        "Motion in some direction would have less energy than rest. The message names a place and the direction.",
    ),
    (
        IDLE_COORDINATE,
        "coordinate without energy",
        "A coordinate, or a combination of coordinates, with neither inertia, stiffness, loss, constraint nor port could move in any way.",
    ),
    (
        NOT_AN_ENERGY,
        "unit of an energy",
        "`kinetic` and `potential` are in joules, `loss` is in watts. In a file with `units strict` coordinates have units.",
    ),
    (
        LOSS_FORM,
        "form of a loss",
        "A `loss` is a sum of 0.5*b*(rate)^2, or any function of one rate: each becomes a resistor at the junction of the rate.",
    ),
    (
        CONSTRAINT_FORM,
        "form of a constraint",
        "A `constraint` relates coordinates, or is linear in der(…). The force that keeps it then acts along its coefficients (d'Alembert).",
    ),
    (
        ROLLING_SUBSTITUTED,
        "rolling constraint in the kinetic energy",
        "Putting a rolling constraint into T before differentiating gives wrong equations. Write T in all rates, and keep the constraint.",
    ),
    (
        POTENTIAL_FORM,
        "form of a potential",
        "A `potential` is a function of coordinates, less A(q)·der(q) for magnetic and similar forces, which become gyrators.",
    ),
    (
        LETTER_TAKEN,
        "letter of a law",
        "In the law of an element e, f, q and p are its own variables. A parameter of that name cannot be read there.",
    ),
    (
        GIVEN_FORM,
        "form of a given motion",
        "A `given` motion is written in time and parameters, so that its rate is known at all times.",
    ),
    (
        SPEEDS,
        "choice of speeds",
        "`speed` names rates that are the states, as many as coordinates less constraints. Each must be free to be chosen when the others are, and together they must tell every der(…).",
    ),
    (
        UNKNOWN_UNIT,
        "unknown unit",
        "The name in brackets is not in the table of units. Prefixes are allowed on SI units only; a product needs `*`, as in `N*m`.",
    ),
    (
        UNIT_NOT_ALONE,
        "unit that cannot be multiplied",
        "`degC` and `degF` have a zero point of their own and `dB` is a level, so products and powers of them mean nothing. Temperature differences are in `K`.",
    ),
    (
        UNIT_EXPONENT,
        "exponent of a unit out of range",
        "No physical quantity has such a power of a unit.",
    ),
    (
        UNKNOWN_DOMAIN,
        "unknown domain",
        "The built-in domains are electrical, translational, rotational, hydraulic, thermal, chemical and heat; others are defined by `domain`.",
    ),
    (
        DUPLICATE_DOMAIN,
        "domain defined twice",
        "The name of a domain belongs to one definition; built-in names are taken.",
    ),
    (
        DOMAIN_ROLE,
        "variables of a domain",
        "A domain has an effort and a flow, each with a unit, and may name its momentum and displacement, which are their time integrals.",
    ),
    (
        DOMAIN_NO_POWER,
        "effort times flow is not power",
        "The product of effort and flow must be in W; in a domain marked `pseudo` the flow alone is.",
    ),
    (
        WRONG_ARGUMENTS,
        "wrong arguments of a function",
        "Arguments are given in order, or by name; each once, and none that the function does not have.",
    ),
    (
        ARGUMENT_SHAPE,
        "wrong shape of an argument",
        "The function needs a number, a vector or a matrix of another size.",
    ),
    (
        ARGUMENT_UNIT,
        "wrong unit of an argument",
        "Angles and exponents are plain numbers, and quantities that are compared or added must be of one kind.",
    ),
    (
        ARGUMENT_VALUE,
        "argument without a result",
        "The function has no value for this constant, such as the square root of a negative number.",
    ),
    (
        TABLE_DATA,
        "points that do not make a table",
        "A table needs finite numbers, as many y as x, and x that never falls.",
    ),
    (
        TABLE_FILE,
        "table file cannot be read",
        "The CSV file named in `table` is missing or cannot be read.",
    ),
    (
        IMPROPER_TRANSFER,
        "improper transfer function",
        "A numerator of higher degree than the denominator differentiates its input, which no system does.",
    ),
    (
        MODULATED_STORAGE,
        "modulated storage",
        "Changing a capacitance or inertia from outside changes its energy without any power flowing. The work is done through a second port; `unpowered` declares that this is neglected.",
    ),
    (
        NOT_RECIPROCAL,
        "field that is not reciprocal",
        "The outputs of a C or I field are slopes of one energy, so their cross slopes are equal. Otherwise a closed path of its ports returns more energy than it took.",
    ),
    (
        STORAGE_SIZE,
        "capacitance or inertia that is not positive",
        "A storage of size zero has no law, and a negative one gives energy without end. A matrix must be positive definite.",
    ),
    (
        STORAGE_UNSTABLE,
        "energy without lower bound",
        "A negative stiffness exists in nature (buckling), but a model with it can run away.",
    ),
    (
        ACTIVE_RESISTOR,
        "resistor that creates power",
        "A resistor takes power whatever happens: effort times flow is never negative. Write `unpowered` after an element that is meant to be active: the audit then lists what it gives as a source.",
    ),
    (
        RESISTOR_MAY_CREATE_POWER,
        "resistor that may create power",
        "At a test point effort times flow is negative. If the law is only meant for a range, limit it with `clamp`; if an active element is meant, write `unpowered` after it.",
    ),
    (
        NOT_POWERLESS,
        "law that is not powerless",
        "Transformers and gyrators pass on what they take, at every instant: the sum of effort times flow over all ports is zero.",
    ),
    (
        ZERO_MODULUS,
        "modulus zero",
        "A transformer or gyrator with modulus zero separates what it should join.",
    ),
    (
        NO_INERTIA,
        "inertia without momentum",
        "There is no thermal or chemical momentum, so these domains have no I.",
    ),
    (
        LAW_NOT_FINITE,
        "law that is not finite",
        "A value in the law of an element is infinite or not a number.",
    ),
    (
        BOND_TO_ITSELF,
        "bond to itself",
        "After parts were joined, both ends of a bond are on one element.",
    ),
    (
        SOURCE_MEETS_SOURCE,
        "two sources on one bond",
        "Both ends of a bond are sources, so the system has nothing to decide.",
    ),
    (
        JUNCTION_ALONE,
        "junction without bonds",
        "A junction joins bonds; alone it means nothing.",
    ),
    (
        JUNCTION_IDLE,
        "junction with one bond",
        "A junction with a single bond holds its effort or flow at zero, so the element there does nothing.",
    ),
    (
        IMPOSSIBLE_INERTIA,
        "impossible moments of inertia",
        "Each principal moment of inertia of a rigid body is at most the sum of the other two, and equal to it for a flat plate. Moments that break this rule are usually in another unit, about another point, or diameters taken for radii. The run goes on with them.",
    ),
    (
        EFFORT_SET_TWICE,
        "effort set twice",
        "All bonds of a 0-junction have the same effort, so only one of them may bring it. Two bring it here, each because of a source or of a law that works in one direction only.",
    ),
    (
        FLOW_SET_TWICE,
        "flow set twice",
        "All bonds of a 1-junction have the same flow, so only one of them may bring it. Two bring it here, each because of a source or of a law that works in one direction only.",
    ),
    (
        NOTHING_SETS,
        "nothing sets the variable of a junction",
        "One bond of a 0-junction must bring its effort, one bond of a 1-junction its flow. Here every bond takes it.",
    ),
    (
        BOND_BOTH_WAYS,
        "bond required both ways",
        "The stroke of a bond is forced at one end and follows, the other way round, from the rest of the graph.",
    ),
    (
        JUNCTIONS_DISAGREE,
        "junctions in a loop disagree",
        "Each of these junctions alone could have its effort or flow set, but not all of them together: there are fewer bonds that can do it than junctions that need it.",
    ),
    (
        MODULUS_INVERTED,
        "division by a modulus that can vanish",
        "A transformer or gyrator whose modulus goes through zero should be used in the direction in which its law is written. Here the rest of the graph uses it the other way, so the equations fail where the modulus is zero.",
    ),
    (
        LAW_INVERTED,
        "law used backwards",
        "The law of this element gives what the rest of the graph already sets, so it is solved for its input numerically.",
    ),
    (
        MULTIBOND_SPLIT,
        "multibond with different strokes",
        "The components of a multibond should all have one stroke (rule C1). Here that would cost an integral storage or contradict a forced stroke, so they are treated as scalar bonds.",
    ),
    (
        RING_LOCKS,
        "ring of transformers that locks",
        "Transformers or gyrators form a ring in which a flow or effort comes back multiplied by their ratios. Unless these multiply to 1, the variable can only be zero: gears in a ring whose ratios disagree do not turn. The values of the parameters decide.",
    ),
    (
        RING_REDUNDANT,
        "ring that is redundant",
        "Transformers or gyrators form a ring and their ratios multiply to 1. The ring can move, but what circulates in it (the torque in a closed gear train) is not determined by rigid elements; the member that closes it is given no load. Two bonds between the same two junctions are such a ring as well: only the sum of what they carry is determined, and one of them is given nothing.",
    ),
    (
        UNKNOWN_SETTING,
        "unknown setting",
        "Settings are start, stop, method, step, rtol, atol, output_step, output_start, max_step, max_steps, initial_step, constraints and quantiser_gain. Values of the model are changed by `with`.",
    ),
    (
        SETTING_VALUE,
        "value of a setting",
        "A setting is one finite number that does not change during a run, and steps and tolerances are greater than zero.",
    ),
    (
        SETTING_UNIT,
        "unit of a setting",
        "Times are in seconds, tolerances are plain numbers, and values of a sweep have the unit of what they vary.",
    ),
    (
        STOP_BEFORE_START,
        "times out of order",
        "A run starts before it stops, and outputs lie within it.",
    ),
    (
        UNKNOWN_METHOD,
        "unknown method",
        "The methods are auto, dop853, tsit5, rodas5p, bdf, and with a fixed step euler, rk4, ab2.",
    ),
    (
        UNKNOWN_CONSTRAINTS,
        "unknown treatment of constraints",
        "Constraints are enforced by auto, minimal, multiplier, parasitic(k, b), implicit or delayed.",
    ),
    (
        SETTING_TWICE,
        "setting given twice",
        "A setting has one value; several are tried by `sweep`.",
    ),
    (
        DUPLICATE_COLUMN,
        "two columns of one name",
        "Every column of a result has a name of its own; `as` gives another.",
    ),
    (
        MEASURE_ARGUMENTS,
        "wrong arguments of a measure",
        "The measure needs other arguments.",
    ),
    (
        NOT_A_MEASURE,
        "not a single number",
        "A measure is one number of a whole run: say which value of a curve is meant, such as `final(x)` or `max(x)`.",
    ),
    (
        DUPLICATE_MEASURE,
        "two measures of one name",
        "Every measure has a name of its own.",
    ),
    (
        SWEEP_VALUES,
        "values of a sweep",
        "A sweep walks through a list in brackets, through `a .. b by c`, or through random draws between bounds.",
    ),
    (
        OPTIMIZE,
        "search that cannot be done",
        "A search needs bounds for what is varied, an objective, and conditions that compare measures.",
    ),
    (
        UNKNOWN_FUNCTION,
        "unknown function",
        "No built-in function and no `fn` of the model has this name.",
    ),
];
