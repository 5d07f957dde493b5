//! Writes SVG text.
//!
//! In:  numbers and words.
//! Out: well-formed SVG; every word is escaped, every number is short.

use std::fmt::Write as _;

/// Escapes text for XML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no place for control characters, not even escaped.
            c if (c as u32) < 0x20 && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Prints a coordinate to a hundredth, without trailing zeros.
pub fn number(x: f64) -> String {
    let x = (x * 100.0).round() / 100.0;
    if x == 0.0 {
        "0".to_owned()
    } else {
        format!("{x}")
    }
}

/// Which paper a picture is drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the reader's screen is set; light where nothing is known, as in a PNG.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// What comes last in the style sheets of this crate, up to their end.
const DARK_RULES: &str = "@media (prefers-color-scheme:dark){";

/// Puts a picture of this crate on the wanted paper.
pub fn themed(svg: &str, theme: Theme) -> String {
    let parts = svg.split_once(DARK_RULES).and_then(|(before, rest)| {
        let (rules, after) = rest.split_once("}</style>")?;
        Some((before, rules, after))
    });
    match (theme, parts) {
        (Theme::Auto, _) | (_, None) => svg.to_owned(),
        (Theme::Light, Some((before, _, after))) => format!("{before}</style>{after}"),
        (Theme::Dark, Some((before, rules, after))) => format!("{before}{rules}</style>{after}"),
    }
}

/// A drawing in the making.
#[derive(Clone, Debug, Default)]
pub struct Svg {
    body: String,
}

impl Svg {
    /// Starts an empty drawing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let _ = writeln!(
            self.body,
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}" class="{class}"/>"#,
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        );
    }

    /// Adds a path through points; `extra` is put into the tag.
    pub fn polyline(&mut self, points: &[(f64, f64)], class: &str, extra: &str) {
        let mut text = String::new();
        for (x, y) in points {
            let _ = write!(text, "{},{} ", number(*x), number(*y));
        }
        let _ = writeln!(
            self.body,
            r#"<polyline points="{}" class="{class}" {extra}/>"#,
            text.trim_end()
        );
    }

    /// Adds a rectangle.
    pub fn rect(&mut self, corner: (f64, f64), size: (f64, f64), class: &str) {
        let _ = writeln!(
            self.body,
            r#"<rect x="{}" y="{}" width="{}" height="{}" class="{class}"/>"#,
            number(corner.0),
            number(corner.1),
            number(size.0),
            number(size.1)
        );
    }

    /// Adds words.
    pub fn text(&mut self, at: (f64, f64), text: &str, class: &str) {
        let _ = writeln!(
            self.body,
            r#"<text x="{}" y="{}" class="{class}">{}</text>"#,
            number(at.0),
            number(at.1),
            escape(text)
        );
    }

    /// Adds SVG as it is.
    pub fn raw(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// Gives the text so far, to be written on.
    pub fn body(&mut self) -> &mut String {
        &mut self.body
    }

    /// Closes the drawing: width, height and a style sheet around it.
    pub fn finish(self, width: f64, height: f64, style: &str) -> String {
        self.finish_as("plot", width, height, style)
    }

    /// Closes the drawing under a class of its own, so that style sheets of drawings on one page
    /// can be kept apart.
    pub fn finish_as(self, class: &str, width: f64, height: f64, style: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" font-family=\"system-ui, Helvetica, Arial, sans-serif\">\n<style>{style}</style>\n{}</svg>\n",
            self.body,
            w = number(width),
            h = number(height),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Panel, Plot};

    #[test]
    fn a_theme_is_the_same_picture_on_other_paper() {
        let plot = Plot {
            panels: vec![Panel::default()],
            ..Plot::default()
        };
        let diagram = crate::to_svg(&crate::Diagram {
            size: (80.0, 60.0),
            ..crate::Diagram::default()
        });
        for svg in [plot.to_svg(), diagram] {
            assert_eq!(themed(&svg, Theme::Auto), svg);
            let (light, dark) = (themed(&svg, Theme::Light), themed(&svg, Theme::Dark));
            let body = |s: &str| s.split_once("</style>").map(|(_, body)| body.to_owned());
            assert!(body(&light) == body(&svg) && body(&dark) == body(&svg));
            let corner = |svg: &str| {
                let bytes = crate::to_png(svg).expect("a picture");
                let picture = resvg::tiny_skia::Pixmap::decode_png(&bytes).expect("just encoded");
                picture.pixels()[0].red()
            };
            assert!(corner(&light) > 240 && corner(&dark) < 40);
        }
    }
}
