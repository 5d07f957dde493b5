//! Codes of what cannot be rewritten.

paynter::syntax::codes! {
    NOT_A_MODEL = "E0880", "only a model of the file itself is rewritten",
        "`paynter simplify` and related commands rewrite the lines of one `model` block of the file they are given. A `lagrangian` block has no bonds yet: `paynter lagrangian FILE --out NEW` writes them, and the new file can be rewritten. A model from a library or from another file is rewritten there.";
    NO_PROOF = "E0881", "a rewritten model that is not equal to the old one",
        "The text that was written is read back and compared with the old model: every quantity that has a new name or expression, at random states, inputs and parameter values; where the states are tied by constraints, along the runs of the experiments. They differ, or could not be compared. The new text is not to be used; please report it with the model.";
    NOT_CYCLIC = "E0882", "a momentum that is not conserved",
        "`paynter reduce` takes a coordinate out of a model where its momentum is constant: nothing but sources of zero acts at its 1-junction, and the 0-junction that it is bonded to holds inertias that are bonded to nothing else. Then these inertias feel no effort. The message says what acts there: a resistor, a spring, a lock, a source that an experiment drives, or a transformer. A coordinate that moves several inertias through transformers is taken out as well, if it is named: its inertias become one field (see `--minimal`), in which its momentum is a parameter; then whatever keeps them from being moved is named.";
    NOT_ASSUMED = "E0884", "an assumption that cannot be made",
        "`paynter reduce --assume` holds the flow of a 1-junction (`turn.f = 0`) or the effort of a 0-junction (`tank.e = 2 [bar]`) at a value, by a source, and makes simpler what follows from it. The left side names a junction of the model and what it shares, the right side a value that the model could give a source there. `turn.f << Omega` says that the first is small beside the second in a modulus; it is a parameter, an input, or the flow of a 1-junction that follows from no other.";
    NOT_MOVED = "E0885", "an inertia that cannot be moved",
        "`paynter reduce --minimal` moves inertias over transformers to the 1-junctions whose flows set theirs. The inertia is a scalar `I(value)` of the model itself with a constant value; the moduli on the way read places whose rate is the flow of a junction (`der(x) = slide.f`, or `.q` of a C there), so that the field that takes its place can have a port where they move. No source and no lock sets the flows it follows from, and nothing reads its effort, which is not a power variable of the new model.";
    NOT_SCALAR = "E0883", "a vector that cannot be taken apart",
        "`paynter scalarize` writes out the entries of matrices and the components of vectors. It knows matrices in brackets, `rot_x`, `rot_y`, `rot_z`, `eye`, `diag`, `skew`, parameters with a shape, and sums, products and transposes of these. Other functions have entries that cannot be written down; arrays of parts, sizes that are parameters and matrix transformers with a name are not taken apart.";
}
