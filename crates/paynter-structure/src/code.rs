//! Codes of what the structure of a model does not allow, or shows.

paynter::syntax::codes! {
    NO_INPUT = "E0850", "no input acts on the model",
        "Controllability, zeros, inversion and gains are questions about inputs. The model has no `input`, no source with a value, and the call names none. Name inputs with `--from`: an `input` of the model, a signal that a line `name = …` defines, or what a source sets (`supply.e`).";
    NO_OUTPUT = "E0851", "no output is measured",
        "Observability, zeros, inversion and gains are questions about outputs. Name them with `--to`: anything that can be recorded and that varies.";
    NUMBERS_DISAGREE = "W0852", "a rank that is lost at these numbers",
        "For almost all parameter values the inputs reach every state (or the outputs see it), but with the present numbers they do not: a bridge is balanced, two branches are equal, a gain is zero. The model is at a special point of its parameters; a small change makes it controllable (observable), but barely. Change the parameters, or add an actuator (sensor) that does not depend on the difference.";
    SAME_SENSOR = "W0853", "outputs that measure the same",
        "Two outputs are the same quantity but for a factor, whatever the parameters are: two flow sensors on one 1-junction, two effort sensors on one 0-junction. The second tells nothing new about the states.";
    PATHS_CANCEL = "W0854", "causal paths that cancel",
        "Causal paths lead from the inputs to every state (or from every state to the outputs), and the strokes leave no storage in integral form, yet the rank is smaller for all parameter values: two paths through a ring of junctions carry the same with opposite signs. The exact rank counts.";
    NO_EXACT_ANSWER = "E0855", "a structure without an exact answer",
        "Relative degrees, orders at infinity, inversion and faults are computed exactly for almost all parameter values. That needs equations with generic coefficients: a mechanism whose locks hold positions is tied by its geometry, which has none, and models with more than 600 states or 8000 unknowns take too long.";
    NO_INVERSE = "E0856", "a model that cannot be inverted",
        "Target outputs determine the inputs only if there are as many of one as of the other, and if each output can be given independently by the inputs. For almost all parameter values this model does not allow it: an output does not depend on the inputs, or two outputs follow each other.";
    UNSTABLE_INVERSE = "E0857", "an inverse that grows without bound",
        "The zeros of a model are the poles of its inverse. One lies in the right half plane: the input that gives the target output exactly would grow without bound, while the output hides it. Such models (non-minimum phase) respond first in the wrong direction. Choose another output, nearer to the input, or accept an approximate one.";
    NOT_SMOOTH = "E0858", "a target curve that is not smooth enough",
        "To find the input, the target curve is differentiated once for each integration between input and output. A step has no derivative, a corner no second one: the input would be an impulse. Take a curve that is smooth enough, such as a polynomial blend, or pass the step through a lag of the order that the message names.";
    SENSOR_TWICE = "E0859", "two sensors at one junction",
        "To compute residuals from data, what a sensor measures is forced upon its junction. Two sensors at one junction would force it twice. Leave one out of `--to`; the two can be compared with each other directly.";
    NOT_AT_A_JUNCTION = "E0860", "a sensor that cannot be reversed",
        "A residual that runs on data needs sensors of what a junction shares: the effort of a 0-junction, the flow of a 1-junction, or a signal that is one of them. A displacement, a sum or a product cannot be forced upon a junction.";
    NO_BICAUSAL = "E0862", "an inverse without bicausal strokes",
        "An inverse is drawn with source-sensors (SS) at inputs and outputs and bicausal bonds between them, which carry effort and flow the same way. That needs as many outputs as inputs, inputs that are sources, outputs that junctions share, and lines of bonds from each output to an input that have no junction in common. Where a line would force a junction that another source forces already, there is none. `--want` computes the inverse from the equations all the same.";
    NO_ESTIMATE = "E0863", "elements that the data do not determine",
        "An element is estimated by taking its law out and computing its effort and flow from what the sensors measured, through the rest of the model (bicausal estimation). That needs as many sensors as elements, elements of one size (R, C or I), an inverse that exists and is stable, at most three differentiations of the data, and data in which the element moves. `paynter fit` estimates parameters by comparing whole runs instead.";
    OTHER_START = "W0865", "target curves that begin elsewhere than the model",
        "The states at the start fix the outputs there, and as many of their derivatives as an input has integrations to pass. Target curves with other values there ask for a jump of states, which takes an impulse. The inverse then begins where the curves ask for, not where the model begins: what it needs is right for a model that begins so. Begin the curves like the model, or give the model the start values that the warning lists.";
    NO_DATA = "E0861", "data without a column for a sensor",
        "The table has no column with the name of the output, or fewer than two rows. Columns are found by the names of `--to` and `--from`; an input without a column acts as the model says.";
}
