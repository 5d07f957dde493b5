//! Pictures as pixels, for places that show no SVG.
//!
//! In:  an SVG that this crate wrote.
//! Out: the bytes of a PNG, on light paper, with `PIXELS_PER_UNIT` pixels for a unit of the SVG.
//!
//! **Invariant:** equal drawings give equal bytes on every machine: letters come from the DejaVu fonts
//! inside the program, never from the fonts of the machine.
//!
//! LIMIT: letters that DejaVu Sans does not have, such as Chinese ones, are left blank; SVG shows them.

use resvg::tiny_skia::{Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::Arc;

/// Sharp on screens with small pixels, and 192 dots per inch on paper.
const PIXELS_PER_UNIT: f32 = 2.0;

/// Four bytes each: a larger picture is drawn with fewer pixels per unit.
const MAX_PIXELS: f32 = 32e6;

/// Why there is no PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PngError(String);

impl std::fmt::Display for PngError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the picture cannot be drawn as PNG: {}", self.0)
    }
}

impl std::error::Error for PngError {}

/// Draws an SVG as PNG.
///
/// # Errors
///
/// A text that is no SVG, or a picture without size.
pub fn to_png(svg: &str) -> Result<Vec<u8>, PngError> {
    let fail = |e: String| PngError(e);
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: Arc::new(fonts()),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|e| fail(e.to_string()))?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let scale = PIXELS_PER_UNIT.min((MAX_PIXELS / (width * height)).sqrt());
    let pixels = |length: f32| (length * scale).ceil().max(1.0) as u32;
    let mut picture = Pixmap::new(pixels(width), pixels(height))
        .ok_or_else(|| fail(format!("it is {width} × {height} large")))?;
    // A picture that ends inside a pixel is stretched to its far side: half of a column of paper would
    // let shine through what is behind the picture.
    let stretch = (
        picture.width() as f32 / width,
        picture.height() as f32 / height,
    );
    resvg::render(
        &tree,
        Transform::from_scale(stretch.0, stretch.1),
        &mut picture.as_mut(),
    );
    fill_last_pixels(&mut picture);
    picture.encode_png().map_err(|e| fail(e.to_string()))
}

/// Paints paper beyond the last column and row, where rounding may leave the paper a trace too thin.
fn fill_last_pixels(picture: &mut Pixmap) {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let pixels = picture.pixels_mut();
    let paper = pixels[0];
    if !paper.is_opaque() {
        return;
    }
    let last_column = (0..height).map(|row| row * width + width - 1);
    let last_row = (height - 1) * width..height * width;
    for at in last_column.chain(last_row) {
        let ink = pixels[at];
        let behind = |ink_part: u8, paper_part: u8| {
            let through = u32::from(paper_part) * (255 - u32::from(ink.alpha())) / 255;
            u8::try_from(u32::from(ink_part) + through).unwrap_or(u8::MAX)
        };
        let [red, green, blue] = [
            behind(ink.red(), paper.red()),
            behind(ink.green(), paper.green()),
            behind(ink.blue(), paper.blue()),
        ];
        if let Some(filled) = PremultipliedColorU8::from_rgba(red, green, blue, 255) {
            pixels[at] = filled;
        }
    }
}

const FAMILY: &str = "DejaVu Sans";

fn fonts() -> fontdb::Database {
    let mut fonts = fontdb::Database::new();
    for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(font)));
    }
    fonts.set_sans_serif_family(FAMILY);
    fonts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Panel, Plot, Series};

    fn decode(bytes: &[u8]) -> Pixmap {
        Pixmap::decode_png(bytes).expect("just encoded")
    }

    fn dark_pixels(picture: &Pixmap) -> usize {
        let is_dark = |p: &&resvg::tiny_skia::PremultipliedColorU8| {
            u32::from(p.red()) + u32::from(p.green()) + u32::from(p.blue()) < 300
        };
        picture.pixels().iter().filter(is_dark).count()
    }

    fn line(name: &str) -> Plot {
        Plot {
            title: name.to_owned(),
            panels: vec![Panel {
                series: vec![Series {
                    x: vec![0.0, 1.0],
                    y: vec![0.0, 1.0],
                    ..Series::default()
                }],
                ..Panel::default()
            }],
        }
    }

    #[test]
    fn letters_are_drawn_without_fonts_of_the_machine() {
        let without = decode(&to_png(&line("").to_svg()).expect("a plot"));
        for word in ["title", "θ̇ ≤ Ω·µ", "<&>"] {
            let with = decode(&to_png(&line(word).to_svg()).expect("a plot"));
            assert!(dark_pixels(&with) > dark_pixels(&without) + 50, "{word}");
        }
    }

    #[test]
    fn paper_is_white_and_the_size_is_that_of_the_svg() {
        let picture = decode(&to_png(&line("").to_svg()).expect("a plot"));
        assert_eq!(picture.width(), 1520);
        let corner = picture.pixel(1, 1).expect("inside");
        assert_eq!((corner.red(), corner.alpha()), (255, 255));
    }

    #[test]
    fn paper_reaches_the_last_pixel_whatever_the_size() {
        for size in [10.0, 10.01, 33.3, 77.49, 77.51, 431.59, 840.35] {
            let svg = format!(
                r##"<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}"><rect width="{size}" height="{size}" fill="#16181d"/></svg>"##
            );
            let picture = decode(&to_png(&svg).expect("a picture"));
            let first = picture.pixels()[0];
            assert!(picture.pixels().iter().all(|p| *p == first), "{size}");
        }
    }

    #[test]
    fn a_huge_drawing_has_fewer_pixels_instead_of_none() {
        let svg = r##"<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="20000"><rect width="20000" height="20000" fill="#fff"/></svg>"##;
        let picture = decode(&to_png(svg).expect("it is drawn smaller"));
        assert!(picture.width() <= 5660 && picture.width() > 5000);
    }

    #[test]
    fn what_is_no_svg_is_an_error() {
        assert!(to_png("time,x\n0,1\n").is_err());
    }
}
