//! Codes of what cannot be exported.

paynter::syntax::codes! {
    IDEAL_CONTACT = "E0870", "an ideal contact in a model to be exported",
        "An ideal switch or diode ties storages together while it conducts and sets them free while it blocks: the equations themselves change during a run. `paynter run` makes new equations for every combination; C code and FMUs have one set. Give the contact resistances, such as `D(Ron = 1 [mohm], Roff = 1 [Mohm])`.";
    NO_RECIPE = "E0871", "a function that cannot be exported",
        "Exported code holds tables, `inv` and `solve`, and all functions of the language that are formulas. Others, such as `care`, are computed by code of Paynter itself and have no form in C yet. Compute their result once (`paynter run` with the quantity recorded) and write it into the model as a parameter.";
    RATE_OF_INPUT = "E0872", "an input whose rate is needed",
        "The equations contain the rate of an input: a capacitor that is held at an input voltage takes the current C·du/dt. The program that runs exported code supplies the value of an input, not its rate. Put a resistance between the input and the storage, or make the input a signal of the model (`with u = …` in the experiment).";
    TRIMMED = "E0873", "an experiment with `trim` to be exported",
        "The experiment finds an equilibrium (`trim`) before it runs. Exported code starts from given values. Copy the values that `paynter run` reports into `start` lines of an experiment without `trim`.";
    SAMPLED_GUARD = "W0874", "a fast switch that is only sampled",
        "A condition turns with time or with an angle (`sin(100*time) > 0`). `paynter run` follows such conditions with bounds between its steps; exported code looks at a few points of each step and may miss a pair of changes between two of them. Keep the step, or the communication step, well below a period.";
    NO_AUDIT = "W0875", "an FMU without an audit of its energy",
        "An FMU shows the energy that its integration has lost or gained as the variable `system.residual`. For that the energy of every storage is computed from its law, by a formula that C can hold. Here one has none: its law could not be integrated, or only by code of Paynter itself. The rest of the FMU is complete.";
}
