//! The codes of all messages of this crate, with what each means.
//!
//! In:  nothing.
//! Out: constants for the places that report, and [`TABLE`] and [`all`] for `paynter explain` and the book.
//!
//! **Invariant:** every constant has a row in [`TABLE`]; every row has a fixture in
//! `tests/diagnostics` whose file name begins with the code.

use paynter_syntax::code::CodeRow;

/// Every code of this crate: those of this file and of elaboration.
pub fn all() -> impl Iterator<Item = &'static CodeRow> {
    TABLE.iter().chain(crate::elaborate::code::TABLE)
}

paynter_syntax::codes! {
    LAGRANGIAN_NAME = "E0801", "name in a Lagrangian",
        "Every coordinate, rate and energy of a `lagrangian` block has a name of its own and is declared there.";
    LAGRANGIAN_EXPRESSION = "E0802", "expression without derivative",
        "Energies, rates and constraints are differentiated: they are made of + - * / ^, `if`, elementary functions, and functions of the file that are one expression.";
    RATE_FORM = "E0803", "rate that is not linear",
        "A `rate` is a sum of der(…) of coordinates and other rates, each times a function of coordinates and parameters.";
    LAGRANGIAN_TIME = "E0804", "input in an energy",
        "What changes an energy from outside must be a motion with a drive: declare it as `given s = …`, and read s and der(s). Then the power it takes is in the graph. How an input changes is not known.";
    NOT_QUADRATIC = "E0805", "kinetic energy that is not quadratic",
        "An inertia stores 0.5*I*f^2. Kinetic energy must be quadratic in der(…) and nothing else.";
    INDEFINITE = "E0806", "negative kinetic energy",
        "Motion in some direction would have less energy than rest. The message names a place and the direction.";
    IDLE_COORDINATE = "E0807", "coordinate without energy",
        "A coordinate, or a combination of coordinates, with neither inertia, stiffness, loss, constraint nor port could move arbitrarily.";
    NOT_AN_ENERGY = "E0808", "unit of an energy",
        "`kinetic` and `potential` are in joules, `loss` is in watts. In a file with `units strict` coordinates have units.";
    LOSS_FORM = "E0809", "form of a loss",
        "A `loss` is a sum of 0.5*b*(rate)^2, or any function of one rate: each becomes a resistor at the junction of the rate.";
    CONSTRAINT_FORM = "E0810", "form of a constraint",
        "A `constraint` relates coordinates, or is linear in der(…). The force that keeps it then acts along its coefficients (d'Alembert).";
    ROLLING_SUBSTITUTED = "E0811", "rolling constraint in the kinetic energy",
        "Putting a rolling constraint into T before differentiating gives wrong equations. Write T in all rates, and keep the constraint.";
    POTENTIAL_FORM = "E0812", "form of a potential",
        "A `potential` is a function of coordinates, less A(q)·der(q) for magnetic and similar forces, which become gyrators.";
    LETTER_TAKEN = "E0813", "letter of a law",
        "In the law of an element e, f, q and p are its own variables. A parameter of that name cannot be read there.";
    GIVEN_FORM = "E0815", "form of a given motion",
        "A `given` motion is written in time and parameters, so that its rate is known at all times.";
    SPEEDS = "E0816", "choice of speeds",
        "`speed` names rates that are the states, as many as coordinates less constraints. Each must be free to be chosen when the others are, and together they must determine every der(…).";
    UNKNOWN_UNIT = "E0301", "unknown unit",
        "The name in brackets is not in the table of units. Prefixes are allowed on SI units only; a product needs `*`, as in `N*m`.";
    UNIT_NOT_ALONE = "E0302", "unit that cannot be multiplied",
        "`degC` and `degF` have a zero point of their own and `dB` is a level, so products and powers of them mean nothing. Temperature differences are in `K`.";
    UNIT_EXPONENT = "E0303", "exponent of a unit out of range",
        "No physical quantity has such a power of a unit.";
    UNKNOWN_DOMAIN = "E0310", "unknown domain",
        "The built-in domains are electrical, translational, rotational, hydraulic, thermal, chemical and heat; others are defined by `domain`.";
    DUPLICATE_DOMAIN = "E0311", "domain defined twice",
        "The name of a domain belongs to one definition; built-in names are taken.";
    DOMAIN_ROLE = "E0312", "variables of a domain",
        "A domain has an effort and a flow, each with a unit, and may name its momentum and displacement, which are their time integrals.";
    DOMAIN_NO_POWER = "E0313", "effort times flow is not power",
        "The product of effort and flow must be in W; in a domain marked `pseudo` the flow alone is.";
    WRONG_ARGUMENTS = "E0331", "wrong arguments of a function",
        "Arguments are given in order, or by name; each once, and none that the function does not have.";
    ARGUMENT_SHAPE = "E0332", "wrong shape of an argument",
        "The function needs a number, a vector or a matrix of another size.";
    ARGUMENT_UNIT = "E0333", "wrong unit of an argument",
        "Angles and exponents are plain numbers, and quantities that are compared or added must be of one kind.";
    ARGUMENT_VALUE = "E0334", "argument without a result",
        "The function has no value for this constant, such as the square root of a negative number.";
    TABLE_DATA = "E0335", "points that do not make a table",
        "A table needs finite numbers, as many y as x, and x that never falls.";
    TABLE_FILE = "E0336", "table file cannot be read",
        "The CSV file named in `table` is missing or cannot be read.";
    IMPROPER_TRANSFER = "E0337", "improper transfer function",
        "A numerator of higher degree than the denominator differentiates its input, which no system does.";
    MODULATED_STORAGE = "E0450", "modulated storage",
        "Changing a capacitance or inertia from outside changes its energy without any power flowing. The work is done through a second port; `unpowered` declares that this is neglected.";
    NOT_RECIPROCAL = "E0451", "field that is not reciprocal",
        "The outputs of a C or I field are slopes of one energy, so their cross slopes are equal. Otherwise a closed path of its ports returns more energy than it took.";
    STORAGE_SIZE = "E0452", "capacitance or inertia that is not positive",
        "A storage of size zero has no law, and a negative one gives energy without end. A matrix must be positive definite.";
    STORAGE_UNSTABLE = "W0453", "energy without lower bound",
        "A negative stiffness exists in nature (buckling), but a model with it can run away.";
    ACTIVE_RESISTOR = "E0454", "resistor that creates power",
        "A resistor takes power whatever happens: effort times flow is never negative. Write `unpowered` after an element that is meant to be active: the audit then lists what it gives as a source.";
    RESISTOR_MAY_CREATE_POWER = "W0455", "resistor that may create power",
        "At a test point effort times flow is negative. If the law is only meant for a range, limit it with `clamp`; if an active element is meant, write `unpowered` after it.";
    NOT_POWERLESS = "E0456", "law that is not powerless",
        "Transformers and gyrators pass on what they take, at every instant: the sum of effort times flow over all ports is zero.";
    ZERO_MODULUS = "W0457", "modulus zero",
        "A transformer or gyrator with modulus zero separates what it should join.";
    NO_INERTIA = "E0458", "inertia without momentum",
        "There is no thermal or chemical momentum, so these domains have no I.";
    LAW_NOT_FINITE = "E0459", "law that is not finite",
        "A value in the law of an element is infinite or not a number.";
    BOND_TO_ITSELF = "E0460", "bond to itself",
        "After parts were joined, both ends of a bond are on one element.";
    SOURCE_MEETS_SOURCE = "E0461", "two sources on one bond",
        "Both ends of a bond are sources, so the system has nothing to decide.";
    JUNCTION_ALONE = "E0462", "junction without bonds",
        "A junction joins bonds; alone it means nothing.";
    JUNCTION_IDLE = "W0463", "junction with one bond",
        "A junction with a single bond holds its effort or flow at zero, so the element there does nothing.";
    IMPOSSIBLE_INERTIA = "W0464", "impossible moments of inertia",
        "Each principal moment of inertia of a rigid body is at most the sum of the other two, and equal to it for a flat plate. Moments that break this rule are usually in another unit, about another point, or diameters taken for radii. The run goes on with them.";
    EFFORT_SET_TWICE = "E0601", "effort set twice",
        "All bonds of a 0-junction have the same effort, so only one of them may bring it. Two bring it here, each because of a source or of a law that works in one direction only.";
    FLOW_SET_TWICE = "E0602", "flow set twice",
        "All bonds of a 1-junction have the same flow, so only one of them may bring it. Two bring it here, each because of a source or of a law that works in one direction only.";
    NOTHING_SETS = "E0603", "nothing sets the variable of a junction",
        "One bond of a 0-junction must bring its effort, one bond of a 1-junction its flow. Here every bond takes it.";
    BOND_BOTH_WAYS = "E0604", "bond required both ways",
        "The stroke of a bond is forced at one end and follows, the other way round, from the rest of the graph.";
    JUNCTIONS_DISAGREE = "E0605", "junctions in a loop disagree",
        "Each of these junctions alone could have its effort or flow set, but not all of them together: there are fewer bonds that can do it than junctions that need it.";
    MODULUS_INVERTED = "W0606", "division by a modulus that can vanish",
        "A transformer or gyrator whose modulus goes through zero should be used in the direction in which its law is written. Here the rest of the graph uses it the other way, so the equations fail where the modulus is zero.";
    LAW_INVERTED = "E0607", "law used backwards",
        "The law of this element gives what the rest of the graph already sets, so it is solved for its input numerically.";
    MULTIBOND_SPLIT = "E0608", "multibond with different strokes",
        "The components of a multibond should all have one stroke (rule C1). Here that would cost an integral storage or contradict a forced stroke, so they are treated as scalar bonds.";
    RING_LOCKS = "E0609", "ring of transformers that locks",
        "Transformers or gyrators form a ring in which a flow or effort comes back multiplied by their ratios. Unless these multiply to 1, the variable can only be zero: gears in a ring whose ratios disagree do not turn. The values of the parameters decide.";
    RING_REDUNDANT = "W0610", "ring that is redundant",
        "Transformers or gyrators form a ring and their ratios multiply to 1. The ring can move, but what circulates in it (the torque in a closed gear train) is not determined by rigid elements; the member that closes it is given no load. Two bonds between the same two junctions are such a ring as well: only the sum of what they carry is determined, and one of them is given nothing.";
    UNKNOWN_SETTING = "E0501", "unknown setting",
        "Settings are start, stop, method, step, rtol, atol, output_step, output_start, max_step, max_steps, initial_step, constraints and quantiser_gain. Values of the model are changed by `with`.";
    SETTING_VALUE = "E0502", "value of a setting",
        "A setting is one finite number that does not change during a run, and steps and tolerances are greater than zero.";
    SETTING_UNIT = "E0503", "unit of a setting",
        "Times are in seconds, tolerances are plain numbers, and values of a sweep have the unit of what they vary.";
    STOP_BEFORE_START = "E0504", "times out of order",
        "A run starts before it stops, and outputs lie within it.";
    UNKNOWN_METHOD = "E0505", "unknown method",
        "The methods are auto, dop853, tsit5, rodas5p, bdf, and with a fixed step euler, rk4, ab2.";
    UNKNOWN_CONSTRAINTS = "E0506", "unknown treatment of constraints",
        "Constraints are enforced by auto, minimal, multiplier, parasitic(k, b), implicit or delayed.";
    SETTING_TWICE = "E0507", "setting given twice",
        "A setting has one value; several are tried by `sweep`.";
    DUPLICATE_COLUMN = "E0508", "two columns of one name",
        "Every column of a result has a name of its own; `as` gives another.";
    MEASURE_ARGUMENTS = "E0509", "wrong arguments of a measure",
        "The measure needs other arguments.";
    NOT_A_MEASURE = "E0510", "not a single number",
        "A measure is one number of a whole run: say which value of a curve is meant, such as `final(x)` or `max(x)`.";
    DUPLICATE_MEASURE = "E0511", "two measures of one name",
        "Every measure has a name of its own.";
    SWEEP_VALUES = "E0512", "values of a sweep",
        "A sweep walks through a list in brackets, through `a .. b by c`, or through random draws between bounds.";
    OPTIMIZE = "E0513", "search that cannot be done",
        "A search needs bounds for what is varied, an objective, and conditions that compare measures.";
    UNKNOWN_FUNCTION = "E0330", "unknown function",
        "No built-in function and no `fn` of the model has this name.";
}
