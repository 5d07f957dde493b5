//! Writes a diagram as PDF: one page of its own size, vectors and Helvetica.
//!
//! In:  a [`Diagram`].
//! Out: the bytes of a PDF 1.4 file (ISO 32000), without compression, equal for equal drawings.
//!
//! LIMIT: Helvetica in PDF readers has the letters of Windows-1252 only; others are written as
//! `?`. SVG and TikZ have them all.

use super::arrange::{BARB, SMALL, STROKE, TEXT, flow_side, unit};
use super::power::{SCALE_BAND, band_colour, band_width, pointer};
use super::strokes::bars;
use super::{BondClass, Diagram, Line, Node, NodeKind, Point};
use std::fmt::Write as _;

/// Writes the drawing.
pub fn to_pdf(diagram: &Diagram) -> Vec<u8> {
    let page = Page {
        height: diagram.size.1,
        content: String::from("1 J 1 j\n"),
    };
    let content = page.draw(diagram);
    let (w, h) = (diagram.size.0, diagram.size.1);
    let font = |name: &str| {
        format!("<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>")
    };
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {w:.2} {h:.2}]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>>>"
        ),
        format!("<</Length {}>>\nstream\n{content}endstream", content.len()),
        font("Helvetica"),
        font("Helvetica-Bold"),
    ];

    let mut out = String::from("%PDF-1.4\n");
    let mut starts = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        starts.push(out.len());
        let _ = write!(out, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let table = out.len();
    let _ = write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for start in starts {
        let _ = writeln!(out, "{start:010} 00000 n ");
    }
    let _ = write!(
        out,
        "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    out.into_bytes()
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
struct Pen {
    width: f64,
    colour: [f64; 3],
    dash: &'static str,
}

const INK: Pen = Pen {
    width: 1.2,
    colour: [0.13, 0.13, 0.13],
    dash: "",
};
const GREY: Pen = Pen {
    width: 0.7,
    colour: [0.5, 0.5, 0.5],
    dash: "",
};

fn pen(class: BondClass) -> Pen {
    match class {
        BondClass::Plain => INK,
        BondClass::Preferred => Pen {
            colour: [0.0, 0.45, 0.7],
            ..INK
        },
        BondClass::Derivative => Pen {
            width: 1.8,
            colour: [0.84, 0.37, 0.0],
            dash: "6 3",
        },
        BondClass::Forced => Pen {
            colour: [0.0, 0.529, 0.373],
            ..INK
        },
        BondClass::Undetermined => Pen {
            colour: [0.47, 0.47, 0.47],
            dash: "1 3",
            ..INK
        },
        BondClass::Conflict => Pen {
            width: 3.0,
            colour: [0.78, 0.06, 0.18],
            dash: "",
        },
    }
}

/// A page in the making; y is turned over, because PDF counts it upwards.
struct Page {
    height: f64,
    content: String,
}

impl Page {
    fn draw(mut self, diagram: &Diagram) -> String {
        if !diagram.title.is_empty() {
            self.text(
                (diagram.size.0 / 2.0, 19.0),
                &diagram.title,
                TEXT,
                true,
                0.5,
            );
        }

        for frame in &diagram.frames {
            let [left, top, right, bottom] = frame.area.sides();
            self.rectangle(
                [left, top, right, bottom],
                Pen {
                    dash: "3 3",
                    ..GREY
                },
            );
            self.text(frame.name_box.center, &frame.name, SMALL, false, 0.5);
        }

        for arrow in &diagram.signals {
            self.arrow(arrow.points);
        }
        for line in &diagram.bonds {
            self.bond(line);
        }
        for node in &diagram.nodes {
            self.node(node);
        }

        for mark in &diagram.scale {
            let (x, y) = mark.at;
            self.band((x, y), (x + SCALE_BAND, y), mark.share);
            self.text((x + SCALE_BAND + 6.0, y), &mark.text, SMALL, false, 0.0);
        }

        if !diagram.note.is_empty() {
            self.text(
                (16.0, diagram.size.1 - 13.0),
                &diagram.note,
                SMALL,
                false,
                0.0,
            );
        }
        self.content
    }

    fn node(&mut self, node: &Node) {
        if matches!(
            node.kind,
            NodeKind::Closed | NodeKind::Many | NodeKind::Signals
        ) {
            self.rectangle(node.area.sides(), INK);
        }
        if node.is_in_conflict {
            let around = node.area.grown(3.0).sides();
            self.rectangle(
                around,
                Pen {
                    width: 1.5,
                    dash: "3 2",
                    ..pen(BondClass::Conflict)
                },
            );
        }
        let is_bold = node.kind == NodeKind::Junction;
        self.text(node.area.center, &node.text, TEXT, is_bold, 0.5);
        if !node.small_box.is_empty() {
            self.text(node.small_box.center, &node.small, SMALL, false, 0.5);
        }
    }

    fn at(&self, p: Point) -> String {
        format!("{:.2} {:.2}", p.0, self.height - p.1)
    }

    fn take(&mut self, pen: Pen) {
        let [r, g, b] = pen.colour;
        let _ = writeln!(
            self.content,
            "{r} {g} {b} RG {:.2} w [{}] 0 d",
            pen.width, pen.dash
        );
    }

    fn line(&mut self, from: Point, to: Point, pen: Pen) {
        self.take(pen);
        let (from, to) = (self.at(from), self.at(to));
        let _ = writeln!(self.content, "{from} m {to} l S");
    }

    fn rectangle(&mut self, [left, top, right, bottom]: [f64; 4], pen: Pen) {
        self.take(pen);
        let corner = self.at((left, bottom));
        let _ = writeln!(
            self.content,
            "{corner} {:.2} {:.2} re S",
            right - left,
            bottom - top
        );
    }

    /// Writes text on the middle of its height; `part` of its width is left of the point.
    fn text(&mut self, at: Point, text: &str, size: f64, is_bold: bool, part: f64) {
        let bytes = windows_1252(text);
        let width: f64 = bytes.iter().map(|&b| helvetica_width(b)).sum::<f64>() * size / 1000.0;
        let mut shown = String::new();
        for &b in &bytes {
            match b {
                b'(' | b')' | b'\\' => {
                    let _ = write!(shown, "\\{}", b as char);
                }
                0x20..=0x7e => shown.push(b as char),
                b => {
                    let _ = write!(shown, "\\{b:03o}");
                }
            }
        }
        let font = if is_bold { "F2" } else { "F1" };
        let start = self.at((at.0 - part * width, at.1 + 0.35 * size));
        let _ = writeln!(
            self.content,
            "0.1 g BT /{font} {size} Tf {start} Td ({shown}) Tj ET"
        );
    }

    /// A band behind a bond, as wide and as coloured as its power.
    fn band(&mut self, a: Point, b: Point, share: f64) {
        let colour = band_colour(share).map(|c| (f64::from(c) / 2.55).round() / 100.0);
        self.content.push_str("0 J\n");
        self.line(
            a,
            b,
            Pen {
                width: band_width(share),
                colour,
                dash: "",
            },
        );
        self.content.push_str("1 J\n");
    }

    fn arrow(&mut self, [a, c, b]: [Point; 3]) {
        self.take(GREY);
        // A quadratic curve as a cubic one: both controls two thirds of the way to its own.
        let third = |p: Point| ((p.0 + 2.0 * c.0) / 3.0, (p.1 + 2.0 * c.1) / 3.0);
        let points = [a, third(a), third(b), b].map(|p| self.at(p));
        let _ = writeln!(
            self.content,
            "{} m {} {} {} c S",
            points[0], points[1], points[2], points[3]
        );
        let (dx, dy) = unit(c, b);
        let tip = [
            b,
            (b.0 - 7.0 * dx - 2.5 * dy, b.1 - 7.0 * dy + 2.5 * dx),
            (b.0 - 7.0 * dx + 2.5 * dy, b.1 - 7.0 * dy - 2.5 * dx),
        ]
        .map(|p| self.at(p));
        let _ = writeln!(
            self.content,
            "0.5 g {} m {} l {} l f",
            tip[0], tip[1], tip[2]
        );
    }

    fn bond(&mut self, line: &Line) {
        let (Some(&a), Some(&b)) = (line.points.first(), line.points.last()) else {
            return;
        };
        let d = unit(a, b);
        let s = flow_side(d);
        let pen = match line.power {
            None => pen(line.class),
            Some(power) => {
                self.band(a, b, power.share);
                INK
            }
        };

        let shifted = |p: Point, by: f64| (p.0 + by * s.0, p.1 + by * s.1);
        let apart = if line.dimension.is_some() { 2.0 } else { 0.0 };
        self.line(shifted(a, apart), shifted(b, apart), pen);
        if line.dimension.is_some() {
            self.line(shifted(a, -apart), shifted(b, -apart), pen);
        }
        let solid = Pen { dash: "", ..pen };
        let reach = BARB.1 + apart;
        let barb = (
            b.0 - BARB.0 * d.0 + reach * s.0,
            b.1 - BARB.0 * d.1 + reach * s.1,
        );
        self.line(shifted(b, apart), barb, solid);
        for bar in bars(line.strokes) {
            let at = [a, b][bar.end];
            let broad = Pen {
                width: pen.width.max(2.0),
                ..solid
            };
            let (from, to) = (bar.from * STROKE, bar.to * STROKE);
            self.line(shifted(at, from), shifted(at, to), broad);
            if line.is_forced {
                let corner = shifted(at, -STROKE);
                let sides = [
                    corner.0 - 2.0,
                    corner.1 - 2.0,
                    corner.0 + 2.0,
                    corner.1 + 2.0,
                ];
                self.rectangle(sides, solid);
            }
        }

        if let Some(corners) = pointer(line) {
            let [tip, left, right] = corners.map(|p| self.at(p));
            let _ = writeln!(self.content, "0.1 g {tip} m {left} l {right} l f");
        }

        let labels = [
            (line.label_box, &line.label),
            (line.port_boxes[0], &line.port_names[0]),
            (line.port_boxes[1], &line.port_names[1]),
        ];
        for (area, text) in labels.into_iter().filter(|(area, _)| !area.is_empty()) {
            self.text(area.center, text, SMALL, false, 0.5);
        }
    }
}

/// The bytes of a text in Windows-1252; `?` for letters that it does not have.
fn windows_1252(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| match c {
            '…' => 0x85,
            '−' => b'-',
            c if matches!(c as u32, 0x20..=0x7e | 0xa0..=0xff) => c as u32 as u8,
            _ => b'?',
        })
        .collect()
}

/// Widths of Helvetica in thousandths of its size, from Adobe's font metrics, for 0x20 … 0x7e.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

fn helvetica_width(byte: u8) -> f64 {
    let known = byte.checked_sub(0x20).and_then(|k| WIDTHS.get(k as usize));
    known.map_or(600.0, |&w| f64::from(w))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::{DiagramOptions, diagram};
    use paynter_model::BondGraph;

    #[test]
    fn the_table_of_objects_points_at_objects() {
        let options = DiagramOptions {
            title: "a(b)\\c é ω".into(),
            ..DiagramOptions::default()
        };
        let bytes = to_pdf(&diagram(&BondGraph::default(), None, &options));
        let text = String::from_utf8(bytes).expect("ASCII");
        assert!(text.contains("(a\\(b\\)\\\\c \\351 ?) Tj"));
        let table = text.split("xref\n").nth(1).expect("a table");
        let starts: Vec<usize> = table
            .lines()
            .filter(|l| l.ends_with("00000 n "))
            .map(|l| l[..10].parse().expect("a place"))
            .collect();
        assert_eq!(starts.len(), 6);
        for (index, start) in starts.into_iter().enumerate() {
            assert!(text[start..].starts_with(&format!("{} 0 obj", index + 1)));
        }
        let place: usize = text
            .lines()
            .rev()
            .nth(1)
            .expect("a place")
            .parse()
            .expect("a number");
        assert!(text[place..].starts_with("xref"));
    }
}
