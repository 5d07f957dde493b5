// What the page and the server say to each other: the mirror of `crates/paynter-studio/src/wire.rs`.
//
// Places in texts count UTF-16 units, as the editor does.

export interface Span {
  from: number;
  to: number;
}

/** A file of the opened folder, or a folder in it. */
export interface Entry {
  path: string;
  name: string;
  depth: number;
  kind: "folder" | "model" | "other";
  /** Why it cannot be opened; empty where it can. */
  trouble: string;
}

export interface GalleryCard {
  name: string;
  title: string;
  story: string;
  files: string[];
  checks: number;
}

/** A kind of element, as the server knows it. */
export interface KindCard {
  kind: string;
  nature: "junction" | "source" | "loss" | "storage" | "twoport";
  words: string;
  /** In a line. */
  what: string;
  /** Beginnings of words that it is looked for by. */
  also: string[];
  /** What a new one gets: a value, a condition, or a law in braces. */
  value: string;
}

/** A part of the library. */
export interface PartCard {
  /** As edits name it: `electromechanical.DcMotor`. */
  kind: string;
  words: string;
  from: string;
  /** Arguments that it must be given. */
  value: string;
}

export interface Hello {
  version: string;
  folder: string;
  /** The file named on the command line. */
  opened: string | null;
  files: Entry[];
  gallery: GalleryCard[];
  parts: PartCard[];
  kinds: KindCard[];
}

/** One step of a text: who made it, and what it changes (CodeMirror's change set). */
export interface Update {
  client: string;
  changes: unknown;
}

export interface Opened {
  path: string;
  text: string;
  version: number;
  /** The text on disk is another one than this. */
  dirty: boolean;
}

export interface Label extends Span {
  text: string;
  /** Other than the file shown; empty for that one. */
  path: string;
}

/** A change of the text that mends what a message says. */
export interface Fix {
  title: string;
  changes: TextChange[];
}

export interface TextChange extends Span {
  insert: string;
}

export interface Message {
  code: string;
  severity: "error" | "warning" | "note";
  text: string;
  at: Label | null;
  others: Label[];
  facts: string[];
  help: string[];
  fixes: Fix[];
}

export type NodeKind = "junction" | "element" | "twoport" | "box" | "many" | "signal" | "port" | "code" | "unknown";
export type StrokeEnd = "none" | "tail" | "head" | "both";
export type BondClass = "plain" | "preferred" | "derivative" | "forced" | "undetermined" | "conflict";

export interface NodeView {
  id: string;
  kind: NodeKind;
  /** `R`, `1`, `MTF`, or the name of a model. */
  letters: string;
  /** Empty for a thing without name. */
  name: string;
  /** Its value as written; empty where there is none. */
  written: string;
  /** Written small beside it. */
  value: string;
  /** Its place, where the text gives one. */
  at: [number, number] | null;
  /** The model behind a box; empty where there is none to enter. */
  model: string;
  /** What is wrong with it; empty if nothing is. */
  trouble: string;
  doc: string;
}

export interface BondView {
  id: string;
  tail: string;
  head: string;
  tailPort: string;
  headPort: string;
  /** 1 also where it is not known. */
  dimension: number;
  isMulti: boolean;
  stroke: StrokeEnd;
  class: BondClass;
  forced: boolean;
  label: string;
  trouble: string;
}

export interface SignalView {
  id: string;
  from: string;
  to: string;
  label: string;
}

export interface View {
  model: string;
  /** Elsewhere than in the text shown: it can only be looked at. */
  isForeign: boolean;
  /** Instances entered, outermost first. */
  level: string[];
  nodes: NodeView[];
  bonds: BondView[];
  signals: SignalView[];
  conflict: Reason[];
}

/** What is new of a view whose nodes and bonds are those of the last one, by their places in the lists. */
export interface ViewChange {
  nodes: [number, NodeView][];
  bonds: [number, BondView][];
  signals: SignalView[] | null;
  conflict: Reason[] | null;
}

/** Where nodes and bonds stand in the text: first and last unit of each, −1 twice for what stands elsewhere. */
export interface Spans {
  nodes: number[];
  bonds: number[];
}

/** A way out of a conflict: a change of the text, and what the strokes say after it. */
export interface Way extends Fix {
  order: number;
  dependent: string[];
}

/** One step of a chain of reasons. */
export interface Reason {
  text: string;
  nodes: string[];
  bonds: string[];
}

export interface ModelItem {
  name: string;
  span: Span;
  doc: string;
  /** Has ports: a part of others. */
  isPart: boolean;
}

export interface ExperimentItem {
  name: string;
  model: string;
  span: Span;
}

export interface Parameter {
  name: string;
  /** As written. */
  text: string;
  value: number | null;
  unit: string;
  doc: string;
  span: Span;
}

/** An algebraic loop: the first variables on it, and the bonds that it runs over. */
export interface AlgebraicLoop {
  variables: string[];
  nVariables: number;
  bonds: string[];
}

export interface Facts {
  order: number | null;
  states: string[];
  dependent: string[];
  nLoops: number;
  /** The first of them. */
  loops: AlgebraicLoop[];
  strict: boolean;
}

export interface Analysis {
  event: "analysis";
  path: string;
  /** The model that is looked at, or in whose parts one is. */
  top: string | null;
  version: number;
  messages: Message[];
  models: ModelItem[];
  experiments: ExperimentItem[];
  view: View | null;
  /** In place of a view: what is new of the last one. */
  change: ViewChange | null;
  spans: Spans;
  parameters: Parameter[];
  facts: Facts;
  ms: number;
}

export interface Focus {
  path: string;
  model: string | null;
  level: string[];
  experiment: string | null;
}

export interface DiskEvent {
  event: "disk";
  path: string;
  state: "same" | "changed" | "deleted";
}

export interface UpdatesEvent {
  event: "updates";
  path: string;
  version: number;
  updates: Update[];
}

export interface SavedEvent {
  event: "saved";
  path: string;
  version: number;
}

export interface FilesEvent {
  event: "files";
  files: Entry[];
}

export interface ProgressEvent {
  event: "progress";
  run: number;
  /** Part of the time span done, 0 to 1. */
  done: number;
}

/** A run that cannot start, and why. */
export interface FailedEvent {
  event: "failed";
  run: number;
  why: string;
}

/** What is selected has no curves. */
export interface NoCurvesEvent {
  event: "no_curves";
  /** The node or bond asked about. */
  of: string;
}

/** There are no bodies to be seen, and why. */
export interface NoSceneEvent {
  event: "no_scene";
  why: string;
}

export interface StudyProgressEvent {
  event: "study_progress";
  study: number;
  done: number;
}

export interface StudyFailedEvent {
  event: "study_failed";
  study: number;
  why: string;
}

export type ServerEvent = StudyProgressEvent | StudyFailedEvent | Analysis | DiskEvent | UpdatesEvent | SavedEvent | FilesEvent | ProgressEvent | FailedEvent | NoCurvesEvent | NoSceneEvent;

export interface Equations {
  /** MathML of each equation. */
  lines: string[];
}

/** What stands before the columns of a result. */
export interface RunHead {
  run: number;
  /** A whole run, a part of one in finer points, or what belongs to the selection or the bonds. */
  purpose: "run" | "zoom" | "curves" | "powers";
  path: string;
  experiment: string;
  model: string;
  panels: PanelHead[];
  measures: { name: string; value: number | null; unit: string }[];
  comparisons: { path: string; worst: number; within: number; good: boolean }[];
  audit: AuditHead | null;
  ending: string;
  complete: boolean;
  /** The run goes on: these are its curves so far. */
  underWay?: boolean;
  messages: Message[];
  events: number[];
  stats: { method: string; steps: number; rtol: number; ms: number; compileMs: number };
  rough: boolean;
  from: number;
  to: number;
}

export interface PanelHead {
  title: string;
  unit: string;
  xLabel: string;
  isPhase: boolean;
  /** Decades to the right. */
  isLog?: boolean;
  series: SeriesHead[];
}

export interface SeriesHead {
  name: string;
  reference: boolean;
  held: boolean;
  /** Points of x and y that follow. */
  n: number;
}

export interface AuditHead {
  supplied: number;
  dissipated: number;
  stored: number;
  unpowered: number;
  jumps: number;
  residual: number;
  allowed: number;
  elements: { name: string; role: "source" | "loss" | "storage" | "other"; energy: number }[];
}

export interface Curve {
  x: Float64Array;
  y: Float64Array;
}

export interface RunResult {
  head: RunHead;
  /** By panel, then by series. */
  curves: Curve[][];
}

/** A body: where its place and turn begin among the columns. */
export interface SceneBody {
  name: string;
  class: string;
  mass: number;
  /** Two coordinates and an angle; else three and a matrix, row by row. */
  planar: boolean;
  r: number;
  turn: number;
  shape:
    | { kind: "rod"; length: number; radius: number }
    | { kind: "ball"; radius: number }
    | { kind: "cylinder"; radius: number; length: number }
    | { kind: "box"; edges: [number, number, number]; axes?: [number, number, number][] }
    | null;
}

export interface SceneJoint {
  name: string;
  class: string;
  planar: boolean;
  a: number;
  aTurn: number;
  b: number;
  axis: number | null;
  force: number | null;
  /** The force is a vector on b, in inertial axes; else one number. */
  isVector: boolean;
  isLine: boolean;
  /** Bodies or ground at a and b; empty where that cannot be seen. */
  holds: [string, string];
}

/** Where everything is over a run: the columns are named by their numbers in the head. */
export interface Film {
  head: {
    purpose: "scene";
    path: string;
    model: string;
    experiment: string;
    from: number;
    to: number;
    n: number;
    columns: number;
    up: [number, number, number];
    isPlanar: boolean;
    mobility: string;
    bodies: SceneBody[];
    joints: SceneJoint[];
    pushes: { name: string; planar: boolean; at: number; force: number }[];
  };
  time: Float64Array;
  columns: Float64Array[];
}

export type StudyKind = "poles" | "bode" | "step" | "margins" | "sweep" | "optimize" | "methods" | "loops" | "control" | "channels" | "inverse" | "activity" | "partition" | "faults";

export interface StudySheet {
  title: string;
  /** Name and unit. */
  columns: [string, string][];
  rows: (number | string | null)[][];
}

/** What came of a study. */
export interface Study {
  head: {
    purpose: "study";
    run: number;
    what?: StudyKind;
    path: string;
    panels: PanelHead[];
    sheets: StudySheet[];
    notes: string[];
    facts: { poles?: [number, number][]; zeros?: [number, number][]; values?: [string, number][]; svg?: string | null } | null;
    ms: number;
  };
  curves: Curve[][];
}

/** A file that the server made. */
export interface FileFrame {
  head: { purpose: "file"; name: string; kind: string; n: number };
  bytes: Uint8Array<ArrayBuffer>;
}

/** A unit that numbers can be shown in: shown = value·factor + offset. */
export interface ShownUnit {
  unit: string;
  factor: number;
  offset: number;
}

/** What may be typed at a place. */
export interface Offer extends Span {
  label: string;
  detail: string;
  doc: string | null;
  insert: string;
  isSnippet: boolean;
  sort: string;
}

/** One decision on causality, with what follows from it. */
export interface LessonStep {
  decision: Reason | null;
  follows: Reason[];
}

export type Frame = RunResult | Film | Study | FileFrame;

/** A change of the graph, which the server turns into a change of the text. */
export type GraphEdit =
  | { kind: "add"; part: string; value: string; at: [number, number] | null; to: string | null }
  | { kind: "connect"; from: string; to: string }
  | { kind: "delete"; nodes: string[]; bonds: string[] }
  | { kind: "rename"; node: string; name: string }
  | { kind: "move"; nodes: { node: string; at: [number, number] }[] }
  | { kind: "reverse"; bond: string }
  | { kind: "force"; bond: string; end: StrokeEnd }
  | { kind: "value"; node: string; value: string }
  | { kind: "kind"; node: string; part: string }
  | { kind: "duplicate"; nodes: string[] }
  | { kind: "group"; nodes: string[]; name: string }
  | { kind: "ungroup"; node: string }
  | { kind: "paste"; text: string; at: [number, number] | null }
  | { kind: "insert"; bond: string; part: string; value: string }
  | { kind: "rewrite"; how: Rewriting };

/** What can be done with a whole model: new text, proved equal. */
export type Rewriting = "simplify" | "scalarize" | "reduce" | "minimal";

/** What a bond would be if it were drawn. */
export interface BondPreview {
  isTurned: boolean;
  stroke: "tail" | "head" | "mixed" | null;
  isConflict: boolean;
}

export interface Edited {
  changes: TextChange[];
  /** What to select afterwards. */
  select: string | null;
  /** What was done, where that does not show. */
  said: string[];
}
