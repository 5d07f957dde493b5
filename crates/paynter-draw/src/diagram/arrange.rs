//! From cells to points: widths of columns, ends of bonds, places of small labels, frames.
//!
//! In:  a view and the cell of each node.
//! Out: a [`Diagram`] without causality.
//!
//! Columns are as wide as what is in them. If labels still cover something, everything is
//! drawn with longer bonds, up to [`MAX_STRETCHES`] times.

use super::geometry::{Rectangle, cross};
use super::place::{PITCH, Placement};
use super::power::{self, SCALE_BAND};
use super::view::{View, ViewNode};
use super::{Arrow, BondLabels, Diagram, DiagramOptions, Frame, Line, Node, NodeKind, Point};
use super::{Strokes, sequence, strokes};
use paynter_model::causality::Causality;
use paynter_model::graph::BondGraph;
use rustc_hash::FxHashMap;

/// Size of letters of nodes, in points.
pub(super) const TEXT: f64 = 15.0;
/// Size of small letters, in points.
pub(super) const SMALL: f64 = 10.5;
/// Free space between a node and the ends of its bonds.
const GAP: f64 = 6.0;
/// Shortest bond: room for half arrow, stroke and a number.
const BOND: Point = (48.0, 44.0);
/// Longer bonds are tried this often, a quarter longer each time.
const MAX_STRETCHES: usize = 3;
/// Space around the drawing.
const MARGIN: f64 = 16.0;
/// Space between a frame and what it holds.
const FRAME_GAP: f64 = 12.0;
/// Distance of bonds between the same two nodes.
const PARALLEL: f64 = 2.0 * STROKE + 5.0;
/// The same at a closed submodel, where names of ports are beside them.
const PARALLEL_AT_BOX: f64 = 27.0;
/// Length of the barb of a half arrow, along and across.
pub(super) const BARB: Point = (11.0, 6.3);
/// Half the length of a causal stroke.
pub(super) const STROKE: f64 = 8.0;

/// What is drawn, wherever it is put.
pub(super) struct Sheet<'a> {
    pub graph: &'a BondGraph,
    pub causality: Option<&'a Causality>,
    pub view: &'a View,
    pub signals: &'a [(usize, usize)],
    pub options: &'a DiagramOptions,
    /// Nodes in each frame, those of inner frames as well; ascending.
    pub members: Vec<Vec<usize>>,
    /// How many frames are nested in each, itself included.
    heights: Vec<usize>,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(
        (graph, causality): (&'a BondGraph, Option<&'a Causality>),
        view: &'a View,
        signals: &'a [(usize, usize)],
        options: &'a DiagramOptions,
    ) -> Sheet<'a> {
        Sheet {
            graph,
            causality,
            view,
            signals,
            options,
            members: frame_members(view),
            heights: frame_heights(view),
        }
    }

    /// Where the border of a frame will be, but for labels.
    pub(super) fn rough_frame(&self, drawn: &Diagram, frame: usize) -> Rectangle {
        let members = self.members[frame].iter();
        let span = span_of(members.map(|&k| &drawn.nodes[k].area));
        let [left, top, right, bottom] = span.unwrap_or_default();
        let gap = self.heights[frame] as f64 * FRAME_GAP;
        Rectangle::between((left, top), (right, bottom)).grown(gap)
    }
}

/// Makes the drawing.
pub(super) fn arrange(sheet: &Sheet<'_>, placement: &Placement) -> Diagram {
    let mut best: Option<(usize, Diagram)> = None;
    let mut stretch = 1.0;
    for _ in 0..=MAX_STRETCHES {
        let drawn = draw(sheet, placement, stretch);
        let n = drawn.faults().n_serious();
        if best.as_ref().is_none_or(|(least, _)| n < *least) {
            best = Some((n, drawn));
        }
        if n == 0 || placement.is_pinned {
            break;
        }
        stretch *= 1.25;
    }
    best.map(|(_, drawn)| drawn).unwrap_or_default()
}

fn draw(sheet: &Sheet<'_>, placement: &Placement, stretch: f64) -> Diagram {
    let options = sheet.options;
    let mut diagram = skeleton(sheet, placement, stretch);
    diagram.title = options.title.clone();
    diagram.note = sheet.view.note.clone();
    name_bonds(sheet.graph, &mut diagram, options.bond_labels);
    if let Some(flow) = &options.power {
        power::put_powers(&mut diagram.bonds, flow);
        power::put_scale(&mut diagram, flow);
    }
    diagram.signals = arrows(sheet.signals, &diagram.nodes, &diagram.bonds);
    put_labels(&mut diagram);
    diagram.frames = frames(sheet.view, &diagram, &sheet.members);
    shift_to_origin(&mut diagram);
    diagram
}

/// Nodes and bonds in their places, with causal strokes and without any label.
pub(super) fn skeleton(sheet: &Sheet<'_>, placement: &Placement, stretch: f64) -> Diagram {
    let view = sheet.view;
    let n_parallel = n_parallel(view);
    let node = |(node, &n_parallel): (&ViewNode, &usize)| Node {
        kind: node.kind,
        text: node.text.clone(),
        small: node.small.clone(),
        small_box: Rectangle::default(),
        area: Rectangle {
            center: (0.0, 0.0),
            half: half_size(node.kind, &node.text, n_parallel),
        },
        elements: node.elements.clone(),
        is_in_conflict: false,
    };
    let mut diagram = Diagram {
        nodes: view.nodes.iter().zip(&n_parallel).map(node).collect(),
        ..Diagram::default()
    };
    put_centers(&mut diagram, sheet, placement, stretch);
    diagram.bonds = lines(view, &diagram.nodes);
    if let Some(causality) = sheet.causality {
        sequence::mark(&mut diagram, sheet.graph, causality, &|_| true);
    }
    put_bicausal(&mut diagram, sheet.options);
    strokes::separate(&mut diagram.bonds);
    diagram
}

/// Marks bicausal bonds.
fn put_bicausal(diagram: &mut Diagram, options: &DiagramOptions) {
    for line in &mut diagram.bonds {
        let mut known = options.bicausal.iter();
        if let Some((_, is_to_head)) = known.find(|(b, _)| line.bonds.contains(b)) {
            line.strokes = match is_to_head {
                true => Strokes::ToHead,
                false => Strokes::ToTail,
            };
            line.class = super::BondClass::Plain;
        }
    }
}

/// The most bonds that each node has in common with one other.
fn n_parallel(view: &View) -> Vec<usize> {
    let mut n_between: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    let mut most = vec![0; view.nodes.len()];
    for edge in &view.edges {
        let pair = (edge.tail.min(edge.head), edge.tail.max(edge.head));
        let n = n_between.entry(pair).or_default();
        *n += 1;
        most[pair.0] = most[pair.0].max(*n);
        most[pair.1] = most[pair.1].max(*n);
    }
    most
}

/// Estimates the width of a text. Fonts differ; this is on the wide side for common ones.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | 'I' | '(' | ')' | '[' | ']'
            | ' ' => 0.36,
            'f' | 't' | 'r' | '1' | '-' | '/' => 0.5,
            'm' | 'w' | 'M' | 'W' | '@' | '…' | '%' => 0.95,
            c if c.is_ascii_uppercase() || !c.is_ascii() => 0.72,
            _ => 0.6,
        })
        .sum();
    em * size
}

fn half_size(kind: NodeKind, text: &str, n_parallel: usize) -> Point {
    let half = 0.5 * text_width(text, TEXT);
    match kind {
        NodeKind::Junction => (7.0, 9.0),
        NodeKind::Element | NodeKind::TwoPort => (half + 1.0, 9.0),
        NodeKind::Closed | NodeKind::Many | NodeKind::Signals => {
            // As large as the bonds beside each other need.
            let room = 0.5 * PARALLEL_AT_BOX * (n_parallel.max(1) - 1) as f64 + 6.0;
            ((half + 9.0).max(room), room.max(16.0))
        }
    }
}

/// How many frames are nested in each, itself included.
fn frame_heights(view: &View) -> Vec<usize> {
    let mut heights = vec![1; view.frames.len()];
    for (f, frame) in view.frames.iter().enumerate().rev() {
        if let Some(parent) = frame.parent {
            heights[parent] = heights[parent].max(heights[f] + 1);
        }
    }
    heights
}

fn frame_members(view: &View) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); view.frames.len()];
    for (k, node) in view.nodes.iter().enumerate() {
        let mut at = node.frame;
        while let Some(f) = at {
            members[f].push(k);
            at = view.frames[f].parent;
        }
    }
    members
}

/// Widths of columns and rows from what is in them, or the fixed pitch of given places.
fn put_centers(diagram: &mut Diagram, sheet: &Sheet<'_>, placement: &Placement, stretch: f64) {
    let view = sheet.view;
    if placement.is_pinned {
        for ((node, seen), cell) in diagram
            .nodes
            .iter_mut()
            .zip(&view.nodes)
            .zip(&placement.cells)
        {
            let on_grid = (f64::from(cell.0) * PITCH.0, f64::from(cell.1) * PITCH.1);
            node.area.center = seen.pinned.unwrap_or(on_grid);
        }
        return;
    }

    let columns: Vec<usize> = placement.cells.iter().map(|c| c.0 as usize).collect();
    let rows: Vec<usize> = placement.cells.iter().map(|c| c.1 as usize).collect();
    let mut half_widths: Vec<f64> = diagram.nodes.iter().map(|n| n.area.half.0).collect();
    for (frame, members) in view.frames.iter().zip(&sheet.members) {
        // A frame of one column is as wide as its name.
        let is_one = members.windows(2).all(|m| columns[m[0]] == columns[m[1]]);
        let half_name = 0.5 * text_width(&frame.name, SMALL) + 5.0 - FRAME_GAP;
        for &k in members.iter().filter(|_| is_one) {
            half_widths[k] = half_widths[k].max(half_name);
        }
    }

    let half_heights: Vec<f64> = diagram.nodes.iter().map(|n| n.area.half.1).collect();
    let x = lanes(&columns, &half_widths, BOND.0 * stretch, sheet, FRAME_GAP);
    // A frame's name is under its upper border.
    let y = lanes(
        &rows,
        &half_heights,
        BOND.1 * stretch,
        sheet,
        FRAME_GAP + 0.5 * SMALL,
    );

    for (k, node) in diagram.nodes.iter_mut().enumerate() {
        node.area.center = (x[columns[k]], y[rows[k]]);
    }
}

/// Middles of columns (or rows) that hold nodes of the given half sizes.
fn lanes(
    lane_of: &[usize],
    halves: &[f64],
    bond: f64,
    sheet: &Sheet<'_>,
    frame_gap: f64,
) -> Vec<f64> {
    let n = lane_of.iter().max().map_or(0, |m| m + 1);
    let (mut half, mut before, mut after) = (vec![0.0_f64; n], vec![0.0_f64; n], vec![0.0_f64; n]);
    for (&lane, &h) in lane_of.iter().zip(halves) {
        half[lane] = half[lane].max(h + GAP);
    }
    for (frame, nodes) in sheet.members.iter().enumerate() {
        let lanes = nodes.iter().map(|&k| lane_of[k]);
        if let (Some(first), Some(last)) = (lanes.clone().min(), lanes.max()) {
            let gap = sheet.heights[frame] as f64 * frame_gap;
            before[first] = before[first].max(gap);
            after[last] = after[last].max(gap);
        }
    }
    let mut at = 0.0;
    let mut middles = Vec::with_capacity(n);
    for lane in 0..n {
        if lane > 0 {
            at += half[lane - 1] + after[lane - 1] + bond + before[lane] + half[lane];
        }
        middles.push(at);
    }
    middles
}

fn lines(view: &View, nodes: &[Node]) -> Vec<Line> {
    let mut n_between: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    let pair = |tail: usize, head: usize| (tail.min(head), tail.max(head));
    for edge in &view.edges {
        *n_between.entry(pair(edge.tail, edge.head)).or_default() += 1;
    }

    let mut used: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    let mut lines = Vec::with_capacity(view.edges.len());
    for edge in &view.edges {
        let key = pair(edge.tail, edge.head);
        let number = used.entry(key).or_default();
        let is_box = |n: usize| matches!(nodes[n].kind, NodeKind::Closed | NodeKind::Many);
        let apart = if is_box(edge.tail) || is_box(edge.head) {
            PARALLEL_AT_BOX
        } else {
            PARALLEL
        };
        let offset = apart * (*number as f64 - 0.5 * (n_between[&key] as f64 - 1.0));
        *number += 1;
        lines.push(Line {
            tail: edge.tail,
            head: edge.head,
            points: ends(
                &nodes[edge.tail].area,
                &nodes[edge.head].area,
                offset,
                edge.tail < edge.head,
            ),
            bonds: edge.bonds.clone(),
            dimension: edge.dimension,
            strokes: super::Strokes::None,
            class: super::BondClass::Plain,
            is_forced: false,
            is_new: false,
            label: String::new(),
            label_box: Rectangle::default(),
            port_names: edge.port_names.clone(),
            port_boxes: [Rectangle::default(); 2],
            power: None,
        });
    }
    lines
}

/// The ends of a straight bond, beside others between the same nodes.
fn ends(tail: &Rectangle, head: &Rectangle, offset: f64, is_forward: bool) -> Vec<Point> {
    let (a, b) = (tail.center, head.center);
    let (dx, dy) = unit(a, b);
    // Counted from the lower node to the higher, so that both directions agree on the sides.
    let sign = if is_forward { 1.0 } else { -1.0 };
    let aside = (-dy * offset * sign, dx * offset * sign);
    let moved = |r: &Rectangle, to: Point| {
        // The shifted line leaves the node where the node still is.
        let limit = |o: f64, h: f64| o.clamp(-h - GAP + 3.0, h + GAP - 3.0);
        let own = (limit(aside.0, r.half.0), limit(aside.1, r.half.1));
        let grown = r.grown(GAP);
        let from = (r.center.0 + own.0, r.center.1 + own.1);
        let to = (to.0 + aside.0, to.1 + aside.1);
        leave(&grown, from, to)
    };
    vec![moved(tail, b), moved(head, a)]
}

/// Where the ray from a point inside a rectangle leaves it.
fn leave(area: &Rectangle, from: Point, to: Point) -> Point {
    let [left, top, right, bottom] = area.sides();
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let along_x = if dx > 0.0 {
        (right - from.0) / dx
    } else if dx < 0.0 {
        (left - from.0) / dx
    } else {
        f64::INFINITY
    };
    let along_y = if dy > 0.0 {
        (bottom - from.1) / dy
    } else if dy < 0.0 {
        (top - from.1) / dy
    } else {
        f64::INFINITY
    };
    let part = along_x.min(along_y).max(0.0);
    if part.is_finite() {
        (from.0 + part * dx, from.1 + part * dy)
    } else {
        from
    }
}

/// The direction from one point to another.
pub(super) fn unit(a: Point, b: Point) -> Point {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = (dx * dx + dy * dy).sqrt();
    if length > 0.0 {
        (dx / length, dy / length)
    } else {
        (1.0, 0.0)
    }
}

/// The side of the flow, on which the half arrow is drawn: below a level bond, at the right of
/// an upright one (Karnopp, Margolis & Rosenberg, *System Dynamics*, ch. 2).
pub(super) fn flow_side(direction: Point) -> Point {
    let side = (-direction.1, direction.0);
    if 0.6 * side.0 + 0.8 * side.1 >= 0.0 {
        side
    } else {
        (-side.0, -side.1)
    }
}

fn name_bonds(graph: &BondGraph, diagram: &mut Diagram, labels: BondLabels) {
    for (number, line) in diagram.bonds.iter_mut().enumerate() {
        let dimension = line.dimension.map(|n| n.to_string()).unwrap_or_default();
        let own = match labels {
            BondLabels::None => String::new(),
            BondLabels::Numbers => (number + 1).to_string(),
            BondLabels::Names => line
                .bonds
                .first()
                .and_then(|&b| graph.bond(b).name)
                .map(|p| graph.signals.names.display(p))
                .unwrap_or_default(),
        };
        line.label = match (own.is_empty(), dimension.is_empty()) {
            (true, _) => dimension,
            (false, true) => own,
            (false, false) => format!("{own} ({dimension})"),
        };
    }
}

/// How far signals bow aside, as a part of their length: gently if that covers nothing.
const BOWS: [f64; 8] = [0.16, -0.16, 0.3, -0.3, 0.08, -0.08, 0.5, -0.5];

fn arrows(signals: &[(usize, usize)], nodes: &[Node], bonds: &[Line]) -> Vec<Arrow> {
    let mut arrows: Vec<Arrow> = Vec::new();
    for &(from, to) in signals {
        let mut best: Option<(f64, Arrow)> = None;
        for bow in BOWS {
            let arrow = bowed(from, to, nodes, bow);
            let cost = arrow_cost(&arrow, nodes, bonds);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, arrow));
            }
        }
        arrows.extend(best.map(|(_, arrow)| arrow));
    }
    arrows
}

fn bowed(from: usize, to: usize, nodes: &[Node], bow: f64) -> Arrow {
    let (a, b) = (nodes[from].area, nodes[to].area);
    let (dx, dy) = (b.center.0 - a.center.0, b.center.1 - a.center.1);
    let middle = (
        0.5 * (a.center.0 + b.center.0),
        0.5 * (a.center.1 + b.center.1),
    );
    let control = (middle.0 - dy * bow, middle.1 + dx * bow);
    let ends = [a, b].map(|area| area.grown(GAP).exit(control));
    Arrow {
        from,
        to,
        points: [ends[0], control, ends[1]],
    }
}

/// Nodes under a curve count most, then bonds that it crosses.
fn arrow_cost(arrow: &Arrow, nodes: &[Node], bonds: &[Line]) -> f64 {
    let [a, c, b] = arrow.points;
    // Sixteen straight pieces follow the curve closer than a letter is wide.
    let at = |t: f64| {
        let (u, v, w) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
        (u * a.0 + v * c.0 + w * b.0, u * a.1 + v * c.1 + w * b.1)
    };
    let pieces: Vec<[Point; 2]> = (0..16)
        .map(|k| [at(f64::from(k) / 16.0), at(f64::from(k + 1) / 16.0)])
        .collect();
    let mut cost = 0.0;
    for node in nodes {
        // Room for the name of the node, too.
        let area = node.area.grown(2.0);
        cost += if pieces.iter().any(|p| area.is_cut_by(p[0], p[1])) {
            6.0
        } else {
            0.0
        };
    }
    for bond in bonds {
        let hits = |p: &[Point; 2]| {
            bond.points
                .windows(2)
                .any(|l| cross(p[0], p[1], l[0], l[1]))
        };
        cost += if pieces.iter().any(hits) { 1.0 } else { 0.0 };
    }
    cost
}

/// Everything that a label should not cover.
struct Obstacles {
    areas: Vec<Rectangle>,
    lines: Vec<[Point; 2]>,
    /// Signals are thin and may be crossed by a label at need.
    thin: Vec<[Point; 2]>,
}

impl Obstacles {
    fn penalty(&self, area: &Rectangle) -> f64 {
        let hit = self.areas.iter().filter(|a| a.overlaps(area)).count();
        // Strokes are 3 wide.
        let area = &area.grown(1.5);
        let cut = self
            .lines
            .iter()
            .filter(|[a, b]| area.is_cut_by(*a, *b))
            .count();
        let thin = self
            .thin
            .iter()
            .filter(|[a, b]| area.is_cut_by(*a, *b))
            .count();
        10.0 * hit as f64 + 6.0 * cut as f64 + 0.5 * thin as f64
    }

    /// The first of the places that covers least.
    fn choose(&mut self, text: &str, places: impl Iterator<Item = Point>) -> Rectangle {
        let half = label_half(text);
        let mut best: Option<(f64, Rectangle)> = None;
        for center in places {
            let area = Rectangle { center, half };
            let penalty = self.penalty(&area);
            if best.is_none_or(|(least, _)| penalty < least) {
                best = Some((penalty, area));
            }
            if penalty == 0.0 {
                break;
            }
        }
        let area = best.map(|(_, area)| area).unwrap_or_default();
        self.areas.push(area);
        area
    }
}

fn label_half(text: &str) -> Point {
    (0.5 * text_width(text, SMALL), 0.5 * SMALL + 0.5)
}

/// Finds places for names of junctions, moduli, dimensions and names of bonds and ports.
fn put_labels(diagram: &mut Diagram) {
    let mut obstacles = Obstacles {
        areas: diagram.nodes.iter().map(|n| n.area).collect(),
        lines: diagram.bonds.iter().flat_map(inked_lines).collect(),
        thin: diagram
            .signals
            .iter()
            .flat_map(|s| [[s.points[0], s.points[1]], [s.points[1], s.points[2]]])
            .collect(),
    };

    for node in diagram.nodes.iter_mut().filter(|n| !n.small.is_empty()) {
        let half = label_half(&node.small);
        node.small_box =
            obstacles.choose(&node.small, around(&node.area, half, node.kind).into_iter());
    }

    for line in diagram.bonds.iter_mut() {
        let (Some(&a), Some(&b)) = (line.points.first(), line.points.last()) else {
            continue;
        };
        let direction = unit(a, b);
        // Clear of the line, and of the second line of a multibond.
        let gap: f64 = if line.dimension.is_some() { 7.0 } else { 5.0 };
        let gap = gap.max(line.power.map_or(0.0, |p| 0.5 * p.width() + 4.5));
        for end in 0..2 {
            if line.port_names[end].is_empty() {
                continue;
            }
            let (at, sign) = if end == 0 { (a, 1.0) } else { (b, -1.0) };
            let half = label_half(&line.port_names[end]);
            // The name starts behind the causal stroke.
            let along = half.0 * direction.0.abs() + half.1 * direction.1.abs() + 3.0;
            let shifts = [along, along + 6.0, along + 14.0].map(|x| sign * x);
            let places = beside(at, direction, half, gap, &shifts);
            line.port_boxes[end] = obstacles.choose(&line.port_names[end], places.into_iter());
        }
        if !line.label.is_empty() {
            let middle = (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1));
            let half = label_half(&line.label);
            let places = beside(middle, direction, half, gap, &[0.0, -8.0, 8.0, -16.0, 16.0]);
            line.label_box = obstacles.choose(&line.label, places.into_iter());
        }
    }
}

/// The lines of ink of a bond: itself, its half arrow, and both places of a stroke.
fn inked_lines(line: &Line) -> Vec<[Point; 2]> {
    let (Some(&a), Some(&b)) = (line.points.first(), line.points.last()) else {
        return Vec::new();
    };
    let d = unit(a, b);
    let s = flow_side(d);
    let across = |p: Point| {
        [
            (p.0 - STROKE * s.0, p.1 - STROKE * s.1),
            (p.0 + STROKE * s.0, p.1 + STROKE * s.1),
        ]
    };
    // Without causality a stroke may come to either end.
    let is_open = line.strokes == Strokes::None;
    let has_bar = |end: usize| strokes::bars(line.strokes).iter().any(|b| b.end == end);
    let (at_tail, at_head) = (has_bar(0) || is_open, has_bar(1) || is_open);
    let barb = (
        b.0 - BARB.0 * d.0 + BARB.1 * s.0,
        b.1 - BARB.0 * d.1 + BARB.1 * s.1,
    );
    let mut ink = vec![[a, b], [barb, b]];
    ink.extend(at_tail.then(|| across(a)));
    ink.extend(at_head.then(|| across(b)));
    ink
}

/// Places around a node, best first.
fn around(area: &Rectangle, half: Point, kind: NodeKind) -> Vec<Point> {
    let (x, y) = area.center;
    let (w, h) = area.half;
    let mut places = Vec::new();
    let is_junction = kind == NodeKind::Junction;
    for far in [0.0, 4.0, 9.0, 15.0] {
        let right = x + w + half.0 - 3.0 + far;
        let left = x - w - half.0 + 3.0 - far;
        let (above, below) = (
            y - h - half.1 + 1.0 - 0.5 * far,
            y + h + half.1 - 1.0 + 0.5 * far,
        );
        let corners = [(right, above), (right, below), (left, above), (left, below)];
        let sides = [(x, below + 1.0), (x, above - 1.0)];
        if is_junction {
            places.extend(corners);
            places.extend(sides);
        } else {
            places.extend(sides);
            places.extend(corners);
        }
        places.extend([(right + 4.0, y), (left - 4.0, y)]);
    }
    places
}

/// Places beside a line at a point, the side of the effort first; `shifts` go along the line.
fn beside(at: Point, direction: Point, half: Point, gap: f64, shifts: &[f64]) -> Vec<Point> {
    let flow = flow_side(direction);
    // How far the box reaches towards the line.
    let reach = half.0 * flow.0.abs() + half.1 * flow.1.abs() + gap;
    let mut places = Vec::new();
    for &shift in shifts {
        for side in [-reach, reach] {
            places.push((
                at.0 + side * flow.0 + shift * direction.0,
                at.1 + side * flow.1 + shift * direction.1,
            ));
        }
    }
    places
}

fn frames(view: &View, diagram: &Diagram, members: &[Vec<usize>]) -> Vec<Frame> {
    let areas = |k: &usize| [&diagram.nodes[*k].area, &diagram.nodes[*k].small_box];
    let own = |nodes: &Vec<usize>| span_of(nodes.iter().flat_map(areas)).unwrap_or_default();
    let mut spans: Vec<[f64; 4]> = members.iter().map(own).collect();

    // Inner frames come later in the list; their borders push the outer ones out.
    for f in (0..spans.len()).rev() {
        let s = spans[f];
        spans[f] = [
            s[0] - FRAME_GAP,
            s[1] - FRAME_GAP - SMALL,
            s[2] + FRAME_GAP,
            s[3] + FRAME_GAP,
        ];
        if let Some(parent) = view.frames[f].parent {
            let (p, s) = (spans[parent], spans[f]);
            spans[parent] = [
                p[0].min(s[0]),
                p[1].min(s[1]),
                p[2].max(s[2]),
                p[3].max(s[3]),
            ];
        }
    }

    let mut obstacles = Obstacles {
        areas: diagram.labels().collect(),
        lines: diagram.bonds.iter().flat_map(inked_lines).collect(),
        thin: Vec::new(),
    };
    obstacles.areas.extend(diagram.nodes.iter().map(|n| n.area));
    spans
        .into_iter()
        .zip(&view.frames)
        .zip(members)
        .map(|((s, frame), nodes)| Frame {
            name: frame.name.clone(),
            area: Rectangle::between((s[0], s[1]), (s[2], s[3])),
            name_box: frame_name_box(&frame.name, s, &mut obstacles),
            nodes: nodes.clone(),
        })
        .collect()
}

/// The first place along the upper border of a frame, then along the lower, where its name meets nothing.
fn frame_name_box(
    name: &str,
    [left, top, right, bottom]: [f64; 4],
    obstacles: &mut Obstacles,
) -> Rectangle {
    let half = label_half(name);
    let (x, y) = (half.0 + 5.0, half.1 + 1.5);
    let room = (right - left - 2.0 * x).max(0.0);
    // Both corners first: names are looked for there.
    let parts = [0.0, 1.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875];
    let places = [top + y, bottom - y]
        .into_iter()
        .flat_map(|height| parts.map(|part| (left + x + part * room, height)));
    obstacles.choose(name, places)
}

fn scale_width(diagram: &Diagram) -> f64 {
    let texts = diagram.scale.iter().map(|m| text_width(&m.text, SMALL));
    texts.map(|w| w + SCALE_BAND + 24.0).sum()
}

/// Left, top, right and bottom of everything that has a size.
fn span_of<'r>(areas: impl Iterator<Item = &'r Rectangle>) -> Option<[f64; 4]> {
    let sides = areas.filter(|a| !a.is_empty()).map(Rectangle::sides);
    sides.reduce(|a, b| {
        [
            a[0].min(b[0]),
            a[1].min(b[1]),
            a[2].max(b[2]),
            a[3].max(b[3]),
        ]
    })
}

/// Puts the upper left corner of everything at the margin.
fn shift_to_origin(diagram: &mut Diagram) {
    let mut areas: Vec<Rectangle> = diagram.nodes.iter().map(|n| n.area).collect();
    areas.extend(diagram.labels());
    areas.extend(diagram.frames.iter().map(|f| f.area));
    for arrow in &diagram.signals {
        // The curve reaches half as far as its control point.
        let [a, c, b] = arrow.points;
        let middle = (
            0.25 * (a.0 + b.0) + 0.5 * c.0,
            0.25 * (a.1 + b.1) + 0.5 * c.1,
        );
        areas.push(Rectangle {
            center: middle,
            half: (2.0, 2.0),
        });
    }

    let span = span_of(areas.iter()).unwrap_or([0.0, 0.0, 160.0, 20.0]);
    let head = if diagram.title.is_empty() { 0.0 } else { 26.0 };
    let foot = if diagram.note.is_empty() { 0.0 } else { 22.0 }
        + if diagram.scale.is_empty() { 0.0 } else { 20.0 };
    let (dx, dy) = (MARGIN - span[0], MARGIN + head - span[1]);
    let width = (span[2] - span[0])
        .max(text_width(&diagram.title, TEXT))
        .max(text_width(&diagram.note, SMALL))
        .max(scale_width(diagram));

    // Whole points, so that the paper ends where a pixel ends.
    diagram.size = (
        (width + 2.0 * MARGIN).ceil(),
        (span[3] - span[1] + 2.0 * MARGIN + head + foot).ceil(),
    );
    let mut at = (MARGIN, diagram.size.1 - 34.0);
    for mark in &mut diagram.scale {
        mark.at = at;
        at.0 += SCALE_BAND + text_width(&mark.text, SMALL) + 24.0;
    }
    let shift = |p: &mut Point| *p = (p.0 + dx, p.1 + dy);
    for node in &mut diagram.nodes {
        shift(&mut node.area.center);
        shift(&mut node.small_box.center);
    }

    for line in &mut diagram.bonds {
        line.points.iter_mut().for_each(shift);
        shift(&mut line.label_box.center);
        line.port_boxes
            .iter_mut()
            .for_each(|b| shift(&mut b.center));
    }

    diagram
        .signals
        .iter_mut()
        .flat_map(|s| &mut s.points)
        .for_each(shift);

    diagram
        .frames
        .iter_mut()
        .flat_map(|f| [&mut f.area.center, &mut f.name_box.center])
        .for_each(shift);
}
