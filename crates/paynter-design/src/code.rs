//! Codes of what can go wrong after the graph is built: structure, start, run.
//!
//! The codes of text and model are in `paynter_syntax::code` and `paynter_model::code`.

paynter_syntax::codes! {
    OVERDETERMINED = "E0701", "more equations than unknowns",
        "Some quantities appear in more equations than there are unknowns among them. In a bond graph this usually means two sources that set the same effort or flow, or a `solve` with one equation too many.";
    UNDERDETERMINED = "E0702", "fewer equations than unknowns",
        "Some quantities are not fixed by any equation. In a bond graph this usually means a loop of transformers or a floating junction whose effort or flow nothing sets.";
    CONTRADICTION = "E0703", "equations that contradict each other",
        "Two equations give one quantity different constant values.";
    NOT_RUNNABLE = "E0704", "equations that cannot be evaluated",
        "A quantity is read that nothing defines, or sampled equations need each other's new values in a cycle. Break the cycle with `pre`.";
    START_CONFLICT = "E0710", "start values that contradict each other",
        "Two `start` lines ask for values that cannot both hold, because the equations tie the quantities together. Remove one, or turn it into a `guess`.";
    START_UNREACHABLE = "E0711", "a start value that cannot be met",
        "No choice of the states gives the required value. The quantity may be fixed by a source, or be a constant of the model.";
    START_FAILED = "E0712", "no values at the start",
        "The equations cannot be evaluated at the start: a division by zero, a root of a negative number, or an algebraic loop without a solution. Give other `start` or `guess` values.";
    START_CONSTRAINT = "E0713", "constraints that cannot be assembled",
        "No state near the start and guess values meets all constraints: the locks of a mechanism need lengths or angles that do not fit together, or the search began too far away. The message says how far each joint is from closing. Check lengths and angles, or give better `guess` values.";
    LOCK_POSITION = "E0714", "a position that does not belong to its lock",
        "A lock `Sf(0, position = …)` holds a flow at zero and declares the position that stays zero with it. Here the position changes in another way than the flow says, so that holding the one does not hold the other. Correct the position, or the transformers that make the flow.";
    STEP_TOO_SMALL = "E0720", "the step size became too small",
        "The solver had to take ever smaller steps: the solution grows without bound in finite time, or jumps where no event says so.";
    NOT_FINITE = "E0721", "a value that is not a number",
        "An expression gave infinity or NaN during the run: a division by zero, a root or logarithm of a negative number, an overflow.";
    SINGULAR_BLOCK = "E0722", "equations that became singular",
        "At this instant the equations of an algebraic loop no longer fix their unknowns, for instance because a ratio passed through zero or an ideal switch left a part without connection.";
    NO_CONVERGENCE = "E0723", "an algebraic loop without a solution",
        "Newton's method found no solution of a nonlinear algebraic loop near the last one.";
    CHATTERING = "E0724", "events in ever shorter intervals",
        "A switch changes infinitely often within a finite time: it is chattering, or bounces get faster and faster. Add hysteresis, use `smooth`, or stop the run with `when … { stop }`.";
    EVENT_LOOP = "E0725", "switches that keep changing each other",
        "At one instant switches keep changing each other and never settle.";
    EXTERNAL_FAILED = "E0726", "a function without a result",
        "An external function, such as the Riccati solver, has no result for the values it was given.";
    TOO_MANY_STEPS = "E0727", "too many steps",
        "The run took more steps than the limit. Loosen `rtol`, or look for a fast oscillation.";
    BAD_SETTING = "E0728", "a setting that cannot be used",
        "A tolerance, step or time of the experiment cannot be used.";
    REINIT_FAILED = "E0729", "a reinit that cannot be met",
        "No state gives the value that `reinit` asks for.";
    REFERENCE = "E0731", "a reference that cannot be read",
        "`compare` names a file that is missing or is not a table of numbers with time in its first column.";
    NOT_IMPLEMENTED = "E0732", "something that is not implemented yet",
        "The experiment asks for something that this command does not support: `constraints = delayed` is for single runs, not for sweeps, searches, fits and exports. It is refused rather than done in another way.";
    IMPULSE = "W0733", "a step that would need an impulse",
        "A storage is tied to a source that jumps. The jump would need an impulse of flow or effort, whose energy the audit cannot see. Put a resistance between them, or give the source a rise time.";
    START_CHANGED = "W0734", "a start value was adjusted",
        "A constraint does not allow the requested start value; the run starts with the nearest value that it allows.";
    NOT_FINITE_COLUMN = "W0735", "a recorded signal that is not a number",
        "A recorded quantity was infinite or NaN at some time although the states were not: a logarithm of zero, a division by zero. The table holds it as it is.";
    REDUNDANT_LOCK = "W0736", "a redundant lock",
        "The mechanism is over-constrained: other locks already enforce the same. It moves as it should, but how the locks share the load is not determined by rigid bodies; the redundant one is given none. Remove it, or make the part that it holds elastic.";
    SINGULAR_PLACE = "W0737", "a start at a dead centre",
        "At the start, and only there, a lock enforces what others already enforce: the mechanism is at a dead centre or fork, from which it can move on in more than one way. Start a little away from it if the run fails.";
    LOCKS_RECHOSEN = "W0747", "redundant locks that were chosen again",
        "A mechanism with redundant locks moves in the same way whichever of them are left out. But those left out at the start may not be redundant everywhere: along the run the remaining locks can become dependent, although the mechanism is regular. Then other locks are left out. This does not change the motion, but the reactions of these locks jump there, because a lock that is left out has the reaction zero. How redundant locks share a load is not determined by rigid bodies.";
    LOCK_SCALE = "W0738", "a position in another scale than its flow",
        "The declared position of a lock changes at a constant multiple of its flow. Both say the same, so the run is right; but the two should agree.";
    SOFT_SPRINGS = "W0764", "springs that give way more than they should",
        "`constraints = parasitic` puts a spring and a damper in the place of each lock. If the springs give way by some part of the mechanism's size, the motion is off by about that part of its range; if the dampers take some part of its energy, speeds are off by half of that part. Here the error is more than a thousandth. Springs are chosen from masses and from how fast the mechanism moves as it starts; a drive may make it faster, and in a long run small losses add up. Ask for faster springs with `parasitic(time = …)`: their error falls with the square of that time. Or give stiffness and damping, or use `multiplier`, which has no such error.";
    NOT_DEPENDENT = "E0765", "a mechanism without dependent inertias",
        "`constraints = implicit` lets inertias depend on others, as the causality of the graph has it. In a mechanism in space that is held more often than needed no such choice is good in all positions, and which locks are redundant changes along the run. The other methods need no such choice: `multiplier` solves for the reactions, `minimal` chooses its coordinates again as it goes, `parasitic` makes the joints elastic.";
    NO_DIRECTION = "E0766", "a lock without a direction",
        "A lock acts along the slope of its position. Where the position has no slope at the place that the lock holds, its reaction could point anywhere: a link of length 0 holds two points together, and no direction leads from one to the other. In a plane that takes the two locks of a `Pin`, in space the three of a `Spherical` joint. A lock on the angle between two axes has no slope where they are in line: lock their components instead.";
    NO_FREEDOM = "W0748", "a mechanism that cannot move",
        "The joints remove every degree of freedom that the bodies have. The run shows the reactions at rest. If it should move, some axes are not parallel where they should be, or a joint holds more than it has to.";
    FREE_BODY = "W0749", "a body that nothing holds",
        "Other bodies of the model are held by joints; this one is joined to nothing that could hold it, and falls or flies freely.";
    CUT_FLOW = "E0740", "a flow that is cut off",
        "An ideal switch opens while an inertia (a coil, a mass) still has a flow through it, and no other path is left. The flow would have to stop at once, which takes an effort without bound. Give it a path: a diode or a resistance across the inertia, or a leak of the switch (`Roff`).";
    NO_CONDUCTION = "E0741", "no consistent switch configuration",
        "At this instant no choice of which ideal diodes conduct solves the equations: closed contacts short a source, open ones leave a part without connection, or two contacts in parallel or in series share what nothing divides. Give some of them resistances (`Ron`, `Roff`).";
    CONTACT_LOSS = "W0742", "energy lost in an ideal contact",
        "An ideal contact closed between storages with different efforts, for instance two capacitors. They become equal instantly: charge is conserved, and the energy that a resistance would have taken is lost. The audit books it as a jump.";
    SLIDING = "W0743", "a switch that slides between its sides",
        "A law jumps at a surface (the friction `F*sign(f)`, a relay) and drives the model back to it from both sides. The run continues along the surface, with the value between the two sides that keeps it there: a body sticks, a relay gives its mean. This is the solution in the sense of Filippov.";
    LEFT_OPEN = "W0744", "a quantity that the laws do not determine",
        "Other values satisfy the equations just as well, to the last digit: two blocking diodes in series, say, share the voltage in a way that only their leakage decides. The numbers given for it are meaningless; the rest of the model may still be right. Add what decides: a leakage, a large resistance in parallel.";
    UNRESOLVED_SWITCH = "W0745", "a switch that cannot be followed",
        "The condition of a switch changes its sign so fast that neighbouring instants of the run, as numbers, cannot be told apart: `sin(1e17*time)` near t = 1 s. Its events cannot be found, and the results may be wrong. Usually a frequency is in the wrong unit.";
    EVENT_CONFLICT = "E0746", "two events that set one quantity",
        "Two `when`s become true at the same instant and give one state or discrete value different values. Both read what was before, so neither comes first, and the order of lines must not decide. Let one condition exclude the other, or put both cases into one `when` and choose with `if`. A `when` that becomes true because of what another one did acts after it; its value then holds.";
    NOT_AN_INPUT = "E0750", "something that cannot be an input",
        "A linear model describes how quantities follow small changes of its inputs. An input is something that is given from outside: an `input` of the model, a signal that a line `name = …` defines, what a source sets (`supply.e`, `pump.f`), or what a sampled block holds. What follows from states and laws cannot be changed by itself, and a parameter is constant during a run.";
    SAMPLED_PATH = "E0751", "a linear model through a sampled block",
        "A loop through sampled blocks has a linear model in steps: the exact map from one common period of their clocks to the next. It is refused where a quantiser is in the loop and no gain is given for it; where the clocks have no short common period; where a loop is cut at a quantity that passes several times in a period or is sampled and continuous at once; and where a continuous model is needed (`trim`, `lqr`, `place`, `c2d`). The plant between what a block sets and what it reads is continuous: take what the block sets as the input of the linear model.";
    NO_SENSITIVITY = "E0761", "a sensitivity that cannot be followed",
        "Sensitivities are derivatives of a run by its parameters, computed exactly beside it. The parameter determines the structure of the model, or the model has something through which they are not followed: sampled blocks, ideal contacts, states kept on constraints by projection, values that an event takes from the motion; or an event has no derivative, since a switch is touched without being crossed or two switches change at the same instant. Differences of runs (`paynter sweep`) show the effect of finite changes.";
    NO_LINEAR_FORM = "E0752", "no linear model at this point",
        "At this point some law has no finite slope: a root at zero, an ideal contact that conducts or blocks, a switch that slides between its sides, an FMU that gives no derivatives. Choose another point, or laws with slopes. A model with thousands of states has a linear model, but no matrices that could be printed or factored.";
    KINK = "W0753", "a linear model at a kink",
        "A switch is exactly at its threshold at this point, so the slopes on its two sides differ. The linear model takes the side the switch is on.";
    TRIM_UNKNOWN = "E0754", "a trim with too few free quantities",
        "`trim` searches for values of the named quantities at which every rate of the model vanishes. Each of them must be a state, follow from states, or be an `input` with a constant value; and there must be enough of them: states that are not named keep their start values, and their rates must vanish as well.";
    TRIM_OPEN = "E0755", "a trim that is not unique",
        "The model is in equilibrium at more than one value of a named quantity: a mass without a spring rests anywhere, and two inputs can balance each other in many ways. Leave it out of `trim` and give its value.";
    TRIM_FAILED = "E0756", "a trim that finds no equilibrium",
        "Newton's method found no point near the start values at which all rates vanish. The model may have none (a force that nothing balances), the search may have begun too far away, or it reached a place where a law has no value. Give other `start` values or inputs.";
    NO_LOOP = "E0757", "a cut where there is no loop",
        "Margins belong to a loop: what goes out at the cut must come back to it. The signal that was named does not depend on itself through the rest of the model, or only through its own rate. Cut at what a controller gives, or at what a sensor measures.";
    TWO_AIMS = "E0830", "a search with several objectives",
        "`optimize` makes one number small or large. Several objectives pull in different directions, and nothing says what one is worth in terms of the other. Add them up with weights, make all but one of them conditions, or let `paynter optimize --pareto` show what one of two objectives costs in terms of the other.";
    NO_TRADE = "E0840", "a trade-off without two objectives",
        "`paynter optimize --pareto` shows what one objective costs in terms of another, so the search needs exactly two, such as `minimize rise, over`. With one objective, `paynter optimize` without `--pareto` finds its best value and the price of each condition.";
    NO_SUCH_CASE = "E0831", "a case that is not another experiment",
        "`worst` and `mean` in a search name further experiments of the same file in which the objective and the conditions are evaluated as well. The name is not one of them, or it is the experiment with the search itself, which counts in any case.";
    NO_NAMED_RUN = "E0841", "a run to compare with that cannot be made",
        "`difference(x, run)`, `rms_difference(x, run)` and `change(measure, run)` compare with the run of another experiment of the same file, as it is written there. The name is not one of them, it is the experiment itself, or that experiment compares with a third one.";
    NO_VALUES = "E0832", "a search in which every run fails",
        "At every point that was tried the run failed, or the objective or a condition had no value: a rise time of a curve that never rises, a margin of a loop that is not stable. Choose other bounds, or look at one point with `paynter run --set`.";
    NO_FEASIBLE = "E0833", "a search that finds no feasible point",
        "No point within the bounds that was tried meets all conditions. The message names the least violated point, what is missed there and by how much, and what each condition could reach at best by itself: if that is beyond its limit, the condition cannot be met at all; else two conditions contradict each other.";
    MANY_CHOICES = "E0834", "too many combinations of choices",
        "Each combination of values from lists has its own search. This many would take forever.";
    INERT = "W0835", "a search parameter without effect",
        "Moving this parameter changed neither the objective nor any condition at several points. The value that the search gives for it means nothing.";
    SKIPPED = "W0836", "points that were skipped in a search",
        "At some points the run failed, or the objective or a condition had no value. The search went on without them: the best point is the best of the others.";
    FIT_NOWHERE = "E0837", "a fit in which every run fails",
        "At every start of the fit a run failed or gave values that are not numbers. Choose other bounds, or look at one point with `paynter run --set`.";
    FIT_DATA = "E0838", "data that cannot be used",
        "A fit compares recorded columns with columns of the same name in a data file, at the times of the file. This file has none of them, or has samples outside of the run, or there are fewer samples than parameters; or `sigma` or `of` names something that is not there.";
    FIT_UNRESOLVED = "W0839", "parameters that the data cannot tell apart",
        "Changing these parameters together leaves every residual as it is, so that the data say nothing about where along this line they lie. Only what the data do fix (a ratio, a product) can be trusted. Fix one of them, or measure something that depends on them in another way.";
    TOO_LARGE_FOR_MINIMAL = "E0760", "a mechanism too large for minimal coordinates",
        "`constraints = minimal` solves for all dependent positions and rates in every evaluation, by a dense factor whose cost grows with the cube of the number of constraints. For large mechanisms use `multiplier`, whose cost grows with their size.";
    NOT_DELAYED = "E0762", "a storage that cannot be differentiated with a delay",
        "`constraints = delayed` lets storages in derivative form answer with the change of their momentum over the step before. That needs steps of one size (`euler`, `rk4`, `ab2`), storages that depend on others, and loops whose gain is known: fields with several ports have none. `constraints = implicit` solves for dependent storages and needs none of this.";
    LOOP_GAIN = "E0763", "a loop gain that is too large",
        "A dependent storage acts back on the storages that set it. With a delay of one step this loop is stable only while its gain, the dependent inertia seen through the transformers over the independent one, is below 1 (Euler, Runge-Kutta 4) or below 1/2 (Adams-Bashforth of order 2). Beyond it every step makes the error larger, so that the run is refused. Name fewer storages in `delayed(…)`, so that the others are solved for; `paynter structure --loops` lists all gains.";
    AUDIT = "W0730", "energy that is not accounted for",
        "Supplied, dissipated and stored energy do not add up within ten times the relative tolerance, in the whole model, in a connected part of it, at a storage or at a junction. Each is measured against what moved there. Tighten `rtol`; if the residual stays, the model's laws are not consistent.";
    ACTIVE_IN_RUN = "W0739", "a resistor that gave energy",
        "During the run effort times flow of a resistor was negative, so that it gave energy: its value is negative at times, or its law passes through the wrong quadrants. The first law counts it as negative dissipation. If an active element is meant, write `unpowered` after it: the audit then lists what it gives as a source.";
}
