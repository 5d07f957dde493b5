//! What a run takes for granted where the text leaves it open.
//!
//! In:  a design.
//! Out: names that the user should see.

use crate::design::Design;
use paynter_syntax::ast::ItemKind;

/// Models of the main file that are neither run nor named by any other line: they might have been meant.
pub fn other_models(design: &Design) -> Vec<String> {
    let Some(main) = design.project.files.first() else {
        return Vec::new();
    };
    let mut texts = design
        .project
        .sources
        .files()
        .map(|(_, source)| &*source.text);
    let text = texts.next().unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let times_named = |name: &str| text.split(|c| !is_word(c)).filter(|w| *w == name).count();
    let models = main.ast.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Model(model) => Some(&*model.name.text),
        _ => None,
    });
    models
        .filter(|name| *name != design.model && times_named(name) == 1)
        .map(str::to_owned)
        .collect()
}
