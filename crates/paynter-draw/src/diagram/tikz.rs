//! Writes a diagram as TikZ, for papers.
//!
//! In:  a [`Diagram`].
//! Out: one `tikzpicture`; it needs `\usepackage{tikz}` and nothing else. One unit is one point.

use super::arrange::{BARB, STROKE, flow_side, unit};
use super::power::{SCALE_BAND, band_colour, band_width, pointer};
use super::strokes::bars;
use super::{Arrow, BondClass, Diagram, Frame, Line, Node, NodeKind, Point, ScaleMark};
use std::fmt::Write as _;

/// Writes the drawing.
pub fn to_tikz(diagram: &Diagram) -> String {
    let mut out = String::from(
        "\\begin{tikzpicture}[x=1pt,y=-1pt,line cap=round,\n  \
         bond/.style={line width=.7pt},preferred/.style={bond},derivative/.style={bond,line width=1pt,dash pattern=on 5pt off 2pt},\n  \
         forced/.style={bond},undetermined/.style={bond,densely dotted},conflict/.style={bond,line width=1.8pt},\n  \
         causal/.style={solid,line width=1.2pt,line cap=butt},signal/.style={->,line width=.35pt},\n  \
         small/.style={font=\\scriptsize},frame/.style={draw,densely dashed,rounded corners=3pt,line width=.3pt}]\n",
    );

    if !diagram.title.is_empty() {
        let at = (diagram.size.0 / 2.0, 18.0);
        let _ = writeln!(
            out,
            "  \\node[font=\\bfseries] at {} {{{}}};",
            point(at),
            escape(&diagram.title)
        );
    }

    for frame in &diagram.frames {
        write_frame(&mut out, frame);
    }

    for arrow in &diagram.signals {
        write_signal(&mut out, arrow);
    }

    for line in &diagram.bonds {
        write_bond(&mut out, line);
    }
    for node in &diagram.nodes {
        write_node(&mut out, node);
    }

    for mark in &diagram.scale {
        write_scale_mark(&mut out, mark);
    }

    if !diagram.note.is_empty() {
        let at = (16.0, diagram.size.1 - 12.0);
        let _ = writeln!(
            out,
            "  \\node[small,anchor=west] at {} {{{}}};",
            point(at),
            escape(&diagram.note)
        );
    }

    out.push_str("\\end{tikzpicture}\n");
    out
}

/// A part that is shown with its inside.
fn write_frame(out: &mut String, frame: &Frame) {
    let [left, top, right, bottom] = frame.area.sides();
    let _ = writeln!(
        out,
        "  \\draw[frame] {} rectangle {};",
        point((left, top)),
        point((right, bottom))
    );
    small(out, frame.name_box.center, &frame.name);
}

fn write_signal(out: &mut String, arrow: &Arrow) {
    let [a, c, b] = arrow.points;
    // A quadratic curve as a cubic one: both controls two thirds of the way to its own.
    let third = |p: Point| ((p.0 + 2.0 * c.0) / 3.0, (p.1 + 2.0 * c.1) / 3.0);
    let _ = writeln!(
        out,
        "  \\draw[signal] {} .. controls {} and {} .. {};",
        point(a),
        point(third(a)),
        point(third(b)),
        point(b)
    );
}

fn write_node(out: &mut String, node: &Node) {
    let [left, top, right, bottom] = node.area.sides();
    if matches!(
        node.kind,
        NodeKind::Closed | NodeKind::Many | NodeKind::Signals
    ) {
        let _ = writeln!(
            out,
            "  \\draw {} rectangle {};",
            point((left, top)),
            point((right, bottom))
        );
    }

    let font = if node.kind == NodeKind::Junction {
        "[font=\\bfseries]"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "  \\node{font} at {} {{{}}};",
        point(node.area.center),
        escape(&node.text)
    );

    if node.is_in_conflict {
        let [left, top, right, bottom] = node.area.grown(3.0).sides();
        let _ = writeln!(
            out,
            "  \\draw[line width=1pt,densely dotted] {} rectangle {};",
            point((left, top)),
            point((right, bottom))
        );
    }

    if !node.small_box.is_empty() {
        small(out, node.small_box.center, &node.small);
    }
}

/// A line of the scale of powers.
fn write_scale_mark(out: &mut String, mark: &ScaleMark) {
    let (x, y) = mark.at;
    band(out, (x, y), (x + SCALE_BAND, y), mark.share);
    let _ = writeln!(
        out,
        "  \\node[small,anchor=west] at {} {{{}}};",
        point((x + SCALE_BAND + 2.0, y)),
        escape(&mark.text)
    );
}

fn point(p: Point) -> String {
    format!("({:.2},{:.2})", p.0 + 0.0, p.1 + 0.0)
}

fn small(out: &mut String, at: Point, text: &str) {
    let _ = writeln!(
        out,
        "  \\node[small] at {} {{{}}};",
        point(at),
        escape(text)
    );
}

fn write_bond(out: &mut String, line: &Line) {
    let (Some(&a), Some(&b)) = (line.points.first(), line.points.last()) else {
        return;
    };
    let (d, apart) = (unit(a, b), if line.dimension.is_some() { 1.5 } else { 0.0 });
    let s = flow_side(d);
    if let Some(power) = line.power {
        band(out, a, b, power.share);
    }
    let style = style_of(line);

    let shifted = |p: Point, by: f64| (p.0 + by * s.0, p.1 + by * s.1);
    let _ = writeln!(
        out,
        "  \\draw[{style}] {} -- {};",
        point(shifted(a, apart)),
        point(shifted(b, apart))
    );

    if line.dimension.is_some() {
        let _ = writeln!(
            out,
            "  \\draw[{style}] {} -- {};",
            point(shifted(a, -apart)),
            point(shifted(b, -apart))
        );
    }

    let barb = (
        b.0 - BARB.0 * d.0 + (BARB.1 + apart) * s.0,
        b.1 - BARB.0 * d.1 + (BARB.1 + apart) * s.1,
    );

    let _ = writeln!(
        out,
        "  \\draw[{style},solid] {} -- {};",
        point(shifted(b, apart)),
        point(barb)
    );

    for bar in bars(line.strokes) {
        let at = [a, b][bar.end];
        let (from, to) = (shifted(at, bar.from * STROKE), shifted(at, bar.to * STROKE));
        let _ = writeln!(
            out,
            "  \\draw[{style},causal] {} -- {};",
            point(from),
            point(to)
        );
        if line.is_forced {
            let _ = writeln!(out, "  \\fill {} circle[radius=1.8pt];", point(from));
        }
    }

    if let Some([tip, left, right]) = pointer(line) {
        let _ = writeln!(
            out,
            "  \\filldraw[draw=white,line width=.4pt] {} -- {} -- {} -- cycle;",
            point(tip),
            point(left),
            point(right)
        );
    }

    write_names(out, line);
}

fn style_of(line: &Line) -> &'static str {
    match line.class {
        _ if line.power.is_some() => "bond",
        BondClass::Plain => "bond",
        BondClass::Preferred => "preferred",
        BondClass::Derivative => "derivative",
        BondClass::Forced => "forced",
        BondClass::Undetermined => "undetermined",
        BondClass::Conflict => "conflict",
    }
}

/// Names beside a bond and at its ends.
fn write_names(out: &mut String, line: &Line) {
    if !line.label_box.is_empty() {
        small(out, line.label_box.center, &line.label);
    }
    for end in 0..2 {
        if !line.port_boxes[end].is_empty() {
            small(out, line.port_boxes[end].center, &line.port_names[end]);
        }
    }
}

/// A band behind a bond, as wide and as coloured as its power.
fn band(out: &mut String, a: Point, b: Point, share: f64) {
    let [red, green, blue] = band_colour(share);
    let _ = writeln!(
        out,
        "  \\draw[line cap=butt,line width={:.2}pt,color={{rgb,255:red,{red};green,{green};blue,{blue}}}] {} -- {};",
        band_width(share),
        point(a),
        point(b)
    );
}

/// Escapes text for LaTeX.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("\\textquotedbl{}"),
            '×' => out.push_str("$\\times$"),
            '…' => out.push_str("\\ldots{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => match greek(c) {
                Some(name) => {
                    let _ = write!(out, "$\\{name}$");
                }
                None => out.push(c),
            },
        }
    }
    out
}

/// The command for a Greek letter: not every LaTeX knows the letter itself.
fn greek(c: char) -> Option<&'static str> {
    const SMALL: [&str; 25] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
        "lambda", "mu", "nu", "xi", "o", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "phi",
        "chi", "psi", "omega",
    ];
    const LARGE: [(char, &str); 11] = [
        ('Γ', "Gamma"),
        ('Δ', "Delta"),
        ('Θ', "Theta"),
        ('Λ', "Lambda"),
        ('Ξ', "Xi"),
        ('Π', "Pi"),
        ('Σ', "Sigma"),
        ('Υ', "Upsilon"),
        ('Φ', "Phi"),
        ('Ψ', "Psi"),
        ('Ω', "Omega"),
    ];
    if ('α'..='ω').contains(&c) {
        return Some(SMALL[c as usize - 'α' as usize]);
    }
    LARGE.iter().find(|(l, _)| *l == c).map(|(_, name)| *name)
}
