//! One curve of a plot, as plain data.

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Shown in the legend.
    pub name: String,
    /// Horizontal values.
    pub x: Vec<f64>,
    /// Vertical values.
    pub y: Vec<f64>,
    /// Drawn dashed: a reference or a command.
    pub is_reference: bool,
    /// Held between samples: drawn in steps.
    pub is_held: bool,
    /// The axis of its values.
    pub side: Side,
    /// Coloured by this value where the panel has a scale of colours; such a curve has no name in the legend.
    pub level: Option<f64>,
}

/// Which vertical axis a curve is read on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The axis at the left.
    #[default]
    Left,
    /// The axis at the right.
    Right,
}
