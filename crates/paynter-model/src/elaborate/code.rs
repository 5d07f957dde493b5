//! The codes of messages about names, values, bonds and parts.
//!
//! In:  nothing.
//! Out: one constant per code, and [`TABLE`] as rows of the diagnostics index.
//!
//! **Invariant:** codes are never reused; each has a fixture in `tests/diagnostics`.

paynter_syntax::codes! {
    UNKNOWN_NAME = "E0201", "unknown name",
        "Nothing of this name can be read here: no parameter, signal, thing, part, function or constant.";
    DUPLICATE_NAME = "E0202", "a name is given twice",
        "Inside one model, and inside one file, a name means one thing.";
    UNKNOWN_MODEL = "E0203", "unknown model or element",
        "After the colon comes `0`, `1`, an element kind or the name of a model.";
    ARGUMENTS = "E0205", "wrong arguments",
        "A function, element or model is given too few, too many or unknown arguments.";
    SHAPES = "E0206", "shapes do not agree",
        "Vectors and matrices can be combined only if their sizes fit.";
    NO_VALUE = "E0207", "a parameter or input has no value",
        "A parameter without a default must be given by the part that uses the model, or by an experiment.";
    WRONG_TYPE = "E0208", "a value of the wrong type",
        "A number was given where a truth value, a string or a part is needed, or the other way round.";
    NOT_CONSTANT = "E0209", "a value that must be fixed varies",
        "Sizes, ranges of `for`, conditions of `if { }`, sample rates and parameters must follow from parameters alone.";
    PARAMETER_CYCLE = "E0210", "parameters depend on each other in a cycle",
        "The value of a parameter must follow from others in the end.";
    SIGNAL_CYCLE = "E0211", "signals depend on each other in a cycle",
        "A signal may not depend on itself unless a state, a sample or a bond lies between. An equation to be solved is written with `solve`.";
    OUT_OF_RANGE = "E0212", "a value lies outside its declared range",
        "The declaration of the parameter allows only values in a range.";
    NOT_FINITE = "E0213", "a value is not a finite number",
        "A division by zero, a root of a negative number or an overflow makes a value useless.";
    BAD_INDEX = "E0214", "index out of range",
        "Indices count from 1 and end with the size.";
    NOT_READABLE = "E0215", "a quantity that cannot be read",
        "Each kind of thing has its own readable names: `.e .f .power .energy` and so on.";
    RECURSION = "E0216", "a model or function contains itself",
        "Parts inside parts, and functions calling functions, must come to an end.";
    UNKNOWN_LIBRARY = "E0217", "unknown library",
        "No library of this name is installed.";
    MISSING_FILE = "E0218", "a file cannot be read",
        "The file named in quotes is looked for beside the file that uses it, within the project: the nearest folder above the model with a `paynter.toml` or a `.git`; else the working folder, if the model lies below it; else the model's own.";
    IMPORT_CYCLE = "E0219", "files use each other in a cycle",
        "What two files need from each other belongs in a third.";
    UNKNOWN_IMPORT = "E0220", "unknown name in a library",
        "The file that is used has no item of this name.";
    BAD_OVERRIDE = "E0221", "a change that cannot be made",
        "An experiment and `--set` may change parameters, inputs and replaceable parts, by their path.";
    NOT_A_REPLACEMENT = "E0222", "a replacement that does not fit",
        "What replaces a part must extend the model that the part promises.";
    NO_MODEL = "E0223", "no such model or experiment",
        "The request names a model or experiment that the file does not have, or the file has none.";
    NOT_DEFINED = "E0224", "an output without a definition",
        "An output that a model declares must be defined in the model or in one that extends it.";
    NO_OUTER = "E0225", "no enclosing part has this name",
        "`outer` looks for a part of that name in the parts around, nearest first.";
    UNSOLVABLE = "E0226", "the numbers of unknowns and equations differ",
        "A `solve` block has one scalar equation for each scalar unknown.";
    BAD_SIZE = "E0227", "not a size",
        "The number of components is a whole number from 1 on.";
    BAD_LAW = "E0228", "a law that does not suit its element",
        "Laws in braces give one variable of each port from the others: e or f of an R, e or q of a C, f or p of an I, one of e1 f1 e2 f2 of a two-port.";
    NOT_SETTABLE = "E0229", "something that cannot be set",
        "`reinit`, `start` and definitions act on states, discrete values and open inputs.";
    TOO_LARGE = "E0230", "the model is too large",
        "The model grows beyond what one run can hold.";
    TOO_DEEP = "E0232", "an expression is too deep",
        "Functions that call functions nest the expression deeper than can be processed.";
    STALE_LAYOUT = "W0233", "a layout names something that does not exist",
        "The layout block stores positions for the editor; nothing has this name any more.";
    PLACED_TWICE = "W0234", "a layout places one thing twice",
        "The later position is used; delete one of the two.";
    UNIT_MISMATCH = "E0320", "units do not agree",
        "Two known units meet that measure different things.";
    BARE_NUMBER = "E0321", "a number without a unit",
        "In a file with `units strict` a number other than zero needs its unit where one is expected.";
    DOMAIN_MISMATCH = "E0322", "two domains on one bond",
        "A bond and the junctions it joins belong to one energy domain; TF, GY and RS lead from one to another.";
    UNIT_NOT_OF_DOMAIN = "E0323", "a unit that does not fit the domain",
        "The value of an element has the unit that its domain gives to effort, flow and their ratios.";
    ARROW_OUT = "E0401", "an arrow out of R, C or I",
        "The half arrow is the positive direction of power. Resistors and storages take power, so it points into them.";
    PORT_OPEN = "E0402", "a port is not connected",
        "Every port of an element is on exactly one bond; an open port of a part has one bond inside and one outside.";
    PORT_TWICE = "E0403", "a port is connected twice",
        "Every port of an element is on exactly one bond. Junctions join several.";
    SIZE_MISMATCH = "E0407", "a bond between different sizes",
        "A multibond `=>` joins things of equal size, a bond `->` joins single components.";
    NOT_A_NODE = "E0408", "not something a bond can connect",
        "Bonds join junctions, elements, parts and their ports.";
    AGAINST_ARROW = "E0409", "arrows at a port point in opposite directions",
        "The bond inside and the bond outside of a port become one bond, so their arrows are in line.";
    NO_PORT = "E0410", "a part without a port for this bond",
        "An arrow into a part uses its first port, an arrow out of it the second.";
    GIVERS = "E0411", "a signal of a port has no source, or two",
        "Each signal of a composite port is given by exactly one of the ports that are joined, and read by the others.";
    STROKES = "E0413", "strokes forced against each other",
        "A port that joins two bonds passes one stroke.";
    FMU_UNREADABLE = "E0910", "an FMU that cannot be read",
        "`Fmu(\"motor.fmu\")` names a file beside the model and within its project. It must be a zip file with a `modelDescription.xml` of FMI 2.0 or 3.0.";
    FMU_OF_ANOTHER_KIND = "E0911", "an FMU that cannot be run here",
        "An FMU holds libraries for some platforms, for Model Exchange, Co-Simulation or both. A part without `period` needs Model Exchange, a part with `period` Co-Simulation, and both a library for this platform.";
    FMU_NOT_SUPPORTED = "E0912", "an FMU that needs something that is not implemented",
        "Inputs that are arrays, strings or clocks, inputs of Model Exchange that may only change at events, and FMUs that start another program cannot be parts.";
    FMU_ARGUMENTS = "E0913", "an FMU without its file",
        "The first argument of `Fmu` is the file in quotes; all others are named.";
    FMU_UNIT = "W0862", "a unit of an FMU that is not known",
        "The FMU does not say what the unit means, and its name is not a unit that Paynter knows. The numbers are used unchanged.";
}
