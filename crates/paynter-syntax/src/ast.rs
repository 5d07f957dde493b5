//! The meaning of a file as plain data, free of layout.
//!
//! In:  the lossless tree.
//! Out: these structs; the elaborator reads nothing else.
//!
//! **Invariant:** every node has the span of its text. A part that could not be
//! read is missing here and has an error in the diagnostics; it is never invented.

use crate::source::Span;

/// A name as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The text.
    pub text: Box<str>,
    /// Where.
    pub span: Span,
}

/// Dotted names, such as `mechanics3d.World`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// At least one.
    pub segments: Vec<Ident>,
    /// The whole.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Where `units strict` is, if it does.
    pub units_strict: Option<Span>,
    /// In text order.
    pub items: Vec<Item>,
}

/// A top-level thing with the documentation written above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Text of the `///` lines, without the slashes.
    pub doc: Option<String>,
    /// The whole item.
    pub span: Span,
    /// What it is.
    pub kind: ItemKind,
}

/// What may occur at the top level of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `use mechanics3d: World, Body`
    Use(Use),
    /// `domain acoustic { effort p [Pa]; flow U [m^3/s] }`
    Domain(Domain),
    /// `port Frame { … }`
    PortType(PortType),
    /// `model Circuit { … }`
    Model(Model),
    /// `lagrangian Gyroscope { … }`
    Lagrangian(Lagrangian),
    /// `fn quantise(x, step) = …`
    Function(Function),
    /// `experiment fifty_hertz of Circuit { … }`
    Experiment(Experiment),
    /// `ex = [1, 0, 0]`: a constant that files may `use`.
    Constant(Define),
}

/// An import.
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// From where.
    pub from: UseFrom,
    /// The names taken; empty means all.
    pub names: Vec<Ident>,
}

/// Where an import comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum UseFrom {
    /// A library file: `use control`.
    Library(Path),
    /// A file beside this one: `use "actuators.bond"`.
    File {
        /// The text between the quotes.
        path: String,
        /// The string with its quotes.
        span: Span,
    },
}

/// A user-defined energy domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// Its name.
    pub name: Ident,
    /// `effort`, `flow`, and where given `momentum`, `displacement`, in text order: (role, name, unit).
    pub variables: Vec<(Ident, Option<Ident>, Option<Unit>)>,
    /// `pseudo` written before the brace: the flow alone is the power.
    pub pseudo: Option<Span>,
}

/// A composite port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortType {
    /// Its name.
    pub name: Ident,
    /// Its members.
    pub members: Vec<PortMember>,
}

/// A member of a composite port.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "few exist, and a plain value reads better than a box"
)]
pub enum PortMember {
    /// `rot: rotational[3]`
    Power {
        /// Its name.
        name: Ident,
        /// Its domain.
        domain: Path,
        /// Number of components.
        size: Option<Expr>,
    },
    /// `signal r: [3] [m]`
    Signal(Decl),
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: Ident,
    /// `extends Base(arg = …)`
    pub extends: Option<Instantiation>,
    /// In text order.
    pub body: Vec<Stmt>,
}

/// A mechanical system by its energies.
#[derive(Clone, Debug, PartialEq)]
pub struct Lagrangian {
    /// Its name.
    pub name: Ident,
    /// In text order.
    pub body: Vec<LagrangianStmt>,
}

/// A statement of a [`Lagrangian`].
#[derive(Clone, Debug, PartialEq)]
pub struct LagrangianStmt {
    /// Text of the `///` lines.
    pub doc: Option<String>,
    /// The whole statement.
    pub span: Span,
    /// What it is.
    pub kind: LagrangianKind,
}

/// What may occur in a [`Lagrangian`].
#[derive(Clone, Debug, PartialEq)]
pub enum LagrangianKind {
    /// `param m = 2 [kg]`
    Param(Vec<Decl>),
    /// `input N = 0 [N*m]`
    Input(Vec<Decl>),
    /// `output height = l*cos(theta)`
    Output(Vec<Decl>),
    /// `port shaft: rotational = tilt`
    Port(Vec<PortDecl>),
    /// `start theta = 30 [deg]`
    Start(Vec<Assign>),
    /// `guess theta = 30 [deg]`
    Guess(Vec<Assign>),
    /// `coordinate theta [rad], x [m]`
    Coordinate(Vec<Decl>),
    /// `rate across = der(phi)*sin(theta)`
    Rate(Vec<Decl>),
    /// `speed across, spin`: rates that are the states.
    Speed(Vec<Decl>),
    /// `kinetic bob = 0.5*m*across^2`
    Kinetic(Vec<Decl>),
    /// `potential weight = -m*g*l*cos(theta)`
    Potential(Vec<Decl>),
    /// `loss rail = 0.5*b*cart^2`
    Loss(Vec<Decl>),
    /// `effort theta = N`: a generalised force on a coordinate or rate.
    Effort(Vec<Decl>),
    /// `given s = 0.1 [m]*sin(w*time)`
    Given(Vec<Decl>),
    /// `constraint rod: x^2 + y^2 == l^2`
    Constraint {
        /// Its name.
        name: Ident,
        /// What must hold.
        demand: Box<Demand>,
    },
    /// `height = l*cos(theta)`: a signal.
    Define(Box<Define>),
}

/// `Path` with the arguments after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instantiation {
    /// The model.
    pub path: Path,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// The whole.
    pub span: Span,
}

/// A statement of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Text of the `///` lines.
    pub doc: Option<String>,
    /// The whole statement.
    pub span: Span,
    /// What it is.
    pub kind: StmtKind,
}

/// What may occur in a model. Large files are chains: what is larger is boxed.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `param R1 = 100 [ohm], C1 = …`
    Param(Vec<Decl>),
    /// `input cmd [deg]`
    Input(Vec<Decl>),
    /// `output v_cap = c1.e`
    Output(Vec<Decl>),
    /// `port x: rotational = wx`
    Port(Vec<PortDecl>),
    /// `outer world: World`
    Outer {
        /// The name looked for in the enclosing parts.
        name: Ident,
        /// What it must be.
        path: Path,
    },
    /// `replaceable ctrl: Controller = NL1()`
    Replaceable {
        /// Its name.
        name: Ident,
        /// What every replacement must extend.
        bound: Path,
        /// What it is unless replaced.
        default: Option<Instantiation>,
    },
    /// `bond shaft: motor -> load`
    NamedBond {
        /// Its name.
        name: Ident,
        /// Exactly two groups of one node.
        chain: Chain,
    },
    /// A line with arrows. A lone `name: kind` is a chain of one node and no arrow.
    Chain(Chain),
    /// `theta [deg] = hinge.q` or `der(alpha) = a.f`
    Define(Box<Define>),
    /// `solve x, y { … }`
    Solve {
        /// What is sought.
        unknowns: Vec<Ident>,
        /// What must agree.
        equations: Vec<Demand>,
    },
    /// `invariant dot(Q, Q) == 1`
    Invariant(Box<Demand>),
    /// `start cb.e = 200 [V]`
    Start(Vec<Assign>),
    /// `guess Q = [1, 0, 0, 0]`
    Guess(Vec<Assign>),
    /// `sample at 6000 [Hz] { … }`
    Sample {
        /// The rate.
        rate: Expr,
        /// Single assignments.
        body: Vec<Define>,
    },
    /// `when bounce: h < 0 [m] { … }`
    When {
        /// Its name in reports.
        name: Option<Ident>,
        /// Acts on the rising edge.
        condition: Expr,
        /// What happens.
        actions: Vec<Action>,
    },
    /// `for i in 1 .. n { … }`
    For {
        /// The running name.
        variable: Ident,
        /// From where to where.
        range: Box<Range>,
        /// Repeated.
        body: Vec<Stmt>,
    },
    /// `if euler { … } else { … }`
    If {
        /// Of parameters only.
        condition: Expr,
        /// When it holds.
        then: Vec<Stmt>,
        /// When it does not; `else if` is an `If` inside.
        otherwise: Vec<Stmt>,
    },
    /// `layout { mesh 120 40 }`
    Layout(Vec<LayoutEntry>),
}

/// A declared parameter, input, output or member signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// Its name.
    pub name: Ident,
    /// Shape after the colon: `[3]` is one entry, `[3,3]` two.
    pub shape: Option<Vec<Expr>>,
    /// A type name after the colon, where one is instead of a shape.
    pub kind: Option<Path>,
    /// The unit it is given and shown in.
    pub unit: Option<Unit>,
    /// Its value or definition.
    pub value: Option<Expr>,
    /// The range it must lie in.
    pub range: Option<Range>,
    /// Text of the `///` lines on it.
    pub doc: Option<String>,
    /// The whole.
    pub span: Span,
}

/// A declared port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortDecl {
    /// Its name.
    pub name: Ident,
    /// A domain or a composite port type.
    pub kind: Path,
    /// Number of components.
    pub size: Option<Expr>,
    /// What it stands for; none makes it a bond port.
    pub binding: Option<PortBinding>,
    /// The whole.
    pub span: Span,
}

/// What a port stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum PortBinding {
    /// `= wx`: a junction, or a port of a part.
    Node(Ref),
    /// `= (rot = w, lin = v, r = r, A = A)`
    Members(Vec<(Ident, Expr)>),
}

/// Nodes and the arrows between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// One more than `arrows`. Only the first and last may hold several nodes (fan-in, fan-out).
    pub groups: Vec<Vec<Node>>,
    /// In order.
    pub arrows: Vec<Arrow>,
    /// The whole.
    pub span: Span,
}

/// An arrow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// `=>` is a multibond.
    pub multi: bool,
    /// A forced causal stroke.
    pub stroke: Option<StrokeAt>,
    /// Where.
    pub span: Span,
}

/// The end of an arrow at which a stroke is forced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrokeAt {
    /// `|->`: at the tail.
    Tail,
    /// `->|`: at the head.
    Head,
}

/// A node of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: NodeKind,
}

/// What a node may be.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// `r1: R(50 [ohm])`, `node[i]: 0`
    Thing {
        /// Its name.
        name: Ident,
        /// Array index on the name.
        index: Vec<Expr>,
        /// What is made. Apart, since a file has as many nodes that only name something.
        kind: Box<Kind>,
    },
    /// `TF(cos(theta))` in a chain
    Anonymous(Box<Kind>),
    /// `mesh`, `middle.x`, `link[i-1].b`
    Ref(Ref),
    /// `(turn, tilt1, tilt2)`
    Tuple(Vec<Node>),
    /// `_`
    Fixed,
}

/// What is made: a junction, an element, or an instance of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// `0`, `1`, an element kind or a model.
    pub head: KindHead,
    /// Size in brackets: number of components.
    pub size: Option<Expr>,
    /// Values in parentheses.
    pub args: Option<Vec<Arg>>,
    /// Laws in braces.
    pub law: Option<Vec<LawEquation>>,
    /// A word after the law, such as `unpowered`.
    pub flags: Vec<Ident>,
    /// The whole.
    pub span: Span,
}

/// The head of a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum KindHead {
    /// `0`
    Zero(Span),
    /// `1`
    One(Span),
    /// `R`, `TF`, `Gimbal`
    Named(Path),
}

/// An argument: `50 [ohm]` or `axis = ez`. The value of a replaceable part, `NL2()`, is a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// The name, if given.
    pub name: Option<Ident>,
    /// The value.
    pub value: Expr,
}

/// `e[1] = k11*q[1]` inside a law.
#[derive(Clone, Debug, PartialEq)]
pub struct LawEquation {
    /// The letter on the left, such as `e` or `f2`.
    pub target: Ident,
    /// Its index.
    pub index: Option<Expr>,
    /// The right side.
    pub value: Expr,
    /// The whole.
    pub span: Span,
}

/// `name [unit] = value`, `der(name) = value`
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// What is defined.
    pub target: Ref,
    /// Its derivative is defined.
    pub is_derivative: bool,
    /// The unit it is shown in.
    pub unit: Option<Unit>,
    /// Its value.
    pub value: Expr,
    /// Text of the `///` lines.
    pub doc: Option<String>,
    /// The whole.
    pub span: Span,
}

/// `left == right`
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Left.
    pub left: Expr,
    /// Right.
    pub right: Expr,
    /// The whole.
    pub span: Span,
}

/// `ref = value`
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// What.
    pub target: Ref,
    /// Its value.
    pub value: Expr,
    /// The whole.
    pub span: Span,
}

/// What a `when` does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// `reinit mass.p = …`
    Reinit(Assign),
    /// `count = pre(count) + 1`
    Define(Define),
    /// `stop "end stop hit"`
    Stop {
        /// Why, in the user's words.
        message: Option<String>,
        /// Where.
        span: Span,
    },
}

/// `r1 120 100` of a layout block.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutEntry {
    /// Whose place.
    pub target: Ref,
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
    /// The whole.
    pub span: Span,
}

/// `1 .. n`, `8.5 [ft] .. 10.75 [ft] by 0.375 [ft]`, or a list or single value.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// First, or the only value (such as a list in brackets).
    pub from: Expr,
    /// Last.
    pub to: Option<Expr>,
    /// Step.
    pub by: Option<Expr>,
    /// The whole.
    pub span: Span,
}

/// A function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Its parameters, with shapes, units and defaults where given.
    pub params: Vec<Decl>,
    /// Shape after `->`.
    pub result_shape: Option<Vec<Expr>>,
    /// What it computes.
    pub body: FunctionBody,
}

/// The body of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionBody {
    /// `= expr`
    Expr(Expr),
    /// `{ a = …; return K = …, Kss = … }`
    Block {
        /// Single assignments.
        defines: Vec<Define>,
        /// The results; one without a name is the value of the call.
        results: Vec<(Option<Ident>, Expr)>,
    },
    /// `external fn`: computed by Rust code of that name.
    External,
}

/// An experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: Ident,
    /// The model it is of; that of the experiment it extends.
    pub of: Path,
    /// The experiment of the same file that it extends.
    pub extends: Option<Ident>,
    /// What it takes over from that one and does not replace.
    pub inherited: Vec<ExperimentStmt>,
    /// What it writes itself, in text order.
    pub body: Vec<ExperimentStmt>,
}

impl Experiment {
    /// Everything that counts: what it takes over, then what it writes itself.
    pub fn statements(&self) -> impl Iterator<Item = &ExperimentStmt> {
        self.inherited.iter().chain(&self.body)
    }
}

/// A statement of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentStmt {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: ExperimentKind,
}

/// What may occur in an experiment.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "few exist, and a plain value reads better than a box"
)]
pub enum ExperimentKind {
    /// `with cmd = …, ctrl = NL2(), mesh.K = …`
    With(Vec<Assign>),
    /// `start theta = 0 [deg]`
    Start(Vec<Assign>),
    /// `guess …`
    Guess(Vec<Assign>),
    /// `stop = 1.5 [s]`, `method = ab2(step = …)`
    Setting {
        /// Which.
        name: Ident,
        /// Its value; words such as `auto` are names.
        value: Expr,
    },
    /// `record theta, jf.f as omega_fin`
    Record(Vec<Record>),
    /// `plot theta, cmd`, `plot l.f vs v`
    Plot {
        /// Upwards.
        ys: Vec<Expr>,
        /// To the right; time unless given.
        versus: Option<Expr>,
    },
    /// `measure rise = …, eta = …`
    Measure(Vec<(Ident, Expr)>),
    /// `sweep K in …`
    Sweep {
        /// What is varied.
        target: Ref,
        /// Over what.
        over: Range,
    },
    /// `optimize KA in …, KR in … { minimize PI; subject … }`
    Optimize {
        /// What is varied, and between what.
        over: Vec<(Ref, Range)>,
        /// To be made small (`minimize`) …
        minimize: Vec<Expr>,
        /// … or large (`maximize`).
        maximize: Vec<Expr>,
        /// Conditions.
        subject: Vec<Expr>,
        /// Other experiments: the worst of all counts …
        worst: Vec<Expr>,
        /// … or the mean, each with its weight.
        mean: Vec<Expr>,
    },
    /// `limit over <= 30 [%]`
    Limit(Vec<Expr>),
    /// `fit k in 1 .. 9, m in 1 .. 2 { data "run.csv"; sigma x = 1 [mm] }`
    Fit {
        /// What is varied, and between what.
        over: Vec<(Ref, Range)>,
        /// Data files, each with the experiment it belongs to.
        data: Vec<DataFile>,
        /// Deviations of columns.
        sigmas: Vec<(Ident, Expr)>,
    },
    /// `compare "file.csv" within 1e-8`
    Compare {
        /// The text between the quotes.
        path: String,
        /// The string.
        path_span: Span,
        /// The largest difference allowed, as a part of each column's range.
        within: Option<Expr>,
    },
    /// `trim alpha, pitch.f`
    Trim(Vec<Ref>),
    /// `linearize from delta to Az, q`
    Linearize {
        /// Inputs.
        from: Vec<Ref>,
        /// Outputs.
        to: Vec<Ref>,
    },
}

/// `data "run.csv" of other`
#[derive(Clone, Debug, PartialEq)]
pub struct DataFile {
    /// The text between the quotes.
    pub path: String,
    /// The string.
    pub path_span: Span,
    /// The experiment; the one with the fit unless given.
    pub of: Option<Ident>,
}

/// A recorded column.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What.
    pub value: Expr,
    /// Its name in the file.
    pub alias: Option<Ident>,
    /// The unit it is written in; the display unit of the signal unless given.
    pub unit: Option<Unit>,
}

/// `link[i-1].b`
#[derive(Clone, Debug, PartialEq)]
pub struct Ref {
    /// At least one.
    pub parts: Vec<RefPart>,
    /// The whole.
    pub span: Span,
}

/// One step of a [`Ref`].
#[derive(Clone, Debug, PartialEq)]
pub struct RefPart {
    /// The name.
    pub name: Ident,
    /// Indices in brackets.
    pub index: Vec<Expr>,
}

/// A unit as written: a product of powers.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// With `/` and parentheses already turned into exponents; `1` and `[]`-less numbers are left out.
    pub factors: Vec<UnitFactor>,
    /// With the brackets.
    pub span: Span,
}

/// `m^2` of a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitFactor {
    /// Such as `m` or `%`.
    pub name: Ident,
    /// Exponent as a fraction: (numerator, denominator > 0).
    pub exponent: (i32, i32),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: ExprKind,
}

/// What an expression may be.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `5 [mm]`
    Number {
        /// As written, before the unit is applied.
        value: f64,
        /// Its unit.
        unit: Option<Unit>,
    },
    /// `true`, `false`
    Bool(bool),
    /// `"f.csv"`
    Text(String),
    /// `[a, b; c, d] [m]`: rows of entries.
    Matrix {
        /// One row is a vector.
        rows: Vec<Vec<Expr>>,
        /// Unit of all entries.
        unit: Option<Unit>,
    },
    /// A bare name.
    Name(Ident),
    /// `a.b`
    Field {
        /// Of what.
        of: Box<Expr>,
        /// Which.
        name: Ident,
    },
    /// `x[i]`, `A[2,1]`
    Index {
        /// Of what.
        of: Box<Expr>,
        /// At least one.
        index: Vec<Expr>,
    },
    /// `f(x, gap = 2)`; also `der(x)`, `pre(x)`, `integral(x)`, `smooth(…)`, `NL2()`.
    Call {
        /// What is called.
        function: Path,
        /// With what.
        args: Vec<Arg>,
    },
    /// `sum(x[i] for i in 1 .. n)`: the `for` may occur in any call of one argument.
    Comprehension {
        /// What is called, such as `sum`.
        function: Path,
        /// The summand.
        body: Box<Expr>,
        /// The running name.
        variable: Ident,
        /// From where to where.
        range: Box<Range>,
    },
    /// `-x`, `not x`
    Unary {
        /// Which.
        op: UnaryOp,
        /// Of what.
        of: Box<Expr>,
    },
    /// `A'`
    Transpose(Box<Expr>),
    /// `a + b`
    Binary {
        /// Which.
        op: BinaryOp,
        /// Left.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
    },
    /// `if c then a else b`
    If {
        /// Condition.
        condition: Box<Expr>,
        /// When it holds.
        then: Box<Expr>,
        /// When it does not.
        otherwise: Box<Expr>,
    },
}

/// Operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `+`
    Plus,
    /// `not`
    Not,
}

/// Operators between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `^`
    Pow,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `and`
    And,
    /// `or`
    Or,
}
