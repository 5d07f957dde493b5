//! The paper that pictures are drawn on.

use clap::ValueEnum;
use paynter::draw::{Theme, themed};

/// The paper of a picture.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Paper {
    /// Follows the reader's screen (.svg); light elsewhere
    #[default]
    Auto,
    /// Light
    Light,
    /// Dark
    Dark,
}

impl Paper {
    /// Puts a picture on this paper.
    pub fn of(self, svg: &str) -> String {
        let theme = match self {
            Paper::Auto => Theme::Auto,
            Paper::Light => Theme::Light,
            Paper::Dark => Theme::Dark,
        };
        themed(svg, theme)
    }
}
