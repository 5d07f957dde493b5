//! Writes a diagram as SVG.
//!
//! In:  a [`Diagram`].
//! Out: one self-contained SVG. Colours are Okabe & Ito's, which colour-blind readers can tell
//!      apart; without colour, weight and dashes say the same. Follows dark mode.

use super::arrange::{BARB, SMALL, STROKE, TEXT, flow_side, text_width, unit};
use super::power::{SCALE_BAND, band_colour, band_width, pointer};
use super::strokes::bars;
use super::{BondClass, Diagram, Line, Node, NodeKind, Point};
use crate::svg::{Svg, number};
use std::fmt::Write as _;

/// Letters have a halo of paper, so that what passes below does not cut them.
const STYLE: &str = "\
.pd .bg{fill:#fdfdfc}.pd text{fill:#14171c;font-size:15px;text-anchor:middle;paint-order:stroke;stroke:#fdfdfc;stroke-width:4px;stroke-linejoin:round}\
.pd .small{font-size:10.5px;fill:#454c57}.pd .title{font-size:15px;font-weight:600}.pd .note{font-size:10.5px;fill:#454c57;text-anchor:start}\
.pd .junction{font-weight:700;font-size:16px}.pd .inbox{stroke:none}\
.pd line,.pd path,.pd polyline{fill:none;stroke:#14171c;stroke-width:1.6;stroke-linecap:round}\
.pd .stroke{stroke-width:3;stroke-linecap:butt}\
.pd .preferred{stroke:#0072b2}.pd .derivative{stroke:#d55e00;stroke-dasharray:7 3.5;stroke-linecap:butt}\
.pd .derivative.stroke{stroke-width:4;stroke-dasharray:none}\
.pd .forced{stroke:#00875f}.pd .undetermined{stroke:#5d6675;stroke-dasharray:1.5 4.5}\
.pd .conflict{stroke:#c8102e;stroke-width:2}.pd .conflict.stroke{stroke-width:4}.pd .new{stroke-width:2.8}.pd .new.stroke{stroke-width:4}\
.pd .pin{fill:#00875f;stroke:none}.pd .signal{stroke:#7a8494;stroke-width:1.1}.pd .tip{fill:#7a8494;stroke:none}\
.pd .box{fill:#f3f4f6;stroke:#454c57;stroke-width:1.2}.pd .many{stroke-dasharray:5 3}.pd .frame{fill:none;stroke:#8c95a3;stroke-width:1;stroke-dasharray:4 3}\
.pd .band{stroke-linecap:butt}.pd .goes{fill:#14171c;stroke:#fdfdfc;stroke-width:.8}\
.pd .clash{fill:none;stroke:#c8102e;stroke-width:2;stroke-dasharray:3 2}\
@media (prefers-color-scheme:dark){.pd .bg{fill:#111419}.pd text{fill:#eceef1;stroke:#111419}.pd .small,.pd .note{fill:#b6bdc8}.pd .inbox{stroke:none}\
.pd line,.pd path,.pd polyline{stroke:#eceef1}.pd .preferred{stroke:#56b4e9}.pd .derivative{stroke:#ff9d47}.pd .forced{stroke:#2fc99b}\
.pd .undetermined{stroke:#8c95a3}.pd .conflict,.pd .clash{stroke:#ff6b7a}.pd .pin{fill:#2fc99b;stroke:none}.pd .signal{stroke:#8792a2}.pd .tip{fill:#8792a2;stroke:none}\
.pd .goes{fill:#eceef1;stroke:#111419}.pd .box{fill:#1a1e25;stroke:#b6bdc8}.pd .frame{stroke:#5d6675}}";

/// Writes the drawing.
pub fn to_svg(diagram: &Diagram) -> String {
    let mut svg = Svg::new();
    svg.rect((0.0, 0.0), diagram.size, "bg");
    write_body(&mut svg, diagram);
    svg.finish_as("pd", diagram.size.0, diagram.size.1, STYLE)
}

/// Writes drawings below each other.
pub(super) fn stack(diagrams: &[Diagram]) -> String {
    let width = diagrams
        .iter()
        .map(|d| d.size.0.max(note_width(d)))
        .fold(0.0, f64::max);
    let height: f64 = diagrams.iter().map(|d| d.size.1).sum();
    let mut svg = Svg::new();
    svg.rect((0.0, 0.0), (width, height), "bg");
    let mut y = 0.0;
    for (number_of_frame, diagram) in diagrams.iter().enumerate() {
        svg.raw(&format!(
            r#"<g class="step" id="step{number_of_frame}" transform="translate(0,{})">"#,
            number(y)
        ));
        if number_of_frame > 0 {
            svg.line((8.0, 0.0), (width - 8.0, 0.0), "signal");
        }
        write_body(&mut svg, diagram);
        svg.raw("</g>");
        y += diagram.size.1;
    }
    svg.finish_as("pd", width, height, STYLE)
}

fn note_width(diagram: &Diagram) -> f64 {
    text_width(&diagram.note, SMALL) + 32.0
}

fn write_body(svg: &mut Svg, diagram: &Diagram) {
    if !diagram.title.is_empty() {
        svg.text((diagram.size.0 / 2.0, 24.0), &diagram.title, "title");
    }
    for frame in &diagram.frames {
        let [left, top, right, bottom] = frame.area.sides();
        svg.raw(&format!(
            r#"<rect x="{}" y="{}" width="{}" height="{}" rx="6" class="frame"/>"#,
            number(left),
            number(top),
            number(right - left),
            number(bottom - top)
        ));
        small(svg, frame.name_box.center, &frame.name);
    }

    for arrow in &diagram.signals {
        let [a, c, b] = arrow.points;
        svg.raw(&format!(
            r#"<path d="M{} Q{} {}" class="signal"/>"#,
            point(a),
            point(c),
            point(b)
        ));
        let (dx, dy) = unit(c, b);
        // The tip of a full arrow: 8 long, 6.4 wide.
        let left = (b.0 - 8.0 * dx - 3.2 * dy, b.1 - 8.0 * dy + 3.2 * dx);
        let right = (b.0 - 8.0 * dx + 3.2 * dy, b.1 - 8.0 * dy - 3.2 * dx);
        svg.raw(&format!(
            r#"<path d="M{} L{} L{} Z" class="tip"/>"#,
            point(b),
            point(left),
            point(right)
        ));
    }

    for line in &diagram.bonds {
        write_bond(svg, line);
    }
    for node in &diagram.nodes {
        write_node(svg, node);
    }

    for mark in &diagram.scale {
        let (x, y) = mark.at;
        band(svg, (x, y), (x + SCALE_BAND, y), mark.share);
        svg.text((x + SCALE_BAND + 6.0, y + 0.35 * SMALL), &mark.text, "note");
    }

    if !diagram.note.is_empty() {
        svg.text((16.0, diagram.size.1 - 9.0), &diagram.note, "note");
    }
}

fn point(p: Point) -> String {
    format!("{},{}", number(p.0), number(p.1))
}

fn write_node(svg: &mut Svg, node: &Node) {
    let (x, y) = node.area.center;
    let [left, top, right, bottom] = node.area.sides();
    let (corner, size) = ((left, top), (right - left, bottom - top));
    match node.kind {
        NodeKind::Closed => svg.rect(corner, size, "box"),
        NodeKind::Many => {
            // A second sheet behind the first.
            svg.rect((corner.0 + 3.0, corner.1 - 3.0), size, "box");
            svg.rect(corner, size, "box");
        }
        NodeKind::Signals => svg.rect(corner, size, "box many"),
        NodeKind::Junction | NodeKind::Element | NodeKind::TwoPort => {}
    }

    // Letters are on their base line, a third of their size below the middle.
    let base = y + 0.35 * TEXT;
    let class = match node.kind {
        NodeKind::Junction => "junction",
        NodeKind::Element | NodeKind::TwoPort => "node",
        NodeKind::Closed | NodeKind::Many | NodeKind::Signals => "node inbox",
    };
    svg.text((x, base), &node.text, class);

    if node.is_in_conflict {
        let _ = write!(
            svg.body(),
            r#"<rect x="{}" y="{}" width="{}" height="{}" rx="4" class="clash"/>"#,
            number(left - 3.0),
            number(top - 2.0),
            number(right - left + 6.0),
            number(bottom - top + 4.0)
        );
    }

    if !node.small_box.is_empty() {
        small(svg, node.small_box.center, &node.small);
    }
}

fn small(svg: &mut Svg, center: Point, text: &str) {
    svg.text((center.0, center.1 + 0.35 * SMALL), text, "small");
}

fn class_of(class: BondClass) -> &'static str {
    match class {
        BondClass::Plain => "bond",
        BondClass::Preferred => "bond preferred",
        BondClass::Derivative => "bond derivative",
        BondClass::Forced => "bond forced",
        BondClass::Undetermined => "bond undetermined",
        BondClass::Conflict => "bond conflict",
    }
}

fn write_bond(svg: &mut Svg, line: &Line) {
    let (Some(&a), Some(&b)) = (line.points.first(), line.points.last()) else {
        return;
    };
    let d = unit(a, b);
    let s = flow_side(d);
    let new = if line.is_new { " new" } else { "" };
    // Colours say either causality or power.
    let shown = if line.power.is_some() {
        BondClass::Plain
    } else {
        line.class
    };
    let class = format!("{}{new}", class_of(shown));
    svg.raw("<g>");
    if let Some(power) = line.power {
        band(svg, a, b, power.share);
    }

    // A multibond is two lines, this far from the middle.
    let apart = if line.dimension.is_some() { 2.0 } else { 0.0 };
    let shifted = |p: Point, by: f64| (p.0 + by * s.0, p.1 + by * s.1);
    svg.polyline(&[shifted(a, apart), shifted(b, apart)], &class, "");
    if line.dimension.is_some() {
        svg.polyline(&[shifted(a, -apart), shifted(b, -apart)], &class, "");
    }

    let barb = (
        b.0 - BARB.0 * d.0 + (BARB.1 + apart) * s.0,
        b.1 - BARB.0 * d.1 + (BARB.1 + apart) * s.1,
    );
    // Dashes would tear the barb and the stroke.
    svg.polyline(
        &[shifted(b, apart), barb],
        &format!("{class} barb"),
        r#"style="stroke-dasharray:none""#,
    );

    for bar in bars(line.strokes) {
        let at = [a, b][bar.end];
        let end = ["tail", "head"][bar.end];
        svg.line(
            shifted(at, bar.from * STROKE),
            shifted(at, bar.to * STROKE),
            &format!("{class} stroke at-{end}"),
        );
        if line.is_forced {
            // The head of a pin, 9 wide, beyond the end of the stroke.
            let (x, y) = shifted(at, -STROKE - 3.0);
            let (x, y) = (number(x), number(y));
            svg.raw(&format!(
                r#"<circle cx="{x}" cy="{y}" r="4.5" class="pin"/>"#
            ));
        }
    }

    if let Some([tip, left, right]) = pointer(line) {
        svg.raw(&format!(
            r#"<path d="M{} L{} L{} Z" class="goes"/>"#,
            point(tip),
            point(left),
            point(right)
        ));
    }
    write_names(svg, line);
    svg.raw("</g>");
}

/// Names beside a bond and at its ends.
fn write_names(svg: &mut Svg, line: &Line) {
    if !line.label_box.is_empty() {
        small(svg, line.label_box.center, &line.label);
    }
    for end in 0..2 {
        if !line.port_boxes[end].is_empty() {
            small(svg, line.port_boxes[end].center, &line.port_names[end]);
        }
    }
}

/// A band behind a bond, as wide and as coloured as its power.
fn band(svg: &mut Svg, a: Point, b: Point, share: f64) {
    let [red, green, blue] = band_colour(share);
    let width = number(band_width(share));
    svg.polyline(
        &[a, b],
        "band",
        &format!(r#"style="stroke-width:{width};stroke:#{red:02x}{green:02x}{blue:02x}""#),
    );
}
